/* The command line tool embipc: reads its arguments and calls run.c, check.c, doctor.c, embed.c or bench.c. */
#define EMBIPC_SELFTEST
#include "../embipc.h"
#include "bench.h"
#include "check.h"
#include "common.h"
#include "doctor.h"
#include "embed.h"
#include "import.h"
#include "meshio.h"
#include "replay.h"
#include "run.h"
#include "scene_keys.h"
#include "sweep.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* in two parts, as compilers promise to take no more than 4095 characters in one */
static const char main_usage[] =
    "usage: embipc run SCENE.json [options]   simulates a scene\n"
    "       embipc replay FILE [--threads N]  makes the steps of a recording again, and tells the first difference\n"
    "       embipc defaults SCENE.json        prints every derived parameter with its reason\n"
    "       embipc defaults --material [SCENE.json]   stress against stretch, of every model or body, as CSV\n"
    "       embipc check MESH... [options]    tells whether meshes can be simulated as solids\n"
    "       embipc doctor SCENE.json [-o FIXED.json]   finds bodies that overlap, and parts them\n"
    "       embipc embed SURFACE [options]    builds a coarse cage for a closed surface\n"
    "       embipc bench SCENE.json... [options]   times the steps of scenes, and where the time goes; a file\n"
    "                                         with \"cases\" is a list of scenes with changes\n"
    "       embipc bench --targets LIST.json RESULT.json...   compares what --json wrote with the list's targets\n"
    "       embipc sweep SCENE.json --set PATH=V,V... --out DIR [options]   a run for each combination of values\n"
    "       embipc sweep --table DIR          the records of a sweep as CSV\n"
    "       embipc import FILE [-o SCENE.json] [options]   a scene of a robot: URDF, or MJCF\n"
    "       embipc scene-help [KEY]           keys of a scene file; of KEY: value, unit, default, an example\n"
    "       embipc scene-help --markdown      all of it, as in docs/scenes.md\n"
    "       embipc selftest                   tries each formula on this machine, by the number of its equation\n"
    "       embipc --version                  0.N, and EMBIPC_VERSION of the header that the tool has, N\n"
    "\n"
    "options of run\n"
    "  --out DIR        writes steps.csv, forces.csv, bodies.csv, drives.csv and joints.csv into DIR\n"
    "  --frames         also the surfaces, frame_00000.obj and so on\n"
    "  --view FILE      writes FILE (.html), a page that plays the run back, with plots, in any browser; it\n"
    "                   needs no network. Positions in it have 16 bits over the box of their body: off by\n"
    "                   at most 7.7e-6 of its diagonal. The exact ones are in --frames\n"
    "  --every N        a frame every N steps (1), of --frames, --view, --animation, --gltf and\n"
    "                   --video-frames\n"
    "  --record FILE    the start and each step for embipc replay: a report of an error is one file\n"
    "  --duration S     simulated seconds, instead of the scene's\n"
    "  --time-step S    seconds a step, instead of the scene's\n"
    "  --threads N      worker threads (1); results do not depend on it\n"
    "  --picture FILE   a PNG picture of the end\n"
    "  --animation FILE an animated PNG picture, 600 x 400; browsers play it\n"
    "  --gltf FILE      the run as animated glTF 2.0 (.glb), for other programs\n"
    "  --sheet FILE     a PNG picture of moments of the run, side by side\n"
    "  --moments N      of the sheet (9)\n"
    "  --video-frames DIR   picture_00000.png and so on, 960 x 640, to make a video of; slow\n"
    "  --explain N      tells step N in sentences, to be read beside docs/one_step.md, and ends there\n"
    "  --explain-page FILE   into FILE (.html) instead\n"
    "  --report         adds the force balance to the summary, and prints it even with --quiet\n"
    "  --quiet          no progress, no summary\n"
    "\n";
