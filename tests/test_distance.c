/* Distances: against a search in long double, finite differences, and a list of degenerate configurations. */
#include "inside.h"
#include "test.h"

static const double T[9] = {-1, 0, 1, 1, 0, 1, 0, 0, -1};   /* the triangle of most cases */
static int grid(int n) { return (int)(test_random() * (2 * n + 1)) - n; }

static double extent(const double *x)
{
    double s = 0;
    for (int k = 0; k < 12; k++) s = fmax(s, fabs(x[k] - x[k % 3]));
    return s;
}

/* ---- the other way: a ternary search over one parameter of a point-segment distance, which is convex ---- */
typedef long double real;

/* squared distance of p and the segment from o to o + e */
static real point_segment2(const real p[3], const real o[3], const real e[3])
{
    real er = 0, ee = 0, t, d2 = 0;
    for (int c = 0; c < 3; c++) { er += e[c] * (p[c] - o[c]); ee += e[c] * e[c]; }
    t = ee > 0 ? er / ee : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int c = 0; c < 3; c++) d2 += (p[c] - o[c] - t * e[c]) * (p[c] - o[c] - t * e[c]);
    return d2;
}
/* squared distance of the slice s of one primitive and the other: of the point s of edge a and edge b; or of the point
 * and the segment that cuts the triangle parallel to bc at s */
static real slice2(const double x[12], int edge_edge, real s)
{
    real p[3], o[3], e[3];
    for (int c = 0; c < 3; c++) {
        real x0 = 0, x1 = (real)x[3 + c] - x[c], x2 = (real)x[6 + c] - x[c], x3 = (real)x[9 + c] - x[c];
        p[c] = edge_edge ? x0 + s * (x1 - x0) : x0;
        o[c] = edge_edge ? x2 : x1 + s * (x2 - x1);
        e[c] = edge_edge ? x3 - x2 : s * (x3 - x2);
    }
    return point_segment2(p, o, e);
}
static double search(const double x[12], int edge_edge)
{
    real lo = 0, hi = 1, best = slice2(x, edge_edge, 0), d2 = slice2(x, edge_edge, 1);
    if (d2 < best) best = d2;
    for (int i = 0; i < 120; i++) {
        real a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
        real da = slice2(x, edge_edge, a), db = slice2(x, edge_edge, b);
        if (da < best) best = da;
        if (db < best) best = db;
        if (da < db) hi = b;
        else lo = a;
    }
    return (double)sqrtl(best);
}

/* until the next call */
static const embi_point *points(const double x[12])
{
    static embi_point p[4];
    embi_points_of(p, x);
    return p;
}

static double distance(const double x[12], int edge_edge, double *grad)
{
    return edge_edge ? embipc_edge_edge_distance(x, grad) : embipc_point_triangle_distance(x, grad);
}

/* distance, weights, mask and direction of one configuration; returns the distance */
static double check(const double x[12], int edge_edge)
{
    double w[4], r[3], n[3], grad[12], d, sum = 0, size = extent(x), truth = search(x, edge_edge), first;
    int mask, bits = 0;
    d = embi_closest_distance(points(x), edge_edge, w, &mask);
    ENSURE_CLOSE(d, truth, 2e-14 * size);
    for (int k = 0; k < 4; k++) {
        sum += w[k];
        bits += mask >> k & 1;
        ENSURE((mask >> k & 1) == (w[k] != 0));
        ENSURE((edge_edge ? k < 2 : k < 1) ? w[k] >= 0 && w[k] <= 1 : w[k] <= 0 && w[k] >= -1);
    }
    first = edge_edge ? w[0] + w[1] : w[0];
    ENSURE(bits >= 2 && mask > 0 && mask < 16);
    ENSURE_CLOSE(sum, 0, 1e-15);
    ENSURE_CLOSE(first, 1, 1e-15);
    embi_separation(points(x), w, r);
    ENSURE_CLOSE(embi_norm(r), d, 1e-13 * size);   /* the weights belong to the distance */
    embi_normal(points(x), w, mask, edge_edge, n);
    ENSURE_CLOSE(embi_norm(n), 1, 1e-14);
    ENSURE_CLOSE(embi_dot(n, r), d, 1e-13 * size);
    distance(x, edge_edge, grad);
    for (int k = 0; k < 12; k++) ENSURE_CLOSE(grad[k], w[k / 3] * n[k % 3], 1e-15);
    return d;
}

