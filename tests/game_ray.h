/* Rays, closest points and boxes: against all triangles, one after the other, and exact predicates. */
#ifndef GAME_RAY_H
#define GAME_RAY_H

/* bodies of all kinds, that moved: one in the other's hollow, one far away, one of an open surface */
static scene ray_scene(int steps)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 0.1, 0.1, 0.3, 1, 2, 3}, centre[3] = {0.2, 0, 0.1};
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_body_def d;
    test_mesh m;
    scene_ground(&s, 1, 0.5);
    d = scene_def("ball", EMBIPC_CAGE, 0, 0, 0.06);
    embi_set(d.angular_velocity, 3, 5, 1);
    scene_ball(&s, d, 0.05, 2, 2);
    d = scene_def("full", EMBIPC_FULL, -0.15, 0.1, 0.08);
    embi_set(d.velocity, 0.4, 0.1, 0.5);
    scene_box(&s, d, 0.08, 0.06, 0.1, 2);
    scene_box(&s, scene_def("moved", EMBIPC_KINEMATIC, 0.2, 0, 0.1), 0.1, 0.05, 0.02, 1);
    scene_drive(&s, 3, keys, 2, centre, NULL, 0);
    d = scene_def("affine", EMBIPC_AFFINE, 0.1, -0.2, 0.2);
    embi_set(d.angular_velocity, -8, 5, 1);
    scene_box(&s, d, 0.05, 0.1, 0.2, 1);
    m = scene_mesh_spike(0.1, 0.12);   /* without its base: open */
    m.tri_count = 4;
    d = scene_def("hat", EMBIPC_FIXED, 0.25, 0.25, 0.15);
    scene_add_mesh(&s, &d, &m, 0);
    for (int n = 0; n < steps; n++) scene_step(&s);
    return s;
}

enum { RAY_BODIES = 8 };
static embipc_body_view ray_view[RAY_BODIES];
static int ray_views(const scene *s)
{
    for (int k = 0; k < s->n; k++) (void)embipc_body_get_view(s->w, s->body[k], ray_view + k);
    return s->n;
}

/* Does the segment meet a triangle of the body? */
static int ray_meets(const double from[3], const double to[3], const embipc_body_view *v, int t)
{
    double x[15];
    embi_copy(x, from);
    embi_copy(x + 3, to);
    for (int k = 0; k < 3; k++) embi_copy(x + 6 + 3 * k, v->x + 3 * v->triangles[3 * t + k]);
    return embipc_segment_triangle_intersect(x);
}

/* A point of the scene: anywhere, on a vertex, on the middle of an edge, inside a triangle. */
static void ray_point(double p[3], int bodies)
{
    const embipc_body_view *v = ray_view + (int)test_uniform(0, bodies);
    int t = (int)test_uniform(0, v->triangle_count), how = (int)test_uniform(0, 5);
    double w[3];
    embi_set(p, test_uniform(-0.3, 0.4), test_uniform(-0.3, 0.4), test_uniform(-0.02, 0.4));
    if (how > 2) return;
    embi_set(w, 1, 0, 0);
    if (how == 1) embi_set(w, 0.5, 0.5, 0);
    if (how == 2) embi_set(w, 0.25, 0.5, 0.25);
    embi_set(p, 0, 0, 0);
    for (int k = 0; k < 3; k++) embi_axpy(p, w[k], v->x + 3 * v->triangles[3 * t + k]);
}

