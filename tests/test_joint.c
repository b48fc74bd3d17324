/* Joints against closed forms: pendulum, reactions, motors, friction, limits, ropes; gap = force / stiffness; momentum of
 * linked free bodies; long chains with heavy ends; what is refused, and what is left after a body is destroyed. */
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "crossings.h"
#include "undo_test.h"

static const double Y[3] = {0, 1, 0}, X[3] = {1, 0, 0}, DOWN[3] = {0, 0, -1};

/* an empty world without a ground */
static scene joint_world(double h, embipc_integrator rule, double g)
{
    embipc_world_def wd = embipc_default_world_def();
    wd.time_step = h;
    wd.integrator = rule;
    wd.gravity[2] = -g;
    return scene_empty(&wd);
}

/* a stiff box of density 1000 about p */
static int joint_box(scene *s, double sx, double sy, double sz, double px, double py, double pz)
{
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, px, py, pz);
    d.material.young = 1e9;
    return scene_box(s, d, sx, sy, sz, 1);
}

/* Edges that meet triangles, of all pairs that may touch, by crossings.h: none, after every 20th step and at the end. */
static void linked_check(const scene *s)
{
    int count = embipc_world_body_count(s->w);
    char *skip = (char *)malloc((size_t)(count * count + 1));
    validate_count n = {0, 0, 0};
    for (int i = 0; i < count * count; i++) {
        embipc_pair_parameters p;
        ENSURE(embipc_world_get_pair(s->w, embipc_world_body(s->w, i / count), embipc_world_body(s->w, i % count), &p) == EMBIPC_OK);
        skip[i] = !p.contact;
    }
    validate_world(s->w, skip, &n);
    ENSURE(n.crossings == 0);
    free(skip);
}
static int linked_step(scene *s)
{
    int ok = scene_step(s);
    if (s->stats.step % 20 == 0) linked_check(s);
    return ok;
}
static void linked_end(scene *s)
{
    linked_check(s);
    scene_end(s);
}

static embipc_joint_state joint_state(const scene *s, embipc_joint j)
{
    embipc_joint_state out;
    ENSURE(embipc_joint_get_state(s->w, j, &out) == EMBIPC_OK);
    return out;
}

/* A box of 0.1 m falls from the level about a hinge at its end, 0.25 s: angle, speed and reaction of the compound pendulum,
 * I a = m g l cos, F = m (g - acceleration of the centre). Both rules get nearer to them in proportion to h^2 and h. */
static void test_pendulum(void)
{
    for (int rule = 0; rule < 2; rule++) {
        double error[2] = {0, 0};
        for (int fine = 0; fine < 2; fine++) {
            double h = fine ? 0.001 : 0.002, m = 0.04, l = 0.05, I = m * (0.01 + 0.0004) / 12 + m * l * l, a = 0, w = 0;
            double along[3], acceleration, force[3];
            scene s = joint_world(h, rule ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER, 9.81);
            int b = joint_box(&s, 0.1, 0.02, 0.02, l, 0, 0);
            embipc_joint j = scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0, 0, 0, Y));
            embipc_joint_state now;
            for (int n = 0; n < (int)(0.25 / h + 0.5); n++) linked_step(&s);
            for (int n = 0; n < 250000; n++) {
                w += 1e-6 * m * 9.81 * l * cos(a + 0.5e-6 * w) / I;
                a += 1e-6 * w;
            }
            now = joint_state(&s, j);
            acceleration = m * 9.81 * l * cos(a) / I;
            along[0] = cos(a), along[1] = 0, along[2] = -sin(a);
            force[0] = m * (-w * w * l * along[0] - acceleration * l * sin(a));
            force[2] = m * (-w * w * l * along[2] - acceleration * l * cos(a) + 9.81);
            error[fine] = fabs(now.position - a);
            ENSURE_CLOSE(now.position, a, fine ? rule ? 0.002 : 0.03 : rule ? 0.005 : 0.06);
            ENSURE_CLOSE(now.velocity, w, (fine ? rule ? 0.03 : 0.06 : rule ? 0.06 : 0.12) * 17);
            for (int k = 0; k < 3; k += 2) ENSURE_CLOSE(now.force[k], force[k], (fine ? rule ? 0.02 : 0.06 : rule ? 0.04 : 0.12) * 1.5);
            ENSURE_CLOSE(now.torque[1], 0, 1e-9);
            linked_end(&s);
        }
        ENSURE(error[1] < (rule ? 0.4 : 0.6) * error[0]);
    }
}

/* A box turns about a hinge by 0.08 rad a step: the force that is reported is m w^2 l at the end of the step, and the mean of
 * the step, by its momentum, lags it by 0.04 rad. */
static void test_force_of_the_end(void)
{
    for (int rule = 0; rule < 2; rule++) {
        const double h = 0.01, w = 8, l = 0.05, m = 0.04;
        scene s = joint_world(h, rule ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER, 0);
        embipc_body_def d = scene_def("box", EMBIPC_AFFINE, l, 0, 0);
        embipc_joint j;
        embipc_body_state before, now;
        double exact[3] = {0, 0, 0}, mean[3], cross[3], force[3];
        int b;
        d.material.young = 1e9;
        d.angular_velocity[1] = w;
        d.velocity[2] = -w * l;
        b = scene_box(&s, d, 0.1, 0.02, 0.02, 1);
        j = scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0, 0, 0, Y));
        for (int n = 0; n < 20; n++) {
            before = scene_state(s.w, s.body[b]);
            linked_step(&s);
        }
        now = scene_state(s.w, s.body[b]);
        embi_copy(force, joint_state(&s, j).force);
        for (int k = 0; k < 3; k++) exact[k] = -m * w * w * now.centre[k], mean[k] = (now.momentum[k] - before.momentum[k]) / h;
        for (int k = 0; k < 3; k++) ENSURE_CLOSE(force[k], exact[k], 1e-3 * m * w * w * l);
        embi_cross(cross, mean, force);
        ENSURE_REL(cross[1] / embi_dot(mean, force), w * h / 2, 0.02);
        linked_end(&s);
    }
}

/* A gap is force / stiffness: a box hangs from a ball joint. Given and derived stiffness. */
static void test_gap(void)
{
    for (int given = 0; given < 2; given++) {
        scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
        int b = joint_box(&s, 0.1, 0.1, 0.1, 0, 0, 0);
        embipc_joint_def d = scene_joint_def(&s, EMBIPC_BALL, -1, b, 0, 0, 0.05, NULL);
        embipc_joint_state now;
        embipc_joint j;
        d.stiffness = given ? 2e4 : 0;
        j = scene_joint(&s, d);
        for (int n = 0; n < 300; n++) linked_step(&s);
        now = joint_state(&s, j);
        ENSURE_REL(now.force[2], 9.81, 1e-4);
        ENSURE_REL(now.gap, given ? 9.81 / 2e4 : 9.81 / (1000 * 1.0 / 1e-4), 1e-3);
        ENSURE_CLOSE(hypot(now.force[0], now.force[1]), 0, 1e-6);
        linked_end(&s);
    }
}

/* A box that is welded to the world at its end: force m g, torque m g l; the same through a soft cage that is welded to a
 * stiff box that is fixed by another weld. */
static void test_weld(void)
{
    scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
    int a = joint_box(&s, 0.2, 0.05, 0.05, 0.1, 0, 0), b;
    embipc_joint root = scene_joint(&s, scene_joint_def(&s, EMBIPC_WELD, -1, a, 0, 0, 0, NULL)), next;
    embipc_joint_state now;
    embipc_body_def d = scene_def("soft", EMBIPC_CAGE, 0.251, 0, 0);
    double m = 1000 * 0.2 * 0.05 * 0.05, soft;
    d.material.young = 1e6;
    b = scene_box(&s, d, 0.1, 0.04, 0.04, 2);
    soft = scene_state(s.w, s.body[b]).mass;
    next = scene_joint(&s, scene_joint_def(&s, EMBIPC_WELD, a, b, 0.2, 0, 0, NULL));
    for (int n = 0; n < 400; n++) linked_step(&s);
    now = joint_state(&s, next);
    ENSURE_REL(now.force[2], soft * 9.81, 1e-3);
    ENSURE_REL(now.torque[1], -soft * 9.81 * 0.051, 0.02);
    now = joint_state(&s, root);
    ENSURE_REL(now.force[2], (m + soft) * 9.81, 1e-3);
    ENSURE_REL(now.torque[1], -(m * 0.1 + soft * 0.251) * 9.81, 0.01);
    ENSURE(now.gap < 1e-5);
    linked_end(&s);
}

/* A soft bar in a cage that welds hold at both ends, one of which is brought nearer and turned, comes to rest with all
 * forces in balance: the welds carry its weight and the torque of it, also in long steps and far from straight. */
static void test_held_bar(void)
{
    for (int model = 0; model < 2; model++)
        for (int turned = 0; turned < 2; turned++) {
            const double none[3] = {0, 0, 0}, shift[3] = {-0.1 * turned, 0, 0.05 * turned};
            scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
            embipc_body_def d = scene_def("bar", EMBIPC_CAGE, 0.2, 0, 0), k = scene_def("hand", EMBIPC_KINEMATIC, 0.43, 0, 0);
            embipc_drive_def dd = embipc_default_drive_def();
            embipc_drive drive;
            embipc_joint first, last;
            embipc_joint_state a, b;
            double weight, arm[3], torque[3], turn[3] = {0, 0.5 * turned, 0}, end[3] = {0.4, 0, 0}, R[9];
            int bar, hand;
            if (model) d.material.model = EMBIPC_NEO_HOOKEAN;
            bar = scene_box(&s, d, 0.4, 0.05, 0.05, 0);
            hand = scene_box(&s, k, 0.05, 0.05, 0.05, 0);
            first = scene_joint(&s, scene_joint_def(&s, EMBIPC_WELD, -1, bar, 0, 0, 0, NULL));
            last = scene_joint(&s, scene_joint_def(&s, EMBIPC_WELD, hand, bar, 0.4, 0, 0, NULL));
            dd.body = s.body[hand];
            (void)ENSURE_OK(s.w, embipc_drive_create(s.w, &dd, &drive));
            for (int n = 1; n <= 600; n++) {
                double t = fmin(n / 100.0, 1), now[3], angle[3];
                embi_scale(now, t, shift);
                embi_scale(angle, t, turn);
                (void)ENSURE_OK(s.w, embipc_drive_set_target(s.w, drive, t > 0 ? now : none, angle));
                linked_step(&s);
            }
            weight = scene_state(s.w, s.body[bar]).mass * 9.81;
            a = joint_state(&s, first);
            b = joint_state(&s, last);
            ENSURE_CLOSE(a.force[0] + b.force[0], 0, 1e-5 * weight);
            ENSURE_CLOSE(a.force[1] + b.force[1], 0, 1e-5 * weight);
            ENSURE_CLOSE(a.force[2] + b.force[2], weight, 1e-5 * weight);
            embi_m3_rotation(R, turn);
            embi_m3_mulv(arm, R, end);
            embi_add(arm, arm, shift);
            embi_cross(torque, arm, b.force);
            embi_add(torque, torque, a.torque);
            embi_add(torque, torque, b.torque);
            ENSURE_CLOSE(torque[1], -weight * scene_state(s.w, s.body[bar]).centre[0], 1e-4 * weight * 0.4);
            ENSURE(s.stats.converged && s.stats.newton_iterations <= 2);
            linked_end(&s);
        }
}

/* Free bodies that joints link spin on: welded in a pair, and in a chain of ball joints, at 3 and 10 rad/s, h = 10 ms. A
 * second linked pair far away turns the other way. A body that is made before them goes after the first step, and others stand among them. */
static void test_linked_spin(void)
{
    for (int k = 0; k < 4; k++) {
        scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 0);
        int n = k & 1 ? 5 : 2, kind = k & 1 ? EMBIPC_BALL : EMBIPC_WELD;
        double w = k & 2 ? 10 : 3, first[2] = {0, 0}, energy = 0;
        int alone = joint_box(&s, 0.1, 0.1, 0.1, 0, 5, 0), link[10];
        for (int i = 0; i < 2 * n; i++) {
            embipc_body_def d = scene_def("link", EMBIPC_AFFINE, 0, 0, 0);
            double away = i < n ? 0 : 2, sign = i < n ? 1 : -1, x = 0.12 * (i % n - (n - 1) / 2.0);
            d.material.young = 1e8;
            d.position[0] = x;
            d.position[1] = away;
            d.velocity[1] = sign * w * x;
            d.angular_velocity[2] = sign * w;
            link[i] = scene_box(&s, d, 0.1, 0.06, 0.05, 1);
            if (i % n == 0) (void)joint_box(&s, 0.1, 0.1, 0.1, 3, 3 + i, 0);
            else (void)scene_joint(&s, scene_joint_def(&s, (embipc_joint_kind)kind, link[i - 1], link[i], x - 0.06, away, 0, X));
        }
        for (int step = 0; step <= 100; step++) {
            double L[2] = {0, 0};
            for (int i = 0; i < 2 * n; i++) {
                embipc_body_state b = scene_state(s.w, s.body[link[i]]);
                double y = b.centre[1] - (i < n ? 0 : 2);
                L[i / n] += b.angular_momentum[2] + b.mass * (b.centre[0] * b.velocity[1] - y * b.velocity[0]);
            }
            if (!step) memcpy(first, L, sizeof L);
            if (step == 1) (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[alone]));
            for (int i = 0; i < 2; i++) ENSURE_REL(L[i], first[i], 2e-3);
            if (step == 100) break;
            linked_step(&s);
            ENSURE(step < 2 || s.stats.kinetic <= energy * (1 + 1e-9));
            energy = s.stats.kinetic + s.stats.elastic + s.stats.joint;
        }
        linked_end(&s);
    }
}

/* ---- what holds the ends of a joint ---- */

/* A torque T tilts a joint by at most 2 T / (stiffness l^2), and a hinge by just that; l also for a boom on a bracket of a
 * twelfth of its length, which may be kinematic: l was a quarter of its diagonal then. What sees the tilt are two vertices
 * of the boom, pushed in opposite directions. */
static void test_tilt(void)
{
    for (int kind = EMBIPC_HINGE; kind <= EMBIPC_WELD; kind++)
        for (int small = 0; small < 3; small++) {
            scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 0);
            const double size = small ? 0.02 : 0.24, T = 2, D = sqrt(0.24 * 0.24 + 2 * 4e-4), E = size * sqrt(3.0),
                         l = fmin(fmax(D, E) / 4, fmin(D, E)), K = 1e6;
            embipc_body_def post = scene_def("post", EMBIPC_KINEMATIC, -size / 2 - 0.001, 0, 0);
            int bracket = small == 2 ? scene_box(&s, post, size, size, size, 1)
                                     : joint_box(&s, size, size, size, -size / 2 - 0.001, 0, 0);
            int boom = joint_box(&s, 0.24, 0.02, 0.02, 0.12, 0, 0);
            embipc_joint_def d = scene_joint_def(&s, EMBIPC_WELD, -1, bracket, -size / 2, 0, 0, NULL);
            embipc_body_view v;
            double x0[24], tilt, bound = 2 * T / (K * l * l), rise = 0;
            d.stiffness = 1e12;
            if (small < 2) (void)scene_joint(&s, d);
            d = scene_joint_def(&s, (embipc_joint_kind)kind, bracket, boom, 0, 0, 0, X);
            d.stiffness = K;
            (void)scene_joint(&s, d);
            ENSURE(embipc_body_get_view(s.w, s.body[boom], &v) == EMBIPC_OK && v.vertex_count == 8);
            memcpy(x0, v.x, sizeof x0);
            for (int n = 0; n < 200; n++) {
                for (int i = 0; i < 8; i++) {   /* four vertices up at the far end, four down at the near one: T about -y */
                    const double f[3] = {0, 0, x0[3 * i] > 0.12 ? T / 0.96 : -T / 0.96};
                    (void)ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[boom], i, f));
                }
                linked_step(&s);
            }
            for (int i = 0; i < 8; i++) rise += (x0[3 * i] > 0.12 ? 0.25 : -0.25) * v.x[3 * i + 2];
            tilt = asin(rise / 0.24);
            ENSURE(tilt <= 1.01 * bound && tilt > 0.3 * bound);
            if (kind == EMBIPC_HINGE) ENSURE_REL(tilt, bound, 0.01);
            linked_end(&s);
        }
}

