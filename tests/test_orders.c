/* Calls in orders that are legal and rare: after a reset, with what a view points to, before the first step, while others
 * sleep. */
#include "../embipc.h"
#include "test.h"
#include "scene_test.h"

static scene orders_world(void)
{
    embipc_world_def d = embipc_default_world_def();
    return scene_empty(&d);
}

/* A soft ball that has touched the ground for some steps, a reset, and the ground is destroyed: the ball falls freely,
 * and all that was stored about both is gone or sound. */
static void test_reset_then_destroy(void)
{
    for (int steps = 1; steps < 12; steps++) {
        scene s = orders_world();
        embipc_body_def d = scene_def("ball", EMBIPC_CAGE, 0, 0, 0.053);
        embipc_body_state now;
        double v = -3;
        scene_ground(&s, 1, 0.5);
        d.material.young = 1e4;
        d.velocity[2] = v;
        d.cage_nodes = 60;
        scene_ball(&s, d, 0.05, 2, 0);
        for (int i = 0; i < steps && scene_step(&s); i++) { }
        ENSURE_OK(s.w, embipc_world_reset(s.w));
        ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[0]));
        for (int i = 0; i < 3; i++) {
            ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
            v -= 9.81 * 0.01;
        }
        ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[1], &now));
        ENSURE_CLOSE(now.velocity[2], v, 1e-9);
        ENSURE_CLOSE(now.centre[2], 0.053 + (3 * -3 - 6 * 0.0981) * 0.01, 1e-6);
        ENSURE(scene_sound(s.w));
        scene_end(&s);
    }
}

/* The name of a view names the body that replaces it, or another one. Making a body moves what views point to. */
static void test_name_of_a_view(void)
{
    scene s = orders_world();
    embipc_body_def d = scene_def("teddy", EMBIPC_AFFINE, 0, 0, 0.2);
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    embipc_body_view view;
    embipc_body next;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    test_mesh_shape(&m, &d);
    for (int k = 0; k < 20; k++) {
        ENSURE_OK(s.w, embipc_body_get_view(s.w, s.body[0], &view));
        d.kind = k % 2 ? EMBIPC_AFFINE : EMBIPC_CAGE;
        d.name = view.name;
        if (k < 3) {
            ENSURE_OK(s.w, embipc_body_replace(s.w, s.body[0], &d, &next));
            s.body[0] = next;
        } else {
            d.position[0] = 0.3 * k;
            ENSURE_OK(s.w, embipc_body_create(s.w, &d, &next));
        }
        ENSURE_OK(s.w, embipc_body_get_view(s.w, next, &view));
        ENSURE(!strcmp(view.name, "teddy"));
    }
    test_mesh_free(&m);
    scene_end(&s);
}

/* What no_contact names is checked where a body is replaced as where one is created, and the world stays as it was. */
static void test_replace_names_no_contact(void)
{
    scene s = orders_world();
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.2);
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    embipc_body next, dead;
    unsigned long long hash;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    d.position[0] = 1;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    dead = s.body[1];
    ENSURE_OK(s.w, embipc_body_destroy(s.w, dead));
    test_mesh_shape(&m, &d);
    hash = embipc_world_hash(s.w);
    d.no_contact_count = 3;
    ENSURE(embipc_body_replace(s.w, s.body[0], &d, &next) == EMBIPC_ERR_ARGUMENT);
    d.no_contact_count = 1;
    d.no_contact = &dead;
    ENSURE(embipc_body_replace(s.w, s.body[0], &d, &next) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_world_error(s.w)->body[0].index1 == s.body[0].index1 && next.index1 == 0);
    ENSURE(hash == embipc_world_hash(s.w));
    test_mesh_free(&m);
    scene_end(&s);
}

/* A world is saved and loaded while a ball joint with a limit of twist has not made a step yet, and goes on with the same
 * bits. */
