/* No intersection at any return: thrown bodies, every scene, steps cut short anywhere, and a stop flag. The judge is exact.h. */
#ifndef WORLD_GUARANTEE_H
#define WORLD_GUARANTEE_H

static const embipc_kind dynamic_kind[3] = {EMBIPC_FULL, EMBIPC_CAGE, EMBIPC_AFFINE};

/* what exact.h says must not be an accident: it finds the crossings of two boxes, and those only */
static void test_judge(void)
{
    embipc_world_def wd = embipc_default_world_def();
    for (int k = 0; k < 6; k++) {
        static const double at[6] = {0.1, 0.099, 0.05, 0.1000001, 0.2, -0.1};
        static const int cross[6] = {1, 1, 1, 0, 0, 1};
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("a", EMBIPC_FIXED, 0, 0, 0);
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        d = scene_def("b", EMBIPC_FIXED, 0.01, 0.02, at[k]);
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        s.w->s.body[0].kind = EMBIPC_KINEMATIC;   /* fixed bodies may cross; look at them as if one moved */
        ENSURE((scene_crossings(s.w) > 0) == cross[k]);
        s.w->s.body[0].kind = EMBIPC_FIXED;
        scene_end(&s);
    }
}

/* 10, 100, 1000 m/s at a plate of 1 mm, h = 0.02: 20 m in a step. Straight on, with spin, corner first, and at the rim. */
static void test_thrown_at_a_plate(void)
{
    static const double speed[3] = {10, 100, 1000};
    double least = 1;
    for (int k = 0; k < 3; k++)
        for (int v = 0; v < 3; v++)
            for (int how = 0; how < 4; how++) {
                embipc_world_def wd = embipc_default_world_def();
                embipc_body_def d = scene_def("plate", EMBIPC_FIXED, 0, 0, 0);
                scene s;
                double lo, hi, across = how == 3 ? 0.29 : 0.02;
                int through = 0, crossed = 0;
                wd.time_step = 0.02;
                s = scene_empty(&wd);
                d.friction = 0.3;
                scene_box(&s, d, 0.6, 0.6, 0.001, 1);
                d = scene_def("body", dynamic_kind[k], across, -0.03, 0.3);
                d.friction = 0.3;
                d.velocity[2] = -speed[v];
                d.velocity[0] = how == 1 ? speed[v] / 3 : 0;
                if (how == 1) d.angular_velocity[0] = 40;
                if (how == 2) {   /* a corner ahead: by 45 degrees about x, then 35.3 about y */
                    double w[3] = {0.7853981633974483, 0, 0}, u[3] = {0, 0.6154797086703873, 0}, A[9], B[9];
                    embi_m3_rotation(A, w);
                    embi_m3_rotation(B, u);
                    embi_m3_mul(d.rotation, B, A);
                }
                if (how % 2) scene_ball(&s, d, 0.04, 1, 1);
                else scene_box(&s, d, 0.06, 0.06, 0.06, 1);
                for (int n = 0; n < 12 && scene_step(&s); n++) {
                    scene_extent(s.w, s.body[1], 2, &lo, &hi);
                    crossed += scene_crossings(s.w);
                    ENSURE(scene_finite(s.w));
                    if (how == 0 || how == 2) through += hi < 0;
                    if (n == 0 && how != 1 && how != 3) ENSURE(lo > 0.0005);
                    least = fmin(least, s.stats.min_distance);
                }
                if (through || crossed) printf("  %s at %g m/s, way %d: %d crossings, beyond in %d steps\n", kind_name[dynamic_kind[k]], speed[v], how, crossed, through);
                ENSURE(!through && !crossed);
                scene_end(&s);
            }
    printf("  thrown at a plate: smallest gap seen %.3g m\n", least);
}

/* Two bodies of any kinds at each other, by several of their sizes in a step, and a paddle that turns through both: no
 * crossing, and what is nearest is among the contacts, though candidates count anew from where the bodies are in the middle
 * of the step, again and again, and steps by BDF2 or with a turning paddle may go back. */
