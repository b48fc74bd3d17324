#include "json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the reader stands. Strings are decoded in place: decoding never makes one longer. */
typedef struct json_reader {
    json *j;
    const char *name;
    char *p, *end;
    int line, depth;
    tool_error *e;
} json_reader;

/* "file:line: found ..., expected ...", with what stands at the reader's position. */
static int json_unexpected(json_reader *r, const char *expected)
{
    char quoted[48];
    size_t n = 0;
    if (r->p >= r->end)
        return tool_fail(r->e, "%s:%d: found the end of the file, expected %s", r->name, r->line, expected);
    while (r->p + n < r->end && n < 24 && !strchr(" \t\r\n,:[]{}", r->p[n])) n++;
    if (n == 0) n = 1;
    if ((unsigned char)*r->p < 32 || !tool_utf8(r->p, r->end))
        return tool_fail(r->e, "%s:%d: found the byte 0x%02X, expected %s", r->name, r->line,
                         (unsigned)(unsigned char)*r->p, expected);
    return tool_fail(r->e, "%s:%d: found %s, expected %s", r->name, r->line, tool_quote(quoted, r->p, n),
                     expected);
}

static void json_skip_blanks(json_reader *r)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == '\n') r->line++;
        else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r') return;
    }
}

/* ---- Strings -------------------------------------------------------------------------------- */

/* Four hexadecimal digits at p, or -1. */
static long json_hex4(const char *p, const char *end)
{
    long code = 0;
    if (end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", *d;
        char c = p[i] >= 'A' && p[i] <= 'F' ? (char)(p[i] - 'A' + 'a') : p[i];
        if (!c || !(d = strchr(digits, c))) return -1;
        code = 16 * code + (long)(d - digits);
    }
    return code;
}

static char *json_put_utf8(char *out, long c)
{
    if (c < 0x80) *out++ = (char)c;
    else if (c < 0x800) {
        *out++ = (char)(0xC0 | (c >> 6));
        *out++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | (c >> 12));
        *out++ = (char)(0x80 | ((c >> 6) & 63));
        *out++ = (char)(0x80 | (c & 63));
    } else {
        *out++ = (char)(0xF0 | (c >> 18));
        *out++ = (char)(0x80 | ((c >> 12) & 63));
        *out++ = (char)(0x80 | ((c >> 6) & 63));
        *out++ = (char)(0x80 | (c & 63));
    }
    return out;
}

/* \u and four hex digits, or a pair of these that stands for one character; p is behind the u. Advances out. */
static int json_unicode(json_reader *r, char **out)
{
    long c = json_hex4(r->p, r->end), low;
    if (c < 0) return json_unexpected(r, "four hexadecimal digits after \\u");
    r->p += 4;
    if (c >= 0xD800 && c < 0xDC00) {
        low = r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u' ? json_hex4(r->p + 2, r->end) : -1;
        if (low < 0xDC00 || low > 0xDFFF) return json_unexpected(r, "the second half of a surrogate pair");
        r->p += 6;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    } else if (c == 0 || (c >= 0xDC00 && c < 0xE000))
        return json_unexpected(r, "a character that text can hold");
    *out = json_put_utf8(*out, c);
    return 1;
}

/* A string; p is at its opening quote. */
static int json_string(json_reader *r, const char **string)
{
    char *out;
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    *string = out = ++r->p;
    while (r->p < r->end && *r->p != '"') {
        const char *escape;
        if ((unsigned char)*r->p < 32)
            return json_unexpected(r, "the closing quote of a string on the same line");
        if (*r->p != '\\') {
            int n = tool_utf8(r->p, r->end);
            if (!n)
                return tool_fail(r->e,
                                 "%s:%d: found the byte 0x%02X in a string, expected UTF-8: save the file as UTF-8",
                                 r->name, r->line, (unsigned)(unsigned char)*r->p);
            while (n-- > 0) *out++ = *r->p++;
            continue;
        }
        r->p++;
        if (r->p < r->end && *r->p == 'u') {
            r->p++;
            if (!json_unicode(r, &out)) return 0;
            continue;
        }
        escape = r->p < r->end && *r->p ? strchr(from, *r->p) : NULL;
        if (!escape) return json_unexpected(r, "one of \" \\ / b f n r t u after a backslash");
        *out++ = to[escape - from];
        r->p++;
    }
    if (r->p >= r->end) return json_unexpected(r, "the closing quote of a string");
    r->p++;
    *out = 0;
    return 1;
}