/* The point, the weights, the normal and the body of a hit agree. */
static void ray_hit_agrees(const scene *s, const embipc_hit *h)
{
    double y[3] = {0, 0, 0}, n[3], e[3], f[3], sum = 0;
    for (int k = 0; k < s->n; k++) {
        if (!embi_same_body(h->body, s->body[k])) continue;
        for (int i = 0; i < 3; i++) {
            ENSURE(h->weight[i] >= 0);
            sum += h->weight[i];
            embi_axpy(y, h->weight[i], ray_view[k].x + 3 * ray_view[k].triangles[3 * h->triangle + i]);
        }
        embi_sub(e, ray_view[k].x + 3 * ray_view[k].triangles[3 * h->triangle + 1], ray_view[k].x + 3 * ray_view[k].triangles[3 * h->triangle]);
        embi_sub(f, ray_view[k].x + 3 * ray_view[k].triangles[3 * h->triangle + 2], ray_view[k].x + 3 * ray_view[k].triangles[3 * h->triangle]);
        embi_cross(n, e, f);
        ENSURE_CLOSE(embi_dot(n, h->normal), embi_norm(n), 1e-12 * embi_norm(n));
    }
    ENSURE_CLOSE(sum, 1, 1e-14);
    for (int i = 0; i < 3; i++) ENSURE_CLOSE(y[i], h->point[i], 1e-14);
    ENSURE_CLOSE(embi_norm(h->normal), 1, 1e-14);
}

/* Found if and only if a triangle is met, one that is met, and none clearly before it; on its line. */
static void test_rays(void)
{
    scene s = ray_scene(12);
    int bodies = ray_views(&s), hits = 0, wrong = 0;
    double off = 0, early = 0;
    for (int n = 0; n < 100000 / TEST_SKIP; n++) {
        double from[3], to[3], d[3], r[3], first = 2;
        embipc_hit h;
        int found, any = 0, meets = 0;
        ray_point(from, bodies);
        ray_point(to, bodies);
        if (n % 7 == 0) to[n % 3] = from[n % 3];
        if (n % 77 == 0) to[(n + 1) % 3] = from[(n + 1) % 3];
        found = embipc_world_cast_ray(s.w, from, to, ~0u, &h);
        embi_sub(d, to, from);
        for (int k = 0; k < bodies; k++)
            for (int t = 0; t < ray_view[k].triangle_count; t++) {
                const double *a = ray_view[k].x + 3 * ray_view[k].triangles[3 * t];
                double e[3], f[3], m[3], height[2];
                if (!ray_meets(from, to, ray_view + k, t)) continue;
                any = 1;
                if (found && embi_same_body(h.body, s.body[k]) && h.triangle == t) meets = 1;
                embi_sub(e, ray_view[k].x + 3 * ray_view[k].triangles[3 * t + 1], a);
                embi_sub(f, ray_view[k].x + 3 * ray_view[k].triangles[3 * t + 2], a);
                embi_cross(m, e, f);
                embi_sub(r, from, a);
                height[0] = embi_dot(m, r);
                embi_sub(r, to, a);
                height[1] = embi_dot(m, r);
                if (fabs(height[0] - height[1]) > 1e-6 * embi_norm(m) * embi_norm(d))   /* not along the plane */
                    first = fmin(first, fmax(0, fmin(1, height[0] / (height[0] - height[1]))));
            }
        wrong += any != found || (found && !meets);
        hits += found;
        if (found != 1) continue;
        if (first < 2) early = fmax(early, h.fraction - first);
        ray_hit_agrees(&s, &h);
        embi_sub(r, h.point, from);
        ENSURE_CLOSE(h.distance, embi_norm(r), 1e-14);
        embi_axpy(r, -h.fraction, d);
        off = fmax(off, embi_norm(r));
    }
    printf("  %d rays hit; off their line by %.2g m, late by a fraction of %.2g\n", hits, off, early);
    ENSURE(wrong == 0 && hits > 1000 && off < 1e-9 && early < 1e-9);
    scene_end(&s);
}

