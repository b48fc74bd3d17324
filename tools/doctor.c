#include "doctor.h"
#include "json.h"
#include "output.h"
#include "scene.h"
#include "system.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DOCTOR_GAP 1.5   /* of the pair's dhat: the start carries no force */
#define DOCTOR_DEGREE (3.14159265358979323846 / 180)

typedef struct doctor {
    const doctor_options *o;
    scene s;
    embipc_movable *body;     /* of the world without contact */
    double *gap;
    embipc_movement *movement;
    double *degrees;          /* of "rotation", for bodies that turned (3 each) */
    embipc_overlap *list;
    int found;
    embipc_error said;
    tool_error e;
} doctor;

static int doctor_fail(const doctor *d, int code)
{
    fprintf(d->o->errors, "%s\n", d->e.text);
    return code;
}

/* The world with every pair of bodies exempt from contact: it takes bodies that overlap. */
static int doctor_loose_world(doctor *d, embipc_world **world)
{
    scene *s = &d->s;
    scene_pair *kept = s->pair, *all;
    int cached_count = s->pair_count, n = s->body_count, count = 0, ok;
    all = (scene_pair *)tool_alloc((size_t)cached_count + (size_t)n * (size_t)n, sizeof *all);
    for (int i = 0; i < cached_count; i++)
        if (kept[i].a == kept[i].b) all[count++] = kept[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            all[count].a = j;
            all[count].b = i;
            all[count].line = s->body[i].line;
            all[count++].friction = -1;
        }
    s->pair = all;
    s->pair_count = count;
    ok = scene_build(s, world, &d->e);
    s->pair = kept;
    s->pair_count = cached_count;
    free(all);
    return ok;
}

/* Does a joint hold the body? It then stays where it is: a motion of its own would take the ends of the joint apart, as
 * one point says where both are. */
static int doctor_is_held(const doctor *d, int body)
{
    for (int k = 0; k < d->s.joint_count; k++)
        if (d->s.joint[k].a == body || d->s.joint[k].b == body) return 1;
    return 0;
}

/* Distance to be left between the coatings of two bodies; 0 for those that never meet. */
static double doctor_gap(const doctor *d, const embipc_world *world, int i, int j)
{
    const scene_body *a = &d->s.body[i], *b = &d->s.body[j];
    embipc_pair_parameters pair;
    for (int k = 0; k < d->s.pair_count; k++) {
        const scene_pair *one = &d->s.pair[k];
        if (!one->contact && ((one->a == i && one->b == j) || (one->a == j && one->b == i))) return 0;
    }
    for (int k = 0; k < d->s.joint_count; k++) {
        const scene_joint *one = &d->s.joint[k];
        if (!one->def.contact && ((one->a == i && one->b == j) || (one->a == j && one->b == i))) return 0;
    }
    if (a->def.kind == EMBIPC_FIXED && b->def.kind == EMBIPC_FIXED) return 0;
    (void)embipc_world_get_pair(world, a->handle, b->handle, &pair);
    return DOCTOR_GAP * pair.dhat;
}

/* The surfaces where they stand, and the gap of each pair. */
static void doctor_collect(doctor *d, const embipc_world *world)
{
    int n = d->s.body_count;
    for (int i = 0; i < n; i++) {
        embipc_body_view v;
        (void)embipc_body_get_view(world, d->s.body[i].handle, &v);
        d->body[i].x = v.x;
        d->body[i].vertex_count = v.vertex_count;
        d->body[i].tri = v.triangles;
        d->body[i].tri_count = v.triangle_count;
        d->body[i].fixed = v.kind == EMBIPC_FIXED || v.kind == EMBIPC_KINEMATIC || doctor_is_held(d, i);
        d->body[i].thickness = d->s.body[i].def.thickness;
        for (int j = 0; j < i; j++) d->gap[i * n + j] = d->gap[j * n + i] = doctor_gap(d, world, i, j);
    }
}

