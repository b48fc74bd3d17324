/* `embipc run --view FILE.html`: the run as one page that plays it back, with everything in it: the program
 * (view.html and what it names) and the run, a line a step, written as it goes. A run that is stopped, or is
 * still going, leaves a page that works up to there.
 *
 * A frame holds the nodes of what moves; the page makes the surface of them as the library does, x = J q, with
 * the weights J written once. Nodes are 16-bit numbers over the box of their body, so they are off by at most
 * 1/131070 of its size along each axis; the page tells the largest distance found between its surfaces and the
 * exact ones. The exact ones are in the frames of --frames. */
#ifndef TOOL_VIEW_H
#define TOOL_VIEW_H
#include "scene.h"
#include <stdio.h>

typedef struct view_bytes { unsigned char *data; int count, capacity; } view_bytes;

/* How the surface of a body follows its nodes. */
typedef struct view_body {
    embipc_body handle;
    int *node;              /* owned; four for each vertex */
    float *weight;          /* owned; theirs, as the page has them */
} view_body;

typedef struct view {
    const char *path;
    FILE *file;
    const scene *s;
    view_body *body;        /* owned */
    int body_count;
    tool_text text;         /* owned scratch, as is all that follows */
    view_bytes bytes;
    embipc_contact *contact;
    double *number;
    int contact_capacity, number_capacity;
    double origin[3];       /* of the page's points in the world, m; 0 unless the scene is far from there */
    double error;           /* m, largest distance of a decoded surface vertex from the exact one, so far */
    size_t size;            /* bytes written */
} view;

/* Makes the file: page, scene, and the start as the first frame. every: steps from a frame to the next.
 * Returns 1, or 0 with e filled. A zeroed view that was never opened may be closed. */
int view_open(view *v, const char *path, const scene *s, const embipc_world *world, int every, tool_error *e);

/* A step: its numbers and forces, and its frame where frame is not 0. */
int view_step(view *v, const embipc_world *world, const embipc_step_stats *stats, const embipc_pair_force *pair,
              int pair_count, int frame, tool_error *e);

/* Ends the page and frees everything. Returns 1, or 0 with e filled where the file could not be finished. */
int view_close(view *v, tool_error *e);
#endif
