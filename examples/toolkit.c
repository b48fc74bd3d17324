/* toolkit.c - the header as a contact toolkit, without a world.
 *
 * You learn embipc_ccd_point_triangle(), embipc_point_triangle_distance() and embipc_barrier() by writing the
 * smallest IPC solver there is: one point of mass m above a triangle. Each step minimises
 *     E(x) = 1/2 m |x - xt|^2 + h^2 kappa b(d(x)),   xt = x + h v + h^2 g,
 * by Newton's method, and no iterate is accepted that the continuous collision detection has not cleared.
 * In the end the point floats where the barrier carries its weight, -kappa b'(d) = m g. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double mass = 0.01, h = 0.01, kappa = 1e4, dhat = 1e-3, gravity = -9.81;

/* E at the point, which is the first of the four in x. */
static double energy(const double x[12], const double xt[3])
{
    double e = 0, d = embipc_point_triangle_distance(x, NULL);
    int i;
    for (i = 0; i < 3; i++) e += 0.5 * mass * (x[i] - xt[i]) * (x[i] - xt[i]);
    return e + h * h * kappa * embipc_barrier(d, dhat, NULL, NULL);
}

/* One Newton step from x; returns how far it goes, m. With n = grad d, |n| = 1, the matrix m I + s n n^T,
 * s = h^2 kappa b'', is inverted by (m I + s n n^T)^-1 = (I - s / (m + s) n n^T) / m. */
static double newton(double x[12], const double xt[3])
{
    double n[12], y[12], p[3], first, second, s, along = 0, slope = 0, toi, alpha, e = energy(x, xt);
    double d = embipc_point_triangle_distance(x, n);
    int i;
    embipc_barrier(d, dhat, &first, &second);
    s = h * h * kappa * second;
    for (i = 0; i < 3; i++) {
        p[i] = -mass * (x[i] - xt[i]) - h * h * kappa * first * n[i];       /* minus the gradient */
        along += n[i] * p[i];
    }
    for (i = 0; i < 3; i++) {
        double minus_gradient = p[i];
        p[i] = (p[i] - s / (mass + s) * along * n[i]) / mass;
        slope -= minus_gradient * p[i];
    }
    memcpy(y, x, sizeof y);
    for (i = 0; i < 3; i++) y[i] = x[i] + p[i];
    alpha = embipc_ccd_point_triangle(x, y, 0, &toi) ? 0.9 * toi : 1;        /* never past first contact */
    for (;; alpha *= 0.5) {                                                  /* and never uphill */
        for (i = 0; i < 3; i++) y[i] = x[i] + alpha * p[i];
        if (energy(y, xt) <= e + 1e-4 * alpha * slope || alpha < 1e-12) break;
    }
    memcpy(x, y, 3 * sizeof *x);
    return alpha * sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
}

int main(void)
{
    double x[12] = {0.1,0.1,0.5, -1,-1,0, 2,-1,0, -1,2,0}, v[3] = {0, 0, 0}, x0[12], through[12];
    double xt[3], toi, first, d, lowest = 1;
    int step, i, solves = 0;

    memcpy(through, x, sizeof through);
    through[2] = -0.5;
    i = embipc_ccd_point_triangle(x, through, 0, &toi);
    printf("a jump from 0.5 m to -0.5 m: hit %d, cut at %.6f of the way (contact at 0.5)\n", i, toi);
    for (step = 0; step < 200; step++) {
        memcpy(x0, x, sizeof x0);
        for (i = 0; i < 3; i++) xt[i] = x[i] + h * v[i] + (i == 2 ? h * h * gravity : 0);
        for (i = 0; i < 100; i++) {
            solves++;
            if (newton(x, xt) < 1e-12) break;
        }
        for (i = 0; i < 3; i++) v[i] = (x[i] - x0[i]) / h;
        if (x[2] < lowest) lowest = x[2];
    }
    d = embipc_point_triangle_distance(x, NULL);
    embipc_barrier(d, dhat, &first, NULL);
    printf("after 2 s it floats at %.9f m; lowest on the way %.3e m\n", d, lowest);
    printf("the barrier pushes with %.9f N, the weight is %.9f N\n", -kappa * first, -mass * gravity);
    printf("%.2f solves per step\n", solves / 200.0);
    return 0;
}
