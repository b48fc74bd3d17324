/* Snapshots: a world that is saved and loaded goes on with the bits of one that is not, and its snapshot is the same bytes.
 * Damaged bytes are refused. Bytes that someone forged, with the right hash, are refused, or they are a sound world. */
#include "small.h"
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "cage_test.h"
#include "undo_test.h"
#include "undo_scenes.h"
#include "snapshot_test.h"

/* ---- the same bits ---- */

/* Its reloaded self takes the place of the world, which is destroyed: memory that is freed is overwritten. */
static void trade(scene *s, undo_rig *rig)
{
    embipc_world_def def = embipc_default_world_def();
    embipc_world *w;
    embipc_error e;
    snapshot one = snapshot_of(s->w), two;
    unsigned long long bits = undo_bits(s);
    def.allocator = undo_allocator(rig);
    def.clock = undo_clock;
    def.clock_ctx = rig;
    def.parallel_for = s->w->s.threads.run;
    def.pair = s->w->def.pair;
    if (!ENSURE_TEXT(embipc_world_load(one.data, one.bytes, &def, &w, &e) == EMBIPC_OK, e.text)) return;
    ENSURE(embipc_world_hash(w) == embipc_world_hash(s->w));
    two = snapshot_of(w);
    ENSURE(one.bytes == two.bytes && memcmp(one.data, two.data, one.bytes) == 0);
    free(one.data);
    free(two.data);
    embipc_world_destroy(s->w);
    s->w = w;
    rig->w = w;
    ENSURE(undo_bits(s) == bits && undo_off(w) < 1e-14);
}
/* A world that is traded before every third step keeps the bits of one that is not. */
static void test_snapshots_go_on(void)
{
    for (int k = 0; k < UNDO_COUNT; k += TEST_STRIDE) {
        undo_rig rig[2];
        scene s[2];
        int good = 1;
        for (int i = 0; i < 2; i++) s[i] = undo_scene(k, &rig[i]);
        for (int n = 0; n < steps_of(k, 18) && good; n++) {
            for (int i = 0; i < 2 && (k == UNDO_TILES || k == UNDO_THREADS + 3); i++) tiles_change(&s[i], n);
            if (n % 3 == 1) trade(&s[0], &rig[0]);
            for (int i = 0; i < 2; i++) good &= scene_step(&s[i]);
            s[0].stats.candidate_builds = s[1].stats.candidate_builds;
            good = good && undo_bits(&s[0]) == undo_bits(&s[1]) && memcmp(&s[0].stats, &s[1].stats, sizeof s->stats) == 0;
            good = good && embipc_world_hash(s[0].w) == embipc_world_hash(s[1].w);
            if (!good) printf("  scene %d, step %d: other bits than without a snapshot\n", k, n);
        }
        ENSURE(good);
        for (int i = 0; i < 2; i++) scene_end(&s[i]);
        ENSURE(rig[0].bytes == 0);
    }
}

