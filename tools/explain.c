#include "explain.h"
#include <stdlib.h>
#include <string.h>

/* The states of one step: part k has the first k + 1 iterations of each island. */
typedef struct explain {
    const embipc_world *before, *world;
    const embipc_step_stats *stats;
    embipc_step_stats *part; /* owned (parts) */
    int parts;               /* iterations of the slowest island but the last one, whose end is that of the step */
    const embipc_iteration *list; /* of the step, all islands together (count) */
    int count;
    double h;
    tool_text *t;
} explain;

static const char *explain_name(const embipc_world *world, embipc_body body)
{
    embipc_body_view v;
    return embipc_body_get_view(world, body, &v) == EMBIPC_OK ? v.name : "none";
}

/* "a", "b" and 3 more: the bodies of an island, -1: those of none. Returns how many there are. */
static int explain_bodies(const explain *x, int island)
{
    int count = 0, n = embipc_world_body_count(x->world);
    for (int i = 0; i < n; i++) {
        embipc_body b = embipc_world_body(x->world, i);
        if (embipc_body_island(x->world, b) != island) continue;
        if (count < 8) tool_put(x->t, "%s\"%s\"", count ? ", " : "", explain_name(x->world, b));
        count++;
    }
    if (count > 8) tool_put(x->t, " and %d more", count - 8);
    return count;
}

/* Makes the step again, cut after each iteration. */
static int explain_parts(explain *x, tool_error *e)
{
    int last = x->stats->newton_iterations - 1;
    x->part = (embipc_step_stats *)tool_alloc((size_t)last + 1, sizeof *x->part);
    for (x->parts = 0; x->parts < last; x->parts++) {
        embipc_world *cut = NULL;
        embipc_result r = embipc_world_copy(x->before, &cut);
        if (r == EMBIPC_OK) r = embipc_world_set_limits(cut, x->parts + 1, NULL);
        if (r == EMBIPC_OK) r = embipc_world_step(cut, &x->part[x->parts]);
        embipc_world_destroy(cut);
        if (r != EMBIPC_OK) return tool_fail(e, "the step cannot be made again: %s", embipc_result_text(r));
    }
    return 1;
}

/* where each body begins, and where it would go without forces */
static void explain_start(const explain *x, const double gravity[3])
{
    int n = embipc_world_body_count(x->before), told = 0;
    double fall = tool_length(gravity) * x->h * x->h;
    tool_put(x->t, "# Step %d (parts 1 and 2 of docs/one_step.md)\n", x->stats->step);
    tool_put(
        x->t,
        "It begins at %.6g s and its length h is %.6g s. Gravity alone moves a body by h^2 |g| = %.4g m in it.\n",
        x->stats->time - x->h, x->h, fall);
    for (int i = 0; i < n && told < 12; i++) {
        embipc_body b = embipc_world_body(x->before, i);
        embipc_body_state s;
        embipc_body_view v;
        if (embipc_body_get_view(x->before, b, &v) != EMBIPC_OK || v.kind < EMBIPC_AFFINE) continue;
        if (embipc_body_get_state(x->before, b, &s) != EMBIPC_OK) continue;
        tool_put(x->t,
                 "Body \"%s\" has %d unknowns and %.4g kg. Its centre is at (%.6g, %.6g, %.6g) m, and h v is "
                 "(%.4g, %.4g, %.4g) m: the step is predicted to go there.\n",
                 v.name, 3 * v.node_count, s.mass, s.centre[0], s.centre[1], s.centre[2], x->h * s.velocity[0],
                 x->h * s.velocity[1], x->h * s.velocity[2]);
        told++;
    }
    if (told == 12) tool_put(x->t, "Other bodies are not listed.\n");
}

static void explain_search(const explain *x)
{
    const embipc_step_stats *s = x->stats;
    tool_put(x->t, "# Search (part 4)\n");
    tool_put(x->t,
             "The search found %d pairs of primitives that may come near enough to count in this step. It built its "
             "lists %d time%s.\n",
             s->candidates, s->candidate_builds, s->candidate_builds == 1 ? "" : "s");
    tool_put(x->t,
             "Bodies that may touch, directly or through others, are one island and are solved together: %d island%s "
             "of %d unknowns in all, and %d bodies asleep.\n",
             s->islands, s->islands == 1 ? "" : "s", s->unknowns, s->sleeping);
}