static void test_thrown_at_each_other(void)
{
    static const double speed[3] = {4, 30, 200}, turn[14] = {0, 0, 0, 0, 0, 0, 0, 0.2, 0, 0, 0, 0, 0, 9};
    static const double at[3] = {0, 0, 0};
    int rebased = 0, touching = 0, pressed = 0;
    for (int k = 0; k < 54; k += TEST_STRIDE) {
        int which = 11 * k % 54, ka = which % 3, kb = which / 3 % 3, v = which / 9 % 3, paddle = which >= 27;
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d;
        scene s;
        wd.time_step = paddle ? 0.005 : 0.01;
        wd.gravity[2] = 0;
        wd.integrator = (ka + kb) % 2 ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER;
        s = scene_empty(&wd);
        for (int side = 0; side < 2; side++) {
            d = scene_def("ball", dynamic_kind[side ? kb : ka], side ? 0.011 : -0.003, side ? -0.004 : 0.009, side ? -0.06 : 0.06);
            d.friction = 0.3;
            d.velocity[2] = side ? speed[v] : -speed[v];
            d.angular_velocity[1] = which % 4 == 1 ? 30 : 0;
            scene_ball(&s, d, 0.05, which % 2 ? 2 : 1, 2);
        }
        if (paddle) {
            d = scene_def("paddle", EMBIPC_KINEMATIC, 0.2, 0, 0);
            scene_box(&s, d, 0.24, 0.02, 0.3, 1);
            scene_drive(&s, 2, turn, 2, at, NULL, 0);
        }
        for (int n = 0; n < 8 && scene_step(&s); n++) {
            double gap = scene_gap(s.w, s.body[0], s.body[1]), dhat =
                fmin(s.w->s.body[0].rules.dhat, s.w->s.body[1].rules.dhat);
            ENSURE(scene_crossings(s.w) == 0 && scene_finite(s.w));
            if (gap < 0.99 * dhat) ENSURE(s.stats.min_distance <= gap * (1 + 1e-9) + 1e-15);
            touching += gap < 0.99 * dhat;
            pressed += s.w->s.reference.any && gap < 0.99 * dhat;
            rebased += s.w->s.reference.any;
        }
        scene_end(&s);
    }
    printf("  thrown at each other: %d steps touching; in %d candidates counted anew, in %d of them they touched at the end\n",
           touching, rebased, pressed);
    ENSURE(touching > 40 / TEST_STRIDE && rebased > 24 / TEST_STRIDE && pressed > 3 / TEST_STRIDE);
}

/* A surface so fine that its tree is refit where asked only, thrown at a plate, a small body behind it, and a paddle that
 * turns into them: searched along its paths, by ranges, and along paths again, within a step and from step to step. Where
 * a vertex was at the start is known of all that a candidate has. */
static void test_fine_ones_thrown(void)
{
    static const double turn[14] = {0, 0, 0, 0, 0, 0, 0, 0.3, -0.4, 0, 0, 0, 6, 9}, at[3] = {0, 0, 0};
    int swept = 0, touching = 0;
    for (int k = 0; k < 4; k += TEST_STRIDE) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("plate", EMBIPC_FIXED, 0, 0, 0);
        scene s;
        wd.time_step = k % 2 ? 0.02 : 0.01;
        s = scene_empty(&wd);
        d.friction = 0.4;
        scene_box(&s, d, 0.6, 0.6, 0.002, 1);
        d = scene_def("fine", EMBIPC_CAGE, 0.01, 0, 0.08);
        d.friction = 0.3;
        d.velocity[2] = k % 3 ? -6 : -1;
        d.angular_velocity[0] = k % 4 > 1 ? 20 : 0;
        scene_ball(&s, d, 0.06, 4, 2);
        d = scene_def("small", dynamic_kind[k % 3], 0, 0.01, 0.19);
        d.velocity[2] = k < 2 ? -30 : -8;
        scene_box(&s, d, 0.05, 0.05, 0.05, 1);
        d = scene_def("paddle", EMBIPC_KINEMATIC, 0.23, 0, 0.15);
        scene_box(&s, d, 0.24, 0.02, 0.2, 1);
        scene_drive(&s, 3, turn, 2, at, NULL, 0);
        ENSURE(s.w->s.body[1].bvh.known != NULL);
        for (int n = 0; n < 6 && scene_step(&s); n++) {
            double gap = scene_gap(s.w, s.body[0], s.body[1]), dhat = s.w->s.body[1].rules.dhat;
            ENSURE(scene_crossings(s.w) == 0 && scene_finite(s.w));
            if (gap < 0.99 * dhat) ENSURE(s.stats.min_distance <= gap * (1 + 1e-9) + 1e-15);
            touching += gap < 0.99 * dhat;
            swept += s.w->s.body[1].search.swept != 0;
            for (int v = 0; v < s.w->s.vert_count; v++) {
                double y[3];
                if (s.w->s.vertex_state[v] == EMBI_VERTEX_UNKNOWN || !s.w->s.J.count[v]) continue;
                embi_row_apply(&s.w->s.J, v, s.w->s.qn, y);
                ENSURE(memcmp(y, s.w->s.xn + 3 * v, sizeof y) == 0);
            }
        }
        scene_end(&s);
    }
    printf("  fine ones thrown: %d steps searched along paths, %d touching\n", swept, touching);
    ENSURE(swept > 4 / TEST_STRIDE && touching > 4 / TEST_STRIDE);
}

