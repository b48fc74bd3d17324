/* Conjugate gradients, and the system in all its methods against each other. */
#include "inside.h"
#include "test.h"
#include "blocks.h"

enum { N = 64, PAIRS = 400 };
static embi_key pairs[PAIRS];

/* a 4 x 4 x 4 grid of springs, some of them `stiff` times as stiff, on soft ground */
static void spring_matrix(embi_memory *m, embi_bsr *A, double stiff, int *count)
{
    *count = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            int dx = i % 4 - j % 4, dy = i / 4 % 4 - j / 4 % 4, dz = i / 16 - j / 16;
            if (dx * dx + dy * dy + dz * dz > 2) continue;
            pairs[*count].value = 0;
            pairs[(*count)++].key = embi_pack(j, i);
        }
    ENSURE(embi_bsr_pattern(m, A, N, pairs, *count));
    embi_bsr_zero(A);
    for (int k = 0; k < *count; k++) {
        int i = (int)(pairs[k].key >> 32), j = (int)(pairs[k].key & 0xffffffffu);
        double B[9], v[3] = {test_uniform(-1, 1), test_uniform(-1, 1), test_uniform(-1, 1)};
        for (int c = 0; c < 9; c++)
            B[c] = v[c / 3] * v[c % 3] * (k % 16 == 5 ? stiff : 1) + (c % 4 == 0 ? 0.2 : 0);
        ENSURE(blocks_add(A, i, i, B) && blocks_add(A, j, j, B));
        for (int c = 0; c < 9; c++) B[c] = -B[c];
        ENSURE(blocks_add(A, i, j, B));
    }
    for (int i = 0; i < N; i++) {
        double G[9] = {0.05, 0, 0, 0, 0.05, 0, 0, 0, 0.05};
        ENSURE(blocks_add(A, i, i, G));
    }
}

static void test_public_function(void)
{
    static double b[3 * N], x[3 * N], y[3 * N], work[21 * N];
    embi_memory m;
    embi_bsr A;
    int count, iterations;
    double residual = 9, none = 3;
    embi_memory_init(&m, NULL);
    memset(&A, 0, sizeof A);
    spring_matrix(&m, &A, 1, &count);
    for (int i = 0; i < 3 * N; i++) { b[i] = test_uniform(-1, 1); x[i] = test_uniform(-1, 1); }
    iterations = embipc_cg_solve(N, A.row, A.col, A.val, b, x, 1e-12, 500, work, &residual);
    ENSURE(iterations > 3 && iterations < 120 && residual <= 1e-12);
    embi_bsr_multiply(&A, x, y);
    for (int i = 0; i < 3 * N; i++) ENSURE_CLOSE(y[i], b[i], 1e-11);
    /* from the solution: no work; from 0 to 0: none; the cap holds */
    ENSURE(embipc_cg_solve(N, A.row, A.col, A.val, b, x, 1e-10, 500, work, NULL) == 0);
    memset(x, 0, sizeof x);
    ENSURE(embipc_cg_solve(N, A.row, A.col, A.val, b, x, 1e-12, 3, work, &residual) == 3 && residual > 1e-12);
    memset(b, 0, sizeof b);
    ENSURE(embipc_cg_solve(N, A.row, A.col, A.val, b, x, 1e-12, 500, work, &residual) == 0);
    for (int i = 0; i < 3 * N; i++) ENSURE(x[i] == 0);
    ENSURE(embipc_cg_solve(0, A.row, A.col, A.val, &none, &none, 1e-12, 500, work, NULL) == 0 && none == 3);
    b[5] = NAN;
    ENSURE(embipc_cg_solve(N, A.row, A.col, A.val, b, x, 1e-12, 500, work, NULL) == -1);
    b[5] = 1;
    A.val[0] = INFINITY;
    ENSURE(embipc_cg_solve(N, A.row, A.col, A.val, b, x, 1e-12, 500, work, NULL) == -1);
    embi_bsr_free(&m, &A);
}

