/* `embipc embed` as a function: its words, its files, its exit codes. */
#include "../tools/system.h"
#include "../embipc.h"
#include "test.h"
#include "../tools/common.h"
#include "../tools/meshio.h"
#include "../tools/png.h"
#include "../tools/raster.h"
#include "../tools/embed.h"

static const char *place(const char *name)
{
    static char path[2][1024];
    static int turn;
    const char *tmp = getenv("TMPDIR");
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/embipc_test_tool_embed_%s", tmp && *tmp ? tmp : "/tmp", name);
    return path[turn];
}

/* n boxes in a row as an OBJ file */
static void write_boxes(const char *path, int n)
{
    FILE *f = fopen(path, "wb");
    if (!f) return;
    for (int b = 0; b < n; b++)
        for (int i = 0; i < 8; i++) fprintf(f, "v %d %d %d\n", 3 * b + (i & 1), i >> 1 & 1, i >> 2 & 1);
    for (int b = 0; b < n; b++) {
        static const int quad[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5}, {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
        for (int q = 0; q < 6; q++)
            fprintf(f, "f %d %d %d %d\n", 8 * b + quad[q][0], 8 * b + quad[q][1], 8 * b + quad[q][2], 8 * b + quad[q][3]);
    }
    fclose(f);
}

static int embed(const char *surface, int nodes, const char *out, const char *png, char text[4000])
{
    embed_options o;
    FILE *f = fopen(place("words"), "w+b");
    size_t n;
    int code;
    memset(&o, 0, sizeof o);
    o.surface = surface;
    o.nodes = nodes;
    o.out = out;
    o.png = png;
    o.report = o.errors = f;
    code = embed_surface(&o);
    rewind(f);
    n = fread(text, 1, 3999, f);
    text[n] = 0;
    fclose(f);
    return code;
}

static void test_words_and_files(void)
{
    char text[4000], obj[1024], msh[1024], png[1024];
    tool_mesh m;
    tool_error e;
    FILE *f;
    snprintf(obj, sizeof obj, "%s", place("box.obj"));
    snprintf(msh, sizeof msh, "%s", place("box.msh"));
    snprintf(png, sizeof png, "%s", place("box.png"));
    write_boxes(obj, 1);
    ENSURE(embed(obj, 40, msh, png, text) == 0);
    ENSURE(strstr(text, "8 vertices, 12 triangles, 1 part, 1 m^3"));
    ENSURE(strstr(text, "the emptiest is solid to 100 %") && !strstr(text, "note:"));
    ENSURE(mesh_read(&m, msh, &e));
    ENSURE(m.node_count >= 32 && m.node_count <= 48 && m.tet_count > m.node_count);
    ENSURE(embipc_tets_check(m.x, m.node_count, m.tet, m.tet_count, NULL) == EMBIPC_OK);
    mesh_free(&m);
    f = fopen(png, "rb");
    ENSURE(f && fgetc(f) == 0x89 && fgetc(f) == 'P');
    if (f) fclose(f);
    remove(png);
    remove(msh);
    write_boxes(obj, 3);
    ENSURE(embed(obj, 8, NULL, NULL, text) == 1 && strstr(text, "3 separate parts") && strstr(text, "12 or more"));
    ENSURE(embed(obj, 12, NULL, NULL, text) == 0 && strstr(text, "3 parts"));
    ENSURE(embed(obj, 0, "/no/such/place/x.msh", NULL, text) == 2 && strstr(text, "cannot be written"));
    remove(obj);
    ENSURE(embed(obj, 8, NULL, NULL, text) == 2 && strstr(text, "box.obj"));
    remove(place("words"));
}

/* A lattice that takes gigabytes is told before it is made; here the library then refuses it. */
static void test_large(void)
{
    char text[4000], obj[1024];
    embed_options o;
    FILE *f = fopen(place("large"), "w+b");
    memset(&o, 0, sizeof o);
    snprintf(obj, sizeof obj, "%s", place("one.obj"));
    write_boxes(obj, 1);
    o.surface = obj;
    o.cell = 1e-5;
    o.report = o.errors = f;
    ENSURE(embed_surface(&o) == 1);
    rewind(f);
    text[fread(text, 1, 3999, f)] = 0;
    fclose(f);
    ENSURE(strncmp(text, "warning: ", 9) == 0 && strstr(text, "this cage takes about 2.4e+09 GB"));
    ENSURE(embed(obj, 30, NULL, NULL, text) == 0 && !strstr(text, "warning"));
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(words_and_files);
    RUN(large);
    test_unused();
    return test_end("test_tool_embed");
}
