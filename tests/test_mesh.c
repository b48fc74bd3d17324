/* Meshes: sorting, topology, checks, boundary of tet meshes, mass properties. */
#include "inside.h"
#include "meshio_test.h"

static embipc_result check(const test_mesh *s, int closed, embipc_error *e)
{
    memset(e, 0, sizeof *e);
    return embipc_surface_check(s->x, s->vertex_count, s->tri, s->tri_count, closed, e);
}

/* code, primitive and index of the first fault */
static void expect(const test_mesh *s, int closed, embipc_result code, embipc_primitive primitive, int index)
{
    embipc_error e;
    ENSURE(check(s, closed, &e) == code);
    ENSURE(e.code == code);
    ENSURE(e.primitive[0] == primitive);
    ENSURE(e.index[0] == index);
    ENSURE(code == EMBIPC_OK || strlen(e.text) > 10);
    ENSURE(embipc_surface_check(s->x, s->vertex_count, s->tri, s->tri_count, closed, NULL) == code);
}

static test_mesh unit_box(void) { return test_mesh_box(0, 0, 0, 1, 1, 1); }

/* one surface made of two; the second turned over when `flip` */
static test_mesh join(const test_mesh *a, const test_mesh *b, int flip)
{
    test_mesh s = test_mesh_make(a->vertex_count + b->vertex_count, a->tri_count + b->tri_count, 0);
    memcpy(s.x, a->x, (size_t)(3 * a->vertex_count) * sizeof(double));
    memcpy(s.x + 3 * a->vertex_count, b->x, (size_t)(3 * b->vertex_count) * sizeof(double));
    memcpy(s.tri, a->tri, (size_t)(3 * a->tri_count) * sizeof(int));
    for (int t = 0; t < b->tri_count; t++)
        for (int i = 0; i < 3; i++)
            s.tri[3 * (a->tri_count + t) + i] = a->vertex_count + b->tri[3 * t + (flip ? 2 - i : i)];
    return s;
}

static void test_sort_is_stable(void)
{
    enum { N = 3000 };
    static embi_key a[2 * N];   /* the second half is scratch */
    for (int n = 20; n <= N; n += 596) {
        for (int i = 0; i < n; i++) {
            a[i].key = embi_pack((int)test_uniform(0, n < 24 ? 2 : 20), (int)test_uniform(0, 5))
                       << (n % 2 ? 9 : 0);
            a[i].value = i;
        }
        embi_sort_keys(a, n);
        for (int i = 1; i < n; i++) {
            ENSURE(a[i - 1].key <= a[i].key);
            ENSURE(a[i - 1].key < a[i].key || a[i - 1].value < a[i].value);
        }
        for (int i = 0; i < n; i++) {
            int at = embi_lower_bound(a, n, a[i].key);
            ENSURE(a[at].key == a[i].key && (at == 0 || a[at - 1].key < a[i].key));
        }
    }
}

static void check_topology(const test_mesh *s, int genus)
{
    int *seen = (int *)calloc((size_t)s->tri_count, sizeof *seen);
    int count = embipc_surface_edges(s->tri, s->tri_count, NULL, NULL, 0);
    int *edge = (int *)calloc((size_t)(4 * count), sizeof *edge), *edge_tri = edge + 2 * count;
    ENSURE(embipc_surface_edges(s->tri, s->tri_count, edge, edge_tri, count) == count);
    ENSURE(2 * count == 3 * s->tri_count);
    ENSURE(s->vertex_count - count + s->tri_count == 2 - 2 * genus);   /* Euler */
    for (int e = 0; e < count; e++) {
        const int *v = edge + 2 * e, *f = edge_tri + 2 * e;
        ENSURE(v[0] < v[1]);
        ENSURE(e == 0 || v[-2] < v[0] || (v[-2] == v[0] && v[-1] < v[1]));
        ENSURE(f[0] >= 0 && f[0] < f[1] && f[1] < s->tri_count);
        for (int k = 0; k < 2; k++) {
            const int *q = s->tri + 3 * f[k];
            ENSURE((q[0] == v[0]) + (q[1] == v[0]) + (q[2] == v[0]) == 1);
            ENSURE((q[0] == v[1]) + (q[1] == v[1]) + (q[2] == v[1]) == 1);
            seen[f[k]]++;
        }
    }
    for (int i = 0; i < s->tri_count; i++) ENSURE(seen[i] == 3);
    free(edge);
    free(seen);
}

