/* Derived parameters: each rule where it holds, and that it does what it is for: thin, fine, soft and stiff bodies,
 * the warning about a gap that is pressed too far. (Sizes from 1 mm to 100 m, slopes and stacks: make validate.) */
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "field_contact.h"

/* what the rules make of a mesh as a body of d, at 10 m/s^2 and h = 0.01 s */
static embipc_body_parameters parameters(embipc_body_def d, test_mesh m)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_parameters p;
    scene s;
    embi_set(wd.gravity, 0, 0, -10);
    memset(&p, 0, sizeof p);
    s = scene_empty(&wd);
    scene_add_mesh(&s, &d, &m, 1);
    ENSURE(s.n == 1 && embipc_body_get_parameters(s.w, s.body[0], &p) == EMBIPC_OK);
    scene_end(&s);
    return p;
}

static void test_dhat(void)
{
    embipc_body_def d = scene_def("body", EMBIPC_CAGE, 0, 0, 0);
    embipc_body_parameters p = parameters(d, test_mesh_box(0, 0, 0, 1, 1, 1));
    test_mesh fine = test_mesh_sphere(3);
    double edge = 0, area = 0, triangles = fine.tri_count;
    ENSURE_REL(p.dhat, 1e-3 * sqrt(3), 1e-12);
    ENSURE_REL(p.mean_thickness, 1.0 / 3, 1e-12);
    p = parameters(d, test_mesh_box(0, 0, 0, 1, 1, 1e-3));   /* a plate: a tenth of its thickness */
    ENSURE_REL(p.dhat, 1e-4, 3e-3);
    for (int t = 0; t < fine.tri_count; t++) {
        const double *a = fine.x + 3 * fine.tri[3 * t], *b = fine.x + 3 * fine.tri[3 * t + 1], *c = fine.x + 3 * fine.tri[3 * t + 2];
        double u[3], v[3], n[3];
        embi_sub(u, b, a);
        embi_sub(v, c, a);
        embi_cross(n, u, v);
        area += embi_norm(n) / 2;
        edge += embi_norm(u) / fine.tri_count;
    }
    p = parameters(d, fine);
    ENSURE_REL(p.mean_edge, edge, 0.05);
    ENSURE_REL(p.mean_edge, sqrt(4 / sqrt(3) * area / triangles), 1e-12);
    for (int n = 0; n < 8; n++) {   /* a roof, above or below its frame's origin or nearly through it: open, so it is not thin */
        static const double at[18] = {-1, -1, 1, 0, -1, 1.1, 1, -1, 1, -1, 1, 1, 0, 1, 1.1, 1, 1, 1}, height[4] = {1, -1, 1e-15, -1e-15};
        static const int of[12] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4};
        test_mesh roof = test_mesh_make(6, 4, 0);
        for (int i = 0; i < 18; i++) roof.x[i] = at[i] * (i % 3 == 2 ? height[n / 2] : 1);
        memcpy(roof.tri, of, sizeof of);
        d.kind = n % 2 ? EMBIPC_KINEMATIC : EMBIPC_FIXED;
        p = parameters(d, roof);
        ENSURE_REL(p.dhat, 1e-3 * sqrt(8 + 0.01 * height[n / 2] * height[n / 2]), 1e-9);
        ENSURE(p.mean_thickness == 0);
    }
    d.kind = EMBIPC_CAGE;
    {
        embi_body b;   /* four million triangles: half an edge is less than 1e-3 of the diagonal */
        memset(&b, 0, sizeof b);
        b.diagonal = b.area = 1;
        b.solid.volume = 0.1;
        b.bvh.closed = 1;
        b.nt = 4000000;
        ENSURE_REL(embi_derive_dhat(&b), sqrt(4 / (sqrt(3) * 4e6)) / 2, 1e-12);
        ENSURE(embi_derive_dhat(&b) < 5e-4);
    }
}

