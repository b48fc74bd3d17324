/* One small file per format and encoding, and what must hold for whatever a reader is given: shared by the
 * tests of the readers and by the fuzzer. Include after test.h, test_tool_mutate.h and the readers. */
#ifndef MESH_SEEDS_H
#define MESH_SEEDS_H

static const char obj[] = "# a square pyramid\nmtllib a.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\r\nv 1 1 0 0.5 "
                          "0.5 nan\nvt 0 0\nvn 0 0 1\n"
                          "v 0 1 0 # a comment\n\tv .5 5e-1 1.\ns off\nusemtl m\nf 4 3 2 1\nf 1/1 2/1 5/1\nf "
                          "-4//1 -3//1 -1//1\nf 3/1/1 4/1/1 \\\n5/1/1\nf 4// 1// 5//\n";

/* concave polygons, free-form lines, a polygon that repeats a corner, a comment that ends with a backslash */
static const char obj2[] = "# C:\\meshes\\\ncstype bspline\ndeg 3\nv 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\n"
                           "v 0 2 0\nv 0 0 1\nvw 1 2\nfo 1 2 3 4 5 6\nf 1 7 2 2 1\nf 4 3 7\ncurv 0 1 1 2 3 4\n"
                           "parm u 0 1\nend\n";

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

static const char msh_para[] =
    MSH_HEAD "$ParametricNodes\n4\n7 0 0 0 0 1\n2 1 0 0 1 1 .5\n3 0 1 0 2 1 .5 .5\n40 0 0 1 3 1\n$EndParametricNodes\n"
             "$Elements\n3\n1 3 1 1 7 2 3 40\n2 5 0 7 2 3 40 7 2 3 40\n3 9 0 7 3 40 2 2 2\n$EndElements\n";

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


/* lower case, field data, and cells of second order: a triangle, a quadrangle, a polygon; a strip, a pixel */
static const char vtk_high[] =
    "# vtk datafile version 2.0\nx\nascii\ndataset unstructured_grid\nfield FieldData 2\nTIME 1 1 double\n0.25\n"
    "words 1 2 string\na%20b\n\npoints 9 float\n0 0 0 2 0 0 2 2 0 0 2 0 1 0 0 2 1 0 1 2 0 0 1 0 1 1 0\n"
    "metadata\nCOMPONENT_NAMES\nx\n\n\nINFORMATION 0\n\ncells 5 38\n6 0 1 2 4 5 8\n8 0 1 2 3 4 5 6 7\n"
    "10 0 1 2 8 3 4 5 6 7 8\n5 0 1 3 2 6\n4 0 1 3 2\ncell_types 5\n22 23 36 6 8\ncell_data 5\n";

static const char stl[] = "solid two words\nfacet normal nan 0 1\n outer loop\n  vertex 0 0 0\n"
                          "  vertex 1 0 0\n  vertex -0 1e0 0\n endloop\nendfacet\nFACET NORMAL 0 0 0\n"
                          "OUTER LOOP\nVERTEX 1 0 0\nVERTEX 1 1 0.5\nVERTEX 0 1 0\nENDLOOP\nENDFACET\n"
                          "endsolid two words\n";

#define PLY_PROPERTIES                                                                                     \
    "comment x # \\\nelement rest 2\nproperty list uchar short a\nproperty double b\nelement vertex 4\n"   \
    "property uchar red\nproperty float x\nproperty double y\nproperty short z\nelement face 2\n"          \
    "property list uchar float quality\nproperty list ushort int vertex_indices\nproperty char flag\n"     \
    "end_header\n"
/* ends in two words, and a facet of four corners; the rest may be zeros */
static const char stl2[] = "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 .5\n"
                           "vertex 0 1 0\nend loop\nEnd Facet\nend solid of all\n";

static const char ply[] = "ply\nformat ascii 1.0\n" PLY_PROPERTIES
                          "2 1 2 nan\n0 1\n1 0 0 0\n2 .5 0 0\n3 1 1 -2\n4 0 1 0\n1 0.5 3 0 1 2 9\n"
                          "0 4 0 1 2 3 8\n";

