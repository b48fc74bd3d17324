/* What a step leaves out: vertices that no candidate has, told from boxes of the nodes; pairs within one body whose
 * two sides hang on nearly the same nodes; and what a body's turning alone would bring up. */
#include "small.h"
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "tree_test.h"
#include "cage_test.h"

static int holds(const double box[6], const double p[3], double slack)
{
    for (int i = 0; i < 3; i++)
        if (p[i] < box[i] - slack || p[i] > box[3 + i] + slack) return 0;
    return 1;
}

/* do the boxes of panels (6 each) hold the corners of their triangles? positions in p, those in `from` taken off */
static void panels_hold(const embi_body *b, const double *boxes, int stride, const double *p, const double *from)
{
    int *corner = (int *)malloc((size_t)(3 * b->nt) * sizeof *corner), all = 0;
    for (int n = 0; n < b->search.patch_count; n++) {
        int count = embi_patch_corners(b, b->search.patch + n, corner);
        for (int i = 0; i < count; i++) {
            double d[3];
            for (int c = 0; c < 3; c++) d[c] = p[3 * corner[i] + c] - (from ? from[3 * corner[i] + c] : 0);
            ENSURE(holds(boxes + stride * n, d, 1e-12 * b->diagonal));
        }
        all += count;
    }
    ENSURE(all == 3 * b->nt);
    free(corner);
}

/* boxes from nodes hold all vertices, and all displacements, of bodies of every kind and of their panels, wherever their
 * nodes go */
static void test_bounds_hold_the_surface(void)
{
    int seen[EMBIPC_FULL + 1] = {0}, parted[EMBIPC_FULL + 1] = {0};
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        for (int k = 0; k < s.w->s.body_count; k++) {
            embi_state *t = &s.w->s;
            embi_body *b = t->body + k;
            double tight = 0;
            for (int n = 0; n < 20 && b->nn; n++) {
                double wide = pow(10, test_uniform(-6, 0)) * b->diagonal, mean[3], size = 0, part[TREE_SHIFT_ROOM], *box;
                embi_shift shift = tree_shift(b, part);
                box = shift.box;
                for (int i = 0; i < 3; i++) mean[i] = test_uniform(-1, 1) * b->diagonal;
                for (int i = 0; i < 3 * b->nn; i++)
                    t->trial_q[3 * b->node0 + i] = t->q[3 * b->node0 + i] + mean[i % 3] + wide * test_uniform(-1, 1);
                embi_apply_rows(t, b, t->trial_q, t->path.trial_x);
                embi_body_shift(b, t->q, t->trial_q, t->scratch.nodes, NULL, &shift);
                embi_body_locate(b, t->trial_q);
                panels_hold(b, part, 6, t->path.trial_x + 3 * b->vert0, t->x + 3 * b->vert0);
                panels_hold(b, b->search.patch->start_box, (int)(sizeof *b->search.patch / sizeof(double)),
                            t->path.trial_x + 3 * b->vert0, NULL);
                for (int i = b->vert0; i < b->vert0 + b->nv; i++) {
                    double d[3];
                    embi_sub(d, t->path.trial_x + 3 * i, t->x + 3 * i);
                    ENSURE(holds(box, d, 1e-12 * b->diagonal));
                    ENSURE(holds(b->search.start_box, t->path.trial_x + 3 * i, 1e-12 * b->diagonal));
                    for (int c = 0; c < 3; c++) size = fmax(size, fabs(d[c] - mean[c]));
                }
                for (int c = 0; c < 3; c++) tight = fmax(tight, (box[3 + c] - box[c]) / (2 * size));
                seen[b->kind]++;
                parted[b->kind] += b->search.patch_count > 1;
            }
            ENSURE(tight < 12);   /* a box is no use if it holds everything */
        }
        scene_end(&s);
    }
    ENSURE(seen[EMBIPC_KINEMATIC] && seen[EMBIPC_AFFINE] && seen[EMBIPC_CAGE] && seen[EMBIPC_FULL]);
    ENSURE(parted[EMBIPC_KINEMATIC] && parted[EMBIPC_AFFINE] && parted[EMBIPC_CAGE] && parted[EMBIPC_FULL]);
}

/* nodes of a body in r: those of q turned by angle about a random axis, moved, and shaken by wide */
static void turn_nodes(const embi_body *b, const double *q, double angle, double wide, double *r)
{
    double axis[3], R[9], move[3], length;
    for (int i = 0; i < 3; i++) axis[i] = test_uniform(-1, 1);
    for (int i = 0; i < 3; i++) move[i] = test_uniform(-10, 10) * b->diagonal;
    length = embi_norm(axis);
    embi_scale(axis, angle / length, axis);
    embi_m3_rotation(R, axis);
    for (int i = b->node0; i < b->node0 + b->nn; i++) {
        embi_m3_mulv(r + 3 * i, R, q + 3 * i);
        for (int c = 0; c < 3; c++) r[3 * i + c] += move[c] + wide * test_uniform(-1, 1);
    }
}

/* Two points of a body that turns, moves and is bent are never nearer than what the warp tells, on the whole way
 * between two states; and a body that only turns has none. */
static void test_warp_bounds_the_way(void)
{
    scene s = scene_make(0, NULL);
    int bodies = 0, kept = 0;
    for (int k = 0; k < s.w->s.body_count; k++) {
        embi_state *t = &s.w->s;
        const embi_body *b = t->body + k;
        if (!embi_tested(s.w, b, b)) continue;
        bodies++;
        for (int n = 0; n < 300 / TEST_STRIDE; n++) {
            double angle = test_uniform(0, 3), more = test_uniform(0, 1), flat = test_uniform(0, 1) < 0.5,
                   wide = pow(10, test_uniform(-6, 0)) * b->diagonal;
            double part[2][TREE_SHIFT_ROOM];
            embi_shift here = tree_shift(b, part[0]), there = tree_shift(b, part[1]);
            turn_nodes(b, t->q, test_uniform(0, 3), 0, t->trial_q);
            embi_body_shift(b, t->q, t->trial_q, t->scratch.nodes, NULL, &here);
            ENSURE(embi_norm(here.deformation) < 1e-12 * b->diagonal);
            turn_nodes(b, t->q, angle, flat ? 0 : wide, t->trial_q);
            turn_nodes(b, t->trial_q, more, wide, t->driven.target);
            embi_body_shift(b, t->q, t->trial_q, t->scratch.nodes, NULL, &here);
            embi_body_shift(b, t->q, t->driven.target, t->scratch.nodes, &here, &there);
            kept += embi_turn_sine(here.turn, there.turn) > 0.1;
            for (int m = 0; m < 50; m++) {
                int v = b->vert0 + (int)test_uniform(0, b->nv), u = b->vert0 + (int)test_uniform(0, b->nv);
                double d[3], x0[3], x1[3], w[3], way = test_uniform(0, 1), at[3];
                embi_apply_row(t, v, t->trial_q, t->path.trial_x);
                embi_apply_row(t, u, t->trial_q, t->path.trial_x);
                embi_apply_row(t, v, t->driven.target, t->path.x);
                embi_apply_row(t, u, t->driven.target, t->path.x);
                embi_sub(d, t->x + 3 * v, t->x + 3 * u);
                embi_sub(x0, t->path.trial_x + 3 * v, t->path.trial_x + 3 * u);
                embi_sub(x1, t->path.x + 3 * v, t->path.x + 3 * u);
                for (int c = 0; c < 3; c++) {
                    double T[3];
                    embi_set(T, here.turn[c], here.turn[3 + c], here.turn[6 + c]);
                    ENSURE(fabs(embi_dot(T, x0) - d[c]) <= here.deformation[c] + 1e-12 * b->diagonal);
                    at[c] = (1 - way) * x0[c] + way * x1[c];
                    w[c] = fmax(fabs(d[c]) - ((1 - way) * here.deformation[c] + way * there.deformation[c]), 0);
                }
                ENSURE(embi_norm(at) >= EMBI_TURN_COS * embi_norm(w) - 1e-12 * b->diagonal);
            }
        }
    }
    ENSURE(bodies > 0 && kept > 0);
    scene_end(&s);
}

