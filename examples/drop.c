/* drop.c - one box, three kinds of body: affine, cage and full.
 *
 * You learn what a kind costs and what it buys. A box of height H, density rho and Young's modulus E that
 * stands on the ground sags under its own weight. In an affine body the strain is the same everywhere, so its
 * centre sinks by rho g H^2 / (4 E); in the continuum it sinks by rho g H^2 / (3 E). Forty nodes come near to
 * that, and a mesh three times as large pays for local detail. The surface is the same for all three. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <stdio.h>
#include <time.h>

#define N 4                    /* cells along an edge of the full mesh */
#define NODES ((N + 1) * (N + 1) * (N + 1))
#define TETS (6 * N * N * N)
#define STEPS 150

static const double edges[3] = {1, 1, 1};   /* of a cube, which embipc_shape() writes */
static double cube_x[24];
static int cube_t[36];

/* The unit cube as N^3 cells of six tets, each around the diagonal of its cell. */
static void grid(double *x, int *tets)
{
    static const int way[6][2] = {{1, 3}, {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}};   /* from corner 0 to 7 */
    int i, j, k, c;
    for (k = 0; k <= N; k++) for (j = 0; j <= N; j++) for (i = 0; i <= N; i++, x += 3) {
        x[0] = (double)i / N - 0.5;
        x[1] = (double)j / N - 0.5;
        x[2] = (double)k / N - 0.5;
    }
    for (k = 0; k < N; k++) for (j = 0; j < N; j++) for (i = 0; i < N; i++) {
        int corner[8];
        for (c = 0; c < 8; c++)
            corner[c] = i + (c & 1) + (N + 1) * (j + (c >> 1 & 1) + (N + 1) * (k + (c >> 2)));
        for (c = 0; c < 6; c++, tets += 4) {
            tets[0] = corner[0]; tets[3] = corner[7];
            tets[1] = corner[way[c][0]]; tets[2] = corner[way[c][1]];
        }
    }
}

/* Drops a box of that kind from 1 cm, and prints a line about it. Returns 0 on failure. */
static int drop(const char *name, embipc_kind kind, const double *x, const int *tets)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world = NULL;
    embipc_body ground, box;
    embipc_body_parameters p;
    embipc_body_state s;
    embipc_step_stats st;
    int i, failed, solves = 0;
    clock_t start;
    double ms;

    wd.dhat = 2e-5;                                       /* a gap that is small against the sag */
    failed = embipc_world_create(&wd, &world, NULL) != EMBIPC_OK;
    bd.x = cube_x; bd.vertex_count = 8; bd.triangles = cube_t;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, edges, 1, cube_x, cube_t, 12);
    bd.position[2] = -0.5;
    failed = failed || embipc_body_create(world, &bd, &ground);
    bd.x = x; bd.vertex_count = NODES; bd.tets = tets; bd.tet_count = TETS;
    bd.triangles = NULL; bd.triangle_count = 0;           /* the surface is the boundary of the tets */
    bd.kind = kind; bd.scale = 0.1; bd.position[2] = 0.06;
    failed = failed || embipc_body_create(world, &bd, &box);
    start = clock();
    for (i = 0; !failed && i < STEPS; i++) {
        failed = embipc_world_step(world, &st) != EMBIPC_OK;
        solves += st.total_iterations;
    }
    ms = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC / STEPS;
    if (failed) puts(world ? embipc_world_error(world)->text : "no world");
    else {
        embipc_body_get_parameters(world, box, &p);
        embipc_body_get_state(world, box, &s);
        printf("%-6s %8d %8.2f %10.3f %12.3e %10.4f\n", name, p.unknowns, (double)solves / STEPS, ms,
               s.kinetic, 1e3 * (0.05 + st.min_distance - s.centre[2]));
    }
    embipc_world_destroy(world);
    return !failed;
}

int main(void)
{
    static double x[3 * NODES];
    static int tets[4 * TETS];
    const double rho = 1000, g = 9.81, H = 0.1, E = 1e5;
    grid(x, tets);
    puts("kind   unknowns  solves/step  ms/step  kinetic, J    sag, mm");
    if (!drop("affine", EMBIPC_AFFINE, x, tets) || !drop("cage", EMBIPC_CAGE, x, tets) ||
        !drop("full", EMBIPC_FULL, x, tets)) return 1;
    printf("closed forms: uniform strain %.4f mm, continuum %.4f mm\n",
           1e3 * rho * g * H * H / (4 * E), 1e3 * rho * g * H * H / (3 * E));
    return 0;
}
