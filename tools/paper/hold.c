/* Convex-contact paper, VII-C and D: a bubble gripper that lifts, shakes and places a bear; a ball in a hand of four fingers. */
#include "paper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* keys of a gripper side: close by c, lift, shake along x, put down, open */
static void shake_keys(tool_text *t, double c, double lift, double amplitude, double period, int shakes)
{
    double at = 3;
    tool_put(t, "[0, 0, 0, 0], [1.5, 0, %g, 0], [3, 0, %g, %g]", c, c, lift);
    for (int k = 0; k < 4 * shakes; k++) {
        at += period / 4;
        tool_put(t, ", [%g, %g, %g, %g]", at, k % 4 == 0 ? amplitude : k % 4 == 2 ? -amplitude : 0.0, c, lift);
    }
    tool_put(t, ", [%g, 0, %g, 0.003], [%g, 0, %g, 0.003], [%g, 0, 0, 0.003]", at + 1, c, at + 1.2, c, at + 2);
}

static void bubble(paper *p)
{
    const double degree = 180 / 3.14159265358979323846;
    double shaken = 0, base, first = NAN, drop, low, high, end = 3 + 4 * 0.5 + 2.5;
    int shakes = p->quick ? 1 : 4;
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    paper_series time = { NULL, 0, 0 }, offset = { NULL, 0, 0 }, height = { NULL, 0, 0 };
    plot g = plot_make("Bear against gripper along the shaking, and how far it has risen", "time, s", "m");
    end = 3 + shakes * 0.5 + 2.5;
    tool_put(&t, "{ \"version\": 1, \"time_step\": 0.02, \"duration\": %g,\n  \"contact\": { \"dhat\": 1e-3, \"kappa\": 1e4, \"friction_velocity\": 1e-3 },\n  \"bodies\": [\n"
                 "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [1, 1, 0.1], \"position\": [-0.17, 0, %g], \"friction\": 1 },\n", end, p->data ? -0.055 : -0.0502);
    if (p->data) tool_put(&t, "    { \"name\": \"bear\", \"kind\": \"full\", \"mesh\": \"%s/scenes/teddy.msh\", \"scale\": 0.15, \"position\": [-0.17, 0, 0], \"rotation\": [%.17g, 0, %.17g],", p->data,
                          1.5707 * degree, -1.5707 * degree);
    else tool_put(&t, "    { \"name\": \"bear\", \"kind\": \"full\", \"shape\": \"bear\", \"position\": [-0.165, 0, 0.002],");
    tool_put(&t, " \"friction\": 1,\n      \"material\": { \"young\": 1e4, \"poisson\": 0.4, \"density\": 1000, \"damping\": [0, 0.01] } }");
    for (int side = -1; side <= 1; side += 2) {
        tool_put(&t, ",\n    { \"name\": \"%s\", \"kind\": \"full\", ", side < 0 ? "left" : "right");
        if (p->data) tool_put(&t, "\"mesh\": \"%s/scenes/bubble.msh\", \"position\": [-0.185, %.17g, 0.06], \"rotation\": [%.17g, %.17g, 0],", p->data, 0.09 * side, -1.5707 * side * degree, 3.1416 * degree);
        else tool_put(&t, "\"shape\": \"bubble\", \"position\": [-0.17, %.17g, 0.062], \"rotation\": [%d, 0, 0],", 0.09 * side, -90 * side);
        tool_put(&t, " \"friction\": 1,\n      \"material\": { \"young\": 5e4, \"poisson\": 0.3, \"density\": 100, \"damping\": [0, 0.01] },\n"
                     "      \"drive\": [{ \"select\": { \"box\": [[-1, %.17g, -1], [1, %.17g, 1]] }, \"keys\": [", 0.09 * side - 0.002, 0.09 * side + 0.002);
        shake_keys(&t, -0.046 * side, 0.12, 0.03, 0.5, shakes);
        tool_put(&t, "] }] }");
    }
    tool_put(&t, " ] }\n");
    paper_heading(p, "Bubble gripper: close, lift, shake, place");
    if (paper_begin(&r, p, "shake", "bubble gripper shakes a bear", t.data, 0.04)) {
        embipc_body left = paper_body(&r, "left");
        double start = paper_state(&r, "bear").centre[2], held = 0;
        while (paper_step(&r)) {
            embipc_body_view v;
            double s = r.stats.time, centre = paper_state(&r, "bear").centre[0];
            int base_nodes = 0;
            (void)embipc_body_get_view(r.world, left, &v);
            base = 0;
            for (int i = 0; i < v.node_count; i++, base_nodes++) base += v.q[3 * i];
            base /= base_nodes;
            paper_push(&time, s);
            paper_push(&offset, centre - base);
            paper_push(&height, paper_state(&r, "bear").centre[2] - start);
            if (s > 2.9 && isnan(first)) first = centre - base;
            if (s > 2.9 && s < 3 + shakes * 0.5) shaken = fmax(shaken, fabs(centre - base - first));
            if (fabs(s - (3 + shakes * 0.5)) < 0.011) held = paper_state(&r, "bear").centre[2] - start;
        }
        paper_extent(&r, "bear", 2, &low, &high);
        drop = low - (p->data ? -0.005 : -0.0002);
        plot_add(&g, "bear against bubble, x", time.x, offset.x, time.count, PLOT_LINE);
        plot_add(&g, "bear has risen", time.x, height.x, time.count, PLOT_LINE);
        plot_draw(p, &g, "At that paper's parameters: bubbles 50 kPa, ν = 0.3, bear 10 kPa, ν = 0.4, β = 0.01 s, h = 0.02 s; shaken by ±3 cm at 2 Hz. <a href=\"shake.html\">Play it</a>.");
        paper_range(p, "bear still held after shaking: risen by", "convex-contact paper VII-C", 0.07, 0.16, held, "m");
        paper_range(p, "bear after placing: lowest point above the ground", "convex-contact paper VII-C: placed", 0, 0.004, drop, "m");
        paper_text(p, "While shaken the bear's centre swings by at most %.1f mm against the bubble: it is soft and heavy. %d unknowns, %.2f times real time; that paper: 2043, 0.37.", 1e3 * shaken,
                   r.sum.unknowns, r.sum.simulated / r.sum.cpu);
        paper_range(p, "steps cut short", "convex-contact paper VII-C: all steps converge", 0, 0, r.sum.cut, "");
        paper_end(&r);
    }
    paper_series_free(&time);
    paper_series_free(&offset);
    paper_series_free(&height);
    tool_text_free(&t);
}