/* the other triangle with that half-edge's ends: its third vertex; -1: none */
static int across(const embi_body *b, int half)
{
    int p = b->tri[half], q = b->tri[half / 3 * 3 + (half + 1) % 3];
    for (int i = 0; i < 3 * b->nt; i++)
        if (b->tri[i] == q && b->tri[i / 3 * 3 + (i + 1) % 3] == p) return b->tri[i / 3 * 3 + (i + 2) % 3];
    return -1;
}

/* The nodes of a body go anywhere: how far from flat are faces that pairs of edges leave their insides out of? Counts
 * these edges. */
static double flat_by(scene *s, const embi_body *b, int *spared)
{
    embi_state *t = &s->w->s;
    double worst = 0;
    for (int i = 0; i < 3 * b->nn; i++)
        t->trial_q[3 * b->node0 + i] = t->q[3 * b->node0 + i] + 0.2 * b->diagonal * test_uniform(-1, 1);
    embi_apply_rows(t, b, b->kind == EMBIPC_KINEMATIC ? t->q : t->trial_q, t->x);   /* rigid */
    for (int i = 0; i < 3 * b->nt; i++) {
        double d[3][3], n[3];
        int at[3] = {b->tri[i / 3 * 3 + (i + 1) % 3], b->tri[i / 3 * 3 + (i + 2) % 3], across(b, i)};
        if (!(b->bvh.own[i / 3] & (8 << i % 3)) || tree_has_edge(b, i)) continue;
        ENSURE(at[2] >= 0);
        if (at[2] < 0) continue;
        for (int c = 0; c < 3; c++) embi_sub(d[c], t->x + 3 * (b->vert0 + at[c]), t->x + 3 * (b->vert0 + b->tri[i]));
        embi_cross(n, d[0], d[1]);
        worst = fmax(worst, fabs(embi_dot(n, d[2])) / (embi_norm(d[0]) * embi_norm(d[1]) * embi_norm(d[2])));
        ++*spared;
    }
    return worst;
}

/* Edges that are left out of pairs of edges because they lie inside flat faces do so wherever the nodes go. */
static void test_flat_faces_stay_flat(void)
{
    int spared[EMBIPC_FULL + 1] = {0};
    double worst = 0;
    for (int which = 0; which <= SCENE_COUNT; which++) {
        scene s;
        if (which == SCENE_COUNT) {   /* and a block whose sides are finer than its cage */
            embipc_body_def d = scene_def("block", EMBIPC_CAGE, 0, 0, 0);
            test_mesh m = geometry_box_surface(8, 8, 8, 0.1, 0.1, 0.1);
            embipc_world_def wd = embipc_default_world_def();
            s = scene_empty(&wd);
            d.cage_nodes = 20;
            if (scene_add_mesh(&s, &d, &m, 0) < 0) return;
        } else s = scene_make(which, NULL);
        for (int k = 0; k < s.w->s.body_count; k++) {
            const embi_body *b = s.w->s.body + k;
            worst = fmax(worst, flat_by(&s, b, spared + b->kind));
        }
        scene_end(&s);
    }
    printf("  edges inside flat faces: %d of fixed, %d of kinematic, %d of affine bodies, %d of cages; not flat by %.2g\n",
           spared[EMBIPC_FIXED], spared[EMBIPC_KINEMATIC], spared[EMBIPC_AFFINE], spared[EMBIPC_CAGE], worst);
    ENSURE(worst < 1e-12 && spared[EMBIPC_FULL] == 0);
    ENSURE(spared[EMBIPC_FIXED] && spared[EMBIPC_KINEMATIC] && spared[EMBIPC_AFFINE] && spared[EMBIPC_CAGE] > 20);
}

static int is_in(const embi_candidate *list, int count, int edge_edge, const int v[4])
{
    for (int k = 0; k < count; k++) {
        const int *w = list[k].v;
        int same = 0;
        if (list[k].edge_edge != edge_edge) continue;
        if (edge_edge)
            for (int side = 0; side < 2; side++) {
                const int *p = v + 2 * side, *q = v + 2 - 2 * side;
                same |= ((w[0] == p[0] && w[1] == p[1]) || (w[0] == p[1] && w[1] == p[0])) &&
                        ((w[2] == q[0] && w[3] == q[1]) || (w[2] == q[1] && w[3] == q[0]));
            }
        else same = w[0] == v[0] && w[1] == v[1] && w[2] == v[2] && w[3] == v[3];
        if (same) return 1;
    }
    return 0;
}

/* Is the pair within its own dhat + xi at x, and not among the candidates? */
static int missed(const embi_surface *a, const double *x, const embi_candidate *list, int count,
                  const embi_pair_rule *rule, int edge_edge, const int v[4], int *near)
{
    double w[4], rest, now;
    embi_point p[4];
    int mask, split = edge_edge ? 2 : 1;
    for (int c = 0; c < 3; c++) {   /* boxes first */
        double lo = HUGE_VAL, hi = -HUGE_VAL, low = HUGE_VAL, high = -HUGE_VAL;
        for (int i = 0; i < 4; i++) {
            double at = x[3 * v[i] + c];
            if (i < split) { lo = fmin(lo, at); hi = fmax(hi, at); }
            else { low = fmin(low, at); high = fmax(high, at); }
        }
        if (lo > high + rule->dhat || low > hi + rule->dhat) return 0;
    }
    for (int i = 0; i < split; i++)
        for (int j = split; j < 4; j++)
            if (v[i] == v[j]) return 0;
    embi_points_at(p, x, v);
    now = embi_closest_distance(p, edge_edge, w, &mask);
    if (now > rule->dhat) return 0;
    embi_points_at(p, a->rest, v);
    rest = embi_closest_distance(p, edge_edge, w, &mask);
    if (now > embi_min(rule->dhat, rest / 2)) return 0;
    ++*near;
    return !is_in(list, count, edge_edge, v);
}

/* Pairs of the body that are within their activation distance at the vertices x but not on the list. */
static int count_missed(const embi_body *b, const embi_surface *a, const double *x, const embi_candidate *list,
                        int count, const embi_pair_rule *rule, int *near)
{
    int lost = 0, v[4];
    for (int i = 0; i < b->nt; i++)
        for (int k = 0; k < b->nv; k++) {
            v[0] = k; v[1] = b->tri[3 * i]; v[2] = b->tri[3 * i + 1]; v[3] = b->tri[3 * i + 2];
            lost += missed(a, x, list, count, rule, 0, v, near);
        }
    for (int i = 0; i < 3 * b->nt; i++)
        for (int j = 0; j < i; j++) {
            v[0] = b->tri[i]; v[1] = b->tri[i / 3 * 3 + (i + 1) % 3];
            v[2] = b->tri[j]; v[3] = b->tri[j / 3 * 3 + (j + 1) % 3];
            /* each edge once, but for those that stay inside flat faces */
            if (!tree_has_edge(b, i) || !tree_has_edge(b, j)) continue;
            lost += missed(a, x, list, count, rule, 1, v, near);
        }
    return lost;
}

/* After a step: what a body says of its way since the start, where a direction led or was cut, is what its nodes say.
 * Returns how many of its tets are strained. */
