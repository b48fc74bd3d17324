/* Convex-contact paper, VII-C and D: a bubble gripper that lifts, shakes and places a bear; a ball in a hand of four fingers. */
#include "paper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAKE_SQUEEZE 0.054     /* m, by which each bubble closes, and */
#define SHAKE_LOOSE 0.046       /* in one run that is too loose */
#define SHAKE_LIFT 0.12         /* m */
#define SHAKE_RAISED 3.0        /* s: lifted */
#define SHAKE_PERIOD 0.5        /* s */
#define SHAKE_REST 0.5          /* s, before the shaking and after it */

/* smooth from 0 to 1 and at rest at both ends: the least jerk */
static double smooth(double s) { return s * s * s * (10 - s * (15 - 6 * s)); }

/* Keys of a gripper side: close by c, lift, shake along x, put down, open. Every move begins and ends at rest: keys on straight
 * lines with corners are jolts of 2 amplitude/quarter/h, which grow as h shrinks. */
static void shake_keys(tool_text *t, double c, double amplitude, int shakes)
{
    double at = SHAKE_RAISED + SHAKE_REST, time = shakes * SHAKE_PERIOD;
    int n = 25 * shakes;
    tool_put(t, "[0, 0, 0, 0]");
    for (int k = 1; k <= 10; k++) tool_put(t, ", [%g, 0, %.10g, 0]", 0.15 * k, c * smooth(k / 10.0));
    for (int k = 1; k <= 10; k++) tool_put(t, ", [%g, 0, %.10g, %.10g]", 1.5 + 0.15 * k, c, SHAKE_LIFT * smooth(k / 10.0));
    for (int k = 0; k <= n; k++) {
        double s = time * k / n, swell = smooth(fmin(1, fmin(s, time - s) / SHAKE_PERIOD));
        tool_put(t, ", [%.10g, %.10g, %.10g, %g]", at + s, amplitude * swell * sin(2 * 3.14159265358979 * s / SHAKE_PERIOD), c, SHAKE_LIFT);
    }
    at += time + SHAKE_REST;
    tool_put(t, ", [%g, 0, %.10g, %g]", at, c, SHAKE_LIFT);
    for (int k = 1; k <= 10; k++) tool_put(t, ", [%g, 0, %.10g, %.10g]", at + 0.1 * k, c, SHAKE_LIFT + (0.003 - SHAKE_LIFT) * smooth(k / 10.0));
    tool_put(t, ", [%g, 0, %.10g, 0.003], [%g, 0, 0, 0.003]", at + 1.2, c, at + 2);
}

static void shake_text(tool_text *t, const paper *p, double h, double epsv, double squeeze, double amplitude, int shakes, double end)
{
    const double degree = 180 / 3.14159265358979323846;
    tool_put(t, "{ \"version\": 1, \"time_step\": %g, \"duration\": %g,\n  \"contact\": { \"dhat\": 1e-3, \"kappa\": 1e4, \"friction_velocity\": %g },\n  \"bodies\": [\n"
                "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [1, 1, 0.1], \"position\": [-0.17, 0, %g], \"friction\": 1 },\n", h, end, epsv, p->data ? -0.055 : -0.0502);
    if (p->data) tool_put(t, "    { \"name\": \"bear\", \"kind\": \"full\", \"mesh\": \"%s/scenes/teddy.msh\", \"scale\": 0.15, \"position\": [-0.17, 0, 0], \"rotation\": [%.17g, 0, %.17g],", p->data,
                          1.5707 * degree, -1.5707 * degree);
    else tool_put(t, "    { \"name\": \"bear\", \"kind\": \"full\", \"shape\": \"bear\", \"position\": [-0.165, 0, 0.002],");
    tool_put(t, " \"friction\": 1,\n      \"material\": { \"young\": 1e4, \"poisson\": 0.4, \"density\": 1000, \"damping\": [0, 0.01] } }");
    for (int side = -1; side <= 1; side += 2) {
        tool_put(t, ",\n    { \"name\": \"%s\", \"kind\": \"full\", ", side < 0 ? "left" : "right");
        if (p->data) tool_put(t, "\"mesh\": \"%s/scenes/bubble.msh\", \"position\": [-0.185, %.17g, 0.06], \"rotation\": [%.17g, %.17g, 0],", p->data, 0.09 * side, -1.5707 * side * degree, 3.1416 * degree);
        else tool_put(t, "\"shape\": \"bubble\", \"position\": [-0.17, %.17g, 0.062], \"rotation\": [%d, 0, 0],", 0.09 * side, -90 * side);
        tool_put(t, " \"friction\": 1,\n      \"material\": { \"young\": 5e4, \"poisson\": 0.3, \"density\": 100, \"damping\": [0, 0.01] },\n"
                    "      \"drive\": [{ \"select\": { \"box\": [[-1, %.17g, -1], [1, %.17g, 1]] }, \"keys\": [", 0.09 * side - 0.002, 0.09 * side + 0.002);
        shake_keys(t, -squeeze * side, amplitude, shakes);
        tool_put(t, "] }] }");
    }
    tool_put(t, " ] }\n");
}