static const char main_usage_more[] =
    "options of sweep (docs/sweep.md)\n"
    "  --set PATH=V,V   the values of a key: time_step=0.01,0.02, teddy.material.young=1e4,1e5 of body teddy,\n"
    "                   body.friction=0,1 of all bodies that forces move, bodies.*.friction=0,1 of all\n"
    "  --shard I/N      of N parts, counted from 1, only the I-th; what has a record is not run again\n"
    "  --out DIR        a record for each run, run_000001.json and so on, a line of JSON each\n"
    "  --files          also what embipc run --out writes, in DIR/run_000001 and so on\n"
    "  --retry          runs again what failed\n"
    "  --duration S, --time-step S, --threads N, --quiet   as of run\n"
    "\n"
    "options of import (docs/import.md)\n"
    "  -o SCENE.json    writes the scene there, instead of printing it; meshes stay where they are\n"
    "  --friction MU    of bodies that have none in the file (0.5)\n"
    "  --young E        of all moving bodies, Pa (1e9: almost rigid)\n"
    "  --package DIR    where package://NAME/ of a URDF file is\n"
    "  --pose J=V,...   where joints begin, by their names, degrees or m (0, or the nearest limit)\n"
    "  --motors K,D     motors that hold the joints of a URDF file, N m/rad and N m s/rad, or N/m and N s/m\n"
    "  --free           the first link of a URDF file moves freely, instead of being fixed\n"
    "  --no-self-contact   links never touch each other\n"
    "\n"
    "options of check\n"
    "  --fix OUT        mends MESH, says how, writes OUT (.obj; .msh, also for tets) and checks that\n"
    "  --merge M        merges vertices on borders within M metres (1e-7 of the diagonal)\n"
    "  --fill N         fills holes of up to N edges (8; 0: none)\n"
    "  --list N         lists up to N places of a kind (3)\n"
    "\n"
    "options of embed\n"
    "  --nodes N        about this many nodes; 4 is one tetrahedron (34, or more for many parts)\n"
    "  --cell-size H    cells of H metres instead\n"
    "  -o CAGE.msh      writes the cage\n"
    "  --png FILE       a picture of surface and cage\n"
    "\n"
    "options of bench\n"
    "  --threads N      runs each scene with one thread and with N, by turns\n"
    "  --repeats N      timed runs of each scene; of each step the fastest counts (1)\n"
    "  --json FILE      writes the table as JSON, with physical results\n"
    "  --only TEXT      only cases of a list whose name contains TEXT\n"
    "  --quick          only cases of a list that are marked as quick\n"
    "  --data DIR       where a list's meshes from outside are\n"
    "  --memory GB      what a case may take before it fails (6)\n"
    "  --write DIR      only writes the scene of each case into DIR, shapes as mesh files, repetitions body by body\n"
    "\n"
    "meshes: .obj .stl .ply .off .msh .vtk .node/.ele\n"
    "\n"
    "exit code: 0 fine; 1 the simulation or the check says no, or it was stopped; 2 bad usage, input or output\n";

static void main_help(FILE *out)
{
    fputs(main_usage, out);
    fputs(main_usage_more, out);
}

static int main_bad(const char *format, const char *a, const char *b)
{
    fprintf(stderr, "embipc: ");
    fprintf(stderr, format, a, b);
    fprintf(stderr, "\nembipc --help tells more\n");
    return 2;
}

/* The number behind an option, > 0 (duration: >= 0; threads: at most 256). */
static int main_number(const char *option, const char *value, int whole, double *out)
{
    int integer = 0, ok, duration = strcmp(option, "--duration") == 0, threads = strcmp(option, "--threads") == 0;
    ok = whole ? tool_integer(value, strlen(value), &integer) : tool_number(value, strlen(value), out);
    if (whole) *out = integer;
    if (ok && (*out > 0 || (*out == 0 && duration)) && !(threads && *out > 256)) return 1;
    main_bad(threads ? "found \"%s\", expected a whole number from 1 to 256 after %s"
             : whole ? "found \"%s\", expected a whole number from 1 to 2147483647 after %s"
             : duration ? "found \"%s\", expected seconds >= 0 after %s"
                        : "found \"%s\", expected a number > 0 after %s",
             value, option);
    return 0;
}

