#include "bench_case.h"
#include "json.h"
#include "output.h"
#include "scene.h"
#include "system.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_reader {
    bench_cases *c;
    const bench_options *o;
    const char *list;             /* file that is being read */
    tool_error *e;
} bench_reader;

/* "DIR/" of a path with what `name` says */
static void bench_beside(char out[1024], const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    int directory = slash && name[0] != '/' ? (int)(slash - path) + 1 : 0;
    (void)snprintf(out, 1024, "%.*s%s", directory, path, name);
}

static bench_case *bench_add(bench_cases *c, const char *name)
{
    bench_case *b;
    TOOL_GROW(bench_case, c->item, c->capacity, c->count + 1);
    b = &c->item[c->count++];
    memset(b, 0, sizeof *b);
    b->threads = 1;
    (void)snprintf(b->name, sizeof b->name, "%s", name);
    return b;
}

static int bench_wrong(const bench_reader *r, const json_value *v, const char *key, const char *expected)
{
    char found[80];
    return tool_fail(r->e, "%s:%d: a case's key \"%s\": found %s, expected %s", r->list, v->line, key,
                     json_describe(v, found), expected);
}

/* Files are named after a case, in the directory that --write names; and targets refer to it. */
static int bench_check_name(const bench_reader *r, const json *j, const json_value *v)
{
    const json_value *name = json_get(j, v, "name");
    for (int i = 0; i < r->c->count; i++)
        if (r->c->item[i].list == r->list && strcmp(r->c->item[i].name, name->string) == 0)
            return bench_wrong(r, name, "name", "one that no case before has");
    if (name->string[0] && strlen(name->string) < sizeof r->c->item->name && !strpbrk(name->string, "/\\:")) return 1;
    return bench_wrong(r, name, "name", "1 to 63 characters that may stand in the name of a file");
}

/* every key known, and of its type */
static int bench_check(const bench_reader *r, const json *j, const json_value *v)
{
    static const struct { const char *key, *expected; int types; } known[] = {
        { "name", "a string", 1 << JSON_STRING },
        { "scene", "the name of a scene file", 1 << JSON_STRING },
        { "change", "an object", 1 << JSON_OBJECT },
        { "quick", "true or false", 1 << JSON_TRUE | 1 << JSON_FALSE },
        { "data", "the name of a directory", 1 << JSON_STRING },
        { "threads", "true or false", 1 << JSON_TRUE | 1 << JSON_FALSE } };
    int n = (int)(sizeof known / sizeof *known);
    for (const json_value *k = json_first(j, v); k; k = json_next(j, k)) {
        int i = 0;
        while (k->key && i < n && strcmp(known[i].key, k->key) != 0) i++;
        if (!k->key || i == n)
            return tool_fail(r->e, "%s:%d: found the unknown key \"%s\" of a case", r->list, k->line,
                             k->key ? k->key : "");
        if (!(known[i].types & 1 << k->type)) return bench_wrong(r, k, k->key, known[i].expected);
    }
    for (int i = 0; i < 2; i++)
        if (!json_get(j, v, known[i].key))
            return tool_fail(r->e, "%s:%d: found no key \"%s\" of a case", r->list, v->line, known[i].key);
    return bench_check_name(r, j, v);
}

/* The scene file with the changes of the list. */
static int bench_text(const bench_reader *r, bench_case *b, const char *file, const json *list,
                      const json_value *change)
{
    tool_text t = { NULL, 0, 0 };
    json j;
    int ok = json_read(&j, file, r->e);
    if (ok) json_merge(&t, &j, &j.value[0], list, change);
    b->text = t.data;
    json_free(&j);
    return ok;
}

