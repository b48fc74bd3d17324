/* A call that fails changes nothing: after each failing allocation, and after a number that is not finite at any moment of a
 * step, all that can be asked for has the same bits, views are J q, and the steps that follow have the bits of a world in
 * which nothing failed. */
#include "small.h"
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "cage_test.h"
#include "undo_test.h"
#include "undo_scenes.h"

/* ---- steps ---- */

static unsigned long long nodes_bits(const scene *s)
{
    return scene_mix(7, s->w->s.q, 3 * (size_t)s->w->s.node_count * sizeof *s->w->s.q);
}

/* Numbers of joints change before every third step: gains, friction, limits, stiffness. */
static void joints_change(const scene *s, int n)
{
    for (int k = 0; k < embi_joint_count(&s->w->s) && n % 3 == 2; k++) {
        const embipc_joint j = s->w->s.driven.joint.list[k].handle;
        embipc_joint_def d;
        ENSURE(embipc_joint_get_def(s->w, j, &d) == EMBIPC_OK);
        if (d.kind == EMBIPC_HINGE || d.kind == EMBIPC_SLIDER) d.limited = 1, d.limits[1] = 0.1 + 0.01 * n, d.friction += 1e-3;
        d.motor_stiffness *= 1.5;
        d.stiffness = 1e4 + 100 * n;
        (void)ENSURE_OK(s->w, embipc_joint_change(s->w, j, &d));
    }
}

/* Runs a scene beside its twin. In the first world each step fails `broken` times because nothing is finite any more, and once
 * for each allocation. viewed: everything is asked for before and after. Returns the calls that failed. */
static int undo_run(int which, int steps, int broken, int viewed)
{
    undo_rig rig[2];
    scene s[2];
    int failed = 0, good = 1;
    for (int i = 0; i < 2; i++) s[i] = undo_scene(which, &rig[i]);
    for (int n = 0; n < steps && good; n++) {
        unsigned long long before;
        long moments;
        embipc_step_stats stats[2];
        embipc_result r = EMBIPC_ERR_MEMORY;
        rig[0].left = -1;
        for (int i = 0; i < 2 && (which == UNDO_TILES || which == UNDO_THREADS + 3); i++) tiles_change(&s[i], n);
        for (int i = 0; i < 2; i++) joints_change(&s[i], n);
        before = viewed ? undo_bits(&s[0]) : nodes_bits(&s[0]);
        rig[1].tick = 0;
        if (!ENSURE_OK(s[1].w, embipc_world_step(s[1].w, &stats[1]))) break;
        moments = rig[1].tick;
        for (int k = 0; good && r != EMBIPC_OK; k++, failed += r != EMBIPC_OK) {
            int memory = k >= broken || moments < 4;   /* the first moment is before the step, the last one behind it */
            rig[0].tick = 0;
            rig[0].at = memory ? 0 : 2 + (long)(test_random() * (double)(moments - 3));
            /* what failed once succeeds the next time; sanitizers, where nothing else fails, see one in four of these */
            rig[0].left = !memory ? -1 : broken ? 1 : TEST_STRIDE;
            r = embipc_world_step(s[0].w, &stats[0]);
            s[0].w->s.h = s[0].w->def.time_step;
            if (r == EMBIPC_OK) break;
            ENSURE(r == (memory ? EMBIPC_ERR_MEMORY : EMBIPC_ERR_NOT_FINITE));
            if (memory) ENSURE(embipc_world_error(s[0].w)->value[0] == (double)rig[0].refused && embipc_world_error(s[0].w)->value[1] > 0);
            good = before == (viewed ? undo_bits(&s[0]) : nodes_bits(&s[0])) && (!viewed || undo_off(s[0].w) < 1e-14) && failed < 20000;
            if (!good) printf("  scene %d, step %d, try %d: the step that failed left its traces\n", which, n, k);
        }
        good = good && (viewed ? undo_bits(&s[0]) == undo_bits(&s[1]) : nodes_bits(&s[0]) == nodes_bits(&s[1]));
        stats[0].candidate_builds = stats[1].candidate_builds;
        if (good) good = memcmp(&stats[0], &stats[1], sizeof stats[0]) == 0;
        if (!good) printf("  scene %d, step %d: other bits than without a failure\n", which, n);
    }
    ENSURE(good);
    for (int i = 0; i < 2; i++) scene_end(&s[i]);
    return failed;
}

/* ---- deadlines ---- */

