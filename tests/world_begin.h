/* Where a step begins: the guess from the last two, what it saves, and that it changes nothing else. A world whose
 * bodies are told to have no past before every step begins each of them at q^n. */
#ifndef WORLD_BEGIN_H
#define WORLD_BEGIN_H

/* a ball between two plates that press it in 0.5 s, lift it in 0.5 s, turn it in 0.5 s, and hold it for as long */
static scene begin_gripper(embipc_kind kind, double tolerance)
{
    static const double left[35] = {0, 0, 0, 0, 0, 0, 0, 0.5, 0.012, 0, 0, 0, 0, 0, 1, 0.012, 0, 0.05, 0, 0, 0,
                                    1.5, 0.012, 0, 0.05, 0, 0, 0.8, 2, 0.012, 0, 0.05, 0, 0, 0.8};
    static const double centre[3] = {0, 0, 0.03};
    double right[35];
    embipc_world_def wd = scene_world_def(SCENE_GRASP);
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("ball", kind, 0, 0, 0.0305);
    for (int i = 0; i < 35; i++) right[i] = i % 7 == 1 ? -left[i] : left[i];
    d.friction = 1;
    d.material.young = 5e4;
    d.tolerance = tolerance;
    scene_ground(&s, 0.4, 1);
    scene_ball(&s, d, 0.0303, 2, 2);
    for (int side = -1; side < 2; side += 2) {
        d = scene_def("plate", EMBIPC_KINEMATIC, 0.0365 * side, 0, 0.03);
        d.friction = 1;
        scene_box(&s, d, 0.01, 0.05, 0.05, 1);
        scene_drive(&s, s.n - 1, side < 0 ? left : right, 5, centre, NULL, 0);
    }
    return s;
}

/* Pressed, lifted, turned, held: fewer solves, more in no phase, one a step where nothing changes, and to the same minimum */
static void test_less_work_for_the_same(void)
{
    static const embipc_kind kinds[3] = {EMBIPC_AFFINE, EMBIPC_CAGE, EMBIPC_FULL};
    for (int k = 0; k < 3; k++) {
        scene s = begin_gripper(kinds[k], 1e-8), plain = begin_gripper(kinds[k], 1e-8);
        scene loose = begin_gripper(kinds[k], 0), before = begin_gripper(kinds[k], 0);
        int solves[4][2] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}}, sum[2] = {0, 0}, carried = 0;
        double most = 0, off = 0;
        for (int n = 0; n < 200; n++) {
            embipc_body_view a, b, c;
            scene_forget(&plain);
            scene_forget(&before);
            if (!scene_step(&s) || !scene_step(&plain) || !scene_step(&loose) || !scene_step(&before)) break;
            ENSURE(s.stats.converged && plain.stats.converged && loose.stats.converged);
            solves[n / 50][0] += loose.stats.newton_iterations;
            solves[n / 50][1] += before.stats.newton_iterations;
            if (n % 50 >= 40 && n / 50 % 2) carried += loose.stats.newton_iterations;
            (void)embipc_body_get_view(s.w, s.body[1], &a);
            (void)embipc_body_get_view(plain.w, plain.body[1], &b);
            (void)embipc_body_get_view(loose.w, loose.body[1], &c);
            for (int i = 0; i < 3 * a.vertex_count; i++) {
                most = fmax(most, fabs(a.x[i] - b.x[i]));
                off = fmax(off, fabs(a.x[i] - c.x[i]));
            }
        }
        printf("  %-6s solves of 50 steps, from q^n -> from the guess: press %d -> %d, lift %d -> %d, turn %d -> %d, "
               "hold %d -> %d; minima differ by %.2g m, and the usual tolerance by %.2g m\n", kind_name[kinds[k]],
               solves[0][1], solves[0][0], solves[1][1], solves[1][0], solves[2][1], solves[2][0], solves[3][1], solves[3][0],
               most, off);
        for (int n = 0; n < 4; n++) {
            ENSURE(solves[n][0] <= 1.05 * solves[n][1]);   /* turning in a full mesh is even, but for some per cent */
            sum[0] += solves[n][0];
            sum[1] += solves[n][1];
        }
        ENSURE(sum[0] < 0.85 * sum[1]);
        ENSURE(carried <= 22);      /* the last ten steps of lifting and of holding: one solve each, but for one or two */
        ENSURE(most < 1e-9 && off < 1e-5);
        scene_end(&s);
        scene_end(&plain);
        scene_end(&loose);
        scene_end(&before);
    }
}

