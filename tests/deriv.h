/* Derivatives for tests: central differences over a sweep of steps, of which the best counts (too long a step
 * sees the next derivative, too short a one only rounding), and eigenvalues of small dense matrices. */
#ifndef DERIV_H
#define DERIV_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double deriv_scalar(const double *x, void *arg);
typedef void deriv_vector(const double *x, double *y, void *arg);   /* as many y as x; sets y */

/* Largest error of the gradient g of f at x (n), relative to the largest entry of g or to `floor`, whichever
 * is more; steps are size * 1e-3 .. 1e-7. x is changed on the way and restored. */
static double deriv_gradient_error(deriv_scalar *f, void *arg, int n, double *x, const double *g, double size,
                                   double floor_)
{
    double best = HUGE_VAL, scale = floor_;
    for (int i = 0; i < n; i++) scale = fmax(scale, fabs(g[i]));
    if (!(scale > 0)) scale = 1;
    for (double h = 1e-3 * size; h > 0.9e-7 * size; h /= 10) {
        double worst = 0;
        for (int i = 0; i < n; i++) {
            double keep = x[i], up, down, span, error;
            x[i] = keep + h;
            span = x[i];
            up = f(x, arg);
            x[i] = keep - h;
            span -= x[i];   /* what was really stepped */
            down = f(x, arg);
            x[i] = keep;
            error = fabs((up - down) / span - g[i]);
            worst = error <= worst ? worst : error;   /* a nan stays */
        }
        if (worst / scale < best) best = worst / scale;
    }
    return best;
}

/* The same for the matrix H (n x n) = dy/dx. */
static double deriv_hessian_error(deriv_vector *f, void *arg, int n, double *x, const double *H, double size,
                                  double floor_)
{
    double best = HUGE_VAL, scale = floor_, *up = (double *)malloc((size_t)n * sizeof *up),
           *down = (double *)malloc((size_t)n * sizeof *down);
    for (int i = 0; i < n * n; i++) scale = fmax(scale, fabs(H[i]));
    if (!(scale > 0)) scale = 1;
    for (double h = 1e-3 * size; h > 0.9e-7 * size; h /= 10) {
        double worst = 0;
        for (int j = 0; j < n; j++) {
            double keep = x[j], span;
            x[j] = keep + h;
            span = x[j];
            f(x, up, arg);
            x[j] = keep - h;
            span -= x[j];
            f(x, down, arg);
            x[j] = keep;
            for (int i = 0; i < n; i++) {
                double error = fabs((up[i] - down[i]) / span - H[n * i + j]);
                worst = error <= worst ? worst : error;
            }
        }
        if (worst / scale < best) best = worst / scale;
    }
    free(up);
    free(down);
    return best;
}

static int deriv_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Eigenvalues of the symmetric A (n x n, destroyed), ascending in w. Cyclic Jacobi rotations. */
static void deriv_eigenvalues(int n, double *A, double *w)
{
    for (int sweep = 0; sweep < 40; sweep++) {
        double off = 0, all = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                all += A[n * i + j] * A[n * i + j];
                if (i != j) off += A[n * i + j] * A[n * i + j];
            }
        if (!(off > 1e-30 * all)) break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double a = A[n * p + q], angle = 0.5 * atan2(2 * a, A[n * p + p] - A[n * q + q]),
                       c = cos(angle), s = sin(angle);
                if (a == 0) continue;
                for (int k = 0; k < n; k++) {
                    double kp = A[n * k + p], kq = A[n * k + q];
                    A[n * k + p] = c * kp + s * kq;
                    A[n * k + q] = c * kq - s * kp;
                }
                for (int k = 0; k < n; k++) {
                    double pk = A[n * p + k], qk = A[n * q + k];
                    A[n * p + k] = c * pk + s * qk;
                    A[n * q + k] = c * qk - s * pk;
                }
            }
    }
    for (int i = 0; i < n; i++) w[i] = A[n * i + i];
    qsort(w, (size_t)n, sizeof *w, deriv_ascending);
}

/* Singular values of the 3x3 A, descending, to full relative precision: its columns are made orthogonal. */
static void deriv_singular_values(const double A[9], double s[3])
{
    double B[9], smallest;
    memcpy(B, A, sizeof B);
    for (int sweep = 0; sweep < 40; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                double pp = 0, qq = 0, pq = 0, angle, c, d;
                for (int k = 0; k < 3; k++) {
                    pp += B[3 * k + p] * B[3 * k + p];
                    qq += B[3 * k + q] * B[3 * k + q];
                    pq += B[3 * k + p] * B[3 * k + q];
                }
                if (pq == 0) continue;
                angle = 0.5 * atan2(2 * pq, pp - qq);
                c = cos(angle);
                d = sin(angle);
                for (int k = 0; k < 3; k++) {
                    double kp = B[3 * k + p], kq = B[3 * k + q];
                    B[3 * k + p] = c * kp + d * kq;
                    B[3 * k + q] = c * kq - d * kp;
                }
            }
    for (int q = 0; q < 3; q++) s[2 - q] = sqrt(B[q] * B[q] + B[3 + q] * B[3 + q] + B[6 + q] * B[6 + q]);
    qsort(s, 3, sizeof *s, deriv_ascending);
    smallest = s[0];   /* to descending */
    s[0] = s[2];
    s[2] = smallest;
}
#endif
