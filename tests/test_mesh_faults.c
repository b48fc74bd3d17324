/* Broken meshes: every kind of fault, parts, borders, mending, and where a surface meets itself; against what
 * was done to a sound mesh, or against all pairs. */
#include "inside.h"
#include "meshio_test.h"

static test_mesh join(const test_mesh *a, const test_mesh *b)
{
    test_mesh s = test_mesh_make(a->vertex_count + b->vertex_count, a->tri_count + b->tri_count, 0);
    memcpy(s.x, a->x, (size_t)(3 * a->vertex_count) * sizeof(double));
    memcpy(s.x + 3 * a->vertex_count, b->x, (size_t)(3 * b->vertex_count) * sizeof(double));
    memcpy(s.tri, a->tri, (size_t)(3 * a->tri_count) * sizeof(int));
    for (int i = 0; i < 3 * b->tri_count; i++) s.tri[3 * a->tri_count + i] = a->vertex_count + b->tri[i];
    return s;
}

static void turn(test_mesh *s, int t)
{
    int swap = s->tri[3 * t];
    s->tri[3 * t] = s->tri[3 * t + 1];
    s->tri[3 * t + 1] = swap;
}

static void drop(test_mesh *s, int t)
{
    s->tri_count--;
    memmove(s->tri + 3 * t, s->tri + 3 * t + 3, (size_t)(3 * (s->tri_count - t)) * sizeof(int));
}

static void append(test_mesh *s, int a, int b, int c)   /* test_mesh_make leaves room for one */
{
    int *t = s->tri + 3 * s->tri_count++;
    t[0] = a; t[1] = b; t[2] = c;
}

static int count(const test_mesh *s, embipc_fault_kind kind)
{
    return embipc_surface_faults(s->x, s->vertex_count, s->tri, s->tri_count, kind, NULL, 0);
}

/* these counts, in the order of the enum up to PINCHED */
static void expect(const test_mesh *s, int unused, int collapsed, int flat, int twice, int crowded,
                   int turned, int border, int folded, int pinched)
{
    int want[9], bad = 0;
    want[0] = unused; want[1] = collapsed; want[2] = flat; want[3] = twice; want[4] = crowded;
    want[5] = turned; want[6] = border; want[7] = folded; want[8] = pinched;
    for (int k = 0; k < 9; k++) bad += count(s, (embipc_fault_kind)k) != want[k];
    ENSURE(!bad);
    for (int k = 0; bad && k < 9; k++)
        printf("  kind %d: %d, not %d\n", k, count(s, (embipc_fault_kind)k), want[k]);
}

static embipc_fault first(const test_mesh *s, embipc_fault_kind kind)
{
    embipc_fault f;
    memset(&f, 77, sizeof f);
    ENSURE(embipc_surface_faults(s->x, s->vertex_count, s->tri, s->tri_count, kind, &f, 1) >= 1);
    return f;
}

static test_mesh box(void) { return test_mesh_box(0, 0, 0, 1, 1, 1); }

