/* Nonlinear materials in the world: every model in motion; a ball squeezed to a tenth and one thrown at a plate, in full
 * space, of log neo-Hookean: no tet inverts, nothing crosses, every step converges or says that it was cut short. */
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "model_test.h"

static const char *const model_name[EMBIPC_MODEL_COUNT] = {"corotated", "orthogonality", "arap", "fixed_corotated", "stable_neo_hookean",
                                                           "neo_hookean", "stvk", "mooney_rivlin"};

static void set_model(embipc_material *m, embipc_model model, double young, double poisson)
{
    m->model = model;
    m->young = young;
    m->poisson = poisson;
    m->mooney[0] = m->mooney[1] = young / (2 * (1 + poisson)) / 4;   /* mu = 2 (C1 + C2) */
    m->mooney[2] = young / (3 * (1 - 2 * poisson));
    m->stiffness = young / 8;
}

/* a ball of two shells and a centre node, as tets: 325 nodes, 1280 tets */
static test_mesh layered_ball(double radius)
{
    test_mesh s = test_mesh_sphere(2), r = test_mesh_make(2 * s.vertex_count + 1, s.tri_count, 4 * s.tri_count);
    int n = s.vertex_count, *t = r.tets;
    for (int i = 0; i < 3 * n; i++) {
        r.x[i] = radius * s.x[i];
        r.x[3 * n + i] = 0.6 * radius * s.x[i];
    }
    for (int k = 0; k < s.tri_count; k++) {
        int v[3], split[16];
        memcpy(v, s.tri + 3 * k, sizeof v);
        for (int i = 0; i < 3; i++)   /* ascending: the diagonal of a side of the prism starts at its lower end */
            if (v[i & 1] > v[(i & 1) + 1]) { int x = v[i & 1]; v[i & 1] = v[(i & 1) + 1]; v[(i & 1) + 1] = x; }
        for (int i = 0; i < 3; i++)   /* v0 .. vi outside, vi .. v2 inside */
            for (int j = 0; j < 4; j++) split[4 * i + j] = j <= i ? v[j] : v[j - 1] + n;
        for (int j = 0; j < 4; j++) split[12 + j] = j < 3 ? v[j] + n : 2 * n;
        for (int i = 0; i < 4; i++, t += 4) {
            double e[9];
            memcpy(t, split + 4 * i, 4 * sizeof *t);
            for (int j = 0; j < 3; j++) embi_sub(e + 3 * j, r.x + 3 * t[j + 1], r.x + 3 * t[0]);
            if (embi_m3_det(e) < 0) { int x = t[2]; t[2] = t[3]; t[3] = x; }
        }
    }
    test_mesh_free(&s);
    scene_boundary(&r);
    return r;
}

/* ---- every model moves as it should ---- */

/* A spinning, stretched block in free space: the momentum stays, energy never grows, the objective never grows; turned by
 * 90 degrees at once it feels nothing. */
static void test_every_model_moves(void)
{
    for (int m = 0; m < EMBIPC_MODEL_COUNT; m++)
        for (int averaged = 0; averaged < 2; averaged++) {
            embipc_world_def wd = embipc_default_world_def();
            embipc_body_def d = scene_def("block", m == EMBIPC_ORTHOGONALITY ? EMBIPC_AFFINE : EMBIPC_FULL, 0, 0, 0);
            scene s;
            int iterations = 0, steps = 0;
            double energy = 0;
            embi_set(wd.gravity, 0, 0, 0);
            set_model(&d.material, (embipc_model)m, 1e5, 0.4);
            d.material.averaged = averaged;
            d.velocity[0] = 1;
            d.angular_velocity[1] = 8;
            s = scene_empty(&wd);
            scene_box(&s, d, 0.2, 0.1, 0.1, 2);
            if (s.n < 1) return;
            {   /* stretched by 30 % along x, pressed by 20 % along y */
                embi_state *state = &s.w->s;
                for (int i = 0; i < state->body[0].nn; i++) {
                    state->q[3 * i] *= 1.3;
                    state->q[3 * i + 1] *= 0.8;
                }
                embi_apply_rows(state, state->body, state->q, state->x);
            }
            for (int n = 0; n < 30 && scene_step(&s); n++) {
                embipc_body_state b = scene_state(s.w, s.body[0]);
                double e = s.stats.kinetic + s.stats.elastic, least = 1;
                ENSURE(s.stats.converged);
                ENSURE(s.stats.passes > 1 || s.stats.objective_after <= s.stats.objective_before + s.stats.objective_rounding);
                ENSURE_CLOSE(b.momentum[0], b.mass * 1, 1e-4 * b.mass);
                if (n && s.w->s.body[0].elastic.nonlinear) ENSURE(e <= energy * (1 + 1e-9));   /* lagging may add some */
                ENSURE(model_inverted(s.w->s.body, s.w->s.q, &least) == 0);
                energy = e;
                iterations += s.stats.newton_iterations;
                steps++;
            }
            ENSURE(steps == 30);
            printf("  %-18s %s: %.1f solves per step\n", model_name[m], averaged ? "averaged" : "plain   ", iterations / 30.0);
            scene_end(&s);
        }
}

