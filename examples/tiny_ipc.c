/* tiny_ipc.c - Embedded Incremental Potential Contact in one file without the library, to be read beside the paper.
 *
 * You learn the whole method: one function E(q) of the unknowns q, and how to find its minimum without ever letting two
 * surfaces touch. Nothing here is fast. Each iteration tries all pairs of primitives, and matrices are dense.
 * tests/test_tiny.c compares it with embipc.h step for step: they agree to 1e-9 m. By default embipc.h also keeps the
 * spin of bodies, takes new friction forces after impacts, and averages the volume strain of cages. It leaves out pairs
 * of edges and vertices inside flat faces, so a box on a box rests a little differently here.
 * Build: cc -std=c99 -O2 tiny_ipc.c -lm
 *
 *   1 data   2 embedding   3 closest points   4 barrier and friction   5 elasticity   6 contacts   7 the potential E
 *   8 dense LDL^T   9 continuous collision detection   10 one step   11 mass and volume   12 bodies   13 a small scene
 *
 * Numbers at the right margin are equations of [EIPC24], Du et al., Embedded IPC, arXiv 2409.16385. [IPC20] Li et al.,
 * Incremental Potential Contact, TOG 39(4). [CIPC21] Li, Kaufman, Jiang, Codimensional IPC, TOG 40(4). [CCD23] Han,
 * Masterjohn, Castro, A Convex Formulation of Frictional Contact, RA-L 2023. [IPC23] Li et al., arXiv 2307.15908. */
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- 1. Data --------------------------------------------------------------------------------
 * A body has a closed surface, and a cage of tets that carries it. The nodes q of the cage are the unknowns. The three
 * kinds of bodies of embipc.h differ only by their cage:
 *   affine   one tet around the surface       cage   a coarse mesh around it       full   a mesh that ends at it
 * A fixed body has no cage. All bodies share the arrays of one world, of these sizes. Units are SI. */
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

/* A pair that is nearer than dhat: its energy, J, and the first and second derivative by the distance d. */
typedef struct contact {
    const pair *of;
    closest at;
    double energy, first, second;
    double extra[4][3];             /* gradient of the mollifier by the four vertices, N */
} contact;

/* One Newton iteration: E, J s^2; size of the direction, m/s; free and taken fraction; contacts at its start */
typedef struct iteration { double E, p, safe, alpha; int contacts; } iteration;

