/* Seams of fixed bodies: tiles that are flush count as one surface. Voxels put together at random, some a little apart:
 * the sum of what a point meets, against the distance of all of them; and that what makes no pairs is not missed. */
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "geometry_test.h"

/* ---- what a point meets, written out ---- */

static double seam_b(double d, double dhat) { return embipc_barrier(d, dhat, NULL, NULL); }

/* of all fixed bodies: triangles, less edges of two, plus vertices without a border, and the seams; *least: the
 * distance */
static double seam_sum(const embipc_world *w, const double p[3], double dhat, double *least)
{
    double sum = 0, q[4];
    *least = HUGE_VAL;
    for (int i = 0; i < w->s.body_count; i++) {
        const embi_body *b = w->s.body + i;
        if (b->kind != EMBIPC_FIXED) continue;
        for (int t = 0; t < b->nt; t++) {
            const double edge[2] = {0, 1}, vertex[2] = {0, 0};
            embi_closest part;
            embi_point x[4];
            double d;
            int mask;
            x[0] = p;
            for (int k = 0; k < 3; k++) x[k + 1] = w->s.x + 3 * (b->vert0 + b->tri[3 * t + k]);
            d = embi_point_triangle(x, q, &mask);
            *least = fmin(*least, d);
            if (d >= dhat) continue;
            sum += seam_b(d, dhat);
            for (int k = 0; k < 3; k++) {
                int u = b->vert0 + b->tri[3 * t + k], v = b->vert0 + b->tri[3 * t + (k + 1) % 3], from = k + 1, to = (k + 1) % 3 + 1;
                embi_u64 key = embi_pack(u < v ? u : v, u < v ? v : u);
                embi_closest_on_edge(x, from, to, edge, &part);
                if (embi_owned(b->bvh.own[t], EMBI_OWN_BACK) >> k & 1) sum -= seam_b(part.d, dhat);
                embi_closest_on_edge(x, from, to, vertex, &part);
                if (embi_owned(b->bvh.own[t], EMBI_OWN_ADD) >> k & 1) sum += seam_b(part.d, dhat);
                for (int n = 0; n < w->s.seams.count && (embi_owned(b->bvh.own[t], EMBI_OWN_SEAM) >> k & 1); n++) {
                    if (w->s.seams.list[n].key != key) continue;
                    embi_closest_on_edge(x, u < v ? from : to, u < v ? to : from, w->s.seams.list[n].t, &part);
                    sum += w->s.seams.list[n].multiplicity * seam_b(part.d, dhat);
                }
            }
        }
    }
    return sum;
}

/* ---- random walls of boxes ---- */

#define SEAM_N 3

typedef struct voxels {
    scene s;
    int there[SEAM_N][SEAM_N][SEAM_N];
    double cut[3][SEAM_N + 1], R[9], t[3];
} voxels;

static void voxel_point(const voxels *v, const double p[3], double q[3])
{
    embi_m3_mulv(q, v->R, p);
    embi_add(q, q, v->t);
}

/* boxes between the cuts, some of them there, in random order, some as two along one axis; gap: some are smaller by
 * that */
