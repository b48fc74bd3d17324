/* LDL^T, dense and sparse, against Gaussian elimination in long double; order, pivots, memory. */
#include "inside.h"
#include "test.h"
#include "blocks.h"

enum { MAX = 160 };   /* unknowns of the reference */

/* x = A^-1 b by Gaussian elimination with partial pivoting in long double; A full, row-major */
static void reference_solve(int n, const double *A, const double *b, double *x)
{
    static long double M[MAX][MAX + 1];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) M[i][j] = A[i * n + j];
        M[i][n] = b[i];
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabsl(M[i][k]) > fabsl(M[best][k])) best = i;
        for (int j = 0; j <= n; j++) { long double t = M[k][j]; M[k][j] = M[best][j]; M[best][j] = t; }
        for (int i = k + 1; i < n; i++) {
            long double f = M[i][k] / M[k][k];
            for (int j = k; j <= n; j++) M[i][j] -= f * M[k][j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) M[i][n] -= M[i][j] * M[j][n];
        M[i][n] /= M[i][i];
    }
    for (int i = 0; i < n; i++) x[i] = (double)M[i][n];
}

/* |b - A x| / (|A| |x| + |b|), maximum norms: at most a few n eps for a backward stable solution */
static double backward_error(int n, const double *A, const double *b, const double *x)
{
    long double worst = 0, size_a = 0, size_x = 0, size_b = 0;
    for (int i = 0; i < n; i++) {
        long double r = b[i], row = 0;
        for (int j = 0; j < n; j++) { r -= (long double)A[i * n + j] * x[j]; row += fabs(A[i * n + j]); }
        if (!(fabsl(r) <= worst)) worst = fabsl(r);
        if (row > size_a) size_a = row;
        if (fabs(x[i]) > size_x) size_x = fabs(x[i]);
        if (fabs(b[i]) > size_b) size_b = fabs(b[i]);
    }
    return n ? (double)(worst / (size_a * size_x + size_b)) : 0;
}

/* A = G G^T + shift I, full */
static void random_positive(int n, double shift, double *A)
{
    static double G[MAX][MAX];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) G[i][j] = test_uniform(-1, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i * n + j] = i == j ? shift : 0;
            for (int k = 0; k < n; k++) A[i * n + j] += G[i][k] * G[j][k];
        }
}

/* A = H diag(1 .. 1/cond) H with H a product of reflections: symmetric, condition number cond */
static void random_ill(int n, double cond, double *A)
{
    memset(A, 0, sizeof *A * (size_t)(n * n));
    for (int i = 0; i < n; i++) A[i * n + i] = pow(cond, -(double)i / (n - 1));
    for (int round = 0; round < 4; round++) {
        double v[MAX], s[MAX], vv = 0, vs = 0;
        for (int i = 0; i < n; i++) { v[i] = test_uniform(-1, 1); vv += v[i] * v[i]; }
        for (int i = 0; i < n; i++) {
            s[i] = 0;
            for (int j = 0; j < n; j++) s[i] += A[i * n + j] * v[j];
            vs += v[i] * s[i];
        }
        for (int i = 0; i < n; i++)   /* (I - 2 v v^T / vv) A (I - 2 v v^T / vv) */
            for (int j = 0; j <= i; j++)
                A[i * n + j] = A[j * n + i] = A[i * n + j] - 2 / vv * (v[i] * s[j] + s[i] * v[j]) +
                                              4 * vs / (vv * vv) * v[i] * v[j];
    }
}

/* A += k c c^T with c on a few unknowns, as a contact adds it */
static void add_contact(int n, double k, double *A)
{
    double c[MAX] = {0};
    for (int q = 0; q < 12; q++) c[(int)(test_random() * n)] = test_uniform(-1, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i * n + j] += k * c[i] * c[j];
}

static const int sizes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 24, 31, 47, 48, 49, 50, 51,
                            97, 105, 150};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* factor in a frame of 999 and nan; check L D L^T = A, what is read and written, and the solution */
static void check_dense(int n, int ld, const double *A, double tolerance)
{
    static double F[MAX * (MAX + 20)], b[MAX], x[MAX], exact[MAX];
    for (int k = 0; k < MAX * (MAX + 20); k++) F[k] = 999;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) F[i * ld + j] = j <= i ? A[i * n + j] : NAN;
    ENSURE(embipc_dense_ldlt_factor(n, F, ld) == 0);
    for (int i = 0; i < n; i++) {
        double worst = 0;
        for (int j = n; j < ld; j++) ENSURE(F[i * ld + j] == 999);
        for (int j = 0; j <= i; j++) {
            long double sum = 0;
            for (int k = 0; k <= j; k++)
                sum += (long double)(k == i ? 1 : F[i * ld + k]) * F[k * ld + k] *
                       (k == j ? 1 : F[j * ld + k]);
            worst = fmax(worst, fabs((double)(sum - A[i * n + j])) / sqrt(A[i * n + i] * A[j * n + j]));
        }
        ENSURE(worst < 1e-16 * (n + 8));
    }
    if (n) ENSURE(F[(n - 1) * ld + ld] == 999);
    for (int i = 0; i < n; i++) {
        b[i] = x[i] = test_uniform(-1, 1);
        for (int j = i + 1; j < n; j++) F[i * ld + j] = NAN;   /* the solution must not read it */
    }
    embipc_dense_ldlt_solve(n, F, ld, x);
    ENSURE(backward_error(n, A, b, x) < 1e-16 * (n + 8));
    if (tolerance == 0) return;
    reference_solve(n, A, b, exact);
    for (int i = 0; i < n; i++) ENSURE_CLOSE(x[i], exact[i], tolerance);
}

