/* Scene files of the tool: what every key becomes, every refusal with its line, key and words, and the pose
 * of bodies, cages and drives in the world that is built. */
#include "../embipc.h"
#include "test.h"
#include "test_tool_mutate.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/shapes.h"
#include "../tools/scene.c"

static int parse(scene *s, const char *text, tool_error *e)
{
    char *copy = mutate_copy(text, strlen(text));
    int ok = scene_parse(s, "dir/s.json", copy, strlen(text), e);
    free(copy);
    return ok;
}

static int refused(const char *text, const char *part)
{
    scene s;
    tool_error e;
    int ok = parse(&s, text, &e);
    scene_free(&s);
    if (!ok && strstr(e.text, part)) return 1;
    printf("  %s\n  -> %s\n  (wanted %s)\n", text, ok ? "accepted" : e.text, part);
    return 0;
}

#define BODY "{\"name\":\"a\",\"kind\":\"fixed\",\"shape\":\"plane\"}"

/* A scene of one body (second line) with these keys behind its name. */
static int body_refused(const char *keys, const char *part)
{
    char text[1024];
    snprintf(text, sizeof text, "{\"version\":1,\"bodies\":[\n{\"name\":\"a\",%s}]}", keys);
    return refused(text, part);
}

/* A scene of a plane with these keys at the top. */
static int root_refused(const char *keys, const char *part)
{
    char text[1024];
    snprintf(text, sizeof text, "{\"version\":1,\"bodies\":[" BODY "],\n%s}", keys);
    return refused(text, part);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static const char sample[] =
    "{ \"version\": 1, \"time_step\": 0.02, \"keep_spin\": false, \"duration\": 4.0, \"gravity\": [1, 2, -9.5],"
    "  \"sleep_after\": 0.5, \"sleep_speed\": 0.01,\n"
    "  \"contact\": { \"dhat\": 1e-3, \"kappa\": 1e4, \"friction_velocity\": 2e-3, \"friction_iterations\": "
    "2 },\n"
    "  \"solver\":  { \"linear\": \"cg\", \"tolerance\": 1e-4, \"max_iterations\": 50 },\n"
    "  \"bodies\": [\n"
    "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [1, 1, 0.1], "
    "\"position\": [0, 0, -0.06], \"friction\": 0.25 },\n"
    "    { \"name\": \"soft\", \"kind\": \"full\", \"shape\": \"box\", \"size\": [0.2, 0.1, 0.1], "
    "\"resolution\": 2, \"position\": [0, 0, 0.3],\n"
    "      \"rotation\": [0, 0, 90], \"scale\": 0.5, \"velocity\": [0, 0, -1], \"angular_velocity\": [3, 0, 0.5], \"friction\": 1,\n"
    "      \"static_friction\": 1.5, \"surface_velocity\": [0.1, 0, 0.2],\n"
    "      \"material\": { \"model\": \"corotated\", \"young\": 5e4, \"poisson\": 0.45, \"density\": 900, "
    "\"damping\": [0.5, 0.01], \"averaged\": true },\n"
    "      \"drive\": [ { \"select\": { \"box\": [[-1, 0.04, -1], [1, 1, 1]] }, \"keys\": [[0, 0, 0, 0], "
    "[1.5, 0, 0.03, 0, 0, 0, 180]] } ] },\n"
    "    { \"name\": \"stiff\", \"kind\": \"affine\", \"shape\": \"sphere\", \"radius\": 0.05, \"position\": "
    "[0.5, 0, 0.1],\n"
    "      \"material\": { \"model\": \"orthogonality\", \"stiffness\": 1e8, \"density\": 500 } } ],\n"
    "  \"pairs\": [ { \"bodies\": [\"ground\", \"soft\"], \"friction\": 0.9 }, { \"bodies\": [\"stiff\", "
    "\"soft\"], \"contact\": false } ] }";

static void test_world_keys(void)
{
    scene s;
    tool_error e;
    embipc_world_def d;
    ENSURE(parse(&s, sample, &e));
    ENSURE(s.duration == 4 && s.world.time_step == 0.02 && s.world.gravity[0] == 1
           && s.world.gravity[2] == -9.5);
    ENSURE(s.world.dhat == 1e-3 && s.world.kappa == 1e4 && s.world.friction_velocity == 2e-3
           && s.world.friction_iterations == 2 && !s.world.keep_spin);
    ENSURE(s.world.sleep_after == 0.5 && s.world.sleep_speed == 0.01);
    ENSURE(s.world.solver == EMBIPC_SOLVER_CG && s.world.tolerance == 1e-4 && s.world.max_iterations == 50);
    ENSURE(s.pair_count == 2 && s.pair[0].a == 0 && s.pair[0].b == 1 && s.pair[0].friction == 0.9
           && s.pair[0].contact == 1);
    ENSURE(s.pair_count == 2 && s.pair[1].a == 2 && s.pair[1].b == 1 && s.pair[1].friction == -1
           && s.pair[1].contact == 0);
    scene_free(&s);
    d = embipc_default_world_def();   /* what is left out stays the library's */
    ENSURE(parse(&s, "{\"version\":1,\"bodies\":[" BODY "]}", &e));
    ENSURE(s.duration == 1 && memcmp(&s.world, &d, sizeof d) == 0);
    scene_free(&s);
}

static void test_body_keys(void)
{
    scene s;
    tool_error e;
    const embipc_body_def *d;
    ENSURE(parse(&s, sample, &e) && s.body_count == 3);
    if (s.body_count != 3) return;
    d = &s.body[1].def;
    ENSURE(strcmp(s.body[1].name, "soft") == 0 && s.body[1].line == 6 && d->kind == EMBIPC_FULL);
    ENSURE(d->tet_count > 0 && d->triangles == NULL && d->vertex_count == s.body[1].surface.node_count);
    ENSURE(d->scale == 0.5 && d->position[2] == 0.3 && d->velocity[2] == -1 && d->friction == 1);
    ENSURE(d->angular_velocity[0] == 3 && d->angular_velocity[1] == 0 && d->angular_velocity[2] == 0.5);
    ENSURE(d->friction == 1 && d->static_friction == 1.5);
    ENSURE_CLOSE(d->rotation[1], -1, 1e-15);
    ENSURE_CLOSE(d->rotation[3], 1, 1e-15);
    ENSURE(d->material.young == 5e4 && d->material.poisson == 0.45 && d->material.density == 900
           && d->material.averaged == 1);
    ENSURE(d->material.damping[0] == 0.5 && d->material.damping[1] == 0.01
           && d->material.model == EMBIPC_COROTATED);
    d = &s.body[2].def;
    ENSURE(d->kind == EMBIPC_AFFINE && d->tets == NULL && d->triangle_count > 0);
    ENSURE(d->material.model == EMBIPC_ORTHOGONALITY && d->material.stiffness == 1e8 && d->friction == 0);
    ENSURE(s.drive_count == 1 && s.drive[0].body == 1 && s.drive[0].has_box && s.drive[0].box[1] == 0.04
           && s.drive[0].key_count == 2);
    ENSURE(s.drive[0].keys[7] == 1.5 && s.drive[0].keys[9] == 0.03 && s.drive[0].keys[6] == 0);
    ENSURE_CLOSE(s.drive[0].keys[13], 3.14159265358979, 1e-14);
    scene_free(&s);
}

/* R = Rz(c) Ry(b) Rx(a): x is turned about x first. */
static void test_rotation(void)
{
    double R[9], a[3] = { 90, 0, 0 }, ab[3] = { 90, 90, 0 }, abc[3] = { 90, 90, 90 },
                 any[3] = { 20, -50, 130 };
    static const double ex[9] = { 1, 0, 0, 0, 0, -1, 0, 1, 0 }, exy[9] = { 0, 1, 0, 0, 0, -1, -1, 0, 0 },
                        exyz[9] = { 0, 0, 1, 0, 1, 0, -1, 0, 0 };
    scene_rotation(R, a);
    for (int i = 0; i < 9; i++) ENSURE_CLOSE(R[i], ex[i], 1e-15);
    scene_rotation(R, ab);
    for (int i = 0; i < 9; i++) ENSURE_CLOSE(R[i], exy[i], 1e-15);
    scene_rotation(R, abc);
    for (int i = 0; i < 9; i++) ENSURE_CLOSE(R[i], exyz[i], 1e-15);
    scene_rotation(R, any);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            ENSURE_CLOSE(R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j], i == j, 1e-15);
    ENSURE_CLOSE(R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6])
                     + R[2] * (R[3] * R[7] - R[4] * R[6]),
                 1, 1e-15);
}

