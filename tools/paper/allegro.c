/* Convex-contact paper, VII-D, with the hand that it uses: the links of an Allegro hand from outside, joined by hinges with
 * motors. It takes a soft ball that lies on its palm, turns over and shakes it. */
#include "paper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALLEGRO_TORQUE 0.7      /* N m, of a motor of that hand */
#define ALLEGRO_PALM 0          /* number of the palm in the list below */

/* A link: its parent, its mesh, its frame in that of the parent, and the axis of its hinge; without one it is welded.
 * Numbers of wonik_allegro/right_hand.xml of mujoco_menagerie; the mesh's frame is that of the link. */
typedef struct allegro_link {
    const char *name, *mesh;
    int parent;                 /* number in the list; -1: the world */
    double at[3], turn[4], axis[3];   /* m; quaternion w, x, y, z; an axis of length 0: welded */
    double limit[2];            /* rad */
    double start, grip;         /* rad, at the start and as told to the motor when it grips */
} allegro_link;

#define FINGER(name, palm, y, z, x, first, lean) \
    { name " base", "link_0.0", palm, { 0, y, z }, { 0.999048, x, 0, 0 }, { 0, 0, 1 }, { -0.47, 0.47 }, 0, lean }, \
    { name " proximal", "link_1.0", first, { 0, 0, 0.0164 }, { 1, 0, 0, 0 }, { 0, 1, 0 }, { -0.196, 1.61 }, 0.1, 0.65 }, \
    { name " medial", "link_2.0", first + 1, { 0, 0, 0.054 }, { 1, 0, 0, 0 }, { 0, 1, 0 }, { -0.174, 1.709 }, 0.4, 1.2 }, \
    { name " distal", "link_3.0", first + 2, { 0, 0, 0.0384 }, { 1, 0, 0, 0 }, { 0, 1, 0 }, { -0.227, 1.618 }, 0.4, 1.2 }, \
    { name " tip", "link_3.0_tip", first + 3, { 0, 0, 0.0267 }, { 1, 0, 0, 0 }, { 0, 0, 0 }, { 0, 0 }, 0, 0 }

static const allegro_link links[] = {
    { "palm", "base_link", -1, { 0, 0, 0 }, { 1, 0, 0, 0 }, { 0, 0, 0 }, { 0, 0 }, 0, 0 },
    FINGER("first", ALLEGRO_PALM, 0.0435, -0.001542, -0.0436194, 1, -0.1),
    FINGER("middle", ALLEGRO_PALM, 0, 0.0007, 0, 6, 0),
    FINGER("ring", ALLEGRO_PALM, -0.0435, -0.001542, 0.0436194, 11, 0.1),
    { "thumb base", "link_12.0_right", ALLEGRO_PALM, { -0.0182, 0.019333, -0.045987 }, { 0.477714, -0.521334, -0.521334, -0.477714 }, { -1, 0, 0 }, { 0.263, 1.396 }, 1.39, 1.39 },
    { "thumb proximal", "link_13.0", 16, { -0.027, 0.005, 0.0399 }, { 1, 0, 0, 0 }, { 0, 0, 1 }, { -0.105, 1.163 }, 0.2, 0.5 },
    { "thumb medial", "link_14.0", 17, { 0, 0, 0.0177 }, { 1, 0, 0, 0 }, { 0, 1, 0 }, { -0.189, 1.644 }, 0.15, 0.9 },
    { "thumb distal", "link_15.0", 18, { 0, 0, 0.0514 }, { 1, 0, 0, 0 }, { 0, 1, 0 }, { -0.162, 1.719 }, 0.15, 0.9 },
    { "thumb tip", "link_15.0_tip", 19, { 0, 0, 0.0423 }, { 1, 0, 0, 0 }, { 0, 0, 0 }, { 0, 0 }, 0, 0 },
};
#define ALLEGRO_LINKS ((int)(sizeof links / sizeof *links))