static void test_sound(void)
{
    test_mesh s = box();
    expect(&s, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    ENSURE(count(&s, EMBIPC_FAULT_INVERTED) == 0 && count(&s, EMBIPC_FAULT_KINDS) == -1);
    test_mesh_free(&s);
    s = test_mesh_sphere(3);
    expect(&s, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    test_mesh_free(&s);
}

static void test_element_faults(void)
{
    test_mesh s = box();
    embipc_fault f;
    append(&s, 3, 5, 3);
    expect(&s, 0, 1, 0, 0, 0, 0, 0, 0, 0);
    f = first(&s, EMBIPC_FAULT_COLLAPSED);
    ENSURE(f.element == 12 && f.other == 3 && f.edge[0] == -1);
    test_mesh_free(&s);
    s = box();
    append(&s, s.tri[4], s.tri[3], s.tri[5]);   /* triangle 1 again, from behind */
    expect(&s, 0, 0, 0, 1, 3, 0, 0, 0, 0);
    f = first(&s, EMBIPC_FAULT_DOUBLE);
    ENSURE(f.element == 12 && f.other == 1);
    test_mesh_free(&s);
    s = test_mesh_make(9, 12, 0);   /* a collinear triangle on edge 0-1, with a vertex of its own */
    {
        test_mesh b = box();
        memcpy(s.x, b.x, 24 * sizeof(double));
        memcpy(s.tri, b.tri, 36 * sizeof(int));
        test_mesh_free(&b);
    }
    s.x[24] = 0.5;
    expect(&s, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    ENSURE(first(&s, EMBIPC_FAULT_UNUSED).element == 8);
    append(&s, 0, 1, 8);
    expect(&s, 0, 0, 1, 0, 1, 0, 2, 0, 0);
    f = first(&s, EMBIPC_FAULT_FLAT);
    ENSURE(f.element == 12 && f.value == 0);
    f = first(&s, EMBIPC_FAULT_CROWDED);
    ENSURE(f.edge[0] == 0 && f.edge[1] == 1 && f.value == 3);
    test_mesh_free(&s);
}

static void test_edge_faults(void)
{
    static const double leaf[12] = {0, 0, 0, 1, 0, 0, 0.2, 0.5, 0, 0.3, 0.25, 0};
    static const int leaf_tri[6] = {0, 1, 2, 1, 0, 3};
    test_mesh s = box();
    embipc_fault f;
    int v[3];
    memcpy(v, s.tri + 12, sizeof v);
    turn(&s, 4);
    expect(&s, 0, 0, 0, 0, 0, 3, 0, 0, 0);
    f = first(&s, EMBIPC_FAULT_TURNED);
    ENSURE((f.element == 4) != (f.other == 4));
    turn(&s, 4);
    drop(&s, 4);
    expect(&s, 0, 0, 0, 0, 0, 0, 3, 0, 0);
    f = first(&s, EMBIPC_FAULT_BORDER);
    ENSURE(f.other == -1 && f.edge[0] < f.edge[1] && f.value == 1);
    for (int i = 0; i < 2; i++) ENSURE(f.edge[i] == v[0] || f.edge[i] == v[1] || f.edge[i] == v[2]);
    test_mesh_free(&s);
    s = test_mesh_make(4, 2, 0);
    memcpy(s.x, leaf, sizeof leaf);
    memcpy(s.tri, leaf_tri, sizeof leaf_tri);
    expect(&s, 0, 0, 0, 0, 0, 0, 4, 1, 0);
    s.x[11] = 1e-30;   /* hardly, but not on each other */
    expect(&s, 0, 0, 0, 0, 0, 0, 4, 0, 0);
    s.x[11] = 0;
    s.x[10] = -0.25;   /* one plane, side by side */
    expect(&s, 0, 0, 0, 0, 0, 0, 4, 0, 0);
    test_mesh_free(&s);
}

static void test_pinched(void)
{
    test_mesh a = box(), b = test_mesh_box(1, 1, 1, 2, 2, 2), s = join(&a, &b);
    int map[16];
    ENSURE(embipc_vertices_merge(s.x, 16, 0, map) == 15);
    for (int i = 0; i < 72; i++) s.tri[i] = map[s.tri[i]];
    expect(&s, 1, 0, 0, 0, 0, 0, 0, 0, 1);
    ENSURE(first(&s, EMBIPC_FAULT_PINCHED).value == 2);
    ENSURE(s.x[3 * first(&s, EMBIPC_FAULT_PINCHED).element] == 1);
    test_mesh_free(&a);
    test_mesh_free(&b);
    test_mesh_free(&s);
}

static void test_tet_faults(void)
{
    test_mesh s = test_mesh_tet_grid(2, 1, 1);
    embipc_fault f;
    int n = s.tet_count, *last = s.tets + 4 * n;
    for (int k = 0; k < EMBIPC_FAULT_KINDS; k++)
        ENSURE(embipc_tets_faults(s.x, s.vertex_count, s.tets, n, (embipc_fault_kind)k, NULL, 0) == 0);
#define TETS(count, kind) embipc_tets_faults(s.x, s.vertex_count, s.tets, count, EMBIPC_FAULT_##kind, &f, 1)
    last[0] = s.tets[1]; last[1] = s.tets[0]; last[2] = s.tets[2]; last[3] = s.tets[3];
    ENSURE(TETS(n + 1, DOUBLE) == 1 && f.element == n && f.other == 0);
    ENSURE(TETS(n + 1, INVERTED) == 1 && f.element == n && f.value < -0.1);
    ENSURE(TETS(n + 1, CROWDED) >= 2);
    last[0] = last[1];
    ENSURE(TETS(n + 1, COLLAPSED) == 1 && f.element == n && f.other == last[1] && TETS(n + 1, FLAT) == 0);
    ENSURE(TETS(1, UNUSED) == s.vertex_count - 4);
    {   /* two tets on one side of a face */
        static const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, .2, .2, .3};
        static const int over[8] = {0, 1, 2, 3, 0, 1, 2, 4};
        ENSURE(embipc_tets_faults(x, 5, over, 2, EMBIPC_FAULT_TURNED, &f, 1) == 1);
        ENSURE(f.element == 1 && f.other == 0);
        memcpy(s.x, x, sizeof x);
        s.x[11] = 0;
        ENSURE(embipc_tets_faults(s.x, 5, over, 1, EMBIPC_FAULT_FLAT, &f, 1) == 1 && f.value == 0);
    }
    test_mesh_free(&s);
}

static void test_parts(void)
{
    test_mesh a = test_mesh_box(0, 0, 0, 4, 4, 4), b = test_mesh_box(1, 1, 1, 3, 3, 3), s;
    embipc_part p[3];
    int part[24];
    for (int t = 0; t < 12; t++) turn(&b, t);
    s = join(&a, &b);
    ENSURE(embipc_surface_parts(s.x, 16, s.tri, 24, part, p, 3) == 2);
    ENSURE(part[0] == 0 && part[11] == 0 && part[12] == 1 && part[23] == 1);
    ENSURE(p[0].triangle == 0 && p[0].triangle_count == 12 && p[1].triangle == 12);
    ENSURE_CLOSE(p[0].volume, 64, 1e-12);
    ENSURE_CLOSE(p[1].volume, -8, 1e-12);
    ENSURE_CLOSE(p[1].area, 24, 1e-12);
    ENSURE(!p[0].inside_out && !p[1].inside_out && p[0].border_edges + p[0].bad_edges == 0);   /* a cavity */
    ENSURE(embipc_surface_parts(b.x, 8, b.tri, 12, NULL, p, 1) == 1 && p[0].inside_out);
    s.tri[0] = s.tri[1];   /* a collapsed triangle is of no part, and leaves a hole */
    ENSURE(embipc_surface_parts(s.x, 16, s.tri, 24, part, p, 3) == 2);
    ENSURE(part[0] == -1 && part[1] == 0 && part[12] == 1 && p[0].triangle == 1 && p[0].border_edges == 3);
    drop(&b, 3);
    ENSURE(embipc_surface_parts(b.x, 8, b.tri, 11, NULL, p, 1) == 1);
    ENSURE(!p[0].inside_out && p[0].border_edges == 3);
    turn(&b, 0);
    ENSURE(embipc_surface_parts(b.x, 8, b.tri, 11, NULL, p, 1) == 1 && p[0].bad_edges >= 1);
    test_mesh_free(&a);
    test_mesh_free(&b);
    test_mesh_free(&s);
}

/* every loop closes along borders, backwards; together they are all of them */
static void check_loops(const test_mesh *s, int loops)
{
    int vertex[256], start[257], edges = count(s, EMBIPC_FAULT_BORDER);
    ENSURE(embipc_surface_loops(s->tri, s->tri_count, NULL, NULL, 0) == loops);
    ENSURE(embipc_surface_loops(s->tri, s->tri_count, vertex, start, 256) == loops);
    ENSURE(start[0] == 0 && start[loops] == edges);
    for (int l = 0; l < loops; l++)
        for (int i = start[l]; i < start[l + 1]; i++) {
            int a = vertex[i], b = vertex[i + 1 < start[l + 1] ? i + 1 : start[l]], found = 0;
            for (int h = 0; h < 3 * s->tri_count; h++)
                found += s->tri[h] == b && s->tri[h % 3 == 2 ? h - 2 : h + 1] == a;
            ENSURE(found == 1);
            for (int j = start[l]; j < i; j++) ENSURE(vertex[j] != a);   /* no loop meets itself */
        }
}

static void test_loops(void)
{
    test_mesh s = test_mesh_sphere(2);
    check_loops(&s, 0);
    drop(&s, 100);
    check_loops(&s, 1);
    drop(&s, 7);
    check_loops(&s, 2);
    for (int t = s.tri_count - 1; t >= 0; t--)   /* all around vertex 4, and all around vertex 5 */
        for (int i = 0; i < 3; i++)
            if (s.tri[3 * t + i] == 4 || s.tri[3 * t + i] == 5) { drop(&s, t); break; }
    ENSURE(embipc_surface_loops(s.tri, s.tri_count, NULL, NULL, 0) >= 3);
    check_loops(&s, embipc_surface_loops(s.tri, s.tri_count, NULL, NULL, 0));
    test_mesh_free(&s);
    s = box();   /* two holes that meet in a corner */
    drop(&s, 11);
    drop(&s, 6);
    check_loops(&s, 2);
    test_mesh_free(&s);
    s = box();   /* a border that does not close is left out, and does no harm */
    drop(&s, 4);
    turn(&s, 5);
    ENSURE(embipc_surface_loops(s.tri, s.tri_count, NULL, NULL, 0) >= 0);
    test_mesh_free(&s);
}

/* random triangles of a sound surface turned: all are found again */
static void check_orient(const test_mesh *sound, int turns)
{
    test_mesh s = test_mesh_make(sound->vertex_count, sound->tri_count, 0);
    int turned = 0, differ = 0;
    memcpy(s.x, sound->x, (size_t)(3 * s.vertex_count) * sizeof(double));
    memcpy(s.tri, sound->tri, (size_t)(3 * s.tri_count) * sizeof(int));
    for (int i = 0; i < turns; i++) turn(&s, (int)(s.tri_count * test_random()));
    for (int t = 0; t < s.tri_count; t++) turned += !embi_same_sense(s.tri + 3 * t, sound->tri + 3 * t);
    ENSURE(embipc_surface_orient(s.x, s.vertex_count, s.tri, s.tri_count) == turned);
    for (int t = 0; t < s.tri_count; t++) differ += !embi_same_sense(s.tri + 3 * t, sound->tri + 3 * t);
    ENSURE(differ == 0);
    ENSURE(embipc_surface_check(s.x, s.vertex_count, s.tri, s.tri_count, 1, NULL) == EMBIPC_OK);
    test_mesh_free(&s);
}

static void test_orient(void)
{
    enum { N = 9 };
    test_mesh a = test_mesh_sphere(3), b = test_mesh_box(-.3, -.3, -.3, .3, .3, .3), c, s;
    for (int turns = 0; turns < 100000; turns = 3 * turns + 1) check_orient(&a, turns);
    for (int t = 0; t < 12; t++) turn(&b, t);
    s = join(&a, &b);   /* a cavity stays one */
    check_orient(&s, 3);
    for (int t = 0; t < s.tri_count; t++) turn(&s, t);   /* all inside out, the cavity too */
    ENSURE(embipc_surface_orient(s.x, s.vertex_count, s.tri, s.tri_count) == s.tri_count);
    ENSURE(embipc_surface_check(s.x, s.vertex_count, s.tri, s.tri_count, 1, NULL) == EMBIPC_OK);
    test_mesh_free(&s);
    c = test_mesh_box(3, 3, 3, 4, 4, 4);
    s = join(&a, &c);
    check_orient(&s, 50);
    test_mesh_free(&c);
    test_mesh_free(&s);
    s = test_mesh_sphere(2);   /* a cap: no inside tells which of the two senses is right */
    while (s.tri_count > 30) drop(&s, s.tri_count - 1);
    for (int t = 0; t < 30; t += 7) turn(&s, t);
    ENSURE(embipc_surface_orient(s.x, s.vertex_count, s.tri, s.tri_count) == 5);
    ENSURE(count(&s, EMBIPC_FAULT_TURNED) == 0);
    test_mesh_free(&s);
    s = test_mesh_make(2 * N, 2 * N, 0);   /* a Moebius strip */
    for (int i = 0; i < N; i++) {
        double angle = 2 * 3.14159265358979 * i / N, h = 0.3 * cos(angle / 2);
        int u = 2 * i, last = i == N - 1, w = last ? 1 : 2 * i + 2, v = last ? 0 : 2 * i + 3;
        for (int k = 0; k < 2; k++) {
            s.x[3 * (u + k)] = (1 + (k ? h : -h)) * cos(angle);
            s.x[3 * (u + k) + 1] = (1 + (k ? h : -h)) * sin(angle);
            s.x[3 * (u + k) + 2] = (k ? 0.3 : -0.3) * sin(angle / 2);
        }
        s.tri[6 * i] = u; s.tri[6 * i + 1] = w; s.tri[6 * i + 2] = u + 1;
        s.tri[6 * i + 3] = u + 1; s.tri[6 * i + 4] = w; s.tri[6 * i + 5] = v;
    }
    ENSURE(embipc_surface_orient(s.x, s.vertex_count, s.tri, s.tri_count) >= 0);
    ENSURE(count(&s, EMBIPC_FAULT_TURNED) == 1);
    test_mesh_free(&a);
    test_mesh_free(&b);
    test_mesh_free(&s);
}

/* drops the triangles, fills, and has a solid of this volume again */
static void check_fill(test_mesh *s, const int *dropped, int n, int holes, int max_edges, double volume)
{
    test_mesh r;
    embipc_solid solid;
    int lid[3 * 64], filled, add;
    for (int i = 0; i < n; i++) drop(s, dropped[i]);
    ENSURE(!embipc_surface_fill(s->x, s->vertex_count, s->tri, s->tri_count, max_edges - 1, NULL, 0, NULL));
    add = embipc_surface_fill(s->x, s->vertex_count, s->tri, s->tri_count, max_edges, lid, 64, &filled);
    ENSURE(filled == holes && add >= holes && add <= 64);
    r = test_mesh_make(s->vertex_count, s->tri_count + add, 0);
    memcpy(r.x, s->x, (size_t)(3 * s->vertex_count) * sizeof(double));
    memcpy(r.tri, s->tri, (size_t)(3 * s->tri_count) * sizeof(int));
    memcpy(r.tri + 3 * s->tri_count, lid, (size_t)(3 * add) * sizeof(int));
    ENSURE(embipc_surface_check(r.x, r.vertex_count, r.tri, r.tri_count, 1, NULL) == EMBIPC_OK);
    ENSURE(embipc_mass_properties(r.x, r.vertex_count, r.tri, r.tri_count, &solid) == EMBIPC_OK);
    ENSURE_CLOSE(solid.volume, volume, 1e-12);
    test_mesh_free(&r);
    test_mesh_free(s);
}

/* A cone without its base, a loop of 600 edges: as many as the caller allows are closed. */
static void test_fill_large(void)
{
    enum { N = 600 };
    test_mesh s = test_mesh_make(N + 1, N, 0);
    int filled;
    for (int i = 0; i < N; i++) {
        const int t[3] = {i, (i + 1) % N, N};
        s.x[3 * i] = cos(6.283185307179586 * i / N);
        s.x[3 * i + 1] = sin(6.283185307179586 * i / N);
        s.x[3 * i + 2] = 0;
        memcpy(s.tri + 3 * i, t, sizeof t);
    }
    s.x[3 * N] = s.x[3 * N + 1] = 0;
    s.x[3 * N + 2] = 3;
    ENSURE(embipc_surface_fill(s.x, N + 1, s.tri, N, N - 1, NULL, 0, &filled) == 0 && filled == 0);
    ENSURE(embipc_surface_fill(s.x, N + 1, s.tri, N, N, NULL, 0, &filled) == N - 2 && filled == 1);
    test_mesh_free(&s);
}

/* The cheaper diagonal of this hole, 1-3, is an edge of the surface below it. */
static void test_fill_avoids_edges(void)
{
    static const double x[18] = {-1, 0, .5, 0, -.3, 0, 1, 0, .5, 0, .3, 0, -3, 0, -5, 3, 0, -5};
    static const int tri[18] = {1, 0, 4, 3, 1, 4, 0, 3, 4, 2, 1, 5, 3, 2, 5, 1, 3, 5};
    test_mesh s = test_mesh_make(6, 8, 0);
    memcpy(s.x, x, sizeof x);
    memcpy(s.tri, tri, sizeof tri);
    s.tri_count = 6;
    expect(&s, 0, 0, 0, 0, 0, 0, 4, 0, 0);
    ENSURE(embipc_surface_fill(s.x, 6, s.tri, 6, 8, s.tri + 18, 2, NULL) == 2);
    s.tri_count = 8;
    expect(&s, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    test_mesh_free(&s);
}

static void test_fill(void)
{
    static const int one[] = {4}, face[] = {3, 2}, two[] = {11, 2};
    test_mesh s = box();
    check_fill(&s, one, 1, 1, 3, 1);
    s = box();
    check_fill(&s, face, 2, 1, 4, 1);   /* the top: flat, so either diagonal gives the cube */
    s = box();
    check_fill(&s, two, 2, 2, 3, 1);
    s = test_mesh_make(5, 3, 0);   /* an open sheet stays one */
    for (int i = 0; i < 5; i++) {
        s.x[3 * i] = cos(1.2566 * i);
        s.x[3 * i + 1] = sin(1.2566 * i);
        if (i > 1) { s.tri[3 * i - 5] = i - 1; s.tri[3 * i - 4] = i; }
    }
    ENSURE(count(&s, EMBIPC_FAULT_BORDER) == 5);
    ENSURE(embipc_surface_fill(s.x, 5, s.tri, 3, 8, NULL, 0, NULL) == 0);
    ENSURE(embipc_surface_fill(s.x, 5, s.tri, 3, 2, NULL, 0, NULL) == 0);
    test_mesh_free(&s);
}

/* points on the edges of a box as vertices of flat triangles, which exporters write to keep a part closed */
static void test_flip_flat(void)
{
    static const int chain[5][3] = {{0, 1, 8}, {8, 1, 9}, {9, 1, 10}, {3, 2, 11}, {3, 11, 12}};
    test_mesh b = box(), s = test_mesh_make(13, 12 + 5 + 5, 0);
    embipc_solid solid;
    memcpy(s.x, b.x, 24 * sizeof(double));
    for (int i = 0; i < 3; i++) s.x[3 * (8 + i)] = 0.25 * (i + 1);       /* 8, 9, 10 on edge 0-1 */
    for (int i = 0; i < 2; i++) {                                        /* 11, 12 on edge 2-3 */
        s.x[3 * (11 + i)] = 0.6 - 0.3 * i;
        s.x[3 * (11 + i) + 1] = 1;
    }
    memcpy(s.tri, b.tri, 36 * sizeof(int));
    s.tri_count = 12;
    for (int t = 0; t < 12; t++) {   /* one side of each edge becomes a fan over the points, ... */
        const int *v = b.tri + 3 * t;
        for (int i = 0; i < 3; i++) {
            int p = v[i], q = v[(i + 1) % 3], c = v[(i + 2) % 3];
            if (p == 0 && q == 1) {
                s.tri[3 * t] = 0; s.tri[3 * t + 1] = 8; s.tri[3 * t + 2] = c;
                append(&s, 8, 9, c); append(&s, 9, 10, c); append(&s, 10, 1, c);
            }
            if (p == 3 && q == 2) {
                s.tri[3 * t] = 3; s.tri[3 * t + 1] = 12; s.tri[3 * t + 2] = c;
                append(&s, 12, 11, c); append(&s, 11, 2, c);
            }
        }
    }
    for (int i = 0; i < 5; i++)   /* ... flat ones the other */
        append(&s, chain[i][0], chain[i][1], chain[i][2]);
    expect(&s, 0, 0, 5, 0, 0, 0, 0, 0, 0);
    ENSURE(embipc_surface_flip_flat(s.x, 13, s.tri, s.tri_count) == 5);
    expect(&s, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    ENSURE(embipc_surface_check(s.x, 13, s.tri, s.tri_count, 1, NULL) == EMBIPC_OK);
    ENSURE(embipc_mass_properties(s.x, 13, s.tri, s.tri_count, &solid) == EMBIPC_OK);
    ENSURE_CLOSE(solid.volume, 1, 1e-15);
    ENSURE(embipc_surface_flip_flat(s.x, 13, s.tri, s.tri_count) == 0);
    test_mesh_free(&b);
    test_mesh_free(&s);
}

static void test_merge(void)
{
    test_mesh s = test_mesh_sphere(3);
    int n = 3 * s.tri_count, *map = (int *)malloc((size_t)n * sizeof *map);
    double *x = (double *)malloc((size_t)(3 * n) * sizeof *x), tolerance[] = {0, 1e-6, 0.01};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 3; j++)
                x[3 * i + j] = s.x[3 * s.tri[i] + j] + test_uniform(-0.28, 0.28) * tolerance[k];
        ENSURE(embipc_vertices_merge(x, n, tolerance[k], map) == s.vertex_count);
        for (int i = 0; i < n; i++) ENSURE(map[i] <= i && map[map[i]] == map[i] && s.tri[map[i]] == s.tri[i]);
    }
    for (int i = 0; i < 3 * n; i++) x[i] = test_uniform(-1, 1);   /* against all pairs */
    for (int k = 0; k < 6; k++) {
        double t = pow(10, -0.4 * k);
        int stay = embipc_vertices_merge(x, 600, t, map), want = 0;
        for (int i = 0; i < 600; i++) {
            int to = i;
            for (int j = 0; j < i && to == i; j++) {
                double d[3];
                for (int c = 0; c < 3; c++) d[c] = x[3 * i + c] - x[3 * j + c];
                if (map[j] == j && sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) <= t) to = j;
            }
            want += to == i;
            ENSURE(map[i] == to);
        }
        ENSURE(stay == want);
    }
    x[0] = -0.0; x[1] = x[2] = 0; x[3] = x[4] = x[5] = 0;
    ENSURE(embipc_vertices_merge(x, 2, 0, map) == 1 && map[1] == 0);
    x[3] = 1e-300;
    ENSURE(embipc_vertices_merge(x, 2, 0, map) == 2);
    ENSURE(embipc_vertices_merge(x, 2, -1, map) == -1 && embipc_vertices_merge(x, 0, 0, map) == 0);
    x[3] = HUGE_VAL;
    ENSURE(embipc_vertices_merge(x, 2, 0, map) == -1);
    free(map);
    free(x);
    test_mesh_free(&s);
}

/* ---- Where a surface meets itself ---- */

static int shares(const int *v, const int *w, int n, int m)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (v[i] == w[j]) return 1;
    return 0;
}

