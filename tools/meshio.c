#include "meshio.h"
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lines and words ------------------------------------------------------------------------
 * All three formats are words in lines. A backslash at the end of a line continues it (OBJ). */
typedef struct mesh_cursor {
    const char *name, *p, *end;
    int line;
    tool_error *e;
} mesh_cursor;

typedef struct mesh_word { const char *p; size_t length; } mesh_word;

static int mesh_continues(const mesh_cursor *c)
{
    return *c->p == '\\' && (c->p[1] == '\n' || (c->p[1] == '\r' && c->p[2] == '\n'));
}

/* The next word of this line; 0, and an empty word, at its end. A comment ends a line. */
static int mesh_next(mesh_cursor *c, mesh_word *w)
{
    for (; c->p < c->end; c->p++) {
        if (mesh_continues(c)) {
            c->p += c->p[1] == '\r' ? 2 : 1;
            c->line++;
        } else if (*c->p == '\n' || *c->p == '#' || (*c->p != ' ' && *c->p != '\t' && *c->p != '\r')) break;
    }
    w->p = c->p;
    w->length = 0;
    if (c->p >= c->end || *c->p == '\n' || *c->p == '#') return 0;
    while (c->p < c->end && !strchr(" \t\r\n", *c->p) && !mesh_continues(c)) c->p++;
    if (c->p == w->p) c->p++;   /* a zero byte is a word of its own, and of nobody's language */
    w->length = (size_t)(c->p - w->p);
    return 1;
}

/* Goes behind the end of this line; 0 when that was the last one. */
static int mesh_next_line(mesh_cursor *c)
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

/* The next word on this line or a later one; 0 at the end of the file. */
static int mesh_flow(mesh_cursor *c, mesh_word *w)
{
    while (!mesh_next(c, w))
        if (!mesh_next_line(c)) return 0;
    return 1;
}

static int mesh_is(mesh_word w, const char *text)
{
    return w.length == strlen(text) && memcmp(w.p, text, w.length) == 0;
}

static int mesh_unexpected(const mesh_cursor *c, mesh_word w, const char *expected)
{
    char quoted[48];
    const char *found = c->p >= c->end ? "the end of the file" : "the end of the line";
    if (w.length) found = tool_quote(quoted, w.p, w.length);
    return tool_fail(c->e, "%s:%d: found %s, expected %s", c->name, c->line, found, expected);
}

static int mesh_real(mesh_cursor *c, int flow, double *out, const char *expected)
{
    mesh_word w;
    if (flow) mesh_flow(c, &w);
    else mesh_next(c, &w);
    return tool_number(w.p, w.length, out) ? 1 : mesh_unexpected(c, w, expected);
}

static int mesh_int(mesh_cursor *c, int flow, int least, int *out, const char *expected)
{
    mesh_word w;
    if (flow) mesh_flow(c, &w);
    else mesh_next(c, &w);
    return tool_integer(w.p, w.length, out) && *out >= least ? 1 : mesh_unexpected(c, w, expected);
}

/* A number of things of at least `bytes` characters each: more than fit in the rest of the file is a lie
 * that must not become an allocation. */
static int mesh_fits(const mesh_cursor *c, int count, size_t bytes)
{
    if ((size_t)count <= (size_t)(c->end - c->p) / bytes && count <= INT_MAX / 16) return 1;
    return tool_fail(
        c->e, "%s:%d: found a count of %d, expected no more than the %zu bytes left in the file can hold",
        c->name, c->line, count, (size_t)(c->end - c->p));
}

static int mesh_count(mesh_cursor *c, size_t bytes, int *out, const char *expected)
{
    return mesh_int(c, 0, 0, out, expected) && mesh_fits(c, *out, bytes);
}

static int mesh_line_end(mesh_cursor *c, const char *expected)
{
    mesh_word w;
    return mesh_next(c, &w) ? mesh_unexpected(c, w, expected) : 1;
}

