/* Drives: exact where nothing is in the way, honest where something is, each by itself, and never through anything. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include "test.h"
#include "scene_test.h"

#define DHAT 1e-3

static embipc_world_def drive_world(void)
{
    embipc_world_def d = embipc_default_world_def();
    d.dhat = DHAT;
    d.kappa = 1e4;
    d.friction_velocity = 1e-3;
    return d;
}
static embipc_drive_state drive_state(const scene *s, int k)
{
    embipc_drive_state d;
    (void)embipc_drive_get_state(s->w, s->drive[k], &d);
    return d;
}
/* one key: from now to there in `time` seconds */
static int drive_to(scene *s, int body, double time, double dx, double dy, double dz, const double *centre)
{
    double keys[14];
    memset(keys, 0, sizeof keys);
    keys[7] = time;
    keys[8] = dx;
    keys[9] = dy;
    keys[10] = dz;
    return scene_drive(s, body, keys, 2, centre, NULL, 0);
}
/* largest distance of a vertex from R(rotation)(x0 - centre) + centre + displacement */
static double off_target(const embipc_world *w, embipc_body body, const double *x0, const double *centre, const double *displacement, const double *rotation)
{
    embipc_body_view v;
    double worst = 0, angle = sqrt(rotation[0] * rotation[0] + rotation[1] * rotation[1] + rotation[2] * rotation[2]);
    (void)embipc_body_get_view(w, body, &v);
    for (int i = 0; i < v.vertex_count; i++) {
        double r[3], t[3], u[3] = {0, 0, 0}, along = 0;
        for (int k = 0; k < 3; k++) {
            r[k] = x0[3 * i + k] - centre[k];
            u[k] = angle > 0 ? rotation[k] / angle : 0;
            along += u[k] * r[k];
        }
        for (int k = 0; k < 3; k++) {   /* Rodrigues */
            double cross = u[(k + 1) % 3] * r[(k + 2) % 3] - u[(k + 2) % 3] * r[(k + 1) % 3];
            t[k] = r[k] * cos(angle) + cross * sin(angle) + u[k] * along * (1 - cos(angle)) + centre[k] + displacement[k];
            worst = fmax(worst, fabs(t[k] - v.x[3 * i + k]));
        }
    }
    return worst;
}

/* ---- nothing in the way ---- */

static void test_free_drives_are_exact(void)
{
    static const embipc_kind kinds[4] = {EMBIPC_KINEMATIC, EMBIPC_AFFINE, EMBIPC_CAGE, EMBIPC_FULL};
    static const double keys[21] = {0.05, 0.1, 0, 0, 0, 0, 0, 0.155, 0.2, -0.1, 0.3, 0.5, -1, 2, 0.3, 0.2, -0.1, 0.35, 0.5, -1, 4};
    static const double centre[3] = {0.4, 0.1, 0.2};
    for (int k = 0; k < 4; k++) {
        embipc_world_def wd = drive_world();
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("body", kinds[k], 0.3, 0, 0.1);
        double *x0, worst = 0;
        scene_ball(&s, d, 0.05, 1, 1);
        x0 = scene_positions(s.w, s.body[0]);
        scene_drive(&s, 0, keys, 3, centre, NULL, 0);
        for (int n = 1; n <= 40 && scene_step(&s); n++) {
            double t = 0.01 * n, pose[6];
            int row = t <= keys[7] ? 0 : 1;
            double share = (t - keys[7 * row]) / (keys[7 * row + 7] - keys[7 * row]);
            share = fmin(fmax(share, 0), 1);
            for (int i = 0; i < 6; i++) pose[i] = keys[7 * row + 1 + i] + share * (keys[7 * row + 8 + i] - keys[7 * row + 1 + i]);
            worst = fmax(worst, off_target(s.w, s.body[0], x0, centre, pose, pose + 3));
            ENSURE(drive_state(&s, 0).short_m == 0 && !drive_state(&s, 0).blocked && s.stats.drive_short == 0);
            ENSURE(s.stats.converged);
        }
        ENSURE(worst < 1e-14);
        free(x0);
        scene_end(&s);
    }
}

