/* Level of detail: a body becomes one of another kind in the middle of its motion, touching others. Momentum stays, nothing
 * crosses, and what is refused leaves no trace. */
#ifndef GAME_LOD_H
#define GAME_LOD_H

/* a box of 0.1 m with its tets; m: the mesh, to free */
static embipc_body_def lod_def(embipc_kind kind, test_mesh *m)
{
    embipc_body_def d = scene_def("lod", kind, 0, 0, 0);
    *m = scene_mesh_tet_box(1, 1, 1, 0.1, 0.1, 0.1);
    test_mesh_shape(m, &d);
    d.friction = 0.4;
    d.material.young = kind == EMBIPC_AFFINE ? 1e7 : 1e5;
    d.cage_nodes = 12;
    return d;
}
static embipc_result lod_make(scene *s, embipc_kind kind, double x, double z, const double v[3], const double w[3])
{
    test_mesh m;
    embipc_body_def d = lod_def(kind, &m);
    embipc_result r;
    d.position[0] = x;
    d.position[2] = z;
    embi_copy(d.velocity, v);
    embi_copy(d.angular_velocity, w);
    r = embipc_body_create(s->w, &d, &s->body[s->n++]);
    test_mesh_free(&m);
    return r;
}
static embipc_result lod_replace(scene *s, int k, embipc_kind kind, double scale)
{
    test_mesh m;
    embipc_body_def d = lod_def(kind, &m);
    embipc_body with;
    embipc_result r;
    d.scale = scale;
    r = embipc_body_replace(s->w, s->body[k], &d, &with);
    ENSURE((r == EMBIPC_OK) == (with.index1 != 0));
    if (r == EMBIPC_OK) s->body[k] = with;
    test_mesh_free(&m);
    return r;
}
/* linear momentum, and angular momentum about a point */
static void lod_momentum(const scene *s, int k, const double point[3], double p[6])
{
    embipc_body_state t = scene_state(s->w, s->body[k]);
    double l[3], r[3];
    embi_sub(r, t.centre, point);
    embi_cross(l, r, t.momentum);
    embi_copy(p, t.momentum);
    embi_add(p + 3, l, t.angular_momentum);
}
/* Change of both by a replacement that moved the body along `way`, relative to `before`. The point of angular momentum
 * moves with it. The distance is 0 or one of those that the library tries: the one that fits. */
static double lod_change(const scene *s, int k, const double way[3], const double before[6])
{
    double best = INFINITY;
    embipc_body_parameters p;
    ENSURE(!embipc_body_get_parameters(s->w, s->body[k], &p));
    for (int n = 0; n < 8; n++) {
        double after[6], point[3], most = 0;
        embi_scale(point, n ? p.diagonal / (8192 >> n) : 0, way);
        lod_momentum(s, k, point, after);
        for (int c = 0; c < 6; c++)
            most = fmax(most, fabs(after[c] - before[c]) / (embi_norm(before + c / 3 * 3) + 1e-3));
        best = fmin(best, most);
    }
    return best;
}

