/* Debug drawing: number and place of all that is drawn, against queries; nothing else changes. */
#ifndef GAME_DRAW_H
#define GAME_DRAW_H

enum { DRAW_MOST = 1 << 14 };
typedef struct draw_one { embipc_paint paint; int points; double x[9]; } draw_one;
typedef struct draw_log { draw_one one[DRAW_MOST]; int count; } draw_log;

static void draw_add(draw_log *log, int points, const double *a, const double *b, const embipc_paint *paint)
{
    draw_one *one = log->one + log->count++;
    if (log->count > DRAW_MOST) exit(2);
    one->paint = *paint;
    one->points = points;
    memcpy(one->x, a, (points == 3 ? 9 : 3) * sizeof *a);
    if (points == 2) memcpy(one->x + 3, b, 3 * sizeof *b);
}
static void draw_point(const double x[3], const embipc_paint *paint, void *ctx) { draw_add((draw_log *)ctx, 1, x, NULL, paint); }
static void draw_line(const double a[3], const double b[3], const embipc_paint *paint, void *ctx) { draw_add((draw_log *)ctx, 2, a, b, paint); }
static void draw_triangle(const double x[9], const embipc_paint *paint, void *ctx) { draw_add((draw_log *)ctx, 3, x, NULL, paint); }

static draw_log draw_list;
/* what is drawn of one kind, into draw_list; returns how many */
static int draw_kind(const embipc_world *w, embipc_draw_kind kind)
{
    embipc_draw d;
    memset(&d, 0, sizeof d);
    d.kinds = 1u << kind;
    d.force_scale = 0.01;
    d.point = draw_point;
    d.line = draw_line;
    d.triangle = draw_triangle;
    d.ctx = &draw_list;
    draw_list.count = 0;
    ENSURE(embipc_world_draw(w, &d) == draw_list.count);
    for (int i = 0; i < draw_list.count; i++) ENSURE(draw_list.one[i].paint.kind == kind && draw_list.one[i].paint.colour <= 0xFFFFFF);
    d.point = NULL;
    d.line = NULL;
    d.triangle = NULL;
    ENSURE(embipc_world_draw(w, &d) == draw_list.count);
    return draw_list.count;
}
/* boxes that slide on the ground, a soft ball on one of them, a box that hangs on a ball joint of the world by another one, one
 * that will sleep */
static scene draw_scene(undo_rig *rig, embipc_joint rope[2])
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d;
    scene s;
    undo_rig_init(rig);
    wd.allocator = undo_allocator(rig);
    wd.sleep_after = 0.2;
    s = scene_empty(&wd);
    scene_ground(&s, 2, 0.5);
    for (int k = 0; k < 5; k++) {
        d = scene_def("box", EMBIPC_AFFINE, 0.3 * k - 0.6, 0, k < 3 ? 0.0502 : 0.5);
        d.friction = 0.4;
        d.material.young = 1e8;
        d.velocity[1] = k ? 0.5 : 0;
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    }
    d = scene_def("ball", EMBIPC_CAGE, 0.3 - 0.6, 0, 0.152);
    d.friction = 0.4;
    d.velocity[1] = 0.5;
    scene_ball(&s, d, 0.05, 2, 2);
    rope[0] = scene_joint(&s, scene_joint_def(&s, EMBIPC_BALL, -1, 4, 0.3, 0, 0.6, NULL));
    rope[1] = scene_joint(&s, scene_joint_def(&s, EMBIPC_BALL, 4, 5, 0.45, 0, 0.5, NULL));
    return s;
}

