/* A body alone in a world, seen from inside: its elastic energy, gradient and stiffness as functions of its nodes.
 * Include after embipc.h. */
#ifndef MODEL_TEST_H
#define MODEL_TEST_H
#include "meshio_test.h"

typedef struct test_model {
    embipc_world *w;
    embi_state *s;
    embi_body *b;
    int n;                   /* nodes */
    double *X;               /* at rest (3n) */
} test_model;

static int model_make(test_model *o, const test_mesh *mesh, embipc_kind kind, const embipc_material *material,
                      double h)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = embipc_default_body_def();
    embipc_body body;
    embipc_result r;
    memset(o, 0, sizeof *o);
    embi_set(wd.gravity, 0, 0, 0);
    wd.time_step = h;
    wd.tolerance = 1e-13;
    if (embipc_world_create(&wd, &o->w, NULL) != EMBIPC_OK) return 0;
    d.kind = EMBIPC_FULL;
    test_mesh_shape(mesh, &d);   /* tets, of an affine body too */
    d.kind = kind;
    d.material = *material;
    d.self_contact = 0;
    r = embipc_body_create(o->w, &d, &body);
    ENSURE(r == EMBIPC_OK);
    if (r != EMBIPC_OK) {
        printf("  %s\n", embipc_world_error(o->w)->text);
        embipc_world_destroy(o->w);
        return 0;
    }
    o->s = &o->w->s;
    o->b = o->s->body;
    o->b->elastic.ahead = 0;   /* tests move the nodes by hand */
    o->n = o->b->nn;
    o->X = (double *)malloc((size_t)(3 * o->n) * sizeof(double));
    memcpy(o->X, o->s->q, (size_t)(3 * o->n) * sizeof(double));
    return 1;
}
static void model_free(test_model *o)
{
    embipc_world_destroy(o->w);
    free(o->X);
}

static double *vector(int n) { return (double *)calloc((size_t)n + 1, sizeof(double)); }

static double model_energy(const double *q, void *arg)   /* at the rotations held */
{
    test_model *o = (test_model *)arg;
    double force;
    return embi_elastic_energy(&o->b->elastic, q, 0, o->s->scratch.trace, &force);
}
static void model_gradient(const double *q, double *g, void *arg)
{
    test_model *o = (test_model *)arg;
    memset(g, 0, (size_t)(3 * o->n) * sizeof *g);
    embi_elastic_gradient(&o->b->elastic, q, 1, o->s->scratch.trace, g);
}
static double model_energy_free(const double *q, void *arg)   /* with the rotations of q itself */
{
    test_model *o = (test_model *)arg;
    double force;
    return embi_elastic_energy(&o->b->elastic, q, 1, o->s->scratch.trace, &force);
}
/* K into the body's own matrix A */
static embi_bsr *model_stiffness(test_model *o, const double *q)
{
    embi_bsr_zero(&o->b->A);
    embi_elastic_add_hessian(&o->b->elastic, q, 1, o->s->scratch.trace, o->s->scratch.place, o->s->scratch.next,
                             o->s->scratch.patch_G,
                             &o->b->A);
    return &o->b->A;
}
static double *model_dense(test_model *o, const double *q)
{
    int m = 3 * o->n;
    embi_bsr *K = model_stiffness(o, q);
    double *D = vector(m * m);
    for (int i = 0; i < o->n; i++)
        for (int k = K->row[i]; k < K->row[i + 1]; k++)
            for (int c = 0; c < 9; c++) {
                int r = 3 * i + c / 3, s = 3 * K->col[k] + c % 3;
                D[m * r + s] = D[m * s + r] = K->val[9 * k + c];
            }
    return D;
}

/* tets of the body with det F <= 0; *least: the smallest det F, if that is below it (NULL: not wanted) */
static int model_inverted(const embi_body *b, const double *q, double *least)
{
    int count = 0;
    for (int t = 0; t < b->elastic.nt; t++) {
        double F[9], det;
        embi_elastic_F(&b->elastic, t, q + 3 * b->node0, F);
        det = embi_m3_det(F);
        if (least) *least = fmin(*least, det);
        count += !(det > 0);
    }
    return count;
}
#endif