/* Those before OPT_FRAMES take a value. */
enum {
    OPT_OUT, OPT_EVERY, OPT_DURATION, OPT_TIME_STEP, OPT_THREADS, OPT_PICTURE, OPT_VIEW, OPT_SHEET,
    OPT_MOMENTS, OPT_FILM, OPT_ANIMATION, OPT_GLTF, OPT_EXPLAIN, OPT_EXPLAIN_PAGE, OPT_RECORD,
    OPT_FRAMES, OPT_REPORT, OPT_QUIET, OPT_COUNT
};
static const char *const main_option[OPT_COUNT] = {
    "--out", "--every", "--duration", "--time-step", "--threads", "--picture", "--view", "--sheet",
    "--moments", "--video-frames", "--animation", "--gltf", "--explain", "--explain-page", "--record",
    "--frames", "--report", "--quiet"
};

static int main_is_path(int k)
{
    return k == OPT_OUT || k == OPT_PICTURE || k == OPT_VIEW || k == OPT_SHEET || k == OPT_FILM
           || k == OPT_ANIMATION || k == OPT_GLTF || k == OPT_EXPLAIN_PAGE || k == OPT_RECORD;
}

/* Takes argv[i] in, and its value where it has one; *i moves to the last word used. */
static int main_take(run_options *o, int argc, char **argv, int *i)
{
    int k = 0;
    double number = 0;
    const char *word = argv[*i], *value = NULL, *nearest;
    while (k < OPT_COUNT && strcmp(word, main_option[k]) != 0) k++;
    if (k == OPT_COUNT) {
        if (word[0] != '-') {
            if (o->scene)
                return !main_bad("found \"%s\" after the scene \"%s\", expected one scene", word, o->scene);
            o->scene = word;
            return 1;
        }
        nearest = tool_nearest(word, main_option, OPT_COUNT);
        return !main_bad("found the unknown option \"%s\", expected one such as %s", word,
                         nearest ? nearest : "--out");
    }
    if (k < OPT_FRAMES) {
        if (*i + 1 >= argc)
            return !main_bad("found the end of the command, expected a value after %s%s", word, "");
        value = argv[++*i];
        if (!main_is_path(k) && !main_number(word, value, k != OPT_DURATION && k != OPT_TIME_STEP, &number)) return 0;
    }
    switch (k) {
    case OPT_OUT: o->out = value; break;
    case OPT_EVERY: o->every = (int)number; break;
    case OPT_DURATION: o->duration = number; o->has_duration = 1; break;
    case OPT_TIME_STEP: o->time_step = number; break;
    case OPT_THREADS: o->threads = (int)number; break;
    case OPT_PICTURE: o->picture = value; break;
    case OPT_VIEW: o->view = value; break;
    case OPT_SHEET: o->sheet = value; break;
    case OPT_MOMENTS: o->moments = (int)number; break;
    case OPT_GLTF: o->gltf = value; break;
    case OPT_ANIMATION: o->animation = value; break;
    case OPT_FILM: o->film = value; break;
    case OPT_EXPLAIN: o->explain = (int)number; break;
    case OPT_EXPLAIN_PAGE: o->explain_page = value; break;
    case OPT_RECORD: o->recording = value; break;
    case OPT_FRAMES: o->frames = 1; break;
    case OPT_REPORT: o->report = 1; break;
    default: o->quiet = 1; break;
    }
    return 1;
}

static int main_run(int argc, char **argv)
{
    run_options o;
    memset(&o, 0, sizeof o);
    o.every = o.threads = 1;
    for (int i = 2; i < argc; i++)
        if (!main_take(&o, argc, argv, &i)) return 2;
    if (!o.scene) return main_bad("found no scene, expected embipc run SCENE.json%s%s", "", "");
    if (o.frames && !o.out) return main_bad("found --frames alone, expected --out DIR with it%s%s", "", "");
    if (o.moments && !o.sheet)
        return main_bad("found --moments alone, expected --sheet FILE with it%s%s", "", "");
    if (o.explain_page && !o.explain)
        return main_bad("found --explain-page alone, expected --explain N with it%s%s", "", "");
    if (o.moments > 64) return main_bad("found more than %s moments, expected fewer%s", "64", "");
    if (!o.moments) o.moments = 9;
    return run_scene(&o);
}

