/* Small math: 3x3 algebra, symmetric eigenvectors, and the polar rotation for every F there is. */
#include "inside.h"
#include "geometry_test.h"
#include "deriv.h"

static double largest(const double *a, int n)
{
    double m = 0;
    for (int i = 0; i < n; i++) m = fmax(m, fabs(a[i]));
    return m;
}

/* max |R^T R - I|, and HUGE_VAL when R mirrors */
static double rotation_error(const double R[9])
{
    double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double e = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j] - (i == j);
            worst = fabs(e) <= worst ? worst : fabs(e);
        }
    return embi_m3_det(R) > 0 ? worst : HUGE_VAL;
}

static double overlap(const double R[9], const double F[9])
{
    double sum = 0;
    for (int i = 0; i < 9; i++) sum += R[i] * F[i];
    return sum;
}

/* F = U diag(s) V^T for random rotations U, V */
static void with_singular_values(double F[9], double s0, double s1, double s2)
{
    double U[9], V[9], s[3];
    geometry_rotation(U);
    geometry_rotation(V);
    s[0] = s0;
    s[1] = s1;
    s[2] = s2;
    for (int i = 0; i < 9; i++) {
        F[i] = 0;
        for (int k = 0; k < 3; k++) F[i] += U[i / 3 * 3 + k] * s[k] * V[i % 3 * 3 + k];
    }
}

static double stretch4(const double F[9])
{
    double part[EMBI_LANES];
    const double *from[EMBI_LANES];
    embi_vec A[9];
    for (int l = 0; l < EMBI_LANES; l++) from[l] = F;
    for (int i = 0; i < 9; i++) A[i] = embi_load_each(from, i);
    embi_store(part, embi_m3s_stretch4(A));
    for (int l = 1; l < EMBI_LANES; l++) ENSURE(part[l] == part[0]);
    return part[0];
}

/* |got - want| in units of the last place of want */
static double places(double got, long double want)
{
    int e;
    (void)frexp((double)want, &e);
    return (double)fabsl((got - want) / ldexpl(1, e < -1021 ? -1074 : e - 53));
}
/* Of all sizes, positive. */
static double any_size(void) { return ldexp(1 + test_random(), (int)(test_random() * 2044) - 1022); }

/* the larger one; nan if one of them is */
static double worse(double a, double b) { return a > b || a != a ? a : b; }

/* beside libm's, of more digits where long double has them */
static void test_elementary(void)
{
    double most[8] = {0};
    for (int n = 0; n < 200000 / TEST_SKIP; n++) {
        double x = any_size(), y = test_uniform(0.5, 2), z = test_uniform(-1, 1), small = z * ldexp(1, -(n % 60)), s, c;
        double angle = test_uniform(-40, 40), u = test_uniform(-3, 3), v = n % 2 ? u * small : test_uniform(-3, 3);
        most[0] = worse(most[0], worse(places(embi_log(x), logl(x)), places(embi_log(y), logl(y))));
        most[1] = worse(most[1], worse(places(embi_log1p(small), log1pl(small)), places(embi_log1p(x), log1pl(x))));
        most[2] = worse(most[2], worse(places(embi_exp(700 * z), expl(700 * z)), places(embi_exp(small), expl(small))));
        embi_sin_cos(angle, &s, &c);
        most[3] = worse(most[3], worse(places(s, sinl(angle)), places(embi_sin(small), sinl(small))));
        most[4] = worse(most[4], worse(places(c, cosl(angle)), places(embi_cos(small), cosl(small))));
        most[5] = worse(most[5], worse(places(embi_acos(z), acosl(z)), places(embi_acos(1 - fabs(small)), acosl(1 - fabs(small)))));
        most[6] = worse(most[6], worse(places(embi_atan2(v, u), atan2l(v, u)), places(embi_atan2(u, v), atan2l(u, v))));
        most[7] = worse(most[7], worse(places(embi_cbrt(x), cbrtl(x)), places(embi_cbrt(y), cbrtl(y))));
        ENSURE_CLOSE(embi_sin(x < 1e15 ? x : 0), sin(x < 1e15 ? x : 0), 1e-16 * fmin(x, 1e15) + 1e-15);
    }
    printf("  places off: log %.2f, log1p %.2f, exp %.2f, sin %.2f, cos %.2f, acos %.2f, atan2 %.2f, cbrt %.2f\n",
           most[0], most[1], most[2], most[3], most[4], most[5], most[6], most[7]);
    for (int k = 0; k < 8; k++) ENSURE(most[k] < (k < 5 || k == 7 ? 2 : 4));
    ENSURE(embi_log(0) == -HUGE_VAL && isnan(embi_log(-1)) && embi_log(HUGE_VAL) == HUGE_VAL && embi_log(1) == 0);
    ENSURE(embi_log1p(-1) == -HUGE_VAL && isnan(embi_log1p(-2)) && embi_log1p(0) == 0 && embi_log1p(HUGE_VAL) == HUGE_VAL);
    ENSURE(embi_exp(0) == 1 && embi_exp(-900) == 0 && embi_exp(900) == HUGE_VAL && isnan(embi_exp((double)NAN)));
    ENSURE(embi_exp(-744) > 0 && embi_exp(709.7) < HUGE_VAL);
    ENSURE(embi_sin(0) == 0 && embi_cos(0) == 1 && isnan(embi_sin(HUGE_VAL)) && isnan(embi_cos((double)NAN)));
    ENSURE(embi_acos(1) == 0 && embi_acos(-1) == EMBI_PI && embi_acos(0) == EMBI_PI / 2 && isnan(embi_acos(1.1)));
    ENSURE(embi_atan2(0, 0) == 0 && embi_atan2(0, -1) == EMBI_PI && embi_atan2(-1, 0) == -EMBI_PI / 2);
    ENSURE(embi_atan2(1e308, 1e308) == EMBI_PI / 4 && embi_atan2(5e-324, 1e308) == 0 && isnan(embi_atan2((double)NAN, 1)));
    ENSURE(embi_cbrt(0) == 0 && embi_cbrt(27) == 3 && embi_cbrt(1e-300) > 0 && embi_cbrt(HUGE_VAL) == HUGE_VAL);
}

