/* Broad phase against all pairs: ownership, candidates for every displacement in their range, self contact
 * with its clamp at rest, exact crossings. */
#include "inside.h"
#include "geometry_test.h"

/* ---- two surfaces (or one) with their trees, and lists of all their primitives ---- */

typedef struct side {
    test_mesh mesh;
    embi_bvh bvh;
    embi_surface s;
    int *edge, edges;        /* (2 each) */
    double *rest;
} side;

typedef struct scene {
    embi_memory m;
    side a, b;
    int self;                /* b is a */
    embi_key *keys;
    int key_count;
    embi_candidate *list;
    int count;
} scene;

static void side_make(embi_memory *m, side *d, test_mesh mesh, int base)
{
    int nt = mesh.tri_count, nv = mesh.vertex_count;
    embi_key *keys = (embi_key *)calloc((size_t)(6 * nt), sizeof *keys);
    unsigned char *used = (unsigned char *)calloc((size_t)nv, 1);
    memset(d, 0, sizeof *d);
    d->mesh = mesh;
    d->rest = (double *)malloc((size_t)(3 * nv) * sizeof(double));
    memcpy(d->rest, mesh.x, (size_t)(3 * nv) * sizeof(double));
    ENSURE(embi_bvh_build(m, &d->bvh, mesh.x, mesh.tri, nt, nv, keys, used));
    embi_bvh_refit(&d->bvh, mesh.x, mesh.tri, nt);
    d->s.x = d->mesh.x;
    d->s.rest = d->rest;
    d->s.tri = d->mesh.tri;
    d->s.nt = nt;
    d->s.base = base;
    d->s.bvh = &d->bvh;
    d->s.J = NULL;
    d->edge = (int *)malloc((size_t)(6 * nt) * sizeof(int));
    for (int i = 0; i < 3 * nt; i++) {
        int p = mesh.tri[i], q = mesh.tri[i / 3 * 3 + (i + 1) % 3], known = 0;
        for (int k = 0; k < d->edges && !known; k++)
            known = (d->edge[2 * k] == p && d->edge[2 * k + 1] == q) ||
                    (d->edge[2 * k] == q && d->edge[2 * k + 1] == p);
        if (known) continue;
        d->edge[2 * d->edges] = p;
        d->edge[2 * d->edges++ + 1] = q;
    }
    free(keys);
    free(used);
}
static void side_free(embi_memory *m, side *d)
{
    embi_bvh_free(m, &d->bvh);
    test_mesh_free(&d->mesh);
    free(d->edge);
    free(d->rest);
}
static void scene_make(scene *c, test_mesh a, const test_mesh *b)
{
    memset(c, 0, sizeof *c);
    embi_memory_init(&c->m, NULL);
    side_make(&c->m, &c->a, a, 100);
    c->self = !b;
    if (b) side_make(&c->m, &c->b, *b, 100 + a.vertex_count);
}
static side *second(scene *c) { return c->self ? &c->a : &c->b; }
static void scene_free(scene *c)
{
    EMBI_RELEASE(&c->m, c->keys);
    EMBI_RELEASE(&c->m, c->list);
    side_free(&c->m, &c->a);
    if (!c->self) side_free(&c->m, &c->b);
    ENSURE(c->m.bytes == 0);
}

/* the walks from all starts, one after the other, find what one walk finds, in the same order */
static void starts_agree(scene *c, const double range[6], double reach)
{
    int (*start)[2] = (int (*)[2])malloc(EMBI_STARTS * sizeof *start), starts, count = 0;
    const int *first;
    embi_key *keys = NULL;
    embi_traversal w = embi_traverse_of(&c->a.s, &second(c)->s, range, reach);
    first = embi_traverse_starts(&w, start, &starts);
    ENSURE(starts <= EMBI_STARTS);
    ENSURE(starts > EMBI_STARTS / 6 || c->key_count < 4 * EMBI_STARTS);   /* enough of them to be shared out */
    for (int n = 0; n < starts; n++)
        ENSURE(embi_traverse_pairs(&c->m, &w, first[2 * n], first[2 * n + 1], &keys, &count));
    ENSURE(count == c->key_count);
    for (int n = 0; n < count; n++) ENSURE(keys[n].key == c->keys[n].key && keys[n].value == c->keys[n].value);
    EMBI_RELEASE(&c->m, keys);
    free(start);
}

static void scene_find(scene *c, const double range[6], const embi_pair_rule *rule)
{
    embi_approach t = embi_approach_of(range, rule->dhat + rule->xi);
    c->key_count = c->count = 0;
    ENSURE(embi_bvh_pairs(&c->m, &c->a.s, &second(c)->s, range, rule->dhat + rule->xi, &c->keys,
                          &c->key_count));
    ENSURE(embi_candidates(&c->m, &c->a.s, &second(c)->s, c->keys, c->key_count, rule, &t,
                           &c->list, &c->count));
}

static void scene_search(scene *c, const double range[6], const embi_pair_rule *rule)
{
    scene_find(c, range, rule);
    starts_agree(c, range, rule->dhat + rule->xi);
}

/* 64 bits that name a primitive pair, whatever the order of its sides and of the vertices within */
static unsigned long long pair_name(const int v[4], int edge_edge)
{
    unsigned long long id[4];
    int t[4];
    memcpy(t, v, sizeof t);
#define SWAP_IF(i, j) do { if (t[i] > t[j]) { int s_ = t[i]; t[i] = t[j]; t[j] = s_; } } while (0)
    if (edge_edge) {
        SWAP_IF(0, 1);
        SWAP_IF(2, 3);
        if (t[0] > t[2] || (t[0] == t[2] && t[1] > t[3])) {
            int p = t[0], q = t[1];
            t[0] = t[2];
            t[1] = t[3];
            t[2] = p;
            t[3] = q;
        }
    } else {
        SWAP_IF(1, 2);
        SWAP_IF(2, 3);
        SWAP_IF(1, 2);
    }
    for (int i = 0; i < 4; i++) id[i] = (unsigned long long)t[i];
    return ((id[0] << 15 | id[1]) << 15 | id[2]) << 15 | id[3] | (unsigned long long)(edge_edge != 0) << 63;
}

