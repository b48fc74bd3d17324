/* PLY: ASCII and binary of either byte order. Of the element `vertex` the properties x, y, z are taken, of
 * the element `face` the list vertex_indices (or vertex_index); everything else is stepped over. */
#include "meshio_parse.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef enum ply_encoding { PLY_ASCII, PLY_LITTLE, PLY_BIG } ply_encoding;
typedef enum ply_role { PLY_SKIP, PLY_X, PLY_Y, PLY_Z, PLY_FACE } ply_role;

enum { PLY_SCALAR = -1, PLY_FLOAT = 6, PLY_DOUBLE = 7 };   /* the types below PLY_FLOAT are whole numbers */
static const struct { const char *name, *other; size_t size; int is_signed; } ply_type[] = {
    { "char", "int8", 1, 1 },     { "uchar", "uint8", 1, 0 },   { "short", "int16", 2, 1 },
    { "ushort", "uint16", 2, 0 }, { "int", "int32", 4, 1 },     { "uint", "uint32", 4, 0 },
    { "float", "float32", 4, 1 }, { "double", "float64", 8, 1 }
};
enum { PLY_TYPES = sizeof ply_type / sizeof *ply_type };

/* count_type: that of a list's length, or PLY_SCALAR */
typedef struct ply_property { int type, count_type; ply_role role; } ply_property;
typedef struct ply_element { int count, first, properties, is_vertex, is_face; } ply_element;

typedef struct ply_file {
    tool_mesh *m;
    mesh_cursor *c;
    ply_encoding encoding;
    int vertices;                /* how many the header promises */
    ply_element *element;
    int element_count, element_capacity;
    ply_property *property;      /* of all elements, in order */
    int property_count, property_capacity;
} ply_file;

/* ---- The header ----------------------------------------------------------------------------- */

static int ply_read_type(mesh_cursor *c, int *type)
{
    mesh_word w;
    mesh_next(c, &w);
    for (*type = 0; *type < PLY_TYPES; (*type)++)
        if (mesh_is(w, ply_type[*type].name) || mesh_is(w, ply_type[*type].other)) return 1;
    return mesh_unexpected(c, w, "a type such as float, uchar or int32");
}

static int ply_read_format(ply_file *f)
{
    mesh_word w;
    mesh_next(f->c, &w);
    if (mesh_is(w, "ascii")) f->encoding = PLY_ASCII;
    else if (mesh_is(w, "binary_little_endian")) f->encoding = PLY_LITTLE;
    else if (mesh_is(w, "binary_big_endian")) f->encoding = PLY_BIG;
    else return mesh_unexpected(f->c, w, "ascii, binary_little_endian or binary_big_endian");
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
    l->is_vertex = mesh_is(name, "vertex");
    l->is_face = mesh_is(name, "face");
    if (l->is_vertex && f->vertices >= 0)
        return mesh_fail(f->c, "found a second element vertex, expected one");
    /* no entry is shorter than a byte */
    if (!mesh_count(f->c, 0, 1, &l->count, "the number of entries of this element")) return 0;
    if (l->is_vertex) f->vertices = l->count;
    return 1;
}

/* What to do with a property of the element that the header speaks of now. */
static ply_role ply_role_of(const ply_element *l, const ply_property *p, mesh_word name)
{
    if (l->is_vertex && p->count_type == PLY_SCALAR)
        return mesh_is(name, "x")   ? PLY_X
               : mesh_is(name, "y") ? PLY_Y
               : mesh_is(name, "z") ? PLY_Z
                                    : PLY_SKIP;
    if (l->is_face && p->count_type != PLY_SCALAR && p->type < PLY_FLOAT
        && (mesh_is(name, "vertex_indices") || mesh_is(name, "vertex_index"))) return PLY_FACE;
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
        if (p->count_type >= PLY_FLOAT)
            return mesh_fail(c, "found a list with a length of type %s, expected a whole number",
                             ply_type[p->count_type].name);
    }
    if (!ply_read_type(c, &p->type)) return 0;
    if (!mesh_next(c, &w)) return mesh_unexpected(c, w, "the name of a property");
    p->role = ply_role_of(l, p, w);
    for (int i = l->first; i < f->property_count - 1 && p->role != PLY_SKIP; i++)
        if (f->property[i].role == p->role) return mesh_unexpected(c, w, "each property once");
    return 1;
}

/* Every element can be read, and vertices have x, y, z. */
static int ply_check_header(ply_file *f)
{
    for (int i = 0; i < f->element_count; i++) {
        const ply_element *l = &f->element[i];
        int roles = 0;
        for (int k = l->first; k < l->first + l->properties; k++) roles |= 1 << f->property[k].role;
        if (l->properties == 0 && l->count > 0)
            return mesh_fail(f->c, "found element %d of the header without a property, expected one", i + 1);
        if (l->is_vertex && (roles & 14) != 14)
            return mesh_fail(f->c, "found no x, y and z among the properties of vertex, expected all three");
        if (l->is_face && f->vertices < 0)
            return mesh_fail(f->c, "found faces without vertices, expected element vertex");
        if (l->is_face && !(roles & 1 << PLY_FACE))
            return mesh_fail(f->c, "found no list vertex_indices of whole numbers in element face, expected "
                                   "one");
    }
    return 1;
}