static void test_dense_random(void)
{
    static double A[MAX * MAX];
    for (int s = 0; s < SIZES; s++) {
        random_positive(sizes[s], 1, A);
        check_dense(sizes[s], sizes[s], A, 1e-12);
        check_dense(sizes[s], sizes[s] + 7, A, 1e-12);
    }
}

static void test_dense_ill_conditioned(void)
{
    static double A[MAX * MAX];
    for (int s = 3; s < SIZES; s++) {
        random_ill(sizes[s], 1e12, A);
        check_dense(sizes[s], sizes[s], A, 0);
    }
}

static void test_dense_contact(void)
{
    static double A[MAX * MAX];
    for (int s = 8; s < SIZES; s++) {
        random_positive(sizes[s], 1, A);
        for (int k = 0; k < 6; k++) add_contact(sizes[s], 1e8, A);
        check_dense(sizes[s], sizes[s] + 1, A, 1e-6);
    }
}

/* a chain of springs that nothing holds: one pivot is rounding, a consistent system is solved all the same */
static void test_dense_singular(void)
{
    for (int s = 2; s < SIZES; s++) {
        static double A[MAX * MAX], F[MAX * MAX];
        double b[MAX], x[MAX];
        int n = sizes[s];
        memset(A, 0, sizeof A);
        for (int i = 0; i + 1 < n; i++) {
            double k = test_uniform(0.1, 3) * 1e6;
            A[i * n + i] += k; A[(i + 1) * n + i + 1] += k;
            A[(i + 1) * n + i] -= k; A[i * n + i + 1] -= k;
        }
        memcpy(F, A, sizeof F);
        ENSURE(embipc_dense_ldlt_factor(n, F, n) == 1);
        for (int i = 0; i < n; i++) b[i] = i == 0 ? 1 : i == n - 1 ? -1 : 0;
        memcpy(x, b, sizeof x);
        embipc_dense_ldlt_solve(n, F, n, x);
        ENSURE(backward_error(n, A, b, x) < 1e-14);
    }
}

/* indefinite: reported, and -A^-1 g still goes down; scaling the unknowns changes nothing in the verdict */
static void test_dense_indefinite(void)
{
    for (int s = 2; s < SIZES; s++) {
        static double A[MAX * MAX], F[MAX * MAX];
        double g[MAX], p[MAX], slope = 0;
        int n = sizes[s], at = n / 2, replaced, scaled;
        random_positive(n, 1, A);
        A[at * n + at] = -A[at * n + at];
        memcpy(F, A, sizeof F);
        replaced = embipc_dense_ldlt_factor(n, F, n);
        ENSURE(replaced == 1);
        for (int i = 0; i < n; i++) p[i] = g[i] = test_uniform(-1, 1);
        embipc_dense_ldlt_solve(n, F, n, p);
        for (int i = 0; i < n; i++) slope += g[i] * p[i];
        ENSURE(slope > 0);
        random_positive(n, 1, A);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) F[i * n + j] = ldexp(A[i * n + j], 30 * (i % 3) + 30 * (j % 3));
        scaled = embipc_dense_ldlt_factor(n, F, n);
        ENSURE(scaled == 0);
    }
}

static void test_dense_not_finite(void)
{
    static const double bad[3] = {NAN, INFINITY, -INFINITY};
    for (int s = 1; s < SIZES; s++)
        for (int q = 0; q < 3; q++) {
            static double A[MAX * MAX];
            int n = sizes[s], i = (int)(test_random() * n), j = (int)(test_random() * (i + 1));
            random_positive(n, 1, A);
            A[i * n + j] = bad[q];
            ENSURE(embipc_dense_ldlt_factor(n, A, n) == -1);
        }
}

/* ---- sparse ---- */

static void begin(embi_memory *m, embi_ldlt *F, embi_bsr *A)
{
    embi_memory_init(m, NULL);
    memset(F, 0, sizeof *F);
    memset(A, 0, sizeof *A);
}

static void end(embi_memory *m, embi_ldlt *F, embi_bsr *A)
{
    embi_ldlt_free(m, F);
    embi_bsr_free(m, A);
    ENSURE(m->bytes == 0);
}

/* the edges of a grid of a x b x c nodes cut into tetrahedra: up to 14 neighbours */
static int grid_pairs(int a, int b, int c, embi_key *pairs)
{
    static const int step[7][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1},
                                   {1, 1, 1}};
    int count = 0;
    for (int z = 0; z < c; z++)
        for (int y = 0; y < b; y++)
            for (int x = 0; x < a; x++)
                for (int q = 0; q < 7; q++) {
                    int X = x + step[q][0], Y = y + step[q][1], Z = z + step[q][2];
                    if (X >= a || Y >= b || Z >= c) continue;
                    pairs[count].value = 0;
                    pairs[count++].key = embi_pack(x + a * (y + b * z), X + a * (Y + b * Z));
                }
    return count;
}

