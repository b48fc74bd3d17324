/* Worlds of the field that lost what they promise: a far body that changed bits (DATA/field/14), surfaces that were not where their
 * nodes are after a step without memory (16), numbers that no world can hold (17). Included by test_field.c. */
#ifndef FIELD_ROBUST_H
#define FIELD_ROBUST_H
#include "scene_test.h"
#include "undo_test.h"

/* A far body changes no bit of others, whenever it is made, moves and goes. Two cages lie on each other meanwhile, as in field 14,
 * on two slabs that are flush. */
static void test_late_far_bodies(void)
{
    for (int kind = EMBIPC_FIXED; kind <= EMBIPC_FULL; kind++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s[2];
        int same = 1;
        for (int i = 0; i < 2; i++) {
            s[i] = scene_empty(&wd);
            for (int k = 0; k < 4; k++) {
                embipc_body_def slab = scene_def("slab", EMBIPC_FIXED, k ? 0.25 : -0.25, 0, -0.05);
                embipc_body_def d = scene_def("cage", EMBIPC_CAGE, 0.02 * (k - 1), 0, 0.06 + 0.11 * (k - 1));
                slab.friction = d.friction = 0.5;
                if (k % 3 == 0) scene_box(&s[i], slab, 0.5, 1, 0.1, 1);
                else scene_box(&s[i], d, 0.1, 0.1, 0.1, 0);
            }
        }
        for (int n = 0; n < 120 && same; n++) {
            embipc_body_def d = scene_def("far", (embipc_kind)kind, 100, n, 500);
            if (n == 35 || n == 60) scene_box(&s[0], d, 0.1, 0.1, 0.1, 1);
            if (n == 80) {
                (void)ENSURE_OK(s[0].w, embipc_body_destroy(s[0].w, s[0].body[4]));
                s[0].n--;
                s[0].body[4] = s[0].body[5];
            }
            for (int i = 0; i < 2; i++) scene_step(&s[i]);
            for (int k = 1; k < 3; k++) same &= scene_body_bits(s[0].w, s[0].body[k]) == scene_body_bits(s[1].w, s[1].body[k]);
            if (!same) printf("  kind %d: other bits in step %d\n", kind, n);
        }
        ENSURE(same);
        for (int i = 0; i < 2; i++) scene_end(&s[i]);
    }
}

/* Two boxes fall and turn; each is looked at before each step. */
static scene robust_falling(undo_rig *rig)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s;
    undo_rig_init(rig);
    wd.allocator = undo_allocator(rig);
    s = scene_empty(&wd);
    scene_ground(&s, 1, 0.5);
    for (int k = 0; k < 2; k++) {
        embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, k ? 0.3 : 0.06);
        d.friction = 0.5;
        d.velocity[0] = 2;
        d.velocity[2] = k ? -5 : -1;
        d.angular_velocity[1] = 20;
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    }
    return s;
}

/* The step fails for the n-th allocation of the run, for each n: views are J q then, and the run ends as one without a failure. */
static void test_views_after_failed_steps(void)
{
    undo_rig rig;
    scene s = robust_falling(&rig);
    unsigned long long end;
    int failed = 0, last = 0;
    for (int n = 0; n < 40; n++) {
        ENSURE(undo_off(s.w) < 1e-14);
        scene_step(&s);
    }
    end = undo_bits(&s);
    scene_end(&s);
    for (int left = 0; !last && !test_bad; left += TEST_STRIDE) {
        s = robust_falling(&rig);
        rig.left = left;
        for (int n = 0; n < 40; n++) {
            unsigned long long bits = undo_bits(&s);
            embipc_result r = embipc_world_step(s.w, NULL);
            if (undo_off(s.w) < 1e-14 && r == EMBIPC_OK) continue;
            ENSURE(r == EMBIPC_ERR_MEMORY && undo_bits(&s) == bits && undo_off(s.w) < 1e-14);
            ENSURE(embipc_world_intersections(s.w, NULL, 0) == 0);
            scene_step(&s);
        }
        last = rig.left >= 0;
        failed += rig.failed;
        ENSURE(undo_bits(&s) == end);
        scene_end(&s);
    }
    printf("  %d failing steps\n", failed);
    ENSURE(failed > 50 / TEST_STRIDE);
}

/* A velocity and a key of a drive that no world can hold are refused with value and limit; the world goes on as if they had not
 * been given. What is just within the limit is taken, and its step is bounded. */
static void test_huge_numbers(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    const double none[3] = {0, 0, 0}, centre[3] = {-0.0105, 0, 0.044};
    double v[3] = {0, 0, 0}, keys[14] = {0, 0, 0, 0, 0, 0, 0, 0.01, 0, 0, 0, 0, 0, 0};
    embipc_drive_def d = embipc_default_drive_def();
    embipc_body_def b = scene_def("finger", EMBIPC_KINEMATIC, centre[0], centre[1], centre[2]);
    const embipc_error *e = embipc_world_error(s.w);
    embipc_drive drive;
    scene_ground(&s, 1, 0.5);
    scene_ball(&s, b, 0.006, 1, 0);
    for (int k = 0; k < 12; k++) {
        embipc_body_def stone = scene_def("stone", EMBIPC_AFFINE, 0.024 * k, 0, 0.02405);
        stone.friction = 0.2;
        scene_box(&s, stone, 0.008, 0.024, 0.048, 1);
    }
    for (int k = 20; k <= 300; k += 20) {
        v[0] = pow(10, k);
        ENSURE(embipc_body_set_velocity(s.w, s.body[2], v, none) != EMBIPC_OK);
        ENSURE(strstr(e->text, "stone") && (k > 150 || strstr(e->text, "limit")));
    }
    d.body = s.body[1];
    d.keys = keys;
    d.key_count = 2;
    keys[3] = 1e20;
    ENSURE(embipc_drive_create(s.w, &d, &drive) == EMBIPC_ERR_ARGUMENT && strstr(e->text, "finger") && strstr(e->text, "1e+20 m"));
    ENSURE(e->value[0] == 1e20 && strstr(e->text, "limit"));
    keys[3] = 0;
    keys[8] = 1e6;   /* within the limit; and through all stones */
    (void)ENSURE_OK(s.w, embipc_drive_create(s.w, &d, &drive));
    for (int n = 0; n < 3; n++) {
        scene_step(&s);
        undo_numbers(&s);
        ENSURE(isfinite(s.stats.objective_before + s.stats.objective_after + s.stats.kinetic));
        ENSURE(s.stats.candidates < 10000 && s.stats.newton_iterations <= 100);
        ENSURE(scene_sound(s.w));
    }
    scene_end(&s);
}
#endif