static void point_over(double x[12], double px, double py, double pz)
{
    embi_set(x, px, py, pz);
    memcpy(x + 3, T, sizeof T);
}
static int mask_of(const double x[12], int edge_edge)
{
    double w[4];
    int mask;
    (void)embi_closest_distance(points(x), edge_edge, w, &mask);
    return mask;
}

static void test_random_pairs(void)
{
    int seen[2][16] = {{0}};
    for (int i = 0; i < 20000; i++) {
        double x[12], offset = i % 5 ? 0 : 1e6, s = i % 3 ? 1 : 0.05;
        for (int k = 0; k < 12; k++) x[k] = offset + (k < 3 ? 1 : s) * test_uniform(-1, 1);
        check(x, i % 2);
        seen[i % 2][mask_of(x, i % 2)]++;
    }
    for (int b = 1; b < 4; b++) ENSURE(seen[0][1 | 1 << b] > 100);   /* every feature was met */
    ENSURE(seen[0][7] > 100 && seen[0][11] > 100 && seen[0][13] > 100 && seen[0][15] > 100);
    ENSURE(seen[1][5] > 100 && seen[1][9] > 100 && seen[1][6] > 100 && seen[1][10] > 100 && seen[1][15] > 100);
    ENSURE(seen[1][7] > 100 && seen[1][11] > 100 && seen[1][13] > 100 && seen[1][14] > 100);
}

/* corners of a grid: every degenerate and every border case in all combinations */
static void test_integer_grid(void)
{
    for (int i = 0; i < 30000; i++) {
        double x[12], s = i % 3 ? 1 : 0.1;
        int n = 1 + i % 4;
        for (int k = 0; k < 12; k++) x[k] = s * grid(n);
        if (i % 5 == 0) for (int k = 2; k < 12; k += 3) x[k] = 0;
        if (i % 10 == 1) for (int k = 1; k < 12; k++) if (k % 3) x[k] = 0;
        check(x, i / 2 % 2);
    }
}

/* slivers and nearly parallel edges, from harmless to thinner than rounding */
static void test_thin(void)
{
    for (int i = 0; i < 20000; i++) {
        double x[12], thin = pow(10, test_uniform(-20, 0)), at = i % 5 ? test_uniform(-0.3, 1.3) : 0;
        int edge_edge = i % 2;
        for (int k = 0; k < 12; k++) x[k] = test_uniform(-1, 1);
        for (int c = 0; c < 3; c++)
            x[9 + c] = edge_edge ? x[6 + c] + (at + 0.2) * (x[3 + c] - x[c]) + thin * test_uniform(-1, 1)
                                 : x[3 + c] + at * (x[6 + c] - x[3 + c]) + thin * test_uniform(-1, 1);
        if (i % 3 == 0)   /* and close to each other */
            for (int c = 0; c < 3; c++) {
                double q = 0.5 * (x[6 + c] + x[9 + c]), move = q - x[c] + pow(10, test_uniform(-12, -1)) * test_uniform(-1, 1);
                x[c] += move;
                if (edge_edge) x[3 + c] += move;
            }
        check(x, edge_edge);
    }
}

