/* Hertz contact and its kin: rigid indenters on an elastic block. Planes of symmetry are springs that hold them and let
 * them slide, so that a quarter of the block does, and half of it for a cylinder. */
#include "paper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HERTZ_SOURCE "Johnson 1985"
#define HERTZ_CELLS 40

static const double pi = 3.14159265358979323846;
static const double dhat = 2e-5, thin = 1e-9;   /* m */
static const char *const springs[2] = { "[1e10, 0, 0]", "[0, 1e10, 0]" };

/* ---- Meshes --------------------------------------------------------------------------------- */

/* A block's planes: `core` equal steps, then `outer` that grow by one ratio, up to `half`. With core 0 the first step
 * follows from the ratio, else the ratio from it. */
typedef struct hertz_mesh { int core, outer; double first, ratio, half; } hertz_mesh;

static hertz_mesh graded(int n, double half, double ratio)
{
    hertz_mesh m = { 0, n, half * (ratio - 1) / (pow(ratio, n) - 1), ratio, half };
    return m;
}

/* core and outer cells; the core is `wide` */
static hertz_mesh cored(int core, int outer, double wide, double half)
{
    hertz_mesh m = { core, outer, wide / core, 1, half };
    double lo = 1, hi = 16;
    for (int k = 0; k < 60; k++) {
        double q = m.ratio = (lo + hi) / 2, end = wide + m.first * q * (pow(q, outer) - 1) / (q - 1);
        *(end < half ? &lo : &hi) = q;
    }
    return m;
}

static int hertz_planes(hertz_mesh m, double *x)
{
    int n = m.core + m.outer;
    double at = 0, step = m.first;
    for (int i = 0; i <= n; i++) {
        if (i >= m.core && m.core) step *= m.ratio;
        x[i] = i == n ? m.half : at;
        at += step;
        if (!m.core) step *= m.ratio;
    }
    return n;
}

/* The quarter block, or the half strip of 10 mm, below z = 0, and its lines in a scene. */
static void hertz_block(paper *p, tool_text *t, int line, hertz_mesh m, double nu, double density)
{
    double x[HERTZ_CELLS + 1], z[HERTZ_CELLS + 1], y[2] = { 0, 0.01 };
    int n = hertz_planes(m, x);
    char name[64];
    for (int i = 0; i <= n; i++) z[i] = -x[n - i];
    snprintf(name, sizeof name, "%s_%d_%g.msh", line ? "strip" : "block", n, m.half);
    if (line) paper_grid_mesh(p, name, n, x, 1, y, n, z);
    else paper_grid_mesh(p, name, n, x, n, x, n, z);
    tool_put(t, "    { \"name\": \"block\", \"kind\": \"full\", \"mesh\": \"%s\",\n"
                "      \"material\": { \"young\": 1e6, \"poisson\": %g, \"density\": %g },\n"
                "      \"drive\": [{ \"select\": { \"box\": [[-1, -1, -1], [1, 1, %g]] }, \"keys\": [[0, 0, 0, 0]] }", name, nu, density, -m.half + thin);
    for (int k = 0; k < (line ? 1 : 2); k++)
        tool_put(t, ",\n                { \"select\": { \"box\": [[-1, -1, -1], [%g, %g, 1]] }, \"keys\": [[0, 0, 0, 0]], \"stiffness\": %s }",
                 k ? 1.0 : thin, k ? thin : 1.0, springs[k]);
    tool_put(t, "] },\n");
}

/* The underside of a sphere or cylinder of radius R that touches z = 0, 48 mm wide, its edges over no edge of the block:
 * an open sheet, or closed by a lid above. */
