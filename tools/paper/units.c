/* The unit scenes of IPC (Li et al. 2020, supplement B), recreated by code; the twist at all time steps; mass ratios; and
 * things too fast to be seen. Pass: every step free of crossings, no tet inverted, and the scene ends where it should. */
#include "paper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Meshes --------------------------------------------------------------------------------- */

/* tets of the convex hull of few points: a fan from the first point, given the boundary */
static void unit_mesh(paper *p, const char *name, const double *x, int nodes, const int *tets, int count)
{
    int fixed[64];
    for (int t = 0; t < count; t++) {   /* right way out */
        double e[9];
        const int *n = tets + 4 * t;
        for (int k = 0; k < 9; k++) e[k] = x[3 * n[1 + k / 3] + k % 3] - x[3 * n[0] + k % 3];
        memcpy(fixed + 4 * t, n, 4 * sizeof *n);
        if (e[0] * (e[4] * e[8] - e[5] * e[7]) - e[1] * (e[3] * e[8] - e[5] * e[6]) + e[2] * (e[3] * e[7] - e[4] * e[6]) > 0) continue;
        fixed[4 * t] = n[1];
        fixed[4 * t + 1] = n[0];
    }
    paper_mesh(p, name, x, nodes, NULL, 0, fixed, count);
}

/* a flat sheet of 60 x 20 tiles of 0.1 m */
static void unit_tiles(paper *p)
{
    enum { NX = 60, NY = 20 };
    double x[3 * (NX + 1) * (NY + 1)];
    int tri[6 * NX * NY], count = 0;
    for (int i = 0; i < (NX + 1) * (NY + 1); i++) {
        x[3 * i] = 0.1 * (i / (NY + 1)) - 3;
        x[3 * i + 1] = 0.1 * (i % (NY + 1)) - 1;
        x[3 * i + 2] = 0;
    }
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) {
            int a = i * (NY + 1) + j, b = a + NY + 1, q[6];
            q[0] = a; q[1] = b; q[2] = b + 1; q[3] = a; q[4] = b + 1; q[5] = a + 1;
            memcpy(tri + 3 * count, q, sizeof q);
            count += 2;
        }
    paper_mesh(p, "tiles.obj", x, (NX + 1) * (NY + 1), tri, count, NULL, 0);
}

static void unit_meshes(paper *p)
{
    static const double tet[12] = { 0.5, 0, 0, -0.25, 0.433, 0, -0.25, -0.433, 0, 0, 0, 0.7 };        /* tip up */
    static const double perp[12] = { -0.5, 0, 0, 0.5, 0, 0, 0, -0.5, 0.7, 0, 0.5, 0.7 };              /* crossed edges */
    static const double spike[15] = { 0, 0, 0, 0.25, 0.25, 1, -0.25, 0.25, 1, -0.25, -0.25, 1, 0.25, -0.25, 1 };
    static const double wedge[18] = { -0.5, 0, 0, 0.5, 0, 0, -0.5, 0.25, 1, 0.5, 0.25, 1, -0.5, -0.25, 1, 0.5, -0.25, 1 };
    static const int one[4] = { 0, 1, 2, 3 }, two[8] = { 0, 1, 2, 3, 0, 1, 3, 4 }, three[12] = { 0, 1, 2, 4, 1, 2, 4, 5, 1, 2, 3, 5 };
    double c[2] = { -0.5, 0.5 }, x[41], y[5], mat[2] = { -0.01, 0.01 }, rod[2] = { -0.02, 0.02 };
    unit_tiles(p);
    unit_mesh(p, "tet.msh", tet, 4, one, 1);
    unit_mesh(p, "perp.msh", perp, 4, one, 1);
    unit_mesh(p, "spike.msh", spike, 5, two, 2);
    unit_mesh(p, "wedge.msh", wedge, 6, three, 3);
    paper_grid_mesh(p, "cube.msh", 1, c, 1, c, 1, c);
    paper_planes(x, 16, -0.5, 0.5);
    paper_planes(y, 1, -0.02, 0.02);
    paper_grid_mesh(p, "rod.msh", 16, x, 1, rod, 1, y);
    paper_planes(x, 20, -0.5, 0.5);
    paper_grid_mesh(p, "mat.msh", 20, x, 20, x, 1, mat);
    paper_planes(y, 4, -0.5, 0.5);
    paper_grid_mesh(p, "cube4.msh", 4, y, 4, y, 4, y);
}

