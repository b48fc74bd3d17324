/* Contact: the sum over pairs as a function of the nodes. Its gradient, slope and stiffness through J against
 * differences, friction too; continuity where closest features change; the same sums however pairs were
 * merged. */
#include "inside.h"
#include "geometry_test.h"
#include "deriv.h"

/* ---- two surfaces and their candidates, hung on nodes (one per vertex, or four of a tet), or fixed ---- */

enum { FULL, CAGE, FIXED };

typedef struct scene {
    embi_memory m;
    test_mesh mesh[2];       /* the second may be empty: self contact */
    embi_bvh bvh[2];
    int nv, nn, split;       /* vertices and nodes in all; first vertex of the second surface */
    double *x, *rest, *q, *x0, *pull;
    unsigned char *known;
    int *node;
    double *weight;
    unsigned char *count;
    embi_rows J;
    embi_candidate *list;
    int candidates;
    embi_contacts contacts;
    embi_key *keys;
    int merge;
    double kappa;
    embi_friction *friction;
    int friction_count;
    double force;            /* of the last evaluation: sum of all |forces|, mollifiers included */
} scene;

/* x = J q; vertices without rows stay */
static void scene_positions(const scene *s, const double *q, double *x)
{
    for (int v = 0; v < s->nv; v++) {
        if (!s->count[v]) continue;
        for (int k = 0; k < 3; k++) {
            double sum = 0;
            for (int r = 0; r < s->count[v]; r++) sum += s->weight[4 * v + r] * q[3 * s->node[4 * v + r] + k];
            x[3 * v + k] = sum;
        }
    }
}

/* All primitive pairs of the two surfaces, or of the one with itself, that come within `travel` + dhat of
 * each other. */
static void scene_candidates(scene *s, double dhat, double xi, double travel)
{
    embi_surface a, b;
    embi_pair_rule rule;
    embi_approach t;
    embi_key *pairs = NULL;
    int pair_count = 0, self = s->mesh[1].tri_count == 0;
    double range[6];
    memset(&rule, 0, sizeof rule);
    memset(&a, 0, sizeof a);
    rule.dhat = dhat;
    rule.xi = xi;
    for (int i = 0; i < 6; i++) range[i] = i < 3 ? -travel : travel;
    a.x = s->x;
    a.rest = s->rest;
    a.tri = s->mesh[0].tri;
    a.nt = s->mesh[0].tri_count;
    a.base = 0;
    a.bvh = &s->bvh[0];
    b = a;
    if (!self) {
        b.x = s->x + 3 * s->split;
        b.rest = s->rest + 3 * s->split;
        b.tri = s->mesh[1].tri;
        b.nt = s->mesh[1].tri_count;
        b.base = s->split;
        b.bvh = &s->bvh[1];
        embi_bvh_refit(&s->bvh[1], b.x, b.tri, b.nt);
    }
    embi_bvh_refit(&s->bvh[0], a.x, a.tri, a.nt);
    s->candidates = 0;
    t = embi_approach_of(range, dhat + xi);
    ENSURE(embi_bvh_pairs(&s->m, &a, &b, range, dhat + xi, &pairs, &pair_count));
    ENSURE(embi_candidates(&s->m, &a, &b, pairs, pair_count, &rule, &t, &s->list,
                           &s->candidates));
    EMBI_RELEASE(&s->m, pairs);
}

static void scene_hang(scene *s, int mesh, int how)
{
    int first = mesh ? s->split : 0, nv = s->mesh[mesh].vertex_count;
    for (int i = 0; i < nv; i++) {
        int v = first + i;
        if (how == FULL) {
            s->count[v] = 1;
            s->node[4 * v] = s->nn + i;
            s->weight[4 * v] = 1;
            embi_copy(s->q + 3 * (s->nn + i), s->x + 3 * v);
        } else if (how == CAGE) {   /* a corner at (-3, -3, -3), edges of 12: weights all positive nearby */
            double rest = 1;
            s->count[v] = 4;
            for (int k = 0; k < 4; k++) {
                s->node[4 * v + k] = s->nn + k;
                if (k == 3) break;
                s->weight[4 * v + k + 1] = (s->x[3 * v + k] + 3) / 12;
                rest -= s->weight[4 * v + k + 1];
            }
            s->weight[4 * v] = rest;
        }
    }
    if (how == CAGE) {
        for (int k = 0; k < 4; k++) {
            embi_set(s->q + 3 * (s->nn + k), -3, -3, -3);
            if (k) s->q[3 * (s->nn + k) + k - 1] += 12;
        }
    }
    s->nn += how == FULL ? nv : how == CAGE ? 4 : 0;
}

/* takes over the meshes */
static void scene_make(scene *s, test_mesh a, int how_a, const test_mesh *b, int how_b)
{
    memset(s, 0, sizeof *s);
    embi_memory_init(&s->m, NULL);
    s->mesh[0] = a;
    if (b) s->mesh[1] = *b;
    s->split = a.vertex_count;
    s->nv = s->split + s->mesh[1].vertex_count;
    s->x = (double *)calloc((size_t)(3 * s->nv), sizeof(double));
    s->x0 = (double *)calloc((size_t)(3 * s->nv), sizeof(double));
    s->pull = (double *)calloc((size_t)(3 * s->nv), sizeof(double));
    s->known = (unsigned char *)calloc((size_t)s->nv, 1);
    s->rest = (double *)calloc((size_t)(3 * s->nv), sizeof(double));
    s->q = (double *)calloc((size_t)(3 * s->nv + 24), sizeof(double));
    s->node = (int *)calloc((size_t)(4 * s->nv), sizeof(int));
    s->weight = (double *)calloc((size_t)(4 * s->nv), sizeof(double));
    s->count = (unsigned char *)calloc((size_t)s->nv, 1);
    s->J.node = s->node;
    s->J.weight = s->weight;
    s->J.count = s->count;
    s->kappa = 100;
    s->merge = 1;
    for (int k = 0; k < 2; k++) {
        test_mesh *mesh = &s->mesh[k];
        embi_key *keys;
        unsigned char *used;
        if (!mesh->tri_count) continue;
        memcpy(s->x + (k ? 3 * s->split : 0), mesh->x, (size_t)(3 * mesh->vertex_count) * sizeof(double));
        keys = (embi_key *)calloc((size_t)(6 * mesh->tri_count), sizeof *keys);
        used = (unsigned char *)calloc((size_t)mesh->vertex_count, 1);
        ENSURE(embi_bvh_build(&s->m, &s->bvh[k], mesh->x, mesh->tri, mesh->tri_count, mesh->vertex_count,
                              keys, used));
        free(keys);
        free(used);
    }
    memcpy(s->rest, s->x, (size_t)(3 * s->nv) * sizeof(double));
    memcpy(s->x0, s->x, (size_t)(3 * s->nv) * sizeof(double));
    scene_hang(s, 0, how_a);
    if (b) scene_hang(s, 1, how_b);
}
static void scene_free(scene *s)
{
    for (int k = 0; k < 2; k++) {
        embi_bvh_free(&s->m, &s->bvh[k]);
        test_mesh_free(&s->mesh[k]);
    }
    EMBI_RELEASE(&s->m, s->list);
    EMBI_RELEASE(&s->m, s->keys);
    embi_contacts_free(&s->m, &s->contacts);
    ENSURE(s->m.bytes == 0);
    free(s->x);
    free(s->x0);
    free(s->pull);
    free(s->known);
    free(s->rest);
    free(s->q);
    free(s->node);
    free(s->weight);
    free(s->count);
    free(s->friction);
}

