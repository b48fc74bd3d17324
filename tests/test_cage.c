/* Cage builder: containment, shape, node count, symmetry, failures. */
#include "inside.h"
#include "cage_test.h"
#include <time.h>

/* everything that every cage promises; and the volumes once more by the other way, that of chapter "Solid inside each tet":
 * tets that lie on each other together hold what is in their place */
static int check_parts = 1;   /* 0: parts cross, so that what is one is not clear */

/* Do the tets match as a mesh, without the nodes that only cells have? */
static int tets_match(const embipc_cage *c)
{
    int n = 0, *map = (int *)malloc((size_t)(c->node_count + 4 * c->tet_count) * sizeof(int)), *tets = map + c->node_count, ok;
    double *x = (double *)malloc((size_t)(3 * c->node_count) * sizeof(double));
    for (int i = 0; i < c->node_count; i++) map[i] = -1;
    for (int i = 0; i < 4 * c->tet_count; i++) {
        int *to = map + c->tets[i];
        if (*to < 0) {
            *to = n++;
            embi_copy(x + 3 * *to, c->x + 3 * c->tets[i]);
        }
        tets[i] = *to;
    }
    ok = embipc_tets_check(x, n, tets, c->tet_count, NULL) == EMBIPC_OK;
    free(map);
    free(x);
    return ok;
}

static void check_cage(const test_mesh *s, const embipc_cage *c)
{
    embi_memory m;
    const char *fault = c->node_count > 0 ? cage_fault(s, c) : "no cage";
    double *volume = (double *)malloc((size_t)(c->tet_count + 1) * sizeof *volume);
    double *moments = (double *)malloc((size_t)(10 * c->tet_count + 1) * sizeof *moments);
    embi_memory_init(&m, NULL);
    if (fault) printf("  %s\n", fault);
    ENSURE(!fault);
    ENSURE(cage_components(c) == c->parts || c->tet_count == 1 || !check_parts);
    ENSURE(c->copies > 0 || tets_match(c) || c->parts > 1);
    if (c->cell_count > 0) {
        ENSURE(embi_solid_in_tets(&m, c->x, c->tets, c->tet_count, s->x, s->vertex_count, s->tri, s->tri_count,
                                  volume, moments) > 0);
        for (int t = 0; t < c->tet_count; t++) {
            double X[12], Y[12], sum = 0, whole;
            embi_tet_gather(X, c->x, c->tets + 4 * t);
            for (int u = 0; u < c->tet_count; u++) {
                embi_tet_gather(Y, c->x, c->tets + 4 * u);
                if (!memcmp(X, Y, sizeof X)) sum += c->tet_volume[u];
            }
            whole = embi_tet_det(X, X + 3, X + 6, X + 9) / 6;
            ENSURE_CLOSE(sum, volume[t], 1e-9 * whole);
        }
    }
    free(volume);
    free(moments);
}

static int build_split = 1;   /* embipc_cage_def.duplicate of the builds to come */

static embipc_cage build(const test_mesh *s, int nodes, double cell)
{
    embipc_cage_def d = embipc_default_cage_def();
    embipc_cage c;
    embipc_error e;
    embipc_result r;
    d.nodes = nodes;
    d.cell_size = cell;
    d.duplicate = build_split;
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
    for (int which = 0; which < 6; which += TEST_STRIDE) {
        test_mesh s = shape(which);
        for (int i = 0; i < 4; i++) {
            embipc_cage c = build(&s, wish[i], 0);
            check_cage(&s, &c);
            ENSURE(c.node_count >= 6 && abs(c.node_count - wish[i]) <= (wish[i] < 30 ? 5 : wish[i] / 5));
            ENSURE(c.cell_count > 0);
            embipc_cage_free(&c);
        }
        test_mesh_free(&s);
    }
}

/* Few nodes, met within a fifth: 8 of a box is the least. */
static void test_small_wishes_are_met(void)
{
    for (int which = 0; which < 8; which += TEST_STRIDE) {
        test_mesh s = test_mesh_box(0, 0, 0, 1, 1 + 0.1 * (which % 4), 1 + 0.5 * which);
        for (int wish = 7; wish < 16; wish++) {
            embipc_cage c = build(&s, wish, 0);
            ENSURE(5 * abs(c.node_count - wish) <= wish);
            check_cage(&s, &c);
            embipc_cage_free(&c);
        }
        test_mesh_free(&s);
    }
}

/* A box is filled by its cells, whatever its sides, and however it stands: the lattice finds its axes. */
static void test_boxes_fit(void)
{
    static const int wish[4] = {8, 34, 100, 300};
    static const double side[3][3] = {{2, 1, 0.5}, {10, 1, 0.8}, {3, 2, 0.05}};
    for (int which = 0; which < 3; which++)
        for (int i = 0; i < 4; i++)
            for (int turned = 0; turned < 2; turned++) {
                test_mesh s = test_mesh_box(0, 0, 0, side[which][0], side[which][1], side[which][2]);
                double volume = side[which][0] * side[which][1] * side[which][2], R[9];
                embipc_cage c;
                long nodes = 1, cells = 1;
                geometry_rotation(R);
                if (turned) geometry_move(&s, 1, R, NULL);
                c = build(&s, wish[i], 0);
                check_cage(&s, &c);
                for (int k = 0; k < 3; k++) {
                    double least = 1e300, n;
                    for (int j = 0; j < 3; j++) {
                        n = side[which][j] / c.cell_size[k];
                        if (fabs(n - floor(n + 0.5)) < least) least = fabs(n - floor(n + 0.5));
                    }
                    ENSURE(least < 0.2);
                }
                for (int k = 0; k < 3 && !turned; k++) {
                    nodes *= lround(side[which][k] / c.cell_size[k]) + 1;
                    cells *= lround(side[which][k] / c.cell_size[k]);
                }
                if (!turned) ENSURE(c.node_count == nodes && c.cell_count == cells && c.tet_count == 6 * cells);
                ENSURE_REL(c.volume, volume, 2e-2);
                ENSURE(c.copies == 0 && 5 * abs(c.node_count - wish[i]) <= wish[i]);
                embipc_cage_free(&c);
                test_mesh_free(&s);
            }
}

/* Parts of the surface that lie in planes of the lattice: cells are full on one side of them, and there are none on the
 * other side. */
static int in_corner(int i, int j, int k) { return i < 1 || j < 1 || k < 1; }