static voxels voxels_make(double share, int turned, double gap)
{
    voxels v;
    embipc_world_def wd;
    int order[SEAM_N * SEAM_N * SEAM_N];
    memset(&v, 0, sizeof v);
    wd = embipc_default_world_def();
    v.s = scene_empty(&wd);
    embi_m3_identity(v.R);
    if (turned) geometry_rotation(v.R);
    for (int c = 0; c < 3; c++) {
        v.t[c] = turned ? test_uniform(-1, 1) : 0;
        for (int k = 0; k <= SEAM_N; k++) v.cut[c][k] = k + (turned ? test_uniform(-0.2, 0.2) : 0);
    }
    for (int n = 0; n < SEAM_N * SEAM_N * SEAM_N; n++) {
        int k = (int)test_uniform(0, n + 1);
        order[n] = order[k];
        order[k] = n;
    }
    for (int n = 0; n < SEAM_N * SEAM_N * SEAM_N && v.s.n < SCENE_BODIES - 1; n++) {
        int i = order[n] % SEAM_N, j = order[n] / SEAM_N % SEAM_N, k = order[n] / SEAM_N / SEAM_N, axis = (int)test_uniform(0, 3), parts = v.s.n < SCENE_BODIES - 2 && test_random() < 0.3 ? 2 : 1;
        double lo[3], hi[3], away = gap > 0 && test_random() < 0.3 ? gap : 0;
        if (test_random() > share) continue;
        v.there[i][j][k] = 1 + (away > 0);
        embi_set(lo, v.cut[0][i] + away, v.cut[1][j] + away, v.cut[2][k] + away);
        embi_set(hi, v.cut[0][i + 1] - away, v.cut[1][j + 1] - away, v.cut[2][k + 1] - away);
        for (int part = 0; part < parts; part++) {
            embipc_body_def d = scene_def("box", EMBIPC_FIXED, v.t[0], v.t[1], v.t[2]);
            double a[3], b[3], mid = lo[axis] + 0.4 * (hi[axis] - lo[axis]);
            test_mesh m;
            embi_copy(a, lo);
            embi_copy(b, hi);
            if (parts == 2 && part) a[axis] = mid;
            else if (parts == 2) b[axis] = mid;
            m = test_mesh_box(a[0], a[1], a[2], b[0], b[1], b[2]);
            memcpy(d.rotation, v.R, sizeof d.rotation);
            scene_add_mesh(&v.s, &d, &m, 0);
        }
    }
    ENSURE(embi_seams_update(v.s.w));
    return v;
}

static int voxel_is_solid(const voxels *v, int i, int j, int k)
{
    return i >= 0 && j >= 0 && k >= 0 && i < SEAM_N && j < SEAM_N && k < SEAM_N && v->there[i][j][k];
}

/* is p, in the frame of the cuts, inside or on a box? */
static int voxel_inside(const voxels *v, const double p[3], double grow)
{
    for (int n = 0; n < SEAM_N * SEAM_N * SEAM_N; n++) {
        int at[3] = {n % SEAM_N, n / SEAM_N % SEAM_N, n / SEAM_N / SEAM_N}, in = v->there[at[0]][at[1]][at[2]] != 0;
        for (int c = 0; c < 3; c++) in &= p[c] > v->cut[c][at[c]] - grow && p[c] < v->cut[c][at[c] + 1] + grow;
        if (in) return 1;
    }
    return 0;
}

/* Wherever a point comes near the boxes from outside, the sum is at least half of the barrier of the nearest of them.
 * */
static void test_barrier_everywhere(void)
{
    double worst = HUGE_VAL;
    int seams = 0, near = 0;
    for (int r = 0; r < 60; r++) {
        voxels v = voxels_make(test_uniform(0.3, 0.9), r % 2, r % 5 == 4 ? 1e-3 : 0);
        seams += v.s.w->s.seams.count;
        for (int n = 0; n < 400; n++) {
            double p[3], q[3], d, sum;
            int far = 3 + n % 6;
            for (int c = 0; c < 3; c++) {   /* near corners, edges and faces of the cuts */
                p[c] = v.cut[c][(int)test_uniform(0, SEAM_N + 1)];
                if (n % 3 > c) p[c] += test_uniform(0, 1);
                p[c] += pow(10, -far) * test_uniform(-1, 1);
            }
            if (voxel_inside(&v, p, 1e-14)) continue;
            voxel_point(&v, p, q);
            sum = seam_sum(v.s.w, q, 0.3, &d);
            if (d < 1e-13 || d > 1e-3) continue;
            near++;
            worst = fmin(worst, sum / seam_b(d, 0.3));
        }
        scene_end(&v.s);
    }
    printf("  %d points near boxes with %d seams: the sum is at least %.3f of the barrier of the nearest\n", near, seams, worst);
    ENSURE(worst > 0.5 && seams > 500 && near > 3000);
}