/* four fingers of two links around a ball: upright ones that press from the sides, and lower ones turned under it */
static void hand(paper *p)
{
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    double R = 0.06, squeeze = 0.006, start, swing = 0, end = p->quick ? 2.6 : 4.6, held;
    int shakes = p->quick ? 2 : 6;
    paper_heading(p, "Ball in a hand of four fingers");
    tool_put(&t, "{ \"version\": 1, \"time_step\": 0.01, \"duration\": %g,\n  \"bodies\": [\n"
                 "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"position\": [0.02, 0.03, 0], \"friction\": 0.8 },\n"
                 "    { \"name\": \"ball\", \"kind\": \"full\", \"shape\": \"sphere\", \"radius\": %g, \"position\": [0, 0, 0.0605], \"friction\": 0.8,\n"
                 "      \"material\": { \"young\": 2.5e4, \"poisson\": 0.4, \"density\": 200, \"damping\": [0, 0.01] } }", end, R);
    for (int f = 0; f < 4; f++)
        for (int link = 0; link < 2; link++) {
            double a = (45 + 90 * f) * 3.14159265358979 / 180, out = link ? 0.066 : R + 0.0095, z = link ? 0.026 : 0.085;
            double c = cos(a), s = sin(a), at = 1.2;
            tool_put(&t, ",\n    { \"name\": \"finger %d link %d\", \"kind\": \"kinematic\", \"shape\": \"cylinder\", \"radius\": 0.008, \"height\": %g, \"resolution\": 12,\n"
                         "      \"position\": [%.10g, %.10g, %g], \"rotation\": [0, %g, %g], \"friction\": 0.8,\n      \"drive\": [{ \"keys\": [[0, 0, 0, 0], [0.6, %.10g, %.10g, 0], [1.2, %.10g, %.10g, 0.1]", f + 1,
                     link + 1, link ? 0.024 : 0.05, out * c, out * s, z, link ? 32.0 : 0.0, 45 + 90.0 * f, -squeeze * c, -squeeze * s, -squeeze * c, -squeeze * s);
            for (int k = 0; k < 4 * shakes; k++) {
                at += 0.1;
                tool_put(&t, ", [%g, %.10g, %.10g, 0.1]", at, -squeeze * c + (k % 4 == 0 ? 0.02 : k % 4 == 2 ? -0.02 : 0), -squeeze * s);
            }
            tool_put(&t, "] }] }");
        }
    tool_put(&t, " ] }\n");
    if (paper_begin(&r, p, "hand", "ball in a hand of four fingers", t.data, 0.02)) {
        start = paper_state(&r, "ball").centre[2];
        while (paper_step(&r))
            if (r.stats.time > 1.2) swing = fmax(swing, hypot(paper_state(&r, "ball").centre[0], paper_state(&r, "ball").centre[1]));
        held = paper_state(&r, "ball").centre[2] - start;
        paper_text(p, "Ball of 12 cm, 25 kPa, ν = 0.4; eight kinematic links close by 6 mm, lift by 10 cm and shake by ±2 cm at 2.5 Hz, h = 0.01 s; <a href=\"hand.html\">play it</a>. "
                      "%d unknowns, %.2f times real time; that paper, Allegro hand: 410 and 1.01.", r.sum.unknowns, r.sum.simulated / r.sum.cpu);
        paper_range(p, "ball still held after shaking: risen by", "convex-contact paper VII-D", 0.09, 0.11, held, "m");
        paper_range(p, "ball: farthest from the axis while shaken by 2 cm", "convex-contact paper VII-D", 0, 0.04, swing, "m");
        paper_range(p, "steps cut short", "", 0, 0, r.sum.cut, "");
        paper_end(&r);
    }
    tool_text_free(&t);
}

void paper_hold(paper *p)
{
    paper_section(p, "hold", "Grasps that are shaken", "Han, Masterjohn, Castro 2023, sections VII-C and VII-D, figures 1 and 6, Table I; validation.md 9, 10.");
    bubble(p);
    hand(p);
    paper_allegro(p);
}