static void test_surface_in_planes_of_the_lattice(void)
{
    for (int which = 0; which < 4; which++) {
        test_mesh solid = which < 2 ? cage_comb() : cage_shape_of_cells(2, 2, 2, 0.01, in_corner);
        test_mesh s = cage_surface(&solid, NULL);
        embipc_cage c;
        double R[9];
        geometry_rotation(R);
        if (which == 1) geometry_move(&s, 1, R, NULL);
        c = build(&s, 0, which < 3 ? 0.01 : 0.005);
        check_cage(&s, &c);
        ENSURE(c.cell_count == solid.tet_count / 6 * (which < 3 ? 1 : 8) && cage_least_fill(&c) > 1 - 1e-7);
        embipc_cage_free(&c);
        c = build(&s, 8, 0);   /* all in one box: what a tet holds in pieces is one within the cell */
        check_cage(&s, &c);
        ENSURE(c.node_count == 8 && c.tet_count == 6 && c.copies == 0);
        embipc_cage_free(&c);
        test_mesh_free(&solid);
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
    for (int which = 0; which < 5; which += TEST_STRIDE) {
        test_mesh s = shape(which);
        for (int nodes = 25; nodes < 60; nodes += 30) {
            embipc_cage c = build(&s, nodes, 0);
            double box[6];
            embi_box_points(box, s.x, s.vertex_count);
            for (int k = 0; k < (which == 3 ? 2 : 3); k++)   /* the half ball: not about z */
                for (int i = 0; i < c.node_count; i++) {
                    double p[3];
                    embi_copy(p, c.x + 3 * i);
                    p[k] = box[k] + box[3 + k] - p[k];
                    ENSURE(has_node(&c, p, 1e-9));
                }
            embipc_cage_free(&c);
        }
        test_mesh_free(&s);
    }
}

/* error of cells for cubic displacements, with the penalties for the number of nodes and for odd numbers of boxes */
static double cubic_error(const embipc_cage *c)
{
    double sum = 0, odd = 1;
    for (int k = 0; k < 3; k++) {
        double axis[3], least = HUGE_VAL, most = -HUGE_VAL;
        int n;
        embi_sub(axis, c->x + 3 * c->cells[1 << k], c->x + 3 * c->cells[0]);
        for (int i = 0; i < c->node_count; i++) {
            least = fmin(least, embi_dot(axis, c->x + 3 * i));
            most = fmax(most, embi_dot(axis, c->x + 3 * i));
        }
        n = (int)((most - least) / embi_dot(axis, axis) + 0.5);
        if (n > 1 && n % 2) odd *= 2;
        sum += pow(c->cell_size[k], 4);
    }
    return odd * sum * pow(c->node_count, 4.0 / 3);
}

/* Of the lattices that come as near to the wished number of nodes none has better cells than the one that is taken, or
 * hardly. */
static void test_bends_like_the_best_lattice(void)
{
    static const int wish[3] = {24, 65, 150};
    double worst = 0;
    for (int which = 0; which < 8; which += TEST_STRIDE) {
        test_mesh solid = which == 6 ? cage_comb() : which == 7 ? cage_finray() : test_mesh_make(0, 0, 0);
        test_mesh s = which < 6 ? shape(which) : cage_surface(&solid, NULL);
        for (int i = 0; i < 3; i++) {
            embipc_cage c = build(&s, wish[i], 0);
            double taken = cubic_error(&c), best = taken, side = pow(c.cell_size[0] * c.cell_size[1] * c.cell_size[2], 1.0 / 3);
            for (double h = 0.6 * side; h < 1.7 * side; h *= 1.05) {
                embipc_cage d = build(&s, 0, h);
                if (abs(d.node_count - wish[i]) <= abs(c.node_count - wish[i])) best = fmin(best, cubic_error(&d));
                embipc_cage_free(&d);
            }
            worst = fmax(worst, taken / best);
            embipc_cage_free(&c);
        }
        test_mesh_free(&s);
        test_mesh_free(&solid);
    }
    printf("  at most %.3f times the error of the best lattice\n", worst);
    ENSURE(worst < 1.04);
}

/* A box with a slot whose end is exactly in its middle, where a node of the symmetric lattice would touch it: the
 * cage is moved along the axis about which the body is not symmetric anyway. */
static void test_symmetry_survives_a_node_on_the_surface(void)
{
    static const double side[14] = {-1, -1, 1, -1, 1, 1, 0.5, 1, 0, 0, -0.5, 1, -1, 1};   /* x, z */
    static const int cap[15] = {0, 1, 4, 1, 2, 3, 1, 3, 4, 0, 4, 5, 0, 5, 6};
    test_mesh s = test_mesh_make(14, 24, 0);
    for (int i = 0; i < 14; i++) embi_set(s.x + 3 * i, side[2 * (i % 7)], i < 7 ? -0.6 : 0.6, side[2 * (i % 7) + 1]);
    for (int i = 0; i < 7; i++) {
        int j = (i + 1) % 7, *t = s.tri + 6 * i;
        t[0] = t[3] = j; t[1] = i; t[2] = t[4] = 7 + i; t[5] = 7 + j;
    }
    for (int i = 0; i < 15; i++) {
        s.tri[42 + i] = cap[i];
        s.tri[57 + i] = 7 + cap[i - i % 3 + 2 - i % 3];
    }
    for (int nodes = 34; nodes < 120; nodes += 40) {
        embipc_cage c = build(&s, nodes, 0);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < c.node_count; i++) {
                double p[3];
                embi_copy(p, c.x + 3 * i);
                p[k] = -p[k];
                ENSURE(has_node(&c, p, 1e-9));
            }
        embipc_cage_free(&c);
    }
    test_mesh_free(&s);
}

/* copies included: a comb is symmetric about x and y */
static void test_a_comb_gets_a_symmetric_cage(void)
{
    test_mesh solid = cage_comb(), s = cage_surface(&solid, NULL);
    embipc_cage c = build(&s, 100, 0);
    double box[6];
    embi_box_points(box, s.x, s.vertex_count);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < c.node_count; i++) {
            double p[3], q[3];
            int here = 0, there = 0;
            embi_copy(p, c.x + 3 * i);
            embi_copy(q, p);
            q[k] = box[k] + box[3 + k] - q[k];
            for (int j = 0; j < c.node_count; j++) {
                double d[3], e[3];
                embi_sub(d, c.x + 3 * j, p);
                embi_sub(e, c.x + 3 * j, q);
                here += embi_norm(d) < 1e-9;
                there += embi_norm(e) < 1e-9;
            }
            ENSURE(here == there);
        }
    ENSURE(c.copies > 0);
    embipc_cage_free(&c);
    test_mesh_free(&solid);
    test_mesh_free(&s);
}

