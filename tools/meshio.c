#include "meshio_parse.h"
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lines and words ------------------------------------------------------------------------ */

void mesh_cursor_init(mesh_cursor *c, const char *name, const char *data, size_t size, char comment,
                      tool_error *e)
{
    memset(c, 0, sizeof *c);
    c->name = name;
    c->begin = c->p = data;
    c->end = data + size;
    c->line = 1;
    c->comment = comment;
    c->e = e;
}

static int mesh_continues(const mesh_cursor *c)
{
    return c->joins && *c->p == '\\' && (c->p[1] == '\n' || (c->p[1] == '\r' && c->p[2] == '\n'));
}

static int mesh_at_end_of_line(const mesh_cursor *c)
{
    return c->p >= c->end || *c->p == '\n' || (c->comment && *c->p == c->comment);
}

int mesh_next(mesh_cursor *c, mesh_word *w)
{
    for (; c->p < c->end; c->p++) {
        if (mesh_continues(c)) {
            c->p += c->p[1] == '\r' ? 2 : 1;
            c->line++;
        } else if (*c->p != ' ' && *c->p != '\t' && *c->p != '\r') break;
    }
    w->p = c->p;
    w->length = 0;
    if (mesh_at_end_of_line(c)) return 0;
    while (c->p < c->end && !strchr(" \t\r\n", *c->p) && !mesh_continues(c)) c->p++;
    if (c->p == w->p) c->p++;   /* a zero byte is a word of its own, and of nobody's language */
    w->length = (size_t)(c->p - w->p);
    return 1;
}