static int main_replay(int argc, char **argv)
{
    double threads = 1;
    const char *file = NULL;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
            if (!main_number(argv[i], argv[i + 1], 1, &threads)) return 2;
            i++;
        } else if (argv[i][0] != '-' && !file) file = argv[i];
        else return main_bad("found \"%s\", expected embipc replay FILE [--threads N]%s", argv[i], "");
    }
    if (!file) return main_bad("found no file, expected embipc replay FILE%s%s", "", "");
    return replay_file(file, (int)threads, stdout, stderr);
}

/* Takes argv[*i] of check in, and its value where it has one. */
static int main_take_check(check_options *o, int argc, char **argv, int *i)
{
    static const char *const option[] = { "--fix", "--merge", "--fill", "--list" };
    const char *word = argv[*i], *nearest, *value;
    double number = 0;
    int k = 0, whole = 0;
    if (word[0] != '-') { o->mesh[o->mesh_count++] = word; return 1; }
    while (k < 4 && strcmp(word, option[k]) != 0) k++;
    if (k == 4) {
        nearest = tool_nearest(word, option, 4);
        return !main_bad("found the unknown option \"%s\", expected one such as %s", word,
                         nearest ? nearest : "--fix");
    }
    if (*i + 1 >= argc)
        return !main_bad("found the end of the command, expected a value after %s%s", word, "");
    value = argv[++*i];
    if (k == 0) { o->fix = value; return 1; }
    if (k == 1 ? !tool_number(value, strlen(value), &number) : !tool_integer(value, strlen(value), &whole))
        return !main_bad("found \"%s\", expected a number after %s", value, word);
    if (number < 0 || whole < 0 || whole > 512)
        return !main_bad(k == 1 ? "found \"%s\", expected metres >= 0 after %s"
                                : "found \"%s\", expected a number from 0 to 512 after %s", value, word);
    if (k == 1) o->merge = number;
    else if (k == 2) o->hole = whole;
    else o->list = whole;
    return 1;
}

static int main_check(int argc, char **argv)
{
    check_options o;
    mesh_format format;
    int code = 2, ok = 1;
    memset(&o, 0, sizeof o);
    o.merge = o.hole = -1;
    o.list = 3;
    o.out = stdout;
    o.errors = stderr;
    o.mesh = (const char **)tool_alloc((size_t)argc, sizeof *o.mesh);
    for (int i = 2; ok && i < argc; i++) ok = main_take_check(&o, argc, argv, &i);
    format = o.fix ? mesh_format_of(o.fix) : MESH_OBJ;
    if (!ok) code = 2;
    else if (!o.mesh_count) main_bad("found no mesh, expected embipc check MESH...%s%s", "", "");
    else if (o.fix && o.mesh_count > 1)
        main_bad("found more than one mesh before --fix %s, expected one%s", o.fix, "");
    else if (format != MESH_OBJ && format != MESH_MSH)
        main_bad("found --fix %s, expected a name ending with .obj or .msh%s", o.fix, "");
    else code = check_meshes(&o);
    free(o.mesh);
    return code;
}

/* Takes argv[i] in, and its value where it has one; *i moves to the last word used. */
static int main_take_embed(embed_options *o, int argc, char **argv, int *i)
{
    static const char *const option[] = { "--nodes", "--cell-size", "-o", "--png" };
    const char *word = argv[*i], *value, *nearest;
    double number = 0;
    int k = 0;
    while (k < 4 && strcmp(word, option[k]) != 0) k++;
    if (k == 4 && word[0] != '-') {
        if (o->surface)
            return !main_bad("found \"%s\" after the surface \"%s\", expected one surface", word, o->surface);
        o->surface = word;
        return 1;
    }
    if (k == 4) {
        nearest = tool_nearest(word, option, 4);
        return !main_bad("found the unknown option \"%s\", expected one such as %s", word,
                         nearest ? nearest : "--nodes");
    }
    if (*i + 1 >= argc)
        return !main_bad("found the end of the command, expected a value after %s%s", word, "");
    value = argv[++*i];
    if (k < 2 && !main_number(word, value, k == 0, &number)) return 0;
    if (k == 0 && number < 4) return !main_bad("found %s %s, expected 4 or more", word, value);
    switch (k) {
    case 0: o->nodes = (int)number; break;
    case 1: o->cell = number; break;
    case 2: o->out = value; break;
    default: o->png = value; break;
    }
    return 1;
}

