/* OBJ: the lines v and f; all other keywords of the format are read over. */
#include "meshio_parse.h"
#include <string.h>

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

int mesh_parse_obj(tool_mesh *m, mesh_cursor *c)
{
    mesh_obj o;
    mesh_word w;
    o.m = m;
    o.c = c;
    o.largest = o.largest_line = 0;
    c->joins = 1;
    do {
        if (mesh_next(c, &w) && !mesh_obj_line(&o, w)) return 0;
    } while (mesh_next_line(c));
    if (o.largest > m->node_count)
        return tool_fail(c->e, "%s:%d: found vertex number %d, expected at most %d, the number of v lines",
                         c->name, o.largest_line, o.largest, m->node_count);
    if (m->tri_count == 0)
        return mesh_fail(c, "found %d vertices and no face, expected at least one f line", m->node_count);
    return 1;
}
