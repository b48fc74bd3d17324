/* Closed forms of mechanics: each row a textbook answer, what the library gives, and the difference. */
#include "paper.h"
#include "closed_world.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- One vertex ----------------------------------------------------------------------------- */

static void rest_and_bounce(paper *p)
{
    plot g = plot_make("Bounce of one vertex at 1 m/s", "time step h, s", "restitution");
    double x[2][5], y[2][5], e[2][5], worst_gap = 0, worst_bounce = 0, worst_least = 0;
    paper_scene sum;
    char name[64], title[96];
    paper_heading(p, "One vertex and the barrier");
    paper_text(p, "The tip of a stiff spike over one triangle; κ = 10<sup>4</sup> kg/s², d̂ = 1 mm. At rest its gap solves "
                  "κ·b′(d) = −F (Embedded IPC, eq. 7). Thrown at 1 m/s it bounces as the minimum of its own one-vertex problem says, "
                  "solved exactly beforehand for each time step.");
    paper_table(p, "Gap under a load", "load, N|closed form, m|measured, m|difference");
    for (int k = 0; k < 6; k++) {
        double load, expected, gap;
        closed_rest(k, &load, &expected, &gap, &sum);
        snprintf(name, sizeof name, "vertex_load_%g", load);
        snprintf(title, sizeof title, "one vertex under %g N", load);
        paper_add_scene(p, &sum, name, title);
        worst_gap = fmax(worst_gap, fabs(gap / expected - 1));
        paper_row(p, "%g|%.5e|%.5e|%+.1e", load, expected, gap, gap / expected - 1);
    }
    paper_table_end(p);
    paper_near(p, "gap of one vertex under 0.1 to 1000 N, worst relative difference", "Embedded IPC eq. 7", 0, worst_gap, 2e-5, "");
    paper_table(p, "Bounce", "mass, kg|h, s|restitution, exact|measured|smallest gap, exact, m|measured, m");
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 5; k++) {
            closed_hit r;
            closed_impact(m, k, &r, &sum);
            snprintf(name, sizeof name, "vertex_throw_%g_%g", r.mass, r.h);
            snprintf(title, sizeof title, "one vertex of %g kg at 1 m/s, h = %g s", r.mass, r.h);
            paper_add_scene(p, &sum, name, title);
            worst_bounce = fmax(worst_bounce, fabs(r.bounce - r.expected_bounce));
            worst_least = fmax(worst_least, fabs(r.least / r.expected_least - 1));
            x[m][k] = r.h;
            y[m][k] = r.bounce;
            e[m][k] = r.expected_bounce;
            paper_row(p, "%g|%g|%.5f|%.5f|%.4e|%.4e", r.mass, r.h, r.expected_bounce, r.bounce, r.expected_least, r.least);
        }
    paper_table_end(p);
    paper_near(p, "restitution, worst difference of ten throws", "minimum of Embedded IPC eq. 6 for one vertex, found apart", 0, worst_bounce, 2e-4, "");
    paper_near(p, "smallest gap, worst relative difference", "minimum of Embedded IPC eq. 6 for one vertex, found apart", 0, worst_least, 1e-3, "");
    g.log_x = 1;
    plot_add(&g, "1 g, exact", x[0], e[0], 5, PLOT_POINTS | PLOT_REFERENCE);
    plot_add(&g, "1 kg, exact", x[1], e[1], 5, PLOT_POINTS | PLOT_REFERENCE);
    plot_add(&g, "1 g", x[0], y[0], 5, PLOT_LINE | PLOT_POINTS);
    plot_add(&g, "1 kg", x[1], y[1], 5, PLOT_LINE | PLOT_POINTS);
    plot_draw(p, &g, "Backward Euler swallows a bounce that it does not resolve: how much, depends on h, κ, d̂ and the mass, and on no property of the material.");
}

/* ---- Friction ------------------------------------------------------------------------------- */

