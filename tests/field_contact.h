/* Contacts of inputs from the field: slits far narrower than dhat, bodies crushed flat. Included by test_field.c. */
#ifndef FIELD_CONTACT_H
#define FIELD_CONTACT_H
#include "scene_test.h"

/* ---- slits ---- */

/* A block of 0.1 x 0.03 x 0.04 m with a slit of so many metres from one side nearly to the other: two prongs 2 cm
 * thick. */
static test_mesh field_peg(double slit)
{
    static const double x[8] = {0, 0.1, 0.1, 0.02, 0.02, 0.1, 0.1, 0};
    static const int f[84] = {0, 1, 2, 0, 2, 3, 0, 3, 7, 3, 4, 7, 4, 5, 6, 4, 6, 7, 10, 9, 8, 11, 10, 8, 15, 11, 8,
                              15, 12, 11, 14, 13, 12, 15, 14, 12, 9, 1, 0, 8, 9, 0, 10, 2, 1, 9, 10, 1, 11, 3, 2,
                              10, 11, 2, 12, 4, 3, 11, 12, 3, 13, 5, 4, 12, 13, 4, 14, 6, 5, 13, 14, 5, 15, 7, 6,
                              14, 15, 6, 8, 0, 7, 15, 8, 7};
    test_mesh m = test_mesh_make(16, 28, 0);
    memcpy(m.tri, f, sizeof f);
    for (int i = 0; i < 16; i++) {
        m.x[3 * i] = x[i % 8];
        m.x[3 * i + 1] = i < 8 ? 0 : 0.03;
        m.x[3 * i + 2] = (i % 8 < 2 ? 0 : i % 8 < 4 ? 0.02 : i % 8 < 6 ? 0.02 + slit : 0.04 + slit);
    }
    return m;
}

static int field_told;   /* calls of the log that say so */
static void field_log(int level, const char *text, void *ctx)
{
    (void)level;
    (void)ctx;
    field_told += strstr(text, "stands still") != NULL;
}

/* the peg 5 cm above a floor; its arms swing for a second, and some impacts that close its slit take over 100 solves */
static scene field_peg_scene(test_mesh *m, double young, double h)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("peg", EMBIPC_CAGE, 0, 0, 0.05);
    scene s;
    wd.time_step = h;
    wd.log = field_log;
    wd.max_iterations = 200;
    s = scene_empty(&wd);
    scene_ground(&s, 1, 0.5);
    d.cage_nodes = 40;
    d.friction = 0.5;
    d.material.young = young;
    scene_add_mesh(&s, &d, m, 0);
    return s;
}

/* A pair whose dhat is cut to half of a slit bears what others bear: the peg falls, bounces and comes to rest like one
 * whose slit is wide. (Where kappa does not follow, the world stands still from its first impact on.) */
static void test_slit_bears_its_load(void)
{
    static const double slit[7] = {1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-7};
    double rest = 0;
    for (int k = 0; k < 7; k += 1 + TEST_STRIDE / 2)   /* the first and the last one always */
        for (int n = 0; n < 2; n++) {
            test_mesh m = field_peg(slit[k]);
            embipc_body_state at;
            int stuck = 0;
            scene s;
            if (k == 6 && test_data("field/01-slit-freezes/peg_100nm.obj")) {   /* the one of the report */
                test_mesh_free(&m);
                m = test_mesh_read(test_data("field/01-slit-freezes/peg_100nm.obj"));
            }
            s = field_peg_scene(&m, 1e6, n ? 0.002 : 0.01);
            for (int i = 0; i < (n ? 800 : 160) && scene_step(&s); i++) stuck += s.stats.stuck + !s.stats.converged;
            ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[1], &at));
            if (k == 0) rest = at.centre[2];
            ENSURE(stuck == 0);
            ENSURE(scene_sound(s.w));
            ENSURE(s.stats.max_speed < 1e-3);
            ENSURE_REL(at.centre[2], rest, 0.03);
            scene_end(&s);
        }
}