typedef struct world {
    double h, gravity[3];           /* time step, s; m/s^2 */
    double dhat, kappa, epsv;       /* m; kg/s^2; m/s */
    double tolerance;               /* m/s: a step ends when Newton moves no node faster than this */
    int bodies, nodes, tets, vertices, triangles, edges, pairs, frictions, iterations;
    double friction[BODIES];        /* of a body; a pair takes the geometric mean */
    int folds[BODIES];              /* a body of several tets may touch itself */
    double q[NODES][3], v[NODES][3], qn[NODES][3], qt[NODES][3];         /* q^n: start of a step; qt: predicted */
    double M[NODES][NODES], mass[NODES];                                 /* mass of pairs of nodes; its row sums */
    int tet[TETS][4];
    double m[TETS][4][3], V[TETS], mu[TETS], lambda[TETS], R[TETS][9];   /* see "Elasticity" */
    double rest[VERTICES][3], weight[VERTICES][4], x[VERTICES][3], xn[VERTICES][3];
    int of_body[VERTICES], of_tet[VERTICES];      /* the tet that carries a vertex; -1: fixed */
    int tri[TRIANGLES][3], edge[EDGES][2];
    pair pair_list[PAIRS];
    contact lagged[CONTACTS];       /* contacts at q^n, for friction */
    double g[3 * NODES], p[3 * NODES], H[3 * NODES][3 * NODES];          /* gradient, direction, Hessian */
    int contacts;                   /* where E was evaluated last */
    double normal_force, friction_force, size;    /* sums over these, N; of the sizes of the terms of E, for rounding */
    iteration log[ITERATIONS];
} world;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double norm(const double a[3]) { return sqrt(dot(a, a)); }
static void sub(double r[3], const double a[3], const double b[3]) { for (int i = 0; i < 3; i++) r[i] = a[i] - b[i]; }
static void cross(double r[3], const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++) r[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
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

/* Adds an energy of the point sum_k c_k x_k, with the gradient f and the Hessian S, to g and H. S may be NULL. */
static void add_point(world *w, const int v[4], const double c[4], double scale, const double f[3], const double *S)
{
    int node[16], n = 0;
    double coef[16];                /* of the point, by node: sum_k c_k J_k */
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4 && w->of_tet[v[k]] >= 0; j++, n++) {
            node[n] = w->tet[w->of_tet[v[k]]][j];
            coef[n] = c[k] * w->weight[v[k]][j];
        }
    for (int a = 0; a < n; a++) {
        for (int i = 0; i < 3; i++) w->g[3 * node[a] + i] += scale * coef[a] * f[i];
        for (int b = 0; b < n && S; b++)
            for (int i = 0; i < 9; i++)
                w->H[3 * node[a] + i / 3][3 * node[b] + i % 3] += scale * coef[a] * coef[b] * S[i];
    }
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
 * Returns m and, in grad, its gradient by the four vertices where it is not 0. */
static double mollifier(double x[4][3], double eps, double grad[4][3])
{
    double e[3], f[3], n[3], c, slope;
    sub(e, x[1], x[0]);
    sub(f, x[3], x[2]);
    cross(n, e, f);
    c = dot(n, n);
    if (!(c < eps)) return 1;
    slope = 4 * (1 - c / eps) / eps;
    cross(grad[1], f, n);           /* dc/de = 2 f x n, dc/df = 2 n x e */
    cross(grad[3], n, e);
    for (int i = 0; i < 6; i++) grad[i / 3 * 2 + 1][i % 3] *= slope;
    for (int i = 0; i < 6; i++) grad[i / 3 * 2][i % 3] = -grad[i / 3 * 2 + 1][i % 3];
    return (2 - c / eps) * c / eps;
}

/* ---- 5. Elasticity --------------------------------------------------------------------------
 * Per tet T, with m_a the gradient of its barycentric coordinate a at rest, and V the volume of the solid inside it:
 *   F = sum_a q_a m_a^T,   Psi = sum_T V psi(F)                                                 (15)
 * The material is linear corotated [CCD23]. R is the rotation of F at q^n, held for the step:
 *   E = (R^T F + F^T R)/2 - I,   psi = mu |E|^2 + lambda/2 tr(E)^2,   P = dpsi/dF = R (2 mu E + lambda tr(E) I)
 * So psi is quadratic in q, and its Hessian is constant:
 *   K_ab = V [mu (m_a.m_b) I + mu r_b r_a^T + lambda r_a r_b^T],   r_a = R m_a */

static void deformation(const world *w, int t, double q[][3], double F[9])
{
    memset(F, 0, 9 * sizeof *F);
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 9; i++) F[i] += q[w->tet[t][a]][i / 3] * w->m[t][a][i % 3];
}

/* The rotation of F, by R <- (R + R^-T)/2. The rows of R^-T are cross products of rows over the determinant. */
static void rotation(const double F[9], double R[9])
{
    double C[9], det;
    memcpy(R, F, 9 * sizeof *R);
    for (int k = 0; k < 60; k++) {
        for (int i = 0; i < 3; i++) cross(C + 3 * i, R + 3 * ((i + 1) % 3), R + 3 * ((i + 2) % 3));
        det = dot(R, C);
        for (int i = 0; i < 9; i++) R[i] = (R[i] + C[i] / det) / 2;
    }
}