/* The contacts of two bodies: the sum of their normal forces, N, and the radius of a round patch with the pressure of Hertz
 * that has the same spread, m: the mean of r^2 by force is 2/5 a^2 there. */
static double patch(const paper_run *r, const char *one, const char *two, double *radius)
{
    embipc_body a = paper_body(r, one), b = paper_body(r, two);
    int n = embipc_world_contacts(r->world, NULL, 0);
    embipc_contact *c = (embipc_contact *)tool_alloc((size_t)n + 1, sizeof *c);
    double sum = 0, mean[3] = { 0, 0, 0 }, square = 0;
    (void)embipc_world_contacts(r->world, c, n);
    for (int i = 0; i < n; i++) {
        if (!((c[i].a.index1 == a.index1 && c[i].b.index1 == b.index1) || (c[i].a.index1 == b.index1 && c[i].b.index1 == a.index1))) continue;
        sum += c[i].force;
        for (int k = 0; k < 3; k++) {
            mean[k] += c[i].force * c[i].point_a[k];
            square += c[i].force * c[i].point_a[k] * c[i].point_a[k];
        }
    }
    free(c);
    for (int k = 0; k < 3; k++) square -= sum > 0 ? mean[k] * mean[k] / sum : 0;
    *radius = sum > 0 ? sqrt(2.5 * fmax(0, square) / sum) : 0;
    return sum;
}

/* How far the bear sinks between its bubbles, from the first moment of rest to the last, and what is expected of that, m. */
typedef struct sinking { double sunk, least, creep, slip, load, normal, radius, half[2]; } sinking;   /* half: of sunk, before and after the middle of the shaking */

/* Slip of a patch that sticks at its centre and slides at its rim (Mindlin; Johnson 1985, eq. 7.42, less its part without
 * slip), of a sphere on a half space pressed together by N, at the load Q = x mu N. s: (2 - nu)/G of both. */
static double rim_slip(double x, double mu, double N, double a, double s)
{
    return 3 * mu * N / (16 * a) * s * (1 - pow(1 - fmin(1, x), 2.0 / 3) - 2.0 / 3 * fmin(1, x));
}

typedef struct shake_run {
    sinking s;
    double risen, swing, drop, rate;   /* m; risen: at the last moment of rest */
    int unknowns, cut;
} shake_run;

