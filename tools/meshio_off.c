/* OFF: the points and faces of its text form, with or without the keyword, which the first count may follow without
 * a space; comments and counts anywhere. What stands behind a point or a face on its line (normals, colours,
 * texture) is read over. */
#include "meshio_parse.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* [ST][C][N][4][n]OFF: what each point has besides; 4: a fourth coordinate, which divides the others; n: the number
 * of coordinates follows. Returns the length of the keyword at the begin of a word, or 0. */
static size_t mesh_off_keyword(mesh_word w, int *homogeneous, int *any)
{
    static const char *const part[] = { "ST", "C", "N", "4", "n" };
    size_t at = 0;
    mesh_word off;
    for (int i = 0; i < 5; i++) {
        size_t length = strlen(part[i]);
        if (w.length - at < length || memcmp(w.p + at, part[i], length) != 0) continue;
        at += length;
        *homogeneous |= i == 3;
        *any |= i == 4;
    }
    off.p = w.p + at;
    off.length = 3;
    return w.length - at >= 3 && mesh_is_nocase(off, "off") && !(*homogeneous && *any) ? at + 3 : 0;
}

static int mesh_off_header(mesh_cursor *c, int *homogeneous)
{
    mesh_word w;
    mesh_cursor ahead = *c;
    double number;
    int any = 0, dimension = 3;
    size_t length;
    *homogeneous = 0;
    if (!mesh_flow(&ahead, &w)) return mesh_unexpected(&ahead, w, "OFF");
    length = mesh_off_keyword(w, homogeneous, &any);
    if (!length && !tool_number(w.p, w.length, &number)) return mesh_unexpected(&ahead, w, "OFF");
    if (length < w.length && length && !isdigit((unsigned char)w.p[length])) return mesh_unexpected(&ahead, w, "OFF");
    c->p = w.p + length;
    c->line = ahead.line;
    if (any && !mesh_int(c, 1, 1, &dimension, "the number of coordinates of a point")) return 0;
    return dimension == 3 ? 1 : mesh_fail(c, "found points of %d coordinates, expected 3", dimension);
}

static int mesh_off_point(tool_mesh *m, mesh_cursor *c, int homogeneous)
{
    double *x = mesh_add_node(m), w;
    for (int k = 0; k < 3; k++)
        if (!mesh_real(c, k == 0, &x[k], "a finite coordinate")) return 0;
    if (homogeneous) {
        if (!mesh_real(c, 0, &w, "the fourth coordinate")) return 0;
        for (int k = 0; k < 3; k++) x[k] /= w;
        if (!(x[0] - x[0] == 0 && x[1] - x[1] == 0 && x[2] - x[2] == 0))
            return mesh_fail(c, "found %g as the fourth coordinate, expected one that divides the others", w);
    }
    mesh_next_line(c);
    return 1;
}

static int mesh_off_face(tool_mesh *m, mesh_cursor *c, int **corner, int *capacity)
{
    mesh_word w;
    int n;
    if (!mesh_int(c, 1, 0, &n, "a face: the number of its points, and their indices") || !mesh_fits(c, n, 2)) return 0;
    TOOL_GROW(int, *corner, *capacity, n);
    for (int i = 0; i < n; i++) {
        int *at = &(*corner)[i];
        mesh_next(c, &w);
        if (!tool_integer(w.p, w.length, at) || *at < 0 || *at >= m->node_count)
            return mesh_unexpected(c, w, "the index of a point, from 0 and below their number");
    }
    if (n < 3) mesh_pass_lines(m, 1);
    else mesh_add_polygon(m, *corner, n);
    mesh_next_line(c);
    return 1;
}

/* The number of edges, which nobody needs, stands behind that of faces or alone on the next line; or is not there. */
static void mesh_off_edges(mesh_cursor *c)
{
    mesh_cursor ahead = *c;
    mesh_word w;
    int number;
    if (!mesh_next(&ahead, &w) && mesh_flow(&ahead, &w) && tool_integer(w.p, w.length, &number)
        && !mesh_next(&ahead, &w))
        *c = ahead;
    mesh_next_line(c);
}

int mesh_parse_off(tool_mesh *m, mesh_cursor *c)
{
    int points, faces, homogeneous, *corner = NULL, capacity = 0, ok = 1;
    char said[200];
    mesh_cursor_text(c);
    if (!mesh_off_header(c, &homogeneous)) return 0;
    if (!mesh_count(c, 1, 5, &points, "the number of points")) return 0;
    if (!mesh_count(c, 1, 7, &faces, "the number of faces")) return 0;
    mesh_off_edges(c);
    for (int i = 0; i < points; i++)
        if (!mesh_off_point(m, c, homogeneous)) return 0;
    for (int i = 0; i < faces && ok; i++) ok = mesh_off_face(m, c, &corner, &capacity);
    free(corner);
    if (!ok) return 0;
    mesh_pass_rest(m, c);
    if (m->tri_count) return 1;
    return mesh_fail(c, "found %d points and no face%s, expected at least one", m->node_count, mesh_passed(m, said));
}