/* In free fall, turning slowly, the second order is exact by either integrator: d = h v + h^2 g, or h v + h^2 g/2. */
static void test_order_two_is_exact_in_free_fall(void)
{
    for (int k = 0; k < 2; k++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s;
        embipc_body_def d = scene_def("ball", EMBIPC_FULL, 0, 0, 1);
        wd.integrator = k ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER;
        s = scene_empty(&wd);
        embi_set(d.velocity, 1, 2, 3);
        scene_ball(&s, d, 0.1, 1, 0);
        for (int n = 0; n < 40 && scene_step(&s); n++) {
            const embi_body *b = s.w->s.body;
            double gh = 9.81 * wd.time_step * wd.time_step;
            if (n < 30) continue;   /* by BDF2 the first step, one of backward Euler, is forgotten by thirds */
            ENSURE(b->past.displacement > 0 && b->past.prediction_error[1] < 1e-11);
            ENSURE_CLOSE(b->past.prediction_error[0], k ? gh / 2 : gh, 1e-6 * gh);
            ENSURE(s.stats.newton_iterations == 1);
        }
        scene_end(&s);
    }
}

/* A beam turned at one end faster than chords can follow the arc in one go: the guess goes stage by stage, too. */
static void test_stages(void)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 30};
    static const double centre[3] = {-0.1, 0, 0};
    int solves[2] = {0, 0}, stages = 0;
    double most = 0;
    scene s[2];
    for (int k = 0; k < 2; k++) {
        embipc_world_def wd = scene_world_def(SCENE_BEAM);
        test_mesh m = scene_mesh_tet_box(8, 2, 2, 0.2, 0.05, 0.02);
        embipc_body_def d = scene_def("beam", EMBIPC_FULL, 0, 0, 0);
        int nodes[64], n = 0;
        d.material.young = 1e7;
        d.material.damping[1] = 0.002;
        d.tolerance = 1e-8;
        s[k] = scene_empty(&wd);
        for (int i = 0; i < m.vertex_count; i++)
            if (m.x[3 * i] < -0.049) nodes[n++] = i;
        scene_add_mesh(&s[k], &d, &m, 0);
        scene_drive(&s[k], 0, keys, 2, centre, nodes, n);
    }
    for (int n = 0; n < 80; n++) {
        embipc_body_view a, b;
        scene_forget(&s[1]);
        if (!scene_step(&s[0]) || !scene_step(&s[1])) break;
        stages = embi_max_int(stages, s[0].w->s.driven.list[0].increments);
        (void)embipc_body_get_view(s[0].w, s[0].body[0], &a);
        (void)embipc_body_get_view(s[1].w, s[1].body[0], &b);
        for (int i = 0; i < 3 * a.vertex_count; i++) most = fmax(most, fabs(a.x[i] - b.x[i]));
        for (int k = 0; k < 2 && n >= 20; k++) solves[k] += s[k].stats.newton_iterations;
    }
    printf("  a beam turned in %d stages: %d -> %d solves in 60 steps, minima differ by %.2g m\n", stages, solves[1], solves[0], most);
    ENSURE(stages > 1 && most < 1e-9);
    ENSURE(solves[1] >= 60 * (stages + 1) && solves[0] <= 60 * 2);
    scene_end(&s[0]);
    scene_end(&s[1]);
}

/* A ball that comes into the reach of a stiff barrier: the guess, no contact in its way but E higher there, is refused, and
 * leaves nothing behind: the same bits as without. */
static void test_refused_guess(void)
{
    scene s[2];
    const embi_state *w;
    for (int k = 0; k < 2; k++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("ball", EMBIPC_AFFINE, 0, 0, 0.172);
        embi_set(wd.gravity, 0, 0, 0);
        wd.dhat = 0.02;
        wd.kappa = 1e8;
        s[k] = scene_empty(&wd);
        embi_set(d.velocity, 0, 0, -1);
        scene_ground(&s[k], 1, 0);
        scene_ball(&s[k], d, 0.1, 1, 0);
    }
    w = &s[0].w->s;
    for (int n = 0; n < 6; n++) {   /* the gap is 0.022 before the last one */
        scene_forget(&s[1]);
        if (n < 5) scene_forget(&s[0]);
        else ENSURE(w->body[1].past.displacement > 0.00999 && w->body[1].past.prediction_error[0] < 1e-12);
        if (!scene_step(&s[0]) || !scene_step(&s[1])) break;
        ENSURE((s[0].stats.contacts > 0) == (n == 5));
    }
    ENSURE(w->body[1].past.prediction_error[0] > 0.25 * w->body[1].past.displacement);
    ENSURE(memcmp(w->q, s[1].w->s.q, (size_t)(3 * w->node_count) * sizeof *w->q) == 0);
    scene_end(&s[0]);
    scene_end(&s[1]);
}

static void world_begin(void)
{
    RUN(less_work_for_the_same);
    RUN(order_two_is_exact_in_free_fall);
    RUN(stages);
    RUN(refused_guess);
}
#endif