/* the blocks P invert the diagonal of a block diagonal matrix: one iteration */
static void test_preconditioner(void)
{
    embi_memory m;
    embi_bsr A;
    static double b[3 * N], x[3 * N], work[21 * N];
    double residual;
    embi_memory_init(&m, NULL);
    memset(&A, 0, sizeof A);
    ENSURE(embi_bsr_pattern(&m, &A, N, NULL, 0));
    for (int i = 0; i < N; i++) {
        double s = pow(10, test_uniform(-6, 6)), B[9] = {4, 1, -1, 1, 5, 2, -1, 2, 6};
        for (int c = 0; c < 9; c++) A.val[9 * i + c] = s * B[c];
        for (int c = 0; c < 3; c++) { b[3 * i + c] = s; x[3 * i + c] = 0; }
    }
    ENSURE(embipc_cg_solve(N, A.row, A.col, A.val, b, x, 1e-14, 50, work, &residual) <= 2);
    ENSURE(embi_jacobi_blocks(N, A.row, A.val, work) == 0);
    for (int c = 0; c < 9; c++) A.val[9 * 7 + c] = c % 4 == 0 ? -1 : 0;
    ENSURE(embi_jacobi_blocks(N, A.row, A.val, work) == 1 && work[9 * 7] > 0);
    embi_bsr_free(&m, &A);
}

/* automatic, dense, sparse and CG give the same solution, soft and stiff */
static void test_methods_agree(void)
{
    static double b[3 * N], x[4][3 * N];
    embi_memory m;
    embi_system S;
    embi_bsr A;
    embi_memory_init(&m, NULL);
    memset(&S, 0, sizeof S);
    memset(&A, 0, sizeof A);
    for (int round = 0; round < 3; round++) {
        int count;
        spring_matrix(&m, &A, round == 0 ? 1 : round == 1 ? 1e3 : 1e6, &count);
        for (int i = 0; i < 3 * N; i++) b[i] = test_uniform(-1, 1);
        for (int method = 0; method < 4; method++) {
            ENSURE(embi_system_analyze(&m, &S, N, pairs, count, method));
            ENSURE(method == 0 || S.method == method);
            ENSURE(embi_system_add_bsr(&S, &A, NULL, 0.25) && embi_system_add_bsr(&S, &A, NULL, 0.75));
            ENSURE(embi_system_factor(&S) == 0);
            memcpy(x[method], b, sizeof b);
            embi_system_solve(&S, x[method]);
            if (method == EMBI_SYSTEM_CG) ENSURE(S.iterations > 0 && S.residual <= 1e-12);
            for (int i = 0; i < 3 * N; i++) ENSURE_CLOSE(x[method][i], x[0][i], round == 2 ? 1e-6 : 1e-8);
        }
    }
    embi_system_free(&m, &S);
    embi_bsr_free(&m, &A);
    ENSURE(m.bytes == 0);
}

/* a block outside the pattern is refused and changes nothing; covers() tells beforehand */
static void test_add_and_covers(void)
{
    embi_memory m;
    embi_system S;
    embi_key chain[39], far_pair;
    double I[9] = {3, 0, 0, 0, 3, 0, 0, 0, 3}, C[9] = {0, 1, 0, 0, 0, 0, 0, 0, 0};
    embi_memory_init(&m, NULL);
    memset(&S, 0, sizeof S);
    for (int k = 0; k < 39; k++) { chain[k].key = embi_pack(k, k + 1); chain[k].value = 0; }
    far_pair.key = embi_pack(0, 39);
    far_pair.value = 0;
    for (int method = 1; method < 4; method++) {
        double x[120] = {0};
        int held = method == EMBI_SYSTEM_DENSE;
        ENSURE(embi_system_analyze(&m, &S, 40, chain, 39, method));
        ENSURE(embi_system_covers(&S, 40, chain, 39) && !embi_system_covers(&S, 41, chain, 39));
        ENSURE(embi_system_covers(&S, 40, &far_pair, 1) == held);
        for (int round = 0; round < 2; round++) {
            embi_system_zero(&S);
            for (int i = 0; i < 40; i++) ENSURE(embi_system_add(&S, i, i, I));
            if (!held) ENSURE(!embi_system_add(&S, 0, 39, I) && !embi_system_add(&S, 39, 0, I));
            ENSURE(embi_system_add(&S, 8, 7, C));   /* A(8x, 7y) = 1, and A(7y, 8x) */
            ENSURE(embi_system_factor(&S) == 0);
        }
        x[24] = 3; x[22] = 1;   /* A e(8x): 3 at 8x, 1 at 7y */
        embi_system_solve(&S, x);
        for (int i = 0; i < 120; i++) ENSURE_CLOSE(x[i], i == 24 ? 1 : 0, 1e-12);
    }
    embi_system_free(&m, &S);
}

