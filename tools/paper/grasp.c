/* Embedded IPC, section IV-A: a bubble gripper squeezes, lifts and holds a bear. Figures 4 to 8. */
#include "paper.h"
#include "../../tests/grasp.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRASP_FRAME 0.02
#define GRASP_FRAMES 200

enum { FULL, MEDIUM, LOW, MODELS };
static const char *const model_name[MODELS] = { "full", "medium cage", "low cage" };

enum { DEFAULT, PLAIN, AVERAGED, STRAINS };   /* the bear's volume strain: averaged over nodes where that is the default, never, always */
static const char *const strain_name[STRAINS] = { "default", "plain", "averaged" };

/* puts `more` behind the first `after` of a text */
static void put_behind(tool_text *t, const char *after, const char *more)
{
    tool_text out = { NULL, 0, 0 };
    const char *at = strstr(t->data, after);
    if (!at) return;
    tool_put(&out, "%.*s%s%s", (int)(at - t->data) + (int)strlen(after), t->data, more, at + strlen(after));
    tool_text_free(t);
    *t = out;
}

static int grasp_start(paper_run *r, paper *p, int model, int strain, double h, double beta, double ground, double tolerance, const char *kind, double frame)
{
    static const char *const mesh[MODELS] = { NULL, "teddy_embed_medium.msh", "teddy_embed_low.msh" }, *const nodes[MODELS] = { NULL, "170", "34" };
    grasp g;
    tool_text t = { NULL, 0, 0 };
    char name[64], title[160], directory[1200] = "";
    int ok;
    memset(&g, 0, sizeof g);
    g.cage = p->data ? mesh[model] : nodes[model];
    g.ground = ground;
    g.beta = beta;
    g.tolerance = tolerance;
    if (p->data) {
        snprintf(directory, sizeof directory, "%s/scenes/", p->data);
        grasp_text(&t, &g, h, directory);
    } else grasp_text_own(&t, &g, h);
    if (strain != DEFAULT) put_behind(&t, "\"young\": 5e4,", strain == AVERAGED ? " \"averaged\": true," : " \"averaged\": false,");   /* the bear's */
    snprintf(name, sizeof name, "grasp_%s_%d_%g", kind, model, 1e3 * h);
    snprintf(title, sizeof title, "grasp, %s, %s, h = %g ms", model_name[model], kind, 1e3 * h);
    ok = paper_begin(r, p, name, title, t.data, frame);
    tool_text_free(&t);
    return ok;
}

/* ---- Forces --------------------------------------------------------------------------------- */

/* What the left bubble feels, or the bear of it: fy, fz over time, and the means of the last 0.5 s, N. rub: friction in z;
 * push: the z part of the normal forces, by the list of contacts; both: z force of both bubbles over the weight. */
typedef struct history {
    paper_series t, fy, fz, friction, contacts;
    double half, squeeze, lift, rub, push, both, rate;
    int unknowns, ok;
} history;

static double contacts_push(const paper_run *r, const char *bear, const char *from)
{
    embipc_body a = paper_body(r, bear), b = paper_body(r, from);
    int n = embipc_world_contacts(r->world, NULL, 0);
    embipc_contact *c = (embipc_contact *)tool_alloc((size_t)n + 1, sizeof *c);
    double sum = 0;
    (void)embipc_world_contacts(r->world, c, n);
    for (int i = 0; i < n; i++) {
        int sign = c[i].a.index1 == a.index1 && c[i].b.index1 == b.index1 ? 1 : c[i].a.index1 == b.index1 && c[i].b.index1 == a.index1 ? -1 : 0;
        sum += sign * c[i].force * c[i].normal[2];
    }
    free(c);
    return sum;
}

static history forces_of(paper *p, int model, int strain, double h, double frame)
{
    history r;
    paper_run v;
    double f[3], friction[3], right[3];
    int last = 0;
    memset(&r, 0, sizeof r);
    if (!grasp_start(&v, p, model, strain, h, 0, -0.005, 0, strain_name[strain], frame)) return r;
    r.half = paper_state(&v, "bear").mass * 9.81 / 2;
    while (paper_step(&v)) {
        paper_force(&v, "left", "bear", f, friction);
        paper_push(&r.t, v.stats.time);
        paper_push(&r.fy, -f[1]);
        paper_push(&r.fz, -f[2]);
        paper_push(&r.friction, -friction[2]);
        paper_push(&r.contacts, v.stats.contacts);
        if (v.stats.time < 3.5 + h / 2) continue;
        paper_force(&v, "right", "bear", right, NULL);
        r.push += contacts_push(&v, "bear", "left");
        r.both -= (f[2] + right[2]) / (2 * r.half);
        last++;
    }
    if (last > 0) {
        int n = r.t.count;
        r.squeeze = paper_mean(&r.fy, n - last, n);
        r.lift = paper_mean(&r.fz, n - last, n);
        r.rub = paper_mean(&r.friction, n - last, n);
        r.push /= last;
        r.both /= last;
    }
    r.rate = v.sum.simulated / v.sum.cpu;
    r.unknowns = v.sum.unknowns;
    r.ok = !v.failed;
    paper_end(&v);
    return r;
}

