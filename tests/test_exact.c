/* Exact predicates against integers of any length (exact.h). */
#include "inside.h"
#include "test.h"
#include "exact.h"

static int grid(int n) { return (int)(test_random() * (2 * n + 1)) - n; }

/* the four points at x + 3 i: library against oracle */
static void check_orient3d(const double x[12])
{
    int truth = exact_orient3d_sign(x);
    ENSURE(embipc_orient3d(x, x + 3, x + 6, x + 9) == truth);
    ENSURE(embi_orient3d_exact(x, x + 3, x + 6, x + 9) == truth);
    ENSURE(embipc_orient3d(x + 3, x, x + 6, x + 9) == -truth);
}

static void test_two_product_is_exact(void)
{
    static big a, b, c, p;
    for (int n = 0; n < 20000; n++) {
        double x = ldexp(test_uniform(-1, 1), grid(40)), y = ldexp(test_uniform(-1, 1), grid(40)), err, pr, e2;
        if (n % 3 == 0) { x = (double)(1 << (n % 20)) + ldexp(1, -20); y = nextafter(1.0, 2); }
        pr = embi_two_product(x, y, &err);
        ENSURE(pr == x * y);
        big_from_double(&a, x, 200); big_from_double(&b, y, 200); big_mul(&p, &a, &b);
        big_from_double(&a, pr, 400); big_from_double(&b, err, 400); big_add(&c, &a, &b, 1);
        ENSURE(c.sign == p.sign && big_cmp_size(&c, &p) == 0);
        pr = embi_two_sum(x, y, &e2);
        big_from_double(&a, x, 200); big_from_double(&b, y, 200); big_add(&p, &a, &b, 1);
        big_from_double(&a, pr, 200); big_from_double(&b, e2, 200); big_add(&c, &a, &b, 1);
        ENSURE(c.sign == p.sign && big_cmp_size(&c, &p) == 0);
    }
}

static void test_orient3d_known(void)
{
    double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, c[3] = {0, 1, 0}, up[3] = {0, 0, 1e-300}, nan3[3] = {0, 0, 0};
    ENSURE(embipc_orient3d(a, b, c, up) == 1);
    ENSURE(embipc_orient3d(a, c, b, up) == -1);
    ENSURE(embipc_orient3d(a, b, c, b) == 0);
    nan3[1] = (double)NAN;
    ENSURE(embipc_orient3d(a, b, c, nan3) == 0);
}

static void test_orient3d_random(void)
{
    for (int n = 0; n < 4000; n++) {
        double x[12], s = ldexp(1, grid(250));
        for (int k = 0; k < 12; k++) x[k] = s * test_uniform(-1, 1);
        check_orient3d(x);
    }
}

/* d on the plane of a, b, c up to rounding, then a few ulps beside it: the filter cannot tell */
static void test_orient3d_near_coplanar(void)
{
    int zero = 0;
    for (int n = 0; n < 6000; n++) {
        double x[12], s = test_uniform(-1, 2), t = test_uniform(-1, 2), offset = n % 3 ? 0 : 1e6;
        for (int k = 0; k < 9; k++) x[k] = offset + test_uniform(-1, 1);
        if (n % 2) for (int k = 0; k < 9; k++) x[k] = offset + grid(8) * 0.125;
        for (int k = 0; k < 3; k++) {
            x[9 + k] = x[k] + s * (x[3 + k] - x[k]) + t * (x[6 + k] - x[k]);
            for (int u = grid(2); u > 0; u--) x[9 + k] = nextafter(x[9 + k], 10);
        }
        zero += exact_orient3d_sign(x) == 0;
        check_orient3d(x);
    }
    ENSURE(zero > 10);
}

static void test_orient3d_grid(void)
{
    int zero = 0;
    for (int n = 0; n < 4000; n++) {
        double x[12], s = n % 2 ? 0.1 : 1, o = n % 3 ? 0 : 1.0 / 3;   /* 0.1 i + 1/3 is not on a grid any more */
        for (int k = 0; k < 12; k++) x[k] = s * grid(2) + o;
        zero += exact_orient3d_sign(x) == 0;
        check_orient3d(x);
    }
    ENSURE(zero > 400);
}