/* At rest in any orientation, far away, a nonlinear body stays put to rounding: one solve, no motion. */
static void test_rest_is_rest(void)
{
    for (int m = EMBIPC_ARAP; m < EMBIPC_MODEL_COUNT; m++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("block", EMBIPC_FULL, 3, -2, 5);
        scene s;
        double w[3] = {0.3, 1.1, -0.7};
        embi_set(wd.gravity, 0, 0, 0);
        set_model(&d.material, (embipc_model)m, 1e5, 0.4);
        embi_m3_rotation(d.rotation, w);
        s = scene_empty(&wd);
        scene_box(&s, d, 0.2, 0.1, 0.1, 2);
        for (int n = 0; n < 5 && scene_step(&s); n++) {
            ENSURE(s.stats.converged && s.stats.newton_iterations <= 2);
            ENSURE(s.stats.max_speed < 1e-9);
        }
        scene_end(&s);
    }
}

/* ---- squeezed and thrown ---- */

typedef struct tally { int steps, cut, solves, worst, crossings, inverted; double least_det, least_gap; } tally;

static void watch(scene *s, int body, tally *t)
{
    t->steps++;
    t->cut += !s->stats.converged;
    t->solves += s->stats.newton_iterations;
    t->worst = embi_max_int(t->worst, s->stats.newton_iterations);
    t->crossings += scene_crossings(s->w);
    t->inverted += model_inverted(s->w->s.body + body, s->w->s.q, &t->least_det);
    t->least_gap = fmin(t->least_gap, s->stats.min_distance);
    ENSURE(scene_finite(s->w));
}
static tally tally_new(void)
{
    tally t;
    memset(&t, 0, sizeof t);
    t.least_det = t.least_gap = 1e300;
    return t;
}
static void tell(const char *what, const tally *t)
{
    printf("  %s: %d steps, %d cut short, %.1f solves each, at most %d; %d inverted, smallest det F %.3g, %d crossings, "
           "smallest gap %.3g m\n", what, t->steps, t->cut, (double)t->solves / t->steps, t->worst, t->inverted, t->least_det,
           t->crossings, t->least_gap);
}

/* Plates press the ball to a tenth of its diameter in 0.5 s. */
static void squeeze(embipc_model model, int guarded)
{
    static const double keys[2][14] = {{0, 0, 0, 0, 0, 0, 0, 0.5, 0.0465, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0.5, -0.0465, 0, 0, 0, 0, 0}};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("ball", EMBIPC_FULL, 0, 0, 0);
    test_mesh ball = layered_ball(0.05);
    tally t = tally_new();
    char what[64];
    double lo, hi;
    scene s;
    embi_set(wd.gravity, 0, 0, 0);
    s = scene_empty(&wd);
    set_model(&d.material, model, 5e4, 0.45);
    d.friction = 0.5;
    d.kappa = 1e6;   /* the derived one is for the weight: the plates would give up */
    scene_add_mesh(&s, &d, &ball, 0);
    for (int k = 0; k < 2; k++) {
        embipc_body_def p = scene_def(k ? "right plate" : "left plate", EMBIPC_KINEMATIC, k ? 0.0565 : -0.0565, 0, 0);
        p.friction = 0.5;
        scene_box(&s, p, 0.01, 0.4, 0.4, 1);
        scene_drive(&s, s.n - 1, keys[k], 2, NULL, NULL, 0);
    }
    for (int n = 0; n < 55 && scene_step(&s); n++) {
        watch(&s, 0, &t);
        if (guarded) ENSURE(s.stats.converged || s.stats.newton_iterations >= wd.max_iterations || s.stats.drive_short > 0);
    }
    snprintf(what, sizeof what, "squeezed by 90 %%, %s", model_name[model]);
    tell(what, &t);
    scene_extent(s.w, s.body[0], 0, &lo, &hi);
    ENSURE(t.steps == 55 && t.crossings == 0 && hi - lo < 0.01);
    if (guarded) ENSURE(t.inverted == 0 && t.least_det > 0);
    scene_end(&s);
}
static void test_squeeze(void)
{
    squeeze(EMBIPC_NEO_HOOKEAN, 1);
}

/* At 30 m/s against a plate of 1 mm, h = 0.01 s: 0.3 m a step, three diameters. */
static void throw_at(embipc_model model, int guarded, double speed)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("plate", EMBIPC_FIXED, 0, 0, 0);
    test_mesh ball = layered_ball(0.05);
    tally t = tally_new();
    char what[64];
    double lo, hi;
    scene s;
    embi_set(wd.gravity, 0, 0, 0);
    s = scene_empty(&wd);
    scene_box(&s, d, 0.6, 0.6, 0.001, 1);
    d = scene_def("ball", EMBIPC_FULL, 0, 0, 0.1);
    set_model(&d.material, model, 5e4, 0.45);
    d.velocity[2] = -speed;
    scene_add_mesh(&s, &d, &ball, 0);
    for (int n = 0; n < 30 && scene_step(&s); n++) {
        watch(&s, 1, &t);
        if (guarded) ENSURE(s.stats.converged || s.stats.newton_iterations >= wd.max_iterations);
    }
    snprintf(what, sizeof what, "thrown at %g m/s, %s", speed, model_name[model]);
    tell(what, &t);
    scene_extent(s.w, s.body[1], 2, &lo, &hi);
    ENSURE(t.steps == 30 && t.crossings == 0 && lo > 0);
    if (guarded) ENSURE(t.inverted == 0 && t.least_det > 0);
    scene_end(&s);
}
static void test_throw(void)
{
    throw_at(EMBIPC_NEO_HOOKEAN, 1, 30);
}