static int main_embed(int argc, char **argv)
{
    embed_options o;
    memset(&o, 0, sizeof o);
    o.report = stdout;
    o.errors = stderr;
    for (int i = 2; i < argc; i++)
        if (!main_take_embed(&o, argc, argv, &i)) return 2;
    if (!o.surface) return main_bad("found no surface, expected embipc embed SURFACE%s%s", "", "");
    if (o.out && mesh_format_of(o.out) != MESH_MSH)
        return main_bad("found -o %s, expected a name ending with .msh%s", o.out, "");
    return embed_surface(&o);
}

/* Takes argv[i] in, and its value where it has one; *i moves to the last word used. */
static int main_take_bench(bench_options *o, int *targets, int argc, char **argv, int *i)
{
    static const char *const option[] = { "--json",  "--threads", "--repeats", "--only",   "--data",
                                          "--write", "--memory",  "--quick",   "--targets" };
    enum { COUNT = sizeof option / sizeof *option };
    const char *word = argv[*i], *nearest;
    double number = 0;
    int k = 0;
    while (k < COUNT && strcmp(word, option[k]) != 0) k++;
    if (k == COUNT && word[0] != '-') {
        o->file[o->file_count++] = word;
        return 1;
    }
    if (k == COUNT) {
        nearest = tool_nearest(word, option, COUNT);
        return !main_bad("found the unknown option \"%s\", expected one such as %s", word,
                         nearest ? nearest : "--json");
    }
    if (k == 7) { o->quick = 1; return 1; }
    if (k == 8) { *targets = 1; return 1; }
    if (*i + 1 >= argc)
        return !main_bad("found the end of the command, expected a value after %s%s", word, "");
    ++*i;
    if (k == 0) o->json = argv[*i];
    else if (k == 3) o->only = argv[*i];
    else if (k == 4) o->data = argv[*i][0] ? argv[*i] : NULL;
    else if (k == 5) o->write = argv[*i];
    else if (!main_number(word, argv[*i], k != 6, &number)) return 0;
    else if (k == 6) o->memory = number;
    else if (k == 1) o->threads = (int)number;
    else o->repeats = (int)number;
    return 1;
}

static int main_bench(int argc, char **argv)
{
    bench_options o;
    int code = 2, ok = 1, targets = 0;
    memset(&o, 0, sizeof o);
    o.threads = o.repeats = 1;
    o.memory = 6;
    o.out = stdout;
    o.errors = stderr;
    o.file = (const char **)tool_alloc((size_t)argc, sizeof *o.file);
    for (int i = 2; ok && i < argc; i++) ok = main_take_bench(&o, &targets, argc, argv, &i);
    if (ok && !o.file_count) main_bad("found no scene, expected embipc bench SCENE.json...%s%s", "", "");
    else if (ok) code = targets ? bench_targets(&o) : bench_run(&o);
    free(o.file);
    return code;
}

/* "I/N" */
static int main_shard(const char *word, sweep_options *o)
{
    const char *slash = strchr(word, '/');
    return slash && tool_integer(word, (size_t)(slash - word), &o->shard)
           && tool_integer(slash + 1, strlen(slash + 1), &o->shards) && o->shard >= 1 && o->shard <= o->shards;
}

