/* The mesh readers and writers of the tool: round trips, the line and words of every refusal, the bad files
 * of DATA, and that neither a cut nor a damaged file makes a reader leave its text. */
#include "../embipc.h"
#include "test.h"
#include "test_tool_mutate.h"
#include "../tools/common.h"
#include "../tools/meshio.h"
#include "../tools/meshio_parse.h"
#include "mesh_seeds.h"

static int parse(tool_mesh *m, mesh_format format, const char *text, tool_error *e)
{
    return seed_parse(m, format, text, strlen(text), e);
}

/* How much was passed over of what has this in its name, or of all. */
static int passed(const tool_mesh *m, const char *part)
{
    int n = 0;
    for (int i = 0; i < m->note_count; i++)
        if (strstr(m->note[i].one, part)) n += m->note[i].count;
    return n;
}

/* A mesh of so many nodes, triangles and tets, with so much passed over. */
static int is(const tool_mesh *m, int nodes, int triangles, int tets, int notes)
{
    if (m->node_count == nodes && m->tri_count == triangles && m->tet_count == tets && passed(m, "") == notes) return 1;
    printf("  found %d nodes, %d triangles, %d tets, %d passed over\n", m->node_count, m->tri_count, m->tet_count,
           passed(m, ""));
    return 0;
}

/* The text is refused with a message that contains this. */
static int refused(mesh_format format, const char *text, const char *part)
{
    tool_mesh m;
    tool_error e;
    int ok = parse(&m, format, text, &e);
    if (!ok && strstr(e.text, part) && !m.x && !m.tri && !m.tet) return 1;
    printf("  %s -> %s (wanted %s)\n", text, ok ? "accepted" : e.text, part);
    mesh_free(&m);
    return 0;
}

/* ---- OBJ ------------------------------------------------------------------------------------ */

static void test_obj(void)
{
    static const int tri[] = { 3, 2, 1, 3, 1, 0, 0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4 };
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_OBJ, obj, &e));
    ENSURE(m.node_count == 5 && m.tri_count == 6 && m.tet_count == 0);
    ENSURE(m.tri_count == 6 && memcmp(m.tri, tri, sizeof tri) == 0);
    ENSURE(m.node_count == 5 && m.x[12] == 0.5 && m.x[13] == 0.5 && m.x[14] == 1);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_OBJ, "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0", &e));   /* vertices may follow */
    mesh_free(&m);
    ENSURE(parse(&m, MESH_OBJ, obj2, &e) && is(&m, 7, 6, 0, 8));
    ENSURE(passed(&m, "line that is neither") == 6 && passed(&m, "repeated corner") == 2);
    ENSURE(strstr(m.note[0].such, "the first \"cstype\" on line 2"));
    ENSURE(m.tri_count == 6 && m.tri[12] == 0 && m.tri[13] == 6 && m.tri[14] == 1);
    mesh_free(&m);
}

/* The last corner first: a concave polygon is cut when its vertices are there. */
static void test_obj_concave(void)
{
    static const char dart[] = "f 1 2 3 4\nv 0 0 0\nv 1 2 0\nv 4 4 0\nv 0 4 0\n";
    static const int tri[] = { 1, 2, 3, 1, 3, 0 };
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_OBJ, dart, &e) && is(&m, 4, 2, 0, 0) && memcmp(m.tri, tri, sizeof tri) == 0);
    mesh_free(&m);
}

/* A comment may begin right behind a word. */
static void test_comments(void)
{
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_OBJ, "v 0 0 0#a\nv 1 0 0 # b\nv 0 1 0\n# c \\\nf 1/1 2//2 3#d \\\n", &e));
    ENSURE(is(&m, 3, 1, 0, 0));
    mesh_free(&m);
    ENSURE(parse(&m, MESH_OFF, "OFF#a\n3 1 0#b\n0 0 0\n1 0 0#c\n0 1 0\n3 0 1 2#d", &e) && is(&m, 3, 1, 0, 0));
    mesh_free(&m);
}

static void test_obj_refusals(void)
{
    ENSURE(refused(MESH_OBJ, "", "f:1: found 0 vertices and no face"));
    ENSURE(refused(MESH_OBJ, "v 0 0 0\nv 1 0 0\n",
                   "found 2 vertices and no face, expected at least one f line"));
    ENSURE(refused(MESH_OBJ, "v 0 0 0\nv 1 0\n",
                   "f:2: found the end of the line, expected a finite coordinate"));
    ENSURE(refused(MESH_OBJ, "v 0 0 0\nv 1 x 0\n", "f:2: found \"x\", expected a finite coordinate"));
    ENSURE(refused(MESH_OBJ, "v nan 0 0\n", "f:1: found \"nan\", expected a finite coordinate"));
    ENSURE(refused(MESH_OBJ, "v 0 1e999 0\n", "f:1: found \"1e999\""));
    ENSURE(refused(MESH_OBJ, "v 0 0 0\nf 1 2\n",
                   "f:2: found the end of the line, expected a face of at least 3"));
    ENSURE(refused(MESH_OBJ, "v 0 0 0\nf 1 0 1\n", "f:2: found \"0\", expected a vertex number from 1"));
    ENSURE(refused(MESH_OBJ, "v 0 0 0\nf 1 1 -2\n",
                   "f:2: found \"-2\", expected a vertex that was given before"));
    ENSURE(
        refused(MESH_OBJ, "v 0 0 0\n\nf 1 1 99\nf 1 1 1", "f:3: found vertex number 99, expected at most 1"));
    ENSURE(refused(MESH_OBJ, "v 0 0 0\nf 1 1 1.5\n", "found \"1.5\", expected a vertex number"));
    ENSURE(
        refused(MESH_OBJ, "v 0 0 0\nf 1 1 99999999999\n", "found \"99999999999\", expected a vertex number"));
    ENSURE(refused(MESH_OBJ, "\x89PNG\r\n",
                   "f:2: found 0 vertices and no face, 1 line that is neither v nor f, the first "
                                            "\"?PNG\" on line 1, expected at least one f line"));
    ENSURE(refused(MESH_OBJ, "v 0 0 0\nv 1 0 0\nf 1 2 2 1\n", "f: found no triangle, 1 polygon of fewer than three"));
    ENSURE(refused(MESH_OBJ, "v 0 0 0 \\\n\nf 1 \\\n1\n", "f:4: found the end of the line"));
}

/* ---- Gmsh ----------------------------------------------------------------------------------- */

static void test_msh(void)
{
    static const int tet[] = { 0, 1, 2, 3 };
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_MSH, msh, &e));
    ENSURE(is(&m, 4, 0, 1, 1) && passed(&m, "triangle beside the tets") == 1);
    ENSURE(m.tet_count == 1 && memcmp(m.tet, tet, sizeof tet) == 0);
    ENSURE(m.node_count == 4 && m.x[11] == 1);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_MSH, "$Comments\nof $MeshFormat\n$EndComments\n" MSH_HEAD MSH_NODES
                               "$Comments\n$EndComments\n$Elements\n1\n1 4 0 7 2 3 40\n$EndElements\n", &e));
    ENSURE(is(&m, 4, 0, 1, 0));
    mesh_free(&m);
    ENSURE(parse(&m, MESH_MSH, msh_para, &e) && is(&m, 4, 3, 0, 1) && passed(&m, "hexahedron") == 1);
    mesh_free(&m);
}

