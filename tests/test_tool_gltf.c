/* Animated glTF: chunks, views and accessors lie where they say and hold what they say, and a player that follows the
 * format puts every vertex where it was. */
#include "../tools/system.h"
#include "../embipc.h"
#include "test.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/scene.h"
#include "../tools/gltf.h"
#include <stdint.h>

static const char scene_text[] =
    "{\"version\":1,\"time_step\":0.02,\"duration\":1,\"gravity\":[0,0,-9.81],\"bodies\":["
    "{\"name\":\"ground\",\"kind\":\"fixed\",\"shape\":\"plane\"},"
    "{\"name\":\"spinning box\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.06,0.03],"
    "\"position\":[0.3,0,0.5],\"angular_velocity\":[3,9,7],\"material\":{\"young\":1e9}},"
    "{\"name\":\"ball\",\"kind\":\"cage\",\"shape\":\"sphere\",\"radius\":0.05,\"position\":[0,0,0.06],"
    "\"velocity\":[0.5,0,-3],\"material\":{\"young\":2e4}}]}";
enum { MOMENTS = 26 };

/* A file that was read. */
typedef struct reader {
    unsigned char *data;
    const unsigned char *bytes;   /* of the second chunk */
    size_t size, byte_count;
    json j;
} reader;

static uint32_t word(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The number that stands under a key, or -1. */
static int whole(const reader *r, const json_value *object, const char *key)
{
    const json_value *v = object ? json_get(&r->j, object, key) : NULL;
    return v && v->type == JSON_NUMBER ? (int)v->number : -1;
}
static const json_value *member(const reader *r, const char *list, int i)
{
    const json_value *v = json_get(&r->j, &r->j.value[0], list);
    for (v = v ? json_first(&r->j, v) : NULL; v && i > 0; i--) v = json_next(&r->j, v);
    return v;
}

/* Header and the two chunks. */
static int read_glb(reader *r, const char *path)
{
    tool_error e;
    size_t length;
    memset(r, 0, sizeof *r);
    r->data = (unsigned char *)tool_read_file(path, (size_t)1 << 28, &r->size, &e);
    if (!r->data || r->size < 28 || memcmp(r->data, "glTF", 4) != 0) return 0;
    if (word(r->data + 4) != 2 || word(r->data + 8) != r->size) return 0;
    length = word(r->data + 12);
    if (memcmp(r->data + 16, "JSON", 4) != 0 || length % 4 || 28 + length > r->size) return 0;
    r->byte_count = word(r->data + 20 + length);
    r->bytes = r->data + 28 + length;
    if (28 + length + r->byte_count != r->size || r->byte_count % 4) return 0;
    return memcmp(r->data + 24 + length, "BIN", 4) == 0
           && json_parse(&r->j, path, (const char *)r->data + 20, length, &e);
}

/* Where the numbers of an accessor begin; rows and width of it. Its view lies in the buffer, as long as they need. */
static const unsigned char *accessor(const reader *r, int index, int type, int *rows, int *width)
{
    const json_value *a = member(r, "accessors", index), *view = member(r, "bufferViews", whole(r, a, "bufferView"));
    const json_value *t = a ? json_get(&r->j, a, "type") : NULL;
    int offset = whole(r, view, "byteOffset"), length = whole(r, view, "byteLength");
    *rows = whole(r, a, "count");
    *width = !t ? 0 : strcmp(t->string, "VEC3") == 0 ? 3 : strcmp(t->string, "VEC4") == 0 ? 4 : 1;
    if (index < 0 || whole(r, a, "componentType") != type || whole(r, view, "buffer") != 0 || *rows < 1) return NULL;
    if (offset < 0 || offset % 4 || length != 4 * *rows * *width) return NULL;
    if ((size_t)offset + (size_t)length > r->byte_count) return NULL;
    return r->bytes + offset;
}

static float number_at(const unsigned char *p, int i)
{
    uint32_t w = word(p + 4 * i);
    float x;
    memcpy(&x, &w, 4);
    return x;
}

/* Floats of an accessor (to be freed), whose bounds, where it has some, are those of its numbers. */
static float *floats(const reader *r, int index, int width, int *rows, int bounded)
{
    const json_value *a = member(r, "accessors", index);
    int wide;
    const unsigned char *p = accessor(r, index, 5126, rows, &wide);
    float *x;
    ENSURE(p && wide == width);
    if (!p || wide != width) return NULL;
    x = (float *)tool_alloc((size_t)(*rows * width), sizeof *x);
    for (int i = 0; i < *rows * width; i++) x[i] = number_at(p, i);
    for (int most = 0; most < 2; most++) {
        const json_value *bound = json_get(&r->j, a, most ? "max" : "min"), *v;
        ENSURE(!bounded || (bound && bound->count == width));
        if (!bound) continue;
        v = json_first(&r->j, bound);
        for (int k = 0; k < width && v; k++, v = json_next(&r->j, v)) {
            float best = x[k];
            for (int i = 0; i < *rows; i++)
                if (most ? x[width * i + k] > best : x[width * i + k] < best) best = x[width * i + k];
            ENSURE((float)v->number == best);
        }
    }
    return x;
}

/* The output of the channel of a node and path, and its times; NULL without one. */
static float *channel(const reader *r, int node, const char *path, int width, int *rows)
{
    const json_value *run = member(r, "animations", 0), *list = run ? json_get(&r->j, run, "channels") : NULL;
    for (const json_value *c = list ? json_first(&r->j, list) : NULL; c; c = json_next(&r->j, c)) {
        const json_value *target = json_get(&r->j, c, "target"), *s;
        int sampler = whole(r, c, "sampler"), count;
        float *time;
        if (whole(r, target, "node") != node || strcmp(json_get(&r->j, target, "path")->string, path) != 0) continue;
        s = json_first(&r->j, json_get(&r->j, run, "samplers"));
        for (; s && sampler > 0; sampler--) s = json_next(&r->j, s);
        time = floats(r, whole(r, s, "input"), 1, &count, 1);
        ENSURE(time && count == MOMENTS);
        for (int k = 0; time && k < count; k++) ENSURE_CLOSE(time[k], 0.02 * k, 1e-6);
        free(time);
        return floats(r, whole(r, s, "output"), width, rows, 0);
    }
    return NULL;
}

/* v turned by the unit quaternion x, y, z, w */
static void turn(double out[3], const float q[4], const double v[3])
{
    double u[3] = {q[0], q[1], q[2]}, c[3], d[3];
    tool_cross(c, u, v);
    for (int k = 0; k < 3; k++) c[k] += (double)q[3] * v[k];
    tool_cross(d, u, c);
    for (int k = 0; k < 3; k++) out[k] = v[k] + 2 * d[k];
}

/* The normal at vertex `of` of a body: of triangle t alone, or (smooth) of all triangles around it, by area. */
static void normal_at(double out[3], const double *x, const int *tri, int triangles, int t, int of, int smooth)
{
    double size;
    for (int i = 0; i < 3; i++) out[i] = 0;
    for (int k = 0; k < triangles; k++) {
        const int *v = tri + 3 * k;
        double a[3], b[3], n[3];
        if (smooth ? v[0] != of && v[1] != of && v[2] != of : k != t) continue;
        tool_sub(a, x + 3 * v[1], x + 3 * v[0]);
        tool_sub(b, x + 3 * v[2], x + 3 * v[0]);
        tool_cross(n, a, b);
        for (int i = 0; i < 3; i++) out[i] += n[i];
    }
    size = tool_length(out);
    for (int i = 0; i < 3; i++) out[i] /= size;
}

/* Plays body i and compares corners of its triangles with where they and their normals were (moments one after the
 * other; a fixed body: one). */
static void compare(const reader *r, int i, const double *was, const embipc_body_view *view, int fixed, int morphs)
{
    int vertices = view->vertex_count, triangles = view->triangle_count;
    const json_value *node = member(r, "nodes", 1 + i), *mesh = member(r, "meshes", whole(r, node, "mesh"));
    const json_value *primitive = json_first(&r->j, json_get(&r->j, mesh, "primitives")), *targets, *v;
    int count, rows = 0, wide, weights = 0, turns = 0;
    float *x = floats(r, whole(r, json_get(&r->j, primitive, "attributes"), "POSITION"), 3, &count, 1);
    float *at = channel(r, 1 + i, "translation", 3, &rows), *q = channel(r, 1 + i, "rotation", 4, &turns);
    float *weight = channel(r, 1 + i, "weights", 1, &weights), *shift[MOMENTS] = {NULL}, *bend[MOMENTS] = {NULL};
    float *normal = floats(r, whole(r, json_get(&r->j, primitive, "attributes"), "NORMAL"), 3, &rows, 0);
    const unsigned char *tri = accessor(r, whole(r, primitive, "indices"), 5125, &rows, &wide);
    double worst = 0, tilt = 0;
    ENSURE(x && normal && tri && rows == 3 * triangles);
    if (!x || !normal || !tri) return;
    ENSURE(count == (morphs ? vertices : 3 * vertices));   /* a box has three sides at each corner */
    for (int k = 0; k < rows; k++) ENSURE(word(tri + 4 * k) < (uint32_t)count);
    ENSURE(member(r, "materials", whole(r, primitive, "material")) != NULL);
    ENSURE((at != NULL) == (!fixed && !morphs) && (q != NULL) == (at != NULL) && (weight != NULL) == morphs);
    targets = json_get(&r->j, primitive, "targets");
    v = targets ? json_first(&r->j, targets) : NULL;
    for (int k = 0; v && k < MOMENTS; k++, v = json_next(&r->j, v)) {
        shift[k] = floats(r, whole(r, v, "POSITION"), 3, &rows, 1);
        ENSURE(rows == count);
        bend[k] = floats(r, whole(r, v, "NORMAL"), 3, &rows, 0);
        ENSURE(rows == count);
    }
    ENSURE(!morphs || (targets->count == MOMENTS - 1 && weights == MOMENTS * (MOMENTS - 1)));
    for (int k = 0; k < (fixed ? 1 : MOMENTS); k++)
        for (int c = 0; c < 3 * triangles; c++) {
            int at_file = (int)word(tri + 4 * c), at_body = view->triangles[c];
            double p[2][3], d[3], n[3];
            const double *x_now = was + 3 * k * vertices;
            for (int e = 0; e < 3; e++) {
                p[0][e] = x[3 * at_file + e];
                p[1][e] = normal[3 * at_file + e];
                for (int m = 0; morphs && m < MOMENTS - 1; m++) {
                    double share = weight[k * (MOMENTS - 1) + m];
                    p[0][e] += share * (double)shift[m][3 * at_file + e];
                    p[1][e] += share * (double)bend[m][3 * at_file + e];
                }
            }
            for (int e = 0; e < 2 && at; e++) {
                turn(d, q + 4 * k, p[e]);
                memcpy(p[e], d, sizeof d);
            }
            for (int e = 0; e < 3 && at; e++) p[0][e] += (double)at[3 * k + e];
            tool_sub(d, p[0], x_now + 3 * at_body);
            worst = fmax(worst, tool_length(d));
            normal_at(n, x_now, view->triangles, triangles, c / 3, at_body, morphs);
            tool_sub(d, p[1], n);
            tilt = fmax(tilt, tool_length(d));
        }
    ENSURE(tilt < (fixed || morphs ? 1e-6 : 1e-3));    /* a ball is smooth, a box has its edges */
    ENSURE(worst < (fixed || morphs ? 2e-7 : 2e-5));   /* rounding to floats; and what a stiff body bends */
    for (int k = 1; q && k < MOMENTS; k++) {           /* the short way from one to the next */
        double side = 0;
        for (int c = 0; c < 4; c++) side += (double)q[4 * k + c] * (double)q[4 * k - 4 + c];
        ENSURE(side > 0.5);
    }
    for (int k = 0; k < MOMENTS; k++) { free(shift[k]); free(bend[k]); }
    free(normal); free(x); free(at); free(q); free(weight);
}

/* The world of a scene's text, and an empty animation. */
static int open_world(const char *text, scene *s, embipc_world **world, gltf *g)
{
    tool_error e;
    memset(g, 0, sizeof *g);
    if (scene_parse(s, "s.json", text, strlen(text), &e) && scene_build(s, world, &e)) return 1;
    printf("  %s\n", e.text);
    ENSURE(0);
    return 0;
}

/* At coordinates of a map 32 bits hold half a metre: vertices and poses are about the node above all, which has 64. */
static void test_far(void)
{
    static const char text[] =
        "{\"version\":1,\"time_step\":0.01,\"bodies\":["
        "{\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[5e5,5e6,100]},"
        "{\"kind\":\"full\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[5e5,5e6,100.2],\"friction\":1}]}";
    static const double place[3] = { 5e5, 100, -5e6 };   /* y is up */
    char path[1200];
    const char *tmp = getenv("TMPDIR");
    embipc_world *world = NULL;
    tool_error e;
    reader r;
    gltf g;
    scene s;
    if (!open_world(text, &s, &world, &g)) return;
    gltf_add(&g, &s, world);
    ENSURE(embipc_world_step(world, NULL) == EMBIPC_OK);
    gltf_add(&g, &s, world);
    snprintf(path, sizeof path, "%s/embipc_test.glb", tmp && *tmp ? tmp : "/tmp");
    ENSURE(gltf_write(&g, path, &s, world, &e));
    ENSURE(read_glb(&r, path));
    if (r.j.count) {
        const json_value *at = json_get(&r.j, member(&r, "nodes", 0), "translation"), *v = at ? json_first(&r.j, at) : NULL;
        for (int k = 0; v && k < 3; v = json_next(&r.j, v), k++) ENSURE(fabs(v->number - place[k]) < 1024);
        ENSURE(at && at->count == 3);
        for (int i = 0; i < 2; i++) {
            double low = HUGE_VAL, high = -HUGE_VAL;
            for (int n = 0; n < 3 * g.body[i].vertex_count; n++) {
                low = fmin(low, g.body[i].x[n]);
                high = fmax(high, g.body[i].x[n]);
            }
            ENSURE(low > -1024 && high < 1024 && fabs(g.body[i].pose[1]) < 1024);
        }
    }
    json_free(&r.j);
    free(r.data);
    gltf_free(&g);
    embipc_world_destroy(world);
    scene_free(&s);
}

static void test_played(void)
{
    char path[1200];
    const char *tmp = getenv("TMPDIR");
    double *was[3] = {NULL, NULL, NULL};
    embipc_body_view view[3];
    embipc_world *world = NULL;
    tool_error e;
    reader r;
    gltf g;
    scene s;
    if (!open_world(scene_text, &s, &world, &g)) return;
    for (int k = 0; k < MOMENTS; k++) {
        if (k) ENSURE(embipc_world_step(world, NULL) == EMBIPC_OK);
        gltf_add(&g, &s, world);
        for (int i = 0; i < 3; i++) {
            embipc_body_view *v = view + i;
            ENSURE(embipc_body_get_view(world, s.body[i].handle, v) == EMBIPC_OK);
            if (!was[i]) was[i] = (double *)tool_alloc((size_t)(3 * v->vertex_count * MOMENTS), sizeof(double));
            memcpy(was[i] + 3 * v->vertex_count * k, v->x, (size_t)(3 * v->vertex_count) * sizeof(double));
        }
    }
    snprintf(path, sizeof path, "%s/embipc_test.glb", tmp && *tmp ? tmp : "/tmp");
    ENSURE(gltf_write(&g, path, &s, world, &e));
    ENSURE(read_glb(&r, path));
    if (r.j.count) {
        const json_value *top = member(&r, "nodes", 0), *all = json_get(&r.j, &r.j.value[0], "accessors");
        float up[4];
        double z[3] = {0, 0, 1}, y[3];
        int k = 0;
        const json_value *v = json_first(&r.j, json_get(&r.j, top, "rotation"));
        for (; v && k < 4; v = json_next(&r.j, v)) up[k++] = (float)v->number;
        turn(y, up, z);
        ENSURE(fabs(y[1] - 1) < 1e-6 && json_get(&r.j, top, "children")->count == 3);   /* what was up is y */
        ENSURE(strcmp(json_get(&r.j, member(&r, "nodes", 2), "name")->string, "spinning box") == 0);
        ENSURE(all->count > 30 && whole(&r, member(&r, "buffers", 0), "byteLength") == (int)r.byte_count);
        for (int i = 0; i < 3; i++) compare(&r, i, was[i], view + i, i == 0, i == 2);
    }
    ENSURE(!gltf_write(&g, "/no/such/place/x.glb", &s, world, &e) && strstr(e.text, "cannot be written"));
    json_free(&r.j);
    free(r.data);
    for (int i = 0; i < 3; i++) free(was[i]);
    gltf_free(&g);
    embipc_world_destroy(world);
    scene_free(&s);
    remove(path);
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(far);
    RUN(played);
    return test_end(__FILE__);
}
