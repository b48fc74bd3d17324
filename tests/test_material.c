/* Materials: signed singular values; energies, stresses and Hessians of one point against independent numbers and
 * differences, at flat, inverted and equal singular values too; objectivity; whole bodies with and without averaged
 * volume strain and fibre; motion of nonlinear bodies in the world, and tets that never invert. */
#include "inside.h"
#include "geometry_test.h"
#include "model_test.h"
#include "deriv.h"

static const embipc_model every[] = {EMBIPC_COROTATED, EMBIPC_ORTHOGONALITY, EMBIPC_ARAP,
                                     EMBIPC_FIXED_COROTATED, EMBIPC_STABLE_NEO_HOOKEAN, EMBIPC_NEO_HOOKEAN,
                                     EMBIPC_STVK, EMBIPC_MOONEY_RIVLIN};
enum { MODELS = sizeof every / sizeof *every };

static int is_lagged(embipc_model m) { return m == EMBIPC_COROTATED; }
static int has_rotation(embipc_model m)   /* singular where the rotation jumps */
{
    return is_lagged(m) || m == EMBIPC_ARAP || m == EMBIPC_FIXED_COROTATED;
}

/* mu = 1, lambda = 4 (E 2.8, nu 0.4) where the model has both; kappa_o 0.25 */
static embipc_material unit_material(embipc_model model)
{
    embipc_material m = embipc_default_body_def().material;
    m.model = model;
    m.young = model == EMBIPC_ARAP ? 2 : 2.8;
    m.poisson = 0.4;
    m.stiffness = 0.25;
    m.mooney[0] = 0.3;
    m.mooney[1] = 0.2;
    m.mooney[2] = 4 + 2.0 / 3;
    m.averaged = 0;
    return m;
}

/* ---- singular values ---- */

/* those of one matrix beside others, which must not matter: in the lane `beside`, the others with that of `other` */
static void svd3_beside(const double F[9], const double other[9], int beside, double U[9], double s[3], double V[9])
{
    embi_vec A[9], u[9], v[9], x[3];
    double part[EMBI_LANES];
    for (int i = 0; i < 9; i++) A[i] = embi_all(other[i]);
    embi_m3s_set_one(A, F, beside);
    embi_svd3s(A, u, x, v);
    embi_m3s_one(U, u, beside);
    embi_m3s_one(V, v, beside);
    for (int i = 0; i < 3; i++) {
        embi_store(part, x[i]);
        s[i] = part[beside];
    }
}

static void svd3(const double F[9], double U[9], double s[3], double V[9]) { svd3_beside(F, F, 0, U, s, V); }

/* singular values within rel of themselves, plus abs of the largest entry of F */
static void check_svd(const double F[9], double rel, double absolute)
{
    double U[9], V[9], s[3], size = 0, exact[3];
    for (int i = 0; i < 9; i++) size = fmax(size, fabs(F[i]));
    svd3(F, U, s, V);
    deriv_singular_values(F, exact);
    ENSURE(s[0] >= s[1] * (1 - 1e-15));   /* equal ones: to rounding, what squares to nothing likewise */
    ENSURE(s[1] >= fabs(s[2]) * (1 - 1e-15) - 1e-140 * size);
    ENSURE_CLOSE(embi_m3_det(U), 1, 1e-14);
    ENSURE_CLOSE(embi_m3_det(V), 1, 1e-14);
    for (int i = 0; i < 3; i++) ENSURE_CLOSE(fabs(s[i]), exact[i], rel * exact[i] + absolute * size);
    for (int i = 0; i < 9; i++) {
        double sum = 0, uu = 0, vv = 0;
        for (int k = 0; k < 3; k++) {
            sum += U[3 * (i / 3) + k] * s[k] * V[3 * (i % 3) + k];
            uu += U[3 * k + i / 3] * U[3 * k + i % 3];
            vv += V[3 * k + i / 3] * V[3 * k + i % 3];
        }
        ENSURE_CLOSE(sum, F[i], 4e-15 * size);
        ENSURE_CLOSE(uu, i % 4 ? 0 : 1, 4e-15);
        ENSURE_CLOSE(vv, i % 4 ? 0 : 1, 4e-15);
    }
}

/* F = A diag(s) B^T with random rotations */
static void random_F(const double s[3], double F[9])
{
    double A[9], B[9];
    geometry_rotation(A);
    geometry_rotation(B);
    for (int i = 0; i < 9; i++) {
        F[i] = 0;
        for (int k = 0; k < 3; k++) F[i] += A[3 * (i / 3) + k] * s[k] * B[3 * (i % 3) + k];
    }
}

