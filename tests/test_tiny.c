/* examples/tiny_ipc.c against the header, step for step: both start each step from the same q and v, and must end at
 * the same q and x to 1e-9 m. Of what the header adds to the paper's step, three things that change results are
 * switched off: keep_spin (arcs, angular momentum, energy bound), further passes of friction, and the averaged volume
 * strain of cages. The material is the default one. A fourth cannot be switched off: pairs of edges and vertices inside
 * faces that stay flat are left out. So no surface has two triangles in one plane that one tet, or none, carries. Both
 * stop at a velocity of 1e-9 m/s, which is 1e-11 m in a step. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L   /* popen */
#endif
#include "../embipc.h"
#define main tiny_main
#include "../examples/tiny_ipc.c"
#undef main
#include "test.h"

enum { STEPS = 32 };
#define AGREE 1e-9   /* m */

/* ---- meshes ---- */

static const double floor_vertices[12] = {-2, -2, 0, 2, -2, 0, 0, 3, 0, 0, 0, -1};
static const int floor_triangles[12] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};
static const int cube_triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                       2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
static const int prism_triangles[24] = {0, 2, 1, 3, 4, 5, 0, 1, 3, 1, 4, 3, 1, 2, 4, 2, 5, 4, 2, 0, 5, 0, 3, 5};

/* Six tets around the diagonal of the box of nodes from the node `first` on; step: to the next node along x, y, z. */
static void cut_cell(int first, const int step[3], int *tet)
{
    for (int k = 0; k < 6; k++, tet += 4) {
        int a = k % 3, b = (k + (k < 3 ? 1 : 2)) % 3, odd = k >= 3;
        tet[0] = first;
        tet[1] = first + step[a];
        tet[2 + odd] = tet[1] + step[b];
        tet[3 - odd] = first + step[0] + step[1] + step[2];
    }
}

/* A cube from -1 to 1 along each axis, of n^3 cells. Returns the number of tets. */
static int cut_cube(int n, double *x, int *tet)
{
    int step[3], count = 0;
    step[0] = 1;
    step[1] = n + 1;
    step[2] = (n + 1) * (n + 1);
    for (int i = 0; i < (n + 1) * (n + 1) * (n + 1); i++)
        for (int c = 0; c < 3; c++) x[3 * i + c] = 2.0 * (i / step[c] % (n + 1)) / n - 1;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++, count += 6)
                cut_cell(i * step[0] + j * step[1] + k * step[2], step, tet + 4 * count);
    return count;
}

/* ---- both worlds ---- */

static world small;                 /* of tiny_ipc.c */
static embipc_world *large;         /* of the header */
static embipc_body body[BODIES];

static void begin(double dhat, double kappa)
{
    embipc_world_def wd = embipc_default_world_def();
    memset(&small, 0, sizeof small);
    small.h = wd.time_step;
    memcpy(small.gravity, wd.gravity, sizeof small.gravity);
    small.dhat = wd.dhat = dhat;
    small.kappa = wd.kappa = kappa;
    small.epsv = wd.friction_velocity = 1e-3;
    small.tolerance = wd.tolerance = 1e-9;
    wd.max_iterations = 2000;
    wd.friction_iterations = 1;
    wd.keep_spin = 0;
    ENSURE(embipc_world_create(&wd, &large, NULL) == EMBIPC_OK);
}

static embipc_body_def def_at(embipc_kind kind, double scale, double x, double y, double z)
{
    embipc_body_def bd = embipc_default_body_def();
    bd.kind = kind;
    bd.scale = scale;
    bd.position[0] = x;
    bd.position[1] = y;
    bd.position[2] = z;
    return bd;
}

/* Rotates a body by the angle a about x, and then by b about z. */
static void turn(embipc_body_def *bd, double a, double b)
{
    bd->rotation[0] = cos(b); bd->rotation[1] = -sin(b) * cos(a); bd->rotation[2] = sin(b) * sin(a);
    bd->rotation[3] = sin(b); bd->rotation[4] = cos(b) * cos(a); bd->rotation[5] = -cos(b) * sin(a);
    bd->rotation[6] = 0; bd->rotation[7] = sin(a); bd->rotation[8] = cos(a);
}

static void set_surface(embipc_body_def *bd, const double *x, int vertices, const int *t, int triangles)
{
    bd->x = x;
    bd->vertex_count = vertices;
    bd->triangles = t;
    bd->triangle_count = triangles;
}