/* ---- Scenes --------------------------------------------------------------------------------- */

static void begin(tool_text *t, double h, double duration)
{
    tool_put(t, "{ \"version\": 1, \"time_step\": %g, \"duration\": %g,\n  \"bodies\": [\n", h, duration);
}
static void ground(tool_text *t)
{
    tool_put(t, "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\" }");
}
static void obstacle(tool_text *t, const char *name, double sx, double sy, double sz, double x, double y, double z, const char *more)
{
    tool_put(t, ",\n    { \"name\": \"%s\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [%g, %g, %g], \"position\": [%.17g, %.17g, %.17g]%s }", name,
             sx, sy, sz, x, y, z, more);
}
static void fixed_mesh(tool_text *t, const char *name, const char *mesh, double x, double y, double z, const char *rotation)
{
    tool_put(t, ",\n    { \"name\": \"%s\", \"kind\": \"fixed\", \"mesh\": \"%s.msh\", \"position\": [%.17g, %.17g, %.17g], \"rotation\": [%s] }", name, mesh, x,
             y, z, rotation);
}
static void soft(tool_text *t, const char *name, const char *mesh, double young, double x, double y, double z, const char *rotation, const char *more)
{
    tool_put(t, ",\n    { \"name\": \"%s\", \"kind\": \"full\", \"mesh\": \"%s.msh\", \"position\": [%.17g, %.17g, %.17g], \"rotation\": [%s],\n"
                "      \"material\": { \"model\": \"fixed_corotated\", \"young\": %g, \"poisson\": 0.4, \"determinant_bound\": true }%s }", name, mesh, x, y, z,
             rotation, young, more);
}

#define UNITS 30
static const char *const unit_name[UNITS] = {
    "tet tip down on a plane", "tet tilted, point on a plane", "edge across the edge of a fixed tet", "point on a face of a fixed tet",
    "edge across edge, E = 1 MPa", "tet on tet", "cube on a plane", "cube on a fixed cube", "tet on a cube", "tet on a cube, aligned",
    "cube on cube", "cube on cube, aligned", "pyramid of five cubes", "stack of five cubes", "cubes in a corner", "tets in a corner",
    "spike on spike", "spike on wedge", "wedge on wedge", "spike in a hole", "spike in a crack", "wedge in a crack", "spike sliding on a plane",
    "wedge sliding on a plane", "cube on the edges of a cliff", "cube sliding over inner edges", "chain of five rings, affine", "rod on a plane",
    "animal falling on its head", "mat twisted" };

/* four walls around a square hole, or two around a crack, their tops at z = 0 */
static void hole(tool_text *t, double half, int crack)
{
    obstacle(t, "wall 1", 1.5, 3, 1.5, 0.75 + half, 0, -0.75, "");
    obstacle(t, "wall 2", 1.5, 3, 1.5, -0.75 - half, 0, -0.75, "");
    if (crack) return;
    obstacle(t, "wall 3", 3, 1.5, 1.5, 0, 0.75 + half, -0.75, "");
    obstacle(t, "wall 4", 3, 1.5, 1.5, 0, -0.75 - half, -0.75, "");
}
static void corner(tool_text *t, double side)
{
    obstacle(t, "wall 1", 1, 4, 4, -0.5, 1, 1.5, "");
    obstacle(t, "wall 2", 4, 1, 4, 1, -0.5, 1.5, "");
    (void)side;
}