/* random graph, or with `hub` nodes that are coupled to many */
static int random_pairs(int n, int count, int hub, embi_key *pairs)
{
    for (int k = 0; k < count; k++) {
        int i = (int)(test_random() * (k % 2 && hub ? hub : n)), j = (int)(test_random() * n);
        pairs[k].key = embi_pack(i, j);
        pairs[k].value = 0;
    }
    return count;
}

/* blocks in the order's graph after elimination, by brute force; entries[k * n + l], l >= k in the order */
static int fill_in(int n, const embi_key *pairs, int count, const int *place, char *entries)
{
    int blocks = 0;
    memset(entries, 0, (size_t)(n * n));
    for (int k = 0; k < n; k++) entries[k * n + k] = 1;
    for (int k = 0; k < count; k++) {
        int i = (int)(pairs[k].key >> 32), j = (int)(pairs[k].key & 0xffffffffu);
        if (place) { i = place[i]; j = place[j]; }
        entries[embi_min_int(i, j) * n + embi_max_int(i, j)] = 1;
    }
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            if (entries[k * n + i])
                for (int j = i; j < n; j++)
                    if (entries[k * n + j]) entries[i * n + j] = 1;
    for (int k = 0; k < n * n; k++) blocks += entries[k];
    return blocks;
}

static void analyze_pairs(embi_memory *m, embi_ldlt *F, embi_bsr *A, int n, const embi_key *pairs, int count)
{
    ENSURE(embi_bsr_pattern(m, A, n, pairs, count));
    ENSURE(embi_ldlt_analyze(m, F, A));
}

/* a permutation; every entry of L has a place; supernodes are consistent */
static void check_structure(const embi_ldlt *F, int n, const embi_key *pairs, int count)
{
    static char entries[700 * 700], seen[700];
    memset(seen, 0, sizeof seen);
    for (int k = 0; k < n; k++) {
        ENSURE(F->order[k] >= 0 && F->order[k] < n && !seen[F->order[k]]);
        seen[F->order[k]] = 1;
        ENSURE(F->place[F->order[k]] == k);
        ENSURE(F->first[F->owner[k]] <= k && k < F->first[F->owner[k] + 1]);
    }
    for (int s = 0; s < F->supernodes; s++)
        for (int k = F->row_start[s]; k < F->row_start[s + 1]; k++)
            ENSURE(F->row[k] >= F->first[s + 1] && F->row[k] < n &&
                   (k == F->row_start[s] || F->row[k] > F->row[k - 1]));
    (void)fill_in(n, pairs, count, F->place, entries);
    for (int k = 0; k < n; k++)
        for (int l = k; l < n; l++) {
            int stride, flip, at = embi_ldlt_find(F, F->order[k], F->order[l], &stride, &flip);
            if (entries[k * n + l]) ENSURE(at >= 0);
            if (at >= 0) ENSURE(flip == 0 && at + 2 * stride + 3 <= F->panel[F->supernodes]);
        }
}

static void test_order_and_structure(void)
{
    static embi_key pairs[6000];
    static char entries[700 * 700];
    embi_memory m;
    embi_ldlt F;
    embi_bsr A;
    begin(&m, &F, &A);
    for (int round = 0; round < 120; round++) {
        int n = 1 + (int)(test_random() * 60);
        int count = random_pairs(n, (int)(test_random() * 3 * n), round % 3, pairs);
        analyze_pairs(&m, &F, &A, n, pairs, count);
        check_structure(&F, n, pairs, count);
    }
    for (int round = 0; round < 3; round++) {
        static const int size[3][3] = {{6, 6, 6}, {13, 5, 5}, {10, 10, 6}};
        const int *g = size[round];
        int n = g[0] * g[1] * g[2], count = grid_pairs(g[0], g[1], g[2], pairs), natural, ours;
        if (round == 2) count += random_pairs(n, 80, 0, pairs + count);   /* contacts across the mesh */
        analyze_pairs(&m, &F, &A, n, pairs, count);
        check_structure(&F, n, pairs, count);
        natural = fill_in(n, pairs, count, NULL, entries);
        ours = fill_in(n, pairs, count, F.place, entries);
        ENSURE(ours < 0.85 * natural);
    }
    end(&m, &F, &A);
}

