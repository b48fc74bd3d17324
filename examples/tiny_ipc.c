/* tiny_ipc.c - Embedded Incremental Potential Contact in one file without the library, to be read beside the paper.
 *
 * You learn the whole method from top to bottom: one function E(q) of the unknowns q, and how to minimise it without
 * ever letting two surfaces touch. Nothing here is fast: all pairs of primitives are tried in each iteration, and all
 * matrices are dense. tests/test_tiny.c compares each step with embipc.h: both agree to 1e-9 m.
 * Build: cc -std=c99 -O2 tiny_ipc.c -lm
 *
 * The sections stand in the order of the algorithm. Numbers in brackets are the equations of [EIPC24]: Du et al.,
 * Embedded IPC, arXiv 2409.16385. Others: [IPC20] Li et al., Incremental Potential Contact, TOG 2020. [CIPC21] Li,
 * Kaufman, Jiang, Codimensional IPC, TOG 2021. [CCD23] Han, Masterjohn, Castro, A Convex Formulation of Frictional
 * Contact, RA-L 2023. [IPC23] Li et al., Convergent IPC, arXiv 2307.15908. Units are SI.
 *
 *   1 data   2 embedding   3 closest points   4 barrier and friction   5 elasticity   6 contacts   7 the potential E
 *   8 dense LDL^T   9 continuous collision detection   10 one step   11 building a world   12 a small scene */
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- 1. Data --------------------------------------------------------------------------------
 * A body has a closed surface, and a cage of tets that carries it. The nodes q of the cage are the unknowns. The three
 * kinds of bodies of embipc.h differ only by their cage:
 *   affine   one tet around the surface       cage   a coarse mesh around it       full   a mesh that ends at it
 * A fixed body has no cage. All bodies share the arrays of one world. */
enum { BODIES = 8, NODES = 100, TETS = 256, VERTICES = 256, TRIANGLES = 512, EDGES = 768, PAIRS = 40000,
       CONTACTS = 1000, ITERATIONS = 500 };
enum { POINT_POINT, POINT_EDGE, POINT_TRIANGLE, EDGE_EDGE };

/* Two primitives that may not cross, or a correction of the sum over triangles: see "Contacts". */
typedef struct pair {
    int kind, v[4];                 /* vertices: the point or first edge, then the other primitive */
    double sign;                    /* 1; -1: subtracted */
    double dhat, kappa, eps;        /* activation distance, m; stiffness, kg/s^2; of the mollifier, m^4 */
} pair;

/* Closest points of a pair: r = sum_k c_k x_k, d = |r|, n = r/d. */
typedef struct closest { double d, c[4], n[3]; } closest;

/* A pair that is nearer than dhat: its energy, J, and first and second derivative by the distance d. */
typedef struct contact {
    const pair *of;
    closest at;
    double energy, first, second;
    double extra[4][3];             /* gradient of the mollifier by the four vertices, N */
} contact;

/* One Newton iteration, to print. */
typedef struct iteration { double E, p, safe, alpha; int contacts; } iteration;

typedef struct world {
    double h, gravity[3];           /* time step, s; m/s^2 */
    double dhat, kappa, epsv;       /* m; kg/s^2; m/s */
    double tolerance;               /* m/s: a step ends when Newton moves no node faster than this */
    int bodies, nodes, tets, vertices, triangles, edges, pairs, frictions, iterations;
    double friction[BODIES];        /* of a body; a pair takes the geometric mean */
    int folds[BODIES];              /* a body of several tets may touch itself */
    double q[NODES][3], v[NODES][3], qn[NODES][3], qt[NODES][3];   /* q^n: start of a step; qt: predicted */
    double M[NODES][NODES], mass[NODES];          /* mass of pairs of nodes; its row sums */
    int tet[TETS][4];
    double m[TETS][4][3], V[TETS], mu[TETS], lambda[TETS], R[TETS][9];   /* see "Elasticity" */
    double rest[VERTICES][3], weight[VERTICES][4];
    int of_body[VERTICES], of_tet[VERTICES];      /* the tet that carries a vertex; -1: fixed */
    int tri[TRIANGLES][3], edge[EDGES][2];
    int flat_edge[EDGES], flat_vertex[VERTICES];  /* those inside a face that stays flat make no pairs */
    pair pair_list[PAIRS];
    contact lagged[CONTACTS];       /* contacts at q^n, for friction */
    iteration log[ITERATIONS];
    double g[3 * NODES], p[3 * NODES], H[3 * NODES][3 * NODES];   /* gradient, direction, Hessian */
} world;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double norm(const double a[3]) { return sqrt(dot(a, a)); }
static void sub(double r[3], const double a[3], const double b[3]) { for (int i = 0; i < 3; i++) r[i] = a[i] - b[i]; }
static void cross(double r[3], const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r[i] = a[j] * b[k] - a[k] * b[j];
    }
}
static double triple(const double a[3], const double b[3], const double c[3])
{
    double n[3];
    cross(n, a, b);
    return dot(n, c);
}

/* ---- 2. Embedding ---------------------------------------------------------------------------
 *   x_k = sum_j w_j q_j,   x = J q                                                              (13, 14)
 * The weights w are the barycentric coordinates of a vertex in its tet, at rest. They never change.
 *   grad_q = J^T grad_x,   Hess_q = J^T Hess_x J                                                (17) */

/* Positions x of all vertices. */
static void positions(const world *w, double q[][3], double x[][3])
{
    for (int k = 0; k < w->vertices; k++)
        for (int i = 0; i < 3; i++) {
            x[k][i] = w->of_tet[k] < 0 ? w->rest[k][i] : 0;
            for (int j = 0; j < 4 && w->of_tet[k] >= 0; j++) x[k][i] += w->weight[k][j] * q[w->tet[w->of_tet[k]][j]][i];
        }
}