/* A weld holds the tet of a soft body without strain, and only that one: a block that is welded in its middle keeps the
 * edges of this tet to 1e-3 under ten times its weight, and stretches elsewhere. */
static void test_weld_clamps(void)
{
    for (int welded = 0; welded < 2; welded++) {
        scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 98.1);
        embipc_body_def d = scene_def("block", EMBIPC_FULL, 0, 0, 0);
        embipc_joint_def jd;
        embipc_body_view v;
        const int *tet;
        double x0[4][3], held = 0, most = 0;
        d.material.young = 2e5;
        scene_box(&s, d, 0.1, 0.1, 0.1, 3);
        jd = scene_joint_def(&s, welded ? EMBIPC_WELD : EMBIPC_BALL, -1, 0, 0.004, 0.002, -0.001, NULL);
        (void)scene_joint(&s, jd);
        ENSURE(embipc_body_get_view(s.w, s.body[0], &v) == EMBIPC_OK);
        tet = v.tets + 4 * embi_tet_at(&s.w->s, s.w->s.body, jd.point);
        for (int i = 0; i < 4; i++) memcpy(x0[i], v.q + 3 * tet[i], sizeof x0[i]);
        for (int n = 0; n < 150; n++) linked_step(&s);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < i; k++)
                held = fmax(held, fabs(hypot(hypot(v.q[3 * tet[i]] - v.q[3 * tet[k]], v.q[3 * tet[i] + 1] - v.q[3 * tet[k] + 1]),
                                             v.q[3 * tet[i] + 2] - v.q[3 * tet[k] + 2]) /
                                       hypot(hypot(x0[i][0] - x0[k][0], x0[i][1] - x0[k][1]), x0[i][2] - x0[k][2]) - 1));
        for (int i = 0; i < v.node_count; i++) most = fmax(most, fabs(v.q[3 * i + 2]) - 0.05);
        ENSURE(welded ? held < 1e-3 : held > 0.01);
        ENSURE(most > 1e-3);
        linked_end(&s);
    }
}

/* A body that drives hold whole, or where the joint is, is ground like the world: a pendulum on it swings as on that, by
 * its arc, to the last digits of a hinge's gap. */
static void test_driven_ground(void)
{
    double angle[4], off[2];
    for (int kind = 0; kind < 4; kind++) {   /* the world, a fixed body, a driven one, one that is driven at one end */
        scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
        embipc_body_def d = scene_def("post", kind < 2 ? EMBIPC_FIXED : kind == 2 ? EMBIPC_AFFINE : EMBIPC_FULL, -0.101, 0, 0);
        const double lo[3] = {-0.11, -1, -1}, hi[3] = {1, 1, 1};
        embipc_joint_def jd;
        embipc_joint j;
        int nodes[64], count, b;
        d.material.young = 1e9;
        d.material.density = 300;
        scene_box(&s, d, 0.2, 0.05, 0.05, 2);
        b = joint_box(&s, 0.1, 0.02, 0.02, 0.05, 0, 0);
        count = embipc_body_select(s.w, s.body[0], lo, hi, nodes, 64);
        if (kind > 1) scene_drive(&s, 0, NULL, 0, NULL, kind == 2 ? NULL : nodes, kind == 2 ? 0 : count);
        (void)ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[0], s.body[b], 0, 0));
        jd = scene_joint_def(&s, EMBIPC_HINGE, kind ? 0 : -1, b, 0, 0, 0, Y);
        jd.stiffness = 1e6;
        j = scene_joint(&s, jd);
        for (int n = 0; n < 40; n++) linked_step(&s);
        angle[kind] = joint_state(&s, j).position;
        ENSURE(s.w->s.body[b].flight.kind == EMBI_PIVOT_AXIS);
        if (kind == 2) {   /* and not once the drive is gone */
            (void)ENSURE_OK(s.w, embipc_drive_destroy(s.w, s.drive[0]));
            linked_step(&s);
            ENSURE(s.w->s.body[b].flight.kind == EMBI_PIVOT_CENTRE);
        }
        linked_end(&s);
    }
    for (int k = 0; k < 2; k++) off[k] = fabs(angle[k + 2] - angle[0]);
    printf("  a pendulum of %.4f rad on driven nodes differs by %.1e, %.1e rad\n", angle[0], off[0], off[1]);
    ENSURE_CLOSE(angle[1], angle[0], 1e-12);
    ENSURE(off[0] < 1e-4 && off[1] < 1e-4);
}

/* A sledge on a rail at 30 degrees: g sin without friction; (g sin - F/m) with; stays where F is larger; stops at its
 * limit; its motor pushes it with a force. */
static void test_slider(void)
{
    const double rail[3] = {sqrt(0.75), 0, -0.5};
    for (int kind = 0; kind < 5; kind++) {
        scene s = joint_world(0.002, EMBIPC_BACKWARD_EULER, 9.81);
        int b = joint_box(&s, 0.1, 0.1, 0.1, 0, 0, 0);
        embipc_joint_def d = scene_joint_def(&s, EMBIPC_SLIDER, -1, b, 0.02, 0, 0.03, rail);
        embipc_joint j;
        embipc_joint_state now;
        double a = 9.81 / 2, F = 0;
        if (kind == 1) d.friction = F = 2;
        if (kind == 2) d.friction = 6;
        if (kind == 3) d.limited = 1, d.limits[0] = -0.1, d.limits[1] = 0.2;
        j = scene_joint(&s, d);
        if (kind == 4) (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, j, 0, 0, F = -3));
        if (kind == 4) F = 3;
        for (int n = 0; n < 200; n++) linked_step(&s);
        now = joint_state(&s, j);
        if (kind == 2) ENSURE_CLOSE(now.position, 0, 1e-3);
        else if (kind == 3) {
            for (int n = 0; n < 800; n++) linked_step(&s);
            now = joint_state(&s, j);
            ENSURE_CLOSE(now.position, 0.2, 1e-5);
            ENSURE_CLOSE(now.velocity, 0, 1e-5);
        } else {
            ENSURE_REL(now.velocity, (a - F) * 0.4, 0.005);
            ENSURE_REL(now.position, (a - F) * 0.08, 0.01);
            ENSURE_CLOSE(now.effort, kind == 4 ? -3 : 0, 1e-12);
        }
        ENSURE(now.gap < 1e-6);
        linked_end(&s);
    }
}

/* Motors of a hinge without gravity: a torque gives I a = torque; a velocity is reached; a stiff position target too, and
 * with a limit no larger torque acts. With gravity the error of a target is torque / stiffness. */
static void test_motor(void)
{
    const double m = 0.04, I = m * (0.01 + 0.0004) / 12 + m * 0.0025;
    for (int kind = 0; kind < 5; kind++) {
        double h = 0.002;
        scene s = joint_world(h, EMBIPC_BACKWARD_EULER, kind == 4 ? 9.81 : 0);
        int b = joint_box(&s, 0.1, 0.02, 0.02, 0.05, 0, 0);
        embipc_joint_def d = scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0, 0, 0, Y);
        embipc_joint j;
        embipc_joint_state now;
        if (kind == 1) d.motor_damping = 0.1;
        if (kind >= 2) d.motor_stiffness = 1, d.motor_damping = 0.02;
        if (kind == 3) d.motor_limit = 1e-3;
        j = scene_joint(&s, d);
        (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, j, kind >= 2 && kind < 4 ? 2.5 : 0, kind == 1 ? 7 : 0, kind ? 0 : 2e-3));
        now = joint_state(&s, j);
        for (int n = 0; n < (kind == 3 ? 100 : 500); n++) {
            linked_step(&s);
            now = joint_state(&s, j);
            if (kind == 3) ENSURE(fabs(now.effort) < 1.0001e-3 && (n > 5 || fabs(now.effort) > 0.995e-3));
        }
        if (kind == 0) {   /* eight radians: more than a turn */
            ENSURE_REL(now.position, 0.5 * 2e-3 / I, 0.01);
            ENSURE_REL(now.velocity, 2e-3 / I, 0.01);
            ENSURE_CLOSE(now.effort, 2e-3, 1e-15);
        } else if (kind == 1) ENSURE_REL(now.velocity, 7.0, 1e-3);
        else if (kind == 2) ENSURE_CLOSE(now.position, 2.5, 1e-4);
        else if (kind == 3) ENSURE_REL(now.velocity, 1e-3 * 0.2 / I, 0.02);
        else ENSURE_REL(now.position, m * 9.81 * 0.05 * cos(now.position), 1e-3);
        if (kind == 4) ENSURE_REL(now.effort, -m * 9.81 * 0.05 * cos(now.position), 1e-3);
        linked_end(&s);
    }
}
/* A damping of the caller's, effort = -c velocity, acts a step late: each step multiplies the speed by 1 - c h / I, I the
 * inertia that the effort moves. It grows from c h = 2 I on. That of the motor multiplies it by 1 / (1 + c h / I). Two
 * free boxes have I = I_a I_b / (I_a + I_b). */
static void test_late_damping(void)
{
    for (int free = 0; free < 2; free++)
        for (int kind = 0; kind < 3; kind++) {
            const double h = 0.005, own = 0.04 * (0.01 + 0.0004) / 12, share[3] = {1.9, 2.1, 2.1};
            const double I = free ? own / 2 : own, c = share[kind] * I / h;
            scene s = joint_world(h, EMBIPC_BACKWARD_EULER, 0);
            int b = joint_box(&s, 0.1, 0.02, 0.02, 0, 0, 0), a = free ? joint_box(&s, 0.1, 0.02, 0.02, 0, 0.05, 0) : -1;
            embipc_joint_def d = scene_joint_def(&s, EMBIPC_HINGE, a, b, 0, 0, 0, Y);
            embipc_joint j;
            double speed;
            if (kind == 2) d.motor_damping = c;
            j = scene_joint(&s, d);
            (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, j, 0, 0, 1e-3 * I / h));
            linked_step(&s);
            speed = joint_state(&s, j).velocity;
            if (kind < 2) ENSURE_REL(speed, 1e-3, 1e-3);
            for (int n = 0; n < 20; n++) {
                double now = joint_state(&s, j).velocity;
                (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, j, 0, 0, kind < 2 ? -c * now : 0));
                linked_step(&s);
            }
            if (kind < 2) ENSURE_REL(joint_state(&s, j).velocity, speed * pow(1 - share[kind], 20), 0.02);
            else ENSURE(fabs(joint_state(&s, j).velocity) < 1e-6 * speed);
            linked_end(&s);
        }
}

/* A hinge is stopped by its limit however fast it comes, and however many turns it has made. A loaded arm that friction
 * holds stays, to either side; one in a soft cage too, for which strain across the axis is no slip. */
static void test_hinge_holds(void)
{
    for (int fast = 0; fast < 3; fast++) {
        scene s = joint_world(0.005, EMBIPC_BACKWARD_EULER, 0);
        embipc_body_def d = scene_def("wheel", EMBIPC_AFFINE, 0, 0, 0);
        embipc_joint_def jd;
        embipc_joint j;
        d.material.young = 1e9;
        d.angular_velocity[1] = fast == 2 ? 150 : 20;
        scene_box(&s, d, 0.1, 0.04, 0.1, 1);
        jd = scene_joint_def(&s, EMBIPC_HINGE, -1, 0, 0, 0, 0, Y);
        jd.limited = 1;
        jd.limits[0] = fast == 1 ? -HUGE_VAL : -4.8;
        jd.limits[1] = fast ? 9 : 1.4;   /* more than a turn */
        j = scene_joint(&s, jd);
        for (int n = 0; n < 300; n++) {
            linked_step(&s);
            ENSURE(joint_state(&s, j).position < jd.limits[1] + 1e-3 || (fast == 2 && n < 20));
        }
        linked_end(&s);
    }
    {   /* from rest, a step so long that it would fall past its limit at once */
        scene s = joint_world(0.1, EMBIPC_BACKWARD_EULER, 9.81);
        embipc_joint_def jd;
        embipc_joint j;
        joint_box(&s, 0.1, 0.02, 0.02, 0.05, 0, 0);
        jd = scene_joint_def(&s, EMBIPC_HINGE, -1, 0, 0, 0, 0, Y);
        jd.limited = 1;
        jd.limits[0] = -0.2;
        jd.limits[1] = 0.2;
        j = scene_joint(&s, jd);
        for (int n = 0; n < 20; n++) {
            linked_step(&s);
            ENSURE(fabs(joint_state(&s, j).position) < 0.23);
        }
        ENSURE_CLOSE(joint_state(&s, j).position, 0.2, 0.01);
        linked_end(&s);
    }
    for (int k = 0; k < 4; k++) {
        scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
        double side = k % 2 ? -1 : 1, was;
        embipc_body_def d = scene_def("arm", k < 2 ? EMBIPC_AFFINE : EMBIPC_CAGE, side * 0.05, 0, 0);
        embipc_joint_def jd;
        embipc_joint j;
        d.material.young = k < 2 ? 1e9 : 2e5;
        scene_box(&s, d, 0.1, 0.02, 0.02, 1);
        jd = scene_joint_def(&s, EMBIPC_HINGE, -1, 0, 0, 0, 0, Y);
        jd.friction = 0.04 * 9.81 * 0.05 * 1.5;   /* half as much again as it needs */
        j = scene_joint(&s, jd);
        for (int n = 0; n < 100; n++) linked_step(&s);
        was = joint_state(&s, j).position;
        for (int n = 0; n < 200; n++) linked_step(&s);
        ENSURE(fabs(joint_state(&s, j).position - was) < 2 * 0.004);   /* creep: friction velocity over l, rad/s */
        linked_end(&s);
    }
}

/* Friction of a hinge: a wheel slows down by torque / I, and stays. */
static void test_hinge_friction(void)
{
    scene s = joint_world(0.002, EMBIPC_BACKWARD_EULER, 0);
    embipc_body_def d = scene_def("wheel", EMBIPC_AFFINE, 0, 0, 0);
    embipc_joint_def jd;
    embipc_joint j;
    double I = 0.4 * (0.01 + 0.01) / 12, was;
    int b;
    d.material.young = 1e9;
    d.angular_velocity[1] = 5;
    b = scene_box(&s, d, 0.1, 0.04, 0.1, 1);
    jd = scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0, 0, 0, Y);
    jd.friction = 5 * I;   /* one second */
    j = scene_joint(&s, jd);
    for (int n = 0; n < 250; n++) linked_step(&s);
    ENSURE_REL(joint_state(&s, j).velocity, 2.5, 0.01);
    for (int n = 0; n < 300; n++) linked_step(&s);
    was = joint_state(&s, j).position;
    ENSURE_REL(was, 2.5, 0.01);
    for (int n = 0; n < 50; n++) linked_step(&s);
    ENSURE_CLOSE(joint_state(&s, j).position, was, 1e-6);
    linked_end(&s);
}

