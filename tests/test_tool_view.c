/* The page of `embipc run --view`: needs nothing from outside, is small, and what a reader decodes from it is the
 * exact surface within the error that it states. */
#include "../tools/system.h"
#include "../embipc.h"
#include "test.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/shapes.h"
#include "../tools/scene.h"
#include "../tools/png.h"
#include "../tools/view.h"

/* stands in for picture.c, which has the rasteriser below it */
void picture_view(double from[3], const scene *s, const embipc_world *world)
{
    (void)s; (void)world;
    from[0] = 0; from[1] = -2; from[2] = 2;
}
void picture_body_colour(double rgb[3], embipc_kind kind, int number)
{
    rgb[0] = rgb[1] = rgb[2] = kind == EMBIPC_FIXED || number < 0 ? 0.5 : 0.6;
}

/* One of each kind, and a name that must not end the page's data. */
static const char scene_text[] =
    "{\"version\":1,\"time_step\":0.01,\"duration\":0.2,\"bodies\":["
    "{\"name\":\"</script>\",\"kind\":\"fixed\",\"shape\":\"plane\",\"friction\":1},"
    "{\"name\":\"full\",\"kind\":\"full\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"resolution\":2,"
    "\"position\":[0,0,0.0505],\"friction\":1},"
    "{\"name\":\"caged\",\"kind\":\"cage\",\"shape\":\"sphere\",\"radius\":0.05,\"resolution\":6,"
    "\"cage_nodes\":20,\"position\":[0.3,0,0.0505],\"friction\":1},"
    "{\"name\":\"affine\",\"kind\":\"affine\",\"shape\":\"torus\",\"radius\":0.05,\"tube\":0.01,"
    "\"position\":[-7,0,2],\"velocity\":[1,0,0],\"rotation\":[30,0,0]},"
    "{\"name\":\"driven\",\"kind\":\"kinematic\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[0,1,1],"
    "\"drive\":[{\"keys\":[[0,0,0,0,0,0,0],[1,0,0,1,0,0,90]]}]}],"
    "\"joints\":[{\"kind\":\"ball\",\"b\":\"affine\",\"point\":[-7,0.1,2]},"
    "{\"kind\":\"slider\",\"b\":\"affine\",\"point\":[-7,0,2],\"axis\":[3,0,0],\"stiffness\":1e-3},"
    "{\"kind\":\"rod\",\"a\":\"affine\",\"b\":\"caged\",\"point\":[-7,0,2.05],\"point_b\":[0.3,0,0.1],\"limits\":[0,9]},"
    "{\"kind\":\"attach\",\"a\":\"driven\",\"b\":\"affine\",\"stiffness\":1e-3},"
    "{\"kind\":\"attach\",\"a\":\"full\",\"b\":\"caged\",\"distance\":0.21,\"stiffness\":1e-3}]}";

enum { STEPS = 20, BODIES = 5 };

/* a place for a file, its own for each test */
static const char *place(const char *name)
{
    static char path[1024], directory[1000];
    const char *tmp = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/embipc_test_tool_view", tmp && *tmp ? tmp : "/tmp");
    system_make_directories(directory);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static char *read_all(const char *path)
{
    size_t size;
    tool_error e;
    return tool_read_file(path, (size_t)1 << 26, &size, &e);
}

/* ---- A reader, as the page is one ----------------------------------------------------------- */

static int digit_of(char c)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digit, c) : NULL;
    return at ? (int)(at - digit) : -1;
}

/* Bytes of base 64 up to the first character that is none of its digits. */
static unsigned char *decode(const char *text, int *count)
{
    int n = 0, length = 0;
    unsigned char *out;
    while (digit_of(text[length]) >= 0) length++;
    out = (unsigned char *)tool_alloc((size_t)length + 4, 1);
    for (int i = 0; i + 1 < length; i++)
        if (i % 4 != 3) {
            int left = 2 + 2 * (i % 4);
            out[n++] = (unsigned char)(digit_of(text[i]) << left | digit_of(text[i + 1]) >> (6 - left));
        }
    *count = n;
    return out;
}

