/* Threads: any number of them, and loops run in any order, give the same bits. */
#include "small.h"
#include "inside.h"
#include "test.h"
#include "scene_test.h"

#define STEPS 12

/* The thread sanitizer, which is slow, tells what two threads share however they are timed: it sees one number of threads for
 * scenes, and not what runs in one thread. */
#ifdef __SANITIZE_THREAD__
static const int threads[] = {3};
#else
static const int threads[] = {1, 2, 3, 8};
#endif
enum { THREADS = (int)(sizeof threads / sizeof *threads) };

/* fine surfaces, so that the loops are longer than their grains: two balls squeezed between ground and a turning plate */
static void fine_scene(scene *s)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 0.2, 0, 0, -0.02, 0, 0, 0.5};
    static const double centre[3] = {0, 0, 0.2};
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
    test_mesh m;
    d.friction = 0.6;
    scene_box(s, d, 1, 1, 0.1, 1);
    d = scene_def("lower", EMBIPC_CAGE, 0, 0, 0.0503);
    d.friction = 0.6;
    d.material.young = 2e4;
    scene_ball(s, d, 0.05, 3, 2);
    d = scene_def("upper", EMBIPC_FULL, 0.004, 0.003, 0.151);
    d.friction = 0.6;
    d.material.young = 2e4;
    scene_ball(s, d, 0.05, 2, 0);
    d = scene_def("plate", EMBIPC_KINEMATIC, 0, 0, 0.207);
    d.friction = 0.6;
    m = scene_mesh_tet_box(8, 8, 1, 0.16, 0.16, 0.01);
    scene_boundary(&m);
    test_mesh_compact(&m);
    scene_add_mesh(s, &d, &m, 0);
    scene_drive(s, 3, keys, 2, centre, NULL, 0);
    for (int k = 0; k < 2; k++) {   /* islands of their own on the same ground */
        d = scene_def("loose", EMBIPC_CAGE, k ? 0.3 : -0.3, 0, 0.0503);
        d.friction = 0.6;
        d.material.young = 2e4;
        scene_ball(s, d, 0.05, 1, 2);
    }
}
/* One body, whose tets threads share: its material is nonlinear, with rotations. */
static void solid_scene(scene *s)
{
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
    d.friction = 0.6;
    scene_box(s, d, 1, 1, 0.1, 1);
    d = scene_def("solid", EMBIPC_FULL, 0, 0, 0.0503);
    d.friction = 0.6;
    d.material.model = EMBIPC_FIXED_COROTATED;
    d.material.young = 2e4;
    d.velocity[2] = -1;
    scene_ball(s, d, 0.05, 2, 0);
}
enum { FINE = SCENE_COUNT, HEAP, SOLID, KINDS };
static scene threads_scene(int which, embipc_parallel_for_fn *loop, void *ctx)
{
    embipc_world_def wd = scene_world_def(which < SCENE_COUNT ? which : SCENE_DROP);
    scene s;
    wd.parallel_for = loop;
    wd.parallel_ctx = ctx;
    if (which < SCENE_COUNT) return scene_make(which, &wd);
    if (which == FINE) wd.dhat = 5e-3;
    s = scene_empty(&wd);
    if (which == FINE) fine_scene(&s);
    else if (which == HEAP) scene_heap(&s);
    else solid_scene(&s);
    return s;
}
static void run_scene(int which, embipc_parallel_for_fn *loop, void *ctx, unsigned long long bits[STEPS])
{
    scene s = threads_scene(which, loop, ctx);
    int dual = 0;   /* islands with contact forces as unknowns */
    for (int n = 0; n < STEPS; n++) {
        scene_step(&s);
        bits[n] = scene_bits(s.w);
        for (int k = 0; k < s.w->islands.order_count; k++) dual += embi_has_dual(s.w->islands.list[s.w->islands.order[k]]);
    }
    ENSURE(dual > 0 || which != HEAP);
    ENSURE(s.stats.contacts > 0 || which == SCENE_BEAM || which == SCENE_THROW);
    scene_end(&s);
}

/* ---- hostile loops: legal by the contract, and as different as can be ---- */

#define LOOPS 20   /* kinds of loops that threads share here, without those over tets; another number: one was added, or is lost */

