/* Meshes made by code (tools/shapes.c): each shape closed, oriented, well shaped, of the right volume, and
 * symmetric where it says so. Checks here are written apart from the code they judge. */
#include "../tools/shapes.c"
#include "test.h"

typedef struct key4 {
    int v[4], owner;
} key4;

static int compare_keys(const void *a, const void *b)
{
    const key4 *p = (const key4 *)a, *q = (const key4 *)b;
    for (int i = 0; i < 4; i++)
        if (p->v[i] != q->v[i]) return p->v[i] < q->v[i] ? -1 : 1;
    return 0;
}

static double orient(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3];
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        w[i] = d[i] - a[i];
    }
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
           u[2] * (v[0] * w[1] - v[1] * w[0]);
}

static double surface_volume(const tool_mesh *m)
{
    double zero[3] = {0, 0, 0}, v = 0;
    for (int t = 0; t < m->tri_count; t++)
        v += orient(zero, m->x + 3 * m->tri[3 * t], m->x + 3 * m->tri[3 * t + 1],
                    m->x + 3 * m->tri[3 * t + 2]) /
             6;
    return v;
}

static double extent(const tool_mesh *m, int axis, int high)
{
    double e = m->x[axis];
    for (int v = 0; v < m->node_count; v++)
        e = high ? fmax(e, m->x[3 * v + axis]) : fmin(e, m->x[3 * v + axis]);
    return e;
}

/* Smallest dihedral angle in degrees, edge by edge: the angle between the other two corners seen along it. */
static double worst_dihedral(const tool_mesh *m)
{
    double worst = 180;
    for (int t = 0; t < m->tet_count; t++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                int other[2], n = 0;
                const double *a = m->x + 3 * m->tet[4 * t + i], *b = m->x + 3 * m->tet[4 * t + j];
                double e[3], p[2][3], ee = 0, c[3], sine;
                if (i == j) continue;
                for (int k = 0; k < 4; k++)
                    if (k != i && k != j) other[n++] = m->tet[4 * t + k];
                for (int k = 0; k < 3; k++) {
                    e[k] = b[k] - a[k];
                    ee += e[k] * e[k];
                }
                for (int s = 0; s < 2; s++) {
                    double along = 0;
                    for (int k = 0; k < 3; k++) {
                        p[s][k] = m->x[3 * other[s] + k] - a[k];
                        along += p[s][k] * e[k] / ee;
                    }
                    for (int k = 0; k < 3; k++) p[s][k] -= along * e[k];
                }
                c[0] = p[0][1] * p[1][2] - p[0][2] * p[1][1];
                c[1] = p[0][2] * p[1][0] - p[0][0] * p[1][2];
                c[2] = p[0][0] * p[1][1] - p[0][1] * p[1][0];
                sine = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
                worst = fmin(worst, atan2(sine, p[0][0] * p[1][0] + p[0][1] * p[1][1] + p[0][2] * p[1][2]) *
                                        57.29577951308232);
            }
    return worst;
}

/* Closed, oriented, one fan of triangles at every node: each directed edge once and its reverse once, and as
 * many triangles at a node as a walk around it meets. Returns the Euler characteristic, or -99. */
static int euler(const tool_mesh *m)
{
    int n = 3 * m->tri_count, corners = 0, good = 1;
    key4 *edge = (key4 *)calloc((size_t)n + 1, sizeof *edge);
    if (!edge) return -99;
    for (int i = 0; i < n; i++) {
        edge[i].v[0] = m->tri[i];
        edge[i].v[1] = m->tri[i / 3 * 3 + (i + 1) % 3];
        edge[i].owner = m->tri[i / 3 * 3 + (i + 2) % 3];
    }
    qsort(edge, (size_t)n, sizeof *edge, compare_keys);
    for (int i = 0; i < n; i++) {
        key4 back = edge[i];
        back.v[0] = edge[i].v[1];
        back.v[1] = edge[i].v[0];
        good &= i == 0 || compare_keys(edge + i - 1, edge + i) != 0;
        good &= bsearch(&back, edge, (size_t)n, sizeof back, compare_keys) != NULL;
    }
    for (int i = 0, end; good && i < n; i = end, corners++) {
        key4 *walk = edge + i;
        int fan = 0;
        for (end = i; end < n && edge[end].v[0] == edge[i].v[0];) end++;
        do {
            key4 next = {{0}, 0};
            next.v[0] = walk->v[0];
            next.v[1] = walk->owner;
            walk = (key4 *)bsearch(&next, edge, (size_t)n, sizeof next, compare_keys);
            fan++;
        } while (walk && walk != edge + i && fan < n);
        good &= fan == end - i;
    }
    free(edge);
    return good ? corners - n / 2 + m->tri_count : -99;
}

