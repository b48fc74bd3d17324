/* Separating what overlaps: pairs of known depth, and a hundred scenes by chance, each judged by a world. */
#include "../tools/system.c"   /* first: it asks libc for POSIX */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include "test.h"
#include "../tools/common.c"
#include "../tools/json.c"
#include "tool_meshio.h"
#include "tool_place.h"
#include "../tools/shapes.c"
#include "../tools/scene.c"
#include "../tools/output.c"
#include "../tools/doctor.c"

enum { MOST = 8 };
static shape_mesh mesh[MOST];
static embipc_movable body[MOST];
static double gap[MOST * MOST];
static embipc_movement movement[MOST];
static embipc_overlap list[MOST * MOST];
static int count, found;
static embipc_error error;

static void clear(void)
{
    for (int i = 0; i < count; i++) shape_free(&mesh[i]);
    count = 0;
}
/* takes mesh[count] in, turned by degrees and moved to p */
static void put(double x, double y, double z, double ax, double ay, double az, int fixed)
{
    double R[9], angle[3], p[3];
    shape_mesh *m = &mesh[count];
    angle[0] = ax; angle[1] = ay; angle[2] = az;
    scene_rotation(R, angle);
    for (int i = 0; i < m->node_count; i++) {
        embi_m3_mulv(p, R, m->x + 3 * i);
        m->x[3 * i] = p[0] + x;
        m->x[3 * i + 1] = p[1] + y;
        m->x[3 * i + 2] = p[2] + z;
    }
    body[count].x = m->x;
    body[count].vertex_count = m->node_count;
    body[count].tri = m->tri;
    body[count].tri_count = m->tri_count;
    body[count++].fixed = fixed;
}
static void box(double sx, double sy, double sz, double x, double y, double z, int fixed)
{
    double size[3];
    size[0] = sx; size[1] = sy; size[2] = sz;
    ENSURE(shape_box(&mesh[count], size, 0, 0, NULL));
    put(x, y, z, 0, 0, 0, fixed);
}
static embipc_result separate(double g)
{
    for (int i = 0; i < count * count; i++) gap[i] = g;
    return embipc_separate(body, count, gap, movement, list, MOST * MOST, &found, &error);
}
static double moved(int i) { return embi_norm(movement[i].shift); }
static double moved_in_all(void)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += moved(i);
    return sum;
}
/* a world takes all bodies where they are now */
static int accepted(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w;
    int ok = embipc_world_create(&wd, &w, NULL) == EMBIPC_OK;
    for (int i = 0; ok && i < count; i++) {
        embipc_body_def d = embipc_default_body_def();
        embipc_body handle;
        d.kind = body[i].fixed ? EMBIPC_FIXED : EMBIPC_AFFINE;
        d.x = body[i].x;
        d.vertex_count = body[i].vertex_count;
        d.triangles = body[i].tri;
        d.triangle_count = body[i].tri_count;
        memcpy(d.rotation, movement[i].rotation, sizeof d.rotation);
        embi_m3_mulv(d.position, d.rotation, movement[i].centre);   /* R (x - c) + c + shift */
        for (int k = 0; k < 3; k++)
            d.position[k] = movement[i].centre[k] + movement[i].shift[k] - d.position[k];
        ok = embipc_body_create(w, &d, &handle) == EMBIPC_OK;
        if (!ok) printf("  world: %s\n", embipc_world_error(w)->text);
    }
    embipc_world_destroy(w);
    return ok;
}