/* A world with all that callers change between steps: one is traded before each step. */
static int never(embipc_body a, void *ua, embipc_body b, void *ub, void *ctx)
{
    (void)ua; (void)ub; (void)ctx;
    return a.index1 != 2 || b.index1 != 5;
}
static void change(scene *s, int n)
{
    static const double up[3] = {0, 0, 0.02}, none[3] = {0, 0, 0}, spin[3] = {1, 2, 3}, belt[3] = {0.1, 0, 0};
    embipc_body_def d = scene_def("late", EMBIPC_AFFINE, 0.9, 0, 0.0502);
    embipc_body with;
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    test_mesh_shape(&m, &d);
    switch (n) {
    case 1: (void)ENSURE_OK(s->w, embipc_body_scale_stiffness(s->w, s->body[2], 0.7)); break;
    case 2: (void)ENSURE_OK(s->w, embipc_body_apply_force(s->w, s->body[3], 2, up)); break;
    case 3: (void)ENSURE_OK(s->w, embipc_body_destroy(s->w, s->body[1])); break;
    case 4: (void)ENSURE_OK(s->w, embipc_body_create(s->w, &d, &s->body[1])); break;
    case 5: (void)ENSURE_OK(s->w, embipc_body_set_velocity(s->w, s->body[5], none, spin)); break;
    case 6: (void)ENSURE_OK(s->w, embipc_body_set_surface_velocity(s->w, s->body[0], belt)); break;
    case 7: (void)ENSURE_OK(s->w, embipc_world_set_pair(s->w, s->body[2], s->body[3], 0.1, 1)); break;
    case 8: (void)ENSURE_OK(s->w, embipc_body_set_groups(s->w, s->body[5], 2, 3)); break;
    case 9: (void)ENSURE_OK(s->w, embipc_body_set_friction(s->w, s->body[2], 0.3, 0.6)); break;
    case 10: (void)ENSURE_OK(s->w, embipc_world_set_time_step(s->w, 0.01)); break;
    case 11: (void)ENSURE_OK(s->w, embipc_world_set_gravity(s->w, spin)); break;
    case 12: (void)ENSURE_OK(s->w, embipc_world_set_limits(s->w, 3, NULL)); break;
    case 13:
        d.material.young = 1e9;
        (void)ENSURE_OK(s->w, embipc_body_replace(s->w, s->body[6], &d, &with));
        s->body[6] = with;
        break;
    case 14: (void)ENSURE_OK(s->w, embipc_world_reset(s->w)); break;
    default: break;
    }
    test_mesh_free(&m);
}
static void test_changes_between_steps(void)
{
    undo_rig rig[2];
    scene s[2];
    for (int i = 0; i < 2; i++) {
        embipc_world_def wd = embipc_default_world_def();
        undo_rig_init(&rig[i]);
        wd.allocator = undo_allocator(&rig[i]);
        wd.pair = never;
        wd.time_step = 1 / 60.0;
        s[i] = scene_empty(&wd);
        rig[i].w = s[i].w;
        scene_ground(&s[i], 3, 0.5);
        for (int k = 0; k < 6; k++) {
            embipc_body_def d = scene_def("box", (embipc_kind)(EMBIPC_AFFINE + k % 3), 0.001 * k, 0, 0.051 + 0.103 * k);
            d.friction = 0.5;
            d.thickness = k == 4 ? 1e-4 : 0;
            scene_box(&s[i], d, 0.1, 0.1, 0.1, 2);
        }
    }
    for (int n = 0; n < 20; n++) {
        for (int i = 0; i < 2; i++) change(&s[i], n);
        trade(&s[0], &rig[0]);
        for (int i = 0; i < 2; i++) scene_step(&s[i]);
        ENSURE(undo_bits(&s[0]) == undo_bits(&s[1]) && embipc_world_hash(s[0].w) == embipc_world_hash(s[1].w));
    }
    for (int i = 0; i < 2; i++) scene_end(&s[i]);
}

/* Bodies that fall asleep, sleep, and are woken, while steps have one length or another. */
static void test_sleep(void)
{
    undo_rig rig[2];
    scene s[2];
    int slept = 0;
    for (int i = 0; i < 2; i++) {
        embipc_world_def wd = embipc_default_world_def();
        undo_rig_init(&rig[i]);
        wd.allocator = undo_allocator(&rig[i]);
        wd.sleep_after = 0.1;
        wd.sleep_speed = 0.02;
        s[i] = scene_empty(&wd);
        rig[i].w = s[i].w;
        scene_ground(&s[i], 3, 0.5);
        for (int k = 0; k < 3; k++) {
            embipc_body_def d = scene_def("box", k == 1 ? EMBIPC_CAGE : EMBIPC_AFFINE, 0, 0, 0.0502 + 0.1004 * k);
            d.friction = 0.5;
            scene_box(&s[i], d, 0.1, 0.1, 0.1, 2);
        }
    }
    for (int n = 0; n < 200; n++) {
        static const double push[3] = {300, 0, 0};
        for (int i = 0; i < 2 && n % 60 == 59; i++) (void)ENSURE_OK(s[i].w, embipc_body_apply_force(s[i].w, s[i].body[3], -1, push));
        for (int i = 0; i < 2 && n % 20 == 10; i++) (void)ENSURE_OK(s[i].w, embipc_world_set_time_step(s[i].w, n % 40 == 10 ? 0.012 : 0.01));
        if (n % 7 == 3 || n % 60 > 57) trade(&s[0], &rig[0]);
        for (int i = 0; i < 2; i++) scene_step(&s[i]);
        s[0].stats.candidate_builds = s[1].stats.candidate_builds;
        ENSURE(undo_bits(&s[0]) == undo_bits(&s[1]) && memcmp(&s[0].stats, &s[1].stats, sizeof s->stats) == 0);
        ENSURE(embipc_world_hash(s[0].w) == embipc_world_hash(s[1].w));
        slept += s[1].stats.sleeping;
    }
    ENSURE(slept > 50);
    for (int i = 0; i < 2; i++) scene_end(&s[i]);
}

