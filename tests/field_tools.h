/* The tool's commands for the tests of inputs from the field, and `embipc check` on files of their own. */
#ifndef FIELD_TOOLS_H
#define FIELD_TOOLS_H
#include "meshio_test.h"
#include "../tools/common.h"
#include "../tools/meshio.h"
#include "tool_place.h"
#include "../tools/png.h"
#include "../tools/raster.h"
#include "../tools/embed.h"
#include "../tools/mend.h"
#include "../tools/check.h"
#include "check_run.h"

static const char *field_place(const char *name) { return tool_place("test_field", name); }

/* Checks one file, and mends it into another if asked to. Returns the exit code. */
static int field_check(const char *path, int fix)
{
    char in[1024], out[1024];
    snprintf(in, sizeof in, "%s", path);
    snprintf(out, sizeof out, "%s", field_place("mended.msh"));
    return check_run(in, fix ? out : NULL, -1, -1);
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
