#include "gltf.h"
#include "json.h"
#include "output.h"
#include "picture.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the format. */
enum { GLTF_FLOAT = 5126, GLTF_UNSIGNED = 5125, GLTF_VERTICES = 34962, GLTF_TRIANGLES = 34963 };

/* A body that stays within this part of its size of its rigid motion moves as a node. */
#define GLTF_RIGID 1e-4

/* ---- Moments -------------------------------------------------------------------------------- */

void gltf_add(gltf *g, const scene *s, const embipc_world *world)
{
    int k = g->moments++;
    if (k == 0) {
        g->body_count = s->body_count;
        g->body = (gltf_body *)tool_alloc((size_t)s->body_count, sizeof *g->body);
        scene_origin(s, world, g->origin);
    }
    TOOL_GROW(double, g->time, g->time_capacity, k + 1);
    g->time[k] = embipc_world_time(world);
    for (int i = 0; i < g->body_count; i++) {
        gltf_body *b = &g->body[i];
        embipc_body_view v;
        embipc_pose pose;
        double *x;
        if (embipc_body_get_view(world, s->body[i].handle, &v) != EMBIPC_OK) continue;
        b->vertex_count = v.vertex_count;
        if (k > 0 && v.kind == EMBIPC_FIXED) continue;
        TOOL_GROW(double, b->x, b->x_capacity, 3 * v.vertex_count * (k + 1));
        x = b->x + (size_t)(3 * v.vertex_count) * (size_t)k;
        for (int n = 0; n < 3 * v.vertex_count; n++) x[n] = v.x[n] - g->origin[n % 3];
        TOOL_GROW(double, b->pose, b->pose_capacity, 12 * (k + 1));
        memset(&pose, 0, sizeof pose);
        (void)embipc_body_get_pose(world, s->body[i].handle, 1, &pose);
        tool_sub(b->pose + 12 * k, pose.position, g->origin);
        memcpy(b->pose + 12 * k + 3, pose.rotation, 9 * sizeof(double));
    }
}

void gltf_free(gltf *g)
{
    for (int i = 0; i < g->body_count; i++) {
        free(g->body[i].x);
        free(g->body[i].pose);
    }
    free(g->body);
    free(g->time);
    memset(g, 0, sizeof *g);
}