static uint32_t get_32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double get_float(const unsigned char *p)
{
    uint32_t bits = get_32(p);
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static const unsigned char *get_points(const unsigned char *p, double *x, int count)
{
    for (int i = 0; i < 3 * count; i++)
        x[i] = get_float(p + 4 * (i % 3)) + get_float(p + 12 + 4 * (i % 3)) * (p[24 + 2 * i] | p[25 + 2 * i] << 8);
    return p + 24 + 6 * count;
}

/* Forces of one body; f is zeroed here. */
static const unsigned char *get_forces(const unsigned char *p, double *f, int vertex_count)
{
    uint32_t count = get_32(p);
    double unit;
    memset(f, 0, (size_t)vertex_count * 3 * sizeof *f);
    p += 4;
    if (!count) return p;
    unit = get_float(p);
    p += 4;
    for (; count; count--, p += 8)
        for (int k = 0; k < 3; k++) {
            int value = p[2 + 2 * k] | p[3 + 2 * k] << 8;
            f[3 * (p[0] | p[1] << 8) + k] = unit * (value < 32768 ? value : value - 65536);
        }
    return p;
}

/* The value of a key in the line of the i-th body, decoded. */
static unsigned char *body_bytes(const char *page, int body, const char *key)
{
    char word[32];
    int count;
    const char *line = page, *at;
    for (int i = 0; i <= body && line; i++) line = strstr(line + 1, "\n{\"name\": ");
    snprintf(word, sizeof word, "\"%s\": \"", key);
    at = line ? strstr(line, word) : NULL;
    return at && at < strchr(line + 1, '\n') ? decode(at + strlen(word), &count) : NULL;
}

/* Largest distance of the surface that the page gives a body from its exact one. */
static double surface_error(const char *page, int body, const embipc_body_view *b, const double *q,
                            const double *x)
{
    unsigned char *node = body_bytes(page, body, "node"), *weight = body_bytes(page, body, "weight");
    double worst = 0;
    ENSURE(node && (weight != NULL) == (b->kind != EMBIPC_FULL));
    for (int i = 0; node && i < b->vertex_count; i++) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            double sum = -x[3 * i + k];
            if (!weight) sum += q[3 * (int)get_32(node + 4 * i) + k];
            for (int j = 0; weight && j < 4; j++)
                sum += get_float(weight + 16 * i + 4 * j) * q[3 * (int)get_32(node + 16 * i + 4 * j) + k];
            square += sum * sum;
        }
        worst = fmax(worst, sqrt(square));
    }
    free(node);
    free(weight);
    return worst;
}

/* ---- Tests ---------------------------------------------------------------------------------- */

/* What was in the world when a frame was written. */
typedef struct moment { double *x[BODIES], *force[BODIES]; } moment;

static void keep(moment *m, const scene *s, const embipc_world *world)
{
    for (int i = 0; i < BODIES; i++) {
        embipc_body_view b;
        ENSURE(embipc_body_get_view(world, s->body[i].handle, &b) == EMBIPC_OK);
        m->x[i] = (double *)tool_alloc((size_t)b.vertex_count, 3 * sizeof *m->x[i]);
        m->force[i] = (double *)tool_alloc((size_t)b.vertex_count, 3 * sizeof *m->force[i]);
        memcpy(m->x[i], b.x, (size_t)b.vertex_count * 3 * sizeof *m->x[i]);
        embipc_body_vertex_forces(world, s->body[i].handle, m->force[i]);
    }
}

/* Runs the scene and writes its page; frames are kept in m. */
static void write_page(scene *s, embipc_world **world, const char *path, moment m[STEPS + 1])
{
    view v;
    tool_error e;
    ENSURE(scene_parse(s, "dir/s.json", scene_text, strlen(scene_text), &e) && scene_build(s, world, &e));
    if (!*world) { printf("  %s\n", e.text); return; }
    ENSURE(view_open(&v, path, s, *world, 2, &e));
    keep(&m[0], s, *world);
    for (int step = 1; step <= STEPS; step++) {
        embipc_step_stats stats;
        embipc_pair_force pair[8];
        int pairs;
        ENSURE(embipc_world_step(*world, &stats) == EMBIPC_OK);
        pairs = embipc_world_pair_forces(*world, pair, 8);
        keep(&m[step], s, *world);
        ENSURE(pairs <= 8 && view_step(&v, *world, &stats, pair, pairs, step % 2 == 0, &e));
    }
    ENSURE(view_close(&v, &e));
}

