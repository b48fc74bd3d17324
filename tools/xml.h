/* A small XML reader that keeps the line of every element: elements and attributes, comments and CDATA passed over, the
 * five entities of XML and numbers. Text between elements is not kept. No document types, so no entities of a file's
 * own. Depth, attributes and bytes are bounded, and nothing here recurses. */
#ifndef TOOL_XML_H
#define TOOL_XML_H
#include "common.h"

#define XML_MAX_DEPTH 200
#define XML_MAX_ATTRIBUTES 100             /* of one element: each is compared with those before it */
#define XML_MAX_BYTES ((size_t)64 << 20)

typedef struct xml_attribute {
    const char *name, *value;
    int asked;                             /* has xml_get() returned it? */
} xml_attribute;

/* Elements stand in one array in the order of the file; the children of one are chained. */
typedef struct xml_node {
    const char *name;
    int line;
    int attribute, attribute_count;        /* its attributes: first one, number */
    int first, last, next, parent;         /* -1: none */
} xml_node;

typedef struct xml {
    char *text;                            /* owned: names and values point into it */
    xml_node *node;                        /* owned; node[0] is the root */
    int count, capacity;
    xml_attribute *attribute;              /* owned */
    int attribute_count, attribute_capacity;
} xml;

/* Reads size bytes; `name` stands in messages. Returns 1, or 0 with e filled. Free in either case. */
int xml_parse(xml *x, const char *name, const char *data, size_t size, tool_error *e);
void xml_free(xml *x);

/* Value of an attribute, or NULL. */
const char *xml_get(const xml *x, const xml_node *n, const char *name);
/* First child and the next one, of this name or (NULL) any; NULL at the end. */
const xml_node *xml_first(const xml *x, const xml_node *parent, const char *name);
const xml_node *xml_next(const xml *x, const xml_node *n, const char *name);
#endif