static void test_one_tet(void)
{
    static const double most[6] = {3.4, 4.9, 3.5, 2.4, 4.2, 12};   /* tet over solid */
    for (int which = 0; which < 6; which++) {
        test_mesh s = shape(which);
        embipc_cage c = build(&s, 4, 0);
        embipc_solid solid;
        double X[12];
        embi_solid(&solid, s.x, s.vertex_count, s.tri, s.tri_count);
        ENSURE(c.node_count == 4 && c.tet_count == 1);
        ENSURE(c.volume / solid.volume < most[which]);
        embi_tet_gather(X, c.x, c.tets);
        ENSURE(cage_angle(X) >= 20);
        check_cage(&s, &c);
        embipc_cage_free(&c);
        test_mesh_free(&s);
    }
    {   /* a thin plate: the tet stays a decent one */
        test_mesh s = test_mesh_box(0, 0, 0, 1, 1, 0.001);
        double X[12];
        embipc_cage c = build(&s, 4, 0);
        embi_tet_gather(X, c.x, c.tets);
        ENSURE(cage_angle(X) >= 20);
        check_cage(&s, &c);
        embipc_cage_free(&c);
        test_mesh_free(&s);
    }
}

/* far away and at any size: the same cage, moved and scaled */
static void test_scale_and_place_do_not_matter(void)
{
    test_mesh s = shape(4);
    embipc_cage c = build(&s, 34, 0);
    for (int scale = -10; scale <= 10; scale += 5 * TEST_STRIDE) {
        test_mesh z = shape(4);
        embipc_cage d;
        for (int i = 0; i < 3 * z.vertex_count; i++) z.x[i] = ldexp(z.x[i], scale);
        d = build(&z, 34, 0);
        ENSURE(d.node_count == c.node_count && d.tet_count == c.tet_count);
        ENSURE(!memcmp(d.tets, c.tets, (size_t)(4 * c.tet_count) * sizeof(int)));
        for (int i = 0; i < 3 * c.node_count; i++) ENSURE_CLOSE(ldexp(d.x[i], -scale), c.x[i], 1e-12);
        embipc_cage_free(&d);
        test_mesh_free(&z);
    }
    for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] += 1000;
    {
        embipc_cage d = build(&s, 34, 0);
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
    embipc_cage coarse = build(&s, 0, 1.0), fine = build(&s, 0, 0.5);
    check_cage(&s, &coarse);
    check_cage(&s, &fine);
    for (int k = 0; k < 3; k++) {
        ENSURE_CLOSE(coarse.cell_size[k], 1, 2e-6);
        ENSURE_CLOSE(fine.cell_size[k], 0.5, 1e-6);
    }
    ENSURE(fine.node_count > 3 * coarse.node_count);
    embipc_cage_free(&coarse);
    embipc_cage_free(&fine);
    test_mesh_free(&s);
}

/* Chapter "Solid inside each tet" finds the solid in given tets along the cones of the triangles: the same as trying every
 * tet with every triangle, and much faster. */
static void test_solid_in_many_tets(void)
{
    test_mesh s = test_mesh_sphere(4), g = geometry_box_tets(12, 12, 12, 2.1, 2.1, 2.1);
    int n = g.tet_count;
    double *volume = (double *)calloc((size_t)(22 * n), sizeof(double)), *moment = volume + n;
    double *all = moment + 10 * n, *all_moment = all + n, box[6];
    clock_t fast = clock(), slow;
    embi_cone_walk w;
    embi_memory m;
    embi_memory_init(&m, NULL);
    for (int i = 0; i < 3 * g.vertex_count; i++) g.x[i] -= 1.03;
    ENSURE_REL(embi_solid_in_tets(&m, g.x, g.tets, n, s.x, s.vertex_count, s.tri, s.tri_count, volume, moment), 4.18,
               1e-2);
    fast = clock() - fast;
    slow = clock();
    memset(&w, 0, sizeof w);
    w.x = s.x;
    w.tri = s.tri;
    w.volume = all;
    w.moment = all_moment;
    embi_box_points(box, s.x, s.vertex_count);
    for (int k = 0; k < 3; k++) w.o[k] = box[k] + (box[3 + k] - box[k]) / 2;
    w.b = (embi_barycentric *)embi_alloc(&m, n, sizeof *w.b);
    w.gross = (double *)embi_alloc(&m, n, sizeof *w.gross);
    ENSURE(w.b && w.gross);
    for (int t = 0; t < n; t += TEST_SKIP) {
        double corner[12];
        embi_tet_gather(corner, g.x, g.tets + 4 * t);
        ENSURE(embi_barycentric_init(&w.b[t], corner));
        for (int i = 0; i < s.tri_count; i++) embi_cone_in_tet(&w, i, t);
        ENSURE_CLOSE(volume[t], all[t], 1e-15);
        for (int i = 0; i < 10; i++) ENSURE_CLOSE(moment[10 * t + i], all_moment[10 * t + i], 1e-15);
    }
    embi_free(&m, w.b);
    embi_free(&m, w.gross);
    slow = TEST_SKIP * (clock() - slow);
    printf("  %d tets, %d triangles: %.1f times as fast as every tet with every triangle\n", n, s.tri_count,
           (double)slow / (double)fast);
    ENSURE(slow > 3 * fast);
    free(volume);
    test_mesh_free(&s);
    test_mesh_free(&g);
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
    for (double h = TEST_STRIDE > 1 ? 1 : 0.5; h <= 2; h *= 2) {
        c = build(&s, 0, h);
        check_cage(&s, &c);
        embipc_cage_free(&c);
        c = build(&a, 0, h);
        check_cage(&a, &c);
        embipc_cage_free(&c);
    }
    c = build(&s, 0, 0.25);   /* the cavity stays empty */
    ENSURE(c.volume < 64 - 8 + 120 * 0.25 * 0.6);
    embipc_cage_free(&c);
    test_mesh_free(&a);
    test_mesh_free(&b);
    test_mesh_free(&s);
}

/* ---- pieces ---- */

