/* Small worlds for tests, made by code, and what whole-world tests ask of them: bits, exact crossings, rigidity.
 * Include after embipc.h and test.h. */
#ifndef SCENE_TEST_H
#define SCENE_TEST_H
#include "exact.h"
#include "meshio_test.h"

#define SCENE_BODIES 24
typedef struct scene {
    embipc_world *w;
    embipc_body body[SCENE_BODIES];
    embipc_drive drive[SCENE_BODIES];
    int n, drives, joints;
    embipc_step_stats stats;
    int far_at;              /* 1 + number of the body before which a far body is added; 0: none */
    embipc_kind far_kind;
    embipc_body far;
} scene;

/* a call that must succeed; says what the library said */
static int scene_ok(embipc_result r, const embipc_world *w, const char *file, int line)
{
    if (r == EMBIPC_OK) return 1;
    test_fail(file, line);
    if (test_bad <= 8) printf("%s: %s\n", embipc_result_text(r), w ? embipc_world_error(w)->text : "");
    return 0;
}
#define ENSURE_OK(world, call) scene_ok(call, world, __FILE__, __LINE__)

static embipc_world *scene_world(const embipc_world_def *def)
{
    embipc_error e;
    embipc_world *w;
    if (embipc_world_create(def, &w, &e) != EMBIPC_OK) printf("world: %s\n", e.text);
    return w;
}

/* ---- shapes ---- */

/* boundary triangles of the tets of s */
static void scene_boundary(test_mesh *s)
{
    free(s->tri);
    s->tri_count = embipc_tets_boundary(s->tets, s->tet_count, NULL, 0);
    s->tri = (int *)calloc((size_t)(3 * s->tri_count + 3), sizeof(int));
    (void)embipc_tets_boundary(s->tets, s->tet_count, s->tri, s->tri_count);
}
static void scene_stretch(test_mesh *s, double sx, double sy, double sz)
{
    for (int i = 0; i < s->vertex_count; i++) {
        s->x[3 * i] *= sx;
        s->x[3 * i + 1] *= sy;
        s->x[3 * i + 2] *= sz;
    }
}
/* box of the given extents about the origin, nx*ny*nz cells of tets */
static test_mesh scene_mesh_tet_box(int nx, int ny, int nz, double sx, double sy, double sz)
{
    test_mesh s = test_mesh_tet_grid(nx, ny, nz);
    for (int i = 0; i < s.vertex_count; i++) {
        s.x[3 * i] = (s.x[3 * i] / nx - 0.5) * sx;
        s.x[3 * i + 1] = (s.x[3 * i + 1] / ny - 0.5) * sy;
        s.x[3 * i + 2] = (s.x[3 * i + 2] / nz - 0.5) * sz;
    }
    scene_boundary(&s);
    return s;
}
/* a closed star-shaped surface and one node at the origin: a tet per triangle */
static void scene_fill(test_mesh *s)
{
    test_mesh r = test_mesh_make(s->vertex_count + 1, s->tri_count, s->tri_count);
    memcpy(r.x, s->x, (size_t)(3 * s->vertex_count) * sizeof(double));
    memcpy(r.tri, s->tri, (size_t)(3 * s->tri_count) * sizeof(int));
    for (int t = 0; t < s->tri_count; t++) {
        r.tets[4 * t] = s->vertex_count;
        memcpy(r.tets + 4 * t + 1, s->tri + 3 * t, 3 * sizeof(int));
    }
    test_mesh_free(s);
    *s = r;
}
/* a regular pyramid whose tip, at the origin, points down; base at z = height */
static test_mesh scene_mesh_spike(double radius, double height)
{
    static const int f[18] = {0, 2, 1, 0, 3, 2, 0, 4, 3, 0, 1, 4, 1, 2, 3, 1, 3, 4};
    test_mesh s = test_mesh_make(5, 6, 0);
    memcpy(s.tri, f, sizeof f);
    for (int k = 0; k < 4; k++) {
        s.x[3 * (k + 1)] = radius * cos(1.5707963267948966 * k + 0.3);
        s.x[3 * (k + 1) + 1] = radius * sin(1.5707963267948966 * k + 0.3);
        s.x[3 * (k + 1) + 2] = height;
    }
    return s;
}

/* ---- bodies ---- */