static void test_svd(void)
{
    static const double cases[][3] = {{1, 1, 1},     {2, 2, 1},     {2, 1, 1},    {1, 1, -1},   {2, 1, -1},
                                      {1, 1, 0},     {1, 0, 0},     {0, 0, 0},    {1e-3, 1, 5}, {1e8, 1, 1e-8},
                                      {1, 1e-12, 0}, {1, 1e-9, -1e-9}, {3, 2, -1e-14}};
    double F[9], s[3], U[9], V[9];
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 9; i++) F[i] = i % 4 ? 0 : cases[c][i / 4];
            if (round) random_F(cases[c], F);
            check_svd(F, 1e-15, round ? 1e-15 : 0);   /* the product is rounded: small ones move */
        }
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < 9; i++) F[i] = test_uniform(-1, 1) * pow(10, round % 3 ? 0 : test_uniform(-150, 150));
        check_svd(F, 1e-14, 1e-15);
    }
    for (int i = 0; i < 9; i++) F[i] = 1;   /* all columns equal */
    check_svd(F, 1e-15, 1e-15);
    /* columns of very different length: each singular value keeps its own precision */
    for (int i = 0; i < 9; i++) F[i] = test_uniform(-1, 1) * (i % 3 == 0 ? 1 : i % 3 == 1 ? 1e-7 : 1e-14);
    check_svd(F, 1e-14, 0);
    F[3] = HUGE_VAL;
    svd3(F, U, s, V);
    ENSURE(s[0] != s[0]);
}

/* a matrix has the same U, s, V, to the bit, whatever stands beside it: others that turn longer, end at once or are not
 * finite */
static void test_svd_side_by_side(void)
{
    double F[9], other[9], U[2][9], s[2][3], V[2][9], stretch[3];
    for (int round = 0; round < 400; round++) {
        for (int i = 0; i < 3; i++) stretch[i] = test_uniform(-2, 2) * (round % 4 == 3 && i ? 1e-9 : 1);
        random_F(stretch, F);
        for (int i = 0; i < 9; i++) other[i] = round % 5 == 0 ? i % 4 == 0 : test_uniform(-1, 1) * pow(10, test_uniform(-9, 9));
        if (round % 5 == 1) other[4] = HUGE_VAL;
        if (round % 5 == 2) memset(other, 0, sizeof other);
        svd3(F, U[0], s[0], V[0]);
        for (int l = 0; l < EMBI_LANES; l++) {
            svd3_beside(F, other, l, U[1], s[1], V[1]);
            ENSURE(!memcmp(U[0], U[1], sizeof *U) && !memcmp(s[0], s[1], sizeof *s) && !memcmp(V[0], V[1], sizeof *V));
        }
    }
}

/* ---- one point ---- */

/* psi and P at F = diag(1.5, .8, .6), mu 1, lambda 4: numbers of independent code */
static void test_numbers(void)
{
    static const struct { embipc_model model; double psi, P[3]; } row[] = {
        {EMBIPC_FIXED_COROTATED, .606800, {.462400, -1.408000, -2.144000}},
        {EMBIPC_STABLE_NEO_HOOKEAN, .601000, {.348000, -1.360000, -2.280000}},
        {EMBIPC_NEO_HOOKEAN, .669334, {-.042678, -2.092520, -3.256694}},
        {EMBIPC_STVK, .556675, {2.625, .112, -.084}},
        {EMBIPC_COROTATED, .470000, {.6, -.8, -1.2}},
        {EMBIPC_MOONEY_RIVLIN, .543400, {.209760, -1.104, -2.172}},
        {EMBIPC_ORTHOGONALITY, .525425, {1.875, -.288, -.384}},
        {EMBIPC_ARAP, .45, {1, -.4, -.8}},
    };
    static const double F[9] = {1.5, 0, 0, 0, .8, 0, 0, 0, .6};
    for (unsigned n = 0; n < sizeof row / sizeof *row; n++) {
        embipc_material m = unit_material(row[n].model);
        double psi, P[9];
        ENSURE(embipc_material_evaluate(&m, F, &psi, P, NULL, 0) == EMBIPC_OK);
        ENSURE_CLOSE(psi, row[n].psi, 5.1e-7);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(P[i], i % 4 ? 0 : row[n].P[i / 4], 5.1e-7);
    }
}

/* twist and flip of stable neo-Hookean there, for the pairs 01, 12, 02 */
static void test_twist_and_flip(void)
{
    static const double twist[3] = {-.44, -2.60, -.92}, flip[3] = {2.44, 4.60, 2.92};
    static const int a[3] = {0, 1, 0}, b[3] = {1, 2, 2};
    static const double F[9] = {1.5, 0, 0, 0, .8, 0, 0, 0, .6};
    embipc_material m = unit_material(EMBIPC_STABLE_NEO_HOOKEAN);
    double H[81];
    for (int project = 0; project < 2; project++) {
        ENSURE(embipc_material_evaluate(&m, F, NULL, NULL, H, project) == EMBIPC_OK);
        for (int n = 0; n < 3; n++) {
            int ij = 3 * a[n] + b[n], ji = 3 * b[n] + a[n];
            double t = H[9 * ij + ij] - H[9 * ij + ji], f = H[9 * ij + ij] + H[9 * ij + ji];
            ENSURE_CLOSE(t, project ? fmax(0, twist[n]) : twist[n], 1e-12);
            ENSURE_CLOSE(f, flip[n], 1e-12);
            ENSURE_CLOSE(H[9 * ji + ji], H[9 * ij + ij], 1e-14);
        }
    }
}