static int knows_its_way(const embi_state *t, const embi_body *b)
{
    double part[TREE_SHIFT_ROOM];
    embi_shift way = tree_shift(b, part);
    int strained = 0;
    embi_body_shift(b, embi_base_q(t, b), t->q, t->scratch.nodes, NULL, &way);
    ENSURE(memcmp(way.box, b->search.shift.box, sizeof way.box) == 0);
    ENSURE(memcmp(part, b->search.shift.part, (size_t)(6 * b->search.patch_count) * sizeof *part) == 0);
    for (int c = 0; c < 3; c++) ENSURE_CLOSE(b->search.shift.deformation[c], way.deformation[c], 1e-12 * b->diagonal);
    for (int k = 0; k < embi_strained_tets(b); k++) {
        double strain = tree_strain(b, k, t->scratch.nodes + 3 * b->node0);
        ENSURE_CLOSE(b->search.strain[k].now, strain, 1e-9);
        strained += strain > 1e-6;
    }
    return strained;
}

/* However coarse the cage, a certificate stands for few triangles: else one that fails costs a search of many. */
static void test_certificates_of_fine_surfaces_are_small(void)
{
    test_mesh ball = test_mesh_sphere(5);
    embipc_body_def d = scene_def("ball", EMBIPC_CAGE, 0, 0, 0);
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    const embi_body *b;
    int most = 0;
    d.cage_nodes = 20;
    ENSURE(scene_add_mesh(&s, &d, &ball, 0) >= 0);
    b = s.w->s.body;
    ENSURE(b->search.certificates.count > 1000);
    for (int n = 0; n < b->search.certificates.count; n++) {
        const embi_certificate *one = b->search.certificates.list + n;
        int end, other, first = embi_bvh_below(&b->bvh, b->nt, one->i, &end);
        int second = embi_bvh_below(&b->bvh, b->nt, one->j, &other), triangles = end - first + other - second;
        if (one->next == n + 1 && one->tets > EMBI_CERTIFICATE_TETS && triangles / one->tets > most)
            most = triangles / one->tets;
    }
    printf("  %d triangles, %d tets: %d certificates, at most %d triangles a tet\n", b->nt, b->ntet,
           b->search.certificates.count, most);
    ENSURE(most <= EMBI_CERTIFICATE_FEW);
    scene_end(&s);
}

static void test_a_body_knows_its_way(void)
{
    int moved = 0;
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        for (int n = 0; n < 20 / TEST_STRIDE; n++) {
            if (embipc_world_step(s.w, NULL) != EMBIPC_OK) { ENSURE(0); break; }
            for (int k = 0; k < s.w->s.body_count; k++) {
                const embi_body *b = s.w->s.body + k;
                if (!b->nn) continue;
                (void)knows_its_way(&s.w->s, b);
                moved += embi_shift_most(&b->search.shift) > 1e-6;
            }
        }
        scene_end(&s);
    }
    ENSURE(moved > 100 / TEST_STRIDE);
}

/* The search expects a body that spins and falls at the end of its arc: a straight way would miss it by (h w)^2 r/2. */
static void test_the_expected_end(void)
{
    static const embipc_kind kind[3] = {EMBIPC_AFFINE, EMBIPC_CAGE, EMBIPC_FULL};
    for (int k = 0; k < 3; k++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("spinner", kind[k], 0, 0, 0);
        scene s;
        embi_state *st;
        double expected[3 * 64], most = 0;
        wd.time_step = 0.01;
        s = scene_empty(&wd);
        d.material.young = 1e8;
        d.angular_velocity[0] = 40;
        scene_box(&s, d, 0.1, 0.1, 0.1, 2);
        st = &s.w->s;
        ENSURE(st->node_count <= 64);
        for (int n = 0; n < 5; n++) scene_step(&s);
        embi_bodies_begin(s.w);
        embi_body_expect(s.w, st->body);
        memcpy(expected, st->trial_q, (size_t)(3 * st->node_count) * sizeof *expected);
        scene_step(&s);
        for (int i = 0; i < 3 * st->node_count; i++) most = fmax(most, fabs(st->q[i] - expected[i]));
        printf("  %s: %.2g m from where it was expected\n", k == 0 ? "affine" : k == 1 ? "cage" : "full", most);
        ENSURE(most < 1e-4);
        scene_end(&s);
    }
}

/* A comb that tumbles while its teeth swing: whatever list serves a step, kept or new, at the end of the step nothing
 * that touches is missing from it. */
static void test_a_tumbling_body_finds_itself(void)
{
    embipc_body_def d = scene_def("comb", EMBIPC_CAGE, 0, 0, 0);
    embipc_world_def wd = embipc_default_world_def();
    test_mesh comb = cage_comb();
    scene s;
    int near = 0, lost = 0, builds = 0, steps = 60, strained = 0;
    double turned = 0, none[9], *x;
    embi_state *st;
    embi_body *b;
    test_mesh_compact(&comb);
    wd.gravity[0] = wd.gravity[1] = wd.gravity[2] = 0;
    s = scene_empty(&wd);
    d.cage_nodes = 60;
    d.dhat = 0.003;
    d.material.young = 5e3;
    if (scene_add_mesh(&s, &d, &comb, 0) < 0) return;
    st = &s.w->s;
    b = st->body;
    for (int i = 0; i < b->nn; i++) {
        double w[3] = {1, 3, 2};
        embi_cross(st->v + 3 * i, w, st->q + 3 * i);
        st->v[3 * i] -= 4 * (st->q[3 * i] - 0.075);   /* the teeth come together */
    }
    x = (double *)malloc((size_t)(3 * b->nv) * sizeof *x);
    for (int n = 0; n < steps; n++) {
        embi_surface a;
        if (embipc_world_step(s.w, NULL) != EMBIPC_OK) { ENSURE(0); break; }
        strained += knows_its_way(st, b);
        a = embi_surface_of(st, b, st->x);
        embi_apply_rows(st, b, st->q, x);
        embi_m3_identity(none);
        turned += 2 * asin(embi_turn_sine(none, b->search.shift.turn));
        builds += memcmp(st->reference.cached_q + 3 * b->node0, st->qn + 3 * b->node0,
                         (size_t)(3 * b->nn) * sizeof *st->q) == 0;
        if (n % (6 * TEST_STRIDE) != 5 || st->pair_count != 1) continue;   /* every pair is looked at: slow */
        lost += count_missed(b, &a, x, st->candidates.list, st->candidates.count, &st->pair->rule, &near);
    }
    printf("  %d steps, turned by %.1f rad, %d searches: %d pairs came near, %d of them not found\n", steps, turned,
           builds, near, lost);
    ENSURE(near > 0 && lost == 0 && builds < steps && strained > 0);
    free(x);
    scene_end(&s);
}

/* One search for a range; then nodes go anywhere in a box of that range: every pair of the body that comes within its
 * activation distance was found. */
/* Bends a flat mat of length 0.4 m into a U whose arms are `gap` apart, one of them shifted along the other. */
static void bend(const embi_body *b, const double *flat, double gap, double shift, double *q)
{
    double radius = gap / 2 + 0.005, arm = (0.4 - EMBI_PI * radius) / 2;
    for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i += 3) {
        double along = flat[i] + 0.2, out = radius + flat[i + 2], angle = (along - arm) / radius;
        q[i + 1] = flat[i + 1];
        if (along < arm) { q[i] = along; q[i + 2] = -out; }
        else if (angle > EMBI_PI) { q[i] = 0.4 - EMBI_PI * radius - along + shift; q[i + 2] = out; }
        else { q[i] = arm + out * sin(angle) + shift * angle / EMBI_PI; q[i + 2] = -out * cos(angle); }
    }
}
/* A mat that is bent to a U closes, and is searched for itself along its path. Its candidates are complete wherever its
 * nodes stay within the slack of the path, and where the step began, which the path does not come near to. */