static double ticking(void *ctx) { return (double)++*(long *)ctx; }
/* A step may end at any tick. Once a body is marked as searched along paths, a larger budget keeps the mark: candidates
 * at the start of the step may be lost. */
static void test_searched_stays_searched(void)
{
    int late = 0, marked = 0, lost = 0;
    long tick = 0;
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("plate", EMBIPC_FIXED, 0, 0, 0);
    scene s;
    wd.clock = ticking;
    wd.clock_ctx = &tick;
    s = scene_empty(&wd);
    scene_box(&s, d, 0.6, 0.6, 0.002, 1);
    d = scene_def("ball", EMBIPC_CAGE, 0.01, 0, 0.08);
    d.velocity[2] = -30;
    scene_ball(&s, d, 0.06, 2, 2);
    for (int n = 0; n < 4; n++) {
        int before = 0;
        long ticks = 1;
        for (long t = 1; t <= ticks; t += t == 1 ? 1 : 1 + ticks / (200 / TEST_STRIDE)) {
            scene c = s;
            if (!ENSURE_OK(s.w, embipc_world_copy(s.w, &c.w))) break;
            (void)ENSURE_OK(c.w, embipc_world_set_budget(c.w, t == 1 ? 1e9 : (double)t, 0));
            tick = 0;
            ENSURE(scene_step(&c));
            if (t == 1) ticks = tick;
            else {
                int now = c.w->s.body[1].search.swept != 0;
                late += c.stats.late;
                marked += now;
                lost += before && !now;
                before |= now;
            }
            c.n = c.drives = 0;
            embipc_world_destroy(c.w);
        }
        ENSURE(scene_step(&s));
    }
    printf("  searched along paths: %d steps ended by a budget, in %d candidates at the start may be lost\n", late, marked);
    ENSURE(lost == 0 && late > 200 / TEST_STRIDE && marked > 100 / TEST_STRIDE);
    scene_end(&s);
}

/* ---- links: what no state can show, whether something passed through something on the way ---- */

