/* Mesh files. In: OBJ, Gmsh 2.2 and 4.1 (ASCII), legacy VTK (ASCII), STL, PLY (both ASCII and binary), OFF,
 * TetGen .node/.ele. Out: OBJ and Gmsh 2.2.
 * A reader takes what a file says about points, triangles and tetrahedra, checks every number and index, and
 * leaves the geometry to the library: it knows best what is closed, inside out or flat. Polygons become fans
 * around their first corner. One file per format, meshio_*.c. */
#ifndef TOOL_MESHIO_H
#define TOOL_MESHIO_H
#include "common.h"

#define MESH_MAX_BYTES ((size_t)1 << 29)

typedef enum mesh_format {
    MESH_UNKNOWN, MESH_OBJ, MESH_MSH, MESH_VTK, MESH_STL, MESH_PLY, MESH_OFF, MESH_TETGEN
} mesh_format;

/* Points in m (3 * node_count), triangles (3 * tri_count) and tets (4 * tet_count) by index from 0. */
typedef struct tool_mesh {
    double *x;
    int node_count, node_capacity;
    int *tri;
    int tri_count, tri_capacity;
    int *tet;
    int tet_count, tet_capacity;
    int skipped;   /* areas and solids of other kinds (quads, hexahedra, second order) that were not read */
} tool_mesh;

/* By the end of a file's name. */
mesh_format mesh_format_of(const char *path);

/* Reads size bytes that end with a zero; `name` stands in messages. Returns 1, or 0 with e filled and m
 * empty. At least one triangle or tet is there on success. Not for TetGen, which is two files: */
int mesh_parse(tool_mesh *m, mesh_format format, const char *name, const char *data, size_t size,
               tool_error *e);
int mesh_parse_tetgen(tool_mesh *m, const char *node_name, const char *node, size_t node_size,
                      const char *ele_name, const char *ele, size_t ele_size, tool_error *e);
int mesh_read(tool_mesh *m, const char *path, tool_error *e);
void mesh_free(tool_mesh *m);

/* One object of an OBJ file; `first` points have been written to it before. */
void mesh_put_obj(tool_text *t, const char *name, const double *x, int node_count, const int *tri,
                  int tri_count, int first);
/* A whole Gmsh 2.2 file. */
void mesh_put_msh(tool_text *t, const tool_mesh *m);
#endif
