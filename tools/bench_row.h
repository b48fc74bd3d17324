/* What a bench finds out about a case, as a line of a table and as JSON. */
#ifndef TOOL_BENCH_ROW_H
#define TOOL_BENCH_ROW_H
#include "../embipc.h"
#include "common.h"
#include <stdio.h>

enum { BENCH_PHASES = 8 };

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
    double *ms, *cpu;                     /* owned: least time of each step, least processor time of this thread */
    int runs;                             /* that these are the least of */
    double wall, median, high, most;      /* s; ms a step: p50, p95, max */
    double processor;                     /* s: sum of cpu */
    double solves, factorizations;        /* a step, of the island that took most */
    int solves_most, factorizations_most; /* in any step */
    double all_solves, all_factorizations, contacts, candidates;   /* a step, of all islands */
    int contacts_most;
    double stage[EMBIPC_STAGE_COUNT];     /* share of the time in steps */
    double outside, pair;                 /* ms a step but for active pairs; us a solve for each active pair */
    double outside_solve;                 /* the former, of each solve */
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

/* The head of the table, and a row. */
void bench_head(FILE *f);
void bench_print(FILE *f, const bench_row *r);

/* Lines for a second table, appended: what came out, and what is counted for each pair, body and triangle. A row of
 * NULL: the head. */
void bench_put_results(tool_text *t, const bench_row *r);

/* The row as a JSON object, appended; what was not measured has no key. */
void bench_json_row(tool_text *t, const bench_row *r);
/* Rows, separated by commas, as a file with the machine's name. Returns 1, or 0 with e filled. */
int bench_save(const char *path, const tool_text *rows, int repeats, tool_error *e);
#endif