static void hertz_indenter(paper *p, const char *name, int line, double R, int closed)
{
    enum { M = 48, ROW = M + 1, SHEET = ROW * ROW };
    double *x = (double *)tool_alloc(2 * SHEET, 3 * sizeof *x), cap = 0.024;
    int *tri = (int *)tool_alloc(4 * M * M + 8 * M, 3 * sizeof *tri), count = 0, rows = line ? 1 : M;
    for (int i = 0; i <= M; i++)
        for (int j = 0; j <= rows; j++) {
            double u = cap * (2.0 * i / M - 1) + 0.0003, v = line ? (j ? 0.012 : -0.002) : cap * (2.0 * j / M - 1) + 0.0002;
            double *at = x + 3 * (i * (rows + 1) + j), *lid = at + 3 * SHEET;
            at[0] = u; at[1] = v; at[2] = R - sqrt(R * R - u * u - (line ? 0 : v * v));
            if (closed) { lid[0] = u; lid[1] = v; lid[2] = 0.02; }
        }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < rows; j++) {
            int a = i * (rows + 1) + j, b = a + rows + 1, q[12];
            q[0] = a; q[1] = a + 1; q[2] = b; q[3] = b; q[4] = a + 1; q[5] = b + 1;   /* normal down */
            for (int k = 0; k < 6; k++) q[6 + k] = SHEET + q[5 - k];
            memcpy(tri + 3 * count, q, (closed ? 12 : 6) * sizeof *q);
            count += closed ? 4 : 2;
        }
    for (int k = 0; k < 4 * M && closed; k++) {   /* the wall, along the rim of the sheet */
        int side = k / M, s = k % M, i0, j0, i1, j1, a, b;
        i0 = side == 0 ? s : side == 1 ? M : side == 2 ? M - s : 0;
        j0 = side == 0 ? 0 : side == 1 ? s : side == 2 ? M : M - s;
        i1 = i0 + (side == 0) - (side == 2);
        j1 = j0 + (side == 1) - (side == 3);
        a = i0 * ROW + j0;
        b = i1 * ROW + j1;
        tri[3 * count] = a; tri[3 * count + 1] = b; tri[3 * count + 2] = SHEET + a;
        tri[3 * count + 3] = SHEET + a; tri[3 * count + 4] = b; tri[3 * count + 5] = SHEET + b;
        count += 2;
    }
    paper_mesh(p, name, x, closed ? 2 * SHEET : (M + 1) * (rows + 1), tri, count, NULL, 0);
    free(x);
    free(tri);
}

/* a flat round sheet of radius a, its normal down */
static void hertz_disc(paper *p, const char *name, double a)
{
    enum { M = 128 };
    double x[3 * (M + 1)] = { 0, 0, 0 };
    int tri[3 * M];
    for (int i = 0; i < M; i++) {
        double angle = 2 * pi * (i + 0.3) / M;
        x[3 * i + 3] = a * cos(angle); x[3 * i + 4] = a * sin(angle); x[3 * i + 5] = 0;
        tri[3 * i] = 0; tri[3 * i + 1] = 1 + (i + 1) % M; tri[3 * i + 2] = 1 + i;
    }
    paper_mesh(p, name, x, M + 1, tri, M, NULL, 0);
}

/* ---- Pressed slowly ------------------------------------------------------------------------- */

typedef enum dent_kind { DENT_SPHERE, DENT_CYLINDER, DENT_PUNCH } dent_kind;
typedef struct dent { double d, force, a; } dent;   /* m, N (or N/m), m */

/* force, force-weighted mean gap and second moment of the contacts about the axis, in one direction or in both */
static void dent_measure(const paper_run *r, int line, double *force, double *gap, double *second)
{
    int n = embipc_world_contacts(r->world, NULL, 0);
    embipc_contact *c = (embipc_contact *)tool_alloc((size_t)n + 1, sizeof *c);
    double weight = 0;
    (void)embipc_world_contacts(r->world, c, n);
    *force = *gap = *second = 0;
    for (int i = 0; i < n; i++) {
        double x = (c[i].point_a[0] + c[i].point_b[0]) / 2, y = (c[i].point_a[1] + c[i].point_b[1]) / 2, w = c[i].force * fabs(c[i].normal[2]);
        weight += w;
        *gap += w * c[i].distance;
        *second += w * (line ? x * x : x * x + y * y);
    }
    free(c);
    if (weight > 0) { *gap /= weight; *second /= weight; }
    for (int i = 0; i < r->pair_count; i++) *force += fabs(r->pair[i].force[2]);
}