/* kappa leaves 0.3 dhat to what it was derived for */
static void test_kappa(void)
{
    int soft = 0, stiff = 0;
    for (int kind = EMBIPC_AFFINE; kind <= EMBIPC_CAGE; kind++)
        for (double young = 1e3; young < 1e12; young *= 10) {
            embipc_body_def d = scene_def("ball", (embipc_kind)kind, 0, 0, 0);
            test_mesh ball = test_mesh_sphere(3);
            int vertices = ball.vertex_count;
            embipc_body_parameters p;
            double weight, pressure, fall, gap;
            scene_stretch(&ball, 0.1, 0.1, 0.1);
            d.material.young = young;
            p = parameters(d, ball);
            weight = 1000 * 4.0 / 3 * 3.141592653589793 * 1e-3 * (10 + p.diagonal / 0.01);
            pressure = young * 4 * 3.141592653589793 * 1e-2 / vertices;
            fall = 1000 * 4.0 / 9 * 3.141592653589793 * 1e-3 * (10 + sqrt(2 * 10 * 10 * p.diagonal) / 0.01);
            ENSURE_REL(p.load, weight, 0.06);   /* the faceted ball is smaller */
            ENSURE_REL(p.pressure_load, kind == EMBIPC_AFFINE ? fall : pressure, 0.06);
            gap = embipc_barrier_gap(fmax(p.load / 3, p.pressure_load), p.kappa, p.dhat) / p.dhat;
            weight = embipc_barrier_gap(p.load * 10 / (10 + p.diagonal / 0.01) / 3, p.kappa, p.dhat) / p.dhat;
            ENSURE(weight <= 0.9 + 1e-12);              /* it rests in its barrier ... */
            ENSURE(gap <= 0.3 + 1e-12);
            if (weight < 0.9 - 1e-12) ENSURE_REL(gap, 0.3, 1e-12);   /* ... and else bears what it should */
            stiff += weight > 0.9 - 1e-12;
            soft += p.pressure_load < p.load / 3;
        }
    ENSURE(soft >= 2 && stiff >= 2 && soft + stiff < 18);
}

