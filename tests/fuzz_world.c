/* Random worlds inside a closed room, with everything that can go wrong: any kind and shape, sizes from a
 * millimetre to a kilometre, far origins, thickness, friction, damping, extreme stiffness, drives that push bodies
 * into each other and into the walls, joints of all kinds that change, bullets, forces, limits, memory that runs out,
 * bodies that come and go, resets.
 * After every step: no crossing (exact arithmetic), nothing outside the room, all finite, no NaN in the statistics,
 * a failed call leaves every bit as it was.
 * Usage: fuzz_world [seconds of processor time | -SEED]      -SEED runs one world and tells each step. Not part of `make test`: `make fuzz`. */
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "geometry_test.h"
#include <time.h>

typedef struct faulty { long count, fail_at; } faulty;
static void *faulty_alloc(size_t size, void *ctx)
{
    faulty *f = (faulty *)ctx;
    return ++f->count == f->fail_at ? NULL : malloc(size);
}
static void faulty_free(void *p, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    free(p);
}

static int talk;
static double size, origin[3];   /* of the present world */
static embipc_joint joints[8];

static int pick(int n) { return (int)(test_random() * n) % n; }
static int chance(double p) { return test_random() < p; }
static double scale10(double lo, double hi) { return pow(10, test_uniform(lo, hi)); }

static test_mesh random_mesh(embipc_kind kind)
{
    int shape = pick(4);
    test_mesh m;
    if (shape == 0 || (shape == 3 && kind == EMBIPC_FULL)) {
        double a = test_uniform(0.1, 1), b = test_uniform(0.1, 1), c = scale10(-2, 0);
        m = scene_mesh_tet_box(1 + pick(3), 1 + pick(3), 1 + pick(2), a, b, c);
    } else if (shape == 3) m = scene_mesh_spike(test_uniform(0.05, 0.5), test_uniform(0.1, 1));
    else {
        double r = test_uniform(0.1, 0.6);
        m = test_mesh_sphere(shape - 1);
        scene_stretch(&m, r, r * test_uniform(0.3, 1), r * test_uniform(0.3, 1));
        if (kind == EMBIPC_FULL) scene_fill(&m);
    }
    return m;
}

static void random_body(scene *s)
{
    static const char *const names[5] = {"fixed", "kinematic", "affine", "cage", "full"};
    embipc_kind kind = (embipc_kind)(1 + pick(4));
    embipc_body_def d = scene_def(names[kind], kind, 0, 0, 0);
    test_mesh m = random_mesh(kind);
    for (int i = 0; i < 3; i++) {
        d.position[i] = origin[i] + size * test_uniform(-2.2, 2.2);
        d.velocity[i] = chance(0.3) ? size * test_uniform(-1, 1) * scale10(-1, 3) : 0;
        d.angular_velocity[i] = chance(0.2) ? test_uniform(-1, 1) * scale10(-1, 2.5) : 0;
    }
    d.scale = size;
    geometry_rotation(d.rotation);
    d.friction = chance(0.7) ? test_uniform(0, 1.5) : 0;
    d.thickness = chance(0.2) ? size * scale10(-4, -2) : 0;
    d.self_contact = 1;   /* scene_sound() asks for crossings with itself, too */
    d.dhat = chance(0.2) ? size * scale10(-5, -1) : 0;
    d.kappa = chance(0.1) ? scale10(0, 8) : 0;
    d.tolerance = chance(0.1) ? size * scale10(-9, -1) : 0;
    d.cage_nodes = chance(0.3) ? 4 : 6 + pick(20);
    d.material.young = scale10(2, 10);
    d.material.poisson = test_uniform(-0.5, 0.499);
    d.material.density = scale10(0, 4.5);
    if (kind == EMBIPC_AFFINE && chance(0.4)) d.material.model = EMBIPC_ORTHOGONALITY, d.material.stiffness = scale10(3, 9);
    else if (chance(0.5)) {   /* any other model, with parameters of its own */
        d.material.model = (embipc_model)(EMBIPC_ARAP + pick(EMBIPC_MODEL_COUNT - EMBIPC_ARAP));
        d.material.mooney[0] = scale10(2, 9);
        d.material.mooney[1] = scale10(2, 9);
        d.material.mooney[2] = (d.material.mooney[0] + d.material.mooney[1]) * scale10(0.2, 3);
        if (chance(0.3)) d.material.fibre[pick(3)] = 1, d.material.fibre_stiffness = scale10(2, 10);
    }
    if (chance(0.3)) d.material.damping[0] = scale10(-2, 1), d.material.damping[1] = scale10(-4, 0);
    if (chance(0.1)) d.material.averaged = pick(2);
    if (kind == EMBIPC_FULL && chance(0.3)) d.material.determinant_bound = 1;
    test_mesh_shape(&m, &d);
    if (s->n < SCENE_BODIES - 1) {
        unsigned long long bits = scene_bits(s->w);
        if (embipc_body_create(s->w, &d, &s->body[s->n]) == EMBIPC_OK) s->n++;
        else ENSURE(bits == scene_bits(s->w) && strlen(embipc_world_error(s->w)->text) > 5);
    }
    test_mesh_free(&m);
}

