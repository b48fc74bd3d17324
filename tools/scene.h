/* Scene files, version 1: JSON to descriptions, descriptions to a world.
 * Every key is checked for its name, type and range here, with file and line; what is left out stays as
 * embipc_default_*_def() has it, so that the library derives it. What bodies may look like is the library's
 * judgement: its words are passed on with the name of the body. */
#ifndef TOOL_SCENE_H
#define TOOL_SCENE_H
#include "../embipc.h"
#include "common.h"
#include "meshio.h"

typedef struct scene_body {
    char name[64];
    int line;                   /* of its { in the scene file */
    char source[256];           /* name of the mesh file or of the shape */
    int is_file;                /* source is a file */
    int repeated;               /* its number among those of a "repeat", 0: none; copies own no meshes */
    int is_bear;                /* the shape with paint of its own */
    embipc_body_def def;        /* points into the meshes below */
    tool_mesh surface, cage;    /* owned; cage is empty when the library builds it */
    double *tet_stiffness, *tet_density;   /* owned; NULL: no factors */
    double surface_velocity[3]; /* m/s */
    embipc_body handle;         /* once built */
} scene_body;

typedef struct scene_drive {
    int body, line;
    int has_box;
    double box[6];              /* lower and upper corner, m, in world coordinates at the start */
    double *keys;               /* owned; rows of 7: s, m (3), rotation vector in rad (3) */
    int key_count;
    double stiffness[3], damping, force_limit;   /* as of embipc_drive_def; all 0: not soft */
    embipc_drive handle;
} scene_drive;

typedef struct scene_pair {
    int a, b, line;
    double friction;            /* -1: geometric mean */
    int contact;
} scene_pair;

typedef struct scene_joint {
    int a, b, line;             /* numbers of bodies; a is -1 for the world */
    int has_box;
    double box[6];              /* of what an attachment holds, as of a drive */
    embipc_joint_def def;       /* all but its bodies and vertices */
    double *keys;               /* owned; of the motor, rows of 2: s, position in rad or m */
    int key_count;
    embipc_joint handle;
} scene_joint;

typedef struct scene {
    char *path;
    char **file;                /* owned, as are its names: all that was read, the scene first */
    int file_count, file_capacity;
    embipc_world_def world;
    double duration;            /* s; 1 when the file does not say */
    scene_body *body;
    int body_count, body_capacity;
    scene_drive *drive;
    int drive_count, drive_capacity;
    scene_pair *pair;
    int pair_count, pair_capacity;
    scene_joint *joint;
    int joint_count, joint_capacity;
} scene;

/* Reads a scene file and the meshes it names. Returns 1, or 0 with e filled. Free in either case. */
int scene_read(scene *s, const char *path, tool_error *e);
/* The same from memory; paths of meshes are relative to the directory of `path`. */
int scene_parse(scene *s, const char *path, const char *data, size_t size, tool_error *e);
void scene_free(scene *s);

/* Makes the world of a scene, with s->world as its description. *world is NULL on failure. */
int scene_build(scene *s, embipc_world **world, tool_error *e);

/* Motors that have keys get their targets for the next step: to be called before each. Their target velocity is that
 * which takes them there from where the keys are now. Returns 1, or 0 with e filled. */
int scene_steer(const scene *s, embipc_world *world, tool_error *e);
/* Position, velocity and effort that this gives the motor of joint i at time t; returns 0 where it has no keys. */
int scene_motor(const scene *s, int i, double t, double target[3]);

/* What points that are kept in 24 bits are about: 0; or, where the scene is far from there, as at coordinates of a map,
 * the multiple of 1024 of its sizes, or up to twice that, that is nearest to its middle, m. */
void scene_origin(const scene *s, const embipc_world *world, double origin[3]);

/* Number of the body that has this handle, or -1. */
int scene_index_of(const scene *s, embipc_body handle);

/* Names of the material models, as in embipc_model. */
extern const char *const scene_models[EMBIPC_MODEL_COUNT];

/* Names of the kinds of bodies, as in embipc_kind. */
extern const char *const scene_kinds[EMBIPC_FULL + 1];

/* Names of the kinds of joints, as in embipc_joint_kind. */
extern const char *const scene_joint_kinds[EMBIPC_JOINT_KINDS];

/* Has the drive a stiffness? Then what its box selects are surface vertices of a body of any kind. */
int scene_is_soft(const scene_drive *d);
/* Is x in the box (lower and upper corner)? */
int scene_in_box(const double x[3], const double box[6]);

/* R = Rz(c) Ry(b) Rx(a) of angles [a, b, c] in degrees, row-major. */
void scene_rotation(double R[9], const double degrees[3]);
#endif
