/* Input that is refused, with the error that says why, where no other test does; and worlds that are damaged from inside, of
 * which embipc_world_validate() must find each kind of damage. */
#include "inside.h"
#include "test.h"
#include "scene_test.h"

/* A body that must be refused, with this result and text; the world stays as it was. */
static void refused(scene *s, const embipc_body_def *d, embipc_result r, const char *text)
{
    embipc_body b;
    unsigned long long bits = scene_bits(s->w);
    ENSURE(embipc_body_create(s->w, d, &b) == r && b.index1 == 0);
    ENSURE(strstr(embipc_world_error(s->w)->text, text));
    if (!strstr(embipc_world_error(s->w)->text, text)) printf("  said: %s\n", embipc_world_error(s->w)->text);
    ENSURE(scene_bits(s->w) == bits && embipc_world_body_count(s->w) == s->n);
}

static scene refused_scene(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    scene_ground(&s, 1, 0.5);
    return s;
}

static void test_descriptions(void)
{
    static const int tri[3] = {0, 1, 2};
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w;
    embipc_error e;
    scene s = refused_scene();
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    embipc_body_def good = scene_def("box", EMBIPC_AFFINE, 0, 0, 2), d;
    embipc_body none[2];
    test_mesh_shape(&m, &good);
    wd.integrator = (embipc_integrator)7;
    ENSURE(embipc_world_create(&wd, &w, &e) == EMBIPC_ERR_ARGUMENT && strstr(e.text, "integrator 7"));
    wd = embipc_default_world_def();
    wd.accuracy = (embipc_accuracy)3;
    ENSURE(embipc_world_create(&wd, &w, &e) == EMBIPC_ERR_ARGUMENT && strstr(e.text, "accuracy 3"));
    d = good;
    d.material.model = EMBIPC_ORTHOGONALITY;
    d.material.fibre[0] = 1;
    d.material.fibre_stiffness = 1e5;
    refused(&s, &d, EMBIPC_ERR_ARGUMENT, "takes no fibre");
    d = good;
    d.no_contact_count = -1;
    refused(&s, &d, EMBIPC_ERR_ARGUMENT, "no_contact_count is -1");
    d.no_contact_count = 2;
    refused(&s, &d, EMBIPC_ERR_ARGUMENT, "no_contact_count is 2, but no_contact is NULL");
    none[0] = s.body[0];
    none[1].index1 = 77;
    none[1].generation = 3;
    d.no_contact = none;
    refused(&s, &d, EMBIPC_ERR_HANDLE, "no body 77 (generation 3)");
    d = good;
    d.vertex_count = INT_MAX / 15;
    refused(&s, &d, EMBIPC_ERR_ARGUMENT, "too many");
    ENSURE(embipc_surface_check(m.x, 8, tri, EMBI_MAX_ELEMENTS + 1, 1, &e) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(e.text, "more than"));
    test_mesh_free(&m);
    scene_end(&s);
}

/* A snapshot of the world, loaded, has its bits, and so after steps. A byte of it that is not what it was is refused. */
static void refused_reload(scene *s)
{
    static unsigned char bytes[1 << 20];
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w = NULL;
    size_t n;
    embipc_error e;
    ENSURE_OK(s->w, embipc_world_save(s->w, bytes, sizeof bytes, &n));
    ENSURE(!embipc_world_load(bytes, n, &wd, &w, &e));
    if (!w) { printf("  load: %s\n", e.text); return; }
    for (int i = 0; i < 20; i++) {
        ENSURE(embipc_world_hash(w) == embipc_world_hash(s->w));
        ENSURE(!embipc_world_step(w, NULL) && !embipc_world_step(s->w, NULL));
    }
    embipc_world_destroy(w);
    bytes[n / 2] ^= 1;
    ENSURE(embipc_world_load(bytes, n, &wd, &w, &e) == EMBIPC_ERR_ARGUMENT && !w);
}

