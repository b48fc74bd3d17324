/* Pictures of a world: all its bodies in distinct colours, seen from above and to the side. */
#ifndef TOOL_PICTURE_H
#define TOOL_PICTURE_H
#include "scene.h"

typedef struct picture_box { double lo[3], hi[3]; } picture_box;

/* Writes a PNG file. Returns 1, or 0 with e filled. */
int picture_write(const char *path, const scene *s, const embipc_world *world, tool_error *e);

/* Pictures of one size that follow each other: DIR/picture_00000.png and so on, for a video. The camera only ever
 * moves back, as far as what moves needs it. A zeroed film is a new one. */
typedef struct picture_film {
    picture_box seen;             /* of what moved so far */
    double check;                 /* squares of the ground, m, as at the start */
    int count;
} picture_film;
int picture_film_add(picture_film *film, const char *directory, const scene *s, const embipc_world *world,
                     tool_error *e);

/* Moments of a run side by side in one picture, all seen by the same camera. What a moment looks like is kept
 * until the end, when the camera is known. A zeroed sheet is a new one. */
typedef struct picture_sheet {
    double *x;                    /* owned; vertices of all bodies at each moment, m */
    double *time;                 /* owned; s */
    int vertex_count;             /* of all bodies */
    int count, x_capacity, time_capacity;
    int small;                    /* nonzero: half as wide and high, in a quarter of the time */
} picture_sheet;
void picture_sheet_add(picture_sheet *sheet, const scene *s, const embipc_world *world);
int picture_sheet_write(const picture_sheet *sheet, const char *path, const scene *s, const embipc_world *world,
                        tool_error *e);
/* Can so many moments be held? The first one has been added. Returns 1, or 0 with e filled. */
int picture_sheet_fits(const picture_sheet *sheet, const char *path, int moments, tool_error *e);
/* The same moments one after the other, as an animated PNG: `seconds` apart, and the last one stays for a while. */
int picture_sheet_animate(const picture_sheet *sheet, const char *path, const scene *s, const embipc_world *world,
                          double seconds, tool_error *e);
void picture_sheet_free(picture_sheet *sheet);

/* A direction from which what moves is seen at present. */
void picture_view(double from[3], const scene *s, const embipc_world *world);

/* The colour (sRGB, 0 to 1) of a body that has no paint: grey when fixed, else by its number among the others. */
void picture_body_colour(double rgb[3], embipc_kind kind, int number);
#endif
