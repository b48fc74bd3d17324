/* Contact events: phases, and impulses against momentum. */
#ifndef GAME_EVENT_H
#define GAME_EVENT_H

enum { EVENT_ROWS = 64 };
static embipc_contact_event event_list[EVENT_ROWS];

/* the event of two bodies, or NULL */
static const embipc_contact_event *event_of(const scene *s, int a, int b)
{
    int n = embipc_world_contact_events(s->w, event_list, EVENT_ROWS);
    for (int i = 0; i < n; i++)
        if (embi_same_body(event_list[i].a, s->body[a]) && embi_same_body(event_list[i].b, s->body[b])) return event_list + i;
    return NULL;
}

/* Two balls meet off the middle, with friction, without gravity: begin, persist, end, in this order and once. The sum of
 * impulses is the change of momentum of either. By contact forces alone: steps are solved to 1e-12 m/s. */
static void test_events_of_a_collision(void)
{
    for (int k = 2; k < 5; k++)
        for (int spin = 0; spin < 2; spin++) {
            embipc_world_def wd = scene_still(EMBIPC_BACKWARD_EULER, 0.002);
            scene s;
            embipc_body_def d = scene_def("left", game_kinds[k], -0.06, 0, 0);
            embipc_body_state before[2], after[2];
            double sum[3] = {0, 0, 0}, size;
            int begin = 0, end = 0, persist = 0, order = 0;
            wd.tolerance = 1e-12;
            wd.keep_spin = spin;
            wd.max_iterations = 400;
            s = scene_empty(&wd);
            d.friction = 0.5;
            d.material.young = 1e6;
            embi_set(d.velocity, 1, 0, 0);
            scene_ball(&s, d, 0.05, 1, 2);
            d.name = "right";
            embi_set(d.position, 0.06, 0.03, 0.01);
            embi_set(d.velocity, -1, 0, 0);
            scene_ball(&s, d, 0.05, 1, 2);
            for (int i = 0; i < 2; i++) before[i] = scene_state(s.w, s.body[i]);
            for (int n = 0; n < 60; n++) {
                const embipc_contact_event *e;
                if (!scene_step(&s)) break;
                e = event_of(&s, 0, 1);
                if (!e) continue;
                begin += e->phase == EMBIPC_CONTACT_BEGIN;
                persist += e->phase == EMBIPC_CONTACT_PERSIST;
                end += e->phase == EMBIPC_CONTACT_END;
                if (e->phase == EMBIPC_CONTACT_BEGIN) ENSURE(order++ == 0);
                if (e->phase == EMBIPC_CONTACT_END) ENSURE(order++ == 1 && embi_norm(e->impulse) == 0 && e->contacts == 0);
                if (e->contacts) {
                    ENSURE(e->normal[0] < 0 && e->force > 0);   /* from the right one to the left one */
                    ENSURE_CLOSE(embi_norm(e->normal), 1, 1e-14);
                    ENSURE(fabs(e->point[0]) < 0.02 && fabs(e->point[1] - 0.015) < 0.02);
                }
                embi_add(sum, sum, e->impulse);
            }
            for (int i = 0; i < 2; i++) after[i] = scene_state(s.w, s.body[i]);
            size = embi_norm(before[0].momentum);
            ENSURE(begin == 1 && end == 1 && persist > 0);
            ENSURE(sum[0] < -0.5 * size);
            for (int i = 0; i < 3; i++) {
                ENSURE_CLOSE(after[0].momentum[i] - before[0].momentum[i], sum[i], 1e-9 * size);
                ENSURE_CLOSE(after[1].momentum[i] - before[1].momentum[i], -sum[i], 1e-9 * size);
            }
            scene_end(&s);
        }
}

/* In all scenes: what begins was not there, what persists or ends was, and impulses are forces times h. Rows do not depend
 * on the capacity, and asking twice gives the same. A failed step keeps them. */
