#include "bench.h"
#include "scene.h"
#include "system.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one run of one scene came to. */
typedef struct bench_row {
    const char *scene;
    int steps, cut, unknowns, triangles;
    double simulated, wall, build;        /* s */
    double median, high, most;            /* ms a step: p50, p95, max */
    double solves, factorizations, contacts, candidates;   /* a step */
    double stage[EMBIPC_STAGE_COUNT];     /* share of the time in steps */
    double memory;                        /* peak, MB */
} bench_row;

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

static int bench_triangles(const embipc_world *w)
{
    int sum = 0;
    for (int i = 0; i < embipc_world_body_count(w); i++) {
        embipc_body_view v;
        if (embipc_body_get_view(w, embipc_world_body(w, i), &v) == EMBIPC_OK) sum += v.triangle_count;
    }
    return sum;
}

/* All steps of the world; ms: per step. Returns 0 with e filled when one fails. */
static int bench_steps(embipc_world *w, const scene *s, bench_row *r, double *ms, tool_error *e)
{
    for (int n = 0; n < r->steps; n++) {
        embipc_step_stats t;
        double start = system_seconds();
        if (embipc_world_step(w, &t) != EMBIPC_OK)
            return tool_fail(e, "%s: step %d failed: %s", s->path, n + 1, embipc_world_error(w)->text);
        ms[n] = 1e3 * (system_seconds() - start);
        r->wall += ms[n] / 1e3;
        r->simulated = t.time;
        r->cut += !t.converged;
        r->unknowns = t.unknowns > r->unknowns ? t.unknowns : r->unknowns;
        r->solves += (double)t.total_iterations / r->steps;
        r->factorizations += (double)t.total_factorizations / r->steps;
        r->contacts += (double)t.contacts / r->steps;
        r->candidates += (double)t.candidates / r->steps;
        for (int k = 0; k < EMBIPC_STAGE_COUNT; k++) r->stage[k] += t.stage_time[k];
    }
    return 1;
}

static int bench_run(const char *path, void *pool, bench_row *r, tool_error *e)
{
    scene s;
    embipc_world *w = NULL;
    double *ms = NULL, start;
    size_t peak = 0;
    int ok = scene_read(&s, path, e);
    memset(r, 0, sizeof *r);
    r->scene = path;
    s.world.clock = bench_clock;
#ifdef EMBIPC_PTHREADS
    if (pool) {
        s.world.parallel_for = embipc_pool_for;
        s.world.parallel_ctx = pool;
    }
#else
    (void)pool;
#endif
    start = system_seconds();
    ok = ok && scene_build(&s, &w, e);
    if (ok) {
        r->build = system_seconds() - start;
        r->steps = (int)ceil(s.duration / s.world.time_step - 1e-9);
        r->triangles = bench_triangles(w);
        ms = (double *)tool_alloc((size_t)r->steps + 1, sizeof *ms);
        ok = bench_steps(w, &s, r, ms, e);
    }
    if (ok && r->steps > 0) {
        qsort(ms, (size_t)r->steps, sizeof *ms, bench_by_size);
        r->median = ms[r->steps / 2];
        r->high = ms[(int)(0.95 * r->steps)];
        r->most = ms[r->steps - 1];
        for (int k = 0; k < EMBIPC_STAGE_COUNT; k++) r->stage[k] /= r->wall;
        embipc_world_memory(w, NULL, &peak, NULL);
        r->memory = (double)peak / 1e6;
    }
    free(ms);
    embipc_world_destroy(w);
    scene_free(&s);
    return ok;
}

static const char *bench_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void bench_print(const bench_row *r)
{
    printf("%-22.22s %6d %7d %8.2f %8.3f %8.3f %8.2f %7.2f %7.2f %8.1f %5d %7.1f ", bench_name(r->scene), r->unknowns,
           r->triangles, r->simulated / r->wall, r->median, r->high, r->most, r->solves, r->factorizations,
           r->contacts, r->cut, r->memory);
    for (int k = 0; k < EMBIPC_STAGE_COUNT; k++) printf(" %3.0f", 100 * r->stage[k]);
    printf("\n");
    fflush(stdout);
}

static void bench_head(void)
{
    printf("%-22s %6s %7s %8s %8s %8s %8s %7s %7s %8s %5s %7s  shares of the step, %%:\n%145s", "scene", "unkn.", "surf.",
           "x real", "p50 ms", "p95 ms", "max ms", "solves", "factor", "contacts", "cut", "MB", "");
    for (int k = 0; k < EMBIPC_STAGE_COUNT; k++)
        printf("%s%s", k ? ", " : "", embipc_stage_text((embipc_stage)k));
    printf("\n");
}

static int bench_json(const bench_row *row, int count, const bench_options *o, tool_error *e)
{
    FILE *f = fopen(o->json, "w");
    char machine[256];
    if (!f) return tool_fail(e, "%s: cannot be written", o->json);
    system_machine(machine, sizeof machine);
    fprintf(f, "{ \"machine\": \"%s\", \"threads\": %d, \"repeats\": %d,\n  \"scenes\": [\n", machine, o->threads, o->repeats);
    for (int i = 0; i < count; i++) {
        const bench_row *r = row + i;
        fprintf(f,
                "    { \"scene\": \"%s\", \"unknowns\": %d, \"triangles\": %d, \"steps\": %d, \"cut\": %d, \"real_time_factor\": %.4g,\n"
                "      \"ms_p50\": %.4g, \"ms_p95\": %.4g, \"ms_max\": %.4g, \"build_s\": %.4g, \"solves\": %.4g,\n"
                "      \"factorizations\": %.4g, \"contacts\": %.4g, \"candidates\": %.4g, \"peak_MB\": %.4g, \"shares\": {",
                bench_name(r->scene), r->unknowns, r->triangles, r->steps, r->cut, r->simulated / r->wall, r->median, r->high,
                r->most, r->build, r->solves, r->factorizations, r->contacts, r->candidates, r->memory);
        for (int k = 0; k < EMBIPC_STAGE_COUNT; k++)
            fprintf(f, "%s\"%s\": %.4f", k ? ", " : " ", embipc_stage_text((embipc_stage)k), r->stage[k]);
        fprintf(f, " } }%s\n", i + 1 < count ? "," : "");
    }
    fprintf(f, "  ] }\n");
    if (fclose(f) != 0) return tool_fail(e, "%s: cannot be written", o->json);
    return 1;
}

int bench_scenes(const bench_options *o)
{
    tool_error e;
    void *pool = NULL;
    bench_row *row = (bench_row *)tool_alloc((size_t)o->scene_count, sizeof *row), now;
    int ok = 1;
#ifdef EMBIPC_PTHREADS
    if (o->threads > 1) pool = embipc_pool_create(o->threads);
#endif
    bench_head();
    for (int i = 0; ok && i < o->scene_count; i++) {
        for (int k = 0; ok && k < o->repeats; k++) {
            ok = bench_run(o->scene[i], pool, &now, &e);
            if (ok && (k == 0 || now.wall < row[i].wall)) row[i] = now;
        }
        if (ok) bench_print(row + i);
    }
    ok = ok && (!o->json || bench_json(row, o->scene_count, o, &e));
    if (!ok) fprintf(stderr, "%s\n", e.text);
#ifdef EMBIPC_PTHREADS
    embipc_pool_destroy((embipc_pool *)pool);
#endif
    free(row);
    return ok ? 0 : 2;
}
