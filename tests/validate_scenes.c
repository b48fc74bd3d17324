/* Every scene of examples/scenes from start to end, and derived parameters on bodies of 1 mm to 100 m.
 * Run from the directory that holds examples/. */
#include "../tools/system.h"
#include "../embipc.h"
#include "test.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/shapes.h"
#include "../tools/scene.h"
#include "validate.h"
#include "slope.h"
#include <dirent.h>

#define SCENES "examples/scenes"
#define EXACT_EVERY 5

/* ---- scenes ---- */
typedef struct report {
    int steps, cut, most, still;   /* still: steps in which no drive moves */
    long iterations, listed;
    double growth;                 /* of the objective in still steps, over its rounding; largest */
    double force;                  /* m dv/dt - m g - forces of contacts and joints, over m g + sum |forces|; largest of converged steps */
    double smallest, seconds;
    validate_count exact;
} report;

/* Does a drive move between two times, or still want to? */
static int drives_move(const scene *s, double from, double to)
{
    for (int i = 0; i < s->drive_count; i++) {
        const scene_drive *d = &s->drive[i];
        for (int k = 0; k + 1 < d->key_count; k++) {
            const double *a = d->keys + 7 * k, *b = a + 7;
            if (memcmp(a + 1, b + 1, 6 * sizeof *a) != 0 && a[0] < to && b[0] > from) return 1;
        }
    }
    return 0;
}
/* The pairs that the world never tests: by the scene, and by joints. */
static char *skipped_pairs(const validate_run *r)
{
    int n = r->s.body_count;
    char *skip = (char *)calloc((size_t)(n * n + 1), 1);
    for (int k = 0; k < n * n; k++) {
        embipc_pair_parameters p;
        memset(&p, 0, sizeof p);
        ENSURE(embipc_world_get_pair(r->world, r->s.body[k / n].handle, r->s.body[k % n].handle, &p) == EMBIPC_OK);
        skip[k] = !p.contact;
    }
    return skip;
}
static int is_driven(const scene *s, int body)
{
    for (int i = 0; i < s->drive_count; i++)
        if (s->drive[i].body == body) return 1;
    return 0;
}
static int damped(const scene *s, int body) { return s->body[body].def.material.damping[0] != 0; }