static void test_events_follow_pairs(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        static embipc_pair_force last[EVENT_ROWS], now[EVENT_ROWS];
        static embipc_contact_event few[EVENT_ROWS];
        int before = 0, begun = 0, ended = 0;
        for (int n = 0; n < 60 / TEST_STRIDE; n++) {
            int rows, events, touching = 0, all;
            if (!scene_step(&s)) break;
            rows = embipc_world_pair_forces(s.w, now, EVENT_ROWS);
            all = events = embipc_world_contact_events(s.w, event_list, EVENT_ROWS);
            ENSURE(embipc_world_contact_events(s.w, NULL, 0) == events && events <= EVENT_ROWS);
            memset(few, 0xEE, sizeof few);
            ENSURE(embipc_world_contact_events(s.w, few, events / 2) == events);
            ENSURE(memcmp(few, event_list, (size_t)(events / 2) * sizeof *few) == 0 && ((unsigned char *)(few + events / 2))[0] == 0xEE);
            while (events-- > 0) {
                const embipc_contact_event *e = event_list + events;
                int was = 0, is = 0;
                for (int i = 0; i < before; i++) was |= embi_same_body(last[i].a, e->a) && embi_same_body(last[i].b, e->b);
                for (int i = 0; i < rows; i++)
                    if (embi_same_body(now[i].a, e->a) && embi_same_body(now[i].b, e->b)) {
                        is = 1;
                        for (int c = 0; c < 3; c++) ENSURE(e->impulse[c] == now[i].force[c] * s.w->s.h);
                    }
                ENSURE(was == (e->phase != EMBIPC_CONTACT_BEGIN) && is == (e->phase != EMBIPC_CONTACT_END));
                touching += is;
                begun += !was;
                ended += !is;
            }
            ENSURE(touching == rows && all >= before - ended);
            memcpy(last, now, sizeof last);
            before = rows;
        }
        if (which != SCENE_THROW && which != SCENE_BEAM && which != SCENE_TWIST) ENSURE(begun > 0);
        scene_end(&s);
    }
}

/* A body that is destroyed, and a reset, leave no event; a box at rest presses with its weight. */
static void test_events_at_rest(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    const embipc_contact_event *e;
    long warm = 0, calls;
    scene_ground(&s, 1, 0.5);
    scene_box(&s, scene_def("box", EMBIPC_AFFINE, 0.2, 0.1, 0.0501), 0.1, 0.1, 0.1, 1);
    scene_box(&s, scene_def("other", EMBIPC_AFFINE, -0.2, 0, 0.0501), 0.1, 0.1, 0.1, 1);
    for (int n = 0; n < 100; n++) {
        scene_step(&s);
        embipc_world_memory(s.w, NULL, NULL, &calls);
        if (n == 50) warm = calls;
    }
    ENSURE(calls == warm);
    e = event_of(&s, 0, 1);
    ENSURE(e && e->phase == EMBIPC_CONTACT_PERSIST);
    if (e) {
        ENSURE_REL(e->impulse[2], -9.81 * 0.01, 1e-4);   /* 1 kg on the ground, which is the first of the two */
        ENSURE_REL(e->force, 9.81, 1e-4);
        ENSURE(e->normal[2] < -0.999 && fabs(e->point[0] - 0.2) < 1e-3 && fabs(e->point[1] - 0.1) < 1e-3);
    }
    ENSURE(embipc_world_contact_events(s.w, NULL, 0) == 2);
    ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[1]));
    ENSURE(embipc_world_contact_events(s.w, event_list, 1) == 1 && embi_same_body(event_list[0].b, s.body[2]));
    ENSURE_OK(s.w, embipc_world_reset(s.w));
    ENSURE(embipc_world_contact_events(s.w, NULL, 0) == 0);
    ENSURE(embipc_world_contact_events(NULL, NULL, 0) == -1 && embipc_world_contact_events(s.w, NULL, 1) == -1);
    scene_end(&s);
}

