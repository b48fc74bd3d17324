/* The library as a module of WebAssembly, for the page of `make web`: a soft bear in a cage between two plates that
 * squeeze it, and boxes that fall. The page gives the mesh of the bear, moves plates and hand, asks for steps, and
 * draws. Lengths m, times s, forces N; z is up. `make web` compiles this file alone, with wasi-libc. */
#define EMBIPC_IMPLEMENTATION
#define EMBIPC_STATIC
#define EMBIPC_NO_BDF2
#define EMBIPC_NO_BUDGET
#define EMBIPC_NO_EVENTS
#define EMBIPC_NO_JOINTS
#define EMBIPC_NO_MATERIALS
#define EMBIPC_NO_MESH_REPAIR
#define EMBIPC_NO_SEPARATE
#define EMBIPC_NO_SLEEP
#define EMBIPC_NO_SNAPSHOT
#define EMBIPC_NO_THREADS
#include "../../embipc.h"

#define EXPORT(name) __attribute__((export_name(#name)))

enum { PLATE_SIDES = 28, MOST_BOXES = 10, MOST_VERTICES = 4096, MOST_NODES = 4096 };

static const double plate_size[2] = {0.046, 0.012};  /* radius and thickness */
static const double box_size[3] = {0.042, 0.042, 0.042}, ground_size[3] = {10, 10, 0.2};
static const double plate_speed = 0.15, hand_speed = 0.6;   /* m/s, of each plate and of the hand */

/* A surface as it was given to the library. Bodies are drawn with its triangles. */
typedef struct surface {
    const double *x;
    const int *triangles;
    int vertex_count, triangle_count;
} surface;

static double ground_x[3 * 8], box_x[3 * 8], plate_x[3 * (2 * PLATE_SIDES + 2)];
static int ground_tri[3 * 12], box_tri[3 * 12], plate_tri[3 * 4 * PLATE_SIDES];

/* What the page sets, and what follows from it. */
typedef struct stage {
    embipc_world *world;
    embipc_body bear, plate[2], box[MOST_BOXES];     /* boxes in the order in which they fell */
    embipc_drive grip[2];
    double gap, lift;                                /* of the plates now: between them, and up from where they began */
    double young, friction, time_step;
    int cage_nodes, boxes;
    unsigned seed;                                   /* of the places and turns of boxes */
} stage;

static stage s;
static surface ground, box, plate, bear;
static double want_gap = 0.2, want_lift = 0;         /* where the page wants the plates */
static embipc_drive hand;                            /* what the mouse or finger pulls with; index1 0: nothing */
static embipc_body held;
static int held_vertex[3];
static double hand_start[3], hand_at[3], hand_want[3];   /* where it began, is, and shall go */
static embipc_step_stats last;
static embipc_error fault;
static double numbers[16], nodes[3 * MOST_NODES];
static float vertices[3 * MOST_VERTICES];

/* ---- The stage ------------------------------------------------------------------------------ */

static surface make_shape(embipc_shape_kind kind, const double *size, int detail, double *x, int *tri, int triangles)
{
    surface f;
    f.x = x;
    f.triangles = tri;
    f.triangle_count = embipc_shape(kind, size, detail, x, tri, triangles);
    f.vertex_count = f.triangle_count / 2 + 2;
    return f;
}

static embipc_body_def describe(const stage *t, const surface *f, embipc_kind kind)
{
    embipc_body_def d = embipc_default_body_def();
    d.kind = kind;
    d.x = f->x;
    d.vertex_count = f->vertex_count;
    d.triangles = f->triangles;
    d.triangle_count = f->triangle_count;
    d.friction = t->friction;
    d.user = (void *)f;
    return d;
}

static embipc_result add(stage *t, const embipc_body_def *d, embipc_body *body)
{
    embipc_result r = embipc_body_create(t->world, d, body);
    if (r) fault = *embipc_world_error(t->world);
    return r;
}

