/* Cage builder: containment, shape, node count, symmetry, failures. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include "meshio_test.h"

/* everything that every cage promises */
static void check_cage(const test_mesh *s, const embipc_cage *c)
{
    embi_memory m;
    embipc_error e;
    embipc_solid solid;
    double *w = (double *)malloc((size_t)(4 * s->vertex_count + 4) * sizeof *w), held;
    double *volume = (double *)malloc((size_t)c->tet_count * sizeof *volume), total = 0, worst = 180;
    double *moment = (double *)malloc((size_t)(10 * c->tet_count) * sizeof *moment);
    int *tet = (int *)malloc((size_t)s->vertex_count * sizeof *tet);
    embi_memory_init(&m, NULL);
    ENSURE(c->node_count > 0);
    if (!c->node_count) return;
    ENSURE(embipc_tets_check(c->x, c->node_count, c->tets, c->tet_count, &e) == EMBIPC_OK);
    ENSURE(embi_embed(&m, c->x, c->node_count, c->tets, c->tet_count, s->x, s->vertex_count, tet, w, &e) ==
           EMBIPC_OK);
    for (int i = 0; i < s->vertex_count; i++) {
        double X[12], r[3];
        embi_tet_gather(X, c->x, c->tets + 4 * tet[i]);
        embi_tet_residual(r, X, w + 4 * i, s->x + 3 * i);
        ENSURE(embi_norm(r) <= 1e-12 * (1 + embi_norm(s->x + 3 * i)));
    }
    held = embi_solid_in_tets(&m, c->x, c->tets, c->tet_count, s->x, s->vertex_count, s->tri, s->tri_count,
                              volume, moment);
    embi_solid(&solid, s->x, s->vertex_count, s->tri, s->tri_count);
    ENSURE_REL(held, solid.volume, 1e-8);   /* nothing sticks out, nothing is held twice */
    for (int t = 0; t < c->tet_count; t++) {
        double X[12];
        embi_tet_gather(X, c->x, c->tets + 4 * t);
        ENSURE(volume[t] > 0);   /* none carries nothing */
        total += embi_tet_det(X, X + 3, X + 6, X + 9) / 6;
        worst = fmin(worst, embi_tet_angle(X));
    }
    ENSURE_REL(c->volume, total, 1e-12);
    ENSURE_REL(c->worst_angle, worst, 1e-12);
    ENSURE(worst >= 10);
    free(w);
    free(volume);
    free(moment);
    free(tet);
}

static embipc_cage build(const test_mesh *s, int nodes, double cell, int tighten)
{
    embipc_cage_def d = embipc_default_cage_def();
    embipc_cage c;
    embipc_error e;
    embipc_result r;
    d.nodes = nodes;
    d.cell_size = cell;
    d.tighten = tighten;
    r = embipc_cage_build(&d, s->x, s->vertex_count, s->tri, s->tri_count, NULL, &c, &e);
    ENSURE(r == EMBIPC_OK);
    if (r != EMBIPC_OK) printf("  %s\n", e.text);
    return c;
}

/* 0 sphere, 1 box, 2 capsule, 3 half ball, 4 two balls, 5 rod at an angle */
static test_mesh shape(int which)
{
    test_mesh s = test_mesh_sphere(3);
    if (which == 1) {
        test_mesh_free(&s);
        return test_mesh_box(0, 0, 0, 2, 1, 1);
    }
    if (which == 2) test_mesh_capsule(&s, 1.5);
    for (int i = 0; i < s.vertex_count; i++) {
        double *p = s.x + 3 * i;
        if (which == 3 && p[2] > 0) p[2] *= 0.05;
        if (which == 4) {
            double k = 0.4 + 0.6 * p[0] * p[0];
            p[0] *= 2;
            p[1] *= k;
            p[2] *= k;
        }
        if (which == 5) {
            double z = 4 * p[2];
            p[2] = 0.8 * z - 0.6 * 0.5 * p[0];
            p[0] = 0.6 * z + 0.8 * 0.5 * p[0];
            p[1] *= 0.5;
        }
    }
    return s;
}