/* psi and P of one tet at q */
static double strain_energy(const world *w, int t, double q[][3], double P[9])
{
    double F[9], S[9], E[9], trace, psi;
    const double *R = w->R[t];
    deformation(w, t, q, F);
    for (int i = 0; i < 9; i++)     /* R^T F */
        S[i] = R[i / 3] * F[i % 3] + R[3 + i / 3] * F[3 + i % 3] + R[6 + i / 3] * F[6 + i % 3];
    for (int i = 0; i < 9; i++) E[i] = (S[i] + S[3 * (i % 3) + i / 3]) / 2 - (i % 4 == 0);
    trace = E[0] + E[4] + E[8];
    psi = w->lambda[t] / 2 * trace * trace;
    for (int i = 0; i < 9; i++) {
        psi += w->mu[t] * E[i] * E[i];
        S[i] = 2 * w->mu[t] * E[i] + (i % 4 == 0) * w->lambda[t] * trace;
    }
    for (int i = 0; i < 9; i++) P[i] = dot(R + i - i % 3, S + 3 * (i % 3));   /* S is symmetric now */
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
 * over all pairs of a point and a triangle, and of two edges. Where triangles of another body share the edge or vertex
 * that is nearest to a point, it counts several times, and a flat floor would push sideways near its edges. So
 * embipc.h, and this file, subtract edges and add vertices again [IPC23], as on a closed surface
 *   sum_T b(d(p,T)) - sum_e b(d(p,e)) + sum_v b(d(p,v))
 * counts each once. Within one body nothing is subtracted, and each pair has its own dhat, at most half of its distance
 * at rest. Its kappa grows by the same factor. */

/* Evaluates a pair at x. Returns 0 where it is farther away than dhat. */
static int make_contact(const pair *k, double x[][3], contact *c)
{
    double y[4][3], m = 1, b, scale = k->sign * k->kappa;
    for (int i = 0; i < 4; i++) memcpy(y[i], x[k->v[i]], sizeof y[i]);
    c->of = k;
    c->at = find_closest(k->kind, y);
    if (!(c->at.d < k->dhat)) return 0;
    b = barrier(c->at.d, k->dhat, &c->first, &c->second);
    memset(c->extra, 0, sizeof c->extra);
    if (k->kind == EDGE_EDGE) m = mollifier(y, k->eps, c->extra);
    c->energy = scale * m * b;
    c->first *= scale * m;
    c->second *= scale * m;
    for (int i = 0; i < 12; i++) c->extra[i / 3][i % 3] *= scale * b;
    return 1;
}

/* ---- 7. The potential E ---------------------------------------------------------------------
 *   E(q) = 1/2 (q - qt)^T M (q - qt) + h^2 [ Psi(q) - f.q + B(J q) + D(J q) ],  qt = q^n + h v^n   (5, 10, 11)
 * Its minimum is the next q (12): there M (v - v^n)/h is the sum of all forces, Newton's law by backward Euler. The
 * Hessian H is projected: of a contact it has only kappa b'' n n^T. The rest, with b' < 0, is not positive. */

/* Inertia, gravity (16) and elasticity. */
static double body_terms(world *w, double q[][3], int derive)
{
    double P[9], hh = w->h * w->h, E = 0;
    for (int i = 0; i < w->nodes; i++)
        for (int k = 0; k < 3; k++) {
            double row = 0, weight = hh * w->mass[i] * w->gravity[k];
            for (int j = 0; j < w->nodes; j++) {
                row += w->M[i][j] * (q[j][k] - w->qt[j][k]);
                if (derive) w->H[3 * i + k][3 * j + k] += w->M[i][j];
            }
            E += row * (q[i][k] - w->qt[i][k]) / 2 - weight * (q[i][k] - w->qn[i][k]);
            w->size += fabs(row * (q[i][k] - w->qt[i][k])) + fabs(weight * (q[i][k] - w->qn[i][k]));
            if (derive) w->g[3 * i + k] += row - weight;
        }
    for (int t = 0; t < w->tets; t++) {
        E += hh * w->V[t] * strain_energy(w, t, q, P);
        if (!derive) continue;
        for (int a = 0; a < 4; a++)
            for (int i = 0; i < 3; i++) w->g[3 * w->tet[t][a] + i] += hh * w->V[t] * dot(P + 3 * i, w->m[t][a]);
        add_stiffness(w, t, hh);
    }
    return E;
}

/* h^2 B at the vertices w->x */
static double contact_terms(world *w, int derive)
{
    static const double one[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    double S[9], f[3], hh = w->h * w->h, E = 0;
    contact c;
    for (int k = 0; k < w->pairs; k++) {
        if (!make_contact(w->pair_list + k, w->x, &c)) continue;
        w->contacts++;
        w->normal_force -= c.first;
        w->size += hh * fabs(c.energy);
        E += hh * c.energy;
        for (int i = 0; i < 9; i++) S[i] = c.second * c.at.n[i / 3] * c.at.n[i % 3];
        for (int i = 0; i < 3; i++) f[i] = c.first * c.at.n[i];
        if (derive) add_point(w, c.of->v, c.at.c, hh, f, S);
        for (int a = 0; a < 4 && derive; a++) add_point(w, c.of->v, one[a], hh, c.extra[a], NULL);
    }
    return E;
}

/* h^2 D at the vertices w->x (8). weight: mu lambda, N; u: tangential displacement since q^n, m */
static double friction_terms(world *w, int derive)
{
    double u[3], f[3], S[9], y, along, across, slope, E = 0;
    for (int k = 0; k < w->frictions; k++) {
        const contact *c = w->lagged + k;
        const int *v = c->of->v;
        double weight = -c->first * sqrt(w->friction[w->of_body[v[0]]] * w->friction[w->of_body[v[3]]]);
        for (int i = 0; i < 3; i++) {
            u[i] = 0;
            for (int a = 0; a < 4; a++) u[i] += c->at.c[a] * (w->x[v[a]][i] - w->xn[v[a]][i]);
        }
        along = dot(u, c->at.n);
        for (int i = 0; i < 3; i++) u[i] -= along * c->at.n[i];
        y = norm(u);
        E += w->h * w->h * weight * friction(y, w->epsv * w->h, &across, &slope);
        w->size += w->h * w->h * fabs(weight) * y;
        w->friction_force += weight * across * y;
        for (int i = 0; i < 9; i++)
            S[i] = weight * (across * ((i % 4 == 0) - c->at.n[i / 3] * c->at.n[i % 3]) +
                             (y > 0 ? (slope - across) * u[i / 3] * u[i % 3] / (y * y) : 0));
        for (int i = 0; i < 3; i++) f[i] = weight * across * u[i];
        if (derive) add_point(w, v, c->at.c, w->h * w->h, f, S);
    }
    return E;
}

/* E at q, and if wanted the gradient g and the Hessian H. */
static double potential(world *w, double q[][3], int derive)
{
    double E;
    if (derive) memset(w->g, 0, sizeof w->g);
    if (derive) memset(w->H, 0, sizeof w->H);
    w->size = w->normal_force = w->friction_force = w->contacts = 0;
    positions(w, q, w->x);
    E = body_terms(w, q, derive);
    E += contact_terms(w, derive);
    return E + friction_terms(w, derive);
}

/* ---- 8. Dense LDL^T ------------------------------------------------------------------------- */
/* Solves H p = -g with H = L D L^T. L takes the place of H below the diagonal, D on it. An unknown whose pivot is not
 * positive stays where it is, as if a strong spring held it. So p always leads downhill. */
static void solve(world *w)
{
    int n = 3 * w->nodes;
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) w->p[k] = w->H[j][k] * w->H[k][k];
        for (int i = j; i < n; i++)
            for (int k = 0; k < j; k++) w->H[i][j] -= w->H[i][k] * w->p[k];
        if (!(w->H[j][j] > 0)) w->H[j][j] = 1e100;
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
}

/* ---- 9. Continuous collision detection ------------------------------------------------------
 * Additive conservative advancement [CIPC21]. Points of the two primitives approach each other at most as fast as the
 * sum l of the largest speeds on both sides. So from a distance d the time 0.9 d/l is free, and no less than 0.1 d is
 * left after it. This is repeated until the end of the path, or until only a tenth of the first distance is left. */

/* The fraction of the straight way of a pair, from x to `to`, that is free of contact, at most `most`. */
static double free_fraction(const pair *k, double x[][3], double to[][3], double most)
{
    double y[4][3], move[4][3], mean[3] = {0, 0, 0}, fastest[2] = {0, 0}, first, d, t = 0;
    for (int a = 0; a < 4; a++) {
        memcpy(y[a], x[k->v[a]], sizeof y[a]);
        sub(move[a], to[k->v[a]], y[a]);
        for (int i = 0; i < 3; i++) mean[i] += move[a][i] / 4;
    }
    for (int a = 0; a < 4; a++) {
        int side = a >= (k->kind == EDGE_EDGE ? 2 : 1);
        sub(move[a], move[a], mean);   /* a common motion brings nothing closer */
        fastest[side] = fmax(fastest[side], norm(move[a]));
    }
    for (first = d = find_closest(k->kind, y).d; d > 0.1 * first; d = find_closest(k->kind, y).d) {
        double further = 0.9 * d / (fastest[0] + fastest[1]);
        if (!(t + further < most)) return most;
        t += further;
        for (int i = 0; i < 12; i++) y[i / 3][i % 3] += further * move[i / 3][i % 3];
    }
    return t;
}

/* The fraction of the direction p that is free of contact for all pairs, at most 1. */
static double free_step(world *w)
{
    double q[NODES][3], to[VERTICES][3], most = 1;
    for (int i = 0; i < 3 * w->nodes; i++) q[i / 3][i % 3] = w->q[i / 3][i % 3] + w->p[i];
    positions(w, w->q, w->x);
    positions(w, q, to);
    for (const pair *k = w->pair_list; k < w->pair_list + w->pairs; k++)
        if (k->kind >= POINT_TRIANGLE) most = free_fraction(k, w->x, to, most);
    return most;
}

/* ---- 10. One step ---------------------------------------------------------------------------
 * Projected Newton with a line search, until the direction is shorter than the tolerance [IPC20]:
 *   H p = -g,   q <- q + alpha p,   alpha = the free step, halved until E does not grow
 * At the end v = (q - q^n)/h                                                                    (2-4) */

/* One iteration. Returns 1 if it was the last. */
static int iterate(world *w, iteration *log)
{
    double start[NODES][3], rounding, largest = 0;
    log->E = potential(w, w->q, 1);
    log->contacts = w->contacts;
    rounding = 1e-14 * (w->size + fabs(log->E));
    solve(w);
    for (int i = 0; i < w->nodes; i++) largest = fmax(largest, norm(w->p + 3 * i));
    log->p = largest / w->h;
    log->alpha = log->safe = free_step(w);
    memcpy(start, w->q, sizeof start);
    for (;; log->alpha /= 2) {
        for (int i = 0; i < 3 * w->nodes; i++) w->q[i / 3][i % 3] = start[i / 3][i % 3] + log->alpha * w->p[i];
        if (log->p < w->tolerance) return log->alpha == 1;   /* too short to compare E */
        if (potential(w, w->q, 0) <= log->E + rounding || log->alpha < 1e-12) return 0;
    }
}

/* One step. Returns 1 if it converged. */
static int step(world *w)
{
    double F[9];
    int done = 0;
    memcpy(w->qn, w->q, sizeof w->q);
    positions(w, w->qn, w->xn);
    for (int i = 0; i < w->nodes; i++)
        for (int k = 0; k < 3; k++) w->qt[i][k] = w->q[i][k] + w->h * w->v[i][k];
    for (int t = 0; t < w->tets; t++) {
        deformation(w, t, w->q, F);
        rotation(F, w->R[t]);
    }
    w->frictions = 0;               /* friction takes lambda, weights and normals from the contacts at q^n */
    for (int k = 0; k < w->pairs && w->frictions < CONTACTS; k++)
        w->frictions += make_contact(w->pair_list + k, w->xn, w->lagged + w->frictions);
    for (w->iterations = 0; w->iterations < ITERATIONS && !done; w->iterations++)
        done = iterate(w, w->log + w->iterations);
    (void)potential(w, w->q, 0);   /* for the forces at the end */
    for (int i = 0; i < w->nodes; i++)
        for (int k = 0; k < 3; k++) w->v[i][k] = (w->q[i][k] - w->qn[i][k]) / w->h;
    return done;
}

/* ---- 11. Mass and volume --------------------------------------------------------------------
 * Both come from the part of the solid inside each tet, exactly                                 (1)
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
    *V += v;                        /* over a tet the integral of w_a w_b is v/20, or v/10 for a = b */
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 16; k++)
            S[i / 4][i % 4] += v / 20 * (k / 4 == k % 4 ? 2 : 1) * W[k / 4][i / 4] * W[k % 4][i % 4];
}