/* all pairs of edges and triangles, and all pairs of primitives */
static void brute(const test_mesh *s, int *crossings, double *gap)
{
    static int edge[2 * 4000];
    int edges = embipc_surface_edges(s->tri, s->tri_count, edge, NULL, 4000);
    double p[15];
    *crossings = 0;
    *gap = HUGE_VAL;
    for (int e = 0; e < edges; e++) {
        memcpy(p, s->x + 3 * edge[2 * e], 3 * sizeof *p);
        memcpy(p + 3, s->x + 3 * edge[2 * e + 1], 3 * sizeof *p);
        for (int t = 0; t < s->tri_count; t++) {
            for (int k = 0; k < 3; k++) memcpy(p + 6 + 3 * k, s->x + 3 * s->tri[3 * t + k], 3 * sizeof *p);
            if (!shares(edge + 2 * e, s->tri + 3 * t, 2, 3))
                *crossings += embipc_segment_triangle_intersect(p);
        }
        for (int f = 0; f < e; f++) {
            for (int k = 0; k < 2; k++) memcpy(p + 6 + 3 * k, s->x + 3 * edge[2 * f + k], 3 * sizeof *p);
            if (!shares(edge + 2 * e, edge + 2 * f, 2, 2))
                *gap = fmin(*gap, embipc_edge_edge_distance(p, NULL));
        }
    }
    for (int i = 0; i < 3 * s->tri_count; i++)
        for (int t = 0, v = s->tri[i]; t < s->tri_count; t++) {
            memcpy(p, s->x + 3 * v, 3 * sizeof *p);
            for (int k = 0; k < 3; k++) memcpy(p + 3 + 3 * k, s->x + 3 * s->tri[3 * t + k], 3 * sizeof *p);
            if (!shares(&v, s->tri + 3 * t, 1, 3)) *gap = fmin(*gap, embipc_point_triangle_distance(p, NULL));
        }
}