/* A slit of 1e-13 m that a soft peg presses leaves no way to arithmetic: pegs of 1e3 and 3e3 Pa stand still with slits of
 * 1e-13 to 1e-12 m. That is told, and the world stays sound. */
static void test_stuck_is_told(void)
{
    test_mesh m = field_peg(1e-13);
    scene s = field_peg_scene(&m, 3e3, 0.01);
    int stuck = 0;
    field_told = 0;
    for (int i = 0; i < 9 && scene_step(&s); i++) ENSURE(s.stats.stuck == 0 && s.stats.converged);
    for (int i = 9; i < 100 && stuck < 17 && scene_step(&s); i++) stuck += s.stats.stuck;
    ENSURE(stuck == 17 && !s.stats.converged && s.stats.max_speed == 0);
    ENSURE(field_told >= 5 && field_told <= 7);   /* the first, the second, the fourth ... of them */
    ENSURE(scene_sound(s.w));
    scene_end(&s);
    m = field_peg(1e-3);
    s = field_peg_scene(&m, 1e6, 0.01);
    for (int i = 0; i < 60 && scene_step(&s); i++) ENSURE(s.stats.stuck == 0);
    scene_end(&s);
}

/* ---- crushed ---- */

/* Volume of an affine body over that at its start, by a tet of surface vertices */
static double field_volume(const scene *s, int body, const double *start)
{
    embipc_body_view v;
    (void)embipc_body_get_view(s->w, s->body[body], &v);
    return embi_tet_det(v.x, v.x + 3, v.x + 9, v.x + 12) / embi_tet_det(start, start + 3, start + 9, start + 12);
}

/* A soft affine block that spins by 3 rad a step is flattened to its least volume at once, and pressed besides. It
 * falls on, and has its shape again when the press has gone. (Where all that flattens it further is barred, it stands
 * still for ever.) */
static void test_crushed_affine_comes_free(void)
{
    for (int k = 0; k < 6; k++) {
        double keys[28] = {0, 0, 0, 0, 0, 0, 0, 0.3, 0, 0, -0.08, 0, 0, 0, 0.5, 0, 0, -0.08, 0, 0, 0, 0.7, 0, 0, 0, 0, 0, 0}, x[24], least = 1, young = k / 2 == 2 ? 1e4 : 1e3;
        static const double centre[3] = {0, 0, 0.1};
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("block", EMBIPC_AFFINE, 0, 0, 0.031);
        embipc_body_view v;
        scene s;
        int stuck = 0;
        if (k % 2) {
            wd.dhat = 1e-3;
            wd.kappa = 40.7;
        }
        s = scene_empty(&wd);
        scene_ground(&s, 1, 0.6);
        d.friction = 0.6;
        d.material.young = young;
        d.angular_velocity[0] = k / 2 == 1 ? 20 : 200;
        d.angular_velocity[2] = k / 2 == 1 ? 0 : 300;
        scene_box(&s, d, 0.03, 0.03, 0.03, 1);
        d = scene_def("press", EMBIPC_KINEMATIC, 0, 0, 0.1);
        d.friction = 0.6;
        scene_box(&s, d, 0.3, 0.3, 0.02, 1);
        scene_drive(&s, 2, keys, 4, centre, NULL, 0);
        ENSURE_OK(s.w, embipc_body_get_view(s.w, s.body[1], &v));
        memcpy(x, v.x, sizeof x);
        for (int i = 0; i < 150 && scene_step(&s); i++) {
            stuck += s.stats.stuck;
            least = fmin(least, field_volume(&s, 1, x));
            ENSURE(least > 0);
        }
        printf("  affine block of %g Pa spun and crushed: least volume %.2g, %.3g in the end, %d steps stuck\n", young, least, field_volume(&s, 1, x), stuck);
        ENSURE(stuck == 0);
        ENSURE(s.stats.converged);
        ENSURE_CLOSE(field_volume(&s, 1, x), 1, 0.15);
        ENSURE(scene_sound(s.w));
        scene_end(&s);
    }
}