/* g += J^T f for a force f on one vertex */
static void add_gradient(world *w, int vertex, double scale, const double f[3])
{
    for (int j = 0; j < 4 && w->of_tet[vertex] >= 0; j++)
        for (int i = 0; i < 3; i++)
            w->g[3 * w->tet[w->of_tet[vertex]][j] + i] += scale * w->weight[vertex][j] * f[i];
}

/* H += J^T (c S c^T) J: the Hessian of an energy of the point sum_k c_k x_k, with the 3x3 matrix S */
static void add_hessian(world *w, const int v[4], const double c[4], const double S[9])
{
    int node[16], n = 0;
    double coef[16];
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4 && w->of_tet[v[k]] >= 0; j++, n++) {
            node[n] = w->tet[w->of_tet[v[k]]][j];
            coef[n] = c[k] * w->weight[v[k]][j];
        }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            for (int i = 0; i < 9; i++) w->H[3 * node[a] + i / 3][3 * node[b] + i % 3] += coef[a] * coef[b] * S[i];
}

/* ---- 3. Closest points ----------------------------------------------------------------------
 * Each way to place the closest points is tried, and the nearest one taken. */

/* Takes the weights c if they give a smaller distance. They sum to 0, so differences to x_0 are enough. */
static void try_weights(double x[4][3], double c0, double c1, double c2, double c3, closest *best)
{
    double c[4], r[3] = {0, 0, 0}, d;
    c[0] = c0; c[1] = c1; c[2] = c2; c[3] = c3;
    for (int k = 1; k < 4; k++)
        for (int i = 0; i < 3; i++) r[i] += c[k] * (x[k][i] - x[0][i]);
    d = norm(r);
    if (!(d < best->d)) return;
    best->d = d;
    memcpy(best->c, c, sizeof c);
    for (int i = 0; i < 3; i++) best->n[i] = d > 0 ? r[i] / d : 0;
}

/* Tries the point x_k against the segment from x_i to x_j. */
static void try_segment(double x[4][3], int k, int i, int j, double sign, closest *best)
{
    double e[3], r[3], t, c[4] = {0, 0, 0, 0};
    sub(e, x[j], x[i]);
    sub(r, x[k], x[i]);
    t = fmax(0, fmin(1, dot(e, r) / dot(e, e)));
    c[k] = sign;
    c[i] = -sign * (1 - t);
    c[j] = -sign * t;
    try_weights(x, c[0], c[1], c[2], c[3], best);
}

/* Closest points of a pair of the given kind. */
static closest find_closest(int kind, double x[4][3])
{
    closest best;
    double e[3], f[3], r[3], n[3], nn, s, t;
    best.d = HUGE_VAL;
    if (kind == POINT_POINT) try_weights(x, 1, -1, 0, 0, &best);
    if (kind == POINT_EDGE) try_segment(x, 0, 1, 2, 1, &best);
    if (kind < POINT_TRIANGLE) return best;
    sub(e, x[kind == EDGE_EDGE ? 1 : 2], x[kind == EDGE_EDGE ? 0 : 1]);
    sub(f, x[3], x[kind == EDGE_EDGE ? 2 : 1]);
    sub(r, x[0], x[kind == EDGE_EDGE ? 2 : 1]);
    cross(n, e, f);
    nn = dot(n, n);
    if (kind == POINT_TRIANGLE) {
        s = triple(r, f, n) / nn;
        t = triple(e, r, n) / nn;
        if (s > 0 && t > 0 && s + t < 1) try_weights(x, 1, s + t - 1, -s, -t, &best);
        for (int k = 1; k < 4; k++) try_segment(x, 0, k, k % 3 + 1, 1, &best);
    } else {
        s = triple(f, r, n) / nn;   /* r + s e - t f is shortest where it is parallel to n */
        t = triple(e, r, n) / nn;
        if (nn > 0 && s > 0 && s < 1 && t > 0 && t < 1) try_weights(x, 1 - s, s, t - 1, -t, &best);
        for (int k = 0; k < 2; k++) {
            try_segment(x, k, 2, 3, 1, &best);
            try_segment(x, k + 2, 0, 1, -1, &best);
        }
    }
    return best;
}

/* ---- 4. Barrier and friction ----------------------------------------------------------------
 *   b(d) = -(d - dhat)^2 ln(d/dhat) for 0 < d < dhat, else 0                                    (7)
 *   D(u) = mu lambda f0(|u|),   f0' = f1                                                        (8)
 *   f1(y) = 2 y/e - y^2/e^2 for y < e = epsv h, else 1                                          (9)
 * The barrier is infinite at d = 0. So a state of finite energy has no contact that touches. */

static double barrier(double d, double dhat, double *first, double *second)
{
    double gap = d - dhat, l = log1p(gap / dhat);
    *first = -2 * gap * l - gap * gap / d;
    *second = -2 * l - 4 * gap / d + gap * gap / (d * d);
    return -gap * gap * l;
}

/* f0(y) - f0(0), f1(y)/y and f1'(y) */
static double friction(double y, double e, double *f1_over_y, double *f1_slope)
{
    *f1_over_y = y < e ? 2 / e - y / (e * e) : 1 / y;
    *f1_slope = y < e ? 2 / e - 2 * y / (e * e) : 0;
    return y < e ? y * y / e - y * y * y / (3 * e * e) : y - e / 3;
}