/* Above flat parts, whatever boxes they are of, it is that of one plane; also right above seams and their ends. */
static void test_flat_parts_count_once(void)
{
    int tried = 0, on = 0;
    for (int r = 0; r < 60; r++) {
        voxels v = voxels_make(0.9, r % 2, 0);
        for (int n = 0; n < 300; n++) {
            int i = (int)test_uniform(0, SEAM_N), j = (int)test_uniform(0, SEAM_N), k = (int)test_uniform(0, SEAM_N), flat = 1, first = 0;
            double p[3], q[3], d, dhat = 0.1, h = pow(10, test_uniform(-6, -1.05));
            p[0] = n % 2 ? test_uniform(v.cut[0][i], v.cut[0][i + 1]) : v.cut[0][i];
            p[1] = n % 3 ? test_uniform(v.cut[1][j], v.cut[1][j + 1]) : v.cut[1][j];
            p[2] = v.cut[2][k + 1] + h;
            for (int a = 0; a <= SEAM_N; a++)
                for (int b = 0; b < SEAM_N; b++)   /* all boxes within dhat: the same below, nothing above */
                    if (a < SEAM_N && p[0] > v.cut[0][a] - dhat && p[0] < v.cut[0][a + 1] + dhat && p[1] > v.cut[1][b] - dhat && p[1] < v.cut[1][b + 1] + dhat)
                        flat &= voxel_is_solid(&v, a, b, k) && !voxel_is_solid(&v, a, b, k + 1), first++;
            flat &= p[0] > v.cut[0][0] + dhat && p[0] < v.cut[0][SEAM_N] - dhat && p[1] > v.cut[1][0] + dhat && p[1] < v.cut[1][SEAM_N] - dhat;
            if (!flat) continue;
            tried++;
            on += first > 1;
            voxel_point(&v, p, q);
            ENSURE_REL(seam_sum(v.s.w, q, dhat, &d), seam_b(h, dhat), 1e-6);
        }
        scene_end(&v.s);
    }
    printf("  %d points above flat parts, %d of them of several boxes\n", tried, on);
    ENSURE(tried > 1000 && on > 300);
}

/* Of all pairs of primitives of a box beside the others those that are left tell the distance. */
static void test_nothing_near_is_missed(void)
{
    int tried = 0, spared = 0;
    for (int r = 0; r < 300; r++) {
        voxels v = voxels_make(0.8, r % 2, 0);
        embipc_body_def d = scene_def("other", EMBIPC_AFFINE, 0, 0, 0);
        test_mesh m = test_mesh_box(-test_uniform(0.1, 1), -test_uniform(0.1, 1), -test_uniform(0.1, 1), test_uniform(0.1, 1), test_uniform(0.1, 1), test_uniform(0.1, 1));
        double all = HUGE_VAL, left = HUGE_VAL, p[3], q[3], w[4];
        const embi_body *P;
        embipc_body body;
        int mask;
        for (int c = 0; c < 3; c++) p[c] = r % 3 == c ? (test_random() < 0.5 ? -1.2 : SEAM_N + 1.2) : test_uniform(0, SEAM_N);
        voxel_point(&v, p, q);
        embi_copy(d.position, q);
        if (r % 4) geometry_rotation(d.rotation);
        else memcpy(d.rotation, v.R, sizeof v.R);
        test_mesh_shape(&m, &d);
        if (embipc_body_create(v.s.w, &d, &body) != EMBIPC_OK) {   /* it crosses one of them */
            test_mesh_free(&m);
            scene_end(&v.s);
            continue;
        }
        test_mesh_free(&m);
        tried++;
        P = v.s.w->s.body + v.s.w->s.body_count - 1;
        for (int i = 0; i < v.s.w->s.body_count - 1; i++) {
            const embi_body *B = v.s.w->s.body + i;
            for (int t = 0; t < B->nt; t++)
                for (int u = 0; u < P->nt; u++)
                    for (int n = 0; n < 15; n++) {
                        const int *T = B->tri + 3 * t, *U = P->tri + 3 * u;
                        int k = n < 9 ? n / 3 : n % 3, l = n % 3, kept, x[4];
                        embi_point at[4];
                        double far;
                        if (n < 9) {
                            x[0] = B->vert0 + T[k]; x[1] = B->vert0 + T[(k + 1) % 3]; x[2] = P->vert0 + U[l]; x[3] = P->vert0 + U[(l + 1) % 3];
                            kept = (embi_owned(B->bvh.own[t], EMBI_OWN_JOINED_EDGE_PAIRS) >> k & 1) && (embi_owned(P->bvh.own[u], EMBI_OWN_EDGE_PAIRS) >> l & 1);
                        } else if (n < 12) {
                            x[0] = B->vert0 + T[k];
                            for (int c = 0; c < 3; c++) x[c + 1] = P->vert0 + U[c];
                            kept = embi_owned(B->bvh.own[t], EMBI_OWN_JOINED_POINT_PAIRS) >> k & 1;
                        } else {
                            x[0] = P->vert0 + U[k];
                            for (int c = 0; c < 3; c++) x[c + 1] = B->vert0 + T[c];
                            kept = embi_owned(P->bvh.own[u], EMBI_OWN_POINT_PAIRS) >> k & 1;
                        }
                        embi_points_at(at, v.s.w->s.x, x);
                        far = embi_closest_distance(at, n < 9, w, &mask);
                        all = fmin(all, far);
                        if (kept) left = fmin(left, far);
                        spared += !kept;
                    }
        }
        ENSURE_CLOSE(left, all, 1e-13);
        scene_end(&v.s);
    }
    printf("  %d boxes beside others: %d pairs left out, none of them the only nearest\n", tried, spared);
    ENSURE(tried > 60);
}

