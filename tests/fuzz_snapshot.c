/* Forged snapshots: words of those of some worlds are changed, copied over others, removed or doubled, and the hash is right
 * again. Each is refused, or it is a sound world, which stays one for some steps. What it allocates is limited.
 * Usage: fuzz_snapshot [seconds | -SEED]      -SEED runs one. Not part of `make test`: `make fuzz`. */
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "cage_test.h"
#include "undo_test.h"
#include "undo_scenes.h"
#include "snapshot_test.h"
#include <time.h>

enum { FUZZ_WORLDS = 10 };
static const int fuzz_scenes[FUZZ_WORLDS - 1] = {SCENE_DROP, SCENE_STACK, SCENE_GRASP, SCENE_BEAM, SCENE_TWIST, SCENE_LINKED,
                                                 UNDO_HEAP, UNDO_NONLINEAR, UNDO_TILES};
static snapshot pool[FUZZ_WORLDS];

static int pick(int n) { return (int)(test_random() * n) % n; }

static void fuzz_fill(void)
{
    for (int k = 0; k < FUZZ_WORLDS; k++) {
        undo_rig rig;
        scene s = k ? undo_scene(fuzz_scenes[k - 1], &rig) : snapshot_small();
        for (int n = 0; n < 12; n++) scene_step(&s);
        pool[k] = snapshot_of(s.w);
        scene_end(&s);
    }
}

/* Most forgeries are small: they get past the first checks. */
static void fuzz_forge(snapshot *s)
{
    for (int n = 1 + pick(3); n > 0; n--) {
        size_t words = s->bytes / 8 - SNAPSHOT_HEAD, room, at, from, length;
        if (words < 2) return;
        room = pick(4) ? words : words < 400 ? words : 400;   /* near the begin there are counts */
        at = SNAPSHOT_HEAD + (size_t)(test_random() * (double)room);
        from = SNAPSHOT_HEAD + (size_t)(test_random() * (double)words);
        length = 1 + (size_t)pick(40);
        if (at + length >= s->bytes / 8 || from + length >= s->bytes / 8) continue;
        switch (pick(12)) {
        case 0: memmove(s->data + 8 * at, s->data + 8 * from, 8 * length); break;
        case 1: s->bytes = 8 * at; break;
        case 2:
            memmove(s->data + 8 * at, s->data + 8 * (at + length), s->bytes - 8 * (at + length));
            s->bytes -= 8 * length;
            break;
        case 3: snapshot_put(s, at, (unsigned long long)pick(300)); break;
        case 4: snapshot_put(s, at, snapshot_get(s, from)); break;
        default: snapshot_put(s, at, snapshot_forged(snapshot_get(s, at), pick(SNAPSHOT_FORGERIES))); break;
        }
    }
}

static int fuzz_one(unsigned long long seed)
{
    snapshot s;
    int k, bad = test_bad, loaded;
    test_seed = seed * 7919;
    k = pick(3) ? 0 : pick(FUZZ_WORLDS);
    s.bytes = pool[k].bytes;
    s.data = (unsigned char *)malloc(s.bytes);
    memcpy(s.data, pool[k].data, s.bytes);
    fuzz_forge(&s);
    snapshot_sign(&s);
    loaded = snapshot_try(&s);
    if (test_bad != bad) printf("snapshot of seed %llu is broken: fuzz_snapshot -%llu\n", seed, seed);
    free(s.data);
    return loaded;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 60;
    unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, first = seed, loaded = 0;
    time_t start;
    test_name = "one";
    fuzz_fill();
    start = time(NULL);
    if (seconds < 0) (void)fuzz_one((unsigned long long)-seconds);
    for (; difftime(time(NULL), start) < seconds; seed++) loaded += (unsigned long long)fuzz_one(seed);
    printf("fuzz_snapshot: %llu snapshots up to seed %llu, %llu of them worlds, %d broken checks\n", seed - first, seed - 1, loaded,
           test_bad);
    for (int k = 0; k < FUZZ_WORLDS; k++) free(pool[k].data);
    test_unused();
    meshio_test_unused();
    cage_test_unused();
    undo_unused();
    return test_bad != 0;
}
