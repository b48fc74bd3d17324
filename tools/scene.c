#include "scene.h"
#include "json.h"
#include "scene_keys.h"
#include "shapes.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENE_DEPTH_MOST 20000   /* triangles of a body for which the depth of an overlap is looked for: a second or so */
#define SCENE_DEGREE (3.14159265358979323846 / 180)
#define SCENE_COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- Checked access to the file -------------------------------------------------------------
 * The first thing that is wrong fills the error and sets `failed`; every later call then returns at once,
 * so that reading code needs no test after each key. */
typedef struct scene_reader {
    scene *s;
    const json *j;
    char where[128];       /* the part of the scene that is being read */
    int failed;
    tool_error *e;
} scene_reader;

/* What a number may be, and how to say it. */
typedef struct scene_range {
    double lo, hi;
    int open;              /* lo and hi themselves are out */
    const char *expected;
} scene_range;

static const scene_range scene_any = { -HUGE_VAL, HUGE_VAL, 0, "a number" };
static const scene_range scene_positive = { 0, HUGE_VAL, 1, "a number > 0" };
static const scene_range scene_not_negative = { 0, HUGE_VAL, 0, "a number >= 0" };
static const scene_range scene_poisson = { -1, 0.5, 1, "a number between -1 and 0.5, without these" };

static int scene_fail_key(scene_reader *r, const json_value *v, const char *key, const char *expected)
{
    char found[80];
    if (r->failed) return 0;
    r->failed = 1;
    return tool_fail(r->e, "%s:%d: %s: key \"%s\": found %s, expected %s", r->s->path, v->line, r->where, key,
                     json_describe(v, found), expected);
}

static int scene_fail_missing(scene_reader *r, const json_value *object, const char *key,
                              const char *expected)
{
    if (r->failed) return 0;
    r->failed = 1;
    return tool_fail(r->e, "%s:%d: %s: found no key \"%s\", expected %s", r->s->path, object->line, r->where,
                     key, expected);
}