/* What shortened iteration k of the list: one sentence. */
static void explain_cut(const explain *x, const embipc_iteration *it)
{
    int touched = it->limit[0].index1 != 0;
    if (it->drive_left > 0) tool_put(x->t, "It moves drives, of whose way %.4g is left. ", it->drive_left);
    if (it->alpha_ccd == 0 && !touched) {
        tool_put(x->t,
                 "Along this direction it may meet bodies of another island. Both are one island from here on, and "
                 "this direction moves nothing.\n");
        return;
    }
    tool_put(x->t, "Of this direction %.4f is free of contact", it->alpha_ccd);
    if (touched)
        tool_put(x->t, ": \"%s\" and \"%s\" would meet beyond it", explain_name(x->world, it->limit[0]),
                 explain_name(x->world, it->limit[1]));
    else if (it->alpha_ccd < 1)
        tool_put(x->t, ": beyond it was not searched, or a tetrahedron would invert");
    tool_put(x->t, ", and %.4f is taken", it->alpha);
    if (it->alpha == 0)
        tool_put(x->t, ": nothing that lowers E, so nothing moves");
    else if (it->alpha < it->alpha_ccd)
        tool_put(x->t,
                 ": farther on, E would be higher or its slope too steep, as the barrier of the contacts grows");
    else if (it->alpha < 1)
        tool_put(x->t, ": all that is free");
    tool_put(x->t, ".\n");
}

/* E and contacts before and after iteration k, which are of all islands together. */
static void explain_state(const explain *x, int k)
{
    const embipc_step_stats *to = k < x->parts ? &x->part[k] : x->stats;
    double from = k ? x->part[k - 1].objective_after : to->objective_before;
    tool_put(x->t, "E / h^2%s goes from %.6g J to %.6g J. Then %d pairs are active",
             x->stats->islands > 1 ? " of all islands" : "", from, to->objective_after, to->contacts);
    if (to->contacts)
        tool_put(x->t, ", merged to %d contacts, and the smallest distance is %.4e m", to->merged_contacts,
                 to->min_distance);
    tool_put(x->t, ".\n");
}

/* The smallest tolerance of the bodies of an island, m/s: what |p| / h must stay below */
static double explain_tolerance(const explain *x, int island)
{
    double least = HUGE_VAL;
    for (int i = 0; i < embipc_world_body_count(x->world); i++) {
        embipc_body b = embipc_world_body(x->world, i);
        embipc_body_parameters p;
        if (embipc_body_island(x->world, b) == island && embipc_body_get_parameters(x->world, b, &p) == EMBIPC_OK)
            least = fmin(least, p.tolerance);
    }
    return least;
}

/* Why the island stopped after `last`, the solve number k. */
static void explain_end(const explain *x, int island, int k, int max, const embipc_iteration *last)
{
    double tolerance = explain_tolerance(x, island);
    if (k >= max && !x->stats->converged)
        tool_put(x->t,
                 "It stops here because the scene allows %d solves: it is cut short, and yet free of crossings.\n",
                 max);
    else if (last->direction < tolerance)
        tool_put(
            x->t,
            "It stops here: |p| / h is below the tolerance of its bodies, %.4e m/s, and the last direction was still "
            "taken.\n",
            tolerance);
    else if (x->stats->stuck)
        tool_put(x->t, "It stops here, stuck: no part of the direction lowers E.\n");
    else
        tool_put(
            x->t,
            "It stops here. What is left is less than rounding, or than the bodies' tolerance of %.4e m/s once their "
            "contacts are counted.\n",
            tolerance);
}

/* One island, iteration by iteration. */
static void explain_island(const explain *x, int island, int max)
{
    int k = 0, fresh = 0;
    const embipc_iteration *last = NULL;
    tool_put(x->t, "# Island %d: ", island);
    explain_bodies(x, island);
    tool_put(x->t, " (parts 5 to 12)\n");
    for (int i = 0; i < x->count; i++) {
        const embipc_iteration *it = &x->list[i];
        if (it->island != island) continue;
        if (last && it->pass != last->pass)
            tool_put(x->t,
                     "Pass %d begins, and E is another one: friction takes the present normal forces, and a material that "
                     "held wrong rotations the present ones.\n",
                     it->pass);
        last = it;
        tool_put(
            x->t,
            "Iteration %d begins with %d contacts. With %s, its direction moves no node faster than |p| / h = %.4e "
            "m/s, and E / h^2 falls along it by %.4e J at first. ",
            k + 1, it->contacts, it->fresh ? "a new factor" : "the factor it has", it->direction, -it->slope);
        explain_cut(x, it);
        explain_state(x, k++);
        fresh += it->fresh;
    }
    if (!k) {
        tool_put(x->t, "No iteration was needed: the bodies fly, or their predicted motion was right.\n");
        return;
    }
    explain_end(x, island, k, max, last);
    tool_put(x->t, "This took %d iteration%s with %d factorization%s.\n", k, k == 1 ? "" : "s", fresh,
             fresh == 1 ? "" : "s");
}

