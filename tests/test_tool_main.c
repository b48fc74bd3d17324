/* The command line: the version, scene-help, output paths that are checked before work begins, warnings about units. */
#define _POSIX_C_SOURCE 200809L   /* popen */
#include "../embipc.h"
#include "test.h"
#include "tool_command.h"

static const char *place(const char *name) { return command_place("test_tool_main", name); }

/* Runs a command with %s for a file of this test. */
static int run(const char *format, const char *name)
{
    char line[4096];
    snprintf(line, sizeof line, format, place(name));
    return command(line);
}

static int is_there(const char *name)
{
    FILE *f = fopen(place(name), "rb");
    if (f) fclose(f);
    return f != NULL;
}

/* The version that is printed is that of the header, as number and as its change log has it. */
static void test_version(void)
{
    char number[64], log[64], line[512];
    FILE *f = fopen("embipc.h", "rb");
    int found = 0;
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(command("@ --version") == 0);
    snprintf(number, sizeof number, " (EMBIPC_VERSION %d)\n", EMBIPC_VERSION);
    ENSURE(command_says(number));
    /* "embipc 0.1 (EMBIPC_VERSION 1)" and " * 0.1  (EMBIPC_VERSION 1) First version" */
    snprintf(log, sizeof log, " * %.*s  (EMBIPC_VERSION %d)", (int)strcspn(command_said + 7, " "), command_said + 7,
             EMBIPC_VERSION);
    ENSURE(f != NULL);
    while (f && fgets(line, sizeof line, f)) found += strncmp(line, log, strlen(log)) == 0;
    if (f) fclose(f);
    ENSURE(found == 1);
}

static void test_scene_help(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(command("@ scene-help --markdown | cmp - docs/scenes.md") == 0);
    ENSURE(command("@ scene-help young") == 0 && command_says("in Pa; default: 1e5"));
    ENSURE(command("@ scene-help yung") == 2 && command_says("such as \"young\""));
    ENSURE(command("@ scene-help a b") == 2);
    ENSURE(command("@ scene-help colour") == 2 && command_says("embipc scene-help lists them"));
    ENSURE(command("@ run -h") == 0 && command_says("usage: embipc run"));
    ENSURE(command("@ embed examples/scenes/stone.obj --nodes 3") == 2 && command_says("expected 4 or more"));
    ENSURE(command("@ embed examples/scenes/stone.obj --nodes 5 --cell-size 1") == 0 && !strstr(command_said, "of 5 nodes"));
}

/* What is printed may be redirected to a full disk. The exit code is 2 then, as for a file that cannot be written. */
static void test_output_lost(void)
{
    static const char *const line[] = { "--version", "--help", "scene-help", "scene-help --markdown", "defaults --material",
                                        "scene-help young", "check examples/scenes/stone.obj",
                                        "defaults examples/scenes/drop.json" };
    FILE *full = fopen("/dev/full", "wb");
    if (full) fclose(full);
    if (!full) SKIP("no /dev/full");
    if (command_missing()) SKIP("no tool beside this test");
    for (int i = 0; i < 8; i++) {
        char text[256];
        snprintf(text, sizeof text, "{ @ %s > /dev/full; }", line[i]);
        ENSURE(command(text) == 2 && command_says("standard output: cannot be written"));
        snprintf(text, sizeof text, "{ @ %s > /dev/null; }", line[i]);
        ENSURE(command(text) == 0);
    }
}

static const char scene_text[] =
    "{\"version\":1,\"time_step\":0.01,\"duration\":0.05,\"bodies\":[{\"kind\":\"affine\",\"shape\":\"box\",\"size\":"
    "[0.1,0.1,0.1]},"
    "{\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[0,0,1]}]}";

