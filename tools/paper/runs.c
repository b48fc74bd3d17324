/* A scene stepped, looked at by exact arithmetic, and shown in the viewer. */
#include "paper.h"
#include "../output.h"
#include "../system.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../tests/crossings.h"

void paper_push(paper_series *s, double x)
{
    TOOL_GROW(double, s->x, s->capacity, s->count + 1);
    s->x[s->count++] = x;
}
void paper_series_free(paper_series *s)
{
    free(s->x);
    memset(s, 0, sizeof *s);
}
double paper_mean(const paper_series *s, int first, int last)
{
    double sum = 0;
    for (int i = first; i < last; i++) sum += s->x[i];
    return sum / (last - first);
}

/* ---- Begin ---------------------------------------------------------------------------------- */

static void run_skip(paper_run *r)
{
    int n = r->s.body_count;
    r->skip = (char *)tool_alloc((size_t)(n * n + 1), 1);
    for (int i = 0; i < r->s.pair_count; i++)
        if (!r->s.pair[i].contact)
            r->skip[r->s.pair[i].a * n + r->s.pair[i].b] = r->skip[r->s.pair[i].b * n + r->s.pair[i].a] = 1;
    for (int i = 0; i < r->s.joint_count; i++) {   /* what a joint links may overlap, unless it says otherwise */
        const scene_joint *j = &r->s.joint[i];
        if (j->a >= 0 && !j->def.contact) r->skip[j->a * n + j->b] = r->skip[j->b * n + j->a] = 1;
    }
}

/* processor time: what else the machine does is not in it */
static double run_clock(void *unused)
{
    (void)unused;
    return system_thread_seconds();
}

static void run_count(paper_run *r)
{
    r->sum.bodies = r->s.body_count;
    for (int i = 0; i < r->s.body_count; i++) {
        embipc_body_view v;
        embipc_body_parameters q;
        if (embipc_body_get_view(r->world, r->s.body[i].handle, &v) == EMBIPC_OK) r->sum.triangles += v.triangle_count;
        if (embipc_body_get_parameters(r->world, r->s.body[i].handle, &q) == EMBIPC_OK) r->sum.unknowns += q.unknowns;
    }
}

static void run_look(paper_run *r)
{
    validate_count n;
    double start = system_thread_seconds();
    memset(&n, 0, sizeof n);
    n.boxes = r->sum.boxes;   /* goes on counting, so that every thousandth is decided exactly */
    validate_world(r->world, r->skip, &n);
    r->sum.frames++;
    r->sum.boxes = n.boxes;
    r->sum.exact += n.exact;
    r->sum.crossings += n.crossings;
    if (embipc_world_intersections(r->world, NULL, 0) != 0 && n.crossings == 0) r->sum.crossings++;
    r->sum.look += system_thread_seconds() - start;
}

static int run_ready(paper_run *r, double frame)
{
    char path[1200];
    tool_error e;
    double h = r->s.world.time_step;
    int every = frame > h ? (int)(frame / h + 0.5) : 1;
    if (r->p->timed) r->s.world.clock = run_clock;
    r->s.world.parallel_for = r->p->loop;
    r->s.world.parallel_ctx = r->p->loop_ctx;
    if (r->p->threads > 1 && (r->pool = embipc_pool_create(r->p->threads)) != NULL) {
        r->s.world.parallel_for = embipc_pool_for;
        r->s.world.parallel_ctx = r->pool;
    }
    if (!scene_build(&r->s, &r->world, &e)) {
        paper_holds(r->p, r->sum.title, "the scene can be built", 0, "a world", "%s", e.text);
        scene_free(&r->s);
        return 0;
    }
    r->sum.has_file = 1;
    r->every = every;
    run_skip(r);
    run_count(r);
    r->step_count = (int)ceil(r->s.duration / h - 1e-9);
    run_look(r);
    if (frame > 0) {
        snprintf(path, sizeof path, "%s/%s.html", r->p->out, r->sum.name);
        r->viewing = view_open(&r->view, path, &r->s, r->world, every, &e);
        r->sum.viewer = r->viewing;
        if (!r->viewing) fprintf(stderr, "%s\n", e.text);
        else picture_sheet_add(&r->shots, &r->s, r->world);
    }
    return 1;
}

static void run_clear(paper_run *r, paper *p, const char *name, const char *title)
{
    memset(r, 0, sizeof *r);
    r->p = p;
    r->sum.smallest = r->sum.tightest = INFINITY;
    snprintf(r->sum.section, sizeof r->sum.section, "%s", p->section);
    snprintf(r->sum.name, sizeof r->sum.name, "%s", name);
    snprintf(r->sum.title, sizeof r->sum.title, "%s", title);
}