static embipc_material point_material;
static double point_energy(const double *F, void *arg)
{
    double psi = 0;
    (void)arg;
    ENSURE(embipc_material_evaluate(&point_material, F, &psi, NULL, NULL, 0) == EMBIPC_OK);
    return psi;
}
static void point_stress(const double *F, double *P, void *arg)
{
    (void)arg;
    ENSURE(embipc_material_evaluate(&point_material, F, NULL, P, NULL, 0) == EMBIPC_OK);
}
/* ... of a lagged material with the rotation R held: P = R (2 mu E + lambda tr(E) I + fibre (a.E a) a a^T) */
static void lagged_stress(const double *F, double *P, void *arg)
{
    const double *R = (const double *)arg;
    double S[9], E[9], fibre = 0;
    embi_material w;
    embi_material_set(&w, &point_material);
    embi_m3_tmul(S, R, F);
    for (int i = 0; i < 9; i++) E[i] = (S[i] + S[3 * (i % 3) + i / 3]) / 2 - (i % 4 == 0);
    for (int i = 0; i < 9; i++) fibre += w.along[i / 3] * E[i] * w.along[i % 3];
    for (int i = 0; i < 9; i++)
        S[i] = 2 * w.mu * E[i] + (i % 4 == 0) * w.lambda * (E[0] + E[4] + E[8]) +
               w.fibre * fibre * w.along[i / 3] * w.along[i % 3];
    embi_m3_mul(P, R, S);
}

/* Gradient and Hessian against differences; the projected Hessian is the exact one with its negative eigenvalues
 * cut. */
static void check_point(embipc_model model, const double s[3], int fibre)
{
    double F[9], R[9], P[9], H[81], Hp[81], copy[81], w[9], V[81], rebuilt[81] = {0}, size = 0, worst = 0;
    double step = 0.1 * fmin(1, model == EMBIPC_NEO_HOOKEAN ? fabs(s[2]) : 1);
    random_F(s, F);
    point_material = unit_material(model);
    if (fibre && model != EMBIPC_ORTHOGONALITY) {
        point_material.fibre_stiffness = 3;
        for (int i = 0; i < 3; i++) point_material.fibre[i] = test_uniform(-1, 1);
    }
    ENSURE(embipc_material_evaluate(&point_material, F, NULL, P, H, 0) == EMBIPC_OK);
    ENSURE(embipc_material_evaluate(&point_material, F, NULL, NULL, Hp, 1) == EMBIPC_OK);
    ENSURE(deriv_gradient_error(point_energy, NULL, 9, F, P, step, 0.1) < 1e-7);
    if (is_lagged(model)) {
        embi_m3_identity(R);
        embi_polar(R, F);
        ENSURE(deriv_hessian_error(lagged_stress, R, 9, F, H, 1, 0) < 1e-9);
    } else ENSURE(deriv_hessian_error(point_stress, NULL, 9, F, H, step, 0) < 1e-6);
    for (int i = 0; i < 81; i++) {
        size = fmax(size, fabs(H[i]));
        worst = fmax(worst, fabs(H[i] - H[9 * (i % 9) + i / 9]));
    }
    ENSURE(worst <= 1e-12 * size);
    memcpy(copy, Hp, sizeof copy);
    deriv_eigenvalues(9, copy, w);
    ENSURE(w[0] >= -1e-12 * w[8]);
    if (fibre) return;   /* projected by itself: positive, but not the nearest */
    memcpy(copy, H, sizeof copy);
    embi_eigen_symmetric(9, copy, V);
    for (int e = 0; e < 9; e++)
        for (int i = 0; i < 81; i++) rebuilt[i] += fmax(0, copy[10 * e]) * V[9 * (i / 9) + e] * V[9 * (i % 9) + e];
    for (int i = 0; i < 81; i++) ENSURE_CLOSE(Hp[i], rebuilt[i], 1e-11 * size);
}