/* Takes argv[i] in, and its value where it has one; *i moves to the last word used. */
static int main_take_sweep(sweep_options *o, const char **table, int argc, char **argv, int *i)
{
    static const char *const option[] = { "--set",      "--shard",     "--out",   "--table", "--threads",
                                          "--duration", "--time-step", "--files", "--retry", "--quiet" };
    enum { COUNT = sizeof option / sizeof *option, FLAGS = 7 };
    const char *word = argv[*i], *value = NULL, *nearest;
    double number = 0;
    int k = 0;
    while (k < COUNT && strcmp(word, option[k]) != 0) k++;
    if (k == COUNT && word[0] != '-' && !o->scene) { o->scene = word; return 1; }
    if (k == COUNT) {
        nearest = tool_nearest(word, option, COUNT);
        return !main_bad("found \"%s\", expected one scene and options such as %s", word, nearest ? nearest : "--set");
    }
    if (k < FLAGS && *i + 1 >= argc)
        return !main_bad("found the end of the command, expected a value after %s%s", word, "");
    if (k < FLAGS) value = argv[++*i];
    if (k >= 4 && k < FLAGS && !main_number(word, value, k == 4, &number)) return 0;
    switch (k) {
    case 0:
        if (o->set_count == SWEEP_SETS) return !main_bad("found more than %s --set, expected fewer%s", "16", "");
        o->set[o->set_count++] = value;
        break;
    case 1: return main_shard(value, o) || !main_bad("found --shard %s, expected I/N with I from 1 to N%s", value, "");
    case 2: o->out = value; break;
    case 3: *table = value; break;
    case 4: o->threads = (int)number; break;
    case 5: o->duration = number; o->has_duration = 1; break;
    case 6: o->time_step = number; break;
    case 7: o->files = 1; break;
    case 8: o->retry = 1; break;
    default: o->quiet = 1; break;
    }
    return 1;
}

static int main_sweep(int argc, char **argv)
{
    const char *table = NULL;
    sweep_options o;
    memset(&o, 0, sizeof o);
    o.threads = o.shard = o.shards = 1;
    o.report = stdout;
    o.errors = stderr;
    for (int i = 2; i < argc; i++)
        if (!main_take_sweep(&o, &table, argc, argv, &i)) return 2;
    if (table) {
        o.out = table;
        return sweep_table(&o);
    }
    if (!o.scene || !o.out)
        return main_bad("found no %s, expected embipc sweep SCENE.json --set PATH=V,V... --out DIR%s",
                        o.scene ? "--out" : "scene", "");
    return sweep_run(&o);
}

/* "K,D" */
static int main_two_numbers(const char *word, double out[2])
{
    const char *comma = strchr(word, ',');
    return comma && tool_number(word, (size_t)(comma - word), &out[0])
           && tool_number(comma + 1, strlen(comma + 1), &out[1]) && out[0] >= 0 && out[1] >= 0;
}

/* Takes argv[i] in, and its value where it has one; *i moves to the last word used. */
static int main_take_import(import_options *o, int argc, char **argv, int *i)
{
    static const char *const option[] = { "-o",      "--package", "--pose", "--motors",         "--friction",
                                          "--young", "--free",    "--no-self-contact" };
    enum { COUNT = sizeof option / sizeof *option, FLAGS = 6 };
    const char *word = argv[*i], *value = NULL, *nearest;
    int k = 0;
    while (k < COUNT && strcmp(word, option[k]) != 0) k++;
    if (k == COUNT && word[0] != '-' && !o->file) { o->file = word; return 1; }
    if (k == COUNT) {
        nearest = tool_nearest(word, option, COUNT);
        return !main_bad("found \"%s\", expected one file and options such as %s", word, nearest ? nearest : "-o");
    }
    if (k < FLAGS && *i + 1 >= argc)
        return !main_bad("found the end of the command, expected a value after %s%s", word, "");
    if (k < FLAGS) value = argv[++*i];
    switch (k) {
    case 0: o->out = value; break;
    case 1: o->package = value; break;
    case 2: o->pose = value; break;
    case 3:
        return main_two_numbers(value, o->hold)
               || !main_bad("found --motors %s, expected K,D: two numbers >= 0%s", value, "");
    case 4:
        if (!tool_number(value, strlen(value), &o->friction) || o->friction < 0)
            return !main_bad("found --friction %s, expected a number >= 0%s", value, "");
        break;
    case 5: return main_number(word, value, 0, &o->young);
    case 6: o->free_base = 1; break;
    default: o->no_self_contact = 1; break;
    }
    return 1;
}

