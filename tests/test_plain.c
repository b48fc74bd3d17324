/* The fast search against the plain one: whatever comes within reach on the way that islands are about to go is among
 * their candidates, in every iteration. And each step ends at the same place by the plain method. */
#include "small.h"
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "cage_test.h"
#include "plain_test.h"

/* a top and two sticks that spin fast, fall, and hit the ground and each other */
static void fill_spin(scene *s)
{
    scene_ground(s, 2, 0.4);
    for (int k = 0; k < 3; k++) {
        embipc_body_def d = scene_def("stick", k == 1 ? EMBIPC_CAGE : k ? EMBIPC_FULL : EMBIPC_AFFINE, 0.03 * k, 0.02 * k, 0.15 + 0.07 * k);
        d.angular_velocity[k] = 60;
        d.angular_velocity[2] = 40;
        d.velocity[2] = -2;
        d.friction = 0.3;
        d.material.young = 1e6;
        scene_box(s, d, 0.2, 0.03, 0.02, 2);
    }
}

/* an affine and a cage box slide far over each other and a slab, through many ranges of candidates */
static void fill_slide(scene *s)
{
    scene_ground(s, 3, 0.05);
    for (int k = 0; k < 2; k++) {
        embipc_body_def d = scene_def(k ? "upper" : "lower", k ? EMBIPC_CAGE : EMBIPC_AFFINE, -0.2 * k, 0.01 * k, 0.0255 + 0.0505 * k);
        d.velocity[0] = k ? 4 : 2;
        d.friction = 0.05;
        scene_box(s, d, k ? 0.05 : 0.4, 0.06, 0.05, 3);
    }
}

/* two balls that meet at 40 m/s */
static void fill_meet(scene *s)
{
    for (int k = 0; k < 2; k++) {
        embipc_body_def d = scene_def("ball", k ? EMBIPC_FULL : EMBIPC_CAGE, 0.2 * k, 0.02 * k, 0);
        d.velocity[0] = k ? -20 : 20;
        scene_ball(s, d, 0.05, 2, 2);
    }
}

/* a soft comb that spins, and whose teeth are pulled through each other */
static void fill_comb(scene *s)
{
    embipc_body_def d = scene_def("comb", EMBIPC_CAGE, 0, 0, 0);
    test_mesh mesh = cage_comb();
    d.cage_nodes = 40;   /* few tets: what cannot fold is left out */
    d.material.young = 2e4;
    d.material.damping[1] = 0.01;
    d.angular_velocity[1] = 5;
    d.velocity[0] = 3;
    test_mesh_compact(&mesh);
    if (scene_add_mesh(s, &d, &mesh, 0) >= 0) ENSURE(s->w->s.body[0].search.certificates.count > 0);
}

