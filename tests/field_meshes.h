/* Meshes from the field: at map coordinates, parts that share a vertex, two-sided ones, shells within a solid, lengths that
 * no arithmetic holds. Included by test_field.c. */
#ifndef FIELD_MESHES_H
#define FIELD_MESHES_H
#include "field_tools.h"
#include "scene_test.h"

/* ---- far from the origin ---- */

static const double field_turned[9] = {0.8, -0.36, 0.48, 0.6, 0.48, -0.64, 0, 0.8, 0.6};

/* turned, and moved */
static void field_place_at(test_mesh *m, const double place[3])
{
    for (int i = 0; i < m->vertex_count; i++) {
        double p[3];
        embi_m3_mulv(p, field_turned, m->x + 3 * i);
        embi_add(m->x + 3 * i, p, place);
    }
}

/* A box of 0.1 m that falls onto a floor at `place`: its mass, where it is after ten steps of free fall, and after thirty
 * more, relative to that place. The description's coordinates are `away` from its origin. own_cage: one given for it, in
 * such coordinates too. */
typedef struct field_fall { double mass, fallen[3], landed[3]; } field_fall;

static field_fall field_drop(embipc_kind kind, int nodes, int own_cage, const double place[3], const double away[3])
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    test_mesh floor_box = test_mesh_box(-0.5, -0.5, -0.05, 0.5, 0.5, 0.05);
    test_mesh m = scene_mesh_tet_box(3, 3, 3, 0.1, 0.1, 0.1), cage = scene_mesh_tet_box(2, 2, 2, 0.1, 0.1, 0.1);
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, place[0], place[1], place[2] - 0.2);
    embipc_body_state state;
    field_fall fall = {0, {9, 9, 9}, {9, 9, 9}};
    double back[3];
    d.friction = 0.5;
    scene_add_mesh(&s, &d, &floor_box, 0);
    embi_m3_mulv(back, field_turned, away);
    d = scene_def("b", kind, place[0] - back[0], place[1] - back[1], place[2] - back[2]);
    memcpy(d.rotation, field_turned, sizeof d.rotation);
    d.friction = 0.5;
    d.material.young = 1e6;
    d.cage_nodes = nodes;
    field_place_at(&m, away);   /* and vertices on faces of the cage */
    field_place_at(&cage, away);
    if (kind != EMBIPC_FULL) {
        m.tet_count = 0;
        test_mesh_compact(&m);
    }
    if (own_cage) {
        d.cage_x = cage.x;
        d.cage_node_count = cage.vertex_count;
        d.cage_tets = cage.tets;
        d.cage_tet_count = cage.tet_count;
    }
    scene_add_mesh(&s, &d, &m, 0);
    test_mesh_free(&cage);
    for (int i = 0; i < 40 && s.n == 2 && scene_step(&s); i++) {
        ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[1], &state));
        fall.mass = state.mass;
        embi_sub(i < 10 ? fall.fallen : fall.landed, state.centre, place);
    }
    ENSURE(s.n == 2 && scene_sound(s.w));
    scene_end(&s);
    return fall;
}

/* A body of any kind, at any place up to 1e9 of its sizes from the origin, or described in coordinates as far away, does
 * what it does at the origin, to about the rounding of its coordinates there. Which corner it tips over is a matter of
 * the last bits: landed, only its height is compared. */
static void test_far_bodies(void)
{
    static const embipc_kind kind[5] = {EMBIPC_CAGE, EMBIPC_CAGE, EMBIPC_AFFINE, EMBIPC_FULL, EMBIPC_CAGE};
    static const int nodes[5] = {34, 300, 0, 0, 0};
    static const double far_away[5][3] = {{500000, 4500000, 0}, {1e6, 1e6, 1e6}, {1e7, 0, 0}, {1.3e8, -7e7, 3e7},
                                          {3e5, 2e5, -9.7e5}};
    static const double zero[3] = {0, 0, 0};
    for (int k = 0; k < 5; k += TEST_STRIDE) {
        field_fall home = field_drop(kind[k], nodes[k], k == 4, zero, zero);
        for (int i = 0; i < 5; i += TEST_STRIDE)
            for (int described = 0; described < 2; described++) {
                double rounding = 2e-16 * embi_norm(far_away[i]);
                field_fall fall = field_drop(kind[k], nodes[k], k == 4, described ? zero : far_away[i],
                                             described ? far_away[i] : zero);
                ENSURE_REL(fall.mass, home.mass, 1e-9 + 100 * rounding);
                for (int j = 0; j < 3; j++) ENSURE_CLOSE(fall.fallen[j], home.fallen[j], 1e-12 + 10 * rounding);
                ENSURE_CLOSE(fall.landed[2], home.landed[2], 0.005);
            }
    }
}

