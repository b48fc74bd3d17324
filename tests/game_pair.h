/* The pair callback: asked once for each pair; what it keeps apart passes through, makes no events, and is let touch again only
 * where it does not cross. */
#ifndef GAME_PAIR_H
#define GAME_PAIR_H

typedef struct pair_log { int calls, wrong; int ghost; } pair_log;

static char pair_names[8];
/* users are addresses in pair_names: numbers of bodies. Number `ghost` touches none but the ground, which is number 0 */
static int pair_ask(embipc_body a, void *user_a, embipc_body b, void *user_b, void *ctx)
{
    pair_log *log = (pair_log *)ctx;
    int i = (int)((char *)user_a - pair_names), j = (int)((char *)user_b - pair_names);
    log->calls++;
    log->wrong += i >= j || a.index1 == b.index1;
    return i == 0 || (i != log->ghost && j != log->ghost);
}
static scene pair_scene(pair_log *log, undo_rig *rig)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s;
    wd.pair = pair_ask;
    wd.pair_ctx = log;
    if (rig) wd.allocator = undo_allocator(rig);
    s = scene_empty(&wd);
    for (int k = 0; k < 4; k++) {
        embipc_body_def d = scene_def("box", k ? EMBIPC_AFFINE : EMBIPC_FIXED, 0, 0, k ? 0.2 * k : -0.05);
        d.user = pair_names + k;
        d.friction = 0.4;
        d.material.young = 1e8;
        scene_box(&s, d, k ? 0.1 : 1, k ? 0.1 : 1, 0.1, 1);
    }
    return s;
}
static double pair_height(const scene *s, int k) { return scene_state(s->w, s->body[k]).centre[2]; }
static void pair_run(scene *s, int steps)
{
    for (int n = 0; n < steps; n++) ENSURE(scene_step(s) && embipc_world_intersections(s->w, NULL, 0) == 0);
}

static void test_pairs_are_asked_once(void)
{
    pair_log log = {0, 0, -1};
    scene s = pair_scene(&log, NULL);
    embipc_pair_parameters p;
    ENSURE(log.calls == 6 && log.wrong == 0);
    pair_run(&s, 80);                                  /* nobody is a ghost: a stack of three */
    ENSURE(log.calls == 6 && pair_height(&s, 1) > 0.04 && pair_height(&s, 2) > 0.14 && pair_height(&s, 3) > 0.24);
    log.ghost = 2;                                     /* the answers hold until they are asked for */
    pair_run(&s, 10);
    ENSURE(log.calls == 6 && pair_height(&s, 2) > 0.14);
    (void)ENSURE_OK(s.w, embipc_body_ask_pairs(s.w, s.body[2]));
    ENSURE(log.calls == 9 && log.wrong == 0);
    (void)ENSURE_OK(s.w, embipc_world_get_pair(s.w, s.body[3], s.body[2], &p));
    ENSURE(p.contact == 0);
    (void)ENSURE_OK(s.w, embipc_world_get_pair(s.w, s.body[0], s.body[2], &p));
    ENSURE(p.contact == 1);
    (void)ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[1], s.body[2], -1, 1));   /* a rule counts more */
    pair_run(&s, 80);
    ENSURE(pair_height(&s, 2) > 0.14 && pair_height(&s, 3) < 0.16 && pair_height(&s, 3) > 0.14);
    ENSURE(embipc_body_ask_pairs(NULL, s.body[2]) == EMBIPC_ERR_ARGUMENT);
    scene_end(&s);
    s = scene_make(SCENE_DROP, NULL);
    ENSURE(embipc_body_ask_pairs(s.w, s.body[1]) == EMBIPC_ERR_ARGUMENT && strstr(embipc_world_error(s.w)->text, "pair callback"));
    scene_end(&s);
}

