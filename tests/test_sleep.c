/* Bodies that sleep: what they keep, what wakes them, that nothing passes them, and that threads, failures and memory see
 * no difference. */
#include "small.h"
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "undo_test.h"

enum { SLEEP_STEPS = 600, SLEEP_BODIES = 8 };
/* the bodies of sleep_make(): ground, a tower of three, a soft ball, and three boxes apart from each other and from those */
enum { SLEEP_GROUND, SLEEP_LOW, SLEEP_MIDDLE, SLEEP_TOP, SLEEP_BALL, SLEEP_LEFT, SLEEP_RIGHT, SLEEP_LONE };

static int sleep_awake(const scene *s, int body) { return embipc_body_is_awake(s->w, s->body[body]); }

static embipc_world_def sleep_def(double after)
{
    embipc_world_def d = embipc_default_world_def();
    d.time_step = 1 / 60.0;
    d.sleep_after = after;
    return d;
}
/* a box of 0.1 m */
static int sleep_box(scene *s, embipc_kind kind, double x, double y, double z)
{
    embipc_body_def d = scene_def("box", kind, x, y, z);
    d.friction = 0.5;
    return scene_box(s, d, 0.1, 0.1, 0.1, 2);
}
static scene sleep_make(const embipc_world_def *wd)
{
    scene s = scene_empty(wd);
    embipc_body_def d = scene_def("ball", EMBIPC_CAGE, 0.3, 0, 0.0505);
    scene_ground(&s, 3, 0.5);
    sleep_box(&s, EMBIPC_AFFINE, 0, 0, 0.0502);
    sleep_box(&s, EMBIPC_CAGE, 0.01, 0, 0.1506);
    sleep_box(&s, EMBIPC_AFFINE, 0, 0.01, 0.2510);
    d.friction = 0.5;
    d.material.young = 2e5;
    scene_ball(&s, d, 0.05, 1, 2);
    sleep_box(&s, EMBIPC_AFFINE, 0.6, 0, 0.0502);
    sleep_box(&s, EMBIPC_AFFINE, 0.75, 0, 0.0502);
    sleep_box(&s, EMBIPC_AFFINE, -0.6, 0, 0.0502);
    return s;
}
/* steps until `count` bodies sleep; returns the steps */
static int sleep_wait(scene *s, int count)
{
    for (int n = 1; n <= SLEEP_STEPS; n++) {
        if (!scene_step(s)) break;
        if (s->stats.sleeping == count) return n;
    }
    ENSURE(!"they sleep");
    return SLEEP_STEPS;
}
/* sum of the vertex forces on a body along z, N */
static double sleep_lift(const scene *s, int body)
{
    static double f[3 * 4096];
    embipc_body_view v;
    double sum = 0;
    (void)embipc_body_get_view(s->w, s->body[body], &v);
    (void)embipc_body_vertex_forces(s->w, s->body[body], f);
    for (int i = 0; i < v.vertex_count; i++) sum += f[3 * i + 2];
    return sum;
}
static double sleep_total(const scene *s) { return s->stats.kinetic + s->stats.elastic + s->stats.barrier + s->stats.potential; }

/* Not before their time, with what they had: positions, forces, contacts and events stay for good, and carry the weight. */
static void test_keeps_what_it_had(void)
{
    embipc_world_def wd = sleep_def(1);
    scene s;
    static embipc_pair_force rows[2][64];
    static embipc_contact contacts[2][512];
    embipc_contact_event event[64];
    double weight = 0, energy, *x[SLEEP_BODIES];
    int n, k, pairs, lagged;
    unsigned long long bits, forces;
    wd.tolerance = 1e-8;
    s = sleep_make(&wd);
    ENSURE(sleep_wait(&s, 7) >= 60);
    pairs = embipc_world_pair_forces(s.w, rows[0], 64);
    n = embipc_world_contacts(s.w, contacts[0], 512);
    energy = sleep_total(&s);
    lagged = s.w->lagged.count;
    for (k = 0; k < SLEEP_BODIES; k++) {
        embipc_body_state state = scene_state(s.w, s.body[k]);
        x[k] = scene_positions(s.w, s.body[k]);
        ENSURE(k == SLEEP_GROUND || embi_norm(state.velocity) + embi_norm(state.angular_velocity) == 0);
        ENSURE(sleep_awake(&s, k) == (k == SLEEP_GROUND));
        weight += state.mass * 9.81;
    }
    (void)scene_step(&s);
    bits = scene_bits(s.w);
    forces = 0;
    for (k = 0; k < 30; k++) {
        unsigned long long now = 0;
        (void)scene_step(&s);
        for (int i = 0; i < SLEEP_BODIES; i++) now = now * 31 + scene_body_bits(s.w, s.body[i]);
        ENSURE(k == 0 || now == forces);
        forces = now;
    }
    ENSURE(lagged > 10 && s.w->lagged.count == lagged && bits != 0 && s.stats.sleeping == 7 && s.stats.islands == 0 && s.stats.total_iterations == 0 && s.stats.candidates == 0);
    ENSURE(embipc_world_pair_forces(s.w, rows[1], 64) == pairs && !memcmp(rows[0], rows[1], (size_t)pairs * sizeof **rows));
    ENSURE(embipc_world_contacts(s.w, contacts[1], 512) == n && n > 20 && s.stats.merged_contacts == n);
    ENSURE(!memcmp(contacts[0], contacts[1], (size_t)n * sizeof **contacts));
    ENSURE(embipc_world_contact_events(s.w, event, 64) == pairs);
    for (k = 0; k < pairs; k++) ENSURE(event[k].phase == EMBIPC_CONTACT_PERSIST);
    ENSURE_REL(-sleep_lift(&s, SLEEP_GROUND), weight, 1e-6);
    ENSURE_REL(sleep_lift(&s, SLEEP_BALL), scene_state(s.w, s.body[SLEEP_BALL]).mass * 9.81, 1e-6);
    ENSURE_CLOSE(sleep_total(&s), energy, 1e-10 * energy);
    for (k = 0; k < SLEEP_BODIES; k++) {
        double *now = scene_positions(s.w, s.body[k]);
        embipc_body_view v;
        (void)embipc_body_get_view(s.w, s.body[k], &v);
        ENSURE(!memcmp(x[k], now, (size_t)(3 * v.vertex_count) * sizeof(double)));
        free(now);
        free(x[k]);
    }
    ENSURE(scene_sound(s.w));
    scene_end(&s);
}