static void test_twist_is_loaded_at_once(void)
{
    for (int k = 0; k < 4; k++) {
        scene s = orders_world();
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("low", k % 2 ? EMBIPC_CAGE : EMBIPC_AFFINE, 0, 0, 1);
        embipc_joint_def j = embipc_default_joint_def();
        embipc_joint joint;
        embipc_world *other;
        embipc_error e;
        size_t size, used;
        void *bytes;
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        d.position[2] = 1.2;
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        j.kind = EMBIPC_BALL;
        if (k > 1) j.a = s.body[0];
        j.b = s.body[1];
        j.point[2] = 1.1;
        j.axis[2] = 1;
        j.limited = 1;
        j.limits[1] = 0.5;
        j.twist = 0.3;
        ENSURE_OK(s.w, embipc_joint_create(s.w, &j, &joint));
        ENSURE_OK(s.w, embipc_world_save(s.w, NULL, 0, &size));
        bytes = malloc(size);
        ENSURE_OK(s.w, embipc_world_save(s.w, bytes, size, &used));
        if (ENSURE_OK(s.w, embipc_world_load(bytes, used, &wd, &other, &e))) {
            for (int i = 0; i < 5; i++) {
                ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
                ENSURE_OK(other, embipc_world_step(other, NULL));
            }
            ENSURE(embipc_world_hash(s.w) == embipc_world_hash(other));
            embipc_world_destroy(other);
        }
        free(bytes);
        scene_end(&s);
    }
}

/* Two boxes of 1 kg sleep on the ground. One is destroyed: from the next step on the ground bears the other one only. */
static void test_forces_of_the_destroyed(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s;
    double force[24], sum = 0;
    embipc_pair_force row[2];
    wd.sleep_after = 0.1;
    s = scene_empty(&wd);
    scene_ground(&s, 1, 0.5);
    scene_box(&s, scene_def("stays", EMBIPC_AFFINE, 0, 0, 0.0501), 0.1, 0.1, 0.1, 1);
    scene_box(&s, scene_def("goes", EMBIPC_AFFINE, 0.3, 0, 0.0501), 0.1, 0.1, 0.1, 1);
    for (int i = 0; i < 100 && scene_step(&s); i++) { }
    ENSURE(!embipc_body_is_awake(s.w, s.body[1]) && !embipc_body_is_awake(s.w, s.body[2]));
    ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[2]));
    s.n--;
    ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
    ENSURE(!embipc_body_is_awake(s.w, s.body[1]));
    ENSURE(embipc_world_pair_forces(s.w, row, 2) == 1);
    ENSURE_CLOSE(row[0].force[2], -9.81, 1e-3);
    ENSURE_OK(s.w, embipc_body_vertex_forces(s.w, s.body[0], force));
    for (int i = 0; i < 8; i++) sum += force[3 * i + 2];
    ENSURE_CLOSE(sum, row[0].force[2], 1e-9);
    scene_end(&s);
}

/* A body, drive or joint that is refused leaves no trace in what is saved. */
static void test_refused_leaves_no_trace(void)
{
    scene s = orders_world();
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.2);
    embipc_joint_def j = embipc_default_joint_def();
    embipc_drive_def drive = embipc_default_drive_def();
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    unsigned long long hash;
    int vertices[1] = {0};
    embipc_body body;
    embipc_joint joint;
    embipc_drive handle;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    test_mesh_shape(&m, &d);
    hash = embipc_world_hash(s.w);
    ENSURE(embipc_body_create(s.w, &d, &body) == EMBIPC_ERR_INTERSECTION);
    ENSURE(embipc_world_hash(s.w) == hash);
    j.kind = EMBIPC_ATTACH;
    j.b = s.body[0];
    j.vertices = vertices;
    j.vertex_count = -3;
    ENSURE(embipc_joint_create(s.w, &j, &joint) == EMBIPC_ERR_ARGUMENT);
    drive.body = s.body[0];
    drive.key_count = -1;
    ENSURE(embipc_drive_create(s.w, &drive, &handle) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_hash(s.w) == hash);
    d.position[0] = 1;
    ENSURE_OK(s.w, embipc_body_create(s.w, &d, &body));
    ENSURE(body.index1 == 2 && body.generation == 1);
    test_mesh_free(&m);
    scene_end(&s);
}