/* Friction and a damper between two soft bodies, whose frames bend: what they take is what the world loses, and no step
 * ends with more energy. Friction takes its torque times the angle, a damper c w^2 h a step. Its effort is -c w. */
static void test_soft_hinges(void)
{
    for (int n = 0; n < 4; n++) {
        double h = n % 2 ? 3e-4 : 1e-3, taken = 0, rise = 0, first = 0, now = 0, off = 0;
        scene s = joint_world(h, EMBIPC_BACKWARD_EULER, 0);
        embipc_joint_def jd;
        embipc_joint j;
        for (int side = 0; side < 2; side++) {
            embipc_body_def d = scene_def(side ? "b" : "a", EMBIPC_CAGE, side ? 0.3 : 0, 0, 0);
            d.material.young = 1e6;
            d.angular_velocity[2] = side ? -5 : 5;
            d.mask = 0;
            scene_box(&s, d, 0.3, 0.1, 0.1, 0);
        }
        jd = scene_joint_def(&s, EMBIPC_HINGE, 0, 1, 0.15, 0, 0, NULL);
        if (n < 2) jd.friction = 0.8;
        else jd.motor_damping = 0.1;
        j = scene_joint(&s, jd);
        for (int k = 0; k < (int)(0.09 / h); k++) {
            double before = now, w;
            linked_step(&s);
            w = joint_state(&s, j).velocity;
            now = s.stats.kinetic + s.stats.elastic + s.stats.joint;
            if (k == 0) { first = now; continue; }
            if (n >= 2) off = fmax(off, fabs(joint_state(&s, j).effort + 0.1 * w));
            taken += h * fabs(w) * (n < 2 ? 0.8 : 0.1 * fabs(w));
            rise = fmax(rise, now - before);
        }
        printf("  two soft bodies, %s, h = %g s: lost %.4f J, taken %.4f J\n", n < 2 ? "friction" : "damper", h, first - now, taken);
        ENSURE(rise < 1e-9);
        ENSURE_REL(first - now, taken, 0.04);
        ENSURE(off < 0.01);   /* N m, of 1 */
        linked_end(&s);
    }
}

/* Limits: a pendulum rests on them, whatever their range; the cone of a ball; a weight on a rope falls freely, then hangs;
 * a rod keeps its length. */
static void test_limits(void)
{
    static const double range[4][2] = {{-0.1, 0.02}, {-1, 0.7}, {-1.5, 1.2}, {-40, 1.4}},
                        cone[4] = {0.01, 0.6, 1.2, 1.4};
    for (int k = 0; k < 8; k++) {
        scene s = joint_world(0.005, EMBIPC_BACKWARD_EULER, 9.81);
        int b = joint_box(&s, 0.1, 0.02, 0.02, 0.05, 0, 0);
        embipc_joint_def d = scene_joint_def(&s, k < 4 ? EMBIPC_HINGE : EMBIPC_BALL, -1, b, 0, 0, 0, k < 4 ? Y : X);
        embipc_joint j;
        d.limited = 1;
        if (k < 4) memcpy(d.limits, range[k], sizeof d.limits);
        else d.limits[1] = cone[k - 4];
        j = scene_joint(&s, d);
        for (int n = 0; n < 400; n++) linked_step(&s);
        ENSURE_CLOSE(joint_state(&s, j).position, d.limits[1], 2e-3);
        if (k < 4) ENSURE_REL(joint_state(&s, j).torque[1], -0.04 * 9.81 * 0.05 * cos(d.limits[1]), 0.01);
        linked_end(&s);
    }
    for (int rope = 0; rope < 2; rope++) {
        scene s = joint_world(0.005, EMBIPC_BACKWARD_EULER, 9.81);
        int b = joint_box(&s, 0.1, 0.1, 0.1, 0, 0, -0.1);
        embipc_joint_def d = scene_joint_def(&s, EMBIPC_ROD, -1, b, 0, 0, 0, NULL);
        embipc_joint j;
        d.point_b[2] = -0.05;
        d.limited = rope;
        d.limits[0] = 0;
        d.limits[1] = 0.3;
        j = scene_joint(&s, d);
        for (int n = 0; n < 40; n++) linked_step(&s);
        ENSURE_CLOSE(joint_state(&s, j).position, rope ? 0.05 + 9.81 * 0.02 : 0.05, rope ? 0.006 : 1e-5);
        if (rope) ENSURE(joint_state(&s, j).force[2] == 0);
        for (int n = 0; n < 600; n++) linked_step(&s);
        ENSURE_CLOSE(joint_state(&s, j).position, rope ? 0.3 : 0.05, 1e-5);
        ENSURE_REL(joint_state(&s, j).force[2], 9.81, 1e-3);
        linked_end(&s);
    }
}

/* Limits that were computed with floats are those of the rod, to 2e-7 of its length: it begins, and nothing moves. Limits that
 * it misses by 1e-4 are refused. */
static void test_limits_of_floats(void)
{
    for (int n = 0; n < 40; n++) {
        scene s = joint_world(0.005, EMBIPC_BACKWARD_EULER, 0);
        double at = test_uniform(0.05, 0.4);
        int b = joint_box(&s, 0.1, 0.1, 0.1, at, 0, -0.1);
        embipc_joint_def d = scene_joint_def(&s, EMBIPC_ROD, -1, b, 0, 0, 0, NULL);
        embipc_joint j;
        d.point_b[0] = at;
        d.point_b[2] = -0.05;
        d.limited = 1;
        d.limits[0] = d.limits[1] = (double)(float)sqrt(at * at + 0.0025) * (1 + (n % 2 ? 1e-4 : 0));
        ENSURE(embipc_joint_create(s.w, &d, &j) == (n % 2 ? EMBIPC_ERR_ARGUMENT : EMBIPC_OK));
        for (int k = 0; k < 10 && n % 2 == 0; k++) linked_step(&s);
        for (int i = 0; i < 3 && n % 2 == 0; i++) ENSURE_CLOSE(scene_state(s.w, s.body[b]).velocity[i], 0, 1e-5);
        linked_end(&s);
    }
}

/* Twenty links hang from the world with a weight of a thousand of their masses at the end, and swing: forces are those
 * of statics, gaps small, and every step converges. */
static void test_chain(void)
{
    scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
    embipc_joint first = {0, 0}, last = {0, 0};
    double link = 1000 * 0.04 * 0.02 * 0.02, weight;
    int before = -1;
    embipc_body_def d = scene_def("weight", EMBIPC_AFFINE, 0.0, 0, -20 * 0.05 - 0.14);
    for (int k = 0; k < 20; k++) {
        int b = joint_box(&s, 0.02, 0.02, 0.04, 0, 0, -0.05 * k - 0.025);
        embipc_joint j = scene_joint(&s, scene_joint_def(&s, k % 2 ? EMBIPC_HINGE : EMBIPC_BALL, before, b, 0, 0, -0.05 * k, k % 2 ? Y : NULL));
        if (!k) first = j;
        before = b;
    }
    d.material.young = 1e9;
    d.material.density = 1000 * link / (0.28 * 0.28 * 0.26);
    d.velocity[0] = 0.5;
    weight = 1000 * link;
    last = scene_joint(&s, scene_joint_def(&s, EMBIPC_BALL, before, scene_box(&s, d, 0.28, 0.28, 0.26, 1), 0, 0, -1, NULL));
    for (int n = 0; n < 300; n++) {
        linked_step(&s);
        ENSURE(s.stats.converged);
        ENSURE(joint_state(&s, first).gap < 1e-4 && joint_state(&s, last).gap < 1e-4);
    }
    for (int n = 0; n < 20; n++) {   /* it swings still, by 0.1 rad or so */
        embipc_joint_state one;
        linked_step(&s);
        one = joint_state(&s, first);
        ENSURE_REL(sqrt(one.force[0] * one.force[0] + one.force[1] * one.force[1] + one.force[2] * one.force[2]), (weight + 20 * link) * 9.81, 0.05);
    }
    linked_end(&s);
}

/* Free bodies that joints link: linear momentum stays. */
static void test_momentum(void)
{
    for (int kind = EMBIPC_BALL; kind <= EMBIPC_ATTACH; kind++) {
        scene s = joint_world(0.005, EMBIPC_BACKWARD_EULER, 0);
        embipc_body_def d = scene_def("b", EMBIPC_AFFINE, 0.3, 0, 0);
        embipc_joint_def jd;
        double p[3] = {0, 0, 0}, q[3] = {0, 0, 0};
        int a = joint_box(&s, 0.2, 0.1, 0.1, 0, 0, 0), b;
        d.material.young = 1e9;
        d.velocity[0] = 0.2;
        d.velocity[1] = 0.7;
        d.angular_velocity[1] = 4;
        b = scene_box(&s, d, 0.2, 0.06, 0.06, 1);
        jd = scene_joint_def(&s, (embipc_joint_kind)kind, a, b, 0.15, 0, 0, Y);
        jd.point_b[0] = 0.2;
        if (kind == EMBIPC_HINGE) jd.friction = 0.01;
        (void)scene_joint(&s, jd);
        for (int k = 0; k < 3; k++) p[k] = scene_state(s.w, s.body[b]).momentum[k] + scene_state(s.w, s.body[a]).momentum[k];
        for (int n = 0; n < 200; n++) {
            linked_step(&s);
            ENSURE(s.stats.converged);
        }
        for (int k = 0; k < 3; k++) q[k] = scene_state(s.w, s.body[b]).momentum[k] + scene_state(s.w, s.body[a]).momentum[k];
        for (int k = 0; k < 3; k++) ENSURE_CLOSE(q[k], p[k], 1e-9);
        linked_end(&s);
    }
}

/* A soft ball, attached by some vertices to a kinematic plate that lifts it: the force is its weight. */
static void test_attach(void)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0.2, 0, 0, 0};
    scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
    embipc_body_def d = scene_def("plate", EMBIPC_KINEMATIC, 0, 0, 0.15);
    const double lo[3] = {-1, -1, 0.06}, hi[3] = {1, 1, 1};
    int plate = scene_box(&s, d, 0.2, 0.2, 0.05, 1), ball, count = 0, list[400];
    embipc_body_view v;
    embipc_joint_def jd;
    embipc_joint j;
    d = scene_def("ball", EMBIPC_CAGE, 0, 0, 0);
    d.material.young = 1e5;
    ball = scene_ball(&s, d, 0.1, 2, 2);
    scene_drive(&s, plate, keys, 2, NULL, NULL, 0);
    ENSURE(embipc_body_get_view(s.w, s.body[ball], &v) == EMBIPC_OK);
    for (int i = 0; i < v.vertex_count; i++) {
        int in = 1;
        for (int k = 0; k < 3; k++) in &= v.x[3 * i + k] >= lo[k] && v.x[3 * i + k] <= hi[k];
        if (in && count < 400) list[count++] = i;
    }
    ENSURE(count > 4);
    jd = scene_joint_def(&s, EMBIPC_ATTACH, plate, ball, 0, 0, 0, NULL);
    jd.vertices = list;
    jd.vertex_count = count;
    j = scene_joint(&s, jd);
    for (int n = 0; n < 300; n++) linked_step(&s);
    ENSURE_REL(joint_state(&s, j).force[2], scene_state(s.w, s.body[ball]).mass * 9.81, 1e-3);
    ENSURE(joint_state(&s, j).gap < 1e-4);
    ENSURE_CLOSE(scene_state(s.w, s.body[ball]).centre[2], 0.2, 0.03);
    linked_end(&s);
}

/* Force and stiffness of a rod against differences of its energy: slack, taut, short, at its limit, points, and on a line. */
static void test_rods(void)
{
    for (int c = 0; c < 4000; c++) {
        embi_rod p;
        double x[12], energy, H[9], f[12], most = 0;
        memset(&p, 0, sizeof p);
        p.base.kind = EMBI_ELEMENT_ROD;
        for (int k = 0; k < 4; k++) p.base.v[k] = k;
        p.base.w[0] = 1;
        p.base.w[1] = c % 4 == 3 ? -1 : -0.4;
        p.base.w[2] = -0.6;
        p.form = c % 4 == 3 ? EMBI_ROD_ON_LINE : c % 8 == 1 ? EMBI_ROD_ALONG : EMBI_ROD_FREE;
        embi_set(p.axis, 0.6, 0, 0.8);
        p.K = test_uniform(1, 100);
        p.limit = c % 3 ? HUGE_VAL : p.K * test_uniform(0.01, 0.5);
        if (c % 4 == 0) p.least = test_uniform(0, 1), p.most = p.least + test_uniform(0, 0.5);
        for (int i = 0; i < 12; i++) x[i] = test_uniform(-1, 1);
        embi_rod_evaluate(&p.base, NULL, x);
        energy = p.base.energy;
        embi_rod_hessian(&p.base, H);
        if (fabs(p.length - p.least) < 1e-4 || fabs(p.length - p.most) < 1e-4 || fabs(p.length) < 0.05) continue;
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < 3; i++) f[3 * k + i] = p.base.first * p.base.w[k] * p.base.dir[i], most = fmax(most, fabs(f[3 * k + i]));
        for (int i = 0; i < 12; i++) {
            double e[2], at = x[i], h = 1e-6, g[2];
            for (int side = 0; side < 2; side++) {
                x[i] = at + (side ? h : -h);
                embi_rod_evaluate(&p.base, NULL, x);
                e[side] = p.base.energy;
                g[side] = p.base.first * p.base.dir[c % 3];
            }
            x[i] = at;
            ENSURE_CLOSE((e[1] - e[0]) / (2 * h), f[i], 1e-5 * (p.K + most));
            /* the first vertex has weight 1; a negative part across a short rod is left out */
            if (i < 3 && p.form != EMBI_ROD_ON_LINE && (p.base.first >= 0 || p.form == EMBI_ROD_ALONG)) ENSURE_CLOSE((g[1] - g[0]) / (2 * h), H[3 * (c % 3) + i], 1e-4 * (p.K + most));
        }
        embi_rod_evaluate(&p.base, NULL, x);
        ENSURE_CLOSE(p.base.energy, energy, 1e-14 * (1 + energy));
        for (int n = 0; n < 10; n++) {   /* positive semidefinite */
            double r[3] = {test_uniform(-1, 1), test_uniform(-1, 1), test_uniform(-1, 1)}, sum = 0;
            for (int i = 0; i < 9; i++) sum += r[i / 3] * H[i] * r[i % 3];
            ENSURE(sum > -1e-12 * p.K);
        }
    }
}

/* A rod that becomes slack or taut within the last move of a step needs another direction, and so does one that reaches
 * its limit; one whose force is as its stiffness says to 1 % does not. */