/* ---- what is flat ---- */

/* pairs of points and triangles, or of edges, that the vertices or edges of a body may make */
static int seam_pairs(const embi_body *b, int kind)
{
    int n = 0;
    for (int i = 0; i < 3 * b->nt; i++) n += embi_owned(b->bvh.own[i / 3], kind) >> i % 3 & 1;
    return n;
}

/* Height of a ground, or of a ridge, so weakly curved that no fold of it is more than rounding at x = 1e9 m; 0: flat.
 * */
static double seam_height(double x, double y, double radius) { return radius > 0 ? -(x * x + y * y) / (2 * radius) : 0; }

/* a sheet over [x0, x1] x [-0.5, 0.5] of so many cells */
static test_mesh seam_sheet(double x0, double x1, int nx, int ny, double radius)
{
    test_mesh m = test_mesh_make((nx + 1) * (ny + 1), 2 * nx * ny, 0);
    for (int n = 0; n < (nx + 1) * (ny + 1); n++) {
        double x = x0 + (x1 - x0) * (n % (nx + 1)) / nx, y = (double)(n / (nx + 1)) / ny - 0.5;
        embi_set(m.x + 3 * n, x, y, seam_height(x, ny > 1 ? y : 0, radius));
    }
    for (int n = 0; n < nx * ny; n++) {
        int a = n / nx * (nx + 1) + n % nx, t[6] = {a, a + 1, a + nx + 2, a, a + nx + 2, a + nx + 1};
        memcpy(m.tri + 6 * n, t, sizeof t);
    }
    return m;
}

/* a roof of two slopes that meet in a ridge of n edges along x */
static test_mesh seam_roof(int n, double radius)
{
    test_mesh m = test_mesh_make(n + 3, 2 * n, 0);
    for (int i = 0; i <= n; i++) {
        double x = (double)i / n - 0.5;
        embi_set(m.x + 3 * i, x, 0, seam_height(x, 0, radius));
    }
    embi_set(m.x + 3 * (n + 1), 0, -1, -0.5);
    embi_set(m.x + 3 * (n + 2), 0, 1, -0.5);
    for (int i = 0; i < n; i++) {
        int t[6] = {n + 1, i + 1, i, n + 2, i, i + 1};
        memcpy(m.tri + 6 * i, t, sizeof t);
    }
    return m;
}

