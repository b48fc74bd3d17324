/* How a mesh grows while it is read, and what is done when all is there. */
#include "meshio_parse.h"
#include "polygon.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Nodes and elements --------------------------------------------------------------------- */

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

/* A fan around the first corner keeps the corners, and the place of the triangles, until all nodes are there. */
void mesh_add_polygon(tool_mesh *m, const int *v, int n)
{
    if (n > 3) {
        TOOL_GROW(int, m->fan, m->fan_capacity, 2 * (m->fan_count + 1));
        m->fan[2 * m->fan_count] = m->tri_count;
        m->fan[2 * m->fan_count++ + 1] = n;
    }
    for (int i = 2; i < n; i++) mesh_add_tri(m, v[0], v[i - 1], v[i]);
}

void mesh_add_strip(tool_mesh *m, const int *v, int n)
{
    for (int i = 0; i + 2 < n; i++) {
        int a = v[i], b = v[i + 1 + i % 2], c = v[i + 2 - i % 2];
        if (a != b && b != c && c != a) mesh_add_tri(m, a, b, c);
    }
}

/* ---- What is passed over -------------------------------------------------------------------- */

mesh_note *mesh_pass(tool_mesh *m, int count, const char *one, const char *many)
{
    mesh_note *n;
    for (int i = 0; i < m->note_count; i++) {
        n = &m->note[i];
        if (strcmp(n->one, one) != 0) continue;
        n->count = count < INT_MAX - n->count ? n->count + count : INT_MAX;
        return n;
    }
    TOOL_GROW(mesh_note, m->note, m->note_capacity, m->note_count + 1);
    n = &m->note[m->note_count++];
    n->one = one;
    n->many = many;
    n->such[0] = 0;
    n->count = count;
    return n;
}

void mesh_pass_rest(tool_mesh *m, mesh_cursor *c)
{
    mesh_note *n;
    mesh_word w;
    int lines = 0, first = 0;
    while (c->end > c->p && strchr(" \t\r\n\x1a", c->end[-1])) c->end--;   /* strchr() finds zeros, too */
    if (c->end == c->p) return;
    if (c->binary) {
        (void)mesh_pass(m, (int)(c->end - c->p), "byte behind the last entry", "bytes behind the last entry");
        return;
    }
    do {
        if (!mesh_next(c, &w)) continue;
        if (!lines++) first = c->line;
    } while (mesh_next_line(c));
    if (!lines) return;
    n = mesh_pass(m, lines, "line behind the last entry", "lines behind the last entry");
    if (!n->such[0]) (void)snprintf(n->such, sizeof n->such, ", the first of them line %d", first);
}

void mesh_pass_lines(tool_mesh *m, int count)
{
    (void)mesh_pass(m, count, "polygon of fewer than three different corners",
                    "polygons of fewer than three different corners");
}

void mesh_put_note(tool_text *t, const mesh_note *n)
{
    tool_put(t, "%d %s%s", n->count, n->count == 1 ? n->one : n->many, n->such);
}

const char *mesh_passed(const tool_mesh *m, char out[200])
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < m->note_count && i < 2; i++) {
        const mesh_note *n = &m->note[i];
        int more = snprintf(out + used, 200 - used, ", %d %s%s", n->count, n->count == 1 ? n->one : n->many, n->such);
        used = more < 0 || (size_t)more >= 200 - used ? 199 : used + (size_t)more;
    }
    return out;
}

void mesh_put_aside(tool_mesh *m, int node)
{
    if (!m->aside) m->aside = (unsigned char *)tool_alloc((size_t)m->node_count, 1);
    m->aside[node] = 1;
}

const mesh_kind *mesh_find_kind(const mesh_kind *list, int count, int type)
{
    for (int i = 0; i < count; i++)
        if (list[i].type == type) return &list[i];
    return NULL;
}