static const char off[] = "# a\nCOFF # b\n5 3 # no edges\n0 0 0 1 1 1 1\n1 0 0\n1 1 0 255 0 0\n\n0 1 0\n"
                          ".5 .5 1\n4 3 2 1 0\n3 0 1 4 0.5 0.5 0.5\n3 1 2 4 # c\n";

static const char off4[] = "ST4OFF4 2\n0 0 0 2 .1 .2\n2 0 0 2 0 0\n2 2 0 2 0 0\n0 1 0 1 0 0\n2 0 1\n4 0 1 2 3\n";

/* both files, told apart by the % between them */
static const char tetgen[] = "# nodes\n5 3 1 1\n 1 0 0 0 7 1\n 2 1 0 0 7 1\n\n 3 0 1 0 7 1\n"
                             " 4 0 0 1 7 1\n5 1 1 1\n%2 4 1 # tets\n1 1 2 3 4 -5\n2 2 3 4 5\n";

typedef struct mesh_seed { mesh_format format; const char *data; size_t size; } mesh_seed;

/* ---- Binary files, put together byte by byte ---- */

typedef struct seed_bytes { char data[2048]; size_t size; int big; } seed_bytes;

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
static void seed_u64(seed_bytes *s, unsigned v) { unsigned long long b = v; seed_put(s, &b, 8); }
static void seed_count(seed_bytes *s, int size, unsigned v)   /* of 4 or 8 bytes */
{
    if (size == 8) seed_u64(s, v);
    else seed_u32(s, v);
}
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

/* Points of the binary forms below, and a tet with a face of each kind on them. */
static const double seed_x[5][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 } };

static void seed_cell(seed_bytes *s, int n, int a, int b, int c, int d)
{
    const int v[4] = { a, b, c, d };
    seed_u32(s, (unsigned)n);
    for (int i = 0; i < n; i++) seed_u32(s, (unsigned)v[i]);
}

/* VTK up to version 4, a grid with field data; or polygonal data with strips. */
static void seed_vtk(seed_bytes *s, int grid)
{
    s->big = 1;
    seed_text(s, "# vtk DataFile Version 3.0\nbytes\nBINARY\nDATASET ");
    seed_text(s, grid ? "UNSTRUCTURED_GRID\nFIELD FieldData 3\nTIME 1 1 double\n" : "POLYDATA\n");
    if (grid) {
        seed_f64(s, 0.25);
        seed_text(s, "\nbits 1 11 bit\nxy\nwords 1 2 string\n");
        seed_u8(s, 192 + 3); seed_text(s, "abc");
        seed_u8(s, 128); seed_u8(s, 2); seed_text(s, "\n\n");
    }
    seed_text(s, "\nPOINTS 5 float\n");
    for (int i = 0; i < 15; i++) seed_f32(s, seed_x[i / 3][i % 3]);
    seed_text(s, "\nMETADATA\nCOMPONENT_NAMES\nx\n\n\nINFORMATION 0\n\n");
    seed_text(s, grid ? "CELLS 3 14\n" : "TRIANGLE_STRIPS 1 5\n");
    seed_cell(s, 4, 0, 1, 2, 3);
    if (!grid) seed_text(s, "\nPOLYGONS 2 9\n");
    seed_cell(s, 3, 1, 2, 4, 0);
    seed_cell(s, 4, 0, 1, 4, 2);
    if (!grid) return;
    seed_text(s, "\nCELL_TYPES 3\n");
    seed_u32(s, 10); seed_u32(s, 5); seed_u32(s, 9);
    seed_text(s, "\nPOINT_DATA 5\n");
}

/* VTK from version 5, with 64-bit lists: one tet of ten nodes, six of them at one point. */
static void seed_vtk5(seed_bytes *s)
{
    static const int list[10] = { 0, 1, 2, 3, 4, 4, 4, 4, 4, 4 };
    s->big = 1;
    seed_text(s, "# vtk DataFile Version 5.1\r\nbytes\r\nBINARY\r\nDATASET UNSTRUCTURED_GRID\r\nPOINTS 5 double\r\n");
    for (int i = 0; i < 15; i++) seed_f64(s, seed_x[i / 3][i % 3]);
    seed_text(s, "\nCELLS 2 10\nOFFSETS vtktypeint64\n");
    seed_u64(s, 0); seed_u64(s, 10);
    seed_text(s, "\nCONNECTIVITY vtktypeint64\n");
    for (int i = 0; i < 10; i++) seed_u64(s, (unsigned)list[i]);
    seed_text(s, "\nCELL_TYPES 1\n");
    seed_u32(s, 24);
}