/* One frame against what was there. stated: the error in its line. */
static void check_frame(const char *page, const char *line, const scene *s, const embipc_world *world,
                        const moment *m)
{
    double stated = atof(line + 2), worst = 0;
    int count;
    unsigned char *bytes = decode(strchr(line + 2, ' ') + 1, &count);
    const unsigned char *p = bytes;
    for (int i = 0; i < BODIES; i++) {
        embipc_body_view b;
        double *scratch, largest = 0, off = 0;
        embipc_body_get_view(world, s->body[i].handle, &b);
        scratch = (double *)tool_alloc((size_t)(b.node_count + b.vertex_count), 3 * sizeof *scratch);
        if (b.kind != EMBIPC_FIXED) {
            p = get_points(p, scratch, b.node_count);
            worst = fmax(worst, surface_error(page, i, &b, scratch, m->x[i]));
        }
        p = get_forces(p, scratch, b.vertex_count);
        for (int k = 0; k < 3 * b.vertex_count; k++) {
            largest = fmax(largest, fabs(m->force[i][k]));
            off = fmax(off, fabs(m->force[i][k] - scratch[k]));
        }
        ENSURE(off <= 1.6e-5 * largest);
        free(scratch);
    }
    ENSURE(p == bytes + count);
    ENSURE(worst <= 1.01 * stated && stated < 5e-6);   /* bodies of 0.1 m: half a unit is 0.8e-6 an axis */
    free(bytes);
}

static void test_decode(void)
{
    char path[1024], *page;
    scene s;
    embipc_world *world = NULL;
    moment m[STEPS + 1];
    int frames = 0, steps = 0;
    strcpy(path, place("decode.html"));
    write_page(&s, &world, path, m);
    page = read_all(path);
    if (!world || !page) return;
    for (const char *at = strstr(page, "id=\"run\""); at; at = strchr(at + 1, '\n')) {
        if (at[1] == 's' && at[2] == ' ') ENSURE(atoi(at + 3) == steps++);
        if (at[1] == 'f' && at[2] == ' ') { check_frame(page, at + 1, &s, world, &m[steps - 1]); frames++; }
    }
    ENSURE(steps == STEPS + 1 && frames == STEPS / 2 + 1);
    ENSURE(strstr(page, "\"view\": [-1.571, 0.7854]"));   /* as picture_view() says above: angles, rad */
    ENSURE(strstr(page, "\np 0 1 ") && strstr(page, "\nm "));
    for (int i = 0; i <= STEPS; i++)
        for (int k = 0; k < BODIES; k++) { free(m[i].x[k]); free(m[i].force[k]); }
    free(page);
    embipc_world_destroy(world);
    scene_free(&s);
}

/* The next number of a text, and the rest. */
static double next_number(const char **at)
{
    char *end;
    double x;
    while (**at && !strchr("-0123456789", **at)) ++*at;
    x = strtod(*at, &end);
    *at = end;
    return x;
}

/* the next point of a joint, and its body */
static int next_anchor(const char **at, const scene *s, const embipc_world *world, double p[3])
{
    double node[4];
    embipc_body_view v;
    int b = (int)next_number(at);
    for (int i = 0; i < 3; i++) p[i] = b < 0 ? next_number(at) : 0;
    if (b < 0) return b;
    (void)embipc_body_get_view(world, s->body[b].handle, &v);
    for (int j = 0; j < 4; j++) node[j] = next_number(at);
    for (int j = 0; j < 4; j++) {
        double w = next_number(at);
        for (int i = 0; i < 3; i++) p[i] += w * v.q[3 * (int)node[j] + i];
    }
    return b;
}