typedef struct named { unsigned long long name; double d; } named;
static int by_name(const void *a, const void *b)
{
    unsigned long long x = ((const named *)a)->name, y = ((const named *)b)->name;
    return x < y ? -1 : x > y;
}

static int share_vertex(const int v[4], int split)
{
    for (int i = 0; i < split; i++)
        for (int j = split; j < 4; j++)
            if (v[i] == v[j]) return 1;
    return 0;
}
/* The names of all primitive pairs closer than reach with the vertices of the two sides at xa and xb. */
static int all_pairs(scene *c, const double *xa, const double *xb, double reach, named **out)
{
    int n = 0, cap = 1024;
    named *list = (named *)malloc((size_t)cap * sizeof *list);
    side *side_a = &c->a, *side_b = second(c);
    for (int kind = 0; kind < (c->self ? 2 : 3); kind++) {   /* points of a, edges of both, points of b */
        const side *s = kind == 2 ? side_b : side_a, *t = kind == 2 ? side_a : side_b;
        const double *xs = kind == 2 ? xb : xa, *xt = kind == 2 ? xa : xb;
        int ns = kind == 1 ? s->edges : s->mesh.vertex_count, ne = kind == 1 ? t->edges : t->mesh.tri_count,
            split = kind == 1 ? 2 : 1;
        for (int i = 0; i < ns; i++)
            for (int j = c->self && kind == 1 ? i + 1 : 0; j < ne; j++) {
                int v[4], g[4], mask;
                double w[4], d;
                embi_point p[4];
                v[0] = kind == 1 ? s->edge[2 * i] : i;
                v[1] = kind == 1 ? s->edge[2 * i + 1] : t->mesh.tri[3 * j];
                v[2] = kind == 1 ? t->edge[2 * j] : t->mesh.tri[3 * j + 1];
                v[3] = kind == 1 ? t->edge[2 * j + 1] : t->mesh.tri[3 * j + 2];
                if (c->self && share_vertex(v, split)) continue;
                for (int k = 0; k < 4; k++) {
                    p[k] = (k < split ? xs : xt) + 3 * v[k];
                    g[k] = v[k] + (k < split ? s->s.base : t->s.base);
                }
                d = embi_closest_distance(p, kind == 1, w, &mask);
                if (!(d <= reach)) continue;
                if (n == cap) list = (named *)realloc(list, (size_t)(cap *= 2) * sizeof *list);
                list[n].d = d;
                list[n++].name = pair_name(g, kind == 1);
            }
    }
    qsort(list, (size_t)n, sizeof *list, by_name);
    *out = list;
    return n;
}
static named *candidate_names(const scene *c)
{
    named *list = (named *)calloc((size_t)c->count + 1, sizeof *list);
    for (int k = 0; k < c->count; k++) list[k].name = pair_name(c->list[k].v, c->list[k].edge_edge);
    qsort(list, (size_t)c->count, sizeof *list, by_name);
    return list;
}

/* Candidates for the range: each pair once; all of them within reach + |half the range| once displaced to its
 * middle; none missing for random displacements in the range, different for every vertex. With an empty
 * range: exactly the pairs within dhat + xi. */
static void check_candidates(scene *c, const double range[6], const embi_pair_rule *rule, int displacements)
{
    named *found, *near;
    double half = 0, reach = rule->dhat + rule->xi, *xa, *xb;
    int na = 3 * c->a.mesh.vertex_count, nb = 3 * second(c)->mesh.vertex_count, n, empty;
    for (int k = 0; k < 3; k++) half += pow((range[3 + k] - range[k]) / 2, 2);
    half = sqrt(half);
    empty = half == 0 && range[0] == 0 && range[1] == 0 && range[2] == 0;
    xa = (double *)malloc((size_t)na * sizeof *xa);
    xb = (double *)malloc((size_t)nb * sizeof *xb);
    scene_search(c, range, rule);
    found = candidate_names(c);
    for (int k = 1; k < c->count; k++) ENSURE(found[k].name != found[k - 1].name);
    for (int i = 0; i < na; i++) xa[i] = c->a.mesh.x[i] + (range[i % 3] + range[3 + i % 3]) / 2;
    n = all_pairs(c, xa, second(c)->mesh.x, (reach + half) * (1 + 1e-12) + 1e-15, &near);
    for (int k = 0; k < c->count; k++)
        ENSURE(bsearch(found + k, near, (size_t)n, sizeof *near, by_name) != NULL);
    if (empty)
        for (int k = 0; k < n; k++)
            ENSURE(bsearch(near + k, found, (size_t)c->count, sizeof *found, by_name) ||
                   near[k].d > reach * (1 - 1e-12));
    free(near);
    for (int r = 0; r < displacements && !empty; r++) {
        memcpy(xb, second(c)->mesh.x, (size_t)nb * sizeof *xb);
        for (int i = 0; i < na; i++) {
            double lo = range[i % 3], hi = range[3 + i % 3], u = r % 2 ? test_random() : test_random() < 0.5;
            if (r < 2) u = r;   /* all to one corner */
            if (c->self) u = 0.5 + (u - 0.5) / 2;   /* both ends of a pair move: half the range each */
            xa[i] = c->a.mesh.x[i] + lo + u * (hi - lo);
        }
        n = all_pairs(c, xa, c->self ? xa : xb, reach * (1 - 1e-12), &near);
        for (int k = 0; k < n; k++)
            ENSURE(bsearch(near + k, found, (size_t)c->count, sizeof *found, by_name) != NULL);
        free(near);
    }
    free(found);
    free(xa);
    free(xb);
}

static void check_many_ranges(scene *c, double size, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        embi_pair_rule rule;
        double range[6] = {0, 0, 0, 0, 0, 0};
        memset(&rule, 0, sizeof rule);
        rule.dhat = size * (r % 3 ? test_uniform(0, 0.05) : 0.2);
        rule.xi = r % 2 ? 0 : size * 0.02;
        for (int k = 0; k < 3 && r % 4; k++) {   /* every fourth: nothing moves */
            double centre = c->self ? 0 : size * test_uniform(-0.3, 0.3), half = size * test_uniform(0, 0.1);
            range[k] = centre - half;
            range[3 + k] = centre + half;
        }
        check_candidates(c, range, &rule, 4);
    }
}

