#include "bench.h"
#include "common.h"
#include "json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One file of results. */
typedef struct targets_file {
    json j;
    const char *path, *flags;
} targets_file;

static const char *targets_string(const json *j, const json_value *v, const char *key, const char *otherwise)
{
    const json_value *s = json_get(j, v, key);
    return s && s->type == JSON_STRING ? s->string : otherwise;
}

static int targets_number(const json *j, const json_value *v, const char *key, double *out)
{
    const json_value *n = json_get(j, v, key);
    if (!n || n->type != JSON_NUMBER) return 0;
    *out = n->number;
    return 1;
}

/* a name, or its beginning and a star */
static int targets_fits(const char *pattern, const char *name)
{
    const char *star = strchr(pattern, '*');
    return star ? strncmp(pattern, name, (size_t)(star - pattern)) == 0 : strcmp(pattern, name) == 0;
}

/* The largest and the smallest value of a key, for each `per` where that is a key, over the rows whose case fits, with so
 * many threads (0: any); returns how many rows have it. */
static int targets_range(const json *j, const char *pattern, int threads, const char *key, const char *per,
                         double range[2])
{
    const json_value *rows = json_get(j, &j->value[0], "rows");
    int count = 0;
    range[0] = HUGE_VAL;
    range[1] = -HUGE_VAL;
    for (const json_value *r = rows ? json_first(j, rows) : NULL; r; r = json_next(j, r)) {
        double x, n = 1, each = 1;
        targets_number(j, r, "threads", &n);
        if (!targets_fits(pattern, targets_string(j, r, "case", "")) || (threads && (int)n != threads)) continue;
        if (!targets_number(j, r, key, &x) || (per && !targets_number(j, r, per, &each))) continue;
        x /= each;
        range[0] = fmin(range[0], x);
        range[1] = fmax(range[1], x);
        count++;
    }
    return count;
}

/* What a target asks of one file; returns 0 when the rows are not there. */
static int targets_measure(const json *list, const json_value *t, const json *j, int at_least, double *value)
{
    const char *of = targets_string(list, t, "of", ""), *over = targets_string(list, t, "over", NULL);
    const char *key = targets_string(list, t, "measure", ""), *per = targets_string(list, t, "per", NULL);
    const json_value *spread = json_get(list, t, "spread");
    double range[2], base[2], threads = 1;
    targets_number(list, t, "threads", &threads);
    if (!targets_range(j, of, (int)threads, key, per, range)) return 0;
    *value = at_least ? range[0] : range[1];
    if (spread && spread->type == JSON_TRUE) *value = range[1] / range[0];
    if (!over) return 1;
    if (!targets_range(j, over, (int)threads, key, per, base)) return 0;
    *value /= base[0];
    return 1;
}

/* How many of the list's cases the target is about are in a file, and how many there are. */
static void targets_cover(const json *list, const json_value *t, const json *j, const char *key, int cover[2])
{
    const json_value *cases = json_get(list, &list->value[0], "cases");
    const char *of = targets_string(list, t, "of", "");
    double range[2];
    cover[0] = cover[1] = 0;
    for (const json_value *c = cases ? json_first(list, cases) : NULL; c; c = json_next(list, c)) {
        const char *name = targets_string(list, c, "name", "");
        if (!targets_fits(of, name)) continue;
        cover[0] += targets_range(j, name, 0, key, NULL, range) > 0;
        cover[1]++;
    }
}

/* One line for each file that the target is about. Returns 0 with e filled for a target that says nothing. */
static int targets_judge(const json *list, const char *path, const json_value *t, const targets_file *file, int count,
                         int sum[3], FILE *out, tool_error *e)
{
    const char *flags = targets_string(list, t, "flags", NULL), *text = targets_string(list, t, "target", NULL);
    double bound = 0, value;
    int at_least = targets_number(list, t, "at_least", &bound), cover[2];
    if (!text || (!at_least && !targets_number(list, t, "at_most", &bound)))
        return tool_fail(e, "%s:%d: found a target without \"target\" or \"at_least\" or \"at_most\"", path, t->line);
    for (int i = 0; i < count; i++) {
        int verdict = 2;
        if (flags && strcmp(flags, file[i].flags) != 0) continue;
        fprintf(out, "  %-66s %-18s %s %-7.4g", text, file[i].flags, at_least ? ">=" : "<=", bound);
        if (targets_measure(list, t, &file[i].j, at_least, &value)) {
            verdict = at_least ? value < bound : value > bound;
            targets_cover(list, t, &file[i].j, targets_string(list, t, "measure", ""), cover);
            fprintf(out, " %9.4g  %s", value, verdict ? "NOT MET" : "met");
            if (cover[0] < cover[1]) fprintf(out, ", %d of %d cases measured", cover[0], cover[1]);
            fprintf(out, "\n");
        }
        else fprintf(out, " %9s  not measured\n", "-");
        sum[verdict]++;
    }
    return 1;
}

int bench_targets(const bench_options *o)
{
    const char **path = o->file;
    int path_count = o->file_count;
    FILE *out = o->out;
    json list;
    tool_error e;
    const json_value *targets;
    targets_file *file = (targets_file *)tool_alloc((size_t)path_count, sizeof *file);
    int ok = json_read(&list, path[0], &e), count = 0, sum[3] = {0, 0, 0};
    targets = ok ? json_get(&list, &list.value[0], "targets") : NULL;
    if (ok && !targets) ok = tool_fail(&e, "%s: found no key \"targets\"", path[0]);
    for (int i = 1; ok && i < path_count; i++) {
        targets_file *f = &file[count++];
        f->path = path[i];
        ok = json_read(&f->j, path[i], &e);
        if (ok) f->flags = targets_string(&f->j, &f->j.value[0], "flags", "");
    }
    if (ok) fprintf(out, "targets %63s flags              wanted      measured\n", "");
    for (const json_value *t = ok ? json_first(&list, targets) : NULL; ok && t; t = json_next(&list, t))
        ok = targets_judge(&list, path[0], t, file, count, sum, out, &e);
    if (ok) fprintf(out, "targets: %d met, %d not met, %d not measured\n", sum[0], sum[1], sum[2]);
    else fprintf(o->errors, "%s\n", e.text);
    for (int i = 0; i < count; i++) json_free(&file[i].j);
    json_free(&list);
    free(file);
    return ok ? 0 : 2;
}
