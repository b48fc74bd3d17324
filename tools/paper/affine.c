/* Affine body dynamics: a tower, a chain, dominoes, and a spinning top, whose motion has a closed form. */
#include "paper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tower ---------------------------------------------------------------------------------- */

static void tower(paper *p)
{
    paper_run r;
    double worst = 0, tilt = 0, speed = 0, weight = 0, force[3];
    embipc_body_state start[8], end;
    char name[16];
    paper_heading(p, "Tower of eight boxes");
    if (!paper_begin_file(&r, p, "tower", "tower of eight boxes", "examples/scenes/tower.json", 0, 0.02)) return;
    for (int k = 0; k < 8; k++) {
        snprintf(name, sizeof name, "box_%d", k + 1);
        start[k] = paper_state(&r, name);
        weight += start[k].mass * 9.81;
    }
    while (paper_step(&r)) continue;
    for (int k = 0; k < 8; k++) {
        snprintf(name, sizeof name, "box_%d", k + 1);
        end = paper_state(&r, name);
        worst = fmax(worst, hypot(end.centre[0] - start[k].centre[0], end.centre[1] - start[k].centre[1]));
        tilt = fmax(tilt, fabs(end.centre[2] - start[k].centre[2]));
        speed = fmax(speed, tool_length(end.velocity));
    }
    paper_force(&r, "box_1", "ground", force, NULL);
    paper_text(p, "Boxes of 0.1 × 0.1 × 0.05 m, each turned by 15 degrees against the one below, with gaps of 0.2 mm, 2 s; "
                  "<a href=\"tower.html\">play it</a>. The largest sideways shift of a centre is %.2g mm, the largest change of height %.2g mm.", 1e3 * worst, 1e3 * tilt);
    paper_range(p, "tower stands: largest sideways shift of a box after 2 s", "Affine body dynamics; scene tower.json", 0, 1e-3, worst, "m");
    paper_value(p, "tower: the ground carries the weight", "statics", weight, force[2], 1e-3, "N");
    paper_end(&r);
}

/* ---- Chain ---------------------------------------------------------------------------------- */

static void chain(paper *p)
{
    enum { LINKS = 5 };
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    double force[3], weight = 0, mean = 0, lowest = 0, high;
    int n = 0, duration = p->quick ? 1 : 3;
    char name[16];
    paper_heading(p, "Chain of rigid links");
    tool_put(&t, "{ \"version\": 1, \"time_step\": 0.01, \"duration\": %d,\n  \"bodies\": [\n"
                 "    { \"name\": \"link 1\", \"kind\": \"fixed\", \"shape\": \"torus\", \"radius\": 0.05, \"tube\": 0.01, \"resolution\": 10, \"rotation\": [90, 0, 0], \"friction\": 0.3 }", duration);
    for (int k = 1; k < LINKS; k++)
        tool_put(&t, ",\n    { \"name\": \"link %d\", \"kind\": \"affine\", \"shape\": \"torus\", \"radius\": 0.05, \"tube\": 0.01, \"resolution\": 10, \"position\": [0, 0, %.10g],\n"
                     "      \"rotation\": [90, 0, %d], \"friction\": 0.3, \"material\": { \"model\": \"orthogonality\", \"stiffness\": 1e8, \"density\": 7800, \"damping\": [0.5, 0] } }",
                 k + 1, -0.075 * k, k % 2 ? 90 : 0);
    tool_put(&t, " ] }\n");
    if (paper_begin(&r, p, "links", "chain of five rigid links", t.data, 0.02)) {
        for (int k = 2; k <= LINKS; k++) {
            snprintf(name, sizeof name, "link %d", k);
            weight += paper_state(&r, name).mass * 9.81;
        }
        while (paper_step(&r)) {
            if (r.stats.time < duration - 0.5) continue;
            paper_force(&r, "link 2", "link 1", force, NULL);
            mean += force[2];
            n++;
        }
        paper_extent(&r, "link 5", 2, &lowest, &high);
        paper_text(p, "Steel rings of 0.1 m, linked, the first one held; dropped by the play between them and left to swing; <a href=\"links.html\">play it</a>. "
                      "Over the last half second the first link carries the weight of the four below.");
        paper_value(p, "chain: mean force on the held link over the last 0.5 s", "statics", weight, mean / n, 0.02, "N");
        paper_range(p, "chain: the last link still hangs, its lowest point", "geometry: 4 × 0.08 + 0.06 m", -0.39, -0.36, lowest, "m");
        paper_end(&r);
    }
    tool_text_free(&t);
}

/* ---- Dominoes ------------------------------------------------------------------------------- */