/* set_target: the pose is reached at the end of the next step and held; letting go keeps the velocity */
static void test_set_target_and_let_go(void)
{
    static const double centre[3] = {0, 0, 1}, none[3] = {0, 0, 0}, there[3] = {0.02, 0.01, -0.03}, turn[3] = {0.2, 0.1, -0.4};
    for (int k = 0; k < 2; k++) {
        embipc_world_def wd = drive_world();
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("body", k ? EMBIPC_AFFINE : EMBIPC_KINEMATIC, 0, 0, 1);
        double *x0, a[3], b[3];
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        x0 = scene_positions(s.w, s.body[0]);
        scene_drive(&s, 0, NULL, 0, centre, NULL, 0);
        for (int n = 0; n < 3; n++) scene_step(&s);
        ENSURE(off_target(s.w, s.body[0], x0, centre, none, none) == 0);   /* stands still, gravity or not */
        (void)ENSURE_OK(s.w, embipc_drive_set_target(s.w, s.drive[0], there, turn));
        scene_step(&s);
        ENSURE(off_target(s.w, s.body[0], x0, centre, there, turn) < 1e-15);
        scene_step(&s);
        ENSURE(off_target(s.w, s.body[0], x0, centre, there, turn) < 1e-15);
        ENSURE(s.stats.max_speed == 0 || k);
        (void)ENSURE_OK(s.w, embipc_drive_set_target(s.w, s.drive[0], none, none));
        scene_step(&s);
        ENSURE(off_target(s.w, s.body[0], x0, centre, none, none) < 1e-15);
        memcpy(a, scene_state(s.w, s.body[0]).velocity, sizeof a);
        (void)ENSURE_OK(s.w, embipc_drive_destroy(s.w, s.drive[0]));
        scene_step(&s);
        memcpy(b, scene_state(s.w, s.body[0]).velocity, sizeof b);
        if (k) for (int i = 0; i < 3; i++) ENSURE_CLOSE(b[i], a[i] + wd.gravity[i] * wd.time_step, 1e-3);
        free(x0);
        scene_end(&s);
    }
}

/* nodes of a full body on a path with rotation; the others follow, the drive is exact */
static void test_node_drive(void)
{
    scene s = scene_make(SCENE_BEAM, NULL);
    embipc_body_view v;
    double x0[3 * 64], centre[3] = {-0.1, 0, 0};
    int node[64], n = 0;
    (void)embipc_body_get_view(s.w, s.body[0], &v);
    for (int i = 0; i < v.node_count; i++)
        if (v.q[3 * i] < -0.099) {
            memcpy(x0 + 3 * n, v.q + 3 * i, 3 * sizeof *x0);
            node[n++] = i;
        }
    ENSURE(n == 9);
    for (int k = 0; k < 45 && scene_step(&s); k++) {
        double t = embipc_world_time(s.w), R[9], pose[6] = {0, 0, 0.01 * fmin(1, t / 0.2), 0.2 * fmin(1, t / 0.2), 0, 0}, worst = 0;
        pose[1] = 0.01 * fmin(1, fmax(0, (t - 0.2) / 0.2));
        embi_m3_rotation(R, pose + 3);
        for (int i = 0; i < n; i++) {
            double r[3], u[3];
            embi_sub(r, x0 + 3 * i, centre);
            embi_m3_mulv(u, R, r);
            for (int c = 0; c < 3; c++) worst = fmax(worst, fabs(u[c] + centre[c] + pose[c] - v.q[3 * node[i] + c]));
        }
        ENSURE(worst < 1e-15);
        ENSURE(drive_state(&s, 0).short_m == 0);
    }
    ENSURE(v.q[3 * (v.node_count - 1) + 2] < v.q[2] + 0.02);
    scene_end(&s);
}