static void test_rod_misses(void)
{
    static const double at[8][3] = {   /* lengths before and after, and whether it misses; most 1, K 100, limit 2 */
        {1.01, 1.005, 0}, {1.01, 0.9, 1}, {1.01, 0.99995, 0}, {0.99, 1.001, 1}, {0.99, 0.5, 0}, {1.019, 1.03, 1}, {1.03, 1.04, 0},
        {1.03, 1.01, 1}};
    for (int k = 0; k < 8; k++) {
        embi_rod p;
        double x[6] = {0, 0, 0, 0, 0, 0}, y[6] = {0, 0, 0, 0, 0, 0};
        memset(&p, 0, sizeof p);
        p.base.kind = EMBI_ELEMENT_ROD;
        for (int i = 1; i < 4; i++) p.base.v[i] = 1;
        p.base.w[0] = 1;
        p.base.w[1] = -1;
        p.K = 100;
        p.limit = 2;
        p.most = 1;
        x[0] = at[k][0];
        y[0] = at[k][1];
        embi_rod_evaluate(&p.base, NULL, y);
        ENSURE(embi_rod_misses(&p.base, x, y) == (int)at[k][2]);
    }
}

/* Fast hinges, of up to 1 rad in a step: a motor reaches its velocity, and friction takes its torque over I from the speed
 * each second. A motor stays below 1.5 rad in a step. */
static void test_fast_hinges(void)
{
    for (int kind = 0; kind < 3; kind++) {
        const double h = 0.01, I = 0.4 * (0.01 + 0.01) / 12;
        scene s = joint_world(h, EMBIPC_BACKWARD_EULER, 0);
        embipc_body_def d = scene_def("wheel", EMBIPC_AFFINE, 0, 0, 0);
        embipc_joint_def jd;
        embipc_joint j;
        double was;
        d.material.young = 1e9;
        if (kind == 1) d.angular_velocity[1] = 90;
        scene_box(&s, d, 0.1, 0.04, 0.1, 1);
        jd = scene_joint_def(&s, EMBIPC_HINGE, -1, 0, 0, 0, 0, Y);
        if (kind == 1) jd.friction = 100 * I;
        else jd.motor_damping = 100 * I, jd.target[1] = kind ? 200 : -90;
        j = scene_joint(&s, jd);
        for (int n = 0; n < 20; n++) linked_step(&s);
        was = scene_state(s.w, s.body[0]).angular_velocity[1];
        for (int n = 0; n < 20; n++) linked_step(&s);
        if (kind == 0) ENSURE_REL(joint_state(&s, j).velocity, -90.0, 1e-4);
        if (kind == 1) ENSURE_REL(was - scene_state(s.w, s.body[0]).angular_velocity[1], 100 * 0.2, 0.01);
        if (kind == 1) ENSURE_REL(joint_state(&s, j).torque[1], -100 * I, 1e-3);
        if (kind == 2) ENSURE(joint_state(&s, j).velocity > 1 / h && joint_state(&s, j).velocity < 1.5 / h);
        linked_end(&s);
    }
}

/* The energies of a step and the work of motors and drives add up: a pendulum that a motor swings by velocity, by position
 * and by an added torque, a weight that a sledge with a motor drags by a rod, one that a driven plate swings by a ball
 * joint, and one that hangs by a driven node. BDF2; what is left of the work is that rule's loss. */
static void test_energy(void)
{
    for (int kind = 0; kind < 6; kind++) {
        const double h = 0.001;
        const int corner = 0;
        scene s = joint_world(h, EMBIPC_BDF2, 9.81);
        embipc_joint_def d;
        embipc_joint j = {0, 0};
        double work = 0, lost = 0, first = 0, size = 0;
        int b = joint_box(&s, 0.1, 0.02, 0.02, 0.05, 0, 0);
        if (kind < 4) {
            d = scene_joint_def(&s, kind == 3 ? EMBIPC_SLIDER : EMBIPC_HINGE, -1, b, 0, 0, 0, kind == 3 ? X : Y);
            if (kind == 0) d.motor_damping = 0.05;
            if (kind == 1) d.motor_stiffness = 0.5, d.motor_damping = 0.01;
            if (kind == 3) d.motor_stiffness = 20, d.motor_damping = 0.5;
            j = scene_joint(&s, d);
            if (kind == 3) {
                int weight = joint_box(&s, 0.02, 0.02, 0.02, 0.05, 0.05, -0.2);
                d = scene_joint_def(&s, EMBIPC_ROD, b, weight, 0.05, 0.01, 0, NULL);
                d.point_b[1] = 0.05;
                d.point_b[2] = -0.19;
                (void)scene_joint(&s, d);
            }
        } else if (kind == 5) {
            embipc_body_def block = scene_def("block", EMBIPC_FULL, 0, 0, 0.3);
            block.material.young = 1e8;
            scene_box(&s, block, 0.1, 0.02, 0.02, 1);
            scene_drive(&s, 1, NULL, 0, NULL, &corner, 1);
        } else {
            embipc_body_def plate = scene_def("plate", EMBIPC_KINEMATIC, 0, 0, 0.05);
            int a = scene_box(&s, plate, 0.05, 0.05, 0.02, 1);
            scene_drive(&s, a, NULL, 0, NULL, NULL, 0);
            (void)scene_joint(&s, scene_joint_def(&s, EMBIPC_BALL, a, b, 0, 0, 0, NULL));
        }
        for (int n = 0; n < 500; n++) {
            const double t = h * n, to[3] = {0.05 * (1 - cos(6 * t)), 0, 0.05 * (1 - cos(8 * t))}, none[3] = {0, 0, 0};
            double all;
            if (kind >= 4) (void)ENSURE_OK(s.w, embipc_drive_set_target(s.w, s.drive[0], to, none));
            else (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, j, kind == 3 ? 0.05 : -sin(8 * t), kind ? 0 : 6,
                                                             kind == 2 ? 0.02 * sin(20 * t) : 0));
            linked_step(&s);
            work += s.stats.drive_work + s.stats.motor_work;
            size += fabs(s.stats.drive_work + s.stats.motor_work);
            all = s.stats.kinetic + s.stats.elastic + s.stats.potential + s.stats.barrier + s.stats.joint;
            if (!n) first = all - work;
            lost = work - (all - first);
        }
        printf("  work of motors and drives, case %d: %.4g J (%.4g J to and fro), lost %.2g J\n", kind, work, size, lost);
        ENSURE(fabs(lost) < 0.02 * size && size > 0.005);
        linked_end(&s);
    }
}

/* Slider-crank: x = r cos + sqrt(l^2 - r^2 sin^2), driven at 6 rad/s through a turn. */
static void test_slider_crank(void)
{
    const double r = 0.05, l = 0.15, h = 0.005;
    scene s = joint_world(h, EMBIPC_BACKWARD_EULER, 9.81);
    int crank = joint_box(&s, r, 0.01, 0.01, r / 2, 0, 0), rod = joint_box(&s, l, 0.01, 0.01, r + l / 2, 0.02, 0),
        block = joint_box(&s, 0.03, 0.03, 0.03, r + l, 0.06, 0);
    embipc_joint_def d = scene_joint_def(&s, EMBIPC_HINGE, -1, crank, 0, 0, 0, Y);
    embipc_joint motor, slide;
    d.motor_damping = 50;
    d.target[1] = 6;
    motor = scene_joint(&s, d);
    (void)scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, crank, rod, r, 0, 0, Y));
    (void)scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, rod, block, r + l, 0, 0, Y));
    slide = scene_joint(&s, scene_joint_def(&s, EMBIPC_SLIDER, -1, block, r + l, 0, 0, X));
    for (int n = 0; n < 220; n++) {
        double a;
        linked_step(&s);
        a = joint_state(&s, motor).position;
        ENSURE_CLOSE(joint_state(&s, slide).position, r * cos(a) + sqrt(l * l - r * r * sin(a) * sin(a)) - r - l, 1e-4 * l);
        ENSURE(s.stats.converged);
    }
    ENSURE_REL(joint_state(&s, motor).position, 6 * 220 * h, 0.01);
    linked_end(&s);
}

/* Four bars: the crank turns the rocker. The loop closes, |C - B| = l, all along. */
static void test_four_bars(void)
{
    const double crank = 0.04, coupler = 0.13, rocker = 0.1, ground = 0.12, h = 0.005;
    /* B = (crank, 0) at the start; C by two circles */
    const double dx = ground - crank, reach = dx, u = (coupler * coupler - rocker * rocker + reach * reach) / (2 * reach),
                 v = sqrt(coupler * coupler - u * u);
    const double C[2] = {crank + u, v};
    scene s = joint_world(h, EMBIPC_BACKWARD_EULER, 9.81);
    embipc_joint_def d;
    embipc_joint motor, out;
    embipc_body_def b = scene_def("bar", EMBIPC_AFFINE, 0, 0, 0);
    int one = joint_box(&s, crank, 0.005, 0.005, crank / 2, 0, 0), two, three;
    const double spot[2][2] = {{(crank + C[0]) / 2, C[1] / 2}, {(ground + C[0]) / 2, C[1] / 2}};
    b.material.young = 1e9;
    for (int k = 0; k < 2; k++) {   /* their shape does not matter */
        b.position[0] = spot[k][0];
        b.position[1] = 0.02 * (k + 1);
        b.position[2] = spot[k][1];
        scene_box(&s, b, 0.03, 0.005, 0.03, 1);
    }
    two = one + 1, three = one + 2;
    d = scene_joint_def(&s, EMBIPC_HINGE, -1, one, 0, 0, 0, Y);
    d.motor_damping = 20;
    d.target[1] = -5;
    motor = scene_joint(&s, d);
    (void)scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, one, two, crank, 0, 0, Y));
    (void)scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, two, three, C[0], 0, C[1], Y));
    out = scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, -1, three, ground, 0, 0, Y));
    for (int n = 0; n < 280; n++) {
        double a, c, Bx, Bz, Cx, Cz;
        linked_step(&s);
        a = joint_state(&s, motor).position;   /* about +y: x towards -z */
        c = joint_state(&s, out).position;
        Bx = crank * cos(a), Bz = -crank * sin(a);
        Cx = ground + (C[0] - ground) * cos(c) + C[1] * sin(c), Cz = C[1] * cos(c) - (C[0] - ground) * sin(c);
        ENSURE_REL(hypot(Cx - Bx, Cz - Bz), coupler, 1e-3);
        ENSURE(s.stats.converged);
    }
    ENSURE_REL(joint_state(&s, motor).position, -5 * 280 * h, 0.01);
    linked_end(&s);
}

/* A double pendulum of two rods by BDF2 against its equations, integrated finely: 0.3 s, before it is chaotic; energy. */
static void double_pendulum(double t, double y[4])   /* angles below the x axis about y, and their rates */
{
    const double m = 0.016, L = 0.1, I = m * (L * L + 0.0016) / 12, g = 9.81, h = 1e-6;
    for (int n = 0; n < (int)(t / h + 0.5); n++) {
        double k[4], mid[4], a[4];
        memcpy(a, y, sizeof a);
        for (int stage = 0; stage < 2; stage++) {
            double c = cos(a[0] - a[1]), sn = sin(a[0] - a[1]), A = I + m * L * L / 4 + m * L * L, B = m * L * L / 2 * c, D = I + m * L * L / 4;
            double f = 1.5 * m * g * L * cos(a[0]) - m * L * L / 2 * sn * a[3] * a[3],
                   q = 0.5 * m * g * L * cos(a[1]) + m * L * L / 2 * sn * a[2] * a[2];
            k[0] = a[2], k[1] = a[3];
            k[2] = (f * D - q * B) / (A * D - B * B);
            k[3] = (q * A - f * B) / (A * D - B * B);
            for (int i = 0; i < 4; i++) mid[i] = y[i] + (stage ? h : h / 2) * k[i];
            memcpy(a, mid, sizeof a);
        }
        memcpy(y, mid, sizeof a);
    }
}
static void test_double_pendulum(void)
{
    const double L = 0.1, h = 0.001, m = 0.016;
    double y[4] = {0, 0, 0, 0}, energy = 0;
    scene s = joint_world(h, EMBIPC_BDF2, 9.81);
    int a = joint_box(&s, L, 0.004, 0.04, L / 2, 0, 0), b = joint_box(&s, L, 0.004, 0.04, 1.5 * L, 0.006, 0);
    embipc_joint one, two;
    one = scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, -1, a, 0, 0, 0, Y));
    two = scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, a, b, L, 0, 0, Y));
    for (int n = 0; n < 300; n++) linked_step(&s);
    double_pendulum(0.3, y);
    printf("  double pendulum: %.4f %.4f, exact %.4f %.4f\n", joint_state(&s, one).position, joint_state(&s, one).position + joint_state(&s, two).position, y[0], y[1]);
    ENSURE_CLOSE(joint_state(&s, one).position, y[0], 0.02);
    ENSURE_CLOSE(joint_state(&s, one).position + joint_state(&s, two).position, y[1], 0.03);
    energy = s.stats.kinetic + s.stats.potential;
    for (int n = 0; n < 700; n++) linked_step(&s);
    ENSURE(s.stats.kinetic + s.stats.potential <= energy + 1e-9);
    ENSURE_CLOSE(s.stats.kinetic + s.stats.potential, 0, 0.05 * m * 9.81 * 2 * L);
    linked_end(&s);
}

/* A chain of twenty links hangs and swings for 100 s: no gap grows, no link drifts, energy never rises. */
static void test_long_chain(void)
{
    scene s = joint_world(0.02, EMBIPC_BACKWARD_EULER, 9.81);
    embipc_joint joint[20];
    double most = 0, last = 0, energy = 1e300, rise = 0;
    int before = -1, cut = 0;
    for (int k = 0; k < 20; k++) {
        int b = joint_box(&s, 0.04, 0.02, 0.02, 0.05 * k + 0.025, 0, 0);
        joint[k] = scene_joint(&s, scene_joint_def(&s, EMBIPC_BALL, before, b, 0.05 * k, 0, 0, NULL));
        before = b;
    }
    for (int n = 0; n < (TEST_STRIDE > 1 ? 100 : 5000); n++) {
        linked_step(&s);
        rise = fmax(rise, s.stats.kinetic + s.stats.elastic + s.stats.potential + s.stats.joint - energy);
        energy = s.stats.kinetic + s.stats.elastic + s.stats.potential + s.stats.joint;
        last = 0;
        for (int k = 0; k < 20; k++) last = fmax(last, joint_state(&s, joint[k]).gap);
        most = fmax(most, last);
        cut += !s.stats.converged;
    }
    ENSURE(rise < 1e-9);
    printf("  chain of 20 links, 100 s: largest gap %.2g m, at the end %.2g m, %d steps cut short\n", most, last, cut);
    ENSURE(most < 1e-5 && last < 1e-5 && cut < 5);   /* the comment of "Joints" says so */
    linked_end(&s);
}

/* A ball of 330 kg on a chain of ten links of 60 g swings from the level. Its tension shows that rotations held are
 * wrong, and the step begins again at q^n. From where those had led, 4 of 200 steps were cut short, in 3345 solves. */
