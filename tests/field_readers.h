/* Mesh files of the field that were refused, or read wrong: each as `embipc check` and `embed` have it. Included by
 * test_field.c. Files are made by code; those of DATA are read where there are some. */
#ifndef FIELD_READERS_H
#define FIELD_READERS_H
#include "field_tools.h"

static char readers_said[1 << 14];   /* what the last command wrote */

static const char *readers_place(const char *name) { return tool_place("test_field_readers", name); }

/* Writes a file of this test's own; returns its path. */
static const char *readers_write(const char *name, const char *data, size_t size)
{
    const char *path = readers_place(name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f)) exit(2);
    return path;
}

static void readers_collect(FILE *f)
{
    rewind(f);
    readers_said[fread(readers_said, 1, sizeof readers_said - 1, f)] = 0;
    fclose(f);
}

/* The exit code of `embipc check`, which says these words; and has it only the faults that it may have? */
static int readers_check(const char *path, const char *words)
{
    check_options o;
    int code;
    memset(&o, 0, sizeof o);
    o.mesh = &path;
    o.mesh_count = 1;
    o.merge = o.hole = -1;
    o.list = 3;
    o.out = o.errors = tmpfile();
    if (!o.out) exit(2);
    code = check_meshes(&o);
    readers_collect(o.out);
    if (code == 0 && strstr(readers_said, words) && strstr(readers_said, "can be simulated as a solid")) return 1;
    printf("  %s: exit code %d, wanted 0 and \"%s\" in:\n%s\n", path, code, words, readers_said);
    return 0;
}

static int readers_embed(const char *path, const char *words)
{
    embed_options o;
    int code;
    memset(&o, 0, sizeof o);
    o.surface = path;
    o.nodes = 40;
    o.report = o.errors = tmpfile();
    if (!o.report) exit(2);
    code = embed_surface(&o);
    readers_collect(o.report);
    if (code == 0 && strstr(readers_said, words)) return 1;
    printf("  %s: exit code %d, wanted 0 and \"%s\" in:\n%s\n", path, code, words, readers_said);
    return 0;
}

/* ---- A unit cube in all forms ---- */

static const int readers_tri[12][3] = { { 0, 2, 3 }, { 0, 3, 1 }, { 4, 5, 7 }, { 4, 7, 6 }, { 0, 1, 5 }, { 0, 5, 4 },
                                        { 2, 6, 7 }, { 2, 7, 3 }, { 0, 4, 6 }, { 0, 6, 2 }, { 1, 3, 7 }, { 1, 7, 5 } };
static const int readers_tet[6][4] = { { 0, 1, 3, 7 }, { 0, 5, 1, 7 }, { 0, 3, 2, 7 },
                                       { 0, 2, 6, 7 }, { 0, 4, 5, 7 }, { 0, 6, 4, 7 } };

static double readers_x(int i, int k) { return (i >> k & 1) - 0.5; }

/* Lines "x y z" of the eight corners, or of nodes numbered from `first` when that is not negative. */
static void readers_points(tool_text *t, const char *keyword, int first, const char *behind)
{
    for (int i = 0; i < 8; i++) {
        tool_put(t, "%s", keyword);
        if (first >= 0) tool_put(t, "%d ", first + i);
        tool_put(t, "%g %g %g%s\n", readers_x(i, 0), readers_x(i, 1), readers_x(i, 2), behind);
    }
}

/* Lines of the twelve triangles, or of the six tets. */
static void readers_cells(tool_text *t, const char *front, int first, int tets)
{
    for (int i = 0; i < (tets ? 6 : 12); i++) {
        tool_put(t, "%s", front);
        for (int k = 0; k < 3 + tets; k++) tool_put(t, " %d", first + (tets ? readers_tet[i][k] : readers_tri[i][k]));
        tool_put(t, "\n");
    }
}

static void readers_facets(tool_text *t, const char *loop, const char *facet, const char *solid)
{
    tool_put(t, "solid a b c\n");
    for (int i = 0; i < 12; i++) {
        tool_put(t, "facet normal 0 0 0\n outer loop\n");
        for (int k = 0; k < 3; k++)
            tool_put(t, "  vertex %g %g %g\n", readers_x(readers_tri[i][k], 0), readers_x(readers_tri[i][k], 1),
                     readers_x(readers_tri[i][k], 2));
        tool_put(t, " %s\n%s\n", loop, facet);
    }
    tool_put(t, "%s a b c\n", solid);
}