static double doctor_shift(const embipc_movement *m)
{
    return tool_length(m->shift);
}

/* trace of R - I: 0 for the identity, to the bit */
static int doctor_turned(const embipc_movement *m)
{
    return 3 - m->rotation[0] - m->rotation[4] - m->rotation[8] > 1e-20;
}

/* by how many degrees, from the part of the rotation that is not symmetric and from its trace */
static double doctor_angle(const embipc_movement *m)
{
    const double *R = m->rotation;
    double a = R[7] - R[5], b = R[2] - R[6], c = R[3] - R[1];
    return atan2(sqrt(a * a + b * b + c * c), R[0] + R[4] + R[8] - 1) / DOCTOR_DEGREE;
}

static int doctor_moves(const embipc_movement *m) { return doctor_shift(m) > 0 || doctor_turned(m); }

static void doctor_report(const doctor *d)
{
    static const char *const kind[] = { "touch", "cross", "one inside the other" };
    FILE *f = d->o->report;
    double total = 0;
    int moved = 0;
    fprintf(f, "%s: %d bodies, %d pair%s overlap%s\n", d->o->scene, d->s.body_count, d->found,
            d->found == 1 ? "" : "s", d->found == 1 ? "s" : "");
    for (int k = 0; k < d->found; k++) {
        const embipc_overlap *o = &d->list[k];
        fprintf(f, "  overlap     \"%s\" and \"%s\": %s, depth %.4g m%s%s\n", d->s.body[o->a].name,
                d->s.body[o->b].name, kind[o->kind], o->depth, o->linked ? "; linked" : "",
                o->parted ? "" : "; not parted");
    }
    for (int i = 0; i < d->s.body_count; i++) {
        const embipc_movement *m = &d->movement[i];
        double length = doctor_shift(m);
        total += length;
        if (!doctor_moves(m)) continue;
        moved++;
        fprintf(f, "  moved       \"%s\" by %.4g m: (%.4g, %.4g, %.4g)", d->s.body[i].name, length,
                m->shift[0], m->shift[1], m->shift[2]);
        if (doctor_turned(m)) fprintf(f, ", turned by %.3g degrees", doctor_angle(m));
        fprintf(f, "%s\n", m->grown ? ", growing from a shrunken copy" : "");
    }
    if (moved) fprintf(f, "  in all      %.4g m\n", total);
}

/* ---- The mended scene ----------------------------------------------------------------------- */

/* angles such that R = Rz(c) Ry(b) Rx(a), in degrees; of the many where b is upright, that with c = 0 */
static void doctor_angles(const double R[9], double degrees[3])
{
    double flat = sqrt(R[0] * R[0] + R[3] * R[3]);
    degrees[1] = atan2(-R[6], flat);
    degrees[0] = flat > 1e-9 ? atan2(R[7], R[8]) : atan2(-R[5], R[4]);
    degrees[2] = flat > 1e-9 ? atan2(R[3], R[0]) : 0;
    for (int k = 0; k < 3; k++) degrees[k] /= DOCTOR_DEGREE;
}

/* x -> rotation (x - centre) + centre + shift */
static void doctor_move(const embipc_movement *m, const double x[3], double to[3])
{
    for (int k = 0; k < 3; k++) {
        to[k] = m->centre[k] + m->shift[k];
        for (int l = 0; l < 3; l++) to[k] += m->rotation[3 * k + l] * (x[l] - m->centre[l]);
    }
}

/* The pose of body i in the scene; what a file can say of it, and no more. */
static void doctor_place(doctor *d, int i)
{
    embipc_body_def *def = &d->s.body[i].def;
    const embipc_movement *m = &d->movement[i];
    double R[9], to[3];
    if (!doctor_turned(m)) {
        for (int k = 0; k < 3; k++) def->position[k] += m->shift[k];
        return;
    }
    doctor_move(m, def->position, to);
    memcpy(def->position, to, sizeof to);
    for (int k = 0; k < 9; k++) {
        R[k] = 0;
        for (int l = 0; l < 3; l++) R[k] += m->rotation[3 * (k / 3) + l] * def->rotation[3 * l + k % 3];
    }
    doctor_angles(R, d->degrees + 3 * i);
    scene_rotation(def->rotation, d->degrees + 3 * i);
}