static embipc_body_def scene_def(const char *name, embipc_kind kind, double x, double y, double z)
{
    embipc_body_def d = embipc_default_body_def();
    d.name = name;
    d.kind = kind;
    d.position[0] = x;
    d.position[1] = y;
    d.position[2] = z;
    return d;
}
/* a body 50 m away that has nothing to do with the others: small dhat, and whatever its kind, it moves if it can */
static void scene_add_far(scene *s)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0.2, 0, 0, 0, 0, 1};
    test_mesh m = s->far_kind == EMBIPC_FULL ? scene_mesh_tet_box(1, 1, 1, 0.1, 0.1, 0.1) : test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    embipc_body_def d = scene_def("far", s->far_kind, 50, 40, 30);
    s->far_at = 0;
    test_mesh_shape(&m, &d);
    d.dhat = 1e-6;
    d.velocity[1] = 3;
    d.friction = 0.7;
    (void)ENSURE_OK(s->w, embipc_body_create(s->w, &d, &s->far));
    if (s->far_kind == EMBIPC_KINEMATIC) {
        embipc_drive_def drive = embipc_default_drive_def();
        embipc_drive handle;
        drive.body = s->far;
        drive.keys = keys;
        drive.key_count = 2;
        drive.centre[0] = 50;
        (void)ENSURE_OK(s->w, embipc_drive_create(s->w, &drive, &handle));
    }
    test_mesh_free(&m);
}
/* adds the mesh (surface and tets) as the kind of body that d says; a cage body without a cage of its own gets a grid of
 * `cells` cells a side around it. Frees the mesh. Returns its number, or -1. */
static int scene_add_mesh(scene *s, embipc_body_def *d, test_mesh *mesh, int cells)
{
    test_mesh cage = test_mesh_make(0, 0, 0);
    embipc_result r;
    ENSURE(s->n < SCENE_BODIES);
    if (s->n >= SCENE_BODIES) { test_mesh_free(mesh); return -1; }
    if (s->far_at == s->n + 1) scene_add_far(s);
    test_mesh_shape(mesh, d);
    if (d->kind == EMBIPC_CAGE && cells > 0) {
        double lo[3] = {1e300, 1e300, 1e300}, hi[3] = {-1e300, -1e300, -1e300};
        for (int i = 0; i < 3 * mesh->vertex_count; i++) {
            lo[i % 3] = fmin(lo[i % 3], mesh->x[i]);
            hi[i % 3] = fmax(hi[i % 3], mesh->x[i]);
        }
        test_mesh_free(&cage);
        cage = scene_mesh_tet_box(cells, cells, cells, 1.02 * (hi[0] - lo[0]), 1.02 * (hi[1] - lo[1]), 1.02 * (hi[2] - lo[2]));
        for (int i = 0; i < 3 * cage.vertex_count; i++) cage.x[i] += (lo[i % 3] + hi[i % 3]) / 2;
        d->cage_x = cage.x;
        d->cage_node_count = cage.vertex_count;
        d->cage_tets = cage.tets;
        d->cage_tet_count = cage.tet_count;
    }
    r = embipc_body_create(s->w, d, &s->body[s->n]);
    test_mesh_free(&cage);
    test_mesh_free(mesh);
    return ENSURE_OK(s->w, r) ? s->n++ : -1;
}
/* cells: of the tets of a full box, of the cage of a cage box */
static int scene_box(scene *s, embipc_body_def d, double sx, double sy, double sz, int cells)
{
    test_mesh m = d.kind == EMBIPC_FULL ? scene_mesh_tet_box(cells, cells, cells, sx, sy, sz)
                                        : test_mesh_box(-sx / 2, -sy / 2, -sz / 2, sx / 2, sy / 2, sz / 2);
    return scene_add_mesh(s, &d, &m, cells);
}
/* a fixed slab, its top at z = 0 */
static void scene_ground(scene *s, double size, double friction)
{
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
    d.friction = friction;
    scene_box(s, d, size, size, 0.1, 1);
}
static int scene_ball(scene *s, embipc_body_def d, double radius, int level, int cells)
{
    test_mesh m = test_mesh_sphere(level);
    scene_stretch(&m, radius, radius, radius);
    if (d.kind == EMBIPC_FULL) scene_fill(&m);
    return scene_add_mesh(s, &d, &m, cells);
}
/* drives the whole body (nodes NULL) along rows of 7; centre: where its position is */
static int scene_drive(scene *s, int body, const double *keys, int key_count, const double centre[3], const int *nodes, int node_count)
{
    embipc_drive_def d = embipc_default_drive_def();
    d.body = s->body[body];
    d.keys = keys;
    d.key_count = key_count;
    d.nodes = nodes;
    d.node_count = node_count;
    for (int k = 0; k < 3 && centre; k++) d.centre[k] = centre[k];
    return ENSURE_OK(s->w, embipc_drive_create(s->w, &d, &s->drive[s->drives])) ? s->drives++ : -1;
}