/* adds b, turned inside out if told so, to a */
static void add_mesh(test_mesh *a, const test_mesh *b, int inside_out)
{
    test_mesh s = test_mesh_make(a->vertex_count + b->vertex_count, a->tri_count + b->tri_count, 0);
    memcpy(s.x, a->x, (size_t)(3 * a->vertex_count) * sizeof(double));
    memcpy(s.x + 3 * a->vertex_count, b->x, (size_t)(3 * b->vertex_count) * sizeof(double));
    memcpy(s.tri, a->tri, (size_t)(3 * a->tri_count) * sizeof(int));
    for (int i = 0; i < 3 * b->tri_count; i++) {
        int from = inside_out ? i - i % 3 + 2 - i % 3 : i;
        s.tri[3 * a->tri_count + i] = a->vertex_count + b->tri[from];
    }
    test_mesh_free(a);
    *a = s;
}
static void add_ball(test_mesh *a, double x, double y, double z, double radius, int inside_out)
{
    test_mesh b = test_mesh_sphere(2);
    double at[3];
    embi_set(at, x, y, z);
    geometry_move(&b, radius, NULL, at);
    add_mesh(a, &b, inside_out);
    test_mesh_free(&b);
}

/* Balls in one cell are separate bodies, whether or not one tet holds them; a cavity is part of what it is in,
 * a ball in the cavity a part of its own. */
static void test_separate_parts(void)
{
    for (int cavity = 0; cavity < 2; cavity++)
        for (double h = 0.5; h < 20; h *= 2) {
            test_mesh s = test_mesh_make(0, 0, 0);
            embipc_cage c;
            if (cavity) {
                add_ball(&s, 0.1, 0.2, 0.3, 2, 0);
                add_ball(&s, 0.1, 0.3, 0.3, 1.2, 1);
                add_ball(&s, 0.2, 0.1, 0.2, 0.5, 0);
                add_ball(&s, 0.15, 0.1, 0.3, 0.2, 1);
            } else
                for (int i = 0; i < 5; i++) add_ball(&s, 0.3 * i, 0.1 * i * i, 0.2 * i, 0.1 + 0.01 * i, 0);
            c = build(&s, 0, h);
            ENSURE(c.parts == (cavity ? 2 : 5));
            check_cage(&s, &c);
            embipc_cage_free(&c);
            test_mesh_free(&s);
        }
}

/* Solid full of holes is one piece, also where its boundary in a tet or in a face is in many pieces: a block
 * with bubbles, and a pipe, whose walls cross faces as closed curves. */
static void test_holes_do_not_split(void)
{
    test_mesh s = geometry_box_surface(4, 4, 4, 4, 4, 4), pipe = test_mesh_make(4 * 24, 8 * 24, 0);
    embipc_cage c;
    for (int i = 0; i < 27; i++)
        add_ball(&s, 0.7 + 1.3 * (i % 3), 0.75 + 1.25 * (i / 3 % 3), 0.8 + 1.2 * (i / 9), 0.3, 1);
    for (double h = 0.7; h < 30; h *= 1.9) {
        c = build(&s, 0, h);
        ENSURE(c.parts == 1);
        if (h > 3) ENSURE(c.copies == 0);
        check_cage(&s, &c);
        embipc_cage_free(&c);
    }
    test_mesh_free(&s);
    s = geometry_box_surface(4, 4, 4, 4, 4, 4);   /* one so small that it is in a single tet however that is placed */
    add_ball(&s, 0.71, 2.03, 1.17, 0.002, 1);
    for (double h = 1; h < 30; h *= 3) {
        c = build(&s, 0, h);
        ENSURE(c.parts == 1 && c.copies == 0);
        check_cage(&s, &c);
        embipc_cage_free(&c);
    }
    for (int i = 0; i < 24; i++)   /* rings: outer low, outer high, inner high, inner low */
        for (int r = 0; r < 4; r++) {
            double a = 2 * 3.14159265358979323846 * i / 24, radius = r < 2 ? 0.3 : 0.2;
            int p = 4 * i + r, q = 4 * ((i + 1) % 24) + r, e = r == 3 ? -3 : 1, *t = pipe.tri + 6 * p;
            embi_set(pipe.x + 3 * p, 0.03 + radius * cos(a), 0.02 + radius * sin(a), r == 1 || r == 2 ? 5 : 0);
            t[0] = p; t[1] = q; t[2] = q + e;
            t[3] = p; t[4] = q + e; t[5] = p + e;
        }
    for (double h = 0.3; h < 20; h *= 1.7) {
        c = build(&pipe, 0, h);
        ENSURE(c.parts == 1);
        if (h > 1.2) ENSURE(c.copies == 0);
        check_cage(&pipe, &c);
        embipc_cage_free(&c);
    }
    test_mesh_free(&s);
    test_mesh_free(&pipe);
}

/* No tet ties together what is far along the body; with copies switched off tets do. */
static void check_ties(const char *name, const test_mesh *solid, int nodes)
{
    int *kept = (int *)malloc((size_t)solid->vertex_count * sizeof(int));
    test_mesh s = cage_surface(solid, kept);
    double longest[2] = {0, 0};
    for (build_split = 0; build_split < 2; build_split++) {
        embipc_cage c = build(&s, nodes, 0);
        if (build_split) check_cage(&s, &c);
        ENSURE((c.copies > 0) == build_split);
        longest[build_split] = cage_longest_tie(solid, &c, kept);
        embipc_cage_free(&c);
    }
    build_split = 1;
    printf("  %s, %d nodes: longest way in a tet %.2f cells, without copies %.2f\n", name, nodes, longest[1],
           longest[0]);
    ENSURE(longest[1] < 2.5 && longest[0] > longest[1]);
    test_mesh_free(&s);
    free(kept);
}
static void test_close_parts_share_no_tet(void)
{
    test_mesh comb = cage_comb(), finray = cage_finray();
    check_ties("comb", &comb, 100);
    if (TEST_STRIDE == 1) check_ties("finray", &finray, 60);
    test_mesh_free(&comb);
    test_mesh_free(&finray);
}

/* A static answer: vertices with `held` are on springs, those with place p == loaded are pushed along axis k, and
 * move[q] is how far those with place q go along it, on the average. */
typedef int (*place_fn)(const double *p);   /* number of the place, -1: none, -2: held */

