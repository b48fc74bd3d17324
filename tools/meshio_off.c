/* OFF: the points and faces of its text form, with or without the keyword, comments and counts anywhere. What
 * stands behind a point or a face on its line (normals, colours) is read over. */
#include "meshio_parse.h"
#include <string.h>

/* OFF, and its forms with more per point: texture, colour, normal. Not the ones of other dimensions. */
static int mesh_off_keyword(mesh_word w)
{
    static const char *const form[] = { "OFF",   "COFF",   "NOFF",   "CNOFF",
                                        "STOFF", "STCOFF", "STNOFF", "STCNOFF" };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++)
        if (mesh_is(w, form[i])) return 1;
    return 0;
}

static int mesh_off_face(tool_mesh *m, mesh_cursor *c)
{
    mesh_word w;
    int n, v[3] = { 0, 0, 0 };
    if (!mesh_int(c, 1, 3, &n, "a face: the number of its points, at least 3, and their indices")) return 0;
    for (int i = 0; i < n; i++) {
        int *at = &v[i < 2 ? i : 2];
        mesh_next(c, &w);
        if (!tool_integer(w.p, w.length, at) || *at < 0 || *at >= m->node_count)
            return mesh_unexpected(c, w, "the index of a point, from 0 and below their number");
        if (i < 2) continue;
        mesh_add_tri(m, v[0], v[1], v[2]);
        v[1] = v[2];
    }
    mesh_next_line(c);
    return 1;
}

int mesh_parse_off(tool_mesh *m, mesh_cursor *c)
{
    mesh_word w;
    mesh_cursor ahead = *c;
    int points, faces;
    double number;
    if (!mesh_flow(&ahead, &w)) return mesh_unexpected(&ahead, w, "OFF");
    if (mesh_off_keyword(w)) *c = ahead;
    else if (!tool_number(w.p, w.length, &number)) return mesh_unexpected(&ahead, w, "OFF");
    if (!mesh_count(c, 1, 5, &points, "the number of points")) return 0;
    if (!mesh_count(c, 1, 7, &faces, "the number of faces")) return 0;
    mesh_next_line(c);   /* over the number of edges, which nobody needs */
    for (int i = 0; i < points; i++) {
        double *x = mesh_add_node(m);
        for (int k = 0; k < 3; k++)
            if (!mesh_real(c, k == 0, &x[k], "a finite coordinate")) return 0;
        mesh_next_line(c);
    }
    for (int i = 0; i < faces; i++)
        if (!mesh_off_face(m, c)) return 0;
    if (m->tri_count) return 1;
    return mesh_fail(c, "found %d points and no face, expected at least one", m->node_count);
}