/* A path that cannot be written is refused before a step is made, and what was there stays. */
static void test_paths(void)
{
    static const char *const option[] = { "--picture", "--sheet", "--view", "--out", "--video-frames",
                                          "--animation", "--gltf" };
    char line[4096];
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(run("rm -rf %s", "") == 0 && run("mkdir -p %s", "") == 0);
    ENSURE(command_put(place("scene.json"), scene_text) && command_put(place("file"), "kept"));
    for (int i = 0; i < 7; i++) {
        /* below a file no directory can be made */
        snprintf(line, sizeof line, "@ run %s --report %s %s/x", place("scene.json"), option[i], place("file"));
        ENSURE(command(line) == 2 && command_says("cannot be written: "));
        ENSURE(!strstr(command_said, "simulated"));
    }
    /* another output that can be written is not begun */
    snprintf(line, sizeof line, "@ run %s --view %s --picture %s/x.png", place("scene.json"), place("page.html"),
             place("file"));
    ENSURE(command(line) == 2 && !is_there("page.html"));
    ENSURE(run("test \"$(cat %s)\" = kept", "file") == 0);
    snprintf(line, sizeof line, "@ embed examples/scenes/stone.obj --png %s/x.png", place("file"));
    ENSURE(command(line) == 2 && command_says("cannot be written: ") && !strstr(command_said, "nodes"));
    snprintf(line, sizeof line, "@ doctor %s -o %s/x.json", place("scene.json"), place("file"));
    ENSURE(command(line) == 2 && command_says("cannot be written: ") && !strstr(command_said, "verdict"));
    snprintf(line, sizeof line, "@ check examples/scenes/stone.obj --fix %s/x.obj", place("file"));
    ENSURE(command(line) == 2 && command_says("cannot be written: ") && !strstr(command_said, "verdict"));
    /* no directory at all; and too many frames for a file that holds all of them */
    snprintf(line, sizeof line, "@ run %s --out ''", place("scene.json"));
    ENSURE(command(line) == 2 && command_says("an empty name: cannot be written: No such file or directory"));
    snprintf(line, sizeof line, "@ run %s --out %s", place("scene.json"), place("file"));
    ENSURE(command(line) == 2 && command_says("/file: cannot be written: Not a directory"));
    for (int i = 5; i < 7; i++) {
        snprintf(line, sizeof line, "@ run %s --quiet --duration 1e5 %s %s", place("scene.json"), option[i], place("many"));
        ENSURE(command(line) == 2 && command_says("many: not written: found 10000001 frames of ") && !is_there("many"));
        ENSURE(command_says("a larger --every"));
    }
    /* and what can be is written, with the numbered names */
    snprintf(line, sizeof line, "@ run %s --quiet --out %s && grep -c 'body 2' %s/bodies.csv", place("scene.json"),
             place("out"), place("out"));
    ENSURE(command(line) == 0 && command_says("6\n"));
    ENSURE(!is_there("out/.embipc-probe"));
}

/* No output is an input or another output, by whatever path; inputs stay as they are. */
static void test_outputs(void)
{
    static const char *const line[] = {
        "run s.json --record ./s.json",    "run s.json --picture s.json",       "run s.json --view ../overwrite/s.json",
        "run s.json --gltf stone.obj",     "run s.json --animation s.json",     "run s.json --sheet link.json",
        "run s.json --out o --record o/steps.csv",                              "run s.json --picture r --record ./r",
        "run steps.csv --out .",           "run f.json --out . --frames",       "embed stone.obj --png stone.obj",
        "check stone.obj --fix ./stone.obj",                                    "doctor s.json -o s.json",
        "import r.urdf -o r.urdf",         "import r.urdf -o stone.obj",        "bench s.json --json s.json",
        "bench s.json --write .",          "sweep sweep.json --out ." };
    static const char *const body = "{\"version\":1,\"duration\":0,\"bodies\":[{\"kind\":\"affine\",\"mesh\":\"%s\"}]}";
    char text[1024], command_line[4096];
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(run("rm -rf %s", "overwrite") == 0 && run("mkdir -p %s", "overwrite") == 0);
    ENSURE(run("cp examples/scenes/stone.obj %s", "overwrite/stone.obj") == 0);
    ENSURE(run("cp examples/scenes/stone.obj %s", "overwrite/frame_00003.obj") == 0);
    snprintf(text, sizeof text, body, "stone.obj");
    ENSURE(command_put(place("overwrite/s.json"), text) && command_put(place("overwrite/steps.csv"), text));
    ENSURE(command_put(place("overwrite/sweep.json"), text));
    snprintf(text, sizeof text, body, "frame_00003.obj");
    ENSURE(command_put(place("overwrite/f.json"), text));
    ENSURE(command_put(place("overwrite/r.urdf"), "<robot name='r'><link name='a'><collision><geometry><mesh filename="
                                                  "'stone.obj'/></geometry></collision></link></robot>"));
    ENSURE(run("cd %s && ln -s s.json link.json && mkdir o && md5sum *.* > sums", "overwrite") == 0);
    for (int i = 0; i < (int)(sizeof line / sizeof *line); i++) {
        snprintf(command_line, sizeof command_line, "T=$(realpath @); cd %s && \"$T\" %s", place("overwrite"), line[i]);
        if (command(command_line) != 2 || !strstr(command_said, "would overwrite")) {
            printf("  %s: %s\n", line[i], command_said);
            ENSURE(!"refused");
        }
        ENSURE(run("cd %s && md5sum -c --quiet sums", "overwrite") == 0);
    }
    /* a device may stand for two files */
    ENSURE(run("cd %s && rm sums o -r", "overwrite") == 0);
    snprintf(command_line, sizeof command_line, "@ run %s --picture /dev/null --view /dev/null",
             place("overwrite/s.json"));
    ENSURE(command(command_line) == 0);
}

