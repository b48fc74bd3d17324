/* Every key, word and shape that a scene file may have. The reader (scene.c) accepts these and no others, and
 * `embipc scene-help` and docs/scenes.md are printed from them. */
#ifndef TOOL_SCENE_KEYS_H
#define TOOL_SCENE_KEYS_H
#include "common.h"
#include <stdio.h>

/* The objects of a scene file. */
typedef enum scene_part {
    SCENE_ROOT, SCENE_CONTACT, SCENE_SOLVER, SCENE_BODY, SCENE_MATERIAL, SCENE_REPEAT, SCENE_REGION, SCENE_DRIVE,
    SCENE_SELECT, SCENE_PAIR, SCENE_JOINT, SCENE_MOTOR, SCENE_PARTS
} scene_part;

typedef struct scene_key {
    scene_part part;
    const char *key, *type, *unit;   /* unit: "" without */
    const char *preset;              /* the default: JSON, or words that say where it comes from */
    const char *text;                /* sentences */
    const char *example;             /* members of the object, ready to paste */
} scene_key;

extern const scene_key scene_keys[];
extern const int scene_key_count;

typedef struct scene_shape_line {
    const char *name;
    const char *measures;            /* keys that it needs, with blanks between; "normal" is not needed */
    int resolution, solid_resolution;   /* defaults, of the surface and of tets */
    const char *text, *example;
} scene_shape_line;

/* As in the enum below. */
enum {
    SCENE_BOX, SCENE_SPHERE, SCENE_CYLINDER, SCENE_TORUS, SCENE_PLANE, SCENE_PLATE, SCENE_BEAR, SCENE_BUBBLE,
    SCENE_COMB, SCENE_FINGER, SCENE_BALL, SCENE_CAPSULE, SCENE_SHAPES
};
extern const scene_shape_line scene_shape_lines[SCENE_SHAPES];

/* Does a shape have this measure? */
int scene_shape_has(int shape, const char *measure);

/* The words that a key of type "word" may have, in the order of the enums of the library; *count of them. NULL: the
 * key is not of that type. */
const char *const *scene_words(scene_part part, const char *key, int *count);

/* `embipc scene-help`: what is known of a key, part or shape; of NULL, a list of all. Returns the exit code: 0, or 2
 * for a word that is none of them. */
int scene_help(const char *word, FILE *out, FILE *errors);
/* All of it as Markdown: docs/scenes.md. */
void scene_help_markdown(FILE *out);
#endif
