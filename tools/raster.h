/* A small software rasteriser for pictures of simulations: perspective, smooth or flat shading, one soft key
 * light with true shadows, a sky whose light is shadowed too (so that things stand on the ground), a ground
 * plane, see-through objects, wire edges, labels. Always nine samples a pixel. Same scene, same bytes.
 *
 *     raster_scene *s = raster_create(960, 640);
 *     raster_look look = raster_default_look();
 *     raster_add_mesh(s, x, nodes, tri, triangles, &look);
 *     raster_ground(s, 0, 0.05, light, dark);
 *     raster_frame(s, low, high, from, 30);
 *     raster_render(s, rgb);
 *     raster_destroy(s);
 *
 * Colours are sRGB, 0 to 1. z is up. */
#ifndef RASTER_H
#define RASTER_H

typedef struct raster_scene raster_scene;

/* Colour at a material point: rest[3] is the point in the coordinates given as raster_look.rest. */
typedef void (*raster_paint)(void *user, const double rest[3], double rgb[3]);

enum {
    RASTER_FLAT = 1,        /* one normal a triangle */
    RASTER_WIRE = 2,        /* edges drawn over the surface */
    RASTER_NO_SHADOW = 4,   /* casts none (it still receives); for large floors */
    RASTER_ONE_SIDED = 8    /* triangles facing away are not drawn */
};

typedef struct raster_look {
    double rgb[3];
    double alpha;           /* 1 opaque, less lets through; see-through objects cast no shadow */
    unsigned flags;
    double crease;          /* degrees: edges sharper than this stay sharp (60) */
    double wire_rgb[3];
    double wire_width;      /* pixels (1) */
    double wire_alpha;      /* of the edges (0.8) */
    double gloss;           /* strength of the highlight, 0 to 1 (0.08) */
    raster_paint paint;     /* instead of rgb, when not NULL */
    void *paint_user;
    const double *rest;     /* node positions handed to paint, nv x 3; NULL: the positions drawn */
} raster_look;

/* grey, opaque, smooth, with the defaults in brackets above */
raster_look raster_default_look(void);

/* An empty scene for pictures of this size, 1 to 16384 a side; NULL when it is not, or memory is short. */
raster_scene *raster_create(int width, int height);
void raster_destroy(raster_scene *scene);

/* Adds a mesh: nv x 3 positions, nt x 3 indices, outward. Everything is copied. Returns the number of the
 * object, or -1 when an index is out of range, a position is not finite, or memory is short. */
int raster_add_mesh(raster_scene *scene, const double *x, int nv, const int *tri, int nt,
                    const raster_look *look);

/* A checkered ground plane at height z that fades into the background; check 0: all in the first colour. */
void raster_ground(raster_scene *scene, double z, double check, const double rgb_a[3], const double rgb_b[3]);

/* The camera in direction `from` (as seen from the middle) so far away that the box just fits. */
void raster_frame(raster_scene *scene, const double low[3], const double high[3], const double from[3],
                  double fov);

/* A line of text with its upper left corner at pixel (x, y), letters 7 * scale pixels high. Digits, letters
 * (drawn as capitals) and . , : ; - + = / ( ) % ' ! ? * < > _; negative x or y count from the far edge to the
 * end of the text. Returns 0 when memory is short. */
int raster_label(raster_scene *scene, const char *text, int x, int y, int scale, const double rgb[3]);

/* Draws into width x height x 3 bytes, rows from the top. Returns 0 when memory is short. */
int raster_render(raster_scene *scene, unsigned char *rgb);

#endif