/* A point in the frame of the body at moment k, and back. */
static void gltf_to_body(double out[3], const gltf_body *b, int k, const double x[3])
{
    const double *p = b->pose + 12 * k, *R = p + 3;
    for (int i = 0; i < 3; i++) {
        out[i] = 0;
        for (int j = 0; j < 3; j++) out[i] += R[3 * j + i] * (x[j] - p[j]);
    }
}
static void gltf_to_world(double out[3], const gltf_body *b, int k, const double x[3])
{
    const double *p = b->pose + 12 * k, *R = p + 3;
    for (int i = 0; i < 3; i++) out[i] = p[i] + R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

/* Does its pose alone say where the body is, at every moment? */
static int gltf_is_rigid(const gltf *g, const gltf_body *b)
{
    double most = 0, lo[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL }, hi[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL }, size[3];
    for (int i = 0; i < 3 * b->vertex_count; i++) {
        lo[i % 3] = fmin(lo[i % 3], b->x[i]);
        hi[i % 3] = fmax(hi[i % 3], b->x[i]);
    }
    tool_sub(size, hi, lo);
    for (int k = 1; k < g->moments; k++)
        for (int i = 0; i < b->vertex_count; i++) {
            double local[3], there[3], d[3];
            gltf_to_body(local, b, 0, b->x + 3 * i);
            gltf_to_world(there, b, k, local);
            tool_sub(d, there, b->x + 3 * ((size_t)k * (size_t)b->vertex_count + (size_t)i));
            most = fmax(most, tool_length(d));
        }
    return most <= GLTF_RIGID * tool_length(size);
}

/* ---- The two parts of the file -------------------------------------------------------------- */

/* What is written so far: bytes, and the lists of views and accessors that say what is in them. */
typedef struct gltf_file {
    tool_text bytes, views, accessors, meshes, nodes, materials, channels, samplers, children;
    int view_count, mesh_count, node_count, sampler_count;
} gltf_file;

/* Four bytes, the lowest first, whatever the machine. */
static void gltf_word(tool_text *t, uint32_t value)
{
    TOOL_GROW(char, t->data, t->capacity, t->length + 4);
    for (int i = 0; i < 4; i++) t->data[t->length++] = (char)(unsigned char)(value >> (8 * i) & 255);
}

/* A number of rows as an accessor with a view of its own; returns its number. width: numbers in a row; bounds: its
 * least and greatest stand in the file. */
static int gltf_floats(gltf_file *f, const float *x, int rows, int width, int target, int bounds)
{
    static const char *const type[5] = { "", "SCALAR", "", "VEC3", "VEC4" };
    tool_put(&f->views, "%s{\"buffer\":0,\"byteOffset\":%d,\"byteLength\":%d", f->view_count ? ",\n" : "",
             f->bytes.length, 4 * rows * width);
    if (target) tool_put(&f->views, ",\"target\":%d", target);
    tool_put(&f->views, "}");
    tool_put(&f->accessors, "%s{\"bufferView\":%d,\"componentType\":%d,\"count\":%d,\"type\":\"%s\"",
             f->view_count ? ",\n" : "", f->view_count, GLTF_FLOAT, rows, type[width]);
    for (int most = 0; most < 2 && bounds; most++)
        for (int k = 0; k < width; k++) {
            float best = x[k];
            for (int i = 1; i < rows; i++)
                if (most ? x[width * i + k] > best : x[width * i + k] < best) best = x[width * i + k];
            tool_put(&f->accessors, "%s%.9g%s", k ? "," : most ? ",\"max\":[" : ",\"min\":[", (double)best,
                     k == width - 1 ? "]" : "");
        }
    tool_put(&f->accessors, "}");
    for (int i = 0; i < rows * width; i++) {
        uint32_t word;
        memcpy(&word, &x[i], 4);
        gltf_word(&f->bytes, word);
    }
    return f->view_count++;
}

static int gltf_triangles(gltf_file *f, const int *tri, int count)
{
    tool_put(&f->views, "%s{\"buffer\":0,\"byteOffset\":%d,\"byteLength\":%d,\"target\":%d}",
             f->view_count ? ",\n" : "", f->bytes.length, 12 * count, GLTF_TRIANGLES);
    tool_put(&f->accessors, "%s{\"bufferView\":%d,\"componentType\":%d,\"count\":%d,\"type\":\"SCALAR\"}",
             f->view_count ? ",\n" : "", f->view_count, GLTF_UNSIGNED, 3 * count);
    for (int i = 0; i < 3 * count; i++) gltf_word(&f->bytes, (uint32_t)tri[i]);
    return f->view_count++;
}

/* One property of a node over the moments of accessor `input`. */
static void gltf_channel(gltf_file *f, int node, const char *path, int input, int values)
{
    const char *comma = f->sampler_count ? ",\n" : "";
    tool_put(&f->samplers, "%s{\"input\":%d,\"output\":%d}", comma, input, values);
    tool_put(&f->channels, "%s{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}", comma, f->sampler_count++,
             node, path);
}

/* ---- Normals -------------------------------------------------------------------------------- */

/* A vertex of the file has one normal, so a vertex of the body stands there once for each smooth part around it. To
 * the part of a triangle belong those that turn less than 60 degrees from it at the first moment. */
typedef struct gltf_split {
    const int *tri;              /* of the body */
    int tri_count, count;        /* count: vertices of the file */
    int *first, *list;           /* triangles at each vertex of the body */
    double *area;                /* of each triangle at the first moment: normal, as long as twice its area */
    int *corner;                 /* vertex of the file of each corner of a triangle */
    int *vertex, *own;           /* of each vertex of the file: that of the body, and the triangle whose part it is */
} gltf_split;

static void gltf_area(double out[3], const double *x, const int *v)
{
    double a[3], b[3];
    tool_sub(a, x + 3 * v[1], x + 3 * v[0]);
    tool_sub(b, x + 3 * v[2], x + 3 * v[0]);
    tool_cross(out, a, b);
}

static int gltf_is_smooth(const gltf_split *s, int a, int b)
{
    const double *one = s->area + 3 * a, *two = s->area + 3 * b;
    return a == b || tool_dot(one, two) > 0.5 * tool_length(one) * tool_length(two);
}

/* Do two triangles at a vertex have the same part of those around it? */
static int gltf_is_one_part(const gltf_split *s, int vertex, int a, int b)
{
    for (int k = s->first[vertex]; k < s->first[vertex + 1]; k++)
        if (gltf_is_smooth(s, a, s->list[k]) != gltf_is_smooth(s, b, s->list[k])) return 0;
    return 1;
}

static void gltf_split_free(gltf_split *s)
{
    free(s->first);
    free(s->list);
    free(s->area);
    free(s->corner);
    free(s->vertex);
}

/* x: vertices at the first moment */
static gltf_split gltf_split_make(const double *x, int vertices, const int *tri, int tri_count)
{
    gltf_split s;
    size_t corners = 3 * (size_t)tri_count;
    s.tri = tri;
    s.tri_count = tri_count;
    s.count = 0;
    s.first = (int *)tool_alloc((size_t)vertices + 2, sizeof *s.first);
    s.list = (int *)tool_alloc(corners, sizeof *s.list);
    s.area = (double *)tool_alloc(corners, sizeof *s.area);
    s.corner = (int *)tool_alloc(corners, sizeof *s.corner);
    s.vertex = (int *)tool_alloc(corners, 2 * sizeof *s.vertex);
    s.own = s.vertex + corners;
    for (int t = 0; t < tri_count; t++) gltf_area(s.area + 3 * t, x, tri + 3 * t);
    for (size_t i = 0; i < corners; i++) s.first[tri[i] + 2]++;
    for (int v = 0; v < vertices; v++) s.first[v + 2] += s.first[v + 1];
    for (size_t i = 0; i < corners; i++) s.list[s.first[tri[i] + 1]++] = (int)(i / 3);
    for (int v = 0; v < vertices; v++) {
        int before = s.count;
        for (int k = s.first[v]; k < s.first[v + 1]; k++) {
            int t = s.list[k], n = before, c = tri[3 * t] == v ? 0 : tri[3 * t + 1] == v ? 1 : 2;
            while (n < s.count && !gltf_is_one_part(&s, v, s.own[n], t)) n++;
            s.corner[3 * t + c] = n;
            if (n < s.count) continue;
            s.vertex[s.count] = v;
            s.own[s.count++] = t;
        }
    }
    return s;
}

/* The unit normals of all vertices of the file, of the body's vertices x: sums over the areas of their parts. area (3 a
 * triangle): scratch. */
static void gltf_normals(float *out, const gltf_split *s, const double *x, double *area)
{
    for (int t = 0; t < s->tri_count; t++) gltf_area(area + 3 * t, x, s->tri + 3 * t);
    for (int n = 0; n < s->count; n++) {
        double sum[3] = { 0, 0, 0 }, size;
        for (int k = s->first[s->vertex[n]]; k < s->first[s->vertex[n] + 1]; k++)
            for (int i = 0; i < 3 && gltf_is_smooth(s, s->own[n], s->list[k]); i++) sum[i] += area[3 * s->list[k] + i];
        size = tool_length(sum);
        for (int i = 0; i < 3; i++) out[3 * n + i] = size > 0 ? (float)(sum[i] / size) : i == 2 ? 1.0f : 0.0f;
    }
}

/* ---- Bodies --------------------------------------------------------------------------------- */

/* The unit quaternion x, y, z, w of a rotation, on the side of `before`. */
static void gltf_quaternion(float out[4], const double R[9], const float before[4])
{
    double q[4], size, side = 0;
    int big = R[0] > R[4] ? R[0] > R[8] ? 0 : 2 : R[4] > R[8] ? 1 : 2, j = (big + 1) % 3, k = (big + 2) % 3;
    if (R[0] + R[4] + R[8] > 0) {
        q[0] = R[7] - R[5]; q[1] = R[2] - R[6]; q[2] = R[3] - R[1]; q[3] = 1 + R[0] + R[4] + R[8];
    } else {
        q[big] = 1 + R[4 * big] - R[4 * j] - R[4 * k];
        q[j] = R[3 * big + j] + R[3 * j + big];
        q[k] = R[3 * big + k] + R[3 * k + big];
        q[3] = R[3 * k + j] - R[3 * j + k];
    }
    size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) side += q[i] * (before ? (double)before[i] : 0);
    for (int i = 0; i < 4; i++) out[i] = (float)(side < 0 ? -q[i] / size : q[i] / size);
}

