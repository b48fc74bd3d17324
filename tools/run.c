#include "run.h"
#include "explain.h"
#include "gltf.h"
#include "json.h"
#include "output.h"
#include "picture.h"
#include "replay.h"
#include "report.h"
#include "scene.h"
#include "system.h"
#include "advice.h"
#include "view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_LONG 1e15     /* a budget that no step uses up, s */
#define RUN_NEVER 1e30    /* a time after its end, s */

/* Everything of one run. */
typedef struct run {
    const run_options *o;
    scene s;
    embipc_world *world;
    output out;
    view view;
    picture_film film;
    picture_sheet sheet, animation;
    gltf moments;                     /* of the glTF file */
    recorder recording;
    int step_count;                   /* of the whole run */
    report report;
    embipc_pair_force *pair;          /* owned: forces of the last step */
    int pair_count, pair_capacity;
    const volatile int *stop;
    double last_progress;             /* when the progress line was written last, s */
    embipc_world *before;             /* copy of the world before the step that is explained; its log says nothing */
    tool_error e;
} run;

static int run_fail(const run *r, int code)
{
    fprintf(stderr, "%s\n", r->e.text);
    if (!r->o->record) return code;
    tool_put(r->o->record, "%s\"error\": ", r->o->record->length ? ", " : "");
    json_write_string(r->o->record, r->e.text);
    return code;
}

/* ---- Progress ------------------------------------------------------------------------------- */

/* One line that rewrites itself ten times a second on a terminal; elsewhere a plain one every two seconds. */
static void run_progress(run *r, const embipc_step_stats *s, double end_time, int last)
{
    int terminal = system_stderr_is_terminal();
    double now = system_seconds(), speed = r->report.wall > 0 ? s->time / r->report.wall : 0;
    double left = last ? 0 : r->report.wall * (end_time - s->time) / s->time;
    if (r->o->quiet || (last ? !terminal : now - r->last_progress < (terminal ? 0.1 : 2.0))) return;
    r->last_progress = now;
    fprintf(stderr,
            "%s%.4g of %.4g s, %.3g x real time, Newton %d, contacts %d, distance %.2e m, %.0f s left%s",
            terminal ? "\r\033[K" : "", s->time, end_time, speed, s->newton_iterations, s->contacts,
            s->min_distance, left, terminal && !last ? "" : "\n");
    fflush(stderr);
}

