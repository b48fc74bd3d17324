#include "bench.h"
#include "bench_case.h"
#include "bench_row.h"
#include "json.h"
#include "output.h"
#include "scene.h"
#include "system.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BENCH_LONG 1.0     /* ms: longer steps are looked at by processor time */
#define BENCH_ENOUGH 20.0   /* s of timed runs of a case with one number of threads */
#define BENCH_PATIENCE 200.0   /* s for one run */

enum { BENCH_CHECKS = 8, BENCH_NAMED = 20 };

/* A case and its world. */
typedef struct bench_world {
    const char *name;
    scene s;
    embipc_world *w;                      /* open, or NULL */
    double build;
    size_t memory, limit;                 /* bytes in use, and allowed: a case must not take the machine down */
} bench_world;

/* One step of the run that is looked at. */
typedef struct bench_step {
    double total, once, often;            /* ms: all, and in the stages that go over pairs, once a step or each solve */
    int solves, contacts;
} bench_step;

/* Wall time; where ctx says so the processor time of this thread, which other processes leave alone. */
static double bench_clock(void *ctx)
{
    return *(const int *)ctx ? system_thread_seconds() : system_seconds();
}

static int bench_by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *bench_alloc(size_t size, void *ctx)
{
    bench_world *b = (bench_world *)ctx;
    void *p = size > b->limit - b->memory ? NULL : malloc(size);
    if (p) b->memory += size;
    return p;
}

static void bench_release(void *p, size_t size, void *ctx)
{
    bench_world *b = (bench_world *)ctx;
    if (p) b->memory -= size;
    free(p);
}

static int bench_open(bench_world *b, void *pool, int *clock, tool_error *e)
{
    double start;
    int ok;
    b->s.world.clock = clock ? bench_clock : NULL;
    b->s.world.clock_ctx = clock;
    b->s.world.allocator.alloc = bench_alloc;
    b->s.world.allocator.free = bench_release;
    b->s.world.allocator.ctx = b;
#ifdef EMBIPC_PTHREADS
    b->s.world.parallel_for = pool ? embipc_pool_for : NULL;
    b->s.world.parallel_ctx = pool;
#else
    (void)pool;
#endif
    start = system_seconds();
    ok = scene_build(&b->s, &b->w, e);
    b->build = system_seconds() - start;
    return ok;
}

static void bench_close(bench_world *b)
{
    embipc_world_destroy(b->w);
    b->w = NULL;
}

/* ---- What a run comes to -------------------------------------------------------------------- */

/* FNV-1a over the bytes of all surfaces. */
static unsigned long long bench_bits(const embipc_world *w)
{
    unsigned long long h = 14695981039346656037ull;
    for (int i = 0; i < embipc_world_body_count(w); i++) {
        embipc_body_view v;
        const unsigned char *p;
        (void)embipc_body_get_view(w, embipc_world_body(w, i), &v);
        p = (const unsigned char *)v.x;
        for (size_t k = 0; k < 3 * sizeof *v.x * (size_t)v.vertex_count; k++) h = (h ^ p[k]) * 1099511628211ull;
    }
    return h;
}

/* Dynamic and not driven: what the scene is about. */
static int bench_is_free(const scene *s, int body)
{
    for (int i = 0; i < s->drive_count; i++)
        if (s->drive[i].body == body) return 0;
    return s->body[body].def.kind >= EMBIPC_AFFINE;
}

/* The centres of free bodies along z: the least of how far each is above where it was in z0. */
static double bench_rise(const bench_world *b, double *z0, int start)
{
    double least = HUGE_VAL;
    for (int i = 0; i < b->s.body_count; i++) {
        embipc_body_state state;
        if (!bench_is_free(&b->s, i)) continue;
        (void)embipc_body_get_state(b->w, b->s.body[i].handle, &state);
        if (start) z0[i] = state.centre[2];
        least = fmin(least, state.centre[2] - z0[i]);
    }
    return least;
}