/* Creates the body in both worlds. The small one gets surface, nodes, tets and material; mass, J and all else are its
 * own. */
static void add(const embipc_body_def *def)
{
    embipc_body_def bd = *def;
    embipc_body_view v;
    body_def d;
    memset(&d, 0, sizeof d);
    bd.material.averaged = 0;
    ENSURE(embipc_body_create(large, &bd, body + small.bodies) == EMBIPC_OK);
    ENSURE(embipc_body_get_view(large, body[small.bodies], &v) == EMBIPC_OK);
    ENSURE(small.bodies < BODIES && small.nodes + v.node_count <= NODES && small.tets + v.tet_count <= TETS &&
           small.vertices + v.vertex_count <= VERTICES && small.triangles + v.triangle_count <= TRIANGLES);
    if (test_bad) return;
    d.x = v.x;
    d.tri = v.triangles;
    d.q = v.q;
    d.tet = v.tets;
    d.vertices = v.vertex_count;
    d.triangles = v.triangle_count;
    d.nodes = v.node_count;
    d.tets = v.tet_count;
    d.young = bd.material.young;
    d.poisson = bd.material.poisson;
    d.density = bd.material.density;
    d.friction = bd.friction;
    add_body(&small, &d);
}

static void add_floor(double friction_)
{
    embipc_body_def bd = def_at(EMBIPC_FIXED, 1, 0, 0, 0);
    set_surface(&bd, floor_vertices, 4, floor_triangles, 4);
    bd.friction = friction_;
    add(&bd);
}

/* Takes q and v of all bodies from the header. */
static void copy_state(void)
{
    embipc_body_view v;
    for (int k = 0, node = 0; k < small.bodies; node += v.node_count, k++) {
        ENSURE(embipc_body_get_view(large, body[k], &v) == EMBIPC_OK);
        for (int i = 0; i < 3 * v.node_count; i++) {
            small.q[node + i / 3][i % 3] = v.q[i];
            small.v[node + i / 3][i % 3] = v.v[i];
        }
    }
}

/* Largest difference of a coordinate of q or x, m */
static double difference(void)
{
    double most = 0;
    embipc_body_view v;
    for (int k = 0, node = 0, vertex = 0; k < small.bodies; node += v.node_count, vertex += v.vertex_count, k++) {
        ENSURE(embipc_body_get_view(large, body[k], &v) == EMBIPC_OK);
        for (int i = 0; i < 3 * v.node_count; i++) most = fmax(most, fabs(v.q[i] - small.q[node + i / 3][i % 3]));
        for (int i = 0; i < 3 * v.vertex_count; i++) most = fmax(most, fabs(v.x[i] - small.x[vertex + i / 3][i % 3]));
    }
    return most;
}

/* In how many steps of a run something was met: a contact, one of a body with itself, friction, two edges near each
 * other, two vertices near each other */
typedef struct met { int contact, self, friction, edges, points; } met;

/* Adds what the end of a step meets. */
static void meet(met *m)
{
    contact c;
    int self = 0, edges = 0, points = 0;
    for (int k = 0; k < small.pairs; k++) {
        const pair *p = small.pair_list + k;
        if (!make_contact(p, small.x, &c)) continue;
        self |= small.of_body[p->v[0]] == small.of_body[p->v[3]];
        edges |= p->kind == EDGE_EDGE;
        points |= p->kind == POINT_POINT;
    }
    m->contact += small.contacts > 0;
    m->friction += small.friction_force > 1e-3;
    m->self += self;
    m->edges += edges;
    m->points += points;
}

static met run(void)
{
    met m = {0, 0, 0, 0, 0};
    if (!test_bad) list_pairs(&small);
    ENSURE(small.pairs < PAIRS);
    for (int n = 1; n <= STEPS && !test_bad; n++) {
        embipc_step_stats stats;
        copy_state();
        ENSURE(step(&small));
        ENSURE(embipc_world_step(large, &stats) == EMBIPC_OK && stats.converged);
        if (!(difference() <= AGREE)) printf("  step %d: they differ by %.3g m\n", n, difference());
        ENSURE(difference() <= AGREE);
        ENSURE((stats.contacts > 0) == (small.contacts > 0));
        meet(&m);
    }
    embipc_world_destroy(large);
    return m;
}

