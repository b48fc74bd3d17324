/* The table of keys of scene files: the reader reads each of them and knows no other, the examples can be read and
 * built, the defaults are those of the reader, and docs/scenes.md is what the table prints. */
#include "../embipc.h"
#include "test.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/scene.h"
#include "../tools/scene_keys.h"
#include "../tools/shapes.h"

/* What stands round an object of each part, and the least that it needs beside an example. */
#define BODIES "\"bodies\":[{\"name\":\"arm\",\"kind\":\"affine\",\"shape\":\"bubble\",\"position\":[0,0,2]}," \
               "{\"name\":\"ball\",\"kind\":\"affine\",\"shape\":\"ball\",\"radius\":0.1,\"position\":[0,0,1]}]"
#define BODY(members)                                                                                                \
    "{\"version\":1,\"bodies\":[{\"name\":\"it\",\"kind\":\"affine\",\"shape\":\"bubble\"," members "}]}"
static const struct { const char *frame, *least; } part_text[SCENE_PARTS] = {
    { "%s", "{\"version\":1," BODIES "}" },
    { "{\"version\":1," BODIES ",\"contact\":%s}", "{}" },
    { "{\"version\":1," BODIES ",\"solver\":%s}", "{}" },
    { "{\"version\":1,\"bodies\":[%s]}", "{\"kind\":\"affine\",\"shape\":\"bubble\"}" },
    { BODY("\"material\":%s"), "{}" },
    { BODY("\"repeat\":%s"), "{\"count\":[2,1,1],\"spacing\":[1,1,1]}" },
    { "{\"version\":1,\"bodies\":[{\"kind\":\"full\",\"mesh\":\"spike.msh\",\"regions\":[%s]}]}",
      "{\"box\":[[-1,-1,-1],[1,1,1]],\"stiffness\":2,\"density\":2}" },
    { BODY("\"drive\":[%s]"), "{\"keys\":[[0,0,0,0]],\"stiffness\":100}" },
    { BODY("\"drive\":[{\"keys\":[[0,0,0,0]],\"stiffness\":100,\"select\":%s}]"), "{\"box\":[[0,0,0],[1,1,1]]}" },
    { "{\"version\":1," BODIES ",\"pairs\":[%s]}", "{\"bodies\":[\"arm\",\"ball\"],\"friction\":1}" },
    { "{\"version\":1," BODIES ",\"joints\":[%s]}", "{}" },
    { "{\"version\":1," BODIES ",\"joints\":[{\"kind\":\"hinge\",\"b\":\"ball\",\"point\":[0,0,1],\"axis\":[0,1,0],"
      "\"motor\":%s}]}", "{\"stiffness\":1,\"damping\":1,\"effort\":1}" }
};

/* base with the members of change, both objects. */
static void merge(tool_text *out, const char *base, const char *change)
{
    json a, b;
    tool_error e;
    int ok = json_parse(&a, "base", base, strlen(base), &e),
        also = json_parse(&b, "change", change, strlen(change), &e);
    if (!ok || !also) printf("  %s\n  %s + %s\n", e.text, base, change);
    ENSURE(ok && also);
    if (ok && also) json_merge(out, &a, &a.value[0], &b, &b.value[0]);
    json_free(&a);
    json_free(&b);
}

/* The object of the example of a key. */
static void example_object(tool_text *out, const scene_key *k)
{
    tool_text change = { NULL, 0, 0 };
    tool_put(&change, "{%s%s}", k->example,
             strstr(k->example, "\"mesh\"") && k->part == SCENE_BODY ? ",\"shape\":null" : "");
    merge(out, part_text[k->part].least, change.data);
    tool_text_free(&change);
}

/* Reads the scene round an object; meshes are those of examples/scenes. */
static int read_object(scene *s, const scene_key *k, const char *object, tool_error *e)
{
    tool_text t = { NULL, 0, 0 };
    int ok;
    tool_put(&t, part_text[k->part].frame, object);
    ok = scene_parse(s, "examples/scenes/x.json", t.data, (size_t)t.length, e);
    tool_text_free(&t);
    return ok;
}

