/* `embipc embed` as a function: its words, its files, its exit codes. */
#include "../tools/system.h"
#include "../embipc.h"
#include "test.h"
#include "../tools/common.h"
#include "../tools/meshio.h"
#include "../tools/png.h"
#include "../tools/raster.h"
#include "../tools/embed.h"
#include "../tools/stiffness.h"

static const char *place(const char *name)
{
    static char path[2][1024];
    static int turn;
    const char *tmp = getenv("TMPDIR");
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/embipc_test_tool_embed_%s", tmp && *tmp ? tmp : "/tmp", name);
    return path[turn];
}

/* n boxes 1 x 1 x `length` in a row as an OBJ file */
static void write_boxes(const char *path, int n, int length)
{
    FILE *f = fopen(path, "wb");
    if (!f) return;
    for (int b = 0; b < n; b++)
        for (int i = 0; i < 8; i++) fprintf(f, "v %d %d %d\n", 3 * b + (i & 1), i >> 1 & 1, (i >> 2 & 1) * length);
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

/* Two tetrahedra through each other get a cage, and a warning; one alone gets none. */
static void test_crossing(void)
{
    char path[1200], text[4000];
    strcpy(path, place("crossing.obj"));
    for (int count = 1; count <= 2; count++) {
        FILE *f = fopen(path, "wb");
        for (int i = 0; f && i < count; i++)
            fprintf(f, "v %g 0 0\nv %g 0 0\nv %g 1 0\nv %g 0 1\nf -4 -2 -3\nf -4 -3 -1\nf -3 -2 -1\nf -4 -1 -2\n",
                    0.1 * i, 1 + 0.1 * i, 0.1 * i, 0.1 * i);
        if (f) fclose(f);
        ENSURE(embed(path, 34, NULL, NULL, text) == 0);
        ENSURE((strstr(text, "so no scene takes this surface") != NULL) == (count == 2));
    }
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
    write_boxes(obj, 1, 1);
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
    write_boxes(obj, 3, 1);
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
    write_boxes(obj, 1, 1);
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

/* What `embed` tells of a bar: a default cage is about as stiff as one of eight times as many nodes, and a single tet
 * neither bends nor twists. */
static void test_stiffness(void)
{
    char text[4000], obj[1024];
    double stretched = 0, flat = 0, upright = 0, twisted = 0;
    const char *gives = NULL;
    int nodes = 0;
    snprintf(obj, sizeof obj, "%s", place("bar.obj"));
    write_boxes(obj, 1, 10);
    ENSURE(embed(obj, 34, NULL, NULL, text) == 0 && (gives = strstr(text, "gives:")));
    if (!gives) return;
    ENSURE(sscanf(gives, "gives: stretched %lf, bent %lf and %lf, twisted %lf of what a cage of %d", &stretched, &flat,
                  &upright, &twisted, &nodes) == 5);
    ENSURE(nodes > 200 && nodes < 400);
    ENSURE_CLOSE(stretched, 1, 0.02);
    ENSURE_CLOSE(flat, 1, 0.05);
    ENSURE_CLOSE(upright, 1, 0.05);
    ENSURE_CLOSE(twisted, 1, 0.1);
    ENSURE(embed(obj, 4, NULL, NULL, text) == 0 && (gives = strstr(text, "gives:")));
    ENSURE(gives && sscanf(gives, "gives: stretched %lf, bent %lf and %lf, twisted %lf", &stretched, &flat, &upright, &twisted) == 4);
    ENSURE_CLOSE(stretched, 0.9, 0.1);   /* ends that are loaded over a third stretch less in the middle of a tet */
    ENSURE(flat < 0.05 && upright < 0.05 && twisted < 0.05);
    remove(obj);
    remove(place("words"));
}

/* The work of a bar 9 x 1 x 1 that is stretched is int N^2 / (2 E A) dx, with N constant between the loads and linear
 * under them. Dividing triangles changes nothing of a solid. */
static void test_work(void)
{
    double size[3] = {9, 1, 1}, work[STIFFNESS_LOADS], longest = 0, N, end = 1.0 / 13;   /* share of a load at the end itself */
    embipc_body_def d = embipc_default_body_def();
    embipc_solid solid;
    tool_error e;
    int n = 8, count = 12;
    double *x = (double *)tool_alloc(24, sizeof *x);
    int *tri = (int *)tool_alloc(36, sizeof *tri);
    ENSURE(embipc_shape(EMBIPC_BOX, size, 1, x, tri, 12) == 12);
    stiffness_refine(&x, &n, &tri, &count, 0.5);
    ENSURE(embipc_surface_check(x, n, tri, count, 1, NULL) == EMBIPC_OK && count == 2 * n - 4);
    ENSURE(embipc_mass_properties(x, n, tri, count, &solid) == EMBIPC_OK);
    ENSURE_CLOSE(solid.volume, 9, 1e-12);
    for (int k = 0; k < 3 * count; k++) {
        double r[3];
        tool_sub(r, x + 3 * tri[k], x + 3 * tri[k - k % 3 + (k + 1) % 3]);
        longest = fmax(longest, tool_length(r));
    }
    ENSURE(longest <= 0.5 && longest > 0.2);
    d.kind = EMBIPC_CAGE;
    d.material.poisson = 0.3;
    d.x = x; d.vertex_count = n; d.triangles = tri; d.triangle_count = count;
    d.cage_nodes = 40;
    ENSURE(stiffness_work(&d, work, &e));
    N = 1e-8 * 1e6 * pow(9, 2.0 / 3) / 2;
    ENSURE_REL(work[STIFFNESS_STRETCH], N * N / (2 * 1e6) * (3 + 2 * 3 * (1 + end + end * end) / 3), 0.03);   /* rows of 9/32 m */
    ENSURE_REL(work[STIFFNESS_BEND_FLAT], work[STIFFNESS_BEND_UPRIGHT], 0.02);   /* a square */
    free(x);
    free(tri);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(words_and_files);
    RUN(crossing);
    RUN(large);
    RUN(stiffness);
    RUN(work);
    test_unused();
    return test_end("test_tool_embed");
}