static void push(const test_mesh *s, const embipc_cage *c, place_fn place, int loaded, int axis, double move[8])
{
    embipc_material m = embipc_default_body_def().material;
    cage_static k;
    int n = s->vertex_count, rows = 0, count[8] = {0};
    int *node = (int *)malloc((size_t)(4 * n) * sizeof(int));
    double *w = (double *)malloc((size_t)(4 * n) * sizeof(double));
    double *f = (double *)calloc((size_t)(6 * c->node_count), sizeof(double)), *u = f + 3 * c->node_count;
    m.averaged = 0;
    for (int i = 0; i < 8; i++) move[i] = 0;
    for (int v = 0; v < n; v++)
        for (int i = 0; i < 4; i++) {
            int at = c->tets[4 * c->vertex_tet[v] + i], which = place(s->x + 3 * v);
            node[4 * rows + i] = at;
            w[4 * rows + i] = c->vertex_weight[4 * v + i];
            if (which == loaded) f[3 * at + axis] += c->vertex_weight[4 * v + i];
            rows += which == -2 && i == 3;
        }
    ENSURE(cage_static_begin(&k, c->x, c->node_count, c->tets, c->tet_count, c->tet_volume, &m));
    k.row_node = node;
    k.row_weight = w;
    k.row_count = rows;
    k.spring = 1e6;
    cage_static_diagonal(&k, 1);
    ENSURE(cage_static_solve(&k, f, u) > 0);
    cage_static_end(&k);
    for (int v = 0; v < n; v++) {
        int which = place(s->x + 3 * v);
        for (int i = 0; i < 4 && which >= 0; i++)
            move[which] += c->vertex_weight[4 * v + i] * u[3 * c->tets[4 * c->vertex_tet[v] + i] + axis];
        count[which >= 0 ? which : 7] += 1;
    }
    for (int i = 0; i < 7; i++) move[i] /= count[i] ? count[i] : 1;
    free(node);
    free(w);
    free(f);
}

static int comb_place(const double *p)   /* tips of the teeth; the foot of the back is held */
{
    return p[2] < 0.005 ? -2 : p[2] > 0.125 ? (int)(p[0] / 0.04) : -1;
}
static int finray_place(const double *p)   /* middles of the ribs; the walls and the foot are held */
{
    int rib = (int)floor(p[2] / 0.015 + 0.01), slant = (int)(p[2] / 0.003) * 15 / 40;
    if (p[2] < 0.004 || p[0] < 0.003 * (slant + 3.5) || p[0] > 0.003 * (30.5 - slant)) return -2;
    return fabs(p[0] - 0.051) < 0.004 && rib >= 1 && rib <= 5 ? rib : -1;
}

/* With copies only the tooth or rib that is pushed goes far; without, a neighbour that is in its cells goes with it. */
static void check_push(const char *name, const test_mesh *solid, int nodes, place_fn place, int loaded, int axis,
                       double apart, double tied)
{
    test_mesh s = cage_surface(solid, NULL);
    for (build_split = 0; build_split < 2; build_split++) {
        embipc_cage c = build(&s, nodes, 0);
        double move[8];
        push(&s, &c, place, loaded, axis, move);
        printf("  %s %s copies, %d nodes: number %d is pushed, before and after it go %.3f and %.3f of its way\n", name,
               build_split ? "with" : "without", c.node_count, loaded, move[loaded - 1] / move[loaded],
               move[loaded + 1] / move[loaded]);
        for (int side = -1; side <= 1 && build_split; side += 2)
            ENSURE(fabs(move[loaded + side]) < apart * move[loaded]);
        if (!build_split)
            ENSURE(fmax(fabs(move[loaded - 1]), fabs(move[loaded + 1])) > tied * move[loaded]);
        embipc_cage_free(&c);
    }
    build_split = 1;
    test_mesh_free(&s);
}
static void test_pushed_one_by_one(void)
{
    test_mesh comb = cage_comb(), finray = cage_finray();
    check_push("comb", &comb, 100, comb_place, 1, 0, 0.15, 0.3);
    if (TEST_STRIDE == 1) check_push("finray", &finray, 150, finray_place, 2, 2, 0.01, 0.3);
    test_mesh_free(&comb);
    test_mesh_free(&finray);
}

/* too few nodes for the parts: the answer is how many it takes; that many, and one tet for all, work */
static void test_few_nodes_for_many_parts(void)
{
    test_mesh s = test_mesh_make(0, 0, 0);
    embipc_cage_def d = embipc_default_cage_def();
    embipc_cage c;
    embipc_error e;
    for (int i = 0; i < 5; i++) add_ball(&s, 3 * i, 0.1 * i, 0, 1, 0);
    d.nodes = 19;
    ENSURE(embipc_cage_build(&d, s.x, s.vertex_count, s.tri, s.tri_count, NULL, &c, &e) == EMBIPC_ERR_ARGUMENT);
    ENSURE(e.value[0] == 20 && strstr(e.text, "5 separate parts") && c.node_count == 0);
    c = build(&s, 20, 0);
    ENSURE(c.node_count >= 20 && c.node_count <= 24);
    check_cage(&s, &c);
    embipc_cage_free(&c);
    c = build(&s, 4, 0);
    ENSURE(c.node_count == 4 && c.tet_count == 1 && c.parts == 5);
    check_cage(&s, &c);
    embipc_cage_free(&c);
    c = build(&s, 0, 0);   /* as many as it takes */
    ENSURE(c.node_count >= 32 && c.node_count <= 48);
    check_cage(&s, &c);
    embipc_cage_free(&c);
    test_mesh_free(&s);
}

/* Left to itself a body gets one tet where it is stiff against ten times its weight, by the sag of a bar of its
 * length and thickness; a little softer, and it gets a cage that bends. */
static void test_one_tet_where_stiff(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w;
    test_mesh s = test_mesh_box(0, 0, 0, 1, 0.1, 0.1);
    embipc_body_def d = embipc_default_body_def();
    double length = sqrt(1.02), limit = 1.5 * 10 * d.material.density * 9.81 * pow(length, 3) / (1e-3 * 0.1 * 0.1);
    ENSURE(embipc_world_create(&wd, &w, NULL) == EMBIPC_OK);
    d.kind = EMBIPC_CAGE;
    d.x = s.x; d.vertex_count = s.vertex_count; d.triangles = s.tri; d.triangle_count = s.tri_count;
    for (int i = 0; i < 4; i++) {
        embipc_body body;
        embipc_body_view v;
        d.position[2] = i;
        d.material.young = limit * (i % 2 ? 1.01 : 0.99);
        d.cage_nodes = i / 2 ? 20 : 0;
        ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_OK && embipc_body_get_view(w, body, &v) == EMBIPC_OK);
        ENSURE(i == 1 ? v.node_count == 4 : v.node_count > 12);
    }
    embipc_world_destroy(w);
    test_mesh_free(&s);
}

