/* `embipc bench`: lists of cases, the table as JSON, targets, scenes written out, and bench_compare.sh. */
#include "../tools/system.h"
#include "../embipc.h"
#include "test.h"
#include "tool_place.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/shapes.h"
#include "../tools/scene.h"
#include "../tools/output.h"
#include "../tools/bench_case.h"
#include "../tools/bench_row.h"
#include "../tools/bench.h"
#include "../tools/bench_targets.c"

static char tool[1024];   /* the tool, beside this test */

/* the last sixteen results are valid */
static const char *place(const char *name)
{
    static char path[16][1024];
    static int turn;
    return strcpy(path[turn++ % 16], tool_place("test_tool_bench", name));
}

static const char *put(const char *name, const char *text)
{
    const char *path = place(name);
    FILE *f = fopen(path, "wb");
    ENSURE(f && fputs(text, f) >= 0 && fclose(f) == 0);
    return path;
}

/* A box that falls on the ground, and one that is pressed on it by a plate for a step and held for another. */
static const char fall[] =
    "{ \"version\": 1, \"time_step\": 0.01, \"duration\": 0.02, \"bodies\": [\n"
    "  { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\" },\n"
    "  { \"name\": \"box\", \"kind\": \"affine\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"position\": [0, 0, 0.0503] },\n"
    "  { \"name\": \"plate\", \"kind\": \"kinematic\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.02], \"position\": [0, 0, 0.1108],\n"
    "    \"drive\": [ { \"keys\": [[0, 0, 0, 0], [0.01, 0, 0, -0.0006], [1, 0, 0, -0.0006]] } ] } ] }\n";

static const char list[] =
    "{ \"cases\": [\n"
    "  { \"name\": \"one\", \"scene\": \"fall.json\", \"quick\": true },\n"
    "  { \"name\": \"two\", \"scene\": \"fall.json\", \"threads\": false, \"change\": { \"duration\": 0.04, \"bodies\": { \"box\":\n"
    "      { \"repeat\": { \"count\": [3, 1, 1], \"spacing\": [0.15, 0, 0] }, \"kind\": \"cage\" } } } },\n"
    "  { \"name\": \"only\", \"scene\": \"fall.json\", \"data\": \"nowhere\" } ],\n"
    "  \"targets\": [\n"
    "  { \"target\": \"A\", \"measure\": \"speed\", \"of\": \"one\", \"at_least\": 2, \"flags\": \"-O2\" },\n"
    "  { \"target\": \"B\", \"measure\": \"speed\", \"of\": \"one\", \"at_least\": 4 },\n"
    "  { \"target\": \"C\", \"measure\": \"speed\", \"of\": \"o*\", \"at_most\": 4 },\n"
    "  { \"target\": \"D\", \"measure\": \"speed\", \"of\": \"only\", \"over\": \"one\", \"at_most\": 1.6 },\n"
    "  { \"target\": \"E\", \"measure\": \"speed\", \"of\": \"o*\", \"spread\": true, \"at_most\": 1.6 },\n"
    "  { \"target\": \"F\", \"measure\": \"speed\", \"of\": \"one\", \"threads\": 2, \"at_least\": 5 },\n"
    "  { \"target\": \"G\", \"measure\": \"none\", \"of\": \"one\", \"at_least\": 5 } ] }\n";

static bench_options options(const char **file, int count)
{
    bench_options o;
    memset(&o, 0, sizeof o);
    o.file = file;
    o.file_count = count;
    o.threads = 1;
    o.repeats = 2;
    o.memory = 1;
    o.out = fopen(place("out"), "wb");
    o.errors = fopen(place("errors"), "wb");
    return o;
}

/* Runs it; returns the exit code, with what it printed in said and complained (owned by the caller). */
static int run(bench_options *o, int targets, char **said, char **complained)
{
    size_t size;
    tool_error e;
    int code = targets ? bench_targets(o) : bench_run(o);
    fclose(o->out);
    fclose(o->errors);
    *said = tool_read_file(place("out"), 1 << 20, &size, &e);
    *complained = tool_read_file(place("errors"), 1 << 20, &size, &e);
    return code;
}

static double number_of(const json *j, const json_value *v, const char *key)
{
    const json_value *n = json_get(j, v, key);
    return n && n->type == JSON_NUMBER ? n->number : NAN;
}

