/* links.c - a rod hangs from a hinge and swings.
 *
 * You learn joints: what they take, and what they tell. A rod of mass m, whose centre is at the distance d from the
 * hinge, swings like a pendulum of inertia I about the hinge,
 *     T = 2 pi sqrt(I / (m g d)) (1 + a^2/16)     for a small amplitude a, rad,
 * and at rest the hinge carries its weight. Backward Euler would take the swing away within seconds. So the world
 * uses BDF2, which keeps it, and makes T longer by the factor 1 + (2 pi h / T)^2 / 3.
 * Build: cc -std=c99 -O2 links.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846, g = 9.81;
static const double size[3] = {0.05, 0.05, 0.5};   /* of the rod, m; the hinge is at its upper end, at the origin */

/* A world with the rod, tilted by `angle` about y, and its hinge. */
static embipc_world *make(double angle, embipc_body *rod, embipc_joint *hinge)
{
    double x[24];
    int t[36];
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_joint_def jd = embipc_default_joint_def();
    embipc_world *world;

    wd.integrator = EMBIPC_BDF2;
    if (embipc_world_create(&wd, &world, NULL)) return NULL;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, size, 1, x, t, 12);
    bd.vertex_count = 8; bd.x = x; bd.triangles = t;
    bd.kind = EMBIPC_AFFINE; bd.material.young = 1e9;
    bd.rotation[0] = bd.rotation[8] = cos(angle);
    bd.rotation[2] = sin(angle); bd.rotation[6] = -sin(angle);
    bd.position[0] = -size[2] / 2 * sin(angle); bd.position[2] = -size[2] / 2 * cos(angle);
    jd.kind = EMBIPC_HINGE;                        /* of the world: jd.a is none */
    jd.axis[1] = 1; jd.axis[2] = 0;
    if (embipc_body_create(world, &bd, rod)) { puts(embipc_world_error(world)->text); return NULL; }
    jd.b = *rod;
    if (embipc_joint_create(world, &jd, hinge)) { puts(embipc_world_error(world)->text); return NULL; }
    return world;
}

int main(void)
{
    const double start = 0.2, mass = 1000 * size[0] * size[1] * size[2], d = size[2] / 2;
    const double inertia = mass * ((size[0] * size[0] + size[2] * size[2]) / 12 + d * d);
    const double T = 2 * pi * sqrt(inertia / (mass * g * d)), h = 0.01;
    double before, now, largest = 0, first = 0, last = 0, gap = 0;
    int i, crossings = 0;
    embipc_body rod;
    embipc_joint hinge;
    embipc_joint_state s;
    embipc_world *world = make(start, &rod, &hinge);

    if (!world) return 1;
    now = start;
    for (i = 1; i <= 1000; i++) {
        if (embipc_world_step(world, NULL)) { puts(embipc_world_error(world)->text); return 1; }
        embipc_joint_get_state(world, hinge, &s);
        before = now;
        now = start + s.position;                  /* the position of a hinge is the angle since its creation */
        if ((before > 0) != (now > 0)) {
            last = embipc_world_time(world) - h * now / (now - before);
            if (crossings++ == 0) first = last;
        }
        if (i > 850 && fabs(now) > largest) largest = fabs(now);
        if (s.gap > gap) gap = s.gap;
    }
    printf("period %.5f s, closed form %.5f s\n", 2 * (last - first) / (crossings - 1),
           T * (1 + start * start / 16) * (1 + (2 * pi * h / T) * (2 * pi * h / T) / 3));
    printf("amplitude %.4f rad, %.4f after 10 s; the hinge opened by at most %.1e m\n", start, largest, gap);
    embipc_world_destroy(world);

    world = make(0, &rod, &hinge);
    if (!world) return 1;
    for (i = 0; i < 100; i++) embipc_world_step(world, NULL);
    embipc_joint_get_state(world, hinge, &s);
    printf("at rest the hinge carries %.5f N, the rod weighs %.5f N\n", s.force[2], mass * g);
    embipc_world_destroy(world);
    return 0;
}
