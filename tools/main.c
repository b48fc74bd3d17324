/* The command line tool embipc: reads its arguments and calls run.c. The library is compiled here. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include "common.h"
#include "run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char main_usage[] =
    "usage: embipc run SCENE.json [options]   simulates a scene\n"
    "       embipc defaults SCENE.json        prints every derived parameter with its reason\n"
    "\n"
    "options of run\n"
    "  --out DIR        writes steps.csv, forces.csv and bodies.csv into DIR\n"
    "  --frames         also the surfaces, frame_00000.obj and so on\n"
    "  --every N        a frame every N steps (1)\n"
    "  --duration S     simulated seconds, instead of the scene's\n"
    "  --time-step S    seconds a step, instead of the scene's\n"
    "  --threads N      worker threads (1); results do not depend on it\n"
    "  --picture FILE   a PNG picture of the end\n"
    "  --report         adds the force balance to the summary, and prints it even with --quiet\n"
    "  --quiet          no progress, no summary\n"
    "\n"
    "exit code: 0 fine; 1 the simulation says no, or was stopped; 2 bad usage or input\n";

static int main_bad(const char *format, const char *a, const char *b)
{
    fprintf(stderr, "embipc: ");
    fprintf(stderr, format, a, b);
    fprintf(stderr, "\nembipc --help tells more\n");
    return 2;
}

/* The number behind an option, > 0 (duration: >= 0). */
static int main_number(const char *option, const char *value, int whole, double *out)
{
    int integer = 0, ok;
    ok = whole ? tool_integer(value, strlen(value), &integer) : tool_number(value, strlen(value), out);
    if (whole) *out = integer;
    if (ok && (*out > 0 || (*out == 0 && strcmp(option, "--duration") == 0))) return 1;
    main_bad(whole ? "found \"%s\", expected a whole number > 0 after %s"
                   : "found \"%s\", expected a number > 0 after %s",
             value, option);
    return 0;
}

/* The first six take a value. */
enum {
    OPT_OUT, OPT_EVERY, OPT_DURATION, OPT_TIME_STEP, OPT_THREADS, OPT_PICTURE,
    OPT_FRAMES, OPT_REPORT, OPT_QUIET, OPT_COUNT
};
static const char *const main_option[OPT_COUNT] = {
    "--out", "--every", "--duration", "--time-step", "--threads", "--picture",
    "--frames", "--report", "--quiet"
};

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
        if (k != OPT_OUT && k != OPT_PICTURE
            && !main_number(word, value, k == OPT_EVERY || k == OPT_THREADS, &number))
            return 0;
    }
    switch (k) {
    case OPT_OUT: o->out = value; break;
    case OPT_EVERY: o->every = (int)number; break;
    case OPT_DURATION: o->duration = number; o->has_duration = 1; break;
    case OPT_TIME_STEP: o->time_step = number; break;
    case OPT_THREADS: o->threads = (int)number; break;
    case OPT_PICTURE: o->picture = value; break;
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
    if (o.threads > 256) return main_bad("found more than %s threads, expected fewer%s", "256", "");
    return run_scene(&o);
}

int main(int argc, char **argv)
{
    static const char *const command[] = { "run", "defaults" };
    const char *nearest;
    if (argc < 2) { fputs(main_usage, stderr); return 2; }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        fputs(main_usage, stdout);
        return 0;
    }
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) { fputs(main_usage, stdout); return 0; }
    if (strcmp(argv[1], "run") == 0) return main_run(argc, argv);
    if (strcmp(argv[1], "defaults") == 0) {
        if (argc == 3) return run_defaults(argv[2]);
        return main_bad("found %s, expected embipc defaults SCENE.json%s",
                        argc < 3 ? "no scene" : "more than one scene", "");
    }
    nearest = tool_nearest(argv[1], command, 2);
    return main_bad("found the unknown command \"%s\", expected run or defaults%s", argv[1],
                    nearest ? "" : "");
}