/* The distance of two edges has a kink where they are parallel. A factor m(c) takes the barrier to 0 there [IPC20]:
 *   m(c) = (2 - c/eps) c/eps for c < eps, else 1,   c = |e x f|^2
 * Returns m and, in grad, its gradient by the four vertices. */
static double mollifier(double x[4][3], double eps, double grad[4][3])
{
    double e[3], f[3], n[3], a[3], b[3], c, slope;
    sub(e, x[1], x[0]);
    sub(f, x[3], x[2]);
    cross(n, e, f);
    c = dot(n, n);
    memset(grad, 0, 12 * sizeof(double));
    if (!(c < eps)) return 1;
    slope = (2 - 2 * c / eps) / eps;
    cross(a, f, n);                 /* dc/de = 2 f x n, dc/df = 2 n x e */
    cross(b, n, e);
    for (int i = 0; i < 3; i++) {
        grad[1][i] = 2 * slope * a[i];
        grad[3][i] = 2 * slope * b[i];
        grad[0][i] = -grad[1][i];
        grad[2][i] = -grad[3][i];
    }
    return (2 - c / eps) * c / eps;
}

/* ---- 5. Elasticity --------------------------------------------------------------------------
 * Per tet T, with m_a the gradient of its barycentric coordinate a at rest, and V the volume of the solid inside it:
 *   F = sum_a q_a m_a^T,   energy = sum_T V psi(F)                                              (15)
 * The material is linear corotated [CCD23]. R is the rotation of F at q^n, held for the step:
 *   E = (R^T F + F^T R)/2 - I,   psi = mu |E|^2 + lambda/2 tr(E)^2,   P = R (2 mu E + lambda tr(E) I)
 * So psi is quadratic in q, and its Hessian is constant:
 *   K_ab = V [mu (m_a.m_b) I + mu r_b r_a^T + lambda r_a r_b^T],   r_a = R m_a */

static void deformation(const world *w, int t, double q[][3], double F[9])
{
    memset(F, 0, 9 * sizeof *F);
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 9; i++) F[i] += q[w->tet[t][a]][i / 3] * w->m[t][a][i % 3];
}

/* The rotation of F, by R <- (R + R^-T)/2 until nothing changes. Rows of R^-T are cross products over det. */
static void rotation(const double F[9], double R[9])
{
    double C[9], change = 1, det;
    memcpy(R, F, 9 * sizeof *R);
    for (int k = 0; k < 60 && change > 1e-15; k++) {
        for (int i = 0; i < 3; i++) cross(C + 3 * i, R + 3 * ((i + 1) % 3), R + 3 * ((i + 2) % 3));
        det = dot(R, C);
        change = 0;
        for (int i = 0; i < 9; i++) {
            double next = (R[i] + C[i] / det) / 2;
            change = fmax(change, fabs(next - R[i]));
            R[i] = next;
        }
    }
}

/* psi, and P in the frame of q, of one tet */
static double strain_energy(const world *w, int t, double q[][3], double P[9])
{
    double F[9], S[9], trace, psi;
    const double *R = w->R[t];
    deformation(w, t, q, F);
    for (int i = 0; i < 3; i++)     /* S = R^T F, and then E */
        for (int j = 0; j < 3; j++) S[3 * i + j] = R[i] * F[j] + R[3 + i] * F[3 + j] + R[6 + i] * F[6 + j];
    for (int i = 0; i < 9; i++) P[i] = (S[i] + S[3 * (i % 3) + i / 3]) / 2 - (i % 4 == 0);
    memcpy(S, P, sizeof S);
    trace = S[0] + S[4] + S[8];
    psi = w->lambda[t] / 2 * trace * trace;
    for (int i = 0; i < 9; i++) {
        psi += w->mu[t] * S[i] * S[i];
        S[i] = 2 * w->mu[t] * S[i] + (i % 4 == 0 ? w->lambda[t] * trace : 0);
    }
    for (int i = 0; i < 9; i++)
        P[i] = R[3 * (i / 3)] * S[i % 3] + R[3 * (i / 3) + 1] * S[3 + i % 3] + R[3 * (i / 3) + 2] * S[6 + i % 3];
    return psi;
}

/* H += scale K of one tet */
static void add_stiffness(world *w, int t, double scale)
{
    double r[4][3];
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 3; i++) r[a][i] = dot(w->R[t] + 3 * i, w->m[t][a]);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    w->H[3 * w->tet[t][a] + i][3 * w->tet[t][b] + j] += scale * w->V[t] *
                        (w->mu[t] * ((i == j) * dot(w->m[t][a], w->m[t][b]) + r[b][i] * r[a][j]) +
                         w->lambda[t] * r[a][i] * r[b][j]);
}

/* ---- 6. Contacts ----------------------------------------------------------------------------
 *   B(x) = sum_k kappa b(d_k(x))                                                                (10)
 * over all pairs of a point and a triangle, and of two edges. Several triangles of another body share an edge or a
 * vertex that is the nearest to a point. It must count once, not once for each: a flat floor would push sideways near
 * its edges. So embipc.h, and this file, subtract edges and add vertices again [IPC23]:
 *   sum_T b(d(p,T)) - sum_e b(d(p,e)) + sum_v b(d(p,v))
 * Within one body each pair has its own dhat, at most half of its distance at rest, and nothing is subtracted. */