static void test_wrecking_ball(void)
{
    scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
    embipc_body_def d = scene_def("ball", EMBIPC_AFFINE, 1.1, 0, 0);
    int before = -1, cut = 0, solves = 0, ball;
    embipc_joint hook;
    for (int k = 0; k < 10; k++) {
        embipc_body_def link = scene_def("link", EMBIPC_AFFINE, 0.1 * k + 0.05, 0, 0);
        int b;
        link.material.young = 1e9;
        link.material.density = 7800;
        b = scene_box(&s, link, 0.08, 0.01, 0.01, 1);
        (void)scene_joint(&s, scene_joint_def(&s, EMBIPC_BALL, before, b, 0.1 * k, 0, 0, NULL));
        before = b;
    }
    d.material.young = 1e9;
    d.material.density = 78000;
    ball = scene_ball(&s, d, 0.1, 2, 2);
    hook = scene_joint(&s, scene_joint_def(&s, EMBIPC_BALL, before, ball, 1, 0, 0, NULL));
    for (int n = 0; n < 200; n++) {
        linked_step(&s);
        cut += !s.stats.converged;
        solves += s.stats.total_iterations;
        ENSURE(joint_state(&s, hook).gap < 1e-5);
    }
    printf("  heavy ball on a chain: %d solves in 200 steps, %d cut short\n", solves, cut);
    ENSURE(cut == 0 && solves < 2000);
    linked_end(&s);
}

/* ---- what users check first ---- */

/* A rod of 1 m that hangs by its end swings in 2 pi sqrt(2 L/3 g) = 1.6381 s. */
static void test_period(void)
{
    const double h = 0.005, L = 1, first = 0.05;
    scene s = joint_world(h, EMBIPC_BDF2, 9.81);
    int b = joint_box(&s, 0.01, 0.01, L, 0, 0, -L / 2), periods = 0;
    const double w[3] = {0, first, 0}, v[3] = {-first * L / 2, 0, 0};
    embipc_joint j = scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0, 0, 0, Y));
    double before = 0, begin = 0, end = 0;
    (void)ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[b], v, w));
    for (int n = 0; n < 2000; n++) {
        double at;
        linked_step(&s);
        at = joint_state(&s, j).position;
        if (before < 0 && at >= 0) {
            end = s.stats.time - h * at / (at - before);
            if (begin == 0) begin = end;
            else periods++;
        }
        before = at;
    }
    printf("  a rod of 1 m swings in %.4f s, exact 1.6381 s\n", (end - begin) / periods);
    ENSURE(periods == 5);
    ENSURE_REL((end - begin) / periods, 1.6381, 0.002);
    linked_end(&s);
}

/* An arm of 1 kg at 0.5 m needs 4.905 N m. With a cap of 2 it falls, by just 2 N m less; with 6 it stays, torque over
 * stiffness below its target. */
static void test_caps(void)
{
    for (int kind = 0; kind < 2; kind++) {
        scene s = joint_world(0.005, EMBIPC_BDF2, 9.81);
        int b = joint_box(&s, 1, 0.04, 0.025, 0.5, 0, 0);
        embipc_joint_def d = scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0, 0, 0, Y);
        embipc_joint j;
        const double I = (1 + 0.025 * 0.025) / 12 + 0.25;
        double a = 0, w = 0, excess = -1;
        d.motor_stiffness = 500;
        d.motor_damping = 20;
        d.motor_limit = kind ? 6 : 2;
        j = scene_joint(&s, d);
        for (int n = 0; n < (kind ? 400 : 60); n++) {
            linked_step(&s);
            excess = fmax(excess, fabs(joint_state(&s, j).effort) / d.motor_limit - 1);
            if (!kind && n > 2) ENSURE_REL(joint_state(&s, j).effort, -2.0, 1e-5);
        }
        for (int n = 0; n < 300000 && !kind; n++) {
            w += 1e-6 * (9.81 * 0.5 * cos(a) - fmin(500 * a + 20 * w, 2)) / I;
            a += 1e-6 * w;
        }
        ENSURE(excess < 1e-5);   /* the strain of the arm */
        if (!kind) ENSURE_REL(joint_state(&s, j).position, a, 0.01);
        else ENSURE_REL(joint_state(&s, j).position, 4.905 * cos(joint_state(&s, j).position) / 500, 1e-3);
        linked_end(&s);
    }
}

/* Two points of radius 0.1 at 30 degrees are 0.0517638 apart. A rod of at least that length is such a limit, and a hinge
 * has it by itself: an arm that falls on either is never past it by more than the limit gives way. */
static void test_chord(void)
{
    const double third = 0.52359877559829887, r = 0.1, chord = 2 * r * sin(third / 2);
    ENSURE_CLOSE(chord, 0.0517638, 1e-7);
    for (int kind = 0; kind < 2; kind++) {
        scene s = joint_world(0.005, EMBIPC_BACKWARD_EULER, 9.81);
        int b = joint_box(&s, 0.2, 0.02, 0.02, 0.1, 0, 0);
        embipc_joint_def d = scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0, 0, 0, Y);
        embipc_joint j;
        double most = 0;
        d.limited = kind;
        d.limits[0] = -1;
        d.limits[1] = third;
        j = scene_joint(&s, d);
        if (!kind) {   /* the arm falls towards the point at 60 degrees */
            d = scene_joint_def(&s, EMBIPC_ROD, -1, b, r * cos(2 * third), 0, -r * sin(2 * third), NULL);
            d.point_b[0] = r;
            d.point_b[1] = d.point_b[2] = 0;
            d.limited = 1;
            d.limits[0] = chord;
            d.limits[1] = HUGE_VAL;
            (void)scene_joint(&s, d);
        }
        for (int n = 0; n < 400; n++) {
            linked_step(&s);
            most = fmax(most, joint_state(&s, j).position);
        }
        ENSURE(most < third + 0.003);
        ENSURE_CLOSE(joint_state(&s, j).position, third, 1e-4);
        linked_end(&s);
    }
}

/* Swing and twist of a ball joint are those of a body that a drive swings by 1.1 rad and twists, by more than a turn. */
static void test_twist_is_measured(void)
{
    const double pi = 3.14159265358979, h = 0.01;
    scene s = joint_world(h, EMBIPC_BACKWARD_EULER, 0);
    embipc_body_def d = scene_def("driven", EMBIPC_KINEMATIC, 0, 0, -0.1);
    int a = joint_box(&s, 0.1, 0.1, 0.1, 0, 0, 0.1), b;
    embipc_joint_def jd;
    embipc_joint j;
    b = scene_box(&s, d, 0.05, 0.05, 0.1, 1);
    scene_drive(&s, b, NULL, 0, NULL, NULL, 0);
    jd = scene_joint_def(&s, EMBIPC_BALL, a, b, 0, 0, 0, NULL);
    jd.limited = 1;
    jd.limits[1] = 4;
    j = scene_joint(&s, jd);
    for (int n = 1; n <= 300; n++) {
        double swing = 1.1 * fmin(n / 100.0, 1), twist = 8 * fmax(n - 100, 0) / 200.0, to[3] = {0, 0, 0};
        double q[4] = {cos(swing / 2) * cos(twist / 2), 0, 0, cos(swing / 2) * sin(twist / 2)}, r[3], size, angle;
        q[1] = sin(swing / 2) * cos(twist / 2);    /* swing about x after twist about z */
        q[2] = -sin(swing / 2) * sin(twist / 2);
        size = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        angle = 2 * atan2(size, q[0]);
        for (int k = 0; k < 3; k++) r[k] = size > 0 ? q[k + 1] / size * angle : 0;
        (void)ENSURE_OK(s.w, embipc_drive_set_target(s.w, s.drive[0], to, r));
        linked_step(&s);
        ENSURE_CLOSE(joint_state(&s, j).position, swing, 1e-6);
        ENSURE_CLOSE(joint_state(&s, j).twist, twist, 1e-6);
    }
    ENSURE(joint_state(&s, j).twist > 2 * pi);
    linked_end(&s);
}

/* A rod that spins about its own axis is stopped by the limit of its twist: hanging straight down, and swung out as far as
 * its cone lets it; on the world, and on a free body. With that it keeps its angular momentum, and so does a hinge: no
 * torque acts on the two, and BDF2 gives way to backward Euler where a limit begins and ends to hold. */
static void test_twist_limit(void)
{
    for (int kind = 0; kind < 4; kind++) {
        const double h = 0.002, limit = kind == 1 ? 2.5 : 0.7;
        scene s = joint_world(h, EMBIPC_BDF2, kind < 2 ? 9.81 : 0);
        embipc_body_def d = scene_def("rod", EMBIPC_AFFINE, 0, 0, -0.1);
        embipc_joint_def jd;
        embipc_joint j;
        double most = 0, L[2] = {0, 0}, size = 0, whole = 0;
        int a = -1, b;
        d.material.young = 1e9;
        d.angular_velocity[2] = kind == 1 ? -20 : 20;
        b = scene_box(&s, d, 0.06, 0.03, 0.2, 1);
        if (kind >= 2) a = joint_box(&s, 0.1, 0.1, 0.02, 0, 0, 0.03);
        jd = scene_joint_def(&s, kind < 3 ? EMBIPC_BALL : EMBIPC_HINGE, a, b, 0, 0, 0.01, NULL);
        jd.limited = 1;
        jd.limits[0] = kind < 3 ? 0 : -limit;
        jd.limits[1] = kind == 1 ? 0.5 : kind < 3 ? 4 : limit;
        jd.twist = kind < 3 ? limit : 0;
        if (kind == 1) s.w->s.gravity[0] = 30;   /* it leans on its cone */
        j = scene_joint(&s, jd);
        for (int n = 0; n < 1500; n++) {
            linked_step(&s);
            ENSURE(s.stats.converged);
            most = fmax(most, fabs(kind < 3 ? joint_state(&s, j).twist : joint_state(&s, j).position));
            L[n > 0] = scene_state(s.w, s.body[b]).angular_momentum[2] + (a < 0 ? 0 : scene_state(s.w, s.body[a]).angular_momentum[2]);
            if (!n) size = fabs(L[0]);
            whole = fmax(whole, fabs(L[n > 0] - L[0]));
        }
        if (kind >= 2) printf("  a twist of %.4f rad is stopped; the two bodies change %.1e of their angular momentum\n", most, whole / size);
        if (kind >= 2) ENSURE(whole < 1e-3 * size);
        ENSURE(most > limit - 0.01 && most < limit + 0.01);
        if (kind == 1) ENSURE_CLOSE(joint_state(&s, j).position, 0.5, 1e-2);
        linked_end(&s);
    }
}

/* A limit of twist gives no energy. Kind 0: a stiff box that hangs from the world without gravity, swung out by 1 rad, circles
 * and twists to its limit; its torque is about z + z', not z'. Kinds 1, 2: two soft boxes, affine or full, fall to their
 * limits, which shear them. */
static void test_twist_energy(void)
{
    for (int kind = 0; kind < 3; kind++) {
        const double h = kind == 2 ? 0.01 : 0.001, limit = kind ? 0.3 : 0.1;
        const int steps = kind == 2 ? 60 : kind ? 300 : 1000;
        scene s = joint_world(h, EMBIPC_BACKWARD_EULER, kind ? 9.81 : 0);
        embipc_joint j[2] = {{0, 0}, {0, 0}};
        double last = 0, gain = 0, twist = 0;
        for (int i = 0; i < (kind ? 2 : 1); i++) {
            embipc_body_def d = scene_def("box", kind == 2 ? EMBIPC_FULL : EMBIPC_AFFINE, kind ? 0.15 * i : 0, 0, kind ? 0 : -0.1);
            embipc_joint_def jd;
            int b;
            if (!kind) d.material.young = 1e9, d.angular_velocity[0] = 3, d.velocity[1] = 0.3;
            b = scene_box(&s, d, 0.1, 0.1, 0.1, 1);
            jd = scene_joint_def(&s, EMBIPC_BALL, i - 1, b, kind ? 0.15 * i - 0.075 : 0, 0, 0, kind ? Y : NULL);
            jd.limited = 1;
            jd.limits[1] = 4;
            jd.twist = limit;
            j[i] = scene_joint(&s, jd);
        }
        for (int n = 0; n < steps; n++) {
            double all;
            if (!kind && n == 300) {   /* a push to the side, and a spin, about the joint */
                embipc_body_state q = scene_state(s.w, s.body[0]);
                double w[3] = {q.angular_velocity[0], q.angular_velocity[1] + 2, q.angular_velocity[2] + 2}, v[3];
                for (int k = 0; k < 3; k++) v[k] = w[(k + 1) % 3] * q.centre[(k + 2) % 3] - w[(k + 2) % 3] * q.centre[(k + 1) % 3];
                (void)ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[0], v, w));
            }
            linked_step(&s);
            ENSURE(s.stats.converged);
            all = s.stats.kinetic + s.stats.elastic + s.stats.potential + s.stats.joint;
            if (n && n != 300) gain = fmax(gain, all - last);
            last = all;
            for (int i = 0; i < s.joints; i++)   /* a ball that points back has any twist */
                if (joint_state(&s, j[i]).position < 3.1) twist = fmax(twist, fabs(joint_state(&s, j[i]).twist));
        }
        printf("  limit of twist, kind %d: a step gains %.2g J at most, largest twist %.4f of %.1f\n", kind, gain, twist, limit);
        ENSURE(gain < 2e-5);
        ENSURE(twist > limit - 0.01 && twist < limit + (kind == 2 ? 0.2 : kind ? 0.002 : 0.02));
        linked_end(&s);
    }
}

/* Figures of five boxes, with limits of cone, twist and hinge, that spin and fall to the ground: no step ends with more
 * energy beyond rounding, which is that of large forces times positions. Limits hold their directions in a step, so they seem to be passed in the next one, by up to 24 J. */
static void test_limits_energy(void)
{
    const double x[5] = {0, 0.25, -0.25, 0.25, -0.25}, z[5] = {1, 0.9, 0.9, 0.55, 0.55};
    double gain = 0, share = 0, most = 0;
    for (int world = 0; world < 24; world++) {
        scene s = joint_world(world % 2 ? 0.01 : 1 / 60.0, EMBIPC_BACKWARD_EULER, 9.81);
        double w[3], last = 0;
        int b[5];
        for (int k = 0; k < 3; k++) w[k] = test_uniform(-6, 6);
        scene_box(&s, scene_def("ground", EMBIPC_FIXED, 0, 0, -0.5), 20, 20, 1, 1);
        for (int i = 0; i < 5; i++) {
            embipc_body_def d = scene_def(i ? "limb" : "trunk", EMBIPC_AFFINE, x[i], 0, z[i]);
            const double r[3] = {x[i], 0, z[i] - 1};
            d.material.young = 1e8;
            d.friction = 0.6;
            for (int k = 0; k < 3; k++) {
                d.angular_velocity[k] = w[k];
                d.velocity[k] = w[(k + 1) % 3] * r[(k + 2) % 3] - w[(k + 2) % 3] * r[(k + 1) % 3];
            }
            b[i] = i ? scene_box(&s, d, 0.1, 0.1, 0.3, 1) : scene_box(&s, d, 0.3, 0.2, 0.5, 1);
        }
        for (int i = 0; i < 2; i++) {
            embipc_joint_def jd = scene_joint_def(&s, EMBIPC_BALL, b[0], b[1 + i], i ? -0.2 : 0.2, 0, 1.1, DOWN);
            jd.limited = 1;
            jd.limits[1] = 1.5;
            jd.twist = 1;
            scene_joint(&s, jd);
            jd = scene_joint_def(&s, EMBIPC_HINGE, b[1 + i], b[3 + i], i ? -0.25 : 0.25, 0, 0.725, X);
            jd.limited = 1;
            jd.limits[0] = -0.05;
            jd.limits[1] = 2.3;
            scene_joint(&s, jd);
        }
        for (int n = 0; n < 60; n++) {
            double all, size = 0;
            linked_step(&s);
            for (int k = 0; k < s.w->islands.order_count; k++) {
                const embi_island *isle = s.w->islands.list[s.w->islands.order[k]];
                size += isle->energy.at_start.noise + isle->energy.now.noise;
            }
            all = s.stats.kinetic + s.stats.elastic + s.stats.potential + s.stats.joint + s.stats.barrier;
            if (n) gain = fmax(gain, all - last);
            if (n) share = fmax(share, (all - last) / (size + all));
            most = fmax(most, size);
            last = all;
        }
        linked_end(&s);
    }
    printf("  limits of figures that fall: a step gains %.2g J at most, %.2g of forces times positions (%.2g J)\n", gain, share, most);
    ENSURE(share < 100 * EMBI_EPS && most < 1e7);
}

