/* One small file per format and encoding, and what must hold for whatever a reader is given: shared by the
 * tests of the readers and by the fuzzer. Include after test.h, test_tool_mutate.h and tool_meshio.h. */
#ifndef MESH_SEEDS_H
#define MESH_SEEDS_H

static const char obj[] = "# a square pyramid\nmtllib a.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\r\nv 1 1 0 0.5 "
                          "0.5 nan\nvt 0 0\nvn 0 0 1\n"
                          "v 0 1 0 # a comment\n\tv .5 5e-1 1.\ns off\nusemtl m\nf 4 3 2 1\nf 1/1 2/1 5/1\nf "
                          "-4//1 -3//1 -1//1\nf 3/1/1 4/1/1 \\\n5/1/1\nf 4// 1// 5//\n";

#define MSH_HEAD "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define MSH_NODES "$Nodes\n4\n7 0 0 0\n2 1 0 0\n3 0 1 0\n40 0 0 1\n$EndNodes\n"
static const char msh[] = MSH_HEAD "$PhysicalNames\n1\n2 1 \"a b\"\n$EndPhysicalNames\n" MSH_NODES
                                   "$Elements\n4\n1 15 2 0 1 7\n2 2 2 0 1 7 2 3\n3 4 2 0 1 7 2 3 40\n4 1 0 7 "
                                   "2\n$EndElements\n$NodeData\n1\n$EndNodeData\n";


#define MSH4_HEAD "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define MSH4_NODES \
    "$Nodes\n2 4 7 900\n0 1 0 1\n7\n0 0 0\n3 1 1 3\n30\n8\n900\n1 0 0 .1 .2 .3\n0 1 0 1 1 1\n0 0 1\n" \
    "$EndNodes\n"
static const char msh4[] = MSH4_HEAD "$Entities\n1 0 0 1\n1 0 0 0 0\n$EndEntities\n" MSH4_NODES
                                     "$Elements\n3 3 1 3\n0 1 15 1\n1 7\n2 1 2 1\n2 7 30 8\n3 1 4 1\n"
                                     "3 7 30 8 900\n$EndElements\n";

#define VTK_HEAD "# vtk DataFile Version 3.0\ntitle # of \\\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define VTK_POINTS "POINTS 5 double\n0 0 0 1 0 0\n0 1 0\n0 0 1 1 1 1\n"
static const char vtk[] = VTK_HEAD VTK_POINTS "CELLS 3 14\n4 0 1 2 3\n3 1 2 4\n4 0 1 4 2\n\nCELL_TYPES "
                                              "3\n10\n5\n9\nPOINT_DATA 4\nSCALARS a double\n1 2 x\n";
static const char vtk5[] =
    "# vtk DataFile Version 5.1\nvtk\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 "
    "0 1\nMETADATA\nINFORMATION 0\n\n"
    "CELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n";
static const char poly[] = "# vtk DataFile Version 3.0\nvtk\nASCII\nDATASET POLYDATA\n" VTK_POINTS
                           "VERTICES 1 2\n1 0\nPOLYGONS 2 9\n3 0 1 2\n4 0 1 4 2\nCELL_DATA 2\n";


static const char stl[] = "solid two words\nfacet normal nan 0 1\n outer loop\n  vertex 0 0 0\n"
                          "  vertex 1 0 0\n  vertex -0 1e0 0\n endloop\nendfacet\nFACET NORMAL 0 0 0\n"
                          "OUTER LOOP\nVERTEX 1 0 0\nVERTEX 1 1 0.5\nVERTEX 0 1 0\nENDLOOP\nENDFACET\n"
                          "endsolid two words\n";

#define PLY_PROPERTIES                                                                                     \
    "comment x # \\\nelement rest 2\nproperty list uchar short a\nproperty double b\nelement vertex 4\n"   \
    "property uchar red\nproperty float x\nproperty double y\nproperty short z\nelement face 2\n"          \
    "property list uchar float quality\nproperty list ushort int vertex_indices\nproperty char flag\n"     \
    "end_header\n"
static const char ply[] = "ply\nformat ascii 1.0\n" PLY_PROPERTIES
                          "2 1 2 nan\n0 1\n1 0 0 0\n2 .5 0 0\n3 1 1 -2\n4 0 1 0\n1 0.5 3 0 1 2 9\n"
                          "0 4 0 1 2 3 8\n";

static const char off[] = "# a\nCOFF # b\n5 3 # no edges\n0 0 0 1 1 1 1\n1 0 0\n1 1 0 255 0 0\n\n0 1 0\n"
                          ".5 .5 1\n4 3 2 1 0\n3 0 1 4 0.5 0.5 0.5\n3 1 2 4 # c\n";

/* both files, told apart by the % between them */
static const char tetgen[] = "# nodes\n5 3 1 1\n 1 0 0 0 7 1\n 2 1 0 0 7 1\n\n 3 0 1 0 7 1\n"
                             " 4 0 0 1 7 1\n5 1 1 1\n%2 4 1 # tets\n1 1 2 3 4 -5\n2 2 3 4 5\n";

typedef struct mesh_seed { mesh_format format; const char *data; size_t size; } mesh_seed;

/* ---- Binary files, put together byte by byte ---- */

typedef struct seed_bytes { char data[1024]; size_t size; int big; } seed_bytes;

