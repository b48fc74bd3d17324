/* The tool's commands for the tests of inputs from the field, and `embipc check` on files of their own. test_field.c
 * includes tools/system.c before anything else. */
#ifndef FIELD_TOOLS_H
#define FIELD_TOOLS_H
#include "meshio_test.h"
#include "../tools/common.c"
#include "tool_meshio.h"
#include "tool_place.h"
#include "../tools/png.c"
#include "../tools/raster.c"
#include "../tools/embed.c"
#include "../tools/mend.c"
#include "../tools/check.c"

static char field_said[1 << 16];   /* everything printed by the last run, errors behind reports */

static const char *field_place(const char *name) { return tool_place("test_field", name); }

static void field_collect(FILE *f)
{
    size_t used = strlen(field_said);
    rewind(f);
    field_said[used + fread(field_said + used, 1, sizeof field_said - 1 - used, f)] = 0;
    fclose(f);
}

/* Checks one file, and mends it into another if asked to. Returns the exit code. */
static int field_check(const char *path, int fix)
{
    check_options o;
    char in[1024], out[1024];
    const char *mesh = in;
    int code;
    snprintf(in, sizeof in, "%s", path);
    snprintf(out, sizeof out, "%s", field_place("mended.msh"));
    memset(&o, 0, sizeof o);
    o.mesh = &mesh;
    o.mesh_count = 1;
    o.fix = fix ? out : NULL;
    o.merge = o.hole = -1;
    o.list = 3;
    o.out = tmpfile();
    o.errors = tmpfile();
    if (!o.out || !o.errors) exit(2);
    code = check_meshes(&o);
    field_said[0] = 0;
    field_collect(o.out);
    field_collect(o.errors);
    return code;
}

static int field_says(const char *part)
{
    if (strstr(field_said, part)) return 1;
    printf("  wanted \"%s\" in:\n%s\n", part, field_said);
    return 0;
}

/* the mesh as a file; its name */
static const char *field_write(const test_mesh *s)
{
    const char *path = field_place("in.obj");
    tool_text t = { NULL, 0, 0 };
    FILE *f = fopen(path, "wb");
    mesh_put_obj(&t, "x", s->x, s->vertex_count, s->tri, s->tri_count, 0);
    if (!f || fwrite(t.data, 1, (size_t)t.length, f) != (size_t)t.length || fclose(f)) exit(2);
    tool_text_free(&t);
    return path;
}

/* what the last call of field_check() wrote; free it with mesh_free() */
static tool_mesh field_mended(void)
{
    tool_mesh m;
    tool_error e;
    memset(&m, 0, sizeof m);
    ENSURE(mesh_read(&m, field_place("mended.msh"), &e));
    return m;
}
#endif
