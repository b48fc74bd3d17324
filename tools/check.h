/* `embipc check`: what a mesh is and whether it can be simulated as a solid, one screen per mesh. */
#ifndef TOOL_CHECK_H
#define TOOL_CHECK_H
#include <stdio.h>

typedef struct check_options {
    const char **mesh;        /* paths */
    int mesh_count;
    const char *fix;          /* where the mended mesh goes; NULL: nothing is mended */
    double merge;             /* m; < 0: derived */
    int hole;                 /* edges of the largest hole to fill; < 0: derived */
    int list;                 /* how many faults of a kind are listed, at most */
    FILE *out, *errors;       /* reports; what could not be read or written */
} check_options;

/* Returns the exit code: 0 all can be simulated, 1 one cannot, 2 a file could not be read or written. */
int check_meshes(const check_options *o);
#endif
