/* `embipc bench`: how long the steps of scenes take, and where the time goes. */
#ifndef TOOL_BENCH_H
#define TOOL_BENCH_H

typedef struct bench_options {
    const char **scene;           /* scene files (scene_count) */
    int scene_count;
    const char *json;             /* the table as JSON, or NULL */
    int threads, repeats;
} bench_options;

/* Runs each scene `repeats` times and keeps the run with the least total. Returns the exit code. */
int bench_scenes(const bench_options *options);
#endif
