/* Compares the candidates of a world with those of the plain search, whenever a step is about to move. A world is watched
 * through its clock, which is asked wherever a step goes from one stage to another. Include after embipc.h and test.h. */
#ifndef PLAIN_TEST_H
#define PLAIN_TEST_H

static struct {
    embipc_stage stage;
    int begins;                      /* no directions yet in this step: bodies are where they are */
    embi_memory memory;              /* nothing of the world's own is asked for */
    embipc_real *reached;
    embi_swept_surface *surface;
    embi_primitives primitives;
    embi_candidate *list;
    long looks, tried, listed, active;   /* so far: moments; pairs whose boxes meet, those of them that are candidates, contacts */
    long missed, miscounted;
} plain_seen;

typedef struct plain_key { int v[4], edge_edge; } plain_key;

static void plain_order(int *a, int *b)
{
    int t = *a;
    if (*a <= *b) return;
    *a = *b;
    *b = t;
}

/* a candidate whichever way its vertices are listed */
static plain_key plain_key_of(const embi_candidate *c)
{
    plain_key k;
    memcpy(k.v, c->v, sizeof k.v);
    k.edge_edge = c->edge_edge;
    plain_order(k.v + 2, k.v + 3);
    if (c->edge_edge) {
        plain_order(k.v, k.v + 1);
        if (k.v[0] > k.v[2] || (k.v[0] == k.v[2] && k.v[1] > k.v[3])) {
            int a = k.v[0], b = k.v[1];
            k.v[0] = k.v[2];
            k.v[1] = k.v[3];
            k.v[2] = a;
            k.v[3] = b;
        }
    } else {
        plain_order(k.v + 1, k.v + 2);
        plain_order(k.v + 2, k.v + 3);
    }
    return k;
}
static int plain_compare_keys(const void *a, const void *b) { return memcmp(a, b, sizeof(plain_key)); }

/* how far a body may go: the share of its direction that is looked at; 0 where that is void */
static double plain_cap(const embipc_world *w, const embi_body *b)
{
    if (plain_seen.begins || !b->in_island || !b->search.has_direction || w->islands.parent[b->island] == 2) return 0;
    return w->islands.list[b->island]->bound.searched;
}

/* Its distance once the bodies have gone these shares of their directions, and how far its vertices go on that way (12). */
static double plain_distance(const embi_state *s, const embi_candidate *c, double one, double two, double *way)
{
    double x[12], w[4];
    embi_point p[4];
    int split = c->edge_edge ? 2 : 1, mask;
    for (int k = 0; k < 4; k++) {
        const embi_body *b = s->body + embi_body_of_vertex(s, c->v[k]);
        const double *from = (b->in_island ? s->x : s->xn) + 3 * c->v[k], *to = s->path.x + 3 * c->v[k];
        double share = k < split ? one : two;
        for (int i = 0; i < 3; i++) {
            way[3 * k + i] = share > 0 ? share * (to[i] - from[i]) : 0;
            x[3 * k + i] = from[i] + way[3 * k + i];
        }
        p[k] = x + 3 * k;
    }
    return embi_closest_distance(p, c->edge_edge, w, &mask);
}

/* Is it within reach somewhere on the way? Bodies of one island go together, others each by itself. */
static int plain_within(const embipc_world *w, const embi_candidate *c)
{
    const embi_state *s = &w->s;
    const embi_body *a = s->body + embi_body_of_vertex(s, c->v[0]), *b = s->body + embi_body_of_vertex(s, c->v[3]);
    double one = plain_cap(w, a), two = plain_cap(w, b), way[12], d = plain_distance(s, c, one, two, way) - c->xi;
    int together = a == b || !a->in_island || !b->in_island || a->island == b->island, parts = together ? 16 : 4;
    if (together && d - c->dhat > embi_relative_travel(way, c->edge_edge)) return 0;   /* far, wherever on the way */
    for (int i = 0; i <= parts; i++)
        for (int j = together ? i : 0; j <= (together ? i : parts); j++)
            if (plain_distance(s, c, one * i / parts, two * j / parts, way) - c->xi < c->dhat) return 1;
    return 0;
}

/* the rule of two bodies, as their pair has it */
static embi_pair plain_pair(const embipc_world *w, int i, int j)
{
    embi_pair p;
    memset(&p, 0, sizeof p);
    p.a = i;
    p.b = j;
    p.rule = embi_pair_parameters(w, w->s.body + i, w->s.body + j);
    for (int n = 0; n < w->s.pair_count; n++)
        if (w->s.pair[n].a == i && w->s.pair[n].b == j) p.rule = w->s.pair[n].rule;
    return p;
}

