/* The block on the slope, for test_slope.c and validate_slope.c. Gravity is turned instead of the floor: its
 * tangent is 0.5, along +x. The block settles with friction 1, then friction is set by the pair rule and the
 * velocities are cleared: what follows starts at the equilibrium gap. (With friction 100 the bottom would stay as it
 * landed and hold elastic energy; set free, that throws a soft block forward with 18 to 100 epsv.)
 *
 * Closed forms, for friction mu, threshold epsv, backward Euler with step h:
 *   mu < tan    a = g (sin - mu cos)
 *   mu > tan    v = epsv (1 - sqrt(1 - tan/mu)), all contacts alike
 *   mu = tan    a = 0 from v = epsv on: every such speed stays, and what shakes the normal forces by 1e-4 of themselves
 *               adds a threshold or more to it for good (at 1 mm and h = 5 ms, from rest, 5.5 in the minima themselves,
 *               found to a thousandth of the tolerance). So the speed is judged at tan/mu = 1/1.001, where more than
 *               that of the closed form is braked, and at mu = tan the acceleration.
 *   level       travel until stop = v0^2/(2 mu g) - v0 h/2 + epsv^2 ln 2/(mu g), v0 a multiple of mu g h */
#ifndef SLOPE_H
#define SLOPE_H
#include "watch.h"

#define SLOPE_G 9.81
/* Pa for an edge of 1 m. Ten times softer, an undamped block of 10 m shakes itself up as it slides (a rocking of 0.15 s,
 * the more the smaller h, and with 5 friction iterations too), and its acceleration is then 2 to 20 % off. */
#define SLOPE_YOUNG 1e8
#define SLOPE_CELLS 2
#define SLOPE_NODES ((SLOPE_CELLS + 1) * (SLOPE_CELLS + 1) * (SLOPE_CELLS + 1))

/* Stiffness-proportional damping, s. It does nothing to a sliding or turning block, but ends the ringing: friction is
 * zero at rest and grows to its full value within a step or two, a blow to the bottom face. */
#define SLOPE_CALM 0.02

#define SLOPE_EDGE 0.5005   /* mu that is a thousandth more than tan */

enum { SLOPE_FULL, SLOPE_CAGE, SLOPE_AFFINE, SLOPE_ORTHOGONAL, SLOPE_KINDS };
static const char *const slope_kind_name[SLOPE_KINDS] = {"full", "cage", "affine", "orthogonal"};