typedef struct hostile {
    int how;
    long long_calls, bad, paths;   /* paths: shared searches along paths */
    int inside;
    embipc_range_fn *seen[LOOPS + 1];
} hostile;
static int hostile_loops(const hostile *h)
{
    int n = 0;
    while (n <= LOOPS && h->seen[n]) n++;
    return n;
}
static int hostile_saw(const hostile *h, embipc_range_fn *fn)
{
    int n = 0;
    while (n <= LOOPS && h->seen[n] != fn) n++;
    return n <= LOOPS;
}
static void hostile_for(int count, int grain, embipc_range_fn *fn, void *arg, void *ctx)
{
    hostile *h = (hostile *)ctx;
    int blocks = grain > 0 ? (count + grain - 1) / grain : 0;
    h->long_calls += count > grain;
    for (int k = 0; k <= LOOPS && count > grain; k++) {
        if (!h->seen[k]) h->seen[k] = fn;
        if (h->seen[k] == fn) break;
    }
    if (count <= 0 || grain <= 0) { h->bad++; return; }
    h->bad += h->inside++ > 0;   /* no loop within a loop */
    h->paths += fn == embi_lanes_work && ((const embi_search_task *)arg)->walk->paths;
    if (h->how == 0)   /* backwards, a grain at a time */
        for (int b = blocks - 1; b >= 0; b--) fn(arg, b * grain, (b + 1) * grain < count ? (b + 1) * grain : count);
    else if (h->how == 1) {   /* uneven runs, odd ones first */
        for (int pass = 1; pass >= 0; pass--)
            for (int b = 0, run = 0; b < blocks; run++) {
                int next = b + 1 + run % 3;
                if (next > blocks) next = blocks;
                if (run % 2 == pass) fn(arg, b * grain, next * grain < count ? next * grain : count);
                b = next;
            }
    } else {   /* in an order drawn by lot */
        int *order = (int *)malloc((size_t)blocks * sizeof(int));
        for (int b = 0; b < blocks; b++) order[b] = b;
        for (int b = blocks - 1; b > 0; b--) {
            int o = (int)(test_random() * (b + 1)), t = order[b];
            order[b] = order[o];
            order[o] = t;
        }
        for (int b = 0; b < blocks; b++) fn(arg, order[b] * grain, (order[b] + 1) * grain < count ? (order[b] + 1) * grain : count);
        free(order);
    }
    h->inside--;
}
static void test_any_order_same_bits(void)
{
    long calls = 0;
    for (int which = 0; which < KINDS; which++) {
        unsigned long long serial[STEPS], other[STEPS];
        run_scene(which, NULL, NULL, serial);
        for (int how = 0; how < 3; how++) {
            hostile h;
            memset(&h, 0, sizeof h);
            h.how = how;
            run_scene(which, hostile_for, &h, other);
            ENSURE(!memcmp(serial, other, sizeof serial));
            ENSURE(h.bad == 0);
            calls += h.long_calls;
            if (which == SOLID)
                ENSURE(hostile_saw(&h, embi_energy_work) && hostile_saw(&h, embi_force_work) &&
                       hostile_saw(&h, embi_hessian_work) && hostile_saw(&h, embi_polar_work));
            if (which == FINE) {
                ENSURE(h.long_calls > 10 && h.paths > 0 && hostile_loops(&h) == LOOPS);
                if (how == 0) printf("  %d kinds of loops shared\n", hostile_loops(&h));
            }
        }
    }
    printf("  %ld loops longer than their grain run out of order\n", calls);
}

/* the rows of J: what a body has few of in the loop over bodies, what it has many of behind it, are all of them */
static int rows_are(const embi_state *s, const embi_body *b, const embipc_real *q, const embipc_real *x)
{
    int ok = 1;
    for (int k = 0; k < b->search.live_count; k++) {
        embipc_real y[3];
        int i = b->vert0 + b->search.live[k];
        if (!s->J.count[i]) continue;
        embi_set(y, 0, 0, 0);
        for (int n = 0; n < s->J.count[i]; n++) embi_axpy(y, s->J.weight[4 * i + n], q + 3 * s->J.node[4 * i + n]);
        ok = ok && !memcmp(y, x + 3 * i, sizeof y);
    }
    return ok;
}
static void rows_poison(const embi_state *s, embipc_real *x)
{
    for (int i = 0; i < s->vert_count; i++)
        if (s->J.count[i]) embi_set(x + 3 * i, NAN, NAN, NAN);
}
static void test_rows_of_all_live_vertices(void)
{
    int few = 0, many = 0;
    for (int which = 0; which < KINDS; which++) {
        scene sc = threads_scene(which, NULL, NULL);
        embi_state *s = &sc.w->s;
        for (int n = 0; n < 3; n++) scene_step(&sc);
        for (int n = 0; n < sc.w->islands.order_count; n++) {
            embi_island *I = sc.w->islands.list[sc.w->islands.order[n]];
            for (int k = 0; k < I->body_count; k++) {
                const embi_body *b = s->body + I->bodies[k];
                int moves = embi_is_dynamic(b) && b->search.live_count > 0;
                for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) s->p[i] = test_uniform(-1e-5, 1e-5);
                many += moves && embi_has_many_live(b);
                few += moves && !embi_has_many_live(b);
            }
            rows_poison(s, s->path.x);
            rows_poison(s, s->path.trial_x);
            ENSURE(embi_island_aim(&sc.w->memory, s, I));
            for (int k = 0; k < I->body_count; k++)
                ENSURE(rows_are(s, s->body + I->bodies[k], s->trial_q, s->path.x));
            ENSURE(embi_island_try(&sc.w->memory, s, I, 0.5));
            for (int k = 0; k < I->body_count; k++)
                ENSURE(rows_are(s, s->body + I->bodies[k], s->trial_q, s->path.trial_x));
        }
        scene_end(&sc);
    }
    printf("  %d bodies with few live vertices, %d with many\n", few, many);
    ENSURE(few > 0 && many > 0);
}