/* bounds of singular values: the least from below, the largest from above, for all, two or no equal ones, and none */
static void test_stretch(void)
{
    for (int n = 0; n < 4000; n++) {
        double s[3], F[9], most, least, sum = 0, scale = pow(10, test_uniform(-6, 6));
        for (int i = 0; i < 3; i++) s[i] = scale * (n % 7 ? test_uniform(0, 1) : i < n % 3 ? 1 : n % 2);
        with_singular_values(F, s[0], s[1], s[2]);
        most = fmax(s[0], fmax(s[1], s[2]));
        least = fmin(s[0], fmin(s[1], s[2]));
        for (int i = 0; i < 3; i++) sum += pow(s[i], 4);
        ENSURE_CLOSE(stretch4(F), sum, 1e-13 * pow(scale, 4));
        ENSURE(sqrt(sqrt(stretch4(F))) >= most * (1 - 1e-14) && sqrt(sqrt(stretch4(F))) <= 1.3161 * most);
        ENSURE(embi_m3_least_stretch(F) <= least + 1e-7 * scale && embi_m3_least_stretch(F) >= least - 1e-3 * scale);
    }
}

/* R is a proper rotation, and tr(R^T F) is the maximum s0 + s1 + sign(det F) s2 */
static void check_polar(const double R[9], const double F[9])
{
    double s[3], size = largest(F, 9), best;
    deriv_singular_values(F, s);
    best = s[0] + s[1] + (embi_m3_det(F) < 0 ? -s[2] : s[2]);
    ENSURE(rotation_error(R) < 1e-14);
    ENSURE(overlap(R, F) >= best - 4e-14 * size);   /* above best it cannot be */
    ENSURE(overlap(R, F) <= best + 4e-14 * size);
}

