/* examples/tiny_ipc.c against the header, step for step: both start each step from the same q and v, and must end at
 * the same q and x to 1e-9 m. Of all that the header adds to the paper's step, what changes results is switched off:
 * keep_spin (arcs, angular momentum, energy bound), further passes of friction, and the averaged volume strain of
 * cages. The material is the default one. Both stop at a velocity so small that 1e-9 m is far above it. */
#include "../embipc.h"
#define main tiny_main
#include "../examples/tiny_ipc.c"
#undef main
#include "test.h"

enum { STEPS = 40 };
#define AGREE 1e-9   /* m */

static world small;                 /* the world of tiny_ipc.c */
static embipc_world *large;         /* that of the header */
static embipc_body body[BODIES];
static double reached;              /* largest difference of a node or vertex so far, m */

static void begin(double dhat, double kappa)
{
    embipc_world_def wd = embipc_default_world_def();
    memset(&small, 0, sizeof small);
    small.h = wd.time_step;
    memcpy(small.gravity, wd.gravity, sizeof small.gravity);
    small.dhat = wd.dhat = dhat;
    small.kappa = wd.kappa = kappa;
    small.epsv = wd.friction_velocity = 1e-3;
    small.tolerance = wd.tolerance = 1e-8;
    wd.max_iterations = 2000;
    wd.friction_iterations = 1;
    wd.keep_spin = 0;
    ENSURE(embipc_world_create(&wd, &large, NULL) == EMBIPC_OK);
    reached = 0;
}

static embipc_body_def box_def(embipc_kind kind, double size, double x, double y, double z)
{
    embipc_body_def bd = embipc_default_body_def();
    bd.kind = kind;
    bd.x = cube;
    bd.vertex_count = 8;
    bd.triangles = cube_triangles;
    bd.triangle_count = 12;
    bd.scale = size / 2;
    bd.position[0] = x;
    bd.position[1] = y;
    bd.position[2] = z;
    return bd;
}

/* Creates the body in both worlds. The small one takes surface, nodes and tets from the header's, and nothing else. */
static void add(embipc_body_def bd)
{
    static const double still[3] = {0, 0, 0};
    embipc_body_view v;
    material of;
    int k = small.bodies, node = small.nodes;
    bd.material.averaged = 0;
    if (embipc_body_create(large, &bd, &body[k]) != EMBIPC_OK) printf("%s\n", embipc_world_error(large)->text);
    ENSURE(embipc_body_get_view(large, body[k], &v) == EMBIPC_OK);
    of.young = bd.material.young;
    of.poisson = bd.material.poisson;
    of.density = bd.material.density;
    ENSURE(small.nodes + v.node_count <= NODES && small.vertices + v.vertex_count <= VERTICES &&
           small.triangles + v.triangle_count <= TRIANGLES && small.tets + v.tet_count <= TETS);
    add_body(&small, v.x, v.vertex_count, v.triangles, v.triangle_count, v.q, v.node_count, v.tets, v.tet_count, of,
             bd.friction, still);
    (void)node;
}