/* A soft cage at a hinge with limits carries more than it can: its tet there collapses, and the angle jumps. Or a stiffer
 * one without a load comes to rest on its limit. Limits that have been passed do no work: no step ends with more energy than
 * it began with. At rest it takes one solve. */
static void test_limit_overloaded(void)
{
    double gain = 0;
    int jumps = 0;
    for (int world = 0; world < 8; world++) {
        const int rests = world / 4;
        scene s = joint_world(world % 2 ? 1 / 60.0 : 0.01, world / 2 % 2 ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER, 9.81);
        embipc_body_def d = scene_def("soft", EMBIPC_CAGE, 0.15, 0, 0);
        embipc_joint_def jd;
        embipc_joint j;
        double last = 0, before = 0;
        int soft;
        d.material.young = rests ? 1e7 : 3e5;
        d.angular_velocity[0] = rests ? 3 : 0;
        if (rests) d.material.model = EMBIPC_NEO_HOOKEAN;
        soft = scene_box(&s, d, 0.3, 0.1, 0.1, 3);
        jd = scene_joint_def(&s, EMBIPC_HINGE, -1, soft, 0, 0, 0, Y);
        jd.axis[0] = 0.5;
        jd.axis[2] = 0.5;
        jd.limited = 1;
        jd.limits[0] = -0.06;
        jd.limits[1] = 0.06;
        j = scene_joint(&s, jd);
        if (!rests) {
            int load;
            d = scene_def("load", EMBIPC_AFFINE, 0.36, 0, 0);
            d.material.young = 1e9;
            d.material.density = 21e3;
            load = scene_box(&s, d, 0.1, 0.1, 0.1, 1);
            (void)scene_joint(&s, scene_joint_def(&s, EMBIPC_WELD, soft, load, 0.3, 0, 0, NULL));
        }
        for (int n = 0; n < 150; n++) {
            double all;
            linked_step(&s);
            all = s.stats.kinetic + s.stats.elastic + s.stats.potential + s.stats.joint;
            if (n) gain = fmax(gain, all - last);
            last = all;
            jumps += fabs(joint_state(&s, j).position - before) > 1;
            before = joint_state(&s, j).position;
        }
        if (rests) ENSURE(s.stats.newton_iterations == 1 && fabs(before) < 0.07);
        linked_end(&s);
    }
    printf("  limits that are overloaded: a step gains %.2g J at most, %d jumps\n", gain, jumps);
    ENSURE(gain < 1e-9 && jumps > 0);
}

/* Two boxes spin together about their long axis, and fold about a hinge with limits. */
static embipc_joint joint_folding_pair(scene *s, double young, double spin, double fold, double limit)
{
    embipc_joint_def jd;
    for (int i = 0; i < 2; i++) {
        embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0.25 * i, 0, 0);
        d.material.young = young;
        d.angular_velocity[0] = spin;
        d.angular_velocity[1] = i ? fold : -fold;
        d.angular_velocity[2] = 8;
        d.velocity[1] = i ? 1 : -1;
        (void)scene_box(s, d, 0.2, 0.1, 0.05, 1);
    }
    jd = scene_joint_def(s, EMBIPC_HINGE, 0, 1, 0.125, 0, 0, Y);
    jd.limited = 1;
    jd.limits[0] = -limit;
    jd.limits[1] = limit;
    return scene_joint(s, jd);
}

/* Two boxes that spin together fold about a hinge to its limit, by BDF2, which ends there: the energy and the forces of the
 * joint that are reported are those of the rods that the step used. */
static void test_jump_is_reported(void)
{
    scene s = joint_world(0.01, EMBIPC_BDF2, 0);
    double off = 0, worst = 0;
    int hits = 0;
    embipc_joint j = joint_folding_pair(&s, 1e9, 12, 3, 0.3);
    for (int n = 0; n < 60; n++) {
        double sum = 0, force[3] = {0, 0, 0}, d[3];
        const embi_island *isle;
        linked_step(&s);
        isle = s.w->islands.list[s.w->islands.order[0]];
        for (int k = 0; k < isle->rods.count; k++) {
            sum += isle->rods.list[k].base.energy;
            embi_axpy(force, -isle->rods.list[k].base.first, isle->rods.list[k].base.dir);
        }
        hits += isle->rods.count == 4 && (isle->rods.list[2].base.first != 0 || isle->rods.list[3].base.first != 0);
        embi_sub(d, joint_state(&s, j).force, force);
        worst = fmax(worst, embi_norm(d) / embi_norm(force));
        off = fmax(off, fabs(s.stats.joint / sum - 1));
    }
    printf("  %d steps at a limit: energy reported off by %.2g, force by %.2g\n", hits, off, worst);
    ENSURE(hits > 1 && off < 1e-9 && worst < 1e-9);
    linked_end(&s);
}

/* Steps cut short after two or three iterations, that go back to q^n where they would end with too much energy: none gains
 * energy at the limit of a hinge in soft bodies that turn fast. */
static void test_cut_at_limit(void)
{
    double gain = 0;
    int stood = 0;
    for (int world = 0; world < 2; world++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s;
        double last = 0;
        wd.gravity[2] = 0;
        wd.max_iterations = 2 + world;
        s = scene_empty(&wd);
        (void)joint_folding_pair(&s, 1e3, 30, 5, 0.02);
        for (int n = 0; n < 60; n++) {
            double all;
            linked_step(&s);
            all = s.stats.kinetic + s.stats.elastic + s.stats.joint;
            if (n) gain = fmax(gain, (all - last) / all);
            last = all;
            stood += s.w->s.driven.joint.list[0].ends_at_start;
        }
        linked_end(&s);
    }
    printf("  steps cut short at a limit: a step gains %.2g of its energy at most, %d go back to their start\n", gain, stood);
    ENSURE(gain < 1e-9 && stood > 0);
}

/* Half the span of ten links that hang between two points with the horizontal force H, in weights of a link, and their sag. */
static double links_span(double H, double *sag)
{
    double span = 0;
    *sag = 0;
    for (int k = 0; k < 5; k++) {
        double slope = (k + 0.5) / H;   /* the weight below the middle of the link, over H */
        span += 1 / sqrt(1 + slope * slope);
        *sag += slope / sqrt(1 + slope * slope);
    }
    return span;
}
/* A rope of ten links between two hinges, first a V, comes to rest as a catenary: its sag, and the force at its ends. */
static void test_catenary(void)
{
    const double l = 0.1, cosine = 0.8;
    scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
    double low = 1e-3, high = 1e3, sag, least = 0, a = 1e-3, b = 1e3, catenary;
    int before = -1;
    for (int k = 0; k < 10; k++) {
        embipc_body_def d = scene_def("link", EMBIPC_AFFINE, l * cosine * (k + 0.5), 0, -0.06 * (k < 5 ? k + 0.5 : 9.5 - k));
        const double c = cosine, n = k < 5 ? 0.6 : -0.6, R[9] = {c, 0, n, 0, 1, 0, -n, 0, c};
        int body;
        d.material.young = 1e9;
        d.material.damping[0] = 2;
        memcpy(d.rotation, R, sizeof R);
        body = scene_box(&s, d, 0.09, 0.01, 0.01, 1);
        (void)scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, before, body, l * cosine * k, 0, -0.06 * (k < 6 ? k : 10 - k), Y));
        before = body;
    }
    {
        embipc_joint_def d = scene_joint_def(&s, EMBIPC_HINGE, -1, before, 10 * l * cosine, 0, 0, Y);
        (void)scene_joint(&s, d);
    }
    for (int n = 0; n < 800; n++) linked_step(&s);
    for (int n = 0; n < 100; n++) {   /* statics of the links, and of a rope without links: L = 2 a sinh(D/2a) */
        double H = sqrt(low * high), c = sqrt(a * b);
        if (links_span(H, &sag) > 5 * cosine) high = H; else low = H;
        if (2 * c * sinh(cosine / (2 * c)) < 1) b = c; else a = c;
    }
    catenary = a * (cosh(cosine / (2 * a)) - 1);
    for (int k = 0; k < 10; k++) {
        embipc_body_view v;
        (void)embipc_body_get_view(s.w, s.body[k], &v);
        for (int i = 0; i < v.vertex_count; i++) least = fmin(least, v.x[3 * i + 2]);
    }
    printf("  a rope of ten links sags by %.4f m, its statics say %.4f m, a catenary %.4f m\n", -least - 0.005, sag * l, catenary);
    ENSURE_REL(-least - 0.005, sag * l, 0.01);
    ENSURE_REL(-least - 0.005, catenary, 0.02);
    ENSURE(s.stats.kinetic < 1e-9);
    linked_end(&s);
}

/* Two chains with stops in their joints, tied to each other by a rope, fall over a bar and on the ground, and on themselves:
 * no step is lost, nothing crosses. */
static void test_heap(void)
{
    scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
    embipc_body_def d = scene_def("bar", EMBIPC_FIXED, 0.15, 0.02, 0.15);
    embipc_joint_def jd;
    int cut = 0;
    scene_ground(&s, 2, 0.4);
    scene_box(&s, d, 0.03, 0.3, 0.03, 1);
    for (int chain = 0; chain < 2; chain++) {
        int before = -1;
        for (int k = 0; k < 8; k++) {
            int b = joint_box(&s, 0.045, 0.03, 0.03, 0.05 * k, 0.035 * chain, 0.25 + 0.04 * chain);
            if (before >= 0) {
                jd = scene_joint_def(&s, k % 3 ? EMBIPC_BALL : EMBIPC_HINGE, before, b, 0.05 * k - 0.025, 0.035 * chain, 0.25 + 0.04 * chain,
                                     k % 3 ? X : Y);
                jd.limited = 1;
                jd.limits[0] = -0.8;
                jd.limits[1] = 0.9;
                (void)scene_joint(&s, jd);
            }
            before = b;
        }
    }
    jd = scene_joint_def(&s, EMBIPC_ROD, 9, 17, 0.35, 0, 0.25, NULL);
    jd.point_b[1] = 0.035;
    jd.point_b[2] = 0.29;
    jd.limited = jd.contact = 1;
    jd.limits[0] = 0;
    jd.limits[1] = 0.08;
    (void)scene_joint(&s, jd);
    for (int n = 0; n < 250; n++) {
        linked_step(&s);
        linked_check(&s);
        cut += !s.stats.converged;
    }
    ENSURE(cut < 10 && s.stats.contacts > 10);
    printf("  two chains in a heap: %d contacts, %d of 250 steps cut short\n", s.stats.contacts, cut);
    linked_end(&s);
}

/* Vertices of a soft block that are near a fixed wall, and no others, are attached to it: it hangs by its face. */
static void test_attach_near(void)
{
    scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
    embipc_body_def d = scene_def("wall", EMBIPC_FIXED, 0, 0, 0);
    embipc_joint_def jd;
    embipc_joint j;
    embipc_body_view v;
    int wall, block, face = 0;
    wall = scene_box(&s, d, 0.1, 0.5, 0.5, 1);
    d = scene_def("block", EMBIPC_FULL, 0.102, 0, 0);
    d.material.young = 1e5;
    block = scene_box(&s, d, 0.1, 0.1, 0.1, 3);
    jd = scene_joint_def(&s, EMBIPC_ATTACH, wall, block, 0, 0, 0, NULL);
    jd.distance = 1e-3;
    ENSURE(embipc_joint_create(s.w, &jd, &j) == EMBIPC_ERR_ARGUMENT);   /* none is so near */
    jd.distance = 3e-3;
    j = scene_joint(&s, jd);
    ENSURE(embipc_body_get_view(s.w, s.body[block], &v) == EMBIPC_OK);
    for (int i = 0; i < v.vertex_count; i++) face += v.x[3 * i] < 0.053;
    ENSURE(s.w->s.driven.joint.list[0].anchor_count == 2 * face && face == 16);
    for (int n = 0; n < 200; n++) linked_step(&s);
    ENSURE_REL(joint_state(&s, j).force[2], scene_state(s.w, s.body[block]).mass * 9.81, 1e-3);
    ENSURE(s.stats.contacts == 0);
    linked_end(&s);
}

/* ---- calls ---- */

/* A box with joint: tail and puller of the rope below. Each slides along `out`, away from the end of the rope. */
static int rope_end(scene *s, double angle, const double end[3], const double out[3], embipc_joint_def *slider)
{
    embipc_body_def d = scene_def("end", EMBIPC_AFFINE, end[0] + 0.03 * out[0] + 0.01 * cos(angle), 0,
                                  end[2] + 0.03 * out[2] + 0.01 * sin(angle));
    int body;
    d.material.young = 1e9;
    body = scene_box(s, d, 0.01, 0.01, 0.01, 0);
    *slider = scene_joint_def(s, EMBIPC_SLIDER, -1, body, end[0], 0, end[2], out);
    return body;
}

/* A rope of 24 links slides half around a fixed drum: the pull is exp(mu pi) times the force at its
 * tail [Euler, Eytelwein]. */