static void unit_scene(int n, double h, tool_text *t)
{
    char name[16];
    begin(t, h, n == 17 || n == 18 || n == 27 ? 2 : 4);   /* the spikes slide off, and later off the ground */
    if (n == 26) tool_put(t, "    { \"name\": \"tiles\", \"kind\": \"fixed\", \"mesh\": \"tiles.obj\" }");
    else if (n == 20 || n == 21 || n == 22) tool_put(t, "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"position\": [0, 0, -3] }");
    else ground(t);
    switch (n) {
    case 1: soft(t, "tet", "tet", 1e5, 0, 0, 1, "180, 0, 0", ""); break;
    case 2: soft(t, "tet", "tet", 1e5, 0.1, 0, 1.2, "205, 13, 7", ""); break;
    case 3:
        fixed_mesh(t, "under", "perp", 0, 0, 0.01, "0, 0, 0");
        soft(t, "tet", "perp", 1e5, 0, 0.1, 0.9, "0, 0, 0", "");
        break;
    case 4:
        fixed_mesh(t, "under", "tet", 0, 0, 0.8, "180, 0, 0");
        soft(t, "tet", "tet", 1e5, 0.05, 0.02, 1.7, "180, 0, 0", "");
        break;
    case 5:
        fixed_mesh(t, "under", "perp", 0, 0, 0.01, "0, 0, 0");
        soft(t, "tet", "perp", 1e6, 0, 0.05, 1.0, "0, 0, 0", "");
        break;
    case 6:
        soft(t, "lower", "tet", 1e5, 0, 0, 0.02, "0, 0, 0", "");
        soft(t, "upper", "tet", 1e5, 0.02, 0.01, 0.82, "0, 0, 20", "");
        break;
    case 7: soft(t, "cube", "cube", 1e5, 0.1, 0.2, 0.7, "0, 0, 0", ""); break;
    case 8:
        obstacle(t, "block", 1, 1, 1, 0, 0, 0.51, "");
        soft(t, "cube", "cube", 1e5, 0.1, 0.05, 1.7, "10, 0, 15", "");
        break;
    case 9: case 10:
        soft(t, "cube", "cube", 1e5, 0, 0, 0.51, "0, 0, 0", "");
        if (n == 9) soft(t, "tet", "tet", 1e5, 0.1, 0.1, 1.2, "5, 8, 33", "");
        else soft(t, "tet", "tet", 1e5, 0, 0, 1.1, "0, 0, 0", "");
        break;
    case 11: case 12:
        soft(t, "lower", "cube", 1e5, 0, 0, 0.51, "0, 0, 0", "");
        if (n == 11) soft(t, "upper", "cube", 1e5, 0.15, 0.1, 1.8, "10, 5, 25", "");
        else soft(t, "upper", "cube", 1e5, 0, 0, 1.6, "0, 0, 0", "");
        break;
    case 13:
        for (int k = 0; k < 5; k++) {
            snprintf(name, sizeof name, "cube %d", k + 1);
            soft(t, name, "cube", 1e5, k < 3 ? 1.1 * (k - 1) : 1.1 * (k - 3.5), 0, k < 3 ? 0.51 : 1.55, "0, 0, 0", "");
        }
        break;
    case 14:
        for (int k = 0; k < 5; k++) {
            snprintf(name, sizeof name, "cube %d", k + 1);
            soft(t, name, "cube", 1e5, 0, 0, 0.51 + 1.01 * k, "0, 0, 0", "");
        }
        break;
    case 15: case 16:
        corner(t, 1);
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "piece %d", k + 1);
            if (n == 15) soft(t, name, "cube", 1e5, 0.505, 0.505, 0.505 + 1.005 * k, "0, 0, 0", "");
            else soft(t, name, "tet", 1e5, 0.5, 0.5, 0.005 + 0.75 * k, "0, 0, 0", "");
        }
        break;
    case 17:
        fixed_mesh(t, "under", "spike", 0, 0, 1.01, "180, 0, 0");
        soft(t, "spike", "spike", 1e5, 0, 0, 1.2, "0, 0, 10", "");
        break;
    case 18:
        fixed_mesh(t, "under", "wedge", 0, 0, 1.01, "180, 0, 0");
        soft(t, "spike", "spike", 1e5, 0, 0, 1.2, "0, 0, 10", "");
        break;
    case 19:
        fixed_mesh(t, "under", "wedge", 0, 0, 1.01, "180, 0, 0");
        soft(t, "wedge", "wedge", 1e5, 0, 0, 1.2, "0, 0, 90", "");
        break;
    case 20: hole(t, 0.2, 0); soft(t, "spike", "spike", 1e5, 0.02, 0.01, 0.1, "0, 0, 0", ""); break;
    case 21: hole(t, 0.2, 1); soft(t, "spike", "spike", 1e5, 0.02, 0.01, 0.1, "0, 0, 0", ""); break;
    case 22: hole(t, 0.2, 1); soft(t, "wedge", "wedge", 1e5, 0.02, 0, 0.1, "0, 0, 90", ""); break;
    case 23: soft(t, "spike", "spike", 1e5, -2, 0, 0.01, "0, 0, 0", ",\n      \"velocity\": [1, 0, 0]"); break;
    case 24: soft(t, "wedge", "wedge", 1e5, -2, 0, 0.01, "0, 0, 0", ",\n      \"velocity\": [1, 0, 0]"); break;
    case 25:
        obstacle(t, "cliff", 2, 3, 1, -1, 0, 0.51, "");
        soft(t, "cube", "cube", 1e5, 0.1, 0, 1.6, "0, 0, 0", "");
        break;
    case 26: soft(t, "cube", "cube", 1e6, -2, 0.013, 0.5012, "0, 0, 3", ",\n      \"velocity\": [1, 0.05, 0]"); break;
    case 27:
        for (int k = 0; k < 5; k++) {
            tool_put(t, ",\n    { \"name\": \"ring %d\", \"kind\": \"%s\", \"shape\": \"torus\", \"radius\": 0.5, \"tube\": 0.1, \"resolution\": 10,\n"
                        "      \"position\": [0, 0, %.17g], \"rotation\": [90, 0, %d]%s }",
                     k + 1, k ? "affine" : "fixed", 6 - 0.7 * k, 90 * (k % 2), k ? ", \"material\": { \"model\": \"orthogonality\", \"stiffness\": 1e6 }" : "");
        }
        break;
    case 28: soft(t, "rod", "rod", 1e5, 0, 0, 0.4, "3, 8, 20", ""); break;
    case 29:
        tool_put(t, ",\n    { \"name\": \"bear\", \"kind\": \"cage\", \"shape\": \"bear\", \"cage_nodes\": 60, \"position\": [0, 0, 0.3], \"rotation\": [170, 0, 0],\n");
        tool_put(t, "      \"material\": { \"model\": \"neo_hookean\", \"young\": 1e5, \"poisson\": 0.4 } }");
        break;
    default: break;
    }
    tool_put(t, " ] }\n");
}