/* ---- scenes ---- */

/* An affine prism with twisted sides is thrown onto the floor, and tumbles. */
static void test_affine(void)
{
    double x[18];
    embipc_body_def bd = def_at(EMBIPC_AFFINE, 0.1, 0.1, 0.03, 0.12);
    met m;
    for (int i = 0; i < 6; i++) {
        double angle = i % 3 * 2.0943951023931953 + (i < 3 ? 0 : 0.4);
        x[3 * i] = 0.7 * cos(angle);
        x[3 * i + 1] = 0.7 * sin(angle);
        x[3 * i + 2] = i < 3 ? -0.5 : 0.5;
    }
    begin(1e-3, 1e5);
    add_floor(0.3);
    set_surface(&bd, x, 6, prism_triangles, 8);
    bd.friction = 0.3;
    bd.velocity[0] = 0.4;
    bd.velocity[2] = -1;
    bd.angular_velocity[1] = 4;
    turn(&bd, 0.5, 0.3);
    add(&bd);
    m = run();
    ENSURE(m.contact > 24 && m.friction > 10);
}

/* A ball of 42 vertices in a given cage of 64 nodes, some tets of which are empty, falls beside a spike that its lowest
 * vertex meets first, and onto the floor. */
static void test_cage(void)
{
    static double x[3 * 42], q[3 * 64];
    static int t[3 * 80], tet[4 * 162];
    const double radius[3] = {1, 1, 1};
    const double *low = x;
    embipc_body_def bd, ball = def_at(EMBIPC_CAGE, 0.05, 0, 0, 0.055);
    met m;
    begin(2e-3, 1e4);
    add_floor(0);
    set_surface(&ball, x, 42, t, embipc_shape(EMBIPC_SPHERE, radius, 2, x, t, 80));
    for (int k = 1; k < 42; k++)
        if (x[3 * k + 2] < low[2]) low = x + 3 * k;
    bd = def_at(EMBIPC_FIXED, 0.02, 0.05 * low[0] + 0.0003, 0.05 * low[1], 0.055 + 0.05 * low[2] - 0.0215);
    set_surface(&bd, floor_vertices, 4, floor_triangles, 4);
    turn(&bd, 3.141592653589793, 0.2);   /* its tip points up */
    add(&bd);
    ball.cage_tet_count = cut_cube(3, q, tet);
    for (int i = 0; i < 3 * 64; i++) q[i] *= 1.1;
    ball.cage_x = q;
    ball.cage_node_count = 64;
    ball.cage_tets = tet;
    ball.velocity[0] = 0.05;
    add(&ball);
    m = run();
    ENSURE(m.contact > 24 && m.points > 0);
}

/* A full body of 27 nodes falls across the upper edge of a fixed tetrahedron. */
static void test_full(void)
{
    static double q[81];
    static int tet[4 * 48];
    embipc_body_def bd;
    met m;
    begin(1e-3, 1e5);
    bd = def_at(EMBIPC_FIXED, 0.1, 0, 0, -0.2001);   /* its edge 0 1 is on top, along x */
    set_surface(&bd, floor_vertices, 4, floor_triangles, 4);
    turn(&bd, -1.5707963267948966, 0);
    add(&bd);
    bd = def_at(EMBIPC_FULL, 0.05, 0.01, 0.001, 0.056);
    set_surface(&bd, q, 27, NULL, 0);
    bd.tet_count = cut_cube(2, q, tet);
    bd.tets = tet;
    bd.velocity[2] = -0.5;
    turn(&bd, 0.05, 1.3);
    add(&bd);
    m = run();
    ENSURE(m.contact > 24 && m.edges > 24);
}