/* ---- Numbers and words ---------------------------------------------------------------------- */

static const char *json_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

/* The grammar of RFC 8259 first, strtod on exactly these characters then. */
static int json_number(json_reader *r, double *number)
{
    const char *p = r->p, *start;
    if (p < r->end && *p == '-') p++;
    start = p;
    p = json_digits(p, r->end);
    if (p == start || (*start == '0' && p - start > 1)) return json_unexpected(r, "a number");
    if (p < r->end && *p == '.') {
        start = ++p;
        p = json_digits(p, r->end);
        if (p == start) return json_unexpected(r, "a number with digits after its point");
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < r->end && (*p == '+' || *p == '-')) p++;
        start = p;
        p = json_digits(p, r->end);
        if (p == start) return json_unexpected(r, "a number with digits in its exponent");
    }
    if (!tool_number(r->p, (size_t)(p - r->p), number))
        return json_unexpected(r, "a number of at most 63 characters that a double can hold");
    r->p += p - r->p;
    return 1;
}

static int json_word(json_reader *r, json_value *v)
{
    static const char *const word[] = { "null", "false", "true" };
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(word[i]);
        if ((size_t)(r->end - r->p) < n || memcmp(r->p, word[i], n) != 0) continue;
        v->type = (json_type)(JSON_NULL + i);
        r->p += n;
        return 1;
    }
    return json_unexpected(r, "a value");
}

/* ---- Values --------------------------------------------------------------------------------- */

/* Appends a value to the list and to its parent's chain; returns its index. */
static int json_add(json *j, int parent, int line, const char *key)
{
    json_value *v;
    int i = j->count++;
    TOOL_GROW(json_value, j->value, j->capacity, j->count);
    v = &j->value[i];
    memset(v, 0, sizeof *v);
    v->line = line;
    v->key = key;
    v->parent = parent;
    v->first = v->last = v->next = -1;
    if (parent >= 0) {
        json_value *up = &j->value[parent];
        if (up->last >= 0) j->value[up->last].next = i;
        else up->first = i;
        up->last = i;
        up->count++;
    }
    return i;
}

/* A member's key and colon. A doubled key is refused: one of the two would be lost in silence. */
static int json_key(json_reader *r, int object, const char **key)
{
    const json_value *other;
    char quoted[48];
    if (r->p >= r->end || *r->p != '"') return json_unexpected(r, "a key in quotes");
    if (r->j->value[object].count >= JSON_MAX_KEYS)
        return json_unexpected(r, "at most 1000 keys in an object");
    if (!json_string(r, key)) return 0;
    other = json_get(r->j, &r->j->value[object], *key);
    if (other)
        return tool_fail(r->e, "%s:%d: found the key %s again, expected it once (first on line %d)", r->name,
                         r->line, tool_quote(quoted, *key, strlen(*key)), other->line);
    json_skip_blanks(r);
    if (r->p >= r->end || *r->p != ':') return json_unexpected(r, "':' after a key");
    r->p++;
    json_skip_blanks(r);
    return 1;
}

/* A value without its children; *open becomes its index when it is an array or object. */
static int json_value_start(json_reader *r, int parent, const char *key, int *open)
{
    int i = json_add(r->j, parent, r->line, key);
    json_value *v = &r->j->value[i];
    char c = r->p < r->end ? *r->p : 0;
    v->from = (size_t)(r->p - r->j->text);
    if (c == '{' || c == '[') {
        v->type = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        if (++r->depth > JSON_MAX_DEPTH) return json_unexpected(r, "arrays and objects no deeper than 64");
        r->p++;
        *open = i;
        return 1;
    }
    if (c == '"') {
        v->type = JSON_STRING;
        return json_string(r, &v->string);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        v->type = JSON_NUMBER;
        return json_number(r, &v->number);
    }
    return json_word(r, v);
}