static void test_point_derivatives(void)
{
    static const double good[][3] = {{1, 1, 1}, {1.3, 1.3, 0.7}, {1.3, 0.7, 0.7}, {2, 2, 2}, {1.2, 1.1, 0.05},
                                     {1.00001, 1, 0.99999}, {0.6, 0.55, 0.5}, {1 + 1e-9, 1, 1}, {5, 1, 0.2}};
    static const double bad[][3] = {{1, 0.8, 0}, {1.2, 1.2, 0}, {1, 0.7, -0.3}, {1, 1, -0.5}, {2, 0.5, -0.1}};
    static const double worse[][3] = {{1, 0, 0}, {0, 0, 0}, {1, 1, -1}, {0.5, 0.3, -0.3}, {1, 1e-9, 0}};
    double s[3];
    for (int n = 0; n < MODELS; n++)
        for (int fibre = 0; fibre < 2; fibre++) {
            for (unsigned c = 0; c < sizeof good / sizeof *good; c++) check_point(every[n], good[c], fibre);
            for (int round = 0; round < 100; round++) {
                for (int i = 0; i < 3; i++) s[i] = test_uniform(0.3, 2);
                check_point(every[n], s, fibre);
            }
            if (every[n] == EMBIPC_NEO_HOOKEAN) continue;
            for (unsigned c = 0; c < sizeof bad / sizeof *bad; c++) check_point(every[n], bad[c], fibre);
            for (int round = 0; round < 100; round++) {
                s[0] = test_uniform(1, 2);
                s[1] = test_uniform(0.6, 1);
                s[2] = test_uniform(-0.5, 0.5);
                check_point(every[n], s, fibre);
            }
            for (unsigned c = 0; c < sizeof worse / sizeof *worse && !has_rotation(every[n]); c++)
                check_point(every[n], worse[c], fibre);
        }
}

/* where the rotation jumps there is no derivative, but finite numbers and a positive matrix all the same; and the
 * logarithm ends in an infinite energy */
static void test_singular_points(void)
{
    static const double worse[][3] = {{1, 0, 0}, {0, 0, 0}, {1, 1, -1}, {0.5, 0.3, -0.3}, {2, 1, -1 + 1e-13}};
    for (int n = 0; n < MODELS; n++)
        for (unsigned c = 0; c < sizeof worse / sizeof *worse; c++) {
            double F[9], psi, P[9], H[81], w[9];
            point_material = unit_material(every[n]);
            random_F(worse[c], F);
            ENSURE(embipc_material_evaluate(&point_material, F, &psi, P, H, 1) == EMBIPC_OK);
            if (every[n] == EMBIPC_NEO_HOOKEAN) {
                if (worse[c][2] < 0) ENSURE(psi == HUGE_VAL);
                continue;
            }
            ENSURE(embi_finite(psi) && embi_all_finite(P, 9) && embi_all_finite(H, 81));
            deriv_eigenvalues(9, H, w);
            ENSURE(w[0] >= -1e-12 * w[8]);
        }
}

/* psi(RF) = psi(F), P(RF) = R P(F); isotropic: psi(FR) = psi(F), P(FR) = P(F) R; no stress at rest, turned or not */
static void test_objectivity(void)
{
    for (int n = 0; n < MODELS; n++)
        for (int round = 0; round < 50; round++) {
            double s[3], F[9], R[9], RF[9], FR[9], psi, psi2, P[9], P2[9], E[9], size = 0;
            embipc_material m = unit_material(every[n]);
            if (round % 2 && every[n] != EMBIPC_ORTHOGONALITY) {
                m.fibre_stiffness = 2;
                m.fibre[1] = 1;
            }
            for (int i = 0; i < 3; i++) s[i] = test_uniform(0.3, 2);
            if (every[n] != EMBIPC_NEO_HOOKEAN && round % 3 == 0) s[2] = -0.2;
            random_F(s, F);
            geometry_rotation(R);
            embi_m3_mul(RF, R, F);
            embi_m3_mul(FR, F, R);
            ENSURE(embipc_material_evaluate(&m, F, &psi, P, NULL, 0) == EMBIPC_OK);
            for (int i = 0; i < 9; i++) size = fmax(size, fabs(P[i]));
            ENSURE(embipc_material_evaluate(&m, RF, &psi2, P2, NULL, 0) == EMBIPC_OK);
            ENSURE_CLOSE(psi2, psi, 1e-13 * (1 + psi));
            embi_m3_mul(E, R, P);
            for (int i = 0; i < 9; i++) ENSURE_CLOSE(P2[i], E[i], 1e-13 * (1 + size));
            ENSURE(embipc_material_evaluate(&m, R, &psi2, P2, NULL, 0) == EMBIPC_OK);
            ENSURE(fabs(psi2) < 1e-28);
            for (int i = 0; i < 9; i++) ENSURE_CLOSE(P2[i], 0, 1e-13);
            if (m.fibre_stiffness > 0) continue;
            ENSURE(embipc_material_evaluate(&m, FR, &psi2, P2, NULL, 0) == EMBIPC_OK);
            ENSURE_CLOSE(psi2, psi, 1e-13 * (1 + psi));
            embi_m3_mul(E, P, R);
            for (int i = 0; i < 9; i++) ENSURE_CLOSE(P2[i], E[i], 1e-13 * (1 + size));
        }
}

/* Every model is the same linear material for small strain: H(I) is that of mu, lambda, or of mu alone. The energy
 * keeps its relative precision there: no cancellation. */