/* Factors on stiffness and density: arrays and boxes multiply; mass and elastic energy follow. */
static void test_tet_factors(void)
{
    static const char plain[] = "{\"version\":1,\"integrator\":\"bdf2\",\"bodies\":[{\"name\":\"a\",\"kind\":\"full\",\"shape\":\"box\",\"size\":"
                                "[0.2,0.1,0.1],\"resolution\":2%s}]}";
    char text[2048], list[1024] = ",\"tet_stiffness\":[", more[1600];
    double mass[2], least = 1e300, most = 0;
    int nt = 0, at;
    scene s;
    tool_error e;
    for (int k = 0; k < 2; k++) {
        embipc_world *w = NULL;
        embipc_body_state st;
        snprintf(text, sizeof text, plain, k ? ",\"regions\":[{\"box\":[[-1,-1,-1],[0,1,1]],\"density\":3},"
                                               "{\"box\":[[-1,-1,-1],[1,1,0]],\"stiffness\":10}]" : "");
        ENSURE(parse(&s, text, &e) && s.world.integrator == EMBIPC_BDF2);
        ENSURE(s.body_count == 1 && (s.body[0].def.tet_density != NULL) == k);
        if (!scene_build(&s, &w, &e)) { printf("  %s\n", e.text); ENSURE(0); scene_free(&s); return; }
        (void)embipc_body_get_state(w, s.body[0].handle, &st);
        mass[k] = st.mass;
        for (int t = 0; k && t < s.body[0].def.tet_count; t++) {
            least = fmin(least, s.body[0].def.tet_stiffness[t]);
            most = fmax(most, s.body[0].def.tet_stiffness[t]);
        }
        embipc_world_destroy(w);
        nt = s.body[0].def.tet_count;
        scene_free(&s);
    }
    ENSURE_REL(mass[1], 2 * mass[0], 1e-12);   /* half of it three times as heavy */
    ENSURE(least == 1 && most == 10);
    at = (int)strlen(list);
    for (int t = 0; t < nt; t++) at += snprintf(list + at, sizeof list - (size_t)at, "%s%d", t ? "," : "", t + 1);
    snprintf(more, sizeof more, "%s],\"regions\":[{\"box\":[[-1,-1,-1],[1,1,1]],\"stiffness\":0.5}]", list);
    snprintf(text, sizeof text, plain, more);
    ENSURE(parse(&s, text, &e));
    for (int t = 0; t < nt && s.body_count; t++) ENSURE(s.body[0].def.tet_stiffness[t] == (t + 1) * 0.5 && s.body[0].def.tet_density[t] == 1);
    scene_free(&s);
    snprintf(text, sizeof text, plain, ",\"tet_density\":[1,2]");
    snprintf(more, sizeof more, "body \"a\": key \"tet_density\": found an array of 2 values, expected an array of %d factors", nt);
    ENSURE(refused(text, more));
    snprintf(more, sizeof more, "%s,-2]", list);
    more[strlen(list) - (nt > 9 ? 2 : 1) - 1] = 0;   /* all but the last, which is then -2 */
    strcat(more, ",-2]");
    snprintf(text, sizeof text, plain, more);
    snprintf(more, sizeof more, "body \"a\": key \"tet_stiffness\": tet %d: found -2, expected a number > 0", nt - 1);
    ENSURE(refused(text, more));
    snprintf(text, sizeof text, plain, ",\"regions\":[{\"box\":[[1,1,1],[2,2,2]],\"density\":3}]");
    ENSURE(refused(text, "expected a box with the centre of at least one tet inside"));
    snprintf(text, sizeof text, plain, ",\"regions\":[{\"box\":[[-1,-1,-1],[2,2,2]]}]");
    ENSURE(refused(text, "found no key \"stiffness\", expected a factor"));
    snprintf(text, sizeof text, plain, ",\"regions\":[{\"box\":[[-1,-1,-1],[2,2,2]],\"density\":0}]");
    ENSURE(refused(text, "key \"density\": found 0, expected a number > 0"));
    ENSURE(body_refused("\"kind\":\"cage\",\"shape\":\"sphere\",\"radius\":0.1,\"regions\":[]", "expected a \"cage\" from a file"));
    ENSURE(body_refused("\"kind\":\"affine\",\"shape\":\"box\",\"size\":[1,1,1],\"tet_density\":[1]", "no such key for kinds other than cage and full"));
    ENSURE(root_refused("\"integrator\":\"newmark\"", "key \"integrator\": \"newmark\", expected backward_euler or bdf2"));
}

/* ---- Refusals ------------------------------------------------------------------------------- */

static void test_unknown_keys(void)
{
    ENSURE(root_refused("\"time_stap\":1", "dir/s.json:2: scene: found the unknown key \"time_stap\" (did "
                                           "you mean \"time_step\"?), expected "));
    ENSURE(root_refused("\"contact\":{\"mu\":1}", "\"contact\": found the unknown key \"mu\""));
    ENSURE(root_refused("\"contact\":{\n\"friction_velo\":1}", "s.json:3: \"contact\": found the unknown key "
                                                               "\"friction_velo\" (did you mean "
                                                               "\"friction_velocity\"?)"));
    ENSURE(root_refused("\"solver\":{\"tol\":1}", "\"solver\": found the unknown key \"tol\""));
    ENSURE(root_refused("\"solver\":{\"linear\":\"spars\"}", "key \"linear\": \"spars\" (did you mean "
                                                             "\"sparse\"?), expected auto, dense, sparse or "
                                                             "cg"));
    ENSURE(body_refused("\"knd\":\"fixed\"", "s.json:2: body 1: found the unknown key \"knd\" (did you mean "
                                             "\"kind\"?)"));
    ENSURE(body_refused("\"kind\":\"ful\"", "body \"a\": found key \"kind\": \"ful\" (did you mean "
                                            "\"full\"?), expected fixed, kinematic, affine, cage or full"));
    ENSURE(body_refused("\"kind\":\"full\",\"material\":{\"yung\":1}", "body \"a\": found the unknown key "
                                                                       "\"yung\" (did you mean \"young\"?)"));
    ENSURE(body_refused("\"kind\":\"full\",\"shape\":\"sfere\"", "(did you mean \"sphere\"?)"));
    ENSURE(body_refused("\"kind\":\"full\",\"drive\":[{\"key\":[]}]", "(did you mean \"keys\"?)"));
    ENSURE(body_refused("\"kind\":\"full\",\"drive\":[{\"select\":{\"bx\":1},\"keys\":[]}]", "(did you mean "
                                                                                             "\"box\"?)"));
    ENSURE(root_refused("\"pairs\":[{\"bodys\":1}]", "\"pairs\": found the unknown key \"bodys\" (did you "
                                                     "mean \"bodies\"?)"));
    ENSURE(root_refused("\"pairs\":[{\"bodies\":[\"a\",\"b\"],\"contact\":true}]", "\"pairs\": found key "
                                                                                   "\"bodies\": \"b\""));
}

