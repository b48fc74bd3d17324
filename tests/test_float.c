/* The library of floats (EMBIPC_REAL float): formulas, signs, collision detection that is never late, scenes that end where those
 * of doubles do, violent worlds without a crossing, steps after a failure, and snapshots. What crosses is decided by code that
 * shares nothing with the library (exact.h), and by the proof of each step, which computes in doubles. */
#define EMBIPC_REAL float
#define EMBIPC_PROOF
#define EMBIPC_SELFTEST
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include "test.h"
#define CROSSINGS_OF_SURFACES   /* of doubles, so not of a world */
#include "crossings.h"

static float near_float(double lo, double hi) { return (float)test_uniform(lo, hi); }
static void float_selftest_line(int passed, const char *text, void *ctx)
{
    (void)ctx;
    if (!passed) printf("  %s\n", text);
}
static void test_formulas(void)
{
    ENSURE(sizeof(embipc_real) == sizeof(float));
    ENSURE(embipc_selftest(NULL, float_selftest_line, NULL) == 0);
}

/* Points in and beside a plane by few units in the last place. */
static void test_signs(void)
{
    int counts[3] = {0, 0, 0};
    for (int n = 0; n < 20000 / TEST_STRIDE; n++) {
        float x[12];
        double y[12];
        int sign;
        for (int i = 0; i < 9; i++) x[i] = near_float(-1, 1) * (float)(n % 7 ? 1 : 1000);
        for (int i = 0; i < 3; i++) {
            float u = 0.25f, v = n % 2 ? 0.5f : 0.3f;
            x[9 + i] = x[i] + u * (x[3 + i] - x[i]) + v * (x[6 + i] - x[i]);
        }
        if (n % 3) x[9 + n % 3] *= 1 + (float)(n % 5 - 2) * FLT_EPSILON;
        for (int i = 0; i < 12; i++) y[i] = (double)x[i];
        sign = embipc_orient3d(x, x + 3, x + 6, x + 9);
        ENSURE(sign == exact_orient3d_sign(y));
        counts[sign + 1]++;
    }
    ENSURE(counts[0] > 100 && counts[2] > 100);
}

/* ---- collision detection ---- */

/* A path of one of eight kinds: anything; slivers; triangles without area, or edges without length; a small gap; far from the
 * origin; fast; slow; sliding past each other. */
static void float_path(int kind, float x0[12], float x1[12])
{
    float far = kind == 4 ? 1000 : 0, fast = kind == 5 ? 100 : kind == 6 ? 1e-3f : 1;
    for (int i = 0; i < 12; i++) x0[i] = near_float(-1, 1) + far;
    if (kind == 1)
        for (int i = 0; i < 3; i++) x0[9 + i] = (x0[3 + i] + x0[6 + i]) / 2 + near_float(-1e-5, 1e-5);
    if (kind == 2)
        for (int i = 0; i < 3; i++) x0[9 + i] = x0[6 + i];
    if (kind == 3 || kind == 7)
        for (int k = 0; k < 4; k++) x0[3 * k + 2] = k < 1 ? near_float(0, 1e-4) : -near_float(0, 1e-4);
    for (int i = 0; i < 12; i++) x1[i] = x0[i] + near_float(-1, 1) * fast;
    if (kind == 7)
        for (int k = 0; k < 4; k++) x1[3 * k + 2] = x0[3 * k + 2];
}

/* By exact numbers no time is later than the first contact, and no contact is missed. Paths that stay apart by a thousandth, by
 * the proof, are not cut. */
static void test_collisions(void)
{
    long found = 0, apart = 0, cut = 0, tried = 0;
    for (int n = 0; n < 24000 / TEST_STRIDE; n++) {
        float x0[12], x1[12], toi;
        embi_ccd_path path;
        double until, way[4][2][3], y0[12], y1[12], distance = INFINITY;
        long long parts = 0;
        int edges = n % 2, hit;
        exact_answer a;
        float_path(n / 2 % 8, x0, x1);
        hit = edges ? embipc_ccd_edge_edge(x0, x1, 0, &toi) : embipc_ccd_point_triangle(x0, x1, 0, &toi);
        for (int k = 0; k < 12; k++) {
            y0[k] = (double)x0[k];
            y1[k] = (double)x1[k];
            way[k / 3][0][k % 3] = y0[k];
            way[k / 3][1][k % 3] = y1[k];
        }
        a = exact_contact(y0, y1, 0, edges, (double)toi);
        ENSURE(toi >= 0 && toi <= 1 && (hit || toi == 1));
        ENSURE(!a.late && (hit || !a.hit));
        path = embi_ccd_path_of(x0, x1, edges, NULL);   /* the same in doubles: the float before its time */
        for (int k = 0; k < 12; k++) path.v[k] -= path.x[k];
        (void)embi_ccd_on(&path, 0, &toi);
        (void)embi_ccd_search(&path, &until);
        ENSURE((double)toi <= until && (double)toi >= until * (1 - 2 * (double)FLT_EPSILON));
        tried++;
        found += a.hit;
        if (a.hit || !embi_proof_pair((const double (*)[2][3])way, !edges, &parts, &distance) || distance < 1e-3) continue;
        apart++;
        cut += hit;
    }
    printf("  %ld paths: %ld contacts, %ld that stay apart, %ld of these cut\n", tried, found, apart, cut);
    ENSURE(found > tried / 20 && apart > tried / 20 && cut == 0);
}

