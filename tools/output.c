#include "output.h"
#include "meshio.h"
#include "system.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- Files ---------------------------------------------------------------------------------- */

static int output_failed(const char *path, tool_error *e)
{
    return tool_fail(e, "%s: cannot be written: %s", path[0] ? path : "an empty name", strerror(errno));
}

/* Names of the files that commands write into a directory; a * is a number. */
static const char *const output_in_directory[] = { "steps.csv",  "forces.csv",  "bodies.csv",
                                                   "drives.csv", "joints.csv",  "frame_*.obj",
                                                   "picture_*.png", "sweep.json", "run_*.json" };

/* Is this file in the directory, with a name that a command gives its files there? */
static int output_is_within(const char *directory, const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    tool_text there = { NULL, 0, 0 };
    int within = 0;
    for (size_t i = 0; i < sizeof output_in_directory / sizeof *output_in_directory; i++) {
        const char *form = output_in_directory[i], *star = strchr(form, '*');
        size_t head = star ? (size_t)(star - form) : 0;
        if (star ? strncmp(name, form, head) == 0 && strcmp(name + strcspn(name, "."), star + 1) == 0
                 : strcmp(name, form) == 0)
            within = 1;
    }
    tool_put(&there, "%s/%s", directory, name);
    within = within && system_is_same_file(there.data, file);
    tool_text_free(&there);
    return within;
}

static int output_check_directory(const char *path, tool_error *e)
{
    tool_text probe = { NULL, 0, 0 };
    int ok;
    if (!path) return 1;
    if (!system_make_directories(path)) return output_failed(path, e);
    tool_put(&probe, "%s/.embipc-probe", path);
    ok = system_can_write(probe.data) || output_failed(path, e);
    tool_text_free(&probe);
    return ok;
}

int output_check(const output_plan *p, tool_error *e)
{
    enum { FILES = sizeof p->file / sizeof *p->file };
    for (int i = 0; i < FILES + 2; i++) {
        int in_directory = i >= FILES;
        const char *path = in_directory ? p->directory[i - FILES] : p->file[i];
        if (!path) continue;
        if (in_directory && !output_check_directory(path, e)) return 0;
        for (int k = 0; k < p->input_count; k++)
            if (in_directory ? output_is_within(path, p->input[k]) : system_is_same_file(path, p->input[k]))
                return tool_fail(e, "%s: this output would overwrite the input %s, expected another place", path,
                                 p->input[k]);
        for (int k = 0; k < (in_directory ? FILES : i); k++)
            if (p->file[k]
                && (in_directory ? output_is_within(path, p->file[k]) : system_is_same_file(path, p->file[k])))
                return tool_fail(e, "%s: this output would overwrite another output, %s, expected another place", path,
                                 p->file[k]);
    }
    for (int i = 0; i < FILES; i++)
        if (p->file[i] && !system_can_write(p->file[i])) return output_failed(p->file[i], e);
    return 1;
}

static FILE *output_create(const char *directory, const char *name, const char *header, tool_error *e)
{
    tool_text path = { NULL, 0, 0 };
    FILE *f;
    tool_put(&path, "%s/%s", directory, name);
    f = fopen(path.data, "wb");
    if (f) setvbuf(f, NULL, _IONBF, 0);   /* a write is a write: no half line waits in a buffer */
    if (!f || fwrite(header, 1, strlen(header), f) != strlen(header)) {
        output_failed(path.data, e);
        if (f) fclose(f);
        f = NULL;
    }
    tool_text_free(&path);
    return f;
}

static const char output_steps_header[] =
    "step,time_s,wall_ms,newton_iterations,factorizations,contacts,min_distance_m,kinetic_J,elastic_J,"
    "barrier_J,potential_J,max_speed_mps,converged,drive_short_m\n";
static const char output_forces_header[] =
    "step,time_s,body_a,body_b,fx_N,fy_N,fz_N,friction_fx_N,friction_fy_N,friction_fz_N\n";
static const char output_bodies_header[] =
    "step,time_s,body,cx_m,cy_m,cz_m,vx_mps,vy_mps,vz_mps,wx_radps,wy_radps,wz_radps\n";
/* number: of the drive in the scene; force and torque of the drive on the body, torque about the drive's centre */
static const char output_drives_header[] =
    "step,time_s,number,body,short_m,fx_N,fy_N,fz_N,tx_Nm,ty_Nm,tz_Nm,limited,blocked_by\n";
/* number: of the joint in the scene; body_a is empty for the world. position in rad or m, effort in N m or N; force and
 * torque on body_b, torque about the point on body_a */
static const char output_joints_header[] =
    "step,time_s,number,kind,body_a,body_b,position,velocity,effort,fx_N,fy_N,fz_N,tx_Nm,ty_Nm,tz_Nm,gap_m,"
    "twist_rad\n";