static void check_self(const test_mesh *s, int want_crossings)
{
    embipc_crossing list[4];
    embipc_gap gap;
    int crossings, found;
    double p[12], d, all;
    brute(s, &crossings, &all);
    if (want_crossings >= 0) ENSURE(crossings == want_crossings);
    found = embipc_surface_crossings(s->x, s->vertex_count, s->tri, s->tri_count, list, 4, 1 << 30);
    ENSURE(found == crossings);
    for (int i = 0; i < found && i < 4; i++) {
        double q[15];
        memcpy(q, s->x + 3 * list[i].edge[0], 3 * sizeof *q);
        memcpy(q + 3, s->x + 3 * list[i].edge[1], 3 * sizeof *q);
        for (int k = 0; k < 3; k++)
            memcpy(q + 6 + 3 * k, s->x + 3 * s->tri[3 * list[i].triangle + k], 3 * sizeof *q);
        ENSURE(embipc_segment_triangle_intersect(q));
    }
    if (found > 2)
        ENSURE(embipc_surface_crossings(s->x, s->vertex_count, s->tri, s->tri_count, list, 1, 2) == 2);
    ENSURE(embipc_surface_gap(s->x, s->vertex_count, s->tri, s->tri_count, &gap) == EMBIPC_OK);
    ENSURE_CLOSE(gap.distance, all, 1e-14);
    for (int k = 0; k < 4; k++) memcpy(p + 3 * k, s->x + 3 * gap.vertex[k], 3 * sizeof *p);
    d = gap.edge_edge ? embipc_edge_edge_distance(p, NULL) : embipc_point_triangle_distance(p, NULL);
    ENSURE(d == gap.distance);
}