/* Runs a scene of two bodies with these keys; is this warning given, on one line, and no other? */
static int warns(const char *keys, const char *first, const char *second, const char *part)
{
    char text[2048];
    int lines = 0;
    snprintf(
        text, sizeof text,
        "{\"version\":1,\"duration\":0%s,\"bodies\":[{\"name\":\"one\",\"kind\":\"affine\",\"shape\":\"box\",%s},"
        "{\"name\":\"two\",\"kind\":\"affine\",\"shape\":\"ball\",\"radius\":0.05,\"position\":[0,0,100]%s}]}",
        keys, first, second);
    if (!command_put(place("unit.json"), text) || run("@ run %s", "unit.json") != 0) {
        printf("  %s\n", command_said);
        return 0;
    }
    for (const char *p = command_said; (p = strstr(p, "warning: ")) != NULL; p++) lines++;
    if (lines != (part != NULL)) printf("  %s\n", command_said);
    return lines == (part != NULL) && (!part || command_says(part));
}

static void test_units(void)
{
#define HARD ",\"material\":{\"young\":1e9}"
#define SMALL "\"size\":[0.1,0.1,0.1]" HARD
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(run("mkdir -p %s", "") == 0);
    ENSURE(warns("", SMALL, "", NULL));
    ENSURE(warns("", "\"size\":[60,60,60]" HARD, "", "warning: body \"one\" is 104 m large, body \"two\" 0.1"));
    ENSURE(warns(",\"time_step\":10", SMALL, "", "warning: time_step 10 s is long"));
    ENSURE(warns(",\"time_step\":1", SMALL, "", NULL));
    ENSURE(warns(",\"gravity\":[0,0,-9810]", SMALL, HARD, "warning: gravity 9810 m/s^2"));
    ENSURE(warns("", SMALL, ",\"material\":{\"density\":1}",
                 "warning: body \"two\": density 1 kg/m^3 is that of a gas"));
    ENSURE(warns("", SMALL, ",\"material\":{\"density\":1e6,\"young\":1e9}",
                 "warning: body \"two\": density 1e+06 kg/m^3 is beyond"));
    ENSURE(warns("", SMALL, ",\"material\":{\"young\":210}", "warning: body \"two\": young 210 Pa is softer"));
    ENSURE(warns("", SMALL, ",\"material\":{\"model\":\"orthogonality\"}", NULL));
    /* a ground of any size raises no question */
    ENSURE(command_put(
        place("unit.json"),
        "{\"version\":1,\"duration\":0,\"bodies\":[{\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[900,900,1],"
        "\"position\":[0,0,-2]},{\"kind\":\"affine\",\"shape\":\"ball\",\"radius\":0.05}]}"));
    ENSURE(run("@ run %s", "unit.json") == 0 && !strstr(command_said, "warning"));
    ENSURE(run("@ run %s --quiet --time-step 2", "unit.json") == 0 && !strstr(command_said, "warning"));
}

