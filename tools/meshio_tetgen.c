/* TetGen: the points of a .node file and the tets of the .ele file beside it, both numbered from 0 or both
 * from 1. Attributes and markers are read over; of tets of ten nodes the first four are the corners, and the
 * others, in the middle of edges, are dropped. */
#include "meshio_parse.h"
#include <stdio.h>

/* The number a line begins with, which must be the next. */
static int mesh_tetgen_number(mesh_cursor *c, int expected)
{
    char text[64];
    mesh_word w;
    int number;
    mesh_flow(c, &w);
    if (tool_integer(w.p, w.length, &number) && number == expected) return 1;
    (void)snprintf(text, sizeof text, "the line of number %d", expected);
    return mesh_unexpected(c, w, text);
}

int mesh_parse_node(tool_mesh *m, mesh_cursor *c, int *first)
{
    mesh_cursor ahead;
    int count, dimension;
    *first = 0;
    mesh_cursor_text(c);
    if (!mesh_count(c, 1, 7, &count, "the number of points")) return 0;
    if (count == 0) return mesh_fail(c, "found 0 points, expected at least one");
    if (!mesh_int(c, 0, 0, &dimension, "the dimension, 3")) return 0;
    if (dimension != 3) return mesh_fail(c, "found dimension %d, expected 3", dimension);
    mesh_next_line(c);
    ahead = *c;
    if (!mesh_int(&ahead, 1, 0, first, "a point: its number, then x y z")) return 0;
    if (*first > 1) return mesh_fail(&ahead, "found %d as the first number, expected 0 or 1", *first);
    for (int i = 0; i < count; i++) {
        double *x = mesh_add_node(m);
        if (!mesh_tetgen_number(c, *first + i)) return 0;
        for (int k = 0; k < 3; k++)
            if (!mesh_real(c, 0, &x[k], "a finite coordinate")) return 0;
        mesh_next_line(c);
    }
    mesh_pass_rest(m, c);
    return 1;
}

int mesh_parse_ele(tool_mesh *m, mesh_cursor *c, int first)
{
    int count, nodes;
    mesh_cursor_text(c);
    if (!mesh_count(c, 1, 9, &count, "the number of tets")) return 0;
    if (!mesh_int(c, 0, 0, &nodes, "the number of nodes per tet, 4 or 10")) return 0;
    if (nodes != 4 && nodes != 10)
        return mesh_fail(c, "found %d nodes per tet, expected 4 or 10", nodes);
    mesh_next_line(c);
    for (int i = 0; i < count; i++) {
        mesh_word w;
        int n[10];
        if (!mesh_tetgen_number(c, first + i)) return 0;
        for (int k = 0; k < nodes; k++) {
            mesh_next(c, &w);
            if (!tool_integer(w.p, w.length, &n[k]) || n[k] < first || n[k] - first >= m->node_count)
                return mesh_unexpected(c, w, "the number of a point of the .node file");
            n[k] -= first;
            if (k >= 4) mesh_put_aside(m, n[k]);
        }
        mesh_add_tet(m, n);
        mesh_next_line(c);
    }
    mesh_pass_rest(m, c);
    return m->tet_count ? 1 : mesh_fail(c, "found no tet, expected at least one");
}
