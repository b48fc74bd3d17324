/* Gmsh, ASCII and binary, versions 2 to 2.2, 4.0 and 4.1: $Nodes (or $ParametricNodes) and $Elements, of which
 * triangles, quadrangles and tets are taken, those of higher order by their corners. Other elements are counted,
 * other sections read over. */
#include "meshio_parse.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const mesh_kind msh_kind[] = {   /* corners come first in elements of higher order */
    { 1, 2, MESH_SILENT, 0, 0, 0 },
    { 2, 3, MESH_FACE, 3, 0, 0 },
    { 3, 4, MESH_FACE, 4, 0, 0 },
    { 4, 4, MESH_TET, 4, 0, 0 },
    { 5, 8, MESH_OTHER, 0, "hexahedron", "hexahedra" },
    { 6, 6, MESH_OTHER, 0, "prism", "prisms" },
    { 7, 5, MESH_OTHER, 0, "pyramid", "pyramids" },
    { 8, 3, MESH_SILENT, 0, 0, 0 },
    { 9, 6, MESH_FACE, 3, 0, 0 },
    { 10, 9, MESH_FACE, 4, 0, 0 },
    { 11, 10, MESH_TET, 4, 0, 0 },
    { 12, 27, MESH_OTHER, 0, "hexahedron", "hexahedra" },
    { 13, 18, MESH_OTHER, 0, "prism", "prisms" },
    { 14, 14, MESH_OTHER, 0, "pyramid", "pyramids" },
    { 15, 1, MESH_SILENT, 0, 0, 0 },
    { 16, 8, MESH_FACE, 4, 0, 0 },
    { 17, 20, MESH_OTHER, 0, "hexahedron", "hexahedra" },
    { 18, 15, MESH_OTHER, 0, "prism", "prisms" },
    { 19, 13, MESH_OTHER, 0, "pyramid", "pyramids" },
    { 20, 9, MESH_FACE, 3, 0, 0 },
    { 21, 10, MESH_FACE, 3, 0, 0 },
    { 22, 12, MESH_FACE, 3, 0, 0 },
    { 23, 15, MESH_FACE, 3, 0, 0 },
    { 24, 15, MESH_FACE, 3, 0, 0 },
    { 25, 21, MESH_FACE, 3, 0, 0 },
    { 26, 4, MESH_SILENT, 0, 0, 0 },
    { 27, 5, MESH_SILENT, 0, 0, 0 },
    { 28, 6, MESH_SILENT, 0, 0, 0 },
    { 29, 20, MESH_TET, 4, 0, 0 },
    { 30, 35, MESH_TET, 4, 0, 0 },
    { 31, 56, MESH_TET, 4, 0, 0 },
    { 36, 16, MESH_FACE, 4, 0, 0 },
    { 37, 25, MESH_FACE, 4, 0, 0 },
    { 38, 36, MESH_FACE, 4, 0, 0 },
    { 92, 64, MESH_OTHER, 0, "hexahedron", "hexahedra" },
    { 93, 125, MESH_OTHER, 0, "hexahedron", "hexahedra" }
};
enum { MSH_MOST_NODES = 56 };   /* of an element that is taken */
static const mesh_kind msh_other = { 0, 0, MESH_OTHER, 0, "element of another type", "elements of other types" };

/* A node's number in the file and its index here. */
typedef struct mesh_id { int id, index; } mesh_id;

typedef struct mesh_msh {
    tool_mesh *m;
    mesh_cursor *c;
    int version;       /* 20, 40 or 41 */
    mesh_scalar size;  /* of counts in version 4, and of tags in 4.1: how many bytes a size_t had */
    mesh_id *id;       /* ascending by id */
    int is_range;      /* ids are those from id[0].id on, in order */
    int tag[2];        /* version 2: physical group and entity of an element; 0: it has none */
    int last_tag[2];   /* those of the element before */
    int last[MSH_MOST_NODES], last_type;
} mesh_msh;

static int mesh_compare_ids(const void *a, const void *b)
{
    const mesh_id *p = (const mesh_id *)a, *q = (const mesh_id *)b;
    return (p->id > q->id) - (p->id < q->id);
}