/* Runs the scene in both worlds. Returns in how many steps some pair was in contact. */
static int run(void)
{
    int touched = 0;
    list_pairs(&small);
    ENSURE(small.pairs < PAIRS);
    for (int n = 0; n < STEPS && test_bad == 0; n++) {
        static double x[VERTICES][3];
        embipc_body_view v;
        embipc_step_stats stats;
        double most = 0;
        int node = 0, vertex = 0;
        for (int k = 0; k < small.bodies; k++) {
            ENSURE(embipc_body_get_view(large, body[k], &v) == EMBIPC_OK);
            if (v.node_count) {
                memcpy(small.q[node], v.q, sizeof(double) * 3 * (size_t)v.node_count);
                memcpy(small.v[node], v.v, sizeof(double) * 3 * (size_t)v.node_count);
            }
            node += v.node_count;
        }
        ENSURE(step(&small));
        ENSURE(embipc_world_step(large, &stats) == EMBIPC_OK);
        positions(&small, small.q, x);
        node = 0;
        for (int k = 0; k < small.bodies; k++) {
            ENSURE(embipc_body_get_view(large, body[k], &v) == EMBIPC_OK);
            for (int i = 0; i < 3 * v.node_count; i++) most = fmax(most, fabs(v.q[i] - small.q[node + i / 3][i % 3]));
            for (int i = 0; i < 3 * v.vertex_count; i++) most = fmax(most, fabs(v.x[i] - x[vertex + i / 3][i % 3]));
            node += v.node_count;
            vertex += v.vertex_count;
        }
        reached = fmax(reached, most);
        if (getenv("TINY")) printf("step %d: differ %.2e, tiny %d iterations, |p|/h %.1e, header %d conv %d, contacts %d %d pairs min %.3g\n", n + 1, most, small.iterations, small.log[small.iterations - 1].p, stats.newton_iterations, stats.converged, stats.contacts, small.log[small.iterations - 1].contacts, stats.min_distance);
        if (!(most <= AGREE)) printf("  step %d differs by %.3g m\n", n + 1, most);
        ENSURE(most <= AGREE);
        touched += stats.contacts > 0;
    }
    embipc_world_destroy(large);
    return touched;
}

static void spin(embipc_body_def *bd, double a, double b)
{
    double c = cos(a), s = sin(a), d = cos(b), e = sin(b);
    double R[9];
    R[0] = c; R[1] = -s * d; R[2] = s * e;
    R[3] = s; R[4] = c * d; R[5] = -c * e;
    R[6] = 0; R[7] = e; R[8] = d;
    memcpy(bd->rotation, R, sizeof R);
}

/* An affine box, thrown onto the floor, on a corner and an edge first. */
static void test_affine(void)
{
    embipc_body_def bd;
    begin(1e-3, 1e5);
    bd = box_def(EMBIPC_FIXED, 2, 0, 0, -1);
    bd.friction = 0.3;
    add(bd);
    bd = box_def(EMBIPC_AFFINE, 0.1, 0.1, 0.03, 0.1);
    bd.friction = 0.3;
    bd.velocity[0] = 0.4;
    bd.velocity[2] = -1;
    bd.angular_velocity[1] = 4;
    spin(&bd, 0.3, 0.5);
    add(bd);
    ENSURE(run() > STEPS / 2);
}

/* A ball of 42 vertices in a given cage of 27 nodes, on a floor and in a corner. */
static void test_cage(void)
{
    static double x[3 * 42], q[81];
    static int t[3 * 80], tet[4 * 48];
    const double radius[3] = {1, 1, 1};
    embipc_body_def bd;
    begin(2e-3, 1e4);
    add(box_def(EMBIPC_FIXED, 2, 0, 0, -1));
    add(box_def(EMBIPC_FIXED, 0.2, 0.16, 0.01, 0.11));
    bd = box_def(EMBIPC_CAGE, 0.1, 0, 0, 0.06);
    bd.x = x; bd.triangles = t; bd.vertex_count = 42;
    bd.triangle_count = embipc_shape(EMBIPC_SPHERE, radius, 2, x, t, 80);
    ENSURE(bd.triangle_count == 80);
    bd.cage_x = q; bd.cage_node_count = 27;
    bd.cage_tets = tet; bd.cage_tet_count = build_cage(2, 1.1, 0, q, tet);
    bd.velocity[0] = 1;
    bd.velocity[2] = -0.5;
    add(bd);
    ENSURE(run() > STEPS / 2);
}