/* A box slides over a plate: the taxels below it hold its weight and its friction, and the area that it touches. */
static void test_taxels(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("plate", EMBIPC_FIXED, 0, 0, -0.05);
    static double x[3 * 2402];
    static int t[3 * 4800];
    const double edges[3] = {0.4, 0.4, 0.1}, turn[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1}, at[3] = {0.01, 0, 0}, size[3] = {0.5, 0.4, 1e-6};
    embipc_taxel grid[10 * 8], kept;
    embipc_body plate;
    embipc_body_state b;
    embipc_pair_force pair;
    scene s;
    wd.tolerance = 1e-12;
    s = scene_empty(&wd);
    d.friction = 0.4;
    d.x = x;
    d.triangles = t;
    d.triangle_count = embipc_shape(EMBIPC_BOX, edges, 20, x, t, 4800);
    d.vertex_count = d.triangle_count / 2 + 2;
    ENSURE(!embipc_body_create(s.w, &d, &plate));
    d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.0502);
    d.friction = 0.4;
    embi_set(d.velocity, 1, 0, 0);
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    for (int n = 0; n < 8; n++) ENSURE(scene_step(&s));
    for (int turned = 0; turned < 2; turned++) {
        double sum[3] = {0, 0, 0}, area = 0, inside = 0, used;
        int slides = 0, touches = 0;
        ENSURE(!embipc_body_taxels(s.w, plate, turn, at, size, 10, 8, turned ? 0.4 : 0.8, grid));
        ENSURE(embipc_world_pair_forces(s.w, &pair, 1) == 1);
        ENSURE(!embipc_body_get_state(s.w, s.body[0], &b));
        for (int k = 0; k < 80; k++) {
            /* taxels of 0.05 m: x of the grid is y of the world, and y is -x */
            double over = at[0] - 0.05 * (k / 10 - 3.5), beside = 0.05 * (k % 10 - 4.5);
            sum[0] -= grid[k].shear[1];
            sum[1] += grid[k].shear[0];
            sum[2] -= grid[k].normal;
            area += grid[k].area;
            touches += grid[k].touches;
            slides += grid[k].slides;
            used = hypot(grid[k].shear[0], grid[k].shear[1]) / (turned ? 0.4 : 0.8);
            ENSURE(grid[k].slides == (grid[k].touches && used >= 0.95 * grid[k].normal));
            if (fabs(over - b.centre[0]) < 0.09 && fabs(beside) < 0.09) inside += grid[k].normal;
        }
        for (int i = 0; i < 3; i++) ENSURE_CLOSE(sum[i], pair.force[i], 1e-9);
        ENSURE(-sum[2] > 1 && sum[0] > 0.3 && fabs(inside + sum[2]) < 1e-9);
        ENSURE(area > 1e-3 && area < 0.05 && touches > 0 && touches < 40);
        ENSURE(slides > 0 && slides < touches);
    }
    {   /* a grid exactly as large as the face below the box: corners with forces lie on the rim */
        const double along[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        double lo[2] = {HUGE_VAL, HUGE_VAL}, hi[2] = {-HUGE_VAL, -HUGE_VAL};
        double mid[3] = {0, 0, 0}, span[3] = {0, 0, HUGE_VAL}, sum = 0;
        embipc_body_view v;
        ENSURE(!embipc_body_get_view(s.w, s.body[0], &v));
        for (int k = 0; k < 2 * v.vertex_count; k++) {
            const double *p = v.x + 3 * (k / 2);
            if (p[2] > b.centre[2]) continue;
            lo[k % 2] = fmin(lo[k % 2], p[k % 2]);
            hi[k % 2] = fmax(hi[k % 2], p[k % 2]);
        }
        for (int c = 0; c < 2; c++) {
            mid[c] = (lo[c] + hi[c]) / 2;
            span[c] = hi[c] - lo[c];
        }
        ENSURE(!embipc_body_taxels(s.w, s.body[0], along, mid, span, 3, 3, 0.4, grid));
        for (int k = 0; k < 9; k++) sum += grid[k].normal;
        ENSURE_CLOSE(fabs(sum), fabs(pair.force[2]), 1e-9);
        for (int far_out = 0; far_out < 2; far_out++) {   /* corners lie 0.008 and 0.012 of a taxel beyond the rim */
            double less[3] = {span[0] / (1 + (far_out ? 0.008 : 0.0053)), span[1] / (1 + (far_out ? 0.008 : 0.0053)), span[2]};
            ENSURE(!embipc_body_taxels(s.w, s.body[0], along, mid, less, 3, 3, 0.4, grid));
            sum = 0;
            for (int k = 0; k < 9; k++) sum += grid[k].normal;
            ENSURE_CLOSE(fabs(sum), far_out ? 0.0 : fabs(pair.force[2]), 1e-9);
        }
    }
    {   /* a rotation as floats round it has the same forces; a scaled one is none */
        double R[9];
        embipc_taxel wanted[80];
        for (int i = 0; i < 9; i++) R[i] = turn[i] * (1 + 1e-6);
        ENSURE(!embipc_body_taxels(s.w, plate, turn, at, size, 10, 8, 1, wanted));
        ENSURE(!embipc_body_taxels(s.w, plate, R, at, size, 10, 8, 1, grid));
        for (int k = 0; k < 80; k++) ENSURE_CLOSE(grid[k].normal, wanted[k].normal, 1e-14 * fabs(pair.force[2]));
        for (int i = 0; i < 9; i++) R[i] = turn[i] * 1.001;
        ENSURE(embipc_body_taxels(s.w, plate, R, at, size, 10, 8, 1, grid) == EMBIPC_ERR_ARGUMENT);
    }
    kept = grid[0];
    ENSURE(embipc_body_taxels(s.w, plate, turn, at, size, 0, 8, 1, grid) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_taxels(s.w, plate, turn, at, size, INT_MAX, 2, 1, grid) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_taxels(s.w, plate, turn, NULL, size, 1, 1, 1, grid) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_taxels(s.w, plate, turn, at, size, 1, 1, -1, grid) == EMBIPC_ERR_ARGUMENT);
    plate.generation++;
    ENSURE(embipc_body_taxels(s.w, plate, turn, at, size, 1, 1, 1, grid) == EMBIPC_ERR_HANDLE);
    ENSURE(!memcmp(&kept, grid, sizeof kept));
    scene_end(&s);
}

