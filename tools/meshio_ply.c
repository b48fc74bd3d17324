/* PLY: ASCII and binary of either byte order. Of the element `vertex` the properties x, y, z are taken; of `face`
 * the list vertex_indices or vertex_index, or what other list there is; of `tristrips` the like, strips of triangles
 * that -1 parts. Everything else is stepped over, and elements of other names are counted. */
#include "meshio_parse.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum ply_role { PLY_SKIP, PLY_X, PLY_Y, PLY_Z, PLY_LIST } ply_role;
typedef enum ply_kind { PLY_OTHER, PLY_VERTEX, PLY_FACE, PLY_STRIPS } ply_kind;

enum { PLY_SCALAR = -1 };
static const struct { const char *name, *other; } ply_type[MESH_SCALARS] = {   /* by mesh_scalar */
    { "char", "int8" },  { "uchar", "uint8" },  { "short", "int16" }, { "ushort", "uint16" },  { "int", "int32" },
    { "uint", "uint32" }, { "long", "int64" }, { "ulong", "uint64" }, { "float", "float32" }, { "double", "float64" }
};

/* count_type: that of a list's length, or PLY_SCALAR; named: it is called as lists of vertices are */
typedef struct ply_property { int type, count_type, named; ply_role role; } ply_property;
typedef struct ply_element { ply_kind kind; int count, first, properties; char name[48]; } ply_element;

typedef struct ply_file {
    tool_mesh *m;
    mesh_cursor *c;
    int binary;
    int vertices;                /* how many the header promises */
    ply_element *element;
    int element_count, element_capacity;
    ply_property *property;      /* of all elements, in order */
    int property_count, property_capacity;
    int *corner, corner_capacity;
} ply_file;

/* ---- The header ----------------------------------------------------------------------------- */

static int ply_read_type(mesh_cursor *c, int *type)
{
    mesh_word w;
    mesh_next(c, &w);
    for (*type = 0; *type < MESH_SCALARS; (*type)++)
        if (mesh_is(w, ply_type[*type].name) || mesh_is(w, ply_type[*type].other)) return 1;
    return mesh_unexpected(c, w, "a type such as float, uchar or int32");
}

static int ply_read_format(ply_file *f)
{
    mesh_word w;
    mesh_next(f->c, &w);
    f->binary = !mesh_is(w, "ascii");
    f->c->big = mesh_is(w, "binary_big_endian");
    if (f->binary && !f->c->big && !mesh_is(w, "binary_little_endian"))
        return mesh_unexpected(f->c, w, "ascii, binary_little_endian or binary_big_endian");
    mesh_next(f->c, &w);
    return mesh_is(w, "1.0") ? 1 : mesh_unexpected(f->c, w, "version 1.0");
}

static int ply_read_element(ply_file *f)
{
    mesh_word name;
    ply_element *l;
    mesh_next(f->c, &name);
    TOOL_GROW(ply_element, f->element, f->element_capacity, f->element_count + 1);
    l = &f->element[f->element_count++];
    memset(l, 0, sizeof *l);
    l->first = f->property_count;
    l->kind = mesh_is(name, "vertex")      ? PLY_VERTEX
              : mesh_is(name, "face")      ? PLY_FACE
              : mesh_is(name, "tristrips") ? PLY_STRIPS
                                           : PLY_OTHER;
    (void)tool_quote(l->name, name.p, name.length);
    if (l->kind == PLY_VERTEX && f->vertices >= 0)
        return mesh_fail(f->c, "found a second element vertex, expected one");
    /* no entry is shorter than a byte */
    if (!mesh_count(f->c, 0, 1, &l->count, "the number of entries of this element")) return 0;
    if (l->kind == PLY_VERTEX) f->vertices = l->count;
    return 1;
}