/* Points of joints go with their bodies: what the page has of them, with the nodes of the start, is where they are. */
static void test_joints(void)
{
    static const double where[] = {-7, 0.1, 2, -7.5, 0, 2, -6.5, 0, 2, -7, 0, 2.05, 0.3, 0, 0.1};
    static const int body[] = {3, -1, -1, 3, 2};
    char *page = read_all(place("decode.html"));
    const char *at = page ? strstr(page, "\"joints\": [") : NULL;
    scene s;
    embipc_world *world = NULL;
    tool_error e;
    if (!page) SKIP("no page: the test before wrote it");
    ENSURE(at && scene_parse(&s, "s.json", scene_text, strlen(scene_text), &e) && scene_build(&s, &world, &e));
    if (!at || !world) return;
    ENSURE(strstr(at, "{\"kind\": \"ball\", \"at\": [[3, "));
    for (int k = 0; k < 5; k++) {
        double p[3];
        int b = next_anchor(&at, &s, world, p);
        ENSURE(b == body[k]);
        if (b < 0) p[0] = p[0] < -7 ? -7.5 : -6.5;   /* how long the line of a slider is drawn */
        for (int i = 0; i < 3; i++) ENSURE_CLOSE(p[i], where[3 * k + i], 1e-5);
    }
    for (int k = 0; k < 2; k++) {   /* some of all vertices; and those that are near the other body */
        const char *end;
        embipc_body_view v;
        int count = 0, near_a = 0;
        at = strstr(at, "{\"kind\": \"attach\"");
        end = at ? strstr(at, "]]") : NULL;
        ENSURE(end);
        if (!end) break;
        (void)embipc_body_get_view(world, s.body[3 - k].handle, &v);
        for (; at < end - 1; count++) {
            double p[3], least = 1;
            ENSURE(next_anchor(&at, &s, world, p) == 3 - k);
            for (int i = 0; i < v.vertex_count; i++)
                least = fmin(least, hypot(hypot(p[0] - v.x[3 * i], p[1] - v.x[3 * i + 1]), p[2] - v.x[3 * i + 2]));
            ENSURE(least < 1e-5 && (!k || p[0] < 0.26));
        }
        for (int i = 0; i < v.vertex_count; i++)   /* the face of "full" at x = 0.05 */
            near_a += hypot(v.x[3 * i] - 0.05, fmax(fabs(v.x[3 * i + 1]) - 0.05, fmax(v.x[3 * i + 2] - 0.1005, 0))) <= 0.21;
        ENSURE(k ? count == near_a && count > 0 : count > 50 && count <= 100);
    }
    free(page);
    embipc_world_destroy(world);
    scene_free(&s);
}

/* Nothing in the page points out of it, and names stay names. */
/* At coordinates of a map 32 bits hold half a metre: points are about an origin nearby, and as exact as elsewhere. */
static void test_far(void)
{
    static const char text[] =
        "{\"version\":1,\"time_step\":0.01,\"bodies\":["
        "{\"name\":\"low\",\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[5e5,5e6,100]},"
        "{\"name\":\"top\",\"kind\":\"cage\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[5e5,5e6,100.1002]}],"
        "\"joints\":[{\"kind\":\"rod\",\"b\":\"top\",\"point\":[5e5,5e6,100.3],\"point_b\":[5e5,5e6,100.15],\"limits\":[0,1]}]}";
    static const double middle[3] = { 5e5, 5e6, 100 };
    char path[1024], *page;
    const char *at;
    double origin[3] = { 0, 0, 0 }, p[3];
    unsigned char *x;
    scene s;
    view v;
    embipc_world *world = NULL;
    embipc_step_stats stats;
    embipc_pair_force pair[2];
    tool_error e;
    strcpy(path, place("far.html"));
    ENSURE(scene_parse(&s, "s.json", text, strlen(text), &e) && scene_build(&s, &world, &e));
    if (!world) return;
    ENSURE(view_open(&v, path, &s, world, 1, &e) && embipc_world_step(world, &stats) == EMBIPC_OK);
    ENSURE(embipc_world_pair_forces(world, pair, 2) == 1 && view_step(&v, world, &stats, pair, 1, 1, &e));
    ENSURE(v.error < 5e-6 && view_close(&v, &e));
    page = read_all(path);
    x = body_bytes(page, 0, "x");
    at = strstr(page, "\"origin\": [");
    for (int k = 0; at && k < 3; k++) origin[k] = next_number(&at);
    for (int k = 0; x && k < 3; k++) ENSURE_CLOSE(fabs(origin[k] + get_float(x + 4 * k) - middle[k]), 0.05, 1e-5);
    for (int n = 0; n < 2; n++) {   /* the nearest points; where the force of the pair acts */
        at = strstr(page, n ? "\np 0 1 " : "\nm ");
        for (int k = 0; at && n && k < 8; k++) (void)next_number(&at);
        for (int k = 0; k < 3; k++) p[k] = at ? next_number(&at) + origin[k] - middle[k] : HUGE_VAL;
        ENSURE(fabs(p[0]) < 0.06 && fabs(p[1]) < 0.06 && fabs(p[2] - 0.05) < 1e-3);
    }
    at = strstr(page, "\"joints\": [");
    ENSURE(at && next_anchor(&at, &s, world, p) == -1);
    for (int k = 0; k < 3; k++) ENSURE_CLOSE(p[k] + origin[k] - middle[k], k == 2 ? 0.3 : 0, 1e-3);
    free(x);
    free(page);
    embipc_world_destroy(world);
    scene_free(&s);
}