/* A snapshot takes less than 1.2 times what its world takes, and no allocation. */
static void test_size(void)
{
    double most = 0;
    for (int k = 0; k < UNDO_COUNT; k += TEST_STRIDE) {
        undo_rig rig;
        scene s = undo_scene(k, &rig);
        size_t bytes, memory;
        long calls;
        for (int n = 0; n < 8; n++) scene_step(&s);
        calls = rig.calls;
        (void)embipc_world_save(s.w, NULL, 0, &bytes);
        ENSURE(rig.calls == calls);
        embipc_world_memory(s.w, &memory, NULL, NULL);
        most = fmax(most, (double)bytes / (double)memory);
        scene_end(&s);
    }
    printf("  at most %.2f times the memory of a world\n", most);
    ENSURE(most < 1.2);
}

/* ---- bytes that are wrong ---- */

/* Each truncated length, each byte with each of its bits changed, all words the wrong way round, and a newer format. */
static void test_damage(void)
{
    scene s = snapshot_small();
    snapshot one = snapshot_of(s.w);
    embipc_world_def def = embipc_default_world_def();
    embipc_world *w;
    embipc_error e;
    int refused = 0;
    for (size_t n = 0; n < one.bytes; n += TEST_SKIP) {
        ENSURE(embipc_world_load(one.data, n, &def, &w, &e) == EMBIPC_ERR_ARGUMENT && !w && strlen(e.text) > 10);
        one.data[n] ^= (unsigned char)(1 << n % 8);
        ENSURE(embipc_world_load(one.data, one.bytes, &def, &w, &e) == EMBIPC_ERR_ARGUMENT && !w);
        one.data[n] ^= (unsigned char)(1 << n % 8);
        refused++;
    }
    ENSURE(refused > 1000 / TEST_SKIP && strstr(e.text, "damaged"));
    for (size_t i = 0; i < one.bytes; i += 8)
        for (int k = 0; k < 4; k++) {
            unsigned char t = one.data[i + (size_t)k];
            one.data[i + (size_t)k] = one.data[i + 7 - (size_t)k];
            one.data[i + 7 - (size_t)k] = t;
        }
    ENSURE(embipc_world_load(one.data, one.bytes, &def, &w, &e) == EMBIPC_ERR_ARGUMENT && strstr(e.text, "no snapshot"));
    free(one.data);
    one = snapshot_of(s.w);
    one.data[8]++;
    ENSURE(embipc_world_load(one.data, one.bytes, &def, &w, &e) == EMBIPC_ERR_ARGUMENT && strstr(e.text, "format 14"));
    free(one.data);
    scene_end(&s);
}
/* Each word is replaced by two others, and the hash is right again. What is loaded is sound, and makes steps. */
static void test_forged_words(void)
{
    scene s = snapshot_small();
    snapshot one = snapshot_of(s.w);
    int loaded = 0, refused = 0;
    for (size_t at = SNAPSHOT_HEAD; at < one.bytes / 8; at += TEST_SKIP)
        for (int k = 0; k < 2; k++) {
            unsigned long long was = snapshot_get(&one, at);
            snapshot_put(&one, at, snapshot_forged(was, (int)((5 * at + 4 * (size_t)k) % SNAPSHOT_FORGERIES)));
            snapshot_sign(&one);
            if (snapshot_try(&one)) loaded++;
            else refused++;
            snapshot_put(&one, at, was);
        }
    snapshot_sign(&one);
    ENSURE(snapshot_try(&one));
    printf("  %d forged snapshots were refused, %d were sound worlds\n", refused, loaded);
    ENSURE(refused > 1000 / TEST_SKIP);
    free(one.data);
    scene_end(&s);
}

/* Two bodies that cross are refused, though each number is in its range. */
static void test_crossing_is_refused(void)
{
    scene s = snapshot_small();
    snapshot one;
    embipc_world_def def = embipc_default_world_def();
    embipc_world *w;
    embipc_error e;
    embi_body *b = s.w->s.body + 2, *a = s.w->s.body + 1;
    for (int i = 0; i < 3 * b->nn; i++) s.w->s.q[3 * b->node0 + i] += a->solid.centroid[i % 3] - b->solid.centroid[i % 3] + 0.01;
    one = snapshot_of(s.w);
    ENSURE(embipc_world_load(one.data, one.bytes, &def, &w, &e) == EMBIPC_ERR_INTERSECTION && !w && strstr(e.text, "cross"));
    free(one.data);
    scene_end(&s);
}