/* every inner face shared by two tetrahedra, every other one in tri, and as many triangles as such faces */
static int faces_conform(const tool_mesh *m)
{
    int n = 4 * m->tet_count, single = 0, good = 1;
    key4 *face = (key4 *)calloc((size_t)n + 1, sizeof *face);
    if (!face) return 0;
    for (int i = 0; i < n; i++) {
        int k = 0, *v = face[i].v;
        for (int c = 0; c < 4; c++)
            if (c != i % 4) v[k++] = m->tet[i / 4 * 4 + c];
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 2; b++)
                if (v[b] > v[b + 1]) {
                    k = v[b]; v[b] = v[b + 1]; v[b + 1] = k;
                }
    }
    qsort(face, (size_t)n, sizeof *face, compare_keys);
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && compare_keys(face + i, face + end) == 0;) end++;
        good &= end - i <= 2;
        single += end - i == 1;
    }
    free(face);
    return good && single == m->tri_count;
}

/* pairs of a segment and a triangle of the surface, without common nodes, that cross by more than rounding */
static int crossings(const tool_mesh *m)
{
    double size = fmax(extent(m, 0, 1) - extent(m, 0, 0), extent(m, 2, 1) - extent(m, 2, 0)),
           tiny = 1e-14 * size * size * size;
    int count = 0;
    for (int s = 0; s < m->tri_count; s++)
        for (int t = 0; t < m->tri_count; t++) {
            const int *f = m->tri + 3 * t;
            for (int e = 0; e < 3; e++) {
                int i = m->tri[3 * s + e], j = m->tri[3 * s + (e + 1) % 3], up = 0;
                const double *p = m->x + 3 * i, *q = m->x + 3 * j, *a = m->x + 3 * f[0], *b = m->x + 3 * f[1],
                             *c = m->x + 3 * f[2];
                if (i > j || i == f[0] || i == f[1] || i == f[2] || j == f[0] || j == f[1] || j == f[2])
                    continue;
                if (!(fmin(orient(a, b, c, p), orient(a, b, c, q)) < -tiny &&
                      fmax(orient(a, b, c, p), orient(a, b, c, q)) > tiny)) continue;
                up = (orient(p, q, a, b) > 0) + (orient(p, q, b, c) > 0) + (orient(p, q, c, a) > 0);
                count += up == 0 || up == 3;
            }
        }
    return count;
}

/* everything that must hold of every shape */
static void check(const tool_mesh *m, int solid, int characteristic, double angle)
{
    int used = 0, *seen = (int *)calloc((size_t)m->node_count + 1, sizeof *seen), good = 1;
    double volume = 0, small, large;
    ENSURE(m->node_count > 3 && m->tri_count > 3 && (m->tet_count > 0) == solid);
    if (!seen) return;
    for (int i = 0; i < 3 * m->tri_count; i++) good &= m->tri[i] >= 0 && m->tri[i] < m->node_count;
    for (int i = 0; i < 4 * m->tet_count; i++) good &= m->tet[i] >= 0 && m->tet[i] < m->node_count;
    ENSURE(good);
    for (int i = 0; i < (solid ? 4 * m->tet_count : 3 * m->tri_count); i++) {
        int v = solid ? m->tet[i] : m->tri[i];
        used += !seen[v];
        seen[v] = 1;
    }
    free(seen);
    ENSURE(used == m->node_count);
    for (int i = 0; i < 3 * m->node_count; i++) ENSURE(fabs(m->x[i]) < 1e9);
    ENSURE(euler(m) == characteristic);
    ENSURE(surface_volume(m) > 0);
    if (!solid) return;
    for (int t = 0; t < m->tet_count; t++) {
        const int *v = m->tet + 4 * t;
        double d = orient(m->x + 3 * v[0], m->x + 3 * v[1], m->x + 3 * v[2], m->x + 3 * v[3]);
        ENSURE(d > 0);
        volume += d / 6;
    }
    ENSURE_REL(volume, surface_volume(m), 1e-9);
    ENSURE(faces_conform(m));
    shape_dihedral_range(m, &small, &large);
    ENSURE_CLOSE(small, worst_dihedral(m), 1e-6);
    ENSURE(small >= angle && large < 165);
}