/* ---- fits ---- */

/* A square frame, its top at z = 0: outer and inner half width and height, m */
static test_mesh field_frame(double outer, double inner, double height)
{
    static const int quad[4][4] = {{8, 9, 13, 12}, {4, 5, 1, 0}, {0, 1, 9, 8}, {12, 13, 5, 4}};   /* top, bottom, outside, inside */
    test_mesh m = test_mesh_make(16, 32, 0);
    for (int i = 0; i < 16; i++) {
        double r = i & 4 ? inner : outer;
        m.x[3 * i] = (i & 3) == 1 || (i & 3) == 2 ? r : -r;
        m.x[3 * i + 1] = i & 2 ? r : -r;
        m.x[3 * i + 2] = i < 8 ? -height : 0;
    }
    for (int k = 0; k < 16; k++) {
        int side = k / 4, v[4], *f = m.tri + 6 * k;
        for (int c = 0; c < 4; c++) v[c] = (quad[side][c] & ~3) + (quad[side][c] + k) % 4;
        f[0] = v[0]; f[1] = v[1]; f[2] = v[2];
        f[3] = v[0]; f[4] = v[2]; f[5] = v[3];
    }
    return m;
}

/* A peg of 10 x 10 x 40 mm above a square hole, pressed down with at most 10 N: it goes in whatever the clearance,
 * which is down to 1/42 of the dhat of its size, and slides there; centred, offset, and offset and tilted. */
static void test_peg_goes_in(void)
{
    static const double clearance[5] = {5e-5, 2e-5, 1e-5, 5e-6, 1e-6};
    for (int c = 0; c < 5; c++)
        for (int mode = 0; mode < 3; mode++)
            for (int kind = EMBIPC_AFFINE; kind <= EMBIPC_CAGE; kind++) {
                double off = mode ? 0.6 * clearance[c] : 0, a = mode == 2 ? 14 * clearance[c] : 0;
                embipc_drive_def pull = embipc_default_drive_def();
                embipc_body_def d = scene_def("frame", EMBIPC_FIXED, 0, 0, 0);
                test_mesh m = field_frame(0.03, 0.005 + clearance[c], 0.02);
                embipc_world_def wd = embipc_default_world_def();
                scene s = scene_empty(&wd);
                embipc_body_state at;
                embipc_drive drive;
                int cut = 0;
                d.friction = 0.2;
                scene_add_mesh(&s, &d, &m, 0);
                d = scene_def("peg", (embipc_kind)kind, off, 0.7 * off, 0.0205);
                d.friction = 0.2;
                d.material.young = kind == EMBIPC_CAGE ? 1e7 : 1e9;
                d.material.density = 2000;
                d.rotation[0] = d.rotation[8] = cos(a);
                d.rotation[2] = sin(a);
                d.rotation[6] = -sin(a);
                m = test_mesh_box(-0.005, -0.005, -0.02, 0.005, 0.005, 0.02);
                scene_add_mesh(&s, &d, &m, 0);
                pull.body = s.body[1];
                pull.stiffness[2] = 1e3;
                pull.damping = 0.02;
                pull.force_limit = 10;
                ENSURE_OK(s.w, embipc_drive_create(s.w, &pull, &drive));
                for (int i = 0; i < 200; i++) {
                    double to[3] = {0, 0, -0.019 * fmin((i + 1) / 150.0, 1)}, turn[3] = {0, 0, 0};
                    ENSURE_OK(s.w, embipc_drive_set_target(s.w, drive, to, turn));
                    if (!scene_step(&s)) break;
                    cut += !s.stats.converged;
                }
                ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[1], &at));
                ENSURE_CLOSE(at.centre[2], 0.0015, 1e-4);
                ENSURE(fabs(at.centre[0]) < clearance[c] && fabs(at.centre[1]) < clearance[c]);
                ENSURE(cut == 0);
                ENSURE(scene_sound(s.w));
                scene_end(&s);
            }
}