/* Everything that a row says of a run with these steps. */
static void check_row(const json *j, const json_value *r, int steps)
{
    static const char *const keys[] = {
        "threads", "time_step", "bodies_free", "unknowns", "triangles", "cut", "runs", "real_time_factor", "wall_s", "cpu_s",
        "ms_p50", "ms_p95", "ms_max", "build_s", "cpu_ms_per_body", "solves", "factorizations", "solves_most", "factorizations_most",
        "solves_worst_phase",
        "factorizations_worst_phase", "solves_all_islands", "factorizations_all_islands", "contacts", "contacts_most",
        "candidates", "peak_MB", "bytes_per_triangle", "intersections", "checks", "same_bits", "rise_m", "min_distance_m",
        "tightest", "drive_short_m", "patch_mm2", "pressure_Pa", "forces_N" };
    const json_value *shares = json_get(j, r, "shares"), *phases = json_get(j, r, "phases");
    double sum = 0, solves = 0, factorizations = 0, of_phases = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        ENSURE(number_of(j, r, keys[i]) <= 1e300 || strcmp(keys[i], "rise_m") == 0);
        if (!(number_of(j, r, keys[i]) <= 1e300)) printf("  %s\n", keys[i]);
    }
    ENSURE(number_of(j, r, "steps") == steps);
    ENSURE(shares && shares->count == EMBIPC_STAGE_COUNT);
    for (const json_value *k = shares ? json_first(j, shares) : NULL; k; k = json_next(j, k)) sum += k->number;
    ENSURE_CLOSE(sum, 1, 1e-3);   /* four digits each */
    for (const json_value *p = phases ? json_first(j, phases) : NULL; p; p = json_next(j, p)) {
        of_phases += number_of(j, p, "steps");
        solves += number_of(j, p, "solves");
        factorizations += number_of(j, p, "factorizations");
    }
    ENSURE(phases && phases->count == 2 && of_phases == steps);
    ENSURE_REL(solves / steps, number_of(j, r, "solves"), 1e-5);
    ENSURE_REL(factorizations / steps, number_of(j, r, "factorizations"), 1e-5);
    ENSURE(number_of(j, r, "solves_worst_phase") >= number_of(j, r, "solves"));
    ENSURE(number_of(j, r, "solves_most") >= number_of(j, r, "solves_worst_phase"));
    ENSURE(number_of(j, r, "factorizations_most") >= number_of(j, r, "factorizations_worst_phase"));
    ENSURE(number_of(j, r, "intersections") == 0 && number_of(j, r, "checks") >= 2 && number_of(j, r, "same_bits") == 1);
    ENSURE(number_of(j, r, "ms_p50") > 0 && number_of(j, r, "ms_p50") <= number_of(j, r, "ms_max"));
    ENSURE(number_of(j, r, "contacts_most") > 0 && number_of(j, r, "pressure_Pa") > 0 && number_of(j, r, "patch_mm2") > 0);
    ENSURE(json_get(j, r, "bodies") && json_get(j, r, "forces") && json_get(j, r, "forces")->count > 0);
}

static void test_list(void)
{
    const char *file = put("list.json", list), *json_path = place("bench.json");
    char *said, *complained;
    bench_options o;
    const json_value *r;
    tool_error e;
    json j;
    put("fall.json", fall);
    o = options(&file, 1);
    o.json = json_path;
    ENSURE(run(&o, 0, &said, &complained) == 0 && complained[0] == 0);
    ENSURE(strstr(said, "\none ") && strstr(said, "\ntwo ") && !strstr(said, "\nonly ") && strstr(said, "1 skipped"));
    ENSURE(json_read(&j, json_path, &e));
    if (test_bad) return;
    ENSURE(number_of(&j, &j.value[0], "repeats") == 2 && json_get(&j, &j.value[0], "machine") && json_get(&j, &j.value[0], "flags"));
    r = json_get(&j, &j.value[0], "rows");
    ENSURE(r && r->count == 2);
    r = json_first(&j, r);
    check_row(&j, r, 2);
    ENSURE(strcmp(json_get(&j, r, "case")->string, "one") == 0 && number_of(&j, r, "bodies_free") == 1
           && number_of(&j, r, "unknowns") == 12);
    r = json_next(&j, r);
    check_row(&j, r, 4);
    ENSURE(number_of(&j, r, "bodies_free") == 3 && number_of(&j, r, "unknowns") > 36);
    json_free(&j);
    free(said);
    free(complained);
    o = options(&file, 1);
    o.quick = 1;
    ENSURE(run(&o, 0, &said, &complained) == 0 && strstr(said, "\none ") && !strstr(said, "\ntwo ") && !strstr(said, "skipped"));
    free(said);
    free(complained);
    o = options(&file, 1);
    o.only = "tw";
    ENSURE(run(&o, 0, &said, &complained) == 0 && !strstr(said, "\none ") && strstr(said, "\ntwo "));
    free(said);
    free(complained);
}