static void test_root_ranges(void)
{
    ENSURE(refused("[]", "s.json:1: scene: found an array of 0 values, expected an object"));
    ENSURE(refused("{}", "scene: found no key \"version\", expected \"version\": 1"));
    ENSURE(refused("{\"version\":2}", "key \"version\": found 2, expected 1"));
    ENSURE(refused("{\"version\":1}", "found no key \"bodies\", expected an array of at least one body"));
    ENSURE(refused("{\"version\":1,\"bodies\":[]}", "key \"bodies\": found an array of 0 values"));
    ENSURE(refused("{\"version\":1,\"bodies\":{}}", "key \"bodies\": found an object of 0 keys"));
    ENSURE(refused("{\"version\":1,\"bodies\":[3]}", "body 1: found 3, expected an object"));
    ENSURE(root_refused("\"time_step\":0", "s.json:2: scene: key \"time_step\": found 0, expected a number > "
                                           "0"));
    ENSURE(root_refused("\"time_step\":\"x\"", "key \"time_step\": found the string \"x\", expected a number "
                                               "> 0"));
    ENSURE(root_refused("\"duration\":-1", "key \"duration\": found -1, expected a number >= 0"));
    ENSURE(root_refused("\"gravity\":[0,0]", "key \"gravity\": found an array of 2 values, expected an array "
                                             "of 3"));
    ENSURE(root_refused("\"gravity\":[0,0,null]", "key \"gravity\": found null"));
    ENSURE(root_refused("\"contact\":3", "\"contact\": found 3, expected an object"));
    ENSURE(root_refused("\"contact\":{\"dhat\":0}", "key \"dhat\": found 0, expected a number > 0"));
    ENSURE(root_refused("\"contact\":{\"kappa\":-1}", "key \"kappa\": found -1, expected a number > 0"));
    ENSURE(root_refused("\"contact\":{\"friction_velocity\":0}", "key \"friction_velocity\": found 0"));
    ENSURE(root_refused("\"sleep_after\":-1", "found -1, expected a number >= 0"));
    ENSURE(root_refused("\"contact\":{\"friction_iterations\":-1}", "key \"friction_iterations\": found -1, "
                                                                    "expected a whole number from 0"));
    ENSURE(root_refused("\"contact\":{\"friction_iterations\":1.5}", "found 1.5, expected a whole number"));
    ENSURE(root_refused("\"solver\":{\"tolerance\":0}", "key \"tolerance\": found 0"));
    ENSURE(root_refused("\"solver\":{\"max_iterations\":0}", "key \"max_iterations\": found 0"));
    ENSURE(root_refused("\"solver\":{\"linear\":1}", "key \"linear\": found 1, expected a string"));
    ENSURE(root_refused("\"pairs\":{}", "key \"pairs\": found an object of 0 keys, expected an array of "
                                        "pairs"));
    ENSURE(root_refused("\"pairs\":[{}]", "found no key \"bodies\""));
    ENSURE(root_refused("\"pairs\":[{\"bodies\":[\"a\"]}]", "key \"bodies\": found an array of 1 value"));
    ENSURE(root_refused("\"pairs\":[{\"bodies\":[\"a\",1],\"contact\":true}]", "key \"bodies\": found 1"));
    ENSURE(root_refused("\"pairs\":[{\"bodies\":[\"a\",\"a\"]}]", "found no key \"friction\", expected "
                                                                  "\"friction\" or \"contact\""));
    ENSURE(root_refused("\"pairs\":[{\"bodies\":[\"a\",\"a\"],\"friction\":-1}]", "key \"friction\": found "
                                                                                  "-1"));
    ENSURE(root_refused("\"pairs\":[{\"bodies\":[\"a\",\"a\"],\"contact\":0}]", "key \"contact\": found 0, "
                                                                                "expected true or false"));
    ENSURE(root_refused("\"pairs\":[{\"bodies\":[\"a\",\"a\"],\"friction\":1},\n{\"bodies\":[\"a\",\"a\"],"
                        "\"friction\":1}]",
                        "s.json:3: \"pairs\": key \"bodies\""));
}

static void test_body_ranges(void)
{
#define BOX "\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[1,1,1]"
    ENSURE(refused("{\"version\":1,\"bodies\":[{}]}", "body \"body 1\": found no key \"kind\""));
    ENSURE(refused("{\"version\":1,\"bodies\":[{\"name\":\"body 2\"," BOX "},\n{" BOX "}]}",
                   "s.json:2: body 2: found no key \"name\""));
    ENSURE(refused("{\"version\":1,\"bodies\":[{\"name\":\"body 2 3\"," BOX "},\n{" BOX ",\"repeat\":{\"count\":[4,1,1]}}]}",
                   "s.json:2: body \"body 2\": found no key \"name\""));
    ENSURE(refused("{\"version\":1,\"bodies\":[{\"name\":\"\"}]}", "key \"name\": found the string \"\""));
    ENSURE(refused("{\"version\":1,\"bodies\":[{\"name\":\"a,b\"}]}", "key \"name\": found the string "
                                                                      "\"a,b\""));
    ENSURE(refused("{\"version\":1,\"bodies\":[" BODY ",\n" BODY "]}", "s.json:2: body 2: key \"name\": "
                                                                       "found the string \"a\", expected a "
                                                                       "name that no other body has"));
    ENSURE(body_refused("\"friction\":1", "body \"a\": found no key \"kind\""));
    ENSURE(body_refused("\"kind\":\"fixed\"", "found no key \"shape\", expected \"shape\" or \"mesh\""));
    ENSURE(body_refused("\"kind\":\"fixed\",\"shape\":\"plane\",\"mesh\":\"a.obj\"", "either \"mesh\" or "
                                                                                     "\"shape\", not both"));
    ENSURE(body_refused(BOX ",\"friction\":-0.1", "key \"friction\": found -0.1, expected a number >= 0"));
    ENSURE(body_refused(BOX ",\"scale\":0", "key \"scale\": found 0, expected a number > 0"));
    ENSURE(body_refused(BOX ",\"position\":[1,2]", "key \"position\": found an array of 2"));
    ENSURE(body_refused(BOX ",\"rotation\":90", "key \"rotation\": found 90"));
    ENSURE(body_refused(BOX ",\"angular_velocity\":[0,1]", "key \"angular_velocity\""));
    ENSURE(body_refused(BOX ",\"surface_velocity\":[0,1]", "key \"surface_velocity\""));
    ENSURE(body_refused(BOX ",\"static_friction\":-1", "key \"static_friction\""));
    ENSURE(body_refused(BOX ",\"velocity\":[\"a\",0,0]", "key \"velocity\": found the string \"a\""));
    ENSURE(body_refused(BOX ",\"velocity\":[1,0,0]", "expected no such key for kind fixed, which never moves"));
    ENSURE(body_refused("\"kind\":\"kinematic\",\"shape\":\"bear\",\"velocity\":[1,0,0]",
                        "key \"velocity\": found an array of 3 values, expected no such key for kind kinematic, "
                        "which moves as the keys of a \"drive\" say"));
    ENSURE(body_refused("\"kind\":\"kinematic\",\"shape\":\"bear\",\"angular_velocity\":[1,0,0]",
                        "key \"angular_velocity\": found an array of 3 values, expected no such key"));
    ENSURE(body_refused(BOX ",\"cage_nodes\":30", "key \"cage_nodes\": found 30, expected no such key for "
                                                  "kinds other than cage"));
    ENSURE(body_refused(BOX ",\"drive\":[]", "expected no drive for kind fixed (use kinematic)"));
    ENSURE(body_refused(BOX ",\"radius\":1", "key \"radius\": found 1, expected no such key for shape box"));
    ENSURE(body_refused(BOX ",\"resolution\":0", "key \"resolution\": found 0, expected a whole number from "
                                                 "1 to 512"));
    ENSURE(body_refused("\"kind\":\"fixed\",\"shape\":\"box\"", "found no key \"size\""));
    ENSURE(body_refused("\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[1,0,1]", "key \"size\": found 0"));
    ENSURE(body_refused("\"kind\":\"fixed\",\"shape\":\"torus\",\"radius\":1", "found no key \"tube\""));
    ENSURE(body_refused("\"kind\":\"fixed\",\"shape\":\"cylinder\",\"radius\":1,\"height\":-1",
                        "key \"height\": found -1"));
    ENSURE(body_refused("\"kind\":\"fixed\",\"shape\":\"plane\",\"normal\":[0,0,0]", "expected a direction"));
    ENSURE(body_refused("\"kind\":\"cage\",\"shape\":\"bear\",\"cage_nodes\":3", "key \"cage_nodes\": found "
                                                                                 "3"));
    ENSURE(body_refused("\"kind\":\"cage\",\"shape\":\"bear\",\"cage_nodes\":34,\"cage\":\"c.msh\"",
                        "either \"cage\" or \"cage_nodes\""));
}