/* ---- Values --------------------------------------------------------------------------------- */

/* Every entry of a text file has lines of its own. */
static void mesh_msh_line(mesh_cursor *c)
{
    if (!c->binary) mesh_next_line(c);
}

/* A whole number: in text the next word of this line, or with `flow` of a later one. */
static int mesh_msh_int(mesh_cursor *c, int flow, mesh_scalar type, int least, int *out, const char *expected)
{
    if (c->binary) return mesh_get_int(c, type, least, INT_MAX, out, expected);
    return mesh_int(c, flow, least, out, expected);
}

static int mesh_msh_real(mesh_cursor *c, double *out)
{
    static const char expected[] = "a finite coordinate";
    return c->binary ? mesh_get_real(c, MESH_F64, out, expected) : mesh_real(c, 0, out, expected);
}

static int mesh_msh_line_end(mesh_cursor *c, const char *expected)
{
    return c->binary || mesh_line_end(c, expected);
}

/* The line `$End...` of a section, and nothing else in front of it. */
static int mesh_msh_end(mesh_cursor *c, const char *end)
{
    mesh_word w;
    if (mesh_flow(c, &w) && mesh_is(w, end)) return 1;
    return mesh_unexpected(c, w, end);
}

/* The version, 0 or 1 for text or binary, the size of a size_t, and in binary the number 1, by which its writer
 * tells the order of bytes. */
static int mesh_msh_format(mesh_msh *g)
{
    mesh_cursor *c = g->c;
    mesh_word w;
    int type, size = 8;
    mesh_flow(c, &w);
    g->version = mesh_is(w, "4.1")                                              ? 41
                 : mesh_is(w, "4") || mesh_is(w, "4.0")                         ? 40
                 : mesh_is(w, "2") || mesh_is(w, "2.1") || mesh_is(w, "2.2")    ? 20
                                                                                : 0;
    if (!g->version)
        return mesh_unexpected(c, w, "version 2.2 or 4.1 of the Gmsh format (gmsh -format msh41)");
    if (!mesh_int(c, 0, 0, &type, "the file type, 0 for ASCII or 1 for binary")) return 0;
    if (type > 1) return mesh_fail(c, "found the file type %d, expected 0 for ASCII or 1 for binary", type);
    if (type && !mesh_int(c, 0, 0, &size, "the size of numbers, 8")) return 0;
    if (type && size != 8 && !(size == 4 && g->version != 20))
        return mesh_fail(c, "found numbers of %d bytes, expected 8", size);
    g->size = size == 4 ? MESH_U32 : MESH_U64;
    mesh_next_line(c);
    if (type) {
        static const char little[] = { 1, 0, 0, 0 }, big[] = { 0, 0, 0, 1 };
        c->binary = 1;
        if (c->end - c->p < 4 || (memcmp(c->p, little, 4) != 0 && memcmp(c->p, big, 4) != 0))
            return mesh_fail(c, "found four bytes that are not the number 1, expected it: it tells the order of bytes");
        c->big = c->p[3] == 1;
        c->p += 4;
    } else mesh_cursor_text(c);
    return mesh_msh_end(c, "$EndMeshFormat");
}

/* What a section begins with. Version 2: its number of entries, alone, as text in binary files, too. Version 4: its
 * number of blocks before that; 4.1: the smallest and largest tag behind it. */
static int mesh_msh_counts(mesh_msh *g, size_t bytes, int *blocks, int *count, const char *expected)
{
    mesh_cursor *c = g->c;
    int tag;
    *blocks = 1;
    if (g->version == 20) {
        if (!mesh_int(c, 1, 0, count, expected) || !mesh_line_end(c, expected)) return 0;
        if (!mesh_fits(c, *count, bytes)) return 0;
        if (c->binary) mesh_next_line(c);
        return 1;
    }
    if (c->binary) mesh_next_line(c);
    if (!mesh_msh_int(c, 1, g->size, 0, blocks, "the number of blocks") || !mesh_fits(c, *blocks, 8)
        || !mesh_msh_int(c, 0, g->size, 0, count, expected)) return 0;
    for (int i = 0; i < 2 && g->version == 41; i++)
        if (!mesh_msh_int(c, 0, g->size, 0, &tag, "the smallest and the largest tag")) return 0;
    return mesh_msh_line_end(c, expected) && mesh_fits(c, *count, bytes);
}