/* A ball, its description, and a cage for it, which the description takes. */
static test_mesh refused_ball(embipc_body_def *d, embipc_cage *cage)
{
    test_mesh m = test_mesh_sphere(1);
    embipc_cage_def cd = embipc_default_cage_def();
    *d = scene_def("ball", EMBIPC_CAGE, 0, 0, 2);
    scene_stretch(&m, 0.05, 0.05, 0.05);
    test_mesh_shape(&m, d);
    ENSURE(!embipc_cage_build(&cd, m.x, m.vertex_count, m.tri, m.tri_count, NULL, cage, NULL) && cage->cell_count > 1);
    d->cage = cage;
    return m;
}

/* The cells of a cage that are not what its tets are in, and that are no boxes. */
/* A list that is NULL beside a count is a pointer that was forgotten: it would hold the whole body. */
static void test_lists(void)
{
    static const int some[2] = {0, 1};
    scene s = refused_scene();
    int box = scene_box(&s, scene_def("box", EMBIPC_CAGE, 0, 0, 2), 0.1, 0.1, 0.1, 1);
    embipc_drive_def hard = embipc_default_drive_def(), soft = hard;
    embipc_joint_def joint = embipc_default_joint_def();
    embipc_drive drive;
    embipc_joint held;
    hard.body = soft.body = joint.b = s.body[box];
    hard.node_count = 3;
    ENSURE(embipc_drive_create(s.w, &hard, &drive) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(embipc_world_error(s.w)->text, "node_count is 3, but nodes is NULL"));
    hard.nodes = some;
    hard.node_count = 0;
    ENSURE(embipc_drive_create(s.w, &hard, &drive) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(embipc_world_error(s.w)->text, "node_count is 0, but nodes is not NULL"));
    hard.nodes = NULL;
    hard.key_count = 2;
    ENSURE(embipc_drive_create(s.w, &hard, &drive) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(embipc_world_error(s.w)->text, "key_count is 2, but keys is NULL"));
    soft.stiffness[0] = 10;
    soft.vertex_count = 2;
    ENSURE(embipc_drive_create(s.w, &soft, &drive) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(embipc_world_error(s.w)->text, "vertex_count is 2, but vertices is NULL"));
    soft.vertices = some;
    ENSURE(!embipc_drive_create(s.w, &soft, &drive));
    joint.kind = EMBIPC_ATTACH;
    joint.vertex_count = 2;
    ENSURE(embipc_joint_create(s.w, &joint, &held) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(embipc_world_error(s.w)->text, "vertex_count is 2, but vertices is NULL"));
    joint.vertices = some;
    ENSURE(!embipc_joint_create(s.w, &joint, &held));
    scene_end(&s);
}

static void test_cells(void)
{
    scene s = refused_scene();
    embipc_cage cage;
    embipc_body_def d;
    test_mesh m = refused_ball(&d, &cage);
    int corner;
    corner = cage.cells[3];
    cage.cells[3] = cage.node_count;
    refused(&s, &d, EMBIPC_ERR_INDEX, "corner 3 of cell 0");
    cage.cells[3] = cage.cells[2];
    refused(&s, &d, EMBIPC_ERR_ARGUMENT, "cell 0 of the cage is no box");
    cage.cells[3] = corner;
    corner = cage.tet_cell[0];
    cage.tet_cell[0] = cage.cell_count;
    refused(&s, &d, EMBIPC_ERR_INDEX, "of tet 0 is no corner of cell");
    cage.tet_cell[0] = corner ? 0 : cage.cell_count - 1;
    refused(&s, &d, EMBIPC_ERR_INDEX, "of tet 0 is no corner of cell");
    cage.tet_cell[0] = corner;
    ENSURE(!embipc_body_create(s.w, &d, &s.body[1]));
    embipc_cage_free(&cage);
    refused_reload(&s);
    test_mesh_free(&m);
    scene_end(&s);
}