static void test_material_ranges(void)
{
#define SOFT "\"kind\":\"full\",\"shape\":\"bear\",\"material\":"
    ENSURE(body_refused(SOFT "3", "body \"a\": key \"material\": found 3, expected an object"));
    ENSURE(body_refused(SOFT "{\"young\":0}", "key \"young\": found 0, expected a number > 0"));
    ENSURE(body_refused(SOFT "{\"poisson\":0.5}", "key \"poisson\": found 0.5, expected a number between -1 "
                                                  "and 0.5"));
    ENSURE(body_refused(SOFT "{\"poisson\":-1}", "key \"poisson\": found -1"));
    ENSURE(body_refused(SOFT "{\"density\":0}", "key \"density\": found 0"));
    ENSURE(body_refused(SOFT "{\"damping\":[-1,0]}", "key \"damping\": found -1"));
    ENSURE(body_refused(SOFT "{\"damping\":0}", "key \"damping\": found 0, expected an array of 2"));
    ENSURE(body_refused(SOFT "{\"averaged\":1}", "key \"averaged\": found 1, expected true or false"));
    ENSURE(body_refused(SOFT "{\"model\":\"neohookean\"}", "key \"model\": \"neohookean\""));
    ENSURE(body_refused(SOFT "{\"model\":\"orthogonality\"}", "orthogonality is for kind affine only"));
    ENSURE(body_refused(SOFT "{\"stiffness\":1}", "key \"stiffness\": found 1, expected no such key for "
                                                  "model corotated"));
    ENSURE(body_refused("\"kind\":\"affine\",\"shape\":\"bear\",\"material\":{\"model\":\"orthogonality\","
                        "\"young\":1}",
                        "key \"young\": found 1"));
    ENSURE(body_refused("\"kind\":\"affine\",\"shape\":\"bear\",\"material\":{\"model\":\"orthogonality\","
                        "\"stiffness\":0}",
                        "key \"stiffness\": found 0"));
    ENSURE(body_refused(SOFT "{\"model\":\"mooney_rivlin\"}", "found no key \"mooney\", expected [C1, C2, K]"));
    ENSURE(body_refused(SOFT "{\"model\":\"mooney_rivlin\",\"mooney\":[0,0,1]}", "expected [C1, C2, K] in Pa"));
    ENSURE(body_refused(SOFT "{\"model\":\"mooney_rivlin\",\"mooney\":[-1,2,9]}", "key \"mooney\": found -1"));
    ENSURE(body_refused(SOFT "{\"model\":\"mooney_rivlin\",\"mooney\":[1,2,3.9]}", "K >= 4/3 (C1 + C2)"));
    ENSURE(body_refused(SOFT "{\"model\":\"mooney_rivlin\",\"mooney\":[1,2,4],\"young\":1}", "key \"young\": found 1"));
    ENSURE(body_refused(SOFT "{\"model\":\"stvk\",\"mooney\":[1,2,4]}", "no such key for model stvk (use \"young\")"));
    ENSURE(body_refused(SOFT "{\"model\":\"arap\",\"poisson\":0.3}", "no such key for model arap"));
    ENSURE(body_refused(SOFT "{\"model\":\"arap\",\"averaged\":true}", "no such key for model arap"));
    ENSURE(body_refused(SOFT "{\"model\":\"neo_hookean\",\"determinant_bound\":false}", "it is always on"));
    ENSURE(body_refused(SOFT "{\"fibre_stiffness\":-1,\"fibre\":[1,0,0]}", "key \"fibre_stiffness\": found -1"));
    ENSURE(body_refused(SOFT "{\"fibre_stiffness\":1}", "found no key \"fibre\""));
    ENSURE(body_refused(SOFT "{\"fibre_stiffness\":1,\"fibre\":[0,0,0]}", "key \"fibre\""));
}

/* Scenes for a material that is no longer there are told which one to take. */
static void test_lagged_arap(void)
{
    static const char expected[] = "key \"model\": found the string \"lagged_arap\", expected \"arap\"";
    const char *path = test_data("field/03-lagged-arap-stops/roll.json");
    ENSURE(body_refused(SOFT "{\"young\":1e5,\"model\":\"lagged_arap\"}", expected));
    ENSURE(body_refused(SOFT "{\"young\":1e5,\n\"model\":\"lagged_arap\",\"averaged\":true}", "dir/s.json:3: body \"a\""));
    if (path) {
        scene s;
        tool_error e;
        ENSURE(!scene_read(&s, path, &e) && strstr(e.text, "roll.json:9: body \"lagged\"") && strstr(e.text, expected));
        scene_free(&s);
    }
}

static void test_drive_ranges(void)
{
#define DRIVE "\"kind\":\"kinematic\",\"shape\":\"bear\",\"drive\":"
    ENSURE(body_refused(DRIVE "{}", "key \"drive\": found an object of 0 keys, expected an array of drives"));
    ENSURE(body_refused(DRIVE "[1]", "body \"a\": found 1, expected an object"));
    ENSURE(body_refused(DRIVE "[{}]", "found no key \"keys\", expected rows of 4 or 7"));
    ENSURE(body_refused(DRIVE "[{\"keys\":[]}]", "key \"keys\": found an array of 0 values"));
    ENSURE(body_refused(DRIVE "[{\"keys\":[1,2,3,4]}]", "key \"keys\": found 1, expected rows of 4 or 7"));
    ENSURE(body_refused(DRIVE "[{\"keys\":[[0,0,0]]}]", "key \"keys\": found an array of 3 values"));
    ENSURE(body_refused(DRIVE "[{\"keys\":[[0,0,0,\"x\"]]}]", "key \"keys\": found the string \"x\""));
    ENSURE(body_refused(DRIVE "[{\"keys\":[[1,0,0,0],\n[1,0,0,0]]}]", "s.json:3: body \"a\": key \"keys\": "
                                                                      "found 1, expected a time later"));
#define HELD "\"kind\":\"cage\",\"shape\":\"bear\",\"drive\":"
    ENSURE(body_refused(DRIVE "[{\"select\":{\"box\":[[0,0,0],[1,1,1]]},\"keys\":[]}]", "kinds other than cage and full"));
    ENSURE(body_refused(HELD "[{\"select\":{},\"keys\":[]}]", "found no key \"box\""));
    ENSURE(body_refused(HELD "[{\"select\":{\"box\":[1]},\"keys\":[]}]", "key \"box\": found an array of 1 "
                                                                          "value, expected two corners"));
    ENSURE(body_refused(HELD "[{\"select\":{\"box\":[[0,0,0],[0,0]]},\"keys\":[]}]", "key \"box\": found an "
                                                                                      "array of 2 values"));
    ENSURE(body_refused(HELD "[{\"select\":{\"box\":[[0,1,0],[0,0,0]]},\"keys\":[]}]", "expected the lower "
                                                                                        "corner first"));
    ENSURE(body_refused(DRIVE "[{\"keys\":[[0,0,0,0]],\"stiffness\":1}]", "no such key for kind kinematic"));
    ENSURE(body_refused(HELD "[{\"keys\":[[0,0,0,0]],\"stiffness\":0}]", "key \"stiffness\": found 0, expected a number > 0"));
    ENSURE(body_refused(HELD "[{\"keys\":[[0,0,0,0]],\"stiffness\":[0,0,0]}]", "at least one of the three above 0"));
    ENSURE(body_refused(HELD "[{\"keys\":[[0,0,0,0]],\"stiffness\":[1,-1,0]}]", "key \"stiffness\": found -1"));
    ENSURE(body_refused(HELD "[{\"keys\":[[0,0,0,0]],\"stiffness\":1,\"force_limit\":0}]", "key \"force_limit\": found 0"));
    ENSURE(body_refused(HELD "[{\"keys\":[[0,0,0,0]],\"damping\":1}]", "no such key for a drive without \"stiffness\""));
    ENSURE(body_refused(HELD "[{\"keys\":[[0,0,0,0]],\"force_limit\":1}]", "no such key for a drive without \"stiffness\""));
}

/* ---- Joints ---- */

static const char linked[] =
    "{\"version\":1,\"time_step\":0.01,\"bodies\":[\n"
    "{\"name\":\"base\",\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1]},\n"
    "{\"name\":\"arm\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.2,0.02,0.02],\"position\":[0.12,0,0]},\n"
    "{\"name\":\"soft\",\"kind\":\"full\",\"shape\":\"box\",\"size\":[0.1,0.02,0.02],"
    "\"position\":[0.3,0,0],\"resolution\":1},\n"
    "{\"name\":\"ball\",\"kind\":\"affine\",\"shape\":\"ball\",\"radius\":0.02,\"position\":[0.3,0,-0.2]},\n"
    "{\"name\":\"many\",\"kind\":\"affine\",\"shape\":\"ball\",\"radius\":0.02,\"position\":[0,1,0],\n"
    "\"repeat\":{\"count\":[2,1,1],\"spacing\":[0.1,0,0]}}],\n";
#define ROWS 7   /* of the bodies: joints begin in line 8 */

/* A scene of these bodies with these joints. */
static int joints_refused(const char *joints, const char *part)
{
    char text[4096];
    snprintf(text, sizeof text, "%s\"joints\":%s}", linked, joints);
    return refused(text, part);
}

/* The same with one joint that has these keys beside its kind, in line 8. */
static int joint_refused(const char *keys, const char *part)
{
    char text[2048];
    snprintf(text, sizeof text, "[{\"kind\":%s}]", keys);
    return joints_refused(text, part);
}

