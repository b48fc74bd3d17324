/* What the tests of cages share: a check of everything that a cage promises, shapes whose parts are close in
 * space and far along the body, and static answers of cages and meshes. On top of geometry_test.h. */
#ifndef CAGE_TEST_H
#define CAGE_TEST_H
#include "geometry_test.h"

/* sums over the tets of a cage, from its volumes and moments alone */
typedef struct cage_sums { double volume, first[3], second[9]; } cage_sums;

static cage_sums cage_sum(const embipc_cage *c, const double o[3])
{
    cage_sums s;
    memset(&s, 0, sizeof s);
    for (int t = 0; t < c->tet_count; t++) {
        double X[12];
        embi_tet_gather(X, c->x, c->tets + 4 * t);
        s.volume += c->tet_volume[t];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                double m = c->tet_moment[10 * t + embi_moment_index[4 * i + j]];
                for (int k = 0; k < 3; k++) {
                    s.first[k] += m * (X[3 * i + k] - o[k]);
                    for (int l = 0; l < 3; l++)
                        s.second[3 * k + l] += m * (X[3 * i + k] - o[k]) * (X[3 * j + l] - o[l]);
                }
            }
    }
    return s;
}

/* smallest dihedral angle, degrees, or -1 for a flat or inverted tet */
static double cage_angle(const double X[12])
{
    embi_barycentric b;
    double largest = -1;
    if (!(embi_tet_det(X, X + 3, X + 6, X + 9) > 0) || !embi_barycentric_init(&b, X)) return -1;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) {
            const double *g = b.G + 3 * i, *k = b.G + 3 * j;
            largest = fmax(largest, -embi_dot(g, k) / (embi_norm(g) * embi_norm(k)));
        }
    return acos(fmin(largest, 1)) * (180 / 3.14159265358979323846);
}

/* Cells are right-handed boxes of one direction, and of one size but for the margin; each has tets, whose nodes it has
 * too, and none twice. Returns what is wrong, or NULL. */
static const char *cage_cell_fault(const embipc_cage *c, double size)
{
    const char *fault = NULL;
    int *has = (int *)calloc((size_t)(6 * c->cell_count) + 1, sizeof(int));   /* the tets of each cell, a bit for each corner */
    for (int i = 0; i < 8 * c->cell_count; i++)
        if (c->cells[i] < 0 || c->cells[i] >= c->node_count) fault = "a corner of no number";
    for (int i = 0; i < c->cell_count && !fault; i++) {
        const int *cell = c->cells + 8 * i;
        double side[9], first[3], r[3];
        for (int k = 0; k < 3; k++) {
            embi_sub(side + 3 * k, c->x + 3 * cell[1 << k], c->x + 3 * cell[0]);
            embi_sub(first, c->x + 3 * c->cells[1 << k], c->x + 3 * c->cells[0]);
            embi_cross(r, first, side + 3 * k);
            if (!(embi_norm(r) <= 1e-12 * size * size)) fault = "cells of two directions";
            if (!(fabs(embi_norm(side + 3 * k) - c->cell_size[k]) <= 2.1e-8 * c->cell_size[k])) fault = "a side";
        }
        for (int k = 0; k < 3; k++)
            if (!(fabs(embi_dot(side + 3 * k, side + (3 * k + 3) % 9)) <= 1e-12 * size * size)) fault = "no right angle";
        if (!(embi_m3_det(side) > 0)) fault = "left-handed cells";
        for (int j = 0; j < 8; j++) {
            embi_sub(r, c->x + 3 * cell[j], c->x + 3 * cell[0]);
            for (int k = 0; k < 3; k++)
                if (j >> k & 1) embi_sub(r, r, side + 3 * k);
            if (!(embi_norm(r) <= 1e-12 * size)) fault = "a corner is off its place";
        }
    }
    for (int t = 0, sum = 0; t < c->tet_count && !fault; t++, sum = 0) {
        if (c->tet_cell[t] < 0 || c->tet_cell[t] >= c->cell_count) { fault = "a tet in no cell"; break; }
        for (int i = 0, k; i < 4; i++) {
            for (k = 0; k < 8 && c->cells[8 * c->tet_cell[t] + k] != c->tets[4 * t + i]; k++) {}
            if (k == 8) fault = "a tet has a node that its cell has not";
            sum |= 1 << k;
        }
        for (int *at = has + 6 * c->tet_cell[t], n = 0; n < 6 && !fault; n++) {
            if (at[n] == sum) fault = "a tet twice in its cell";
            if (!at[n]) { at[n] = sum; break; }
        }
    }
    for (int i = 0; i < c->cell_count && !fault; i++)
        if (!has[6 * i]) fault = "an empty cell";
    free(has);
    return fault;
}