/* A disc that stands upright at one side of the bear. Its drive follows the slider of the gripper. */
static embipc_result add_plate(stage *t, int side)
{
    static const double upright[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0};
    embipc_body_def d = describe(t, &plate, EMBIPC_KINEMATIC);
    embipc_drive_def grip = embipc_default_drive_def();
    embipc_result r;
    d.name = "plate";
    memcpy(d.rotation, upright, sizeof upright);
    d.position[1] = (side ? 0.5 : -0.5) * (t->gap + plate_size[1]);
    d.position[2] = 0.062;
    r = add(t, &d, &t->plate[side]);
    grip.body = t->plate[side];
    return r ? r : embipc_drive_create(t->world, &grip, &t->grip[side]);
}

static double chance(stage *t)                       /* 0 .. 1, the same for each visit of the page */
{
    t->seed = t->seed * 1664525u + 1013904223u;
    return (t->seed >> 8) / 16777216.0;
}

/* Two turns about z and x by any angle. */
static void turn(stage *t, double rotation[9])
{
    double a = 6.28 * chance(t), b = 6.28 * chance(t), c = cos(a), d = sin(a), e = cos(b), f = sin(b);
    double r[9] = {0};
    r[0] = c; r[1] = -d * e; r[2] = d * f;
    r[3] = d; r[4] = c * e;  r[5] = -c * f;
    r[7] = f; r[8] = e;
    memcpy(rotation, r, sizeof r);
}

/* A box of rubber above the bear, or as much higher as other boxes need. The oldest box makes room. */
static embipc_result drop_box(stage *t)
{
    embipc_body_def d = describe(t, &box, EMBIPC_AFFINE);
    embipc_body_state state;
    embipc_result r = EMBIPC_ERR_INTERSECTION;
    embipc_body fresh;
    if (t->boxes == MOST_BOXES) {
        if (t == &s && held.index1 == t->box[0].index1) hand.index1 = 0, held.index1 = 0;
        embipc_body_destroy(t->world, t->box[0]);
        memmove(t->box, t->box + 1, (size_t)--t->boxes * sizeof *t->box);
    }
    embipc_body_get_state(t->world, t->bear, &state);
    d.name = "box";
    d.material.young = 1e6;
    d.material.density = 600;
    for (int k = 0; k < 2; k++) d.position[k] = fmin(fmax(state.centre[k], -0.3), 0.3) + 0.05 * (chance(t) - 0.5);
    turn(t, d.rotation);
    d.position[2] = fmax(0.24, state.centre[2] + 0.16);
    for (int tries = 0; r == EMBIPC_ERR_INTERSECTION && tries < 20; tries++, d.position[2] += 0.05)
        r = add(t, &d, &fresh);
    if (!r) t->box[t->boxes++] = fresh;
    return r;
}

static embipc_result build(stage *t, int boxes)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d;
    embipc_body unused;
    embipc_result r;
    wd.time_step = t->time_step;
    if ((r = embipc_world_create(&wd, &t->world, &fault)) != EMBIPC_OK) return r;
    d = describe(t, &ground, EMBIPC_FIXED);
    d.name = "ground";
    d.position[2] = -0.5 * ground_size[2] - 0.001;
    if ((r = add(t, &d, &unused)) != EMBIPC_OK) return r;
    d = describe(t, &bear, EMBIPC_CAGE);
    d.name = "bear";
    d.cage_nodes = t->cage_nodes;
    d.material.young = t->young;
    d.material.poisson = 0.45;
    if ((r = add(t, &d, &t->bear)) != EMBIPC_OK) return r;
    for (int side = 0; side < 2; side++)
        if ((r = add_plate(t, side)) != EMBIPC_OK) return r;
    while (boxes-- > 0)
        if ((r = drop_box(t)) != EMBIPC_OK) return r;
    return EMBIPC_OK;
}

