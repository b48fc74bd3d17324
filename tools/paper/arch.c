/* Masonry arches of stiff affine stones: the catenary one of IPC and of the convex-contact paper (VII-B), and semicircular
 * ones at the limits of thickness and friction that statics gives. */
#include "paper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCH_STONES 25

typedef struct arch {
    double x[ARCH_STONES][24];    /* corners: start and end face, each (out, front), (out, back), (in, back), (in, front) */
    double height, span, gaps;    /* m; gaps: between the middles of facing faces, in all; 0 for small ones */
} arch;

/* the eight corners of a stone as a closed surface */
static void stone_mesh(paper *p, const char *name, double *x)
{
    static const int tri[36] = { 0, 1, 2, 0, 2, 3, 4, 6, 5, 4, 7, 6, 0, 4, 5, 0, 5, 1, 1, 5, 6, 1, 6, 2, 2, 6, 7, 2, 7, 3, 3, 7, 4, 3, 4, 0 };
    int out[36];
    double volume = 0;
    for (int t = 0; t < 12; t++) {
        const double *a = x + 3 * tri[3 * t], *b = x + 3 * tri[3 * t + 1], *c = x + 3 * tri[3 * t + 2];
        volume += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    for (int i = 0; i < 36; i++) out[i] = volume > 0 ? tri[i] : tri[i - i % 3 + 2 - i % 3];
    paper_mesh(p, name, x, 8, out, 12, NULL, 0);
}

/* a face of the arch at (x, z) with the normal (nx, nz) across its axis, `thick` across and `wide` along y */
static void face(double *at, double x, double z, double nx, double nz, double thick, double wide)
{
    static const double corner[4][2] = { { 0.5, 0.5 }, { 0.5, -0.5 }, { -0.5, -0.5 }, { -0.5, 0.5 } };
    for (int k = 0; k < 4; k++) {
        at[3 * k] = x + corner[k][0] * thick * nx;
        at[3 * k + 1] = corner[k][1] * wide;
        at[3 * k + 2] = z + corner[k][0] * thick * nz;
    }
}

/* IPC's arch: inverted catenary 60 high and 60 wide, sides from 10 at the base to 7 at the crown; `scale` m a unit */
static double catenary_z(double x, double *slope)
{
    const double fc = 60, A = fc / (100.0 / 49 - 1), C = acosh(100.0 / 49), L = 30;
    *slope = -A * C / L * sinh(C * x / L);
    return fc - A * (cosh(C * x / L) - 1);
}
static void catenary(arch *a, double scale, double gap)
{
    enum { FINE = 20000 };
    static double length[FINE + 1];
    double at;
    length[0] = 0;
    for (int i = 1; i <= FINE; i++) {
        double s, x = -30 + 60.0 * (i - 0.5) / FINE;
        (void)catenary_z(x, &s);
        length[i] = length[i - 1] + 60.0 / FINE * sqrt(1 + s * s);
    }
    for (int k = 0; k < ARCH_STONES; k++)
        for (int end = 0; end < 2; end++) {
            double want = length[FINE] * (k + end) / ARCH_STONES, s, x, z, l, side;
            int i = 1;
            want += (end ? -0.5 : 0.5) * gap / scale;
            while (i < FINE && length[i] < want) i++;
            x = -30 + 60.0 * (i - 1 + (want - length[i - 1]) / (length[i] - length[i - 1])) / FINE;
            z = catenary_z(x, &s);
            l = sqrt(1 + s * s);
            side = 10 - 3 * fmin(1, fmax(0, z / 60));
            face(a->x[k] + 12 * end, scale * x, scale * z, -s / l, 1 / l, scale * side, scale * side);
        }
    at = INFINITY;
    for (int i = 0; i < 8; i++) at = fmin(at, fmin(a->x[0][3 * i + 2], a->x[ARCH_STONES - 1][3 * i + 2]));
    for (int k = 0; k < ARCH_STONES; k++)
        for (int i = 0; i < 8; i++) a->x[k][3 * i + 2] += gap - at;
    a->height = 60 * scale;
    a->span = 60 * scale;
    a->gaps = 0;
}

/* IPC's own stones, one after the other, each with its faces across the curve: (in, back), (in, front) at the start, then at the
 * end, then the outer four; 0 where there are none */
static int catenary_stones(arch *a, const paper *p, double scale, double gap)
{
    static const int order[8] = { 5, 4, 0, 1, 7, 6, 2, 3 };
    char path[1200];
    tool_mesh m;
    tool_error e;
    double low = INFINITY;
    memset(&m, 0, sizeof m);
    snprintf(path, sizeof path, "%s/scenes/arch25_ipc.msh", p->data ? p->data : "");
    if (!p->data || !mesh_read(&m, path, &e) || m.node_count != 8 * ARCH_STONES) { mesh_free(&m); return 0; }
    for (int k = 0; k < ARCH_STONES; k++)
        for (int i = 0; i < 8; i++) {
            const double *x = m.x + 3 * (8 * k + order[i]);
            a->x[k][3 * i] = scale * x[0];
            a->x[k][3 * i + 1] = scale * x[2];
            a->x[k][3 * i + 2] = scale * x[1];
            low = fmin(low, scale * x[1]);
        }
    for (int k = 0; k < ARCH_STONES; k++)
        for (int i = 0; i < 8; i++) a->x[k][3 * i + 2] += gap - low;
    a->height = a->span = 60 * scale;
    a->gaps = 0;
    for (int k = 0; k + 1 < ARCH_STONES; k++) {
        double d[3] = { 0, 0, 0 };
        for (int i = 0; i < 12; i++) d[i % 3] += (a->x[k + 1][i] - a->x[k][12 + i]) / 4;
        a->gaps += tool_length(d);
    }
    mesh_free(&m);
    return 1;
}

/* semicircle of mean radius 1, equal stones, radial joints */
static void semicircle(arch *a, double thick, double gap)
{
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < ARCH_STONES; k++)
        for (int end = 0; end < 2; end++) {
            double angle = pi - pi * (k + end) / ARCH_STONES, back = end ? gap / 2 : -gap / 2;   /* along the circle, into the stone */
            face(a->x[k] + 12 * end, cos(angle) - back * sin(angle), sin(angle) + back * cos(angle), cos(angle), sin(angle), thick, 0.3);
        }
    for (int k = 0; k < ARCH_STONES; k++)
        for (int i = 0; i < 8; i++) a->x[k][3 * i + 2] += gap;
    a->height = 1;
    a->span = 2;
    a->gaps = 0;
}