/* Fixed boxes, or sheets, that are flush: in rows, moved along like bricks or not, a few missing, in any order. */
static void random_tiles(scene *s)
{
    double R[9], at[3], mu = chance(0.7) ? test_uniform(0, 1.5) : 0, w = test_uniform(0.2, 0.5), h = test_uniform(0.05, 0.3),
           brick = chance(0.5) ? test_uniform(0, w) : 0;
    int nx = 1 + pick(3), ny = 1 + pick(3), sheets = chance(0.2);
    embi_m3_identity(R);
    if (chance(0.5)) geometry_rotation(R);
    for (int i = 0; i < 3; i++) at[i] = origin[i] + size * test_uniform(-1.5, 1.5);
    for (int n = 0; n < nx * ny && s->n < SCENE_BODIES - 8; n++) {
        int k = n * 5 % (nx * ny), i = k % nx, j = k / nx;
        double x = w * i + (j % 2 ? brick : 0), y = w * j;
        test_mesh m = test_mesh_box(x, y, -h, x + w, y + w, 0);
        embipc_body_def d = scene_def("tile", EMBIPC_FIXED, at[0], at[1], at[2]);
        if (sheets) {   /* its top alone */
            memcpy(m.tri, m.tri + 6, 6 * sizeof *m.tri);
            for (int c = 0; c < 6; c++) m.tri[c] -= 4;
            memmove(m.x, m.x + 12, 12 * sizeof *m.x);
            m.tri_count = 2;
            m.vertex_count = 4;
        }
        d.scale = size;
        memcpy(d.rotation, R, sizeof R);
        d.friction = chance(0.05) ? test_uniform(0, 1.5) : mu;   /* now and then no part of the others' surface */
        d.thickness = chance(0.02) ? size * scale10(-4, -2) : 0;
        test_mesh_shape(&m, &d);
        if (!chance(0.1) && embipc_body_create(s->w, &d, &s->body[s->n]) == EMBIPC_OK) s->n++;
        test_mesh_free(&m);
    }
}

static void random_drive(scene *s)
{
    double keys[21];
    embipc_drive_def d = embipc_default_drive_def();
    embipc_body_view v;
    int nodes[64], n = 0;
    if (s->n < 2 || s->drives >= SCENE_BODIES) return;
    d.body = s->body[1 + pick(s->n - 1)];
    if (embipc_body_get_view(s->w, d.body, &v) != EMBIPC_OK) return;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 7; i++)
            keys[7 * k + i] = i == 0 ? 0.2 * k : i < 4 ? size * test_uniform(-1, 1) * 3 * k
                              : chance(0.5)            ? test_uniform(-2, 2) * k : 0;
    d.keys = keys;
    d.key_count = 3;
    for (int i = 0; i < 3; i++) d.centre[i] = v.x[i];
    for (int i = 0; v.kind == EMBIPC_FULL && i < v.node_count && n < 64; i++)
        if (chance(0.2)) nodes[n++] = i;
    if (n) d.nodes = nodes, d.node_count = n;
    if (v.kind >= EMBIPC_AFFINE && chance(0.4)) {   /* soft, from a breath to what is as good as rigid */
        double k = pow(10, test_uniform(-3, 9));
        d.nodes = NULL;
        for (n = 0; n < 64 && n < v.vertex_count; n++) nodes[n] = n;
        if (chance(0.7)) d.vertices = nodes, d.vertex_count = 1 + pick(n);
        for (int i = 0; i < 3; i++) d.stiffness[i] = chance(0.8) ? k : 0;
        if (!(d.stiffness[0] + d.stiffness[1] + d.stiffness[2] > 0)) d.stiffness[0] = k;
        if (chance(0.5)) d.damping = pow(10, test_uniform(-4, 1));
        if (chance(0.5)) d.force_limit = pow(10, test_uniform(-3, 5));
    }
    if (embipc_drive_create(s->w, &d, &s->drive[s->drives]) == EMBIPC_OK) s->drives++;
}