/* Closes what is open as far as brackets say so; afterwards a further element follows, or open is -1. */
static int json_close(json_reader *r, int *open)
{
    while (*open >= 0) {
        const json_value *v = &r->j->value[*open];
        char close = v->type == JSON_OBJECT ? '}' : ']', c;
        json_skip_blanks(r);
        c = r->p < r->end ? *r->p : 0;
        if (c == close) {
            r->p++;
            r->depth--;
            *open = v->parent;
            continue;
        }
        if (v->count == 0) return 1;
        if (c != ',') return json_unexpected(r, close == '}' ? "',' or '}'" : "',' or ']'");
        r->p++;
        json_skip_blanks(r);
        return 1;
    }
    return 1;
}

/* One value after the other, with the open array or object in place of a call stack. */
static int json_document(json_reader *r)
{
    int open = -1;
    json_skip_blanks(r);
    do {
        const char *key = NULL;
        if (open >= 0 && r->j->value[open].type == JSON_OBJECT && !json_key(r, open, &key)) return 0;
        if (!json_value_start(r, open, key, &open)) return 0;
        if (!json_close(r, &open)) return 0;
    } while (open >= 0);
    json_skip_blanks(r);
    return r->p == r->end ? 1 : json_unexpected(r, "the end of the file");
}

/* Text of two or four bytes a character: it says so, or zeros stand beside what a document begins with. */
static int json_is_wide(const char *data, size_t size)
{
    if (size >= 2 && (memcmp(data, "\xFF\xFE", 2) == 0 || memcmp(data, "\xFE\xFF", 2) == 0)) return 1;
    for (size_t i = 0; i < size && i < 4; i++)
        if (data[i]) return strchr("{[ \t\r\n", data[i]) && (i > 0 || (size > 1 && !data[1]));
    return 0;
}

int json_parse(json *j, const char *name, const char *data, size_t size, tool_error *e)
{
    json_reader r;
    const char *zero = size ? (const char *)memchr(data, 0, size) : NULL;
    memset(j, 0, sizeof *j);
    if (size > JSON_MAX_BYTES)
        return tool_fail(e, "%s: found %zu bytes, expected at most %zu", name, size, JSON_MAX_BYTES);
    j->text = (char *)tool_alloc(size + 1, 1);
    if (size) memcpy(j->text, data, size);
    r.j = j;
    r.name = name;
    r.p = j->text;
    r.end = j->text + size;
    r.line = 1;
    r.depth = 0;
    r.e = e;
    if (json_is_wide(data, size))
        return tool_fail(e, "%s: the file is UTF-16 or UTF-32, expected UTF-8: save it as UTF-8", name);
    if (zero)
        return tool_fail(e, "%s: found a byte of zero, at byte %zu: this is no text, expected JSON", name,
                         (size_t)(zero - data));
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) r.p += 3;   /* the byte order mark of UTF-8 */
    return json_document(&r);
}

int json_read(json *j, const char *path, tool_error *e)
{
    size_t size;
    char *data;
    int ok;
    memset(j, 0, sizeof *j);
    data = tool_read_file(path, JSON_MAX_BYTES, &size, e);
    if (!data) return 0;
    ok = json_parse(j, path, data, size, e);
    free(data);
    return ok;
}

void json_free(json *j)
{
    free(j->text);
    free(j->value);
    memset(j, 0, sizeof *j);
}

/* ---- Access --------------------------------------------------------------------------------- */

const json_value *json_first(const json *j, const json_value *parent)
{
    return parent->first >= 0 ? &j->value[parent->first] : NULL;
}

const json_value *json_next(const json *j, const json_value *v)
{
    return v->next >= 0 ? &j->value[v->next] : NULL;
}

const json_value *json_get(const json *j, const json_value *object, const char *key)
{
    const json_value *v;
    if (object->type != JSON_OBJECT) return NULL;
    for (v = json_first(j, object); v; v = json_next(j, v))
        if (v->key && strcmp(v->key, key) == 0) return v;
    return NULL;
}