/* ---- Building ------------------------------------------------------------------------------- */

static double *mesh_add_node(tool_mesh *m)
{
    TOOL_GROW(double, m->x, m->node_capacity, 3 * (m->node_count + 1));
    return m->x + 3 * m->node_count++;
}

static void mesh_add_tri(tool_mesh *m, int a, int b, int c)
{
    int *t;
    TOOL_GROW(int, m->tri, m->tri_capacity, 3 * (m->tri_count + 1));
    t = m->tri + 3 * m->tri_count++;
    t[0] = a; t[1] = b; t[2] = c;
}

static void mesh_add_tet(tool_mesh *m, const int n[4])
{
    TOOL_GROW(int, m->tet, m->tet_capacity, 4 * (m->tet_count + 1));
    memcpy(m->tet + 4 * m->tet_count++, n, 4 * sizeof *n);
}

/* ---- OBJ ------------------------------------------------------------------------------------ */

typedef struct mesh_obj {
    tool_mesh *m;
    mesh_cursor *c;
    int largest, largest_line;   /* largest vertex number of a face; vertices may follow their faces */
} mesh_obj;

/* One corner of a face, a, a/b, a//c or a/b/c: only the vertex a counts. -1 is the newest vertex. */
static int mesh_obj_corner(mesh_obj *o, mesh_word w, int *vertex)
{
    const char *slash = (const char *)memchr(w.p, '/', w.length);
    int i;
    if (!tool_integer(w.p, slash ? (size_t)(slash - w.p) : w.length, &i))
        return mesh_unexpected(o->c, w, "a vertex number");
    if (i == 0) return mesh_unexpected(o->c, w, "a vertex number from 1, or a negative one");
    if (i < -o->m->node_count) return mesh_unexpected(o->c, w, "a vertex that was given before this face");
    if (i > o->largest) {
        o->largest = i;
        o->largest_line = o->c->line;
    }
    *vertex = i > 0 ? i - 1 : o->m->node_count + i;
    return 1;
}

/* A polygon becomes a fan around its first corner. */
static int mesh_obj_face(mesh_obj *o)
{
    mesh_word w;
    int v[3] = { 0, 0, 0 }, n = 0;
    while (mesh_next(o->c, &w)) {
        if (!mesh_obj_corner(o, w, &v[n < 2 ? n : 2])) return 0;
        if (++n < 3) continue;
        mesh_add_tri(o->m, v[0], v[1], v[2]);
        v[1] = v[2];
    }
    return n >= 3 ? 1 : mesh_unexpected(o->c, w, "a face of at least 3 vertices");
}

static int mesh_obj_line(mesh_obj *o, mesh_word w)
{
    static const char *const ignored[] = { "vn",     "vt",  "vp",     "o",          "g",        "s",
                                           "l",      "p",   "usemtl", "mtllib",     "mg",       "usemap",
                                           "maplib", "lod", "bevel",  "shadow_obj", "trace_obj" };
    if (mesh_is(w, "v")) {
        double *x = mesh_add_node(o->m);
        for (int i = 0; i < 3; i++)   /* a weight or a colour may follow */
            if (!mesh_real(o->c, 0, &x[i], "a finite coordinate")) return 0;
        return 1;
    }
    if (mesh_is(w, "f")) return mesh_obj_face(o);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (mesh_is(w, ignored[i])) return 1;
    return mesh_unexpected(o->c, w, "v, f or another keyword of OBJ");
}

static int mesh_parse_obj(tool_mesh *m, mesh_cursor *c)
{
    mesh_obj o;
    mesh_word w;
    o.m = m;
    o.c = c;
    o.largest = o.largest_line = 0;
    do {
        if (mesh_next(c, &w) && !mesh_obj_line(&o, w)) return 0;
    } while (mesh_next_line(c));
    if (o.largest > m->node_count)
        return tool_fail(c->e, "%s:%d: found vertex number %d, expected at most %d, the number of v lines",
                         c->name, o.largest_line, o.largest, m->node_count);
    if (m->tri_count == 0)
        return tool_fail(c->e, "%s:%d: found %d vertices and no face, expected at least one f line", c->name,
                         c->line, m->node_count);
    return 1;
}

