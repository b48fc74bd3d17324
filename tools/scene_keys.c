#include "scene_keys.h"
#include "scene.h"
#include <string.h>

#define SCENE_COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- Words ---------------------------------------------------------------------------------- */

const char *const scene_models[EMBIPC_MODEL_COUNT] = {
    "corotated",   "orthogonality", "arap", "fixed_corotated", "stable_neo_hookean",
    "neo_hookean", "stvk",          "mooney_rivlin"
};
const char *const scene_joint_kinds[EMBIPC_JOINT_KINDS] = { "ball", "hinge", "slider", "weld", "rod", "attach" };
const char *const scene_kinds[EMBIPC_FULL + 1] = { "fixed", "kinematic", "affine", "cage", "full" };
static const char *const scene_integrators[] = { "backward_euler", "bdf2" };
static const char *const scene_accuracies[] = { "normal", "coarse", "fine" };
static const char *const scene_solvers[] = { "auto", "dense", "sparse", "cg" };
static const char *const scene_shapes[SCENE_SHAPES] = { "box",    "sphere", "cylinder", "torus",  "plane", "plate",
                                                        "bear",   "bubble", "comb",     "finger", "ball",  "capsule" };

static const struct { scene_part part; const char *key; const char *const *words; int count; } scene_word_lists[] = {
    { SCENE_ROOT, "integrator", scene_integrators, SCENE_COUNT(scene_integrators) },
    { SCENE_SOLVER, "accuracy", scene_accuracies, SCENE_COUNT(scene_accuracies) },
    { SCENE_SOLVER, "linear", scene_solvers, SCENE_COUNT(scene_solvers) },
    { SCENE_BODY, "kind", scene_kinds, SCENE_COUNT(scene_kinds) },
    { SCENE_BODY, "shape", scene_shapes, SCENE_COUNT(scene_shapes) },
    { SCENE_MATERIAL, "model", scene_models, SCENE_COUNT(scene_models) },
    { SCENE_JOINT, "kind", scene_joint_kinds, SCENE_COUNT(scene_joint_kinds) }
};