/* Area of the vertices that bear a contact force, a third of each of their triangles, and the mean pressure there. */
static void bench_patch(const bench_world *b, bench_row *r)
{
    double load = 0;
    for (int i = 0; i < b->s.body_count; i++) {
        embipc_body_view v;
        double *force;
        if (!bench_is_free(&b->s, i)) continue;
        (void)embipc_body_get_view(b->w, b->s.body[i].handle, &v);
        force = (double *)tool_alloc(3 * (size_t)v.vertex_count, sizeof *force);
        (void)embipc_body_vertex_forces(b->w, b->s.body[i].handle, force);
        for (int k = 0; k < v.vertex_count; k++) load += tool_length(force + 3 * k);
        for (int t = 0; t < 3 * v.triangle_count; t++) {
            const int *tri = v.triangles + t / 3 * 3;
            const double *f = force + 3 * v.triangles[t];
            double p[3], q[3], n[3];
            if (f[0] == 0 && f[1] == 0 && f[2] == 0) continue;
            tool_sub(p, v.x + 3 * tri[1], v.x + 3 * tri[0]);
            tool_sub(q, v.x + 3 * tri[2], v.x + 3 * tri[0]);
            tool_cross(n, p, q);
            r->patch += tool_length(n) / 6;
        }
        free(force);
    }
    r->pressure = r->patch > 0 ? load / r->patch : 0;
}

static void bench_vector(tool_text *t, const char *key, const double x[3])
{
    tool_put(t, "\"%s\": [%.9g, %.9g, %.9g]", key, x[0], x[1], x[2]);
}

/* Bodies and pair forces at the end; of many only the mean of the centres and the sum of the forces' sizes. */
static void bench_results(const bench_world *b, bench_row *r)
{
    int count = embipc_world_pair_forces(b->w, NULL, 0), free_count = 0;
    embipc_pair_force *pair = (embipc_pair_force *)tool_alloc((size_t)count, sizeof *pair);
    double mean[3] = {0, 0, 0}, sum = 0;
    tool_text *t = &r->results;
    tool_put(t, "\"bodies\": [");
    for (int i = 0; i < b->s.body_count; i++) {
        embipc_body_state state;
        if (b->s.body[i].def.kind < EMBIPC_AFFINE) continue;
        (void)embipc_body_get_state(b->w, b->s.body[i].handle, &state);
        if (r->bodies <= BENCH_NAMED) {
            tool_put(t, "%s{ \"name\": ", free_count ? ", " : " ");
            json_write_string(t, b->s.body[i].name);
            tool_put(t, ", ");
            bench_vector(t, "centre", state.centre);
            tool_put(t, " }");
        }
        for (int c = 0; c < 3; c++) mean[c] += state.centre[c] / r->bodies;
        free_count++;
    }
    tool_put(t, " ], ");
    bench_vector(t, "mean_centre", mean);
    tool_put(t, ",\n      \"forces\": [");
    (void)embipc_world_pair_forces(b->w, pair, count);
    for (int i = 0; i < count; i++) {
        const double *f = pair[i].force;
        sum += tool_length(f);
        if (r->bodies > BENCH_NAMED) continue;
        tool_put(t, "%s{ \"a\": ", i ? ", " : " ");
        json_write_string(t, b->s.body[scene_index_of(&b->s, pair[i].a)].name);
        tool_put(t, ", \"b\": ");
        json_write_string(t, b->s.body[scene_index_of(&b->s, pair[i].b)].name);
        tool_put(t, ", ");
        bench_vector(t, "force", f);
        tool_put(t, " }");
    }
    tool_put(t, " ], \"forces_N\": %.9g", sum);
    free(pair);
}

/* ---- The run that is looked at -------------------------------------------------------------- */

/* The phases: cut where a key of some drive lies, the end of the run included. */
static void bench_phases(bench_row *r, const scene *s)
{
    double at = 0;
    while (r->phases < BENCH_PHASES && at < s->duration) {
        double next = s->duration;
        for (int i = 0; i < s->drive_count; i++)
            for (int k = 0; k < s->drive[i].key_count; k++) {
                double time = s->drive[i].keys[7 * k];
                if (time > at && time < next && r->phases < BENCH_PHASES - 1) next = time;
            }
        r->phase[r->phases++].end = at = next;
    }
}