/* ---- tests ---- */

/* Extent of the centroids of triangles begin .. end - 1 of the order along an axis. */
static void centroids(const side *d, int begin, int end, int axis, double out[2])
{
    out[0] = HUGE_VAL;
    out[1] = -HUGE_VAL;
    for (int n = begin; n < end; n++) {
        const int *v = d->mesh.tri + 3 * d->bvh.order[n];
        double c = (d->mesh.x[3 * v[0] + axis] + d->mesh.x[3 * v[1] + axis] + d->mesh.x[3 * v[2] + axis]) / 3;
        out[0] = fmin(out[0], c);
        out[1] = fmax(out[1], c);
    }
}

/* Each node splits its triangles across their longest axis, and its left child is full. */
static void check_splits(const side *d)
{
    int nt = d->mesh.tri_count, splits = 0;
    double all[2], size = 0;
    for (int i = 0; i < 3; i++) {
        double lo = d->bvh.box[6 + i], hi = d->bvh.box[9 + i];
        size = fmax(size, hi - lo);
    }
    for (int length = EMBI_LEAF * d->bvh.leaves; length > EMBI_LEAF; length /= 2)
        for (int begin = 0; begin + length / 2 < nt; begin += length) {
            int middle = begin + length / 2, end = embi_min_int(begin + length, nt), good = 0;
            double longest = 0, left[2], right[2];
            for (int i = 0; i < 3; i++) {
                centroids(d, begin, end, i, all);
                longest = fmax(longest, all[1] - all[0]);
            }
            for (int i = 0; i < 3; i++) {
                centroids(d, begin, end, i, all);
                centroids(d, begin, middle, i, left);
                centroids(d, middle, end, i, right);
                good |= all[1] - all[0] >= longest - 1e-6 * size && left[1] <= right[0] + 1e-6 * size;
            }
            ENSURE(good);
            splits++;
        }
    ENSURE(splits >= (nt - 1) / EMBI_LEAF);
}

/* Many triangles at one place: they stay in their order, and none is lost. */
static void test_coincident_triangles(void)
{
    static const double x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    enum { COUNT = 100001 };
    int *tri = (int *)malloc(3 * COUNT * sizeof *tri);
    embi_key *keys = (embi_key *)malloc(6 * COUNT * sizeof *keys);
    unsigned char used[3];
    scene c;
    memset(&c, 0, sizeof c);
    embi_memory_init(&c.m, NULL);
    for (int i = 0; i < 3 * COUNT; i++) tri[i] = i % 3;
    ENSURE(embi_bvh_build(&c.m, &c.a.bvh, x, tri, COUNT, 3, keys, used));
    for (int t = 0; t < COUNT; t++) ENSURE(c.a.bvh.order[t] == t);
    embi_bvh_free(&c.m, &c.a.bvh);
    free(keys);
    free(tri);
}

/* every vertex and every edge belongs to exactly one triangle, and the tree holds every triangle once */
static void check_tree(test_mesh mesh)
{
    scene c;
    int *vertex, *edge, *seen, owners = 0;
    scene_make(&c, mesh, NULL);
    vertex = (int *)calloc((size_t)mesh.vertex_count, sizeof(int));
    edge = (int *)calloc((size_t)c.a.edges, sizeof(int));
    seen = (int *)calloc((size_t)mesh.tri_count, sizeof(int));
    for (int t = 0; t < mesh.tri_count; t++) {
        seen[c.a.bvh.order[t]]++;
        for (int i = 0; i < 3; i++) {
            int p = mesh.tri[3 * t + i], q = mesh.tri[3 * t + (i + 1) % 3];
            if (c.a.bvh.own[t] & (1 << i)) vertex[p]++;
            if (!(c.a.bvh.own[t] & (8 << i))) continue;
            for (int k = 0; k < c.a.edges; k++)
                edge[k] += embi_min_int(p, q) == embi_min_int(c.a.edge[2 * k], c.a.edge[2 * k + 1]) &&
                           embi_max_int(p, q) == embi_max_int(c.a.edge[2 * k], c.a.edge[2 * k + 1]);
            owners++;
        }
    }
    for (int i = 0; i < 3 * mesh.tri_count; i++) ENSURE(vertex[mesh.tri[i]] == 1);
    for (int k = 0; k < c.a.edges; k++) ENSURE(edge[k] == 1);
    for (int t = 0; t < mesh.tri_count; t++) ENSURE(seen[t] == 1);
    ENSURE(owners == c.a.edges);
    check_splits(&c.a);
    for (int k = 1; k < c.a.bvh.leaves; k++)   /* boxes hold their children */
        for (int i = 0; i < 3; i++) {
            ENSURE(c.a.bvh.box[6 * k + i] <= c.a.bvh.box[12 * k + i] &&
                   c.a.bvh.box[6 * k + i] <= c.a.bvh.box[12 * k + 6 + i]);
            ENSURE(c.a.bvh.box[6 * k + 3 + i] >= c.a.bvh.box[12 * k + 3 + i] &&
                   c.a.bvh.box[6 * k + 3 + i] >= c.a.bvh.box[12 * k + 9 + i]);
        }
    free(vertex);
    free(edge);
    free(seen);
    scene_free(&c);
}
static void test_trees(void)
{
    for (int n = 1; n <= 20; n++) check_tree(geometry_soup(n, 0.3));   /* all fill levels of the leaves */
    check_tree(geometry_icosphere(2));
    check_tree(geometry_sheet(7, 5, 1, 1));
    check_tree(geometry_box_surface(2, 3, 4, 1, 1, 1));
    {   /* all in one point: none is lost */
        test_mesh s = geometry_soup(13, 0.3);
        for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] = 0.25;
        check_tree(s);
    }
}

static void test_candidates_soup(void)
{
    for (int n = 1; n <= 33; n += n < 6 ? 1 : 9) {
        scene c;
        test_mesh b = geometry_soup(n + 3, 0.3);
        scene_make(&c, geometry_soup(n, 0.4), &b);
        check_many_ranges(&c, 1, 12);
        scene_free(&c);
    }
}