/* Who wakes without cause stays where it is: no jump of height, energy or force. */
static void test_wakes_where_it_was(void)
{
    embipc_world_def wd = sleep_def(1);
    scene s;
    double energy, z[SLEEP_BODIES], lift[SLEEP_BODIES];
    wd.tolerance = 1e-8;
    s = sleep_make(&wd);
    (void)sleep_wait(&s, 7);
    (void)scene_step(&s);
    energy = sleep_total(&s);
    for (int k = 0; k < SLEEP_BODIES; k++) {
        z[k] = scene_state(s.w, s.body[k]).centre[2];
        lift[k] = sleep_lift(&s, k);
        ENSURE(embipc_body_wake(s.w, s.body[k]) == EMBIPC_OK && sleep_awake(&s, k) == 1);
    }
    for (int n = 0; n < 30; n++) {
        (void)scene_step(&s);
        ENSURE(s.stats.sleeping == 0 && s.stats.islands > 0);
        ENSURE(sleep_total(&s) <= energy * (1 + 1e-9) && s.stats.kinetic < 1e-9 * energy);
        for (int k = 0; k < SLEEP_BODIES; k++) {
            ENSURE_CLOSE(scene_state(s.w, s.body[k]).centre[2], z[k], 1e-5);
            ENSURE_CLOSE(sleep_lift(&s, k), lift[k], 1e-4 * fabs(lift[SLEEP_GROUND]));
        }
    }
    scene_end(&s);
}

/* ---- what wakes ---- */

typedef enum sleep_cause {
    SLEEP_BY_NOTHING, SLEEP_BY_NO_FORCE, SLEEP_BY_FORCE, SLEEP_BY_VELOCITY, SLEEP_BY_IMPULSE, SLEEP_BY_PRESSURE, SLEEP_BY_POSE, SLEEP_BY_CALL,
    SLEEP_BY_DRIVE, SLEEP_BY_JOINT, SLEEP_BY_PAIR, SLEEP_BY_GROUPS, SLEEP_BY_LOSS, SLEEP_BY_GRAVITY, SLEEP_BY_SAME_GRAVITY,
    SLEEP_BY_TIME_STEP, SLEEP_BY_BELT, SLEEP_BY_NO_GROUND, SLEEP_BY_WALL, SLEEP_BY_FAR_WALL, SLEEP_BY_PLATE, SLEEP_BY_RESET,
    SLEEP_BY_FRICTION, SLEEP_BY_STIFFNESS, SLEEP_BY_LONGER_STEP, SLEEP_CAUSES
} sleep_cause;
/* which bodies are awake after the step then: T the tower, B the ball, L, R, O the three boxes */
static const char *const sleep_woken[SLEEP_CAUSES] = {"", "", "T", "T", "T", "T", "TL", "T", "O", "TO", "T", "T", "T", "TBLRO", "", "TLRO",
                                                      "TBLRO", "TBLRO", "O", "", "O", "TBLRO", "TBLRO", "T", ""};

/* something happens, most often to the top of the tower */
static void sleep_disturb(scene *s, sleep_cause cause)
{
    static const double none[3] = {0, 0, 0}, push[3] = {0.01, 0, 0}, light[3] = {0, 0, -5}, weight[3] = {0, 0, -9.81}, turn[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double place[3], low, high;
    embipc_body top = s->body[SLEEP_TOP];
    embipc_drive_def drive = embipc_default_drive_def();
    embipc_joint_def joint;
    embipc_body_def d = scene_def("wall", EMBIPC_FIXED, cause == SLEEP_BY_WALL ? -0.60 : -0.8, 0, 0.15);
    embipc_result r = EMBIPC_OK;
    scene_extent(s->w, s->body[SLEEP_LONE], 2, &low, &high);
    d.position[2] = high + 0.0501;
    switch (cause) {
    case SLEEP_BY_NO_FORCE: r = embipc_body_apply_force(s->w, top, -1, none); break;
    case SLEEP_BY_FORCE: r = embipc_body_apply_force(s->w, top, -1, push); break;
    case SLEEP_BY_VELOCITY: r = embipc_body_set_velocity(s->w, top, push, none); break;
    case SLEEP_BY_IMPULSE: r = embipc_body_apply_impulse(s->w, top, push, NULL, NULL); break;
    case SLEEP_BY_PRESSURE: r = embipc_body_apply_pressure(s->w, top, 10); break;
    case SLEEP_BY_POSE:   /* 0.3 mm beside a box, which is less than two dhat */
        embi_copy(place, scene_state(s->w, s->body[SLEEP_LEFT]).centre);
        place[1] += 0.1003;
        r = embipc_body_set_pose(s->w, top, place, turn, 0);
        break;
    case SLEEP_BY_CALL: r = embipc_body_wake(s->w, top); break;
    case SLEEP_BY_DRIVE:
        drive.body = s->body[SLEEP_LONE];
        r = embipc_drive_create(s->w, &drive, &s->drive[s->drives++]);
        break;
    case SLEEP_BY_JOINT:
        joint = scene_joint_def(s, EMBIPC_ROD, SLEEP_MIDDLE, SLEEP_LONE, 0, 0, 0.15, NULL);
        joint.point_b[0] = -0.6;
        (void)scene_joint(s, joint);
        break;
    case SLEEP_BY_PAIR: r = embipc_world_set_pair(s->w, top, s->body[SLEEP_MIDDLE], 0.1, 1); break;
    case SLEEP_BY_GROUPS: r = embipc_body_set_groups(s->w, top, 2, 3); break;
    case SLEEP_BY_LOSS: r = embipc_body_destroy(s->w, s->body[SLEEP_LOW]); break;
    case SLEEP_BY_GRAVITY: r = embipc_world_set_gravity(s->w, light); break;
    case SLEEP_BY_SAME_GRAVITY: r = embipc_world_set_gravity(s->w, weight); break;
    case SLEEP_BY_TIME_STEP: r = embipc_world_set_time_step(s->w, 0.001); break;   /* another kappa, but for the soft ball */
    case SLEEP_BY_LONGER_STEP: r = embipc_world_set_time_step(s->w, 0.02); break;
    case SLEEP_BY_BELT: r = embipc_body_set_surface_velocity(s->w, s->body[SLEEP_GROUND], push); break;
    case SLEEP_BY_NO_GROUND: r = embipc_body_destroy(s->w, s->body[SLEEP_GROUND]); break;
    case SLEEP_BY_WALL:   /* 0.1 mm above a box, which is less than dhat */
    case SLEEP_BY_FAR_WALL: s->n -= scene_box(s, d, 0.1, 0.1, 0.1, 1) > 0; break;
    case SLEEP_BY_PLATE: {
        static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, -0.6, 0, 0, 0};
        double now = embipc_world_time(s->w), at[14];
        memcpy(at, keys, sizeof at);
        at[0] = now;
        at[7] = now + 1;
        d = scene_def("plate", EMBIPC_KINEMATIC, -0.6, 0, 0.18);
        (void)scene_drive(s, scene_box(s, d, 0.08, 0.08, 0.08, 1), at, 2, d.position, NULL, 0);
        s->n--;
        for (int n = 0; n < 2; n++) (void)scene_step(s);   /* 10 mm each: it has not come near yet */
        ENSURE(s->stats.sleeping == 7);
        break;
    }
    case SLEEP_BY_FRICTION: r = embipc_body_set_friction(s->w, s->body[SLEEP_GROUND], 0.4, 0.4); break;
    case SLEEP_BY_STIFFNESS: r = embipc_body_scale_stiffness(s->w, s->body[SLEEP_MIDDLE], 0.5); break;
    case SLEEP_BY_RESET:
        r = embipc_world_reset(s->w);
        ENSURE(sleep_awake(s, SLEEP_LONE) == 1);
        break;
    default: break;
    }
    (void)ENSURE_OK(s->w, r);
}
/* Each call that changes what a body does wakes it, with all it sleeps with, and nobody else. */
static void test_what_wakes(void)
{
    for (int cause = 0; cause < SLEEP_CAUSES; cause++) {
        embipc_world_def wd = sleep_def(0.2);
        scene s = sleep_make(&wd);
        static const char names[] = "GTTTBLRO";
        (void)sleep_wait(&s, 7);
        sleep_disturb(&s, (sleep_cause)cause);
        for (int n = 0; n < (cause == SLEEP_BY_PLATE ? 3 : 1); n++) (void)scene_step(&s);
        for (int k = 1; k < SLEEP_BODIES; k++) {
            int awake = sleep_awake(&s, k), wanted = strchr(sleep_woken[cause], names[k]) != NULL;
            if (awake >= 0 && awake != wanted) printf("  cause %d, body %d: awake %d\n", cause, k, awake);
            ENSURE(awake < 0 ? cause == SLEEP_BY_LOSS && k == SLEEP_LOW : awake == wanted);
        }
        for (int n = 0; n < 20; n++) (void)scene_step(&s);
        if (cause == SLEEP_BY_LOSS || cause == SLEEP_BY_NO_GROUND) {
            double *x = scene_positions(s.w, s.body[SLEEP_TOP]);
            ENSURE(x[2] < 0.2);   /* it has fallen */
            free(x);
        }
        ENSURE(scene_sound(s.w));
        scene_end(&s);
    }
}