static void test_a_path_has_slack(void)
{
    embipc_body_def d = scene_def("mat", EMBIPC_FULL, 0, 0, 0);
    embipc_world_def wd = embipc_default_world_def();
    test_mesh mat = scene_mesh_tet_box(24, 4, 1, 0.4, 0.08, 0.01);
    scene s = scene_empty(&wd);
    embi_search one;
    embi_lane *lane;
    embi_state *st;
    embi_body *b;
    embi_surface a;
    embi_key *keys = NULL;
    embi_approach none;
    double *x, *flat, way, range[6] = {0};
    int count = 0, near = 0, lost = 0, near_start = 0, lost_start = 0, kept = 0, strays = 0;
    d.dhat = 0.003;
    if (scene_add_mesh(&s, &d, &mat, 0) < 0 || !ENSURE_OK(s.w, embipc_world_step(s.w, NULL))) return;
    st = &s.w->s;
    b = st->body;
    x = (double *)malloc((size_t)(3 * b->nv) * sizeof *x);
    flat = (double *)malloc((size_t)(3 * b->nn) * sizeof *flat);
    memcpy(flat, st->creation.q, (size_t)(3 * b->nn) * sizeof *flat);
    ENSURE(st->pair_count == 1);
    bend(b, flat, 0.0025, 0, st->qn);   /* the step begins where the arms touch */
    embi_apply_rows(st, b, st->qn, st->xn);
    a = embi_surface_of(st, b, st->xn);
    embi_bvh_refit(&b->bvh, a.x, b->tri, b->nt);
    none = embi_approach_of(range, d.dhat);
    none.own = 1;
    ENSURE(embi_bvh_pairs(&s.w->memory, &a, &a, range, d.dhat, &keys, &count));
    st->candidates.count = 0;
    ENSURE(embi_candidates(&s.w->memory, &a, &a, keys, count, &st->pair->rule, &none, &st->candidates.list,
                           &st->candidates.count));
    st->pair->first = 0;
    st->pair->count = st->candidates.count;
    bend(b, flat, 0.05, 0.03, st->q);   /* it has opened, and closes elsewhere */
    bend(b, flat, 0.005, 0.03, st->trial_q);
    memcpy(st->driven.safe_q, st->q, (size_t)(3 * b->nn) * sizeof *x);
    embi_apply_rows(st, b, st->q, st->x);
    b->started = b->in_island = b->followed = 1;
    b->search.keeps_start = b->search.has_direction = 1;
    b->search.own_path.searched = s.w->islands.list[b->island]->bound.searched = 1;
    b->search.swept = b->search.has_reference = 0;
    memset(&one, 0, sizeof one);
    lane = s.w->search.lane;
    lane->count = 0;
    one.kept = embi_cached_of(s.w, st->pair);
    ENSURE(EMBI_GROW(&s.w->memory, st->path.way, 3 * st->vert_count) && embi_body_sweep(s.w, b));
    ENSURE(one.kept && embi_search_path(s.w, &one, 0));
    ENSURE(!b->followed);   /* a search along a path changes all x, also where the step goes back then */
    embi_apply_rows(st, b, st->qn, x);
    lost_start = count_missed(b, &a, x, lane->list, lane->count, &st->pair->rule, &near_start);
    for (int n = 0; n < 24; n++) {   /* corners of boxes that the slack holds; or not; or beyond the end */
        double t = n % 8 == 4 ? 1.3 : test_uniform(0.9, 1);
        double off = b->search.own_path.slack / sqrt(3.0) * (n % 4 ? 0.8 : 1.3);
        for (int i = 0; i < 3 * b->nn; i++) {
            way = st->reference.path_way[i];
            st->q[i] = st->reference.path_q[i] + t * way + off / 2 * (test_uniform(-1, 1) < 0 ? -1 : 1);
        }
        b->search.has_direction = 0;
        strays += n % 4 == 0;
        kept += embi_body_keeps_path(st, b);
        if (n % 4 == 0) continue;
        embi_apply_rows(st, b, st->q, x);
        lost += count_missed(b, &a, x, lane->list, lane->count, &st->pair->rule, &near);
    }
    printf("  slack %g m, %d candidates, %d at the start: %d and %d pairs came near, %d and %d of them not found; "
           "%d of 24 states are within\n", b->search.own_path.slack, lane->count, st->pair->count, near, near_start, lost,
           lost_start, kept);
    ENSURE(near > 50 && near_start > 50 && lost == 0 && lost_start == 0 && kept == 24 - strays);
    free(x);
    free(flat);
    EMBI_RELEASE(&s.w->memory, keys);
    scene_end(&s);
}
/* The candidates in all steps of a full mat whose ends two drives twist against each other until it folds. */
static double twist_a_mat(int without)
{
    static const double key[2][14] = {{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0},
                                      {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, -7, 0, 0}};
    embipc_body_def d = scene_def("mat", EMBIPC_FULL, 0, 0, 0);
    embipc_world_def wd = embipc_default_world_def();
    test_mesh mat = scene_mesh_tet_box(16, 16, 1, 0.4, 0.4, 0.01);
    int node[2][64], nodes[2] = {0, 0};
    double candidates = 0;
    scene s;
    embi_state *st;
    wd.gravity[2] = 0;
    wd.time_step = 0.01;
    s = scene_empty(&wd);
    d.material.young = 1e5;
    d.material.poisson = 0.4;
    if (scene_add_mesh(&s, &d, &mat, 0) < 0) return 0;
    st = &s.w->s;
    for (int i = 0; i < st->body->nn; i++)
        if (fabs(st->q[3 * i]) > 0.19) node[st->q[3 * i] > 0][nodes[st->q[3 * i] > 0]++] = i;
    for (int k = 0; k < 2; k++) (void)scene_drive(&s, 0, key[k], 2, NULL, node[k], nodes[k]);
    test_without = without;
    for (int n = 0; n < 30 && ENSURE_OK(s.w, embipc_world_step(s.w, NULL)); n++) candidates += st->candidates.count;
    test_without = 0;
    scene_end(&s);
    return candidates;
}
/* Drives that rotate may go back, and paths serve them, too. */
static void test_a_twisted_mat_is_searched_along_paths(void)
{
    double paths = twist_a_mat(0), ranges = twist_a_mat(EMBIPC_WITHOUT_PATHS);
    printf("  %g candidates in all steps, %g by ranges\n", paths, ranges);
    ENSURE(paths > 0 && paths < ranges / 8);
}
static void own_candidates(test_mesh mesh, double dhat, double range, int nodes, int fields, double share)
{
    embipc_body_def d = scene_def("own", EMBIPC_CAGE, 0, 0, 0);
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embi_candidate *list = NULL;
    embi_key *keys = NULL;
    int count = 0, key_count = 0, near = 0, lost = 0, all;
    double half[6], *x;
    embi_pair_rule rule = {0};
    embi_approach t;
    embi_surface a;
    embi_body *b;
    embi_state *st;
    d.cage_nodes = nodes;
    d.dhat = dhat;
    if (scene_add_mesh(&s, &d, &mesh, 0) < 0) return;
    st = &s.w->s;
    b = st->body;
    a = embi_surface_of(st, b, st->x);
    ENSURE(a.J != NULL);
    rule.dhat = dhat;
    for (int i = 0; i < 6; i++) half[i] = i < 3 ? -range : range;
    t = embi_approach_of(half, dhat);
    t.own = 1;
    embi_bvh_refit(&b->bvh, a.x, b->tri, b->nt);
    ENSURE(embi_bvh_pairs(&s.w->memory, &a, &a, half, dhat, &keys, &key_count));
    ENSURE(embi_candidates(&s.w->memory, &a, &a, keys, key_count, &rule, &t, &list, &count));
    a.J = NULL;   /* what a search would find that knew nothing of the nodes */
    {
        embi_key *other = NULL;
        embi_candidate *whole = NULL;
        int n = 0;
        all = 0;
        ENSURE(embi_bvh_pairs(&s.w->memory, &a, &a, half, dhat, &other, &n));
        ENSURE(embi_candidates(&s.w->memory, &a, &a, other, n, &rule, &t, &whole, &all));
        EMBI_RELEASE(&s.w->memory, other);
        EMBI_RELEASE(&s.w->memory, whole);
    }
    x = (double *)malloc((size_t)(3 * b->nv) * sizeof *x);
    for (int n = 0; n < fields; n++) {
        for (int i = 0; i < b->nn; i++)
            for (int c = 0; c < 3; c++)   /* extremes: corners of the box */
                st->trial_q[3 * i + c] = st->q[3 * i + c] + range / 2 * (test_uniform(-1, 1) < 0 ? -1 : 1);
        embi_apply_rows(st, b, st->trial_q, x);
        lost += count_missed(b, &a, x, list, count, &rule, &near);
    }
    printf("  %d triangles, dhat %g, range %g: %d candidates (%d without the nodes); %d pairs came near, %d of them not found\n",
           b->nt, dhat, range, count, all, near, lost);
    ENSURE((near > 0 || fields == 0) && lost == 0 && count < share * all);
    free(x);
    EMBI_RELEASE(&s.w->memory, list);
    EMBI_RELEASE(&s.w->memory, keys);
    scene_end(&s);
}

