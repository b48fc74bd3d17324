/* Frames: steps of a fixed length from frames of any length, the moment that is drawn, a budget for all steps of a frame. */
#ifndef GAME_FRAME_H
#define GAME_FRAME_H

typedef struct frame_log { int steps, from; } frame_log;

static double frame_tick;
static double frame_clock(void *ctx)
{
    (void)ctx;
    return frame_tick += 1;
}
static void frame_after(embipc_world *w, const embipc_step_stats *stats, void *ctx)
{
    frame_log *log = (frame_log *)ctx;
    log->steps++;
    ENSURE(stats->step == log->from + log->steps && stats->time == embipc_world_time(w));
}
/* Frames of random lengths make the steps of a plain loop, with the same bits, and lose no time. */
static void test_frames_make_the_steps_that_are_due(void)
{
    scene s[2];
    embipc_frame f;
    frame_log log = {0, 0};
    double shown = 0, h;
    int steps = 0, none = 0;
    memset(&f, 0, sizeof f);
    f.max_steps = 100;
    f.after_step = frame_after;
    f.ctx = &log;
    for (int i = 0; i < 2; i++) s[i] = scene_make(SCENE_DROP, NULL);
    h = s[0].w->def.time_step;
    for (int n = 0; n < 40; n++) {
        embipc_pose p;
        f.seconds = n == 20 ? 5.25 * h : test_uniform(0, 2.2) * h;
        shown += f.seconds;
        (void)ENSURE_OK(s[0].w, embipc_world_advance(s[0].w, &f));
        steps += f.steps;
        none += f.steps == 0;
        ENSURE(f.dropped == 0 && f.rest >= 0 && f.rest < h && log.steps == steps);
        ENSURE_CLOSE(f.rest + steps * h, shown, 1e-12);
        ENSURE_CLOSE(f.alpha, f.rest / h, 1e-15);
        (void)ENSURE_OK(s[0].w, embipc_body_get_pose(s[0].w, s[0].body[1], f.alpha, &p));
        for (int k = 0; k < f.steps; k++) ENSURE(scene_step(&s[1]));
        ENSURE(scene_bits(s[0].w) == scene_bits(s[1].w));
    }
    ENSURE(none > 2);
    f.max_steps = 3;                       /* a pause of ten steps: seven are given up, the rest stays */
    f.seconds = 10 * h;
    shown = f.rest;
    (void)ENSURE_OK(s[0].w, embipc_world_advance(s[0].w, &f));
    ENSURE(f.steps == 3 && f.dropped + f.steps == (int)floor((shown + f.seconds) / h));
    ENSURE_CLOSE(f.rest, shown + 10 * h - (f.steps + f.dropped) * h, 1e-12);
    f.max_steps = 0;
    ENSURE(embipc_world_advance(s[0].w, &f) == EMBIPC_ERR_ARGUMENT && embipc_world_advance(s[0].w, NULL) == EMBIPC_ERR_ARGUMENT);
    f.max_steps = 1;
    f.seconds = -1;
    ENSURE(embipc_world_advance(s[0].w, &f) == EMBIPC_ERR_ARGUMENT && embipc_world_advance(NULL, &f) == EMBIPC_ERR_ARGUMENT);
    f.seconds = (double)NAN;
    ENSURE(embipc_world_advance(s[0].w, &f) == EMBIPC_ERR_ARGUMENT);
    for (int i = 0; i < 2; i++) scene_end(&s[i]);
}
/* Steps that do not fit into the budget of a frame are given up, and leave no trace. The budget itself stays. */
static void test_a_frame_has_one_budget(void)
{
    embipc_world_def wd = scene_world_def(SCENE_DROP);
    scene s[2];
    embipc_frame f;
    int made = 0, given_up = 0;
    wd.clock = frame_clock;
    memset(&f, 0, sizeof f);
    f.max_steps = 8;
    f.seconds = 4 * wd.time_step;
    for (int i = 0; i < 2; i++) s[i] = scene_make(SCENE_DROP, &wd);
    for (int n = 0; n < 30; n++) {
        double begin;
        (void)ENSURE_OK(s[0].w, embipc_world_set_budget(s[0].w, 20 + 40 * n, 0));
        begin = frame_tick;
        (void)ENSURE_OK(s[0].w, embipc_world_advance(s[0].w, &f));
        ENSURE(f.steps >= 1 && f.steps + f.dropped == 4 && f.rest < 1e-12);
        if (f.steps > 1) ENSURE(frame_tick - begin < 20 + 40 * n + 40);
        made += f.steps;
        given_up += f.dropped;
        ENSURE(s[0].w->budget.seconds == 20 + 40 * n && s[0].w->budget.strict == 0);
        ENSURE(embipc_world_intersections(s[0].w, NULL, 0) == 0 && scene_finite(s[0].w));
    }
    printf("  %d steps made, %d given up\n", made, given_up);
    ENSURE(made > 40 && given_up > 20);
    (void)ENSURE_OK(s[1].w, embipc_world_set_budget(s[1].w, 3, 1));   /* the first step fails as it would by itself */
    ENSURE(embipc_world_advance(s[1].w, &f) == EMBIPC_ERR_TIME && f.steps == 0 && embipc_world_time(s[1].w) == 0);
    ENSURE_CLOSE(f.rest, 4 * wd.time_step, 1e-12);
    for (int i = 0; i < 2; i++) scene_end(&s[i]);
}
static void game_frame(void)
{
    RUN(frames_make_the_steps_that_are_due);
    RUN(a_frame_has_one_budget);
}
#endif
