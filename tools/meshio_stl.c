/* STL. Binary is told by its size, which its header fixes: many such files begin with "solid", the first word of the
 * ASCII form. What is neither text nor of that size is binary all the same, with bytes behind its triangles, or with
 * a count of 0 that was never filled in. Every facet brings its own corners; those at equal coordinates become one
 * vertex. Normals are not read: the order of the corners tells the same. */
#include "meshio_parse.h"
#include "../embipc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STL_HEADER = 84, STL_FACET = 50 };

/* ---- Binary --------------------------------------------------------------------------------- */

static unsigned mesh_stl_u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return b[0] | (unsigned)b[1] << 8 | (unsigned)b[2] << 16 | (unsigned)b[3] << 24;
}

/* What the size of the file tells: facets that fit behind the header, and bytes behind these. */
static size_t mesh_stl_room(const mesh_cursor *c, size_t *rest)
{
    size_t size = (size_t)(c->end - c->begin);
    *rest = size < STL_HEADER ? size : (size - STL_HEADER) % STL_FACET;
    return size < STL_HEADER ? 0 : (size - STL_HEADER) / STL_FACET;
}

static int mesh_stl_is_exact(const mesh_cursor *c)
{
    size_t rest, room = mesh_stl_room(c, &rest);
    return c->end - c->begin >= STL_HEADER && rest == 0 && room == mesh_stl_u32(c->begin + STL_HEADER - 4);
}

static int mesh_stl_binary(tool_mesh *m, mesh_cursor *c, size_t count)
{
    double *x;
    c->binary = 1;
    for (size_t t = 0; t < count; t++) {
        int n = m->node_count;
        c->p = c->begin + STL_HEADER + t * STL_FACET + 12;
        for (int i = 0; i < 3; i++) {
            x = mesh_add_node(m);
            for (int k = 0; k < 3; k++)
                if (!mesh_get_real(c, MESH_F32, &x[k], "a finite coordinate")) return 0;
        }
        mesh_add_tri(m, n, n + 1, n + 2);
    }
    c->p = c->begin + STL_HEADER + count * STL_FACET;
    return 1;
}

/* Neither of exact size nor text. */
static int mesh_stl_inexact(tool_mesh *m, mesh_cursor *c)
{
    size_t rest, room = mesh_stl_room(c, &rest), count;
    c->binary = 1;
    if (c->end - c->begin < STL_HEADER)
        return mesh_fail(c, "found neither \"solid\" nor %d bytes, expected an STL file", STL_HEADER);
    c->p = c->begin + STL_HEADER - 4;
    count = mesh_stl_u32(c->p);
    if (count == 0 && rest == 0 && room > 0) {
        mesh_note *n = mesh_pass(m, 1, "count of triangles in the header", "counts of triangles in the header");
        (void)snprintf(n->such, sizeof n->such, ", 0, where the file has %zu", room);
        return mesh_stl_binary(m, c, room);
    }
    if (count == 0 || count > room)
        return mesh_fail(c, "found a count of %zu triangles in a file of %zu bytes, expected 84 + 50 bytes per "
                            "triangle, or text that begins with \"solid\"", count, (size_t)(c->end - c->begin));
    if (!mesh_stl_binary(m, c, count)) return 0;
    (void)mesh_pass(m, (int)(c->end - c->p), "byte behind the last triangle", "bytes behind the last triangle");
    return 1;
}

/* ---- ASCII ---------------------------------------------------------------------------------- */

/* Begins with "solid" and has no zero byte. Takes what stands behind the text off its end. */
static int mesh_stl_is_text(mesh_cursor *c)
{
    mesh_cursor ahead;
    mesh_word w;
    mesh_cursor_text(c);
    ahead = *c;
    return mesh_flow(&ahead, &w) && mesh_is_nocase(w, "solid") && !memchr(c->begin, 0, (size_t)(c->end - c->begin));
}

static int mesh_stl_keyword(mesh_cursor *c, const char *keyword)
{
    mesh_word w;
    return mesh_flow(c, &w) && mesh_is_nocase(w, keyword) ? 1 : mesh_unexpected(c, w, keyword);
}

