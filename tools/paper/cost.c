/* Where the time of a step goes (convex-contact paper, figure 2), and what threads bring (Embedded IPC, IV-A2). Runs alone,
 * after all other sections, since it measures time by the clock. */
#include "paper.h"
#include "../system.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cost_case {
    const char *name, *title, *file, *paper;   /* file: NULL, of a scene written here; paper: what that paper says of its own */
    int quick;
} cost_case;

/* What threads could save: the ranges of each loop one by one, timed, and dealt out as they come to that many threads. */
enum { GAUGES = 2 };
static const int gauge_threads[GAUGES] = { 2, 16 };
typedef struct gauge { double shared, saved[GAUGES]; } gauge;   /* s of processor time in ranges, and what is saved of it */

static void gauge_for(int count, int grain, embipc_range_fn *fn, void *arg, void *ctx)
{
    gauge *g = (gauge *)ctx;
    double busy[GAUGES][16], all = 0, start = system_thread_seconds();
    memset(busy, 0, sizeof busy);
    for (int begin = 0; begin < count; begin += grain) {
        double end, took;
        fn(arg, begin, begin + grain < count ? begin + grain : count);
        end = system_thread_seconds();
        took = end - start;
        start = end;
        all += took;
        for (int k = 0; k < GAUGES; k++) {
            int least = 0;
            for (int i = 1; i < gauge_threads[k]; i++)
                if (busy[k][i] < busy[k][least]) least = i;
            busy[k][least] += took;
        }
    }
    g->shared += all;
    for (int k = 0; k < GAUGES; k++) {
        double last = 0;
        for (int i = 0; i < gauge_threads[k]; i++) last = fmax(last, busy[k][i]);
        g->saved[k] += all - last;
    }
}

typedef struct cost {
    double stage[EMBIPC_STAGE_COUNT], cpu, wall, step, factor;   /* s in all; processor time of a step, s; times real time by that */
    double shared, best[GAUGES];   /* of the processor time, in ranges; times as fast at best */
    double *q;                  /* nodes of all bodies at the end; owned */
    int count, ok;
} cost;

/* a cylinder of rubber between plates, and a pile of bears in cages */
static void cost_text(tool_text *t, const char *name)
{
    if (strcmp(name, "cost_press") == 0)
        tool_put(t, "{ \"version\": 1, \"time_step\": 0.01, \"duration\": 1,\n  \"bodies\": [\n"
                    "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"position\": [0.013, 0.017, 0] },\n"
                    "    { \"name\": \"cylinder\", \"kind\": \"full\", \"shape\": \"cylinder\", \"radius\": 0.2, \"height\": 0.1, \"resolution\": 12, \"rotation\": [90, 0, 0], \"position\": [0, 0, 0.201],\n"
                    "      \"material\": { \"model\": \"neo_hookean\", \"young\": 2.8e6, \"poisson\": 0.45, \"damping\": [0, 0.1] } },\n"
                    "    { \"name\": \"plate\", \"kind\": \"kinematic\", \"shape\": \"box\", \"size\": [1, 0.5, 0.1], \"position\": [0.013, 0.017, 0.452],\n"
                    "      \"drive\": [{ \"keys\": [[0, 0, 0, 0], [1, 0, 0, -0.2]] }] } ] }\n");
    else
        tool_put(t, "{ \"version\": 1, \"time_step\": 0.01, \"duration\": 1,\n  \"bodies\": [\n"
                    "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"position\": [0.013, 0.017, 0], \"friction\": 0.4 },\n"
                    "    { \"name\": \"bear\", \"kind\": \"cage\", \"shape\": \"bear\", \"cage_nodes\": 34, \"position\": [0, 0, 0.01], \"friction\": 0.4, \"material\": { \"young\": 1e5, \"density\": 500 },\n"
                    "      \"repeat\": { \"count\": [3, 3, 2], \"spacing\": [0.14, 0.15, 0.18], \"turn\": [0, 0, 40] } } ] }\n");
}

