/* Deterministic damage for the readers of the tool: include after test.h. */
#ifndef TEST_TOOL_MUTATE_H
#define TEST_TOOL_MUTATE_H

/* A copy of text that ends exactly with its zero, so that a sanitizer sees a byte read too far. */
static char *mutate_copy(const char *text, size_t size)
{
    char *copy = (char *)malloc(size + 1);
    if (!copy) exit(1);
    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

/* One to four edits: a byte changed, a run cut out or doubled, or a word that readers stumble over put in. */
static char *mutate(const char *text, size_t size, size_t *new_size)
{
    static const char *const word[] = { "-1", "0",    "99999999999", "2147483647", "1e999", "nan",
                                        "\"", "\\",   "{",           "[",          "}",     "]",
                                        ",",  "\n",   "#",           "$",          "-",     "/",
                                        "\r", "\\\n", "1e-400",      "0x10",       "\xff",  "null" };
    char *out = (char *)malloc(2 * size + 256);
    size_t n = size;
    if (!out) exit(1);
    memcpy(out, text, size);
    for (int edits = 1 + (int)(4 * test_random()); edits > 0; edits--) {
        size_t at = (size_t)((double)n * test_random()), length = 1 + (size_t)(12 * test_random());
        int kind = (int)(4 * test_random());
        if (at + length > n) length = n - at;
        if (kind == 0 && n) out[at < n ? at : n - 1] = (char)(256 * test_random() - 128);
        else if (kind == 1) { memmove(out + at, out + at + length, n - at - length); n -= length; }
        else if (kind == 2) { memmove(out + at + length, out + at, n - at); n += length; }
        else {
            const char *w = word[(int)(24 * test_random())];
            length = strlen(w);
            memmove(out + at + length, out + at, n - at);
            memcpy(out + at, w, length);
            n += length;
        }
    }
    *new_size = n;
    {
        char *copy = mutate_copy(out, n);
        free(out);
        return copy;
    }
}

/* One to three edits of binary values: 2, 4 or 8 bytes turned round, set to the ends of their ranges, or off by a
 * little, and sometimes the rest cut off. */
static char *mutate_values(const char *data, size_t size, size_t *new_size)
{
    static const unsigned char end[4][2] = { { 0xff, 0xff }, { 0x7f, 0xff }, { 0x80, 0 }, { 0, 0 } };
    char *out = mutate_copy(data, size);
    *new_size = size;
    for (int edits = 1 + (int)(3 * test_random()); edits > 0 && size > 8; edits--) {
        size_t length = (size_t)2 << (int)(3 * test_random()), at = (size_t)((double)(size - length) * test_random());
        const unsigned char *e = end[(int)(4 * test_random())];
        int kind = (int)(6 * test_random()), top = test_random() < 0.5;
        char *p = out + at;
        for (size_t i = 0; i < length && kind < 2; i++) p[i] = (char)e[i != (top ? 0 : length - 1)];
        for (size_t i = 0; i < length / 2 && kind == 2; i++) {
            char swap = p[i];
            p[i] = p[length - 1 - i];
            p[length - 1 - i] = swap;
        }
        if (kind == 3) p[top ? 0 : length - 1] = (char)(p[top ? 0 : length - 1] + (test_random() < 0.5 ? 1 : -1));
        if (kind == 4) *p = (char)(256 * test_random() - 128);
        if (kind == 5 && test_random() < 0.2) { *new_size = size = at; out[at] = 0; }
    }
    return out;
}
#endif