/* ---- parts that share a vertex ---- */

/* two cubes of 1 m, corner to corner: the high one of the first is the low one of the second */
static test_mesh field_two_cubes(void)
{
    test_mesh a = test_mesh_box(0, 0, 0, 1, 1, 1), b = test_mesh_box(1, 1, 1, 2, 2, 2), s = test_mesh_make(16, 24, 0);
    int shared = -1, twin = -1;
    memcpy(s.x, a.x, 24 * sizeof(double));
    memcpy(s.x + 24, b.x, 24 * sizeof(double));
    for (int i = 0; i < 16; i++)
        if (s.x[3 * i] == 1 && s.x[3 * i + 1] == 1 && s.x[3 * i + 2] == 1) *(i < 8 ? &shared : &twin) = i;
    for (int i = 0; i < 72; i++) {
        int v = i < 36 ? a.tri[i] : 8 + b.tri[i - 36];
        s.tri[i] = v == twin ? shared : v;
    }
    test_mesh_compact(&s);
    test_mesh_free(&a);
    test_mesh_free(&b);
    return s;
}

/* Two solids that share a vertex hang together in it, whatever their cage: each keeps its shape when they fall. */
static void test_parts_that_share_a_vertex(void)
{
    static const int nodes[4] = {34, 4, 12, 200};
    for (int k = 0; k < 4; k++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("b", EMBIPC_CAGE, 0, 0, 0.1);
        scene s = scene_empty(&wd);
        const char *path = test_data("field/06-parts-sharing-a-vertex/two_cubes_one_vertex.obj");
        test_mesh m = path && k == 0 ? test_mesh_read(path) : field_two_cubes();
        embipc_body_view v;
        int n = m.tri_count, *tri = (int *)malloc((size_t)(3 * n) * sizeof *tri);
        double *rest = (double *)malloc((size_t)(3 * m.vertex_count) * sizeof *rest);
        memcpy(tri, m.tri, (size_t)(3 * n) * sizeof *tri);
        memcpy(rest, m.x, (size_t)(3 * m.vertex_count) * sizeof *rest);
        scene_ground(&s, 1, 0.5);
        d.scale = 0.1;
        d.cage_nodes = nodes[k];
        d.friction = 0.5;
        d.material.young = k ? 1e8 : 1e6;
        scene_add_mesh(&s, &d, &m, 0);
        for (int i = 0; i < 100 && s.n == 2 && scene_step(&s); i++) {}
        if (s.n == 2 && ENSURE_OK(s.w, embipc_body_get_view(s.w, s.body[1], &v)))
            for (int i = 0; i < 3 * n; i++) {
                int a = tri[i], b = tri[i % 3 == 2 ? i - 2 : i + 1];
                double p[3], q[3];
                embi_sub(p, v.x + 3 * a, v.x + 3 * b);
                embi_sub(q, rest + 3 * a, rest + 3 * b);
                ENSURE_REL(embi_norm(p), 0.1 * embi_norm(q), k ? 0.02 : 0.1);   /* soft where they hang together */
            }
        ENSURE(scene_sound(s.w));
        free(tri);
        free(rest);
        scene_end(&s);
    }
}

/* ---- what check says and mends ---- */

/* a copy of the mesh behind itself: its triangles turned or not, on the same vertices or on others in their places */
static test_mesh field_twice(const test_mesh *s, int turned, int own_vertices)
{
    int nv = s->vertex_count, nt = s->tri_count;
    test_mesh r = test_mesh_make(own_vertices ? 2 * nv : nv, 2 * nt, 0);
    for (int i = 0; i < r.vertex_count; i++) memcpy(r.x + 3 * i, s->x + 3 * (i % nv), 3 * sizeof(double));
    memcpy(r.tri, s->tri, (size_t)(3 * nt) * sizeof(int));
    for (int i = 0; i < 3 * nt; i++)
        r.tri[3 * nt + i] = s->tri[turned ? i - i % 3 + 2 - i % 3 : i] + (own_vertices ? nv : 0);
    return r;
}

