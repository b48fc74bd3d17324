/* Meshes and motions for the numerical tests, on top of meshio_test.h. Include after embipc.h. */
#ifndef GEOMETRY_TEST_H
#define GEOMETRY_TEST_H
#include "meshio_test.h"

/* x := R (scale x) + t for all vertices; R and t may be NULL */
static void geometry_move(test_mesh *s, double scale, const double *R, const double *t)
{
    for (int i = 0; i < s->vertex_count; i++) {
        double p[3], r[3];
        for (int k = 0; k < 3; k++) r[k] = p[k] = scale * s->x[3 * i + k];
        if (R)
            for (int k = 0; k < 3; k++) r[k] = R[3 * k] * p[0] + R[3 * k + 1] * p[1] + R[3 * k + 2] * p[2];
        for (int k = 0; k < 3; k++) s->x[3 * i + k] = r[k] + (t ? t[k] : 0);
    }
}

/* every coordinate moved by at most `amount` */
static void geometry_jitter(test_mesh *s, double amount)
{
    for (int i = 0; i < 3 * s->vertex_count; i++) s->x[i] += test_uniform(-amount, amount);
}

/* the triangles of the boundary of the tets */
static void geometry_skin(test_mesh *s)
{
    s->tri_count = embipc_tets_boundary(s->tets, s->tet_count, NULL, 0);
    free(s->tri);
    s->tri = (int *)calloc((size_t)(3 * s->tri_count + 3), sizeof(int));
    (void)embipc_tets_boundary(s->tets, s->tet_count, s->tri, s->tri_count);
}

/* box [0, l] of n[0] x n[1] x n[2] cells, six tets each around the diagonal of the cell, with its boundary */
static test_mesh geometry_box_tets(int nx, int ny, int nz, double lx, double ly, double lz)
{
    test_mesh s = test_mesh_tet_grid(nx, ny, nz);
    for (int i = 0; i < s.vertex_count; i++) {
        s.x[3 * i] *= lx / nx;
        s.x[3 * i + 1] *= ly / ny;
        s.x[3 * i + 2] *= lz / nz;
    }
    geometry_skin(&s);
    return s;
}

/* surface of the box [0, l], two triangles per square */
static test_mesh geometry_box_surface(int nx, int ny, int nz, double lx, double ly, double lz)
{
    test_mesh s = geometry_box_tets(nx, ny, nz, lx, ly, lz);
    s.tet_count = 0;
    test_mesh_compact(&s);
    return s;
}

/* unit sphere from an icosahedron: 20 * 4^level triangles */
static test_mesh geometry_icosphere(int level)
{
    static const int f[60] = {0, 11, 5,  0, 5,  1, 0, 1, 7, 0, 7,  10, 0, 10, 11, 1, 5, 9, 5, 11,
                              4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3,  9,  4, 3,  4,  2, 3, 2, 6, 3,
                              6, 8,  3,  8, 9,  4, 9, 5, 2, 4, 11, 6,  2, 10, 8,  6, 7, 9, 8, 1};
    double g = (1 + sqrt(5.0)) / 2, l = sqrt(1 + g * g);
    test_mesh s = test_mesh_make(12, 20, 0);
    memcpy(s.tri, f, sizeof f);
    for (int i = 0; i < 12; i++) {   /* cyclic permutations of (-+1, +-g, 0) */
        int k = i / 4;
        s.x[3 * i + k] = (i & 1 ? 1 : -1) / l;
        s.x[3 * i + (k + 1) % 3] = (i & 2 ? -g : g) / l;
    }
    while (level-- > 0) test_mesh_refine_sphere(&s);
    return s;
}

/* open sheet over [0, lx] x [0, ly] at z = 0, facing up */
static test_mesh geometry_sheet(int nx, int ny, double lx, double ly)
{
    test_mesh s = test_mesh_make((nx + 1) * (ny + 1), 2 * nx * ny, 0);
    for (int i = 0; i <= nx; i++)
        for (int j = 0; j <= ny; j++) {
            int a = (ny + 1) * i + j, *t = s.tri + 6 * (ny * i + j);
            s.x[3 * a] = lx * i / nx;
            s.x[3 * a + 1] = ly * j / ny;
            if (i == nx || j == ny) continue;
            t[0] = a; t[1] = a + ny + 1; t[2] = a + ny + 2;
            t[3] = a; t[4] = a + ny + 2; t[5] = a + 1;
        }
    return s;
}

/* triangles without neighbours, anywhere in the unit cube, of edges up to `size` */
static test_mesh geometry_soup(int count, double size)
{
    test_mesh s = test_mesh_make(3 * count, count, 0);
    for (int t = 0; t < count; t++) {
        double c[3];
        for (int k = 0; k < 3; k++) c[k] = test_random();
        for (int i = 0; i < 9; i++) s.x[9 * t + i] = c[i % 3] + test_uniform(-size / 2, size / 2);
        for (int i = 0; i < 3; i++) s.tri[3 * t + i] = 3 * t + i;
    }
    return s;
}

/* uniform over all rotations: a random unit quaternion */
static void geometry_rotation(double R[9])
{
    double q[4], n;
    do {
        n = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = test_uniform(-1, 1);
            n += q[i] * q[i];
        }
    } while (n > 1 || n < 0.01);
    n = 2 / n;
    R[0] = 1 - n * (q[2] * q[2] + q[3] * q[3]);
    R[1] = n * (q[1] * q[2] - q[0] * q[3]);
    R[2] = n * (q[1] * q[3] + q[0] * q[2]);
    R[3] = n * (q[1] * q[2] + q[0] * q[3]);
    R[4] = 1 - n * (q[1] * q[1] + q[3] * q[3]);
    R[5] = n * (q[2] * q[3] - q[0] * q[1]);
    R[6] = n * (q[1] * q[3] - q[0] * q[2]);
    R[7] = n * (q[2] * q[3] + q[0] * q[1]);
    R[8] = 1 - n * (q[1] * q[1] + q[2] * q[2]);
}
#endif