/* In a world: a body's own cage is the same however it is placed; a given cage is taken; one made for something
 * else is refused; a stiff body gets one tet, unless told otherwise. */
static void test_cages_in_bodies(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w;
    test_mesh solid = cage_comb(), s = cage_surface(&solid, NULL), ball = test_mesh_sphere(2);
    embipc_body_def d = embipc_default_body_def();
    embipc_cage c = build(&s, 60, 0);
    embipc_body body;
    embipc_body_view v;
    ENSURE(embipc_world_create(&wd, &w, NULL) == EMBIPC_OK);
    d.kind = EMBIPC_CAGE;
    d.x = s.x; d.vertex_count = s.vertex_count; d.triangles = s.tri; d.triangle_count = s.tri_count;
    d.scale = 3;
    geometry_rotation(d.rotation);
    for (int given = 0; given < 2; given++) {
        d.cage_nodes = 60;
        d.cage = given ? &c : NULL;
        d.position[0] = 10 * given;
        ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_OK);
        ENSURE(embipc_body_get_view(w, body, &v) == EMBIPC_OK);
        ENSURE(v.node_count == c.node_count && v.tet_count == c.tet_count);
        ENSURE(!memcmp(v.tets, c.tets, (size_t)(4 * c.tet_count) * sizeof(int)));
        {   /* its mass matrix: the energy of a translation is that of all its mass */
            static const double along[3] = {0.6, 0, 0.8}, still[3] = {0, 0, 0};
            embipc_body_state state;
            ENSURE(embipc_body_set_velocity(w, body, along, still) == EMBIPC_OK);
            ENSURE(embipc_body_get_state(w, body, &state) == EMBIPC_OK);
            ENSURE_REL(state.kinetic, 0.5 * state.mass, 1e-9);
        }
    }
    d.x = ball.x; d.vertex_count = ball.vertex_count; d.triangles = ball.tri; d.triangle_count = ball.tri_count;
    ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_ERR_ARGUMENT);   /* other vertices */
    d.x = s.x; d.vertex_count = s.vertex_count; d.triangles = s.tri; d.triangle_count = s.tri_count;
    for (int i = 0; i < s.vertex_count; i++) s.x[3 * i + 2] *= 1.5;
    ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_ERR_OUTSIDE);    /* elsewhere */
    d.cage = NULL;
    d.cage_nodes = 0;
    for (int stiff = 0; stiff < 2; stiff++) {
        d.position[1] = 10 * stiff + 10;
        d.material.young = stiff ? 2e11 : 1e5;
        ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_OK && embipc_body_get_view(w, body, &v) == EMBIPC_OK);
        ENSURE(stiff ? v.node_count == 4 : v.node_count > 20);
    }
    d.position[1] = 40;
    d.cage_nodes = 30;
    ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_OK && embipc_body_get_view(w, body, &v) == EMBIPC_OK);
    ENSURE(v.node_count > 20);
    for (int i = 0; i < 5; i++) ENSURE(embipc_world_step(w, NULL) == EMBIPC_OK);
    embipc_world_destroy(w);
    embipc_cage_free(&c);
    test_mesh_free(&solid);
    test_mesh_free(&s);
    test_mesh_free(&ball);
}

/* ---- Vertices where fans meet, and places far away ---- */

enum { PINCH_CELLS = 7 };
static char pinch_cell[PINCH_CELLS][PINCH_CELLS][PINCH_CELLS];
static int pinch_in(int i, int j, int k) { return pinch_cell[i][j][k]; }
static int pinch_at(int i, int j, int k)
{
    return i >= 0 && j >= 0 && k >= 0 && i < PINCH_CELLS && j < PINCH_CELLS && k < PINCH_CELLS && pinch_cell[i][j][k];
}

/* Would a cell meet another in an edge only? Two solids may share a vertex, an edge not. */
static int pinch_edge(int i, int j, int k)
{
    for (int n = 0; n < 12; n++) {
        int d[3] = {0, 0, 0}, e[3] = {0, 0, 0};
        d[(n / 4 + 1) % 3] = n & 1 ? 1 : -1;
        e[(n / 4 + 2) % 3] = n & 2 ? 1 : -1;
        if (pinch_at(i + d[0] + e[0], j + d[1] + e[1], k + d[2] + e[2]) && !pinch_at(i + d[0], j + d[1], k + d[2]) &&
            !pinch_at(i + e[0], j + e[1], k + e[2]))
            return 1;
    }
    return 0;
}

/* Random cells of a grid: parts that share vertices, in chains and rings, and parts that touch themselves in one. */
static test_mesh pinched_shape(int cells)
{
    test_mesh full, s;
    memset(pinch_cell, 0, sizeof pinch_cell);
    for (int tries = 0; tries < 4000 && cells > 0; tries++) {
        int i = (int)(PINCH_CELLS * test_random()), j = (int)(PINCH_CELLS * test_random());
        int k = (int)(PINCH_CELLS * test_random());
        if (pinch_cell[i][j][k] || pinch_edge(i, j, k)) continue;
        pinch_cell[i][j][k] = 1;
        cells--;
    }
    full = cage_shape_of_cells(PINCH_CELLS, PINCH_CELLS, PINCH_CELLS, 0.1, pinch_in);
    s = cage_surface(&full, NULL);
    test_mesh_free(&full);
    return s;
}

/* Do the tets along each edge of the surface share the nodes that carry it? Then no triangle is torn, however the nodes
 * move. */
static embipc_result cage_holds(const embipc_cage *c, const test_mesh *s)
{
    embi_memory m;
    embi_holding h;
    embipc_error e;
    embipc_result r;
    embi_memory_init(&m, NULL);
    memset(&h, 0, sizeof h);
    h.x = c->x;
    h.tets = c->tets;
    h.node_count = c->node_count;
    h.tet_count = c->tet_count;
    h.tet_of = c->vertex_tet;
    r = embi_check_held(&m, &h, s->x, s->tri, s->tri_count, 1, &e);
    ENSURE(m.bytes == 0);
    if (r != EMBIPC_OK) printf("  %s\n", e.text);
    return r;
}