/* "a, b or c" */
static const char *scene_list(tool_text *t, const char *const *list, int count)
{
    for (int i = 0; i < count; i++)
        tool_put(t, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", list[i]);
    return t->data;
}

/* A word that is none of a list: names the one that was probably meant. */
static int scene_fail_word(scene_reader *r, int line, const char *what, const char *word,
                           const char *const *list, int count)
{
    char quoted[48];
    const char *nearest = tool_nearest(word, list, count);
    tool_text t = { NULL, 0, 0 };
    if (r->failed) return 0;
    r->failed = 1;
    tool_put(&t, "");
    tool_fail(r->e, "%s:%d: %s: found %s %s%s%s%s, expected %s", r->s->path, line, r->where, what,
              tool_quote(quoted, word, strlen(word)), nearest ? " (did you mean \"" : "",
              nearest ? nearest : "", nearest ? "\"?)" : "", scene_list(&t, list, count));
    tool_text_free(&t);
    return 0;
}

/* The value is an object, and all its keys are those of this part. */
static int scene_object(scene_reader *r, const json_value *v, scene_part part)
{
    const char **names;
    char found[80];
    int count = 0;
    if (r->failed) return 0;
    if (v->type != JSON_OBJECT && v->key) return scene_fail_key(r, v, v->key, "an object in { }");
    if (v->type != JSON_OBJECT) {
        r->failed = 1;
        return tool_fail(r->e, "%s:%d: %s: found %s, expected an object in { }", r->s->path, v->line,
                         r->where, json_describe(v, found));
    }
    names = (const char **)tool_alloc((size_t)scene_key_count, sizeof *names);
    for (int i = 0; i < scene_key_count; i++)
        if (scene_keys[i].part == part) names[count++] = scene_keys[i].key;
    for (const json_value *k = json_first(r->j, v); k && !r->failed; k = json_next(r->j, k)) {
        int known = 0;
        for (int i = 0; i < count; i++) known |= strcmp(k->key, names[i]) == 0;
        if (!known) scene_fail_word(r, k->line, "the unknown key", k->key, names, count);
    }
    free(names);
    return !r->failed;
}

static int scene_in_range(double x, scene_range range)
{
    return range.open ? x > range.lo && x < range.hi : x >= range.lo && x <= range.hi;
}

/* 1 and *out when the key is there and fine; 0 with *out untouched otherwise. All readers below likewise. */
static int scene_number(scene_reader *r, const json_value *object, const char *key, scene_range range,
                        double *out)
{
    const json_value *v = r->failed ? NULL : json_get(r->j, object, key);
    if (!v) return 0;
    if (v->type != JSON_NUMBER || !scene_in_range(v->number, range))
        return scene_fail_key(r, v, key, range.expected);
    *out = v->number;
    return 1;
}

static int scene_integer(scene_reader *r, const json_value *object, const char *key, int lo, int hi, int *out)
{
    const json_value *v = r->failed ? NULL : json_get(r->j, object, key);
    char expected[64];
    if (!v) return 0;
    snprintf(expected, sizeof expected, lo == hi ? "%d" : "a whole number from %d to %d", lo, hi);
    if (v->type != JSON_NUMBER || !(v->number >= lo && v->number <= hi) || v->number != floor(v->number))
        return scene_fail_key(r, v, key, expected);
    *out = (int)v->number;
    return 1;
}

/* Array v of n numbers; messages call it key. */
static int scene_numbers_of(scene_reader *r, const json_value *v, const char *key, int n, scene_range range,
                            double *out)
{
    char expected[128];
    int i = 0;
    if (r->failed) return 0;
    snprintf(expected, sizeof expected, "an array of %d: each %s", n, range.expected);
    if (v->type != JSON_ARRAY || v->count != n) return scene_fail_key(r, v, key, expected);
    for (const json_value *k = json_first(r->j, v); k; k = json_next(r->j, k)) {
        if (k->type != JSON_NUMBER || !scene_in_range(k->number, range))
            return scene_fail_key(r, k, key, expected);
        out[i++] = k->number;
    }
    return 1;
}

static int scene_numbers(scene_reader *r, const json_value *object, const char *key, int n, scene_range range,
                         double *out)
{
    const json_value *v = r->failed ? NULL : json_get(r->j, object, key);
    return v && scene_numbers_of(r, v, key, n, range, out);
}

static int scene_bool(scene_reader *r, const json_value *object, const char *key, int *out)
{
    const json_value *v = r->failed ? NULL : json_get(r->j, object, key);
    if (!v) return 0;
    if (v->type != JSON_TRUE && v->type != JSON_FALSE) return scene_fail_key(r, v, key, "true or false");
    *out = v->type == JSON_TRUE;
    return 1;
}

static int scene_string(scene_reader *r, const json_value *object, const char *key, const char *expected,
                        const char **out)
{
    const json_value *v = r->failed ? NULL : json_get(r->j, object, key);
    if (!v) return 0;
    if (v->type != JSON_STRING || !v->string[0]) return scene_fail_key(r, v, key, expected);
    *out = v->string;
    return 1;
}

/* One of the words that this key may have; *out is its number. */
static int scene_choice(scene_reader *r, const json_value *object, scene_part part, const char *key, int *out)
{
    const json_value *v = r->failed ? NULL : json_get(r->j, object, key);
    const char *word = "", *const *list;
    char what[64];
    int count = 0;
    if (!v || !scene_string(r, object, key, "a string", &word)) return 0;
    list = scene_words(part, key, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0) { *out = i; return 1; }
    snprintf(what, sizeof what, "key \"%s\":", key);
    return scene_fail_word(r, v->line, what, word, list, count);
}

/* ---- Contact, solver, material -------------------------------------------------------------- */

static void scene_read_contact(scene_reader *r, const json_value *root)
{
    const json_value *v = json_get(r->j, root, "contact");
    embipc_world_def *d = &r->s->world;
    strcpy(r->where, "\"contact\"");
    if (!v || !scene_object(r, v, SCENE_CONTACT)) return;
    scene_number(r, v, "dhat", scene_positive, &d->dhat);
    scene_number(r, v, "kappa", scene_positive, &d->kappa);
    scene_number(r, v, "friction_velocity", scene_positive, &d->friction_velocity);
    scene_integer(r, v, "friction_iterations", 0, 1000, &d->friction_iterations);
}

/* A key that the chosen model, kind or shape has no use for would be lost in silence: refused. */
static void scene_refuse(scene_reader *r, const json_value *object, const char *key, const char *expected)
{
    const json_value *v = r->failed ? NULL : json_get(r->j, object, key);
    if (v) scene_fail_key(r, v, key, expected);
}

static void scene_read_solver(scene_reader *r, const json_value *root)
{
    const json_value *v = json_get(r->j, root, "solver");
    embipc_world_def *d = &r->s->world;
    int choice = 0;
    strcpy(r->where, "\"solver\"");
    if (!v || !scene_object(r, v, SCENE_SOLVER)) return;
    if (scene_choice(r, v, SCENE_SOLVER, "linear", &choice)) d->solver = (embipc_solver)choice;
    if (json_get(r->j, v, "tolerance")) scene_refuse(r, v, "accuracy", "no accuracy beside a tolerance");
    if (scene_choice(r, v, SCENE_SOLVER, "accuracy", &choice)) d->accuracy = (embipc_accuracy)choice;
    scene_number(r, v, "tolerance", scene_positive, &d->tolerance);
    scene_integer(r, v, "max_iterations", 1, 1000000, &d->max_iterations);
}

/* What each model has no use for. */
static void scene_refuse_for_model(scene_reader *r, const json_value *v, embipc_model model, embipc_kind kind)
{
    char text[96];
    snprintf(text, sizeof text, "no such key for model %s", scene_models[model]);
    switch (model) {
    case EMBIPC_ORTHOGONALITY:
        if (kind != EMBIPC_AFFINE)
            scene_refuse(r, v, "model", "\"corotated\": orthogonality is for kind affine only");
        scene_refuse(r, v, "young", "\"stiffness\" for model orthogonality");
        scene_refuse(r, v, "poisson", "\"stiffness\" for model orthogonality");
        scene_refuse(r, v, "averaged", text);
        scene_refuse(r, v, "fibre", text);
        scene_refuse(r, v, "fibre_stiffness", text);
        break;
    case EMBIPC_MOONEY_RIVLIN:
        scene_refuse(r, v, "young", "\"mooney\": [C1, C2, K] for model mooney_rivlin");
        scene_refuse(r, v, "poisson", "\"mooney\": [C1, C2, K] for model mooney_rivlin");
        break;
    case EMBIPC_ARAP:
        scene_refuse(r, v, "poisson", text);
        scene_refuse(r, v, "averaged", text);
        break;
    default: break;
    }
    snprintf(text, sizeof text, "no such key for model %s (use \"young\")", scene_models[model]);
    if (model != EMBIPC_ORTHOGONALITY)
        scene_refuse(r, v, "stiffness",
                     model == EMBIPC_MOONEY_RIVLIN ? "\"mooney\": [C1, C2, K] for model mooney_rivlin" : text);
    if (model != EMBIPC_MOONEY_RIVLIN) scene_refuse(r, v, "mooney", text);
    if (model == EMBIPC_NEO_HOOKEAN)
        scene_refuse(r, v, "determinant_bound", "no such key for model neo_hookean: it is always on");
}

/* Older scenes may ask for it. With R held, young/2 |F - R|^2 resists every rotation with its whole stiffness. */
static void scene_refuse_lagged_arap(scene_reader *r, const json_value *v)
{
    const char *word = "";
    if (json_get(r->j, v, "model") && scene_string(r, v, "model", "a string", &word) && !strcmp(word, "lagged_arap"))
        scene_refuse(r, v, "model", "\"arap\": \"lagged_arap\" resisted rotation and is no longer there");
}

static void scene_read_mooney(scene_reader *r, const json_value *v, embipc_material *m)
{
    static const char expected[] = "[C1, C2, K] in Pa, C1 and C2 >= 0, not both 0, K >= 4/3 (C1 + C2)";
    const json_value *list = json_get(r->j, v, "mooney");
    if (m->model != EMBIPC_MOONEY_RIVLIN) return;
    if (!list) {
        scene_fail_missing(r, v, "mooney", expected);
        return;
    }
    if (scene_numbers(r, v, "mooney", 3, scene_not_negative, m->mooney)
        && !(m->mooney[0] + m->mooney[1] > 0 && m->mooney[2] >= 4 * (m->mooney[0] + m->mooney[1]) / 3))
        scene_fail_key(r, list, "mooney", expected);
}

static void scene_read_fibre(scene_reader *r, const json_value *v, embipc_material *m)
{
    scene_number(r, v, "fibre_stiffness", scene_not_negative, &m->fibre_stiffness);
    if (scene_numbers(r, v, "fibre", 3, scene_any, m->fibre)
        && m->fibre[0] == 0 && m->fibre[1] == 0 && m->fibre[2] == 0)
        scene_fail_key(r, json_get(r->j, v, "fibre"), "fibre", "a direction [x, y, z]");
    if (m->fibre_stiffness > 0 && m->fibre[0] == 0 && m->fibre[1] == 0 && m->fibre[2] == 0)
        scene_fail_missing(r, v, "fibre", "a direction [x, y, z] for fibre_stiffness");
}

static void scene_read_material(scene_reader *r, const json_value *body, embipc_body_def *def)
{
    const json_value *v = json_get(r->j, body, "material");
    embipc_material *m = &def->material;
    int choice = 0;
    if (!v || !scene_object(r, v, SCENE_MATERIAL)) return;
    scene_refuse_lagged_arap(r, v);
    if (scene_choice(r, v, SCENE_MATERIAL, "model", &choice)) m->model = (embipc_model)choice;
    scene_number(r, v, "young", scene_positive, &m->young);
    scene_number(r, v, "poisson", scene_poisson, &m->poisson);
    scene_number(r, v, "density", scene_positive, &m->density);
    scene_number(r, v, "stiffness", scene_positive, &m->stiffness);
    scene_numbers(r, v, "damping", 2, scene_not_negative, m->damping);
    scene_bool(r, v, "averaged", &m->averaged);
    scene_bool(r, v, "determinant_bound", &m->determinant_bound);
    scene_refuse_for_model(r, v, m->model, def->kind);
    scene_read_mooney(r, v, m);
    scene_read_fibre(r, v, m);
}

/* ---- Meshes and shapes ---------------------------------------------------------------------- */

/* A path in a scene is relative to the scene file. */
static char *scene_path(const scene_reader *r, const char *file)
{
    const char *slash = strrchr(r->s->path, '/');
    size_t directory = slash && file[0] != '/' ? (size_t)(slash - r->s->path) + 1 : 0;
    char *path = (char *)tool_alloc(directory + strlen(file) + 1, 1);
    memcpy(path, r->s->path, directory);
    strcpy(path + directory, file);
    return path;
}

static void scene_add_file(scene *s, const char *path)
{
    char *copy = (char *)tool_alloc(strlen(path) + 1, 1);
    strcpy(copy, path);
    TOOL_GROW(char *, s->file, s->file_capacity, s->file_count + 1);
    s->file[s->file_count++] = copy;
}

/* The mesh file under this key. Returns 0 without the key too. */
static int scene_read_mesh(scene_reader *r, const json_value *body, const char *key, tool_mesh *m)
{
    const char *file = "";
    tool_error inner;
    char *path;
    if (!scene_string(r, body, key, "the name of a mesh file", &file)) return 0;
    path = scene_path(r, file);
    if (!mesh_read(m, path, &inner)) {
        r->failed = 1;
        tool_fail(r->e, "%.600s\n  (named by %s:%d: %s: key \"%s\")", inner.text, r->s->path,
                  json_get(r->j, body, key)->line, r->where, key);
    }
    scene_add_file(r->s, path);
    free(path);
    return !r->failed;
}

typedef struct scene_shape {
    int kind, resolution;
    double size[3], radius, height, tube, normal[3];
} scene_shape;

/* The measures of a shape: each has its own, needed, and none of the others. */
static void scene_read_shape_keys(scene_reader *r, const json_value *body, scene_shape *p)
{
    static const struct { const char *key, *expected; } measure[] = { { "size", "the full extents [x, y, z]" },
        { "radius", "a number > 0" }, { "height", "a number > 0" }, { "tube", "a number > 0" }, { "normal", "a direction" } };
    char expected[64];
    snprintf(expected, sizeof expected, "no such key for shape %s", scene_shape_lines[p->kind].name);
    for (int i = 0; i < SCENE_COUNT(measure); i++) {
        if (!scene_shape_has(p->kind, measure[i].key)) scene_refuse(r, body, measure[i].key, expected);
        else if (p->kind != SCENE_PLANE && !json_get(r->j, body, measure[i].key))
            scene_fail_missing(r, body, measure[i].key, measure[i].expected);
    }
    scene_numbers(r, body, "size", 3, scene_positive, p->size);
    scene_number(r, body, "radius", scene_positive, &p->radius);
    scene_number(r, body, "height", scene_positive, &p->height);
    scene_number(r, body, "tube", scene_positive, &p->tube);
    if (scene_numbers(r, body, "normal", 3, scene_any, p->normal) && p->normal[0] == 0 && p->normal[1] == 0
        && p->normal[2] == 0)
        scene_refuse(r, body, "normal", "a direction, not 0, 0, 0");
    scene_integer(r, body, "resolution", 1, 512, &p->resolution);
}

static int scene_make_shape(const scene_shape *p, int solid, tool_mesh *m, tool_error *e)
{
    switch (p->kind) {
    case SCENE_BOX: return shape_box(m, p->size, p->resolution, solid, e);
    case SCENE_SPHERE: return shape_sphere(m, p->radius, p->resolution, solid, e);
    case SCENE_CYLINDER: return shape_cylinder(m, p->radius, p->height, p->resolution, solid, e);
    case SCENE_CAPSULE: return shape_capsule(m, p->radius, p->height, p->resolution, solid, e);
    case SCENE_TORUS: return shape_torus(m, p->radius, p->tube, p->resolution, solid, e);
    case SCENE_PLANE: return shape_plane(m, p->normal, p->resolution, solid, e);
    case SCENE_PLATE: return shape_plate(m, p->radius, p->resolution, solid, e);
    case SCENE_BEAR: return shape_bear(m, p->resolution, solid, e);
    case SCENE_COMB: return shape_comb(m, p->size, p->resolution, solid, e);
    case SCENE_BALL: return shape_ball(m, p->radius, p->resolution, solid, e);
    case SCENE_FINGER: return shape_finger(m, p->size, p->resolution, solid, e);
    default: return shape_bubble(m, p->resolution, solid, e);
    }
}

static void scene_read_shape(scene_reader *r, const json_value *body, scene_body *b)
{
    scene_shape p;
    tool_error inner;
    memset(&p, 0, sizeof p);
    p.normal[2] = 1;
    if (!scene_choice(r, body, SCENE_BODY, "shape", &p.kind)) return;
    scene_read_shape_keys(r, body, &p);
    if (r->failed) return;
    snprintf(b->source, sizeof b->source, "%s", scene_shape_lines[p.kind].name);
    b->is_bear = p.kind == SCENE_BEAR;
    if (scene_make_shape(&p, b->def.kind == EMBIPC_FULL, &b->surface, &inner)) return;
    r->failed = 1;
    tool_fail(r->e, "%s:%d: %s: shape %s: %s", r->s->path, body->line, r->where, scene_shape_lines[p.kind].name,
              inner.text);
}

/* A body's own mesh, and the cage where the scene names one. Tets rule: their boundary is the surface. */
static void scene_read_geometry(scene_reader *r, const json_value *body, scene_body *b)
{
    static const char *const measures[] = { "size", "radius", "height", "tube", "normal", "resolution" };
    const json_value *mesh_key = json_get(r->j, body, "mesh"), *shape_key = json_get(r->j, body, "shape");
    embipc_body_def *d = &b->def;
    if (mesh_key && shape_key)
        scene_fail_key(r, shape_key, "shape", "either \"mesh\" or \"shape\", not both");
    if (!mesh_key && !shape_key) scene_fail_missing(r, body, "shape", "\"shape\" or \"mesh\"");
    if (mesh_key) {
        for (int i = 0; i < SCENE_COUNT(measures); i++)
            scene_refuse(r, body, measures[i], "no such key for a mesh file (use \"scale\")");
        b->is_file = scene_read_mesh(r, body, "mesh", &b->surface);
        if (b->is_file) snprintf(b->source, sizeof b->source, "%s", mesh_key->string);
    } else scene_read_shape(r, body, b);
    if (r->failed) return;
    if (d->kind == EMBIPC_FULL && b->surface.tet_count == 0)
        scene_fail_key(r, mesh_key, "mesh", "a mesh with tets for kind full (use kind cage for a surface)");
    d->x = b->surface.x;
    d->vertex_count = b->surface.node_count;
    if (b->surface.tet_count) {
        d->tets = b->surface.tet;
        d->tet_count = b->surface.tet_count;
    } else {
        d->triangles = b->surface.tri;
        d->triangle_count = b->surface.tri_count;
    }
}

static void scene_read_cage(scene_reader *r, const json_value *body, scene_body *b)
{
    const json_value *cage = json_get(r->j, body, "cage");
    if (b->def.kind != EMBIPC_CAGE) {
        scene_refuse(r, body, "cage", "no such key for kinds other than cage");
        scene_refuse(r, body, "cage_nodes", "no such key for kinds other than cage");
        return;
    }
    if (cage) scene_refuse(r, body, "cage_nodes", "either \"cage\" or \"cage_nodes\", not both");
    scene_integer(r, body, "cage_nodes", 4, 100000, &b->def.cage_nodes);
    if (!scene_read_mesh(r, body, "cage", &b->cage)) return;
    if (b->cage.tet_count == 0) { scene_fail_key(r, cage, "cage", "a mesh with tets"); return; }
    b->def.cage_x = b->cage.x;
    b->def.cage_node_count = b->cage.node_count;
    b->def.cage_tets = b->cage.tet;
    b->def.cage_tet_count = b->cage.tet_count;
}

/* The key "box": lower and upper corner. */
static int scene_read_box(scene_reader *r, const json_value *object, double out[6])
{
    static const char expected[] = "two corners [[x, y, z], [x, y, z]]";
    const json_value *box = json_get(r->j, object, "box"), *corner;
    if (!box) return scene_fail_missing(r, object, "box", expected);
    if (box->type != JSON_ARRAY || box->count != 2) return scene_fail_key(r, box, "box", expected);
    corner = json_first(r->j, box);
    if (!scene_numbers_of(r, corner, "box", 3, scene_any, out)
        || !scene_numbers_of(r, json_next(r->j, corner), "box", 3, scene_any, out + 3))
        return 0;
    for (int i = 0; i < 3; i++)
        if (!(out[i] <= out[3 + i])) return scene_fail_key(r, box, "box", "the lower corner first");
    return 1;
}

/* ---- Factors on stiffness and density, tet by tet ------------------------------------------- */

/* An array with a factor > 0 for each tet, onto factor (nt). */
static void scene_read_tet_factors(scene_reader *r, const json_value *body, const char *key, int nt, double *factor)
{
    const json_value *v = r->failed ? NULL : json_get(r->j, body, key);
    char expected[64], found[80];
    int t = 0;
    if (!v) return;
    snprintf(expected, sizeof expected, "an array of %d factors, one for each tet", nt);
    if (v->type != JSON_ARRAY || v->count != nt) { scene_fail_key(r, v, key, expected); return; }
    for (const json_value *k = json_first(r->j, v); k && !r->failed; k = json_next(r->j, k), t++) {
        if (k->type == JSON_NUMBER && scene_in_range(k->number, scene_positive)) { factor[t] *= k->number; continue; }
        r->failed = 1;
        tool_fail(r->e, "%s:%d: %s: key \"%s\": tet %d: found %s, expected a number > 0", r->s->path, k->line, r->where,
                  key, t, json_describe(k, found));
    }
}

/* One of "regions": factors for the tets with their centres in a box, in the coordinates of the mesh file. */
static void scene_read_region(scene_reader *r, const json_value *v, const tool_mesh *m, scene_body *b)
{
    double box[6], stiffness = 1, density = 1;
    int held = 0;
    if (!scene_object(r, v, SCENE_REGION) || !scene_read_box(r, v, box)) return;
    if (!json_get(r->j, v, "stiffness") && !json_get(r->j, v, "density"))
        scene_fail_missing(r, v, "stiffness", "a factor: \"stiffness\", \"density\" or both");
    scene_number(r, v, "stiffness", scene_positive, &stiffness);
    scene_number(r, v, "density", scene_positive, &density);
    for (int t = 0; t < m->tet_count; t++) {
        int inside = 1;
        for (int i = 0; i < 3; i++) {
            double centre = 0;
            for (int k = 0; k < 4; k++) centre += m->x[3 * m->tet[4 * t + k] + i] / 4;
            inside &= centre >= box[i] && centre <= box[3 + i];
        }
        if (!inside) continue;
        held++;
        b->tet_stiffness[t] *= stiffness;
        b->tet_density[t] *= density;
    }
    if (!held) scene_fail_key(r, json_get(r->j, v, "box"), "box", "a box with the centre of at least one tet inside");
}

/* "tet_stiffness", "tet_density" and "regions": factors, of which a tet takes the product. */
static void scene_read_tets(scene_reader *r, const json_value *body, scene_body *b)
{
    static const char *const keys[] = { "tet_stiffness", "tet_density", "regions" };
    const tool_mesh *m = b->def.kind == EMBIPC_CAGE ? &b->cage : &b->surface;
    const json_value *list = r->failed ? NULL : json_get(r->j, body, "regions");
    int any = 0;
    for (int i = 0; i < SCENE_COUNT(keys); i++) {
        if (b->def.kind != EMBIPC_FULL && b->def.kind != EMBIPC_CAGE)
            scene_refuse(r, body, keys[i], "no such key for kinds other than cage and full");
        else if (!m->tet_count)
            scene_refuse(r, body, keys[i], "a \"cage\" from a file: what is built here has tets unknown to the scene");
        any |= !r->failed && json_get(r->j, body, keys[i]);
    }
    if (!any || r->failed) return;
    b->tet_stiffness = (double *)tool_alloc((size_t)m->tet_count, sizeof *b->tet_stiffness);
    b->tet_density = (double *)tool_alloc((size_t)m->tet_count, sizeof *b->tet_density);
    for (int t = 0; t < m->tet_count; t++) b->tet_stiffness[t] = b->tet_density[t] = 1;
    b->def.tet_stiffness = b->tet_stiffness;
    b->def.tet_density = b->tet_density;
    scene_read_tet_factors(r, body, keys[0], m->tet_count, b->tet_stiffness);
    scene_read_tet_factors(r, body, keys[1], m->tet_count, b->tet_density);
    if (!list) return;
    if (list->type != JSON_ARRAY) { scene_fail_key(r, list, "regions", "an array of objects in { }"); return; }
    for (const json_value *v = json_first(r->j, list); v && !r->failed; v = json_next(r->j, v))
        scene_read_region(r, v, m, b);
}

/* ---- Drives --------------------------------------------------------------------------------- */

int scene_is_soft(const scene_drive *d) { return d->stiffness[0] > 0 || d->stiffness[1] > 0 || d->stiffness[2] > 0; }

int scene_in_box(const double x[3], const double box[6])
{
    return x[0] >= box[0] && x[1] >= box[1] && x[2] >= box[2] && x[0] <= box[3] && x[1] <= box[4] &&
           x[2] <= box[5];
}

static void scene_read_select(scene_reader *r, const json_value *drive, embipc_kind kind, scene_drive *d)
{
    const json_value *select = json_get(r->j, drive, "select");
    if (r->failed || !select) return;
    if (kind != EMBIPC_CAGE && kind != EMBIPC_FULL && !json_get(r->j, drive, "stiffness")) {
        scene_refuse(r, drive, "select",
                     "no such key for kinds other than cage and full, which are driven whole, or softly, by a \"stiffness\"");
        return;
    }
    if (!scene_object(r, select, SCENE_SELECT)) return;
    d->has_box = scene_read_box(r, select, d->box);
}

/* A row of keys must be later than the one before. */
static int scene_is_later(scene_reader *r, const json_value *row, double before, double time)
{
    return time > before ||
           scene_fail_key(r, json_first(r->j, row), "keys", "a time later than that of the row before");
}

/* Rows [t, x, y, z] or [t, x, y, z, a, b, c], times rising. */
static void scene_read_keys(scene_reader *r, const json_value *drive, scene_drive *d)
{
    static const char expected[] = "rows of 4 or 7 numbers: time, displacement, rotation vector";
    const json_value *keys = json_get(r->j, drive, "keys");
    if (r->failed) return;
    if (!keys) { scene_fail_missing(r, drive, "keys", expected); return; }
    if (keys->type != JSON_ARRAY || keys->count == 0) { scene_fail_key(r, keys, "keys", expected); return; }
    d->keys = (double *)tool_alloc((size_t)keys->count * 7, sizeof *d->keys);
    for (const json_value *row = json_first(r->j, keys); row; row = json_next(r->j, row)) {
        double *k = d->keys + 7 * d->key_count;
        if (row->type != JSON_ARRAY || (row->count != 4 && row->count != 7)) {
            scene_fail_key(r, row, "keys", expected);
            return;
        }
        if (!scene_numbers_of(r, row, "keys", row->count, scene_any, k)) return;
        for (int i = 4; i < 7; i++) k[i] *= SCENE_DEGREE;
        if (d->key_count > 0 && !scene_is_later(r, row, k[-7], k[0])) return;
        d->key_count++;
    }
}

/* What makes a drive soft: a stiffness, the same in all directions or along x, y, z, and what it may have besides. */
static void scene_read_soft(scene_reader *r, const json_value *drive, embipc_kind kind, scene_drive *d)
{
    const json_value *v = r->failed ? NULL : json_get(r->j, drive, "stiffness");
    int more = scene_number(r, drive, "damping", scene_not_negative, &d->damping) +
               scene_number(r, drive, "force_limit", scene_positive, &d->force_limit);
    if (r->failed) return;
    if (!v) {
        if (more)
            scene_refuse(r, drive, d->force_limit > 0 ? "force_limit" : "damping",
                         "no such key for a drive without \"stiffness\"");
        return;
    }
    if (kind == EMBIPC_KINEMATIC) {
        scene_refuse(r, drive, "stiffness", "no such key for kind kinematic, which no force moves");
        return;
    }
    if (v->type == JSON_ARRAY) scene_numbers(r, drive, "stiffness", 3, scene_not_negative, d->stiffness);
    else if (scene_number(r, drive, "stiffness", scene_positive, d->stiffness))
        d->stiffness[1] = d->stiffness[2] = d->stiffness[0];
    if (!r->failed && !scene_is_soft(d)) scene_fail_key(r, v, "stiffness", "at least one of the three above 0");
}

static void scene_read_drives(scene_reader *r, const json_value *body, int index)
{
    const json_value *list = r->failed ? NULL : json_get(r->j, body, "drive");
    if (!list) return;
    if (r->s->body[index].def.kind == EMBIPC_FIXED) {
        scene_refuse(r, body, "drive", "no drive for kind fixed (use kinematic)");
        return;
    }
    if (list->type != JSON_ARRAY) { scene_fail_key(r, list, "drive", "an array of drives"); return; }
    for (const json_value *v = json_first(r->j, list); v && !r->failed; v = json_next(r->j, v)) {
        scene_drive *d;
        if (!scene_object(r, v, SCENE_DRIVE)) return;
        TOOL_GROW(scene_drive, r->s->drive, r->s->drive_capacity, r->s->drive_count + 1);
        d = &r->s->drive[r->s->drive_count++];
        memset(d, 0, sizeof *d);
        d->body = index;
        d->line = v->line;
        scene_read_select(r, v, r->s->body[index].def.kind, d);
        scene_read_soft(r, v, r->s->body[index].def.kind, d);
        scene_read_keys(r, v, d);
    }
}

/* ---- Bodies --------------------------------------------------------------------------------- */

/* Names stand in CSV files and OBJ objects, and pairs refer to them. Without one it is "body N", the N-th of the file. */
static void scene_read_name(scene_reader *r, const json_value *body, scene_body *b, int index, int number)
{
    static const char expected[] =
        "a name of 1 to 63 bytes (letters beyond ASCII have 2 to 4) without quotes, commas and control characters";
    const json_value *v = json_get(r->j, body, "name");
    char numbered[32];
    const char *name = numbered;
    snprintf(numbered, sizeof numbered, "body %d", number);
    if (v && !scene_string(r, body, "name", expected, &name)) return;
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127 || *p == '"' || *p == ',') {
            scene_fail_key(r, v, "name", expected);
            return;
        }
    if (strlen(name) > 63) { scene_fail_key(r, v, "name", expected); return; }
    for (int i = 0; i < index; i++)
        if (strcmp(r->s->body[i].name, name) == 0) {
            if (v) scene_fail_key(r, v, "name", "a name that no other body has");
            else scene_fail_missing(r, body, "name", "one, as another body has the name that this one gets without");
            return;
        }
    strcpy(b->name, name);
    snprintf(r->where, sizeof r->where, "body \"%s\"", name);
}

