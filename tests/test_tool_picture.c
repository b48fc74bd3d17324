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
    ENSURE(strcmp(e.text, "/no/such/place/picture_00001.png: cannot be written") == 0);
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
    RUN(film);
    return test_end(__FILE__);
}