/* ---- worlds ---- */

static float float_x[3 * 3000];
static int float_tri[3 * 6000];

/* Adds a shape. */
static embipc_result float_add(embipc_world *w, embipc_body_def *d, embipc_shape_kind shape, float a, float b, float c, int detail,
                               embipc_body *body)
{
    const float size[3] = {a, b, c};
    d->triangle_count = embipc_shape(shape, size, detail, float_x, float_tri, 6000);
    d->vertex_count = d->triangle_count / 2 + 2;
    d->x = float_x;
    d->triangles = float_tri;
    return embipc_body_create(w, d, body);
}

/* A soft ball of 5 cm just above the ground. */
static void float_ball(embipc_world *w, embipc_body_def *d, float friction, int detail, embipc_body *ball)
{
    d->kind = EMBIPC_CAGE;
    d->friction = friction;
    d->position[2] = 0.0502f;
    ENSURE(!float_add(w, d, EMBIPC_SPHERE, 0.05f, 0, 0, detail, ball));
}

static void float_ground(embipc_world *w, float size, float friction, float at)
{
    embipc_body_def d = embipc_default_body_def();
    embipc_body ground;
    d.friction = friction;
    d.position[0] = at;
    d.position[2] = -size / 2;
    ENSURE(!float_add(w, &d, EMBIPC_BOX, size, size, size, 1, &ground));
}

static embipc_world *float_world(const embipc_world_def *d)
{
    embipc_world *w = NULL;
    ENSURE(!embipc_world_create(d, &w, NULL));
    return w;
}

/* Surfaces that cross, of all bodies, by exact.h. */
static long float_crossings(const embipc_world *w)
{
    validate_count n = {0, 0, 0};
    int count = embipc_world_body_count(w);
    validate_ready *ready = (validate_ready *)malloc((size_t)(count + 1) * sizeof *ready);
    for (int i = 0; i < count; i++) {
        embipc_body_view v;
        validate_surface s;
        double *x;
        (void)embipc_body_get_view(w, embipc_world_body(w, i), &v);
        x = (double *)malloc((size_t)(3 * v.vertex_count) * sizeof *x);
        for (int k = 0; k < 3 * v.vertex_count; k++) x[k] = (double)v.x[k];
        s.x = x;
        s.tri = v.triangles;
        s.tri_count = v.triangle_count;
        ready[i] = validate_make_ready(&s);
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) validate_ready_pair(&ready[i], &ready[j], &n);
    for (int i = 0; i < count; i++) {
        free((void *)ready[i].s.x);
        validate_ready_free(&ready[i]);
    }
    free(ready);
    return n.crossings;
}

/* A soft box falls and rests: its way, where doubles have it, and the force of the contacts is its weight. */
static void test_box_rests(void)
{
    static const double way[3] = {0.146045, 0.0480213, 0.0479931};   /* m, after 0.1, 0.5 and 1 s, by doubles */
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = embipc_default_body_def();
    embipc_world *w = float_world(&wd);
    embipc_body box;
    embipc_body_state s;
    embipc_pair_force f;
    float_ground(w, 1, 0.5f, 0);
    d.kind = EMBIPC_CAGE;
    d.friction = 0.5f;
    d.scale = 0.1f;
    d.position[2] = 0.2f;
    ENSURE(!float_add(w, &d, EMBIPC_BOX, 1, 1, 1, 1, &box));
    for (int i = 1; i <= 100; i++) {
        embipc_step_stats t;
        ENSURE(!embipc_world_step(w, &t) && t.converged);
        (void)embipc_body_get_state(w, box, &s);
        if (i == 10 || i == 50 || i == 100) ENSURE_CLOSE((double)s.centre[2], way[i == 10 ? 0 : i == 50 ? 1 : 2], 2e-5);
    }
    ENSURE(embipc_world_pair_forces(w, &f, 1) == 1);
    ENSURE_REL(fabs((double)f.force[2]), 9.81, 2e-3);
    ENSURE(float_crossings(w) == 0);
    embipc_world_destroy(w);
}

/* A block of mu = 0.5 stays on a slope of 25 degrees and slides down one of 30, by g (sin - mu cos), also 100 of its sizes from the
 * origin; a ball rolls on at its speed. */
