/* The cases of a bench: scenes, each perhaps with changes. */
#ifndef TOOL_BENCH_CASE_H
#define TOOL_BENCH_CASE_H
#include "bench.h"
#include "common.h"

typedef struct bench_case {
    char name[64];
    char path[1024];              /* mesh files are relative to it */
    char *text;                   /* owned: the scene */
    const char *list;             /* that has the case; NULL: a scene file by itself */
    int threads;                  /* 0: never with more than one */
    int missing;                  /* needs meshes from outside that are not there */
} bench_case;

typedef struct bench_cases {
    bench_case *item;             /* owned */
    int count, capacity;
} bench_cases;

/* All cases that the options ask for. A list is a JSON object with the key "cases"; each case has
 *   name (files are named after it: no slash, backslash or colon; each once in a list),
 *   scene (file, relative to the list), change (json_merge() of the scene; may be missing),
 *   quick (true: also in the quick set), data (directory in that of the options: meshes are looked for there),
 *   threads (false: never run with more than one).
 * Returns 1, or 0 with e filled. Free in either case. */
int bench_read(bench_cases *c, const bench_options *o, tool_error *e);
void bench_free(bench_cases *c);

/* Writes each scene as DIR/NAME.json, in words that older builds know as well: its shapes and cages as mesh files,
 * its repetitions body by body. Returns 1, or 0 with e filled. */
int bench_write(const bench_cases *c, const char *directory, tool_error *e);
#endif