/* appends a contact, room for the gradient of its mollifier included, and those of the parts of its triangle */
static int contact_add(embi_memory *m, embi_contacts *s, const embi_candidate *c, const embi_closest *closest,
                       const embipc_real *x, embipc_real kappa)
{
    static const embi_seams none = {NULL, 0, 0};
    static int extra;
    if (s->count == 0) extra = 0;
    if (!EMBI_GROW(m, s->list, s->count + embi_candidate_places(c, &none)) || !EMBI_GROW(m, s->extra, 12 * (extra + 1)))
        return 0;
    embi_contact_make(s, s->count, extra++, c, closest, x, kappa, 0);
    s->count = embi_contact_make_parts(s, s->count + 1, c, x, kappa, 0, &none);
    return 1;
}

/* contacts at the vertex positions in s->x, merged where asked; the energy */
static double scene_evaluate(scene *s)
{
    double energy = 0, size = 0, force = 0;
    embi_contacts_clear(&s->contacts);
    ENSURE(EMBI_GROW(&s->m, s->contacts.extra, 12 * (s->candidates + 1)));   /* contacts point into it */
    for (int k = 0; k < s->candidates; k++) {
        embi_closest c;
        embi_point p[4];
        memset(&c, 0, sizeof c);
        embi_points_at(p, s->x, s->list[k].v);
        c.d = embi_closest_distance(p, s->list[k].edge_edge, c.w, &c.mask);
        if (c.d - s->list[k].xi >= s->list[k].dhat) continue;
        s->contacts.pairs++;
        ENSURE(contact_add(&s->m, &s->contacts, s->list + k, &c, s->x, s->kappa));
    }
    for (int k = 0; k < s->contacts.count; k++) {
        const embi_contact *c = s->contacts.list + k;
        energy += c->base.energy;
        size += fabs(c->base.energy);
        force += fabs(c->base.first);
        for (int i = 0; c->base.extra && i < 4; i++) force += embi_norm(c->base.extra + 3 * i);
    }
    s->force = force;
    if (!s->merge) return energy;
    ENSURE(EMBI_GROW(&s->m, s->keys, 2 * s->contacts.count + 1));
    embi_contacts_merge(&s->contacts, 0, 0, s->split, s->mesh[1].tri_count ? s->split : INT_MAX, s->keys);
    ENSURE_CLOSE(s->contacts.energy, energy, 1e-12 * size);   /* merging adds up, no more */
    return s->contacts.energy;
}
/* of all vertices, which all move */
static embi_pull scene_pull(scene *s)
{
    embi_pull to;
    to.f = s->pull;
    to.known = s->known;
    return to;
}
/* g += scale J^T pull over all vertices; pull is then 0 again */
static void scene_scatter(scene *s, double scale, double *g)
{
    int *all = (int *)calloc((size_t)s->nv, sizeof(int));
    embi_pull to = scene_pull(s);
    for (int v = 0; v < s->nv; v++) all[v] = v;
    embi_scatter(&s->J, all, s->nv, scale, &to, g);
    for (int i = 0; i < 3 * s->nv; i++) ENSURE(s->pull[i] == 0);
    free(all);
}
static double scene_energy(const double *q, void *arg)
{
    scene *s = (scene *)arg;
    double energy;
    scene_positions(s, q, s->x);
    energy = scene_evaluate(s);
    for (int k = 0; k < s->friction_count; k++) {
        embi_friction_evaluate(&s->friction[k].base, s->x0, s->x);
        energy += s->friction[k].base.energy;
    }
    return energy;
}
static void scene_gradient(const double *q, double *g, void *arg)
{
    scene *s = (scene *)arg;
    embi_pull to = scene_pull(s);
    (void)scene_energy(q, arg);
    memset(g, 0, (size_t)(3 * s->nn) * sizeof *g);
    for (int k = 0; k < s->contacts.count; k++) embi_element_gradient(&s->contacts.list[k].base, &to);
    for (int k = 0; k < s->friction_count; k++) embi_element_gradient(&s->friction[k].base, &to);
    scene_scatter(s, 1, g);
}

/* gradient by node, and slope along a random motion, at the nodes' present places */
static void check_gradient(scene *s, double size)
{
    double *g = (double *)calloc((size_t)(3 * s->nn), sizeof(double)),
           *p = (double *)calloc((size_t)(3 * s->nn), sizeof(double));
    double *y = (double *)calloc((size_t)(3 * s->nv), sizeof(double)), slope, dot = 0, scale = 0;
    scene_gradient(s->q, g, s);
    ENSURE(s->contacts.pairs > 0 && s->contacts.min_gap > 0);
    ENSURE(deriv_gradient_error(scene_energy, s, 3 * s->nn, s->q, g, size, 0) < 1e-6);
    scene_gradient(s->q, g, s);
    for (int i = 0; i < 3 * s->nn; i++) {
        p[i] = test_uniform(-1, 1);
        dot += g[i] * p[i];
        scale += fabs(g[i] * p[i]);
    }
    scene_positions(s, p, y);
    slope = 0;
    for (int k = 0; k < s->contacts.count; k++) embi_element_slope(&s->contacts.list[k].base, y, &slope);
    for (int k = 0; k < s->friction_count; k++) embi_element_slope(&s->friction[k].base, y, &slope);
    ENSURE_CLOSE(slope, dot, 1e-12 * scale);
    free(g);
    free(p);
    free(y);
}

/* a friction contact in the place of each contact, as lagging would make it, and a step's motion since */
static void scene_lag(scene *s, double mu, double e, double motion)
{
    free(s->friction);
    (void)scene_energy(s->q, s);
    s->friction = (embi_friction *)calloc((size_t)s->contacts.count + 1, sizeof *s->friction);
    s->friction_count = 0;
    for (int k = 0; k < s->contacts.count; k++) {
        embi_friction *f = s->friction + s->friction_count++;
        f->base = s->contacts.list[k].base;
        f->base.kind = EMBI_ELEMENT_FRICTION;
        f->base.extra = NULL;
        embi_copy(f->n, s->contacts.list[k].base.dir);
        f->weight = mu * -s->contacts.list[k].base.first;
        f->e = e;
    }
    for (int i = 0; i < 3 * s->nv; i++)
        s->x0[i] = s->x[i] + (s->count[i / 3] ? test_uniform(-motion, motion) : 0);
}

/* A box turned by `angle` about z, `gap` above a slightly larger one: parallel edges at 0, mollified ones
 * nearby. */
static void boxes_make(scene *s, double angle, double gap, int how_a, int how_b)
{
    double w[3] = {0, 0, 0}, R[9], t[3] = {0.05, 0.03, 1};
    test_mesh a = geometry_box_surface(1, 1, 1, 1, 1, 1), b = geometry_box_surface(2, 2, 1, 1.1, 1.1, 1);
    w[2] = angle;
    t[2] += gap;
    embi_m3_rotation(R, w);
    geometry_move(&a, 1, R, t);
    scene_make(s, a, how_a, &b, how_b);
}

/* ---- tests ---- */