static void test_shapes_at_wished_counts(void)
{
    static const int wish[4] = {6, 14, 34, 120};
    for (int which = 0; which < 6; which++) {
        test_mesh s = shape(which);
        for (int i = 0; i < 4; i++) {
            embipc_cage c = build(&s, wish[i], 0, 1);
            check_cage(&s, &c);
            ENSURE(c.node_count >= 6 && abs(c.node_count - wish[i]) <= (wish[i] < 30 ? 5 : wish[i] / 5));
            ENSURE(c.cell_size > 0);
            embipc_cage_free(&c);
        }
        test_mesh_free(&s);
    }
}

/* as above for the untouched lattice; tightening takes air out and keeps the angles */
static void test_tightening(void)
{
    for (int which = 0; which < 6; which++) {
        test_mesh s = shape(which);
        embipc_cage plain = build(&s, 34, 0, 0), tight = build(&s, 34, 0, 1);
        check_cage(&s, &plain);
        ENSURE_CLOSE(plain.worst_angle, 60, 1e-9);
        ENSURE(plain.node_count == tight.node_count && plain.tet_count == tight.tet_count);
        ENSURE(tight.volume < 0.95 * plain.volume);
        ENSURE(tight.worst_angle >= 25);
        embipc_cage_free(&plain);
        embipc_cage_free(&tight);
        test_mesh_free(&s);
    }
}

/* is there a node at p? */
static int has_node(const embipc_cage *c, const double *p, double tol)
{
    for (int i = 0; i < c->node_count; i++)
        if (fabs(c->x[3 * i] - p[0]) <= tol && fabs(c->x[3 * i + 1] - p[1]) <= tol &&
            fabs(c->x[3 * i + 2] - p[2]) <= tol) return 1;
    return 0;
}

static void test_symmetric_bodies_get_symmetric_cages(void)
{
    for (int which = 0; which < 5; which++) {
        test_mesh s = shape(which);
        for (int tighten = 0; tighten < 2; tighten++)
            for (int nodes = 25; nodes < 60; nodes += 30) {
                embipc_cage c = build(&s, nodes, 0, tighten);
                double lo[3], hi[3];
                embi_box_points(lo, hi, s.x, s.vertex_count);
                for (int k = 0; k < (which == 3 ? 2 : 3); k++)   /* the half ball: not about z */
                    for (int i = 0; i < c.node_count; i++) {
                        double p[3];
                        embi_copy(p, c.x + 3 * i);
                        p[k] = lo[k] + hi[k] - p[k];
                        ENSURE(has_node(&c, p, 1e-9));
                    }
                embipc_cage_free(&c);
            }
        test_mesh_free(&s);
    }
}

static void test_one_tet(void)
{
    static const double most[6] = {3.4, 4.9, 3.5, 2.4, 4.2, 12};   /* tet over solid */
    for (int which = 0; which < 6; which++) {
        test_mesh s = shape(which);
        embipc_cage c = build(&s, 4, 0, 1);
        embipc_solid solid;
        embi_solid(&solid, s.x, s.vertex_count, s.tri, s.tri_count);
        ENSURE(c.node_count == 4 && c.tet_count == 1);
        ENSURE(c.volume / solid.volume < most[which]);
        ENSURE(c.worst_angle >= 20);
        check_cage(&s, &c);
        embipc_cage_free(&c);
        test_mesh_free(&s);
    }
    {   /* a thin plate: the tet stays a decent one */
        test_mesh s = test_mesh_box(0, 0, 0, 1, 1, 0.001);
        embipc_cage c = build(&s, 4, 0, 1);
        ENSURE(c.worst_angle >= 20);
        check_cage(&s, &c);
        embipc_cage_free(&c);
        test_mesh_free(&s);
    }
}

