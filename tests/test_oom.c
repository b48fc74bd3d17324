/* Out of memory: the n-th allocation of a whole history fails, for one n in three (TEST_EVERY: for every n). The call says so, the
 * world is as before (bit for bit against a history without failures), the same call made again succeeds, and in the end every
 * byte is back. */
#include "small.h"
#include "inside.h"
#include "test.h"
#include "branch.h"
#include "scene_test.h"

#ifdef TEST_EVERY
enum { OOM_SKIP = 1 };
#else
enum { OOM_SKIP = TEST_SKIP > 1 ? TEST_SKIP : 3 };
#endif

/* every > 0: a run has a branch for each so many allocations after the first ones, in which fail_count of them fail */
typedef struct failing {
    long calls, fail_at, fail_count, first, every;
    int branches, branch;    /* how many there were; which of them this is, or 0 in the run */
    size_t bytes;
    int wrong_size;
} failing;

/* the size stands before the block, so that free() can be held to it */
static void *failing_alloc(size_t size, void *ctx)
{
    failing *f = (failing *)ctx;
    unsigned char *p;
    f->calls++;
    if (f->every && !f->branch && f->calls > f->first && (f->calls - f->first - 1) % f->every == 0 && test_bad < 20) {
        f->branches++;
        if (branch()) {
            f->branch = f->branches;
            f->fail_at = f->calls;
        }
    }
    if (f->fail_at && f->calls >= f->fail_at && f->calls < f->fail_at + f->fail_count) return NULL;
    p = (unsigned char *)malloc(size + 32);
    if (!p) exit(2);
    memcpy(p, &size, sizeof size);
    memset(p + 32, 0xA5, size);   /* nothing may count on zeros */
    f->bytes += size;
    return p + 32;
}
static void failing_free(void *p, size_t size, void *ctx)
{
    failing *f = (failing *)ctx;
    size_t was;
    if (!p) return;
    memcpy(&was, (unsigned char *)p - 32, sizeof was);
    if (was != size) f->wrong_size++;
    f->bytes -= was;
    free((unsigned char *)p - 32);
}

/* ---- the history: contact of all kinds, drives, pair rules, forces, reset, destruction ---- */

