/* Meshes for tests: made by code, or read from well-formed files (OBJ with v and f lines, Gmsh 2.2 ASCII).
 * Every test_mesh_* returns a mesh to be given to test_mesh_free; n and counts are 0 when it failed. */
#ifndef MESHIO_TEST_H
#define MESHIO_TEST_H
#include "test.h"

typedef struct test_mesh {
    double *x;      /* 3*vertex_count */
    int vertex_count;
    int *tri;       /* 3*tri_count */
    int tri_count;
    int *tets;      /* 4*tet_count */
    int tet_count;
} test_mesh;

static test_mesh test_mesh_make(int vertex_count, int tri_count, int tet_count)
{
    test_mesh s;
    s.x = (double *)calloc((size_t)(3 * vertex_count + 3), sizeof(double));
    s.tri = (int *)calloc((size_t)(3 * tri_count + 3), sizeof(int));
    s.tets = (int *)calloc((size_t)(4 * tet_count + 4), sizeof(int));
    s.vertex_count = vertex_count;
    s.tri_count = tri_count;
    s.tet_count = tet_count;
    return s;
}
static void test_mesh_free(test_mesh *s)
{
    free(s->x);
    free(s->tri);
    free(s->tets);
    memset(s, 0, sizeof *s);
}

/* box [lo, hi], 8 vertices, 12 triangles */
static test_mesh test_mesh_box(double lx, double ly, double lz, double hx, double hy, double hz)
{
    static const int f[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                              1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
    test_mesh s = test_mesh_make(8, 12, 0);
    memcpy(s.tri, f, sizeof f);
    for (int i = 0; i < 8; i++) {
        s.x[3 * i] = (i & 3) == 1 || (i & 3) == 2 ? hx : lx;
        s.x[3 * i + 1] = (i & 2) ? hy : ly;
        s.x[3 * i + 2] = (i & 4) ? hz : lz;
    }
    return s;
}
/* a cube of half sides `outer` with a cavity of half sides `inner`, whose corners are the last 8 vertices */
static test_mesh test_mesh_hollow_box(double outer, double inner)
{
    test_mesh a = test_mesh_box(-outer, -outer, -outer, outer, outer, outer), b = test_mesh_box(-inner, -inner, -inner, inner, inner, inner);
    test_mesh s = test_mesh_make(16, 24, 0);
    memcpy(s.x, a.x, 24 * sizeof(double));
    memcpy(s.x + 24, b.x, 24 * sizeof(double));
    memcpy(s.tri, a.tri, 36 * sizeof(int));
    for (int t = 0; t < 12; t++)
        for (int k = 0; k < 3; k++) s.tri[36 + 3 * t + k] = 8 + b.tri[3 * t + 2 - k];
    test_mesh_free(&a);
    test_mesh_free(&b);
    return s;
}

/* every triangle in four, new vertices on the unit sphere; quadratic search, for small meshes */
static void test_mesh_refine_sphere(test_mesh *s)
{
    test_mesh r = test_mesh_make(s->vertex_count + 3 * s->tri_count / 2, 4 * s->tri_count, 0);
    int n = s->vertex_count;
    memcpy(r.x, s->x, (size_t)(3 * n) * sizeof(double));
    for (int t = 0; t < s->tri_count; t++) {
        int v[6], *f = r.tri + 12 * t;
        for (int i = 0; i < 3; i++) {
            double p[3], l;
            int a = s->tri[3 * t + i], b = s->tri[3 * t + (i + 1) % 3], j;
            v[i] = a;
            for (int k = 0; k < 3; k++) p[k] = s->x[3 * a + k] + s->x[3 * b + k];
            l = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
            for (int k = 0; k < 3; k++) p[k] /= l;
            for (j = s->vertex_count; j < n; j++)
                if (r.x[3 * j] == p[0] && r.x[3 * j + 1] == p[1] && r.x[3 * j + 2] == p[2]) break;
            if (j == n) memcpy(r.x + 3 * n++, p, sizeof p);
            v[3 + i] = j;
        }
        f[0] = v[0]; f[1] = v[3]; f[2] = v[5];
        f[3] = v[3]; f[4] = v[1]; f[5] = v[4];
        f[6] = v[5]; f[7] = v[4]; f[8] = v[2];
        f[9] = v[3]; f[10] = v[4]; f[11] = v[5];
    }
    test_mesh_free(s);
    *s = r;
}

/* unit sphere from an octahedron: 8 * 4^level triangles, symmetric about the coordinate planes */
static test_mesh test_mesh_sphere(int level)
{
    static const double x[18] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1};
    static const int f[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    test_mesh s = test_mesh_make(6, 8, 0);
    memcpy(s.x, x, sizeof x);
    memcpy(s.tri, f, sizeof f);
    while (level-- > 0) test_mesh_refine_sphere(&s);
    return s;
}

/* z stretched away from z = 0 by `half` on both sides: a sphere becomes a capsule (no vertex row at z = 0
 * is doubled, so the waist triangles lengthen) */
static void test_mesh_capsule(test_mesh *s, double half)
{
    for (int i = 0; i < s->vertex_count; i++)
        s->x[3 * i + 2] += s->x[3 * i + 2] > 1e-9 ? half : s->x[3 * i + 2] < -1e-9 ? -half : 0;
}

/* nx*ny*nz unit cells, six tets each around a diagonal */
static test_mesh test_mesh_tet_grid(int nx, int ny, int nz)
{
    static const int path[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    test_mesh s = test_mesh_make((nx + 1) * (ny + 1) * (nz + 1), 0, 6 * nx * ny * nz);
    int n = 0, t = 0, stride[3];
    stride[0] = (ny + 1) * (nz + 1);
    stride[1] = nz + 1;
    stride[2] = 1;
    for (int i = 0; i <= nx; i++)
        for (int j = 0; j <= ny; j++)
            for (int k = 0; k <= nz; k++, n++) {
                s.x[3 * n] = i;
                s.x[3 * n + 1] = j;
                s.x[3 * n + 2] = k;
                if (i == nx || j == ny || k == nz) continue;
                for (int p = 0; p < 6; p++, t++) {
                    int *v = s.tets + 4 * t, odd = p >= 3;
                    v[0] = n;
                    v[1] = v[0] + stride[path[p][0]];
                    v[2 + odd] = v[1] + stride[path[p][1]];
                    v[3 - odd] = n + stride[0] + stride[1] + stride[2];
                }
            }
    return s;
}

/* the whole line-based reader: OBJ `v`, `f` (fans), or .msh nodes and elements of type 2 and 4 */
static test_mesh test_mesh_read(const char *path)
{
    test_mesh s = test_mesh_make(0, 0, 0);
    char line[1024];
    int pass, msh = strstr(path, ".msh") != NULL;
    FILE *f = fopen(path, "r");
    for (pass = 0; f && pass < 2; pass++) {
        int nv = 0, nt = 0, nk = 0, in_nodes = 0, in_elements = 0;
        rewind(f);
        while (fgets(line, sizeof line, f)) {
            double p[3];
            int q[4], id, type, tags, used, skip;
            if (msh && line[0] == '$') {
                in_nodes = !strncmp(line, "$Nodes", 6);
                in_elements = !strncmp(line, "$Elements", 9);
                if ((in_nodes || in_elements) && !fgets(line, sizeof line, f)) break;
            } else if (in_nodes || (!msh && line[0] == 'v' && line[1] == ' ')) {
                if (sscanf(in_nodes ? line : line + 1, in_nodes ? "%*d %lf %lf %lf" : "%lf %lf %lf", &p[0],
                           &p[1], &p[2]) != 3) continue;
                if (pass) memcpy(s.x + 3 * nv, p, sizeof p);
                nv++;
            } else if (in_elements && sscanf(line, "%d %d %d%n", &id, &type, &tags, &used) == 3 &&
                       type == 4) {
                char *at = line + used;
                for (skip = 0; skip < tags; skip++) (void)strtol(at, &at, 10);
                for (skip = 0; skip < 4; skip++) q[skip] = (int)strtol(at, &at, 10) - 1;
                if (pass) memcpy(s.tets + 4 * nk, q, sizeof q);
                nk++;
            } else if (!msh && line[0] == 'f' && line[1] == ' ') {
                char *at = line + 1, *end;
                int n = 0;
                for (;; at = end) {
                    int v = (int)strtol(at, &end, 10);
                    if (end == at) break;
                    q[n < 2 ? n : 2] = v < 0 ? nv + v : v - 1;
                    while (*end && *end != ' ' && *end != '\n') end++;   /* past /vt/vn */
                    if (++n < 3) continue;
                    if (pass) memcpy(s.tri + 3 * nt, q, 3 * sizeof q[0]);
                    nt++;
                    q[1] = q[2];
                }
            }
        }
        if (!pass) {
            test_mesh_free(&s);
            s = test_mesh_make(nv, nt, nk);
        }
    }
    if (f) fclose(f);
    return s;
}

/* a surface given by triangles only: drops the vertices that no triangle uses */
static void test_mesh_compact(test_mesh *s)
{
    int n = 0, *map = (int *)malloc((size_t)(s->vertex_count + 1) * sizeof(int));
    for (int i = 0; i < s->vertex_count; i++) map[i] = -1;
    for (int i = 0; i < 3 * s->tri_count; i++) map[s->tri[i]] = 0;
    for (int i = 0; i < s->vertex_count; i++) {
        if (map[i] < 0) continue;
        memmove(s->x + 3 * n, s->x + 3 * i, 3 * sizeof(double));
        map[i] = n++;
    }
    for (int i = 0; i < 3 * s->tri_count; i++) s->tri[i] = map[s->tri[i]];
    s->vertex_count = n;
    free(map);
}

static void meshio_test_unused(void)
{
    (void)test_mesh_box; (void)test_mesh_hollow_box; (void)test_mesh_sphere; (void)test_mesh_capsule; (void)test_mesh_tet_grid;
    (void)test_mesh_read; (void)test_mesh_compact; (void)meshio_test_unused;
}
/* the mesh as the shape of a body of d->kind, which must be set: tets for full ones, else the surface. The mesh must
 * live until the body is made. */
static void test_mesh_shape(const test_mesh *s, embipc_body_def *d)
{
    int full = d->kind == EMBIPC_FULL;
    d->x = s->x;
    d->vertex_count = s->vertex_count;
    d->triangles = full ? NULL : s->tri;
    d->triangle_count = full ? 0 : s->tri_count;
    d->tets = full ? s->tets : NULL;
    d->tet_count = full ? s->tet_count : 0;
}
#endif