/* Barycentric coordinates in tet t, at rest */
static void coordinates(const world *w, int t, const double x[3], double W[4])
{
    double r[3];
    sub(r, x, w->q[w->tet[t][0]]);
    for (int a = 0; a < 4; a++) W[a] = (a == 0) + dot(w->m[t][a], r);
}

/* Gradients of the coordinates of tet t, and its volume and mass in the solid of the triangles from `first` on */
static void build_tet(world *w, int t, int first, double density)
{
    double e[4][3], W[4][4], S[4][4] = {{0}}, whole;
    const int *v = w->tet[t];
    for (int a = 1; a < 4; a++) sub(e[a], w->q[v[a]], w->q[v[0]]);
    whole = triple(e[1], e[2], e[3]);
    for (int a = 1; a < 4; a++) {
        cross(w->m[t][a], e[a % 3 + 1], e[(a + 1) % 3 + 1]);
        for (int i = 0; i < 3; i++) w->m[t][a][i] /= whole;
        sub(w->m[t][0], w->m[t][0], w->m[t][a]);
    }
    for (int k = first; k < w->triangles; k++) {
        const double *o = w->rest[w->tri[first][0]];
        coordinates(w, t, o, W[0]);
        for (int a = 1; a < 4; a++) {
            coordinates(w, t, w->rest[w->tri[k][a - 1]], W[a]);
            sub(e[a], w->rest[w->tri[k][a - 1]], o);
        }
        add_piece(W, triple(e[1], e[2], e[3]) / 6, &w->V[t], S);
    }
    for (int i = 0; i < 16; i++) w->M[v[i / 4]][v[i % 4]] += density * S[i / 4][i % 4];
    for (int i = 0; i < 16; i++) w->mass[v[i / 4]] += density * S[i / 4][i % 4];
    w->V[t] = fmax(w->V[t], 1e-4 * whole / 6);   /* even an empty tet ties its nodes together */
}