static void test_gradient_through_rows(void)
{
    for (int how_a = FULL; how_a <= FIXED; how_a++)
        for (int how_b = FULL; how_b <= FIXED; how_b++)
            for (int r = 0; r < 3; r++) {
                scene s;
                double t[3] = {0.4, 0.45, 1.0}, R[9];
                test_mesh ball, box;
                if (how_a == FIXED && how_b == FIXED) continue;
                ball = geometry_icosphere(1);
                box = geometry_box_surface(2, 2, 1, 1, 1, 0.5);
                geometry_rotation(R);
                geometry_move(&ball, 0.4, R, t);
                scene_make(&s, ball, how_a, &box, how_b);
                scene_candidates(&s, 0.25, r == 2 ? 0.02 : 0, 0);
                check_gradient(&s, 0.1);
                scene_free(&s);
            }
}

/* edges that are parallel, nearly so, and on both sides of the mollifier's threshold sin^2 = 1e-3 */
static void test_gradient_mollified(void)
{
    static const double angle[] = {0, 1e-9, 1e-3, 0.01, 0.02, 0.0316, 0.0317, 0.05, 0.7};
    for (size_t k = 0; k < sizeof angle / sizeof angle[0]; k++)
        for (int how = FULL; how <= CAGE; how++) {
            scene s;
            int mollified = 0;
            boxes_make(&s, angle[k], 0.07, how, 1 - how);
            scene_candidates(&s, 0.2, 0, 0);
            if (angle[k] > 0) check_gradient(&s, 0.01);
            (void)scene_energy(s.q, &s);
            for (int i = 0; i < s.contacts.count; i++) mollified += s.contacts.list[i].base.extra != NULL;
            ENSURE(mollified > 0);   /* parallel edges along z there are always */
            for (int i = 0; i < s.contacts.count; i++)
                ENSURE(s.contacts.list[i].base.first <= 0 && s.contacts.list[i].second >= 0);
            scene_free(&s);
        }
}

/* A system over all nodes but the first, which is driven and has no row, for the contacts of a scene at its q; y moves
 * those nodes at random, and motion is what that makes of the vertices. */
typedef struct probe {
    embi_system A;
    embi_key *pairs;
    int pair_count, *local;
    double *y, *Ay, *motion;
} probe;

static void probe_make(probe *p, scene *s)
{
    memset(p, 0, sizeof *p);
    p->local = (int *)calloc((size_t)s->nn, sizeof(int));
    p->y = (double *)calloc((size_t)(3 * s->nn), sizeof(double));
    p->Ay = (double *)calloc((size_t)(3 * s->nn), sizeof(double));
    p->motion = (double *)calloc((size_t)(3 * s->nv), sizeof(double));
    for (int i = 0; i < s->nn; i++) p->local[i] = i - 1;
    (void)scene_energy(s->q, s);
    ENSURE(s->contacts.count > 5);
    for (int k = 0; k < s->contacts.count; k++)
        ENSURE(embi_candidate_couple(&s->m, &s->J, p->local, s->contacts.list[k].base.v, &p->pairs, &p->pair_count));
    /* CG keeps the matrix readable */
    ENSURE(embi_system_analyze(&s->m, &p->A, s->nn - 1, p->pairs, p->pair_count, EMBI_SYSTEM_CG));
    for (int i = 3; i < 3 * s->nn; i++) p->y[i] = test_uniform(-1, 1);
    scene_positions(s, p->y, p->motion);
}

static void probe_free(probe *p, scene *s)
{
    embi_system_free(&s->m, &p->A);
    EMBI_RELEASE(&s->m, p->pairs);
    free(p->local);
    free(p->y);
    free(p->Ay);
    free(p->motion);
}

/* S = kappa m b'' n n^T, spread by c_i c_j: against the products written out, and where the closest points
 * and the normal do not change with the motion it is the second derivative. */
static void test_stiffness(void)
{
    for (int how = FULL; how <= CAGE; how++) {
        scene s;
        probe p;
        double *expected, worst = 0, size = 0, quadratic = 0;
        boxes_make(&s, 0.02, 0.1, how, CAGE);
        scene_candidates(&s, 0.2, 0, 0);
        probe_make(&p, &s);
        expected = (double *)calloc((size_t)(3 * s.nn), sizeof(double));
        for (int k = 0; k < s.contacts.count; k++) {
            const embi_contact *c = s.contacts.list + k;
            const embi_element *e = &c->base;
            double r[3] = {0, 0, 0}, along;
            ENSURE(embi_element_stamp(&p.A, &s.J, p.local, e, 0.5));
            for (int i = 0; i < 4; i++) embi_axpy(r, e->w[i], p.motion + 3 * e->v[i]);
            along = 0.5 * c->second * embi_dot(e->dir, r);
            quadratic += along * embi_dot(e->dir, r);
            for (int i = 0; i < 4; i++)
                for (int n = 0; n < s.count[e->v[i]]; n++)
                    embi_axpy(expected + 3 * s.node[4 * e->v[i] + n],
                              along * e->w[i] * s.weight[4 * e->v[i] + n], e->dir);
        }
        embi_bsr_multiply(&p.A.A, p.y + 3, p.Ay + 3);
        for (int i = 3; i < 3 * s.nn; i++) {
            worst = fmax(worst, fabs(p.Ay[i] - expected[i]));
            size = fmax(size, fabs(expected[i]));
        }
        ENSURE(size > 0 && worst < 1e-12 * size);
        ENSURE(quadratic > 0);
        {   /* what a driven node asks of the others: rhs -= S r */
            double *rhs = (double *)calloc((size_t)(3 * s.nn), sizeof(double));
            embi_pull to = scene_pull(&s);
            for (int k = 0; k < s.contacts.count; k++) embi_element_product(&s.contacts.list[k].base, p.motion, &to);
            scene_scatter(&s, -0.5, rhs);
            for (int i = 0; i < 3 * s.nn; i++) ENSURE_CLOSE(rhs[i], -expected[i], 1e-12 * size);
            free(rhs);
        }
        free(expected);
        probe_free(&p, &s);
        scene_free(&s);
    }
    {   /* second derivative along the normal: a tip over the middle of a face, moved as a whole */
        scene s;
        double best = HUGE_VAL, g[24], S[9];
        test_mesh tip = test_mesh_tet_grid(1, 1, 1), face = geometry_sheet(1, 1, 8, 8);
        tip.tet_count = 1;
        geometry_skin(&tip);
        test_mesh_compact(&tip);
        for (int i = 0; i < 4; i++) {   /* one corner down, off the diagonal of the sheet */
            double p[4][3] = {{5, 2, 0.06}, {6, 2, 1}, {5, 3, 1}, {4, 1, 1}};
            embi_copy(tip.x + 3 * i, p[i]);
        }
        scene_make(&s, tip, CAGE, &face, FIXED);
        scene_candidates(&s, 0.2, 0, 0);
        (void)scene_energy(s.q, &s);
        ENSURE(s.contacts.count == 1 && s.contacts.list[0].mask == 15);
        embi_contact_hessian(&s.contacts.list[0].base, S);
        for (double h = 1e-3; h > 1e-7; h /= 10) {
            double sum = 0;
            for (int side = -1; side <= 1; side += 2) {
                for (int i = 0; i < 4; i++) s.q[3 * i + 2] += side * h;
                scene_gradient(s.q, g, &s);
                for (int i = 0; i < 4; i++) s.q[3 * i + 2] -= side * h;
                for (int i = 0; i < 4; i++) sum += side * g[3 * i + 2];
            }
            best = fmin(best, fabs(sum / (2 * h) - S[8]) / S[8]);
        }
        ENSURE(best < 1e-7);
        scene_free(&s);
    }
}

