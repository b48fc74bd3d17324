/* A cylinder of radius 0.2 m, pressed between two plates without friction until they are 0.2 m nearer, in plane strain:
 * for validate_press.c and the report of `make paper`. Rubber (Mooney-Rivlin, C1 0.293, C2 0.177, K 1410 MPa: G/K = 1/1500) and
 * a compressible one (log neo-Hookean, E 1 MPa, nu 0.4); force per length against the curves of independent finite elements
 * that do not lock. Include after embipc.h and scene_test.h.
 * Both plates move, and the nodes on the axis stay: by symmetry nothing pulls at them, and without them the cylinder
 * slips out sideways. Plates and walls are so long that no diagonal of theirs runs below the cylinder: with one there, steps
 * take up to four times the solves. Plane strain by two fixed walls, so thin a gap away that the ends hardly move. */
#ifndef PRESS_H
#define PRESS_H
#include "crossings.h"
#include "watch.h"

#define PRESS_STEPS 20      /* of 0.01 m plate travel */
#define PRESS_PARTS 4       /* world steps for each */
#define PRESS_DHAT 1e-4

/* kN/m at plate travels 0.01 .. 0.20 m */
static const double press_travel[11] = {0.01, 0.02, 0.04, 0.06, 0.08, 0.10, 0.12, 0.14, 0.16, 0.18, 0.20};
static const double press_reference[2][11] = {
    {10.02, 24.02, 60.02, 107.8, 170.4, 252.7, 361.9, 510.3, 714.2, 1000.5, 1414.3},
    {3.20, 7.51, 18.45, 32.45, 49.93, 71.59, 98.63, 132.6, 175.6, 230.8, 302.6},
};
static const char *const press_name[2] = {"rubber", "compressible"};

typedef struct press {
    double d[PRESS_STEPS + 1], force[PRESS_STEPS + 1];   /* m, kN/m */
    int solves, steps, cut, inverted, reached, crossings;
    double shortfall;
} press;

static embipc_body press_box(embipc_world *w, const char *name, embipc_kind kind, double lx, double ly, double lz, double hx,
                             double hy, double hz, const embipc_body *walls, int wall_count)
{
    test_mesh m = test_mesh_box(lx, ly, lz, hx, hy, hz);
    embipc_body_def d = embipc_default_body_def();
    embipc_body b = {0, 0};
    d.name = name;
    d.kind = kind;
    test_mesh_shape(&m, &d);
    d.no_contact = walls;
    d.no_contact_count = wall_count;
    ENSURE(embipc_body_create(w, &d, &b) == EMBIPC_OK);
    test_mesh_free(&m);
    return b;
}

static embipc_material press_material(int which, int averaged)
{
    embipc_material m = embipc_default_body_def().material;
    m.model = which ? EMBIPC_NEO_HOOKEAN : EMBIPC_MOONEY_RIVLIN;
    m.mooney[0] = 0.293e6;
    m.mooney[1] = 0.177e6;
    m.mooney[2] = 1410e6;
    m.young = 1e6;
    m.poisson = 0.4;
    m.averaged = averaged;
    return m;
}

/* force of a plate on the cylinder along x, kN per metre of width, and the mean gap between them weighted by it */
static double press_force(const embipc_world *w, embipc_body cylinder, embipc_body plate, double width, double *gap)
{
    int count = embipc_world_contacts(w, NULL, 0), pairs = embipc_world_pair_forces(w, NULL, 0);
    embipc_contact *c = (embipc_contact *)calloc((size_t)count + 1, sizeof *c);
    embipc_pair_force *f = (embipc_pair_force *)calloc((size_t)pairs + 1, sizeof *f);
    double sum = 0, weight = 0;
    (void)embipc_world_contacts(w, c, count);
    (void)embipc_world_pair_forces(w, f, pairs);
    *gap = 0;
    for (int i = 0; i < count; i++)
        if (c[i].a.index1 + c[i].b.index1 == cylinder.index1 + plate.index1) {   /* 1 + 4, 1 + 5; the walls are 2, 3 */
            weight += c[i].force;
            *gap += c[i].force * c[i].distance;
        }
    if (weight > 0) *gap /= weight;
    for (int i = 0; i < pairs; i++)
        if (f[i].a.index1 == cylinder.index1 && f[i].b.index1 == plate.index1) sum = fabs(f[i].force[0]);
    free(c);
    free(f);
    return sum / width / 1000;
}

/* tets of the body that are inverted or flat */
static int press_inverted(const embipc_world *w, embipc_body body)
{
    embipc_body_view v;
    int count = 0;
    if (embipc_body_get_view(w, body, &v) != EMBIPC_OK) return 1;
    for (int t = 0; t < v.tet_count; t++) {
        double e[9];
        const int *n = v.tets + 4 * t;
        for (int k = 0; k < 9; k++) e[k] = v.q[3 * n[1 + k / 3] + k % 3] - v.q[3 * n[0] + k % 3];
        count += !(e[0] * (e[4] * e[8] - e[5] * e[7]) - e[1] * (e[3] * e[8] - e[5] * e[6]) + e[2] * (e[3] * e[7] - e[4] * e[6]) > 0);
    }
    return count;
}

