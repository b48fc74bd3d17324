/* The scenes of tests that take a world back, copy it or save it: the standard ones with both rules of time, and others that
 * use what those don't. Include after cage_test.h and undo_test.h. */
#ifndef UNDO_SCENES_H
#define UNDO_SCENES_H

static void loop_backwards(int count, int grain, embipc_range_fn *fn, void *arg, void *ctx)
{
    (void)ctx;
    for (int b = (count - 1) / grain; b >= 0; b--) fn(arg, b * grain, (b + 1) * grain < count ? (b + 1) * grain : count);
}

/* ---- scenes ---- */

enum {
    UNDO_BDF2 = SCENE_COUNT, UNDO_HEAP = 2 * SCENE_COUNT, UNDO_FINE, UNDO_CURL, UNDO_NONLINEAR, UNDO_RESTING, UNDO_COMB,
    UNDO_TILES, UNDO_THREADS, UNDO_COUNT = UNDO_THREADS + 4
};

/* two bodies with fine surfaces, whose trees are refit where searches come to */
static void fine(scene *s)
{
    scene_ground(s, 1, 0.5);
    for (int k = 0; k < 2; k++) {
        embipc_body_def d = scene_def("fine", EMBIPC_CAGE, 0.01 * k, 0, 0.06 + 0.11 * k);
        d.friction = 0.4;
        d.velocity[0] = 1 - k;
        d.velocity[2] = -1;
        d.angular_velocity[0] = 4;
        d.material.young = 3e4;
        d.cage_nodes = 40;
        scene_ball(s, d, 0.05, 3, 0);
    }
}
/* a strip bent into a C that is crushed, and touches itself */
static void curl(scene *s)
{
    embipc_body_def d;
    test_mesh m = scene_mesh_tet_box(12, 3, 1, 0.3, 0.06, 0.008);
    scene_ground(s, 1, 0.5);
    for (int i = 0; i < m.vertex_count; i++) {
        double a = m.x[3 * i] / 0.3 * 5.2, r = 0.05 - m.x[3 * i + 2];
        m.x[3 * i] = r * cos(a);
        m.x[3 * i + 2] = r * sin(a);
    }
    d = scene_def("strip", EMBIPC_FULL, 0, 0, 0.06);
    d.material.young = 2e4;
    d.friction = 0.3;
    scene_add_mesh(s, &d, &m, 0);
    d = scene_def("load", EMBIPC_AFFINE, 0, 0, 0.16);
    d.material.young = 1e7;
    d.velocity[2] = -2;
    scene_box(s, d, 0.08, 0.08, 0.08, 1);
}
static void nonlinear(scene *s)
{
    scene_ground(s, 1, 0.5);
    for (int k = 0; k < 4; k++) {
        embipc_body_def d = scene_def("rubber", k % 2 ? EMBIPC_FULL : EMBIPC_CAGE, 0.02 * k, 0, 0.06 + 0.11 * k);
        d.material.model = (embipc_model)(EMBIPC_ARAP + k);
        d.material.mooney[0] = d.material.mooney[1] = 1e4;
        d.material.mooney[2] = 1e5;
        d.friction = 0.4;
        d.velocity[2] = -1;
        scene_ball(s, d, 0.05, 2, 2);
    }
}
/* bodies whose factor of an earlier step is still in use */
static void resting(scene *s)
{
    scene_ground(s, 1, 0.5);
    for (int k = 0; k < 2; k++) {
        embipc_body_def d = scene_def("soft", EMBIPC_CAGE, 0.2 * k, 0, 0.0402);
        d.friction = 0.5;
        scene_box(s, d, 0.08, 0.08, 0.08, 3);
    }
}
/* a soft comb that tumbles to the ground: it is searched for itself, and its list serves for several steps */
static void comb(scene *s)
{
    embipc_body_def d = scene_def("comb", EMBIPC_CAGE, 0, 0, 0.25);
    test_mesh m = cage_comb();
    scene_ground(s, 1, 0.5);
    test_mesh_compact(&m);
    d.material.young = 3e3;
    d.velocity[2] = -2;
    d.angular_velocity[1] = 8;
    d.friction = 0.3;
    d.cage_nodes = 150;
    scene_add_mesh(s, &d, &m, 0);
}
/* one of 4 x 3 fixed boxes that are flush, laid like bricks */
static void tile(scene *s, int i, int j)
{
    embipc_body_def d = scene_def("tile", EMBIPC_FIXED, 0.12 * i - 0.12 + 0.05 * (j % 2), 0.12 * j - 0.12, -0.025);
    d.friction = 0.4;
    scene_box(s, d, 0.12, 0.12, 0.05, 1);
}
/* a box that slides over tiles, a soft ball and a block that fall on them */
static void tiles(scene *s)
{
    for (int k = 0; k < 15; k++) {   /* bodies that move have places among those that don't */
        embipc_body_def d = scene_def("rider", k == 1 ? EMBIPC_AFFINE : k == 6 ? EMBIPC_CAGE : EMBIPC_FULL, 0.1 * (k == 14), 0, 0.0405);
        int n = k - (k > 1) - (k > 6);
        d.friction = 0.4;
        d.material.young = k == 1 ? 1e8 : 3e4;
        d.velocity[k > 1 ? 2 : 0] = k > 1 ? -1 : 2;
        if (k > 1) d.position[2] = k == 6 ? 0.14 : 0.1;
        if (k == 1 || k == 14) scene_box(s, d, 0.08, 0.08, k == 1 ? 0.08 : 0.04, 2);
        else if (k == 6) scene_ball(s, d, 0.05, 2, 2);
        else tile(s, n % 4, n / 4);
    }
}
/* Tiles come and go: the one below the box, and another one on the edge of the floor. */
static void tiles_change(scene *s, int step)
{
    if (step == 6) (void)ENSURE_OK(s->w, embipc_body_destroy(s->w, s->body[0]));
    if (step == 9) tile(s, 4, 1);
}
static scene undo_scene(int which, undo_rig *rig)
{
    static const int threads[4] = {SCENE_DROP, UNDO_HEAP, UNDO_FINE, UNDO_TILES};
    int shared = which >= UNDO_THREADS, k = shared ? threads[which - UNDO_THREADS] : which, standard = k % SCENE_COUNT;
    embipc_world_def wd = k < UNDO_HEAP ? scene_world_def(standard) : embipc_default_world_def();
    scene s;
    undo_rig_init(rig);
    wd.allocator = undo_allocator(rig);
    wd.clock = undo_clock;
    wd.clock_ctx = rig;
    if (k >= UNDO_BDF2 && k < UNDO_HEAP) wd.integrator = EMBIPC_BDF2;
    if (k == UNDO_NONLINEAR) wd.friction_iterations = 2;
    if (shared) wd.parallel_for = loop_backwards;
    s = scene_empty(&wd);
    if (k < UNDO_HEAP) scene_fill_world(&s, standard);
    else if (k == UNDO_HEAP) scene_heap(&s);
    else if (k == UNDO_FINE) fine(&s);
    else if (k == UNDO_CURL) curl(&s);
    else if (k == UNDO_NONLINEAR) nonlinear(&s);
    else if (k == UNDO_COMB) comb(&s);
    else if (k == UNDO_TILES) tiles(&s);
    else resting(&s);
    rig->w = s.w;
    return s;
}

/* Fewer steps where they take long. Under sanitizers still fewer, as almost all allocations are made in the first
 * ones. */
static int steps_of(int which, int most)
{
    int fine = which == UNDO_FINE || which == UNDO_THREADS + 2;
    int slow = fine || which == UNDO_HEAP || which == UNDO_CURL || which == UNDO_NONLINEAR || which == UNDO_THREADS + 1;
    if (TEST_STRIDE > 1 && slow) return 5;
    return which == UNDO_COMB ? 6 : fine ? 12 : most;
}
#endif
