#include "meshio_parse.h"
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Lines and words ------------------------------------------------------------------------ */

void mesh_cursor_init(mesh_cursor *c, const char *name, const char *data, size_t size, char comment,
                      tool_error *e)
{
    memset(c, 0, sizeof *c);
    c->name = name;
    c->begin = c->p = data;
    c->end = data + size;
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) c->p += 3;   /* the byte order mark of UTF-8 */
    c->line = 1;
    c->comment = comment;
    c->e = e;
}

void mesh_cursor_text(mesh_cursor *c)
{
    while (c->end > c->p && (c->end[-1] == 0 || c->end[-1] == 26)) c->end--;
}

/* Does a backslash stand here that joins this line with the next one? */
static int mesh_continues(const mesh_cursor *c)
{
    return c->joins && *c->p == '\\' && (c->p[1] == '\n' || c->p[1] == '\r');
}

static int mesh_at_end_of_line(const mesh_cursor *c)
{
    return c->p >= c->end || *c->p == '\n' || *c->p == '\r' || (c->comment && *c->p == c->comment);
}

static int mesh_is_space(char a) { return a == ' ' || a == '\t' || a == '\n' || a == '\r'; }

int mesh_next(mesh_cursor *c, mesh_word *w)
{
    for (; c->p < c->end; c->p++) {
        if (mesh_continues(c)) {
            c->p += c->p[1] == '\r' && c->p[2] == '\n' ? 2 : 1;
            c->line++;
        } else if (*c->p != ' ' && *c->p != '\t') break;
    }
    w->p = c->p;
    w->length = 0;
    if (mesh_at_end_of_line(c)) return 0;
    while (c->p < c->end && !mesh_is_space(*c->p) && !mesh_at_end_of_line(c) && !mesh_continues(c)) c->p++;
    w->length = (size_t)(c->p - w->p);
    return 1;
}

/* A line ends with LF, CR LF or CR. A comment ends with its line, whatever its last character. */
int mesh_next_line(mesh_cursor *c)
{
    int comment = c->comment && *c->p == c->comment;
    while (c->p < c->end && *c->p != '\n' && *c->p != '\r') {
        if (!comment && mesh_continues(c)) {
            c->p += c->p[1] == '\r' && c->p[2] == '\n' ? 2 : 1;
            c->line++;
        }
        c->p++;
        comment |= c->comment && *c->p == c->comment && (c->p[-1] == ' ' || c->p[-1] == '\t' || c->p[-1] == '\n');
    }
    if (c->p >= c->end) return 0;
    c->p += *c->p == '\r' && c->p[1] == '\n' ? 2 : 1;
    c->line++;
    return 1;
}

int mesh_flow(mesh_cursor *c, mesh_word *w)
{
    while (!mesh_next(c, w))
        if (!mesh_next_line(c)) return 0;
    return 1;
}

int mesh_is(mesh_word w, const char *text)
{
    return w.length == strlen(text) && memcmp(w.p, text, w.length) == 0;
}

int mesh_is_nocase(mesh_word w, const char *text)
{
    for (size_t i = 0; i < w.length; i++)
        if (!text[i] || tolower((unsigned char)w.p[i]) != text[i]) return 0;   /* words may hold zeros */
    return text[w.length] == 0;
}

int mesh_fail(const mesh_cursor *c, const char *format, ...)
{
    char text[800];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (c->binary) return tool_fail(c->e, "%s: byte %zu: %s", c->name, (size_t)(c->p - c->begin), text);
    return tool_fail(c->e, "%s:%d: %s", c->name, c->line, text);
}

int mesh_unexpected(const mesh_cursor *c, mesh_word w, const char *expected)
{
    char quoted[48];
    const char *found = c->p >= c->end ? "the end of the file" : "the end of the line";
    if (w.length) found = tool_quote(quoted, w.p, w.length);
    return mesh_fail(c, "found %s, expected %s", found, expected);
}

int mesh_real(mesh_cursor *c, int flow, double *out, const char *expected)
{
    mesh_word w;
    if (flow) mesh_flow(c, &w);
    else mesh_next(c, &w);
    return tool_number(w.p, w.length, out) ? 1 : mesh_unexpected(c, w, expected);
}