/* A velocity at the start is of what forces move. */
static void scene_read_velocity(scene_reader *r, const json_value *body, embipc_body_def *d)
{
    static const char *const keys[] = { "velocity", "angular_velocity" };
    for (int i = 0; i < SCENE_COUNT(keys); i++) {
        scene_numbers(r, body, keys[i], 3, scene_any, i ? d->angular_velocity : d->velocity);
        if (d->kind == EMBIPC_FIXED) scene_refuse(r, body, keys[i], "no such key for kind fixed, which never moves");
        if (d->kind == EMBIPC_KINEMATIC)
            scene_refuse(r, body, keys[i],
                         "no such key for kind kinematic, which moves as the keys of a \"drive\" say");
    }
}

static void scene_read_pose(scene_reader *r, const json_value *body, embipc_body_def *d)
{
    double degrees[3];
    scene_number(r, body, "scale", scene_positive, &d->scale);
    if (scene_numbers(r, body, "rotation", 3, scene_any, degrees)) scene_rotation(d->rotation, degrees);
    scene_numbers(r, body, "position", 3, scene_any, d->position);
    scene_read_velocity(r, body, d);
}

/* Copies of the last body in rows, columns and layers, x running fastest: n of them are turned by n times the
 * angles of "turn" from the first. They share its meshes. */
