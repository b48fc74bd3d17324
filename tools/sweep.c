#include "sweep.h"
#include "json.h"
#include "output.h"
#include "run.h"
#include "scene.h"
#include "scene_keys.h"
#include "system.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEP_DEPTH = 16 };

/* One --set: where, and which values. */
typedef struct sweep_set {
    char *text;                        /* owned: the path, cut into its parts, and then the values */
    char *part[SWEEP_DEPTH + 1];       /* keys of objects; names, numbers or "*" of array elements */
    int part_count;
    int forces;                        /* the path began with "body": only bodies that forces move */
    const char *path;                  /* as the user wrote it; owned with text */
    char **value;                      /* owned; JSON */
    int value_count, value_capacity;
} sweep_set;

typedef struct sweep {
    const sweep_options *o;
    char *scene;                       /* owned: the text of the file */
    size_t scene_size;
    sweep_set set[SWEEP_SETS];
    int runs;
    tool_error e;
} sweep;

/* ---- What is set ---------------------------------------------------------------------------- */

/* Cuts text at commas outside brackets and quotes. What is no JSON is a word. */
static int sweep_values(sweep_set *s, char *text, tool_error *e)
{
    int depth = 0, quoted = 0, last = 0;
    for (char *p = text; !last; p++) {
        json j;
        tool_text t = { NULL, 0, 0 };
        last = *p == 0;
        if (*p == '"' && (p == text || p[-1] != '\\')) quoted = !quoted;
        if (!quoted) depth += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
        if (!last && (*p != ',' || quoted || depth > 0)) continue;
        *p = 0;
        if (!*text)
            return tool_fail(e, "embipc: --set %s: found an empty value, expected PATH=VALUE,VALUE...", s->path);
        if (json_parse(&j, s->path, text, strlen(text), NULL)) tool_put(&t, "%s", text);
        else if (strpbrk(text, "[]{}\"\\")) {
            json_free(&j);
            return tool_fail(e, "embipc: --set %s: found \"%.60s\", expected JSON or a word", s->path, text);
        } else json_write_string(&t, text);
        json_free(&j);
        for (int i = 0; i < s->value_count; i++)
            if (strcmp(s->value[i], t.data) == 0) {
                tool_fail(e, "embipc: --set %s: found the value %.60s twice, expected each once", s->path, t.data);
                tool_text_free(&t);
                return 0;
            }
        TOOL_GROW(char *, s->value, s->value_capacity, s->value_count + 1);
        s->value[s->value_count++] = t.data;
        text = p + 1;
    }
    return 1;
}

/* Takes "a.b.c=1,2" in. */
static int sweep_read_set(sweep_set *s, const char *word, tool_error *e)
{
    size_t n = strlen(word);
    char *equal;
    s->text = (char *)tool_alloc(2 * n + 2, 1);
    memcpy(s->text, word, n);
    memcpy(s->text + n + 1, word, n);
    s->path = s->text + n + 1;
    equal = strchr(s->text, '=');
    if (!equal) return tool_fail(e, "embipc: found --set %s, expected PATH=VALUE,VALUE...", word);
    *equal = 0;
    s->text[n + 1 + (size_t)(equal - s->text)] = 0;
    for (char *p = s->text; p; ) {
        char *dot = strchr(p, '.');
        if (dot) *dot = 0;
        if (!*p || s->part_count == SWEEP_DEPTH)
            return tool_fail(e, "embipc: --set %s: expected up to %d keys with dots between", s->path, SWEEP_DEPTH);
        s->part[s->part_count++] = p;
        p = dot ? dot + 1 : NULL;
    }
    return sweep_values(s, equal + 1, e);
}

/* ---- The scene with another value ----------------------------------------------------------- */

