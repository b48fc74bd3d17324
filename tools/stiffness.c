#include "stiffness.h"
#include <stdlib.h>
#include <string.h>

#define STIFFNESS_YOUNG 1e6   /* Pa */

/* What loads need of a surface. */
typedef struct stiffness_shape {
    double *x;                /* at rest (3 n) */
    int n;
    double axis[9];           /* rows: principal axes, that of the largest second moment first */
    double lo, hi;            /* of the vertices along it, from the centroid, m */
    double centroid[3];
    double *area;             /* of each vertex: a third of its triangles, m^2 */
} stiffness_shape;

/* Principal axes of the second moments S (3 x 3): the first by repeated products, the others in the plane across it. */
static void stiffness_axes(const double S[9], double axis[9])
{
    double *a = axis, *b = axis + 3, *c = axis + 6, m[3], angle, size;
    int least = 0;
    for (int k = 0; k < 3; k++) a[k] = 1 + 0.1 * k;
    for (int n = 0; n < 200; n++) {
        for (int k = 0; k < 3; k++) m[k] = tool_dot(S + 3 * k, a);
        size = tool_length(m);
        for (int k = 0; k < 3 && size > 0; k++) a[k] = m[k] / size;
    }
    for (int k = 1; k < 3; k++)
        if (fabs(a[k]) < fabs(a[least])) least = k;
    for (int k = 0; k < 3; k++) m[k] = k == least;
    tool_cross(b, a, m);
    size = tool_length(b);
    for (int k = 0; k < 3; k++) b[k] /= size;
    tool_cross(c, a, b);
    {
        double bb = 0, bc = 0, cc = 0, u[3], v[3];
        for (int i = 0; i < 3; i++) {
            bb += b[i] * tool_dot(S + 3 * i, b);
            bc += b[i] * tool_dot(S + 3 * i, c);
            cc += c[i] * tool_dot(S + 3 * i, c);
        }
        angle = atan2(2 * bc, bb - cc) / 2;   /* the larger moment along b */
        for (int k = 0; k < 3; k++) {
            u[k] = cos(angle) * b[k] + sin(angle) * c[k];
            v[k] = cos(angle) * c[k] - sin(angle) * b[k];
        }
        memcpy(b, u, sizeof u);
        memcpy(c, v, sizeof v);
    }
}

/* Of the surface of a body. Returns 0 where it encloses nothing. */
static int stiffness_measure(stiffness_shape *s, const embipc_body_view *v, embipc_solid *solid)
{
    s->n = v->vertex_count;
    s->x = (double *)tool_alloc(3 * (size_t)s->n + 1, sizeof *s->x);
    s->area = (double *)tool_alloc((size_t)s->n + 1, sizeof *s->area);
    memcpy(s->x, v->x, 3 * (size_t)s->n * sizeof *s->x);
    if (embipc_mass_properties(v->x, s->n, v->triangles, v->triangle_count, solid) != EMBIPC_OK) return 0;
    memcpy(s->centroid, solid->centroid, sizeof s->centroid);
    stiffness_axes(solid->second, s->axis);
    s->lo = s->hi = 0;
    for (int i = 0; i < s->n; i++) {
        double r[3], at;
        tool_sub(r, s->x + 3 * i, s->centroid);
        at = tool_dot(r, s->axis);
        if (at < s->lo) s->lo = at;
        if (at > s->hi) s->hi = at;
    }
    for (int t = 0; t < v->triangle_count; t++) {
        const int *at = v->triangles + 3 * t;
        double u[3], w[3], n[3];
        tool_sub(u, s->x + 3 * at[1], s->x + 3 * at[0]);
        tool_sub(w, s->x + 3 * at[2], s->x + 3 * at[0]);
        tool_cross(n, u, w);
        for (int k = 0; k < 3; k++) s->area[at[k]] += tool_length(n) / 6;
    }
    return solid->volume > 0;
}