static void test_matrices(void)
{
    for (int n = 0; n < 1000; n++) {
        double A[9], B[9], C[9], v[3], r[3], w[3], At[9];
        for (int i = 0; i < 9; i++) {
            A[i] = test_uniform(-1, 1);
            B[i] = test_uniform(-1, 1);
            v[i % 3] = test_uniform(-1, 1);
        }
        for (int i = 0; i < 9; i++) At[i] = A[3 * (i % 3) + i / 3];
        embi_m3_mul(C, A, B);
        embi_m3_mulv(r, B, v);
        embi_m3_mulv(w, A, r);
        embi_m3_mulv(r, C, v);
        for (int i = 0; i < 3; i++) ENSURE_CLOSE(r[i], w[i], 1e-14);   /* (A B) v = A (B v) */
        embi_m3_tmul(C, At, B);
        embi_m3_mulv(r, C, v);
        for (int i = 0; i < 3; i++) ENSURE_CLOSE(r[i], w[i], 1e-14);
        ENSURE_CLOSE(embi_m3_inverse(B, A), embi_m3_det(A), 1e-15);
        embi_m3_mul(C, A, B);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(C[i], i % 4 == 0, 1e-13 / fabs(embi_m3_det(A)));
        embi_cross(r, v, w);
        ENSURE_CLOSE(embi_dot(r, v), 0, 1e-15);
        ENSURE_CLOSE(embi_dot(r, r), embi_dot(v, v) * embi_dot(w, w) - embi_dot(v, w) * embi_dot(v, w),
                     1e-14);
    }
    {
        double flat[9] = {1, 2, 3, 2, 4, 6, 0, 1, 1}, keep[9] = {7, 7, 7, 7, 7, 7, 7, 7, 7};
        ENSURE(embi_m3_inverse(keep, flat) == 0 && keep[0] == 7);
    }
}

static void test_rotation_vector(void)
{
    double zero[3] = {0, 0, 0}, quarter[3] = {0, 0, acos(-1.0) / 2}, R[9], p[3] = {1, 2, 3}, r[3];
    embi_m3_rotation(R, zero);
    for (int i = 0; i < 9; i++) ENSURE(R[i] == (i % 4 == 0));
    embi_m3_rotation(R, quarter);   /* x to y */
    embi_m3_mulv(r, R, p);
    ENSURE_CLOSE(r[0], -2, 1e-15);
    ENSURE_CLOSE(r[1], 1, 1e-15);
    ENSURE_CLOSE(r[2], 3, 0);
    for (int n = 0; n < 1000; n++) {
        double w[3], q[4], Q[9], angle, c, s, k[3];
        for (int i = 0; i < 3; i++) w[i] = pow(10, test_uniform(-12, 1)) * test_uniform(-1, 1);
        angle = embi_norm(w);
        embi_m3_rotation(R, w);
        ENSURE(rotation_error(R) < 2e-15);
        embi_m3_mulv(r, R, w);
        for (int i = 0; i < 3; i++) ENSURE_CLOSE(r[i], w[i], 1e-15 * angle);   /* the axis stays */
        q[0] = cos(angle / 2);
        for (int i = 0; i < 3; i++) q[1 + i] = sin(angle / 2) * w[i] / angle;
        embi_m3_from_quaternion(Q, q);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(Q[i], R[i], 2e-15);
        /* Rodrigues on a vector: p c + (k x p) s + k (k.p)(1 - c) */
        c = cos(angle);
        s = sin(angle);
        embi_scale(k, 1 / angle, w);
        embi_cross(r, k, p);
        embi_m3_mulv(w, R, p);
        for (int i = 0; i < 3; i++)
            ENSURE_CLOSE(w[i], p[i] * c + r[i] * s + k[i] * embi_dot(k, p) * (1 - c), 1e-14);
    }
}

/* A V = V diag(w), V orthonormal; also for clustered, repeated and zero eigenvalues */
static void test_eigen_symmetric(void)
{
    for (int n = 1; n <= 12; n++)
        for (int kind = 0; kind < 30; kind++) {
            double A[144], B[144], V[144], w[12], scale = pow(10, kind % 5 * 5 - 10);
            for (int i = 0; i < n; i++)
                for (int j = 0; j <= i; j++) A[n * i + j] = A[n * j + i] = scale * test_uniform(-1, 1);
            if (kind % 3 == 1)   /* rank one plus the identity: n - 1 equal eigenvalues */
                for (int i = 0; i < n * n; i++)
                    A[i] = scale * ((i / n + 1) * (i % n + 1) * 0.01 + (i / n == i % n));
            if (kind == 2) memset(A, 0, sizeof A);
            memcpy(B, A, sizeof A);
            embi_eigen_symmetric(n, B, V);
            for (int i = 0; i < n; i++) w[i] = B[n * i + i];
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    double vv = 0, av = 0;
                    for (int k = 0; k < n; k++) {
                        vv += V[n * k + i] * V[n * k + j];
                        av += A[n * i + k] * V[n * k + j];
                    }
                    ENSURE_CLOSE(vv, i == j, 1e-14);
                    ENSURE_CLOSE(av, w[j] * V[n * i + j], 2e-14 * scale * n);
                }
        }
}