#define RING 12
/* a ring of RING cells with a square section, axis along z */
static test_mesh ring_mesh(double radius, double half)
{
    test_mesh s = test_mesh_tet_grid(RING, 1, 1);
    for (int i = 0; i < s.vertex_count; i++) {
        double angle = 6.283185307179586 * s.x[3 * i] / RING, r = radius - (s.x[3 * i + 1] - 0.5) * 2 * half, z = (s.x[3 * i + 2] - 0.5) * 2 * half;
        s.x[3 * i] = r * cos(angle);
        s.x[3 * i + 1] = r * sin(angle);
        s.x[3 * i + 2] = z;
    }
    for (int t = 0; t < 4 * s.tet_count; t++) s.tets[t] %= 4 * RING;   /* the last section is the first */
    s.vertex_count = 4 * RING;
    scene_boundary(&s);
    return s;
}
/* core[3 i]: the middle of section i */
static void ring_core(const embipc_world *w, embipc_body body, double core[3 * RING])
{
    embipc_body_view v;
    memset(core, 0, 3 * RING * sizeof *core);
    (void)embipc_body_get_view(w, body, &v);
    for (int i = 0; i < v.vertex_count; i++)
        for (int k = 0; k < 3; k++) core[3 * (v.vertex_origin[i] / 4) + k] += v.x[3 * i + k] / 4;
}
/* linking number of two closed polygons: signed crossings of a over b, seen along a direction without symmetry */
static int linking(const double *a, const double *b)
{
    static const double e[3][3] = {{0.8017, 0.5345, -0.2673}, {-0.3841, 0.8182, 0.4846}, {0.4777, -0.2858, 0.8308}};
    int sum = 0;
    double p[2][3 * RING];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < RING; i++)
            for (int k = 0; k < 3; k++) {
                const double *x = (side ? b : a) + 3 * i;
                p[side][3 * i + k] = e[k][0] * x[0] + e[k][1] * x[1] + e[k][2] * x[2];
            }
    for (int i = 0; i < RING; i++)
        for (int j = 0; j < RING; j++) {
            const double *s = p[0] + 3 * i, *t = p[0] + 3 * ((i + 1) % RING), *u = p[1] + 3 * j, *v = p[1] + 3 * ((j + 1) % RING);
            double d1[2] = {t[0] - s[0], t[1] - s[1]}, d2[2] = {v[0] - u[0], v[1] - u[1]}, r[2] = {u[0] - s[0], u[1] - s[1]};
            double det = d1[0] * d2[1] - d1[1] * d2[0], f, g;
            if (det == 0) continue;
            f = (r[0] * d2[1] - r[1] * d2[0]) / det;
            g = (r[0] * d1[1] - r[1] * d1[0]) / det;
            if (f < 0 || f >= 1 || g < 0 || g >= 1) continue;
            if (s[2] + f * (t[2] - s[2]) > u[2] + g * (v[2] - u[2])) sum += det > 0 ? 1 : -1;
        }
    return sum;
}
/* Two links of a chain torn apart at 10 and at 600 m/s (12 m a step, cut short after 15 iterations): they stay links. */
static void test_chain_links_stay_linked(void)
{
    for (int k = 0; k < 3; k++)
        for (int v = 0; v < 2; v++) {
            embipc_world_def wd = embipc_default_world_def();
            scene s;
            double a[3 * RING], b[3 * RING];
            int before, after;
            for (int i = 0; i < 3; i++) wd.gravity[i] = 0;
            wd.time_step = 0.02;
            s = scene_empty(&wd);
            for (int r = 0; r < 2; r++) {
                embipc_body_def d = scene_def(r ? "second link" : "first link", dynamic_kind[k], r ? 0.05 : 0, 0, 0);
                test_mesh m = ring_mesh(0.05, 0.006);
                d.friction = 0.3;
                d.material.young = 1e7;
                d.velocity[0] = (r ? 5 : -5) * (v ? 60 : 1);
                d.velocity[2] = (r ? 1 : -1) * (v ? 60 : 1);
                d.cage_nodes = 40;
                if (r) {   /* the second stands across the first */
                    double turn[3] = {1.5707963267948966, 0, 0};
                    embi_m3_rotation(d.rotation, turn);
                }
                scene_add_mesh(&s, &d, &m, 0);
            }
            if (s.n < 2) break;
            ring_core(s.w, s.body[0], a);
            ring_core(s.w, s.body[1], b);
            before = linking(a, b);
            ENSURE(before == 1 || before == -1);
            if (v) (void)ENSURE_OK(s.w, embipc_world_set_limits(s.w, 15, NULL));
            for (int n = 0; n < (v ? 5 : 10) && scene_step(&s); n++) {
                ENSURE(scene_sound(s.w));
                ring_core(s.w, s.body[0], a);
                ring_core(s.w, s.body[1], b);
                after = linking(a, b);
                if (after != before) printf("  %s links at %g m/s: linking number %d, then %d after step %d\n", kind_name[dynamic_kind[k]], v ? 600.0 : 10.0, before, after, n + 1);
                ENSURE(after == before);
                if (after != before) break;
            }
            scene_end(&s);
        }
}

/* How far outside the walls of the shell the vertices of the inner body are, in the shell's own frame; < 0: inside. The shell's
 * last 8 vertices are the corners of its cavity. */
