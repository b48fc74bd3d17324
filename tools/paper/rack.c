/* Embedded IPC, section IV-B: a gripper with the fin ray effect puts a thin plate into a dish rack. */
#include "paper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The effect itself ---------------------------------------------------------------------- */

/* mean shift along x of the front of the finger between two heights, from where it was */
static double front_shift(const embipc_body_view *v, const double *start, double z0, double z1)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < v->vertex_count; i++)
        if (start[3 * i] < -0.0199 && start[3 * i + 2] > z0 && start[3 * i + 2] < z1) { sum += v->x[3 * i] - start[3 * i]; n++; }
    return n ? sum / n : NAN;
}

typedef struct bend { double force, below, above, tip; } bend;   /* N; slopes of the front, rad; m */

static bend press_finger(paper *p, const char *name, const char *title, const char *shape, double x)
{
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    bend out = { NAN, NAN, NAN, NAN };
    double push[3];
    tool_put(&t, "{ \"version\": 1, \"time_step\": 0.02, \"duration\": 1,\n  \"bodies\": [\n"
                 "    { \"name\": \"finger\", \"kind\": \"cage\", %s, \"position\": [%g, 0, 0.055], \"friction\": 0.6, \"material\": { \"young\": 2e6, \"poisson\": 0.4, \"damping\": [0, 0.005] },\n"
                 "      \"drive\": [{ \"select\": { \"box\": [[-0.03, -0.02, -0.001], [0.03, 0.02, 0.002]] }, \"keys\": [[0, 0, 0, 0]] }] },\n"
                 "    { \"name\": \"rod\", \"kind\": \"kinematic\", \"shape\": \"cylinder\", \"radius\": 0.015, \"height\": 0.06, \"resolution\": 16, \"rotation\": [90, 0, 0],\n"
                 "      \"position\": [-0.0365, 0, 0.055], \"friction\": 0.6, \"drive\": [{ \"keys\": [[0, 0, 0, 0], [0.8, 0.012, 0, 0]] }] } ] }\n", shape, x);
    if (paper_begin(&r, p, name, title, t.data, 0.02)) {
        embipc_body_view v;
        double *start;
        (void)embipc_body_get_view(r.world, paper_body(&r, "finger"), &v);
        start = (double *)tool_alloc((size_t)(3 * v.vertex_count), sizeof *start);
        memcpy(start, v.x, (size_t)(3 * v.vertex_count) * sizeof *start);
        while (paper_step(&r)) continue;
        out.below = (front_shift(&v, start, 0.03, 0.04) - front_shift(&v, start, 0.005, 0.015)) / 0.025;
        out.above = (front_shift(&v, start, 0.095, 0.105) - front_shift(&v, start, 0.07, 0.08)) / 0.025;
        out.tip = front_shift(&v, start, 0.1, 1);
        free(start);
        paper_force(&r, "finger", "rod", push, NULL);
        out.force = push[0];
        paper_end(&r);
    }
    tool_text_free(&t);
    return out;
}

static void fin_ray(paper *p)
{
    const double degree = 180 / 3.14159265358979;
    bend ray, solid;
    paper_heading(p, "The fin ray effect");
    ray = press_finger(p, "finray", "finger with ribs, pressed at half its height", "\"shape\": \"finger\", \"size\": [0.04, 0.02, 0.11], \"resolution\": 44, \"cage_nodes\": 150", 0);
    solid = press_finger(p, "solid_finger", "solid finger, pressed at half its height", "\"shape\": \"box\", \"size\": [0.015, 0.02, 0.11], \"resolution\": 22, \"cage_nodes\": 150", -0.0125);
    paper_text(p, "A finger of 110 mm with ribs and a solid one, 15 mm thick, of the same stuff (2 MPa, ν = 0.4), both held at the base; a rod pushes 10 mm into them at half height. "
                  "A beam that is pushed bends away: beyond the push its front leans back farther than below it. With ribs the front wall leans back less there than below: "
                  "it wraps around what pushes. Play <a href=\"finray.html\">the one</a> and <a href=\"solid_finger.html\">the other</a>.");
    paper_table(p, NULL, "< finger|push, N|tip moves along the push, mm|front leans back, below the push, degrees|above it|towards the push");
    paper_row(p, "< with ribs|%.3f|%+.2f|%.2f|%.2f|%+.2f", ray.force, 1e3 * ray.tip, degree * ray.below, degree * ray.above, degree * (ray.below - ray.above));
    paper_row(p, "< solid|%.3f|%+.2f|%.2f|%.2f|%+.2f", solid.force, 1e3 * solid.tip, degree * solid.below, degree * solid.above, degree * (solid.below - solid.above));
    paper_table_end(p);
    paper_range(p, "finger with ribs: its front turns towards the push, above it against below", "fin ray effect; Embedded IPC fig. 9, 10", 1, INFINITY, degree * (ray.below - ray.above), "degrees");
    paper_range(p, "solid finger: the same", "bending of a block: away, or straight", -INFINITY, 1, degree * (solid.below - solid.above), "degrees");
}

