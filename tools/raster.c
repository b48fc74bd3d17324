/* A small software rasteriser, deferred: first every sample of the picture learns which face it sees, then
 * the seen faces are lit, then see-through faces are laid over, then samples are averaged to pixels. The
 * picture is drawn in bands of rows to keep this small.
 *
 * Soft light without filters: the key light is a small disc and the sky a half-sphere, both made of many
 * parallel lights with a shadow map each. Shadows are looked up once for each smooth surface in a block of
 * pixels, which is smaller than a texel of the maps. Samples of a pixel that see one smooth surface are lit once.
 * Where colours are mixed sample by sample, the nine samples of a pixel share the lights among themselves. */
#include "raster.h"
#include "common.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RASTER_PI 3.14159265358979323846

enum {
    RASTER_SIDE = 3,                            /* samples a pixel, along a row */
    RASTER_SAMPLES = RASTER_SIDE * RASTER_SIDE,
    RASTER_KEYS = 3 * RASTER_SAMPLES,           /* lights that make the key light */
    RASTER_SKIES = 5 * RASTER_SAMPLES,          /* and the sky */
    RASTER_LIGHTS = RASTER_KEYS + RASTER_SKIES,
    RASTER_BAND = 64,                           /* rows of pixels drawn at a time */
    RASTER_BLOCK = 2,                           /* pixels along a side that share shadows */
    RASTER_TABLE = 1024,                        /* steps of the tables of sRGB */
    RASTER_GRID = 256                           /* steps of a screen coordinate per sample */
};

/* ==== 1. The scene =========================================================================== */

typedef struct raster_object {
    double *x, *rest;       /* node positions, drawn and material (rest may be x) */
    double *normal;         /* of the three corners of each triangle */
    int *tri;
    int nv, nt;
    double edge;            /* mean edge length */
    double rgb[3];          /* of its look, linear */
    raster_look look;
} raster_object;

typedef struct raster_text {
    char *text;
    int x, y, scale;
    double rgb[3];
} raster_text;

/* What a light meets first: how high it is towards the light, and the object it belongs to. */
typedef struct raster_blocker {
    float height;
    int object;
} raster_blocker;

/* Parallel light from direction `toward`, with its blockers on a square grid across it. */
typedef struct raster_lamp {
    double toward[3], u[3], v[3];
    float map[3][4];        /* column and row of its map, and height, of a point relative to the middle */
    raster_blocker *blocker;
} raster_lamp;

/* A triangle on the screen; a triangle cut by the near plane gives one or two. */
typedef struct raster_face {
    int64_t x[3], y[3];     /* in grid steps */
    double w[3];            /* 1 / depth */
    double weight[3][3];    /* of the original corners at these corners */
    double nearness;        /* mean of w, to sort see-through faces */
    int object, tri, order;
    int wire[3];            /* is the edge from corner i to the next an edge of the original */
} raster_face;

struct raster_scene {
    int width, height;
    raster_object *object;
    int objects;
    raster_text *text;
    int texts;
    double top[3], bottom[3], light[3];                 /* background; towards the key light */
    int has_light, has_ground, has_camera;              /* without light it comes over the left shoulder of the camera */
    double ground_z, ground_check, ground_rgb[2][3], ground_linear[2][3];
    double eye[3], right[3], up[3], ahead[3], focal;    /* focal length in samples */
    /* while drawing */
    double centre[3], radius;                           /* ball around what casts shadows */
    raster_lamp lamp[RASTER_LIGHTS];
    int map;                                            /* shadow map size */
    float *cast;                                        /* column, row and height of vertices in one map */
    float across[3][4][RASTER_LIGHTS];                  /* raster_lamp.map of all */
    float spread[2][RASTER_LIGHTS];                     /* steps in a block to where each looks */
    float shoulder[RASTER_TABLE + 2];                   /* from 0.8 to 2.8 */
    float linear[RASTER_TABLE + 2], srgb[RASTER_TABLE + 2];   /* of c, and of the square root of a linear c */
    raster_face *face;
    int faces, face_room, opaque;                       /* see-through faces come after the opaque ones */
};

/* scales to length 1, and returns the length it had; a null vector stays */
static double raster_unit(double a[3])
{
    double length = tool_length(a);
    if (length > 0)
        for (int i = 0; i < 3; i++) a[i] /= length;
    return length;
}

static double raster_clamp(double v, double lo, double hi) { return v > lo ? (v < hi ? v : hi) : lo; }

/* 0 to 1 without corners while v goes from lo to hi */
static double raster_step(double v, double lo, double hi)
{
    double t = raster_clamp((v - lo) / (hi - lo), 0, 1);
    return t * t * (3 - 2 * t);
}

/* two unit vectors across the unit vector n */
static void raster_across(double u[3], double v[3], const double n[3])
{
    double axis[3] = {0, 0, 0};
    axis[fabs(n[2]) < 0.9 ? 2 : 0] = 1;
    tool_cross(u, axis, n);
    raster_unit(u);
    tool_cross(v, n, u);
}

raster_look raster_default_look(void)
{
    raster_look look;
    memset(&look, 0, sizeof look);
    for (int i = 0; i < 3; i++) {
        look.rgb[i] = 0.7;
        look.wire_rgb[i] = 0.1;
    }
    look.alpha = 1;
    look.crease = 60;
    look.wire_width = 1;
    look.wire_alpha = 0.8;
    look.gloss = 0.08;
    return look;
}

raster_scene *raster_create(int width, int height)
{
    static const double top[3] = {0.93, 0.95, 0.97}, bottom[3] = {0.99, 0.99, 0.985};
    raster_scene *s;
    if (width < 1 || height < 1 || width > 16384 || height > 16384) return NULL;
    s = (raster_scene *)calloc(1, sizeof *s);
    if (!s) return NULL;
    s->width = width;
    s->height = height;
    memcpy(s->top, top, sizeof s->top);
    memcpy(s->bottom, bottom, sizeof s->bottom);
    return s;
}

static void raster_free_object(raster_object *o)
{
    if (o->rest != o->x) free(o->rest);
    free(o->x);
    free(o->tri);
    free(o->normal);
}

/* frees what one picture needed */
static void raster_clean(raster_scene *s)
{
    for (int i = 0; i < RASTER_LIGHTS; i++) {
        free(s->lamp[i].blocker);
        s->lamp[i].blocker = NULL;
    }
    free(s->face);
    free(s->cast);
    s->face = NULL;
    s->cast = NULL;
    s->faces = s->face_room = s->opaque = 0;
}

void raster_destroy(raster_scene *scene)
{
    if (!scene) return;
    raster_clean(scene);
    for (int i = 0; i < scene->objects; i++) raster_free_object(scene->object + i);
    for (int i = 0; i < scene->texts; i++) free(scene->text[i].text);
    free(scene->object);
    free(scene->text);
    free(scene);
}

/* The normal at a corner: sum of the area vectors of the triangles at its node whose faces turn less than the
 * crease angle from the corner's own. */