/* A scene by itself is a case, too; what goes wrong is said, and counted. */
static void test_failures(void)
{
    const char *file = put("fall.json", fall);
    char *said, *complained;
    bench_options o = options(&file, 1);
    ENSURE(run(&o, 0, &said, &complained) == 0 && strstr(said, "\nfall "));
    free(said);
    free(complained);
    o = options(&file, 1);
    o.memory = 1e-5;
    ENSURE(run(&o, 0, &said, &complained) == 1 && strstr(said, "FAILED") && strstr(said, "memory"));
    free(said);
    free(complained);
    file = put("bad.json", "{ \"cases\": [ { \"name\": \"a\", \"scene\": \"fall.json\", \"chance\": {} } ] }");
    o = options(&file, 1);
    ENSURE(run(&o, 0, &said, &complained) == 2 && strstr(complained, "unknown key \"chance\""));
    free(said);
    free(complained);
    file = put("bad.json", "{ \"cases\": [ { \"name\": \"a\" } ] }");
    o = options(&file, 1);
    ENSURE(run(&o, 0, &said, &complained) == 2 && strstr(complained, "no key \"scene\""));
    free(said);
    free(complained);
    file = put("bad.json", "{ \"cases\": [ { \"name\": \"a\", \"scene\": \"fall.json\", \"change\": { \"bodies\": { \"bix\": {} } } } ] }");
    o = options(&file, 1);
    ENSURE(run(&o, 0, &said, &complained) == 1 && strstr(said, "FAILED") && strstr(said, "no key \"kind\""));
    free(said);
    free(complained);
}

/* Shapes and repetitions written out as mesh files and bodies come to the same bits. */
static void test_written_scenes(void)
{
    const char *file = put("list.json", list), *directory = place("written"), *json_path = place("bench.json");
    char *said, *complained, bits[2][32];
    put("fall.json", fall);
    for (int k = 0; k < 2; k++) {
        const char *written = place("written/two.json");
        bench_options o = options(&file, 1);
        tool_error e;
        json j;
        if (k == 0) {
            o.write = directory;
            ENSURE(run(&o, 0, &said, &complained) == 0);
            free(said);
            free(complained);
            o = options(&file, 1);
            o.only = "two";
        }
        else o.file = &written;
        o.json = json_path;
        ENSURE(run(&o, 0, &said, &complained) == 0 && strstr(said, "\ntwo "));
        free(said);
        free(complained);
        ENSURE(json_read(&j, json_path, &e));
        if (test_bad) return;
        snprintf(bits[k], sizeof bits[k], "%s",
                 json_get(&j, json_first(&j, json_get(&j, &j.value[0], "rows")), "bits")->string);
        json_free(&j);
        if (k == 1) {
            size_t size;
            char *text = tool_read_file(written, 1 << 20, &size, &e);
            ENSURE(text && !strstr(text, "shape") && !strstr(text, "repeat") && strstr(text, "\"box 3\""));
            free(text);
        }
    }
    ENSURE(strlen(bits[0]) == 16 && strcmp(bits[0], bits[1]) == 0);
}

