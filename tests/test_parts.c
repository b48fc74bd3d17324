/* Parts that are left out: a small world runs without them, and who asks for one of them is told its macro. All are left out
 * here; with PARTS_AS_GIVEN those that the command line names, as tests/matrix.sh does one by one. */
#ifndef PARTS_AS_GIVEN
#define EMBIPC_NO_CAGE_BUILDER
#define EMBIPC_NO_MATERIALS
#define EMBIPC_NO_DRIVES
#define EMBIPC_NO_SEPARATE
#define EMBIPC_NO_MESH_REPAIR
#define EMBIPC_NO_BDF2
#define EMBIPC_NO_BUDGET
#define EMBIPC_NO_DRAW
#define EMBIPC_NO_PAIR_FN
#define EMBIPC_NO_VALIDATE
#define EMBIPC_NO_POSES
#define EMBIPC_NO_SHAPES
#define EMBIPC_NO_EVENTS
#define EMBIPC_NO_SLEEP
#define EMBIPC_NO_COPY
#define EMBIPC_NO_SNAPSHOT
#define EMBIPC_NO_RAYS
#define EMBIPC_NO_THREADS
#undef EMBIPC_PTHREADS
#endif
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include "test.h"

/* the cube of examples/hello.c, and a cage of six tets round it */
static const double cube_x[] = {-.5,-.5,-.5, .5,-.5,-.5, -.5,.5,-.5, .5,.5,-.5, -.5,-.5,.5, .5,-.5,.5, -.5,.5,.5, .5,.5,.5};
static const int cube_t[] = {0,2,3, 0,3,1, 4,5,7, 4,7,6, 0,1,5, 0,5,4, 2,6,7, 2,7,3, 0,4,6, 0,6,2, 1,3,7, 1,7,5};
static const int cage_t[] = {0,1,3,7, 0,3,2,7, 0,2,6,7, 0,6,4,7, 0,4,5,7, 0,5,1,7};
static double cage_x[24];

static embipc_world *world;
static embipc_error error;

static embipc_body_def cube(embipc_kind kind)
{
    embipc_body_def d = embipc_default_body_def();
    int i;
    for (i = 0; i < 24; i++) cage_x[i] = 1.02 * cube_x[i];
    d.kind = kind;
    d.x = cube_x;
    d.vertex_count = 8;
    d.triangles = cube_t;
    d.triangle_count = 12;
    d.friction = 0.5;
    d.scale = 0.1;
    d.position[2] = 0.2;
    if (kind != EMBIPC_CAGE) return d;
    d.cage_x = cage_x;
    d.cage_node_count = 8;
    d.cage_tets = cage_t;
    d.cage_tet_count = 6;
    return d;
}

static double tolerance;   /* of the worlds, m/s; 0: derived */

static void begin(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = cube(EMBIPC_FIXED);
    embipc_body ground;
    wd.tolerance = tolerance;
    ENSURE(embipc_world_create(&wd, &world, &error) == EMBIPC_OK);
    bd.scale = 1;
    bd.position[2] = -0.5;
    ENSURE(embipc_body_create(world, &bd, &ground) == EMBIPC_OK);
}

/* Is the body refused, and does the text name the macro? */
static int refused(const embipc_body_def *d, const char *macro)
{
    embipc_body body;
    embipc_result r;
    int named;
    begin();
    r = embipc_body_create(world, d, &body);
    named = strstr(embipc_world_error(world)->text, macro) != NULL;
    embipc_world_destroy(world);
    ENSURE(r == EMBIPC_OK || (r == EMBIPC_ERR_ARGUMENT && named));
    return r != EMBIPC_OK;
}

static int touched;   /* pairs that snapshots have for the next step's events */

/* Drops a body on the ground; where it is after so many steps. */
static double drop(const embipc_body_def *d, int steps)
{
    embipc_body body;
    embipc_body_state s;
    embipc_crossing x;
    int i;
    memset(&s, 0, sizeof s);
    begin();
    ENSURE(embipc_body_create(world, d, &body) == EMBIPC_OK);
    for (i = 0; i < steps; i++) {
        embipc_step_stats t;
        ENSURE(embipc_world_step(world, &t) == EMBIPC_OK && t.converged);
    }
    ENSURE(embipc_body_get_state(world, body, &s) == EMBIPC_OK);
    ENSURE(embipc_world_intersections(world, &x, 1) == 0);
#ifdef EMBI_IMPLEMENTED
    touched = 1;   /* the library is in another file */
#else
    touched = world->report.before_count;
#endif
    embipc_world_destroy(world);
    return s.centre[2];
}

/* Free fall, then rest. matrix.sh compares the last line between builds, bit for bit. */
static void test_hello(void)
{
    embipc_body_def d = cube(EMBIPC_CAGE);
    double rest;
    ENSURE_CLOSE(drop(&d, 10), 0.2 - 9.81e-4 * 55, 1e-9);
    rest = drop(&d, 100);
    ENSURE(rest > 0.045 && rest < 0.0505);
    ENSURE(touched == 1);   /* without events too: all builds have one hash of a world */
    printf("hello rests at %.17g m\n", rest);
}