/* Evaluates a pair at x. Returns 0 where it is farther away than dhat. */
static int make_contact(const pair *k, double x[][3], contact *c)
{
    double y[4][3], m = 1, b, first, second;
    for (int i = 0; i < 4; i++) memcpy(y[i], x[k->v[i]], sizeof y[i]);
    c->of = k;
    c->at = find_closest(k->kind, y);
    if (!(c->at.d < k->dhat)) return 0;
    b = barrier(c->at.d, k->dhat, &first, &second);
    memset(c->extra, 0, sizeof c->extra);
    if (k->kind == EDGE_EDGE) m = mollifier(y, k->eps, c->extra);
    c->energy = k->sign * k->kappa * m * b;
    c->first = k->sign * k->kappa * m * first;
    c->second = k->sign * k->kappa * m * second;
    for (int i = 0; i < 12; i++) c->extra[i / 3][i % 3] *= k->sign * k->kappa * b;
    return 1;
}

/* Friction takes its normal forces lambda, weights and normals from the contacts at q^n. */
static void lag_friction(world *w, double x[][3])
{
    w->frictions = 0;
    for (int k = 0; k < w->pairs && w->frictions < CONTACTS; k++)
        w->frictions += make_contact(w->pair_list + k, x, w->lagged + w->frictions);
}

/* mu lambda of a lagged contact, N; u: its tangential displacement since q^n, m                 (8) */
static double slip(const world *w, const contact *c, double x[][3], double xn[][3], double u[3])
{
    const int *v = c->of->v;
    double along;
    memset(u, 0, 3 * sizeof *u);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) u[i] += c->at.c[k] * (x[v[k]][i] - xn[v[k]][i]);
    along = dot(u, c->at.n);
    for (int i = 0; i < 3; i++) u[i] -= along * c->at.n[i];
    return -c->first * sqrt(w->friction[w->of_body[v[0]]] * w->friction[w->of_body[v[3]]]);
}

/* ---- 7. The potential E ---------------------------------------------------------------------
 *   E(q) = 1/2 (q - qt)^T M (q - qt) + h^2 [ Psi(q) - f.q + B(J q) + D(J q) ],  qt = q^n + h v^n   (5, 10, 11)
 * The next q is its minimum (12). There M (v - v^n)/h is the sum of all forces: Newton's law with backward Euler. */

/* E at q; size: sum of the sizes of its terms, for rounding. */
static double potential(world *w, double q[][3], double *size)
{
    double x[VERTICES][3], xn[VERTICES][3], P[9], u[3], a, b, E = 0, term = 0, hh = w->h * w->h;
    contact c;
    *size = 0;
    for (int i = 0; i < w->nodes; i++) {
        for (int j = 0; j < w->nodes; j++)
            for (int k = 0; k < 3; k++)
                E += w->M[i][j] / 2 * (q[i][k] - w->qt[i][k]) * (q[j][k] - w->qt[j][k]);
        for (int k = 0; k < 3; k++) term += w->mass[i] * w->gravity[k] * (q[i][k] - w->qn[i][k]);
    }
    *size = E + hh * fabs(term);
    E -= hh * term;
    for (int t = 0; t < w->tets; t++) E += hh * w->V[t] * strain_energy(w, t, q, P);
    positions(w, q, x);
    positions(w, w->qn, xn);
    for (int k = 0; k < w->pairs; k++)
        if (make_contact(w->pair_list + k, x, &c)) {
            E += hh * c.energy;
            *size += hh * fabs(c.energy);
        }
    for (int k = 0; k < w->frictions; k++) {
        double weight = slip(w, w->lagged + k, x, xn, u);
        term = weight * friction(norm(u), w->epsv * w->h, &a, &b);
        E += hh * term;
        *size += hh * fabs(term);
    }
    *size += fabs(E);
    return E;
}

/* Gradient and Hessian of inertia, elasticity and gravity. */
static void add_body_derivatives(world *w)
{
    double P[9], hh = w->h * w->h;
    for (int i = 0; i < w->nodes; i++)
        for (int k = 0; k < 3; k++) {
            w->g[3 * i + k] -= hh * w->mass[i] * w->gravity[k];
            for (int j = 0; j < w->nodes; j++) {
                w->g[3 * i + k] += w->M[i][j] * (w->q[j][k] - w->qt[j][k]);
                w->H[3 * i + k][3 * j + k] += w->M[i][j];
            }
        }
    for (int t = 0; t < w->tets; t++) {
        (void)strain_energy(w, t, w->q, P);
        for (int a = 0; a < 4; a++)
            for (int i = 0; i < 3; i++)
                w->g[3 * w->tet[t][a] + i] += hh * w->V[t] * dot(P + 3 * i, w->m[t][a]);
        add_stiffness(w, t, hh);
    }
}

/* The gradient g and the Hessian H at q. H is projected: of a contact it has kappa b'' n n^T, and not the term with
 * b' < 0, which makes it indefinite. Subtracted contacts take stiffness off, or with only_positive none. Returns the
 * number of contacts. */
static int derivatives(world *w, int only_positive)
{
    double x[VERTICES][3], xn[VERTICES][3], S[9], f[3], u[3], y, weight, across, along, hh = w->h * w->h;
    int count = 0;
    contact c;
    memset(w->g, 0, sizeof w->g);
    memset(w->H, 0, sizeof w->H);
    add_body_derivatives(w);
    positions(w, w->q, x);
    positions(w, w->qn, xn);
    for (int k = 0; k < w->pairs; k++) {
        if (!make_contact(w->pair_list + k, x, &c)) continue;
        count++;
        for (int i = 0; i < 9; i++) S[i] = hh * c.second * c.at.n[i / 3] * c.at.n[i % 3];
        for (int a = 0; a < 4; a++) {
            for (int i = 0; i < 3; i++) f[i] = c.at.c[a] * c.first * c.at.n[i] + c.extra[a][i];
            add_gradient(w, c.of->v[a], hh, f);
        }
        if (c.second > 0 || !only_positive) add_hessian(w, c.of->v, c.at.c, S);
    }
    for (int k = 0; k < w->frictions; k++) {
        const contact *l = w->lagged + k;
        weight = hh * slip(w, l, x, xn, u);
        y = norm(u);
        (void)friction(y, w->epsv * w->h, &across, &along);
        for (int a = 0; a < 4; a++) add_gradient(w, l->of->v[a], weight * l->at.c[a] * across, u);
        for (int i = 0; i < 9; i++)
            S[i] = weight * (across * ((i % 4 == 0) - l->at.n[i / 3] * l->at.n[i % 3]) +
                             (y > 0 ? (along - across) * u[i / 3] * u[i % 3] / (y * y) : 0));
        if (weight > 0 || !only_positive) add_hessian(w, l->of->v, l->at.c, S);
    }
    return count;
}