/* A block without weight, its nodes at -end along an axis gripped and those at +end driven by two keys. Frees the mesh. */
static scene between_grips(const embipc_material *material, test_mesh *m, int axis, double end, const double keys[14])
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("block", EMBIPC_FULL, 0, 0, 0);
    int *nodes[2], count[2] = {0, 0};
    scene s;
    for (int k = 0; k < 2; k++) nodes[k] = (int *)calloc((size_t)m->vertex_count, sizeof(int));
    for (int i = 0; i < m->vertex_count; i++)
        if (fabs(m->x[3 * i + axis]) > 0.999 * end) {
            int k = m->x[3 * i + axis] > 0;
            nodes[k][count[k]++] = i;
        }
    embi_set(wd.gravity, 0, 0, 0);
    wd.time_step = 0.05;
    d.material = *material;
    d.self_contact = 0;
    s = scene_empty(&wd);
    scene_add_mesh(&s, &d, m, 0);
    scene_drive(&s, 0, NULL, 0, NULL, nodes[0], count[0]);
    scene_drive(&s, 0, keys, 2, NULL, nodes[1], count[1]);
    for (int k = 0; k < 2; k++) free(nodes[k]);
    return s;
}

/* A bar held at one end and pulled to 1.6 of its length at the other: reached, with few solves a step because the first
 * already carries the whole bar along, and the work of the drive is what the bar took up. */
static void test_pulled(void)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0.24, 0, 0, 0, 0, 0};
    for (int m = EMBIPC_ARAP; m < EMBIPC_MODEL_COUNT; m++)
        for (int averaged = 0; averaged < 2; averaged++) {
            test_mesh bar = scene_mesh_tet_box(4, 1, 1, 0.4, 0.1, 0.1);
            embipc_material material = embipc_default_body_def().material;
            int most = 0;
            double work = 0;
            scene s;
            set_model(&material, (embipc_model)m, 1e5, 0.4);
            material.averaged = averaged;
            s = between_grips(&material, &bar, 0, 0.2, keys);
            for (int n = 0; n < 20 && scene_step(&s); n++) {
                ENSURE(s.stats.converged && s.stats.drive_short == 0);
                most = embi_max_int(most, s.stats.newton_iterations);
                work += s.stats.drive_work;
            }
            ENSURE(most <= (m == EMBIPC_STVK ? 5 : 4));
            ENSURE(s.stats.elastic < work && s.stats.elastic > 0.93 * work);   /* the force of each step's end, times the way */
            if (m == EMBIPC_ARAP) ENSURE_REL(s.stats.elastic, 0.5 * 1e5 * 0.36 * 0.004, 1e-3);   /* nothing but a stretch of 1.6 */
            printf("  %-18s %s: at most %d solves, elastic %.3f J of %.3f J\n", model_name[m], averaged ? "averaged" : "plain   ", most,
                   s.stats.elastic, work);
            scene_end(&s);
        }
}

/* A block of rubber, K/G = 1500, pressed to 0.6 between its ends: it barrels, and projected Hessians are too stiff for that. With
 * as much of the true one as keeps the factor positive it takes 11.4 solves a step, with all or nothing 14.4, without 28. */
static void test_rubber_barrels(void)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, -0.04, 0, 0, 0};
    for (int averaged = 0; averaged < 2; averaged++) {
        test_mesh m = scene_mesh_tet_box(6, 6, 6, 0.1, 0.1, 0.1);
        embipc_material material = embipc_default_body_def().material;
        int solves = 0, most = 0;
        double least = 1;
        scene s;
        material.model = EMBIPC_MOONEY_RIVLIN;
        material.mooney[0] = 0.293e6;
        material.mooney[1] = 0.177e6;
        material.mooney[2] = 1410e6;
        material.averaged = averaged;
        s = between_grips(&material, &m, 2, 0.05, keys);
        for (int n = 0; n < 20 && scene_step(&s); n++) {
            ENSURE(s.stats.converged && s.stats.drive_short == 0);
            solves += s.stats.newton_iterations;
            most = embi_max_int(most, s.stats.newton_iterations);
        }
        ENSURE(model_inverted(s.w->s.body, s.w->s.q, &least) == 0);
        printf("  rubber pressed to 0.6, %s: %.1f solves a step, at most %d\n", averaged ? "averaged" : "plain", solves / 20.0, most);
        ENSURE(solves < 14 * 20 && most < 25);
        scene_end(&s);
    }
}

