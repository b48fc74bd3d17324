/* tactile.c - a soft fingertip is pressed on a pad and dragged: which part of the contact sticks, and which slides.
 *
 * You learn embipc_body_taxels(): the pad is a tactile sensor. The force on each of its taxels has a normal part,
 * which over the taxel's area is a pressure, and a shear. Where the shear is below mu times the normal force the
 * finger sticks. As the finger is dragged, the rim of the contact slides first and the middle last. The cells of
 * its cage must be smaller than the contact: in coarse ones a pressed face stays flat, and only its rim touches.
 * Build: cc -std=c99 -O2 tactile.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>

enum { CELLS = 20, TAXELS = CELLS + 1 };             /* of the pad, along x and y: a taxel for each vertex of its top */
static const double pad_size = 0.03, mu = 0.5, ball[3] = {0.015};
static double x[3 * 2402];                           /* a box has 12 CELLS^2 triangles and half as many vertices + 2 */
static int t[3 * 4800];

/* Prints the map, . free, o sticks, # slides, and how much of mu times the normal force the shear uses. */
static void show(const embipc_world *w, embipc_body pad)
{
    static const double axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, top[3] = {0, 0, 0};
    const double cell = pad_size / CELLS, size[3] = {cell * TAXELS, cell * TAXELS, 1e-9};
    static embipc_taxel map[TAXELS * TAXELS];
    double normal = 0, shear = 0, peak = 0;
    int touched = 0, slides = 0;
    embipc_body_taxels(w, pad, axes, top, size, TAXELS, TAXELS, mu, map);
    for (int row = TAXELS - 1; row >= 0; row--) {
        if (row > 2 && row < TAXELS - 3) printf("    ");
        for (int col = 0; col < TAXELS; col++) {
            const embipc_taxel *f = map + col + TAXELS * row;
            int touches = f->normal > 1e-4;
            if (row > 2 && row < TAXELS - 3 && col > 2 && col < TAXELS - 3)
                putchar(!touches ? '.' : f->slides ? '#' : 'o');
            touched += touches;
            slides += touches && f->slides;
            normal += f->normal;
            shear += f->shear[0];
            peak = fmax(peak, f->normal / (cell * cell));
        }
        if (row > 2 && row < TAXELS - 3) puts("");
    }
    printf("    normal %.4f N, shear %.4f N, used %.3f of friction, peak %.2f kPa, %d of %d taxels slide\n", normal, shear,
           shear / (mu * normal), peak / 1000, slides, touched);
}

int main(void)
{
    static const double pad_edges[3] = {0.03, 0.03, 0.01};
    const double lo[3] = {-1, -1, 0.022}, hi[3] = {1, 1, 1}, stage[4] = {0, 0.4, 1.2, 4};   /* dragged, mm */
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_drive_def dd = embipc_default_drive_def();
    embipc_world *world;
    embipc_body pad, finger;
    embipc_drive hand;
    embipc_pair_force sum;
    int nodes[400];
    if (embipc_world_create(&wd, &world, NULL)) return 1;
    bd.x = x; bd.triangles = t; bd.friction = mu;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, pad_edges, CELLS, x, t, 4800);
    bd.vertex_count = bd.triangle_count / 2 + 2;
    bd.name = "pad"; bd.position[2] = -0.005;
    if (embipc_body_create(world, &bd, &pad)) { puts(embipc_world_error(world)->text); return 1; }
    bd.triangle_count = embipc_shape(EMBIPC_SPHERE, ball, 15, x, t, 4800);
    bd.vertex_count = bd.triangle_count / 2 + 2;
    bd.name = "finger"; bd.kind = EMBIPC_CAGE; bd.cage_nodes = 700; bd.position[2] = ball[0] + 1e-4;
    bd.material.young = 1e5; bd.material.damping[1] = 0.01;
    if (embipc_body_create(world, &bd, &finger)) { puts(embipc_world_error(world)->text); return 1; }
    dd.body = finger; dd.nodes = nodes;
    dd.node_count = embipc_body_select(world, finger, lo, hi, nodes, 400);
    if (embipc_drive_create(world, &dd, &hand)) { puts(embipc_world_error(world)->text); return 1; }
    for (int k = 0; k < 4; k++) {
        double from = k ? stage[k - 1] : 0, none[3] = {0, 0, 0};
        for (int n = 1; n <= 40; n++) {
            double to[3] = {1e-3 * (from + (stage[k] - from) * n / 40), 0, -2.1e-3 * (k ? 1 : n / 40.0)};
            embipc_drive_set_target(world, hand, to, none);
            if (embipc_world_step(world, NULL)) { puts(embipc_world_error(world)->text); return 1; }
        }
        printf("dragged by %.1f mm:\n", stage[k]);
        show(world, pad);
    }
    if (embipc_world_pair_forces(world, &sum, 1) == 1)
        printf("as a pair: normal %.4f N, shear %.4f N\n", -sum.force[2], sum.force[0]);
    embipc_world_destroy(world);
    return 0;
}
