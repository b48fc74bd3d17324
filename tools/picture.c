#include "picture.h"
#include "png.h"
#include "raster.h"
#include "shapes.h"
#include <math.h>
#include <stdlib.h>

enum { PICTURE_WIDTH = 1280, PICTURE_HEIGHT = 860 };

/* Colours that stay apart, also for eyes that mix up red and green; given out in the order of the bodies. */
static const double picture_colour[][3] = {
    { 0.36, 0.58, 0.80 }, { 0.93, 0.60, 0.33 }, { 0.45, 0.70, 0.52 }, { 0.80, 0.45, 0.55 },
    { 0.62, 0.54, 0.78 }, { 0.90, 0.78, 0.38 }, { 0.38, 0.68, 0.72 }, { 0.68, 0.55, 0.45 }
};
enum { PICTURE_COLOURS = sizeof picture_colour / sizeof *picture_colour };

typedef struct picture_box { double lo[3], hi[3]; } picture_box;

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
static picture_box picture_subject(const embipc_world *world)
{
    picture_box b = picture_empty();
    embipc_body_view view;
    for (int pass = 0; pass < 2 && !(b.lo[0] <= b.hi[0]); pass++)
        for (int i = 0; i < embipc_world_body_count(world); i++)
            if (embipc_body_get_view(world, embipc_world_body(world, i), &view) == EMBIPC_OK
                && (pass || view.kind != EMBIPC_FIXED))
                picture_grow(&b, &view);
    return b;
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

static void picture_add_ground(raster_scene *r, const embipc_body_view *view, const picture_box *subject)
{
    static const double light[3] = { 0.93, 0.93, 0.91 }, dark[3] = { 0.86, 0.87, 0.87 };
    picture_box b = picture_empty();
    picture_grow(&b, view);
    raster_ground(r, b.hi[2], picture_check(subject), light, dark);
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

static int picture_add_all(raster_scene *r, const scene *s, const embipc_world *world)
{
    static const double from[3] = { 1, 0.42, 0.4 };   /* three quarters: front, a side, and the top */
    picture_box subject = picture_subject(world);
    int colour = 0, has_ground = 0;
    for (int i = 0; i < s->body_count; i++) {
        embipc_body_view view;
        if (embipc_body_get_view(world, s->body[i].handle, &view) != EMBIPC_OK) return 0;
        if (!has_ground && picture_is_ground(&view, &subject)) {
            picture_add_ground(r, &view, &subject);
            has_ground = 1;
        } else if (!picture_add_body(r, &s->body[i], &view, colour)) return 0;
        colour += view.kind != EMBIPC_FIXED && !s->body[i].is_bear;
    }
    for (int k = 0; k < 3; k++) {   /* some air around it */
        double air = 0.06 * (subject.hi[k] - subject.lo[k]);
        subject.lo[k] -= air;
        subject.hi[k] += air;
    }
    raster_frame(r, subject.lo, subject.hi, from, 28);
    return 1;
}

int picture_write(const char *path, const scene *s, const embipc_world *world, tool_error *e)
{
    raster_scene *r = raster_create(PICTURE_WIDTH, PICTURE_HEIGHT);
    unsigned char *rgb = (unsigned char *)tool_alloc((size_t)PICTURE_WIDTH * PICTURE_HEIGHT, 3);
    int drawn = r && picture_add_all(r, s, world) && raster_render(r, rgb);
    int written = drawn && png_write(path, rgb, PICTURE_WIDTH, PICTURE_HEIGHT);
    raster_destroy(r);
    free(rgb);
    if (written) return 1;
    return tool_fail(e, drawn ? "%s: cannot be written" : "%s: not written: the picture could not be drawn",
                     path);
}