static void test_small_strain(void)
{
    for (int n = 0; n < MODELS; n++) {
        static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        embipc_model model = every[n];
        embipc_material m = unit_material(model);
        double H[81], lambda = model == EMBIPC_ARAP || model == EMBIPC_ORTHOGONALITY ? 0 : 4;
        ENSURE(embipc_material_evaluate(&m, I, NULL, NULL, H, 0) == EMBIPC_OK);
        for (int c = 0; c < 81; c++) {
            int i = c / 27, j = c / 9 % 3, k = c / 3 % 3, l = c % 3;
            double want = (i == k && j == l) + (i == l && j == k) + lambda * (i == j && k == l);
            ENSURE_CLOSE(H[c], want, 1e-13);
        }
        for (double e = 1e-3; e > 1e-9; e /= 10) {
            double F[9] = {1 + e, 0, 0, 0, 1 - 0.5 * e, 0, 0, 0, 1 + 0.25 * e}, psi;
            ENSURE(embipc_material_evaluate(&m, F, &psi, NULL, NULL, 0) == EMBIPC_OK);
            ENSURE_REL(psi, (1.3125 + lambda / 2 * 0.5625) * e * e, 10 * e + 3e-16 * 10 / e);
        }
    }
}

/* sides of a bar of stretch l that bear nothing, and its nominal stress */
static double bar_stress(const embipc_material *m, double l, double *side)
{
    double lo = 0.5, hi = 1.2, P[9] = {0};
    for (int i = 0; i < 60; i++) {
        double F[9] = {l, 0, 0, 0, (lo + hi) / 2, 0, 0, 0, (lo + hi) / 2};
        ENSURE(embipc_material_evaluate(m, F, NULL, P, NULL, 0) == EMBIPC_OK);
        if (P[4] > 0) hi = F[4];
        else lo = F[4];
    }
    *side = lo;
    return P[0];
}

/* A bar pulled and pressed by 1 %: stress over strain E = 2.8, sideways -nu = -0.4, both to 1 % (the mean of the two ways: what
 * is of second order differs from model to model); at 1.3 StVK is exact, P = E (l^2 - 1) l/2. */
static void test_uniaxial(void)
{
    for (int n = 0; n < MODELS; n++) {
        embipc_material m = unit_material(every[n]);
        double thin, thick, side, up = bar_stress(&m, 1.01, &thin), down = bar_stress(&m, 0.99, &thick);
        int loose = every[n] == EMBIPC_ORTHOGONALITY || every[n] == EMBIPC_ARAP;   /* nu 0 */
        ENSURE_REL((up - down) / 0.02, loose ? 2 : 2.8, 0.01);
        ENSURE_CLOSE((thin - thick) / 0.02, loose ? 0 : -0.4, 0.004);
        if (every[n] == EMBIPC_STVK) ENSURE_REL(bar_stress(&m, 1.3, &side), 2.8 * (1.3 * 1.3 - 1) * 1.3 / 2, 1e-12);
    }
}

/* The rubber of the convex-contact paper: C1 0.293, C2 0.177, K 1410 MPa is mu 0.94, lambda 1409.373 and k 1409.959 MPa, by
 * its Hessian at rest (shear, and what all-round stretch and shear leave for lambda). */
static void test_rubber(void)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    embipc_material m = unit_material(EMBIPC_MOONEY_RIVLIN);
    embi_material w;
    double H[81];
    m.mooney[0] = 0.293;
    m.mooney[1] = 0.177;
    m.mooney[2] = 1410;
    ENSURE(embipc_material_evaluate(&m, I, NULL, NULL, H, 0) == EMBIPC_OK);
    ENSURE_CLOSE(H[10], 0.94, 1e-12);              /* dP01/dF01 */
    ENSURE_CLOSE(H[4], 1409.373, 5e-4);             /* dP00/dF11 */
    ENSURE_CLOSE(H[0], 1409.373 + 2 * 0.94, 5e-4);
    ENSURE_CLOSE(H[0] - 4.0 / 3 * H[10], 1410, 1e-9);
    embi_material_set(&w, &m);
    ENSURE_CLOSE(w.lambda + 2 * w.c1, 1409.959, 5e-4);   /* k, of (J - 1)^2 with what C1 leaves there */
}

/* ---- parameters ---- */