/* ---- the standard scenes ---- */

enum { SCENE_DROP, SCENE_STACK, SCENE_GRASP, SCENE_THROW, SCENE_BEAM, SCENE_TWIST, SCENE_LINKED, SCENE_COUNT };
static const char *const scene_names[SCENE_COUNT] = {"drop", "stack", "grasp", "throw", "beam", "twist", "linked"};

static embipc_world_def scene_world_def(int which)
{
    embipc_world_def d = embipc_default_world_def();
    d.time_step = which == SCENE_THROW ? 0.02 : 0.01;
    if (which == SCENE_THROW) d.gravity[2] = 0;
    if (which != SCENE_STACK) {   /* the stack lives on derived parameters */
        d.dhat = 1e-3;
        d.kappa = 1e4;
        d.friction_velocity = 1e-3;
    }
    return d;
}
static void scene_drop(scene *s)
{
    embipc_body_def d;
    scene_ground(s, 1, 0.5);
    d = scene_def("full ball", EMBIPC_FULL, 0, 0, 0.055);
    d.friction = 0.5;
    d.velocity[0] = 0.3;
    scene_ball(s, d, 0.05, 1, 0);
    d = scene_def("cage box", EMBIPC_CAGE, 0.02, 0.01, 0.15);
    d.friction = 0.5;
    d.angular_velocity[1] = 5;
    scene_box(s, d, 0.08, 0.06, 0.05, 1);
    d = scene_def("affine box", EMBIPC_AFFINE, -0.02, 0, 0.22);
    d.friction = 0.8;
    d.angular_velocity[0] = 3;
    d.material.young = 1e7;
    scene_box(s, d, 0.06, 0.06, 0.06, 1);
}
static void scene_stack(scene *s)
{
    static const char *const name[4] = {"a", "b", "c", "d"};
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
    d.friction = 0.4;
    scene_box(s, d, 1, 1, 0.1, 1);
    for (int k = 0; k < 4; k++) {
        d = scene_def(name[k], k % 2 ? EMBIPC_CAGE : EMBIPC_AFFINE, 0.003 * k, -0.002 * k, 0.0255 + 0.0505 * k);
        d.friction = 0.4;
        if (k == 2) d.material.model = EMBIPC_ORTHOGONALITY;
        if (k == 3) d.material.damping[0] = 0.1, d.material.damping[1] = 0.001;
        scene_box(s, d, 0.05, 0.05, 0.05, 1);
    }
}
/* two plates close on a soft ball, lift it and turn about the vertical */
static void scene_grasp(scene *s)
{
    static const double left[28] = {0, 0, 0, 0, 0, 0, 0, 0.1, 0.008, 0, 0, 0, 0, 0, 0.2, 0.008, 0, 0.02, 0, 0, 0, 0.4, 0.008, 0, 0.02, 0, 0, 0.6};
    static const double right[28] = {0, 0, 0, 0, 0, 0, 0, 0.1, -0.008, 0, 0, 0, 0, 0, 0.2, -0.008, 0, 0.02, 0, 0, 0, 0.4, -0.008, 0, 0.02, 0, 0, 0.6};
    static const double centre[3] = {0, 0, 0.03};
    embipc_body_def d;
    scene_ground(s, 0.4, 1);
    d = scene_def("ball", EMBIPC_CAGE, 0, 0, 0.0305);
    d.friction = 1;
    d.material.young = 5e4;
    scene_ball(s, d, 0.03, 1, 1);
    d = scene_def("left", EMBIPC_KINEMATIC, -0.0365, 0, 0.03);
    d.friction = 1;
    scene_box(s, d, 0.01, 0.05, 0.05, 1);
    d.name = "right";
    d.position[0] = 0.0365;
    scene_box(s, d, 0.01, 0.05, 0.05, 1);
    scene_drive(s, 2, left, 4, centre, NULL, 0);
    scene_drive(s, 3, right, 4, centre, NULL, 0);
}
/* a full, a cage and an affine body at 100 m/s against one thin plate, free of gravity */
static void scene_throw(scene *s)
{
    static const embipc_kind kind[3] = {EMBIPC_FULL, EMBIPC_CAGE, EMBIPC_AFFINE};
    static const char *const name[3] = {"full", "cage", "affine"};
    embipc_body_def d = scene_def("plate", EMBIPC_FIXED, 0, 0, 0);
    scene_box(s, d, 0.4, 1, 0.001, 1);
    for (int k = 0; k < 3; k++) {
        d = scene_def(name[k], kind[k], 0, 0.25 * (k - 1), 0.5);
        d.velocity[2] = -100;
        d.friction = 0.2;
        scene_ball(s, d, 0.04, 1, 1);
    }
}
/* a full beam held by its end nodes, which move and turn; a box rides on it */
static void scene_beam(scene *s)
{
    static const double keys[21] = {0, 0, 0, 0, 0, 0, 0, 0.2, 0, 0, 0.01, 0.2, 0, 0, 0.4, 0, 0.01, 0.01, 0.2, 0, 0};
    static const double centre[3] = {-0.1, 0, 0};
    int nodes[64], n = 0;
    embipc_body_view v;
    test_mesh m = scene_mesh_tet_box(8, 2, 2, 0.2, 0.05, 0.02);
    embipc_body_def d = scene_def("beam", EMBIPC_FULL, 0, 0, 0);
    d.friction = 0.5;
    d.material.young = 1e6;
    scene_add_mesh(s, &d, &m, 0);
    if (s->n != 1 || embipc_body_get_view(s->w, s->body[0], &v) != EMBIPC_OK) return;
    for (int i = 0; i < v.node_count; i++)
        if (v.q[3 * i] < -0.099) nodes[n++] = i;
    scene_drive(s, 0, keys, 3, centre, nodes, n);
    d = scene_def("rider", EMBIPC_AFFINE, -0.03, 0.003, 0.0215);
    d.friction = 0.5;
    scene_box(s, d, 0.03, 0.03, 0.02, 1);
}
/* a driven paddle turns a soft box against a fixed post */
static void scene_twist(scene *s)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 3};
    static const double centre[3] = {0, 0, 0.03};
    embipc_body_def d;
    scene_ground(s, 0.6, 0.3);
    d = scene_def("post", EMBIPC_FIXED, 0.06, 0.075, 0.035);
    d.friction = 0.3;
    scene_box(s, d, 0.02, 0.02, 0.06, 1);
    d = scene_def("paddle", EMBIPC_KINEMATIC, 0.06, 0, 0.03);
    d.friction = 0.3;
    scene_box(s, d, 0.1, 0.01, 0.04, 1);
    d = scene_def("soft", EMBIPC_CAGE, 0.07, 0.025, 0.0165);
    d.friction = 0.3;
    d.material.young = 3e4;
    scene_box(s, d, 0.03, 0.03, 0.03, 1);
    scene_drive(s, 2, keys, 2, centre, NULL, 0);
}
/* a joint between two bodies of the scene (a < 0: the world) at a point, along an axis (NULL: z) */
static embipc_joint_def scene_joint_def(const scene *s, embipc_joint_kind kind, int a, int b, double x, double y, double z,
                                        const double *axis)
{
    embipc_joint_def d = embipc_default_joint_def();
    d.kind = kind;
    if (a >= 0) d.a = s->body[a];
    d.b = s->body[b];
    d.point[0] = d.point_b[0] = x;
    d.point[1] = d.point_b[1] = y;
    d.point[2] = d.point_b[2] = z;
    for (int k = 0; k < 3 && axis; k++) d.axis[k] = axis[k];
    return d;
}
static embipc_joint scene_joint(scene *s, embipc_joint_def d)
{
    embipc_joint joint = {0, 0};
    if (ENSURE_OK(s->w, embipc_joint_create(s->w, &d, &joint))) s->joints++;
    return joint;
}
/* an arm of two links that a motor lifts; a soft ball on a rope at its end; a soft beam that is attached to the second
 * link, and slides over the ground; a sledge on rails that has friction */