/* The head of a block of version 4: dimension and tag of its entity (the other way round in 4.0), a third number,
 * and how many entries follow; `left` of those promised have not come yet. */
static int mesh_msh_block(mesh_msh *g, int left, int *dimension, int *third, int *entries)
{
    mesh_cursor *c = g->c;
    int number[3] = { 0, 0, 0 };
    mesh_msh_line(c);
    for (int i = 0; i < 3; i++)
        if (!mesh_msh_int(c, i == 0, MESH_I32, INT_MIN, &number[i],
                          "the head of a block: four whole numbers")) return 0;
    *dimension = number[g->version == 40];
    *third = number[2];
    if (!mesh_msh_int(c, 0, g->size, 0, entries, "the number of entries of this block")) return 0;
    if (*entries > left)
        return mesh_fail(c, "found a block of %d entries, expected at most %d, the rest of those announced",
                         *entries, left);
    return mesh_msh_line_end(c, "the end of the line after the head of a block");
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

static int mesh_msh_position(mesh_msh *g)
{
    double *x = mesh_add_node(g->m);
    for (int k = 0; k < 3; k++)
        if (!mesh_msh_real(g->c, &x[k])) return 0;
    return 1;
}

/* So many doubles behind a position, which are its parameters on a curve or surface. */
static int mesh_msh_parameters(mesh_cursor *c, int count)
{
    if (c->binary) return mesh_get_nothing(c, 8, (size_t)(count > 0 ? count : 0), "the parameters of a node");
    return count != 0 || mesh_line_end(c, "the end of the line after x y z");
}

static int mesh_msh_tag(mesh_msh *g, int i, const char *expected)
{
    g->id[i].index = i;
    return mesh_msh_int(g->c, 1, g->version == 41 ? g->size : MESH_I32, 1, &g->id[i].id, expected);
}

/* Version 4.1: per block the tags of its nodes, then their positions. 4.0: each tag stands before its position. */
static int mesh_msh_node_blocks(mesh_msh *g, int blocks, int count)
{
    mesh_cursor *c = g->c;
    int n = 0, dimension = 0, parametric = 0, entries;
    for (; blocks > 0; blocks--) {
        if (!mesh_msh_block(g, count - n, &dimension, &parametric, &entries)) return 0;
        for (int i = n; i < n + entries && g->version == 41; i++) {
            mesh_msh_line(c);
            if (!mesh_msh_tag(g, i, "the tag of a node, from 1")
                || !mesh_msh_line_end(c, "the end of the line after a node's tag")) return 0;
        }
        for (int i = 0; i < entries; i++, n++) {
            mesh_msh_line(c);
            if (g->version == 40 && !mesh_msh_tag(g, n, "a node: its tag from 1, then x y z")) return 0;
            if (!mesh_msh_position(g) || !mesh_msh_parameters(c, parametric ? dimension : 0)) return 0;
        }
    }
    if (n == count) return 1;
    return mesh_fail(c, "found blocks of %d nodes in all, expected %d as announced", n, count);
}

/* Version 2. Parametric nodes have dimension and tag of their entity behind x y z, then as many parameters as it has
 * dimensions, but for volumes. */
static int mesh_msh_node_list(mesh_msh *g, int count, int parametric)
{
    mesh_cursor *c = g->c;
    for (int i = 0; i < count; i++) {
        int dimension = 0, tag;
        mesh_msh_line(c);
        if (!mesh_msh_tag(g, i, "a node: its number from 1, then x y z") || !mesh_msh_position(g)) return 0;
        if (parametric && (!mesh_msh_int(c, 0, MESH_I32, 0, &dimension, "the dimension of a node's entity")
                           || !mesh_msh_int(c, 0, MESH_I32, INT_MIN, &tag, "the tag of a node's entity"))) return 0;
        if (!mesh_msh_parameters(c, dimension == 1 || dimension == 2 ? dimension : parametric ? -1 : 0)) return 0;
    }
    return 1;
}

static int mesh_msh_nodes(mesh_msh *g, int parametric)
{
    mesh_cursor *c = g->c;
    int count, blocks, sorted = 1;
    if (g->id) return mesh_fail(c, "found a second $Nodes, expected one");
    if (!mesh_msh_counts(g, 8, &blocks, &count, "the number of nodes, alone on its line")) return 0;
    g->id = (mesh_id *)tool_alloc((size_t)count, sizeof *g->id);
    if (g->version == 20 ? !mesh_msh_node_list(g, count, parametric) : !mesh_msh_node_blocks(g, blocks, count))
        return 0;
    for (int i = 1; i < count && sorted; i++) sorted = g->id[i].id > g->id[i - 1].id;
    if (!sorted) qsort(g->id, (size_t)count, sizeof *g->id, mesh_compare_ids);
    for (int i = 1; i < count && !sorted; i++)
        if (g->id[i].id == g->id[i - 1].id)
            return mesh_fail(c, "found node number %d twice above, expected it once", g->id[i].id);
    g->is_range = sorted && count && g->id[count - 1].id - g->id[0].id == count - 1;
    mesh_msh_line(c);
    return mesh_msh_end(c, parametric ? "$EndParametricNodes" : "$EndNodes");
}

/* ---- Elements ------------------------------------------------------------------------------- */

/* The index of the node of this number, or -1. */
static int mesh_msh_find(const mesh_msh *g, int id)
{
    mesh_id key, *found;
    int count = g->m->node_count;
    key.id = id;
    key.index = 0;
    if (g->is_range) return id >= g->id[0].id && id - g->id[0].id < count ? id - g->id[0].id : -1;
    found = (mesh_id *)bsearch(&key, g->id, (size_t)count, sizeof *g->id, mesh_compare_ids);
    return found ? found->index : -1;
}

static int mesh_msh_node(mesh_msh *g, int *index)
{
    static const char expected[] = "the number of a node listed in $Nodes";
    mesh_cursor *c = g->c;
    mesh_word w;
    int id;
    if (c->binary) {
        mesh_scalar type = g->version == 41 ? g->size : MESH_I32;
        if (!mesh_get_int(c, type, 0, INT_MAX, &id, expected)) return 0;
        *index = mesh_msh_find(g, id);
        if (*index >= 0) return 1;
        c->p -= mesh_scalar_size(type);
        return mesh_fail(c, "found the node number %d, expected %s", id, expected);
    }
    mesh_next(c, &w);
    if (!tool_integer(w.p, w.length, &id)) return mesh_unexpected(c, w, "the number of a node");
    *index = mesh_msh_find(g, id);
    return *index >= 0 ? 1 : mesh_unexpected(c, w, expected);
}

static const mesh_kind *mesh_msh_kind(int type)
{
    const mesh_kind *k = mesh_find_kind(msh_kind, sizeof msh_kind / sizeof *msh_kind, type);
    return k ? k : &msh_other;
}

/* The nodes of an element that is passed over: in text all to the end of its line. Some may not be listed. */
static int mesh_msh_element_aside(mesh_msh *g, const mesh_kind *k)
{
    mesh_word w;
    int id, index;
    mesh_take(g->m, k, NULL, 0);
    for (int i = 0; g->c->binary ? i < k->nodes : mesh_next(g->c, &w); i++) {
        if (!g->c->binary && !tool_integer(w.p, w.length, &id)) continue;
        if (g->c->binary && !mesh_get_int(g->c, g->version == 41 ? g->size : MESH_I32, INT_MIN, INT_MAX, &id, "a node"))
            return 0;
        index = mesh_msh_find(g, id);
        if (index >= 0) mesh_put_aside(g->m, index);
    }
    return 1;
}

/* Version 2 has an element of several physical groups several times, one behind the other. */
static int mesh_msh_is_repeated(mesh_msh *g, const mesh_kind *k, const int *n)
{
    size_t size = (size_t)k->nodes * sizeof *n;
    int same = g->last_type == k->type && g->tag[1] > 0 && g->tag[1] == g->last_tag[1] && g->tag[0] != g->last_tag[0]
               && memcmp(n, g->last, size) == 0;
    if (g->version != 20) return 0;
    memcpy(g->last, n, size);
    memcpy(g->last_tag, g->tag, sizeof g->tag);
    g->last_type = k->type;
    if (same)
        (void)mesh_pass(g->m, 1, "element that is there again for another physical group",
                        "elements that are there again for other physical groups");
    return same;
}

/* The nodes of an element. In text nothing else may stand on its line. */
static int mesh_msh_element_nodes(mesh_msh *g, const mesh_kind *k)
{
    int n[MSH_MOST_NODES];
    if (k->role == MESH_SILENT || k->role == MESH_OTHER) return mesh_msh_element_aside(g, k);
    for (int i = 0; i < k->nodes; i++)
        if (!mesh_msh_node(g, &n[i])) return 0;
    if (!mesh_msh_line_end(g->c, "the end of the line after an element's nodes")) return 0;
    if (!mesh_msh_is_repeated(g, k, n)) mesh_take(g->m, k, n, k->nodes);
    return 1;
}

/* Version 2 in text: number type tag-count tags... nodes. */
static int mesh_msh_element_lines(mesh_msh *g, int count)
{
    mesh_cursor *c = g->c;
    for (; count > 0; count--) {
        int number, type, tags, tag;
        const mesh_kind *k;
        mesh_next_line(c);
        if (!mesh_int(c, 1, 1, &number, "an element: its number from 1, then type, tags and nodes")
            || !mesh_int(c, 0, 1, &type, "the type of an element")
            || !mesh_int(c, 0, 0, &tags, "the number of an element's tags")) return 0;
        k = mesh_msh_kind(type);
        g->tag[0] = g->tag[1] = 0;
        for (int i = 0; i < tags; i++)
            if (!mesh_int(c, 0, INT_MIN, i < 2 ? &g->tag[i] : &tag, "a tag")) return 0;
        if (!mesh_msh_element_nodes(g, k)) return 0;
    }
    return 1;
}

/* A type in a binary file, where the size of elements must be known. */
static int mesh_msh_known(mesh_msh *g, int type, const mesh_kind **k)
{
    *k = mesh_msh_kind(type);
    if ((*k)->nodes || !g->c->binary) return 1;
    return mesh_fail(g->c, "found elements of type %d, expected one whose number of nodes is known, 1 to 31", type);
}

/* Version 2 in binary: runs of elements behind their type, count and number of tags; each is number, tags, nodes. */
static int mesh_msh_element_runs(mesh_msh *g, int count)
{
    mesh_cursor *c = g->c;
    while (count > 0) {
        int type, entries, tags, number;
        const mesh_kind *k;
        if (!mesh_get_int(c, MESH_I32, 1, INT_MAX, &type, "the type of elements") || !mesh_msh_known(g, type, &k)
            || !mesh_get_int(c, MESH_I32, 1, count, &entries, "a number of elements, no more than announced")
            || !mesh_get_int(c, MESH_I32, 0, INT_MAX, &tags, "the number of an element's tags")) return 0;
        g->tag[0] = g->tag[1] = 0;
        for (count -= entries; entries > 0; entries--) {
            if (!mesh_get_int(c, MESH_I32, INT_MIN, INT_MAX, &number, "the number of an element")) return 0;
            for (int i = 0; i < 2 && i < tags; i++)
                if (!mesh_get_int(c, MESH_I32, INT_MIN, INT_MAX, &g->tag[i], "a tag")) return 0;
            if (!mesh_get_nothing(c, 4, (size_t)(tags > 2 ? tags - 2 : 0), "tags") || !mesh_msh_element_nodes(g, k))
                return 0;
        }
    }
    return 1;
}

/* Version 4: the type stands in the head of a block, then tag and nodes of each element. */
static int mesh_msh_element_blocks(mesh_msh *g, int blocks, int count)
{
    mesh_cursor *c = g->c;
    int n = 0, type = 0, entries, tag, dimension;
    const mesh_kind *k;
    for (; blocks > 0; blocks--) {
        if (!mesh_msh_block(g, count - n, &dimension, &type, &entries) || !mesh_msh_known(g, type, &k)) return 0;
        for (n += entries; entries > 0; entries--) {
            mesh_msh_line(c);
            if (!mesh_msh_int(c, 1, g->version == 41 ? g->size : MESH_I32, 1, &tag,
                              "an element: its tag from 1, then its nodes")
                || !mesh_msh_element_nodes(g, k)) return 0;
        }
    }
    if (n == count) return 1;
    return mesh_fail(c, "found blocks of %d elements in all, expected %d as announced", n, count);
}

static int mesh_msh_elements(mesh_msh *g)
{
    int count, blocks, ok;
    if (!g->id) return mesh_fail(g->c, "found $Elements, expected $Nodes before it");
    if (!mesh_msh_counts(g, g->version == 20 ? 6 : 3, &blocks, &count,
                         "the number of elements, alone on its line")) return 0;
    if (g->version != 20) ok = mesh_msh_element_blocks(g, blocks, count);
    else ok = g->c->binary ? mesh_msh_element_runs(g, count) : mesh_msh_element_lines(g, count);
    if (!ok) return 0;
    mesh_msh_line(g->c);
    return mesh_msh_end(g->c, "$EndElements");
}

/* ---- Sections ------------------------------------------------------------------------------- */

/* A section that says nothing about shape: to its end, a line of its own, which binary values may precede. */
static int mesh_msh_skip(mesh_cursor *c, mesh_word section)
{
    mesh_word w;
    const char *p;
    while (!c->binary && mesh_next_line(c)) {
        if (!mesh_next(c, &w) || w.length != section.length + 3 || memcmp(w.p, "$End", 4) != 0) continue;
        if (memcmp(w.p + 4, section.p + 1, section.length - 1) == 0) return 1;
    }
    for (p = c->p; c->binary && (p = (const char *)memchr(p, '$', (size_t)(c->end - p))) != NULL; p++) {
        if ((size_t)(c->end - p) < section.length + 3 || memcmp(p, "$End", 4) != 0) continue;
        if (memcmp(p + 4, section.p + 1, section.length - 1) != 0) continue;
        c->p = p + section.length + 3;
        return 1;
    }
    c->p = c->end;
    w.p = c->p;
    w.length = 0;
    return mesh_unexpected(c, w, "the $End line of this section");
}

/* What a file begins with; comments may stand before it. */
static int mesh_msh_begin(mesh_msh *g)
{
    mesh_word w;
    while (mesh_flow(g->c, &w) && mesh_is(w, "$Comments"))
        if (!mesh_msh_skip(g->c, w)) return 0;
    if (mesh_is(w, "$NOD"))
        return mesh_unexpected(g->c, w, "version 2.2 or 4.1 of the Gmsh format, not 1 (gmsh -format msh41)");
    return mesh_is(w, "$MeshFormat") ? 1 : mesh_unexpected(g->c, w, "$MeshFormat");
}

static int mesh_msh_sections(mesh_msh *g)
{
    mesh_word w;
    char said[200];
    if (!mesh_msh_begin(g)) return 0;
    if (!mesh_msh_format(g)) return 0;
    while (mesh_flow(g->c, &w)) {
        int ok;
        if (mesh_is(w, "$Nodes")) ok = mesh_msh_nodes(g, 0);
        else if (mesh_is(w, "$ParametricNodes")) ok = mesh_msh_nodes(g, 1);
        else if (mesh_is(w, "$Elements")) ok = mesh_msh_elements(g);
        else if (w.p[0] == '$' && w.length > 1) ok = mesh_msh_skip(g->c, w);
        else ok = mesh_unexpected(g->c, w, "a section such as $Nodes or $Elements");
        if (!ok) return 0;
    }
    if (g->m->tri_count == 0 && g->m->tet_count == 0)
        return mesh_fail(g->c, "found %d nodes%s, expected triangles (type 2), quadrangles (3) or tets (4): mesh the "
                               "volume with tets, or save its surface",
                         g->m->node_count, mesh_passed(g->m, said));
    return 1;
}

int mesh_parse_msh(tool_mesh *m, mesh_cursor *c)
{
    mesh_msh g;
    int ok;
    memset(&g, 0, sizeof g);
    g.m = m;
    g.c = c;
    ok = mesh_msh_sections(&g);
    free(g.id);
    return ok;
}