/* Newton's second law per body that is neither driven nor slowed by alpha. v: velocities before, replaced. */
static double force_error(const validate_run *r, double *v, int compare)
{
    embipc_pair_force p[64];
    int n = embipc_world_pair_forces(r->world, p, 64);
    double worst = 0, h = r->s.world.time_step;
    for (int i = 0; i < r->s.body_count; i++) {
        embipc_body body = r->s.body[i].handle;
        embipc_body_state s;
        double sum[3] = {0, 0, 0}, size = 0, miss = 0;
        ENSURE(n <= 64);
        embipc_body_get_state(r->world, body, &s);
        for (int k = 0; k < 3; k++) size += fabs(s.mass * r->s.world.gravity[k]);
        for (int k = 0; k < n && k < 64; k++) {
            double sign = p[k].a.index1 == body.index1 ? 1 : p[k].b.index1 == body.index1 ? -1 : 0;
            for (int c = 0; c < 3; c++) { sum[c] += sign * p[k].force[c]; size += fabs(sign * p[k].force[c]); }
        }
        for (int k = 0; k < r->s.joint_count; k++) {
            const scene_joint *j = &r->s.joint[k];
            double sign = j->b == i ? 1 : j->a == i ? -1 : 0;
            embipc_joint_state held;
            embipc_joint_get_state(r->world, j->handle, &held);
            for (int c = 0; c < 3; c++) { sum[c] += sign * held.force[c]; size += fabs(sign * held.force[c]); }
        }
        for (int c = 0; c < 3; c++) {
            double e = s.mass * ((s.velocity[c] - v[3 * i + c]) / h - r->s.world.gravity[c]) - sum[c];
            v[3 * i + c] = s.velocity[c];
            miss += e * e;
        }
        if (compare && size > 0 && s.mass > 0 && r->s.body[i].def.kind >= EMBIPC_AFFINE && !is_driven(&r->s, i) && !damped(&r->s, i))
            worst = fmax(worst, sqrt(miss) / size);
    }
    return worst;
}
static report scene_report(validate_run *r)
{
    report t;
    double h = r->s.world.time_step, *v = (double *)calloc((size_t)(3 * r->s.body_count + 1), sizeof *v);
    char *skip = skipped_pairs(r);
    int steps = (int)ceil(r->s.duration / h - 1e-9), failed = test_bad;
    memset(&t, 0, sizeof t);
    t.smallest = INFINITY;
    t.growth = -INFINITY;
    force_error(r, v, 0);
    for (int step = 1; step <= steps; step++) {
        embipc_step_stats s;
        double start = system_seconds(), error;
        memset(&s, 0, sizeof s);
        ENSURE(embipc_world_step(r->world, &s) == EMBIPC_OK);
        if (test_bad > failed) break;
        t.seconds += system_seconds() - start;
        t.steps++;
        t.cut += !s.converged;
        t.iterations += s.newton_iterations;
        if (s.newton_iterations > t.most) t.most = s.newton_iterations;
        t.smallest = fmin(t.smallest, s.min_distance);
        t.listed += embipc_world_intersections(r->world, NULL, 0);
        if (step % EXACT_EVERY == 0 || step == steps) validate_world(r->world, skip, &t.exact);
        error = force_error(r, v, s.converged);
        t.force = fmax(t.force, error);
        if (drives_move(&r->s, (step - 1) * h, step * h) || s.drive_short > 0) continue;
        t.still++;
        t.growth = fmax(t.growth, (s.objective_after - s.objective_before) / s.objective_rounding);
    }
    free(skip);
    free(v);
    return t;
}
static void run_scene_at(const char *path, double h)
{
    validate_run r;
    tool_error e;
    report t;
    memset(&r, 0, sizeof r);
    r.ready = 1;
    e.text[0] = 0;
    if (!scene_read(&r.s, path, &e)) { printf("  %s\n", e.text); ENSURE(!"scene can be read"); validate_end(&r); return; }
    if (h > 0) r.s.world.time_step = h;
    if (!scene_build(&r.s, &r.world, &e)) { printf("  %s\n", e.text); ENSURE(!"scene can be built"); validate_end(&r); return; }
    t = scene_report(&r);
    printf("  %-18s %6g %5d %6.1f%% %7.2f %5d %9.2e %5d %10.2e %9.1e %8ld %6ld %5ld %6.1f\n", validate_name(path), r.s.world.time_step,
           t.steps, 100.0 * (t.steps - t.cut) / t.steps, (double)t.iterations / t.steps, t.most, t.smallest, t.still, t.growth,
           t.force, t.exact.boxes, t.exact.exact, t.exact.crossings + t.listed, t.steps * r.s.world.time_step / t.seconds);
    fflush(stdout);
    ENSURE(t.exact.crossings == 0 && t.listed == 0);
    ENSURE(t.smallest > 0);
    ENSURE(t.growth <= 1);
    ENSURE(t.force <= 0.001);
    ENSURE(t.cut <= t.steps / 50);
    validate_end(&r);
}
static void scene_heading(void)
{
    printf("  %-18s %6s %5s %7s %7s %5s %9s %5s %10s %9s %8s %6s %5s %6s\n", "scene", "h s", "steps", "conv.", "its", "most", "dmin m",
           "still", "growth", "force", "boxes", "exact", "cross", "x real");
}
static int name_order(const void *a, const void *b) { return strcmp((const char *)a, (const char *)b); }
static void test_scenes(void)
{
    static char name[64][256];
    int n = 0;
    DIR *d = opendir(SCENES);
    ENSURE(d != NULL);
    if (!d) return;
    for (struct dirent *f; n < 64 && (f = readdir(d)) != NULL;) {
        size_t length = strlen(f->d_name);
        if (length < 6 || length > 200 || strcmp(f->d_name + length - 5, ".json") != 0) continue;
        snprintf(name[n++], sizeof name[0], "%s/%.200s", SCENES, f->d_name);
    }
    closedir(d);
    qsort(name, (size_t)n, sizeof name[0], name_order);
    ENSURE(n >= 6);
    scene_heading();
    for (int i = 0; i < n; i++) run_scene_at(name[i], 0);
}
static void test_time_steps(void)
{
    static const char *const name[2] = {SCENES "/squeeze.json", SCENES "/drop.json"};
    scene_heading();
    for (int i = 0; i < 4; i++) run_scene_at(name[i / 2], i % 2 ? 0.05 : 0.005);
}

