/* Embedding: weights, point location, integrals of the solid tet by tet. */
#include "inside.h"
#include "cage_test.h"

/* tet i of a cage as 12 numbers */
static void corners(double X[12], const test_mesh *cage, int t)
{
    embi_tet_gather(X, cage->x, cage->tets + 4 * t);
}

/* |a - b| over the three coordinates */
static double gap3(const double *a, const double *b)
{
    return fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]);
}

static void test_weights_reproduce_points(void)
{
    for (int trial = 0; trial < 2000; trial++) {
        double X[12], p[3], w[4], r[3], y[3], R[9], turn[3], far = trial % 2 ? 1000.0 : 0.0;
        double flat = trial % 3 == 0 ? 1e-7 : 1;   /* slender tets, turned anyhow */
        for (int k = 0; k < 3; k++) turn[k] = test_uniform(-2, 2);
        embi_m3_rotation(R, turn);
        for (int i = 0; i < 5; i++) {
            for (int k = 0; k < 3; k++) y[k] = test_uniform(-1, 1) * (k == 2 ? flat : 1);
            embi_m3_mulv(i < 4 ? X + 3 * i : p, R, y);
            for (int k = 0; k < 3; k++) (i < 4 ? X + 3 * i : p)[k] += far;
        }
        if (fabs(embi_tet_det(X, X + 3, X + 6, X + 9)) < 0.1 * flat) continue;
        ENSURE(embi_tet_weights(X, p, w));
        ENSURE_CLOSE(w[0] + w[1] + w[2] + w[3], 1, 1e-13);
        embi_tet_residual(r, X, w, p);
        ENSURE(embi_norm(r) <= 1e-14 * (1 + far));
    }
    {
        double X[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}, p[3] = {0, 0, 0}, w[4];
        ENSURE(!embi_tet_weights(X, p, w));
    }
}

/* a cage of n^3 cells of six tets over [lo, hi], inner nodes shaken so that nothing is aligned */
static test_mesh make_cage(int n, double lo, double hi, double shake)
{
    test_mesh c = test_mesh_tet_grid(n, n, n);
    for (int i = 0; i < c.vertex_count; i++)
        for (int k = 0; k < 3; k++) {
            double g = c.x[3 * i + k], inner = g > 0 && g < n;
            c.x[3 * i + k] = lo + (hi - lo) / n * (g + inner * test_uniform(-shake, shake));
        }
    return c;
}

/* the identities every embedding must satisfy */
static void check_embedding(const test_mesh *cage, const test_mesh *s, const int *tet, const double *w)
{
    double A[9], b[3];
    for (int k = 0; k < 9; k++) A[k] = test_uniform(-2, 2);
    for (int k = 0; k < 3; k++) b[k] = test_uniform(-2, 2);
    for (int i = 0; i < s->vertex_count; i++) {
        double X[12], r[3] = {0, 0, 0}, moved[3] = {0, 0, 0}, want[3];
        const double *p = s->x + 3 * i, *wi = w + 4 * i;
        ENSURE(tet[i] >= 0 && tet[i] < cage->tet_count);
        corners(X, cage, tet[i]);
        ENSURE_CLOSE(wi[0] + wi[1] + wi[2] + wi[3], 1, 1e-14);
        for (int j = 0; j < 4; j++) {
            double q[3];
            ENSURE(wi[j] >= -1e-9);
            embi_axpy(r, wi[j], X + 3 * j);
            embi_m3_mulv(q, A, X + 3 * j);
            embi_add(q, q, b);
            embi_axpy(moved, wi[j], q);
        }
        ENSURE(gap3(r, p) <= 1e-12 * (1 + embi_norm(p)));
        embi_m3_mulv(want, A, p);
        embi_add(want, want, b);
        ENSURE(gap3(moved, want) <= 1e-11 * (1 + embi_norm(want)));
    }
}

static embipc_result embed(const test_mesh *cage, const test_mesh *s, int *tet, double *w, embipc_error *e)
{
    embi_memory m;
    embipc_result r;
    embi_memory_init(&m, NULL);
    r = embi_embed(&m, cage->x, cage->vertex_count, cage->tets, cage->tet_count, s->x, s->vertex_count, 0, tet,
                   w, e);
    ENSURE(m.bytes == 0);
    return r;
}

