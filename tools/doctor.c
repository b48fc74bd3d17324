#include "doctor.h"
#include "json.h"
#include "output.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DOCTOR_GAP 1.5   /* of the pair's dhat: the start carries no force */

typedef struct doctor {
    const doctor_options *o;
    scene s;
    embipc_movable *body;     /* of the world without contact */
    double *gap;
    embipc_movement *movement;
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
    int kept_count = s->pair_count, n = s->body_count, count = 0, ok;
    all = (scene_pair *)tool_alloc((size_t)kept_count + (size_t)n * (size_t)n, sizeof *all);
    for (int i = 0; i < kept_count; i++)
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
    s->pair_count = kept_count;
    free(all);
    return ok;
}

/* The surfaces where they stand, and the gap of each pair; 0 for those that never meet. */
static void doctor_collect(doctor *d, const embipc_world *world)
{
    int n = d->s.body_count;
    for (int i = 0; i < n; i++) {
        embipc_body_view v;
        embipc_body_parameters p, q;
        (void)embipc_body_get_view(world, d->s.body[i].handle, &v);
        (void)embipc_body_get_parameters(world, d->s.body[i].handle, &p);
        d->body[i].x = v.x;
        d->body[i].vertex_count = v.vertex_count;
        d->body[i].tri = v.triangles;
        d->body[i].tri_count = v.triangle_count;
        d->body[i].fixed = v.kind == EMBIPC_FIXED || v.kind == EMBIPC_KINEMATIC;
        for (int j = 0; j < i; j++) {
            int still = d->body[j].fixed;
            (void)embipc_body_get_parameters(world, d->s.body[j].handle, &q);
            d->gap[i * n + j] = DOCTOR_GAP * (d->body[i].fixed == still ? fmin(p.dhat, q.dhat)
                                              : still ? p.dhat : q.dhat);
            if (v.kind == EMBIPC_FIXED && d->s.body[j].def.kind == EMBIPC_FIXED) d->gap[i * n + j] = 0;
            for (int k = 0; k < d->s.pair_count; k++) {
                const scene_pair *pair = &d->s.pair[k];
                if (!pair->contact && ((pair->a == i && pair->b == j) || (pair->a == j && pair->b == i)))
                    d->gap[i * n + j] = 0;
            }
            d->gap[j * n + i] = d->gap[i * n + j];
        }
    }
}

static void doctor_report(const doctor *d)
{
    static const char *const kind[] = { "touch", "cross", "one inside the other" };
    FILE *f = d->o->report;
    double total = 0;
    fprintf(f, "%s: %d bodies, %d pair%s overlap%s\n", d->o->scene, d->s.body_count, d->found,
            d->found == 1 ? "" : "s", d->found == 1 ? "s" : "");
    for (int k = 0; k < d->found; k++) {
        const embipc_overlap *o = &d->list[k];
        fprintf(f, "  overlap     \"%s\" and \"%s\": %s, depth %.4g m%s\n", d->s.body[o->a].name,
                d->s.body[o->b].name, kind[o->kind], o->depth,
                o->linked ? "; linked?" : o->parted ? "" : "; not parted");
    }
    for (int i = 0; i < d->s.body_count; i++) {
        const double *t = d->movement[i].shift;
        double length = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
        total += length;
        if (length > 0)
            fprintf(f, "  moved       \"%s\" by %.4g m: (%.4g, %.4g, %.4g)\n", d->s.body[i].name, length, t[0],
                    t[1], t[2]);
    }
    if (total > 0) fprintf(f, "  in all      %.4g m\n", total);
}

/* ---- The mended file ------------------------------------------------------------------------ */

static size_t doctor_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Where meshes are named, they are found from the scene's own directory only. */
static int doctor_may_write(doctor *d)
{
    size_t a = doctor_directory(d->o->scene), b = d->o->out ? doctor_directory(d->o->out) : a;
    if (a == b && (!d->o->out || strncmp(d->o->scene, d->o->out, a) == 0)) return 1;
    for (int i = 0; i < d->s.body_count; i++)
        if (d->s.body[i].is_file)
            return tool_fail(&d->e, "%s: found another directory than that of %s, expected the same: body \"%s\" "
                             "names a mesh file relative to it", d->o->out, d->o->scene, d->s.body[i].name);
    return 1;
}