/* ---- 8. Dense LDL^T ------------------------------------------------------------------------- */

/* Solves H p = -g with H = L D L^T. L takes the place of H below the diagonal, D on it. Returns 0 where H is not
 * positive definite. */
static int solve(world *w)
{
    int n = 3 * w->nodes;
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) w->p[k] = w->H[j][k] * w->H[k][k];
        for (int i = j; i < n; i++)
            for (int k = 0; k < j; k++) w->H[i][j] -= w->H[i][k] * w->p[k];
        if (!(w->H[j][j] > 0)) return 0;
        for (int i = j + 1; i < n; i++) w->H[i][j] /= w->H[j][j];
    }
    for (int i = 0; i < n; i++) {
        w->p[i] = -w->g[i];
        for (int k = 0; k < i; k++) w->p[i] -= w->H[i][k] * w->p[k];
    }
    for (int i = n - 1; i >= 0; i--) {
        w->p[i] /= w->H[i][i];
        for (int k = i + 1; k < n; k++) w->p[i] -= w->H[k][i] * w->p[k];
    }
    return 1;
}

/* ---- 9. Continuous collision detection ------------------------------------------------------
 * Additive conservative advancement [CIPC21]. Points of the two primitives approach each other at most as fast as the
 * sum l of the largest speeds on both sides. So from a distance d the time 0.9 d/l is free, and no less than 0.1 d is
 * left after it. This is repeated until the end of the path, or until only a tenth of the first distance is left. */

/* A fraction of the motion y of four vertices at x that is free of contact, at most `most`. */
static double free_fraction(int kind, double x[4][3], double y[4][3], double most)
{
    double mean[3], z[4][3], first = find_closest(kind, x).d, d = first, fastest[2] = {0, 0}, t = 0;
    for (int i = 0; i < 3; i++) mean[i] = (y[0][i] + y[1][i] + y[2][i] + y[3][i]) / 4;
    for (int k = 0; k < 4; k++) {
        int side = k >= (kind == EDGE_EDGE ? 2 : 1);
        sub(z[k], y[k], mean);      /* a common motion brings nothing closer */
        fastest[side] = fmax(fastest[side], norm(z[k]));
    }
    for (;;) {
        double at[4][3];
        t += 0.9 * d / (fastest[0] + fastest[1]);
        if (!(t < most)) return most;
        for (int i = 0; i < 12; i++) at[i / 3][i % 3] = x[i / 3][i % 3] + t * z[i / 3][i % 3];
        d = find_closest(kind, at).d;
        if (d < 0.1 * first) return t;
    }
}

/* The fraction of the direction p that is free of contact for all pairs, at most 1. */
static double free_step(world *w)
{
    double x[VERTICES][3], q[NODES][3], to[VERTICES][3], a[4][3], y[4][3], most = 1;
    for (int i = 0; i < 3 * w->nodes; i++) q[i / 3][i % 3] = w->q[i / 3][i % 3] + w->p[i];
    positions(w, w->q, x);
    positions(w, q, to);
    for (int n = 0; n < w->pairs; n++) {
        const pair *k = w->pair_list + n;
        if (k->kind < POINT_TRIANGLE) continue;
        for (int i = 0; i < 4; i++) {
            memcpy(a[i], x[k->v[i]], sizeof a[i]);
            sub(y[i], to[k->v[i]], x[k->v[i]]);
        }
        most = free_fraction(k->kind, a, y, most);
    }
    return most;
}

/* ---- 10. One step ---------------------------------------------------------------------------
 * Projected Newton with a line search, until the direction is shorter than the tolerance [IPC20]:
 *   H p = -g,   q <- q + alpha p,   alpha = the free step, halved until E does not grow
 * At the end v = (q - q^n)/h                                                                    (2-4) */

/* One iteration. Returns 1 if it was the last. */
static int iterate(world *w, iteration *log)
{
    double start[NODES][3], size, rounding, largest = 0;
    log->contacts = derivatives(w, 0);
    if (!solve(w)) {
        (void)derivatives(w, 1);
        (void)solve(w);
    }
    for (int i = 0; i < w->nodes; i++) largest = fmax(largest, norm(w->p + 3 * i));
    log->p = largest / w->h;
    log->E = potential(w, w->q, &size);
    log->alpha = log->safe = free_step(w);
    memcpy(start, w->q, sizeof start);
    for (;;) {
        for (int i = 0; i < 3 * w->nodes; i++) w->q[i / 3][i % 3] = start[i / 3][i % 3] + log->alpha * w->p[i];
        if (log->p < w->tolerance) return log->alpha == 1;   /* too short to compare E */
        if (potential(w, w->q, &rounding) <= log->E + 1e-14 * size || log->alpha < 1e-12) return 0;
        log->alpha /= 2;
    }
}

