/* drag.c - a hand drags a box over the ground: it pulls like a spring, but never harder than it can.
 *
 * You learn soft drives: a stiffness, a force limit, and a target that you move before each step. The target may run
 * away or into a wall: the force stays limited, and nothing is pushed through anything. With mass m and friction mu:
 *     a limit below mu m g        the box stays where it is
 *     above, the hand far ahead   it speeds up with (limit - mu m g)/m
 *     the hand goes steadily      it follows, mu m g/k behind, and the hand pulls with mu m g
 * Build: cc -std=c99 -O2 drag.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>

static const double h = 0.01, mu = 0.5, k = 400, g = 9.81;    /* s, -, N/m, m/s^2 */

/* Drags the box for two seconds, the hand moving `speed` m/s, or `jump` m at once. Prints what became of it. */
static int drag(const char *what, double limit, double speed, double jump)
{
    static const double edges[3] = {1, 1, 1};
    double x[24], ahead[3] = {0, 0, 0}, none[3] = {0, 0, 0}, half = 0;
    int t[36], i, ok;
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_drive_def dd = embipc_default_drive_def();
    embipc_world *world;
    embipc_body ground, box = {0, 0};
    embipc_drive hand;
    embipc_drive_state pull;
    embipc_body_state s;

    wd.time_step = h;
    if (embipc_world_create(&wd, &world, NULL)) return 0;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, edges, 1, x, t, 12);
    bd.vertex_count = 8; bd.x = x; bd.triangles = t; bd.friction = mu;
    bd.scale = 40; bd.position[2] = -20;
    ok = !embipc_body_create(world, &bd, &ground);
    bd.kind = EMBIPC_AFFINE; bd.material.young = 1e8; bd.scale = 0.1; bd.position[2] = 0.05005;   /* 1 kg */
    ok = ok && !embipc_body_create(world, &bd, &box);
    dd.body = box;
    dd.stiffness[0] = dd.stiffness[1] = k;                   /* z is free: the ground carries the box */
    dd.damping = 0.05;                                       /* s; so that it does not swing behind the hand */
    dd.force_limit = limit;
    ok = ok && !embipc_drive_create(world, &dd, &hand);
    for (i = 1; ok && i <= 200; i++) {
        ahead[0] = jump + speed * h * i;
        ok = !embipc_drive_set_target(world, hand, ahead, none) && !embipc_world_step(world, NULL)
             && !embipc_body_get_state(world, box, &s);
        if (i == 100) half = s.velocity[0];
    }
    ok = ok && !embipc_drive_get_state(world, hand, &pull);
    if (ok)
        printf("%s moved %.4f m, speed %.4f m/s, gained %.4f in the last second; behind %.4f m, pulled with %.4f N\n",
               what, s.centre[0], s.velocity[0], s.velocity[0] - half, ahead[0] - s.centre[0], pull.force[0]);
    else puts(embipc_world_error(world)->text);
    embipc_world_destroy(world);
    return ok;
}

int main(void)
{
    printf("friction holds with up to %.4f N\n", mu * 1.0 * g);
    if (!drag("a weak hand:  ", 4, 0, 20)) return 1;
    if (!drag("a strong one: ", 8, 0, 20)) return 1;
    if (!drag("a steady one: ", 8, 0.5, 0)) return 1;
    printf("by hand: %.4f m/s a second for the strong one; %.4f m behind for the steady one\n", 8 - mu * g, mu * g / k);
    return 0;
}