/* ---- Plate and rack ------------------------------------------------------------------------- */

#define RACK_X 0.25
#define RACK_PITCH 0.032
#define RACK_WIRE 0.0018

/* What is taken with what and put where: lengths in m. */
typedef struct rack_kind {
    double radius, centre;      /* of the plate, and the height of its centre at the start */
    double first_slot;          /* of slot 0, from RACK_X */
    double low;                 /* the fingers' height above the start when they open */
    double holder, up;          /* height of the stands; how far the plate is lifted at least, to clear the rack */
    const char *name, *mesh;    /* of the runs; of the plate: NULL is a disc */
    double shift, middle;       /* of the plate's frame along x, so that its rim is between the fingers; of its thickness, in its frame */
    double left, right;         /* from the plane between the fingers to the stands */
    double raised, slant;       /* by how much higher the fingers take it; rad, by which they lean along x, as its rim does */
    double play;                /* how far the plate's middle may end from that of its slot */
} rack_kind;
static const rack_kind rack_own = { 0.09, 0.0913, 0, 0.0005, 0.04, 0.14, "", NULL, 0, 0, 0.0035, 0.0035, 0, 0, 0.005 };
static const rack_kind rack_real = { 0.098, 0.0993, 0.016, 0.002, 0.04, 0.17, "umi_", NULL, 0, 0, 0.0035, 0.0035, 0, 0, 0.005 };
/* a dinner plate: its rim rises to 18 mm over the foot, and where it is taken it lies 11.8 mm over it */
static const rack_kind rack_rimmed = { 0.0981, 0.0995, 0.016, 0.002, 0.04, 0.17, "rimmed_", "plate_8in.msh", -0.0118, 0.0091, 0.0125, 0.0075, 0.016, 0.42, (RACK_PITCH - 2 * RACK_WIRE) / 2 - 0.0071 };

static void rack_wires(tool_text *t)
{
    for (int k = 0; k < 4; k++)
        for (int side = -1; side <= 1; side += 2)
            tool_put(t, ",\n    { \"name\": \"wire %d%s\", \"kind\": \"fixed\", \"shape\": \"cylinder\", \"radius\": %g, \"height\": 0.12, \"resolution\": 24, \"position\": [%.10g, %g, 0.0605], \"friction\": 0.4 }",
                     k + 1, side < 0 ? "a" : "b", RACK_WIRE, RACK_X + (k - 1.5) * RACK_PITCH, 0.05 * side);
    for (int side = -1; side <= 1; side += 2)
        tool_put(t, ",\n    { \"name\": \"rail %s\", \"kind\": \"fixed\", \"shape\": \"cylinder\", \"radius\": %g, \"height\": 0.16, \"resolution\": 32, \"position\": [%g, %g, 0.02], \"rotation\": [0, 90, 0],"
                    " \"friction\": 0.4 }", side < 0 ? "a" : "b", RACK_WIRE, RACK_X, 0.06 * side);
}

