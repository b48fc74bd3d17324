/* Crossing surfaces, looked for by code that shares nothing with the library: for the validation programs and the report of
 * `make paper`. Include after embipc.h. */
#ifndef CROSSINGS_H
#define CROSSINGS_H
#include "exact.h"

/* ---- crossings ----
 * Every edge against every triangle whose closed boxes meet, by exact.h, of all bodies that a world tests. Two
 * determinants in floating point with a thousandfold error margin spare the exact arithmetic the clear cases; one
 * in `VALIDATE_SAMPLE` of those goes to it all the same, and a disagreement ends the program. */
#define VALIDATE_SAMPLE 997

typedef struct validate_count { long boxes, exact, crossings; } validate_count;

/* (b - a) x (c - a) . (d - a); *size bounds the sum of the absolute values of its terms */
static double validate_orient(const double *a, const double *b, const double *c, const double *d, double *size)
{
    double u[3], v[3], w[3], det = 0;
    *size = 0;
    for (int k = 0; k < 3; k++) { u[k] = b[k] - a[k]; v[k] = c[k] - a[k]; w[k] = d[k] - a[k]; }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        det += (u[i] * v[j] - u[j] * v[i]) * w[k];
        *size += (fabs(u[i] * v[j]) + fabs(u[j] * v[i])) * fabs(w[k]);
    }
    return det;
}
/* 1 or -1 where the sign is beyond doubt, else 0 */
static int validate_clear_sign(const double *a, const double *b, const double *c, const double *d)
{
    double size, det = validate_orient(a, b, c, d, &size);
    return det > 1e-12 * size ? 1 : det < -1e-12 * size ? -1 : 0;
}
/* 1: the segment and the triangle are apart, beyond doubt */
static int validate_clearly_apart(const double *p, const double *q, const double *a, const double *b, const double *c)
{
    int below = validate_clear_sign(a, b, c, p), above = validate_clear_sign(a, b, c, q), o[3];
    if (below && below == above) return 1;
    if (!below || !above) return 0;   /* near the plane the line may lie in it */
    o[0] = validate_clear_sign(p, q, a, b); o[1] = validate_clear_sign(p, q, b, c); o[2] = validate_clear_sign(p, q, c, a);
    return o[0] * o[1] < 0 || o[1] * o[2] < 0 || o[2] * o[0] < 0;
}
static int validate_meet(const double *p, const double *q, const double *a, const double *b, const double *c, validate_count *n)
{
    double x[15];
    int apart = validate_clearly_apart(p, q, a, b, c), meet;
    n->boxes++;
    if (apart && n->boxes % VALIDATE_SAMPLE != 0) return 0;
    memcpy(x, p, 3 * sizeof *x); memcpy(x + 3, q, 3 * sizeof *x);
    memcpy(x + 6, a, 3 * sizeof *x); memcpy(x + 9, b, 3 * sizeof *x); memcpy(x + 12, c, 3 * sizeof *x);
    n->exact++;
    meet = exact_segment_triangle_meet(x);
    if (apart && meet) { printf("validate.h: a crossing was called clearly apart\n"); exit(2); }
    return meet;
}

typedef struct validate_surface { const double *x; const int *tri; int tri_count; } validate_surface;

typedef struct validate_box { double lo[3], hi[3], key; int at; } validate_box;
/* a surface made ready: each edge once, the boxes of its triangles sorted by their lower end along the axis that tells them
 * apart best, and their hull */
typedef struct validate_ready {
    validate_surface s;
    int *edge, edge_count;
    validate_box *box;
    int axis;
    double longest, lo[3], hi[3];   /* longest: of a box, along the axis */
} validate_ready;