static void test_parameters(void)
{
    static const double F[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    embipc_material good = unit_material(EMBIPC_MOONEY_RIVLIN), m;
    double psi;
    ENSURE(embipc_material_evaluate(&good, F, &psi, NULL, NULL, 0) == EMBIPC_OK);
    for (int n = 0; n < 16; n++) {
        m = good;
        if (n == 0) m.poisson = 0.5;
        if (n == 1) m.poisson = -1;
        if (n == 2) m.young = -1;
        if (n == 3) m.young = HUGE_VAL;
        if (n == 4) m.mooney[0] = -0.1;
        if (n == 5) m.mooney[0] = m.mooney[1] = 0;
        if (n == 6) m.mooney[2] = 0.6;
        if (n == 7) m.mooney[1] = NAN;
        if (n == 8) m.model = EMBIPC_MODEL_COUNT;
        if (n == 9) m.fibre_stiffness = -1;
        if (n == 10) m.fibre_stiffness = 1;   /* no direction */
        if (n == 11) m.fibre[0] = NAN;
        if (n == 12) m.mooney[2] = NAN;
        if (n > 12) m.fibre_stiffness = 1, m.fibre[0] = m.fibre[1] = n == 13 ? 1e308 : n == 14 ? 1e-320 : 1e-160;
        ENSURE(embipc_material_evaluate(&m, F, &psi, NULL, NULL, 0) == EMBIPC_ERR_ARGUMENT);
    }
    m = good;
    ENSURE(embipc_material_evaluate(NULL, F, &psi, NULL, NULL, 0) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_material_evaluate(&m, NULL, &psi, NULL, NULL, 0) == EMBIPC_ERR_ARGUMENT);
}

/* ---- a body alone in a world ---- */

/* Exactly the parameters whose energy has no least value are refused: psi over stretches of 1e-100 to 1e4, by the
 * formula of each model. */
static double least_energy(embipc_model model, double nu)
{
    double least = 0, mu = 0.5 / (1 + nu), lambda = nu / ((1 + nu) * (1 - 2 * nu));
    for (int c = 0; c < 20000; c++) {
        double s[3], I = 0, trace = 0, square = 0, J, psi;
        for (int k = 0; k < 3; k++) s[k] = pow(10, c % 2 ? test_uniform(-100, 0) : test_uniform(-4, 4));
        if (c % 4 == 3) s[1] = s[2] = s[0];
        J = s[0] * s[1] * s[2];
        for (int k = 0; k < 3; k++) {
            I += s[k] * s[k];
            square += (s[k] - 1) * (s[k] - 1);
            trace += (s[k] * s[k] - 1) / 2;
        }
        if (model == EMBIPC_FIXED_COROTATED) psi = mu * square + lambda / 2 * (J - 1) * (J - 1);
        else if (model == EMBIPC_STABLE_NEO_HOOKEAN)
            psi = mu / 2 * (I - 3) - mu * (J - 1) + (lambda + mu) / 2 * (J - 1) * (J - 1);
        else if (model == EMBIPC_NEO_HOOKEAN)
            psi = mu / 2 * (I - 3) - mu * log(J) + lambda / 2 * log(J) * log(J);
        else {
            psi = lambda / 2 * trace * trace;
            for (int k = 0; k < 3; k++) psi += mu * (s[k] * s[k] - 1) * (s[k] * s[k] - 1) / 4;
        }
        least = fmin(least, psi);
    }
    return least;
}

static void test_energies_without_least_value(void)
{
    static const double F[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int k = EMBIPC_FIXED_COROTATED; k <= EMBIPC_STVK; k++)
        for (double nu = -0.9; nu < 0.5; nu += 0.2) {
            embipc_material m = unit_material((embipc_model)k);
            double psi;
            m.poisson = nu;
            ENSURE((embipc_material_evaluate(&m, F, &psi, NULL, NULL, 0) == EMBIPC_OK) ==
                   (least_energy(m.model, nu) > -100));
        }
}

/* Gradient by differences in strange states; the Hessian by differences where nothing is cut: stretched all round;
 * positive everywhere. Averaged or not, with a fibre or not. */
static void test_body_derivatives(void)
{
    int cut[3] = {0, 0, 0};
    for (int n = 0; n < MODELS; n++)
        for (int round = 0; round < 12 && every[n] != EMBIPC_ORTHOGONALITY; round++) {
            embipc_material material = unit_material(every[n]);
            test_mesh mesh = geometry_box_tets(2, 1, 1, 2, 1, 1);
            test_model o;
            double q[36], g[36], w[36], R[9], *D, swollen = 1.05;
            int kind = round / 4;   /* 0 swollen, 1 turned and noisy, 2 pressed hard */
            material.averaged = round & 1;
            material.fibre_stiffness = round & 2 ? 2 : 0;
            material.fibre[0] = material.fibre[2] = 1;
            geometry_jitter(&mesh, 0.05);
            if (!model_make(&o, &mesh, EMBIPC_FULL, &material, 0.01)) return;
            ENSURE(o.n == 12);
            ENSURE(o.b->elastic.averaged == (material.averaged && every[n] != EMBIPC_ARAP));
            geometry_rotation(R);
            for (int i = 0; i < o.n; i++) {
                double p[3];
                for (int k = 0; k < 3; k++) p[k] = o.X[3 * i + k] * (kind == 0 ? swollen : kind == 2 && k == 2 ? 0.3 : 1);
                embi_m3_mulv(q + 3 * i, R, p);
                for (int k = 0; k < 3; k++) q[3 * i + k] += kind == 0 ? 0 : test_uniform(-0.04, 0.04);
            }
            if (is_lagged(every[n])) embi_elastic_follow(&o.b->elastic, q);
            model_gradient(q, g, &o);
            ENSURE(deriv_gradient_error(model_energy, &o, 36, q, g, 0.1, 0.1) < 1e-7);
            D = model_dense(&o, q);
            if (kind == 0) ENSURE(deriv_hessian_error(model_gradient, &o, 36, q, D, 0.1, 0) < 1e-6);
            deriv_eigenvalues(36, D, w);
            ENSURE(w[0] > -1e-12 * w[35]);
            if (!is_lagged(every[n])) {   /* and where it is not cut, by differences everywhere; a quarter is in between */
                double *whole, *quarter;
                o.b->elastic.keep = 1;
                whole = model_dense(&o, q);
                ENSURE(deriv_hessian_error(model_gradient, &o, 36, q, whole, kind == 2 ? 0.02 : 0.1, 0) < 1e-6);
                o.b->elastic.keep = 0.25;
                quarter = model_dense(&o, q);
                o.b->elastic.keep = 0;
                free(D);
                D = model_dense(&o, q);   /* of which only eigenvalues were left */
                for (int i = 0; i < 36 * 36; i++) {
                    ENSURE_CLOSE(quarter[i], 0.75 * D[i] + 0.25 * whole[i], 1e-11 * w[35]);
                    cut[kind] += fabs(D[i] - whole[i]) > 1e-6 * w[35];
                }
                free(whole);
                free(quarter);
            }
            free(D);
            model_free(&o);
            test_mesh_free(&mesh);
        }
    ENSURE(cut[0] == 0 && cut[1] > 0 && cut[2] > 0);
}

/* Where rotations follow q, the Hessian of the corotated energy is exact in a stretched body, and projected in a pressed
 * one: a rod that is pulled resists rotation. */
static void test_rotations_that_follow(void)
{
    for (int round = 0; round < 6; round++) {
        embipc_material material = unit_material(EMBIPC_COROTATED);
        test_mesh mesh = geometry_box_tets(2, 1, 1, 2, 1, 1);
        test_model o;
        double q[36], w[36], R[9], *D;
        int pressed = round > 3;
        geometry_jitter(&mesh, 0.05);
        if (!model_make(&o, &mesh, EMBIPC_FULL, &material, 0.01)) return;
        o.b->elastic.nonlinear = o.b->elastic.follows = 1;
        geometry_rotation(R);
        for (int i = 0; i < o.n; i++) {
            double p[3];
            for (int k = 0; k < 3; k++) p[k] = o.X[3 * i + k] * (pressed ? 0.8 : 1.2 + 0.1 * k);
            embi_m3_mulv(q + 3 * i, R, p);
            for (int k = 0; k < 3; k++) q[3 * i + k] += test_uniform(-0.02, 0.02);
        }
        D = model_dense(&o, q);
        if (!pressed) ENSURE(deriv_hessian_error(model_gradient, &o, 36, q, D, 0.1, 0) < 1e-6);
        deriv_eigenvalues(36, D, w);
        ENSURE(w[0] > -1e-12 * w[35]);
        o.b->elastic.nonlinear = o.b->elastic.follows = 0;
        free(D);
        model_free(&o);
        test_mesh_free(&mesh);
    }
}

/* At rest every model with both moduli has the stiffness matrix of linear corotated, averaged or not. */
static void test_stiffness_at_rest(void)
{
    for (int averaged = 0; averaged < 2; averaged++) {
        double first[36 * 36], *D, size = 0, worst = 0;
        for (int n = 0; n < MODELS; n++) {
            embipc_material material = unit_material(every[n]);
            test_mesh mesh = geometry_box_tets(2, 1, 1, 2, 1, 1);
            test_model o;
            if (every[n] == EMBIPC_ORTHOGONALITY || every[n] == EMBIPC_ARAP) {
                test_mesh_free(&mesh);
                continue;
            }
            material.averaged = averaged;
            if (!model_make(&o, &mesh, EMBIPC_FULL, &material, 0.01)) return;
            D = model_dense(&o, o.X);
            if (every[n] == EMBIPC_COROTATED) memcpy(first, D, sizeof first);
            for (int i = 0; i < 36 * 36; i++) {
                size = fmax(size, fabs(first[i]));
                worst = fmax(worst, fabs(first[i] - D[i]));
            }
            ENSURE(size > 1 && worst < 1e-13 * size);
            free(D);
            model_free(&o);
            test_mesh_free(&mesh);
        }
    }
}

/* ---- stiffness and density per tet, fibre ---- */

/* Two layers of a block, the upper ten times as stiff and three times as dense: energies, mass and centre by hand. */
static void test_per_tet(void)
{
    for (int n = 0; n < MODELS; n++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = embipc_default_body_def();
        embipc_body body;
        embipc_body_state state;
        embipc_world *w;
        double stiffness[12], density[12], q[36], psi, force, F[9] = {1.1, 0.1, 0, 0, 0.9, 0.05, 0, 0, 1.02};
        test_mesh mesh = geometry_box_tets(1, 1, 2, 1, 1, 2);
        if (every[n] == EMBIPC_ORTHOGONALITY) {
            test_mesh_free(&mesh);
            continue;
        }
        for (int t = 0; t < 12; t++) {
            double z = 0;
            for (int a = 0; a < 4; a++) z += mesh.x[3 * mesh.tets[4 * t + a] + 2] / 4;
            stiffness[t] = z > 1 ? 10 : 1;
            density[t] = z > 1 ? 3 : 1;
        }
        d.kind = EMBIPC_FULL;
        test_mesh_shape(&mesh, &d);
        d.material = unit_material(every[n]);
        d.material.averaged = 1;
        d.material.density = 7;
        d.tet_stiffness = stiffness;
        d.tet_density = density;
        ENSURE(embipc_world_create(&wd, &w, NULL) == EMBIPC_OK);
        ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_OK);
        ENSURE(embipc_body_get_state(w, body, &state) == EMBIPC_OK);
        ENSURE_CLOSE(state.mass, 7 * 4, 1e-12);
        ENSURE_CLOSE(state.centre[2], (0.5 + 3 * 1.5) / 4, 1e-12);
        for (int i = 0; i < 12; i++) embi_m3_mulv(q + 3 * i, F, mesh.x + 3 * i);   /* the same everywhere: averaging is none */
        if (is_lagged(every[n])) embi_elastic_follow(&w->s.body[0].elastic, q);
        ENSURE(embipc_material_evaluate(&d.material, F, &psi, NULL, NULL, 0) == EMBIPC_OK);
        ENSURE_REL(embi_elastic_energy(&w->s.body[0].elastic, q, 0, w->s.scratch.trace, &force), 11 * psi, 1e-12);
        stiffness[3] = -1;
        ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_ERR_ARGUMENT);
        ENSURE(embipc_world_error(w)->primitive[0] == EMBIPC_TET && embipc_world_error(w)->index[0] == 3);
        stiffness[3] = 1;
        density[5] = NAN;
        ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_ERR_ARGUMENT && embipc_world_error(w)->index[0] == 5);
        density[5] = 1e-300;   /* its nodes would be too light to move with others */
        ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_ERR_ARGUMENT && embipc_world_error(w)->index[0] == 5);
        density[5] = 1;
        stiffness[2] = 1e308;   /* times Young's modulus no number */
        ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_ERR_ARGUMENT && embipc_world_error(w)->index[0] == 2);
        ENSURE(strstr(embipc_world_error(w)->text, "tet_stiffness of tet 2 is 1e+308; it must lie in 1e-40 .. 1e+40"));
        stiffness[2] = 1;
        d.kind = EMBIPC_CAGE;   /* a cage that is built has no tets to give factors to */
        ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_ERR_ARGUMENT);
        ENSURE(embipc_world_body_count(w) == 1);
        embipc_world_destroy(w);
        test_mesh_free(&mesh);
    }
}

