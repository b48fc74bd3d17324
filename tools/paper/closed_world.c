#include "closed_world.h"
#include "../../embipc.h"
#include "../../tests/test.h"
#include "../../tests/scene_test.h"
#include "../../tests/spike.h"
#include "../../tests/slope.h"

int closed_rest(int k, double *load, double *expected, double *gap)
{
    spike_rest r;
    test_name = "the report";   /* where a check of these headers fails */
    r = spike_press(k);
    *load = spike_load[k];
    *expected = spike_gap[k];
    *gap = r.gap;
    return r.crossings;
}

int closed_impact(int m, int k, closed_hit *hit)
{
    spike_hit r;
    test_name = "the report";
    r = spike_throw(m, k);
    hit->mass = spike_mass[m];
    hit->h = spike_h[k];
    hit->bounce = r.bounce;
    hit->least = r.least;
    hit->expected_bounce = spike_bounce[m][k];
    hit->expected_least = spike_least[m][k];
    return r.crossings;
}

int closed_slope(int kind, const char **name, double *slide, double *creep, double *stop, double *left)
{
    int failed = test_bad;
    slope_result r;
    test_name = "the report";
    r = slope_run(kind, 0.1, 0.01);
    *name = slope_kind_name[kind];
    *slide = r.slide;
    *creep = r.creep;
    *stop = r.stop;
    *left = r.left;
    return test_bad == failed;
}