static void test_topology(void)
{
    test_mesh s = unit_box();
    check_topology(&s, 0);
    test_mesh_free(&s);
    s = test_mesh_sphere(3);
    check_topology(&s, 0);
    test_mesh_free(&s);
    {   /* one triangle off: its three edges have one triangle left */
        int border = 0, edge[36], edge_tri[36];
        s = unit_box();
        ENSURE(embipc_surface_edges(s.tri, 11, edge, edge_tri, 18) == 18);
        for (int e = 0; e < 18; e++) border += edge_tri[2 * e + 1] == -1;
        ENSURE(border == 3);
        test_mesh_free(&s);
    }
}

static void test_good_surfaces(void)
{
    test_mesh a = unit_box(), b = test_mesh_box(0.2, 0.2, 0.2, 0.8, 0.8, 0.8);
    test_mesh c = test_mesh_box(2, 0, 0, 3, 1, 1), s = join(&a, &b, 1);
    expect(&s, 1, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);   /* a hollow box */
    test_mesh_free(&s);
    s = join(&b, &a, 0);
    for (int t = 0; t < 12; t++) {   /* the same, cavity first */
        int v = s.tri[3 * t];
        s.tri[3 * t] = s.tri[3 * t + 1];
        s.tri[3 * t + 1] = v;
    }
    expect(&s, 1, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
    test_mesh_free(&s);
    s = join(&a, &c, 0);
    expect(&s, 1, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
    test_mesh_free(&s);
    s = join(&a, &c, 1);   /* turned over, and no cavity */
    expect(&s, 1, EMBIPC_ERR_ORIENTATION, EMBIPC_TRIANGLE, 12);
    expect(&s, 0, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
    test_mesh_free(&s);
    test_mesh_free(&a);
    test_mesh_free(&b);
    test_mesh_free(&c);
}

/* two tets that meet in one vertex only: two fans, allowed */
static void test_two_fans_at_a_vertex(void)
{
    static const double x[21] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1};
    static const int f[24] = {1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1, 4, 6, 5, 0, 5, 6, 0, 6, 4, 0, 4, 5};
    test_mesh s = test_mesh_make(7, 8, 0);
    memcpy(s.x, x, sizeof x);
    memcpy(s.tri, f, sizeof f);
    expect(&s, 1, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
    test_mesh_free(&s);
}

static void test_surface_errors(void)
{
    test_mesh s = unit_box();
    expect(&s, 1, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
    ENSURE(embipc_surface_check(NULL, 8, s.tri, 12, 1, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_surface_check(s.x, 8, NULL, 12, 1, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_surface_check(s.x, -1, s.tri, 12, 1, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_surface_check(s.x, 8, s.tri, 0, 1, NULL) == EMBIPC_ERR_ARGUMENT);
    s.x[3 * 6 + 1] = HUGE_VAL;
    expect(&s, 0, EMBIPC_ERR_NOT_FINITE, EMBIPC_VERTEX, 6);
    s.x[3 * 6 + 1] = HUGE_VAL - HUGE_VAL;
    expect(&s, 1, EMBIPC_ERR_NOT_FINITE, EMBIPC_VERTEX, 6);
    s.x[3 * 6 + 1] = 1;
    s.tri[3 * 7 + 2] = 8;
    expect(&s, 0, EMBIPC_ERR_INDEX, EMBIPC_TRIANGLE, 7);
    s.tri[3 * 7 + 2] = -1;
    expect(&s, 0, EMBIPC_ERR_INDEX, EMBIPC_TRIANGLE, 7);
    s.tri[3 * 7 + 2] = s.tri[3 * 7];
    expect(&s, 0, EMBIPC_ERR_MANIFOLD, EMBIPC_TRIANGLE, 7);
    test_mesh_free(&s);

    s = unit_box();   /* open */
    s.tri_count = 11;
    expect(&s, 0, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
    {
        embipc_error e;
        ENSURE(check(&s, 1, &e) == EMBIPC_ERR_OPEN && e.primitive[0] == EMBIPC_EDGE);
        ENSURE(e.index[0] >= 0 && e.index[0] < 33);
    }
    s.tri_count = 2;   /* only 0, 1, 2, 3 in use */
    expect(&s, 0, EMBIPC_ERR_MANIFOLD, EMBIPC_VERTEX, 4);
    test_mesh_free(&s);

    s = unit_box();   /* one triangle, then all, turned over */
    s.tri[3 * 4] = 5;
    s.tri[3 * 4 + 1] = 1;
    s.tri[3 * 4 + 2] = 0;
    {
        embipc_error e;
        ENSURE(check(&s, 1, &e) == EMBIPC_ERR_ORIENTATION && e.primitive[0] == EMBIPC_EDGE);
        ENSURE(check(&s, 0, &e) == EMBIPC_OK);
    }
    test_mesh_free(&s);
    s = unit_box();
    for (int t = 0; t < 12; t++) {
        int v = s.tri[3 * t];
        s.tri[3 * t] = s.tri[3 * t + 1];
        s.tri[3 * t + 1] = v;
    }
    expect(&s, 1, EMBIPC_ERR_ORIENTATION, EMBIPC_TRIANGLE, 0);
    {
        embipc_error e;
        (void)check(&s, 1, &e);
        ENSURE(strstr(e.text, "flip") != NULL);
        ENSURE_CLOSE(e.value[0], -1, 1e-14);
    }
    test_mesh_free(&s);
}

static void test_degenerate_surfaces(void)
{
    for (int scale = -9; scale <= 9; scale += 9) {   /* relative tests: the same at every size */
        double k = pow(10.0, scale);
        test_mesh s = test_mesh_make(5, 6, 0);   /* two tets on a triangle; the lower tip moves */
        static const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 1, 0.2, 0.2, -1};
        static const int f[18] = {0, 1, 3, 1, 2, 3, 2, 0, 3, 1, 0, 4, 2, 1, 4, 0, 2, 4};
        for (int i = 0; i < 15; i++) s.x[i] = k * x[i];
        memcpy(s.tri, f, sizeof f);
        expect(&s, 1, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
        s.x[14] = s.x[11] - 1e-14 * k;   /* no volume left, triangles fine */
        expect(&s, 1, EMBIPC_ERR_DEGENERATE, EMBIPC_TRIANGLE, 0);
        s.x[14] = s.x[11] - 1e-9 * k;
        expect(&s, 1, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
        s.x[12] = 0.5 * k;   /* the lower tip on the edge 0-1: triangle 3 has no area */
        s.x[13] = s.x[14] = 0;
        expect(&s, 0, EMBIPC_ERR_DEGENERATE, EMBIPC_TRIANGLE, 3);
        s.x[13] = -1e-14 * k;
        expect(&s, 0, EMBIPC_ERR_DEGENERATE, EMBIPC_TRIANGLE, 3);
        s.x[13] = -1e-9 * k;
        expect(&s, 0, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
        test_mesh_free(&s);
    }
}

static void test_non_manifold_surfaces(void)
{
    test_mesh s = test_mesh_make(9, 13, 0), b = unit_box();
    memcpy(s.x, b.x, 24 * sizeof(double));
    memcpy(s.tri, b.tri, 36 * sizeof(int));
    s.x[24] = 2;
    s.x[25] = s.x[26] = 0.5;
    s.tri[36] = 1;
    s.tri[37] = 5;
    s.tri[38] = 8;   /* a fin on the edge 1-5 */
    expect(&s, 1, EMBIPC_ERR_MANIFOLD, EMBIPC_EDGE, 36);
    expect(&s, 0, EMBIPC_ERR_MANIFOLD, EMBIPC_EDGE, 36);
    s.vertex_count = 8;
    s.tri[36] = b.tri[16];   /* triangle 5 once more, from another corner */
    s.tri[37] = b.tri[17];
    s.tri[38] = b.tri[15];
    expect(&s, 1, EMBIPC_ERR_MANIFOLD, EMBIPC_TRIANGLE, 12);
    s.tri[36] = b.tri[17];   /* and turned over */
    s.tri[37] = b.tri[16];
    expect(&s, 1, EMBIPC_ERR_MANIFOLD, EMBIPC_TRIANGLE, 12);
    test_mesh_free(&s);
    test_mesh_free(&b);
}

static void expect_tets(const test_mesh *s, embipc_result code, embipc_primitive primitive, int index)
{
    embipc_error e;
    memset(&e, 0, sizeof e);
    ENSURE(embipc_tets_check(s->x, s->vertex_count, s->tets, s->tet_count, &e) == code);
    ENSURE(e.code == code && e.primitive[0] == primitive && e.index[0] == index);
    ENSURE(code == EMBIPC_OK || strlen(e.text) > 10);
}

static void test_tet_errors(void)
{
    test_mesh s = test_mesh_tet_grid(2, 1, 1);
    int *t3 = s.tets + 12, keep[4];
    expect_tets(&s, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
    memcpy(keep, t3, sizeof keep);
    t3[2] = 12;
    expect_tets(&s, EMBIPC_ERR_INDEX, EMBIPC_TET, 3);
    t3[2] = t3[0];
    expect_tets(&s, EMBIPC_ERR_MANIFOLD, EMBIPC_TET, 3);
    memcpy(t3, keep, sizeof keep);
    t3[0] = keep[1];
    t3[1] = keep[0];
    expect_tets(&s, EMBIPC_ERR_DEGENERATE, EMBIPC_TET, 3);
    memcpy(t3, keep, sizeof keep);
    s.x[5] = HUGE_VAL;
    expect_tets(&s, EMBIPC_ERR_NOT_FINITE, EMBIPC_NODE, 1);
    s.x[5] = 1;
    memcpy(t3, s.tets, sizeof keep);   /* tet 0 once more: a face with three */
    expect_tets(&s, EMBIPC_ERR_MANIFOLD, EMBIPC_TET, 3);
    memcpy(t3, keep, sizeof keep);
    s.tet_count = 6;   /* the second cell's nodes are idle */
    expect_tets(&s, EMBIPC_ERR_MANIFOLD, EMBIPC_NODE, 8);
    test_mesh_free(&s);
    {   /* flat, at every size; and two tets on the same side of a face */
        static const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.3, 0.3, 1, 0.1, 0.1, 0.5};
        s = test_mesh_make(5, 0, 2);
        for (int i = 0; i < 4; i++) s.tets[i] = i;
        for (int scale = -9; scale <= 9; scale += 9) {
            for (int i = 0; i < 15; i++) s.x[i] = pow(10.0, scale) * x[i];
            s.vertex_count = 4;
            s.tet_count = 1;
            expect_tets(&s, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
            s.x[11] *= 1e-13;
            expect_tets(&s, EMBIPC_ERR_DEGENERATE, EMBIPC_TET, 0);
            s.x[11] *= 1e5;
            expect_tets(&s, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
        }
        s.vertex_count = 5;
        s.tet_count = 2;
        s.tets[5] = 1;
        s.tets[6] = 2;
        s.tets[7] = 4;
        expect_tets(&s, EMBIPC_ERR_MANIFOLD, EMBIPC_TET, 1);
        test_mesh_free(&s);
    }
}

static void test_boundary(void)
{
    test_mesh s = test_mesh_tet_grid(3, 2, 4), b;
    embipc_solid solid;
    embipc_error e;
    int n = embipc_tets_boundary(s.tets, s.tet_count, NULL, 0);
    ENSURE(n == 4 * (3 * 2 + 2 * 4 + 3 * 4));
    b = test_mesh_make(s.vertex_count, n, 0);
    memcpy(b.x, s.x, (size_t)(3 * s.vertex_count) * sizeof(double));
    b.tri[3 * (n - 1)] = -7;
    ENSURE(embipc_tets_boundary(s.tets, s.tet_count, b.tri, n - 1) == n);   /* writes no more than it may */
    ENSURE(b.tri[3 * (n - 1)] == -7 && b.tri[3 * (n - 1) - 1] >= 0);
    ENSURE(embipc_tets_boundary(s.tets, s.tet_count, b.tri, n) == n);
    test_mesh_compact(&b);
    ENSURE(b.vertex_count == 4 * 3 * 5 - 2 * 1 * 3);
    ENSURE(check(&b, 1, &e) == EMBIPC_OK);
    check_topology(&b, 0);
    ENSURE(embipc_mass_properties(b.x, b.vertex_count, b.tri, b.tri_count, &solid) == EMBIPC_OK);
    ENSURE_CLOSE(solid.volume, 24, 1e-12);
    ENSURE(embipc_tets_boundary(NULL, 1, NULL, 0) == -1);
    ENSURE(embipc_tets_boundary(s.tets, -1, NULL, 0) == -1);
    test_mesh_free(&s);
    test_mesh_free(&b);
}

static void test_mass_of_box(void)
{
    for (int trial = 0; trial < 2; trial++) {
        double far = trial ? 1048576.0 : 0.0, a = 0.5, b = 1.25, c = 2.0;
        test_mesh s = test_mesh_box(far, far - a, far, far + a, far - a + b, far + c);
        embipc_solid m;
        ENSURE(embipc_mass_properties(s.x, s.vertex_count, s.tri, s.tri_count, &m) == EMBIPC_OK);
        ENSURE_REL(m.volume, a * b * c, 1e-15);
        ENSURE_REL(m.centroid[0], far + a / 2, 1e-15);
        ENSURE_CLOSE(m.centroid[1], far - a + b / 2, 1e-15 * (1 + far));
        ENSURE_REL(m.centroid[2], far + c / 2, 1e-15);
        for (int k = 0; k < 9; k++) {   /* V side^2 / 12 */
            double side = k == 0 ? a : k == 4 ? b : k == 8 ? c : 0;
            ENSURE_CLOSE(m.second[k], a * b * c * side * side / 12, 1e-15);
        }
        test_mesh_free(&s);
    }
}

static void test_mass_of_tet(void)
{
    static const double x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int f[12] = {1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1};
    embipc_solid m;
    ENSURE(embipc_mass_properties(x, 4, f, 4, &m) == EMBIPC_OK);
    ENSURE_REL(m.volume, 1.0 / 6, 1e-15);
    for (int k = 0; k < 3; k++) ENSURE_REL(m.centroid[k], 0.25, 1e-15);
    for (int k = 0; k < 9; k++)   /* integral of x^2 is 1/60, of xy 1/120; minus V/16 */
        ENSURE_CLOSE(m.second[k], (k % 4 == 0 ? 1.0 / 60 : 1.0 / 120) - 1.0 / 96, 1e-17);
    ENSURE(embipc_mass_properties(x, 3, f, 4, &m) == EMBIPC_ERR_INDEX);
    ENSURE(embipc_mass_properties(x, 4, f, 4, NULL) == EMBIPC_ERR_ARGUMENT);
}

/* inscribed polyhedra converge to the ball with the square of the edge; a shift of 2^20 changes nothing */
static void test_mass_of_sphere(void)
{
    double error[4], pi = 3.14159265358979323846;
    for (int level = 1; level < 5; level++) {
        test_mesh s = test_mesh_sphere(level);
        embipc_solid m, far;
        for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] = ldexp(floor(ldexp(s.x[i], 30) + 0.5), -30);
        ENSURE(embipc_mass_properties(s.x, s.vertex_count, s.tri, s.tri_count, &m) == EMBIPC_OK);
        error[level - 1] = fabs(m.volume - 4 * pi / 3);
        if (level > 2) ENSURE_CLOSE(error[level - 2] / error[level - 1], 4, 0.3);
        for (int k = 0; k < 3; k++) ENSURE_CLOSE(m.centroid[k], 0, 1e-9);
        if (level == 4) ENSURE_REL(m.second[0], 4 * pi / 15, 0.03);
        for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] += 1048576.0;   /* exact */
        ENSURE(embipc_mass_properties(s.x, s.vertex_count, s.tri, s.tri_count, &far) == EMBIPC_OK);
        ENSURE_REL(far.volume, m.volume, 1e-14);
        for (int k = 0; k < 9; k++) ENSURE_CLOSE(far.second[k], m.second[k], 1e-14);
        test_mesh_free(&s);
    }
}

static void test_winding(void)
{
    test_mesh s = test_mesh_sphere(2);
    for (int i = 0; i < 200; i++) {
        double p[3], r;
        for (int k = 0; k < 3; k++) p[k] = test_uniform(-1.5, 1.5);
        r = embi_norm(p);
        if (r > 0.9 && r < 1.0) continue;   /* between the faces and the sphere */
        ENSURE_CLOSE(embi_winding(p, s.x, s.tri, s.tri_count), r < 1 ? 1 : 0, 1e-12);
    }
    test_mesh_free(&s);
}

/* DATA: what the file list says of every scene and fixture */
static void test_data_meshes(void)
{
    static const char *const good[] = {"scenes/teddy.obj", "scenes/bubble.obj", "scenes/dish_rack.obj",
        "scenes/wire_rack.obj", "scenes/umi_finger.obj", "scenes/plate_8in.obj", "fixtures/icosphere_3.obj"};
    static const char *const tets[] = {"scenes/teddy.msh", "scenes/bubble.msh", "scenes/bowl_evo.msh",
        "scenes/umi_finger.msh", "scenes/teddy_embed_low.msh", "scenes/teddy_embed_medium.msh",
        "scenes/ball.msh"};
    static const struct { const char *name; embipc_result code; } bad[] = {
        {"bad/degenerate_tri.obj", EMBIPC_ERR_MANIFOLD}, {"bad/index_zero.obj", EMBIPC_ERR_INDEX},
        {"bad/index_out_of_range.obj", EMBIPC_ERR_INDEX}, {"bad/inf_vertex.obj", EMBIPC_ERR_NOT_FINITE},
        {"bad/inside_out_cube.obj", EMBIPC_ERR_ORIENTATION},
        {"bad/mixed_orientation.obj", EMBIPC_ERR_ORIENTATION},
        {"bad/nonmanifold_edge.obj", EMBIPC_ERR_MANIFOLD}, {"bad/open_cube.obj", EMBIPC_ERR_OPEN},
        {"bad/zero_area_collinear.obj", EMBIPC_ERR_DEGENERATE}, {"bad/no_faces.obj", EMBIPC_ERR_ARGUMENT},
        {"bad/huge_coords.obj", EMBIPC_OK}, {"bad/tiny_coords.obj", EMBIPC_OK}};
    embipc_error e;
    if (!test_data("")) SKIP("no DATA");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        test_mesh s = test_mesh_read(test_data(good[i]));
        ENSURE(s.tri_count > 0 && check(&s, 1, &e) == EMBIPC_OK);
        test_mesh_free(&s);
    }
    for (size_t i = 0; i < sizeof tets / sizeof *tets; i++) {
        test_mesh s = test_mesh_read(test_data(tets[i]));
        expect_tets(&s, EMBIPC_OK, EMBIPC_NO_PRIMITIVE, 0);
        test_mesh_free(&s);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_mesh s = test_mesh_read(test_data(bad[i].name));
        ENSURE(check(&s, 1, &e) == bad[i].code);
        test_mesh_free(&s);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(sort_is_stable);
    RUN(topology);
    RUN(good_surfaces);
    RUN(two_fans_at_a_vertex);
    RUN(surface_errors);
    RUN(degenerate_surfaces);
    RUN(non_manifold_surfaces);
    RUN(tet_errors);
    RUN(boundary);
    RUN(mass_of_box);
    RUN(mass_of_tet);
    RUN(mass_of_sphere);
    RUN(winding);
    RUN(data_meshes);
    return test_end(__FILE__);
}