/* ---- calls that fail ---- */

/* counts how often it was asked, times `scale` */
typedef struct orders_clock { double at, scale; } orders_clock;

static double orders_time(void *ctx)
{
    orders_clock *c = (orders_clock *)ctx;
    return c->at += c->scale;
}

/* Steps two worlds that are equal; they end equal. */
static void orders_step_alike(scene *a, scene *b)
{
    ENSURE_OK(a->w, embipc_world_step(a->w, NULL));
    ENSURE_OK(b->w, embipc_world_step(b->w, NULL));
    ENSURE(embipc_world_hash(a->w) == embipc_world_hash(b->w));
}

/* The linked scene, with a ball joint that limits twist, a hard drive that turns, and a soft one. */
static scene orders_linked(orders_clock *clock, embipc_integrator rule)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0.1, 0, 0, 0, 0, 2};
    static const double at[3] = {0.6, 0.3, 0.3};
    embipc_world_def wd = embipc_default_world_def();
    embipc_drive_def drive = embipc_default_drive_def();
    embipc_body_def d = scene_def("hangs", EMBIPC_CAGE, 0.4, 0.3, 0.3);
    embipc_joint_def j;
    scene s;
    wd.clock = orders_time;
    wd.clock_ctx = clock;
    wd.integrator = rule;
    s = scene_empty(&wd);
    scene_linked(&s);
    d.cage_nodes = 30;
    d.angular_velocity[2] = 3;
    scene_ball(&s, d, 0.04, 2, 0);
    j = scene_joint_def(&s, EMBIPC_BALL, -1, s.n - 1, 0.4, 0.3, 0.34, NULL);
    j.axis[2] = 1;
    j.limited = 1;
    j.limits[1] = 0.4;
    j.twist = 0.2;
    (void)scene_joint(&s, j);
    drive.body = s.body[s.n - 1];
    drive.stiffness[0] = 20;
    (void)ENSURE_OK(s.w, embipc_drive_create(s.w, &drive, &s.drive[s.drives++]));
    scene_box(&s, scene_def("turns", EMBIPC_KINEMATIC, at[0], at[1], at[2]), 0.1, 0.1, 0.1, 1);
    scene_drive(&s, s.n - 1, keys, 2, at, NULL, 0);
    return s;
}

/* A step that has no time changes neither the hash nor what is told about islands, before the first step as later. What
 * is asked for between steps, and that step, do not change the next ones. */
static void test_failed_step_leaves_the_hash(void)
{
    for (int k = 0; k < 2; k++) {
        orders_clock clock = {0, 1}, twin_clock = {0, 1};
        embipc_integrator rule = k ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER;
        scene s = orders_linked(&clock, rule), twin = orders_linked(&twin_clock, rule);
        for (int n = 0; n < 12; n++) {
            unsigned long long hash = embipc_world_hash(s.w);
            int island[SCENE_BODIES];
            for (int i = 0; i < s.n; i++) island[i] = embipc_body_island(s.w, s.body[i]);
            ENSURE(n == 0 || island[1] >= 0);
            for (double budget = 1; budget < 100; budget *= 3) {
                ENSURE_OK(s.w, embipc_world_set_budget(s.w, budget, 1));
                ENSURE(embipc_world_step(s.w, NULL) == EMBIPC_ERR_TIME);
                ENSURE_OK(s.w, embipc_world_set_budget(s.w, 0, 0));
                ENSURE(embipc_world_hash(s.w) == hash);
                for (int i = 0; i < s.n; i++) ENSURE(embipc_body_island(s.w, s.body[i]) == island[i]);
            }
            orders_step_alike(&s, &twin);
        }
        scene_end(&s);
        scene_end(&twin);
    }
}