static double escape(const embipc_world *w, embipc_body shell, embipc_body inner)
{
    embipc_body_view a, b;
    double D[9], inverse[9], worst = -1e300;
    (void)embipc_body_get_view(w, shell, &a);
    (void)embipc_body_get_view(w, inner, &b);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            int corner[3] = {1, 3, 4};   /* neighbours of corner 0 along x, y, z */
            D[3 * i + k] = a.x[3 * (a.vertex_count - 8 + corner[k]) + i] - a.x[3 * (a.vertex_count - 8) + i];
        }
    (void)embi_m3_inverse(inverse, D);
    for (int i = 0; i < b.vertex_count; i++) {
        double r[3], l[3];
        embi_sub(r, b.x + 3 * i, a.x + 3 * (a.vertex_count - 8));
        embi_m3_mulv(l, inverse, r);
        for (int k = 0; k < 3; k++) worst = fmax(worst, fmax(-l[k], l[k] - 1));
    }
    return worst;
}
/* Locked in a closed shell, 20 m of way in each step: inside for ever, for a fixed shell and one that flies itself. */
static void test_locked_in(void)
{
    for (int k = 0; k < 3; k++)
        for (int shell = 0; shell < 3; shell++)
            for (int v = (k + shell) % TEST_STRIDE; v < 3; v += TEST_STRIDE) {
                static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 0.2, 1, 0.5, 0, 0, 3, 3};
                static const double centre[3] = {0, 0, 0};
                static const embipc_kind kinds[3] = {EMBIPC_FIXED, EMBIPC_KINEMATIC, EMBIPC_AFFINE};
                embipc_world_def wd = embipc_default_world_def();
                embipc_body_def d = scene_def("shell", kinds[shell], 0, 0, 0);
                test_mesh m = test_mesh_hollow_box(0.12, 0.1);
                scene s;
                double worst = -1;
                wd.time_step = 0.02;
                s = scene_empty(&wd);
                d.friction = 0.2;
                d.material.young = 1e8;
                scene_add_mesh(&s, &d, &m, 0);
                d = scene_def("inside", dynamic_kind[k], 0.01, -0.02, 0.015);
                d.friction = 0.2;
                d.material.young = 1e6;
                d.velocity[0] = 10 * pow(10, v);
                d.velocity[1] = 7 * pow(10, v);
                d.velocity[2] = -4 * pow(10, v);
                scene_ball(&s, d, 0.05, 1, 1);
                if (shell == 1) scene_drive(&s, 0, keys, 2, centre, NULL, 0);
                for (int n = 0; n < 12 && scene_step(&s); n++) {
                    worst = fmax(worst, escape(s.w, s.body[0], s.body[1]));
                    ENSURE(scene_sound(s.w));
                }
                if (worst >= 0) printf("  %s body at %g m/s got out of its %s shell (%g)\n", kind_name[dynamic_kind[k]], 10 * pow(10, v), kind_name[kinds[shell]], worst);
                ENSURE(worst < 0);
                scene_end(&s);
            }
}

/* Every step of every scene, at its own time step and at one ten times as long. */
static void test_every_scene_is_free_of_crossings(void)
{
    for (int which = 0; which < SCENE_COUNT; which++)
        for (int slow = 0; slow < 2; slow++) {
            embipc_world_def wd = scene_world_def(which);
            scene s;
            int cut = 0, most = 0;
            if (slow) wd.time_step *= 10;
            s = scene_make(which, &wd);
            for (int n = 0; n < (slow ? 20 : 100) && scene_step(&s); n++) {
                ENSURE(scene_sound(s.w));
                cut += !s.stats.converged;
                most = s.stats.newton_iterations > most ? s.stats.newton_iterations : most;
            }
            printf("  %s, h = %g: %d steps cut short, at most %d iterations\n", scene_names[which], wd.time_step, cut, most);
            scene_end(&s);
        }
}

/* Cut short after k iterations, every step: sound, rigid where it must be, and it goes on. Then it may finish. */
static void test_anytime(void)
{
    static const int limit[5] = {1, 2, 3, 5, 8};
    int all[5] = {0, 0, 0, 0, 0};
    for (int which = 0; which < SCENE_COUNT; which++)
        for (int k = which % TEST_STRIDE; k < 5; k += TEST_STRIDE) {
            scene s = scene_make(which, NULL);
            double *rest[SCENE_BODIES], bend = 0;
            int cut = 0;
            for (int i = 0; i < s.n; i++) rest[i] = scene_positions(s.w, s.body[i]);
            (void)ENSURE_OK(s.w, embipc_world_set_limits(s.w, limit[k], NULL));
            for (int n = 0; n < 80; n++) {
                if (n == 60) (void)ENSURE_OK(s.w, embipc_world_set_limits(s.w, 100, NULL));
                if (!scene_step(&s)) break;
                cut += !s.stats.converged;
                ENSURE(n >= 60 || s.stats.newton_iterations <= limit[k]);
                ENSURE(scene_sound(s.w));
                for (int i = 0; i < s.n; i++) {
                    embipc_body_view v;
                    (void)embipc_body_get_view(s.w, s.body[i], &v);
                    if (v.kind == EMBIPC_KINEMATIC) bend = fmax(bend, scene_bend(s.w, s.body[i], rest[i]));
                }
            }
            all[k] += cut;
            if (k == 0) ENSURE(cut > 10);
            if (bend > 1e-12) printf("  %s cut after %d: kinematic bodies bend by %.3g of their size\n", scene_names[which], limit[k], bend);
            ENSURE(bend <= 1e-12);
            for (int i = 0; i < s.n; i++) free(rest[i]);
            scene_end(&s);
        }
    printf("  steps cut short after 1, 2, 3, 5, 8 solves: %d, %d, %d, %d, %d of %d\n", all[0], all[1], all[2], all[3], all[4],
           60 * SCENE_COUNT);
    ENSURE(all[1] > 100 / TEST_STRIDE && all[1] + all[2] > 150 / TEST_STRIDE);
}