/* ---- something in the way ---- */

typedef struct watch { double *rest[SCENE_BODIES]; double bend, least; int steps, cut, most; } watch;
static watch watch_begin(const scene *s)
{
    watch w;
    memset(&w, 0, sizeof w);
    w.least = 1e300;
    for (int i = 0; i < s->n; i++) w.rest[i] = scene_positions(s->w, s->body[i]);
    return w;
}
/* a step in which nothing bends, nothing crosses, and the gaps between the given pairs of bodies keep the floor */
static int watch_step(scene *s, watch *w, const int (*pair)[2], int pairs)
{
    if (!scene_step(s)) return 0;
    w->steps++;
    w->cut += !s->stats.converged;
    w->most = s->stats.newton_iterations > w->most ? s->stats.newton_iterations : w->most;
    if (w->steps < 40 || w->steps % 20 == 0) ENSURE(scene_sound(s->w));
    for (int i = 0; i < s->n; i++) {
        embipc_body_view v;
        if (embipc_body_get_view(s->w, s->body[i], &v) == EMBIPC_OK && v.kind == EMBIPC_KINEMATIC) w->bend = fmax(w->bend, scene_bend(s->w, s->body[i], w->rest[i]));
    }
    for (int k = 0; k < pairs; k++) w->least = fmin(w->least, scene_gap(s->w, s->body[pair[k][0]], s->body[pair[k][1]]));
    return 1;
}
static void watch_end(const scene *s, watch *w, const char *name)
{
    printf("  %s: %d steps, smallest gap %.4g dhat, bend %.2g, %d cut short, at most %d iterations\n", name, w->steps, w->least / DHAT, w->bend, w->cut, w->most);
    ENSURE(w->least >= 0.045 * DHAT);
    ENSURE(w->bend <= 1e-12);
    for (int i = 0; i < s->n; i++) free(w->rest[i]);
}

/* Two plates told to pass through each other; a third, close to one of them and so of the same island, slides freely; a fourth
 * is far away. Then the second plate is removed, and the first catches up. */
static void test_plates_told_to_cross(void)
{
    static const int pair[1][2] = {{0, 1}};
    static const double zero[3] = {0, 0, 0};
    embipc_world_def wd = drive_world();
    scene s = scene_empty(&wd);
    watch w;
    double sum, there[3] = {0, 0, 0.1};
    for (int k = 0; k < 4; k++) {
        embipc_body_def d = scene_def(k == 0 ? "lower" : k == 1 ? "upper" : k == 2 ? "slider" : "lonely", EMBIPC_KINEMATIC, k == 3 ? 3 : k == 2 ? 0.111 : 0, 0, k == 0 ? 0 : k == 1 ? 0.05 : 0.05);
        scene_box(&s, d, k == 2 ? 0.02 : 0.2, 0.2, 0.01, 1);
    }
    drive_to(&s, 0, 0.5, 0, 0, 0.1, NULL);
    drive_to(&s, 1, 0.5, 0, 0, -0.1, NULL);
    drive_to(&s, 2, 0.5, 0, 0.08, 0, NULL);
    drive_to(&s, 3, 0.5, 0.2, 0.1, 0.3, NULL);
    w = watch_begin(&s);
    for (int n = 0; n < 300 && watch_step(&s, &w, pair, 1); n++) {
        double y[3] = {0, 0.08 * fmin(1, embipc_world_time(s.w) / 0.5), 0};
        ENSURE(off_target(s.w, s.body[2], w.rest[2], zero, y, zero) < 1e-14);
        ENSURE(drive_state(&s, 2).short_m == 0 && drive_state(&s, 3).short_m == 0);
    }
    for (int k = 0; k < 2; k++) {
        embipc_drive_state d = drive_state(&s, k);
        ENSURE(d.blocked && d.short_m > 0);
        ENSURE(d.blocked_by.index1 == s.body[1 - k].index1);
        ENSURE(d.gap > 0 && d.gap <= DHAT);
    }
    /* both started 0.04 apart and wanted 0.2 of approach: what is missing is 0.16, but for the gap */
    sum = drive_state(&s, 0).short_m + drive_state(&s, 1).short_m;
    ENSURE_CLOSE(sum, 0.16, DHAT);
    printf("  plates fell short by %.5g and %.5g m\n", drive_state(&s, 0).short_m, drive_state(&s, 1).short_m);
    ENSURE(s.stats.drive_short == fmax(drive_state(&s, 0).short_m, drive_state(&s, 1).short_m));
    (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[1]));
    for (int n = 0; n < 3; n++) scene_step(&s);
    ENSURE(drive_state(&s, 0).short_m == 0 && !drive_state(&s, 0).blocked);
    ENSURE(off_target(s.w, s.body[0], w.rest[0], zero, there, zero) < 1e-14);
    watch_end(&s, &w, "plates told to cross");
    scene_end(&s);
}