/* Binary STL with this count in its header. */
static void readers_bytes(tool_text *t, int count)
{
    for (int i = 0; i < 80; i++) tool_put(t, "%c", i < 3 ? "cad"[i] : ' ');
    for (int i = 0; i < 4; i++) tool_put(t, "%c", i ? 0 : count);
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 50; k++) {
            float value = k >= 12 && k < 48 ? (float)readers_x(readers_tri[i][(k - 12) / 12], (k - 12) / 4 % 3) : 0;
            unsigned bits;
            memcpy(&bits, &value, sizeof bits);
            tool_put(t, "%c", k < 48 ? (int)(bits >> 8 * (k % 4) & 255) : 0);
        }
}

/* Second order: 8 corners, then a node in the middle of every edge, each edge with one of its own. */
static void readers_middles(tool_text *t, int first)
{
    static const int edge[6][2] = { { 0, 1 }, { 1, 2 }, { 0, 2 }, { 0, 3 }, { 1, 3 }, { 2, 3 } };
    for (int i = 0; i < 36; i++) {
        const int *v = readers_tet[i / 6];
        int a = v[edge[i % 6][0]], b = v[edge[i % 6][1]];
        if (first >= 0) tool_put(t, "%d ", first + 8 + i);
        tool_put(t, "%g %g %g\n", (readers_x(a, 0) + readers_x(b, 0)) / 2, (readers_x(a, 1) + readers_x(b, 1)) / 2,
                 (readers_x(a, 2) + readers_x(b, 2)) / 2);
    }
}

static void readers_tets_2(tool_text *t, int first, const char *front, int number)
{
    for (int i = 0; i < 6; i++) {
        if (number) tool_put(t, "%d ", first + i);
        tool_put(t, "%s", front);
        for (int k = 0; k < 4; k++) tool_put(t, " %d", first + readers_tet[i][k]);
        for (int k = 0; k < 6; k++) tool_put(t, " %d", first + 8 + 6 * i + k);
        tool_put(t, "\n");
    }
}

/* Writes what is in t, checks it, and leaves t empty. */
static int readers_try(tool_text *t, const char *name, const char *words)
{
    int ok = readers_check(readers_write(name, t->data, (size_t)t->length), words);
    t->length = 0;
    return ok;
}

/* The same with a byte order mark; and with lines that end with CR. */
static int readers_try_ends(tool_text *t, const char *name)
{
    tool_text other = { NULL, 0, 0 };
    int ok;
    tool_put(&other, "\xef\xbb\xbf%s", t->data);
    ok = readers_try(&other, name, "volume 1 m^3");
    tool_text_free(&other);
    for (int i = 0; i < t->length; i++)
        if (t->data[i] == '\n') t->data[i] = '\r';
    return readers_try(t, name, "volume 1 m^3") && ok;
}

#define READERS_CUBE "volume 1 m^3"

static void test_readers_text(void)
{
    tool_text t = { NULL, 0, 0 };
    readers_points(&t, "v ", -1, "");
    readers_cells(&t, "f", 1, 0);
    ENSURE(readers_try_ends(&t, "ends.obj"));
    tool_put(&t, "cstype bspline\ndeg 3\n");
    readers_points(&t, "v ", -1, "");
    readers_cells(&t, "f", 1, 0);
    tool_put(&t, "curv 0 1 1 2 3 4\nparm u 0 1\nend\nvw 1 0.5\nt 1 2\n");
    ENSURE(readers_try(&t, "freeform.obj", READERS_CUBE));
    ENSURE(strstr(readers_said, "not read    7 lines that are neither"));
    tool_put(&t, "OFF8 12 0\n");
    readers_points(&t, "", -1, "");
    readers_cells(&t, "3", 0, 0);
    ENSURE(readers_try_ends(&t, "glued.off"));
    readers_facets(&t, "endloop", "endfacet", "endsolid");
    ENSURE(readers_try_ends(&t, "ends.stl"));
    readers_facets(&t, "end loop", "endfacet", "endsolid");
    ENSURE(readers_try(&t, "end_loop.stl", READERS_CUBE));
    readers_facets(&t, "END LOOP", "End Facet", "end solid");
    ENSURE(readers_try(&t, "end_solid.stl", READERS_CUBE));
    readers_facets(&t, "endloop", "endfacet", "endsolid");
    tool_put(&t, "%c%c", 0, 0);
    ENSURE(readers_try(&t, "nul_end.stl", READERS_CUBE));
    tool_text_free(&t);
}