static void history_free(history *r)
{
    paper_series_free(&r->t);
    paper_series_free(&r->fy);
    paper_series_free(&r->fz);
    paper_series_free(&r->friction);
    paper_series_free(&r->contacts);
}

/* the same bits in every step? */
static int history_same(const history *a, const history *b)
{
    return a->fy.count == b->fy.count && memcmp(a->fy.x, b->fy.x, (size_t)a->fy.count * sizeof *a->fy.x) == 0;
}

/* Cages of linear tets, as that paper has them and DATA, lock: the coarser, the stiffer. The cells of cages made here bend,
 * and all three squeeze alike. */
static void grows(paper *p, const char *name, const history *full, const history *medium, const history *low)
{
    double off = fmax(fabs(medium->squeeze / full->squeeze - 1), fabs(low->squeeze / full->squeeze - 1));
    int ok = full->ok && medium->ok && low->ok;
    paper_holds(p, name, "Embedded IPC fig. 4", ok && full->squeeze < medium->squeeze && medium->squeeze < low->squeeze, "increasing", "%.3f, %.3f, %.3f N",
                full->squeeze, medium->squeeze, low->squeeze);
    if (p->data) return;
    paper_why(p, PAPER_MODEL, "Cages of linear tets lock, and squeeze the more the coarser they are. The cells of these cages bend, and both squeeze like the full mesh: the next verdict.");
    paper_near(p, "squeeze of both cages against the full mesh, off by at most", "the same solid", 0, ok ? off : INFINITY, 0.1, "");
}

