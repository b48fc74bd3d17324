/* `embipc sweep`: one scene with other values, a run for each combination, a record for each run. Runs are independent,
 * so any launcher may share them among machines. */
#ifndef TOOL_SWEEP_H
#define TOOL_SWEEP_H
#include <stdio.h>

#define SWEEP_SETS 16        /* of one command */
#define SWEEP_RUNS 1000000

typedef struct sweep_options {
    const char *scene;               /* or, of --table, NULL */
    const char *set[SWEEP_SETS];     /* PATH=VALUE,VALUE... */
    int set_count;
    int shard, shards;               /* of `shards` parts, counted from 1, this one */
    const char *out;                 /* directory of the records */
    int retry, files, quiet;         /* run failed ones again; also files of `embipc run`; no line for each run */
    int threads;
    double duration, time_step;      /* as of run_options */
    int has_duration;
    FILE *report, *errors;
} sweep_options;

/* Runs what of a shard has no record yet. Returns the exit code: 0, 1 a run failed or was stopped, 2 bad input. */
int sweep_run(const sweep_options *o);

/* All records of a directory as CSV, to o->report. Returns the exit code. */
int sweep_table(const sweep_options *o);
#endif