/* The same grips driven through each other, and tets that may not invert: the drive goes as far as they do, gives up the
 * rest of each step within a few solves, and tells that the body itself is in the way. */
static void test_pressed_flat(void)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, -0.2, 0, 0, 0};
    test_mesh m = scene_mesh_tet_box(3, 3, 3, 0.1, 0.1, 0.1);
    embipc_material material = embipc_default_body_def().material;
    embipc_drive_state d;
    int blocked = 0, most = 0;
    double least = 1;
    scene s;
    set_model(&material, EMBIPC_FIXED_COROTATED, 1e5, 0.4);
    material.determinant_bound = 1;
    s = between_grips(&material, &m, 2, 0.05, keys);
    for (int n = 0; n < 20 && scene_step(&s); n++) {
        most = embi_max_int(most, s.stats.newton_iterations);
        if (!ENSURE_OK(s.w, embipc_drive_get_state(s.w, s.drive[1], &d)) || !d.blocked) continue;
        ENSURE(d.blocked_by.index1 == s.body[0].index1 && d.gap == 0 && d.shortfall > 0);
        blocked++;
    }
    printf("  pressed flat: the drive gives up in %d of 20 steps, at most %d solves\n", blocked, most);
    ENSURE(blocked > 5 && most < 40);
    ENSURE(model_inverted(s.w->s.body, s.w->s.q, &least) == 0 && least < 0.01);
    scene_end(&s);
}

/* A block whose nodes fly to where half a turn would take them, on straight lines: all of it is flat half way, and whole again
 * at the end. Nothing in energy or contact objects to that end; the bound on the step does, before the determinant is a tenth
 * of what it was. */
static void test_through_itself(void)
{
    for (int bound = 0; bound < 2; bound++)
        for (int m = 0; m < EMBIPC_MODEL_COUNT; m++) {
            embipc_world_def wd = embipc_default_world_def();
            embipc_body_def d = scene_def("block", m == EMBIPC_ORTHOGONALITY ? EMBIPC_AFFINE : EMBIPC_FULL, 0, 0, 0);
            const embipc_iteration *list;
            double least = 1;
            scene s;
            embi_set(wd.gravity, 0, 0, 0);
            set_model(&d.material, (embipc_model)m, 1, 0.4);
            d.material.density = 1e5;
            d.material.determinant_bound = bound;
            d.self_contact = 0;
            s = scene_empty(&wd);
            scene_box(&s, d, 0.2, 0.1, 0.1, 1);
            if (s.n < 1) return;
            for (int i = 0; i < 3 * s.w->s.body[0].nn; i++) s.w->s.v[i] = i % 3 < 2 ? -2 * s.w->s.q[i] / wd.time_step : 0;
            (void)ENSURE_OK(s.w, embipc_world_set_limits(s.w, 1, NULL));
            if (!scene_step(&s)) return;
            ENSURE(embipc_world_iterations(s.w, &list) == 1);
            ENSURE(model_inverted(s.w->s.body, s.w->s.q, &least) == 0);
            if (bound || m == EMBIPC_NEO_HOOKEAN)   /* (1 - 2 alpha)^2 > 0.1 */
                ENSURE(list[0].alpha_ccd > 0.34 && list[0].alpha_ccd <= (1 - sqrt(0.1)) / 2 + 1e-9);
            else ENSURE(list[0].alpha_ccd == 1);
            scene_end(&s);
        }
}

/* ---- fibres: a finger with ribs as one material ---- */

/* Modulus along n of an isotropic E, nu with a fibre Ef at an angle: the compliance S of (C + Ef A A), A = a a, by the
 * Sherman-Morrison formula; n n : S : A = (cos^2 - nu sin^2)/E. */
static void test_fibre_modulus(void)
{
    for (int k = 0; k <= 6; k++) {
        double angle = k * 0.26179938779914943, c2 = cos(angle) * cos(angle), s2 = 1 - c2, E = 2, nu = 0.3, Ef = 5, e = 1e-4;
        double share = (c2 - nu * s2) / E, modulus = 1 / (1 / E - Ef / (1 + Ef / E) * share * share), bend;
        embipc_material m = embipc_default_body_def().material;
        double F[9] = {1 + e, 0, 0, 0, 1, 0, 0, 0, 1}, P[9], H[81], r[3];
        m.young = E;
        m.poisson = nu;
        m.fibre_stiffness = Ef;
        m.fibre[0] = cos(angle);
        m.fibre[1] = sin(angle);
        for (int n = 0; n < 20; n++) {   /* free of stress on all sides but the ends: Newton on F11, F22, F01 = F10 */
            double A[9], det, C[9];
            static const int at[3] = {4, 8, 1};
            ENSURE(embipc_material_evaluate(&m, F, NULL, P, H, 0) == EMBIPC_OK);
            for (int i = 0; i < 3; i++) {
                r[i] = P[at[i]] + (at[i] == 1 ? P[3] : 0);
                for (int j = 0; j < 3; j++)
                    A[3 * i + j] = H[9 * at[i] + at[j]] + (at[j] == 1 ? H[9 * at[i] + 3] : 0) +
                                   (at[i] == 1 ? H[27 + at[j]] + (at[j] == 1 ? H[27 + 3] : 0) : 0);
            }
            det = embi_m3_det(A);
            for (int j = 0; j < 3; j++) {   /* Cramer */
                memcpy(C, A, sizeof C);
                for (int i = 0; i < 3; i++) C[3 * i + j] = r[i];
                F[at[j]] -= embi_m3_det(C) / det;
                if (at[j] == 1) F[3] = F[1];
            }
        }
        bend = F[1] / e;
        ENSURE_REL(P[0] / e, modulus, 1e-3);
        ENSURE(k == 0 || k == 6 ? fabs(bend) < 1e-6 : k != 1 || fabs(bend) > 0.05);   /* off its axes it shears when pulled */
    }
}