/* quads and points beside a tet: what is not read is counted, but for points and lines */
static void test_msh_skipped(void)
{
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_MSH, MSH_HEAD MSH_NODES "$Elements\n3\n1 15 0 7\n2 3 0 7 2 3 40\n3 4 0 7 2 3 40\n"
                                                  "$EndElements\n", &e));
    ENSURE(is(&m, 4, 0, 1, 2) && passed(&m, "triangle beside") == 2);   /* the quadrangle */
    mesh_free(&m);
    ENSURE(parse(&m, MESH_MSH, MSH_HEAD "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 9 9\n6 8 8 8\n$EndNodes\n"
                               "$Elements\n3\n1 15 0 5\n2 4 0 1 2 3 4\n3 77 0 1 2 3\n$EndElements\n", &e));
    ENSURE(is(&m, 5, 0, 1, 2) && passed(&m, "element of another type") == 1);   /* 5 is a point's; 6 is nobody's */
    mesh_free(&m);
}

/* Gmsh 2.2 writes an element of two physical groups twice; anything else that is there twice stays. */
static void test_msh_groups(void)
{
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_MSH,
                 MSH_HEAD MSH_NODES "$Elements\n6\n1 4 2 1 5 7 2 3 40\n2 4 2 2 5 7 2 3 40\n3 4 2 3 5 7 2 3 40\n"
                               "4 4 2 3 5 7 2 3 40\n5 4 2 1 6 7 2 3 40\n6 4 2 2 6 2 7 3 40\n$EndElements\n", &e));
    ENSURE(is(&m, 4, 0, 4, 2) && passed(&m, "again for another physical group") == 2);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_MSH,
                 MSH_HEAD "$Nodes\n4\n3 0 0 0\n4 1 0 0\n1 0 1 0\n2 0 0 1\n$EndNodes\n"   /* out of order */
                               "$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n", &e));
    ENSURE(m.tet_count == 1 && m.tet[0] == 2 && m.tet[1] == 3 && m.tet[2] == 0 && m.tet[3] == 1);
    mesh_free(&m);
}

static void test_msh_refusals(void)
{
    ENSURE(refused(MESH_MSH, "", "f:1: found the end of the file, expected $MeshFormat"));
    ENSURE(refused(MESH_MSH, "$Comments\n", "f:2: found the end of the file, expected the $End line"));
    ENSURE(refused(MESH_MSH, "$NOD\n1\n1 0 0 0\n", "f:1: found \"$NOD\", expected version 2.2 or 4.1 of the Gmsh format"));
    ENSURE(refused(MESH_MSH, "$MeshFormat\n3 0 8\n", "f:2: found \"3\", expected version 2.2 or 4.1"));
    ENSURE(refused(MESH_MSH, "$MeshFormat\n2.2 2 8\n", "f:2: found the file type 2, expected 0 for ASCII"));
    ENSURE(refused(MESH_MSH, "$MeshFormat\n2.2 1 8\nabcd\n", "f: byte 20: found four bytes that are not the number 1"));
    ENSURE(refused(MESH_MSH, "$MeshFormat\n4.1 1 16\n", "f:2: found numbers of 16 bytes, expected 8"));
    ENSURE(refused(MESH_MSH, "$MeshFormat\n2.2 0 8\n$Node", "f:3: found \"$Node\", expected $EndMeshFormat"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "$Nodes\n1 0 0 0\n",
                   "f:5: found \"0\", expected the number of nodes, alone"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "$Nodes\n99999999\n1 0 0 0\n",
                   "f:5: found a count of 99999999, expected no more"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "$Nodes\n-1\n", "f:5: found \"-1\""));
    ENSURE(refused(MESH_MSH, MSH_HEAD "$Nodes\n2\n1 0 0 0\n$EndNodes\n",
                   "f:7: found \"$EndNodes\", expected a node"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n",
                   "f:7: found \"2\", expected $EndNodes"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "$Nodes\n1\n1 0 inf 0\n",
                   "f:6: found \"inf\", expected a finite coordinate"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "$Nodes\n1\n1 0 0 0 0\n",
                   "f:6: found \"0\", expected the end of the line"));
    ENSURE(
        refused(MESH_MSH, MSH_HEAD "$Nodes\n2\n1 0 0 0\n1 0 0 1\n$EndNodes\n", "found node number 1 twice"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "$Elements\n1\n", "f:4: found $Elements, expected $Nodes before it"));
    ENSURE(refused(MESH_MSH, MSH_HEAD MSH_NODES "$Elements\n1\n1 4 0 7 2 3 8\n$EndElements\n",
                   "f:13: found \"8\", expected the number of a node listed"));
    ENSURE(refused(MESH_MSH, MSH_HEAD MSH_NODES "$Elements\n1\n1 4 0 7 2 3\n$EndElements\n",
                   "f:13: found the end of the line, expected the number of a node"));
    ENSURE(refused(MESH_MSH, MSH_HEAD MSH_NODES "$Elements\n2\n1 4 0 7 2 3 40\n$EndElements\n",
                   "f:14: found \"$EndElements\", expected an element"));
    ENSURE(refused(MESH_MSH, MSH_HEAD MSH_NODES "$Elements\n1 4 0 7 2 3 40\n",
                   "f:12: found \"4\", expected the number of elements, alone"));
    ENSURE(refused(MESH_MSH, MSH_HEAD MSH_NODES "$Elements\n1\n1 5 0 7 2 3 40\n$EndElements\n",
                   "found 4 nodes, 1 hexahedron, expected triangles (type 2)"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "$Extra\n1\n2", "expected the $End line of this section"));
    ENSURE(refused(MESH_MSH, MSH_HEAD MSH_NODES MSH_NODES, "f:11: found a second $Nodes"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "hello\n", "f:4: found \"hello\", expected a section"));
}

static void test_msh4(void)
{
    static const int tet[] = { 0, 1, 2, 3 };
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_MSH, msh4, &e));
    ENSURE(is(&m, 4, 0, 1, 1) && passed(&m, "triangle beside the tets") == 1);
    ENSURE(m.tet_count == 1 && memcmp(m.tet, tet, sizeof tet) == 0);
    ENSURE(m.node_count == 4 && m.x[3] == 1 && m.x[7] == 1 && m.x[11] == 1);
    mesh_free(&m);
}