/* Is element i of an array what a part of a path names? Bodies without names are numbered as in the reader. */
static int sweep_is(const json *j, const json_value *v, int i, const sweep_set *s, int depth)
{
    static const char *const moved[] = { "affine", "cage", "full" };
    const json_value *name = json_get(j, v, "name"), *kind = json_get(j, v, "kind");
    char number[32], standard[32];
    if (s->forces && depth == 1) {
        for (int k = 0; k < 3; k++)
            if (kind && kind->type == JSON_STRING && strcmp(kind->string, moved[k]) == 0) return 1;
        return 0;
    }
    (void)snprintf(number, sizeof number, "%d", i);
    (void)snprintf(standard, sizeof standard, "body %d", i + 1);
    return strcmp(s->part[depth], "*") == 0 || strcmp(s->part[depth], number) == 0
           || (name && name->type == JSON_STRING && strcmp(s->part[depth], name->string) == 0)
           || (!name && strcmp(s->part[0], "bodies") == 0 && depth == 1 && strcmp(s->part[depth], standard) == 0);
}

/* Does a part of the path from `depth` on name an element of a list? Lists are not made. */
static int sweep_needs_list(const sweep_set *s, int depth)
{
    static const char *const list[] = { "bodies", "joints", "pairs" };
    for (int i = depth + 1; i < s->part_count; i++)
        if (s->part[i][strspn(s->part[i], "0123456789")] == 0 || strcmp(s->part[i], "*") == 0) return 1;
    for (int i = 0; i < 3; i++)
        if (depth == 0 && s->part_count > 1 && strcmp(s->part[0], list[i]) == 0) return 1;
    return 0;
}

/* Appends v with the value in its place, where the path leads there; *hits counts how often. Objects that the path
 * names and v has not are made. */
static void sweep_put(tool_text *t, const json *j, const json_value *v, const sweep_set *s, int depth,
                      const char *value, int *hits)
{
    int count = 0, found = 0, array = v->type == JSON_ARRAY;
    if (depth == s->part_count) {
        tool_put(t, "%s", value);
        ++*hits;
        return;
    }
    if (!array && v->type != JSON_OBJECT) { json_write(t, j, v); return; }
    tool_put(t, array ? "[" : "{");
    for (const json_value *k = json_first(j, v); k; k = json_next(j, k), count++) {
        int here = array ? sweep_is(j, k, count, s, depth) : strcmp(k->key, s->part[depth]) == 0;
        tool_put(t, count ? ", " : " ");
        if (!array) {
            json_write_string(t, k->key);
            tool_put(t, ": ");
        }
        if (here) sweep_put(t, j, k, s, depth + 1, value, hits);
        else json_write(t, j, k);
        found |= here;
    }
    if (!array && !found && !sweep_needs_list(s, depth)) {
        tool_put(t, count ? ", " : " ");
        for (int i = depth; i < s->part_count; i++) {
            if (i > depth) tool_put(t, "{ ");
            json_write_string(t, s->part[i]);
            tool_put(t, ": ");
        }
        tool_put(t, "%s", value);
        for (int i = depth + 1; i < s->part_count; i++) tool_put(t, " }");
        ++*hits;
    }
    tool_put(t, array ? " ]" : " }");
}

/* A path that begins with no key of the scene begins with a body: its name, or "body" for all that forces move. */
static void sweep_begin_path(sweep_set *s, const json *j)
{
    static char bodies[] = "bodies";
    if (json_get(j, &j->value[0], s->part[0])) return;
    for (int i = 0; i < scene_key_count; i++)
        if (scene_keys[i].part == SCENE_ROOT && strcmp(scene_keys[i].key, s->part[0]) == 0) return;
    if (s->part_count > SWEEP_DEPTH) return;
    s->forces = strcmp(s->part[0], "body") == 0;
    memmove(s->part + 1, s->part, (size_t)s->part_count * sizeof *s->part);
    s->part[0] = bodies;
    s->part_count++;
}

