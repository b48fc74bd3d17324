/* `embipc run` as a function: its files to the column and the row, its exit codes, and an interrupt. */
#include "../tools/system.c"   /* first: it asks libc for POSIX */
#include "../embipc.h"
#include "test.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/shapes.h"
#include "../tools/scene.h"
#include "../tools/output.h"
#include "../tools/report.h"
#include "../tools/png.h"
#include "../tools/view.h"
#include "../tools/run.c"

static int pictures, films, sheets;
static double last_moment;

/* these stand in for picture.c, which has the rasteriser below it */
int picture_write(const char *path, const scene *s, const embipc_world *world, tool_error *e)
{
    (void)path; (void)s; (void)world; (void)e;
    pictures++;
    return 1;
}

int picture_film_add(picture_film *film, const char *directory, const scene *s, const embipc_world *world,
                     tool_error *e)
{
    (void)directory; (void)s; (void)world; (void)e;
    films = ++film->count;
    return 1;
}

static int animated;
static double animated_seconds;
int picture_sheet_animate(const picture_sheet *sheet, const char *path, const scene *s, const embipc_world *world,
                          double seconds, tool_error *e)
{
    (void)path; (void)s; (void)world; (void)e;
    animated = sheet->count;
    animated_seconds = seconds;
    return 1;
}

void picture_sheet_add(picture_sheet *sheet, const scene *s, const embipc_world *world)
{
    (void)s;
    sheet->count++;
    last_moment = embipc_world_time(world);
}

int picture_sheet_write(const picture_sheet *sheet, const char *path, const scene *s, const embipc_world *world,
                        tool_error *e)
{
    (void)path; (void)s; (void)world; (void)e;
    sheets = sheet->count;
    return 1;
}

int picture_sheet_fits(const picture_sheet *sheet, const char *path, int moments, tool_error *e)
{
    (void)sheet; (void)path; (void)moments; (void)e;
    return 1;
}
void picture_sheet_free(picture_sheet *sheet) { memset(sheet, 0, sizeof *sheet); }

void picture_view(double from[3], const scene *s, const embipc_world *world)
{
    (void)s; (void)world;
    from[0] = 0; from[1] = -2; from[2] = 2;
}
void picture_body_colour(double rgb[3], embipc_kind kind, int number)
{
    rgb[0] = rgb[1] = rgb[2] = kind == EMBIPC_FIXED || number < 0 ? 0.5 : 0.6;
}

/* a place for files, its own for each test */
static const char *place(const char *name)
{
    static char path[1024];
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/embipc_test_tool_run/%s", tmp && *tmp ? tmp : "/tmp", name);
    return path;
}

static char *read_all(const char *directory, const char *name)
{
    char path[1200];
    size_t size;
    tool_error e;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return tool_read_file(path, (size_t)1 << 24, &size, &e);
}

static int begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