/* A motor and a soft drive hold a load. Both keep what they say of it, and wake it when they get another target,
 * or the joint another number. */
static void test_motors_and_drives(void)
{
    static const double still[3] = {0, 0, 0}, up[3] = {0, 0, 0.01}, axis[3] = {0, 0, 1};
    for (int which = 0; which < 2; which++) {
        embipc_world_def wd = sleep_def(0.3);
        scene s;
        embipc_joint_def j;
        embipc_joint joint = {0, 0};
        embipc_joint_state state[2];
        embipc_drive_state drive[2];
        double energy, z;
        if (!which) wd.gravity[0] = 3;   /* across the slider, which stores energy */
        s = scene_empty(&wd);
        sleep_box(&s, EMBIPC_CAGE, 0, 0, 0);
        if (which) {
            embipc_drive_def d = embipc_default_drive_def();
            d.body = s.body[0];
            d.damping = 0.1;
            for (int k = 0; k < 3; k++) d.stiffness[k] = 400;
            (void)ENSURE_OK(s.w, embipc_drive_create(s.w, &d, &s.drive[s.drives++]));
        } else {
            j = scene_joint_def(&s, EMBIPC_SLIDER, -1, 0, 0, 0, 0, axis);
            j.stiffness = 1000;
            j.motor_stiffness = 500;
            j.motor_damping = 50;
            joint = scene_joint(&s, j);
        }
        (void)sleep_wait(&s, 1);
        energy = sleep_total(&s) + s.stats.joint;
        z = scene_state(s.w, s.body[0]).centre[2];
        for (int n = 0; n < 2; n++) {
            if (which) (void)embipc_drive_get_state(s.w, s.drive[0], drive + n);
            else (void)embipc_joint_get_state(s.w, joint, state + n);
            (void)scene_step(&s);
            ENSURE(s.stats.sleeping == 1 && s.stats.islands == 0);
        }
        if (which) ENSURE(!memcmp(drive, drive + 1, sizeof *drive) && fabs(drive->force[2] - 9.81) < 0.05);
        else ENSURE(!memcmp(state, state + 1, sizeof *state) && fabs(state->force[2] - 9.81) < 0.05);
        ENSURE_CLOSE(sleep_total(&s) + s.stats.joint, energy, 1e-4);
        if (which) (void)ENSURE_OK(s.w, embipc_drive_set_target(s.w, s.drive[0], still, still));
        else (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, joint, 0, 0, 0));
        if (!which) (void)ENSURE_OK(s.w, embipc_joint_change(s.w, joint, &j));
        (void)scene_step(&s);
        ENSURE(s.stats.sleeping == 1);   /* the targets are what they were */
        if (which) (void)ENSURE_OK(s.w, embipc_drive_set_target(s.w, s.drive[0], up, still));
        else (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, joint, 0.01, 0, 0));
        (void)scene_step(&s);
        ENSURE(s.stats.sleeping == 0);
        for (int n = 0; n < 60; n++) (void)scene_step(&s);
        ENSURE(scene_state(s.w, s.body[0]).centre[2] > z + 0.008);
        for (int n = 0; n < 9 && !which; n++) {   /* each number of a joint that changes wakes it */
            (void)sleep_wait(&s, 1);
            if (n < 2) j.friction = n ? 0 : 0.01;
            if (n == 2) j.motor_stiffness = 600;
            if (n == 3) j.motor_damping = 60;
            if (n == 4) j.motor_limit = 100;
            if (n == 5) j.limited = 1;
            if (n == 6) j.limits[0] = -0.1;
            if (n == 7) j.limits[1] = 0.1;
            if (n == 8) j.stiffness = 2000;
            (void)ENSURE_OK(s.w, embipc_joint_change(s.w, joint, &j));
            (void)scene_step(&s);
            ENSURE(s.stats.sleeping == 0);
        }
        scene_end(&s);
    }
}

/* What lies on a slow lift moves with it, however slowly, and sleeps when it stops; a box on the ground beside it sleeps
 * first. A lift that moves again wakes what lies on it, and a joint with what is driven does so, too. */
static void test_moving_support(void)
{
    static const double keys[28] = {0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 4e-5, 0, 0, 0, 8, 0, 0, 4e-5, 0, 0, 0, 9, 0, 0, 2e-2, 0, 0, 0}, centre[3] = {0.5, 0, 0};
    embipc_world_def wd = sleep_def(0.5);
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("lift", EMBIPC_KINEMATIC, 0.5, 0, -0.05);
    double z;
    d.friction = 0.5;
    scene_box(&s, d, 0.4, 0.4, 0.1, 1);
    (void)scene_drive(&s, 0, keys, 4, centre, NULL, 0);
    d = scene_def("floor", EMBIPC_FIXED, -0.5, 0, -0.05);
    scene_box(&s, d, 0.4, 0.4, 0.1, 1);
    sleep_box(&s, EMBIPC_AFFINE, 0.5, 0, 0.0502);
    sleep_box(&s, EMBIPC_AFFINE, -0.5, 0, 0.0502);
    sleep_box(&s, EMBIPC_AFFINE, 0.5, 1, 0.0502);
    (void)scene_joint(&s, scene_joint_def(&s, EMBIPC_WELD, 0, 4, 0.5, 1, 0, NULL));
    for (int n = 1; n <= 235; n++) (void)scene_step(&s);
    ENSURE(sleep_awake(&s, 2) == 1 && sleep_awake(&s, 3) == 0 && sleep_awake(&s, 4) == 1);
    for (int n = 236; n <= 475; n++) (void)scene_step(&s);
    ENSURE(sleep_awake(&s, 2) == 0 && sleep_awake(&s, 4) == 0);
    z = scene_state(s.w, s.body[2]).centre[2];
    for (int n = 476; n <= 545; n++) {
        (void)scene_step(&s);
        if (n >= 485) ENSURE(sleep_awake(&s, 2) == 1 && sleep_awake(&s, 3) == 0 && sleep_awake(&s, 4) == 1);
        ENSURE(scene_sound(s.w));
    }
    ENSURE_CLOSE(scene_state(s.w, s.body[2]).centre[2], z + 2e-2 - 4e-5, 1e-4);
    ENSURE_CLOSE(scene_state(s.w, s.body[4]).centre[2], 0.0502 + 2e-2, 1e-3);
    scene_end(&s);
}