/* Do both lead to the same place? */
static int sweep_is_same(const sweep_set *a, const sweep_set *b)
{
    int same = a->part_count == b->part_count && a->forces == b->forces;
    for (int i = 0; i < a->part_count && same; i++) same = strcmp(a->part[i], b->part[i]) == 0;
    return same;
}

/* The scene of a run, of which the last set varies fastest. */
static int sweep_scene(sweep *w, int run, tool_text *out)
{
    tool_text t = { NULL, 0, 0 };
    tool_put(out, "%s", w->scene);
    for (int i = w->o->set_count - 1; i >= 0; i--) {
        sweep_set *s = &w->set[i];
        json j;
        int hits = 0, ok = json_parse(&j, w->o->scene, out->data, (size_t)out->length, &w->e);
        t.length = 0;
        if (ok) sweep_put(&t, &j, &j.value[0], s, 0, s->value[run % s->value_count], &hits);
        run /= s->value_count;
        json_free(&j);
        if (ok && !hits)
            ok = tool_fail(
                &w->e,
                "embipc: --set %s: found nothing of that name in %s, expected keys as of embipc scene-help, or "
                "the name of a body first",
                s->path, w->o->scene);
        if (!ok) { tool_text_free(&t); return 0; }
        out->length = 0;
        tool_put(out, "%s", t.data);
    }
    tool_text_free(&t);
    return 1;
}

/* ---- Records -------------------------------------------------------------------------------- */

static void sweep_path(tool_text *t, const char *directory, const char *format, int run)
{
    t->length = 0;
    tool_put(t, "%s/", directory);
    tool_put(t, format, run);
}

/* A file that is there is whole: it is written beside its place and then renamed. */
static int sweep_save(const sweep *w, const char *path, const tool_text *text, tool_error *e)
{
    tool_text part = { NULL, 0, 0 };
    int ok;
    tool_put(&part, "%s.%d-of-%d.new", path, w->o->shard, w->o->shards);
    ok = output_file(part.data, text, e);
    if (ok && rename(part.data, path) != 0) ok = tool_fail(e, "%s: cannot be written: %s", path, strerror(errno));
    tool_text_free(&part);
    return ok;
}

/* FNV-1a, of the text of the scene */
static unsigned long long sweep_hash(const char *data, size_t size)
{
    unsigned long long h = 14695981039346656037ull;
    for (size_t i = 0; i < size; i++) h = (h ^ (unsigned char)data[i]) * 1099511628211ull;
    return h;
}

/* DIR/sweep.json says of what the records are. Records of something else are not mixed in. */
static int sweep_claim(sweep *w)
{
    const sweep_options *o = w->o;
    tool_text t = { NULL, 0, 0 }, path = { NULL, 0, 0 };
    size_t size;
    char *stands;
    FILE *f;
    int ok;
    tool_put(&t, "{ \"runs\": %d, \"scene\": \"%016llx\", \"duration\": %.17g, \"time_step\": %.17g, \"set\": {",
             w->runs, sweep_hash(w->scene, w->scene_size), o->has_duration ? o->duration : -1, o->time_step);
    for (int i = 0; i < o->set_count; i++) {
        tool_put(&t, i ? ", " : " ");
        json_write_string(&t, w->set[i].path);
        tool_put(&t, ": [");
        for (int k = 0; k < w->set[i].value_count; k++) tool_put(&t, "%s%s", k ? ", " : "", w->set[i].value[k]);
        tool_put(&t, "]");
    }
    tool_put(&t, " } }\n");
    sweep_path(&path, o->out, "sweep.json", 0);
    f = fopen(path.data, "rb");
    if (f) {
        fclose(f);
        stands = tool_read_file(path.data, JSON_MAX_BYTES, &size, &w->e);
        ok = stands != NULL;
        if (ok && strcmp(stands, t.data) != 0)
            ok = tool_fail(&w->e,
                           "%s: found the records of another sweep or of an older scene, expected another --out",
                           path.data);
        free(stands);
    } else ok = sweep_save(w, path.data, &t, &w->e);
    tool_text_free(&t);
    tool_text_free(&path);
    return ok;
}