static embipc_result integrate(const test_mesh *cage, const test_mesh *s, double *volume, double *moment,
                               embipc_error *e)
{
    embi_memory m;
    embipc_result r;
    embi_memory_init(&m, NULL);
    r = embi_cage_integrals(&m, cage->x, cage->tets, cage->tet_count, s->x, s->vertex_count, s->tri,
                            s->tri_count, volume, moment, e);
    ENSURE(m.bytes == 0);
    return r;
}

static void test_embed_sphere_in_cages(void)
{
    test_mesh s = test_mesh_sphere(3);
    int *tet = (int *)malloc((size_t)s.vertex_count * sizeof *tet);
    double *w = (double *)malloc((size_t)(4 * s.vertex_count) * sizeof *w);
    for (int n = 1; n < 6; n++) {
        test_mesh cage = make_cage(n, -1.1, 1.2, n % 2 ? 0.0 : 0.2);
        embipc_error e;
        ENSURE(embed(&cage, &s, tet, w, &e) == EMBIPC_OK);
        check_embedding(&cage, &s, tet, w);
        test_mesh_free(&cage);
    }
    free(tet);
    free(w);
    test_mesh_free(&s);
}

/* vertices on faces, edges and nodes of the cage, and the deepest tet is taken */
static void test_embed_on_the_boundary(void)
{
    test_mesh s = test_mesh_box(0, 0, 0, 2, 2, 2), cage = make_cage(2, 0, 2, 0);
    int tet[8];
    double w[32];
    embipc_error e;
    ENSURE(embed(&cage, &s, tet, w, &e) == EMBIPC_OK);
    check_embedding(&cage, &s, tet, w);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) s.x[3 * i + k] = 0.1 + 0.9 * s.x[3 * i + k];   /* on inner faces */
    ENSURE(embed(&cage, &s, tet, w, &e) == EMBIPC_OK);
    check_embedding(&cage, &s, tet, w);
    for (int i = 0; i < 8; i++) {   /* a hair beside an inner face: in the tet on its side */
        embi_set(s.x + 3 * i, 1 + (i % 2 ? 3e-10 : -3e-10), test_uniform(0.2, 1.8), test_uniform(0.2, 1.8));
    }
    ENSURE(embed(&cage, &s, tet, w, &e) == EMBIPC_OK);
    for (int i = 0; i < 8; i++) ENSURE(embi_min4(w + 4 * i) >= 0);
    for (int i = 0; i < 8; i++) {   /* no tet holds it deeper */
        double best = -1;
        for (int t = 0; t < cage.tet_count; t++) {
            double X[12], c[4];
            corners(X, &cage, t);
            ENSURE(embi_tet_weights(X, s.x + 3 * i, c));
            best = fmax(best, embi_min4(c));
        }
        ENSURE_CLOSE(embi_min4(w + 4 * i), best, 1e-15);
    }
    test_mesh_free(&s);
    test_mesh_free(&cage);
}

static void test_embed_outside_is_told(void)
{
    test_mesh s = test_mesh_box(0, 0, 0, 1, 1, 1), cage = make_cage(3, -0.5, 1.5, 0.1);
    int tet[8];
    double w[32];
    embipc_error e;
    s.x[3 * 6] = 1.75;
    ENSURE(embed(&cage, &s, tet, w, &e) == EMBIPC_ERR_OUTSIDE);
    ENSURE(e.code == EMBIPC_ERR_OUTSIDE && e.primitive[0] == EMBIPC_VERTEX && e.index[0] == 6);
    ENSURE(e.value[0] > 0.05 && e.value[0] <= 0.25 + 1e-12);   /* a lower bound of the distance */
    ENSURE(strstr(e.text, "vertex 6") != NULL);
    s.x[3 * 6] = 1.5 + 1e-6;   /* a little is too much as well */
    ENSURE(embed(&cage, &s, tet, w, &e) == EMBIPC_ERR_OUTSIDE);
    s.x[3 * 6] = 1.5;
    ENSURE(embed(&cage, &s, tet, w, &e) == EMBIPC_OK);
    test_mesh_free(&s);
    test_mesh_free(&cage);
}

