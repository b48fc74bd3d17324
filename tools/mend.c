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

/* ---- Triangles that lie on each other -------------------------------------------------------- */

/* A side of a triangle, by the vertices of its edge. */
typedef struct mend_side { int a, b, triangle; } mend_side;

static int mend_compare_sides(const void *a, const void *b)
{
    const mend_side *p = (const mend_side *)a, *q = (const mend_side *)b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

/* Two-sided sheets: connected triangles that each lie on an opposite one. */
typedef struct mend_sheets {
    const unsigned char *gone, *paired;   /* per triangle: dropped already; it stands for both sides */
    int *parent;                          /* per triangle: forest of sheets */
    int *inner, *free_edges, *joined, *attached;   /* per sheet, by its root: edges of each kind */
} mend_sheets;

static int mend_root(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* One edge of the surface with one side of each sheet: sheets go on across an edge that they have to themselves. In
 * the first pass they are connected, in the second their edges are counted. */
static void mend_sheet_edge(mend_sheets *s, const mend_side *side, int n, int pass)
{
    int sheets = 0, others = 0, last = -1;
    for (int i = 0; i < n; i++) {
        if (!s->paired[side[i].triangle]) others++;
        else if (sheets++ == 1 && n == 2 && !pass)
            s->parent[mend_root(s->parent, side[i].triangle)] = mend_root(s->parent, last);
        if (s->paired[side[i].triangle]) last = side[i].triangle;
    }
    for (int i = 0; i < n && pass; i++) {
        int root = mend_root(s->parent, side[i].triangle);
        if (!s->paired[side[i].triangle]) continue;
        s->inner[root] += sheets == 2 && !others;
        s->free_edges[root] += sheets == 1 && !others;
        s->joined[root] += sheets == 1 && others == 1;
        s->attached[root] += others > 1;
    }
}

static void mend_connect_sheets(const tool_mesh *m, mend_sheets *s)
{
    mend_side *side = (mend_side *)tool_alloc(3 * (size_t)m->tri_count, sizeof *side);
    int n = 0;
    for (int i = 0; i < 3 * m->tri_count; i++) {
        int a = m->tri[i], b = m->tri[i % 3 == 2 ? i - 2 : i + 1];
        if (s->gone[i / 3]) continue;
        side[n].a = a < b ? a : b;
        side[n].b = a < b ? b : a;
        side[n++].triangle = i / 3;
    }
    qsort(side, (size_t)n, sizeof *side, mend_compare_sides);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0, end; i < n; i = end) {
            for (end = i + 1; end < n && side[end].a == side[i].a && side[end].b == side[i].b;) end++;
            mend_sheet_edge(s, side + i, end - i, pass);
        }
    free(side);
}

/* Is one side of a sheet a closed surface, once its holes of up to so many edges are filled? */
static int mend_sheet_closes(const tool_mesh *m, mend_sheets *s, int root, int hole)
{
    int n = 0, lids, all, open;
    int *tri = (int *)tool_alloc(3 * (size_t)m->tri_count, sizeof *tri), *both;
    for (int t = 0; t < m->tri_count; t++)
        if (s->paired[t] && mend_root(s->parent, t) == root) memcpy(tri + 3 * n++, m->tri + 3 * t, 3 * sizeof *tri);
    embipc_surface_orient(m->x, m->node_count, tri, n);
    lids = embipc_surface_fill(m->x, m->node_count, tri, n, hole, NULL, 0, NULL);
    all = n + (lids > 0 ? lids : 0);
    both = (int *)tool_alloc(3 * (size_t)all, sizeof *both);
    memcpy(both, tri, 3 * (size_t)n * sizeof *both);
    if (all > n) embipc_surface_fill(m->x, m->node_count, tri, n, hole, both + 3 * n, all - n, NULL);
    open = embipc_surface_faults(m->x, m->node_count, both, all, EMBIPC_FAULT_BORDER, NULL, 0);
    free(both);
    free(tri);
    return open == 0;
}

/* Which sheets stay, with one side each: what closes a surface, by itself or with others. A wall within a closed surface
 * goes, and so does an open sheet, if anything else is there. keep: per triangle, by root. */
static void mend_choose_sheets(const tool_mesh *m, mend_sheets *s, int hole, unsigned char *keep)
{
    int left = 0;
    for (int t = 0; t < m->tri_count; t++) {
        if (!s->paired[t]) left += !s->gone[t];
        else if (s->parent[t] == t && !s->attached[t])
            keep[t] = s->joined[t] > 0 ? s->joined[t] >= s->free_edges[t]
                                       : s->free_edges[t] == 0 || mend_sheet_closes(m, s, t, hole);
        left += keep[t];
    }
    for (int t = 0; t < m->tri_count && !left; t++)
        keep[t] = s->paired[t] && s->parent[t] == t && s->inner[t] > s->free_edges[t];
}

/* Marks the sheets that do not stay. paired: per triangle that stands for two sides. Returns how many are marked. */
static int mend_sheets_gone(const tool_mesh *m, const unsigned char *paired, int hole, unsigned char *gone)
{
    size_t n = (size_t)m->tri_count;
    mend_sheets s;
    unsigned char *keep = (unsigned char *)tool_alloc(n, 1);
    int *count = (int *)tool_alloc(4 * n, sizeof *count), dropped = 0;
    s.gone = gone;
    s.paired = paired;
    s.parent = (int *)tool_alloc(n, sizeof *s.parent);
    s.inner = count;
    s.free_edges = count + n;
    s.joined = count + 2 * n;
    s.attached = count + 3 * n;
    for (int t = 0; t < m->tri_count; t++) s.parent[t] = t;
    mend_connect_sheets(m, &s);
    for (int t = 0; t < m->tri_count; t++) s.parent[t] = mend_root(s.parent, t);
    mend_choose_sheets(m, &s, hole, keep);
    for (int t = 0; t < m->tri_count; t++) {
        if (!paired[t] || keep[s.parent[t]]) continue;
        gone[t] = 1;
        dropped++;
    }
    free(keep);
    free(count);
    free(s.parent);
    return dropped;
}

static int mend_same_sense(const int *f, const int *g)
{
    int i = g[0] == f[0] ? 0 : g[1] == f[0] ? 1 : 2;
    return g[(i + 1) % 3] == f[1];
}

/* Of triangles on the same vertices one stays. Where they face each other it stays if that closes a surface: meshes
 * for renderers have every triangle twice, once for each side. */
static int mend_doubles(tool_mesh *m, int hole, tool_text *said)
{
    int count, sheets = 0, total = m->tri_count + m->tet_count;
    embipc_fault *f = mend_faults(m, EMBIPC_FAULT_DOUBLE, &count);
    unsigned char *mark = (unsigned char *)tool_alloc((size_t)total, 1);
    unsigned char *paired = (unsigned char *)tool_alloc((size_t)total, 1);
    int *sum = (int *)tool_alloc((size_t)m->tri_count, sizeof *sum);
    for (int i = 0; i < count; i++) {
        int t = f[i].element, first = f[i].other;
        mark[t] = 1;
        if (m->tet_count) continue;
        sum[first] += mend_same_sense(m->tri + 3 * first, m->tri + 3 * t) ? 1 : -1;
        paired[first] = sum[first] == -1;   /* with the first itself: they cancel out */
    }
    if (count && !m->tet_count) sheets = mend_sheets_gone(m, paired, hole, mark);
    if (count) mend_drop(m, mark);
    if (count + sheets)
        tool_put(said, "dropped %d element%s on the same vertices as others%s\n", count + sheets, mend_s(count + sheets),
                 sheets ? ", both where they face each other and close nothing" : "");
    free(f);
    free(mark);
    free(paired);
    free(sum);
    return count + sheets;
}

/* pair[t]: a triangle with the vertices of triangle t, when vertices are merged by map; -1 where there is none. */
static void mend_coincident(const tool_mesh *m, const int *map, int *pair)
{
    int count, *tri = (int *)tool_alloc(3 * (size_t)m->tri_count, sizeof *tri);
    tool_mesh merged = *m;
    embipc_fault *f;
    for (int i = 0; i < 3 * m->tri_count; i++) tri[i] = map[m->tri[i]];
    merged.tri = tri;
    f = mend_faults(&merged, EMBIPC_FAULT_DOUBLE, &count);
    for (int t = 0; t < m->tri_count; t++) pair[t] = -1;
    for (int i = 0; i < count; i++) {
        pair[f[i].element] = f[i].other;
        pair[f[i].other] = f[i].element;
    }
    free(f);
    free(tri);
}

/* Which closed parts do not lie on another one as a whole: those stay apart. */
static void mend_stay_apart(const tool_mesh *m, const embipc_part *list, int parts, const int *part, const int *pair,
                            unsigned char *apart)
{
    int *on = (int *)tool_alloc((size_t)parts, sizeof *on);   /* 1 + the other one, or 0 */
    for (int t = 0; t < m->tri_count; t++) {
        int p = part[t];
        if (p < 0 || list[p].border_edges) continue;
        if (pair[t] < 0 || (on[p] && on[p] != part[pair[t]] + 1)) apart[p] = 1;
        else on[p] = part[pair[t]] + 1;
    }
    free(on);
}

/* Sides with vertices of their own: triangles in the same place get the same vertices. So do whole closed parts that lie
 * on each other, but not two solids that touch in some of their faces. */
static int mend_twins(tool_mesh *m, double tolerance, tool_text *said)
{
    int n = embipc_surface_parts(m->x, m->node_count, m->tri, m->tri_count, NULL, NULL, 0), joined = 0;
    embipc_part *list = (embipc_part *)tool_alloc((size_t)(n > 0 ? n : 0), sizeof *list);
    int *part = (int *)tool_alloc((size_t)m->tri_count, sizeof *part);
    int *pair = (int *)tool_alloc((size_t)m->tri_count, sizeof *pair);
    int *map = (int *)tool_alloc((size_t)m->node_count, sizeof *map);
    int *to = (int *)tool_alloc((size_t)m->node_count, sizeof *to);
    unsigned char *apart = (unsigned char *)tool_alloc((size_t)(n > 0 ? n : 0), 1);
    if (n > 0 && embipc_vertices_merge(m->x, m->node_count, tolerance, map) > 0) {
        embipc_surface_parts(m->x, m->node_count, m->tri, m->tri_count, part, list, n);
        mend_coincident(m, map, pair);
        mend_stay_apart(m, list, n, part, pair, apart);
        for (int v = 0; v < m->node_count; v++) to[v] = -1;
        for (int i = 0; i < 3 * m->tri_count; i++) {
            int t = i / 3, v = m->tri[i];
            if (part[t] < 0 || pair[t] < 0 || apart[part[t]]) continue;
            if (to[map[v]] < 0) to[map[v]] = v;
            joined += v != to[map[v]];
            m->tri[i] = to[map[v]];
        }
    }
    if (joined) tool_put(said, "joined the vertices of triangles that lie on each other\n");
    free(list);
    free(part);
    free(pair);
    free(map);
    free(to);
    free(apart);
    return joined;
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
 * misses them. */
static int mend_flat(tool_mesh *m, tool_text *said)
{
    int total = 0, dropped = 1;
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
    return total;
}

/* Flat triangles that close a surface are flipped into their neighbours. So are lids of holes without area: where
 * vertices of one side lie on an edge of the other one. */
static int mend_flip(tool_mesh *m, tool_text *said)
{
    int flips = embipc_surface_flip_flat(m->x, m->node_count, m->tri, m->tri_count);
    if (flips <= 0) return 0;
    tool_put(said, "flipped %d triangle%s without area into a neighbour\n", flips, mend_s(flips));
    return flips;
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
    changes += mend_twins(m, tolerance, said);
    changes += mend_merge(m, tolerance, said);
    changes += mend_doubles(m, o->hole, said);
    changes += mend_flat(m, said);
    turned = mend_orient(m);
    changes += mend_fill(m, o->hole, said);
    turned += mend_orient(m);   /* what the lids closed has an outside now */
    changes += mend_flip(m, said);
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
    return changes + count + mend_doubles(m, 0, said);
}

static int mend_unused(tool_mesh *m, tool_text *said)
{
    int count;
    embipc_fault *f = mend_faults(m, EMBIPC_FAULT_UNUSED, &count);
    int *keep = (int *)tool_alloc((size_t)m->node_count, sizeof *keep);
    for (int i = 0; i < m->node_count; i++) keep[i] = 1;
    for (int i = 0; i < count; i++) keep[f[i].element] = 0;
    (void)mesh_keep_nodes(m, keep);
    if (count) tool_put(said, "dropped %d unused vert%s\n", count, count == 1 ? "ex" : "ices");
    free(f);
    free(keep);
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