/* ---- curvature ---- */

static embi_candidate curved_pair;
static void curved_gradient(const double *x, double *g, void *arg)
{
    embi_contacts one;
    embi_memory m;
    embi_closest c;
    embi_point p[4];
    (void)arg;
    memset(&one, 0, sizeof one);
    memset(&c, 0, sizeof c);
    embi_memory_init(&m, NULL);
    embi_points_of(p, x);
    c.d = embi_closest_distance(p, curved_pair.edge_edge, c.w, &c.mask);
    ENSURE(contact_add(&m, &one, &curved_pair, &c, x, 100));
    for (int i = 0; i < 12; i++) g[i] = one.list[0].base.first * one.list[0].base.w[i / 3] * one.list[0].base.dir[i % 3];
    embi_contacts_free(&m, &one);
}

/* H of a contact is that of differences, its negative eigenvalues cut; negative ones there are, and positive ones that the
 * rank-one matrix does not know of. */
static void test_curvature(void)
{
    int negative = 0, more = 0, count, seen[16] = {0};
    memset(&curved_pair, 0, sizeof curved_pair);
    curved_pair.dhat = 0.7;
    for (int i = 0; i < 4; i++) curved_pair.v[i] = i;
    for (int round = 0; round < 400; round++) {
        embi_contacts one;
        embi_memory m;
        embi_closest c;
        embi_point p[4];
        double x[12], z[EMBI_BENT][12], H[144] = {0}, D[144], V[144], P[144] = {0}, g[12], up[12], down[12], size = 0, best = HUGE_VAL;
        curved_pair.edge_edge = (short)(round % 2);
        memset(&one, 0, sizeof one);
        memset(&c, 0, sizeof c);
        for (int i = 0; i < 12; i++) x[i] = test_uniform(-1, 1);
        embi_points_of(p, x);
        c.d = embi_closest_distance(p, curved_pair.edge_edge, c.w, &c.mask);
        for (int i = 0; i < 4; i++) c.stamp |= c.w[i] != 0 && fabs(c.w[i]) < 0.02;   /* another feature is near */
        if (c.stamp || c.d < 0.05 || c.d > 0.6) continue;
        seen[c.mask]++;
        embi_memory_init(&m, NULL);
        ENSURE(contact_add(&m, &one, &curved_pair, &c, x, 100));
        count = embi_contact_curvature(one.list, x, z);
        for (int e = 0; e < count; e++)
            for (int i = 0; i < 144; i++) H[i] += z[e][i / 12] * z[e][i % 12];
        curved_gradient(x, g, NULL);
        for (double h = 1e-3; h > 1e-7; h /= 10) {
            double worst = 0;
            for (int j = 0; j < 12; j++) {
                double keep = x[j];
                x[j] = keep + h;
                curved_gradient(x, up, NULL);
                x[j] = keep - h;
                curved_gradient(x, down, NULL);
                x[j] = keep;
                for (int i = 0; i < 12; i++) D[12 * i + j] = (up[i] - down[i]) / (2 * h);
            }
            for (int i = 0; i < 144; i++) size = fmax(size, fabs(D[i]));
            for (int i = 0; i < 144; i++) V[i] = (D[i] + D[12 * (i % 12) + i / 12]) / 2;
            memcpy(D, V, sizeof D);
            embi_eigen_symmetric(12, D, V);
            memset(P, 0, sizeof P);
            for (int e = 0; e < 12; e++)
                for (int i = 0; i < 144; i++) P[i] += fmax(0, D[13 * e]) * V[12 * (i / 12) + e] * V[12 * (i % 12) + e];
            for (int i = 0; i < 144; i++) worst = fmax(worst, fabs(P[i] - H[i]));
            best = fmin(best, worst / size);
        }
        ENSURE(best < 1e-7);
        deriv_eigenvalues(12, D, up);
        negative += up[0] < -1e-3 * size;
        more += up[10] > 1e-3 * size;
        embi_contacts_free(&m, &one);
    }
    ENSURE(negative > 100 && more > 100 && seen[15] > 50);
}

/* ... and it comes to the nodes as J^T H J */
static void test_curvature_through_rows(void)
{
    for (int how = FULL; how <= CAGE; how++) {
        scene s;
        probe p;
        double sum = 0, want = 0;
        boxes_make(&s, 0.3, 0.1, how, CAGE);
        scene_candidates(&s, 0.2, 0, 0);
        probe_make(&p, &s);
        for (int k = 0; k < s.contacts.count; k++) {
            const embi_contact *c = s.contacts.list + k;
            double z[EMBI_BENT][12];
            int count = embi_contact_curvature(c, s.x, z);
            ENSURE(embi_contact_stamp_curvature(&p.A, &s.J, p.local, c, 0.5, count, z));
            for (int e = 0; e < count; e++) {
                double along = 0;
                for (int i = 0; i < 4; i++) along += embi_dot(z[e] + 3 * i, p.motion + 3 * c->base.v[i]);
                want += 0.5 * along * along;
            }
        }
        embi_bsr_multiply(&p.A.A, p.y + 3, p.Ay + 3);
        for (int i = 3; i < 3 * s.nn; i++) sum += p.y[i] * p.Ay[i];
        ENSURE(want > 0);
        ENSURE_REL(sum, want, 1e-12);
        probe_free(&p, &s);
        scene_free(&s);
    }
}

/* What a motion takes from a gap by curvature is -p d2d/dx2 p / 2, to second order. */
static void test_loss_by_curvature(void)
{
    int losses = 0, gains = 0, seen[16] = {0};
    for (int round = 0; round < 400; round++) {
        double x[12], motion[12], p[12], H[144], want = 0, off = HUGE_VAL, n[3];
        embi_candidate pair;
        embi_contact c;
        embi_state s;
        embi_closest at;
        embi_point to[4];
        int close = 0;
        memset(&pair, 0, sizeof pair);
        memset(&c, 0, sizeof c);
        memset(&s, 0, sizeof s);
        memset(&at, 0, sizeof at);
        pair.edge_edge = (short)(round % 2);
        s.x = x;
        s.path.motion = motion;
        for (int i = 0; i < 12; i++) x[i] = test_uniform(-1, 1), p[i] = test_uniform(-1, 1);
        embi_points_of(to, x);
        at.d = embi_closest_distance(to, pair.edge_edge, at.w, &at.mask);
        for (int i = 0; i < 4; i++) close |= at.w[i] != 0 && fabs(at.w[i]) < 0.02;   /* another feature is near */
        if (close || at.d < 0.05) continue;
        seen[at.mask & 15]++;
        for (int i = 0; i < 4; i++) c.base.v[i] = i, c.base.w[i] = at.w[i];
        c.mask = at.mask;
        c.edge_edge = pair.edge_edge;
        ENSURE_REL(embi_normal(to, at.w, at.mask, c.edge_edge, n), at.d, 1e-9);
        embi_copy(c.base.dir, n);
        embi_distance_hessian(to, at.w, at.mask, c.edge_edge, H);
        for (int i = 0; i < 144; i++) want -= p[i / 12] * H[i] * p[i % 12] / 2;
        for (double h = 1e-2; h > 1e-7; h /= 10) {
            for (int i = 0; i < 12; i++) motion[i] = h * p[i];
            off = fmin(off, fabs(embi_contact_loss(&s, &c) / (h * h) - want));
        }
        ENSURE(off < 1e-3 * fmax(1, fabs(want)));
        losses += want > 0.1;
        gains += want < -0.1;
    }
    ENSURE(losses > 50 && gains > 50 && seen[15] > 50);
}