void mesh_take(tool_mesh *m, const mesh_kind *k, const int *v, int n)
{
    int taken = 0, pixel[4];
    switch (k->role) {
    case MESH_OTHER: (void)mesh_pass(m, 1, k->one, k->many); break;
    case MESH_FACE: taken = k->corners ? k->corners : n; break;
    case MESH_FACE_2: taken = n / 2; break;
    case MESH_PIXEL:
        for (int i = 0; i < 4; i++) pixel[i] = v[i < 2 ? i : 5 - i];
        mesh_add_polygon(m, pixel, 4);
        return;
    case MESH_STRIP: mesh_add_strip(m, v, n); return;
    case MESH_TET:
        mesh_add_tet(m, v);
        taken = 4;
        break;
    case MESH_SILENT:
    default: break;
    }
    if (k->role == MESH_FACE || k->role == MESH_FACE_2) mesh_add_polygon(m, v, taken);
    for (int i = taken; i < n; i++) mesh_put_aside(m, v[i]);
}

/* ---- When everything is read ---------------------------------------------------------------- */

/* Cuts the polygons, which are fans until now: triangle f is corners 0, f + 1, f + 2. */
static void mesh_cut(tool_mesh *m)
{
    polygon_cutter cutter;
    int *corner = NULL, capacity = 0, removed = 0, kept = 0, repeats = 0, lines = 0;
    memset(&cutter, 0, sizeof cutter);
    for (int i = 0; i < m->fan_count; i++) {
        int *tri = m->tri + 3 * (size_t)m->fan[2 * i], n = m->fan[2 * i + 1], count;
        TOOL_GROW(int, corner, capacity, n);
        for (int k = 0; k < n; k++) corner[k] = k == 0 ? tri[0] : k == 1 ? tri[1] : tri[3 * (k - 2) + 2];
        count = polygon_cut(&cutter, m->x, corner, n, tri);
        for (int t = count; t < n - 2; t++) tri[3 * t] = -1;
        removed += n - 2 - count;
        if (count == 0) lines++;
        else repeats += n - 2 - count;
    }
    for (int t = 0; t < m->tri_count && removed; t++) {
        if (m->tri[3 * t] < 0) continue;
        memmove(m->tri + 3 * kept++, m->tri + 3 * t, 3 * sizeof *m->tri);
    }
    if (removed) m->tri_count = kept;
    if (repeats)
        (void)mesh_pass(m, repeats, "repeated corner of a polygon", "repeated corners of polygons");
    if (lines) mesh_pass_lines(m, lines);
    polygon_free(&cutter);
    free(corner);
}

/* The surface of tets is their boundary, whatever triangles stand beside them. */
static void mesh_drop_triangles(tool_mesh *m)
{
    if (!m->tet_count || !m->tri_count) return;
    for (int i = 0; i < 3 * m->tri_count; i++) mesh_put_aside(m, m->tri[i]);
    (void)mesh_pass(m, m->tri_count, "triangle beside the tets, whose boundary is the surface",
                    "triangles beside the tets, whose boundary is the surface");
    m->tri_count = 0;
}

/* Nodes that belong to what was passed over and to nothing else. */
static void mesh_drop_nodes(tool_mesh *m)
{
    int *keep, dropped;
    if (!m->aside) return;
    for (int i = 0; i < 3 * m->tri_count; i++) m->aside[m->tri[i]] = 0;
    for (int i = 0; i < 4 * m->tet_count; i++) m->aside[m->tet[i]] = 0;
    keep = (int *)tool_alloc((size_t)m->node_count, sizeof *keep);
    for (int i = 0; i < m->node_count; i++) keep[i] = !m->aside[i];
    dropped = mesh_keep_nodes(m, keep);
    if (dropped)
        (void)mesh_pass(m, dropped, "node that is a corner of no triangle or tet",
                        "nodes that are corners of no triangle or tet");
    free(keep);
}

int mesh_finish(tool_mesh *m, const char *name, tool_error *e)
{
    char said[200];
    for (int i = 0; i < m->fan_count; i++)
        if (m->fan[2 * i + 1] > POLYGON_MOST)
            return tool_fail(e, "%s: found a polygon of %d corners, expected at most %d", name, m->fan[2 * i + 1],
                             POLYGON_MOST);
    mesh_cut(m);
    mesh_drop_triangles(m);
    mesh_drop_nodes(m);
    free(m->fan);
    free(m->aside);
    m->fan = NULL;
    m->aside = NULL;
    m->fan_count = m->fan_capacity = 0;
    if (m->tri_count || m->tet_count) return 1;
    return tool_fail(e, "%s: found no triangle%s, expected at least one", name, mesh_passed(m, said));
}