static void scene_linked(scene *s)
{
    static const double y[3] = {0, 1, 0}, x[3] = {1, 0, 0};
    embipc_body_def d = scene_def("link", EMBIPC_AFFINE, 0.1, 0, 0.15);
    embipc_joint_def j;
    scene_ground(s, 1, 0.4);
    d.material.young = 1e8;
    scene_box(s, d, 0.19, 0.04, 0.04, 1);
    d.position[0] = 0.3;
    scene_box(s, d, 0.19, 0.04, 0.04, 1);
    d = scene_def("ball", EMBIPC_CAGE, 0.4, 0, 0.06);
    d.friction = 0.4;
    d.material.young = 1e5;
    scene_ball(s, d, 0.04, 2, 2);
    d = scene_def("beam", EMBIPC_FULL, 0.25, 0.0, 0.181);
    d.material.young = 1e5;
    scene_box(s, d, 0.08, 0.04, 0.02, 2);
    d = scene_def("sledge", EMBIPC_AFFINE, -0.2, 0, 0.1);
    d.material.young = 1e8;
    d.velocity[0] = -0.4;
    scene_box(s, d, 0.06, 0.06, 0.06, 1);
    j = scene_joint_def(s, EMBIPC_HINGE, -1, 1, 0, 0, 0.15, y);
    j.motor_stiffness = 10;
    j.motor_damping = 0.1;
    j.target[0] = -0.2;
    (void)scene_joint(s, j);
    j = scene_joint_def(s, EMBIPC_HINGE, 1, 2, 0.2, 0, 0.15, y);
    j.limited = 1;
    j.limits[0] = -0.2;   /* beyond 0.3 they would cross */
    j.limits[1] = 0.2;
    j.friction = 0.01;
    (void)scene_joint(s, j);
    j = scene_joint_def(s, EMBIPC_ROD, 2, 3, 0.4, 0, 0.15, NULL);
    j.point_b[2] = 0.06;
    j.limited = 1;
    j.limits[0] = 0;
    j.limits[1] = 0.1;
    (void)scene_joint(s, j);
    j = scene_joint_def(s, EMBIPC_ATTACH, 2, 4, 0, 0, 0, NULL);
    (void)scene_joint(s, j);
    j = scene_joint_def(s, EMBIPC_SLIDER, 0, 5, -0.2, 0, 0.1, x);
    j.friction = 0.5;
    (void)scene_joint(s, j);
}