static void test_moment_full(void)
{
    double m[10], sum = 0;
    embi_tet_moment_full(20, m);
    for (int i = 0; i < 16; i++) sum += m[embi_moment_index[i]];
    ENSURE_CLOSE(sum, 20, 1e-13);
    ENSURE_CLOSE(m[0], 2, 0);
    ENSURE_CLOSE(m[1], 1, 0);
    ENSURE_CLOSE(m[9], 2, 0);
}

/* volume, first and second moments of the solid from the tets' integrals, against the surface's own */
static void check_totals(const test_mesh *cage, const test_mesh *s, const double *volume,
                         const double *moment, double tol)
{
    embipc_solid want;
    double v = 0, first[3] = {0, 0, 0}, second[9] = {0}, reach2 = 0, least = 0;
    ENSURE(embipc_mass_properties(s->x, s->vertex_count, s->tri, s->tri_count, &want) == EMBIPC_OK);
    for (int t = 0; t < cage->tet_count; t++) {
        const double *m = moment + 10 * t;
        double X[12], sum = 0, A[16], V[16];
        corners(X, cage, t);
        for (int i = 0; i < 4; i++) embi_sub(X + 3 * i, X + 3 * i, want.centroid);
        v += volume[t];
        ENSURE(volume[t] >= 0);
        for (int i = 0; i < 16; i++) {
            double mij = A[i] = m[embi_moment_index[i]];
            sum += mij;
            for (int k = 0; k < 3; k++) {
                first[k] += mij * X[3 * (i / 4) + k];
                for (int l = 0; l < 3; l++)
                    second[3 * k + l] += mij * X[3 * (i / 4) + k] * X[3 * (i % 4) + l];
            }
        }
        ENSURE_CLOSE(sum, volume[t], 1e-11 * want.volume);   /* sum of the weights is 1 */
        embi_eigen_symmetric(4, A, V);
        for (int i = 0; i < 4; i++) least = fmin(least, A[5 * i]);
    }
    ENSURE(least >= -1e-18 * want.volume);
    for (int i = 0; i < s->vertex_count; i++) {
        double d[3];
        embi_sub(d, s->x + 3 * i, want.centroid);
        reach2 = fmax(reach2, embi_dot(d, d));
    }
    ENSURE_REL(v, want.volume, 1e-9);
    for (int k = 0; k < 3; k++) ENSURE_CLOSE(first[k], 0, tol * want.volume * sqrt(reach2));
    for (int k = 0; k < 9; k++) ENSURE_CLOSE(second[k], want.second[k], tol * want.volume * reach2);
}

static void test_integrals_on_random_cages(void)
{
    for (int trial = 0; trial < 12; trial++) {
        test_mesh s = trial % 3 == 0 ? test_mesh_box(-0.7, -0.5, -0.9, 0.8, 0.9, 0.6)
                                     : test_mesh_sphere(trial % 3);
        test_mesh cage = make_cage(1 + trial % 5, -1.05, 1.1, 0.3);
        double *v = (double *)malloc((size_t)cage.tet_count * sizeof *v);
        double *m = (double *)malloc((size_t)(10 * cage.tet_count) * sizeof *m);
        embipc_error e;
        if (trial >= 6) {   /* bent, and far away */
            for (int i = 0; i < s.vertex_count; i++) s.x[3 * i] *= 1 - 0.3 * s.x[3 * i + 1] * s.x[3 * i + 1];
            for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] += 100;
            for (int i = 0; i < 3 * cage.vertex_count; i++) cage.x[i] += 100;
        }
        ENSURE(integrate(&cage, &s, v, m, &e) == EMBIPC_OK);
        check_totals(&cage, &s, v, m, 1e-9);
        free(v);
        free(m);
        test_mesh_free(&s);
        test_mesh_free(&cage);
    }
}

