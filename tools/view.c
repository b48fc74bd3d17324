#include "view.h"
#include "picture.h"
#include "png.h"
#include "shapes.h"
#include "view_page.h"   /* made of view.html and its parts by make */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bytes ---------------------------------------------------------------------------------- */
/* Little-endian whatever the machine, and as text in base 64. */

static void view_put_byte(view_bytes *b, unsigned value)
{
    TOOL_GROW(unsigned char, b->data, b->capacity, b->count + 1);
    b->data[b->count++] = (unsigned char)(value & 255);
}

static void view_put_16(view_bytes *b, unsigned value)
{
    view_put_byte(b, value);
    view_put_byte(b, value >> 8);
}

static void view_put_32(view_bytes *b, uint32_t value)
{
    view_put_16(b, value & 65535);
    view_put_16(b, value >> 16);
}

static void view_put_float(view_bytes *b, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    view_put_32(b, bits);
}

/* Appends the bytes as text, and empties them. */
static void view_put_base64(tool_text *t, view_bytes *b)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    TOOL_GROW(char, t->data, t->capacity, t->length + 4 * (b->count / 3 + 1) + 1);
    for (int i = 0; i < b->count; i += 3) {
        unsigned left = (unsigned)(b->count - i), bits = (unsigned)b->data[i] << 16;
        char *out = t->data + t->length;
        if (left > 1) bits |= (unsigned)b->data[i + 1] << 8;
        if (left > 2) bits |= b->data[i + 2];
        for (int k = 0; k < 4; k++) out[k] = digit[bits >> (18 - 6 * k) & 63];
        if (left < 2) out[2] = '=';
        if (left < 3) out[3] = '=';
        t->length += 4;
    }
    t->data[t->length] = 0;
    b->count = 0;
}

/* A name as a JSON string that may stand within a page. */
static void view_put_name(tool_text *t, const char *name)
{
    tool_put(t, "\"");
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        if (c < 32 || c == '"' || c == '\\' || c == '<' || c == '&') tool_put(t, "\\u%04x", c);
        else tool_put(t, "%c", c);
    }
    tool_put(t, "\"");
}

static void view_put_indices(tool_text *t, view_bytes *b, const char *key, const int *index, int count)
{
    for (int i = 0; i < count; i++) view_put_32(b, (uint32_t)index[i]);
    tool_put(t, ", \"%s\": \"", key);
    view_put_base64(t, b);
    tool_put(t, "\"");
}

static double *view_numbers(view *v, int count)
{
    TOOL_GROW(double, v->number, v->number_capacity, count);
    return v->number;
}

/* Writes the scratch text and empties it. */
static int view_flush(view *v, tool_error *e)
{
    size_t n = (size_t)v->text.length;
    int ok = n == 0 || fwrite(v->text.data, 1, n, v->file) == n;
    v->size += n;
    v->text.length = 0;
    return ok || tool_fail(e, "%s: cannot be written: %s", v->path, strerror(errno));
}

/* ---- Weights -------------------------------------------------------------------------------- */

/* The weights as the page has them, in 32 bits. */
static void view_embed(view_body *body, const embipc_world *world, const embipc_body_view *b)
{
    size_t rows = (size_t)b->vertex_count;
    double *weight = (double *)tool_alloc(rows, 4 * sizeof *weight);
    body->node = (int *)tool_alloc(rows, 4 * sizeof *body->node);
    body->weight = (float *)tool_alloc(rows, 4 * sizeof *body->weight);
    if (embipc_body_weights(world, body->handle, body->node, weight) == EMBIPC_OK)   /* else it is fixed */
        for (int i = 0; i < 4 * b->vertex_count; i++) body->weight[i] = (float)weight[i];
    free(weight);
}

/* ---- Scene ---------------------------------------------------------------------------------- */

/* A square of the bear's paint for each triangle, whose corners are at (1, 1), (17, 1) and (1, 17) of 19 x 19
 * pixels: what lies outside is painted too, so that a picture of the squares can be read between its pixels. */