/* a flag that goes up and down at random times, by the only code that runs during a step here: the parallel loop */
typedef struct stopper { volatile int flag; int hold; } stopper;
static void stopper_for(int count, int grain, embipc_range_fn *fn, void *arg, void *ctx)
{
    stopper *s = (stopper *)ctx;
    (void)grain;
    fn(arg, 0, count);
    if (!s->hold) s->flag = test_random() < 0.1;
}
static void test_stop_flag(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) {
        stopper stop;
        embipc_world_def wd = scene_world_def(which);
        scene s;
        int cut = 0;
        stop.flag = stop.hold = 0;
        wd.parallel_for = stopper_for;
        wd.parallel_ctx = &stop;
        s = scene_make(which, &wd);
        (void)ENSURE_OK(s.w, embipc_world_set_limits(s.w, 100, &stop.flag));
        for (int n = 0; n < 60; n++) {
            stop.flag = stop.hold = n % 7 == 3;   /* up before the step: one iteration, and no more */
            if (stop.hold) scene_forget(&s);      /* begun where they are: one is not enough */
            if (!scene_step(&s)) break;
            if (n % 7 == 3) ENSURE(s.stats.newton_iterations == 1);
            cut += !s.stats.converged;
            ENSURE(scene_sound(s.w));
        }
        ENSURE(cut >= 8);
        (void)ENSURE_OK(s.w, embipc_world_set_limits(s.w, 100, NULL));
        stop.flag = stop.hold = 1;
        scene_step(&s);
        ENSURE(s.stats.newton_iterations > 0);
        ENSURE(scene_sound(s.w));
        scene_end(&s);
    }
}

/* Going back to the start must not put two bodies into each other: the second came when the first had left. */
static void test_reset_keeps_bodies_apart(void)
{
    for (int k = 0; k < 3; k++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("first", EMBIPC_AFFINE, 0, 0, 1);
        unsigned long long bits;
        embipc_result r;
        double time;
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        for (int n = 0; n < 40; n++) scene_step(&s);
        d = scene_def("second", k == 2 ? EMBIPC_FIXED : EMBIPC_AFFINE, k == 1 ? 0.2 : 0.03, 0, 1);
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        for (int n = 0; n < 5; n++) scene_step(&s);
        ENSURE(scene_sound(s.w));
        bits = scene_bits(s.w);
        time = embipc_world_time(s.w);
        r = embipc_world_reset(s.w);
        ENSURE(scene_sound(s.w));
        if (k == 1) ENSURE(r == EMBIPC_OK && embipc_world_time(s.w) == 0);
        else {
            ENSURE(r == EMBIPC_ERR_INTERSECTION && embipc_world_time(s.w) == time && scene_bits(s.w) == bits);
            ENSURE(strstr(embipc_world_error(s.w)->text, "first") && strstr(embipc_world_error(s.w)->text, "second"));
        }
        scene_step(&s);
        ENSURE(scene_sound(s.w));
        scene_end(&s);
    }
}