/* every tet of a cage is filled by the solid that is the cage's own boundary */
static void test_integrals_of_a_full_cage(void)
{
    test_mesh cage = make_cage(3, -1, 1, 0.2), s = test_mesh_make(cage.vertex_count, 0, 0);
    double *v = (double *)malloc((size_t)cage.tet_count * sizeof *v);
    double *m = (double *)malloc((size_t)(10 * cage.tet_count) * sizeof *m);
    embipc_error e;
    free(s.tri);
    s.tri = (int *)malloc((size_t)(12 * cage.tet_count) * sizeof(int));
    s.tri_count = embipc_tets_boundary(cage.tets, cage.tet_count, s.tri, 4 * cage.tet_count);
    memcpy(s.x, cage.x, (size_t)(3 * cage.vertex_count) * sizeof(double));
    test_mesh_compact(&s);
    ENSURE(integrate(&cage, &s, v, m, &e) == EMBIPC_OK);
    for (int t = 0; t < cage.tet_count; t++) {
        double X[12], V, full[10];
        corners(X, &cage, t);
        V = embi_tet_det(X, X + 3, X + 6, X + 9) / 6;
        embi_tet_moment_full(V, full);
        ENSURE_REL(v[t], V, 1e-11);
        for (int i = 0; i < 10; i++) ENSURE_CLOSE(m[10 * t + i], full[i], 1e-11 * V);
    }
    free(v);
    free(m);
    test_mesh_free(&s);
    test_mesh_free(&cage);
}

