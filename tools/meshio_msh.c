/* Gmsh ASCII, versions 2 to 2.2 and 4.1: $Nodes and $Elements, of which triangles (type 2) and tets (type 4)
 * are taken. The other sections, and elements of other types, are read over. */
#include "meshio_parse.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A node's number in the file and its index here. */
typedef struct mesh_id { int id, index; } mesh_id;

typedef struct mesh_msh {
    tool_mesh *m;
    mesh_cursor *c;
    int version;       /* 2 or 4 */
    mesh_id *id;       /* ascending by id */
    int others;        /* elements of types that are neither triangle nor tet */
} mesh_msh;

static int mesh_compare_ids(const void *a, const void *b)
{
    const mesh_id *p = (const mesh_id *)a, *q = (const mesh_id *)b;
    return (p->id > q->id) - (p->id < q->id);
}

/* The line `$End...` of a section, and nothing else in front of it. */
static int mesh_msh_end(mesh_cursor *c, const char *end)
{
    mesh_word w;
    if (mesh_flow(c, &w) && mesh_is(w, end)) return 1;
    return mesh_unexpected(c, w, end);
}

static int mesh_msh_format(mesh_msh *g)
{
    mesh_cursor *c = g->c;
    mesh_word w;
    int type;
    mesh_flow(c, &w);
    g->version = mesh_is(w, "4.1") ? 4 : mesh_is(w, "2.2") || mesh_is(w, "2.1") || mesh_is(w, "2") ? 2 : 0;
    if (!g->version)
        return mesh_unexpected(c, w, "version 2.2 or 4.1 of the Gmsh format (gmsh -format msh41)");
    if (!mesh_int(c, 0, 0, &type, "the file type, 0 for ASCII")) return 0;
    if (type != 0) return mesh_fail(c, "found a binary file, expected ASCII (file type 0)");
    mesh_next_line(c);
    return mesh_msh_end(c, "$EndMeshFormat");
}

/* The line below a section's name. Version 2: its number of entries, alone. Version 4: its number of blocks
 * before that, and the smallest and largest tag behind it. */
static int mesh_msh_counts(mesh_msh *g, size_t bytes, int *blocks, int *count, const char *expected)
{
    int tag;
    mesh_cursor *c = g->c;
    *blocks = 1;
    if (g->version == 4 && !(mesh_int(c, 1, 0, blocks, "the number of blocks") && mesh_fits(c, *blocks, 8)))
        return 0;
    if (!mesh_int(c, g->version == 2, 0, count, expected)) return 0;
    for (int i = 0; i < 2 && g->version == 4; i++)
        if (!mesh_int(c, 0, 0, &tag, "the smallest and the largest tag")) return 0;
    return mesh_line_end(c, expected) && mesh_fits(c, *count, bytes);
}

/* The head of a block of version 4: three numbers, of which `pick` is kept, and how many entries follow;
 * `left` of those promised have not come yet. */
static int mesh_msh_block(mesh_msh *g, int pick, int left, int *kept, int *entries)
{
    mesh_cursor *c = g->c;
    int number = 0;
    mesh_next_line(c);
    for (int i = 0; i < 3; i++) {
        if (!mesh_int(c, 0, INT_MIN, &number, "the head of a block: four whole numbers")) return 0;
        if (i == pick) *kept = number;
    }
    if (!mesh_int(c, 0, 0, entries, "the number of entries of this block")) return 0;
    if (*entries > left)
        return mesh_fail(c, "found a block of %d entries, expected at most %d, the rest of those announced",
                         *entries, left);
    return mesh_line_end(c, "the end of the line after the head of a block");
}

static int mesh_msh_position(mesh_cursor *c, double *x)
{
    for (int k = 0; k < 3; k++)
        if (!mesh_real(c, 0, &x[k], "a finite coordinate")) return 0;
    return 1;
}

/* Version 4: per block the tags of its nodes, then their positions, which parameters may follow. */
static int mesh_msh_node_blocks(mesh_msh *g, int blocks, int count)
{
    mesh_cursor *c = g->c;
    int n = 0, parametric = 0, entries;
    for (; blocks > 0; blocks--) {
        if (!mesh_msh_block(g, 2, count - n, &parametric, &entries)) return 0;
        for (int i = n; i < n + entries; i++) {
            mesh_next_line(c);
            g->id[i].index = i;
            if (!mesh_int(c, 0, 1, &g->id[i].id, "the tag of a node, from 1")
                || !mesh_line_end(c, "the end of the line after a node's tag")) return 0;
        }
        for (int i = 0; i < entries; i++, n++) {
            double *x = mesh_add_node(g->m);
            mesh_next_line(c);
            if (!mesh_msh_position(c, x)) return 0;
            if (!parametric && !mesh_line_end(c, "the end of the line after x y z")) return 0;
        }
    }
    if (n == count) return 1;
    return mesh_fail(c, "found blocks of %d nodes in all, expected %d as announced", n, count);
}

static int mesh_msh_node_lines(mesh_msh *g, int count)
{
    mesh_cursor *c = g->c;
    for (int i = 0; i < count; i++) {
        double *x = mesh_add_node(g->m);
        mesh_next_line(c);
        g->id[i].index = i;
        if (!mesh_int(c, 0, 1, &g->id[i].id, "a node: its number from 1, then x y z")
            || !mesh_msh_position(c, x) || !mesh_line_end(c, "the end of the line after x y z")) return 0;
    }
    return 1;
}