/* far away and at any size: the same cage, moved and scaled */
static void test_scale_and_place_do_not_matter(void)
{
    test_mesh s = shape(4);
    embipc_cage c = build(&s, 34, 0, 1);
    for (int scale = -10; scale <= 10; scale += 5) {
        test_mesh z = shape(4);
        embipc_cage d;
        for (int i = 0; i < 3 * z.vertex_count; i++) z.x[i] = ldexp(z.x[i], scale);
        d = build(&z, 34, 0, 1);
        ENSURE(d.node_count == c.node_count && d.tet_count == c.tet_count);
        ENSURE(!memcmp(d.tets, c.tets, (size_t)(4 * c.tet_count) * sizeof(int)));
        for (int i = 0; i < 3 * c.node_count; i++) ENSURE_CLOSE(ldexp(d.x[i], -scale), c.x[i], 1e-12);
        embipc_cage_free(&d);
        test_mesh_free(&z);
    }
    for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] += 1000;
    {
        embipc_cage d = build(&s, 34, 0, 1);
        check_cage(&s, &d);
        ENSURE(d.node_count == c.node_count);
        embipc_cage_free(&d);
    }
    embipc_cage_free(&c);
    test_mesh_free(&s);
}

static void test_cell_size(void)
{
    test_mesh s = shape(0);
    embipc_cage coarse = build(&s, 0, 1.0, 1), fine = build(&s, 0, 0.5, 1);
    check_cage(&s, &coarse);
    check_cage(&s, &fine);
    ENSURE_CLOSE(coarse.cell_size, 1, 0);
    ENSURE_CLOSE(fine.cell_size, 0.5, 0);
    ENSURE(fine.node_count > 3 * coarse.node_count);
    embipc_cage_free(&coarse);
    embipc_cage_free(&fine);
    test_mesh_free(&s);
}

/* a cavity, and a box whose faces lie exactly in planes of the lattice */
static void test_cavities_and_aligned_faces(void)
{
    test_mesh a = test_mesh_box(0, 0, 0, 4, 4, 4), b = test_mesh_box(1, 1, 1, 3, 3, 3);
    test_mesh s = test_mesh_make(16, 24, 0);
    embipc_cage c;
    memcpy(s.x, a.x, 24 * sizeof(double));
    memcpy(s.x + 24, b.x, 24 * sizeof(double));
    memcpy(s.tri, a.tri, 36 * sizeof(int));
    for (int i = 0; i < 36; i++) s.tri[36 + i] = 8 + b.tri[i % 3 == 0 ? i : i % 3 == 1 ? i + 1 : i - 1];
    for (double h = 0.5; h <= 2; h *= 2) {
        c = build(&s, 0, h, 0);
        check_cage(&s, &c);
        embipc_cage_free(&c);
        c = build(&a, 0, h, 1);
        check_cage(&a, &c);
        embipc_cage_free(&c);
    }
    c = build(&s, 0, 0.25, 0);   /* the cavity stays empty */
    ENSURE(c.volume < 64 - 8 + 120 * 0.25 * 0.6);
    embipc_cage_free(&c);
    test_mesh_free(&a);
    test_mesh_free(&b);
    test_mesh_free(&s);
}

static void test_bad_wishes(void)
{
    test_mesh s = shape(1);
    embipc_cage_def d;
    embipc_cage c;
    embipc_error e;
    memset(&d, 0, sizeof d);
    d.nodes = 34;
    ENSURE(embipc_cage_build(&d, s.x, 8, s.tri, 12, NULL, &c, &e) == EMBIPC_ERR_DEF);
    ENSURE(embipc_cage_build(NULL, s.x, 8, s.tri, 12, NULL, &c, &e) == EMBIPC_ERR_DEF);
    d = embipc_default_cage_def();
    ENSURE(embipc_cage_build(&d, s.x, 8, s.tri, 12, NULL, NULL, &e) == EMBIPC_ERR_ARGUMENT);
    d.nodes = 3;
    ENSURE(embipc_cage_build(&d, s.x, 8, s.tri, 12, NULL, &c, &e) == EMBIPC_ERR_ARGUMENT);
    d.nodes = 34;
    d.cell_size = -1;
    ENSURE(embipc_cage_build(&d, s.x, 8, s.tri, 12, NULL, &c, &e) == EMBIPC_ERR_ARGUMENT);
    d.cell_size = HUGE_VAL;
    ENSURE(embipc_cage_build(&d, s.x, 8, s.tri, 12, NULL, &c, &e) == EMBIPC_ERR_ARGUMENT);
    d.cell_size = 1e-4;
    ENSURE(embipc_cage_build(&d, s.x, 8, s.tri, 12, NULL, &c, &e) == EMBIPC_ERR_ARGUMENT);
    d.cell_size = 1e-300;
    ENSURE(embipc_cage_build(&d, s.x, 8, s.tri, 12, NULL, &c, NULL) == EMBIPC_ERR_ARGUMENT);
    d.cell_size = 0;
    ENSURE(embipc_cage_build(&d, s.x, 8, s.tri, 11, NULL, &c, &e) == EMBIPC_ERR_OPEN);
    ENSURE(c.x == NULL && c.node_count == 0);
    embipc_cage_free(&c);
    embipc_cage_free(NULL);
    test_mesh_free(&s);
}