static int raster_normals(raster_object *o)
{
    int *first = (int *)calloc((size_t)o->nv + 2, sizeof *first),
        *list = (int *)malloc((3 * (size_t)o->nt + 1) * sizeof *list);
    double *area = (double *)malloc((3 * (size_t)o->nt + 1) * sizeof *area),
           limit = cos(o->look.crease * RASTER_PI / 180);
    int good = first && list && area;
    for (int t = 0; good && t < o->nt; t++) {
        double a[3], b[3];
        tool_sub(a, o->x + 3 * o->tri[3 * t + 1], o->x + 3 * o->tri[3 * t]);
        tool_sub(b, o->x + 3 * o->tri[3 * t + 2], o->x + 3 * o->tri[3 * t]);
        tool_cross(area + 3 * t, a, b);
        o->edge += (tool_length(a) + tool_length(b)) / (2.0 * o->nt);
        for (int c = 0; c < 3; c++) first[o->tri[3 * t + c] + 2]++;
    }
    for (int v = 0; good && v < o->nv; v++) first[v + 2] += first[v + 1];
    for (int i = 0; good && i < 3 * o->nt; i++) list[first[o->tri[i] + 1]++] = i / 3;
    for (int i = 0; good && i < 3 * o->nt; i++) {
        const double *own = area + 3 * (i / 3);
        double *n = o->normal + 3 * i, size = tool_length(own);
        memcpy(n, own, 3 * sizeof *n);
        for (int k = first[o->tri[i]]; k < first[o->tri[i] + 1] && !(o->look.flags & RASTER_FLAT); k++) {
            const double *other = area + 3 * list[k];
            if (list[k] == i / 3 || tool_dot(own, other) < limit * size * tool_length(other))
                continue;
            for (int c = 0; c < 3; c++) n[c] += other[c];
        }
        raster_unit(n);
    }
    free(first);
    free(list);
    free(area);
    return good;
}

int raster_add_mesh(raster_scene *scene, const double *x, int nv, const int *tri, int nt,
                    const raster_look *look)
{
    raster_object o = {0}, *grown;
    size_t nodes, corners;
    if (nv < 0 || nt < 0) return -1;
    nodes = 3 * (size_t)nv;
    corners = 3 * (size_t)nt;
    for (size_t i = 0; i < corners; i++)
        if (tri[i] < 0 || tri[i] >= nv) return -1;
    for (size_t i = 0; i < nodes; i++)
        if (!(fabs(x[i]) < 1e30)) return -1;
    o.look = *look;
    o.nv = nv;
    o.nt = nt;
    o.x = (double *)malloc((nodes + 1) * sizeof *o.x);
    o.rest = look->rest ? (double *)malloc((nodes + 1) * sizeof *o.rest) : o.x;
    o.tri = (int *)malloc((corners + 1) * sizeof *o.tri);
    o.normal = (double *)malloc((3 * corners + 1) * sizeof *o.normal);
    grown = (raster_object *)realloc(scene->object, ((size_t)scene->objects + 1) * sizeof *grown);
    if (grown) scene->object = grown;
    if (o.x && o.rest && o.tri && o.normal && grown) {
        if (nodes) memcpy(o.x, x, nodes * sizeof *x);
        if (look->rest && nodes) memcpy(o.rest, look->rest, nodes * sizeof *x);
        if (corners) memcpy(o.tri, tri, corners * sizeof *tri);
        if (raster_normals(&o)) {
            scene->object[scene->objects] = o;
            return scene->objects++;
        }
    }
    raster_free_object(&o);
    return -1;
}

void raster_ground(raster_scene *scene, double z, double check, const double rgb_a[3], const double rgb_b[3])
{
    scene->has_ground = 1;
    scene->ground_z = z;
    scene->ground_check = check;
    memcpy(scene->ground_rgb[0], rgb_a, sizeof scene->ground_rgb[0]);
    memcpy(scene->ground_rgb[1], rgb_b, sizeof scene->ground_rgb[1]);
}

int raster_label(raster_scene *scene, const char *text, int x, int y, int scale, const double rgb[3])
{
    raster_text *grown = (raster_text *)realloc(scene->text, ((size_t)scene->texts + 1) * sizeof *grown), *t;
    if (!grown) return 0;
    scene->text = grown;
    t = grown + scene->texts;
    t->text = (char *)malloc(strlen(text) + 1);
    if (!t->text) return 0;
    strcpy(t->text, text);
    t->x = x;
    t->y = y;
    t->scale = scale > 1 ? scale : 1;
    memcpy(t->rgb, rgb, sizeof t->rgb);
    scene->texts++;
    return 1;
}

/* ==== 2. The camera ========================================================================== */

/* fov is the vertical angle in degrees */
static void raster_camera(raster_scene *scene, const double eye[3], const double target[3], const double up[3],
                          double fov)
{
    memcpy(scene->eye, eye, sizeof scene->eye);
    tool_sub(scene->ahead, target, eye);
    if (!(raster_unit(scene->ahead) > 0)) scene->ahead[0] = 1;
    tool_cross(scene->right, scene->ahead, up);
    if (raster_unit(scene->right) < 1e-9) raster_across(scene->right, scene->up, scene->ahead);
    tool_cross(scene->up, scene->right, scene->ahead);
    scene->focal = 0.5 * scene->height * RASTER_SIDE / tan(0.5 * raster_clamp(fov, 1, 170) * RASTER_PI / 180);
    scene->has_camera = 1;
}

/* the box of all meshes that cast shadows; 0 when there is none */
static int raster_bounds(const raster_scene *scene, double low[3], double high[3])
{
    int found = 0;
    for (int i = 0; i < scene->objects; i++) {
        const raster_object *o = scene->object + i;
        for (int v = 0; v < o->nv && !(o->look.flags & RASTER_NO_SHADOW); v++)
            for (int c = 0; c < 3; c++) {
                double p = o->x[3 * v + c];
                low[c] = found > 2 ? fmin(low[c], p) : p;
                high[c] = found > 2 ? fmax(high[c], p) : p;
                if (found <= 2) found++;
            }
    }
    return found > 0;
}

/* Where to look, along one axis across the view, so that the corners reach equally far to both sides: the
 * middle s with max (a - s) / (D + c) = max (s - a) / (D + c), for corners a across and c ahead. */
static double raster_middle(const double a[8], const double c[8], double distance)
{
    double lo = a[0], hi = a[0];
    for (int k = 1; k < 8; k++) {
        lo = fmin(lo, a[k]);
        hi = fmax(hi, a[k]);
    }
    for (int round = 0; round < 50; round++) {
        double s = 0.5 * (lo + hi), left = 0, right = 0;
        for (int k = 0; k < 8; k++) {
            left = fmax(left, (s - a[k]) / (distance + c[k]));
            right = fmax(right, (a[k] - s) / (distance + c[k]));
        }
        if (right > left) lo = s;
        else hi = s;
    }
    return 0.5 * (lo + hi);
}

/* A corner a across and c ahead of the target is in view from distance D when |a - s| <= (D + c) slope. The
 * smallest D that allows an s follows from the largest of a - c slope and of -a - c slope. */
