/* Snapshots for tests: taken, forged, and tried. Include after scene_test.h. */
#ifndef SNAPSHOT_TEST_H
#define SNAPSHOT_TEST_H

typedef struct snapshot {
    unsigned char *data;   /* owned */
    size_t bytes;
} snapshot;

static int snapshot_said(int ok, const char *text, const char *file, int line)
{
    if (ok) return 1;
    test_fail(file, line);
    if (test_bad <= 8) printf("%s\n", text);
    return 0;
}
#define ENSURE_TEXT(c, text) snapshot_said(c, text, __FILE__, __LINE__)

static snapshot snapshot_of(const embipc_world *w)
{
    snapshot s;
    size_t again;
    ENSURE(embipc_world_save(w, NULL, 0, &s.bytes) == EMBIPC_OK);
    s.data = (unsigned char *)malloc(s.bytes);
    ENSURE(embipc_world_save(w, s.data, s.bytes, &again) == EMBIPC_OK && again == s.bytes);
    return s;
}

/* words of the head; the hash is the last of them */
enum { SNAPSHOT_HEAD = 4, SNAPSHOT_FORGERIES = 9 };

static unsigned long long snapshot_get(const snapshot *s, size_t at)
{
    unsigned long long word = 0;
    for (int k = 7; k >= 0; k--) word = word << 8 | s->data[8 * at + (size_t)k];
    return word;
}
static void snapshot_put(snapshot *s, size_t at, unsigned long long word)
{
    for (int k = 0; k < 8; k++) s->data[8 * at + (size_t)k] = (unsigned char)(word >> 8 * k);
}
/* Makes the hash that of the bytes. */
static void snapshot_sign(snapshot *s)
{
    embi_u64 hash = 0;
    for (size_t i = SNAPSHOT_HEAD; i < s->bytes / 8; i++) hash = embi_hash_add(hash, snapshot_get(s, i));
    snapshot_put(s, 2, s->bytes / 8);
    snapshot_put(s, SNAPSHOT_HEAD - 1, hash);
}
/* What may stand in the place of a word: other small numbers, and large ones; nan, inf, and other signs. */
static unsigned long long snapshot_forged(unsigned long long word, int kind)
{
    switch (kind) {
    case 0: return word + 1;
    case 1: return word - 1;
    case 2: return 0;
    case 3: return 0x7fffffffull;
    case 4: return 0xffffffff80000000ull;
    case 5: return 0x7ff0000000000000ull;
    case 6: return 0x7ff8000000000000ull;
    case 7: return word ^ 1ull << 63;
    default: return word ^ 1ull << 52;
    }
}

/* Loads what may be forged. If that is a world, it is sound, and so it stays for some steps. */
static int snapshot_try(const snapshot *s)
{
    embipc_world_def def = embipc_default_world_def();
    embipc_world *w;
    embipc_error e;
    embipc_result r = embipc_world_load(s->data, s->bytes, &def, &w, &e);
    if (r != EMBIPC_OK) {
        ENSURE(!w && e.code == r && strlen(e.text) > 5);
        return 0;
    }
    ENSURE(embipc_world_intersections(w, NULL, 0) == 0);
    (void)embipc_world_set_limits(w, 10, NULL);
    for (int n = 0; n < 2; n++) {
        unsigned long long bits = scene_bits(w);
        if (embipc_world_step(w, NULL) != EMBIPC_OK) ENSURE(bits == scene_bits(w));
    }
    ENSURE(embipc_world_validate(w, &e) == EMBIPC_OK);
    embipc_world_destroy(w);
    return 1;
}

/* Ground, a full box and an affine one that rest on it, a drive, and a joint. */
static scene snapshot_small(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("full", EMBIPC_FULL, 0, 0, 0.0502);
    embipc_joint_def j;
    scene s = scene_empty(&wd);
    scene_ground(&s, 1, 0.5);
    d.friction = 0.5;
    scene_box(&s, d, 0.1, 0.1, 0.1, 2);
    d = scene_def("stiff", EMBIPC_AFFINE, 0.2, 0, 0.0502);
    d.friction = 0.5;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    d = scene_def("driven", EMBIPC_KINEMATIC, -0.2, 0, 0.0502);
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    scene_drive(&s, 3, NULL, 0, NULL, NULL, 0);
    j = scene_joint_def(&s, EMBIPC_BALL, -1, 2, 0.2, 0, 0.12, NULL);
    (void)scene_joint(&s, j);
    for (int n = 0; n < 5; n++) scene_step(&s);
    return s;
}
#endif