static void seed_msh_head(seed_bytes *s, const char *version, int size, int big)
{
    s->big = big;
    seed_text(s, "$MeshFormat\n");
    seed_text(s, version);
    seed_text(s, size == 8 ? " 1 8\n" : " 1 4\n");
    seed_u32(s, 1);
    seed_text(s, "\n$EndMeshFormat\n");
}

/* Gmsh 2.2: the elements of the text above, a point, a triangle, a tet, a line; parametric nodes or plain ones. */
static void seed_msh2(seed_bytes *s, int big, int parametric)
{
    static const int id[4] = { 7, 2, 3, 40 };
    seed_msh_head(s, "2.2", 8, big);
    seed_text(s, "$PhysicalNames\n1\n2 1 \"a b\"\n$EndPhysicalNames\n");
    seed_text(s, parametric ? "$ParametricNodes\n4\n" : "$Nodes\n4\n");
    for (int i = 0; i < 4; i++) {
        seed_u32(s, (unsigned)id[i]);
        for (int k = 0; k < 3; k++) seed_f64(s, seed_x[i][k]);
        if (!parametric) continue;
        seed_u32(s, (unsigned)i); seed_u32(s, 1);   /* on a point, a curve, a surface, in a volume */
        for (int k = 0; k < i && i < 3; k++) seed_f64(s, 0.5);
    }
    seed_text(s, parametric ? "\n$EndParametricNodes\n$Elements\n4\n" : "\n$EndNodes\n$Elements\n4\n");
    seed_u32(s, 15); seed_u32(s, 1); seed_u32(s, 0); seed_u32(s, 1); seed_u32(s, 7);
    seed_u32(s, 2); seed_u32(s, 1); seed_u32(s, 2); seed_u32(s, 2); seed_u32(s, 0); seed_u32(s, 1);
    seed_u32(s, 7); seed_u32(s, 2); seed_u32(s, 3);
    seed_u32(s, 4); seed_u32(s, 1); seed_u32(s, 0); seed_u32(s, 3);
    for (int i = 0; i < 4; i++) seed_u32(s, (unsigned)id[i]);
    seed_u32(s, 1); seed_u32(s, 1); seed_u32(s, 0); seed_u32(s, 4); seed_u32(s, 7); seed_u32(s, 2);
    seed_text(s, "\n$EndElements\n$NodeData\n$End\n$EndNodeData\n");
}

/* Gmsh 4.0 and 4.1, numbers of 8 or 4 bytes: two blocks of nodes, the second with parameters; a triangle, a tet. */
static void seed_msh4(seed_bytes *s, int version, int size, int big)
{
    static const int id[4] = { 7, 30, 8, 900 }, element[2][5] = { { 2, 7, 30, 8, 0 }, { 3, 7, 30, 8, 900 } };
    int tag = version == 41 ? size : 4;
    seed_msh_head(s, version == 41 ? "4.1" : "4", size, big);
    seed_text(s, "$Entities\n$EndNodes\n\n$EndEntities\n$Nodes\n");
    seed_count(s, size, 2); seed_count(s, size, 4);
    if (version == 41) { seed_count(s, size, 7); seed_count(s, size, 900); }
    for (int i = 0; i < 4; i++) {
        if (i < 2) {
            seed_u32(s, version == 41 ? (unsigned)(2 * i) : 1); seed_u32(s, version == 41 ? 1 : (unsigned)(2 * i));
            seed_u32(s, (unsigned)i); seed_count(s, size, i ? 3 : 1);
            for (int k = i; version == 41 && k < (i ? 4 : 1); k++) seed_count(s, size, (unsigned)id[k]);
        }
        if (version != 41) seed_u32(s, (unsigned)id[i]);
        for (int k = 0; k < 3; k++) seed_f64(s, seed_x[i][k]);
        for (int k = 0; k < 2 && i; k++) seed_f64(s, 0.5);
    }
    seed_text(s, "\n$EndNodes\n$Elements\n");
    seed_count(s, size, 2); seed_count(s, size, 2);
    if (version == 41) { seed_count(s, size, 2); seed_count(s, size, 3); }
    for (int e = 0; e < 2; e++) {
        seed_u32(s, (unsigned)(2 + e)); seed_u32(s, (unsigned)(2 + e)); seed_u32(s, (unsigned)(2 + 2 * e));
        seed_count(s, size, 1);
        for (int i = 0; i < 4 + e; i++) seed_count(s, tag, (unsigned)element[e][i]);
    }
    seed_text(s, "\n$EndElements\n");
}

