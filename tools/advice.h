/* Warnings for what is likely a mistake of a scene, though it can be simulated. */
#ifndef TOOL_ADVICE_H
#define TOOL_ADVICE_H
#include "scene.h"

/* Appends a line for each. Numbers that are likely in a wrong unit: a moving body or mesh file far larger than
 * another, a long time step, the density of a gas or beyond that of any solid, a Young's modulus below that of any
 * gel, gravity beyond that of any planet. A body that its weight presses flat. A body that begins wholly inside
 * another one. */
void advice_warn(const scene *s, const embipc_world *world, tool_text *t);

/* Before the world is built: appends a line for each body whose steps will take gigabytes or long. */
void advice_warn_of_size(const scene *s, tool_text *t);
#endif