/* A block of stiff and soft layers (nu 0) is a block of the soft way across, E_h = 1/mean(1/E), with a fibre of mean(E) - E_h
 * along: a world with one of either. */
static scene rib_body(test_mesh *m, int ribs, int layers, double height, double gravity)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("finger", EMBIPC_FULL, 0, 0, 0);
    double *stiff = (double *)calloc((size_t)m->tet_count, sizeof *stiff);
    scene s;
    embi_set(wd.gravity, 0, 0, gravity);
    wd.time_step = 20;
    wd.tolerance = 1e-9;
    d.material.poisson = 0;
    d.material.averaged = 0;
    d.self_contact = 0;
    d.material.young = 1e5;
    if (ribs) {   /* from the bottom up: the outermost are one of each */
        for (int t = 0; t < m->tet_count; t++) {
            double z = 0;
            for (int k = 0; k < 4; k++) z += m->x[3 * m->tets[4 * t + k] + 2] / 4;
            stiff[t] = (int)floor((z / height + 0.5) * layers) % 2 ? 9 : 1;
        }
        d.tet_stiffness = stiff;
    } else {
        d.material.young = 2 / (1 / 1e5 + 1 / 9e5);
        d.material.fibre[0] = 1;
        d.material.fibre_stiffness = 5e5 - d.material.young;   /* across the ribs in y it is too soft: not looked at */
    }
    s = scene_empty(&wd);
    scene_add_mesh(&s, &d, m, 0);
    free(stiff);
    return s;
}

/* modulus of a block of 0.1 m along the ribs or across them */
static double rib_modulus(int ribs, int along)
{
    static const double still[7] = {0, 0, 0, 0, 0, 0, 0};
    double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, result;
    test_mesh m = scene_mesh_tet_box(2, 2, 8, 0.1, 0.1, 0.1);
    int nodes[2][256], count[2] = {0, 0}, axis = along ? 0 : 2;
    scene s;
    keys[8 + axis] = 1e-4;
    for (int i = 0; i < m.vertex_count; i++) {
        if (m.x[3 * i + axis] < -0.0499) nodes[0][count[0]++] = i;
        if (m.x[3 * i + axis] > 0.0499) nodes[1][count[1]++] = i;
    }
    s = rib_body(&m, ribs, 8, 0.1, 0);
    scene_drive(&s, 0, still, 1, NULL, nodes[0], count[0]);
    scene_drive(&s, 0, keys, 2, NULL, nodes[1], count[1]);
    for (int n = 0; n < 2 && scene_step(&s); n++) ENSURE(s.stats.converged);
    result = 2 * s.stats.elastic / (1e-4 * 1e-4 * 0.1);   /* E = 2 Psi L^2/(V d^2) */
    scene_end(&s);
    return result;
}
static void test_ribs(void)
{
    for (int ribs = 0; ribs < 2; ribs++) {
        double along = rib_modulus(ribs, 1), across = rib_modulus(ribs, 0);
        printf("  modulus %s: along %.6g Pa, across %.6g\n", ribs ? "with ribs" : "of the fibre", along, across);
        ENSURE_REL(along, 5e5, 1e-6);
        ENSURE_REL(across, 1.8e5, 1e-6);
    }
}

/* mean sag of a cantilever of 1 m with 8 layers in its height of 0.1 m, in nx x 1 x nz cells */
static double rib_sag(int ribs, int nx, int nz)
{
    static const double still[7] = {0, 0, 0, 0, 0, 0, 0};
    test_mesh m = scene_mesh_tet_box(nx, 1, nz, 1, 0.0125, 0.1);
    int nodes[64], count = 0;
    double result;
    scene s;
    for (int i = 0; i < m.vertex_count; i++)
        if (m.x[3 * i] < -0.4999) nodes[count++] = i;
    s = rib_body(&m, ribs, 8, 0.1, -0.002);
    scene_drive(&s, 0, still, 1, NULL, nodes, count);
    for (int n = 0; n < 6 && scene_step(&s); n++) ENSURE(s.stats.converged);
    result = scene_state(s.w, s.body[0]).centre[2];
    scene_end(&s);
    return result;
}