static void scene_read_repeat(scene_reader *r, const json_value *body)
{
    static const scene_range number = { 1, 10000, 0, "a whole number from 1 to 10000" };
    const json_value *v = r->failed ? NULL : json_get(r->j, body, "repeat");
    double count[3] = {1, 1, 1}, spacing[3] = {0, 0, 0}, turn[3] = {0, 0, 0}, degrees[3] = {0, 0, 0};
    int first = r->s->body_count - 1, total;
    if (!v || !scene_object(r, v, SCENE_REPEAT)) return;
    scene_refuse(r, body, "drive", "no drive of bodies that are repeated");
    if (!json_get(r->j, v, "count")) scene_fail_missing(r, v, "count", "how many [along x, y, z]");
    scene_numbers(r, v, "count", 3, number, count);
    for (int i = 0; i < 3; i++)
        if (count[i] != floor(count[i]) || count[0] * count[1] * count[2] > number.hi)
            scene_fail_key(r, json_get(r->j, v, "count"), "count", "whole numbers, at most 10000 bodies in all");
    scene_numbers(r, v, "spacing", 3, scene_any, spacing);
    scene_numbers(r, v, "turn", 3, scene_any, turn);
    scene_numbers(r, body, "rotation", 3, scene_any, degrees);
    total = (int)(count[0] * count[1] * count[2]);
    if (strlen(r->s->body[first].name) > 57) scene_refuse(r, body, "name", "at most 57 characters: a number follows");
    for (int n = 0; n < total && !r->failed; n++) {
        int at[3];
        double angle[3];
        scene_body *b;
        at[0] = n % (int)count[0];
        at[1] = n / (int)count[0] % (int)count[1];
        at[2] = n / (int)(count[0] * count[1]);
        TOOL_GROW(scene_body, r->s->body, r->s->body_capacity, r->s->body_count + 1);
        b = &r->s->body[first + n];
        if (n) {
            *b = r->s->body[first];
            memset(&b->surface, 0, sizeof b->surface);
            memset(&b->cage, 0, sizeof b->cage);
            b->tet_stiffness = b->tet_density = NULL;
            r->s->body_count++;
        }
        b->repeated = n + 1;
        for (int i = 0; i < 3; i++) b->def.position[i] += at[i] * spacing[i];
        for (int i = 0; i < 3; i++) angle[i] = degrees[i] + n * turn[i];
        scene_rotation(b->def.rotation, angle);
    }
    for (int n = total - 1; n >= 0 && !r->failed; n--) {
        char number_text[16];
        snprintf(number_text, sizeof number_text, " %d", n + 1);
        strcat(r->s->body[first + n].name, number_text);
        for (int i = 0; i < first; i++)
            if (strcmp(r->s->body[i].name, r->s->body[first + n].name) == 0) {
                scene_refuse(r, body, "name", "a name that, with a number behind it, no other body has");
                scene_fail_missing(r, body, "name", "one, as another body has the name of a copy of this one");
            }
    }
}