/* From the inside of a closed surface to the outside, exactly through its vertices and its edges: none slips through. */
static void test_rays_through_edges(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    test_mesh m = test_mesh_sphere(3);
    embipc_body_def d = scene_def("ball", EMBIPC_FIXED, 0, 0, 0);
    int missed = 0, rays = 0;
    for (int i = 0; i < 3 * m.vertex_count; i++) m.x[i] = floor(m.x[i] * 64) / 64;   /* sums below are exact */
    test_mesh_shape(&m, &d);
    ENSURE_OK(s.w, embipc_body_create(s.w, &d, &s.body[0]));
    for (int t = 0; t < m.tri_count; t++)
        for (int k = 0; k < 6; k++) {
            const double *a = m.x + 3 * m.tri[3 * t + k % 3], *b = m.x + 3 * m.tri[3 * t + (k + (k > 2)) % 3];
            double from[3] = {0.125, -0.0625, 0.03125}, to[3];
            embipc_hit h;
            for (int i = 0; i < 3; i++) to[i] = a[i] + b[i] - from[i];   /* the middle lies on the vertex or the edge */
            rays++;
            if (embipc_world_cast_ray(s.w, from, to, ~0u, &h) != 1) missed++;
            else ENSURE_CLOSE(h.fraction, 0.5, 1e-12);
            for (int i = 0; i < 3; i++) to[i] = a[i];
            if (k < 3 && embipc_world_cast_ray(s.w, from, to, ~0u, &h) != 1) missed++;   /* it ends there */
        }
    ENSURE(missed == 0 && rays > 3000);
    test_mesh_free(&m);
    scene_end(&s);
}

/* Far from the origin an edge that stands on the segment may lean by one unit in the last place, and the segment too.
 * The plane of the triangle, x = const, says where they meet: in the middle. */
static void test_ray_grazes_a_corner_far_away(void)
{
    static const double y = 4732.3125440650365, z = 5904.6947904483695, top = 5905.1414859680999;
    static const double unit = 1.0 / (1ll << 40), middle = 5945.9536806476945;
    const double from[3] = {5944.1642042241992, y, z + 3 * unit}, to[3] = {5947.7431570711897, y, z - 3 * unit};
    const double x[9] = {middle, y, z, middle, y + unit, top, middle, 4733.082183227737, top};
    static const int triangle[3] = {0, 1, 2};
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("triangle", EMBIPC_FIXED, 0, 0, 0);
    embipc_hit h;
    d.x = x; d.vertex_count = 3; d.triangles = triangle; d.triangle_count = 1;
    ENSURE_OK(s.w, embipc_body_create(s.w, &d, &s.body[0]));
    ENSURE(embipc_world_cast_ray(s.w, from, to, ~0u, &h) == 1);
    ENSURE_CLOSE(h.fraction, 0.5, 1e-12);
    ENSURE_CLOSE(h.distance, h.fraction * (to[0] - from[0]), 1e-12);
    scene_end(&s);
}

static void test_closest_points(void)
{
    scene s = ray_scene(12);
    int bodies = ray_views(&s), inside = 0;
    double off = 0;
    for (int n = 0; n < 100000 / TEST_SKIP; n++) {
        double p[3], best = 1e300, x[12], r[3], reach = n % 3 ? (double)INFINITY : test_uniform(0, 0.05);
        embipc_hit h;
        int found;
        ray_point(p, bodies);
        if (n % 10 == 0) embi_scale(p, 100, p);
        found = embipc_world_closest(s.w, p, reach, ~0u, &h);
        embi_copy(x, p);
        for (int k = 0; k < bodies; k++)
            for (int t = 0; t < ray_view[k].triangle_count; t++) {
                double away = 0;   /* of its box: most triangles need no more */
                for (int i = 0; i < 3; i++) {
                    const double *a = ray_view[k].x + i;
                    const int *v = ray_view[k].triangles + 3 * t;
                    double lo = fmin(a[3 * v[0]], fmin(a[3 * v[1]], a[3 * v[2]])), hi = fmax(a[3 * v[0]], fmax(a[3 * v[1]], a[3 * v[2]]));
                    away = fmax(away, fmax(lo - p[i], p[i] - hi));
                }
                if (away > best) continue;
                for (int i = 0; i < 3; i++) embi_copy(x + 3 + 3 * i, ray_view[k].x + 3 * ray_view[k].triangles[3 * t + i]);
                best = fmin(best, embipc_point_triangle_distance(x, NULL));
            }
        ENSURE(found == (best <= reach) || fabs(best - reach) < 1e-14);
        if (found != 1) continue;
        ray_hit_agrees(&s, &h);
        off = fmax(off, fabs(h.distance - best) / (1 + best));
        embi_sub(r, p, h.point);
        ENSURE_CLOSE(embi_norm(r), h.distance, 1e-14 * (1 + h.distance));
        inside += embi_dot(r, h.normal) < 0;
    }
    ENSURE(off < 1e-14 && inside > 1000 / TEST_SKIP);
    scene_end(&s);
}