/* Many tets as large as the whole cage: their list in the grid would have more entries than an int can count. */
static void test_too_many_in_a_grid(void)
{
    enum { TETS = 46200 };
    scene s = refused_scene();
    test_mesh m = test_mesh_sphere(1);
    embipc_body_def d = scene_def("ball", EMBIPC_CAGE, 0, 0, 2);
    double *x = (double *)calloc(12 * TETS, sizeof *x);
    int *tets = (int *)calloc(4 * TETS, sizeof *tets);
    ENSURE(x && tets);
    for (int i = 0; i < 4 * TETS; i++) {
        tets[i] = i;
        for (int c = 0; c < 3; c++) x[3 * i + c] = i % 4 == c + 1 ? 7 : -2;
    }
    test_mesh_shape(&m, &d);
    d.cage_x = x;
    d.cage_node_count = 4 * TETS;
    d.cage_tets = tets;
    d.cage_tet_count = TETS;
    refused(&s, &d, EMBIPC_ERR_MEMORY, "a size overflows");
    free(x);
    free(tets);
    test_mesh_free(&m);
    scene_end(&s);
}

/* Numbers of vertices and nodes that do not exist, where only the library would follow them. */
static void test_indices(void)
{
    static const int tri[3] = {0, 1, INT_MAX};
    scene s = refused_scene();
    embipc_cage cage;
    embipc_body_def d;
    test_mesh m = refused_ball(&d, &cage);
    embi_memory memory;
    int *list = NULL, node;
    ENSURE(embipc_surface_loops(tri, 1, NULL, NULL, 0) == -1);
    cage.cell_count = 0;
    node = cage.tets[5];
    cage.tets[5] = 1000000;
    refused(&s, &d, EMBIPC_ERR_INDEX, "node 1000000");
    cage.tets[5] = node;
    ENSURE(!embipc_body_create(s.w, &d, &s.body[1]));
    embipc_cage_free(&cage);
    embi_memory_init(&memory, NULL);   /* a sum that overflowed */
    ENSURE(!EMBI_GROW(&memory, list, -5) && memory.failed && !list);
    memory.failed = 0;
    ENSURE(EMBI_GROW(&memory, list, 5) && !EMBI_GROW(&memory, list, INT_MIN) && memory.failed && embi_capacity(list) >= 5);
    embi_free(&memory, list);
    test_mesh_free(&m);
    scene_end(&s);
}

/* With one number changed the world is refused, with this result and text; then the number is changed back. */
static void damaged(scene *s, embipc_real *number, embipc_real with, embipc_result r, const char *text)
{
    embipc_error e;
    embipc_real was = *number;
    ENSURE(embipc_world_validate(s->w, &e) == EMBIPC_OK);
    *number = with;
    ENSURE(embipc_world_validate(s->w, &e) == r && strstr(e.text, text));
    if (!strstr(e.text, text)) printf("  said: %s\n", e.text);
    *number = was;
}

static void test_damage(void)
{
    scene s = refused_scene();
    embi_state *st = &s.w->s;
    embi_body *b;
    embipc_body_def d = scene_def("ball", EMBIPC_CAGE, 0, 0, 0.2);
    int col, row, v;
    embipc_error e;
    d.material.determinant_bound = 1;
    scene_ball(&s, d, 0.05, 1, 2);
    for (int i = 0; i < 3; i++) ENSURE(!embipc_world_step(s.w, &s.stats));
    b = st->body + 1;
    v = b->vert0;
    embi_body_follow(st, b);
    damaged(&s, &st->x[3 * v + 1], (embipc_real)NAN, EMBIPC_ERR_NOT_FINITE, "vertex 0 is not finite");
    damaged(&s, &st->J.weight[4 * v], 2, EMBIPC_ERR_OUTSIDE, "the weights of vertex 0 sum to");
    damaged(&s, &st->x[3 * v], st->x[3 * v] + 1e-6, EMBIPC_ERR_OUTSIDE, "from J q");
    damaged(&s, &st->v[3 * b->node0], (embipc_real)INFINITY, EMBIPC_ERR_NOT_FINITE, "a node is not finite");
    damaged(&s, &b->mass.block[0], 2 * b->mass.block[0], EMBIPC_ERR_DEGENERATE, "its nodes weigh");
    for (row = 0; row < b->nn && b->A.row[row + 1] - b->A.row[row] < 2; row++) {}
    ENSURE(row < b->nn);
    col = b->A.col[b->A.row[row] + 1];
    b->A.col[b->A.row[row] + 1] = b->A.col[b->A.row[row]];
    ENSURE(embipc_world_validate(s.w, &e) == EMBIPC_ERR_INDEX && strstr(e.text, "of its matrix is not sorted"));
    b->A.col[b->A.row[row] + 1] = col;
    for (int i = 0; i < b->nn; i++) st->q[3 * (b->node0 + i)] *= -1;      /* a reflection: every tet is inverted */
    embi_apply_rows(st, b, st->q, st->x);
    ENSURE(embipc_world_validate(s.w, &e) == EMBIPC_ERR_DEGENERATE && strstr(e.text, "is inverted"));
    scene_end(&s);
}