/* a gripper closes on a stiff block by far more than there is room; another drive of the island turns freely */
static void test_gripper_on_a_stiff_block(void)
{
    static const int pair[2][2] = {{0, 1}, {0, 2}};
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0};
    static const double zero[3] = {0, 0, 0}, pin[3] = {0, 0, 0.08};
    for (int model = 0; model < 2; model++) {
        embipc_world_def wd = drive_world();
        scene s;
        embipc_body_def d = scene_def("block", EMBIPC_AFFINE, 0, 0, 0);
        embipc_drive_state a, b;
        watch w;
        double angle[3] = {2, 0, 0};
        for (int i = 0; i < 3; i++) wd.gravity[i] = 0;
        s = scene_empty(&wd);
        d.friction = 0.8;
        d.material.young = 1e9;
        d.material.stiffness = 1e9;
        d.material.model = model ? EMBIPC_ORTHOGONALITY : EMBIPC_COROTATED;
        scene_box(&s, d, 0.05, 0.05, 0.05, 1);
        d = scene_def("left", EMBIPC_KINEMATIC, -0.04, 0, 0);
        d.friction = 0.8;
        scene_box(&s, d, 0.01, 0.06, 0.06, 1);
        d.name = "right";
        d.position[0] = 0.045;
        scene_box(&s, d, 0.01, 0.06, 0.06, 1);
        d = scene_def("pin", EMBIPC_KINEMATIC, 0, 0, 0.08);
        scene_box(&s, d, 0.1, 0.01, 0.01, 1);
        drive_to(&s, 1, 0.3, 0.03, 0, 0, NULL);
        drive_to(&s, 2, 0.3, -0.03, 0, 0, NULL);
        scene_drive(&s, 3, keys, 2, pin, NULL, 0);
        w = watch_begin(&s);
        for (int n = 0; n < 300 && watch_step(&s, &w, pair, 2); n++) continue;
        a = drive_state(&s, 0);
        b = drive_state(&s, 1);
        printf("  gripper on a stiff block: short %.4g and %.4g m, blocked %d %d\n", a.short_m, b.short_m, a.blocked, b.blocked);
        ENSURE(a.blocked && b.blocked && a.blocked_by.index1 == s.body[0].index1 && b.blocked_by.index1 == s.body[0].index1);
        ENSURE_CLOSE(a.short_m + b.short_m, 0.06 - 0.025, 2.5 * DHAT);   /* the free ways were 0.01 and 0.015 */
        ENSURE(off_target(s.w, s.body[3], w.rest[3], pin, zero, angle) < 1e-14);
        ENSURE(fabs(scene_state(s.w, s.body[0]).centre[2]) < 0.02);   /* held, not shot away */
        (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[0]));
        for (int n = 0; n < 3; n++) scene_step(&s);
        /* the plates' own targets leave 0.015 between them */
        ENSURE(drive_state(&s, 0).short_m == 0 && drive_state(&s, 1).short_m == 0);
        watch_end(&s, &w, "gripper on a stiff block");
        scene_end(&s);
    }
}