/* Two that overlap stay apart until they are separate, and the refused call leaves no bit behind. */
static void test_overlapping_pairs_are_not_switched_on(void)
{
    undo_rig rig;
    pair_log log = {0, 0, 2};
    scene s, twin;
    double up[3] = {0, 0, 6}, none[3] = {0, 0, 0};
    embipc_contact_event event[8];
    undo_rig_init(&rig);
    s = pair_scene(&log, &rig);
    pair_run(&s, 80);
    ENSURE(pair_height(&s, 2) < 0.06 && pair_height(&s, 1) < 0.06);    /* both on the ground, one in the other */
    ENSURE(embipc_world_contact_events(s.w, event, 8) == 3);            /* ground and 1, ground and 2, 1 and 3 */
    {   /* nor by a rule */
        unsigned long long bits = scene_bits(s.w), hash = embipc_world_hash(s.w);
        ENSURE(embipc_world_set_pair(s.w, s.body[2], s.body[1], -1, 1) == EMBIPC_ERR_INTERSECTION);
        ENSURE(scene_bits(s.w) == bits && embipc_world_hash(s.w) == hash && embipc_world_intersections(s.w, NULL, 0) == 0);
    }
    twin = s;
    (void)ENSURE_OK(s.w, embipc_world_copy(s.w, &twin.w));
    log.ghost = -1;
    for (int k = 1; k < 3; k++) {
        unsigned long long bits = undo_bits(&s);
        ENSURE(embipc_body_ask_pairs(s.w, s.body[k]) == EMBIPC_ERR_INTERSECTION);
        ENSURE(strstr(embipc_world_error(s.w)->text, "box") && embipc_world_rejected(s.w, NULL, 0) > 0);
        ENSURE(undo_bits(&s) == bits);
    }
    pair_run(&s, 5);
    pair_run(&twin, 5);
    ENSURE(undo_bits(&s) == undo_bits(&twin));
    for (int left = 0; left < 50; left++) {                            /* out of memory: answers stay */
        unsigned long long bits = undo_bits(&s);
        rig.left = left;
        if (embipc_body_ask_pairs(s.w, s.body[2]) != EMBIPC_ERR_MEMORY) break;
        ENSURE(undo_bits(&s) == bits);
    }
    rig.left = -1;
    pair_run(&s, 2);
    pair_run(&twin, 2);
    ENSURE(undo_bits(&s) == undo_bits(&twin));
    (void)ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[2], up, none));   /* out through the others, and down again */
    for (int n = 0; n < 200 && embipc_body_ask_pairs(s.w, s.body[2]) != EMBIPC_OK; n++) pair_run(&s, 1);
    ENSURE(pair_height(&s, 2) > 0.2);
    pair_run(&s, 150);
    ENSURE(pair_height(&s, 2) > 0.24);
    embipc_world_destroy(twin.w);
    scene_end(&s);
}

/* Slots of bodies that are gone serve again, with new answers; no step allocates because of them. */
static void test_pairs_of_bodies_that_come_and_go(void)
{
    undo_rig rig;
    pair_log log = {0, 0, 1};
    scene s;
    long calls;
    undo_rig_init(&rig);
    s = pair_scene(&log, &rig);
    (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[1]));
    for (int k = 0; k < 2; k++) {                      /* a body at the slot of the ghost, which is none; then a ghost */
        embipc_body_def d = scene_def("new", EMBIPC_AFFINE, 0, 0, k ? 0.25 : 0.85);
        embipc_pair_parameters p;
        d.user = pair_names + 4 + k;
        d.material.young = 1e8;
        log.ghost = k ? 5 : -1;
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);            /* the second one is created inside another */
        ENSURE(k || s.body[s.n - 1].index1 == 2);
        (void)ENSURE_OK(s.w, embipc_world_get_pair(s.w, s.body[2], s.body[s.n - 1], &p));
        ENSURE(p.contact == !k);
    }
    pair_run(&s, 60);
    calls = rig.calls;
    pair_run(&s, 10);
    ENSURE(rig.calls == calls);
    scene_end(&s);
    ENSURE(rig.bytes == 0);
    s = pair_scene(&log, NULL);
    for (int i = 0; i < 40; i++) {                     /* more slots than bits in a word */
        embipc_body_def d = scene_def("far", EMBIPC_AFFINE, 1, 1, 5 + i);
        embipc_body b;
        test_mesh m = test_mesh_box(-0.1, -0.1, -0.1, 0.1, 0.1, 0.1);
        embipc_pair_parameters p;
        test_mesh_shape(&m, &d);
        d.user = pair_names + 6;
        log.ghost = i % 3 ? -1 : 6;
        (void)ENSURE_OK(s.w, embipc_body_create(s.w, &d, &b));
        for (int k = 0; k < embipc_world_body_count(s.w) - 1; k++) {
            (void)ENSURE_OK(s.w, embipc_world_get_pair(s.w, b, embipc_world_body(s.w, k), &p));
            ENSURE(p.contact == (k == 0 || i % 3 != 0));
        }
        test_mesh_free(&m);
    }
    scene_end(&s);
}

static void game_pair(void)
{
    RUN(pairs_are_asked_once);
    RUN(overlapping_pairs_are_not_switched_on);
    RUN(pairs_of_bodies_that_come_and_go);
}
#endif