static shake_run shake(paper *p, const char *name, const char *title, double h, double epsv, double squeeze, double amplitude, int shakes, int place, plot *g)
{
    double begin = SHAKE_RAISED + SHAKE_REST, middle = begin + shakes * SHAKE_PERIOD / 2, last = begin + shakes * SHAKE_PERIOD + SHAKE_REST;
    double shear = (2 - 0.4) / (1e4 / 2.8) + (2 - 0.3) / (5e4 / 2.6), high, start, top = NAN, first = NAN, at_middle = NAN, low;
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    paper_series time = { NULL, 0, 0 }, offset = { NULL, 0, 0 }, height = { NULL, 0, 0 };
    shake_run o;
    int n = 0;
    memset(&o, 0, sizeof o);
    shake_text(&t, p, h, epsv, squeeze, amplitude, shakes, place ? last + 2.4 : last);
    if (paper_begin(&r, p, name, title, t.data, g ? 0.04 : 0)) {
        embipc_body_view v;
        (void)embipc_body_get_view(r.world, paper_body(&r, "left"), &v);
        start = paper_state(&r, "bear").centre[2];
        while (paper_step(&r)) {
            double s = r.stats.time, base = 0, f[3], rub[3], radius, normal;
            embipc_body_state bear = paper_state(&r, "bear");
            for (int i = 0; i < v.node_count; i++) base += v.q[3 * i] / v.node_count;
            paper_push(&time, s);
            paper_push(&offset, bear.centre[0] - base);
            paper_push(&height, bear.centre[2] - start);
            if (s < begin - h / 2 || s > last + h / 2) continue;
            if (isnan(top)) { top = bear.centre[2]; first = bear.centre[0] - base; }
            if (s > middle - h / 2 && isnan(at_middle)) at_middle = bear.centre[2];
            o.s.sunk = top - bear.centre[2];
            o.risen = bear.centre[2] - start;
            o.swing = fmax(o.swing, fabs(bear.centre[0] - base - first));
            paper_force(&r, "bear", "left", f, rub);
            normal = patch(&r, "bear", "left", &radius);
            if (normal > 0) {
                double x = fmin(1, tool_length(rub) / normal);   /* mu = 1 */
                o.s.load = fmax(o.s.load, x);
                o.s.least += h * epsv * (1 - sqrt(1 - x)) * rub[2] / tool_length(rub);
            } else o.s.load = 1;
            o.s.normal += normal;
            o.s.radius += radius;
            n++;
        }
        o.s.normal /= n;
        o.s.radius /= n;
        o.s.creep = epsv * (last - begin);
        o.s.slip = amplitude > 0 ? rim_slip(o.s.load, 1, o.s.normal, o.s.radius, shear) : 0;
        o.s.half[0] = top - at_middle;
        o.s.half[1] = o.s.sunk - o.s.half[0];
        paper_extent(&r, "bear", 2, &low, &high);
        o.drop = low - (p->data ? -0.005 : -0.0002);
        o.rate = r.sum.simulated / r.sum.cpu;
        o.unknowns = r.sum.unknowns;
        o.cut = r.sum.cut;
        if (g) {
            plot_add(g, "bear against bubble, x", time.x, offset.x, time.count, PLOT_LINE);
            plot_add(g, "bear has risen", time.x, height.x, time.count, PLOT_LINE);
        }
        paper_end(&r);
    }
    paper_series_free(&time);
    paper_series_free(&offset);
    paper_series_free(&height);
    tool_text_free(&t);
    return o;
}

static void shake_verdict(paper *p, const char *what, const shake_run *o)
{
    char name[160];
    snprintf(name, sizeof name, "bear sinks between the bubbles, %s", what);
    paper_range(p, name, "derived: creep of what sticks, and slip of the patch's rim", o->s.least, o->s.creep + o->s.slip, o->s.sunk, "m");
}

static void shake_row(paper *p, const char *what, const shake_run *o)
{
    if (isnan(o->s.least + o->s.slip)) { paper_row(p, "< %s|–|–|–|–|–|–|–|–", what); return; }
    paper_row(p, "< %s|%.2f|%.1f|%.0f|%.2f|%.2f|%.2f|%.2f|%.2f + %.2f", what, o->s.load, o->s.normal, 1e3 * o->s.radius, 1e3 * o->s.least, 1e3 * o->s.creep, 1e3 * o->s.slip, 1e3 * o->s.sunk, 1e3 * o->s.half[0],
              1e3 * o->s.half[1]);
}

