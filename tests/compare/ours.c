#define EMBIPC_IMPLEMENTATION
#define EMBIPC_STATIC
#include "../../embipc.h"
#include "ours.h"
#include "../blocks.h"
#include <stdlib.h>

#ifdef OURS_NATIVE
#define OURS(name) native_##name
#else
#define OURS(name) o2_##name
#endif

typedef struct ours {
    embi_memory memory;
    embi_system system;
    embi_bsr A;
    embi_key *key;
} ours;

void *OURS(open)(const problem *a)
{
    ours *f = (ours *)calloc(1, sizeof *f);
    embi_memory_init(&f->memory, NULL);
    f->key = (embi_key *)calloc((size_t)a->count, sizeof *f->key);
    for (int k = 0; k < a->count; k++) f->key[k].key = embi_pack(a->pair[2 * k], a->pair[2 * k + 1]);
    (void)embi_bsr_pattern(&f->memory, &f->A, a->n, f->key, a->count);
    embi_bsr_zero(&f->A);
    for (int k = 0; k < a->count; k++)
        blocks_add(&f->A, a->pair[2 * k], a->pair[2 * k + 1], a->block + 9 * (size_t)k);
    return f;
}

void OURS(close)(void *arg)
{
    ours *f = (ours *)arg;
    embi_system_free(&f->memory, &f->system);
    embi_bsr_free(&f->memory, &f->A);
    free(f->key);
    free(f);
}

int OURS(analyze)(void *arg, const problem *a, int method)
{
    ours *f = (ours *)arg;
    embi_system_empty(&f->system);   /* or it would be kept */
    return embi_system_analyze(&f->memory, &f->system, a->n, f->key, a->count, method);
}

void OURS(fill)(void *arg)
{
    ours *f = (ours *)arg;
    embi_system_zero(&f->system);
    (void)embi_system_add_bsr(&f->system, &f->A, NULL, 1);
}

int OURS(factor)(void *arg) { return embi_system_factor(&((ours *)arg)->system); }
void OURS(solve)(void *arg, double *b) { embi_system_solve(&((ours *)arg)->system, b); }

ours_size OURS(size)(const void *arg)
{
    const embi_system *S = &((const ours *)arg)->system;
    ours_size size = {0, 0, 0, 0, 0};
    size.dense = S->dense;
    size.iterations = S->iterations;
    size.supernodes = S->F.supernodes;
    for (int s = 0; s < S->F.supernodes; s++) {
        int w = embi_ldlt_width(&S->F, s), columns = embi_ldlt_columns(&S->F, s);
        for (int k = 0; k < w; k++) {
            size.values += columns - k;
            size.flops += (double)(columns - k) * (columns - k);
        }
    }
    return size;
}

void OURS(order)(const void *arg, int *order)
{
    const embi_ldlt *F = &((const ours *)arg)->system.F;
    for (int k = 0; k < F->n; k++) order[k] = F->order[k];
}

int OURS(dense_factor)(int n, double *A, int ld) { return embipc_dense_ldlt_factor(n, A, ld); }
void OURS(dense_solve)(int n, const double *A, int ld, double *b) { embipc_dense_ldlt_solve(n, A, ld, b); }
int OURS(lanes)(void) { return EMBI_LANES; }