/* Is this word `end` and what ends, or `end` alone with that as the next word, which is then taken, too? */
static int mesh_stl_ends(mesh_cursor *c, mesh_word w, const char *end)
{
    mesh_cursor ahead = *c;
    if (mesh_is_nocase(w, end)) return 1;
    if (!mesh_is_nocase(w, "end") || !mesh_flow(&ahead, &w) || !mesh_is_nocase(w, end + 3)) return 0;
    *c = ahead;
    return 1;
}

/* The corners of a facet, mostly three, up to endloop. */
static int mesh_stl_loop(tool_mesh *m, mesh_cursor *c, int **corner, int *capacity)
{
    mesh_word w;
    int n = 0;
    for (;;) {
        double *x;
        if (!mesh_flow(c, &w)) return mesh_unexpected(c, w, "vertex or endloop");
        if (n >= 3 && mesh_stl_ends(c, w, "endloop")) break;
        if (!mesh_is_nocase(w, "vertex")) return mesh_unexpected(c, w, n < 3 ? "vertex" : "vertex or endloop");
        TOOL_GROW(int, *corner, *capacity, n + 1);
        (*corner)[n++] = m->node_count;
        x = mesh_add_node(m);
        for (int k = 0; k < 3; k++)
            if (!mesh_real(c, 1, &x[k], "a finite coordinate")) return 0;
    }
    mesh_add_polygon(m, *corner, n);
    return 1;
}

/* What follows the word facet, up to endfacet. */
static int mesh_stl_facet(tool_mesh *m, mesh_cursor *c, int **corner, int *capacity)
{
    mesh_word w;
    if (!mesh_stl_keyword(c, "normal")) return 0;
    for (int i = 0; i < 3; i++)   /* often nan where there is no area */
        if (!mesh_flow(c, &w)) return mesh_unexpected(c, w, "the three numbers of a normal");
    if (!mesh_stl_keyword(c, "outer") || !mesh_stl_keyword(c, "loop") || !mesh_stl_loop(m, c, corner, capacity))
        return 0;
    if (!mesh_flow(c, &w) || !mesh_stl_ends(c, w, "endfacet")) return mesh_unexpected(c, w, "endfacet");
    return 1;
}

/* One solid after the other; the rest of a line with solid or endsolid is a name. */
static int mesh_stl_ascii(tool_mesh *m, mesh_cursor *c)
{
    mesh_word w;
    int inside = 0, *corner = NULL, capacity = 0, ok = 1;
    while (ok && mesh_flow(c, &w)) {
        if (inside && mesh_is_nocase(w, "facet")) ok = mesh_stl_facet(m, c, &corner, &capacity);
        else if (inside ? mesh_stl_ends(c, w, "endsolid") : mesh_is_nocase(w, "solid")) {
            inside = !inside;
            mesh_next_line(c);
        } else ok = mesh_unexpected(c, w, inside ? "facet or endsolid" : "solid");
    }
    free(corner);
    if (!ok) return 0;
    return inside ? mesh_unexpected(c, w, "facet or endsolid") : 1;
}

/* ---- Either --------------------------------------------------------------------------------- */

/* One vertex for all corners at the same coordinates, in the order of their first use. */
static void mesh_stl_merge(tool_mesh *m)
{
    int *map = (int *)tool_alloc((size_t)m->node_count, sizeof *map), count = 0;
    if (embipc_vertices_merge(m->x, m->node_count, 0, map) >= 0) {
        for (int i = 0; i < m->node_count; i++) {
            if (map[i] != i) map[i] = map[map[i]];   /* which has its new number by now */
            else {
                memmove(m->x + 3 * count, m->x + 3 * i, 3 * sizeof *m->x);
                map[i] = count++;
            }
        }
        for (int i = 0; i < 3 * m->tri_count; i++) m->tri[i] = map[m->tri[i]];
        m->node_count = count;
    }
    free(map);
}

int mesh_parse_stl(tool_mesh *m, mesh_cursor *c)
{
    mesh_cursor text;
    int ok;
    c->comment = 0;
    text = *c;
    if (mesh_stl_is_exact(c)) ok = mesh_stl_binary(m, c, mesh_stl_u32(c->begin + STL_HEADER - 4));
    else if (mesh_stl_is_text(&text)) {
        *c = text;
        ok = mesh_stl_ascii(m, c);
    } else ok = mesh_stl_inexact(m, c);
    if (!ok) return 0;
    if (m->tri_count == 0) return mesh_fail(c, "found no triangle, expected at least one");
    mesh_stl_merge(m);
    return 1;
}
