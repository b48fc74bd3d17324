#include "mend.h"
#include "../embipc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *mend_s(int n) { return n == 1 ? "" : "s"; }

double mend_diagonal(const tool_mesh *m, double lo[3], double hi[3])
{
    for (int k = 0; k < 3; k++) {
        lo[k] = HUGE_VAL;
        hi[k] = -HUGE_VAL;
        for (int i = 0; i < m->node_count; i++) {
            lo[k] = fmin(lo[k], m->x[3 * i + k]);
            hi[k] = fmax(hi[k], m->x[3 * i + k]);
        }
    }
    return m->node_count ? hypot(hypot(hi[0] - lo[0], hi[1] - lo[1]), hi[2] - lo[2]) : 0;
}

/* All faults of one kind, of the tets where there are some; free() them. */
static embipc_fault *mend_faults(const tool_mesh *m, embipc_fault_kind kind, int *count)
{
    embipc_fault *f = NULL;
    for (int pass = 0; pass < 2; pass++) {
        int capacity = pass ? *count : 0;
        if (pass) f = (embipc_fault *)tool_alloc((size_t)capacity, sizeof *f);
        *count =
            m->tet_count
                ? embipc_tets_faults(m->x, m->node_count, m->tet, m->tet_count, kind, f, capacity)
                : embipc_surface_faults(m->x, m->node_count, m->tri, m->tri_count, kind, f, capacity);
        if (*count < 0) *count = 0;
    }
    return f;
}

/* Drops the elements that are marked; returns how many. */
static int mend_drop(tool_mesh *m, const unsigned char *mark)
{
    int corners = m->tet_count ? 4 : 3, n = m->tet_count ? m->tet_count : m->tri_count, kept = 0;
    int *element = m->tet_count ? m->tet : m->tri;
    for (int t = 0; t < n; t++) {
        if (mark[t]) continue;
        memmove(element + corners * kept, element + corners * t, (size_t)corners * sizeof *element);
        kept++;
    }
    if (m->tet_count) m->tet_count = kept;
    else m->tri_count = kept;
    return n - kept;
}

static int mend_collapsed(tool_mesh *m, tool_text *said, const char *why)
{
    int count;
    embipc_fault *f = mend_faults(m, EMBIPC_FAULT_COLLAPSED, &count);
    unsigned char *mark = (unsigned char *)tool_alloc((size_t)(m->tri_count + m->tet_count), 1);
    for (int i = 0; i < count; i++) mark[f[i].element] = 1;
    if (count) tool_put(said, "dropped %d element%s with a vertex twice%s\n", count, mend_s(count), why);
    mend_drop(m, mark);
    free(f);
    free(mark);
    return count;
}

/* Only vertices on borders: two closed parts that touch stay two. */
static int mend_merge(tool_mesh *m, double tolerance, tool_text *said)
{
    int count, n = 0, merged;
    embipc_fault *f = mend_faults(m, EMBIPC_FAULT_BORDER, &count);
    int *to = (int *)tool_alloc((size_t)m->node_count, sizeof *to);
    int *node = (int *)tool_alloc(2 * (size_t)count, sizeof *node), *map;
    double *x = (double *)tool_alloc(6 * (size_t)count, sizeof *x);
    for (int i = 0; i < 2 * count; i++) {
        int v = f[i / 2].edge[i % 2];
        if (to[v]) continue;   /* seen */
        to[v] = 1;
        memcpy(x + 3 * n, m->x + 3 * v, 3 * sizeof *x);
        node[n++] = v;
    }
    map = (int *)tool_alloc((size_t)n, sizeof *map);
    merged = embipc_vertices_merge(x, n, tolerance, map);
    merged = merged < 0 ? 0 : n - merged;
    for (int i = 0; i < m->node_count; i++) to[i] = i;
    for (int i = 0; i < n && merged; i++) to[node[i]] = node[map[i]];
    for (int i = 0; i < 3 * m->tri_count; i++) m->tri[i] = to[m->tri[i]];
    if (merged) {
        tool_put(said, "merged %d vert%s on borders with others within %.3g m\n", merged,
                 merged == 1 ? "ex" : "ices", tolerance);
        merged += mend_collapsed(m, said, " after merging");
    }
    free(f);
    free(to);
    free(node);
    free(map);
    free(x);
    return merged;
}

static int mend_same_sense(const int *f, const int *g)
{
    int i = g[0] == f[0] ? 0 : g[1] == f[0] ? 1 : 2;
    return g[(i + 1) % 3] == f[1];
}

/* Of triangles on the same vertices one stays where they agree, none where they cancel out. */
static int mend_doubles(tool_mesh *m, tool_text *said)
{
    int count, dropped;
    embipc_fault *f = mend_faults(m, EMBIPC_FAULT_DOUBLE, &count);
    unsigned char *mark = (unsigned char *)tool_alloc((size_t)(m->tri_count + m->tet_count), 1);
    int *sum = (int *)tool_alloc((size_t)m->tri_count, sizeof *sum);
    for (int i = 0; i < count; i++) {
        int t = f[i].element, first = f[i].other;
        mark[t] = 1;
        if (m->tet_count) continue;
        sum[first] += mend_same_sense(m->tri + 3 * first, m->tri + 3 * t) ? 1 : -1;
        mark[first] = sum[first] == -1;   /* with the first itself: nothing is left */
    }
    dropped = count ? mend_drop(m, mark) : 0;
    if (count)
        tool_put(said, "dropped %d element%s on the same vertices as others%s\n", dropped, mend_s(dropped),
                 dropped > count ? ", both where they face each other" : "");
    free(f);
    free(mark);
    free(sum);
    return dropped;
}