/* a paddle turns against a wall, by itself or with a soft ball between */
static void test_paddle_against_a_wall(void)
{
    for (int soft = 0; soft < 2; soft++) {
        static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0, 2.5};
        static const double pin[3] = {0, 0, 0};
        static const int pair[2][2] = {{0, 1}, {1, 2}};
        embipc_world_def wd = drive_world();
        scene s;
        embipc_body_def d = scene_def("wall", EMBIPC_FIXED, 0, 0.12, 0);
        embipc_drive_state a;
        watch w;
        double turn[3] = {0, 0, 2.5}, zero[3] = {0, 0, 0}, lo, hi;
        for (int i = 0; i < 3; i++) wd.gravity[i] = 0;
        s = scene_empty(&wd);
        d.friction = 0.5;
        scene_box(&s, d, 0.4, 0.02, 0.2, 1);
        d = scene_def("paddle", EMBIPC_KINEMATIC, 0.07, 0, 0);
        d.friction = 0.5;
        scene_box(&s, d, soft ? 0.1 : 0.14, 0.01, 0.06, 1);
        if (soft) {
            d = scene_def("ball", EMBIPC_CAGE, 0.06, 0.075, 0);
            d.friction = 0.5;
            d.material.young = 2e4;
            scene_ball(&s, d, 0.025, 1, 1);
        }
        scene_drive(&s, 1, keys, 2, pin, NULL, 0);
        w = watch_begin(&s);
        for (int n = 0; n < 300 && watch_step(&s, &w, pair, soft ? 2 : 1); n++) {
            if (!soft) continue;
            scene_extent(s.w, s.body[2], 1, &lo, &hi);
            ENSURE(hi < 0.11);
        }
        a = drive_state(&s, 0);
        printf("  paddle %s: short %.4g m, blocked %d\n", soft ? "and a soft ball" : "alone", a.short_m, a.blocked);
        if (!soft) ENSURE(a.blocked && a.blocked_by.index1 == s.body[0].index1 && a.short_m > 0.05);
        (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[0]));
        if (soft) (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[2]));
        for (int n = 0; n < 8; n++) scene_step(&s);
        ENSURE(drive_state(&s, 0).short_m == 0);
        ENSURE(off_target(s.w, s.body[1], w.rest[1], pin, zero, turn) < 1e-14);
        watch_end(&s, &w, soft ? "paddle, ball, wall" : "paddle against a wall");
        scene_end(&s);
    }
}

/* straight into the ground, with and without a turn, at a speed of 1 and of 100 m/s */
static void test_into_the_ground(void)
{
    for (int k = 0; k < 4; k++) {
        static const int pair[1][2] = {{0, 1}};
        embipc_world_def wd = drive_world();
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
        double keys[14] = {0, 0, 0, 0, 0, 0, 0, 0.2, 0, 0, -0.2, 0, 0, 0}, centre[3] = {0, 0, 0.1}, down[3] = {0, 0, -0.2}, lo, hi;
        embipc_drive_state a;
        watch w;
        if (k >= 2) keys[7] = 0.002;
        if (k % 2) keys[11] = 0.7;
        scene_box(&s, d, 1, 1, 0.1, 1);
        d = scene_def("stamp", EMBIPC_KINEMATIC, 0, 0, 0.1);
        scene_box(&s, d, 0.1, 0.08, 0.06, 1);
        scene_drive(&s, 1, keys, 2, centre, NULL, 0);
        w = watch_begin(&s);
        for (int n = 0; n < 300 && watch_step(&s, &w, pair, 1); n++) continue;
        scene_extent(s.w, s.body[1], 2, &lo, &hi);
        a = drive_state(&s, 0);
        printf("  into the ground, %s m/s%s: ends %.3g dhat above it, short %.4g m\n", k < 2 ? "1" : "100", k % 2 ? ", turning" : "", lo / DHAT, a.short_m);
        ENSURE(lo > 0 && a.blocked && a.blocked_by.index1 == s.body[0].index1 && a.short_m > 0.1);
        if (k % 2 == 0) ENSURE(lo < DHAT);
        (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[0]));
        for (int n = 0; n < 3; n++) scene_step(&s);
        ENSURE(drive_state(&s, 0).short_m == 0);
        ENSURE(off_target(s.w, s.body[1], w.rest[1], centre, down, keys + 11) < 1e-14);
        watch_end(&s, &w, "into the ground");
        scene_end(&s);
    }
}

