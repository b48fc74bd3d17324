/* `embipc check`: what it says and does about sound and broken meshes; a documented answer for every bad file
 * of DATA. */
#include "../tools/system.h"
#include "../embipc.h"
#include "meshio_test.h"
#include "../tools/common.h"
#include "../tools/meshio.h"
#include "tool_place.h"
#include "../tools/mend.h"
#include "../tools/check.h"
#include "check_run.h"

/* a file of this test's own */
static const char *place(const char *name) { return tool_place("test_tool_check", name); }

static void write_text(const char *path, const tool_text *t)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(t->data, 1, (size_t)t->length, f) != (size_t)t->length || fclose(f)) exit(2);
}

static const char *write_obj(const test_mesh *s)
{
    tool_text t = { NULL, 0, 0 };
    const char *path = place("in.obj");
    mesh_put_obj(&t, "x", s->x, s->vertex_count, s->tri, s->tri_count, 0);
    write_text(path, &t);
    tool_text_free(&t);
    return path;
}

static test_mesh box(void) { return test_mesh_box(0, 0, 0, 2, 1, 1); }

static void test_sound(void)
{
    test_mesh s = box();
    ENSURE(check_run(write_obj(&s), NULL, -1, -1) == 0);
    ENSURE(check_says("8 vertices, 12 triangles") && check_says("size        2 x 1 x 1 m, diagonal 2.4495 m"));
    ENSURE(check_says("closed      yes") && check_says("manifold    yes") && check_says("outward"));
    ENSURE(check_says("parts       1, 1 closed"));
    ENSURE(check_says("elements    none") && check_says("crossings   none, by exact arithmetic"));
    ENSURE(check_says("edges       shortest 1 m") && check_says("gap         0.6667 m") && check_says("dhat        0.0024 m"));
    ENSURE(check_says("volume 2 m^3, 2000 kg at 1000 kg/m^3, centre (1, 0.5, 0.5)"));
    ENSURE(check_says("inertia xx 333.3, yy 833.3, zz 833.3") && check_says("verdict     can be simulated as a solid"));
    for (int i = 0; i < 24; i++) s.x[i] *= 1000;
    ENSURE(check_run(write_obj(&s), NULL, -1, -1) == 0 && check_says("is it millimetres"));
    for (int i = 0; i < 24; i++) s.x[i] += i % 3 ? 0 : 1e12;
    ENSURE(check_run(write_obj(&s), NULL, -1, -1) == 0 && check_says("far from the origin"));
    test_mesh_free(&s);
}

/* a plate of two walls 1e-4 apart: dhat follows the gap, down to a tenth of the usual one */
static void test_dhat(void)
{
    test_mesh s = test_mesh_box(0, 0, 0, 1, 1, 1e-3);
    ENSURE(check_run(write_obj(&s), NULL, -1, -1) == 0);
    ENSURE(check_says("gap         0.001 m") && check_says("dhat        0.0005 m suggested: half the gap"));
    test_mesh_free(&s);
    s = test_mesh_box(0, 0, 0, 1, 1, 1e-5);
    ENSURE(check_run(write_obj(&s), NULL, -1, -1) == 0);
    ENSURE(check_says("dhat        0.00014 m suggested: pairs nearer than that keep half of their distance"));
    test_mesh_free(&s);
}

static void test_cavity(void)
{
    test_mesh a = test_mesh_box(0, 0, 0, 4, 4, 4), b = test_mesh_box(1, 1, 1, 3, 3, 3);
    test_mesh s = test_mesh_make(16, 24, 0);
    memcpy(s.x, a.x, 24 * sizeof(double));
    memcpy(s.x + 24, b.x, 24 * sizeof(double));
    memcpy(s.tri, a.tri, 36 * sizeof(int));
    for (int i = 0; i < 36; i++) s.tri[36 + i] = 8 + b.tri[i / 3 * 3 + 2 - i % 3];
    ENSURE(check_run(write_obj(&s), NULL, -1, -1) == 0);
    ENSURE(check_says("parts       2, 2 closed, 1 of these cavities") && check_says("volume 56 m^3"));
    test_mesh_free(&a);
    test_mesh_free(&b);
    test_mesh_free(&s);
}