/* On a slope of 0.9 of the limit angle each box of a tower creeps on the one below it, at 0.68 of the friction velocity.
 * The upper ones are faster than that. They sleep all the same. */
static void test_creeping_tower(void)
{
    embipc_world_def wd = sleep_def(0.3);
    double slope = atan(0.45), creep;
    scene s;
    wd.gravity[0] = 9.81 * sin(slope);
    wd.gravity[2] = -9.81 * cos(slope);
    wd.friction_velocity = 2e-4;
    s = scene_empty(&wd);
    scene_ground(&s, 3, 0.5);
    for (int n = 0; n < 4; n++) {
        embipc_body_def d = scene_def("slab", EMBIPC_AFFINE, 0, 0, 0.0152 + 0.0302 * n);
        d.friction = 0.5;
        d.material.young = 1e8;
        scene_box(&s, d, 0.2, 0.2, 0.03, 1);
    }
    for (int n = 0; n < 15; n++) ENSURE(scene_step(&s) && s.stats.sleeping == 0);
    creep = scene_state(s.w, s.body[4]).velocity[0] / wd.friction_velocity;
    printf("  the uppermost slab creeps at %.2f of the friction velocity\n", creep);
    ENSURE_REL(creep, 4 * (1 - sqrt(0.1)), 0.02);   /* of each box 2 u - u^2 = 0.9 */
    (void)sleep_wait(&s, 4);
    scene_end(&s);
}

/* The hand of a clock and a box on a slow belt do not sleep. A box beside them does, and one on a belt without friction.
 * When motor and belt stop, all sleep. */
static void test_slow_motor_and_belt(void)
{
    static const double up[3] = {0, 0, 1}, still[3] = {0, 0, 0}, run[3] = {5e-4, 0, 0};
    const double spin = 2e-3, length = 0.1;
    embipc_world_def wd = sleep_def(0.3);
    scene s = scene_empty(&wd);
    embipc_joint_def j;
    embipc_body_def d = scene_def("hand", EMBIPC_AFFINE, 0, 1, 1);
    embipc_joint hand;
    embipc_joint_state turned;
    double x;
    scene_ground(&s, 3, 0.5);
    sleep_box(&s, EMBIPC_AFFINE, -0.5, 0, 0.0502);
    d.friction_velocity = 2e-3;   /* faster than its nodes are */
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    scene_box(&s, scene_def("belt", EMBIPC_FIXED, 5, 0, -0.05), 1, 1, 0.1, 1);
    (void)ENSURE_OK(s.w, embipc_body_set_friction(s.w, s.body[3], 0.5, 0));
    (void)ENSURE_OK(s.w, embipc_body_set_surface_velocity(s.w, s.body[3], run));
    sleep_box(&s, EMBIPC_AFFINE, 5, 0, 0.0502);
    sleep_box(&s, EMBIPC_AFFINE, 5.3, 0, 0.0502);
    (void)ENSURE_OK(s.w, embipc_body_set_friction(s.w, s.body[5], 0, 0));
    j = scene_joint_def(&s, EMBIPC_HINGE, -1, 2, length, 1, 1, up);
    j.motor_damping = 1;
    j.target[1] = spin;
    hand = scene_joint(&s, j);
    x = scene_state(s.w, s.body[4]).centre[0];
    for (int n = 1; n <= 120; n++) {
        ENSURE(scene_step(&s));
        ENSURE(sleep_awake(&s, 2) == 1 && sleep_awake(&s, 4) == 1);
    }
    ENSURE(sleep_awake(&s, 1) == 0 && sleep_awake(&s, 5) == 0);
    (void)embipc_joint_get_state(s.w, hand, &turned);
    ENSURE_REL(turned.position, 2 * spin, 0.05);
    ENSURE_REL(scene_state(s.w, s.body[4]).centre[0] - x, 2 * run[0], 0.2);
    (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, hand, 0, 0, 0));
    (void)ENSURE_OK(s.w, embipc_body_set_surface_velocity(s.w, s.body[3], still));
    (void)sleep_wait(&s, 4);
    scene_end(&s);
}

/* Doors that close slowly do not sleep on the way: one by a damped motor that is far from its target, one whose target a
 * call moves before each step. Both are slower than ten times the friction velocity, the second one than that itself. */
static void test_slow_doors(void)
{
    static const double up[3] = {0, 0, 1};
    for (int ramp = 0; ramp < 2; ramp++) {
        const double spin = ramp ? 5e-4 : 5e-3, length = 0.5;
        embipc_world_def wd = sleep_def(0.3);
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("door", EMBIPC_AFFINE, 0, 0, 0);
        embipc_joint_def j;
        embipc_joint hinge;
        embipc_joint_state state;
        int slept = 0;
        d.material.young = 1e8;
        d.friction_velocity = 1e-3;
        scene_box(&s, d, length, 0.05, 0.5, 1);
        j = scene_joint_def(&s, EMBIPC_HINGE, -1, 0, length / 2, 0, 0, up);
        j.motor_stiffness = ramp ? 1e3 : 1;
        j.motor_damping = ramp ? 10 : 1 / spin;
        j.target[0] = ramp ? 0 : 1;
        hinge = scene_joint(&s, j);
        for (int n = 1; n <= 180; n++) {
            if (ramp) (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, hinge, spin * n * wd.time_step, 0, 0));
            ENSURE(scene_step(&s));
            slept += s.stats.sleeping;
        }
        (void)embipc_joint_get_state(s.w, hinge, &state);
        printf("  a door turns by %.4g rad, %.2f of the friction velocity at its edge\n", state.position,
               spin * length / d.friction_velocity);
        ENSURE(slept == 0);
        ENSURE_REL(state.position, 3 * spin, 0.05);
        scene_end(&s);
    }
}