/* A coordinate of a vertex. Which list holds the corners of faces is told when all of them are known. */
static ply_role ply_role_of(const ply_element *l, const ply_property *p, mesh_word name)
{
    static const char *const axis[] = { "x", "y", "z" };
    for (int k = 0; k < 3 && l->kind == PLY_VERTEX && p->count_type == PLY_SCALAR; k++)
        if (mesh_is(name, axis[k])) return (ply_role)(PLY_X + k);
    return PLY_SKIP;
}

static int ply_read_property(ply_file *f)
{
    mesh_cursor *c = f->c, ahead = *c;
    mesh_word w;
    ply_property *p;
    ply_element *l;
    if (f->element_count == 0) return mesh_fail(c, "found a property, expected an element before it");
    l = &f->element[f->element_count - 1];
    TOOL_GROW(ply_property, f->property, f->property_capacity, f->property_count + 1);
    p = &f->property[f->property_count++];
    l->properties++;
    p->count_type = PLY_SCALAR;
    if (mesh_next(&ahead, &w) && mesh_is(w, "list")) {
        *c = ahead;
        if (!ply_read_type(c, &p->count_type)) return 0;
    }
    if (!ply_read_type(c, &p->type)) return 0;
    if (!mesh_next(c, &w)) return mesh_unexpected(c, w, "the name of a property");
    p->role = ply_role_of(l, p, w);
    p->named = mesh_is_nocase(w, "vertex_indices") || mesh_is_nocase(w, "vertex_index");
    for (int i = l->first; i < f->property_count - 1; i++)
        if ((p->role != PLY_SKIP && f->property[i].role == p->role) || (p->named && f->property[i].named))
            return mesh_unexpected(c, w, "each property once");
    return 1;
}

/* The list of vertices in a face or strip: the one named so, else the first of whole numbers, else the first. */
static int ply_choose_list(ply_file *f, const ply_element *l)
{
    int best = -1, score = 0;
    for (int i = l->first; i < l->first + l->properties; i++) {
        const ply_property *p = &f->property[i];
        int s = p->count_type == PLY_SCALAR ? 0 : p->named ? 3 : p->type < MESH_F32 ? 2 : 1;
        if (s <= score) continue;
        score = s;
        best = i;
    }
    if (best >= 0) f->property[best].role = PLY_LIST;
    return best >= 0;
}

/* Every element can be read, and vertices have x, y, z. */
static int ply_check_header(ply_file *f)
{
    for (int i = 0; i < f->element_count; i++) {
        const ply_element *l = &f->element[i];
        int roles = 0, faces = l->kind == PLY_FACE || l->kind == PLY_STRIPS;
        for (int k = l->first; k < l->first + l->properties; k++) roles |= 1 << f->property[k].role;
        if (l->properties == 0 && l->count > 0)
            return mesh_fail(f->c, "found element %d of the header without a property, expected one", i + 1);
        if (l->kind == PLY_VERTEX && (roles & 14) != 14)
            return mesh_fail(f->c, "found no x, y and z among the properties of vertex, expected all three");
        if (faces && f->vertices < 0)
            return mesh_fail(f->c, "found faces without vertices, expected element vertex");
        if (faces && !ply_choose_list(f, l))
            return mesh_fail(f->c, "found no list in element %s, expected vertex_indices", l->name);
        if (l->kind == PLY_OTHER && l->count) {
            mesh_note *n = mesh_pass(f->m, l->count, "entry of elements other than vertex, face and tristrips",
                                     "entries of elements other than vertex, face and tristrips");
            if (!n->such[0]) (void)snprintf(n->such, sizeof n->such, ", such as %s", l->name);
        }
    }
    return 1;
}