typedef struct arch_result { double crown, speed, rate, fallen, contacts, most; paper_series t, drop; int ok, cut; double solves; } arch_result;

/* crown: what the key stone has sunk at the end, m; fallen: of the highest stone, as a share of the height */
static arch_result arch_run(paper *p, arch *a, const char *name, const char *title, double mu, double h, double epsv, double duration, double frame)
{
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    arch_result o;
    double start = 0, sum = 0;
    char mesh[64], stone[16];
    memset(&o, 0, sizeof o);
    tool_put(&t, "{ \"version\": 1, \"time_step\": %g, \"duration\": %g, \"contact\": { \"friction_velocity\": %g },\n  \"bodies\": [\n"
                 "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [%g, %g, 0.2], \"position\": [0.013, 0.017, -0.1], \"friction\": %g }", h, duration, epsv,
             3 * a->span, 3 * a->span, mu);
    for (int k = 0; k < ARCH_STONES; k++) {
        snprintf(mesh, sizeof mesh, "%s_%02d.obj", name, k + 1);
        stone_mesh(p, mesh, a->x[k]);
        tool_put(&t, ",\n    { \"name\": \"stone %d\", \"kind\": \"affine\", \"mesh\": \"%s\", \"friction\": %g,\n"
                     "      \"material\": { \"young\": 2e10, \"poisson\": 0.3, \"density\": 2300 } }", k + 1, mesh, mu);
    }
    tool_put(&t, " ] }\n");
    if (paper_begin(&r, p, name, title, t.data, frame)) {
        start = paper_state(&r, "stone 13").centre[2];
        while (paper_step(&r)) {
            double z = paper_state(&r, "stone 13").centre[2];
            paper_push(&o.t, r.stats.time);
            paper_push(&o.drop, start - z);
            sum += r.stats.contacts;
            o.most = fmax(o.most, r.stats.contacts);
            if (start - z > 0.5 * a->height && r.stats.time > 2) break;   /* lies on the ground */
        }
        o.crown = o.drop.count ? o.drop.x[o.drop.count - 1] : NAN;
        o.fallen = o.crown / a->height;
        for (int k = 0; k < ARCH_STONES; k++) {
            embipc_body_state s;
            snprintf(stone, sizeof stone, "stone %d", k + 1);
            s = paper_state(&r, stone);
            o.speed = fmax(o.speed, tool_length(s.velocity));
        }
        o.rate = r.sum.simulated / r.sum.cpu;
        o.contacts = r.sum.steps ? sum / r.sum.steps : 0;
        o.cut = r.sum.cut;
        o.solves = r.sum.steps ? (double)r.sum.solves / r.sum.steps : 0;
        o.ok = !r.failed;
        paper_end(&r);
    }
    tool_text_free(&t);
    return o;
}