static int mesh_msh_nodes(mesh_msh *g)
{
    mesh_cursor *c = g->c;
    int count, blocks;
    if (g->id) return mesh_fail(c, "found a second $Nodes, expected one");
    if (!mesh_msh_counts(g, 8, &blocks, &count, "the number of nodes, alone on its line")) return 0;
    g->id = (mesh_id *)tool_alloc((size_t)count, sizeof *g->id);
    if (!(g->version == 4 ? mesh_msh_node_blocks(g, blocks, count) : mesh_msh_node_lines(g, count))) return 0;
    qsort(g->id, (size_t)count, sizeof *g->id, mesh_compare_ids);
    for (int i = 1; i < count; i++)
        if (g->id[i].id == g->id[i - 1].id)
            return mesh_fail(c, "found node number %d twice above, expected it once", g->id[i].id);
    mesh_next_line(c);
    return mesh_msh_end(c, "$EndNodes");
}

static int mesh_msh_node(mesh_msh *g, int *index)
{
    mesh_word w;
    mesh_id key, *found;
    key.index = 0;
    mesh_next(g->c, &w);
    if (!tool_integer(w.p, w.length, &key.id)) return mesh_unexpected(g->c, w, "the number of a node");
    found = (mesh_id *)bsearch(&key, g->id, (size_t)g->m->node_count, sizeof *g->id, mesh_compare_ids);
    if (!found) return mesh_unexpected(g->c, w, "the number of a node listed in $Nodes");
    *index = found->index;
    return 1;
}

/* The nodes of an element of this type, up to the end of its line. */
static int mesh_msh_element_nodes(mesh_msh *g, int type)
{
    int n[4], nodes = type == 2 ? 3 : type == 4 ? 4 : 0;
    if (nodes == 0) {
        g->others++;
        g->m->skipped += type != 1 && type != 8 && type != 15;   /* lines of two and three nodes, points */
        return 1;
    }
    for (int i = 0; i < nodes; i++)
        if (!mesh_msh_node(g, &n[i])) return 0;
    if (!mesh_line_end(g->c, "the end of the line after an element's nodes")) return 0;
    if (nodes == 3) mesh_add_tri(g->m, n[0], n[1], n[2]);
    else mesh_add_tet(g->m, n);
    return 1;
}

/* Version 2: number type tag-count tags... nodes. */
static int mesh_msh_element_lines(mesh_msh *g, int count)
{
    mesh_cursor *c = g->c;
    for (; count > 0; count--) {
        int number, type, tags, tag;
        mesh_next_line(c);
        if (!mesh_int(c, 0, 1, &number, "an element: its number from 1, then type, tags and nodes")
            || !mesh_int(c, 0, 1, &type, "the type of an element")
            || !mesh_int(c, 0, 0, &tags, "the number of an element's tags")) return 0;
        for (int i = 0; i < tags && (type == 2 || type == 4); i++)
            if (!mesh_int(c, 0, INT_MIN, &tag, "a tag")) return 0;
        if (!mesh_msh_element_nodes(g, type)) return 0;
    }
    return 1;
}

/* Version 4: the type stands in the head of a block, then tag and nodes of each element. */
static int mesh_msh_element_blocks(mesh_msh *g, int blocks, int count)
{
    int n = 0, type = 0, entries, tag;
    for (; blocks > 0; blocks--) {
        if (!mesh_msh_block(g, 2, count - n, &type, &entries)) return 0;
        for (n += entries; entries > 0; entries--) {
            mesh_next_line(g->c);
            if (!mesh_int(g->c, 0, 1, &tag, "an element: its tag from 1, then its nodes")
                || !mesh_msh_element_nodes(g, type)) return 0;
        }
    }
    if (n == count) return 1;
    return mesh_fail(g->c, "found blocks of %d elements in all, expected %d as announced", n, count);
}

static int mesh_msh_elements(mesh_msh *g)
{
    int count, blocks, ok;
    if (!g->id) return mesh_fail(g->c, "found $Elements, expected $Nodes before it");
    if (!mesh_msh_counts(g, g->version == 4 ? 3 : 6, &blocks, &count,
                         "the number of elements, alone on its line")) return 0;
    ok = g->version == 4 ? mesh_msh_element_blocks(g, blocks, count) : mesh_msh_element_lines(g, count);
    if (!ok) return 0;
    mesh_next_line(g->c);
    return mesh_msh_end(g->c, "$EndElements");
}

/* A section that says nothing about shape: to its end. */
static int mesh_msh_skip(mesh_cursor *c, mesh_word section)
{
    mesh_word w;
    while (mesh_next_line(c)) {
        if (!mesh_next(c, &w) || w.length != section.length + 3 || memcmp(w.p, "$End", 4) != 0) continue;
        if (memcmp(w.p + 4, section.p + 1, section.length - 1) == 0) return 1;
    }
    w.length = 0;
    return mesh_unexpected(c, w, "the $End line of this section");
}

static int mesh_msh_sections(mesh_msh *g)
{
    mesh_word w;
    if (!mesh_flow(g->c, &w) || !mesh_is(w, "$MeshFormat")) return mesh_unexpected(g->c, w, "$MeshFormat");
    if (!mesh_msh_format(g)) return 0;
    while (mesh_flow(g->c, &w)) {
        int ok;
        if (mesh_is(w, "$Nodes")) ok = mesh_msh_nodes(g);
        else if (mesh_is(w, "$Elements")) ok = mesh_msh_elements(g);
        else if (w.p[0] == '$' && w.length > 1) ok = mesh_msh_skip(g->c, w);
        else ok = mesh_unexpected(g->c, w, "a section such as $Nodes or $Elements");
        if (!ok) return 0;
    }
    if (g->m->tri_count == 0 && g->m->tet_count == 0)
        return mesh_fail(g->c,
                         "found %d nodes and %d elements of other types, expected triangles (type 2) or tets "
                         "(type 4)",
                         g->m->node_count, g->others);
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