/* coordinates of very different size, subnormal ones, and tiny and huge scenes: no under- or overflow */
static void test_orient3d_scales(void)
{
    for (int n = 0; n < 4000; n++) {
        double x[12];
        static const int scale[] = {-800, -345, -340, 0, 800};
        int base = scale[n % 5];
        for (int k = 0; k < 12; k++) x[k] = ldexp(test_uniform(-1, 1), base + grid(100));
        if (n % 3 == 0) {   /* nearly coplanar, where the products of the filter fall off the end of the range */
            for (int k = 0; k < 9; k++) x[k] = ldexp(test_uniform(-1, 1), base - n % 16);
            for (int k = 0; k < 3; k++) x[9 + k] = x[k] + 0.3 * (x[3 + k] - x[k]) + 0.4 * (x[6 + k] - x[k]);
        }
        if (n % 4 == 0) for (int k = 0; k < 12; k++) x[k] = ldexp((double)grid(5), -1074 + grid(1) * (grid(1) > 0));
        check_orient3d(x);
    }
}

static void test_orient2d(void)
{
    for (int n = 0; n < 6000; n++) {
        double x[9];
        int axis = n % 3, truth;
        static exact_points q;
        static moment t;
        for (int k = 0; k < 9; k++) x[k] = n % 2 ? grid(3) * 0.1 : ldexp(test_uniform(-1, 1), grid(300));
        if (n % 4 == 0)
            for (int k = 0; k < 3; k++) x[6 + k] = x[k] + 0.7 * (x[3 + k] - x[k]);
        exact_points_set(&q, 3, x, NULL, 0);
        moment_now(&t);
        truth = exact_turn(&q, &t, 0, 1, 2, axis);
        ENSURE(embi_orient2d(x, x + 3, x + 6, axis, (axis + 1) % 3) == truth);
    }
}

static void check_segment_triangle(const double x[15], int count[2])
{
    int truth = exact_segment_triangle_meet(x);
    count[truth]++;
    ENSURE(embipc_segment_triangle_intersect(x) == truth);
}

static void test_segment_triangle_grid(void)
{
    int count[2] = {0, 0};
    for (int n = 0; n < 30000; n++) {
        double x[15];
        int size = 1 + n % 3;
        for (int k = 0; k < 15; k++) x[k] = grid(size);
        if (n % 5 == 0) for (int k = 2; k < 15; k += 3) x[k] = 0;                            /* one plane */
        if (n % 5 == 1) for (int k = 2; k < 15; k += 3) x[k] = x[k - 1] + 2 * x[k - 2];      /* one slanted plane */
        if (n % 5 == 2) for (int k = 0; k < 3; k++) x[12 + k] = 2 * x[9 + k] - x[6 + k];     /* no area */
        if (n % 25 == 3) for (int k = 0; k < 15; k++) x[k] = (k % 3 + 1) * x[k - k % 3];     /* one line */
        check_segment_triangle(x, count);
    }
    ENSURE(count[0] > 5000 && count[1] > 5000);
}

/* a segment that ends on the triangle, or passes through its side or corner, up to rounding */
static void test_segment_triangle_near(void)
{
    int count[2] = {0, 0};
    for (int n = 0; n < 10000; n++) {
        double x[15], u = test_uniform(-0.2, 1.2), v = test_uniform(-0.2, 1.2), s = test_uniform(0, 2), hit[3];
        double offset = n % 2 ? 0 : 1e6;
        for (int k = 0; k < 15; k++) x[k] = offset + test_uniform(-1, 1);
        if (n % 4 == 1) v = 0;
        if (n % 4 == 2) u = v = 0;
        if (n % 3 == 0) s = 1;
        for (int k = 0; k < 3; k++) {
            hit[k] = x[6 + k] + u * (x[9 + k] - x[6 + k]) + v * (x[12 + k] - x[6 + k]);
            x[3 + k] = x[k] + s * (hit[k] - x[k]);
        }
        check_segment_triangle(x, count);
    }
    ENSURE(count[0] > 1000 && count[1] > 1000);
}

static void test_segment_triangle_not_finite(void)
{
    for (int k = 0; k < 15; k++) {
        double x[15] = {0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0};
        ENSURE(embipc_segment_triangle_intersect(x) == 0);
        x[k] = k % 2 ? HUGE_VAL : (double)NAN;
        ENSURE(embipc_segment_triangle_intersect(x) == 1);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(two_product_is_exact);
    RUN(orient3d_known);
    RUN(orient3d_random);
    RUN(orient3d_near_coplanar);
    RUN(orient3d_grid);
    RUN(orient3d_scales);
    RUN(orient2d);
    RUN(segment_triangle_grid);
    RUN(segment_triangle_near);
    RUN(segment_triangle_not_finite);
    return test_end("test_exact");
}