static void arch_free(arch_result *o)
{
    paper_series_free(&o->t);
    paper_series_free(&o->drop);
}

#define ARCH_STEP 0.04      /* s */
#define ARCH_CREEP 1e-5     /* m/s: epsv */
#define ARCH_GAP 4e-4       /* m, between our stones */

typedef struct arch_case { double mu; const char *label, *rate; int stands; } arch_case;   /* rate: of the convex-contact paper */

/* runs, table rows and plot of one arch at some coefficients of friction */
static void arch_cases(paper *p, arch *a, const char *prefix, const char *what, const arch_case *c, int count, double duration, arch_result *r, plot *g)
{
    for (int k = 0; k < count; k++) {
        char name[32], title[96];
        double time = c[k].stands ? duration : fmin(duration, 20);
        snprintf(name, sizeof name, "%s_%g", prefix, c[k].mu);
        snprintf(title, sizeof title, "%s, %s", what, c[k].label);
        r[k] = arch_run(p, a, name, title, c[k].mu, ARCH_STEP, ARCH_CREEP, time, fmax(2 * ARCH_STEP, time / 150));
        paper_row(p, "< <a href=\"%s.html\">%s</a>|%g|%.0f|%.2f|%.1e|%.0f (%.0f)|%.2f|%d|%.1f|%s", name, what, c[k].mu, r[k].t.count * ARCH_STEP, 1e3 * r[k].crown, r[k].speed, r[k].contacts, r[k].most,
                  r[k].solves, r[k].cut, r[k].rate, c[k].rate);
        if (g) plot_add(g, title, r[k].t.x, r[k].drop.x, r[k].t.count, PLOT_LINE);
    }
}

static void arch_stands(paper *p, const char *what, const char *source, double duration, const arch *a, const arch_result *r)
{
    char name[160];
    snprintf(name, sizeof name, "%s stands for %g s: crown has sunk", what, duration);
    paper_range(p, name, source, -INFINITY, a->gaps + 0.01 * a->span, r->ok ? r->crown : NAN, "m");
    snprintf(name, sizeof name, "%s: fastest stone at the end", what);
    paper_range(p, name, "what sticks creeps slower than ε_v, a stone in a row of 25 by less than 25 of it", 0, ARCH_STONES * ARCH_CREEP, r->speed, "m/s");
}