/* Volume, centre and second moments are the surface's own to 1e-9; every vertex is in its tet to 1e-12; no tet and
 * no cell is empty, and every node belongs to one; positive tets. Returns what is wrong, or NULL. */
static const char *cage_fault(const test_mesh *s, const embipc_cage *c)
{
    embipc_solid solid;
    cage_sums sum;
    double box[6], size, trace, volume = 0;
    char *used = (char *)calloc((size_t)c->node_count + 1, 1);
    const char *fault = NULL;
    embi_solid(&solid, s->x, s->vertex_count, s->tri, s->tri_count);
    embi_box_points(box, s->x, s->vertex_count);
    size = embi_box_diagonal(box);
    sum = cage_sum(c, solid.centroid);
    trace = solid.second[0] + solid.second[4] + solid.second[8];
    if (!(fabs(sum.volume - solid.volume) <= 1e-9 * solid.volume)) fault = "volume";
    for (int k = 0; k < 3; k++)
        if (!(fabs(sum.first[k]) <= 1e-9 * solid.volume * size)) fault = "centre";
    for (int k = 0; k < 9; k++)
        if (!(fabs(sum.second[k] - solid.second[k]) <= 1e-9 * trace)) fault = "inertia";
    for (int t = 0; t < c->tet_count; t++) {
        double X[12], m = 0;
        embi_tet_gather(X, c->x, c->tets + 4 * t);
        volume += embi_tet_det(X, X + 3, X + 6, X + 9) / 6;
        if (!(embi_tet_det(X, X + 3, X + 6, X + 9) > 0)) fault = "a tet inside out";
        for (int i = 0; i < 16; i++) m += c->tet_moment[10 * t + embi_moment_index[i]];
        for (int i = 0; i < 4; i++) used[c->tets[4 * t + i]] = 1;
        if (!(c->tet_volume[t] > 0)) fault = "an empty tet";
        if (!(fabs(m - c->tet_volume[t]) <= 1e-9 * solid.volume)) fault = "moments and volume differ";
    }
    for (int i = 0; i < 8 * c->cell_count; i++) used[c->cells[i]] = 1;
    for (int i = 0; i < c->node_count; i++)
        if (!used[i]) fault = "an idle node";
    if (c->cell_count && cage_cell_fault(c, size)) fault = cage_cell_fault(c, size);
    if (!c->cell_count && (c->cells || c->tet_cell || c->cell_size[0] > 0)) fault = "no cells, but something of them";
    if (!(fabs(volume - c->volume) <= 1e-9 * volume)) fault = "volume of the tets";
    if (c->vertex_count != s->vertex_count) fault = "vertex count";
    for (int i = 0; i < c->vertex_count && !fault; i++) {
        double X[12], r[3];
        int t = c->vertex_tet[i];
        if (t < 0 || t >= c->tet_count) { fault = "a vertex in no tet"; break; }
        embi_tet_gather(X, c->x, c->tets + 4 * t);
        embi_tet_residual(r, X, c->vertex_weight + 4 * i, s->x + 3 * i);
        if (!(embi_norm(r) <= 1e-12 * size)) fault = "a vertex is not met";
        if (!(embi_min4(c->vertex_weight + 4 * i) >= 0)) fault = "a negative weight";
    }
    free(used);
    return fault;
}

/* how many separate pieces cells of `corners` numbers each make of n points, when those that share a point are one */
static int cage_clusters(const int *cell, int count, int corners, int n)
{
    int pieces = 0, *parent = (int *)malloc((size_t)(n + 1) * sizeof(int));
    for (int i = 0; i < n; i++) parent[i] = i;
    for (int i = 0; i < corners * count; i++) embi_join(parent, cell[i], cell[i - i % corners]);
    for (int i = 0; i < n; i++) pieces += parent[i] == i;
    free(parent);
    return pieces;
}

/* how many separate bodies the cells, or the tets, of the cage make */
static int cage_components(const embipc_cage *c)
{
    return c->cell_count ? cage_clusters(c->cells, c->cell_count, 8, c->node_count)
                         : cage_clusters(c->tets, c->tet_count, 4, c->node_count);
}

/* the solid in the emptiest cell, or tet where there are no cells, over its volume */
static double cage_least_fill(const embipc_cage *c)
{
    double least = 1e300, *held = (double *)calloc((size_t)(2 * c->tet_count), sizeof(double)), *whole = held + c->tet_count;
    for (int t = 0; t < c->tet_count; t++) {
        int cell = c->cell_count ? c->tet_cell[t] : t;
        double X[12];
        embi_tet_gather(X, c->x, c->tets + 4 * t);
        held[cell] += c->tet_volume[t];
        whole[cell] = embi_tet_det(X, X + 3, X + 6, X + 9) / (c->cell_count ? 1 : 6);   /* six tets of one volume */
    }
    for (int i = 0; i < (c->cell_count ? c->cell_count : c->tet_count); i++) least = fmin(least, held[i] / whole[i]);
    free(held);
    return least;
}