static void test_own_candidates_are_complete(void)
{
    test_mesh ball = test_mesh_sphere(3), fine = test_mesh_sphere(5), comb = cage_comb();
    scene_stretch(&ball, 0.1, 0.1, 0.1);
    scene_stretch(&fine, 0.1, 0.1, 0.1);
    test_mesh_compact(&comb);
    own_candidates(ball, 0.004, 0.04, 40, 4 / TEST_STRIDE, 0.8);
    own_candidates(fine, 0.001, 0.005, 40, 0, 0.1);   /* neighbours of a fine surface */
    own_candidates(comb, 0.004, 0.03, 20, 2 / TEST_STRIDE, 0.8);
}

/* ---- folds ---- */

/* a random triangle below a node of the tree */
static int below(const embi_bvh *b, int nt, int node)
{
    int leaf = node, first, last;
    while (leaf < b->leaves) leaf = 2 * leaf + (test_uniform(-1, 1) < 0);
    first = EMBI_LEAF * (leaf - b->leaves);
    last = first + EMBI_LEAF < nt ? first + EMBI_LEAF : nt;
    return first < nt ? b->order[first + (int)test_uniform(0, last - first)] : -1;
}

/* Is the point p of the cage at rest in one of these tets? */
static int in_tets(const embi_state *t, const embi_body *b, const int *tet, int tets, const double p[3])
{
    for (int k = 0; k < tets; k++) {
        double X[12], w[4];
        embi_tet_gather(X, t->q + 3 * b->node0, b->tet + 4 * tet[k]);
        if (embi_tet_weights(X, p, w) && w[0] > -1e-9 && w[1] > -1e-9 && w[2] > -1e-9 && w[3] > -1e-9) return 1;
    }
    return 0;
}

static int one_tet(const embi_state *t, int i, int j)
{
    return memcmp(t->J.node + 4 * i, t->J.node + 4 * j, 4 * sizeof *t->J.node) == 0;
}

/* The tet of a vertex: the row of J names its nodes. */
static int tet_of(const embi_state *t, const embi_body *b, int v)
{
    const int *node = t->J.node + 4 * (b->vert0 + v);
    for (int k = 0; k < b->ntet; k++) {
        int same = 0;
        for (int i = 0; i < t->J.count[b->vert0 + v]; i++)
            for (int c = 0; c < 4; c++) same += node[i] == b->tet[4 * k + c];
        if (same == t->J.count[b->vert0 + v]) return k;
    }
    return -1;
}

/* Any field on the nodes changes from vertex i to vertex j by at most their distance times its steepest slope in these
 * tets. The field: the way from i along edges of the cage, which is long where tets overlap. */
static int slopes_bound_the_change(const embi_state *t, const embi_body *b, const int *tet, int tets, int i, int j)
{
    const double *q = t->q + 3 * b->node0;
    double *way = (double *)malloc((size_t)b->nn * sizeof *way), steepest = 0, at[2] = {0, 0}, d[3];
    int from = tet_of(t, b, i);
    for (int n = 0; n < b->nn; n++) way[n] = 1e300;
    for (int k = 0; k < 4; k++) way[b->tet[4 * from + k]] = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (int k = 0; k < 16 * b->ntet; k++) {
            int m = b->tet[k / 4], n = b->tet[k / 16 * 4 + k % 4];
            embi_sub(d, q + 3 * m, q + 3 * n);
            if (!(way[m] + embi_norm(d) < way[n] - 1e-12)) continue;
            way[n] = way[m] + embi_norm(d);
            moved = 1;
        }
    }
    for (int k = 0; k < tets; k++) {
        double X[12], grad[12], slope[3] = {0, 0, 0};
        embi_tet_gather(X, q, b->tet + 4 * tet[k]);
        (void)embi_tet_gradients(X, grad);
        for (int c = 0; c < 4; c++) embi_axpy(slope, way[b->tet[4 * tet[k] + c]], grad + 3 * c);
        steepest = fmax(steepest, embi_norm(slope));
    }
    for (int side = 0; side < 2; side++)
        for (int c = 0, v = b->vert0 + (side ? j : i); c < t->J.count[v]; c++)
            at[side] += t->J.weight[4 * v + c] * way[t->J.node[4 * v + c] - b->node0];
    embi_sub(d, t->x + 3 * (b->vert0 + i), t->x + 3 * (b->vert0 + j));
    free(way);
    return fabs(at[1] - at[0]) <= steepest * embi_norm(d) * (1 + 1e-6) + 1e-9;
}

/* Lines between points below a fold stay in the tets it names, and its primitives are as far apart and as little bent
 * as it says. Returns the folds that name some. */