/* Has the run a record, and one without an error if what failed is to be run again? */
static int sweep_is_done(const sweep *w, const char *path)
{
    FILE *f = fopen(path, "rb");
    json j;
    int done;
    if (!f) return 0;
    fclose(f);
    if (!w->o->retry) return 1;
    done = json_read(&j, path, NULL) && !json_get(&j, &j.value[0], "error");
    json_free(&j);
    return done;
}

/* The values of a run, as members of an object. */
static void sweep_put_values(const sweep *w, int run, tool_text *t)
{
    int value[SWEEP_SETS];
    for (int i = w->o->set_count - 1; i >= 0; i--) {
        value[i] = run % w->set[i].value_count;
        run /= w->set[i].value_count;
    }
    for (int i = 0; i < w->o->set_count; i++) {
        tool_put(t, i ? ", " : "");
        json_write_string(t, w->set[i].path);
        tool_put(t, ": %s", w->set[i].value[value[i]]);
    }
}

/* Runs one, and keeps its record unless it was stopped. Returns its exit code; -1: stopped. */
static int sweep_one(sweep *w, int run, const char *path)
{
    const sweep_options *o = w->o;
    run_options r;
    tool_text text = { NULL, 0, 0 }, record = { NULL, 0, 0 }, values = { NULL, 0, 0 }, all = { NULL, 0, 0 },
              out = { NULL, 0, 0 };
    int code;
    memset(&r, 0, sizeof r);
    sweep_put_values(w, run, &values);
    if (!o->quiet) fprintf(o->report, "run %d of %d: %s\n", run + 1, w->runs, values.length ? values.data : "as it is");
    fflush(o->report);
    if (!sweep_scene(w, run, &text)) code = 2;
    else {
        sweep_path(&out, o->out, "run_%06d", run + 1);
        r.scene = o->scene;
        r.text = text.data;
        r.text_size = (size_t)text.length;
        r.out = o->files ? out.data : NULL;
        r.every = 1;
        r.threads = o->threads;
        r.quiet = 1;
        r.duration = o->duration;
        r.has_duration = o->has_duration;
        r.time_step = o->time_step;
        r.record = &record;
        code = run_scene(&r);
        if (*system_catch_interrupt()) code = -1;
        tool_put(&all, "{ \"run\": %d, \"set\": { %s }, \"exit_code\": %d, %s }\n", run + 1,
                 values.length ? values.data : "", code, record.length ? record.data : "\"steps\": 0");
        if (code >= 0 && !sweep_save(w, path, &all, &w->e)) code = 3;
    }
    tool_text_free(&out);
    tool_text_free(&all);
    tool_text_free(&values);
    tool_text_free(&record);
    tool_text_free(&text);
    return code;
}

/* All runs of the shard that are not done. Run numbers of a shard are those with the same rest, so that shards have
 * about equal shares of what is slow. */
static int sweep_all(sweep *w)
{
    const sweep_options *o = w->o;
    tool_text path = { NULL, 0, 0 };
    int made = 0, failed = 0, before = 0, code = 0;
    for (int run = o->shard - 1; run < w->runs && code >= 0; run += o->shards) {
        sweep_path(&path, o->out, "run_%06d.json", run + 1);
        if (sweep_is_done(w, path.data)) { before++; continue; }
        code = sweep_one(w, run, path.data);
        if (code == 3) break;
        made += code >= 0;
        failed += code > 0;
    }
    tool_text_free(&path);
    if (code == 3) {
        fprintf(o->errors, "%s\n", w->e.text);
        return 2;
    }
    if (!o->quiet)
        fprintf(o->report, "shard %d of %d: %d made, %d of them failed, %d were there%s\n", o->shard, o->shards, made,
                failed, before, code < 0 ? "; stopped" : "");
    return failed || code < 0;
}