/* Young's modulus of every model is what a slightly stretched cube, free at its sides, answers */
static void test_young(void)
{
    for (int model = 0; model < EMBIPC_MODEL_COUNT; model++) {
        embipc_material m = embipc_default_body_def().material;
        embi_material law;
        double F[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, P[9] = {0}, H[81], e = 1e-6, nu;
        m.model = (embipc_model)model;
        m.young = 2.5e5;
        m.poisson = 0.35;
        m.stiffness = 3e4;
        m.mooney[0] = 1e4; m.mooney[1] = 2e4; m.mooney[2] = 3e5;
        embi_material_set(&law, &m);
        nu = law.lambda / (2 * (law.lambda + law.mu));
        F[0] += e;
        F[4] = F[8] = 1 - nu * e;
        ENSURE(embipc_material_evaluate(&m, F, NULL, P, H, 0) == EMBIPC_OK);
        ENSURE_REL(P[0] / e, embi_material_young(&law), 1e-4);
        ENSURE_CLOSE(P[4], 0, 1e-4 * P[0]);
    }
}

/* ---- a soft ball between plates ---- */

typedef struct heard { int count; char text[320]; } heard;
static void hear(int level, const char *text, void *ctx)
{
    heard *h = (heard *)ctx;
    ENSURE(level == 1);
    if (!h->count++) snprintf(h->text, sizeof h->text, "%s", text);
}

/* Plates close on a ball of 1e6 Pa by 60 %. kappa 0: derived. Returns what is left to close, m. */
static double squeeze(double kappa, heard *h)
{
    static const double keys[2][21] = {{0, 0, 0, 0, 0, 0, 0, 0.5, 0.015, 0, 0, 0, 0, 0, 0.6, 0.015, 0, 0, 0, 0, 0},
                                       {0, 0, 0, 0, 0, 0, 0, 0.5, -0.015, 0, 0, 0, 0, 0, 0.6, -0.015, 0, 0, 0, 0, 0}};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("rubber ball", EMBIPC_CAGE, 0, 0, 0);
    double left = 0, tightest = 1;
    scene s;
    embi_set(wd.gravity, 0, 0, 0);
    memset(h, 0, sizeof *h);
    wd.kappa = kappa;
    wd.log = hear;
    wd.log_ctx = h;
    s = scene_empty(&wd);
    d.friction = 0.5;
    d.material.young = 1e6;
    scene_ball(&s, d, 0.025, 2, 2);
    for (int k = 0; k < 2; k++) {
        d = scene_def(k ? "right plate" : "left plate", EMBIPC_KINEMATIC, k ? 0.031 : -0.031, 0, 0);
        d.friction = 0.5;
        scene_box(&s, d, 0.01, 0.1, 0.1, 1);
        scene_drive(&s, s.n - 1, keys[k], 3, NULL, NULL, 0);
    }
    for (int n = 0; n < 60 && scene_step(&s); n++) {
        static embipc_contact c[4096];
        int count = embipc_world_contacts(s.w, c, 4096);
        double least = INFINITY, nearest = INFINITY;
        embipc_body_parameters p;
        embipc_body_get_parameters(s.w, s.body[0], &p);
        ENSURE(count <= 4096);
        for (int i = 0; i < count; i++) {
            double share = c[i].distance / p.dhat;
            least = fmin(least, share);
            nearest = fmin(nearest, fabs(share / s.stats.tightest - 1));
        }
        if (count) ENSURE(s.stats.tightest >= least * (1 - 1e-12) && nearest < 1e-9);
        else ENSURE(s.stats.tightest == INFINITY);
        if (count) ENSURE(s.stats.tight[0].index1 == s.body[0].index1);
        if (count) ENSURE(s.stats.tight[1].index1 == s.body[1].index1 || s.stats.tight[1].index1 == s.body[2].index1);
        tightest = fmin(tightest, s.stats.tightest);
        left = s.stats.drive_short;
    }
    ENSURE((h->count > 0) == (tightest < (left > 0 ? 0.1 : 0.05)));
    scene_end(&s);
    return left;
}
static void test_squeeze(void)
{
    heard h;
    ENSURE(squeeze(0, &h) < 1e-12);
    ENSURE(squeeze(1e3, &h) > 5e-3);   /* the plates give up ... */
    ENSURE(h.count > 0);               /* ... and it is said why */
    ENSURE(strstr(h.text, "\"rubber ball\" and \"") && strstr(h.text, " plate\" are pressed to ") && strstr(h.text, "kappa "));
    if (test_bad) printf("  heard %d: %s\n", h.count, h.text);
}

/* Boxes that drop on a heap of boxes at 5 m/s, their own size in two steps, one every five steps: what arrives is stopped
 * where the barrier is felt, and steps find their end. (With a kappa for the weight and one diagonal a second alone, 12
 * of these 300 did not.) */
static void test_heap(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -3);
    int boxes = 0, cut = 0, touching = 0;
    d.friction = 0.5;
    scene_box(&s, d, 6, 6, 6, 1);
    for (int n = 0; n < 300; n++) {
        if (n % 5 == 0) {
            embipc_body body;
            test_mesh box = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
            d = scene_def("box", EMBIPC_AFFINE, 0.5 * sin(boxes * 1.7), 0.5 * cos(boxes * 2.3), 1.5 + 0.3 * (boxes % 3));
            d.material.model = EMBIPC_ORTHOGONALITY;
            d.material.stiffness = 1e7;
            d.friction = 0.5;
            d.velocity[2] = -2;
            test_mesh_shape(&box, &d);
            boxes += ENSURE_OK(s.w, embipc_body_create(s.w, &d, &body));
            test_mesh_free(&box);
        }
        if (!scene_step(&s)) break;
        cut += !s.stats.converged;
        touching += s.stats.contacts > 40;
    }
    ENSURE(embipc_world_intersections(s.w, NULL, 0) == 0);
    printf("  %d boxes on a heap: %d of 300 steps cut short\n", boxes, cut);
    ENSURE(boxes == 60 && touching > 100 && cut <= 2);
    scene_end(&s);
}

static char fit_said[512];
static void fit_log(int level, const char *text, void *ctx)
{
    (void)level;
    (void)ctx;
    snprintf(fit_said, sizeof fit_said, "%s", text);
}

/* a plate of so many metres beside a frame that is so wide inside; scale and turn for both; given: the plate's dhat */
static embipc_pair_parameters fit(double thick, double opening, double scale, double angle, embipc_kind kind, double given)
{
    double R[9] = {cos(angle), -sin(angle), 0, sin(angle), cos(angle), 0, 0, 0, 1};
    embipc_world_def wd = embipc_default_world_def();
    embipc_pair_parameters p;
    embipc_body_def d = scene_def("frame", kind, 0, 0, 0);
    test_mesh m = field_frame(0.3, opening / 2, 0.2);
    scene s;
    fit_said[0] = 0;
    wd.log = fit_log;
    s = scene_empty(&wd);
    d.scale = scale;
    memcpy(d.rotation, R, sizeof R);
    scene_add_mesh(&s, &d, &m, 0);
    d = scene_def("plate", EMBIPC_AFFINE, 0, 0, 2 * scale);
    d.scale = scale;
    d.dhat = given;
    memcpy(d.rotation, R, sizeof R);
    m = test_mesh_box(0, 0, 0, 0.3, thick, 0.25);
    scene_add_mesh(&s, &d, &m, 0);
    memset(&p, 0, sizeof p);
    ENSURE(embipc_world_get_pair(s.w, s.body[1], s.body[0], &p) == EMBIPC_OK);
    scene_end(&s);
    return p;
}