/* The hashes of two worlds are equal though one clock is slower, as long as no step is late. */
static void test_hash_is_not_of_the_clock(void)
{
    orders_clock clock = {0, 1}, slow = {0, 7};
    scene s = orders_linked(&clock, EMBIPC_BACKWARD_EULER), other = orders_linked(&slow, EMBIPC_BACKWARD_EULER);
    ENSURE_OK(s.w, embipc_world_set_budget(s.w, 1e9, 0));
    ENSURE_OK(other.w, embipc_world_set_budget(other.w, 1e9, 0));
    for (int n = 0; n < 5; n++) {
        orders_step_alike(&s, &other);
    }
    scene_end(&s);
    scene_end(&other);
}

/* A reset leaves what was made, to the last word of a snapshot; no body tells an island any more. */
static void test_reset_has_the_hash_of_the_start(void)
{
    for (int k = 0; k < 2 * SCENE_COUNT; k++) {
        embipc_world_def d = scene_world_def(k / 2);
        unsigned long long hash;
        scene s;
        if (k % 2) d.integrator = EMBIPC_BDF2, d.sleep_after = 0.05;
        s = scene_make(k / 2, &d);
        hash = embipc_world_hash(s.w);
        for (int n = 0; n < 8; n++) scene_step(&s);
        ENSURE_OK(s.w, embipc_world_reset(s.w));
        ENSURE(embipc_world_hash(s.w) == hash && embipc_body_island(s.w, s.body[1]) == -1);
        scene_end(&s);
    }
}

/* Asked for two bodies: bodies whose user pointers differ by one keep apart. */
static int orders_pair(embipc_body a, void *user_a, embipc_body b, void *user_b, void *ctx)
{
    (void)a;
    (void)b;
    (void)ctx;
    return !user_a || !user_b;
}

/* A body that is refused, when it is made or when it replaces another, leaves the hash and the handles of later ones.
 * The error names the body that was to be replaced. */
static void test_failed_replace_leaves_the_hash(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.0502);
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    const double far[3] = {1, 0, 0}, none[3] = {0, 0, 0};
    embipc_body next, made[2];
    unsigned long long hash;
    scene s;
    wd.pair = orders_pair;
    wd.sleep_after = 0.1;
    s = scene_empty(&wd);
    scene_ground(&s, 2, 0.5);
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    d.position[2] = 0.1505;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    for (int i = 0; i < 60; i++) scene_step(&s);
    ENSURE(!embipc_body_is_awake(s.w, s.body[1]));
    test_mesh_shape(&m, &d);
    hash = embipc_world_hash(s.w);
    d.scale = 1.3;
    ENSURE(embipc_body_replace(s.w, s.body[1], &d, &next) == EMBIPC_ERR_INTERSECTION && !next.index1);
    ENSURE(embipc_world_error(s.w)->body[0].index1 == s.body[1].index1);
    ENSURE(embipc_world_hash(s.w) == hash && !embipc_body_is_awake(s.w, s.body[1]));
    d.scale = 1;
    d.dhat = -1;
    ENSURE(embipc_body_replace(s.w, s.body[1], &d, &next) == EMBIPC_ERR_ARGUMENT && !next.index1);
    ENSURE(embipc_world_error(s.w)->body[0].index1 == s.body[1].index1 && embipc_world_hash(s.w) == hash);
    d.dhat = 0;
    d.kind = EMBIPC_FIXED;
    ENSURE(embipc_body_replace(s.w, s.body[1], &d, &next) == EMBIPC_ERR_ARGUMENT && !next.index1);
    d.kind = EMBIPC_AFFINE;
    ENSURE(embipc_body_replace(s.w, s.body[1], NULL, &next) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_error(s.w)->body[0].index1 == s.body[1].index1 && embipc_world_hash(s.w) == hash);
    d.position[2] = 3;
    d.user = &m;
    for (int i = 0; i < 2; i++) {
        d.position[0] = i;
        ENSURE_OK(s.w, embipc_body_create(s.w, &d, made + i));
    }
    ENSURE(made[0].index1 == 4 && made[0].generation == 1);
    ENSURE_OK(s.w, embipc_body_destroy(s.w, made[0]));
    hash = embipc_world_hash(s.w);
    d.position[2] = 0.06;
    d.position[0] = 0;
    ENSURE(embipc_body_create(s.w, &d, &next) == EMBIPC_ERR_INTERSECTION);   /* kept apart from the one behind its slot */
    ENSURE(embipc_world_hash(s.w) == hash);
    ENSURE_OK(s.w, embipc_body_set_velocity(s.w, made[1], far, none));
    test_mesh_free(&m);
    scene_end(&s);
}