static void test_slopes_and_rolling(void)
{
    for (int n = 0; n < 4; n++) {
        const float at = n == 3 ? 10 : 0;
        const double angle = n == 0 ? 25 : n == 2 ? 0 : 30, pi = 3.14159265358979323846;
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = embipc_default_body_def();
        embipc_world *w;
        embipc_body body;
        embipc_body_state s;
        double speed, wanted;
        wd.gravity[0] = (float)(9.81 * sin(angle * pi / 180));
        wd.gravity[2] = (float)(-9.81 * cos(angle * pi / 180));
        wd.time_step = 0.005f;
        w = float_world(&wd);
        float_ground(w, 10, n == 2 ? 0.8f : 0.5f, at);
        d.kind = EMBIPC_AFFINE;
        d.material.young = 1e7f;
        d.friction = n == 2 ? 0.8f : 0.5f;
        d.position[0] = at;
        d.position[2] = n == 2 ? 0.0501f : 0.0251f;
        if (n == 2) {
            d.velocity[0] = 1;
            d.angular_velocity[1] = 20;
        }
        ENSURE(!float_add(w, &d, n == 2 ? EMBIPC_SPHERE : EMBIPC_BOX, n == 2 ? 0.05f : 0.1f, 0.1f, 0.05f, n == 2 ? 16 : 1, &body));
        for (int i = 0; i < 200; i++) ENSURE(!embipc_world_step(w, NULL));
        (void)embipc_body_get_state(w, body, &s);
        speed = (double)s.velocity[0];
        wanted = n == 0 ? 0 : n == 2 ? 1 : 9.81 * (sin(pi / 6) - 0.5 * cos(pi / 6));
        printf("  %s: %.4f m/s after 1 s, %.4f by the law\n", n == 0 ? "25 degrees" : n == 2 ? "ball on the level" : at > 0 ? "30 degrees, at 10 m" : "30 degrees", speed,
               wanted);
        ENSURE_CLOSE(speed, wanted, n == 0 ? 1e-3 : 0.015 * wanted);
        ENSURE(embipc_world_intersections(w, NULL, 0) == 0);
        embipc_world_destroy(w);
    }
}

/* A soft ball between two pads that close and rise is lifted by 32.6 mm, as with doubles. */
static void test_grasp(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = embipc_default_body_def();
    embipc_world *w = float_world(&wd);
    embipc_body ball;
    embipc_body_state s;
    float_ground(w, 1, 0.6f, 0);
    d.cage_nodes = 8;
    float_ball(w, &d, 0.6f, 2, &ball);
    for (int i = 0; i < 2; i++) {
        const float side = i ? 1 : -1;
        float keys[21] = {0};
        embipc_body_def pad = embipc_default_body_def();
        embipc_drive_def dd = embipc_default_drive_def();
        embipc_drive drive;
        keys[7] = 0.2f;
        keys[7 + 1] = keys[14 + 1] = -side * 0.012f;
        keys[14] = 0.7f;
        keys[14 + 3] = 0.05f;
        pad.kind = EMBIPC_KINEMATIC;
        pad.friction = 0.6f;
        pad.position[0] = side * 0.062f;
        pad.position[2] = 0.05f;
        ENSURE(!float_add(w, &pad, EMBIPC_BOX, 0.02f, 0.08f, 0.08f, 1, &dd.body));
        dd.keys = keys;
        dd.key_count = 3;
        ENSURE(!embipc_drive_create(w, &dd, &drive));
    }
    for (int i = 0; i < 60; i++) ENSURE(!embipc_world_step(w, NULL));
    (void)embipc_body_get_state(w, ball, &s);
    ENSURE_CLOSE((double)s.centre[2], 0.082618, 1e-4);
    ENSURE(float_crossings(w) == 0);
    embipc_world_destroy(w);
}

/* A heap of 60 boxes that fall and turn; nearly all steps converge, to the rounding of positions. */
static void test_heap(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w = float_world(&wd);
    int not_converged = 0;
    float_ground(w, 4, 0.5f, 0);
    for (int n = 0; n < 60; n++) {
        embipc_body_def d = embipc_default_body_def();
        embipc_body box;
        d.kind = EMBIPC_AFFINE;
        d.material.young = 1e8f;
        d.friction = 0.5f;
        d.position[0] = 0.36f * (float)(n % 2) + near_float(0, 0.02);
        d.position[1] = 0.36f * (float)(n / 2 % 2);
        d.position[2] = 0.2f + 0.36f * (float)(n / 4);
        for (int i = 0; i < 3; i++) d.angular_velocity[i] = near_float(-5, 5);
        ENSURE(!float_add(w, &d, EMBIPC_BOX, 0.2f, 0.2f, 0.2f, 1, &box));
    }
    for (int i = 0; i < 120; i++) {
        embipc_step_stats t;
        ENSURE(!embipc_world_step(w, &t));
        not_converged += !t.converged;
    }
    printf("  60 boxes: %d of 120 steps not converged\n", not_converged);
    ENSURE(not_converged < 6 && float_crossings(w) == 0);
    embipc_world_destroy(w);
}