static void test_candidates_solids(void)
{
    for (int r = 0; r < 3; r++) {
        scene c;
        double R[9], t[3] = {1.4, 0.9, 1.1};
        test_mesh a = geometry_icosphere(1), b = geometry_box_surface(2, 2, 1, 1, 1, 0.2);
        geometry_rotation(R);
        if (r) geometry_move(&b, 1, R, t);
        scene_make(&c, a, &b);
        check_many_ranges(&c, 1, 16);
        scene_free(&c);
    }
}

/* far from the origin and flat against the axes, where boxes have no thickness */
static void test_candidates_sheets(void)
{
    double t[3] = {1000, -2000, 1000.01}, o[3] = {1000, -2000, 1000};
    test_mesh a = geometry_sheet(4, 4, 1, 1), b = geometry_sheet(3, 5, 1, 1);
    scene c;
    geometry_move(&a, 1, NULL, o);
    geometry_move(&b, 1, NULL, t);
    scene_make(&c, a, &b);
    check_many_ranges(&c, 0.5, 16);
    scene_free(&c);
}

static void test_candidates_self(void)
{
    scene c;
    scene_make(&c, geometry_icosphere(1), NULL);
    check_many_ranges(&c, 1, 8);
    scene_free(&c);
    scene_make(&c, geometry_soup(17, 0.4), NULL);
    check_many_ranges(&c, 1, 8);
    scene_free(&c);
    {   /* a sheet folded back onto itself */
        test_mesh s = geometry_sheet(8, 3, 2, 1);
        scene_make(&c, s, NULL);
        for (int i = 0; i < s.vertex_count; i++) {
            double x = s.x[3 * i];
            if (x <= 1) continue;
            s.x[3 * i] = 2 - x;
            s.x[3 * i + 2] = 0.3 * (x - 1) + 0.01;
        }
        embi_bvh_refit(&c.a.bvh, s.x, s.tri, s.tri_count);
        check_many_ranges(&c, 1, 8);
        scene_free(&c);
    }
}

/* Pairs of one body: no activation distance above half of what separates them at rest, so that at rest
 * nothing is active, however large dhat; thickness likewise. Pairs of two bodies keep the rule's. */
static long paths_found, ranges_found, paths_apart;

/* Where the vertices of a side are going: squeezed, turned and moved as one, and each a little by itself. */
static double *some_ways(const side *d, double size)
{
    int n = 3 * d->mesh.vertex_count;
    double *next = (double *)malloc((size_t)n * sizeof *next), squeeze[3], move[3], turn = test_uniform(-1, 1);
    for (int c = 0; c < 3; c++) {
        squeeze[c] = test_uniform(0.3, 1.2);
        move[c] = size * test_uniform(-1, 1);
    }
    for (int i = 0; i < n; i += 3) {
        const double *x = d->mesh.x + i;
        for (int c = 0; c < 3; c++) next[i + c] = squeeze[c] * x[c] + move[c] + size * test_uniform(-0.03, 0.03);
        next[i] -= turn * x[1];
        next[i + 1] += turn * x[0];
    }
    return next;
}

/* x: the share t of the ways */
static void along(const side *d, double t, double *x)
{
    for (int i = 0; i < 3 * d->mesh.vertex_count; i++) x[i] = d->mesh.x[i] + (d->s.way ? t * d->s.way[i] : 0);
}

/* The two surfaces, with what of them goes, are swept. what: bits 0 and 1, which of them go. way: box of all displacements */
static void sweep(scene *c, double size, int what, double *next[2], double way[2][6])
{
    for (int k = 0; k < (c->self ? 1 : 2); k++) {
        side *d = k ? second(c) : &c->a;
        next[k] = some_ways(d, size);
        for (int i = 0; i < 3 * d->mesh.vertex_count; i++) {
            next[k][i] -= d->mesh.x[i];
            way[k][i % 3] = fmin(way[k][i % 3], next[k][i]);
            way[k][3 + i % 3] = fmax(way[k][3 + i % 3], next[k][i]);
        }
        if (what >> k & 1) d->s.way = next[k];
        ENSURE(embi_bvh_sweep(&c->m, &d->bvh, &d->s));
    }
}

/* Candidates along paths: each pair once; none missing wherever the two surfaces are on their ways, both at one share of them;
 * and few, against those of the box of all displacements. And ways that each goes by itself: whatever comes within reach, the
 * walk says so. */
static void check_paths(scene *c, const embi_pair_rule *rule, double size, int what)
{
    static const double none[6] = {0, 0, 0, 0, 0, 0};
    side *b = second(c);
    double *next[2], *xa, *xb, reach = rule->dhat + rule->xi, range[6], apart[6], way[2][6];
    embi_approach t = embi_approach_of(none, reach);
    embi_traversal w = embi_traverse_of(&c->a.s, &b->s, none, reach);
    named *found, *near;
    int n, count, crosses;
    memset(way, 0, sizeof way);
    sweep(c, size, what, next, way);
    c->key_count = c->count = 0;
    embi_traverse_apart(&w, apart);
    ENSURE(embi_traverse_all(&c->m, &w, &c->keys, &c->key_count));
    crosses = c->key_count > 0;
    c->key_count = w.first_only = 0;
    w.paths = 1;
    t.paths = 1;
    ENSURE(embi_traverse_all(&c->m, &w, &c->keys, &c->key_count));
    ENSURE(embi_candidates(&c->m, &c->a.s, &b->s, c->keys, c->key_count, rule, &t, &c->list, &c->count));
    found = candidate_names(c);
    for (int k = 1; k < c->count; k++) ENSURE(found[k].name != found[k - 1].name);
    xa = (double *)malloc((size_t)(3 * c->a.mesh.vertex_count) * sizeof *xa);
    xb = (double *)malloc((size_t)(3 * b->mesh.vertex_count) * sizeof *xb);
    for (int r = 0; r < 40; r++) {
        double at = r < 2 ? r : test_random(), by_itself = r < 4 ? r % 2 : test_random();
        along(&c->a, at, xa);
        along(b, at, xb);
        n = all_pairs(c, xa, c->self ? xa : xb, reach * (1 - 1e-12), &near);
        for (int k = 0; k < n; k++)
            ENSURE(bsearch(near + k, found, (size_t)c->count, sizeof *found, by_name) != NULL);
        free(near);
        along(b, by_itself, xb);
        n = c->self ? 0 : all_pairs(c, xa, xb, reach * (1 - 1e-12), &near);
        ENSURE(n == 0 || crosses);
        if (!c->self) free(near);
    }
    paths_apart += !crosses;
    n = all_pairs(c, c->a.mesh.x, b->mesh.x, 1e300, &near);   /* each knows how far it is now */
    for (int k = 0; k < c->count; k++) {
        named key;
        const named *is;
        key.name = pair_name(c->list[k].v, c->list[k].edge_edge);
        is = (const named *)bsearch(&key, near, (size_t)n, sizeof *near, by_name);
        ENSURE(is && is->d == c->list[k].apart);
    }
    free(near);
    count = c->count;
    for (int k = 0; k < 3; k++) {   /* of a against b, by a search for all displacements */
        range[k] = (what & 1 ? way[0][k] : 0) - (c->self ? way[0][3 + k] : what & 2 ? way[1][3 + k] : 0);
        range[3 + k] = (what & 1 ? way[0][3 + k] : 0) - (c->self ? way[0][k] : what & 2 ? way[1][k] : 0);
    }
    for (int k = 0; k < (c->self ? 1 : 2); k++) {
        side *d = k ? b : &c->a;
        d->s.way = NULL;
        embi_bvh_refit(&d->bvh, d->mesh.x, d->mesh.tri, d->mesh.tri_count);
        free(next[k]);
    }
    scene_find(c, range, rule);
    paths_found += count;
    ranges_found += c->count;
    free(found);
    free(xa);
    free(xb);
}