static void test_kinds_change_in_contact(void)
{
    static const double fast[3] = {0.8, 0.3, -0.5}, slow[3] = {0.2, 0, 0}, spin[3] = {1, 2, 3};
    static const embipc_kind next[5] = {EMBIPC_CAGE, EMBIPC_FULL, EMBIPC_AFFINE, EMBIPC_FULL, EMBIPC_CAGE};
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    int changed = 0, touching = 0, refused = 0;
    double most = 0;
    scene_ground(&s, 4, 0.5);
    (void)ENSURE_OK(s.w, lod_make(&s, EMBIPC_AFFINE, 0, 0.12, fast, spin));
    (void)ENSURE_OK(s.w, lod_make(&s, EMBIPC_FULL, 0.25, 0.0503, slow, slow));
    for (int n = 0; n < 120; n++) {
        int k = 1 + n / 8 % 2;
        if (n % 8 == 7) {
            double before[6], way[3];
            embipc_contact_event event[8];
            embipc_result r;
            touching += embipc_world_contact_events(s.w, event, 8) > 0;
            lod_momentum(&s, k, embi_none, before);
            embi_contact_direction(s.w, s.body[k], way);
            r = lod_replace(&s, k, next[n / 16 % 5], 1);
            ENSURE(r == EMBIPC_OK || r == EMBIPC_ERR_INTERSECTION);
            most = fmax(most, lod_change(&s, k, way, before));
            ENSURE(embipc_world_intersections(s.w, NULL, 0) == 0 && embipc_world_body_count(s.w) == 3);
            changed += r == EMBIPC_OK;
            refused += r != EMBIPC_OK;
        }
        ENSURE(scene_step(&s) && embipc_world_intersections(s.w, NULL, 0) == 0 && scene_finite(s.w));
    }
    printf("  %d changes, %d refused, momentum by %.1e at most\n", changed, refused, most);
    ENSURE(most < 1e-9 && changed > 8 && touching > 8);
    for (int k = 1; k < 3; k++) ENSURE(scene_state(s.w, s.body[k]).centre[2] > 0.03 && scene_state(s.w, s.body[k]).centre[2] < 0.2);
    scene_end(&s);
}

/* A soft ball that rolls is pressed flat by its weight. The stiff one in its place is rounder, so it is moved up by 8 mm:
 * as by embipc_body_set_pose(), it keeps its spin. */
static void test_what_gives_way_keeps_its_spin(void)
{
    static const double speed[3] = {1, 0, 0}, spin[3] = {0, 1 / 0.3, 0};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("ball", EMBIPC_CAGE, 0, 0, 0.35);
    embipc_body_state before, after;
    test_mesh m = test_mesh_sphere(2);
    scene s;
    wd.time_step = 1 / 60.0;
    s = scene_empty(&wd);
    scene_ground(&s, 4, 0.5);
    d.material.young = 2e6; d.friction = 0.5;
    d.scale = 0.3;   /* of a sphere of 1 m */
    embi_copy(d.velocity, speed);
    embi_copy(d.angular_velocity, spin);
    test_mesh_shape(&m, &d);
    (void)ENSURE_OK(s.w, embipc_body_create(s.w, &d, &s.body[s.n++]));
    for (int n = 0; n < 60; n++) ENSURE(scene_step(&s));
    before = scene_state(s.w, s.body[1]);
    d.kind = EMBIPC_AFFINE; d.material.young = 1e9;
    (void)ENSURE_OK(s.w, embipc_body_replace(s.w, s.body[1], &d, &s.body[1]));
    test_mesh_free(&m);
    after = scene_state(s.w, s.body[1]);
    printf("  moved up by %.1f mm, angular momentum %.4f, then %.4f\n", 1e3 * (after.centre[2] - before.centre[2]),
           before.angular_momentum[1], after.angular_momentum[1]);
    ENSURE(after.centre[2] - before.centre[2] > 0.004 && before.angular_momentum[1] > 5);
    for (int i = 0; i < 3; i++)
        ENSURE_CLOSE(after.angular_momentum[i], before.angular_momentum[i], 1e-4 * before.angular_momentum[1]);
    ENSURE(scene_sound(s.w));
    scene_end(&s);
}