/* ---- violent worlds ---- */

static double float_decades(double lo, double hi) { return pow(10, test_uniform(lo, hi)); }

/* Bodies of three kinds, sizes over two decades, stiffnesses over six, at up to 100 m/s, in a box of 1 m, one into another. far_off: m from
 * the origin. */
static embipc_world *float_violent(const embipc_allocator *allocator, float far_off)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w;
    if (allocator) wd.allocator = *allocator;
    wd.time_step = (float)float_decades(-3, -1.5);
    wd.integrator = test_random() < 0.3 ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER;
    w = float_world(&wd);
    float_ground(w, 4, 0.5f, far_off);
    for (int n = 0; n < 8; n++) {
        embipc_body_def d = embipc_default_body_def();
        embipc_body body;
        float size = (float)float_decades(-2, -0.5), c = size * near_float(0.2, 1);
        d.kind = n % 3 ? EMBIPC_CAGE : EMBIPC_AFFINE;
        d.cage_nodes = 8 + n;
        d.friction = near_float(0, 1);
        d.material.young = (float)float_decades(3, 9);
        d.material.density = (float)float_decades(1, 4);
        for (int i = 0; i < 3; i++) {
            d.position[i] = near_float(-0.5, 0.5);
            d.velocity[i] = near_float(-1, 1) * (float)float_decades(0, 2);
            d.angular_velocity[i] = near_float(-1, 1) * (float)float_decades(0, 2);
        }
        d.position[0] += far_off;
        d.position[2] += 1;
        (void)float_add(w, &d, n % 2 ? EMBIPC_SPHERE : EMBIPC_BOX, n % 2 ? size / 2 : size, size, c, 2, &body);   /* or it meets one */
    }
    return w;
}

static void test_violent_worlds(void)
{
    long steps = 0, unproven = 0, not_converged = 0, refused = 0;
    for (int n = 0; n < 16 / TEST_STRIDE; n++) {
        embipc_world *w = float_violent(NULL, n % 2 ? 30 : 0);
        embipc_proof proof;
        size_t bytes;
        ENSURE(!embipc_world_set_proof(w, &proof));
        for (int i = 0; i < 30; i++) {
            embipc_step_stats t;
            embipc_result r = embipc_world_step(w, &t);
            if (r == EMBIPC_ERR_INTERSECTION) {   /* gaps too small for a proof; the exact check tells about the step */
                unproven++;
                (void)embipc_world_set_proof(w, NULL);
                r = embipc_world_step(w, &t);
                (void)embipc_world_set_proof(w, &proof);
            }
            if (r != EMBIPC_OK) {
                refused++;
                ENSURE(r == EMBIPC_ERR_NOT_FINITE);
                break;
            }
            steps++;
            not_converged += !t.converged;
            ENSURE(float_crossings(w) == 0 && embipc_world_intersections(w, NULL, 0) == 0);
            ENSURE(embipc_world_validate(w, NULL) == EMBIPC_OK);
            ENSURE(!embipc_world_save(w, NULL, 0, &bytes) && bytes > 0);
        }
        embipc_world_destroy(w);
    }
    printf("  %ld steps, %ld without proof, %ld not converged, %ld worlds left their range\n", steps, unproven, not_converged, refused);
    ENSURE(steps > 100 && unproven < steps / 20);
}

/* ---- after a failure; snapshots ---- */

static int float_left;   /* allocations until one fails */
static void *float_alloc(size_t size, void *ctx)
{
    (void)ctx;
    return float_left-- == 0 ? NULL : malloc(size);
}
static void float_free(void *p, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    free(p);
}

/* A step that failed for memory is made again, with the bits of a world in which nothing failed. */
static void test_step_after_failure(void)
{
    embipc_allocator a = {float_alloc, float_free, NULL};
    int failed = 0;
    for (int n = 0; n < 8; n++) {
        unsigned long long wanted = 0, seed = test_seed;
        for (int k = -1; k < 40; k += 1 + 4 * (k >= 0)) {
            embipc_world *w;
            embipc_result r;
            test_seed = seed;
            float_left = -1;
            w = float_violent(&a, 0);
            float_left = k;
            r = embipc_world_step(w, NULL);
            if (r == EMBIPC_ERR_MEMORY) failed++;
            float_left = -1;
            if (r == EMBIPC_ERR_MEMORY) r = embipc_world_step(w, NULL);
            ENSURE(!r && !embipc_world_step(w, NULL));
            if (k < 0) wanted = embipc_world_hash(w);
            ENSURE(embipc_world_hash(w) == wanted);
            embipc_world_destroy(w);
        }
    }
    ENSURE(failed > 20);
}