#ifdef TEST_EVERY
enum { TEST_EVERY_TICK = 1 };
#else
enum { TEST_EVERY_TICK = 0 };
#endif

typedef struct deadlines { int undone, late, in_time; double most; } deadlines;

/* One step of a copy of the world with the deadline at this tick of its clock, and what follows. bits: of this step and the
 * ones after it without a deadline. */
static void deadline_at(const scene *s, undo_rig *rig, long tick, int strict, unsigned long long before,
                        const unsigned long long bits[3], deadlines *sum)
{
    scene c = *s;
    embipc_result r;
    int follows = 0;
    if (!ENSURE_OK(s->w, embipc_world_copy(s->w, &c.w))) return;
    (void)ENSURE_OK(c.w, embipc_world_set_budget(c.w, (double)tick, strict));
    rig->tick = 0;
    r = embipc_world_step(c.w, &c.stats);
    if (r == EMBIPC_ERR_TIME) {
        ENSURE(strict && undo_bits(&c) == before && undo_off(c.w) < 1e-14 && embipc_world_time(c.w) == embipc_world_time(s->w));
        ENSURE(strstr(embipc_world_error(c.w)->text, "not enough for one iteration") != NULL);
        sum->undone++;
    } else {
        ENSURE(r == EMBIPC_OK && undo_off(c.w) < 1e-14 && embipc_world_time(c.w) > embipc_world_time(s->w));
        ENSURE(!c.stats.converged == (c.stats.left > 0));
        ENSURE(c.stats.overrun == fmax(0, (double)(rig->tick - 1 - tick)));
        undo_numbers(&c);
        ENSURE(embipc_world_intersections(c.w, NULL, 0) == 0);
        sum->late += c.stats.late;
        sum->in_time += !c.stats.late;
        if (c.stats.late && strict) sum->most = fmax(sum->most, c.stats.overrun);
        if (!c.stats.late) ENSURE(undo_bits(&c) == bits[0]);
        follows = c.stats.late ? -1 : 1;
    }
    (void)ENSURE_OK(c.w, embipc_world_set_budget(c.w, 0, 0));
    for (int n = r == EMBIPC_ERR_TIME ? 0 : 1; n < 3; n++) {
        ENSURE(scene_step(&c) && !c.stats.late && c.stats.overrun == 0);
        if (follows >= 0) ENSURE(undo_bits(&c) == bits[n]);
        else ENSURE(scene_finite(c.w) && embipc_world_intersections(c.w, NULL, 0) == 0);
    }
    c.n = c.drives = 0;
    embipc_world_destroy(c.w);
}
/* The deadline falls on each moment at which a step looks at the clock, or on some of them, in several steps of each scene. */
static void test_deadlines_at_every_tick(void)
{
    static const int every = TEST_EVERY_TICK;
    deadlines sum = {0, 0, 0, 0};
    for (int k = 0; k < UNDO_COUNT; k += TEST_STRIDE) {
        undo_rig rig;
        scene s = undo_scene(k, &rig);
        rig.ticks = 1;
        for (int n = 0; n < steps_of(k, 10); n++) {
            unsigned long long bits[3], before = undo_bits(&s);
            long ticks = 0;
            scene twin = s;
            if (!ENSURE_OK(s.w, embipc_world_copy(s.w, &twin.w))) break;
            (void)ENSURE_OK(twin.w, embipc_world_set_budget(twin.w, 1e9, 1));
            rig.tick = 0;
            for (int i = 0; i < 3; i++) {
                ENSURE(scene_step(&twin));
                if (i == 0) ticks = rig.tick;
                bits[i] = undo_bits(&twin);
            }
            embipc_world_destroy(twin.w);
            for (long t = 1 + n % 5; t <= ticks && n % 6 == 3; t += every || (k == 0 && n == 3) ? 1 : 1 + ticks / 5)
                for (int strict = 0; strict < 2; strict++) deadline_at(&s, &rig, t, strict, before, bits, &sum);
            ENSURE(scene_step(&s) && undo_bits(&s) == bits[0]);   /* a budget that is never used up changes no bit */
        }
        scene_end(&s);
    }
    printf("  %d undone, %d late, %d in time, %g ticks late at most\n", sum.undone, sum.late, sum.in_time, sum.most);
    ENSURE(sum.undone > 100 / TEST_STRIDE && sum.late > 300 / TEST_STRIDE && sum.in_time > 30 / TEST_STRIDE);
}
/* How much later than their budget steps of a heap return, in ticks; forgets: what they learn of their ends is lost. */
static double overruns(int forgets)
{
    undo_rig rig;
    scene s = undo_scene(UNDO_HEAP, &rig);
    double sum = 0;
    int late = 0;
    rig.ticks = 1;
    for (int n = 0; n < 30; n++) ENSURE(scene_step(&s));
    for (int n = 0; n < 30; n++) {
        if (forgets || n == 0) (void)ENSURE_OK(s.w, embipc_world_set_budget(s.w, 400, 0));
        rig.tick = 0;
        ENSURE(scene_step(&s));
        late += s.stats.late;
        sum += s.stats.overrun;
    }
    ENSURE(late > 5);
    scene_end(&s);
    return sum;
}
/* A budget needs a clock and a number. The time that ends of steps take is learned. */
static void test_budget(void)
{
    undo_rig rig;
    scene s = undo_scene(SCENE_DROP, &rig), still = scene_make(SCENE_DROP, NULL);
    double without = overruns(1), with = overruns(0);
    printf("  overruns: %g ticks, %g by learning\n", without, with);
    ENSURE(with < without / 2);
    ENSURE(embipc_world_set_budget(NULL, 1, 0) == EMBIPC_ERR_ARGUMENT && embipc_world_set_budget(s.w, -1, 0) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_set_budget(s.w, (double)NAN, 0) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_set_budget(s.w, (double)INFINITY, 0) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_set_budget(still.w, 1, 0) == EMBIPC_ERR_ARGUMENT && strstr(embipc_world_error(still.w)->text, "clock"));
    scene_end(&s);
    scene_end(&still);
}

