/* The press of tests/press.h for the report. */
#ifndef PRESS_WORLD_H
#define PRESS_WORLD_H
#include "scene_sum.h"

#define PRESS_POINTS 11
extern const double press_at_travel[PRESS_POINTS];     /* m */

typedef struct press_curve {
    double force[PRESS_POINTS], reference[PRESS_POINTS];   /* kN/m */
    double d[32], all[32];                                 /* every point measured */
    int points, nodes, tets, steps, solves, cut, inverted, ok;
    paper_scene sum;                                       /* each step looked at by exact arithmetic */
} press_curve;

/* which: 0 rubber, 1 compressible; a mesh of tetrahedra of the cylinder, z from 0 up */
press_curve press_measure(const double *x, int nodes, const int *tri, int tris, const int *tets, int tet_count, int which, int averaged);
#endif