static void slope(paper *p)
{
    double worst[3] = { 0, 0, 0 };
    int kinds = p->quick ? 1 : 4, ran = 1;
    paper_heading(p, "Slope and stopping distance");
    paper_text(p, "A block of 0.1 m on a slope of tangent 0.5, every parameter derived, h = 0.01 s. With μ below tan θ it must accelerate "
                  "with g (sin θ − μ cos θ), with μ above it creep with ε<sub>v</sub> (1 − √(1 − tan θ/μ)), and on level ground stop after "
                  "v₀²/(2μg) − v₀h/2 + ε<sub>v</sub>² ln 2/(μg).");
    paper_table(p, "Measured over closed form", "< kind|acceleration, μ = 0.49|creep, μ = 0.51|travel until stop, μ = 0.5|speed left / ε<sub>v</sub>");
    for (int kind = 0; kind < kinds; kind++) {
        const char *name;
        char key[32], title[96];
        paper_scene sum;
        double slide, creep, stop, left;
        ran &= closed_slope(p->quick ? 2 : kind, &name, &slide, &creep, &stop, &left, &sum);
        snprintf(key, sizeof key, "slope_%s", name);
        snprintf(title, sizeof title, "block on a slope, %s: eight runs", name);
        paper_add_scene(p, &sum, key, title);
        worst[0] = fmax(worst[0], fabs(slide - 1));
        worst[1] = fmax(worst[1], fabs(creep - 1));
        worst[2] = fmax(worst[2], fabs(stop - 1));
        paper_row(p, "< %s|%.5f|%.5f|%.5f|%.1e", name, slide, creep, stop, left);
    }
    paper_table_end(p);
    paper_near(p, "acceleration over closed form with μ just below tan θ, off 1 by at most, of all kinds", "rigid body", 0, worst[0], 0.01, "");
    paper_near(p, "creep over closed form with μ just above tan θ, off 1 by at most", "Embedded IPC eq. 8, 9", 0, worst[1], 0.02, "");
    paper_near(p, "stopping distance over closed form, off 1 by at most", "backward Euler sum", 0, worst[2], 0.01, "");
    paper_holds(p, "all steps of these runs succeed", "", ran, "yes", ran ? "yes" : "no");
}

/* ---- Static bodies -------------------------------------------------------------------------- */

/* A scene of one full body, `mesh`, held where its nodes lie in the box; h so large that a step is a static solve. */
static void static_text(tool_text *t, const char *mesh, const char *material, const double gravity[3], const char *box, double h, int steps)
{
    tool_put(t, "{ \"version\": 1, \"time_step\": %.17g, \"duration\": %.17g, \"gravity\": [%.17g, %.17g, %.17g],\n"
                "  \"solver\": { \"tolerance\": %.17g },\n  \"bodies\": [\n"
                "    { \"name\": \"body\", \"kind\": \"full\", \"mesh\": \"%s\", \"material\": { %s },\n"
                "      \"drive\": [{ \"select\": { \"box\": %s }, \"keys\": [[0, 0, 0, 0]] }] } ],\n"
                "  \"pairs\": [{ \"bodies\": [\"body\", \"body\"], \"contact\": false }] }\n",
             h, h * steps, gravity[0], gravity[1], gravity[2], 1e-12 / h, mesh, material, box);
}

/* mean position of the vertices of a body whose start has coordinate `axis` at `value` */
typedef struct face { int *vertex, count; double *share; } face;   /* share: of the face's area */
static face face_find(const paper_run *r, const char *name, int axis, double value)
{
    face f = { NULL, 0, NULL };
    embipc_body_view v;
    int *at, all = 0;
    (void)embipc_body_get_view(r->world, paper_body(r, name), &v);
    f.vertex = (int *)tool_alloc((size_t)v.vertex_count, sizeof *f.vertex);
    for (int i = 0; i < v.vertex_count; i++)
        if (fabs(v.x[3 * i + axis] - value) < 1e-9) f.vertex[f.count++] = i;
    f.share = (double *)tool_alloc((size_t)f.count, sizeof *f.share);
    at = (int *)tool_alloc((size_t)v.vertex_count, sizeof *at);
    for (int i = 0; i < f.count; i++) at[f.vertex[i]] = i + 1;
    for (int t = 0; t < v.triangle_count; t++) {   /* those of a regular face are equal */
        const int *c = v.triangles + 3 * t;
        if (!at[c[0]] || !at[c[1]] || !at[c[2]]) continue;
        for (int k = 0; k < 3; k++) f.share[at[c[k]] - 1]++;
        all += 3;
    }
    for (int i = 0; i < f.count; i++) f.share[i] /= all;
    free(at);
    return f;
}
static void face_free(face *f)
{
    free(f->vertex);
    free(f->share);
}
static void face_mean(const paper_run *r, const char *name, const face *f, double mean[3])
{
    embipc_body_view v;
    (void)embipc_body_get_view(r->world, paper_body(r, name), &v);
    mean[0] = mean[1] = mean[2] = 0;
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < 3; k++) mean[k] += v.x[3 * f->vertex[i] + k] * f->share[i];
}