/* a plate falls on fixed bodies 1e9 m away: it comes to rest above them all */
static int seam_plate_rests(scene *s)
{
    embipc_body_def d = scene_def("plate", EMBIPC_AFFINE, 1e9, 0, 0.055);
    int sound = 1;
    d.friction = 0.5;
    scene_box(s, d, 2, 2, 0.1, 1);
    for (int n = 0; n < 25 && sound; n++) sound = scene_step(s) && scene_sound(s->w);
    return sound;
}

/* Folds that rounding hides add up over a face, a line, or a row of tiles. What is curved by more than rounding as a
 * whole makes all its pairs, and what is flat as a whole none inside. */
static void test_folds_add_up(void)
{
    for (int curved = 0; curved < 2; curved++)
        for (int shape = 0; shape < 3; shape++) {
            embipc_world_def wd = embipc_default_world_def();
            embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 1e9, 0, 0);
            double radius = curved ? 100 : 0;
            scene s = scene_empty(&wd);
            const embi_body *b;
            d.friction = 0.5;
            if (shape < 2) {
                test_mesh m = shape ? seam_roof(100, radius) : seam_sheet(-0.5, 0.5, 60, 60, radius);
                scene_add_mesh(&s, &d, &m, 0);
                b = s.w->s.body;
                if (shape) ENSURE(seam_pairs(b, EMBI_OWN_POINT_PAIRS) == (curved ? b->nv : 4));
                else ENSURE(seam_pairs(b, EMBI_OWN_POINT_PAIRS) == (curved ? b->nv : 4) &&
                            seam_pairs(b, EMBI_OWN_EDGE_PAIRS) >= (curved ? 2 * 60 * 61 : 4 * 60) &&
                            (curved || seam_pairs(b, EMBI_OWN_EDGE_PAIRS) == 4 * 60));   /* cells may be flat */
            } else {
                for (int k = 0; k < 16; k++) {
                    test_mesh m = seam_sheet(k / 16.0 - 0.5, (k + 1) / 16.0 - 0.5, 1, 1, curved ? 2000 : 0);
                    scene_add_mesh(&s, &d, &m, 0);
                }
                ENSURE(embi_seams_update(s.w));
                if (curved) ENSURE(s.w->s.seams.count == 0);
                else ENSURE(s.w->s.seams.count == 15);
            }
            ENSURE(seam_plate_rests(&s));
            scene_end(&s);
        }
}

/* ---- rules ---- */

/* Who is not tested with a tile, or comes and goes: seams count only where both sides do, and numbers follow. */
static void test_rules(void)
{
    embipc_body_def d = scene_def("ball", EMBIPC_AFFINE, 0.05, 0, 0.0502);
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    const embi_state *e;
    test_mesh m;
    int before;
    for (int k = 0; k < 4; k++) {
        embipc_body_def tile = scene_def("tile", EMBIPC_FIXED, 0.1 * k, 0, -0.05);
        if (k == 3) tile.thickness = 1e-4;   /* coated: its surface is higher */
        scene_box(&s, tile, 0.1, 0.1, 0.1, 1);
    }
    scene_ball(&s, d, 0.05, 2, 1);
    ENSURE(scene_step(&s));
    e = &s.w->s;
    before = e->seams.count;
    ENSURE(before == 2 * 8);   /* each of two pairs: four seams around the face they share, and its four corners */
    for (int n = 0; n < e->pair_count; n++)
        if (e->pair[n].a < 2 && e->pair[n].b == 4) ENSURE(e->pair[n].rule.joined == e->seams.revision);
    ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[1], s.body[4], -1, 0));
    ENSURE(scene_step(&s));
    for (int n = 0; n < e->pair_count; n++)
        if (e->pair[n].b == 4) ENSURE(e->pair[n].rule.joined == 0);   /* with tile 0 alone: its border counts */
    ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[1], s.body[4], -1, 1));
    m = test_mesh_box(5, 5, 5, 6, 6, 6);
    d = scene_def("first", EMBIPC_AFFINE, 0, 0, 0);
    scene_add_mesh(&s, &d, &m, 1);
    ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[0]));   /* of tile 0; the numbers of the others change */
    ENSURE(scene_step(&s));
    ENSURE(e->seams.count == 8);
    for (int n = 0; n < e->pair_count; n++)
        if (e->pair[n].a == 0 && e->pair[n].b == 3) ENSURE(e->pair[n].rule.joined == e->seams.revision);
    for (int n = 0; n < e->seams.count; n++) {
        int u = (int)(e->seams.list[n].key >> 32), v = (int)(e->seams.list[n].key & 0xffffffffu);
        ENSURE_CLOSE(e->x[3 * u], 0.15, 1e-12);
        ENSURE_CLOSE(e->x[3 * v], 0.15, 1e-12);
    }
    ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[4]));
    ENSURE(scene_step(&s) && e->seams.count == 8);
    ENSURE(scene_sound(s.w));
    scene_end(&s);
}