int output_open(output *o, const char *directory, tool_error *e)
{
    memset(o, 0, sizeof *o);
    o->directory = directory;
    if (!system_make_directories(directory)) return output_failed(directory, e);
    o->steps = output_create(directory, "steps.csv", output_steps_header, e);
    if (o->steps) o->forces = output_create(directory, "forces.csv", output_forces_header, e);
    if (o->forces) o->bodies = output_create(directory, "bodies.csv", output_bodies_header, e);
    if (o->bodies) o->drives = output_create(directory, "drives.csv", output_drives_header, e);
    if (o->drives) o->joints = output_create(directory, "joints.csv", output_joints_header, e);
    return o->joints != NULL;
}

void output_close(output *o)
{
    if (o->steps) fclose(o->steps);
    if (o->forces) fclose(o->forces);
    if (o->bodies) fclose(o->bodies);
    if (o->drives) fclose(o->drives);
    if (o->joints) fclose(o->joints);
    tool_text_free(&o->text);
    memset(o, 0, sizeof *o);
}

/* Writes the scratch text and empties it. */
static int output_flush(output *o, FILE *f, const char *name, tool_error *e)
{
    size_t n = (size_t)o->text.length;
    int ok = n == 0 || fwrite(o->text.data, 1, n, f) == n;
    o->text.length = 0;
    return ok || tool_fail(e, "%s/%s: cannot be written: %s", o->directory, name, strerror(errno));
}