/* r: the default of each model */
static void forces(paper *p, double h, history r[MODELS][STRAINS])
{
    double span[2] = { 0, 4 }, off = 0, pushed = 0, both = 0;
    plot y = plot_make("Squeeze: force on the left bubble, y", "time, s", "force, N"), z = plot_make("Lift: force on the left bubble, z (downward)", "time, s", "force, N");
    plot f = plot_make("Friction alone on the left bubble, z (downward)", "time, s", "force, N"), c = plot_make("Contacts", "time, s", "active pairs");
    paper_heading(p, "Forces and contacts (figures 4 and 5)");
    paper_text(p, "κ = 10<sup>4</sup> kg/s², d̂ = 1 mm, ε<sub>v</sub> = 1 mm/s, μ = 1; bubbles 10 kPa, bear 50 kPa, ν = 0.45, linear corotated, h = %g s; "
                  "%s. 1.5 s squeeze, 1.5 s lift of 0.12 m, 1 s hold.", h,
               p->data ? "bear of 410 nodes and bubbles of 67, the meshes of that paper; its cages are not published, ours have 170 and 34 nodes"
                       : "bear and bubbles made by code, after the ones of that paper");
    for (int m = 0; m < MODELS; m++) {
        const history *d = &r[m][DEFAULT];
        plot_add(&y, model_name[m], d->t.x, d->fy.x, d->t.count, PLOT_LINE);
        plot_add(&z, model_name[m], d->t.x, d->fz.x, d->t.count, PLOT_LINE);
        plot_add(&f, model_name[m], d->t.x, d->friction.x, d->t.count, PLOT_LINE);
        plot_add(&c, model_name[m], d->t.x, d->contacts.x, d->t.count, PLOT_LINE);
        off = fmax(off, fabs(d->rub / d->half - 1));
        pushed = fmax(pushed, fabs((d->rub + d->push) / d->half - 1));
        both = fmax(both, fabs(d->both - 1));
    }
    plot_level(&z, "half the weight", r[0][DEFAULT].half, span[0], span[1]);
    plot_level(&f, "half the weight", r[0][DEFAULT].half, span[0], span[1]);
    plot_draw(p, &y, "Figure 4, f<sub>y</sub>. The paper: a finer mesh leads to a smaller force, a coarser one deforms as a whole.");
    plot_draw(p, &z, "Figure 4, f<sub>z</sub>, barrier and friction together. Kinks at 1.5 s where the lift begins and 3 s where it stops; then half the weight on each bubble.");
    plot_draw(p, &f, "The same without the barrier: what the patch's slope pushes down, friction holds up besides the weight.");
    plot_draw(p, &c, "Figure 5. All active pairs of the scene before merging.");
    paper_table(p, "Means over the last 0.5 s, left bubble", "< bear|f<sub>y</sub>, N|f<sub>z</sub>, N|friction alone, in z, N|normal forces, in z, N|half the weight, N|f<sub>z</sub> against it|x real time");
    for (int m = 0; m < MODELS; m++) {
        const history *d = &r[m][DEFAULT];
        paper_row(p, "< <a href=\"grasp_default_%d_%g.html\">%s</a>|%.3f|%.4f|%.4f|%.4f|%.4f|%+.2f %%|%.2f", m, 1e3 * h, model_name[m], d->squeeze, d->lift, d->rub, d->push, d->half,
                  100 * (d->lift / d->half - 1), d->rate);
    }
    paper_table_end(p);
    for (int m = 0; m < MODELS; m++) {
        char name[96];
        snprintf(name, sizeof name, "z force on the left bubble in the hold, %s, against half the weight", model_name[m]);
        paper_value(p, name, "Embedded IPC fig. 4", r[m][DEFAULT].half, r[m][DEFAULT].lift, 0.03, "N");
    }
    paper_near(p, "z force of both bubbles over the weight, worst of the three", "statics", 1, 1 + both, 0.002, "");
    paper_near(p, "friction alone over half the weight, off 1 by at most, of the three", "Embedded IPC IV-A1: frictional forces in z converge to half the weight", 0, off, 0.03, "");
    if (off > 0.03)
        paper_why(p, PAPER_MODEL, "Friction alone is %.3f, %.3f and %.3f N. The patch of a bubble is not upright, so its normal forces have a z part, %.3f, %.3f and %.3f N by the list of contacts, and friction makes up "
                  "for it: the next verdict. What must be half the weight is the sum, and that paper's figure is of contact forces.", r[0][DEFAULT].rub, r[1][DEFAULT].rub, r[2][DEFAULT].rub,
                  r[0][DEFAULT].push, r[1][DEFAULT].push, r[2][DEFAULT].push);
    paper_near(p, "friction and z part of the normal forces, contact by contact, over half the weight, off 1 by at most", "statics", 0, pushed, 0.03, "");
    grows(p, "squeeze grows as the mesh gets coarser: full < medium < low", &r[FULL][DEFAULT], &r[MEDIUM][DEFAULT], &r[LOW][DEFAULT]);
}

/* ---- Averaged volume strain ----------------------------------------------------------------- */

static void averaging(paper *p, history r[MODELS][STRAINS])
{
    double most = 0;
    paper_heading(p, "Averaged volume strain");
    paper_text(p, "That paper's elements are plain. Here the volume strain of a body may be averaged over nodes (<code>material.averaged</code>), against locking near ν = 0.5, and a body that does not say gets the "
                  "default of its kind. The default is told from what it does: equal bits in every step.");
    paper_table(p, "Squeeze f<sub>y</sub>, mean over the last 0.5 s, N", "< bear|plain|averaged|averaged over plain|< the default is");
    for (int m = 0; m < MODELS; m++) {
        const history *h = r[m];
        most = fmax(most, h[AVERAGED].ok ? h[AVERAGED].squeeze / h[PLAIN].squeeze : INFINITY);
        paper_row(p, "< %s|%.3f|%.3f|%.4f|< %s", model_name[m], h[PLAIN].squeeze, h[AVERAGED].squeeze, h[AVERAGED].squeeze / h[PLAIN].squeeze,
                  history_same(&h[DEFAULT], &h[PLAIN]) ? "plain" : history_same(&h[DEFAULT], &h[AVERAGED]) ? "averaged" : "neither");
    }
    paper_table_end(p);
    grows(p, "the same, plain in all three as in that paper", &r[FULL][PLAIN], &r[MEDIUM][PLAIN], &r[LOW][PLAIN]);
    grows(p, "the same, averaged in all three", &r[FULL][AVERAGED], &r[MEDIUM][AVERAGED], &r[LOW][AVERAGED]);
    paper_range(p, "squeeze averaged over plain, largest of the three: averaging makes none stiffer", "locking, Bonet and Burton 1998", 0, 1, most, "");
}