enum { VIEW_TILE = 19, VIEW_TILE_SIDE = VIEW_TILE - 3 };

/* Paints the square of a triangle of corners x into pixels of a picture so many wide; adds its colours to sum. */
static void view_paint_tile(unsigned char *pixel, int width, double *const x[3], double sum[3])
{
    for (int j = 0; j < VIEW_TILE; j++)
        for (int i = 0; i < VIEW_TILE; i++) {
            double u = (double)(i - 1) / VIEW_TILE_SIDE, v = (double)(j - 1) / VIEW_TILE_SIDE, p[3], rgb[3];
            for (int k = 0; k < 3; k++) p[k] = x[0][k] + u * (x[1][k] - x[0][k]) + v * (x[2][k] - x[0][k]);
            shape_bear_paint(NULL, p, rgb);
            for (int k = 0; k < 3; k++) {
                rgb[k] = fmin(fmax(rgb[k], 0), 1);
                sum[k] += rgb[k];
                pixel[3 * (j * width + i) + k] = (unsigned char)(255 * rgb[k] + 0.5);
            }
        }
}

/* The paint of the bear as a PNG picture, rows of squares in the order of the triangles; rgb: its mean. */
static unsigned char *view_paint(const scene_body *body, const embipc_body_view *b, int across, double rgb[3],
                                 size_t *size)
{
    int rows = (b->triangle_count + across - 1) / across, width = across * VIEW_TILE;
    unsigned char *pixels = (unsigned char *)tool_alloc((size_t)width * (size_t)(rows * VIEW_TILE), 3), *png;
    for (int k = 0; k < 3; k++) rgb[k] = 0;
    for (int t = 0; t < b->triangle_count; t++) {
        double corner[3][3], *x[3];
        for (int i = 0; i < 3; i++) {   /* the paint knows it as it was made */
            x[i] = corner[i];
            memcpy(x[i], body->def.x + 3 * b->vertex_origin[b->triangles[3 * t + i]], sizeof corner[i]);
        }
        view_paint_tile(pixels + 3 * VIEW_TILE * (t / across * width + t % across), width, x, rgb);
    }
    for (int k = 0; k < 3; k++) rgb[k] /= (double)VIEW_TILE * VIEW_TILE * b->triangle_count;
    png = png_encode(pixels, width, rows * VIEW_TILE, size);
    free(pixels);
    return png;
}

static void view_put_colour(view *v, const scene_body *body, const embipc_body_view *b, int number)
{
    int across = (int)ceil(sqrt(b->triangle_count));
    unsigned char *png = NULL;
    size_t size = 0;
    double rgb[3];
    picture_body_colour(rgb, b->kind, number);
    if (body->is_bear) png = view_paint(body, b, across, rgb, &size);
    tool_put(&v->text, ", \"colour\": [%.3g, %.3g, %.3g]", rgb[0], rgb[1], rgb[2]);
    if (!png) return;
    for (size_t i = 0; i < size; i++) view_put_byte(&v->bytes, png[i]);
    tool_put(&v->text, ", \"tile\": %d, \"across\": %d, \"paint\": \"", VIEW_TILE, across);
    view_put_base64(&v->text, &v->bytes);
    tool_put(&v->text, "\"");
    free(png);
}

static void view_put_weights(view *v, const view_body *body, const embipc_body_view *b)
{
    int per = b->kind == EMBIPC_FULL ? 1 : 4;
    int *node = (int *)tool_alloc((size_t)b->vertex_count, (size_t)per * sizeof *node);
    for (int i = 0; i < per * b->vertex_count; i++) node[i] = body->node[per == 1 ? 4 * i : i];
    view_put_indices(&v->text, &v->bytes, "node", node, per * b->vertex_count);
    free(node);
    if (per == 1) return;
    for (int i = 0; i < 4 * b->vertex_count; i++) view_put_float(&v->bytes, body->weight[i]);
    tool_put(&v->text, ", \"weight\": \"");
    view_put_base64(&v->text, &v->bytes);
    tool_put(&v->text, "\"");
}