static void test_joint_keys(void)
{
    char text[4096];
    scene s;
    tool_error e;
    const scene_joint *p;
    snprintf(text, sizeof text, "%s\"joints\":[\n"
             "{\"kind\":\"hinge\",\"a\":\"base\",\"b\":\"arm\",\"point\":[0.04,1,2],\"axis\":[0,2,0],\"limits\":[-90,45],"
             "\"friction\":0.1,\"stiffness\":1e6,\"contact\":true,\n"
             "\"motor\":{\"stiffness\":10,\"damping\":0.5,\"limit\":3,\"position\":180,\"velocity\":2,\"effort\":-1}},\n"
             "{\"kind\":\"slider\",\"b\":\"ball\",\"point\":[0,0,0],\"axis\":[1,0,0],\"limits\":[null,0.5],"
             "\"motor\":{\"stiffness\":1,\"keys\":[[1,0.25],[2,0.5]]}},\n"
             "{\"kind\":\"ball\",\"a\":\"arm\",\"b\":\"soft\",\"point\":[0.2,0,0],\"axis\":[1,0,0],\"limits\":90},\n"
             "{\"kind\":\"ball\",\"a\":\"arm\",\"b\":\"soft\",\"point\":[0.2,0,0],\"axis\":[1,0,0],\"limits\":[0,60],\"twist\":20},\n"
             "{\"kind\":\"rod\",\"a\":\"soft\",\"b\":\"ball\",\"point\":[0.3,0,0],\"point_b\":[0.3,0,-0.18],"
             "\"limits\":[null,0.2]},\n"
             "{\"kind\":\"attach\",\"a\":\"arm\",\"b\":\"soft\",\"select\":{\"box\":[[0,-1,-1],[0.26,1,1]]},\"distance\":0.02},\n"
             "{\"kind\":\"weld\",\"b\":\"soft\",\"point\":[0.3,0,0]},\n"
             "{\"kind\":\"ball\",\"b\":\"soft\",\"point\":[0.3,0,0],\"axis\":[1,0,0],\"twist\":30}]}", linked);
    ENSURE(parse(&s, text, &e) && s.joint_count == 8);
    if (s.joint_count != 8) { printf("  %s\n", e.text); scene_free(&s); return; }
    p = s.joint;
    ENSURE(p->a == 0 && p->b == 1 && p->line == ROWS + 2 && p->def.kind == EMBIPC_HINGE);
    ENSURE(p->def.contact && p->def.limited);
    ENSURE(p->def.point[0] == 0.04 && p->def.point[2] == 2 && p->def.axis[1] == 2 && p->def.axis[2] == 0);
    ENSURE_CLOSE(p->def.limits[0], -90 * SCENE_DEGREE, 1e-15);
    ENSURE_CLOSE(p->def.limits[1], 45 * SCENE_DEGREE, 1e-15);
    ENSURE(p->def.friction == 0.1 && p->def.stiffness == 1e6 && p->def.motor_stiffness == 10);
    ENSURE(p->def.motor_damping == 0.5 && p->def.motor_limit == 3 && p->def.target[1] == 2 && p->def.target[2] == -1);
    ENSURE_CLOSE(p->def.target[0], 180 * SCENE_DEGREE, 1e-15);
    p++;
    ENSURE(p->a == -1 && p->b == 3 && !p->def.contact && p->def.limits[0] == -HUGE_VAL && p->def.limits[1] == 0.5);
    ENSURE(p->key_count == 2 && p->keys[0] == 1 && p->keys[1] == 0.25 && p->keys[2] == 2 && p->keys[3] == 0.5);
    p++;
    ENSURE_CLOSE(p[0].def.limits[1], 90 * SCENE_DEGREE, 1e-15);
    ENSURE_CLOSE(p[1].def.limits[1], 60 * SCENE_DEGREE, 1e-15);
    ENSURE_CLOSE(p[1].def.twist, 20 * SCENE_DEGREE, 1e-15);
    ENSURE(p[0].def.twist == 0);
    p += 2;
    ENSURE(p->def.kind == EMBIPC_ROD && p->def.point_b[2] == -0.18 && p->def.limits[0] == 0 && p->def.limits[1] == 0.2);
    p++;
    ENSURE(p->def.kind == EMBIPC_ATTACH && p->has_box && p->box[3] == 0.26 && p->def.axis[2] == 1);
    ENSURE(p->def.distance == 0.02);
    p++;
    ENSURE(p->def.kind == EMBIPC_WELD && !p->def.limited && p->def.stiffness == 0);
    p++;
    ENSURE(p->def.limited && p->def.limits[1] == HUGE_VAL);
    ENSURE_CLOSE(p->def.twist, 30 * SCENE_DEGREE, 1e-15);
    scene_free(&s);
}