static int run_path(const paper *p, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/scenes", p->out);
    if (!system_make_directories(path)) return 0;
    snprintf(path, size, "%s/scenes/%s", p->out, name);
    return 1;
}

int paper_begin(paper_run *r, paper *p, const char *name, const char *title, const char *text, double frame)
{
    char path[1200], file[96];
    tool_text t = { NULL, 0, 0 };
    tool_error e;
    run_clear(r, p, name, title);
    snprintf(file, sizeof file, "%s.json", name);
    tool_put(&t, "%s", text);
    if (!run_path(p, file, path, sizeof path) || !output_file(path, &t, &e) || !scene_read(&r->s, path, &e)) {
        paper_holds(p, title, "the scene can be read", 0, "a scene", "%s", e.text);
        tool_text_free(&t);
        return 0;
    }
    tool_text_free(&t);
    return run_ready(r, frame);
}

int paper_begin_file(paper_run *r, paper *p, const char *name, const char *title, const char *path, double time_step, double frame)
{
    tool_error e;
    size_t size;
    char copy[1200], file[96], *data;
    tool_text t = { NULL, 0, 0 };
    run_clear(r, p, name, title);
    data = tool_read_file(path, (size_t)1 << 24, &size, &e);
    if (!data || !scene_parse(&r->s, path, data, size, &e)) {
        paper_holds(p, title, "the scene can be read", 0, "a scene", "%s", e.text);
        free(data);
        return 0;
    }
    if (time_step > 0) r->s.world.time_step = time_step;
    snprintf(file, sizeof file, "%s.json", name);   /* beside the report, as it was run but for the time step */
    tool_put(&t, "%s", data);
    if (run_path(p, file, copy, sizeof copy)) (void)output_file(copy, &t, &e);
    tool_text_free(&t);
    free(data);
    return run_ready(r, frame);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

int paper_step(paper_run *r)
{
    embipc_step_stats *s = &r->stats;
    double start, wall;
    tool_error e;
    if (r->failed || r->sum.steps >= r->step_count) return 0;
    memset(s, 0, sizeof *s);
    if (!scene_steer(&r->s, r->world, &e)) {
        r->failed = 1;
        paper_holds(r->p, r->sum.title, "every motor gets its target", 0, "a target", "%s", e.text);
        return 0;
    }
    start = system_thread_seconds();
    wall = system_seconds();
    if (embipc_world_step(r->world, s) != EMBIPC_OK) {
        r->failed = 1;
        paper_holds(r->p, r->sum.title, "every step succeeds", 0, "a step", "step %d: %s", r->sum.steps + 1, embipc_world_error(r->world)->text);
        return 0;
    }
    r->sum.cpu += system_thread_seconds() - start;
    r->wall += system_seconds() - wall;
    for (int k = 0; k < EMBIPC_STAGE_COUNT; k++) r->stage[k] += s->stage_time[k];
    for (int i = 0; i < r->s.joint_count; i++) {
        embipc_joint_state j;
        if (embipc_joint_get_state(r->world, r->s.joint[i].handle, &j) == EMBIPC_OK) r->sum.joint_gap = fmax(r->sum.joint_gap, j.gap);
    }
    r->sum.steps++;
    r->sum.simulated += r->s.world.time_step;
    r->sum.cut += !s->converged;
    r->sum.solves += s->newton_iterations;
    if (s->newton_iterations > r->sum.most) r->sum.most = s->newton_iterations;
    r->sum.smallest = fmin(r->sum.smallest, s->min_distance);
    r->sum.tightest = fmin(r->sum.tightest, s->tightest);
    r->sum.drive_short = fmax(r->sum.drive_short, s->drive_short);
    r->pair_count = embipc_world_pair_forces(r->world, r->pair, 256);
    if (r->pair_count > 256) r->pair_count = 256;
    run_look(r);
    if (r->viewing && r->sum.steps == (int)(0.45 * r->step_count + 0.5)) {   /* in place of the start */
        picture_sheet_free(&r->shots);
        picture_sheet_add(&r->shots, &r->s, r->world);
    }
    if (r->viewing && !view_step(&r->view, r->world, s, r->pair, r->pair_count, r->sum.steps % r->every == 0, &e)) {
        fprintf(stderr, "%s\n", e.text);
        (void)view_close(&r->view, &e);
        r->viewing = 0;
    }
    return 1;
}

void paper_end(paper_run *r)
{
    paper *p = r->p;
    tool_error e;
    if (r->viewing) (void)view_close(&r->view, &e);
    if (r->shots.count) {
        char path[1200];
        picture_sheet_add(&r->shots, &r->s, r->world);
        r->shots.small = 1;
        snprintf(path, sizeof path, "%s/%s.png", p->out, r->sum.name);
        r->sum.picture = picture_sheet_write(&r->shots, path, &r->s, r->world, &e);
    }
    picture_sheet_free(&r->shots);
    embipc_world_destroy(r->world);
    embipc_pool_destroy(r->pool);
    scene_free(&r->s);
    free(r->skip);
    TOOL_GROW(paper_scene, p->scene, p->scene_capacity, p->scene_count + 1);
    p->scene[p->scene_count++] = r->sum;
    paper_progress(p, "        %s: %d steps in %.1f s, looks %.1f s, %.1f solves a step, %d cut short, gap %.2e m, crossings %ld", r->sum.title, r->sum.steps,
                   r->sum.cpu, r->sum.look, r->sum.steps ? (double)r->sum.solves / r->sum.steps : 0.0, r->sum.cut, r->sum.smallest, r->sum.crossings);
    r->world = NULL;
    r->skip = NULL;
}

/* ---- What is measured ----------------------------------------------------------------------- */

embipc_body paper_body(const paper_run *r, const char *name)
{
    embipc_body none = { 0, 0 };
    for (int i = 0; i < r->s.body_count; i++)
        if (strcmp(r->s.body[i].name, name) == 0) return r->s.body[i].handle;
    fprintf(stderr, "%s: no body \"%s\"\n", r->sum.name, name);
    return none;
}
embipc_body_state paper_state(const paper_run *r, const char *name)
{
    embipc_body_state s;
    memset(&s, 0, sizeof s);
    (void)embipc_body_get_state(r->world, paper_body(r, name), &s);
    return s;
}
void paper_force(const paper_run *r, const char *a, const char *b, double force[3], double friction[3])
{
    embipc_body one = paper_body(r, a), two = paper_body(r, b);
    for (int k = 0; k < 3; k++) { force[k] = 0; if (friction) friction[k] = 0; }
    for (int i = 0; i < r->pair_count; i++) {
        const embipc_pair_force *f = &r->pair[i];
        double sign = f->a.index1 == one.index1 && f->b.index1 == two.index1 ? 1 : f->a.index1 == two.index1 && f->b.index1 == one.index1 ? -1 : 0;
        for (int k = 0; k < 3; k++) {
            force[k] += sign * f->force[k];
            if (friction) friction[k] += sign * f->friction[k];
        }
    }
}
void paper_extent(const paper_run *r, const char *name, int axis, double *low, double *high)
{
    embipc_body_view v;
    *low = INFINITY;
    *high = -INFINITY;
    if (embipc_body_get_view(r->world, paper_body(r, name), &v) != EMBIPC_OK) return;
    for (int i = 0; i < v.vertex_count; i++) {
        *low = fmin(*low, v.x[3 * i + axis]);
        *high = fmax(*high, v.x[3 * i + axis]);
    }
}

int paper_inverted(const paper_run *r)
{
    int count = 0;
    for (int i = 0; i < r->s.body_count; i++) {
        embipc_body_view v;
        if (embipc_body_get_view(r->world, r->s.body[i].handle, &v) != EMBIPC_OK || v.kind < EMBIPC_CAGE) continue;
        for (int t = 0; t < v.tet_count; t++) {
            const int *n = v.tets + 4 * t;
            count += embipc_orient3d(v.q + 3 * n[0], v.q + 3 * n[1], v.q + 3 * n[2], v.q + 3 * n[3]) <= 0;
        }
    }
    return count;
}

void paper_mesh(paper *p, const char *name, const double *x, int nodes, const int *tri, int tris, const int *tets, int tet_count)
{
    tool_text t = { NULL, 0, 0 };
    tool_error e;
    char path[1200];
    const char *dot = strrchr(name, '.');
    if (!run_path(p, name, path, sizeof path)) return;
    if (dot && strcmp(dot, ".msh") == 0) {
        tool_mesh m;
        memset(&m, 0, sizeof m);
        TOOL_GROW(double, m.x, m.node_capacity, 3 * nodes);
        memcpy(m.x, x, (size_t)(3 * nodes) * sizeof *x);
        m.node_count = nodes;
        TOOL_GROW(int, m.tet, m.tet_capacity, 4 * tet_count);
        memcpy(m.tet, tets, (size_t)(4 * tet_count) * sizeof *tets);
        m.tet_count = tet_count;
        mesh_put_msh(&t, &m);
        mesh_free(&m);
    } else mesh_put_obj(&t, "mesh", x, nodes, tri, tris, 0);
    if (!output_file(path, &t, &e)) fprintf(stderr, "%s\n", e.text);
    tool_text_free(&t);
    exact_unused();
}
