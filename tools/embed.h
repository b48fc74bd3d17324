/* `embipc embed`: a cage for a closed surface, its quality in words, the cage as a mesh file, and a picture. */
#ifndef TOOL_EMBED_H
#define TOOL_EMBED_H
#include <stdio.h>

typedef struct embed_options {
    const char *surface;      /* path; of a tet mesh its boundary is taken */
    const char *out;          /* path of the cage, .msh; NULL: none is written */
    const char *png;          /* path of the picture; NULL: none */
    int nodes;                /* about this many; 0: the library's choice */
    double cell;              /* m; > 0: the cell size instead */
    FILE *report, *errors;    /* what was made; what could not be read, made or written */
} embed_options;

/* Returns the exit code: 0 fine, 1 there is no such cage, 2 a file could not be read or written. */
int embed_surface(const embed_options *o);
#endif
