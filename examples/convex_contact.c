/* convex_contact.c - compliant contact as one convex problem per step, on the dense solver of the library.
 *
 * You learn the method that stands beside IPC in robotics. Surfaces may overlap a little, and a spring pushes them
 * apart. The velocities at the end of a step minimise a convex function, so Newton's method always converges [SAP22]:
 *     1/2 |v - v*|_A^2 + sum_k l(v_k),   l = 1/2 g.R g,   g = P(y),   y = R^-1 (vhat - v_k)
 * v* is the motion without contact, v_k the velocity of contact point k, and P projects impulses on the friction cone.
 * Only the nodes that touch, p, take part. The others, n, are eliminated by a Schur complement, once a step [CCD23].
 * The price: a point that slips at the speed s also lifts, until its gap has grown by (h + tau) mu s.
 * [CCD23] Han, Masterjohn, Castro, A Convex Formulation of Frictional Contact between Rigid and Deformable Bodies,
 * RA-L 2023. [SAP22] Castro, Permenter, Han, An Unconstrained Convex Formulation of Compliant Contact, T-RO 2022.
 * The scene is a soft block on level or tilted ground. Build: cc -std=c99 -O2 convex_contact.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 3, NODES = SIDE * SIDE * SIDE, N = 3 * NODES, TETS = 48, POINTS = SIDE * SIDE, P = 3 * POINTS };

static double inner(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* A point of the body against the ground, whose normal is z. vhat: velocity that the spring asks for, m/s; R: how soft
 * the contact is, 1/kg. */
typedef struct point { double mu, vhat, Rt, Rn; } point;

/* Spring k, N/m, with the dissipation time tau, s, and signed distance phi, m, at the start of a step of length h. w:
 * inverse mass at the point along x, y, z, 1/kg. The first bound of Rn is the stiffest contact that h resolves. */
static point make_point(double k, double tau, double phi, double h, double mu, const double w[3])
{
    const double pi = 3.14159265358979323846, sigma = 1e-3;
    double average = sqrt(inner(3, w, w) / 3);
    point c;
    c.mu = mu;
    c.vhat = -phi / (h + tau);
    c.Rt = sigma * fmax((w[0] + w[1]) / 2, average);
    c.Rn = fmax(fmax(w[2], average) / (4 * pi * pi), 1 / (h * k * (h + tau)));
    return c;
}

/* The impulse g = P(y), N s, of a point with velocity v, and G = dg/dy R^-1. Returns l = 1/2 g.R g, J. */
static double impulse(const point *c, const double v[3], double g[3], double G[9])
{
    double y[3], t[2], yr, mh = c->mu * c->Rt / c->Rn, s = 1 / (1 + c->mu * mh);
    for (int i = 0; i < 2; i++) y[i] = -v[i] / c->Rt;
    y[2] = (c->vhat - v[2]) / c->Rn;
    yr = sqrt(y[0] * y[0] + y[1] * y[1] + 1e-14);
    for (int i = 0; i < 2; i++) t[i] = y[i] / yr;
    memset(g, 0, 3 * sizeof *g);
    memset(G, 0, 9 * sizeof *G);
    if (yr <= c->mu * y[2]) {                     /* inside the cone: it sticks */
        memcpy(g, y, sizeof y);
        for (int i = 0; i < 3; i++) G[4 * i] = 1 / (i < 2 ? c->Rt : c->Rn);
    } else if (-mh * yr < y[2]) {                 /* on the cone: it slips */
        g[2] = s * (y[2] + mh * yr);
        for (int i = 0; i < 2; i++) {
            g[i] = c->mu * g[2] * t[i];
            for (int j = 0; j < 2; j++)
                G[3 * i + j] = c->mu / c->Rt * (g[2] / yr * ((i == j) - t[i] * t[j]) + mh * s * t[i] * t[j]);
            G[3 * i + 2] = G[6 + i] = c->mu * s * t[i] / c->Rn;
        }
        G[8] = s / c->Rn;
    }                                             /* otherwise it is off */
    return (c->Rt * (g[0] * g[0] + g[1] * g[1]) + c->Rn * g[2] * g[2]) / 2;
}