static void test_boxes(void)
{
    box(0.1, 0.1, 0.1, 0, 0, 0, 0);
    box(0.1, 0.1, 0.1, 0.09, 0.003, 0.002, 0);
    ENSURE(!embipc_separate(body, 2, gap, movement, NULL, 0, &found, NULL) && found == 0);   /* gap 0: no pair */
    ENSURE(separate(1e-4) == EMBIPC_OK && found == 1 && list[0].kind == EMBIPC_OVERLAP_CROSS && list[0].parted);
    ENSURE_REL(list[0].depth, 0.01, 0.01);
    ENSURE(moved_in_all() < 0.0101 * 1.01 && moved_in_all() > 0.0101 * 0.999);
    ENSURE_REL(moved(0), moved(1), 1e-6);
    ENSURE(accepted());
    body[1].fixed = 1;
    ENSURE(separate(1e-4) == EMBIPC_OK && moved(0) > 0.01 && moved(1) <= 0 && accepted());
    body[0].fixed = 1;
    ENSURE(separate(1e-4) == EMBIPC_ERR_INTERSECTION && moved_in_all() <= 0 && !list[0].parted);
    ENSURE(error.index[0] == 0 && error.index[1] == 1);
    clear();
}
static void test_inside(void)
{
    box(0.2, 0.2, 0.2, 0, 0, 0, 1);
    ENSURE(shape_sphere(&mesh[count], 0.02, 6, 0, NULL));
    put(0.05, 0, 0, 0, 0, 0, 0);
    ENSURE(separate(1e-4) == EMBIPC_OK && found == 1 && list[0].kind == EMBIPC_OVERLAP_INSIDE);
    ENSURE_REL(list[0].depth, 0.07, 0.02);
    ENSURE(moved(0) <= 0 && moved(1) < 0.0715 && accepted());
    clear();
}
static void test_stack(void)
{
    box(1, 1, 0.1, 0, 0, -0.05, 1);
    for (int k = 0; k < 3; k++) box(0.1, 0.1, 0.1, 0.003 * k, 0.002 * k, 0.045 + 0.093 * k, 0);
    ENSURE(separate(1e-4) == EMBIPC_OK && found == 3 && moved(0) <= 0 && accepted());
    printf("  stack: %.4g, %.4g, %.4g m (least 0.0051, 0.0122, 0.0193)\n", moved(1), moved(2), moved(3));
    ENSURE(moved_in_all() < 0.06);
    clear();
}
/* linked: thin rings that clear each other are sound; fat ones that cannot are impossible */
static void test_rings(void)
{
    ENSURE(shape_torus(&mesh[count], 0.05, 0.008, 12, 0, NULL));
    put(0, 0, 0, 0, 0, 0, 0);
    ENSURE(shape_torus(&mesh[count], 0.05, 0.008, 12, 0, NULL));
    put(0.05, 0, 0, 90, 0, 0, 0);
    ENSURE(separate(1e-4) == EMBIPC_OK && found == 0 && moved_in_all() <= 0 && accepted());
    clear();
    ENSURE(shape_torus(&mesh[count], 0.05, 0.03, 12, 0, NULL));
    put(0, 0, 0, 0, 0, 0, 0);
    ENSURE(shape_torus(&mesh[count], 0.05, 0.03, 12, 0, NULL));
    put(0.05, 0, 0, 90, 0, 0, 0);
    ENSURE(separate(1e-4) == EMBIPC_ERR_INTERSECTION && list[0].linked && !list[0].parted);
    ENSURE(moved_in_all() <= 0);
    printf("  fat linked rings: %.4g m, %s\n", list[0].depth, error.text);
    clear();
}

