/* `embipc run --explain N`: one step in sentences, to be read beside docs/one_step.md. */
#ifndef TOOL_EXPLAIN_H
#define TOOL_EXPLAIN_H
#include "../embipc.h"
#include "common.h"

/* What it tells of the step that led to `world`.
 *   before   a copy of the world from just before the step. Copies of it make the step again, cut after 1, 2, ...
 *            iterations: they have the bits of the whole step, so their ends are its states in between
 *   max      linear solves that the scene allows
 *   text     gets the sentences. A line that begins with '#' is a heading
 * Returns 1, or 0 with e filled. */
int explain_step(const embipc_world *before, const embipc_world *world, const embipc_step_stats *stats, double h,
                 const double gravity[3], int max, tool_text *text, tool_error *e);

/* The same as a page. */
void explain_page(const tool_text *text, tool_text *page);
#endif