/* smooth from 0 to 1 and at rest at both ends: the least jerk */
static double smooth(double s) { return s * s * s * (10 - s * (15 - 6 * s)); }

/* Keys of a finger: close by c, lift, over to x on a curve that swings out to the side, down, open, away. Every move begins and
 * ends at rest, as a robot's does: keys on a straight line with corners would be jolts, and shake the plate out of its place. */
static void rack_keys(tool_text *t, double close, double slant, double up, double x, double swing, double low)
{
    double c = close * cos(slant), d = -close * sin(slant);   /* closing moves down, too, where the fingers lean */
    tool_put(t, "[0, 0, 0, 0]");
    for (int k = 1; k <= 4; k++) tool_put(t, ", [%g, %.10g, 0, %.10g]", 0.15 * k, c * smooth(k / 4.0), d * smooth(k / 4.0));
    for (int k = 1; k <= 8; k++) tool_put(t, ", [%g, %.10g, 0, %.10g]", 0.6 + 0.1 * k, c, d + up * smooth(k / 8.0));
    for (int k = 1; k <= 16; k++) {
        double s = smooth(k / 16.0), y = sin(3.14159265358979 * s);
        tool_put(t, ", [%g, %.10g, %.10g, %.10g]", 1.4 + 0.05 * k, c + x * s, swing * y * y, d + up);
    }
    for (int k = 1; k <= 8; k++) tool_put(t, ", [%g, %.10g, 0, %.10g]", 2.2 + 0.1 * k, c + x, d + up + (low - up) * smooth(k / 8.0));
    tool_put(t, ", [3.3, %.10g, 0, %g], [3.5, %.10g, 0, %g], [4, %.10g, 0, 0.16]", c + x, d + low, x, low + 0.01, x);
}

/* data: the finger of a UMI gripper and a rack of wires from there; NULL: both made by code */
static void rack_text(tool_text *t, const rack_kind *kind, const char *data, double h, int path, double slot)
{
    tool_put(t, "{ \"version\": 1, \"time_step\": %g, \"duration\": 4.4,\n  \"bodies\": [\n"
                "    { \"name\": \"table\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [1, 0.6, 0.02], \"position\": [0.213, 0.017, -0.01], \"friction\": 0.6 },\n"
                "    { \"name\": \"plate\", \"kind\": \"affine\", ", h);
    if (kind->mesh) tool_put(t, "\"mesh\": \"%s/scenes/%s\"", data, kind->mesh);
    else tool_put(t, "\"shape\": \"cylinder\", \"radius\": %g, \"height\": 0.005, \"resolution\": 24", kind->radius);
    tool_put(t, ", \"position\": [%g, 0, %g],\n      \"rotation\": [0, 90, 0], \"friction\": 1, \"material\": { \"young\": 1e7, \"density\": 1800 } }", kind->shift, kind->centre);
    for (int side = -1; side <= 1; side += 2)
        tool_put(t, ",\n    { \"name\": \"stand %d\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [0.03, 0.1, %g], \"position\": [%g, 0, %g], \"friction\": 0.3 }", side < 0 ? 1 : 2,
                 kind->holder, side * ((side < 0 ? kind->left : kind->right) + 0.015), kind->holder / 2 + 0.0005);
    if (data) tool_put(t, ",\n    { \"name\": \"rack\", \"kind\": \"fixed\", \"mesh\": \"%s/scenes/wire_rack.obj\", \"position\": [%g, 0.0003, 0.0333], \"friction\": 0.4 }", data, RACK_X);
    else rack_wires(t);
    for (int side = -1; side <= 1; side += 2) {
        double c = -0.013 * side, lean = kind->slant, over = 0.115 * (lean > 0), at[2];   /* of the mount, over what is taken */
        at[0] = side * 0.0194 * cos(lean) + over * sin(lean);
        at[1] = 0.286 + kind->raised - over * (1 - cos(lean)) - side * 0.0194 * sin(lean);
        tool_put(t, ",\n    { \"name\": \"finger %d\", \"kind\": \"cage\", \"friction\": 1, ", side < 0 ? 1 : 2);
        if (data)
            tool_put(t, "\"mesh\": \"%s/scenes/umi_finger.msh\", \"cage_nodes\": 150, \"position\": [%g, %g, %g], \"rotation\": [0, %.10g, %d],\n"
                        "      \"material\": { \"young\": 1e7, \"poisson\": 0.4, \"density\": 1100, \"damping\": [0, 0.005] },\n"
                        "      \"drive\": [{ \"select\": { \"box\": [[-0.1, -0.1, %g], [0.1, 0.1, 0.4]] }, \"keys\": [", data, at[0], side * 0.0129 + 0.001, at[1], 6 + side * kind->slant * 180 / 3.14159265358979, side < 0 ? 180 : 0, 0.241 + kind->raised);
        else
            tool_put(t, "\"shape\": \"finger\", \"size\": [0.04, 0.02, 0.11], \"resolution\": 22, \"cage_nodes\": 100, \"position\": [%g, 0.001, 0.156], \"rotation\": [180, 6, %d],\n"
                        "      \"material\": { \"young\": 2e6, \"poisson\": 0.4, \"density\": 1100, \"damping\": [0, 0.005] },\n"
                        "      \"drive\": [{ \"select\": { \"box\": [[-0.1, -0.1, 0.206], [0.1, 0.1, 0.25]] }, \"keys\": [", side * 0.0322, side < 0 ? 180 : 0);
        rack_keys(t, c, kind->slant, kind->up + (path ? 0.03 : 0), RACK_X + kind->first_slot + slot * RACK_PITCH - kind->shift - kind->middle, path ? 0.06 : 0, kind->low);
        tool_put(t, "] }] }");
    }
    tool_put(t, " ] }\n");
}

