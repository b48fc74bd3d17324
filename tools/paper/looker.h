/* Every step of the worlds of tests/spike.h, slope.h and press.h counted and looked at by exact arithmetic, for the report.
 * Include after those. */
#ifndef PAPER_LOOKER_H
#define PAPER_LOOKER_H
#include "scene_sum.h"
#include "../system.h"
#include "../../tests/crossings.h"

static paper_scene *look_sum;
static const char *look_skip;
static double look_start;

static void look_count_bodies(const embipc_world *w)
{
    look_sum->bodies = embipc_world_body_count(w);
    look_sum->triangles = look_sum->unknowns = 0;
    for (int i = 0; i < look_sum->bodies; i++) {
        embipc_body_view v;
        embipc_body_parameters q;
        if (embipc_body_get_view(w, embipc_world_body(w, i), &v) == EMBIPC_OK) look_sum->triangles += v.triangle_count;
        if (embipc_body_get_parameters(w, embipc_world_body(w, i), &q) == EMBIPC_OK) look_sum->unknowns += q.unknowns;
    }
}
static void look_step(const embipc_world *w, const embipc_step_stats *s)
{
    paper_scene *t = look_sum;
    double start = system_thread_seconds();
    validate_count n;
    memset(&n, 0, sizeof n);
    n.boxes = t->boxes;   /* goes on counting, so that every thousandth is decided exactly */
    if (!t->bodies) look_count_bodies(w);
    validate_world(w, look_skip, &n);
    t->boxes = n.boxes;
    t->exact += n.exact;
    t->crossings += n.crossings;
    t->frames++;
    t->steps++;
    t->cut += !s->converged;
    t->solves += s->newton_iterations;
    if (s->newton_iterations > t->most) t->most = s->newton_iterations;
    t->simulated += s->step > 1 ? s->time / s->step : s->time;
    t->smallest = fmin(t->smallest, s->min_distance);
    t->look += system_thread_seconds() - start;
}
/* Steps from here to look_end() are counted in *sum. skip: as for validate_world(), or NULL. */
static void look_begin(paper_scene *sum, const char *skip)
{
    memset(sum, 0, sizeof *sum);
    sum->smallest = sum->tightest = INFINITY;
    look_sum = sum;
    look_skip = skip;
    look_start = system_thread_seconds();
    watch_step = look_step;
}
static void look_end(void)
{
    look_sum->cpu = system_thread_seconds() - look_start - look_sum->look;
    watch_step = NULL;
}
#endif
