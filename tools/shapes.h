/* Meshes made by code: the shapes a scene can ask for by name. Lengths in metres.
 *
 * resolution   cells along the longest side; 0 takes the default of the shape, at most 512
 * solid        1: tetrahedra, with tri their boundary; 0: the closed surface alone (tet is empty)
 *
 * Every mesh is conforming, uses all its nodes, and its triangles are a closed manifold with normals
 * outward; tetrahedra have det(x1 - x0, x2 - x0, x3 - x0) > 0. Same arguments, same bits. The functions
 * return 1, or 0 with the mesh empty and the reason in *error (which may be NULL). Free meshes with mesh_free(). */
#ifndef SHAPES_H
#define SHAPES_H

#include "meshio.h"

/* Box of full extents size, centred at the origin. Default resolution: 1, solid 4. A solid box has at least
 * as many cells as keep their sides within a factor of 4; even counts make it mirror-symmetric. */
int shape_box(tool_mesh *mesh, const double size[3], int resolution, int solid, tool_error *error);

/* Sphere at the origin: an icosphere (default resolution 14), or a ball of tetrahedra (default 6). */
int shape_sphere(tool_mesh *mesh, double radius, int resolution, int solid, tool_error *error);

/* Ball of two shells at the origin: an icosahedron, its triangles cut in four twice (162 nodes), the same at 0.6 of
 * the radius, and the centre; 325 nodes, 1280 tetrahedra. The solid that engines were compared with. Default
 * resolution 8; from 12 on it is cut once more. */
int shape_ball(tool_mesh *mesh, double radius, int resolution, int solid, tool_error *error);

/* Cylinder about the z axis, centred at the origin. Default resolution 8. */
int shape_cylinder(tool_mesh *mesh, double radius, double height, int resolution, int solid,
                   tool_error *error);

/* Capsule about the z axis, centred at the origin: a cylinder of this height with half a sphere at either end. Default
 * resolution 16. */
int shape_capsule(tool_mesh *mesh, double radius, double height, int resolution, int solid, tool_error *error);

/* Torus about the z axis; radius to the middle of the tube, tube its own radius, at most 0.8 radius.
 * Default resolution 12. */
int shape_torus(tool_mesh *mesh, double radius, double tube, int resolution, int solid, tool_error *error);

/* Ground: a slab 10 m wide and 0.2 m thick, whose top face passes through the origin with this outward
 * normal (of any length but 0). Default resolution: 1, solid 13. */
int shape_plane(tool_mesh *mesh, const double normal[3], int resolution, int solid, tool_error *error);

/* Comb of full extents size, centred at the origin: a back at the bottom and four teeth up, of three cells, one
 * cell apart. Default resolution 13. */
int shape_comb(tool_mesh *mesh, const double size[3], int resolution, int solid, tool_error *error);

/* Finger of a gripper with the fin ray effect, of full extents size, centred at the origin: an upright wall in
 * front, at -x, one behind that leans on it, and ribs between them. Pressed in front, it bends towards what
 * presses. Default resolution 22. */
int shape_finger(tool_mesh *mesh, const double size[3], int resolution, int solid, tool_error *error);

/* Dinner plate with its foot on z = 0 and its rim up: flat to 0.6 radius, then rising; thickness 0.06
 * radius, thinner towards the rounded edge. Default resolution 24. */
int shape_plate(tool_mesh *mesh, double radius, int resolution, int solid, tool_error *error);

/* A teddy bear sitting on z = 0, facing +x, mirror-symmetric in y: 0.122 x 0.105 x 0.154 m.
 * Default resolution 8: about 400 nodes; less than 4 is taken as 4, and ears need 8. Its paint, for
 * pictures, is shape_bear_paint(). */
int shape_bear(tool_mesh *mesh, int resolution, int solid, tool_error *error);

/* Soft bubble of a gripper: half an ellipsoid with semi-axes 0.057, 0.0405, 0.037 m, its base on z = 0
 * exactly and its dome towards -z. Default resolution 8: 67 nodes, 212 tetrahedra, 17 nodes in the base;
 * other resolutions are taken to the nearest of 16, 32, 64. */
int shape_bubble(tool_mesh *mesh, int resolution, int solid, tool_error *error);

/* Colour (sRGB, 0..1) of the bear at a point of its own space: fur, muzzle, belly, paws, eyes, nose. */
void shape_bear_paint(void *unused, const double point[3], double rgb[3]);

#endif
