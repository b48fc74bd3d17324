/* Whoever wants to see every step of the worlds of spike.h, slope.h and press.h sets watch_step: the report of `make paper`
 * does, and looks for crossings in each. Include after embipc.h. */
#ifndef WATCH_H
#define WATCH_H
static void (*watch_step)(const embipc_world *world, const embipc_step_stats *stats);

static void watch(const embipc_world *world, const embipc_step_stats *stats)
{
    if (watch_step) watch_step(world, stats);
}
#endif