/* A kinematic body that sleepers stand on jumps away: they fall. */
static void test_support_jumps(void)
{
    static const double away[3] = {2, 0, -0.05}, turn[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    embipc_world_def wd = sleep_def(0.2);
    scene s = scene_empty(&wd);
    scene_box(&s, scene_def("table", EMBIPC_KINEMATIC, 0, 0, -0.05), 1, 1, 0.1, 1);
    sleep_box(&s, EMBIPC_AFFINE, 0, 0, 0.0502);
    (void)sleep_wait(&s, 1);
    (void)ENSURE_OK(s.w, embipc_body_set_pose(s.w, s.body[0], away, turn, 0));
    for (int n = 0; n < 12; n++) (void)scene_step(&s);
    ENSURE(scene_state(s.w, s.body[1]).centre[2] < -0.1);
    scene_end(&s);
}

/* A force before every step, however small, and steps that a limit cuts short, are no rest. */
static void test_no_rest(void)
{
    static const double small[3] = {1e-6, 0, 0};
    volatile int stop = 0;
    embipc_world_def wd = sleep_def(0.2);
    scene s = sleep_make(&wd);
    for (int n = 0; n < 100; n++) {
        (void)ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[SLEEP_LONE], -1, small));
        (void)scene_step(&s);
        ENSURE(sleep_awake(&s, SLEEP_LONE) == 1);
    }
    ENSURE(s.stats.sleeping > 0);
    (void)sleep_wait(&s, 7);
    (void)ENSURE_OK(s.w, embipc_body_wake(s.w, s.body[SLEEP_TOP]));
    (void)ENSURE_OK(s.w, embipc_world_set_limits(s.w, 100, &stop));
    stop = 1;
    for (int n = 0, cut = 0; n < 60; n++) {
        (void)scene_step(&s);
        cut += !s.stats.converged;
        ENSURE(s.stats.converged || sleep_awake(&s, SLEEP_TOP) == 1);
        ENSURE(n < 59 || cut > 0);
    }
    scene_end(&s);
}

/* Each group knows how many bodies it has: 1, 3 or 1 of the rig; also in a copy, from a snapshot, and after an earlier body is
 * gone. So a search for what wakes ends early. */
static void sleep_check_groups(const embipc_world *w, int groups)
{
    int firsts = 0;
    for (int k = 0; k < w->s.body_count; k++) {
        const embi_body *b = w->s.body + k;
        int members = 0;
        if (!embi_is_asleep(b) || !embi_same_body(b->sleep.group, b->handle)) continue;
        for (int n = 0; n < w->s.body_count; n++)
            members += embi_is_asleep(w->s.body + n) && embi_same_body(w->s.body[n].sleep.group, b->handle);
        ENSURE(members >= 1 && b->sleep.bodies == members);
        firsts++;
    }
    ENSURE(firsts == groups);
}
static void test_groups_are_counted(void)
{
    embipc_world_def wd = sleep_def(0.2);
    scene s = sleep_make(&wd);
    embipc_world *other;
    sleep_wait(&s, SLEEP_BODIES - 1);
    sleep_check_groups(s.w, 5);
    (void)ENSURE_OK(s.w, embipc_world_copy(s.w, &other));
    sleep_check_groups(other, 5);
    embi_body_of(other, other->s.body[SLEEP_TOP].sleep.group)->sleep.bodies = 1;   /* a wrong number shows where it ends */
    ENSURE(embipc_body_wake(other, s.body[SLEEP_TOP]) == EMBIPC_OK);
    ENSURE(embipc_body_is_awake(other, s.body[SLEEP_LOW]) + embipc_body_is_awake(other, s.body[SLEEP_MIDDLE]) +
           embipc_body_is_awake(other, s.body[SLEEP_TOP]) == 1);
    embipc_world_destroy(other);
    other = scene_reload(s.w);
    sleep_check_groups(other, 5);
    ENSURE(embipc_body_wake(other, s.body[SLEEP_TOP]) == EMBIPC_OK);
    for (int k = 0; k < SLEEP_BODIES; k++)
        ENSURE(embipc_body_is_awake(other, s.body[k]) == (k <= SLEEP_TOP));
    sleep_check_groups(other, 4);
    embipc_world_destroy(other);
    (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[SLEEP_LOW]));   /* what it bore wakes, and the others move up */
    sleep_check_groups(s.w, 4);
    (void)ENSURE_OK(s.w, embipc_body_wake(s.w, s.body[SLEEP_LONE]));
    ENSURE(embipc_body_is_awake(s.w, s.body[SLEEP_LONE]) == 1 && embipc_body_is_awake(s.w, s.body[SLEEP_LEFT]) == 0);
    sleep_check_groups(s.w, 3);
    embipc_world_destroy(s.w);
}

/* ---- what meets ---- */

/* What falls does not sleep, however slow it is for its size, and however weak gravity is. Without gravity it does. */
static void test_what_falls(void)
{
    static const double size[6] = {0.1, 0.1, 100, 1e3, 1e4, 0.1}, gravity[6] = {9.81, 1e-3, 9.81, 9.81, 9.81, 0};
    for (int k = 0; k < 6; k++) {
        embipc_world_def wd = sleep_def(0.1);
        embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0);
        embipc_body_state now;
        scene s;
        wd.gravity[2] = -gravity[k];
        s = scene_empty(&wd);
        d.material.young = 1e9;
        scene_box(&s, d, size[k], size[k], size[k], 1);
        for (int i = 0; i < 60 && scene_step(&s); i++) { }
        ENSURE(sleep_awake(&s, 0) == (k < 5));
        ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[0], &now));
        ENSURE_CLOSE(now.velocity[2], -gravity[k], 1e-6 * gravity[k]);
        scene_end(&s);
    }
}

/* A body of 100 m/s hits a plate that sleeps 3 m away, without gravity. Nothing passes, what sleeps wakes before it is touched,
 * and all momentum stays. */
static void test_thrown_at_a_sleeper(void)
{
    for (int kind = EMBIPC_AFFINE; kind <= EMBIPC_FULL; kind++) {
        embipc_world_def wd = sleep_def(0.1);
        scene s;
        embipc_body_state a, b;
        double p = 0;
        int woke = 0;
        memset(wd.gravity, 0, sizeof wd.gravity);
        wd.tolerance = 1e-9;
        s = scene_empty(&wd);
        scene_box(&s, scene_def("plate", (embipc_kind)kind, 0, 0, 0), 0.1, 1, 1, 2);
        sleep_box(&s, EMBIPC_AFFINE, 0, 5, 0);
        (void)sleep_wait(&s, 2);
        for (int n = 0; n < 8; n++) {
            if (n == 0) {
                embipc_body_def d = scene_def("shot", (embipc_kind)kind, -3, 0.02, 0.01);
                d.velocity[0] = 100;
                scene_box(&s, d, 0.04, 0.04, 0.04, 1);
                p = scene_state(s.w, s.body[2]).momentum[0];
            }
            (void)scene_step(&s);
            a = scene_state(s.w, s.body[0]);
            b = scene_state(s.w, s.body[2]);
            ENSURE(embipc_world_validate(s.w, NULL) == EMBIPC_OK && scene_sound(s.w));
            ENSURE_CLOSE(a.momentum[0] + b.momentum[0], p, 1e-6 * p);
            ENSURE(b.centre[0] < a.centre[0]);   /* it has not passed */
            woke += sleep_awake(&s, 0);
            ENSURE(sleep_awake(&s, 0) || a.momentum[0] == 0);
        }
        ENSURE(woke >= 6 && woke < 8 && a.momentum[0] > 0.1 * p && sleep_awake(&s, 1) == 0);
        scene_end(&s);
    }
}

