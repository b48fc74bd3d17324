/* snapshot_branch.c - a gripper tries several forces on copies of the world, and then lifts with the least that held.
 *
 * You learn embipc_world_copy(): a branch is an independent world in the same state, and what happens in it does not
 * happen here. embipc_world_restore() goes back. Two fingers slide on a hand and press with the force F on a box. Each
 * carries mu F by friction, so the least force is F = m (g + a) / (2 mu).
 * Build: cc -std=c99 -O2 snapshot_branch.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <stdio.h>

static double cube_x[24];
static int cube_t[36];
static embipc_world *world;
static embipc_body box;
static embipc_drive lift;
static embipc_joint slider[2];

/* a box of the given size and centre */
static embipc_body add(const char *name, embipc_kind kind, double sx, double sy, double sz, double x, double z)
{
    embipc_body_def d = embipc_default_body_def();
    embipc_body b = {0, 0};
    double points[24];
    for (int i = 0; i < 24; i++) points[i] = cube_x[i] * (i % 3 == 0 ? sx : i % 3 == 1 ? sy : sz);
    d.name = name; d.kind = kind;
    d.x = points; d.vertex_count = 8; d.triangles = cube_t; d.triangle_count = 12;
    d.position[0] = x; d.position[2] = z;
    d.friction = 0.5; d.material.young = 1e8;
    if (embipc_body_create(world, &d, &b)) puts(embipc_world_error(world)->text);
    return b;
}

/* Presses with F, N, and lifts by 50 mm in 0.5 s. Returns how far the box came along, m. */
static double try_to_lift(embipc_world *w, double F)
{
    embipc_body_state before, after;
    embipc_body_get_state(w, box, &before);
    for (int k = 0; k < 80; k++) {   /* 0.3 s to close the fingers, 0.5 s to lift */
        double up[3] = {0, 0, k < 30 ? 0 : 0.05 * (k - 29) / 50}, none[3] = {0, 0, 0};
        embipc_drive_set_target(w, lift, up, none);
        for (int i = 0; i < 2; i++) embipc_joint_set_motor(w, slider[i], 0, 0, i ? -F : F);
        if (embipc_world_step(w, NULL)) { puts(embipc_world_error(w)->text); break; }
    }
    embipc_body_get_state(w, box, &after);
    return after.centre[2] - before.centre[2];
}

int main(void)
{
    static const double unit[3] = {1, 1, 1}, force[5] = {6, 8, 9, 11, 14};
    embipc_world_def wd = embipc_default_world_def();
    embipc_drive_def dd = embipc_default_drive_def();
    embipc_joint_def jd = embipc_default_joint_def();
    embipc_world *saved, *branch;
    embipc_body hand, finger[2];
    embipc_body_state s, again;
    double best = 0, risen;
    embipc_shape(EMBIPC_BOX, unit, 1, cube_x, cube_t, 12);
    if (embipc_world_create(&wd, &world, NULL)) return 1;
    add("table", EMBIPC_FIXED, 1, 1, 0.1, 0, -0.05);
    box = add("box", EMBIPC_AFFINE, 0.1, 0.1, 0.08, 0, 0.0401);   /* 0.8 kg */
    hand = add("hand", EMBIPC_KINEMATIC, 0.3, 0.05, 0.02, 0, 0.2);
    dd.body = hand;
    embipc_drive_create(world, &dd, &lift);
    for (int i = 0; i < 2; i++) {
        finger[i] = add("finger", EMBIPC_AFFINE, 0.02, 0.06, 0.14, i ? 0.0615 : -0.0615, 0.115);
        jd.kind = EMBIPC_SLIDER; jd.a = hand; jd.b = finger[i];
        jd.point[0] = i ? 0.0615 : -0.0615; jd.point[2] = 0.18;
        jd.axis[0] = 1; jd.axis[2] = 0;
        if (embipc_joint_create(world, &jd, &slider[i])) { puts(embipc_world_error(world)->text); return 1; }
    }
    for (int k = 0; k < 20; k++) embipc_world_step(world, NULL);   /* the box comes to rest */

    if (embipc_world_copy(world, &saved)) return 1;
    embipc_body_get_state(world, box, &s);
    printf("least force by statics: %.3f N\n", s.mass * 9.81 / (2 * 0.5));
    for (int k = 0; k < 5; k++) {
        if (embipc_world_copy(world, &branch)) return 1;
        risen = try_to_lift(branch, force[k]);
        printf("branch with %4.1f N: the box rose by %5.2f mm\n", force[k], 1e3 * risen);
        if (!best && risen > 0.045) best = force[k];
        embipc_world_destroy(branch);
    }
    risen = try_to_lift(world, best);
    printf("in the world, with %g N: %.6f mm\n", best, 1e3 * risen);
    embipc_world_restore(world, saved);
    embipc_body_get_state(world, box, &again);
    printf("after going back the box has moved by %g m\n", again.centre[2] - s.centre[2]);
    printf("the same lift again differs by %g m\n", try_to_lift(world, best) - risen);
    embipc_world_destroy(saved);
    embipc_world_destroy(world);
    return 0;
}