/* both ends of mat or rods turn about x, against each other; pieces at (y, z) go round the axis */
static void twist_body(tool_text *t, int first, const char *name, const char *mesh, double half, double y, double z, double young, double rate, double duration)
{
    double radius = hypot(y, z), phase = atan2(z, y);
    int keys = (int)(rate * duration / 5 + 0.5);
    tool_put(t, "%s    { \"name\": \"%s\", \"kind\": \"full\", \"mesh\": \"%s.msh\", \"position\": [0, %.17g, %.17g],\n"
                "      \"material\": { \"model\": \"fixed_corotated\", \"young\": %g, \"poisson\": 0.4, \"determinant_bound\": true },\n      \"drive\": [",
             first ? "" : ",\n", name, mesh, y, z, young);
    for (int side = -1; side <= 1; side += 2) {
        tool_put(t, "%s{ \"select\": { \"box\": [[%g, -9, -9], [%g, 9, 9]] }, \"keys\": [", side < 0 ? "" : ",\n        ", side < 0 ? -half - 0.001 : half - 0.001,
                 side < 0 ? -half + 0.001 : half + 0.001);
        for (int k = 0; k <= keys; k++) {
            double angle = side * 5.0 * k, a = angle * 3.14159265358979 / 180;
            tool_put(t, "%s[%.10g, 0, %.10g, %.10g, %.10g, 0, 0]", k ? ", " : "", 5.0 * k / rate, radius * (cos(phase + a) - cos(phase)),
                     radius * (sin(phase + a) - sin(phase)), angle);
        }
        tool_put(t, "] }");
    }
    tool_put(t, "] }");
}
static void twist_begin(tool_text *t, double h, double duration)
{
    tool_put(t, "{ \"version\": 1, \"time_step\": %g, \"duration\": %g, \"gravity\": [0, 0, 0],\n  \"bodies\": [\n", h, duration);
}

/* highest centre of the cube while it slides, less lowest, after it has settled */
static double bump(paper_run *r)
{
    double low = INFINITY, high = -INFINITY;
    while (paper_step(r)) {
        double z = paper_state(r, "cube").centre[2];
        if (r->stats.time < 1.5) continue;
        low = fmin(low, z);
        high = fmax(high, z);
    }
    return high - low;
}

typedef struct unit_sum { int run, passed, steps, cut; } unit_sum;