/* Moves the box by which a drive selects a part of a body with the body: the shifted box, or that of the points
 * that were in it, nodes of a full body and else surface vertices (see embipc_body_select()). Returns
 * whether the same points as before are in it. */
static int doctor_move_box(doctor *d, const embipc_world *world, scene_drive *drive)
{
    const embipc_movement *m = &d->movement[drive->body];
    embipc_body_view v;
    double shifted[6], hull[6], to[3], size = 0;
    const double *x;
    int same_shifted = !doctor_turned(m), same_hull = 1, full, count;
    (void)embipc_body_get_view(world, d->s.body[drive->body].handle, &v);
    full = v.kind == EMBIPC_FULL && !scene_is_soft(drive);
    x = full ? v.q : v.x;
    count = full ? v.node_count : v.vertex_count;
    for (int k = 0; k < 6; k++) {
        shifted[k] = drive->box[k] + m->shift[k % 3];
        hull[k] = k < 3 ? HUGE_VAL : -HUGE_VAL;
    }
    for (int i = 0; i < count; i++) {
        doctor_move(m, x + 3 * i, to);
        for (int k = 0; k < 3; k++) size = fmax(size, fabs(to[k]));
        for (int k = 0; k < 3 && scene_in_box(x + 3 * i, drive->box); k++) {
            hull[k] = fmin(hull[k], to[k]);
            hull[3 + k] = fmax(hull[3 + k], to[k]);
        }
    }
    for (int k = 0; k < 6; k++) hull[k] += (k < 3 ? -1e-9 : 1e-9) * size;   /* what rounding may move */
    for (int i = 0; i < count; i++) {
        int was = scene_in_box(x + 3 * i, drive->box);
        doctor_move(m, x + 3 * i, to);
        same_shifted &= scene_in_box(to, shifted) == was;
        same_hull &= scene_in_box(to, hull) == was;
    }
    memcpy(drive->box, same_shifted || !same_hull ? shifted : hull, sizeof drive->box);
    return same_shifted || same_hull;
}

/* Everything in the scene moves; `world` has the nodes where they were. Returns 0, and says so, where a drive
 * cannot follow. */
static int doctor_move_scene(doctor *d, const embipc_world *world)
{
    for (int i = 0; i < d->s.drive_count; i++) {
        scene_drive *drive = &d->s.drive[i];
        const scene_body *b = &d->s.body[drive->body];
        if (!drive->has_box || !doctor_moves(&d->movement[drive->body]) ||
            doctor_move_box(d, world, drive))
            continue;
        return tool_fail(&d->e, "%s:%d: no box selects what this drive holds any more, since \"%s\" turned",
                         d->o->scene, drive->line, b->name);
    }
    for (int i = 0; i < d->s.body_count; i++)
        if (doctor_moves(&d->movement[i])) doctor_place(d, i);
    return 1;
}

/* ---- The mended file ------------------------------------------------------------------------ */

/* bytes from .. to of the file give way to the text */
typedef struct doctor_edit { size_t from, to; char text[256]; } doctor_edit;

