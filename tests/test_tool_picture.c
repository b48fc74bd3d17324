/* Pictures of a run: a sheet of moments is laid out row by row and seen by one camera, a film numbers its files.
 * What is in a picture is the rasteriser's matter (test_raster.c). */
#include "../tools/system.h"
#include "../embipc.h"
#include "test.h"
#include "../tools/raster.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/shapes.h"
#include "../tools/scene.h"
#include "../tools/png.h"
#include "../tools/picture.c"

static const char scene_text[] =
    "{\"version\":1,\"time_step\":0.1,\"duration\":1,\"gravity\":[0,0,0],\"bodies\":["
    "{\"name\":\"ground\",\"kind\":\"fixed\",\"shape\":\"plane\"},"
    "{\"name\":\"box\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[0,0,0.1],"
    "\"velocity\":[0,0,1]}]}";

static int start(scene *s, embipc_world **world)
{
    tool_error e;
    *world = NULL;
    ENSURE(scene_parse(s, "s.json", scene_text, strlen(scene_text), &e) && scene_build(s, world, &e));
    return *world != NULL;
}

/* Sum of the differences of two cells, a byte each, on average. */
static double differ(const unsigned char *rgb, int across, int a, int b)
{
    size_t row = (size_t)PICTURE_CELL_WIDTH * 3;
    double sum = 0;
    for (size_t y = 0; y < PICTURE_CELL_HEIGHT; y++)
        for (size_t i = 0; i < row; i++) {
            size_t ya = (size_t)(a / across * PICTURE_CELL_HEIGHT) + y,
                yb = (size_t)(b / across * PICTURE_CELL_HEIGHT) + y;
            sum += abs(rgb[(ya * (size_t)across + (size_t)(a % across)) * row + i]
                       - rgb[(yb * (size_t)across + (size_t)(b % across)) * row + i]);
        }
    return sum / ((double)row * PICTURE_CELL_HEIGHT);
}

/* Two moments of a box at rest and one after it moved, of four cells. */
static void test_sheet(void)
{
    size_t bytes = (size_t)PICTURE_CELL_WIDTH * PICTURE_CELL_HEIGHT * 4 * 3;
    unsigned char *rgb = (unsigned char *)tool_alloc(bytes, 1);
    picture_sheet sheet;
    picture_scene p;
    embipc_world *world;
    scene s;
    memset(&sheet, 0, sizeof sheet);
    if (!start(&s, &world)) return;
    picture_sheet_add(&sheet, &s, world);
    picture_sheet_add(&sheet, &s, world);
    for (int i = 0; i < 3; i++) ENSURE(embipc_world_step(world, NULL) == EMBIPC_OK);
    picture_sheet_add(&sheet, &s, world);
    ENSURE(sheet.count == 3 && sheet.vertex_count > 8 && sheet.time[0] == 0);
    ENSURE_CLOSE(sheet.time[2], 0.3, 1e-12);
    memset(rgb, 255, bytes);
    ENSURE(picture_get(&p, &s, world) && picture_sheet_draw(rgb, 2, &sheet, &p));
    ENSURE(differ(rgb, 2, 0, 1) == 0);
    ENSURE(differ(rgb, 2, 0, 2) > 1);
    ENSURE(differ(rgb, 2, 0, 3) > 5 && rgb[bytes - 1] == 255);
    free(p.view);
    free(rgb);
    picture_sheet_free(&sheet);
    embipc_world_destroy(world);
    scene_free(&s);
}