/* every vertex of every body strictly inside the walls: the room stands still, so its inner faces are coordinates */
static int all_inside(const scene *s)
{
    embipc_body_view room, v;
    double lo[3], hi[3];
    if (embipc_body_get_view(s->w, s->body[0], &room) != EMBIPC_OK) return 0;
    for (int i = 0; i < 3; i++) {
        lo[i] = HUGE_VAL;
        hi[i] = -HUGE_VAL;
    }
    for (int i = 0; i < room.vertex_count; i++)
        for (int c = 0; room.vertex_origin[i] >= 8 && c < 3; c++) {   /* 0 to 7 are the outside of the walls */
            lo[c] = fmin(lo[c], room.x[3 * i + c]);
            hi[c] = fmax(hi[c], room.x[3 * i + c]);
        }
    for (int b = 0; b < embipc_world_body_count(s->w); b++) {
        if (embipc_body_get_view(s->w, embipc_world_body(s->w, b), &v) != EMBIPC_OK || v.x == room.x) continue;
        for (int i = 0; i < 3 * v.vertex_count; i++)
            if (!(v.x[i] > lo[i % 3]) || !(v.x[i] < hi[i % 3])) return 0;
    }
    return 1;
}

/* Puts a body anywhere, if it may be there; one that is outside the room then comes back to where it was. */
static void jump(scene *s, embipc_body b)
{
    double to[3], R[9], w[3];
    unsigned long long bits = scene_bits(s->w);
    embipc_pose was;
    if (embipc_body_get_pose(s->w, b, 1, &was) != EMBIPC_OK) return;
    for (int i = 0; i < 3; i++) {
        to[i] = chance(0.5) ? origin[i] + size * test_uniform(-1.5, 1.5) : was.position[i] + size * test_uniform(-1, 1) * scale10(-6, -1);
        w[i] = test_uniform(-3, 3);
    }
    embi_m3_rotation(R, w);
    if (embipc_body_set_pose(s->w, b, to, chance(0.5) ? R : was.rotation, chance(0.5)) != EMBIPC_OK) {
        ENSURE(bits == scene_bits(s->w) && strlen(embipc_world_error(s->w)->text) > 5);
        return;
    }
    ENSURE(scene_sound(s->w));
    if (!all_inside(s)) ENSURE_OK(s->w, embipc_body_set_pose(s->w, b, was.position, was.rotation, 0));
}

/* all that is asked between steps */
static void ask(scene *s)
{
    double from[3], to[3];
    embipc_hit h;
    embipc_contact_event events[64];
    embipc_body list[8];
    unsigned long long bits = scene_bits(s->w);
    for (int i = 0; i < 3; i++) from[i] = origin[i] + size * test_uniform(-1, 1), to[i] = origin[i] + 3 * size * test_uniform(-1, 1);
    if (embipc_world_cast_ray(s->w, from, to, ~0u, &h) == 1) ENSURE(h.fraction >= 0 && h.fraction <= 1 && isfinite(h.point[0]));
    ENSURE(embipc_world_closest(s->w, from, (double)INFINITY, ~0u, &h) == 1 && isfinite(h.distance));
    for (int i = 0; i < 3; i++) to[i] = from[i] + size * test_random();
    ENSURE(embipc_world_overlap(s->w, from, to, ~0u, list, 8) >= 0);
    for (int n = embipc_world_contact_events(s->w, events, 64); n > 0; n--)
        if (n <= 64) ENSURE(isfinite(events[n - 1].impulse[0] + events[n - 1].point[0] + events[n - 1].normal[0]));
    ENSURE(bits == scene_bits(s->w));
}

/* Numbers of a joint that a call may change. */
static void random_joint_numbers(embipc_joint_def *d, double at)
{
    d->limited = d->kind != EMBIPC_WELD && d->kind != EMBIPC_ATTACH && chance(0.5);
    d->limits[0] = d->kind == EMBIPC_ROD ? at * test_random() : at - scale10(-3, 1) * (d->kind == EMBIPC_SLIDER ? size : 1);
    d->limits[1] = d->limits[0] + scale10(-3, 1) * (d->kind == EMBIPC_HINGE || d->kind == EMBIPC_BALL ? 1 : size);
    d->twist = d->limited && d->kind == EMBIPC_BALL && chance(0.5) ? test_uniform(0.01, 3) : 0;
    d->stiffness = chance(0.2) ? scale10(0, 9) : 0;
    if (d->kind != EMBIPC_HINGE && d->kind != EMBIPC_SLIDER) return;
    d->friction = chance(0.3) ? scale10(-3, 4) : 0;
    d->motor_stiffness = chance(0.4) ? scale10(-3, 7) : 0;
    d->motor_damping = chance(0.4) ? scale10(-3, 5) : 0;
    d->motor_limit = chance(0.4) ? scale10(-3, 5) : 0;
}