static void scene_fill_world(scene *s, int which)
{
    switch (which) {
    case SCENE_DROP: scene_drop(s); break;
    case SCENE_STACK: scene_stack(s); break;
    case SCENE_GRASP: scene_grasp(s); break;
    case SCENE_THROW: scene_throw(s); break;
    case SCENE_BEAM: scene_beam(s); break;
    case SCENE_TWIST: scene_twist(s); break;
    default: scene_linked(s); break;
    }
}
/* a standard scene in a world by def (NULL: its own) */
static scene scene_make(int which, const embipc_world_def *def)
{
    scene s;
    embipc_world_def own = scene_world_def(which);
    memset(&s, 0, sizeof s);
    s.w = scene_world(def ? def : &own);
    if (s.w) scene_fill_world(&s, which);
    return s;
}
/* the same with a far body before body number `at` (from 0), or at the end */
static scene scene_make_with_far(int which, int at, embipc_kind kind)
{
    scene s;
    embipc_world_def own = scene_world_def(which);
    memset(&s, 0, sizeof s);
    s.w = scene_world(&own);
    s.far_at = at + 1;
    s.far_kind = kind;
    if (s.w) scene_fill_world(&s, which);
    if (s.far_at) scene_add_far(&s);
    return s;
}
static scene scene_empty(const embipc_world_def *def)
{
    scene s;
    memset(&s, 0, sizeof s);
    s.w = scene_world(def);
    return s;
}
/* eight balls in two layers that fall onto each other, one of them full, one on a soft drive: an island of many bodies that
 * touch at few points */
static void scene_heap(scene *s)
{
    static const int vertex[2] = {0, 7};
    scene_ground(s, 1, 0.5);
    for (int k = 0; k < 8; k++) {
        embipc_body_def d = scene_def("ball", k == 5 ? EMBIPC_FULL : EMBIPC_CAGE, 0.1005 * (k & 1) + 0.02 * (k >> 2),
                                      0.1005 * (k >> 1 & 1) + 0.01 * (k >> 2), 0.0505 + 0.099 * (k >> 2));
        d.friction = 0.5;
        d.material.young = 2e5;
        d.velocity[2] = -0.5;
        scene_ball(s, d, 0.05, k == 5 ? 1 : 2, 2);
    }
    {
        embipc_drive_def d = embipc_default_drive_def();
        d.body = s->body[3];
        d.vertices = vertex;
        d.vertex_count = 2;
        d.stiffness[0] = d.stiffness[2] = 50;
        d.force_limit = 1;
        if (ENSURE_OK(s->w, embipc_drive_create(s->w, &d, &s->drive[s->drives]))) s->drives++;
    }
}
static void scene_end(scene *s)
{
    embipc_world_destroy(s->w);
    s->w = NULL;
}
static int scene_step(scene *s)
{
    return ENSURE_OK(s->w, embipc_world_step(s->w, &s->stats));
}
#ifdef EMBIPC_IMPLEMENTATION   /* it looks inside */
/* bodies without a past: the next step begins where they are, not where they would go */
static void scene_forget(scene *s)
{
    for (int k = 0; k < s->w->s.body_count; k++) s->w->s.body[k].past.smooth = 0;
}
#endif