static void test_point_over_triangle(void)
{
    static const double height[] = {-10, -1, -1e-12, 0, 1e-12, 1, 10}, offset[] = {0, 1e-12, 1e-4, 1, 2, 11, 1000};
    double x[12];
    for (int h = 0; h < 7; h++) {
        static const double inside[] = {0, -1 + 1e-12, -1, 1, 1 - 1e-12};
        for (int k = 0; k < 5; k++) {
            point_over(x, 0, height[h], inside[k]);
            ENSURE_CLOSE(check(x, 0), fabs(height[h]), 1e-15 * fabs(height[h]));
        }
        for (int k = 0; k < 7; k++) {   /* beside the corners, and out from the sides */
            double d = offset[k], c = sqrt(0.5);
            point_over(x, -1 - d, height[h], 1);
            ENSURE_CLOSE(check(x, 0), hypot(d, height[h]), 4e-16 * (1 + d));
            point_over(x, 1 + d * c, height[h], 1 + d * c);
            ENSURE_CLOSE(check(x, 0), hypot(d, height[h]), 4e-16 * (1 + d));
            point_over(x, 0, height[h], -1 - d);
            ENSURE_CLOSE(check(x, 0), hypot(d, height[h]), 4e-16 * (1 + d));
            for (int n = 0; n < 7; n++) {
                static const double at[] = {0, 1e-4, 0.5, 1 - 1e-4, 1, 1e-8, 0.3};
                point_over(x, -1 + 2 * at[n], height[h], 1 + d);
                ENSURE_CLOSE(check(x, 0), hypot(d, height[h]), 4e-16 * (1 + d));
                if (d > 0 && at[n] > 0 && at[n] < 1) ENSURE(mask_of(x, 0) == 7);
            }
        }
    }
}