/* scene n at time step h; the row of the table is left to the caller */
static paper_scene unit_run(paper *p, int n, double h, int show, unit_sum *sum, int *ok)
{
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    char name[32], title[96];
    int inverted = 0;
    snprintf(name, sizeof name, "unit_%02d%s", n, show ? "" : "_fine");
    snprintf(title, sizeof title, "%02d %s, h = %g s", n, unit_name[n - 1], h);
    if (n == 30) {
        twist_begin(&t, h, 5);
        twist_body(&t, 1, "mat", "mat", 0.5, 0, 0, 1e4, 72, 5);
        tool_put(&t, " ] }\n");
    } else unit_scene(n, h, &t);
    sum->run++;
    *ok = 0;
    memset(&r, 0, sizeof r);
    if (paper_begin(&r, p, name, title, t.data, show ? 0.05 : 0)) {
        if (n == 26 && show) {
            double z = bump(&r);
            paper_near(p, "26: height of a cube that slides 1 m/s over coplanar inner edges, highest less lowest", "Erleben's internal edges", 0, z, 1e-5, "m");
        }
        while (paper_step(&r)) inverted += paper_inverted(&r) > 0;
        *ok = !r.failed && r.sum.crossings == 0 && inverted == 0 && r.sum.smallest > 0;
        sum->passed += *ok;
        sum->cut += r.sum.cut;
        sum->steps += r.sum.steps;
        paper_end(&r);
    }
    tool_text_free(&t);
    return r.sum;
}

static void thirty(paper *p)
{
    unit_sum coarse = { 0, 0, 0, 0 }, fine = { 0, 0, 0, 0 };
    paper_heading(p, "Thirty unit scenes");
    paper_text(p, "Points, edges and faces in the positions where contact codes fail: tip on tip, edge on edge, exactly aligned, in corners and cracks. "
                  "Fixed corotated, E = 10<sup>5</sup> Pa, ν = 0.4, no friction, every contact parameter derived; 2 to 4 s at both time steps of that "
                  "paper, 0.025 s (left) and 0.005 s (right). The rings of 27 are affine and the animal of 29 is a coarse bear: soft rings, and a bear of 2600 triangles, take half a minute "
                  "for a step of 0.025 s here, nearly all of it in the search for pairs of a body with itself.");
    paper_table(p, NULL, "number|< scene|unknowns|cut short of|steps|solves a step|smallest gap, m|cut short of|steps, fine|solves a step|smallest gap, m|crossings|< passes");
    for (int n = 1; n <= UNITS; n++) {
        paper_scene a, b;
        char small[96];   /* the columns of the small time step */
        int ok[2] = { 0, 1 };
        if (p->quick && n >= 29) continue;
        a = unit_run(p, n, 0.025, 1, &coarse, &ok[0]);
        memset(&b, 0, sizeof b);
        if (!p->quick && n < 29) b = unit_run(p, n, 0.005, 0, &fine, &ok[1]);
        snprintf(small, sizeof small, b.steps ? "%d|%d|%.1f|%.2e" : "–|–|–|–", b.cut, b.steps, b.steps ? (double)b.solves / b.steps : 0.0, b.smallest);
        paper_row(p, "%d|< <a href=\"unit_%02d.html\">%s</a>|%d|%d|%d|%.1f|%.2e|%s|%ld|< <span class=\"%s\">%s</span>", n, n, unit_name[n - 1], a.unknowns, a.cut,
                  a.steps, a.steps ? (double)a.solves / a.steps : 0.0, a.smallest, small, a.crossings + b.crossings, ok[0] && ok[1] ? "good" : "bad", ok[0] && ok[1] ? "yes" : "no");
    }
    paper_table_end(p);
    paper_holds(p, "unit scenes without crossing and inversion, h = 0.025 s", "IPC (Li et al. 2020), supplement B", coarse.passed == coarse.run, "all", "%d of %d",
                coarse.passed, coarse.run);
    paper_range(p, "steps of them that are cut short, h = 0.025 s", "own measure", -INFINITY, 2, coarse.steps ? 100.0 * coarse.cut / coarse.steps : 0, "%");
    if (p->quick) return;
    paper_holds(p, "the same, h = 0.005 s", "IPC (Li et al. 2020), supplement B", fine.passed == fine.run, "all", "%d of %d", fine.passed, fine.run);
    paper_range(p, "steps of them that are cut short, h = 0.005 s", "own measure", -INFINITY, 2, fine.steps ? 100.0 * fine.cut / fine.steps : 0, "%");
}