static void test_candidates_along_paths(void)
{
    scene c;
    embi_pair_rule rule;
    memset(&rule, 0, sizeof rule);
    for (int r = 0; r < 12 / TEST_STRIDE; r++) {
        test_mesh b = geometry_box_surface(2, 2, 2, 1, 1, 0.2);
        for (int i = 0; i < b.vertex_count; i++) b.x[3 * i + 2] -= 1.3;
        rule.dhat = test_uniform(0.01, 0.1);
        rule.xi = r % 2 ? 0.01 : 0;
        scene_make(&c, geometry_icosphere(1), &b);
        check_paths(&c, &rule, 1, 1 + r % 3);
        scene_free(&c);
        scene_make(&c, r % 2 ? geometry_icosphere(2) : geometry_sheet(8, 3, 2, 1), NULL);
        check_paths(&c, &rule, 1, 1);
        scene_free(&c);
    }
    printf("  along paths %ld candidates, of all such displacements %ld\n", paths_found, ranges_found);
    ENSURE(paths_found > 1000 && 3 * paths_found < ranges_found);
}

/* The gap between two planes bounds the distance wherever both sides are on their ways. A point that comes down on the
 * middle of a triangle, or goes up from it, has this gap exactly. */
static void test_planes_between_paths(void)
{
    static const double corner[4][3] = {{0, 0, 1}, {1, 0, 0}, {-0.5, 0.8, 0}, {-0.5, -0.8, 0}}, down[3] = {0, 0, -0.4},
                        up[3] = {0, 0, 7}, none[3] = {0, 0, 0};
    const double *x[4] = {corner[0], corner[1], corner[2], corner[3]}, *way[4] = {down, none, none, none};
    int positive = 0;
    ENSURE(fabs(embi_planes_gap(x, way, 1) - 0.6) < 1e-15);
    way[0] = up;
    ENSURE(fabs(embi_planes_gap(x, way, 1) - 1) < 1e-15);
    for (int r = 0; r < 20000; r++) {
        int ee = r % 2, mask;
        double at[4][3], go[4][3], now[4][3], w[4], far = pow(10, test_uniform(-1, 1)), gap;
        const double *moved[4];
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < 3; i++) {
                at[k][i] = test_uniform(-1, 1) + (k > ee && i == r % 3 ? 2 : 0);
                go[k][i] = far * test_uniform(-1, 1);
            }
        for (int k = 0; k < 4; k++) {
            x[k] = at[k];
            way[k] = go[k];
            moved[k] = now[k];
        }
        gap = embi_planes_gap(x, way, ee ? 2 : 1);
        positive += gap > 0;
        for (int n = 0; n <= 16; n++) {
            for (int i = 0; i < 12; i++) now[i / 3][i % 3] = at[i / 3][i % 3] + n / 16.0 * go[i / 3][i % 3];
            ENSURE(gap <= embi_closest_distance(moved, ee, w, &mask) * (1 + 1e-12));
        }
    }
    ENSURE(positive > 5000);
}

/* Long ways that go by each other: two balls fly across. Together they meet only when they are there at one time; each by itself
 * where one way crosses the other, as far as boxes tell. */
static void test_ways_across(void)
{
    static const double none[6] = {0, 0, 0, 0, 0, 0};
    for (int r = 0; r < 200; r++) {
        scene c;
        embi_pair_rule rule;
        embi_approach t = embi_approach_of(none, 0.01);
        embi_traversal w;
        double *next[2], apart[6], u[2][3], gap[3], late = r % 3 == 1 ? 5 : 0, off = r % 3 == 2 ? 3 : 0;
        int crosses;
        memset(&rule, 0, sizeof rule);
        rule.dhat = 0.01;
        test_mesh ball = geometry_icosphere(2);
        scene_make(&c, geometry_icosphere(2), &ball);
        for (int i = 0; i < 3; i++) {
            u[0][i] = test_uniform(-1, 1);
            gap[i] = test_uniform(-1, 1);
        }
        embi_scale(u[0], test_uniform(20, 60) / embi_norm(u[0]), u[0]);
        embi_cross(u[1], u[0], gap);   /* of one length, and square to each other */
        embi_scale(u[1], embi_norm(u[0]) / embi_norm(u[1]), u[1]);
        embi_cross(gap, u[0], u[1]);
        embi_scale(gap, off / embi_norm(gap), gap);   /* across the ways of both */
        for (int k = 0; k < 2; k++) {   /* the middle of each way is at the origin, or the second one is late, or passes at a distance */
            side *d = k ? &c.b : &c.a;
            double *x = (double *)d->s.x;
            next[k] = (double *)malloc((size_t)(3 * d->mesh.vertex_count) * sizeof(double));
            for (int i = 0; i < 3 * d->mesh.vertex_count; i++) {
                x[i] -= u[k][i % 3] / 2 - (k ? gap[i % 3] - late * u[1][i % 3] / embi_norm(u[1]) : 0);
                next[k][i] = u[k][i % 3];
            }
            d->s.way = next[k];
            ENSURE(embi_bvh_sweep(&c.m, &d->bvh, &d->s));
        }
        w = embi_traverse_of(&c.a.s, &c.b.s, none, 0.01);
        embi_traverse_apart(&w, apart);
        c.key_count = c.count = 0;
        ENSURE(embi_traverse_all(&c.m, &w, &c.keys, &c.key_count));
        crosses = c.key_count > 0;
        c.key_count = w.first_only = 0;
        w.paths = 1;
    t.paths = 1;
        ENSURE(embi_traverse_all(&c.m, &w, &c.keys, &c.key_count));
        ENSURE(embi_candidates(&c.m, &c.a.s, &c.b.s, c.keys, c.key_count, &rule, &t, &c.list, &c.count));
        ENSURE(off > 0 || crosses == 1);   /* by boxes of all displacements, which say so of more */
        ENSURE((r % 3 == 0) == (c.count > 0));
        ENSURE(c.count < 60000);   /* of 460 000 */
        for (int k = 0; k < 2; k++) {
            (k ? &c.b : &c.a)->s.way = NULL;
            free(next[k]);
        }
        scene_free(&c);
    }
}