static void test_capstan(void)
{
    enum { LINKS = 20, SIDES = 360 };
    const double mu = 0.3, half = EMBI_PI / LINKS / 2, thick = 0.002, R = 0.1 + 2e-5, v = 0.002, down[3] = {0, 0, -1};
    const double y[3] = {0, 1, 0}, size[3] = {0.1, 0.1, 0};
    embipc_world_def wd = scene_still(EMBIPC_BACKWARD_EULER, 0.0025);
    embipc_body_def d = scene_def("drum", EMBIPC_FIXED, 0, 0, 0);
    embipc_joint_def jd;
    embipc_joint rope[2], motor;
    embipc_joint_state st[2];
    double end[LINKS + 1][3], sum = 0;
    test_mesh m = test_mesh_make(2 * SIDES + 2, 4 * SIDES, 0);
    int tail, pull, steps = 0;
    scene s;
    wd.tolerance = 0;
    s = scene_empty(&wd);
    ENSURE(embipc_shape(EMBIPC_CYLINDER, size, SIDES, m.x, m.tri, 4 * SIDES) == 4 * SIDES);
    d.friction = mu;
    d.rotation[4] = d.rotation[8] = 0;   /* its axis along y */
    d.rotation[5] = -1;
    d.rotation[7] = 1;
    scene_add_mesh(&s, &d, &m, 0);
    for (int k = 0; k <= LINKS; k++)
        embi_set(end[k], -R / cos(half) * cos(2 * half * k), 0, R / cos(half) * sin(2 * half * k));
    for (int k = 0; k < LINKS; k++) {
        double a = EMBI_PI - half * (2 * k + 1), turn = EMBI_PI / 2 - a;
        d = scene_def("link", EMBIPC_AFFINE, (R + thick / 2) * cos(a), 0, (R + thick / 2) * sin(a));
        d.friction = mu;
        d.material.young = 1e9;
        d.rotation[0] = d.rotation[8] = cos(turn);
        d.rotation[2] = sin(turn);
        d.rotation[6] = -sin(turn);
        scene_box(&s, d, 1.8 * R * tan(half), 0.02, thick, 0);
        if (k) (void)scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, k, k + 1, end[k][0], 0, end[k][2], y));
    }
    tail = rope_end(&s, EMBI_PI, end[0], down, &jd);
    (void)scene_joint(&s, jd);
    pull = rope_end(&s, 0, end[LINKS], down, &jd);
    jd.motor_stiffness = 1e4;
    jd.motor_damping = 100;
    motor = scene_joint(&s, jd);
    for (int k = 0; k < 2; k++) {
        const double *at = end[k * LINKS];
        jd = scene_joint_def(&s, EMBIPC_ROD, k ? pull : tail, k ? LINKS : 1, at[0], 0, at[2] - 0.03, NULL);
        jd.point_b[2] = at[2];
        rope[k] = scene_joint(&s, jd);
    }
    for (; steps < 240; steps++) {
        const double force[3] = {0, 0, -1};
        (void)ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[tail], -1, force));
        (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, motor, v * s.stats.time + v * wd.time_step, v, 0));
        if (!scene_step(&s)) break;
        for (int k = 0; k < 2; k++) ENSURE(embipc_joint_get_state(s.w, rope[k], st + k) == EMBIPC_OK);
        if (steps >= 120) sum += embi_norm(st[1].force) / embi_norm(st[0].force) / 120;
    }
    printf("  a rope around a drum: pull over tail %.4f, exp(mu pi) = %.4f\n", sum, exp(mu * EMBI_PI));
    ENSURE_REL(sum, exp(mu * EMBI_PI), 0.01);
    scene_end(&s);
}

/* The scene goes on with a snapshot of its world. */
static void joint_reload(scene *s)
{
    embipc_world *w = scene_reload(s->w);
    embipc_world_destroy(s->w);
    s->w = w;
}

/* A cart on a rail, or a wheel, runs freely, brakes by friction that a call sets, coasts, and brakes until it stands: the speed
 * is v0 - F t/m, and constant where it coasts, the way that of this speed. A snapshot between has the changed numbers. */
static void test_change_brake(void)
{
    for (int kind = 0; kind < 4; kind++) {
        const int turns = kind % 2;
        const double h = 0.005, m = turns ? 0.04 * (0.01 + 0.0004) / 12 : 0.04, speed = 3, slower = 10;
        scene s = joint_world(h, kind < 2 ? EMBIPC_BACKWARD_EULER : EMBIPC_BDF2, 0);
        embipc_body_def d = scene_def("cart", EMBIPC_AFFINE, 0, 0, 0);
        embipc_joint_def jd;
        embipc_joint j;
        double v = speed, where = 0, now, was;
        int b;
        d.material.young = 1e9;
        if (turns) d.angular_velocity[1] = speed;
        else d.velocity[1] = speed;
        b = scene_box(&s, d, 0.1, 0.02, 0.02, 1);
        j = scene_joint(&s, scene_joint_def(&s, turns ? EMBIPC_HINGE : EMBIPC_SLIDER, -1, b, 0, 0, 0, Y));
        for (int n = 0; n < 140; n++) {
            int brakes = (n >= 20 && n < 40) || n >= 60;
            ENSURE(embipc_joint_get_def(s.w, j, &jd) == EMBIPC_OK && jd.kind == (turns ? EMBIPC_HINGE : EMBIPC_SLIDER));
            jd.friction = brakes ? slower * m : 0;
            (void)ENSURE_OK(s.w, embipc_joint_change(s.w, j, &jd));
            if (n == 30) joint_reload(&s);
            linked_step(&s);
            if (brakes) v = v > slower * h ? v - slower * h : 0;
            where += h * v;
            now = joint_state(&s, j).velocity;
            ENSURE_CLOSE(now, v, 0.02 * speed);
        }
        ENSURE_REL(joint_state(&s, j).position, where, 0.01);
        was = joint_state(&s, j).position;
        for (int n = 0; n < 20; n++) linked_step(&s);
        ENSURE_CLOSE(joint_state(&s, j).position, was, 1e-4);
        linked_end(&s);
    }
}

/* A motor holds an effort: the deflection is effort / stiffness, and follows when a call changes the stiffness. With an effort
 * limit below the load b runs away, at (load - limit)/m; a gap under load is one over the changed
 * joint stiffness. */
static void test_change_gains(void)
{
    static const double gain[4] = {20, 40, 10, 40};
    for (int kind = 0; kind < 4; kind++) {
        const int turns = kind % 2;
        const double h = 0.005, m = turns ? 0.04 * (0.01 + 0.0004) / 12 : 0.04, load = turns ? 0.02 : 2, unit = turns ? 0.01 : 1;
        scene s = joint_world(h, kind < 2 ? EMBIPC_BACKWARD_EULER : EMBIPC_BDF2, 0);
        int b = joint_box(&s, 0.1, 0.02, 0.02, 0, 0, 0);
        embipc_joint_def jd = scene_joint_def(&s, turns ? EMBIPC_HINGE : EMBIPC_SLIDER, -1, b, 0, 0, 0, Y);
        embipc_joint j;
        const double push[3] = {3, 0, 0};
        double v, gap[2];
        jd.stiffness = 3e3;
        j = scene_joint(&s, jd);
        (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, j, 0.1, 0, load));
        for (int n = 0; n < 4; n++) {
            jd.motor_stiffness = gain[n] * unit;
            jd.motor_damping = 2 * sqrt(jd.motor_stiffness * m);
            (void)ENSURE_OK(s.w, embipc_joint_change(s.w, j, &jd));
            if (n == 1) joint_reload(&s);
            for (int k = 0; k < 300; k++) linked_step(&s);
            ENSURE_REL(joint_state(&s, j).position, 0.1 + load / jd.motor_stiffness, 1e-4);
            ENSURE_CLOSE(joint_state(&s, j).effort, 0, 1e-4 * load);
        }
        for (int n = 0; n < 2; n++) {
            jd.stiffness = n ? 1e5 : 1e4;
            (void)ENSURE_OK(s.w, embipc_joint_change(s.w, j, &jd));
            for (int k = 0; k < 200; k++) {
                (void)ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[b], -1, push));
                linked_step(&s);
            }
            gap[n] = joint_state(&s, j).gap;
        }
        ENSURE(gap[0] > push[0] / 2 / 1e4 && gap[0] < 1.1 * push[0] / 1e4);
        ENSURE_REL(gap[0], 10 * gap[1], 0.01);
        for (int k = 0; k < 200; k++) linked_step(&s);
        jd.motor_limit = load / 2;
        jd.motor_damping = 0;
        (void)ENSURE_OK(s.w, embipc_joint_change(s.w, j, &jd));
        for (int k = 0; k < 5; k++) linked_step(&s);
        v = 5 * h * load / (2 * m);
        ENSURE_REL(s.stats.kinetic, m * v * v / 2, 0.02);
        linked_end(&s);
    }
}

/* b stands at a limit under load. The limit goes away: b follows to the new one. It comes back by v h in each step: b moves at v
 * against its load; a rope that gets shorter is a winch. Then limits close far from b: it is there after one step, at the speed of
 * that way, and stays. All that is finite, and at rest the effort of the limit is the load. */
static void test_change_limits(void)
{
    for (int kind = 0; kind < 6; kind++) {
        const int turns = kind % 3 == 1, rod = kind % 3 == 2;
        const double h = 0.005, load = turns ? 0.02 : 0.4, at = turns ? 0.4 : 0.04, from = rod ? 0.1 : 0, pull[3] = {0, load, 0};
        scene s = joint_world(h, kind < 3 ? EMBIPC_BACKWARD_EULER : EMBIPC_BDF2, 0);
        int b = joint_box(&s, 0.1, 0.02, 0.02, 0, from, 0);
        embipc_joint_def jd = scene_joint_def(&s, turns ? EMBIPC_HINGE : rod ? EMBIPC_ROD : EMBIPC_SLIDER, -1, b, 0, 0, 0, Y);
        embipc_joint j;
        embipc_joint_state now;
        double least = 0, most = from + at;
        if (rod) jd.point_b[1] = from;
        j = scene_joint(&s, jd);
        if (!rod) (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, j, 0, 0, load));
        for (int n = 0; n < 700; n++) {
            if (n == 100) most = from + 2 * at;
            if (n >= 250 && n < 450) most -= at / 200;
            if (n == 550) least = most = from + 0.5 * at;
            jd.limited = 1;
            jd.limits[0] = least;
            jd.limits[1] = most;
            (void)ENSURE_OK(s.w, embipc_joint_change(s.w, j, &jd));
            if (n == 300) joint_reload(&s);
            if (rod) (void)ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[b], -1, pull));
            linked_step(&s);
            ENSURE(s.stats.converged);
            now = joint_state(&s, j);
            if (n % 50 == 49 || (n > 255 && n < 450)) ENSURE_CLOSE(now.position, most, 2e-3 * at);
            if (n > 255 && n < 450) ENSURE_CLOSE(now.velocity, -at / 200 / h, 1e-3 * at / 200 / h);
            if (rod && (n > 255 && n < 450)) ENSURE_CLOSE(now.force[1], -load, 1e-3 * load);
            if (n == 550) ENSURE_CLOSE(now.position, most, 0.01 * at);
            if (n == 550) ENSURE_CLOSE(now.velocity, -0.5 * at / h, 0.01 * 0.5 * at / h);
            if (n > 600) ENSURE_CLOSE(now.velocity, 0, 1e-6);
        }
        if (rod) ENSURE_CLOSE(now.force[1], -load, 1e-6 * load);
        ENSURE(embipc_world_reset(s.w) == EMBIPC_ERR_ARGUMENT);
        ENSURE(strstr(embipc_world_error(s.w)->text, "within its limits") != NULL);
        jd.limited = 0;
        (void)ENSURE_OK(s.w, embipc_joint_change(s.w, j, &jd));
        (void)ENSURE_OK(s.w, embipc_world_reset(s.w));
        for (int n = 0; n < 50; n++) linked_step(&s);
        if (rod) ENSURE_CLOSE(joint_state(&s, j).position, from, 1e-9);
        linked_end(&s);
    }
}

/* Limits that move at 2 rad/s take a bar along, that nothing else moves: it ends with their speed, and I w^2/2. What
 * the energy bound takes of the first push is no debt: paid back, it made the bar 12 % faster than its stop. */
static void test_change_carries(void)
{
    for (int rule = 0; rule < 2; rule++)
        for (int end = 0; end < 2; end++) {
            const double h = 0.01, w = 2, m = 0.64, inertia = m * ((0.16 + 0.0016) / 12 + (end ? 0.04 : 0));
            scene s = joint_world(h, rule ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER, 0);
            int b = joint_box(&s, 0.4, 0.04, 0.04, end ? 0.2 : 0, 0, 0);
            embipc_joint_def jd = scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0, 0, 0, Y);
            embipc_joint j = scene_joint(&s, jd);
            jd.limited = 1;
            for (int n = 1; n <= 40; n++) {
                jd.limits[0] = w * h * n;
                jd.limits[1] = jd.limits[0] + 1;
                (void)ENSURE_OK(s.w, embipc_joint_change(s.w, j, &jd));
                linked_step(&s);
                ENSURE(s.stats.converged && joint_state(&s, j).position > jd.limits[0] - 2e-4);
                ENSURE(s.stats.kinetic < 1.02 * inertia * w * w / 2);
                ENSURE(s.w->s.body[b].past.owed == 0);
            }
            ENSURE_REL(joint_state(&s, j).velocity, w, 0.01);
            ENSURE_REL(s.stats.kinetic, inertia * w * w / 2, 0.02);
            linked_end(&s);
        }
}

/* Limits that are far away from b lend a bar at a hinge no more than m (l d)^2/(2 h^2), though their springs have a thousand times
 * that, and those behind a wall nothing; b then stands until it is free again, and goes through nothing. */
static void test_change_far(void)
{
    for (int wall = 0; wall < 2; wall++)
        for (int rule = 0; rule < 2; rule++) {
            const double h = 0.01, m = 0.32, d = 1.2, lever = sqrt(0.04 + 2 * 0.0016) / 4;
            scene s = joint_world(h, rule ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER, 0);
            int b = joint_box(&s, 0.2, 0.04, 0.04, 0.15, 0, 0);
            embipc_joint_def jd = scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0, 0, 0, Y);
            embipc_joint j = scene_joint(&s, jd);
            double most = 0, place = 0;
            if (wall) scene_box(&s, scene_def("wall", EMBIPC_FIXED, 0.15, 0, -0.08), 0.1, 0.1, 0.1, 1);
            for (int n = 0; n < 60; n++) {
                jd.limited = n >= 3 && n < 40;
                jd.limits[0] = jd.limits[1] = d;
                (void)ENSURE_OK(s.w, embipc_joint_change(s.w, j, &jd));
                linked_step(&s);
                linked_check(&s);
                most = s.stats.kinetic > most ? s.stats.kinetic : most;
                if (n == 39) place = joint_state(&s, j).position;
                if (n == 39) (void)ENSURE_OK(s.w, embipc_joint_set_motor(s.w, j, 0, 0, -0.1));
            }
            printf("  limits %g rad away%s: kinetic energy %g J, lent %g J, position %g\n", d, wall ? " behind a wall" : "", most, m * pow(lever * sin(d) / h, 2) / 2, place);
            ENSURE(most < (wall ? 0.01 : 1.1) * m * pow(lever * sin(d) / h, 2) / 2);
            ENSURE(wall ? place < 0.1 : fabs(place - d) < 0.01);
            ENSURE(joint_state(&s, j).position < place - 0.01);
            linked_end(&s);
        }
}

/* Limits close at 0 while a hinge stands 2, 6 or 18 rad beyond them: it turns back by at most 1 rad a step, and stays there. */
static void test_change_turns(void)
{
    static const double spin[6] = {2, 6, 18, -2, -6, -18};
    for (int k = 0; k < 6; k++) {
        scene s = joint_world(0.005, EMBIPC_BACKWARD_EULER, 0);
        int b = joint_box(&s, 0.1, 0.02, 0.02, 0, 0, 0);
        embipc_joint_def jd = scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0, 0, 0, Y);
        embipc_joint j;
        double last;
        jd.motor_damping = 0.01;
        jd.target[1] = spin[k] / 0.3;
        j = scene_joint(&s, jd);
        for (int n = 0; n < 60; n++) linked_step(&s);
        ENSURE_CLOSE(last = joint_state(&s, j).position, spin[k], 0.05 * fabs(spin[k]));
        jd.motor_damping = 0;
        jd.limited = 1;
        jd.limits[0] = jd.limits[1] = 0;
        (void)ENSURE_OK(s.w, embipc_joint_change(s.w, j, &jd));
        for (int n = 0; n < 100; n++) {
            double now;
            linked_step(&s);
            now = joint_state(&s, j).position;
            ENSURE(fabs(now - last) < 1.01 && fabs(now) < fmax(fabs(last), 0.01));
            last = now;
        }
        ENSURE_CLOSE(last, 0, 1e-3);
        linked_end(&s);
    }
}