void raster_frame(raster_scene *scene, const double low[3], const double high[3], const double from[3],
                  double fov)
{
    static const double up[3] = {0, 0, 1};
    double target[3], eye[3], way[3], slope, across[2][8], deep[8], distance = 0;
    memcpy(way, from, sizeof way);
    if (!(raster_unit(way) > 0)) way[0] = 1;
    for (int i = 0; i < 3; i++) {
        target[i] = 0.5 * (low[i] + high[i]);
        eye[i] = target[i] + way[i];
    }
    raster_camera(scene, eye, target, up, fov);
    for (int a = 0; a < 2; a++) {
        double most[2] = {-1e300, -1e300};
        slope = 0.88 * 0.5 * RASTER_SIDE * (a ? scene->height : scene->width) / scene->focal;
        for (int k = 0; k < 8; k++) {
            double d[3];
            for (int i = 0; i < 3; i++) d[i] = (k >> i & 1 ? high[i] : low[i]) - target[i];
            deep[k] = tool_dot(d, scene->ahead);
            across[a][k] = tool_dot(d, a ? scene->up : scene->right);
            most[0] = fmax(most[0], across[a][k] - slope * deep[k]);
            most[1] = fmax(most[1], -across[a][k] - slope * deep[k]);
        }
        distance = fmax(distance, 0.5 * (most[0] + most[1]) / slope);
    }
    for (int a = 0; a < 2; a++) {
        double s = raster_middle(across[a], deep, distance);
        for (int i = 0; i < 3; i++) target[i] += s * (a ? scene->up[i] : scene->right[i]);
    }
    for (int i = 0; i < 3; i++) eye[i] = target[i] + fmax(distance, 1e-9) * way[i];
    raster_camera(scene, eye, target, up, fov);
}

/* ==== 3. Lights and their shadow maps ======================================================== */

/* the highest of a triangle on the map of one light; p: what raster_scene.cast has of its corners */
static void raster_shadow_triangle(const raster_scene *s, raster_lamp *l, const float *const p[3], int object)
{
    float x0 = p[0][0], x1 = p[1][0], x2 = p[2][0], y0 = p[0][1], y1 = p[1][1], y2 = p[2][1];
    float area = (x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0), last = (float)s->map, inverse = 1 / area;
    float lo_x = x0 < x1 ? x0 : x1, hi_x = x0 > x1 ? x0 : x1, lo_y = y0 < y1 ? y0 : y1, hi_y = y0 > y1 ? y0 : y1;
    int from, to;
    lo_x = lo_x < x2 ? lo_x : x2;
    hi_x = hi_x > x2 ? hi_x : x2;
    lo_y = lo_y < y2 ? lo_y : y2;
    hi_y = hi_y > y2 ? hi_y : y2;
    if (!(fabsf(inverse) < 1e30f) || hi_x < 0 || hi_y < 0 || lo_x > last || lo_y > last) return;
    from = lo_x > 0 ? (int)(lo_x + 0.5f) : 0;   /* texels whose middle, half a step on, may be covered */
    to = hi_x < last - 0.5f ? (int)(hi_x + 0.5f) - 1 : s->map - 1;
    for (int j = lo_y > 0 ? (int)(lo_y + 0.5f) : 0; j < s->map && (float)j + 0.5f <= hi_y; j++)
        for (int i = from; i <= to; i++) {
            float px = (float)i + 0.5f, py = (float)j + 0.5f, height;
            float e0 = ((x2 - x1) * (py - y1) - (y2 - y1) * (px - x1)) * inverse;
            float e1 = ((x0 - x2) * (py - y2) - (y0 - y2) * (px - x2)) * inverse, e2 = 1 - e0 - e1;
            raster_blocker *at = l->blocker + j * s->map + i;
            if (e0 < 0 || e1 < 0 || e2 < 0) continue;
            height = e0 * p[0][2] + e1 * p[1][2] + e2 * p[2][2];
            if (height <= at->height) continue;
            at->height = height;
            at->object = object;
        }
}

/* Casts an object on the map of one light. */
static void raster_shadow_object(const raster_scene *s, raster_lamp *l, int object)
{
    const raster_object *o = s->object + object;
    for (int v = 0; v < o->nv; v++) {
        float d[3];
        for (int i = 0; i < 3; i++) d[i] = (float)(o->x[3 * v + i] - s->centre[i]);
        for (int i = 0; i < 3; i++) {
            const float *m = l->map[i];
            s->cast[3 * v + i] = m[0] * d[0] + m[1] * d[1] + m[2] * d[2] + m[3];
        }
    }
    for (int t = 0; t < o->nt; t++) {
        const float *p[3];
        for (int c = 0; c < 3; c++) p[c] = s->cast + 3 * o->tri[3 * t + c];
        raster_shadow_triangle(s, l, p, object);
    }
}

/* Directions of all lights. Points of a disc or a half-sphere at equal steps of area and turns of the golden
 * angle cover it evenly; light i serves sample i modulo RASTER_SAMPLES. */
static void raster_place_lights(raster_scene *s)
{
    static const double golden = 2.39996322972865332;
    double u[3], v[3];
    if (!s->has_light) {
        for (int i = 0; i < 3; i++) s->light[i] = -0.45 * s->ahead[i] - 0.55 * s->right[i];
        s->light[2] += 0.95;
        raster_unit(s->light);
    }
    raster_across(u, v, s->light);
    for (int i = 0; i < RASTER_LIGHTS; i++) {
        raster_lamp *l = s->lamp + i;
        int k = i - RASTER_KEYS;
        if (i < RASTER_KEYS) {
            double r = 0.08 * sqrt((i + 0.5) / RASTER_KEYS);
            for (int c = 0; c < 3; c++)
                l->toward[c] = s->light[c] + r * (cos(golden * i) * u[c] + sin(golden * i) * v[c]);
        } else {
            double z = 1 - 0.96 * (k + 0.5) / RASTER_SKIES, r = sqrt(1 - z * z);
            l->toward[0] = r * cos(golden * k);
            l->toward[1] = r * sin(golden * k);
            l->toward[2] = z;
        }
        raster_unit(l->toward);
        raster_across(l->u, l->v, l->toward);
        for (int c = 0; c < 3; c++) {
            l->map[0][c] = (float)(0.5 * s->map / s->radius * l->u[c]);
            l->map[1][c] = (float)(0.5 * s->map / s->radius * l->v[c]);
            l->map[2][c] = (float)l->toward[c];
        }
        l->map[0][3] = l->map[1][3] = 0.5f * (float)s->map;
        l->map[2][3] = 0;
        for (int m = 0; m < 12; m++) s->across[m / 4][m % 4][i] = l->map[m / 4][m % 4];
        s->spread[0][i] = (float)(i % RASTER_SIDE);
        s->spread[1][i] = (float)(i / RASTER_SIDE % RASTER_SIDE);
    }
}

