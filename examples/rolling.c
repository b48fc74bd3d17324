/* rolling.c - a ball rolls on level ground, and down a slope beside a block that slides without friction.
 *
 * You learn that balls roll here, though they are made of facets: a rolling ball keeps its speed, and down a slope it
 * speeds up with 5/7 of what a block on ice does, as 2/7 of the work goes into its rotation. Facets cost some speed:
 * a percent in the first second here, less with finer ones. The solid of the facets weighs a little less than a ball;
 * that costs nothing.
 * Build: cc -std=c99 -O2 rolling.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>

enum { DETAIL = 32, TRIANGLES = 20 * DETAIL * DETAIL };
static double x[3 * (TRIANGLES / 2 + 2)];
static int t[3 * TRIANGLES];
static const double radius = 0.05, g = 9.81;

static int add(embipc_world *world, embipc_body_def *bd, embipc_shape_kind kind, const double size[3], int detail,
               embipc_body *body)
{
    bd->triangle_count = embipc_shape(kind, size, detail, x, t, TRIANGLES);
    bd->vertex_count = bd->triangle_count / 2 + 2; bd->x = x; bd->triangles = t;
    return !embipc_body_create(world, bd, body);
}

/* One second on ground that is tilted by `angle` (level ground under tilted gravity). A ball, or a block of the same
 * size, begins with `speed`, the ball rolling. Returns the speed at the end; spin: the rim relative to the centre,
 * m/s. */
static double run(double angle, double speed, int ball, int detail, double *spin)
{
    static const double ground_size[3] = {20, 2, 1}, edges[3] = {0.1, 0.1, 0.1};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;
    embipc_body ground, body;
    embipc_body_state s;
    double size[3] = {0, 0, 0};
    int i, ok;

    wd.gravity[0] = g * sin(angle);
    wd.gravity[2] = -g * cos(angle);
    if (embipc_world_create(&wd, &world, NULL)) return -1;
    bd.friction = ball ? 1 : 0;
    bd.position[2] = -0.5;
    ok = add(world, &bd, EMBIPC_BOX, ground_size, 1, &ground);
    size[0] = radius;
    bd.kind = EMBIPC_AFFINE; bd.material.young = 1e9; bd.position[2] = radius + 5e-5;
    bd.velocity[0] = speed;
    if (ball) bd.angular_velocity[1] = speed / radius;
    ok = ok && add(world, &bd, ball ? EMBIPC_SPHERE : EMBIPC_BOX, ball ? size : edges, ball ? detail : 1, &body);
    for (i = 0; ok && i < 100; i++) ok = !embipc_world_step(world, NULL);
    ok = ok && !embipc_body_get_state(world, body, &s);
    if (!ok) { puts(embipc_world_error(world)->text); embipc_world_destroy(world); return -1; }
    *spin = s.angular_velocity[1] * radius;
    embipc_world_destroy(world);
    return s.velocity[0];
}

int main(void)
{
    const double angle = 0.1;   /* rad */
    double v, spin;
    int detail;

    for (detail = 8; detail <= DETAIL; detail *= 2) {
        v = run(0, 1, 1, detail, &spin);
        if (v < 0) return 1;
        printf("level, %5d vertices: from 1 m/s to %.4f m/s in a second; its rim %.4f\n",
               10 * detail * detail + 2, v, spin);
    }
    v = run(angle, 0, 0, 1, &spin);
    printf("down a slope, block on ice: %.4f m/s after a second, g sin = %.4f\n", v, g * sin(angle));
    v = run(angle, 0, 1, DETAIL, &spin);
    printf("down a slope, ball:         %.4f m/s after a second, 5/7 g sin = %.4f; its rim %.4f\n", v,
           5.0 / 7 * g * sin(angle), spin);
    return v > 0 ? 0 : 1;
}