static void gltf_move(gltf_file *f, const gltf *g, const gltf_body *b, int node, int input)
{
    float *at = (float *)tool_alloc((size_t)g->moments, 7 * sizeof *at), *turn = at + 3 * g->moments;
    for (int k = 0; k < g->moments; k++) {
        for (int i = 0; i < 3; i++) at[3 * k + i] = (float)b->pose[12 * k + i];
        gltf_quaternion(turn + 4 * k, b->pose + 12 * k + 3, k ? turn + 4 * (k - 1) : NULL);
    }
    gltf_channel(f, node, "translation", input, gltf_floats(f, at, g->moments, 3, 0, 0));
    gltf_channel(f, node, "rotation", input, gltf_floats(f, turn, g->moments, 4, 0, 0));
    free(at);
}

/* A target for each moment after the first: how far each vertex and its normal are from their start, x and normal.
 * Weights go from one to the next. */
static void gltf_morph(gltf_file *f, const gltf *g, const gltf_body *b, const gltf_split *split, const float *x,
                       const float *normal, int node, int input)
{
    int n = 3 * split->count, targets = g->moments - 1;
    float *d = (float *)tool_alloc((size_t)n, sizeof *d);
    float *weight = (float *)tool_alloc((size_t)(targets * g->moments), sizeof *weight);
    double *area = (double *)tool_alloc((size_t)split->tri_count, 3 * sizeof *area);
    for (int k = 1; k < g->moments; k++) {
        const double *now = b->x + (size_t)k * 3 * (size_t)b->vertex_count;
        for (int i = 0; i < n; i++) d[i] = (float)(now[3 * split->vertex[i / 3] + i % 3] - (double)x[i]);
        tool_put(&f->meshes, "%s{\"POSITION\":%d", k > 1 ? "," : ",\"targets\":[",
                 gltf_floats(f, d, split->count, 3, GLTF_VERTICES, 1));
        gltf_normals(d, split, now, area);
        for (int i = 0; i < n; i++) d[i] -= normal[i];
        tool_put(&f->meshes, ",\"NORMAL\":%d}", gltf_floats(f, d, split->count, 3, GLTF_VERTICES, 0));
        weight[k * targets + k - 1] = 1;
    }
    tool_put(&f->meshes, "]");
    gltf_channel(f, node, "weights", input, gltf_floats(f, weight, targets * g->moments, 1, 0, 0));
    free(d);
    free(weight);
    free(area);
}