/* The mesh of the bear, which the page keeps in memory of this module. Called once, before web_start(). */
EXPORT(web_bear) void web_bear(const double *x, int vertex_count, const int *triangles, int triangle_count)
{
    bear.x = x;
    bear.vertex_count = vertex_count;
    bear.triangles = triangles;
    bear.triangle_count = triangle_count;
    ground = make_shape(EMBIPC_BOX, ground_size, 1, ground_x, ground_tri, 12);
    box = make_shape(EMBIPC_BOX, box_size, 1, box_x, box_tri, 12);
    plate = make_shape(EMBIPC_CYLINDER, plate_size, PLATE_SIDES, plate_x, plate_tri, 4 * PLATE_SIDES);
}

EXPORT(web_alloc) void *web_alloc(int bytes) { return malloc((size_t)bytes); }

/* Begins anew with these values: Young's modulus, Pa; friction; h, s; wanted nodes of the cage. The plates begin open
 * and go where they were wanted. So many boxes fall. Returns 0, or a result with the world before left as it is. */
EXPORT(web_start) int web_start(double young, double friction, double time_step, int cage_nodes, int boxes)
{
    stage t = {0};
    embipc_result r;
    t.gap = 0.2;
    t.young = young;
    t.friction = friction;
    t.time_step = time_step;
    t.cage_nodes = cage_nodes;
    t.seed = 7;
    r = build(&t, boxes < MOST_BOXES ? boxes : MOST_BOXES);
    if (r) {
        embipc_world_destroy(t.world);
        return (int)r;
    }
    embipc_world_destroy(s.world);
    s = t;
    hand.index1 = held.index1 = 0;
    memset(&last, 0, sizeof last);
    return 0;
}

/* What the last call that failed says. */
EXPORT(web_text) const char *web_text(void) { return fault.text; }

static int judge(embipc_result r)
{
    if (r) fault = *embipc_world_error(s.world);
    return (int)r;
}

/* From the next step on, for all pairs of bodies. */
EXPORT(web_set_friction) int web_set_friction(double friction)
{
    int n = embipc_world_body_count(s.world);
    s.friction = friction;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            embipc_body a = embipc_world_body(s.world, j), b = embipc_world_body(s.world, i);
            embipc_result r = embipc_world_set_pair(s.world, a, b, friction, 1);
            if (r) return judge(r);
        }
    return 0;
}

EXPORT(web_drop) int web_drop(void)
{
    embipc_result r = drop_box(&s);
    return r ? (int)r : web_set_friction(s.friction);
}

EXPORT(web_set_time_step) int web_set_time_step(double time_step)
{
    s.time_step = time_step;
    return judge(embipc_world_set_time_step(s.world, time_step));
}

/* Where the plates shall go: the gap between them, and how far up from where they began. */
EXPORT(web_grip) void web_grip(double gap, double lift) { want_gap = gap, want_lift = lift; }

/* ---- Hand ----------------------------------------------------------------------------------- */

EXPORT(web_release) void web_release(void)
{
    if (hand.index1) embipc_drive_destroy(s.world, hand);
    hand.index1 = held.index1 = 0;
}

/* Does the segment meet the bear or a box before anything else? */
static int meets(double ax, double ay, double az, double bx, double by, double bz, embipc_hit *hit,
                 embipc_body_view *view)
{
    double from[3], to[3];
    from[0] = ax; from[1] = ay; from[2] = az;
    to[0] = bx; to[1] = by; to[2] = bz;
    if (embipc_world_cast_ray(s.world, from, to, ~0u, hit) != 1) return 0;
    embipc_body_get_view(s.world, hit->body, view);
    return view->kind != EMBIPC_FIXED && view->kind != EMBIPC_KINEMATIC;
}

EXPORT(web_over) int web_over(double ax, double ay, double az, double bx, double by, double bz)
{
    embipc_body_view view;
    embipc_hit hit;
    return meets(ax, ay, az, bx, by, bz, &hit, &view);
}

