/* How polygons are cut: triangles that fill the polygon exactly, whatever its shape, and in good time. */
#include "../embipc.h"
#include "test.h"
#include "exact.h"
#include "../tools/common.h"
#include "../tools/polygon.h"
#include <time.h>

enum { MOST = 40000 };

/* A polygon in the plane with whole coordinates: areas of it and of its triangles are exact. */
typedef struct flat_polygon {
    int n;
    int corner[MOST];        /* the point of each corner: points may be used twice */
    int u[MOST], v[MOST];    /* points */
} flat_polygon;

static flat_polygon shape;
static double space[3 * MOST];
static int cut[3 * MOST];

static void put(int point, int u, int v)
{
    shape.u[point] = u;
    shape.v[point] = v;
}
static void add(int u, int v)
{
    put(shape.n, u, v);
    shape.corner[shape.n] = shape.n;
    shape.n++;
}

/* twice the area of three points */
static long long area(int a, int b, int c)
{
    return (long long)(shape.u[b] - shape.u[a]) * (shape.v[c] - shape.v[a]) -
           (long long)(shape.v[b] - shape.v[a]) * (shape.u[c] - shape.u[a]);
}
static long long area_of_all(void)
{
    long long sum = 0;
    for (int i = 1; i + 1 < shape.n; i++) sum += area(shape.corner[0], shape.corner[i], shape.corner[i + 1]);
    return sum;
}

static int compare(const void *a, const void *b)
{
    const int *p = (const int *)a, *q = (const int *)b;
    return p[0] != q[0] ? (p[0] > q[0] ? 1 : -1) : (p[1] > q[1]) - (p[1] < q[1]);
}

/* Each edge of the triangles, but for pairs of opposite ones, is an edge of the polygon, and the other way round. */
static int border_is_right(int count)
{
    static int edge[6 * MOST * 2];
    int n = 0, ok = 1;
    for (int t = 0; t < count; t++)
        for (int k = 0; k < 3; k++) {
            edge[2 * n] = cut[3 * t + k];
            edge[2 * n++ + 1] = cut[3 * t + (k + 1) % 3];
        }
    for (int i = 0; i < shape.n; i++) {   /* turned, so that it cancels */
        edge[2 * n] = shape.corner[(i + 1) % shape.n];
        edge[2 * n++ + 1] = shape.corner[i];
    }
    qsort(edge, (size_t)n, 2 * sizeof *edge, compare);
    for (int i = 0; i < n;) {   /* as many of each edge as of its opposite */
        int j = i, opposite[2], others = 0;
        const int *found;
        while (j < n && compare(edge + 2 * i, edge + 2 * j) == 0) j++;
        opposite[0] = edge[2 * i + 1];
        opposite[1] = edge[2 * i];
        found = (const int *)bsearch(opposite, edge, (size_t)n, 2 * sizeof *edge, compare);
        if (found) {
            const int *at = found;
            while (at > edge && compare(at - 2, opposite) == 0) at -= 2;
            for (; at < edge + 2 * n && compare(at, opposite) == 0; at += 2) others++;
        }
        ok &= others == j - i;
        i = j;
    }
    return ok;
}

/* The triangles of this polygon, seen along any axis and in either sense, all turn with it and add up to it: then
 * they cover what it winds round, and nothing twice. Returns their number. */
static int fills(polygon_cutter *k)
{
    static const int plane[4][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 1, 0, 2 } };
    int first = 0;
    for (int w = 0; w < 4; w++) {
        long long sum = 0;
        int count, bad = 0;
        for (int i = 0; i < MOST && i < 2 * shape.n; i++) {   /* tilted, but the axis of the normal stays the same */
            space[3 * i + plane[w][0]] = shape.u[i];
            space[3 * i + plane[w][1]] = shape.v[i];
            space[3 * i + plane[w][2]] = w == 1 ? 0.5 * shape.u[i] - 0.25 * shape.v[i] : 7;
        }
        count = polygon_cut(k, space, shape.corner, shape.n, cut);
        ENSURE(count == shape.n - 2);
        for (int t = 0; t < count; t++) {
            long long one = area(cut[3 * t], cut[3 * t + 1], cut[3 * t + 2]);
            bad += one <= 0;
            sum += one;
        }
        ENSURE(bad == 0);
        ENSURE(sum == area_of_all());
        ENSURE(border_is_right(count));
        if (w == 0) first = count;
        else ENSURE(count == first);
    }
    return first;
}