int output_file(const char *path, const tool_text *text, tool_error *e)
{
    FILE *f = fopen(path, "wb");
    int ok = f && fwrite(text->data, 1, (size_t)text->length, f) == (size_t)text->length;
    if (f && fclose(f) != 0) ok = 0;
    return ok || output_failed(path, e);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static int output_is_dynamic(embipc_kind kind) { return kind != EMBIPC_FIXED && kind != EMBIPC_KINEMATIC; }

/* Fastest vertex of a body that moves rigidly, as all do at the start: v + w x (x - c). */
static double output_start_speed(const embipc_body_view *view, const embipc_body_state *b)
{
    double fastest = 0;
    for (int i = 0; i < view->vertex_count; i++) {
        const double *x = view->x + 3 * i, *w = b->angular_velocity, *v = b->velocity;
        double r[3], u[3], speed;
        tool_sub(r, x, b->centre);
        u[0] = v[0] + w[1] * r[2] - w[2] * r[1];
        u[1] = v[1] + w[2] * r[0] - w[0] * r[2];
        u[2] = v[2] + w[0] * r[1] - w[1] * r[0];
        speed = tool_length(u);
        fastest = speed > fastest ? speed : fastest;
    }
    return fastest;
}

/* The start has energies and speeds, and nothing that only a step can tell. */
static void output_start_row(output *o, const embipc_world *world, const double gravity[3])
{
    double kinetic = 0, elastic = 0, potential = 0, fastest = 0;
    for (int i = 0; i < embipc_world_body_count(world); i++) {
        embipc_body_state b;
        embipc_body_view view;
        double speed;
        if (embipc_body_get_view(world, embipc_world_body(world, i), &view) != EMBIPC_OK
            || !output_is_dynamic(view.kind))
            continue;
        if (embipc_body_get_state(world, embipc_world_body(world, i), &b) != EMBIPC_OK) continue;
        kinetic += b.kinetic;
        elastic += b.elastic;
        for (int k = 0; k < 3; k++) potential -= b.mass * gravity[k] * b.centre[k];
        speed = output_start_speed(&view, &b);
        fastest = speed > fastest ? speed : fastest;
    }
    tool_put(&o->text, "0,0,,,,,,%.17g,%.17g,,%.17g,%.17g,,\n", kinetic, elastic, potential, fastest);
}

static void output_step_row(output *o, const embipc_step_stats *s, double wall_ms)
{
    tool_put(&o->text, "%d,%.17g,%.17g,%d,%d,%d,", s->step, s->time, wall_ms, s->newton_iterations,
             s->factorizations, s->contacts);
    tool_put(&o->text, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d,%.17g\n", s->min_distance, s->kinetic,
             s->elastic, s->barrier, s->potential, s->max_speed, s->converged ? 1 : 0, s->drive_short);
}

static const char *output_name(const embipc_world *world, embipc_body body)
{
    embipc_body_view view;
    return embipc_body_get_view(world, body, &view) == EMBIPC_OK ? view.name : "";
}

static void output_force_rows(output *o, const embipc_world *world, const embipc_step_stats *s,
                              const embipc_pair_force *pair, int pair_count)
{
    for (const embipc_pair_force *p = pair; p < pair + pair_count; p++)
        tool_put(&o->text, "%d,%.17g,%s,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", s->step, s->time,
                 output_name(world, p->a), output_name(world, p->b), p->force[0], p->force[1], p->force[2],
                 p->friction[0], p->friction[1], p->friction[2]);
}

static void output_body_rows(output *o, const embipc_world *world, int step, double time)
{
    for (int i = 0; i < embipc_world_body_count(world); i++) {
        embipc_body body = embipc_world_body(world, i);
        embipc_body_state b;
        if (embipc_body_get_state(world, body, &b) != EMBIPC_OK) continue;
        tool_put(&o->text, "%d,%.17g,%s", step, time, output_name(world, body));
        for (int k = 0; k < 3; k++) tool_put(&o->text, ",%.17g", b.centre[k]);
        for (int k = 0; k < 3; k++) tool_put(&o->text, ",%.17g", b.velocity[k]);
        for (int k = 0; k < 3; k++) tool_put(&o->text, ",%.17g", b.angular_velocity[k]);
        tool_put(&o->text, "\n");
    }
}

static void output_drive_rows(output *o, const scene *s, const embipc_world *world, const embipc_step_stats *stats)
{
    for (int i = 0; i < s->drive_count; i++) {
        embipc_drive_state d;
        if (embipc_drive_get_state(world, s->drive[i].handle, &d) != EMBIPC_OK) continue;
        tool_put(&o->text, "%d,%.17g,%d,%s,%.17g", stats->step, stats->time, i, s->body[s->drive[i].body].name, d.shortfall);
        for (int k = 0; k < 3; k++) tool_put(&o->text, ",%.17g", d.force[k]);
        for (int k = 0; k < 3; k++) tool_put(&o->text, ",%.17g", d.torque[k]);
        tool_put(&o->text, ",%d,%s\n", d.limited, d.blocked ? output_name(world, d.blocked_by) : "");
    }
}

static void output_joint_rows(output *o, const scene *s, const embipc_world *world, const embipc_step_stats *stats)
{
    for (int i = 0; i < s->joint_count; i++) {
        const scene_joint *p = &s->joint[i];
        embipc_joint_state j;
        if (embipc_joint_get_state(world, p->handle, &j) != EMBIPC_OK) continue;
        tool_put(&o->text, "%d,%.17g,%d,%s,%s,%s", stats->step, stats->time, i, scene_joint_kinds[p->def.kind],
                 p->a < 0 ? "" : s->body[p->a].name, s->body[p->b].name);
        tool_put(&o->text, ",%.17g,%.17g,%.17g", j.position, j.velocity, j.effort);
        for (int k = 0; k < 3; k++) tool_put(&o->text, ",%.17g", j.force[k]);
        for (int k = 0; k < 3; k++) tool_put(&o->text, ",%.17g", j.torque[k]);
        tool_put(&o->text, ",%.17g,%.17g\n", j.gap, j.twist);
    }
}

int output_start(output *o, const embipc_world *world, const double gravity[3], tool_error *e)
{
    output_start_row(o, world, gravity);
    if (!output_flush(o, o->steps, "steps.csv", e)) return 0;
    output_body_rows(o, world, 0, 0);
    return output_flush(o, o->bodies, "bodies.csv", e);
}

int output_step(output *o, const scene *s, const embipc_world *world, const embipc_step_stats *stats, double wall_ms,
                const embipc_pair_force *pair, int pair_count, tool_error *e)
{
    output_step_row(o, stats, wall_ms);
    if (!output_flush(o, o->steps, "steps.csv", e)) return 0;
    if (pair_count) output_force_rows(o, world, stats, pair, pair_count);
    if (!output_flush(o, o->forces, "forces.csv", e)) return 0;
    output_body_rows(o, world, stats->step, stats->time);
    if (!output_flush(o, o->bodies, "bodies.csv", e)) return 0;
    output_drive_rows(o, s, world, stats);
    if (!output_flush(o, o->drives, "drives.csv", e)) return 0;
    output_joint_rows(o, s, world, stats);
    return output_flush(o, o->joints, "joints.csv", e);
}

int output_frame(output *o, embipc_world *world, int step, tool_error *e)
{
    tool_text path = { NULL, 0, 0 };
    int first = 0, ok;
    for (int i = 0; i < embipc_world_body_count(world); i++) {
        embipc_body_view view;
        if (embipc_body_get_view(world, embipc_world_body(world, i), &view) != EMBIPC_OK) continue;
        mesh_put_obj(&o->text, view.name, view.x, view.vertex_count, view.triangles, view.triangle_count,
                     first);
        first += view.vertex_count;
    }
    tool_put(&path, "%s/frame_%05d.obj", o->directory, step);
    ok = output_file(path.data, &o->text, e);
    o->text.length = 0;
    tool_text_free(&path);
    return ok;
}
