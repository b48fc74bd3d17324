#include "report.h"
#include "json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void report_init(report *r)
{
    memset(r, 0, sizeof *r);
    r->min_distance = r->tightest = HUGE_VAL;
}

void report_free(report *r)
{
    free(r->sum);
    memset(r, 0, sizeof *r);
}

/* ---- Taking in ------------------------------------------------------------------------------ */

/* Component of a force against gravity; along z where there is none. */
static double report_upward(const scene *s, const double force[3])
{
    const double *g = s->world.gravity;
    double n = tool_length(g);
    return n > 0 ? -tool_dot(force, g) / n : force[2];
}

static void report_add(report *r, int body, int partner, double force, double friction)
{
    int i = 0;
    while (i < r->sum_count && (r->sum[i].body != body || r->sum[i].partner != partner)) i++;
    if (i == r->sum_count) {
        TOOL_GROW(report_sum, r->sum, r->sum_capacity, ++r->sum_count);
        r->sum[i].body = body;
        r->sum[i].partner = partner;
        r->sum[i].force = r->sum[i].friction = 0;
    }
    r->sum[i].force += force;
    r->sum[i].friction += friction;
}

void report_step(report *r, const scene *s, const embipc_step_stats *stats, double wall,
                 const embipc_pair_force *pair, int pair_count, int in_window)
{
    r->steps++;
    r->simulated = stats->time;
    r->wall += wall;
    r->cut_short += !stats->converged;
    r->stuck = stats->stuck ? r->stuck + 1 : 0;
    if (r->stuck > r->stuck_most) {
        r->stuck_most = r->stuck;
        r->stuck_time = stats->time;
    }
    r->newton += stats->newton_iterations;
    if (stats->newton_iterations > r->newton_max) r->newton_max = stats->newton_iterations;
    if (stats->min_distance < r->min_distance) r->min_distance = stats->min_distance;
    if (stats->tightest < r->tightest) {
        r->tightest = stats->tightest;
        memcpy(r->tight, stats->tight, sizeof r->tight);
    }
    if (stats->drive_short > r->short_max) {
        r->short_max = stats->drive_short;
        r->short_time = stats->time;
    }
    if (!in_window) return;
    r->window_steps++;
    for (int i = 0; i < pair_count; i++) {   /* the force of b on a, and its opposite */
        int a = scene_index_of(s, pair[i].a), b = scene_index_of(s, pair[i].b);
        double force = report_upward(s, pair[i].force), friction = report_upward(s, pair[i].friction);
        report_add(r, a, b, force, friction);
        report_add(r, b, a, -force, -friction);
    }
}

void report_joints(report *r, const scene *s, const embipc_world *world, double time, int in_window)
{
    for (int i = 0; i < s->joint_count; i++) {
        const scene_joint *p = &s->joint[i];
        embipc_joint_state j;
        double force;
        if (embipc_joint_get_state(world, p->handle, &j) != EMBIPC_OK) continue;
        if (j.gap > r->gap_max) {
            r->gap_max = j.gap;
            r->gap_time = time;
            r->gap_joint = i;
        }
        force = report_upward(s, j.force);
        if (in_window) report_add(r, p->b, s->body_count + i, force, 0);
        if (in_window && p->a >= 0) report_add(r, p->a, s->body_count + i, -force, 0);
    }
}

void report_check(report *r, embipc_world *world)
{
    int found = embipc_world_intersections(world, NULL, 0);
    if (found < 0 || r->intersections < 0) r->intersections = -1;
    else r->intersections += found;
}

/* ---- Printing ------------------------------------------------------------------------------- */

/* Drives that are not where they should be now, and the worst moment of the run. */
static void report_print_drives(const report *r, const scene *s, const embipc_world *world)
{
    int shown = 0;
    if (s->drive_count == 0) return;
    printf("  drive shortfalls     ");
    for (int i = 0; i < s->drive_count; i++) {
        embipc_drive_state d;
        int blocker;
        if (embipc_drive_get_state(world, s->drive[i].handle, &d) != EMBIPC_OK || !(d.shortfall > 1e-9))
            continue;
        blocker = scene_index_of(s, d.blocked_by);
        printf("%s\"%s\" %.3g m short at the end", shown++ ? "\n                       " : "",
               s->body[s->drive[i].body].name, d.shortfall);
        if (scene_is_soft(&s->drive[i]))
            printf(", pulled with %.3g N%s", tool_length(d.force),
                   d.limited ? ", its limit" : "");
        if (blocker >= 0) printf(", \"%s\" in the way, gap %.3g m", s->body[blocker].name, d.gap);
    }
    if (!shown) printf("none at the end");
    if (r->short_max > 1e-9)
        printf("\n                       largest %.3g m at %.4g s", r->short_max, r->short_time);
    printf("\n");
}

