#include "common.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tool_fail(tool_error *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (e) (void)vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return 0;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void tool_out_of_memory(void)
{
    fprintf(stderr, "embipc: out of memory\n");
    exit(1);
}

void *tool_alloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) tool_out_of_memory();
    return p;
}

void *tool_grow(void *p, int *capacity, int need, size_t size)
{
    int want = *capacity > INT_MAX / 2 ? INT_MAX : 2 * *capacity;
    void *r;
    if (p && need <= *capacity) return p;
    if (want < need) want = need;
    if (want < 16) want = 16;
    if ((size_t)want > (size_t)-1 / 2 / size) tool_out_of_memory();
    r = realloc(p, (size_t)want * size);
    if (!r) tool_out_of_memory();
    *capacity = want;
    return r;
}

/* ---- Text ----------------------------------------------------------------------------------- */

void tool_put(tool_text *t, const char *format, ...)
{
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || n > INT_MAX - 1 - t->length) tool_out_of_memory();
    TOOL_GROW(char, t->data, t->capacity, t->length + n + 1);
    va_start(args, format);
    (void)vsnprintf(t->data + t->length, (size_t)n + 1, format, args);
    va_end(args);
    t->length += n;
}

void tool_text_free(tool_text *t)
{
    free(t->data);
    memset(t, 0, sizeof *t);
}

/* ---- Files ---------------------------------------------------------------------------------- */

char *tool_read_file(const char *path, size_t limit, size_t *size, tool_error *e)
{
    FILE *f = fopen(path, "rb");
    size_t capacity = 1 << 16, n = 0, got;
    char *data;
    if (!f) { tool_fail(e, "%s: cannot be opened: %s", path, strerror(errno)); return NULL; }
    data = (char *)tool_alloc(capacity, 1);
    /* read to the end instead of asking for the size: pipes have none, and sizes can change */
    while ((got = fread(data + n, 1, capacity - 1 - n, f)) > 0 && n <= limit) {
        n += got;
        if (n < capacity - 1) continue;
        capacity *= 2;
        data = (char *)realloc(data, capacity);
        if (!data) tool_out_of_memory();
    }
    if (ferror(f) || n > limit) {
        if (n > limit) tool_fail(e, "%s: found more than %zu bytes, expected a smaller file", path, limit);
        else tool_fail(e, "%s: cannot be read: %s", path, strerror(errno));
        fclose(f);
        free(data);
        return NULL;
    }
    fclose(f);
    data[n] = 0;
    *size = n;
    return data;
}

/* ---- Words ---------------------------------------------------------------------------------- */

const char *tool_quote(char out[48], const char *found, size_t length)
{
    size_t n = 0, i = 0, bytes;
    out[n++] = '"';
    for (; i < length && n < 41; i += bytes, n += bytes) {
        int whole = tool_utf8(found + i, found + length);
        bytes = whole > 1 ? (size_t)whole : 1;
        if (n + bytes > 41) break;   /* no part of a character */
        if (whole == 0 || (unsigned char)found[i] < 32 || found[i] == 127) out[n] = '?';
        else memcpy(out + n, found + i, bytes);
    }
    if (i < length) { out[n++] = '.'; out[n++] = '.'; out[n++] = '.'; }
    out[n++] = '"';
    out[n] = 0;
    return out;
}

int tool_utf8(const char *p, const char *end)
{
    const unsigned char *c = (const unsigned char *)p;
    long code = c[0];
    int n = code < 0x80 ? 1 : code < 0xC2 ? 0 : code < 0xE0 ? 2 : code < 0xF0 ? 3 : code < 0xF5 ? 4 : 0;
    if (n < 2 || end - p < n) return n < 2 ? n : 0;
    code &= 0x7F >> n;
    for (int i = 1; i < n; i++) {
        if ((c[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (c[i] & 0x3F);
    }
    if ((n == 3 && code < 0x800) || (n == 4 && (code < 0x10000 || code > 0x10FFFF))
        || (code >= 0xD800 && code < 0xE000))
        return 0;
    return n;
}

/* Levenshtein's distance, one row at a time; words longer than the row are simply far. */
static int tool_edits(const char *a, const char *b)
{
    int row[64], la = (int)strlen(a), lb = (int)strlen(b);
    if (la > 60 || lb > 60) return 1000;
    for (int j = 0; j <= lb; j++) row[j] = j;
    for (int i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int change = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            int best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = change < best ? change : best;
        }
    }
    return row[lb];
}

const char *tool_nearest(const char *word, const char *const *list, int count)
{
    const char *best = NULL;
    int fewest = INT_MAX, longer;
    for (int i = 0; i < count; i++) {
        int edits = tool_edits(word, list[i]);
        if (edits < fewest) { fewest = edits; best = list[i]; }
    }
    if (!best) return NULL;
    longer = (int)(strlen(best) > strlen(word) ? strlen(best) : strlen(word));
    return 2 * fewest <= longer ? best : NULL;
}

/* Copies a word that consists of `allowed` characters only, so that strtod sees no nan, inf or 0x. */
static int tool_plain_word(char out[64], const char *word, size_t length, const char *allowed)
{
    if (length == 0 || length > 63) return 0;
    for (size_t i = 0; i < length; i++)
        if (!word[i] || !strchr(allowed, word[i])) return 0;
    memcpy(out, word, length);
    out[length] = 0;
    return 1;
}

int tool_number(const char *word, size_t length, double *out)
{
    char copy[64], *end;
    double value;
    if (!tool_plain_word(copy, word, length, "0123456789+-.eE")) return 0;
    value = strtod(copy, &end);
    if (end == copy || *end || !(value - value == 0)) return 0;
    *out = value;
    return 1;
}

int tool_integer(const char *word, size_t length, int *out)
{
    char copy[64], *end;
    long value;
    if (!tool_plain_word(copy, word, length, "0123456789+-")) return 0;
    errno = 0;
    value = strtol(copy, &end, 10);
    if (end == copy || *end || errno || value < INT_MIN || value > INT_MAX) return 0;
    *out = (int)value;
    return 1;
}