/* A plate that turns through a wall is on its other side: the loss is more than the gap. */
static void test_loss_of_crossing(void)
{
    double x[12] = {0.2, 0.2, 0.01, -1, -1, 0, 2, -1, 0, -1, 2, 0}, motion[12] = {0, 0, -0.03}, w[4];
    embi_contact c;
    embi_state s;
    embi_point to[4];
    memset(&c, 0, sizeof c);
    memset(&s, 0, sizeof s);
    s.x = x;
    s.path.motion = motion;
    embi_points_of(to, x);
    ENSURE_CLOSE(embi_closest_distance(to, 0, w, &c.mask), 0.01, 1e-15);
    for (int i = 0; i < 4; i++) c.base.v[i] = i, c.base.w[i] = w[i];
    (void)embi_normal(to, w, c.mask, 0, c.base.dir);
    ENSURE_CLOSE(embi_contact_loss(&s, &c), 0, 1e-15);      /* straight through: the plane tells it exactly */
    motion[2] = 0;
    for (int i = 1; i < 4; i++) motion[3 * i + 2] = 0.05 * x[3 * i];   /* it turns about the y axis, past the point */
    motion[0] = 0.4;                                          /* and the point slides uphill: 0.05 * 0.4 */
    ENSURE_CLOSE(embi_contact_loss(&s, &c), 0.02, 1e-4);
}

/* friction through J: gradient, slope, stiffness (exact: tangents and lambda are held), for |u| below and
 * above e */
static void test_friction_derivatives(void)
{
    static const double e[] = {1e-5, 1e-3, 0.02, 1};
    for (size_t k = 0; k < sizeof e / sizeof e[0]; k++)
        for (int how = FULL; how <= CAGE; how++) {
            scene s;
            embi_system A;
            embi_key *pairs = NULL;
            int count = 0, *local, n;
            double *D, *g;
            boxes_make(&s, 0.3, 0.1, how, how == FULL ? FIXED : CAGE);
            scene_candidates(&s, 0.2, 0, 0);
            scene_lag(&s, 0.7, e[k], k == 0 ? 0 : 0.01);
            n = 3 * s.nn;
            check_gradient(&s, fmin(0.01, e[k]));
            s.candidates = 0;   /* friction alone from here */
            g = (double *)calloc((size_t)n, sizeof(double));
            D = (double *)calloc((size_t)(n * n), sizeof(double));
            if (k == 0) {   /* nothing moved: no force, and the sticking spring 2/e in the stiffness */
                scene_gradient(s.q, g, &s);
                for (int i = 0; i < n; i++) ENSURE(g[i] == 0);
            }
            memset(&A, 0, sizeof A);
            local = (int *)calloc((size_t)s.nn, sizeof(int));
            for (int i = 0; i < s.nn; i++) local[i] = i;
            for (int i = 0; i < s.friction_count; i++)
                ENSURE(embi_candidate_couple(&s.m, &s.J, local, s.friction[i].base.v, &pairs, &count));
            ENSURE(embi_system_analyze(&s.m, &A, s.nn, pairs, count, EMBI_SYSTEM_CG));
            scene_positions(&s, s.q, s.x);
            for (int i = 0; i < s.friction_count; i++) {
                embi_friction_evaluate(&s.friction[i].base, s.x0, s.x);
                embi_friction_stiffness(s.friction + i, 0);
                ENSURE(embi_element_stamp(&A, &s.J, local, &s.friction[i].base, 1));
            }
            for (int i = 0; i < s.nn; i++)
                for (int b = A.A.row[i]; b < A.A.row[i + 1]; b++)
                    for (int c = 0; c < 9; c++)
                        D[n * (3 * i + c / 3) + 3 * A.A.col[b] + c % 3] =
                            D[n * (3 * A.A.col[b] + c % 3) + 3 * i + c / 3] = A.A.val[9 * b + c];
            ENSURE(deriv_hessian_error(scene_gradient, &s, n, s.q, D, fmin(0.01, e[k]), 0) <
                   (k == 0 ? 1e-3 : 1e-6));
            embi_system_free(&s.m, &A);
            EMBI_RELEASE(&s.m, pairs);
            free(g); free(D); free(local);
            scene_free(&s);
        }
}

/* The sums do not depend on whether equal pairs were merged: energy, force, gradient, slope */
static void check_merge(scene *s, int must_merge)
{
    double *g[2], energy[2], force[2], size = 0;
    int count[2], pairs[2];
    for (s->merge = 0; s->merge < 2; s->merge++) {
        g[s->merge] = (double *)calloc((size_t)(3 * s->nn), sizeof(double));
        energy[s->merge] = scene_energy(s->q, s);
        scene_gradient(s->q, g[s->merge], s);
        count[s->merge] = s->contacts.count;
        force[s->merge] = 0;
        pairs[s->merge] = 0;
        for (int k = 0; k < s->contacts.count; k++) {
            const embi_contact *c = s->contacts.list + k;
            force[s->merge] += -c->base.first;
            size += fabs(c->base.first);
            pairs[s->merge] += c->multiplicity;
            ENSURE(c->multiplicity && (c->multiplicity > 0 ? c->base.first <= 0 : c->base.first >= 0));
            ENSURE(!s->merge || c->multiplicity > 0 || c->second == 0);
        }
        if (s->merge) ENSURE_CLOSE(s->contacts.force, size, 1e-12 * size);
        else size = 0;
    }
    ENSURE(pairs[0] == pairs[1]);   /* none lost, none twice */
    s->merge = 1;
    ENSURE(count[1] < count[0] || !must_merge);
    ENSURE_REL(energy[1], energy[0], 1e-12);
    ENSURE_CLOSE(force[1], force[0], 1e-12 * size);
    size = 0;
    for (int i = 0; i < 3 * s->nn; i++) size = fmax(size, fabs(g[0][i]));
    for (int i = 0; i < 3 * s->nn; i++) ENSURE_CLOSE(g[1][i], g[0][i], 1e-12 * size);
    free(g[0]);
    free(g[1]);
}
static void test_merging(void)
{
    for (int r = 0; r < 6; r++) {
        scene s;
        double t[3] = {0.4, 0.45, 0.95}, R[9];
        test_mesh ball = geometry_icosphere(1), box = geometry_box_surface(3, 3, 1, 1, 1, 0.5);
        geometry_rotation(R);
        geometry_move(&ball, 0.4, r ? R : NULL, t);
        scene_make(&s, ball, r % 2, &box, r / 2 % 2);
        scene_candidates(&s, 0.3, 0, 0);
        check_merge(&s, 1);
        scene_free(&s);
        boxes_make(&s, r * 0.01, 0.05, r % 2, FULL);
        scene_candidates(&s, 0.2, 0, 0);
        check_merge(&s, 1);
        scene_free(&s);
    }
}