/* The angle of a triangle at its corner k. */
static double angle(const int *t, int k)
{
    int a = t[k], b = t[(k + 1) % 3], c = t[(k + 2) % 3];
    double bu = shape.u[b] - shape.u[a], bv = shape.v[b] - shape.v[a];
    double cu = shape.u[c] - shape.u[a], cv = shape.v[c] - shape.v[a];
    return atan2(fabs(bu * cv - bv * cu), bu * cu + bv * cv);
}

/* No edge between two triangles is faced by angles of more than half a turn together: a flip would not help. */
static int is_delaunay(int count)
{
    int ok = 1;
    for (int e = 0; e < 3 * count; e++)
        for (int f = 0; f < e; f++) {
            const int *s = cut + e - e % 3, *t = cut + f - f % 3;
            if (s[e % 3] != t[(f + 1) % 3] || s[(e + 1) % 3] != t[f % 3]) continue;
            ok &= angle(s, (e + 2) % 3) + angle(t, (f + 2) % 3) <= 3.141592653589793 + 1e-9;
        }
    return ok;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void test_small(void)
{
    static const int square[] = { 0, 1, 2, 0, 2, 3 }, dart[] = { 1, 2, 3, 1, 3, 0 };
    polygon_cutter k;
    memset(&k, 0, sizeof k);
    shape.n = 0;
    add(0, 0); add(4, 0); add(4, 4); add(0, 4);
    ENSURE(fills(&k) == 2 && memcmp(cut, square, sizeof square) == 0);
    put(2, 1, 1);   /* now concave at 2: the diagonal from 0 is inside */
    ENSURE(fills(&k) == 2 && memcmp(cut, square, sizeof square) == 0);
    put(2, 4, 4);
    put(1, 1, 2);   /* concave at 1: only the other one is */
    ENSURE(fills(&k) == 2 && memcmp(cut, dart, sizeof dart) == 0);
    put(1, 2, 0);   /* 1 is in the middle of a side of a triangle */
    put(2, 4, 0);
    ENSURE(fills(&k) == 2 && memcmp(cut, dart, sizeof dart) == 0);
    shape.n = 0;
    add(0, 0); add(2, 0); add(2, 1); add(1, 1); add(1, 2); add(0, 2);
    ENSURE(fills(&k) == 4);
    polygon_free(&k);
}

/* A quad whose first diagonal makes a triangle that is nothing but rounding takes the other one. */
static void test_sliver(void)
{
    static const int quad[4] = { 0, 1, 2, 3 }, other[] = { 1, 2, 3, 1, 3, 0 };
    double x[12] = { 0, 0, 0, 0.5, -1e-17, 0, 1, 0, 0, 0, 1, 0 };
    int tri[6];
    polygon_cutter k;
    memset(&k, 0, sizeof k);
    ENSURE(polygon_cut(&k, x, quad, 4, tri) == 2 && memcmp(tri, other, sizeof other) == 0);
    polygon_free(&k);
}

/* Corners named twice in a row, and spikes, are left out; nothing is left of what has no inside. */
static void test_repeats(void)
{
    static const int corner[][10] = { { 0, 1, 2, 2 }, { 0, 0, 1, 2, 3, 3 }, { 0, 1, 0 }, { 0, 1, 2, 1 },
                                      { 2, 1, 2, 3, 0, 1 }, { 0, 0, 0, 0 }, { 1, 2, 3, 0, 1, 0 },
                                      { 0, 1, 2, 3, 2, 3, 2, 1 } };
    static const int n[] = { 4, 6, 3, 4, 6, 4, 6, 8 }, triangles[] = { 1, 2, 0, 0, 2, 0, 2, 0 };
    polygon_cutter k;
    memset(&k, 0, sizeof k);
    shape.n = 0;
    add(0, 0); add(4, 0); add(4, 4); add(0, 4);
    for (int i = 0; i < 12; i++) space[i] = i % 3 == 0 ? shape.u[i / 3] : i % 3 == 1 ? shape.v[i / 3] : 0;
    for (size_t c = 0; c < sizeof n / sizeof *n; c++) {
        int count = polygon_cut(&k, space, corner[c], n[c], cut);
        if (count != triangles[c]) printf("  list %d: %d triangles\n", (int)c, count);
        ENSURE(count == triangles[c]);
        for (int t = 0; t < count; t++) ENSURE(area(cut[3 * t], cut[3 * t + 1], cut[3 * t + 2]) > 0);
    }
    polygon_free(&k);
}

/* Triangles that meet in one corner, which their polygon names again and again: no more triangles than these. */
static void test_flower(void)
{
    polygon_cutter k;
    memset(&k, 0, sizeof k);
    for (int petals = 2; petals < 40; petals++) {
        long long sum = 0;
        int count;
        shape.n = 0;
        for (int i = 0; i < petals; i++) {
            shape.corner[shape.n++] = 0;
            for (int j = 0; j < 2; j++) {
                double turn = 6.283185307179586 * (i + 0.5 * j) / petals;
                int point = 2 * i + j + 1;
                put(point, (int)(1e4 * cos(turn)), (int)(1e4 * sin(turn)));
                shape.corner[shape.n++] = point;
            }
        }
        put(0, 0, 0);
        for (int i = 0; i < 3 * (2 * petals + 1); i++)
            space[i] = i % 3 == 0 ? shape.u[i / 3] : i % 3 == 1 ? shape.v[i / 3] : 0;
        count = polygon_cut(&k, space, shape.corner, shape.n, cut);
        ENSURE(count == petals);
        for (int t = 0; t < count; t++) sum += area(cut[3 * t], cut[3 * t + 1], cut[3 * t + 2]);
        ENSURE(sum == area_of_all());
        for (int t = 0; t < count; t++) ENSURE(area(cut[3 * t], cut[3 * t + 1], cut[3 * t + 2]) > 0);
        ENSURE(border_is_right(count));
    }
    polygon_free(&k);
}

/* Corners on a straight line, but for the rounding of their coordinates: only exact signs tell on which side. */
static void test_rounding(void)
{
    polygon_cutter k;
    memset(&k, 0, sizeof k);
    for (int i = 0; i < 300; i++) {
        int n = 10 + i % 30, corner[64], count;
        double slope = test_uniform(-3, 3), step = test_random(), x[3 * 64];
        for (int j = 0; j < n; j++) {   /* there along the line, and back by one corner far from it */
            corner[j] = j;
            x[3 * j] = j + 1 == n ? 0.5 * n * step : step * (double)j / 3;
            x[3 * j + 1] = slope * x[3 * j] + (j + 1 == n ? 1 : 0);
            x[3 * j + 2] = 0;
        }
        count = polygon_cut(&k, x, corner, n, cut);
        ENSURE(count == n - 2);
        for (int t = 0; t < count; t++) {
            double y[12];
            for (int j = 0; j < 9; j++) y[j] = x[3 * cut[3 * t + j / 3] + j % 3];
            for (int j = 0; j < 3; j++) y[9 + j] = y[j] + (j == 2);
            ENSURE(exact_orient3d_sign(y) > 0);
        }
    }
    polygon_free(&k);
}

/* A corner that touches a side in its middle: one triangle is flat, the others fill both halves. */
static void test_touching(void)
{
    polygon_cutter k;
    long long sum = 0;
    int flat = 0;
    memset(&k, 0, sizeof k);
    shape.n = 0;
    add(8, 0); add(0, 0); add(2, -2); add(4, 0); add(6, -3); add(9, -1);
    for (int i = 0; i < 18; i++) space[i] = i % 3 == 0 ? shape.u[i / 3] : i % 3 == 1 ? shape.v[i / 3] : 0;
    ENSURE(polygon_cut(&k, space, shape.corner, shape.n, cut) == 4);
    for (int t = 0; t < 4; t++) {
        long long one = area(cut[3 * t], cut[3 * t + 1], cut[3 * t + 2]);
        ENSURE(one >= 0);
        flat += one == 0;
        sum += one;
    }
    ENSURE(flat == 1 && sum == area_of_all() && border_is_right(4));
    polygon_free(&k);
}

/* ---- Blobs of squares: many corners on straight lines, and corners that touch ---- */

enum { BLOB = 40 };
static unsigned char blob[BLOB][BLOB];

static int blob_at(int i, int j) { return i >= 0 && j >= 0 && i < BLOB && j < BLOB && blob[i][j]; }

/* Squares that grow at random from the middle, side by side; without holes when holes are filled. */
static void blob_grow(int squares)
{
    memset(blob, 0, sizeof blob);
    blob[BLOB / 2][BLOB / 2] = 1;
    while (squares > 0) {
        int i = 1 + (int)((BLOB - 2) * test_random()), j = 1 + (int)((BLOB - 2) * test_random());
        if (blob[i][j] || !(blob_at(i - 1, j) || blob_at(i + 1, j) || blob_at(i, j - 1) || blob_at(i, j + 1))) continue;
        blob[i][j] = 1;
        squares--;
    }
}

/* Fills what cannot be reached from outside by sides. */
static void blob_fill(void)
{
    static unsigned char outside[BLOB][BLOB];
    int changed = 1;
    memset(outside, 0, sizeof outside);
    while (changed) {
        changed = 0;
        for (int i = 0; i < BLOB; i++)
            for (int j = 0; j < BLOB; j++) {
                int edge = i == 0 || j == 0 || i == BLOB - 1 || j == BLOB - 1;
                if (outside[i][j] || blob[i][j]) continue;
                if (edge || outside[i - 1][j] || outside[i + 1][j] || outside[i][j - 1] || outside[i][j + 1])
                    outside[i][j] = 1, changed = 1;
            }
    }
    for (int i = 0; i < BLOB; i++)
        for (int j = 0; j < BLOB; j++) blob[i][j] = !outside[i][j];
}

/* Walks round the blob with it on the left; where four squares meet in a point and two of them, corner to corner,
 * are in it, the walk stays with its square. Corners in one place are one point when `shared`. */
static void blob_border(int shared)
{
    static const int du[4] = { 1, 0, -1, 0 }, dv[4] = { 0, 1, 0, -1 };
    static int seen[BLOB + 1][BLOB + 1];
    int u, v, way = 0, u0, v0;
    for (u = 0; u <= BLOB; u++)
        for (v = 0; v <= BLOB; v++) seen[u][v] = -1;
    for (u0 = 0, v0 = 0; !blob_at(u0, v0);)
        if (++u0 == BLOB) { u0 = 0; v0++; }
    shape.n = 0;
    u = u0;
    v = v0;
    do {
        int point = shared && seen[u][v] >= 0 ? seen[u][v] : shape.n;
        put(point, u, v);
        seen[u][v] = point;
        shape.corner[shape.n++] = point;
        u += du[way];
        v += dv[way];
        for (int turn = 1; turn >= -1; turn--) {   /* left first: stays with its square */
            int w = (way + turn + 4) % 4;
            int left_u = w == 0 || w == 3 ? u : u - 1, left_v = w == 0 || w == 1 ? v : v - 1;
            int right_u = w == 0 || w == 1 ? u : u - 1, right_v = w == 1 || w == 2 ? v : v - 1;
            if (!blob_at(left_u, left_v) || blob_at(right_u, right_v)) continue;
            way = w;
            break;
        }
    } while (u != u0 || v != v0 || way != 0);
}

static void test_blobs(void)
{
    polygon_cutter k;
    memset(&k, 0, sizeof k);
    for (int i = 0; i < 400; i++) {
        blob_grow(1 + (int)(500 * test_random()));
        blob_fill();
        blob_border(i % 2);
        ENSURE(fills(&k) > 0);
        if (i % 2 == 0 && i < 100) ENSURE(is_delaunay(shape.n - 2));
        if (test_bad) break;
    }
    polygon_free(&k);
}

/* ---- Holes, joined to the outer border by bridges: pairs of edges that lie on each other ---- */

/* The corners of hole h from its entry, clockwise; the one at `exit` leads on to the next hole, and back. */
static void keyhole_walk(int h, int holes, const int *first, const int *count, const int *entry, const int *leave)
{
    for (int i = 0; i <= count[h]; i++) {
        int at = (entry[h] + i) % count[h];
        shape.corner[shape.n++] = first[h] + at;
        if (at != leave[h] || (i == count[h] && at == leave[h]) || h + 1 == holes) continue;
        keyhole_walk(h + 1, holes, first, count, entry, leave);
        shape.corner[shape.n++] = first[h] + at;
    }
}

/* A box with a row of star-shaped holes; every bridge leads from the point of a hole farthest to the right to the
 * one of the next that is farthest to the left. */
static void keyhole_make(int holes)
{
    int first[64], count[64], entry[64], leave[64], points = 0;
    for (int h = 0; h < holes; h++) {
        first[h] = points;
        count[h] = 3 + (int)(9 * test_random());
        entry[h] = leave[h] = 0;
        for (int i = 0; i < count[h]; i++) {
            double turn = -6.283185307179586 * i / count[h], r = test_uniform(100, 400);
            put(points, 1000 * h + 500 + (int)(r * cos(turn)), 500 + (int)(r * sin(turn)));
            if (shape.u[points] < shape.u[first[h] + entry[h]]) entry[h] = i;
            if (shape.u[points] > shape.u[first[h] + leave[h]]) leave[h] = i;
            points++;
        }
    }
    put(points, 0, 0);
    put(points + 1, 1000 * holes, 0);
    put(points + 2, 1000 * holes, 1000);
    put(points + 3, 0, 1000);
    shape.n = 0;
    for (int i = 0; i < 4; i++) shape.corner[shape.n++] = points + i;
    shape.corner[shape.n++] = points;
    keyhole_walk(0, holes, first, count, entry, leave);
}

/* With corners that share points, and with points of their own in the same places. */
static void test_holes(void)
{
    polygon_cutter k;
    memset(&k, 0, sizeof k);
    for (int i = 0; i < 400 && !test_bad; i++) {
        keyhole_make(1 + i % 20);
        ENSURE(fills(&k) > 0);
    }
    polygon_free(&k);
}

/* ---- Polygons that meet themselves, or have no inside ---- */

/* Points at random on a small lattice, most of them used twice; huge and tiny ones, all on a line, all in one place:
 * as many triangles as there must be, with the right border. */
static void test_wild(void)
{
    polygon_cutter k;
    clock_t start;
    memset(&k, 0, sizeof k);
    for (int i = 0; i < 4000; i++) {
        static const double scale[] = { 1, 1e-9, 1e150, 1e-150, 1e300, 1e-300 };
        int size = 1 + i % 9, count, flat = i % 7 == 0;
        double by = scale[i % 6];
        shape.n = 0;
        for (int n = 3 + (int)(60 * test_random()); n > 0; n--) {
            int u = (int)(size * test_random()), v = flat ? 2 * u : (int)(size * test_random());
            if (i % 2) add(u, v);   /* points of their own */
            else {                  /* one point for each place */
                put(u * size + v % size, u, v);
                shape.corner[shape.n++] = u * size + v % size;
            }
        }
        for (int j = 0; j < 100; j++) {
            space[3 * j] = by * shape.u[j];
            space[3 * j + 1] = by * shape.v[j];
            space[3 * j + 2] = i % 3 ? 0 : by * test_random();
        }
        count = polygon_cut(&k, space, shape.corner, shape.n, cut);
        ENSURE(count <= shape.n - 2 && (i % 2 == 0 || count == shape.n - 2));
        ENSURE(border_is_right(count));
    }
    shape.n = 0;   /* a tangle of long edges takes no longer than a polygon */
    for (int i = 0; i < 20000; i++) add((int)(1e8 * test_random()), (int)(1e8 * test_random()));
    for (int i = 0; i < 3 * shape.n; i++) space[i] = i % 3 == 0 ? shape.u[i / 3] : i % 3 == 1 ? shape.v[i / 3] : 0;
    start = clock();
    ENSURE(polygon_cut(&k, space, shape.corner, shape.n, cut) == shape.n - 2);
    ENSURE((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    polygon_free(&k);
}

/* ---- Large ones ------------------------------------------------------------------------------ */

enum { LARGE = 20000 / TEST_STRIDE };

static void round_shape(double r0, double r1, double turns)   /* from r0 to r1 and back, at a tenth of a turn's width */
{
    int half = turns > 0 ? LARGE / 2 : LARGE;
    shape.n = 0;
    for (int i = 0; i < LARGE; i++) {
        int back = i >= half, at = back ? LARGE - 1 - i : i;
        double t = (double)at / half, turn = 6.283185307179586 * (turns > 0 ? turns : 1) * t;
        double r = turns > 0 ? r0 + (r1 - r0) * t + (back ? -0.3 : 0.3) * (r1 - r0) / turns : test_uniform(r0, r1);
        add((int)(r * cos(turn)), (int)(r * sin(turn)));
    }
}

/* Teeth, upright or leaning, with their roots at one height or at random ones. */
static void comb_shape(int lean, int uneven)
{
    shape.n = 0;
    add(-1000, -1000000);
    add(1000 * (LARGE / 2) + 1000, -1000000);
    for (int i = LARGE / 2 - 1; i > 0; i--) {
        add(1000 * i + 500, 9000000);
        add(1000 * i, uneven ? -(int)(900000 * test_random()) : 0);
    }
    for (int i = 0; i < shape.n; i++) shape.u[i] += lean ? shape.v[i] / 3 : 0;
}

/* A square with slits from either side by turns, turned by 45 degrees: every run of its border spans the whole. */
static void snake_shape(void)
{
    int lanes = LARGE / 4, far = 5000000;
    shape.n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 1; i < lanes; i++) {
            int lane = pass ? lanes - i : i, t = 1000 * lane, w = pass ? -150 : 150;
            if (lane % 2 == pass) continue;
            add((pass ? 0 : far), t - w);
            add((pass ? far - 500 : 500), t - w);
            add((pass ? far - 500 : 500), t + w);
            add((pass ? 0 : far), t + w);
            if (i + 2 >= lanes) add(pass ? 0 : far, pass ? 0 : 1000 * lanes);   /* the corners of the square */
            if (i + 2 >= lanes) add(pass ? far : 0, pass ? 0 : 1000 * lanes);
        }
    for (int i = 0; i < shape.n; i++) put(i, shape.u[i] - shape.v[i], shape.u[i] + shape.v[i]);
}

static void large(const char *name, polygon_cutter *k)
{
    clock_t start = clock();
    double seconds;
    int count;
    if (area_of_all() < 0)
        for (int i = 0; i < shape.n / 2; i++) {
            int swap = shape.corner[i];
            shape.corner[i] = shape.corner[shape.n - 1 - i];
            shape.corner[shape.n - 1 - i] = swap;
        }
    for (int i = 0; i < shape.n; i++) {
        space[3 * i] = shape.u[i];
        space[3 * i + 1] = shape.v[i];
        space[3 * i + 2] = 0;
    }
    start = clock();
    count = polygon_cut(k, space, shape.corner, shape.n, cut);
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("  %-14s %6d corners, %.3f s\n", name, shape.n, seconds);
    ENSURE(count == shape.n - 2 && seconds < 5);
    ENSURE(fills(k) == shape.n - 2);
}

static void test_large(void)
{
    polygon_cutter k;
    memset(&k, 0, sizeof k);
    round_shape(1e8, 1e8, 0);
    large("circle", &k);
    round_shape(1e6, 1e8, 0);
    large("star", &k);
    round_shape(1e7, 1e8, 3);
    large("spiral", &k);
    round_shape(1e7, 1e8, 100);
    large("wound spiral", &k);
    comb_shape(0, 0);
    large("comb", &k);
    comb_shape(1, 1);
    large("leaning comb", &k);
    snake_shape();
    large("snake", &k);
    polygon_free(&k);
}

int main(int argc, char **argv)
{
    test_unused();
    exact_unused();
    test_begin(argc, argv);
    RUN(small);
    RUN(sliver);
    RUN(repeats);
    RUN(flower);
    RUN(touching);
    RUN(rounding);
    RUN(blobs);
    RUN(holes);
    RUN(wild);
    RUN(large);
    return test_end(__FILE__);
}
