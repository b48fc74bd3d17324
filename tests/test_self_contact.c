/* Contact of a body with itself: nothing at rest, however fine the mesh or close the parts, and no way through. */
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "cage_test.h"

/* largest force on a vertex of the body, N */
static double most_force(const embipc_world *w, embipc_body body)
{
    embipc_body_view v;
    double most = 0, *f;
    if (embipc_body_get_view(w, body, &v) != EMBIPC_OK) return HUGE_VAL;
    f = (double *)calloc((size_t)(3 * v.vertex_count), sizeof *f);
    ENSURE(embipc_body_vertex_forces(w, body, f) == EMBIPC_OK);
    for (int i = 0; i < 3 * v.vertex_count; i++) most = fmax(most, fabs(f[i]));
    free(f);
    return most;
}
static double shortest_edge(const test_mesh *m)
{
    double least = HUGE_VAL;
    for (int i = 0; i < 3 * m->tri_count; i++) {
        double d[3];
        embi_sub(d, m->x + 3 * m->tri[i], m->x + 3 * m->tri[i % 3 == 2 ? i - 2 : i + 1]);
        least = fmin(least, embi_norm(d));
    }
    return least;
}
/* one body, free of gravity and at rest: it stays where it is, but for rounding, without a force on any vertex */
static void check_rest(test_mesh mesh, embipc_kind kind, double dhat, const char *name)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def(name, kind, 0, 0, 0);
    double edge = shortest_edge(&mesh), *start, *end;
    embipc_body_view v;
    int candidates = 0;
    scene s;
    wd.gravity[2] = 0;
    s = scene_empty(&wd);
    d.dhat = dhat;
    d.cage_nodes = 60;
    if (scene_add_mesh(&s, &d, &mesh, 0) < 0) return;
    embi_certificates_free(&s.w->memory, &s.w->s.body[0].search.certificates);   /* neighbours are to be looked at */
    start = scene_positions(s.w, s.body[0]);
    (void)embipc_body_get_view(s.w, s.body[0], &v);
    for (int n = 0; n < 3 && scene_step(&s); n++) {
        candidates += s.stats.candidates;
        ENSURE(s.stats.contacts == 0 && most_force(s.w, s.body[0]) == 0);
    }
    end = scene_positions(s.w, s.body[0]);
    for (int i = 0; i < 3 * v.vertex_count; i++) ENSURE(fabs(start[i] - end[i]) < 1e-12);
    printf("  %-22s kind %d: dhat %g m, shortest edge %.3g m, %d candidates looked at, no force\n", name, (int)kind, dhat, edge,
           candidates / 3);
    ENSURE(candidates > 0);
    free(start);
    free(end);
    scene_end(&s);
}
static void test_no_force_at_rest(void)
{
    for (int full = 0; full < 2; full++) {
        test_mesh ball = test_mesh_sphere(3 - full), comb = cage_comb();
        scene_stretch(&ball, 0.1, 0.1, 0.1);
        if (full) scene_fill(&ball);
        check_rest(ball, full ? EMBIPC_FULL : EMBIPC_CAGE, 0.05, "fine ball");
        if (!full) test_mesh_compact(&comb);
        check_rest(comb, full ? EMBIPC_FULL : EMBIPC_CAGE, 0.03, "comb, slots of 0.01 m");
    }
}

/* The teeth of a soft comb are pulled through each other: they touch, push, and stay apart. */
static void test_teeth_meet(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("comb", EMBIPC_CAGE, 0, 0, 0);
    test_mesh mesh = cage_comb();
    embipc_body_view v;
    double lo[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, hi[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, most = 0;
    int touched = 0;
    scene s;
    wd.gravity[2] = 0;
    s = scene_empty(&wd);
    d.cage_nodes = 100;
    d.material.young = 2e4;
    d.material.damping[1] = 0.01;
    test_mesh_compact(&mesh);
    if (scene_add_mesh(&s, &d, &mesh, 0) < 0) return;
    if (embipc_body_get_view(s.w, s.body[0], &v) != EMBIPC_OK) return;
    for (int i = 0; i < 3 * v.vertex_count; i++) {
        lo[i % 3] = fmin(lo[i % 3], v.x[i]);
        hi[i % 3] = fmax(hi[i % 3], v.x[i]);
    }
    for (int n = 0; n < 40; n++) {
        for (int i = 0; i < v.vertex_count; i++) {   /* the tips to the middle */
            double f[3] = {0, 0, 0};
            if (v.x[3 * i + 2] < hi[2] - 0.03 * (hi[2] - lo[2])) continue;
            f[0] = v.x[3 * i] < (lo[0] + hi[0]) / 2 ? 0.02 : -0.02;
            (void)ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[0], i, f));
        }
        if (!scene_step(&s)) break;
        touched += s.stats.contacts > 0;
        ENSURE(s.stats.min_distance > 0);
        if (n % 8 == 7) ENSURE(scene_sound(s.w));
        most = fmax(most, most_force(s.w, s.body[0]));
    }
    printf("  teeth pulled together: in contact in %d of 40 steps, at most %.3g N on a vertex\n", touched, most);
    ENSURE(touched > 10 && most > 0);
    scene_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(no_force_at_rest);
    RUN(teeth_meet);
    test_unused();
    return test_end("test_self_contact");
}
