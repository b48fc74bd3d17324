/* anytime.c - steps that are cut short, for loops with a deadline.
 *
 * You learn embipc_world_set_limits() and embipc_world_set_budget(): every Newton iterate is free of intersections, so a
 * step may end after any of them. The state is then less converged, never wrong: nothing has passed through anything,
 * and the next step goes on from there. Here a column of soft boxes is thrown at the ground: solved to convergence,
 * with two solves per step, with a stop flag, and with a budget of time. Build: cc -std=c99 -O2 anytime.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <stdio.h>
#include <time.h>

#define BODIES 4
#define STEPS 60

static const embipc_real edges[3] = {1, 1, 1};   /* of a cube, which embipc_shape() writes */
static embipc_real cube_x[24];
static int cube_t[36];

/* Processor time, s. A control loop would take a clock of the hardware. */
static double seconds(void *ctx)
{
    (void)ctx;
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Prints what came of STEPS steps: how many were cut, how many left something crossing, the lowest vertex. */
static int run(embipc_world *world, const char *rule)
{
    embipc_step_stats st;
    embipc_body_view view;
    double lowest = 1;
    int i, n, k, cut = 0, crossing = 0, most = 0;
    for (i = 0; i < STEPS; i++) {
        if (embipc_world_step(world, &st)) { puts(embipc_world_error(world)->text); return 0; }
        cut += !st.converged;
        if (st.newton_iterations > most) most = st.newton_iterations;
        crossing += embipc_world_intersections(world, NULL, 0) != 0;    /* by exact arithmetic */
        for (n = 1; n <= BODIES; n++) {
            embipc_body_get_view(world, embipc_world_body(world, n), &view);
            for (k = 2; k < 3 * view.vertex_count; k += 3) if (view.x[k] < lowest) lowest = view.x[k];
        }
    }
    printf("%-15s %5d %12d %15d %12.2e %12.2e\n", rule, cut, most, crossing, lowest, st.max_speed);
    return 1;
}

int main(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;
    embipc_body body;
    embipc_step_stats st;
    volatile int stop = 1;      /* raised by a timer, an interrupt or another thread; one solve is made */
    int i, ok;

    wd.clock = seconds;
    if (embipc_world_create(&wd, &world, NULL)) return 1;
    bd.x = cube_x; bd.vertex_count = 8; bd.triangles = cube_t;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, edges, 1, cube_x, cube_t, 12);
    bd.friction = 0.5;
    bd.position[2] = -0.5;
    ok = !embipc_body_create(world, &bd, &body);
    bd.kind = EMBIPC_CAGE; bd.scale = 0.1; bd.velocity[2] = -3;
    for (i = 0; i < BODIES && ok; i++) {
        bd.position[0] = 0.02 * (i % 2); bd.position[2] = 0.1 + 0.15 * i;
        ok = !embipc_body_create(world, &bd, &body);
    }
    if (!ok) { puts(embipc_world_error(world)->text); return 1; }

    puts("rule              cut  most solves  steps crossing    lowest, m   speed, m/s");
    embipc_world_set_limits(world, 100, NULL);
    if (!run(world, "converge")) return 1;
    embipc_world_reset(world);
    embipc_world_set_limits(world, 2, NULL);
    if (!run(world, "two solves")) return 1;
    embipc_world_reset(world);
    embipc_world_set_limits(world, 100, &stop);
    if (!run(world, "flag up")) return 1;
    stop = 0;                                            /* time again: on from where it was */
    if (!run(world, "flag down")) return 1;
    embipc_world_reset(world);
    embipc_world_set_budget(world, 0.5e-3, 0);           /* late steps end; a first iteration is always made */
    if (!run(world, "0.5 ms")) return 1;
    embipc_world_set_budget(world, 1e-9, 1);             /* strict: no time for one iteration, no step */
    if (embipc_world_step(world, &st) == EMBIPC_ERR_TIME) puts(embipc_world_error(world)->text);
    embipc_world_destroy(world);
    return 0;
}