/* The line from x has the direction and length v. */
static void draw_ensure_arrow(const draw_one *one, const double x[3], const double v[3])
{
    for (int i = 0; i < 3; i++) {
        ENSURE_CLOSE(one->x[i], x[i], 1e-15);
        ENSURE_CLOSE(one->x[3 + i] - one->x[i], v[i], 1e-12);
    }
}
static void draw_check_bodies(const scene *s)
{
    const draw_one *one = draw_list.one;
    int count = draw_kind(s->w, EMBIPC_DRAW_SURFACE), tets = 0;
    for (int k = 0; k < s->n; k++) {
        embipc_body_view v;
        (void)ENSURE_OK(s->w, embipc_body_get_view(s->w, s->body[k], &v));
        for (int i = 0; i < 3 * v.triangle_count; i++)
            ENSURE(one[i / 3].points == 3 && memcmp(one[i / 3].x + 3 * (i % 3), v.x + 3 * v.triangles[i], 24) == 0);
        ENSURE(embi_same_body(one->paint.body, s->body[k]));
        one += v.triangle_count;
        tets += v.kind >= EMBIPC_AFFINE ? v.tet_count : 0;
    }
    ENSURE(one == draw_list.one + count);
    ENSURE(draw_kind(s->w, EMBIPC_DRAW_CAGE) == 6 * tets && tets > 10);
    for (int i = 0; i < draw_list.count; i++) {          /* ends are nodes of the body */
        embipc_body_view v;
        int found = 0;
        (void)ENSURE_OK(s->w, embipc_body_get_view(s->w, draw_list.one[i].paint.body, &v));
        for (int n = 0; n < v.node_count; n++)
            for (int end = 0; end < 2; end++) found += memcmp(draw_list.one[i].x + 3 * end, v.q + 3 * n, 24) == 0;
        ENSURE(found == 2);
    }
    ENSURE(draw_kind(s->w, EMBIPC_DRAW_BOX) == 12 * s->n);
    for (int k = 0; k < s->n; k++)
        for (int c = 0; c < 3; c++) {
            double lo, hi, low = 1e9, high = -1e9, along = 0;
            scene_extent(s->w, s->body[k], c, &lo, &hi);
            for (int i = 12 * k; i < 12 * k + 12; i++) {
                const double *x = draw_list.one[i].x;
                low = fmin(low, fmin(x[c], x[3 + c]));
                high = fmax(high, fmax(x[c], x[3 + c]));
                along += fabs(x[c] - x[3 + c]);
            }
            ENSURE(low == lo && high == hi);
            ENSURE_CLOSE(along, 4 * (hi - lo), 1e-12);
        }
    ENSURE(draw_kind(s->w, EMBIPC_DRAW_AXES) == 4 * s->n);
    for (int k = 0; k < s->n; k++) {
        embipc_pose pose;
        embipc_body_state state = scene_state(s->w, s->body[k]);
        const draw_one *axes = draw_list.one + 4 * k;
        double size = 0, v[3];
        (void)ENSURE_OK(s->w, embipc_body_get_pose(s->w, s->body[k], 1, &pose));
        for (int c = 0; c < 3; c++) {
            double lo, hi;
            scene_extent(s->w, s->body[k], c, &lo, &hi);
            size += (hi - lo) * (hi - lo) / 16;
        }
        ENSURE(axes->points == 1 && memcmp(axes->x, state.centre, 24) == 0);
        for (int c = 0; c < 3; c++) {
            embi_set(v, sqrt(size) * pose.rotation[c], sqrt(size) * pose.rotation[3 + c], sqrt(size) * pose.rotation[6 + c]);
            draw_ensure_arrow(axes + 1 + c, state.centre, v);
        }
    }
    ENSURE(draw_kind(s->w, EMBIPC_DRAW_SLEEPING) == 12 * s->stats.sleeping);
}
/* Returns the number of contacts. */
static int draw_check_contacts(const scene *s)
{
    static embipc_contact contact[1024];
    static embipc_pair_force force[64];
    int n = embipc_world_contacts(s->w, contact, 1024), pairs = embipc_world_pair_forces(s->w, force, 64);
    double v[3];
    ENSURE(draw_kind(s->w, EMBIPC_DRAW_CONTACT) == 3 * n);
    for (int i = 0; i < n; i++) {
        const draw_one *one = draw_list.one + 3 * i;
        ENSURE(memcmp(one->x, contact[i].point_a, 24) == 0 && memcmp(one[1].x, contact[i].point_b, 24) == 0);
        ENSURE(memcmp(one[2].x, contact[i].point_a, 24) == 0 && memcmp(one[2].x + 3, contact[i].point_b, 24) == 0);
        ENSURE(one->points == 1 && one[1].points == 1 && one[2].points == 2 && embi_same_body(one->paint.body, contact[i].a));
    }
    ENSURE(draw_kind(s->w, EMBIPC_DRAW_FORCE) == n);
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++) v[c] = 0.01 * contact[i].force * contact[i].normal[c];
        draw_ensure_arrow(draw_list.one + i, contact[i].point_a, v);
    }
    ENSURE(draw_kind(s->w, EMBIPC_DRAW_FRICTION) == pairs);
    for (int i = 0; i < pairs; i++) {                     /* events tell the mean of both closest points of the contacts */
        const draw_one *one = draw_list.one + i;
        double mean[3] = {0, 0, 0}, sum = 0;
        for (int k = 0; k < n; k++) {
            int swapped = embi_same_body(contact[k].a, force[i].b) && embi_same_body(contact[k].b, force[i].a);
            if (!swapped && !(embi_same_body(contact[k].a, force[i].a) && embi_same_body(contact[k].b, force[i].b))) continue;
            embi_axpy(mean, contact[k].force, swapped ? contact[k].point_b : contact[k].point_a);
            sum += contact[k].force;
        }
        embi_scale(mean, 1 / sum, mean);
        embi_scale(v, 0.01, force[i].friction);
        draw_ensure_arrow(one, mean, v);
        ENSURE(embi_same_body(one->paint.body, force[i].a));
    }
    return n;
}
static void draw_check_joints(const scene *s, const embipc_joint rope[2])
{
    const draw_one *one = draw_list.one;
    ENSURE(draw_kind(s->w, EMBIPC_DRAW_JOINT) == 4 + 5);
    for (int k = 0; k < 2; k++) {
        embipc_joint_state state;
        double at[2][3], way[3], point[3] = {0.3, 0, 0.6};
        int points = 0, lines = k ? 5 : 4;
        (void)ENSURE_OK(s->w, embipc_joint_get_state(s->w, rope[k], &state));
        for (int i = 0; i < lines; i++)
            if (one[i].points == 1 && points < 2) embi_copy(at[points++], one[i].x);
        ENSURE(points == 2);
        if (!k) ENSURE(memcmp(at[0], point, 24) == 0);
        embi_sub(way, at[1], at[0]);
        ENSURE_CLOSE(embi_norm(way), state.gap, 1e-12);
        ENSURE(one[lines - 1].points == 2 && memcmp(one[lines - 1].x, at[0], 24) == 0 && memcmp(one[lines - 1].x + 3, at[1], 24) == 0);
        one += lines;
    }
}

