/* The mesh readers and writers of the tool: round trips, the line and words of every refusal, the bad files
 * of DATA, and that neither a cut nor a damaged file makes a reader leave its text. */
#include "test.h"
#include "test_tool_mutate.h"
#include "../tools/common.c"
#include "../tools/meshio.c"

static int parse(tool_mesh *m, mesh_format format, const char *text, tool_error *e)
{
    char *copy = mutate_copy(text, strlen(text));
    int ok = mesh_parse(m, format, "f", copy, strlen(text), e);
    free(copy);
    return ok;
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

static const char obj[] = "# a square pyramid\nmtllib a.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\r\nv 1 1 0 0.5 "
                          "0.5 nan\nvt 0 0\nvn 0 0 1\n"
                          "v 0 1 0 # a comment\n\tv .5 5e-1 1.\ns off\nusemtl m\nf 4 3 2 1\nf 1/1 2/1 5/1\nf "
                          "-4//1 -3//1 -1//1\nf 3/1/1 4/1/1 \\\n5/1/1\nf 4// 1// 5//\n";

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
    ENSURE(refused(MESH_OBJ, "\x89PNG\r\n", "f:1: found "));
    ENSURE(refused(MESH_OBJ, "v 0 0 0 \\\n\nf 1 \\\n1\n", "f:4: found the end of the line"));
}

/* ---- Gmsh ----------------------------------------------------------------------------------- */

#define MSH_HEAD "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define MSH_NODES "$Nodes\n4\n7 0 0 0\n2 1 0 0\n3 0 1 0\n40 0 0 1\n$EndNodes\n"
static const char msh[] = MSH_HEAD "$PhysicalNames\n1\n2 1 \"a b\"\n$EndPhysicalNames\n" MSH_NODES
                                   "$Elements\n4\n1 15 2 0 1 7\n2 2 2 0 1 7 2 3\n3 4 2 0 1 7 2 3 40\n4 1 0 7 "
                                   "2\n$EndElements\n$NodeData\n1\n$EndNodeData\n";

static void test_msh(void)
{
    static const int tet[] = { 0, 1, 2, 3 };
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_MSH, msh, &e));
    ENSURE(m.node_count == 4 && m.tri_count == 1 && m.tet_count == 1);
    ENSURE(m.tet_count == 1 && memcmp(m.tet, tet, sizeof tet) == 0
           && memcmp(m.tri, tet, 3 * sizeof *tet) == 0);
    ENSURE(m.node_count == 4 && m.x[11] == 1);
    mesh_free(&m);
}

static void test_msh_refusals(void)
{
    ENSURE(refused(MESH_MSH, "", "f:1: found the end of the file, expected $MeshFormat"));
    ENSURE(refused(MESH_MSH, "$MeshFormat\n4.1 0 8\n", "f:2: found \"4.1\", expected version 2.2"));
    ENSURE(refused(MESH_MSH, "$MeshFormat\n2.2 1 8\n", "f:2: found a binary file, expected ASCII"));
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
                   "found 4 nodes and 1 elements of other types"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "$Extra\n1\n2", "expected the $End line of this section"));
    ENSURE(refused(MESH_MSH, MSH_HEAD MSH_NODES MSH_NODES, "f:11: found a second $Nodes"));
    ENSURE(refused(MESH_MSH, MSH_HEAD "hello\n", "f:4: found \"hello\", expected a section"));
}

/* ---- VTK ------------------------------------------------------------------------------------ */

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

static void test_vtk(void)
{
    static const int tri[] = { 1, 2, 4, 0, 1, 4, 0, 4, 2 }, fan[] = { 0, 1, 2, 0, 1, 4, 0, 4, 2 };
    tool_mesh m;
    tool_error e;
    ENSURE(parse(&m, MESH_VTK, vtk, &e));
    ENSURE(m.node_count == 5 && m.tet_count == 1 && m.tri_count == 3 && memcmp(m.tri, tri, sizeof tri) == 0);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_VTK, vtk5, &e));
    ENSURE(m.node_count == 4 && m.tet_count == 1 && m.tri_count == 0 && m.tet[3] == 3);
    mesh_free(&m);
    ENSURE(parse(&m, MESH_VTK, poly, &e));
    ENSURE(m.node_count == 5 && m.tet_count == 0 && m.tri_count == 3 && memcmp(m.tri, fan, sizeof fan) == 0);
    mesh_free(&m);
}

static void test_vtk_refusals(void)
{
    ENSURE(refused(MESH_VTK, "", "f:1: found no legacy VTK header"));
    ENSURE(refused(MESH_VTK, "# vtk DataFile Version 3.0\nx\nBINARY\n",
                   "f:3: found \"BINARY\", expected ASCII"));
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
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n",
                   "f:11: found 2 cell types, expected 1"));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n5\n",
                   "f:10: found a cell of 4 points, expected 3"));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n",
                   "found 5 points and no triangle or tet"));
    ENSURE(refused(MESH_VTK, VTK_HEAD "TRIANGLE_STRIPS 1 4\n", "f:5: found \"TRIANGLE_STRIPS\""));
    ENSURE(refused(MESH_VTK, VTK_HEAD VTK_POINTS "CELLS 2 4\nOFFSETS a\n0 5\nCONNECTIVITY a\n0 1 2 3\n",
                   "found the offset 5, expected offsets that rise"));
}