/* Is the example refused once its key has this value (NULL: is not there)? `key` must then be named in the error. */
static int refuses(const scene_key *k, const char *value)
{
    tool_text object = { NULL, 0, 0 }, change = { NULL, 0, 0 }, t = { NULL, 0, 0 };
    char quoted[80];
    scene s;
    tool_error e;
    int ok;
    example_object(&object, k);
    tool_put(&change, "{\"%s\":%s}", k->key, value ? value : "null");
    merge(&t, object.data, change.data);
    ok = read_object(&s, k, t.data, &e);
    snprintf(quoted, sizeof quoted, "key \"%s\"", k->key);
    if (ok || (strncmp(k->type, "object", 6) != 0 && !strstr(e.text, quoted)))
        printf("  %s of part %d: %s %s\n", k->key, k->part, t.data, ok ? "is accepted" : e.text);
    ok = !ok && (strncmp(k->type, "object", 6) == 0 || strstr(e.text, quoted));
    scene_free(&s);
    tool_text_free(&t);
    tool_text_free(&change);
    tool_text_free(&object);
    return ok;
}

static int begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* Each example can be read and built. A value of a wrong kind is refused with the name of the key, so the reader
 * reads it. */
static void test_examples(void)
{
    for (int i = 0; i < scene_key_count; i++) {
        const scene_key *k = &scene_keys[i];
        tool_text object = { NULL, 0, 0 };
        embipc_world *world = NULL;
        scene s;
        tool_error e;
        int ok;
        example_object(&object, k);
        ok = read_object(&s, k, object.data, &e) && scene_build(&s, &world, &e);
        if (!ok) printf("  %s of part %d: %s\n", k->key, k->part, e.text);
        ENSURE(ok);
        ENSURE(strstr(k->example, k->key) != NULL);
        embipc_world_destroy(world);
        scene_free(&s);
        tool_text_free(&object);
        ENSURE(refuses(k, strstr(k->type, "object") ? "7" : "{\"no\":1}"));
    }
}

/* Ranges are those that the table tells, and what is needed is. */
static void test_ranges(void)
{
    int checked = 0;
    for (int i = 0; i < scene_key_count; i++) {
        const scene_key *k = &scene_keys[i];
        int words = 0;
        if (begins(k->type, "number > 0") || begins(k->type, "number > -1")) {
            ENSURE(refuses(k, begins(k->type, "number > 0") ? "0" : "-1"));
            ENSURE(refuses(k, "-2"));
        }
        if (begins(k->type, "number >= 0") || begins(k->type, "whole number")) ENSURE(refuses(k, "-1e-3"));
        if (begins(k->type, "whole number")) ENSURE(refuses(k, "2.5"));
        if (strstr(k->type, "each > 0")) ENSURE(refuses(k, "[1, 0, 1]"));
        if (strstr(k->type, "each >= 0")) ENSURE(refuses(k, "[1, -1, 1]"));
        if (begins(k->type, "array of numbers > 0")) ENSURE(refuses(k, "[1, 0]"));
        if (strcmp(k->type, "word") == 0) {
            ENSURE(scene_words(k->part, k->key, &words) != NULL && words > 1);
            ENSURE(refuses(k, "\"nonsense\""));
        } else ENSURE(scene_words(k->part, k->key, &words) == NULL);
        if (strcmp(k->preset, "needed") == 0) {
            ENSURE(refuses(k, NULL));
            checked++;
        }
    }
    ENSURE(checked >= 9);
}

/* Descriptions without what points into memory of their own, which differs from scene to scene. */
static void forget_memory(scene *s)
{
    for (int i = 0; i < s->body_count; i++) {
        embipc_body_def *d = &s->body[i].def;
        for (int m = 0; m < 9; m++) d->rotation[m] += 0;   /* -0 becomes 0 */
        d->x = d->cage_x = d->tet_stiffness = d->tet_density = NULL;
        d->triangles = d->tets = d->cage_tets = NULL;
        d->name = NULL;
    }
}