/* ---- Speed ---------------------------------------------------------------------------------- */

/* Is each cage faster than the full mesh? text: how many times, "medium 1.2, 1.3; low 2.1, 2.4" */
static int cages_faster(int count, history r[][MODELS][STRAINS], int strain, tool_text *text)
{
    int ok = 1;
    for (int m = MEDIUM; m < MODELS; m++) {
        tool_put(text, "%s%s", m == MEDIUM ? "" : "; ", model_name[m]);
        for (int k = 0; k < count; k++) {
            double times = r[k][m][strain].rate / r[k][FULL][strain].rate;
            ok &= times > 1;
            tool_put(text, "%s %.2f", k ? "," : "", times);
        }
    }
    return ok;
}

/* Times all models once more, up to five times, where a cage was not the faster one: of each the fastest run counts. Equal
 * runs differ by a tenth where a machine has other work, and by half where its cores are shared. */
static void speed_again(paper *p, const double *h, int count, history r[][MODELS][STRAINS], int strain)
{
    for (int pass = 0; pass < 5; pass++) {
        tool_text text = { NULL, 0, 0 };
        int ok = cages_faster(count, r, strain, &text);
        tool_text_free(&text);
        for (int k = 0; k < count && !ok; k++)
            for (int m = 0; m < MODELS; m++) {
                history again = forces_of(p, m, strain, h[k], 0);
                r[k][m][strain].rate = fmax(r[k][m][strain].rate, again.rate);
                history_free(&again);
            }
    }
}

static void speed(paper *p, const double *h, int count, history r[][MODELS][STRAINS])
{
    int ok[STRAINS];
    tool_text text[STRAINS];
    const history *low = r[count - 1][LOW], *full = r[count - 1][FULL];
    memset(text, 0, sizeof text);
    for (int s = PLAIN; s < STRAINS; s++) speed_again(p, h, count, r, s);
    paper_heading(p, "Speed (figure 7)");
    paper_table(p, "Times real time, one thread; default: the faster of its run and of the one with equal bits", "h, s|< bear|unknowns of bear and bubbles|default|plain|averaged|that paper, 16 cores of an i9-14900KF");
    for (int k = count - 1; k >= 0; k--)
        for (int m = 0; m < MODELS; m++) {
            history *d = r[k][m];
            for (int s = PLAIN; s < STRAINS; s++)
                if (history_same(&d[DEFAULT], &d[s])) d[DEFAULT].rate = d[s].rate = fmax(d[DEFAULT].rate, d[s].rate);
            paper_row(p, "%g|< %s|%d|%.2f|%.2f|%.2f|%s", h[k], model_name[m], d[DEFAULT].unknowns, d[DEFAULT].rate, d[PLAIN].rate, d[AVERAGED].rate,
                      k < count - 1 ? "" : m == LOW ? "1.8" : m == FULL ? "0.9" : "");
        }
    paper_table_end(p);
    for (int s = 0; s < STRAINS; s++) ok[s] = cages_faster(count, r, s, &text[s]);
    paper_holds(p, count > 1 ? "each cage is faster than full, by default, at h = 0.005, 0.01, 0.02 s" : "each cage is faster than full, by default, at h = 0.02 s", "Embedded IPC fig. 7", ok[DEFAULT],
                "over 1 times as fast", "%s", text[DEFAULT].data);
    if (!ok[DEFAULT] && ok[PLAIN] && ok[AVERAGED])
        paper_why(p, PAPER_MODEL, "The bears differ in more than their cages: by default the volume strain is averaged in some and not in others, which the table above tells, and that couples each node to its neighbours' "
                                  "neighbours. Alike in this, each cage is faster: the next two verdicts.");
    paper_holds(p, "the same, plain in all", "Embedded IPC fig. 7", ok[PLAIN], "over 1 times as fast", "%s", text[PLAIN].data);
    paper_holds(p, "the same, averaged in all", "Embedded IPC fig. 7", ok[AVERAGED], "over 1 times as fast", "%s", text[AVERAGED].data);
    paper_range(p, "low cage over full mesh, speed at h = 0.02 s, default", "Embedded IPC IV-A2: 2.0", 1.5, INFINITY, low[DEFAULT].rate / full[DEFAULT].rate, "");
    for (int s = 0; s < STRAINS; s++) tool_text_free(&text[s]);
}

/* ---- Order in h ----------------------------------------------------------------------------- */

typedef struct course { double *x, wall; int vertices, ok, cut; } course;   /* x: bear's surface at each frame; owned */

