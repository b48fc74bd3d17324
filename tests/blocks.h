/* Blocks for tests, added one at a time: to a matrix, or to a factor. */
#ifndef BLOCKS_H
#define BLOCKS_H

/* Adds B at (i, j), and with it B^T at (j, i). Returns 0, and does nothing, when the pattern has no such block. */
static inline int blocks_add(embi_bsr *A, int i, int j, const embipc_real B[9])
{
    int k = embi_bsr_find(A, i, j);
    if (k >= 0) embi_block_add(A->val + 9 * (size_t)k, i < j ? -3 : 3, 1, B);
    return k >= 0;
}

/* The same for a factor. */
static inline int blocks_add_to_factor(embi_ldlt *F, int i, int j, const embipc_real B[9])
{
    int stride, flip, at = embi_ldlt_find(F, i, j, &stride, &flip);
    if (at >= 0) embi_block_add(F->value + at, flip ? -stride : stride, 1, B);
    return at >= 0;
}
#endif
