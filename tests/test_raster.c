/* Pictures (tools/raster.c) and PNG files (tools/png.c). Files are read back with a decoder of this test's
 * own; coverage, depth order, shadows and framing are compared with what geometry says. */
#include "../tools/png.c"
#include "../tools/raster.c"
#include "test.h"

/* a background that runs from top to bottom */
static void set_background(raster_scene *scene, const double top[3], const double bottom[3])
{
    memcpy(scene->top, top, sizeof scene->top);
    memcpy(scene->bottom, bottom, sizeof scene->bottom);
}

/* the direction from the scene towards the key light */
static void set_light(raster_scene *scene, const double toward[3])
{
    memcpy(scene->light, toward, sizeof scene->light);
    scene->has_light = raster_unit(scene->light) > 0;
}

/* ---- a decoder: inflate of all three kinds of block, then the five row filters ---- */

typedef struct bits {
    const unsigned char *data;
    size_t size, at;        /* at counts bits */
    int bad;
} bits;

static unsigned take(bits *b, int count)
{
    unsigned v = 0;
    for (int i = 0; i < count; i++, b->at++) {
        if (b->at / 8 >= b->size) b->bad = 1;
        else v |= (unsigned)(b->data[b->at / 8] >> b->at % 8 & 1) << i;
    }
    return v;
}

/* next symbol of the canonical code with these lengths: codes of one length are consecutive numbers */
static int symbol(bits *b, const unsigned char *length, int n)
{
    int code = 0, first = 0;
    for (int size = 1; size < 16 && !b->bad; size++) {
        code = code << 1 | (int)take(b, 1);
        first <<= 1;
        for (int i = 0; i < n; i++)
            if (length[i] == size && first++ == code) return i;
    }
    b->bad = 1;
    return 0;
}

