/* What a call that fails must leave as it was: memory that runs out, a number that is not finite, a hash of all that can be
 * asked of a world, views beside J q. Include after scene_test.h. */
#ifndef UNDO_TEST_H
#define UNDO_TEST_H

/* ---- an allocator that fails, and a clock that breaks a step ---- */

typedef struct undo_rig {
    long calls;
    size_t bytes;                    /* that are not freed */
    int left;                        /* so many allocations succeed, then one fails; < 0: none fails */
    int failed;
    size_t refused;                  /* bytes of the last one that failed */
    embipc_world *w;                 /* whose step the clock breaks */
    long tick, at;                   /* when it was asked for the at-th time; 0: never */
    int ticks;                       /* nonzero: it returns how often it was asked, else 0 */
} undo_rig;

static void *undo_alloc(size_t size, void *ctx)
{
    undo_rig *r = (undo_rig *)ctx;
    void *p;
    r->calls++;
    if (r->left >= 0 && r->left-- == 0) {
        r->failed++;
        r->refused = size;
        return NULL;
    }
    p = malloc(size);
    if (p) r->bytes += size;
    if (p) memset(p, 0xA5, size);    /* nothing may count on zeros */
    return p;
}
static void undo_free(void *p, size_t size, void *ctx)
{
    if (p) ((undo_rig *)ctx)->bytes -= size;
    if (p) memset(p, 0x5A, size);
    free(p);
}
static void undo_rig_init(undo_rig *r)
{
    memset(r, 0, sizeof *r);
    r->left = -1;
}
static embipc_allocator undo_allocator(undo_rig *r)
{
    embipc_allocator a;
    a.alloc = undo_alloc;
    a.free = undo_free;
    a.ctx = r;
    return a;
}
/* From one moment on nothing is finite any more: a node, and the time step, with which all positions are checked. Whoever
 * breaks a step so gives the world its time step back. */
static double undo_clock(void *ctx)
{
    undo_rig *r = (undo_rig *)ctx;
    r->tick++;
    if (r->w && r->tick == r->at && r->w->s.node_count) {
        embi_state *s = &r->w->s;
        s->q[(size_t)(test_random() * 3 * s->node_count)] = (double)NAN;
        s->h = (double)NAN;
    }
    return r->ticks ? (double)r->tick : 0;
}

/* ---- all that can be asked for ---- */

enum { UNDO_ROWS = 1 << 16 };

/* The world's own hash, but for its budget, which is a setting. */
static unsigned long long undo_hash(embipc_world *w)
{
    const embi_budget budget = w->budget;
    unsigned long long hash;
    w->budget.seconds = 0;
    w->budget.strict = 0;
    hash = embipc_world_hash(w);
    w->budget = budget;
    return hash;
}

/* What a caller is told, of worlds whose settings may differ. */
static unsigned long long undo_told(const scene *s)
{
    const embipc_world *w = s->w;
    unsigned long long h = scene_bits(w);
    static embipc_pair_force pair[UNDO_ROWS];
    static embipc_contact contact[UNDO_ROWS];
    const embipc_iteration *list;
    int n = embipc_world_pair_forces(w, pair, UNDO_ROWS);
    h = scene_mix(h, pair, (size_t)(n < UNDO_ROWS ? n : UNDO_ROWS) * sizeof *pair);
    n = embipc_world_contacts(w, contact, UNDO_ROWS);
    h = scene_mix(h, contact, (size_t)(n < UNDO_ROWS ? n : UNDO_ROWS) * sizeof *contact);
    n = embipc_world_iterations(w, &list);
    if (n) h = scene_mix(h, list, (size_t)n * sizeof *list);
    for (int i = 0; i < embipc_world_body_count(w); i++) {
        embipc_body b = embipc_world_body(w, i);
        embipc_body_state state;
        embipc_body_parameters parameters;
        int island = embipc_body_island(w, b);
        (void)embipc_body_get_state(w, b, &state);
        (void)embipc_body_get_parameters(w, b, &parameters);
        h = scene_mix(h, &b, sizeof b);
        h = scene_mix(h, &island, sizeof island);
        h = scene_mix(h, &state, sizeof state);
        h = scene_mix(h, &parameters, sizeof parameters);
    }
    for (int i = 0; i < s->drives; i++) {
        embipc_drive_state drive;
        (void)embipc_drive_get_state(w, s->drive[i], &drive);
        h = scene_mix(h, &drive, sizeof drive);
    }
    return h;
}

