/* Legacy VTK, ASCII and binary: unstructured grids and polygonal data, cell lists of versions up to 4 and from 5.
 * Keywords may be written in lower case. Field data are read over wherever they stand, attributes end the shape. */
#include "meshio_parse.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { VTK_POLYGON = 7 };

static const mesh_kind vtk_kind[] = {   /* corners come first in cells of higher order */
    { 1, 0, MESH_SILENT, 0, 0, 0 },
    { 2, 0, MESH_SILENT, 0, 0, 0 },
    { 3, 0, MESH_SILENT, 0, 0, 0 },
    { 4, 0, MESH_SILENT, 0, 0, 0 },
    { 5, 3, MESH_FACE, 3, 0, 0 },
    { 6, 0, MESH_STRIP, 0, 0, 0 },
    { 7, 0, MESH_FACE, 0, 0, 0 },
    { 8, 4, MESH_PIXEL, 4, 0, 0 },
    { 9, 4, MESH_FACE, 4, 0, 0 },
    { 10, 4, MESH_TET, 4, 0, 0 },
    { 11, 0, MESH_OTHER, 0, "voxel", "voxels" },
    { 12, 0, MESH_OTHER, 0, "hexahedron", "hexahedra" },
    { 13, 0, MESH_OTHER, 0, "wedge", "wedges" },
    { 14, 0, MESH_OTHER, 0, "pyramid", "pyramids" },
    { 15, 0, MESH_OTHER, 0, "prism", "prisms" },
    { 16, 0, MESH_OTHER, 0, "prism", "prisms" },
    { 21, 0, MESH_SILENT, 0, 0, 0 },
    { 22, 6, MESH_FACE, 3, 0, 0 },
    { 23, 8, MESH_FACE, 4, 0, 0 },
    { 24, 10, MESH_TET, 4, 0, 0 },
    { 25, 0, MESH_OTHER, 0, "hexahedron", "hexahedra" },
    { 26, 0, MESH_OTHER, 0, "wedge", "wedges" },
    { 27, 0, MESH_OTHER, 0, "pyramid", "pyramids" },
    { 28, 9, MESH_FACE, 4, 0, 0 },
    { 29, 0, MESH_OTHER, 0, "hexahedron", "hexahedra" },
    { 30, 6, MESH_FACE, 4, 0, 0 },
    { 31, 0, MESH_OTHER, 0, "wedge", "wedges" },
    { 32, 0, MESH_OTHER, 0, "wedge", "wedges" },
    { 33, 0, MESH_OTHER, 0, "hexahedron", "hexahedra" },
    { 34, 7, MESH_FACE, 3, 0, 0 },
    { 35, 0, MESH_SILENT, 0, 0, 0 },
    { 36, 0, MESH_FACE_2, 6, 0, 0 },
    { 37, 0, MESH_OTHER, 0, "pyramid", "pyramids" },
    { 42, 0, MESH_OTHER, 0, "polyhedron", "polyhedra" },
    { 68, 0, MESH_SILENT, 0, 0, 0 },
    { 69, 0, MESH_FACE, 3, 0, 0 },
    { 70, 0, MESH_FACE, 4, 0, 0 },
    { 71, 0, MESH_TET, 4, 0, 0 },
    { 75, 0, MESH_SILENT, 0, 0, 0 },
    { 76, 0, MESH_FACE, 3, 0, 0 },
    { 77, 0, MESH_FACE, 4, 0, 0 },
    { 78, 0, MESH_TET, 4, 0, 0 }
};
static const mesh_kind vtk_other = { 0, 0, MESH_OTHER, 0, "cell of another type", "cells of other types" };

/* A data set while it is read. Cell k has the nodes list[start[k]] .. list[start[k + 1] - 1]. */
typedef struct mesh_vtk {
    tool_mesh *m;
    mesh_cursor *c;
    int grid, done;
    int typed;                  /* the types of the cells were read */
    int *start, *list, *line;   /* line: 0 in binary files */
    int count;
    int components;             /* of the values read last: a point has 3 */
} mesh_vtk;

