/* What the tests of the library measure against closed forms, for the report: the same functions, other readers. In *sum
 * what the runs came to, each step looked at by exact arithmetic. */
#ifndef CLOSED_WORLD_H
#define CLOSED_WORLD_H
#include "scene_sum.h"

/* One vertex under load k (0 .. 5): load, N, the gap that b' says, m, the gap it rests at. */
void closed_rest(int k, double *load, double *expected, double *gap, paper_scene *sum);

/* One vertex at 1 m/s onto a floor, mass m (0, 1), time step k (0 .. 4). */
typedef struct closed_hit { double mass, h, bounce, least, expected_bounce, expected_least; } closed_hit;
void closed_impact(int m, int k, closed_hit *hit, paper_scene *sum);

/* A block of 0.1 m at h = 0.01 s, kind 0 .. 3 (its name in *name): acceleration at mu = 0.49 on a slope of 0.5, creep at
 * 0.51, and travel until stop, each over its closed form, and the speed then over epsv. Returns 1 where all ran. */
int closed_slope(int kind, const char **name, double *slide, double *creep, double *stop, double *left, paper_scene *sum);
#endif