/* add_bsr with a map: nodes that are left out, in their order or in one that turns blocks around */
static void check_add_mapped(int down)
{
    static double b[3 * N], x[3 * N], y[3 * N], full[3 * N];
    embi_memory m;
    embi_system S;
    embi_bsr A;
    embi_key *mapped = pairs;
    int map[N], count, kept = 0, nodes = 0;
    embi_memory_init(&m, NULL);
    memset(&S, 0, sizeof S);
    memset(&A, 0, sizeof A);
    spring_matrix(&m, &A, 1, &count);
    if (down)
        for (int i = N - 1; i >= 0; i--) map[i] = i % 5 == 2 ? -1 : nodes++;
    else
        for (int i = 0; i < N; i++) map[i] = i % 5 == 2 ? -1 : nodes++;
    for (int k = 0; k < count; k++) {
        int i = map[pairs[k].key >> 32], j = map[pairs[k].key & 0xffffffffu];
        if (i >= 0 && j >= 0) mapped[kept++].key = embi_pack(i, j);
    }
    for (int method = 1; method < 4; method++) {
        ENSURE(embi_system_analyze(&m, &S, nodes, mapped, kept, method));
        ENSURE(embi_system_add_bsr(&S, &A, map, 2));
        ENSURE(embi_system_factor(&S) == 0);
        for (int i = 0; i < 3 * nodes; i++) b[i] = x[i] = test_uniform(-1, 1);
        embi_system_solve(&S, x);
        for (int i = 0; i < N; i++)
            for (int c = 0; c < 3; c++) full[3 * i + c] = map[i] < 0 ? 0 : x[3 * map[i] + c];
        embi_bsr_multiply(&A, full, y);
        for (int i = 0; i < N; i++)
            for (int c = 0; c < 3 && map[i] >= 0; c++)
                ENSURE_CLOSE(2 * y[3 * i + c], b[3 * map[i] + c], 1e-10);
    }
    embi_system_free(&m, &S);
    embi_bsr_free(&m, &A);
}

static void test_add_mapped(void) { check_add_mapped(0); check_add_mapped(1); }