/* A body inside another one, unless the two never touch; one that its weight presses flat. An overlap names the
 * doctor. */
static void test_advice(void)
{
    static const char format[] = "{\"version\":1,\"duration\":0%s,\"bodies\":[{\"name\":\"shell\",\"kind\":\"fixed\","
                                 "\"shape\":\"torus\",\"radius\":1,"
                                 "\"tube\":0.4},{\"name\":\"ball\",\"kind\":\"affine\",\"shape\":\"ball\",\"radius\":"
                                 "0.1,\"position\":[%s,0,0]%s}]}";
    static const struct { const char *root, *x, *body, *part; } cases[] = {
        { "", "1", "", "warning: body \"ball\" is wholly inside body \"shell\"" },
        { "", "0", "", NULL },   /* in the hole */
        { ",\"pairs\":[{\"bodies\":[\"ball\",\"shell\"],\"contact\":false}]", "1", "", NULL },
        { "", "0", ",\"material\":{\"young\":1500}", "warning: body \"ball\": its weight, 3.4e+03 Pa at its foot" },
        { "", "0", ",\"material\":{\"young\":5000}", NULL } };
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(run("mkdir -p %s", "") == 0);
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, format, cases[i].root, cases[i].x, cases[i].body);
        ENSURE(command_put(place("advice.json"), text) && run("@ run %s", "advice.json") == 0);
        if (cases[i].part) ENSURE(command_says(cases[i].part));
        else if (strstr(command_said, "warning")) printf("  %s\n", command_said);
        ENSURE((strstr(command_said, "warning") != NULL) == (cases[i].part != NULL));
    }
    {
        char text[1024];
        snprintf(text, sizeof text, format, "", "1.4", "");
        ENSURE(command_put(place("advice.json"), text) && run("@ run %s", "advice.json") == 2);
        ENSURE(command_says("\n  (they overlap by ") && command_says("m: embipc doctor says how deep"));
    }
}

/* An overlap is told with its depth: the shortest way out, here upwards. One of depth 0 is a touch. */
static void test_depth(void)
{
    static const char format[] = "{\"version\":1,\"duration\":0,\"bodies\":[{\"name\":\"ground\",\"kind\":"
                                 "\"fixed\",\"shape\":\"box\",\"size\":[1,1,1],\"position\":[0,0,-0.5]},"
                                 "{\"name\":\"box\",\"kind\":\"affine\",\"shape\":\"box\","
                                 "\"size\":[0.1,0.1,0.1],\"position\":[0,0,%g]}]}";
    const char *at;
    double depth = 0;
    char text[1024];
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(run("mkdir -p %s", "") == 0);
    snprintf(text, sizeof text, format, 0.04);
    ENSURE(command_put(place("depth.json"), text) && run("@ run %s", "depth.json") == 2);
    at = strstr(command_said, "they overlap by ");
    ENSURE(at && sscanf(at, "they overlap by %lf m", &depth) == 1);
    ENSURE(!strstr(command_said, "embipc_separate()"));   /* no words for programs */
    ENSURE_REL(depth, 0.01, 0.05);
    snprintf(text, sizeof text, format, 0.05);
    ENSURE(command_put(place("depth.json"), text) && run("@ run %s", "depth.json") == 2);
    ENSURE(command_says("the two only touch, and need a gap") && !strstr(command_said, "overlap by"));
}

/* A signal ends a step before its first factorization is made, which here takes longer than the rest of the test. A
 * large cage is told of before it is built. */
