/* A strict JSON reader (RFC 8259) that keeps the line of every value, for messages that say where.
 * No extensions: no comments, no trailing commas, no doubled keys, no numbers beyond a double. */
#ifndef TOOL_JSON_H
#define TOOL_JSON_H
#include "common.h"

#define JSON_MAX_DEPTH 64
#define JSON_MAX_KEYS 1000                 /* of one object: each is compared with those before it */
#define JSON_MAX_BYTES ((size_t)64 << 20)

typedef enum json_type {
    JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT
} json_type;

/* Values stand in one array; children of an array or object are chained in the order of the file. */
typedef struct json_value {
    json_type type;
    int line;
    size_t from;              /* its first byte in the file */
    const char *key;          /* of a member of an object, else NULL */
    const char *string;       /* UTF-8, zero-terminated */
    double number;
    int count, first, last;   /* children: how many, index of the first and last value, -1 without */
    int next, parent;         /* -1: none */
} json_value;

typedef struct json {
    char *text;               /* owned: the strings point into it */
    json_value *value;        /* owned; value[0] is the root */
    int count, capacity;
} json;

/* Reads size bytes; `name` stands in messages. Returns 1, or 0 with e filled. Free in either case. */
int json_parse(json *j, const char *name, const char *data, size_t size, tool_error *e);
int json_read(json *j, const char *path, tool_error *e);
void json_free(json *j);

/* Member of an object, or NULL. */
const json_value *json_get(const json *j, const json_value *object, const char *key);
/* First child and the next one, NULL at the end. */
const json_value *json_first(const json *j, const json_value *parent);
const json_value *json_next(const json *j, const json_value *v);

/* Appends a string as JSON, with its quotes. */
void json_write_string(tool_text *t, const char *s);
/* Appends the value as JSON, numbers with %.17g. */
void json_write(tool_text *t, const json *j, const json_value *v);
/* Appends v with the changes of another document, as RFC 7396 (JSON Merge Patch) has it: an object names the
 * members that change, null removes one, anything else takes the place of what was there. Beyond it, an object
 * that meets an array of objects changes those whose "name" it has as keys; what has no such name is appended. */
void json_merge(tool_text *t, const json *j, const json_value *v, const json *other, const json_value *change);

/* The value as it may stand in a message: `the string "abc"`, `-3`, `an array of 2 values`. */
const char *json_describe(const json_value *v, char out[80]);
#endif