/* A shot is turned aside by a wedge, towards a body that sleeps where the shot was not heading: that wakes within the step,
 * after islands have begun to move. */
static void test_ricochet(void)
{
    embipc_world_def wd = sleep_def(0.1);
    scene s;
    embipc_body_def d;
    double first;
    memset(wd.gravity, 0, sizeof wd.gravity);
    s = scene_empty(&wd);
    d = scene_def("wedge", EMBIPC_FIXED, 0, 0, 0);
    d.rotation[0] = d.rotation[4] = sqrt(0.5);
    d.rotation[1] = -sqrt(0.5);
    d.rotation[3] = sqrt(0.5);
    scene_box(&s, d, 0.5, 0.5, 0.5, 1);
    sleep_box(&s, EMBIPC_AFFINE, -0.18, 0.28, 0);
    (void)sleep_wait(&s, 1);
    d = scene_def("shot", EMBIPC_AFFINE, -0.72, 0.05, 0);
    d.velocity[0] = 40;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    first = scene_state(s.w, s.body[2]).centre[1];
    for (int n = 0; n < 6; n++) {
        (void)scene_step(&s);
        ENSURE(scene_sound(s.w));
        ENSURE(sleep_awake(&s, 1) || embipc_world_pair_forces(s.w, NULL, 0) < 2);
    }
    ENSURE(scene_state(s.w, s.body[2]).centre[1] > first + 0.05);
    ENSURE(sleep_awake(&s, 1) && embi_norm(scene_state(s.w, s.body[1]).velocity) > 0.1);
    scene_end(&s);
}

/* A plank falls on two boxes that sleep apart: one island from then on, which sleeps and wakes as one. */
static void test_bridge(void)
{
    embipc_world_def wd = sleep_def(0.3);
    scene s = sleep_make(&wd);
    embipc_body_def d = scene_def("plank", EMBIPC_AFFINE, 0.675, 0, 0.16);
    int woken = 0;
    (void)sleep_wait(&s, 7);
    d.friction = 0.5;
    scene_box(&s, d, 0.3, 0.08, 0.02, 1);
    for (int n = 0; n < 60 && !woken; n++) {
        (void)scene_step(&s);
        woken = sleep_awake(&s, SLEEP_LEFT) && sleep_awake(&s, SLEEP_RIGHT);
        ENSURE(sleep_awake(&s, SLEEP_LEFT) == sleep_awake(&s, SLEEP_RIGHT) && sleep_awake(&s, SLEEP_TOP) == 0);
    }
    ENSURE(woken);
    (void)sleep_wait(&s, 8);
    ENSURE(embipc_body_wake(s.w, s.body[SLEEP_LEFT]) == EMBIPC_OK);
    ENSURE(sleep_awake(&s, SLEEP_RIGHT) == 1 && sleep_awake(&s, 8) == 1 && sleep_awake(&s, SLEEP_LONE) == 0);
    ENSURE(scene_sound(s.w));
    scene_end(&s);
}

/* ---- bits, memory, failures ---- */

/* falls asleep, is woken by a throw, and falls asleep again */
static void sleep_history(scene *s, int thrown)
{
    static const double v[3] = {2, 0, 1}, none[3] = {0, 0, 0};
    if (thrown) (void)ENSURE_OK(s->w, embipc_body_set_velocity(s->w, s->body[SLEEP_LONE], v, none));
    (void)scene_step(s);
}
static void sleep_backwards(int count, int grain, embipc_range_fn *fn, void *arg, void *ctx)
{
    (void)ctx;
    for (int begin = (count - 1) / grain * grain; begin >= 0; begin -= grain) fn(arg, begin, begin + grain < count ? begin + grain : count);
}

/* Loops in any order give the same bits, while bodies sleep and wake. A step repeats after a reset, and needs no memory then. */
static void test_same_bits_without_memory(void)
{
    enum { STEPS = 400, THROWN = 220 };
    static unsigned long long bits[STEPS];
    int most = 0, least = 7, wakes = 0;
    for (int way = 0; way < 3; way++) {
        embipc_world_def wd = sleep_def(0.2);
        undo_rig rig;
        scene s;
        int runs = way == 2 ? 2 : 1;
        undo_rig_init(&rig);
        wd.allocator = undo_allocator(&rig);
        if (way == 1) wd.parallel_for = sleep_backwards;
        s = sleep_make(&wd);
        for (int run = 0; run < runs; run++) {
            long calls = 0;
            if (run) {
                (void)ENSURE_OK(s.w, embipc_world_reset(s.w));
                calls = rig.calls;
            }
            for (int n = 0; n < STEPS; n++) {
                unsigned long long now;
                sleep_history(&s, n == THROWN);
                now = undo_told(&s);
                if (way == 0) bits[n] = now;
                ENSURE(now == bits[n]);
                if (n >= THROWN) most = embi_max_int(most, s.stats.sleeping), least = embi_min_int(least, s.stats.sleeping);
                wakes += n == THROWN && s.stats.sleeping < 7;
            }
            ENSURE(!run || rig.calls == calls);
        }
        scene_end(&s);
    }
    ENSURE(most == 7 && least < 6 && wakes == 4);
}

/* One step, where what sleeps is passed over; or where nothing is, because all that settled is stirred before. */
static void sleep_step(scene *s, int stirred, int told)
{
    embi_state *of = &s->w->s;
    if (stirred) {
        memset(of->settled, 0, (size_t)of->body_count);
        s->w->sleep.reported.valid = 0;
    }
    (void)ENSURE_OK(s->w, embipc_world_step(s->w, told ? &s->stats : NULL));
    for (int k = 1; k < s->w->lagged.count; k++) ENSURE(s->w->lagged.key[k - 1].key <= s->w->lagged.key[k].key);
}
/* What happens to both worlds in step n: bodies settle; a cause; one is thrown at the tower, over its neighbours; one goes; a
 * new one comes. */
static void sleep_happens(scene *s, sleep_cause cause, int n)
{
    static const double v[3] = {2, 0, 1}, none[3] = {0, 0, 0}, from[3] = {0.6, 0, 1}, to[3] = {0.6, 0, -1}, push[3] = {0, 1, 0};
    embipc_hit hit;
    int settled = 0;
    if (n == 5) {
        sleep_disturb(s, cause);
        s->n = embi_min_int(s->n, SLEEP_BODIES);
    }
    ENSURE(n != 10 || embipc_world_cast_ray(s->w, from, to, 1, &hit) == 1);
    if (n == 20) (void)ENSURE_OK(s->w, embipc_body_set_velocity(s->w, s->body[SLEEP_LONE], v, none));
    if (n == 22) (void)ENSURE_OK(s->w, embipc_body_apply_wrench(s->w, s->body[SLEEP_BALL], push, NULL, NULL));
    if (n == 24) (void)ENSURE_OK(s->w, embipc_body_destroy(s->w, s->body[SLEEP_LEFT]));
    if (n == 26) s->n -= sleep_box(s, EMBIPC_AFFINE, 0.75, 0.02, 0.3) > 0;
    for (int k = 0; k < s->w->s.body_count; k++) settled += s->w->s.settled[k] != 0;
    ENSURE(n != 4 || settled == 0 || settled == 8);   /* the ground, too */
}