static int validate_box_order(const void *a, const void *b)
{
    const validate_box *p = (const validate_box *)a, *q = (const validate_box *)b;
    return p->key < q->key ? -1 : p->key > q->key ? 1 : p->at - q->at;
}
static void validate_ready_boxes(validate_ready *r)
{
    const validate_surface *s = &r->s;
    double mean[3] = {0, 0, 0}, longest[3] = {0, 0, 0};
    r->box = (validate_box *)malloc((size_t)(s->tri_count + 1) * sizeof *r->box);
    for (int k = 0; k < 3; k++) { r->lo[k] = INFINITY; r->hi[k] = -INFINITY; }
    for (int t = 0; t < s->tri_count; t++) {
        validate_box *box = &r->box[t];
        box->at = t;
        for (int k = 0; k < 3; k++) {
            double a = s->x[3 * s->tri[3 * t] + k], b = s->x[3 * s->tri[3 * t + 1] + k], c = s->x[3 * s->tri[3 * t + 2] + k];
            box->lo[k] = fmin(a, fmin(b, c));
            box->hi[k] = fmax(a, fmax(b, c));
            r->lo[k] = fmin(r->lo[k], box->lo[k]);
            r->hi[k] = fmax(r->hi[k], box->hi[k]);
            mean[k] += (box->hi[k] - box->lo[k]) / s->tri_count;
            longest[k] = fmax(longest[k], box->hi[k] - box->lo[k]);
        }
    }
    for (int k = 1; k < 3; k++)
        if ((r->hi[k] - r->lo[k]) * mean[r->axis] > (r->hi[r->axis] - r->lo[r->axis]) * mean[k]) r->axis = k;
    r->longest = longest[r->axis];
    for (int t = 0; t < s->tri_count; t++) r->box[t].key = r->box[t].lo[r->axis];
    qsort(r->box, (size_t)s->tri_count, sizeof *r->box, validate_box_order);
}
/* Closed surfaces run along an edge once each way, and the way up stands for it; a border has one way only. */
static void validate_ready_edges(validate_ready *r)
{
    const validate_surface *s = &r->s;
    int sides = 3 * s->tri_count, vertices = 0, *head, *next;
    for (int i = 0; i < sides; i++) vertices = s->tri[i] >= vertices ? s->tri[i] + 1 : vertices;
    head = (int *)malloc((size_t)(vertices + 1) * sizeof *head);
    next = (int *)malloc((size_t)(sides + 1) * sizeof *next);
    r->edge = (int *)malloc((size_t)(2 * sides + 1) * sizeof *r->edge);
    for (int i = 0; i < vertices; i++) head[i] = -1;
    for (int way = 0; way < 2; way++)   /* those up, then those down that no side up stands for */
        for (int i = 0; i < sides; i++) {
            int a = s->tri[i], b = s->tri[i - i % 3 + (i % 3 + 1) % 3], at = -1;
            if ((a > b) != way) continue;
            if (way) for (at = head[b]; at >= 0 && r->edge[2 * at + 1] != a;) at = next[at];
            if (at >= 0) continue;
            r->edge[2 * r->edge_count] = a;
            r->edge[2 * r->edge_count + 1] = b;
            if (!way) { next[r->edge_count] = head[a]; head[a] = r->edge_count; }
            r->edge_count++;
        }
    free(head);
    free(next);
}
static validate_ready validate_make_ready(const validate_surface *s)
{
    validate_ready r;
    memset(&r, 0, sizeof r);
    r.s = *s;
    validate_ready_boxes(&r);
    validate_ready_edges(&r);
    return r;
}
static void validate_ready_free(validate_ready *r)
{
    free(r->edge);
    free(r->box);
}
/* edges of a against triangles of b (the same surface: without those that share a vertex) */
static void validate_ready_pair(const validate_ready *a, const validate_ready *b, validate_count *n)
{
    for (int k = 0; k < 3; k++)
        if (a->hi[k] < b->lo[k] || a->lo[k] > b->hi[k]) return;
    for (int e = 0; e < a->edge_count; e++) {
        int v = a->edge[2 * e], w = a->edge[2 * e + 1], low = 0, high = b->s.tri_count, out = 0;
        const double *p = a->s.x + 3 * v, *q = a->s.x + 3 * w;
        double l[3], h[3];
        for (int k = 0; k < 3; k++) {
            l[k] = p[k] < q[k] ? p[k] : q[k];
            h[k] = p[k] < q[k] ? q[k] : p[k];
            out |= h[k] < b->lo[k] || l[k] > b->hi[k];
        }
        if (out) continue;
        while (low < high) {   /* first box that can reach the edge */
            int mid = (low + high) / 2;
            if (b->box[mid].key < l[b->axis] - b->longest * 1.000001) low = mid + 1; else high = mid;
        }
        for (int i = low; i < b->s.tri_count && b->box[i].key <= h[b->axis]; i++) {
            const int *t = b->s.tri + 3 * b->box[i].at;
            int apart = 0, shared = 0;
            for (int k = 0; k < 3; k++) {
                apart |= h[k] < b->box[i].lo[k] || l[k] > b->box[i].hi[k];
                shared |= a->s.x == b->s.x && (t[k] == v || t[k] == w);
            }
            if (!apart && !shared) n->crossings += validate_meet(p, q, b->s.x + 3 * t[0], b->s.x + 3 * t[1], b->s.x + 3 * t[2], n);
        }
    }
}
static void validate_edges_triangles(const validate_surface *a, const validate_surface *b, validate_count *n)
{
    validate_ready p = validate_make_ready(a), q = validate_make_ready(b);
    validate_ready_pair(&p, &q, n);
    validate_ready_free(&p);
    validate_ready_free(&q);
}
#ifndef CROSSINGS_OF_SURFACES
/* All pairs of bodies that a world tests. Pairs that a scene switches off are `skip[i * count + j]`; may be NULL. */
static void validate_world(const embipc_world *world, const char *skip, validate_count *n)
{
    int count = embipc_world_body_count(world);
    embipc_kind *kind = (embipc_kind *)malloc((size_t)(count + 1) * sizeof *kind);
    validate_ready *ready = (validate_ready *)malloc((size_t)(count + 1) * sizeof *ready);
    for (int i = 0; i < count; i++) {
        embipc_body_view v;
        validate_surface s;
        (void)embipc_body_get_view(world, embipc_world_body(world, i), &v);
        s.x = v.x; s.tri = v.triangles; s.tri_count = v.triangle_count;
        kind[i] = v.kind;
        ready[i] = validate_make_ready(&s);
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            int still = kind[i] == EMBIPC_FIXED && kind[j] == EMBIPC_FIXED;
            if (still || (i == j && kind[i] < EMBIPC_CAGE) || (skip && skip[i * count + j])) continue;
            validate_ready_pair(&ready[i], &ready[j], n);
        }
    for (int i = 0; i < count; i++) validate_ready_free(&ready[i]);
    free(ready);
    free(kind);
}
#endif
#endif
