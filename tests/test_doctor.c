/* Parting what overlaps: pairs of known depth, links, turns, lack of memory, and a hundred scenes by chance, each
 * judged by a world. */
#include "../tools/system.h"
#include "inside.h"
#include "test.h"
#include "branch.h"

/* The header's memory, counted, and refused where a test says so: in place of its own functions, see inside.awk. A run
 * that branches has a branch for each time it asks, in which it gets nothing. */
static long memory_held, memory_asked;
static int memory_branches, memory_refused;
void *embi_default_alloc(size_t size, void *ctx)
{
    (void)ctx;
    memory_asked++;
    if (memory_branches && !memory_refused && branch()) {
        memory_refused = 1;
        return NULL;
    }
    memory_held++;
    return malloc(size);
}
void embi_default_free(void *p, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    memory_held -= p != NULL;
    free(p);
}
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "tool_place.h"
#include "../tools/shapes.h"
#include "../tools/scene.h"
#include "../tools/output.h"
#include "../tools/doctor.c"

enum { MOST = 16 };
static tool_mesh mesh[MOST];
static embipc_movable body[MOST];
static double gap[MOST * MOST], axis[9 * MOST], radius[MOST];   /* of rings: their frame, and that of the circle */
static embipc_movement movement[MOST];
static embipc_overlap list[MOST * MOST];
static int count, found;
static embipc_error error;

static void clear(void)
{
    for (int i = 0; i < count; i++) mesh_free(&mesh[i]);
    count = 0;
}
/* takes mesh[count] in, turned by degrees and moved to (x, y, z) */
static void put(double x, double y, double z, double ax, double ay, double az, int fixed)
{
    double *R = axis + 9 * count, angle[3], p[3];
    tool_mesh *m = &mesh[count];
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
    body[count].thickness = 0;
    body[count++].fixed = fixed;
}
static void box(double sx, double sy, double sz, double x, double y, double z, int fixed)
{
    double size[3];
    size[0] = sx; size[1] = sy; size[2] = sz;
    ENSURE(shape_box(&mesh[count], size, 0, 0, NULL));
    put(x, y, z, 0, 0, 0, fixed);
}
static void ring(double R, double tube, double x, double y, double z, double ax, double ay)
{
    radius[count] = R;
    ENSURE(shape_torus(&mesh[count], R, tube, 12, 0, NULL));
    put(x, y, z, ax, ay, 0, 0);
}
/* fixed bodies may cross each other */
static embipc_result separate(double g)
{
    for (int i = 0; i < count * count; i++) gap[i] = body[i / count].fixed && body[i % count].fixed ? 0 : g;
    return embipc_separate(body, count, gap, movement, list, MOST * MOST, &found, &error);
}
static double moved(int i) { return embi_norm(movement[i].shift); }
static double moved_in_all(void)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += moved(i);
    return sum;
}
/* rad */
static double turned(int i)
{
    const double *R = movement[i].rotation;
    double w[3];
    w[0] = R[7] - R[5]; w[1] = R[2] - R[6]; w[2] = R[3] - R[1];
    return atan2(embi_norm(w), R[0] + R[4] + R[8] - 1);
}
/* vertices of body i after its movement, to be freed */
static double *after(int i)
{
    double *x = (double *)tool_alloc(3 * (size_t)body[i].vertex_count, sizeof *x);
    for (int k = 0; k < body[i].vertex_count; k++) doctor_move(&movement[i], body[i].x + 3 * k, x + 3 * k);
    return x;
}
/* largest relative change of volume over all bodies */
static double swelling(void)
{
    double worst = 0;
    for (int i = 0; i < count; i++) {
        embipc_solid was, is;
        double *x = after(i);
        ENSURE(embipc_mass_properties(body[i].x, body[i].vertex_count, body[i].tri, body[i].tri_count, &was) ==
               EMBIPC_OK);
        ENSURE(embipc_mass_properties(x, body[i].vertex_count, body[i].tri, body[i].tri_count, &is) == EMBIPC_OK);
        worst = fmax(worst, fabs(is.volume / was.volume - 1));
        free(x);
    }
    return worst;
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
        double *x = after(i);
        d.kind = body[i].fixed ? EMBIPC_FIXED : EMBIPC_AFFINE;
        d.x = x;
        d.vertex_count = body[i].vertex_count;
        d.triangles = body[i].tri;
        d.triangle_count = body[i].tri_count;
        d.thickness = body[i].thickness;
        ok = embipc_body_create(w, &d, &handle) == EMBIPC_OK;
        if (!ok) printf("  world: %s\n", embipc_world_error(w)->text);
        free(x);
    }
    embipc_world_destroy(w);
    return ok;
}
/* Linking number of the middle circles of rings i and j, where they were or where they are: j goes up or down
 * through the disc of i. */