typedef struct frame { double p[3], R[9], axis[3]; } frame;   /* axis: of the hinge, in the world */

static void multiply(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}
static void apply(const double A[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}

/* of a quaternion of any length */
static void quaternion(const double q[4], double R[9])
{
    double n = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int k = 3 - i - j;   /* the third axis */
            double w = i == j ? 0 : (j == (i + 1) % 3 ? -1 : 1) * q[0] * q[k + 1];
            R[3 * i + j] = (i == j) + n * (q[i + 1] * q[j + 1] + w);
        }
    for (int i = 0; i < 3; i++) R[4 * i] -= n * (q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

/* The frames of all links with the palm facing up and the fingers along x, at their start angles. */
static void pose(frame f[ALLEGRO_LINKS])
{
    static const double up[9] = { 0, 0, 1, 0, -1, 0, 1, 0, 0 };   /* of the palm: its x upward, its z along x */
    for (int k = 0; k < ALLEGRO_LINKS; k++) {
        const allegro_link *l = &links[k];
        double R[9], T[9], step[3], spin[4];
        memset(&f[k], 0, sizeof f[k]);
        if (l->parent < 0) { memcpy(f[k].R, up, sizeof up); continue; }
        apply(f[l->parent].R, l->at, step);
        for (int i = 0; i < 3; i++) f[k].p[i] = f[l->parent].p[i] + step[i];
        quaternion(l->turn, T);
        multiply(f[l->parent].R, T, R);
        apply(R, l->axis, f[k].axis);
        spin[0] = cos(l->start / 2);
        for (int i = 0; i < 3; i++) spin[1 + i] = sin(l->start / 2) * l->axis[i];
        quaternion(spin, T);
        multiply(R, T, f[k].R);
    }
}

/* the angles of R = Rz(c) Ry(b) Rx(a), as scenes take them, degrees; where b is a right angle only a and c together count */
static void put_pose(tool_text *t, const frame *f)
{
    const double degree = 180 / 3.14159265358979323846, *R = f->R;
    double level = hypot(R[0], R[3]), a = level > 1e-9 ? atan2(R[7], R[8]) : atan2(-R[5], R[4]), c = level > 1e-9 ? atan2(R[3], R[0]) : 0;
    tool_put(t, "\"position\": [%.10g, %.10g, %.10g], \"rotation\": [%.10g, %.10g, %.10g]", f->p[0], f->p[1], f->p[2], degree * a, degree * atan2(-R[6], level), degree * c);
}

#define CLOSED 1.0      /* s: the fingers have closed */
#define TURNED 2.2      /* the hand has turned over */
#define SHAKEN 4.4      /* four shakes, and a moment before and after */
#define BALL 0.045      /* m, its radius */

static double smooth(double s) { return s * s * s * (10 - s * (15 - 6 * s)); }

/* keys of the palm: stay, turn over about its fingers' direction, shake along y */
static void palm_keys(tool_text *t)
{
    tool_put(t, "[0, 0, 0, 0, 0, 0, 0], [%g, 0, 0, 0, 0, 0, 0]", CLOSED);
    for (int k = 1; k <= 16; k++) tool_put(t, ", [%.10g, 0, 0, 0, %.10g, 0, 0]", CLOSED + (TURNED - CLOSED) * k / 16, 180 * smooth(k / 16.0));
    for (int k = 0; k <= 100; k++) {
        double s = k / 100.0, swell = smooth(fmin(1, fmin(4 * s, 4 * (1 - s))));
        tool_put(t, ", [%.10g, 0, %.10g, 0, 180, 0, 0]", TURNED + 0.1 + 2 * s, 0.02 * swell * sin(4 * 2 * 3.14159265358979 * s));
    }
}

static void allegro_text(tool_text *t, const char *data, double h, const frame *f)
{
    const double degree = 180 / 3.14159265358979323846;
    int first = 1;
    tool_put(t, "{ \"version\": 1, \"time_step\": %g, \"duration\": %g,\n  \"contact\": { \"dhat\": 5e-4 },\n  \"bodies\": [\n", h, SHAKEN);
    for (int k = 0; k < ALLEGRO_LINKS; k++) {
        tool_put(t, "%s    { \"name\": \"%s\", \"kind\": \"%s\", \"mesh\": \"%s/scenes/allegro/%s.obj\", \"friction\": 0.8,\n      ", k ? ",\n" : "", links[k].name,
                 k == ALLEGRO_PALM ? "kinematic" : "affine", data, links[k].mesh);
        put_pose(t, &f[k]);
        if (k == ALLEGRO_PALM) {
            tool_put(t, ",\n      \"drive\": [{ \"keys\": [");
            palm_keys(t);
            tool_put(t, "] }] }");
        } else tool_put(t, ", \"material\": { \"young\": 1e8, \"density\": 1200 } }");
    }
    tool_put(t, ",\n    { \"name\": \"ball\", \"kind\": \"cage\", \"mesh\": \"%s/scenes/ball.msh\", \"scale\": %g, \"cage_nodes\": 129, \"position\": [0.034, -0.025, %.10g], \"friction\": 0.8,\n"
                "      \"material\": { \"young\": 2.5e4, \"poisson\": 0.4, \"density\": 200, \"damping\": [0, 0.01] } } ],\n  \"joints\": [\n", data, BALL, 0.0205 + BALL);
    for (int k = 1; k < ALLEGRO_LINKS; k++) {
        const allegro_link *l = &links[k];
        int hinge = tool_length(l->axis) > 0;
        tool_put(t, "%s    { \"kind\": \"%s\", \"a\": \"%s\", \"b\": \"%s\", \"point\": [%.10g, %.10g, %.10g]", first ? "" : ",\n", hinge ? "hinge" : "weld", links[l->parent].name, l->name,
                 f[k].p[0], f[k].p[1], f[k].p[2]);
        first = 0;
        if (hinge)
            tool_put(t, ", \"axis\": [%.10g, %.10g, %.10g], \"limits\": [%.10g, %.10g],\n      \"motor\": { \"stiffness\": 3, \"damping\": 0.1, \"limit\": %g, \"keys\": [[0, 0], [%g, %.10g]] }",
                     f[k].axis[0], f[k].axis[1], f[k].axis[2], degree * (l->limit[0] - l->start), degree * (l->limit[1] - l->start), ALLEGRO_TORQUE, CLOSED, degree * (l->grip - l->start));
        tool_put(t, " }");
    }
    tool_put(t, " ],\n  \"pairs\": [");
    first = 1;
    for (int k = 1; k < ALLEGRO_LINKS; k++) {   /* the shells of links overlap those of the next but one, too */
        int next = links[links[k].parent].parent;
        if (next < 0) continue;
        tool_put(t, "%s\n    { \"bodies\": [\"%s\", \"%s\"], \"contact\": false }", first ? "" : ",", links[next].name, links[k].name);
        first = 0;
    }
    tool_put(t, " ] }\n");
}

/* What a joint may gape: it holds three points at a quarter of the smaller body's diagonal, each by 1000 M/h^2, M the mass
 * of all links. The motors behind it load it with their torques, at most those of a whole finger. */
static double gap_bound(const paper_run *r, double h)
{
    double mass = 0, arm = INFINITY;
    for (int k = 1; k < ALLEGRO_LINKS; k++) {
        embipc_body_parameters q;
        (void)embipc_body_get_parameters(r->world, paper_body(r, links[k].name), &q);
        mass += paper_state(r, links[k].name).mass;
        arm = fmin(arm, q.diagonal / 4);
    }
    return 4 * ALLEGRO_TORQUE / (1000 * mass / (h * h) * arm);
}

/* centre of the ball in the frame of the palm, which only moves and turns about x: seen along y and z after half a turn */
static void from_palm(const paper_run *r, double d[3])
{
    for (int k = 0; k < 3; k++) d[k] = paper_state(r, "ball").centre[k] - paper_state(r, "palm").centre[k];
}

void paper_allegro(paper *p)
{
    double h = 0.01, d[3], turned[3] = { NAN, NAN, NAN }, shift = 0, sway = 0, grip = 0, lift = 0, most = 0;
    int shaken = 0, held = 0;
    frame f[ALLEGRO_LINKS];
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    paper_heading(p, "Ball in an Allegro hand");
    if (!p->data || p->quick) {
        paper_text(p, p->data ? "Left out of the quick report." : "Skipped: the links of the hand come from outside (<code>make paper DATA=DIR</code>).");
        return;
    }
    pose(f);
    allegro_text(&t, p->data, h, f);
    if (paper_begin(&r, p, "allegro", "ball in an Allegro hand", t.data, 0.02)) {
        embipc_body_parameters q;
        double bound = gap_bound(&r, h), weight = paper_state(&r, "ball").mass * 9.81, force[3], time = SHAKEN - TURNED;
        (void)embipc_body_get_parameters(r.world, paper_body(&r, "ball"), &q);
        while (paper_step(&r)) {
            for (int i = 0; i < r.s.joint_count; i++) {
                embipc_joint_state j;
                (void)embipc_joint_get_state(r.world, r.s.joint[i].handle, &j);
                most = fmax(most, fabs(j.effort));
            }
            if (r.stats.time < TURNED + 0.1 - h / 2) continue;
            from_palm(&r, d);
            if (isnan(turned[0])) memcpy(turned, d, sizeof d);
            for (int k = 0; k < 3; k++) d[k] -= turned[k];
            shift = tool_length(d);
            sway = fmax(sway, shift);
            shaken++;
            if (r.stats.time < SHAKEN - 0.1) continue;
            held++;
            for (int k = 0; k < ALLEGRO_LINKS; k++) {
                paper_force(&r, "ball", links[k].name, force, NULL);
                lift += force[2];
                grip += tool_length(force);
            }
        }
        lift /= held;
        grip /= held;
        paper_text(p, "The palm and four fingers of an Allegro hand, %d stiff affine links (10<sup>8</sup> Pa) with 16 hinges and 4 welds by <code>embipc_joint_create()</code>, its motors of at most %g N m. "
                      "A ball of %g cm (25 kPa, ν = 0.4, a cage) lies on the palm; the fingers close on it, the hand turns over and shakes it four times by ±2 cm at 2 Hz, h = %g s; "
                      "<a href=\"allegro.html\">play it</a>. Nothing but the grip then carries it: %.2f N of contact forces hold its weight of %.3f N, and the hardest motor gives %.2f N m. "
                      "While shaken it sways by up to %.2g mm. %d unknowns, %.2f times real time; that paper: 410 and 1.01.",
                   ALLEGRO_LINKS - 1, ALLEGRO_TORQUE, 200 * BALL, h, grip, weight, most, 1e3 * sway, r.sum.unknowns, r.sum.simulated / r.sum.cpu);
        paper_range(p, "Allegro hand: shift of the ball against the palm, turned over and shaken, that remains", "convex-contact paper VII-D; sticking creeps slower than ε_v", 0,
                    q.friction_velocity * time, shaken ? shift : NAN, "m");
        paper_why(p, PAPER_MODEL, "ε<sub>v</sub> of the ball is %.2g m/s, and no link has a greater one: what sticks creeps by less than that times %.1f s.", q.friction_velocity, time);
        paper_value(p, "Allegro hand: the links carry the ball", "statics", weight, lift, 0.01, "N");
        paper_range(p, "Allegro hand: largest gap of a joint", "stiffness of a joint, 1000 M/h², and the torque of four motors", 0, bound, r.sum.joint_gap, "m");
        paper_range(p, "Allegro hand: steps cut short", "convex-contact paper VII: all steps converge", 0, 0, r.sum.cut, "");
        paper_end(&r);
    }
    tool_text_free(&t);
}