#ifdef EMBIPC_PTHREADS
static void test_any_number_of_threads_same_bits(void)
{
    for (int which = 0; which < KINDS; which++) {
        unsigned long long serial[STEPS], other[STEPS];
        run_scene(which, NULL, NULL, serial);
        for (int k = 0; k < THREADS; k++) {
            embipc_pool *pool = embipc_pool_create(threads[k]);
            ENSURE(pool != NULL);
            if (!pool) continue;
            run_scene(which, embipc_pool_for, pool, other);
            ENSURE(!memcmp(serial, other, sizeof serial));
            embipc_pool_destroy(pool);
        }
    }
}

/* every index exactly once, whatever the counts */
typedef struct tally { int *hits; int grain, bad; } tally;
static void tally_range(void *arg, int begin, int end)
{
    tally *t = (tally *)arg;
    for (int i = begin; i < end; i++) t->hits[i]++;
    if (begin % t->grain || end <= begin) t->bad++;
}
static void test_pool_covers_everything_once(void)
{
    static int hits[5000];
    for (int n = -1; n <= 9; n += n < 3 ? 1 : 3) {
        embipc_pool *pool = embipc_pool_create(n);
        ENSURE(pool != NULL);
        if (!pool) continue;
        for (int trial = 0; trial < 300; trial++) {
            tally t;
            int count = (int)test_uniform(0, 5000), ok = 1;
            t.hits = hits;
            t.grain = 1 + (int)test_uniform(0, 600);
            t.bad = 0;
            memset(hits, 0, sizeof hits);
            embipc_pool_for(count, t.grain, tally_range, &t, pool);
            for (int i = 0; i < 5000; i++) ok = ok && hits[i] == (i < count);
            ENSURE(ok && t.bad == 0);
        }
        embipc_pool_destroy(pool);
    }
    embipc_pool_destroy(NULL);
}

/* two worlds, each stepped by a thread of its own: worlds share nothing */
static void *world_thread(void *arg)
{
    unsigned long long *bits = (unsigned long long *)arg;
    scene s = threads_scene(SCENE_GRASP, NULL, NULL);
    for (int n = 0; n < STEPS; n++) {
        scene_step(&s);
        bits[n] = scene_bits(s.w);
    }
    scene_end(&s);
    return NULL;
}
static void test_worlds_are_independent(void)
{
    unsigned long long alone[STEPS], bits[4][STEPS];
    pthread_t thread[4];
    (void)world_thread(alone);
    for (int k = 0; k < 4; k++) ENSURE(pthread_create(&thread[k], NULL, world_thread, bits[k]) == 0);
    for (int k = 0; k < 4; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < 4; k++) ENSURE(!memcmp(alone, bits[k], sizeof alone));
}

static void *batch_alloc(size_t size, void *ctx) { return *(int *)ctx ? NULL : malloc(size); }
static void batch_free(void *p, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    free(p);
}
/* Copies of a world that differ from it, and in their midst one without memory, side by side and one by one. The pool is
 * that of the worlds too: two of its loops at a time would hang or skip ranges. */