const char *json_describe(const json_value *v, char out[80])
{
    char quoted[48];
    const char *end = v->count == 1 ? "" : "s";
    switch (v->type) {
    case JSON_NULL: return strcpy(out, "null");
    case JSON_FALSE: return strcpy(out, "false");
    case JSON_TRUE: return strcpy(out, "true");
    case JSON_NUMBER: snprintf(out, 80, "%.10g", v->number); break;
    case JSON_STRING:
        snprintf(out, 80, "the string %s", tool_quote(quoted, v->string, strlen(v->string)));
        break;
    case JSON_ARRAY: snprintf(out, 80, "an array of %d value%s", v->count, end); break;
    case JSON_OBJECT: snprintf(out, 80, "an object of %d key%s", v->count, end); break;
    }
    return out;
}

/* ---- Writing -------------------------------------------------------------------------------- */

void json_write_string(tool_text *t, const char *s)
{
    tool_put(t, "\"");
    for (; *s; s++)
        if (*s == '"' || *s == '\\') tool_put(t, "\\%c", *s);
        else if ((unsigned char)*s < 32) tool_put(t, "\\u%04x", (unsigned)*s);
        else tool_put(t, "%c", *s);
    tool_put(t, "\"");
}

/* what stands before a member or element: a comma but for the first, and the key */
static void json_write_key(tool_text *t, int *count, const char *key)
{
    tool_put(t, (*count)++ ? ", " : " ");
    if (!key) return;
    json_write_string(t, key);
    tool_put(t, ": ");
}

void json_write(tool_text *t, const json *j, const json_value *v)
{
    int count = 0;
    switch (v->type) {
    case JSON_NULL: tool_put(t, "null"); break;
    case JSON_FALSE: tool_put(t, "false"); break;
    case JSON_TRUE: tool_put(t, "true"); break;
    case JSON_NUMBER: tool_put(t, "%.17g", v->number); break;
    case JSON_STRING: json_write_string(t, v->string); break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        tool_put(t, v->type == JSON_ARRAY ? "[" : "{");
        for (const json_value *k = json_first(j, v); k; k = json_next(j, k)) {
            json_write_key(t, &count, k->key);
            json_write(t, j, k);
        }
        tool_put(t, v->type == JSON_ARRAY ? " ]" : " }");
        break;
    }
}

/* what `change` has for a member of an object by its key, for an element of an array by its name; or NULL */
static const json_value *json_change_of(const json *j, const json_value *v, const json *other,
                                        const json_value *change)
{
    const json_value *name = v->key || v->type != JSON_OBJECT ? NULL : json_get(j, v, "name");
    const char *key = v->key ? v->key : name && name->type == JSON_STRING ? name->string : NULL;
    return key ? json_get(other, change, key) : NULL;
}

/* whether an object has the member, or an array an element of that name */
static int json_has(const json *j, const json_value *v, const char *key)
{
    if (v->type == JSON_OBJECT) return json_get(j, v, key) != NULL;
    for (const json_value *k = json_first(j, v); k; k = json_next(j, k)) {
        const json_value *name = json_get(j, k, "name");
        if (name && name->type == JSON_STRING && strcmp(name->string, key) == 0) return 1;
    }
    return 0;
}

void json_merge(tool_text *t, const json *j, const json_value *v, const json *other, const json_value *change)
{
    int count = 0, array = v->type == JSON_ARRAY;
    if (!change || change->type != JSON_OBJECT || (!array && v->type != JSON_OBJECT)) {
        if (change) json_write(t, other, change);
        else json_write(t, j, v);
        return;
    }
    tool_put(t, array ? "[" : "{");
    for (const json_value *k = json_first(j, v); k; k = json_next(j, k)) {
        const json_value *c = json_change_of(j, k, other, change);
        if (c && c->type == JSON_NULL) continue;
        json_write_key(t, &count, k->key);
        json_merge(t, j, k, other, c);
    }
    for (const json_value *c = json_first(other, change); c; c = json_next(other, c)) {
        if (c->type == JSON_NULL || json_has(j, v, c->key)) continue;
        json_write_key(t, &count, array ? NULL : c->key);
        json_write(t, other, c);
    }
    tool_put(t, array ? " ]" : " }");
}