static void place(paper *p, const rack_kind *kind, const char *data, int path, double slot, double h)
{
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    char name[32], title[160];
    const char *what = kind->mesh ? "UMI finger, dinner plate, " : data ? "UMI finger, " : "";
    double target = RACK_X + kind->first_slot + slot * RACK_PITCH, one, other;   /* one, other: ends of the plate along x */
    double held[3] = { NAN, NAN, NAN }, slip = 0, sway = 0, tilt = 0, x = NAN, lowest = NAN, high, epsv;
    rack_text(&t, kind, data, h, path, slot);
    snprintf(name, sizeof name, "rack_%s%d", kind->name, path + 1);
    snprintf(title, sizeof title, "%s%sinto the rack, path %d", what, kind->mesh ? "" : "plate ", path + 1);
    if (paper_begin(&r, p, name, title, t.data, 0.02)) {
        embipc_body_parameters q;
        embipc_body_view v;
        (void)embipc_body_get_parameters(r.world, paper_body(&r, "plate"), &q);
        epsv = q.friction_velocity;
        while (paper_step(&r)) {
            double s = r.stats.time, d[3];
            for (int k = 0; k < 3; k++) d[k] = paper_state(&r, "plate").centre[k] - (paper_state(&r, "finger 1").centre[k] + paper_state(&r, "finger 2").centre[k]) / 2;
            if (s > 1.5 && isnan(held[0])) memcpy(held, d, sizeof held);
            if (s > 1.5 && s < 2.95) {
                slip = sqrt((d[1] - held[1]) * (d[1] - held[1]) + (d[2] - held[2]) * (d[2] - held[2]));
                sway = fmax(sway, slip);
            }
        }
        (void)embipc_body_get_view(r.world, paper_body(&r, "plate"), &v);
        {   /* the normal of the plate: between the means of its two faces, by their numbers at the start */
            double a[3] = { 0, 0, 0 }, l;
            embipc_body_state s = paper_state(&r, "plate");
            for (int i = 0; i < v.vertex_count; i++) {
                const double *rest = r.s.body[1].def.x + 3 * v.vertex_origin[i];
                for (int k = 0; k < 3; k++) a[k] += (rest[2] > kind->middle ? 1 : -1) * (v.x[3 * i + k] - s.centre[k]);
            }
            l = tool_length(a);
            tilt = acos(fmin(1, fabs(a[0]) / l)) * 180 / 3.14159265358979;
        }
        paper_extent(&r, "plate", 0, &one, &other);
        x = (one + other) / 2;
        paper_extent(&r, "plate", 2, &lowest, &high);
        paper_row(p, "< <a href=\"%s.html\">%spath %d</a>|%d|%.2f|%.2f|%.1f|%.1f|%.1f|%d|%.2e|%.2f", name, what, path + 1, r.sum.unknowns, 1e3 * slip, 1e3 * epsv * 1.45, 1e3 * (x - target), tilt,
                  1e3 * lowest, r.sum.cut, r.sum.smallest, r.sum.simulated / r.sum.cpu);
        snprintf(title, sizeof title, "%spath %d: plate against fingers while held, shift that remains after 1.45 s", what, path + 1);
        paper_range(p, title, "Embedded IPC IV-B: held", 0, epsv * 1.45 + 5e-4, slip, "m");
        paper_why(p, PAPER_MODEL, "ε<sub>v</sub> t is %.2g mm, and 0.5 mm are granted to fingers that have not come to rest yet. On the way the plate sways by up to %.2g mm, as the fingers are soft.",
                  1e3 * epsv * 1.45, 1e3 * sway);
        snprintf(title, sizeof title, "%spath %d: middle of the plate off the middle of its slot, at the end", what, path + 1);
        paper_near(p, title, "Embedded IPC IV-B: placed; play of the slot", 0, x - target, kind->play, "m");
        if (kind->mesh) paper_why(p, PAPER_MODEL, "Let go, it leans on the wires on its heavy side. They leave %.1f mm to each side of the slot's middle, and where they touch, within the ring of its foot, "
                                                  "the face is 7.1 mm from the middle of its thickness.", 1e3 * (RACK_PITCH - 2 * RACK_WIRE) / 2);
        snprintf(title, sizeof title, "%spath %d: tilt of the plate at the end", what, path + 1);
        paper_range(p, title, "Embedded IPC fig. 11", 0, 15, tilt, "degrees");
        paper_end(&r);
    }
    tool_text_free(&t);
}