static size_t doctor_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Where meshes are named, they are found from the scene's own directory only. */
static int doctor_may_write(doctor *d)
{
    output_plan plan = { { d->o->out }, { NULL }, (const char *const *)d->s.file, d->s.file_count };
    size_t a = doctor_directory(d->o->scene), b = d->o->out ? doctor_directory(d->o->out) : a;
    for (int i = 0; d->o->out && i < d->s.body_count; i++)
        if (d->s.body[i].repeated)
            return tool_fail(&d->e, "%s: found a \"repeat\" (body \"%s\"), expected bodies one by one: -o gives each its place",
                             d->o->scene, d->s.body[i].name);
    if (!output_check(&plan, &d->e)) return 0;
    if (a == b && (!d->o->out || strncmp(d->o->scene, d->o->out, a) == 0)) return 1;
    for (int i = 0; i < d->s.body_count; i++)
        if (d->s.body[i].is_file)
            return tool_fail(&d->e, "%s: found another directory than that of %s, expected the same: body \"%s\" "
                             "names a mesh file relative to it", d->o->out, d->o->scene, d->s.body[i].name);
    return 1;
}

/* the bytes of a value that is an array of numbers, or of such arrays */
static void doctor_span(doctor_edit *e, const char *data, const json_value *v)
{
    int depth = 0;
    e->from = e->to = v->from;
    do {
        depth += (data[e->to] == '[') - (data[e->to] == ']');
        e->to++;
    } while (depth > 0);
}

/* The key of an object gets three numbers; where it is missing, it becomes the first. */
static void doctor_set(doctor_edit *e, const char *data, const json *j, const json_value *object,
                       const char *key, const double x[3])
{
    const json_value *v = json_get(j, object, key);
    e->from = e->to = object->from + 1;
    if (v) doctor_span(e, data, v);
    if (v) snprintf(e->text, sizeof e->text, "[%.17g, %.17g, %.17g]", x[0], x[1], x[2]);
    else snprintf(e->text, sizeof e->text, " \"%s\": [%.17g, %.17g, %.17g],", key, x[0], x[1], x[2]);
}

/* Edits of all that moved, into e, which has room; returns how many. Drives stand in the order of the file. */
static int doctor_edits(const doctor *d, const char *data, const json *j, doctor_edit *e)
{
    const json_value *body = json_first(j, json_get(j, &j->value[0], "bodies")), *drive, *select;
    int count = 0, next = 0;
    for (int i = 0; body && i < d->s.body_count; body = json_next(j, body), i++) {
        const embipc_body_def *def = &d->s.body[i].def;
        int moved = doctor_moves(&d->movement[i]);
        if (moved) doctor_set(&e[count++], data, j, body, "position", def->position);
        if (moved && doctor_turned(&d->movement[i]))
            doctor_set(&e[count++], data, j, body, "rotation", d->degrees + 3 * i);
        drive = json_get(j, body, "drive");
        for (drive = drive ? json_first(j, drive) : NULL; drive; drive = json_next(j, drive), next++) {
            const double *b = d->s.drive[next].box;
            select = json_get(j, drive, "select");
            if (!moved || !select) continue;
            doctor_span(&e[count], data, json_get(j, select, "box"));
            snprintf(e[count].text, sizeof e[count].text, "[[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]]", b[0],
                     b[1], b[2], b[3], b[4], b[5]);
            count++;
        }
    }
    return count;
}