/* The sag with ribs over that of the fibre. Beam theory: both E I = 5e5 I but for the neutral axis of the layers, which lies
 * (9e5 - 1e5)/(2 5e5) H/(2 n) = H/20 above the middle, E I' = (1 - 12/400) E I; both sag by w L^4/(20 E I) in bending and by
 * w L^2/(3 (5/6) G A), G = 9e4, in shear. Linear tets long against their height shear where they should bend, and more so where
 * ribs of ten times the modulus are: 4 : 1 costs 15 %, gone by the square of the length. */
static void test_ribbed_cantilever(void)
{
    double bend = 1 / (20 * 5e5 / 12 * 0.1 * 0.1), shear = 1 / (3 * 5.0 / 6 * 9e4), want = (bend / 0.97 + shear) / (bend + shear), r[4];
    for (int k = 0; k < 4; k++) {
        r[k] = k < 3 ? rib_sag(1, 40 << k, 8) / rib_sag(0, 40 << k, 8) : rib_sag(1, 320, 16) / rib_sag(0, 320, 16);
        printf("  sag with ribs over that of the fibre, %3d x 1 x %2d cells: %.4f (beam theory %.4f)\n", k < 3 ? 40 << k : 320, k < 3 ? 8 : 16, r[k], want);
        if (k && k < 3) ENSURE(fabs(r[k] - want) < fabs(r[k - 1] - want) / 3);
    }
    ENSURE_CLOSE(r[3], want, 1e-3);
}

/* ---- a finger with the fin ray effect ---- */

enum { RAY_RIBS, RAY_FIBRE, RAY_SOFT, RAY_SOLID };
typedef struct ray { double turn, force, tip; } ray;   /* degrees, N, m */

/* Cells of a finger 110 mm high, 40 mm wide at its foot: walls of 4 mm in front and behind that lean on each other, ribs of 5 mm
 * every 25 mm; 6 x 1 x 22 of them, each cut n times. Returns where a node at (i, k) goes along x. */
static double ray_x(int n, int i, int k)
{
    double size = 0.04, wall = 0.004, width = size - (size - 3 * wall) * k / (22.0 * n);
    if (i <= n) return wall * i / n;
    if (i >= 5 * n) return width - wall * (6 * n - i) / n;
    return wall + (width - 2 * wall) * (i - n) / (4.0 * n);
}
/* stiffness of a cell against that of the walls; core: of what stands for ribs and the room between them */
static double ray_cell(int kind, int i, int k, double core)
{
    if (i == 0 || i == 5 || k == 0 || k >= 20 || kind == RAY_SOLID) return 1;
    return kind == RAY_RIBS ? (k % 5 ? 1e-6 : 1) : core;
}

/* slope of the front between the heights z and z + 25 mm, from where it stood upright */
static double ray_slope(const embi_state *s, const double *start, int count, double z)
{
    double sum[2] = {0, 0};
    int n[2] = {0, 0};
    for (int v = 0; v < count; v++)
        for (int e = 0; e < 2; e++)
            if (start[3 * v] < 1e-9 && fabs(start[3 * v + 2] - z - 0.025 * e) < 0.0026) {
                sum[e] += s->q[3 * v] - start[3 * v];
                n[e]++;
            }
    return (sum[1] / n[1] - sum[0] / n[0]) / 0.025;
}

/* Held at its foot, its front pushed 5 mm back at half the height. */
static ray ray_push(int kind, int n, double core)
{
    static const double still[7] = {0, 0, 0, 0, 0, 0, 0}, keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0.005, 0, 0, 0, 0, 0};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("finger", EMBIPC_FULL, 0, 0, 0);
    test_mesh m = test_mesh_tet_grid(6 * n, n, 22 * n);
    int nodes[2][256], count[2] = {0, 0}, nodes_all = m.vertex_count;
    double *stiff = (double *)calloc((size_t)m.tet_count, sizeof *stiff), *start = (double *)calloc((size_t)(3 * nodes_all), sizeof *start);
    ray r = {0, 0, 0};
    scene s;
    for (int t = 0; t < m.tet_count; t++) {
        double c[3] = {0, 0, 0};
        for (int k = 0; k < 4; k++) embi_axpy(c, 0.25 / n, m.x + 3 * m.tets[4 * t + k]);
        stiff[t] = ray_cell(kind, (int)floor(c[0]), (int)floor(c[2]), core);
    }
    for (int v = 0; v < nodes_all; v++) {
        int i = (int)(m.x[3 * v] + 0.5), k = (int)(m.x[3 * v + 2] + 0.5);
        embi_set(m.x + 3 * v, ray_x(n, i, k), m.x[3 * v + 1] * 0.02 / n, 0.005 * k / n);
        if (k == 0) nodes[0][count[0]++] = v;
        if (i == 0 && k == 11 * n) nodes[1][count[1]++] = v;
    }
    memcpy(start, m.x, (size_t)(3 * nodes_all) * sizeof *start);
    scene_boundary(&m);
    embi_set(wd.gravity, 0, 0, 0);
    wd.time_step = 100;
    wd.tolerance = 1e-9;
    d.material.young = 2e6;
    d.material.poisson = 0;
    d.material.averaged = 0;
    d.self_contact = 0;
    d.tet_stiffness = stiff;
    if (kind == RAY_FIBRE) {   /* a fifth of the height is ribs; where the walls are it does no more than keep their thickness */
        d.material.fibre[0] = 1;
        d.material.fibre_stiffness = 2e6 / 5 / core;
    }
    s = scene_empty(&wd);
    scene_add_mesh(&s, &d, &m, 0);
    scene_drive(&s, 0, still, 1, NULL, nodes[0], count[0]);
    scene_drive(&s, 0, keys, 2, NULL, nodes[1], count[1]);
    for (int k = 0; k < 4 && scene_step(&s); k++) ENSURE(s.stats.converged);
    r.turn = 57.29577951308232 * (ray_slope(&s.w->s, start, nodes_all, 0.01) - ray_slope(&s.w->s, start, nodes_all, 0.075));
    r.force = 2 * s.stats.elastic / 0.005;   /* as if it were linear */
    for (int v = 0; v < nodes_all; v++)
        if (start[3 * v] < 1e-9 && start[3 * v + 2] > 0.11 - 1e-9) r.tip += (s.w->s.q[3 * v] - start[3 * v]) / (n + 1);
    scene_end(&s);
    free(stiff);
    free(start);
    return r;
}