/* ---- flat grounds of many triangles ---- */

/* n x n cells of a sheet of 1.2 m, its normal along z, turned by R about the origin */
static int field_floor(scene *s, int n, const double R[9], double friction)
{
    test_mesh m = test_mesh_make((n + 1) * (n + 1), 2 * n * n, 0);
    embipc_body_def d = scene_def("floor", EMBIPC_FIXED, 0, 0, 0);
    for (int i = 0; i < m.vertex_count; i++) {
        m.x[3 * i] = -0.6 + 1.2 * (i % (n + 1)) / n;
        m.x[3 * i + 1] = -0.6 + 1.2 * (i / (n + 1)) / n;
    }
    for (int i = 0; i < n * n; i++) {
        int a = i / n * (n + 1) + i % n, *f = m.tri + 6 * i;
        f[0] = f[3] = a;
        f[1] = a + 1;
        f[2] = f[4] = a + n + 2;
        f[5] = a + n + 1;
    }
    d.friction = friction;
    if (R) memcpy(d.rotation, R, sizeof d.rotation);
    return scene_add_mesh(s, &d, &m, 0);
}

/* A frictionless cube falls by 0.15 m, turned, onto a floor of many cells, bounces and rolls over. Nothing pushes
 * sideways: along the floor its centre stays where it was. (All pairs counted alike push it to 0.3 m/s.) The floor
 * level, and with gravity turned together with it. */
static void test_flat_floor_does_not_push(void)
{
    static const double step[3] = {0.001, 0.005, 0.01};
    double most = 0;
    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 8; r += k ? 1 : 2) {
            embipc_world_def wd = embipc_default_world_def();
            embipc_body_def d = scene_def("cube", EMBIPC_AFFINE, 0.003, 0.001, 0.2);
            double a = 0.7 + 1.3 * r, c = 0.4 + 0.9 * r, tilt = r % 4 == 3 ? 0.4 : 0, w[3] = {tilt, 0.5 * tilt, 0}, T[9], up[3], at[3];
            const double R[9] = {cos(a), -sin(a) * cos(c), sin(a) * sin(c), sin(a), cos(a) * cos(c), -cos(a) * sin(c), 0, sin(c), cos(c)};
            scene s;
            embi_m3_rotation(T, w);
            embi_set(up, T[2], T[5], T[8]);
            embi_scale(wd.gravity, -9.81, up);
            wd.time_step = step[k];
            s = scene_empty(&wd);
            field_floor(&s, 60, T, 0);
            d.material.young = 1e9;
            embi_m3_mul(d.rotation, T, R);
            embi_m3_mulv(at, T, d.position);
            embi_copy(d.position, at);
            scene_box(&s, d, 0.1, 0.1, 0.1, 1);
            for (int n = 0; n < 1.5 / step[k] && scene_step(&s); n++) {
                embipc_body_state b;
                double v[3];
                ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[1], &b));
                embi_copy(v, b.velocity);
                embi_axpy(v, -embi_dot(v, up), up);
                most = fmax(most, embi_norm(v));
            }
            ENSURE(scene_sound(s.w));
            scene_end(&s);
        }
    printf("  a cube on 60 x 60 cells: at most %.2g m/s sideways\n", most);
    ENSURE(most < 1e-6);
}

/* ---- floors of tiles ---- */