/* What a scene of this kind is made of; returns how many bodies. */
static void generate(int kind)
{
    int n = 2 + (int)(4 * test_random());
    if (kind == 4) {   /* interlocked: the tube is thicker than the hole */
        for (int i = 0; i < 2; i++) {
            ENSURE(shape_torus(&mesh[count], 0.05, 0.029, 12, 0, NULL));
            put(i * test_uniform(0.045, 0.055), test_uniform(-0.005, 0.005), 0, 90.0 * i + test_uniform(-15, 15),
                test_uniform(-15, 15), 0, 0);
        }
        return;
    }
    box(1, 1, 0.1, 0, 0, -0.05, 1);
    for (int i = 0; i < n; i++) {
        double x = 0.07 * i, y = test_uniform(-0.03, 0.03), z = test_uniform(0.02, 0.08), turn = 180;
        double size[3];
        for (int k = 0; k < 3; k++) size[k] = test_uniform(0.05, 0.12);
        if (kind == 0) ENSURE(shape_box(&mesh[count], size, 0, 0, NULL));
        else if (kind == 1) ENSURE(shape_sphere(&mesh[count], size[0] / 2, 8, 0, NULL));
        else if (kind == 2) ENSURE(shape_bear(&mesh[count], 4, 0, NULL));
        else ENSURE(shape_torus(&mesh[count], 0.05, 0.012, 12, 0, NULL));
        if (kind >= 2) turn = 10;
        put(x, y, z, test_uniform(-turn, turn), test_uniform(-turn, turn), test_uniform(-turn, turn), 0);
    }
}

static void test_hundred(void)
{
    static const char *const name[5] = {"boxes", "balls", "bears", "rings beside", "rings interlocked"};
    for (int kind = 0; kind < 5; kind++) {
        int mended = 0, pairs = 0;
        double total = 0, deep = 0;
        for (int k = 0; k < 20; k++) {
            embipc_result r;
            for (;; clear()) {   /* until some overlap */
                generate(kind);
                r = separate(1e-4);
                if (found > 0) break;
            }
            pairs += found;
            for (int i = 0; i < found; i++) deep += list[i].depth;
            if (r == EMBIPC_OK) {
                mended++;
                total += moved_in_all();
                ENSURE(accepted());
                ENSURE(body[0].fixed == 0 || moved(0) <= 0);
            } else ENSURE(r == EMBIPC_ERR_INTERSECTION);
            if (kind == 4) ENSURE(r == EMBIPC_ERR_INTERSECTION && list[0].linked);
            clear();
        }
        printf("  %-18s %2d of 20 mended; %3d pairs, depths %.3f m in all, moved %.3f m\n", name[kind], mended, pairs,
               deep, total);
        if (kind < 3) ENSURE(mended >= 18);
    }
}

static const char *place(const char *name) { return tool_place("test_doctor", name); }
/* the command: what it says is discarded, its exit code and file are not */
static void test_command(void)
{
    static const char scene_text[] =
        "{\"version\": 1, \"bodies\": [\n"
        "  {\"name\": \"floor\", \"kind\": \"fixed\", \"shape\": \"plane\"},\n"
        "  {\"name\": \"a\", \"kind\": \"affine\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1]},\n"
        "  {\"name\": \"b ]\", \"position\": [ 0.09, 0,0.2 ], \"kind\": \"affine\", \"shape\": \"box\", "
        "\"size\": [0.1, 0.1, 0.1]}\n]}\n";
    doctor_options o;
    tool_text t = {NULL, 0, 0};
    tool_error e;
    size_t size;
    char *after;
    memset(&o, 0, sizeof o);
    o.scene = place("scene.json");
    o.out = place("fixed.json");
    o.report = tmpfile();
    o.errors = o.report;
    tool_put(&t, "%s", scene_text);
    ENSURE(output_file(o.scene, &t, &e));
    remove(o.out);
    ENSURE(doctor_scene(&o) == 0);
    after = tool_read_file(o.out, JSON_MAX_BYTES, &size, &e);
    ENSURE(after && strstr(after, "{ \"position\": [0, 0, 0.050") && strstr(after, "\"b ]\", \"position\": [ 0.09, 0,0.2 ]"));
    free(after);
    o.scene = o.out;
    o.out = NULL;
    ENSURE(doctor_scene(&o) == 0);   /* sound by now */
    o.scene = "no such file";
    ENSURE(doctor_scene(&o) == 2);
    tool_text_free(&t);
    fclose(o.report);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(boxes);
    RUN(inside);
    RUN(stack);
    RUN(rings);
    RUN(hundred);
    RUN(command);
    return test_end("test_doctor");
}