/* What does not move is written here, once; x is then m as 32-bit floats. */
static void view_put_fixed(view *v, const embipc_body_view *b)
{
    for (int i = 0; i < 3 * b->vertex_count; i++) view_put_float(&v->bytes, (float)(b->x[i] - v->origin[i % 3]));
    tool_put(&v->text, ", \"x\": \"");
    view_put_base64(&v->text, &v->bytes);
    tool_put(&v->text, "\"");
}

static void view_put_body(view *v, int i, const embipc_body_view *b, int *colour)
{
    static const char *const kind[] = { "fixed", "kinematic", "affine", "cage", "full" };
    const scene_body *body = &v->s->body[i];
    tool_text *t = &v->text;
    tool_put(t, "%s\n{\"name\": ", i ? "," : "");
    view_put_name(t, b->name);
    tool_put(t, ", \"kind\": \"%s\", \"vertices\": %d, \"nodes\": %d", kind[b->kind], b->vertex_count,
             b->node_count);
    view_put_colour(v, body, b, *colour);
    *colour += b->kind != EMBIPC_FIXED && !body->is_bear;
    view_put_indices(t, &v->bytes, "triangle", b->triangles, 3 * b->triangle_count);
    if (b->kind == EMBIPC_FIXED) view_put_fixed(v, b);
    else {
        view_put_indices(t, &v->bytes, "tet", b->tets, 4 * b->tet_count);
        view_put_weights(v, &v->body[i], b);
    }
    tool_put(t, "}");
}

/* ---- Joints --------------------------------------------------------------------------------- */

/* Weights of p by the corners of a tet; returns the least. */
static double view_tet_weights(const embipc_body_view *b, int t, const double p[3], double w[4])
{
    const double *x[4];
    double e[3][3], r[3], n[3], volume;
    for (int k = 0; k < 4; k++) x[k] = b->q + 3 * b->tets[4 * t + k];
    for (int k = 0; k < 3; k++) tool_sub(e[k], x[k + 1], x[0]);
    tool_sub(r, p, x[0]);
    tool_cross(n, e[1], e[2]);
    volume = tool_dot(e[0], n);
    for (int k = 0; k < 3; k++) {
        tool_cross(n, e[(k + 1) % 3], e[(k + 2) % 3]);
        w[k + 1] = tool_dot(r, n) / volume;
    }
    w[0] = 1 - w[1] - w[2] - w[3];
    return fmin(fmin(w[0], w[1]), fmin(w[2], w[3]));
}

/* A point that goes with a body: its number, four nodes, and their weights; -1 and the point where nothing moves it. */
static void view_put_anchor(view *v, const embipc_world *world, int body, const double p[3], int more)
{
    embipc_body_view b;
    double best[4] = {0, 0, 0, 0}, w[4], least, most = -HUGE_VAL;
    int at = -1;
    memset(&b, 0, sizeof b);
    if (body >= 0 && embipc_body_get_view(world, v->body[body].handle, &b) == EMBIPC_OK && b.kind != EMBIPC_FIXED)
        for (int t = 0; t < b.tet_count; t++) {
            least = view_tet_weights(&b, t, p, w);
            if (!(least > most)) continue;
            most = least;
            at = t;
            memcpy(best, w, sizeof best);
        }
    tool_put(&v->text, "%s[%d", more ? ", " : "", at < 0 ? -1 : body);
    for (int k = 0; k < 3 && at < 0; k++) tool_put(&v->text, ", %.6g", p[k] - v->origin[k]);
    for (int k = 0; k < 4 && at >= 0; k++) tool_put(&v->text, ", %d", b.tets[4 * at + k]);
    for (int k = 0; k < 4 && at >= 0; k++) tool_put(&v->text, ", %.6g", best[k]);
    tool_put(&v->text, "]");
}