/* Random heaps: all kinds, sizes, frictions, speeds and damping, a kinematic stirrer, and random limits. */
static void test_random_heaps(void)
{
    for (int trial = 0; trial < 8; trial++) {
        static const double none[3] = {0, 0, 0.05};
        double keys[14] = {0, 0, 0, 0, 0, 0, 0, 0.5, 0.05, 0.02, 0, 0, 0, 6};
        embipc_world_def wd = embipc_default_world_def();
        scene s;
        embipc_body_def d;
        wd.time_step = trial % 2 ? 0.04 : 0.01;
        s = scene_empty(&wd);
        d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
        d.friction = test_random();
        scene_box(&s, d, 2, 2, 0.1, 1);
        d = scene_def("stirrer", EMBIPC_KINEMATIC, 0, 0, 0.03);
        d.friction = test_random();
        scene_box(&s, d, 0.3, 0.01, 0.03, 1);
        scene_drive(&s, 1, keys, 2, none, NULL, 0);
        for (int k = 0; k < 7; k++) {
            d = scene_def("body", dynamic_kind[k % 3], test_uniform(-0.06, 0.06), test_uniform(-0.06, 0.06), 0.12 + 0.09 * k);
            d.friction = test_random();
            d.material.young = pow(10, test_uniform(4, 7));
            d.material.density = pow(10, test_uniform(2, 4));
            d.material.damping[1] = k % 2 ? 0 : 0.01;
            if (k % 3 == 2 && k > 3) d.material.model = EMBIPC_ORTHOGONALITY;
            for (int i = 0; i < 3; i++) {
                d.velocity[i] = test_uniform(-3, 3);
                d.angular_velocity[i] = test_uniform(-20, 20);
            }
            if (k % 2) scene_ball(&s, d, test_uniform(0.02, 0.04), 1, 1);
            else scene_box(&s, d, test_uniform(0.02, 0.05), test_uniform(0.02, 0.05), test_uniform(0.02, 0.05), 1);
        }
        for (int n = 0; n < 60; n++) {
            if (trial >= 4) (void)embipc_world_set_limits(s.w, 1 + (int)test_uniform(0, 10), NULL);
            if (!scene_step(&s)) break;
            ENSURE(scene_sound(s.w));
        }
        scene_end(&s);
    }
}

/* ---- steps that crawl ---- */

/* A spike that stands on the tip of another, or on an edge, and slides off it, turning: IPC's unit scenes 17 and 18. Its side
 * turns past the tip by many times the gap in a move. Every step converges, and in not many solves. */
static void test_spikes_slide_off(void)
{
    static const double x[2][18] = {{0, 0, 0, 0.25, 0.25, 1, -0.25, 0.25, 1, -0.25, -0.25, 1, 0.25, -0.25, 1},
                                    {-0.5, 0, 0, 0.5, 0, 0, -0.5, 0.25, 1, 0.5, 0.25, 1, -0.5, -0.25, 1, 0.5, -0.25, 1}};
    static const int tets[2][12] = {{0, 1, 2, 3, 0, 1, 3, 4}, {0, 1, 2, 4, 1, 2, 4, 5, 2, 1, 3, 5}};
    for (int under = 0; under < 2; under++) {
        embipc_world_def wd = embipc_default_world_def();
        int most = 0, cut = 0, crossed = 0;
        double low, high;
        scene s;
        wd.time_step = 0.025;
        s = scene_empty(&wd);
        scene_ground(&s, 5, 0);
        for (int k = 0; k < 2; k++) {   /* the lower one upside down */
            int which = k == 0 ? under : 0, nodes = which ? 6 : 5, count = which ? 3 : 2;
            embipc_body_def d = scene_def(k ? "spike" : "under", k ? EMBIPC_FULL : EMBIPC_FIXED, 0, 0, k ? 1.2 : 1.01);
            test_mesh m = test_mesh_make(nodes, 0, count);
            double w[3] = {0, 0, 0};
            w[k ? 2 : 0] = k ? 0.17453292519943295 : 3.141592653589793;
            embi_m3_rotation(d.rotation, w);
            memcpy(m.x, x[which], (size_t)(3 * nodes) * sizeof(double));
            memcpy(m.tets, tets[which], (size_t)(4 * count) * sizeof(int));
            scene_boundary(&m);
            d.material.model = EMBIPC_FIXED_COROTATED;
            d.material.young = 1e5;
            d.material.poisson = 0.4;
            d.material.determinant_bound = 1;
            scene_add_mesh(&s, &d, &m, k == 0);
        }
        for (int n = 0; n < 100 && scene_step(&s); n++) {
            most = embi_max_int(most, s.stats.newton_iterations);
            cut += !s.stats.converged;
            crossed += scene_crossings(s.w);
        }
        scene_extent(s.w, s.body[2], 2, &low, &high);
        printf("  spike on %s: %d steps cut short, at most %d iterations\n", under ? "an edge" : "a spike", cut, most);
        ENSURE(cut == 0 && crossed == 0 && most < 30);
        ENSURE(low < 0.5);   /* it is off */
        scene_end(&s);
    }
}