static void lengths_of_block(bits *b, int kind, unsigned char *literal, unsigned char *distance)
{
    static const int order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char both[320] = {0}, meta[19] = {0};
    int nl, nd, nm, n = 0;
    memset(literal, 0, 288);
    memset(distance, 0, 32);
    if (kind == 1) {
        for (int i = 0; i < 288; i++) literal[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
        memset(distance, 5, 30);
        return;
    }
    nl = (int)take(b, 5) + 257;
    nd = (int)take(b, 5) + 1;
    nm = (int)take(b, 4) + 4;
    for (int i = 0; i < nm; i++) meta[order[i]] = (unsigned char)take(b, 3);
    while (n < nl + nd && !b->bad) {
        int s = symbol(b, meta, 19), repeat = 1;
        unsigned char value = (unsigned char)s;
        if (s == 16) {
            value = n ? both[n - 1] : 0;
            repeat = 3 + (int)take(b, 2);
        } else if (s > 16) {
            value = 0;
            repeat = s == 17 ? 3 + (int)take(b, 3) : 11 + (int)take(b, 7);
        }
        for (; repeat > 0 && n < nl + nd; repeat--) both[n++] = value;
    }
    memcpy(literal, both, (size_t)nl);
    memcpy(distance, both + nl, (size_t)nd);
}

/* returns the number of bytes, or -1 */
static long inflate(unsigned char *out, long room, const unsigned char *data, size_t size)
{
    static const int base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const int far[30] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    bits b = {0};
    long n = 0;
    int last = 0;
    b.data = data;
    b.size = size;
    while (!last && !b.bad) {
        unsigned char literal[288], distance[32];
        int kind;
        last = (int)take(&b, 1);
        kind = (int)take(&b, 2);
        if (kind == 3) return -1;
        if (kind == 0) {
            int count;
            b.at = (b.at + 7) / 8 * 8;
            count = (int)take(&b, 16);
            take(&b, 16);
            for (; count > 0 && n < room && !b.bad; count--) out[n++] = (unsigned char)take(&b, 8);
            continue;
        }
        lengths_of_block(&b, kind, literal, distance);
        while (!b.bad) {
            int s = symbol(&b, literal, 288), length, back;
            if (s == 256) break;
            if (s < 256) {
                if (n == room) return -1;
                out[n++] = (unsigned char)s;
                continue;
            }
            if (s > 285) return -1;
            s -= 257;
            length = base[s] + (s >= 8 && s < 28 ? (int)take(&b, s / 4 - 1) : 0);
            s = symbol(&b, distance, 32);
            if (s > 29) return -1;
            back = far[s] + (s >= 4 ? (int)take(&b, s / 2 - 1) : 0);
            if (back > n || n + length > room) return -1;
            for (; length > 0; length--, n++) out[n] = out[n - back];
        }
    }
    return b.bad ? -1 : n;
}

static unsigned word(const unsigned char *p)
{
    return (unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 | p[3];
}

/* the picture of a PNG file of ours, or NULL */
static unsigned char *decode(const unsigned char *file, size_t size, int *width, int *height)
{
    unsigned char *rows, *rgb;
    size_t at = 8, data = 0, data_size = 0, row;
    long n;
    int good = size > 57 && memcmp(file, "\211PNG\r\n\032\n", 8) == 0, ended = 0;
    *width = *height = 0;
    while (good && at + 12 <= size) {
        size_t length = word(file + at);
        good = at + 12 + length <= size &&
               png_crc32(0, file + at + 4, length + 4) == word(file + at + 8 + length);
        if (good && memcmp(file + at + 4, "IHDR", 4) == 0) {
            *width = (int)word(file + at + 8);
            *height = (int)word(file + at + 12);
            good = file[at + 16] == 8 && file[at + 17] == 2;
        } else if (memcmp(file + at + 4, "IDAT", 4) == 0) {
            data = at + 8;
            data_size = length;
        } else ended = memcmp(file + at + 4, "IEND", 4) == 0;
        at += 12 + length;
    }
    if (!good || !ended || data_size < 6) return NULL;
    row = 3 * (size_t)*width;
    rows = (unsigned char *)malloc((row + 1) * (size_t)*height);
    rgb = (unsigned char *)calloc(row * (size_t)*height, 1);
    n = inflate(rows, (long)((row + 1) * (size_t)*height), file + data + 2, data_size - 6);
    good = n == (long)((row + 1) * (size_t)*height) && (file[data] * 256 + file[data + 1]) % 31 == 0 &&
           png_adler32(1, rows, (size_t)n) == word(file + data + data_size - 4);
    for (size_t y = 0; good && y < (size_t)*height; y++)
        for (size_t i = 0; i < row; i++) {
            int a = i >= 3 ? rgb[y * row + i - 3] : 0, b = y ? rgb[(y - 1) * row + i] : 0,
                c = i >= 3 && y ? rgb[(y - 1) * row + i - 3] : 0;
            int p = a + b - c, guess = 0;
            switch (rows[y * (row + 1)]) {
            case 1: guess = a; break;
            case 2: guess = b; break;
            case 3: guess = (a + b) / 2; break;
            case 4:
                guess = abs(p - b) <= abs(p - c) ? b : c;
                if (abs(p - a) <= abs(p - b) && abs(p - a) <= abs(p - c)) guess = a;
                break;
            default: break;
            }
            rgb[y * row + i] = (unsigned char)(rows[y * (row + 1) + 1 + i] + guess);
        }
    free(rows);
    if (good) return rgb;
    free(rgb);
    return NULL;
}

/* ---- PNG ---- */

static void test_check_sums(void)
{
    ENSURE(png_crc32(0, (const unsigned char *)"123456789", 9) == 0xCBF43926u);
    ENSURE(png_crc32(png_crc32(0, (const unsigned char *)"1234", 4), (const unsigned char *)"56789", 5) ==
           0xCBF43926u);
    ENSURE(png_crc32(0, (const unsigned char *)"IEND", 4) == 0xAE426082u);
    ENSURE(png_adler32(1, (const unsigned char *)"Wikipedia", 9) == 0x11E60398u);
}

static unsigned char *round_trip(const unsigned char *rgb, int width, int height, size_t *size)
{
    unsigned char *file = png_encode(rgb, width, height, size), *back;
    int w, h;
    if (!file) return NULL;
    back = decode(file, *size, &w, &h);
    ENSURE(back && w == width && h == height && memcmp(back, rgb, 3 * (size_t)width * (size_t)height) == 0);
    free(back);
    return file;
}

static void test_png_round_trip(void)
{
    static const int size[6][2] = {{1, 1}, {3, 2}, {257, 64}, {64, 257}, {400, 300}, {1, 900}};
    for (int k = 0; k < 24; k++) {
        int w = size[k % 6][0], h = size[k % 6][1], kind = k / 6;
        unsigned char *rgb = (unsigned char *)malloc(3 * (size_t)w * (size_t)h), *file;
        size_t bytes = 0;
        for (int i = 0; i < 3 * w * h; i++) {
            int x = i / 3 % w, y = i / 3 / w;
            double pattern = (x / 7 + y / 5) % 2 * 200 + i % 3, smooth = kind ? x + 2 * y : 77;
            double v = kind < 2 ? smooth : kind == 2 ? 256 * test_random() : pattern;
            rgb[i] = (unsigned char)((int)v & 255);
        }
        file = round_trip(rgb, w, h, &bytes);
        ENSURE(file != NULL);
        if (w == 400) { /* even pictures and patterns shrink; noise grows by less than one part in fifty */
            if (kind == 0) ENSURE(bytes < 2500);
            if (kind == 1) ENSURE(bytes < 4000);
            if (kind == 2) ENSURE((double)bytes < 361000 * 1.02);
            if (kind == 3) ENSURE(bytes < 8000);
        }
        if (file) {         /* the decoder notices a changed byte */
            int ww, hh;
            file[bytes / 2] = (unsigned char)(file[bytes / 2] ^ 4);
            ENSURE(decode(file, bytes, &ww, &hh) == NULL);
        }
        free(file);
        free(rgb);
    }
}

/* One frame of an animation drawn over `shown` (numbers of colours) as its fcTL says. */
static int compose(unsigned char *shown, int width, int height, const unsigned char *control, const unsigned char *data,
                   size_t size)
{
    int w = (int)word(control + 4), h = (int)word(control + 8), x0 = (int)word(control + 12), y0 = (int)word(control + 16);
    unsigned char *rows = (unsigned char *)malloc((size_t)(w + 1) * (size_t)h);
    int good = w > 0 && h > 0 && x0 >= 0 && y0 >= 0 && x0 + w <= width && y0 + h <= height && size > 6;
    good = good && inflate(rows, (long)(w + 1) * h, data + 2, size - 6) == (long)(w + 1) * h;
    for (int y = 0; good && y < h; y++) {
        good = rows[y * (w + 1)] == 0;
        for (int x = 0; x < w; x++) {
            unsigned char number = rows[y * (w + 1) + 1 + x];
            if (number != 255) shown[(y0 + y) * width + x0 + x] = number;
        }
    }
    free(rows);
    return good;
}

/* Plays an animation and returns the largest error of a channel in any frame, -1 where the file is not right. */
static int play(const unsigned char *file, size_t size, const unsigned char *rgb, int count, int width, int height,
                int milliseconds[2])
{
    unsigned char *shown = (unsigned char *)malloc((size_t)width * (size_t)height);
    const unsigned char *palette = NULL, *control = NULL;
    unsigned sequence = 0;
    int frame = 0, worst = 0, good = memcmp(file, "\211PNG\r\n\032\n", 8) == 0, told = 0, clear = 0;
    memset(shown, 255, (size_t)width * (size_t)height);
    for (size_t at = 8; good && at + 12 <= size; at += 12 + word(file + at)) {
        const unsigned char *kind = file + at + 4, *data = file + at + 8;
        size_t length = word(file + at);
        int later = memcmp(kind, "fdAT", 4) == 0;
        good = at + 12 + length <= size && png_crc32(0, kind, length + 4) == word(data + length);
        if (memcmp(kind, "acTL", 4) == 0) told = (int)word(data);
        if (memcmp(kind, "PLTE", 4) == 0) palette = data;
        if (memcmp(kind, "tRNS", 4) == 0) clear = length == 256 && data[255] == 0 && data[254] == 255;
        if (memcmp(kind, "fcTL", 4) == 0) {
            control = data;
            milliseconds[frame == count - 1] = data[20] << 8 | data[21];
            good = good && length == 26 && word(data) == sequence++ && data[24] == 0 && data[25] == (frame > 0);
        }
        if (!later && memcmp(kind, "IDAT", 4) != 0) continue;
        good = good && control && palette && clear && (later == (frame > 0));
        if (later && good) good = word(data) == sequence++;
        good = good && frame < count && compose(shown, width, height, control, data + 4 * later, length - 4 * (size_t)later);
        for (int i = 0; good && i < 3 * width * height; i++) {
            int off = abs(palette[3 * shown[i / 3] + i % 3] - rgb[3 * width * height * frame + i]);
            if (shown[i / 3] == 255 || off > worst) worst = shown[i / 3] == 255 ? 256 : off;
        }
        frame++;
    }
    free(shown);
    return good && frame == count && told == count ? worst : -1;
}

/* A disc that moves over a smooth ground: what a player shows is near each frame, and few bytes say so. */
static void test_png_animation(void)
{
    enum { W = 120, H = 80, COUNT = 7 };
    unsigned char *rgb = (unsigned char *)malloc((size_t)COUNT * W * H * 3), *file;
    int milliseconds[2] = {0, 0};
    size_t size, still;
    for (int i = 0; i < COUNT * W * H; i++) {
        int frame = i / (W * H), x = i % W, y = i / W % H, dx = x - 20 - 11 * (frame < 6 ? frame : 5), dy = y - 40;
        int disc = dx * dx + dy * dy < 200;
        rgb[3 * i] = (unsigned char)(disc ? 230 : 150 + x / 2);
        rgb[3 * i + 1] = (unsigned char)(disc ? 60 : 150 + y);
        rgb[3 * i + 2] = (unsigned char)(disc ? 40 + dx : 200 + frame / 4);   /* the light changes by a hair */
    }
    file = png_encode_animation(rgb, COUNT, W, H, 40, 1500, &size);
    ENSURE(file != NULL);
    if (file) {
        int worst = play(file, size, rgb, COUNT, W, H, milliseconds);
        ENSURE(worst >= 0 && worst <= 12);
        ENSURE(milliseconds[0] == 40 && milliseconds[1] == 1500);
    }
    free(file);
    file = png_encode_animation(rgb, 1, W, H, 40, 1500, &still);
    ENSURE(file && play(file, still, rgb, 1, W, H, milliseconds) >= 0);
    ENSURE(size < 3 * still);
    free(file);
    ENSURE(png_encode_animation(rgb, 0, W, H, 40, 40, &size) == NULL && size == 0);
    ENSURE(png_encode_animation(rgb, 1, W, H, 70000, 40, &size) == NULL);
    for (int i = 0; i < 3 * W * H * 2; i++) rgb[i] = 17;   /* two frames of one colour: that of the palette is near */
    file = png_encode_animation(rgb, 2, W, H, 40, 1500, &size);
    ENSURE(file && play(file, size, rgb, 2, W, H, milliseconds) >= 0 && play(file, size, rgb, 2, W, H, milliseconds) <= 2);
    free(file);
    free(rgb);
}

static void test_png_rare_symbols(void)
{
    unsigned count[PNG_SYMBOLS], a = 1, b = 1;
    png_code code;
    double kraft = 0;
    for (int i = 0; i < PNG_SYMBOLS; i++) {     /* Fibonacci counts ask for the deepest tree there is */
        unsigned next = i < 40 ? a + b : 1;
        count[i] = i < 40 ? a : 0;
        a = b;
        b = next;
    }
    png_make_code(&code, count, PNG_SYMBOLS, 15);
    for (int i = 0; i < PNG_SYMBOLS; i++) {
        ENSURE(code.length[i] <= 15 && (code.length[i] > 0) == (i < 40));
        if (code.length[i]) kraft += pow(0.5, code.length[i]);
    }
    ENSURE(kraft == 1);
}

static void test_png_bad_arguments(void)
{
    unsigned char dot[3] = {1, 2, 3};
    size_t size = 5;
    ENSURE(png_encode(dot, 0, 1, &size) == NULL && size == 0);
    ENSURE(png_encode(dot, 1, -1, &size) == NULL);
    ENSURE(png_encode(dot, 40000, 1, &size) == NULL);
    ENSURE(png_write("no/such/folder/x.png", dot, 1, 1) == 0);
}

/* ---- pictures ---- */

static const double white[3] = {1, 1, 1}, black[3] = {0, 0, 0}, red[3] = {1, 0, 0}, green[3] = {0, 1, 0};

/* a camera over the origin looking down, so that at z = 0 a pixel is 1 / 100 wide; x right, y up */
static raster_scene *from_above(int width, int height)
{
    static const double target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    raster_scene *s = raster_create(width, height);
    double eye[3] = {0, 0, 10};
    set_background(s, black, black);
    raster_camera(s, eye, target, up, 2 * atan(0.005 * height / 10) * 180 / RASTER_PI);
    return s;
}

static int add_square(raster_scene *s, double x, double y, double z, double half, const double rgb[3],
                      double alpha, unsigned flags)
{
    static const int tri[6] = {0, 1, 2, 0, 2, 3};
    double p[12];
    raster_look look = raster_default_look();
    for (int i = 0; i < 4; i++) {
        p[3 * i] = x + (i == 1 || i == 2 ? half : -half);
        p[3 * i + 1] = y + (i > 1 ? half : -half);
        p[3 * i + 2] = z;
    }
    memcpy(look.rgb, rgb, sizeof look.rgb);
    look.alpha = alpha;
    look.flags = flags;
    look.gloss = 0;
    return raster_add_mesh(s, p, 4, tri, 2, &look);
}

static unsigned char *picture(raster_scene *s)
{
    unsigned char *rgb = (unsigned char *)malloc(3 * (size_t)s->width * (size_t)s->height);
    if (rgb) ENSURE(raster_render(s, rgb));
    return rgb;
}

static const unsigned char *pixel(const raster_scene *s, const unsigned char *rgb, int x, int y)
{
    return rgb + 3 * (y * s->width + x);
}

/* Samples that a face covers. */
static long samples_of(const raster_scene *s, const raster_face *f)
{
    long count = 0;
    double e[3];
    int64_t area = raster_edge(f, 0, 1, f->x[2], f->y[2]);
    for (int y = 0; y < s->height * RASTER_SIDE && area; y++)
        for (int x = 0; x < s->width * RASTER_SIDE; x++)
            count += raster_covers(f, area, (int64_t)x * RASTER_GRID + RASTER_GRID / 2,
                                   (int64_t)y * RASTER_GRID + RASTER_GRID / 2, e);
    return count;
}

/* the number of samples is the area, up to the samples along the outline */
static void test_coverage(void)
{
    static const int tri[3] = {0, 1, 2};
    for (int k = 0; k < 20; k++) {
        raster_scene *s = from_above(160, 120);
        raster_look look = raster_default_look();
        double x[9] = {0}, area, around = 0;
        for (int i = 0; i < 9; i++) x[i] = i % 3 == 2 ? 0 : test_uniform(-0.6, 0.6);
        area = 0.5 * fabs((x[3] - x[0]) * (x[7] - x[1]) - (x[4] - x[1]) * (x[6] - x[0])) * 9e4;
        for (int i = 0; i < 3; i++)
            around += 300 * hypot(x[3 * ((i + 1) % 3)] - x[3 * i], x[3 * ((i + 1) % 3) + 1] - x[3 * i + 1]);
        raster_add_mesh(s, x, 3, tri, 1, &look);
        ENSURE(raster_faces(s) && s->faces == 1);
        ENSURE_CLOSE((double)samples_of(s, s->face), area, 0.6 * around + 2);
        raster_destroy(s);
    }
}

/* faces that meet share no sample and leave none out: a fan over a square, whose corners fall on samples */
static void test_coverage_is_exact_where_faces_meet(void)
{
    raster_scene *s = from_above(60, 60);
    raster_look look = raster_default_look();
    double x[51] = {0};
    int tri[48];
    long sum = 0;
    for (int i = 0; i < 16; i++) {
        int side = i / 4;
        double t = -0.25 + 0.125 * (i % 4), a = side < 2 ? 0.25 : -0.25, c = side == 0 || side == 3 ? t : -t;
        x[3 * i + 3] = (side % 2 ? c : a) + 0.5 / 300;
        x[3 * i + 4] = (side % 2 ? a : c) + 0.5 / 300;
        tri[3 * i] = 0;
        tri[3 * i + 1] = 1 + i;
        tri[3 * i + 2] = 1 + (i + 1) % 16;
    }
    ENSURE(raster_add_mesh(s, x, 17, tri, 16, &look) == 0);
    ENSURE(raster_faces(s) && s->faces == 16);
    for (int f = 0; f < s->faces; f++) sum += samples_of(s, s->face + f);
    ENSURE(sum == 150 * 150);
    raster_destroy(s);
}

static void test_nearer_hides_farther(void)
{
    for (int order = 0; order < 2; order++) {
        raster_scene *s = from_above(60, 60);
        unsigned char *rgb;
        const unsigned char *p;
        for (int k = 0; k < 2; k++) {
            if (k == order) add_square(s, 0, 0, 0.1, 0.1, red, 1, 0);
            else add_square(s, 0, 0, 0, 0.2, green, 1, 0);
        }
        rgb = picture(s);
        p = pixel(s, rgb, 30, 30);
        ENSURE(p[0] > 100 && p[1] == 0);
        p = pixel(s, rgb, 15, 30);
        ENSURE(p[0] == 0 && p[1] > 60);
        p = pixel(s, rgb, 5, 30);
        ENSURE(p[0] == 0 && p[1] == 0);
        free(rgb);
        raster_destroy(s);
    }
}

static void test_see_through(void)
{
    static const double maroon[3] = {0.5, 0, 0}; /* not so bright that the picture bends it towards white */
    double blend[3];
    for (int k = 0; k < 3; k++) {
        raster_scene *s = from_above(60, 60);
        unsigned char *rgb;
        add_square(s, 0, 0, 0.1, 0.1, maroon, k == 0 ? 1 : k == 1 ? 0.5 : 0.25, 0);
        add_square(s, 0, 0, 0, 0.2, green, 1, RASTER_NO_SHADOW);
        rgb = picture(s);
        blend[k] = raster_to_linear(pixel(s, rgb, 30, 30)[0] / 255.0);
        ENSURE((pixel(s, rgb, 30, 30)[1] == 0) == (k == 0));
        free(rgb);
        raster_destroy(s);
    }
    ENSURE_REL(blend[1], 0.5 * blend[0], 0.03);
    ENSURE_REL(blend[2], 0.25 * blend[0], 0.03);
}

/* edges of the triangles, and none where the near plane cut them */
static void test_wire(void)
{
    raster_scene *s = from_above(60, 60);
    static const int tri[6] = {0, 1, 2, 0, 2, 3};
    double p[12] = {-0.2, -0.2, 0, 0.2, -0.2, 0, 0.2, 0.2, 0, -0.2, 0.2, 0};
    raster_look look = raster_default_look();
    unsigned char *rgb;
    look.flags = RASTER_WIRE;
    look.wire_alpha = 1;
    look.wire_width = 2;
    memcpy(look.rgb, white, sizeof white);
    memcpy(look.wire_rgb, black, sizeof black);
    raster_add_mesh(s, p, 4, tri, 2, &look);
    rgb = picture(s);
    ENSURE(pixel(s, rgb, 30, 29)[0] < 60);              /* the diagonal goes from lower left to upper right */
    ENSURE(pixel(s, rgb, 22, 22)[0] > 120);
    ENSURE(pixel(s, rgb, 38, 38)[0] > 120);
    free(rgb);
    raster_destroy(s);
}

static void test_one_sided(void)
{
    static const int tri[6] = {0, 1, 2, 0, 2, 1};
    double p[9] = {-0.2, -0.2, 0, 0.2, -0.2, 0, 0, 0.2, 0};
    for (int k = 0; k < 4; k++) {
        raster_scene *s = from_above(60, 60);
        raster_look look = raster_default_look();
        unsigned char *rgb;
        look.flags = k < 2 ? RASTER_ONE_SIDED : 0;
        raster_add_mesh(s, p, 3, tri + 3 * (k % 2), 1, &look);
        rgb = picture(s);
        ENSURE((pixel(s, rgb, 30, 33)[0] > 100) == (k != 1)); /* seen from behind it is lit all the same */
        free(rgb);
        raster_destroy(s);
    }
}

static void test_shadow(void)
{
    raster_scene *s = from_above(100, 100);
    double slanted[3] = {0.5, 0, 1}, lit, under, beside;
    unsigned char *rgb;
    set_light(s, slanted);
    raster_ground(s, 0, 0, white, white);
    add_square(s, 0.2, 0, 1, 0.15, red, 1, 0); /* its shadow is half a metre, 50 pixels, to the left */
    rgb = picture(s);
    under = pixel(s, rgb, 20, 50)[0];
    beside = pixel(s, rgb, 20, 90)[0];
    lit = pixel(s, rgb, 95, 5)[0];
    ENSURE(pixel(s, rgb, 72, 50)[1] < 20);              /* the red square itself */
    ENSURE(pixel(s, rgb, 20, 50)[1] > 50);              /* that is ground */
    ENSURE(under < 0.9 * beside && fabs(beside - lit) < 12 && lit > 150);
    free(rgb);
    raster_destroy(s);
}

/* the box fits, and nearly fills the picture one way */
static void test_frame(void)
{
    for (int k = 0; k < 30; k++) {
        raster_scene *s = raster_create(k % 2 ? 300 : 100, k % 3 ? 200 : 90);
        double low[3], high[3], from[3], largest = 0, side[4] = {0, 0, 0, 0};
        for (int i = 0; i < 3; i++) {
            low[i] = test_uniform(-2, 1);
            high[i] = low[i] + test_uniform(0.05, 2);
            from[i] = test_uniform(-1, 1);
        }
        raster_frame(s, low, high, from, test_uniform(10, 60));
        for (int c = 0; c < 8; c++) {
            double d[3], a[2];
            for (int i = 0; i < 3; i++) d[i] = (c >> i & 1 ? high[i] : low[i]) - s->eye[i];
            a[0] = tool_dot(d, s->right) / tool_dot(d, s->ahead) * s->focal / (1.5 * s->width);
            a[1] = tool_dot(d, s->up) / tool_dot(d, s->ahead) * s->focal / (1.5 * s->height);
            ENSURE(tool_dot(d, s->ahead) > 0);
            for (int i = 0; i < 2; i++) {
                largest = fmax(largest, fabs(a[i]));
                side[2 * i] = fmin(side[2 * i], a[i]);
                side[2 * i + 1] = fmax(side[2 * i + 1], a[i]);
            }
        }
        ENSURE(largest < 0.95 && largest > 0.8);
        ENSURE_CLOSE(side[0], -side[1], 0.03);
        ENSURE_CLOSE(side[2], -side[3], 0.03);
        raster_destroy(s);
    }
}

/* a floor that passes under and behind the camera: the lower half of the picture, up to the horizon */
static void test_near_plane(void)
{
    static const double eye[3] = {0, 0, 1}, target[3] = {10, 0, 1}, up[3] = {0, 0, 1};
    raster_scene *s = raster_create(80, 60);
    unsigned char *rgb;
    set_background(s, black, black);
    add_square(s, 0, 0, 0, 10000, white, 1, RASTER_NO_SHADOW);
    add_square(s, 5, 0, 1, 0.2, red, 1, 0);
    raster_camera(s, eye, target, up, 60);
    rgb = picture(s);
    for (int x = 0; x < 80; x++)
        for (int y = 0; y < 60; y++) {
            if (y < 28) ENSURE(pixel(s, rgb, x, y)[1] == 0);
            if (y > 32) ENSURE(pixel(s, rgb, x, y)[1] > 50);
        }
    free(rgb);
    raster_destroy(s);
}

static void paint_by_x(void *user, const double rest[3], double rgb[3])
{
    ++*(long *)user;
    rgb[0] = rest[0] > 7 ? 1 : 0;
    rgb[1] = rgb[2] = 0;
}

/* paint sees material points, interpolated straight in space also under perspective */
static void test_paint(void)
{
    static const int tri[3] = {0, 1, 2};
    static const double eye[3] = {0, -6, 8}, target[3] = {0, 6, 0}, up[3] = {0, 0, 1};
    double x[9] = {-20, -1.5, 0, 20, -1.5, 0, 0, 30, 0}, rest[9] = {0, 0, 0, 0, 0, 0, 10, 0, 0},
           p[3] = {0, 0, 0}, d[3], row;
    raster_scene *s = raster_create(100, 100);
    raster_look look = raster_default_look();
    unsigned char *rgb;
    long calls = 0;
    look.paint = paint_by_x;
    look.paint_user = &calls;
    look.rest = rest;
    set_background(s, green, green);
    raster_add_mesh(s, x, 3, tri, 1, &look);
    raster_camera(s, eye, target, up, 60);
    p[1] = -1.5 + 0.7 * 31.5;       /* where rest x is 7 on the middle line */
    tool_sub(d, p, s->eye);
    row = 50 - s->focal / 3 * tool_dot(d, s->up) / tool_dot(d, s->ahead);
    rgb = picture(s);
    ENSURE(calls > 500);
    ENSURE(pixel(s, rgb, 50, (int)row - 2)[0] > 40);
    ENSURE(pixel(s, rgb, 50, (int)row + 2)[0] < 40);
    free(rgb);
    raster_destroy(s);
}

/* a ball of eight faces: smooth shading has no step at an edge, flat shading has */
static void test_smooth_and_flat(void)
{
    static const int tri[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    double x[18] = {0.3, 0, 0, -0.3, 0, 0, 0, 0.3, 0, 0, -0.3, 0, 0, 0, 0.3, 0, 0, -0.3};
    int step[3];
    for (int k = 0; k < 3; k++) {
        raster_scene *s = from_above(80, 80);
        raster_look look = raster_default_look();
        double side[3] = {1, 0.7, 0.6};
        unsigned char *rgb;
        look.flags = k == 1 ? RASTER_FLAT : 0;
        look.crease = k == 2 ? 40 : 120;
        look.gloss = 0;
        set_light(s, side);
        raster_add_mesh(s, x, 6, tri, 8, &look);
        rgb = picture(s);
        step[k] = abs(pixel(s, rgb, 39, 28)[0] - pixel(s, rgb, 41, 28)[0]);
        free(rgb);
        raster_destroy(s);
    }
    ENSURE(step[0] < 20 && step[1] > 40 && step[2] == step[1]);
}

static void test_label(void)
{
    raster_scene *s = raster_create(80, 40);
    unsigned char *rgb;
    int left = 80, right = 0, top = 40, bottom = 0;
    set_background(s, black, black);
    ENSURE(raster_label(s, "h8", -3, -4, 2, white));
    rgb = picture(s);
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 80; x++)
            if (pixel(s, rgb, x, y)[0] == 255) {
                left = x < left ? x : left;
                right = x > right ? x : right;
                top = y < top ? y : top;
                bottom = y > bottom ? y : bottom;
            }
    ENSURE(right == 76 && left == 76 - 21 && bottom == 35 && top == 35 - 13);
    for (size_t a = 0; a < sizeof raster_font / sizeof *raster_font; a++)
        for (size_t b = 0; b < a; b++)
            ENSURE(raster_font[a].name != raster_font[b].name &&
                   memcmp(raster_font[a].row, raster_font[b].row, 7) != 0);
    for (const char *c = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.,:;-+=/()%'!?*<>_"; *c; c++) {
        int found = 0;
        for (size_t a = 0; a < sizeof raster_font / sizeof *raster_font; a++)
            found |= raster_font[a].name == *c;
        ENSURE(found);
    }
    free(rgb);
    raster_destroy(s);
}

static void test_same_bytes(void)
{
    unsigned char *rgb[2];
    for (int k = 0; k < 2; k++) {
        raster_scene *s = from_above(70, 50);
        raster_ground(s, -0.1, 0.1, white, green);
        add_square(s, 0, 0, 0, 0.1, red, 1, 0);
        add_square(s, 0.05, 0, 0.1, 0.1, white, 0.5, RASTER_WIRE);
        rgb[k] = picture(s);
        if (k) {            /* and the same scene again */
            unsigned char *again = picture(s);
            ENSURE(memcmp(again, rgb[1], 3 * 70 * 50) == 0);
            free(again);
        }
        raster_destroy(s);
    }
    ENSURE(memcmp(rgb[0], rgb[1], 3 * 70 * 50) == 0);
    free(rgb[0]);
    free(rgb[1]);
}

static void test_raster_bad_arguments(void)
{
    static const int high[3] = {0, 1, 3}, low[3] = {0, -1, 2}, good[3] = {0, 1, 2};
    double x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    raster_look look = raster_default_look();
    raster_scene *s;
    unsigned char *rgb;
    ENSURE(raster_create(0, 5) == NULL && raster_create(5, 20000) == NULL);
    s = raster_create(20, 10);
    ENSURE(raster_add_mesh(s, x, 3, high, 1, &look) == -1);
    ENSURE(raster_add_mesh(s, x, 3, low, 1, &look) == -1);
    rgb = picture(s);       /* nothing in it, no camera: background */
    ENSURE(rgb && rgb[0] > 200);
    free(rgb);
    ENSURE(raster_add_mesh(s, x, 3, good, 1, &look) == 0);
    x[4] = NAN;
    ENSURE(raster_add_mesh(s, x, 3, good, 1, &look) == -1);
    rgb = picture(s);       /* default camera */
    free(rgb);
    raster_destroy(s);
    raster_destroy(NULL);
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(check_sums);
    RUN(png_round_trip);
    RUN(png_animation);
    RUN(png_rare_symbols);
    RUN(png_bad_arguments);
    RUN(coverage);
    RUN(coverage_is_exact_where_faces_meet);
    RUN(nearer_hides_farther);
    RUN(see_through);
    RUN(wire);
    RUN(one_sided);
    RUN(shadow);
    RUN(frame);
    RUN(near_plane);
    RUN(paint);
    RUN(smooth_and_flat);
    RUN(label);
    RUN(same_bytes);
    RUN(raster_bad_arguments);
    return test_end("test_raster");
}
