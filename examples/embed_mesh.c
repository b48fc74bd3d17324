/* embed_mesh.c - a fine surface in a coarse cage that the library builds, and what a broken mesh gets.
 *
 * You learn embipc_cage_build() and how errors read. The surface is a torus of 3,000 triangles, the cage has
 * about forty nodes: contact sees the surface, the solver sees the cage. A mesh that cannot be a body is
 * refused with the body, the primitive and what to do, and the world is as it was. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define U 60                   /* cells around the axis and around the tube */
#define V 25
#define PI 3.14159265358979323846

/* A torus around the z axis: radius R to the middle of the tube, r of the tube. */
static void torus(double R, double r, double *x, int *t)
{
    int i, j;
    for (i = 0; i < U; i++) for (j = 0; j < V; j++, x += 3, t += 6) {
        double a = 2 * PI * i / U, b = 2 * PI * j / V;
        int k = (i + 1) % U, l = (j + 1) % V;
        x[0] = (R + r * cos(b)) * cos(a);
        x[1] = (R + r * cos(b)) * sin(a);
        x[2] = r * sin(b);
        t[0] = t[3] = i * V + j;
        t[1] = k * V + j;
        t[2] = t[4] = k * V + l;
        t[5] = i * V + l;
    }
}

int main(void)
{
    static const double ground_x[] = {-1,-1,0, 1,-1,0, 1,1,0, -1,1,0};     /* a fixed body may be open */
    static const int ground_t[] = {0,1,2, 0,2,3};
    static double x[3 * U * V];
    static int t[6 * U * V], broken[6 * U * V];
    const double R = 0.07, r = 0.03;
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_cage_def cd = embipc_default_cage_def();
    embipc_world *world;
    embipc_body ground, ring;
    embipc_body_state s;
    embipc_body_view view;
    embipc_cage cage;
    embipc_error error;
    double lowest = 1;
    int i;

    torus(R, r, x, t);
    cd.nodes = 40;
    if (embipc_cage_build(&cd, x, U * V, t, 2 * U * V, NULL, &cage, &error)) { puts(error.text); return 1; }
    printf("surface: %d vertices, %d triangles\n", U * V, 2 * U * V);
    printf("cage: %d nodes, %d cells, %d tets, %.3e m^3\n",
           cage.node_count, cage.cell_count, cage.tet_count, cage.volume);

    if (embipc_world_create(&wd, &world, NULL)) return 1;
    bd.x = ground_x; bd.vertex_count = 4; bd.triangles = ground_t; bd.triangle_count = 2;
    if (embipc_body_create(world, &bd, &ground)) { puts(embipc_world_error(world)->text); return 1; }
    bd.name = "ring"; bd.kind = EMBIPC_CAGE; bd.position[2] = 0.05;
    bd.x = x; bd.vertex_count = U * V; bd.triangle_count = 2 * U * V;
    bd.cage = &cage;

    memcpy(broken, t, sizeof t);                       /* a hole: the last triangle is gone */
    bd.triangles = broken; bd.triangle_count--;
    embipc_body_create(world, &bd, &ring);
    printf("a hole: %s\n", embipc_world_error(world)->text);
    bd.triangle_count++;
    broken[300] = t[301]; broken[301] = t[300];        /* triangle 100 turned over */
    embipc_body_create(world, &bd, &ring);
    printf("one flipped: %s\n", embipc_world_error(world)->text);
    for (i = 0; i < 6 * U * V; i += 3) { broken[i] = t[i + 1]; broken[i + 1] = t[i]; }
    embipc_body_create(world, &bd, &ring);
    printf("all flipped: %s\n", embipc_world_error(world)->text);
    printf("bodies in the world: %d\n", embipc_world_body_count(world));

    bd.triangles = t;
    if (embipc_body_create(world, &bd, &ring)) { puts(embipc_world_error(world)->text); return 1; }
    embipc_cage_free(&cage);                           /* the world has its copy */
    for (i = 0; i < 60; i++) if (embipc_world_step(world, NULL)) return 1;
    embipc_body_get_state(world, ring, &s);
    embipc_body_get_view(world, ring, &view);
    for (i = 2; i < 3 * view.vertex_count; i += 3) if (view.x[i] < lowest) lowest = view.x[i];
    printf("mass %.6f kg, volume %.6e m^3, of the smooth torus %.6e\n", s.mass, s.volume,
           2 * PI * PI * R * r * r);
    printf("at rest: centre at %.5f m, lowest vertex at %.3e m\n", s.centre[2], lowest);
    printf("surfaces that cross: %d\n", embipc_world_intersections(world, NULL, 0));
    embipc_world_destroy(world);
    return 0;
}