/* A step passes over what slept through the last one, and has the bits, statistics and views of one that begins all bodies;
 * whatever changes then, or hits them. */
static void test_passes_over_what_sleeps(void)
{
    enum { STEPS = 60 };
    static unsigned long long bits[STEPS];
    static embipc_step_stats stats[STEPS];
    for (int cause = 0; cause < SLEEP_CAUSES; cause++) {
        int passed = 0, most = 0;
        for (int stirred = 0; stirred < 2; stirred++) {
            embipc_world_def wd = sleep_def(0.1);
            scene s = sleep_make(&wd);
            (void)sleep_wait(&s, 7);
            for (int n = 0; n < STEPS; n++) {
                sleep_happens(&s, (sleep_cause)cause, n);
                sleep_step(&s, stirred, n % 3 != 2);
                passed += !stirred && n == 3 && s.w->s.settled[SLEEP_LOW] && s.w->s.settled[SLEEP_LONE];
                most = embi_max_int(most, s.stats.sleeping);
                if (!stirred) stats[n] = s.stats, bits[n] = undo_bits(&s);
                ENSURE(bits[n] == undo_bits(&s) && !memcmp(stats + n, &s.stats, sizeof *stats));
            }
            scene_end(&s);
        }
        ENSURE(passed == 1 && most == 7);
    }
}

/* what happens to tiles of a floor, or to their world, while boxes move over it */
typedef enum tile_cause {
    TILE_BY_NOTHING, TILE_BY_FRICTION, TILE_BY_BELT, TILE_BY_GROUPS, TILE_BY_PAIR, TILE_BY_JOINT, TILE_BY_LOSS, TILE_BY_MORE,
    TILE_BY_GRAVITY, TILE_BY_TIME_STEP, TILE_BY_RESET, TILE_BY_COPY, TILE_CAUSES
} tile_cause;

/* a floor of 4 x 2 tiles of half a metre, and two boxes that slide over it along x, in bodies 8 and 9; a ball rolls, in 10. They
 * come after so many steps. */
static scene tile_make(const embipc_world_def *wd, int steps)
{
    scene s = scene_empty(wd);
    embipc_body_def d = scene_def("tile", EMBIPC_FIXED, 0, 0, -0.1);
    d.friction = 0.2;
    for (int n = 0; n < 8; n++) {
        d.position[0] = 0.5 * (n % 4);
        d.position[1] = 0.5 * (n / 4);
        scene_box(&s, d, 0.5, 0.5, 0.2, 1);
    }
    for (int n = 0; n < steps; n++) (void)scene_step(&s);
    d = scene_def("slider", EMBIPC_AFFINE, 0, 0.05, 0.0502);
    d.friction = 0.2;
    d.velocity[0] = 2;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    d.kind = EMBIPC_CAGE;
    d.position[1] = 0.25;
    scene_box(&s, d, 0.1, 0.1, 0.1, 2);
    d.position[1] = 0.5;
    scene_ball(&s, d, 0.05, 1, 2);
    return s;
}
static void tile_happens(scene *s, tile_cause cause)
{
    static const double side[3] = {0, 0.5, 0}, light[3] = {0, 0, -5};
    embipc_body tile = s->body[2];
    embipc_body_def d = scene_def("step", EMBIPC_FIXED, 0.8, 0.05, 0.05);
    embipc_world *copy = NULL;
    embipc_result r = EMBIPC_OK;
    switch (cause) {
    case TILE_BY_FRICTION: r = embipc_body_set_friction(s->w, tile, 0.9, 0.9); break;
    case TILE_BY_BELT: r = embipc_body_set_surface_velocity(s->w, tile, side); break;
    case TILE_BY_GROUPS: r = embipc_body_set_groups(s->w, tile, 2, 2); break;
    case TILE_BY_PAIR: r = embipc_world_set_pair(s->w, tile, s->body[8], 0.9, 1); break;
    case TILE_BY_JOINT: (void)scene_joint(s, scene_joint_def(s, EMBIPC_ROD, 2, 8, 0.9, 0.05, 0.05, NULL)); break;
    case TILE_BY_LOSS: r = embipc_body_destroy(s->w, tile); break;
    case TILE_BY_MORE: s->n -= scene_box(s, d, 0.1, 0.1, 0.09, 1) > 0; break;
    case TILE_BY_GRAVITY: r = embipc_world_set_gravity(s->w, light); break;
    case TILE_BY_TIME_STEP: r = embipc_world_set_time_step(s->w, 0.001); break;
    case TILE_BY_RESET: r = embipc_world_reset(s->w); break;
    case TILE_BY_COPY:
        r = embipc_world_copy(s->w, &copy);
        embipc_world_destroy(s->w);
        s->w = copy;
        break;
    default: break;
    }
    (void)ENSURE_OK(s->w, r);
}

/* A step passes over fixed bodies, too, also where nothing may sleep; with the bits of one that begins them all. */
static void test_passes_over_what_stands(void)
{
    enum { STEPS = 30 };
    unsigned long long bits[STEPS], plain = 0;
    for (int cause = 0; cause < TILE_CAUSES; cause++) {
        int stands = 0;
        for (int stirred = 0; stirred < 2; stirred++) {
            embipc_world_def wd = sleep_def(0);
            scene s = tile_make(&wd, 0);
            for (int n = 0; n < STEPS; n++) {
                if (n == 12) tile_happens(&s, (tile_cause)cause);
                sleep_step(&s, stirred, n % 3 != 2);
                ENSURE(s.stats.sleeping == 0);
                stands = embi_max_int(stands, s.w->s.settled[3]);
                if (!stirred) bits[n] = undo_bits(&s);
                ENSURE(bits[n] == undo_bits(&s));
            }
            ENSURE(scene_finite(s.w) && embipc_world_intersections(s.w, NULL, 0) == 0);
            scene_end(&s);
        }
        if (cause == TILE_BY_NOTHING) plain = bits[STEPS - 1];
        ENSURE(stands && (bits[STEPS - 1] == plain) == (cause == TILE_BY_NOTHING || cause == TILE_BY_COPY));
    }
}

/* Bodies that come later move with the bits that they have in a world where they are from the start. */
static void test_later_bodies_same_bits(void)
{
    enum { STEPS = 40 };
    unsigned long long bits[STEPS];
    for (int bdf2 = 0; bdf2 < 2; bdf2++)
        for (int later = 0; later < 3; later++) {
            embipc_world_def wd = sleep_def(0.1);
            scene s;
            wd.integrator = bdf2 ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER;
            s = tile_make(&wd, later);
            for (int n = 0; n < STEPS; n++) {
                unsigned long long h = 7;
                (void)scene_step(&s);
                for (int k = 8; k < s.n; k++) {
                    unsigned long long one = scene_body_bits(s.w, s.body[k]);
                    h = scene_mix(h, &one, sizeof one);
                }
                if (!later) bits[n] = h;
                ENSURE(bits[n] == h);
            }
            ENSURE(scene_sound(s.w) && scene_state(s.w, s.body[9]).centre[2] > 0.045);
            scene_end(&s);
        }
}