/* Hanging bar of length 1, nu = 0: the end sinks by rho g L^2/(2E), exactly for linear tets. */
static void bar(paper *p)
{
    static const double g[3] = { 0, 0, -1e-3 };
    double x[3], z[9], before[3], after[3], E = 1e5;
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    face end;
    paper_planes(x, 2, -0.1, 0.1);
    paper_planes(z, 8, -1, 0);
    paper_grid_mesh(p, "bar.msh", 2, x, 2, x, 8, z);
    static_text(&t, "bar.msh", "\"young\": 1e5, \"poisson\": 0, \"density\": 1000", g, "[[-1, -1, -0.001], [1, 1, 0.001]]", 1e3, 4);
    if (paper_begin(&r, p, "bar", "hanging bar", t.data, 0)) {
        end = face_find(&r, "body", 2, -1);
        face_mean(&r, "body", &end, before);
        while (paper_step(&r)) continue;
        face_mean(&r, "body", &end, after);
        paper_value(p, "sag of a hanging bar, ρgL²/(2E)", "statics of a bar under its weight", 1000 * 1e-3 / (2 * E), before[2] - after[2], 1e-6, "m");
        face_free(&end);
        paper_end(&r);
    }
    tool_text_free(&t);
}

/* A cantilever 1 x 0.1 x 0.1 m, `load` N spread over its end face, or (at_end 0) like its mass; brought up over the
 * first half of the steps where there are many, of a material whose rotations are not lagged. u: mean displacement of the
 * end face. */
static int cantilever(paper *p, const char *name, int cells, double poisson, int averaged, double load, int at_end, int steps, double u[3])
{
    static const double none[3] = { 0, 0, 0 };
    double x[101], y[11], before[3], after[3];
    char mesh[64], material[160], title[128];
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    face end;
    int ok, ramp = steps > 5 ? steps / 2 : 1;
    snprintf(mesh, sizeof mesh, "beam_%dx%dx%d.msh", 10 * cells, cells, cells);
    snprintf(material, sizeof material, "%s\"young\": 1e6, \"poisson\": %g, \"density\": 1000, \"averaged\": %s",
             steps > 5 ? "\"model\": \"fixed_corotated\", " : "", poisson, averaged ? "true" : "false");
    snprintf(title, sizeof title, "cantilever %s, %d cells across", name, cells);
    paper_planes(x, 10 * cells, 0, 1);
    paper_planes(y, cells, -0.05, 0.05);
    paper_grid_mesh(p, mesh, 10 * cells, x, cells, y, cells, y);
    static_text(&t, mesh, material, none, "[[-1, -1, -1], [0.0001, 1, 1]]", 1e3, steps);
    snprintf(mesh, sizeof mesh, "beam_%s_%d", name, cells);
    for (char *c = mesh; *c; c++)
        if (*c == ' ' || *c == ',') *c = '_';
    ok = paper_begin(&r, p, mesh, title, t.data, 0);
    tool_text_free(&t);
    if (!ok) return 0;
    end = face_find(&r, "body", 0, 1);
    face_mean(&r, "body", &end, before);
    do {
        embipc_body body = paper_body(&r, "body");
        double f[3] = { 0, 0, 0 };
        double now = -load * fmin(1, (r.sum.steps + 1.0) / ramp);
        f[2] = now;
        if (!at_end) (void)embipc_body_apply_force(r.world, body, -1, f);
        for (int i = 0; i < end.count && at_end; i++) {
            f[2] = now * end.share[i];
            (void)embipc_body_apply_force(r.world, body, end.vertex[i], f);
        }
    } while (paper_step(&r));
    face_mean(&r, "body", &end, after);
    for (int k = 0; k < 3; k++) u[k] = after[k] - before[k];
    ok = !r.failed && r.stats.converged;
    face_free(&end);
    paper_end(&r);
    return ok;
}