static course course_of(paper *p, int model, double h, double beta, double ground, const char *kind)
{
    course c = { NULL, 0, 0, 0, 0 };
    paper_run r;
    embipc_body_view bear;
    int every = (int)(GRASP_FRAME / h + 0.5);
    if (!grasp_start(&r, p, model, DEFAULT, h, beta, ground, 1e-6, kind, 0)) return c;
    (void)embipc_body_get_view(r.world, paper_body(&r, "bear"), &bear);
    c.vertices = bear.vertex_count;
    c.x = (double *)tool_alloc((size_t)(3 * GRASP_FRAMES * c.vertices), sizeof *c.x);
    while (paper_step(&r))
        if (r.sum.steps % every == 0)
            memcpy(c.x + 3 * (size_t)c.vertices * (size_t)(r.sum.steps / every - 1), bear.x, (size_t)(3 * c.vertices) * sizeof *c.x);
    c.wall = r.sum.cpu;
    c.cut = r.sum.cut;
    c.ok = !r.failed;
    paper_end(&r);
    return c;
}

/* the paper's error: root mean square over frames and vertices */
static double course_error(const course *a, const course *b, int first, int last)
{
    double sum = 0;
    for (int i = 3 * a->vertices * first; i < 3 * a->vertices * last; i++) sum += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
    return sqrt(sum / a->vertices / (last - first));
}