static embipc_result create(scene *s, embipc_body_def d, test_mesh m, int cells)
{
    test_mesh cage = test_mesh_make(0, 0, 0);
    embipc_result r;
    embipc_body b;
    test_mesh_shape(&m, &d);
    if (d.kind == EMBIPC_CAGE && cells > 0) {
        test_mesh_free(&cage);
        cage = scene_mesh_tet_box(cells, cells, cells, 0.062, 0.062, 0.062);
        d.cage_x = cage.x;
        d.cage_node_count = cage.vertex_count;
        d.cage_tets = cage.tets;
        d.cage_tet_count = cage.tet_count;
    }
    r = embipc_body_create(s->w, &d, &b);
    test_mesh_free(&m);
    test_mesh_free(&cage);
    if (r == EMBIPC_OK) s->body[s->n++] = b;
    return r;
}
enum { OOM_CREATE_LAST = 6, OOM_STEPS = 13, OOM_COUNT = 29 };
/* call number k of the history */
static embipc_result history(scene *s, const embipc_world_def *wd, int k)
{
    embipc_body_def d = embipc_default_body_def();
    embipc_error e;
    d.friction = 0.5;
    d.name = "body";
    if (k == 0) return embipc_world_create(wd, &s->w, &e);
    if (k == 1) {
        d.position[2] = -0.05;
        return create(s, d, test_mesh_box(-0.5, -0.5, -0.05, 0.5, 0.5, 0.05), 0);
    }
    if (k == 2) {
        d.kind = EMBIPC_FULL;
        d.position[2] = 0.0303;
        return create(s, d, scene_mesh_tet_box(1, 1, 1, 0.06, 0.06, 0.06), 0);
    }
    if (k == 3) {
        d.kind = EMBIPC_CAGE;
        d.position[0] = 0.002;
        d.position[2] = 0.0910;
        return create(s, d, test_mesh_box(-0.03, -0.03, -0.03, 0.03, 0.03, 0.03), 1);
    }
    if (k == 4) {
        d.kind = EMBIPC_AFFINE;
        d.material.model = EMBIPC_ORTHOGONALITY;
        d.position[0] = 0.0615;
        d.position[2] = 0.0303;
        d.velocity[0] = -0.5;
        return create(s, d, test_mesh_box(-0.03, -0.03, -0.03, 0.03, 0.03, 0.03), 0);
    }
    if (k == 5) {
        d.kind = EMBIPC_KINEMATIC;
        d.position[2] = 0.13;
        return create(s, d, test_mesh_box(-0.05, -0.05, -0.005, 0.05, 0.05, 0.005), 0);
    }
    if (k == 6) {
        d.kind = EMBIPC_CAGE;
        d.position[0] = -0.0615;
        d.position[2] = 0.0303;
        d.cage_nodes = 8;   /* one that is built */
        d.velocity[0] = 0.5;
        return create(s, d, test_mesh_box(-0.03, -0.03, -0.03, 0.03, 0.03, 0.03), 0);
    }
    if (k == 7 || k == 24) {
        static const double keys[21] = {0, 0, 0, 0, 0, 0, 0, 0.06, 0, 0, -0.008, 0, 0, 0.3, 0.1, 0, 0, -0.004, 0, 0.05, 0.3};
        static const int nodes[2] = {0, 1};
        embipc_drive_def def = embipc_default_drive_def();
        embipc_drive h;
        embipc_result r;
        def.body = s->body[k == 7 ? 4 : 1];
        def.nodes = k == 7 ? NULL : nodes;
        def.node_count = k == 7 ? 0 : 2;
        def.keys = keys;
        def.key_count = k == 7 ? 3 : 0;
        def.centre[2] = 0.13;
        r = embipc_drive_create(s->w, &def, &h);
        if (r == EMBIPC_OK) s->drive[s->drives++] = h;
        return r;
    }
    if (k == 8) return embipc_world_set_pair(s->w, s->body[1], s->body[2], 0.9, 1);
    if (k == 9) return embipc_world_set_pair(s->w, s->body[0], s->body[3], -1, 0);
    if (k == 10) {   /* an offer that is refused: crosses everything */
        embipc_result r;
        d.kind = EMBIPC_AFFINE;
        r = create(s, d, test_mesh_box(-0.2, -0.2, -0.2, 0.2, 0.2, 0.2), 0);
        return r == EMBIPC_ERR_INTERSECTION ? EMBIPC_OK : r == EMBIPC_OK ? EMBIPC_ERR_DEF : r;
    }
    if (k == 11) return embipc_world_intersections(s->w, NULL, 0) < 0 ? EMBIPC_ERR_MEMORY : EMBIPC_OK;
    if (k == 12) {
        static const double f[3] = {0.5, 0.2, 1};
        return embipc_body_apply_force(s->w, s->body[2], -1, f);
    }
    if (k < 20) return embipc_world_step(s->w, &s->stats);
    if (k == 20) {
        embipc_drive_def def = embipc_default_drive_def();
        embipc_drive h;
        def.body = s->body[1];
        def.stiffness[0] = def.stiffness[2] = 50;
        def.force_limit = 1;
        return embipc_drive_create(s->w, &def, &h);
    }
    if (k == 21) return embipc_body_destroy(s->w, s->body[2]);
    if (k == 22) return embipc_world_step(s->w, NULL);
    if (k == 23) return embipc_world_reset(s->w);
    if (k == 26) {
        static const double to[3] = {0.3, 0.2, 0.05}, turned[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
        return embipc_body_set_pose(s->w, s->body[3], to, turned, 1);
    }
    if (k == 27) return embipc_body_set_groups(s->w, s->body[5], 3, ~0u);
    return embipc_world_step(s->w, &s->stats);
}

/* The history, and in each branch what follows a failure: the call that failed changed nothing, and made again it gives
 * what it gives without one. */
static void history_fails(failing *f, const embipc_world_def *wd, const unsigned long long bits[OOM_COUNT], long total)
{
    int failed = 0, since = 0;
    scene s;
    memset(&s, 0, sizeof s);
    for (int k = 0; k < OOM_COUNT; k++) {
        int count = s.w ? embipc_world_body_count(s.w) : 0, again = 0;
        embipc_result r = history(&s, wd, k);
        for (; r == EMBIPC_ERR_MEMORY && again < 8; again++) {
            failed++;
            ENSURE(k == 0 || embipc_world_error(s.w)->code == EMBIPC_ERR_MEMORY || k == 11);
            ENSURE(k > 0 || s.w == NULL);
            if (k > 0 && scene_bits(s.w) != bits[k - 1]) {
                ENSURE(scene_bits(s.w) == bits[k - 1]);   /* the call that failed changed nothing */
                printf("  allocation %ld of %ld, call %d\n", f->fail_at, total, k);
            }
            if (k > 0) ENSURE(embipc_world_body_count(s.w) == count);
            r = history(&s, wd, k);
        }
        if (r != EMBIPC_OK) {
            printf("  allocation %ld, call %d: %s, %s\n", f->fail_at, k, embipc_result_text(r),
                   s.w ? embipc_world_error(s.w)->text : "");
            ENSURE(r == EMBIPC_OK);
            break;
        }
        if (scene_bits(s.w) != bits[k]) {
            ENSURE(scene_bits(s.w) == bits[k]);   /* made again, it gives what it gives without a failure */
            printf("  allocation %ld of %ld, call %d\n", f->fail_at, total, k);
            break;
        }
        if (failed && !again && ++since == 3 && f->branch % 4) break;   /* the whole history for every fourth only */
    }
    if (f->branch && f->fail_at + f->fail_count - 1 <= total) ENSURE(failed > 0);   /* somebody must have noticed */
    scene_end(&s);
    ENSURE(f->bytes == 0 && f->wrong_size == 0);
    if (f->branch) branch_end();
}
static void test_allocations_fail_once(void)
{
    failing f;
    embipc_world_def wd = embipc_default_world_def();
    unsigned long long bits[OOM_COUNT];
    long total;
    int touched = 0, tried = 0;
    scene s;
    memset(&f, 0, sizeof f);
    memset(&s, 0, sizeof s);
    wd.allocator.alloc = failing_alloc;
    wd.allocator.free = failing_free;
    wd.allocator.ctx = &f;
    for (int k = 0; k < OOM_COUNT; k++) {
        embipc_result r = history(&s, &wd, k);
        if (r != EMBIPC_OK) printf("  call %d: %s\n", k, s.w ? embipc_world_error(s.w)->text : "");
        ENSURE(r == EMBIPC_OK);
        if (test_bad) break;
        bits[k] = scene_bits(s.w);
        touched += k >= OOM_STEPS && s.stats.contacts > 0;
    }
    total = f.calls;
    ENSURE(touched > 5);
    {   /* what the world counts is what it took */
        size_t bytes;
        long allocations;
        embipc_world_memory(s.w, &bytes, NULL, &allocations);
        ENSURE(bytes + sizeof(struct embipc_world) == f.bytes || bytes == f.bytes);
    }
    scene_end(&s);
    ENSURE(f.bytes == 0 && f.wrong_size == 0);
    for (int mode = 0; mode < 2 && !test_bad; mode++) {   /* one failure; then a drought of five */
        memset(&f, 0, sizeof f);
        f.every = OOM_SKIP * (mode ? 7 : 1);
        f.fail_count = mode ? 5 : 1;
        history_fails(&f, &wd, bits, total);
        ENSURE(f.calls == total && f.branches == 1 + (total - 1) / f.every);
        tried += f.branches;
    }
    printf("  %ld allocations in the history, %d histories with failures\n", total, tried);
}

/* the same for a body whose cage the library builds: allocations drawn by lot, since each try builds a hundred lattices */
static void test_cage_builder_runs_out(void)
{
    failing f;
    embipc_world_def wd = embipc_default_world_def();
    long total = 0;
    int refused = 0;
    memset(&f, 0, sizeof f);
    wd.allocator.alloc = failing_alloc;
    wd.allocator.free = failing_free;
    wd.allocator.ctx = &f;
    for (int trial = 0; trial < 60; trial++) {
        embipc_body_def d = scene_def("ball", EMBIPC_CAGE, 0, 0, 0);
        scene s = scene_empty(&wd);
        test_mesh m = test_mesh_sphere(1);
        embipc_body b;
        embipc_result r;
        long before = f.calls;
        test_mesh_shape(&m, &d);
        d.cage_nodes = 8;
        f.fail_at = trial ? f.calls + 1 + (long)(test_random() * (double)total) : 0;
        f.fail_count = trial == 0 ? 0 : trial % 3 ? 1 : 4;
        r = embipc_body_create(s.w, &d, &b);
        if (!trial) total = f.calls - before;
        if (trial) ENSURE(r == EMBIPC_ERR_MEMORY && embipc_world_error(s.w)->code == EMBIPC_ERR_MEMORY && embipc_world_body_count(s.w) == 0);
        refused += r == EMBIPC_ERR_MEMORY;
        f.fail_at = f.fail_count = 0;
        if (trial) (void)ENSURE_OK(s.w, embipc_body_create(s.w, &d, &b));
        (void)ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
        test_mesh_free(&m);
        scene_end(&s);
        ENSURE(f.bytes == 0 && f.wrong_size == 0);
    }
    printf("  %ld allocations for a body with a cage, %d of 59 refused\n", total, refused);
}

/* a step that has run once allocates nothing more, also with the default allocator */
static void test_warm_steps_allocate_nothing(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) {
        failing f;
        embipc_world_def wd = scene_world_def(which);
        scene s;
        long before;
        memset(&f, 0, sizeof f);
        wd.allocator.alloc = failing_alloc;
        wd.allocator.free = failing_free;
        wd.allocator.ctx = &f;
        s = scene_make(which, &wd);
        for (int n = 0; n < 40; n++) scene_step(&s);
        (void)ENSURE_OK(s.w, embipc_world_reset(s.w));
        before = f.calls;
        for (int n = 0; n < 40; n++) scene_step(&s);
        ENSURE(f.calls == before);
        scene_end(&s);
        ENSURE(f.bytes == 0 && f.wrong_size == 0);
    }
}

