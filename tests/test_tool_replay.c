/* embipc run --record and embipc replay: all steps come out again, with any number of threads, and motors with them; a step of
 * which one bit was recorded otherwise is found and named; damage is refused. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L   /* popen */
#endif
#include "../embipc.h"
#include "../tools/common.h"
#include "test.h"
#include "tool_command.h"

static char line[8192];
static const char *recording;

/* a stiff arm that a motor moves by keys, over a soft box on the ground */
static const char scene_text[] =
    "{ \"version\": 1, \"time_step\": 0.01, \"duration\": 0.3, \"bodies\": [\n"
    " { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [1, 1, 0.1], \"position\": [0, 0, -0.05] },\n"
    " { \"name\": \"soft\", \"kind\": \"cage\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"position\": [0.2, 0, 0.06],\n"
    "   \"friction\": 0.5 },\n"
    " { \"name\": \"arm\", \"kind\": \"affine\", \"shape\": \"box\", \"size\": [0.2, 0.04, 0.04], \"position\": [0.1, 0, 0.3],\n"
    "   \"material\": { \"young\": 1e8 } } ],\n"
    " \"joints\": [ { \"kind\": \"hinge\", \"b\": \"arm\", \"point\": [0, 0, 0.3], \"axis\": [0, 1, 0],\n"
    "   \"motor\": { \"stiffness\": 10, \"damping\": 0.5, \"keys\": [[0, 0], [0.2, 0.5], [0.3, 0.2]] } } ] }\n";

static int run(const char *format, const char *a, const char *b)
{
    snprintf(line, sizeof line, format, a, b);
    return command(line);
}
static int record(void)
{
    const char *scene = command_place("replay", "scene.json");
    recording = command_place("replay", "run.rec");
    snprintf(line, sizeof line, "mkdir -p '%.*s'", (int)(strrchr(scene, '/') - scene), scene);
    ENSURE(system(line) == 0);
    ENSURE(command_put(scene, scene_text));
    if (run("@ run '%s' --quiet --record '%s'", scene, recording) == 0) return 1;
    printf("%.500s\n", command_said);
    ENSURE(!"it runs");
    return 0;
}
/* the recording with a part of it changed */
static void change(size_t from_end, int truncate)
{
    size_t n;
    tool_error e;
    char *data = tool_read_file(recording, 1 << 28, &n, &e);
    FILE *f;
    ENSURE(data && n > from_end);
    if (!data) return;
    if (!truncate) data[n - from_end] ^= 1;
    f = fopen(recording, "wb");
    ENSURE(f && fwrite(data, 1, truncate ? n - from_end : n, f) == (truncate ? n - from_end : n));
    if (f) fclose(f);
    free(data);
}

static void test_all_steps_again(void)
{
    if (command_missing()) SKIP("no tool: make");
    if (!record()) return;
    ENSURE(run("@ replay '%s'%s", recording, "") == 0 && command_says("all 30 steps are as recorded"));
    ENSURE(run("@ replay '%s'%s", recording, " --threads 3") == 0 && command_says("all 30 steps"));
}
/* A step has its motor (1 + 5 words), the hash, and 1 + 3 * 6 words of bodies: 26 words. */
static void test_first_difference(void)
{
    if (command_missing()) SKIP("no tool: make");
    if (!record()) return;
    change(8 * (5 * 26 + 20), 0);   /* the hash of step 25 */
    ENSURE(run("@ replay '%s'%s", recording, "") == 1 && command_says("step 25, at 0.25 s") && command_says("other parts"));
    if (!record()) return;
    change(8 * (7 * 26 + 20), 0);
    change(8 * (7 * 26 + 12), 0);   /* and the body that comes second */
    ENSURE(run("@ replay '%s'%s", recording, "") == 1 && command_says("step 23, at 0.23 s") && command_says("body \"soft\": centre"));
}
static void test_motors_are_inputs(void)
{
    if (command_missing()) SKIP("no tool: make");
    if (!record()) return;
    change(8 * (3 * 26 + 23), 0);   /* where the motor of step 27 is to go */
    ENSURE(run("@ replay '%s'%s", recording, "") == 1 && command_says("step 27"));
}
/* What ends within a step, as of a program that crashed; and what is no recording. */
static void test_ends(void)
{
    if (command_missing()) SKIP("no tool: make");
    if (!record()) return;
    change(8 * 20, 1);
    ENSURE(run("@ replay '%s'%s", recording, "") == 0 && command_says("29 steps are as recorded; the recording ends within step 30"));
    change(8 * 3, 1);
    ENSURE(run("@ replay '%s'%s", recording, "") == 2 && command_says("ends within the motors of step 30"));
    if (!record()) return;
    change(8 * (30 * 26 + 100), 0);
    ENSURE(run("@ replay '%s'%s", recording, "") == 2 && command_says("damaged"));
    ENSURE(command_put(recording, "{ }") && run("@ replay '%s'%s", recording, "") == 2 && command_says("no recording"));
    ENSURE(run("@ replay '%s'%s", recording, " more") == 2 && run("@ replay%s%s", "", "") == 2);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    command_begin(argv[0]);
    RUN(all_steps_again);
    RUN(first_difference);
    RUN(motors_are_inputs);
    RUN(ends);
    return test_end("test_tool_replay");
}
