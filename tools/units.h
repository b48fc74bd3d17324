/* Warnings for numbers of a scene that are likely in a wrong unit. */
#ifndef TOOL_UNITS_H
#define TOOL_UNITS_H
#include "scene.h"

/* Appends a line for each: a moving body or mesh file far larger than another, a long time step, the density of a gas
 * or beyond that of any solid, a Young's modulus below that of any gel, gravity beyond that of any planet. */
void units_warn(const scene *s, const embipc_world *world, tool_text *t);
#endif