/* ---- sizes ---- */
#define SIZE_BODIES 5
#define SIZE_FRICTION 0.5

typedef struct blocks {
    embipc_world *world;
    embipc_body floor, body[SIZE_BODIES];
    int count;
} blocks;

/* a turned body, or a stack with gaps; kinds take turns. size: edge, m; unit: what Pa and m/s^2 are measured in */
static void blocks_begin(blocks *w, int count, int kind, double size, double h, double gravity, double young)
{
    static const double c = 0.96592582628906831, s = 0.25881904510252074;   /* of 15 degrees */
    double x[3 * SLOPE_NODES], floor_x[12] = {-20, -20, 0, 20, -20, 0, 20, 20, 0, -20, 20, 0};
    int tets[24 * SLOPE_CELLS * SLOPE_CELLS * SLOPE_CELLS];
    static const int tri[6] = {0, 1, 2, 0, 2, 3};
    embipc_world_def d = embipc_default_world_def();
    embipc_body_def f = embipc_default_body_def();
    memset(w, 0, sizeof *w);
    w->count = count;
    d.time_step = h;
    d.gravity[2] = -gravity;
    ENSURE(embipc_world_create(&d, &w->world, NULL) == EMBIPC_OK);
    f.x = floor_x; f.vertex_count = 4; f.triangles = tri; f.triangle_count = 2;
    f.scale = size;
    f.friction = SIZE_FRICTION;
    ENSURE(embipc_body_create(w->world, &f, &w->floor) == EMBIPC_OK);
    slope_cube(x, tets);
    for (int i = 0; i < count; i++) {
        embipc_body_def b = embipc_default_body_def();
        int k = (kind + i) % SLOPE_KINDS;
        b.kind = k == SLOPE_FULL ? EMBIPC_FULL : k == SLOPE_CAGE ? EMBIPC_CAGE : EMBIPC_AFFINE;
        b.material.model = k == SLOPE_ORTHOGONAL ? EMBIPC_ORTHOGONALITY : EMBIPC_COROTATED;
        b.material.young = b.material.stiffness = young;
        b.x = x; b.vertex_count = SLOPE_NODES; b.tets = tets; b.tet_count = 6 * SLOPE_CELLS * SLOPE_CELLS * SLOPE_CELLS;
        b.cage_nodes = 27;
        b.scale = size;
        b.friction = SIZE_FRICTION;
        b.position[0] = 0.125 * size * (i % 2);
        b.position[2] = count > 1 ? size * (0.0078125 + 1.0078125 * i) : size;
        if (count == 1) {   /* about y, then about x */
            const double r[9] = {c, 0, s, s * s, c, -c * s, -s * c, s, c * c};
            memcpy(b.rotation, r, sizeof r);
        }
        ENSURE(embipc_body_create(w->world, &b, &w->body[i]) == EMBIPC_OK);
        if (test_bad) { printf("  %s\n", embipc_world_error(w->world)->text); return; }
    }
}
static double blocks_speed(const blocks *w)
{
    double fastest = 0;
    for (int i = 0; i < w->count; i++) {
        embipc_body_view v;
        embipc_body_get_view(w->world, w->body[i], &v);
        for (int k = 0; k < v.node_count; k++)
            fastest = fmax(fastest, sqrt(v.v[3 * k] * v.v[3 * k] + v.v[3 * k + 1] * v.v[3 * k + 1] + v.v[3 * k + 2] * v.v[3 * k + 2]));
    }
    return fastest;
}
/* Long enough to fall, rock and come to rest: 12 times the time to fall its own height, twice that for a stack, which
 * sways, and 100 steps at least. */