/* ---- 12. Bodies ----------------------------------------------------------------------------- */
/* A vertex hangs on the tet that it is deepest inside. */
static void embed(world *w, int vertex, int first)
{
    double deepest = -HUGE_VAL, W[4];
    w->of_tet[vertex] = -1;
    for (int t = first; t < w->tets; t++) {
        coordinates(w, t, w->rest[vertex], W);
        if (!(fmin(fmin(W[0], W[1]), fmin(W[2], W[3])) > deepest)) continue;
        deepest = fmin(fmin(W[0], W[1]), fmin(W[2], W[3]));
        w->of_tet[vertex] = t;
        memcpy(w->weight[vertex], W, sizeof W);
    }
}

/* Lists a pair. No pair are two fixed primitives, two of one affine body, and two that share a vertex. */
static void add_pair(world *w, int kind, double sign, int a, int b, int c, int d)
{
    pair *k = w->pair_list + w->pairs;
    int self = w->of_body[a] == w->of_body[d];
    double x[4][3], e[3], f[3];
    if (self ? !w->folds[w->of_body[a]] || kind < POINT_TRIANGLE : w->of_tet[a] < 0 && w->of_tet[d] < 0) return;
    if (a == c || a == d || (kind == EDGE_EDGE ? b == c || b == d : a == b) || w->pairs == PAIRS) return;
    w->pairs++;
    k->kind = kind;
    k->sign = sign;
    k->v[0] = a; k->v[1] = b; k->v[2] = c; k->v[3] = d;
    for (int i = 0; i < 4; i++) memcpy(x[i], w->rest[k->v[i]], sizeof x[i]);
    k->dhat = self ? fmin(w->dhat, find_closest(kind, x).d / 2) : w->dhat;
    k->kappa = w->kappa * w->dhat / k->dhat;
    sub(e, x[1], x[0]);
    sub(f, x[3], x[2]);
    k->eps = 1e-3 * dot(e, e) * dot(f, f);
}

