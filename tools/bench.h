/* `embipc bench`: how long the steps of scenes take, where the time goes, and what comes out. */
#ifndef TOOL_BENCH_H
#define TOOL_BENCH_H
#include <stdio.h>

typedef struct bench_options {
    const char **file;            /* scene files, and lists of cases (file_count) */
    int file_count;
    const char *only;             /* cases whose name contains this; NULL: all */
    const char *data;             /* directory of meshes from outside; NULL: cases that need it are skipped */
    const char *json;             /* the table as JSON, or NULL */
    const char *write;            /* only writes the scene of every case into this directory; or NULL */
    int quick;                    /* of a list only the cases marked so */
    int threads;                  /* above 1: each case is run with one thread and with so many */
    int repeats;                  /* timed runs of each case; fewer of those that take long */
    FILE *out, *errors;           /* for the table and for what is wrong */
    double memory;                /* GB that a case may take; then it fails */
} bench_options;

/* Runs each case once to look at it and `repeats` times to time it; a step's time is its least. Returns the exit
 * code: 0, 1 where a case failed, an intersection was found or a repetition came out with other bits, 2 bad input. */
int bench_run(const bench_options *options);

/* Compares results, file[1..] as --json wrote them, with the targets in the list file[0], and prints for each
 * what was measured and whether it is met. Returns 0, or 2: bad input. A target of a list is
 *   target (text), measure (key of a row), of (case, or the beginning of names and a star), at_least or at_most;
 *   over (case: the ratio to it), spread (true: the largest over the smallest), threads (1; 0: any), flags (only
 *   results of a tool built with these). Of several rows the worst one counts. */
int bench_targets(const bench_options *options);
#endif