static void size_run(int count, int kind, double size, double h)
{
    static const char *const what[2] = {"drop", "stack of 5"};
    blocks w;
    embipc_body_parameters p;
    int steps = (int)((count > 1 ? 24 : 12) * sqrt(2 * size / SLOPE_G) / h), cut = 0, most = 0, failed = test_bad;
    long iterations = 0;
    double speed, smallest = INFINITY;
    embipc_step_stats s;
    memset(&s, 0, sizeof s);
    if (steps < 100) steps = 100;
    blocks_begin(&w, count, kind, size, h, SLOPE_G, 1e7 * size);
    for (int step = 0; step < steps && test_bad == failed; step++) {
        ENSURE(embipc_world_step(w.world, &s) == EMBIPC_OK);
        cut += !s.converged;
        iterations += s.newton_iterations;
        if (s.newton_iterations > most) most = s.newton_iterations;
        smallest = fmin(smallest, s.min_distance);
    }
    embipc_body_get_parameters(w.world, w.body[0], &p);
    speed = blocks_speed(&w);
    printf("  %-10s %-10s %7g %6g %9.2e %9.2e %6d %5d %6.2f %5d %9.4f %9.4f %10.2e\n", what[count > 1], count > 1 ? "all" : slope_kind_name[kind],
           size, h, p.kappa, p.dhat, steps, cut, (double)iterations / steps, most, smallest / p.dhat, s.min_distance / p.dhat,
           speed / p.friction_velocity);
    fflush(stdout);
    ENSURE(cut == 0);
    ENSURE(s.min_distance > 0.1 * p.dhat);
    ENSURE(speed < 2 * p.friction_velocity);
    ENSURE(embipc_world_intersections(w.world, NULL, 0) == 0);
    if (test_bad > failed) printf("  the above: last line\n");
    embipc_world_destroy(w.world);
}
static void size_heading(void)
{
    printf("  %-10s %-10s %7s %6s %9s %9s %6s %5s %6s %5s %9s %9s %10s\n", "what", "kind", "edge m", "h s", "kappa", "dhat", "steps", "cut",
           "its", "most", "dmin/dhat", "rest/dhat", "speed/epsv");
}
static void test_sizes(void)
{
    static const double size[6] = {1e-3, 1e-2, 0.1, 1, 10, 100};
    size_heading();
    for (int kind = 0; kind < SLOPE_KINDS; kind++)
        for (int i = 0; i < 6; i++) size_run(1, kind, size[i], 0.01);
    for (int i = 0; i < 6; i++) size_run(SIZE_BODIES, 0, size[i], 0.01);
}

/* ---- scaling ----
 * Lengths and gravity times 2^n, stiffness times 4^n, times and density as they are: every product in the library is
 * then scaled by a power of two, so the motion is the same to the bit until numbers overflow or run into the
 * smallest ones. */
#define SCALE_STEPS 60

static double *scale_run(int power)
{
    blocks w;
    double s = ldexp(1, power), *x = (double *)malloc(3 * SLOPE_NODES * sizeof *x * 3);
    int at = 0;
    blocks_begin(&w, 3, SLOPE_FULL, 0.125 * s, 0.01, 9.75 * s, 1e6 * s * s);
    for (int i = 0; i < SCALE_STEPS && !test_bad; i++) ENSURE(embipc_world_step(w.world, NULL) == EMBIPC_OK);
    for (int i = 0; i < 3 && !test_bad; i++) {
        embipc_body_view v;
        embipc_body_get_view(w.world, w.body[i], &v);
        for (int k = 0; k < 3 * v.vertex_count; k++) x[at++] = v.x[k] / s;
    }
    while (at < 9 * SLOPE_NODES) x[at++] = 0;
    embipc_world_destroy(w.world);
    return x;
}
static void test_scaling(void)
{
    static const int power[10] = {-40, -30, -20, -10, -1, 1, 10, 20, 30, 40};
    double *one = scale_run(0);
    for (int i = 0; i < 10 && !test_bad; i++) {
        double *x = scale_run(power[i]), worst = 0;
        for (int k = 0; k < 9 * SLOPE_NODES; k++) worst = fmax(worst, fabs(x[k] - one[k]) / 0.125);
        printf("  lengths times 2^%-3d: largest difference %.2e of the edge%s\n", power[i], worst, worst == 0 ? ", the same bits" : "");
        ENSURE(abs(power[i]) > 20 || worst < 1e-6);
        free(x);
    }
    free(one);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(scenes);
    RUN(time_steps);
    RUN(sizes);
    RUN(scaling);
    test_unused();
    exact_unused();
    validate_unused();
    return test_end("validate_scenes");
}