/* Takes hold of the triangle that the segment meets first, if it belongs to the bear or a box. The springs carry at
 * most three times the weight. Returns 1, or 0 if there is nothing to hold. */
EXPORT(web_take) int web_take(double ax, double ay, double az, double bx, double by, double bz)
{
    embipc_drive_def d = embipc_default_drive_def();
    embipc_body_state state;
    embipc_body_view view;
    embipc_hit hit;
    web_release();
    if (!meets(ax, ay, az, bx, by, bz, &hit, &view)) return 0;
    embipc_body_get_state(s.world, hit.body, &state);
    memcpy(held_vertex, view.triangles + 3 * hit.triangle, sizeof held_vertex);
    d.body = hit.body;
    d.vertices = held_vertex;
    d.vertex_count = 3;
    for (int k = 0; k < 3; k++) d.stiffness[k] = 300 * state.mass;
    d.damping = 0.08;
    d.force_limit = 30 * state.mass;
    if (judge(embipc_drive_create(s.world, &d, &hand))) return 0;
    held = hit.body;
    memcpy(hand_start, hit.point, sizeof hand_start);
    memcpy(hand_at, hit.point, sizeof hand_at);
    memcpy(hand_want, hit.point, sizeof hand_want);
    return 1;
}

/* Pulls what is held towards this point. */
EXPORT(web_pull) void web_pull(double x, double y, double z) { hand_want[0] = x, hand_want[1] = y, hand_want[2] = z; }

/* ---- Steps ---------------------------------------------------------------------------------- */

/* v, or as near to `to` as a change of at most `most` allows */
static double towards(double v, double to, double most) { return v + fmin(fmax(to - v, -most), most); }

/* A mouse may jump; the hand follows it at a speed that steps can bear. */
static void move_hand(void)
{
    static const double still[3] = {0, 0, 0};
    double way[3], left = 0;
    if (!hand.index1) return;
    for (int k = 0; k < 3; k++) left += (hand_want[k] - hand_at[k]) * (hand_want[k] - hand_at[k]);
    left = sqrt(left);
    for (int k = 0; k < 3; k++) {
        hand_at[k] += (hand_want[k] - hand_at[k]) * (left > 0 ? fmin(1, hand_speed * s.time_step / left) : 0);
        way[k] = hand_at[k] - hand_start[k];
    }
    embipc_drive_set_target(s.world, hand, way, still);
}

EXPORT(web_step) int web_step(void)
{
    static const double still[3] = {0, 0, 0};
    move_hand();
    s.gap = towards(s.gap, want_gap, 2 * plate_speed * s.time_step);
    s.lift = towards(s.lift, want_lift, plate_speed * s.time_step);
    for (int side = 0; side < 2; side++) {
        double way[3] = {0, 0, 0};
        way[1] = (side ? 0.5 : -0.5) * (s.gap - 0.2);
        way[2] = s.lift;
        embipc_drive_set_target(s.world, s.grip[side], way, still);
    }
    return judge(embipc_world_step(s.world, &last));
}

/* embipc_world_validate(): 0, or what is wrong, as text in web_text(). */
EXPORT(web_validate) int web_validate(void) { return (int)embipc_world_validate(s.world, &fault); }

/* Crossings of surfaces, by exact arithmetic. */
EXPORT(web_crossings) int web_crossings(void) { return embipc_world_intersections(s.world, NULL, 0); }

/* What there is to tell: time, iterations, contacts, smallest distance (inf: no contact), 1 if the step converged,
 * force of the plates, gap and lift of the plates, boxes, nodes of the cage, height and width (along y) of the bear,
 * its centre (3), unknowns. */