/* Orthogonality has code of its own where other materials are left out: the numbers are those of a build with all. */
static void test_orthogonality(void)
{
    embipc_body_def d = cube(EMBIPC_AFFINE);
    embipc_material m = d.material;
    double F[9] = {1.1, 0.2, -0.1, 0.3, 0.7, 0.1, -0.2, 0.1, 0.9}, P[9], H[81], psi, G[9], low, high, Q[9], R[9];
    int i, j;
    m.model = EMBIPC_ORTHOGONALITY;
    m.stiffness = 3;
    ENSURE(embipc_material_evaluate(&m, F, &psi, P, H, 0) == EMBIPC_OK);
    for (i = 0; i < 9; i++) {
        memcpy(G, F, sizeof G);
        G[i] += 1e-5;
        ENSURE(embipc_material_evaluate(&m, G, &high, Q, NULL, 0) == EMBIPC_OK);
        G[i] -= 2e-5;
        ENSURE(embipc_material_evaluate(&m, G, &low, R, NULL, 0) == EMBIPC_OK);
        ENSURE_CLOSE((high - low) / 2e-5, P[i], 1e-8);
        for (j = 0; j < 9; j++) ENSURE_CLOSE((Q[j] - R[j]) / 2e-5, H[9 * j + i], 1e-7);
    }
    for (low = 0, i = 0; i < 81; i++) low += H[i] * H[i];
    ENSURE(embipc_material_evaluate(&m, F, NULL, NULL, H, 1) == EMBIPC_OK);
    for (high = 0, i = 0; i < 81; i++) high += H[i] * H[i];
    ENSURE(high < 0.999 * low);   /* something was projected */
    ENSURE_REL(high, 3716.16776368258, 1e-12);
    d.material = m;
    d.material.stiffness = 2e3;
    d.rotation[0] = d.rotation[4] = 0.8;
    d.rotation[1] = -0.6;
    d.rotation[3] = 0.6;
    d.angular_velocity[0] = 3;
    tolerance = 1e-9;   /* so that the end does not depend on the way there; the number is that of the build with all parts */
    ENSURE_CLOSE(drop(&d, 21), 0.037900908301548, 1e-9);
    tolerance = 0;
}

static int any_pair(embipc_body a, void *user_a, embipc_body b, void *user_b, void *ctx)
{
    (void)user_a;
    (void)user_b;
    (void)ctx;
    return a.index1 != b.index1;
}
static void serial(int count, int grain, embipc_range_fn *fn, void *arg, void *ctx)
{
    (void)grain;
    (void)ctx;
    fn(arg, 0, count);
}

/* a world that asks for one of them */
static void test_world_says(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_result r;
    wd.integrator = EMBIPC_BDF2;
    r = embipc_world_create(&wd, &world, &error);
#ifdef EMBIPC_NO_BDF2
    ENSURE(r == EMBIPC_ERR_ARGUMENT && strstr(error.text, "EMBIPC_NO_BDF2"));
#else
    ENSURE(r == EMBIPC_OK);
#endif
    embipc_world_destroy(world);
    wd.integrator = EMBIPC_BACKWARD_EULER;
    wd.parallel_for = serial;
    r = embipc_world_create(&wd, &world, &error);
#ifdef EMBIPC_NO_THREADS
    ENSURE(r == EMBIPC_ERR_ARGUMENT && strstr(error.text, "EMBIPC_NO_THREADS"));
#else
    ENSURE(r == EMBIPC_OK);
#endif
    embipc_world_destroy(world);
    wd.parallel_for = NULL;
    wd.sleep_after = 1;
    r = embipc_world_create(&wd, &world, &error);
#ifdef EMBIPC_NO_SLEEP
    ENSURE(r == EMBIPC_ERR_ARGUMENT && strstr(error.text, "EMBIPC_NO_SLEEP"));
#else
    ENSURE(r == EMBIPC_OK);
#endif
    embipc_world_destroy(world);
    wd.sleep_after = 0;
    wd.pair = any_pair;
    r = embipc_world_create(&wd, &world, &error);
#ifdef EMBIPC_NO_PAIR_FN
    ENSURE(r == EMBIPC_ERR_ARGUMENT && strstr(error.text, "EMBIPC_NO_PAIR_FN"));
#else
    ENSURE(r == EMBIPC_OK);
#endif
    embipc_world_destroy(world);
}

/* a body that does */
static void test_body_says(void)
{
    embipc_body_def d = cube(EMBIPC_KINEMATIC);
    int without = 0, i;
#ifdef EMBIPC_NO_DRIVES
    without = 1;
#endif
    ENSURE(refused(&d, "EMBIPC_NO_DRIVES") == without);
    d = cube(EMBIPC_CAGE);
    ENSURE(!refused(&d, ""));
    without = 0;
#ifdef EMBIPC_NO_MATERIALS
    without = 1;
#endif
    d.material.mooney[0] = d.material.mooney[1] = 1e4;
    d.material.mooney[2] = 1e5;
    for (i = EMBIPC_ARAP; i < EMBIPC_MODEL_COUNT; i++) {
        d.material.model = (embipc_model)i;
        ENSURE(refused(&d, "EMBIPC_NO_MATERIALS") == without);
    }
    without = 0;
#ifdef EMBIPC_NO_CAGE_BUILDER
    without = 1;
#endif
    d = cube(EMBIPC_CAGE);
    d.cage_x = NULL;
    ENSURE(refused(&d, "EMBIPC_NO_CAGE_BUILDER") == without);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    test_unused();
    RUN(hello);
    RUN(orthogonality);
    RUN(world_says);
    RUN(body_says);
    return test_end("test_parts");
}