/* Takes off the tractions of f (3 n) what moves or turns the whole: six rigid motions, orthonormal over the surface. */
static void stiffness_balance(const stiffness_shape *s, double *f)
{
    size_t n = 3 * (size_t)s->n;
    double *rigid = (double *)tool_alloc(6 * n, sizeof *rigid);
    for (int m = 0; m < 6; m++) {
        double *q = rigid + (size_t)m * n, size = 0, along = 0;
        for (int i = 0; i < s->n; i++) {
            double e[3] = {0, 0, 0}, r[3];
            e[m % 3] = 1;
            tool_sub(r, s->x + 3 * i, s->centroid);
            if (m < 3) memcpy(q + 3 * i, e, sizeof e);
            else tool_cross(q + 3 * i, e, r);
        }
        for (int k = 0; k < m; k++) {
            double d = 0;
            for (size_t i = 0; i < n; i++) d += s->area[i / 3] * q[i] * rigid[(size_t)k * n + i];
            for (size_t i = 0; i < n; i++) q[i] -= d * rigid[(size_t)k * n + i];
        }
        for (size_t i = 0; i < n; i++) size += s->area[i / 3] * q[i] * q[i];
        for (size_t i = 0; i < n; i++) along += (q[i] /= sqrt(size)) * f[i];
        for (size_t i = 0; i < n; i++) f[i] -= along * s->area[i / 3] * q[i];
    }
    free(rigid);
}

/* f (3 n): the load as tractions at both ends, of the size `force` in all, N */
static void stiffness_load(const stiffness_shape *s, int load, double force, double *f)
{
    double total = 0, mean[2] = {0, 0}, area[2] = {0, 0};
    const double *axis = s->axis, *across = s->axis + (load == STIFFNESS_BEND_FLAT ? 6 : 3);
    for (int round = 0; round < 2; round++)   /* the middle of both ends, then the tractions */
        for (int i = 0; i < s->n; i++) {
            double r[3], at, y, t[3] = {0, 0, 0};
            int end;
            tool_sub(r, s->x + 3 * i, s->centroid);
            at = tool_dot(r, axis);
            end = at > s->hi - (s->hi - s->lo) / 3;
            if (!end && at > s->lo + (s->hi - s->lo) / 3) continue;
            y = tool_dot(r, across);
            if (round == 0) {
                mean[end] += s->area[i] * y;
                area[end] += s->area[i];
                continue;
            }
            if (load == STIFFNESS_TWIST) tool_cross(t, axis, r);
            for (int k = 0; k < 3; k++) {
                if (load == STIFFNESS_STRETCH) t[k] = axis[k];
                else if (load != STIFFNESS_TWIST) t[k] = axis[k] * (y - mean[end] / area[end]);
                f[3 * i + k] = (end ? 1 : -1) * s->area[i] / area[end] * t[k];
            }
        }
    stiffness_balance(s, f);
    for (int i = 0; i < 3 * s->n; i++) total += fabs(f[i]);
    for (int i = 0; i < 3 * s->n && total > 0; i++) f[i] *= force / total;
}

/* One step under f; *work: f . u / 2 */
static int stiffness_answer(embipc_world *w, embipc_body body, const stiffness_shape *s, const double *f, double *work)
{
    embipc_body_view v;
    int ok = embipc_world_reset(w) == EMBIPC_OK;
    for (int i = 0; i < s->n && ok; i++) ok = embipc_body_apply_force(w, body, i, f + 3 * i) == EMBIPC_OK;
    ok = ok && embipc_world_step(w, NULL) == EMBIPC_OK && embipc_body_get_view(w, body, &v) == EMBIPC_OK;
    *work = 0;
    for (int i = 0; i < 3 * s->n && ok; i++) *work += f[i] * (v.x[i] - s->x[i]) / 2;
    return ok;
}

/* A world with the body, without gravity, whose steps are so long that inertia does not count; NULL with e */
static embipc_world *stiffness_world(const embipc_body_def *def, embipc_body *body, tool_error *e)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = *def;
    embipc_world *w = NULL;
    double size = 0;
    for (int i = 0; i < 3 * d.vertex_count; i++) size = fmax(size, fabs(d.x[i] - d.x[i % 3]));
    d.material.young = STIFFNESS_YOUNG;
    d.material.density = 1000;
    d.self_contact = 0;
    memset(wd.gravity, 0, sizeof wd.gravity);
    wd.time_step = 1e5 * size * sqrt(d.material.density / d.material.young);
    wd.tolerance = 1e-12;
    wd.keep_spin = 0;
    if (embipc_world_create(&wd, &w, NULL) == EMBIPC_OK && embipc_body_create(w, &d, body) == EMBIPC_OK) return w;
    tool_fail(e, "%s", w ? embipc_world_error(w)->text : "no world");
    embipc_world_destroy(w);
    return NULL;
}

