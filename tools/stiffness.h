/* How stiff a body is when it is stretched, bent and twisted, by public calls of the library: a world without gravity, and
 * one long step under forces in balance. The ratio for two descriptions of one surface tells which of them is stiffer. */
#ifndef TOOL_STIFFNESS_H
#define TOOL_STIFFNESS_H
#include "../embipc.h"
#include "common.h"

/* Along the longest principal axis of the solid; BEND_FLAT is about the axis it bends about most easily. The loads act
 * at both ends, a third of the length each, as tractions, if the surface is fine: stiffness_refine(). */
enum { STIFFNESS_STRETCH, STIFFNESS_BEND_FLAT, STIFFNESS_BEND_UPRIGHT, STIFFNESS_TWIST, STIFFNESS_LOADS };

/* work[k], J: of a small load k on its displacements. Twice the work: half as stiff. def: a cage or full body of linear
 * corotated material, as it lies at rest; its density and Young's modulus are not used. Returns 0 with e where
 * the body cannot be made or the step fails. */
int stiffness_work(const embipc_body_def *def, double work[STIFFNESS_LOADS], tool_error *e);

/* Divides triangles by the middles of their edges until no edge is longer than `edge`, m, or there are 20 000: the same
 * solid, whose vertices can carry smooth loads. The arrays x and tri, from tool_alloc(), are replaced. */
void stiffness_refine(double **x, int *vertex_count, int **tri, int *tri_count, double edge);
#endif