static void test_arguments(void)
{
    scene s = snapshot_small();
    snapshot one = snapshot_of(s.w);
    embipc_world_def def = embipc_default_world_def(), none;
    embipc_world *w = s.w;
    embipc_error e;
    size_t bytes = 1;
    ENSURE(embipc_world_save(NULL, NULL, 0, &bytes) == EMBIPC_ERR_ARGUMENT && bytes == 0);
    ENSURE(embipc_world_save(s.w, NULL, 0, NULL) == EMBIPC_ERR_ARGUMENT);
    memset(one.data, 7, one.bytes);
    ENSURE(embipc_world_save(s.w, one.data, one.bytes - 8, &bytes) == EMBIPC_ERR_ARGUMENT && bytes == one.bytes);
    ENSURE(one.data[one.bytes - 8] == 7);
    ENSURE(embipc_world_save(s.w, one.data, one.bytes, &bytes) == EMBIPC_OK);
    ENSURE(embipc_world_load(NULL, 8, &def, &w, &e) == EMBIPC_ERR_ARGUMENT && !w);
    ENSURE(embipc_world_load(one.data, one.bytes, NULL, &w, &e) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_load(one.data, one.bytes, &def, NULL, &e) == EMBIPC_ERR_ARGUMENT);
    memset(&none, 0, sizeof none);
    ENSURE(embipc_world_load(one.data, one.bytes, &none, &w, &e) == EMBIPC_ERR_DEF);
    ENSURE(embipc_world_hash(NULL) == 0 && embipc_world_hash(s.w) != 0);
    ENSURE(embipc_world_load(one.data, one.bytes, &def, &w, NULL) == EMBIPC_OK);
    embipc_world_destroy(w);
    free(one.data);
    scene_end(&s);
}

/* Is the world loaded from its own bytes, with its hash? */
static int loads(const scene *s)
{
    embipc_world_def def = embipc_default_world_def();
    unsigned long long hash = embipc_world_hash(s->w);
    embipc_world *w;
    embipc_error e;
    snapshot one = snapshot_of(s->w);
    int ok = ENSURE_TEXT(embipc_world_load(one.data, one.bytes, &def, &w, &e) == EMBIPC_OK, e.text);
    if (ok) ENSURE(embipc_world_hash(w) == hash && embipc_world_hash(s->w) == hash);
    free(one.data);
    embipc_world_destroy(w);
    return ok;
}

/* What has no effect on a body may be any number, and its world can be loaded: the material of what does not move, and
 * the nodes of a cage that is not built. Numbers of a material that has an effect must be finite. */
static void test_numbers_without_effect(void)
{
    embipc_world_def wd = embipc_default_world_def();
    static const embipc_kind kind[3] = {EMBIPC_FIXED, EMBIPC_KINEMATIC, EMBIPC_AFFINE};
    for (int k = 0; k < 3; k++) {
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("box", kind[k], 0, 0, 0);
        d.cage_nodes = 100000;
        if (kind[k] < EMBIPC_AFFINE) {
            d.material.model = EMBIPC_MODEL_COUNT;
            d.material.young = d.material.mooney[1] = NAN;
            d.material.density = 0;
        }
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        ENSURE(s.n == 1 && loads(&s));
        scene_end(&s);
    }
    for (int i = 0; i < 3; i++) {
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0);
        test_mesh m = test_mesh_box(0, 0, 0, 1, 1, 1);
        embipc_body b;
        test_mesh_shape(&m, &d);
        d.material.mooney[i] = i == 1 ? (embipc_real)INFINITY : (embipc_real)NAN;
        ENSURE(embipc_body_create(s.w, &d, &b) == EMBIPC_ERR_ARGUMENT);
        ENSURE(strstr(embipc_world_error(s.w)->text, "mooney") != NULL);
        test_mesh_free(&m);
        scene_end(&s);
    }
}

/* The stiffness of a soft drive is stored in shares of its vertices, whose sum is rounded: at 1e18 N/m, the most that
 * is allowed, up for 45 vertices. The share of the least one that is allowed is a number. A lesser one is refused. */
static void test_ends_of_stiffness(void)
{
    const embipc_real stiffness[3] = {(embipc_real)1e18, EMBI_TINY * (embipc_real)INT_MAX, EMBI_TINY};
    embipc_world_def wd = embipc_default_world_def();
    int vertices[45];
    for (int k = 0; k < 45; k++) vertices[k] = k;
    for (int k = 0; k < 3; k++) {
        scene s = scene_empty(&wd);
        embipc_drive_def d = embipc_default_drive_def();
        embipc_drive drive;
        test_mesh ball = test_mesh_sphere(2);
        embipc_body_def def = scene_def("ball", EMBIPC_AFFINE, 0, 0, 0);
        test_mesh_shape(&ball, &def);
        (void)ENSURE_OK(s.w, embipc_body_create(s.w, &def, &d.body));
        d.vertices = vertices;
        d.vertex_count = 45;
        d.stiffness[0] = d.stiffness[1] = d.stiffness[2] = stiffness[k];
        if (k < 2) {
            (void)ENSURE_OK(s.w, embipc_drive_create(s.w, &d, &drive));
            (void)ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
            ENSURE(loads(&s));
        } else ENSURE(embipc_drive_create(s.w, &d, &drive) == EMBIPC_ERR_ARGUMENT);
        test_mesh_free(&ball);
        scene_end(&s);
    }
}