int stiffness_work(const embipc_body_def *def, double work[STIFFNESS_LOADS], tool_error *e)
{
    embipc_body body;
    embipc_world *w = stiffness_world(def, &body, e);
    embipc_body_view v;
    embipc_solid solid;
    stiffness_shape s;
    double *f = NULL;
    int ok = w && embipc_body_get_view(w, body, &v) == EMBIPC_OK;
    memset(&s, 0, sizeof s);
    if (ok && !stiffness_measure(&s, &v, &solid)) ok = tool_fail(e, "the surface encloses no volume");
    if (ok) f = (double *)tool_alloc(3 * (size_t)s.n, sizeof *f);
    for (int k = 0; k < STIFFNESS_LOADS && ok; k++) {
        memset(f, 0, 3 * (size_t)s.n * sizeof *f);
        stiffness_load(&s, k, 1e-8 * STIFFNESS_YOUNG * pow(solid.volume, 2.0 / 3), f);
        ok = stiffness_answer(w, body, &s, f, work + k) || tool_fail(e, "%s", embipc_world_error(w)->text);
    }
    embipc_world_destroy(w);
    free(s.x);
    free(s.area);
    free(f);
    return ok;
}

typedef struct stiffness_edge { int lo, hi, half; } stiffness_edge;   /* half: 3 t + k, the edge from corner k of t */

static int stiffness_before(const void *a, const void *b)
{
    const stiffness_edge *e = (const stiffness_edge *)a, *f = (const stiffness_edge *)b;
    if (e->lo != f->lo) return e->lo < f->lo ? -1 : 1;
    if (e->hi != f->hi) return e->hi < f->hi ? -1 : 1;
    return e->half < f->half ? -1 : e->half > f->half;
}

/* Four triangles for each. */
static void stiffness_split(double **x, int *vertex_count, int **tri, int *tri_count)
{
    int n = *tri_count, *fine = (int *)tool_alloc(12 * (size_t)n, sizeof *fine);
    int *middle = (int *)tool_alloc(3 * (size_t)n, sizeof *middle);
    stiffness_edge *edge = (stiffness_edge *)tool_alloc(3 * (size_t)n, sizeof *edge);
    double *y = (double *)tool_alloc(3 * ((size_t)*vertex_count + 3 * (size_t)n), sizeof *y);
    const int *v = *tri;
    for (int k = 0; k < 3 * n; k++) {
        int a = v[k], b = v[k - k % 3 + (k + 1) % 3];
        edge[k].lo = a < b ? a : b;
        edge[k].hi = a < b ? b : a;
        edge[k].half = k;
    }
    qsort(edge, 3 * (size_t)n, sizeof *edge, stiffness_before);
    memcpy(y, *x, 3 * (size_t)*vertex_count * sizeof *y);
    for (int k = 0; k < 3 * n; k++) {
        int known = k && edge[k - 1].lo == edge[k].lo && edge[k - 1].hi == edge[k].hi, at = *vertex_count - known;
        for (int i = 0; i < 3 && !known; i++) y[3 * at + i] = (y[3 * edge[k].lo + i] + y[3 * edge[k].hi + i]) / 2;
        middle[edge[k].half] = at;
        *vertex_count = at + 1;
    }
    for (int t = 0; t < n; t++)
        for (int k = 0; k < 3; k++) {
            fine[12 * t + 3 * k] = v[3 * t + k];
            fine[12 * t + 3 * k + 1] = fine[12 * t + 9 + k] = middle[3 * t + k];
            fine[12 * t + 3 * k + 2] = middle[3 * t + (k + 2) % 3];
        }
    free(*x);
    free(*tri);
    free(edge);
    free(middle);
    *x = y;
    *tri = fine;
    *tri_count = 4 * n;
}

void stiffness_refine(double **x, int *vertex_count, int **tri, int *tri_count, double edge)
{
    for (;;) {
        double longest = 0;
        for (int k = 0; k < 3 * *tri_count; k++) {
            double r[3];
            tool_sub(r, *x + 3 * (*tri)[k], *x + 3 * (*tri)[k - k % 3 + (k + 1) % 3]);
            longest = fmax(longest, tool_length(r));
        }
        if (longest <= edge || 4 * *tri_count > 20000) return;
        stiffness_split(x, vertex_count, tri, tri_count);
    }
}