/* ---- islands side by side: runs of them go on while the memory of one has run out ---- */

static void loop_backwards(int count, int grain, embipc_range_fn *fn, void *arg, void *ctx)
{
    (void)ctx;
    for (int b = (count - 1) / grain; b >= 0; b--) fn(arg, b * grain, (b + 1) * grain < count ? (b + 1) * grain : count);
}
static scene islands_make(embipc_world_def *wd, failing *f, int heap)
{
    scene s;
    memset(f, 0, sizeof *f);
    wd->allocator.alloc = failing_alloc;
    wd->allocator.free = failing_free;
    wd->allocator.ctx = f;
    wd->parallel_for = loop_backwards;
    s = scene_empty(wd);
    if (heap) {
        scene_heap(&s);
        return s;
    }
    scene_box(&s, scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05), 1, 1, 0.1, 1);
    for (int k = 0; k < 5; k++) {
        embipc_body_def d = scene_def("box", k % 2 ? EMBIPC_FULL : EMBIPC_AFFINE, 0.2 * k - 0.4, 0, 0.0402);
        d.friction = 0.5;
        scene_box(&s, d, 0.08, 0.08, 0.08, 1);
    }
    return s;
}
enum { ISLAND_STEPS = 10 };
static int runs_out(int heap, int stride)
{
    unsigned long long bits[ISLAND_STEPS + 1];
    embipc_world_def wd = embipc_default_world_def();
    failing f;
    scene s = islands_make(&wd, &f, heap);
    long first = f.calls, last;
    int failed = 0;
    int dual = 0;
    bits[0] = scene_bits(s.w);
    for (int k = 1; k <= ISLAND_STEPS; k++) {
        scene_step(&s);
        bits[k] = scene_bits(s.w);
        for (int i = 0; i < s.w->islands.order_count; i++) dual +=
            embi_has_dual(s.w->islands.list[s.w->islands.order[i]]);
    }
    ENSURE(s.stats.contacts > 0 && (heap ? dual > 3 : s.w->islands.run.count > 1 && s.stats.islands == 5));
    last = f.calls;
    scene_end(&s);
    s = islands_make(&wd, &f, heap);
    f.first = first;
    f.every = stride;
    f.fail_count = 1;
    for (int k = 1, since = 0; k <= ISLAND_STEPS; k++) {
        embipc_result r = embipc_world_step(s.w, NULL);
        if (r == EMBIPC_ERR_MEMORY) {
            failed++;
            ENSURE(scene_bits(s.w) == bits[k - 1]);
            r = embipc_world_step(s.w, NULL);
        }
        ENSURE(r == EMBIPC_OK && scene_bits(s.w) == bits[k]);
        if (failed && ++since == 3 && f.branch % 4) break;   /* all steps for every fourth only */
    }
    scene_end(&s);
    ENSURE(f.bytes == 0 && f.wrong_size == 0 && failed == (f.branch > 0));
    if (f.branch) branch_end();
    ENSURE(f.calls == last);
    return f.branches;
}
static void test_islands_run_out_side_by_side(void) { printf("  %d steps of 5 islands refused\n", runs_out(0, OOM_SKIP)); }
/* and where contact forces are unknowns */
static void test_heap_runs_out(void) { printf("  %d steps of a heap refused\n", runs_out(1, 2 * OOM_SKIP - 1)); }