static int same_factors(const double *a, const double *b, int count)
{
    if (!a || !b) return a == b;
    return memcmp(a, b, sizeof(double) * (size_t)count) == 0;
}

static int same_scene(scene *a, scene *b)
{
    int same = memcmp(&a->world, &b->world, sizeof a->world) == 0 && a->duration == b->duration
               && a->body_count == b->body_count && a->joint_count == b->joint_count && a->drive_count == b->drive_count
               && a->pair_count == b->pair_count;
    forget_memory(a);
    forget_memory(b);
    for (int i = 0; same && i < a->body_count; i++)
        same = memcmp(&a->body[i].def, &b->body[i].def, sizeof a->body[i].def) == 0
               && memcmp(a->body[i].surface_velocity, b->body[i].surface_velocity, sizeof a->body[i].surface_velocity)
                      == 0
               && a->body[i].surface.node_count == b->body[i].surface.node_count
               && same_factors(a->body[i].tet_stiffness, b->body[i].tet_stiffness, a->body[i].surface.tet_count)
               && same_factors(a->body[i].tet_density, b->body[i].tet_density, a->body[i].surface.tet_count)
               && same_factors(a->body[i].surface.x, b->body[i].surface.x, 3 * a->body[i].surface.node_count);
    for (int i = 0; same && i < a->joint_count; i++)
        same = memcmp(&a->joint[i].def, &b->joint[i].def, sizeof a->joint[i].def) == 0;
    for (int i = 0; same && i < a->drive_count; i++)
        same = memcmp(a->drive[i].stiffness, b->drive[i].stiffness, sizeof a->drive[i].stiffness) == 0
               && a->drive[i].damping == b->drive[i].damping && a->drive[i].force_limit == b->drive[i].force_limit;
    for (int i = 0; same && i < a->pair_count; i++)
        same = a->pair[i].friction == b->pair[i].friction && a->pair[i].contact == b->pair[i].contact;
    return same;
}

/* A default that is a value makes the scene that is made without the key, and the example makes another. */
static int default_holds(const scene_key *k)
{
    tool_text object = { NULL, 0, 0 }, change = { NULL, 0, 0 },
              t[3] = { { NULL, 0, 0 }, { NULL, 0, 0 }, { NULL, 0, 0 } };
    scene s[3];
    tool_error e;
    int ok = 1;
    /* other keys of a motor may need this one */
    if (k->part == SCENE_MOTOR) tool_put(&object, "%s", part_text[k->part].least);
    else example_object(&object, k);
    for (int n = 0; n < 2; n++) {
        change.length = 0;
        tool_put(&change, "{\"%s\":%s}", k->key, n ? k->preset : "null");
        merge(&t[n], object.data, change.data);
    }
    example_object(&t[2], k);
    for (int n = 0; n < 3; n++)
        if (!read_object(&s[n], k, t[n].data, &e)) {
            printf("  %s: %s\n", t[n].data, e.text);
            ok = 0;
        }
    ok = ok && same_scene(&s[0], &s[1]) && !same_scene(&s[0], &s[2]);
    for (int n = 0; n < 3; n++) {
        scene_free(&s[n]);
        tool_text_free(&t[n]);
    }
    tool_text_free(&change);
    tool_text_free(&object);
    return ok;
}

static void test_defaults(void)
{
    int checked = 0;
    for (int i = 0; i < scene_key_count; i++) {
        const scene_key *k = &scene_keys[i];
        json j;
        int is_value = json_parse(&j, "default", k->preset, strlen(k->preset), NULL), ok;
        json_free(&j);
        if (!is_value) continue;
        checked++;
        ok = default_holds(k);
        if (!ok) printf("  %s of part %d\n", k->key, k->part);
        ENSURE(ok);
    }
    ENSURE(checked > 25);
}