static double dominoes_run(paper *p, double spacing, double h, int show, int *fell)
{
    enum { COUNT = 12 };
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    double hit[COUNT] = { 0 }, speed = NAN;
    char name[32], title[96];
    tool_put(&t, "{ \"version\": 1, \"time_step\": %g, \"duration\": 1.6,\n  \"bodies\": [\n"
                 "    { \"name\": \"table\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [2, 1, 0.1], \"position\": [0.31, 0.07, -0.05], \"friction\": 0.5 }", h);
    for (int k = 0; k < COUNT; k++)
        tool_put(&t, ",\n    { \"name\": \"stone %d\", \"kind\": \"affine\", \"shape\": \"box\", \"size\": [0.008, 0.024, 0.048], \"position\": [%.10g, 0, 0.02405], \"friction\": 0.2,\n"
                     "      \"material\": { \"model\": \"orthogonality\", \"stiffness\": 1e8, \"density\": 1200 } }", k + 1, k * (spacing + 0.008));
    tool_put(&t, ",\n    { \"name\": \"finger\", \"kind\": \"kinematic\", \"shape\": \"sphere\", \"radius\": 0.006, \"position\": [-0.0105, 0, 0.044],\n"
                 "      \"drive\": [{ \"keys\": [[0, 0, 0, 0], [0.1, 0.012, 0, 0.001], [0.2, -0.02, 0, 0.001]] }] } ] }\n");
    snprintf(name, sizeof name, "dominoes_%g_%g", 1e3 * spacing, 1e3 * h);
    snprintf(title, sizeof title, "dominoes %g mm apart, h = %g ms", 1e3 * spacing, 1e3 * h);
    *fell = 0;
    if (paper_begin(&r, p, name, title, t.data, show ? 0.02 : 0)) {
        while (paper_step(&r))
            for (int k = 0; k < COUNT; k++) {
                snprintf(name, sizeof name, "stone %d", k + 1);
                if (hit[k] == 0 && fabs(paper_state(&r, name).angular_velocity[1]) > 1) hit[k] = r.stats.time;   /* begins to fall */
            }
        for (int k = 0; k < COUNT; k++) {
            snprintf(name, sizeof name, "stone %d", k + 1);
            *fell += paper_state(&r, name).centre[2] < 0.020;
        }
        if (hit[5] > 0 && hit[10] > hit[5]) speed = 5 * (spacing + 0.008) / (hit[10] - hit[5]);
        paper_end(&r);
    }
    tool_text_free(&t);
    return speed;
}

static void dominoes(paper *p)
{
    static const double h[3] = { 0.004, 0.002, 0.001 };
    double v[3];
    int fell = 0, all = 1, n = p->quick ? 2 : 3;
    paper_heading(p, "Dominoes");
    paper_text(p, "Twelve stones of 48 × 24 × 8 mm, 16 mm apart; the first is pushed. The wave runs at a steady speed of the order of √(gH) = %.2f m/s, "
                  "and the speed must settle as h shrinks.", sqrt(9.81 * 0.048));
    paper_table(p, NULL, "h, ms|stones that fell|speed of the wave from the 6th to the 11th, m/s|over √(gH)");
    for (int k = 0; k < n; k++) {
        v[k] = dominoes_run(p, 0.016, h[k], k == 0, &fell);
        all &= fell == 12;
        paper_row(p, "%g|%d of 12|%.3f|%.3f", 1e3 * h[k], fell, v[k], v[k] / sqrt(9.81 * 0.048));
    }
    paper_table_end(p);
    paper_holds(p, "all dominoes fall, at every time step", "rigid body", all, "12 of 12", "%s", all ? "12 of 12" : "fewer");
    paper_range(p, "speed of the domino wave over √(gH)", "order of magnitude: a stone falls at √(gH)", 0.7, 2.5, v[n - 1] / sqrt(9.81 * 0.048), "");
    paper_range(p, "change of the speed at the last halving of h", "convergence", -10, 10, 100 * (v[n - 1] / v[n - 2] - 1), "%");
}

/* ---- Top ------------------------------------------------------------------------------------ */

/* A box free in space, by the plain rule or with keep_spin, turning at (wx, 0, 12) rad/s: what angular momentum is lost after `time`, as a share, and how far its
 * direction is off, degrees. */
static void spin(paper *p, const char *name, const char *material, double wx, double h, double time, int show, int keep, double *lost, double *turned)
{
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    static const double none[3] = { 0, 0, 0 };
    double w[3] = { 0, 0, 12 };
    embipc_body_state a, b;
    char title[96];
    w[0] = wx;
    tool_put(&t, "{ \"version\": 1, \"time_step\": %g, \"keep_spin\": %s, \"duration\": %g, \"gravity\": [0, 0, 0], \"solver\": { \"tolerance\": 1e-9 },\n  \"bodies\": [\n"
                 "    { \"name\": \"top\", \"kind\": \"affine\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.04], \"material\": { %s, \"density\": 1000 } } ] }\n", h, keep ? "true" : "false", time, material);
    snprintf(title, sizeof title, "top, %s, h = %g ms", strstr(material, "orthog") ? "orthogonality" : "corotated", 1e3 * h);
    *lost = *turned = NAN;
    if (paper_begin(&r, p, name, title, t.data, show ? 0.01 : 0)) {
        double size = 0, dot = 0, left = 0;
        (void)embipc_body_set_velocity(r.world, paper_body(&r, "top"), none, w);
        a = paper_state(&r, "top");
        while (paper_step(&r)) continue;
        b = paper_state(&r, "top");
        for (int k = 0; k < 3; k++) {
            size += a.angular_momentum[k] * a.angular_momentum[k];
            left += b.angular_momentum[k] * b.angular_momentum[k];
            dot += a.angular_momentum[k] * b.angular_momentum[k];
        }
        *lost = 1 - sqrt(left / size);
        *turned = acos(fmin(1, dot / sqrt(size * left))) * 180 / 3.14159265358979;
        paper_end(&r);
    }
    tool_text_free(&t);
}