/* A box that is pushed and turned, and held by a soft drive, changes its kind before the step: it moves as the twin that
 * stayed, and the drive's handle is good. With another number of vertices the drive ends. */
static void test_replace_keeps_loads(void)
{
    const double f[3] = {0.3, 0.1, 20}, up[3] = {0, 0, 0.02}, none[3] = {0, 0, 0};
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    embipc_body_state now[2];
    embipc_drive_state pulls;
    for (int k = 0; k < 2; k++) {
        scene s = orders_world();
        embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.2);
        embipc_drive_def drive = embipc_default_drive_def();
        embipc_drive soft;
        embipc_body_view view;
        test_mesh fine = test_mesh_sphere(1);
        test_mesh_shape(&m, &d);
        d.material.young = 1e8;
        ENSURE_OK(s.w, embipc_body_create(s.w, &d, &s.body[s.n++]));
        drive.body = s.body[0];
        for (int i = 0; i < 3; i++) drive.stiffness[i] = 100;
        ENSURE_OK(s.w, embipc_drive_create(s.w, &drive, &soft));
        ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
        ENSURE_OK(s.w, embipc_drive_set_target(s.w, soft, up, none));
        ENSURE_OK(s.w, embipc_body_get_view(s.w, s.body[0], &view));
        if (k) ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[0], 7, f));
        else ENSURE_OK(s.w, embipc_body_apply_wrench(s.w, s.body[0], f, NULL, view.x + 21));
        d.kind = EMBIPC_CAGE;
        d.cage_nodes = 8;
        if (k) ENSURE_OK(s.w, embipc_body_replace(s.w, s.body[0], &d, &s.body[0]));
        for (int i = 0; i < 3; i++) ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
        ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[0], &now[k]));
        ENSURE_OK(s.w, embipc_drive_get_state(s.w, soft, &pulls));
        ENSURE(pulls.force[2] > 0.5);
        test_mesh_shape(&fine, &d);
        d.scale = 0.05;
        ENSURE_OK(s.w, embipc_body_replace(s.w, s.body[0], &d, &s.body[0]));
        ENSURE(embipc_drive_get_state(s.w, soft, &pulls) == EMBIPC_ERR_HANDLE);
        ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
        test_mesh_free(&fine);
        scene_end(&s);
    }
    for (int i = 0; i < 3; i++) {
        ENSURE_CLOSE(now[1].velocity[i], now[0].velocity[i], 1e-4);
        ENSURE_CLOSE(now[1].angular_velocity[i], now[0].angular_velocity[i], 2e-3);
    }
    ENSURE(now[0].velocity[2] > -0.2 && fabs(now[0].angular_velocity[0]) > 0.5);
    test_mesh_free(&m);
}