/* Half the length that a hinge or slider is drawn with: a fifth of its body's. */
static double view_axis_length(const view *v, const embipc_world *world, int body)
{
    embipc_body_view b;
    double lo[3], hi[3], d[3];
    if (embipc_body_get_view(world, v->body[body].handle, &b) != EMBIPC_OK) return 0;
    for (int k = 0; k < 3; k++) {
        lo[k] = hi[k] = b.x[k];
        for (int i = 1; i < b.vertex_count; i++) {
            lo[k] = fmin(lo[k], b.x[3 * i + k]);
            hi[k] = fmax(hi[k], b.x[3 * i + k]);
        }
    }
    tool_sub(d, hi, lo);
    return tool_length(d) / 5;
}

/* Is a point within a distance of a surface? */
static int view_is_near(const embipc_body_view *b, const double p[3], double distance)
{
    double x[12];
    memcpy(x, p, 3 * sizeof *x);
    for (int t = 0; t < b->triangle_count; t++) {
        for (int k = 0; k < 3; k++) memcpy(x + 3 * k + 3, b->x + 3 * b->triangles[3 * t + k], 3 * sizeof *x);
        if (embipc_point_triangle_distance(x, NULL) <= distance) return 1;
    }
    return 0;
}

/* Vertices of an attachment as points on b: all that it holds, or evenly VIEW_ATTACHED of them. */
enum { VIEW_ATTACHED = 100 };
static void view_put_attached(view *v, const embipc_world *world, const scene_joint *p)
{
    embipc_body_view a, b;
    int *held, count = 0, step, near_a;
    memset(&a, 0, sizeof a);
    if (embipc_body_get_view(world, v->body[p->b].handle, &b) != EMBIPC_OK) return;
    near_a = p->def.distance > 0 && p->a >= 0 && embipc_body_get_view(world, v->body[p->a].handle, &a) == EMBIPC_OK;
    held = (int *)tool_alloc((size_t)b.vertex_count + 1, sizeof *held);
    for (int i = 0; i < b.vertex_count; i++)
        if ((!p->has_box || scene_in_box(b.x + 3 * i, p->box)) &&
            (!near_a || view_is_near(&a, b.x + 3 * i, p->def.distance)))
            held[count++] = i;
    step = 1 + (count - 1) / VIEW_ATTACHED;
    for (int i = 0; i < count; i += step) view_put_anchor(v, world, p->b, b.x + 3 * held[i], i > 0);
    free(held);
}

/* What is drawn of a joint: a point on b; a line along the axis, on b of a hinge, on a of a slider; a rod from a to b;
 * points of an attachment. */
static void view_put_joint(view *v, const embipc_world *world, const scene_joint *p)
{
    const embipc_joint_def *d = &p->def;
    double length = view_axis_length(v, world, p->b) / tool_length(d->axis), x[3];
    tool_put(&v->text, "{\"kind\": \"%s\", \"at\": [", scene_joint_kinds[d->kind]);
    if (d->kind == EMBIPC_ATTACH) view_put_attached(v, world, p);
    else if (d->kind == EMBIPC_BALL || d->kind == EMBIPC_WELD) view_put_anchor(v, world, p->b, d->point, 0);
    else if (d->kind == EMBIPC_ROD) {
        view_put_anchor(v, world, p->a, d->point, 0);
        view_put_anchor(v, world, p->b, d->point_b, 1);
    } else
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < 3; k++) x[k] = d->point[k] + (i ? length : -length) * d->axis[k];
            view_put_anchor(v, world, d->kind == EMBIPC_SLIDER ? p->a : p->b, x, i);
        }
    tool_put(&v->text, "]}");
}