static void cantilever_small(paper *p)
{
    static const int cells[4] = { 2, 4, 8, 10 };
    int n = p->quick ? 2 : 3;
    double euler = 1000 * 0.01 * 1e-3 / (8 * 1e6 * 1e-4 / 12), ratio[4][4], x[4], limit;
    static const char *const label[4] = { "ν = 0", "ν = 0.3", "ν = 0.45", "ν = 0.45, averaged" };
    static const double poisson[4] = { 0, 0.3, 0.45, 0.45 };
    plot g = plot_make("Sag of a cantilever over Euler and Bernoulli's", "cells across the thickness", "sag / (wL⁴/8EI)");
    paper_heading(p, "Cantilever, small deflection");
    paper_text(p, "1 × 0.1 × 0.1 m, clamped at one end, under its own weight; linear tetrahedra. They are too stiff in bending, and at "
                  "Poisson's ratio near one half they lock; both go away as cells get smaller, and averaging the volume strain over nodes "
                  "takes most of the second at once.");
    paper_table(p, "Sag over wL⁴/(8EI)", "cells across|ν = 0|ν = 0.3|ν = 0.45|ν = 0.45, averaged");
    for (int c = 0; c < n; c++) {
        x[c] = cells[c];
        for (int k = 0; k < 4; k++) {
            double u[3] = { 0, 0, 0 };
            char name[32];
            snprintf(name, sizeof name, "nu %g%s", poisson[k], k == 3 ? " averaged" : "");
            (void)cantilever(p, name, cells[c], poisson[k], k == 3, 1000 * 0.01 * 1e-3, 0, 3, u);
            ratio[k][c] = -u[2] / euler;
        }
        paper_row(p, "%d|%.4f|%.4f|%.4f|%.4f", cells[c], ratio[0][c], ratio[1][c], ratio[2][c], ratio[3][c]);
    }
    paper_table_end(p);
    for (int k = 0; k < 4; k++) plot_add(&g, label[k], x, ratio[k], n, PLOT_LINE | PLOT_POINTS);
    plot_level(&g, "Euler, Bernoulli", 1, 2, cells[n - 1]);
    g.has_range = 1;
    g.y_low = 0;
    g.y_high = 1.2;
    plot_draw(p, &g, "Second order in the end: what each halving of the cells leaves of the error tends to a quarter.");
    paper_value(p, "cantilever of 20 × 2 × 2 cells, ν = 0, over Euler (discrete answer)", "linear tets by an independent code", 0.555, ratio[0][0], 0.01, "");
    paper_value(p, "cantilever of 40 × 4 × 4 cells, ν = 0.3, over Euler (discrete answer)", "linear tets by an independent code", 0.793, ratio[1][1], 0.01, "");
    limit = ratio[0][n - 1] + (ratio[0][n - 1] - ratio[0][n - 2]) / 3;
    paper_value(p, "limit of refinement (Richardson), ν = 0, over Euler with shear", "Timoshenko: 1 + 4EI/(κGAL²), κ = 5/6", 1 + 4.0 / 12 * 2 / (5.0 / 6) * 0.01, limit,
                n > 2 ? 0.03 : 0.1, "");
}