/* A snapshot goes on with the same bits; one of doubles is refused. */
static void test_snapshots(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w = float_violent(NULL, 0), *copy = NULL;
    embipc_error e;
    size_t bytes;
    unsigned char *buffer;
    for (int i = 0; i < 10; i++) ENSURE(!embipc_world_step(w, NULL));
    ENSURE(!embipc_world_save(w, NULL, 0, &bytes));
    buffer = (unsigned char *)malloc(bytes);
    ENSURE(!embipc_world_save(w, buffer, bytes, &bytes));
    ENSURE(!embipc_world_load(buffer, bytes, &wd, &copy, &e));
    for (int i = 0; i < 5 && copy; i++) ENSURE(!embipc_world_step(w, NULL) && !embipc_world_step(copy, NULL));
    ENSURE(copy && embipc_world_hash(copy) == embipc_world_hash(w));
    embipc_world_destroy(copy);
    buffer[8] = 13;   /* the format of doubles */
    ENSURE(embipc_world_load(buffer, bytes, &wd, &copy, &e) == EMBIPC_ERR_ARGUMENT && strstr(e.text, "format 13; this build reads format 16"));
    free(buffer);
    embipc_world_destroy(w);
}

/* The time is right after 300 s of steps of 1 ms, and goes on so in a world that was loaded. A sum of floats is off by 2 s there. */
static void test_time(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w = NULL, *copy = NULL;
    unsigned char buffer[4000];
    size_t bytes;
    wd.time_step = 1e-3f;
    ENSURE(!embipc_world_create(&wd, &w, NULL));
    for (int i = 0; i < 300000; i++) embipc_world_step(w, NULL);
    ENSURE(fabs((double)embipc_world_time(w) - 300) < 1e-4);
    ENSURE(!embipc_world_save(w, buffer, sizeof buffer, &bytes) && !embipc_world_load(buffer, bytes, &wd, &copy, NULL));
    ENSURE(!embipc_world_step(w, NULL) && copy && !embipc_world_step(copy, NULL));
    ENSURE(embipc_world_hash(copy) == embipc_world_hash(w) && embipc_world_time(copy) > 300.0005f);
    embipc_world_destroy(copy);
    embipc_world_destroy(w);
}