static int fold_tells_the_truth(const embi_state *t, const embi_body *b, const embi_certificate *one)
{
    const int *tet = b->search.certificates.tet + one->first;
    for (int n = 0; n < 20 && one->tets; n++) {
        int i = below(&b->bvh, b->nt, one->i), j = below(&b->bvh, b->nt, one->j);
        int corner = (int)test_uniform(0, 3), common = 0, v[4], mask;
        double p[3] = {0, 0, 0}, q[3] = {0, 0, 0}, u[3], s[3], w[4], apart;
        embi_point x[4];
        if (i < 0 || j < 0) continue;
        if (b->kind == EMBIPC_CAGE)
            ENSURE(slopes_bound_the_change(t, b, tet, one->tets, b->tri[3 * i], b->tri[3 * j]));
        for (int k = 0; k < 3; k++) {
            u[k] = test_uniform(0, 1);
            s[k] = test_uniform(0, 1);
        }
        for (int k = 0; k < 3; k++) {
            embi_axpy(p, u[k] / (u[0] + u[1] + u[2]), t->x + 3 * b->tri[3 * i + k]);
            embi_axpy(q, s[k] / (s[0] + s[1] + s[2]), t->x + 3 * b->tri[3 * j + k]);
        }
        for (int k = 0; k <= 20; k++) {
            double r[3];
            for (int c = 0; c < 3; c++) r[c] = p[c] + k / 20.0 * (q[c] - p[c]);
            ENSURE(in_tets(t, b, tet, one->tets, r));
        }
        v[0] = b->tri[3 * i + corner]; v[1] = b->tri[3 * j]; v[2] = b->tri[3 * j + 1]; v[3] = b->tri[3 * j + 2];
        for (int k = 1; k < 4; k++) common |= v[0] == v[k];
        if (common || !(b->bvh.own[i] & (1 << corner))) continue;
        embi_points_at(x, t->x, v);
        apart = embi_closest_distance(x, 0, w, &mask);
        ENSURE(apart >= one->least * (1 - 1e-9));
        if (b->kind == EMBIPC_CAGE && !(one_tet(t, v[1], v[2]) && one_tet(t, v[1], v[3]))) {
            double bend = 0, r[3];
            for (int k = 0; k < 3; k++) {
                embi_sub(r, x[1 + k], q);
                bend += s[k] / (s[0] + s[1] + s[2]) * embi_norm(r);
            }
            embi_sub(r, x[0], q);
            ENSURE(bend <= one->rho * embi_norm(r) * (1 + 1e-9));
        }
    }
    if (one->tets) {   /* what it stands: pressed along z to 0.8, and one tet more */
        double *F = (double *)malloc((size_t)(9 * b->ntet) * sizeof *F), more = one->tets > 1 ? 0.1 : 0;
        double far = more * (one->tets - 1) / one->tets, least = 0.8 - more / one->tets;
        for (int k = 0; k < 9 * b->ntet; k++) F[k] = k % 9 == 8 ? 0.8 : k % 9 % 4 == 0;
        F[9 * tet[0] + 8] -= more;
        for (int all = 0; all < 2; all++) {
            double reach = all ? HUGE_VAL : 0.3 * one->least, margin = (least - (all ? 0.5 : 0.3)) / (1 + one->rho) - far;
            ENSURE(fabs(embi_certificate_margin(&b->search.certificates, one, F, 0.5, reach, -HUGE_VAL) - margin) <
                   1e-5);
            ENSURE(fabs(embi_certificate_margin(&b->search.certificates, one, F, 0.5, reach, margin - 1e-5) - margin) <
                   1e-5);
            ENSURE(embi_certificate_margin(&b->search.certificates, one, F, 0.5, reach, margin + 1e-5) < -1);
        }
        free(F);
    }
    return one->tets > 0;
}

/* What folds stand, told again: each that is left out bounds all its tets, and none of them is about to take more. */
static void folds_stand(const embi_state *st, const embi_body *b, double share, double reach)
{
    double *F = (double *)malloc((size_t)(9 * b->ntet) * sizeof *F);
    for (int t = 0; t < embi_strained_tets(b); t++) embi_body_tet_F(b, t, st->qn + 3 * b->node0, F + 9 * t);
    for (int n = 0, start = 0; n < b->search.certificates.count;) {
        const embi_certificate *one = b->search.certificates.list + n;
        int walked = start < b->search.start_count && b->search.start[2 * start] == one->i &&
            b->search.start[2 * start + 1] == one->j;
        double margin = embi_certificate_margin(&b->search.certificates, one, F, share, reach, 0), asked = 0;
        for (int k = 0; k < one->tets; k++)
            asked = fmax(asked, EMBI_STRAIN_TIMES * b->search.strain[b->search.certificates.tet[one->first + k]].next +
                         EMBI_CERTIFICATE_SLACK);
        if (margin > asked && !walked) {
            for (int k = 0; k < one->tets; k++) ENSURE(b->search.strain[b->search.certificates.tet[one->first +
                                                                                                   k]].limit <= margin);
            n = one->next;
        } else {
            ENSURE(walked == (one->next == n + 1));
            start += walked;
            n++;
        }
    }
    free(F);
}

/* A body, pressed, bent and turned, is searched for itself; then it is strained and turned further, by no more than the
 * list is said to stand: nothing that touches on the way is missing from it. */
static void folds_of(test_mesh mesh, embipc_kind kind, double dhat, int nodes, int fields)
{
    embipc_body_def d = scene_def("folds", kind, 0, 0, 0);
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embi_candidate *list = NULL;
    embi_key *keys = NULL;
    int near = 0, lost = 0, straight = 0, all = 0, walked = 0, loose = 0, ends = 0;
    embi_pair_rule rule = {0};
    embi_state *st;
    embi_body *b;
    double *x;
    d.cage_nodes = nodes;
    d.dhat = dhat;
    if (scene_add_mesh(&s, &d, &mesh, 0) < 0) return;
    st = &s.w->s;
    b = st->body;
    rule.dhat = dhat;
    if (kind == EMBIPC_FULL) {   /* too many tets to be worth it, but as true */
        embi_surface rest = embi_surface_of(st, b, st->x);
        ENSURE(b->search.certificates.count == 0);
        embi_bvh_refit(&b->bvh, rest.x, b->tri, b->nt);
        ENSURE(embi_certificates_build(&s.w->memory, &b->search.certificates, &rest, b->nv, st->q + 3 * b->node0,
                                       b->nn, b->tet, b->ntet, NULL));
        ENSURE(EMBI_GROW(&s.w->memory, b->search.strain, b->ntet));
    }
    ENSURE(b->search.certificates.count > 0);
    for (int n = 0; n < b->search.certificates.count; n++) straight +=
        fold_tells_the_truth(st, b, b->search.certificates.list + n);
    x = (double *)malloc((size_t)(3 * b->nv) * sizeof *x);
    for (int n = 0; n < fields; n++) {
        double flat = test_uniform(0.3, 1), bend = (n % 3 ? test_uniform(0, 4) : 1e-6) / b->diagonal,
               strain = pow(10, test_uniform(-3, n % 2 ? -1 : -0.3)), scale = 1;
        int count = 0, key_count = 0;
        embi_surface a;
        embi_approach t;
        embi_cached k;
        memset(&k, 0, sizeof k);
        k.reach = dhat / EMBI_TURN_COS;
        for (int i = b->node0; i < b->node0 + b->nn; i++) {   /* pressed along z, bent along x */
            const double *q = st->q + 3 * i;
            double angle = bend * q[0], r = 1 / bend + flat * q[2];
            embi_set(st->trial_q + 3 * i, r * sin(angle), q[1], r * cos(angle));
        }
        if (n % 3 == 1)   /* one node alone pushed in */
            st->trial_q[3 * (b->node0 + (int)test_uniform(0, b->nn)) + n % 2] += test_uniform(-0.3, 0.3) * b->diagonal;
        turn_nodes(b, st->trial_q, n % 3 ? test_uniform(0, 3) : 0, n % 3 == 2 ? 0.002 * b->diagonal : 0, st->qn);
        for (int m = 0; m < b->ntet; m++) b->search.strain[m].next = n % 2 ? strain : strain *
            pow(test_uniform(0, 1), 4);
        ENSURE(embi_body_starts(&s.w->memory, st, b, &k));
        ENSURE(embi_body_list_is_complete(b, EMBI_STRAIN_TIMES));
        folds_stand(st, b, 0.5 / EMBI_TURN_COS, k.reach);
        all += b->search.certificates.count;
        walked += b->search.start_count;
        loose += k.loose;
        /* somewhere else, strained by so much, and turned */
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++)   /* or pressed further */
            st->trial_q[i] = st->qn[i] - (n % 3 == 0 && i % 3 == 2 ? flat / 2 * st->q[i] : 0);
        turn_nodes(b, st->trial_q, test_uniform(0, 0.5), n % 3 == 0 ? 0 : 0.01 * b->diagonal, st->driven.target);
        {
            double part[TREE_SHIFT_ROOM], *w = st->scratch.nodes + 3 * b->node0;
            embi_shift here = tree_shift(b, part);
            (void)embi_body_shift(b, st->qn, st->driven.target, st->scratch.nodes, NULL, &here);
            for (int m = 0; m < b->ntet; m++)   /* turn (q^n + scale w): w shrinks, the turn stays */
                scale = fmin(scale, b->search.strain[m].limit / tree_strain(b, m, w));
            for (int i = b->node0; i < b->node0 + b->nn; i++) {
                double r[3];
                for (int c = 0; c < 3; c++)
                    r[c] = st->qn[3 * i + c] - st->qn[3 * b->node0 + c] + scale * st->scratch.nodes[3 * i + c];
                embi_m3_mulv(st->trial_q + 3 * i, here.turn, r);
            }
            (void)embi_body_shift(b, st->qn, st->trial_q, st->scratch.nodes, NULL, &here);
            for (int m = 0; m < b->ntet; m++) ENSURE(tree_strain(b, m, w) <= b->search.strain[m].limit * (1 + 1e-6) +
                                                     1e-9);
            for (int c = 0; c < 3; c++) k.range[c] = -(k.range[3 + c] = here.deformation[c]);
        }
        embi_apply_rows(st, b, st->qn, st->xn);
        a = tree_own_surface(st, b);
        t = embi_approach_of(k.range, k.reach);
        t.own = 1;
        embi_bvh_refit(&b->bvh, a.x, b->tri, b->nt);
        ENSURE(embi_bvh_pairs(&s.w->memory, &a, &a, k.range, k.reach, &keys, &key_count));
        ENSURE(embi_candidates(&s.w->memory, &a, &a, keys, key_count, &rule, &t, &list, &count));
        embi_apply_rows(st, b, st->trial_q, x);
        lost += count_missed(b, &a, x, list, count, &rule, &near);
        ends++;
    }
    printf("  %d triangles, %d tets: %d folds, %d straight; in %d states %.3f of them are walked (%d times none): %d pairs "
           "came near, %d of them not found\n", b->nt, b->ntet, b->search.certificates.count, straight, ends,
           all ? (double)walked / all : 0, loose, near, lost);
    ENSURE(straight > 0 && near > 0 && lost == 0 && walked < all);
    free(x);
    EMBI_RELEASE(&s.w->memory, list);
    EMBI_RELEASE(&s.w->memory, keys);
    scene_end(&s);
}