static void test_self_contained(void)
{
    static const char *const outside[] = { "http", "src=", "href=", "url(", "import(", "fetch(",
                                           "<link", "<iframe" };
    char *page = read_all(place("decode.html"));
    if (!page) SKIP("no page: the test before wrote it");
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        if (strstr(page, outside[i])) printf("  found %s\n", outside[i]);
        ENSURE(!strstr(page, outside[i]));
    }
    ENSURE(strncmp(page, "<!DOCTYPE html>\n", 16) == 0 && strlen(page) > 8);
    ENSURE(strcmp(page + strlen(page) - 8, "</html>\n") == 0);
    ENSURE(strstr(page, "\"name\": \"\\u003c/script>\""));
    ENSURE(strstr(page, "\"name\": \"s.json\"") && !strstr(page, "dir/s.json"));
    free(page);
}

/* Four seconds of the grasp fit in 5 MB, by far; fewer under sanitizers, which are slow. */
static void test_size(void)
{
#ifdef __SANITIZE_ADDRESS__
    double share = 0.1;
#else
    double share = 1;
#endif
    scene s;
    embipc_world *world = NULL;
    view v;
    tool_error e;
    ENSURE(scene_read(&s, "examples/scenes/grasp.json", &e) && scene_build(&s, &world, &e));
    if (!world) { printf("  %s\n", e.text); return; }
    ENSURE(view_open(&v, place("grasp.html"), &s, world, 1, &e));
    for (int step = 1; step <= (int)(200 * share); step++) {
        embipc_step_stats stats;
        embipc_pair_force pair[16];
        ENSURE(embipc_world_step(world, &stats) == EMBIPC_OK);
        ENSURE(view_step(&v, world, &stats, pair, embipc_world_pair_forces(world, pair, 16), 1, &e));
    }
    ENSURE((double)v.size < 5e6 * share + 2e5 && v.error < 3e-6);
    ENSURE(view_close(&v, &e));
    embipc_world_destroy(world);
    scene_free(&s);
}

static void test_errors(void)
{
    scene s;
    embipc_world *world = NULL;
    view v;
    tool_error e;
    FILE *full = fopen("/dev/full", "wb");
    ENSURE(scene_parse(&s, "s.json", scene_text, strlen(scene_text), &e) && scene_build(&s, &world, &e));
    if (!world) return;
    ENSURE(!view_open(&v, "/no/such/place/page.html", &s, world, 1, &e));
    ENSURE(strstr(e.text, "/no/such/place/page.html: cannot be written: ") != NULL);
    ENSURE(view_close(&v, &e));
    if (full) {
        fclose(full);
        ENSURE(!view_open(&v, "/dev/full", &s, world, 1, &e) && strstr(e.text, "/dev/full: cannot be written: "));
        view_close(&v, &e);
    }
    memset(&v, 0, sizeof v);
    ENSURE(view_close(&v, &e));
    embipc_world_destroy(world);
    scene_free(&s);
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(decode);
    RUN(joints);
    RUN(far);
    RUN(self_contained);
    RUN(size);
    RUN(errors);
    return test_end(__FILE__);
}