static void scene_read_body(scene_reader *r, const json_value *v, int number)
{
    scene_body *b;
    int choice = 0, index = r->s->body_count;
    TOOL_GROW(scene_body, r->s->body, r->s->body_capacity, index + 1);
    b = &r->s->body[r->s->body_count++];
    memset(b, 0, sizeof *b);
    b->line = v->line;
    b->def = embipc_default_body_def();
    snprintf(r->where, sizeof r->where, "body %d", number);
    if (!scene_object(r, v, SCENE_BODY)) return;
    scene_read_name(r, v, b, index, number);
    if (!json_get(r->j, v, "kind")) {
        scene_fail_missing(r, v, "kind", "fixed, kinematic, affine, cage or full");
        return;
    }
    if (scene_choice(r, v, SCENE_BODY, "kind", &choice)) b->def.kind = (embipc_kind)choice;
    scene_read_pose(r, v, &b->def);
    scene_number(r, v, "friction", scene_not_negative, &b->def.friction);
    scene_number(r, v, "static_friction", scene_not_negative, &b->def.static_friction);
    scene_numbers(r, v, "surface_velocity", 3, scene_any, b->surface_velocity);
    scene_read_material(r, v, &b->def);
    scene_read_drives(r, v, index);
    if (r->failed) return;
    scene_read_geometry(r, v, b);
    scene_read_cage(r, v, b);
    scene_read_tets(r, v, b);
    scene_read_repeat(r, v);
}