static int in_hook(int i, int j, int k)
{
    return j >= 0 && j < 3 && k >= 0 && k < 8 && i >= 0 && i < 9 && (k < 3 || i < 3 || i >= 6);
}

static void test_folds_are_searched_where_they_may_close(void)
{
    test_mesh ball = test_mesh_sphere(3), rough = test_mesh_sphere(3), hook = cage_shape_of_cells(9, 3, 8, 0.02, in_hook), comb = cage_comb(), bar = scene_mesh_tet_box(8, 2, 2, 0.2, 0.05, 0.05);
    scene_stretch(&ball, 0.1, 0.1, 0.1);
    scene_stretch(&rough, 0.1, 0.1, 0.1);
    for (int i = 0; i < 3 * rough.vertex_count; i++) rough.x[i] += 0.006 * test_uniform(-1, 1);   /* slivers */
    test_mesh_compact(&hook);
    test_mesh_compact(&comb);
    folds_of(ball, EMBIPC_CAGE, 0.02, 64, 12 / TEST_STRIDE);
    folds_of(rough, EMBIPC_CAGE, 0.02, 20, 12 / TEST_STRIDE);
    folds_of(hook, EMBIPC_CAGE, 0.01, 30, 12 / TEST_STRIDE);
    folds_of(comb, EMBIPC_CAGE, 0.006, 20, 2);   /* teeth share boxes: tets overlap */
    folds_of(bar, EMBIPC_FULL, 0.02, 0, 12 / TEST_STRIDE);
}

static int certificates_equal(const embi_certificates *a, const embi_certificates *b)
{
    int equal = a->count == b->count;
    for (int n = 0; n < a->count && equal; n++) {
        const embi_certificate *one = a->list + n, *two = b->list + n;
        equal = one->i == two->i && one->j == two->j && one->next == two->next && one->first == two->first &&
            one->tets == two->tets && one->least == two->least && one->rho == two->rho;
    }
    return equal && a->tet_count == b->tet_count && !memcmp(a->tet, b->tet, (size_t)a->tet_count * sizeof *a->tet);
}

/* A body takes the certificates of an older one of the same mesh, wherever it stands and however it is turned. They tell
 * the truth of it. It gets its own where its size, a vertex or the cage differs. So it does far off, where coordinates
 * round. */
static void test_bodies_of_one_mesh_share_certificates(void)
{
    static const char *const names[] = {"moved", "turned", "turned and far", "larger", "dented", "finer cage", "too far"};
    static const double away[] = {0.3, 0.5, 100, 0.5, 0.5, 0.5, 1e7}, turn[3] = {0.3, -0.7, 1.1};
    for (int k = 0; k < 7; k++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s = scene_empty(&wd);
        const embi_certificates *own;
        embi_body *b;
        int equal, straight = 0;
        for (int second = 0; second < 2; second++) {
            test_mesh ball = test_mesh_sphere(3);
            embipc_body_def d = scene_def(second ? names[k] : "first", EMBIPC_CAGE, second ? away[k] : 0, 0.1, 0.2);
            scene_stretch(&ball, 0.1, 0.08, 0.12);
            if (second && k == 4) ball.x[300] *= 1 - 1e-6;
            d.scale = second && k == 3 ? 1 + 1e-6 : 1;
            d.cage_nodes = second && k == 5 ? 60 : 30;
            if (second && (k == 1 || k == 2)) embi_m3_rotation(d.rotation, turn);
            if (scene_add_mesh(&s, &d, &ball, 0) < 0) return;
        }
        own = &s.w->s.body[1].search.certificates;
        equal = certificates_equal(own, &s.w->s.body->search.certificates);
        printf("  %s: %d certificates, %s\n", names[k], own->count, equal ? "of the first" : "its own");
        ENSURE(own->count > 0 && equal == (k < 3));
        ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[0]));
        b = s.w->s.body;
        for (int n = 0; n < b->search.certificates.count && k < 2; n++)
            straight += fold_tells_the_truth(&s.w->s, b, b->search.certificates.list + n);
        ENSURE(straight > 0 || k > 1);
        scene_end(&s);
    }
}

/* A soft body that took the certificates of one that is gone, and the same body from a snapshot, which finds its own: they
 * have the same bits while they are thrown at the ground. */
static void test_no_bits_depend_on_shared_certificates(void)
{
    static const double turn[3] = {0.3, -0.7, 1.1};
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_world *other;
    int touches = 0;
    scene_ground(&s, 3, 0.5);
    for (int k = 0; k < 2; k++) {
        test_mesh ball = test_mesh_sphere(3);
        embipc_body_def d = scene_def("ball", EMBIPC_CAGE, 0.5 * k, 0, 0.15);
        scene_stretch(&ball, 0.1, 0.05, 0.12);
        d.cage_nodes = 60;
        d.material.young = 3e3;
        d.friction = 0.5;
        d.velocity[2] = -6;
        if (k) embi_m3_rotation(d.rotation, turn);
        if (scene_add_mesh(&s, &d, &ball, 0) < 0) return;
    }
    ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[1]));
    for (int n = 0; n < 3; n++) ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
    other = scene_reload(s.w);
    ENSURE(!certificates_equal(&s.w->s.body[1].search.certificates, &other->s.body[1].search.certificates));
    for (int n = 0; n < 40; n++) {
        embipc_step_stats stats;
        ENSURE_OK(s.w, embipc_world_step(s.w, &stats));
        ENSURE_OK(other, embipc_world_step(other, NULL));
        ENSURE(embipc_world_hash(s.w) == embipc_world_hash(other));
        touches = embi_max_int(touches, stats.contacts);
    }
    printf("  %d and %d certificates, at most %d contacts\n", s.w->s.body[1].search.certificates.count,
           other->s.body[1].search.certificates.count, touches);
    ENSURE(touches > 10);
    embipc_world_destroy(other);
    scene_end(&s);
}

/* ---- trees that are refit where asked ---- */

