/* sleep.c - seventy bodies that rest cost nothing, until one of them is hit.
 *
 * You learn to let bodies at rest sleep: embipc_world_def.sleep_after, and what wakes them. 20 soft and 50 stiff boxes
 * stand in stacks of five. A shot wakes the stack that it hits, and what falls from it wakes others; the rest sleeps on.
 * A program may ask who is awake, here to draw only what has moved. Build: cc -std=c99 -O2 sleep.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <stdio.h>
#include <time.h>

enum { STACKS = 14, HIGH = 5, STEPS = 360, SHOT = 150 };

static double x[24];
static int triangles[36];

/* adds a box of these edge lengths */
static embipc_body box(embipc_world *world, embipc_kind kind, double a, double c, double px, double py, double pz)
{
    embipc_body_def d = embipc_default_body_def();
    double edges[3];
    embipc_body body;
    edges[0] = edges[1] = a; edges[2] = c;
    d.triangle_count = embipc_shape(EMBIPC_BOX, edges, 1, x, triangles, 12); d.vertex_count = 8;
    d.x = x; d.triangles = triangles; d.kind = kind; d.friction = 0.6; d.material.young = 1e6;
    d.cage_nodes = 8;
    d.position[0] = px; d.position[1] = py; d.position[2] = pz;
    if (embipc_body_create(world, &d, &body)) puts(embipc_world_error(world)->text);
    return body;
}

int main(void)
{
    static const double fast[3] = {12, 0, 1}, none[3] = {0, 0, 0};
    embipc_world_def wd = embipc_default_world_def();
    embipc_step_stats s;
    embipc_world *world;
    double ms = 0;
    int step, i, drawn = 0;
    wd.time_step = 1 / 60.0;
    wd.sleep_after = 0.5;                                 /* s; 0, the default: nobody sleeps */
    if (embipc_world_create(&wd, &world, NULL)) return 1;
    box(world, EMBIPC_FIXED, 12, 1, 0, 0, -0.5);
    for (i = 0; i < STACKS * HIGH; i++)                   /* layer by layer, the last ones soft */
        box(world, i < 50 ? EMBIPC_AFFINE : EMBIPC_CAGE, 0.1, 0.1, 0.5 * (i % 7), 0.5 * (i % STACKS / 7),
            0.0502 + 0.1004 * (i / STACKS));
    printf("  step   awake  islands  ms/step\n");
    for (step = 1; step <= STEPS; step++) {
        clock_t start = clock();
        if (step == SHOT) embipc_body_set_velocity(world, box(world, EMBIPC_AFFINE, 0.08, 0.08, -1, 0, 0.3), fast, none);
        if (embipc_world_step(world, &s)) { puts(embipc_world_error(world)->text); return 1; }
        ms += 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC;
        for (i = 0; i < embipc_world_body_count(world); i++) drawn += embipc_body_is_awake(world, embipc_world_body(world, i));
        if (step % 30) continue;
        printf("%6d  %6d  %7d  %7.3f\n", step, embipc_world_body_count(world) - 1 - s.sleeping, s.islands, ms / 30);
        ms = 0;
    }
    printf("drawn: %d of %d\n", drawn, STEPS * embipc_world_body_count(world));
    embipc_world_destroy(world);
    return 0;
}