static void test_joint_ranges(void)
{
#define HINGE "\"hinge\",\"a\":\"base\",\"b\":\"arm\",\"point\":[0,0,0],\"axis\":[0,1,0]"
#define SLIDE "\"slider\",\"b\":\"arm\",\"point\":[0,0,0],\"axis\":[0,1,0]"
#define SWIVEL "\"ball\",\"b\":\"arm\",\"point\":[0,0,0]"
#define HELD_BY "\"attach\",\"b\":\"arm\""
    ENSURE(joints_refused("{}",
                          "s.json:8: scene: key \"joints\": found an object of 0 keys, expected an array of joints"));
    ENSURE(joints_refused("[1]", "\"joints\": found 1, expected an object"));
    ENSURE(joints_refused("[{}]",
                          "\"joints\": found no key \"kind\", expected ball, hinge, slider, weld, rod or attach"));
    ENSURE(joint_refused("\"hing\"", "found key \"kind\": \"hing\" (did you mean \"hinge\"?)"));
    ENSURE(joint_refused("\"hinge\",\"axle\":1", "found the unknown key \"axle\" (did you mean \"axis\"?)"));
    ENSURE(joint_refused(HINGE ",\"limits\":[10,45]",
                         "key \"limits\": found an array of 2 values, expected 0 between them"));
    ENSURE(joint_refused(SLIDE ",\"limits\":[null,-1]", "expected 0 between them"));
    ENSURE(joint_refused("\"hinge\"", "found no key \"b\", expected the name of a body"));
    ENSURE(joint_refused("\"hinge\",\"b\":3", "key \"b\": found 3, expected the name of a body"));
    ENSURE(joint_refused("\"hinge\",\"b\":\"arn\"",
                         "found key \"b\": \"arn\" (did you mean \"arm\"?), expected base, arm, soft or ball"));
    ENSURE(joint_refused("\"hinge\",\"a\":\"bas\",\"b\":\"arm\"", "found key \"a\": \"bas\" (did you mean \"base\"?)"));
    ENSURE(joint_refused("\"hinge\",\"b\":\"many 2\"",
                         "found the string \"many 2\", expected a body without \"repeat\""));
    ENSURE(joint_refused("\"hinge\",\"b\":\"many\"", "found the string \"many\", expected a body without \"repeat\""));
    ENSURE(joint_refused("\"hinge\",\"b\":\"arm\"", "found no key \"point\", expected a point [x, y, z]"));
    ENSURE(joint_refused("\"rod\",\"b\":\"arm\",\"point\":[0,0,0]", "found no key \"point_b\", expected a point"));
    ENSURE(joint_refused("\"slider\",\"b\":\"arm\",\"point\":[0,0,0]", "found no key \"axis\", expected a direction"));
    ENSURE(joint_refused(SWIVEL ",\"limits\":30", "found no key \"axis\", expected a direction"));
    ENSURE(joint_refused("\"hinge\",\"b\":\"arm\",\"point\":[0,0],\"axis\":[0,1,0]",
                         "key \"point\": found an array of 2"));
    ENSURE(joint_refused("\"hinge\",\"b\":\"arm\",\"point\":[0,0,0],\"axis\":[0,0,0]",
                         "expected a direction, not 0, 0, 0"));
    ENSURE(joint_refused(HINGE ",\"point_b\":[0,0,0]",
                         "key \"point_b\": found an array of 3 values, expected no such key for kind hinge"));
    ENSURE(joint_refused(HINGE ",\"select\":{}", "expected no such key for kind hinge"));
    ENSURE(joint_refused(HINGE ",\"twist\":1", "expected no such key for kind hinge"));
    ENSURE(joint_refused(SWIVEL ",\"twist\":1", "found no key \"axis\", expected a direction"));
    ENSURE(joint_refused(SWIVEL ",\"axis\":[1,0,0],\"twist\":180", "expected an angle between 0 and 180 degrees"));
    ENSURE(joint_refused(SWIVEL ",\"friction\":1", "expected no such key for kind ball"));
    ENSURE(joint_refused(SWIVEL ",\"motor\":{}", "expected no such key for kind ball"));
    ENSURE(joint_refused("\"weld\",\"b\":\"arm\",\"point\":[0,0,0],\"axis\":[0,1,0]",
                         "expected no such key for kind weld"));
    ENSURE(joint_refused("\"weld\",\"b\":\"arm\",\"point\":[0,0,0],\"limits\":[0,1]",
                         "expected no such key for kind weld"));
    ENSURE(joint_refused(HELD_BY ",\"point\":[0,0,0]", "expected no such key for kind attach"));
    ENSURE(joint_refused(HELD_BY ",\"distance\":-1", "key \"distance\""));
    ENSURE(joint_refused(HELD_BY ",\"select\":{}", "found no key \"box\""));
    ENSURE(joint_refused(HELD_BY ",\"select\":{\"bx\":1}", "(did you mean \"box\"?)"));
    ENSURE(joint_refused(HINGE ",\"friction\":-1", "key \"friction\": found -1, expected a number >= 0"));
    ENSURE(joint_refused(HINGE ",\"stiffness\":0", "key \"stiffness\": found 0, expected a number > 0"));
    ENSURE(joint_refused(HINGE ",\"contact\":1", "key \"contact\": found 1, expected true or false"));
    ENSURE(joint_refused(HINGE ",\"limits\":3", "key \"limits\": found 3, expected [least, greatest] in degrees"));
    ENSURE(joint_refused(HINGE ",\"limits\":[0]", "key \"limits\": found an array of 1 value"));
    ENSURE(joint_refused(HINGE ",\"limits\":[null,1]",
                         "key \"limits\": found null, expected [least, greatest] in degrees"));
    ENSURE(joint_refused(SLIDE ",\"limits\":[0,\"x\"]",
                         "found the string \"x\", expected [least, greatest] in m, null for none"));
    ENSURE(joint_refused(SWIVEL ",\"axis\":[0,0,1],\"limits\":[-3,30]",
                         "key \"limits\": found -3, expected the largest angle, or [0, largest"));
#define MOTOR HINGE ",\"motor\":"
    ENSURE(joint_refused(MOTOR "1", "\"joints\": key \"motor\": found 1, expected an object"));
    ENSURE(joint_refused(MOTOR "{}", "found no key \"stiffness\", expected \"stiffness\", \"damping\" or \"effort\""));
    ENSURE(joint_refused(MOTOR "{\"power\":1}", "found the unknown key \"power\""));
    ENSURE(joint_refused(MOTOR "{\"stiffness\":-1}", "key \"stiffness\": found -1, expected a number >= 0"));
    ENSURE(joint_refused(MOTOR "{\"damping\":-1}", "key \"damping\": found -1, expected a number >= 0"));
    ENSURE(joint_refused(MOTOR "{\"damping\":1,\"limit\":0}", "key \"limit\": found 0, expected a number > 0"));
    ENSURE(joint_refused(MOTOR "{\"damping\":1,\"position\":1}",
                         "expected no such key for a motor without \"stiffness\""));
    ENSURE(joint_refused(MOTOR "{\"damping\":1,\"keys\":[[0,1]]}",
                         "expected no such key for a motor without \"stiffness\""));
    ENSURE(joint_refused(MOTOR "{\"stiffness\":1,\"velocity\":1}",
                         "expected no such key for a motor without \"damping\""));
    ENSURE(joint_refused(MOTOR "{\"effort\":1,\"limit\":1}",
                         "expected no such key for a motor without \"stiffness\" and \"damping\""));
    ENSURE(joint_refused(MOTOR "{\"stiffness\":1,\"position\":1,\"keys\":[[0,1]]}",
                         "either \"keys\" or \"position\", not both"));
    ENSURE(joint_refused(MOTOR "{\"stiffness\":1,\"damping\":1,\"velocity\":1,\"keys\":[[0,1]]}",
                         "expected no such key beside \"keys\""));
    ENSURE(joint_refused(MOTOR "{\"stiffness\":1,\"effort\":\"x\"}",
                         "key \"effort\": found the string \"x\", expected a number"));
    ENSURE(joint_refused(MOTOR "{\"stiffness\":1,\"keys\":[]}",
                         "found an array of 0 values, expected rows of 2 numbers: time, position"));
    ENSURE(joint_refused(MOTOR "{\"stiffness\":1,\"keys\":[[0,1,2]]}",
                         "found an array of 3 values, expected rows of 2"));
    ENSURE(joint_refused(MOTOR "{\"stiffness\":1,\"keys\":[[0,null]]}", "key \"keys\": found null"));
    ENSURE(joint_refused(MOTOR "{\"stiffness\":1,\"keys\":[[1,1],\n[1,1]]}",
                         "s.json:9: \"joints\": key \"keys\": found 1, expected a time later"));
}

/* part of a message, at its beginning */
static int begins(const char *text, const char *part)
{
    scene s;
    tool_error e;
    int ok = parse(&s, text, &e);
    scene_free(&s);
    return !ok && strncmp(e.text, part, strlen(part)) == 0;
}

static void test_mesh_refusals(void)
{
    ENSURE(body_refused("\"kind\":\"fixed\",\"mesh\":\"no.obj\"", "dir/no.obj: cannot be opened"));
    ENSURE(body_refused("\"kind\":\"fixed\",\"mesh\":\"no.obj\"", "(named by dir/s.json:2: body \"a\": key "
                                                                  "\"mesh\")"));
    ENSURE(begins("{\"version\":1,\"bodies\":[{\"name\":\"a\",\"kind\":\"fixed\",\"mesh\":\"/no.obj\"}]}",
                  "/no.obj: cannot be opened"));
    ENSURE(body_refused("\"kind\":\"fixed\",\"mesh\":\"a.xyz\"", "found an unknown kind of file"));
    ENSURE(body_refused("\"kind\":\"fixed\",\"mesh\":\"a.obj\",\"resolution\":3", "expected no such key for "
                                                                                  "a mesh file"));
    ENSURE(body_refused("\"kind\":\"fixed\",\"mesh\":7", "key \"mesh\": found 7, expected the name of a mesh "
                                                         "file"));
    ENSURE(body_refused("\"kind\":\"cage\",\"shape\":\"bear\",\"cage\":\"no.msh\"", "dir/no.msh: cannot be "
                                                                                    "opened"));
}

/* ---- Building ------------------------------------------------------------------------------- */

static int build(scene *s, const char *text, embipc_world **world, tool_error *e)
{
    *world = NULL;
    return parse(s, text, e) && scene_build(s, world, e);
}

/* Poses, drives and pairs arrive in the world. */
static void test_build(void)
{
    scene s;
    tool_error e;
    embipc_world *world;
    embipc_body_view view;
    embipc_body_state state;
    double lo = HUGE_VAL, hi = -HUGE_VAL;
    e.text[0] = 0;
    if (!build(&s, sample, &world, &e)) {
        printf("  %s\n", e.text);
        ENSURE(world != NULL);
        scene_free(&s);
        return;
    }
    ENSURE(embipc_world_body_count(world) == 3 && scene_index_of(&s, embipc_world_body(world, 2)) == 2);
    ENSURE(embipc_body_get_view(world, s.body[1].handle, &view) == EMBIPC_OK
           && strcmp(view.name, "soft") == 0);
    for (int i = 0; i < view.vertex_count; i++) {   /* the long side, 0.2 m halved, lies along y now */
        lo = fmin(lo, view.x[3 * i + 1]);
        hi = fmax(hi, view.x[3 * i + 1]);
    }
    ENSURE_CLOSE(lo, -0.05, 1e-12);
    ENSURE_CLOSE(hi, 0.05, 1e-12);
    ENSURE(embipc_body_get_state(world, s.body[1].handle, &state) == EMBIPC_OK);
    ENSURE_CLOSE(state.mass, 900 * 0.1 * 0.05 * 0.05, 1e-12);
    ENSURE_CLOSE(state.velocity[2], -1, 1e-12);
    ENSURE_CLOSE(state.angular_velocity[0], 3, 1e-12);
    ENSURE_CLOSE(state.angular_velocity[2], 0.5, 1e-12);
    for (int k = 0; k < 3; k++) ENSURE(s.body[1].surface_velocity[k] == (k == 0 ? 0.1 : k == 1 ? 0 : 0.2));
    embipc_world_destroy(world);
    scene_free(&s);
}

