/* Block sparse matrices: pattern, search, addition and product against a dense matrix. */
#include "inside.h"
#include "test.h"
#include "blocks.h"

static int random_index(int n) { return (int)(test_random() * n); }

/* pairs of n nodes in random order and orientation, some repeated; coupled[i * n + j] set for both orders */
static int random_pairs(int n, int count, embi_key *pairs, char *coupled)
{
    memset(coupled, 0, (size_t)(n * n));
    for (int i = 0; i < n; i++) coupled[i * n + i] = 1;
    for (int k = 0; k < count; k++) {
        int i = random_index(n), j = random_index(n);
        if (k % 3 == 2) { pairs[k] = pairs[k / 2]; continue; }
        pairs[k].key = embi_pack(i, j);
        pairs[k].value = k;
        coupled[i * n + j] = coupled[j * n + i] = 1;
    }
    return count;
}

static void test_pattern(void)
{
    static embi_key pairs[400];
    static char coupled[40 * 40];
    embi_memory m;
    embi_bsr A;
    embi_memory_init(&m, NULL);
    memset(&A, 0, sizeof A);
    for (int round = 0; round < 60; round++) {
        int n = 1 + random_index(40), count = random_pairs(n, random_index(400), pairs, coupled), blocks = 0;
        embi_key first = pairs[0];
        ENSURE(embi_bsr_pattern(&m, &A, n, pairs, count));
        ENSURE(count == 0 || first.key == pairs[0].key);
        ENSURE(A.n == n && A.row[0] == 0);
        for (int i = 0; i < n; i++) {
            ENSURE(A.row[i + 1] > A.row[i] && A.col[A.row[i + 1] - 1] == i);
            for (int k = A.row[i] + 1; k < A.row[i + 1]; k++) ENSURE(A.col[k] > A.col[k - 1]);
            for (int j = 0; j < n; j++) {
                int k = embi_bsr_find(&A, i, j);
                ENSURE((k >= 0) == coupled[i * n + j]);
                if (k >= 0) ENSURE(A.col[k] == embi_min_int(i, j) && k >= A.row[embi_max_int(i, j)]);
                blocks += k >= 0 && j <= i;
            }
        }
        ENSURE(blocks == A.row[n]);
    }
    embi_bsr_free(&m, &A);
    ENSURE(m.bytes == 0);
}

static void test_empty(void)
{
    embi_memory m;
    embi_bsr A;
    embipc_real one[3] = {1, 2, 3}, y[3] = {9, 9, 9}, B[9] = {2, 0, 0, 0, 3, 0, 0, 0, 4};
    embi_memory_init(&m, NULL);
    memset(&A, 0, sizeof A);
    ENSURE(embi_bsr_pattern(&m, &A, 0, NULL, 0));
    ENSURE(A.row[0] == 0);
    embi_bsr_zero(&A);
    embi_bsr_multiply(&A, one, y);
    ENSURE(y[0] == 9);
    ENSURE(embi_bsr_pattern(&m, &A, 1, NULL, 0));
    for (int round = 0; round < 2; round++) {
        embi_bsr_zero(&A);
        ENSURE(blocks_add(&A, 0, 0, B));
    }
    embi_bsr_multiply(&A, one, y);
    ENSURE(y[0] == 2 && y[1] == 6 && y[2] == 12);
    embi_bsr_free(&m, &A);
}

/* blocks added in either orientation; y = A x against the dense matrix */
static void test_add_and_multiply(void)
{
    enum { N = 17 };
    static embi_key pairs[90];
    static char coupled[N * N];
    static double D[3 * N][3 * N];
    double x[3 * N], y[3 * N], B[9];
    embi_memory m;
    embi_bsr A;
    embi_memory_init(&m, NULL);
    memset(&A, 0, sizeof A);
    (void)random_pairs(N, 90, pairs, coupled);
    ENSURE(embi_bsr_pattern(&m, &A, N, pairs, 90));
    embi_bsr_zero(&A);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            int flip = i != j && test_random() < 0.5, p = flip ? j : i, q = flip ? i : j;
            for (int c = 0; c < 9; c++) B[c] = test_uniform(-1, 1);
            if (i == j) { B[1] = B[3]; B[2] = B[6]; B[5] = B[7]; }
            ENSURE(blocks_add(&A, p, q, B) == coupled[i * N + j]);
            if (!coupled[i * N + j]) continue;
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) D[3 * p + r][3 * q + c] = D[3 * q + c][3 * p + r] = B[3 * r + c];
        }
    for (int i = 0; i < 3 * N; i++) { x[i] = test_uniform(-1, 1); y[i] = 999; }
    embi_bsr_multiply(&A, x, y);
    for (int i = 0; i < 3 * N; i++) {
        double sum = 0;
        for (int j = 0; j < 3 * N; j++) sum += D[i][j] * x[j];
        ENSURE_CLOSE(y[i], sum, 1e-13);
    }
    embi_bsr_free(&m, &A);
}

static void test_no_allocation_when_warm(void)
{
    static embi_key pairs[200];
    static char coupled[30 * 30];
    embi_memory m;
    embi_bsr A;
    long before = 0;
    embi_memory_init(&m, NULL);
    memset(&A, 0, sizeof A);
    for (int round = 0; round < 10; round++) {
        (void)random_pairs(30, 200, pairs, coupled);
        ENSURE(embi_bsr_pattern(&m, &A, 30, pairs, round ? 50 : 200));
        if (round == 0) before = m.allocations;
    }
    ENSURE(m.allocations == before);
    embi_bsr_free(&m, &A);
}

static void test_find_place(void)
{
    int a[40];
    for (int n = 0; n <= 40; n++) {
        for (int i = 0; i < n; i++) a[i] = 2 * i;
        for (int x = -1; x <= 2 * n; x++) {
            int expected = 0;
            while (expected < n && a[expected] < x) expected++;
            ENSURE(embi_find_place(a, n, x) == expected);
        }
    }
}

/* a size that does not fit is refused before anything is touched */
static void test_overflow(void)
{
    embi_memory m;
    embi_bsr A;
    embi_memory_init(&m, NULL);
    memset(&A, 0, sizeof A);
    ENSURE(!embi_bsr_pattern(&m, &A, INT_MAX / 8, NULL, 0) && m.failed && A.n == 0);
    embi_bsr_free(&m, &A);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    test_unused();
    RUN(find_place);
    RUN(pattern);
    RUN(empty);
    RUN(add_and_multiply);
    RUN(no_allocation_when_warm);
    RUN(overflow);
    return test_end("test_sparse");
}