int mesh_int(mesh_cursor *c, int flow, int least, int *out, const char *expected)
{
    mesh_word w;
    if (flow) mesh_flow(c, &w);
    else mesh_next(c, &w);
    return tool_integer(w.p, w.length, out) && *out >= least ? 1 : mesh_unexpected(c, w, expected);
}

int mesh_fits(const mesh_cursor *c, int count, size_t bytes)
{
    if ((size_t)count <= (size_t)(c->end - c->p) / bytes && count <= INT_MAX / 16) return 1;
    return mesh_fail(c, "found a count of %d, expected no more than the %zu bytes left in the file can hold",
                     count, (size_t)(c->end - c->p));
}

int mesh_count(mesh_cursor *c, int flow, size_t bytes, int *out, const char *expected)
{
    return mesh_int(c, flow, 0, out, expected) && mesh_fits(c, *out, bytes);
}

int mesh_line_end(mesh_cursor *c, const char *expected)
{
    mesh_word w;
    return mesh_next(c, &w) ? mesh_unexpected(c, w, expected) : 1;
}

/* ---- Values, in text or binary -------------------------------------------------------------- */

size_t mesh_scalar_size(mesh_scalar type)
{
    static const size_t size[MESH_SCALARS] = { 1, 1, 2, 2, 4, 4, 8, 8, 4, 8 };
    return size[type];
}

/* The next bytes of a binary file as a number. */
static int mesh_binary(mesh_cursor *c, mesh_scalar type, double *out, const char *expected)
{
    const unsigned char *b = (const unsigned char *)c->p;
    size_t size = mesh_scalar_size(type);
    unsigned long long bits = 0, top;
    if ((size_t)(c->end - c->p) < size) return mesh_fail(c, "found the end of the file, expected %s", expected);
    for (size_t i = 0; i < size; i++) bits = bits << 8 | b[c->big ? i : size - 1 - i];
    if (type == MESH_F64) memcpy(out, &bits, sizeof *out);
    else if (type == MESH_F32) {
        unsigned half = (unsigned)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        *out = (double)value;
    } else {
        top = 1ull << (8 * size - 1);
        *out = type % 2 == 0 && (bits & top) ? -(double)(top - (bits & (top - 1))) : (double)bits;
    }
    c->p += size;
    return 1;
}

int mesh_get_real(mesh_cursor *c, mesh_scalar type, double *out, const char *expected)
{
    if (!c->binary) return mesh_real(c, 1, out, expected);
    if (!mesh_binary(c, type, out, expected)) return 0;
    if (*out - *out == 0) return 1;
    c->p -= mesh_scalar_size(type);
    return mesh_fail(c, "found %g, expected %s", *out, expected);
}

int mesh_get_int(mesh_cursor *c, mesh_scalar type, int least, int most, int *out, const char *expected)
{
    mesh_word w = { NULL, 0 };
    double value;
    if (!c->binary) {
        mesh_flow(c, &w);
        if (type < MESH_F32 && tool_integer(w.p, w.length, out) && *out >= least && *out <= most) return 1;
        if (type < MESH_F32 || !tool_number(w.p, w.length, &value)) return mesh_unexpected(c, w, expected);
    } else if (!mesh_binary(c, type, &value, expected)) return 0;
    if (value >= least && value <= most && value == (int)value) {
        *out = (int)value;
        return 1;
    }
    if (!c->binary) return mesh_unexpected(c, w, expected);
    c->p -= mesh_scalar_size(type);
    return mesh_fail(c, "found %.17g, expected %s", value, expected);
}

int mesh_get_nothing(mesh_cursor *c, size_t bytes, size_t count, const char *expected)
{
    mesh_word w;
    if (c->binary) {
        if (bytes && (size_t)(c->end - c->p) / bytes < count)
            return mesh_fail(c, "found the end of the file, expected %s", expected);
        c->p += bytes * count;
        return 1;
    }
    for (; count > 0; count--)
        if (!mesh_flow(c, &w)) return mesh_unexpected(c, w, expected);
    return 1;
}