static void test_msh4_refusals(void)
{
    ENSURE(refused(MESH_MSH, MSH4_HEAD "$Nodes\n1 2 1 2\n0 1 0 3\n1\n2\n3\n0 0 0\n",
                   "f:6: found a block of 3 entries, expected at most 2"));
    ENSURE(refused(MESH_MSH, MSH4_HEAD "$Nodes\n1 2 1 2\n0 1 0 1\n1\n0 0 0\n$EndNodes\n",
                   "found blocks of 1 nodes in all, expected 2"));
    ENSURE(refused(MESH_MSH, MSH4_HEAD "$Nodes\n1 1 1 1\n0 1 0 1\n1\n0 0 0 0\n",
                   "f:8: found \"0\", expected the end of the line"));
    ENSURE(refused(MESH_MSH, MSH4_HEAD "$Nodes\n1 1 1\n0 1 0 1\n",
                   "f:5: found the end of the line, expected the smallest"));
    ENSURE(refused(MESH_MSH, MSH4_HEAD "$Nodes\n1 99999999 1 2\n", "f:5: found a count of 99999999"));
    ENSURE(refused(MESH_MSH, MSH4_HEAD "$Nodes\n1 1 1 1\n0 1 0 -1\n",
                   "f:6: found \"-1\", expected the number of"));
    ENSURE(refused(MESH_MSH, MSH4_HEAD MSH4_NODES "$Elements\n1 1 1 1\n2 1 2 1\n1 7 30 9\n",
                   "f:20: found \"9\", expected the number of a node listed"));

    ENSURE(refused(MESH_MSH,
                   MSH4_HEAD MSH4_NODES "$Elements\n2 2 1 1\n2 1 2 1\n1 7 30 8\n3 1 4 0\n$EndElements\n",
                   "found blocks of 1 elements in all, expected 2"));
}

/* ---- VTK ------------------------------------------------------------------------------------ */

static void test_vtk(void)
{
    static const int fan[] = { 0, 1, 2, 0, 1, 4, 0, 4, 2 }, high[] = { 0, 1, 2, 0, 1, 2, 0, 2, 3 };
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_VTK, vtk, &e));
    ENSURE(is(&m, 4, 0, 1, 4) && passed(&m, "triangle beside") == 3 && passed(&m, "node that is a corner of no") == 1);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_VTK, vtk_high, &e));
    ENSURE(m.tri_count == 11 && memcmp(m.tri + 27, high + 3, 6 * sizeof *high) == 0);   /* the pixel */
    ENSURE(is(&m, 6, 11, 0, 3) && memcmp(m.tri, high, sizeof high) == 0);   /* 1 + 2 + 3 + 3 + 2 triangles */
    mesh_free(&m);
    ENSURE(parse(&m, MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 3 12\n4 0 1 2 3\n4 0 1 2 3\n1 2\n"
                                                   "CELL_TYPES 3\n10\n14\n1\n", &e));
    /* a pyramid, a point that nobody misses, and a node of nothing else */
    ENSURE(m.tet_count == 1 && is(&m, 5, 0, 1, 1) && passed(&m, "pyramid") == 1);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_VTK, vtk5, &e));
    ENSURE(m.node_count == 4 && m.tet_count == 1 && m.tri_count == 0 && m.tet[3] == 3);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_VTK, VTK_HEAD VTK_POINTS   /* what is known of an array stands behind it */
                 "METADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 1\n\nCELLS 2 4\n"
                 "OFFSETS vtktypeint64\n0 4\nMETADATA\nCOMPONENT_NAMES\n\nINFORMATION 0\n\nCONNECTIVITY vtktypeint64\n0 1 2 3\n"
                 "METADATA\nINFORMATION 0\n\nCELL_TYPES 1\n10\n", &e));
    ENSURE(is(&m, 5, 0, 1, 0));
    mesh_free(&m);
    ENSURE(parse(&m, MESH_VTK, poly, &e));
    ENSURE(m.node_count == 5 && m.tet_count == 0 && m.tri_count == 3 && memcmp(m.tri, fan, sizeof fan) == 0);
    mesh_free(&m);
}

static void test_vtk_refusals(void)
{
    ENSURE(refused(MESH_VTK, "", "f:1: found no legacy VTK header"));
    ENSURE(refused(MESH_VTK, "# vtk DataFile Version 3.0\nx\nBIN\n", "f:3: found \"BIN\", expected ASCII or BINARY"));
    ENSURE(refused(MESH_VTK, "# vtk DataFile Version 3.0\nx\nASCII\nDATASET STRUCTURED_GRID\n",
                   "f:4: found \"STRUCTURED_GRID\""));
    ENSURE(refused(MESH_VTK, VTK_HEAD "POINTS 500000 double\n0 0 0\n", "f:5: found a count of 500000"));
    ENSURE(refused(MESH_VTK, VTK_HEAD "POINTS 1 double\n0 y 0\n",
                   "f:6: found \"y\", expected a finite coordinate"));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 5\n4 0 1 2 5\n",
                   "f:10: found the point 5, expected an index below 5"));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 4\n4 0 1 2 3\n", "f:10: found a cell of 4 points"));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 6\n4 0 1 2 3\nCELL_TYPES 1\n",
                   "found 5 numbers in the cell list, expected 6"));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_DATA 1\n",
                   "f:11: found 1 cells without their types, expected CELL_TYPES"));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n",
                   "f:11: found 2 cell types, expected 1"));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n5\n",
                   "f:10: found a cell of 4 points, expected 3"));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n",
                   "found 5 points and no triangle or tet, 1 hexahedron, expected"));
    ENSURE(refused(MESH_VTK, VTK_HEAD "FIELD f 1\na 3 1 float\n1 2",
                   "found the end of the file, expected the values of an"));
    ENSURE(refused(MESH_VTK, VTK_HEAD "FIELD f 1\na 2000000000 2000000000 int\n1\n2",
                   "expected the values of an array"));
    ENSURE(refused(MESH_VTK, VTK_HEAD "FIELD f 1\na 1 9 string\n1\n2", "found the end of the file, expected a string"));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n24\n",
                   "f:10: found a cell of 4 points, expected 10 for cells of type 24"));
    ENSURE(refused(MESH_VTK, VTK_HEAD "TRIANGLE_STRIPS 1 4\n", "f:5: found \"TRIANGLE_STRIPS\""));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 2 4\nOFFSETS a\n0 5\nCONNECTIVITY a\n0 1 2 3\n",
                   "found the offset 5, expected offsets that rise"));
}

/* ---- STL ------------------------------------------------------------------------------------ */

/* two triangles over four vertices, in either form */
static void check_stl(mesh_seed s)
{
    static const int tri[] = { 0, 1, 2, 1, 3, 2 };
    tool_mesh m;
    tool_error e;
    ENSURE(seed_parse(&m, s.format, s.data, s.size, &e));
    ENSURE(m.node_count == 4 && m.tri_count == 2 && memcmp(m.tri, tri, sizeof tri) == 0);
    ENSURE(m.node_count == 4 && m.x[9] == 1 && m.x[10] == 1 && m.x[11] == 0.5);
    mesh_free(&m);
}