static void test_batch(void)
{
    enum { BATCH = 7, POOR = 3 };
    embipc_pool *pool = embipc_pool_create(3);
    scene s = threads_scene(SCENE_GRASP, embipc_pool_for, pool), poor;
    embipc_world_def wd = scene_world_def(SCENE_GRASP);
    embipc_world *batch[BATCH], *alone[BATCH];
    embipc_step_stats stats[BATCH], one;
    embipc_result result[BATCH];
    unsigned long long before;
    int no_memory = 0;
    wd.allocator.alloc = batch_alloc;
    wd.allocator.free = batch_free;
    wd.allocator.ctx = &no_memory;
    poor = scene_make(SCENE_GRASP, &wd);
    for (int k = 0; k < BATCH; k++) {
        double gravity[3] = {0.3 * k, 0, -9.81};
        batch[k] = poor.w;
        if (k == POOR) continue;
        for (int i = 0; i < 2; i++) {
            embipc_world **w = i ? batch : alone;
            ENSURE(!embipc_world_copy(s.w, w + k));
            ENSURE(!embipc_world_set_gravity(w[k], gravity));
        }
    }
    before = scene_bits(poor.w);
    for (int n = 0; n < STEPS; n++) {
        no_memory = 1;
        ENSURE(embipc_worlds_step(batch, BATCH, n % 3 ? embipc_pool_for : NULL, pool, stats, result) == EMBIPC_ERR_MEMORY);
        no_memory = 0;
        for (int k = 0; k < BATCH; k++) {
            ENSURE(result[k] == (k == POOR ? EMBIPC_ERR_MEMORY : EMBIPC_OK));
            if (k == POOR) continue;
            ENSURE(!embipc_world_step(alone[k], &one));
            ENSURE(one.total_iterations == stats[k].total_iterations && one.kinetic == stats[k].kinetic);
            ENSURE(scene_bits(alone[k]) == scene_bits(batch[k]));
        }
        ENSURE(scene_bits(poor.w) == before && embipc_world_error(poor.w)->code == EMBIPC_ERR_MEMORY);
        ENSURE(!n || scene_bits(batch[0]) != scene_bits(batch[1]));
    }
    ENSURE(!embipc_worlds_step(batch, BATCH, embipc_pool_for, pool, NULL, NULL));
    ENSURE(scene_bits(poor.w) != before);
    ENSURE(!embipc_worlds_step(NULL, 0, NULL, NULL, NULL, NULL));
    before = scene_bits(batch[1]);   /* what is refused changes nothing */
    ENSURE(embipc_worlds_step(batch, -1, NULL, NULL, NULL, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_worlds_step(NULL, 1, NULL, NULL, NULL, NULL) == EMBIPC_ERR_ARGUMENT);
    for (int k = 0; k < 2; k++) {
        embipc_world *w = batch[2];
        batch[2] = k ? batch[0] : NULL;
        ENSURE(embipc_worlds_step(batch, BATCH, NULL, NULL, NULL, NULL) == EMBIPC_ERR_ARGUMENT);
        batch[2] = w;
    }
    ENSURE(scene_bits(batch[1]) == before);
    for (int k = 0; k < BATCH; k++) {
        if (k == POOR) continue;
        embipc_world_destroy(alone[k]);
        embipc_world_destroy(batch[k]);
    }
    scene_end(&poor);
    scene_end(&s);
    embipc_pool_destroy(pool);
}
#endif

#ifdef EMBIPC_PTHREADS
/* The size of a world counts the room in which threads compute tets, where there are threads, and tets enough. */
static void test_size_with_threads(void)
{
    for (int tets = EMBI_SHARE_BODY - 1; tets <= EMBI_SHARE_BODY; tets++) {
        embipc_world_def wd = embipc_default_world_def();
        const embipc_limits limits = {9, 9, 9, (size_t)tets, 9, 9, 9, 9};
        size_t alone = 0, shared = 0, room = (size_t)EMBI_TEAM_ROOM * sizeof(embipc_real);
        wd.limits = limits;
        ENSURE(!embipc_world_size(&wd, &alone, NULL));
        wd.parallel_for = embipc_pool_for;
        ENSURE(!embipc_world_size(&wd, &shared, NULL));
        ENSURE(shared - alone == (tets < EMBI_SHARE_BODY ? 0 : room));
    }
}
#endif

int main(int argc, char **argv)
{
    test_begin(argc, argv);
#ifndef __SANITIZE_THREAD__
    RUN(rows_of_all_live_vertices);
    RUN(any_order_same_bits);
#endif
#ifdef EMBIPC_PTHREADS
    RUN(any_number_of_threads_same_bits);
    RUN(pool_covers_everything_once);
    RUN(worlds_are_independent);
    RUN(batch);
    RUN(size_with_threads);
#endif
    return test_end("test_threads");
}