static void test_interrupt(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(run("mkdir -p %s", "") == 0);
    ENSURE(command_put(place("large.json"),
                       "{\"version\":1,\"duration\":0.5,\"bodies\":[{\"kind\":\"cage\",\"shape\":\"box\",\"size\":"
                       "[0.1,0.1,0.1],\"cage_nodes\":15000}]}"));
    /* The first progress is that of the building; the signal comes when steps have begun. Where it came before the program
     * minds signals, as on a machine that has much to do, the program is run again and has more time. */
    ENSURE(command_put(place("stop.sh"),
                       "for pause in 0.5 2 8; do\nrm -rf \"$3\"\n\"$1\" run \"$2\" --out \"$3\" &\n"
                       "while [ ! -e \"$3/bodies.csv\" ]; do sleep 0.1; done\nsleep $pause\nkill -TERM $!\nwait $!\n"
                       "code=$?\n[ $code = 143 ] || break\ndone\necho \"code $code\"\n"));
    {
        char line[4096];
        snprintf(line, sizeof line, "rm -rf %s; sh %s @ %s %s", place("stopped"), place("stop.sh"), place("large.json"),
                 place("stopped"));
        ENSURE(command(line) == 0);
    }
    ENSURE(command_says("nodes: a step takes about 0.55 GB") && command_says("a second signal ends the program"));
    ENSURE(command_says("stopped after step 0 of 50") && command_says("code 1"));
}

/* Near words are suggested, far ones are not. */
static void test_words(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(command("@ foo") == 2 && command_says("expected run, replay, "));
    ENSURE(command("@ run x.json --duration -1") == 2 && command_says("\"-1\", expected seconds >= 0 after --duration"));
    ENSURE(command("@ run x.json --threads 257") == 2 && command_says("expected a whole number from 1 to 256 after --threads"));
    ENSURE(command("@ run x.json --every 2147483648") == 2 && command_says("from 1 to 2147483647 after --every"));
    ENSURE(command("@ sweep x.json --set a=1 --out d --threads 0") == 2 && command_says("from 1 to 256 after --threads"));
    ENSURE(command("@ run x.json --time-step 0") == 2 && command_says("a number > 0 after --time-step"));
    ENSURE(command("@ scene-help colour") == 2 && !strstr(command_said, "radius"));
    ENSURE(command_put(place("words.json"),
                       "{\"version\":1,\"bodies\":[{\"kind\":\"cage\",\"shape\":\"box\",\"size\":[1,1,1],"
                       "\"material\":{\"model\":\"neo_hookean\",\"poisson\":-0.2}}]}"));
    ENSURE(run("@ run %s", "words.json") == 2 && command_says("take \"stable_neo_hookean\" or \"stvk\""));
    ENSURE(!strstr(command_said, "EMBIPC_"));
    ENSURE(command("@ scene-help fricton") == 2 && command_says("friction"));
}

/* A terminal is told what takes long; a file is not. */
static void test_progress(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    if (command("command -v script > /dev/null") != 0) SKIP("no terminal: script of util-linux is missing");
    ENSURE(run("mkdir -p %s", "") == 0 && command_put(place("scene.json"), scene_text));
    ENSURE(run("script -qec \"@ run %s\" /dev/null", "scene.json") == 0 && command_says("building bodies and cages"));
    ENSURE(run("@ run %s", "scene.json") == 0 && !strstr(command_said, "building"));
}

/* The forces of a dozen bodies are printed, and how many more there are. */
static void test_report(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(run("mkdir -p %s", "") == 0);
    ENSURE(command_put(place("many.json"),
                       "{\"version\":1,\"duration\":0.02,\"bodies\":[{\"kind\":\"affine\",\"shape\":\"box\",\"size\":"
                       "[1,1,1],\"repeat\":{\"count\":[5,3,1],\"spacing\":[2,2,0]}}]}"));
    ENSURE(run("@ run %s --report", "many.json") == 0);
    ENSURE(command_says("forces on \"body 1 12\"") && !strstr(command_said, "forces on \"body 1 13\""));
    ENSURE(command_says("forces on 3 more bodies"));
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    command_begin(argv[0]);
    RUN(version);
    RUN(scene_help);
    RUN(output_lost);
    RUN(paths);
    RUN(outputs);
    RUN(interrupt);
    RUN(words);
    RUN(units);
    RUN(advice);
    RUN(depth);
    RUN(progress);
    RUN(report);
    return test_end(__FILE__);
}