/* Separating axes in doubles: 1 apart, -1 they overlap, 0 too near to tell. */
static int ray_apart(const double *const t[3], const double lo[3], const double hi[3])
{
    double axis[13][3], e[3], f[3], least = 1;
    for (int i = 0; i < 3; i++) embi_set(axis[i], i == 0, i == 1, i == 2);
    embi_sub(e, t[1], t[0]);
    embi_sub(f, t[2], t[0]);
    embi_cross(axis[3], e, f);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            embi_sub(e, t[(k + 1) % 3], t[k]);
            embi_cross(axis[4 + 3 * k + i], axis[i], e);
        }
    for (int i = 0; i < 13; i++) {
        double a = 1e300, b = -1e300, c = 0, half = 0, size = embi_norm(axis[i]), gap;
        if (!(size > 1e-9)) continue;
        for (int k = 0; k < 3; k++) {
            double y = embi_dot(axis[i], t[k]) / size;
            a = fmin(a, y);
            b = fmax(b, y);
            c += axis[i][k] / size * (lo[k] + hi[k]) / 2;
            half += fabs(axis[i][k] / size) * (hi[k] - lo[k]) / 2;
        }
        gap = fmax(a - (c + half), c - half - b);
        if (gap > 1e-12) return 1;
        least = fmin(least, -gap);
    }
    return least > 1e-12 ? -1 : 0;
}

static void test_boxes(void)
{
    scene s = ray_scene(12);
    int bodies = ray_views(&s), wrong = 0, inside = 0, sure = 0, found = 0;
    for (int n = 0; n < 20000 / TEST_SKIP; n++) {
        double lo[3], hi[3], size = n % 4 ? pow(10, test_uniform(-4, -0.5)) : 0;
        embipc_body list[RAY_BODIES];
        int count;
        ray_point(lo, n % 8 ? 0 : bodies);
        for (int i = 0; i < 3; i++) hi[i] = lo[i] + size * test_random();
        count = embipc_world_overlap(s.w, lo, hi, ~0u, list, RAY_BODIES);
        found += count;
        for (int k = 0; k < bodies; k++) {
            int meets = 0, unsure = 0, told = 0;
            for (int t = 0; t < ray_view[k].triangle_count; t++) {
                const double *x[3];
                int apart;
                for (int c = 0; c < 3; c++) x[c] = ray_view[k].x + 3 * ray_view[k].triangles[3 * t + c];
                apart = ray_apart(x, lo, hi);
                meets |= apart < 0;
                unsure |= apart == 0;
            }
            for (int c = 0; c < count; c++) told |= embi_same_body(list[c], s.body[k]);
            if (!meets && !unsure && k != 5) meets = embi_winding(lo, ray_view[k].x, ray_view[k].triangles, ray_view[k].triangle_count) > 0.5, inside += meets;
            if (unsure) continue;
            sure++;
            wrong += meets != told;
        }
    }
    printf("  %d boxes meet a body, %d of them inside\n", found, inside);
    ENSURE(scene_state(s.w, s.body[5]).volume == 0 && scene_state(s.w, s.body[0]).volume > 0);
    ENSURE(wrong == 0 && inside > 100 / TEST_SKIP && sure > 10000 / TEST_SKIP);
    scene_end(&s);
}