static int mesh_vtk_header(mesh_vtk *g)
{
    mesh_cursor *c = g->c;
    mesh_word w;
    static const char magic[] = "# vtk datafile version";
    w.p = c->p;
    w.length = sizeof magic - 1;
    if ((size_t)(c->end - c->p) < w.length || !mesh_is_nocase(w, magic))
        return mesh_fail(c, "found no legacy VTK header, expected \"# vtk DataFile Version\"");
    mesh_next_line(c);
    mesh_next_line(c);   /* over the title, which may hold anything */
    if (!mesh_flow(c, &w) || !(mesh_is_nocase(w, "ascii") || mesh_is_nocase(w, "binary")))
        return mesh_unexpected(c, w, "ASCII or BINARY");
    c->big = c->binary = mesh_is_nocase(w, "binary");
    if (!c->binary) mesh_cursor_text(c);
    c->comment = 0;   /* only the first line is one */
    if (!mesh_flow(c, &w) || !mesh_is_nocase(w, "dataset")) return mesh_unexpected(c, w, "DATASET");
    mesh_next(c, &w);
    g->grid = mesh_is_nocase(w, "unstructured_grid");
    return g->grid || mesh_is_nocase(w, "polydata") ? 1 : mesh_unexpected(c, w, "UNSTRUCTURED_GRID or POLYDATA");
}

/* The last word of a line, a type of values, in front of them. */
static int mesh_vtk_type(mesh_cursor *c, mesh_scalar *type, mesh_word *w)
{
    static const struct { const char *name; mesh_scalar type; } list[] = {
        { "float", MESH_F32 },          { "double", MESH_F64 },         { "int", MESH_I32 },
        { "unsigned_int", MESH_U32 },   { "long", MESH_I64 },           { "unsigned_long", MESH_U64 },
        { "long_long", MESH_I64 },      { "unsigned_long_long", MESH_U64 }, { "vtkidtype", MESH_I32 },
        { "short", MESH_I16 },          { "unsigned_short", MESH_U16 }, { "char", MESH_I8 },
        { "signed_char", MESH_I8 },     { "unsigned_char", MESH_U8 },   { "vtktypeint64", MESH_I64 },
        { "vtktypeuint64", MESH_U64 },  { "vtktypeint32", MESH_I32 },   { "vtktypeuint32", MESH_U32 },
        { "vtktypeint16", MESH_I16 },   { "vtktypeuint16", MESH_U16 },  { "vtktypeint8", MESH_I8 },
        { "vtktypeuint8", MESH_U8 },    { "vtktypefloat32", MESH_F32 }, { "vtktypefloat64", MESH_F64 }
    };
    if (!mesh_next(c, w)) return mesh_unexpected(c, *w, "the type of the values, such as float");
    *type = MESH_SCALARS;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (mesh_is_nocase(*w, list[i].name)) *type = list[i].type;
    return 1;
}

static int mesh_vtk_values(mesh_cursor *c, mesh_scalar *type)
{
    mesh_word w;
    if (!mesh_vtk_type(c, type, &w)) return 0;
    if (*type == MESH_SCALARS && c->binary) return mesh_unexpected(c, w, "a type of values, such as float");
    if (*type == MESH_SCALARS) *type = MESH_F64;
    if (c->binary) mesh_next_line(c);
    return 1;
}

static int mesh_vtk_points(mesh_vtk *g)
{
    mesh_cursor *c = g->c;
    mesh_scalar type;
    int count;
    if (g->m->node_count) return mesh_fail(c, "found a second POINTS, expected one");
    g->components = 3;
    if (!mesh_count(c, 0, c->binary ? 3 : 6, &count, "the number of points") || !mesh_vtk_values(c, &type)) return 0;
    for (int i = 0; i < count; i++) {
        double *x = mesh_add_node(g->m);
        for (int k = 0; k < 3; k++)
            if (!mesh_get_real(c, type, &x[k], "a finite coordinate")) return 0;
    }
    return 1;
}