/* what backward Euler leaves of a rigid spin: a step turns by the angle of R + (R - R before) from R,
 * tan a' = sin a/(2 - cos a), and the momentum of a step is sin a/h */
static double spin_lost(double omega, double h, double time)
{
    double a = atan(h * omega);
    for (int n = (int)(time / h + 0.5); n > 1; n--) a = atan(sin(a) / (2 - cos(a)));
    return 1 - sin(a) / (h * omega);
}

static void top(paper *p)
{
    static const double h[4] = { 0.01, 0.005, 0.0025, 0.00125 };
    static const char *const material[2] = { "\"model\": \"orthogonality\", \"stiffness\": 1e8", "\"young\": 1e8, \"poisson\": 0.3" };
    double lost[3][4], turned, want[4], none, worst = 0;
    int n = p->quick ? 3 : 4;
    plot g = plot_make("Angular momentum lost in 0.5 s by a plate at 12 rad/s", "time step h, s", "share lost");
    paper_heading(p, "Spinning top");
    paper_text(p, "A plate of 0.1 × 0.1 × 0.04 m, free in space. Angular momentum must stay what it was; plain backward Euler loses some, and with keep_spin, the default, nothing is lost. For a rigid spin that can be "
                  "written down: a step turns by the angle a between R<sub>n</sub> and R<sub>n</sub> + (R<sub>n</sub> − R<sub>n−1</sub>), so tan a′ = sin a/(2 − cos a), "
                  "and the momentum goes with sin a/h: a loss of ω²h a second at first.");
    paper_table(p, "Share of the angular momentum lost", "h, ms|closed form|orthogonality|corotated, lagged rotation|orthogonality, keep_spin");
    for (int k = 0; k < n; k++) {
        for (int m = 0; m < 3; m++) {
            char name[32];
            snprintf(name, sizeof name, "top_%d_%d", m, k);
            spin(p, name, material[m % 2], 0, h[k], 0.5, k == 2 && m == 0, m == 2, &lost[m][k], &none);
        }
        want[k] = spin_lost(12, h[k], 0.5);
        worst = fmax(worst, fabs(lost[0][k] / want[k] - 1));
        paper_row(p, "%g|%.5f|%.5f|%.2e|%.2e", 1e3 * h[k], want[k], lost[0][k], lost[1][k], lost[2][k]);
    }
    paper_table_end(p);
    g.log_x = g.log_y = 1;
    plot_add(&g, "closed form", h, want, n, PLOT_LINE | PLOT_REFERENCE);
    plot_add(&g, "orthogonality", h, lost[0], n, PLOT_LINE | PLOT_POINTS);
    plot_draw(p, &g, "With the rotation lagged at the start of the step, internal forces have no torque about it, and nothing is lost but rounding.");
    spin(p, "top_tilted", material[0], 1.5, h[n - 1], 0.5, 0, 1, &none, &turned);
    paper_near(p, "top, orthogonality: loss over its closed form, worst h", "backward Euler on a rigid spin, derived here", 1, 1 + worst, 0.01, "");
    paper_value(p, "top, orthogonality: loss at h over loss at h/2, finest pair", "the same closed form; 2 as h goes to 0", want[n - 2] / want[n - 1], lost[0][n - 2] / lost[0][n - 1], 0.01, "");
    paper_near(p, "top, corotated with lagged rotation: share lost at h = 10 ms", "no torque about the start of the step, derived in test_world_step.c", 0, lost[1][0], 1e-8, "");
    paper_near(p, "top, keep_spin: share lost at h = 10 ms", "free body: it stays", 0, lost[2][0], 1e-8, "");
    paper_range(p, "tilted top (1.5 and 12 rad/s): direction of the angular momentum off, finest h", "free body: it stays", 0, 0.1, turned, "degrees");
}

void paper_affine(paper *p)
{
    paper_section(p, "affine", "Affine body dynamics", "Lan et al., Affine Body Dynamics, 2022; Embedded IPC, section III-D: a body of one tetrahedron.");
    tower(p);
    chain(p);
    dominoes(p);
    top(p);
}
