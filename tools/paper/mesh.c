/* Meshes that only the experiments need. */
#include "paper.h"
#include <stdlib.h>
#include <string.h>

void paper_planes(double *x, int n, double a, double b)
{
    for (int i = 0; i <= n; i++) x[i] = a + (b - a) * i / n;
}

void paper_grid_mesh(paper *p, const char *name, int nx, const double *x, int ny, const double *y, int nz, const double *z)
{
    static const int path[6][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 0, 2, 1 }, { 2, 1, 0 }, { 1, 0, 2 } };
    int nodes = (nx + 1) * (ny + 1) * (nz + 1), count = 6 * nx * ny * nz, n = 0, t = 0, stride[3];
    double *at = (double *)tool_alloc((size_t)(3 * nodes), sizeof *at);
    int *tets = (int *)tool_alloc((size_t)(4 * count), sizeof *tets);
    stride[0] = (ny + 1) * (nz + 1);
    stride[1] = nz + 1;
    stride[2] = 1;
    for (int i = 0; i <= nx; i++)
        for (int j = 0; j <= ny; j++)
            for (int k = 0; k <= nz; k++, n++) {
                at[3 * n] = x[i];
                at[3 * n + 1] = y[j];
                at[3 * n + 2] = z[k];
                if (i == nx || j == ny || k == nz) continue;
                for (int c = 0; c < 6; c++, t++) {
                    int *v = tets + 4 * t, odd = c >= 3;
                    v[0] = n;
                    v[1] = v[0] + stride[path[c][0]];
                    v[2 + odd] = v[1] + stride[path[c][1]];
                    v[3 - odd] = n + stride[0] + stride[1] + stride[2];
                }
            }
    paper_mesh(p, name, at, nodes, NULL, 0, tets, count);
    free(at);
    free(tets);
}
