/* A picture of a world: all its bodies in distinct colours, seen from above and to the side. */
#ifndef TOOL_PICTURE_H
#define TOOL_PICTURE_H
#include "scene.h"

/* Writes a PNG file. Returns 1, or 0 with e filled. */
int picture_write(const char *path, const scene *s, const embipc_world *world, tool_error *e);

/* The colour (sRGB, 0 to 1) of a body that has no paint: grey when fixed, else by its number among the others. */
void picture_body_colour(double rgb[3], embipc_kind kind, int number);
#endif