/* ---- what is asked of a world ---- */

static unsigned long long scene_mix(unsigned long long h, const void *p, size_t size)
{
    const unsigned char *c = (const unsigned char *)p;
    for (size_t i = 0; i < size; i++) h = (h ^ c[i]) * 1099511628211ull;
    return h;
}
/* of surface, nodes, velocities and contact forces of one body */
static unsigned long long scene_body_bits(const embipc_world *w, embipc_body body)
{
    unsigned long long h = 1469598103934665603ull;
    embipc_body_view v;
    double *f;
    if (embipc_body_get_view(w, body, &v) != EMBIPC_OK) return 0;
    h = scene_mix(h, v.x, (size_t)(3 * v.vertex_count) * sizeof(double));
    if (v.node_count) {
        h = scene_mix(h, v.q, (size_t)(3 * v.node_count) * sizeof(double));
        h = scene_mix(h, v.v, (size_t)(3 * v.node_count) * sizeof(double));
    }
    f = (double *)malloc((size_t)(3 * v.vertex_count) * sizeof(double));
    (void)embipc_body_vertex_forces(w, body, f);
    h = scene_mix(h, f, (size_t)(3 * v.vertex_count) * sizeof(double));
    free(f);
    return h;
}
static unsigned long long scene_bits(const embipc_world *w)
{
    unsigned long long h = 7;
    double t = embipc_world_time(w);
    for (int i = 0; i < embipc_world_body_count(w); i++) {
        unsigned long long b = scene_body_bits(w, embipc_world_body(w, i));
        h = scene_mix(h, &b, sizeof b);
    }
    return scene_mix(h, &t, sizeof t);
}
static int scene_finite(const embipc_world *w)
{
    for (int i = 0; i < embipc_world_body_count(w); i++) {
        embipc_body_view v;
        if (embipc_body_get_view(w, embipc_world_body(w, i), &v) != EMBIPC_OK) return 0;
        for (int k = 0; k < 3 * v.vertex_count; k++)
            if (!(fabs(v.x[k]) < 1e30)) return 0;
        for (int k = 0; k < 3 * v.node_count; k++)
            if (!(fabs(v.q[k]) < 1e30) || !(fabs(v.v[k]) < 1e30)) return 0;
    }
    return 1;
}