/* A body that is larger has no room between the ground and a weight. Rules, user pointer and running surfaces go over. */
static void test_kinds_that_cannot_change(void)
{
    static const double none[3] = {0, 0, 0}, belt[3] = {0.5, 0, 0};
    undo_rig rig;
    embipc_world_def wd = embipc_default_world_def();
    scene s, twin;
    embipc_body_def d = scene_def("weight", EMBIPC_AFFINE, 0, 0, 0.16);
    embipc_pair_parameters p;
    embipc_joint rope;
    unsigned long long bits;
    int failed = 0;
    undo_rig_init(&rig);
    wd.allocator = undo_allocator(&rig);
    s = scene_empty(&wd);
    scene_ground(&s, 2, 0.5);
    (void)ENSURE_OK(s.w, lod_make(&s, EMBIPC_FULL, 0, 0.0503, none, none));
    d.material.young = 1e8;
    d.material.density = 1e4;
    scene_box(&s, d, 0.12, 0.12, 0.1, 1);
    (void)ENSURE_OK(s.w, lod_make(&s, EMBIPC_AFFINE, 0.5, 0.0503, none, none));
    for (int n = 0; n < 60; n++) ENSURE(scene_step(&s));
    bits = undo_bits(&s);
    twin = s;
    (void)ENSURE_OK(s.w, embipc_world_copy(s.w, &twin.w));
    ENSURE(lod_replace(&s, 1, EMBIPC_AFFINE, 1.2) == EMBIPC_ERR_INTERSECTION && undo_bits(&s) == bits);
    ENSURE(lod_replace(&s, 0, EMBIPC_AFFINE, 1) == EMBIPC_ERR_ARGUMENT && lod_replace(&s, 1, EMBIPC_FIXED, 1) == EMBIPC_ERR_ARGUMENT);
    for (int left = 0; left < 400; left += 1 + left / 16) {
        rig.left = left;
        if (lod_replace(&s, 3, EMBIPC_FULL, 1) != EMBIPC_ERR_MEMORY) break;
        ENSURE(undo_bits(&s) == bits);
        failed++;
    }
    ENSURE(failed > 5);
    rig.left = -1;
    embipc_world_destroy(s.w);
    s.w = twin.w;                          /* the copy from before */
    s.body[3] = embipc_world_body(s.w, 3);
    ENSURE(undo_bits(&s) == bits);
    (void)ENSURE_OK(s.w, embipc_world_copy(s.w, &twin.w));
    ENSURE(lod_replace(&s, 1, EMBIPC_AFFINE, 1.2) == EMBIPC_ERR_INTERSECTION);
    for (int n = 0; n < 3; n++) ENSURE(scene_step(&s) && scene_step(&twin));
    ENSURE(undo_bits(&s) == undo_bits(&twin));
    (void)ENSURE_OK(s.w, embipc_body_set_user(s.w, s.body[3], &rig));
    (void)ENSURE_OK(s.w, embipc_body_set_surface_velocity(s.w, s.body[3], belt));
    (void)ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[3], s.body[0], 0.125, 1));
    (void)ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[3], s.body[2], -1, 0));
    (void)ENSURE_OK(s.w, lod_replace(&s, 3, EMBIPC_CAGE, 1));
    ENSURE(embipc_body_get_user(s.w, s.body[3]) == &rig);
    (void)ENSURE_OK(s.w, embipc_world_get_pair(s.w, s.body[3], s.body[0], &p));
    ENSURE(p.friction == 0.125 && p.contact == 1);
    (void)ENSURE_OK(s.w, embipc_world_get_pair(s.w, s.body[3], s.body[2], &p));
    ENSURE(p.contact == 0 && s.w->rule_count == 2);
    ENSURE(memcmp(embi_body_of(s.w, s.body[3])->rules.surface_velocity, belt, sizeof belt) == 0);
    rope = scene_joint(&s, scene_joint_def(&s, EMBIPC_BALL, -1, 3, 0.5, 0, 0.3, NULL));
    ENSURE(rope.index1 && lod_replace(&s, 3, EMBIPC_AFFINE, 1) == EMBIPC_ERR_ARGUMENT && strstr(embipc_world_error(s.w)->text, "joint"));
    for (int n = 0; n < 20; n++) ENSURE(scene_step(&s) && embipc_world_intersections(s.w, NULL, 0) == 0);
    embipc_world_destroy(twin.w);
    scene_end(&s);
    ENSURE(rig.bytes == 0);
}

static void game_lod(void)
{
    RUN(kinds_change_in_contact);
    RUN(what_gives_way_keeps_its_spin);
    RUN(kinds_that_cannot_change);
}
#endif