static int raster_shadow_maps(raster_scene *s)
{
    double low[3] = {0, 0, 0}, high[3] = {1, 1, 1}, half[3];
    int most = 0;
    raster_bounds(s, low, high);
    for (int i = 0; i < 3; i++) {
        s->centre[i] = 0.5 * (low[i] + high[i]);
        half[i] = 0.5 * (high[i] - low[i]);
    }
    s->radius = fmax(1.01 * tool_length(half), 1e-9);
    s->map = (int)raster_clamp(0.3 * (s->width > s->height ? s->width : s->height), 96, 400);
    raster_place_lights(s);
    for (int o = 0; o < s->objects; o++) most = s->object[o].nv > most ? s->object[o].nv : most;
    s->cast = (float *)malloc((3 * (size_t)most + 1) * sizeof *s->cast);
    if (!s->cast) return 0;
    for (int i = 0; i < RASTER_LIGHTS; i++) {
        raster_lamp *l = s->lamp + i;
        int cells = s->map * s->map;
        l->blocker = (raster_blocker *)malloc((size_t)cells * sizeof *l->blocker);
        if (!l->blocker) return 0;
        for (int k = 0; k < cells; k++) {
            l->blocker[k].height = -3.4e38f;
            l->blocker[k].object = -1;
        }
        for (int o = 0; o < s->objects; o++) {
            const raster_object *b = s->object + o;
            if (b->look.alpha == 1 && !(b->look.flags & RASTER_NO_SHADOW)) raster_shadow_object(s, l, o);
        }
    }
    return 1;
}

static double raster_to_linear(double c) { return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4); }
static double raster_to_srgb(double c)
{
    return c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
}

/* Colours of the scene, linear, and tables of others. */
static void raster_make_tables(raster_scene *s)
{
    for (int i = 0; i < RASTER_TABLE + 2; i++) {
        double c = (double)i / RASTER_TABLE;
        s->linear[i] = (float)raster_to_linear(c);
        s->srgb[i] = (float)raster_to_srgb(c * c);
        s->shoulder[i] = (float)(0.8 + 0.2 * (1 - exp(-10 * c)));
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) s->ground_linear[k][i] = raster_to_linear(s->ground_rgb[k][i]);
        for (int o = 0; o < s->objects; o++)
            s->object[o].rgb[i] = raster_to_linear(raster_clamp(s->object[o].look.rgb[i], 0, 1));
    }
}

/* straight between the entries; c is 0 to 1 */
static double raster_look_up(const float *table, double c)
{
    double at = c * RASTER_TABLE;
    int i = (int)at;
    return (double)table[i] + (at - i) * (double)(table[i + 1] - table[i]);
}

static double raster_linear(const raster_scene *s, double c)
{
    return raster_look_up(s->linear, raster_clamp(c, 0, 1));
}

/* Sums of the directions of the lights that reach a point: their product with a normal nearby is the light on it. */
typedef struct raster_reach {
    double key[3], sky[3];
} raster_reach;

/* How a point is lit: times its linear colour, and added to that. */
typedef struct raster_lit {
    double light[3], shine[3];
} raster_lit;

/* Steps along the surface at p, with unit normal n, to the next sample of a block to the right and below; 0 where it is
 * seen so flat that they would be long. */
static void raster_steps(const raster_scene *s, const double p[3], const double n[3], float out[2][3])
{
    double ray[3], slope, size;
    tool_sub(ray, p, s->eye);
    slope = tool_dot(n, ray);
    size = tool_dot(ray, s->ahead) / s->focal * RASTER_BLOCK;
    if (!(fabs(slope) > 0.15 * tool_length(ray))) size = 0;
    for (int k = 0; k < 2; k++) {
        const double *axis = k ? s->up : s->right;
        double along = size > 0 ? tool_dot(n, axis) / slope : 0;
        for (int i = 0; i < 3; i++) out[k][i] = (float)((k ? -size : size) * (axis[i] - along * ray[i]));
    }
}

/* Which lights of first, first + step and so on, which stand for all, reach p with unit normal n. If these are all
 * lights, they look at places all over the block. object is -1 for the ground. A blocker on the object itself counts
 * only when it is further off than a triangle is wide: smooth shading bends the light around the facets, and so must
 * the shadows. */
static void raster_look_around(const raster_scene *s, raster_reach *out, const double p[3], const double n[3],
                               int object, int first, int step)
{
    double texel = 2 * s->radius / s->map;
    float d[3], normal[3], sum[2][3] = {{0, 0, 0}, {0, 0, 0}}, other = (float)(0.5 * texel), own = other;
    float along[2][3] = {{0, 0, 0}, {0, 0, 0}}, facing[RASTER_LIGHTS], at[3][RASTER_LIGHTS], side = (float)s->map;
    if (step == 1) raster_steps(s, p, n, along);
    if (object >= 0) own = (float)fmax(texel, s->object[object].edge);
    for (int i = 0; i < 3; i++) {
        d[i] = (float)(p[i] + 1.5 * texel * n[i] - s->centre[i]);
        normal[i] = (float)n[i];
    }
    for (int k = 0; k < 3; k++) {   /* column, row and height of the point on the map of each light */
        const float (*m)[RASTER_LIGHTS] = s->across[k];
        for (int i = 0; i < RASTER_LIGHTS; i++)
            at[k][i] = m[3][i] + m[0][i] * (d[0] + s->spread[0][i] * along[0][0] + s->spread[1][i] * along[1][0]) +
                       m[1][i] * (d[1] + s->spread[0][i] * along[0][1] + s->spread[1][i] * along[1][1]) +
                       m[2][i] * (d[2] + s->spread[0][i] * along[0][2] + s->spread[1][i] * along[1][2]);
    }
    for (int i = 0; i < RASTER_LIGHTS; i++)
        facing[i] = normal[0] * s->across[2][0][i] + normal[1] * s->across[2][1][i] + normal[2] * s->across[2][2][i];
    for (int i = first; i < RASTER_LIGHTS; i += step) {
        const raster_lamp *l = s->lamp + i;
        if (facing[i] <= 0) continue;
        if (at[0][i] >= 0 && at[1][i] >= 0 && at[0][i] < side && at[1][i] < side) {
            const raster_blocker *block = l->blocker + (int)at[1][i] * s->map + (int)at[0][i];
            if (block->height - at[2][i] >= (block->object == object ? own : other)) continue;
        }
        for (int c = 0; c < 3; c++) sum[i >= RASTER_KEYS][c] += l->map[2][c];
    }
    for (int c = 0; c < 3; c++) {
        out->key[c] = (double)sum[0][c] * step / RASTER_KEYS;
        out->sky[c] = 2 * (double)sum[1][c] * step / RASTER_SKIES;
    }
}

/* A matt surface with a faint highlight at p with unit normal n. */
static void raster_shade(const raster_scene *s, raster_lit *out, const raster_reach *reach, const double p[3],
                         const double n[3], double gloss)
{
    static const double key_rgb[3] = {1.0, 0.95, 0.87}, sky_rgb[3] = {0.86, 0.93, 1.0},
                        floor_rgb[3] = {1, 0.96, 0.9};
    double key = fmax(0, tool_dot(n, reach->key)), sky = fmax(0, tool_dot(n, reach->sky)), shine = 0, half[3];
    double fill = fmax(0, 0.7 * tool_dot(n, s->right) - 0.5 * tool_dot(n, s->ahead) + 0.2 * n[2]);
    double floor_light = 0.5 - 0.5 * n[2];
    if (gloss > 0 && key > 0) {
        double c4, c8;
        tool_sub(half, s->eye, p);
        raster_unit(half);
        for (int i = 0; i < 3; i++) half[i] += s->light[i];
        raster_unit(half);
        c4 = fmax(0, tool_dot(n, half));
        c4 *= c4;
        c4 *= c4;
        c8 = c4 * c4;
        shine = gloss * fmin(1, 4 * key) * c8 * c8 * c8 * c4;   /* to the power of 28 */
    }
    for (int i = 0; i < 3; i++) {
        out->light[i] = 0.80 * key * key_rgb[i] + 0.42 * sky * sky_rgb[i] + 0.10 * fill +
                        0.16 * floor_light * floor_rgb[i];
        out->shine[i] = shine * key_rgb[i];
    }
}

