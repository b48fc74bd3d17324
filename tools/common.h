/* What the parts of the tool share: one kind of error, growing arrays, text that is written in one piece,
 * whole files in memory, and vectors. Nothing here knows about simulation. C99 and libc only. */
#ifndef TOOL_COMMON_H
#define TOOL_COMMON_H
#include <math.h>
#include <stddef.h>

/* One message for the user: where, what was found, what was expected. */
typedef struct tool_error { char text[1024]; } tool_error;

/* Fills e, which may be NULL, and returns 0, so that a reader can end with `return tool_fail(e, ...)`. */
int tool_fail(tool_error *e, const char *format, ...);

/* Memory, or the end of the program with a message: a tool has nothing to save. p may be NULL. */
void *tool_alloc(size_t count, size_t size);              /* zeroed */
void *tool_grow(void *p, int *capacity, int need, size_t size);

/* p holds need elements of its type afterwards; capacity is an int that belongs to p. */
#define TOOL_GROW(T, p, capacity, need) ((p) = (T *)tool_grow((p), &(capacity), (need), sizeof(T)))

/* Text built in memory and written with a single call, so that no file ends within a line. */
typedef struct tool_text { char *data; int length, capacity; } tool_text;
void tool_put(tool_text *t, const char *format, ...);
void tool_text_free(tool_text *t);

/* The whole file, zero-terminated (free it with free()), or NULL with e filled: not there, not a file,
 * or larger than limit bytes. */
char *tool_read_file(const char *path, size_t limit, size_t *size, tool_error *e);

/* `found` as it may stand in a message: at most 40 characters, control characters as '?', in quotes. */
const char *tool_quote(char out[48], const char *found, size_t length);

/* Bytes of the character at p (p < end) in UTF-8 as RFC 3629 has it; 0 if it is none. */
int tool_utf8(const char *p, const char *end);

/* The entry of list (count names) that needs the fewest edits to become word, or NULL where these
 * are more than half of the letters. */
const char *tool_nearest(const char *word, const char *const *list, int count);

/* A decimal number that fills the whole word and is finite; returns 0 when it is not one. */
int tool_number(const char *word, size_t length, double *out);
/* The same for an integer that fits an int. */
int tool_integer(const char *word, size_t length, int *out);

/* Vectors: r = a - b, a . b, r = a x b, |a|. */
static inline void tool_sub(double r[3], const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++) r[i] = a[i] - b[i];
}
static inline double tool_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void tool_cross(double r[3], const double a[3], const double b[3])
{
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}
static inline double tool_length(const double a[3]) { return sqrt(tool_dot(a, a)); }
#endif