static cost cost_run(paper *p, const cost_case *c, int threads)
{
    cost o;
    paper_run r;
    gauge g;
    char name[64], title[128];
    int ok;
    memset(&o, 0, sizeof o);
    memset(&g, 0, sizeof g);
    snprintf(name, sizeof name, "%s_%d", c->name, threads);
    snprintf(title, sizeof title, "%s, %d thread%s", c->title, threads, threads > 1 ? "s" : "");
    p->timed = threads == 1;
    p->threads = threads;
    p->loop = threads > 1 ? NULL : gauge_for;
    p->loop_ctx = &g;
    if (c->file) ok = paper_begin_file(&r, p, name, title, c->file, 0, 0);
    else {
        tool_text t = { NULL, 0, 0 };
        cost_text(&t, c->name);
        ok = paper_begin(&r, p, name, title, t.data, 0);
        tool_text_free(&t);
    }
    p->timed = p->threads = 0;
    p->loop = NULL;
    if (!ok) return o;
    if (p->quick && r.step_count > 100) r.step_count = 100;
    while (paper_step(&r)) continue;
    memcpy(o.stage, r.stage, sizeof o.stage);
    o.wall = r.wall;
    o.cpu = r.sum.cpu;
    o.step = r.sum.cpu / r.sum.steps;
    o.factor = r.sum.simulated / r.sum.cpu;
    o.shared = g.shared / r.sum.cpu;
    for (int k = 0; k < GAUGES; k++) o.best[k] = r.sum.cpu / (r.sum.cpu - g.saved[k]);
    for (int pass = 0; pass < 2; pass++) {   /* counts, then copies */
        if (pass) o.q = (double *)tool_alloc((size_t)o.count + 1, sizeof *o.q);
        o.count = 0;
        for (int i = 0; i < r.s.body_count; i++) {
            embipc_body_view v;
            if (embipc_body_get_view(r.world, r.s.body[i].handle, &v) != EMBIPC_OK || !v.q) continue;
            if (pass) memcpy(o.q + o.count, v.q, (size_t)(3 * v.node_count) * sizeof *v.q);
            o.count += 3 * v.node_count;
        }
    }
    o.ok = !r.failed;
    paper_end(&r);
    return o;
}