/* One fits into the other with less than dhat to spare: the pair takes 0.4 of that and bears as much; or says so. */
static void test_fits(void)
{
    embipc_pair_parameters wide = fit(0.1, 0.2, 1, 0, EMBIPC_FIXED, 0);
    ENSURE(wide.contact && wide.clearance == 0 && wide.dhat > 3e-4 && !fit_said[0]);
    for (int k = 0; k < 24; k++) {
        double scale = k % 3 == 0 ? 1 : k % 3 == 1 ? 1e-3 : 100, room = k / 3 % 2 ? 1e-4 : 3e-6, angle = k / 6 * 0.3;
        embipc_kind kind = k / 12 ? EMBIPC_CAGE : EMBIPC_FIXED;
        embipc_pair_parameters open = fit(0.1, 0.2, scale, angle, kind, 0), p = fit(0.1, 0.1 + 2 * room, scale, angle, kind, 0);
        ENSURE_REL(p.clearance, room * scale, 1e-6);
        ENSURE_REL(p.dhat, 0.4 * p.clearance, 1e-12);
        if (kind == EMBIPC_FIXED) ENSURE_REL(p.kappa * p.dhat, open.kappa * open.dhat, 1e-12);   /* else that of the frame, which differs */
        ENSURE(strstr(fit_said, "\"frame\" and \"plate\" fit with ") && strstr(fit_said, "between them dhat is "));
        p = fit(0.1, 0.1 + 2 * room, scale, angle, kind, 2e-4 * scale);
        ENSURE_REL(p.clearance, room * scale, 1e-6);
        ENSURE(p.dhat == 2e-4 * scale);
        ENSURE(strstr(fit_said, "for these to slide give one of them dhat = "));
        p = fit(0.1, 0.1 + 2 * room, scale, angle, kind, 0.4 * room * scale);   /* as told */
        ENSURE(p.clearance == 0 && !fit_said[0]);
    }
    wide = fit(0.1, 0.1, 1, 0, EMBIPC_FIXED, 0);   /* equal sizes, and what is too thick, fit into nothing */
    ENSURE(wide.clearance == 0 && !fit_said[0]);
    wide = fit(0.1, 0.0999, 1, 0, EMBIPC_FIXED, 0);
    ENSURE(wide.clearance == 0 && !fit_said[0]);
}

enum { ACCURACY_STEPS = 40, ACCURACY_BODIES = 4, ACCURACY_PAIRS = 8 };

/* The contact force on each body in each step of a grasp and of bodies that drop and roll, with this accuracy; or with a given
 * tolerance. weight: of the usual one. centre: where the second bodies end. Returns the solves. */
static int accuracy_run(embipc_accuracy accuracy, double tolerance, double weight, double *force, double *centre)
{
    int solves = 0;
    for (int k = 0; k < 2; k++) {
        embipc_world_def wd = scene_world_def(SCENE_DROP);
        embipc_body_state st;
        scene s;
        wd.accuracy = accuracy;
        wd.gravity[2] *= weight;
        wd.tolerance = tolerance;
        wd.max_iterations = 1000;   /* passes of friction end at a share of them */
        s = scene_empty(&wd);
        if (k == 0) scene_grasp(&s);
        else scene_drop(&s);
        for (int n = 0; n < ACCURACY_STEPS; n++, force += 3 * ACCURACY_BODIES) {
            embipc_pair_force pair[ACCURACY_PAIRS];
            int count;
            if (!scene_step(&s)) break;
            solves += s.stats.total_iterations;
            memset(force, 0, 3 * ACCURACY_BODIES * sizeof *force);
            count = embipc_world_pair_forces(s.w, pair, ACCURACY_PAIRS);
            ENSURE(count <= ACCURACY_PAIRS && s.n <= ACCURACY_BODIES);
            if (test_bad) break;
            for (int i = 0; i < count; i++)
                for (int b = 0; b < s.n; b++) {
                    if (s.body[b].index1 == pair[i].a.index1) embi_axpy(force + 3 * b, 1, pair[i].force);
                    if (s.body[b].index1 == pair[i].b.index1) embi_axpy(force + 3 * b, -1, pair[i].force);
                }
        }
        st = scene_state(s.w, s.body[1]);
        embi_copy(centre + 3 * k, st.centre);
        scene_end(&s);
    }
    return solves;
}

