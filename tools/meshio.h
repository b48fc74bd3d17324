/* Mesh files. In: OBJ, Gmsh 2 to 2.2, 4.0 and 4.1, legacy VTK, STL, PLY (all but OBJ ASCII and binary), OFF,
 * TetGen .node/.ele. Out: OBJ and Gmsh 2.2.
 * A reader takes what a file says about points, polygons and tetrahedra, checks every number and index, and
 * leaves the geometry to the library: it knows best what is closed, inside out or flat. What a file holds
 * besides is counted. One file per format, meshio_*.c. */
#ifndef TOOL_MESHIO_H
#define TOOL_MESHIO_H
#include "common.h"

#define MESH_MAX_BYTES ((size_t)1 << 29)

typedef enum mesh_format {
    MESH_UNKNOWN, MESH_OBJ, MESH_MSH, MESH_VTK, MESH_STL, MESH_PLY, MESH_OFF, MESH_TETGEN
} mesh_format;

/* Something that a file holds and a reader passes over. */
typedef struct mesh_note {
    const char *one, *many;   /* its name, and that of several: "hexahedron", "hexahedra" */
    char such[72];            /* more about the first of them; may be empty */
    int count;
} mesh_note;

/* Points in m (3 * node_count), triangles (3 * tri_count) and tets (4 * tet_count) by index from 0.
 * A mesh that was read has triangles or tets, not both: where there are tets their boundary is the surface. */
typedef struct tool_mesh {
    double *x;
    int node_count, node_capacity;
    int *tri;
    int tri_count, tri_capacity;
    int *tet;
    int tet_count, tet_capacity;
    mesh_note *note;
    int note_count, note_capacity;
    /* Only while a file is read: */
    int *fan;                 /* polygons that are not cut yet: first triangle, number of corners */
    int fan_count, fan_capacity;
    unsigned char *aside;     /* 1: a node of something passed over (node_count); NULL: there is none */
} tool_mesh;

/* By the end of a file's name. */
mesh_format mesh_format_of(const char *path);

/* Reads size bytes that end with a zero; `name` stands in messages. Returns 1, or 0 with e filled and m
 * empty. On success there is at least one triangle or tet, polygons are cut into triangles, and nodes are
 * dropped that only belong to what was passed over, such as those inside edges. Not for TetGen, which is two
 * files: */
int mesh_parse(tool_mesh *m, mesh_format format, const char *name, const char *data, size_t size,
               tool_error *e);
int mesh_parse_tetgen(tool_mesh *m, const char *node_name, const char *node, size_t node_size,
                      const char *ele_name, const char *ele, size_t ele_size, tool_error *e);
int mesh_read(tool_mesh *m, const char *path, tool_error *e);
void mesh_free(tool_mesh *m);

/* Makes a mesh grow; before the first call it is all zero. Of a new node: where to write its coordinates. */
double *mesh_add_node(tool_mesh *m);
void mesh_add_tri(tool_mesh *m, int a, int b, int c);
void mesh_add_tet(tool_mesh *m, const int n[4]);

/* "12 hexahedra", without a line end. */
void mesh_put_note(tool_text *t, const mesh_note *n);

/* The surface of a mesh: the boundary of its tets, or its triangles. *tri receives 3 indices of nodes for each
 * (free() it). Returns their number. */
int mesh_surface(const tool_mesh *m, int **tri);
/* The triangles become the surface. */
void mesh_take_surface(tool_mesh *m);
/* Keeps the nodes that are marked in `keep`, which receives their new numbers, and whose others are in no element; or
 * those that are in an element. Return how many go. */
int mesh_keep_nodes(tool_mesh *m, int *keep);
int mesh_drop_unused(tool_mesh *m);

/* One object of an OBJ file; `first` points have been written to it before. */
void mesh_put_obj(tool_text *t, const char *name, const double *x, int node_count, const int *tri,
                  int tri_count, int first);
/* A whole Gmsh 2.2 file. */
void mesh_put_msh(tool_text *t, const tool_mesh *m);
#endif