int mesh_next_line(mesh_cursor *c)
{
    while (c->p < c->end && *c->p != '\n') {
        if (mesh_continues(c)) {
            c->p += c->p[1] == '\r' ? 2 : 1;
            c->line++;
        }
        c->p++;
    }
    if (c->p >= c->end) return 0;
    c->p++;
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
        if (tolower((unsigned char)w.p[i]) != text[i]) return 0;   /* stops at the end of text, too */
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

/* ---- Building ------------------------------------------------------------------------------- */

double *mesh_add_node(tool_mesh *m)
{
    TOOL_GROW(double, m->x, m->node_capacity, 3 * (m->node_count + 1));
    return m->x + 3 * m->node_count++;
}

void mesh_add_tri(tool_mesh *m, int a, int b, int c)
{
    int *t;
    TOOL_GROW(int, m->tri, m->tri_capacity, 3 * (m->tri_count + 1));
    t = m->tri + 3 * m->tri_count++;
    t[0] = a; t[1] = b; t[2] = c;
}

void mesh_add_tet(tool_mesh *m, const int n[4])
{
    TOOL_GROW(int, m->tet, m->tet_capacity, 4 * (m->tet_count + 1));
    memcpy(m->tet + 4 * m->tet_count++, n, 4 * sizeof *n);
}

/* ---- Entry points --------------------------------------------------------------------------- */

static const struct { const char *end; mesh_format format; } mesh_kind[] = {
    { "obj", MESH_OBJ }, { "msh", MESH_MSH }, { "vtk", MESH_VTK },     { "stl", MESH_STL },
    { "ply", MESH_PLY }, { "off", MESH_OFF }, { "node", MESH_TETGEN }, { "ele", MESH_TETGEN }
};

mesh_format mesh_format_of(const char *path)
{
    mesh_word w;
    const char *dot = strrchr(path, '.');
    w.p = dot ? dot + 1 : path;
    w.length = dot ? strlen(w.p) : 0;
    for (size_t i = 0; w.length && i < sizeof mesh_kind / sizeof *mesh_kind; i++)
        if (mesh_is_nocase(w, mesh_kind[i].end)) return mesh_kind[i].format;
    return MESH_UNKNOWN;
}

int mesh_parse(tool_mesh *m, mesh_format format, const char *name, const char *data, size_t size,
               tool_error *e)
{
    mesh_cursor c;
    int ok;
    memset(m, 0, sizeof *m);
    mesh_cursor_init(&c, name, data, size, '#', e);
    switch (format) {
    case MESH_OBJ: ok = mesh_parse_obj(m, &c); break;
    case MESH_MSH: ok = mesh_parse_msh(m, &c); break;
    case MESH_VTK: ok = mesh_parse_vtk(m, &c); break;
    case MESH_STL: ok = mesh_parse_stl(m, &c); break;
    case MESH_PLY: ok = mesh_parse_ply(m, &c); break;
    case MESH_OFF: ok = mesh_parse_off(m, &c); break;
    default:
        ok = tool_fail(e, "%s: found an unknown kind of file, expected a name ending with .obj, .stl, .ply, "
                          ".off, .msh, .vtk, .node or .ele", name);
    }
    if (!ok) mesh_free(m);
    return ok;
}

int mesh_parse_tetgen(tool_mesh *m, const char *node_name, const char *node, size_t node_size,
                      const char *ele_name, const char *ele, size_t ele_size, tool_error *e)
{
    mesh_cursor c;
    int first, ok;
    memset(m, 0, sizeof *m);
    mesh_cursor_init(&c, node_name, node, node_size, '#', e);
    ok = mesh_parse_node(m, &c, &first);
    if (ok) {
        mesh_cursor_init(&c, ele_name, ele, ele_size, '#', e);
        ok = mesh_parse_ele(m, &c, first);
    }
    if (!ok) mesh_free(m);
    return ok;
}

/* Either file of the pair may be named; the other stands beside it. */
static int mesh_read_tetgen(tool_mesh *m, const char *path, tool_error *e)
{
    static const char *const end[] = { ".node", ".ele" };
    size_t stem = (size_t)(strrchr(path, '.') - path), size[2] = { 0, 0 };
    char *name[2] = { NULL, NULL }, *data[2] = { NULL, NULL };
    int ok = 1, upper = isupper((unsigned char)path[stem + 1]) != 0;
    for (int i = 0; i < 2; i++) {
        name[i] = (char *)tool_alloc(stem + 6, 1);
        memcpy(name[i], path, stem);
        strcpy(name[i] + stem, end[i]);
        for (char *p = name[i] + stem; upper && *p; p++) *p = (char)toupper((unsigned char)*p);
        if (ok) data[i] = tool_read_file(name[i], MESH_MAX_BYTES, &size[i], e);
        ok = ok && data[i];
    }
    if (ok) ok = mesh_parse_tetgen(m, name[0], data[0], size[0], name[1], data[1], size[1], e);
    for (int i = 0; i < 2; i++) {
        free(name[i]);
        free(data[i]);
    }
    return ok;
}

int mesh_read(tool_mesh *m, const char *path, tool_error *e)
{
    mesh_format format = mesh_format_of(path);
    size_t size;
    char *data;
    int ok;
    memset(m, 0, sizeof *m);
    if (format == MESH_UNKNOWN) return mesh_parse(m, MESH_UNKNOWN, path, "", 0, e);
    if (format == MESH_TETGEN) return mesh_read_tetgen(m, path, e);
    data = tool_read_file(path, MESH_MAX_BYTES, &size, e);
    if (!data) return 0;
    ok = mesh_parse(m, format, path, data, size, e);
    free(data);
    return ok;
}

void mesh_free(tool_mesh *m)
{
    free(m->x);
    free(m->tri);
    free(m->tet);
    memset(m, 0, sizeof *m);
}

/* ---- Writing -------------------------------------------------------------------------------- */

void mesh_put_obj(tool_text *t, const char *name, const double *x, int node_count, const int *tri,
                  int tri_count, int first)
{
    tool_put(t, "o %s\n", name);
    for (int i = 0; i < node_count; i++)
        tool_put(t, "v %.17g %.17g %.17g\n", x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    for (int i = 0; i < tri_count; i++)
        tool_put(t, "f %d %d %d\n", first + tri[3 * i] + 1, first + tri[3 * i + 1] + 1,
                 first + tri[3 * i + 2] + 1);
}

void mesh_put_msh(tool_text *t, const tool_mesh *m)
{
    int number = 1;
    tool_put(t, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", m->node_count);
    for (int i = 0; i < m->node_count; i++)
        tool_put(t, "%d %.17g %.17g %.17g\n", i + 1, m->x[3 * i], m->x[3 * i + 1], m->x[3 * i + 2]);
    tool_put(t, "$EndNodes\n$Elements\n%d\n", m->tri_count + m->tet_count);
    for (int i = 0; i < m->tri_count; i++) {
        const int *n = m->tri + 3 * i;
        tool_put(t, "%d 2 0 %d %d %d\n", number++, n[0] + 1, n[1] + 1, n[2] + 1);
    }
    for (int i = 0; i < m->tet_count; i++) {
        const int *n = m->tet + 4 * i;
        tool_put(t, "%d 4 0 %d %d %d %d\n", number++, n[0] + 1, n[1] + 1, n[2] + 1, n[3] + 1);
    }
    tool_put(t, "$EndElements\n");
}