/* Everything that holds for the whole run, as JSON, a line for each body and joint. */
static int view_put_scene(view *v, const embipc_world *world, int every, tool_error *e)
{
    const char *slash = strrchr(v->s->path, '/');
    int colour = 0;
    double from[3];
    picture_view(from, v->s, world);
    tool_put(&v->text, "<script id=\"scene\" type=\"application/json\">\n{\"version\": 1, \"name\": ");
    view_put_name(&v->text, slash ? slash + 1 : v->s->path);
    tool_put(&v->text, ", \"time_step\": %.9g, \"duration\": %.9g, \"every\": %d", v->s->world.time_step,
             v->s->duration, every);
    tool_put(&v->text, ", \"origin\": [%.17g, %.17g, %.17g]", v->origin[0], v->origin[1], v->origin[2]);
    tool_put(&v->text, ", \"view\": [%.4g, %.4g], \"bodies\": [", atan2(from[1], from[0]),
             atan2(from[2], hypot(from[0], from[1])));
    for (int i = 0; i < v->body_count; i++) {
        embipc_body_view b;
        if (embipc_body_get_view(world, v->body[i].handle, &b) != EMBIPC_OK) continue;
        view_embed(&v->body[i], world, &b);
        view_put_body(v, i, &b, &colour);
        if (!view_flush(v, e)) return 0;
    }
    tool_put(&v->text, "\n], \"joints\": [");
    for (int i = 0; i < v->s->joint_count; i++) {
        tool_put(&v->text, "%s\n", i ? "," : "");
        view_put_joint(v, world, &v->s->joint[i]);
    }
    tool_put(&v->text, "\n]}\n</script>\n<script id=\"run\" type=\"text/plain\">\n");
    return view_flush(v, e);
}

/* ---- Frames --------------------------------------------------------------------------------- */

/* Box of points, as floats: the low corner, and the width of a unit along each axis. 65535 units hold it. */
static void view_box(float low[3], float unit[3], const double *x, int count)
{
    for (int k = 0; k < 3; k++) {
        double lo = x[k], hi = x[k];
        for (int i = 1; i < count; i++) {
            lo = fmin(lo, x[3 * i + k]);
            hi = fmax(hi, x[3 * i + k]);
        }
        low[k] = (float)lo;
        if ((double)low[k] > lo) low[k] = nextafterf(low[k], -HUGE_VALF);
        unit[k] = (float)((hi - (double)low[k]) / 65535);
        while ((double)low[k] + 65535.0 * (double)unit[k] < hi) unit[k] = nextafterf(unit[k], HUGE_VALF);
    }
}

/* Points as 16-bit numbers over their box; decoded (same size) gets what a reader will see. */
static void view_put_points(view_bytes *out, const double *x, int count, double *decoded)
{
    float low[3], unit[3];
    if (count == 0) return;
    view_box(low, unit, x, count);
    for (int k = 0; k < 3; k++) view_put_float(out, low[k]);
    for (int k = 0; k < 3; k++) view_put_float(out, unit[k]);
    for (int i = 0; i < 3 * count; i++) {
        int k = i % 3;
        double steps = unit[k] > 0 ? floor((x[i] - (double)low[k]) / (double)unit[k] + 0.5) : 0;
        unsigned value = (unsigned)fmin(fmax(steps, 0), 65535);
        view_put_16(out, value);
        decoded[i] = (double)low[k] + (double)unit[k] * value;
    }
}

/* Largest distance from x of the surface that a reader makes of the decoded nodes, which are about the origin. */
static double view_error(const view_body *body, const embipc_body_view *b, const double *decoded,
                         const double origin[3])
{
    double worst = 0;
    for (int i = 0; i < b->vertex_count; i++) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            double there = 0, x = b->x[3 * i + k] - origin[k];
            for (int j = 0; j < 4; j++)
                there += (double)body->weight[4 * i + j] * decoded[3 * body->node[4 * i + j] + k];
            square += (there - x) * (there - x);
        }
        worst = fmax(worst, square);
    }
    return sqrt(worst);
}

static void view_put_motion(view *v, const view_body *body, const embipc_body_view *b)
{
    double *decoded = view_numbers(v, 6 * b->node_count), *q = decoded + 3 * b->node_count;
    for (int i = 0; i < 3 * b->node_count; i++) q[i] = b->q[i] - v->origin[i % 3];
    view_put_points(&v->bytes, q, b->node_count, decoded);
    v->error = fmax(v->error, view_error(body, b, decoded, v->origin));
}

