#include "bench.h"
#include "bench_case.h"
#include "scene.h"
#include "system.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BENCH_FLAGS          /* the Makefile says what the tool was built with */
#define BENCH_FLAGS ""
#endif

enum { BENCH_PHASES = 8, BENCH_CHECKS = 8, BENCH_NAMED = 20 };

/* Steps between two moments at which some drive changes its motion. */
typedef struct bench_phase {
    double end;                           /* s */
    int steps, solves, factorizations;    /* of the island that took most of each step */
} bench_phase;

/* What the runs of one case with one number of threads came to. */
typedef struct bench_row {
    const char *name;
    int threads, steps, cut, unknowns, triangles, bodies;   /* bodies: those that are not fixed or kinematic */
    double step, simulated, build;        /* s */
    double *ms, *cpu;                     /* owned: least time of each step, and least processor time of this thread */
    double wall, median, high, most;      /* s; ms a step: p50, p95, max */
    double processor;                     /* s: sum of cpu */
    double solves, factorizations;        /* a step, of the island that took most */
    double all_solves, all_factorizations, contacts, candidates;   /* a step, of all islands */
    int contacts_most;
    double stage[EMBIPC_STAGE_COUNT];     /* share of the time in steps */
    double outside, pair;                 /* ms a step but for active pairs; us a solve for each active pair */
    double memory;                        /* peak, MB */
    bench_phase phase[BENCH_PHASES];
    int phases;
    double gap, tightest, drive_short, rise;
    double patch, pressure;               /* m^2 of surfaces that bear a force at the end, Pa */
    int intersections, checks;            /* found, in so many looks */
    unsigned long long bits;              /* of all positions at the end */
    int same;                             /* every repetition ended with these bits */
    double speedup;                       /* against one thread; 0: not measured */
    tool_text results;                    /* owned: bodies and forces at the end, as JSON */
} bench_row;

/* The world of a case, open. */
typedef struct bench_world {
    scene s;
    embipc_world *w;
    double build;
} bench_world;

/* One step of the run that is looked at. */
typedef struct bench_step {
    double total, pairs;                  /* ms, all and in the stages that go over pairs */
    int solves, contacts;
} bench_step;

static double bench_clock(void *ctx)
{
    (void)ctx;
    return system_seconds();
}

static int bench_by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int bench_open(bench_world *b, const bench_case *c, void *pool, int with_clock, tool_error *e)
{
    double start;
    int ok = scene_parse(&b->s, c->path, c->text, strlen(c->text), e);
    b->w = NULL;
    if (with_clock) b->s.world.clock = bench_clock;
#ifdef EMBIPC_PTHREADS
    if (pool) {
        b->s.world.parallel_for = embipc_pool_for;
        b->s.world.parallel_ctx = pool;
    }
#else
    (void)pool;
#endif
    start = system_seconds();
    ok = ok && scene_build(&b->s, &b->w, e);
    b->build = system_seconds() - start;
    return ok;
}