/* Is the scene of the first run one, and can records be written? */
static int sweep_try(sweep *w)
{
    tool_text text = { NULL, 0, 0 };
    scene s;
    json j;
    int ok = json_parse(&j, w->o->scene, w->scene, w->scene_size, &w->e);
    memset(&s, 0, sizeof s);
    for (int i = 0; ok && i < w->o->set_count; i++) sweep_begin_path(&w->set[i], &j);
    json_free(&j);
    for (int i = 0; i < w->o->set_count; i++)
        for (int k = 0; k < i && ok; k++)
            if (sweep_is_same(&w->set[i], &w->set[k]))
                ok = tool_fail(&w->e, "embipc: found --set %s twice, expected all of its values in one",
                               w->set[i].path);
    ok = ok && sweep_scene(w, 0, &text) && scene_parse(&s, w->o->scene, text.data, (size_t)text.length, &w->e);
    if (ok) {
        output_plan p = { { NULL }, { w->o->out }, (const char *const *)s.file, s.file_count };
        ok = output_check(&p, &w->e);
    }
    scene_free(&s);
    tool_text_free(&text);
    return ok;
}

static int sweep_read(sweep *w)
{
    const sweep_options *o = w->o;
    double runs = 1;
    w->scene = tool_read_file(o->scene, JSON_MAX_BYTES, &w->scene_size, &w->e);
    if (!w->scene) return 0;
    for (int i = 0; i < o->set_count; i++) {
        if (!sweep_read_set(&w->set[i], o->set[i], &w->e)) return 0;
        runs *= w->set[i].value_count;
    }
    if (runs > SWEEP_RUNS) return tool_fail(&w->e, "embipc: found %.0f runs, expected at most %d", runs, SWEEP_RUNS);
    w->runs = (int)runs;
    return sweep_try(w) && sweep_claim(w);
}

int sweep_run(const sweep_options *o)
{
    sweep w;
    int code = 2;
    memset(&w, 0, sizeof w);
    w.o = o;
    if (sweep_read(&w)) code = sweep_all(&w);
    else fprintf(o->errors, "%s\n", w.e.text);
    for (int i = 0; i < o->set_count; i++) {
        for (int k = 0; k < w.set[i].value_count; k++) free(w.set[i].value[k]);
        free(w.set[i].value);
        free(w.set[i].text);
    }
    free(w.scene);
    return code;
}

/* ---- A table of the records ----------------------------------------------------------------- */

typedef struct sweep_columns {
    char **name, **cell;               /* owned; of the present row, NULL where it has none */
    int count, capacity, cell_capacity;
} sweep_columns;

static void sweep_cell(sweep_columns *c, const char *name, const json_value *v)
{
    tool_text t = { NULL, 0, 0 };
    int i = 0;
    while (i < c->count && strcmp(c->name[i], name) != 0) i++;
    if (i == c->count) {
        TOOL_GROW(char *, c->name, c->capacity, i + 1);
        TOOL_GROW(char *, c->cell, c->cell_capacity, i + 1);
        c->name[i] = (char *)tool_alloc(strlen(name) + 1, 1);
        strcpy(c->name[i], name);
        c->cell[c->count++] = NULL;
    }
    tool_put(&t, "");
    if (v->type == JSON_STRING) {
        tool_put(&t, "\"");
        for (const char *p = v->string; *p; p++) tool_put(&t, *p == '"' ? "\"\"" : "%c", *p == '\n' ? ' ' : *p);
        tool_put(&t, "\"");
    } else if (v->type == JSON_NUMBER) tool_put(&t, "%.17g", v->number);
    else if (v->type != JSON_NULL) tool_put(&t, v->type == JSON_TRUE ? "true" : "false");
    free(c->cell[i]);
    c->cell[i] = t.data;
}