/* The fibre goes with the body: a bar turned by 90 degrees at creation is as stiff along its own axis as the unturned
 * one, small strain along it costs E + fibre, and across it E. */
static void test_fibre(void)
{
    for (int n = 0; n < MODELS; n++)
        for (int turned = 0; turned < 2 && every[n] != EMBIPC_ORTHOGONALITY; turned++) {
            embipc_material m = unit_material(every[n]);
            test_mesh mesh = geometry_box_tets(1, 1, 1, 1, 1, 1);
            embipc_world_def wd = embipc_default_world_def();
            embipc_body_def d = embipc_default_body_def();
            embipc_body body;
            embipc_world *w;
            double q[24], e = 1e-4, quarter[3] = {0, 0, 1.5707963267948966}, force, energy[2];
            m.fibre_stiffness = 50;
            m.fibre[0] = 2;   /* any length */
            d.kind = EMBIPC_FULL;
            test_mesh_shape(&mesh, &d);
            d.material = m;
            if (turned) embi_m3_rotation(d.rotation, quarter);
            ENSURE(embipc_world_create(&wd, &w, NULL) == EMBIPC_OK);
            ENSURE(embipc_body_create(w, &d, &body) == EMBIPC_OK);
            for (int axis = 0; axis < 2; axis++) {
                for (int i = 0; i < 24; i++) q[i] = w->s.q[i] * (i % 3 == axis ? 1 + e : 1);
                energy[axis] = embi_elastic_energy(&w->s.body[0].elastic, q, 0, w->s.scratch.trace, &force) /
                    (e * e / 2);
            }
            ENSURE_CLOSE(energy[turned] - energy[!turned], 50, 0.02);   /* along x of the mesh: y when turned */
            embipc_world_destroy(w);
            test_mesh_free(&mesh);
        }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(svd);
    RUN(svd_side_by_side);
    RUN(numbers);
    RUN(twist_and_flip);
    RUN(point_derivatives);
    RUN(singular_points);
    RUN(objectivity);
    RUN(small_strain);
    RUN(uniaxial);
    RUN(rubber);
    RUN(parameters);
    RUN(energies_without_least_value);
    RUN(body_derivatives);
    RUN(rotations_that_follow);
    RUN(stiffness_at_rest);
    RUN(per_tet);
    RUN(fibre);
    return test_end("test_material");
}