/* Adds a fixed box of 0.1 m. */
static embipc_body add_tile(embipc_world *w, double x, double y, double z)
{
    embipc_body_def d = scene_def("tile", EMBIPC_FIXED, x, y, z);
    embipc_body tile;
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    test_mesh_shape(&m, &d);
    ENSURE_OK(w, embipc_body_create(w, &d, &tile));
    test_mesh_free(&m);
    return tile;
}

/* Tiles come and go, beside a body that is none: what was found of the others stays, and is what a new search of all
 * finds. What changes nothing about tiles begins no search. */
static void test_what_was_found_stays(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embi_seams *seams = &s.w->s.seams;
    embi_tiles *tiles = &s.w->tiles;
    embipc_body tile[16] = {{0, 0}}, far;
    int changed = 0;
    unsigned revision;
    scene_box(&s, scene_def("ball", EMBIPC_AFFINE, 3, 3, 3), 0.1, 0.1, 0.1, 1);
    for (int n = 0; n < 60; n++) {
        int k = n < 16 ? n * 5 % 16 : (int)test_uniform(0, 16);
        embi_seam *list;
        embi_key *joined;
        int counts[3];
        if (!tile[k].index1) tile[k] = add_tile(s.w, 0.1 * (k % 4), 0.1 * (k / 4), -0.05);
        else if (n % 4 == 0) {
            ENSURE_OK(s.w, embipc_body_set_friction(s.w, tile[k], n % 8 ? 0.3 : 0.5, 0));
            changed++;
        } else {
            ENSURE_OK(s.w, embipc_body_destroy(s.w, tile[k]));
            tile[k].index1 = 0;
            if (n % 2) tile[k] = add_tile(s.w, 0.1 * (k % 4), 0.1 * (k / 4), -0.05);   /* before any step */
        }
        ENSURE(scene_step(&s));
        counts[0] = seams->count;
        counts[1] = tiles->joined_count;
        counts[2] = tiles->meeting_count;
        list = (embi_seam *)malloc((size_t)(counts[0] + 1) * sizeof *list);
        joined = (embi_key *)malloc((size_t)(counts[1] + 1) * sizeof *joined);
        ENSURE(list && joined);
        for (int i = 0; i < counts[0]; i++) list[i] = seams->list[i];
        for (int i = 0; i < counts[1]; i++) joined[i] = tiles->joined[i];
        embi_meetings_forget(s.w, 0);
        ENSURE(embi_seams_update(s.w));
        ENSURE(counts[0] == seams->count && counts[1] == tiles->joined_count && counts[2] == tiles->meeting_count);
        for (int i = 0; i < seams->count; i++)
            ENSURE(list[i].key == seams->list[i].key && list[i].t[0] == seams->list[i].t[0] &&
                   list[i].t[1] == seams->list[i].t[1] && list[i].multiplicity == seams->list[i].multiplicity);
        for (int i = 0; i < tiles->joined_count; i++) ENSURE(joined[i].key == tiles->joined[i].key);
        free(list);
        free(joined);
    }
    ENSURE(changed > 2 && seams->count > 0);
    revision = seams->revision;
    far = add_tile(s.w, 9, 9, 9);
    ENSURE(scene_step(&s) && seams->revision == revision);
    for (int k = 0; k < 16; k++)
        if (tile[k].index1) ENSURE_OK(s.w, embipc_body_set_surface_velocity(s.w, tile[k], embi_none));
    ENSURE_OK(s.w, embipc_body_destroy(s.w, far));
    ENSURE(scene_step(&s) && seams->revision == revision);
    ENSURE(scene_sound(s.w));
    scene_end(&s);
}