/* ==== 4. Faces on the screen ================================================================= */

typedef struct raster_corner {
    double p[3];            /* right, up, ahead of the camera */
    double weight[3];
} raster_corner;

static int raster_add_face(raster_scene *s, const raster_corner *corner[3], int object, int tri)
{
    raster_face f;
    memset(&f, 0, sizeof f);
    if (s->faces == s->face_room) {
        int room = s->face_room ? 2 * s->face_room : 1024;
        raster_face *grown = (raster_face *)realloc(s->face, (size_t)room * sizeof *grown);
        if (!grown) return 0;
        s->face = grown;
        s->face_room = room;
    }
    for (int c = 0; c < 3; c++) {
        const raster_corner *k = corner[c], *next = corner[(c + 1) % 3];
        double x = 0.5 * s->width * RASTER_SIDE + s->focal * k->p[0] / k->p[2];
        double y = 0.5 * s->height * RASTER_SIDE - s->focal * k->p[1] / k->p[2];
        f.x[c] = (int64_t)floor(raster_clamp(x, -1e6, 1e6) * RASTER_GRID + 0.5);
        f.y[c] = (int64_t)floor(raster_clamp(y, -1e6, 1e6) * RASTER_GRID + 0.5);
        f.w[c] = 1 / k->p[2];
        f.nearness += f.w[c] / 3;
        memcpy(f.weight[c], k->weight, sizeof f.weight[c]);
        for (int i = 0; i < 3; i++) f.wire[c] |= k->weight[i] == 0 && next->weight[i] == 0;
    }
    f.object = object;
    f.tri = tri;
    f.order = s->faces;
    s->face[s->faces++] = f;
    return 1;
}

/* the part of a triangle beyond the near plane, as faces */
static int raster_project(raster_scene *s, int object, int tri, double nearest)
{
    const raster_object *o = s->object + object;
    raster_corner in[3], out[4];
    int count = 0;
    for (int c = 0; c < 3; c++) {
        double d[3];
        tool_sub(d, o->x + 3 * o->tri[3 * tri + c], s->eye);
        in[c].p[0] = tool_dot(d, s->right);
        in[c].p[1] = tool_dot(d, s->up);
        in[c].p[2] = tool_dot(d, s->ahead);
        for (int i = 0; i < 3; i++) in[c].weight[i] = i == c;
    }
    for (int c = 0; c < 3; c++) {
        const raster_corner *a = in + c, *b = in + (c + 1) % 3;
        if (a->p[2] >= nearest) out[count++] = *a;
        if ((a->p[2] >= nearest) != (b->p[2] >= nearest)) {
            double t = (nearest - a->p[2]) / (b->p[2] - a->p[2]);
            for (int i = 0; i < 3; i++) {
                out[count].p[i] = a->p[i] + t * (b->p[i] - a->p[i]);
                out[count].weight[i] = a->weight[i] + t * (b->weight[i] - a->weight[i]);
            }
            out[count++].p[2] = nearest;
        }
    }
    for (int c = 2; c < count; c++) {
        const raster_corner *corner[3];
        corner[0] = out; corner[1] = out + c - 1; corner[2] = out + c;
        if (!raster_add_face(s, corner, object, tri)) return 0;
    }
    return 1;
}

/* far ones first, then in the order they came */
static int raster_compare_faces(const void *a, const void *b)
{
    const raster_face *f = (const raster_face *)a, *g = (const raster_face *)b;
    if (f->nearness < g->nearness || f->nearness > g->nearness) return f->nearness < g->nearness ? -1 : 1;
    return f->order < g->order ? -1 : f->order > g->order;
}

static int raster_faces(raster_scene *s)
{
    double d[3], nearest;
    tool_sub(d, s->centre, s->eye);
    nearest = fmax(0.05 * (tool_length(d) - s->radius), 1e-3 * s->radius);
    for (int pass = 0; pass < 2; pass++) {
        for (int o = 0; o < s->objects; o++) {
            if ((s->object[o].look.alpha < 1) != (pass == 1)) continue;
            for (int t = 0; t < s->object[o].nt; t++)
                if (!raster_project(s, o, t, nearest)) return 0;
        }
        if (pass == 0) s->opaque = s->faces;
    }
    if (s->faces > s->opaque)
        qsort(s->face + s->opaque, (size_t)(s->faces - s->opaque), sizeof *s->face, raster_compare_faces);
    return 1;
}

/* ==== 5. Drawing ============================================================================= */

/* One band: samples of its rows, what they see, and their linear colour. */
typedef struct raster_band {
    int columns, rows, first;       /* in samples; `first` row of the picture */
    double *w;                      /* 1 / depth of what is seen, 0 for nothing */
    int *face;                      /* or -1 */
    float *rgb;
} raster_band;

/* twice the area of (a, b, p) on the grid, exact; positive on one side of the line a to b */
static int64_t raster_edge(const raster_face *f, int a, int b, int64_t x, int64_t y)
{
    return (f->x[b] - f->x[a]) * (y - f->y[a]) - (f->y[b] - f->y[a]) * (x - f->x[a]);
}

/* Is sample (x, y) on the face: its three edge values share the sign of the area; on an edge exactly one of
 * the two faces that meet there has it. e returns the weights of the corners on the screen. */
static int raster_covers(const raster_face *f, int64_t area, int64_t x, int64_t y, double e[3])
{
    double size;
    for (int c = 0; c < 3; c++) {
        int a = (c + 1) % 3, b = (c + 2) % 3;
        int64_t v = raster_edge(f, a, b, x, y), dx = f->x[b] - f->x[a], dy = f->y[b] - f->y[a];
        if (area < 0) {
            v = -v; dx = -dx; dy = -dy;
        }
        if (v < 0 || (v == 0 && !(dy < 0 || (dy == 0 && dx > 0)))) return 0;
        e[c] = (double)v;
    }
    size = 1 / (double)(area < 0 ? -area : area);
    for (int c = 0; c < 3; c++) e[c] *= size;
    return 1;
}

/* Is the sample nearer to an edge that is drawn than half the width of the line. */
static int raster_on_wire(const raster_face *f, const raster_look *look, int64_t x, int64_t y)
{
    double half = 0.5 * look->wire_width * RASTER_SIDE * RASTER_GRID;
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3;
        double dx = (double)(f->x[b] - f->x[a]), dy = (double)(f->y[b] - f->y[a]);
        if (f->wire[a] && fabs((double)raster_edge(f, a, b, x, y)) < half * sqrt(dx * dx + dy * dy)) return 1;
    }
    return 0;
}