static int mend_compare_edges(const void *a, const void *b)
{
    const embipc_fault *p = (const embipc_fault *)a, *q = (const embipc_fault *)b;
    if (p->edge[0] != q->edge[0]) return p->edge[0] < q->edge[0] ? -1 : 1;
    return (p->edge[1] > q->edge[1]) - (p->edge[1] < q->edge[1]);
}

/* Is one of the triangle's edges in the list, which is sorted as the library sorts edges? */
static int mend_has_edge(const int *t, const embipc_fault *list, int count)
{
    for (int i = 0; i < 3; i++) {
        embipc_fault key;
        int a = t[i], b = t[(i + 1) % 3];
        key.edge[0] = a < b ? a : b;
        key.edge[1] = a < b ? b : a;
        if (bsearch(&key, list, (size_t)count, sizeof *list, mend_compare_edges)) return 1;
    }
    return 0;
}

/* Flat triangles that hang on a border, or are one too many on an edge, are dropped: without area, nobody
 * misses them. Those that close a surface are flipped into their neighbours. */
static int mend_flat(tool_mesh *m, tool_text *said)
{
    int total = 0, dropped = 1, flips;
    for (int pass = 0; pass < 16 && dropped; pass++) {
        int flats, borders, crowded;
        embipc_fault *f = mend_faults(m, EMBIPC_FAULT_FLAT, &flats);
        embipc_fault *b = mend_faults(m, EMBIPC_FAULT_BORDER, &borders);
        embipc_fault *c = mend_faults(m, EMBIPC_FAULT_CROWDED, &crowded);
        unsigned char *mark = (unsigned char *)tool_alloc((size_t)m->tri_count, 1);
        for (int i = 0; i < flats; i++) {
            const int *t = m->tri + 3 * f[i].element;
            mark[f[i].element] = mend_has_edge(t, b, borders) || mend_has_edge(t, c, crowded);
        }
        dropped = mend_drop(m, mark);
        total += dropped;
        free(f);
        free(b);
        free(c);
        free(mark);
    }
    if (total) tool_put(said, "dropped %d triangle%s without area\n", total, mend_s(total));
    flips = embipc_surface_flip_flat(m->x, m->node_count, m->tri, m->tri_count);
    if (flips <= 0) return total;
    tool_put(said, "flipped %d triangle%s without area into a neighbour\n", flips, mend_s(flips));
    return total + flips;
}

static int mend_fill(tool_mesh *m, int hole, tool_text *said)
{
    int holes = 0;
    int count = embipc_surface_fill(m->x, m->node_count, m->tri, m->tri_count, hole, NULL, 0, &holes);
    if (count <= 0) return 0;
    TOOL_GROW(int, m->tri, m->tri_capacity, 3 * (m->tri_count + count));
    embipc_surface_fill(m->x, m->node_count, m->tri, m->tri_count, hole, m->tri + 3 * m->tri_count, count,
                        &holes);
    m->tri_count += count;
    tool_put(said, "filled %d hole%s with %d triangle%s\n", holes, mend_s(holes), count, mend_s(count));
    return count;
}

static int mend_orient(tool_mesh *m)
{
    int turned = embipc_surface_orient(m->x, m->node_count, m->tri, m->tri_count);
    return turned > 0 ? turned : 0;
}

static int mend_surface(tool_mesh *m, const mend_options *o, double tolerance, tool_text *said)
{
    int changes = mend_collapsed(m, said, ""), turned;
    changes += mend_merge(m, tolerance, said);
    changes += mend_doubles(m, said);
    changes += mend_flat(m, said);
    turned = mend_orient(m);
    changes += mend_fill(m, o->hole, said);
    turned += mend_orient(m);   /* what the lids closed has an outside now */
    if (turned) tool_put(said, "turned %d triangle%s\n", turned, mend_s(turned));
    return changes + turned;
}

static int mend_tets(tool_mesh *m, tool_text *said)
{
    int count, changes = mend_collapsed(m, said, "");
    embipc_fault *f = mend_faults(m, EMBIPC_FAULT_INVERTED, &count);
    for (int i = 0; i < count; i++) {
        int *n = m->tet + 4 * f[i].element, swap = n[2];
        n[2] = n[3];
        n[3] = swap;
    }
    if (count) tool_put(said, "swapped two nodes of %d inverted tet%s\n", count, mend_s(count));
    free(f);
    return changes + count + mend_doubles(m, said);
}

static int mend_unused(tool_mesh *m, tool_text *said)
{
    int count, n = 0;
    embipc_fault *f = mend_faults(m, EMBIPC_FAULT_UNUSED, &count);
    int *to = (int *)tool_alloc((size_t)m->node_count, sizeof *to);
    for (int i = 0; i < count; i++) to[f[i].element] = -1;
    for (int i = 0; i < m->node_count; i++) {
        if (to[i] < 0) continue;
        memmove(m->x + 3 * n, m->x + 3 * i, 3 * sizeof *m->x);
        to[i] = n++;
    }
    m->node_count = n;
    for (int i = 0; i < 3 * m->tri_count; i++) m->tri[i] = to[m->tri[i]];
    for (int i = 0; i < 4 * m->tet_count; i++) m->tet[i] = to[m->tet[i]];
    if (count) tool_put(said, "dropped %d unused vert%s\n", count, count == 1 ? "ex" : "ices");
    free(f);
    free(to);
    return count;
}

int mend_mesh(tool_mesh *m, const mend_options *o, tool_text *said)
{
    double lo[3], hi[3], diagonal = mend_diagonal(m, lo, hi);
    int changes;
    if (m->tet_count) {
        m->tri_count = 0;   /* the boundary of the tets says it better */
        changes = mend_tets(m, said);
    } else changes = mend_surface(m, o, o->merge >= 0 ? o->merge : MEND_MERGE * diagonal, said);
    return changes + mend_unused(m, said);
}