/* Numbers and words of a record, by their paths. An entry of a list counts by the names of its bodies, else by
 * number. */
static void sweep_flatten(sweep_columns *c, const json *j, const json_value *v, const char *path)
{
    tool_text name = { NULL, 0, 0 };
    int i = 0;
    if (v->type != JSON_OBJECT && v->type != JSON_ARRAY) { sweep_cell(c, path, v); return; }
    for (const json_value *k = json_first(j, v); k; k = json_next(j, k), i++) {
        static const char *const names[] = { "name", "body_a", "body_b" };
        name.length = 0;
        tool_put(&name, "%s%s", path, *path ? "." : "");
        if (k->key) tool_put(&name, "%s", k->key);
        else if (k->type == JSON_OBJECT) {
            int n = 0;
            for (int m = 0; m < 3; m++) {
                const json_value *word = json_get(j, k, names[m]);
                if (word && word->type == JSON_STRING) tool_put(&name, "%s%s", n++ ? "-" : "", word->string);
            }
            if (!n) tool_put(&name, "%d", i);
        } else tool_put(&name, "%d", i);
        if (!k->key || (strcmp(k->key, "name") != 0 && strncmp(k->key, "body_", 5) != 0))
            sweep_flatten(c, j, k, name.data);
    }
    tool_text_free(&name);
}

static void sweep_put_row(FILE *out, char **cell, int count)
{
    for (int i = 0; i < count; i++) fprintf(out, "%s%s", i ? "," : "", cell[i] ? cell[i] : "");
    fputc('\n', out);
}

/* Reads all records; twice, as later ones may have more columns. */
static int sweep_rows(const sweep_options *o, int runs, sweep_columns *c, int print, tool_error *e)
{
    tool_text path = { NULL, 0, 0 };
    int rows = 0, ok = 1;
    for (int run = 0; ok && run < runs; run++) {
        FILE *f;
        json j;
        sweep_path(&path, o->out, "run_%06d.json", run + 1);
        f = fopen(path.data, "rb");
        if (!f) continue;
        fclose(f);
        for (int i = 0; i < c->count; i++) {
            free(c->cell[i]);
            c->cell[i] = NULL;
        }
        ok = json_read(&j, path.data, e);
        if (ok) sweep_flatten(c, &j, &j.value[0], "");
        if (ok && print) sweep_put_row(o->report, c->cell, c->count);
        rows += ok;
        json_free(&j);
    }
    tool_text_free(&path);
    return ok ? rows : -1;
}

int sweep_table(const sweep_options *o)
{
    tool_text path = { NULL, 0, 0 };
    sweep_columns c;
    tool_error e;
    json j;
    int ok, runs = 0, rows = 0;
    memset(&c, 0, sizeof c);
    sweep_path(&path, o->out, "sweep.json", 0);
    ok = json_read(&j, path.data, &e);
    if (ok) {
        const json_value *v = json_get(&j, &j.value[0], "runs");
        if (v && v->type == JSON_NUMBER && v->number >= 1 && v->number <= SWEEP_RUNS) runs = (int)v->number;
        rows = runs ? sweep_rows(o, runs, &c, 0, &e) : -1;
        if (!runs) tool_fail(&e, "%s: found no number of \"runs\", expected what embipc sweep writes", path.data);
        if (rows >= 0) {
            sweep_put_row(o->report, c.name, c.count);
            rows = sweep_rows(o, runs, &c, 1, &e);
        }
        ok = rows >= 0;
    }
    json_free(&j);
    if (!ok) fprintf(o->errors, "%s\n", e.text);
    else if (rows < runs) fprintf(o->errors, "%d of %d runs have no record yet\n", runs - rows, runs);
    for (int i = 0; i < c.count; i++) {
        free(c.name[i]);
        free(c.cell[i]);
    }
    free(c.name);
    free(c.cell);
    tool_text_free(&path);
    return ok ? rows < runs : 2;
}
