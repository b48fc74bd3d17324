/* One vertex against a floor: the tip of a stiff spike, for test_world_step.c and the report of `make paper`. The gap at
 * which it rests under a load, and how it bounces, are known: validate them against the closed form and an exact minimum
 * of the one-vertex problem. Include after scene_test.h. */
#ifndef SPIKE_H
#define SPIKE_H
#include "watch.h"

/* kappa 1e4 kg/s^2, dhat 1 mm, no gravity */
static scene spike_world(double h, double mass, double gap, double young, double tolerance)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
    test_mesh m = scene_mesh_spike(0.05, 0.1);
    scene s;
    for (int i = 0; i < 3; i++) wd.gravity[i] = 0;
    wd.time_step = h;
    wd.dhat = 1e-3;
    wd.kappa = 1e4;
    wd.tolerance = tolerance;
    s = scene_empty(&wd);
    scene_box(&s, d, 2, 2, 0.1, 1);
    d = scene_def("spike", EMBIPC_AFFINE, 0.3, -0.1, gap);
    d.material.young = young;
    d.material.poisson = 0;
    d.material.density = mass / (2 * 0.05 * 0.05 * 0.1 / 3);
    scene_add_mesh(&s, &d, &m, 0);
    return s;
}

#define SPIKE_LOADS 6
static const double spike_load[SPIKE_LOADS] = {0.1, 1, 3.8025, 10, 100, 1000};   /* N */
static const double spike_gap[SPIKE_LOADS] = {9.4338e-4, 8.2853e-4, 6.8606e-4, 5.3244e-4, 1.22152e-4, 1.07503e-5};   /* m, of b' */

typedef struct spike_rest { double gap, force, distance; int contacts, crossings; } spike_rest;

static spike_rest spike_press(int k)
{
    scene s = spike_world(0.02, fmax(1, spike_load[k]), 0.9 * spike_gap[k], 1e9, 1e-10);
    double f[3] = {0, 0, -spike_load[k]}, high;
    spike_rest r;
    embipc_contact c;
    memset(&c, 0, sizeof c);
    for (int n = 0; n < 60; n++) {   /* a longer wait and it tips over, as it must */
        (void)ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[1], -1, f));
        if (!scene_step(&s)) break;
        watch(s.w, &s.stats);
    }
    scene_extent(s.w, s.body[1], 2, &r.gap, &high);
    r.contacts = embipc_world_contacts(s.w, &c, 1);
    r.force = c.force;
    r.distance = c.distance;
    r.crossings = scene_crossings(s.w);
    scene_end(&s);
    return r;
}

/* At 1 m/s from 1.1 mm: restitution and closest distance of the one-vertex problem, its minimum solved exactly. */
#define SPIKE_STEPS 5
static const double spike_h[SPIKE_STEPS] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
static const double spike_mass[2] = {1e-3, 1};
static const double spike_bounce[2][SPIKE_STEPS] = {{0.00480, 0.07196, 0.55556, 0.93471, 0.99318}, {0.03961, 0.16444, 0.27928, 0.35805, 0.41809}};
static const double spike_least[2][SPIKE_STEPS] = {{9.438e-4, 8.502e-4, 7.157e-4, 6.629e-4, 6.565e-4}, {1.346e-4, 1.409e-5, 1.328e-6, 1.657e-7, 1.879e-8}};

typedef struct spike_hit { double bounce, least; int crossings; } spike_hit;

static spike_hit spike_throw(int mass, int step)
{
    static const double v0[3] = {0, 0, -1}, none[3] = {0, 0, 0};
    double h = spike_h[step], low, high;
    scene s = spike_world(h, spike_mass[mass], 1.1e-3, mass ? fmax(1e13, 1e5 / (h * h)) : 1e11, 1e-7);
    spike_hit r = {-1, 1, 0};
    (void)embipc_body_set_velocity(s.w, s.body[1], v0, none);
    for (int n = 0; n < 20000 && scene_step(&s); n++) {
        watch(s.w, &s.stats);
        scene_extent(s.w, s.body[1], 2, &low, &high);
        r.least = fmin(r.least, low);
        r.bounce = scene_state(s.w, s.body[1]).velocity[2];
        if (r.bounce > 0 && low > 1e-3) break;
    }
    r.crossings = scene_crossings(s.w);
    scene_end(&s);
    return r;
}
#endif