/* Points inside, straight below and beside vertices and edges of a cube, where segments meet edges: told right. */
static void test_inside_beside_edges(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    scene_box(&s, scene_def("box", EMBIPC_FIXED, 0, 0, 0), 1, 1, 1, 1);
    for (int i = -8; i <= 8; i++)
        for (int j = -8; j <= 8; j++)
            for (int k = -8; k <= 8; k++) {
                double p[3];
                int in = abs(i) <= 4 && abs(j) <= 4 && abs(k) <= 4;
                embi_set(p, i / 8.0, j / 8.0, k / 8.0);
                ENSURE(embipc_world_overlap(s.w, p, p, ~0u, NULL, 0) == in);
            }
    scene_end(&s);
}

/* A cube with a dent whose tip is just where the first segment from the middle goes: it meets four edges at once. */
static void test_inside_behind_a_vertex(void)
{
    static const int t[42] = {0,2,3, 0,3,1, 4,5,7, 4,7,6, 0,1,5, 0,5,4, 2,6,7, 2,7,3, 0,4,6, 0,6,2, 1,3,8, 3,7,8, 7,5,8, 5,1,8};
    static const double middle[3] = {0, 0, 0}, box[6] = {-1, -1, -1, 1, 1, 1};
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("dent", EMBIPC_FIXED, 0, 0, 0);
    double x[27], size = embi_box_diagonal(box);
    for (int i = 0; i < 24; i++) x[i] = i / 3 >> i % 3 & 1 ? 1 : -1;
    embi_set(x + 24, (1 + size) / 8, size * 0.3819 / 8, size * 0.1459 / 8);   /* as in embi_is_inside() */
    d.x = x;
    d.vertex_count = 9;
    d.triangles = t;
    d.triangle_count = 14;
    ENSURE_OK(s.w, embipc_body_create(s.w, &d, &s.body[0]));
    ENSURE(embipc_world_overlap(s.w, middle, middle, ~0u, NULL, 0) == 1);
    scene_end(&s);
}

/* Whoever asks everything between all steps gets the same bits, in all scenes; a tree fits again after each change. */
static void test_queries_change_nothing(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL), twin = scene_make(which, NULL);
        static double buffer[30000];
        for (int n = 0; n < 40 / TEST_STRIDE; n++) {
            embipc_hit h;
            static const double from[3] = {0.3, 0.2, 0.5}, to[3] = {-0.3, -0.2, -0.2}, lo[3] = {-0.05, -0.05, 0}, hi[3] = {0, 0, 0.1};
            embipc_body list[4];
            (void)embipc_world_cast_ray(s.w, from, to, ~0u, &h);
            ENSURE(embipc_world_closest(s.w, from, (double)INFINITY, ~0u, &h) == 1);
            (void)embipc_world_overlap(s.w, lo, hi, ~0u, list, 4);
            for (int k = 0; k < s.n; k++) {
                embipc_body_view v;
                (void)embipc_body_get_view(s.w, s.body[k], &v);
                (void)game_pose_of(&s, k, 0.3);
                if (3 * v.vertex_count <= 15000)
                    ENSURE(embipc_body_write_vertices(s.w, s.body[k], 0.7, 8, 24, buffer, buffer + 15000) == EMBIPC_OK);
            }
            if (n == 20) ENSURE(ENSURE_OK(s.w, embipc_world_reset(s.w)) && ENSURE_OK(twin.w, embipc_world_reset(twin.w)));
            if (!scene_step(&s) || !scene_step(&twin)) break;
            ENSURE(scene_bits(s.w) == scene_bits(twin.w));
        }
        scene_end(&s);
        scene_end(&twin);
    }
}