static void test_polar_random(void)
{
    for (int n = 0; n < 20000; n++) {
        double F[9], R[9], scale = pow(10, test_uniform(-6, 6));
        if (n % 2)
            for (int i = 0; i < 9; i++) F[i] = scale * test_uniform(-1, 1);
        else
            with_singular_values(F, scale * pow(10, test_uniform(-8, 0)), scale,
                                 (n % 4 ? 1 : -1) * scale * pow(10, test_uniform(-8, 0)));
        geometry_rotation(R);
        embi_polar(R, F);
        check_polar(R, F);
    }
    for (int n = 0; n < 20; n++) {   /* no rotation out of 10^4 does better */
        double F[9], R[9], Q[9], reached;
        for (int i = 0; i < 9; i++) F[i] = test_uniform(-1, 1);
        embi_m3_identity(R);
        embi_polar(R, F);
        reached = overlap(R, F);
        for (int k = 0; k < 10000; k++) {
            geometry_rotation(Q);
            ENSURE(overlap(Q, F) <= reached + 1e-14);
        }
    }
}

/* F = Q S with S positive definite: R is Q, to rounding */
static void test_polar_exact(void)
{
    double F[9], R[9], worst = 0;
    for (int n = 0; n < 5000; n++) {
        double Q[9], V[9], S[9] = {0};
        geometry_rotation(Q);
        geometry_rotation(V);
        for (int k = 0; k < 3; k++) {
            double s = test_uniform(0.3, 3);
            for (int i = 0; i < 9; i++) S[i] += V[i / 3 * 3 + k] * s * V[i % 3 * 3 + k];
        }
        embi_m3_mul(F, Q, S);
        embi_m3_identity(R);
        embi_polar(R, F);
        for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(R[i] - Q[i]));
    }
    ENSURE(worst < 1e-14);
    for (int n = 0; n < 1000; n++) {   /* a rotation is its own, to the last digits, and for the guess too */
        double Q[9];
        geometry_rotation(Q);
        memcpy(R, Q, sizeof R);
        embi_polar(R, Q);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(R[i], Q[i], 1e-15);
    }
}

/* flat, needle, point, mirrored; and all of that axis-aligned, where zeros are exact */
static void test_polar_degenerate(void)
{
    static const double s[][3] = {{1, 1, 0},           {1, 0.3, 0},    {1, 0, 0},     {0, 0, 0},
                                  {1, 1, -1},          {1, 0.5, -0.2}, {1, 1, -1e-9}, {1, 1e-3, -1e-3},
                                  {1, 1, 1},           {2, 2, -2},     {1, 1e-12, 0}, {1e-30, 1e-31, 0},
                                  {1e30, 1e30, -1e29}, {-1, -1, 1},    {-1, -1, -1}};
    for (size_t k = 0; k < sizeof s / sizeof s[0]; k++)
        for (int n = 0; n < 200; n++) {
            double F[9], R[9];
            with_singular_values(F, s[k][0], s[k][1], s[k][2]);
            if (n < 6)   /* diagonal, in all orders */
                for (int i = 0; i < 9; i++) F[i] = i % 4 ? 0 : s[k][(i / 4 * (n < 3 ? 1 : 2) + n) % 3];
            if (n % 2) geometry_rotation(R);
            else embi_m3_identity(R);
            embi_polar(R, F);
            check_polar(R, F);
        }
    for (int n = 0; n < 2000; n++) {   /* scales whose squares are no numbers, from any guess, the answer too */
        static const double scale[] = {1e155, 1e300, 1e-155, 1e-200, 1e-290};
        double F[9], R[9], S[9], size = scale[n % 5];
        for (int i = 0; i < 9; i++) S[i] = test_uniform(-1, 1);
        geometry_rotation(R);
        embi_polar(R, S);
        for (int i = 0; i < 9; i++) F[i] = size * S[i];
        if (n % 2) geometry_rotation(R);
        embi_polar(R, F);
        check_polar(R, S);
    }
    for (int n = 0; n < 9; n++) {   /* what is not finite must not leave a broken R behind */
        double F[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, R[9];
        F[n] = n % 2 ? (double)INFINITY : (double)NAN;
        embi_m3_identity(R);
        embi_polar(R, F);
        ENSURE(embi_all_finite(R, 9) && rotation_error(R) < 1e-14);
    }
}

/* the guess decides how long it takes, not what comes out: half turns from the answer are the hard ones */
static void test_polar_any_guess(void)
{
    double worst = 0;
    for (int n = 0; n < 2000; n++) {
        double F[9], R[9], H[9], from[9], s[3], pi = acos(-1.0);
        for (int i = 0; i < 9; i++) F[i] = test_uniform(-1, 1);
        deriv_singular_values(F, s);
        if (s[1] - s[2] < 0.02 * s[0]) continue;   /* R all but free */
        embi_m3_identity(R);
        embi_polar(R, F);
        check_polar(R, F);
        for (int k = 0; k < 12; k++) {
            double w[3], l;
            for (int i = 0; i < 3; i++) w[i] = k < 3 ? (double)(i == k) : test_uniform(-1, 1);
            l = embi_norm(w);
            embi_scale(w, (k < 8 ? pi : test_uniform(0, pi)) / l, w);
            embi_m3_rotation(H, w);
            if (k % 2) embi_m3_mul(from, R, H);
            else embi_m3_mul(from, H, R);
            embi_polar(from, F);
            for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(from[i] - R[i]));
        }
    }
    ENSURE(worst < 1e-12);
}

