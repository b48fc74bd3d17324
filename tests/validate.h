/* What the validation programs share: a world from the text of a scene, and an independent look for crossing
 * surfaces. Include system.c, embipc.h, test.h and the tool's files before it, as validate_scenes.c does. */
#ifndef VALIDATE_H
#define VALIDATE_H
#include "crossings.h"

/* ---- worlds ---- */
typedef struct validate_run { scene s; embipc_world *world; int ready; } validate_run;

static void validate_end(validate_run *r)
{
    embipc_world_destroy(r->world);
    if (r->ready) scene_free(&r->s);
    r->world = NULL;
    r->ready = 0;
}
/* The world of a scene's text; paths of meshes are relative to the directory of `path`. */
static int validate_begin(validate_run *r, const char *path, const char *text)
{
    tool_error e;
    memset(r, 0, sizeof *r);
    r->ready = 1;
    if (scene_parse(&r->s, path, text, strlen(text), &e) && scene_build(&r->s, &r->world, &e)) return 1;
    printf("  %s\n", e.text);
    validate_end(r);
    return 0;
}
static const char *validate_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
/* keeps the compiler quiet where a program does not use them all */
static void validate_unused(void)
{
    (void)validate_world; (void)validate_begin; (void)validate_name; (void)validate_unused;
}
#endif