static void gltf_material(gltf_file *f, const scene_body *body, embipc_kind kind, int number)
{
    double rgb[3];
    picture_body_colour(rgb, kind, number);
    if (body->is_bear) { rgb[0] = 0.55; rgb[1] = 0.36; rgb[2] = 0.22; }
    tool_put(&f->materials, "%s{\"doubleSided\":%s,\"pbrMetallicRoughness\":{\"metallicFactor\":0,"
                            "\"roughnessFactor\":0.7,\"baseColorFactor\":[", f->mesh_count ? ",\n" : "",
             kind == EMBIPC_FIXED || kind == EMBIPC_KINEMATIC ? "true" : "false");
    for (int k = 0; k < 3; k++)   /* the format has them linear */
        tool_put(&f->materials, "%.4g,", rgb[k] <= 0.04045 ? rgb[k] / 12.92 : pow((rgb[k] + 0.055) / 1.055, 2.4));
    tool_put(&f->materials, "1]}}");
}

static void gltf_put_body(gltf_file *f, const gltf *g, const scene_body *body, const gltf_body *b,
                          const embipc_body_view *v, int number, int input)
{
    int moves = v->kind != EMBIPC_FIXED && g->moments > 1, rigid = moves && gltf_is_rigid(g, b), node = f->node_count++;
    double *local = (double *)tool_alloc((size_t)b->vertex_count, 3 * sizeof *local);
    double *area = (double *)tool_alloc((size_t)v->triangle_count, 3 * sizeof *area);
    gltf_split split;
    float *x, *normal;
    memcpy(local, b->x, (size_t)b->vertex_count * 3 * sizeof *local);
    for (int i = 0; i < b->vertex_count && rigid; i++) gltf_to_body(local + 3 * i, b, 0, b->x + 3 * i);
    split = gltf_split_make(local, b->vertex_count, v->triangles, v->triangle_count);
    x = (float *)tool_alloc((size_t)split.count, 6 * sizeof *x);
    normal = x + 3 * split.count;
    for (int i = 0; i < 3 * split.count; i++) x[i] = (float)local[3 * split.vertex[i / 3] + i % 3];
    gltf_normals(normal, &split, local, area);
    gltf_material(f, body, v->kind, number);
    tool_put(&f->meshes, "%s{\"primitives\":[{\"attributes\":{\"POSITION\":%d", f->mesh_count ? ",\n" : "",
             gltf_floats(f, x, split.count, 3, GLTF_VERTICES, 1));
    tool_put(&f->meshes, ",\"NORMAL\":%d}", gltf_floats(f, normal, split.count, 3, GLTF_VERTICES, 0));
    tool_put(&f->meshes, ",\"indices\":%d,\"material\":%d", gltf_triangles(f, split.corner, v->triangle_count),
             f->mesh_count);
    if (moves && !rigid) gltf_morph(f, g, b, &split, x, normal, node, input);
    tool_put(&f->meshes, "}]}");
    tool_put(&f->children, "%s%d", f->mesh_count ? "," : "", node);
    tool_put(&f->nodes, ",\n{\"mesh\":%d,\"name\":", f->mesh_count++);
    json_write_string(&f->nodes, body->name);
    if (rigid) {
        float q[4];
        gltf_quaternion(q, b->pose + 3, NULL);
        tool_put(&f->nodes, ",\"translation\":[%.9g,%.9g,%.9g],\"rotation\":[%.9g,%.9g,%.9g,%.9g]", b->pose[0],
                 b->pose[1], b->pose[2], (double)q[0], (double)q[1], (double)q[2], (double)q[3]);
        gltf_move(f, g, b, node, input);
    }
    tool_put(&f->nodes, "}");
    gltf_split_free(&split);
    free(local);
    free(area);
    free(x);
}