const char *const *scene_words(scene_part part, const char *key, int *count)
{
    for (int i = 0; i < SCENE_COUNT(scene_word_lists); i++)
        if (scene_word_lists[i].part == part && strcmp(scene_word_lists[i].key, key) == 0) {
            *count = scene_word_lists[i].count;
            return scene_word_lists[i].words;
        }
    return NULL;
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static const struct { const char *name, *where, *text;
} scene_parts[SCENE_PARTS] = {
    { "scene", "the outermost object of the file",
      "A scene file is JSON (RFC 8259), at most 64 MB. Units are SI, but angles are in degrees. Paths are relative "
      "to the "
      "file. Unknown keys are errors." },
    { "contact", "\"contact\" of the scene",
      "What holds for all pairs of bodies. `embipc defaults SCENE.json` prints the "
      "values that are derived." },
    { "solver", "\"solver\" of the scene", "How the equations of a step are solved." },
    { "body", "an entry of \"bodies\"", "Coordinates of the mesh are scaled, rotated and then moved by `position`." },
    { "material", "\"material\" of a body",
      "Energies are those of `embipc_model` in the header. `embipc defaults --material` "
      "prints stress against stretch." },
    { "repeat", "\"repeat\" of a body",
      "Copies of a body in rows, columns and layers, NAME 1 to NAME n. x runs fastest." },
    { "region", "an entry of \"regions\" of a body",
      "Factors for the tets whose centres lie in a box. Factors of several "
      "regions multiply." },
    { "drive", "an entry of \"drive\" of a body",
      "A drive takes a body, or a part of it, along a prescribed motion." },
    { "select", "\"select\" of a drive or of an attachment", "What a drive or a joint holds." },
    { "pair", "an entry of \"pairs\" of the scene", "A rule for two bodies, or for one body and itself." },
    { "joint", "an entry of \"joints\" of the scene",
      "Points and axes are those of the start, in world coordinates." },
    { "motor", "\"motor\" of a hinge or slider",
      "Effort = stiffness (position - where it is) + damping (velocity - its "
      "velocity) + effort. A hinge has N m and degrees, a slider N and m." }
};

#define EXAMPLE_HINGE "\"kind\": \"hinge\", \"b\": \"ball\", \"point\": [0, 0, 1], \"axis\": [0, 1, 0]"
#define EXAMPLE_SPRING "\"stiffness\": 500, "

const scene_key scene_keys[] = {
    { SCENE_ROOT, "version", "1", "", "needed", "Version of this format.", "\"version\": 1" },
    { SCENE_ROOT, "time_step", "number > 0", "s", "0.01", "Length of a step.", "\"time_step\": 0.005" },
    { SCENE_ROOT, "integrator", "word", "", "\"backward_euler\"",
      "Rule for velocities: first order, or second order with bdf2, which damps vibrations less.",
      "\"integrator\": \"bdf2\"" },
    { SCENE_ROOT, "keep_spin", "true or false", "", "true",
      "Free bodies keep their angular momentum. false is the plain rule, for comparisons.", "\"keep_spin\": false" },
    { SCENE_ROOT, "sleep_after", "number >= 0", "s", "0",
      "Bodies that have been at rest for so long sleep until something wakes them. 0: none sleeps.", "\"sleep_after\": 0.5" },
    { SCENE_ROOT, "sleep_speed", "number >= 0", "m/s", "0",
      "A body is at rest while no node is faster. 0: the friction velocity of the body. In contact, time below ten times "
      "that then counts for a quarter.", "\"sleep_speed\": 0.001" },
    { SCENE_ROOT, "duration", "number >= 0", "s", "1", "Simulated time of `embipc run`.", "\"duration\": 4" },
    { SCENE_ROOT, "gravity", "[x, y, z]", "m/s^2", "[0, 0, -9.81]", "Gravity. The z axis points up.",
      "\"gravity\": [0, 0, -1.62]" },
    { SCENE_ROOT, "contact", "object", "", "none", "Parameters of contact, below.",
      "\"contact\": { \"dhat\": 1e-3 }" },
    { SCENE_ROOT, "solver", "object", "", "none", "Parameters of the solver, below.",
      "\"solver\": { \"linear\": \"cg\" }" },
    { SCENE_ROOT, "bodies", "array of objects", "", "needed", "At least one body.",
      "\"bodies\": [{ \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\" }]" },
    { SCENE_ROOT, "pairs", "array of objects", "", "none", "Rules for pairs of bodies.",
      "\"pairs\": [{ \"bodies\": [\"ball\", \"arm\"], \"friction\": 0.9 }]" },
    { SCENE_ROOT, "joints", "array of objects", "", "none", "Joints of two bodies, or of a body and the world.",
      "\"joints\": [{ \"kind\": \"ball\", \"b\": \"ball\", \"point\": [0, 0, 1] }]" },

    { SCENE_CONTACT, "dhat", "number > 0", "m", "derived for each pair",
      "Distance below which surfaces repel each other.", "\"dhat\": 1e-3" },
    { SCENE_CONTACT, "kappa", "number > 0", "kg/s^2", "derived for each pair", "Stiffness of the barrier.",
      "\"kappa\": 1e5" },
    { SCENE_CONTACT, "friction_velocity", "number > 0", "m/s", "derived for each pair",
      "Below this velocity friction sticks. What sticks creeps at up to this velocity.",
      "\"friction_velocity\": 1e-4" },
    { SCENE_CONTACT, "friction_iterations", "whole number >= 0", "", "0",
      "Passes in which normal forces of friction are updated, up to 1000. 0: one, and more in steps where they "
      "change much.",
      "\"friction_iterations\": 3" },

    { SCENE_SOLVER, "linear", "word", "", "\"auto\"",
      "Method for linear systems. auto chooses by size and structure.", "\"linear\": \"sparse\"" },
    { SCENE_SOLVER, "accuracy", "word", "", "\"normal\"",
      "Where a step ends, as a share of friction_velocity: normal 0.1, coarse 1, fine 0.01. Not beside a tolerance.", "\"accuracy\": \"fine\"" },
    { SCENE_SOLVER, "tolerance", "number > 0", "m/s", "derived: friction_velocity times the share of accuracy",
      "A step ends when Newton's method moves less than this times the time step.", "\"tolerance\": 1e-4" },
    { SCENE_SOLVER, "max_iterations", "whole number >= 1", "", "100",
      "Most Newton iterations of a step, up to 1e6. A step that needs more is cut short, without intersections.",
      "\"max_iterations\": 40" },

    { SCENE_BODY, "name", "name", "", "body N, the N-th of the file",
      "1 to 63 characters, no quotes and commas. No two bodies have one name.", "\"name\": \"teddy\"" },
    { SCENE_BODY, "kind", "word", "", "needed", "What moves it. fixed: nothing. kinematic: rigid, by its drives. "
      "affine: one tet, for stiff parts. cage: a coarse cage carries the surface. full: each node of a tet mesh is "
      "free.", "\"kind\": \"affine\"" },
    { SCENE_BODY, "mesh", "file", "", "needed without a shape",
      "A mesh (.obj .stl .ply .off .msh .vtk .node). Tets rule: their boundary is the surface. Kind full needs tets.",
      "\"mesh\": \"stone.obj\"" },
    { SCENE_BODY, "shape", "word", "", "needed without a mesh", "A shape made by code, see the list of shapes.",
      "\"shape\": \"torus\", \"radius\": 0.1, \"tube\": 0.03" },
    { SCENE_BODY, "size", "[x, y, z], each > 0", "m", "needed by box, comb and finger",
      "Full extents. Lengths of shapes are 1e-6 to 1e6 m.",
      "\"shape\": \"box\", \"size\": [0.1, 0.1, 0.2]" },
    { SCENE_BODY, "radius", "number > 0", "m", "needed by round shapes",
      "Radius; of a torus to the middle of the tube.", "\"shape\": \"sphere\", \"radius\": 0.05" },
    { SCENE_BODY, "height", "number > 0", "m", "needed by cylinder and capsule", "Length along z.",
      "\"shape\": \"cylinder\", \"radius\": 0.05, \"height\": 0.2" },
    { SCENE_BODY, "tube", "number > 0", "m", "needed by torus", "Radius of the tube, from 0.001 to 0.8 of `radius`.",
      "\"shape\": \"torus\", \"radius\": 0.1, \"tube\": 0.03" },
    { SCENE_BODY, "normal", "[x, y, z]", "", "[0, 0, 1]", "Outward normal of a plane, of any length.",
      "\"shape\": \"plane\", \"normal\": [0, -0.5, 1]" },
    { SCENE_BODY, "resolution", "whole number 1 to 512", "", "that of the shape",
      "Cells of a shape along its longest side.", "\"resolution\": 16" },
    { SCENE_BODY, "cage", "file", "", "built", "Tets that enclose the surface, for kind cage.",
      "\"kind\": \"cage\", \"mesh\": \"spike.msh\", \"cage\": \"spike.msh\"" },
    { SCENE_BODY, "cage_nodes", "whole number >= 4", "", "about 30, or 4 for stiff bodies",
      "Nodes of the cage that is built, roughly; up to 100000.", "\"kind\": \"cage\", \"cage_nodes\": 100" },
    { SCENE_BODY, "position", "[x, y, z]", "m", "[0, 0, 0]", "Where the origin of the mesh is.",
      "\"position\": [0, 0, 0.5]" },
    { SCENE_BODY, "rotation", "[a, b, c]", "degrees", "[0, 0, 0]",
      "Rotation about x, then about y, then about z of the world.", "\"rotation\": [0, 90, 0]" },
    { SCENE_BODY, "scale", "number > 0", "", "1", "Factor on the mesh, e.g. 1e-3 for one in mm.", "\"scale\": 2" },
    { SCENE_BODY, "velocity", "[x, y, z]", "m/s", "[0, 0, 0]", "Velocity at the start, of kinds that forces move.",
      "\"velocity\": [0, 0, -3]" },
    { SCENE_BODY, "angular_velocity", "[x, y, z]", "rad/s", "[0, 0, 0]", "Likewise, about its centre of mass.",
      "\"angular_velocity\": [0, 0, 6.28]" },
    { SCENE_BODY, "surface_velocity", "[x, y, z]", "m/s", "[0, 0, 0]",
      "The surface runs with it, beside the motion of the body: a conveyor belt.",
      "\"surface_velocity\": [0.5, 0, 0]" },
    { SCENE_BODY, "material", "object", "", "none", "Its material, below. Fixed and kinematic bodies need none.",
      "\"material\": { \"young\": 5e4, \"density\": 200 }" },
    { SCENE_BODY, "friction", "number >= 0", "", "0",
      "Coefficient, up to 1e9. That of a pair is the geometric mean of its bodies'.", "\"friction\": 0.5" },
    { SCENE_BODY, "static_friction", "number >= 0", "", "0",
      "Coefficient while contacts stick, where it is above `friction`.",
      "\"friction\": 0.5, \"static_friction\": 0.7" },
    { SCENE_BODY, "drive", "array of objects", "", "none", "Prescribed motions, below.",
      "\"drive\": [{ \"keys\": [[0, 0, 0, 0], [1, 0, 0, 0.1]] }]" },
    { SCENE_BODY, "repeat", "object", "", "none", "Copies, below. They cannot have drives and joints.",
      "\"repeat\": { \"count\": [3, 1, 2], \"spacing\": [0.2, 0, 0.2] }" },
    { SCENE_BODY, "regions", "array of objects", "", "none",
      "Factors for parts of a body of kind full, or with a cage from a file.", "\"kind\": \"full\", \"mesh\": "
      "\"spike.msh\", \"regions\": [{ \"box\": [[-1, -1, 0], [1, 1, 1]], \"stiffness\": 10 }]" },
    { SCENE_BODY, "tet_stiffness", "array of numbers > 0", "", "1 for each",
      "A factor on Young's modulus for each tet.",
      "\"kind\": \"full\", \"mesh\": \"spike.msh\", \"tet_stiffness\": [1, 10]" },
    { SCENE_BODY, "tet_density", "array of numbers > 0", "", "1 for each", "A factor on the density for each tet.",
      "\"kind\": \"full\", \"mesh\": \"spike.msh\", \"tet_density\": [1, 0.5]" },

    { SCENE_MATERIAL, "model", "word", "", "\"corotated\"",
      "Energy of the deformation. orthogonality is for kind affine only. neo_hookean never inverts.",
      "\"model\": \"neo_hookean\"" },
    { SCENE_MATERIAL, "young", "number > 0", "Pa", "1e5",
      "Young's modulus: 5e4 is foam, 1e6 rubber, 1e9 a hard plastic.", "\"young\": 1e6" },
    { SCENE_MATERIAL, "poisson", "number > -1 and < 0.5", "", "0.4",
      "Poisson's ratio: 0.49 hardly changes its volume.", "\"poisson\": 0.49" },
    { SCENE_MATERIAL, "density", "number > 0", "kg/m^3", "1000", "Mass of a volume. That of water is the default.",
      "\"density\": 7800" },
    { SCENE_MATERIAL, "damping", "[alpha, beta], each >= 0", "1/s, s", "[0, 0]",
      "Rayleigh damping, of velocities and of rates of deformation.", "\"damping\": [0, 0.01]" },
    { SCENE_MATERIAL, "averaged", "true or false", "", "true for cages from files, else false",
      "Volume strain averaged over nodes, against locking of tets.", "\"averaged\": true" },
    { SCENE_MATERIAL, "stiffness", "number > 0", "Pa", "1e7", "Of model orthogonality, in place of young.",
      "\"model\": \"orthogonality\", \"stiffness\": 1e8" },
    { SCENE_MATERIAL, "mooney", "[C1, C2, K], each >= 0", "Pa", "needed by mooney_rivlin",
      "Of model mooney_rivlin, in place of young and poisson. K >= 4/3 (C1 + C2).",
      "\"model\": \"mooney_rivlin\", \"mooney\": [1e4, 2e3, 1e5]" },
    { SCENE_MATERIAL, "fibre", "[x, y, z]", "", "needed by fibre_stiffness",
      "Direction of fibres, in coordinates of the mesh.", "\"fibre\": [1, 0, 0], \"fibre_stiffness\": 1e6" },
    { SCENE_MATERIAL, "fibre_stiffness", "number >= 0", "Pa", "0", "Young's modulus that fibres add along them.",
      "\"fibre\": [1, 0, 0], \"fibre_stiffness\": 1e6" },
    { SCENE_MATERIAL, "determinant_bound", "true or false", "", "true for kind affine, else false",
      "No tet may invert within a step. Model neo_hookean has it always, and takes no such key.", "\"determinant_bound\": true" },

    { SCENE_REPEAT, "count", "[nx, ny, nz], whole numbers >= 1", "", "needed",
      "Copies along x, y, z, at most 10000 in all.", "\"count\": [3, 1, 2]" },
    { SCENE_REPEAT, "spacing", "[x, y, z]", "m", "[0, 0, 0]", "From one copy to the next.",
      "\"spacing\": [0.2, 0, 0.2]" },
    { SCENE_REPEAT, "turn", "[a, b, c]", "degrees", "[0, 0, 0]",
      "Angles by which each copy is rotated relative to the one before.", "\"turn\": [0, 0, 45]" },

    { SCENE_REGION, "box", "[[x, y, z], [x, y, z]]", "m", "needed",
      "Lower and upper corner, in coordinates of the mesh.", "\"box\": [[-1, -1, 0], [1, 1, 1]], \"stiffness\": 10" },
    { SCENE_REGION, "stiffness", "number > 0", "", "1", "Factor on Young's modulus.", "\"stiffness\": 10" },
    { SCENE_REGION, "density", "number > 0", "", "1", "Factor on the density.", "\"density\": 0.5" },

    { SCENE_DRIVE, "keys", "rows [t, x, y, z] or [t, x, y, z, a, b, c]", "s, m, degrees", "needed",
      "Displacement, and rotation vector about the middle of the body. Linear in between, constant before and after.",
      "\"keys\": [[0, 0, 0, 0], [2, 0, 0, 0.1, 0, 0, 90]]" },
    { SCENE_DRIVE, "select", "object", "", "the whole body",
      "A part of a body of kind cage or full, or of any kind with a `stiffness`.",
      "\"select\": { \"box\": [[-1, -1, 0], [1, 1, 1]] }" },
    { SCENE_DRIVE, "stiffness", "number > 0, or [x, y, z], each >= 0", "N/m", "none: the motion is followed exactly",
      "Springs pull to where the keys lead. Their sum along each axis.", "\"stiffness\": [500, 500, 0]" },
    { SCENE_DRIVE, "damping", "number >= 0", "s", "0", "Adds damping * stiffness * (velocity of keys - velocity).",
      EXAMPLE_SPRING "\"damping\": 0.02" },
    { SCENE_DRIVE, "force_limit", "number > 0", "N", "none", "Limit of the sum of these forces.",
      EXAMPLE_SPRING "\"force_limit\": 8" },

    { SCENE_SELECT, "box", "[[x, y, z], [x, y, z]]", "m", "needed",
      "Lower and upper corner, in coordinates of the world at the start.", "\"box\": [[-1, -1, 0], [1, 1, 2]]" },

    { SCENE_PAIR, "bodies", "two names", "", "needed",
      "Two bodies; twice the same for self-contact. A copy of a repeat is NAME n.",
      "\"bodies\": [\"arm\", \"ball\"], \"friction\": 0.9" },
    { SCENE_PAIR, "friction", "number >= 0", "", "the geometric mean of both", "Coefficient of this pair.",
      "\"friction\": 0.9" },
    { SCENE_PAIR, "contact", "true or false", "", "true", "false: the two are never tested and may overlap.",
      "\"contact\": false" },

    { SCENE_JOINT, "kind", "word", "", "needed", "ball: points coincide. hinge: b rotates about the axis. slider: b "
      "moves along it. weld: b does not move against a. rod: keeps a length. attach: vertices of b stay in the "
      "frame of a.", "\"kind\": \"weld\", \"b\": \"ball\", \"point\": [0, 0, 1]" },
    { SCENE_JOINT, "a", "name", "", "the world", "The first body. Copies of a repeat cannot be named.",
      "\"kind\": \"ball\", \"a\": \"arm\", \"b\": \"ball\", \"point\": [0, 0, 1]" },
    { SCENE_JOINT, "b", "name", "", "needed", "The second body.",
      "\"kind\": \"ball\", \"b\": \"ball\", \"point\": [0, 0, 1]" },
    { SCENE_JOINT, "point", "[x, y, z]", "m", "needed by all but attach",
      "Where the joint is. Of a rod, its end on a.", "\"kind\": \"ball\", \"b\": \"ball\", \"point\": [0, 0, 1]" },
    { SCENE_JOINT, "point_b", "[x, y, z]", "m", "needed by rod", "Its end on b.",
      "\"kind\": \"rod\", \"b\": \"ball\", \"point\": [0, 0, 2], \"point_b\": [0, 0, 1]" },
    { SCENE_JOINT, "axis", "[x, y, z]", "", "needed by hinge, slider and limited ball", "A direction, of any length.",
      "\"kind\": \"slider\", \"b\": \"ball\", \"point\": [0, 0, 1], \"axis\": [0, 0, 1]" },
    { SCENE_JOINT, "limits", "[least, greatest]", "degrees or m", "none; a rod keeps its length",
      "Positions of hinge and slider, length of a rod: [0, L] is a rope. null is for none (slider, rod). Of a ball "
      "[0, largest angle], or that angle alone.", EXAMPLE_HINGE ", \"limits\": [-90, 45]" },
    { SCENE_JOINT, "twist", "number > 0 and < 180", "degrees", "free",
      "How far b of a ball rotates about its axis, to either side.",
      "\"kind\": \"ball\", \"b\": \"ball\", \"point\": [0, 0, 1], \"axis\": [0, 0, 1], \"twist\": 30" },
    { SCENE_JOINT, "friction", "number >= 0", "N m or N", "0", "Effort that resists the motion of hinge or slider.",
      EXAMPLE_HINGE ", \"friction\": 0.1" },
    { SCENE_JOINT, "motor", "object", "", "none", "Of hinge and slider, below.",
      EXAMPLE_HINGE ", \"motor\": { \"stiffness\": 10, \"position\": 30 }" },
    { SCENE_JOINT, "stiffness", "number > 0", "N/m", "derived",
      "Of each held point, in place of the one that is derived; up to 1e18.",
      "\"kind\": \"ball\", \"b\": \"ball\", \"point\": [0, 0, 1], \"stiffness\": 1e6" },
    { SCENE_JOINT, "contact", "true or false", "", "false",
      "true: a and b may touch. Else they may overlap from the start.",
      "\"kind\": \"ball\", \"a\": \"arm\", \"b\": \"ball\", \"point\": [0, 0, 1], \"contact\": true" },
    { SCENE_JOINT, "select", "object", "", "all vertices", "Surface vertices of b that an attachment holds.",
      "\"kind\": \"attach\", \"a\": \"arm\", \"b\": \"ball\", \"select\": { \"box\": [[-1, -1, 0], [1, 1, 2]] }" },
    { SCENE_JOINT, "distance", "number > 0", "m", "any",
      "An attachment holds only vertices within it of the surface of a.",
      "\"kind\": \"attach\", \"a\": \"arm\", \"b\": \"ball\", \"distance\": 2" },

    { SCENE_MOTOR, "stiffness", "number >= 0", "N m/rad or N/m", "0",
      "Of the spring that pulls to `position`; up to 1e18.",
      "\"stiffness\": 10, \"position\": 30" },
    { SCENE_MOTOR, "damping", "number >= 0", "N m s/rad or N s/m", "0", "Of the damper that pulls to `velocity`.",
      "\"damping\": 1, \"velocity\": 6.28" },
    { SCENE_MOTOR, "limit", "number > 0", "N m or N", "none", "Largest effort of spring and damper.",
      "\"damping\": 1, \"velocity\": 6.28, \"limit\": 5" },
    { SCENE_MOTOR, "position", "number", "degrees or m", "0", "Target, up to 1e9; needs a stiffness.",
      "\"stiffness\": 10, \"position\": 30" },
    { SCENE_MOTOR, "velocity", "number", "rad/s or m/s", "0", "Target; needs a damping.",
      "\"damping\": 1, \"velocity\": 6.28" },
    { SCENE_MOTOR, "effort", "number", "N m or N", "0", "Added as it is.", "\"effort\": 0.5" },
    { SCENE_MOTOR, "keys", "rows [t, position]", "s, degrees or m", "none",
      "Targets over time, linear in between, constant before and after. Their slope is the target velocity.",
      "\"stiffness\": 10, \"damping\": 1, \"keys\": [[0, 0], [1, 90]]" }
};
const int scene_key_count = SCENE_COUNT(scene_keys);

/* ---- Shapes --------------------------------------------------------------------------------- */

const scene_shape_line scene_shape_lines[SCENE_SHAPES] = {
    { "box", "size", 1, 4, "A box, centred at the origin.", "\"shape\": \"box\", \"size\": [0.1, 0.1, 0.2]" },
    { "sphere", "radius", 14, 6, "A sphere at the origin.", "\"shape\": \"sphere\", \"radius\": 0.05" },
    { "cylinder", "radius height", 8, 8, "A cylinder about the z axis, centred at the origin.",
      "\"shape\": \"cylinder\", \"radius\": 0.05, \"height\": 0.2" },
    { "torus", "radius tube", 12, 12, "A ring about the z axis.",
      "\"shape\": \"torus\", \"radius\": 0.1, \"tube\": 0.03" },
    { "plane", "", 1, 13, "Ground: a slab 10 m wide and 0.2 m thick. Its top passes through the origin, up unless "
      "`normal` says otherwise.", "\"shape\": \"plane\"" },
    { "plate", "radius", 24, 24, "A dinner plate with its foot on z = 0 and its rim up.",
      "\"shape\": \"plate\", \"radius\": 0.1" },
    { "bear", "", 8, 8, "A teddy bear that sits on z = 0 and faces +x: 0.122 x 0.105 x 0.154 m.",
      "\"shape\": \"bear\"" },
    { "bubble", "", 8, 8, "Soft bubble of a gripper: half an ellipsoid of 0.057, 0.0405, 0.037 m, its base on z = "
      "0, its dome towards -z. Cut once more from resolution 12, 24 and 48 on.", "\"shape\": \"bubble\"" },
    { "comb", "size", 13, 13, "A back at the bottom and four teeth up, centred at the origin.",
      "\"shape\": \"comb\", \"size\": [0.13, 0.02, 0.1]" },
    { "finger", "size", 22, 22,
      "A finger of a gripper with the fin ray effect, its front at -x, centred at the origin.",
      "\"shape\": \"finger\", \"size\": [0.03, 0.02, 0.09]" },
    { "ball", "radius", 8, 8,
      "A ball of two shells at the origin: 325 nodes, 1280 tets; from resolution 12 on cut once more.",
      "\"shape\": \"ball\", \"radius\": 0.05" },
    { "capsule", "radius height", 16, 16,
      "A cylinder about the z axis with half a sphere at either end, centred at the origin. `height` is that of the "
      "cylinder.",
      "\"shape\": \"capsule\", \"radius\": 0.05, \"height\": 0.2" }
};

int scene_shape_has(int shape, const char *measure)
{
    const char *list = shape == SCENE_PLANE ? "normal" : scene_shape_lines[shape].measures;
    const char *at = strstr(list, measure);
    size_t n = strlen(measure);
    return at && (at == list || at[-1] == ' ') && (at[n] == 0 || at[n] == ' ');
}

/* ---- Help ----------------------------------------------------------------------------------- */

/* Text in lines of at most `width` characters, those after the first with an indent. */
static void scene_help_wrap(FILE *out, const char *text, int indent, int width)
{
    int column = 0;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (column > indent && column + 1 + n > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > 0) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", n, text);
        column += n;
        text += n;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* "number > 0, Pa, default 1e5. ..." */
static void scene_help_put(tool_text *t, const scene_key *k)
{
    int count;
    const char *const *words = scene_words(k->part, k->key, &count);
    if (!words) tool_put(t, "%s", k->type);
    for (int i = 0; words && i < count; i++)
        tool_put(t, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", words[i]);
    if (k->unit[0]) tool_put(t, ", in %s", k->unit);
    if (strncmp(k->preset, "needed", 6) == 0) tool_put(t, "; %s. ", k->preset);
    else tool_put(t, "; default: %s. ", k->preset);
    tool_put(t, "%s", k->text);
}

static void scene_help_key(FILE *out, const scene_key *k, int markdown)
{
    tool_text t = { NULL, 0, 0 };
    if (markdown) tool_put(&t, "- **`%s`**: ", k->key);
    else tool_put(&t, "\"%s\" of %s: ", k->key, scene_parts[k->part].where);
    scene_help_put(&t, k);
    scene_help_wrap(out, t.data, 2, 118);
    if (markdown) fprintf(out, "  `%s`\n", k->example);
    else fprintf(out, "  example: %s\n", k->example);
    tool_text_free(&t);
}

static void scene_help_shape(FILE *out, const scene_shape_line *s, int markdown)
{
    tool_text t = { NULL, 0, 0 };
    tool_put(&t, markdown ? "- **`%s`**: " : "shape %s: ", s->name);
    tool_put(&t, "%s Default resolution %d", s->text, s->resolution);
    if (s->solid_resolution != s->resolution) tool_put(&t, ", of tets %d", s->solid_resolution);
    tool_put(&t, ".");
    scene_help_wrap(out, t.data, 2, 118);
    fprintf(out, markdown ? "  `%s`\n" : "  example: %s\n", s->example);
    tool_text_free(&t);
}

void scene_help_markdown(FILE *out)
{
    fprintf(out,
            "# Scene files\n\n"
            "`embipc run SCENE.json` simulates a scene. This is every key of a scene file, each with an example.\n"
            "`embipc scene-help KEY` prints a part of it. The file is what `embipc scene-help --markdown` prints.\n"
            "Scenes that run are in [examples/scenes](../examples/scenes).\n");
    for (int part = 0; part < SCENE_PARTS; part++) {
        fprintf(out, "\n## %c%s\n\n", scene_parts[part].name[0] - 'a' + 'A', scene_parts[part].name + 1);
        if (part != SCENE_ROOT) fprintf(out, "%s. ", scene_parts[part].where);
        scene_help_wrap(out, scene_parts[part].text, 0, part == SCENE_ROOT ? 118 : 80);
        fprintf(out, "\n");
        for (int i = 0; i < scene_key_count; i++)
            if (scene_keys[i].part == (scene_part)part) scene_help_key(out, &scene_keys[i], 1);
    }
    fprintf(out, "\n## Shapes\n\nSurfaces are closed. Bodies of kind full get tets.\n\n");
    for (int i = 0; i < SCENE_SHAPES; i++) scene_help_shape(out, &scene_shape_lines[i], 1);
}

/* The keys of each part, in a line or two. */
static void scene_help_list(FILE *out)
{
    fprintf(out, "keys of a scene file; embipc scene-help KEY tells more of one, also of a part or a shape\n");
    for (int part = 0; part < SCENE_PARTS; part++) {
        tool_text t = { NULL, 0, 0 };
        tool_put(&t, "%s:", scene_parts[part].name);
        for (int i = 0; i < scene_key_count; i++)
            if (scene_keys[i].part == (scene_part)part) tool_put(&t, " %s", scene_keys[i].key);
        scene_help_wrap(out, t.data, 2, 100);
        tool_text_free(&t);
    }
    fprintf(out, "shapes:");
    for (int i = 0; i < SCENE_SHAPES; i++) fprintf(out, " %s", scene_shape_lines[i].name);
    fprintf(out, "\n");
}

int scene_help(const char *word, FILE *out, FILE *errors)
{
    const char *names[SCENE_COUNT(scene_keys) + SCENE_PARTS + SCENE_SHAPES], *nearest;
    int found = 0, count = 0;
    char quoted[48];
    if (!word) { scene_help_list(out); return 0; }
    for (int part = 0; part < SCENE_PARTS; part++) {
        names[count++] = scene_parts[part].name;
        if (strcmp(word, scene_parts[part].name) != 0) continue;
        fprintf(out, "%s: %s. %s\n", word, scene_parts[part].where, scene_parts[part].text);
        for (int i = 0; i < scene_key_count; i++)
            if (scene_keys[i].part == (scene_part)part) scene_help_key(out, &scene_keys[i], 0);
        found = 1;
    }
    for (int i = 0; i < scene_key_count; i++) {
        names[count++] = scene_keys[i].key;
        if (strcmp(word, scene_keys[i].key) != 0) continue;
        scene_help_key(out, &scene_keys[i], 0);
        found = 1;
    }
    for (int i = 0; i < SCENE_SHAPES; i++) {
        names[count++] = scene_shape_lines[i].name;
        if (strcmp(word, scene_shape_lines[i].name) != 0) continue;
        scene_help_shape(out, &scene_shape_lines[i], 0);
        found = 1;
    }
    if (found) return 0;
    nearest = tool_nearest(word, names, count);
    fprintf(errors, "embipc: found %s, expected a key, a part or a shape of scene files%s%s%s\n"
            "embipc scene-help lists them\n",
            tool_quote(quoted, word, strlen(word)), nearest ? " such as \"" : "", nearest ? nearest : "",
            nearest ? "\"" : "");
    return 2;
}