/* Ribs cut out of a finger against a core that is stiff along them alone: a fibre of a fifth of E, in stuff that shears as a frame
 * of ribs (length L, thickness t, a apart) and walls (thickness w) does, 1/(G L) = a^2/(2 E w^3) + a L/(E t^3), L = 25 mm at a
 * quarter of the height. Both turn their front towards the push, as a solid finger does not; without the fibre the walls come
 * nearer to each other. */
static void test_finray(void)
{
    static const char *const name[4] = {"ribs", "fibre", "no fibre", "solid"};
    double a = 0.025, L = 0.025, w = 0.004, t = 0.005, G = 1 / (L * (a * a / (2 * w * w * w) + a * L / (t * t * t)));
    ray r[4];
    for (int kind = 0; kind < 4; kind++) {
        r[kind] = ray_push(kind, 3, 2 * G);   /* nu 0: E = 2 G */
        printf("  finger, %-8s: front turns by %.2f degrees towards the push, %.3f N, tip moves by %.2f mm\n", name[kind], r[kind].turn, r[kind].force, 1e3 * r[kind].tip);
    }
    ENSURE_REL(r[RAY_FIBRE].turn, r[RAY_RIBS].turn, 0.05);
    ENSURE_REL(r[RAY_FIBRE].tip, r[RAY_RIBS].tip, 0.05);
    ENSURE_REL(r[RAY_FIBRE].force, r[RAY_RIBS].force, 0.1);
    ENSURE(r[RAY_SOLID].turn < 0.25 * r[RAY_RIBS].turn);
    ENSURE(fabs(r[RAY_SOFT].tip - r[RAY_RIBS].tip) > 2 * fabs(r[RAY_FIBRE].tip - r[RAY_RIBS].tip));
}

/* ---- stiffness and friction that change ---- */

/* a ball that falls on the ground, of every kind and model */
static scene falling(int m, embipc_kind kind, double young)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("ball", kind, 0, 0, 0.0505);
    scene s = scene_empty(&wd);
    scene_ground(&s, 1, 0.5);
    set_model(&d.material, (embipc_model)m, young, 0.3);
    d.material.fibre[0] = 1;
    d.material.fibre_stiffness = m == EMBIPC_COROTATED ? young : 0;
    d.velocity[2] = -0.5;
    scene_ball(&s, d, 0.05, 2, kind == EMBIPC_FULL ? 2 : 0);
    return s;
}
/* A body made of 4 times softer material and scaled by 4 moves like one made so, in cells, tets and as one tet. Scaled
 * while it is pressed to the ground it comes to rest where the other one does. */