/* The alpha in (0, 1.5] where the problem has its minimum along d, from v: the zero of its slope, by Newton's method
 * inside a bracket. Only the points are evaluated again. line: d.A (v - v*), d.A d */
static double search(int m, const point *c, const double *v, const double *d, const double line[2])
{
    double lo = 0, hi = 1.5, alpha = 0, first = 0, at[3], g[3], G[9];
    for (int n = 0; n < 60; n++) {
        double slope = line[0] + alpha * line[1], change = line[1];
        for (int k = 0; k < 3 * m; k += 3) {
            for (int i = 0; i < 3; i++) at[i] = v[k + i] + alpha * d[k + i];
            (void)impulse(c + k / 3, at, g, G);
            slope -= inner(3, d + k, g);
            for (int i = 0; i < 3; i++) change += d[k + i] * inner(3, G + 3 * i, d + k);
        }
        if (n == 0) first = fabs(slope);
        if (fabs(slope) <= 1e-8 * first && n > 0) break;
        if (slope < 0) lo = alpha;
        else hi = alpha;
        alpha -= slope / change;
        if (!(alpha > lo && alpha < hi)) alpha = (lo + hi) / 2;
    }
    return alpha;
}

/* Minimises over v, n unknowns, the first 3 m of which are the velocities of the points. In: a start. Stops where the
 * gradient is `accuracy` of its terms. Returns the number of solves, and the value, J, and impulses, N s (3 m). */
static int solve(int n, const double *A, const double *vstar, int m, const point *c, double accuracy, double *v,
                 double *value, double *g)
{
    double H[N * N], away[N], inertia[N], d[N], G[9], line[2], size, rest;   /* inertia: A (v - v*) */
    for (int solves = 0;; solves++) {
        for (int i = 0; i < n; i++) away[i] = v[i] - vstar[i];
        size = rest = 0;
        for (int i = 0; i < n; i++) {
            inertia[i] = inner(n, A + n * i, away);
            d[i] = -inertia[i];
            size += d[i] * d[i] / A[n * i + i];
        }
        *value = inner(n, away, inertia) / 2;
        memcpy(H, A, sizeof *A * (size_t)(n * n));
        for (int k = 0; k < 3 * m; k += 3) {      /* d becomes minus the gradient, H the Hessian */
            *value += impulse(c + k / 3, v + k, g + k, G);
            for (int i = 0; i < 3; i++) d[k + i] += g[k + i];
            for (int i = 0; i < 9; i++) H[n * (k + i / 3) + k + i % 3] += G[i];
        }
        for (int i = 0; i < n; i++) rest += d[i] * d[i] / A[n * i + i];
        if (sqrt(rest) <= 1e-14 + accuracy * sqrt(size) || solves == 100) return solves;
        (void)embipc_dense_ldlt_factor(n, H, n);
        embipc_dense_ldlt_solve(n, H, n, d);
        line[0] = inner(n, d, inertia);
        line[1] = 0;
        for (int i = 0; i < n; i++) line[1] += d[i] * inner(n, A + n * i, d);
        size = search(m, c, v, d, line);
        for (int i = 0; i < n; i++) v[i] += size * d[i];
    }
}

/* The same with the nodes that do not touch eliminated. v: in: a start; out: of all nodes */
static int solve_reduced(const double *A, const double *vstar, const point *c, double accuracy, double *v, double *g)
{
    enum { Q = N - P };                           /* unknowns without contact */
    double Ann[Q * Q], X[P * Q], S[P * P], value;
    int solves;
    for (int i = 0; i < Q; i++) memcpy(Ann + Q * i, A + N * (P + i) + P, Q * sizeof *A);
    (void)embipc_dense_ldlt_factor(Q, Ann, Q);
    for (int j = 0; j < P; j++) {                 /* X = Ann^-1 Anp, S = App - Apn X: (16) of [CCD23] */
        memcpy(X + Q * j, A + N * j + P, Q * sizeof *A);
        embipc_dense_ldlt_solve(Q, Ann, Q, X + Q * j);
    }
    for (int i = 0; i < P * P; i++) S[i] = A[N * (i / P) + i % P] - inner(Q, A + N * (i / P) + P, X + Q * (i % P));
    solves = solve(P, S, vstar, POINTS, c, accuracy, v, &value, g);
    for (int i = 0; i < Q; i++) {
        v[P + i] = vstar[P + i];
        for (int j = 0; j < P; j++) v[P + i] -= X[Q * j + i] * (v[j] - vstar[j]);   /* (15) */
    }
    return solves;
}

