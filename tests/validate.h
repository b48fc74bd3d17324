/* What the validation programs share: a world from the text of a scene, and an independent look for crossing
 * surfaces. Include system.c, embipc.h, test.h and the tool's files before it, as validate_scenes.c does. */
#ifndef VALIDATE_H
#define VALIDATE_H
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

typedef struct validate_box { double lo[3], hi[3]; int at; } validate_box;
static int validate_box_order(const void *a, const void *b)
{
    const validate_box *p = (const validate_box *)a, *q = (const validate_box *)b;
    return p->lo[0] < q->lo[0] ? -1 : p->lo[0] > q->lo[0] ? 1 : p->at - q->at;
}
static validate_box *validate_boxes(const validate_surface *s, double *longest)
{
    validate_box *box = (validate_box *)malloc((size_t)s->tri_count * sizeof *box);
    *longest = 0;
    for (int t = 0; t < s->tri_count; t++) {
        box[t].at = t;
        for (int k = 0; k < 3; k++) {
            double a = s->x[3 * s->tri[3 * t] + k], b = s->x[3 * s->tri[3 * t + 1] + k], c = s->x[3 * s->tri[3 * t + 2] + k];
            box[t].lo[k] = fmin(a, fmin(b, c));
            box[t].hi[k] = fmax(a, fmax(b, c));
        }
        *longest = fmax(*longest, box[t].hi[0] - box[t].lo[0]);
    }
    qsort(box, (size_t)s->tri_count, sizeof *box, validate_box_order);
    return box;
}
/* Is side k of triangle t the one that stands for its edge: no neighbour with a lower number shares it? Closed
 * surfaces run along an edge once each way, so the way up stands for it; a border has one way only. */
static int validate_edge_owned(const validate_surface *s, int t, int k)
{
    int a = s->tri[3 * t + k], b = s->tri[3 * t + (k + 1) % 3];
    if (a < b) return 1;
    for (int n = 0; n < 3 * s->tri_count; n++)
        if (s->tri[n] == b && s->tri[n - n % 3 + (n % 3 + 1) % 3] == a) return 0;
    return 1;
}
/* edges of a against triangles of b (the same surface: without those that share a vertex) */
static void validate_edges_triangles(const validate_surface *a, const validate_surface *b, validate_count *n)
{
    double longest, lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    validate_box *box = validate_boxes(b, &longest);
    for (int i = 0; i < b->tri_count; i++)
        for (int k = 0; k < 3; k++) {
            lo[k] = fmin(lo[k], box[i].lo[k]);
            hi[k] = fmax(hi[k], box[i].hi[k]);
        }
    for (int e = 0; e < 3 * a->tri_count; e++) {
        int v = a->tri[e], w = a->tri[e - e % 3 + (e % 3 + 1) % 3], low = 0, high = b->tri_count, out = 0;
        const double *p = a->x + 3 * v, *q = a->x + 3 * w;
        double l[3], h[3];
        for (int k = 0; k < 3; k++) {
            l[k] = p[k] < q[k] ? p[k] : q[k];
            h[k] = p[k] < q[k] ? q[k] : p[k];
            out |= h[k] < lo[k] || l[k] > hi[k];
        }
        if (out || !validate_edge_owned(a, e / 3, e % 3)) continue;
        while (low < high) {   /* first box that can reach the edge */
            int mid = (low + high) / 2;
            if (box[mid].lo[0] < l[0] - longest * 1.000001) low = mid + 1; else high = mid;
        }
        for (int i = low; i < b->tri_count && box[i].lo[0] <= h[0]; i++) {
            const int *t = b->tri + 3 * box[i].at;
            int apart = 0, shared = 0;
            for (int k = 0; k < 3; k++) {
                apart |= h[k] < box[i].lo[k] || l[k] > box[i].hi[k];
                shared |= a->x == b->x && (t[k] == v || t[k] == w);
            }
            if (!apart && !shared) n->crossings += validate_meet(p, q, b->x + 3 * t[0], b->x + 3 * t[1], b->x + 3 * t[2], n);
        }
    }
    free(box);
}
/* All pairs of bodies that a world tests. Pairs that a scene switches off are `skip[i * count + j]`; may be NULL. */
static void validate_world(const embipc_world *world, const char *skip, validate_count *n)
{
    int count = embipc_world_body_count(world);
    embipc_body_view *seen = (embipc_body_view *)malloc((size_t)(count + 1) * sizeof *seen);
    for (int i = 0; i < count; i++) embipc_body_get_view(world, embipc_world_body(world, i), &seen[i]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            validate_surface a = {seen[i].x, seen[i].triangles, seen[i].triangle_count};
            validate_surface b = {seen[j].x, seen[j].triangles, seen[j].triangle_count};
            int still = (seen[i].kind == EMBIPC_FIXED) && (seen[j].kind == EMBIPC_FIXED);
            if (still || (i == j && seen[i].kind < EMBIPC_CAGE) || (skip && skip[i * count + j])) continue;
            validate_edges_triangles(&a, &b, n);
        }
    free(seen);
}

/* ---- worlds ---- */
typedef struct validate_run { scene s; embipc_world *world; int ready; } validate_run;

static void validate_end(validate_run *r)
{
    embipc_world_destroy(r->world);
    if (r->ready) scene_free(&r->s);
    r->world = NULL;
    r->ready = 0;
}
/* The world of a scene's text; paths of meshes are relative to the directory of `path`. */
static int validate_begin(validate_run *r, const char *path, const char *text)
{
    tool_error e;
    memset(r, 0, sizeof *r);
    r->ready = 1;
    if (scene_parse(&r->s, path, text, strlen(text), &e) && scene_build(&r->s, &r->world, &e)) return 1;
    printf("  %s\n", e.text);
    validate_end(r);
    return 0;
}
static const char *validate_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
/* keeps the compiler quiet where a program does not use them all */
static void validate_unused(void)
{
    (void)validate_world; (void)validate_begin; (void)validate_name; (void)validate_unused;
}
#endif