/* A point of a face. */
typedef struct raster_point {
    double p[3], n[3];      /* where it is; unit normal, on the side that is seen */
    double rgb[3];          /* linear */
} raster_point;

/* The point of a sample with screen weights e and 1/depth w. */
static void raster_face_point(const raster_scene *s, const raster_face *f, const double e[3], double w,
                              raster_point *out)
{
    const raster_object *o = s->object + f->object;
    double weight[3] = {0, 0, 0}, rest[3] = {0, 0, 0}, view[3];
    memset(out, 0, sizeof *out);
    for (int c = 0; c < 3; c++)         /* straight in space is e w on the screen */
        for (int i = 0; i < 3; i++) weight[i] += e[c] * f->w[c] / w * f->weight[c][i];
    for (int c = 0; c < 3; c++) {
        int v = o->tri[3 * f->tri + c];
        for (int i = 0; i < 3; i++) {
            out->p[i] += weight[c] * o->x[3 * v + i];
            rest[i] += weight[c] * o->rest[3 * v + i];
            out->n[i] += weight[c] * o->normal[9 * f->tri + 3 * c + i];
        }
    }
    raster_unit(out->n);
    tool_sub(view, s->eye, out->p);
    if (tool_dot(out->n, view) < 0) { /* at the rim a smooth normal may lean away a little */
        double a[3], b[3], flat[3];
        tool_sub(a, o->x + 3 * o->tri[3 * f->tri + 1], o->x + 3 * o->tri[3 * f->tri]);
        tool_sub(b, o->x + 3 * o->tri[3 * f->tri + 2], o->x + 3 * o->tri[3 * f->tri]);
        tool_cross(flat, a, b);
        for (int i = 0; i < 3 && tool_dot(flat, view) < 0; i++) out->n[i] = -out->n[i];
    }
    memcpy(out->rgb, o->rgb, sizeof out->rgb);
    if (!o->look.paint) return;
    memcpy(out->rgb, o->look.rgb, sizeof out->rgb);
    o->look.paint(o->look.paint_user, rest, out->rgb);
    for (int i = 0; i < 3; i++) out->rgb[i] = raster_linear(s, out->rgb[i]);
}

/* Colour (linear) and opacity of a face at a sample with screen weights e and 1/depth w, lit by a share of lights. */
static double raster_face_colour(const raster_scene *s, const raster_face *f, int64_t gx, int64_t gy,
                                 const double e[3], double w, int sample, double rgb[3])
{
    const raster_look *look = &s->object[f->object].look;
    double alpha = look->alpha;
    raster_point p;
    raster_reach reach;
    raster_lit lit;
    raster_face_point(s, f, e, w, &p);
    raster_look_around(s, &reach, p.p, p.n, f->object, sample, RASTER_SAMPLES);
    raster_shade(s, &lit, &reach, p.p, p.n, look->gloss);
    for (int i = 0; i < 3; i++) rgb[i] = p.rgb[i] * lit.light[i] + lit.shine[i];
    if ((look->flags & RASTER_WIRE) && raster_on_wire(f, look, gx, gy)) {
        for (int i = 0; i < 3; i++) {
            double over = look->wire_alpha + alpha * (1 - look->wire_alpha);
            rgb[i] = (look->wire_alpha * raster_linear(s, look->wire_rgb[i]) +
                      alpha * (1 - look->wire_alpha) * rgb[i]) /
                     fmax(over, 1e-9);
        }
        alpha = look->wire_alpha + alpha * (1 - look->wire_alpha);
    }
    return alpha;
}

/* which of the nine a sample is */
static int raster_which(int column, int row)
{
    return row % RASTER_SIDE * RASTER_SIDE + column % RASTER_SIDE;
}

/* Goes over the samples of a face in the band: opaque faces note themselves where they are nearest,
 * see-through ones mix their colour in. */
static void raster_draw_face(const raster_scene *s, raster_band *b, int index)
{
    const raster_face *f = s->face + index;
    int64_t area = raster_edge(f, 0, 1, f->x[2], f->y[2]);
    int64_t x0 = f->x[0], x1 = f->x[0], y0 = f->y[0], y1 = f->y[0];
    if (area == 0 || ((s->object[f->object].look.flags & RASTER_ONE_SIDED) && area > 0)) return;
    for (int c = 1; c < 3; c++) {
        x0 = f->x[c] < x0 ? f->x[c] : x0;
        x1 = f->x[c] > x1 ? f->x[c] : x1;
        y0 = f->y[c] < y0 ? f->y[c] : y0;
        y1 = f->y[c] > y1 ? f->y[c] : y1;
    }
    if (y1 < (int64_t)b->first * RASTER_GRID || y0 > (int64_t)(b->first + b->rows) * RASTER_GRID) return;
    x0 = x0 < 0 ? 0 : x0 / RASTER_GRID;
    x1 = x1 < 0 ? -1 : x1 / RASTER_GRID;
    y0 = y0 < (int64_t)b->first * RASTER_GRID ? b->first : y0 / RASTER_GRID;
    y1 = y1 < 0 ? -1 : y1 / RASTER_GRID;
    for (int row = (int)y0; row <= y1 && row < b->first + b->rows; row++)
        for (int column = (int)x0; column <= x1 && column < b->columns; column++) {
            int64_t gx = (int64_t)column * RASTER_GRID + RASTER_GRID / 2,
                    gy = (int64_t)row * RASTER_GRID + RASTER_GRID / 2;
            size_t at = (size_t)(row - b->first) * (size_t)b->columns + (size_t)column;
            double e[3], w, rgb[3], alpha;
            if (!raster_covers(f, area, gx, gy, e)) continue;
            w = e[0] * f->w[0] + e[1] * f->w[1] + e[2] * f->w[2];
            if (w <= b->w[at]) continue;
            if (index < s->opaque) {
                b->w[at] = w;
                b->face[at] = index;
                continue;
            }
            alpha = raster_face_colour(s, f, gx, gy, e, w, raster_which(column, row), rgb);
            for (int i = 0; i < 3; i++)
                b->rgb[3 * at + (size_t)i] += (float)(alpha * (rgb[i] - (double)b->rgb[3 * at + (size_t)i]));
        }
}

/* A smooth surface that samples of a pixel, or of a block of pixels, see. */
typedef struct raster_seen {
    int face, object;       /* object -1: the ground */
    double n[3];
    raster_reach reach;     /* of a block */
    raster_lit lit;         /* of a pixel */
} raster_seen;

/* What a block sees, and one of its pixels. */
typedef struct raster_block {
    raster_seen all[RASTER_BLOCK * RASTER_BLOCK * RASTER_SAMPLES], here[RASTER_SAMPLES];
    int all_count, here_count;
    const raster_lit *under;   /* of the ground in this pixel, or NULL; and how much of it is seen */
    double fade;
} raster_block;

/* The surface among those seen on which a point of an object is; else it is added, and *known is 0. */
static raster_seen *raster_find(raster_seen *list, int *count, int face, int object, const double n[3], int *known)
{
    for (int k = 0; k < *count; k++)
        if (list[k].object == object && tool_dot(list[k].n, n) > 0.96) {
            *known = 1;
            return list + k;
        }
    *known = 0;
    list[*count].face = face;
    list[*count].object = object;
    memcpy(list[*count].n, n, sizeof list->n);
    return list + (*count)++;
}