/* pairs of bodies that are not tested: walls and plates lie in one another */
static const char press_skip[25] = {0, 0, 0, 0, 0,  0, 1, 1, 1, 1,  0, 1, 1, 1, 1,  0, 1, 1, 1, 1,  0, 1, 1, 1, 1};

/* of the cylinder with itself, plates and walls */
static int press_crossings(const embipc_world *w)
{
    validate_count n = {0, 0, 0};
    validate_world(w, press_skip, &n);
    return (int)n.crossings;
}

static int press_run(press *p, const test_mesh *mesh, int which, int averaged)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = embipc_default_body_def();
    embipc_drive_def dd = embipc_default_drive_def();
    embipc_drive drive[3];
    embipc_body cylinder, left, right, walls[2];
    embipc_world *w;
    const test_mesh m = *mesh;
    double width = 0, gap = 0.6 * PRESS_DHAT, wall = 0.3 * PRESS_DHAT;
    int axis[16], axis_count = 0;
    memset(p, 0, sizeof *p);
    if (!m.tet_count) return 0;
    for (int i = 0; i < m.vertex_count; i++) width = fmax(width, m.x[3 * i + 2]);
    memset(wd.gravity, 0, sizeof wd.gravity);
    wd.time_step = 0.1;
    wd.dhat = PRESS_DHAT;
    wd.kappa = which ? 1e8 : 1e9;
    wd.tolerance = 1e-5;
    ENSURE(embipc_world_create(&wd, &w, NULL) == EMBIPC_OK);
    d.name = "cylinder";
    d.kind = EMBIPC_FULL;
    test_mesh_shape(&m, &d);
    d.material = press_material(which, averaged);
    d.self_contact = 0;
    ENSURE(embipc_body_create(w, &d, &cylinder) == EMBIPC_OK);
    for (int i = 0; i < m.vertex_count && axis_count < 16; i++)
        if (fabs(m.x[3 * i]) + fabs(m.x[3 * i + 1]) < 1e-6) axis[axis_count++] = i;
    walls[0] = press_box(w, "lower wall", EMBIPC_FIXED, -1, -100, -0.1 - wall, 100, 1, -wall, NULL, 0);
    walls[1] = press_box(w, "upper wall", EMBIPC_FIXED, -1, -100, width + wall, 100, 1, width + 0.1 + wall, NULL, 0);
    left = press_box(w, "left plate", EMBIPC_KINEMATIC, -0.3, -1, -0.01, -0.2 - gap, 100, width + 0.01, walls, 2);
    right = press_box(w, "right plate", EMBIPC_KINEMATIC, 0.2 + gap, -1, -0.01, 0.3, 100, width + 0.01, walls, 2);
    dd.body = left;
    ENSURE(embipc_drive_create(w, &dd, &drive[0]) == EMBIPC_OK);
    dd.body = right;
    ENSURE(embipc_drive_create(w, &dd, &drive[1]) == EMBIPC_OK);
    dd.body = cylinder;
    dd.nodes = axis;
    dd.node_count = axis_count;
    ENSURE(axis_count > 0 && embipc_drive_create(w, &dd, &drive[2]) == EMBIPC_OK);
    for (int k = 1; k <= PRESS_STEPS * PRESS_PARTS; k++) {
        embipc_step_stats s;
        double to[3] = {0, 0, 0}, none[3] = {0, 0, 0}, gl, gr;
        for (int side = 0; side < 2; side++) {
            to[0] = (side ? -1 : 1) * (0.005 * k / PRESS_PARTS + gap);
            ENSURE(embipc_drive_set_target(w, drive[side], to, none) == EMBIPC_OK);
        }
        if (embipc_world_step(w, &s) != EMBIPC_OK) {
            printf("  %s\n", embipc_world_error(w)->text);
            break;
        }
        watch(w, &s);
        p->steps++;
        p->solves += s.newton_iterations;
        p->cut += !s.converged;
        p->shortfall = fmax(p->shortfall, s.drive_short);
        if (k % PRESS_PARTS) continue;
        p->reached = k / PRESS_PARTS;
        p->inverted += press_inverted(w, cylinder);
        p->crossings += press_crossings(w);
        p->force[p->reached] = (press_force(w, cylinder, left, width, &gl) + press_force(w, cylinder, right, width, &gr)) / 2;
        p->d[p->reached] = 0.01 * p->reached + gl + gr - s.drive_short;
    }
    embipc_world_destroy(w);
    return p->reached == PRESS_STEPS;
}

/* force at the travel d, between the points of the run */
static double press_at(const press *p, double d)
{
    for (int k = 1; k <= p->reached; k++)
        if (p->d[k] >= d || k == p->reached)
            return p->force[k - 1] + (d - p->d[k - 1]) / (p->d[k] - p->d[k - 1]) * (p->force[k] - p->force[k - 1]);
    return NAN;
}
#endif