static void bench_take(bench_row *r, bench_step *step, const embipc_step_stats *t, double ms)
{
    bench_phase *p = r->phase;
    while (p < r->phase + r->phases - 1 && t->time > p->end + 1e-6 * r->step) p++;
    p->steps++;
    p->solves += t->newton_iterations;
    p->factorizations += t->factorizations;
    r->solves += (double)t->newton_iterations / r->steps;
    r->factorizations += (double)t->factorizations / r->steps;
    if (t->newton_iterations > r->solves_most) r->solves_most = t->newton_iterations;
    if (t->factorizations > r->factorizations_most) r->factorizations_most = t->factorizations;
    r->all_solves += (double)t->total_iterations / r->steps;
    r->all_factorizations += (double)t->total_factorizations / r->steps;
    r->contacts += (double)t->contacts / r->steps;
    r->candidates += (double)t->candidates / r->steps;
    r->contacts_most = t->contacts > r->contacts_most ? t->contacts : r->contacts_most;
    r->simulated = t->time;
    r->cut += !t->converged;
    r->unknowns = t->unknowns > r->unknowns ? t->unknowns : r->unknowns;
    r->gap = fmin(r->gap, t->min_distance);
    r->tightest = fmin(r->tightest, t->tightest);
    r->drive_short = fmax(r->drive_short, t->drive_short);
    for (int k = 0; k < EMBIPC_STAGE_COUNT; k++) r->stage[k] += t->stage_time[k];
    step->total = ms;
    step->once = 1e3 * (t->stage_time[EMBIPC_STAGE_SEARCH] + t->stage_time[EMBIPC_STAGE_REST]);
    step->often = 1e3 * (t->stage_time[EMBIPC_STAGE_CONTACT] + t->stage_time[EMBIPC_STAGE_ASSEMBLE] +
                         t->stage_time[EMBIPC_STAGE_CCD] + t->stage_time[EMBIPC_STAGE_MOVE]);
    step->solves = t->newton_iterations;
    step->contacts = t->contacts;
}

static double bench_median(double *list, int count)
{
    qsort(list, (size_t)count, sizeof *list, bench_by_size);
    return count ? list[count / 2] : 0;
}

/* What active pairs cost: the stages that go over pairs, less the least that they take in a step without any, once and
 * for each solve (in others those that come near are searched for; the first step, which warms up, left out), by the
 * number of solves and pairs; medians over the steps with at least half of the most pairs. The rest of those steps is
 * the cost outside the active pairs, and that by the number of solves. */
static void bench_split(bench_row *r, const bench_step *step)
{
    enum { OUTSIDE, OUTSIDE_SOLVE, PAIR, KINDS };
    double *list = (double *)tool_alloc((size_t)(KINDS * r->steps), sizeof *list), once = HUGE_VAL, often = HUGE_VAL;
    int count = 0;
    for (int n = 1; n < r->steps; n++) {
        if (step[n].contacts > 0) continue;
        once = fmin(once, step[n].once);
        often = fmin(often, step[n].often / step[n].solves);
    }
    for (int n = 1; n < r->steps && once < HUGE_VAL; n++) {
        const bench_step *t = step + n;
        double pairs = t->once - once + t->often - often * t->solves, outside = t->total - pairs;
        if (t->contacts == 0 || 2 * t->contacts < r->contacts_most) continue;
        list[OUTSIDE * r->steps + count] = outside;
        list[OUTSIDE_SOLVE * r->steps + count] = outside / t->solves;
        list[PAIR * r->steps + count] = 1e3 * pairs / ((double)t->solves * t->contacts);
        count++;
    }
    r->outside = bench_median(list + OUTSIDE * r->steps, count);
    r->outside_solve = bench_median(list + OUTSIDE_SOLVE * r->steps, count);
    r->pair = bench_median(list + PAIR * r->steps, count);
    free(list);
}

/* One step, timed; ms and cpu become the least of what they were and are, at the first run what they are. */
static int bench_step_once(bench_world *b, int n, embipc_step_stats *t, double *ms, double *cpu, int first,
                           tool_error *e)
{
    double had, start, now, used;
    if (!scene_steer(&b->s, b->w, e)) return 0;
    had = system_thread_seconds();
    start = system_seconds();
    if (embipc_world_step(b->w, t) != EMBIPC_OK)
        return tool_fail(e, "step %d failed: %s", n + 1, embipc_world_error(b->w)->text);
    now = 1e3 * (system_seconds() - start);
    used = 1e3 * (system_thread_seconds() - had);
    *ms = first ? now : fmin(now, *ms);
    *cpu = first ? used : fmin(used, *cpu);
    return 1;
}

/* What is known before the first step. */
static void bench_begin(bench_row *r, const bench_world *b)
{
    r->build = b->build;
    r->step = b->s.world.time_step;
    r->steps = (int)ceil(b->s.duration / r->step - 1e-9);
    r->gap = r->tightest = HUGE_VAL;
    r->ms = (double *)tool_alloc((size_t)r->steps + 1, sizeof *r->ms);
    r->cpu = (double *)tool_alloc((size_t)r->steps + 1, sizeof *r->cpu);
    bench_phases(r, &b->s);
}