static void arch_catenary(paper *p)
{
    static const arch_case own[4] = { { 1, "μ = 1", "6.29", 1 }, { 0.5, "μ = 0.5", "", 1 }, { 0.2, "μ = 0.2", "7.26", 1 }, { 0.05, "μ = 0.05", "", 0 } };
    static const arch_case limit[4] = { { 0.17, "μ = 0.17", "", 0 }, { 0.14, "μ = 0.14", "", 0 }, { 0.12, "μ = 0.12", "", 0 }, { 0.1, "μ = 0.1", "", 0 } };
    double duration = p->quick ? 10 : 600;
    arch a, b;
    arch_result r[4], s[4], l[4];
    int stones = !p->quick && catenary_stones(&b, p, 0.1, ARCH_GAP);
    plot g = plot_make("What the crown of the catenary arch has sunk", "time, s", "m");
    catenary(&a, 0.1, ARCH_GAP);
    paper_heading(p, "Catenary arch");
    paper_text(p, "25 stones after IPC's construction (inverted catenary 6 m high and wide, sides 1 m at the base and 0.7 m at the crown), E = 20 GPa, ν = 0.3, 2300 kg/m³, "
                  "h = 0.04 s, gaps of 0.4 mm, the end faces square to the curve: it stands on two edges. Statics of that arch: equilibrium on inner edges needs μ ≥ 0.169, with ideal joints and a "
                  "flat base 0.103 to 0.108. That paper's arch has 75 nodes; its number of stones is not told. What sticks creeps, slower than ε<sub>v</sub>: with %g m/s by less than 6 mm in 600 s at each joint "
                  "(with 10<sup>−4</sup> m/s, 60 mm, stones of 0.7 m creep out of their arch, and at μ = 0.5 it falls after 350 s).", ARCH_CREEP);
    paper_table(p, NULL, "< arch|μ|simulated, s|crown has sunk, mm|fastest stone at the end, m/s|contacts, mean (most)|solves a step|cut short|x real time|that paper's rate");
    arch_cases(p, &a, "arch", "catenary arch", own, 4, duration, r, &g);
    if (!p->quick) arch_cases(p, &a, "arch", "catenary arch", limit, 4, duration, l, NULL);
    if (stones) arch_cases(p, &b, "arch_ipc", "IPC's stones", own, 4, duration, s, &g);
    paper_table_end(p);
    g.has_range = 1;
    g.y_low = 0;
    g.y_high = 0.5;
    plot_draw(p, &g, "Cut at 0.5 m: what falls leaves the plot.%s", stones ? " IPC's own stones have wide gaps and faces of unlike sizes, and sink by what closes the gaps." : "");
    if (!p->data) paper_text(p, "Skipped: IPC's own 25 stones, whose mesh comes from outside (<code>make paper DATA=DIR</code>).");
    arch_stands(p, "μ = 1", "convex-contact paper VII-B", duration, &a, &r[0]);
    arch_stands(p, "μ = 0.5", "statics: stands from μ = 0.17 on", duration, &a, &r[1]);
    arch_stands(p, "μ = 0.2", "statics: stands from μ = 0.17 on", duration, &a, &r[2]);
    paper_range(p, "μ = 0.05 falls: share of its height that the crown has sunk", "statics: no equilibrium below μ = 0.10", 0.3, INFINITY, r[3].fallen, "");
    if (stones) {
        arch_stands(p, "IPC's stones, μ = 1", "convex-contact paper VII-B", duration, &b, &s[0]);
        arch_stands(p, "IPC's stones, μ = 0.5", "IPC 2020, masonry arch", duration, &b, &s[1]);
        paper_range(p, "IPC's stones, μ = 0.05 fall: share of its height that the crown has sunk", "statics: no equilibrium below μ = 0.10", 0.3, INFINITY, s[3].fallen, "");
    }
    if (!p->quick) {
        paper_range(p, "μ = 0.17 stands: share of its height that the crown has sunk", "statics: on inner edges from 0.169 on", -INFINITY, 0.01, l[0].fallen, "");
        paper_range(p, "μ = 0.1 falls: share of its height that the crown has sunk", "statics: no equilibrium below μ = 0.103", 0.3, INFINITY, l[3].fallen, "");
        paper_range(p, "μ = 0.2 falls in the convex-contact paper: share of its height that the crown has sunk", "convex-contact paper VII-B", 0.3, INFINITY, r[2].fallen, "");
        paper_why(p, PAPER_MODEL, "Statics of these stones has an equilibrium at 0.2, for every way in which they may stand: on a flat base from 0.103 to 0.108 on, on their inner edges alone from 0.169 on. "
                                  "Here it %s at 0.17, %s at 0.14, %s at 0.12 and %s at 0.1: the limit lies where statics has it. That paper's stones, of 75 nodes in all, are others and not told, and so is their limit.",
                  l[0].fallen > 0.3 ? "falls" : "stands", l[1].fallen > 0.3 ? "falls" : "stands", l[2].fallen > 0.3 ? "falls" : "stands", l[3].fallen > 0.3 ? "falls" : "stands");
        for (int k = 0; k < 4; k++) arch_free(&l[k]);
    }
    for (int k = 0; k < 4; k++) arch_free(&r[k]);
    for (int k = 0; k < 4 && stones; k++) arch_free(&s[k]);
}