static void test_readers_stl(void)
{
    tool_text t = { NULL, 0, 0 };
    readers_bytes(&t, 12);
    ENSURE(readers_try(&t, "plain.stl", READERS_CUBE) && !strstr(readers_said, "not read"));
    readers_bytes(&t, 12);
    tool_put(&t, "\n");
    ENSURE(readers_try(&t, "behind.stl", READERS_CUBE));
    ENSURE(strstr(readers_said, "not read    1 byte behind the last triangle"));
    readers_bytes(&t, 0);
    ENSURE(readers_try(&t, "count0.stl", READERS_CUBE) && strstr(readers_said, "where the file has 12"));
    tool_text_free(&t);
}

#define READERS_FIELD "FIELD FieldData 2\nTIME 1 1 double\n0.25\nCYCLE 1 1 int\n3\n"
#define READERS_STRIPS "4 1 0 3 2\n4 6 4 7 5\n4 1 5 0 4\n4 7 3 6 2\n4 6 2 4 0\n4 5 1 7 3\n"

static void test_readers_vtk(void)
{
    tool_text t = { NULL, 0, 0 };
    tool_put(&t, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n" READERS_FIELD "POINTS 8 float\n");
    readers_points(&t, "", -1, "");
    tool_put(&t, "CELLS 6 30\n");
    readers_cells(&t, "4", 0, 1);
    tool_put(&t, "CELL_TYPES 6\n10 10 10 10 10 10\n");
    ENSURE(readers_try(&t, "field.vtk", READERS_CUBE));
    tool_put(&t, "# vtk DataFile Version 3.0\nt\nascii\ndataset polydata\n" READERS_FIELD "points 8 float\n");
    readers_points(&t, "", -1, "");
    tool_put(&t, "lines 1 3\n2 0 1\npolygons 12 48\n");
    readers_cells(&t, "3", 0, 0);
    ENSURE(readers_try(&t, "polyfield.vtk", READERS_CUBE));
    tool_put(&t, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 8 float\n");
    readers_points(&t, "", -1, "");
    tool_put(&t, "TRIANGLE_STRIPS 6 30\n" READERS_STRIPS);
    ENSURE(readers_try(&t, "strips.vtk", READERS_CUBE));
    tool_put(&t, "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
                 "element tristrips 1\nproperty list int int vertex_indices\nend_header\n");
    readers_points(&t, "", -1, "");
    tool_put(&t, "48");
    for (int i = 0; i < 12; i++) tool_put(&t, " %d %d %d -1", readers_tri[i][0], readers_tri[i][1], readers_tri[i][2]);
    ENSURE(readers_try(&t, "tristrips.ply", READERS_CUBE));
    tool_text_free(&t);
}

static void test_readers_msh(void)
{
    tool_text t = { NULL, 0, 0 };
    tool_put(&t, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$ParametricNodes\n8\n");
    readers_points(&t, "", 1, " 2 1 0.5 0.5");
    tool_put(&t, "$EndParametricNodes\n$Elements\n6\n");
    readers_cells(&t, "1 4 2 1 1", 1, 1);
    tool_put(&t, "$EndElements\n");
    ENSURE(readers_try(&t, "para.msh", READERS_CUBE));
    tool_text_free(&t);
}

/* The mesh as a body of tets, as a scene makes it: its nodes after five steps of falling. */
static int readers_fall(const char *path)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = embipc_default_body_def();
    embipc_world *world;
    embipc_body body;
    embipc_body_state state;
    tool_mesh m;
    tool_error e;
    int ok = mesh_read(&m, path, &e) && embipc_world_create(&wd, &world, NULL) == EMBIPC_OK;
    if (!ok) return 0;
    d.kind = EMBIPC_FULL;
    d.x = m.x;
    d.vertex_count = m.node_count;
    d.tets = m.tet;
    d.tet_count = m.tet_count;
    ok = embipc_body_create(world, &d, &body) == EMBIPC_OK;
    for (int i = 0; i < 5 && ok; i++) ok = embipc_world_step(world, NULL) == EMBIPC_OK;
    ok = ok && embipc_body_get_state(world, body, &state) == EMBIPC_OK && state.centre[2] < -0.001;
    embipc_world_destroy(world);
    mesh_free(&m);
    return ok;
}

/* Tets of ten nodes in the three formats that have them; and a world that runs with them. */
static void test_readers_second_order(void)
{
    tool_text t = { NULL, 0, 0 };
    tool_put(&t, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n44\n");
    readers_points(&t, "", 1, "");
    readers_middles(&t, 1);
    tool_put(&t, "$EndNodes\n$Elements\n6\n");
    readers_tets_2(&t, 1, "11 2 1 1", 1);
    tool_put(&t, "$EndElements\n");
    ENSURE(readers_try(&t, "two.msh", READERS_CUBE));
    ENSURE(strstr(readers_said, "not read    36 nodes that are corners of no"));
    tool_put(&t, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 44 float\n");
    readers_points(&t, "", -1, "");
    readers_middles(&t, -1);
    tool_put(&t, "CELLS 6 66\n");
    readers_tets_2(&t, 0, "10", 0);
    tool_put(&t, "CELL_TYPES 6\n24 24 24 24 24 24\n");
    ENSURE(readers_try(&t, "two.vtk", READERS_CUBE));
    ENSURE(strstr(readers_said, "not read    36 nodes that are corners of no"));
    tool_put(&t, "44 3 0 0\n");
    readers_points(&t, "", 0, "");
    readers_middles(&t, 0);
    (void)readers_write("two.node", t.data, (size_t)t.length);
    t.length = 0;
    tool_put(&t, "6 10 0\n");
    readers_tets_2(&t, 0, "", 1);
    ENSURE(readers_try(&t, "two.ele", READERS_CUBE));
    ENSURE(strstr(readers_said, "not read    36 nodes that are corners of no"));
    ENSURE(readers_fall(readers_place("two.ele")));
    tool_text_free(&t);
}

/* ---- Concave polygons ---- */

/* A prism over this outline, 1 m high, with its two lids as one polygon each, in the four formats that have such. */
static void readers_prism(const int (*outline)[2], int n, const char *volume)
{
    tool_text t = { NULL, 0, 0 };
    for (int format = 0; format < 4; format++) {
        static const char *const name[] = { "prism.obj", "prism.off", "prism.ply", "prism.vtk" };
        int first = format == 0;
        if (format == 1) tool_put(&t, "OFF\n%d %d 0\n", 2 * n, n + 2);
        if (format == 2)
            tool_put(&t, "ply\nformat ascii 1.0\nelement vertex %d\nproperty double x\nproperty double y\n"
                         "property double z\nelement face %d\nproperty list uint8 int32 vertex_indices\nend_header\n",
                     2 * n, n + 2);
        if (format == 3)
            tool_put(&t, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS %d double\n", 2 * n);
        for (int i = 0; i < 2 * n; i++)
            tool_put(&t, "%s%d %d %d\n", first ? "v " : "", outline[i % n][0], outline[i % n][1], i / n);
        if (format == 3) tool_put(&t, "POLYGONS %d %d\n", n + 2, 7 * n + 2);
        for (int lid = 0; lid < 2; lid++) {
            if (first) tool_put(&t, "f");
            else tool_put(&t, "%d", n);
            for (int i = 0; i < n; i++) tool_put(&t, " %d", first + (lid ? n + i : n - 1 - i));
            tool_put(&t, "\n");
        }
        for (int i = 0; i < n; i++) {
            int j = (i + 1) % n;
            tool_put(&t, "%s %d %d %d %d\n", first ? "f" : "4", first + i, first + j, first + n + j, first + n + i);
        }
        ENSURE(readers_try(&t, name[format], volume));
    }
    tool_text_free(&t);
}

static void test_readers_concave(void)
{
    static const int l[6][2] = { { 0, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 } };
    static const int u[8][2] = { { 0, 0 }, { 3, 0 }, { 3, 2 }, { 2, 2 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 } };
    static const int dart[4][2] = { { 0, 0 }, { 2, 4 }, { 8, 8 }, { 0, 8 } };
    readers_prism(l, 6, "volume 3 m^3");
    for (int i = 0; i < 8; i++) {   /* whichever corner comes first */
        int turned[8][2];
        for (int k = 0; k < 8; k++) memcpy(turned[k], u[(i + k) % 8], sizeof turned[k]);
        readers_prism((const int (*)[2])turned, 8, "volume 5 m^3");
    }
    readers_prism(dart, 4, "volume 24 m^3");
}

/* A ring as CAD draws it, 20 000 corners in one polygon: cut, and judged, in seconds. */
static void test_readers_long_polygon(void)
{
    enum { CORNERS = 20000 };
    tool_text t = { NULL, 0, 0 };
    tool_mesh m;
    tool_error e;
    embipc_solid solid;
    for (int i = 0; i < 2 * CORNERS; i++) {
        double turn = 6.283185307179586 * (i % CORNERS) / CORNERS, r = i % 2 ? 1 : 0.999;
        tool_put(&t, "v %.9g %.9g %d\n", r * cos(turn), r * sin(turn), i / CORNERS);
    }
    for (int lid = 0; lid < 2; lid++) {
        tool_put(&t, "f");
        for (int i = 0; i < CORNERS; i++) tool_put(&t, " %d", lid ? CORNERS + i + 1 : CORNERS - i);
        tool_put(&t, "\n");
    }
    for (int i = 1; i <= CORNERS; i++) {
        int j = i % CORNERS + 1;
        tool_put(&t, "f %d %d %d %d\n", i, j, CORNERS + j, CORNERS + i);
    }
    ENSURE(mesh_parse(&m, MESH_OBJ, "f", t.data, (size_t)t.length, &e));
    ENSURE(embipc_surface_crossings(m.x, m.node_count, m.tri, m.tri_count, NULL, 0, 1) == 0);
    ENSURE(embipc_mass_properties(m.x, m.node_count, m.tri, m.tri_count, &solid) == EMBIPC_OK);
    ENSURE_REL(solid.volume, 0.999 * CORNERS / 2 * sin(6.283185307179586 / CORNERS), 1e-6);
    mesh_free(&m);
    tool_text_free(&t);
}

/* ---- Triangles beside tets ---- */

/* A block of tets with triangles on one face of it, or on an inner cube: embed takes the boundary of the tets. */
static void test_readers_one_surface(void)
{
    tool_text t = { NULL, 0, 0 };
    for (int inner = 0; inner < 2; inner++) {
        tool_put(&t, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", inner ? 16 : 8);
        readers_points(&t, "", 1, "");
        for (int i = 0; i < 8 && inner; i++)
            tool_put(&t, "%d %g %g %g\n", 9 + i, readers_x(i, 0) / 3, readers_x(i, 1) / 3, readers_x(i, 2) / 3);
        tool_put(&t, "$EndNodes\n$Elements\n%d\n", inner ? 18 : 8);
        for (int i = 0; i < (inner ? 12 : 2); i++) {
            const int *v = readers_tri[i];
            int first = inner ? 9 : 1;
            tool_put(&t, "%d 2 2 5 5 %d %d %d\n", i + 1, first + v[0], first + v[1], first + v[2]);
        }
        readers_cells(&t, "99 4 2 1 1", 1, 1);
        tool_put(&t, "$EndElements\n");
        ENSURE(readers_try(&t, "beside.msh", READERS_CUBE) && strstr(readers_said, "triangles beside the tets"));
        ENSURE(readers_embed(readers_place("beside.msh"), "8 vertices, 12 triangles, 1 part, 1 m^3"));
    }
    tool_text_free(&t);
}

/* ---- The files themselves ---- */

static void test_readers_files(void)
{
    static const struct { const char *file, *words; } list[] = {
        { "field/10-readers/L0.obj", "volume 3 m^3" },        { "field/10-readers/bcount0.stl", READERS_CUBE },
        { "field/10-readers/bom.obj", READERS_CUBE },         { "field/10-readers/bom.off", READERS_CUBE },
        { "field/10-readers/bom.stl", READERS_CUBE },         { "field/10-readers/btrail1.stl", READERS_CUBE },
        { "field/10-readers/cr.obj", READERS_CUBE },          { "field/10-readers/end_loop.stl", READERS_CUBE },
        { "field/10-readers/field.vtk", READERS_CUBE },       { "field/10-readers/freeform.obj", READERS_CUBE },
        { "field/10-readers/lower.vtk", READERS_CUBE },       { "field/10-readers/nul_end.stl", READERS_CUBE },
        { "field/10-readers/off_glued.off", READERS_CUBE },   { "field/10-readers/para.msh", READERS_CUBE },
        { "field/10-readers/tet10.vtk", READERS_CUBE },       { "field/10-readers/tristrips.ply", READERS_CUBE },
        { "field/09-tetgen-10-nodes/tet10.ele", READERS_CUBE } };
    if (!test_data("field")) SKIP("no DATA");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        ENSURE(readers_check(test_data(list[i].file), list[i].words));
    ENSURE(readers_fall(test_data("field/09-tetgen-10-nodes/tet10.ele")));
    ENSURE(readers_embed(test_data("field/08-embed-takes-file-triangles/partial_surface.msh"),
                         "12 triangles, 1 part, 1 m^3"));
    ENSURE(readers_embed(test_data("field/08-embed-takes-file-triangles/inclusion.msh"), "triangles, 1 part, 1 m^3"));
}
#endif