static void test_rest_clamp(void)
{
    embi_pair_rule rule;
    scene c;
    double range[6] = {0, 0, 0, 0, 0, 0};
    test_mesh b = geometry_icosphere(1);
    int clamped = 0;
    memset(&rule, 0, sizeof rule);
    for (int thick = 0; thick < 2; thick++) {
        rule.dhat = 0.5;
        rule.xi = thick ? 0.3 : 0;
        scene_make(&c, geometry_icosphere(2), NULL);
        scene_search(&c, range, &rule);
        ENSURE(c.count > 1000);
        for (int k = 0; k < c.count; k++) {
            const embi_candidate *q = c.list + k;
            double w[4], rest;
            embi_point p[4];
            int mask;
            for (int i = 0; i < 4; i++) p[i] = c.a.rest + 3 * (q->v[i] - 100);
            rest = embi_closest_distance(p, q->edge_edge, w, &mask);
            ENSURE(rest - q->xi >= 2 * q->dhat * (1 - 1e-14));   /* at rest: not active, twice over */
            ENSURE(q->dhat > 0 && q->dhat <= rule.dhat && q->xi >= 0 && q->xi <= rule.xi);
            ENSURE(q->xi == rule.xi || fabs(q->xi - rest / 2) < 1e-15);
            ENSURE(q->dhat == rule.dhat || fabs(q->dhat - (rest - q->xi) / 2) < 1e-15);
            clamped += q->dhat < rule.dhat;
            if (q->edge_edge) {
                double e[3], f[3];
                embi_sub(e, p[1], p[0]);
                embi_sub(f, p[3], p[2]);
                ENSURE_REL(q->mollify, 1e-3 * embi_dot(e, e) * embi_dot(f, f), 1e-12);
            } else ENSURE(q->mollify == 0);
        }
        scene_free(&c);
    }
    ENSURE(clamped > 0);
    rule.dhat = 0.01;
    rule.xi = 0;
    geometry_move(&b, 0.3, NULL, NULL);
    scene_make(&c, geometry_icosphere(1), &b);
    range[0] = range[1] = range[2] = -1;
    range[3] = range[4] = range[5] = 1;
    scene_search(&c, range, &rule);
    ENSURE(c.count > 1000);
    for (int k = 0; k < c.count; k++) ENSURE(c.list[k].dhat == rule.dhat && c.list[k].xi == rule.xi);
    scene_free(&c);
    {   /* the rest shape counts, not the present one */
        test_mesh s = geometry_sheet(2, 1, 2, 1);
        scene_make(&c, s, NULL);
        for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] *= 0.1;
        embi_bvh_refit(&c.a.bvh, s.x, s.tri, s.tri_count);
        memset(range, 0, sizeof range);
        rule.dhat = 0.3;
        scene_search(&c, range, &rule);
        ENSURE(c.count > 0);
        for (int k = 0; k < c.count; k++) ENSURE(c.list[k].dhat == 0.3);   /* at rest they are far */
        scene_free(&c);
    }
}