void paper_rack(paper *p)
{
    paper_section(p, "rack", "Plate and dish rack", "Du et al., Embedded IPC, section IV-B, figures 9 to 11. Meshes and paths of that paper are not published.");
    fin_ray(p);
    paper_heading(p, "Grasp, lift, move over, lower into a slot, release");
    paper_text(p, "Two fingers with ribs (cages of 100 nodes, 2 MPa) take a plate of 180 × 5 mm (affine, 10<sup>7</sup> Pa, as in that paper) by its faces from a stand, lift it, carry it over a rack of "
                  "wires of 3.6 mm at 32 mm pitch, lower and release it; on two paths to two slots, each move from rest to rest with the least jerk. h = 0.01 s.");
    paper_table(p, NULL, "< path|unknowns|shift that remains, mm|ε<sub>v</sub>t, mm|off the middle of the slot, mm|tilt at the end, degrees|lowest point, mm|cut short|smallest gap, m|x real time");
    place(p, &rack_own, NULL, 0, 0, 0.01);
    if (!p->quick) place(p, &rack_own, NULL, 1, 1, 0.01);
    if (p->data && !p->quick)
        for (int path = 0; path < 2; path++) {
            place(p, &rack_real, p->data, path, path, 0.01);
            place(p, &rack_rimmed, p->data, path, path, 0.01);
        }
    paper_table_end(p);
    if (p->data) paper_text(p, "The finger of a UMI gripper (its own mesh, a cage of about 150 nodes, 10 MPa, held by its mount) and a rack of 11 wires at the same pitch, on which a disc of 196 mm stands, and a dinner plate of that size, whose rim rises to 18 mm over its foot%s.",
                            p->quick ? ": left out of the quick report" : "");
    else paper_text(p, "Skipped: the finger of a UMI gripper, a dinner plate with a rim and a rack of 11 wires, whose meshes come from outside (<code>make paper DATA=DIR</code>).");
}