/* Asked for after the steps that are timed: of what is viewed the surface follows in each. */
static void bench_sizes(bench_row *r, const bench_world *b)
{
    for (int i = 0; i < b->s.body_count; i++) {
        embipc_body_view v;
        (void)embipc_body_get_view(b->w, b->s.body[i].handle, &v);
        r->triangles += v.triangle_count;
        r->bodies += v.kind >= EMBIPC_AFFINE;
    }
}

/* Steps of the run that is looked at, with the clock inside them. Asking for processor time takes 0.4 us, too much
 * for short steps, which are too short to be disturbed as well: it is asked for after the first long one. */
static int bench_look_steps(bench_row *r, bench_world *b, bench_step *step, int *processor_time, double patience,
                            tool_error *e)
{
    double end = system_seconds() + patience;
    for (int n = 0; n < r->steps; n++) {
        embipc_step_stats t;
        if (!bench_step_once(b, n, &t, r->ms + n, r->cpu + n, 1, e)) return 0;
        bench_take(r, step + n, &t, *processor_time ? r->cpu[n] : r->ms[n]);
        if (r->ms[n] > BENCH_LONG && r->threads == 1) *processor_time = 1;
        if (system_seconds() > end)
            return tool_fail(e, "gave up after %d of %d steps and %.0f s", n + 1, r->steps, patience);
        if ((n + 1) * BENCH_CHECKS / r->steps == n * BENCH_CHECKS / r->steps) continue;
        r->intersections += embipc_world_intersections(b->w, NULL, 0) != 0;
        r->checks++;
    }
    return 1;
}

static int bench_look(bench_row *r, bench_world *b, void *pool, double patience, tool_error *e)
{
    bench_step *step = NULL;
    double *z0 = NULL, sum = 0;
    size_t peak = 0;
    int processor_time = 0, ok = bench_open(b, pool, &processor_time, e);
    if (ok) {
        bench_begin(r, b);
        step = (bench_step *)tool_alloc((size_t)r->steps + 1, sizeof *step);
        z0 = (double *)tool_alloc((size_t)b->s.body_count, sizeof *z0);
        bench_rise(b, z0, 1);
        ok = bench_look_steps(r, b, step, &processor_time, patience, e);
    }
    if (ok) {
        for (int k = 0; k < EMBIPC_STAGE_COUNT; k++) sum += r->stage[k];
        for (int k = 0; k < EMBIPC_STAGE_COUNT; k++) r->stage[k] /= sum > 0 ? sum : 1;
        bench_sizes(r, b);
        bench_split(r, step);
        bench_patch(b, r);
        bench_results(b, r);
        r->rise = bench_rise(b, z0, 0);
        r->bits = bench_bits(b->w);
        r->same = 1;
        embipc_world_memory(b->w, NULL, &peak, NULL);
        r->memory = (double)peak / 1e6;
        r->runs = processor_time;   /* long steps: their clock inside is nothing against them, the run counts */
    }
    free(step);
    free(z0);
    bench_close(b);
    return ok;
}

/* ---- The runs that are timed ---------------------------------------------------------------- */

static int bench_time(bench_row *r, bench_world *b, void *pool, tool_error *e)
{
    size_t peak = 0;
    int ok = bench_open(b, pool, NULL, e);
    for (int n = 0; ok && n < r->steps; n++) ok = bench_step_once(b, n, NULL, r->ms + n, r->cpu + n, r->runs == 0, e);
    if (ok) {
        r->runs++;
        r->same = r->same && r->bits == bench_bits(b->w);
        embipc_world_memory(b->w, NULL, &peak, NULL);
        r->memory = (double)peak / 1e6;
    }
    bench_close(b);
    return ok;
}

/* Sum and quantiles of the least times. */
static void bench_sum(bench_row *r)
{
    for (int n = 0; n < r->steps; n++) {
        r->wall += r->ms[n] / 1e3;
        r->processor += r->cpu[n] / 1e3;
    }
    if (r->steps == 0) return;
    qsort(r->ms, (size_t)r->steps, sizeof *r->ms, bench_by_size);
    r->median = r->ms[r->steps / 2];
    r->high = r->ms[(int)(0.95 * r->steps)];
    r->most = r->ms[r->steps - 1];
}

/* Runs of a case that took so long to be looked at: at most as many as are wanted, and not many of long ones. */
static int bench_runs(const bench_row *r, int repeats)
{
    double once = 0;
    for (int n = 0; n < r->steps; n++) once += r->ms[n] / 1e3;
    if (once * repeats > BENCH_ENOUGH) repeats = (int)(BENCH_ENOUGH / once);
    return repeats > 1 || r->runs ? repeats : 1;
}