EXPORT(web_numbers) const double *web_numbers(void)
{
    embipc_body_view v;
    embipc_body_state state;
    embipc_drive_state grip;
    double lo[3] = {1e9, 1e9, 1e9}, hi[3] = {-1e9, -1e9, -1e9}, force = 0;
    embipc_body_get_view(s.world, s.bear, &v);
    embipc_body_get_state(s.world, s.bear, &state);
    for (int i = 0; i < 3 * v.vertex_count; i++) {
        lo[i % 3] = fmin(lo[i % 3], v.x[i]);
        hi[i % 3] = fmax(hi[i % 3], v.x[i]);
    }
    for (int side = 0; side < 2; side++)
        if (!embipc_drive_get_state(s.world, s.grip[side], &grip)) force += 0.5 * fabs(grip.force[1]);
    numbers[0] = last.time;
    numbers[1] = last.newton_iterations;
    numbers[2] = last.contacts;
    numbers[3] = last.step ? last.min_distance : (double)INFINITY;
    numbers[4] = last.converged;
    numbers[5] = force;
    numbers[6] = s.gap;
    numbers[7] = s.lift;
    numbers[8] = s.boxes;
    numbers[9] = v.node_count;
    numbers[10] = hi[2] - lo[2];
    numbers[11] = hi[1] - lo[1];
    memcpy(numbers + 12, state.centre, sizeof state.centre);
    numbers[15] = last.unknowns;
    return numbers;
}

/* ---- What is drawn -------------------------------------------------------------------------- */

EXPORT(web_body_count) int web_body_count(void) { return embipc_world_body_count(s.world); }

/* Integers: a number that no other body of this world has, kind, vertices, triangles and where they are, nodes of the
 * cage, tets and where they are. Addresses are in bytes. */
EXPORT(web_body) const int *web_body(int i)
{
    static int out[8];
    embipc_body body = embipc_world_body(s.world, i);
    const surface *f = (const surface *)embipc_body_get_user(s.world, body);
    embipc_body_view v;
    embipc_body_get_view(s.world, body, &v);
    out[0] = (int)(64 * body.generation + (unsigned)body.index1);
    out[1] = (int)v.kind;
    out[2] = f->vertex_count;
    out[3] = f->triangle_count;
    out[4] = (int)(size_t)f->triangles;
    out[5] = v.node_count;
    out[6] = v.tet_count;
    out[7] = (int)(size_t)v.tets;
    return out;
}

/* Vertices in the order of the given mesh, at a moment of the last step: alpha 0 is its start, 1 its end. */
EXPORT(web_vertices) const float *web_vertices(int i, double alpha)
{
    static float now[3 * MOST_VERTICES];
    embipc_body body = embipc_world_body(s.world, i);
    embipc_body_view v;
    embipc_body_get_view(s.world, body, &v);
    if (embipc_body_write_vertices(s.world, body, alpha, sizeof(float), 3 * sizeof(float), now, NULL)) return vertices;
    for (int k = 0; k < v.vertex_count; k++) memcpy(vertices + 3 * v.vertex_origin[k], now + 3 * k, 3 * sizeof *now);
    return vertices;
}

/* Nodes of the cage, at the end of the last step. */
EXPORT(web_nodes) const double *web_nodes(int i)
{
    embipc_body_view v;
    embipc_body_get_view(s.world, embipc_world_body(s.world, i), &v);
    for (int k = 0; k < 3 * v.node_count && k < 3 * MOST_NODES; k++) nodes[k] = v.q[k];
    return nodes;
}

/* The point that is held, and where the hand pulls it (6 numbers); NULL while nothing is held. */
EXPORT(web_hand) const double *web_hand(void)
{
    static double out[6];
    embipc_body_view v;
    if (!hand.index1 || embipc_body_get_view(s.world, held, &v)) return NULL;
    for (int k = 0; k < 3; k++) {
        out[k] = 0;
        for (int c = 0; c < 3; c++) out[k] += v.x[3 * held_vertex[c] + k] / 3;
        out[3 + k] = hand_at[k];
    }
    return out;
}