/* The first program a reader tries compiles with floats as it is, and ends where docs/library.md says. */
static double hello_z;
static void hello_line(const char *format, double time, double z)
{
    (void)format;
    (void)time;
    hello_z = z;
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"   /* 0.1 as a float */
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#define main hello_main
#define printf hello_line
#include "../examples/hello.c"
#undef printf
#undef main
#pragma GCC diagnostic pop
static void test_hello(void)
{
    ENSURE(hello_main() == 0);
    ENSURE_CLOSE(hello_z, 0.047992, 1e-6);
}

/* On a ground of 40 m, 57 of its sizes from the origin, a soft ball that slides ends by rolling at 5/7 of its speed: no step of
 * it is cut short by the rounding of the ground. */
static void test_large_ground(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = embipc_default_body_def();
    embipc_world *w = float_world(&wd);
    embipc_body ball;
    embipc_body_state s;
    float_ground(w, 40, 0.3f, 0);
    d.material.young = 1e6f;
    d.position[0] = -5;
    d.velocity[0] = 2;
    float_ball(w, &d, 0.3f, 12, &ball);
    for (int i = 0; i < 100; i++) {
        embipc_step_stats t;
        ENSURE(!embipc_world_step(w, &t) && t.converged);
    }
    (void)embipc_body_get_state(w, ball, &s);
    ENSURE_CLOSE((double)s.velocity[0], 1.4023, 0.01);   /* doubles: 1.4023, 10/7 less what facets take */
    embipc_world_destroy(w);
}

/* Joints of floats take about the solves of doubles. Kinds 0, 1: a box falls for 1 s along a slider, 0 and 1 m from the origin. 2: it
 * is welded to the world. 3, 4: two of them swing against the limits of hinges and of balls. */
static void test_joints(void)
{
    static const int most[5] = {150, 350, 320, 650, 650};   /* doubles: some 100, 100, 100, 440, 430 */
    for (int kind = 0; kind < 5; kind++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_world *w;
        embipc_body box[2];
        embipc_joint_state js;
        embipc_joint j = {0, 0};
        int solves = 0, steps = kind < 2 ? 100 : 200;
        wd.time_step = kind < 2 ? 0.01f : 0.001f;
        w = float_world(&wd);
        for (int i = 0; i < (kind < 2 ? 1 : 2); i++) {
            embipc_body_def d = embipc_default_body_def();
            embipc_joint_def jd = embipc_default_joint_def();
            float at = kind == 1 ? 1 : 0.15f * (float)i;
            d.kind = EMBIPC_AFFINE;
            d.position[0] = at;
            ENSURE(!float_add(w, &d, EMBIPC_BOX, 0.1f, 0.1f, 0.1f, 1, &box[i]));
            if (i) jd.a = box[0];
            jd.b = box[i];
            jd.kind = kind < 2 ? EMBIPC_SLIDER : kind == 2 ? EMBIPC_WELD : kind == 3 ? EMBIPC_HINGE : EMBIPC_BALL;
            jd.point[0] = kind < 2 ? at : at - 0.075f;
            jd.point[2] = kind < 2 ? 0.2f : 0;
            if (kind >= 2) jd.axis[1] = 1, jd.axis[2] = 0;
            jd.limited = kind > 2;
            jd.limits[0] = kind == 3 ? -0.3f : 0;
            jd.limits[1] = kind == 3 ? 0.3f : 0.6f;
            jd.twist = kind == 4 ? 0.3f : 0;
            ENSURE(!embipc_joint_create(w, &jd, &j));
        }
        for (int i = 0; i < steps; i++) {
            embipc_step_stats t;
            ENSURE(!embipc_world_step(w, &t) && t.converged);
            solves += t.newton_iterations;
        }
        ENSURE(!embipc_joint_get_state(w, j, &js));
        printf("  joints, kind %d: %d solves in %d steps\n", kind, solves, steps);
        if (kind < 2) ENSURE_CLOSE((double)js.position, -9.81 * 0.505, 1e-3);
        ENSURE(js.gap < 1e-5f && solves < most[kind]);
        embipc_world_destroy(w);
    }
}

/* What rests, hangs or rolls takes about the solves of doubles, in all and in one step, at 0, 1, 10 and 100 of its sizes from the
 * origin. Rounding decides how bodies land: of towers at sixty places two take half as many solves again as the others. Kind 0: a box on a floor, its corners above the diagonal of the floor's square. 1: a tower of five. 2: a chain of four on
 * hinges, which swings onto the floor. 3: a ball that slides, rolls, and rolls off the edge; at 1000 of its sizes, too, where epsv h
 * is less than rounding. */
static void test_solves(void)
{
    static const int all[4] = {120, 200, 520, 345};    /* in 100 steps, mean of the distances; doubles: 115, 168, 424, 327 */
    static const int most[4] = {8, 30, 80, 30};        /* in one; doubles: 4, 14, 48, 10 */
    int sum[4] = {0, 0, 0, 0};
    for (int n = 0; n < 17; n++) {
        const int kind = n < 16 ? n / 4 : 3, count = kind == 1 ? 5 : kind == 2 ? 4 : 1;
        const float size = 0.1f, far_off = n == 16 ? 100 : n % 4 ? size * (float)(n % 4 == 1 ? 1 : n % 4 == 2 ? 10 : 100) : 0;
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = embipc_default_body_def();
        embipc_body ground, body[5];
        embipc_world *w;
        int solves = 0, worst = 0;
        wd.time_step = 0.01f;
        w = float_world(&wd);
        d.friction = 0.5f;
        d.position[0] = far_off;
        d.position[1] = far_off / 2;
        d.position[2] = -5 * size;
        ENSURE(!float_add(w, &d, EMBIPC_BOX, 1, 1, 1, 1, &ground));
        d.kind = EMBIPC_AFFINE;
        d.material.young = 1e7f;
        d.velocity[0] = kind == 3;
        d.angular_velocity[1] = kind == 3 ? 2 / size : 0;
        for (int i = 0; i < count; i++) {
            embipc_joint_def jd = embipc_default_joint_def();
            embipc_joint joint;
            d.position[0] = far_off + (kind == 2 ? 0.12f * (float)i : 0);
            d.position[2] = kind == 2 ? 0.4f : 0.055f + 0.105f * (float)i;
            ENSURE(!float_add(w, &d, kind == 3 ? EMBIPC_SPHERE : EMBIPC_BOX, kind == 3 ? size / 2 : size, size, size, kind == 3 ? 4 : 2,
                              &body[i]));
            if (kind != 2) continue;
            if (i) jd.a = body[i - 1];
            jd.b = body[i];
            jd.kind = EMBIPC_HINGE;
            jd.axis[1] = 1;
            jd.axis[2] = 0;
            jd.point[0] = far_off + 0.12f * ((float)i - 0.5f);
            jd.point[1] = far_off / 2;
            jd.point[2] = 0.4f;
            ENSURE(!embipc_joint_create(w, &jd, &joint));
        }
        for (int i = 0; i < 100; i++) {
            embipc_step_stats t;
            ENSURE(!embipc_world_step(w, &t) && t.converged);
            solves += t.newton_iterations;
            worst = t.newton_iterations > worst ? t.newton_iterations : worst;
        }
        printf("  kind %d at %g m: %d solves in 100 steps, at most %d in one\n", kind, (double)far_off, solves, worst);
        sum[kind] += solves;
        ENSURE(worst < most[kind]);
        embipc_world_destroy(w);
    }
    for (int kind = 0; kind < 4; kind++) ENSURE(sum[kind] < all[kind] * (kind == 3 ? 5 : 4));
}

/* Above an edge between two triangles of a flat floor, at a gap of 0.15 mm, the normal leans by what the point lies beside the edge,
 * and no more: rounding of the closest point by 3e-8 m would lean it by 2e-4. */
static void test_normals_at_edges(void)
{
    for (int n = 0; n < 2000; n++) {
        const float t = near_float(0.1, 0.9), off = n % 2 ? near_float(-6e-8, 6e-8) : 0, side = n % 4 < 2 ? 0.5f : -0.5f;
        const float x[12] = {0.5f - t + off, t - 0.5f, 1.5e-4f, 0.5f, -0.5f, 0, -0.5f, 0.5f, 0, side, side, 0};
        const double beside = fabs((double)x[0] + (double)x[1]) / 2;
        float grad[12];
        ENSURE_CLOSE((double)embipc_point_triangle_distance(x, grad), 1.5e-4, 1e-10);
        for (int i = 0; i < 2; i++) ENSURE(fabs((double)grad[i]) < beside / 1.5e-4 + 1e-6);
    }
}

/* The end of a bar in a cage has four nodes, in whatever direction it lies. The next ones carry the end's vertices by the margin that
 * cages keep from surfaces, and no more. A bar that is held there sags as beam theory says: q l^4/8EI + q l^2/2GA, with 5/6 A. */
static void test_end_of_bar(void)
{
    const double l = 0.2, a = 0.02, E = 2e6, q = 1000 * a * a * 9.81, I = a * a * a * a / 12;
    const double sag = q * l * l * l * l / (8 * E * I) + q * l * l / (2 * E / 2.6 * a * a * 5 / 6);
    for (int n = 0; n < 3; n++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_world *w;
        embipc_body_def d = embipc_default_body_def();
        embipc_drive_def dd = embipc_default_drive_def();
        embipc_drive drive;
        embipc_body bar;
        embipc_body_view v;
        int node[64], tip = 0;
        float lo[3] = {-1, -1, -1}, hi[3] = {1, 1, 1}, c = cosf(0.6f * (float)n), s = sinf(0.6f * (float)n), z;
        const float turn[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
        wd.time_step = 0.02f;
        w = float_world(&wd);
        memcpy(d.rotation, turn, sizeof turn);
        d.kind = EMBIPC_CAGE;
        d.cage_nodes = 60;
        d.material.young = (float)E;
        d.material.poisson = 0.3f;
        d.material.damping[1] = 0.01f;
        ENSURE(!float_add(w, &d, EMBIPC_BOX, (float)l, (float)a, (float)a, 4, &bar));
        hi[0] = -0.09f * c;   /* one end, by its x, or by its y where it lies along that */
        if (n == 2) hi[0] = 1, hi[1] = -0.085f;
        dd.body = bar;
        dd.node_count = embipc_body_select(w, bar, lo, hi, node, 64);
        ENSURE(dd.node_count == 4);
        dd.nodes = node;
        ENSURE(!embipc_drive_create(w, &dd, &drive) && !embipc_body_get_view(w, bar, &v));
        for (int i = 0; i < v.vertex_count; i++) {
            double along = (double)(c * v.x[3 * i] + s * v.x[3 * i + 1]), most = (double)(c * v.x[3 * tip] + s * v.x[3 * tip + 1]);
            if (along > most) tip = i;
        }
        z = v.x[3 * tip + 2];
        for (int i = 0; i < 40; i++) ENSURE(!embipc_world_step(w, NULL));
        ENSURE(!embipc_body_get_view(w, bar, &v));
        ENSURE_REL((double)(z - v.x[3 * tip + 2]), sag, 0.05);
        embipc_world_destroy(w);
    }
}

/* A door on two hinges swings without gravity: it keeps its speed as on one hinge, also 30 of its sizes from
 * the origin, where the two lie beside one axis by rounding. */
static void test_door(void)
{
    for (int two = 0; two < 2; two++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_world *w;
        embipc_body_def d = embipc_default_body_def();
        embipc_body door;
        embipc_joint j;
        embipc_joint_state js;
        const float speed[3] = {0, 0.3f, 0}, spin[3] = {0, 0, 5};
        memset(wd.gravity, 0, sizeof wd.gravity);
        w = float_world(&wd);
        d.kind = EMBIPC_AFFINE;
        d.material.young = 1e7f;
        d.position[0] = 3.06f;
        d.position[1] = d.position[2] = 3;
        ENSURE(!float_add(w, &d, EMBIPC_BOX, 0.1f, 0.01f, 0.2f, 1, &door));
        for (int k = 0; k <= two; k++) {
            embipc_joint_def jd = embipc_default_joint_def();
            jd.kind = EMBIPC_HINGE;
            jd.b = door;
            jd.point[0] = jd.point[1] = 3;
            jd.point[2] = 2.92f + 0.16f * (float)k;
            ENSURE(!embipc_joint_create(w, &jd, &j));
        }
        ENSURE(!embipc_body_set_velocity(w, door, speed, spin));
        for (int i = 0; i < 200; i++) ENSURE(!embipc_world_step(w, NULL));
        ENSURE(!embipc_joint_get_state(w, j, &js));
        ENSURE_REL((double)js.velocity, 5.0, 0.01);   /* the plain rule keeps 0.88 */
        embipc_world_destroy(w);
    }
}

/* Forces that a wrist reads at 1 kHz: a block of 1 m hangs sideways from a weld, or from a hinge whose motor holds it. Each reading
 * is its weight, and the torque of that, to 5 %. */
static void test_forces_of_joints(void)
{
    for (int hinge = 0; hinge < 2; hinge++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_world *w;
        embipc_body_def d = embipc_default_body_def();
        embipc_joint_def jd = embipc_default_joint_def();
        embipc_body block;
        embipc_joint j;
        const double weight = 40 * 9.81;
        double off = 0, turn = 0;
        wd.time_step = 0.001f;
        w = float_world(&wd);
        d.kind = EMBIPC_AFFINE;
        d.material.young = 1e8f;
        d.position[0] = 1;
        ENSURE(!float_add(w, &d, EMBIPC_BOX, 1, 0.2f, 0.2f, 1, &block));
        jd.kind = hinge ? EMBIPC_HINGE : EMBIPC_WELD;
        jd.b = block;
        jd.point[0] = 0.5f;
        jd.axis[1] = 1;
        jd.axis[2] = 0;
        jd.motor_stiffness = hinge ? 1e6f : 0;
        jd.motor_damping = hinge ? 1e4f : 0;
        ENSURE(!embipc_joint_create(w, &jd, &j));
        for (int i = 0; i < 400; i++) {
            embipc_joint_state js;
            ENSURE(!embipc_world_step(w, NULL) && !embipc_joint_get_state(w, j, &js));
            if (i < 300) continue;
            off = fmax(off, fabs((double)js.force[2] - weight) + fabs((double)js.force[0]));
            turn = fmax(turn, fabs((double)js.torque[1] + weight / 2));
        }
        ENSURE(off < 0.05 * weight && turn < 0.05 * weight / 2);
        embipc_world_destroy(w);
    }
}

/* A stiff box of 1 cm falls by its way; with steps so long that its mass would be rounding of its stiffness, it would hang in the air,
 * and is refused. So is such a time step, and the world is as before. */
static void test_mass_beside_stiffness(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w = float_world(&wd);
    embipc_body_def d = embipc_default_body_def();
    embipc_body box;
    embipc_body_state s;
    unsigned long long before;
    d.kind = EMBIPC_AFFINE;
    d.material.young = 1e9f;
    ENSURE(float_add(w, &d, EMBIPC_BOX, 0.01f, 0.01f, 0.01f, 1, &box) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(embipc_world_error(w)->text, "density size^2) is 3"));
    d.material.young = 1e7f;
    ENSURE(!float_add(w, &d, EMBIPC_BOX, 0.01f, 0.01f, 0.01f, 1, &box));
    before = embipc_world_hash(w);
    ENSURE(embipc_world_set_time_step(w, 0.1f) == EMBIPC_ERR_ARGUMENT && embipc_world_hash(w) == before);
    ENSURE(embipc_body_scale_stiffness(w, box, 100) == EMBIPC_ERR_ARGUMENT && embipc_world_hash(w) == before);
    for (int i = 0; i < 50; i++) ENSURE(!embipc_world_step(w, NULL));
    (void)embipc_body_get_state(w, box, &s);
    ENSURE_REL((double)s.centre[2], -9.81e-4 * 1275, 5e-3);
    embipc_world_destroy(w);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(formulas);
    RUN(signs);
    RUN(collisions);
    RUN(box_rests);
    RUN(slopes_and_rolling);
    RUN(large_ground);
    RUN(grasp);
    RUN(normals_at_edges);
    RUN(solves);
    RUN(heap);
    RUN(violent_worlds);
    RUN(step_after_failure);
    RUN(snapshots);
    RUN(time);
    RUN(hello);
    RUN(joints);
    RUN(end_of_bar);
    RUN(door);
    RUN(forces_of_joints);
    RUN(mass_beside_stiffness);
    exact_unused();
    return test_end("test_float");
}