/* a cube of cells of six tets each, of edge 1, on z = 0 */
static void slope_cube(double *x, int *tets)
{
    static const int corner[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
    int n = SLOPE_CELLS, side = n + 1, count = 0;
    for (int i = 0; i < SLOPE_NODES; i++) {
        x[3 * i] = (double)(i % side) / n - 0.5;
        x[3 * i + 1] = (double)(i / side % side) / n - 0.5;
        x[3 * i + 2] = (double)(i / side / side) / n;
    }
    for (int c = 0; c < n * n * n; c++) {
        int base = c % n + side * (c / n % n + side * (c / n / n));
        for (int t = 0; t < 24; t++) {
            int k = corner[t / 4][t % 4];
            tets[count++] = base + k % 2 + side * (k / 2 % 2 + side * (k / 4));
        }
    }
}

typedef struct slope_world {
    embipc_world *world;
    embipc_body floor, block;
    embipc_body_parameters p;
    double damping;                    /* beta, s */
    int settled, steps, cut, most;     /* settled: steps that took; of all steps: how many, cut short, most iterations */
    long iterations;
} slope_world;

static embipc_step_stats slope_step(slope_world *w)
{
    embipc_step_stats s;
    memset(&s, 0, sizeof s);
    ENSURE(embipc_world_step(w->world, &s) == EMBIPC_OK);
    watch(w->world, &s);
    w->steps++;
    w->cut += !s.converged;
    w->iterations += s.newton_iterations;
    if (s.newton_iterations > w->most) w->most = s.newton_iterations;
    return s;
}
static double slope_x(const slope_world *w)
{
    embipc_body_state s;
    embipc_body_get_state(w->world, w->block, &s);
    return s.centre[0];
}

/* Two triangles; the diagonal is away from the block. A flexible bottom crosses an edge of the floor with edges that
 * are a little tilted, and so are then the normals of those pairs: 1e-4 of the weight at 1 mm (measured), which is a
 * hundred thresholds a second where friction and slope balance. */
static void slope_add_floor(slope_world *w, double size)
{
    double x[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
    static const int tri[6] = {0, 1, 2, 0, 2, 3};
    embipc_body_def d = embipc_default_body_def();
    for (int i = 0; i < 12; i++) x[i] = x[i] * size + (i % 3 == 1 ? size / 2 : 0);
    d.name = "floor";
    d.x = x; d.vertex_count = 4; d.triangles = tri; d.triangle_count = 2;
    d.friction = 1;
    ENSURE(embipc_body_create(w->world, &d, &w->floor) == EMBIPC_OK);
}
static void slope_add_block(slope_world *w, int kind, double size)
{
    double x[3 * SLOPE_NODES];
    int tets[24 * SLOPE_CELLS * SLOPE_CELLS * SLOPE_CELLS];
    embipc_body_def d = embipc_default_body_def();
    slope_cube(x, tets);
    d.name = "block";
    d.kind = kind == SLOPE_FULL ? EMBIPC_FULL : kind == SLOPE_CAGE ? EMBIPC_CAGE : EMBIPC_AFFINE;
    d.x = x; d.vertex_count = SLOPE_NODES;
    d.tets = tets; d.tet_count = 6 * SLOPE_CELLS * SLOPE_CELLS * SLOPE_CELLS;
    d.cage_nodes = 27;
    d.scale = size;
    d.position[2] = 0.9 * 1.7e-3 * size;   /* dhat is 1.73e-3 of the edge */
    d.material.young = SLOPE_YOUNG * size;  /* of any size it sinks in by the same share of its height */
    d.material.stiffness = SLOPE_YOUNG * size;
    d.material.damping[1] = w->damping;
    d.material.model = kind == SLOPE_ORTHOGONAL ? EMBIPC_ORTHOGONALITY : EMBIPC_COROTATED;
    d.friction = 1;
    ENSURE(embipc_body_create(w->world, &d, &w->block) == EMBIPC_OK);
    ENSURE(embipc_body_get_parameters(w->world, w->block, &w->p) == EMBIPC_OK);
}

/* Steps with friction mu until the block creeps as it should. */
static void slope_settle(slope_world *w, double tangent, double mu)
{
    double creep = w->p.friction_velocity * (1 - sqrt(1 - tangent / mu));
    embipc_world_set_pair(w->world, w->floor, w->block, mu, 1);
    for (int quiet = 0, k = 0; quiet < 5 && k < 500; k++, w->settled++) {
        embipc_step_stats s = slope_step(w);
        quiet = fabs(s.max_speed - creep) < 0.01 * w->p.friction_velocity ? quiet + 1 : 0;
    }
}
/* Settled on the floor under friction 1, gravity turned so that its tangent is `tangent`; it still creeps. */
static int slope_begin(slope_world *w, int kind, double size, double h, double tangent, double damping)
{
    embipc_world_def d = embipc_default_world_def();
    double c = 1 / sqrt(1 + tangent * tangent);
    int failed = test_bad;
    memset(w, 0, sizeof *w);
    w->damping = damping;
    d.time_step = h;
    d.gravity[0] = SLOPE_G * c * tangent;
    d.gravity[2] = -SLOPE_G * c;
    ENSURE(embipc_world_create(&d, &w->world, NULL) == EMBIPC_OK);
    slope_add_floor(w, 20 + 2 * size);
    slope_add_block(w, kind, size);
    if (test_bad == failed) slope_settle(w, tangent, 1);
    return test_bad == failed;
}
/* what comes now happens with this friction, and starts from rest */
static void slope_release(slope_world *w, double mu)
{
    double zero[3] = {0, 0, 0};
    embipc_world_set_pair(w->world, w->floor, w->block, mu, 1);
    embipc_body_set_velocity(w->world, w->block, zero, zero);
}

typedef struct slope_result {
    int kind;
    double size, h;
    double epsv;
    double slide;      /* acceleration at mu = 0.49 over the closed form */
    double creep;      /* speed at mu = 0.51 over the closed form */
    double edge;       /* the same at SLOPE_EDGE, from the creep at 0.51 */
    double edge_rest;  /* from rest */
    double edge_calm;  /* and with SLOPE_CALM */
    double limit;      /* speed at mu = 0.5 from rest, with SLOPE_CALM, over epsv */
    double drift;      /* largest acceleration there, and from the creep at 0.51, over g sin */
    double stop;       /* travel over the closed form */
    double left;       /* speed in the end of it, over epsv */
    int settled, steps, cut, most;
    double iterations; /* a step */
} slope_result;

static void slope_count(slope_result *r, slope_world *w)
{
    if (w->settled > r->settled) r->settled = w->settled;
    r->steps += w->steps;
    r->cut += w->cut;
    if (w->most > r->most) r->most = w->most;
    r->iterations += (double)w->iterations;
    r->epsv = w->p.friction_velocity;
    embipc_world_destroy(w->world);
}
/* mu below tan: acceleration by second differences from 0.25 to 1 s */
static void slope_slide(slope_result *r)
{
    slope_world w;
    int last = (int)(1 / r->h + 0.5), first = (int)(0.25 / r->h + 0.5), middle, k = 0;
    double x[3] = {0, 0, 0}, span, a = SLOPE_G * (0.5 - 0.49) / sqrt(1.25);
    if ((last - first) % 2) first++;
    middle = (first + last) / 2;
    if (!slope_begin(&w, r->kind, r->size, r->h, 0.5, 0)) return;
    slope_release(&w, 0.49);
    for (int step = 1; step <= last; step++) {
        slope_step(&w);
        if (step == first || step == middle || step == last) x[k++] = slope_x(&w);
    }
    span = (middle - first) * r->h;
    r->slide = (x[2] - 2 * x[1] + x[0]) / (span * span) / a;
    slope_count(r, &w);
}
/* Speed over the second half of 1 s, of 2 s for a block that swings longer; from rest, or from the creep under the friction `from`. r->drift grows to hold the
 * acceleration from the third quarter to the fourth. */
static double slope_creep(slope_result *r, double mu, double from, double damping)
{
    slope_world w;
    int last = (int)((r->size > 1 ? 2 : 1) / r->h + 0.5), quarter = last / 4;
    double x[3] = {0, 0, 0}, t = quarter * r->h;
    if (!slope_begin(&w, r->kind, r->size, r->h, 0.5, damping)) return -1;
    if (from > 0) {
        slope_settle(&w, 0.5, from);
        embipc_world_set_pair(w.world, w.floor, w.block, mu, 1);
    } else slope_release(&w, mu);
    for (int step = 1; step <= last; step++) {
        slope_step(&w);
        if (step == last - 2 * quarter) x[0] = slope_x(&w);
        if (step == last - quarter) x[1] = slope_x(&w);
    }
    x[2] = slope_x(&w);
    r->drift = fmax(r->drift, fabs(x[2] - 2 * x[1] + x[0]) / (t * t) / (SLOPE_G * 0.5 / sqrt(1.25)));
    slope_count(r, &w);
    return (x[2] - x[0]) / (2 * t);
}
static void slope_stop(slope_result *r)
{
    slope_world w;
    double mu = 0.5, unit = mu * SLOPE_G * r->h, v[3] = {0, 0, 0}, zero[3] = {0, 0, 0}, x, want;
    int n = (int)(sqrt(mu * SLOPE_G * r->size) / unit);   /* about half its length, and 20 steps at least */
    embipc_step_stats s;
    memset(&s, 0, sizeof s);
    if (n < 20) n = 20;
    v[0] = n * unit;
    if (!slope_begin(&w, r->kind, r->size, r->h, 0, 0)) return;
    slope_release(&w, mu);
    embipc_body_set_velocity(w.world, w.block, v, zero);
    x = slope_x(&w);
    for (int step = 0; step < n + 20; step++) s = slope_step(&w);
    want = v[0] * v[0] / (2 * mu * SLOPE_G) - v[0] * r->h / 2 + w.p.friction_velocity * w.p.friction_velocity * log(2) / (mu * SLOPE_G);
    r->stop = (slope_x(&w) - x) / want;
    r->left = s.max_speed / w.p.friction_velocity;
    slope_count(r, &w);
}

static slope_result slope_run(int kind, double size, double h)
{
    slope_result r;
    double edge = 1 - sqrt(1 - 0.5 / SLOPE_EDGE);
    memset(&r, 0, sizeof r);
    r.kind = kind; r.size = size; r.h = h;
    slope_slide(&r);
    r.creep = slope_creep(&r, 0.51, 0, 0);
    r.edge = slope_creep(&r, SLOPE_EDGE, 0.51, 0);
    r.edge_rest = slope_creep(&r, SLOPE_EDGE, 0, 0);
    r.edge_calm = slope_creep(&r, SLOPE_EDGE, 0, SLOPE_CALM);
    r.drift = 0;
    r.limit = slope_creep(&r, 0.5, 0, SLOPE_CALM);
    (void)slope_creep(&r, 0.5, 0.51, 0);
    if (r.epsv > 0) {
        r.creep /= r.epsv * (1 - sqrt(1 - 0.5 / 0.51));
        r.edge /= r.epsv * edge;
        r.edge_rest /= r.epsv * edge;
        r.edge_calm /= r.epsv * edge;
        r.limit /= r.epsv;
    }
    slope_stop(&r);
    if (r.steps) r.iterations /= r.steps;
    return r;
}
/* Gravity takes it farther than its own length in one step: friction forces lagged by a step then stand in the wrong
 * places, and the block may begin to spin. */
static int slope_is_far(const slope_result *r) { return SLOPE_G * r->h * r->h > r->size; }

static void slope_check(const slope_result *r)
{
    int failed = test_bad;
    ENSURE_CLOSE(r->creep, 1, 1e-3);
    ENSURE_CLOSE(r->edge, 1, 1e-3);
    ENSURE_CLOSE(r->edge_rest, 1, 0.02);
    ENSURE_CLOSE(r->edge_calm, 1, 1e-3);
    ENSURE(r->drift < 1e-4);
    if (!slope_is_far(r)) {
        ENSURE_CLOSE(r->slide, 1, 0.01);
        ENSURE_CLOSE(r->stop, 1, 0.01);
        ENSURE(r->cut == 0);
    }
    if (test_bad > failed) printf("  the above: %s, edge %g m, h = %g s\n", slope_kind_name[r->kind], r->size, r->h);
}
#endif
