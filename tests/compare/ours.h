/* Our solver behind a few plain functions, compiled twice: o2_* at -O2 and native_* at -O3 -march=native. */
#ifndef COMPARE_OURS_H
#define COMPARE_OURS_H
#ifdef __cplusplus
extern "C" {
#endif

typedef struct problem {
    int n, count;     /* nodes; blocks of the lower triangle, the diagonal ones too */
    int *pair;        /* (2 count) i >= j */
    double *block;    /* (9 count) row-major */
} problem;

enum { METHOD_AUTO, METHOD_DENSE, METHOD_SPARSE, METHOD_CG };

typedef struct ours_size {
    int dense, supernodes, iterations;
    double values, flops;   /* of L with its padding: nonzeros, sum of the squared column counts */
} ours_size;

#define OURS_DECLARE(p)                                                                         \
    void *p##_open(const problem *a);                                                           \
    void p##_close(void *f);                                                                    \
    int p##_analyze(void *f, const problem *a, int method);                                     \
    void p##_fill(void *f);                                                                     \
    int p##_factor(void *f);                                                                    \
    void p##_solve(void *f, double *b);                                                         \
    ours_size p##_size(const void *f);                                                          \
    void p##_order(const void *f, int *order);   /* (n) the node eliminated k-th */             \
    int p##_dense_factor(int n, double *A, int ld);                                             \
    void p##_dense_solve(int n, const double *A, int ld, double *b);                            \
    int p##_lanes(void);

OURS_DECLARE(o2)
OURS_DECLARE(native)
#ifdef __cplusplus
}
#endif
#endif