/* Up to the line end_header, which the data follow. */
static int ply_read_header(ply_file *f)
{
    mesh_cursor *c = f->c;
    mesh_word w;
    int have_format = 0, ok = 1;
    if (!mesh_next(c, &w) || !mesh_is(w, "ply")) return mesh_unexpected(c, w, "ply");
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
    return 1;
}

/* ---- Values --------------------------------------------------------------------------------- */

/* The next bytes of a binary file, lowest first in *bits. */
static int ply_bits(ply_file *f, int type, unsigned long long *bits)
{
    const unsigned char *b = (const unsigned char *)f->c->p;
    size_t size = ply_type[type].size;
    if ((size_t)(f->c->end - f->c->p) < size)
        return mesh_fail(f->c, "found the end of the file, expected a value of type %s", ply_type[type].name);
    *bits = 0;
    for (size_t i = 0; i < size; i++) *bits = *bits << 8 | b[f->encoding == PLY_BIG ? i : size - 1 - i];
    f->c->p += size;
    return 1;
}

static int ply_real(ply_file *f, int type, double *out)
{
    unsigned long long bits = 0;
    if (f->encoding == PLY_ASCII) return mesh_real(f->c, 1, out, "a finite coordinate");
    if (!ply_bits(f, type, &bits)) return 0;
    if (type == PLY_DOUBLE) memcpy(out, &bits, sizeof *out);
    else if (type == PLY_FLOAT) {
        unsigned half = (unsigned)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        *out = value;
    } else {
        double range = (double)(1ull << 8 * ply_type[type].size);
        *out = (double)bits;
        if (ply_type[type].is_signed && *out >= range / 2) *out -= range;
    }
    if (*out - *out == 0) return 1;
    f->c->p -= ply_type[type].size;
    return mesh_fail(f->c, "found %g, expected a finite coordinate", *out);
}

/* A whole number in [least, most]. */
static int ply_int(ply_file *f, int type, int least, int most, int *out, const char *expected)
{
    double value;
    if (f->encoding == PLY_ASCII) {
        mesh_word w;
        mesh_flow(f->c, &w);
        if (tool_integer(w.p, w.length, out) && *out >= least && *out <= most) return 1;
        return mesh_unexpected(f->c, w, expected);
    }
    if (!ply_real(f, type, &value)) return 0;
    if (value >= least && value <= most) { *out = (int)value; return 1; }
    f->c->p -= ply_type[type].size;
    return mesh_fail(f->c, "found %.0f, expected %s", value, expected);
}

/* Over `count` values of a type. */
static int ply_skip(ply_file *f, int type, int count)
{
    mesh_word w;
    if (f->encoding != PLY_ASCII) {
        f->c->p += (size_t)count * ply_type[type].size;   /* counted to fit before */
        return 1;
    }
    for (; count > 0; count--)
        if (!mesh_flow(f->c, &w)) return mesh_unexpected(f->c, w, "the value of a property");
    return 1;
}

/* ---- Elements ------------------------------------------------------------------------------- */

static int ply_polygon(ply_file *f, int type, int n)
{
    int v[3] = { 0, 0, 0 };
    if (n < 3) return mesh_fail(f->c, "found a face of %d vertices, expected at least 3", n);
    for (int i = 0; i < n; i++) {
        if (!ply_int(f, type, 0, f->vertices - 1, &v[i < 2 ? i : 2],
                     "the index of a vertex, from 0 and below their number")) return 0;
        if (i < 2) continue;
        mesh_add_tri(f->m, v[0], v[1], v[2]);
        v[1] = v[2];
    }
    return 1;
}

static int ply_read_value(ply_file *f, const ply_property *p, double *x)
{
    size_t size = f->encoding == PLY_ASCII ? 1 : ply_type[p->type].size;
    int n = 1;
    if (p->role >= PLY_X && p->role <= PLY_Z) return ply_real(f, p->type, &x[p->role - PLY_X]);
    if (p->count_type != PLY_SCALAR && !ply_int(f, p->count_type, 0, INT_MAX, &n, "the length of a list"))
        return 0;
    if (!mesh_fits(f->c, n, size)) return 0;
    return p->role == PLY_FACE ? ply_polygon(f, p->type, n) : ply_skip(f, p->type, n);
}

static int ply_read_data(ply_file *f)
{
    double nowhere[3], *x = nowhere;
    for (int i = 0; i < f->element_count; i++) {
        const ply_element *l = &f->element[i];
        for (int n = 0; n < l->count; n++) {
            if (l->is_vertex) x = mesh_add_node(f->m);
            for (int k = l->first; k < l->first + l->properties; k++)
                if (!ply_read_value(f, &f->property[k], x)) return 0;
        }
    }
    if (f->m->tri_count) return 1;
    return mesh_fail(f->c, "found %d vertices and no face, expected element face", f->m->node_count);
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
    c->binary = ok && f.encoding != PLY_ASCII;
    ok = ok && ply_read_data(&f);
    free(f.element);
    free(f.property);
    return ok;
}