/* One step. Returns 1 if it converged. */
static int step(world *w)
{
    double x[VERTICES][3], F[9];
    int done = 0;
    memcpy(w->qn, w->q, sizeof w->q);
    for (int i = 0; i < w->nodes; i++)
        for (int k = 0; k < 3; k++) w->qt[i][k] = w->q[i][k] + w->h * w->v[i][k];
    for (int t = 0; t < w->tets; t++) {
        deformation(w, t, w->q, F);
        rotation(F, w->R[t]);
    }
    positions(w, w->q, x);
    lag_friction(w, x);
    for (w->iterations = 0; w->iterations < ITERATIONS && !done; w->iterations++)
        done = iterate(w, w->log + w->iterations);
    for (int i = 0; i < w->nodes; i++)
        for (int k = 0; k < 3; k++) w->v[i][k] = (w->q[i][k] - w->qn[i][k]) / w->h;
    return done;
}

/* ---- 11. Building a world -------------------------------------------------------------------
 * Mass and volume of a tet come from the part of the solid inside it, exactly                     (1)
 *   V_T = integral of 1,   M_ab = rho integral of w_a w_b
 * The solid is the signed sum of the tets (o, a, b, c) over the triangles a b c of the surface, with any point o. Each
 * is written in barycentric coordinates of T, and clipped to w >= 0. */

/* Adds a piece with volume v and the coordinates W of its corners to V and to the integrals S of w_a w_b. */
static void add_piece(double W[4][4], double v, double *V, double S[4][4])
{
    for (int i = 0; i < 4; i++) {
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                double one[4][4], two[4][4], t;
                if (!(W[a][i] < 0 && W[b][i] > 0)) continue;
                t = W[a][i] / (W[a][i] - W[b][i]);   /* cuts the edge from a to b where w_i = 0 */
                memcpy(one, W, sizeof one);
                for (int k = 0; k < 4; k++) one[a][k] = k == i ? 0 : W[a][k] + t * (W[b][k] - W[a][k]);
                memcpy(two, W, sizeof two);
                memcpy(two[b], one[a], sizeof two[b]);
                add_piece(one, (1 - t) * v, V, S);
                add_piece(two, t * v, V, S);
                return;
            }
        if (W[0][i] < 0 || W[1][i] < 0 || W[2][i] < 0 || W[3][i] < 0) return;
    }
    *V += v;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 4; b++) S[i][j] += v / 20 * (a == b ? 2 : 1) * W[a][i] * W[b][j];
}

/* Barycentric coordinates in tet t, at rest */
static void coordinates(const world *w, int t, const double x[3], double W[4])
{
    double r[3];
    sub(r, x, w->q[w->tet[t][0]]);
    for (int a = 0; a < 4; a++) W[a] = (a == 0) + dot(w->m[t][a], r);
}

/* Gradients of the coordinates of tet t, and its mass and volume for the triangles from `first` on */
static void build_tet(world *w, int t, int first, double density)
{
    double e[4][3], W[4][4], S[4][4], det, whole;
    const int *v = w->tet[t];
    for (int a = 1; a < 4; a++) sub(e[a], w->q[v[a]], w->q[v[0]]);
    whole = triple(e[1], e[2], e[3]);
    for (int a = 1; a < 4; a++) cross(w->m[t][a], e[a % 3 + 1], e[(a + 1) % 3 + 1]);
    for (int a = 1; a < 4; a++)
        for (int i = 0; i < 3; i++) w->m[t][a][i] /= whole;
    for (int i = 0; i < 3; i++) w->m[t][0][i] = -w->m[t][1][i] - w->m[t][2][i] - w->m[t][3][i];
    w->V[t] = 0;
    memset(S, 0, sizeof S);
    for (int k = first; k < w->triangles; k++) {
        coordinates(w, t, w->rest[w->tri[first][0]], W[0]);
        for (int a = 1; a < 4; a++) {
            coordinates(w, t, w->rest[w->tri[k][a - 1]], W[a]);
            sub(e[a], w->rest[w->tri[k][a - 1]], w->rest[w->tri[first][0]]);
        }
        det = triple(e[1], e[2], e[3]);
        if (det != 0) add_piece(W, det / 6, &w->V[t], S);
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            w->M[v[a]][v[b]] += density * S[a][b];
            w->mass[v[a]] += density * S[a][b];
        }
    w->V[t] = fmax(w->V[t], 1e-4 * whole / 6);   /* even an empty tet ties its nodes together */
}

/* A vertex hangs on the tet that it is deepest inside. */
static void embed(world *w, int vertex, int first)
{
    double deepest = -HUGE_VAL;
    w->of_tet[vertex] = -1;
    for (int t = first; t < w->tets; t++) {
        double W[4], least;
        coordinates(w, t, w->rest[vertex], W);
        least = fmin(fmin(W[0], W[1]), fmin(W[2], W[3]));
        if (!(least > deepest)) continue;
        deepest = least;
        w->of_tet[vertex] = t;
        memcpy(w->weight[vertex], W, sizeof W);
    }
}

/* Is the edge of these two triangles inside a face that stays flat? It does if one tet carries all of it, or none. */
static int is_flat(const world *w, const int s[3], const int t[3])
{
    double e[3], f[3], r[3], n[3];
    sub(e, w->rest[s[1]], w->rest[s[0]]);
    sub(f, w->rest[s[2]], w->rest[s[0]]);
    cross(n, e, f);
    for (int k = 0; k < 3; k++) {
        sub(r, w->rest[t[k]], w->rest[s[0]]);
        if (fabs(dot(n, r)) > 1e-14 * norm(n)) return 0;
        if (w->of_tet[t[k]] != w->of_tet[s[0]] || w->of_tet[s[k]] != w->of_tet[s[0]]) return 0;
    }
    return 1;
}