/* A ball gets limits of its axis and of twist while it hangs under a torque, and loses them; a hinge keeps its count of turns. */
static void test_change_twist(void)
{
    const double h = 0.005, torque[3] = {0, 1e-4, 0};
    scene s = joint_world(h, EMBIPC_BACKWARD_EULER, 0);
    int b = joint_box(&s, 0.1, 0.02, 0.02, 0, 0, 0), wheel = joint_box(&s, 0.1, 0.02, 0.02, 0, 1, 0);
    embipc_joint_def ball = scene_joint_def(&s, EMBIPC_BALL, -1, b, 0, 0, 0, Y), hinge = scene_joint_def(&s, EMBIPC_HINGE, -1, wheel, 0, 1, 0, Y);
    embipc_joint j = scene_joint(&s, ball), turns;
    double was = 0;
    hinge.motor_damping = 0.01;
    hinge.target[1] = 40;
    turns = scene_joint(&s, hinge);
    for (int n = 0; n < 400; n++) {
        if (n == 100 || n == 300) {
            ball.limited = n == 100;
            ball.limits[1] = 1;
            ball.twist = n == 100 ? 1 : 0;
            (void)ENSURE_OK(s.w, embipc_joint_change(s.w, j, &ball));
            hinge.motor_damping = 0.02;
            (void)ENSURE_OK(s.w, embipc_joint_change(s.w, turns, &hinge));
        }
        ENSURE(s.w->s.driven.joint.anchors == 16 + (n >= 100 && n < 300));
        if (n == 200 || n == 350) joint_reload(&s);
        (void)ENSURE_OK(s.w, embipc_body_apply_wrench(s.w, s.body[b], NULL, torque, NULL));
        linked_step(&s);
        ENSURE(s.stats.converged);
        if (n > 165 && n < 300) ENSURE_CLOSE(joint_state(&s, j).twist, 1, 0.01);
        if (n == 299) was = joint_state(&s, j).twist;
        if (n > 20) ENSURE_CLOSE(joint_state(&s, turns).velocity, 40, 0.4);
    }
    ENSURE(joint_state(&s, j).twist > was + 0.3);
    ENSURE_REL(joint_state(&s, turns).position, 400 * h * 40, 0.01);
    linked_end(&s);
}

/* A limit of twist needs memory. Where there is none, the joint stays as it is. */
static void test_change_out_of_memory(void)
{
    embipc_world_def wd = embipc_default_world_def();
    undo_rig rig;
    scene s;
    embipc_joint_def d;
    embipc_joint j = {0, 0};
    undo_rig_init(&rig);
    wd.allocator = undo_allocator(&rig);
    s = scene_empty(&wd);
    for (int k = 0; k < 4; k++) {   /* until room that others left is used up */
        int b = joint_box(&s, 0.1, 0.1, 0.1, k, 0, 0), refused = 0;
        d = scene_joint_def(&s, EMBIPC_BALL, -1, b, k, 0, 0, Y);
        j = scene_joint(&s, d);
        d.limited = 1;
        d.limits[1] = d.twist = 1;
        for (embipc_result r = EMBIPC_ERR_MEMORY; r != EMBIPC_OK; refused++) {
            unsigned long long hash = embipc_world_hash(s.w);
            rig.left = refused;
            r = embipc_joint_change(s.w, j, &d);
            ENSURE(r == EMBIPC_OK || (r == EMBIPC_ERR_MEMORY && embipc_world_hash(s.w) == hash));
        }
        rig.left = -1;
        linked_step(&s);
        ENSURE(k || refused > 1);
    }
    linked_end(&s);
    ENSURE(rig.bytes == 0);
}

/* What a call may not change is refused and leaves the joint, and the bits, as they are; a description without news, too. */
static void test_change_refusals(void)
{
    scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
    int a = joint_box(&s, 0.1, 0.1, 0.1, 0, 0, 0.2), b = joint_box(&s, 0.1, 0.1, 0.1, 0.3, 0, 0.2);
    embipc_joint_def first = scene_joint_def(&s, EMBIPC_HINGE, a, b, 0.15, 0, 0.2, Y), now;
    embipc_joint j, none = {7, 1};
    first.limited = 1;
    first.friction = 0.1;
    j = scene_joint(&s, first);
    ENSURE(embipc_joint_change(NULL, j, &first) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_joint_change(s.w, none, &first) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_joint_change(s.w, j, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_joint_get_def(s.w, j, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_joint_get_def(s.w, none, &now) == EMBIPC_ERR_HANDLE);
    for (int n = 0; n < 18; n++) {
        embipc_joint_def d = first;
        embipc_result want = n == 0 ? EMBIPC_ERR_DEF : n < 15 ? EMBIPC_ERR_ARGUMENT : EMBIPC_OK;
        unsigned long long hash;
        linked_step(&s);
        hash = embipc_world_hash(s.w);
        if (n == 0) d.cookie = 0;
        if (n == 1) d.kind = EMBIPC_SLIDER;
        if (n == 2) d.a = first.b, d.b = first.a;
        if (n == 3) d.b.generation++;
        if (n == 4) d.a.index1 = 0, d.a.generation = 0;
        if (n == 5) d.limits[0] = 1, d.limits[1] = 0.5;
        if (n == 6) d.limits[0] = NAN;
        if (n == 7) d.limits[0] = 1e10;
        if (n == 8) d.limits[1] = -HUGE_VAL;
        if (n == 9) d.friction = -1;
        if (n == 10) d.motor_stiffness = NAN;
        if (n == 11) d.motor_damping = HUGE_VAL;
        if (n == 12) d.motor_limit = -1;
        if (n == 13) d.stiffness = 1e19;
        if (n == 14) d.twist = 1;
        if (n == 16) d.point[0] = NAN, d.axis[1] = 0, d.target[1] = 7, d.distance = -1, d.contact = 1;   /* which are not read */
        if (n == 17) d.friction = 0.1;
        ENSURE(embipc_joint_change(s.w, j, &d) == want);
        ENSURE(embipc_world_hash(s.w) == hash);
        ENSURE(embipc_joint_get_def(s.w, j, &now) == EMBIPC_OK && now.friction == 0.1 && now.limited == 1 && now.point[0] == 0.15);
    }
    linked_end(&s);
}

/* What is refused says why, and leaves the world as it is. */
static void test_refusals(void)
{
    scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
    int ground, a, b;
    const char *said;
    embipc_joint j;
    embipc_joint_state out;
    scene_ground(&s, 1, 0.3);
    ground = 0;
    a = joint_box(&s, 0.1, 0.1, 0.1, 0, 0, 0.2);
    b = joint_box(&s, 0.1, 0.1, 0.1, 0.3, 0, 0.2);
    for (int n = 0; n < 30; n++) {
        embipc_joint_def d = scene_joint_def(&s, n < 16 || n > 25 ? EMBIPC_HINGE : EMBIPC_ROD, a, b, 0.15, 0, 0.2, Y);
        const int bad[2] = {0, 8}, twice[3] = {3, 1, 3};
        embipc_result want = EMBIPC_ERR_ARGUMENT;
        if (n == 0) d.cookie = 0, want = EMBIPC_ERR_DEF;
        if (n == 1) d.kind = EMBIPC_JOINT_KINDS;
        if (n == 2) d.b = d.a;
        if (n == 3) d.b.generation = 99, want = EMBIPC_ERR_HANDLE;
        if (n == 4) d.a.index1 = 77, want = EMBIPC_ERR_HANDLE;
        if (n == 5) d.b = s.body[ground];
        if (n == 6) d.point[1] = NAN, want = EMBIPC_ERR_NOT_FINITE;
        if (n == 7) d.axis[1] = HUGE_VAL, want = EMBIPC_ERR_NOT_FINITE;
        if (n == 8) d.axis[1] = 0;
        if (n == 9) d.limited = 1, d.limits[0] = 0.1, d.limits[1] = 0.3;
        if (n == 10) d.limited = 1, d.limits[0] = -0.3, d.limits[1] = -0.1;
        if (n == 11) d.limited = 1, d.limits[0] = NAN;
        if (n == 12) d.friction = -1;
        if (n == 13) d.motor_damping = HUGE_VAL;
        if (n == 14) d.stiffness = NAN;
        if (n == 15) d.point[0] = 1e6;
        if (n == 16) d.limited = 1, d.limits[0] = -1;
        if (n == 17) d.limited = 1, d.limits[0] = 2, d.limits[1] = 1;
        if (n == 18) d.friction = 1;
        if (n == 19) d.kind = EMBIPC_ATTACH, d.vertices = bad, d.vertex_count = 0;
        if (n == 20) d.kind = EMBIPC_ATTACH, d.vertices = bad, d.vertex_count = 2, want = EMBIPC_ERR_INDEX;
        if (n == 21) d.kind = EMBIPC_WELD, d.limited = 1;
        if (n == 22) d.kind = EMBIPC_ATTACH, d.vertices = twice, d.vertex_count = 3;
        if (n == 23) d.kind = EMBIPC_BALL, d.twist = 1;
        if (n == 24) d.kind = EMBIPC_BALL, d.twist = 3.2, d.limited = 1, d.limits[1] = 1;
        if (n == 25) d.twist = 1, d.limited = 1, d.limits[1] = 1;
        if (n == 26) d.axis[1] = 1e-320;   /* one over it is infinite */
        if (n == 27) d.axis[1] = 1e-320, d.kind = EMBIPC_WELD;   /* which needs none, but would use it */
        if (n == 28) d.axis[0] = d.axis[1] = d.axis[2] = 1.7e308;
        if (n == 29) d.axis[1] = 1e-200;
        ENSURE(embipc_joint_create(s.w, &d, &j) == want);
        ENSURE(embipc_world_error(s.w)->text[0] && j.index1 == 0);
        said = n == 2 || n == 5 ? "body \"" : n == 6 ? "point (" : n == 7 ? "axis (" : n >= 26 ? "axis of the joint is (" : n == 18 ? "friction of the joint is 1," : "";
        ENSURE(strstr(embipc_world_error(s.w)->text, said) != NULL);
    }
    ENSURE(embipc_joint_create(NULL, NULL, &j) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_joint_create(s.w, NULL, &j) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_joint_destroy(s.w, j) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_joint_set_motor(s.w, j, 0, 0, 0) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_joint_get_state(s.w, j, &out) == EMBIPC_ERR_HANDLE);
    j = scene_joint(&s, scene_joint_def(&s, EMBIPC_WELD, a, b, 0.15, 0, 0.2, NULL));
    ENSURE(embipc_joint_set_motor(s.w, j, 0, 0, 0) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_joint_get_state(s.w, j, NULL) == EMBIPC_ERR_ARGUMENT);
    j = scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, -1, b, 0.15, 0, 0.2, Y));
    ENSURE(embipc_joint_set_motor(s.w, j, NAN, 0, 0) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_joint_set_motor(s.w, j, 0, 0, 1e10) == EMBIPC_ERR_ARGUMENT);
    linked_end(&s);
}

/* Bodies that a joint links do not touch, unless asked for; after it is destroyed they fall apart; a destroyed body takes
 * its joints along, and handles of others stay valid. A reset repeats every bit. */
static void test_lives(void)
{
    scene s = joint_world(0.01, EMBIPC_BACKWARD_EULER, 9.81);
    int a = joint_box(&s, 0.1, 0.1, 0.1, 0, 0, 0), b = joint_box(&s, 0.1, 0.1, 0.1, 0.101, 0, 0), c = joint_box(&s, 0.1, 0.1, 0.1, 0.3, 0, 0);
    embipc_joint root = scene_joint(&s, scene_joint_def(&s, EMBIPC_WELD, -1, a, 0, 0, 0, NULL)),
                 hinge = scene_joint(&s, scene_joint_def(&s, EMBIPC_HINGE, a, b, 0.05, 0, 0, Y)),
                 last = scene_joint(&s, scene_joint_def(&s, EMBIPC_BALL, b, c, 0.2, 0, 0, NULL));
    embipc_joint_state out;
    unsigned long long bits;
    double z;
    for (int n = 0; n < 60; n++) linked_step(&s);
    ENSURE(joint_state(&s, hinge).position > 1);   /* through each other */
    ENSURE(s.stats.contacts == 0);
    bits = scene_bits(s.w);
    (void)ENSURE_OK(s.w, embipc_world_reset(s.w));
    ENSURE(joint_state(&s, hinge).position == 0);
    for (int n = 0; n < 60; n++) linked_step(&s);
    ENSURE(scene_bits(s.w) == bits);
    (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[a]));
    ENSURE(embipc_joint_get_state(s.w, root, &out) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_joint_get_state(s.w, hinge, &out) == EMBIPC_ERR_HANDLE);
    z = scene_state(s.w, s.body[b]).velocity[2] + scene_state(s.w, s.body[c]).velocity[2];
    for (int n = 0; n < 10; n++) linked_step(&s);
    ENSURE_CLOSE(scene_state(s.w, s.body[b]).velocity[2] + scene_state(s.w, s.body[c]).velocity[2], z - 2 * 0.981, 1e-9);
    ENSURE(joint_state(&s, last).gap < 1e-5);
    (void)ENSURE_OK(s.w, embipc_joint_destroy(s.w, last));
    ENSURE(embipc_joint_destroy(s.w, last) == EMBIPC_ERR_HANDLE);
    linked_step(&s);
    last = scene_joint(&s, scene_joint_def(&s, EMBIPC_ROD, b, c, 0.1, 0, 0, NULL));
    linked_step(&s);
    ENSURE(embipc_joint_get_state(s.w, last, &out) == EMBIPC_OK);
    linked_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(pendulum);
    RUN(limits_of_floats);
    RUN(force_of_the_end);
    RUN(gap);
    RUN(weld);
    RUN(held_bar);
    RUN(linked_spin);
    RUN(tilt);
    RUN(weld_clamps);
    RUN(driven_ground);
    RUN(slider);
    RUN(motor);
    RUN(late_damping);
    RUN(hinge_friction);
    RUN(soft_hinges);
    RUN(hinge_holds);
    RUN(limits);
    RUN(chain);
    RUN(momentum);
    RUN(attach);
    RUN(attach_near);
    RUN(period);
    RUN(caps);
    RUN(chord);
    RUN(twist_is_measured);
    RUN(twist_limit);
    RUN(twist_energy);
    RUN(limits_energy);
    RUN(limit_overloaded);
    RUN(jump_is_reported);
    RUN(cut_at_limit);
    RUN(catenary);
    RUN(capstan);
    RUN(heap);
    RUN(rods);
    RUN(rod_misses);
    RUN(fast_hinges);
    RUN(energy);
    RUN(slider_crank);
    RUN(four_bars);
    RUN(double_pendulum);
    RUN(long_chain);
    RUN(wrecking_ball);
    RUN(change_brake);
    RUN(change_gains);
    RUN(change_limits);
    RUN(change_carries);
    RUN(change_far);
    RUN(change_turns);
    RUN(change_twist);
    RUN(change_out_of_memory);
    RUN(change_refusals);
    RUN(refusals);
    RUN(lives);
    undo_unused();
    return test_end("test_joint");
}