/* ---- The file ------------------------------------------------------------------------------- */

/* Header, the JSON filled up with blanks, the bytes. */
static void gltf_join(tool_text *out, gltf_file *f, const double origin[3])
{
    tool_text text = { NULL, 0, 0 };
    tool_put(&text, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"embipc\"},\"scene\":0,"
                    "\"scenes\":[{\"nodes\":[0]}],\n\"nodes\":[{\"name\":\"z up\","
                    "\"translation\":[%.17g,%.17g,%.17g],\"rotation\":[-0.70710678,0,0,0.70710678],"
                    "\"children\":[%s]}%s],\n",
             origin[0], origin[2], 0 - origin[1], f->children.data, f->nodes.data);
    tool_put(&text, "\"materials\":[%s],\n\"meshes\":[%s],\n", f->materials.data, f->meshes.data);
    if (f->sampler_count)
        tool_put(&text, "\"animations\":[{\"name\":\"run\",\"channels\":[%s],\n\"samplers\":[%s]}],\n",
                 f->channels.data, f->samplers.data);
    tool_put(&text, "\"accessors\":[%s],\n\"bufferViews\":[%s],\n\"buffers\":[{\"byteLength\":%d}]}", f->accessors.data,
             f->views.data, f->bytes.length);
    while (text.length % 4) tool_put(&text, " ");
    gltf_word(out, 0x46546C67u);               /* "glTF" */
    gltf_word(out, 2);
    gltf_word(out, (uint32_t)(12 + 8 + text.length + 8 + f->bytes.length));
    gltf_word(out, (uint32_t)text.length);
    gltf_word(out, 0x4E4F534Au);               /* "JSON" */
    tool_put(out, "%s", text.data);
    gltf_word(out, (uint32_t)f->bytes.length);
    gltf_word(out, 0x004E4942u);               /* "BIN" */
    TOOL_GROW(char, out->data, out->capacity, out->length + f->bytes.length);
    memcpy(out->data + out->length, f->bytes.data, (size_t)f->bytes.length);
    out->length += f->bytes.length;
    tool_text_free(&text);
}

