/* The cage builder over all of DATA: every closed surface without self-crossings gets cages of 8, 34, 100 and 500
 * nodes (or the answer how many it needs), that hold what they promise and fall on a floor for a second. The table:
 *   got     nodes (tets that lie on others, for other pieces of solid)
 *   least   solid in the emptiest cell, over the volume of the cell
 *   ms      to build
 *   stiff   stiffness of the cage over that of the full mesh, where DATA has one: standard pull of cage_test.h
 * Then cantilever and twist against cage resolution, and a million triangles. The first argument takes only what has it
 * in its name (table, convergence, million_triangles), a second one only such rows of the table. Comb and FinRay
 * finger, with and without copies, are in test_cage.c. */
#include "../tools/system.h"
#include "inside.h"
#include "test.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/shapes.h"
#include "../tools/scene.h"
#include "validate.h"
#include "cage_test.h"
#include <time.h>

static const char *const cage_files[] = {
    "scenes/bubble.obj", "scenes/plate_8in.obj", "scenes/plate_gen.obj", "scenes/teddy.obj", "scenes/umi_finger.obj",
    "scenes/dish_rack_parts/part_01.obj", "scenes/dish_rack_parts/part_07.obj",
    "scenes/dish_rack_parts/part_17.obj", "scenes/ball.msh", "scenes/bowl_evo.msh",
    "scenes/bubble.msh", "scenes/cyl_press_n4.msh", "scenes/cyl_press_n7.msh", "scenes/cyl_press_n11.msh",
    "scenes/cyl_press_n16.msh", "scenes/finray_gen.msh", "scenes/plate_8in.msh", "scenes/plate_gen.msh",
    "scenes/squeeze_ball.msh", "scenes/teddy.msh", "scenes/teddy_embed_low.msh", "scenes/teddy_embed_medium_safe.msh",
    "scenes/torus_drake.msh", "scenes/umi_finger.msh", "scenes/allegro/base_link.obj", "scenes/allegro/link_0.0.obj",
    "scenes/allegro/link_1.0.obj", "scenes/allegro/link_2.0.obj", "scenes/allegro/link_3.0.obj",
    "scenes/allegro/link_3.0_tip.obj", "scenes/allegro/link_12.0_right.obj", "scenes/allegro/link_13.0.obj",
    "scenes/allegro/link_14.0.obj", "scenes/allegro/link_15.0.obj", "scenes/allegro/link_15.0_tip.obj",
    "surfaces/spot.obj", "surfaces/bunny.obj", "surfaces/mj_torus.obj", "surfaces/ballA.obj", "fixtures/bar-186.msh",
    "fixtures/bar-651.msh", "fixtures/bar-2523.msh", "fixtures/beam_20x2x2.msh", "fixtures/beam_40x4x4.msh",
    "fixtures/cliff.obj", "fixtures/cone-simple.obj", "fixtures/crack.obj", "fixtures/cube.msh",
    "fixtures/cylinder.obj", "fixtures/icosphere_1.obj", "fixtures/icosphere_2.obj", "fixtures/icosphere_3.obj",
    "fixtures/internal_edges.obj",
    "fixtures/mat20x20.msh", "fixtures/pyramid.msh", "fixtures/rod.msh", "fixtures/roller.obj", "fixtures/sphere1K.msh",
    "fixtures/spike.msh", "fixtures/tet-perp-edges.msh", "fixtures/tet-pyramid.msh", "fixtures/tet.msh",
    "fixtures/torus.msh", "fixtures/two-cubes-close.obj", "fixtures/wedge.msh", "scenes/arch25_ipc.msh",
    "scenes/wire_rack.obj"};
enum { CAGE_FILES = sizeof cage_files / sizeof *cage_files };

static double cage_ms(void) { return 1e3 * (double)clock() / CLOCKS_PER_SEC; }

static embipc_material cage_material(int averaged)
{
    embipc_material m = embipc_default_body_def().material;
    m.poisson = 0.3;
    m.averaged = averaged;
    return m;
}

/* ---- falling on a floor ---- */

/* The body, soft enough to sag by some percent (as in embi_body_is_stiff), falls a tenth of its size on a floor: for
 * `duration` s everything stays finite and near, and nothing crosses, by exact arithmetic at ten moments. Returns what
 * goes wrong, or NULL. */