/* Up to an empty line. The names of the components of the values in front of it may be empty. */
static void mesh_vtk_metadata(mesh_vtk *g)
{
    mesh_word w;
    while (mesh_next_line(g->c) && mesh_next(g->c, &w)) {
        int names = mesh_is_nocase(w, "component_names") ? g->components : 0;
        while (names > 0 && mesh_next_line(g->c)) names--;
    }
}

/* ---- Cells ---------------------------------------------------------------------------------- */

static void mesh_vtk_free_cells(mesh_vtk *g)
{
    free(g->start);
    free(g->list);
    free(g->line);
    g->start = g->list = g->line = NULL;
    g->count = 0;
}

/* One index of a point into the cell list. */
static int mesh_vtk_index(mesh_vtk *g, mesh_scalar type, int *index)
{
    if (!mesh_get_int(g->c, type, 0, INT_MAX, index, "the index of a point from 0")) return 0;
    if (*index < g->m->node_count) return 1;
    return mesh_fail(g->c, "found the point %d, expected an index below %d, the number of points", *index,
                     g->m->node_count);
}

/* Up to version 4: every cell is its number of points, then these; size counts both. */
static int mesh_vtk_cells_counted(mesh_vtk *g, int size)
{
    mesh_cursor *c = g->c;
    int used = 0;
    if (c->binary) mesh_next_line(c);
    for (int i = 0; i < g->count; i++) {
        int n;
        if (!mesh_get_int(c, MESH_I32, 1, INT_MAX, &n, "the number of a cell's points")) return 0;
        if (n > size - i - 1 - used)
            return mesh_fail(c, "found a cell of %d points, expected the %d numbers announced to hold it",
                             n, size);
        g->line[i] = c->binary ? 0 : c->line;
        for (int j = 0; j < n; j++)
            if (!mesh_vtk_index(g, MESH_I32, &g->list[used++])) return 0;
        g->start[i + 1] = used;
    }
    if (used + g->count == size) return 1;
    return mesh_fail(c, "found %d numbers in the cell list, expected %d as announced", used + g->count, size);
}

/* From version 5: where each cell begins and the last one ends, then all points; size counts the points. */
static int mesh_vtk_cells_offset(mesh_vtk *g, int size)
{
    mesh_cursor *c = g->c;
    mesh_scalar type;
    mesh_word w;
    if (!mesh_vtk_values(c, &type)) return 0;
    for (int i = 0; i <= g->count; i++) {
        int *at = &g->start[i];
        if (!mesh_get_int(c, type, 0, INT_MAX, at, "an offset into the connectivity")) return 0;
        if (*at > size || (i > 0 && *at < at[-1]) || (i == 0 && *at != 0))
            return mesh_fail(c, "found the offset %d, expected offsets that rise from 0 to %d", *at, size);
        if (i < g->count) g->line[i] = c->binary ? 0 : c->line;
    }
    g->components = 1;
    while (mesh_flow(c, &w) && mesh_is_nocase(w, "metadata")) mesh_vtk_metadata(g);   /* of the offsets */
    if (!mesh_is_nocase(w, "connectivity")) return mesh_unexpected(c, w, "CONNECTIVITY");
    if (!mesh_vtk_values(c, &type)) return 0;
    for (int i = 0; i < size; i++)
        if (!mesh_vtk_index(g, type, &g->list[i])) return 0;
    return 1;
}