/* A soft block of 0.1 m and 3 x 3 x 3 nodes, the lowest layer first, on a ground of `stiff` N/m under all of it */
static const double h = 0.01, size_of_block = 0.1, stiff = 1e4, tau = 0.1, beta = 0.01;   /* s, m, N/m, s, s */
typedef struct block {
    double gravity[3], mu, mass;                  /* m/s^2; of all points; kg */
    double rest[N], q[N], v[N], g[P];             /* m, m, m/s; impulses of the last step, N s */
    double differ, depth;                         /* of both solvers, at most, m/s; mean at the start of the step, m */
    int tet[4 * TETS], solves;
} block;

static void make_block(block *b, double mu)
{
    const int to[3] = {1, SIDE, SIDE * SIDE};
    memset(b, 0, sizeof *b);
    for (int i = 0; i < N; i++) b->q[i] = b->rest[i] = size_of_block * (i / 3 / to[i % 3] % SIDE) / (SIDE - 1);
    for (int t = 0; t < TETS; t++) {              /* six tets around the diagonal of each cell */
        int cell = t / 6, k = t % 6, first = cell % 2 + cell / 2 % 2 * SIDE + cell / 4 * SIDE * SIDE, odd = k >= 3;
        b->tet[4 * t] = first;
        b->tet[4 * t + 1] = first + to[k % 3];
        b->tet[4 * t + 2 + odd] = first + to[k % 3] + to[(k + 1 + odd) % 3];
        b->tet[4 * t + 3 - odd] = first + to[0] + to[1] + to[2];
    }
    b->mu = mu;
    b->gravity[2] = -9.81;
}

/* M, K, and elastic forces f at q. The material of the library is linear corotated: it holds the rotation of F. */
static void assemble(const block *b, double *M, double *K, double *f)
{
    const embipc_material material = embipc_default_body_def().material;
    for (int t = 0; t < TETS; t++) {
        const int *node = b->tet + 4 * t;
        double e[4][3], m[4][3] = {{0}}, F[9] = {0}, stress[9], H[81], volume = 0;
        for (int a = 3; a < 12; a++) e[a / 3][a % 3] = b->rest[3 * node[a / 3] + a % 3] - b->rest[3 * node[0] + a % 3];
        for (int a = 1; a < 4; a++) {             /* m_a: gradient of the barycentric coordinate a */
            const double *x = e[a % 3 + 1], *y = e[(a + 1) % 3 + 1];
            for (int i = 0; i < 3; i++) m[a][i] = x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3];
            volume = inner(3, m[a], e[a]) / 6;
        }
        for (int i = 0; i < 12; i++) m[i / 3][i % 3] /= 6 * volume;
        for (int i = 0; i < 3; i++) m[0][i] = -m[1][i] - m[2][i] - m[3][i];
        for (int a = 0; a < 36; a++) F[a % 9] += b->q[3 * node[a / 9] + a % 9 / 3] * m[a / 9][a % 3];
        (void)embipc_material_evaluate(&material, F, NULL, stress, H, 0);
        for (int a = 0; a < 4; a++)
            for (int i = 0; i < 3; i++) {
                f[3 * node[a] + i] -= volume * inner(3, stress + 3 * i, m[a]);
                for (int c = 0; c < 4; c++) {
                    M[N * (3 * node[a] + i) + 3 * node[c] + i] += material.density * volume / (a == c ? 10 : 20);
                    for (int j = 0; j < 3; j++)
                        for (int k = 0; k < 9; k++)
                            K[N * (3 * node[a] + i) + 3 * node[c] + j] +=
                                volume * m[a][k / 3] * H[9 * (3 * i + k / 3) + 3 * j + k % 3] * m[c][k % 3];
                }
            }
    }
}