static int bench_read_case(bench_reader *r, const json *j, const json_value *v)
{
    const json_value *quick, *data, *threads;
    char file[1024];
    bench_case *b;
    if (!bench_check(r, j, v)) return 0;
    quick = json_get(j, v, "quick");
    if (r->o->quick && !(quick && quick->type == JSON_TRUE)) return 1;
    if (r->o->only && !strstr(json_get(j, v, "name")->string, r->o->only)) return 1;
    b = bench_add(r->c, json_get(j, v, "name")->string);
    threads = json_get(j, v, "threads");
    data = json_get(j, v, "data");
    b->list = r->list;
    b->threads = !threads || threads->type == JSON_TRUE;
    b->missing = data && !r->o->data;
    bench_beside(file, r->list, json_get(j, v, "scene")->string);
    (void)snprintf(b->path, sizeof b->path, "%s", file);
    if (data && r->o->data) (void)snprintf(b->path, sizeof b->path, "%s/%s/", r->o->data, data->string);
    return bench_text(r, b, file, j, json_get(j, v, "change"));
}

/* a scene file by itself is a case of its name */
static int bench_read_scene(bench_reader *r, const json *j)
{
    const char *slash = strrchr(r->list, '/'), *name = slash ? slash + 1 : r->list;
    bench_case *b = bench_add(r->c, name);
    char *dot = strrchr(b->name, '.');
    if (dot && strcmp(dot, ".json") == 0) *dot = 0;
    (void)snprintf(b->path, sizeof b->path, "%s", r->list);
    return bench_text(r, b, r->list, j, NULL);
}

int bench_read(bench_cases *c, const bench_options *o, tool_error *e)
{
    bench_reader r;
    int ok = 1;
    memset(c, 0, sizeof *c);
    r.c = c;
    r.o = o;
    r.e = e;
    for (int i = 0; ok && i < o->file_count; i++) {
        json j;
        const json_value *list;
        r.list = o->file[i];
        ok = json_read(&j, r.list, e);
        list = ok ? json_get(&j, &j.value[0], "cases") : NULL;
        if (ok && !list) ok = bench_read_scene(&r, &j);
        if (ok && list && (list->type != JSON_ARRAY || !list->count))
            ok = tool_fail(e, "%s:%d: key \"cases\": found no array of cases, expected at least one", r.list,
                           list->line);
        for (const json_value *v = list ? json_first(&j, list) : NULL; ok && v; v = json_next(&j, v))
            ok = bench_read_case(&r, &j, v);
        json_free(&j);
    }
    return ok;
}

void bench_free(bench_cases *c)
{
    for (int i = 0; i < c->count; i++) free(c->item[i].text);
    free(c->item);
    memset(c, 0, sizeof *c);
}

/* ---- Written out ---------------------------------------------------------------------------- */

static int bench_put(const bench_case *b, const char *directory, const char *name, const tool_text *t, tool_error *e)
{
    const char *input = b->path;
    output_plan plan = { { NULL }, { NULL }, &input, 1 };
    tool_text path = { NULL, 0, 0 };
    int ok;
    tool_put(&path, "%s/%s", directory, name);
    plan.file[0] = path.data;
    ok = output_check(&plan, e) && output_file(path.data, t, e);
    tool_text_free(&path);
    return ok;
}

/* Writes a mesh of body `number` as a file and says so in the change of the body. */
static int bench_put_mesh(tool_text *change, const bench_case *b, int number, const char *key, const tool_mesh *m,
                          const char *directory, tool_error *e)
{
    tool_text t = { NULL, 0, 0 };
    char name[128];
    int ok;
    (void)snprintf(name, sizeof name, "%s.%s%d.msh", b->name, key, number);
    mesh_put_msh(&t, m);
    ok = bench_put(b, directory, name, &t, e);
    tool_put(change, ", \"%s\": ", key);
    json_write_string(change, name);
    tool_text_free(&t);
    return ok;
}

/* The degrees that a scene has for "rotation", or for "turn" of a "repeat". */
static void bench_degrees(const json *j, const json_value *object, const char *key, double x[3])
{
    const json_value *list = json_get(j, object, key);
    x[0] = x[1] = x[2] = 0;
    for (const json_value *v = list ? json_first(j, list) : NULL; v; v = json_next(j, v)) *x++ = v->number;
}