/* CELLS, POLYGONS and their like: two counts, then the list in the one form or the other. */
static int mesh_vtk_cells(mesh_vtk *g)
{
    mesh_cursor *c = g->c, ahead;
    mesh_word w;
    int size;
    mesh_vtk_free_cells(g);
    g->typed = 0;
    if (!mesh_count(c, 0, 2, &g->count, "the number of cells")) return 0;
    if (!mesh_count(c, 0, 2, &size, "the size of the cell list")) return 0;
    g->start = (int *)tool_alloc((size_t)g->count + 1, sizeof(int));
    g->line = (int *)tool_alloc((size_t)g->count, sizeof(int));
    g->list = (int *)tool_alloc((size_t)size, sizeof(int));
    ahead = *c;
    if (!mesh_flow(&ahead, &w) || !mesh_is_nocase(w, "offsets")) return mesh_vtk_cells_counted(g, size);
    *c = ahead;
    if (g->count == 0) return mesh_unexpected(c, w, "at least one offset");
    g->count--;
    return mesh_vtk_cells_offset(g, size);
}

/* A cell of a given type. */
static int mesh_vtk_take(mesh_vtk *g, int i, int type)
{
    const mesh_kind *k = mesh_find_kind(vtk_kind, sizeof vtk_kind / sizeof *vtk_kind, type);
    int n = g->start[i + 1] - g->start[i], least;
    if (!k) k = &vtk_other;
    least = k->nodes ? k->nodes : k->corners;
    if (n < least || (k->nodes && n > k->nodes)) {
        if (g->line[i])
            return tool_fail(g->c->e, "%s:%d: found a cell of %d points, expected %d for cells of type %d", g->c->name,
                             g->line[i], n, least, type);
        return mesh_fail(g->c, "found cell %d of %d points, expected %d for cells of type %d", i, n, least, type);
    }
    if (type == VTK_POLYGON && n < 3) {
        mesh_pass_lines(g->m, 1);
        return 1;
    }
    mesh_take(g->m, k, g->list + g->start[i], n);
    return 1;
}

static int mesh_vtk_take_all(mesh_vtk *g, int type)
{
    for (int i = 0; i < g->count; i++)
        if (!mesh_vtk_take(g, i, type)) return 0;
    return 1;
}

static int mesh_vtk_types(mesh_vtk *g)
{
    mesh_cursor *c = g->c;
    int count, type;
    if (!mesh_count(c, 0, 1, &count, "the number of cell types")) return 0;
    if (count != g->count)
        return mesh_fail(c, "found %d cell types, expected %d, the number of cells", count, g->count);
    if (c->binary) mesh_next_line(c);
    for (int i = 0; i < count; i++)
        if (!mesh_get_int(c, MESH_I32, 0, INT_MAX, &type, "the type of a cell") || !mesh_vtk_take(g, i, type)) return 0;
    g->typed = 1;
    return 1;
}

/* ---- What is no shape ----------------------------------------------------------------------- */

/* Strings: each on a line of its own; or, in binary, behind its length, of which the two highest bits tell how many
 * bytes it takes: 8, 4, 2 or 1. */
static int mesh_vtk_strings(mesh_cursor *c, size_t count)
{
    mesh_next_line(c);
    for (; count > 0; count--) {
        size_t bytes = 1, length;
        if (!c->binary) {
            if (!mesh_next_line(c)) return mesh_fail(c, "found the end of the file, expected a string");
            continue;
        }
        if (c->p < c->end) bytes = (size_t)8 >> ((unsigned char)*c->p >> 6);
        if ((size_t)(c->end - c->p) < bytes) return mesh_fail(c, "found the end of the file, expected a string");
        length = (unsigned char)*c->p & 63;
        for (size_t i = 1; i < bytes; i++) length = length << 8 | (unsigned char)c->p[i];
        c->p += bytes;
        if (!mesh_get_nothing(c, 1, length, "a string")) return 0;
    }
    return 1;
}

