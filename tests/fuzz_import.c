/* Feeds damaged robots to `embipc import`, what it makes of them to the reader of scenes, and damaged scenes to that
 * reader, which makes worlds of those it accepts: `make fuzz T=600` (seconds of processor time for each kind of file), or
 * fuzz_import SECONDS [SEED]. Damage piles up, as in fuzz_meshio.c. */
#include "../embipc.h"
#include "test.h"
#include "import_seeds.h"
#include "test_tool_mutate.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/scene.h"
#include "../tools/import.h"
#include <time.h>

#define FUZZ_SCENE "x.json"   /* in messages */

/* A scene with most keys. */
static const char fuzz_scene[] =
    "{ \"version\": 1, \"time_step\": 0.01, \"integrator\": \"bdf2\", \"sleep_after\": 0.1, \"duration\": 0.1, \"gravity\": [0, 0, -9.81],\n"
    "\"contact\": { \"dhat\": 1e-3, \"friction_iterations\": 1 }, \"solver\": { \"max_iterations\": 20 },\n"
    "\"bodies\": [ { \"name\": \"g\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [1, 1, 0.1], \"friction\": 0.5 },\n"
    "{ \"name\": \"a\", \"kind\": \"cage\", \"shape\": \"sphere\", \"radius\": 0.05, \"resolution\": 3, \"cage_nodes\": 20, \"position\": [0, 0, 0.2],\n"
    "\"velocity\": [0, 0, -1], \"angular_velocity\": [0, 9, 0], \"material\": { \"young\": 1e4, \"poisson\": 0.3, \"damping\": [0, 0.01] } },\n"
    "{ \"name\": \"b\", \"kind\": \"affine\", \"shape\": \"capsule\", \"radius\": 0.02, \"height\": 0.1, \"position\": [0.2, 0, 0.2],\n"
    "\"rotation\": [0, 90, 0], \"repeat\": { \"count\": [1, 2, 1], \"spacing\": [0, 0.1, 0] } },\n"
    "{ \"name\": \"c\", \"kind\": \"full\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"resolution\": 2, \"position\": [-0.2, 0, 0.15],\n"
    "\"drive\": [ { \"keys\": [[0, 0, 0, 0, 0, 0, 0], [1, 0, 0, -0.01, 0, 0, 30]], \"select\": { \"box\": [[-1, -1, 0.19], [1, 1, 1]] } } ] } ],\n"
    "\"pairs\": [ { \"bodies\": [\"g\", \"a\"], \"friction\": 0.2 } ],\n"
    "\"joints\": [ { \"kind\": \"hinge\", \"b\": \"a\", \"point\": [0, 0, 0.3], \"axis\": [0, 1, 0], \"limits\": [-60, 60],\n"
    "\"motor\": { \"stiffness\": 1, \"damping\": 0.1, \"limit\": 2, \"keys\": [[0, 0], [1, 30]] } } ] }";

enum { FUZZ_POOL = 64, FUZZ_LARGEST = 1 << 13 };
typedef struct fuzz_text { char *data; size_t size; } fuzz_text;

/* Returns whether the robot is accepted; then its scene must be one. */
static int fuzz_robot_try(const char *data, size_t size)
{
    import_options o;
    tool_text t = { NULL, 0, 0 }, notes = { NULL, 0, 0 };
    tool_error e;
    int ok;
    memset(&o, 0, sizeof o);
    o.file = "r.xml";
    o.young = 1e9;
    o.hold[0] = 1;
    e.text[0] = 0;
    ok = import_text(&o, data, size, &t, &notes, &e);
    if (ok) {
        scene s;
        int read = scene_parse(&s, "x.json", t.data, (size_t)t.length, &e);
        if (!read) printf("  %s\n%.*s\n", e.text, (int)size, data);
        ENSURE(read);
        scene_free(&s);
    } else ENSURE(strncmp(e.text, "r.xml:", 6) == 0);
    tool_text_free(&t);
    tool_text_free(&notes);
    return ok;
}

/* A scene of few triangles that is accepted becomes a world, or is refused, and makes a step. */
static int fuzz_scene_try(const char *data, size_t size)
{
    scene s;
    tool_error e;
    embipc_world *w = NULL;
    double triangles = 0;
    int ok;
    e.text[0] = 0;
    ok = scene_parse(&s, FUZZ_SCENE, data, size, &e);
    ENSURE(ok || e.text[0]);
    for (int i = 0; ok && i < s.body_count; i++) triangles += s.body[i].def.triangle_count + s.body[i].def.tet_count + 10.0 * s.body[i].def.cage_nodes;
    if (ok && triangles < 2000) {
        s.world.max_iterations = 3;
        e.text[0] = 0;
        if (!scene_build(&s, &w, &e)) ENSURE(!w && e.text[0]);
        else if (scene_steer(&s, w, &e) && embipc_world_step(w, NULL) == EMBIPC_OK)
            ENSURE(embipc_world_intersections(w, NULL, 0) == 0);
        embipc_world_destroy(w);
    }
    scene_free(&s);
    return ok;
}

/* text: the undamaged files that damage starts from */
static void fuzz_files(const char *name, const char *const *text, int texts, int (*feed)(const char *, size_t), double seconds)
{
    fuzz_text pool[FUZZ_POOL];
    long tries = 0, accepted = 0;
    int n;
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    for (n = 0; n < texts; n++) {
        pool[n].data = mutate_copy(text[n], strlen(text[n]));
        pool[n].size = strlen(text[n]);
        ENSURE(feed(pool[n].data, pool[n].size));
    }
    for (; clock() < end && !test_bad; tries++) {
        const fuzz_text *from = &pool[(int)(n * test_random())];
        fuzz_text t;
        int ok;
        t.data = mutate(from->data, from->size, &t.size);
        ok = feed(t.data, t.size);
        accepted += ok;
        if ((ok || test_random() < 0.01) && t.size < FUZZ_LARGEST) {
            int at = n < FUZZ_POOL ? n : texts + (int)((FUZZ_POOL - texts) * test_random());
            if (at == n) n++;
            else free(pool[at].data);
            pool[at] = t;
        } else free(t.data);
    }
    printf("%-7s %ld files, %ld accepted, %s\n", name, tries, accepted, test_bad ? "FAILED" : "nothing found");
    fflush(stdout);
    for (int i = 0; i < n; i++) free(pool[i].data);
}

int main(int argc, char **argv)
{
    const char *urdf = urdf_arm, *mjcf = mjcf_arm, *scene_text = fuzz_scene;
    double seconds = argc > 1 ? atof(argv[1]) : 60;
    test_unused();
    test_name = "fuzz";
    test_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    fuzz_files("urdf", &urdf, 1, fuzz_robot_try, seconds);
    fuzz_files("mjcf", &mjcf, 1, fuzz_robot_try, seconds);
    fuzz_files("scene", &scene_text, 1, fuzz_scene_try, seconds);
    return test_bad != 0;
}