static void order(paper *p)
{
    static const double h[3] = { 0.005, 0.01, 0.02 };
    static const char *const from[4] = { "given", "rest", "rest", "rest" };
    static const int model[4] = { LOW, FULL, MEDIUM, LOW };
    static const double finer[2] = { 0.001, 0.0025 };   /* of the low cage, from rest, too */
    double reference = 5e-4, error[4][3], wall[4][3], line[3], falling[3], rate[5];
    plot e = plot_make("Position error over time step (figure 6)", "time step h, s", "error, m"), w = plot_make("Time taken over time step (figure 7)", "time step h, s", "processor time for 4 s, s");
    plot ew = plot_make("Error over time taken (figure 8)", "processor time for 4 s, s", "error, m");
    paper_heading(p, "First order in h, and what it costs (figures 6 to 8)");
    paper_text(p, "Root mean square distance of the bear's vertices over 200 common moments from each model's own solution at h = %g s. "
                  "“From rest”: the ground at the bear's feet and stiffness damping β = 0.05 s, as in Drake's own file of this scene. "
                  "“Given start”: undamped, the bear falls 5 mm and bounces first.", reference);
    for (int k = 0; k < 4; k++) {
        double beta = k ? 0.05 : 0, ground = k ? 0 : -0.005;
        course ref = course_of(p, model[k], reference, beta, ground, from[k]);
        for (int i = 0; i < 3; i++) {
            course c = course_of(p, model[k], h[i], beta, ground, from[k]);
            error[k][i] = c.ok && ref.ok ? course_error(&c, &ref, 0, GRASP_FRAMES) : NAN;
            if (!k) falling[i] = c.ok && ref.ok ? course_error(&c, &ref, 0, 1) : NAN;
            wall[k][i] = c.wall;
            if (k == 3) rate[2 + i] = error[k][i] / (h[i] - reference);
            free(c.x);
        }
        for (int i = 0; i < 2 && k == 3; i++) {
            course c = course_of(p, model[k], finer[i], beta, ground, from[k]);
            rate[i] = c.ok && ref.ok ? course_error(&c, &ref, 0, GRASP_FRAMES) / (finer[i] - reference) : NAN;
            free(c.x);
        }
        free(ref.x);
    }
    for (int i = 0; i < 3; i++) line[i] = error[3][2] * (h[i] - reference) / (h[2] - reference);
    e.log_x = e.log_y = w.log_x = w.log_y = ew.log_x = ew.log_y = 1;
    plot_add(&e, "first order", h, line, 3, PLOT_LINE | PLOT_REFERENCE);
    for (int k = 1; k < 4; k++) {
        plot_add(&e, model_name[model[k]], h, error[k], 3, PLOT_LINE | PLOT_POINTS);
        plot_add(&w, model_name[model[k]], h, wall[k], 3, PLOT_LINE | PLOT_POINTS);
        plot_add(&ew, model_name[model[k]], wall[k], error[k], 3, PLOT_LINE | PLOT_POINTS);
    }
    plot_add(&e, "low, given start", h, error[0], 3, PLOT_LINE | PLOT_POINTS);
    plot_draw(p, &e, "From rest all models are first order; from the given start the bounce spoils it.");
    plot_draw(p, &w, "One thread.");
    plot_draw(p, &ew, "The same runs.");
    paper_table(p, "Error, m, and its ratios (first order: 2.05 and 2.11, as the reference has a step too)", "< bear|h = 0.02|0.01|0.005|0.02 / 0.01|0.01 / 0.005|processor time, s: 0.02|0.01|0.005");
    for (int k = 0; k < 4; k++)
        paper_row(p, "< %s, %s|%.3e|%.3e|%.3e|%.2f|%.2f|%.2f|%.2f|%.2f", model_name[model[k]], k ? "from rest" : "given start", error[k][2], error[k][1], error[k][0],
                  error[k][2] / error[k][1], error[k][1] / error[k][0], wall[k][2], wall[k][1], wall[k][0]);
    paper_table_end(p);
    paper_table(p, "Low cage, from rest: error over h − 0.0005 s, m/s (first order: the same for all h)", "h = 0.001|0.0025|0.005|0.01|0.02");
    paper_row(p, "%.4f|%.4f|%.4f|%.4f|%.4f", rate[0], rate[1], rate[2], rate[3], rate[4]);
    paper_table_end(p);
    for (int k = 1; k < 4; k++) {
        int tight = k == 3 && p->data;   /* the low cage with the papers' meshes */
        double least = tight ? 1.8 : 1.7, most = tight ? 2.2 : 2.5;
        char name[96];
        snprintf(name, sizeof name, "error at h = 0.02 s over 0.01 s, %s, from rest", model_name[model[k]]);
        paper_range(p, name, "Embedded IPC fig. 6", least, most, error[k][2] / error[k][1], "");
        snprintf(name, sizeof name, "error at h = 0.01 s over 0.005 s, %s, from rest", model_name[model[k]]);
        if (!paper_range(p, name, "Embedded IPC fig. 6", least, most, error[k][1] / error[k][0], "") && k == 3)
            paper_why(p, PAPER_DISCRETISATION, "The coefficient of h is %.4f and %.4f m/s at h = 0.001 and 0.0025 s, %.4f at 0.005, and %.4f and %.4f at 0.01 and 0.02: first order on both sides, "
                      "with a jump between these steps, and the steps of this verdict stand on either side of it.", rate[0], rate[1], rate[2], rate[3], rate[4]);
    }
    paper_range(p, "error over error per halving of h, from 0.02 s to 0.005 s, low cage, from rest", "Embedded IPC fig. 6", 1.8, 2.2,
                sqrt(error[3][2] / error[3][0]), "");
    paper_value(p, "the same coefficient of h at 0.001 s and at 0.0025 s, low cage, from rest", "Embedded IPC fig. 6", 1, rate[1] / rate[0], 0.15, "");
    paper_range(p, "the same, low cage, given start: 0.02 s over 0.01 s", "Embedded IPC fig. 6", 1.7, 2.5, error[0][2] / error[0][1], "");
    paper_why(p, PAPER_DISCRETISATION, "Undamped, the bear falls 5 mm onto its feet; how high it bounces depends on what backward Euler resolves of the impact (see the one-vertex bounce above: "
              "restitution has no limit at these h), and it keeps what it landed on. In the first 0.02 s, in free fall, the same errors are %.2e, %.2e, %.2e m and their ratios %.2f and %.2f.",
              falling[2], falling[1], falling[0], falling[2] / falling[1], falling[1] / falling[0]);
}

void paper_grasp(paper *p)
{
    static const double fine[3] = { 0.005, 0.01, 0.02 };
    const double *h = p->quick ? fine + 2 : fine;
    int count = p->quick ? 1 : 3;
    history r[3][MODELS][STRAINS];
    paper_section(p, "grasp", "Bubble gripper and bear", "Du et al., Embedded IPC, arXiv 2409.16385, section IV-A, figures 3 to 8.");
    for (int k = 0; k < count; k++)
        for (int s = 0; s < STRAINS; s++)
            for (int m = 0; m < MODELS; m++) r[k][m][s] = forces_of(p, m, s, h[k], k == 0 && s == DEFAULT ? 0.02 : 0);
    forces(p, h[0], r[0]);
    averaging(p, r[0]);
    speed(p, h, count, r);
    if (!p->quick) order(p);
    for (int k = 0; k < count; k++)
        for (int m = 0; m < MODELS; m++)
            for (int s = 0; s < STRAINS; s++) history_free(&r[k][m][s]);
}
