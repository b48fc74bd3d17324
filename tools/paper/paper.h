/* `make paper`: the experiments of the papers, the unit scenes and the closed forms, run and written as one page.
 * An experiment is a function that writes its section and gives verdicts: what was expected, what was measured, from
 * where. All numbers, curves and tables come out of runs; scenes are written as files that `embipc run` takes too. */
#ifndef PAPER_H
#define PAPER_H
#include "../picture.h"
#include "../scene.h"
#include "../view.h"
#include "scene_sum.h"

/* ---- The report ----------------------------------------------------------------------------- */

typedef enum paper_cause {
    PAPER_NO_CAUSE,          /* a difference that nothing explains fails the report */
    PAPER_DISCRETISATION,    /* goes away as the mesh or the time step is refined: shown in the section */
    PAPER_MODEL,             /* what is computed is something else, and by how much is derived */
    PAPER_LIBRARY            /* a fault: to be mended */
} paper_cause;

typedef struct paper_verdict {
    char section[32], name[160], source[160], expected[96], measured[96], why[1200];
    double expected_value, measured_value, tolerance;   /* nan where there is no number */
    int pass;
    paper_cause cause;
} paper_verdict;

/* What a section cost. */
#define PAPER_PARTS 16
typedef struct paper_part { char name[32]; double cpu, wall; } paper_part;

typedef struct paper {
    const char *out;              /* directory, made */
    const char *data;             /* absolute path of the outside meshes, or NULL */
    const char *command;
    int quick;
    tool_text body;               /* owned: the sections */
    char section[32], section_title[160];
    paper_verdict *verdict;       /* owned */
    int verdict_count, verdict_capacity;
    paper_scene *scene;           /* owned */
    int scene_count, scene_capacity;
    paper_part part[PAPER_PARTS];
    int part_count;
    double start, cpu;            /* cpu: processor time of all sections, s */
    int threads, timed;           /* of the runs that begin next: worker threads; whether stages are timed, with one thread */
    embipc_parallel_for_fn *loop; /* in place of threads; NULL: none */
    void *loop_ctx;
} paper;

/* Text given to these is HTML where it says so, else it is escaped. */
void paper_section(paper *p, const char *id, const char *title, const char *source);
void paper_heading(paper *p, const char *title);
void paper_text(paper *p, const char *html, ...);          /* a paragraph, HTML */
/* Cells separated by '|', HTML. Columns that begin with '<' are set left, the others right. */
void paper_table(paper *p, const char *caption, const char *columns);
void paper_row(paper *p, const char *cells, ...);
void paper_table_end(paper *p);
void paper_progress(const paper *p, const char *what, ...);

/* |measured/expected - 1| <= tolerance. Returns 1 where it holds; so do those below. */
int paper_value(paper *p, const char *name, const char *source, double expected, double measured, double tolerance,
                const char *unit);
/* |measured - expected| <= tolerance */
int paper_near(paper *p, const char *name, const char *source, double expected, double measured, double tolerance,
               const char *unit);
/* low <= measured <= high; an infinite bound is none */
int paper_range(paper *p, const char *name, const char *source, double low, double high, double measured, const char *unit);
int paper_holds(paper *p, const char *name, const char *source, int ok, const char *expected, const char *measured, ...);
/* Why the verdict given last is as it is; HTML. A verdict that holds keeps the text as a remark. */
void paper_why(paper *p, paper_cause cause, const char *html, ...);

/* The run of a world that no scene file says, for the table of all runs. */
void paper_add_scene(paper *p, const paper_scene *sum, const char *name, const char *title);
/* The verdict on all runs of the section: no crossing in any step. */
void paper_no_crossings(paper *p);

/* A finished section to a file, and one or more of these after each other into a report. 1 where that went well. */
int paper_save(const paper *p, const char *path);
int paper_load(paper *p, const char *path);

/* index.html and results.json; 1 when written. *failed: verdicts that differ without a cause. */
int paper_write(paper *p, int *failed);
void paper_free(paper *p);

/* ---- Plots ---------------------------------------------------------------------------------- */

#define PLOT_CURVES 12
enum { PLOT_LINE = 1, PLOT_POINTS = 2, PLOT_REFERENCE = 4 };   /* reference: grey and dashed, what others say */