/* edges through triangles, against all pairs; closed sets, exact */
static int check_crossings(scene *c)
{
    double range[6] = {0, 0, 0, 0, 0, 0};
    static const embipc_body body[2] = {{1, 0}, {2, 0}};   /* owners of the edges and triangles found */
    embipc_crossing *list = NULL;
    int count = 0, all = 0, missing = 0;
    c->key_count = 0;
    ENSURE(embi_bvh_pairs(&c->m, &c->a.s, &second(c)->s, range, 0, &c->keys, &c->key_count));
    ENSURE(embi_crossings(&c->m, &c->a.s, &second(c)->s, body, c->keys, c->key_count, &list, &count));
    for (int on_b = 0; on_b < (c->self ? 1 : 2); on_b++) {
        const side *s = on_b ? second(c) : &c->a, *t = on_b ? &c->a : second(c);
        for (int e = 0; e < s->edges; e++)
            for (int f = 0; f < t->mesh.tri_count; f++) {
                double p[15];
                const int *T = t->mesh.tri + 3 * f, *E = s->edge + 2 * e;
                int found = 0;
                if (c->self && (T[0] == E[0] || T[1] == E[0] || T[2] == E[0] || T[0] == E[1] ||
                                T[1] == E[1] || T[2] == E[1]))
                    continue;
                embi_copy(p, s->mesh.x + 3 * E[0]);
                embi_copy(p + 3, s->mesh.x + 3 * E[1]);
                for (int k = 0; k < 3; k++) embi_copy(p + 6 + 3 * k, t->mesh.x + 3 * T[k]);
                if (!embipc_segment_triangle_intersect(p)) continue;
                all++;
                for (int k = 0; k < count; k++)
                    found += list[k].triangle == f && (c->self || (list[k].edge_body.index1 == body[on_b].index1 &&
                                          list[k].triangle_body.index1 == body[1 - on_b].index1)) &&
                             ((list[k].edge[0] == E[0] && list[k].edge[1] == E[1]) ||
                              (list[k].edge[0] == E[1] && list[k].edge[1] == E[0]));
                missing += found != 1;
            }
    }
    ENSURE(missing == 0);
    ENSURE(count == all);
    EMBI_RELEASE(&c->m, list);
    return all;
}
static void test_crossings(void)
{
    int met = 0;
    for (int n = 1; n < 40; n += 6) {
        scene c;
        test_mesh b = geometry_soup(n + 1, 0.6);
        scene_make(&c, geometry_soup(n, 0.6), &b);
        met += check_crossings(&c);
        scene_free(&c);
        scene_make(&c, geometry_soup(n, 0.6), NULL);
        met += check_crossings(&c);
        scene_free(&c);
    }
    ENSURE(met > 100);
    for (int r = 0; r < 4; r++) {   /* solids: apart, touching in a face, overlapping aligned, overlapping */
        scene c;
        double t[3] = {1.5, 0, 0}, R[9];
        test_mesh a = geometry_box_surface(2, 2, 2, 1, 1, 1), b = geometry_box_surface(3, 3, 3, 1, 1, 1);
        t[0] = r == 0 ? 1.5 : r == 1 ? 1 : 0.5;
        embi_m3_identity(R);
        if (r == 3) geometry_rotation(R);
        geometry_move(&b, 1, R, t);
        scene_make(&c, a, &b);
        met = check_crossings(&c);
        ENSURE(r == 0 ? met == 0 : met > 0);
        scene_free(&c);
    }
    {   /* a sphere is free of crossings with itself; with a vertex pulled through the other side it is not */
        scene c;
        test_mesh a = geometry_icosphere(2);
        scene_make(&c, a, NULL);
        ENSURE(check_crossings(&c) == 0);
        for (int k = 0; k < 3; k++) a.x[k] *= -2;
        embi_bvh_refit(&c.a.bvh, a.x, a.tri, a.tri_count);
        ENSURE(check_crossings(&c) > 0);
        scene_free(&c);
    }
}

/* ---- edges inside flat faces ---- */

static int side_points;   /* vertices that are left */

/* leaves out of pairs what is inside flat faces; returns how many edges are left */
static int side_spare(embi_memory *m, side *d, const int *home)
{
    int nt = d->mesh.tri_count, left = 0;
    embi_key *keys = (embi_key *)calloc((size_t)(6 * nt), sizeof *keys);
    unsigned char *used = (unsigned char *)calloc((size_t)d->mesh.vertex_count, 1);
    int *sharp = (int *)calloc((size_t)(3 * d->mesh.vertex_count), sizeof *sharp);
    ENSURE(embi_bvh_build(m, &d->bvh, d->mesh.x, d->mesh.tri, nt, d->mesh.vertex_count, keys, used));
    ENSURE(embi_bvh_spare_flat(m, &d->bvh, d->mesh.x, d->mesh.tri, nt, d->mesh.vertex_count, home, keys, sharp));
    embi_bvh_refit(&d->bvh, d->mesh.x, d->mesh.tri, nt);
    side_points = 0;
    for (int i = 0; i < 3 * nt; i++) {
        unsigned own = d->bvh.own[i / 3];
        int pairs = embi_owned(own, EMBI_OWN_EDGE_PAIRS) >> i % 3 & 1, points = embi_owned(own, EMBI_OWN_POINT_PAIRS) >> i % 3 & 1;
        left += pairs;
        side_points += points;
        ENSURE(pairs <= (embi_owned(own, EMBI_OWN_EDGE) >> i % 3 & 1));
        ENSURE(points <= (embi_owned(own, EMBI_OWN_VERTEX) >> i % 3 & 1));
    }
    free(keys);
    free(used);
    free(sharp);
    return left;
}

/* Of boxes cut into many triangles the twelve sides and eight corners are left, wherever and however large they are;
 * and the candidates that are left tell the distance that all pairs do, when two are near each other. */
static void test_edges_inside_flat_faces(void)
{
    embi_pair_rule rule;
    double still[6] = {0, 0, 0, 0, 0, 0};
    int apart = 0, by_edges = 0;
    memset(&rule, 0, sizeof rule);
    for (int r = 0; r < 200; r++) {
        scene c;
        int n[6], all;
        double R[9], axis[3], t[3], scale = pow(10, test_uniform(-3, 3)), least = HUGE_VAL, found = HUGE_VAL;
        named *near;
        test_mesh a, b;
        for (int k = 0; k < 6; k++) n[k] = 1 + (int)test_uniform(0, 4);
        a = geometry_box_surface(n[0], n[1], n[2], 1, test_uniform(0.5, 2), test_uniform(0.5, 2));
        b = geometry_box_surface(n[3], n[4], n[5], 1, test_uniform(0.5, 2), test_uniform(0.5, 2));
        for (int moved = 0; moved < 2; moved++) {
            for (int k = 0; k < 3; k++) axis[k] = r < 20 ? 0 : test_uniform(-3, 3);   /* at first face to face */
            for (int k = 0; k < 3; k++) t[k] = scale * (moved ? k == 0 ? test_uniform(1.01, 3) : test_uniform(-0.5, 0.5) : 0);
            embi_m3_rotation(R, axis);
            geometry_move(moved ? &b : &a, scale, R, t);
        }
        scene_make(&c, a, &b);
        if (check_crossings(&c) > 0) {
            scene_free(&c);
            continue;
        }
        apart++;
        ENSURE(side_spare(&c.m, &c.a, NULL) == 4 * (n[0] + n[1] + n[2]));
        ENSURE(side_points == 8);
        ENSURE(side_spare(&c.m, &c.b, NULL) == 4 * (n[3] + n[4] + n[5]));
        all = all_pairs(&c, a.x, b.x, 9 * scale, &near);
        for (int k = 0; k < all; k++) least = fmin(least, near[k].d);
        rule.dhat = 1.1 * least;
        scene_find(&c, still, &rule);
        for (int k = 0; k < c.count; k++)
            if (c.list[k].apart < found) {
                found = c.list[k].apart;
                by_edges += c.list[k].edge_edge;
            }
        ENSURE(fabs(found - least) < 1e-13 * scale);
        free(near);
        scene_free(&c);
    }
    ENSURE(apart > 60 && by_edges > 20);
}