static void bench_close(bench_world *b)
{
    embipc_world_destroy(b->w);
    scene_free(&b->s);
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
        for (int k = 0; k < v.vertex_count; k++)
            load += sqrt(force[3 * k] * force[3 * k] + force[3 * k + 1] * force[3 * k + 1] + force[3 * k + 2] * force[3 * k + 2]);
        for (int t = 0; t < 3 * v.triangle_count; t++) {
            const int *tri = v.triangles + t / 3 * 3;
            const double *f = force + 3 * v.triangles[t];
            double p[3], q[3], n[3];
            if (f[0] == 0 && f[1] == 0 && f[2] == 0) continue;
            for (int c = 0; c < 3; c++) {
                p[c] = v.x[3 * tri[1] + c] - v.x[3 * tri[0] + c];
                q[c] = v.x[3 * tri[2] + c] - v.x[3 * tri[0] + c];
            }
            for (int c = 0; c < 3; c++) n[c] = p[(c + 1) % 3] * q[(c + 2) % 3] - p[(c + 2) % 3] * q[(c + 1) % 3];
            r->patch += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 6;
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
            tool_put(t, "%s{ \"name\": \"%s\", ", free_count ? ", " : " ", b->s.body[i].name);
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
        sum += sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        if (r->bodies > BENCH_NAMED) continue;
        tool_put(t, "%s{ \"a\": \"%s\", \"b\": \"%s\", ", i ? ", " : " ", b->s.body[scene_index_of(&b->s, pair[i].a)].name,
                 b->s.body[scene_index_of(&b->s, pair[i].b)].name);
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
    static const embipc_stage over_pairs[] = { EMBIPC_STAGE_SEARCH, EMBIPC_STAGE_CONTACT, EMBIPC_STAGE_ASSEMBLE,
                                               EMBIPC_STAGE_CCD, EMBIPC_STAGE_MOVE };
    bench_phase *p = r->phase;
    while (p < r->phase + r->phases - 1 && t->time > p->end + 1e-6 * r->step) p++;
    p->steps++;
    p->solves += t->newton_iterations;
    p->factorizations += t->factorizations;
    r->solves += (double)t->newton_iterations / r->steps;
    r->factorizations += (double)t->factorizations / r->steps;
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
    step->pairs = 0;
    for (size_t k = 0; k < sizeof over_pairs / sizeof *over_pairs; k++) step->pairs += 1e3 * t->stage_time[over_pairs[k]];
    step->solves = t->newton_iterations;
    step->contacts = t->contacts;
}

static double bench_median(double *list, int count)
{
    qsort(list, (size_t)count, sizeof *list, bench_by_size);
    return count ? list[count / 2] : 0;
}

/* What active pairs cost: the stages that go over pairs, less what they take in steps without any (the first step,
 * which warms up, left out), by the number of solves and pairs; medians over the steps with at least half of the most
 * pairs. The rest of those steps is the cost outside the active pairs. */
static void bench_split(bench_row *r, const bench_step *step)
{
    double *list = (double *)tool_alloc((size_t)r->steps, sizeof *list), idle;
    int count = 0;
    for (int n = 1; n < r->steps; n++)
        if (step[n].contacts == 0) list[count++] = step[n].pairs;
    idle = bench_median(list, count);
    for (int pass = 0; pass < 2 && count > 0; pass++) {
        int steps = 0;
        for (int n = 1; n < r->steps; n++) {
            double pairs = step[n].pairs - idle;
            if (step[n].contacts == 0 || 2 * step[n].contacts < r->contacts_most) continue;
            list[steps++] = pass ? 1e3 * pairs / ((double)step[n].solves * step[n].contacts) : step[n].total - pairs;
        }
        *(pass ? &r->pair : &r->outside) = bench_median(list, steps);
    }
    free(list);
}

static int bench_look(bench_row *r, const bench_case *c, void *pool, tool_error *e)
{
    bench_world b;
    bench_step *step = NULL;
    double *z0 = NULL, sum = 0;
    int ok = bench_open(&b, c, pool, 1, e);
    if (ok) {
        r->build = b.build;
        r->step = b.s.world.time_step;
        r->steps = (int)ceil(b.s.duration / r->step - 1e-9);
        r->gap = r->tightest = HUGE_VAL;
        r->ms = (double *)tool_alloc((size_t)r->steps + 1, sizeof *r->ms);
        r->cpu = (double *)tool_alloc((size_t)r->steps + 1, sizeof *r->cpu);
        step = (bench_step *)tool_alloc((size_t)r->steps + 1, sizeof *step);
        z0 = (double *)tool_alloc((size_t)b.s.body_count, sizeof *z0);
        for (int i = 0; i < b.s.body_count; i++) {
            embipc_body_view v;
            (void)embipc_body_get_view(b.w, b.s.body[i].handle, &v);
            r->triangles += v.triangle_count;
            r->bodies += v.kind >= EMBIPC_AFFINE;
        }
        bench_phases(r, &b.s);
        bench_rise(&b, z0, 1);
    }
    for (int n = 0; ok && n < r->steps; n++) {
        embipc_step_stats t;
        double start = system_seconds();
        if (embipc_world_step(b.w, &t) != EMBIPC_OK)
            ok = tool_fail(e, "%s: step %d failed: %s", c->name, n + 1, embipc_world_error(b.w)->text);
        else bench_take(r, step + n, &t, 1e3 * (system_seconds() - start));
        sum += step[n].total / 1e3;
        if (!ok || (n + 1) * BENCH_CHECKS / r->steps == n * BENCH_CHECKS / r->steps) continue;
        r->intersections += embipc_world_intersections(b.w, NULL, 0) != 0;
        r->checks++;
    }
    if (ok) {
        for (int k = 0; k < EMBIPC_STAGE_COUNT; k++) r->stage[k] /= sum;
        bench_split(r, step);
        bench_patch(&b, r);
        bench_results(&b, r);
        r->rise = bench_rise(&b, z0, 0);
        r->bits = bench_bits(b.w);
        r->same = 1;
    }
    free(step);
    free(z0);
    bench_close(&b);
    return ok;
}

/* ---- The runs that are timed ---------------------------------------------------------------- */

static int bench_time(bench_row *r, const bench_case *c, void *pool, int first, tool_error *e)
{
    bench_world b;
    size_t peak = 0;
    int ok = bench_open(&b, c, pool, 0, e);
    for (int n = 0; ok && n < r->steps; n++) {
        double had = system_thread_seconds(), start = system_seconds(), ms, cpu;
        if (embipc_world_step(b.w, NULL) != EMBIPC_OK)
            ok = tool_fail(e, "%s: step %d failed: %s", c->name, n + 1, embipc_world_error(b.w)->text);
        ms = 1e3 * (system_seconds() - start);
        cpu = 1e3 * (system_thread_seconds() - had);
        r->ms[n] = first ? ms : fmin(ms, r->ms[n]);
        r->cpu[n] = first ? cpu : fmin(cpu, r->cpu[n]);
    }
    if (ok) {
        r->same = r->same && r->bits == bench_bits(b.w);
        embipc_world_memory(b.w, NULL, &peak, NULL);
        r->memory = (double)peak / 1e6;
    }
    bench_close(&b);
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

/* One case with one thread and, if that is wanted, with more: their timed runs by turns. Returns the number of rows,
 * or 0 with e filled. */
static int bench_measure(bench_row row[2], const bench_case *c, const bench_options *o, void *pool, tool_error *e)
{
    int rows = pool && c->threads ? 2 : 1, ok = 1;
    int repeats = c->repeats && c->repeats < o->repeats ? c->repeats : o->repeats;
    for (int i = 0; i < rows && ok; i++) {
        memset(&row[i], 0, sizeof row[i]);
        row[i].name = c->name;
        row[i].threads = i ? o->threads : 1;
        ok = bench_look(&row[i], c, i ? pool : NULL, e);
    }
    for (int n = 0; n < repeats && ok; n++)
        for (int i = 0; i < rows && ok; i++) ok = bench_time(&row[i], c, i ? pool : NULL, n == 0, e);
    for (int i = 0; i < rows && ok; i++) bench_sum(&row[i]);
    if (ok && rows == 2) {
        row[1].speedup = row[0].wall / row[1].wall;
        row[1].same = row[1].same && row[1].bits == row[0].bits;
    }
    return ok ? rows : 0;
}

/* ---- The table ------------------------------------------------------------------------------ */

static void bench_head(void)
{
    printf("%-24s %3s %6s %7s %6s %8s %8s %8s %8s %8s %6s %6s %8s %4s %5s %8s   shares of the step, %%:\n%151s", "case", "thr",
           "unkn.", "surf.", "steps", "x real", "x cpu", "p50 ms", "p95 ms", "max ms", "solves", "factor", "contacts", "cut", "cross",
           "MB", "");
    for (int k = 0; k < EMBIPC_STAGE_COUNT; k++)
        printf("%s%s", k ? ", " : "", embipc_stage_text((embipc_stage)k));
    printf("\n");
}

static void bench_print(const bench_row *r)
{
    printf("%-24.24s %3d %6d %7d %6d %8.4g %8.4g %8.3f %8.3f %8.2f %6.2f %6.2f %8.1f %4d %5d %8.2f  ", r->name, r->threads,
           r->unknowns, r->triangles, r->steps, r->simulated / r->wall, r->simulated / r->processor, r->median, r->high, r->most, r->solves,
           r->factorizations, r->contacts, r->cut, r->intersections, r->memory);
    for (int k = 0; k < EMBIPC_STAGE_COUNT; k++) printf(" %3.0f", 100 * r->stage[k]);
    printf("%s\n", r->same ? "" : "  OTHER BITS IN A REPETITION");
    fflush(stdout);
}

/* The most of any phase, a step. */
static double bench_phase_most(const bench_row *r, int factorizations)
{
    double most = 0;
    for (int i = 0; i < r->phases; i++) {
        const bench_phase *p = &r->phase[i];
        if (p->steps) most = fmax(most, (double)(factorizations ? p->factorizations : p->solves) / p->steps);
    }
    return most;
}

/* a number that may be infinite, which JSON has no word for */
static void bench_number(tool_text *t, const char *key, double x)
{
    if (fabs(x) <= 1e300) tool_put(t, "\"%s\": %.6g, ", key, x);
    else tool_put(t, "\"%s\": null, ", key);
}

static void bench_json_row(tool_text *t, const bench_row *r)
{
    tool_put(t, "    { \"case\": \"%s\", \"threads\": %d, \"steps\": %d, \"time_step\": %.6g, \"bodies_free\": %d, \"unknowns\": %d, "
             "\"triangles\": %d, \"cut\": %d,\n      ", r->name, r->threads, r->steps, r->step, r->bodies, r->unknowns,
             r->triangles, r->cut);
    bench_number(t, "real_time_factor", r->simulated / r->wall);
    if (r->threads == 1) bench_number(t, "cpu_factor", r->simulated / r->processor);
    bench_number(t, "wall_s", r->wall);
    bench_number(t, "cpu_s", r->processor);
    bench_number(t, "ms_p50", r->median);
    bench_number(t, "ms_p95", r->high);
    bench_number(t, "ms_max", r->most);
    bench_number(t, "build_s", r->build);
    if (r->bodies) bench_number(t, "cpu_ms_per_body", 1e3 * r->processor / r->steps / r->bodies);
    if (r->speedup > 0) bench_number(t, "speedup", r->speedup);
    tool_put(t, "\n      ");
    bench_number(t, "solves", r->solves);
    bench_number(t, "factorizations", r->factorizations);
    bench_number(t, "solves_worst_phase", bench_phase_most(r, 0));
    bench_number(t, "factorizations_worst_phase", bench_phase_most(r, 1));
    bench_number(t, "solves_all_islands", r->all_solves);
    bench_number(t, "factorizations_all_islands", r->all_factorizations);
    tool_put(t, "\n      ");
    bench_number(t, "contacts", r->contacts);
    bench_number(t, "contacts_most", r->contacts_most);
    bench_number(t, "candidates", r->candidates);
    if (r->pair > 0) {
        bench_number(t, "outside_ms", r->outside);
        bench_number(t, "pair_us", r->pair);
    }
    bench_number(t, "peak_MB", r->memory);
    if (r->triangles) bench_number(t, "bytes_per_triangle", 1e6 * r->memory / r->triangles);
    tool_put(t, "\n      \"shares\": {");
    for (int k = 0; k < EMBIPC_STAGE_COUNT; k++)
        tool_put(t, "%s\"%s\": %.4f", k ? ", " : " ", embipc_stage_text((embipc_stage)k), r->stage[k]);
    tool_put(t, " },\n      \"phases\": [");
    for (int k = 0; k < r->phases; k++)
        tool_put(t, "%s{ \"end_s\": %.6g, \"steps\": %d, \"solves\": %d, \"factorizations\": %d }", k ? ", " : " ", r->phase[k].end,
                 r->phase[k].steps, r->phase[k].solves, r->phase[k].factorizations);
    tool_put(t, " ],\n      ");
    bench_number(t, "intersections", r->intersections);
    bench_number(t, "checks", r->checks);
    bench_number(t, "same_bits", r->same);
    bench_number(t, "rise_m", r->rise);
    bench_number(t, "min_distance_m", r->gap);
    bench_number(t, "tightest", r->tightest);
    bench_number(t, "drive_short_m", r->drive_short);
    bench_number(t, "patch_mm2", 1e6 * r->patch);
    bench_number(t, "pressure_Pa", r->pressure);
    tool_put(t, "\"bits\": \"%016llx\",\n      %s }", r->bits, r->results.data);
}

static int bench_save(const char *path, const tool_text *rows, const bench_options *o, tool_error *e)
{
    char machine[256];
    FILE *f = fopen(path, "w");
    if (!f) return tool_fail(e, "%s: cannot be written", path);
    system_machine(machine, sizeof machine);
    fprintf(f, "{ \"machine\": \"%s\", \"processors\": %d, \"compiler\": \"%s\", \"flags\": \"%s\", \"repeats\": %d,\n  \"rows\": [\n%s ] }\n",
            machine, system_processors(),
#ifdef __VERSION__
            __VERSION__,
#else
            "unknown",
#endif
            BENCH_FLAGS, o->repeats, rows->data ? rows->data : "");
    return fclose(f) == 0 || tool_fail(e, "%s: cannot be written", path);
}

/* ---- The command ---------------------------------------------------------------------------- */

/* All cases; rows receives the JSON. Returns the exit code. */
static int bench_all(const bench_cases *c, const bench_options *o, void *pool, tool_text *rows, tool_error *e)
{
    int code = 0, skipped = 0;
    bench_head();
    for (int i = 0; i < c->count; i++) {
        bench_row row[2];
        int count;
        memset(row, 0, sizeof row);
        if (c->item[i].missing) {
            skipped++;
            continue;
        }
        count = bench_measure(row, &c->item[i], o, pool, e);
        for (int k = 0; k < count; k++) {
            bench_print(&row[k]);
            tool_put(rows, "%s", rows->length ? ",\n" : "");
            bench_json_row(rows, &row[k]);
            if (row[k].intersections || !row[k].same) code = 1;
        }
        for (int k = 0; k < 2; k++) {
            free(row[k].ms);
            free(row[k].cpu);
            tool_text_free(&row[k].results);
        }
        if (!count) return 2;
    }
    if (skipped) printf("%d skipped: they need meshes from outside (DATA)\n", skipped);
    return code;
}

int bench_run(const bench_options *o)
{
    tool_error e;
    void *pool = NULL;
    bench_cases c;
    tool_text rows = { NULL, 0, 0 };
    int code = 2;
    e.text[0] = 0;
    if (bench_read(&c, o, &e)) {
        if (o->write) code = bench_write(&c, o->write, &e) ? 0 : 2;
        else {
#ifdef EMBIPC_PTHREADS
            if (o->threads > 1) pool = embipc_pool_create(o->threads);
#endif
            code = bench_all(&c, o, pool, &rows, &e);
            if (code != 2 && o->json && !bench_save(o->json, &rows, o, &e)) code = 2;
#ifdef EMBIPC_PTHREADS
            embipc_pool_destroy((embipc_pool *)pool);
#endif
        }
    }
    if (code == 2) fprintf(stderr, "%s\n", e.text);
    tool_text_free(&rows);
    bench_free(&c);
    return code;
}