static void test_self(void)
{
    test_mesh a = test_mesh_sphere(2), b = test_mesh_box(0.2, 0.3, 0.1, 2, 2, 2), s;
    check_self(&a, 0);
    check_self(&b, 0);
    s = join(&a, &b);
    check_self(&s, -1);
    ENSURE(embipc_surface_crossings(s.x, s.vertex_count, s.tri, s.tri_count, NULL, 0, 1000) > 10);
    test_mesh_free(&s);
    test_mesh_free(&b);
    b = test_mesh_box(1, -.2, -.2, 2, 2, 2);   /* touches one vertex of the sphere */
    s = join(&a, &b);
    check_self(&s, -1);
    ENSURE(embipc_surface_crossings(s.x, s.vertex_count, s.tri, s.tri_count, NULL, 0, 1000) > 0);
    test_mesh_free(&s);
    test_mesh_free(&b);
    for (int k = 0; k < 40; k++) {   /* soups of one to forty triangles */
        s = test_mesh_make(3 * k + 3, k + 1, 0);
        for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] = test_uniform(0, 1) + (i % 3 == 0 ? i / 90 : 0);
        for (int i = 0; i < 3 * s.tri_count; i++)
            s.tri[i] = test_random() < 0.8 ? i : (int)(s.vertex_count * test_random());
        if (k > 0) check_self(&s, -1);
        test_mesh_free(&s);
    }
    test_mesh_free(&a);
}

