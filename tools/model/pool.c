/* A pool that runs all ranges one after the other and tells, from the processor time of each, how long threads would
 * have taken: for machines whose processors are busy. */
#define _POSIX_C_SOURCE 200809L
#include "../../embipc.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MODELS = 3, MOST = 8 };
static const int model_threads[MODELS] = {2, 4, 8};
static const double LOOP = 2e-6, RANGE = 2e-7;   /* s: until all have come; to take a range */

struct embipc_pool { double saved[MODELS], look, begun, *took; int room; long loops, ranges; };

static double model_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* seconds until the last of so many threads is done: as embipc_pool_for() shares the ranges */
static double model_span(const double *took, int ranges, int threads)
{
    double at[MOST] = {0}, last = 0;
    int begin[MOST], end[MOST];
    for (int i = 0, next = 0; i < threads; i++) {
        begin[i] = next;
        end[i] = next += (ranges - next) / (threads - i);
    }
    for (int left = ranges; left > 0; left--) {
        int who = 0, from, k;
        for (int i = 1; i < threads; i++) if (at[i] < at[who]) who = i;
        if (begin[who] < end[who]) k = begin[who]++;
        else {
            from = who;
            for (int i = 0; i < threads; i++) if (end[i] - begin[i] > end[from] - begin[from]) from = i;
            k = --end[from];
        }
        at[who] += took[k] + RANGE;
    }
    for (int i = 0; i < threads; i++) if (at[i] > last) last = at[i];
    return last;
}

embipc_pool *embipc_pool_create(int threads)
{
    embipc_pool *p = calloc(1, sizeof *p);
    (void)threads;
    p->look = 1;
    for (int i = 0; i < 100; i++) {
        double t = model_now(CLOCK_THREAD_CPUTIME_ID);
        t = model_now(CLOCK_THREAD_CPUTIME_ID) - t;
        if (t < p->look) p->look = t;
    }
    p->begun = model_now(CLOCK_THREAD_CPUTIME_ID);
    return p;
}

void embipc_pool_for(int count, int grain, embipc_range_fn *fn, void *arg, void *pool)
{
    embipc_pool *p = pool;
    int ranges = count > 0 ? (count - 1) / grain + 1 : 0;
    double sum = 0, since;
    if (!p->loops) p->begun = model_now(CLOCK_THREAD_CPUTIME_ID);   /* bodies have been made */
    if (ranges > p->room) p->took = realloc(p->took, (size_t)(p->room = 2 * ranges) * sizeof *p->took);
    for (int k = 0; k < ranges; k++) {
        double t = model_now(CLOCK_THREAD_CPUTIME_ID);
        fn(arg, k * grain, k + 1 < ranges ? (k + 1) * grain : count);
        p->took[k] = model_now(CLOCK_THREAD_CPUTIME_ID) - t - p->look;
        if (p->took[k] < 0) p->took[k] = 0;
        sum += p->took[k];
    }
    since = model_now(CLOCK_THREAD_CPUTIME_ID);
    p->loops++;
    p->ranges += ranges;
    p->begun += 2 * p->look * ranges;
    for (int m = 0; m < MODELS; m++) p->saved[m] += sum - model_span(p->took, ranges, model_threads[m]) - LOOP;
    p->begun += model_now(CLOCK_THREAD_CPUTIME_ID) - since + p->look;
}

void embipc_pool_destroy(embipc_pool *p)
{
    double all;
    if (!p) return;
    all = model_now(CLOCK_THREAD_CPUTIME_ID) - p->begun;
    fprintf(stderr, "model: serial %.4f", all);
    for (int m = 0; m < MODELS; m++) fprintf(stderr, "  %d: %.4f (%.2f)", model_threads[m], all - p->saved[m], all / (all - p->saved[m]));
    fprintf(stderr, "  loops %ld ranges %ld\n", p->loops, p->ranges);
    free(p->took);
    free(p);
}