/* Names with what JSON has a meaning for come out as they are: of cases, and of bodies, also written out. */
static void test_names(void)
{
    static const char scene_text[] =
        "{\"version\":1,\"time_step\":0.01,\"duration\":0.01,\"bodies\":[{\"name\":\"ground\",\"kind\":\"fixed\",\"shape\":\"plane\"},"
        "{\"name\":\"a\\\\b\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[0,0,0.0501],"
        "\"repeat\":{\"count\":[2,1,1],\"spacing\":[0.2,0,0]}}]}";
    const char *directory = place("named"), *file[3];
    file[0] = put("list.json", "{\"cases\":[{\"name\":\"a \\\"b\\\"\",\"scene\":\"names.json\"}]}");
    file[1] = put("names.json", scene_text);
    file[2] = place("named/names.json");
    for (int k = 0; k < 3; k++) {
        bench_options o = options(&file[k], 1);
        char *said, *complained;
        const json_value *row, *body;
        json j;
        tool_error e;
        if (k == 1) o.write = directory;
        else o.json = place("bench.json");
        ENSURE(run(&o, 0, &said, &complained) == 0 && complained[0] == 0);
        free(said);
        free(complained);
        if (k == 1) continue;
        ENSURE(json_read(&j, place("bench.json"), &e));
        if (test_bad) return;
        row = json_first(&j, json_get(&j, &j.value[0], "rows"));
        ENSURE(strcmp(json_get(&j, row, "case")->string, k ? "names" : "a \"b\"") == 0);
        body = json_first(&j, json_get(&j, row, "bodies"));
        ENSURE(strcmp(json_get(&j, body, "name")->string, "a\\b 1") == 0);
        json_free(&j);
    }
}

/* Lists that are refused: nothing to measure, and names that would lead out of the directory of --write. */
static void test_list_refusals(void)
{
#define CASES(text) "{\"cases\":" text "}"
    static const struct { const char *list, *said; } bad[] = {
        { CASES("[]"), "key \"cases\": found no array of cases, expected at least one" },
        { CASES("3"), "key \"cases\": found no array of cases" },
        { CASES("[{\"name\":\"../a\",\"scene\":\"fall.json\"}]"), "key \"name\": found the string \"../a\", expected 1 to 63 "
                                                               "characters that may stand in the name of a file" },
        { CASES("[{\"name\":\"\",\"scene\":\"fall.json\"}]"), "key \"name\": found the string \"\"" },
        { CASES("[{\"name\":\"a\",\"scene\":\"fall.json\"},\n{\"name\":\"a\",\"scene\":\"fall.json\"}]"),
          ":2: a case's key \"name\": found the string \"a\", expected one that no case before has" },
        { CASES("[{\"name\":\"b\",\"scene\":\"fall.json\"}]"), "found no case that is asked for" } };
    put("fall.json", fall);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *file = put("bad.json", bad[i].list);
        bench_options o = options(&file, 1);
        char *said, *complained;
        if (i == 5) o.only = "a";
        ENSURE(run(&o, 0, &said, &complained) == 2 && strstr(complained, bad[i].said));
        free(said);
        free(complained);
    }
}

static void test_targets(void)
{
    const char *file[3];
    char *said, *complained;
    bench_options o;
    file[0] = put("list.json", list);
    file[1] = put("a.json", "{ \"flags\": \"-O2\", \"rows\": [ { \"case\": \"one\", \"threads\": 1, \"speed\": 3 },\n"
                  " { \"case\": \"only\", \"threads\": 1, \"speed\": 5 }, { \"case\": \"one\", \"threads\": 2, \"speed\": 6 },\n"
                  " { \"case\": \"two\", \"threads\": 1, \"speed\": 9 } ] }");
    file[2] = put("b.json", "{ \"flags\": \"-O3\", \"rows\": [ { \"case\": \"one\", \"threads\": 1, \"speed\": 4 } ] }");
    o = options(file, 3);
    ENSURE(run(&o, 1, &said, &complained) == 0 && complained[0] == 0);
    {
        /* of each line: target, flags, verdict */
        static const char *const want[][4] = { { "A", "-O2", " 3 ", " met" }, { "B", "-O2", " 3 ", "NOT MET" },
            { "B", "-O3", " 4 ", " met" }, { "C", "-O2", " 5 ", "NOT MET" }, { "C", "-O3", " 4 ", " met" },
            { "D", "-O2", "1.667", "NOT MET" }, { "D", "-O3", "-", "not measured" }, { "E", "-O2", "1.667", "NOT MET" },
            { "E", "-O3", " 1 ", "met, 1 of 2 cases measured" }, { "F", "-O2", " 6 ", " met" }, { "F", "-O3", "-", "not measured" },
            { "G", "-O2", "-", "not measured" }, { "G", "-O3", "-", "not measured" } };
        char *line = strchr(said, '\n');
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            char *end = line ? strchr(line + 1, '\n') : NULL;
            ENSURE(end != NULL);
            if (!end) break;
            *end = 0;
            ENSURE(line[3] == want[i][0][0] && strstr(line + 1, want[i][1]) && strstr(line + 1, want[i][2]) && strstr(line + 1, want[i][3]));
            if (test_bad) printf("  %s\n", line + 1);
            line = end;
        }
        ENSURE(strstr(line + 1, "5 met, 4 not met, 4 not measured"));
    }
    free(said);
    free(complained);
    file[0] = put("list.json", "{ \"targets\": [ { \"target\": \"x\", \"measure\": \"y\", \"of\": \"z\" } ] }");
    o = options(file, 2);
    ENSURE(run(&o, 1, &said, &complained) == 2 && strstr(complained, "at_least"));
    free(said);
    free(complained);
}