/* The centre of an open surface, which has no volume, is the middle of its box. */
static void test_open_surface(void)
{
    static const double x[12] = {0, 0, 0, 2, 0, 0, 2, 4, 0, 0, 4, 0};
    static const int tri[6] = {0, 1, 2, 0, 2, 3};
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("sheet", EMBIPC_FIXED, 0, 0, 0.5);
    embipc_body b;
    embipc_body_state state;
    d.x = x;
    d.vertex_count = 4;
    d.triangles = tri;
    d.triangle_count = 2;
    ENSURE_OK(s.w, embipc_body_create(s.w, &d, &b));
    ENSURE(!embipc_body_get_state(s.w, b, &state));
    ENSURE_CLOSE(state.centre[0], 1, 1e-15);
    ENSURE_CLOSE(state.centre[1], 2, 1e-15);
    ENSURE_CLOSE(state.centre[2], 0.5, 1e-15);
    scene_end(&s);
}

/* A body that replaces another touches neither what its description names nor the old one. */
static void test_replaced_without_contact(void)
{
    scene s = refused_scene();
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.051);
    embipc_body with;
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    int at = scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    test_mesh_shape(&m, &d);
    d.no_contact_count = 1;
    ENSURE(embipc_body_replace(s.w, s.body[at], &d, &with) == EMBIPC_ERR_ARGUMENT);   /* no list */
    d.no_contact = &with;          /* no body, as the call before has failed */
    ENSURE(embipc_body_replace(s.w, s.body[at], &d, &with) == EMBIPC_ERR_HANDLE);
    d.no_contact = s.body;         /* the ground */
    ENSURE_OK(s.w, embipc_body_replace(s.w, s.body[at], &d, &with));
    for (int i = 0; i < 50; i++) ENSURE(!embipc_world_step(s.w, &s.stats));
    ENSURE(s.stats.contacts == 0 && s.stats.max_speed > 4);   /* it falls through */
    test_mesh_free(&m);
    scene_end(&s);
}

/* The gap that a pair takes for a force, from forces that leave almost all of dhat to such that leave none. */
static void test_gap_of_a_force(void)
{
    for (int k = -300; k <= 300; k += 5) {
        double dhat = 1e-3, kappa = 1e5, force = pow(10, k), gap = embipc_barrier_gap(force, kappa, dhat), first, second;
        ENSURE(gap >= 0 && gap <= dhat);
        (void)embipc_barrier(gap / dhat, 1, &first, &second);
        if (k > -8 && k < 200) ENSURE_CLOSE(-first * kappa * dhat, force, 1e-9 * force);
    }
    ENSURE_CLOSE(embipc_barrier_gap(0, 1e5, 1e-3), 1e-3, 0);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    test_unused();
    meshio_test_unused();
    RUN(descriptions);
    RUN(lists);
    RUN(cells);
    RUN(too_many_in_a_grid);
    RUN(indices);
    RUN(damage);
    RUN(open_surface);
    RUN(replaced_without_contact);
    RUN(gap_of_a_force);
    return test_end("test_refused");
}
