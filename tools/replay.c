#include "replay.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REPLAY_NAME 0x6472636572636970ull
enum { REPLAY_FORMAT = 1, REPLAY_MOTOR = 5, REPLAY_BODY = 6 };   /* words of a motor and of a body */

/* ---- recording ------------------------------------------------------------------------------ */

static unsigned long long replay_bits(double x)
{
    unsigned long long word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static void recorder_word(recorder *r, unsigned long long word)
{
    TOOL_GROW(char, r->words.data, r->words.capacity, r->words.length + 8);
    for (int k = 0; k < 8; k++) r->words.data[r->words.length++] = (char)(unsigned char)(word >> 8 * k);
}

/* Writes the words that were collected. */
static int recorder_flush(recorder *r, tool_error *e)
{
    size_t n = (size_t)r->words.length;
    r->words.length = 0;
    if (fwrite(r->words.data, 1, n, r->file) == n && fflush(r->file) == 0) return 1;
    return tool_fail(e, "%s: cannot be written: %s", r->path, strerror(errno));
}

int recorder_open(recorder *r, const char *path, const embipc_world *world, tool_error *e)
{
    size_t bytes;
    void *snapshot;
    int ok;
    memset(r, 0, sizeof *r);
    r->path = path;
    r->file = fopen(path, "wb");
    if (!r->file) return tool_fail(e, "%s: cannot be written: %s", path, strerror(errno));
    (void)embipc_world_save(world, NULL, 0, &bytes);
    snapshot = tool_alloc(bytes, 1);
    (void)embipc_world_save(world, snapshot, bytes, &bytes);
    recorder_word(r, REPLAY_NAME);
    recorder_word(r, REPLAY_FORMAT);
    recorder_word(r, bytes);
    ok = recorder_flush(r, e) && (fwrite(snapshot, 1, bytes, r->file) == bytes
                                   || tool_fail(e, "%s: cannot be written: %s", path, strerror(errno)));
    free(snapshot);
    return ok;
}

int recorder_inputs(recorder *r, const scene *s, const embipc_world *world, tool_error *e)
{
    double target[3];
    int motors = 0;
    if (!r->file) return 1;
    for (int i = 0; i < s->joint_count; i++) motors += s->joint[i].key_count > 0;
    recorder_word(r, (unsigned long long)motors);
    for (int i = 0; i < s->joint_count; i++) {
        if (!scene_motor(s, i, embipc_world_time(world), target)) continue;
        recorder_word(r, (unsigned long long)s->joint[i].handle.index1);
        recorder_word(r, s->joint[i].handle.generation);
        for (int k = 0; k < 3; k++) recorder_word(r, replay_bits(target[k]));
    }
    return recorder_flush(r, e);
}

int recorder_result(recorder *r, const embipc_world *world, tool_error *e)
{
    if (!r->file) return 1;
    recorder_word(r, embipc_world_hash(world));
    recorder_word(r, (unsigned long long)embipc_world_body_count(world));
    for (int i = 0; i < embipc_world_body_count(world); i++) {
        embipc_body_state b;
        (void)embipc_body_get_state(world, embipc_world_body(world, i), &b);
        for (int k = 0; k < REPLAY_BODY; k++) recorder_word(r, replay_bits(k < 3 ? b.centre[k] : b.velocity[k - 3]));
    }
    return recorder_flush(r, e);
}

int recorder_close(recorder *r, tool_error *e)
{
    int ok = !r->file || fclose(r->file) == 0 || tool_fail(e, "%s: cannot be written: %s", r->path, strerror(errno));
    r->file = NULL;
    tool_text_free(&r->words);
    return ok;
}

/* ---- replay --------------------------------------------------------------------------------- */

typedef struct replay {
    const char *path;
    unsigned char *data;             /* owned: the file */
    size_t at, words;
    embipc_world *world;
    FILE *out;
    tool_error e;
} replay;

/* Are there n more words? */
static int replay_has(const replay *r, size_t n) { return n <= r->words - r->at; }

static unsigned long long replay_word(replay *r)
{
    unsigned long long word = 0;
    for (int k = 7; k >= 0; k--) word = word << 8 | r->data[8 * r->at + (size_t)k];
    r->at++;
    return word;
}
static double replay_number(replay *r)
{
    unsigned long long word = replay_word(r);
    double x;
    memcpy(&x, &word, sizeof x);
    return x;
}

/* Reads the head, and makes the world. */
static int replay_begin(replay *r, int threads, void **pool)
{
    embipc_world_def def = embipc_default_world_def();
    embipc_error error;
    unsigned long long bytes;
    if (!replay_has(r, 3) || replay_word(r) != REPLAY_NAME || replay_word(r) != REPLAY_FORMAT)
        return tool_fail(&r->e, "%s: no recording of this format, as embipc run --record writes it", r->path);
    bytes = replay_word(r);
    if (bytes % 8 || !replay_has(r, (size_t)(bytes / 8)))
        return tool_fail(&r->e, "%s: ends within its snapshot of %llu bytes", r->path, bytes);
#ifdef EMBIPC_PTHREADS
    if (threads > 1 && (*pool = embipc_pool_create(threads)) != NULL) {
        def.parallel_for = embipc_pool_for;
        def.parallel_ctx = *pool;
    }
#else
    (void)threads;
    (void)pool;
#endif
    if (embipc_world_load(r->data + 8 * r->at, (size_t)bytes, &def, &r->world, &error) != EMBIPC_OK)
        return tool_fail(&r->e, "%s: %s", r->path, error.text);
    r->at += (size_t)(bytes / 8);
    return 1;
}

/* Sets the motors of a step. */
static int replay_inputs(replay *r, int step)
{
    unsigned long long motors = replay_word(r);
    if (motors > r->words || !replay_has(r, REPLAY_MOTOR * (size_t)motors))
        return tool_fail(&r->e, "%s: ends within the motors of step %d", r->path, step);
    for (; motors > 0; motors--) {
        embipc_joint joint;
        double target[3];
        joint.index1 = (int)(replay_word(r) & 0x7fffffffu);
        joint.generation = (unsigned)(replay_word(r) & 0xffffffffu);
        for (int k = 0; k < 3; k++) target[k] = replay_number(r);
        if (embipc_joint_set_motor(r->world, joint, target[0], target[1], target[2]) != EMBIPC_OK)
            return tool_fail(&r->e, "%s: motor of step %d: %s", r->path, step, embipc_world_error(r->world)->text);
    }
    return 1;
}

/* Tells where the world first differs from what was recorded: the body that is farthest off. */
static void replay_tell(replay *r, int step, size_t bodies)
{
    embipc_body_view view;
    double most = -1, centre[3] = { 0, 0, 0 }, recorded[3] = { 0, 0, 0 };
    const char *name = NULL;
    for (size_t i = 0; i < bodies; i++) {
        embipc_body body = embipc_world_body(r->world, (int)i);
        embipc_body_state now;
        double was[REPLAY_BODY], d[3], away;
        for (int k = 0; k < REPLAY_BODY; k++) was[k] = replay_number(r);
        if (embipc_body_get_state(r->world, body, &now) != EMBIPC_OK || embipc_body_get_view(r->world, body, &view) != EMBIPC_OK)
            continue;
        tool_sub(d, now.centre, was);
        away = tool_length(d);
        if ((memcmp(now.centre, was, sizeof now.centre) == 0 && memcmp(now.velocity, was + 3, sizeof now.velocity) == 0)
            || away <= most) continue;
        most = away;
        name = view.name;
        memcpy(centre, now.centre, sizeof centre);
        memcpy(recorded, was, sizeof recorded);
    }
    fprintf(r->out, "step %d, at %.6g s: the first difference from the recording\n", step, embipc_world_time(r->world));
    if (name)
        fprintf(r->out, "body \"%s\": centre %.17g %.17g %.17g m, recorded %.17g %.17g %.17g m, %.3g m apart\n", name, centre[0],
                centre[1], centre[2], recorded[0], recorded[1], recorded[2], most);
    else fprintf(r->out, "centres and velocities of all bodies are as recorded; other parts of the state differ\n");
}

/* All steps. Returns the exit code. */
static int replay_steps(replay *r)
{
    int step = 0;
    while (replay_has(r, 1)) {
        unsigned long long hash, bodies;
        if (!replay_inputs(r, ++step)) return 2;
        if (embipc_world_step(r->world, NULL) != EMBIPC_OK) {
            fprintf(r->out, "step %d failed: %s\n", step, embipc_world_error(r->world)->text);
            return 1;
        }
        if (!replay_has(r, 2)) {
            fprintf(r->out, "%d steps are as recorded; the recording ends within step %d, which now succeeds\n", step - 1, step);
            return 0;
        }
        hash = replay_word(r);
        bodies = replay_word(r);
        if (bodies != (unsigned long long)embipc_world_body_count(r->world) || !replay_has(r, REPLAY_BODY * (size_t)bodies))
            return !tool_fail(&r->e, "%s: ends within step %d", r->path, step) ? 2 : 0;
        if (hash != embipc_world_hash(r->world)) {
            replay_tell(r, step, (size_t)bodies);
            return 1;
        }
        r->at += REPLAY_BODY * (size_t)bodies;
    }
    fprintf(r->out, "all %d steps are as recorded, to the last bit\n", step);
    return 0;
}

int replay_file(const char *path, int threads, FILE *out, FILE *errors)
{
    replay r;
    void *pool = NULL;
    size_t size = 0;
    int code = 2;
    memset(&r, 0, sizeof r);
    r.path = path;
    r.out = out;
    r.data = (unsigned char *)tool_read_file(path, (size_t)1 << 31, &size, &r.e);
    r.words = size / 8;
    if (r.data && replay_begin(&r, threads, &pool)) code = replay_steps(&r);
    if (code == 2) fprintf(errors, "%s\n", r.e.text);
    embipc_world_destroy(r.world);
#ifdef EMBIPC_PTHREADS
    embipc_pool_destroy((embipc_pool *)pool);
#endif
    free(r.data);
    return code;
}