/* ---- Gmsh 2.2 ------------------------------------------------------------------------------- */

/* A node's number in the file and its index here. */
typedef struct mesh_id { int id, index; } mesh_id;

typedef struct mesh_msh {
    tool_mesh *m;
    mesh_cursor *c;
    mesh_id *id;       /* ascending by id */
    int others;        /* elements of types that are neither triangle nor tet */
} mesh_msh;

static int mesh_compare_ids(const void *a, const void *b)
{
    const mesh_id *p = (const mesh_id *)a, *q = (const mesh_id *)b;
    return (p->id > q->id) - (p->id < q->id);
}

/* The line `$End...` of a section, and nothing else in front of it. */
static int mesh_msh_end(mesh_cursor *c, const char *end)
{
    mesh_word w;
    if (mesh_flow(c, &w) && mesh_is(w, end)) return 1;
    return mesh_unexpected(c, w, end);
}

static int mesh_msh_format(mesh_cursor *c)
{
    mesh_word w;
    int type;
    if (!mesh_flow(c, &w) || !(mesh_is(w, "2.2") || mesh_is(w, "2.1") || mesh_is(w, "2")))
        return mesh_unexpected(c, w, "version 2.2 of the Gmsh format (gmsh -format msh22)");
    if (!mesh_int(c, 0, 0, &type, "the file type, 0 for ASCII")) return 0;
    if (type != 0)
        return tool_fail(c->e, "%s:%d: found a binary file, expected ASCII (file type 0)", c->name, c->line);
    mesh_next_line(c);
    return mesh_msh_end(c, "$EndMeshFormat");
}

/* The line below a section's name: its number of entries, alone. */
static int mesh_msh_count(mesh_cursor *c, size_t bytes, int *count, const char *expected)
{
    return mesh_int(c, 1, 0, count, expected) && mesh_line_end(c, expected) && mesh_fits(c, *count, bytes);
}

static int mesh_msh_nodes(mesh_msh *g)
{
    mesh_cursor *c = g->c;
    int count;
    if (g->id) return tool_fail(c->e, "%s:%d: found a second $Nodes, expected one", c->name, c->line);
    if (!mesh_msh_count(c, 8, &count, "the number of nodes, alone on its line")) return 0;
    g->id = (mesh_id *)tool_alloc((size_t)count, sizeof *g->id);
    for (int i = 0; i < count; i++) {
        double *x = mesh_add_node(g->m);
        mesh_next_line(c);
        g->id[i].index = i;
        if (!mesh_int(c, 0, 1, &g->id[i].id, "a node: its number from 1, then x y z")) return 0;
        for (int k = 0; k < 3; k++)
            if (!mesh_real(c, 0, &x[k], "a finite coordinate")) return 0;
        if (!mesh_line_end(c, "the end of the line after x y z")) return 0;
    }
    qsort(g->id, (size_t)count, sizeof *g->id, mesh_compare_ids);
    for (int i = 1; i < count; i++)
        if (g->id[i].id == g->id[i - 1].id)
            return tool_fail(c->e, "%s:%d: found node number %d twice above, expected it once", c->name,
                             c->line, g->id[i].id);
    mesh_next_line(c);
    return mesh_msh_end(c, "$EndNodes");
}

static int mesh_msh_node(mesh_msh *g, int *index)
{
    mesh_word w;
    mesh_id key, *found;
    key.index = 0;
    mesh_next(g->c, &w);
    if (!tool_integer(w.p, w.length, &key.id)) return mesh_unexpected(g->c, w, "the number of a node");
    found = (mesh_id *)bsearch(&key, g->id, (size_t)g->m->node_count, sizeof *g->id, mesh_compare_ids);
    if (!found) return mesh_unexpected(g->c, w, "the number of a node listed in $Nodes");
    *index = found->index;
    return 1;
}

