/* `embipc doctor`: which bodies of a scene overlap at the start, and the motions that part them. */
#ifndef TOOL_DOCTOR_H
#define TOOL_DOCTOR_H
#include <stdio.h>

typedef struct doctor_options {
    const char *scene;
    const char *out;              /* the mended scene, or NULL. In the same directory where bodies name meshes */
    FILE *report, *errors;
} doctor_options;

/* Returns the exit code: 0 the scene is sound, or rigid motions make it so; 1 it cannot be mended; 2 bad input.
 * The file differs from the scene in the positions and rotations of what moved, and in the boxes by which drives
 * select nodes of it. Bodies that joints hold do not move. It is written for 0 only. */
int doctor_scene(const doctor_options *options);
#endif
