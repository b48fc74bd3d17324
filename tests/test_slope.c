/* A block on a slope of tan = 0.5, everything derived by default: it must slide just below the friction angle,
 * creep as the smoothed law says just above, and stop where it should on a level floor. The short form; with
 * time steps and sizes: validate_slope.c. */
#include "../embipc.h"
#include "test.h"
#include "slope.h"

static void test_slides_creeps_and_stops(void)
{
    for (int kind = 0; kind < SLOPE_KINDS; kind++) {
        slope_result r = slope_run(kind, 0.1, 0.01);
        slope_check(&r);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(slides_creeps_and_stops);
    test_unused();
    return test_end("test_slope");
}