/* Driven nodes of a full body pressed into the ground: the body squeezes, the drive stops in time and says so. */
static void test_nodes_into_the_ground(void)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, -0.3, 0, 0, 0};
    static const double zero[3] = {0, 0, 0};
    embipc_world_def wd = drive_world();
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
    embipc_body_view v;
    int nodes[32], n = 0;
    scene_box(&s, d, 1, 1, 0.1, 1);
    d = scene_def("block", EMBIPC_FULL, 0, 0, 0.035);
    scene_box(&s, d, 0.06, 0.06, 0.06, 2);
    (void)embipc_body_get_view(s.w, s.body[1], &v);
    for (int i = 0; i < v.node_count; i++)
        if (v.q[3 * i + 2] > 0.064) nodes[n++] = i;
    scene_drive(&s, 1, keys, 2, zero, nodes, n);
    for (int k = 0; k < 120 && scene_step(&s); k++) ENSURE(scene_sound(s.w));
    printf("  driven nodes into the ground: short %.4g m, smallest gap %.3g dhat\n", drive_state(&s, 0).short_m, s.stats.min_distance / DHAT);
    ENSURE(drive_state(&s, 0).blocked && drive_state(&s, 0).short_m > 0.2);
    for (int i = 0; i < n; i++)   /* what is driven together stays together */
        ENSURE_CLOSE(v.q[3 * nodes[i] + 2], v.q[3 * nodes[0] + 2], 1e-15);
    scene_end(&s);
}

/* Back and forth against a soft ball: the drive is exact while the ball gives way, and the ball is let go again. */
static void test_soft_ball_gives_way(void)
{
    static const double keys[21] = {0, 0, 0, 0, 0, 0, 0, 0.3, 0.02, 0, 0, 0, 0, 0, 0.6, 0, 0, 0, 0, 0, 0};
    scene s;
    embipc_world_def wd = drive_world();
    embipc_body_def d = scene_def("wall", EMBIPC_FIXED, 0.05, 0, 0);
    double worst = 0, peak = 0;
    for (int i = 0; i < 3; i++) wd.gravity[i] = 0;
    s = scene_empty(&wd);
    scene_box(&s, d, 0.02, 0.2, 0.2, 1);
    d = scene_def("plate", EMBIPC_KINEMATIC, -0.04, 0, 0);
    scene_box(&s, d, 0.01, 0.1, 0.1, 1);
    d = scene_def("ball", EMBIPC_CAGE, 0.003, 0, 0);
    scene_ball(&s, d, 0.03, 1, 1);
    scene_drive(&s, 1, keys, 3, NULL, NULL, 0);
    for (int n = 0; n < 70 && scene_step(&s); n++) {
        worst = fmax(worst, drive_state(&s, 0).short_m);
        peak = fmax(peak, scene_state(s.w, s.body[2]).elastic);
        ENSURE(!drive_state(&s, 0).blocked);
        ENSURE(scene_sound(s.w));
    }
    ENSURE(worst == 0);
    printf("  soft ball: %.3g J when squeezed, %.3g J after\n", peak, scene_state(s.w, s.body[2]).elastic);
    ENSURE(peak > 2e-3 && scene_state(s.w, s.body[2]).elastic < 0.2 * peak);
    scene_end(&s);
}

/* A cage body held by the nodes that carry one end of its surface: that end moves with the drive, to rounding, the
 * other lags behind and comes after. The nodes of a full body are those in the box. */