static void scene_read_bodies(scene_reader *r, const json_value *root)
{
    const json_value *list = json_get(r->j, root, "bodies");
    int number = 0;
    strcpy(r->where, "scene");
    if (r->failed) return;
    if (!list) { scene_fail_missing(r, root, "bodies", "an array of at least one body"); return; }
    if (list->type != JSON_ARRAY || list->count == 0) {
        scene_fail_key(r, list, "bodies", "an array of at least one body");
        return;
    }
    for (const json_value *v = json_first(r->j, list); v && !r->failed; v = json_next(r->j, v))
        scene_read_body(r, v, ++number);
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

/* Does a word name this copy, or all copies, of a body with "repeat"? */
static int scene_names_copy(const scene_body *b, const char *word)
{
    size_t n = strlen(word);
    if (!b->repeated || strncmp(b->name, word, n) != 0) return 0;
    return b->name[n] == 0 ||
           (b->name[n] == ' ' && atoi(b->name + n + 1) == b->repeated && !strchr(b->name + n + 1, ' '));
}

/* The body that the string under key names; those of a "repeat" only where copies may be named. */
static int scene_body_named(scene_reader *r, const json_value *v, const char *key, int copies, int *index)
{
    const char **names;
    char what[64];
    int count = 0, total = r->s->body_count;
    if (v->type != JSON_STRING)
        return scene_fail_key(r, v, key, copies ? "the names of two bodies" : "the name of a body");
    for (*index = 0; *index < total; ++*index) {
        const scene_body *b = &r->s->body[*index];
        if (strcmp(b->name, v->string) == 0 && (copies || !b->repeated)) return 1;
    }
    for (int i = 0; i < total && !copies; i++)
        if (scene_names_copy(&r->s->body[i], v->string))
            return scene_fail_key(r, v, key, "a body without \"repeat\": its copies cannot be named here");
    names = (const char **)tool_alloc((size_t)total, sizeof *names);
    for (int i = 0; i < total; i++)
        if (copies || !r->s->body[i].repeated) names[count++] = r->s->body[i].name;
    snprintf(what, sizeof what, "key \"%s\":", key);
    scene_fail_word(r, v->line, what, v->string, names, count);
    free(names);
    return 0;
}

static void scene_read_pair(scene_reader *r, const json_value *v)
{
    const json_value *bodies, *first;
    scene_pair *p;
    if (!scene_object(r, v, SCENE_PAIR)) return;
    bodies = json_get(r->j, v, "bodies");
    if (!bodies) { scene_fail_missing(r, v, "bodies", "the names of two bodies"); return; }
    if (bodies->type != JSON_ARRAY || bodies->count != 2) {
        scene_fail_key(r, bodies, "bodies", "the names of two bodies");
        return;
    }
    TOOL_GROW(scene_pair, r->s->pair, r->s->pair_capacity, r->s->pair_count + 1);
    p = &r->s->pair[r->s->pair_count++];
    memset(p, 0, sizeof *p);
    p->line = v->line;
    p->friction = -1;
    p->contact = 1;
    first = json_first(r->j, bodies);
    if (!scene_body_named(r, first, "bodies", 1, &p->a) ||
        !scene_body_named(r, json_next(r->j, first), "bodies", 1, &p->b))
        return;
    for (int i = 0; i < r->s->pair_count - 1; i++) {
        const scene_pair *o = &r->s->pair[i];
        if ((o->a == p->a && o->b == p->b) || (o->a == p->b && o->b == p->a)) {
            scene_fail_key(r, bodies, "bodies", "a pair that no entry before has named");
            return;
        }
    }
    if (!json_get(r->j, v, "friction") && !json_get(r->j, v, "contact"))
        scene_fail_missing(r, v, "friction", "\"friction\" or \"contact\"");
    scene_number(r, v, "friction", scene_not_negative, &p->friction);
    scene_bool(r, v, "contact", &p->contact);
}

static void scene_read_pairs(scene_reader *r, const json_value *root)
{
    const json_value *list = r->failed ? NULL : json_get(r->j, root, "pairs");
    if (!list) return;
    strcpy(r->where, "scene");
    if (list->type != JSON_ARRAY) { scene_fail_key(r, list, "pairs", "an array of pairs"); return; }
    strcpy(r->where, "\"pairs\"");
    for (const json_value *v = json_first(r->j, list); v && !r->failed; v = json_next(r->j, v))
        scene_read_pair(r, v);
}

/* ---- Joints --------------------------------------------------------------------------------- */
/* Angles are in degrees and angular velocities in rad/s, as of bodies and drives. */

/* One of the points and directions of a joint. */
static void scene_read_place(scene_reader *r, const json_value *v, const char *key, int needed, double out[3])
{
    if (scene_numbers(r, v, key, 3, scene_any, out) || r->failed || !needed) return;
    scene_fail_missing(r, v, key, strcmp(key, "axis") == 0 ? "a direction [x, y, z]" : "a point [x, y, z]");
}

/* What a kind of joint has no use for is refused; what it cannot be without is read here. */
static void scene_read_places(scene_reader *r, const json_value *v, embipc_joint_def *d)
{
    enum { BALL = 1 << EMBIPC_BALL, HINGE = 1 << EMBIPC_HINGE, SLIDER = 1 << EMBIPC_SLIDER, WELD = 1 << EMBIPC_WELD,
           ROD = 1 << EMBIPC_ROD, ATTACH = 1 << EMBIPC_ATTACH };
    static const struct { const char *key; int kinds;
    } use[] = { { "point", BALL | HINGE | SLIDER | WELD | ROD }, { "point_b", ROD }, { "axis", BALL | HINGE | SLIDER },
                { "limits", BALL | HINGE | SLIDER | ROD }, { "twist", BALL }, { "friction", HINGE | SLIDER }, { "motor", HINGE | SLIDER },
                { "select", ATTACH }, { "distance", ATTACH } };
    char expected[64];
    int kind = 1 << d->kind, turns = (kind & (HINGE | SLIDER)) || (kind == BALL && (json_get(r->j, v, "limits") || json_get(r->j, v, "twist")));
    snprintf(expected, sizeof expected, "no such key for kind %s", scene_joint_kinds[d->kind]);
    for (int i = 0; i < SCENE_COUNT(use); i++)
        if (!(use[i].kinds & kind)) scene_refuse(r, v, use[i].key, expected);
    scene_read_place(r, v, "point", kind != ATTACH, d->point);
    scene_read_place(r, v, "point_b", kind == ROD, d->point_b);
    scene_read_place(r, v, "axis", turns, d->axis);
    if (d->axis[0] == 0 && d->axis[1] == 0 && d->axis[2] == 0)
        scene_refuse(r, v, "axis", "a direction, not 0, 0, 0");
}

/* [least, greatest]; null for none where the kind can be without; of a ball also the one number it has. */
static void scene_read_limits(scene_reader *r, const json_value *v, embipc_joint_def *d)
{
    static const char *const expected[] = { "the largest angle, or [0, largest angle], in degrees",
                                            "[least, greatest] in degrees", "[least, greatest] in m, null for none", "",
                                            "[least, greatest] in m, null for none", "" };
    const json_value *list = r->failed ? NULL : json_get(r->j, v, "limits"), *k = NULL;
    int ball = d->kind == EMBIPC_BALL, angle = ball || d->kind == EMBIPC_HINGE, open = !angle;
    if (!list) return;
    d->limited = 1;
    if (ball && list->type == JSON_NUMBER) d->limits[1] = list->number * SCENE_DEGREE;
    else if (list->type != JSON_ARRAY || list->count != 2) scene_fail_key(r, list, "limits", expected[d->kind]);
    else
        for (int i = 0; i < 2; i++) {
            k = i ? json_next(r->j, k) : json_first(r->j, list);
            if (k->type == JSON_NUMBER && !(ball && i == 0 && k->number != 0))
                d->limits[i] = k->number * (angle ? SCENE_DEGREE : 1);
            else if (k->type == JSON_NULL && open)
                d->limits[i] = i ? HUGE_VAL : d->kind == EMBIPC_ROD ? 0 : -HUGE_VAL;
            else { scene_fail_key(r, k, "limits", expected[d->kind]); return; }
        }
    if ((d->kind == EMBIPC_HINGE || d->kind == EMBIPC_SLIDER) && (d->limits[0] > 0 || d->limits[1] < 0) && !r->failed)
        scene_refuse(r, v, "limits", d->kind == EMBIPC_HINGE
            ? "0 between them, the pose at the start: rotate the body, or shift the limits, in degrees"
            : "0 between them, the pose at the start: move the body, or shift the limits");
}

/* A ball may limit its twist alone. */
static void scene_read_twist(scene_reader *r, const json_value *v, embipc_joint_def *d)
{
    static const scene_range half_turn = { 0, 180, 1, "an angle between 0 and 180 degrees, without these" };
    if (!scene_number(r, v, "twist", half_turn, &d->twist)) return;
    d->twist *= SCENE_DEGREE;
    if (!d->limited) d->limits[1] = HUGE_VAL;
    d->limited = 1;
}

/* Rows [t, position], times rising. */
static void scene_read_motor_keys(scene_reader *r, const json_value *motor, double unit, scene_joint *p)
{
    static const char expected[] = "rows of 2 numbers: time, position";
    const json_value *keys = r->failed ? NULL : json_get(r->j, motor, "keys");
    if (!keys) return;
    if (keys->type != JSON_ARRAY || keys->count == 0) { scene_fail_key(r, keys, "keys", expected); return; }
    p->keys = (double *)tool_alloc((size_t)keys->count * 2, sizeof *p->keys);
    for (const json_value *row = json_first(r->j, keys); row; row = json_next(r->j, row)) {
        double *k = p->keys + 2 * p->key_count;
        if (row->type != JSON_ARRAY || row->count != 2) { scene_fail_key(r, row, "keys", expected); return; }
        if (!scene_numbers_of(r, row, "keys", 2, scene_any, k)) return;
        k[1] *= unit;
        if (p->key_count > 0 && !scene_is_later(r, row, k[-2], k[0])) return;
        p->key_count++;
    }
}

/* Targets without the gain that makes them act would be lost in silence: refused. */
static void scene_read_motor(scene_reader *r, const json_value *joint, scene_joint *p)
{
    const json_value *v = r->failed ? NULL : json_get(r->j, joint, "motor");
    embipc_joint_def *d = &p->def;
    double unit = d->kind == EMBIPC_HINGE ? SCENE_DEGREE : 1;
    int spring, damper;
    if (!v || !scene_object(r, v, SCENE_MOTOR)) return;
    spring = scene_number(r, v, "stiffness", scene_not_negative, &d->motor_stiffness);
    damper = scene_number(r, v, "damping", scene_not_negative, &d->motor_damping);
    if (!spring && !damper && !json_get(r->j, v, "effort"))
        scene_fail_missing(r, v, "stiffness", "\"stiffness\", \"damping\" or \"effort\"");
    if (!spring) scene_refuse(r, v, "position", "no such key for a motor without \"stiffness\"");
    if (!spring) scene_refuse(r, v, "keys", "no such key for a motor without \"stiffness\"");
    if (!damper) scene_refuse(r, v, "velocity", "no such key for a motor without \"damping\"");
    if (!spring && !damper)
        scene_refuse(r, v, "limit", "no such key for a motor without \"stiffness\" and \"damping\"");
    if (json_get(r->j, v, "keys")) {
        scene_refuse(r, v, "position", "either \"keys\" or \"position\", not both");
        scene_refuse(r, v, "velocity", "no such key beside \"keys\", whose slope it is");
    }
    scene_number(r, v, "limit", scene_positive, &d->motor_limit);
    if (scene_number(r, v, "position", scene_any, &d->target[0])) d->target[0] *= unit;
    scene_number(r, v, "velocity", scene_any, &d->target[1]);
    scene_number(r, v, "effort", scene_any, &d->target[2]);
    scene_read_motor_keys(r, v, unit, p);
}

/* Names are looked up when all bodies are known. */
static void scene_read_joint(scene_reader *r, const json_value *v)
{
    const json_value *a, *b, *select;
    scene_joint *p;
    int kind = 0;
    if (!scene_object(r, v, SCENE_JOINT)) return;
    TOOL_GROW(scene_joint, r->s->joint, r->s->joint_capacity, r->s->joint_count + 1);
    p = &r->s->joint[r->s->joint_count++];
    memset(p, 0, sizeof *p);
    p->line = v->line;
    p->def = embipc_default_joint_def();
    if (!json_get(r->j, v, "kind")) {
        scene_fail_missing(r, v, "kind", "ball, hinge, slider, weld, rod or attach");
        return;
    }
    if (!scene_choice(r, v, SCENE_JOINT, "kind", &kind)) return;
    p->def.kind = (embipc_joint_kind)kind;
    p->a = -1;
    a = json_get(r->j, v, "a");
    b = json_get(r->j, v, "b");
    if (!b) { scene_fail_missing(r, v, "b", "the name of a body"); return; }
    if ((a && !scene_body_named(r, a, "a", 0, &p->a)) || !scene_body_named(r, b, "b", 0, &p->b)) return;
    scene_read_places(r, v, &p->def);
    scene_read_limits(r, v, &p->def);
    scene_read_twist(r, v, &p->def);
    scene_number(r, v, "friction", scene_not_negative, &p->def.friction);
    scene_read_motor(r, v, p);
    scene_number(r, v, "stiffness", scene_positive, &p->def.stiffness);
    scene_number(r, v, "distance", scene_positive, &p->def.distance);
    scene_bool(r, v, "contact", &p->def.contact);
    select = json_get(r->j, v, "select");
    if (select && scene_object(r, select, SCENE_SELECT)) p->has_box = scene_read_box(r, select, p->box);
}

static void scene_read_joints(scene_reader *r, const json_value *root)
{
    const json_value *list = r->failed ? NULL : json_get(r->j, root, "joints");
    if (!list) return;
    strcpy(r->where, "scene");
    if (list->type != JSON_ARRAY) { scene_fail_key(r, list, "joints", "an array of joints"); return; }
    strcpy(r->where, "\"joints\"");
    for (const json_value *v = json_first(r->j, list); v && !r->failed; v = json_next(r->j, v))
        scene_read_joint(r, v);
}

/* ---- The file ------------------------------------------------------------------------------- */

static void scene_read_root(scene_reader *r, const json_value *root)
{
    int version, integrator = 0;
    strcpy(r->where, "scene");
    if (!scene_object(r, root, SCENE_ROOT)) return;
    if (!json_get(r->j, root, "version")) {
        scene_fail_missing(r, root, "version", "\"version\": 1");
        return;
    }
    scene_integer(r, root, "version", 1, 1, &version);
    scene_number(r, root, "time_step", scene_positive, &r->s->world.time_step);
    if (scene_choice(r, root, SCENE_ROOT, "integrator", &integrator))
        r->s->world.integrator = (embipc_integrator)integrator;
    scene_bool(r, root, "keep_spin", &r->s->world.keep_spin);
    scene_number(r, root, "sleep_after", scene_not_negative, &r->s->world.sleep_after);
    scene_number(r, root, "sleep_speed", scene_not_negative, &r->s->world.sleep_speed);
    scene_number(r, root, "duration", scene_not_negative, &r->s->duration);
    scene_numbers(r, root, "gravity", 3, scene_any, r->s->world.gravity);
    scene_read_contact(r, root);
    scene_read_solver(r, root);
    scene_read_bodies(r, root);
    scene_read_pairs(r, root);
    scene_read_joints(r, root);
}

int scene_parse(scene *s, const char *path, const char *data, size_t size, tool_error *e)
{
    scene_reader r;
    json j;
    memset(s, 0, sizeof *s);
    memset(&r, 0, sizeof r);
    s->path = (char *)tool_alloc(strlen(path) + 1, 1);
    strcpy(s->path, path);
    scene_add_file(s, path);
    s->world = embipc_default_world_def();
    s->duration = 1;
    r.s = s;
    r.j = &j;
    r.e = e;
    if (json_parse(&j, path, data, size, e)) scene_read_root(&r, &j.value[0]);
    else r.failed = 1;
    json_free(&j);
    return !r.failed;
}

int scene_read(scene *s, const char *path, tool_error *e)
{
    size_t size;
    char *data = tool_read_file(path, JSON_MAX_BYTES, &size, e);
    int ok;
    memset(s, 0, sizeof *s);
    if (!data) return 0;
    ok = scene_parse(s, path, data, size, e);
    free(data);
    return ok;
}

void scene_free(scene *s)
{
    for (int i = 0; i < s->body_count; i++) {
        mesh_free(&s->body[i].surface);
        mesh_free(&s->body[i].cage);
        free(s->body[i].tet_stiffness);
        free(s->body[i].tet_density);
    }
    for (int i = 0; i < s->drive_count; i++) free(s->drive[i].keys);
    for (int i = 0; i < s->joint_count; i++) free(s->joint[i].keys);
    free(s->body);
    free(s->drive);
    free(s->pair);
    free(s->joint);
    for (int i = 0; i < s->file_count; i++) free(s->file[i]);
    free(s->file);
    free(s->path);
    memset(s, 0, sizeof *s);
}

void scene_rotation(double R[9], const double degrees[3])
{
    double ca = cos(degrees[0] * SCENE_DEGREE), sa = sin(degrees[0] * SCENE_DEGREE);
    double cb = cos(degrees[1] * SCENE_DEGREE), sb = sin(degrees[1] * SCENE_DEGREE);
    double cc = cos(degrees[2] * SCENE_DEGREE), sc = sin(degrees[2] * SCENE_DEGREE);
    R[0] = cc * cb; R[1] = cc * sb * sa - sc * ca; R[2] = cc * sb * ca + sc * sa;
    R[3] = sc * cb; R[4] = sc * sb * sa + cc * ca; R[5] = sc * sb * ca - cc * sa;
    R[6] = -sb; R[7] = cb * sa; R[8] = cb * ca;
}

/* ---- The world ------------------------------------------------------------------------------ */

int scene_index_of(const scene *s, embipc_body handle)
{
    for (int i = 0; handle.index1 && i < s->body_count; i++)
        if (s->body[i].handle.index1 == handle.index1 && s->body[i].handle.generation == handle.generation)
            return i;
    return -1;
}

void scene_origin(const scene *s, const embipc_world *world, double origin[3])
{
    double lo[3] = { 0, 0, 0 }, hi[3] = { 0, 0, 0 }, d[3], spacing;
    int any = 0, moving = 0;
    for (int i = 0; i < s->body_count; i++) moving += s->body[i].def.kind != EMBIPC_FIXED;
    for (int i = 0; i < s->body_count; i++) {
        embipc_body_view b;
        if ((moving && s->body[i].def.kind == EMBIPC_FIXED)
            || embipc_body_get_view(world, s->body[i].handle, &b) != EMBIPC_OK)
            continue;
        for (int n = 0; n < 3 * b.vertex_count; n++) {
            lo[n % 3] = any ? fmin(lo[n % 3], b.x[n]) : b.x[n];
            hi[n % 3] = any ? fmax(hi[n % 3], b.x[n]) : b.x[n];
            any |= n % 3 == 2;
        }
    }
    origin[0] = origin[1] = origin[2] = 0;
    if (!any) return;
    tool_sub(d, hi, lo);
    spacing = ldexp(1024, ilogb(tool_length(d)) + 1);
    for (int k = 0; k < 3; k++) origin[k] = spacing * rint((lo[k] + hi[k]) / 2 / spacing) + 0.0;   /* no -0 */
}

/* More of the pairs that cross, after the library has refused a body and named the first. */
static void scene_list_crossings(const scene *s, const embipc_world *world, const char *name, tool_text *t)
{
    embipc_crossing list[4];
    int count = embipc_world_rejected(world, list, 4);
    for (int i = 1; i < count && i < 4; i++) {
        const embipc_crossing *k = &list[i];
        int a = scene_index_of(s, k->edge_body),
            b = scene_index_of(s, k->triangle_body); /* -1: the refused one */
        tool_put(t, "\n  edge %d-%d of \"%s\" meets triangle %d of \"%s\"", k->edge[0], k->edge[1],
                 a >= 0 ? s->body[a].name : name, k->triangle, b >= 0 ? s->body[b].name : name);
    }
    if (count > 4) tool_put(t, "\n  and %d more", count - 4);
}

/* The corners and triangles of a body that is not in the world, placed as it asks. Returns 0 where it has too many. */
static int scene_place(const scene_body *b, double **x, int **tri, int *count)
{
    const embipc_body_def *d = &b->def;
    *count = d->triangles ? d->triangle_count : embipc_tets_boundary(d->tets, d->tet_count, NULL, 0);
    if (*count <= 0 || *count > SCENE_DEPTH_MOST) return 0;
    *tri = (int *)tool_alloc((size_t)*count, 3 * sizeof **tri);
    if (d->triangles) memcpy(*tri, d->triangles, 3 * (size_t)*count * sizeof **tri);
    else (void)embipc_tets_boundary(d->tets, d->tet_count, *tri, *count);
    *x = (double *)tool_alloc((size_t)d->vertex_count, 3 * sizeof **x);
    for (int i = 0; i < d->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            (*x)[3 * i + k] = d->scale * tool_dot(d->rotation + 3 * k, d->x + 3 * i) + d->position[k];
    return 1;
}

/* How far a refused body must move out of one of the world, m, beside `gap`. Returns -1 where that is not known. */
static double scene_depth(const scene_body *b, const embipc_world *world, embipc_body other, double *gap)
{
    embipc_movable body[2];
    embipc_movement movement[2];
    embipc_overlap overlap;
    embipc_body_view v;
    double *x = NULL, gaps[4] = { 0, 0, 0, 0 }, size = 0, depth = -1;
    int *tri = NULL, found = 0, count;
    if (embipc_body_get_view(world, other, &v) != EMBIPC_OK || v.triangle_count > SCENE_DEPTH_MOST) return -1;
    if (scene_place(b, &x, &tri, &count)) {
        memset(body, 0, sizeof body);
        body[0].x = v.x;
        body[0].vertex_count = v.vertex_count;
        body[0].tri = v.triangles;
        body[0].tri_count = v.triangle_count;
        body[0].fixed = 1;
        body[1].x = x;
        body[1].vertex_count = b->def.vertex_count;
        body[1].tri = tri;
        body[1].tri_count = count;
        for (int i = 0; i < 3 * b->def.vertex_count; i++) size = fmax(size, fabs(x[i] - x[i % 3]));
        *gap = gaps[1] = gaps[2] = 1e-3 * size;
        (void)embipc_separate(body, 2, gaps, movement, &overlap, 1, &found, NULL);
        if (found == 1) depth = fmax(overlap.depth - *gap, 0);
    }
    free(x);
    free(tri);
    return depth;
}

/* What helps against an overlap. */
static void scene_put_overlap(const embipc_world *world, const scene_body *b, tool_text *t)
{
    embipc_body other = embipc_world_error(world)->body[1];
    double gap = 0, depth = other.index1 ? scene_depth(b, world, other, &gap) : -1;
    if (depth >= gap / 4) tool_put(t, "\n  (they overlap by %.3g m: ", depth);
    else if (depth >= 0) tool_put(t, "\n  (the two only touch, and need a gap: ");
    else tool_put(t, "\n  (");
    tool_put(t, "embipc doctor says how deep all overlaps are, and parts them)");
}

/* A text of the library in the words of a scene: EMBIPC_STVK becomes "stvk", calls of functions are left out. */
static void scene_put_words(tool_text *t, const char *text)
{
    static const char call[] = " (embipc_separate())", constant[] = "EMBIPC_";
    while (*text) {
        size_t n = sizeof constant - 1;
        if (strncmp(text, call, sizeof call - 1) == 0) { text += sizeof call - 1; continue; }
        if (strncmp(text, constant, n) != 0) { tool_put(t, "%c", *text++); continue; }
        tool_put(t, "\"");
        for (text += n; (*text >= 'A' && *text <= 'Z') || *text == '_'; text++)
            tool_put(t, "%c", *text == '_' ? '_' : *text - 'A' + 'a');
        tool_put(t, "\"");
    }
}

/* What the library said about a body, with file, line, and the mesh it came from. */
static int scene_refused(const scene *s, const embipc_world *world, int line, const scene_body *b,
                         tool_error *e)
{
    const embipc_error *w = embipc_world_error(world);
    const char *text = w->text[0] ? w->text : embipc_result_text(w->code);
    tool_text t = { NULL, 0, 0 };
    if (strncmp(text, "body \"", 6) != 0) tool_put(&t, "body \"%s\": ", b->name);
    scene_put_words(&t, text);
    if (w->code == EMBIPC_ERR_INTERSECTION) {
        scene_list_crossings(s, world, b->name, &t);
        scene_put_overlap(world, b, &t);
    }
    if (b->is_file) tool_put(&t, "\n  (the mesh is %s)", b->source);
    tool_fail(e, "%s:%d: %s", s->path, line, t.data);
    tool_text_free(&t);
    return 0;
}

/* Surface vertices in a box; NULL when there are none. */
static int *scene_vertices(const embipc_body_view *view, const double box[6], int *count)
{
    int *vertices = (int *)tool_alloc((size_t)view->vertex_count + 1, sizeof *vertices);
    *count = 0;
    for (int i = 0; i < view->vertex_count; i++)
        if (scene_in_box(view->x + 3 * i, box)) vertices[(*count)++] = i;
    if (*count) return vertices;
    free(vertices);
    return NULL;
}

/* What starts in the box of a drive: surface vertices of a soft one, else the nodes that hold it; NULL when there is
 * nothing. */
static int *scene_select(const embipc_world *world, embipc_body body, const embipc_body_view *view,
                         const scene_drive *d, int *count)
{
    int *nodes;
    if (scene_is_soft(d)) return scene_vertices(view, d->box, count);
    *count = embipc_body_select(world, body, d->box, d->box + 3, NULL, 0);
    if (*count <= 0) return NULL;
    nodes = (int *)tool_alloc((size_t)*count, sizeof *nodes);
    (void)embipc_body_select(world, body, d->box, d->box + 3, nodes, *count);
    return nodes;
}

/* Centre of the bounding box of the surface. */
static void scene_centre(const embipc_body_view *view, double centre[3])
{
    for (int k = 0; k < 3; k++) {
        double lo = view->x[k], hi = view->x[k];
        for (int i = 1; i < view->vertex_count; i++) {
            lo = view->x[3 * i + k] < lo ? view->x[3 * i + k] : lo;
            hi = view->x[3 * i + k] > hi ? view->x[3 * i + k] : hi;
        }
        centre[k] = (lo + hi) / 2;
    }
}

static int scene_build_drive(scene *s, embipc_world *world, scene_drive *d, tool_error *e)
{
    embipc_drive_def def = embipc_default_drive_def();
    const scene_body *b = &s->body[d->body];
    embipc_body_view view;
    int *nodes = NULL, count = 0, ok;
    if (embipc_body_get_view(world, b->handle, &view) != EMBIPC_OK)
        return scene_refused(s, world, d->line, b, e);
    def.body = b->handle;
    def.keys = d->keys;
    def.key_count = d->key_count;
    scene_centre(&view, def.centre);
    if (d->has_box) {
        nodes = scene_select(world, b->handle, &view, d, &count);
        if (!nodes)
            return tool_fail(
                e, "%s:%d: body \"%s\": drive: found no %s in the box of \"select\", expected at least one",
                s->path, d->line, b->name, scene_is_soft(d) ? "vertex" : "node");
        *(scene_is_soft(d) ? &def.vertices : &def.nodes) = nodes;
        *(scene_is_soft(d) ? &def.vertex_count : &def.node_count) = count;
    }
    memcpy(def.stiffness, d->stiffness, sizeof def.stiffness);
    def.damping = d->damping;
    def.force_limit = d->force_limit;
    ok = embipc_drive_create(world, &def, &d->handle) == EMBIPC_OK;
    free(nodes);
    return ok || scene_refused(s, world, d->line, b, e);
}

/* The joint of bodies as they stand. */
static int scene_build_joint(const scene *s, embipc_world *world, scene_joint *p, tool_error *e)
{
    embipc_joint_def def = p->def;
    embipc_body_view view;
    int *vertices = NULL, ok;
    if (p->a >= 0) def.a = s->body[p->a].handle;
    def.b = s->body[p->b].handle;
    if (p->key_count) def.target[0] = p->keys[1];
    if (p->has_box) {
        (void)embipc_body_get_view(world, def.b, &view);
        vertices = scene_vertices(&view, p->box, &def.vertex_count);
        if (!vertices)
            return tool_fail(
                e, "%s:%d: joint: found no vertex of \"%s\" in the box of \"select\", expected at least one", s->path,
                p->line, s->body[p->b].name);
        def.vertices = vertices;
    }
    ok = embipc_joint_create(world, &def, &p->handle) == EMBIPC_OK;
    free(vertices);
    return ok || tool_fail(e, "%s:%d: joint: %s", s->path, p->line, embipc_world_error(world)->text);
}

/* Are the two bodies of a joint i and one before it, without contact? *other: that one. */
static int scene_joint_exempts(const scene_joint *p, int i, int *other)
{
    *other = p->a == i ? p->b : p->a;
    return !p->def.contact && (p->a == i || p->b == i) && *other >= 0 && *other < i;
}

/* Makes body i; those before it that `pairs` or joints exempt may cross it from the start. */
static int scene_build_body(scene *s, embipc_world *world, int i, tool_error *e)
{
    scene_body *b = &s->body[i];
    embipc_body *exempt = NULL;
    int count = 0, capacity = 0, ok;
    for (int k = 0; k < s->pair_count; k++) {
        const scene_pair *p = &s->pair[k];
        int other = p->a == i ? p->b : p->a;
        if (p->contact || (p->a != i && p->b != i) || other >= i) continue;
        TOOL_GROW(embipc_body, exempt, capacity, count + 1);
        exempt[count++] = s->body[other].handle;
    }
    for (int k = 0; k < s->joint_count; k++) {
        int other, known = 0;
        if (!scene_joint_exempts(&s->joint[k], i, &other)) continue;
        for (int n = 0; n < count; n++) known |= exempt[n].index1 == s->body[other].handle.index1;
        if (known) continue;
        TOOL_GROW(embipc_body, exempt, capacity, count + 1);
        exempt[count++] = s->body[other].handle;
    }
    b->def.name = b->name;
    b->def.no_contact = exempt;
    b->def.no_contact_count = count;
    for (int k = 0; k < s->pair_count; k++)
        if (!s->pair[k].contact && s->pair[k].a == i && s->pair[k].b == i) b->def.self_contact = 0;
    ok = embipc_body_create(world, &b->def, &b->handle) == EMBIPC_OK &&
         embipc_body_set_surface_velocity(world, b->handle, b->surface_velocity) == EMBIPC_OK;
    b->def.no_contact = NULL;
    b->def.no_contact_count = 0;
    free(exempt);
    return ok || scene_refused(s, world, b->line, b, e);
}

static int scene_build_all(scene *s, embipc_world *world, tool_error *e)
{
    for (int i = 0; i < s->body_count; i++)
        if (!scene_build_body(s, world, i, e)) return 0;
    for (int i = 0; i < s->pair_count; i++) {
        const scene_pair *p = &s->pair[i];
        if (embipc_world_set_pair(world, s->body[p->a].handle, s->body[p->b].handle, p->friction, p->contact)
            != EMBIPC_OK)
            return scene_refused(s, world, p->line, &s->body[p->a], e);
    }
    for (int i = 0; i < s->drive_count; i++)
        if (!scene_build_drive(s, world, &s->drive[i], e)) return 0;
    for (int i = 0; i < s->joint_count; i++)
        if (!scene_build_joint(s, world, &s->joint[i], e)) return 0;
    return 1;
}

int scene_build(scene *s, embipc_world **world, tool_error *e)
{
    embipc_error error;
    memset(&error, 0, sizeof error);
    if (embipc_world_create(&s->world, world, &error) != EMBIPC_OK)
        return tool_fail(e, "%s: %s", s->path, error.text[0] ? error.text : embipc_result_text(error.code));
    if (scene_build_all(s, *world, e)) return 1;
    embipc_world_destroy(*world);
    *world = NULL;
    return 0;
}

/* The position of keys at time t: linear in between, constant before and after. */
static double scene_key_at(const scene_joint *p, double t)
{
    const double *k = p->keys;
    int n = p->key_count, i = 0;
    while (i < n && k[2 * i] <= t) i++;
    if (i == 0) return k[1];
    if (i == n) return k[2 * n - 1];
    k += 2 * (i - 1);
    return k[1] + (k[3] - k[1]) * ((t - k[0]) / (k[2] - k[0]));
}

int scene_motor(const scene *s, int i, double t, double target[3])
{
    const scene_joint *p = &s->joint[i];
    double h = s->world.time_step;
    if (!p->key_count) return 0;
    target[0] = scene_key_at(p, t + h);
    target[1] = (target[0] - scene_key_at(p, t)) / h;
    target[2] = p->def.target[2];
    return 1;
}

int scene_steer(const scene *s, embipc_world *world, tool_error *e)
{
    double t = embipc_world_time(world), target[3];
    for (int i = 0; i < s->joint_count; i++) {
        const scene_joint *p = &s->joint[i];
        if (!scene_motor(s, i, t, target)) continue;
        if (embipc_joint_set_motor(world, p->handle, target[0], target[1], target[2]) != EMBIPC_OK)
            return tool_fail(e, "%s:%d: joint: motor at %g s: %s", s->path, p->line, t,
                             embipc_world_error(world)->text);
    }
    return 1;
}