/* A closed surface with every triangle twice, once for each side or not, comes out closed and outward. */
static void test_two_sided_meshes(void)
{
    const char *path = test_data("field/11-double-sided/doublesided.obj");
    if (path) {
        ENSURE(field_check(path, 1) == 0 && check_says("dropped 12 elements on the same vertices as others\n"));
        ENSURE(check_says("volume 1 m^3") && check_says("can be simulated as a solid"));
    }
    for (int k = 0; k < 8; k++) {
        test_mesh s = k & 4 ? test_mesh_sphere(2) : test_mesh_box(0, 0, 0, 2, 1, 1);
        test_mesh twice = field_twice(&s, k & 1, k & 2);
        embipc_solid solid;
        tool_mesh m;
        ENSURE(embipc_mass_properties(s.x, s.vertex_count, s.tri, s.tri_count, &solid) == EMBIPC_OK);
        ENSURE(field_check(field_write(&twice), 1) == 0);
        m = field_mended();
        ENSURE(m.tri_count == s.tri_count && m.node_count == s.vertex_count);
        {
            embipc_solid mended;
            ENSURE(embipc_mass_properties(m.x, m.node_count, m.tri, m.tri_count, &mended) == EMBIPC_OK);
            ENSURE_REL(mended.volume, solid.volume, 1e-12);
        }
        mesh_free(&m);
        test_mesh_free(&s);
        test_mesh_free(&twice);
    }
}

/* A shell within a solid that faces outward: check tells it, and both volumes. Mending does not choose. */
static void test_shell_in_a_solid(void)
{
    const char *path = test_data("field/12-inner-shell-outward/b_nested_same.obj");
    test_mesh a = test_mesh_box(0, 0, 0, 4, 4, 4), b = test_mesh_box(1, 1, 1, 3, 3, 3), s = test_mesh_make(16, 24, 0);
    memcpy(s.x, a.x, 24 * sizeof(double));
    memcpy(s.x + 24, b.x, 24 * sizeof(double));
    memcpy(s.tri, a.tri, 36 * sizeof(int));
    for (int i = 0; i < 36; i++) s.tri[36 + i] = 8 + b.tri[i];
    if (path) {
        ENSURE(field_check(path, 0) == 0 && check_says("1 closed part in the solid of another, facing outward"));
        ENSURE(check_says("0.875 m^3") && check_says("1 m^3, remove it") && check_says("twice"));
    }
    ENSURE(field_check(field_write(&s), 1) == 0 && check_says("nothing to mend"));
    ENSURE(check_says("the part of triangle 12, 12 triangles, volume 8 m^3"));
    ENSURE(check_says("as a cavity: 56 m^3 in all, turn its triangles; as one solid: 64 m^3, remove it"));
    for (int t = 12; t < 24; t++) {   /* a cavity: nothing to tell */
        int swap = s.tri[3 * t];
        s.tri[3 * t] = s.tri[3 * t + 1];
        s.tri[3 * t + 1] = swap;
    }
    ENSURE(field_check(field_write(&s), 0) == 0 && !strstr(check_said, "twice"));
    test_mesh_free(&a);
    test_mesh_free(&b);
    test_mesh_free(&s);
}

/* Of meshes of any size and place in the range of doubles every number that check prints is one. */
static void test_lengths_without_arithmetic(void)
{
    static const double size[13] = {1, 1e155, 1e103, 1e62, 1e39, 1e29, 1e-29, 1e-39, 1e-62, 1e-155, 1e-310, 5e-324, 1.7e308};
    static const double offset[6] = {0, 1e9, 1e15, 1e17, 1e155, 1e300};
    for (int i = 0; i < 13; i++)
        for (int j = 0; j < (size[i] > 1e9 ? 1 : 6); j++) {
            test_mesh s = test_mesh_box(0, 0, 0, 1, 1, 1);
            int code;
            for (int k = 0; k < 24; k++) s.x[k] = size[i] * s.x[k] + (k % 3 ? 0 : offset[j] * fmin(size[i], 1));
            code = field_check(field_write(&s), 0);
            ENSURE(code == !(size[i] < 1e30 && size[i] > 1e-30 && j < 2));
            ENSURE(!strstr(check_said, "nan") && !strstr(check_said, "inf"));
            ENSURE(code == 0 || check_says("cannot be simulated"));
            if (size[i] > 1e40 || size[i] < 1e-40) ENSURE(check_says("1e+40 m") && check_says("1e-40 m"));
            code = field_check(field_write(&s), 1);
            ENSURE(!strstr(check_said, "nan") && !strstr(check_said, "inf"));
            test_mesh_free(&s);
        }
}
#endif