/* The copy of a world that sleeps goes on with its bits, also when both are woken. */
static void test_copy_sleeps(void)
{
    embipc_world_def wd = sleep_def(0.2);
    scene s = sleep_make(&wd), copy;
    (void)sleep_wait(&s, 7);
    copy = s;
    (void)ENSURE_OK(s.w, embipc_world_copy(s.w, &copy.w));
    for (int n = 0; n < 20; n++) {
        sleep_history(&s, n == 5);
        sleep_history(&copy, n == 5);
        ENSURE(undo_bits(&s) == undo_bits(&copy) && s.stats.sleeping == copy.stats.sleeping && (s.stats.sleeping == 7) == (n < 5));
    }
    scene_end(&s);
    scene_end(&copy);
}

/* A box wakes, and sleeps again behind the tower: what the rows of its contacts held before is in no hash, and so in
 * no snapshot. A world from a snapshot, whose memory is new, has the same hash. */
static void test_hash_of_what_sleeps(void)
{
    embipc_world_def wd = sleep_def(0.2);
    scene s = sleep_make(&wd), other = s;
    (void)sleep_wait(&s, 7);
    (void)ENSURE_OK(s.w, embipc_body_wake(s.w, s.body[SLEEP_LONE]));
    (void)scene_step(&s);
    ENSURE(s.stats.sleeping == 6);
    other.w = scene_reload(s.w);
    ENSURE(sleep_wait(&s, 7) == sleep_wait(&other, 7));
    ENSURE(embipc_world_hash(s.w) == embipc_world_hash(other.w));
    scene_end(&s);
    scene_end(&other);
}

/* A world that may sleep, but has no time to, has the bits of one that may not. */
static void test_awake_same_bits(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) {
        unsigned long long bits[20];
        for (int on = 0; on < 2; on++) {
            embipc_world_def wd = scene_world_def(which);
            scene s;
            wd.sleep_after = on ? 1e9 : 0;
            s = scene_make(which, &wd);
            for (int n = 0; n < 20; n++) {
                (void)scene_step(&s);
                if (!on) bits[n] = undo_told(&s);
                else ENSURE(bits[n] == undo_told(&s));
            }
            scene_end(&s);
        }
    }
}

/* Boxes sleep on a slope while another flies, and the time step changes: a world from a snapshot goes on with the same bits.
 * What friction remembers of the boxes belongs to steps of the new length in both. */
static void test_other_step_while_some_sleep(void)
{
    static const double up[3] = {0, 0, 2}, none[3] = {0, 0, 0};
    embipc_world_def wd = sleep_def(0.3);
    embipc_world *other = NULL;
    scene s;
    wd.gravity[0] = 1.5;
    wd.sleep_speed = 0.01;
    s = sleep_make(&wd);
    (void)sleep_wait(&s, 7);
    (void)ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[SLEEP_LONE], up, none));
    for (int n = 0; n < 3; n++) ENSURE(scene_step(&s));
    ENSURE(s.stats.sleeping == 6 && s.w->lagged.count > 0);
    (void)ENSURE_OK(s.w, embipc_world_set_time_step(s.w, 1 / 20.0));
    other = scene_reload(s.w);
    for (int n = 0; n < 3; n++) {
        ENSURE(scene_step(&s) && embipc_world_step(other, NULL) == EMBIPC_OK);
        ENSURE(embipc_world_hash(s.w) == embipc_world_hash(other));
    }
    embipc_world_destroy(other);
    scene_end(&s);
}

/* Each allocation of the step in which a throw wakes the tower fails once: bodies sleep on, and nothing has changed. The step
 * without a failure, then, is that of a world in which none has failed. */
static void test_failed_step_sleeps_on(void)
{
    unsigned long long good = 0;
    for (int fails = 0, more = 1; more; fails += fails ? 3 : 1) {
        embipc_world_def wd = sleep_def(0.2);
        embipc_body_def d = scene_def("shot", EMBIPC_CAGE, -0.4, 0, 0.2);
        undo_rig rig;
        scene s;
        unsigned long long before;
        undo_rig_init(&rig);
        wd.allocator = undo_allocator(&rig);
        s = sleep_make(&wd);
        (void)sleep_wait(&s, 7);
        d.velocity[0] = 30;
        scene_ball(&s, d, 0.05, 2, 2);
        before = undo_bits(&s);
        rig.left = fails ? fails - 1 : -1;
        if (fails) {
            embipc_result r = embipc_world_step(s.w, &s.stats);
            more = r != EMBIPC_OK;
            ENSURE(r == EMBIPC_OK || (r == EMBIPC_ERR_MEMORY && undo_bits(&s) == before && !sleep_awake(&s, SLEEP_TOP)));
            rig.left = -1;
        }
        if (more) (void)scene_step(&s);
        if (!fails) good = undo_bits(&s);
        ENSURE(undo_bits(&s) == good && sleep_awake(&s, SLEEP_LOW) && !sleep_awake(&s, SLEEP_LONE));
        ENSURE(more || fails > 10);
        scene_end(&s);
    }
}

static void test_refused(void)
{
    for (int k = 0; k < 4; k++) {
        embipc_world_def wd = sleep_def(0);
        embipc_world *w;
        embipc_error e;
        *(k < 2 ? &wd.sleep_after : &wd.sleep_speed) = k % 2 ? (double)INFINITY : -1;
        ENSURE(embipc_world_create(&wd, &w, &e) == EMBIPC_ERR_ARGUMENT && strstr(e.text, "sleep_after"));
    }
    {
        embipc_world_def wd = sleep_def(0.5);
        scene s = scene_empty(&wd);
        embipc_body nobody = {7, 7};
        ENSURE(embipc_body_wake(s.w, nobody) == EMBIPC_ERR_HANDLE && embipc_body_is_awake(s.w, nobody) == -1);
        ENSURE(embipc_body_wake(NULL, nobody) == EMBIPC_ERR_ARGUMENT && embipc_body_is_awake(NULL, nobody) == -1);
        scene_end(&s);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    small_loops_only();
    RUN(what_falls);
    RUN(keeps_what_it_had);
    RUN(wakes_where_it_was);
    RUN(what_wakes);
    RUN(groups_are_counted);
    RUN(motors_and_drives);
    RUN(moving_support);
    RUN(creeping_tower);
    RUN(slow_motor_and_belt);
    RUN(slow_doors);
    RUN(support_jumps);
    RUN(no_rest);
    RUN(thrown_at_a_sleeper);
    RUN(ricochet);
    RUN(bridge);
    RUN(same_bits_without_memory);
    RUN(passes_over_what_sleeps);
    RUN(passes_over_what_stands);
    RUN(later_bodies_same_bits);
    RUN(copy_sleeps);
    RUN(hash_of_what_sleeps);
    RUN(awake_same_bits);
    RUN(failed_step_sleeps_on);
    RUN(other_step_while_some_sleep);
    RUN(refused);
    meshio_test_unused();
    undo_unused();
    return test_end("test_sleep");
}