/* What is not flat, folds over itself, or may be bent keeps its edges. */
static void test_edges_that_are_not_flat(void)
{
    scene c;
    test_mesh sheet = geometry_sheet(4, 3, 4, 3);
    int *home = (int *)calloc((size_t)sheet.vertex_count, sizeof *home), all, border = 14;
    scene_make(&c, geometry_icosphere(2), NULL);
    ENSURE(side_spare(&c.m, &c.a, NULL) == c.a.edges && side_points == c.a.mesh.vertex_count);
    scene_free(&c);
    scene_make(&c, sheet, NULL);
    all = c.a.edges;
    ENSURE(side_spare(&c.m, &c.a, NULL) == border && border < all && side_points == 4);
    for (int i = 0; i < sheet.vertex_count; i++) home[i] = i;   /* a part each */
    ENSURE(side_spare(&c.m, &c.a, home) == all && side_points == c.a.mesh.vertex_count);
    for (int i = 0; i < sheet.vertex_count; i++) home[i] = sheet.x[3 * i] > 1.5;   /* two: from x = 1 to 2 it may bend */
    ENSURE(side_spare(&c.m, &c.a, home) == border + 2 + 3 + 3 + 3);   /* edges across, diagonals, both borders of that */
    for (int i = 0; i < sheet.vertex_count; i++)   /* bent by an angle of 1e-9 along x = 2 */
        sheet.x[3 * i + 2] = 1e-9 * fmax(0, sheet.x[3 * i] - 2);
    ENSURE(side_spare(&c.m, &c.a, NULL) == border + 3);
    for (int i = 0; i < sheet.vertex_count; i++) {   /* folded flat on itself there */
        sheet.x[3 * i + 2] = 0;
        sheet.x[3 * i] = fmin(sheet.x[3 * i], 4 - sheet.x[3 * i]);
    }
    ENSURE(side_spare(&c.m, &c.a, NULL) == border + 3);
    free(home);
    scene_free(&c);
}

/* The library that tests share has the values of the header where a test sets none: see small.h. */
static void test_values_of_users(void)
{
#ifdef EMBIPC_INSIDE
    extern int test_share, test_fit_leaves, test_patch_leaves, test_without;
    ENSURE(test_fit_leaves == EMBI_FIT_LEAVES);
    ENSURE(test_patch_leaves == EMBI_PATCH_LEAVES && EMBI_SHARE(1000) == 1000 && test_share == 1);
    ENSURE(test_without == EMBIPC_WITHOUT);
#endif
}

/* Beside an edge of a triangle: what is `reach` away is near, by the last bits too. */
static void test_parts_near(void)
{
    int lost = 0;
    for (int n = 0; n < 60000 / TEST_SKIP; n++) {
        int k = n % 3;   /* the edge */
        double x[12], size = pow(10, test_uniform(-3, 3)), s = test_random(), reach[2];
        const double *a = x + 3 + 3 * k, *b = x + 3 + 3 * ((k + 1) % 3);
        long double rr = 0, re = 0, ee = 0;
        embi_point p[4];
        for (int c = 3; c < 12; c++) x[c] = test_uniform(-size, size) + (c % 3 == 0 ? 10 * size : 0);
        for (int c = 0; c < 4; c++) p[c] = x + 3 * c;
        for (int i = 0; i < 3; i++) {
            long double r, e = (long double)b[i] - a[i];
            x[i] = a[i] + s * (b[i] - a[i]) + test_uniform(-0.1, 0.1) * size;
            r = (long double)x[i] - a[i];
            rr += r * r;
            re += r * e;
            ee += e * e;
        }
        if (ee < 0.01L * size * size) continue;
        reach[0] = nextafter((double)sqrtl(rr - re * re / ee), HUGE_VAL);
        reach[1] = nextafter((double)sqrtl(rr), HUGE_VAL);
        lost += !(embi_parts_near(p, reach[0]) >> k & 1) || !(embi_parts_near(p, reach[1]) >> (3 + k) & 1);
    }
    ENSURE(lost == 0);
}

/* |J_a - J_b|_1 of two vertices is never too small, and too large by rounding only. Rows of four nodes or of one, in any order,
 * some of them shared. */
static void test_rows_differ(void)
{
    double most = 0;
    for (int n = 0; n < 20000; n++) {
        int node[8];
        double weight[8], all[16] = {0}, sum = 0, got;
        unsigned char count[2];
        embi_rows J;
        J.node = node;
        J.weight = weight;
        J.count = count;
        for (int v = 0; v < 2; v++) {
            int first = (int)(test_random() * 8), same = v && n % 3 == 0;   /* the same tet, in the same order */
            double whole = 0;
            count[v] = n % 5 == v ? 1 : 4;
            for (int i = 0; i < 4; i++) {
                node[4 * v + i] = same ? node[i] : (first + i * (1 + 2 * (n % 2))) % 16;
                weight[4 * v + i] = i < count[v] ? test_random() : 0;
                whole += weight[4 * v + i];
            }
            for (int i = 0; i < count[v]; i++) {
                weight[4 * v + i] /= whole;
                all[node[4 * v + i]] += v ? -weight[4 * v + i] : weight[4 * v + i];
            }
        }
        for (int i = 0; i < 16; i++) sum += fabs(all[i]);
        got = embi_row_difference(&J, 0, 1);
        ENSURE(got >= sum - 4 * EMBI_EPS && embi_row_difference(&J, 0, 0) == 0);
        most = fmax(most, got - sum);
    }
    ENSURE(most < 64 * EMBI_EPS);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(rows_differ);
    RUN(values_of_users);
    RUN(parts_near);
    RUN(trees);
    RUN(coincident_triangles);
    RUN(candidates_soup);
    RUN(candidates_solids);
    RUN(candidates_sheets);
    RUN(candidates_self);
    RUN(planes_between_paths);
    RUN(candidates_along_paths);
    RUN(ways_across);
    RUN(rest_clamp);
    RUN(crossings);
    RUN(edges_inside_flat_faces);
    RUN(edges_that_are_not_flat);
    return test_end("test_broad");
}