/* the tips of its teeth to the middle */
static void pull_teeth(scene *s)
{
    embipc_body_view v;
    double lo[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, hi[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    if (embipc_body_get_view(s->w, s->body[0], &v) != EMBIPC_OK) return;
    for (int i = 0; i < 3 * v.vertex_count; i++) {
        lo[i % 3] = fmin(lo[i % 3], v.x[i]);
        hi[i % 3] = fmax(hi[i % 3], v.x[i]);
    }
    for (int i = 0; i < v.vertex_count; i++) {
        double f[3] = {0, 0, 0};
        if (v.x[3 * i + 2] < hi[2] - 0.03 * (hi[2] - lo[2])) continue;
        f[0] = v.x[3 * i] < (lo[0] + hi[0]) / 2 ? 0.04 : -0.04;
        (void)ENSURE_OK(s->w, embipc_body_apply_force(s->w, s->body[0], i, f));
    }
}

typedef struct world_kind {
    const char *name;
    void (*fill)(scene *s);
    int steps;
    double h, gravity;
} world_kind;

static const world_kind kinds[] = {
    {"drop", scene_drop, 40, 0.01, -9.81}, {"stack", scene_stack, 12, 0.01, -9.81}, {"grasp", scene_grasp, 40, 0.01, -9.81},
    {"throw", scene_throw, 12, 0.02, 0}, {"beam", scene_beam, 25, 0.01, -9.81}, {"twist", scene_twist, 40, 0.01, -9.81},
    {"heap", scene_heap, 20, 0.01, -9.81}, {"spin", fill_spin, 40, 0.01, -9.81}, {"slide", fill_slide, 25, 0.02, -9.81},
    {"meet", fill_meet, 10, 0.01, 0}, {"comb", fill_comb, 25, 0.01, 0}};
enum { KINDS = (int)(sizeof kinds / sizeof *kinds) };

static scene begin(const world_kind *k, embipc_integrator rule, double tolerance)
{
    embipc_world_def d = scene_world_def(strcmp(k->name, "stack") == 0 ? SCENE_STACK : SCENE_DROP);
    scene s;
    d.time_step = k->h;
    d.gravity[2] = k->gravity;
    d.integrator = rule;
    d.tolerance = tolerance;
    s = scene_empty(&d);
    if (s.w) k->fill(&s);
    return s;
}

static void run(scene *s, const world_kind *k)
{
    for (int n = 0; n < k->steps; n++) {
        if (k->fill == fill_comb) pull_teeth(s);
        if (!scene_step(s)) break;
    }
}

/* Nothing within reach is missed, in any iteration of any world; and looking changes no bit. */
static void test_nothing_is_missed(void)
{
    for (int k = 0; k < KINDS; k += TEST_STRIDE)
        for (int rule = 0; rule < 2; rule++) {
            scene s = begin(kinds + k, rule ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER, 0), t = begin(kinds + k, rule ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER, 0);
            long looks = plain_seen.looks, listed = plain_seen.listed, tried = plain_seen.tried, active = plain_seen.active;
            plain_watch(s.w);
            run(&s, kinds + k);
            run(&t, kinds + k);
            ENSURE(plain_seen.missed == 0 && plain_seen.miscounted == 0);
            ENSURE(plain_seen.looks >= looks + kinds[k].steps && plain_seen.listed > listed && plain_seen.active > active);
            ENSURE(scene_bits(s.w) == scene_bits(t.w));
            if (!rule)
                printf("  %-6s %4ld moments, boxes of %8ld pairs within reach, %7ld of them candidates, %6ld contacts\n", kinds[k].name,
                       plain_seen.looks - looks, plain_seen.tried - tried, plain_seen.listed - listed, plain_seen.active - active);
            scene_end(&s);
            scene_end(&t);
        }
    plain_forget();
}

/* ---- the same step twice ---- */

static struct {
    embipc_stage stage;
    double *q;
    int ends, turned;                /* turned: an island began again, with other rotations */
} again;

static int turned_islands(const embipc_world *w)
{
    int any = 0;
    for (int k = 0; k < w->islands.order_count; k++) any |= w->islands.list[w->islands.order[k]]->renewals > 0;
    return any;
}

/* Notes where the step is about to end, and makes it fail: the world is then as it was before. */
static double again_clock(void *ctx)
{
    embipc_world *w = (embipc_world *)ctx;
    embi_state *s = &w->s;
    embipc_stage was = again.stage;
    again.stage = s->timer.stage;
    if (was != EMBIPC_STAGE_MOVE || s->timer.stage != EMBIPC_STAGE_REST) return 0;
    memcpy(again.q, s->q, (size_t)(3 * s->node_count) * sizeof *again.q);
    again.turned = turned_islands(w);
    again.ends = 1;
    s->q[0] = HUGE_VAL;
    return 0;
}

/* Where a step ends without what `what` says, against where it ends with all: the largest difference of a node's coordinate,
 * m; -1 where it began again with other rotations: E then has several minima. */
static double step_without(scene *s, int what)
{
    embi_state *t = &s->w->s;
    double most = 0;
    again.q = (double *)calloc((size_t)(3 * t->node_count) + 1, sizeof *again.q);
    again.stage = EMBIPC_STAGE_REST;
    again.ends = 0;
    t->timer.clock = again_clock;
    t->timer.ctx = s->w;
    test_without = what;
    ENSURE(embipc_world_step(s->w, NULL) == EMBIPC_ERR_NOT_FINITE && again.ends);
    test_without = 0;
    t->timer.clock = NULL;
    if (!scene_step(s)) return HUGE_VAL;
    for (int i = 0; i < 3 * t->node_count; i++) most = fmax(most, fabs(t->q[i] - again.q[i]));
    free(again.q);
    return again.turned || turned_islands(s->w) ? -1 : most;
}

/* Each step of each world ends at the same place by the plain method, and without each acceleration. The tolerance is so
 * tight that both find the minimum of E, not only its neighbourhood. E has other minima, where other features touch: one
 * step of all may find another one. In the second step of the heap 42 contacts carry it in one, and 50 in the other. */
static void test_steps_end_there_without(void)
{
    int elsewhere = 0;
    for (int k = 0; k < KINDS; k += TEST_STRIDE) {
        double tolerance = 1e-7, most = 0;
        scene s = begin(kinds + k, EMBIPC_BACKWARD_EULER, tolerance);
        int compared = 0;
        for (int n = 0; n < kinds[k].steps && test_bad == 0; n++) {
            double d;
            if (kinds[k].fill == fill_comb) pull_teeth(&s);
            d = step_without(&s, n % 2 ? EMBI_PLAIN_METHOD : 1 << (n / 2 + 7 * k) % EMBIPC_SWITCHES);
            if (d < 0) continue;
            compared++;
            if (d > 1000 * tolerance * kinds[k].h && elsewhere++ == 0) continue;
            most = fmax(most, d);
        }
        printf("  %-6s %2d of %2d steps compared: nodes end within %.2g tolerances\n", kinds[k].name, compared, kinds[k].steps,
               most / (tolerance * kinds[k].h));
        ENSURE(most < 10 * tolerance * kinds[k].h);
        ENSURE(compared > kinds[k].steps / 4);
        ENSURE(scene_sound(s.w));
        scene_end(&s);
    }
}

/* Bits do not depend on what serves the search alone: what is listed beyond the pairs that meet, and when it is searched. */
static void test_searches_leave_no_trace(void)
{
    const int lists = EMBIPC_WITHOUT_CACHED_LISTS | EMBIPC_WITHOUT_CERTIFICATES | EMBIPC_WITHOUT_PATCHES |
                      EMBIPC_WITHOUT_SHARES | EMBIPC_WITHOUT_ROTATION | EMBIPC_WITHOUT_REFIT_ON_DEMAND;
    const int distances = EMBIPC_WITHOUT_DISTANCE_BOUNDS | EMBIPC_WITHOUT_REMEASURING;
    for (int k = 0; k < KINDS; k += TEST_STRIDE) {
        scene s = begin(kinds + k, EMBIPC_BACKWARD_EULER, 0);
        int compared = 0;
        for (int n = 0; n < kinds[k].steps && test_bad == 0; n++) {
            double d;
            if (kinds[k].fill == fill_comb) pull_teeth(&s);
            d = step_without(&s, n % 2 ? lists : distances);
            ENSURE(d <= 0);
            compared += d == 0;
        }
        ENSURE(compared > kinds[k].steps / 4);
        scene_end(&s);
    }
}

/* A factor has the contacts it was made with, wherever a later search lists them. One that doubles, opens or is new counts. */
static void test_factor_knows_its_contacts(void)
{
    scene s = begin(kinds + 6, EMBIPC_BACKWARD_EULER, 0);   /* the heap */
    int looked = 0, opened = 0;
    run(&s, kinds + 6);
    for (int n = 0; n < s.w->islands.order_count && test_bad == 0; n++) {
        embi_state *t = &s.w->s;
        embi_island *isle = s.w->islands.list[s.w->islands.order[n]];
        embi_reuse *factor = &isle->factor;
        if (isle->contacts.pairs < 3) continue;
        looked++;
        ENSURE(embi_island_store_stiffness(&s.w->memory, t, isle));
        ENSURE(factor->contact_count == isle->contacts.pairs && factor->firm > 0);
        ENSURE(!embi_island_contacts_changed(t, isle));
        for (int k = 0; k < isle->pair_count; k++) {   /* as if all its pairs were searched again, and listed from behind */
            const embi_pair *pair = t->pair + isle->pairs[k];
            embi_candidate *c = t->candidates.list + pair->first;
            memset(t->candidates.closest + pair->first, 0, (size_t)pair->count * sizeof *t->candidates.closest);
            for (int i = 0, j = pair->count - 1; i < j; i++, j--) {
                embi_candidate was = c[i];
                c[i] = c[j];
                c[j] = was;
            }
            for (int i = 0; i < pair->count; i++) {
                int *v = c[i].v, a = v[0], b = v[1];
                t->candidates.apart[pair->first + i].least = -HUGE_VAL;
                if (!c[i].edge_edge) continue;
                v[0] = v[2];
                v[1] = v[3];
                v[2] = a;
                v[3] = b;
            }
            t->pair[isle->pairs[k]].active_count = -1;
        }
        ENSURE(embi_island_contacts_at(&s.w->memory, t, isle, t->x));
        ENSURE(factor->contact_count == isle->contacts.pairs);
        ENSURE(!embi_island_contacts_changed(t, isle));
        for (int k = 0; k < factor->contact_count; k++) {
            embipc_real was = factor->stiffness[k];
            int firm = embi_stiffness_changed(0, was, 1);
            factor->stiffness[k] = 3 * was;
            ENSURE(!firm || embi_island_contacts_changed(t, isle));
            factor->stiffness[k] = was / 3;
            ENSURE(!firm || embi_island_contacts_changed(t, isle));
            factor->stiffness[k] = was;
        }
        for (int k = 0; k < isle->shares.by_active.count; k++) {   /* one opens */
            embi_active_chunk r = embi_active_chunk_of(t, isle, k);
            for (const int *i = r.seen; i < r.seen + r.found->seen; i++) {
                embipc_real was = r.closest[*i].stiffness;
                if (!embi_stiffness_changed(0, was, embi_candidate_kappa(&r.pair->rule, r.candidate[*i].dhat))) continue;
                r.closest[*i].stiffness = 0;
                ENSURE(embi_island_contacts_changed(t, isle));
                r.closest[*i].stiffness = was;
                opened++;
            }
        }
        ENSURE(!embi_island_contacts_changed(t, isle));
        factor->contact[factor->contact_count / 2] ^= 1;   /* one is new */
        ENSURE(embi_island_contacts_changed(t, isle));
    }
    ENSURE(looked > 0 && opened > 0);
    scene_end(&s);
}

/* A solid so large that a factor takes longer than EMBI_REUSE_ITERATIONS iterations: it falls on the ground, slides and sticks.
 * Its steps end where those do that factor each matrix. More than one solve in two reuses a factor; without sparing, one in
 * four. */
static void test_large_solids_spare_factors(void)
{
    embipc_world_def wd = scene_world_def(SCENE_DROP);
    embipc_body_def d = scene_def("solid", EMBIPC_FULL, 0, 0, 0.0505);
    double most = 0;
    int solves = 0, factors = 0, compared = 0;
    scene s;
    wd.tolerance = 1e-6;
    s = scene_empty(&wd);
    scene_ground(&s, 1, 0.5);
    d.friction = 0.5;
    d.velocity[0] = 0.3;
    d.velocity[2] = -0.5;
    d.angular_velocity[1] = 1;
    d.material.model = EMBIPC_STABLE_NEO_HOOKEAN;
    d.material.young = 1e5;
    scene_box(&s, d, 0.1, 0.1, 0.1, 11);
    for (int n = 0; n < 4 && test_bad == 0; n++) {
        double away = step_without(&s, EMBIPC_WITHOUT_THIS_STEP_FACTOR | EMBIPC_WITHOUT_LAST_STEP_FACTOR);
        const embipc_iteration *list;
        int count = embipc_world_iterations(s.w, &list), fresh = 0;
        for (int k = 0; k < count; k++) fresh += list[k].fresh;
        ENSURE(s.stats.converged);
        ENSURE(fresh <= s.stats.total_factorizations && (fresh > 0) == (s.stats.total_factorizations > 0));
        solves += s.stats.total_iterations;
        factors += s.stats.total_factorizations;
        if (away < 0) continue;
        compared++;
        most = fmax(most, away);
    }
    printf("  %d solves with %d factors, %d steps compared: nodes end within %.2g tolerances\n", solves, factors, compared,
           most / (wd.tolerance * wd.time_step));
    ENSURE(embi_system_iterations_per_factor(&s.w->islands.list[s.w->s.body[1].island]->system) > EMBI_REUSE_ITERATIONS);
    ENSURE(compared > 2 && most < 10 * wd.tolerance * wd.time_step);
    ENSURE(2 * factors < solves);
    ENSURE(scene_sound(s.w));
    scene_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(nothing_is_missed);
    RUN(steps_end_there_without);
    RUN(searches_leave_no_trace);
    RUN(factor_knows_its_contacts);
    RUN(large_solids_spare_factors);
    test_unused();
    meshio_test_unused();
    return test_end("test_plain");
}