/* How a point is lit in a pixel of a block. */
static const raster_lit *raster_light(const raster_scene *s, raster_block *b, int face, int object, const double p[3],
                                      const double n[3])
{
    int known;
    raster_seen *here = raster_find(b->here, &b->here_count, face, object, n, &known), *all;
    if (known) return &here->lit;
    all = raster_find(b->all, &b->all_count, face, object, n, &known);
    if (!known) raster_look_around(s, &all->reach, p, n, object, 0, 1);
    raster_shade(s, &here->lit, &all->reach, p, n, object < 0 ? 0 : s->object[object].look.gloss);
    return &here->lit;
}

/* The ground at a sample: where the ray meets it nearer than 1 / behind, it is laid over the background in rgb, linear.
 * Returns 1/depth of the ground, or 0. */
static double raster_ground_sample(const raster_scene *s, int column, int row, double behind, raster_block *b,
                                   double rgb[3])
{
    double across = (column + 0.5 - 0.5 * s->width * RASTER_SIDE) / s->focal, p[3], w;
    double rise = (0.5 * s->height * RASTER_SIDE - row - 0.5) / s->focal;
    static const double up[3] = {0, 0, 1}, down[3] = {0, 0, -1};
    const double *own = s->ground_linear[0];
    w = (s->ahead[2] + across * s->right[2] + rise * s->up[2]) / (s->ground_z - s->eye[2]);
    if (!(w > behind) || !(w * s->radius > 1e-6)) return 0;
    for (int i = 0; i < 3; i++) p[i] = s->eye[i] + (s->ahead[i] + across * s->right[i] + rise * s->up[i]) / w;
    if (!b->under) {   /* the first sample of the pixel that sees it */
        double far[2];
        for (int i = 0; i < 2; i++) far[i] = p[i] - s->centre[i];
        b->fade = 1 - raster_step(sqrt(far[0] * far[0] + far[1] * far[1]), 1.5 * s->radius, 7 * s->radius);
        b->under = raster_light(s, b, -1, -1, p, s->eye[2] < s->ground_z ? down : up);
    }
    if (s->ground_check > 0) {
        long column_of = (long)(p[0] / s->ground_check), row_of = (long)(p[1] / s->ground_check);
        own = s->ground_linear[((column_of - (p[0] < 0)) ^ (row_of - (p[1] < 0))) & 1];
    }
    for (int i = 0; i < 3; i++) rgb[i] += b->fade * (own[i] * b->under->light[i] - rgb[i]);
    return w;
}

/* An opaque face at a sample. Where the pixel has seen the face already, it is lit as there. */
static void raster_face_sample(const raster_scene *s, int index, int64_t gx, int64_t gy, double w, raster_block *b,
                               double rgb[3])
{
    const raster_face *f = s->face + index;
    const raster_object *o = s->object + f->object;
    const raster_lit *lit = NULL;
    raster_point p;
    double e[3];
    for (int k = 0; k < b->here_count && !lit && !o->look.paint; k++)
        if (b->here[k].face == index) lit = &b->here[k].lit;
    memcpy(p.rgb, o->rgb, sizeof p.rgb);
    if (!lit) {
        if (!raster_covers(f, raster_edge(f, 0, 1, f->x[2], f->y[2]), gx, gy, e)) return;
        raster_face_point(s, f, e, w, &p);
        lit = raster_light(s, b, index, f->object, p.p, p.n);
    }
    for (int i = 0; i < 3; i++) rgb[i] = p.rgb[i] * lit->light[i] + lit->shine[i];
}

/* All samples of a pixel, but for see-through faces. back: the background of its rows. */
static void raster_draw_pixel(const raster_scene *s, raster_band *b, int x, int y, double back[RASTER_SIDE][3],
                              raster_block *block)
{
    block->here_count = 0;
    block->under = NULL;
    for (int k = 0; k < RASTER_SAMPLES; k++) {
        int row = RASTER_SIDE * y + k / RASTER_SIDE, column = RASTER_SIDE * x + k % RASTER_SIDE;
        size_t at = (size_t)row * (size_t)b->columns + (size_t)column;
        int64_t gx = (int64_t)column * RASTER_GRID + RASTER_GRID / 2,
                gy = (int64_t)(b->first + row) * RASTER_GRID + RASTER_GRID / 2;
        int face = b->face[at];
        double rgb[3], ground = 0;
        memcpy(rgb, back[k / RASTER_SIDE], sizeof rgb);
        if (s->has_ground) ground = raster_ground_sample(s, column, b->first + row, b->w[at], block, rgb);
        if (ground > 0) b->w[at] = ground;
        else if (face >= 0 && s->object[s->face[face].object].look.flags & RASTER_WIRE) {
            const raster_face *f = s->face + face;
            double e[3];
            if (raster_covers(f, raster_edge(f, 0, 1, f->x[2], f->y[2]), gx, gy, e))
                raster_face_colour(s, f, gx, gy, e, b->w[at], k, rgb);
        } else if (face >= 0) raster_face_sample(s, face, gx, gy, b->w[at], block, rgb);
        for (int i = 0; i < 3; i++) b->rgb[3 * at + (size_t)i] = (float)rgb[i];
    }
}

static void raster_draw_band(const raster_scene *s, raster_band *b)
{
    size_t samples = (size_t)b->columns * (size_t)b->rows;
    for (size_t i = 0; i < samples; i++) {
        b->w[i] = 0;
        b->face[i] = -1;
    }
    for (int f = 0; f < s->opaque; f++) raster_draw_face(s, b, f);
    for (int y = 0; y < b->rows / RASTER_SIDE; y += RASTER_BLOCK) {
        double back[RASTER_BLOCK * RASTER_SIDE][3];
        for (int k = 0; k < 3 * RASTER_BLOCK * RASTER_SIDE; k++) {
            double t = (b->first + RASTER_SIDE * y + k / 3 + 0.5) / (s->height * RASTER_SIDE);
            back[k / 3][k % 3] = raster_linear(s, s->top[k % 3] + t * (s->bottom[k % 3] - s->top[k % 3]));
        }
        for (int x = 0; x < s->width; x += RASTER_BLOCK) {
            raster_block block;
            block.all_count = 0;
            for (int k = 0; k < RASTER_BLOCK * RASTER_BLOCK; k++) {
                int px = x + k % RASTER_BLOCK, py = y + k / RASTER_BLOCK;
                if (px >= s->width || RASTER_SIDE * py >= b->rows) continue;
                raster_draw_pixel(s, b, px, py, back + RASTER_SIDE * (k / RASTER_BLOCK), &block);
            }
        }
    }
    for (int f = s->opaque; f < s->faces; f++) raster_draw_face(s, b, f);
}

/* bright colours bend towards white instead of being cut off */
static double raster_shoulder(const raster_scene *s, double c)
{
    return c < 0.8 ? c : raster_look_up(s->shoulder, raster_clamp((c - 0.8) / 2, 0, 1));
}