/* what stands beside a matrix is nothing to its rotation: not easier ones, not those without one */
static void test_polar_side_by_side(void)
{
    for (int n = 0; n < 3000; n++) {
        double F[EMBI_LANES][9], R[EMBI_LANES][9], alone[EMBI_LANES][9], *out[EMBI_LANES];
        const double *in[EMBI_LANES];
        embi_vec M[9];
        for (int l = 0; l < EMBI_LANES; l++) {
            int kind = (int)(test_random() * 6);
            for (int i = 0; i < 9; i++) F[l][i] = test_uniform(-1, 1);
            if (kind < 2) with_singular_values(F[l], 1, pow(10, test_uniform(-8, 0)), kind ? 1 : -1);
            if (kind == 2) geometry_rotation(F[l]);
            if (kind == 3) F[l][n % 9] = n % 2 ? (double)INFINITY : (double)NAN;
            if (kind == 4) memset(F[l], 0, sizeof F[l]);
            geometry_rotation(R[l]);
            if (test_random() < 0.5) embi_polar(R[l], F[l]);   /* the guess: far, or here */
            memcpy(alone[l], R[l], sizeof R[l]);
            embi_polar(alone[l], F[l]);
            out[l] = R[l];
            in[l] = F[l];
        }
        for (int i = 0; i < 9; i++) M[i] = embi_load_each(in, i);
        embi_polars(out, M);
        ENSURE(memcmp(R, alone, sizeof R) == 0);
    }
}

/* 10^5 calls, each from the last answer: no drift; a guess that drifted is repaired */
static void test_polar_stays_orthogonal(void)
{
    double R[9], F[9], worst = 0;
    embi_m3_identity(R);
    for (int n = 0; n < 100000; n++) {
        double w[3], Q[9], S[9] = {1, 0.1, 0, 0.1, 0.8, 0, 0, 0.05, 1.1};
        embi_set(w, 0.01 * n, 0.003 * n, sin(0.02 * n));
        embi_m3_rotation(Q, w);
        S[4] += 0.3 * sin(0.1 * n);
        embi_m3_mul(F, Q, S);
        embi_polar(R, F);
        worst = fmax(worst, rotation_error(R));
        if (n % 5000 == 0) check_polar(R, F);
    }
    check_polar(R, F);
    ENSURE(worst < 1e-14);
    for (int n = 0; n < 100; n++) {
        double G[9];
        for (int i = 0; i < 9; i++) G[i] = R[i] + 1e-9 * test_uniform(-1, 1);
        embi_polar(G, F);
        check_polar(G, F);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(matrices);
    RUN(rotation_vector);
    RUN(eigen_symmetric);
    RUN(elementary);
    RUN(stretch);
    RUN(polar_random);
    RUN(polar_exact);
    RUN(polar_degenerate);
    RUN(polar_any_guess);
    RUN(polar_side_by_side);
    RUN(polar_stays_orthogonal);
    return test_end("test_math");
}
