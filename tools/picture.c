#include "picture.h"
#include "png.h"
#include "raster.h"
#include "shapes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PICTURE_WIDTH = 1280, PICTURE_HEIGHT = 860,
    PICTURE_FILM_WIDTH = 960, PICTURE_FILM_HEIGHT = 640,   /* even, as video formats want it */
    PICTURE_CELL_WIDTH = 640, PICTURE_CELL_HEIGHT = 430,   /* of a sheet */
    PICTURE_MOVING_WIDTH = 600, PICTURE_MOVING_HEIGHT = 400,   /* of an animation */
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
} picture_scene;

static int picture_get(picture_scene *p, const scene *s, const embipc_world *world)
{
    p->s = s;
    p->check = 0;
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
    for (int k = 0; k < 3; k++)
        rgb[k] = kind == EMBIPC_FIXED ? grey[k] : picture_colour[number % PICTURE_COLOURS][k];
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
    static const double from[3] = { 1, 0.42, 0.4 };   /* three quarters: front, a side, and the top */
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
    raster_frame(r, subject.lo, subject.hi, from, 28);
    return 1;
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
    return tool_fail(e, drawn ? "%s: cannot be written" : "%s: not written: the picture could not be drawn", path);
}

int picture_write(const char *path, const scene *s, const embipc_world *world, tool_error *e)
{
    unsigned char *rgb = (unsigned char *)tool_alloc((size_t)PICTURE_WIDTH * PICTURE_HEIGHT, 3);
    picture_box subject = picture_empty();
    picture_scene p;
    int ok = picture_get(&p, s, world);
    if (ok) picture_grow_subject(&subject, &p);
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

/* What moved at any moment. */
static picture_box picture_sheet_box(const picture_sheet *sheet, picture_scene *p)
{
    picture_box box = picture_empty();
    for (int i = 0; i < sheet->count; i++) {
        picture_sheet_turn(p, sheet, i);
        picture_grow_subject(&box, p);
    }
    return box;
}

static int picture_sheet_draw(unsigned char *rgb, int across, const picture_sheet *sheet, picture_scene *p)
{
    size_t row = (size_t)PICTURE_CELL_WIDTH * 3;
    unsigned char *cell = (unsigned char *)tool_alloc(PICTURE_CELL_HEIGHT, row);
    picture_box box = picture_sheet_box(sheet, p);
    int ok = 1;
    for (int i = 0; ok && i < sheet->count; i++) {
        size_t first = (size_t)(i / across * PICTURE_CELL_HEIGHT);
        picture_sheet_turn(p, sheet, i);
        ok = picture_draw(cell, PICTURE_CELL_WIDTH, PICTURE_CELL_HEIGHT, p, &box, sheet->time[i]);
        for (size_t y = 0; ok && y < PICTURE_CELL_HEIGHT; y++)
            memcpy(rgb + ((first + y) * (size_t)across + (size_t)(i % across)) * row, cell + y * row, row);
    }
    free(cell);
    return ok;
}

int picture_sheet_write(const picture_sheet *sheet, const char *path, const scene *s, const embipc_world *world,
                        tool_error *e)
{
    int across = (int)ceil(sqrt(sheet->count)), down = (sheet->count + across - 1) / across;
    int width = across * PICTURE_CELL_WIDTH, height = down * PICTURE_CELL_HEIGHT, ok;
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
        ok = tool_fail(e, "%s: cannot be written", path);
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