/* number type tag-count tags... nodes: triangles are type 2, tets type 4. */
static int mesh_msh_element(mesh_msh *g)
{
    int number, type, tags, tag, n[4], nodes;
    if (!mesh_int(g->c, 0, 1, &number, "an element: its number from 1, then type, tags and nodes")
        || !mesh_int(g->c, 0, 1, &type, "the type of an element")
        || !mesh_int(g->c, 0, 0, &tags, "the number of an element's tags")) return 0;
    nodes = type == 2 ? 3 : type == 4 ? 4 : 0;
    if (nodes == 0) { g->others++; return 1; }
    for (int i = 0; i < tags; i++)
        if (!mesh_int(g->c, 0, INT_MIN, &tag, "a tag")) return 0;
    for (int i = 0; i < nodes; i++)
        if (!mesh_msh_node(g, &n[i])) return 0;
    if (!mesh_line_end(g->c, "the end of the line after an element's nodes")) return 0;
    if (nodes == 3) mesh_add_tri(g->m, n[0], n[1], n[2]);
    else mesh_add_tet(g->m, n);
    return 1;
}

static int mesh_msh_elements(mesh_msh *g)
{
    int count;
    if (!g->id)
        return tool_fail(g->c->e, "%s:%d: found $Elements, expected $Nodes before it", g->c->name,
                         g->c->line);
    if (!mesh_msh_count(g->c, 6, &count, "the number of elements, alone on its line")) return 0;
    for (int i = 0; i < count; i++) {
        mesh_next_line(g->c);
        if (!mesh_msh_element(g)) return 0;
    }
    mesh_next_line(g->c);
    return mesh_msh_end(g->c, "$EndElements");
}

/* A section that says nothing about shape: to its end. */
static int mesh_msh_skip(mesh_cursor *c, mesh_word section)
{
    mesh_word w;
    while (mesh_next_line(c)) {
        if (!mesh_next(c, &w) || w.length != section.length + 3 || memcmp(w.p, "$End", 4) != 0) continue;
        if (memcmp(w.p + 4, section.p + 1, section.length - 1) == 0) return 1;
    }
    w.length = 0;
    return mesh_unexpected(c, w, "the $End line of this section");
}

static int mesh_msh_sections(mesh_msh *g)
{
    mesh_word w;
    if (!mesh_flow(g->c, &w) || !mesh_is(w, "$MeshFormat")) return mesh_unexpected(g->c, w, "$MeshFormat");
    if (!mesh_msh_format(g->c)) return 0;
    while (mesh_flow(g->c, &w)) {
        int ok;
        if (mesh_is(w, "$Nodes")) ok = mesh_msh_nodes(g);
        else if (mesh_is(w, "$Elements")) ok = mesh_msh_elements(g);
        else if (w.p[0] == '$' && w.length > 1) ok = mesh_msh_skip(g->c, w);
        else ok = mesh_unexpected(g->c, w, "a section such as $Nodes or $Elements");
        if (!ok) return 0;
    }
    if (g->m->tri_count == 0 && g->m->tet_count == 0)
        return tool_fail(g->c->e,
                         "%s:%d: found %d nodes and %d elements of other types, expected triangles (type 2) "
                         "or tets (type 4)",
                         g->c->name, g->c->line, g->m->node_count, g->others);
    return 1;
}

static int mesh_parse_msh(tool_mesh *m, mesh_cursor *c)
{
    mesh_msh g;
    int ok;
    memset(&g, 0, sizeof g);
    g.m = m;
    g.c = c;
    ok = mesh_msh_sections(&g);
    free(g.id);
    return ok;
}