static void test_fix(void)
{
    test_mesh s = box();
    tool_mesh m;
    tool_error e;
    char out[1200];
    strcpy(out, place("out.msh"));
    s.tri_count = 10;   /* one side is missing: a hole of four edges */
    ENSURE(check_run(write_obj(&s), NULL, -1, -1) == 1);
    ENSURE(check_says("open        4 edges with one triangle only, in 1 border loop") && check_says("solid       none"));
    ENSURE(check_says("to mend it  --fix OUT does it:\n                filled 1 hole with 2 triangles\n"));
    ENSURE(check_run(write_obj(&s), NULL, -1, 3) == 1 && check_says("larger holes: --fill N"));
    ENSURE(check_run(write_obj(&s), out, -1, 3) == 1 && check_says("nothing to mend"));
    ENSURE(check_run(write_obj(&s), out, -1, -1) == 0 && check_says("mended into"));
    ENSURE(mesh_read(&m, out, &e) && m.tri_count == 12 && m.node_count == 8);
    mesh_free(&m);
    ENSURE(check_run(write_obj(&s), "/no/such/directory/x.obj", -1, -1) == 2 && check_says("cannot be written"));
    ENSURE(check_run(place("missing.obj"), NULL, -1, -1) == 2 && check_says("cannot be opened"));
    test_mesh_free(&s);
}

/* every triangle with its own corners, shaken by less than half the tolerance */
static void test_fix_soup(void)
{
    test_mesh s = test_mesh_sphere(2), soup = test_mesh_make(3 * s.tri_count, s.tri_count, 0);
    tool_mesh m;
    tool_error e;
    char out[1200];
    for (int i = 0; i < 3 * s.tri_count; i++) {
        soup.tri[i] = i;
        for (int k = 0; k < 3; k++) soup.x[3 * i + k] = s.x[3 * s.tri[i] + k] + test_uniform(-1e-4, 1e-4);
    }
    strcpy(out, place("out.obj"));
    ENSURE(check_run(write_obj(&soup), out, -1, -1) == 1);
    ENSURE(check_run(write_obj(&soup), out, 1e-3, -1) == 0);
    ENSURE(check_says("merged 318 vertices on borders with others within 0.001 m") && check_says("dropped 318 unused"));
    ENSURE(mesh_read(&m, out, &e) && m.node_count == s.vertex_count && m.tri_count == s.tri_count);
    mesh_free(&m);
    test_mesh_free(&s);
    test_mesh_free(&soup);
}

/* Vertices of one side that lie on an edge of the other one, where files were cut at different places: 1 to 3 on an edge,
 * also turned, so that they lie beside it by rounding. The crack is closed without triangles of no area. */