/* What embipc_world_set_budget() and embipc_world_set_limits() take is read again: up to the largest numbers. */
static void test_largest_settings(void)
{
    undo_rig rig;
    embipc_world_def def = embipc_default_world_def();
    scene s;
    undo_rig_init(&rig);
    def.clock = undo_clock;
    def.clock_ctx = &rig;
    s = scene_empty(&def);
    for (int n = 0; n < 2; n++) {
        unsigned char bytes[4096];
        size_t count = 0;
        embipc_world *w = NULL;
        embipc_error e;
        ENSURE_OK(s.w, embipc_world_set_budget(s.w, n ? DBL_MAX : 1e100, 0));
        ENSURE_OK(s.w, embipc_world_set_limits(s.w, INT_MAX, NULL));
        ENSURE_OK(s.w, embipc_world_save(s.w, bytes, sizeof bytes, &count));
        ENSURE(embipc_world_load(bytes, count, &def, &w, &e) == EMBIPC_OK && embipc_world_hash(w) == embipc_world_hash(s.w));
        embipc_world_destroy(w);
    }
    scene_end(&s);
}

/* A body that is made after loading has the tolerance of the world's accuracy. */
static void test_accuracy(void)
{
    embipc_world_def wd = embipc_default_world_def(), def = embipc_default_world_def();
    embipc_body_parameters p;
    snapshot one;
    scene s, loaded;
    wd.accuracy = EMBIPC_ACCURACY_FINE;
    s = scene_empty(&wd);
    one = snapshot_of(s.w);
    memset(&loaded, 0, sizeof loaded);
    (void)ENSURE_OK(NULL, embipc_world_load(one.data, one.bytes, &def, &loaded.w, NULL));
    scene_box(&loaded, scene_def("box", EMBIPC_AFFINE, 0, 0, 1), 0.1, 0.1, 0.1, 1);
    (void)ENSURE_OK(loaded.w, embipc_body_get_parameters(loaded.w, loaded.body[0], &p));
    ENSURE_REL(p.tolerance, 0.01 * p.friction_velocity, 1e-12);
    free(one.data);
    scene_end(&loaded);
    scene_end(&s);
}

/* Each allocation fails once, and nothing is left of the world. */
static void test_out_of_memory(void)
{
    static const int scenes[4] = {SCENE_GRASP, SCENE_LINKED, UNDO_NONLINEAR, UNDO_HEAP};
    int failed = 0;
    for (int k = 0; k < 4; k += TEST_STRIDE) {
        undo_rig rig, other;
        scene s = undo_scene(scenes[k], &rig);
        embipc_world_def def = embipc_default_world_def();
        snapshot one;
        embipc_world *w;
        embipc_error e;
        for (int n = 0; n < 6; n++) scene_step(&s);
        one = snapshot_of(s.w);
        undo_rig_init(&other);
        def.allocator = undo_allocator(&other);
        for (int left = 0;; left += 1 + left / 16, failed++) {
            embipc_result r;
            other.left = left;
            r = embipc_world_load(one.data, one.bytes, &def, &w, &e);
            if (r == EMBIPC_OK) break;
            ENSURE(r == EMBIPC_ERR_MEMORY && !w && other.bytes == 0 && e.value[0] == (double)other.refused);
        }
        embipc_world_destroy(w);
        ENSURE(other.bytes == 0);
        free(one.data);
        scene_end(&s);
    }
    printf("  %d failing loads\n", failed);
    ENSURE(failed > 100 / TEST_STRIDE);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(snapshots_go_on);
    RUN(changes_between_steps);
    RUN(sleep);
    RUN(size);
    RUN(damage);
    RUN(accuracy);
    RUN(largest_settings);
    RUN(numbers_without_effect);
    RUN(ends_of_stiffness);
    RUN(forged_words);
    RUN(crossing_is_refused);
    RUN(arguments);
    RUN(out_of_memory);
    meshio_test_unused();
    cage_test_unused();
    undo_unused();
    return test_end("test_snapshot");
}