typedef struct plot_curve {
    char label[64];
    double *x, *y;            /* owned */
    int count, style;
} plot_curve;

typedef struct plot {
    char title[160], x_label[64], y_label[64];
    int log_x, log_y, height;
    int has_range;            /* y_low, y_high given */
    double y_low, y_high;
    plot_curve curve[PLOT_CURVES];
    int count;
} plot;

plot plot_make(const char *title, const char *x_label, const char *y_label);
void plot_add(plot *g, const char *label, const double *x, const double *y, int count, int style);
void plot_level(plot *g, const char *label, double y, double x0, double x1);
/* Draws into the section, with the caption below (HTML), and frees the plot. */
void plot_draw(paper *p, plot *g, const char *caption, ...);

/* ---- Runs ----------------------------------------------------------------------------------- */

/* A series of numbers that grows. */
typedef struct paper_series { double *x; int count, capacity; } paper_series;
void paper_push(paper_series *s, double x);
void paper_series_free(paper_series *s);
double paper_mean(const paper_series *s, int first, int last);   /* of the indices first .. last-1 */

typedef struct paper_run {
    paper *p;
    scene s;
    embipc_world *world;
    view view;
    picture_sheet shots;      /* two moments, for the report */
    int viewing, step_count, every;   /* every: steps between frames of the viewer; all steps are looked at for crossings */
    char *skip;               /* owned: pairs that the scene switches off */
    embipc_pair_force pair[256];
    int pair_count;
    embipc_step_stats stats;
    paper_scene sum;
    embipc_pool *pool;        /* owned; NULL: one thread */
    double wall;              /* s, of the steps */
    double stage[EMBIPC_STAGE_COUNT];   /* s of processor time of the steps, where the run is timed */
    int failed;               /* a step that was no step: sum is not to be believed */
} paper_run;

/* Writes text as the scene NAME.json and makes its world. frame: seconds between the frames of a viewer NAME.html,
 * 0 for no viewer. On failure a verdict says why. */
int paper_begin(paper_run *r, paper *p, const char *name, const char *title, const char *text, double frame);
/* The same of a scene file, at another time step (0: its own). */
int paper_begin_file(paper_run *r, paper *p, const char *name, const char *title, const char *path, double time_step,
                     double frame);
/* A step; 0 when it failed, or all are done. */
int paper_step(paper_run *r);
void paper_end(paper_run *r);

embipc_body paper_body(const paper_run *r, const char *name);
embipc_body_state paper_state(const paper_run *r, const char *name);
/* Total force of b on a in the last step, N, and its friction part (may be NULL); 0 where they do not touch. */
void paper_force(const paper_run *r, const char *a, const char *b, double force[3], double friction[3]);
/* Smallest and largest coordinate of a surface along an axis. */
void paper_extent(const paper_run *r, const char *name, int axis, double *low, double *high);

/* Tets of full and cage bodies that are inverted or flat now. */
int paper_inverted(const paper_run *r);

/* A mesh file OUT/scenes/NAME of a mesh made by code (by its ending), to be named in scenes. */
void paper_mesh(paper *p, const char *name, const double *x, int nodes, const int *tri, int tris, const int *tets, int tet_count);

/* Boxes of nx x ny x nz cells between the given planes (nx + 1 numbers, and so on), six tets each around a diagonal,
 * with their skin; written as NAME.msh. */
void paper_grid_mesh(paper *p, const char *name, int nx, const double *x, int ny, const double *y, int nz, const double *z);
/* n + 1 equal steps from a to b. */
void paper_planes(double *x, int n, double a, double b);

/* ---- Experiments ---------------------------------------------------------------------------- */

void paper_closed_forms(paper *p);
void paper_hertz(paper *p);      /* a part of them */
void paper_units(paper *p);
void paper_affine(paper *p);
void paper_grasp(paper *p);
void paper_press(paper *p);
void paper_arch(paper *p);
void paper_hold(paper *p);
void paper_rack(paper *p);
void paper_cost(paper *p);

void paper_allegro(paper *p);    /* a part of paper_hold() */
void paper_equations(paper *p);  /* a part of paper_units() */

#endif