static int count_lines(const char *text)
{
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

enum { CELLS = 20 };   /* more than any table has */
/* Line number `line` (0 is the header) cut into cells; returns their number. */
static int cells(const char *text, int line, char cell[CELLS][64])
{
    int n = 0, at = 0;
    memset(cell, 0, CELLS * sizeof *cell);
    for (; line > 0 && *text; text++) line -= *text == '\n';
    for (; *text && *text != '\n' && n < CELLS; text++) {
        if (*text == ',') { n++; at = 0; }
        else if (at < 63) cell[n][at++] = *text;
    }
    return n + 1;
}

/* Two boxes on the ground within reach of its barrier, at rest from the start. */
static const char scene_text[] = "{\"version\":1,\"time_step\":0.01,\"duration\":0.2,\"bodies\":[{\"name\":"
                                 "\"ground\",\"kind\":\"fixed\",\"shape\":\"plane\",\"friction\":1},"
                                 "{\"name\":\"one\",\"kind\":\"full\",\"shape\":\"box\",\"size\":[0.1,0.1,0."
                                 "1],\"resolution\":2,\"position\":[0,0,0.0501],\"friction\":1},"
                                 "{\"name\":\"far "
                                 "away\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],"
                                 "\"position\":[1,0,2],\"velocity\":[1,0,0]}]}";

/* Writes the scene into the directory and runs it there. */
static int run_in(const char *directory, run_options *o)
{
    char path[1200];
    tool_text t = { NULL, 0, 0 };
    tool_error e;
    int code;
    system_make_directories(directory);
    snprintf(path, sizeof path, "%s/scene.json", directory);
    tool_put(&t, "%s", scene_text);
    if (!output_file(path, &t, &e)) { printf("  %s\n", e.text); return -1; }
    tool_text_free(&t);
    o->scene = path;
    o->out = directory;
    o->quiet = 1;
    if (!o->every) o->every = 1;
    code = run_scene(o);
    return code;
}

static void test_files(void)
{
    char cell[CELLS][64], directory[1024], *text;
    run_options o;
    int steps = 20;
    memset(&o, 0, sizeof o);
    strcpy(directory, place("files"));
    ENSURE(run_in(directory, &o) == 0);
    text = read_all(directory, "steps.csv");
    ENSURE(begins(text, "step,time_s,wall_ms,newton_iterations,factorizations,contacts,min_distance_m,"
                        "kinetic_J,elastic_J,barrier_J,potential_J,max_speed_mps,converged,drive_short_m\n"));
    if (!text) return;
    ENSURE(count_lines(text) == steps + 2 && text[strlen(text) - 1] == '\n');
    for (int i = 0; i <= steps; i++) {
        ENSURE(cells(text, i + 1, cell) == 14 && atoi(cell[0]) == i);
        ENSURE_CLOSE(atof(cell[1]), 0.01 * i, 1e-12);
        for (int k = 0; k < 14; k++) {   /* what a start cannot know is empty, and nothing else */
            int unknown = i == 0 && ((k >= 2 && k <= 6) || k == 9 || k >= 12);
            ENSURE((cell[k][0] == 0) == unknown);
        }
        ENSURE(i == 0 || strcmp(cell[12], "1") == 0);
    }
    cells(text, 1, cell);
    ENSURE_CLOSE(atof(cell[7]), 0.5 * 1000 * 1e-3, 1e-9);                      /* kinetic: 1 kg at 1 m/s */
    ENSURE_CLOSE(atof(cell[10]), 9.81 * (0.0501 + 2), 1e-9);                   /* potential */
    ENSURE_CLOSE(atof(cell[11]), 1, 1e-9);                                     /* fastest vertex */
    free(text);
}

static void test_forces_and_bodies(void)
{
    char cell[CELLS][64], directory[1024], *text;
    run_options o;
    int rows;
    memset(&o, 0, sizeof o);
    o.has_duration = 1;
    o.duration = 1;
    strcpy(directory, place("forces"));
    ENSURE(run_in(directory, &o) == 0);
    text = read_all(directory, "forces.csv");
    ENSURE(begins(text, "step,time_s,body_a,body_b,fx_N,fy_N,fz_N,friction_fx_N,"
                        "friction_fy_N,friction_fz_N\n"));
    if (!text) return;
    rows = count_lines(text) - 1;
    ENSURE(rows > 0 && cells(text, rows, cell) == 10);
    ENSURE(strcmp(cell[2], "ground") == 0);
    for (int i = rows; i > 0 && strcmp(cell[3], "one") != 0; i--) cells(text, i, cell);
    ENSURE(strcmp(cell[3], "one") == 0);
    ENSURE_REL(atof(cell[6]), -9.81, 0.02);   /* of b on a: the box presses the ground down with its weight */
    free(text);
    text = read_all(directory, "bodies.csv");
    ENSURE(begins(text, "step,time_s,body,cx_m,cy_m,cz_m,vx_mps,vy_mps,vz_mps,wx_radps,wy_radps,wz_radps\n"));
    if (!text) return;
    ENSURE(count_lines(text) == 1 + 3 * 101);
    ENSURE(cells(text, 3, cell) == 12 && strcmp(cell[0], "0") == 0 && strcmp(cell[2], "far away") == 0);
    ENSURE_CLOSE(atof(cell[5]), 2, 1e-9);
    ENSURE_CLOSE(atof(cell[6]), 1, 1e-9);
    ENSURE(cells(text, 3 * 101, cell) == 12 && strcmp(cell[0], "100") == 0);
    free(text);
}

static embipc_world *world_of(scene *s, const char *text)
{
    embipc_world *world = NULL;
    tool_error e;
    e.text[0] = 0;
    ENSURE(scene_parse(s, "s.json", text, strlen(text), &e) && scene_build(s, &world, &e));
    if (!world) printf("  %s\n", e.text);
    return world;
}

/* Every column holds what its header says: made-up numbers go in and come back in their places. */
static void test_columns(void)
{
    char cell[CELLS][64], directory[1024], *text;
    scene s;
    embipc_world *world;
    embipc_step_stats stats;
    embipc_pair_force pair;
    output o;
    tool_error e;
    strcpy(directory, place("columns"));
    if (!(world = world_of(&s, scene_text))) return;
    memset(&stats, 0, sizeof stats);
    memset(&pair, 0, sizeof pair);
    stats.step = 1; stats.time = 2; stats.newton_iterations = 4; stats.factorizations = 5; stats.contacts = 6;
    stats.min_distance = HUGE_VAL;
    stats.kinetic = 8;
    stats.elastic = 9;
    stats.barrier = 10;
    stats.potential = 11;
    stats.max_speed = 12; stats.converged = 13; stats.drive_short = 0.1;
    pair.a = s.body[0].handle;
    pair.b = s.body[2].handle;
    for (int k = 0; k < 3; k++) { pair.force[k] = 5 + k; pair.friction[k] = 8 + k; }
    ENSURE(output_open(&o, directory, &e) && output_step(&o, &s, world, &stats, 3, &pair, 1, &e));
    output_close(&o);
    text = read_all(directory, "steps.csv");
    ENSURE(text && cells(text, 1, cell) == 14);
    for (int k = 0; k < 12; k++) ENSURE(k == 6 ? strcmp(cell[k], "inf") == 0 : atof(cell[k]) == k + 1);
    ENSURE(strcmp(cell[12], "1") == 0 && strcmp(cell[13], "0.10000000000000001") == 0);
    free(text);
    text = read_all(directory, "forces.csv");
    ENSURE(text && cells(text, 1, cell) == 10 && atof(cell[0]) == 1 && atof(cell[1]) == 2);
    ENSURE(strcmp(cell[2], "ground") == 0 && strcmp(cell[3], "far away") == 0);
    for (int k = 4; k < 10; k++) ENSURE(atof(cell[k]) == k + 1);
    free(text);
    embipc_world_destroy(world);
    scene_free(&s);
}

/* drives.csv: a box that a drive holds, with its weight, and one that a spring is told to pull, with 3 N at most */
static void test_drives(void)
{
    static const char text_of[] =
        "{\"version\":1,\"time_step\":0.01,\"bodies\":[{\"name\":\"held\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],"
        "\"material\":{\"density\":1000},\"drive\":[{\"keys\":[[0,0,0,0]]}]},"
        "{\"name\":\"pulled\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[1,0,0],\"material\":{\"density\":1000},"
        "\"drive\":[{\"keys\":[[0,0,0,5]],\"stiffness\":100,\"force_limit\":3}]}]}";
    char cell[CELLS][64], directory[1024], *text;
    scene s;
    embipc_world *world;
    embipc_step_stats stats;
    output o;
    tool_error e;
    strcpy(directory, place("drives"));
    if (!(world = world_of(&s, text_of))) return;
    ENSURE(embipc_world_step(world, &stats) == EMBIPC_OK);
    ENSURE(output_open(&o, directory, &e) && output_step(&o, &s, world, &stats, 3, NULL, 0, &e));
    output_close(&o);
    text = read_all(directory, "drives.csv");
    ENSURE(begins(text, "step,time_s,number,body,short_m,fx_N,fy_N,fz_N,tx_Nm,ty_Nm,tz_Nm,limited,blocked_by\n"));
    if (!text) return;
    ENSURE(count_lines(text) == 3);
    ENSURE(cells(text, 1, cell) >= 12 && strcmp(cell[2], "0") == 0 && strcmp(cell[3], "held") == 0 && atof(cell[4]) == 0);
    ENSURE_CLOSE(atof(cell[7]), 9.81, 1e-9);
    ENSURE(cells(text, 2, cell) >= 12 && strcmp(cell[2], "1") == 0 && strcmp(cell[3], "pulled") == 0);
    ENSURE_CLOSE(atof(cell[7]), 3, 1e-9);
    ENSURE(atof(cell[4]) > 4.9 && atoi(cell[11]) > 0);
    free(text);
    embipc_world_destroy(world);
    scene_free(&s);
}

/* joints.csv of a run against a world of the same scene: a hinge with a motor that follows keys, and a ball joint
 * below it; and what the report keeps: the largest gap, and joints as what carries a body. */
static void test_joints(void)
{
    static const char text_of[] =
        "{\"version\":1,\"time_step\":0.01,\"duration\":0.4,\"bodies\":["
        "{\"name\":\"arm\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.2,0.04,0.04],\"position\":[0.1,0,0]},"
        "{\"name\":\"hand\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.04,0.04,0.2],\"position\":[0.2,0,-0.1]}],"
        "\"joints\":[{\"kind\":\"hinge\",\"b\":\"arm\",\"point\":[0,0,0],\"axis\":[0,1,0],"
        "\"motor\":{\"stiffness\":1000,\"damping\":20,\"keys\":[[0,0],[0.2,-30]]}},"
        "{\"kind\":\"ball\",\"a\":\"arm\",\"b\":\"hand\",\"point\":[0.2,0,0]}]}";
    static const char *const kind[2] = {"hinge", "ball"}, *const a[2] = {"", "arm"}, *const b[2] = {"arm", "hand"};
    char cell[CELLS][64], directory[1024], path[1200], *text;
    tool_text t = { NULL, 0, 0 };
    run_options o;
    tool_error e;
    scene s;
    embipc_world *world;
    report r;
    double worst = 0, last = 0, up[2] = {0, 0};
    memset(&o, 0, sizeof o);
    strcpy(directory, place("joints"));
    system_make_directories(directory);
    snprintf(path, sizeof path, "%s/scene.json", directory);
    tool_put(&t, "%s", text_of);
    ENSURE(output_file(path, &t, &e));
    tool_text_free(&t);
    o.scene = path;
    o.out = directory;
    o.quiet = o.every = 1;
    ENSURE(run_scene(&o) == 0);
    text = read_all(directory, "joints.csv");
    ENSURE(begins(text,
        "step,time_s,number,kind,body_a,body_b,position,velocity,effort,fx_N,fy_N,fz_N,tx_Nm,ty_Nm,tz_Nm,gap_m,twist_rad\n"));
    if (!text || !(world = world_of(&s, text_of))) return;
    ENSURE(count_lines(text) == 1 + 2 * 40);
    report_init(&r);
    for (int n = 1; n <= 40; n++) {
        embipc_step_stats stats;
        ENSURE(scene_steer(&s, world, &e) && embipc_world_step(world, &stats) == EMBIPC_OK);
        report_step(&r, &s, &stats, 0, NULL, 0, n > 20);
        report_joints(&r, &s, world, stats.time, n > 20);
        for (int k = 0; k < 2; k++) {
            embipc_joint_state j;
            (void)embipc_joint_get_state(world, s.joint[k].handle, &j);
            worst = fmax(worst, j.gap);
            if (n > 20) up[k] += j.force[2];
            if (k == 0) last = j.position;
            ENSURE(cells(text, 2 * n - 1 + k, cell) == 17 && atoi(cell[0]) == n && atoi(cell[2]) == k);
            ENSURE_CLOSE(atof(cell[1]), 0.01 * n, 1e-12);
            ENSURE(strcmp(cell[3], kind[k]) == 0 && strcmp(cell[4], a[k]) == 0 && strcmp(cell[5], b[k]) == 0);
            ENSURE(atof(cell[6]) == j.position && atof(cell[7]) == j.velocity && atof(cell[8]) == j.effort);
            for (int i = 0; i < 3; i++) ENSURE(atof(cell[9 + i]) == j.force[i] && atof(cell[12 + i]) == j.torque[i]);
            ENSURE(atof(cell[15]) == j.gap && atof(cell[16]) == j.twist);
        }
    }
    ENSURE_CLOSE(last, -30 * 3.14159265358979 / 180, 0.01);
    ENSURE(r.gap_max == worst && worst > 0 && r.gap_time > 0 && (r.gap_joint == 0 || r.gap_joint == 1));
    ENSURE(r.sum_count == 3);
    for (int i = 0; i < r.sum_count; i++) {   /* a joint's partners get what its rows say, and its opposite */
        int joint = r.sum[i].partner - s.body_count;
        ENSURE((joint == 0 && r.sum[i].body == 0) || joint == 1);
        ENSURE_CLOSE(r.sum[i].force, joint == r.sum[i].body ? up[joint] : -up[joint], 1e-9);
    }
    ENSURE(up[0] > up[1] + 20 * 0.32 * 9.81 / 2 && up[1] > 0);
    report_free(&r);
    free(text);
    embipc_world_destroy(world);
    scene_free(&s);
}

/* The examples with joints: every step converges, nothing crosses, the arm has the ball in the air at 4 s, and puts it down
 * a quarter of a turn farther; of the bridge nothing touches the ground. */
static void test_joint_examples(void)
{
    static const char *const file[2] = {"examples/scenes/arm.json", "examples/scenes/bridge.json"};
    for (int k = 0; k < 2; k++) {
        char cell[CELLS][64], directory[1024], *text;
        run_options o;
        int ball = k ? 11 : 8, bodies = k ? 12 : 8, lines;
        memset(&o, 0, sizeof o);
        strcpy(directory, place(k ? "bridge" : "arm"));
        o.scene = file[k];
        o.out = directory;
        o.quiet = o.every = 1;
        ENSURE(run_scene(&o) == 0);
        text = read_all(directory, "steps.csv");
        if (!text) { ENSURE(!"steps.csv is there"); return; }
        lines = count_lines(text);
        for (int i = 2; i < lines; i++) ENSURE(cells(text, i, cell) == 14 && strcmp(cell[12], "1") == 0);
        free(text);
        text = read_all(directory, "bodies.csv");
        ENSURE(text && cells(text, 400 * bodies + ball, cell) == 12 && strcmp(cell[2], "ball") == 0);
        if (!text) return;
        ENSURE(atof(cell[5]) > (k ? 0.15 : 0.22));
        (void)cells(text, (lines - 2) * bodies + ball, cell);
        if (k == 0) ENSURE(fabs(atof(cell[3])) < 0.05 && fabs(atof(cell[4]) - 0.36) < 0.05 && fabs(atof(cell[5]) - 0.05) < 0.005);
        free(text);
    }
}

/* Every scene of examples/scenes from its begin to its end: exact arithmetic finds no crossing. Where only some of each are
 * tried, each fifth begins. */
static void test_no_example_crosses(void)
{
    FILE *list = popen("ls examples/scenes/*.json", "r");
    char path[256];
    int count = 0, cut = TEST_STRIDE > 1;
    while (list && fgets(path, sizeof path, list)) {
        run_options o;
        memset(&o, 0, sizeof o);
        path[strcspn(path, "\n")] = 0;
        o.scene = path;
        o.quiet = o.every = 1;
        o.has_duration = cut;
        o.duration = 0.02;
        if (count++ % (cut ? 5 : 1) || run_scene(&o) == 0) continue;
        printf("  %s\n", path);
        ENSURE(!"the scene runs, and nothing crosses");
    }
    if (list) pclose(list);
    ENSURE(count >= 20);
}

static void test_frames(void)
{
    char directory[1024], old[1200];
    run_options o;
    memset(&o, 0, sizeof o);
    o.frames = 1;
    o.every = 5;
    o.has_duration = 1;
    o.duration = 0.12;
    o.picture = "p.png";
    pictures = 0;
    strcpy(directory, place("frames"));
    for (int i = 0; i <= 12; i++) {   /* of an earlier test run */
        snprintf(old, sizeof old, "%s/frame_%05d.obj", directory, i);
        remove(old);
    }
    ENSURE(run_in(directory, &o) == 0 && pictures == 1);
    for (int i = 0; i <= 12; i++) {
        char name[32], *text;
        tool_mesh m;
        tool_error e;
        snprintf(name, sizeof name, "frame_%05d.obj", i);
        text = read_all(directory, name);
        ENSURE((text != NULL) == (i % 5 == 0));
        if (!text) continue;
        ENSURE(strstr(text, "o ground\n") && strstr(text, "o one\n") && strstr(text, "o far away\n"));
        ENSURE(mesh_parse(&m, MESH_OBJ, name, text, strlen(text), &e) && m.node_count > 8 + 8 + 26 - 1);
        mesh_free(&m);
        free(text);
    }
}

/* Moments are spread from the start to the end, pictures of a film come with the frames, and a page is there. */
static void test_pictures(void)
{
    char directory[1024], film[1100], page[1100], gltf_path[1100], *text;
    run_options o;
    memset(&o, 0, sizeof o);
    strcpy(directory, place("pictures"));
    snprintf(film, sizeof film, "%s/film/frames", directory);
    snprintf(page, sizeof page, "%s/page.html", directory);
    o.film = film;
    o.view = page;
    o.sheet = "sheet.png";
    o.animation = "moving.png";
    snprintf(gltf_path, sizeof gltf_path, "%s/run.glb", directory);
    o.gltf = gltf_path;
    o.every = 5;
    for (o.moments = 1; o.moments < 40; o.moments += 4) {
        films = sheets = 0;
        ENSURE(run_in(directory, &o) == 0);
        ENSURE(films == 5 && sheets == (o.moments < 21 ? o.moments : 21));
        ENSURE_CLOSE(last_moment, 0.2, 1e-12);
        ENSURE(animated == 5);
        ENSURE_CLOSE(animated_seconds, 0.05, 1e-12);   /* played as fast as it was */
    }
    text = read_all(directory, "page.html");
    ENSURE(text && strstr(text, "\nf ") && strstr(text, "\ns 20 0.2 ") && strstr(text, "</html>\n"));
    free(text);
    text = read_all(directory, "run.glb");
    ENSURE(text && memcmp(text, "glTF\2", 5) == 0);
    free(text);
    o.view = "no/such/place/page.html";
    ENSURE(run_in(directory, &o) == 2);
    o.view = NULL;
    snprintf(film, sizeof film, "%s/page.html/frames", directory);   /* a file is no directory */
    ENSURE(run_in(directory, &o) == 2);
}

static void test_interrupt(void)
{
    char directory[1024], *text;
    run_options o;
    memset(&o, 0, sizeof o);
    strcpy(directory, place("interrupt"));
    system_catch_interrupt();
    raise(SIGINT);
    ENSURE(system_interrupted == 1);
    ENSURE(run_in(directory, &o) == 1);
    text = read_all(directory, "steps.csv");
    ENSURE(text && count_lines(text) == 2 && text[strlen(text) - 1] == '\n');
    free(text);
    system_interrupted = 0;
}

static void test_exit_codes(void)
{
    char path[1100];
    run_options o;
    memset(&o, 0, sizeof o);
    o.every = 1;
    o.quiet = 1;
    o.scene = "no/such/scene.json";
    ENSURE(run_scene(&o) == 2);
    snprintf(path, sizeof path, "%s/scene.json/out", place("files"));   /* a file is no directory */
    o.scene = place("files/scene.json");
    o.out = path;
    ENSURE(run_scene(&o) == 2);
    o.out = NULL;
    o.has_duration = 1;
    o.duration = 0;
    ENSURE(run_scene(&o) == 0);
    o.duration = 1e300;
    ENSURE(run_scene(&o) == 2);
}

/* A body that stands still for long though its forces are out of balance: exit code 1. The slit of 1e-13 m in it, which
 * it presses as it is soft, leaves to arithmetic no way; one of 1e-3 m does. */
static void test_stuck_exit_code(void)
{
    static const double x[8] = {0, 0.1, 0.1, 0.02, 0.02, 0.1, 0.1, 0};
    static const char faces[] = "f 1 2 3\nf 1 3 4\nf 1 4 8\nf 4 5 8\nf 5 6 7\nf 5 7 8\nf 11 10 9\nf 12 11 9\nf 16 12 9\nf 16 13 12\n"
                                "f 15 14 13\nf 16 15 13\nf 10 2 1\nf 9 10 1\nf 11 3 2\nf 10 11 2\nf 12 4 3\nf 11 12 3\nf 13 5 4\nf 12 13 4\n"
                                "f 14 6 5\nf 13 14 5\nf 15 7 6\nf 14 15 6\nf 16 8 7\nf 15 16 7\nf 9 1 8\nf 16 9 8\n";
    for (int k = 0; k < 2; k++) {
        double slit = k ? 1e-3 : 1e-13;
        tool_text mesh = { NULL, 0, 0 }, t = { NULL, 0, 0 };
        char path[1200];
        run_options o;
        tool_error e;
        system_make_directories(place("stuck"));
        for (int i = 0; i < 16; i++)
            tool_put(&mesh, "v %.17g %g %.17g\n", x[i % 8], i < 8 ? 0.0 : 0.03, i % 8 < 2 ? 0 : i % 8 < 4 ? 0.02 : i % 8 < 6 ? 0.02 + slit : 0.04 + slit);
        tool_put(&mesh, "%s", faces);
        tool_put(&t, "{\"version\":1,\"time_step\":0.01,\"duration\":0.9,\"bodies\":[{\"name\":\"ground\",\"kind\":\"fixed\",\"shape\":\"plane\",\"friction\":0.5},"
                     "{\"name\":\"peg\",\"kind\":\"cage\",\"mesh\":\"peg.obj\",\"cage_nodes\":40,\"position\":[0,0,0.05],\"friction\":0.5,\"material\":{\"young\":%g}}]}", k ? 1e6 : 3e3);
        snprintf(path, sizeof path, "%s/peg.obj", place("stuck"));
        ENSURE(output_file(path, &mesh, &e));
        snprintf(path, sizeof path, "%s/scene.json", place("stuck"));
        ENSURE(output_file(path, &t, &e));
        tool_text_free(&mesh);
        tool_text_free(&t);
        memset(&o, 0, sizeof o);
        o.every = 1;
        o.quiet = 1;
        o.scene = path;
        ENSURE(run_scene(&o) == (k ? 0 : 1));
    }
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(files);
    RUN(forces_and_bodies);
    RUN(columns);
    RUN(drives);
    RUN(joints);
    RUN(joint_examples);
    RUN(no_example_crosses);
    RUN(frames);
    RUN(pictures);
    RUN(interrupt);
    RUN(exit_codes);
    RUN(stuck_exit_code);
    return test_end(__FILE__);
}