static void seed_put(seed_bytes *s, const void *value, size_t size)
{
    const unsigned one = 1;
    int turn = s->big == *(const char *)&one;   /* the order wanted is not the machine's */
    for (size_t i = 0; i < size; i++) s->data[s->size++] = ((const char *)value)[turn ? size - 1 - i : i];
}
static void seed_text(seed_bytes *s, const char *text)
{
    memcpy(s->data + s->size, text, strlen(text));
    s->size += strlen(text);
}
static void seed_u8(seed_bytes *s, int v) { unsigned char b = (unsigned char)v; seed_put(s, &b, 1); }
static void seed_u16(seed_bytes *s, int v) { unsigned short b = (unsigned short)v; seed_put(s, &b, 2); }
static void seed_u32(seed_bytes *s, unsigned v) { seed_put(s, &v, 4); }
static void seed_f32(seed_bytes *s, double v) { float b = (float)v; seed_put(s, &b, 4); }
static void seed_f64(seed_bytes *s, double v) { seed_put(s, &v, 8); }

/* the two triangles of the text above */
static void seed_stl(seed_bytes *s)
{
    static const double x[18] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, .5, 0, 1, 0 };
    seed_text(s, "solid, as so many say");
    while (s->size < 80) seed_u8(s, ' ');
    seed_u32(s, 2);
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < 3; i++) seed_u32(s, 0x7fc00000u);
        for (int i = 0; i < 9; i++) seed_f32(s, x[9 * t + i]);
        seed_u16(s, 0);
    }
}

/* the same values as in the text above */
static void seed_ply(seed_bytes *s, int big)
{
    static const double x[4][3] = { { 0, 0, 0 }, { .5, 0, 0 }, { 1, 1, -2 }, { 0, 1, 0 } };
    s->big = big;
    seed_text(s, big ? "ply\r\nformat binary_big_endian 1.0\r\n" : "ply\nformat binary_little_endian 1.0\n");
    seed_text(s, PLY_PROPERTIES);
    seed_u8(s, 2); seed_u16(s, 1); seed_u16(s, 2); seed_f64(s, HUGE_VAL);
    seed_u8(s, 0); seed_f64(s, 1);
    for (int i = 0; i < 4; i++) {
        seed_u8(s, i + 1); seed_f32(s, x[i][0]); seed_f64(s, x[i][1]); seed_u16(s, (int)x[i][2]);
    }
    seed_u8(s, 1); seed_f32(s, 0.5); seed_u16(s, 3);
    for (unsigned i = 0; i < 3; i++) seed_u32(s, i);
    seed_u8(s, 9);
    seed_u8(s, 0); seed_u16(s, 4);
    for (unsigned i = 0; i < 4; i++) seed_u32(s, i);
    seed_u8(s, 8);
}

enum { SEEDS = 13 };
static void mesh_seeds(mesh_seed seed[SEEDS])
{
    static const struct { mesh_format format; const char *text; } text[] = {
        { MESH_OBJ, obj }, { MESH_MSH, msh }, { MESH_MSH, msh4 }, { MESH_VTK, vtk }, { MESH_VTK, vtk5 },
        { MESH_VTK, poly }, { MESH_STL, stl }, { MESH_PLY, ply }, { MESH_OFF, off }, { MESH_TETGEN, tetgen }
    };
    static seed_bytes binary[3];
    memset(binary, 0, sizeof binary);
    seed_stl(&binary[0]);
    seed_ply(&binary[1], 0);
    seed_ply(&binary[2], 1);
    for (int i = 0; i < SEEDS; i++) {
        seed[i].format = i < 10 ? text[i].format : i == 10 ? MESH_STL : MESH_PLY;
        seed[i].data = i < 10 ? text[i].text : binary[i - 10].data;
        seed[i].size = i < 10 ? strlen(text[i].text) : binary[i - 10].size;
    }
}

/* ---- What must hold ---- */

/* mesh_parse on a copy that ends with its last byte; TetGen's two files are cut at the first % */
static int seed_parse(tool_mesh *m, mesh_format format, const char *data, size_t size, tool_error *e)
{
    const char *cut = format == MESH_TETGEN ? (const char *)memchr(data, '%', size) : NULL;
    size_t first = cut ? (size_t)(cut - data) : size, second = cut ? size - first - 1 : 0;
    char *one = mutate_copy(data, first), *two = mutate_copy(cut ? cut + 1 : "", second);
    int ok = format == MESH_TETGEN ? mesh_parse_tetgen(m, "f", one, first, "f", two, second, e)
                                   : mesh_parse(m, format, "f", one, first, e);
    free(one);
    free(two);
    return ok;
}

/* What a reader lets through has finite coordinates and indices in range; what it refuses is said with place,
 * found and expected, and nothing is left behind. */
static int seed_try(mesh_format format, const char *data, size_t size)
{
    tool_mesh m;
    tool_error e;
    int ok = seed_parse(&m, format, data, size, &e);
    if (ok) ENSURE(m.tri_count + m.tet_count > 0);
    else {
        ENSURE(strncmp(e.text, "f:", 2) == 0 && strstr(e.text, "found") && strstr(e.text, "expected"));
        ENSURE(!m.x && !m.tri && !m.tet && !m.node_count);
    }
    for (int i = 0; i < 3 * m.tri_count; i++) ENSURE(m.tri[i] >= 0 && m.tri[i] < m.node_count);
    for (int i = 0; i < 4 * m.tet_count; i++) ENSURE(m.tet[i] >= 0 && m.tet[i] < m.node_count);
    for (int i = 0; i < 3 * m.node_count; i++) ENSURE(m.x[i] - m.x[i] == 0);
    mesh_free(&m);
    return ok;
}
#endif
