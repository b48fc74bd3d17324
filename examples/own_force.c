/* own_force.c - a force of your own: a spring that pulls a box to the origin.
 *
 * You learn embipc_body_apply_wrench(), and what it means to compute a force before a step. A force f(x) of the state
 * at the begin of a step gives v' = v + h f(x)/m, x' = x + h v': the box swings with
 *     sin(w' h / 2) = w h / 2,    w^2 = k/m,
 * a little faster than w, between -a and a, a = 0.1 m / cos(w' h / 2), and that for ever. Beyond w h = 2 there is no
 * such w', and the swing grows without end. A drive with a stiffness (drag.c) and a joint are implicit: they are
 * stable for any h, but lose some of the swing in each step.
 * Build: cc -std=c99 -O2 own_force.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846, h = 0.01, edges[3] = {0.1, 0.1, 0.1};

/* A box of 1 kg, alone in the world and without gravity, 0.1 m to the right of the origin, at rest. */
static embipc_world *make(embipc_body *box)
{
    double x[24];
    int t[36];
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;

    wd.gravity[2] = 0;
    wd.time_step = h;
    if (embipc_world_create(&wd, &world, NULL)) return NULL;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, edges, 1, x, t, 12);
    bd.vertex_count = 8; bd.x = x; bd.triangles = t;
    bd.kind = EMBIPC_AFFINE; bd.material.young = 1e9; bd.position[0] = 0.1;
    if (embipc_body_create(world, &bd, box)) { puts(embipc_world_error(world)->text); return NULL; }
    return world;
}

/* Steps with the force -k x at the centre. Tells the mean period of the swings, s, and the farthest place of the last
 * second, m. Returns 0 on failure. */
static int swing(double k, double seconds, double *period, double *farthest)
{
    embipc_body box;
    embipc_world *world = make(&box);
    embipc_body_state s;
    double before = 0.1, first = 0, last = 0, time = 0;
    int i, crossings = 0, ok = world != NULL;

    *farthest = 0;
    for (i = 0; ok && i < (int)(seconds / h + 0.5); i++) {
        double force[3] = {0, 0, 0};
        embipc_body_get_state(world, box, &s);
        force[0] = -k * s.centre[0];
        ok = !embipc_body_apply_wrench(world, box, force, NULL, NULL) && !embipc_world_step(world, NULL);
        before = s.centre[0];
        embipc_body_get_state(world, box, &s);
        time = embipc_world_time(world);
        if ((before > 0) != (s.centre[0] > 0)) {          /* half a period; the moment between two steps */
            last = time - h * s.centre[0] / (s.centre[0] - before);
            if (crossings++ == 0) first = last;
        }
        if (time > seconds - 1 && fabs(s.centre[0]) > *farthest) *farthest = fabs(s.centre[0]);
    }
    *period = crossings > 1 ? 2 * (last - first) / (crossings - 1) : 0;
    if (world && !ok) puts(embipc_world_error(world)->text);
    embipc_world_destroy(world);
    return ok;
}

int main(void)
{
    static const double stiffness[3] = {40, 400, 4000};   /* N/m */
    double period, farthest;
    int i;

    printf("  k N/m    period s   2 pi sqrt(m/k)   with h     farthest in the last second, m\n");
    for (i = 0; i < 3; i++) {
        double w = sqrt(stiffness[i]);
        if (!swing(stiffness[i], 20, &period, &farthest)) return 1;
        printf("%7.0f   %9.6f   %9.6f   %9.6f   %.4f\n", stiffness[i], period, 2 * pi / w,
               pi * h / asin(w * h / 2), farthest);
    }
    if (!swing(40100, 0.5, &period, &farthest)) return 1;
    printf("  40100   w h = %.4f, beyond 2: after half a second it was %.3f m away\n", sqrt(40100.0) * h, farthest);
    return 0;
}
