/* OBJ: the lines v and f. Lines about looks and names, points and lines are read over in silence; those with any
 * other keyword, such as the ones of free-form curves and surfaces, are counted. */
#include "meshio_parse.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mesh_obj {
    tool_mesh *m;
    mesh_cursor *c;
    int largest, largest_line;   /* largest vertex number of a face; vertices may follow their faces */
    int *corner, corner_capacity;
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

static int mesh_obj_face(mesh_obj *o)
{
    mesh_word w;
    int n = 0;
    while (mesh_next(o->c, &w)) {
        TOOL_GROW(int, o->corner, o->corner_capacity, n + 1);
        if (!mesh_obj_corner(o, w, &o->corner[n++])) return 0;
    }
    if (n < 3) return mesh_unexpected(o->c, w, "a face of at least 3 vertices");
    mesh_add_polygon(o->m, o->corner, n);
    return 1;
}

/* A keyword that says nothing about faces, or that nobody knows. */
static void mesh_obj_other(mesh_obj *o, mesh_word w)
{
    static const char *const silent[] = { "vn",     "vt",     "vp",     "o",      "g",         "s",        "l",
                                          "p",      "usemtl", "mtllib", "mg",     "usemap",    "maplib",   "lod",
                                          "bevel",  "d_interp", "c_interp", "shadow_obj", "trace_obj" };
    char quoted[48];
    mesh_note *n;
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (mesh_is(w, silent[i])) return;
    n = mesh_pass(o->m, 1, "line that is neither v nor f", "lines that are neither v nor f");
    if (!n->such[0])
        (void)snprintf(n->such, sizeof n->such, ", the first %s on line %d", tool_quote(quoted, w.p, w.length),
                       o->c->line);
}

static int mesh_obj_line(mesh_obj *o, mesh_word w)
{
    if (mesh_is(w, "v")) {
        double *x = mesh_add_node(o->m);
        for (int i = 0; i < 3; i++)   /* a weight or a colour may follow */
            if (!mesh_real(o->c, 0, &x[i], "a finite coordinate")) return 0;
        return 1;
    }
    if (mesh_is(w, "f") || mesh_is(w, "fo")) return mesh_obj_face(o);   /* fo: its name in early versions */
    mesh_obj_other(o, w);
    return 1;
}

static int mesh_obj_lines(mesh_obj *o)
{
    mesh_cursor *c = o->c;
    tool_mesh *m = o->m;
    mesh_word w;
    char said[200];
    do {
        if (mesh_next(c, &w) && !mesh_obj_line(o, w)) return 0;
    } while (mesh_next_line(c));
    if (o->largest > m->node_count)
        return tool_fail(c->e, "%s:%d: found vertex number %d, expected at most %d, the number of v lines",
                         c->name, o->largest_line, o->largest, m->node_count);
    if (m->tri_count == 0)
        return mesh_fail(c, "found %d vertices and no face%s, expected at least one f line", m->node_count,
                         mesh_passed(m, said));
    return 1;
}

int mesh_parse_obj(tool_mesh *m, mesh_cursor *c)
{
    mesh_obj o;
    int ok;
    memset(&o, 0, sizeof o);
    o.m = m;
    o.c = c;
    c->joins = 1;
    mesh_cursor_text(c);
    ok = mesh_obj_lines(&o);
    free(o.corner);
    return ok;
}