static void test_part_of_a_cage(void)
{
    static const double keys[21] = {0, 0, 0, 0, 0, 0, 0, 0.2, 0, 0, 0.02, 0.3, 0, 0, 1, 0, 0, 0.02, 0.3, 0, 0};
    static const double lo[3] = {-1, -1, -1}, hi[3] = {-0.09, 1, 1}, centre[3] = {-0.1, 0, 0}, none[3] = {-2, -2, -2};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("beam", EMBIPC_CAGE, 0, 0, 0);
    test_mesh fine = scene_mesh_tet_box(20, 4, 4, 0.2, 0.04, 0.04);
    embipc_body_view v;
    int nodes[512], n, held = 0, total, drive;
    double lag = 0;
    scene s;
    embi_set(wd.gravity, 0, 0, 0);
    s = scene_empty(&wd);
    d.material.young = 1e4;
    d.material.damping[1] = 0.1;
    d.cage_nodes = 60;
    test_mesh_compact(&fine);
    scene_add_mesh(&s, &d, &fine, 0);
    if (s.n != 1) return;
    n = embipc_body_select(s.w, s.body[0], lo, hi, nodes, 512);
    embipc_body_get_view(s.w, s.body[0], &v);
    total = v.node_count;
    ENSURE(n > 3 && n < total && n == embipc_body_select(s.w, s.body[0], lo, hi, NULL, 0));
    for (int i = 1; i < n; i++) ENSURE(nodes[i] > nodes[i - 1]);
    ENSURE(embipc_body_select(s.w, s.body[0], none, none, nodes, 512) == 0);
    ENSURE(embipc_body_select(s.w, s.body[0], NULL, hi, nodes, 512) == -1);
    ENSURE(embipc_body_select(NULL, s.body[0], lo, hi, nodes, 512) == -1);
    drive = scene_drive(&s, 0, keys, 3, centre, nodes, n);
    ENSURE(drive == 0);
    for (int step = 0; step < 200 && scene_step(&s); step++) {
        double t = fmin(1, (step + 1) / 20.0), turn[3] = {0.3 * t, 0, 0}, R[9];
        embi_m3_rotation(R, turn);
        embipc_body_get_view(s.w, s.body[0], &v);
        held = 0;
        for (int i = 0; i < v.vertex_count; i++) {
            const double *x0 = s.w->s.start_x + 3 * i;
            double p[3], q[3];
            embi_sub(p, x0, centre);
            embi_m3_mulv(q, R, p);
            embi_add(q, q, centre);
            q[2] += 0.02 * t;
            if (x0[0] <= hi[0]) {
                held++;
                for (int k = 0; k < 3; k++) ENSURE_CLOSE(v.x[3 * i + k], q[k], 1e-14);
            } else if (step == 19) lag = fmax(lag, fabs(v.x[3 * i + 2] - q[2]));
            else if (step == 199) ENSURE_CLOSE(v.x[3 * i + 2], q[2], 1e-3);
        }
    }
    ENSURE(held >= 25 && lag > 1e-3);
    scene_end(&s);
    s = scene_empty(&wd);
    fine = scene_mesh_tet_box(20, 4, 4, 0.2, 0.04, 0.04);
    d.kind = EMBIPC_FULL;
    d.cage_nodes = 0;
    scene_add_mesh(&s, &d, &fine, 0);
    ENSURE(embipc_body_select(s.w, s.body[0], lo, hi, NULL, 0) == 2 * 25);
    scene_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(free_drives_are_exact);
    RUN(set_target_and_let_go);
    RUN(node_drive);
    RUN(plates_told_to_cross);
    RUN(gripper_on_a_stiff_block);
    RUN(paddle_against_a_wall);
    RUN(into_the_ground);
    RUN(nodes_into_the_ground);
    RUN(soft_ball_gives_way);
    RUN(part_of_a_cage);
    return test_end("test_world_drive");
}