void paper_cost(paper *p)
{
    static const cost_case list[] = {
        { "cost_low", "grasp, low cage", "examples/scenes/grasp.json", "", 1 },
        { "cost_medium", "grasp, medium cage", "examples/scenes/grasp_medium.json", "", 0 },
        { "cost_full", "grasp, full", "examples/scenes/grasp_full.json", "nearly dense: factorizations of its contact solver are the bottleneck", 0 },
        { "cost_arch", "arch", "examples/scenes/arch.json", "block tridiagonal; warm starts pay", 1 },
        { "cost_press", "cylinder pressed", NULL, "warm starts pay", 0 },
        { "cost_hand", "ball in a hand", "examples/scenes/hand.json", "", 0 },
        { "cost_rack", "plate and rack", "examples/scenes/rack.json", "", 0 },
        { "cost_pile", "18 bears fall on a heap", NULL, "", 0 } };
    enum { CASES = sizeof list / sizeof *list };
    int threads = system_processors() > 1 ? 2 : 1, same = 1, run = 0;
    double worst = 0, faster[CASES], step = NAN;
    cost one[CASES], two;
    paper_section(p, "cost", "Where the time goes, and threads", "Han, Masterjohn, Castro 2023, figure 2 and the text of section VII; Du et al., Embedded IPC, section IV-A2.");
    for (int k = 0; k < CASES; k++) {
        faster[k] = 0;
        memset(&one[k], 0, sizeof one[k]);
        if (p->quick && !list[k].quick) continue;
        one[k] = cost_run(p, &list[k], 1);
        run += one[k].ok;
        if (threads > 1) {
            two = cost_run(p, &list[k], threads);
            same &= one[k].ok && two.ok && one[k].count == two.count && memcmp(one[k].q, two.q, (size_t)two.count * sizeof *two.q) == 0;
            faster[k] = one[k].wall / two.wall;
            free(two.q);
        }
    }
    paper_heading(p, "Budget of a step");
    paper_text(p, "Shares of the processor time of all steps, one thread, by a clock inside the library. The convex-contact paper splits its own, in a figure without numbers, into geometry queries, Schur complement, elements, "
                  "contact solver and the rest, and finds geometry and elements easy to share among threads and factorizations hard. There is no Schur complement here: contacts go into the system of the nodes. "
                  "These scenes are made by code, all of <code>examples/scenes</code> but two.");
    paper_table(p, NULL, "< scene|a step, ms|x real time|geometry: search, %|contacts, %|collision, %|elements, %|system, %|factors, %|solves, %|the rest, %|< that paper on its own scene");
    for (int k = 0; k < CASES; k++) {
        const double *s = one[k].stage;
        double all = 0;
        if (!one[k].ok) continue;
        for (int i = 0; i < EMBIPC_STAGE_COUNT; i++) all += s[i];
        worst = fmax(worst, fabs(all / one[k].cpu - 1));
        if (k == 0) step = one[k].step;
        paper_row(p, "< %s|%.3f|%.2f|%.0f|%.0f|%.0f|%.0f|%.0f|%.0f|%.0f|%.0f|< %s", list[k].title, 1e3 * one[k].step, one[k].factor, 100 * s[EMBIPC_STAGE_SEARCH] / all, 100 * s[EMBIPC_STAGE_CONTACT] / all,
                  100 * s[EMBIPC_STAGE_CCD] / all, 100 * s[EMBIPC_STAGE_ELASTIC] / all, 100 * s[EMBIPC_STAGE_ASSEMBLE] / all, 100 * s[EMBIPC_STAGE_FACTOR] / all, 100 * s[EMBIPC_STAGE_SOLVE] / all,
                  100 * (s[EMBIPC_STAGE_MOVE] + s[EMBIPC_STAGE_REST]) / all, list[k].paper);
    }
    paper_table_end(p);
    paper_near(p, "all stages over the time of the steps, off 1 by at most", "a clock outside the library", 0, run ? worst : NAN, 0.05, "");
    paper_heading(p, "Threads");
    paper_text(p, "At best: all ranges that the library hands out, run one by one and timed, then dealt to 2 and 16 threads as they come; the rest of a step is not shared. This does not hang on what else the machine does. "
                  "By the clock it does, and there it also costs to wake threads and to wait for them.");
    paper_table(p, NULL, "< scene|shared, % of the time|times as fast at best, 2 threads|16 threads|by the clock, 2 threads|that paper, threads of 16 cores");
    for (int k = 0; k < CASES; k++) {
        char clock[16];
        if (!one[k].ok) continue;
        snprintf(clock, sizeof clock, threads > 1 ? "%.2f" : "–", faster[k]);
        paper_row(p, "< %s|%.0f|%.2f|%.2f|%s|%s", list[k].title, 100 * one[k].shared, one[k].best[0], one[k].best[1], clock, k == 0 ? "1.4" : "");
    }
    paper_table_end(p);
    if (threads > 1) paper_holds(p, "nodes of all these scenes in the end, with two threads and with one", "determinism", same, "the same bits", "%s", same ? "the same bits" : "others");
    else paper_text(p, "Two threads are skipped: this machine has one processor.");
    paper_range(p, "grasp with the low cage, times as fast at best with 16 threads as with one", "Embedded IPC IV-A2: 1.4", 1.4, INFINITY, one[0].best[1], "");
    if (one[0].best[1] < 1.4)
        paper_why(p, PAPER_MODEL, "A step is %.2f ms here and 11 there (4 s at h = 0.02 s in 2.2 s), and %.0f %% of it is worth sharing: elements of one body are not shared, factors of a few hundred unknowns hardly. "
                                  "That paper, too, calls its gain modest, by the small scale of the scene.", 1e3 * step, 100 * one[0].shared);
    if (!p->quick)
        paper_range(p, "18 bears against one in the gripper, times as fast at best with 16 threads", "Embedded IPC IV-A2: the gain is modest by the small scale", 1.1, INFINITY,
                    one[CASES - 1].best[1] / one[0].best[1], "");
    for (int k = 0; k < CASES; k++) free(one[k].q);
}
