/* The mesh files of the tool, all of meshio*.c, in a test's own translation unit; after common.c. */
#ifndef TOOL_MESHIO_TEST_H
#define TOOL_MESHIO_TEST_H
#include "../tools/polygon.c"
#include "../tools/meshio.c"
#include "../tools/meshio_parse.c"
#include "../tools/meshio_build.c"
#include "../tools/meshio_obj.c"
#include "../tools/meshio_msh.c"
#include "../tools/meshio_vtk.c"
#include "../tools/meshio_stl.c"
#include "../tools/meshio_ply.c"
#include "../tools/meshio_off.c"
#include "../tools/meshio_tetgen.c"
#endif