static void bubble(paper *p)
{
    int shakes = p->quick ? 1 : 4;
    shake_run a, slow, still, fine, loose;
    plot g = plot_make("Bear against gripper along the shaking, and how far it has risen", "time, s", "m");
    paper_heading(p, "Bubble gripper: close, lift, shake, place");
    a = shake(p, "shake", "bubble gripper shakes a bear", 0.02, 1e-3, SHAKE_SQUEEZE, 0.03, shakes, 1, &g);
    plot_draw(p, &g, "At that paper's parameters: bubbles 50 kPa, ν = 0.3, bear 10 kPa, ν = 0.4, β = 0.01 s, h = 0.02 s; shaken by ±3 cm at 2 Hz. How far it closes is not told there: %g mm here. <a href=\"shake.html\">Play it</a>.", 1e3 * SHAKE_SQUEEZE);
    if (!p->quick) {
        slow = shake(p, "shake_slow", "bubble gripper shakes a bear, ε_v = 0.1 mm/s", 0.02, 1e-4, SHAKE_SQUEEZE, 0.03, shakes, 0, NULL);
        still = shake(p, "shake_still", "bubble gripper holds a bear still", 0.02, 1e-3, SHAKE_SQUEEZE, 0, shakes, 0, NULL);
        fine = shake(p, "shake_fine", "bubble gripper shakes a bear, h = 5 ms", 0.005, 1e-3, SHAKE_SQUEEZE, 0.03, shakes, 0, NULL);
        if (p->data) loose = shake(p, "shake_loose", "bubble gripper too loose for a bear", 0.02, 1e-3, SHAKE_LOOSE, 0.03, shakes, 0, NULL);
    }
    paper_text(p, "How far may it sink? What sticks creeps slower than ε<sub>v</sub>: by at most ε<sub>v</sub>t, and by at least the integral of ε<sub>v</sub>(1 − √(1 − x)), where x is friction over μ times the sum "
                  "of normal forces of one bubble: f<sub>1</sub> is concave, so pairs that do not slide alike slide faster in the mean. Shaking adds slip that does not depend on ε<sub>v</sub>: the centre of a "
                  "patch sticks and its rim slides, by Mindlin 3μN/(16a)·((2 − ν₁)/G₁ + (2 − ν₂)/G₂)·(1 − (1 − x)<sup>2/3</sup> − 2x/3) at the largest x, once, for later shakes of the same size find the rim where "
                  "it then is.");
    paper_table(p, "Sinking from rest to rest, mm", "< run|largest x|N, N|a, mm|creep at least|creep at most|slip of the rim|sunk|before and after the middle");
    shake_row(p, "shaken, h = 0.02 s", &a);
    if (!p->quick) {
        shake_row(p, "the same, ε<sub>v</sub> = 0.1 mm/s", &slow);
        shake_row(p, "held still", &still);
        shake_row(p, "shaken, h = 0.005 s", &fine);
        if (p->data) shake_row(p, "closed by 8 mm less: too loose, lost in the lift", &loose);
    }
    paper_table_end(p);
    shake_verdict(p, "shaken, h = 0.02 s", &a);
    if (!p->quick) {
        double creep = (a.s.sunk - slow.s.sunk) / 0.9;
        shake_verdict(p, "shaken, ε_v = 0.1 mm/s", &slow);
        shake_verdict(p, "held still", &still);
        shake_verdict(p, "shaken, h = 0.005 s", &fine);
        paper_range(p, "bear sinks between the bubbles, what ε_v changes in it", "derived: creep is proportional to ε_v", a.s.least, a.s.creep, creep, "m");
        paper_range(p, "slip at ε_v = 0.1 mm/s: second half of the shaking less the first", "derived: shakes of one size shake down", -INFINITY, 0, slow.s.half[1] - slow.s.half[0], "m");
        if (p->data) paper_range(p, "closed by 8 mm less it is lost: the bear has risen in the end by", "Coulomb: x comes to 1", -INFINITY, SHAKE_LIFT / 2, loose.risen, "m");
    }
    paper_range(p, "friction over μ times the normal forces of one bubble, largest while shaken", "Coulomb: 1 is the end of any hold", 0, 0.99, a.s.load, "");
    paper_range(p, "bear after placing: lowest point above the ground", "convex-contact paper VII-C: placed", 0, 0.004, a.drop, "m");
    paper_text(p, "While shaken the bear's centre swings by at most %.1f mm against the bubble: it is soft and heavy. %d unknowns, %.2f times real time; that paper: 2043, 0.37.", 1e3 * a.swing, a.unknowns, a.rate);
    paper_range(p, "steps cut short", "convex-contact paper VII-C: all steps converge", 0, 0, a.cut, "");
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
    paper_section(p, "hold", "Grasps that are shaken", "Han, Masterjohn, Castro 2023, sections VII-C and VII-D, figures 1 and 6, Table I.");
    bubble(p);
    hand(p);
    paper_allegro(p);
}