/* every box that a node was given holds what is below it */
static int tree_holds(const embi_state *st, const embi_body *b)
{
    int placed = 0;
    for (int k = 1; k < 2 * b->bvh.leaves; k++) {
        int from = k, to = k + 1;
        if (!b->bvh.known[k]) continue;
        placed++;
        for (; from < b->bvh.leaves; from *= 2) to *= 2;
        for (int n = EMBI_LEAF * (from - b->bvh.leaves); n < EMBI_LEAF * (to - b->bvh.leaves) && n < b->nt; n++)
            for (int c = 0; c < 3; c++)
                ENSURE(holds(b->bvh.box + 6 * k, st->xn + 3 * (b->vert0 + b->tri[3 * b->bvh.order[n] + c]), 0));
    }
    return placed;
}

/* Walks through two bodies, or one, after their trees were refit where asked, and after they were as a whole, find the
 * same pairs in the same order. Returns how many; *asked: the share of the leaves that was refit. */
static int trees_agree(scene *s, int ia, int ib, const double range[6], double reach, double *asked)
{
    embi_state *st = &s->w->s;
    embi_body *body[2] = {st->body + ia, st->body + ib};
    embi_surface a = embi_surface_of(st, body[0], st->xn), b = embi_surface_of(st, body[1], st->xn);
    embi_key *keys[2] = {NULL, NULL};
    int count[2] = {0, 0}, leaves = 0;
    embi_chunks list = {0};
    embi_fitting f;
    f.walk = embi_traverse_of(&a, &b, range, reach);
    for (int side = 0; side < 2; side++) {
        ENSURE(body[side]->bvh.known != NULL);
        tree_clear(body[side]);
        if (side == 0 || ia != ib) embi_body_unfit(st, body[side]);
        f.tree[side] = &body[side]->bvh;
        f.moved[side] = &body[side]->search.moved;
        f.item[side] = side;
    }
    ENSURE(embi_fitting_walk(&s->w->memory, &f, 1, 1, &list));
    ENSURE(tree_holds(st, body[0]) > 0 && tree_holds(st, body[1]) > 0);
    for (int n = 0; n < list.count; n++) {
        embi_chunk *one = list.list + n;
        embi_body *k = body[one->item];
        embi_bvh_fit(&k->bvh, st->xn + 3 * k->vert0, k->tri, k->nt, k->bvh.box, k->bvh.tri_box, one->begin, one->end);
        leaves += one->end - one->begin;
    }
    ENSURE(embi_bvh_pairs(&s->w->memory, &a, &b, range, reach, &keys[0], &count[0]));
    for (int side = 0; side < 2; side++)
        embi_bvh_refit(&body[side]->bvh, st->xn + 3 * body[side]->vert0, body[side]->tri, body[side]->nt);
    ENSURE(embi_bvh_pairs(&s->w->memory, &a, &b, range, reach, &keys[1], &count[1]));
    ENSURE(count[0] == count[1]);
    for (int n = 0; n < count[0] && count[0] == count[1]; n++)
        ENSURE(keys[0][n].key == keys[1][n].key && keys[0][n].value == keys[1][n].value);
    *asked = (double)leaves / (body[0]->bvh.leaves + (ia != ib ? body[1]->bvh.leaves : 0));
    for (int k = 0; k < 2; k++) EMBI_RELEASE(&s->w->memory, keys[k]);
    EMBI_RELEASE(&s->w->memory, list.list);
    return count[0];
}

/* a ball of radius 1 made of a cube's tets */
static test_mesh tet_ball(int cells)
{
    test_mesh m = scene_mesh_tet_box(cells, cells, cells, 2, 2, 2);
    for (double *p = m.x; p < m.x + 3 * m.vertex_count; p += 3) {
        double length = embi_norm(p);
        if (length > 0) embi_scale(p, fmax(fabs(p[0]), fmax(fabs(p[1]), fabs(p[2]))) / length, p);
    }
    return m;
}

static void test_trees_are_refit_where_asked(void)
{
    static const embipc_kind kinds[] = {EMBIPC_KINEMATIC, EMBIPC_AFFINE, EMBIPC_CAGE, EMBIPC_FULL};
    static const char *const names[] = {"kinematic", "affine", "cage", "full"};
    for (int which = 0; which < 4; which++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s = scene_empty(&wd);
        embi_state *st = &s.w->s;
        int pairs = 0, own = 0;
        double most = 0, sum = 0;
        for (int k = 0; k < 2; k++) {
            embipc_body_def d = scene_def(k ? "two" : "one", kinds[which], 30 - 60 * k, 20, 0);
            test_mesh ball = kinds[which] == EMBIPC_FULL ? tet_ball(k ? 10 : 20) : test_mesh_sphere(k ? 4 : 5);
            if (kinds[which] == EMBIPC_CAGE) d.cage_nodes = 40;
            ENSURE(scene_add_mesh(&s, &d, &ball, 0) >= 0);
        }
        for (int n = 0; n < 60 / TEST_STRIDE; n++) {
            double angle = n % 3 ? test_uniform(-3, 3) : 0, wide = pow(10, test_uniform(-6, -1.5)), range[6], asked,
                   to[3], way[3];
            for (int i = 0; i < 3; i++) way[i] = test_uniform(-1, 1);
            embi_scale(way, st->body[0].diagonal / sqrt(3.0) * test_uniform(0.97, 1.05) / embi_norm(way), way);
            for (int k = 0; k < 2; k++) {   /* the ball somewhere, and so far beside the other */
                const embi_body *b = st->body + k;
                turn_nodes(b, st->creation.q, angle, wide * b->diagonal, st->qn);
                embi_set(to, k ? way[0] : 0, k ? way[1] : 0, k ? way[2] : 0);
                embi_apply_rows(st, b, st->qn, st->xn);
                for (int i = 0; i < b->nv; i++)
                    for (int c = 0; c < 3; c++) to[c] -= st->xn[3 * (b->vert0 + i) + c] / b->nv;
                for (int i = b->node0; i < b->node0 + b->nn; i++) embi_add(st->qn + 3 * i, st->qn + 3 * i, to);
                embi_apply_rows(st, b, st->qn, st->xn);
            }
            for (int i = 0; i < 3; i++) {
                range[i] = 0.02 * test_uniform(-1, 0);
                range[3 + i] = 0.02 * test_uniform(0, 1);
            }
            pairs += trees_agree(&s, 0, 1, range, 0.001, &asked);
            most = fmax(most, asked);
            sum += asked;
            for (int i = 0; i < 3; i++) range[i] = -range[3 + i];
            if (kinds[which] >= EMBIPC_CAGE && n < 10) own += trees_agree(&s, 0, 0, range, 0.001, &asked);
        }
        printf("  %s: %d pairs of triangles of two bodies and %d of one, with %.0f %% of their trees refit, at most %.0f %%\n",
               names[which], pairs, own, 100 * sum / (60 / TEST_STRIDE), 100 * most);
        ENSURE(pairs > 100 && (own > 100 || kinds[which] < EMBIPC_CAGE) && sum < 0.3 * (60 / TEST_STRIDE));
        scene_end(&s);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(bounds_hold_the_surface);
    RUN(flat_faces_stay_flat);
    RUN(own_candidates_are_complete);
    RUN(warp_bounds_the_way);
    RUN(folds_are_searched_where_they_may_close);
    RUN(certificates_of_fine_surfaces_are_small);
    RUN(bodies_of_one_mesh_share_certificates);
    RUN(no_bits_depend_on_shared_certificates);
    RUN(a_body_knows_its_way);
    RUN(the_expected_end);
    RUN(a_tumbling_body_finds_itself);
    RUN(a_path_has_slack);
    RUN(a_twisted_mat_is_searched_along_paths);
    RUN(trees_are_refit_where_asked);
    test_unused();
    cage_test_unused();
    return test_end("test_reach");
}