/* Edges of the triangles from `first` on. An edge belongs to two triangles, in opposite senses. A vertex needs no pairs
 * where all its edges are flat, or all but two in a line: the pairs of others contain a nearest one. */
static void build_edges(world *w, int first, int first_vertex)
{
    for (int s = first; s < w->triangles; s++)
        for (int i = 0; i < 3; i++) {
            int a = w->tri[s][i], b = w->tri[s][(i + 1) % 3], *e = w->edge[w->edges];
            for (int t = first; t < w->triangles && a < b; t++)
                for (int j = 0; j < 3; j++)
                    if (w->tri[t][j] == b && w->tri[t][(j + 1) % 3] == a) {
                        e[0] = a;
                        e[1] = b;
                        w->flat_edge[w->edges++] = is_flat(w, w->tri[s], w->tri[t]);
                    }
        }
    for (int v = first_vertex; v < w->vertices; v++) {
        double r[8][3], n[3];
        int sharp = 0, same = 1;
        for (int k = 0; k < w->edges && sharp < 3; k++)
            for (int i = 0; i < 2; i++)
                if (w->edge[k][i] == v && !w->flat_edge[k]) {
                    int to = w->edge[k][1 - i];
                    same &= w->of_tet[to] == w->of_tet[v];
                    sub(r[sharp++], w->rest[to], w->rest[v]);
                }
        if (sharp == 2) cross(n, r[0], r[1]);
        w->flat_vertex[v] = sharp == 0 || (sharp == 2 && same && dot(r[0], r[1]) < 0 && norm(n) < 1e-14 * norm(r[0]));
    }
}

/* Lists a pair. Within one body its dhat is at most half of its distance at rest. */
static void add_pair(world *w, int kind, double sign, int a, int b, int c, int d)
{
    pair *k = w->pair_list + w->pairs;
    double x[4][3], e[3], f[3];
    if (w->pairs == PAIRS) return;
    w->pairs++;
    k->kind = kind;
    k->sign = sign;
    k->v[0] = a; k->v[1] = b; k->v[2] = c; k->v[3] = d;
    for (int i = 0; i < 4; i++) memcpy(x[i], w->rest[k->v[i]], sizeof x[i]);
    k->dhat = w->dhat;
    if (w->of_body[a] == w->of_body[d]) k->dhat = fmin(w->dhat, find_closest(kind, x).d / 2);
    k->kappa = w->kappa * w->dhat / k->dhat;
    sub(e, x[1], x[0]);
    sub(f, x[3], x[2]);
    k->eps = 1e-3 * dot(e, e) * dot(f, f);
}

/* May primitives with the vertices a and b touch? */
static int may_touch(const world *w, int a, int b)
{
    if (w->of_body[a] == w->of_body[b]) return w->folds[w->of_body[a]];
    return w->of_tet[a] >= 0 || w->of_tet[b] >= 0;
}

/* All pairs, once the world has all its bodies. */
static void list_pairs(world *w)
{
    w->pairs = 0;
    for (int p = 0; p < w->vertices; p++) {
        for (int t = 0; t < w->triangles; t++) {
            const int *v = w->tri[t];
            int self = w->of_body[p] == w->of_body[v[0]];
            if (!may_touch(w, p, v[0]) || p == v[0] || p == v[1] || p == v[2]) continue;
            if (self || !w->flat_vertex[p]) add_pair(w, POINT_TRIANGLE, 1, p, v[0], v[1], v[2]);
        }
        for (int e = 0; e < w->edges && !w->flat_vertex[p]; e++)
            if (w->of_body[p] != w->of_body[w->edge[e][0]] && may_touch(w, p, w->edge[e][0]))
                add_pair(w, POINT_EDGE, -1, p, w->edge[e][0], w->edge[e][1], w->edge[e][1]);
        for (int v = 0; v < w->vertices && !w->flat_vertex[p]; v++)
            if (w->of_body[p] != w->of_body[v] && may_touch(w, p, v)) add_pair(w, POINT_POINT, 1, p, v, v, v);
    }
    for (int k = 0; k < w->edges; k++)
        for (int l = k + 1; l < w->edges; l++) {
            const int *e = w->edge[k], *f = w->edge[l];
            if (w->flat_edge[k] || w->flat_edge[l] || !may_touch(w, e[0], f[0])) continue;
            if (e[0] != f[0] && e[0] != f[1] && e[1] != f[0] && e[1] != f[1])
                add_pair(w, EDGE_EDGE, 1, e[0], e[1], f[0], f[1]);
        }
}

/* A material: Pa, dimensionless, kg/m^3 */
typedef struct material { double young, poisson, density; } material;

