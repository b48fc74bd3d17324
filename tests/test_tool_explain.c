/* `embipc run --explain`: the numbers of its sentences are those of the statistics of the step, for a box that falls
 * as in hello.c and in a world of two islands. */
#define _POSIX_C_SOURCE 200809L   /* popen */
#include "../embipc.h"
#include "test.h"
#include "../tools/common.h"
#include "../tools/scene.h"
#include "tool_command.h"
#include <stdarg.h>

#define TOUCH 17

#define GROUND \
    "{\"version\":1,\"time_step\":0.01,\"duration\":1,\"bodies\":[{\"name\":\"ground\",\"kind\":\"fixed\"," \
    "\"shape\":\"box\",\"size\":[1,1,1],\"position\":[0,0,-0.5],\"friction\":0.5},"
static const char one[] = GROUND
    "{\"name\":\"box\",\"kind\":\"cage\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[0,0,0.2],"
    "\"friction\":0.5}]}";
static const char two[] = GROUND
    "{\"name\":\"left\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[-0.3,0,0.06]},"
    "{\"name\":\"right\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[0.3,0,0.06]}]}";

static const char meet[] = GROUND
    "{\"name\":\"left\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[-0.06,0,0.0501],"
    "\"velocity\":[4,0,0],\"friction\":0.5},"
    "{\"name\":\"right\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[0.06,0,0.0501],"
    "\"velocity\":[-4,0,0],\"friction\":0.5}]}";

static const char *place(const char *name) { return command_place("test_tool_explain", name); }

/* Does the text of the last command have this? */
static int says(const char *format, ...)
{
    char line[400];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    return command_says(line);
}

typedef struct told { scene s; embipc_world *world; embipc_step_stats stats; } told;

/* The world of a scene after some steps, and what the tool says of the last one. */
static int begin(told *t, const char *text, int steps)
{
    char line[4096];
    tool_error e;
    int ok = scene_parse(&t->s, "scene.json", text, strlen(text), &e) && scene_build(&t->s, &t->world, &e);
    ENSURE(ok);
    for (int i = 0; i < steps && ok; i++) ok = embipc_world_step(t->world, &t->stats) == EMBIPC_OK;
    ENSURE(ok);
    snprintf(line, sizeof line, "mkdir -p %s", place(""));
    ENSURE(command(line) == 0 && command_put(place("scene.json"), text));
    snprintf(line, sizeof line, "@ run %s --explain %d", place("scene.json"), steps);
    ENSURE(command(line) == 0);
    return ok;
}
static void end(told *t)
{
    embipc_world_destroy(t->world);
    scene_free(&t->s);
}

/* Each iteration, and the sums, as the library counts them. */
static void test_box(void)
{
    told t;
    const embipc_iteration *it;
    embipc_pair_force f;
    int n;
    if (command_missing()) SKIP("no tool beside this test");
    if (!begin(&t, one, TOUCH)) return;
    n = embipc_world_iterations(t.world, &it);
    ENSURE(n == t.stats.newton_iterations && n > 2 && t.stats.islands == 1);
    ENSURE(says("Step %d (", TOUCH));
    ENSURE(says("found %d pairs of primitives", t.stats.candidates));
    ENSURE(says("Island %d: \"box\" (", it->island));
    for (int k = 0; k < n; k++) {
        ENSURE(says("Iteration %d begins with %d contacts.", k + 1, it[k].contacts));
        ENSURE(says("|p| / h = %.4e m/s, and E / h^2 falls along it by %.4e J", it[k].direction, -it[k].slope));
        ENSURE(says("Of this direction %.4f is free", it[k].alpha_ccd) && says("and %.4f is taken", it[k].alpha));
        ENSURE((it[k].limit[0].index1 != 0) == (it[k].alpha_ccd < 1));
    }
    ENSURE(it[0].alpha_ccd < 1 && says("\"ground\" and \"box\" would meet beyond it"));
    ENSURE(says("E / h^2 goes from %.6g J to", t.stats.objective_before));
    ENSURE(says(" J to %.6g J. Then %d pairs are active, merged to %d contacts, and the smallest distance is %.4e m.",
                t.stats.objective_after, t.stats.contacts, t.stats.merged_contacts, t.stats.min_distance));
    ENSURE(says("This took %d iteration", t.stats.newton_iterations));
    ENSURE(says("All islands made %d solves and %d factorizations, in %d pass", t.stats.total_iterations,
                t.stats.total_factorizations, t.stats.passes));
    ENSURE(embipc_world_pair_forces(t.world, &f, 1) == 1);
    ENSURE(says("\"ground\" pushes \"box\" with (%.4g, %.4g, %.4g) N", -f.force[0], -f.force[1], -f.force[2]));
    ENSURE(says("is below the tolerance of its bodies"));
    end(&t);
}