/* The same, and all that a snapshot has. */
static unsigned long long undo_bits(const scene *s)
{
    const unsigned long long hash = undo_hash(s->w);
    return scene_mix(undo_told(s), &hash, sizeof hash);
}

/* How far views are from J q, as a share of where they are. */
static double undo_off(const embipc_world *w)
{
    double most = 0;
    for (int i = 0; i < embipc_world_body_count(w); i++) {
        embipc_body b = embipc_world_body(w, i);
        embipc_body_view v;
        int *node;
        double *weight;
        (void)embipc_body_get_view(w, b, &v);
        if (!v.node_count) continue;
        node = (int *)malloc(4 * (size_t)v.vertex_count * sizeof *node);
        weight = (double *)malloc(4 * (size_t)v.vertex_count * sizeof *weight);
        (void)embipc_body_weights(w, b, node, weight);
        for (int k = 0; k < 3 * v.vertex_count; k++) {
            double x = 0, size = 1e-300;
            for (int j = 4 * (k / 3); j < 4 * (k / 3) + 4; j++) {
                x += weight[j] * v.q[3 * node[j] + k % 3];
                size += fabs(weight[j] * v.q[3 * node[j] + k % 3]);
            }
            most = fmax(most, fabs(x - v.x[k]) / size);
        }
        free(node);
        free(weight);
    }
    return most;
}

static int undo_no_nan(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != x[i]) return 0;
    return 1;
}
#define UNDO_NO_NAN(x) ENSURE(undo_no_nan(&(x), 1))

/* No number that can be asked for is a NaN, s->stats included. */
static void undo_numbers(const scene *s)
{
    const embipc_world *w = s->w;
    const embipc_step_stats *t = &s->stats;
    static embipc_pair_force pair[UNDO_ROWS];
    static embipc_contact contact[UNDO_ROWS];
    const embipc_iteration *list;
    int n = embipc_world_pair_forces(w, pair, UNDO_ROWS);
    UNDO_NO_NAN(t->min_distance);
    UNDO_NO_NAN(t->tightest);
    UNDO_NO_NAN(t->kinetic);
    UNDO_NO_NAN(t->elastic);
    UNDO_NO_NAN(t->barrier);
    UNDO_NO_NAN(t->potential);
    UNDO_NO_NAN(t->max_speed);
    UNDO_NO_NAN(t->drive_short);
    UNDO_NO_NAN(t->drive_work);
    UNDO_NO_NAN(t->objective_before);
    UNDO_NO_NAN(t->objective_after);
    UNDO_NO_NAN(t->objective_rounding);
    for (int i = 0; i < n && i < UNDO_ROWS; i++) ENSURE(undo_no_nan(pair[i].force, 3) && undo_no_nan(pair[i].friction, 3));
    n = embipc_world_contacts(w, contact, UNDO_ROWS);
    for (int i = 0; i < n && i < UNDO_ROWS; i++) ENSURE(undo_no_nan(contact[i].point_a, 11));
    n = embipc_world_iterations(w, &list);
    for (int i = 0; i < n; i++) ENSURE(undo_no_nan(&list[i].alpha_ccd, 5));
    for (int i = 0; i < embipc_world_body_count(w); i++) {
        embipc_body b = embipc_world_body(w, i);
        embipc_body_state state;
        (void)embipc_body_get_state(w, b, &state);
        ENSURE(undo_no_nan(&state.mass, sizeof state / sizeof(double)));
    }
    for (int i = 0; i < s->drives; i++) {
        embipc_drive_state drive;
        (void)embipc_drive_get_state(w, s->drive[i], &drive);
        UNDO_NO_NAN(drive.shortfall);
        UNDO_NO_NAN(drive.gap);
        ENSURE(undo_no_nan(drive.force, 6));
    }
}

static void undo_unused(void)
{
    (void)undo_alloc; (void)undo_free; (void)undo_rig_init; (void)undo_allocator; (void)undo_clock; (void)undo_bits; (void)undo_off;
    (void)undo_numbers; (void)undo_unused;
}
#endif