/* Adds a body with the surface x, tri and the cage q, tet (tet_count 0: fixed). velocity: m/s, of all nodes. */
static void add_body(world *w, const double *x, int vertex_count, const int *tri, int triangle_count, const double *q,
                     int node_count, const int *tet, int tet_count, material of, double friction_, const double *velocity)
{
    int vertex = w->vertices, triangle = w->triangles, t0 = w->tets, node = w->nodes;
    for (int k = 0; k < vertex_count; k++, w->vertices++) {
        memcpy(w->rest[w->vertices], x + 3 * k, sizeof w->rest[0]);
        w->of_body[w->vertices] = w->bodies;
    }
    for (int k = 0; k < triangle_count; k++, w->triangles++)
        for (int i = 0; i < 3; i++) w->tri[w->triangles][i] = vertex + tri[3 * k + i];
    for (int k = 0; k < node_count; k++, w->nodes++) {
        memcpy(w->q[w->nodes], q + 3 * k, sizeof w->q[0]);
        memcpy(w->v[w->nodes], velocity, sizeof w->v[0]);
    }
    for (int k = 0; k < tet_count; k++, w->tets++) {
        for (int i = 0; i < 4; i++) w->tet[w->tets][i] = node + tet[4 * k + i];
        w->mu[w->tets] = of.young / (2 * (1 + of.poisson));
        w->lambda[w->tets] = of.young * of.poisson / ((1 + of.poisson) * (1 - 2 * of.poisson));
        build_tet(w, w->tets, triangle, of.density);
    }
    for (int k = vertex; k < w->vertices; k++) embed(w, k, t0);
    build_edges(w, triangle, vertex);
    w->friction[w->bodies] = friction_;
    w->folds[w->bodies++] = tet_count > 1;
}

/* ---- 12. A small scene ----------------------------------------------------------------------
 * A soft cube of 0.1 m falls flat onto a fixed floor with 0.5 m/s sideways, and slides until friction stops it. Its cage
 * has 2 x 2 x 2 cells of six tets. Each step prints what happened, and its iterations. */

static const double cube[24] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1, -1, -1, 1, 1, -1, 1, -1, 1, 1, 1, 1, 1};
static const int cube_triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                       2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};

/* Cuts a cube from -size to size into n^3 cells of six tets around a diagonal. Returns the number of tets. */
static int build_cage(int n, double size, double z, double *q, int *tet)
{
    static const int way[6][2] = {{0, 1}, {1, 2}, {2, 0}, {1, 0}, {2, 1}, {0, 2}};   /* the first two axes to go along */
    int step[3], count = 0;
    step[0] = 1; step[1] = n + 1; step[2] = (n + 1) * (n + 1);
    for (int i = 0; i < (n + 1) * (n + 1) * (n + 1); i++)
        for (int c = 0; c < 3; c++) q[3 * i + c] = size * (2.0 * (i / step[c] % (n + 1)) / n - 1) + (c == 2) * z;
    for (int cell = 0; cell < n * n * n; cell++)
        for (int k = 0; k < 6; k++, count++) {
            int *t = tet + 4 * count, odd = k >= 3;
            t[0] = cell % n * step[0] + cell / n % n * step[1] + cell / n / n * step[2];
            t[1] = t[0] + step[way[k][0]];
            t[2 + odd] = t[1] + step[way[k][1]];
            t[3 - odd] = t[0] + step[0] + step[1] + step[2];
        }
    return count;
}

/* Prints the state, and the iterations of the last step. */
static void print_step(world *w, int number)
{
    double x[VERTICES][3], speed[3] = {0, 0, 0}, mass = 0, lowest = HUGE_VAL, force = 0, pull = 0, xn[VERTICES][3], u[3], a, b;
    contact c;
    positions(w, w->q, x);
    positions(w, w->qn, xn);
    for (int k = 8; k < w->vertices; k++) lowest = fmin(lowest, x[k][2]);
    for (int i = 0; i < w->nodes; i++) {
        mass += w->mass[i];
        for (int k = 0; k < 3; k++) speed[k] += w->mass[i] * w->v[i][k];
    }
    for (int k = 0; k < w->pairs; k++)
        if (make_contact(w->pair_list + k, x, &c)) force -= c.first;
    for (int k = 0; k < w->frictions; k++) {
        double weight = slip(w, w->lagged + k, x, xn, u);
        (void)friction(norm(u), w->epsv * w->h, &a, &b);
        pull += weight * norm(u) * a;
    }
    printf("step %2d: gap %8.5f mm, speed along %7.4f down %7.4f m/s, normal force %7.3f N (weight %.3f), friction %6.3f N\n",
           number, 1e3 * lowest, speed[0] / mass, -speed[2] / mass, force, -mass * w->gravity[2], pull);
    for (int k = 0; k < w->iterations; k++)
        printf("    %2d: E %13.6e J s^2, |p|/h %9.2e m/s, free %.3f, taken %.4f, contacts %d\n", k + 1, w->log[k].E,
               w->log[k].p, w->log[k].safe, w->log[k].alpha, w->log[k].contacts);
}

int main(void)
{
    static world w;
    const double velocity[3] = {0.5, 0, -0.5};
    const material soft = {1e5, 0.4, 1000};
    double x[24], q[81];
    int tet[4 * 48], tets = build_cage(2, 0.055, 0.06, q, tet);
    w.h = 0.01; w.gravity[2] = -9.81;
    w.dhat = 1e-3; w.kappa = 1e5; w.epsv = 1e-3; w.tolerance = 1e-4;
    for (int i = 0; i < 24; i++) x[i] = cube[i] - (i % 3 == 2);         /* its top is at z = 0 */
    add_body(&w, x, 8, cube_triangles, 12, NULL, 0, NULL, 0, soft, 0.5, velocity);
    for (int i = 0; i < 24; i++) x[i] = 0.05 * cube[i] + (i % 3 == 2) * 0.06;
    add_body(&w, x, 8, cube_triangles, 12, q, 27, tet, tets, soft, 0.5, velocity);
    list_pairs(&w);
    printf("%d unknowns, %d vertices, %d pairs\n", 3 * w.nodes, w.vertices, w.pairs);
    for (int n = 1; n <= 40; n++) {
        int done = step(&w);
        print_step(&w, n);
        if (!done) return 1;
    }
    return 0;
}