/* the same pattern again keeps the analysis, another one makes a new one; bits never tell what was there before */
static void test_analysed_before(void)
{
    static double b[3 * N], x[3 * N], y[3 * N];
    static embi_key turned[PAIRS];
    embi_memory m;
    embi_system S, fresh;
    embi_bsr A;
    int count;
    embi_memory_init(&m, NULL);
    memset(&S, 0, sizeof S);
    memset(&A, 0, sizeof A);
    spring_matrix(&m, &A, 10, &count);
    for (int k = 0; k < count; k++) {   /* other way round, other order, some of them twice */
        turned[k].key = embi_pack((int)(pairs[k].key & 0xffffffffu), (int)(pairs[k].key >> 32));
        turned[k].value = 0;
    }
    for (int k = count; k < PAIRS && k < count + 9; k++) turned[k] = turned[k - count];
    for (int i = 0; i < 3 * N; i++) b[i] = test_uniform(-1, 1);
    for (int method = 0; method < 4; method++) {
        for (int round = 0; round < 3; round++) {
            if (round == 2) ENSURE(embi_system_analyze(&m, &S, N, pairs, count - 1, method));
            S.F.cost = -1;   /* of an analysis that is kept */
            ENSURE(embi_system_analyze(&m, &S, N, round ? turned : pairs, round ? embi_min_int(count + 9, PAIRS) : count,
                                       method));
            if (method == EMBI_SYSTEM_AUTO || method == EMBI_SYSTEM_SPARSE) ENSURE((S.F.cost == -1) == (round == 1));
            memset(&fresh, 0, sizeof fresh);
            ENSURE(embi_system_analyze(&m, &fresh, N, pairs, count, method));
            ENSURE(embi_system_add_bsr(&S, &A, NULL, 1) && embi_system_add_bsr(&fresh, &A, NULL, 1));
            ENSURE(embi_system_factor(&S) == 0 && embi_system_factor(&fresh) == 0);
            memcpy(x, b, sizeof b);
            memcpy(y, b, sizeof b);
            embi_system_solve(&S, x);
            embi_system_solve(&fresh, y);
            ENSURE(memcmp(x, y, sizeof x) == 0);
            embi_system_free(&m, &fresh);
        }
    }
    embi_system_free(&m, &S);
    embi_bsr_free(&m, &A);
    ENSURE(m.bytes == 0);
}