static void test_stl(void)
{
    mesh_seed seed[SEEDS];
    tool_mesh m;
    tool_error e;
    mesh_seeds(seed);
    for (int k = 0; k < SEEDS; k++)
        if (seed[k].format == MESH_STL && seed[k].data != stl2) check_stl(seed[k]);
    ENSURE(seed_parse(&m, MESH_STL, stl2, strlen(stl2), &e) && is(&m, 4, 2, 0, 0));   /* a facet of four corners */
    mesh_free(&m);
    ENSURE(seed_parse(&m, MESH_STL, "solid x\n\0\0", 10, &e) == 0 && strstr(e.text, "expected facet or endsolid"));
    ENSURE(seed_parse(&m, MESH_STL, seed[16].data, seed[16].size, &e) && is(&m, 4, 2, 0, 1));
    ENSURE(passed(&m, "count of triangles") == 1 && strstr(m.note[0].such, "0, where the file has 2"));
    mesh_free(&m);
    ENSURE(seed_parse(&m, MESH_STL, seed[17].data, seed[17].size, &e) && is(&m, 4, 2, 0, 6));
    ENSURE(passed(&m, "byte behind the last triangle") == 6);
    mesh_free(&m);
}

static void test_stl_refusals(void)
{
    char data[84 + 50 + 1];
    tool_mesh m;
    tool_error e;
    ENSURE(refused(MESH_STL, "", "f: byte 0: found neither \"solid\" nor 84 bytes"));
    ENSURE(refused(MESH_STL, "solid\nendsolid\n", "f:3: found no triangle"));
    ENSURE(refused(MESH_STL, "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 x\n",
                   "f:5: found \"x\", expected a finite coordinate"));
    ENSURE(refused(MESH_STL, "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n",
                   "f:6: found \"endloop\", expected vertex"));
    ENSURE(refused(MESH_STL, "solid\nfacet normal 0", "expected the three numbers of a normal"));
    ENSURE(refused(MESH_STL, "solid\nfacet x", "f:2: found \"x\", expected normal"));
    ENSURE(refused(MESH_STL, "solid\n", "expected facet or endsolid"));
    memset(data, 0, sizeof data);
    data[83] = 0x10;   /* 2^28 triangles in a file of one */
    ENSURE(!mesh_parse(&m, MESH_STL, "f", data, 134, &e));
    ENSURE(strstr(e.text, "f: byte 80: found a count of 268435456 triangles in a file of 134 bytes"));
    data[83] = 0;
    data[80] = 1;
    ENSURE(mesh_parse(&m, MESH_STL, "f", data, 134, &e));   /* flat, but a triangle */
    mesh_free(&m);
    ENSURE(mesh_parse(&m, MESH_STL, "f", data, 135, &e) && passed(&m, "byte behind") == 1);
    mesh_free(&m);
    ENSURE(!mesh_parse(&m, MESH_STL, "f", data, 133, &e) && strstr(e.text, "in a file of 133 bytes"));
    data[80] = 0;
    ENSURE(!mesh_parse(&m, MESH_STL, "f", data, 84, &e) && strstr(e.text, "found no triangle"));
    data[80] = 1;
    data[84 + 12 + 4 + 3] = 0x7f;   /* y of the first corner: inf */
    data[84 + 12 + 4 + 2] = (char)0x80;
    ENSURE(!mesh_parse(&m, MESH_STL, "f", data, 134, &e));
    ENSURE(strstr(e.text, "f: byte 100: found inf, expected a finite coordinate"));
}

/* ---- PLY ------------------------------------------------------------------------------------ */

static void check_ply(mesh_seed s)
{
    static const int tri[] = { 0, 1, 2, 0, 1, 2, 0, 2, 3 };
    static const double x[] = { 0, 0, 0, .5, 0, 0, 1, 1, -2, 0, 1, 0 };
    tool_mesh m;
    tool_error e;
    e.text[0] = 0;
    ENSURE(seed_parse(&m, s.format, s.data, s.size, &e));
    if (e.text[0]) printf("  %s\n", e.text);
    ENSURE(m.node_count == 4 && m.tri_count == 3 && memcmp(m.tri, tri, sizeof tri) == 0);
    ENSURE(m.node_count == 4 && memcmp(m.x, x, sizeof x) == 0);
    mesh_free(&m);
}

static void test_ply(void)
{
    mesh_seed seed[SEEDS];
    tool_mesh m;
    tool_error e;
    mesh_seeds(seed);
    for (int k = 0; k < SEEDS; k++)
        if (seed[k].format == MESH_PLY && seed[k].size > 300) check_ply(seed[k]);
    ENSURE(seed_parse(&m, MESH_PLY, seed[20].data, seed[20].size, &e) && is(&m, 4, 3, 0, 1) && m.tri[7] == 2);
    ENSURE(passed(&m, "entry of elements other") == 1 && strstr(m.note[0].such, "camera"));
    mesh_free(&m);
}

/* Lines of the header end with CR, and the first value is a byte that other headers would end with. */
static void test_ply_cr(void)
{
    static const char head[] = "ply\rformat binary_big_endian 1.0\relement vertex 3\rproperty uchar a\r"
                               "property char x\rproperty char y\rproperty uchar z\relement face 1\r"
                               "property list uchar uchar verts\rend_header\r";
    static const unsigned char data[16] = { 10, 0xff, 0, 0xff, 13, 1, 0, 0, 10, 0, 1, 0, 3, 0, 1, 2 };
    char file[sizeof head + sizeof data];
    tool_mesh m;
    tool_error e;
    memcpy(file, head, sizeof head - 1);
    memcpy(file + sizeof head - 1, data, sizeof data);
    ENSURE(seed_parse(&m, MESH_PLY, file, sizeof head - 1 + sizeof data, &e) && is(&m, 3, 1, 0, 0));
    ENSURE(m.node_count == 3 && m.x[0] == -1 && m.x[2] == 255 && m.x[3] == 1 && m.x[7] == 1);
    mesh_free(&m);
}

/* The list of vertices is the one of that name, whatever its type; without one the first of whole numbers. */
static void test_ply_lists(void)
{
    static const struct { const char *properties, *face; } list[] = {
        { "property list uchar float vertex_indices\n", "3 0 1.0 2e0\n" },
        { "property list double int8 Vertex_Index\n", "3.0 0 1 2\n" },
        { "property list uchar float uv\nproperty list uchar uint64 verts\n", "2 .5 .5 3 0 1 2\n" },
        { "property list uchar float a\nproperty list uchar int b\nproperty list uchar float vertex_index\n",
          "1 .5 3 5 6 7 3 0 1 2\n" },
        { "property list uchar double a\n", "3 0 1 2\n" } };
    static const int tri[] = { 0, 1, 2 };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[1000];
        tool_mesh m;
        tool_error e;
        snprintf(text, sizeof text, "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                                    "property float z\nelement face 2\n%send_header\n0 0 0\n1 0 0\n0 1 0\n%s%s",
                 list[i].properties, list[i].face, list[i].face);
        ENSURE(parse(&m, MESH_PLY, text, &e) && is(&m, 3, 2, 0, 0) && memcmp(m.tri, tri, sizeof tri) == 0);
        mesh_free(&m);
    }
}