/* E = 1e6, R = 0.1 m, radius of the punch 10 mm; k: number of the mesh m */
static dent press_block(paper *p, dent_kind kind, int k, hertz_mesh m, double nu, double depth)
{
    static const char *const indenter[3] = { "ball_cap.obj", "roller.obj", "punch.obj" }, *const what[3] = { "ball", "line", "punch" },
                     *const title[3] = { "sphere", "cylinder", "flat punch" };
    int line = kind == DENT_CYLINDER;
    char name[64], text[128];
    tool_text t = { NULL, 0, 0 };
    dent out = { 0, 0, 0 };
    paper_run r;
    double gap, second;
    if (kind == DENT_PUNCH) hertz_disc(p, indenter[kind], 0.01);
    else hertz_indenter(p, indenter[kind], line, 0.1, 0);
    tool_put(&t, "{ \"version\": 1, \"time_step\": 10, \"duration\": 40, \"gravity\": [0, 0, 0],\n"
                 "  \"contact\": { \"dhat\": %g, \"kappa\": %g }, \"solver\": { \"tolerance\": 1e-9 },\n  \"bodies\": [\n", dhat, 1e7);
    hertz_block(p, &t, line, m, nu, 1000);
    tool_put(&t, "    { \"name\": \"indenter\", \"kind\": \"kinematic\", \"mesh\": \"%s\", \"position\": [0, 0, %g],\n"
                 "      \"drive\": [{ \"keys\": [[0, 0, 0, 0], [20, 0, 0, %.17g]] }] } ],\n"
                 "  \"pairs\": [{ \"bodies\": [\"block\", \"block\"], \"contact\": false }] }\n",
             indenter[kind], 1.5 * dhat, -depth - 1.5 * dhat);
    snprintf(text, sizeof text, "%s pressed into a block, cells of %.2g mm", title[kind], 1e3 * m.first);
    snprintf(name, sizeof name, "hertz_%s_%d", what[kind], k + 1);
    if (paper_begin(&r, p, name, text, t.data, line ? 0 : 10)) {
        while (paper_step(&r)) continue;
        dent_measure(&r, line, &out.force, &gap, &second);
        out.d = depth + gap;   /* of the surface */
        out.a = line ? 2 * sqrt(second) : sqrt(2.5 * second);
        out.force *= line ? 2 / 0.01 : 4;   /* of the whole, or per length */
        paper_end(&r);
    }
    tool_text_free(&t);
    return out;
}

static void hertz_pressed(paper *p)
{
    static const int level[3] = { 9, 13, 18 }, line_level[3] = { 18, 27, 40 };
    double nu = 0.3, E = 1e6 / (1 - nu * nu), R = 0.1, x[3], lx[3], force[3], line[3];
    int n = p->quick ? 2 : 3;
    plot g = plot_make("Force over Hertz's at the measured size of the contact", "smallest cell / size of the contact", "measured / closed form");
    paper_text(p, "A rigid sphere of radius R = 0.1 m pressed 1 mm into a block of E = 1 MPa, ν = 0.3: F = 4E*a³/(3R) ties force and contact "
                  "radius whatever the block looks like far away. A rigid cylinder, at ν = 0 so that plane strain is plane stress and the strip "
                  "needs no walls: P = πE*a²/(4R). The radius comes from the second moment of the contact forces, ⟨r²⟩ = 2a²/5 and ⟨x²⟩ = a²/4 for "
                  "Hertz's pressures, which resolves it finer than the cells. A quarter of the block is computed, of the cylinder's half: the planes "
                  "of symmetry are held by springs of 10<sup>10</sup> N/m, and slide.");
    paper_table(p, NULL, "< indenter|cells at the middle, mm|cells in a|a, mm|force, N (N/m)|Hertz at this a|ratio|p₀ from force and a, kPa");
    for (int k = 0; k < n; k++) {
        hertz_mesh m = graded(level[k], 0.08, pow(1.27, 12.0 / level[k]));   /* one grading, finer and finer */
        dent d = press_block(p, DENT_SPHERE, k, m, nu, 1e-3);
        double F = 4 * E * d.a * d.a * d.a / (3 * R);
        x[k] = m.first / d.a;
        force[k] = d.force / F;
        paper_row(p, "< sphere|%.2f|%.1f|%.3f|%.3f|%.3f|%.4f|%.2f", 1e3 * m.first, d.a / m.first, 1e3 * d.a, d.force, F, force[k], 1.5e-3 * d.force / (pi * d.a * d.a));
    }
    for (int k = 0; k < n; k++) {
        hertz_mesh m = graded(line_level[k], 0.4, pow(1.35, 16.0 / line_level[k]));
        dent d = press_block(p, DENT_CYLINDER, k, m, 0, 1e-3);
        double P = pi * 1e6 * d.a * d.a / (4 * R);
        lx[k] = m.first / d.a;
        line[k] = d.force / P;
        paper_row(p, "< cylinder|%.2f|%.1f|%.3f|%.2f|%.2f|%.4f|%.3f", 1e3 * m.first, d.a / m.first, 1e3 * d.a, d.force, P, line[k], 2e-3 * d.force / (pi * d.a));
    }
    paper_table_end(p);
    g.log_x = 1;
    plot_add(&g, "sphere", x, force, n, PLOT_LINE | PLOT_POINTS);
    plot_add(&g, "cylinder", lx, line, n, PLOT_LINE | PLOT_POINTS);
    plot_level(&g, "Hertz", 1, lx[n - 1], x[0]);
    plot_draw(p, &g, "Finer meshes to the left.");
    if (n > 2) {   /* the three meshes are one grading: second order in the cells a side, as for the cantilevers */
        double q = (double)level[2] / level[1];
        paper_value(p, "Hertz: force on a sphere at its contact radius, finest mesh", HERTZ_SOURCE, 1, force[2], 0.08, "");
        paper_why(p, PAPER_DISCRETISATION, "Forces in the table are of the whole; the viewers show those of a quarter. The finest mesh has %.1f cells in the contact radius; the force stands above Hertz's by %.0f, %.0f, %.0f %% on the three meshes, as "
                  "linear tetrahedra are too stiff under so small a dent, and comes down with the cells.", 1 / x[2], 100 * (force[0] - 1), 100 * (force[1] - 1), 100 * (force[2] - 1));
        paper_value(p, "the same, limit of refinement (Richardson)", HERTZ_SOURCE, 1, force[2] - (force[1] - force[2]) / (q * q - 1), 0.08, "");
        paper_why(p, PAPER_NO_CAUSE, "Meshes of %d, %d and %d cells a side with one grading.", level[0], level[1], level[2]);
    }
    paper_value(p, "Hertz: force on a cylinder at its half width, finest mesh", HERTZ_SOURCE, 1, line[n - 1], 0.05, "");
}

