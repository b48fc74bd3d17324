/* The files of a run: steps.csv, forces.csv, bodies.csv, drives.csv, joints.csv and frames. Numbers as %.17g, an empty
 * cell for what is missing. Everything of a step is written with one call per file: a run that is stopped ends with
 * whole lines. */
#ifndef TOOL_OUTPUT_H
#define TOOL_OUTPUT_H
#include "../embipc.h"
#include "common.h"
#include "scene.h"
#include <stdio.h>

typedef struct output {
    const char *directory;
    FILE *steps, *forces, *bodies, *drives, *joints;
    tool_text text;                  /* owned scratch */
} output;

/* Makes the directory and the five files with their header lines. Returns 1, or 0 with e filled. */
int output_open(output *o, const char *directory, tool_error *e);
void output_close(output *o);        /* a zeroed output is fine */

/* The rows of the start; gravity in m/s^2. Returns 1, or 0 with e filled. */
int output_start(output *o, const embipc_world *world, const double gravity[3], tool_error *e);

/* The rows of a step of the scene's world, with its forces as embipc_world_pair_forces() gave them. */
int output_step(output *o, const scene *s, const embipc_world *world, const embipc_step_stats *stats, double wall_ms,
                const embipc_pair_force *pair, int pair_count, tool_error *e);

/* frame_00000.obj and so on: the surfaces of all bodies. */
int output_frame(output *o, embipc_world *world, int step, tool_error *e);

/* What a command is to write and what it reads. Entries may be NULL: none. */
typedef struct output_plan {
    const char *file[8];
    const char *directory[2];        /* in which it names the files itself: output_in_directory */
    const char *const *input;             /* input_count files */
    int input_count;
} output_plan;

/* Before long work: can all of it be written? Directories are made. An output that is an input or another output is
 * refused, by whatever path. Returns 1, or 0 with e filled. */
int output_check(const output_plan *p, tool_error *e);

/* Writes text to a new file in one piece. */
int output_file(const char *path, const tool_text *text, tool_error *e);
#endif