/* One box; or boxes of 0.12 m beside each other, as a grid, as bricks, or sheets without sides; all in a frame T. */
static void field_tiles(scene *s, int kind, const double T[9], double friction)
{
    int nx = 20, ny = 5;
    for (int n = 0; n < (kind ? nx * ny : 1); n++) {
        int at = kind ? n * 37 % (nx * ny) : 0, i = at % nx, j = at / nx;   /* in some order */
        embipc_body_def d = scene_def("floor", EMBIPC_FIXED, 0, 0, 0);
        double x = -0.36 + 0.12 * i + (kind == 2 && j % 2 ? 0.05 : 0), y = -0.3 + 0.12 * j;
        test_mesh m = kind ? test_mesh_box(x, y, -0.05, x + 0.12, y + 0.12, 0) : test_mesh_box(-1, -1, -0.05, 3, 1, 0);
        if (kind == 3) {   /* the two triangles of its top */
            memmove(m.tri, m.tri + 6, 6 * sizeof *m.tri);
            m.tri_count = 2;
            for (int k = 0; k < 6; k++) m.tri[k] -= 4;
            memmove(m.x, m.x + 12, 12 * sizeof *m.x);
            m.vertex_count = 4;
        }
        memcpy(d.rotation, T, sizeof d.rotation);
        d.friction = friction;
        test_mesh_shape(&m, &d);
        {
            embipc_body body;
            ENSURE_OK(s->w, embipc_body_create(s->w, &d, &body));
        }
        test_mesh_free(&m);
    }
}

/* A box or a fine ball slides and rolls over the floor: speed after each of 50 steps to v (3 each), in the frame T. */
static void field_slide(int kind, int ball, double friction, const double T[9], double *v)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("rider", EMBIPC_AFFINE, 0, 0, 0);
    double up[3] = {T[2], T[5], T[8]}, along[3] = {2 * T[0], 2 * T[3], 2 * T[6]}, none[3] = {0, 0, 0}, at[3] = {0.0123, 0.0345, 0.050155};
    scene s;
    embi_scale(wd.gravity, -9.81, up);
    s = scene_empty(&wd);
    field_tiles(&s, kind, T, friction);
    embi_m3_mulv(d.position, T, at);
    memcpy(d.rotation, T, sizeof d.rotation);
    d.friction = friction;
    d.material.young = 1e9;
    if (ball) scene_ball(&s, d, 0.05, 5, 1);
    else scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    for (int n = 0; n < 60; n++) scene_step(&s);   /* settles */
    ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[0], along, none));
    for (int n = 0; n < 50 && scene_step(&s); n++) {
        embipc_body_state b;
        ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[0], &b));
        for (int c = 0; c < 3; c++) v[3 * n + c] = T[c] * b.velocity[0] + T[3 + c] * b.velocity[1] + T[6 + c] * b.velocity[2];
    }
    ENSURE(scene_sound(s.w));
    scene_end(&s);
}

/* What slides or rolls over seams of equal height is no slower or faster than on one plane, by a thousandth of what
 * friction takes from it. (A ball differed by 0.01 m/s before bodies were joined, a box by 0.001.) */
static void test_tiles_are_one_floor(void)
{
    static const char *const name[4] = {"", "grid", "bricks", "sheets"};
    for (int n = 0; n < 8; n += 1 + TEST_STRIDE / 2) {
        double turn[3] = {n / 4 * 0.3, n / 4 * -0.2, n / 4 * 0.4}, T[9], plane[150], tiles[150], mu = n / 2 % 2 ? 0 : 0.3;
        embi_m3_rotation(T, turn);
        field_slide(0, n % 2, mu, T, plane);
        for (int kind = 1; kind < 4; kind++) {
            double most = 0;
            field_slide(kind, n % 2, mu, T, tiles);
            for (int i = 0; i < 150; i++) most = fmax(most, fabs(tiles[i] - plane[i]));
            if (n < 4) printf("  a %s, friction %g, on a floor of %s: speeds differ by %.2g m/s\n", n % 2 ? "ball" : "box", mu, name[kind], most);
            ENSURE(most < 1e-3 * 0.3 * 9.81 * 0.5);
        }
    }
}
#endif