/* ---- Legacy VTK ----------------------------------------------------------------------------- */

enum { VTK_TRIANGLE = 5, VTK_POLYGON = 7, VTK_QUAD = 9, VTK_TET = 10 };

/* Cells as the file gives them: cell k has the nodes list[start[k]] .. list[start[k + 1] - 1]. */
typedef struct mesh_cells {
    int *start, *list, *line;
    int count;
} mesh_cells;

static void mesh_cells_free(mesh_cells *k)
{
    free(k->start);
    free(k->list);
    free(k->line);
    memset(k, 0, sizeof *k);
}

static int mesh_vtk_header(mesh_cursor *c, int *grid)
{
    mesh_word w;
    static const char magic[] = "# vtk DataFile Version ";
    if ((size_t)(c->end - c->p) < sizeof magic - 1 || memcmp(c->p, magic, sizeof magic - 1) != 0)
        return tool_fail(c->e, "%s:%d: found no legacy VTK header, expected \"# vtk DataFile Version\"",
                         c->name, c->line);
    mesh_next_line(c);
    while (c->p < c->end && *c->p != '\n') c->p++;   /* the title may hold anything */
    mesh_next_line(c);
    if (!mesh_flow(c, &w) || !mesh_is(w, "ASCII")) return mesh_unexpected(c, w, "ASCII");
    if (!mesh_flow(c, &w) || !mesh_is(w, "DATASET")) return mesh_unexpected(c, w, "DATASET");
    mesh_next(c, &w);
    *grid = mesh_is(w, "UNSTRUCTURED_GRID");
    return *grid || mesh_is(w, "POLYDATA") ? 1 : mesh_unexpected(c, w, "UNSTRUCTURED_GRID or POLYDATA");
}

static int mesh_vtk_points(tool_mesh *m, mesh_cursor *c)
{
    mesh_word type;
    int count;
    if (m->node_count) return tool_fail(c->e, "%s:%d: found a second POINTS, expected one", c->name, c->line);
    if (!mesh_count(c, 6, &count, "the number of points")) return 0;
    if (!mesh_next(c, &type)) return mesh_unexpected(c, type, "the type of the coordinates, such as float");
    for (int i = 0; i < count; i++) {
        double *x = mesh_add_node(m);
        for (int k = 0; k < 3; k++)
            if (!mesh_real(c, 1, &x[k], "a finite coordinate")) return 0;
    }
    return 1;
}

/* One index of a point into the cell list. */
static int mesh_vtk_index(const tool_mesh *m, mesh_cursor *c, int *index)
{
    if (!mesh_int(c, 1, 0, index, "the index of a point from 0")) return 0;
    if (*index < m->node_count) return 1;
    return tool_fail(c->e, "%s:%d: found the point %d, expected an index below %d, the number of points",
                     c->name, c->line, *index, m->node_count);
}

/* Up to version 4: every cell is its number of points, then these; size counts both. */
static int mesh_vtk_cells_counted(const tool_mesh *m, mesh_cursor *c, mesh_cells *k, int size)
{
    int used = 0;
    for (int i = 0; i < k->count; i++) {
        int n;
        if (!mesh_int(c, 1, 1, &n, "the number of a cell's points")) return 0;
        if (n > size - i - 1 - used)
            return tool_fail(c->e,
                             "%s:%d: found a cell of %d points, expected the %d numbers announced to hold it",
                             c->name, c->line, n, size);
        k->line[i] = c->line;
        for (int j = 0; j < n; j++)
            if (!mesh_vtk_index(m, c, &k->list[used++])) return 0;
        k->start[i + 1] = used;
    }
    if (used + k->count == size) return 1;
    return tool_fail(c->e, "%s:%d: found %d numbers in the cell list, expected %d as announced", c->name,
                     c->line, used + k->count, size);
}