/* ---- shapes ---- */

/* The cells of an nx x ny x nz grid for which `in` says so, as tets, with their skin; cells of side `size`. */
static test_mesh cage_shape_of_cells(int nx, int ny, int nz, double size, int (*in)(int i, int j, int k))
{
    test_mesh g = test_mesh_tet_grid(nx, ny, nz);
    int n = 0, count = 0, *map = (int *)malloc((size_t)g.vertex_count * sizeof(int));
    for (int t = 0; t < g.tet_count; t++) {
        int v = g.tets[4 * t];   /* the low corner of its cell */
        int k = v % (nz + 1), j = v / (nz + 1) % (ny + 1), i = v / (nz + 1) / (ny + 1);
        if (!in(i, j, k)) continue;
        memmove(g.tets + 4 * n++, g.tets + 4 * t, 4 * sizeof(int));
    }
    g.tet_count = n;
    for (int i = 0; i < g.vertex_count; i++) map[i] = -1;
    for (int i = 0; i < 4 * n; i++) map[g.tets[i]] = 0;
    for (int i = 0; i < g.vertex_count; i++)
        if (map[i] == 0) {
            for (int k = 0; k < 3; k++) g.x[3 * count + k] = size * g.x[3 * i + k];
            map[i] = count++;
        }
    for (int i = 0; i < 4 * n; i++) g.tets[i] = map[g.tets[i]];
    g.vertex_count = count;
    free(map);
    geometry_skin(&g);
    return g;
}

/* four teeth of 3 x 3 x 10 cells, one cell apart, on a back 3 high */
static int cage_in_comb(int i, int j, int k) { (void)j; return k < 3 || i % 4 < 3; }
static test_mesh cage_comb(void) { return cage_shape_of_cells(15, 3, 13, 0.01, cage_in_comb); }

/* a FinRay finger: two walls that meet at the top, 2 cells thick, and ribs between them, 1 cell thick */
static int cage_in_finray(int i, int j, int k)
{
    int slant = k * 15 / 40, left = slant, right = 33 - slant;
    (void)j;
    if (i < left || i > right) return 0;
    return i < left + 3 || i > right - 3 || k % 5 == 0;
}
static test_mesh cage_finray(void) { return cage_shape_of_cells(34, 4, 41, 0.003, cage_in_finray); }

/* the surface alone; `kept`, if not NULL, gets the solid's number of each vertex (room for all) */
static test_mesh cage_surface(const test_mesh *solid, int *kept)
{
    test_mesh s = test_mesh_make(solid->vertex_count, solid->tri_count, 0);
    char *used = (char *)calloc((size_t)solid->vertex_count + 1, 1);
    memcpy(s.x, solid->x, (size_t)(3 * s.vertex_count) * sizeof(double));
    memcpy(s.tri, solid->tri, (size_t)(3 * s.tri_count) * sizeof(int));
    for (int i = 0; i < 3 * s.tri_count; i++) used[s.tri[i]] = 1;
    for (int i = 0, n = 0; i < solid->vertex_count; i++)
        if (used[i] && kept) kept[n++] = i;
    test_mesh_compact(&s);
    free(used);
    return s;
}

/* The longest way, along edges of the solid's tets, between two vertices in the same cell of the cage, as a multiple of
 * the cell's diagonal. Long ways mean that a cell ties parts together that are far along the body. */
static double cage_longest_tie(const test_mesh *solid, const embipc_cage *c, const int *kept)
{
    int n = solid->vertex_count, *queue = (int *)malloc((size_t)(n + 1) * sizeof(int));
    double *way = (double *)malloc((size_t)(n + 1) * sizeof *way), longest = 0;
    for (int a = 0; a < c->vertex_count; a += 7) {   /* a sample of the vertices */
        for (int i = 0; i < n; i++) way[i] = 1e300;
        way[kept[a]] = 0;
        for (int round = 0, moved = 1; moved && round < n; round++) {   /* Bellman, tets in turn */
            moved = 0;
            for (int i = 0; i < 16 * solid->tet_count; i++) {
                int p = solid->tets[4 * (i / 16) + i % 4], q = solid->tets[4 * (i / 16) + i / 4 % 4];
                double d[3];
                if (way[p] > 1e299 || p == q) continue;
                embi_sub(d, solid->x + 3 * p, solid->x + 3 * q);
                if (way[p] + embi_norm(d) < way[q] * (1 - 1e-12)) { way[q] = way[p] + embi_norm(d); moved = 1; }
            }
        }
        for (int b = 0; b < c->vertex_count; b++)
            if (c->tet_cell[c->vertex_tet[a]] == c->tet_cell[c->vertex_tet[b]]) longest = fmax(longest, way[kept[b]]);
    }
    free(queue);
    free(way);
    return longest / embi_norm(c->cell_size);
}