/* the approximate degrees must not cost much fill against exact minimum degree */
static void test_order_quality(void)
{
    static embi_key pairs[6000];
    static char entries[343 * 343], left[343 * 343], gone[343];
    embi_memory m;
    embi_ldlt F;
    embi_bsr A;
    int n = 343, count = grid_pairs(7, 7, 7, pairs), exact = n, ours;
    begin(&m, &F, &A);
    analyze_pairs(&m, &F, &A, n, pairs, count);
    ours = fill_in(n, pairs, count, F.place, entries);
    for (int k = 0; k < count; k++) {
        int i = (int)(pairs[k].key >> 32), j = (int)(pairs[k].key & 0xffffffffu);
        left[i * n + j] = left[j * n + i] = 1;
    }
    for (int k = 0; k < n; k++) {
        int best = -1, fewest = n + 1;
        for (int i = 0; i < n; i++) {
            int degree = 0;
            for (int j = 0; j < n; j++) degree += left[i * n + j] && !gone[j];
            if (!gone[i] && degree < fewest) { fewest = degree; best = i; }
        }
        gone[best] = 1;
        exact += fewest;
        for (int i = 0; i < n; i++)
            if (left[best * n + i] && !gone[i])
                for (int j = 0; j < n; j++)
                    if (left[best * n + j] && !gone[j] && i != j) left[i * n + j] = 1;
    }
    ENSURE(ours < 1.15 * exact);
    end(&m, &F, &A);
}

/* group[i]: a node of i's component among the nodes of level `least` and higher, by brute force */
static void components(int n, const embi_key *pairs, int count, const int *level, int least, int *group)
{
    for (int i = 0; i < n; i++) group[i] = i;
    for (int changes = 1; changes;) {
        changes = 0;
        for (int k = 0; k < count; k++) {
            int i = (int)(pairs[k].key >> 32), j = (int)(pairs[k].key & 0xffffffffu), g;
            if (level[i] < least || level[j] < least || group[i] == group[j]) continue;
            g = embi_min_int(group[i], group[j]);
            group[i] = group[j] = g;
            changes = 1;
        }
    }
}

/* each separator cuts the component that it stands in; returns how many of its nodes do not touch two parts */
static int check_separators(int n, const embi_key *pairs, int count, const int *level, int last)
{
    static int whole[4000], parts[4000], seen[4000][2];
    int idle = 0;
    for (int l = 0; l < last; l++) {
        components(n, pairs, count, level, l, whole);
        components(n, pairs, count, level, l + 1, parts);
        for (int i = 0; i < n; i++) seen[i][0] = seen[i][1] = -1;
        for (int i = 0; i < n; i++) {
            int *of = seen[whole[i]];
            if (level[i] <= l) continue;
            if (of[0] < 0) of[0] = parts[i];
            else if (parts[i] != of[0]) of[1] = parts[i];
        }
        for (int i = 0; i < n; i++) {
            int touched[2] = {-1, -1};
            if (level[i] != l) continue;
            ENSURE(seen[whole[i]][1] >= 0);
            for (int k = 0; k < count; k++) {
                int a = (int)(pairs[k].key >> 32), b = (int)(pairs[k].key & 0xffffffffu);
                int j = a == i ? b : b == i ? a : -1;
                if (j < 0 || level[j] <= l) continue;
                if (touched[0] < 0) touched[0] = parts[j];
                else if (parts[j] != touched[0]) touched[1] = parts[j];
            }
            idle += touched[1] < 0;
        }
    }
    return idle;
}

/* separators separate, few of their nodes are needless, and the dissected order is the cheaper one where there are
 * many nodes in three directions; the order is never dearer than minimum degree */
static void test_dissection(void)
{
    static const int size[6][4] = {{12, 12, 12, 0}, {15, 15, 15, 0}, {14, 14, 14, 60}, {60, 6, 6, 0}, {40, 40, 2, 20},
                                   {30, 3, 3, 0}};
    static embi_key pairs[30000];
    static int level[4000], work[16 * 4000], number[4000];
    embi_memory m;
    embi_ldlt F;
    embi_bsr A;
    begin(&m, &F, &A);
    for (int round = 0; round < 6; round++) {
        const int *g = size[round];
        int n = g[0] * g[1] * g[2], count = grid_pairs(g[0], g[1], g[2], pairs), last, separators = 0, *w[12];
        embipc_real chosen;
        count += random_pairs(n, g[3], 0, pairs + count);
        for (int i = 0; i < n; i++) {   /* numbers that follow no direction */
            int j = (int)(test_random() * (i + 1));
            number[i] = number[j];
            number[j] = i;
        }
        for (int k = 0; k < count; k++)
            pairs[k].key = embi_pack(number[pairs[k].key >> 32], number[pairs[k].key & 0xffffffffu]);
        analyze_pairs(&m, &F, &A, n, pairs, count);
        chosen = F.cost;
        ENSURE(embi_ldlt_graph(&m, &F, &A, work));
        last = embi_dissect(n, work, F.adjacent, level, work + n + 1);
        ENSURE(last >= 2);
        for (int i = 0; i < n; i++) separators += level[i] < last;
        ENSURE(check_separators(n, pairs, count, level, last) <= separators / 10);
        for (int k = 0; k < 12; k++) w[k] = work + (n + 1) + k * n;
        memset(F.place, 0, (size_t)n * sizeof(int));
        ENSURE(embi_amd_order(&m, &F, n, work, 0, w[0]));
        F.cost = embi_ldlt_cut(&F, n, work, w);
        ENSURE(chosen <= F.cost);
        if (round < 2) ENSURE(chosen < 0.8 * F.cost);
        printf("  %2d x %2d x %2d: cost %.3g of that of minimum degree, %d levels\n", g[0], g[1], g[2],
               (double)(chosen / F.cost), last);
    }
    end(&m, &F, &A);
}