/* A full body of 18 nodes falls across the upper edge of a fixed box. */
static void test_full(void)
{
    static double q[81];
    static int tet[4 * 48];
    embipc_body_def bd;
    begin(1e-3, 1e5);
    bd = box_def(EMBIPC_FIXED, 1, 0, 0, -0.5);
    spin(&bd, 0.1, 0.7853981633974483);
    bd.position[2] = -0.70710678;
    add(bd);
    bd = box_def(EMBIPC_FULL, 0.1, 0, 0, 0.055);
    bd.x = q; bd.vertex_count = 27; bd.triangles = NULL; bd.triangle_count = 0;
    bd.tets = tet; bd.tet_count = build_cage(2, 1, 0, q, tet);
    spin(&bd, 0.4, 0);
    bd.velocity[2] = -0.5;
    add(bd);
    ENSURE(run() > STEPS / 2);
}

/* Rubbing: an affine block slides on a soft one, which slides on the floor. */
static void test_friction(void)
{
    static double q[81];
    static int tet[4 * 48];
    embipc_body_def bd;
    begin(1e-3, 1e5);
    bd = box_def(EMBIPC_FIXED, 2, 0, 0, -1);
    bd.friction = 0.5;
    add(bd);
    bd = box_def(EMBIPC_CAGE, 0.1, 0.1, 0.03, 0.0509);
    bd.friction = 0.4;
    bd.cage_x = q; bd.cage_node_count = 27;
    bd.cage_tets = tet; bd.cage_tet_count = build_cage(2, 1.1, 0, q, tet);
    bd.velocity[0] = 0.3;
    add(bd);
    bd = box_def(EMBIPC_AFFINE, 0.06, 0.09, 0.035, 0.1320);
    bd.friction = 0.6;
    bd.velocity[0] = -0.2;
    bd.velocity[1] = 0.3;
    spin(&bd, 0.5, 0);
    add(bd);
    ENSURE(run() > STEPS / 2);
}

/* A soft hoop with a gap, of seven cells on the border of a 3 x 3 square, falls on its side. Its ends meet. */
static void test_self(void)
{
    static const int cells[7][2] = {{2, 0}, {1, 0}, {0, 0}, {0, 1}, {0, 2}, {1, 2}, {2, 2}};
    static double q[3 * 32];
    static int tet[4 * 42];
    int number[32], count = 0, nodes = 0;
    embipc_body_def bd;
    double all[24];
    int six[24];
    begin(1e-3, 1e4);
    add(box_def(EMBIPC_FIXED, 2, 0, 0, -1));
    ENSURE(build_cage(1, 0.5, 0, all, six) == 6);
    for (int i = 0; i < 32; i++) number[i] = -1;
    for (int k = 0; k < 7; k++)
        for (int n = 0; n < 24; n++, count++) {
            int c = six[n], i = cells[k][0] + c % 2, j = cells[k][1] + c / 2 % 2, l = c / 4;
            int id = i + 4 * j + 16 * l;
            if (number[id] < 0) {
                number[id] = nodes;
                q[3 * nodes] = i - 1.5;
                q[3 * nodes + 1] = l - 0.5;
                q[3 * nodes + 2] = (j - 1.5) * (i == 3 && (j == 1 || j == 2) ? 0.2 : 1);
                nodes++;
            }
            tet[count] = number[id];
        }
    for (int k = 0; k < 42; k++) {   /* axes y and z are swapped: so is the sense of a tet */
        int a = tet[4 * k];
        tet[4 * k] = tet[4 * k + 1];
        tet[4 * k + 1] = a;
    }
    bd = box_def(EMBIPC_FULL, 0.1, 0, 0, 0.08);
    bd.x = q; bd.vertex_count = nodes; bd.triangles = NULL; bd.triangle_count = 0;
    bd.tets = tet; bd.tet_count = 42;
    bd.material.young = 2e4;
    bd.velocity[2] = -1.5;
    add(bd);
    ENSURE(run() > STEPS / 2);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(affine);
    RUN(cage);
    RUN(full);
    RUN(friction);
    RUN(self);
    return test_end("tiny");
}