static void test_stiffness_scaled(void)
{
    static const embipc_kind kinds[3] = {EMBIPC_AFFINE, EMBIPC_CAGE, EMBIPC_FULL};
    for (int k = 0; k < 3 * EMBIPC_MODEL_COUNT; k += TEST_STRIDE) {
        int m = k / 3, late = m == EMBIPC_COROTATED;
        embipc_kind kind = kinds[k % 3];
        scene s[2];
        embipc_body_state state[2];
        if (m == EMBIPC_ORTHOGONALITY && kind != EMBIPC_AFFINE) continue;
        s[0] = falling(m, kind, 4e4);
        s[1] = falling(m, kind, 1e4);
        (void)ENSURE_OK(s[1].w, embipc_body_scale_stiffness(s[1].w, s[1].body[1], 4));
        for (int n = 0; n < 25; n++) {
            for (int i = 0; i < 2; i++) {
                scene_step(&s[i]);
                state[i] = scene_state(s[i].w, s[i].body[1]);
            }
            ENSURE_CLOSE(state[0].centre[2], state[1].centre[2], 1e-7);
            ENSURE_CLOSE(state[0].elastic, state[1].elastic, 1e-6 * state[0].elastic + 1e-12);
        }
        for (int i = 0; i < 2; i++) scene_end(&s[i]);
        if (!late) continue;
        s[0] = falling(m, kind, 4e5);
        s[1] = falling(m, kind, 1e5);
        for (int n = 0; n < 500; n++)
            for (int i = 0; i < 2; i++) {
                scene_step(&s[i]);
                ENSURE(s[i].stats.converged && scene_sound(s[i].w));
                state[i] = scene_state(s[i].w, s[i].body[1]);
                for (int v = 0; v < 5 && n == 150; v++) {   /* a fibre that is pressed buckles, once something disturbs it */
                    double f[3] = {0.5, 0.2, 0};
                    f[0] = v % 2 ? 0.5 : -0.7;
                    f[2] = v;
                    (void)ENSURE_OK(s[i].w, embipc_body_apply_force(s[i].w, s[i].body[1], 11 + 7 * v, f));
                }
                if (n == 20 && i) {
                    double before = state[1].elastic;
                    (void)ENSURE_OK(s[1].w, embipc_body_scale_stiffness(s[1].w, s[1].body[1], 4));
                    state[1] = scene_state(s[1].w, s[1].body[1]);
                    ENSURE_CLOSE(state[1].elastic, 4 * before, 1e-9 * before);
                }
            }
        ENSURE_CLOSE(state[0].centre[2], state[1].centre[2], 2e-6);
        for (int i = 0; i < 2; i++) scene_end(&s[i]);
    }
}
/* What is refused changes nothing; fixed bodies have no stiffness. */
static void test_stiffness_refused(void)
{
    scene s = falling(EMBIPC_COROTATED, EMBIPC_CAGE, 1e4), t = falling(EMBIPC_COROTATED, EMBIPC_CAGE, 1e4);
    static const double wrong[5] = {0, -1, INFINITY, NAN, 1e200};
    embipc_body none = {0, 0};
    for (int k = 0; k < 5; k++) {
        ENSURE(embipc_body_scale_stiffness(s.w, s.body[1], wrong[k]) != EMBIPC_OK);
        ENSURE(strstr(embipc_world_error(s.w)->text, "stiffness") != NULL && strstr(embipc_world_error(s.w)->text, "\"ball\"") != NULL);
    }
    ENSURE(embipc_body_scale_stiffness(s.w, s.body[0], 2) == EMBIPC_OK && embipc_body_scale_stiffness(s.w, none, 2) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_body_set_friction(s.w, none, 0.5, 0) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_body_set_friction(s.w, s.body[1], -1, 0) == EMBIPC_ERR_ARGUMENT && embipc_body_set_friction(s.w, s.body[1], 0, NAN) != EMBIPC_OK);
    for (int n = 0; n < 10; n++) {
        scene_step(&s);
        scene_step(&t);
        ENSURE(scene_bits(s.w) == scene_bits(t.w));
    }
    scene_end(&s);
    scene_end(&t);
}
/* A box on a slope of 20 degrees sticks, slides with g (sin a - mu cos a) on ice, and sticks again. */
static void test_friction_changed(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d;
    scene s;
    double a = 20 * acos(-1.0) / 180, mu = 0.1 * 0.6, down[3];
    wd.gravity[0] = 9.81 * sin(a);
    wd.gravity[2] = -9.81 * cos(a);
    s = scene_empty(&wd);
    scene_ground(&s, 10, 0.6);
    d = scene_def("box", EMBIPC_AFFINE, -2, 0, 0.0505);
    d.material.young = 1e8;
    d.friction = 0.6;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    for (int n = 0; n < 100; n++) {
        if (n == 30) (void)ENSURE_OK(s.w, embipc_body_set_friction(s.w, s.body[1], mu * mu / 0.6, 0));
        if (n == 60) (void)ENSURE_OK(s.w, embipc_body_set_friction(s.w, s.body[1], 0.6, 0));
        scene_step(&s);
        embi_copy(down, scene_state(s.w, s.body[1]).velocity);
        if (n == 29 || n == 99) ENSURE(fabs(down[0]) < 1e-3);
        if (n == 59) ENSURE_CLOSE(down[0], 9.81 * (sin(a) - mu * cos(a)) * 0.3, 0.02 * 9.81 * 0.3 * sin(a));
    }
    scene_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(every_model_moves);
    RUN(rest_is_rest);
    RUN(squeeze);
    RUN(throw);
    RUN(through_itself);
    RUN(pulled);
    RUN(rubber_barrels);
    RUN(pressed_flat);
    RUN(fibre_modulus);
    RUN(ribs);
    RUN(ribbed_cantilever);
    RUN(finray);
    RUN(stiffness_scaled);
    RUN(stiffness_refused);
    RUN(friction_changed);
    if (argc > 1 && !strcmp(argv[1], "others"))   /* by hand: what the other models do there */
        for (int m = EMBIPC_ARAP; m < EMBIPC_MODEL_COUNT; m++) {
            test_name = "others";
            squeeze((embipc_model)m, 0);
            throw_at((embipc_model)m, 0, 30);
        }
    return test_end("test_world_material");
}