static void test_what_is_drawn(void)
{
    undo_rig rig;
    embipc_joint rope[2];
    scene s = draw_scene(&rig, rope);
    embipc_draw d;
    int contacts = 0, asleep = 0;
    memset(&d, 0, sizeof d);
    ENSURE(embipc_world_draw(s.w, &d) == 0 && embipc_world_draw(NULL, &d) == -1 && embipc_world_draw(s.w, NULL) == -1);
    d.force_scale = (double)NAN;
    ENSURE(embipc_world_draw(s.w, &d) == -1);
    for (int n = 0; n < 60; n++) {
        if (!scene_step(&s)) break;
        if (n % 10 != 9) continue;
        draw_check_bodies(&s);
        contacts += draw_check_contacts(&s);
        draw_check_joints(&s, rope);
        asleep += s.stats.sleeping;
    }
    ENSURE(contacts > 20 && asleep > 0);
    scene_end(&s);
}
/* Whatever the scale of forces, lines end at numbers: that of 3 N upwards at a quarter of the largest one, straight up. */
static void test_huge_arrows(void)
{
    static const double scale[4] = {1e300, -1e300, DBL_MAX, -DBL_MAX};
    undo_rig rig;
    embipc_joint rope[2];
    scene s = draw_scene(&rig, rope);
    embipc_draw d;
    int longest = 0;
    memset(&d, 0, sizeof d);
    d.kinds = 1u << EMBIPC_DRAW_FORCE | 1u << EMBIPC_DRAW_FRICTION | 1u << EMBIPC_DRAW_AXES;
    d.line = draw_line;
    d.ctx = &draw_list;
    for (int n = 0; n < 20; n++) scene_step(&s);
    for (int k = 0; k < 4; k++) {
        d.force_scale = scale[k];
        draw_list.count = 0;
        ENSURE(embipc_world_draw(s.w, &d) > draw_list.count);   /* and the points, which have no callback */
        for (int i = 0; i < draw_list.count; i++) {
            const double *end = draw_list.one[i].x + 3;
            ENSURE(isfinite(end[0]) && isfinite(end[1]) && isfinite(end[2]));
            longest += k >= 2 && fabs(end[2]) == DBL_MAX / 4 && draw_list.one[i].paint.kind == EMBIPC_DRAW_FORCE;
        }
    }
    ENSURE(longest > 10);
    scene_end(&s);
}
/* A world that is drawn after each step has the bits of its twin, and allocates no more. */
static void test_drawing_changes_nothing(void)
{
    undo_rig rig[2];
    embipc_joint rope[2];
    scene s[2];
    for (int i = 0; i < 2; i++) s[i] = draw_scene(&rig[i], rope);
    for (int n = 0; n < 40; n++) {
        for (int i = 0; i < 2; i++) ENSURE(scene_step(&s[i]));
        for (int kind = 0; kind < EMBIPC_DRAW_KINDS; kind++) (void)draw_kind(s[0].w, (embipc_draw_kind)kind);
        ENSURE(rig[0].calls == rig[1].calls);
    }
    ENSURE(undo_bits(&s[0]) == undo_bits(&s[1]));
    for (int i = 0; i < 2; i++) scene_end(&s[i]);
}

static void game_draw(void)
{
    RUN(what_is_drawn);
    RUN(huge_arrows);
    RUN(drawing_changes_nothing);
}
#endif