/* A call that names a body and fails tells its handle, or the one that is driven or linked, or both of a pair. */
static void test_errors_name_the_body(void)
{
    scene s = orders_world();
    const double no[3] = {(double)NAN, 0, 0}, none[3] = {0, 0, 0}, huge[3] = {1e300, 0, 0}, I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    embipc_drive_def dd = embipc_default_drive_def();
    embipc_joint_def jd, wrong;
    embipc_drive drive, soft;
    embipc_joint joint;
    embipc_body a, b, c;
    int wrong_vertex = 99;
    scene_box(&s, scene_def("first", EMBIPC_AFFINE, 0, 0, 0), 0.1, 0.1, 0.1, 1);
    scene_box(&s, scene_def("second", EMBIPC_CAGE, 1, 0, 0), 0.1, 0.1, 0.1, 1);
    scene_box(&s, scene_def("third", EMBIPC_KINEMATIC, 2, 0, 0), 0.1, 0.1, 0.1, 1);
    a = s.body[0], b = s.body[1], c = s.body[2];
    dd.body = c;
    ENSURE_OK(s.w, embipc_drive_create(s.w, &dd, &drive));
    jd = scene_joint_def(&s, EMBIPC_BALL, 0, 1, 0.5, 0, 0, NULL);
    ENSURE_OK(s.w, embipc_joint_create(s.w, &jd, &joint));
#define NAMES(call, body_a, second) do { \
        const embipc_error *e = embipc_world_error(s.w); \
        unsigned long long hash = embipc_world_hash(s.w); \
        embipc_result r; \
        (void)embipc_world_set_gravity(s.w, no);   /* the last error is another one */ \
        ENSURE((r = (call)) != EMBIPC_OK && r == e->code); \
        ENSURE(e->body[0].index1 == (body_a).index1 && e->body[0].generation == (body_a).generation); \
        ENSURE(e->body[1].index1 == (second) && embipc_world_hash(s.w) == hash); \
    } while (0)
    NAMES(embipc_body_apply_force(s.w, a, 0, NULL), a, 0);
    NAMES(embipc_body_apply_force(s.w, a, 0, no), a, 0);
    NAMES(embipc_body_apply_force(s.w, a, 8, none), a, 0);
    NAMES(embipc_body_apply_force(s.w, a, -1, huge), a, 0);
    NAMES(embipc_body_apply_wrench(s.w, a, no, NULL, NULL), a, 0);
    NAMES(embipc_body_apply_impulse(s.w, a, huge, huge, NULL), a, 0);
    NAMES(embipc_body_apply_pressure(s.w, b, (double)NAN), b, 0);
    NAMES(embipc_body_set_velocity(s.w, b, NULL, none), b, 0);
    NAMES(embipc_body_set_velocity(s.w, b, no, none), b, 0);
    NAMES(embipc_body_set_surface_velocity(s.w, b, NULL), b, 0);
    NAMES(embipc_body_set_surface_velocity(s.w, b, no), b, 0);
    NAMES(embipc_body_scale_stiffness(s.w, b, -1), b, 0);
    NAMES(embipc_body_set_friction(s.w, b, -1, 0), b, 0);
    NAMES(embipc_body_set_pose(s.w, a, NULL, I, 0), a, 0);
    NAMES(embipc_body_set_pose(s.w, a, none, I, 0), a, 0);
    NAMES(embipc_body_ask_pairs(s.w, a), a, 0);
    NAMES(embipc_world_set_pair(s.w, b, a, no[0], 1), a, b.index1);
    NAMES(embipc_world_set_pair(s.w, b, a, 1e30, 1), a, b.index1);
    NAMES(embipc_drive_set_target(s.w, drive, NULL, none), c, 0);
    NAMES(embipc_drive_set_target(s.w, drive, no, none), c, 0);
    NAMES(embipc_drive_set_target(s.w, drive, huge, none), c, 0);
    dd.stiffness[0] = 1;
    NAMES(embipc_drive_create(s.w, &dd, &soft), c, 0);
    dd.body = b;
    dd.vertices = &wrong_vertex;
    dd.vertex_count = 1;
    NAMES(embipc_drive_create(s.w, &dd, &soft), b, 0);
    NAMES(embipc_joint_set_motor(s.w, joint, 0, 0, 0), b, 0);
    wrong = jd;
    wrong.friction = 1;
    NAMES(embipc_joint_change(s.w, joint, &wrong), b, 0);
    wrong.b = a;
    NAMES(embipc_joint_change(s.w, joint, &wrong), b, 0);
    wrong = jd;
    wrong.stiffness = -1;
    NAMES(embipc_joint_create(s.w, &wrong, &joint), b, 0);
    wrong = jd;
    wrong.point[0] = 1e6;
    NAMES(embipc_joint_create(s.w, &wrong, &joint), a, 0);
    wrong = scene_joint_def(&s, EMBIPC_BALL, 1, 1, 0.5, 0, 0, NULL);
    NAMES(embipc_joint_create(s.w, &wrong, &joint), b, 0);