static void twist_stress(paper *p)
{
    static const double h[10] = { 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2 };
    int passed = 0, run = 0;
    double x[10], y[10];
    plot g = plot_make("Four rods twisted: work at any time step", "time step h, s", "linear solves a step");
    paper_heading(p, "Rods twisted, at time steps from 2 ms to 2 s");
    paper_text(p, "Four rods of 1 × 0.04 × 0.04 m and 10<sup>4</sup> Pa, both ends of the bundle turned against each other at 72 degrees a second for 4 s.");
    paper_table(p, NULL, "h, s|steps|cut short|solves a step|smallest gap, m|drives short by at most, m|tets inverted|crossings|x real time");
    for (int k = p->quick ? 3 : 0; k < 10; k++) {
        tool_text t = { NULL, 0, 0 };
        paper_run r;
        char name[32], title[64];
        int inverted = 0;
        twist_begin(&t, h[k], 4);
        for (int i = 0; i < 4; i++) {
            snprintf(name, sizeof name, "rod %d", i + 1);
            twist_body(&t, i == 0, name, "rod", 0.5, i % 2 ? 0.03 : -0.03, i / 2 ? 0.03 : -0.03, 1e4, 72, 4);
        }
        tool_put(&t, " ] }\n");
        snprintf(name, sizeof name, "twist_%g", h[k]);
        snprintf(title, sizeof title, "four rods twisted, h = %g s", h[k]);
        if (paper_begin(&r, p, name, title, t.data, k == 3 ? 0.05 : 0)) {
            while (paper_step(&r)) inverted += paper_inverted(&r) > 0;
            passed += !r.failed && r.sum.crossings == 0 && inverted == 0;
            x[run] = h[k];
            y[run++] = (double)r.sum.solves / r.sum.steps;
            paper_row(p, "%g|%d|%d|%.1f|%.2e|%.2e|%d|%ld|%.3g", h[k], r.sum.steps, r.sum.cut, y[run - 1], r.sum.smallest, r.sum.drive_short, inverted, r.sum.crossings,
                      r.sum.simulated / r.sum.cpu);
            paper_end(&r);
        }
        tool_text_free(&t);
    }
    paper_table_end(p);
    g.log_x = g.log_y = 1;
    plot_add(&g, "solves a step", x, y, run, PLOT_LINE | PLOT_POINTS);
    plot_draw(p, &g, "A drive that would go through something stops and says by how much it is short: at h = 2 s an end is told to jump 144 degrees at once.");
    paper_holds(p, "time steps that end without crossing or inversion", "IPC tb1_diffDt", passed == run, "all", "%d of %d", passed, run);
}

static void mass_ratio(paper *p)
{
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    int inverted = 0;
    double low, high;
    paper_heading(p, "Mass ratio, and things too fast to see");
    begin(&t, 0.025, 5);
    tool_put(&t, "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"friction\": 0.5 },\n"
                 "    { \"name\": \"small\", \"kind\": \"full\", \"mesh\": \"cube4.msh\", \"position\": [0, 0, 0.51], \"friction\": 0.5,\n"
                 "      \"material\": { \"model\": \"neo_hookean\", \"young\": 1e6, \"poisson\": 0.4, \"density\": 1000 } },\n"
                 "    { \"name\": \"big\", \"kind\": \"affine\", \"mesh\": \"cube.msh\", \"scale\": 10, \"position\": [0, 0, 6.1], \"friction\": 0.5,\n"
                 "      \"material\": { \"young\": 1e8, \"density\": 1e4 } } ] }\n");
    if (paper_begin(&r, p, "mass_ratio", "10 m cube on a 1 m cube, 1 : 10000", t.data, 0.05)) {
        while (paper_step(&r)) inverted += paper_inverted(&r) > 0;
        paper_extent(&r, "small", 2, &low, &high);
        paper_text(p, "A cube of 10 m and 10<sup>7</sup> kg falls on a soft one of 1 m and 10<sup>3</sup> kg (IPC 12_largeMassRatio): 98 MPa on rubber of 1 MPa. "
                      "In the end the small one is %.3g m high.", high - low);
        paper_holds(p, "mass ratio 1 : 10000: no crossing, no inversion", "IPC 12_largeMassRatio", !r.failed && r.sum.crossings == 0 && inverted == 0, "none",
                    "%ld crossings, %d steps with inverted tets", r.sum.crossings, inverted);
        paper_range(p, "mass ratio 1 : 10000: steps cut short", "", -INFINITY, 2, 100.0 * r.sum.cut / r.sum.steps, "%");
        paper_end(&r);
    }
    tool_text_free(&t);
    begin(&t, 0.01, 3);
    tool_put(&t, "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"friction\": 0.5 },\n"
                 "    { \"name\": \"small\", \"kind\": \"affine\", \"mesh\": \"cube.msh\", \"position\": [0, 0, 0.505], \"friction\": 0.5,\n"
                 "      \"material\": { \"model\": \"orthogonality\", \"stiffness\": 1e9 } },\n"
                 "    { \"name\": \"big\", \"kind\": \"affine\", \"mesh\": \"cube.msh\", \"scale\": 10, \"position\": [0.1, 0.1, 6.02], \"friction\": 0.5,\n"
                 "      \"material\": { \"model\": \"orthogonality\", \"stiffness\": 1e9 } } ] }\n");
    if (paper_begin(&r, p, "mass_ratio_stiff", "stiff cubes, 1 : 1000", t.data, 0.05)) {
        while (paper_step(&r)) continue;
        paper_extent(&r, "big", 2, &low, &high);
        paper_range(p, "stiff cubes 1 : 1000: the big one still stands on the small one, its lowest point", "rigid-ipc large-mass-ratio", 0.9, 1.1, low, "m");
        paper_end(&r);
    }
    tool_text_free(&t);
}