/* One surface against itself: a sheet of an even number of columns, folded up on both sides of its middle
 * line. With angles equal on both sides a vertex and its mirror image have equal distances to each other's
 * edges: two contacts with the same three vertices, the same gap, and different forces. */
static void test_self_contact(void)
{
    for (int r = 0; r < 10; r++) {
        scene s;
        double fold = 0.1 + 0.01 * r, skew = r % 2 ? 0 : 0.03;
        test_mesh sheet = geometry_sheet(4, 3, 4, 3);
        for (int t = 0; t < sheet.tri_count; t++)   /* diagonals mirrored too */
            if (sheet.x[3 * sheet.tri[3 * t]] < 1.5 && r % 4 >= 2) {
                int *T = sheet.tri + 6 * (t / 2), a = 4 * (t / 2 / 3) + t / 2 % 3;
                T[0] = a; T[1] = a + 4; T[2] = a + 1;
                T[3] = a + 4; T[4] = a + 5; T[5] = a + 1;
            }
        for (int i = 0; i < sheet.vertex_count; i++) sheet.x[3 * i] -= 2;
        scene_make(&s, sheet, FULL, NULL, FULL);
        for (int i = 0; i < s.nv; i++) {
            double x = s.x[3 * i], a = x > 0 ? fold : fold + skew;
            s.x[3 * i] = sin(a) * x;
            s.x[3 * i + 2] = cos(a) * fabs(x);
        }
        memcpy(s.q, s.x, (size_t)(3 * s.nv) * sizeof(double));
        scene_candidates(&s, 0.45, 0, 2);
        check_merge(&s, 0);
        check_gradient(&s, 0.01);
        scene_free(&s);
    }
}

/* ---- continuity ---- */

/* Slides the first surface by the path a + t (b - a), in steps far smaller than dhat, and holds every
 * increment of the energy against the largest force there. A closest feature counted once would double or
 * halve the energy. */
#define SLIDE_SEARCH 50
static void slide_to(scene *s, const double a[3], const double path[3], double t)
{
    for (int i = 0; i < s->split; i++)
        for (int c = 0; c < 3; c++) s->x[3 * i + c] = s->rest[3 * i + c] + a[c] + t * path[c];
}
static void check_slide(scene *s, const double a[3], const double b[3], int steps)
{
    double before = 0, force_before = 0, length, path[3], most = 0;
    int changes = 0, count_before = -1, active = 0;
    embi_sub(path, b, a);
    length = embi_norm(path);
    for (int k = 0; k <= steps; k++) {
        double energy, bound;
        if (k % SLIDE_SEARCH == 0) {   /* all that comes near before the next search */
            slide_to(s, a, path, (k + SLIDE_SEARCH / 2.0) / steps);
            scene_candidates(s, 0.1, 0, length * SLIDE_SEARCH / steps);
        }
        slide_to(s, a, path, (double)k / steps);
        energy = scene_evaluate(s);
        ENSURE(embi_finite(energy));
        bound = 1.2 * fmax(s->force, force_before) * length / steps + 1e-14 * energy;
        if (k) ENSURE_CLOSE(energy, before, bound);
        most = fmax(most, energy);
        changes += k && s->contacts.count != count_before;
        active += energy > 0;
        count_before = s->contacts.count;
        before = energy;
        force_before = s->force;
    }
    ENSURE(most > 0 && active > steps / 4 && changes > 2);
}

/* tip: a tetrahedron with one corner down, at the origin; cube: a box with its lower face at z = 0 */
static test_mesh tip_mesh(void)
{
    static const double p[4][3] = {{0, 0, 0}, {0.1, 0.02, 0.3}, {-0.06, 0.08, 0.3}, {-0.05, -0.09, 0.3}};
    static const int f[12] = {0, 2, 1, 0, 3, 2, 0, 1, 3, 1, 2, 3};
    test_mesh s = test_mesh_make(4, 4, 0);
    memcpy(s.x, p, sizeof p);
    memcpy(s.tri, f, sizeof f);
    return s;
}
static void slide_over(const test_mesh *ground_in, int cube, const double a[3], const double b[3])
{
    scene s;
    test_mesh ground = test_mesh_make(ground_in->vertex_count, ground_in->tri_count, 0);
    test_mesh rider = cube ? geometry_box_surface(1, 1, 1, 0.23, 0.19, 0.2) : tip_mesh();
    memcpy(ground.x, ground_in->x, (size_t)(3 * ground.vertex_count) * sizeof(double));
    memcpy(ground.tri, ground_in->tri, (size_t)(3 * ground.tri_count) * sizeof(int));
    scene_make(&s, rider, FULL, &ground, FIXED);
    check_slide(&s, a, b, 3000);
    scene_free(&s);
}
static void test_continuous(void)
{
    /* paths: across borders at an angle, along a row of edges, straight over vertices */
    static const double from[4][3] = {{-0.9, -0.37, 0}, {-0.9, 0, 0}, {-0.9, -0.9, 0}, {-0.9, 0.25, 0}};
    static const double to[4][3] = {{0.9, 0.41, 0}, {0.9, 0, 0}, {0.9, 0.9, 0}, {0.9, 0.25, 0}};
    for (int shape = 0; shape < 4; shape++) {   /* flat, ridge, pyramid, valley */
        test_mesh ground = geometry_sheet(4, 4, 2, 2);
        for (int i = 0; i < ground.vertex_count; i++) {
            double *x = ground.x + 3 * i;
            x[0] -= 1;
            x[1] -= 1;
            x[2] = shape == 1   ? -0.1 * fabs(x[0])
                   : shape == 2 ? -0.1 * fmax(fabs(x[0]), fabs(x[1]))
                   : shape == 3 ? 0.05 * fabs(x[0])
                                : 0;
        }
        for (int k = 0; k < 4; k++)
            for (int cube = 0; cube < 2; cube++) {
                double a[3], b[3];
                embi_copy(a, from[k]);
                embi_copy(b, to[k]);
                a[2] = b[2] = shape == 3 ? 0.09 : 0.04;
                slide_over(&ground, cube, a, b);
            }
        test_mesh_free(&ground);
    }
}

/* the documented trap, in numbers: above a ridge of slopes -1, +1 (height 0.04, dhat 0.1) the sum passes the border of
 * the edge's wedge at x = 0.04 without a jump; it is that of the nearest feature, once */
static void test_ridge_values(void)
{
    scene s;
    test_mesh ridge = geometry_sheet(2, 1, 2, 200), tip = tip_mesh();
    double value[2];
    for (int i = 0; i < ridge.vertex_count; i++) {
        ridge.x[3 * i] -= 1;
        ridge.x[3 * i + 1] -= 103.3;
        ridge.x[3 * i + 2] = -fabs(ridge.x[3 * i]);
    }
    for (int k = 3; k < 12; k++) tip.x[k] *= 100;   /* only its corner is near */
    scene_make(&s, tip, FULL, &ridge, FIXED);
    s.kappa = 1;
    s.merge = 0;
    scene_candidates(&s, 0.1, 0, 10);
    for (int side = 0; side < 2; side++) {
        double sum = 0;
        embi_set(s.x, 0.04 + (side ? 1e-9 : -1e-9), 0, 0.04);
        (void)scene_evaluate(&s);
        for (int k = 0; k < s.contacts.count; k++)
            sum += s.contacts.list[k].edge_edge ? 0 : s.contacts.list[k].base.energy;
        value[side] = sum;
    }
    ENSURE_REL(value[0], value[1], 1e-6);
    /* the face's distance is (0.04 + 0.04)/sqrt 2, the edge's the same at the border: b(0.0566) */
    ENSURE_REL(value[0], embipc_barrier(0.08 / sqrt(2.0), 0.1, NULL, NULL), 1e-6);
    scene_free(&s);
}

