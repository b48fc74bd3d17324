#include "meshio_parse.h"
#include "../embipc.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Entry points --------------------------------------------------------------------------- */

static const struct { const char *end; mesh_format format; } mesh_ending[] = {
    { "obj", MESH_OBJ }, { "msh", MESH_MSH }, { "vtk", MESH_VTK },     { "stl", MESH_STL },
    { "ply", MESH_PLY }, { "off", MESH_OFF }, { "node", MESH_TETGEN }, { "ele", MESH_TETGEN }
};

mesh_format mesh_format_of(const char *path)
{
    mesh_word w;
    const char *dot = strrchr(path, '.');
    w.p = dot ? dot + 1 : path;
    w.length = dot ? strlen(w.p) : 0;
    for (size_t i = 0; w.length && i < sizeof mesh_ending / sizeof *mesh_ending; i++)
        if (mesh_is_nocase(w, mesh_ending[i].end)) return mesh_ending[i].format;
    return MESH_UNKNOWN;
}

int mesh_parse(tool_mesh *m, mesh_format format, const char *name, const char *data, size_t size,
               tool_error *e)
{
    mesh_cursor c;
    int ok;
    memset(m, 0, sizeof *m);
    mesh_cursor_init(&c, name, data, size, '#', e);
    if (format != MESH_STL && size > 1 && (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0))
        return tool_fail(e, "%s: found text in UTF-16, expected ASCII or UTF-8", name);
    switch (format) {
    case MESH_OBJ: ok = mesh_parse_obj(m, &c); break;
    case MESH_MSH: ok = mesh_parse_msh(m, &c); break;
    case MESH_VTK: ok = mesh_parse_vtk(m, &c); break;
    case MESH_STL: ok = mesh_parse_stl(m, &c); break;
    case MESH_PLY: ok = mesh_parse_ply(m, &c); break;
    case MESH_OFF: ok = mesh_parse_off(m, &c); break;
    case MESH_UNKNOWN:
    case MESH_TETGEN:
    default:
        ok = tool_fail(e, "%s: found an unknown kind of file, expected a name ending with .obj, .stl, .ply, "
                          ".off, .msh, .vtk, .node or .ele", name);
    }
    ok = ok && mesh_finish(m, name, e);
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
    ok = ok && mesh_finish(m, ele_name, e);
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
    free(m->note);
    free(m->fan);
    free(m->aside);
    memset(m, 0, sizeof *m);
}

int mesh_surface(const tool_mesh *m, int **tri)
{
    int count = m->tet_count ? embipc_tets_boundary(m->tet, m->tet_count, NULL, 0) : m->tri_count;
    if (count < 0) count = 0;
    *tri = (int *)tool_alloc(3 * (size_t)count, sizeof **tri);
    if (m->tet_count) (void)embipc_tets_boundary(m->tet, m->tet_count, *tri, count);
    else if (count) memcpy(*tri, m->tri, 3 * (size_t)count * sizeof **tri);
    return count;
}

void mesh_take_surface(tool_mesh *m)
{
    int *tri;
    m->tri_count = mesh_surface(m, &tri);
    m->tri_capacity = 3 * m->tri_count;
    free(m->tri);
    m->tri = tri;
}

int mesh_keep_nodes(tool_mesh *m, int *keep)
{
    int n = 0, dropped;
    for (int i = 0; i < m->node_count; i++) {
        if (!keep[i]) continue;
        memmove(m->x + 3 * n, m->x + 3 * i, 3 * sizeof *m->x);
        keep[i] = n++;
    }
    for (int i = 0; i < 3 * m->tri_count; i++) m->tri[i] = keep[m->tri[i]];
    for (int i = 0; i < 4 * m->tet_count; i++) m->tet[i] = keep[m->tet[i]];
    dropped = m->node_count - n;
    m->node_count = n;
    return dropped;
}

int mesh_drop_unused(tool_mesh *m)
{
    int *keep = (int *)tool_alloc((size_t)m->node_count, sizeof *keep), dropped;
    for (int i = 0; i < 3 * m->tri_count; i++) keep[m->tri[i]] = 1;
    for (int i = 0; i < 4 * m->tet_count; i++) keep[m->tet[i]] = 1;
    dropped = mesh_keep_nodes(m, keep);
    free(keep);
    return dropped;
}

/* ---- Writing -------------------------------------------------------------------------------- */

void mesh_put_obj(tool_text *t, const char *name, const double *x, int node_count, const int *tri,
                  int tri_count, int first)
{
    size_t length = strlen(name);   /* a backslash at its end would join the next line to it */
    tool_put(t, "o %s%s\n", name, length && name[length - 1] == '\\' ? " " : "");
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