static void test_fix_cracks(void)
{
    for (int k = 0; k < 6; k++) {
        const int more = 1 + k % 3;
        test_mesh b = box(), s = test_mesh_make(8 + more, 12 + more, 0);
        char out[1200];
        tool_mesh m;
        tool_error e;
        int *last = s.tri + 3 * (11 + more), corner[3];
        memcpy(s.x, b.x, 24 * sizeof *s.x);
        memcpy(s.tri, b.tri, 36 * sizeof *s.tri);
        memcpy(corner, s.tri, sizeof corner);
        for (int i = 0; i <= more; i++) {   /* a fan instead of the first triangle */
            int *to = i ? last - 3 * (i - 1) : s.tri;
            to[0] = i ? 7 + i : corner[0];
            to[1] = i < more ? 8 + i : corner[1];
            to[2] = corner[2];
            for (int c = 0; c < 3 && i; c++)
                s.x[3 * (7 + i) + c] = b.x[3 * corner[0] + c] + i / (more + 1.0) * (b.x[3 * corner[1] + c] - b.x[3 * corner[0] + c]);
        }
        for (int i = 0; i < 3 * s.vertex_count && k > 2; i += 3) {
            double x = s.x[i], y = s.x[i + 1];
            s.x[i] = 0.8 * x - 0.6 * y + 0.1 * s.x[i + 2];
            s.x[i + 1] = 0.6 * x + 0.8 * y - 0.3 * s.x[i + 2];
        }
        strcpy(out, place("out.obj"));
        ENSURE(check_run(write_obj(&s), NULL, -1, -1) == 1 && check_says("in 1 border loop"));
        ENSURE(check_run(write_obj(&s), out, -1, -1) == 0 && check_says("without area into a neighbour"));
        if (mesh_read(&m, out, &e)) {
            for (int kind = 0; kind < EMBIPC_FAULT_UNUSED; kind++)
                ENSURE(embipc_surface_faults(m.x, m.node_count, m.tri, m.tri_count, (embipc_fault_kind)kind, NULL, 0) == 0);
            ENSURE(m.node_count == 8 + more && m.tri_count == 12 + 2 * more);
            mesh_free(&m);
        } else ENSURE(!"read");
        test_mesh_free(&b);
        test_mesh_free(&s);
    }
}

static void test_tets(void)
{
    test_mesh s = test_mesh_tet_grid(2, 1, 1);
    const char *path = place("in.msh"), *out = place("out.msh");
    tool_mesh m;
    tool_text t = { NULL, 0, 0 };
    memset(&m, 0, sizeof m);
    m.x = s.x;
    m.node_count = s.vertex_count;
    m.tet = s.tets;
    m.tet_count = s.tet_count;
    s.tets[4] ^= s.tets[5]; s.tets[5] ^= s.tets[4]; s.tets[4] ^= s.tets[5];
    mesh_put_msh(&t, &m);
    write_text(path, &t);
    tool_text_free(&t);
    ENSURE(check_run(path, NULL, -1, -1) == 1 && check_says("12 nodes, 12 tets, boundary of") && check_says("1 tet inverted"));
    ENSURE(check_run(path, place("out.obj"), -1, -1) == 2 && check_says("expected one ending with .msh for tets"));
    ENSURE(check_run(path, out, -1, -1) == 0);
    ENSURE(check_says("swapped two nodes of 1 inverted tet") && check_says("volume 2 m^3"));
    test_mesh_free(&s);
}