/* A driven end of a beam goes where its keys say; its rotation is about the middle of the whole body. */
static void test_drive_pose(void)
{
    static const char text[] = "{\"version\":1,\"time_step\":0.05,\"gravity\":[0,0,0],\"bodies\":[{\"name\":"
                               "\"beam\",\"kind\":\"full\",\"shape\":\"box\",\"size\":[0.4,0.1,0.1],"
                               "\"resolution\":4,\"position\":[1,2,3],\"drive\":[{\"select\":{\"box\":[[1.15,"
                               "1,2],[2,3,4]]},\"keys\":[[0,0,0,0],[0.1,0.02,0,0,0,0,10]]}]}]}";
    scene s;
    tool_error e;
    embipc_world *world;
    embipc_body_view view;
    int driven = 0;
    double *start, c = cos(10 * SCENE_DEGREE), t = sin(10 * SCENE_DEGREE);
    ENSURE(build(&s, text, &world, &e));
    if (!world) { printf("  %s\n", e.text); scene_free(&s); return; }
    embipc_body_get_view(world, s.body[0].handle, &view);
    start = (double *)malloc((size_t)view.node_count * 3 * sizeof *start);
    if (!start) exit(1);
    memcpy(start, view.q, (size_t)view.node_count * 3 * sizeof *start);
    for (int i = 0; i < 2; i++) ENSURE(embipc_world_step(world, NULL) == EMBIPC_OK);
    for (int i = 0; i < view.node_count; i++) {
        const double *a = start + 3 * i, *b = view.q + 3 * i;
        if (a[0] < 1.15) continue;
        driven++;
        ENSURE_CLOSE(b[0], 1 + 0.02 + c * (a[0] - 1) - t * (a[1] - 2), 1e-9);
        ENSURE_CLOSE(b[1], 2 + t * (a[0] - 1) + c * (a[1] - 2), 1e-9);
        ENSURE_CLOSE(b[2], a[2], 1e-9);
    }
    ENSURE(driven > 3 && driven < view.node_count);
    free(start);
    embipc_world_destroy(world);
    scene_free(&s);
}

/* A soft drive arrives with all it has, and its box selects surface vertices, of an affine body too. */
static void test_soft_drive(void)
{
    static const char text[] = "{\"version\":1,\"time_step\":0.01,\"gravity\":[0,0,-10],\"bodies\":[{\"name\":\"box\",\"kind\":\"affine\","
                               "\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"resolution\":1,\"material\":{\"density\":1000},"
                               "\"drive\":[{\"select\":{\"box\":[[-1,-1,0],[1,1,1]]},\"keys\":[[0,0,0,0],[0.1,0,0,0.5]],"
                               "\"stiffness\":[0,0,400],\"damping\":0.05,\"force_limit\":30}]}]}";
    scene s;
    tool_error e;
    embipc_world *world;
    embipc_drive_state d;
    ENSURE(build(&s, text, &world, &e));
    if (!world) { printf("  %s\n", e.text); scene_free(&s); return; }
    ENSURE(s.drive[0].stiffness[0] == 0 && s.drive[0].stiffness[2] == 400 && s.drive[0].damping == 0.05 && s.drive[0].force_limit == 30);
    for (int i = 0; i < 12; i++) ENSURE(embipc_world_step(world, NULL) == EMBIPC_OK);
    (void)embipc_drive_get_state(world, s.drive[0].handle, &d);
    ENSURE(d.limited == 4);   /* the upper vertices, at 30 N together: 20 m/s^2 upward, no turn */
    ENSURE_CLOSE(d.force[2], 30, 1e-9);
    ENSURE(fabs(d.force[0]) + fabs(d.force[1]) + fabs(d.torque[0]) + fabs(d.torque[1]) < 1e-9);
    embipc_world_destroy(world);
    scene_free(&s);
}

static void test_build_refusals(void)
{
    static const char crossing[] =
        "{\"version\":1,\"bodies\":[{\"name\":\"a\",\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[1,1,1]},\n"
        "{\"name\":\"b\",\"kind\":\"full\",\"shape\":\"box\",\"size\":[1,1,1],\"position\":[0.4,0.3,0.45]}]}";
    static const char nothing[] =
        "{\"version\":1,\"bodies\":[{\"name\":\"a\",\"kind\":\"full\",\"shape\":\"box\",\"size\":[1,1,1],\n"
        "\"drive\":[\n{\"select\":{\"box\":[[5,5,5],[6,6,6]]},\"keys\":[[0,0,0,0]]}]}]}";
    scene s;
    tool_error e;
    embipc_world *world;
    ENSURE(!build(&s, crossing, &world, &e) && !world);
    ENSURE(strstr(e.text, "s.json:2: body \"b\": ") && strstr(e.text, "meets triangle")
           && strstr(e.text, "of \"a\""));
    scene_free(&s);
    ENSURE(!build(&s, nothing, &world, &e) && !world);
    ENSURE(strstr(e.text, "s.json:3: body \"a\": drive: found no node in the box"));
    scene_free(&s);
}

/* Is this scene, with these joints, read and then refused as it is built? */
static int build_refused(const char *joints, const char *part)
{
    char text[4096];
    scene s;
    tool_error e;
    embipc_world *world;
    int fine;
    snprintf(text, sizeof text,
             "%s\"joints\":[{\"kind\":\"weld\",\"a\":\"base\",\"b\":\"arm\",\"point\":[0,0,0]},\n%s]}", linked, joints);
    e.text[0] = 0;
    fine = parse(&s, text, &e) && !scene_build(&s, &world, &e) && strstr(e.text, part);
    if (!fine) printf("  %s\n  (wanted %s)\n", e.text, part);
    scene_free(&s);
    return fine;
}

/* What the library says of a joint comes with its line. */
static void test_joint_build_refusals(void)
{
    ENSURE(build_refused("{\"kind\":\"weld\",\"a\":\"arm\",\"b\":\"base\",\"point\":[0,0,0]}",
                         "s.json:9: joint: body \"base\": body b of a joint must not be fixed"));
    ENSURE(build_refused("{\"kind\":\"weld\",\"a\":\"arm\",\"b\":\"arm\",\"point\":[0,0,0]}",
                         "s.json:9: joint: body \"arm\": a joint links two bodies, not one with itself"));
    ENSURE(build_refused("{\"kind\":\"weld\",\"b\":\"arm\",\"point\":[1e6,0,0]}",
                         "s.json:9: joint: body \"arm\": a joint's point is"));
    ENSURE(build_refused("{\"kind\":\"attach\",\"b\":\"soft\",\"select\":{\"box\":[[5,5,5],[6,6,6]]}}",
                         "s.json:9: joint: found no vertex of \"soft\" in the box of \"select\", expected at least one"));
}

/* Joints arrive in the world: bodies that one links without contact may overlap; a box selects vertices of b; keys of a
 * motor hold before each step, and their slope too. */
static void test_joint_build(void)
{
    char text[4096];
    scene s;
    tool_error e;
    embipc_world *world;
    embipc_pair_parameters pair;
    embipc_body_view view;
    int held = 0, sagging = 0;
    snprintf(text, sizeof text, "%s\"gravity\":[0,0,-0.5],\"joints\":[\n"
             "{\"kind\":\"slider\",\"a\":\"base\",\"b\":\"arm\",\"point\":[0.04,0,0],\"axis\":[-1,0,0],"
             "\"motor\":{\"stiffness\":1e7,\"damping\":1e3,\"keys\":[[0.05,0],[0.15,0.1],[0.2,0.08]]}},\n"
             "{\"kind\":\"attach\",\"b\":\"soft\",\"select\":{\"box\":[[0,-1,-1],[0.26,1,1]]}},\n"
             "{\"kind\":\"weld\",\"b\":\"ball\",\"contact\":true,\"point\":[0.3,0,-0.2]}]}", linked);
    ENSURE(build(&s, text, &world, &e));
    if (!world) { printf("  %s\n", e.text); scene_free(&s); return; }
    ENSURE(embipc_world_get_pair(world, s.body[0].handle, s.body[1].handle, &pair) == EMBIPC_OK && !pair.contact);
    ENSURE(embipc_world_get_pair(world, s.body[0].handle, s.body[3].handle, &pair) == EMBIPC_OK && pair.contact);
    for (int n = 1; n <= 30; n++) {
        embipc_joint_state j;
        double t = 0.01 * n, to = t < 0.05 ? 0 : t < 0.15 ? t - 0.05 : t < 0.2 ? 0.1 - 0.4 * (t - 0.15) : 0.08;
        double slope = n <= 5 ? 0 : n <= 15 ? 1 : n <= 20 ? -0.4 : 0;
        ENSURE(scene_steer(&s, world, &e) && embipc_world_step(world, NULL) == EMBIPC_OK);
        (void)embipc_joint_get_state(world, s.joint[0].handle, &j);
        ENSURE_CLOSE(j.position, to, 1e-5);
        ENSURE_CLOSE(j.velocity, slope, 1e-3);
    }
    embipc_body_get_view(world, s.body[2].handle, &view);
    for (int i = 0; i < view.vertex_count; i++) {   /* of the soft bar one end is held, and the other sags */
        double sag = 0.01 - fabs(view.x[3 * i + 2]);
        if (view.x[3 * i] < 0.26) { ENSURE(fabs(sag) < 1e-5); held++; }
        else if (fabs(sag) > 1e-4) sagging++;
    }
    ENSURE(held > 3 && sagging > 3);
    s.joint[0].keys[5] = 1e12;   /* what only the library refuses */
    ENSURE(!scene_steer(&s, world, &e) && strstr(e.text, "s.json:9: joint: motor at 0.3 s: body \"") && strstr(e.text, "position 1e+12"));
    embipc_world_destroy(world);
    scene_free(&s);
}

