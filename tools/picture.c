#include "picture.h"
#include "png.h"
#include "raster.h"
#include "shapes.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PICTURE_WIDTH = 1280, PICTURE_HEIGHT = 860,
    PICTURE_FILM_WIDTH = 960, PICTURE_FILM_HEIGHT = 640,   /* even, as video formats want it */
    PICTURE_CELL_WIDTH = 640, PICTURE_CELL_HEIGHT = 430,   /* of a sheet */
    PICTURE_MOVING_WIDTH = 600, PICTURE_MOVING_HEIGHT = 400,   /* of an animation */
    PICTURE_MOMENTS = 5000,                                    /* of it, with 3.6 GB of pixels while it is made */
    PICTURE_PAUSE = 1500                                   /* at its end, ms */
};

/* Colours that stay apart, also for eyes that mix up red and green; given out in the order of the bodies. */
static const double picture_colour[][3] = {
    { 0.36, 0.58, 0.80 }, { 0.93, 0.60, 0.33 }, { 0.45, 0.70, 0.52 }, { 0.80, 0.45, 0.55 },
    { 0.62, 0.54, 0.78 }, { 0.90, 0.78, 0.38 }, { 0.38, 0.68, 0.72 }, { 0.68, 0.55, 0.45 }
};
enum { PICTURE_COLOURS = sizeof picture_colour / sizeof *picture_colour };

/* What is drawn: the views of the bodies of a scene, now or as they were. */
typedef struct picture_scene {
    const scene *s;
    embipc_body_view *view;       /* owned; s->body_count */
    double check;                 /* squares of the ground, m; 0: by what is seen */
    double from[3];               /* direction of the camera, as seen from the middle */
} picture_scene;

static int picture_get(picture_scene *p, const scene *s, const embipc_world *world)
{
    static const double from[3] = { 1, 0.42, 0.4 };   /* three quarters: front, a side, and the top */
    p->s = s;
    p->check = 0;
    memcpy(p->from, from, sizeof from);
    p->view = (embipc_body_view *)tool_alloc((size_t)s->body_count, sizeof *p->view);
    for (int i = 0; i < s->body_count; i++)
        if (embipc_body_get_view(world, s->body[i].handle, &p->view[i]) != EMBIPC_OK) return 0;
    return 1;
}