/* "hinge of the world and "arm"" */
static void report_joint_name(const scene *s, int joint, tool_text *t)
{
    const scene_joint *p = &s->joint[joint];
    if (p->a < 0) tool_put(t, "%s of the world", scene_joint_kinds[p->def.kind]);
    else tool_put(t, "%s of \"%s\"", scene_joint_kinds[p->def.kind], s->body[p->a].name);
    tool_put(t, " and \"%s\"", s->body[p->b].name);
}

/* Joints are stiff, not rigid: the worst moment of the run. */
static void report_print_joints(const report *r, const scene *s)
{
    tool_text name = { NULL, 0, 0 };
    if (s->joint_count == 0) return;
    report_joint_name(s, r->gap_joint, &name);
    printf("  largest joint gap    %.3g m at %.4g s, %s\n", r->gap_max, r->gap_time, name.data);
    tool_text_free(&name);
}

static int report_is_driven(const scene *s, int body)
{
    for (int i = 0; i < s->drive_count; i++)
        if (s->drive[i].body == body) return 1;
    return 0;
}

/* The name of a body, or of a joint by its number. */
static void report_partner(const scene *s, int partner, char name[64])
{
    int joint = partner - s->body_count;
    if (joint < 0) snprintf(name, 64, "%s", s->body[partner].name);
    else snprintf(name, 64, "joint %d, %s", joint, scene_joint_kinds[s->joint[joint].def.kind]);
}

/* One body: what each partner carries of its weight, and that the parts add up. */
static void report_print_balance(const report *r, const scene *s, const embipc_world *world, int body)
{
    const double *g = s->world.gravity;
    embipc_body_state b;
    double weight, total = 0;
    char partner[64];
    if (embipc_body_get_state(world, s->body[body].handle, &b) != EMBIPC_OK) return;
    weight = b.mass * tool_length(g);
    printf("  forces on \"%s\", upward, mean of the last %.3g s\n", s->body[body].name,
           r->window_steps * s->world.time_step);
    for (int i = 0; i < r->sum_count; i++) {
        double force = r->sum[i].force / r->window_steps, friction = r->sum[i].friction / r->window_steps;
        if (r->sum[i].body != body) continue;
        total += force;
        if (fabs(friction) < 1e-9 * fabs(force)) friction = 0;   /* rounding of sums that cancel */
        report_partner(s, r->sum[i].partner, partner);
        printf("    %-18s %10.5g N", partner, force);
        if (weight > 0) printf("  %7.4f of the weight", force / weight);
        printf("  (friction %.5g N)\n", friction);
    }
    printf("    %-18s %10.5g N", "sum", total);
    if (weight > 0) printf("  %7.4f of the weight, %.5g N", total / weight, weight);
    printf("\n");
}

void report_print(const report *r, const scene *s, const embipc_world *world, int with_forces)
{
    int shown = 0;
    printf("%s\n", s->path);
    printf("  simulated            %.6g s, %d steps of %.6g s\n", r->simulated, r->steps, s->world.time_step);
    if (r->steps) {
        printf("  wall time            %.3g s, %.3g x real time\n", r->wall,
               r->wall > 0 ? r->simulated / r->wall : HUGE_VAL);
        printf("  Newton iterations    %.3g a step, at most %d\n", (double)r->newton / r->steps,
               r->newton_max);
        if (r->cut_short) printf("  steps cut short      %d\n", r->cut_short);
        if (r->min_distance < HUGE_VAL) {
            int a = scene_index_of(s, r->tight[0]), b = scene_index_of(s, r->tight[1]);
            printf("  smallest distance    %.3g m\n", r->min_distance);
            if (a >= 0 && b >= 0)
                printf("  tightest contact     %.3g of dhat, \"%s\" and \"%s\"\n", r->tightest, s->body[a].name,
                       s->body[b].name);
        }
        else printf("  smallest distance    no contact\n");
    }
    report_print_drives(r, s, world);
    report_print_joints(r, s);
    for (int i = 0; with_forces && r->window_steps && i < s->body_count; i++) {
        if (s->body[i].def.kind < EMBIPC_AFFINE || report_is_driven(s, i)) continue;
        if (shown++ < REPORT_MOST) report_print_balance(r, s, world, i);
    }
    if (shown > REPORT_MOST)
        printf("  forces on %d more bodies are in forces.csv, with --out DIR\n", shown - REPORT_MOST);
    if (r->intersections < 0) printf("  intersections found  not checked: out of memory\n");
    else if (r->intersections == 0) printf("  intersections found  none\n");
    else printf("  intersections found  %d\n", r->intersections);
}

