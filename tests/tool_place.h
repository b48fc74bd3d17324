/* Files of a test's own, in a directory of its own. */
#ifndef TOOL_PLACE_H
#define TOOL_PLACE_H
#include "../tools/system.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Path of a file in embipc_TEST in the directory for temporary files; the last four results are valid. */
static const char *tool_place(const char *test, const char *name)
{
    static char path[4][1024];
    static int turn;
    const char *tmp = getenv("TMPDIR");
    char *p = path[turn++ % 4];
    snprintf(p, 900, "%s/embipc_%s", tmp && *tmp ? tmp : "/tmp", test);
    system_make_directories(p);
    snprintf(p + strlen(p), 100, "/%s", name);
    return p;
}
#endif
