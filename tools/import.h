/* `embipc import`: a robot or a scene of another simulator as a scene file. What a file says is a tree of links with
 * shapes; here it becomes bodies, welds, joints and pairs without contact. What this cannot take is an error that names
 * element and line; what changes nothing in a simulation is passed over. */
#ifndef TOOL_IMPORT_H
#define TOOL_IMPORT_H
#include "../embipc.h"
#include "common.h"
#include "xml.h"
#include <stdio.h>

typedef struct import_options {
    const char *file, *out;         /* out NULL: to `report` */
    const char *package;            /* directory that package:// begins with, or NULL: looked for above the file */
    double friction;                /* of bodies whose file has none; 0: none */
    double young;                   /* of all moving bodies, Pa */
    const char *pose;               /* "JOINT=VALUE,JOINT=VALUE": where joints begin, degrees or m; or NULL */
    double hold[2];                 /* stiffness and damping of a motor at each joint of a URDF file, or 0 */
    int free_base;                  /* the first link of a URDF file moves freely, instead of being fixed */
    int no_self_contact;            /* no two links touch each other */
    FILE *report, *errors;
} import_options;

typedef struct import_frame { double R[9], p[3]; } import_frame;   /* x_outer = R x + p */

typedef enum import_shape {
    IMPORT_BOX,
    IMPORT_SPHERE,
    IMPORT_CYLINDER,
    IMPORT_CAPSULE,
    IMPORT_PLANE,
    IMPORT_MESH
} import_shape;

typedef struct import_geom {
    int link, line;
    import_shape shape;
    double size[3];                 /* full extents; or radius, height */
    char *mesh;                     /* owned: path of the file */
    double scale;
    import_frame at;                /* in the world, at the start */
    double mass;                    /* kg; -1: not said */
    double density;                 /* kg/m^3; 0: not said */
    int seen_only; /* it touches nothing, but its mass may count; dropped before the scene is written */
    double friction;                /* -1: not said */
    double priority;                /* of two shapes the friction of the one with more counts */
    int slippery;                   /* it has no friction with another such shape */
    unsigned bits[2];               /* its groups, and those that it touches: one shape of a pair must touch the other */
    char name[64];
    double volume, centre[3], inertia[9];   /* of the shape: m^3, m, and about its centre for density 1, in the world */
} import_geom;

enum { IMPORT_MOST = 1000 };        /* links, and shapes: some loops are quadratic in them */

/* Joint kinds beside those of the library. */
enum { IMPORT_FIXED = EMBIPC_JOINT_KINDS, IMPORT_FREE };

typedef struct import_link {
    char name[64], joint_name[64];
    int line, joint_line;
    int parent;                     /* -1 of the world, which is link 0 */
    int joint;                      /* EMBIPC_HINGE, SLIDER, BALL, IMPORT_FIXED, IMPORT_FREE */
    double point[3], axis[3];       /* in the world, at the start */
    int limited;
    double limits[2];               /* rad or m from the start */
    double damping, friction;       /* N m s/rad, N m, or N s/m, N */
    double stiffness, target, effort_limit;   /* of a motor: N m/rad or N/m, rad or m from the start; 0: no limit */
    int has_motor;
    import_frame at;                /* in the world, at the start */
    import_frame moved;             /* takes the link there from where the file has it, with all joints at 0 */
    int has_mass;
    double mass, centre[3], inertia[9];   /* kg; m, in the world; kg m^2 about the centre, in the world */
    int node;                       /* its element in the file; -1 of the world */
    int group;                      /* first link of those that are fixed to each other */
    int main;                       /* of a group: its first shape, or -1 */
    int leads;                      /* of a group: it or one below it has a shape */
} import_link;

/* A joint that closes a loop, or holds two links that the tree does not. point: in the world, at the start, as a has
 * it */
typedef struct import_loop { int kind, a, b, line; double point[3]; } import_loop;
/* Two links that never touch. */
typedef struct import_exclude { int a, b; } import_exclude;

typedef struct import_model {
    const import_options *o;
    xml x;
    tool_error *e;
    import_link *link;
    int link_count, link_capacity;
    import_geom *geom;
    int geom_count, geom_capacity;
    import_loop *loop;
    int loop_count, loop_capacity;
    import_exclude *exclude;
    int exclude_count, exclude_capacity;
    double gravity[3], time_step;   /* time_step 0: not said */
    tool_text notes;                /* lines for the user */
    int failed;
} import_model;

/* Reads a file and writes the scene. Returns the exit code. */
int import_scene(const import_options *o);

/* The same from memory: appends the scene, and lines for the user. Returns 1, or 0 with e filled. */
int import_text(const import_options *o, const char *data, size_t size, tool_text *scene_text, tool_text *notes,
                tool_error *e);

/* The two formats. Return 1, or 0 with m->e filled. */
int import_urdf(import_model *m);
int import_mjcf(import_model *m);

/* ---- For both ------------------------------------------------------------------------------- */

/* Fails with file, line and element. Returns 0. The first failure counts. */
int import_fail(import_model *m, const xml_node *n, const char *format, ...);
/* A line for the user, once for each text. */
void import_note(import_model *m, const xml_node *n, const char *format, ...);
/* The attributes of an element that is passed over: no note tells of them. */
void import_pass(import_model *m, const xml_node *n);
/* Numbers of a text, from `least` to `most` of them, which must all be read. Returns how many; 0 on failure. `what`
 * is the attribute. */
int import_numbers(import_model *m, const xml_node *n, const char *what, const char *text, int least, int most,
                   double *out);
/* An attribute of exactly `count` numbers. Returns 0 without it and on failure, with out untouched. */
int import_get(import_model *m, const xml_node *n, const char *name, int count, double *out);

import_link *import_add_link(import_model *m, const xml_node *n, const char *name, int parent);
/* The name of the joint above a link, which no other may have: --pose and actuators refer to it. */
void import_name_joint(import_model *m, const xml_node *n, import_link *l, const char *name);
import_geom *import_add_geom(import_model *m, const xml_node *n, int link, const char *name);
/* Path of a mesh: beside the file unless it is absolute; owned by who calls. */
char *import_path(const import_model *m, const char *directory, const char *file);

void import_identity(import_frame *f);
/* r = a b; r may be a or b. */
void import_multiply(import_frame *r, const import_frame *a, const import_frame *b);
void import_transform(double r[3], const import_frame *f, const double x[3]);
void import_rotate(double r[3], const double R[9], const double x[3]);
/* R of an angle about an axis of any length but 0; and R = Rz(c) Ry(b) Rx(a), rad. */
void import_axis_angle(double R[9], const double axis[3], double angle);
void import_rpy(double R[9], const double angles[3]);
/* S = R T R^T, 3 x 3 */
void import_turn_tensor(double S[9], const double R[9], const double T[9]);
/* A hinge or slider begins where the pose has it, or at 0, or where its limits are nearest to that: moves the frame
 * of the link there, and shifts the limits and the target of its motor. ref: what the file calls its position at 0.
 */
void import_begin(import_model *m, const xml_node *n, import_link *l, double ref);
#endif