static void test_pinched_vertices_hold(void)
{
    static const int wish[5] = {0, 20, 34, 90, 250};
    int pinched = 0;
    for (int round = 0; round < 15; round += TEST_STRIDE) {
        test_mesh s = pinched_shape(4 + (int)(50 * test_random()));
        double R[9];
        if (round % 3) geometry_jitter(&s, 0.012);
        geometry_rotation(R);
        if (round % 3 == 2) geometry_move(&s, 1, R, NULL);
        pinched += embipc_surface_faults(s.x, s.vertex_count, s.tri, s.tri_count, EMBIPC_FAULT_PINCHED, NULL, 0) > 0;
        for (int i = 0; i < 5; i++) {
            embipc_cage_def d = embipc_default_cage_def();
            embipc_cage c;
            embipc_error e;
            embipc_result r;
            d.nodes = wish[i];
            r = embipc_cage_build(&d, s.x, s.vertex_count, s.tri, s.tri_count, NULL, &c, &e);
            ENSURE(r == EMBIPC_OK || (r == EMBIPC_ERR_ARGUMENT && wish[i] && wish[i] < 4 * cage_clusters(s.tri, s.tri_count, 3, s.vertex_count)));
            if (r != EMBIPC_OK) continue;
            ENSURE(!cage_fault(&s, &c) && cage_holds(&c, &s) == EMBIPC_OK);
            ENSURE(c.parts == cage_clusters(s.tri, s.tri_count, 3, s.vertex_count) && cage_components(&c) == c.parts);
            embipc_cage_free(&c);
        }
        test_mesh_free(&s);
    }
    ENSURE(pinched > 10 / TEST_STRIDE);
}

/* Edges of the surface that lie in faces of the lattice, but for rounding: solid is connected through those faces, though no
 * triangle is seen to cross them. */
static void test_edges_along_faces(void)
{
    static const int seed[2] = {25, 33}, cells[2] = {50, 28}, wish[2] = {390, 400};
    for (int i = 0; i < 2; i++) {
        test_mesh s;
        embipc_cage c;
        test_seed = (unsigned long long)seed[i];
        s = pinched_shape(cells[i]);
        c = build(&s, wish[i], 0);
        ENSURE(!cage_fault(&s, &c) && cage_holds(&c, &s) == EMBIPC_OK);
        ENSURE(cage_components(&c) == cage_clusters(s.tri, s.tri_count, 3, s.vertex_count));
        embipc_cage_free(&c);
        test_mesh_free(&s);
    }
}

/* Two pyramids, tip to tip in the middle of their box, where lattices have faces and edges: rounding decides which tets
 * hold the tip, and each pyramid has it in tets of its own. */
static test_mesh hourglass(int axis)
{
    test_mesh s = test_mesh_make(9, 12, 0);
    double wide = test_uniform(0.05, 0.6), flat = test_uniform(0.3, 1), angle = test_uniform(0, 6.3), place[3];
    for (int k = 0; k < 3; k++) place[k] = test_uniform(-3, 3);
    for (int i = 1; i < 9; i++) {
        double side = i < 5 ? -1 : 1, a = angle + 1.5707963267948966 * i;
        s.x[3 * i + axis] = side;
        s.x[3 * i + (axis + 1) % 3] = side * wide * cos(a);
        s.x[3 * i + (axis + 2) % 3] = side * wide * flat * sin(a);
    }
    for (int t = 0; t < 12; t++) {
        int o = t < 6 ? 1 : 5, k = t % 6, *v = s.tri + 3 * t;
        v[0] = k < 4 ? 0 : o;
        v[1] = k < 4 ? o + k : o + k - 3;
        v[2] = k < 4 ? o + (k + 1) % 4 : o + k - 2;
    }
    ENSURE(embipc_surface_orient(s.x, 9, s.tri, 12) >= 0);
    geometry_move(&s, 1, NULL, place);
    return s;
}

static void test_tip_to_tip(void)
{
    static const int wish[4] = {0, 12, 50, 120};
    for (int round = 0; round < 12; round += TEST_STRIDE) {
        test_mesh s = hourglass(round % 3);
        for (int i = 0; i < 4; i++) {
            embipc_cage c = build(&s, wish[i], 0);
            ENSURE(!cage_fault(&s, &c) && c.parts == 1 && cage_components(&c) == 1);
            ENSURE(cage_holds(&c, &s) == EMBIPC_OK);
            embipc_cage_free(&c);
        }
        test_mesh_free(&s);
    }
}

/* A cage made far from the origin is the one made near it, moved: weights, volumes and tets have the same bits. */
static void test_far_cages_have_the_same_bits(void)
{
    for (int which = 0; which < 6; which += TEST_SKIP)
        for (int exponent = 17; exponent <= 32; exponent += 5) {
            test_mesh s = shape(which);
            double far_away[3] = {ldexp(1, exponent), -ldexp(3, exponent), 0};
            embipc_cage a, b;
            for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] = ldexp(floor(ldexp(s.x[i], 16)), -16);
            a = build(&s, 34, 0);
            geometry_move(&s, 1, NULL, far_away);
            b = build(&s, 34, 0);
            ENSURE(a.node_count == b.node_count && a.tet_count == b.tet_count);
            if (a.node_count == b.node_count && a.tet_count == b.tet_count) {
                ENSURE(!memcmp(a.tets, b.tets, (size_t)(4 * a.tet_count) * sizeof *a.tets));
                ENSURE(!memcmp(a.tet_moment, b.tet_moment, (size_t)(10 * a.tet_count) * sizeof *a.tet_moment));
                ENSURE(!memcmp(a.vertex_weight, b.vertex_weight,
                               (size_t)(4 * a.vertex_count) * sizeof *a.vertex_weight));
                for (int i = 0; i < 3 * a.node_count; i++) ENSURE(b.x[i] == a.x[i] + far_away[i % 3]);
            }
            embipc_cage_free(&a);
            embipc_cage_free(&b);
            test_mesh_free(&s);
        }
}

/* A cube and its cage of 6 tets, both turned and moved by floats: vertices on the cage's border are off it by their rounding, and
 * are taken, less than 1e-6 m from their places. Those off by 1e-4 of the size are outside. */