/* Lists all pairs, once the world has all its bodies. */
static void list_pairs(world *w)
{
    for (int p = 0; p < w->vertices; p++) {
        for (int t = 0; t < w->triangles; t++)
            add_pair(w, POINT_TRIANGLE, 1, p, w->tri[t][0], w->tri[t][1], w->tri[t][2]);
        for (int e = 0; e < w->edges; e++) add_pair(w, POINT_EDGE, -1, p, w->edge[e][0], w->edge[e][1], w->edge[e][1]);
        for (int v = 0; v < w->vertices; v++) add_pair(w, POINT_POINT, 1, p, v, v, v);
    }
    for (int k = 0; k < w->edges; k++)
        for (int l = 0; l < k; l++)
            add_pair(w, EDGE_EDGE, 1, w->edge[k][0], w->edge[k][1], w->edge[l][0], w->edge[l][1]);
}

/* A description of a body. Its cage has no tets: fixed */
typedef struct body_def {
    const double *x, *q;            /* vertices of the surface; nodes of the cage, m */
    const int *tri, *tet;
    int vertices, triangles, nodes, tets;
    double young, poisson, density, friction, velocity[3];   /* Pa, kg/m^3, m/s */
} body_def;

static void add_body(world *w, const body_def *d)
{
    int vertex = w->vertices, triangle = w->triangles, t0 = w->tets, node = w->nodes;
    for (int k = 0; k < d->vertices; k++) w->of_body[vertex + k] = w->bodies;
    memcpy(w->rest[vertex], d->x, sizeof w->rest[0] * (size_t)d->vertices);
    w->vertices += d->vertices;
    for (int k = 0; k < d->triangles; k++, w->triangles++)
        for (int i = 0; i < 3; i++) {
            int a = vertex + d->tri[3 * k + i], b = vertex + d->tri[3 * k + (i + 1) % 3];
            w->tri[w->triangles][i] = a;
            if (a > b) continue;    /* each edge belongs to two triangles, in opposite senses */
            w->edge[w->edges][0] = a;
            w->edge[w->edges++][1] = b;
        }
    for (int i = 0; i < 3 * d->nodes; i++) {
        w->q[node + i / 3][i % 3] = d->q[i];
        w->v[node + i / 3][i % 3] = d->velocity[i % 3];
    }
    w->nodes += d->nodes;
    for (int k = 0; k < d->tets; k++, w->tets++) {
        for (int i = 0; i < 4; i++) w->tet[w->tets][i] = node + d->tet[4 * k + i];
        w->mu[w->tets] = d->young / (2 * (1 + d->poisson));
        w->lambda[w->tets] = d->young * d->poisson / ((1 + d->poisson) * (1 - 2 * d->poisson));
        build_tet(w, w->tets, triangle, d->density);
    }
    for (int k = vertex; k < w->vertices; k++) embed(w, k, t0);
    w->friction[w->bodies] = d->friction;
    w->folds[w->bodies++] = d->tets > 1;
}