/* Shells within shells: how often others go round each of them. */
static void test_depth_of_parts(void)
{
    static const double side[5] = {9, 7, 5, 3, 1};
    for (int turned = 0; turned < 32; turned++) {   /* a bit for each that faces inward */
        test_mesh s = test_mesh_make(40, 60, 0);
        embipc_part part[5];
        int depth = 0;
        for (int i = 0; i < 5; i++) {
            test_mesh a = test_mesh_box(-side[i], -side[i], -side[i], side[i], side[i], side[i]);
            memcpy(s.x + 24 * i, a.x, 24 * sizeof(double));
            for (int k = 0; k < 36; k++) s.tri[36 * i + k] = 8 * i + a.tri[turned >> i & 1 ? k - k % 3 + 2 - k % 3 : k];
            test_mesh_free(&a);
        }
        ENSURE(embipc_surface_parts(s.x, 40, s.tri, 60, NULL, part, 5) == 5);
        for (int i = 0; i < 5; i++) {
            ENSURE(part[i].depth == depth && part[i].inside_out == ((turned >> i & 1) && depth < 1));
            depth += turned >> i & 1 ? -1 : 1;
        }
        test_mesh_free(&s);
    }
}

/* Sizes whose products no double holds: what is counted is what is counted at 1 m. */
static void test_any_scale(void)
{
    static const int exponent[6] = {-1040, -700, -200, 200, 700, 1020};
    for (int which = 0; which < 4; which++) {
        test_mesh s = which & 1 ? test_mesh_sphere(1) : box();
        double *x = (double *)malloc((size_t)(3 * s.vertex_count) * sizeof *x);
        int faults[EMBIPC_FAULT_KINDS], turned[2], lids;
        embipc_gap gap;
        embipc_part part;
        for (int i = 0; i < 3 * s.vertex_count; i++) x[i] = s.x[i] = ldexp(floor(ldexp(s.x[i], 20)), -20);
        if (which & 2) s.tri_count -= 1;   /* with a hole */
        for (int i = 0; i < 3 * s.tri_count; i += 3) {   /* inside out */
            int swap = s.tri[i];
            s.tri[i] = s.tri[i + 1];
            s.tri[i + 1] = swap;
        }
        for (int k = 0; k < EMBIPC_FAULT_KINDS; k++) faults[k] = count(&s, (embipc_fault_kind)k);
        ENSURE(embipc_surface_gap(s.x, s.vertex_count, s.tri, s.tri_count, &gap) == EMBIPC_OK);
        lids = embipc_surface_fill(s.x, s.vertex_count, s.tri, s.tri_count, 8, NULL, 0, NULL);
        ENSURE(embipc_surface_parts(s.x, s.vertex_count, s.tri, s.tri_count, NULL, &part, 1) == 1);
        for (int k = 0; k < 6; k++) {
            embipc_gap g;
            embipc_part p;
            int *tri = (int *)malloc((size_t)(3 * s.tri_count) * sizeof *tri);
            for (int i = 0; i < 3 * s.vertex_count; i++) s.x[i] = ldexp(x[i], exponent[k]);
            memcpy(tri, s.tri, (size_t)(3 * s.tri_count) * sizeof *tri);
            for (int f = 0; f < EMBIPC_FAULT_KINDS; f++) ENSURE(count(&s, (embipc_fault_kind)f) == faults[f]);
            ENSURE(embipc_surface_gap(s.x, s.vertex_count, s.tri, s.tri_count, &g) == EMBIPC_OK);
            ENSURE_CLOSE(ldexp(g.distance, -exponent[k]), gap.distance, 1e-9);
            ENSURE(embipc_surface_fill(s.x, s.vertex_count, s.tri, s.tri_count, 8, NULL, 0, NULL) == lids);
            ENSURE(embipc_surface_parts(s.x, s.vertex_count, s.tri, s.tri_count, NULL, &p, 1) == 1);
            ENSURE(p.inside_out == part.inside_out && p.border_edges == part.border_edges);
            ENSURE(!isnan(p.volume) && !isnan(p.area));
            turned[0] = embipc_surface_orient(s.x, s.vertex_count, tri, s.tri_count);
            turned[1] = embipc_surface_orient(x, s.vertex_count, s.tri, s.tri_count);
            ENSURE(turned[0] == turned[1] && !memcmp(tri, s.tri, (size_t)(3 * s.tri_count) * sizeof *tri));
            for (int i = 0; i < 3 * s.tri_count && turned[1]; i += 3) {   /* and back */
                int swap = s.tri[i + 1];
                s.tri[i + 1] = s.tri[i + 2];
                s.tri[i + 2] = swap;
            }
            free(tri);
        }
        free(x);
        test_mesh_free(&s);
    }
}

