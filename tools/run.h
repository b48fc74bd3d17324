/* `embipc run`: a scene from its start to its end, with progress, files and a summary. */
#ifndef TOOL_RUN_H
#define TOOL_RUN_H
#include "common.h"
#include <stdio.h>

typedef struct run_options {
    const char *scene;
    const char *out;              /* directory for files, or NULL */
    const char *picture;          /* PNG file for a picture of the end, or NULL */
    const char *sheet;            /* PNG file for moments of the run side by side, or NULL */
    int moments;                  /* of the sheet */
    const char *gltf;             /* file for animated glTF, or NULL */
    const char *animation;        /* PNG file for an animated picture, or NULL */
    const char *film;             /* directory for numbered pictures, or NULL */
    const char *view;             /* HTML file that plays the run back, or NULL */
    const char *recording;        /* file for embipc replay, or NULL */
    int frames, every;            /* write a frame every so many steps; also of view, film, animation and glTF */
    int threads;
    int quiet, report;
    int explain;                  /* tells this step, on stdout or in explain_page, and ends there; 0: none */
    const char *explain_page;     /* HTML file, or NULL */
    double duration, time_step;   /* s; 0: as the scene says (a duration of 0 needs has_duration) */
    int has_duration;
    const char *text;             /* the scene itself (text_size bytes), in the place of the file; or NULL */
    size_t text_size;
    tool_text *record;            /* gets what the run came to, as members of a JSON object; or NULL */
} run_options;

/* Returns the exit code: 0 fine, 1 the simulation says no or was stopped, 2 bad input. */
int run_scene(const run_options *options);

/* `embipc defaults`: every derived parameter of a scene with its reason. Returns the exit code. */
int run_defaults(const char *scene_path);

/* `embipc defaults --material`: stress against stretch as CSV, of every model at the default parameters, or of
 * the dynamic bodies of a scene (NULL: none), to `out`. Returns the exit code. */
int run_material_table(const char *scene_path, FILE *out);
#endif