/* ---- 13. A small scene ----------------------------------------------------------------------
 * A soft cube of 0.1 m in a cage of 6 tets falls onto a fixed floor with 0.5 m/s sideways, and slides until friction
 * stops it. Each step prints its end, and its iterations. */
int main(void)
{
    static world w;
    static const double floor_x[12] = {-2, -2, 0, 2, -2, 0, 0, 3, 0, 0, 0, -1};
    static const int floor_tri[12] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};
    static const int tri[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    static const int tet[24] = {0, 1, 3, 7, 0, 3, 2, 7, 0, 2, 6, 7, 0, 6, 4, 7, 0, 4, 5, 7, 0, 5, 1, 7};
    body_def floor_def = {floor_x, NULL, floor_tri, NULL, 4, 4, 0, 0, 0, 0, 0, 0.5, {0, 0, 0}};
    body_def cube = {NULL, NULL, tri, tet, 8, 12, 8, 6, 1e5, 0.4, 1000, 0.5, {0.5, 0, -0.5}};
    double x[24], q[24];
    for (int i = 0; i < 24; i++) {  /* corner 1, 2, 4: one step along x, y, z */
        double side = (i / 3 >> i % 3 & 1) - 0.5;
        x[i] = 0.1 * side + (i % 3 == 2) * 0.06;
        q[i] = 0.11 * side + (i % 3 == 2) * 0.06;
    }
    cube.x = x; cube.q = q;
    w.h = 0.01; w.gravity[2] = -9.81; w.dhat = 1e-3; w.kappa = 1e5; w.epsv = 1e-3; w.tolerance = 1e-4;
    add_body(&w, &floor_def);
    add_body(&w, &cube);
    list_pairs(&w);
    printf("%d unknowns, %d vertices, %d pairs\n", 3 * w.nodes, w.vertices, w.pairs);
    for (int n = 1; n <= 40; n++) {
        double momentum[2] = {0, 0}, lowest = 1;
        int done = step(&w);
        for (int k = 4; k < w.vertices; k++) lowest = fmin(lowest, w.x[k][2]);
        for (int i = 0; i < 2 * w.nodes; i++) momentum[i % 2] += w.mass[i / 2] * w.v[i / 2][i % 2 * 2];
        printf("step %2d: gap %.4f mm, momentum along %.4f, up %.4f N s, normal force %.3f N, friction %.3f N%s\n",
               n, 1e3 * lowest, momentum[0], momentum[1], w.normal_force, w.friction_force,
               done ? "" : ", not converged");
        for (int k = 0; k < w.iterations; k++)
            printf("    E %13.6e J s^2, |p|/h %9.2e m/s, free %.3f, taken %.4f, contacts %d\n", w.log[k].E, w.log[k].p,
                   w.log[k].safe, w.log[k].alpha, w.log[k].contacts);
    }
    return 0;
}