/* mean of the samples of each pixel */
static void raster_resolve(const raster_scene *s, const raster_band *b, unsigned char *rgb)
{
    for (int y = 0; y < b->rows / RASTER_SIDE; y++)
        for (int x = 0; x < s->width; x++)
            for (int i = 0; i < 3; i++) {
                double sum = 0;
                for (int k = 0; k < RASTER_SAMPLES; k++) {
                    size_t row = (size_t)(RASTER_SIDE * y + k / RASTER_SIDE),
                           column = (size_t)(RASTER_SIDE * x + k % RASTER_SIDE);
                    sum += raster_shoulder(s, (double)b->rgb[3 * (row * (size_t)b->columns + column) + (size_t)i]);
                }
                sum = raster_look_up(s->srgb, sqrt(raster_clamp(sum / RASTER_SAMPLES, 0, 1)));
                rgb[3 * ((size_t)(b->first / RASTER_SIDE + y) * (size_t)s->width + (size_t)x) + (size_t)i] =
                    (unsigned char)(255 * sum + 0.5);
            }
}

/* ==== 6. Labels ============================================================================== */

/* Letters five points wide and seven high; a row is five bits, the left point highest. */
static const struct raster_glyph {
    char name;
    unsigned char row[7];
} raster_font[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 6, 8, 16, 31}}, {'3', {30, 1, 1, 14, 1, 1, 30}},
    {'4', {2, 6, 10, 18, 31, 2, 2}}, {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}}, {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'A', {4, 10, 17, 17, 31, 17, 17}}, {'B', {30, 17, 17, 30, 17, 17, 30}},
    {'C', {14, 17, 16, 16, 16, 17, 14}}, {'D', {28, 18, 17, 17, 17, 18, 28}},
    {'E', {31, 16, 16, 30, 16, 16, 31}}, {'F', {31, 16, 16, 30, 16, 16, 16}},
    {'G', {14, 17, 16, 19, 17, 17, 15}}, {'H', {17, 17, 17, 31, 17, 17, 17}},
    {'I', {14, 4, 4, 4, 4, 4, 14}}, {'J', {7, 2, 2, 2, 2, 18, 12}},
    {'K', {17, 18, 20, 24, 20, 18, 17}}, {'L', {16, 16, 16, 16, 16, 16, 31}},
    {'M', {17, 27, 21, 21, 17, 17, 17}}, {'N', {17, 25, 25, 21, 19, 19, 17}},
    {'O', {14, 17, 17, 17, 17, 17, 14}}, {'P', {30, 17, 17, 30, 16, 16, 16}},
    {'Q', {14, 17, 17, 17, 21, 18, 13}}, {'R', {30, 17, 17, 30, 20, 18, 17}},
    {'S', {15, 16, 16, 14, 1, 1, 30}}, {'T', {31, 4, 4, 4, 4, 4, 4}},
    {'U', {17, 17, 17, 17, 17, 17, 14}}, {'V', {17, 17, 17, 17, 10, 10, 4}},
    {'W', {17, 17, 17, 21, 21, 27, 17}}, {'X', {17, 17, 10, 4, 10, 17, 17}},
    {'Y', {17, 17, 10, 4, 4, 4, 4}}, {'Z', {31, 1, 2, 4, 8, 16, 31}},
    {'.', {0, 0, 0, 0, 0, 12, 12}}, {',', {0, 0, 0, 0, 12, 4, 8}},
    {':', {0, 12, 12, 0, 12, 12, 0}}, {';', {0, 12, 12, 0, 12, 4, 8}},
    {'-', {0, 0, 0, 14, 0, 0, 0}}, {'+', {0, 4, 4, 31, 4, 4, 0}},
    {'=', {0, 0, 31, 0, 31, 0, 0}}, {'/', {1, 1, 2, 4, 8, 16, 16}},
    {'(', {2, 4, 8, 8, 8, 4, 2}}, {')', {8, 4, 2, 2, 2, 4, 8}},
    {'%', {25, 26, 2, 4, 8, 11, 19}}, {'\'', {4, 4, 8, 0, 0, 0, 0}},
    {'!', {4, 4, 4, 4, 4, 0, 4}}, {'?', {14, 17, 1, 6, 4, 0, 4}},
    {'*', {0, 21, 14, 31, 14, 21, 0}}, {'<', {2, 4, 8, 16, 8, 4, 2}},
    {'>', {8, 4, 2, 1, 2, 4, 8}}, {'_', {0, 0, 0, 0, 0, 0, 31}},
};

static void raster_write_text(const raster_scene *s, const raster_text *t, unsigned char *rgb)
{
    int length = (int)strlen(t->text), x = t->x, y = t->y;
    if (x < 0) x += s->width - (6 * length - 1) * t->scale;
    if (y < 0) y += s->height - 7 * t->scale;
    for (int k = 0; k < length; k++) {
        char name = t->text[k] >= 'a' && t->text[k] <= 'z' ? (char)(t->text[k] - 'a' + 'A') : t->text[k];
        for (size_t g = 0; g < sizeof raster_font / sizeof *raster_font; g++) {
            if (raster_font[g].name != name) continue;
            for (int j = 0; j < 7 * t->scale; j++)
                for (int i = 0; i < 5 * t->scale; i++) {
                    int px = x + 6 * k * t->scale + i, py = y + j;
                    if (!(raster_font[g].row[j / t->scale] >> (4 - i / t->scale) & 1)) continue;
                    if (px < 0 || py < 0 || px >= s->width || py >= s->height) continue;
                    for (int c = 0; c < 3; c++)
                        rgb[3 * ((size_t)py * (size_t)s->width + (size_t)px) + (size_t)c] =
                            (unsigned char)(255 * raster_clamp(t->rgb[c], 0, 1) + 0.5);
                }
        }
    }
}

/* ==== 7. The picture ========================================================================= */

int raster_render(raster_scene *scene, unsigned char *rgb)
{
    static const double from[3] = {0.85, -0.6, 0.45};
    double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
    raster_band band = {0};
    size_t samples;
    int good;
    if (!scene->has_camera) {
        raster_bounds(scene, low, high);
        raster_frame(scene, low, high, from, 30);
    }
    band.columns = scene->width * RASTER_SIDE;
    samples = (size_t)band.columns * RASTER_BAND * RASTER_SIDE;
    band.w = (double *)malloc(samples * sizeof *band.w);
    band.face = (int *)malloc(samples * sizeof *band.face);
    band.rgb = (float *)malloc(3 * samples * sizeof *band.rgb);
    raster_make_tables(scene);
    good = band.w && band.face && band.rgb && raster_shadow_maps(scene) && raster_faces(scene);
    for (int y = 0; good && y < scene->height; y += RASTER_BAND) {
        band.first = y * RASTER_SIDE;
        band.rows = (scene->height - y < RASTER_BAND ? scene->height - y : RASTER_BAND) * RASTER_SIDE;
        raster_draw_band(scene, &band);
        raster_resolve(scene, &band, rgb);
    }
    for (int i = 0; good && i < scene->texts; i++) raster_write_text(scene, scene->text + i, rgb);
    free(band.w);
    free(band.face);
    free(band.rgb);
    raster_clean(scene);
    return good;
}