/* a stamp is what its blocks one by one are: again on the same nodes, on others, after another analysis */
static void test_stamps(void)
{
    static double x[3 * N], y[3 * N];
    static const int node[6][5] = {{3, 0, 2, 1}, {3, 0, 2, 1}, {0, 1, 2, 3}, {7, 9, 8}, {63, 60}, {3, 0, 2, 1}};
    static const int size[6] = {4, 4, 4, 3, 2, 4};
    embi_memory m;
    embi_system S, one;
    embi_bsr A;
    embi_key more[PAIRS + 40], apart;
    int count;
    embi_memory_init(&m, NULL);
    memset(&S, 0, sizeof S);
    memset(&one, 0, sizeof one);
    memset(&A, 0, sizeof A);
    spring_matrix(&m, &A, 10, &count);
    for (int i = 0; i < N; i++)   /* to tell a block from its transpose */
        for (int k = A.row[i]; k < A.row[i + 1] - 1; k++) A.val[9 * k + 1] += 1e-3;
    memcpy(more, pairs, sizeof pairs);
    for (int round = 0; round < 8; round++) {
        int method = round % 4, all = count;
        apart.value = 0;
        for (int s = 0; s < 6; s++)
            for (int i = 0; i < size[s]; i++)
                for (int j = 0; j < i; j++) {
                    apart.key = embi_pack(node[s][i], node[s][j]);
                    more[all++] = apart;
                }
        if (round > 3) { apart.key = embi_pack(5, 50); more[all++] = apart; }
        ENSURE(all <= PAIRS + 40);
        ENSURE(embi_system_analyze(&m, &S, N, more, all, method) && embi_system_analyze(&m, &one, N, more, all, method));
        ENSURE(embi_system_add_bsr(&S, &A, NULL, 1));
        for (int i = 0; i < N; i++)
            for (int k = A.row[i]; k < A.row[i + 1]; k++) ENSURE(embi_system_add(&one, i, A.col[k], A.val + 9 * k));
        if (S.method != EMBI_SYSTEM_DENSE && round % 4) {   /* what has no place is refused, and leaves no trace */
            static const int far_nodes[2] = {0, 63};
            double c[2] = {1, 1}, B[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
            ENSURE(!embi_system_stamp(&S, 2, far_nodes, c, 1, B));
            ENSURE(!embi_system_stamp(&S, 2, far_nodes, c, 1, B));
        }
        for (int s = 0; s < 6; s++) {
            double c[5], B[9], C[9], v[3] = {test_uniform(-1, 1), test_uniform(-1, 1), test_uniform(-1, 1)};
            for (int i = 0; i < 9; i++) B[i] = v[i / 3] * v[i % 3] * (1 + 1e-3 * (i / 3 < i % 3));
            for (int i = 0; i < size[s]; i++) c[i] = test_uniform(-1, 1);
            ENSURE(embi_system_stamp(&S, size[s], node[s], c, 0.7, B));
            for (int i = 0; i < size[s]; i++)
                for (int j = 0; j <= i; j++) {
                    for (int k = 0; k < 9; k++) C[k] = 0.7 * c[i] * c[j] * B[k];
                    ENSURE(embi_system_add(&one, node[s][i], node[s][j], C));
                }
        }
        ENSURE(embi_system_factor(&S) == 0 && embi_system_factor(&one) == 0);
        for (int i = 0; i < 3 * N; i++) x[i] = y[i] = test_uniform(-1, 1);
        embi_system_solve(&S, x);
        embi_system_solve(&one, y);
        for (int i = 0; i < 3 * N; i++) ENSURE_CLOSE(x[i], y[i], 1e-9);
    }
    embi_system_free(&m, &S);
    embi_system_free(&m, &one);
    embi_bsr_free(&m, &A);
    ENSURE(m.bytes == 0);
}

/* A factor that is reopened for other stamps is the one made from the beginning, bit for bit; parts of it are kept. */
static void test_reopened(void)
{
    static double x[3 * N], y[3 * N];
    embi_memory m;
    embi_system S, fresh;
    embi_bsr A;
    int count, kept = 0, node[4][3], kinds = 0, negative = 0;
    embi_memory_init(&m, NULL);
    memset(&S, 0, sizeof S);
    memset(&fresh, 0, sizeof fresh);
    memset(&A, 0, sizeof A);
    spring_matrix(&m, &A, 10, &count);
    ENSURE(embi_system_analyze(&m, &S, N, pairs, count, EMBI_SYSTEM_SPARSE));
    ENSURE(embi_system_analyze(&m, &fresh, N, pairs, count, EMBI_SYSTEM_SPARSE));
    ENSURE(!embi_system_keeps(&S));
    A.val[9 * (A.row[S.F.order[0] + 1] - 1) + 8] += 500;   /* the largest entry: where it is mostly kept */
    for (int round = 0; round < 40; round++) {
        double c[3] = {1, -0.5, -0.5}, B[4][9];
        int stamps = round % 5, replaced, open = 0;   /* none at all, too; now and then one that is not positive */
        for (int s = 0; s < stamps; s++) {   /* on nodes of the grid that are coupled */
            int k = (int)(test_random() * N), at = A.row[k] + (int)(test_random() * (A.row[k + 1] - A.row[k]));
            double v[3] = {test_uniform(-1, 1), test_uniform(-1, 1), test_uniform(-1, 1)};
            for (int i = 0; i < 9; i++) B[s][i] = (round % 3 == 2 ? -2 : 20) * v[i / 3] * v[i % 3];
            node[s][0] = k;
            node[s][1] = A.col[at];
        }
        if (embi_system_keeps(&S)) {
            for (int s = 0; s < stamps; s++) embi_system_mark(&S, 1 + (node[s][0] != node[s][1]), node[s]);
            embi_system_reopen(&S);
            ENSURE(!embi_system_keeps(&S));
            for (int s = 0; s < S.F.supernodes; s++) kept += !S.F.open[s];
            kinds |= S.F.open[0] ? 1 : 2;
        } else embi_system_zero(&S);
        embi_system_zero(&fresh);
        ENSURE(embi_system_add_bsr(&S, &A, NULL, 0.5) && embi_system_add_bsr(&S, &A, NULL, 0.5));
        ENSURE(embi_system_add_bsr(&fresh, &A, NULL, 0.5) && embi_system_add_bsr(&fresh, &A, NULL, 0.5));
        for (int s = 0; s < stamps; s++) {
            ENSURE(embi_system_stamp(&S, 1 + (node[s][0] != node[s][1]), node[s], c, 3, B[s]));
            ENSURE(embi_system_stamp(&fresh, 1 + (node[s][0] != node[s][1]), node[s], c, 3, B[s]));
        }
        replaced = embi_system_factor(&S);
        ENSURE(embi_system_factor(&fresh) == replaced && embi_system_keeps(&S) == (replaced == 0));
        ENSURE(round % 3 == 2 ? replaced >= 0 : replaced == 0);
        negative += replaced > 0;
        for (int s = 0; s < S.F.supernodes; s++) open += S.F.open[s];
        ENSURE(open == 0);
        for (int i = 0; i < 3 * N; i++) x[i] = y[i] = test_uniform(-1, 1);
        embi_system_solve(&S, x);
        embi_system_solve(&fresh, y);
        ENSURE(memcmp(x, y, sizeof x) == 0);
    }
    ENSURE(kept > 20 && kinds == 3 && negative > 4);
    /* not after a new start, and not where pivots had to be replaced: they depend on all of the matrix */
    embi_system_zero(&S);
    ENSURE(!embi_system_keeps(&S));
    ENSURE(embi_system_factor(&S) == 3 * N && !embi_system_keeps(&S));
    embi_system_free(&m, &S);
    embi_system_free(&m, &fresh);
    embi_bsr_free(&m, &A);
    ENSURE(m.bytes == 0);
}

static void test_empty_and_single(void)
{
    embi_memory m;
    embi_system S;
    double I[9] = {2, 0, 0, 0, 4, 0, 0, 0, 8}, b[3] = {2, 4, 8}, bad = NAN;
    embi_memory_init(&m, NULL);
    memset(&S, 0, sizeof S);
    for (int method = 0; method < 4; method++) {
        ENSURE(embi_system_analyze(&m, &S, 0, NULL, 0, method));
        embi_system_zero(&S);
        ENSURE(embi_system_factor(&S) == 0);
        embi_system_solve(&S, b);
        ENSURE(b[0] == 2 && b[1] == 4 && b[2] == 8);
        ENSURE(embi_system_analyze(&m, &S, 1, NULL, 0, method));
        ENSURE(embi_system_factor(&S) == (method == EMBI_SYSTEM_CG ? 1 : 3));   /* nothing but zeros */
        ENSURE(embi_system_add(&S, 0, 0, I));
        embi_system_zero(&S);
        ENSURE(embi_system_add(&S, 0, 0, I));
        ENSURE(embi_system_factor(&S) == 0);
        embi_system_solve(&S, b);
        ENSURE(b[0] == 1 && b[1] == 1 && b[2] == 1);
        b[0] = 2; b[1] = 4; b[2] = 8;
        embi_system_zero(&S);
        I[4] = bad;
        ENSURE(embi_system_add(&S, 0, 0, I));
        ENSURE(embi_system_factor(&S) == -1);
        I[4] = 4;
        /* what a factorisation replaced in a system with nothing in it is no longer there either */
        ENSURE(embi_system_analyze(&m, &S, 1, NULL, 0, method));
        ENSURE(embi_system_factor(&S) > 0);
        embi_system_zero(&S);
        ENSURE(embi_system_add(&S, 0, 0, I));
        ENSURE(embi_system_factor(&S) == 0);
        embi_system_solve(&S, b);
        ENSURE(b[0] == 1 && b[1] == 1 && b[2] == 1);
        b[0] = 2; b[1] = 4; b[2] = 8;
    }
    embi_system_free(&m, &S);
    ENSURE(m.bytes == 0);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    test_unused();
    RUN(public_function);
    RUN(preconditioner);
    RUN(methods_agree);
    RUN(add_and_covers);
    RUN(add_mapped);
    RUN(analysed_before);
    RUN(stamps);
    RUN(reopened);
    RUN(empty_and_single);
    return test_end("test_cg");
}