/* ---- the tables that arrays are freed by ---- */

/* which entries of a table some owner has had an array for */
typedef struct grown { const char *name; const size_t *offset; int count; unsigned char seen[96]; } grown;
#define GROWN(type) {#type, type##_arrays, (int)(sizeof type##_arrays / sizeof *type##_arrays), {0}}

static void grown_look(grown *g, const void *owner)
{
    ENSURE(g->count <= (int)sizeof g->seen);
    for (int k = 0; owner && k < g->count; k++) {
        void *array;
        memcpy(&array, (const char *)owner + g->offset[k], sizeof array);
        g->seen[k] |= array != NULL;
    }
}
static void grown_world(grown g[6], const embipc_world *w)
{
    grown_look(&g[0], w);
    for (int i = 0; i < w->s.body_count; i++) {
        const embi_body *b = w->s.body + i;
        grown_look(&g[1], b);
        grown_look(&g[2], &b->bvh);
        grown_look(&g[3], &b->elastic);
    }
    for (int i = 0; i < embi_capacity(w->islands.list); i++)
        if (w->islands.list[i]) {
            grown_look(&g[4], w->islands.list[i]);
            grown_look(&g[5], w->islands.list[i]->dual);
        }
}
/* bodies, drives and floors of the kinds that the scenes before this do not have */
static void scene_rest_of_all(scene *s)
{
    embipc_body_def d = scene_def("tile", EMBIPC_FIXED, -0.25, 0, -0.05);
    scene_box(s, d, 0.5, 1, 0.1, 1);
    d.position[0] = 0.25;
    scene_box(s, d, 0.5, 1, 0.1, 1);
    d = scene_def("soft", EMBIPC_FULL, 0, 0, 0.0505);
    d.material.model = EMBIPC_STABLE_NEO_HOOKEAN;
    d.velocity[2] = -2;
    scene_ball(s, d, 0.05, 3, 0);
    d = scene_def("fine", EMBIPC_CAGE, 0.15, 0, 0.0505);
    d.velocity[2] = -5;
    scene_ball(s, d, 0.05, 4, 2);
    d.position[0] = 0.3;
    scene_ball(s, d, 0.05, 4, 0);   /* in cells */
}
/* keeps the first two bodies apart, which are fixed */
static int not_the_first_two(embipc_body a, void *user_a, embipc_body b, void *user_b, void *ctx)
{
    (void)user_a;
    (void)user_b;
    (void)ctx;
    return a.index1 != 1 || b.index1 != 2;
}
/* Every array in a table is grown in some world here, and nothing is left when the world is gone: so an array that is missing
 * in its table is noticed. */