static int compare_points(const void *a, const void *b)
{
    const double *p = *(const double *const *)a, *q = *(const double *const *)b;
    for (int i = 0; i < 3; i++)
        if (p[i] < q[i] || p[i] > q[i]) return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* Triangles and tetrahedra that are not there a second time after mirroring along an axis; all nodes when a
 * node has no exact twin. */
static int unmirrored(const tool_mesh *m, int axis)
{
    int n = m->node_count, bad = 0, *twin = (int *)calloc((size_t)n, sizeof *twin);
    const double **point = (const double **)calloc((size_t)n, sizeof *point);
    key4 *set = (key4 *)calloc((size_t)(m->tri_count + m->tet_count), sizeof *set);
    for (int v = 0; v < n; v++) point[v] = m->x + 3 * v;
    qsort(point, (size_t)n, sizeof *point, compare_points);
    for (int v = 0; v < n; v++) {
        double p[3];
        const double *key = p, **hit;
        memcpy(p, m->x + 3 * v, sizeof p);
        p[axis] = -p[axis];
        hit = (const double **)bsearch(&key, point, (size_t)n, sizeof key, compare_points);
        twin[v] = hit ? (int)((*hit - m->x) / 3) : -1;
        if (!hit) bad = n;
    }
    for (int pass = 0; pass < 2 && !bad; pass++) {
        int total = m->tri_count + m->tet_count;
        for (int i = 0; i < total; i++) {
            int tri = i < m->tri_count, size = tri ? 3 : 4;
            const int *v = tri ? m->tri + 3 * i : m->tet + 4 * (i - m->tri_count);
            key4 k = {{-1, -1, -1, -1}, 0};
            for (int c = 0; c < size; c++) {
                int w = pass ? twin[v[c]] : v[c], at = c;
                for (; at > 0 && k.v[at - 1] > w; at--) k.v[at] = k.v[at - 1];
                k.v[at] = w;
            }
            if (tri) k.v[3] = -1;
            if (pass == 0) set[i] = k;
            else bad += bsearch(&k, set, (size_t)total, sizeof k, compare_keys) == NULL;
        }
        if (pass == 0) qsort(set, (size_t)total, sizeof *set, compare_keys);
    }
    free(twin);
    free(point);
    free(set);
    return bad;
}

static void test_box(void)
{
    for (int k = 0; k < 40; k++) {
        tool_mesh m;
        double size[3];
        int solid = k % 2;
        for (int i = 0; i < 3; i++) size[i] = pow(10, test_uniform(-2, 0));
        ENSURE(shape_box(&m, size, k % 5, solid, NULL));
        check(&m, solid, 2, 10);
        ENSURE_REL(surface_volume(&m), size[0] * size[1] * size[2], 1e-12);
        for (int i = 0; i < 3; i++) ENSURE_REL(extent(&m, i, 1) - extent(&m, i, 0), size[i], 1e-14);
        if (!solid && k % 5 == 0) ENSURE(m.node_count == 8 && m.tri_count == 12);
        mesh_free(&m);
    }
}

static void test_box_is_symmetric_in_even_cells(void)
{
    static const double size[3] = {1, 1, 1};
    tool_mesh m;
    ENSURE(shape_box(&m, size, 4, 1, NULL));
    ENSURE(m.node_count == 125 && m.tet_count == 5 * 64);
    for (int axis = 0; axis < 3; axis++) ENSURE(unmirrored(&m, axis) == 0);
    mesh_free(&m);
    ENSURE(shape_box(&m, size, 3, 1, NULL));
    ENSURE(unmirrored(&m, 0) > 0);      /* the check can tell */
    mesh_free(&m);
}

static void test_plane(void)
{
    for (int k = 0; k < 20; k++) {
        tool_mesh m;
        double n[3], length;
        for (int i = 0; i < 3; i++) n[i] = k < 6 ? (k / 2 == i) * (k % 2 ? -1.0 : 1.0) : test_uniform(-1, 1);
        length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        ENSURE(shape_plane(&m, n, 0, k % 2, NULL));
        check(&m, k % 2, 2, 15);
        ENSURE_REL(surface_volume(&m), 20.0, 1e-12);
        for (int v = 0; v < m.node_count; v++) {
            double h = (n[0] * m.x[3 * v] + n[1] * m.x[3 * v + 1] + n[2] * m.x[3 * v + 2]) / length;
            ENSURE(h < 1e-12 && h > -0.2 - 1e-12);
        }
        length = n[2] > 0 ? extent(&m, 2, 1) : 0;
        if (k == 4) ENSURE(length == 0);     /* top of the ground: exact */
        mesh_free(&m);
    }
}

static void test_sphere(void)
{
    for (int n = 2; n <= 40; n += 6) {
        tool_mesh m;
        int f = (int)floor(0.5535 * n + 0.5);
        double exact = 4.0 / 3 * SHAPE_PI * 8, lack;
        ENSURE(shape_sphere(&m, 2, n, 0, NULL));
        check(&m, 0, 2, 0);
        ENSURE(m.node_count == 10 * f * f + 2 && m.tri_count == 20 * f * f);
        for (int v = 0; v < m.node_count; v++)
            ENSURE_CLOSE(tool_length(m.x + 3 * v), 2, 1e-14);
        lack = 1 - surface_volume(&m) / exact; /* flat faces lose a part that falls with the square of f */
        ENSURE(lack > 0.3 / (f * f) && lack < 0.7 / (f * f));
        mesh_free(&m);
    }
}

static void test_ball(void)
{
    for (int n = 3; n <= 12; n++) {
        tool_mesh m;
        double lack, h = 2.0 / n;
        int on = 0, inside = 0;
        ENSURE(shape_sphere(&m, 2, n, 1, NULL));
        if (!m.x) return;
        check(&m, 1, 2, 20);
        lack = 1 - surface_volume(&m) / (4.0 / 3 * SHAPE_PI * 8);
        ENSURE(lack > 0 && lack < 0.3 * h * h);
        for (int v = 0; v < m.node_count; v++) {
            double r = tool_length(m.x + 3 * v);
            on += fabs(r - 2) < 1e-6;
            inside += r < 2 - 1e-6;
        }
        ENSURE(on + inside == m.node_count && on == m.tri_count / 2 + 2); /* all of the surface is on it */
        ENSURE(unmirrored(&m, 1) == 0);
        if (n <= 6) ENSURE(crossings(&m) == 0);
        mesh_free(&m);
    }
}

static void test_ball_of_shells(void)
{
    for (int more = 0; more < 2; more++) {
        tool_mesh m, s;
        int outer = more ? 642 : 162;
        ENSURE(shape_ball(&m, 0.05, more ? 12 : 0, 1, NULL) && shape_ball(&s, 0.05, more ? 12 : 0, 0, NULL));
        if (!m.x || !s.x) return;
        check(&m, 1, 2, more ? 5 : 13);
        check(&s, 0, 2, 0);
        ENSURE(m.node_count == 2 * outer + 1 && m.tet_count == 4 * m.tri_count && m.tri_count == 2 * outer - 4);
        ENSURE(s.node_count == outer && s.tri_count == m.tri_count);
        for (int v = 0; v < outer; v++) {
            ENSURE_CLOSE(tool_length(m.x + 3 * v), 0.05, 1e-16);
            for (int c = 0; c < 3; c++) ENSURE_CLOSE(m.x[3 * (outer + v) + c], 0.6 * m.x[3 * v + c], 1e-17);
        }
        for (int c = 0; c < 3; c++) ENSURE(m.x[6 * outer + c] == 0);
        if (!more) ENSURE_REL(surface_volume(&m), 5.059e-4, 1e-4);
        mesh_free(&m);
        mesh_free(&s);
    }
}

/* the same ball as the mesh that other engines were given: node by node, tetrahedron by tetrahedron */
static void test_ball_is_that_of_the_peers(void)
{
    const char *path = test_data("scenes/squeeze_ball.msh");
    FILE *f = path ? fopen(path, "r") : NULL;
    char line[256];
    int count = 0, same = 0;
    tool_mesh m;
    key4 mine[1280], theirs[1280];
    if (!path) SKIP("no DATA");
    ENSURE(f != NULL && shape_ball(&m, 0.05, 0, 1, NULL));
    if (!f || !m.x) return;
    while (fgets(line, sizeof line, f) && strncmp(line, "$Nodes", 6) != 0) {}
    ENSURE(fscanf(f, "%d", &count) == 1 && count == 325);
    for (int v = 0, i; v < 325; v++) {
        double x[3];
        ENSURE(fscanf(f, "%d %lf %lf %lf", &i, x, x + 1, x + 2) == 4 && i == v + 1);
        for (int c = 0; c < 3; c++) ENSURE_CLOSE(x[c], m.x[3 * v + c], 1e-10);
    }
    while (fgets(line, sizeof line, f) && strncmp(line, "$Elements", 9) != 0) {}
    ENSURE(fscanf(f, "%d\n", &count) == 1);
    count = 0;
    while (fgets(line, sizeof line, f) && line[0] != '$' && count < 1280) {
        int type = 0, tags = 0, at = 0, skip;
        if (sscanf(line, "%*d %d %d%n", &type, &tags, &at) != 2 || type != 4) continue;
        for (; tags > 0; tags--, at += skip) ENSURE(sscanf(line + at, "%*d%n", &skip) == 0);
        for (int c = 0; c < 4; c++, at += skip) {
            ENSURE(sscanf(line + at, "%d%n", theirs[count].v + c, &skip) == 1);
            theirs[count].v[c]--;
        }
        memcpy(mine[count].v, m.tet + 4 * count, sizeof mine[count].v);
        count++;
    }
    ENSURE(count == 1280 && m.tet_count == 1280);
    for (int t = 0; t < count; t++)
        for (int k = 0; k < 2; k++) {
            int *v = k ? theirs[t].v : mine[t].v;
            for (int round = 0; round < 3; round++)
                for (int c = 0; c < 3; c++) shape_swap_if(v + c, v + c + 1);
        }
    qsort(mine, (size_t)count, sizeof *mine, compare_keys);
    qsort(theirs, (size_t)count, sizeof *theirs, compare_keys);
    for (int t = 0; t < count; t++) same += compare_keys(mine + t, theirs + t) == 0;
    ENSURE(same == 1280);
    fclose(f);
    mesh_free(&m);
}

static void test_cylinder(void)
{
    for (int k = 0; k < 30; k++) {
        tool_mesh m;
        double r = pow(10, test_uniform(-1.5, 0)), height = pow(10, test_uniform(-1.5, 0)), turn;
        int sides = 0;
        ENSURE(shape_cylinder(&m, r, height, k % 4 ? 2 * (k % 4) + 2 : 0, k % 2, NULL));
        check(&m, k % 2, 2, 12);
        for (int v = 0; v < m.node_count; v++)
            sides += m.x[3 * v + 2] == -0.5 * height && hypot(m.x[3 * v], m.x[3 * v + 1]) > r * (1 - 1e-12);
        turn = 2 * SHAPE_PI / sides;
        ENSURE(sides >= 12);
        ENSURE_REL(surface_volume(&m), 0.5 * sides * r * r * sin(turn) * height, 1e-12);
        mesh_free(&m);
    }
}

/* The volume is below that of the round body, and near it. */
static void test_capsule(void)
{
    for (int k = 0; k < 16; k++) {
        tool_mesh m;
        double r = pow(10, test_uniform(-1.5, 0)), height = r * pow(10, test_uniform(-1, 1)), v;
        double round = SHAPE_PI * r * r * (height + 4 * r / 3);
        ENSURE(shape_capsule(&m, r, height, k % 3 ? 8 * (k % 3) : 0, k % 2, NULL));
        check(&m, k % 2, 2, 12);
        v = surface_volume(&m);
        ENSURE(v < round && v > 0.85 * round);
        ENSURE_CLOSE(extent(&m, 2, 1), height / 2 + r, k % 2 ? 0.05 * r : 1e-12 * height);
        ENSURE_CLOSE(extent(&m, 2, 0), -height / 2 - r, k % 2 ? 0.05 * r : 1e-12 * height);
        ENSURE_CLOSE(extent(&m, 0, 1), r, k % 2 ? 0.05 * r : 1e-12 * r);
        mesh_free(&m);
    }
}

static void test_torus(void)
{
    for (int k = 1; k <= 16; k++) {
        tool_mesh m;
        double tube = 0.05 * k, lack;
        int rings, layers;
        ENSURE(shape_torus(&m, 1, tube, k % 3 ? 0 : 20, k % 2, NULL));
        check(&m, k % 2, 0, 12);
        rings = shape_cells(tube, 2 * (1 + tube) / (k % 3 ? 12 : 20));
        if (rings < 2) rings = 2;
        layers = shape_cells(2 * SHAPE_PI, tube / rings);
        ENSURE(m.tri_count == 12 * rings * layers);
        lack = 1 - surface_volume(&m) / (2 * SHAPE_PI * SHAPE_PI * tube * tube);
        ENSURE(lack > 0 && lack < 6.6 / (36.0 * rings * rings) + 13.2 / ((double)layers * layers));
        mesh_free(&m);
    }
}

static void test_plate(void)
{
    for (int n = 0; n <= 40; n += 10) {
        tool_mesh m;
        ENSURE(shape_plate(&m, 0.1, n, 1, NULL));
        check(&m, 1, 2, n ? 12 : 15);
        ENSURE_CLOSE(extent(&m, 2, 0), 0, 1e-15);
        ENSURE_CLOSE(extent(&m, 0, 1), 0.1, 1e-15);
        if (n < 20) ENSURE(crossings(&m) == 0);
        mesh_free(&m);
        ENSURE(shape_plate(&m, 0.1, n, 0, NULL));
        check(&m, 0, 2, 0);
        mesh_free(&m);
    }
}

/* the numbers the scenes are built on, and that it is the solid of its own field */
static void test_bear(void)
{
    tool_mesh m;
    int seat = 0, on = 0;
    ENSURE(shape_bear(&m, 0, 1, NULL));
    if (!m.x) return;
    check(&m, 1, 2, 15);
    ENSURE(abs(m.node_count - 400) <= 40);
    ENSURE(m.tet_count >= 1100 && m.tet_count <= 1300);
    ENSURE(abs(m.tri_count - 600) <= 60);
    ENSURE_REL(surface_volume(&m), 7.8e-4, 0.04);
    ENSURE_REL(extent(&m, 0, 1) - extent(&m, 0, 0), 0.122, 0.03);
    ENSURE_REL(extent(&m, 1, 1) - extent(&m, 1, 0), 0.105, 0.03);
    ENSURE_REL(extent(&m, 2, 1), 0.154, 0.03);
    ENSURE(extent(&m, 2, 0) == 0);
    ENSURE(extent(&m, 1, 1) < 0.053);       /* fits between bubbles with their bases at y = +-0.09 */
    for (int v = 0; v < m.node_count; v++) {
        seat += m.x[3 * v + 2] == 0;
        on += fabs(shape_bear_field(NULL, m.x + 3 * v)) < 1e-5;
    }
    ENSURE(seat >= 10 && on == m.tri_count / 2 + 2);
    ENSURE(unmirrored(&m, 1) == 0);
    ENSURE(unmirrored(&m, 0) > 0);
    ENSURE(crossings(&m) == 0);
    mesh_free(&m);
}

static void test_bear_at_other_resolutions(void)
{
    double before = 0;
    for (int n = 4; n <= 24; n += 4) {
        tool_mesh m;
        ENSURE(shape_bear(&m, n, n != 24, NULL));
        if (!m.x) return;
        check(&m, n != 24, 2, 12);
        ENSURE(unmirrored(&m, 1) == 0);
        ENSURE(extent(&m, 2, 0) == 0 && extent(&m, 1, 1) < 0.053);
        ENSURE(surface_volume(&m) > before);    /* chords of a mostly convex body: finer is larger */
        before = surface_volume(&m);
        mesh_free(&m);
    }
    ENSURE_REL(before, 8.3e-4, 0.02);
}

static void test_bear_paint(void)
{
    double nose[3] = {0.048, 0, 0.106}, back[3] = {-0.05, 0.01, 0.06}, a[3], b[3];
    shape_bear_paint(NULL, nose, a);
    shape_bear_paint(NULL, back, b);
    ENSURE(a[0] < 0.2 && b[0] > 0.5 && b[0] > b[2]);
}

static void test_bubble(void)
{
    double exact = 2.0 / 3 * SHAPE_PI * 0.057 * 0.0405 * 0.037, before = 0;
    for (int n = 8; n <= 32; n *= 2) {
        tool_mesh m;
        double lack;
        int base = 0, dome = 0;
        ENSURE(shape_bubble(&m, n == 8 ? 0 : n, 1, NULL));
        check(&m, 1, 2, 15);
        for (int v = 0; v < m.node_count; v++) {
            const double *p = m.x + 3 * v;
            base += p[2] == 0;
            ENSURE(p[2] <= 0);
            dome += fabs(pow(p[0] / 0.057, 2) + pow(p[1] / 0.0405, 2) + pow(p[2] / 0.037, 2) - 1) < 1e-12;
        }
        if (n == 8) {
            ENSURE(m.node_count == 67 && m.tet_count == 212 && m.tri_count == 80 && base == 17 && dome == 41);
            ENSURE(crossings(&m) == 0);
            ENSURE(unmirrored(&m, 0) == 0 && unmirrored(&m, 1) == 0);
        }
        ENSURE(dome == n * n / 2 + n + 1);
        ENSURE_CLOSE(extent(&m, 2, 0), -0.037, 1e-15);
        lack = exact - surface_volume(&m);      /* halving the edges leaves a quarter */
        if (n > 8) ENSURE(before / lack > 3.6 && before / lack < 4.4);
        before = lack;
        mesh_free(&m);
        ENSURE(shape_bubble(&m, n, 0, NULL));
        check(&m, 0, 2, 0);
        mesh_free(&m);
    }
}

static void test_comb(void)
{
    static const double size[3] = {0.15, 0.03, 0.13};
    for (int solid = 0; solid < 2; solid++) {
        tool_mesh m;
        ENSURE(shape_comb(&m, size, solid ? 0 : 26, solid, NULL));
        check(&m, solid, 2, 30);
        /* 3 cells of the back, and 12 of 15 of the ten above */
        ENSURE_REL(surface_volume(&m), 0.15 * 0.03 * 0.13 * (3 + 10 * 12.0 / 15) / 13, 1e-12);
        ENSURE(crossings(&m) == 0);
        mesh_free(&m);
    }
}

/* four windows between five ribs: genus 4; a wall upright in front, one that leans on it, both a tenth thick */
static void test_finger(void)
{
    static const double size[3] = {0.04, 0.02, 0.11};
    for (int solid = 0; solid < 2; solid++) {
        tool_mesh m;
        double front = 0, behind = 0;
        ENSURE(shape_finger(&m, size, solid ? 0 : 44, solid, NULL));
        check(&m, solid, 2 - 2 * 4, 10);
        ENSURE(crossings(&m) == 0);
        for (int i = 0; i < m.node_count; i++) {
            double x = m.x[3 * i] + 0.02, z = m.x[3 * i + 2] / 0.11 + 0.5;
            double width = 0.04 - (0.04 - 0.012) * z;
            ENSURE(x >= -1e-15 && x <= width + 1e-15);
            front += fabs(x) < 1e-15 || fabs(x - 0.004) < 1e-15;
            behind += fabs(x - width) < 1e-15 || fabs(x - width + 0.004) < 1e-15;
        }
        ENSURE(front >= 2 * 4 * 23 && behind >= 2 * 4 * 23);
        mesh_free(&m);
    }
}

static void test_bad_arguments(void)
{
    static const double bad[] = {0, -1, 1e-9, 1e9, NAN, INFINITY};
    tool_mesh m;
    tool_error e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double size[3] = {1, 1, 1}, normal[3] = {0, 0, 0};
        size[i % 3] = bad[i];
        normal[1] = bad[i] > 0 && bad[i] < 1 ? 0 : bad[i];
        e.text[0] = 0;
        ENSURE(!shape_box(&m, size, 0, 0, &e) && strstr(e.text, "size") && !m.x);
        ENSURE(!shape_sphere(&m, bad[i], 0, 0, &e) && strstr(e.text, "radius"));
        ENSURE(!shape_sphere(&m, bad[i], 0, 1, NULL));
        ENSURE(!shape_ball(&m, bad[i], 0, 1, &e) && strstr(e.text, "radius"));
        ENSURE(!shape_cylinder(&m, 1, bad[i], 0, 0, &e) && strstr(e.text, "height"));
        ENSURE(!shape_cylinder(&m, bad[i], 1, 0, 0, &e) && strstr(e.text, "radius"));
        ENSURE(!shape_torus(&m, 1, bad[i], 0, 0, &e) && strstr(e.text, "tube"));
        ENSURE(!shape_capsule(&m, 1, bad[i], 0, 0, &e) && strstr(e.text, "height"));
        ENSURE(!shape_capsule(&m, bad[i], 1, 0, 0, &e) && strstr(e.text, "radius"));
        ENSURE(!shape_plate(&m, bad[i], 0, 0, &e) && strstr(e.text, "radius"));
        if (bad[i] != -1) ENSURE(!shape_plane(&m, normal, 0, 0, &e) && strstr(e.text, "normal"));
    }
    ENSURE(!shape_torus(&m, 1, 0.9, 0, 1, &e) && strstr(e.text, "0.8"));
    ENSURE(!shape_bear(&m, 513, 1, &e) && strstr(e.text, "513"));
    ENSURE(!shape_bubble(&m, -1, 1, &e) && strstr(e.text, "-1"));
    ENSURE(!shape_sphere(&m, 1, 512, 1, &e) && strstr(e.text, "tetrahedra"));
    ENSURE(m.x == NULL && m.tri == NULL && m.tet == NULL && m.node_count == 0);
}