/* Bytes that the targets and weights of all bodies may take at most. */
static double gltf_bytes(const gltf *g, const scene *s, const embipc_world *world, int moments)
{
    double bytes = 0;
    for (int i = 0; i < g->body_count; i++) {
        embipc_body_view v;
        gltf_split split;
        if (embipc_body_get_view(world, s->body[i].handle, &v) != EMBIPC_OK) continue;
        split = gltf_split_make(g->body[i].x, v.vertex_count, v.triangles, v.triangle_count);
        bytes += (24.0 * split.count + 300 + 4.0 * moments) * moments;
        gltf_split_free(&split);
    }
    return bytes;
}

int gltf_fits(const gltf *g, const char *path, const scene *s, const embipc_world *world, int moments, tool_error *e)
{
    if (gltf_bytes(g, s, world, moments) <= 1e9) return 1;
    return tool_fail(e, "%s: not written: found %d frames of more than 1 GB, expected a larger --every", path, moments);
}

int gltf_write(const gltf *g, const char *path, const scene *s, const embipc_world *world, tool_error *e)
{
    gltf_file f;
    tool_text out = { NULL, 0, 0 }, *part[9];
    float *time = (float *)tool_alloc((size_t)g->moments, sizeof *time);
    int input = -1, colour = 0, ok;
    memset(&f, 0, sizeof f);
    if (!gltf_fits(g, path, s, world, g->moments, e)) {
        free(time);
        return 0;
    }
    for (int k = 0; k < g->moments; k++) time[k] = (float)g->time[k];
    f.node_count = 1;
    if (g->moments > 1) input = gltf_floats(&f, time, g->moments, 1, 0, 1);
    for (int i = 0; i < g->body_count; i++) {
        embipc_body_view v;
        if (embipc_body_get_view(world, s->body[i].handle, &v) != EMBIPC_OK) continue;
        gltf_put_body(&f, g, &s->body[i], &g->body[i], &v, colour, input);
        colour += v.kind != EMBIPC_FIXED && !s->body[i].is_bear;
    }
    gltf_join(&out, &f, g->origin);
    ok = output_file(path, &out, e);
    part[0] = &f.bytes; part[1] = &f.views; part[2] = &f.accessors; part[3] = &f.meshes; part[4] = &f.nodes;
    part[5] = &f.materials; part[6] = &f.channels; part[7] = &f.samplers; part[8] = &f.children;
    for (int i = 0; i < 9; i++) tool_text_free(part[i]);
    tool_text_free(&out);
    free(time);
    return ok;
}
