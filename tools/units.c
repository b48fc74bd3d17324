#include "units.h"
#include <string.h>

/* Largest ratio of sizes that raises no question: a mesh in mm beside one in m has 1000. */
#define UNITS_RATIO 500

/* Diagonal of the box round its surface, m. */
static double units_size(const embipc_world *world, const scene_body *b)
{
    embipc_body_view view;
    double diagonal = 0;
    if (embipc_body_get_view(world, b->handle, &view) != EMBIPC_OK) return 0;
    for (int k = 0; k < 3; k++) {
        double lo = view.x[k], hi = view.x[k];
        for (int i = 1; i < view.vertex_count; i++) {
            lo = fmin(lo, view.x[3 * i + k]);
            hi = fmax(hi, view.x[3 * i + k]);
        }
        diagonal += (hi - lo) * (hi - lo);
    }
    return sqrt(diagonal);
}

/* Grounds made by code may be as large as they like. */
static void units_sizes(const scene *s, const embipc_world *world, tool_text *t)
{
    int small = -1, large = -1;
    double least = 0, greatest = 0;
    for (int i = 0; i < s->body_count; i++) {
        const scene_body *b = &s->body[i];
        double size;
        if ((b->def.kind == EMBIPC_FIXED && !b->is_file) || b->repeated > 1) continue;
        size = units_size(world, b);
        if (small < 0 || size < least) { small = i; least = size; }
        if (large < 0 || size > greatest) { large = i; greatest = size; }
    }
    if (small < 0 || !(greatest > UNITS_RATIO * least)) return;
    tool_put(t,
             "warning: body \"%s\" is %.3g m large, body \"%s\" %.3g m: is one of them in mm? \"scale\": 0.001 takes "
             "mm to m\n",
             s->body[large].name, greatest, s->body[small].name, least);
}

static void units_material(const scene_body *b, tool_text *t)
{
    const embipc_material *m = &b->def.material;
    if (b->def.kind < EMBIPC_AFFINE || b->repeated > 1) return;
    if (m->density < 5)
        tool_put(t,
                 "warning: body \"%s\": density %.3g kg/m^3 is that of a gas: is it in g/cm^3? That of water is 1000 "
                 "kg/m^3\n",
                 b->name, m->density);
    if (m->density > 25000)
        tool_put(t, "warning: body \"%s\": density %.3g kg/m^3 is beyond that of any solid: steel has 7800\n", b->name,
                 m->density);
    if (m->model != EMBIPC_ORTHOGONALITY && m->model != EMBIPC_MOONEY_RIVLIN && m->young < 300)
        tool_put(
            t, "warning: body \"%s\": young %.3g Pa is softer than any gel: is it in MPa or GPa? Rubber has 1e6 Pa\n",
            b->name, m->young);
}

void units_warn(const scene *s, const embipc_world *world, tool_text *t)
{
    double g = tool_length(s->world.gravity);
    if (s->world.time_step > 1)
        tool_put(t, "warning: time_step %.3g s is long: is it in ms? 0.01 s is usual\n", s->world.time_step);
    if (g > 300)
        tool_put(
            t,
            "warning: gravity %.4g m/s^2 is beyond that of any planet: is it in mm/s^2? On Earth it is 9.81 m/s^2\n",
            g);
    for (int i = 0; i < s->body_count; i++) units_material(&s->body[i], t);
    units_sizes(s, world, t);
}