/* Forces on the vertices that have one: their number, then N a unit, index and three signed 16-bit numbers. */
static void view_put_forces(view *v, const embipc_world *world, embipc_body body, int vertex_count)
{
    double *f = view_numbers(v, 3 * vertex_count), largest = 0;
    uint32_t count = 0;
    float unit;
    if (embipc_body_vertex_forces(world, body, f) != EMBIPC_OK) memset(f, 0, (size_t)vertex_count * 3 * sizeof *f);
    for (int i = 0; i < 3 * vertex_count; i++) largest = fmax(largest, fabs(f[i]));
    unit = (float)(largest / 32767);
    if (!(unit > 0)) { view_put_32(&v->bytes, 0); return; }
    for (int i = 0; i < vertex_count; i++) count += f[3 * i] != 0 || f[3 * i + 1] != 0 || f[3 * i + 2] != 0;
    view_put_32(&v->bytes, count);
    view_put_float(&v->bytes, unit);
    for (int i = 0; i < vertex_count; i++) {
        if (f[3 * i] == 0 && f[3 * i + 1] == 0 && f[3 * i + 2] == 0) continue;
        if (vertex_count > 65536) view_put_32(&v->bytes, (uint32_t)i);
        else view_put_16(&v->bytes, (unsigned)i);
        for (int k = 0; k < 3; k++) {
            double steps = fmin(fmax(floor(f[3 * i + k] / (double)unit + 0.5), -32767), 32767);
            view_put_16(&v->bytes, (unsigned)(int)steps);
        }
    }
}

