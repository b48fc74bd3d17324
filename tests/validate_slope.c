/* The block of test_slope.c, of 1 mm, 0.1 m and 10 m, at three time steps, with every parameter derived. */
#include "../embipc.h"
#include "test.h"
#include "slope.h"

static void table(int kind)
{
    static const double size[3] = {1e-3, 0.1, 10}, h[3] = {0.005, 0.01, 0.02};
    for (int i = 0; i < 9; i++) {
        slope_result r = slope_run(kind, size[i / 3], h[i % 3]);
        slope_check(&r);
        printf("  %-10s %7g %6g %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f %8.1e %8.4f %9.1e %8d %8.2f %5d %5d%s\n", slope_kind_name[kind], r.size, r.h,
               r.slide, r.creep, r.edge, r.edge_rest, r.edge_calm, r.limit, r.drift, r.stop, r.left, r.settled, r.iterations, r.most, r.cut, slope_is_far(&r) ? " *" : "");
        fflush(stdout);
    }
}
static void test_full(void) { table(SLOPE_FULL); }
static void test_cage(void) { table(SLOPE_CAGE); }
static void test_affine(void) { table(SLOPE_AFFINE); }
static void test_orthogonal(void) { table(SLOPE_ORTHOGONAL); }

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    printf("  block on a slope, tan = 0.5, all parameters derived; results over their closed forms:\n"
           "  a at mu 0.49 (1 %%), v at 0.51 (0.1 %%), v at 0.5005 (from the creep 0.1 %%, from rest 2 %%, and damped 0.1 %%), v at\n"
           "  0.5 / epsv (damped, printed only), a there / (g sin) (1e-4), travel to stop (1 %%), speed then / epsv\n"
           "  %-10s %7s %6s %8s %8s %8s %8s %8s %8s %8s %8s %9s %8s %8s %5s %5s\n", "kind", "edge m", "h s", "slide", "creep",
           "edge", "at rest", "damped", "limit", "drift", "stop", "left", "settled", "its/step", "most", "cut");
    RUN(full);
    RUN(cage);
    RUN(affine);
    RUN(orthogonal);
    printf("  *: g h^2 is longer than the block; slide and stop are not judged\n");
    test_unused();
    return test_end("validate_slope");
}
