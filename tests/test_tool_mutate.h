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
#endif