/* An affine block slides on a soft one in a cage, which slides on the floor. */
static void test_friction(void)
{
    static double q[81], x[24];
    static int tet[4 * 48], spare[4 * 6];
    double block[18];
    embipc_body_def bd;
    met m;
    begin(1e-3, 1e5);
    add_floor(0.5);
    bd = def_at(EMBIPC_CAGE, 0.05, 0.1, 0.03, 0.0509);
    (void)cut_cube(1, x, spare);
    set_surface(&bd, x, 8, cube_triangles, 12);
    bd.friction = 0.4;
    bd.cage_tet_count = cut_cube(2, q, tet);
    for (int i = 0; i < 81; i++) q[i] *= 1.1;
    bd.cage_x = q;
    bd.cage_node_count = 27;
    bd.cage_tets = tet;
    bd.velocity[0] = 0.3;
    add(&bd);
    for (int i = 0; i < 6; i++) {
        double angle = i % 3 * 2.0943951023931953 + (i < 3 ? 0 : 0.4);
        block[3 * i] = 0.7 * cos(angle);
        block[3 * i + 1] = 0.7 * sin(angle);
        block[3 * i + 2] = i < 3 ? -0.3 : 0.3;
    }
    bd = def_at(EMBIPC_AFFINE, 0.05, 0.09, 0.035, 0.1169);
    set_surface(&bd, block, 6, prism_triangles, 8);
    bd.friction = 0.6;
    bd.velocity[0] = -0.2;
    bd.velocity[1] = 0.3;
    add(&bd);
    m = run();
    ENSURE(m.contact > 24 && m.friction > 24);
}

/* A soft hoop with a gap, seven cells on the border of a 3 x 3 square, falls onto the floor, and its ends meet. */
static void test_self(void)
{
    static const int cells[7][2] = {{2, 0}, {1, 0}, {0, 0}, {0, 1}, {0, 2}, {1, 2}, {2, 2}};
    static const int step_to[3] = {16, 1, 4};   /* along y, x, z: node i + 4 j + 16 l stands at x i, z j, y l */
    static double q[3 * 32];
    static int tet[4 * 42], number[32];
    int nodes = 0;
    embipc_body_def bd = def_at(EMBIPC_FULL, 0.1, 0, 0, 0.17);
    met m;
    for (int k = 0; k < 7; k++) cut_cell(cells[k][0] + 4 * cells[k][1], step_to, tet + 24 * k);
    for (int k = 0; k < 4 * 42; k++) {
        int id = tet[k], i = id % 4, j = id / 4 % 4;
        if (!number[id]) {
            number[id] = ++nodes;
            q[3 * nodes - 3] = i - 1.5;
            q[3 * nodes - 2] = id / 16 - 0.5;
            q[3 * nodes - 1] = (j - 1.5) * (i == 3 && (j == 1 || j == 2) ? 0.2 : 1);
        }
        tet[k] = number[id] - 1;
    }
    for (int k = 0; k < 42; k++) {  /* y, x, z turn left, so corners change places */
        int a = tet[4 * k];
        tet[4 * k] = tet[4 * k + 1];
        tet[4 * k + 1] = a;
    }
    begin(15e-3, 700);              /* more than half of the gap at rest */
    add_floor(0.2);
    set_surface(&bd, q, nodes, NULL, 0);
    bd.tets = tet;
    bd.tet_count = 42;
    bd.friction = 0.5;
    bd.material.young = 2e4;
    bd.velocity[2] = -1.5;
    add(&bd);
    m = run();
    ENSURE(m.contact > 24 && m.self > 10);
}

static char program[1100];          /* the example, beside this test */

/* What the program prints: in each step the vertical momentum changes by h (normal force - weight), and in the end the
 * cube of 1 kg rests. */
static void test_output(void)
{
    char line[256];
    double gap, along = 1, up, before = -0.5, force = 0, rub;
    int n, steps = 0;
    FILE *f = fopen(program, "rb");
    if (!f) SKIP("not built: make examples");
    fclose(f);
    f = popen(program, "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "step %d: gap %lf mm, momentum along %lf, up %lf N s, normal force %lf N, friction %lf N",
                   &n, &gap, &along, &up, &force, &rub) != 6) continue;
        ENSURE(n == ++steps && gap > 0 && !strstr(line, "not converged"));
        ENSURE_CLOSE(up - before, 0.01 * (force - 9.81), 1.2e-4);   /* as it is rounded there, and as the steps stop */
        before = up;
    }
    ENSURE(f && pclose(f) == 0);
    ENSURE(steps == 40);
    ENSURE_CLOSE(along, 0, 2e-3);
    ENSURE_CLOSE(force, 9.81, 2e-3);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    snprintf(program, sizeof program, "%.*s/examples/tiny_ipc", slash ? (int)(slash - argv[0]) : 1,
             slash ? argv[0] : ".");
    test_begin(argc, argv);
    RUN(affine);
    RUN(cage);
    RUN(full);
    RUN(friction);
    RUN(self);
    RUN(output);
    return test_end("test_tiny");
}