/* the speed with which two bodies of a scene part along a normal, which is from the second to the first */
static double event_parting(const scene *s, const embipc_real normal[3])
{
    double v[3];
    embi_sub(v, scene_state(s->w, s->body[0]).velocity, scene_state(s->w, s->body[1]).velocity);
    return embi_dot(normal, v);
}

/* The bounce that a game gives itself, as the header tells at "Bodies": of a ball on the ground, and of two that meet off
 * the middle. They part with e of their speed. With m e u alone the ball on the ground lies there after two steps. */
static void test_events_bounce(void)
{
    static const double step[3] = {1.0 / 60, 0.01, 0.002}, e = 0.6;
    for (int n = 0; n < 6; n++) {
        int two = n / 3, left = 100;
        double u = 0, m = 1, impulse[3], normal[3] = {0, 0, 0}, before[2][3];
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("first", two ? EMBIPC_AFFINE : EMBIPC_FIXED, 0, 0, -0.05);
        scene s;
        wd.time_step = step[n % 3];
        wd.gravity[2] = 0;
        s = scene_empty(&wd);
        d.material.young = 1e9;
        if (two) scene_ball(&s, d, 0.05, 1, 2);
        else scene_box(&s, d, 1, 1, 0.1, 0);
        d.kind = EMBIPC_AFFINE;
        embi_set(d.velocity, 0, 0, -2);
        embi_set(d.position, two ? 0.04 : 0, 0, 0.2);
        scene_ball(&s, d, 0.07, 1, 2);
        while (left-- > 0) {
            const embipc_contact_event *event;
            for (int i = 0; i < 2; i++) embi_copy(before[i], scene_state(s.w, s.body[i]).velocity);
            if (!scene_step(&s)) break;
            event = event_of(&s, 0, 1);
            if (!event || event->phase != EMBIPC_CONTACT_BEGIN || u > 0) continue;
            embi_copy(normal, event->normal);
            embi_sub(impulse, before[1], before[0]);
            u = embi_dot(normal, impulse);
            ENSURE(u > 1 && event_parting(&s, normal) < 0);   /* they go on towards each other */
            m = 1 / ((two ? 1 / scene_state(s.w, s.body[0]).mass : 0) + 1 / scene_state(s.w, s.body[1]).mass);
            embi_scale(impulse, m * (e * u - event_parting(&s, normal)), normal);
            (void)ENSURE_OK(s.w, embipc_body_apply_impulse(s.w, s.body[0], impulse, NULL, NULL));
            embi_scale(impulse, -1, impulse);
            (void)ENSURE_OK(s.w, embipc_body_apply_impulse(s.w, s.body[1], impulse, NULL, NULL));
            left = 4;
        }
        ENSURE_CLOSE(event_parting(&s, normal) / u, e, 1e-4);
        scene_end(&s);
    }
}

static void game_event(void)
{
    RUN(taxels);
    RUN(events_of_a_collision);
    RUN(events_follow_pairs);
    RUN(events_at_rest);
    RUN(events_bounce);
}
#endif