/* One step: A = M + h (h + beta) K, the free motion v* (10), the points, both solvers. */
static void step(block *b)
{
    static const double part[SIDE] = {0.25, 0.5, 0.25};
    static double M[N * N], K[N * N], A[N * N], L[N * N];
    double f[N] = {0}, vstar[N], all[N], g[P], w[3], value;
    point c[POINTS];
    memset(M, 0, sizeof M);
    memset(K, 0, sizeof K);
    assemble(b, M, K, f);
    for (int i = 0; i < N * N; i++) A[i] = L[i] = M[i] + h * (h + beta) * K[i];
    b->mass = b->differ = b->depth = 0;
    for (int i = 0; i < N; i++) {                 /* h times the forces at q^n + h v^n */
        double mass = 0;
        for (int j = i % 3; j < N; j += 3) mass += M[N * i + j];
        vstar[i] = h * (f[i] + mass * b->gravity[i % 3] - (h + beta) * inner(N, K + N * i, b->v));
        b->mass += mass / 3;
    }
    (void)embipc_dense_ldlt_factor(N, L, N);
    embipc_dense_ldlt_solve(N, L, N, vstar);
    for (int i = 0; i < N; i++) vstar[i] += b->v[i];
    for (int k = 0; k < POINTS; k++) {            /* each has its part of the area */
        for (int i = 0; i < 3; i++) w[i] = 1 / A[(N + 1) * (3 * k + i)];
        b->depth -= part[k % SIDE] * part[k / SIDE] * b->q[3 * k + 2];
        c[k] = make_point(part[k % SIDE] * part[k / SIDE] * stiff, tau, b->q[3 * k + 2], h, b->mu, w);
    }
    memcpy(all, b->v, sizeof all);
    (void)solve(N, A, vstar, POINTS, c, 1e-12, all, &value, g);
    b->solves = solve_reduced(A, vstar, c, 1e-12, b->v, b->g);
    for (int i = 0; i < N; i++) b->differ = fmax(b->differ, fabs(b->v[i] - all[i]));
    for (int i = 0; i < N; i++) b->q[i] += h * b->v[i];
}

/* Mean of every third number */
static double mean(double count, const double *x)
{
    double sum = 0;
    for (int k = 0; k < count; k++) sum += x[3 * k];
    return sum / count;
}

int main(void)
{
    static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double start[3][3] = {{1, 0, -0.0981}, {3e-4, 0, -0.0981}, {0, 0, 0.5}};
    const point one = {0.5, 0.1, 1e-3, 0.1};
    static block b;
    double v[3], g[3], value, before = 0;
    for (int k = 0; k < 3; k++) {                 /* slips, sticks, is off */
        memcpy(v, start[k], sizeof v);
        (void)solve(3, unit, start[k], 1, &one, 1e-12, v, &value, g);
        printf("a point of 1 kg: v %.9f %.9f m/s, impulse %.9f %.9f N s, cost %.9f J\n", v[0], v[2], g[0], g[2], value);
    }
    make_block(&b, 0.5);
    for (int n = 0; n < 500; n++) step(&b);
    printf("block at rest: mean depth %.9f mm, m g / stiff %.9f mm\n", 1e3 * b.depth, 9.81e3 * b.mass / stiff);
    printf("    impulse %.9f N s, m g h %.9f N s\n", 9 * mean(POINTS, b.g + 2), 9.81 * b.mass * h);
    printf("%d unknowns, %d take part; the full problem has the same solution to %.1e m/s\n", N, P, b.differ);
    for (int k = 0; k < 2; k++) {                 /* tan(angle) is 0.5 */
        make_block(&b, k ? 0.51 : 0.49);
        b.gravity[0] = 9.81 / sqrt(5.0);
        b.gravity[2] = -9.81 * 2 / sqrt(5.0);
        for (int n = 0; n < 250; n++, before = n == 200 ? mean(NODES, b.v) : before) step(&b);
        printf("slope, mu %.2f: speed %.9f m/s, acceleration %.9f m/s^2, Coulomb %.9f m/s^2\n", b.mu,
               mean(NODES, b.v), (mean(NODES, b.v) - before) / (50 * h), k ? 0.0 : 9.81 / sqrt(5.0) * (1 - 2 * b.mu));
    }
    return 0;
}
