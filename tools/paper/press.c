/* Convex-contact paper, VII-A: a rubber cylinder between two plates. */
#include "paper.h"
#include "../shapes.h"
#include "press_world.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static press_curve press_cylinder(int resolution, int which, int averaged)
{
    tool_mesh m;
    press_curve c;
    memset(&c, 0, sizeof c);
    if (!shape_cylinder(&m, 0.2, 0.8 / resolution, resolution, 1, NULL)) return c;
    for (int i = 0; i < m.node_count; i++) m.x[3 * i + 2] += 0.4 / resolution;
    c = press_measure(m.x, m.node_count, m.tri, m.tri_count, m.tet, m.tet_count, which, averaged);
    mesh_free(&m);
    return c;
}

/* plain meshes of the rubber, where more are needed to see locking go away; three of the other, and two averaged ones */
#define PRESS_MESHES 5

static void press_material(paper *p, int which, const char *name, const char *source)
{
    static const int resolution[PRESS_MESHES] = { 8, 12, 16, 24, 32 };
    static press_curve c[2][PRESS_MESHES];
    int n = p->quick ? 1 : which ? 3 : PRESS_MESHES, averaged = p->quick ? 0 : 2, inverted = 0, ok = 1;
    long crossings = 0, frames = 0;
    char title[96];
    plot g;
    snprintf(title, sizeof title, "Force on a %s cylinder", name);
    g = plot_make(title, "plate travel, m", "force, kN/m");
    paper_table(p, "Force per length, kN/m", "< mesh|nodes|d = 0.02 m|0.04|0.08|0.12|0.16|0.20|at 0.20, over the curve|solves a step");
    for (int a = 0; a < 2; a++)
        for (int k = 0; k < (a ? averaged : n); k++) {
            char label[64];
            c[a][k] = press_cylinder(resolution[k], which, a);
            snprintf(label, sizeof label, "%d cells, %s", resolution[k], a ? "averaged" : "plain");
            paper_row(p, "< %s|%d|%.2f|%.2f|%.1f|%.1f|%.1f|%.1f|%.4f|%.1f", label, c[a][k].nodes, c[a][k].force[1], c[a][k].force[2], c[a][k].force[4], c[a][k].force[6],
                      c[a][k].force[8], c[a][k].force[10], c[a][k].force[10] / c[a][k].reference[10], c[a][k].steps ? (double)c[a][k].solves / c[a][k].steps : 0.0);
            plot_add(&g, label, c[a][k].d, c[a][k].all, c[a][k].points, PLOT_LINE);
            crossings += c[a][k].sum.crossings;
            frames += c[a][k].sum.frames;
            ok &= c[a][k].ok;
            snprintf(label, sizeof label, "press_%s_%d_%s", name, resolution[k], a ? "averaged" : "plain");
            snprintf(title, sizeof title, "%s cylinder, %d cells, %s", name, resolution[k], a ? "averaged" : "plain");
            paper_add_scene(p, &c[a][k].sum, label, title);
            inverted += c[a][k].inverted;
        }
    paper_row(p, "< curve||%.2f|%.2f|%.1f|%.1f|%.1f|%.1f||", c[0][0].reference[1], c[0][0].reference[2], c[0][0].reference[4], c[0][0].reference[6], c[0][0].reference[8],
              c[0][0].reference[10]);
    paper_table_end(p);
    plot_add(&g, "finite elements without locking", press_at_travel, c[0][0].reference, PRESS_POINTS, PLOT_POINTS | PLOT_REFERENCE);
    plot_draw(p, &g, "%s", source);
    {
        const press_curve *best = averaged ? &c[1][1] : &c[0][0];
        double last = c[0][n - 1].force[10] / c[0][n - 1].reference[10];
        char text[160];
        if (averaged) {
            snprintf(text, sizeof text, "%s: force at 0.2 m, averaged volume strain, %d cells", name, resolution[1]);
            paper_value(p, text, "convex-contact paper VII-A, fig. 4", best->reference[10], best->force[10], 0.03, "kN/m");
        }
        snprintf(text, sizeof text, "%s: force at 0.2 m, plain tetrahedra, %d cells", name, resolution[n - 1]);
        paper_value(p, text, "convex-contact paper VII-A, fig. 4", c[0][0].reference[10], c[0][n - 1].force[10], 0.03, "kN/m");
        if (fabs(last - 1) > 0.03)
            paper_why(p, PAPER_DISCRETISATION, "Locking: linear tetrahedra of a nearly incompressible rubber (bulk over shear modulus 1500) can hardly bend without changing volume, and "
                      "stand above the curve. %s That paper's figure 4 shows the same.", n > 1 ? "The share comes down as cells get smaller, see the table; averaging the volume strain over nodes removes it." : "");
        if (fabs(last - 1) > 0.03 && n > 2) {   /* linear in the size of the cells: the order is that, and rising */
            double e[3], fine = (double)resolution[n - 1] / resolution[n - 2];
            for (int k = 0; k < 3; k++) e[k] = c[0][n - 3 + k].force[10] / c[0][0].reference[10] - 1;
            snprintf(text, sizeof text, "the same, limit of refinement (Richardson, %d and %d cells)", resolution[n - 2], resolution[n - 1]);
            paper_value(p, text, "convex-contact paper VII-A, fig. 4", c[0][0].reference[10], c[0][0].reference[10] * (1 + e[2] - (e[1] - e[2]) / (fine - 1)), 0.03, "kN/m");
            paper_why(p, PAPER_NO_CAUSE, "The excess falls with order %.2f between the last two meshes, and did with %.2f before: first order is taken.", log(e[1] / e[2]) / log(fine),
                      log(e[0] / e[1]) / log((double)resolution[n - 2] / resolution[n - 3]));
        }
        if (n > 1) {
            snprintf(text, sizeof text, "%s, plain: error at 0.2 m falls with refinement, coarsest over finest", name);
            paper_range(p, text, "convergence", 1.2, INFINITY, fabs(c[0][0].force[10] / c[0][0].reference[10] - 1) / fabs(last - 1), "");
        }
        snprintf(text, sizeof text, "%s: crossings and inverted tets in all these runs", name);
        paper_holds(p, text, "exact arithmetic", ok && crossings == 0 && inverted == 0, "0 and 0", "%ld and %d in %ld frames", crossings, inverted, frames);
    }
}

void paper_press(paper *p)
{
    paper_section(p, "press", "Rubber cylinder between plates", "Han, Masterjohn, Castro, A Convex Formulation of Frictional Contact, 2023, section VII-A, figures 3 and 4.");
    paper_text(p, "Diameter 0.4 m, plane strain, frictionless rigid plates that come 0.2 m nearer; two layers of tetrahedra. That paper presses with a force and measures the travel; "
                  "here the travel is given and the force measured. The curve is from independent finite elements with mean dilatation; 1.41 to 1.42 MN/m at 0.2 m.");
    paper_heading(p, "Rubber: Mooney and Rivlin, C₁ = 0.293, C₂ = 0.177, K = 1410 MPa");
    press_material(p, 0, "rubber", "Figure 4 of that paper.");
    paper_heading(p, "Compressible: neo-Hookean, E = 1 MPa, ν = 0.4");
    press_material(p, 1, "compressible", "No locking to speak of: plain tetrahedra are near the curve at once.");
}