#undef NAMES
    scene_end(&s);
}

/* A rod begins within its limits, as other joints do; a rope that is taut has the length of its ends, but for rounding. */
static void test_rods_begin_within_limits(void)
{
    scene s = orders_world();
    embipc_joint_def j;
    embipc_joint joint;
    scene_box(&s, scene_def("hangs", EMBIPC_AFFINE, 0, 0, 0.35), 0.1, 0.1, 0.1, 1);
    j = scene_joint_def(&s, EMBIPC_ROD, -1, 0, 0.1, 0.2, 1.1, NULL);
    j.point_b[0] = j.point_b[1] = 0;
    j.point_b[2] = 0.4;
    j.limited = 1;
    j.limits[1] = sqrt(0.54);
    for (int k = 0; k < 4; k++) {
        embipc_joint_def d = j;
        unsigned long long hash = embipc_world_hash(s.w);
        d.limits[0] = k == 1 ? d.limits[1] : k == 3 ? 0.8 : 0;
        d.limits[1] = k == 2 ? 0.7 : k == 3 ? 0.9 : d.limits[1] * (1 - 1e-15);
        if (k < 2) {
            d.limits[0] = fmin(d.limits[0], d.limits[1]);
            ENSURE_OK(s.w, embipc_joint_create(s.w, &d, &joint));
            ENSURE_OK(s.w, embipc_joint_destroy(s.w, joint));
        } else {
            ENSURE(embipc_joint_create(s.w, &d, &joint) == EMBIPC_ERR_ARGUMENT && strstr(embipc_world_error(s.w)->text, "0.734847 m long"));
            ENSURE(embipc_world_hash(s.w) == hash && embipc_world_error(s.w)->body[0].index1 == 1);
        }
    }
    scene_end(&s);
}

/* ---- callbacks that call back ---- */

static struct { embipc_world *w, *saved; embipc_body body; embipc_drive drive; embipc_joint joint; int kind, asked, refused; } back;

/* One call that would move the world's data, `kind` of them. */
static void call_back(void)
{
    embipc_body_def d = scene_def("late", EMBIPC_AFFINE, 5, 0, 1);
    embipc_drive_def dd = embipc_default_drive_def();
    embipc_joint_def jd = embipc_default_joint_def();
    test_mesh m;
    embipc_body made;
    embipc_drive drive;
    embipc_joint joint;
    embipc_world *copy = NULL;
    static const double to[3] = {3, 3, 3};
    embipc_result r;
    size_t bytes;
    if (!back.w || back.kind < 0) return;
    back.asked++;
    m = test_mesh_box(0, 0, 0, 0.1, 0.1, 0.1);
    test_mesh_shape(&m, &d);
    dd.body = back.body;
    jd.b = back.body;
    switch (back.kind) {
    case 0: r = embipc_body_create(back.w, &d, &made); break;
    case 1: r = embipc_body_destroy(back.w, back.body); break;
    case 2: r = embipc_world_step(back.w, NULL); break;
    case 3: r = embipc_world_reset(back.w); break;
    case 4: r = embipc_drive_create(back.w, &dd, &drive); break;
    case 5: r = embipc_drive_destroy(back.w, back.drive); break;
    case 6: r = embipc_joint_create(back.w, &jd, &joint); break;
    case 7: r = embipc_joint_destroy(back.w, back.joint); break;
    case 8: r = embipc_body_replace(back.w, back.body, &d, &made); break;
    case 9: r = embipc_body_set_pose(back.w, back.body, to, NULL, 1); break;
    case 10: r = embipc_world_set_pair(back.w, back.body, back.body, 0.1, 1); break;
    case 11: r = embipc_body_set_groups(back.w, back.body, 2, 2); break;
    case 12: r = embipc_body_ask_pairs(back.w, back.body); break;
    case 13: r = embipc_world_set_time_step(back.w, 0.02); break;
    case 14: r = embipc_world_restore(back.w, back.saved); break;
    case 15: r = embipc_joint_change(back.w, back.joint, &jd); break;
    case 16: r = embipc_world_copy(back.w, &copy); break;
    default: r = embipc_world_save(back.w, NULL, 0, &bytes);
    }
    back.refused += r == EMBIPC_ERR_ARGUMENT && (back.kind > 15 || strstr(embipc_world_error(back.w)->text, "callback"));
    test_mesh_free(&m);
}