/* E and contacts of a world of its own, whose last step is cut after so many iterations. */
static embipc_step_stats cut_after(const char *text, int steps, int solves)
{
    told t;
    tool_error e;
    int ok = scene_parse(&t.s, "scene.json", text, strlen(text), &e) && scene_build(&t.s, &t.world, &e);
    ENSURE(ok);
    for (int i = 1; i < steps && ok; i++) ok = embipc_world_step(t.world, &t.stats) == EMBIPC_OK;
    ENSURE(ok && embipc_world_set_limits(t.world, solves, NULL) == EMBIPC_OK);
    ENSURE(embipc_world_step(t.world, &t.stats) == EMBIPC_OK);
    end(&t);
    return t.stats;
}

/* E after iteration k is that of a step that is cut there. It falls, and ends at the step's. */
static void test_energies(void)
{
    told t;
    double from, to = 0;
    const char *at;
    int n = 0;
    if (command_missing()) SKIP("no tool beside this test");
    if (!begin(&t, one, TOUCH)) return;
    for (at = command_said; (at = strstr(at, "E / h^2 goes from ")) != NULL; at++, n++) {
        double before = to;
        embipc_step_stats cut = cut_after(one, TOUCH, n + 1);
        ENSURE(says("J to %.6g J. Then %d pairs are active", cut.objective_after, cut.contacts));
        ENSURE_REL(cut.objective_after, atof(strstr(at, " J to ") + 6), 1e-5);
        ENSURE(sscanf(at, "E / h^2 goes from %lf J to %lf J", &from, &to) == 2);
        ENSURE(to <= from && (n == 0 || from == before));
    }
    ENSURE(n == t.stats.newton_iterations);
    ENSURE_REL(to, t.stats.objective_after, 1e-5);
    end(&t);
}

/* Two boxes that only the ground connects are two islands. */
static void test_islands(void)
{
    told t;
    if (command_missing()) SKIP("no tool beside this test");
    if (!begin(&t, two, 6)) return;
    ENSURE(t.stats.islands == 2 && says("2 islands of %d unknowns", t.stats.unknowns));
    for (int i = 1; i < 3; i++)
        ENSURE(says("Island %d: \"%s\" (", embipc_body_island(t.world, t.s.body[i].handle), t.s.body[i].name));
    ENSURE(embipc_body_island(t.world, t.s.body[0].handle) == -1);
    ENSURE(embipc_body_island(t.world, t.s.body[1].handle) != embipc_body_island(t.world, t.s.body[2].handle));
    end(&t);
}

/* Two boxes that run into each other are one island from then on. A direction of before says so, and no other one. */
static void test_meet(void)
{
    const embipc_iteration *it;
    const char *at;
    told t;
    int count = 0, met = 0, said = 0;
    if (command_missing()) SKIP("no tool beside this test");
    if (!begin(&t, meet, 1)) return;
    count = embipc_world_iterations(t.world, &it);
    for (int k = 0; k < count; k++)
        met += it[k].alpha_ccd == 0 && it[k].limit[0].index1 == 0 &&
               it[k].island == embipc_body_island(t.world, t.s.body[1].handle);
    for (at = command_said; (at = strstr(at, "it may meet bodies of another island")) != NULL; at++) said++;
    ENSURE(met > 0 && said == met && t.stats.islands == 1);
    end(&t);
}

/* A page has the same sentences; a step that is none is refused. */
static void test_page(void)
{
    char line[4096];
    told t;
    if (command_missing()) SKIP("no tool beside this test");
    if (!begin(&t, one, 3)) return;
    end(&t);
    snprintf(line, sizeof line, "@ run %s --explain 3 --explain-page %s && cat %s", place("scene.json"),
             place("p.html"), place("p.html"));
    ENSURE(command(line) == 0 && says("<h2>Step 3 (") && says("</body></html>") && says("<p>No bodies touch.</p>"));
    snprintf(line, sizeof line, "@ run %s --explain 101", place("scene.json"));
    ENSURE(command(line) == 2 && says("one of its 100 steps"));
    snprintf(line, sizeof line, "@ run %s --explain-page x.html", place("scene.json"));
    ENSURE(command(line) == 2 && says("expected --explain N"));
}

int main(int argc, char **argv)
{
    command_begin(argv[0]);
    test_begin(argc, argv);
    test_unused();
    RUN(box);
    RUN(energies);
    RUN(islands);
    RUN(meet);
    RUN(page);
    return test_end("test_tool_explain");
}