/* Reads a shape by its example, with another resolution where that is not 0. */
static int read_shape(scene *s, const scene_shape_line *line, const char *kind, int resolution)
{
    tool_text t = { NULL, 0, 0 };
    tool_error e;
    int ok;
    tool_put(&t, "{\"version\":1,\"bodies\":[{\"kind\":\"%s\",%s", kind, line->example);
    if (resolution) tool_put(&t, ",\"resolution\":%d", resolution);
    tool_put(&t, "}]}");
    ok = scene_parse(s, "x.json", t.data, (size_t)t.length, &e);
    if (!ok) printf("  %s: %s\n", line->name, e.text);
    tool_text_free(&t);
    return ok;
}

/* Shapes have the measures and default resolutions that the table tells, and no others. */
static void test_shapes(void)
{
    static const char *const measure[] = { "size", "radius", "height", "tube", "normal" };
    int count;
    const char *const *words = scene_words(SCENE_BODY, "shape", &count);
    ENSURE(count == SCENE_SHAPES);
    for (int i = 0; i < SCENE_SHAPES; i++) {
        const scene_shape_line *line = &scene_shape_lines[i];
        ENSURE(strcmp(words[i], line->name) == 0);
        for (int solid = 0; solid < 2; solid++) {
            const char *kind = solid ? "full" : "affine";
            scene a, b;
            ENSURE(read_shape(&a, line, kind, 0));
            ENSURE(read_shape(&b, line, kind, solid ? line->solid_resolution : line->resolution));
            ENSURE(a.body_count == 1 && b.body_count == 1);
            ENSURE(strcmp(a.body[0].source, line->name) == 0);
            ENSURE(same_scene(&a, &b));
            scene_free(&a);
            scene_free(&b);
        }
        for (int m = 0; m < 5; m++) ENSURE(scene_shape_has(i, measure[m]) == (strstr(line->example, measure[m]) != NULL)
                                           || (i == SCENE_PLANE && m == 4));
    }
}

static char *all_of(FILE *f)
{
    char *text = (char *)tool_alloc(1 << 18, 1);
    rewind(f);
    text[fread(text, 1, (1 << 18) - 1, f)] = 0;
    fclose(f);
    return text;
}

/* docs/scenes.md is what the table prints, and its lines are short. */
static void test_docs(void)
{
    FILE *f = tmpfile(), *docs = fopen("docs/scenes.md", "rb");
    char *printed, *stands;
    ENSURE(f && docs);
    if (!f || !docs) return;
    scene_help_markdown(f);
    printed = all_of(f);
    stands = all_of(docs);
    if (strcmp(printed, stands) != 0) printf("  docs/scenes.md differs: make docs/scenes.md writes it anew\n");
    ENSURE(strcmp(printed, stands) == 0);
    free(printed);
    free(stands);
}

/* Help of one word says what the table has; a word that is misspelt is answered with the nearest. */
static void test_help(void)
{
    for (int i = -1; i < scene_key_count; i++) {
        FILE *f = tmpfile();
        char *text;
        if (!f) { ENSURE(f); return; }
        ENSURE(scene_help(i < 0 ? NULL : scene_keys[i].key, f, f) == 0);
        text = all_of(f);
        if (i >= 0) ENSURE(strstr(text, scene_keys[i].example) != NULL);
        for (int k = 0; i < 0 && k < scene_key_count; k++) ENSURE(strstr(text, scene_keys[k].key) != NULL);
        free(text);
    }
    {
        FILE *f = tmpfile();
        char *text;
        if (!f) { ENSURE(f); return; }
        ENSURE(scene_help("yung", f, f) == 2);
        text = all_of(f);
        ENSURE(strstr(text, "\"yung\"") && strstr(text, "such as \"young\""));
        free(text);
    }
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(examples);
    RUN(ranges);
    RUN(defaults);
    RUN(shapes);
    RUN(docs);
    RUN(help);
    return test_end("test_tool_scene_keys");
}