/* f: the largest error so far, m; then motion (of what moves) and forces of each body. */
static void view_put_frame(view *v, const embipc_world *world)
{
    for (int i = 0; i < v->body_count; i++) {
        embipc_body_view b;
        if (embipc_body_get_view(world, v->body[i].handle, &b) != EMBIPC_OK) continue;
        if (b.kind != EMBIPC_FIXED) view_put_motion(v, &v->body[i], &b);
        view_put_forces(v, world, v->body[i].handle, b.vertex_count);
    }
    tool_put(&v->text, "f %.2e ", v->error);
    view_put_base64(&v->text, &v->bytes);
    tool_put(&v->text, "\n");
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* The contacts of the last step; returns their number. */
static int view_get_contacts(view *v, const embipc_world *world)
{
    int count = embipc_world_contacts(world, v->contact, v->contact_capacity);
    if (count <= v->contact_capacity) return count;
    TOOL_GROW(embipc_contact, v->contact, v->contact_capacity, count);
    return embipc_world_contacts(world, v->contact, v->contact_capacity);
}

/* The middle of a pair's contacts, weighted with their forces. */
static void view_pair_centre(const view *v, int contacts, const embipc_pair_force *p, double centre[3])
{
    double sum = 0;
    centre[0] = centre[1] = centre[2] = 0;
    for (const embipc_contact *c = v->contact; c < v->contact + contacts; c++) {
        int forth = c->a.index1 == p->a.index1 && c->b.index1 == p->b.index1;
        int back = c->a.index1 == p->b.index1 && c->b.index1 == p->a.index1;
        double weight = c->force + 1e-30;
        if (!forth && !back) continue;
        for (int k = 0; k < 3; k++) centre[k] += weight * (c->point_a[k] + c->point_b[k]) / 2;
        sum += weight;
    }
    for (int k = 0; k < 3; k++) centre[k] = sum > 0 ? centre[k] / sum : 0;
}

/* p: numbers of the two bodies, force of b on a and its friction part, N, and where it acts, m. */
static void view_put_pairs(view *v, const embipc_pair_force *pair, int pair_count, int contacts)
{
    for (int i = 0; i < pair_count; i++) {   /* pair is NULL where there is none: no sum with it */
        const embipc_pair_force *p = &pair[i];
        double centre[3];
        view_pair_centre(v, contacts, p, centre);
        tool_sub(centre, centre, v->origin);
        tool_put(&v->text, "p %d %d", scene_index_of(v->s, p->a), scene_index_of(v->s, p->b));
        tool_put(&v->text, " %.4g %.4g %.4g", p->force[0], p->force[1], p->force[2]);
        tool_put(&v->text, " %.4g %.4g %.4g", p->friction[0], p->friction[1], p->friction[2]);
        tool_put(&v->text, " %.6g %.6g %.6g\n", centre[0], centre[1], centre[2]);
    }
}

/* m: the closest points of the nearest contact, m, and its bodies. */
static void view_put_nearest(view *v, int contacts)
{
    const embipc_contact *c;
    double a[3], b[3];
    int best = 0;
    if (contacts == 0) return;
    for (int i = 1; i < contacts; i++)
        if (v->contact[i].distance < v->contact[best].distance) best = i;
    c = &v->contact[best];
    tool_sub(a, c->point_a, v->origin);
    tool_sub(b, c->point_b, v->origin);
    tool_put(&v->text, "m %.6g %.6g %.6g", a[0], a[1], a[2]);
    tool_put(&v->text, " %.6g %.6g %.6g", b[0], b[1], b[2]);
    tool_put(&v->text, " %d %d\n", scene_index_of(v->s, c->a), scene_index_of(v->s, c->b));
}

int view_step(view *v, const embipc_world *world, const embipc_step_stats *s, const embipc_pair_force *pair,
              int pair_count, int frame, tool_error *e)
{
    int contacts = view_get_contacts(v, world);
    tool_put(&v->text, "s %d %.9g %d %d %d %d", s->step, s->time, s->newton_iterations, s->factorizations,
             s->contacts, s->converged ? 1 : 0);
    if (s->min_distance < HUGE_VAL) tool_put(&v->text, " %.5g", s->min_distance);
    else tool_put(&v->text, " -");
    tool_put(&v->text, " %.5g %.5g %.5g %.7g\n", s->kinetic, s->elastic, s->barrier, s->potential);
    view_put_pairs(v, pair, pair_count, contacts);
    view_put_nearest(v, contacts);
    if (frame) view_put_frame(v, world);
    return view_flush(v, e);
}

/* ---- The page ------------------------------------------------------------------------------- */

/* The lines of the page before the one that stands for the run, or those after it. */
static void view_put_page(view *v, int end)
{
    int at = 0;
    while (view_page[at] && strcmp(view_page[at], "@run\n") != 0) {
        if (!end) tool_put(&v->text, "%s", view_page[at]);
        at++;
    }
    while (end && view_page[at] && view_page[at + 1]) tool_put(&v->text, "%s", view_page[++at]);
}

int view_open(view *v, const char *path, const scene *s, const embipc_world *world, int every, tool_error *e)
{
    memset(v, 0, sizeof *v);
    v->path = path;
    v->s = s;
    v->file = fopen(path, "wb");
    if (!v->file) return tool_fail(e, "%s: cannot be written: %s", path, strerror(errno));
    setvbuf(v->file, NULL, _IONBF, 0);   /* a write is a write: no half line waits in a buffer */
    v->body_count = s->body_count;
    v->body = (view_body *)tool_alloc((size_t)s->body_count, sizeof *v->body);
    for (int i = 0; i < s->body_count; i++) v->body[i].handle = s->body[i].handle;
    scene_origin(s, world, v->origin);
    view_put_page(v, 0);
    if (!view_put_scene(v, world, every, e)) return 0;
    tool_put(&v->text, "s 0 0\n");   /* the start has no step's numbers */
    view_put_frame(v, world);
    return view_flush(v, e);
}

int view_close(view *v, tool_error *e)
{
    int ok = 1;
    if (v->file) {
        v->text.length = 0;   /* of a step that failed */
        tool_put(&v->text, "</script>\n");
        view_put_page(v, 1);
        ok = view_flush(v, e);
        if (fclose(v->file) != 0 && ok) ok = tool_fail(e, "%s: cannot be written: %s", v->path, strerror(errno));
    }
    for (int i = 0; i < v->body_count; i++) {
        free(v->body[i].node);
        free(v->body[i].weight);
    }
    free(v->body);
    free(v->bytes.data);
    free(v->contact);
    free(v->number);
    tool_text_free(&v->text);
    memset(v, 0, sizeof *v);
    return ok;
}
