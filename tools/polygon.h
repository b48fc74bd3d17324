/* Cuts polygons into triangles on their own corners. Polygons may be concave, may have corners in one place
 * (as where a hole is joined to the outer border by two edges that lie on each other), and need not be flat. */
#ifndef TOOL_POLYGON_H
#define TOOL_POLYGON_H
#include "common.h"
#include <limits.h>

#define POLYGON_MOST (INT_MAX / 24)   /* corners: the memory of a cutter is counted in ints */

/* Memory that is used again for the next polygon. Begin with zeros, end with polygon_free(). */
typedef struct polygon_cutter {
    double *uv;                /* 3 a corner: the corner seen along an axis, counter-clockwise, and 0 */
    int uv_capacity;
    int *number;               /* everything that is counted in whole numbers, see polygon.c */
    int number_capacity;
    double *real;
    int real_capacity;
} polygon_cutter;

/* Cuts one polygon.
 *   x            coordinates, m; corner i is at x + 3 * corner[i]
 *   corner, n    indices of the corners in order, 3 <= n <= POLYGON_MOST  (n)
 *   tri          receives at most n - 2 triangles, in the sense of the polygon  (3 * (n - 2))
 * Returns the number of triangles. It is n - 2, less one for each corner that is named twice in a row, less
 * two for each corner from which the polygon goes back the way it came.
 * Where the polygon, seen along the axis that it faces most, does not meet itself, the triangles do not
 * overlap: signs of areas are exact. A polygon that crosses itself is cut, too, into triangles that overlap.
 * The triangles are Delaunay, but for polygons of 4 corners: those keep the diagonal from their first corner
 * where it is inside. About n log n; n^1.5 where long slivers cross the whole. */
int polygon_cut(polygon_cutter *p, const double *x, const int *corner, int n, int *tri);

void polygon_free(polygon_cutter *p);
#endif