/* one tet, half of it solid: against numbers worked out by hand */
static void test_integrals_by_hand(void)
{
    /* unit corner tet; solid = its part with w1 >= 1/2, the tet scaled by 1/2 at node 1 */
    test_mesh cage = test_mesh_make(4, 0, 1), s = test_mesh_make(4, 4, 0);
    static const double X[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double Y[12] = {0.5, 0, 0, 1, 0, 0, 0.5, 0.5, 0, 0.5, 0, 0.5};
    static const int f[12] = {1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1};
    double v[1], m[10], V = 1.0 / 48;
    embipc_error e;
    memcpy(cage.x, X, sizeof X);
    memcpy(s.x, Y, sizeof Y);
    memcpy(s.tri, f, sizeof f);
    for (int i = 0; i < 4; i++) cage.tets[i] = i;
    ENSURE(integrate(&cage, &s, v, m, &e) == EMBIPC_OK);
    ENSURE_REL(v[0], V, 1e-14);
    /* w1 = 1/2 + u1/2, w_i = u_i/2 with u the coordinates of the half tet */
    ENSURE_REL(m[4], V * (0.25 + 0.5 * 0.25 + 0.25 * 0.1), 1e-14);
    ENSURE_REL(m[0], V * 0.25 * 0.1, 1e-14);
    ENSURE_REL(m[1], V * (0.25 * 0.25 + 0.25 * 0.05), 1e-14);
    ENSURE_REL(m[8], V * 0.25 * 0.05, 1e-14);
    test_mesh_free(&cage);
    test_mesh_free(&s);
}

/* solids that stick out between their vertices, and cages that overlap, are refused */
static void test_integrals_refuse(void)
{
    test_mesh s = test_mesh_box(-1, -1, -1, 1, 1, 1), cage = make_cage(2, -1.1, 1.1, 0);
    double v[60], m[600];
    embipc_error e;
    for (int i = 0; i < cage.vertex_count; i++)   /* a dent in the middle of one face */
        if (cage.x[3 * i] > 1 && fabs(cage.x[3 * i + 1]) < 0.1 && fabs(cage.x[3 * i + 2]) < 0.1)
            cage.x[3 * i] = 0.5;
    {
        int tet[8];
        double w[32];
        ENSURE(embed(&cage, &s, tet, w, &e) == EMBIPC_OK);   /* no vertex sticks out */
    }
    ENSURE(integrate(&cage, &s, v, m, &e) == EMBIPC_ERR_OUTSIDE);
    ENSURE(e.value[0] > 0.1 && strstr(e.text, "sticks out") != NULL);
    for (int i = 0; i < cage.vertex_count; i++)   /* a small one is made up for by scaling */
        if (cage.x[3 * i] == 0.5) cage.x[3 * i] = 0.97;
    {
        embi_memory m0;
        double held, sum = 0;
        embi_memory_init(&m0, NULL);
        held = embi_solid_in_tets(&m0, cage.x, cage.tets, cage.tet_count, s.x, s.vertex_count, s.tri, s.tri_count,
                                  v, m);
        ENSURE(held < 8 - 1e-5 && held > 8 - 1e-2);
        ENSURE(integrate(&cage, &s, v, m, &e) == EMBIPC_OK);
        for (int t = 0; t < cage.tet_count; t++) sum += v[t];
        ENSURE_CLOSE(sum, 8, 1e-12);
    }
    test_mesh_free(&cage);
    cage = make_cage(2, -1.1, 1.1, 0);
    {
        test_mesh twice = test_mesh_make(cage.vertex_count, 0, cage.tet_count + 1);
        memcpy(twice.x, cage.x, (size_t)(3 * cage.vertex_count) * sizeof(double));
        memcpy(twice.tets, cage.tets, (size_t)(4 * cage.tet_count) * sizeof(int));
        memcpy(twice.tets + 4 * cage.tet_count, cage.tets, 4 * sizeof(int));
        ENSURE(integrate(&twice, &s, v, m, &e) == EMBIPC_ERR_MANIFOLD);
        test_mesh_free(&twice);
    }
    test_mesh_free(&cage);
    test_mesh_free(&s);
}

/* DATA: the bear in its three cages, some of its vertices exactly on their faces */
static void test_teddy_in_its_cages(void)
{
    static const char *const name[3] = {"scenes/teddy_embed_low.msh", "scenes/teddy_embed_medium.msh",
                                        "scenes/teddy_embed_medium_safe.msh"};
    test_mesh s;
    int *tet;
    double *w;
    if (!test_data("")) SKIP("no DATA");
    s = test_mesh_read(test_data("scenes/teddy.obj"));
    ENSURE(s.vertex_count == 312 && s.tri_count == 620);
    tet = (int *)malloc((size_t)s.vertex_count * sizeof *tet);
    w = (double *)malloc((size_t)(4 * s.vertex_count) * sizeof *w);
    for (int i = 0; i < 3; i++) {
        test_mesh cage = test_mesh_read(test_data(name[i]));
        double *v = (double *)malloc((size_t)cage.tet_count * sizeof *v);
        double *m = (double *)malloc((size_t)(10 * cage.tet_count) * sizeof *m);
        embipc_error e;
        ENSURE(embipc_tets_check(cage.x, cage.vertex_count, cage.tets, cage.tet_count, &e) == EMBIPC_OK);
        ENSURE(embed(&cage, &s, tet, w, &e) == EMBIPC_OK);
        check_embedding(&cage, &s, tet, w);
        ENSURE(integrate(&cage, &s, v, m, &e) == EMBIPC_OK);
        check_totals(&cage, &s, v, m, 1e-3);   /* they cut up to 6e-4 of it off */
        free(v);
        free(m);
        test_mesh_free(&cage);
    }
    free(tet);
    free(w);
    test_mesh_free(&s);
}

/* ---- Cages that would tear a triangle ---- */

/* Makes a cage body; returns what that gives, and where. */
static embipc_result hang(const test_mesh *s, const test_mesh *cage, embipc_error *e)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = embipc_default_body_def();
    embipc_world *w;
    embipc_body b;
    embipc_result r;
    ENSURE(embipc_world_create(&wd, &w, NULL) == EMBIPC_OK);
    d.kind = EMBIPC_CAGE;
    test_mesh_shape(s, &d);
    d.cage_x = cage->x;
    d.cage_node_count = cage->vertex_count;
    d.cage_tets = cage->tets;
    d.cage_tet_count = cage->tet_count;
    r = embipc_body_create(w, &d, &b);
    *e = *embipc_world_error(w);
    embipc_world_destroy(w);
    return r;
}

/* Gives the tets on the high side of x = at, whose middle is above z = from, nodes of their own in that plane: a slit down
 * to there. */
static void cut_slit(test_mesh *cage, double at, double from)
{
    int n = cage->vertex_count, *twin = (int *)malloc((size_t)n * sizeof *twin);
    double *x = (double *)calloc((size_t)(6 * n), sizeof *x);
    memcpy(x, cage->x, (size_t)(3 * n) * sizeof *x);
    for (int i = 0; i < n; i++) {
        int doubled = fabs(x[3 * i] - at) < 1e-12 && x[3 * i + 2] > from + 1e-12;
        twin[i] = doubled ? cage->vertex_count : i;
        if (doubled) memcpy(x + 3 * cage->vertex_count++, x + 3 * i, 3 * sizeof *x);
    }
    for (int t = 0; t < cage->tet_count; t++) {
        double middle = 0;
        for (int i = 0; i < 4; i++) middle += x[3 * cage->tets[4 * t + i]] / 4;
        for (int i = 0; i < 4 && middle > at; i++) cage->tets[4 * t + i] = twin[cage->tets[4 * t + i]];
    }
    free(cage->x);
    free(twin);
    cage->x = x;
}