static void flat_punch(paper *p)
{
    static const int across[3] = { 2, 4, 6 };   /* cells in a */
    double E = 1e6 / (1 - 0.3 * 0.3), a = 0.01, half = 0.3, ratio[3], q = (double)across[2] / across[1];
    paper_text(p, "A flat round punch of radius a = 10 mm, pressed in by 0.2 mm, the surface below it by the gap more: F = 2aE*δ. Cells that the rim crosses "
                  "are pressed down whole, as if the punch were a part of a cell wider: the error is of first order. The block is 0.3 m wide to each side: base and sides "
                  "hold back %.1f %% of δ.", 100 * 2 * a / (pi * half));
    paper_table(p, "Flat punch", "cells in a|δ, mm|force, N|2aE*δ, N|ratio");
    for (int k = 0; k < 3; k++) {
        int cells = across[k];
        dent d = press_block(p, DENT_PUNCH, k, cored(3 * cells / 2, 3 * cells / 2, 1.5 * a, half), 0.3, 2e-4);
        double F = 2 * a * E * d.d;
        ratio[k] = d.force / F;
        paper_row(p, "%d|%.4f|%.3f|%.3f|%.4f", cells, 1e3 * d.d, d.force, F, ratio[k]);
    }
    paper_table_end(p);
    paper_value(p, "flat punch: force against 2aE*δ, limit of refinement", HERTZ_SOURCE, 1, ratio[2] - (ratio[1] - ratio[2]) / (q - 1), 0.08, "");
    paper_why(p, PAPER_NO_CAUSE, "Of first order from the last two meshes, which stand %.0f and %.0f %% above.", 100 * (ratio[1] - 1), 100 * (ratio[2] - 1));
}

/* ---- Impact --------------------------------------------------------------------------------- */