/* STL with a count that was never filled in, or with bytes behind its triangles. */
static void seed_stl_odd(seed_bytes *s, int rest)
{
    seed_stl(s);
    if (rest) seed_text(s, "\r\nmore");
    else memset(s->data + 80, 0, 4);
}

/* PLY strips over four vertices, in 16-bit numbers. */
static void seed_ply_strips(seed_bytes *s)
{
    static const int list[8] = { 0, 1, 2, 3, -1, 3, 2, 0 };
    seed_text(s, "ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
                 "property float z\nelement camera 1\nproperty int64 a\nelement tristrips 1\n"
                 "property list uint short vertex_index\nend_header\n");
    for (int i = 0; i < 12; i++) seed_f32(s, seed_x[i / 3][i % 3]);
    seed_u64(s, 5);
    seed_u32(s, 8);
    for (int i = 0; i < 8; i++) seed_u16(s, list[i]);
}

enum { SEED_TEXTS = 15, SEED_BINARIES = 14, SEEDS = SEED_TEXTS + SEED_BINARIES };
static void mesh_seeds(mesh_seed seed[SEEDS])
{
    static const struct { mesh_format format; const char *text; } text[SEED_TEXTS] = {
        { MESH_OBJ, obj },   { MESH_OBJ, obj2 },  { MESH_MSH, msh }, { MESH_MSH, msh4 }, { MESH_MSH, msh_para },
        { MESH_VTK, vtk },   { MESH_VTK, vtk5 },  { MESH_VTK, poly }, { MESH_VTK, vtk_high }, { MESH_STL, stl },
        { MESH_STL, stl2 },  { MESH_PLY, ply },   { MESH_OFF, off }, { MESH_OFF, off4 }, { MESH_TETGEN, tetgen }
    };
    static const mesh_format format[SEED_BINARIES] = {
        MESH_STL, MESH_STL, MESH_STL, MESH_PLY, MESH_PLY, MESH_PLY, MESH_VTK, MESH_VTK, MESH_VTK, MESH_MSH, MESH_MSH,
        MESH_MSH, MESH_MSH, MESH_MSH
    };
    static seed_bytes binary[SEED_BINARIES];
    memset(binary, 0, sizeof binary);
    seed_stl(&binary[0]);
    seed_stl_odd(&binary[1], 0);
    seed_stl_odd(&binary[2], 1);
    seed_ply(&binary[3], 0);
    seed_ply(&binary[4], 1);
    seed_ply_strips(&binary[5]);
    seed_vtk(&binary[6], 1);
    seed_vtk(&binary[7], 0);
    seed_vtk5(&binary[8]);
    seed_msh2(&binary[9], 0, 0);
    seed_msh2(&binary[10], 1, 1);
    seed_msh4(&binary[11], 41, 8, 0);
    seed_msh4(&binary[12], 41, 4, 1);
    seed_msh4(&binary[13], 40, 8, 0);
    for (int i = 0; i < SEEDS; i++) {
        int b = i - SEED_TEXTS;
        seed[i].format = b < 0 ? text[i].format : format[b];
        seed[i].data = b < 0 ? text[i].text : binary[b].data;
        seed[i].size = b < 0 ? strlen(text[i].text) : binary[b].size;
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