static void test_no_triangle_is_torn(void)
{
    static const double low[5] = {0.2, 1.2, 0.2, 0.2, 1.2}, high[5] = {0.8, 1.8, 1.8, 1.8, 1.8};
    static const double from[5] = {1, 1, 1, 2, -1};
    static const embipc_result want[5] = {EMBIPC_OK, EMBIPC_ERR_MANIFOLD, EMBIPC_ERR_MANIFOLD, EMBIPC_OK, EMBIPC_ERR_MANIFOLD};
    for (int k = 0; k < 5; k++)
        for (int n = 1; n < 4; n++)
            for (int away = 0; away < 2; away++) {
                test_mesh cage = test_mesh_tet_grid(2 * n, n, 2 * n), s = test_mesh_box(0.3, 0.2, low[k], 1.7, 0.8, high[k]);
                embipc_error e;
                embipc_result r;
                for (int i = 0; i < 3 * cage.vertex_count; i++) cage.x[i] /= n;
                cut_slit(&cage, 1, from[k]);
                for (int i = 0; i < 3 * cage.vertex_count; i++) cage.x[i] += 1e6 * away;
                for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] += 1e6 * away;
                r = hang(&s, &cage, &e);
                ENSURE(r == want[k]);
                if (r != want[k]) printf("  %d %d: %s\n", k, n, r == EMBIPC_OK ? "taken" : e.text);
                if (r != EMBIPC_OK) ENSURE(e.primitive[0] == EMBIPC_TRIANGLE && e.index[0] >= 0 && e.index[0] < 12);
                test_mesh_free(&cage);
                test_mesh_free(&s);
            }
}

static int on_the_diagonal(int i, int j, int k) { return i == j && j == k; }

/* Two cubes that share a vertex, each in tets of its own: torn, unless the tets share the node there. */
static void test_a_shared_vertex_in_two_cages(void)
{
    for (int shared = 0; shared < 2; shared++) {
        test_mesh cage = cage_shape_of_cells(2, 2, 2, 1, on_the_diagonal), s = cage_surface(&cage, NULL);
        int n = cage.vertex_count, corner = -1;
        double *x = (double *)calloc((size_t)(3 * n + 3), sizeof *x);
        embipc_error e;
        for (int i = 0; i < n; i++)
            if (cage.x[3 * i] == 1 && cage.x[3 * i + 1] == 1 && cage.x[3 * i + 2] == 1) corner = i;
        memcpy(x, cage.x, (size_t)(3 * n) * sizeof *x);
        memcpy(x + 3 * n, x + 3 * corner, 3 * sizeof *x);
        for (int t = 0; t < cage.tet_count && !shared; t++) {
            double middle = 0;
            for (int i = 0; i < 4; i++) middle += x[3 * cage.tets[4 * t + i]] / 4;
            for (int i = 0; i < 4 && middle > 1; i++)
                if (cage.tets[4 * t + i] == corner) cage.tets[4 * t + i] = n;
        }
        free(cage.x);
        cage.x = x;
        cage.vertex_count = n + !shared;
        ENSURE(hang(&s, &cage, &e) == (shared ? EMBIPC_OK : EMBIPC_ERR_MANIFOLD));
        test_mesh_free(&cage);
        test_mesh_free(&s);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(weights_reproduce_points);
    RUN(embed_sphere_in_cages);
    RUN(embed_on_the_boundary);
    RUN(embed_outside_is_told);
    RUN(moment_full);
    RUN(integrals_on_random_cages);
    RUN(integrals_of_a_full_cage);
    RUN(integrals_by_hand);
    RUN(integrals_refuse);
    RUN(teddy_in_its_cages);
    RUN(no_triangle_is_torn);
    RUN(a_shared_vertex_in_two_cages);
    return test_end(__FILE__);
}