/* A ball behind a wall, then in a box without a lid: the camera goes to where it is seen; without them it stays. */
static void test_view(void)
{
    static const char *const around[3] = {
        "",
        ",{\"name\":\"wall\",\"kind\":\"fixed\",\"shape\":\"box\","
        "\"size\":[0.02,0.6,0.6],\"position\":[0.2,0.1,0.3]}",
        ",{\"name\":\"a\",\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[0.02,0.4,0.2],\"position\":[0.1,0,0.1]},"
        "{\"name\":\"b\",\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[0.02,0.4,0.2],\"position\":[-0.1,0,0.1]},"
        "{\"name\":\"c\",\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[0.4,0.02,0.2],\"position\":[0,0.1,0.1]},"
        "{\"name\":\"d\",\"kind\":\"fixed\",\"shape\":\"box\",\"size\":[0.4,0.02,0.2],\"position\":[0,-0.1,0.1]}" };
    for (int k = 0; k < 3; k++) {
        double seen[PICTURE_DIRECTIONS] = { 0 }, share;
        picture_box box = picture_empty();
        tool_text text = { NULL, 0, 0 };
        embipc_world *world = NULL;
        picture_scene p;
        tool_error e;
        scene s;
        tool_put(&text, "{\"version\":1,\"bodies\":[{\"name\":\"ground\",\"kind\":\"fixed\",\"shape\":\"plane\"},"
                        "{\"name\":\"ball\",\"kind\":\"affine\",\"shape\":\"sphere\",\"radius\":0.05,\"position\":[0,0,0.06]}"
                        "%s]}", around[k]);
        if (!scene_parse(&s, "s.json", text.data, strlen(text.data), &e) || !scene_build(&s, &world, &e)) {
            printf("  %s\n", e.text);
            ENSURE(0);
            return;
        }
        ENSURE(picture_get(&p, &s, world));
        picture_grow_subject(&box, &p);
        picture_look(&p, &box, seen);
        picture_turn(&p, seen);
        share = picture_seen(&p, &box, p.from);
        if (k == 0) ENSURE(p.from[0] == 1 && seen[0] > 0.7 * 3.14159 * 0.25 * pow(96 / 1.8, 2));
        if (k == 1) ENSURE(seen[0] == 0 && p.from[0] < 0 && p.from[2] < 0.5);
        if (k == 2) ENSURE(p.from[2] > 0.5 && share > 2 * seen[0]);
        free(p.view);
        embipc_world_destroy(world);
        scene_free(&s);
        tool_text_free(&text);
    }
}

/* Colours of 24 bodies stay apart: in Lab, where 2.3 is just seen, by 15 at least. */
static void test_colours(void)
{
    double lab[24][3];
    for (int i = 0; i < 24; i++) {
        double c[3], x[3];
        picture_body_colour(c, EMBIPC_CAGE, i);
        for (int k = 0; k < 3; k++) c[k] = c[k] <= 0.04045 ? c[k] / 12.92 : pow((c[k] + 0.055) / 1.055, 2.4);
        x[0] = (0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2]) / 0.9505;
        x[1] = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
        x[2] = (0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2]) / 1.089;
        for (int k = 0; k < 3; k++) x[k] = cbrt(x[k]);
        lab[i][0] = 116 * x[1] - 16; lab[i][1] = 500 * (x[0] - x[1]); lab[i][2] = 200 * (x[1] - x[2]);
        for (int j = 0; j < i; j++) {
            double a = lab[i][0] - lab[j][0], b = lab[i][1] - lab[j][1], d = lab[i][2] - lab[j][2];
            ENSURE(sqrt(a * a + b * b + d * d) > 15);
        }
    }
}

static void test_film(void)
{
    char directory[1024], name[1100];
    const char *tmp = getenv("TMPDIR");
    picture_film film;
    picture_box first;
    embipc_world *world;
    tool_error e;
    scene s;
    FILE *f;
#ifdef __SANITIZE_ADDRESS__
    SKIP("too slow under sanitizers");
#endif
    memset(&film, 0, sizeof film);
    if (!start(&s, &world)) return;
    snprintf(directory, sizeof directory, "%s/embipc_test_tool_picture", tmp && *tmp ? tmp : "/tmp");
    snprintf(name, sizeof name, "%s/picture_00000.png", directory);
    ENSURE(system_make_directories(directory));
    remove(name);
    ENSURE(picture_film_add(&film, directory, &s, world, &e));
    f = fopen(name, "rb");
    ENSURE(f != NULL);
    if (f) fclose(f);
    first = film.seen;
    ENSURE(embipc_world_step(world, NULL) == EMBIPC_OK);
    ENSURE(!picture_film_add(&film, "/no/such/place", &s, world, &e));
    ENSURE(strcmp(e.text, "/no/such/place/picture_00001.png: cannot be written: No such file or directory") == 0);
    ENSURE_CLOSE(film.seen.lo[2], first.lo[2], 0);   /* the camera keeps what it saw */
    ENSURE(film.seen.hi[2] > first.hi[2] + 0.05 && film.count == 2);
    embipc_world_destroy(world);
    scene_free(&s);
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(sheet);
    RUN(view);
    RUN(colours);
    RUN(film);
    return test_end(__FILE__);
}