static int accuracy_order(const void *a, const void *b)
{
    return *(const double *)a < *(const double *)b ? -1 : 1;
}

/* Each accuracy beside a tolerance of about 1e-4 epsv, with 25 weights. In the median errors of forces are at most twice those
 * that embipc_accuracy tells for impacts, and grow with coarser ones; a finer one takes more solves. A box that turns over a
 * corner meets forks: with some weights a tiny difference decides when it touches, and forces of single steps differ much. */
static void test_accuracy(void)
{
    static const embipc_accuracy order[3] = {EMBIPC_ACCURACY_FINE, EMBIPC_ACCURACY_NORMAL, EMBIPC_ACCURACY_COARSE};
    static const double limit[3][2] = {{6e-5, 4e-7}, {1e-3, 5e-6}, {0.18, 5e-4}};   /* of the largest force, and m */
    static double force[2][2 * ACCURACY_STEPS * ACCURACY_BODIES * 3];
    enum { WEIGHTS = 25 };
    double centre[2][6], off[3][WEIGHTS], away[3][WEIGHTS];
    int solves[3] = {0, 0, 0};
    for (int n = 0; n < WEIGHTS; n++) {
        double weight = 1 + 0.004 * n, most = 0;
        (void)accuracy_run(EMBIPC_ACCURACY_NORMAL, 1e-8, weight, force[1], centre[1]);
        for (size_t i = 0; i < sizeof force[1] / sizeof *force[1]; i++) most = fmax(most, fabs(force[1][i]));
        for (int k = 0; k < 3; k++) {
            off[k][n] = away[k][n] = 0;
            solves[k] += accuracy_run(order[k], 0, weight, force[0], centre[0]);
            for (size_t i = 0; i < sizeof force[0] / sizeof *force[0]; i++)
                off[k][n] = fmax(off[k][n], fabs(force[0][i] - force[1][i]) / most);
            for (int i = 0; i < 6; i++) away[k][n] = fmax(away[k][n], fabs(centre[0][i] - centre[1][i]));
        }
    }
    for (int k = 0; k < 3; k++) {
        qsort(off[k], WEIGHTS, sizeof *off[k], accuracy_order);
        qsort(away[k], WEIGHTS, sizeof *away[k], accuracy_order);
        printf("  accuracy %d: %d solves, forces off by %.2g of the largest, centres by %.2g m; at most %.2g and %.2g\n",
               (int)order[k], solves[k], off[k][WEIGHTS / 2], away[k][WEIGHTS / 2], off[k][WEIGHTS - 1], away[k][WEIGHTS - 1]);
        ENSURE(off[k][WEIGHTS / 2] < limit[k][0] && away[k][WEIGHTS / 2] < limit[k][1]);
        ENSURE(k == 0 || (off[k][WEIGHTS / 2] > off[k - 1][WEIGHTS / 2] && solves[k] < solves[k - 1]));
    }
}

/* Gravity whose square is infinite is allowed beside bodies that do not move: they have no load. */
static void test_no_mass_no_load(void)
{
    const embipc_real gravity[3] = {0, 0, EMBI_EITHER(-1e300, -1e30)};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_parameters p;
    scene s = scene_empty(&wd);
    scene_ground(&s, 1, 0);
    (void)ENSURE_OK(s.w, embipc_world_set_gravity(s.w, gravity));
    (void)ENSURE_OK(s.w, embipc_body_get_parameters(s.w, s.body[0], &p));
    ENSURE(p.load == 0 && p.pressure_load == 0 && p.kappa == 1);
    scene_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(dhat);
    RUN(kappa);
    RUN(young);
    RUN(squeeze);
    RUN(heap);
    RUN(fits);
    RUN(accuracy);
    RUN(no_mass_no_load);
    test_unused();
    exact_unused();
    return test_end("test_defaults");
}