/* a star, single nodes before a chain, many components, a tree, a clique, hubs: separators separate, in few rounds,
 * and the order by levels has each node once */
static void test_dissection_of_odd_graphs(void)
{
    static embi_key pairs[30000];
    static int level[4000], work[16 * 4000];
    embi_memory m;
    embi_ldlt F;
    embi_bsr A;
    int n = 3000;
    begin(&m, &F, &A);
    for (int kind = 0; kind < 6; kind++) {
        int count = 0, last;
        memset(pairs, 0, sizeof pairs);
        if (kind == 0) for (int i = 1; i < n; i++) pairs[count++].key = embi_pack(i, 0);
        if (kind == 1) for (int i = 401; i < n; i++) pairs[count++].key = embi_pack(i, i - 1);
        if (kind == 2) for (int i = 0; i < n; i++) if (i % 5) pairs[count++].key = embi_pack(i, i - 1);
        if (kind == 3) for (int i = 1; i < n; i++) pairs[count++].key = embi_pack(i, (i - 1) / 2);
        if (kind == 4) for (int i = 0; i < 200; i++) for (int j = 0; j < i; j++) pairs[count++].key = embi_pack(i, j);
        if (kind == 5) count = random_pairs(n, 9000, 3, pairs);
        analyze_pairs(&m, &F, &A, n, pairs, count);
        for (int k = 0; k < n; k++) ENSURE(F.place[F.order[k]] == k);
        ENSURE(embi_ldlt_graph(&m, &F, &A, work));
        last = embi_dissect(n, work, F.adjacent, level, work + n + 1);
        printf("  kind %d: %d levels\n", kind, last);
        ENSURE(last <= 40);
        if (kind > 0 && kind < 5) ENSURE(last >= 2);   /* a last round cuts nothing */
        (void)check_separators(n, pairs, count, level, last);
        memcpy(F.place, level, (size_t)n * sizeof(int));
        ENSURE(embi_amd_order(&m, &F, n, work, last, work + n + 1));
        memset(level, 0, sizeof level);
        for (int k = 0; k < n; k++) ENSURE(level[F.order[k]]++ == 0);
    }
    end(&m, &F, &A);
}

/* springs on the couplings of a pattern, the first `contacts` of them k times as stiff, and soft ground: in A
 * and in the full matrix D */
static void random_matrix(embi_bsr *A, double *D, int contacts, double k)
{
    int n = A->n, N = 3 * n;
    memset(D, 0, sizeof *D * (size_t)(N * N));
    embi_bsr_zero(A);
    for (int i = 0; i < n; i++)
        for (int a = A->row[i]; a < A->row[i + 1] - 1; a++) {   /* a spring block between i and j */
            double B[9], v[3] = {test_uniform(-1, 1), test_uniform(-1, 1), test_uniform(-1, 1)};
            int j = A->col[a];
            for (int c = 0; c < 9; c++) B[c] = v[c / 3] * v[c % 3] + (c % 4 == 0 ? 0.1 : 0);
            if (a < contacts) for (int c = 0; c < 9; c++) B[c] *= k;
            ENSURE(blocks_add(A, i, i, B));
            ENSURE(blocks_add(A, j, j, B));
            for (int c = 0; c < 9; c++) B[c] = -B[c];
            ENSURE(blocks_add(A, i, j, B));
        }
    for (int i = 0; i < n; i++) {
        double I[9] = {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1};
        ENSURE(blocks_add(A, i, i, I));
        for (int a = A->row[i]; a < A->row[i + 1]; a++)
            for (int c = 0; c < 9; c++) {
                int r = 3 * i + c / 3, s = 3 * A->col[a] + c % 3;
                D[r * N + s] = D[s * N + r] = A->val[9 * a + c];
            }
    }
}

static void fill_factor(embi_ldlt *F, const embi_bsr *A)
{
    embi_ldlt_zero(F);
    for (int i = 0; i < A->n; i++)
        for (int a = A->row[i]; a < A->row[i + 1]; a++) {
            double B[9], T[9];
            memcpy(B, A->val + 9 * a, sizeof B);
            for (int c = 0; c < 9; c++) T[c] = B[3 * (c % 3) + c / 3];
            if (a % 2) ENSURE(blocks_add_to_factor(F, i, A->col[a], B));
            else ENSURE(blocks_add_to_factor(F, A->col[a], i, T));
        }
}

static void check_sparse(embi_memory *m, embi_ldlt *F, embi_bsr *A, int contacts, double k, double tolerance)
{
    static double D[MAX * MAX];
    double b[MAX], x[MAX], exact[MAX];
    int N = 3 * A->n;
    random_matrix(A, D, contacts, k);
    for (int dense = 0; dense < 2; dense++) {
        ENSURE(dense ? embi_ldlt_analyze_dense(m, F, A->n) : embi_ldlt_analyze(m, F, A));
        fill_factor(F, A);
        ENSURE(embi_ldlt_factor(F) == 0);
        for (int i = 0; i < N; i++) b[i] = x[i] = test_uniform(-1, 1);
        embi_ldlt_solve(F, x);
        ENSURE(backward_error(N, D, b, x) < 1e-16 * (N + 8));
        reference_solve(N, D, b, exact);
        for (int i = 0; i < N; i++) ENSURE_CLOSE(x[i], exact[i], tolerance);
    }
}