/* One case with one thread and, if that is wanted, with more: their timed runs by turns. Returns the number of rows,
 * or 0 with e filled. */
static int bench_measure(bench_row row[2], const bench_case *c, const bench_options *o, void *pool, tool_error *e)
{
    bench_world b;
    int rows = pool && c->threads ? 2 : 1, runs = 0, ok;
    memset(&b, 0, sizeof b);
    b.name = c->name;
    b.limit = (size_t)(o->memory * 1e9);
    ok = scene_parse(&b.s, c->path, c->text, strlen(c->text), e);
    for (int i = 0; i < rows && ok; i++) {
        row[i].name = c->name;
        row[i].threads = i ? o->threads : 1;
        ok = bench_look(&row[i], &b, i ? pool : NULL, BENCH_PATIENCE, e);
        if (ok && i == 0) runs = bench_runs(row, o->repeats);
        if (i) row[i].runs = row[0].runs;
    }
    for (int n = row[0].runs; n < runs && ok; n++)
        for (int i = 0; i < rows && ok; i++) ok = bench_time(&row[i], &b, i ? pool : NULL, e);
    for (int i = 0; i < rows && ok; i++) bench_sum(&row[i]);
    if (ok && rows == 2) {
        row[1].speedup = row[0].wall / row[1].wall;
        row[1].same = row[1].same && row[1].bits == row[0].bits;
    }
    scene_free(&b.s);
    return ok ? rows : 0;
}

/* ---- The command ---------------------------------------------------------------------------- */

/* All cases; rows receives the JSON. Returns the exit code, with e filled where it is 2. */
static int bench_all(const bench_cases *c, const bench_options *o, void *pool, tool_text *rows, tool_error *e)
{
    int code = 0, skipped = 0;
    tool_text results = { NULL, 0, 0 };
    bench_head(o->out);
    bench_put_results(&results, NULL);
    for (int i = 0; i < c->count; i++) {
        bench_row row[2];
        int count;
        memset(row, 0, sizeof row);
        if (c->item[i].missing) {
            skipped++;
            continue;
        }
        count = bench_measure(row, &c->item[i], o, pool, e);
        if (!count) {
            fprintf(o->out, "%-24.24s FAILED: %s\n", c->item[i].name, e->text);
            tool_put(rows, "%s    { \"case\": ", rows->length ? ",\n" : "");
            json_write_string(rows, c->item[i].name);
            tool_put(rows, ", \"failed\": true }");
        }
        for (int k = 0; k < count; k++) {
            bench_print(o->out, &row[k]);
            if (k == 0) bench_put_results(&results, &row[k]);
            tool_put(rows, "%s", rows->length ? ",\n" : "");
            bench_json_row(rows, &row[k]);
        }
        if (code == 0 && (!count || row[0].intersections || !row[0].same || (count == 2 && !row[1].same))) code = 1;
        for (int k = 0; k < 2; k++) {
            free(row[k].ms);
            free(row[k].cpu);
            tool_text_free(&row[k].results);
        }
        if (o->json && !bench_save(o->json, rows, o->repeats, e)) code = 2;   /* after each: a set takes long */
        if (code == 2) break;
    }
    fprintf(o->out, "%s", results.data);
    tool_text_free(&results);
    if (skipped) fprintf(o->out, "%d skipped: they need meshes from outside (DATA)\n", skipped);
    return code;
}

int bench_run(const bench_options *o)
{
    output_plan plan = { { o->json }, { NULL }, o->file, o->file_count };
    tool_error e;
    void *pool = NULL;
    bench_cases c;
    tool_text rows = { NULL, 0, 0 };
    int code = 2;
    e.text[0] = 0;
    memset(&c, 0, sizeof c);
    if (output_check(&plan, &e) && bench_read(&c, o, &e)) {
        if (o->write) code = bench_write(&c, o->write, &e) ? 0 : 2;
        else if (!c.count) tool_fail(&e, "embipc: found no case that is asked for, expected at least one");
        else {
#ifdef EMBIPC_PTHREADS
            if (o->threads > 1) pool = embipc_pool_create(o->threads);
#endif
            code = bench_all(&c, o, pool, &rows, &e);
#ifdef EMBIPC_PTHREADS
            embipc_pool_destroy((embipc_pool *)pool);
#endif
        }
    }
    if (code == 2) fprintf(o->errors, "%s\n", e.text);
    tool_text_free(&rows);
    bench_free(&c);
    return code;
}