static picture_box picture_empty(void)
{
    picture_box b = { { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
    return b;
}

static void picture_grow(picture_box *b, const embipc_body_view *view)
{
    for (int i = 0; i < 3 * view->vertex_count; i++) {
        int k = i % 3;
        b->lo[k] = view->x[i] < b->lo[k] ? view->x[i] : b->lo[k];
        b->hi[k] = view->x[i] > b->hi[k] ? view->x[i] : b->hi[k];
    }
}

/* What moves decides what is seen; a scene in which nothing moves is seen as a whole. */
static void picture_grow_subject(picture_box *b, const picture_scene *p)
{
    int moving = 0;
    for (int i = 0; i < p->s->body_count; i++) moving += p->view[i].kind != EMBIPC_FIXED;
    for (int i = 0; i < p->s->body_count; i++)
        if (!moving || p->view[i].kind != EMBIPC_FIXED) picture_grow(b, &p->view[i]);
}

/* A fixed body below the subject and wider than it is the ground: drawn as a plane that fades out. */
static int picture_is_ground(const embipc_body_view *view, const picture_box *subject)
{
    picture_box b = picture_empty();
    double height = subject->hi[2] - subject->lo[2];
    if (view->kind != EMBIPC_FIXED) return 0;
    picture_grow(&b, view);
    return b.hi[2] <= subject->lo[2] + 0.05 * height && b.lo[0] <= subject->lo[0] && b.lo[1] <= subject->lo[1]
           && b.hi[0] >= subject->hi[0] && b.hi[1] >= subject->hi[1];
}

/* The squares of the ground: 1, 2 or 5 times a power of ten, some ten of them to the subject. */
static double picture_check(const picture_box *subject)
{
    double size = fmax(subject->hi[0] - subject->lo[0], subject->hi[1] - subject->lo[1]) / 6;
    double power = pow(10, floor(log10(size > 0 ? size : 1)));
    return power * (size < 2 * power ? 1 : size < 5 * power ? 2 : 5);
}

static void picture_add_ground(raster_scene *r, const embipc_body_view *view, double check)
{
    static const double light[3] = { 0.93, 0.93, 0.91 }, dark[3] = { 0.86, 0.87, 0.87 };
    picture_box b = picture_empty();
    picture_grow(&b, view);
    raster_ground(r, b.hi[2], check, light, dark);
}

void picture_body_colour(double rgb[3], embipc_kind kind, int number)
{
    static const double grey[3] = { 0.74, 0.75, 0.76 };
    int round = number / PICTURE_COLOURS % 3;   /* as they are, then darker, then lighter */
    for (int k = 0; k < 3; k++) {
        double c = picture_colour[number % PICTURE_COLOURS][k];
        rgb[k] = kind == EMBIPC_FIXED ? grey[k] : round == 0 ? c : round == 1 ? 0.65 * c : c + 0.4 * (1 - c);
    }
}

static int picture_add_body(raster_scene *r, const scene_body *body, const embipc_body_view *view, int colour)
{
    raster_look look = raster_default_look();
    double *rest = NULL;
    int ok;
    picture_body_colour(look.rgb, view->kind, colour);
    if (body->is_bear) {   /* its paint knows it as it was made */
        rest = (double *)tool_alloc((size_t)view->vertex_count, 3 * sizeof *rest);
        for (int i = 0; i < 3 * view->vertex_count; i++)
            rest[i] = body->def.x[3 * view->vertex_origin[i / 3] + i % 3];
        look.paint = shape_bear_paint;
        look.rest = rest;
    }
    ok = raster_add_mesh(r, view->x, view->vertex_count, view->triangles, view->triangle_count, &look) >= 0;
    free(rest);
    return ok;
}

static int picture_add_all(raster_scene *r, const picture_scene *p, picture_box subject)
{
    int colour = 0, has_ground = 0;
    for (int i = 0; i < p->s->body_count; i++) {
        const embipc_body_view *view = &p->view[i];
        if (!has_ground && picture_is_ground(view, &subject)) {
            picture_add_ground(r, view, p->check > 0 ? p->check : picture_check(&subject));
            has_ground = 1;
        } else if (!picture_add_body(r, &p->s->body[i], view, colour)) return 0;
        colour += view->kind != EMBIPC_FIXED && !p->s->body[i].is_bear;
    }
    for (int k = 0; k < 3; k++) {   /* some air around it */
        double air = 0.06 * (subject.hi[k] - subject.lo[k]);
        subject.lo[k] -= air;
        subject.hi[k] += air;
    }
    raster_frame(r, subject.lo, subject.hi, p->from, 28);
    return 1;
}

/* ---- From where the subject is seen --------------------------------------------------------- */

enum { PICTURE_GRID = 96 };

/* A coarse picture along parallel rays: which body is nearest in each cell. */
typedef struct picture_grid {
    double right[3], up[3], back[3], middle[3], scale;   /* cells a metre */
    double depth[PICTURE_GRID][PICTURE_GRID];
    int body[PICTURE_GRID][PICTURE_GRID], last[PICTURE_GRID][PICTURE_GRID];   /* last: body that came there last */
} picture_grid;

static void picture_grid_aim(picture_grid *g, const picture_box *box, const double from[3])
{
    double length = sqrt(tool_dot(from, from)), flat = hypot(from[0], from[1]), reach = 0;
    for (int k = 0; k < 3; k++) {
        g->back[k] = from[k] / length;
        g->middle[k] = (box->lo[k] + box->hi[k]) / 2;
        reach = fmax(reach, box->hi[k] - box->lo[k]);
    }
    g->right[0] = -from[1] / flat; g->right[1] = from[0] / flat; g->right[2] = 0;
    g->up[0] = -g->back[2] * g->right[1]; g->up[1] = g->back[2] * g->right[0];
    g->up[2] = g->back[0] * g->right[1] - g->back[1] * g->right[0];
    g->scale = reach > 0 ? PICTURE_GRID / (1.8 * reach) : 1;
    for (int i = 0; i < PICTURE_GRID * PICTURE_GRID; i++) {
        g->depth[i / PICTURE_GRID][i % PICTURE_GRID] = -HUGE_VAL;
        g->body[i / PICTURE_GRID][i % PICTURE_GRID] = g->last[i / PICTURE_GRID][i % PICTURE_GRID] = -1;
    }
}

/* Cells of a triangle whose middle it covers. own: counts those where the body comes first. */
static void picture_grid_triangle(picture_grid *g, const double *const corner[3], int body, int *own)
{
    double x[3], y[3], z[3], area;
    int lo[2], hi[2];
    for (int c = 0; c < 3; c++) {
        double d[3];
        for (int k = 0; k < 3; k++) d[k] = corner[c][k] - g->middle[k];
        x[c] = PICTURE_GRID / 2.0 + g->scale * tool_dot(d, g->right);
        y[c] = PICTURE_GRID / 2.0 + g->scale * tool_dot(d, g->up);
        z[c] = tool_dot(d, g->back);
    }
    area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    if (area == 0) return;
    for (int k = 0; k < 2; k++) {
        const double *v = k ? y : x;
        lo[k] = (int)fmax(0, ceil(fmin(fmin(v[0], v[1]), v[2]) - 0.5));
        hi[k] = (int)fmin(PICTURE_GRID - 1, floor(fmax(fmax(v[0], v[1]), v[2]) - 0.5));
    }
    for (int j = lo[1]; j <= hi[1]; j++)
        for (int i = lo[0]; i <= hi[0]; i++) {
            double a = ((x[1] - i - 0.5) * (y[2] - j - 0.5) - (x[2] - i - 0.5) * (y[1] - j - 0.5)) / area;
            double b = ((x[2] - i - 0.5) * (y[0] - j - 0.5) - (x[0] - i - 0.5) * (y[2] - j - 0.5)) / area;
            double depth = a * z[0] + b * z[1] + (1 - a - b) * z[2];
            if (a < 0 || b < 0 || a + b > 1) continue;
            *own += g->last[j][i] != body;
            g->last[j][i] = body;
            if (depth <= g->depth[j][i]) continue;
            g->depth[j][i] = depth;
            g->body[j][i] = body;
        }
}

/* How much of what moves is seen from there: cells, times the mean share of a body that nothing hides. */
static double picture_seen(const picture_scene *p, const picture_box *box, const double from[3])
{
    picture_grid *g = (picture_grid *)tool_alloc(1, sizeof *g);
    int n = p->s->body_count, *own = (int *)tool_alloc((size_t)n, 2 * sizeof *own), *seen = own + n;
    int moving = 0, bodies = 0;
    double cells = 0, share = 0;
    memset(own, 0, (size_t)n * 2 * sizeof *own);
    picture_grid_aim(g, box, from);
    for (int i = 0; i < n; i++) {
        const embipc_body_view *view = &p->view[i];
        moving |= view->kind > EMBIPC_KINEMATIC;
        if (picture_is_ground(view, box)) continue;
        for (int t = 0; t < view->triangle_count; t++) {
            const double *corner[3];
            for (int c = 0; c < 3; c++) corner[c] = view->x + 3 * view->triangles[3 * t + c];
            picture_grid_triangle(g, corner, i, &own[i]);
        }
    }
    for (int i = 0; i < PICTURE_GRID * PICTURE_GRID; i++)
        if (g->body[i / PICTURE_GRID][i % PICTURE_GRID] >= 0) seen[g->body[i / PICTURE_GRID][i % PICTURE_GRID]]++;
    for (int i = 0; i < n; i++) {
        if (!own[i] || (moving && p->view[i].kind <= EMBIPC_KINEMATIC)) continue;
        bodies++;
        cells += seen[i];
        share += (double)seen[i] / own[i];
    }
    free(own);
    free(g);
    return bodies ? cells * share / bodies : 0;
}

/* The camera moves around what it looks at, or higher, where a third more is seen from there. seen: sums over moments
 * of what picture_seen() says, for each direction of picture_direction(). */
enum { PICTURE_DIRECTIONS = 16 };
static void picture_direction(double from[3], int k)
{
    double angle = acos(-1.0) / 4 * (k % 8), c = cos(angle), s = sin(angle);
    from[0] = c - 0.42 * s;
    from[1] = s + 0.42 * c;
    from[2] = k < 8 ? 0.4 : 1;
}
static void picture_look(const picture_scene *p, const picture_box *box, double seen[PICTURE_DIRECTIONS])
{
    for (int k = 0; k < PICTURE_DIRECTIONS; k++) {
        double from[3];
        picture_direction(from, k);
        seen[k] += (k < 8 ? 1 : 0.5) * picture_seen(p, box, from);   /* what lies flat looks large from above */
    }
}
static void picture_turn(picture_scene *p, const double seen[PICTURE_DIRECTIONS])
{
    int best = 0;
    for (int k = 1; k < PICTURE_DIRECTIONS; k++)
        if (seen[k] > 1.001 * seen[best]) best = k;
    if (seen[best] > 4.0 / 3 * seen[0]) picture_direction(p->from, best);
}

void picture_view(double from[3], const scene *s, const embipc_world *world)
{
    double seen[PICTURE_DIRECTIONS] = { 0 };
    picture_box box = picture_empty();
    picture_scene p;
    if (picture_get(&p, s, world)) {
        picture_grow_subject(&box, &p);
        picture_look(&p, &box, seen);
        picture_turn(&p, seen);
    }
    memcpy(from, p.from, sizeof p.from);
    free(p.view);
}

/* Draws what the box holds into width x height x 3 bytes; time, s, in a corner unless it is below 0. */
static int picture_draw(unsigned char *rgb, int width, int height, const picture_scene *p, const picture_box *box,
                        double time)
{
    static const double ink[3] = { 0.25, 0.28, 0.30 };
    raster_scene *r = raster_create(width, height);
    char label[32];
    int ok = r && picture_add_all(r, p, *box);
    (void)snprintf(label, sizeof label, "%.3g s", time);
    if (ok && time >= 0) ok = raster_label(r, label, 12, 12, 2, ink);
    ok = ok && raster_render(r, rgb);
    raster_destroy(r);
    return ok;
}

/* Writes the picture, or tells why there is none. */
static int picture_save(const char *path, int drawn, const unsigned char *rgb, int width, int height,
                        tool_error *e)
{
    if (drawn && png_write(path, rgb, width, height)) return 1;
    if (drawn) return tool_fail(e, "%s: cannot be written: %s", path, strerror(errno));
    return tool_fail(e, "%s: not written: the picture could not be drawn", path);
}

int picture_write(const char *path, const scene *s, const embipc_world *world, tool_error *e)
{
    unsigned char *rgb = (unsigned char *)tool_alloc((size_t)PICTURE_WIDTH * PICTURE_HEIGHT, 3);
    picture_box subject = picture_empty();
    picture_scene p;
    int ok = picture_get(&p, s, world);
    if (ok) picture_grow_subject(&subject, &p);
    picture_view(p.from, s, world);
    ok = ok && picture_draw(rgb, PICTURE_WIDTH, PICTURE_HEIGHT, &p, &subject, -1);
    ok = picture_save(path, ok, rgb, PICTURE_WIDTH, PICTURE_HEIGHT, e);
    free(rgb);
    free(p.view);
    return ok;
}

/* ---- Films ---------------------------------------------------------------------------------- */

int picture_film_add(picture_film *film, const char *directory, const scene *s, const embipc_world *world,
                     tool_error *e)
{
    unsigned char *rgb = (unsigned char *)tool_alloc((size_t)PICTURE_FILM_WIDTH * PICTURE_FILM_HEIGHT, 3);
    tool_text path = { NULL, 0, 0 };
    picture_scene p;
    int ok = picture_get(&p, s, world);
    if (film->count == 0) film->seen = picture_empty();
    if (ok) picture_grow_subject(&film->seen, &p);
    if (film->count == 0) film->check = picture_check(&film->seen);
    p.check = film->check;
    tool_put(&path, "%s/picture_%05d.png", directory, film->count++);
    ok = ok && picture_draw(rgb, PICTURE_FILM_WIDTH, PICTURE_FILM_HEIGHT, &p, &film->seen, -1);
    ok = picture_save(path.data, ok, rgb, PICTURE_FILM_WIDTH, PICTURE_FILM_HEIGHT, e);
    tool_text_free(&path);
    free(rgb);
    free(p.view);
    return ok;
}

/* ---- Sheets --------------------------------------------------------------------------------- */

int picture_sheet_fits(const picture_sheet *sheet, const char *path, int moments, tool_error *e)
{
    if (moments <= PICTURE_MOMENTS && 3.0 * sheet->vertex_count * moments < INT_MAX) return 1;
    return tool_fail(e, "%s: not written: found %d frames of %d vertices, expected fewer (at most %d): a larger "
                        "--every", path, moments, sheet->vertex_count, PICTURE_MOMENTS);
}

void picture_sheet_add(picture_sheet *sheet, const scene *s, const embipc_world *world)
{
    picture_scene p;
    int at = 3 * sheet->vertex_count * sheet->count;
    if (picture_get(&p, s, world)) {
        if (sheet->count == 0)
            for (int i = 0; i < s->body_count; i++) sheet->vertex_count += p.view[i].vertex_count;
        TOOL_GROW(double, sheet->x, sheet->x_capacity, at + 3 * sheet->vertex_count);
        TOOL_GROW(double, sheet->time, sheet->time_capacity, sheet->count + 1);
        for (int i = 0; i < s->body_count; i++) {
            memcpy(sheet->x + at, p.view[i].x, (size_t)p.view[i].vertex_count * 3 * sizeof *sheet->x);
            at += 3 * p.view[i].vertex_count;
        }
        sheet->time[sheet->count++] = embipc_world_time(world);
    }
    free(p.view);
}

/* The bodies as they were at a moment. */
static void picture_sheet_turn(picture_scene *p, const picture_sheet *sheet, int moment)
{
    const double *x = sheet->x + (size_t)moment * 3 * (size_t)sheet->vertex_count;
    for (int i = 0; i < p->s->body_count; i++) {
        p->view[i].x = x;
        x += 3 * p->view[i].vertex_count;
    }
}

/* What moved at any moment; and the camera turns to where it is seen at the first, the last, and one between. */
static picture_box picture_sheet_box(const picture_sheet *sheet, picture_scene *p)
{
    picture_box box = picture_empty();
    double seen[PICTURE_DIRECTIONS] = { 0 };
    for (int i = 0; i < sheet->count; i++) {
        picture_sheet_turn(p, sheet, i);
        picture_grow_subject(&box, p);
    }
    for (int i = 0; i < 3; i++) {
        picture_sheet_turn(p, sheet, i * (sheet->count - 1) / 2);
        picture_look(p, &box, seen);
    }
    picture_turn(p, seen);
    return box;
}

static int picture_sheet_draw(unsigned char *rgb, int across, const picture_sheet *sheet, picture_scene *p)
{
    int wide = PICTURE_CELL_WIDTH >> sheet->small, high = PICTURE_CELL_HEIGHT >> sheet->small;
    size_t row = (size_t)wide * 3;
    unsigned char *cell = (unsigned char *)tool_alloc((size_t)high, row);
    picture_box box = picture_sheet_box(sheet, p);
    int ok = 1;
    for (int i = 0; ok && i < sheet->count; i++) {
        size_t first = (size_t)(i / across * high);
        picture_sheet_turn(p, sheet, i);
        ok = picture_draw(cell, wide, high, p, &box, sheet->time[i]);
        for (size_t y = 0; ok && y < (size_t)high; y++)
            memcpy(rgb + ((first + y) * (size_t)across + (size_t)(i % across)) * row, cell + y * row, row);
    }
    free(cell);
    return ok;
}

int picture_sheet_write(const picture_sheet *sheet, const char *path, const scene *s, const embipc_world *world,
                        tool_error *e)
{
    int across = (int)ceil(sqrt(sheet->count)), down = (sheet->count + across - 1) / across;
    int width = across * (PICTURE_CELL_WIDTH >> sheet->small), ok;
    int height = down * (PICTURE_CELL_HEIGHT >> sheet->small);
    unsigned char *rgb = (unsigned char *)tool_alloc((size_t)width * (size_t)height, 3);
    picture_scene p;
    memset(rgb, 255, (size_t)width * (size_t)height * 3);   /* cells without a moment */
    ok = picture_get(&p, s, world) && picture_sheet_draw(rgb, across, sheet, &p);
    ok = picture_save(path, ok, rgb, width, height, e);
    free(rgb);
    free(p.view);
    return ok;
}

int picture_sheet_animate(const picture_sheet *sheet, const char *path, const scene *s, const embipc_world *world,
                          double seconds, tool_error *e)
{
    size_t frame = (size_t)PICTURE_MOVING_WIDTH * PICTURE_MOVING_HEIGHT * 3;
    unsigned char *rgb = (unsigned char *)tool_alloc((size_t)sheet->count, frame);
    picture_scene p;
    picture_box box;
    int milliseconds = (int)fmin(1000 * seconds + 0.5, 65535), ok = picture_get(&p, s, world);
    if (ok) box = picture_sheet_box(sheet, &p);
    for (int i = 0; ok && i < sheet->count; i++) {
        picture_sheet_turn(&p, sheet, i);
        ok = picture_draw(rgb + (size_t)i * frame, PICTURE_MOVING_WIDTH, PICTURE_MOVING_HEIGHT, &p, &box, -1);
    }
    if (!ok) tool_fail(e, "%s: not written: the picture could not be drawn", path);
    else if (!png_write_animation(path, rgb, sheet->count, PICTURE_MOVING_WIDTH, PICTURE_MOVING_HEIGHT, milliseconds,
                                  milliseconds > PICTURE_PAUSE ? milliseconds : PICTURE_PAUSE))
        ok = tool_fail(e, "%s: cannot be written: %s", path, strerror(errno));
    free(rgb);
    free(p.view);
    return ok;
}

void picture_sheet_free(picture_sheet *sheet)
{
    free(sheet->x);
    free(sheet->time);
    memset(sheet, 0, sizeof *sheet);
}