static void test_steps_that_are_not_finite(void)
{
    int failed = 0;
    for (int k = 0; k < UNDO_COUNT; k += TEST_STRIDE) failed += undo_run(k, steps_of(k, 20), 3, 1);
    printf("  %d failing steps\n", failed);
    ENSURE(failed > 1000 / TEST_STRIDE);
}
static void test_steps_out_of_memory(void)
{
    int failed = 0;
    for (int k = TEST_STRIDE / 4; k < UNDO_COUNT; k += 2 * TEST_STRIDE - 1) failed += undo_run(k, steps_of(k, 25), 0, 1);
    printf("  %d failing steps\n", failed);
    ENSURE(failed > 4000 / (2 * TEST_STRIDE - 1) / TEST_STRIDE);
}
/* where nothing is viewed most of x is not J q in between */
static void test_steps_that_nobody_looks_at(void)
{
    int failed = 0;
    for (int k = TEST_STRIDE / 2; k < UNDO_COUNT; k += TEST_STRIDE) failed += undo_run(k, steps_of(k, 20), 1, 0);
    ENSURE(failed > 1000 / TEST_STRIDE);
}

/* ---- the other calls ---- */

enum { CALL_CREATE, CALL_DRIVE, CALL_SOFT, CALL_PAIR, CALL_CROSSINGS, CALL_VALIDATE, CALL_KINDS };