/* TetGen's two files, by the name of either; and what a mixed mesh leaves out is check_said */
static void test_files(void)
{
    static const char node[] = "4 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", ele[] = "1 4\n1 1 2 3 4\n";
    static const char hexa[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n"
                               "4 0 0 1\n$EndNodes\n$Elements\n2\n1 4 0 1 2 3 4\n2 5 0 1 2 3 4 1 2 3 4\n"
                               "$EndElements\n";
    tool_text t = { NULL, 0, 0 };
    tool_put(&t, "%s", node);
    write_text(place("pair.node"), &t);
    t.length = 0;
    tool_put(&t, "%s", ele);
    write_text(place("pair.ele"), &t);
    ENSURE(check_run(place("pair.node"), NULL, -1, -1) == 0 && check_says("4 nodes, 1 tet,"));
    ENSURE(check_run(place("pair.ele"), NULL, -1, -1) == 0 && check_says("4 nodes, 1 tet,"));
    t.length = 0;
    tool_put(&t, "%s", hexa);
    write_text(place("hexa.msh"), &t);
    ENSURE(check_run(place("hexa.msh"), NULL, -1, -1) == 0 && check_says("not read    1 hexahedron\n"));
    ENSURE(check_run(place("hexa.msh"), place("out.msh"), -1, -1) == 0);
    ENSURE(check_says("not read") && !strstr(strstr(check_said, "not read") + 1, "not read"));   /* once, not of what was written */
    tool_text_free(&t);
}

/* Random triangles and tets over few points: always an answer, and what --fix writes gets the same again. */
static void test_rubble(void)
{
    for (int k = 0; k < 200; k++) {
        int tets = k % 2, corners = tets ? 4 : 3, n = 1 + (int)(20 * test_random()), code, points;
        test_mesh s = test_mesh_make(4 + (int)(6 * test_random()), n, tets ? n : 0);
        const char *in = place("rubble.msh"), *out = place("out.msh");
        tool_text t = { NULL, 0, 0 };
        tool_mesh m;
        points = s.vertex_count;
        for (int i = 0; i < 3 * points; i++) s.x[i] = k % 4 < 2 ? floor(test_uniform(0, 3)) : test_random();
        for (int i = 0; i < corners * n; i++) (tets ? s.tets : s.tri)[i] = (int)(points * test_random());
        memset(&m, 0, sizeof m);
        m.x = s.x;
        m.node_count = points;
        m.tri = s.tri;
        m.tri_count = tets ? 0 : n;
        m.tet = s.tets;
        m.tet_count = tets ? n : 0;
        mesh_put_msh(&t, &m);
        write_text(in, &t);
        tool_text_free(&t);
        code = check_run(in, NULL, -1, -1);
        ENSURE(code == 0 || code == 1);
        code = check_run(in, out, -1, -1);
        if (code < 2) ENSURE(check_run(out, NULL, -1, -1) == code);
        else ENSURE(check_says("nothing is left"));
        test_mesh_free(&s);
    }
}

/* ---- DATA ---- */

/* Every bad file: exit code of check, words of its answer, and exit code of --fix. */
static void test_bad_data(void)
{
    static const struct { const char *file; int code; const char *part; int fixed; } bad[] = {
        { "degenerate_tri.obj", 1, "2 triangles with a vertex twice, such as 12", 0 },
        { "drake_bad_geometry_volume_zero.obj", 1, "6 edges whose triangles disagree", 0 },
        { "drake_one_negative_tet.msh", 1, "1 tet inverted, such as 0", 0 },
        { "drake_two_inverted_faces.obj", 1, "8 edges with one triangle only, in 2 border loops", 1 },
        { "dup_vertices.obj", 1, "merged 3 vertices on borders", 0 },
        { "empty.obj", 2, "found 0 vertices and no face", 2 },
        { "flat_closed.obj", 1, "remodel it: it is nothing but faults", 2 },
        { "flat_tet.msh", 1, "1 tet flat", 1 },
        { "huge_coords.obj", 0, "far from the origin", 0 },
        { "index_out_of_range.obj", 2, ":21: found vertex number 99", 2 },
        { "index_zero.obj", 2, ":21: found \"0\"", 2 },
        { "inf_vertex.obj", 2, ":7: found \"inf\"", 2 },
        { "inside_out_cube.obj", 1, "1 closed part inside out", 0 },
        { "inverted_tet.msh", 1, "1 tet inverted, such as 0", 0 },
        { "mixed_orientation.obj", 1, "3 edges whose triangles disagree", 0 },
        { "mj_22_missing_element.msh", 2, ":46: found \"$EndElements\", expected an element", 2 },
        { "mj_22_missing_node.msh", 2, ":19: found \"$EndNodes\", expected a node", 2 },
        { "mj_22_missing_num_elements.msh", 2, ":22: found \"4\", expected the number of elements", 2 },
        { "mj_22_missing_num_nodes.msh", 2, ":5: found \"-0.5\", expected the number of nodes", 2 },
        { "nan_vertex.obj", 2, ":7: found \"nan\"", 2 },
        { "no_faces.obj", 2, "found 8 vertices and no face", 2 },
        { "nonmanifold_edge.obj", 1, "edge 1-5 of triangle 4, at (1, 0, 0.5)", 1 },
        { "open_cube.obj", 1, "3 edges with one triangle only, in 1 border loop", 0 },
        { "orphan_vertex.msh", 1, "1 unused vertex, such as 4", 0 },
        { "overlapping_tets.msh", 1, "1 tet overlapping a neighbour, on the same side of their face", 1 },
        { "sliver_tet.msh", 1, "1 tet flat", 1 },
        { "tet_bad_index.msh", 2, ":13: found \"7\"", 2 },
        { "tet_repeated_node.msh", 1, "1 tet with a vertex twice, such as 0", 2 },
        { "tiny_coords.obj", 0, "unusual for metres", 0 },
        { "tm_joined_tetrahedra.obj", 1, "dropped 2 elements on the same vertices as others", 0 },
        { "tm_multibody.obj", 1, "12 edges whose triangles disagree", 0 },
        { "tm_nancolor.obj", 0, "can be simulated", 0 },
        { "tm_negative_indices.obj", 0, "can be simulated", 0 },
        { "tm_notenoughindices.obj", 2, ":9: found the end of the line, expected a face of at least 3", 2 },
        { "tm_polygonfaces.obj", 1, "5 edges with one triangle only, in 1 border loop", 1 },
        { "tm_shared.obj", 1, "edge 6-7 of triangle 0, at (0.5, 0.5, 0)", 1 },
        { "tm_soup.obj", 1, "2496 pairs of edge and triangle that meet", 1 },
        { "truncated.msh", 2, ":4: found the end of the file, expected the $End line", 2 },
        { "two_cubes_overlap.obj", 1, "24 pairs of edge and triangle that meet", 1 },
        { "two_cubes_overlap_generic.obj", 1, "14 pairs of edge and triangle that meet", 1 },
        { "two_cubes_touching_face.obj", 1, "144 pairs of edge and triangle that meet", 1 },
        { "zero_area_collinear.obj", 1, "dropped 1 triangle without area", 0 },
    };
    if (!test_data("bad/empty.obj")) SKIP("no DATA");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char name[128], path[1024];
        int code, fixed;
        snprintf(name, sizeof name, "bad/%s", bad[i].file);
        snprintf(path, sizeof path, "%s", test_data(name));
        code = check_run(path, NULL, -1, -1);
        ENSURE(code == bad[i].code && check_says(bad[i].part));
        fixed = check_run(path, place("fixed.msh"), -1, -1);
        ENSURE(fixed == bad[i].fixed);
        if (code != bad[i].code || fixed != bad[i].fixed)
            printf("  %s: %d, not %d; with --fix %d, not %d\n", bad[i].file, code, bad[i].code, fixed,
                   bad[i].fixed);
    }
}