/* A rigid sphere hits the block. The block is light, so that waves in it are fast and it follows as if at rest. */
static void impact(paper *p)
{
    hertz_mesh mesh = cored(8, 8, 0.016, 0.3);
    dent still = press_block(p, DENT_SPHERE, 3, mesh, 0.3, 1.1e-3);
    double v = 0.1, R = 0.1, E = 1e6 / (1 - 0.3 * 0.3), h = 0.0004, stiff = still.force / (4 * E * sqrt(R) * pow(still.d, 1.5) / 3), m, T, most, force, gap, second, start, first = 0, last = 0, deepest = 0, at_deepest = 0, out = 0;
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    plot g = plot_make("Impact of a rigid sphere", "time, ms", "force, N");
    paper_series time = { NULL, 0, 0 }, pull = { NULL, 0, 0 };
    hertz_indenter(p, "lens.obj", 0, R, 1);
    tool_put(&t, "{ \"version\": 1, \"time_step\": %g, \"duration\": 0.038, \"gravity\": [0, 0, 0],\n"
                 "  \"contact\": { \"dhat\": %g, \"kappa\": %g }, \"solver\": { \"tolerance\": 1e-6 },\n  \"bodies\": [\n", h, dhat, 1e7);
    hertz_block(p, &t, 0, mesh, 0.3, 1);
    tool_put(&t, "    { \"name\": \"sphere\", \"kind\": \"affine\", \"mesh\": \"lens.obj\", \"position\": [0, 0, %g], \"velocity\": [0, 0, %g],\n"
                 "      \"material\": { \"model\": \"orthogonality\", \"stiffness\": 1e9, \"density\": 10000 },\n"
                 "      \"drive\": [{ \"keys\": [[0, 0, 0, 0]], \"stiffness\": [1e8, 1e8, 0] }] } ],\n"
                 "  \"pairs\": [{ \"bodies\": [\"block\", \"block\"], \"contact\": false }] }\n", 1.01 * dhat, -v);
    paper_text(p, "A rigid sphere of radius 0.1 m hits the block at 0.1 m/s: Hertz's impact lasts 2.868 (m²/(R E*² v))<sup>1/5</sup> and goes "
                  "(15 m v²/(16 √R E*))<sup>2/5</sup> deep. The block weighs next to nothing, as the closed form asks, and the mass is that of a "
                  "lens, four times that of the quarter that is computed; springs let it move up and down only.");
    if (paper_begin(&r, p, "hertz_impact", "sphere hits a block", t.data, 0.002)) {
        m = 4 * paper_state(&r, "sphere").mass;
        start = paper_state(&r, "sphere").centre[2] - 0.01 * dhat;
        T = 2.868 * pow(m * m / (R * E * E * v), 0.2);
        most = pow(15 * m * v * v / (16 * sqrt(R) * E), 0.4);
        while (paper_step(&r)) {
            double depth = start - paper_state(&r, "sphere").centre[2];
            dent_measure(&r, 0, &force, &gap, &second);
            if (force > 0 && first == 0) first = r.stats.time;
            if (force > 0) last = r.stats.time;
            depth += gap - dhat;
            if (depth > deepest) { deepest = depth; at_deepest = r.stats.time; }
            paper_push(&time, 1e3 * r.stats.time);
            paper_push(&pull, 4 * force);
        }
        out = paper_state(&r, "sphere").velocity[2];
        plot_add(&g, "force on the whole sphere", time.x, pull.x, time.count, PLOT_LINE);
        plot_draw(p, &g, "Deepest after %.2f ms of contact; leaves at %.4f m/s of %.1f.", 1e3 * (at_deepest - first), out, v);
        {   /* what the discretisation takes, derived: a stiffer block, and damping of the half oscillation until it turns */
            double short_ = pow(stiff, -0.4), damped = 1 - pi * pi * h / (4 * T);
            paper_table(p, "Impact", "< |closed form|on this mesh|and at this time step|measured");
            paper_row(p, "< duration, ms|%.3f|%.3f||%.3f", 1e3 * T, 1e3 * T * short_, 1e3 * (last - first));
            paper_row(p, "< depth, mm|%.4f|%.4f|%.4f|%.4f", 1e3 * most, 1e3 * most * short_, 1e3 * most * short_ * damped, 1e3 * deepest);
            paper_table_end(p);
            paper_text(p, "On this mesh: pressed slowly, the block answers with %.3f of Hertz's force, which makes time and depth shorter by its power "
                          "2/5. At this time step: backward Euler takes π²h/(4T) of the speed until the sphere turns.", stiff);
            paper_value(p, "Hertz impact: duration, on this mesh", HERTZ_SOURCE, 1e3 * T * short_, 1e3 * (last - first), 0.03, "ms");
            paper_why(p, PAPER_DISCRETISATION, "The closed form says %.3f ms; the mesh is %.1f %% too stiff, see the table.", 1e3 * T, 100 * (stiff - 1));
            paper_value(p, "Hertz impact: depth, on this mesh and at this time step", HERTZ_SOURCE, 1e3 * most * short_ * damped, 1e3 * deepest, 0.03, "mm");
            paper_why(p, PAPER_DISCRETISATION, "The closed form says %.4f mm; the mesh is too stiff and the time step damps, see the table.", 1e3 * most);
        }
        paper_end(&r);
    }
    paper_series_free(&time);
    paper_series_free(&pull);
    tool_text_free(&t);
}

void paper_hertz(paper *p)
{
    paper_heading(p, "Hertz contact");
    hertz_pressed(p);
    if (p->quick) return;
    flat_punch(p);
    impact(p);
}