/* ---- Damage --------------------------------------------------------------------------------- */

/* ---- Repeated bodies ------------------------------------------------------------------------ */

static void test_repeat(void)
{
    scene s;
    tool_error e;
    embipc_world *w = NULL;
    double R[9], degrees[3];
    ENSURE(parse(&s, "{\"version\":1,\"bodies\":[" BODY ",\n{\"name\":\"b\",\"kind\":\"affine\",\"shape\":\"box\","
                 "\"size\":[0.1,0.1,0.1],\"position\":[1,2,3],\"rotation\":[0,0,10],\"friction\":0.3,\n"
                 "\"repeat\":{\"count\":[2,1,3],\"spacing\":[0.5,7,0.25],\"turn\":[0,20,5]}},\n"
                 "{\"name\":\"c\",\"kind\":\"affine\",\"shape\":\"ball\",\"radius\":0.05,\"position\":[0,0,1]}],"
                 "\"pairs\":[{\"bodies\":[\"b 6\",\"c\"],\"contact\":false}]}", &e));
    ENSURE(s.body_count == 8);
    if (test_bad) { printf("  %s\n", e.text); return; }
    for (int n = 0; n < 6; n++) {
        const scene_body *b = &s.body[1 + n];
        char name[16];
        snprintf(name, sizeof name, "b %d", n + 1);
        ENSURE(strcmp(b->name, name) == 0 && b->repeated == n + 1 && b->def.friction == 0.3 && b->line == 2);
        ENSURE(b->def.x == s.body[1].surface.x && (b->surface.x != NULL) == (n == 0));
        ENSURE(b->def.position[0] == 1 + 0.5 * (n % 2) && b->def.position[1] == 2 && b->def.position[2] == 3 + 0.25 * (n / 2));
        degrees[0] = 0; degrees[1] = 20 * n; degrees[2] = 10 + 5 * n;
        scene_rotation(R, degrees);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(b->def.rotation[i], R[i], 1e-15);
    }
    ENSURE(strcmp(s.body[7].name, "c") == 0 && s.body[7].repeated == 0 && s.body[7].surface.node_count == 162);
    ENSURE(s.pair_count == 1 && s.pair[0].a == 6 && s.pair[0].b == 7);
    ENSURE(scene_build(&s, &w, &e) && embipc_world_body_count(w) == 8);
    embipc_world_destroy(w);
    scene_free(&s);
}

#define MANY "\"kind\":\"affine\",\"shape\":\"box\",\"size\":[1,1,1],"

/* Bodies without names are numbered as they stand in the file, and copies count from there. */
static void test_numbered(void)
{
    static const char *const name[] = { "a", "body 2 1", "body 2 2", "body 3" };
    scene s;
    tool_error e;
    ENSURE(parse(&s, "{\"version\":1,\"bodies\":[" BODY ",{\"kind\":\"affine\",\"shape\":\"ball\",\"radius\":1,"
                     "\"repeat\":{\"count\":[2,1,1]}},{\"kind\":\"fixed\",\"shape\":\"plane\"}],"
                     "\"pairs\":[{\"bodies\":[\"body 3\",\"body 2 2\"],\"contact\":false}]}", &e));
    ENSURE(s.body_count == 4 && s.pair_count == 1 && s.pair[0].a == 3 && s.pair[0].b == 2);
    for (int i = 0; i < 4 && i < s.body_count; i++) ENSURE(strcmp(s.body[i].name, name[i]) == 0);
    scene_free(&s);
}

static void test_repeat_refusals(void)
{
    char text[512];
    ENSURE(body_refused(MANY "\"repeat\":{}", "found no key \"count\""));
    ENSURE(body_refused(MANY "\"repeat\":3", "an object"));
    ENSURE(body_refused(MANY "\"repeat\":{\"count\":[1,2]}", "an array of 3"));
    ENSURE(body_refused(MANY "\"repeat\":{\"count\":[1,2,0]}", "from 1 to 10000"));
    ENSURE(body_refused(MANY "\"repeat\":{\"count\":[1,2.5,1]}", "whole numbers"));
    ENSURE(body_refused(MANY "\"repeat\":{\"count\":[100,100,2]}", "at most 10000"));
    ENSURE(body_refused(MANY "\"repeat\":{\"count\":[1,1,2],\"spacings\":[0,0,1]}", "did you mean \"spacing\""));
    ENSURE(body_refused("\"kind\":\"kinematic\",\"shape\":\"plane\",\"drive\":[{\"keys\":[[0,0,0,0]]}],\"repeat\":{\"count\":[1,1,2]}",
                        "no drive"));
    snprintf(text, sizeof text, "{\"version\":1,\"bodies\":[{\"name\":\"a 2\",\"kind\":\"fixed\",\"shape\":\"plane\"},\n"
             "{\"name\":\"a\"," MANY "\"repeat\":{\"count\":[1,1,2]}}]}");
    ENSURE(refused(text, "no other body has"));
    snprintf(text, sizeof text, "{\"version\":1,\"bodies\":[{\"name\":\"%058d\"," MANY "\"repeat\":{\"count\":[1,1,2]}}]}", 0);
    ENSURE(refused(text, "57 characters"));
}

static void test_mutations(void)
{
    static const char small[] =
        "{\"version\":1,\"time_step\":0.02,\"gravity\":[0,0,-9.81],\"contact\":{\"dhat\":1e-3},\"solver\":{"
        "\"linear\":\"cg\"},\"bodies\":[\n"
        "{\"name\":\"a\",\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[1,1,0.1],\"friction\":1},\n"
        "{\"name\":\"b\",\"kind\":\"cage\",\"shape\":\"box\",\"size\":[0.2,0.1,0.1],\"rotation\":[0,0,90],"
        "\"material\":{\"young\":5e4,\"damping\":[0,0]},"
        "\"drive\":[{\"select\":{\"box\":[[0,0,0],[1,1,1]]},\"keys\":[[0,0,0,0],[1,0,0,0,0,0,9]]}]}],"
        "\"pairs\":[{\"bodies\":[\"a\",\"b\"],\"contact\":false}],"
        "\"joints\":[{\"kind\":\"hinge\",\"a\":\"a\",\"b\":\"b\",\"point\":[0,0,0],\"axis\":[0,1,0],\"limits\":[-1,1],"
        "\"motor\":{\"stiffness\":1,\"keys\":[[0,0],[1,9]]}}]}";
    int accepted = 0;
    for (int i = 0; i < 20000; i++) {
        scene s;
        tool_error e;
        size_t n;
        char *text = mutate(small, strlen(small), &n);
        if (scene_parse(&s, "s.json", text, n, &e)) accepted++;
        else ENSURE(strncmp(e.text, "s.json:", 7) == 0 || strstr(e.text, "(named by s.json:"));
        scene_free(&s);
        free(text);
    }
    ENSURE(accepted > 20 && accepted < 15000);
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(world_keys);
    RUN(body_keys);
    RUN(rotation);
    RUN(tet_factors);
    RUN(unknown_keys);
    RUN(root_ranges);
    RUN(body_ranges);
    RUN(material_ranges);
    RUN(lagged_arap);
    RUN(drive_ranges);
    RUN(mesh_refusals);
    RUN(build);
    RUN(drive_pose);
    RUN(soft_drive);
    RUN(build_refusals);
    RUN(joint_keys);
    RUN(joint_ranges);
    RUN(joint_build_refusals);
    RUN(joint_build);
    RUN(repeat);
    RUN(numbered);
    RUN(repeat_refusals);
    RUN(mutations);
    return test_end(__FILE__);
}