/* the sum over triangles alone counts the edge twice, and that over features is theirs, beside the border */
static void test_ridge_beside(void)
{
    static const double want[2] = {1.0688e-3, 1.0805e-3};
    scene s;
    test_mesh ridge = geometry_sheet(2, 1, 2, 200), tip = tip_mesh();
    for (int i = 0; i < ridge.vertex_count; i++) {
        ridge.x[3 * i] -= 1;
        ridge.x[3 * i + 1] -= 103.3;
        ridge.x[3 * i + 2] = -fabs(ridge.x[3 * i]);
    }
    for (int k = 3; k < 12; k++) tip.x[k] *= 100;
    scene_make(&s, tip, FULL, &ridge, FIXED);
    s.kappa = 1;
    s.merge = 0;
    scene_candidates(&s, 0.1, 0, 10);
    for (int side = 0; side < 2; side++) {
        double sum = 0, triangles = 0;
        embi_set(s.x, side ? 0.0399 : 0.0401, 0, 0.04);
        (void)scene_evaluate(&s);
        for (int k = 0; k < s.contacts.count; k++) {
            const embi_contact *c = s.contacts.list + k;
            if (c->edge_edge || c->base.v[0] != 0) continue;
            sum += c->base.energy;
            if (c->multiplicity > 0) triangles += c->base.energy;
        }
        ENSURE_REL(sum, want[side], 1e-4);
        ENSURE_REL(triangles, 2 * want[side], 1e-4);
    }
    scene_free(&s);
}

/* A plate of n x n vertices above a larger one, cut otherwise, at half of dhat. With 1e6 Pa times a quarter of each vertex'
 * area over dhat for kappa [IPC23] it is pushed by 0.25 0.01 m^2 1.1931472e6 Pa = 2982.87 N, for every n: each vertex counts
 * once, wherever it is above the triangles. */
static void test_plate(void)
{
    for (int n = 2; n <= 16; n++) {
        scene s;
        test_mesh plate = geometry_sheet(n - 1, n - 1, 0.1, 0.1), ground = geometry_sheet(7, 5, 0.3, 0.3);
        double area[256], whole = 0, force = 0, dhat = 0.01;
        memset(area, 0, sizeof area);
        for (int i = 0; i < 3 * plate.tri_count; i++) area[plate.tri[i]] += 0.01 / plate.tri_count / 3;
        for (int i = 0; i < n * n; i++) whole += area[i];
        ENSURE_REL(whole, 0.01, 1e-14);
        for (int i = 0; i < plate.vertex_count; i++) embi_set(plate.x + 3 * i, plate.x[3 * i] + 0.11, plate.x[3 * i + 1] + 0.07, dhat / 2);
        scene_make(&s, plate, FULL, &ground, FIXED);
        scene_candidates(&s, dhat, 0, 0.01);
        embi_contacts_clear(&s.contacts);
        for (int k = 0; k < s.candidates; k++) {
            embi_closest c;
            embi_point p[4];
            if (s.list[k].edge_edge || s.list[k].v[0] >= s.split) continue;
            memset(&c, 0, sizeof c);
            embi_points_at(p, s.x, s.list[k].v);
            c.d = embi_closest_distance(p, 0, c.w, &c.mask);
            if (c.d < dhat) ENSURE(contact_add(&s.m, &s.contacts, s.list + k, &c, s.x, 1e6 * area[s.list[k].v[0]] / 4 / dhat));
        }
        for (int k = 0; k < s.contacts.count; k++) force -= s.contacts.list[k].base.first * s.contacts.list[k].base.dir[2];
        ENSURE_REL(force, 0.25 * 0.01 * (log(2.0) + 0.5) * 1e6, 1e-12);
        ENSURE_CLOSE(force, 2982.87, 0.005);
        scene_free(&s);
    }
}

/* ---- one term for the nearest feature ---- */

/* energy and force of vertex 0, the only one that is near, at p */
static double point_energy(scene *s, const double p[3], double force[3])
{
    double sum = 0;
    embi_copy(s->x, p);
    (void)scene_evaluate(s);
    embi_set(force, 0, 0, 0);
    for (int k = 0; k < s->contacts.count; k++) {
        const embi_contact *c = s->contacts.list + k;
        if (c->edge_edge || c->base.v[0] != 0) continue;
        sum += c->base.energy;
        embi_axpy(force, -c->base.first, c->base.dir);
    }
    return sum;
}

/* distance of p and the ground */
static double point_distance(const scene *s, const double p[3])
{
    double least = HUGE_VAL, w[4];
    int mask;
    for (int t = 0; t < s->mesh[1].tri_count; t++) {
        embi_point x[4];
        x[0] = p;
        for (int k = 0; k < 3; k++) x[k + 1] = s->x + 3 * (s->split + s->mesh[1].tri[3 * t + k]);
        least = fmin(least, embi_point_triangle(x, w, &mask));
    }
    return least;
}

/* a corner above a ground that other parts of it keep away from; all pairs that there are */
static void point_scene(scene *s, test_mesh ground)
{
    test_mesh tip = tip_mesh();
    for (int k = 3; k < 12; k++) tip.x[k] *= 1e3;
    scene_make(s, tip, FULL, &ground, FIXED);
    s->merge = 0;
    scene_candidates(s, 1e2, 0, 1e2);
}

/* Above a flat ground, cut into triangles anyhow, the sum is that of one pair with the plane, wherever: right above
 * edges and vertices and beside them too, to rounding; and nothing pushes sideways. */
static void test_flat_ground_is_flat(void)
{
    for (int r = 0; r < 6; r++) {
        test_mesh ground = geometry_sheet(12, 12, 2, 2);
        double R[9], t[3] = {0.3, -0.2, 0.7}, dhat = r % 2 ? 0.05 : 0.3;
        scene s;
        for (int i = 0; i < ground.vertex_count; i++)
            for (int k = 0; k < 2; k++) {
                double *at = ground.x + 3 * i + k;
                if (r >= 2 && *at > 0.01 && *at < 1.99) *at += test_uniform(-0.05, 0.05);
            }
        if (r % 3) geometry_rotation(R);
        else embi_m3_identity(R);
        geometry_move(&ground, 1, R, t);
        point_scene(&s, ground);
        for (int n = 0; n < s.candidates; n++) s.list[n].dhat = dhat;
        for (int n = 0; n < 400; n++) {
            const int *T = s.mesh[1].tri + 3 * (int)test_uniform(0, s.mesh[1].tri_count);
            double u = n % 4 < 2 ? test_uniform(0, 1) : n % 4 == 2, v = n % 4 == 0 ? test_uniform(0, 1 - u) : 0, near = n % 8 < 4 ? 0 : 1e-9,
                   h = dhat * pow(10, test_uniform(-3, 0)), p[3], up[3] = {R[2], R[5], R[8]}, f[3], first, border = HUGE_VAL;
            for (int k = 0; k < 3; k++) {
                double at = s.x[3 * (s.split + T[0]) + k];
                p[k] = at + u * (s.x[3 * (s.split + T[1]) + k] - at) + v * (s.x[3 * (s.split + T[2]) + k] - at);
            }
            for (int k = 0; k < 2; k++) {   /* only what is farther than dhat from the border */
                double side[3] = {R[k], R[3 + k], R[6 + k]}, d[3];
                embi_sub(d, p, t);
                border = fmin(border, fmin(embi_dot(side, d), 2 - embi_dot(side, d)));
                embi_axpy(p, near * test_uniform(-1, 1), side);
            }
            if (border < 1.01 * dhat) continue;
            embi_axpy(p, h, up);
            (void)embipc_barrier(h, dhat, &first, NULL);
            ENSURE_REL(point_energy(&s, p, f), s.kappa * embipc_barrier(h, dhat, NULL, NULL), 1e-10);
            embi_axpy(f, s.kappa * first, up);
            ENSURE(embi_norm(f) <= 1e-7 * fabs(s.kappa * first) + 1e-12);   /* what is so near an edge stands on it: EMBI_SNAP */
        }
        scene_free(&s);
    }
}