/* A ray finds a body where it is after a step, a jump, a jump that was refused, and a reset. */
static void test_rays_follow(void)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, there[3] = {0.3, 0, 0.2}, ground[3] = {0, 0, 0};
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_hit h;
    double from[3] = {0, 0, 1}, to[3] = {0, 0, 0}, least;
    scene_ground(&s, 1, 0);
    scene_ball(&s, scene_def("ball", EMBIPC_AFFINE, 0, 0, 0.3), 0.05, 2, 0);
    for (int n = 0; n < 7; n++) {
        embipc_body_view v;
        if (n == 2) scene_step(&s);
        if (n == 3) ENSURE_OK(s.w, embipc_body_set_pose(s.w, s.body[1], there, I, 0)), from[0] = to[0] = 0.3;
        if (n == 4) ENSURE(embipc_body_set_pose(s.w, s.body[1], ground, I, 0) != EMBIPC_OK);
        if (n == 5) ENSURE_OK(s.w, embipc_world_reset(s.w)), from[0] = to[0] = 0;
        if (n == 6) {   /* it has fallen: from the side, below where it was */
            for (int i = 0; i < 7; i++) scene_step(&s);
            from[2] = to[2] = scene_state(s.w, s.body[1]).centre[2] - 0.045;
            embi_set(from, -1, 0, from[2]);
            ENSURE(embipc_world_cast_ray(s.w, from, to, ~0u, &h) == 1 && embi_same_body(h.body, s.body[1]));
            break;
        }
        ENSURE(embipc_world_cast_ray(s.w, from, to, ~0u, &h) == 1 && embi_same_body(h.body, s.body[1]));
        (void)embipc_body_get_view(s.w, s.body[1], &v);
        scene_extent(s.w, s.body[1], 2, &least, &to[1]);
        ENSURE(fabs(h.point[2] - to[1]) < 0.003);
        to[1] = 0;
    }
    scene_end(&s);
}

/* Groups: what falls through what, also after a change that is allowed, and not after one that is not; rays see a group. */
static void test_groups(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("ghost", EMBIPC_AFFINE, 0, 0, 0.06);
    embipc_pair_parameters pair;
    embipc_hit h;
    static const double from[3] = {0, 0, 1}, to[3] = {0, 0, -1};
    scene_ground(&s, 1, 0);
    d.groups = 6;
    d.mask = ~1u;   /* the ground is of group 1 */
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    d.name = "box";
    d.position[2] = 0.17;
    d.groups = 1;
    d.mask = ~4u;   /* one of both must suit: the ghost's mask lacks 1 */
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    ENSURE(embipc_world_get_pair(s.w, s.body[0], s.body[1], &pair) == EMBIPC_OK && pair.contact == 0);
    ENSURE(embipc_world_get_pair(s.w, s.body[1], s.body[2], &pair) == EMBIPC_OK && pair.contact == 0);
    ENSURE(embipc_world_get_pair(s.w, s.body[0], s.body[2], &pair) == EMBIPC_OK && pair.contact == 1);
    ENSURE(embipc_world_cast_ray(s.w, from, to, 1, &h) == 1 && embi_same_body(h.body, s.body[2]));
    ENSURE(embipc_world_cast_ray(s.w, from, to, 2, &h) == 1 && embi_same_body(h.body, s.body[1]));
    ENSURE(embipc_world_cast_ray(s.w, from, to, 8, &h) == 0 && h.body.index1 == 0 && h.distance == 0);
    for (int n = 0; n < 40; n++) scene_step(&s);
    ENSURE(scene_state(s.w, s.body[1]).centre[2] < -0.5);
    ENSURE_CLOSE(scene_state(s.w, s.body[2]).centre[2], 0.05, 0.001);
    ENSURE_OK(s.w, embipc_world_reset(s.w));
    for (int n = 0; n < 6; n++) scene_step(&s);   /* the ghost is in the ground */
    ENSURE(embipc_body_set_groups(s.w, s.body[1], 1, ~0u) == EMBIPC_ERR_INTERSECTION);
    ENSURE(embi_same_body(embipc_world_error(s.w)->body[1], s.body[0]) && embi_same_body(embipc_world_error(s.w)->body[0], s.body[1]));
    ENSURE(embipc_world_set_pair(s.w, s.body[0], s.body[1], -1, 1) == EMBIPC_ERR_INTERSECTION);
    ENSURE(embipc_world_get_pair(s.w, s.body[0], s.body[1], &pair) == EMBIPC_OK && pair.contact == 0);
    ENSURE_OK(s.w, embipc_world_reset(s.w));
    ENSURE_OK(s.w, embipc_body_set_groups(s.w, s.body[1], 1, ~0u));
    ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[1], s.body[2], -1, 1));   /* a rule counts more than groups */
    for (int n = 0; n < 60; n++) scene_step(&s);
    ENSURE_CLOSE(scene_state(s.w, s.body[1]).centre[2], 0.05, 0.001);
    ENSURE_CLOSE(scene_state(s.w, s.body[2]).centre[2], 0.15, 0.003);
    ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[1], s.body[2], -1, 0));
    for (int n = 0; n < 60; n++) scene_step(&s);
    ENSURE_CLOSE(scene_state(s.w, s.body[2]).centre[2], 0.05, 0.001);
    scene_end(&s);
}