static void test_cage_of_floats(void)
{
    static const double edges[3] = {1, 1, 1};
    static const int tets[24] = {0, 1, 3, 7, 0, 3, 2, 7, 0, 2, 6, 7, 0, 6, 4, 7, 0, 4, 5, 7, 0, 5, 1, 7};
    static double x[3 * 98], put[3 * 98];
    static int tri[3 * 192];
    for (int n = 0; n < 20; n++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_world *w;
        embipc_body_def d = embipc_default_body_def();
        embipc_body body;
        embipc_body_view v;
        double R[9], turn[3], node[24];
        ENSURE(embipc_world_create(&wd, &w, NULL) == EMBIPC_OK);
        d.triangle_count = embipc_shape(EMBIPC_BOX, edges, 4, x, tri, 192);
        d.vertex_count = d.triangle_count / 2 + 2;
        for (int k = 0; k < 3; k++) turn[k] = test_uniform(-2, 2);
        embi_m3_rotation(R, turn);
        for (int i = 0; i < 8 + d.vertex_count; i++) {
            double corner[3], r[3];
            const double *p = i < 8 ? corner : x + 3 * (i - 8);
            for (int k = 0; k < 3; k++) corner[k] = (i >> k & 1) - 0.5;
            embi_m3_mulv(r, R, p);
            for (int k = 0; k < 3; k++)
                (i < 8 ? node + 3 * i : put + 3 * (i - 8))[k] = (double)(float)(0.1 * r[k] * (i >= 8 && n % 2 ? 1.0001 : 1) + 2 - k);
        }
        d.kind = EMBIPC_CAGE;
        d.x = put; d.triangles = tri;
        d.cage_x = node; d.cage_node_count = 8; d.cage_tets = tets; d.cage_tet_count = 6;
        ENSURE(embipc_body_create(w, &d, &body) == (n % 2 ? EMBIPC_ERR_OUTSIDE : EMBIPC_OK));
        if (n % 2 == 0 && embipc_body_get_view(w, body, &v) == EMBIPC_OK)
            for (int i = 0; i < 3 * v.vertex_count; i++) ENSURE_CLOSE(v.x[i], put[i], 1e-6);
        embipc_world_destroy(w);
    }
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
    for (n = 0; n < 10000; n += TEST_STRIDE) {
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
        "plate_gen.obj", "umi_finger.obj", "wire_rack.obj", "ball.msh", "bowl_evo.msh", "cyl_press_n4.msh",
        "finray_gen.msh", "torus_drake.msh", "allegro/base_link.obj", "allegro/link_2.0.obj",
        "allegro/link_15.0_tip.obj"};
    if (!test_data("")) SKIP("no DATA");
    for (size_t i = 0; i < sizeof name / sizeof *name; i += TEST_STRIDE) {
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
        check_parts = !strstr(name[i], "dish_rack");
        c = build(&s, strstr(name[i], "rack") ? 100 : 34, 0);
        check_cage(&s, &c);
        ENSURE(abs(c.node_count - (strstr(name[i], "rack") ? 100 : 34)) <= (strstr(name[i], "rack") ? 20 : 6));
        embipc_cage_free(&c);
        c = build(&s, 4, 0);
        check_cage(&s, &c);
        embipc_cage_free(&c);
        test_mesh_free(&s);
    }
}

/* Bodies of one shape and wish share the search for their cage, wherever and however large they stand; one made after
 * another shape, wish or order of triangles has the cage that it has in a world of its own, to the last bit. */
static void test_alike_bodies(void)
{
    static const int repeats[8] = {0, 1, 0, 0, 0, 0, 0, 1};
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *all;
    long first = 0;
    ENSURE(embipc_world_create(&wd, &all, NULL) == EMBIPC_OK);
    for (int k = 0; k < 8; k++) {
        test_mesh m = test_mesh_sphere(2);
        embipc_body_def d = embipc_default_body_def();
        embipc_body body;
        embipc_body_view one, two;
        embipc_world *own;
        long before, after;
        if (k >= 3 && k <= 5) m.x[0] *= 1.01;              /* another shape ... */
        for (int i = 0; i < 3 && k == 4; i++) {            /* ... and once the same with two triangles exchanged */
            int t = m.tri[i];
            m.tri[i] = m.tri[3 + i];
            m.tri[3 + i] = t;
        }
        test_mesh_shape(&m, &d);
        d.kind = EMBIPC_CAGE;
        d.cage_nodes = k == 0 || k == 1 ? 60 : 34;
        d.scale = k == 7 ? 0.05 : 0.1;
        d.position[0] = 0.3 * k;
        d.rotation[0] = d.rotation[4] = k == 1 ? -1 : 1;
        embipc_world_memory(all, NULL, NULL, &before);
        ENSURE(embipc_body_create(all, &d, &body) == EMBIPC_OK);
        embipc_world_memory(all, NULL, NULL, &after);
        if (k == 0) first = after - before;
        printf("  body %d: %ld allocations\n", k, after - before);
        ENSURE(repeats[k] ? after - before < first / 2 : k == 0 || after - before > first / 2);
        ENSURE(embipc_body_get_view(all, body, &one) == EMBIPC_OK);
        ENSURE(embipc_world_create(&wd, &own, NULL) == EMBIPC_OK);
        ENSURE(embipc_body_create(own, &d, &body) == EMBIPC_OK && embipc_body_get_view(own, body, &two) == EMBIPC_OK);
        ENSURE(one.node_count == two.node_count && one.tet_count == two.tet_count &&
               memcmp(one.q, two.q, (size_t)(3 * one.node_count) * sizeof *one.q) == 0 &&
               memcmp(one.tets, two.tets, (size_t)(4 * one.tet_count) * sizeof *one.tets) == 0 &&
               memcmp(one.x, two.x, (size_t)(3 * one.vertex_count) * sizeof *one.x) == 0);
        embipc_world_destroy(own);
        test_mesh_free(&m);
    }
    embipc_world_destroy(all);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(shapes_at_wished_counts);
    RUN(small_wishes_are_met);
    RUN(boxes_fit);
    RUN(surface_in_planes_of_the_lattice);
    RUN(symmetric_bodies_get_symmetric_cages);
    RUN(symmetry_survives_a_node_on_the_surface);
    RUN(bends_like_the_best_lattice);
    RUN(a_comb_gets_a_symmetric_cage);
    RUN(one_tet);
    RUN(scale_and_place_do_not_matter);
    RUN(cell_size);
    RUN(solid_in_many_tets);
    RUN(cavities_and_aligned_faces);
    RUN(separate_parts);
    RUN(holes_do_not_split);
    RUN(close_parts_share_no_tet);
    RUN(pushed_one_by_one);
    RUN(few_nodes_for_many_parts);
    RUN(one_tet_where_stiff);
    RUN(cages_in_bodies);
    RUN(alike_bodies);
    RUN(pinched_vertices_hold);
    RUN(edges_along_faces);
    RUN(tip_to_tip);
    RUN(far_cages_have_the_same_bits);
    RUN(cage_of_floats);
    RUN(bad_wishes);
    RUN(out_of_memory);
    RUN(data_surfaces);
    cage_test_unused();
    return test_end(__FILE__);
}