/* Up to the line end_header, which the data follow. Where lines end with CR alone, data may begin with LF. */
static int ply_read_header(ply_file *f)
{
    mesh_cursor *c = f->c;
    mesh_word w;
    int have_format = 0, ok = 1, cr;
    if (!mesh_next(c, &w) || !mesh_is(w, "ply")) return mesh_unexpected(c, w, "ply");
    cr = c->p[0] == '\r' && c->p[1] != '\n';
    while (ok) {
        if (!mesh_next_line(c)) return mesh_fail(c, "found the end of the file, expected end_header");
        if (!mesh_next(c, &w)) continue;
        if (mesh_is(w, "comment") || mesh_is(w, "obj_info")) continue;
        if (mesh_is(w, "end_header")) break;
        if (mesh_is(w, "format")) { ok = ply_read_format(f); have_format = 1; }
        else if (mesh_is(w, "element")) ok = ply_read_element(f);
        else if (mesh_is(w, "property")) ok = ply_read_property(f);
        else ok = mesh_unexpected(c, w, "format, element, property, comment or end_header");
    }
    if (!ok) return 0;
    if (!have_format) return mesh_fail(c, "found a header without a format line, expected one");
    if (!ply_check_header(f)) return 0;
    mesh_next_line(c);
    if (cr && f->binary && c->p[-1] == '\n') c->p--;
    return 1;
}

/* ---- Elements ------------------------------------------------------------------------------- */

/* The vertices of a face, or of strips, of which -1 ends one. */
static int ply_corners(ply_file *f, const ply_property *p, int n, int strips)
{
    int begin = 0;
    if (n < 3 && !strips) {
        mesh_pass_lines(f->m, 1);
        return mesh_get_nothing(f->c, mesh_scalar_size((mesh_scalar)p->type), (size_t)n, "the index of a vertex");
    }
    TOOL_GROW(int, f->corner, f->corner_capacity, n);
    for (int i = 0; i < n; i++) {
        if (!mesh_get_int(f->c, (mesh_scalar)p->type, strips ? -1 : 0, f->vertices - 1, &f->corner[i],
                          "the index of a vertex, from 0 and below their number")) return 0;
        if (f->corner[i] >= 0) continue;
        mesh_add_strip(f->m, f->corner + begin, i - begin);
        begin = i + 1;
    }
    if (strips) mesh_add_strip(f->m, f->corner + begin, n - begin);
    else mesh_add_polygon(f->m, f->corner, n);
    return 1;
}

static int ply_read_value(ply_file *f, const ply_property *p, ply_kind kind, double *x)
{
    size_t size = mesh_scalar_size((mesh_scalar)p->type);
    int n = 1;
    if (p->role >= PLY_X && p->role <= PLY_Z)
        return mesh_get_real(f->c, (mesh_scalar)p->type, &x[p->role - PLY_X], "a finite coordinate");
    if (p->count_type != PLY_SCALAR
        && !(mesh_get_int(f->c, (mesh_scalar)p->count_type, 0, INT_MAX, &n, "the length of a list")
             && mesh_fits(f->c, n, f->binary ? size : 1))) return 0;
    if (p->role == PLY_LIST) return ply_corners(f, p, n, kind == PLY_STRIPS);
    return mesh_get_nothing(f->c, size, (size_t)n, "the value of a property");
}

static int ply_read_data(ply_file *f)
{
    double nowhere[3], *x = nowhere;
    char said[200];
    for (int i = 0; i < f->element_count; i++) {
        const ply_element *l = &f->element[i];
        for (int n = 0; n < l->count; n++) {
            if (l->kind == PLY_VERTEX) x = mesh_add_node(f->m);
            for (int k = l->first; k < l->first + l->properties; k++)
                if (!ply_read_value(f, &f->property[k], l->kind, x)) return 0;
        }
    }
    mesh_pass_rest(f->m, f->c);
    if (f->m->tri_count) return 1;
    return mesh_fail(f->c, "found %d vertices and no face%s, expected element face", f->m->node_count,
                     mesh_passed(f->m, said));
}

int mesh_parse_ply(tool_mesh *m, mesh_cursor *c)
{
    ply_file f;
    int ok;
    memset(&f, 0, sizeof f);
    f.m = m;
    f.c = c;
    f.vertices = -1;
    c->comment = 0;
    ok = ply_read_header(&f);
    c->binary = ok && f.binary;
    ok = ok && ply_read_data(&f);
    free(f.corner);
    free(f.element);
    free(f.property);
    return ok;
}