static void test_rays_refuse(void)
{
    static const double ok[3] = {0, 0, 0}, bad[3] = {0, (double)NAN, 0}, low[3] = {0, -1e-300, 0};
    scene s = ray_scene(0);
    embipc_hit h;
    embipc_body none = {9, 9};
    ENSURE(embipc_world_cast_ray(NULL, ok, ok, ~0u, &h) == -1 && embipc_world_cast_ray(s.w, NULL, ok, ~0u, &h) == -1);
    ENSURE(embipc_world_cast_ray(s.w, ok, NULL, ~0u, &h) == -1 && embipc_world_cast_ray(s.w, ok, bad, ~0u, &h) == -1);
    ENSURE(embipc_world_cast_ray(s.w, bad, ok, ~0u, &h) == -1 && embipc_world_cast_ray(s.w, ok, bad, ~0u, NULL) == -1);
    ENSURE(embipc_world_closest(NULL, ok, 1, ~0u, &h) == -1 && embipc_world_closest(s.w, bad, 1, ~0u, &h) == -1);
    ENSURE(embipc_world_closest(s.w, ok, -1, ~0u, &h) == -1 && embipc_world_closest(s.w, ok, bad[1], ~0u, &h) == -1);
    ENSURE(embipc_world_closest(s.w, ok, 0, ~0u, NULL) == 1);   /* on the ground */
    ENSURE(embipc_world_overlap(s.w, ok, bad, ~0u, NULL, 0) == -1 && embipc_world_overlap(s.w, ok, ok, ~0u, NULL, 1) == -1);
    ENSURE(embipc_world_overlap(s.w, ok, ok, ~0u, NULL, -1) == -1 && embipc_world_overlap(NULL, ok, ok, ~0u, NULL, 0) == -1);
    ENSURE(embipc_world_overlap(s.w, ok, low, ~0u, NULL, 0) == -1);   /* the wrong way round */
    ENSURE(embipc_body_select(s.w, s.body[2], ok, low, NULL, 0) == -1 && embipc_body_select(s.w, s.body[2], ok, bad, NULL, 0) == -1);
    ENSURE(embipc_body_set_groups(s.w, none, 1, 1) == EMBIPC_ERR_HANDLE);
    scene_end(&s);
}

static void game_ray(void)
{
    RUN(rays);
    RUN(rays_through_edges);
    RUN(ray_grazes_a_corner_far_away);
    RUN(closest_points);
    RUN(boxes);
    RUN(inside_beside_edges);
    RUN(inside_behind_a_vertex);
    RUN(queries_change_nothing);
    RUN(rays_follow);
    RUN(groups);
    RUN(rays_refuse);
}
#endif