static const char *cage_drop(const test_mesh *s, const embipc_cage *cage, double duration)
{
    static const double floor_x[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
    static const int floor_tri[6] = {0, 1, 2, 0, 2, 3};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def fd = embipc_default_body_def(), bd = fd;
    embipc_world *w;
    embipc_body body;
    embipc_solid solid;
    double box[6], size, thick, S[9], V[9];
    const char *fault = NULL;
    int steps;
    embi_box_points(box, s->x, s->vertex_count);
    size = embi_box_diagonal(box);
    wd.time_step = 0.02;
    wd.max_iterations = 12;   /* a step may be cut short */
    if (embipc_world_create(&wd, &w, NULL)) return "no world";
    fd.x = floor_x; fd.vertex_count = 4; fd.triangles = floor_tri; fd.triangle_count = 2;
    fd.scale = 20 * size;
    fd.friction = bd.friction = 0.5;
    bd.kind = EMBIPC_CAGE;
    bd.x = s->x; bd.vertex_count = s->vertex_count; bd.triangles = s->tri; bd.triangle_count = s->tri_count;
    bd.cage = cage;
    embi_solid(&solid, s->x, s->vertex_count, s->tri, s->tri_count);
    memcpy(S, solid.second, sizeof S);
    embi_eigen_symmetric(3, S, V);
    thick = 12 * fmin(S[0], fmin(S[4], S[8])) / solid.volume;   /* its square */
    bd.material.young = 15 * bd.material.density * 9.81 * size * size * size / thick;
    for (int k = 0; k < 3; k++) bd.position[k] = -(box[k] + box[3 + k]) / 2;
    bd.position[2] = 0.1 * size - box[2];
    if (embipc_body_create(w, &fd, &body) || embipc_body_create(w, &bd, &body)) {
        static char text[512];
        snprintf(text, sizeof text, "%.500s", embipc_world_error(w)->text);
        embipc_world_destroy(w);
        return text;
    }
    steps = (int)(duration / wd.time_step + 0.5);
    for (int i = 1; i <= steps && !fault; i++) {
        embipc_step_stats stats;
        embipc_body_view v;
        validate_count count = {0, 0, 0};
        memset(&stats, 0, sizeof stats);
        if (embipc_world_step(w, &stats)) fault = "a step failed";
        if (embipc_body_get_view(w, body, &v)) fault = "no view";
        if (!(stats.max_speed <= 5 * sqrt(9.81 * size))) fault = "blows up";
        for (int k = 0; !fault && k < 3 * v.vertex_count; k++)
            if (!(fabs(v.x[k]) <= 4 * size)) fault = "flies away";
        if (i % (steps < 10 ? 1 : steps / 10) == 0) {
            validate_world(w, NULL, &count);
            if (count.crossings) fault = "crosses";
        }
    }
    embipc_world_destroy(w);
    return fault;
}

/* ---- the table over DATA ---- */

static test_mesh cage_read(const char *name)
{
    const char *path = test_data(name);
    test_mesh s = test_mesh_read(path ? path : "");
    if (s.tet_count) geometry_skin(&s);
    return s;
}

static void cage_row(const char *name, const test_mesh *solid, const test_mesh *s)
{
    static const int wish[4] = {8, 34, 100, 500};
    embipc_material m = cage_material(0);
    embipc_solid integrals;
    double full = -1;
    embi_solid(&integrals, s->x, s->vertex_count, s->tri, s->tri_count);
    if (solid->tet_count && solid->tet_count < 8000) full = cage_full_compliance(solid, &integrals, &m);
    printf("  %-26s %6d", name, s->tri_count);
    for (int i = 0; i < 4; i++) {
        embipc_cage_def d = embipc_default_cage_def();
        embipc_cage c;
        embipc_error e;
        const char *fault;
        double start = cage_ms();
        embipc_result r;
        d.nodes = wish[i];
        r = embipc_cage_build(&d, s->x, s->vertex_count, s->tri, s->tri_count, NULL, &c, &e);
        start = cage_ms() - start;
        if (r == EMBIPC_ERR_ARGUMENT && e.value[0] > wish[i]) {   /* a clear answer */
            printf(" | at least %-22.0f", e.value[0]);
            continue;
        }
        ENSURE(r == EMBIPC_OK);
        if (r != EMBIPC_OK) { printf(" | %s", e.text); continue; }
        printf(" | %3d (%3d) %4.2f %5.0f", c.node_count, c.copies, cage_least_fill(&c), start);
        if (full > 0 && c.parts == 1)
            printf(" %6.3f", full / cage_compliance(c.x, c.node_count, c.tets, c.tet_count, c.tet_volume, c.tet_moment,
                                                    &integrals, &m));
        else printf("      -");
        fault = cage_fault(s, &c);
        if (!fault && cage_components(&c) != c.parts) fault = "as many bodies as parts";
        if (!fault) fault = cage_drop(s, &c, 1);
        if (fault) printf(" %s", fault);
        ENSURE(!fault);
        if (5 * abs(c.node_count - wish[i]) > wish[i]) printf(" *");
        embipc_cage_free(&c);
        fflush(stdout);
    }
    printf("\n");
}

static const char *cage_only = "";   /* rows whose file names contain this */

static void test_table(void)
{
    if (!test_data("")) SKIP("no DATA");
    printf("  %-26s %6s | 8: got  least    ms  stiff | %-28s | %-28s | 500\n", "surface", "tris", "34", "100");
    for (int i = 0; i < CAGE_FILES; i++) {
        test_mesh solid, s;
        if (!strstr(cage_files[i], cage_only)) continue;
        solid = cage_read(cage_files[i]);
        s = cage_surface(&solid, NULL);
        ENSURE(s.tri_count > 0);
        if (s.tri_count) cage_row(validate_name(cage_files[i]), &solid, &s);
        test_mesh_free(&solid);
        test_mesh_free(&s);
    }
}

/* ---- convergence: cantilever and twist ---- */

/* A bar 1 x 0.2 x 0.2 whose end x < 0.05 is held by springs; the load of the other end, x > 0.95: a force along z, or a
 * torque about x. Springs and loads are at the same vertices of the surface, whatever carries them. */
typedef struct bar { test_mesh solid, surface; int *kept; } bar;

/* a tet mesh that carries the surface: each vertex by a tet's nodes, or (tie NULL) by a node of its own */
typedef struct carrier {
    const double *x;
    int node_count;
    const int *tets;
    int tet_count;
    const double *volume;
    const int *tie;
    const double *weight;
} carrier;

/* work of the load on what it does */
static double bar_answer(const bar *b, const carrier *c, int twist)
{
    embipc_material m = cage_material(1);
    cage_static s;
    int nv = b->surface.vertex_count, n = c->node_count, rows = 0, loaded = 0;
    int *node = (int *)malloc((size_t)(4 * nv) * sizeof(int));
    double *w = (double *)malloc((size_t)(4 * nv) * sizeof(double)), work = -1;
    double *f = (double *)calloc((size_t)(6 * n), sizeof(double));
    for (int v = 0; v < nv; v++) loaded += b->surface.x[3 * v] > 0.95;
    for (int v = 0; v < nv; v++) {
        const double *p = b->surface.x + 3 * v;
        for (int i = 0; i < 4; i++) {
            double load[3] = {0, 0, 1.0 / loaded}, wi = c->tie ? c->weight[4 * v + i] : i == 0;
            int at = c->tie ? c->tets[4 * c->tie[v] + i] : b->kept[v];
            if (twist) embi_set(load, 0, -(p[2] - 0.1) / loaded, (p[1] - 0.1) / loaded);
            if (p[0] > 0.95) embi_axpy(f + 3 * at, wi, load);
            node[4 * rows + i] = at;
            w[4 * rows + i] = wi;
        }
        rows += p[0] < 0.05;
    }
    if (cage_static_begin(&s, c->x, n, c->tets, c->tet_count, c->volume, &m)) {
        s.row_node = node;
        s.row_weight = w;
        s.row_count = rows;
        s.spring = 1e2 * m.young * 0.2 * 0.2 / 0.05 / rows;
        cage_static_diagonal(&s, n <= 1200);
        work = cage_static_solve(&s, f, f + 3 * n);
    }
    cage_static_end(&s);
    free(node);
    free(w);
    free(f);
    return work;
}
static void bar_full(const bar *b, double work[2])
{
    carrier c = {b->solid.x, b->solid.vertex_count, b->solid.tets, b->solid.tet_count, NULL, NULL, NULL};
    double *volume = (double *)malloc((size_t)c.tet_count * sizeof *volume);
    for (int t = 0; t < c.tet_count; t++) {
        double X[12];
        embi_tet_gather(X, c.x, c.tets + 4 * t);
        volume[t] = embi_tet_det(X, X + 3, X + 6, X + 9) / 6;
    }
    c.volume = volume;
    for (int twist = 0; twist < 2; twist++) work[twist] = bar_answer(b, &c, twist);
    free(volume);
}
static bar bar_make(int n)
{
    bar b;
    b.solid = geometry_box_tets(5 * n, n, n, 1, 0.2, 0.2);
    b.kept = (int *)malloc((size_t)b.solid.vertex_count * sizeof(int));
    b.surface = cage_surface(&b.solid, b.kept);
    return b;
}
static void bar_free(bar *b)
{
    test_mesh_free(&b->solid);
    test_mesh_free(&b->surface);
    free(b->kept);
}

/* The best cage made by hand: cubes that fit the bar exactly (but for some air against rounding), each cut into five
 * tets, the big one in the middle, neighbours mirrored. Returns the count of nodes. */
static int bar_by_hand(const bar *b, int nx, int n, double work[2])
{
    static const int of_cube[20] = {0, 1, 2, 4, 3, 1, 7, 2, 5, 1, 4, 7, 6, 2, 7, 4, 1, 2, 4, 7};   /* x + 2 y + 4 z */
    embi_memory m;
    test_mesh g = test_mesh_tet_grid(nx, n, n);
    int nv = b->surface.vertex_count, nt = 5 * nx * n * n, *tets = (int *)malloc((size_t)(4 * nt) * sizeof(int));
    int *tie = (int *)malloc((size_t)nv * sizeof(int));
    double *weight = (double *)malloc((size_t)(4 * nv) * sizeof(double));
    double *volume = (double *)malloc((size_t)(11 * nt) * sizeof(double));
    carrier c = {g.x, g.vertex_count, tets, nt, volume, tie, weight};
    embi_memory_init(&m, NULL);
    for (int i = 0; i < 4 * nt; i++) {
        int cell = i / 20, at[3] = {cell / n / n, cell / n % n, cell % n}, corner = of_cube[i % 20];
        at[0] += (corner & 1) ^ ((at[0] + at[1] + at[2]) & 1);
        at[1] += corner >> 1 & 1;
        at[2] += corner >> 2;
        tets[i] = (at[0] * (n + 1) + at[1]) * (n + 1) + at[2];
    }
    for (int i = 0; i < 3 * g.vertex_count; i++) {
        double l = i % 3 ? 0.2 : 1;
        g.x[i] = -1e-9 + (l + 2e-9) * g.x[i] / (i % 3 ? n : nx);
    }
    for (int t = 0; t < nt; t++) {
        double X[12];
        int swap = tets[4 * t];
        embi_tet_gather(X, g.x, tets + 4 * t);
        if (embi_tet_det(X, X + 3, X + 6, X + 9) > 0) continue;
        tets[4 * t] = tets[4 * t + 1];
        tets[4 * t + 1] = swap;
    }
    ENSURE(!embi_embed(&m, g.x, g.vertex_count, tets, nt, b->surface.x, nv, 0, tie, weight, NULL));
    ENSURE(!embi_cage_integrals(&m, g.x, tets, nt, b->surface.x, nv, b->surface.tri, b->surface.tri_count, volume,
                                volume + nt, NULL));
    for (int twist = 0; twist < 2; twist++) work[twist] = bar_answer(b, &c, twist);
    free(tets);
    free(tie);
    free(weight);
    free(volume);
    test_mesh_free(&g);
    return c.node_count;
}

/* Coarse cages bend too little, and less so the finer they are. With the averaged volume strain, which is on by
 * default. Beside them what cages by hand do, interpolated to the same number of nodes: the built ones, whose lattice
 * does not know the bar, are to give way as much, taking the two loads together. */
static void test_convergence(void)
{
    static const int wish[9] = {12, 24, 34, 50, 80, 100, 200, 500, 1200};
    static const int by_hand[9][2] = {{2, 1}, {3, 1}, {5, 1}, {8, 1}, {11, 1}, {10, 2}, {15, 3}, {20, 4}, {30, 6}};
    bar b = bar_make(8);
    double full[2], hand[9][2], last[2] = {0, 0};
    int nodes[9];
    bar_full(&b, full);
    printf("  bar 1 x 0.2 x 0.2 held at one end; work of a load on the other, over that of the full mesh, %d nodes\n",
           b.solid.vertex_count);
    for (int i = 0; i < 9; i++) {
        nodes[i] = bar_by_hand(&b, by_hand[i][0], by_hand[i][1], hand[i]);
        printf("  by hand %2d x %d x %d, %4d nodes: cantilever %.3f, twist %.3f\n", by_hand[i][0], by_hand[i][1],
               by_hand[i][1], nodes[i], hand[i][0] / full[0], hand[i][1] / full[1]);
    }
    printf("  %6s %6s %10s %10s %10s %10s\n", "asked", "nodes", "cantilever", "by hand", "twist", "by hand");
    for (int i = 0; i < 9; i++) {
        embipc_cage_def d = embipc_default_cage_def();
        embipc_cage c;
        carrier k;
        double together = 1, at;
        int above = 1;
        d.nodes = wish[i];
        ENSURE(embipc_cage_build(&d, b.surface.x, b.surface.vertex_count, b.surface.tri, b.surface.tri_count, NULL, &c,
                                 NULL) == EMBIPC_OK);
        k.x = c.x; k.node_count = c.node_count; k.tets = c.tets; k.tet_count = c.tet_count;
        k.volume = c.tet_volume; k.tie = c.vertex_tet; k.weight = c.vertex_weight;
        while (above < 8 && nodes[above] < c.node_count) above++;
        at = log((double)c.node_count / nodes[above - 1]) / log((double)nodes[above] / nodes[above - 1]);
        printf("  %6d %6d", wish[i], c.node_count);
        for (int twist = 0; twist < 2; twist++) {
            double got = bar_answer(&b, &k, twist), like = hand[above - 1][twist] * (1 - at) + hand[above][twist] * at;
            printf(" %10.3f %10.3f", got / full[twist], like / full[twist]);
            together *= sqrt(got / like);
            got /= full[twist];
            ENSURE(got > last[twist] * 0.9 && got < 1);
            last[twist] = got;
        }
        printf("   %.2f of by hand\n", together);
        ENSURE(together > 0.75);
        if (wish[i] == 34) ENSURE(together > 0.95);
        embipc_cage_free(&c);
    }
    ENSURE(last[0] > 0.9 && last[1] > 0.9);
    bar_free(&b);
}

/* ---- a million triangles ---- */

typedef struct counted { size_t now, most; } counted;
static void *counted_alloc(size_t size, void *ctx)
{
    counted *k = (counted *)ctx;
    k->now += size;
    if (k->now > k->most) k->most = k->now;
    return malloc(size);
}
static void counted_free(void *p, size_t size, void *ctx)
{
    ((counted *)ctx)->now -= size;
    free(p);
}

/* Into 100 nodes in under 20 s on one core, with memory that grows like the surface. */
static void test_million_triangles(void)
{
    double bytes[2], ms[2];
    for (int large = 0; large < 2; large++) {
        int U = large ? 1000 : 500, V = U / 2;
        test_mesh s = test_mesh_make(U * V, 2 * U * V, 0);
        embipc_cage_def d = embipc_default_cage_def();
        counted k = {0, 0};
        embipc_allocator hooks = {counted_alloc, counted_free, &k};
        embipc_cage c;
        for (int i = 0; i < U * V; i++) {   /* a torus, waved and bent */
            double a = 2 * 3.14159265358979323846 * (i / V) / U, b = 2 * 3.14159265358979323846 * (i % V) / V;
            double r = 0.3 + 0.05 * sin(7 * a) * cos(3 * b), *p = s.x + 3 * i;
            int n = (i / V + 1) % U * V, j = (i % V + 1) % V, *t = s.tri + 6 * i;
            embi_set(p, (1 + r * cos(b)) * cos(a), (1 + r * cos(b)) * sin(a), r * sin(b) + 0.2 * sin(2 * a));
            t[0] = t[3] = i; t[1] = n + i % V; t[2] = t[4] = n + j; t[5] = i - i % V + j;
        }
        d.nodes = 100;
        ms[large] = cage_ms();
        ENSURE(embipc_cage_build(&d, s.x, s.vertex_count, s.tri, s.tri_count, &hooks, &c, NULL) == EMBIPC_OK);
        ms[large] = cage_ms() - ms[large];
        bytes[large] = (double)k.most / s.tri_count;
        printf("  %7d triangles: %d nodes, %.1f s, %.0f bytes a triangle\n", s.tri_count, c.node_count,
               ms[large] / 1e3, bytes[large]);
        ENSURE(!cage_fault(&s, &c) && abs(c.node_count - 100) <= 20);
        embipc_cage_free(&c);
        test_mesh_free(&s);
        ENSURE(k.now == 0);
    }
    ENSURE(ms[1] < 20e3 && bytes[1] < 1.2 * bytes[0]);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    if (argc > 2) cage_only = argv[2];
    RUN(table);
    RUN(convergence);
    RUN(million_triangles);
    test_unused();
    exact_unused();
    validate_unused();
    cage_test_unused();
    return test_end("validate_cage");
}