#define PLY_XYZ "property float x\nproperty float y\nproperty float z\n"
#define PLY_INDICES "property list uchar int vertex_indices\n"
static void test_ply_refusals(void)
{
    ENSURE(refused(MESH_PLY, "", "f:1: found the end of the file, expected ply"));
    ENSURE(refused(MESH_PLY, "ply\nelement vertex 0\nend_header\n", "without a format line"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 2.0\n", "f:2: found \"2.0\", expected version 1.0"));
    ENSURE(refused(MESH_PLY, "ply\nformat binary 1.0\n",
                   "f:2: found \"binary\", expected ascii, binary_little"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nelement vertex 1152921504606846976\n",
                   "f:3: found \"1152921504606846976\", expected the number of entries"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nelement vertex 1000000\n",
                   "f:3: found a count of 1000000"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nproperty float x\n",
                   "f:3: found a property, expected an"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nelement vertex 1\nproperty int128 x\n",
                   "f:4: found \"int128\", expected a type such as"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float x\n",
                   "f:5: found \"x\", expected each property once"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n",
                   "found no x, y and z"));
    ENSURE(refused(MESH_PLY,
                   "ply\nformat ascii 1.0\nelement vertex 1\n" PLY_XYZ "element face 1\nend_header\n1 1 1\n",
                   "found element 2 of the header without a property"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nelement face 1\n" PLY_INDICES "end_header\n3 0 1 2\n",
                   "found faces without vertices"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nelement vertex 1\n" PLY_XYZ "element face 1\n"
                             "property list uchar float vertex_indices\nend_header\n0 0 0\n3 0 0 0.5\n",
                   "f:11: found \"0.5\", expected the index of a vertex"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nelement vertex 1\n" PLY_XYZ "element face 1\n"
                             "property int vertex_indices\nend_header\n0 0 0\n3\n",
                   "found no list in element \"face\", expected vertex_indices"));
    ENSURE(refused(MESH_PLY,
                   "ply\nformat ascii 1.0\nelement vertex 1\n" PLY_XYZ "element face 1\n" PLY_INDICES
                             "end_header\n0 0 0\n3 0 0 1\n",
                   "f:11: found \"1\", expected the index of a vertex"));
    ENSURE(refused(MESH_PLY,
                   "ply\nformat ascii 1.0\nelement vertex 1\n" PLY_XYZ "element face 1\n" PLY_INDICES
                             "end_header\n0 0 0\n2 0 0\n",
                   "found 1 vertices and no face, 1 polygon of fewer than three different corners, expected element"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nelement vertex 1\n" PLY_XYZ "end_header\n0 0 0\n",
                   "found 1 vertices and no face"));
    ENSURE(refused(MESH_PLY,
                   "ply\nformat binary_big_endian 1.0\nelement vertex 1\n" PLY_XYZ "end_header\n12345678",
                   "f: byte 120: found the end of the file, expected a finite coordinate"));
    ENSURE(refused(MESH_PLY,
                   "ply\nformat binary_little_endian 1.0\nelement a 1\nproperty list uint double b\n"
                             "end_header\n\xff\xff\xff\x01" "12345678",
                   "found a count of 33554431, expected no more than the 8 bytes left"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nelement vertex 1\n" PLY_XYZ, "expected end_header"));
    ENSURE(refused(MESH_PLY, "ply\nformat ascii 1.0\nhello\n",
                   "f:3: found \"hello\", expected format, element"));
}

/* ---- OFF and TetGen ------------------------------------------------------------------------- */

static void test_off(void)
{
    static const int tri[] = { 3, 2, 1, 3, 1, 0, 0, 1, 4, 1, 2, 4 };
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_OFF, off, &e));
    ENSURE(m.node_count == 5 && m.tri_count == 4 && memcmp(m.tri, tri, sizeof tri) == 0);
    ENSURE(m.node_count == 5 && m.x[12] == 0.5 && m.x[14] == 1);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_OFF, "3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", &e));   /* no keyword */
    mesh_free(&m);
    ENSURE(parse(&m, MESH_OFF, "OFF 3 1\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", &e));
    mesh_free(&m);
    ENSURE(parse(&m, MESH_OFF, "OFF3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", &e) && is(&m, 3, 1, 0, 0));
    mesh_free(&m);
    ENSURE(parse(&m, MESH_OFF, "nOFF\n3\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", &e) && is(&m, 3, 1, 0, 0));
    mesh_free(&m);
    ENSURE(parse(&m, MESH_OFF, off4, &e) && is(&m, 4, 2, 0, 1) && m.x[3] == 1 && m.x[6] == 1 && m.x[10] == 1);
    mesh_free(&m);
}

/* Counts on one line or on lines of their own, with and without that of edges. */
static void test_off_counts(void)
{
    static const char *const counts[] = { "3 1 0", "3 1", "3\n1\n0", "3\n1 0", "3 1\n\n0 # edges", "3 1\n" };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char text[100];
        tool_mesh m;
        tool_error e;
        snprintf(text, sizeof text, "OFF\n%s\n0 0 0\n1 0 0\n0 1 2\n3 0 1 2\n", counts[i]);
        ENSURE(parse(&m, MESH_OFF, text, &e) && is(&m, 3, 1, 0, 0) && m.x[3] == 1 && m.x[8] == 2);
        mesh_free(&m);
    }
}

static void test_off_refusals(void)
{
    ENSURE(refused(MESH_OFF, "", "f:1: found the end of the file, expected OFF"));
    ENSURE(refused(MESH_OFF, "4nOFF\n", "f:1: found \"4nOFF\", expected OFF"));
    ENSURE(refused(MESH_OFF, "nOFF 4\n", "f:1: found points of 4 coordinates, expected 3"));
    ENSURE(refused(MESH_OFF, "4OFF 1 1\n0 0 1 0\n3 0 0 0\n", "f:2: found 0 as the fourth coordinate"));
    ENSURE(refused(MESH_OFF, "OFF BINARY\n", "f:1: found \"BINARY\", expected the number of points"));
    ENSURE(refused(MESH_OFF, "OFF\n100000 1 0\n", "f:2: found a count of 100000"));
    ENSURE(refused(MESH_OFF, "OFF\n1 1 0\n0 0 nan\n3 0 0 0\n", "f:3: found \"nan\", expected a finite"));
    ENSURE(refused(MESH_OFF, "OFF\n1 1 0\n0 0\n3 0 0 0\n",
                   "f:3: found the end of the line, expected a finite"));
    ENSURE(refused(MESH_OFF, "OFF\n1 1 0\n0 0 0\n3 0 0 1\n",
                   "f:4: found \"1\", expected the index of a point"));
    ENSURE(refused(MESH_OFF, "OFF\n1 1 0\n0 0 0\n3 0 0\n   ",
                   "f:4: found the end of the line, expected the index"));
    ENSURE(refused(MESH_OFF, "OFF\n1 1 0\n0 0 0\n2 0 0 0\n",
                   "found 1 points and no face, 1 polygon of fewer than three"));
    ENSURE(refused(MESH_OFF, "OFF\n1 1 0\n0 0 0\n-1 0 0 0\n", "f:4: found \"-1\", expected a face"));
    ENSURE(refused(MESH_OFF, "OFF\n1 0 0\n0 0 0\n", "found 1 points and no face"));
}