/* The scene with other positions where something moved, and not another byte changed. */
static int doctor_write(doctor *d)
{
    size_t size, at = 0;
    char *data = tool_read_file(d->o->scene, JSON_MAX_BYTES, &size, &d->e);
    tool_text t = { NULL, 0, 0 };
    const json_value *v;
    json j;
    int ok = 0, i = 0;
    memset(&j, 0, sizeof j);
    if (!data) return 0;
    if (json_parse(&j, d->o->scene, data, size, &d->e)) {
        v = json_first(&j, json_get(&j, &j.value[0], "bodies"));
        for (; v && i < d->s.body_count; v = json_next(&j, v), i++) {
            const json_value *place = json_get(&j, v, "position");
            const double *p = d->s.body[i].def.position, *s = d->movement[i].shift;
            size_t from = place ? place->from : v->from + 1;
            if (!(fabs(s[0]) + fabs(s[1]) + fabs(s[2]) > 0)) continue;
            tool_put(&t, "%.*s%s[%.17g, %.17g, %.17g]%s", (int)(from - at), data + at,
                     place ? "" : " \"position\": ", p[0], p[1], p[2], place ? "" : ",");
            at = place ? (size_t)(strchr(data + from, ']') - data) + 1 : from;
        }
        tool_put(&t, "%s", data + at);
        ok = output_file(d->o->out, &t, &d->e);
    }
    tool_text_free(&t);
    json_free(&j);
    free(data);
    return ok;
}

/* ---- The command ---------------------------------------------------------------------------- */

static int doctor_examine(doctor *d)
{
    embipc_world *world = NULL;
    embipc_result r;
    int n, most;
    if (!scene_read(&d->s, d->o->scene, &d->e) || !doctor_may_write(d) || !doctor_loose_world(d, &world))
        return doctor_fail(d, 2);
    n = d->s.body_count;
    most = n * (n - 1) / 2;
    d->body = (embipc_movable *)tool_alloc((size_t)n, sizeof *d->body);
    d->gap = (double *)tool_alloc((size_t)n * (size_t)n, sizeof *d->gap);
    d->movement = (embipc_movement *)tool_alloc((size_t)n, sizeof *d->movement);
    d->list = (embipc_overlap *)tool_alloc((size_t)most, sizeof *d->list);
    doctor_collect(d, world);
    r = embipc_separate(d->body, n, d->gap, d->movement, d->list, most, &d->found, &d->said);
    embipc_world_destroy(world);
    if (r != EMBIPC_OK && r != EMBIPC_ERR_INTERSECTION) {
        tool_fail(&d->e, "%s: %s", d->o->scene, d->said.text);
        return doctor_fail(d, 2);
    }
    doctor_report(d);
    if (r != EMBIPC_OK) {
        const char *why = strstr(d->said.text, "parted: ");
        fprintf(d->o->report, "  verdict     cannot be mended by shifts: \"%s\" and \"%s\": %s\n",
                d->s.body[d->said.index[0]].name, d->s.body[d->said.index[1]].name,
                why ? why + 8 : d->said.text);
        return 1;
    }
    for (int i = 0; i < 3 * n; i++) d->s.body[i / 3].def.position[i % 3] += d->movement[i / 3].shift[i % 3];
    if (!scene_build(&d->s, &world, &d->e)) {   /* the judge is the world */
        fprintf(d->o->report, "  verdict     cannot be mended by shifts: %s\n", d->e.text);
        return 1;
    }
    embipc_world_destroy(world);
    fprintf(d->o->report, "  verdict     %s\n", d->found ? "sound with these shifts" : "sound as it is");
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
    free(d.list);
    scene_free(&d.s);
    return code;
}