/* From version 5: where each cell begins and the last one ends, then all points; size counts the points. */
static int mesh_vtk_cells_offset(const tool_mesh *m, mesh_cursor *c, mesh_cells *k, int size)
{
    mesh_word w;
    mesh_next_line(c);
    for (int i = 0; i <= k->count; i++) {
        if (!mesh_int(c, 1, 0, &k->start[i], "an offset into the connectivity")) return 0;
        if (k->start[i] > size || (i > 0 && k->start[i] < k->start[i - 1]) || (i == 0 && k->start[i] != 0))
            return tool_fail(c->e, "%s:%d: found the offset %d, expected offsets that rise from 0 to %d",
                             c->name, c->line, k->start[i], size);
        if (i < k->count) k->line[i] = c->line;
    }
    if (!mesh_flow(c, &w) || !mesh_is(w, "CONNECTIVITY")) return mesh_unexpected(c, w, "CONNECTIVITY");
    mesh_next_line(c);
    for (int i = 0; i < size; i++)
        if (!mesh_vtk_index(m, c, &k->list[i])) return 0;
    return 1;
}

/* CELLS, POLYGONS and their like: two counts, then the list in the one form or the other. */
static int mesh_vtk_cells(const tool_mesh *m, mesh_cursor *c, mesh_cells *k)
{
    int size;
    mesh_cursor ahead;
    mesh_word w;
    mesh_cells_free(k);
    if (!mesh_count(c, 2, &k->count, "the number of cells")) return 0;
    if (!mesh_count(c, 2, &size, "the size of the cell list")) return 0;
    k->start = (int *)tool_alloc((size_t)k->count + 1, sizeof(int));
    k->line = (int *)tool_alloc((size_t)k->count, sizeof(int));
    k->list = (int *)tool_alloc((size_t)size, sizeof(int));
    ahead = *c;
    if (!mesh_flow(&ahead, &w) || !mesh_is(w, "OFFSETS")) return mesh_vtk_cells_counted(m, c, k, size);
    *c = ahead;
    if (k->count == 0) return mesh_unexpected(c, w, "at least one offset");
    k->count--;
    return mesh_vtk_cells_offset(m, c, k, size);
}

/* A cell of a given type; flat ones become fans, and what is neither flat nor a tet is left out. */
static int mesh_vtk_take(tool_mesh *m, mesh_cursor *c, const mesh_cells *k, int i, int type)
{
    const int *n = k->list + k->start[i];
    int count = k->start[i + 1] - k->start[i];
    int least = type == VTK_TET || type == VTK_QUAD ? 4 : 3;
    if (type != VTK_TET && type != VTK_TRIANGLE && type != VTK_QUAD && type != VTK_POLYGON) return 1;
    if (count < least || (count > least && type != VTK_POLYGON))
        return tool_fail(c->e, "%s:%d: found a cell of %d points, expected %d for cells of type %d", c->name,
                         k->line[i], count, least, type);
    if (type == VTK_TET) mesh_add_tet(m, n);
    else for (int j = 2; j < count; j++) mesh_add_tri(m, n[0], n[j - 1], n[j]);
    return 1;
}

static int mesh_vtk_types(tool_mesh *m, mesh_cursor *c, const mesh_cells *k)
{
    int count, type;
    if (!mesh_count(c, 1, &count, "the number of cell types")) return 0;
    if (count != k->count)
        return tool_fail(c->e, "%s:%d: found %d cell types, expected %d, the number of cells", c->name,
                         c->line, count, k->count);
    for (int i = 0; i < count; i++)
        if (!mesh_int(c, 1, 0, &type, "the type of a cell") || !mesh_vtk_take(m, c, k, i, type)) return 0;
    return 1;
}