/* under self weight: H/W of the bent strip; with a tip load: deflection w/L */
static void cantilever_large(paper *p)
{
    static const double G[3] = { 1, 3, 10 }, HW[3] = { 0.12456, 0.36462, 1.0668 };
    static const double P[4] = { 1, 2, 5, 10 }, W[4] = { 0.30172, 0.49346, 0.71379, 0.81061 }, U[4] = { 0.05643, 0.16064, 0.38763, 0.55500 };
    static const int cells[3] = { 2, 4, 6 };
    int n = p->quick ? 2 : 3;
    double EI = 1e6 * 1e-4 / 12, hw[3][3], w[3][4], u[3][4];
    plot g = plot_make("Large deflection under a tip load", "PL²/EI", "deflection / L");
    paper_heading(p, "Cantilever, large deflection");
    paper_text(p, "The same bar, ν = 0, against the inextensible elastica (Mattiasson's table; for self weight the cantilever test of Romero et al. 2021). "
                  "The bar is a tenth as thick as it is long, so shear adds 0.8 %% to what the elastica knows. "
                  "The material is fixed corotated, whose rotations are those of each iterate; with rotations lagged by a step, static solves do not settle under the largest of these loads.");
    for (int c = 0; c < n; c++) {
        for (int k = 0; k < 3; k++) {
            double d[3] = { 0, 0, 0 };
            char name[32];
            hw[c][k] = NAN;
            if (c == 2 && k != 1) continue;   /* the finest mesh for what is judged */
            snprintf(name, sizeof name, "weight G %g", G[k]);
            (void)cantilever(p, name, cells[c], 0, 0, G[k] * EI, 0, 12, d);
            hw[c][k] = -d[2] / (1 + d[0]);
        }
        for (int k = 0; k < 4; k++) {
            double d[3] = { 0, 0, 0 };
            char name[32];
            w[c][k] = u[c][k] = NAN;
            if (c == 2 && k % 2 == 0) continue;
            snprintf(name, sizeof name, "tip load %g", P[k]);
            (void)cantilever(p, name, cells[c], 0, 0, P[k] * EI, 1, 12, d);
            w[c][k] = -d[2];
            u[c][k] = -d[0];
        }
    }
    paper_table(p, NULL, "cells across|G = 1: H/W|G = 3|G = 10|PL²/EI = 1: w/L|2|5|10|10: u/L");
    paper_row(p, "elastica|%.4f|%.4f|%.4f|%.4f|%.4f|%.4f|%.4f|%.4f", HW[0], HW[1], HW[2], W[0], W[1], W[2], W[3], U[3]);
    for (int c = 0; c < n; c++) {
        double v[8];
        char cell[8][16];
        memcpy(v, hw[c], 3 * sizeof *v);
        memcpy(v + 3, w[c], 4 * sizeof *v);
        v[7] = u[c][3];
        for (int k = 0; k < 8; k++) {
            cell[k][0] = 0;
            if (!isnan(v[k])) snprintf(cell[k], sizeof cell[k], "%.4f", v[k]);
        }
        paper_row(p, "%d|%s|%s|%s|%s|%s|%s|%s|%s", cells[c], cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], cell[6], cell[7]);
    }
    paper_table_end(p);
    plot_add(&g, "elastica", P, W, 4, PLOT_LINE | PLOT_POINTS | PLOT_REFERENCE);
    for (int c = 0; c < n; c++) {
        char label[32];
        snprintf(label, sizeof label, "%d cells across", cells[c]);
        plot_add(&g, label, P, w[c], 4, c == 2 ? PLOT_POINTS : PLOT_LINE | PLOT_POINTS);   /* of the finest only some */
    }
    plot_draw(p, &g, "Linear tetrahedra against the elastica.");
    {
        double q = (double)cells[n - 1] / cells[n - 2], share = 1 / (q * q - 1);   /* second order */
        double a = w[n - 1][1] + (w[n - 1][1] - w[n - 2][1]) * share, b = hw[n - 1][1] + (hw[n - 1][1] - hw[n - 2][1]) * share;
        double c = w[n - 1][3] + (w[n - 1][3] - w[n - 2][3]) * share;
        paper_value(p, "tip load PL²/EI = 2: deflection, limit of refinement", "Mattiasson 1981", W[1], a, n > 2 ? 0.03 : 0.1, "L");
        paper_value(p, "self weight G = 3: H/W, limit of refinement", "Romero et al. 2021", HW[1], b, n > 2 ? 0.03 : 0.1, "");
        paper_value(p, "tip load PL²/EI = 10: deflection, limit of refinement", "Mattiasson 1981", W[3], c, n > 2 ? 0.03 : 0.1, "L");
    }
}

