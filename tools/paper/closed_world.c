#include "closed_world.h"
#include "../../embipc.h"
#include "../../tests/test.h"
#include "../../tests/scene_test.h"
#include "../../tests/spike.h"
#include "../../tests/slope.h"
#include "looker.h"

void closed_rest(int k, double *load, double *expected, double *gap, paper_scene *sum)
{
    spike_rest r;
    test_name = "the report";   /* where a check of these headers fails */
    look_begin(sum, NULL);
    r = spike_press(k);
    look_end();
    *load = spike_load[k];
    *expected = spike_gap[k];
    *gap = r.gap;
}

void closed_impact(int m, int k, closed_hit *hit, paper_scene *sum)
{
    spike_hit r;
    test_name = "the report";
    look_begin(sum, NULL);
    r = spike_throw(m, k);
    look_end();
    hit->mass = spike_mass[m];
    hit->h = spike_h[k];
    hit->bounce = r.bounce;
    hit->least = r.least;
    hit->expected_bounce = spike_bounce[m][k];
    hit->expected_least = spike_least[m][k];
}

int closed_slope(int kind, const char **name, double *slide, double *creep, double *stop, double *left, paper_scene *sum)
{
    int failed = test_bad;
    slope_result r;
    test_name = "the report";
    look_begin(sum, NULL);
    r = slope_run(kind, 0.1, 0.01);
    look_end();
    *name = slope_kind_name[kind];
    *slide = r.slide;
    *creep = r.creep;
    *stop = r.stop;
    *left = r.left;
    return test_bad == failed;
}