static embipc_result other_call(scene *s, int what, int n)
{
    embipc_drive_def drive = embipc_default_drive_def();
    embipc_drive handle;
    if (what == CALL_CREATE) {
        embipc_kind kind = (embipc_kind)(n % 5);
        embipc_body_def d = scene_def("late", kind, 2 + n, 1, 3);
        embipc_body b;
        test_mesh m = kind == EMBIPC_FULL ? scene_mesh_tet_box(2, 2, 2, 0.1, 0.1, 0.1) : test_mesh_sphere(1);
        embipc_result r;
        test_mesh_shape(&m, &d);
        d.cage_nodes = 8;
        r = embipc_body_create(s->w, &d, &b);
        test_mesh_free(&m);
        return r;
    }
    drive.body = s->body[1];
    if (what == CALL_SOFT) drive.stiffness[2] = 10;
    if (what == CALL_DRIVE || what == CALL_SOFT) {
        embipc_result r = embipc_drive_create(s->w, &drive, &handle);
        return r == EMBIPC_OK ? embipc_drive_destroy(s->w, handle) : r;
    }
    if (what == CALL_PAIR) {
        embipc_result r = embipc_world_set_pair(s->w, s->body[0], s->body[1], -1, n % 2);
        return r == EMBIPC_OK ? embipc_world_set_pair(s->w, s->body[0], s->body[1], 0.5, 1) : r;
    }
    if (what == CALL_CROSSINGS) return embipc_world_intersections(s->w, NULL, 0) < 0 ? EMBIPC_ERR_MEMORY : EMBIPC_OK;
    return embipc_world_validate(s->w, NULL);
}
/* Between steps each of these calls fails, for one of its allocations after the other, in the first of two worlds. */
static void test_other_calls_out_of_memory(void)
{
    static const int scenes[7] = {SCENE_DROP, UNDO_BDF2 + SCENE_STACK, UNDO_HEAP, UNDO_FINE, UNDO_NONLINEAR, UNDO_RESTING, UNDO_TILES};
    int failed = 0;
    for (int k = 0; k < 7; k += TEST_STRIDE) {
        undo_rig rig[2];
        scene s[2];
        int good = 1;
        for (int i = 0; i < 2; i++) s[i] = undo_scene(scenes[k], &rig[i]);
        for (int n = 0; n < 30 && good; n++) {
            int what = n % CALL_KINDS;
            unsigned long long bits = undo_bits(&s[0]);
            for (int left = 0; good; left += 1 + left / 8, failed++) {
                rig[0].left = left;
                if (other_call(&s[0], what, n) != EMBIPC_ERR_MEMORY) break;
                good = undo_bits(&s[0]) == bits && undo_off(s[0].w) < 1e-14;
            }
            rig[0].left = -1;
            (void)ENSURE_OK(s[1].w, other_call(&s[1], what, n));
            if (!good) printf("  scene %d: call %d left its traces\n", scenes[k], what);
            for (int i = 0; i < 2; i++) scene_step(&s[i]);
            good = good && undo_bits(&s[0]) == undo_bits(&s[1]);
        }
        ENSURE(good);
        for (int i = 0; i < 2; i++) scene_end(&s[i]);
    }
    printf("  %d failing calls\n", failed);
    ENSURE(failed > 300 / TEST_STRIDE);
}

/* A reset that is refused, since two bodies would cross at their starts, and calls with wrong arguments. */
static void test_refused_calls(void)
{
    for (int k = 0; k < UNDO_HEAP; k += TEST_STRIDE) {
        undo_rig rig[2];
        scene s[2];
        for (int i = 0; i < 2; i++) {
            embipc_body_def d = scene_def("first", EMBIPC_AFFINE, 5, 5, 5);
            d.velocity[2] = -1;
            s[i] = undo_scene(k, &rig[i]);
            scene_box(&s[i], d, 0.1, 0.1, 0.1, 1);
        }
        for (int n = 0; n < 40; n++) {
            for (int i = 0; i < 2; i++) {
                embipc_body_def d = scene_def("second", EMBIPC_AFFINE, 5, 5, 5);
                if (n == 30) scene_box(&s[i], d, 0.1, 0.1, 0.1, 1);
            }
            if (n > 30) {
                double none[3] = {0, 0, 0}, wrong[3] = {0, (double)NAN, 0};
                embipc_body_def d = scene_def("third", EMBIPC_AFFINE, 5, 5, 5.02);
                unsigned long long bits = undo_bits(&s[0]);
                embipc_body b;
                test_mesh m = test_mesh_box(-0.05, -0.05, -1, 0.05, 0.05, 0.05);
                test_mesh_shape(&m, &d);
                ENSURE(embipc_world_reset(s[0].w) == EMBIPC_ERR_INTERSECTION);
                ENSURE(embipc_body_create(s[0].w, &d, &b) != EMBIPC_OK);
                ENSURE(embipc_body_set_velocity(s[0].w, s[0].body[1], wrong, none) != EMBIPC_OK);
                ENSURE(embipc_body_apply_force(s[0].w, s[0].body[1], -1, wrong) != EMBIPC_OK);
                ENSURE(embipc_world_set_gravity(s[0].w, wrong) != EMBIPC_OK && embipc_world_set_time_step(s[0].w, -1) != EMBIPC_OK);
                ENSURE(undo_bits(&s[0]) == bits && undo_off(s[0].w) < 1e-14);
                test_mesh_free(&m);
            }
            for (int i = 0; i < 2; i++) scene_step(&s[i]);
            ENSURE(undo_bits(&s[0]) == undo_bits(&s[1]));
        }
        for (int i = 0; i < 2; i++) scene_end(&s[i]);
    }
}

