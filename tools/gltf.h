/* A run as animated glTF 2.0, one binary file (.glb), for programs that draw: meshes of all bodies with their colours.
 * Bodies that keep their shape move as nodes; others have a morph target for each moment. Normals are smooth across
 * edges that turn less than 60 degrees. z is up here and y there: a node above all turns it, and moves it to
 * where the scene is. */
#ifndef TOOL_GLTF_H
#define TOOL_GLTF_H
#include "scene.h"

/* A body at all moments. */
typedef struct gltf_body {
    int vertex_count;
    double *x;                    /* owned; vertices, m (3 * vertex_count for each moment; a fixed body has one) */
    double *pose;                 /* owned; position, m, and rotation by rows (12 for each moment) */
    int x_capacity, pose_capacity;
} gltf_body;

/* A zeroed gltf is a new one. */
typedef struct gltf {
    gltf_body *body;              /* owned */
    int body_count;
    double *time;                 /* owned; s */
    double origin[3];             /* in the world, m: vertices and poses are about it */
    int moments, time_capacity;
} gltf;

/* Adds the present moment. Time grows from one to the next. */
void gltf_add(gltf *g, const scene *s, const embipc_world *world);
/* Can so many moments be written? A file may have 1 GB. The first one has been added. Returns 1, or 0 with e
 * filled. */
int gltf_fits(const gltf *g, const char *path, const scene *s, const embipc_world *world, int moments, tool_error *e);
/* Writes the file. Returns 1, or 0 with e filled. */
int gltf_write(const gltf *g, const char *path, const scene *s, const embipc_world *world, tool_error *e);
void gltf_free(gltf *g);
#endif