static void test_tetgen(void)
{
    static const int tet[] = { 0, 1, 2, 3, 1, 2, 3, 4 };
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_TETGEN, tetgen, &e));
    ENSURE(m.node_count == 5 && m.tet_count == 2 && m.tri_count == 0 && memcmp(m.tet, tet, sizeof tet) == 0);
    ENSURE(m.node_count == 5 && m.x[3] == 1 && m.x[14] == 1);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_TETGEN,
                 "4 3\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n%1 10\n0 0 1 2 3 0 1 2 3 0 1\n", &e));
    ENSURE(is(&m, 4, 0, 1, 0) && memcmp(m.tet, tet, 4 * sizeof *tet) == 0);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_TETGEN, "6 3\n1 0 0 0\n2 .5 0 0\n3 1 0 0\n4 0 1 0\n5 0 0 1\n6 9 9 9\n"
                                  "%1 10\n1 1 3 4 5 2 2 2 2 2 2\n", &e));   /* 2 is in the middle of an edge */
    ENSURE(is(&m, 5, 0, 1, 1) && memcmp(m.tet, tet, 4 * sizeof *tet) == 0 && m.x[3] == 1 && m.x[12] == 9);
    mesh_free(&m);
}

static void test_tetgen_refusals(void)
{
    ENSURE(refused(MESH_TETGEN, "", "f:1: found the end of the file, expected the number of points"));
    ENSURE(refused(MESH_TETGEN, "0 3\n", "f:1: found 0 points"));
    ENSURE(refused(MESH_TETGEN, "1 2\n1 0 0\n", "f:1: found dimension 2, expected 3"));
    ENSURE(refused(MESH_TETGEN, "99999 3\n1 0 0 0\n", "f:1: found a count of 99999"));
    ENSURE(refused(MESH_TETGEN, "1 3 0\n5 0 0 0\n", "f:2: found 5 as the first number, expected 0 or 1"));
    ENSURE(refused(MESH_TETGEN, "2 3 0\n1 0 0 0\n3 0 0 0\n",
                   "f:3: found \"3\", expected the line of number 2"));
    ENSURE(refused(MESH_TETGEN, "1 3 0\n1 0 0\n", "f:2: found the end of the line, expected a finite"));
    ENSURE(refused(MESH_TETGEN, "1 3\n1 0 0 0\n%1 5\n1 1 1 1 1 1\n", "f:1: found 5 nodes per tet"));
    ENSURE(refused(MESH_TETGEN, "1 3\n1 0 0 0\n%1 4\n1 1 1 1 2\n",
                   "f:2: found \"2\", expected the number of a point"));
    ENSURE(refused(MESH_TETGEN, "1 3\n1 0 0 0\n%1 4\n1 1 1 1 0\n",
                   "f:2: found \"0\", expected the number of a point"));
    ENSURE(refused(MESH_TETGEN, "1 3\n1 0 0 0\n%1 10\n1 1 1 1 1 1 1 1 1 1 7\n",
                   "f:2: found \"7\", expected the number"));
    ENSURE(refused(MESH_TETGEN, "1 3\n1 0 0 0\n%0 4\n", "found no tet"));
}

/* ---- All of them ---------------------------------------------------------------------------- */

#define REST_PLY "element vertex 3\nproperty uchar x\nproperty uchar y\nproperty uchar z\nelement face 1\n" \
                 "property list uchar uchar vertex_index\nend_header\n"
/* What stands behind the last thing that a file announces is counted: such as a second file, or a count too small. */
static void test_rest(void)
{
    static const char lines[] = ", the first of them line ", tet[] = "4 3\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n";
    static const struct { mesh_format format; const char *text; int rest; const char *at; } list[] = {
        { MESH_OFF, "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n\n# nothing\n \032", 0, "" },
        { MESH_OFF, "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n\n3 2 1 0\n\n3 2 1 0", 2, "7" },
        { MESH_PLY, "ply\nformat ascii 1.0\n" REST_PLY "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n\n\n", 0, "" },
        { MESH_PLY, "ply\nformat ascii 1.0\n" REST_PLY "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 2 1 0\n", 1, "14" },
        { MESH_PLY, "ply\nformat binary_little_endian 1.0\n" REST_PLY "abcdefghi\3\1\2\1\n\n", 0, "" },
        { MESH_PLY, "ply\nformat binary_little_endian 1.0\n" REST_PLY "abcdefghi\3\1\2\1\3\2\1\2\n", 4, NULL } };
    char text[200];
    tool_mesh m;
    tool_error e;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        ENSURE(parse(&m, list[i].format, list[i].text, &e) && is(&m, 3, 1, 0, list[i].rest));
        ENSURE(passed(&m, list[i].at ? "line behind the last entry" : "byte behind the last entry") == list[i].rest);
        if (m.note_count && list[i].at)
            ENSURE(strncmp(m.note[0].such, lines, strlen(lines)) == 0 && !strcmp(m.note[0].such + strlen(lines), list[i].at));
        mesh_free(&m);
    }
    snprintf(text, sizeof text, "%s4 1 1 1\n%%1 4\n0 0 1 2 3\n# 1\n1 0 1 2 3\n", tet);
    ENSURE(parse(&m, MESH_TETGEN, text, &e) && is(&m, 4, 0, 1, 2) && passed(&m, "line behind the last entry") == 2);
    mesh_free(&m);
}

static void test_formats(void)
{
    tool_mesh m;
    tool_error e;
    ENSURE(mesh_format_of("a/b.OBJ") == MESH_OBJ && mesh_format_of("b.msh") == MESH_MSH
           && mesh_format_of("b.vtk") == MESH_VTK);
    ENSURE(mesh_format_of("b.stl") == MESH_STL && mesh_format_of("b.Ply") == MESH_PLY
           && mesh_format_of("x.y/b.off") == MESH_OFF && mesh_format_of("b.node") == MESH_TETGEN
           && mesh_format_of("b.ele") == MESH_TETGEN);
    ENSURE(mesh_format_of("b.stlx") == MESH_UNKNOWN && mesh_format_of("obj") == MESH_UNKNOWN
           && mesh_format_of("b.") == MESH_UNKNOWN);
    ENSURE(refused(MESH_OBJ, "\xff\xfev", "f: found text in UTF-16, expected ASCII or UTF-8"));
    ENSURE(!mesh_read(&m, "b.step", &e) && strstr(e.text, "b.step: found an unknown kind of file"));
    ENSURE(!mesh_read(&m, "no/such.obj", &e) && strstr(e.text, "no/such.obj: cannot be opened"));
    ENSURE(!mesh_read(&m, "no/such.ele", &e) && strstr(e.text, "no/such.node: cannot be opened"));
}