static int main_import(int argc, char **argv)
{
    import_options o;
    memset(&o, 0, sizeof o);
    o.friction = 0.5;
    o.young = 1e9;
    o.report = stdout;
    o.errors = stderr;
    for (int i = 2; i < argc; i++)
        if (!main_take_import(&o, argc, argv, &i)) return 2;
    if (!o.file) return main_bad("found no file, expected embipc import FILE [-o SCENE.json]%s%s", "", "");
    return import_scene(&o);
}

static int main_doctor(int argc, char **argv)
{
    doctor_options o;
    memset(&o, 0, sizeof o);
    o.report = stdout;
    o.errors = stderr;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) o.out = argv[++i];
        else if (argv[i][0] == '-')
            return main_bad("found \"%s\", expected -o FIXED.json%s", argv[i], "");
        else if (o.scene)
            return main_bad("found \"%s\" after the scene \"%s\", expected one scene", argv[i], o.scene);
        else o.scene = argv[i];
    }
    if (!o.scene) return main_bad("found no scene, expected embipc doctor SCENE.json%s%s", "", "");
    return doctor_scene(&o);
}

static int main_scene_help(int argc, char **argv)
{
    if (argc > 3) return main_bad("found \"%s\" after the key \"%s\", expected one key", argv[3], argv[2]);
    if (argc < 3 || strcmp(argv[2], "--markdown") != 0) return scene_help(argc < 3 ? NULL : argv[2], stdout, stderr);
    scene_help_markdown(stdout);
    return 0;
}

static void main_line(int passed, const char *text, void *ctx)
{
    ++((int *)ctx)[passed];
    puts(text);
}
static int main_selftest(int argc, char **argv)
{
    int count[2] = {0, 0}, failed;
    if (argc > 2) return main_bad("found \"%s\" after selftest, expected nothing%s", argv[2], "");
    failed = embipc_selftest(NULL, main_line, count);
    printf("%d checks passed, %d failed\n", count[1], count[0]);
    return failed != 0;
}

/* Calls the command that the arguments name. Returns its exit code. */
static int main_command(int argc, char **argv)
{
    if (argc < 2) { main_help(stderr); return 2; }
    if (strcmp(argv[1], "--version") == 0) {
        printf("embipc 0.%d (EMBIPC_VERSION %d)\n", EMBIPC_VERSION, EMBIPC_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        main_help(stdout);
        return 0;
    }
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) { main_help(stdout); return 0; }
    if (strcmp(argv[1], "run") == 0) return main_run(argc, argv);
    if (strcmp(argv[1], "replay") == 0) return main_replay(argc, argv);
    if (strcmp(argv[1], "defaults") == 0) {
        if (argc > 2 && argc < 5 && strcmp(argv[2], "--material") == 0)
            return run_material_table(argc == 4 ? argv[3] : NULL, stdout);
        if (argc == 3) return run_defaults(argv[2]);
        return main_bad("found %s, expected embipc defaults SCENE.json%s",
                        argc < 3 ? "no scene" : "more than one scene", "");
    }
    if (strcmp(argv[1], "check") == 0) return main_check(argc, argv);
    if (strcmp(argv[1], "doctor") == 0) return main_doctor(argc, argv);
    if (strcmp(argv[1], "embed") == 0) return main_embed(argc, argv);
    if (strcmp(argv[1], "bench") == 0) return main_bench(argc, argv);
    if (strcmp(argv[1], "import") == 0) return main_import(argc, argv);
    if (strcmp(argv[1], "sweep") == 0) return main_sweep(argc, argv);
    if (strcmp(argv[1], "scene-help") == 0) return main_scene_help(argc, argv);
    if (strcmp(argv[1], "selftest") == 0) return main_selftest(argc, argv);
    return main_bad(
        "found the unknown command \"%s\", expected run, replay, defaults, check, doctor, embed, bench, sweep, import, "
        "scene-help or selftest%s",
        argv[1], "");
}

/* Output that is lost, as on a full disk, makes a command fail: tables and scenes are redirected to files. */
int main(int argc, char **argv)
{
    const int code = main_command(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "standard output: cannot be written, or not to its end\n");
    return 2;
}