static void test_sparse_random(void)
{
    static embi_key pairs[600];
    embi_memory m;
    embi_ldlt F;
    embi_bsr A;
    begin(&m, &F, &A);
    for (int round = 0; round < 60; round++) {
        int n = 1 + (int)(test_random() * 53);
        int count = random_pairs(n, (int)(test_random() * 3 * n), round % 3, pairs);
        ENSURE(embi_bsr_pattern(&m, &A, n, pairs, count));
        check_sparse(&m, &F, &A, round % 2 ? 6 : 0, 1e8, round % 2 ? 1e-6 : 1e-12);
    }
    ENSURE(embi_bsr_pattern(&m, &A, 48, pairs, grid_pairs(4, 4, 3, pairs)));
    check_sparse(&m, &F, &A, 30, 1e8, 1e-6);
    end(&m, &F, &A);
}

static void backwards(int count, int grain, embipc_range_fn *fn, void *arg, void *calls)
{
    ++*(int *)calls;
    for (int begin = (count - 1) / grain * grain; begin >= 0; begin -= grain)
        fn(arg, begin, begin + grain < count ? begin + grain : count);
}

/* too large for the reference: the residual by the independent product. Threads share the solution: it has the same bits in
 * another order of its ranges, and but for rounding it is that of one sweep. */
static void test_sparse_large(void)
{
    static embi_key pairs[20000];
    static double b[8232], x[8232], y[8232];
    int loops = 0;
    embi_threads threads = {backwards, NULL, NULL, NULL, 0};
    embi_memory m;
    embi_system S;
    embi_bsr A;
    int n = 2744, count = grid_pairs(14, 14, 14, pairs);   /* dissected */
    embi_memory_init(&m, NULL);
    memset(&S, 0, sizeof S);
    memset(&A, 0, sizeof A);
    count += random_pairs(n, 60, 0, pairs + count);
    ENSURE(embi_bsr_pattern(&m, &A, n, pairs, count));
    embi_bsr_zero(&A);
    for (int i = 0; i < n; i++)
        for (int k = A.row[i]; k < A.row[i + 1]; k++)
            for (int c = 0; c < 9; c++)
                A.val[9 * k + c] = A.col[k] < i ? test_uniform(-1, 1) : c % 4 == 0 ? 45 : 0;
    ENSURE(embi_system_analyze(&m, &S, n, pairs, count, EMBI_SYSTEM_AUTO) && S.method == EMBI_SYSTEM_SPARSE);
    ENSURE(embi_system_add_bsr(&S, &A, NULL, 1));
    ENSURE(embi_system_factor(&S) == 0);
    for (int i = 0; i < 3 * n; i++) b[i] = x[i] = test_uniform(-1, 1);
    embi_system_solve(&S, x);
    embi_bsr_multiply(&A, x, y);
    for (int i = 0; i < 3 * n; i++) ENSURE_CLOSE(y[i], b[i], 1e-14);
    threads.ctx = &loops;
    ENSURE(S.F.large);
    for (int way = 0; way < 2; way++) {
        memcpy(y, b, sizeof y);
        S.F.threads = way ? NULL : &threads;
        S.F.large = !way;
        embi_system_solve(&S, y);
        ENSURE((memcmp(x, y, sizeof x) == 0) == !way);
        for (int i = 0; i < 3 * n; i++) ENSURE_CLOSE(y[i], x[i], 1e-16);
    }
    ENSURE(loops > 10);
    embi_system_free(&m, &S);
    embi_bsr_free(&m, &A);
}

/* a mesh of springs that nothing holds, in three directions: three pivots replaced, a consistent system is
 * solved all the same */
static void test_sparse_singular(void)
{
    static embi_key pairs[600];
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, minus_I[9] = {-1, 0, 0, 0, -1, 0, 0, 0, -1};
    embi_memory m;
    embi_ldlt F;
    embi_bsr A;
    double x[3 * 48], y[3 * 48];
    int n = 48, count = grid_pairs(4, 4, 3, pairs);
    begin(&m, &F, &A);
    analyze_pairs(&m, &F, &A, n, pairs, count);
    embi_bsr_zero(&A);
    for (int k = 0; k < count; k++) {
        int i = (int)(pairs[k].key >> 32), j = (int)(pairs[k].key & 0xffffffffu);
        ENSURE(blocks_add(&A, i, i, I) && blocks_add(&A, j, j, I) && blocks_add(&A, i, j, minus_I));
    }
    fill_factor(&F, &A);
    ENSURE(embi_ldlt_factor(&F) == 3);
    for (int i = 0; i < 3 * n; i++) x[i] = 0;
    x[0] = 1; x[3 * n - 3] = -1; x[4] = -2; x[100] = 2;   /* sums to nothing in each direction */
    embi_ldlt_solve(&F, x);
    embi_bsr_multiply(&A, x, y);
    for (int i = 0; i < 3 * n; i++)
        ENSURE_CLOSE(y[i], i == 0 ? 1 : i == 3 * n - 3 ? -1 : i == 4 ? -2 : i == 100 ? 2 : 0, 1e-13);
    A.val[9 * (A.row[20 + 1] - 1)] = -50;   /* indefinite */
    fill_factor(&F, &A);
    ENSURE(embi_ldlt_factor(&F) >= 1);
    A.val[9 * (A.row[20 + 1] - 1) + 4] = NAN;
    fill_factor(&F, &A);
    ENSURE(embi_ldlt_factor(&F) == -1);
    embi_ldlt_free(&m, &F);
    embi_bsr_free(&m, &A);
}