static void test_bad_arguments(void)
{
    test_mesh s = box();
    embipc_gap gap;
    int tri[3] = {0, 1, 9}, count_ = 0;
    ENSURE(embipc_surface_faults(s.x, 8, tri, 1, EMBIPC_FAULT_BORDER, NULL, 0) == -1);
    ENSURE(embipc_surface_faults(s.x, 8, s.tri, 12, EMBIPC_FAULT_BORDER, NULL, 3) == -1);
    ENSURE(embipc_surface_faults(s.x, 8, s.tri, -1, EMBIPC_FAULT_BORDER, NULL, 0) == -1);
    ENSURE(embipc_surface_faults(NULL, 8, s.tri, 12, EMBIPC_FAULT_BORDER, NULL, 0) == -1);
    ENSURE(embipc_tets_faults(s.x, 8, s.tri, 3, EMBIPC_FAULT_KINDS, NULL, 0) == -1);
    ENSURE(embipc_surface_parts(s.x, 8, tri, 1, NULL, NULL, 0) == -1);
    ENSURE(embipc_surface_loops(s.tri, 12, &count_, NULL, 1) == -1);
    ENSURE(embipc_surface_loops(s.tri, 11, &count_, &count_, 1) == -1);   /* three border edges */
    tri[2] = -2;
    ENSURE(embipc_surface_loops(tri, 1, NULL, NULL, 0) == -1);
    ENSURE(embipc_surface_orient(s.x, 8, tri, 1) == -1);
    ENSURE(embipc_surface_fill(s.x, 8, tri, 1, 8, NULL, 0, NULL) == -1);
    ENSURE(embipc_surface_crossings(s.x, 8, tri, 1, NULL, 0, 10) == -1);
    ENSURE(embipc_surface_gap(s.x, 8, tri, 1, &gap) == EMBIPC_ERR_INDEX);
    ENSURE(embipc_surface_gap(s.x, 8, s.tri, 0, &gap) == EMBIPC_OK && gap.distance == DBL_MAX);
    ENSURE(embipc_surface_crossings(s.x, 8, s.tri, 0, NULL, 0, 10) == 0);
    ENSURE(embipc_surface_parts(s.x, 8, s.tri, 0, NULL, NULL, 0) == 0);
    ENSURE(embipc_surface_orient(s.x, 8, s.tri, 0) == 0);
    ENSURE(embipc_surface_fill(s.x, 8, s.tri, 0, 8, NULL, 0, NULL) == 0);
    s.x[4] = HUGE_VAL;
    ENSURE(embipc_surface_gap(s.x, 8, s.tri, 12, &gap) == EMBIPC_ERR_NOT_FINITE);
    test_mesh_free(&s);
}