/* What long work is done before and after the steps; NULL when it is over. Only for who watches a terminal. */
static void run_working(const run *r, const char *what)
{
    if (r->o->quiet || !system_stderr_is_terminal()) return;
    fprintf(stderr, "\r\033[K%s", what ? what : "");
    fflush(stderr);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static void run_get_pairs(run *r)
{
    r->pair_count = embipc_world_pair_forces(r->world, r->pair, r->pair_capacity);
    if (r->pair_count <= r->pair_capacity) return;
    TOOL_GROW(embipc_pair_force, r->pair, r->pair_capacity, r->pair_count);
    r->pair_count = embipc_world_pair_forces(r->world, r->pair, r->pair_capacity);
}

/* A frame, and with it a look for intersections, when this step is one of every N. */
static int run_frame(run *r, int step)
{
    if (!r->o->frames || step % r->o->every != 0) return 1;
    report_check(&r->report, r->world);
    return output_frame(&r->out, r->world, step, &r->e);
}

/* The next moment of the sheet, when its time has come: the first at the start, the last at the end. */
static void run_moment(run *r, int step)
{
    long long gaps = r->o->moments - 1, due = (long long)r->sheet.count * r->step_count;
    if (!r->o->sheet || r->sheet.count >= r->o->moments) return;
    if (gaps ? step * gaps >= due : step == r->step_count) picture_sheet_add(&r->sheet, &r->s, r->world);
}

static int run_film(run *r, int step)
{
    if (step % r->o->every != 0) return 1;
    if (r->o->gltf) gltf_add(&r->moments, &r->s, r->world);
    if (r->o->animation) picture_sheet_add(&r->animation, &r->s, r->world);
    if (!r->o->film) return 1;
    if (step == 0) run_working(r, "drawing the first picture");
    return picture_film_add(&r->film, r->o->film, &r->s, r->world, &r->e);
}

/* Files of all frames are written at the end. One that will be too large is refused before the first step. */
static int run_check_frames(run *r)
{
    int frames = r->step_count / r->o->every + 1;
    if (r->o->animation && !picture_sheet_fits(&r->animation, r->o->animation, frames, &r->e)) return 0;
    if (r->o->sheet && !picture_sheet_fits(&r->sheet, r->o->sheet, r->o->moments, &r->e)) return 0;
    return !r->o->gltf || gltf_fits(&r->moments, r->o->gltf, &r->s, r->world, frames, &r->e);
}

static int run_start(run *r)
{
    r->step_count = (int)ceil(r->s.duration / r->s.world.time_step - 1e-9);
    if (r->o->explain > r->step_count)
        return tool_fail(&r->e, "%s: found --explain %d, expected one of its %d steps", r->s.path, r->o->explain,
                         r->step_count);
    if (r->o->explain) r->step_count = r->o->explain;
    run_moment(r, 0);
    if (!run_film(r, 0) || !run_check_frames(r)) return 0;
    if (r->o->view && !view_open(&r->view, r->o->view, &r->s, r->world, r->o->every, &r->e)) return 0;
    if (r->o->recording && !recorder_open(&r->recording, r->o->recording, r->world, &r->e)) return 0;
    if (!r->o->out) return 1;
    return output_open(&r->out, r->o->out, &r->e)
           && output_start(&r->out, r->world, r->s.world.gravity, &r->e) && run_frame(r, 0);
}

/* What a step leaves behind in files. */
static int run_write(run *r, const embipc_step_stats *stats, double wall)
{
    int step = stats->step, frame = step % r->o->every == 0;
    if (r->o->out && !output_step(&r->out, &r->s, r->world, stats, 1e3 * wall, r->pair, r->pair_count, &r->e))
        return 0;
    if (r->o->view && !view_step(&r->view, r->world, stats, r->pair, r->pair_count, frame, &r->e)) return 0;
    run_moment(r, step);
    return run_film(r, step) && run_frame(r, step);
}

/* Tells of the step that was just made. */
static int run_explain(run *r, const embipc_step_stats *stats)
{
    tool_text text = { NULL, 0, 0 }, page = { NULL, 0, 0 };
    const embipc_world_def *w = &r->s.world;
    int ok = explain_step(r->before, r->world, stats, w->time_step, w->gravity, w->max_iterations, &text, &r->e);
    if (ok && r->o->explain_page) {
        explain_page(&text, &page);
        ok = output_file(r->o->explain_page, &page, &r->e);
    } else if (ok) fputs(text.data, stdout);
    tool_text_free(&text);
    tool_text_free(&page);
    embipc_world_destroy(r->before);
    r->before = NULL;
    return ok;
}

/* All steps. Returns the exit code; 1 is a step that failed, or an interrupt. */
static int run_steps(run *r)
{
    double h = r->s.world.time_step;
    int count = r->step_count, window = (int)(REPORT_WINDOW / h + 0.5);
    r->last_progress = system_seconds();
    for (int step = 1; step <= count && !*r->stop; step++) {
        embipc_step_stats stats;
        double start = system_seconds(), wall;
        embipc_result result;
        if (!scene_steer(&r->s, r->world, &r->e) || !recorder_inputs(&r->recording, &r->s, r->world, &r->e)) return run_fail(r, 2);
        if (step == r->o->explain && embipc_world_copy(r->world, &r->before) != EMBIPC_OK) {
            tool_fail(&r->e, "%s: no memory for a copy of the world", r->s.path);
            return run_fail(r, 1);
        }
        /* a step that only an interrupt breaks off; what of time is learned from it is not to be recorded */
        (void)embipc_world_set_budget(r->world, RUN_LONG, 1);
        result = embipc_world_step(r->world, &stats);
        (void)embipc_world_set_budget(r->world, 0, 0);
        if (result == EMBIPC_ERR_TIME && *r->stop) break;   /* the world is as before the step */
        if (result != EMBIPC_OK) {
            tool_fail(&r->e, "%s: step %d failed: %s", r->s.path, step, embipc_world_error(r->world)->text);
            return run_fail(r, 1);
        }
        wall = system_seconds() - start;
        if (!*r->stop && !recorder_result(&r->recording, r->world, &r->e)) return run_fail(r, 2);
        run_get_pairs(r);
        report_step(&r->report, &r->s, &stats, wall, r->pair, r->pair_count,
                    step > count - window || step == count);
        report_joints(&r->report, &r->s, r->world, stats.time, step > count - window || step == count);
        if (!run_write(r, &stats, wall)) return run_fail(r, 2);
        if (step == r->o->explain && !run_explain(r, &stats)) return run_fail(r, 2);
        run_progress(r, &stats, count * h, step == count || *r->stop);
    }
    if (!*r->stop || r->report.steps == count) return 0;
    fprintf(stderr, "stopped after step %d of %d; all files are complete up to there\n", r->report.steps,
            count);
    return 1;
}

/* Files that cannot be written at the end are refused before the start. */
static int run_check_outputs(run *r)
{
    const run_options *o = r->o;
    output_plan p = { { o->picture, o->sheet, o->animation, o->gltf, o->view, o->recording, o->explain_page },
                      { o->out, o->film }, (const char *const *)r->s.file, r->s.file_count };
    return output_check(&p, &r->e);
}

/* What the library says of a step, on a line of its own under the progress. */
static void run_log(int level, const char *text, void *ctx)
{
    const run *r = (const run *)ctx;
    (void)level;
    if (r->o->quiet || r->before) return;
    fprintf(stderr, "%swarning: %s\n", system_stderr_is_terminal() ? "\r\033[K" : "", text);
}

/* What the readers of its mesh files passed over, once for each file. */
static void run_say_notes(const run *r)
{
    for (int i = 0; i < r->s.body_count && !r->o->quiet; i++)
        for (int k = 0; k < 2; k++) {
            const tool_mesh *m = k ? &r->s.body[i].cage : &r->s.body[i].surface;
            tool_text t = { NULL, 0, 0 };
            int said = 0;
            for (int j = 0; j < i && !k; j++) said |= strcmp(r->s.body[j].source, r->s.body[i].source) == 0;
            for (int j = 0; j < m->note_count && !said; j++) {
                if (j) tool_put(&t, ", ");
                mesh_put_note(&t, &m->note[j]);
            }
            if (t.length)
                fprintf(stderr, "note: body \"%s\": not read of %s: %s\n", r->s.body[i].name,
                        k ? "its cage" : r->s.body[i].source, t.data);
            tool_text_free(&t);
        }
}

/* What is likely a mistake of the scene. */
static void run_say_advice(const run *r)
{
    tool_text t = { NULL, 0, 0 };
    if (r->world) advice_warn(&r->s, r->world, &t);
    else advice_warn_of_size(&r->s, &t);
    if (t.length && !r->o->quiet) fputs(t.data, stderr);
    tool_text_free(&t);
}

/* The clock of the world. After an interrupt its time is past any deadline, so that the library breaks off what it is
 * at. */
static double run_clock(void *ctx)
{
    const run *r = (const run *)ctx;
    return r->stop && *r->stop ? RUN_NEVER : system_seconds();
}

/* ---- The world ------------------------------------------------------------------------------ */

#ifdef EMBIPC_PTHREADS
/* A pool for the world's parallel parts; NULL with one thread. */
static void *run_threads(embipc_world_def *def, int threads)
{
    embipc_pool *pool = threads > 1 ? embipc_pool_create(threads) : NULL;
    if (!pool) return NULL;
    def->parallel_for = embipc_pool_for;
    def->parallel_ctx = pool;
    return pool;
}
static void run_end_threads(void *pool) { embipc_pool_destroy((embipc_pool *)pool); }
#else
static void *run_threads(embipc_world_def *def, int threads)
{
    (void)def;
    if (threads > 1) fprintf(stderr, "embipc: built without EMBIPC_PTHREADS, --threads is of no effect\n");
    return NULL;
}
static void run_end_threads(void *pool) { (void)pool; }
#endif

static int run_override(run *r)
{
    if (r->o->time_step > 0) r->s.world.time_step = r->o->time_step;
    r->s.world.log = run_log;
    r->s.world.log_ctx = r;
    r->s.world.clock = run_clock;
    r->s.world.clock_ctx = r;
    if (r->o->has_duration) r->s.duration = r->o->duration;
    if (r->s.duration / r->s.world.time_step < 2e9) return 1;
    return tool_fail(&r->e, "%s: found %g s in steps of %g s, expected less than 2e9 steps", r->s.path,
                     r->s.duration, r->s.world.time_step);
}

/* The end of a run: last check, summary, picture. */
static int run_finish(run *r, int code)
{
    report_check(&r->report, r->world);
    if (r->o->record) report_record(&r->report, &r->s, r->world, r->pair, r->pair_count, r->o->record);
    if (r->o->report || !(r->o->quiet || r->o->explain)) report_print(&r->report, &r->s, r->world, r->o->report);
    fflush(stdout);
    if (r->o->picture || r->o->sheet) run_working(r, "drawing");
    if (r->o->picture && !picture_write(r->o->picture, &r->s, r->world, &r->e)) return run_fail(r, 2);
    if (r->o->sheet && !picture_sheet_write(&r->sheet, r->o->sheet, &r->s, r->world, &r->e)) return run_fail(r, 2);
    if (r->o->gltf && !gltf_write(&r->moments, r->o->gltf, &r->s, r->world, &r->e)) return run_fail(r, 2);
    if (r->o->animation && !picture_sheet_animate(&r->animation, r->o->animation, &r->s, r->world,
                                                  r->o->every * r->s.world.time_step, &r->e))
        return run_fail(r, 2);
    if (r->o->picture || r->o->sheet) run_working(r, NULL);
    if (r->report.stuck_most >= REPORT_STUCK) {
        tool_fail(&r->e, "%s: bodies stood still for %d steps, until %g s, though their forces are out of balance",
                  r->s.path, r->report.stuck_most, r->report.stuck_time);
        return run_fail(r, 1);
    }
    return r->report.intersections != 0 ? 1 : code;
}

static int run_read(run *r)
{
    if (!r->o->text) return scene_read(&r->s, r->o->scene, &r->e);
    return scene_parse(&r->s, r->o->scene, r->o->text, r->o->text_size, &r->e);
}

int run_scene(const run_options *options)
{
    run r;
    void *pool = NULL;
    int code;
    memset(&r, 0, sizeof r);
    r.o = options;
    report_init(&r.report);
    if (!run_read(&r) || !run_override(&r) || !run_check_outputs(&r)) code = run_fail(&r, 2);
    else {
        run_say_notes(&r);
        run_say_advice(&r);
        pool = run_threads(&r.s.world, options->threads);
        run_working(&r, "building bodies and cages");
        code = !scene_build(&r.s, &r.world, &r.e);
        run_working(&r, NULL);
        if (code || !run_start(&r)) code = run_fail(&r, 2);
        else {
            run_say_advice(&r);
            r.stop = system_catch_interrupt();
            embipc_world_set_limits(r.world, r.s.world.max_iterations, r.stop);
            code = run_steps(&r);
            code = run_finish(&r, code);
        }
    }
    if (!view_close(&r.view, &r.e) && code != 2) code = run_fail(&r, 2);
    if (!recorder_close(&r.recording, &r.e) && code != 2) code = run_fail(&r, 2);
    picture_sheet_free(&r.sheet);
    picture_sheet_free(&r.animation);
    gltf_free(&r.moments);
    output_close(&r.out);
    report_free(&r.report);
    free(r.pair);
    embipc_world_destroy(r.before);
    embipc_world_destroy(r.world);
    run_end_threads(pool);
    scene_free(&r.s);
    return code;
}
