/* solve_ldlt.c - the sparse L D L^T factorisation on its own.
 *
 * You learn to give a matrix as blocks, to factor it, to solve, and that factoring again with the same
 * couplings allocates nothing. The matrix is A = Laplacian (x) C on a grid of N^3 nodes that is held at its
 * border, with a 3x3 matrix C. The Laplacian has the eigenvector u = sin sin sin with the eigenvalue
 * 6 - 6 cos(pi / (N + 1)), so A x = eigenvalue u (x) C e has the solution x = u (x) e. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 16
#define NODES (N * N * N)
#define BLOCKS (4 * NODES)

static long allocations;
static void *count_alloc(size_t size, void *ctx) { (void)ctx; allocations++; return malloc(size); }
static void count_free(void *p, size_t size, void *ctx) { (void)size; (void)ctx; free(p); }

/* Appends the block f C at nodes i, j. */
static void put(int i, int j, double f, const double C[9], int *pairs, double *blocks, int *count)
{
    int k;
    pairs[2 * *count] = i;
    pairs[2 * *count + 1] = j;
    for (k = 0; k < 9; k++) blocks[9 * *count + k] = f * C[k];
    ++*count;
}

int main(void)
{
    static int pairs[2 * BLOCKS];
    static double blocks[9 * BLOCKS], b[3 * NODES], u[NODES];
    const double C[9] = {4, 1, 0, 1, 3, -1, 0, -1, 2}, e[3] = {1, -2, 3}, pi = acos(-1.0);
    const double eigenvalue = 6 - 6 * cos(pi / (N + 1));
    embipc_allocator counting = {count_alloc, count_free, NULL};
    embipc_sparse_ldlt *f = embipc_sparse_ldlt_create(&counting);
    embipc_result r;
    int count = 0, i, j, k, c, n, replaced, pass;

    /* a block per node on the diagonal and one per neighbour; A is symmetric, so one side is enough */
    for (k = 0, n = 0; k < N; k++) for (j = 0; j < N; j++) for (i = 0; i < N; i++, n++) {
        put(n, n, 6, C, pairs, blocks, &count);
        if (i) put(n, n - 1, -1, C, pairs, blocks, &count);
        if (j) put(n, n - N, -1, C, pairs, blocks, &count);
        if (k) put(n, n - N * N, -1, C, pairs, blocks, &count);
        u[n] = sin(pi * (i + 1) / (N + 1)) * sin(pi * (j + 1) / (N + 1)) * sin(pi * (k + 1) / (N + 1));
    }
    printf("%d unknowns, %d blocks\n", 3 * NODES, count);

    for (pass = 1; pass <= 2 && f; pass++) {               /* A, then 2 A */
        long before = allocations;
        clock_t start = clock();
        double worst = 0;
        if (embipc_sparse_ldlt_factor(f, NODES, count, pairs, blocks, &replaced)) return 1;
        for (n = 0; n < NODES; n++) for (c = 0; c < 3; c++)
            b[3 * n + c] = pass * eigenvalue * u[n] * (C[3*c] * e[0] + C[3*c + 1] * e[1] + C[3*c + 2] * e[2]);
        embipc_sparse_ldlt_solve(f, b);
        for (n = 0; n < 3 * NODES; n++) worst = fmax(worst, fabs(b[n] - u[n / 3] * e[n % 3]));
        printf("pass %d: error %.3e, pivots replaced %d, allocations %ld, %.1f ms\n", pass, worst, replaced,
               allocations - before, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
        for (n = 0; n < 9 * count; n++) blocks[n] *= 2;
    }

    blocks[9 * (count - 1)] = NAN;                         /* what cannot be factored is said, not solved */
    r = embipc_sparse_ldlt_factor(f, NODES, count, pairs, blocks, NULL);
    printf("with a nan in it: %s\n", embipc_result_text(r));
    embipc_sparse_ldlt_destroy(f);
    return 0;
}
