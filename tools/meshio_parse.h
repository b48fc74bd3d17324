/* What the readers of mesh files share: a cursor over words in lines, counts that are held against the size
 * of the file before anything is allocated, and a mesh that grows. Every mesh_parse_* returns 1, or 0 with
 * the error filled; it leaves to its caller to free the mesh then. */
#ifndef TOOL_MESHIO_PARSE_H
#define TOOL_MESHIO_PARSE_H
#include "meshio.h"

typedef struct mesh_cursor {
    const char *name, *begin, *p, *end;   /* *end is a zero */
    int line;
    int joins;                            /* a backslash at the end of a line continues it (OBJ) */
    int binary;                           /* messages give the byte instead of the line */
    char comment;                         /* begins one that reaches to the end of the line; 0: none */
    tool_error *e;
} mesh_cursor;

typedef struct mesh_word { const char *p; size_t length; } mesh_word;

void mesh_cursor_init(mesh_cursor *c, const char *name, const char *data, size_t size, char comment,
                      tool_error *e);

/* The next word of this line; 0, and an empty word, at its end. */
int mesh_next(mesh_cursor *c, mesh_word *w);
/* Goes behind the end of this line; 0 when that was the last one. */
int mesh_next_line(mesh_cursor *c);
/* The next word on this line or a later one; 0 at the end of the file. */
int mesh_flow(mesh_cursor *c, mesh_word *w);

int mesh_is(mesh_word w, const char *text);
int mesh_is_nocase(mesh_word w, const char *text);   /* text in lower case */

/* Fills the error with where the cursor is and this text, and returns 0. */
int mesh_fail(const mesh_cursor *c, const char *format, ...);
/* The same: found the word, or what stands in its place, expected this. */
int mesh_unexpected(const mesh_cursor *c, mesh_word w, const char *expected);

/* Numbers; with flow they may stand on a later line. A count is refused where the rest of the file cannot
 * hold that many things of `bytes` characters each. */
int mesh_real(mesh_cursor *c, int flow, double *out, const char *expected);
int mesh_int(mesh_cursor *c, int flow, int least, int *out, const char *expected);
int mesh_fits(const mesh_cursor *c, int count, size_t bytes);
int mesh_count(mesh_cursor *c, int flow, size_t bytes, int *out, const char *expected);
int mesh_line_end(mesh_cursor *c, const char *expected);

/* A new node: where to write its coordinates. */
double *mesh_add_node(tool_mesh *m);
void mesh_add_tri(tool_mesh *m, int a, int b, int c);
void mesh_add_tet(tool_mesh *m, const int n[4]);

int mesh_parse_obj(tool_mesh *m, mesh_cursor *c);
int mesh_parse_msh(tool_mesh *m, mesh_cursor *c);
int mesh_parse_vtk(tool_mesh *m, mesh_cursor *c);
int mesh_parse_stl(tool_mesh *m, mesh_cursor *c);
int mesh_parse_ply(tool_mesh *m, mesh_cursor *c);
int mesh_parse_off(tool_mesh *m, mesh_cursor *c);
int mesh_parse_node(tool_mesh *m, mesh_cursor *c, int *first);   /* first: 0 or 1, the number of node 0 */
int mesh_parse_ele(tool_mesh *m, mesh_cursor *c, int first);
#endif