/* What is derived of gravity and the time step can be asked for at once, and a step that fails does not change it. */
static void test_parameters_follow_at_once(void)
{
    undo_rig rig;
    scene s = undo_scene(SCENE_STACK, &rig);
    embipc_body_parameters a, b, c;
    double g[3] = {0, 0, -30};
    for (int n = 0; n < 5; n++) scene_step(&s);
    (void)ENSURE_OK(s.w, embipc_body_get_parameters(s.w, s.body[1], &a));
    (void)ENSURE_OK(s.w, embipc_world_set_time_step(s.w, 0.002));
    (void)ENSURE_OK(s.w, embipc_body_get_parameters(s.w, s.body[1], &b));
    ENSURE(a.kappa == b.kappa);   /* frames of a game may differ as much */
    (void)ENSURE_OK(s.w, embipc_world_set_time_step(s.w, 0.0001));
    (void)ENSURE_OK(s.w, embipc_body_get_parameters(s.w, s.body[1], &b));
    ENSURE(a.kappa != b.kappa);
    (void)ENSURE_OK(s.w, embipc_world_set_time_step(s.w, 0.002));
    (void)ENSURE_OK(s.w, embipc_body_get_parameters(s.w, s.body[1], &b));
    (void)ENSURE_OK(s.w, embipc_world_set_gravity(s.w, g));
    (void)ENSURE_OK(s.w, embipc_body_get_parameters(s.w, s.body[1], &a));
    ENSURE(a.kappa != b.kappa);
    b = a;
    rig.tick = 0;
    rig.at = 3;
    ENSURE(embipc_world_step(s.w, NULL) == EMBIPC_ERR_NOT_FINITE);
    s.w->s.h = 0.002;
    (void)ENSURE_OK(s.w, embipc_body_get_parameters(s.w, s.body[1], &c));
    ENSURE(memcmp(&b, &c, sizeof b) == 0);
    rig.at = 0;
    scene_step(&s);
    (void)ENSURE_OK(s.w, embipc_body_get_parameters(s.w, s.body[1], &c));
    ENSURE(memcmp(&b, &c, sizeof b) == 0);
    scene_end(&s);
}

/* ---- copies of worlds ---- */

/* A copy takes the place of the world, which is destroyed: memory that is freed is overwritten. */
static void trade(scene *s)
{
    embipc_world *c;
    unsigned long long bits = undo_bits(s);
    if (!ENSURE_OK(s->w, embipc_world_copy(s->w, &c))) return;
    embipc_world_destroy(s->w);
    s->w = c;
    ENSURE(undo_bits(s) == bits && undo_off(c) < 1e-14);
}
/* A world that is traded for its copy before every third step keeps the bits of one that is not. It goes back to an earlier
 * state and forward again, on the same way. The steps of a copy allocate what those of its world do. */