/* ---- As JSON -------------------------------------------------------------------------------- */

/* A number, or null where it is not finite. */
static void report_put_number(tool_text *t, const char *key, double x)
{
    if (x - x == 0) tool_put(t, ", \"%s\": %.17g", key, x);
    else tool_put(t, ", \"%s\": null", key);
}

static void report_put_vector(tool_text *t, const char *key, const double x[3])
{
    tool_put(t, ", \"%s\": [%.17g, %.17g, %.17g]", key, x[0], x[1], x[2]);
}

/* Before each entry of a list of objects: a comma but for the first, and the name of its body. */
static void report_put_entry(tool_text *t, int *count, const char *key, const char *name)
{
    tool_put(t, "%s{ \"%s\": ", (*count)++ ? ", " : "", key);
    json_write_string(t, name);
}

static void report_record_bodies(const scene *s, const embipc_world *world, tool_text *t)
{
    int count = 0;
    tool_put(t, ", \"bodies\": [");
    for (int i = 0; i < s->body_count; i++) {
        embipc_body_state b;
        if (s->body[i].def.kind == EMBIPC_FIXED || embipc_body_get_state(world, s->body[i].handle, &b) != EMBIPC_OK)
            continue;
        report_put_entry(t, &count, "name", s->body[i].name);
        report_put_vector(t, "centre_m", b.centre);
        report_put_vector(t, "velocity_mps", b.velocity);
        tool_put(t, " }");
    }
    tool_put(t, "], \"drives\": [");
    count = 0;
    for (int i = 0; i < s->drive_count; i++) {
        embipc_drive_state d;
        if (embipc_drive_get_state(world, s->drive[i].handle, &d) != EMBIPC_OK) continue;
        report_put_entry(t, &count, "body", s->body[s->drive[i].body].name);
        report_put_number(t, "short_m", d.shortfall);
        report_put_vector(t, "force_N", d.force);
        report_put_vector(t, "torque_Nm", d.torque);
        tool_put(t, " }");
    }
    tool_put(t, "]");
}

static void report_record_joints(const scene *s, const embipc_world *world, tool_text *t)
{
    int count = 0;
    tool_put(t, ", \"joints\": [");
    for (int i = 0; i < s->joint_count; i++) {
        embipc_joint_state j;
        if (embipc_joint_get_state(world, s->joint[i].handle, &j) != EMBIPC_OK) continue;
        report_put_entry(t, &count, "b", s->body[s->joint[i].b].name);
        report_put_number(t, "position", j.position);
        report_put_number(t, "effort", j.effort);
        report_put_vector(t, "force_N", j.force);
        report_put_number(t, "gap_m", j.gap);
        tool_put(t, " }");
    }
    tool_put(t, "]");
}

void report_record(const report *r, const scene *s, const embipc_world *world, const embipc_pair_force *pair,
                   int pair_count, tool_text *t)
{
    int count = 0;
    tool_put(t, "%s\"steps\": %d", t->length ? ", " : "", r->steps);
    report_put_number(t, "simulated_s", r->simulated);
    tool_put(t, ", \"newton_iterations\": %ld, \"newton_most\": %d, \"cut_short\": %d, \"stuck_most\": %d", r->newton,
             r->newton_max, r->cut_short, r->stuck_most);
    report_put_number(t, "min_distance_m", r->min_distance);
    report_put_number(t, "drive_short_most_m", r->short_max);
    report_put_number(t, "joint_gap_most_m", r->gap_max);
    tool_put(t, ", \"intersections\": %d", r->intersections);
    report_record_bodies(s, world, t);
    report_record_joints(s, world, t);
    tool_put(t, ", \"forces\": [");
    for (int i = 0; i < pair_count; i++) {
        int a = scene_index_of(s, pair[i].a), b = scene_index_of(s, pair[i].b);
        if (a < 0 || b < 0) continue;
        report_put_entry(t, &count, "body_a", s->body[a].name);
        tool_put(t, ", \"body_b\": ");
        json_write_string(t, s->body[b].name);
        report_put_vector(t, "force_N", pair[i].force);
        report_put_vector(t, "friction_N", pair[i].friction);
        tool_put(t, " }");
    }
    tool_put(t, "]");
    report_put_number(t, "wall_s", r->wall);
}