/* random triangles over few vertices: everything stays within its arrays */
static void test_rubble(void)
{
    for (int k = 0; k < 400; k++) {
        int nv = 4 + (int)(8 * test_random()), nt = 1 + (int)(40 * test_random());
        int lid[3 * 64], before, filled;
        test_mesh s = test_mesh_make(nv, nt, 0);
        embipc_gap gap;
        double scale = k % 2 ? 1 : pow(10, test_uniform(-323, 307));   /* products leave their range */
        for (int i = 0; i < 3 * nv; i++) s.x[i] = scale * floor(test_uniform(0, 4));
        for (int i = 0; i < 3 * nt; i++) s.tri[i] = (int)(nv * test_random());
        for (int kind = 0; kind < EMBIPC_FAULT_KINDS; kind++) ENSURE(count(&s, (embipc_fault_kind)kind) >= 0);
        before = count(&s, EMBIPC_FAULT_TURNED);
        ENSURE(embipc_surface_orient(s.x, nv, s.tri, nt) >= 0);
        ENSURE(count(&s, EMBIPC_FAULT_TURNED) <= before);
        before = count(&s, EMBIPC_FAULT_FLAT);
        before -= embipc_surface_flip_flat(s.x, nv, s.tri, nt);
        ENSURE(count(&s, EMBIPC_FAULT_FLAT) == before);
        ENSURE(embipc_surface_loops(s.tri, nt, NULL, NULL, 0) >= 0);
        filled = embipc_surface_fill(s.x, nv, s.tri, nt, 20, lid, 64, NULL);
        ENSURE(filled >= 0 && filled < 64);
        for (int i = 0; i < 3 * filled; i++) ENSURE(lid[i] >= 0 && lid[i] < nv);
        ENSURE(embipc_surface_parts(s.x, nv, s.tri, nt, NULL, NULL, 0) >= 0);
        ENSURE(embipc_surface_crossings(s.x, nv, s.tri, nt, NULL, 0, 100000) >= 0);
        ENSURE(embipc_surface_gap(s.x, nv, s.tri, nt, &gap) == EMBIPC_OK);
        test_mesh_free(&s);
    }
}

int main(int argc, char **argv)
{
    test_unused();
    meshio_test_unused();
    test_begin(argc, argv);
    RUN(sound);
    RUN(element_faults);
    RUN(edge_faults);
    RUN(pinched);
    RUN(tet_faults);
    RUN(parts);
    RUN(loops);
    RUN(orient);
    RUN(fill);
    RUN(fill_large);
    RUN(fill_avoids_edges);
    RUN(flip_flat);
    RUN(merge);
    RUN(self);
    RUN(depth_of_parts);
    RUN(any_scale);
    RUN(bad_arguments);
    RUN(rubble);
    return test_end(__FILE__);
}