static int back_pair(embipc_body a, void *ua, embipc_body b, void *ub, void *ctx)
{
    (void)a; (void)ua; (void)b; (void)ub; (void)ctx;
    call_back();
    return 1;
}

static double back_clock(void *ctx)
{
    (void)ctx;
    call_back();
    return 0;
}

static scene back_world(int kind)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.06);
    embipc_drive_def dd = embipc_default_drive_def();
    embipc_joint_def jd = embipc_default_joint_def();
    static const double key[7] = {0, 0, 0, 0, 0, 0, 0};
    scene s;
    memset(&back, 0, sizeof back);
    wd.pair = back_pair;
    wd.clock = back_clock;
    s = scene_empty(&wd);
    back.kind = -1;
    back.w = s.w;
    scene_ground(&s, 1, 0.5);
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    back.body = s.body[1];
    d.position[0] = 0.3;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    dd.body = s.body[1];
    dd.stiffness[0] = 1;
    dd.keys = key;
    dd.key_count = 1;
    ENSURE_OK(s.w, embipc_drive_create(s.w, &dd, &back.drive));
    jd.kind = EMBIPC_BALL;
    jd.b = s.body[2];
    jd.point[0] = 0.3;
    jd.point[2] = 0.2;
    ENSURE_OK(s.w, embipc_joint_create(s.w, &jd, &back.joint));
    ENSURE_OK(s.w, embipc_world_copy(s.w, &back.saved));
    ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
    back.kind = kind;
    return s;
}

/* What a callback calls in a step, or while a body is made, is refused, and the world goes on as without these calls. */
static void test_callbacks_change_nothing(void)
{
    unsigned long long plain = 0;
    for (int kind = -1; kind < 18; kind++) {
        scene s = back_world(kind);
        embipc_body_def d = scene_def("third", EMBIPC_AFFINE, -0.3, 0, 0.06);
        int asked;
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        asked = back.asked;
        for (int i = 0; i < 3; i++) ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
        ENSURE(kind < 0 || (asked > 2 && back.asked > asked + 10));
        ENSURE(back.refused == back.asked);
        if (kind < 0) plain = embipc_world_hash(s.w);
        ENSURE(embipc_world_hash(s.w) == plain);
        back.kind = -1;
        ENSURE_OK(s.w, embipc_body_destroy(s.w, back.body));
        embipc_world_destroy(back.saved);
        scene_end(&s);
        back.w = NULL;
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(reset_then_destroy);
    RUN(name_of_a_view);
    RUN(replace_names_no_contact);
    RUN(twist_is_loaded_at_once);
    RUN(forces_of_the_destroyed);
    RUN(refused_leaves_no_trace);
    RUN(failed_step_leaves_the_hash);
    RUN(hash_is_not_of_the_clock);
    RUN(reset_has_the_hash_of_the_start);
    RUN(failed_replace_leaves_the_hash);
    RUN(replace_keeps_loads);
    RUN(errors_name_the_body);
    RUN(rods_begin_within_limits);
    RUN(callbacks_change_nothing);
    meshio_test_unused();
    test_unused();
    return test_end("test_orders");
}
