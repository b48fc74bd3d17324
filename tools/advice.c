#include "advice.h"
#include <stdlib.h>

/* Largest ratio of sizes that raises no question: a mesh in mm beside one in m has 1000. */
#define ADVICE_RATIO 500

typedef struct advice_box { double lo[3], hi[3]; } advice_box;

/* The box round the surface of a body. */
static advice_box advice_box_of(const embipc_body_view *view)
{
    advice_box b;
    for (int k = 0; k < 3; k++) {
        b.lo[k] = b.hi[k] = view->x[k];
        for (int i = 1; i < view->vertex_count; i++) {
            b.lo[k] = fmin(b.lo[k], view->x[3 * i + k]);
            b.hi[k] = fmax(b.hi[k], view->x[3 * i + k]);
        }
    }
    return b;
}

/* Its diagonal, m. */
static double advice_size(const embipc_world *world, const scene_body *b)
{
    embipc_body_view view;
    advice_box box;
    double diagonal[3];
    if (embipc_body_get_view(world, b->handle, &view) != EMBIPC_OK) return 0;
    box = advice_box_of(&view);
    tool_sub(diagonal, box.hi, box.lo);
    return tool_length(diagonal);
}

/* Grounds made by code may be as large as they like. */
static void advice_sizes(const scene *s, const embipc_world *world, tool_text *t)
{
    int small = -1, large = -1;
    double least = 0, greatest = 0;
    for (int i = 0; i < s->body_count; i++) {
        const scene_body *b = &s->body[i];
        double size;
        if ((b->def.kind == EMBIPC_FIXED && !b->is_file) || b->repeated > 1) continue;
        size = advice_size(world, b);
        if (small < 0 || size < least) { small = i; least = size; }
        if (large < 0 || size > greatest) { large = i; greatest = size; }
    }
    if (small < 0 || !(greatest > ADVICE_RATIO * least)) return;
    tool_put(t,
             "warning: body \"%s\" is %.3g m large, body \"%s\" %.3g m: is one of them in mm? \"scale\": 0.001 takes "
             "mm to m\n",
             s->body[large].name, greatest, s->body[small].name, least);
}

static void advice_material(const scene *s, const embipc_world *world, const scene_body *b, tool_text *t)
{
    const embipc_material *m = &b->def.material;
    double weight = m->density * tool_length(s->world.gravity) * advice_size(world, b);
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
    if (m->model != EMBIPC_ORTHOGONALITY && m->model != EMBIPC_MOONEY_RIVLIN && m->young >= 300 && weight > m->young)
        tool_put(t,
                 "warning: body \"%s\": its weight, %.3g Pa at its foot, presses it flat: young is %.3g Pa only\n",
                 b->name, weight, m->young);
}

/* Sum of the solid angles of a surface seen from p over 4 pi: 1 inside, 0 outside (van Oosterom and Strackee 1983). */
static double advice_winding(const embipc_body_view *view, const double p[3])
{
    double sum = 0;
    for (int i = 0; i < view->triangle_count; i++) {
        double v[3][3], n[3], l[3];
        for (int k = 0; k < 3; k++) {
            tool_sub(v[k], view->x + 3 * view->triangles[3 * i + k], p);
            l[k] = tool_length(v[k]);
        }
        tool_cross(n, v[1], v[2]);
        sum += 2
               * atan2(tool_dot(v[0], n), l[0] * l[1] * l[2] + tool_dot(v[0], v[1]) * l[2]
                                              + tool_dot(v[1], v[2]) * l[0] + tool_dot(v[2], v[0]) * l[1]);
    }
    return sum / (4 * 3.14159265358979323846);
}

/* Does the scene say that the two never touch? */
static int advice_exempt(const scene *s, int a, int b)
{
    for (int i = 0; i < s->pair_count; i++) {
        const scene_pair *p = &s->pair[i];
        if (!p->contact && ((p->a == a && p->b == b) || (p->a == b && p->b == a))) return 1;
    }
    for (int i = 0; i < s->joint_count; i++) {
        const scene_joint *p = &s->joint[i];
        if (!p->def.contact && ((p->a == a && p->b == b) || (p->a == b && p->b == a))) return 1;
    }
    return 0;
}

/* Surfaces do not cross at the start: a body is inside another one if one of its vertices is. */
static void advice_inside(const scene *s, const embipc_world *world, tool_text *t)
{
    embipc_body_view *view = (embipc_body_view *)tool_alloc((size_t)s->body_count, sizeof *view);
    advice_box *box = (advice_box *)tool_alloc((size_t)s->body_count, sizeof *box);
    int known = 1;
    for (int i = 0; i < s->body_count && known; i++) {
        known = embipc_body_get_view(world, s->body[i].handle, &view[i]) == EMBIPC_OK;
        if (known) box[i] = advice_box_of(&view[i]);
    }
    for (int a = 0; a < s->body_count && known; a++)
        for (int b = 0; b < s->body_count; b++) {
            int in = a != b && (s->body[a].def.kind >= EMBIPC_AFFINE || s->body[b].def.kind >= EMBIPC_AFFINE);
            for (int k = 0; k < 3 && in; k++) in = box[a].lo[k] > box[b].lo[k] && box[a].hi[k] < box[b].hi[k];
            if (!in || advice_exempt(s, a, b) || advice_winding(&view[b], view[a].x) < 0.5) continue;
            tool_put(
                t, "warning: body \"%s\" is wholly inside body \"%s\", and stays there: embipc doctor takes it out\n",
                s->body[a].name, s->body[b].name);
        }
    free(view);
    free(box);
}

void advice_warn(const scene *s, const embipc_world *world, tool_text *t)
{
    double g = tool_length(s->world.gravity);
    if (s->world.time_step > 1)
        tool_put(t, "warning: time_step %.3g s is long: is it in ms? 0.01 s is usual\n", s->world.time_step);
    if (g > 300)
        tool_put(
            t,
            "warning: gravity %.4g m/s^2 is beyond that of any planet: is it in mm/s^2? On Earth it is 9.81 m/s^2\n",
            g);
    for (int i = 0; i < s->body_count; i++) advice_material(s, world, &s->body[i], t);
    advice_sizes(s, world, t);
    advice_inside(s, world, t);
}

/* Memory of a factor grows as n^(4/3), its time as n^2. Measured with boxes of 6000 to 12000 nodes: 1.5 kB and
 * 50 ns. */
void advice_warn_of_size(const scene *s, tool_text *t)
{
    for (int i = 0; i < s->body_count; i++) {
        const scene_body *b = &s->body[i];
        double n = b->cage.node_count ? b->cage.node_count : b->def.cage_nodes, bytes, seconds;
        if (b->def.kind == EMBIPC_FULL) n = b->surface.node_count;
        else if (b->def.kind != EMBIPC_CAGE) continue;
        bytes = 1.5e3 * pow(n, 4.0 / 3);
        seconds = 5e-8 * n * n;
        if (seconds >= 10 && b->repeated <= 1)
            tool_put(t,
                     "warning: body \"%s\" has about %.0f nodes: a step takes about %.2g GB and %.2g minutes; ask for "
                     "fewer\n", b->name, n, bytes / 1e9, seconds / 60);
    }
}