/* ---- static answers: K u = f by conjugate gradients on the library's own gradient ---- */

typedef struct cage_static {
    embi_memory m;
    embi_elastic elastic;
    int n;
    const double *X;
    double *q, *trace, *diagonal;
    double spring;                 /* of clamped vertices, N/m; they are rows of weights */
    const int *row_node;           /* 4 a row */
    const double *row_weight;
    int row_count;
} cage_static;

static int cage_static_begin(cage_static *s, const double *X, int n, const int *tets, int tet_count,
                             const double *volume, const embipc_material *material)
{
    memset(s, 0, sizeof *s);
    embi_memory_init(&s->m, NULL);
    s->n = n;
    s->X = X;
    s->q = (double *)calloc((size_t)n, 3 * sizeof(double));
    s->trace = (double *)calloc((size_t)(10 * embi_whole_lanes(tet_count) + n), sizeof(double));
    s->diagonal = (double *)calloc((size_t)n, 3 * sizeof(double));
    if (!embi_elastic_init(&s->m, &s->elastic, X, n, tets, tet_count, volume, NULL, material)) return 0;
    embi_elastic_follow(&s->elastic, X);
    return 1;
}
static void cage_static_end(cage_static *s)
{
    embi_elastic_free(&s->m, &s->elastic);
    free(s->q);
    free(s->trace);
    free(s->diagonal);
}
static void cage_static_apply(cage_static *s, const double *u, double *f)   /* f = K u */
{
    for (int i = 0; i < 3 * s->n; i++) { s->q[i] = s->X[i] + u[i]; f[i] = 0; }
    embi_elastic_gradient(&s->elastic, s->q, 1, s->trace, f);
    for (int r = 0; r < s->row_count; r++)
        for (int k = 0; k < 3; k++) {
            double at = 0;
            for (int i = 0; i < 4; i++) at += s->row_weight[4 * r + i] * u[3 * s->row_node[4 * r + i] + k];
            for (int i = 0; i < 4; i++) f[3 * s->row_node[4 * r + i] + k] += s->spring * s->row_weight[4 * r + i] * at;
        }
}
/* diagonal of K tet by tet would repeat the library; colours would be long: three probes a node, small cages only */
static void cage_static_diagonal(cage_static *s, int exact)
{
    double *u = (double *)calloc((size_t)s->n, 6 * sizeof(double)), *f = u + 3 * s->n;
    for (int i = 0; i < 3 * s->n; i++) {
        s->diagonal[i] = 1;
        if (!exact) continue;
        u[i] = 1;
        cage_static_apply(s, u, f);
        s->diagonal[i] = f[i] > 0 ? f[i] : 1;
        u[i] = 0;
    }
    free(u);
}
/* u with K u = f; returns f . u */
static double cage_static_solve(cage_static *s, const double *f, double *u)
{
    int n = 3 * s->n;
    double *r = (double *)calloc((size_t)n, 4 * sizeof(double)), *z = r + n, *p = z + n, *w = p + n;
    double rz = 0, start, sum = 0;
    for (int i = 0; i < n; i++) { u[i] = 0; r[i] = f[i]; p[i] = z[i] = r[i] / s->diagonal[i]; rz += r[i] * z[i]; }
    start = rz;
    for (int it = 0; it < 20 * n && rz > 1e-18 * start; it++) {
        double pw = 0, next = 0;
        cage_static_apply(s, p, w);
        for (int i = 0; i < n; i++) pw += p[i] * w[i];
        if (!(pw > 0)) break;
        for (int i = 0; i < n; i++) {
            u[i] += rz / pw * p[i];
            r[i] -= rz / pw * w[i];
            z[i] = r[i] / s->diagonal[i];
            next += r[i] * z[i];
        }
        for (int i = 0; i < n; i++) p[i] = z[i] + next / rz * p[i];
        rz = next;
    }
    for (int i = 0; i < n; i++) sum += f[i] * u[i];
    free(r);
    return sum;
}

static void cage_test_unused(void)
{
    (void)cage_fault; (void)cage_components; (void)cage_comb; (void)cage_finray; (void)cage_surface;
    (void)cage_longest_tie; (void)cage_static_begin; (void)cage_static_end; (void)cage_static_diagonal;
    (void)cage_static_solve; (void)cage_angle; (void)cage_least_fill; (void)cage_test_unused;
}
#endif