/* Random meshes survive writing and reading bit for bit. */
static void test_round_trips(void)
{
    for (int k = 0; k < 20; k++) {
        tool_mesh m, back;
        tool_error e;
        tool_text t = { NULL, 0, 0 };
        int triangles;
        memset(&m, 0, sizeof m);
        for (int i = 0; i < 12; i++) {
            double *x = mesh_add_node(&m);
            for (int j = 0; j < 3; j++) x[j] = test_uniform(-1, 1) * pow(10, test_uniform(-12, 12));
        }
        for (int i = 0; i < 5; i++) {
            int n[4];
            for (int j = 0; j < 4; j++) n[j] = (int)test_uniform(0, 12);
            if (k % 2) mesh_add_tet(&m, n);
            mesh_add_tri(&m, n[3], n[0], n[2]);
        }
        triangles = m.tri_count;
        if (k % 2) m.tri_count = 0;
        mesh_put_msh(&t, &m);
        ENSURE(mesh_parse(&back, MESH_MSH, "f", t.data, (size_t)t.length, &e));
        ENSURE(is(&back, 12, k % 2 ? 0 : 5, k % 2 ? 5 : 0, 0) && memcmp(back.x, m.x, 36 * sizeof *m.x) == 0);
        ENSURE(k % 2 ? memcmp(back.tet, m.tet, 20 * sizeof(int)) == 0 : memcmp(back.tri, m.tri, 15 * sizeof(int)) == 0);
        mesh_free(&back);
        m.tri_count = triangles;
        t.length = 0;
        mesh_put_obj(&t, "one\\", m.x, 12, m.tri, 5, 0);
        mesh_put_obj(&t, "two", m.x, 12, m.tri, 5, 12);
        ENSURE(mesh_parse(&back, MESH_OBJ, "f", t.data, (size_t)t.length, &e));
        ENSURE(back.node_count == 24 && back.tri_count == 10
               && memcmp(back.x + 36, m.x, 36 * sizeof *m.x) == 0);
        for (int i = 0; i < 15; i++) ENSURE(back.tri[i] == m.tri[i] && back.tri[15 + i] == m.tri[i] + 12);
        mesh_free(&back);
        mesh_free(&m);
        tool_text_free(&t);
    }
}

static int same_mesh(const tool_mesh *a, const tool_mesh *b)
{
    return is(a, b->node_count, b->tri_count, b->tet_count, passed(b, ""))
           && memcmp(a->x, b->x, 3 * (size_t)a->node_count * sizeof *a->x) == 0
           && (!a->tri_count || memcmp(a->tri, b->tri, 3 * (size_t)a->tri_count * sizeof *a->tri) == 0)
           && (!a->tet_count || memcmp(a->tet, b->tet, 4 * (size_t)a->tet_count * sizeof *a->tet) == 0);
}

/* Every text means the same with lines that end with CR LF or CR, behind a byte order mark, in front of zeros. */
static void test_line_ends(void)
{
    static const char *const end[] = { "\n", "\r\n", "\r" };
    mesh_seed seed[SEEDS];
    mesh_seeds(seed);
    for (int k = 0; k < SEED_TEXTS; k++)
        for (int w = 0; w < 3; w++) {
            tool_text t = { NULL, 0, 0 };
            tool_mesh plain, other;
            tool_error e;
            tool_put(&t, seed[k].format == MESH_TETGEN ? "" : "\xef\xbb\xbf");
            for (const char *p = seed[k].data; *p; p++)
                if (*p == '\n') tool_put(&t, "%s", end[w]);
                else if (*p != '\r') tool_put(&t, "%c", *p);
            tool_put(&t, "%s\x1a..", end[w]);
            memset(t.data + t.length - 2, 0, 2);
            ENSURE(seed_parse(&plain, seed[k].format, seed[k].data, seed[k].size, &e));
            e.text[0] = 0;
            ENSURE(seed_parse(&other, seed[k].format, t.data, (size_t)t.length, &e) && same_mesh(&plain, &other));
            if (e.text[0]) printf("  text %d, ends %d: %s\n", k, w, e.text);
            mesh_free(&plain);
            mesh_free(&other);
            tool_text_free(&t);
        }
}

/* The binary forms hold what the texts do, or what their makers say. */
static void test_binary_forms(void)
{
    static const struct { int seed, nodes, triangles, tets, passed; } form[] = {
        { 21, 4, 0, 1, 4 }, { 22, 5, 5, 0, 0 }, { 23, 4, 0, 1, 1 }, { 24, 4, 0, 1, 1 }, { 25, 4, 0, 1, 1 },
        { 26, 4, 0, 1, 1 }, { 27, 4, 0, 1, 1 }, { 28, 4, 0, 1, 1 } };
    static const int tet[] = { 0, 1, 2, 3 }, strip[] = { 0, 1, 2, 1, 3, 2, 1, 2, 4, 0, 1, 4, 0, 4, 2 };
    mesh_seed seed[SEEDS];
    mesh_seeds(seed);
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        const mesh_seed *s = &seed[form[i].seed];
        tool_mesh m;
        tool_error e;
        e.text[0] = 0;
        ENSURE(seed_parse(&m, s->format, s->data, s->size, &e));
        if (e.text[0]) printf("  seed %d: %s\n", form[i].seed, e.text);
        if (e.text[0]) continue;
        ENSURE(is(&m, form[i].nodes, form[i].triangles, form[i].tets, form[i].passed));
        for (int k = 0; k < 3 * m.node_count; k++) ENSURE(m.x[k] == seed_x[k / 3][k % 3]);
        if (m.tet_count) ENSURE(memcmp(m.tet, tet, sizeof tet) == 0);
        else ENSURE(m.tri_count == 5 && memcmp(m.tri, strip, sizeof strip) == 0);
        mesh_free(&m);
    }
}

/* Four bytes of a binary file, so far behind these words, become this number: then it is refused like this. */
static int refused_value(const mesh_seed *s, const char *words, size_t offset, int big, unsigned value,
                         const char *part)
{
    char *data = mutate_copy(s->data, s->size);
    size_t at = 0, length = strlen(words);
    tool_mesh m;
    tool_error e;
    int ok;
    while (at + length < s->size && memcmp(data + at, words, length) != 0) at++;
    for (size_t i = 0; i < 4; i++) data[at + length + offset + i] = (char)(value >> (big ? 24 - 8 * i : 8 * i));
    ok = mesh_parse(&m, s->format, "f", data, s->size, &e);
    free(data);
    if (!ok && strstr(e.text, part) && strncmp(e.text, "f: byte ", 8) == 0) return 1;
    printf("  %s + %d: %s (wanted %s)\n", words, (int)offset, ok ? "accepted" : e.text, part);
    mesh_free(&m);
    return 0;
}