/* The targets of the list in examples/ are about cases and measures that are there. */
static void test_own_list(void)
{
    tool_error e;
    json j;
    const json_value *cases, *targets;
    ENSURE(json_read(&j, "examples/scenes/bench/list.json", &e));
    if (test_bad) return;
    cases = json_get(&j, &j.value[0], "cases");
    targets = json_get(&j, &j.value[0], "targets");
    ENSURE(cases && cases->count > 30 && targets && targets->count > 20);
    for (const json_value *t = json_first(&j, targets); t; t = json_next(&j, t))
        for (int k = 0; k < 2; k++) {
            const char *name = targets_string(&j, t, k ? "over" : "of", k ? "*" : "");
            int found = 0;
            for (const json_value *c = json_first(&j, cases); c; c = json_next(&j, c))
                found += targets_fits(name, targets_string(&j, c, "name", ""));
            ENSURE(found > 0);
            if (!found) printf("  no case %s\n", name);
        }
    json_free(&j);
}

/* The tool against itself: nothing differs; and a scene that neither reads is skipped. */
static void test_compare(void)
{
    char command[8192], other[1100], *text;
    size_t size;
    tool_error e;
    FILE *f = fopen(tool, "rb");
    const char *out = place("compared");
    if (!f) SKIP("no tool beside this test");
    fclose(f);
    put("fall.json", fall);
    put("odd.json", "{ \"version\": 1, \"oddity\": 3, \"bodies\": [] }");
    snprintf(command, sizeof command, "sh tools/bench_compare.sh %s %s %s 2 1 %s %s > %s", tool, tool, place("runs"),
             place("fall.json"), place("odd.json"), out);
    ENSURE(system(command) == 0);
    text = tool_read_file(out, 1 << 20, &size, &e);
    ENSURE(text && strstr(text, "odd ") && strstr(text, "skipped: the old build says:") && strstr(text, "oddity"));
    ENSURE(text && strstr(text, "1 compared, 1 skipped, 0 with intersections"));
    ENSURE(text && strstr(text, "\nfall ") && !strstr(text, "largest: "));
    free(text);
    /* and against one that takes other steps, something does differ */
    snprintf(other, sizeof other, "%s.sh", place("other"));
    f = fopen(other, "wb");
    ENSURE(f && fprintf(f, "#!/bin/sh\nexec %s \"$@\" --time-step 0.005\n", tool) > 0 && fclose(f) == 0);
    snprintf(command, sizeof command, "chmod +x %s && sh tools/bench_compare.sh %s %s %s 1 1 %s > %s", other, tool, other,
             place("runs"), place("fall.json"), out);
    ENSURE(system(command) == 0);
    text = tool_read_file(out, 1 << 20, &size, &e);
    ENSURE(text && strstr(text, "largest: centre of box") && strstr(text, "force  ground - box"));
    free(text);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    test_unused();
    test_begin(argc, argv);
    snprintf(tool, sizeof tool, "%.*s/embipc", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    RUN(list);
    RUN(failures);
    RUN(written_scenes);
    RUN(names);
    RUN(list_refusals);
    RUN(targets);
    RUN(own_list);
    RUN(compare);
    return test_end(__FILE__);
}
