#include "bench_row.h"
#include "json.h"
#include "system.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifndef BENCH_FLAGS          /* the Makefile says what the tool was built with */
#define BENCH_FLAGS ""
#endif

void bench_head(FILE *f)
{
    fprintf(f, "%-24s %3s %6s %7s %6s %8s %8s %8s %8s %8s %6s %4s %6s %4s %8s %4s %5s %8s   shares of the step, %%:\n%161s",
            "case", "thr", "unkn.", "surf.", "steps", "x real", "x cpu", "p50 ms", "p95 ms", "max ms", "solves", "most",
            "factor", "most", "contacts", "cut", "cross", "MB", "");
    for (int k = 0; k < EMBIPC_STAGE_COUNT; k++)
        fprintf(f, "%s%s", k ? ", " : "", embipc_stage_text((embipc_stage)k));
    fprintf(f, "\n");
}

void bench_print(FILE *f, const bench_row *r)
{
    fprintf(f, "%-24.24s %3d %6d %7d %6d %8.4g %8.4g %8.3f %8.3f %8.2f %6.2f %4d %6.2f %4d %8.1f %4d %5d %8.2f  ", r->name,
            r->threads, r->unknowns, r->triangles, r->steps, r->simulated / r->wall, r->simulated / r->processor,
            r->median, r->high, r->most, r->solves, r->solves_most, r->factorizations, r->factorizations_most, r->contacts,
            r->cut, r->intersections, r->memory);
    for (int k = 0; k < EMBIPC_STAGE_COUNT; k++) fprintf(f, " %3.0f", 100 * r->stage[k]);
    fprintf(f, "%s\n", r->same ? "" : "  OTHER BITS IN A REPETITION");
    fflush(f);
}

void bench_put_results(tool_text *t, const bench_row *r)
{
    if (!r) {
        tool_put(t, "\n%-24s %9s %10s %8s %9s %9s %11s %10s %10s %10s %10s %8s\n", "case", "rise, m", "gap, m",
                 "of dhat", "short, m", "patch mm2", "pressure Pa", "candidates", "ms outside", "us a pair", "ms a body",
                 "B a tri.");
        return;
    }
    tool_put(t, "%-24.24s ", r->name);
    if (r->rise < 1e300) tool_put(t, "%9.4f ", r->rise);
    else tool_put(t, "%9s ", "-");   /* nothing is free */
    tool_put(t, "%10.3g %8.3g %9.2g %9.4g %11.4g %10.0f ", r->gap, r->tightest, r->drive_short, 1e6 * r->patch,
             r->pressure, r->candidates);
    if (r->pair > 0) tool_put(t, "%10.3g %10.3g ", r->outside, r->pair);
    else tool_put(t, "%10s %10s ", "-", "-");
    tool_put(t, "%10.4g %8.0f\n", r->bodies ? 1e3 * r->processor / r->steps / r->bodies : 0,
             r->triangles ? 1e6 * r->memory / r->triangles : 0);
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

void bench_json_row(tool_text *t, const bench_row *r)
{
    tool_put(t, "    { \"case\": ");
    json_write_string(t, r->name);
    tool_put(t, ", \"threads\": %d, \"steps\": %d, \"time_step\": %.6g, \"bodies_free\": %d, "
             "\"unknowns\": %d, \"triangles\": %d, \"cut\": %d, \"runs\": %d,\n      ",
             r->threads, r->steps, r->step, r->bodies, r->unknowns, r->triangles, r->cut, r->runs);
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
    bench_number(t, "solves_most", r->solves_most);
    bench_number(t, "factorizations_most", r->factorizations_most);
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
        bench_number(t, "outside_ms_per_solve", r->outside_solve);
        bench_number(t, "pair_us", r->pair);
    }
    bench_number(t, "peak_MB", r->memory);
    if (r->triangles) bench_number(t, "bytes_per_triangle", 1e6 * r->memory / r->triangles);
    tool_put(t, "\n      \"shares\": {");
    for (int k = 0; k < EMBIPC_STAGE_COUNT; k++)
        tool_put(t, "%s\"%s\": %.4f", k ? ", " : " ", embipc_stage_text((embipc_stage)k), r->stage[k]);
    tool_put(t, " },\n      \"phases\": [");
    for (int k = 0; k < r->phases; k++)
        tool_put(t, "%s{ \"end_s\": %.6g, \"steps\": %d, \"solves\": %d, \"factorizations\": %d }", k ? ", " : " ",
                 r->phase[k].end, r->phase[k].steps, r->phase[k].solves, r->phase[k].factorizations);
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

int bench_save(const char *path, const tool_text *rows, int repeats, tool_error *e)
{
    char machine[256];
    FILE *f = fopen(path, "w");
    if (!f) return tool_fail(e, "%s: cannot be written: %s", path, strerror(errno));
    system_machine(machine, sizeof machine);
    fprintf(f, "{ \"machine\": \"%s\", \"processors\": %d, \"compiler\": \"%s\", \"flags\": \"%s\", "
            "\"repeats\": %d,\n  \"rows\": [\n%s ] }\n", machine, system_processors(),
#ifdef __VERSION__
            __VERSION__,
#else
            "unknown",
#endif
            BENCH_FLAGS, repeats, rows->data ? rows->data : "");
    return fclose(f) == 0 || tool_fail(e, "%s: cannot be written: %s", path, strerror(errno));
}