static void arch_semicircle(paper *p)
{
    static const struct { double thick, mu; int stands; const char *why; } c[4] = {
        { 0.15, 0.6, 1, "needs μ ≥ 0.350 and t/R ≥ 0.107" }, { 0.15, 0.25, 0, "needs μ ≥ 0.350" }, { 0.14, 1, 1, "needs t/R ≥ 0.107" }, { 0.09, 1, 0, "needs t/R ≥ 0.107" } };
    double duration = p->quick ? 5 : 20;
    arch_result r[4];
    plot g = plot_make("What the crown of the semicircular arches has sunk", "time, s", "m");
    paper_heading(p, "Semicircular arch: limits of Couplet and Heyman");
    paper_text(p, "25 equal stones on a mean radius of 1 m with radial joints, t/R as told, gaps of 0.1 mm, h = 0.02 s. A linear program over the corner forces of all joints "
                  "gives the least thickness (t/R = 0.1070 for 25 stones) and the least friction (0.350 at t/R = 0.15).");
    paper_table(p, NULL, "t/R|μ|< statics|< expected|< found|crown has sunk, mm|solves a step|cut short|x real time");
    for (int k = 0; k < 4; k++) {
        arch a;
        char name[32], title[96];
        int stands;
        semicircle(&a, c[k].thick, 1e-4);
        snprintf(name, sizeof name, "semicircle_%d", k + 1);
        snprintf(title, sizeof title, "semicircular arch, t/R = %g, μ = %g", c[k].thick, c[k].mu);
        r[k] = arch_run(p, &a, name, title, c[k].mu, 0.02, 1e-4, c[k].stands ? duration : fmin(duration, 6), 0.06);
        stands = r[k].ok && r[k].crown < 0.02 && r[k].speed < 1e-2;
        snprintf(title, sizeof title, "t/R = %g, μ = %g", c[k].thick, c[k].mu);
        plot_add(&g, title, r[k].t.x, r[k].drop.x, r[k].t.count, PLOT_LINE);
        paper_row(p, "<a href=\"%s.html\">%g</a>|%g|< %s|< %s|< %s|%.2f|%.2f|%d|%.1f", name, c[k].thick, c[k].mu, c[k].why, c[k].stands ? "stands" : "falls",
                  stands ? "stands" : r[k].fallen > 0.3 ? "falls" : "neither", 1e3 * r[k].crown, r[k].solves, r[k].cut, r[k].rate);
    }
    paper_table_end(p);
    g.has_range = 1;
    g.y_low = 0;
    g.y_high = 0.2;
    plot_draw(p, &g, "Cut at 0.2 m.");
    for (int k = 0; k < 4; k++) {
        char name[160];
        snprintf(name, sizeof name, "semicircular arch, t/R = %g, μ = %g: %s", c[k].thick, c[k].mu, c[k].stands ? "crown has sunk by" : "share of its height the crown has sunk");
        if (c[k].stands) paper_range(p, name, "Couplet, Heyman", -INFINITY, 0.02, r[k].crown, "m");
        else paper_range(p, name, "Couplet, Heyman", 0.3, INFINITY, r[k].fallen, "");
        arch_free(&r[k]);
    }
}

void paper_arch(paper *p)
{
    paper_section(p, "arch", "Masonry arches", "Han, Masterjohn, Castro 2023, section VII-B, figure 5 and Table I; IPC 2020.");
    arch_catenary(p);
    arch_semicircle(p);
}