static void tunnel(paper *p)
{
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    double low, high, sheet[12] = { -50, -50, 0, 50, -50, 0, 50, 50, 0, -50, 50, 0 }, v;
    static const int tri[6] = { 0, 1, 2, 0, 2, 3 };
    paper_mesh(p, "sheet.obj", sheet, 4, tri, 2, NULL, 0);
    tool_put(&t, "{ \"version\": 1, \"time_step\": 0.01, \"duration\": 0.5, \"gravity\": [0, 0, 0], \"contact\": { \"dhat\": 0.01 },\n  \"bodies\": [\n"
                 "    { \"name\": \"sheet\", \"kind\": \"fixed\", \"mesh\": \"sheet.obj\" },\n"
                 "    { \"name\": \"cube\", \"kind\": \"affine\", \"mesh\": \"cube.msh\", \"position\": [0, 0, 5.5], \"rotation\": [20, 10, 0], \"velocity\": [0, 0, -1000],\n"
                 "      \"material\": { \"model\": \"orthogonality\", \"stiffness\": 1e9 } } ] }\n");
    if (paper_begin(&r, p, "tunnel", "1000 m/s at a sheet without thickness", t.data, 0.01)) {
        while (paper_step(&r)) continue;
        paper_extent(&r, "cube", 2, &low, &high);
        paper_range(p, "cube at 1000 m/s, ten times its size a step: lowest point stays above the sheet", "rigid-ipc tunneling", 1e-12, INFINITY, low, "m");
        paper_end(&r);
    }
    tool_text_free(&t);
    tool_put(&t, "{ \"version\": 1, \"time_step\": 0.01, \"duration\": 0.5, \"gravity\": [0, 0, 0], \"contact\": { \"dhat\": 5e-5 },\n  \"bodies\": [\n"
                 "    { \"name\": \"left\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [200, 1, 4], \"position\": [50, -1.0001, 0] },\n"
                 "    { \"name\": \"right\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [200, 1, 4], \"position\": [50, 1.0001, 0] },\n"
                 "    { \"name\": \"cube\", \"kind\": \"affine\", \"mesh\": \"cube.msh\", \"velocity\": [100, 0, 0],\n"
                 "      \"material\": { \"model\": \"orthogonality\", \"stiffness\": 1e9 } } ] }\n");
    if (paper_begin(&r, p, "slit", "100 m/s through a slit, 0.1 mm to each side", t.data, 0.01)) {
        while (paper_step(&r)) continue;
        v = paper_state(&r, "cube").centre[0];
        paper_near(p, "cube at 100 m/s between walls 0.1 mm away: where it is after 0.5 s", "rigid-ipc 3-walls", 50, v, 1e-9, "m");
        paper_end(&r);
    }
    tool_text_free(&t);
}

void paper_units(paper *p)
{
    paper_section(p, "units", "Unit scenes of IPC", "Li et al., Incremental Potential Contact, 2020, supplement B and technical tables; rigid-ipc fixtures.");
    unit_meshes(p);
    thirty(p);
    twist_stress(p);
    mass_ratio(p);
    tunnel(p);
    paper_equations(p);
}