/* ---- All of them ---------------------------------------------------------------------------- */

static void test_formats(void)
{
    tool_mesh m;
    tool_error e;
    ENSURE(mesh_format_of("a/b.OBJ") == MESH_OBJ && mesh_format_of("b.msh") == MESH_MSH
           && mesh_format_of("b.vtk") == MESH_VTK);
    ENSURE(mesh_format_of("b.stl") == MESH_UNKNOWN && mesh_format_of("obj") == MESH_UNKNOWN
           && mesh_format_of("b.") == MESH_UNKNOWN);
    ENSURE(!mesh_read(&m, "b.stl", &e) && strstr(e.text, "b.stl: found an unknown kind of file"));
    ENSURE(!mesh_read(&m, "no/such.obj", &e) && strstr(e.text, "no/such.obj: cannot be opened"));
}

/* Random meshes survive writing and reading bit for bit. */
static void test_round_trips(void)
{
    for (int k = 0; k < 20; k++) {
        tool_mesh m, back;
        tool_error e;
        tool_text t = { NULL, 0, 0 };
        memset(&m, 0, sizeof m);
        for (int i = 0; i < 12; i++) {
            double *x = mesh_add_node(&m);
            for (int j = 0; j < 3; j++) x[j] = test_uniform(-1, 1) * pow(10, test_uniform(-12, 12));
        }
        for (int i = 0; i < 5; i++) {
            int n[4];
            for (int j = 0; j < 4; j++) n[j] = (int)test_uniform(0, 12);
            mesh_add_tet(&m, n);
            mesh_add_tri(&m, n[3], n[0], n[2]);
        }
        mesh_put_msh(&t, &m);
        ENSURE(mesh_parse(&back, MESH_MSH, "f", t.data, (size_t)t.length, &e));
        ENSURE(back.node_count == 12 && back.tri_count == 5 && back.tet_count == 5);
        ENSURE(memcmp(back.x, m.x, 36 * sizeof *m.x) == 0 && memcmp(back.tet, m.tet, 20 * sizeof(int)) == 0);
        ENSURE(memcmp(back.tri, m.tri, 15 * sizeof(int)) == 0);
        mesh_free(&back);
        t.length = 0;
        mesh_put_obj(&t, "one", m.x, 12, m.tri, 5, 0);
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

static const struct { mesh_format format; const char *text; } sample[] = {
    { MESH_OBJ, obj }, { MESH_MSH, msh }, { MESH_VTK, vtk }, { MESH_VTK, vtk5 }, { MESH_VTK, poly }
};
enum { SAMPLES = sizeof sample / sizeof *sample };

/* What a reader lets through has indices in range, whatever happened to the text. */
static void check_accepted(const tool_mesh *m)
{
    ENSURE(m->tri_count + m->tet_count > 0);
    for (int i = 0; i < 3 * m->tri_count; i++) ENSURE(m->tri[i] >= 0 && m->tri[i] < m->node_count);
    for (int i = 0; i < 4 * m->tet_count; i++) ENSURE(m->tet[i] >= 0 && m->tet[i] < m->node_count);
    for (int i = 0; i < 3 * m->node_count; i++) ENSURE(m->x[i] - m->x[i] == 0);
}

static int try_text(mesh_format format, const char *text, size_t size)
{
    tool_mesh m;
    tool_error e;
    int ok = mesh_parse(&m, format, "f", text, size, &e);
    if (ok) check_accepted(&m);
    else ENSURE(strncmp(e.text, "f:", 2) == 0 && strstr(e.text, "found") && strstr(e.text, "expected"));
    mesh_free(&m);
    return ok;
}

static void test_truncations(void)
{
    for (int k = 0; k < SAMPLES; k++)
        for (size_t n = 0; n < strlen(sample[k].text); n++) {
            char *copy = mutate_copy(sample[k].text, n);
            try_text(sample[k].format, copy, n);
            free(copy);
        }
    ENSURE(refused(MESH_MSH, MSH_HEAD MSH_NODES "$Elements\n1\n1 4 0 7 2 3 40\n", "expected $EndElements"));
}

static void test_mutations(void)
{
    for (int k = 0; k < SAMPLES; k++) {
        int accepted = 0;
        for (int i = 0; i < 20000; i++) {
            size_t n;
            char *text = mutate(sample[k].text, strlen(sample[k].text), &n);
            accepted += try_text(sample[k].format, text, n);
            free(text);
        }
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
    RUN(obj_refusals);
    RUN(msh);
    RUN(msh_refusals);
    RUN(vtk);
    RUN(vtk_refusals);
    RUN(formats);
    RUN(round_trips);
    RUN(truncations);
    RUN(mutations);
    RUN(bad_data);
    RUN(good_data);
    return test_end(__FILE__);
}
