/* coupling.c - a pendulum of another simulator hits a box of this one, and feels it.
 *
 * You learn the two calls that couple: embipc_drive_set_target() tells where the other simulator's body will be at the
 * end of the step, and embipc_drive_get_state() what it met on the way, as a force and a torque. Here that simulator
 * is ten lines: a rigid rod on a hinge, with the wrench of each step added in the next one. The bob is a kinematic
 * body without mass of its own. So the angular momentum that the pendulum loses about its hinge is what the box got,
 * in N m s, to the last digits.
 * Build: cc -std=c99 -O2 coupling.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>

/* the other simulator: a point mass on a rod, and a hinge at (0, 0, length) */
static const double mass = 0.5, length = 1, g = 9.81, h = 0.002;
static double angle = -0.6, rate = 0;

int main(void)
{
    static const double bob_size[3] = {0.06, 0.06, 0.06}, box_size[3] = {0.1, 0.1, 0.1};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_drive_def dd = embipc_default_drive_def();
    embipc_drive_state d;
    embipc_body_state s;
    embipc_world *world;
    embipc_body bob, box;
    embipc_drive hold;
    double x[24], start[3], given = 0, lost = 0, fastest = 0;
    int t[36], hits = 0;
    wd.time_step = h;
    wd.gravity[2] = 0;                                  /* the box floats */
    wd.tolerance = 1e-9;
    if (embipc_world_create(&wd, &world, NULL)) return 1;
    bd.x = x; bd.vertex_count = 8; bd.triangles = t; bd.triangle_count = 12;
    embipc_shape(EMBIPC_BOX, bob_size, 1, x, t, 12);
    bd.name = "bob"; bd.kind = EMBIPC_KINEMATIC;
    bd.position[0] = start[0] = length * sin(angle);
    bd.position[2] = start[2] = length * (1 - cos(angle));
    bd.position[1] = start[1] = 0;
    if (embipc_body_create(world, &bd, &bob)) { puts(embipc_world_error(world)->text); return 1; }
    embipc_shape(EMBIPC_BOX, box_size, 1, x, t, 12);
    bd.name = "box"; bd.kind = EMBIPC_AFFINE;
    bd.position[0] = 0.081; bd.position[2] = 0;
    if (embipc_body_create(world, &bd, &box)) { puts(embipc_world_error(world)->text); return 1; }
    dd.body = bob;
    for (int i = 0; i < 3; i++) dd.centre[i] = start[i];   /* of the torque */
    if (embipc_drive_create(world, &dd, &hold)) { puts(embipc_world_error(world)->text); return 1; }
    for (int n = 0; n < 400; n++) {
        double to[3] = {0, 0, 0}, none[3] = {0, 0, 0}, lever[2], torque;
        rate -= h * g / length * sin(angle);            /* a step of the other simulator */
        angle += h * rate;
        fastest = fmax(fastest, rate);
        to[0] = length * sin(angle) - start[0];
        to[2] = length * (1 - cos(angle)) - start[2];
        embipc_drive_set_target(world, hold, to, none);
        if (embipc_world_step(world, NULL)) { puts(embipc_world_error(world)->text); return 1; }
        embipc_drive_get_state(world, hold, &d);        /* what the drive had to do to move the bob */
        lever[0] = length * sin(angle);
        lever[1] = -length * cos(angle);
        torque = lever[0] * d.force[2] - lever[1] * d.force[0] - d.torque[1];   /* about the hinge, along -y */
        rate -= h * torque / (mass * length * length);
        lost += h * torque;
        hits += fabs(torque) > 1e-6;
    }
    embipc_body_get_state(world, box, &s);
    given = (length - s.centre[2]) * s.momentum[0] + s.centre[0] * s.momentum[2] - s.angular_momentum[1];
    printf("hit in %d steps at %.4f rad/s, now %.4f rad/s\n", hits, fastest, rate);
    printf("box: %.4f m/s, %.4f kg\n", s.velocity[0], s.mass);
    printf("angular momentum about the hinge: pendulum lost %.9f, box got %.9f N m s\n", lost, given);
    embipc_world_destroy(world);
    return 0;
}