/* ---- far bodies that come and go ---- */

enum { FAR_BODIES = 8 };
typedef struct far_away { embipc_body body[FAR_BODIES]; int count, made; } far_away;

static int far_pick(int n) { return (int)(test_random() * n) % n; }
static void far_make(embipc_world *w, far_away *f)
{
    embipc_kind kind = (embipc_kind)far_pick(5);
    test_mesh m = kind == EMBIPC_FULL ? scene_mesh_tet_box(2, 2, 2, 0.1, 0.1, 0.1) : test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    embipc_body_def d = scene_def("far", kind, 50 + 0.101 * f->made++, 40, 30);
    test_mesh_shape(&m, &d);
    d.velocity[0] = test_uniform(-3, 3);
    d.friction = 0.5;
    d.cage_nodes = 8;
    if (f->count < FAR_BODIES && embipc_body_create(w, &d, &f->body[f->count]) == EMBIPC_OK) f->count++;
    test_mesh_free(&m);
}
/* Something happens to them: they are made, driven, given rules and velocities, and destroyed. Returns whether it did. */
static int far_event(embipc_world *w, far_away *f)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0.2, 0, 0.1, 0, 1, 0};
    static const double v[3] = {1, 2, 3}, spin[3] = {0, 0, 1};
    int what = far_pick(7), at = f->count ? far_pick(f->count) : -1;
    embipc_drive_def d = embipc_default_drive_def();
    embipc_drive drive;
    if (what < 2 || at < 0) far_make(w, f);
    else if (what < 4) {
        (void)ENSURE_OK(w, embipc_body_destroy(w, f->body[at]));
        f->body[at] = f->body[--f->count];
    } else if (what == 4) (void)ENSURE_OK(w, embipc_world_set_pair(w, f->body[at], f->body[0], test_random(), 1));
    else if (what == 5) (void)ENSURE_OK(w, embipc_body_set_velocity(w, f->body[at], v, spin));
    else {
        d.body = f->body[at];
        d.keys = keys;
        d.key_count = 2;
        (void)embipc_drive_create(w, &d, &drive);
    }
    return 1;
}
/* What is done to bodies far away, before the others were made and between any steps, changes no bit of the others. */
static void test_far_bodies_come_and_go(void)
{
    int events = 0;
    for (int which = 2 * SCENE_COUNT % TEST_STRIDE; which < 2 * SCENE_COUNT + 1; which += TEST_STRIDE) {
        int heap = which == 2 * SCENE_COUNT, standard = which % SCENE_COUNT, first = -1;
        embipc_world_def wd = heap ? embipc_default_world_def() : scene_world_def(standard);
        far_away far = {{{0, 0}}, 0, 0};
        scene s[2];
        if (!heap && which >= SCENE_COUNT) wd.integrator = EMBIPC_BDF2;
        for (int i = 0; i < 2; i++) {
            s[i] = scene_empty(&wd);
            for (int k = 0; i && k < 2; k++) far_make(s[1].w, &far);
            if (heap) scene_heap(&s[i]);
            else scene_fill_world(&s[i], standard);
        }
        for (int n = 0; n < 60 && first < 0; n++) {
            if (test_random() < 0.7) events += far_event(s[1].w, &far);
            for (int i = 0; i < 2; i++) scene_step(&s[i]);
            for (int k = 0; k < s[0].n; k++)
                if (scene_body_bits(s[0].w, s[0].body[k]) != scene_body_bits(s[1].w, s[1].body[k])) first = n;
        }
        if (first >= 0) printf("  %s: other bits from step %d on\n", heap ? "heap" : scene_names[standard], first);
        ENSURE(first < 0);
        for (int i = 0; i < 2; i++) scene_end(&s[i]);
    }
    ENSURE(events > 400 / TEST_STRIDE);
}

static void world_guarantee(void)
{
    RUN(judge);
    RUN(thrown_at_a_plate);
    RUN(thrown_at_each_other);
    RUN(fine_ones_thrown);
    RUN(searched_stays_searched);
    RUN(chain_links_stay_linked);
    RUN(locked_in);
    RUN(every_scene_is_free_of_crossings);
    RUN(anytime);
    RUN(stop_flag);
    RUN(reset_keeps_bodies_apart);
    RUN(random_heaps);
    RUN(spikes_slide_off);
    RUN(far_bodies_come_and_go);
}
#endif
