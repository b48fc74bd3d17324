/* The bubble grasp of Embedded IPC, section IV-A, as the text of a scene: two soft bubbles squeeze a bear for 1.5 s, lift it
 * 0.12 m in 1.5 s and hold it for 1 s. With the papers' meshes, or with our own shapes. After tools/common. */
#ifndef GRASP_H
#define GRASP_H

typedef struct grasp {
    const char *name, *cage;   /* mesh of the cage, or NULL: full. With our own shapes: about so many nodes */
    double ground;             /* height of the ground, m; the bear's lowest vertex starts at 0.78 mm */
    double beta;               /* damping of all bodies, s */
    double ramp;               /* s in which gravity comes up, smoothly; 0: at once */
    double tolerance;          /* m/s; 0: derived */
    double reference;          /* the small time step that others are compared with */
} grasp;

static void grasp_text_begin(tool_text *t, const grasp *g, double h, double ground)
{
    tool_put(t, "{ \"version\": 1, \"time_step\": %.17g, \"duration\": 4,\n"
             "  \"contact\": { \"dhat\": 1e-3, \"kappa\": 1e4, \"friction_velocity\": 1e-3 },\n", h);
    if (g->tolerance > 0) tool_put(t, "  \"solver\": { \"tolerance\": %.17g },\n", g->tolerance);
    tool_put(t, "  \"bodies\": [\n  { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [1, 1, 0.1],"
             " \"position\": [-0.17, 0, %.17g], \"friction\": 1 },\n", ground - 0.05);
}

/* directory: where the meshes are, "" or ending in a slash */
static void grasp_text(tool_text *t, const grasp *g, double h, const char *directory)
{
    const double degree = 180 / 3.14159265358979323846;
    grasp_text_begin(t, g, h, g->ground);
    tool_put(t, "  { \"name\": \"bear\", \"kind\": \"%s\", \"mesh\": \"%steddy.msh\", \"scale\": 0.15, \"position\": [-0.17, 0, 0],"
             " \"rotation\": [%.17g, 0, %.17g], \"friction\": 1,", g->cage ? "cage" : "full", directory, 1.5707 * degree, -1.5707 * degree);
    if (g->cage) tool_put(t, " \"cage\": \"%s%s\",", directory, g->cage);
    tool_put(t, " \"material\": { \"young\": 5e4, \"poisson\": 0.45, \"density\": 1000, \"damping\": [0, %.17g] } }", g->beta);
    for (int side = -1; side <= 1; side += 2) {
        tool_put(t, ",\n  { \"name\": \"%s\", \"kind\": \"full\", \"mesh\": \"%sbubble.msh\", \"position\": [-0.185, %.17g, 0.06],"
                 " \"rotation\": [%.17g, %.17g, 0], \"friction\": 1,", side < 0 ? "left" : "right", directory, 0.09 * side,
                 -1.5707 * side * degree, 3.1416 * degree);
        tool_put(t, " \"material\": { \"young\": 1e4, \"poisson\": 0.45, \"density\": 10, \"damping\": [0, %.17g] },", g->beta);
        tool_put(t, " \"drive\": [ { \"select\": { \"box\": [[-1, %.17g, -1], [1, %.17g, 1]] }, \"keys\": [[0, 0, 0, 0],"
                 " [1.5, 0, %.17g, 0], [3, 0, %.17g, 0.12]] } ] }", 0.09 * side - 0.002, 0.09 * side + 0.002, -0.04 * side, -0.04 * side);
    }
    tool_put(t, " ] }\n");
}

/* the same of the tool's own shapes; g->cage says how many nodes */
static void grasp_text_own(tool_text *t, const grasp *g, double h)
{
    grasp_text_begin(t, g, h, g->ground + 0.0012);
    tool_put(t, "  { \"name\": \"bear\", \"kind\": \"%s\", \"shape\": \"bear\", \"position\": [-0.165, 0, 0.002], \"friction\": 1,", g->cage ? "cage" : "full");
    if (g->cage) tool_put(t, " \"cage_nodes\": %s,", g->cage);
    tool_put(t, " \"material\": { \"young\": 5e4, \"poisson\": 0.45, \"density\": 1000, \"damping\": [0, %.17g] } }", g->beta);
    for (int side = -1; side <= 1; side += 2) {
        tool_put(t, ",\n  { \"name\": \"%s\", \"kind\": \"full\", \"shape\": \"bubble\", \"position\": [-0.17, %.17g, 0.062],"
                 " \"rotation\": [%d, 0, 0], \"friction\": 1,", side < 0 ? "left" : "right", 0.09 * side, -90 * side);
        tool_put(t, " \"material\": { \"young\": 1e4, \"poisson\": 0.45, \"density\": 10, \"damping\": [0, %.17g] },", g->beta);
        tool_put(t, " \"drive\": [ { \"select\": { \"box\": [[-1, %.17g, -1], [1, %.17g, 1]] }, \"keys\": [[0, 0, 0, 0],"
                 " [1.5, 0, %.17g, 0], [3, 0, %.17g, 0.12]] } ] }", 0.09 * side - 0.0001, 0.09 * side + 0.0001, -0.04 * side, -0.04 * side);
    }
    tool_put(t, " ] }\n");
}
#endif