/* A new joint, or a change of one, or its end. What fails changes nothing. All bodies may still touch, so that all pairs
 * are checked. */
static void random_joint(scene *s)
{
    embipc_joint_def d = embipc_default_joint_def();
    embipc_joint *j = &joints[pick(8)];
    embipc_joint_state now;
    embipc_body_state b;
    unsigned long long bits = scene_bits(s->w);
    embipc_result r;
    if (embipc_joint_get_state(s->w, *j, &now) == EMBIPC_OK) {
        ENSURE(isfinite(now.position + now.velocity + now.twist + now.effort + now.force[0] + now.torque[0] + now.gap));
        if (embipc_joint_get_def(s->w, *j, &d) == EMBIPC_OK) random_joint_numbers(&d, now.position);
        r = chance(0.2) ? embipc_joint_destroy(s->w, *j) : chance(0.6) ? embipc_joint_change(s->w, *j, &d)
          : embipc_joint_set_motor(s->w, *j, test_uniform(-3, 3), test_uniform(-9, 9), scale10(-3, 5));
    } else {
        d.kind = (embipc_joint_kind)pick(EMBIPC_JOINT_KINDS);
        d.b = s->body[s->n > 1 ? 1 + pick(s->n - 1) : 0];   /* 0 is the room */
        if (chance(0.7)) d.a = s->body[pick(s->n)];
        (void)embipc_body_get_state(s->w, d.b, &b);
        for (int i = 0; i < 3; i++) {
            d.point[i] = b.centre[i] + size * test_uniform(-0.5, 0.5);
            d.point_b[i] = b.centre[i] + size * test_uniform(-0.2, 0.2);
            d.axis[i] = test_uniform(-1, 1);
        }
        random_joint_numbers(&d, d.kind == EMBIPC_ROD ? embi_distance(d.point, d.point_b) : 0);
        d.contact = 1;
        r = embipc_joint_create(s->w, &d, j);
    }
    if (talk) printf("  joint of kind %d: %s\n", (int)d.kind, r == EMBIPC_OK ? "ok" : embipc_world_error(s->w)->text);
    if (r != EMBIPC_OK) ENSURE(bits == scene_bits(s->w) && strlen(embipc_world_error(s->w)->text) > 5);
}

static void disturb(scene *s, faulty *f)
{
    static const double none[3] = {0, 0, 0};
    double force[3];
    embipc_body b = s->n > 1 ? s->body[1 + pick(s->n - 1)] : s->body[0];
    for (int i = 0; i < 3; i++) force[i] = test_uniform(-1, 1) * scale10(-3, 9);
    switch (pick(18)) {
    case 0: (void)embipc_body_apply_force(s->w, b, chance(0.5) ? -1 : 0, force); break;
    case 1: (void)embipc_world_set_limits(s->w, 1 + pick(6), NULL); break;
    case 2: (void)embipc_world_set_limits(s->w, 60, NULL); break;
    case 3: random_body(s); break;
    case 4:
        if (s->n > 2 && chance(0.3) && embipc_body_destroy(s->w, s->body[s->n - 1]) == EMBIPC_OK) s->n--;
        break;
    case 5: f->fail_at = f->count + 1 + pick(6); break;
    case 6: random_drive(s); break;
    case 7: (void)embipc_world_set_gravity(s->w, force); break;
    case 8: (void)embipc_world_set_time_step(s->w, scale10(-4, -0.5)); break;
    case 9:
        for (int i = 0; i < 3; i++) force[i] = size * test_uniform(-1, 1) * scale10(-2, 3);
        (void)embipc_body_set_velocity(s->w, b, force, none);
        break;
    case 10: jump(s, b); break;
    case 11: (void)embipc_body_apply_wrench(s->w, b, chance(0.5) ? force : NULL, force, chance(0.5) ? origin : NULL); break;
    case 12: (void)embipc_body_apply_impulse(s->w, b, force, chance(0.5) ? force : NULL, chance(0.5) ? origin : NULL); break;
    case 13: (void)embipc_body_apply_pressure(s->w, b, force[0]); break;
    case 14: ask(s); break;
    case 15:
    case 16: random_joint(s); break;
    default:
        if (chance(0.2)) (void)embipc_world_reset(s->w);
    }
}