typedef struct counting { long left, live; } counting;
static void *count_alloc(size_t size, void *ctx)
{
    counting *k = (counting *)ctx;
    if (k->left-- <= 0) return NULL;
    k->live += (long)size;
    return malloc(size);
}
static void count_free(void *p, size_t size, void *ctx)
{
    ((counting *)ctx)->live -= (long)size;
    free(p);
}

/* the n-th allocation fails, for every n: an error, and nothing leaks */
static void test_out_of_memory(void)
{
    test_mesh s = shape(1);
    embipc_cage_def d = embipc_default_cage_def();
    long n;
    d.nodes = 14;
    for (n = 0; n < 10000; n++) {
        counting k = {n, 0};
        embipc_allocator hooks = {count_alloc, count_free, &k};
        embipc_cage c;
        embipc_error e;
        embipc_result r = embipc_cage_build(&d, s.x, s.vertex_count, s.tri, s.tri_count, &hooks, &c, &e);
        if (r == EMBIPC_OK) {
            embipc_cage_free(&c);
            ENSURE(k.live == 0);
            break;
        }
        ENSURE(r == EMBIPC_ERR_MEMORY && e.code == EMBIPC_ERR_MEMORY && k.live == 0 && c.x == NULL);
    }
    ENSURE(n > 20 && n < 10000);
    test_mesh_free(&s);
}

/* DATA: every closed surface of the scenes */
static void test_data_surfaces(void)
{
    static const char *const name[] = {"teddy.obj", "bubble.obj", "dish_rack.obj", "plate_8in.obj",
        "plate_gen.obj", "umi_finger.obj", "wire_rack.obj", "ball.msh", "bowl_evo.msh", "cyl_press_n4.msh", "finray_gen.msh",
        "torus_drake.msh", "allegro/base_link.obj", "allegro/link_2.0.obj", "allegro/link_15.0_tip.obj"};
    if (!test_data("")) SKIP("no DATA");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char path[64];
        test_mesh s;
        embipc_cage c;
        snprintf(path, sizeof path, "scenes/%s", name[i]);
        s = test_mesh_read(test_data(path));
        if (s.tet_count) {
            free(s.tri);
            s.tri = (int *)malloc((size_t)(12 * s.tet_count) * sizeof(int));
            s.tri_count = embipc_tets_boundary(s.tets, s.tet_count, s.tri, 4 * s.tet_count);
            test_mesh_compact(&s);
        }
        c = build(&s, 34, 0, 1);
        check_cage(&s, &c);
        ENSURE(abs(c.node_count - 34) <= 6);
        embipc_cage_free(&c);
        c = build(&s, 4, 0, 1);
        check_cage(&s, &c);
        embipc_cage_free(&c);
        test_mesh_free(&s);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(shapes_at_wished_counts);
    RUN(tightening);
    RUN(symmetric_bodies_get_symmetric_cages);
    RUN(one_tet);
    RUN(scale_and_place_do_not_matter);
    RUN(cell_size);
    RUN(cavities_and_aligned_faces);
    RUN(bad_wishes);
    RUN(out_of_memory);
    RUN(data_surfaces);
    return test_end(__FILE__);
}