/* One keyword of the data set; *done where attributes begin, which say nothing about shape. */
static int mesh_vtk_keyword(tool_mesh *m, mesh_cursor *c, mesh_cells *k, int grid, mesh_word w, int *done)
{
    mesh_cells dropped;
    int ok = 1;
    memset(&dropped, 0, sizeof dropped);
    if (mesh_is(w, "POINTS")) return mesh_vtk_points(m, c);
    if (grid && mesh_is(w, "CELLS")) return mesh_vtk_cells(m, c, k);
    if (grid && mesh_is(w, "CELL_TYPES")) return mesh_vtk_types(m, c, k);
    if (!grid && mesh_is(w, "POLYGONS")) {
        if (!mesh_vtk_cells(m, c, k)) return 0;
        for (int i = 0; ok && i < k->count; i++) ok = mesh_vtk_take(m, c, k, i, VTK_POLYGON);
        return ok;
    }
    if (!grid && (mesh_is(w, "VERTICES") || mesh_is(w, "LINES"))) {
        ok = mesh_vtk_cells(m, c, &dropped);
        mesh_cells_free(&dropped);
        return ok;
    }
    if (mesh_is(w, "METADATA")) {   /* up to an empty line */
        while (mesh_next_line(c) && mesh_next(c, &w)) continue;
        return 1;
    }
    *done = mesh_is(w, "POINT_DATA") || mesh_is(w, "CELL_DATA");
    return *done ? 1 : mesh_unexpected(c, w, grid ? "POINTS, CELLS, CELL_TYPES or POINT_DATA"
                                                  : "POINTS, POLYGONS, LINES, VERTICES or POINT_DATA");
}

static int mesh_parse_vtk(tool_mesh *m, mesh_cursor *c)
{
    mesh_cells k;
    mesh_word w;
    int grid, done = 0, ok = mesh_vtk_header(c, &grid);
    memset(&k, 0, sizeof k);
    while (ok && !done && mesh_flow(c, &w)) ok = mesh_vtk_keyword(m, c, &k, grid, w, &done);
    mesh_cells_free(&k);
    if (!ok) return 0;
    if (m->tri_count || m->tet_count) return 1;
    return tool_fail(
        c->e, "%s:%d: found %d points and no triangle or tet, expected cells of type 5 or 10, or POLYGONS",
        c->name, c->line, m->node_count);
}

/* ---- Entry points --------------------------------------------------------------------------- */

mesh_format mesh_format_of(const char *path)
{
    static const char *const end[] = { "obj", "msh", "vtk" };
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && i < 3; i++)
        if (tolower((unsigned char)dot[1]) == end[i][0] && tolower((unsigned char)dot[2]) == end[i][1]
            && tolower((unsigned char)dot[3]) == end[i][2] && !dot[4]) return (mesh_format)(MESH_OBJ + i);
    return MESH_UNKNOWN;
}

int mesh_parse(tool_mesh *m, mesh_format format, const char *name, const char *data, size_t size,
               tool_error *e)
{
    mesh_cursor c;
    int ok;
    memset(m, 0, sizeof *m);
    c.name = name;
    c.p = data;
    c.end = data + size;
    c.line = 1;
    c.e = e;
    switch (format) {
    case MESH_OBJ: ok = mesh_parse_obj(m, &c); break;
    case MESH_MSH: ok = mesh_parse_msh(m, &c); break;
    case MESH_VTK: ok = mesh_parse_vtk(m, &c); break;
    default:
        ok = tool_fail(e, "%s: found an unknown kind of file, expected a name ending with .obj, .msh or .vtk",
                       name);
    }
    if (!ok) mesh_free(m);
    return ok;
}

int mesh_read(tool_mesh *m, const char *path, tool_error *e)
{
    size_t size;
    char *data;
    int ok;
    memset(m, 0, sizeof *m);
    if (mesh_format_of(path) == MESH_UNKNOWN) return mesh_parse(m, MESH_UNKNOWN, path, "", 0, e);
    data = tool_read_file(path, MESH_MAX_BYTES, &size, e);
    if (!data) return 0;
    ok = mesh_parse(m, mesh_format_of(path), path, data, size, e);
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