static void test_binary_refusals(void)
{
    const unsigned most = 0x7fffffffu, not_a_number = 0x7fc00000u;
    mesh_seed seed[SEEDS];
    const mesh_seed *grid = seed + 21, *vtk_5 = seed + 23, *msh2 = seed + 24, *msh41 = seed + 26;
    mesh_seeds(seed);
    ENSURE(refused_value(grid, "float\n", 4, 1, not_a_number, "found nan, expected a finite coordinate"));
    ENSURE(refused_value(grid, "CELLS 3 14\n", 0, 1, most,
                         "found a cell of 2147483647 points, expected the 14 numbers"));
    ENSURE(refused_value(grid, "CELLS 3 14\n", 0, 1, 0x80000000u,
                         "found -2147483648, expected the number of a cell's"));
    ENSURE(refused_value(grid, "CELLS 3 14\n", 8, 1, 5, "found the point 5, expected an index below 5"));
    ENSURE(refused_value(grid, "CELL_TYPES 3\n", 0, 1, 24,
                         "found cell 0 of 4 points, expected 10 for cells of type 24"));
    ENSURE(refused_value(vtk_5, "OFFSETS vtktypeint64\n", 8, 1, 1, "found 4294967306, expected an offset"));
    ENSURE(refused_value(vtk_5, "OFFSETS vtktypeint64\n", 12, 1, 11,
                         "found the offset 11, expected offsets that rise"));
    ENSURE(refused_value(vtk_5, "CONNECTIVITY vtktypeint64\n", 4, 1, 0xffffffffu,
                         "found 4294967295, expected the index"));
    ENSURE(refused_value(msh2, "$Nodes\n4\n", 0, 0, 0, "found 0, expected a node: its number from 1"));
    ENSURE(refused_value(msh2, "$Nodes\n4\n", 0, 0, 2, "found node number 2 twice above"));
    ENSURE(refused_value(msh2, "$Nodes\n4\n", 8, 0, 0x7ff00000u, "found inf, expected a finite coordinate"));
    ENSURE(refused_value(msh2, "$Elements\n4\n", 0, 0, 77, "found elements of type 77, expected one whose number"));
    ENSURE(refused_value(msh2, "$Elements\n4\n", 4, 0, 5, "found 5, expected a number of elements, no more than"));
    ENSURE(refused_value(msh2, "$Elements\n4\n", 8, 0, most, "found the end of the file, expected tags"));
    ENSURE(refused_value(msh2, "$Elements\n4\n", 48, 0, 8, "found the node number 8, expected the number of a node"));
    ENSURE(refused_value(msh41, "$Nodes\n", 4, 0, 1, "found 4294967298, expected the number of blocks"));
    ENSURE(refused_value(msh41, "$Nodes\n", 12, 0, 0x80000000u, "expected the number of nodes"));
    ENSURE(refused_value(msh41, "$Nodes\n", 8, 0, 99999, "found a count of 99999, expected no more than"));
    ENSURE(refused_value(msh41, "$Nodes\n", 44, 0, 9, "found a block of 9 entries, expected at most 4"));
}

static void test_truncations(void)
{
    mesh_seed seed[SEEDS];
    mesh_seeds(seed);
    for (int k = 0; k < SEEDS; k++) {
        ENSURE(seed_try(seed[k].format, seed[k].data, seed[k].size));
        for (size_t n = 0; n < seed[k].size; n++) seed_try(seed[k].format, seed[k].data, n);
    }
    ENSURE(refused(MESH_MSH, MSH_HEAD MSH_NODES "$Elements\n1\n1 4 0 7 2 3 40\n", "expected $EndElements"));
}

static void test_mutations(void)
{
    mesh_seed seed[SEEDS];
    mesh_seeds(seed);
    for (int k = 0; k < SEEDS; k++) {
        int accepted = 0;
        for (int i = 0; i < 20000; i++) {
            size_t n;
            char *text = (k >= SEED_TEXTS && i % 2 ? mutate_values : mutate)(seed[k].data, seed[k].size, &n);
            accepted += seed_try(seed[k].format, text, n);
            free(text);
        }
        if (!(accepted > 100 && accepted < 19000)) printf("  seed %d: %d accepted\n", k, accepted);
        ENSURE(accepted > 100 && accepted < 19000);
    }
}

/* ---- DATA ----------------------------------------------------------------------------------- */

/* Bad files that the readers themselves must refuse, with the line. */
static void test_bad_data(void)
{
    static const struct { const char *file, *part;
    } bad[] = { { "bad/empty.obj", ":1: found 0 vertices and no face" },
                { "bad/no_faces.obj", "found 8 vertices and no face" },
                { "bad/index_out_of_range.obj", ":21: found vertex number 99" },
                { "bad/index_zero.obj", ":21: found \"0\"" },
                { "bad/inf_vertex.obj", ":7: found \"inf\"" },
                { "bad/nan_vertex.obj", ":7: found \"nan\"" },
                { "bad/tm_notenoughindices.obj", ":9: found the end of the line, expected a face of at least "
                                                 "3" },
                { "bad/tet_bad_index.msh", ":13: found \"7\"" },
                { "bad/truncated.msh", ":4: found the end of the file, expected the $End line" },
                { "bad/mj_22_missing_element.msh", "expected an element" },
                { "bad/mj_22_missing_node.msh", ":19: found \"$EndNodes\", expected a node" },
                { "bad/mj_22_missing_num_elements.msh", "expected the number of elements, alone on its "
                                                        "line" },
                { "bad/mj_22_missing_num_nodes.msh", ":5: found \"-0.5\", expected the number of nodes, "
                                                     "alone on its line" } };
    if (!test_data("bad/empty.obj")) SKIP("no DATA");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tool_mesh m;
        tool_error e;
        int ok = mesh_read(&m, test_data(bad[i].file), &e);
        ENSURE(!ok && strstr(e.text, bad[i].part));
        if (ok || !strstr(e.text, bad[i].part)) printf("  %s: %s\n", bad[i].file, ok ? "accepted" : e.text);
        mesh_free(&m);
    }
}

/* Good files have the sizes that DATA's list gives. */
static void test_good_data(void)
{
    static const struct { const char *file; int nodes, triangles, tets;
    } good[] = { { "scenes/squeeze_ball.msh", 325, 0, 1280 }, { "scenes/teddy.msh", 410, 0, 1207 },
                 { "scenes/bubble.obj", 42, 80, 0 },          { "surfaces/spot.obj", 2930, 5856, 0 },
                 { "fixtures/bowl.obj", 1321, 2560, 0 },      { "bad/tm_negative_indices.obj", 8, 12, 0 },
                 { "bad/tm_polygonfaces.obj", 5, 3, 0 },      { "bad/tm_nancolor.obj", 8, 12, 0 },
                 { "bad/huge_coords.obj", 8, 12, 0 } };
    if (!test_data("bad/empty.obj")) SKIP("no DATA");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        tool_mesh m;
        tool_error e;
        e.text[0] = 0;
        ENSURE(mesh_read(&m, test_data(good[i].file), &e));
        ENSURE(m.node_count == good[i].nodes && m.tet_count == good[i].tets
               && (good[i].tets || m.tri_count == good[i].triangles));
        if (m.node_count != good[i].nodes) printf("  %s: %s\n", good[i].file, e.text);
        mesh_free(&m);
    }
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(obj);
    RUN(obj_concave);
    RUN(comments);
    RUN(obj_refusals);
    RUN(msh);
    RUN(msh_skipped);
    RUN(msh_groups);
    RUN(msh_refusals);
    RUN(msh4);
    RUN(msh4_refusals);
    RUN(vtk);
    RUN(vtk_refusals);
    RUN(stl);
    RUN(stl_refusals);
    RUN(ply);
    RUN(ply_cr);
    RUN(ply_lists);
    RUN(ply_refusals);
    RUN(off);
    RUN(off_counts);
    RUN(off_refusals);
    RUN(tetgen);
    RUN(tetgen_refusals);
    RUN(rest);
    RUN(formats);
    RUN(line_ends);
    RUN(binary_forms);
    RUN(binary_refusals);
    RUN(round_trips);
    RUN(truncations);
    RUN(mutations);
    RUN(bad_data);
    RUN(good_data);
    return test_end(__FILE__);
}