static void test_tables_name_every_array(void)
{
    grown g[6] = {GROWN(embi_world), GROWN(embi_body), GROWN(embi_bvh), GROWN(embi_elastic), GROWN(embi_island), GROWN(embi_dual)};
    for (int which = 0; which < SCENE_COUNT + 3; which++) {
        embipc_world_def wd = which < SCENE_COUNT ? scene_world_def(which) : embipc_default_world_def();
        failing f;
        scene s;
        memset(&s, 0, sizeof s);
        if (which == SCENE_COUNT) s = islands_make(&wd, &f, 1);
        else {
            memset(&f, 0, sizeof f);
            wd.allocator.alloc = failing_alloc;
            wd.allocator.free = failing_free;
            wd.allocator.ctx = &f;
            wd.parallel_for = loop_backwards;
            if (which < SCENE_COUNT) s = scene_make(which, &wd);
            else if (which == SCENE_COUNT + 1) {
                wd.sleep_after = 1;
                wd.pair = not_the_first_two;
                s = scene_empty(&wd);
                scene_rest_of_all(&s);
            }
        }
        for (int k = 0; k < 30; k++) {
            if (which == SCENE_COUNT + 2) (void)(k < OOM_COUNT && history(&s, &wd, k));
            else scene_step(&s);
            if (s.w) grown_world(g, s.w);
        }
        if (s.w) ENSURE(embi_plain_search(s.w, 0));   /* the arrays of the reference method */
        if (s.w) grown_world(g, s.w);
        scene_end(&s);
        ENSURE(f.bytes == 0 && f.wrong_size == 0);
    }
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < g[i].count; k++) {
            if (!g[i].seen[k]) printf("  %s: array %d of its table is never grown\n", g[i].name, k);
            ENSURE(g[i].seen[k]);
        }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    small_loops_only();
    RUN(allocations_fail_once);
    RUN(cage_builder_runs_out);
    RUN(warm_steps_allocate_nothing);
    RUN(islands_run_out_side_by_side);
    RUN(heap_runs_out);
    RUN(tables_name_every_array);
    return test_end("test_oom");
}