/* A body of the file in plain words: every mesh a file, every copy by itself. *number: of the scene's next body. */
static int bench_put_body(tool_text *t, const bench_case *b, const scene *s, int *number, const json *j,
                          const json_value *v, const char *directory, tool_error *e)
{
    static const char *const gone[] = { "shape", "size",   "radius",     "height",
                                        "tube",  "normal", "resolution", "repeat" };
    const json_value *repeat = json_get(j, v, "repeat");
    tool_text meshes = { NULL, 0, 0 };
    double degrees[3], turn[3];
    const scene_body *first = &s->body[*number];
    int ok;
    bench_degrees(j, v, "rotation", degrees);
    if (repeat) bench_degrees(j, repeat, "turn", turn);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) tool_put(&meshes, ", \"%s\": null", gone[i]);
    ok = bench_put_mesh(&meshes, b, *number, "mesh", &first->surface, directory, e);
    if (ok && first->cage.tet_count) ok = bench_put_mesh(&meshes, b, *number, "cage", &first->cage, directory, e);
    do {
        const scene_body *body = &s->body[*number];
        const double *x = body->def.position;
        tool_text change = { NULL, 0, 0 };
        json other;
        tool_put(&change, "{ \"name\": ");
        json_write_string(&change, body->name);
        tool_put(&change, ", \"position\": [%.17g, %.17g, %.17g]", x[0], x[1], x[2]);
        if (repeat) {
            int n = body->repeated - 1;
            tool_put(&change, ", \"rotation\": [%.17g, %.17g, %.17g]", degrees[0] + n * turn[0],
                     degrees[1] + n * turn[1], degrees[2] + n * turn[2]);
        }
        tool_put(&change, "%s }", meshes.data);
        ok = ok && json_parse(&other, b->name, change.data, (size_t)change.length, e);
        if (ok) {
            tool_put(t, "%s\n", *number ? "," : "");
            json_merge(t, j, v, &other, &other.value[0]);
            json_free(&other);
        }
        tool_text_free(&change);
        ++*number;
    } while (ok && *number < s->body_count && s->body[*number].repeated > 1);
    tool_text_free(&meshes);
    return ok;
}

/* The scene in words that any build knows: shapes and repetitions are newer than mesh files and bodies. */
static int bench_plain(tool_text *t, const bench_case *b, const scene *s, const json *j, const char *directory,
                       tool_error *e)
{
    int number = 0, count = 0, ok = 1;
    for (const json_value *k = json_first(j, &j->value[0]); k && ok; k = json_next(j, k)) {
        tool_put(t, "%s \"%s\": ", count++ ? "," : "{", k->key);
        if (strcmp(k->key, "bodies") != 0) {
            json_write(t, j, k);
            continue;
        }
        tool_put(t, "[");
        for (const json_value *v = json_first(j, k); v && ok; v = json_next(j, v))
            ok = bench_put_body(t, b, s, &number, j, v, directory, e);
        tool_put(t, " ]");
    }
    tool_put(t, " }\n");
    return ok;
}

int bench_write(const bench_cases *c, const char *directory, tool_error *e)
{
    int ok = system_make_directories(directory) || tool_fail(e, "%s: cannot be made", directory);
    for (int i = 0; i < c->count && ok; i++) {
        const bench_case *b = &c->item[i];
        tool_text t = { NULL, 0, 0 };
        char name[80];
        scene s;
        json j;
        if (b->missing) continue;
        (void)snprintf(name, sizeof name, "%s.json", b->name);
        ok = scene_parse(&s, b->path, b->text, strlen(b->text), e);
        if (ok && json_parse(&j, b->path, b->text, strlen(b->text), e)) {
            ok = bench_plain(&t, b, &s, &j, directory, e) && bench_put(b, directory, name, &t, e);
            json_free(&j);
        }
        scene_free(&s);
        tool_text_free(&t);
    }
    return ok;
}