static void test_copies_go_on(void)
{
    for (int k = 0; k < UNDO_COUNT; k += 2 * TEST_STRIDE - 1) {
        undo_rig rig[2];
        scene s[2], back;
        embipc_world *saved = NULL;
        unsigned long long bits[12], start = 0;
        int steps = steps_of(k, 12), half = steps / 2;
        for (int i = 0; i < 2; i++) s[i] = undo_scene(k, &rig[i]);
        for (int n = 0; n < steps; n++) {
            long calls[2];
            for (int i = 0; i < 2 && (k == UNDO_TILES || k == UNDO_THREADS + 3); i++) tiles_change(&s[i], n);
            if (n % 3 == 1) trade(&s[0]);
            for (int i = 0; i < 2 && n < half; i++) joints_change(&s[i], n);
            if (n % 3 == 2) trade(&s[0]);
            if (n == half) {
                (void)ENSURE_OK(s[0].w, embipc_world_copy(s[0].w, &saved));
                start = undo_bits(&s[0]);
            }
            for (int i = 0; i < 2; i++) {
                calls[i] = rig[i].calls;
                scene_step(&s[i]);
                calls[i] = rig[i].calls - calls[i];
            }
            bits[n] = undo_bits(&s[1]);
            ENSURE(undo_bits(&s[0]) == bits[n] && calls[0] == calls[1]);
        }
        for (int again = 0; again < 2 && k != UNDO_TILES && k != UNDO_THREADS + 3; again++) {
            (void)ENSURE_OK(s[0].w, embipc_world_restore(s[0].w, saved));
            ENSURE(undo_bits(&s[0]) == start && undo_off(s[0].w) < 1e-14);
            for (int n = half; n < steps; n++) {
                scene_step(&s[0]);
                ENSURE(undo_bits(&s[0]) == bits[n]);
            }
        }
        back = s[0];
        back.w = saved;
        ENSURE(undo_bits(&back) == start);
        scene_end(&back);
        for (int i = 0; i < 2; i++) scene_end(&s[i]);
    }
}
/* Each allocation of a copy fails once, and nothing is left of it. The world that is to go back stays as it is. */
static void test_copies_out_of_memory(void)
{
    int failed = 0;
    for (int k = 0; k < UNDO_COUNT; k += 2 * TEST_STRIDE - 1) {
        undo_rig rig;
        scene s = undo_scene(k, &rig);
        embipc_world *c, *saved;
        size_t before, after;
        unsigned long long bits;
        for (int n = 0; n < 6; n++) scene_step(&s);
        (void)ENSURE_OK(s.w, embipc_world_copy(s.w, &saved));
        scene_step(&s);
        bits = undo_bits(&s);
        before = rig.bytes;
        for (int left = 0;; left += 1 + left / 16, failed++) {
            embipc_result r;
            rig.left = left;
            r = embipc_world_copy(s.w, &c);
            if (r == EMBIPC_OK) break;
            ENSURE(r == EMBIPC_ERR_MEMORY && !c && rig.bytes == before);
        }
        rig.left = -1;
        embipc_world_memory(c, &after, NULL, NULL);
        ENSURE(rig.bytes - before == after);   /* it says what it takes */
        embipc_world_destroy(c);
        ENSURE(rig.bytes == before);
        for (int left = 0;; left += 1 + left / 16, failed++) {
            rig.left = left;
            if (embipc_world_restore(s.w, saved) == EMBIPC_OK) break;
            ENSURE(embipc_world_error(s.w)->code == EMBIPC_ERR_MEMORY && rig.bytes == before && undo_bits(&s) == bits);
            ENSURE(embipc_world_error(s.w)->value[0] == (double)rig.refused && strstr(embipc_world_error(s.w)->text, "no memory for"));
        }
        rig.left = -1;
        embipc_world_destroy(saved);
        embipc_world_memory(s.w, &after, NULL, NULL);
        ENSURE(rig.bytes == after);
        scene_end(&s);
        ENSURE(rig.bytes == 0);
    }
    printf("  %d failing copies\n", failed);
    ENSURE(failed > 1000 / (2 * TEST_STRIDE - 1));
}
/* What is refused, and that a body made after the copy is gone when the world goes back. */
static void test_copies_refused(void)
{
    undo_rig rig;
    scene s = undo_scene(SCENE_STACK, &rig), other;
    embipc_body_def d = scene_def("late", EMBIPC_AFFINE, 3, 0, 1);
    embipc_body_state state;
    embipc_world *c = s.w;
    int count = embipc_world_body_count(s.w), late;
    ENSURE(embipc_world_copy(NULL, &c) == EMBIPC_ERR_ARGUMENT && !c && embipc_world_copy(s.w, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_restore(NULL, s.w) == EMBIPC_ERR_ARGUMENT && embipc_world_restore(s.w, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_restore(s.w, s.w) == EMBIPC_OK);
    scene_step(&s);
    (void)ENSURE_OK(s.w, embipc_world_copy(s.w, &c));
    late = scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    ENSURE(late >= 0 && embipc_world_body_count(s.w) == count + 1);
    scene_step(&s);
    (void)ENSURE_OK(s.w, embipc_world_restore(s.w, c));
    ENSURE(embipc_world_body_count(s.w) == count);
    ENSURE(embipc_body_get_state(s.w, s.body[late], &state) == EMBIPC_ERR_HANDLE);
    /* both go on by themselves: one of them without gravity */
    other = s;
    other.w = c;
    (void)ENSURE_OK(c, embipc_world_set_gravity(c, state.velocity));
    for (int n = 0; n < 5; n++) {
        scene_step(&s);
        scene_step(&other);
    }
    ENSURE(undo_bits(&s) != undo_bits(&other) && scene_sound(s.w) && scene_sound(c));
    scene_end(&other);
    scene_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    small_loops_only();
    RUN(deadlines_at_every_tick);
    RUN(budget);
    RUN(steps_that_are_not_finite);
    RUN(steps_out_of_memory);
    RUN(steps_that_nobody_looks_at);
    RUN(other_calls_out_of_memory);
    RUN(refused_calls);
    RUN(parameters_follow_at_once);
    RUN(copies_go_on);
    RUN(copies_out_of_memory);
    RUN(copies_refused);
    meshio_test_unused();
    cage_test_unused();
    undo_unused();
    return test_end("test_undo");
}
