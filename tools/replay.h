/* Recordings of runs: the world at the start, and for each step what was put in and what came out. `embipc replay` makes the
 * steps again, and tells the first that comes out otherwise. A file is a row of 64-bit words, the lowest byte first: name,
 * format, bytes of the snapshot, the snapshot; then for each step its motors (number; handle, position, velocity, effort),
 * and after it the hash of the world, the number of bodies, and the centre and velocity of each. */
#ifndef TOOL_REPLAY_H
#define TOOL_REPLAY_H
#include "../embipc.h"
#include "common.h"
#include "scene.h"
#include <stdio.h>

typedef struct recorder {
    FILE *file;
    const char *path;
    tool_text words;                 /* owned scratch */
} recorder;

/* Begins a file with the world as it is. Returns 1, or 0 with e filled. */
int recorder_open(recorder *r, const char *path, const embipc_world *world, tool_error *e);
/* Before a step, when the scene has steered it: its motors. They are in the file when the step begins, so that a step which
 * ends the program is there too. Nothing is done without a file. Returns 1, or 0 with e filled. */
int recorder_inputs(recorder *r, const scene *s, const embipc_world *world, tool_error *e);
/* After a step: what came of it. */
int recorder_result(recorder *r, const embipc_world *world, tool_error *e);
int recorder_close(recorder *r, tool_error *e);   /* a zeroed recorder is fine */

/* Makes the steps of a recording again and says what came of it. Returns the exit code: 0 all as recorded, 1 a difference
 * or a step that failed, 2 bad input. */
int replay_file(const char *path, int threads, FILE *out, FILE *errors);
#endif