static void test_point_triangle_borders(void)
{
    static const double p[10][3] = {{2, .5, 1}, {2, 2, 1}, {.5, 2, 1}, {-1, 2, 1}, {-1, .5, 1}, {-1, -1, 1}, {.5, -1, 1},
        {2, -.5, 1}, {0.680375, -0.211234, 0.566198}, {-0.997497, 0.127171, -0.613392}};
    static const int mask[10] = {5, 13, 9, 9, 11, 3, 7, 5, 7, 11};
    static const double t[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    /* this one was once taken for another feature than the side t0 t1 */
    static const double thin[12] = {0.488166, 0.0132623, 0.289055, 0.456476, 0.0526442, 0.260834,
        0.609111, 0.0595969, 0.275928, 0.431262, 0.0508414, 0.255831};
    double x[12];
    memcpy(x + 3, t, sizeof t);
    for (int k = 0; k < 10; k++) {
        embi_copy(x, p[k]);
        check(x, 0);
        ENSURE(mask_of(x, 0) == mask[k]);
    }
    check(thin, 0);
    ENSURE(mask_of(thin, 0) == 7);
}

static void test_degenerate_triangles(void)
{
    double x[12] = {0, 1, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0}, same[12] = {3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, zero[12] = {0};
    double H[144];
    ENSURE_CLOSE(check(x, 0), 1, 1e-15);      /* collinear */
    x[9] = 1;
    ENSURE_CLOSE(check(x, 0), 1, 1e-15);      /* two equal */
    ENSURE_CLOSE(check(same, 0), 5, 1e-15);   /* three equal */
    ENSURE_CLOSE(check(zero, 0), 0, 0);
    ENSURE_CLOSE(check(zero, 1), 0, 0);
    embipc_point_triangle_hessian(same, H);
    ENSURE(embi_all_finite(H, 144));
}

static void test_edges_crossing_on_borders(void)
{
    static const double height[] = {-10, -1, -1e-4, 0, 1e-4, 1, 10};
    for (int h = 0; h < 7; h++)
        for (int i = 0; i < 15; i++)
            for (int j = 0; j < 15; j++) {
                double sx = (i / 5 - 1) * 2 + (i % 5 - 2) * 0.5, sz = (j / 5 - 1) * 2 + (j % 5 - 2) * 0.5, y = height[h];
                double x[12] = {sx - 1, y, sz, sx + 1, y, sz, 0, 0, -1, 0, 0, 1};
                double dx = fmax(0, fabs(sx) - 1), dz = fmax(0, fabs(sz) - 1);
                ENSURE_CLOSE(check(x, 1), sqrt(dx * dx + dz * dz + y * y), 1e-15 * (1 + fabs(y)));
            }
}

/* the end of one edge on the line of the other, at all foot points and distances, in all orders */
static void test_edge_end_on_line(void)
{
    for (int a = -10; a <= 20; a++)
        for (int s = -10; s <= 10; s++) {
            double e0[3], e1[3], u[3], n[3], v[3] = {0.3, -0.5, 0.8}, f0[3], f1[3], truth = 0;
            if (s == 0) continue;
            for (int c = 0; c < 3; c++) { e0[c] = test_uniform(-1, 1); e1[c] = test_uniform(-1, 1); }
            embi_sub(u, e1, e0);
            embi_cross(n, u, v);
            embi_scale(n, 1 / embi_norm(n), n);
            for (int c = 0; c < 3; c++) {
                f0[c] = e0[c] + 0.1 * a * u[c] + s * n[c];
                f1[c] = f0[c] + (s > 0 ? 2 : -2) * n[c];
            }
            for (int c = 0; c < 3; c++) {
                double q = f0[c] - (e0[c] + fmin(1, fmax(0, 0.1 * a)) * u[c]);
                truth += q * q;
            }
            for (int swap = 0; swap < 8; swap++) {
                double x[12];
                embi_copy(x + (swap & 4 ? 6 : 0) + (swap & 1 ? 3 : 0), e0);
                embi_copy(x + (swap & 4 ? 6 : 0) + (swap & 1 ? 0 : 3), e1);
                embi_copy(x + (swap & 4 ? 0 : 6) + (swap & 2 ? 3 : 0), f0);
                embi_copy(x + (swap & 4 ? 0 : 6) + (swap & 2 ? 0 : 3), f1);
                ENSURE_CLOSE(check(x, 1), sqrt(truth), 1e-14 * 14);
            }
        }
}

static void test_parallel_edges(void)
{
    static const double turn[] = {-2, -1.5, -1, -0.123124, 0, 0.2342352, 0.5, 1, 1.5, 2, 50, 51};
    static const double height[] = {-10, -1, -1e-4, 0, 1e-4, 1, 10}, gap[] = {0, .01, .1, 1};
    for (int i = 0; i < 2000; i++) {   /* shifted along and off themselves */
        double x[12], u[3], n[3], v[3] = {0.3, -0.5, 0.8}, a = test_uniform(0.01, 0.99), s = test_uniform(-5, 5);
        for (int k = 0; k < 6; k++) x[k] = test_uniform(-1, 1);
        embi_sub(u, x + 3, x);
        embi_cross(n, u, v);
        embi_scale(n, s / embi_norm(n), n);
        for (int k = 0; k < 6; k++) x[6 + k] = x[k] + a * u[k % 3] + n[k % 3];
        ENSURE_CLOSE(check(x, 1), fabs(s), 1e-14);
        ENSURE(mask_of(x, 1) != 15 || fabs(s) < 1e-3 || embi_edge_cross(points(x), NULL) > 0);
    }
    for (int h = 0; h < 7; h++)
        for (int k = 0; k < 12; k++) {
            double c = cos(3.14159265358979323846 * turn[k]), s = sin(3.14159265358979323846 * turn[k]), y = height[h];
            double x[12] = {-1, y, 0, 1, y, 0, -c, 0, -s, c, 0, s};
            ENSURE_CLOSE(check(x, 1), fabs(y), 1e-15 * fabs(y) + 1e-20);
        }
    for (int h = 0; h < 7; h++)        /* on one line with a gap */
        for (int g = 0; g < 4; g++) {
            double y = height[h], x[12] = {gap[g], y, 0, 1, y, 0, -1, 0, 0, -gap[g], 0, 0};
            ENSURE_CLOSE(check(x, 1), hypot(2 * gap[g], y), 1e-15 * (1 + fabs(y)));
        }
}

/* Four points on one line, but for rounding and a little more: the distance of two edges is that of their spans (they
 * have no normal that could tell one), and that of the points by their weights. */
static void test_collinear_edges(void)
{
    int apart = 0;
    for (int n = 0; n < 200000 / TEST_STRIDE; n++) {
        double o[3], e[3], at[4], x[12], w[4], q[3] = {0, 0, 0}, length, gap, d;
        double off = n % 3 ? pow(10, test_uniform(-17, -9)) : 0;
        embi_point p[4];
        int mask;
        for (int c = 0; c < 3; c++) {
            o[c] = test_uniform(-1, 1);
            e[c] = c == n % 4 ? 0 : test_uniform(-1, 1);   /* in planes along the axes, and anywhere */
        }
        length = embi_norm(e);
        for (int k = 0; k < 4; k++) {
            at[k] = test_uniform(-1, 1);
            p[k] = x + 3 * k;
            for (int c = 0; c < 3; c++) x[3 * k + c] = o[c] + at[k] * e[c] + off * test_uniform(-1, 1);
        }
        gap = length * fmax(0, fmax(fmin(at[0], at[1]) - fmax(at[2], at[3]), fmin(at[2], at[3]) - fmax(at[0], at[1])));
        d = embi_closest_distance(p, 1, w, &mask);
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 3; c++) q[c] += w[k] * x[3 * k + c];
        ENSURE(fabs(d - gap) < 4 * off + 1e-14);
        ENSURE(fabs(embi_norm(q) - d) < 1e-14);
        apart += gap > 0;
    }
    ENSURE(apart > 40000 / TEST_STRIDE);
}

/* coplanar, nearly collinear, disjoint: taken for crossing lines at distance 0 once */
static void test_nearly_collinear_edges(void)
{
    static const double L[] = {.1, .5, 1, 2}, g[] = {.05, .1, .2, .5}, e[] = {0, 1e-9, 1e-6};
    double x[12] = {0, 0.073941159961546266, 0.090909108519554152, 0, 0.073941161500775773, 0.272727280855178830,
                    0, 0.073941163540152718, 0.454545468091964780, 0, 0.073941167300585323, 0.636363625526428220};
    for (int k = 0; k < 12; k += 3) x[k] = -0.81818181276321411;
    ENSURE_CLOSE(check(x, 1), 0.454545468091964780 - 0.272727280855178830, 1e-15);
    ENSURE(mask_of(x, 1) == 6);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 3; k++) {
                double y[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
                y[4] = e[k]; y[5] = L[i]; y[7] = 2 * e[k]; y[8] = L[i] + g[j]; y[10] = 3 * e[k]; y[11] = 2 * L[i] + g[j];
                ENSURE_CLOSE(check(y, 1), hypot(e[k], g[j]), 1e-15);
            }
}

/* as large and as small as meshes may be; and beyond that, where a square overflows: on the safe side they touch */
static void test_scales(void)
{
    static const int exponent[] = {-132, -100, -60, -30, 30, 60, 100, 132};
    for (int i = 0; i < 4000; i++) {
        double x[12], y[12], w[4], v[4], d, s, gx[12], gy[12];
        int e = exponent[i % 8], m, l, edge_edge = i / 8 % 2;
        for (int k = 0; k < 12; k++) { x[k] = i % 3 ? test_uniform(-1, 1) : grid(2); y[k] = ldexp(x[k], e); }
        d = embi_closest_distance(points(x), edge_edge, w, &m);
        s = embi_closest_distance(points(y), edge_edge, v, &l);
        ENSURE_CLOSE(ldexp(s, -e), d, 1e-14);
        distance(x, edge_edge, gx);
        distance(y, edge_edge, gy);
        if (d > 1e-3 && m == l) for (int k = 0; k < 12; k++) ENSURE_CLOSE(gy[k], gx[k], 1e-10);
    }
    {
        double x[12] = {0, 1e-200, 0, -1, 0, 1, 1, 0, 1, 0, 0, -1}, grad[12];   /* a tiny gap over a large face */
        ENSURE_REL(distance(x, 0, grad), 1e-200, 1e-14);
        ENSURE_CLOSE(grad[1], 1, 1e-15);
        for (int k = 0; k < 12; k++) x[k] = k % 2 ? 1.7e308 : -1.7e308;         /* differences overflow */
        ENSURE(embi_point_triangle(points(x), grad, (int *)(grad + 8)) == 0 && grad[0] == 1);
        ENSURE(embi_edge_edge(points(x), grad, (int *)(grad + 8)) == 0 && grad[0] == 1);
        for (int n = 0; n < 100; n++) {
            double w[4];
            int mask;
            for (int k = 0; k < 12; k++) x[k] = n % 2 ? ldexp(test_uniform(-1, 1), 900) : k % 5 ? test_uniform(-1, 1) : NAN;
            ENSURE(embi_closest_distance(points(x), n / 2 % 2, w, &mask) == 0 && (mask == 3 || mask == 5));
        }
    }
}

/* direction at a gap far below the rounding of coordinates of size 1: the normal, not the difference of points */
static void test_direction_at_tiny_distance(void)
{
    for (int i = 0; i < 2000; i++) {
        double x[12], u[3], v[3], n[3], m[3], w[4], gap = pow(10, test_uniform(-15, -9)), s = test_random(), t = test_random();
        int mask, edge_edge = i % 2;
        for (int k = 3; k < 12; k++) x[k] = test_uniform(-1, 1);
        if (edge_edge) for (int c = 0; c < 3; c++) x[c] = test_uniform(-1, 1);
        if (edge_edge) { embi_sub(u, x + 3, x); embi_sub(v, x + 9, x + 6); }
        else { embi_sub(u, x + 6, x + 3); embi_sub(v, x + 9, x + 3); }
        embi_cross(n, u, v);
        if (embi_norm(n) < 0.1) continue;
        embi_scale(n, 1 / embi_norm(n), n);
        if (s + t > 1) { s = 1 - s; t = 1 - t; }
        for (int c = 0; c < 3; c++) {
            if (edge_edge) {
                double move = x[6 + c] + t * v[c] + gap * n[c] - x[c] - s * u[c];
                x[c] += move;
                x[3 + c] += move;
            } else x[c] = x[3 + c] + s * u[c] + t * v[c] + gap * n[c];
        }
        (void)embi_closest_distance(points(x), edge_edge, w, &mask);
        if (mask != 15) continue;
        embi_normal(points(x), w, mask, edge_edge, m);
        ENSURE_CLOSE(fabs(embi_dot(m, n)), 1, 1e-13);
        embi_cross(u, m, n);
        ENSURE(embi_norm(u) < 1e-13);
    }
}

/* worst difference of analytic derivatives and central differences; the feature must be the same at all points */
static void check_derivatives(const double x[12], int edge_edge, double h, double tol_gradient, double tol_hessian)
{
    double g[12], H[144], y[12], gp[12], gm[12], sum[3] = {0, 0, 0};
    int mask = mask_of(x, edge_edge), same = 1;
    for (int k = 0; k < 24; k++) {
        memcpy(y, x, sizeof y);
        y[k / 2] += k % 2 ? h : -h;
        same = same && mask_of(y, edge_edge) == mask;
    }
    if (!same) return;
    distance(x, edge_edge, g);
    if (edge_edge) embipc_edge_edge_hessian(x, H);
    else embipc_point_triangle_hessian(x, H);
    for (int k = 0; k < 12; k++) {
        double dp, dm, row[3] = {0, 0, 0};
        memcpy(y, x, sizeof y);
        y[k] = x[k] + h;
        dp = distance(y, edge_edge, gp);
        y[k] = x[k] - h;
        dm = distance(y, edge_edge, gm);
        ENSURE_CLOSE(g[k], (dp - dm) / (2 * h), tol_gradient);
        for (int l = 0; l < 12; l++) {
            ENSURE_CLOSE(H[12 * k + l], (gp[l] - gm[l]) / (2 * h), tol_hessian);
            ENSURE_CLOSE(H[12 * k + l], H[12 * l + k], 1e-9 * (1 + fabs(H[12 * k + l])));
            row[l % 3] += H[12 * k + l];
        }
        for (int c = 0; c < 3; c++) ENSURE_CLOSE(row[c], 0, 1e-9 * tol_hessian / 1e-6);   /* a common motion changes nothing */
        sum[k % 3] += g[k];
    }
    for (int c = 0; c < 3; c++) ENSURE_CLOSE(sum[c], 0, 1e-14);
}

static void test_derivatives_random(void)
{
    int features[2][16] = {{0}};
    for (int i = 0; i < 4000; i++) {
        double x[12], d, n[3], u[3], v[3];
        for (int k = 0; k < 12; k++) x[k] = test_uniform(-1, 1) + (i / 2 % 4 && k % 3 == 0 && (i % 2 ? k < 6 : k < 3) ? 1.5 : 0);
        d = distance(x, i % 2, NULL);
        embi_sub(u, x + (i % 2 ? 3 : 6), x + (i % 2 ? 0 : 3));
        embi_sub(v, x + 9, x + (i % 2 ? 6 : 3));
        embi_cross(n, u, v);
        if (d < 0.2 || embi_norm(n) < 0.3) continue;
        features[i % 2][mask_of(x, i % 2)]++;
        check_derivatives(x, i % 2, 1e-5, 2e-8, 3e-6);
    }
    ENSURE(features[0][15] > 20 && features[0][7] > 20 && features[0][3] > 20);
    ENSURE(features[1][15] > 20 && features[1][7] > 20 && features[1][5] > 20);
}

/* second derivatives stay finite where the gap closes over a face: what grows like 1/d cancels in the formula */
static void test_hessian_at_small_distance(void)
{
    for (int i = 0; i < 40; i++) {
        double x[12], H[144], d = pow(10, -i % 14), big = 0;
        point_over(x, 0.1, d, 0.2);
        embipc_point_triangle_hessian(x, H);
        for (int k = 0; k < 144; k++) big = fmax(big, fabs(H[k]));
        ENSURE(big < 10 && big > 0.1);
        if (d > 1e-3) check_derivatives(x, 0, 1e-5, 1e-8, 1e-6);
    }
}

/* edges at an angle of 10^k degrees at height 1 */
static void test_derivatives_nearly_parallel(void)
{
    for (int k = -6; k <= 1; k++) {
        double a = pow(10, k) * 3.14159265358979323846 / 180, g[12];
        double x[12] = {-1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0};
        x[6] = -cos(a); x[8] = -sin(a); x[9] = cos(a); x[11] = sin(a);
        ENSURE_CLOSE(distance(x, 1, g), 1, 1e-14);
        for (int c = 0; c < 4; c++) ENSURE_CLOSE(g[3 * c + 1], c < 2 ? 0.5 : -0.5, 1e-9 / a);
        if (k >= 0) check_derivatives(x, 1, 1e-6, 1e-8, 1e-3);
        else ENSURE(mask_of(x, 1) == 15);
    }
}

static void test_edge_cross_and_mollifier(void)
{
    for (int i = 0; i < 200; i++) {
        double x[12], g[12], h = 1e-6;
        for (int k = 0; k < 12; k++) x[k] = test_uniform(-1, 1);
        embi_edge_cross(points(x), g);
        for (int k = 0; k < 12; k++) {
            double y[12], p, m;
            memcpy(y, x, sizeof y);
            y[k] += h; p = embi_edge_cross(points(y), NULL);
            y[k] -= 2 * h; m = embi_edge_cross(points(y), NULL);
            ENSURE_CLOSE(g[k], (p - m) / (2 * h), 1e-7);
        }
    }
    static const double eps[] = {1e-3, .1, 1, 2}, ratio[] = {0, .5, 1, 2};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double c = eps[i] * ratio[j], dc, dp, dm, h = 1e-6 * eps[i], m = embi_mollifier(c, eps[i], &dc);
            ENSURE(m >= 0 && m <= 1 && (ratio[j] < 1 || m == 1));
            if (ratio[j] == 0) continue;
            ENSURE_CLOSE(dc * eps[i], (embi_mollifier(c + h, eps[i], &dp) - embi_mollifier(c - h, eps[i], &dm)) / 2e-6, 1e-6);
        }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(random_pairs);
    RUN(integer_grid);
    RUN(thin);
    RUN(point_over_triangle);
    RUN(point_triangle_borders);
    RUN(degenerate_triangles);
    RUN(edges_crossing_on_borders);
    RUN(edge_end_on_line);
    RUN(parallel_edges);
    RUN(collinear_edges);
    RUN(nearly_collinear_edges);
    RUN(scales);
    RUN(direction_at_tiny_distance);
    RUN(derivatives_random);
    RUN(hessian_at_small_distance);
    RUN(derivatives_nearly_parallel);
    RUN(edge_cross_and_mollifier);
    return test_end("test_distance");
}
