/* Mends what can be mended in a mesh without guessing a shape, and says what it did. */
#ifndef TOOL_MEND_H
#define TOOL_MEND_H
#include "meshio.h"

#define MEND_MERGE 1e-7   /* of the diagonal: the rounding of coordinates in single precision */
#define MEND_HOLE 8       /* edges of the largest hole that gets a lid */

typedef struct mend_options {
    double merge;         /* m; < 0: MEND_MERGE of the diagonal */
    int hole;             /* 0: no lids */
} mend_options;

/* Surfaces: merges vertices on borders, and those of two-sided sheets; drops collapsed, double and hanging flat triangles,
 * flips other flat ones, makes neighbours agree, puts lids on small holes, turns closed parts outward. Of two triangles
 * that face each other one stays where that closes a surface, else none. Tets: swaps inverted ones, drops collapsed and
 * double ones. Both: drops unused vertices; a mesh with tets loses its own triangles. One line per kind of change is
 * added to `said`. Returns the number of changes. */
int mend_mesh(tool_mesh *m, const mend_options *o, tool_text *said);

/* Length of the diagonal of the bounding box. */
double mend_diagonal(const tool_mesh *m, double lo[3], double hi[3]);
#endif