static void test_no_allocation_when_warm(void)
{
    static embi_key pairs[3000];
    embi_memory m;
    embi_system S;
    long before = 0;
    int n = 325, count = grid_pairs(13, 5, 5, pairs);
    embi_memory_init(&m, NULL);
    memset(&S, 0, sizeof S);
    for (int round = 0; round < 5; round++) {
        double I[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, b[3 * 325] = {1, 2, 3};
        ENSURE(embi_system_analyze(&m, &S, n, pairs, count, EMBI_SYSTEM_SPARSE));
        for (int i = 0; i < n; i++) ENSURE(embi_system_add(&S, i, i, I));
        ENSURE(embi_system_factor(&S) == 0);
        embi_system_solve(&S, b);
        ENSURE(b[0] == 0.5 && b[1] == 1 && b[2] == 1.5 && b[3] == 0);
        if (round == 0) before = m.allocations;
    }
    ENSURE(m.allocations == before);
    embi_system_free(&m, &S);
    ENSURE(m.bytes == 0);
}

/* the n-th allocation fails, for every n: refused, nothing lost, and it works when there is memory again */
typedef struct meter { int left; long live; } meter;
static void *meter_alloc(size_t size, void *ctx)
{
    meter *t = (meter *)ctx;
    if (t->left-- <= 0) return NULL;
    t->live += (long)size;
    return malloc(size);
}
static void meter_free(void *p, size_t size, void *ctx)
{
    ((meter *)ctx)->live -= (long)size;
    free(p);
}

static void test_out_of_memory(void)
{
    static embi_key pairs[3000];
    int count = grid_pairs(5, 5, 5, pairs);
    for (int method = EMBI_SYSTEM_AUTO; method <= EMBI_SYSTEM_CG; method++) {
        int ok = 0, limit = 0;
        for (; !ok && limit < 60; limit++) {
            meter t = {limit, 0};
            embipc_allocator hooks = {meter_alloc, meter_free, &t};
            embi_memory m;
            embi_system S;
            double b[3 * 125] = {1};
            embi_memory_init(&m, &hooks);
            memset(&S, 0, sizeof S);
            ok = embi_system_analyze(&m, &S, 125, pairs, count, method);
            ENSURE(ok != m.failed && (ok || S.n == 0));
            (void)embi_system_factor(&S);
            embi_system_solve(&S, b);
            t.left = 1000;
            ENSURE(embi_system_analyze(&m, &S, 125, pairs, count, method));
            embi_system_free(&m, &S);
            ENSURE(t.live == 0 && m.bytes == 0);
        }
        ENSURE(ok && limit > 1);
    }
}

static void test_public_handle(void)
{
    static const int pairs[10] = {0, 0, 1, 1, 1, 0, 2, 2, 0, 0};
    double blocks[45] = {0}, b[9], x[9], D[81] = {0};
    int replaced = -1;
    meter t = {1000, 0};
    embipc_allocator hooks = {meter_alloc, meter_free, &t};
    embipc_sparse_ldlt *f = embipc_sparse_ldlt_create(&hooks);
    ENSURE(f != NULL);
    for (int k = 0; k < 5; k++)
        for (int c = 0; c < 9; c++) {
            int r = 3 * pairs[2 * k] + c / 3, s = 3 * pairs[2 * k + 1] + c % 3;
            double v = blocks[9 * k + c] = k == 2 ? test_uniform(-1, 1) : c % 4 == 0 ? 4 : 0.5;
            D[9 * r + s] += v;
            if (r / 3 != s / 3) D[9 * s + r] += v;
        }
    for (int round = 0; round < 2; round++) {
        int before = t.left;
        ENSURE(embipc_sparse_ldlt_factor(f, 3, 5, pairs, blocks, &replaced) == EMBIPC_OK && replaced == 0);
        ENSURE(round == 0 || t.left == before);
        for (int i = 0; i < 9; i++) b[i] = x[i] = test_uniform(-1, 1);
        embipc_sparse_ldlt_solve(f, x);
        ENSURE(backward_error(9, D, b, x) < 1e-15);
    }
    ENSURE(embipc_sparse_ldlt_factor(f, 2, 5, pairs, blocks, NULL) == EMBIPC_ERR_INDEX);
    ENSURE(embipc_sparse_ldlt_factor(f, -1, 0, pairs, blocks, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_sparse_ldlt_factor(f, 0, 0, NULL, NULL, NULL) == EMBIPC_OK);
    blocks[0] = -9;
    ENSURE(embipc_sparse_ldlt_factor(f, 3, 5, pairs, blocks, &replaced) == EMBIPC_OK && replaced == 1);
    blocks[0] = INFINITY;
    ENSURE(embipc_sparse_ldlt_factor(f, 3, 5, pairs, blocks, NULL) == EMBIPC_ERR_NOT_FINITE);
    x[0] = 7;
    embipc_sparse_ldlt_solve(f, x);
    ENSURE(x[0] == 7);
    embipc_sparse_ldlt_destroy(f);
    embipc_sparse_ldlt_destroy(NULL);
    ENSURE(t.live == 0);
}

/* the kernels for AVX give the bits of the plain ones */
static void test_kernels_agree(void)
{
#ifdef EMBI_ASK_FOR_AVX
    static double U[2][130 * 150 + EMBI_TILE], a[3 * 50], b[50 * 90];
    int place[70];
    if (!__builtin_cpu_supports("avx")) SKIP("this machine has no AVX");
    for (int round = 0; round < 300; round++) {
        int m = 1 + (int)(test_random() * 3), n = 1 + (int)(test_random() * 70), k = (int)(test_random() * 50);
        int w = 60 + (int)(test_random() * 60), begin = 3 * (int)(test_random() * 5), end = begin + 1 + (int)(test_random() * 48);
        for (int i = 0; i < 3 * 50; i++) a[i] = test_uniform(-1, 1);
        for (int i = 0; i < 50 * 90; i++) b[i] = test_uniform(-1, 1);
        if (round % 2) n = 3 * (1 + n / 3);
        for (int i = 0; i < 70; i++) place[i] = (i ? place[i - 1] : 0) + 3 + (int)(test_random() * 2);
        for (int i = 0; i < 130 * 150 + EMBI_TILE; i++) U[0][i] = U[1][i] = test_uniform(-1, 1);
        embi_strip_subtract_kernel(m, n, k, a, 50, b, 90, U[0], 150, round % 2 ? place : NULL);
        embi_strip_subtract_avx(m, n, k, a, 50, b, 90, U[1], 150, round % 2 ? place : NULL);
        ENSURE(memcmp(U[0], U[1], sizeof U[0]) == 0);
        embi_panel_update_kernel(begin, end, end, w, 130, U[0], 150);
        embi_panel_update_avx(begin, end, end, w, 130, U[1], 150);
        ENSURE(memcmp(U[0], U[1], sizeof U[0]) == 0);
    }
    for (int n = 1; n < 20; n++) {
        static double x[2][60], y[2][60];
        embi_memory memory;
        embi_ldlt F;
        embi_memory_init(&memory, NULL);
        memset(&F, 0, sizeof F);
        ENSURE(embi_ldlt_analyze_dense(&memory, &F, n));
        embi_ldlt_zero(&F);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double B[9];
                for (int k = 0; k < 9; k++) B[k] = test_uniform(-1, 1) + (i == j && k % 4 == 0 ? 3 * n : 0);
                ENSURE(blocks_add_to_factor(&F, i, j, B));
            }
        ENSURE(embi_ldlt_factor(&F) == 0);
        for (int back = 0; back < 2; back++) {
            embi_solving t[2] = {{&F, x[0], back, 0, 0, 0, y[0]}, {&F, x[1], back, 0, 0, 0, y[1]}};
            for (int i = 0; i < 3 * n; i++) x[0][i] = x[1][i] = y[0][i] = y[1][i] = test_uniform(-1, 1);
            embi_ldlt_sweep_kernel(&F, -1, back, x[0], NULL, y[0]);
            embi_ldlt_sweep_avx(&F, -1, back, x[1], NULL, y[1]);
            ENSURE(memcmp(x[0], x[1], sizeof x[0]) == 0 && memcmp(y[0], y[1], sizeof y[0]) == 0);
            t[0].end = t[1].end = 3 * ((n + 1) / 2);
            embi_ldlt_inside_kernel(t);
            embi_ldlt_inside_avx(t + 1);
            if (back) {
                embi_ldlt_behind_backward_kernel(t, 0, t->end);
                embi_ldlt_behind_backward_avx(t + 1, 0, t->end);
            } else {
                embi_ldlt_behind_forward_kernel(t, t->end, 3 * n);
                embi_ldlt_behind_forward_avx(t + 1, t->end, 3 * n);
            }
            ENSURE(memcmp(x[0], x[1], sizeof x[0]) == 0 && memcmp(y[0], y[1], sizeof y[0]) == 0);
        }
        embi_ldlt_free(&memory, &F);
    }
#else
    SKIP("this build has one kernel");
#endif
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    test_unused();
    RUN(dense_random);
    RUN(dense_ill_conditioned);
    RUN(dense_contact);
    RUN(dense_singular);
    RUN(dense_indefinite);
    RUN(dense_not_finite);
    RUN(order_and_structure);
    RUN(order_quality);
    RUN(dissection);
    RUN(dissection_of_odd_graphs);
    RUN(sparse_random);
    RUN(sparse_large);
    RUN(sparse_singular);
    RUN(no_allocation_when_warm);
    RUN(out_of_memory);
    RUN(public_handle);
    RUN(kernels_agree);
    return test_end("test_ldlt");
}