/* One array: its name, the sizes of a tuple and of the array, the type, and the values. */
static int mesh_vtk_array(mesh_vtk *g)
{
    mesh_cursor *c = g->c;
    mesh_word w;
    mesh_scalar type = MESH_SCALARS;
    int size, count;
    size_t values;
    while (mesh_flow(c, &w) && mesh_is_nocase(w, "metadata")) mesh_vtk_metadata(g);
    if (!w.length) return mesh_unexpected(c, w, "the name of an array");
    if (mesh_is_nocase(w, "null_array")) return 1;
    if (!mesh_int(c, 0, 0, &size, "the number of components") || !mesh_int(c, 0, 0, &count, "the number of tuples")
        || !mesh_vtk_type(c, &type, &w)) return 0;
    values = (size_t)size * (size_t)count;
    g->components = size;
    if (mesh_is_nocase(w, "string") || mesh_is_nocase(w, "utf8_string")) return mesh_vtk_strings(c, values);
    if (c->binary) mesh_next_line(c);
    if (mesh_is_nocase(w, "bit"))
        return mesh_get_nothing(c, 1, c->binary ? (values + 7) / 8 : values, "the values of an array");
    if (c->binary && type == MESH_SCALARS) return mesh_unexpected(c, w, "a type of values, such as float");
    return mesh_get_nothing(c, type == MESH_SCALARS ? 1 : mesh_scalar_size(type), values, "the values of an array");
}

/* FIELD, its name, and so many arrays. */
static int mesh_vtk_field(mesh_vtk *g)
{
    mesh_cursor *c = g->c;
    mesh_word w;
    int count;
    mesh_next(c, &w);
    if (!mesh_int(c, 0, 0, &count, "the number of arrays")) return 0;
    for (; count > 0; count--)
        if (!mesh_vtk_array(g)) return 0;
    return 1;
}

/* ---- The data set --------------------------------------------------------------------------- */

/* One keyword; `done` where attributes begin, which say nothing about shape. */
static int mesh_vtk_keyword(mesh_vtk *g, mesh_word w)
{
    if (mesh_is_nocase(w, "points")) return mesh_vtk_points(g);
    if (mesh_is_nocase(w, "field")) return mesh_vtk_field(g);
    if (mesh_is_nocase(w, "metadata")) {
        mesh_vtk_metadata(g);
        return 1;
    }
    if (g->grid && mesh_is_nocase(w, "cells")) return mesh_vtk_cells(g);
    if (g->grid && mesh_is_nocase(w, "cell_types")) return mesh_vtk_types(g);
    if (!g->grid && mesh_is_nocase(w, "polygons")) return mesh_vtk_cells(g) && mesh_vtk_take_all(g, VTK_POLYGON);
    if (!g->grid && mesh_is_nocase(w, "triangle_strips")) return mesh_vtk_cells(g) && mesh_vtk_take_all(g, 6);
    if (!g->grid && (mesh_is_nocase(w, "vertices") || mesh_is_nocase(w, "lines")))
        return mesh_vtk_cells(g) && mesh_vtk_take_all(g, 1);
    g->done = mesh_is_nocase(w, "point_data") || mesh_is_nocase(w, "cell_data");
    return g->done ? 1 : mesh_unexpected(g->c, w, g->grid ? "POINTS, CELLS, CELL_TYPES, FIELD or POINT_DATA"
                                                          : "POINTS, POLYGONS, TRIANGLE_STRIPS, LINES, VERTICES, "
                                                            "FIELD or POINT_DATA");
}

int mesh_parse_vtk(tool_mesh *m, mesh_cursor *c)
{
    mesh_vtk g;
    mesh_word w;
    char said[200];
    int ok;
    memset(&g, 0, sizeof g);
    g.m = m;
    g.c = c;
    ok = mesh_vtk_header(&g);
    while (ok && !g.done && mesh_flow(c, &w)) ok = mesh_vtk_keyword(&g, w);
    if (ok && g.grid && g.count && !g.typed)
        ok = mesh_fail(c, "found %d cells without their types, expected CELL_TYPES", g.count);
    mesh_vtk_free_cells(&g);
    if (!ok) return 0;
    if (m->tri_count || m->tet_count) return 1;
    return mesh_fail(c, "found %d points and no triangle or tet%s, expected cells of type 5, 9, 10 or 24, or POLYGONS: "
                        "mesh the volume with tets, or save its surface", m->node_count, mesh_passed(m, said));
}