/* Of a convex body it is the nearest feature, once, everywhere. */
static void test_convex_counts_once(void)
{
    for (int r = 0; r < 4; r++) {
        test_mesh ground = r < 2 ? geometry_icosphere(r + 1) : geometry_box_surface(3, 2, r, 1, 1, 0.5);
        double R[9], t[3] = {0, 0, 0};
        scene s;
        geometry_rotation(R);
        geometry_move(&ground, 1, R, t);
        point_scene(&s, ground);
        for (int n = 0; n < s.candidates; n++) s.list[n].dhat = 0.4;
        for (int n = 0; n < 300; n++) {
            double p[3], f[3], d;
            for (int k = 0; k < 3; k++) p[k] = test_uniform(-1.6, 1.6);
            d = point_distance(&s, p);
            if (r < 2 ? embi_norm(p) < 1 : fabs(R[0] * p[0] + R[3] * p[1] + R[6] * p[2] - 0.5) < 0.5 && fabs(R[1] * p[0] + R[4] * p[1] + R[7] * p[2] - 0.5) < 0.5 &&
                                               fabs(R[2] * p[0] + R[5] * p[1] + R[8] * p[2] - 0.25) < 0.25)
                continue;   /* inside it is not convex */
            ENSURE_CLOSE(point_energy(&s, p, f), d < 0.4 ? s.kappa * embipc_barrier(d, 0.4, NULL, NULL) : 0, 1e-10 * s.kappa);
        }
        scene_free(&s);
    }
}

/* However crumpled the ground is, a point that comes near it finds a barrier that grows beyond all bounds: at least
 * half of what its nearest feature alone would be, once it is nearer than all that the features span. */
static void test_crumpled_ground_is_a_barrier(void)
{
    double worst = HUGE_VAL;
    int valleys = 0;
    for (int r = 0; r < 30; r++) {
        test_mesh ground = geometry_icosphere(1 + r % 2);
        double dhat = r % 3 == 0 ? 0.02 : r % 3 == 1 ? 0.3 : 1;
        scene s;
        for (int i = 0; i < ground.vertex_count; i++) {   /* star-shaped, with spikes and pits */
            double far = r % 5 == 4 ? (test_random() < 0.2 ? 3 : 0.3) : test_uniform(0.4, 1.5);
            for (int k = 0; k < 3; k++) ground.x[3 * i + k] *= far;
        }
        point_scene(&s, ground);
        for (int n = 0; n < s.candidates; n++) s.list[n].dhat = dhat;
        for (int n = 0; n < 200; n++) {
            const int *T = s.mesh[1].tri + 3 * (int)test_uniform(0, s.mesh[1].tri_count);
            double u = n % 3 == 0 ? test_uniform(0, 1) : n % 3 == 1 ? test_random() < 0.5 : test_uniform(0, 1), v = n % 3 == 0 ? test_uniform(0, 1 - u) : 0,
                   y[3], p[3], f[3];
            for (int k = 0; k < 3; k++) {   /* inside a triangle, at a corner, on an edge */
                double at = s.x[3 * (s.split + T[0]) + k];
                y[k] = at + u * (s.x[3 * (s.split + T[1]) + k] - at) + v * (s.x[3 * (s.split + T[2]) + k] - at);
            }
            for (int far = 4; far <= 10; far += 2) {
                double away = pow(10, -far) * (1 + test_random()), d, once, all;
                for (int k = 0; k < 3; k++) p[k] = y[k] + away * test_uniform(-1, 1);
                d = point_distance(&s, p);
                once = s.kappa * embipc_barrier(d, dhat, NULL, NULL);
                all = point_energy(&s, p, f);
                if (far >= 8) worst = fmin(worst, all / once);
                if (far >= 8) ENSURE(all > 0.5 * once);
                for (int k = 0; k < s.contacts.count; k++) valleys += s.contacts.list[k].multiplicity < 0;
            }
        }
        scene_free(&s);
    }
    printf("  crumpled ground: the sum is at least %.3f of the barrier of the nearest feature, %d contacts taken back\n", worst, valleys);
    ENSURE(valleys > 100);
}

/* J spreads a force like the weights: node gradients sum to the vertex forces, and those to zero over both
 * bodies */
static void test_momentum(void)
{
    scene s;
    double sum[3] = {0, 0, 0}, turn[3] = {0, 0, 0}, size = 0, *g;
    boxes_make(&s, 0.02, 0.06, FULL, CAGE);
    scene_candidates(&s, 0.2, 0, 0);
    scene_lag(&s, 0.5, 1e-3, 1e-3);
    g = (double *)calloc((size_t)(3 * s.nn), sizeof(double));
    scene_gradient(s.q, g, &s);
    for (int i = 0; i < s.nn; i++) {
        embi_add(sum, sum, g + 3 * i);
        size = fmax(size, embi_norm(g + 3 * i));
    }
    for (int k = 0; k < 3; k++) ENSURE_CLOSE(sum[k], 0, 1e-12 * size);
    s.friction_count = 0;
    scene_gradient(s.q, g, &s);   /* without friction, whose lever is lagged: no moment either */
    for (int i = 0; i < s.nn; i++) {
        double m[3];
        embi_cross(m, s.q + 3 * i, g + 3 * i);
        embi_add(turn, turn, m);
    }
    for (int k = 0; k < 3; k++) ENSURE_CLOSE(turn[k], 0, 1e-10 * size);
    free(g);
    scene_free(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(gradient_through_rows);
    RUN(gradient_mollified);
    RUN(stiffness);
    RUN(curvature);
    RUN(curvature_through_rows);
    RUN(loss_by_curvature);
    RUN(loss_of_crossing);
    RUN(friction_derivatives);
    RUN(merging);
    RUN(self_contact);
    RUN(continuous);
    RUN(ridge_values);
    RUN(ridge_beside);
    RUN(plate);
    RUN(flat_ground_is_flat);
    RUN(convex_counts_once);
    RUN(crumpled_ground_is_a_barrier);
    RUN(momentum);
    return test_end("test_contact");
}