/* Real meshes: what the list of DATA says about them, and a CAD part whose seams are mended. */
static void test_real_data(void)
{
    static const struct { const char *file; int code; const char *part; } real[] = {
        { "scenes/teddy.obj", 0, "312 vertices, 620 triangles" },
        { "scenes/teddy.msh", 0, "410 nodes, 1207 tets, boundary of 620 triangles" },
        { "surfaces/spot.obj", 0, "2930 vertices, 5856 triangles" },
        { "fixtures/bowl.obj", 1, "80 edges with one triangle only" },
        { "fixtures/two-cubes-intersecting.obj", 1, "pairs of edge and triangle that meet" },
        { "fixtures/two-cubes-close.obj", 0, "parts       2, 2 closed" },
        { "surfaces/featuretype.obj", 1, "merged 288 vertices on borders" } };
    if (!test_data("bad/empty.obj")) SKIP("no DATA");
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        ENSURE(check_run(test_data(real[i].file), NULL, -1, -1) == real[i].code && check_says(real[i].part));
    ENSURE(check_run(test_data("surfaces/featuretype.obj"), place("out.obj"), -1, -1) == 0);
}

int main(int argc, char **argv)
{
    test_unused();
    meshio_test_unused();
    test_begin(argc, argv);
    RUN(sound);
    RUN(dhat);
    RUN(cavity);
    RUN(fix);
    RUN(fix_soup);
    RUN(fix_cracks);
    RUN(tets);
    RUN(files);
    RUN(rubble);
    RUN(bad_data);
    RUN(real_data);
    return test_end(__FILE__);
}
