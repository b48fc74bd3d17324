/* What tests do to the tree of a body, inside the library. Include after embipc.h with its implementation. */
#ifndef TREE_TEST_H
#define TREE_TEST_H

/* All boxes of the body's tree hold nothing: what is not refit is not found. */
static void tree_clear(embi_body *b)
{
    for (int k = 0; k < 2 * b->bvh.leaves + b->nt; k++) embi_box_clear(b->bvh.box + 6 * k);
}

/* Does half-edge i (of 3 nt) stand for an edge that pairs of edges are made of? */
static int tree_has_edge(const embi_body *b, int i) { return embi_owned(b->bvh.own[i / 3], EMBI_OWN_EDGE_PAIRS) >> i % 3 & 1; }

/* Do pairs with triangles of other bodies have vertex v (of the body)? */
static int tree_has_point(const embi_body *b, int v)
{
    for (int i = 0; i < 3 * b->nt; i++)
        if (b->tri[i] == v && embi_owned(b->bvh.own[i / 3], EMBI_OWN_POINT_PAIRS) >> i % 3 & 1) return 1;
    return 0;
}

/* Is the edge of half-edge i taken back from the sum over triangles, and is its first vertex added? Each is so but
 * once. */
static int tree_is_taken_back(const embi_body *b, int i) { return embi_owned(b->bvh.own[i / 3], EMBI_OWN_BACK) >> i % 3 & 1; }
static int tree_is_added(const embi_body *b, int i) { return embi_owned(b->bvh.own[i / 3], EMBI_OWN_ADD) >> i % 3 & 1; }

#define TREE_SHIFT_ROOM (6 * EMBI_PATCHES)

/* the strain of one tet as searches count it: the fourth root of |H^T H|^2 */
static double tree_strain(const embi_body *b, int t, const double *w)
{
    double H[9], C[9], square = 0;
    embi_body_tet_F(b, t, w, H);
    embi_m3_tmul(C, H, H);
    for (int i = 0; i < 9; i++) square += C[i] * C[i];
    return sqrt(sqrt(square));
}

/* A shift of its own for a body, nothing yet; part: room. */
static embi_shift tree_shift(const embi_body *b, double part[TREE_SHIFT_ROOM])
{
    embi_shift r;
    r.part = part;
    embi_shift_none(b, &r);
    return r;
}

/* where a list of its own would start from to find what a body has with itself */
static embi_surface tree_own_surface(const embi_state *s, const embi_body *b)
{
    embi_surface r = embi_surface_of(s, b, s->xn);
    if (b->search.certificates.count) r.start = b->search.start;
    r.start_count = b->search.start_count;
    return r;
}
#endif
