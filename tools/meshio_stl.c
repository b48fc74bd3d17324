/* STL. Binary is told by its size, which its header fixes, and by nothing else: many such files begin with
 * "solid", the first word of the ASCII form. Every triangle brings its own three corners; those at equal
 * coordinates become one vertex. Normals are not read: the order of the corners tells the same. */
#include "meshio_parse.h"
#include "../embipc.h"
#include <stdlib.h>
#include <string.h>

enum { STL_HEADER = 84, STL_FACET = 50 };

static unsigned mesh_stl_u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return b[0] | (unsigned)b[1] << 8 | (unsigned)b[2] << 16 | (unsigned)b[3] << 24;
}

static int mesh_stl_is_binary(const mesh_cursor *c)
{
    size_t size = (size_t)(c->end - c->begin);
    return size >= STL_HEADER
           && (size - STL_HEADER) / STL_FACET == mesh_stl_u32(c->begin + STL_HEADER - 4)
           && (size - STL_HEADER) % STL_FACET == 0;
}

/* Three new vertices and their triangle. */
static double *mesh_stl_triangle(tool_mesh *m)
{
    int n = m->node_count;
    for (int i = 0; i < 3; i++) (void)mesh_add_node(m);
    mesh_add_tri(m, n, n + 1, n + 2);
    return m->x + 3 * n;
}

static int mesh_stl_binary(tool_mesh *m, mesh_cursor *c)
{
    unsigned count = mesh_stl_u32(c->begin + STL_HEADER - 4);
    c->binary = 1;
    for (unsigned t = 0; t < count; t++) {
        double *x = mesh_stl_triangle(m);
        for (int i = 0; i < 9; i++) {
            unsigned bits;
            float value;
            c->p = c->begin + STL_HEADER + (size_t)t * STL_FACET + 12 + 4 * i;
            bits = mesh_stl_u32(c->p);
            memcpy(&value, &bits, sizeof value);
            x[i] = value;
            if (!(x[i] - x[i] == 0))
                return mesh_fail(c, "found %g in triangle %u, expected a finite coordinate", x[i], t);
        }
    }
    c->p = c->end;
    return 1;
}

static int mesh_stl_keyword(mesh_cursor *c, const char *keyword)
{
    mesh_word w;
    return mesh_flow(c, &w) && mesh_is_nocase(w, keyword) ? 1 : mesh_unexpected(c, w, keyword);
}

/* What follows the word facet, up to endfacet. */
static int mesh_stl_facet(tool_mesh *m, mesh_cursor *c)
{
    mesh_word w;
    double *x = mesh_stl_triangle(m);
    if (!mesh_stl_keyword(c, "normal")) return 0;
    for (int i = 0; i < 3; i++)   /* often nan where there is no area */
        if (!mesh_flow(c, &w)) return mesh_unexpected(c, w, "the three numbers of a normal");
    if (!mesh_stl_keyword(c, "outer") || !mesh_stl_keyword(c, "loop")) return 0;
    for (int i = 0; i < 9; i++) {
        if (i % 3 == 0 && !mesh_stl_keyword(c, "vertex")) return 0;
        if (!mesh_real(c, 1, &x[i], "a finite coordinate")) return 0;
    }
    return mesh_stl_keyword(c, "endloop") && mesh_stl_keyword(c, "endfacet");
}

/* One solid after the other; the rest of a line with solid or endsolid is a name. */
static int mesh_stl_ascii(tool_mesh *m, mesh_cursor *c)
{
    mesh_word w;
    int inside = 0;
    while (mesh_flow(c, &w)) {
        if (inside && mesh_is_nocase(w, "facet")) {
            if (!mesh_stl_facet(m, c)) return 0;
        } else if (mesh_is_nocase(w, inside ? "endsolid" : "solid")) {
            inside = !inside;
            mesh_next_line(c);
        } else return mesh_unexpected(c, w, inside ? "facet or endsolid" : "solid");
    }
    return inside ? mesh_unexpected(c, w, "facet or endsolid") : 1;
}

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
    mesh_cursor start;
    mesh_word w;
    size_t size = (size_t)(c->end - c->begin);
    c->comment = 0;
    start = *c;
    if (mesh_stl_is_binary(c)) {
        if (!mesh_stl_binary(m, c)) return 0;
    } else if (mesh_flow(&start, &w) && mesh_is_nocase(w, "solid") && !memchr(c->begin, 0, size)) {
        if (!mesh_stl_ascii(m, c)) return 0;
    } else {
        c->binary = 1;
        if (size < STL_HEADER)
            return mesh_fail(c, "found neither \"solid\" nor %d bytes, expected an STL file", STL_HEADER);
        c->p = c->begin + STL_HEADER - 4;
        return mesh_fail(c,
                         "found a count of %u triangles in a file of %zu bytes, expected 84 + 50 bytes per "
                         "triangle, or text that begins with \"solid\"",
                         mesh_stl_u32(c->p), size);
    }
    if (m->tri_count == 0) return mesh_fail(c, "found no triangle, expected at least one");
    mesh_stl_merge(m);
    return 1;
}