static int doctor_compare(const void *a, const void *b)
{
    const doctor_edit *x = (const doctor_edit *)a, *y = (const doctor_edit *)b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* The scene with other poses where something moved, and not another byte changed. */
static int doctor_write(doctor *d)
{
    size_t size, at = 0;
    char *data = tool_read_file(d->o->scene, JSON_MAX_BYTES, &size, &d->e);
    size_t most = 2 * (size_t)d->s.body_count + (size_t)d->s.drive_count + 1;
    doctor_edit *edit = (doctor_edit *)tool_alloc(most, sizeof *edit);
    tool_text t = { NULL, 0, 0 };
    json j;
    int ok = 0, count;
    memset(&j, 0, sizeof j);
    if (data && json_parse(&j, d->o->scene, data, size, &d->e)) {
        count = doctor_edits(d, data, &j, edit);
        qsort(edit, (size_t)count, sizeof *edit, doctor_compare);
        for (int k = 0; k < count; k++) {
            tool_put(&t, "%.*s%s", (int)(edit[k].from - at), data + at, edit[k].text);
            at = edit[k].to;
        }
        tool_put(&t, "%s", data + at);
        ok = output_file(d->o->out, &t, &d->e);
    }
    tool_text_free(&t);
    json_free(&j);
    free(edit);
    free(data);
    return ok;
}

/* ---- The command ---------------------------------------------------------------------------- */

/* Overlaps, movements and the report, from the bodies as they stand. Returns 0 for bad input; *whole: all are
 * apart now. */
static int doctor_separate(doctor *d, const embipc_world *world, int *whole)
{
    int n = d->s.body_count, most = n * (n - 1) / 2;
    embipc_result r;
    d->body = (embipc_movable *)tool_alloc((size_t)n, sizeof *d->body);
    d->gap = (double *)tool_alloc((size_t)n * (size_t)n, sizeof *d->gap);
    d->movement = (embipc_movement *)tool_alloc((size_t)n, sizeof *d->movement);
    d->degrees = (double *)tool_alloc(3 * (size_t)n, sizeof *d->degrees);
    d->list = (embipc_overlap *)tool_alloc((size_t)most, sizeof *d->list);
    doctor_collect(d, world);
    if (system_stderr_is_terminal())
        fprintf(d->o->errors, "looking for overlaps of %d bodies and a way out of them\n", n);
    r = embipc_separate(d->body, n, d->gap, d->movement, d->list, most, &d->found, &d->said);
    *whole = r == EMBIPC_OK;
    if (r != EMBIPC_OK && r != EMBIPC_ERR_INTERSECTION)
        return tool_fail(&d->e, "%s: %s", d->o->scene, d->said.text);
    doctor_report(d);
    if (r != EMBIPC_OK) {
        const char *why = strstr(d->said.text, "parted: ");
        tool_fail(&d->e, "\"%s\" and \"%s\": %s", d->s.body[d->said.index[0]].name,
                  d->s.body[d->said.index[1]].name, why ? why + 8 : d->said.text);
    }
    return 1;
}

/* What the library says of the bodies, among the other lines of the report. */
static void doctor_log(int level, const char *text, void *ctx)
{
    const doctor *d = (const doctor *)ctx;
    (void)level;
    fprintf(d->o->report, "  note        %s\n", text);
}

static int doctor_examine(doctor *d)
{
    embipc_world *world = NULL;
    int whole = 0, read;
    if (!scene_read(&d->s, d->o->scene, &d->e) || !doctor_may_write(d) || !doctor_loose_world(d, &world))
        return doctor_fail(d, 2);
    read = doctor_separate(d, world, &whole);
    if (whole) whole = doctor_move_scene(d, world);
    embipc_world_destroy(world);
    world = NULL;
    if (!read) return doctor_fail(d, 2);
    d->s.world.log = doctor_log;
    d->s.world.log_ctx = d;
    if (whole) whole = scene_build(&d->s, &world, &d->e);   /* the judge is the world */
    embipc_world_destroy(world);
    if (!whole) {
        fprintf(d->o->report, "  verdict     cannot be mended: %s\n", d->e.text);
        fprintf(d->o->report,
                "  advice      move these two apart in the scene, by more than their overlap, and try again\n");
        return 1;
    }
    fprintf(d->o->report, "  verdict     %s\n", d->found ? "sound with these motions" : "sound as it is");
    if (d->o->out && !doctor_write(d)) return doctor_fail(d, 2);
    if (d->o->out) fprintf(d->o->report, "  written     %s\n", d->o->out);
    return 0;
}

int doctor_scene(const doctor_options *options)
{
    doctor d;
    int code;
    memset(&d, 0, sizeof d);
    d.o = options;
    code = doctor_examine(&d);
    free(d.body);
    free(d.gap);
    free(d.movement);
    free(d.degrees);
    free(d.list);
    scene_free(&d.s);
    return code;
}