static void one_world(unsigned long long seed)
{
    faulty f = {0, -1};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d;
    test_mesh room;
    scene s;
    int bad = test_bad;
    test_seed = seed;
    memset(joints, 0, sizeof joints);
    for (int k = 0; k < 5; k++) (void)test_random();
    size = chance(0.5) ? 1 : scale10(-3, 3);
    for (int i = 0; i < 3; i++) origin[i] = chance(0.3) ? size * test_uniform(-1, 1) * scale10(0, 7) : 0;
    wd.allocator.alloc = faulty_alloc;
    wd.allocator.free = faulty_free;
    wd.allocator.ctx = &f;
    wd.time_step = chance(0.8) ? 0.01 : scale10(-4, -0.5);
    wd.solver = chance(0.7) ? EMBIPC_SOLVER_AUTO : (embipc_solver)pick(4);
    wd.max_iterations = 60;
    wd.friction_iterations = 1 + pick(2);
    wd.integrator = chance(0.3) ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER;
    for (int i = 0; i < 3; i++) wd.gravity[i] *= size * scale10(-1, 1);
    s = scene_empty(&wd);
    room = test_mesh_hollow_box(3.2, 3);
    d = scene_def("room", EMBIPC_FIXED, origin[0], origin[1], origin[2]);
    d.scale = size;
    d.friction = chance(0.5) ? 0.5 : 0;
    if (scene_add_mesh(&s, &d, &room, 0) < 0) { scene_end(&s); return; }
    if (chance(0.4)) random_tiles(&s);
    for (int k = chance(0.2) ? 16 : 1 + pick(6); k > 0; k--) random_body(&s);   /* a heap, now and then */
    for (int k = pick(3); k > 0; k--) random_drive(&s);
    for (int k = chance(0.5) ? 2 + pick(6) : 0; k > 0; k--) random_joint(&s);
    for (int n = 0; n < 20 && test_bad == bad; n++) {
        unsigned long long bits = scene_bits(s.w);
        embipc_result r = embipc_world_step(s.w, &s.stats);
        f.fail_at = -1;
        if (r != EMBIPC_OK) ENSURE(bits == scene_bits(s.w) && strlen(embipc_world_error(s.w)->text) > 5);
        else {
            ENSURE(s.stats.min_distance > 0);
            ENSURE(isfinite(s.stats.kinetic + s.stats.elastic + s.stats.barrier + s.stats.potential + s.stats.max_speed));
            if (!s.drives && s.stats.drive_work == 0 && wd.friction_iterations == 1)
                ENSURE(s.stats.passes > 1 || s.stats.objective_after <= s.stats.objective_before + s.stats.objective_rounding);
        }
        ENSURE(scene_sound(s.w));
        ENSURE(all_inside(&s));
        if (talk && s.stats.objective_after > s.stats.objective_before)
            printf("  objective %.17g to %.17g J, rounding %g, %d friction passes\n", s.stats.objective_before, s.stats.objective_after,
                   s.stats.objective_rounding, wd.friction_iterations);
        if (talk)
            printf("step %d: %s, %d iterations, converged %d, contacts %d, gap %.3g m, speed %.3g m/s\n", n,
                   r == EMBIPC_OK ? "ok" : embipc_world_error(s.w)->text, s.stats.newton_iterations, s.stats.converged,
                   s.stats.contacts, s.stats.min_distance, s.stats.max_speed);
        if (chance(0.25)) disturb(&s, &f);
    }
    if (test_bad != bad) printf("world of seed %llu is broken: fuzz_world -%llu\n", seed, seed);
    scene_end(&s);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 60;
    unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, worlds = 0;
    test_name = "one_world";
    if (seconds < 0) {
        talk = 1;
        one_world((unsigned long long)-seconds);
        return test_bad != 0;
    }
    for (; (double)clock() < seconds * CLOCKS_PER_SEC; worlds++) one_world(seed++);
    printf("fuzz_world: %llu worlds up to seed %llu, %d broken checks\n", worlds, seed - 1, test_bad);
    test_unused();
    meshio_test_unused();
    return test_bad != 0;
}