static int linking(int i, int j, int now)
{
    double c[3], u[3], v[3], p[3], q[3], angle, size;
    const double *A = axis + 9 * i, *B = axis + 9 * j;
    double F[9], G[9], d[3], ci[3], cj[3];
    int sum = 0;
    memcpy(F, A, sizeof F);
    memcpy(G, B, sizeof G);
    embi_copy(ci, movement[i].centre);
    embi_copy(cj, movement[j].centre);
    if (now) {
        embi_m3_mul(F, movement[i].rotation, A);
        embi_m3_mul(G, movement[j].rotation, B);
        embi_add(ci, ci, movement[i].shift);
        embi_add(cj, cj, movement[j].shift);
    }
    embi_sub(d, cj, ci);
    for (int k = 0; k < 3; k++) {   /* in the frame of i: centre and radii of j */
        c[k] = F[k] * d[0] + F[3 + k] * d[1] + F[6 + k] * d[2];
        u[k] = radius[j] * (F[k] * G[0] + F[3 + k] * G[3] + F[6 + k] * G[6]);
        v[k] = radius[j] * (F[k] * G[1] + F[3 + k] * G[4] + F[6 + k] * G[7]);
    }
    size = sqrt(u[2] * u[2] + v[2] * v[2]);   /* c_z + size cos(t - angle) = 0 */
    if (!(fabs(c[2]) < size)) return 0;
    angle = atan2(v[2], u[2]);
    for (int side = -1; side < 2; side += 2) {
        double t = angle + side * acos(-c[2] / size);
        embi_copy(p, c);
        embi_axpy(p, cos(t), u);
        embi_axpy(p, sin(t), v);
        embi_scale(q, -sin(t), u);
        embi_axpy(q, cos(t), v);
        if (hypot(p[0], p[1]) < radius[i]) sum += q[2] > 0 ? 1 : -1;
    }
    return sum;
}
static int linked(int from)
{
    int sum = 0;
    for (int i = from; i < count; i++)
        for (int j = i + 1; j < count; j++) sum += abs(linking(i, j, 0));
    return sum;
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
    ENSURE(accepted() && !movement[0].grown && !list[0].linked && turned(0) <= 0);
    body[1].fixed = 1;
    ENSURE(separate(1e-4) == EMBIPC_OK && moved(0) > 0.01 && moved(1) <= 0 && accepted());
    body[0].fixed = 1;
    ENSURE(embipc_separate(body, 2, gap, movement, list, MOST, &found, &error) == EMBIPC_ERR_INTERSECTION);
    ENSURE(moved_in_all() <= 0 && !list[0].parted);
    ENSURE(error.index[0] == 0 && error.index[1] == 1 && strstr(error.text, "neither may move"));
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
/* Shifts alone part a row of boxes, in whatever order they come: which of two moves takes turns. */
static void test_row(void)
{
    int grown = 0;
    for (int k = 0; k < 7; k++) box(0.1, 0.1, 0.1, 0.08 * (3 * k % 7), 0, 0, 0);
    ENSURE(separate(1e-3) == EMBIPC_OK && found == 6 && accepted());
    for (int k = 0; k < count; k++) grown += movement[k].grown;
    ENSURE(grown == 0);
    clear();
}
/* coatings count: the boxes do not meet, their coatings do */
static void test_coating(void)
{
    box(0.1, 0.1, 0.1, 0, 0, 0, 0);
    box(0.1, 0.1, 0.1, 0.101, 0, 0, 1);
    body[0].thickness = 0.0009;
    ENSURE(separate(1e-4) == EMBIPC_OK && found == 0);
    body[1].thickness = 0.0006;
    ENSURE(separate(1e-4) == EMBIPC_OK && found == 1 && list[0].kind == EMBIPC_OVERLAP_TOUCH);
    ENSURE_REL(moved(0), 0.0006, 0.01);
    ENSURE(moved(1) <= 0 && accepted());
    clear();
}
/* six walls round a closed cube of 0.12 m */
static void room(void)
{
    for (int side = 0; side < 6; side++) {
        double wall[3] = {0.8, 0.8, 0.8}, at[3] = {0, 0, 0};
        wall[side / 2] = 0.3;
        at[side / 2] = side % 2 ? 0.21 : -0.21;
        box(wall[0], wall[1], wall[2], at[0], at[1], at[2], 1);
    }
}
/* boxes within boxes, about one centre */
static void nest(double size, int n)
{
    for (int k = 0; k < n; k++) box(size * (1 - 0.15 * k), size * (1 - 0.15 * k), size * (1 - 0.15 * k), 0, 0, 0, 0);
}
/* Six boxes push each other to and fro along the axes, however small they are made. In the open they are taken out one
 * by one, side by side, and the largest stays. In a room without a ceiling they go up, not through the walls. In a
 * closed one they have no place. */
static void test_nest(void)
{
    double across = 0, wide = 0.8;
    nest(0.1, 6);
    ENSURE(separate(1e-4) == EMBIPC_OK && found == 15 && accepted() && swelling() < 1e-12);
    printf("  nest of six: moved %.4g m in all\n", moved_in_all());
    ENSURE(moved(0) <= 0 && moved_in_all() < 0.4);
    for (int i = 0; i < count; i++) ENSURE(!movement[i].grown && turned(i) <= 0);
    clear();
    for (int side = 0; side < 4; side++) {
        double middle = (side % 2 ? 0.5 : -0.5) * (0.12 + 0.3);
        box(side < 2 ? 0.3 : wide, side < 2 ? wide : 0.3, wide, side < 2 ? middle : 0, side < 2 ? 0 : middle, 0, 1);
    }
    box(wide, wide, 0.3, 0, 0, -0.21, 1);
    nest(0.1, 6);
    ENSURE(separate(1e-4) == EMBIPC_OK && accepted());
    for (int i = 5; i < count; i++) across = fmax(across, hypot(movement[i].shift[0], movement[i].shift[1]));
    ENSURE(across < 0.06);
    clear();
    room();
    nest(0.1, 6);
    ENSURE(separate(1e-4) == EMBIPC_ERR_INTERSECTION);
    clear();
}
/* Half sunk in a floor of 1 mm to its own size, a body comes out on the side of its centre, by the least way. */
static void test_sunk(void)
{
    const double size = 0.1, cube[3] = {0.1, 0.1, 0.1}, floors[4] = {0.001, 0.01, 0.03, 0.1};
    for (int k = 0; k < 4 * 6 * 2; k++) {
        int side = k % 6, ball = k / 6 % 2;
        for (int tenth = 1; tenth < 10; tenth += ball ? 4 : 1) {
            double thick = floors[k / 12], edge[3] = {1, 1, 1}, at[3] = {0, 0, 0}, centre[3] = {0.01, 0.02, 0.03};
            double sunk = 0.1 * tenth * size, up = side % 2 ? 1 : -1, above = size / 2 - sunk + thick / 2, bounds[6];
            edge[side / 2] = thick;
            at[side / 2] = -up * thick / 2;
            centre[side / 2] = up * (size / 2 - sunk);
            box(edge[0], edge[1], edge[2], at[0], at[1], at[2], 1);
            ENSURE(ball ? shape_sphere(&mesh[count], size / 2, 6, 0, NULL) : shape_box(&mesh[count], cube, 0, 0, NULL));
            put(centre[0], centre[1], centre[2], 0, 0, 0, 0);
            ENSURE(separate(1e-4) == EMBIPC_OK && found == 1 && accepted());
            embi_box_points(bounds, body[1].x, body[1].vertex_count);
            ENSURE_REL(moved(1), fmin(fabs(bounds[side % 2 ? side / 2 : 3 + side / 2]),
                                      fabs(bounds[side % 2 ? 3 + side / 2 : side / 2]) + thick) + 1e-4, 1e-3);
            ENSURE(fabs(above) < 1e-3 || movement[1].shift[side / 2] * up * above > 0);
            clear();
        }
    }
}
/* A pyramid 0.1 m high, its apex 0.06 m above a floor of 1 mm, 22 % of it. It goes down: 0.041 m up would be less. */
static void test_side_of_most(void)
{
    box(1, 1, 0.001, 0, 0, 0.0405, 1);
    for (int i = 0; i < 5; i++) {
        double *x = mesh_add_node(&mesh[count]);
        x[0] = i == 4 ? 0 : i == 1 || i == 2 ? 0.05 : -0.05;
        x[1] = i == 4 ? 0 : i < 2 ? -0.05 : 0.05;
        x[2] = i == 4 ? 0.1 : 0;
    }
    for (int i = 0; i < 4; i++) mesh_add_tri(&mesh[count], i, (i + 1) % 4, 4);
    mesh_add_tri(&mesh[count], 0, 2, 1);
    mesh_add_tri(&mesh[count], 0, 3, 2);
    put(0, 0, 0, 0, 0, 0, 0);
    ENSURE(separate(1e-4) == EMBIPC_OK && accepted());
    ENSURE_REL(list[0].depth, 0.041, 1e-3);
    ENSURE_REL(movement[1].shift[2], -0.0601, 1e-3);
    ENSURE_REL(moved(1), 0.0601, 1e-3);
    clear();
}

enum { SIX_WALLS, ONE_MESH, SHEETS, ROOMS };

/* round a closed cube of 0.3 m: six boxes, a mesh with a hollow, or six open surfaces of two triangles */
static void thin_room(int kind, double thick)
{
    double outer[3] = {0.3 + 2 * thick, 0.3 + 2 * thick, 0.3 + 2 * thick}, edge[3], at[3];
    for (int side = 0; side < 6 && kind == SIX_WALLS; side++) {
        for (int k = 0; k < 3; k++) {
            edge[k] = k == side / 2 ? thick : 0.4;
            at[k] = k == side / 2 ? (side % 2 ? 0.5 : -0.5) * (0.3 + thick) : 0;
        }
        box(edge[0], edge[1], edge[2], at[0], at[1], at[2], 1);
    }
    for (int side = 0; side < 6 && kind == SHEETS; side++) {
        for (int i = 0; i < 4; i++) {
            double *x = mesh_add_node(&mesh[count]);
            x[side / 2] = side % 2 ? 0.15 : -0.15;
            x[(side / 2 + 1) % 3] = i == 1 || i == 2 ? 0.2 : -0.2;
            x[(side / 2 + 2) % 3] = i < 2 ? -0.2 : 0.2;
        }
        mesh_add_tri(&mesh[count], 0, 1, 2);
        mesh_add_tri(&mesh[count], 0, 2, 3);
        put(0, 0, 0, 0, 0, 0, 1);
    }
    if (kind != ONE_MESH) return;
    ENSURE(shape_box(&mesh[count], outer, 0, 0, NULL));
    for (int i = 0, n = mesh[count].node_count; i < n; i++) {
        double *x = mesh_add_node(&mesh[count]);
        for (int k = 0; k < 3; k++) x[k] = mesh[count].x[3 * i + k] > 0 ? 0.15 : -0.15;
    }
    for (int t = 0, n = mesh[count].tri_count; t < n; t++) {
        const int *v = mesh[count].tri + 3 * t, a = v[0] + 8, b = v[1] + 8, c = v[2] + 8;
        mesh_add_tri(&mesh[count], b, a, c);
    }
    put(0, 0, 0, 0, 0, 0, 1);
}

/* Crates that overlap each other at a thin wall, and it, push each other out of the room: each comes back inside. */
static void test_thin_walls(void)
{
    for (int k = 0; k < 12 * ROOMS; k++) {
        int first, across = k % 3, balls = k % 12 == 4;
        double at[3];
        thin_room(k / 12, k % 2 ? 0.001 : 0.01);
        first = count;
        for (int i = 0; i < 4; i++) {
            double size[3];
            for (int n = 0; n < 3; n++) {
                at[n] = n == across ? (k % 4 < 2 ? 1 : -1) * test_uniform(0.08, 0.148) : test_uniform(-0.04, 0.04);
                size[n] = test_uniform(0.05, 0.1);
            }
            ENSURE(balls ? shape_sphere(&mesh[count], size[0] / 2, 6, 0, NULL)
                         : shape_box(&mesh[count], size, 0, 0, NULL));
            put(at[0], at[1], at[2], k % 5 ? 0 : 30, k % 7 ? 0 : 20, 0, 0);
        }
        ENSURE(separate(1e-4) == EMBIPC_OK && found && accepted());
        for (int i = first; i < count; i++) {
            double *x = after(i);
            for (int n = 0; n < 3 * body[i].vertex_count; n++) ENSURE(fabs(x[n]) < 0.15);
            free(x);
        }
        clear();
    }
}
/* The well of four thin walls, open at the top: no box leaves it through a wall. A crate larger than a closed room that
 * it overlaps on all sides has no place inside, and is taken out of it. */
static void test_thin_well(void)
{
    for (int k = 0; k < 5; k++) {
        for (int side = 0; side < 4; side++) {
            double middle = (side % 2 ? 0.5 : -0.5) * 0.152;
            if (side < 2) box(0.002, 0.3, 0.3, middle, 0, 0.15, 1);
            else box(0.3, 0.002, 0.3, 0, middle, 0.15, 1);
        }
        box(0.4, 0.4, 0.002, 0, 0, -0.002, 1);
        for (int i = 0; i < 4; i++) {
            double size[3], at[3];
            for (int n = 0; n < 3; n++) size[n] = test_uniform(0.03, 0.1);
            ENSURE(shape_box(&mesh[count], size, 0, 0, NULL));
            for (int n = 0; n < 3; n++) at[n] = test_uniform(-0.02, 0.02);
            put(at[0] + 0.04, at[1], at[2] + 0.06, 0, 0, k % 2 ? 25 : 0, 0);
        }
        ENSURE(separate(1e-4) == EMBIPC_OK && accepted());
        for (int i = 5; i < count; i++) {
            double *x = after(i);
            for (int n = 0; n < body[i].vertex_count; n++)
                ENSURE(x[3 * n + 2] > -0.001 && fmax(fabs(x[3 * n]), fabs(x[3 * n + 1])) < 0.075);
            free(x);
        }
        clear();
    }
    thin_room(SIX_WALLS, 0.002);
    box(0.32, 0.32, 0.32, 0.001, 0.002, 0.003, 0);
    ENSURE(separate(1e-4) == EMBIPC_OK && accepted() && moved(6) > 0.3);
    clear();
}

/* A box of 0.1 m in the room, too crooked by 30 degrees: shifts throw it from wall to wall. It fits at 13.05
 * degrees or less: sin + cos = 1.2. */
static void test_turn(void)
{
    double size[3] = {0.1, 0.1, 0.1};
    room();
    ENSURE(shape_box(&mesh[count], size, 0, 0, NULL));
    put(0.003, -0.002, 0.001, 0, 0, 30, 0);
    ENSURE(separate(1e-4) == EMBIPC_OK);
    printf("  crooked box in a room: %d pairs, moved %.4g m, turned %.3g degrees\n", found, moved(6),
           turned(6) / DOCTOR_DEGREE);
    ENSURE(found == 4 && movement[6].grown && turned(6) > 16.9 * DOCTOR_DEGREE && swelling() < 1e-12);
    ENSURE(moved(6) < 0.02 && accepted());   /* still in the room */
    for (int i = 0; i < 6; i++) ENSURE(moved(i) <= 0 && turned(i) <= 0 && !movement[i].grown);
    clear();
}
static void test_rings(void)
{
    ring(0.05, 0.008, 0, 0, 0, 0, 0);   /* linked, and clear of each other: sound */
    ring(0.05, 0.008, 0.05, 0, 0, 90, 0);
    ENSURE(separate(1e-4) == EMBIPC_OK && found == 0 && moved_in_all() <= 0 && accepted());
    clear();
    ring(0.05, 0.008, 0, 0, 0, 0, 0);   /* the same with tubes that cross: stays linked */
    ring(0.05, 0.008, 0.011, 0, 0, 90, 0);
    ENSURE(separate(1e-4) == EMBIPC_OK && found == 1 && list[0].linked && list[0].parted && accepted());
    ENSURE(abs(linking(0, 1, 0)) == 1 && linking(0, 1, 1) == linking(0, 1, 0));
    ENSURE(list[0].depth < 0.006 && moved_in_all() < 0.006);
    printf("  linked rings with room: depth %.4g m, moved %.4g m\n", list[0].depth, moved_in_all());
    clear();
    ring(0.05, 0.03, 0, 0, 0, 0, 0);   /* tubes thicker than the holes: impossible */
    ring(0.05, 0.03, 0.05, 0, 0, 90, 0);
    ENSURE(separate(1e-4) == EMBIPC_ERR_INTERSECTION && list[0].linked && !list[0].parted);
    ENSURE(moved_in_all() <= 0 && strstr(error.text, "they are linked"));
    printf("  linked rings without: depth %.4g m, %s\n", list[0].depth, error.text);
    clear();
    ring(0.05, 0.03, 0, 0, 0, 0, 0);   /* as fat, but one beside the other: the shift may go where it likes */
    ring(0.05, 0.03, 0.14, 0, 0, 90, 0);
    ENSURE(separate(1e-4) == EMBIPC_OK && !list[0].linked && list[0].parted && accepted());
    ENSURE(linking(0, 1, 1) == 0);
    clear();
}

static void test_arguments(void)
{
    double bad[4] = {1e-4, 1e-4, 2e-4, 1e-4};
    box(0.1, 0.1, 0.1, 0, 0, 0, 0);
    box(0.1, 0.1, 0.1, 0.09, 0, 0, 0);
    ENSURE(embipc_separate(NULL, 0, NULL, NULL, NULL, 0, NULL, NULL) == EMBIPC_OK);
    ENSURE(embipc_separate(body, -1, gap, movement, NULL, 0, NULL, &error) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_separate(NULL, 2, gap, movement, NULL, 0, NULL, &error) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(error.text, "an array is NULL"));
    ENSURE(embipc_separate(body, 2, NULL, movement, NULL, 0, NULL, &error) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_separate(body, 2, gap, NULL, NULL, 0, NULL, &error) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_separate(body, 2, gap, movement, NULL, 1, NULL, &error) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_separate(body, 2, bad, movement, NULL, 0, NULL, &error) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(error.text, "surfaces 0 and 1"));
    bad[1] = bad[2] = NAN;
    ENSURE(embipc_separate(body, 2, bad, movement, NULL, 0, NULL, &error) == EMBIPC_ERR_NOT_FINITE);
    bad[1] = bad[2] = 1e-4;
    body[1].thickness = -1;
    ENSURE(embipc_separate(body, 2, bad, movement, NULL, 0, NULL, &error) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(error.text, "surface 1"));
    body[1].thickness = 0;
    body[1].tri_count = 0;
    ENSURE(embipc_separate(body, 2, bad, movement, NULL, 0, NULL, &error) == EMBIPC_ERR_ARGUMENT);
    body[1].tri_count = mesh[1].tri_count;
    mesh[1].x[4] = INFINITY;
    ENSURE(embipc_separate(body, 2, bad, movement, NULL, 0, NULL, &error) == EMBIPC_ERR_NOT_FINITE);
    mesh[1].x[4] = 0;
    mesh[1].tri[0] += 1000;
    ENSURE(embipc_separate(body, 2, bad, movement, NULL, 0, NULL, &error) == EMBIPC_ERR_INDEX);
    clear();
}

/* Every allocation of a run fails once: the call says so, writes nothing and leaks nothing. */
static void every_allocation_fails(void)
{
    embipc_result r;
    memory_asked = memory_held = 0;
    memory_branches = 1;
    memset(movement, 7, sizeof movement);
    r = separate(1e-4);
    memory_branches = 0;
    ENSURE(memory_held == 0);
    if (memory_refused) {
        ENSURE(r == EMBIPC_ERR_MEMORY);
        for (size_t k = 0; k < sizeof movement; k++) ENSURE(((unsigned char *)movement)[k] == 7);
        branch_end();
    }
    ENSURE((r == EMBIPC_OK || r == EMBIPC_ERR_INTERSECTION) && memory_asked > 20);
    printf("  %ld allocations\n", memory_asked);
}
static void test_memory(void)
{
    double size[3] = {0.1, 0.1, 0.1};
    box(0.1, 0.1, 0.1, 0, 0, 0, 0);   /* shifts */
    box(0.1, 0.1, 0.1, 0.09, 0.003, 0.002, 0);
    every_allocation_fails();
    clear();
    room();   /* growth */
    ENSURE(shape_box(&mesh[count], size, 0, 0, NULL));
    put(0.003, -0.002, 0, 0, 0, 30, 0);
    every_allocation_fails();
    clear();
    ring(0.05, 0.03, 0, 0, 0, 0, 0);   /* loops */
    ring(0.05, 0.03, 0.05, 0, 0, 90, 0);
    every_allocation_fails();
    clear();
    box(0.4, 0.4, 0.1, 0, 0, -0.11, 1);   /* places */
    nest(0.1, 6);
    every_allocation_fails();
    clear();
}

enum { BOXES, BOXES_IN_A_ROOM, BALLS, BEARS, RINGS_BESIDE, RINGS_LINKED, RINGS_FLAT, RINGS_TIGHT, KINDS };

/* Bodies on a floor, a box in the room, or two rings in the air. */
static void generate(int kind)
{
    int n = 2 + (int)(4 * test_random());
    if (kind == RINGS_FLAT) {   /* room enough once they are turned */
        for (int i = 0; i < 2; i++)
            ring(0.05, 0.012, 0.07 * i, test_uniform(-0.03, 0.03), test_uniform(-0.01, 0.01),
                 test_uniform(-10, 10), test_uniform(-10, 10));
        return;
    }
    if (kind == RINGS_TIGHT || kind == RINGS_LINKED) {
        int tight = kind == RINGS_TIGHT;   /* the tube is thicker than the hole */
        double x = tight ? test_uniform(0.045, 0.055) : test_uniform(0.005, 0.015);
        for (int i = 0; i < 2; i++)
            ring(0.05, tight ? 0.029 : 0.01, i * x, tight ? test_uniform(-0.005, 0.005) : 0, 0,
                 90.0 * i + test_uniform(-15, 15), test_uniform(-15, 15));
        return;
    }
    if (kind == BOXES_IN_A_ROOM) n = 1;
    if (kind == BOXES_IN_A_ROOM) room();
    else box(1, 1, 0.1, 0, 0, -0.05, 1);
    for (int i = 0; i < n; i++) {
        double x = 0.07 * i, y = test_uniform(-0.03, 0.03), z = test_uniform(0.02, 0.08);
        double turn = kind == BEARS || kind == RINGS_BESIDE ? 10 : 180, size[3];
        for (int k = 0; k < 3; k++) size[k] = kind == BOXES_IN_A_ROOM ? 0.1 : test_uniform(0.05, 0.12);
        if (kind == BOXES_IN_A_ROOM) z = y;
        if (kind == RINGS_BESIDE) {
            ring(0.05, 0.012, x, y, z, test_uniform(-turn, turn), test_uniform(-turn, turn));
            continue;
        }
        if (kind == BOXES || kind == BOXES_IN_A_ROOM) ENSURE(shape_box(&mesh[count], size, 0, 0, NULL));
        if (kind == BALLS) ENSURE(shape_sphere(&mesh[count], size[0] / 2, 8, 0, NULL));
        if (kind == BEARS) ENSURE(shape_bear(&mesh[count], 4, 0, NULL));
        put(x, y, z, test_uniform(-turn, turn), test_uniform(-turn, turn), test_uniform(-turn, turn), 0);
    }
}

/* a scene of this kind of which something overlaps, and rings are as their kind says */
static embipc_result scene_of(int kind)
{
    for (;; clear()) {
        embipc_result r;
        generate(kind);
        r = separate(1e-4);
        if (found == 0 || (kind == RINGS_BESIDE && linked(1))) continue;
        if (kind > RINGS_BESIDE && linked(0) != 1) continue;
        return r;
    }
}

typedef struct tally { int mended, grown, pairs; double depth, moved, turned, swelling; } tally;

/* what must be true of every one, whatever came of it */
static void check_scene(int kind, embipc_result r, tally *t)
{
    int grown = 0, first = kind == RINGS_BESIDE ? 1 : 0;
    double swell = swelling();
    ENSURE(r == EMBIPC_OK || r == EMBIPC_ERR_INTERSECTION);
    t->pairs += found;
    t->swelling = fmax(t->swelling, swell);
    ENSURE(swell < 1e-12);
    for (int i = 0; i < found; i++) {
        t->depth += list[i].depth;
        if (kind >= RINGS_BESIDE && list[i].a >= first)
            ENSURE(list[i].linked == (linking(list[i].a, list[i].b, 0) != 0));
    }
    for (int i = 0; i < count; i++) {
        ENSURE(!body[i].fixed || (moved(i) <= 0 && turned(i) <= 0));
        for (int j = i + 1; kind >= RINGS_BESIDE && i >= first && j < count; j++)
            ENSURE(linking(i, j, 0) == linking(i, j, 1));
    }
    if (r != EMBIPC_OK) return;
    ENSURE(accepted());
    t->mended++;
    for (int i = 0; i < count; i++) {
        grown |= movement[i].grown;
        t->turned = fmax(t->turned, turned(i) / DOCTOR_DEGREE);
    }
    t->grown += grown;
    t->moved += moved_in_all();
}

static void test_hundred(void)
{
    static const char *const name[KINDS] = {"boxes", "boxes in a room", "balls", "bears", "rings beside",
                                            "rings linked, with room", "rings linked, nearly flat",
                                            "rings linked, no room"};
    static const int scenes[KINDS] = {20, 10, 5, 15, 20, 10, 10, 10};
    printf("  %-26s mended by growth  pairs   depth   moved  most turned  volume\n", "");
    for (int kind = 0; kind < KINDS; kind++) {
        int tries = 0;
        tally t;
        memset(&t, 0, sizeof t);
        for (int k = 0; k < scenes[kind]; k += TEST_SKIP, tries++) {
            embipc_result r = scene_of(kind);
            check_scene(kind, r, &t);
            if (kind == RINGS_TIGHT) ENSURE(r == EMBIPC_ERR_INTERSECTION && strstr(error.text, "they are linked"));
            else if (r != EMBIPC_OK) printf("  %s, scene %d: %s\n", name[kind], k, error.text);
            clear();
        }
        printf("  %-26s %2d of %2d %6d %7d %5.3f m %5.3f m %8.3g deg %8.1g\n", name[kind], t.mended, tries,
               t.grown, t.pairs, t.depth, t.moved, t.turned, t.swelling);
        ENSURE(t.mended == (kind == RINGS_TIGHT ? 0 : tries));
    }
}

static const char *place(const char *name) { return tool_place("test_doctor", name); }

static void write_scene(const char *path, const char *text)
{
    tool_text t = {NULL, 0, 0};
    tool_error e;
    tool_put(&t, "%s", text);
    ENSURE(output_file(path, &t, &e));
    tool_text_free(&t);
}
/* runs the doctor; what it reports goes to said[] */
static char said[4096];
static int treat(const char *path, const char *out)
{
    doctor_options o;
    int code;
    memset(&o, 0, sizeof o);
    o.scene = path;
    o.out = out;
    o.report = o.errors = tmpfile();
    if (!o.report) exit(2);
    if (out) remove(out);
    code = doctor_scene(&o);
    rewind(o.report);
    said[fread(said, 1, sizeof said - 1, o.report)] = 0;
    fclose(o.report);
    return code;
}
static int file_contains(const char *path, const char *part)
{
    tool_error e;
    size_t size;
    char *data = tool_read_file(path, JSON_MAX_BYTES, &size, &e);
    int has = data && strstr(data, part) != NULL;
    free(data);
    return has;
}
static int file_has(const char *path, const char *part)
{
    int has = file_contains(path, part);
    if (!has) printf("  wanted \"%s\" in %s\n", part, path);
    return has;
}
static void test_command(void)
{
    const char *path = place("scene.json"), *out = place("fixed.json");
    write_scene(path, "{\"version\": 1, \"bodies\": [\n"
                      "  {\"name\": \"floor\", \"kind\": \"fixed\", \"shape\": \"plane\"},\n"
                      "  {\"name\": \"a\", \"kind\": \"affine\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1]},\n"
                      "  {\"name\": \"b ]\", \"position\": [ 0.09, 0,0.2 ], \"kind\": \"affine\", "
                      "\"shape\": \"box\", \"size\": [0.1, 0.1, 0.1]}\n]}\n");
    ENSURE(treat(path, out) == 0 && strstr(said, "\"floor\" and \"a\": cross, depth 0.05 m"));
    ENSURE(strstr(said, "\"a\" by 0.0") && !strstr(said, "turned"));
    ENSURE(strstr(said, "sound with these motions"));
    ENSURE(file_has(out, "{ \"position\": [0, 0, 0.050"));
    ENSURE(file_has(out, "\"b ]\", \"position\": [ 0.09, 0,0.2 ]"));
    ENSURE(treat(out, NULL) == 0 && strstr(said, "sound as it is"));
    ENSURE(treat("no such file", NULL) == 2);
    write_scene(path, "{\"version\": 1, \"bodies\": [\n"
                      "  {\"name\": \"a\", \"kind\": \"affine\", \"shape\": \"torus\", \"radius\": 0.05, "
                      "\"tube\": 0.03},\n"
                      "  {\"name\": \"b\", \"kind\": \"affine\", \"shape\": \"torus\", \"radius\": 0.05, "
                      "\"tube\": 0.03, \"position\": [0.05, 0, 0], \"rotation\": [90, 0, 0]}\n]}\n");
    ENSURE(treat(path, out) == 1 && strstr(said, "; linked; not parted") && strstr(said, "cannot be mended"));
    ENSURE(!fopen(out, "r"));
}
/* Bodies of a "repeat" have no place of their own in the file: told from, not written. */
static void test_command_repeat(void)
{
    const char *path = place("repeat.json"), *out = place("repeat_fixed.json");
    write_scene(path, "{\"version\": 1, \"bodies\": [ {\"name\": \"a\", \"kind\": \"affine\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1],\n"
                      " \"repeat\": {\"count\": [3, 1, 1], \"spacing\": [0.09, 0, 0]}} ]}\n");
    ENSURE(treat(path, NULL) == 0 && strstr(said, "\"a 1\" and \"a 2\": cross"));
    ENSURE(treat(path, out) == 2 && strstr(said, "\"repeat\"") && !fopen(out, "r"));
}
/* A full body that must turn, in a room, and one that need not, each held by a drive that selects nodes: the
 * boxes go with them. */
static void test_command_drives(void)
{
    static const char *const at[6] = {"-0.21, 0, 0", "0.21, 0, 0", "0, -0.21, 0", "0, 0.21, 0", "0, 0, -0.21",
                                      "0, 0, 0.21"};
    const char *path = place("drives.json"), *out = place("drives_fixed.json");
    tool_text t = {NULL, 0, 0};
    tool_put(&t, "{\"version\": 1, \"bodies\": [\n");
    for (int i = 0; i < 6; i++)
        tool_put(&t, "{\"name\": \"wall %d\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [%g, %g, "
                 "%g], \"position\": [%s]},\n", i, i / 2 == 0 ? 0.3 : 0.8, i / 2 == 1 ? 0.3 : 0.8,
                 i / 2 == 2 ? 0.3 : 0.8, at[i]);
    tool_put(&t, "{\"name\": \"crooked\", \"kind\": \"full\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], "
             "\"rotation\": [0, 0, 30], \"drive\": [{\"select\": {\"box\": [[-1, -1, -1],\n[1, 1, -0.04]]}, "
             "\"keys\": [[0, 0, 0, 0]]}]},\n"
             "{\"name\": \"straight\", \"kind\": \"full\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], "
             "\"position\": [2, 0, 0], \"drive\": [{\"select\": {\"box\": [[1.95, -0.05, -0.05], [1.95, 0.05, "
             "0.05]]}, \"keys\": [[0, 0, 0, 0]]}]},\n"
             "{\"name\": \"slab\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [0.1, 0.2, 0.2], "
             "\"position\": [1.91, 0, 0]},\n"
             "{\"name\": \"in a cage\", \"kind\": \"cage\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], "
             "\"position\": [3, 0, 0], \"drive\": [{\"select\": {\"box\": [[2.95, -0.05, -0.05], [2.95, 0.05, "
             "0.05]]}, \"keys\": [[0, 0, 0, 0]]}]},\n"
             "{\"name\": \"another slab\", \"kind\": \"fixed\", \"shape\": \"box\", \"size\": [0.1, 0.2, 0.2], "
             "\"position\": [2.91, 0, 0]}]}\n");
    write_scene(path, t.data);
    tool_text_free(&t);
    ENSURE(treat(path, out) == 0);
    ENSURE(strstr(said, "turned by 17.") && strstr(said, "growing from a shrunken copy"));
    ENSURE(file_has(out, "{ \"position\": [") && file_has(out, "\"rotation\": [") && file_has(out, "[[1.960") && file_has(out, "[[2.960"));
    ENSURE(!file_contains(out, "\"rotation\": [0, 0, 30]") && !file_contains(out, "[1, 1, -0.04]"));
    ENSURE(treat(out, NULL) == 0 && strstr(said, "sound as it is"));
}

/* Bodies that joints hold stay where they are. Two that a joint links without contact may overlap; what is in their way
 * moves; two of them that may touch, and one in the ground, cannot be mended. */
static void test_command_joints(void)
{
    static const char *const box = "\"kind\": \"affine\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1]";
    const char *path = place("joints.json"), *out = place("joints_fixed.json");
    for (int kind = 0; kind < 5; kind++) {
        tool_text t = {NULL, 0, 0};
        int code = kind < 2 ? 0 : 1;
        tool_put(&t, "{\"version\": 1, \"bodies\": [\n{\"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\"},\n"
                 "{\"name\": \"a\", %s, \"position\": [0, 0, %g]},\n", box, kind == 3 ? 0.04 : 1);
        tool_put(&t, "{\"name\": \"b\", %s, \"position\": [0.08, 0, 1]},\n{\"name\": \"c\", %s, \"position\": [%g, 0, 1]}],\n", box, box,
                 kind == 1 || kind == 4 ? 0.15 : 0.5);
        tool_put(&t, "\"joints\": [{\"kind\": \"hinge\", \"a\": \"a\", \"b\": \"b\", \"point\": [0.04, 0, 1], \"axis\": [0, 1, 0], \"contact\": %s}%s]}\n",
                 kind == 2 ? "true" : "false", kind == 4 ? ", {\"kind\": \"weld\", \"b\": \"c\", \"point\": [0, 0, 1]}" : "");
        write_scene(path, t.data);
        tool_text_free(&t);
        ENSURE(treat(path, out) == code);
        ENSURE(!strstr(said, "moved       \"a\"") && !strstr(said, "moved       \"b\""));
        if (kind == 0) ENSURE(strstr(said, "sound as it is"));
        if (kind == 1) {
            ENSURE(strstr(said, "\"b\" and \"c\": cross") && strstr(said, "moved       \"c\""));
            ENSURE(file_has(out, "\"point\": [0.04, 0, 1]") && treat(out, NULL) == 0 && strstr(said, "sound as it is"));
        }
        if (kind == 2) ENSURE(strstr(said, "\"a\" and \"b\": cross") && strstr(said, "not parted"));
        if (kind == 3) ENSURE(strstr(said, "\"ground\" and \"a\": cross") && strstr(said, "cannot be mended"));
        if (kind == 4) ENSURE(strstr(said, "\"b\" and \"c\": cross") && strstr(said, "cannot be mended"));
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(boxes);
    RUN(inside);
    RUN(stack);
    RUN(row);
    RUN(nest);
    RUN(coating);
    RUN(turn);
    RUN(rings);
    RUN(arguments);
    RUN(memory);
    RUN(sunk);
    RUN(side_of_most);
    RUN(thin_walls);
    RUN(thin_well);
    RUN(hundred);
    RUN(command);
    RUN(command_repeat);
    RUN(command_drives);
    RUN(command_joints);
    return test_end("test_doctor");
}