/* Six times the volume of (a, b, c, d) with a sign that is sure, or 0 when a float filter cannot tell. */
static int scene_filter(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3], t, size = 1;
    double m[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
        w[k] = d[k] - a[k];
        m[0] += fabs(u[k]);
        m[1] += fabs(v[k]);
        m[2] += fabs(w[k]);
    }
    size = m[0] * m[1] * m[2];
    t = w[0] * (u[1] * v[2] - u[2] * v[1]) + w[1] * (u[2] * v[0] - u[0] * v[2]) + w[2] * (u[0] * v[1] - u[1] * v[0]);
    return t > 1e-14 * size ? 1 : t < -1e-14 * size ? -1 : 0;
}
/* do edge and triangle share a point? rational arithmetic where rounding could matter */
static int scene_meet(const double x[15])
{
    const double *p = x, *q = x + 3, *a = x + 6, *b = x + 9, *c = x + 12;
    int sp, sq, s0, s1, s2;
    for (int k = 0; k < 3; k++) {
        double lo = fmin(p[k], q[k]), hi = fmax(p[k], q[k]);
        if (hi < fmin(a[k], fmin(b[k], c[k])) || lo > fmax(a[k], fmax(b[k], c[k]))) return 0;
    }
    sp = scene_filter(a, b, c, p);
    sq = scene_filter(a, b, c, q);
    if (sp && sp == sq) return 0;
    s0 = scene_filter(p, q, a, b);
    s1 = scene_filter(p, q, b, c);
    s2 = scene_filter(p, q, c, a);
    if ((s0 > 0 && s1 < 0) || (s1 > 0 && s2 < 0) || (s2 > 0 && s0 < 0) || (s0 < 0 && s1 > 0) || (s1 < 0 && s2 > 0) || (s2 < 0 && s0 > 0)) return 0;
    return exact_segment_triangle_meet(x);
}
/* edges of body a against triangles of body b; pairs with a shared vertex are left out when they are one body */
static int scene_crossings_of(const embipc_body_view *a, const embipc_body_view *b, int same)
{
    int n = 0;
    double box[6] = {1e300, 1e300, 1e300, -1e300, -1e300, -1e300};
    for (int i = 0; i < 3 * b->vertex_count; i++) {
        box[i % 3] = fmin(box[i % 3], b->x[i]);
        box[3 + i % 3] = fmax(box[3 + i % 3], b->x[i]);
    }
    for (int e = 0; e < 3 * a->triangle_count; e++) {
        int i = a->triangles[e], j = a->triangles[3 * (e / 3) + (e + 1) % 3], out = 0;
        double x[15];
        memcpy(x, a->x + 3 * i, 3 * sizeof(double));
        memcpy(x + 3, a->x + 3 * j, 3 * sizeof(double));
        for (int k = 0; k < 3; k++) out |= fmax(x[k], x[3 + k]) < box[k] || fmin(x[k], x[3 + k]) > box[3 + k];
        for (int t = 0; t < b->triangle_count && !out; t++) {
            const int *v = b->triangles + 3 * t;
            if (same && (v[0] == i || v[1] == i || v[2] == i || v[0] == j || v[1] == j || v[2] == j)) continue;
            for (int k = 0; k < 3; k++) memcpy(x + 6 + 3 * k, b->x + 3 * v[k], 3 * sizeof(double));
            n += scene_meet(x);
        }
    }
    return n;
}
/* Crossings of all bodies, but fixed against fixed and affine, fixed or kinematic bodies with themselves. */
static int scene_crossings(const embipc_world *w)
{
    int n = 0, count = embipc_world_body_count(w);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            embipc_body_view a, b;
            (void)embipc_body_get_view(w, embipc_world_body(w, i), &a);
            (void)embipc_body_get_view(w, embipc_world_body(w, j), &b);
            if (i == j && a.kind < EMBIPC_CAGE) continue;
            if (a.kind == EMBIPC_FIXED && b.kind == EMBIPC_FIXED) continue;
            n += scene_crossings_of(&a, &b, i == j);
        }
    return n;
}
#ifndef EMBIPC_NO_SNAPSHOT
/* a new world from a snapshot of this one, with the same hash */
static embipc_world *scene_reload(const embipc_world *w)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *other = NULL;
    size_t bytes = 0;
    void *block;
    (void)embipc_world_save(w, NULL, 0, &bytes);
    block = malloc(bytes);
    ENSURE(block && embipc_world_save(w, block, bytes, &bytes) == EMBIPC_OK);
    ENSURE(embipc_world_load(block, bytes, &wd, &other, NULL) == EMBIPC_OK && embipc_world_hash(w) == embipc_world_hash(other));
    free(block);
    return other;
}
#endif
/* finite, no crossing for the library nor for exact.h */
static int scene_sound(embipc_world *w)
{
    embipc_error e;
    return scene_finite(w) && embipc_world_intersections(w, NULL, 0) == 0 && scene_crossings(w) == 0 &&
           embipc_world_validate(w, &e) == EMBIPC_OK;
}
/* largest relative change of a distance between vertices since creation, of a body made of the mesh positions x0 */
static double scene_bend(const embipc_world *w, embipc_body body, const double *x0)
{
    embipc_body_view v;
    double worst = 0, size = 0;
    if (embipc_body_get_view(w, body, &v) != EMBIPC_OK) return 1;
    for (int i = 0; i < v.vertex_count; i++)
        for (int j = 0; j < i; j++) {
            double a = 0, b = 0;
            for (int k = 0; k < 3; k++) {
                a += (v.x[3 * i + k] - v.x[3 * j + k]) * (v.x[3 * i + k] - v.x[3 * j + k]);
                b += (x0[3 * i + k] - x0[3 * j + k]) * (x0[3 * i + k] - x0[3 * j + k]);
            }
            worst = fmax(worst, fabs(sqrt(a) - sqrt(b)));
            size = fmax(size, sqrt(b));
        }
    return worst / size;
}
/* smallest distance of two surfaces, every pair of primitives looked at */
static double scene_gap(const embipc_world *w, embipc_body one, embipc_body two)
{
    embipc_body_view a, b;
    double least = 1e300, x[12];
    if (embipc_body_get_view(w, one, &a) != EMBIPC_OK || embipc_body_get_view(w, two, &b) != EMBIPC_OK) return 0;
    for (int side = 0; side < 2; side++) {
        const embipc_body_view *p = side ? &b : &a, *t = side ? &a : &b;
        for (int i = 0; i < p->vertex_count; i++)
            for (int k = 0; k < t->triangle_count; k++) {
                memcpy(x, p->x + 3 * i, 3 * sizeof *x);
                for (int j = 0; j < 3; j++) memcpy(x + 3 + 3 * j, t->x + 3 * t->triangles[3 * k + j], 3 * sizeof *x);
                least = fmin(least, embipc_point_triangle_distance(x, NULL));
            }
    }
    for (int i = 0; i < 3 * a.triangle_count; i++)
        for (int k = 0; k < 3 * b.triangle_count; k++) {
            int v[4] = {a.triangles[i], a.triangles[3 * (i / 3) + (i + 1) % 3], b.triangles[k], b.triangles[3 * (k / 3) + (k + 1) % 3]};
            if (v[0] > v[1] || v[2] > v[3]) continue;
            for (int j = 0; j < 4; j++) memcpy(x + 3 * j, (j < 2 ? a.x : b.x) + 3 * v[j], 3 * sizeof *x);
            least = fmin(least, embipc_edge_edge_distance(x, NULL));
        }
    return least;
}
static double *scene_positions(const embipc_world *w, embipc_body body)
{
    embipc_body_view v;
    double *x;
    if (embipc_body_get_view(w, body, &v) != EMBIPC_OK) return NULL;
    x = (double *)malloc((size_t)(3 * v.vertex_count) * sizeof(double));
    memcpy(x, v.x, (size_t)(3 * v.vertex_count) * sizeof(double));
    return x;
}
/* smallest and largest coordinate along an axis */
static void scene_extent(const embipc_world *w, embipc_body body, int axis, double *lo, double *hi)
{
    embipc_body_view v;
    *lo = 1e300;
    *hi = -1e300;
    if (embipc_body_get_view(w, body, &v) != EMBIPC_OK) return;
    for (int i = 0; i < v.vertex_count; i++) {
        *lo = fmin(*lo, v.x[3 * i + axis]);
        *hi = fmax(*hi, v.x[3 * i + axis]);
    }
}
static embipc_body_state scene_state(const embipc_world *w, embipc_body body)
{
    embipc_body_state s;
    (void)embipc_body_get_state(w, body, &s);
    return s;
}
/* nothing pulls, and steps are solved to 1e-9 */
static embipc_world_def scene_still(embipc_integrator rule, double h)
{
    embipc_world_def wd = embipc_default_world_def();
    wd.gravity[0] = wd.gravity[1] = wd.gravity[2] = 0;
    wd.integrator = rule;
    wd.time_step = h;
    wd.tolerance = 1e-9;
    return wd;
}

/* share of its angular momentum that a box loses in 0.32 s of a free spin w, rad/s; keep: as of keep_spin */
static double scene_spin_loss(embipc_integrator rule, embipc_kind kind, embipc_model model, double h, const double w[3], int keep)
{
    embipc_world_def wd = scene_still(rule, h);
    embipc_body_def d = scene_def("box", kind, 0, 0, 0);
    embipc_body_state a, b;
    double change = 0, whole = 0;
    scene s;
    wd.keep_spin = keep;
    s = scene_empty(&wd);
    memcpy(d.angular_velocity, w, sizeof d.angular_velocity);
    d.material.young = 1e6;
    d.material.model = model;
    scene_box(&s, d, 0.1, 0.2, 0.3, 1);
    a = scene_state(s.w, s.body[0]);
    for (int n = 0; n < (int)(0.32 / h + 0.5) && scene_step(&s); n++) continue;
    b = scene_state(s.w, s.body[0]);
    scene_end(&s);
    for (int k = 0; k < 3; k++) {
        change += pow(b.angular_momentum[k] - a.angular_momentum[k], 2);
        whole += pow(a.angular_momentum[k], 2);
    }
    return sqrt(change / whole);
}
#endif
