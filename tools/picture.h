/* A picture of a world: all its bodies in distinct colours, seen from above and to the side. */
#ifndef TOOL_PICTURE_H
#define TOOL_PICTURE_H
#include "scene.h"

/* Writes a PNG file. Returns 1, or 0 with e filled. */
int picture_write(const char *path, const scene *s, const embipc_world *world, tool_error *e);
#endif
