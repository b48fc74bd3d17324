/* Legacy VTK, ASCII: unstructured grids and polygonal data, cell lists of versions up to 4 and from 5. */
#include "meshio_parse.h"
#include <stdlib.h>
#include <string.h>

enum { VTK_POLY_LINE = 4, VTK_TRIANGLE = 5, VTK_POLYGON = 7, VTK_QUAD = 9, VTK_TET = 10 };

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
        return mesh_fail(c, "found no legacy VTK header, expected \"# vtk DataFile Version\"");
    mesh_next_line(c);
    mesh_next_line(c);   /* over the title, which may hold anything */
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
    if (m->node_count) return mesh_fail(c, "found a second POINTS, expected one");
    if (!mesh_count(c, 0, 6, &count, "the number of points")) return 0;
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
    return mesh_fail(c, "found the point %d, expected an index below %d, the number of points", *index,
                     m->node_count);
}

/* Up to version 4: every cell is its number of points, then these; size counts both. */
static int mesh_vtk_cells_counted(const tool_mesh *m, mesh_cursor *c, mesh_cells *k, int size)
{
    int used = 0;
    for (int i = 0; i < k->count; i++) {
        int n;
        if (!mesh_int(c, 1, 1, &n, "the number of a cell's points")) return 0;
        if (n > size - i - 1 - used)
            return mesh_fail(c, "found a cell of %d points, expected the %d numbers announced to hold it",
                             n, size);
        k->line[i] = c->line;
        for (int j = 0; j < n; j++)
            if (!mesh_vtk_index(m, c, &k->list[used++])) return 0;
        k->start[i + 1] = used;
    }
    if (used + k->count == size) return 1;
    return mesh_fail(c, "found %d numbers in the cell list, expected %d as announced", used + k->count,
                     size);
}

/* From version 5: where each cell begins and the last one ends, then all points; size counts the points. */
static int mesh_vtk_cells_offset(const tool_mesh *m, mesh_cursor *c, mesh_cells *k, int size)
{
    mesh_word w;
    mesh_next_line(c);
    for (int i = 0; i <= k->count; i++) {
        if (!mesh_int(c, 1, 0, &k->start[i], "an offset into the connectivity")) return 0;
        if (k->start[i] > size || (i > 0 && k->start[i] < k->start[i - 1]) || (i == 0 && k->start[i] != 0))
            return mesh_fail(c, "found the offset %d, expected offsets that rise from 0 to %d", k->start[i],
                             size);
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
    if (!mesh_count(c, 0, 2, &k->count, "the number of cells")) return 0;
    if (!mesh_count(c, 0, 2, &size, "the size of the cell list")) return 0;
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
    if (type != VTK_TET && type != VTK_TRIANGLE && type != VTK_QUAD && type != VTK_POLYGON) {
        m->skipped += type > VTK_POLY_LINE;
        return 1;
    }
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
    if (!mesh_count(c, 0, 1, &count, "the number of cell types")) return 0;
    if (count != k->count)
        return mesh_fail(c, "found %d cell types, expected %d, the number of cells", count, k->count);
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

int mesh_parse_vtk(tool_mesh *m, mesh_cursor *c)
{
    mesh_cells k;
    mesh_word w;
    int grid, done = 0, ok = mesh_vtk_header(c, &grid);
    memset(&k, 0, sizeof k);
    while (ok && !done && mesh_flow(c, &w)) ok = mesh_vtk_keyword(m, c, &k, grid, w, &done);
    mesh_cells_free(&k);
    if (!ok) return 0;
    if (m->tri_count || m->tet_count) return 1;
    return mesh_fail(c, "found %d points and no triangle or tet, expected cells of type 5 or 10, or POLYGONS",
                     m->node_count);
}