/* ---- Contact -------------------------------------------------------------------------------- */

/* A block on the ground under uniform pressure: the contact forces carry p A and the weight. */
static void patch(paper *p)
{
    double x[7], z[4], pressure = 2000, sum, force[3];
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    paper_planes(x, 6, -0.1, 0.1);
    paper_planes(z, 3, 0, 0.1);
    paper_grid_mesh(p, "patch.msh", 6, x, 6, x, 3, z);
    tool_put(&t, "{ \"version\": 1, \"time_step\": 0.05, \"duration\": 6, \"solver\": { \"tolerance\": 1e-9 },\n  \"bodies\": [\n"
                 "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"position\": [0.3, 0.2, 0] },\n"
                 "    { \"name\": \"block\", \"kind\": \"full\", \"mesh\": \"patch.msh\", \"position\": [0, 0, 0.0004],\n"
                 "      \"material\": { \"young\": 1e6, \"poisson\": 0.3, \"density\": 1000, \"damping\": [0, 0.02] } } ] }\n");
    if (paper_begin(&r, p, "patch", "block under uniform pressure", t.data, 0)) {
        face top = face_find(&r, "block", 2, 0.1004);
        embipc_body body = paper_body(&r, "block");
        double weight = paper_state(&r, "block").mass * 9.81;
        do
            for (int i = 0; i < top.count; i++) {   /* tributary areas: half at the sides, a quarter at the corners */
                embipc_body_view v;
                double f[3] = { 0, 0, 0 }, share = 1;
                (void)embipc_body_get_view(r.world, body, &v);
                share *= i / 7 == 0 || i / 7 == 6 ? 0.5 : 1;
                share *= i % 7 == 0 || i % 7 == 6 ? 0.5 : 1;
                f[2] = -pressure * 0.04 / 36 * share;
                (void)embipc_body_apply_force(r.world, body, top.vertex[i], f);
            }
        while (paper_step(&r));
        paper_force(&r, "block", "ground", force, NULL);
        sum = pressure * 0.04 + weight;
        paper_value(p, "pressure patch: contact forces carry pA + mg", "statics", sum, force[2], 1e-6, "N");
        face_free(&top);
        paper_end(&r);
    }
    tool_text_free(&t);
}

/* v = v0 + n h g, z = z0 + n h v0 + g h^2 n (n + 1)/2 */
static void fall(paper *p)
{
    paper_run r;
    if (paper_begin(&r, p, "fall", "free fall of an embedded bear",
                    "{ \"version\": 1, \"time_step\": 0.01, \"duration\": 1,\n  \"bodies\": [{ \"name\": \"bear\", \"kind\": \"cage\", \"shape\": \"bear\", "
                    "\"cage_nodes\": 34, \"velocity\": [0.3, 0, 1] }] }\n", 0)) {
        double start = paper_state(&r, "bear").centre[2], h = 0.01;
        int n = 100;
        while (paper_step(&r)) continue;
        paper_near(p, "free fall of an embedded body, 1 s: centre against the sum of backward Euler", "Embedded IPC eq. 2 to 4", start + n * h - 9.81 * h * h * n * (n + 1) / 2,
                   paper_state(&r, "bear").centre[2], 1e-12, "m");
        paper_end(&r);
    }
}

void paper_closed_forms(paper *p)
{
    paper_section(p, "closed", "Closed forms", "Textbook answers, and Du et al., Embedded IPC, section III, equations 2 to 9; each row tells its own.");
    fall(p);
    bar(p);
    patch(p);
    rest_and_bounce(p);
    slope(p);
    cantilever_small(p);
    cantilever_large(p);
    paper_hertz(p);
}