/* Forces and energies where the step ends. */
static void explain_forces(const explain *x)
{
    const embipc_step_stats *s = x->stats;
    int n = embipc_world_pair_forces(x->world, NULL, 0);
    embipc_pair_force *f = (embipc_pair_force *)tool_alloc((size_t)n + 1, sizeof *f);
    tool_put(x->t,
             "# End (part 13)\nE / h^2 was %.6g J at the start and is %.6g J. All islands made %d solves and %d "
             "factorizations, in %d pass%s.\n",
             s->objective_before, s->objective_after, s->total_iterations, s->total_factorizations, s->passes,
             s->passes == 1 ? "" : "es");
    tool_put(x->t, "Energies: %.6g J kinetic, %.6g J elastic, %.6g J in barriers, %.6g J of weight.\n", s->kinetic,
             s->elastic, s->barrier, s->potential);
    (void)embipc_world_pair_forces(x->world, f, n);
    if (!n) tool_put(x->t, "No bodies touch.\n");
    for (int i = 0; i < n; i++)
        tool_put(x->t,
                 "\"%s\" pushes \"%s\" with (%.4g, %.4g, %.4g) N through %d contacts, (%.4g, %.4g, %.4g) N of it by "
                 "friction.\n",
                 explain_name(x->world, f[i].a), explain_name(x->world, f[i].b), -f[i].force[0], -f[i].force[1],
                 -f[i].force[2], f[i].contacts, -f[i].friction[0], -f[i].friction[1], -f[i].friction[2]);
    for (int i = 0, told = 0; i < embipc_world_body_count(x->world) && told < 12; i++) {
        embipc_body b = embipc_world_body(x->world, i);
        embipc_body_state from, to;
        embipc_body_view v;
        if (embipc_body_get_view(x->world, b, &v) != EMBIPC_OK || v.kind < EMBIPC_AFFINE ||
            embipc_body_get_state(x->before, b, &from) != EMBIPC_OK ||
            embipc_body_get_state(x->world, b, &to) != EMBIPC_OK)
            continue;
        tool_put(x->t,
                 "The momentum of \"%s\" changed as by a force of (%.4g, %.4g, %.4g) N: gravity and all pushes "
                 "together.\n",
                 v.name, (to.momentum[0] - from.momentum[0]) / x->h, (to.momentum[1] - from.momentum[1]) / x->h,
                 (to.momentum[2] - from.momentum[2]) / x->h);
        told++;
    }
    if (!s->converged) tool_put(x->t, "An island was cut short, so these forces do not balance quite.\n");
    free(f);
}

int explain_step(const embipc_world *before, const embipc_world *world, const embipc_step_stats *stats, double h,
                 const double gravity[3], int max, tool_text *text, tool_error *e)
{
    explain x;
    int ok, most = 0;
    memset(&x, 0, sizeof x);
    x.before = before;
    x.world = world;
    x.stats = stats;
    x.h = h;
    x.t = text;
    x.count = embipc_world_iterations(world, &x.list);
    ok = explain_parts(&x, e);
    if (ok) {
        explain_start(&x, gravity);
        explain_search(&x);
        for (int i = 0; i < embipc_world_body_count(world); i++) {
            int island = embipc_body_island(world, embipc_world_body(world, i));
            most = island > most ? island : most;
        }
        for (int k = 0; k <= most; k++)
            for (int i = 0; i < embipc_world_body_count(world); i++)
                if (embipc_body_island(world, embipc_world_body(world, i)) == k) {
                    explain_island(&x, k, max);
                    break;
                }
        explain_forces(&x);
    }
    free(x.part);
    return ok;
}

void explain_page(const tool_text *text, tool_text *page)
{
    int open = 0;
    tool_put(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                   "content=\"width=device-width, initial-scale=1\">\n<title>embipc: one step</title>\n<style>\n"
                   ":root { color-scheme: light dark; }\n"
                   "body { max-width: 46em; margin: 2em auto; padding: 0 1em; font: 15px/1.5 system-ui, sans-serif; "
                   "font-variant-numeric: tabular-nums; }\nh2 { font-size: 17px; margin: 1.6em 0 0.3em; }\np { "
                   "margin: 0.4em 0; }\n"
                   "</style></head>\n<body>\n<h1>One step</h1>\n");
    for (const char *c = text->data ? text->data : ""; *c; c++) {
        int heading = c[0] == '#' && !open;
        if (!open) tool_put(page, heading ? "<h2>" : "<p>");
        if (!open) open = heading ? 2 : 1;
        if (heading && c[1] == ' ') {
            c++;
            continue;
        }
        if (*c == '\n') {
            tool_put(page, open == 2 ? "</h2>\n" : "</p>\n");
            open = 0;
        } else if (*c == '<')
            tool_put(page, "&lt;");
        else if (*c == '&')
            tool_put(page, "&amp;");
        else
            tool_put(page, "%c", *c);
    }
    tool_put(page, "</body></html>\n");
}