/* Candidates of two bodies by the plain search that the fast one lacks, though they are within reach. */
static void plain_compare_bodies(embipc_world *w, int i, int j)
{
    const embi_state *s = &w->s;
    embi_pair pair = plain_pair(w, i, j);
    plain_key *key;
    int count = 0, known = 0;
    if (!embi_plain_pairs(&plain_seen.memory, plain_seen.surface + i, plain_seen.surface + j, &pair.rule, embi_pair_reach(s, &pair),
                          &plain_seen.primitives, &plain_seen.list, &count))
        return;
    for (int n = 0; n < s->pair_count; n++)
        if (s->pair[n].a == i && s->pair[n].b == j) known += s->pair[n].count;
    key = (plain_key *)calloc((size_t)known + 1, sizeof *key);
    known = 0;
    for (int n = 0; n < s->pair_count; n++)
        for (int k = 0; s->pair[n].a == i && s->pair[n].b == j && k < s->pair[n].count; k++)
            key[known++] = plain_key_of(s->candidates.list + s->pair[n].first + k);
    qsort(key, (size_t)known, sizeof *key, plain_compare_keys);
    for (int k = 0; k < count; k++) {
        const embi_candidate *c = plain_seen.list + k;
        plain_key one = plain_key_of(c);
        double way[12], d = plain_distance(s, c, 0, 0, way) - c->xi;
        int is_active = d < c->dhat;
        plain_seen.active += is_active;
        if (bsearch(&one, key, (size_t)known, sizeof *key, plain_compare_keys)) {
            plain_seen.listed++;
            continue;
        }
        if (!is_active && !plain_within(w, c)) continue;
        if (plain_seen.missed++ < 3)
            printf("  missed: %s %d %d %d %d of %s and %s, %g m apart now, dhat %g m\n", c->edge_edge ? "edges" : "vertex and triangle",
                   c->v[0], c->v[1], c->v[2], c->v[3], s->body[i].name, s->body[j].name, d, c->dhat);
    }
    plain_seen.tried += count;
    free(key);
}

/* Has any island new candidates, or was it joined? Then its contacts are not those of now. */
static int plain_is_changed(const embipc_world *w)
{
    int any = 0;
    for (int k = 0; k < w->s.body_count && !plain_seen.begins; k++) any |= w->islands.parent[k] > 0;
    return any;
}

/* All bodies; and the contacts that islands have are as many as those that the plain search finds. */
static void plain_compare(embipc_world *w)
{
    embipc_real *reached = w->search.reached;
    long active = plain_seen.active, contacts = 0;
    int ok = EMBI_GROW(&plain_seen.memory, plain_seen.reached, 6 * w->s.vert_count) &&
             EMBI_GROW(&plain_seen.memory, plain_seen.surface, w->s.body_count);
    if (!ok) return;
    w->search.reached = plain_seen.reached;
    for (int i = 0; i < w->s.body_count; i++) plain_seen.surface[i] = embi_plain_sweep(w, i, !plain_seen.begins);
    w->search.reached = reached;
    for (int i = 0; i < w->s.body_count; i++)
        for (int j = i; j < w->s.body_count; j++) {
            embipc_real reach;
            if (embi_bodies_meet(w, i, j, &reach)) plain_compare_bodies(w, i, j);
        }
    for (int k = 0; k < w->islands.order_count; k++) contacts += w->islands.list[w->islands.order[k]]->contacts.pairs;
    if (!plain_is_changed(w) && contacts != plain_seen.active - active && plain_seen.miscounted++ < 3)
        printf("  step %d: %ld contacts, %ld by the plain search\n", w->step, contacts, plain_seen.active - active);
    plain_seen.looks++;
}

static double plain_clock(void *ctx)
{
    embipc_world *w = (embipc_world *)ctx;
    embipc_stage was = plain_seen.stage, now = w->s.timer.stage;
    plain_seen.stage = now;
    if (was == EMBIPC_STAGE_REST && now == EMBIPC_STAGE_ELASTIC) plain_seen.begins = 1;
    if (was != EMBIPC_STAGE_SEARCH || now != EMBIPC_STAGE_MOVE || w->memory.failed) return 0;
    plain_compare(w);
    plain_seen.begins = 0;
    return 0;
}

/* The world is compared from now on; its results stay as they are. */
static void plain_watch(embipc_world *w)
{
    if (!plain_seen.memory.hooks.alloc) embi_memory_init(&plain_seen.memory, NULL);
    w->s.timer.clock = plain_clock;
    w->s.timer.ctx = w;
    plain_seen.stage = EMBIPC_STAGE_REST;
}

static void plain_forget(void)
{
    EMBI_RELEASE(&plain_seen.memory, plain_seen.reached);
    EMBI_RELEASE(&plain_seen.memory, plain_seen.surface);
    EMBI_RELEASE(&plain_seen.memory, plain_seen.primitives.list);
    EMBI_RELEASE(&plain_seen.memory, plain_seen.list);
}
#endif