static void test_same_bits(void)
{
    tool_mesh a, b;
    ENSURE(shape_bear(&a, 9, 1, NULL) && shape_bear(&b, 9, 1, NULL));
    ENSURE(a.node_count == b.node_count && a.tet_count == b.tet_count);
    ENSURE(memcmp(a.x, b.x, 3 * (size_t)a.node_count * sizeof *a.x) == 0);
    ENSURE(memcmp(a.tet, b.tet, 4 * (size_t)a.tet_count * sizeof *a.tet) == 0);
    mesh_free(&a);
    mesh_free(&b);
}

/* the check of crossings sees a surface pushed through itself */
static void test_crossings_are_seen(void)
{
    tool_mesh m;
    ENSURE(shape_bubble(&m, 0, 0, NULL));
    for (int v = 0; v < m.node_count; v++)
        if (m.x[3 * v + 2] < -0.036) m.x[3 * v + 2] = 0.01;
    ENSURE(crossings(&m) > 0);
    mesh_free(&m);
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(box);
    RUN(box_is_symmetric_in_even_cells);
    RUN(plane);
    RUN(sphere);
    RUN(ball);
    RUN(ball_of_shells);
    RUN(ball_is_that_of_the_peers);
    RUN(cylinder);
    RUN(capsule);
    RUN(torus);
    RUN(plate);
    RUN(bear);
    RUN(bear_at_other_resolutions);
    RUN(bear_paint);
    RUN(bubble);
    RUN(comb);
    RUN(finger);
    RUN(bad_arguments);
    RUN(same_bits);
    RUN(crossings_are_seen);
    return test_end("test_shapes");
}