/* Bodies made after the tiles have been joined rest on them as those made before do, to the last bit. They are 0.1 m high,
 * fall by 1 mm, and their lowest point ends within dhat of the floor. */
static void test_later_bodies_rest(void)
{
    static const embipc_kind kind[4] = {EMBIPC_AFFINE, EMBIPC_CAGE, EMBIPC_FULL, EMBIPC_AFFINE};
    for (int k = 0; k < 4; k++) {
        unsigned long long bits[2];
        for (int late = 0; late < 2; late++) {
            embipc_world_def wd = embipc_default_world_def();
            scene s = scene_empty(&wd);
            embipc_body_def d = scene_def("later", kind[k], 0.02, 0.03, 0.051);
            double low, high;
            for (int i = 0; i < 4; i++) (void)add_tile(s.w, 0.1 * (i % 2), 0.1 * (i / 2), -0.05);
            if (late) ENSURE(scene_step(&s) && s.w->s.seams.count > 0);
            d.material.young = 1e6;
            if (k < 3) scene_box(&s, d, 0.1, 0.1, 0.1, 1);
            else scene_ball(&s, d, 0.05, 2, 1);
            for (int n = 0; n < 30; n++) ENSURE(scene_step(&s));
            scene_extent(s.w, s.body[0], 2, &low, &high);
            ENSURE(low > 0 && low < 1.8e-4 && high < 0.101 && s.stats.converged && scene_sound(s.w));
            bits[late] = scene_body_bits(s.w, s.body[0]);
            scene_end(&s);
        }
        ENSURE(bits[0] == bits[1]);
    }
}

/* A point stands on the corner of four boxes, one of which it does not meet, or that is of another friction. A part of
 * what is taken back and added would draw it in, or push it along its way: the others are bodies of their own to it. */
static void test_parts_of_a_surface(void)
{
    for (int k = 0; k < 8; k++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d;
        scene s = scene_empty(&wd);
        test_mesh m = scene_mesh_spike(0.03, 0.06);
        const embi_state *e;
        int pairs = 0;
        for (int i = 0; i < 4; i++) {
            d = scene_def("tile", EMBIPC_FIXED, 0.05 - 0.1 * (i % 2), 0.05 - 0.1 * (i / 2), -0.05);
            d.friction = i == k - 4;
            scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        }
        d = scene_def("point", EMBIPC_AFFINE, 1e-7, 1e-7, 5e-5);
        d.material.young = 1e9;
        scene_add_mesh(&s, &d, &m, 0);
        if (k < 4) ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[k], s.body[4], -1, 0));
        ENSURE(scene_step(&s) && s.stats.barrier > 0);
        e = &s.w->s;
        for (int n = 0; n < e->pair_count; n++) {
            if (e->pair[n].b != 4) continue;
            pairs++;
            if (k < 4) ENSURE(e->pair[n].rule.joined == 0);
            else ENSURE((e->pair[n].rule.joined == 0) == (e->pair[n].a == k - 4));
        }
        ENSURE(pairs == (k < 4 ? 3 : 4));
        if (k >= 4) ENSURE(embipc_world_set_pair(s.w, s.body[(k + 1) % 4], s.body[4], 0.5, 1) == EMBIPC_OK && scene_step(&s));
        for (int n = 0; n < e->pair_count && k >= 4; n++) ENSURE(e->pair[n].rule.joined == 0);
        scene_end(&s);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(barrier_everywhere);
    RUN(flat_parts_count_once);
    RUN(nothing_near_is_missed);
    RUN(folds_add_up);
    RUN(rules);
    RUN(what_was_found_stays);
    RUN(later_bodies_rest);
    RUN(parts_of_a_surface);
    test_unused();
    exact_unused();
    return test_end("test_seams");
}
