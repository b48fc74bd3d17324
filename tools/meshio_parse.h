/* What the readers of mesh files share: a cursor over words in lines or over binary values, counts that are
 * held against the size of the file before anything is allocated, and a mesh that grows. Every mesh_parse_*
 * returns 1, or 0 with the error filled; it leaves to its caller to free the mesh then. */
#ifndef TOOL_MESHIO_PARSE_H
#define TOOL_MESHIO_PARSE_H
#include "meshio.h"

typedef struct mesh_cursor {
    const char *name, *begin, *p, *end;   /* *end can be read; it is a zero, or what ends a text */
    int line;
    int joins;                            /* a backslash at the end of a line continues it (OBJ) */
    int binary;                           /* values are binary; messages give the byte instead of the line */
    int big;                              /* of binary values the first byte is the highest */
    char comment;                         /* begins one that reaches to the end of the line; 0: none */
    tool_error *e;
} mesh_cursor;

typedef struct mesh_word { const char *p; size_t length; } mesh_word;

void mesh_cursor_init(mesh_cursor *c, const char *name, const char *data, size_t size, char comment,
                      tool_error *e);

/* The rest is text: zeros and the end marks of old systems (26) behind it are left out. */
void mesh_cursor_text(mesh_cursor *c);

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

/* The same for files with a binary form: a word, or a value of this type. Types below MESH_F32 are whole. */
typedef enum mesh_scalar {
    MESH_I8, MESH_U8, MESH_I16, MESH_U16, MESH_I32, MESH_U32, MESH_I64, MESH_U64, MESH_F32, MESH_F64, MESH_SCALARS
} mesh_scalar;
size_t mesh_scalar_size(mesh_scalar type);
int mesh_get_real(mesh_cursor *c, mesh_scalar type, double *out, const char *expected);
/* A whole number in [least, most]; a value of a real type may be one, too. */
int mesh_get_int(mesh_cursor *c, mesh_scalar type, int least, int most, int *out, const char *expected);
/* Over count values of so many bytes each; in text, over so many words. */
int mesh_get_nothing(mesh_cursor *c, size_t bytes, size_t count, const char *expected);

/* At least 3 corners; cut into triangles when all nodes are read. */
void mesh_add_polygon(tool_mesh *m, const int *v, int n);
/* Corners i, i + 1, i + 2 make a triangle, every second one turned. Those that name a corner twice only lead on to
 * the next, and are left out. */
void mesh_add_strip(tool_mesh *m, const int *v, int n);

/* Counts what is passed over; one and many must last. Returns the note, whose `such` is empty at first. */
mesh_note *mesh_pass(tool_mesh *m, int count, const char *one, const char *many);
/* Counts what stands behind all that a file announces: lines with words, or bytes; blanks at the end are none. */
void mesh_pass_rest(tool_mesh *m, mesh_cursor *c);
/* Polygons that are points or lines. */
void mesh_pass_lines(tool_mesh *m, int count);
/* ", 12 hexahedra, 3 pyramids", or nothing, for messages. */
const char *mesh_passed(const tool_mesh *m, char out[200]);
/* A node of something that is passed over. All nodes of the mesh must be there. */
void mesh_put_aside(tool_mesh *m, int node);
/* What is done when everything is read: polygons are cut, triangles beside tets are passed over, nodes that only
 * belong to what was passed over are dropped. Returns 0 with e filled where nothing is left. */
int mesh_finish(tool_mesh *m, const char *name, tool_error *e);

/* Elements by the types of a format. */
typedef enum mesh_role {
    MESH_SILENT,    /* points and lines: passed over, and not counted */
    MESH_OTHER,     /* passed over and counted */
    MESH_FACE,      /* a polygon: its first `corners` nodes, or all; others are inside its edges or itself */
    MESH_FACE_2,    /* a polygon: the first half of its nodes */
    MESH_PIXEL,     /* a quadrangle whose last two corners are swapped */
    MESH_STRIP,
    MESH_TET        /* its first 4 nodes */
} mesh_role;
typedef struct mesh_kind {
    int type, nodes;            /* nodes: 0 where there may be any number of at least corners */
    mesh_role role;
    int corners;                /* of faces; 0: all nodes */
    const char *one, *many;     /* names of what is passed over */
} mesh_kind;
const mesh_kind *mesh_find_kind(const mesh_kind *list, int count, int type);
/* An element of this kind. Its nodes were checked, and that there are as many as the kind has. */
void mesh_take(tool_mesh *m, const mesh_kind *k, const int *v, int n);

int mesh_parse_obj(tool_mesh *m, mesh_cursor *c);
int mesh_parse_msh(tool_mesh *m, mesh_cursor *c);
int mesh_parse_vtk(tool_mesh *m, mesh_cursor *c);
int mesh_parse_stl(tool_mesh *m, mesh_cursor *c);
int mesh_parse_ply(tool_mesh *m, mesh_cursor *c);
int mesh_parse_off(tool_mesh *m, mesh_cursor *c);
int mesh_parse_node(tool_mesh *m, mesh_cursor *c, int *first);   /* first: 0 or 1, the number of node 0 */
int mesh_parse_ele(tool_mesh *m, mesh_cursor *c, int first);
#endif
