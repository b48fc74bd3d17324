#include "xml.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct xml_reader {
    xml *x;
    char *p;              /* the next byte; the text ends with a zero */
    int line;
    int open, depth;      /* the element that is open, -1: none */
    const char *name;
    tool_error *e;
} xml_reader;

static int xml_fail(const xml_reader *r, const char *what, const char *expected)
{
    char quoted[48];
    size_t n = strcspn(r->p, " \t\r\n<>");
    return tool_fail(r->e, "%s:%d: found %s%s%s, expected %s", r->name, r->line, what, *what ? " " : "",
                     *r->p ? tool_quote(quoted, r->p, n ? n : 1) : "the end of the file", expected);
}

static void xml_skip_space(xml_reader *r)
{
    for (; *r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\n'; r->p++) r->line += *r->p == '\n';
}

static int xml_is_name(char c, int first)
{
    int letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || (unsigned char)c >= 128;
    return letter || (!first && ((c >= '0' && c <= '9') || c == '-' || c == '.'));
}

/* Moves behind a name and returns its first byte, or NULL. Who calls ends it with a zero. */
static char *xml_name(xml_reader *r)
{
    char *from = r->p;
    if (!xml_is_name(*r->p, 1)) return NULL;
    while (xml_is_name(*r->p, 0)) r->p++;
    return from;
}

/* Behind the next `end`, counting lines. */
static int xml_skip_past(xml_reader *r, const char *end, const char *what)
{
    char *to = strstr(r->p, end);
    if (!to) return tool_fail(r->e, "%s:%d: found no end of %s, expected %s", r->name, r->line, what, end);
    for (; r->p < to; r->p++) r->line += *r->p == '\n';
    r->p += strlen(end);
    return 1;
}

/* Past <!DOCTYPE>. In brackets it may define entities, which this does not know. */
static int xml_skip_type(xml_reader *r)
{
    if (r->x->count) return xml_fail(r, "", "no document type behind the first element");
    while (*r->p && *r->p != '>') {
        char quote = *r->p;
        if (quote == '[') return xml_fail(r, "", "> at the end of a document type, which must define nothing");
        if (quote == '"' || quote == '\'')
            for (r->p++; *r->p && *r->p != quote; r->p++) r->line += *r->p == '\n';
        r->line += *r->p == '\n';
        r->p += *r->p != 0;
    }
    if (!*r->p) return xml_fail(r, "", "> at the end of a document type");
    r->p++;
    return 1;
}

/* ---- Values --------------------------------------------------------------------------------- */

/* Writes the code point as UTF-8; 0 where it is none that XML has. */
static int xml_put_code(char **to, long code)
{
    unsigned char *t = (unsigned char *)*to;
    if (code < 32 ? code != 9 && code != 10 && code != 13 : code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    if (code < 0x80) *t++ = (unsigned char)code;
    else if (code < 0x800) {
        *t++ = (unsigned char)(0xc0 | code >> 6);
        *t++ = (unsigned char)(0x80 | (code & 63));
    } else {
        if (code < 0x10000) *t++ = (unsigned char)(0xe0 | code >> 12);
        else {
            *t++ = (unsigned char)(0xf0 | code >> 18);
            *t++ = (unsigned char)(0x80 | (code >> 12 & 63));
        }
        *t++ = (unsigned char)(0x80 | (code >> 6 & 63));
        *t++ = (unsigned char)(0x80 | (code & 63));
    }
    *to = (char *)t;
    return 1;
}

/* &name; at p: its end, or NULL. What it stands for is never longer than itself. */
static char *xml_entity(char *p, char **to)
{
    static const struct { const char *name; char c; } known[] = {
        { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' }, { "&apos;", '\'' } };
    long code = 0;
    int hex, digits = 0;
    for (int i = 0; i < 5; i++)
        if (strncmp(p, known[i].name, strlen(known[i].name)) == 0) {
            *(*to)++ = known[i].c;
            return p + strlen(known[i].name);
        }
    if (p[1] != '#') return NULL;
    hex = p[2] == 'x';
    for (p += 2 + hex; *p && *p != ';'; p++, digits++) {
        int d = *p >= '0' && *p <= '9' ? *p - '0' : hex && *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
              : hex && *p >= 'A' && *p <= 'F' ? *p - 'A' + 10 : -1;
        if (d < 0 || digits > 7) return NULL;
        code = code * (hex ? 16 : 10) + d;
    }
    return *p == ';' && digits > 0 && xml_put_code(to, code) ? p + 1 : NULL;
}

/* The value in quotes, decoded in place. */
static char *xml_value(xml_reader *r)
{
    char quote = *r->p, *from, *to;
    if (quote != '"' && quote != '\'') { xml_fail(r, "", "a value in quotes"); return NULL; }
    from = to = ++r->p;
    while (*r->p && *r->p != quote && *r->p != '<') {
        if (*r->p == '&') {
            char *end = xml_entity(r->p, &to);
            if (!end) {
                xml_fail(r, "", "one of &lt; &gt; &amp; &quot; &apos; or a character by its number");
                return NULL;
            }
            r->p = end;
            continue;
        }
        r->line += *r->p == '\n';
        *to++ = *r->p == '\n' || *r->p == '\t' || *r->p == '\r' ? ' ' : *r->p;
        r->p++;
    }
    if (*r->p != quote) {
        xml_fail(r, "", quote == '"' ? "\" at the end of a value" : "' at the end of a value");
        return NULL;
    }
    *to = 0;
    r->p++;
    return from;
}

/* ---- Elements ------------------------------------------------------------------------------- */

static int xml_read_attribute(xml_reader *r, int node)
{
    xml *x = r->x;
    xml_node *n = &x->node[node];
    xml_attribute *a;
    char *name = xml_name(r), *end = r->p, *value;
    if (!name) return xml_fail(r, "", "the name of an attribute, > or />");
    xml_skip_space(r);
    if (*r->p != '=') return xml_fail(r, "", "= behind the name of an attribute");
    r->p++;
    xml_skip_space(r);
    value = xml_value(r);
    if (!value) return 0;
    *end = 0;
    if (xml_get(x, n, name))
        return tool_fail(r->e, "%s:%d: found a second attribute \"%.60s\" of an element, expected one", r->name,
                         r->line, name);
    if (n->attribute_count == XML_MAX_ATTRIBUTES)
        return tool_fail(r->e, "%s:%d: found more than %d attributes of an element, expected fewer", r->name, r->line,
                         XML_MAX_ATTRIBUTES);
    TOOL_GROW(xml_attribute, x->attribute, x->attribute_capacity, x->attribute_count + 1);
    a = &x->attribute[x->attribute_count++];
    a->name = name;
    a->value = value;
    a->asked = 0;
    n->attribute_count++;
    return 1;
}

/* <name a="1"> or <name/>; p is behind the <. */
static int xml_read_element(xml_reader *r)
{
    xml *x = r->x;
    xml_node *n;
    char *name = xml_name(r), *end = r->p;
    int node = x->count, closed;
    if (!name) return xml_fail(r, "", "the name of an element behind <");
    if (r->open < 0 && x->count)
        return tool_fail(r->e, "%s:%d: found a second root <%.*s>, expected one", r->name, r->line,
                         (int)(end - name < 60 ? end - name : 60), name);
    if (r->depth == XML_MAX_DEPTH) return xml_fail(r, "elements nested too deeply:", "fewer levels");
    TOOL_GROW(xml_node, x->node, x->capacity, node + 1);
    n = &x->node[x->count++];
    n->name = name;
    n->line = r->line;
    n->attribute = x->attribute_count;
    n->attribute_count = 0;
    n->first = n->last = n->next = -1;
    n->parent = r->open;
    if (r->open >= 0) {
        xml_node *parent = &x->node[r->open];
        if (parent->last >= 0) x->node[parent->last].next = node;
        else parent->first = node;
        parent->last = node;
    }
    for (;;) {
        char *before = r->p;
        xml_skip_space(r);
        if (*r->p == '>' || *r->p == '/') break;
        if (before == r->p) return xml_fail(r, "", "a blank, > or />");
        if (!xml_read_attribute(r, node)) return 0;
    }
    closed = *r->p == '/';
    if (closed && r->p[1] != '>') return xml_fail(r, "", "/>");
    r->p += 1 + closed;
    *end = 0;   /* all of the element has been read */
    if (!closed) {
        r->open = node;
        r->depth++;
    }
    return 1;
}

/* </name>; p is behind the /. */
static int xml_read_end(xml_reader *r)
{
    xml *x = r->x;
    char *name = xml_name(r);
    size_t n = name ? (size_t)(r->p - name) : 0;
    const char *open = r->open >= 0 ? x->node[r->open].name : "";
    if (!name || strlen(open) != n || strncmp(open, name, n) != 0) {
        char expected[160];
        if (r->open < 0) snprintf(expected, sizeof expected, "no end without a beginning");
        else snprintf(expected, sizeof expected, "the end of <%.60s> of line %d", open, x->node[r->open].line);
        if (name) r->p = name;
        return xml_fail(r, "the end of", expected);
    }
    xml_skip_space(r);
    if (*r->p != '>') return xml_fail(r, "", ">");
    r->p++;
    r->open = x->node[r->open].parent;
    r->depth--;
    return 1;
}

static int xml_read_all(xml_reader *r)
{
    while (*r->p) {
        int ok;
        if (*r->p != '<') {
            if (r->open < 0) {
                xml_skip_space(r);
                if (*r->p && *r->p != '<') return xml_fail(r, "", "an element in < >");
                continue;
            }
            for (; *r->p && *r->p != '<'; r->p++) r->line += *r->p == '\n';
            continue;
        }
        if (strncmp(r->p, "<!--", 4) == 0) { r->p += 4; ok = xml_skip_past(r, "-->", "a comment"); }
        else if (strncmp(r->p, "<![CDATA[", 9) == 0) ok = xml_skip_past(r, "]]>", "<![CDATA[");
        else if (strncmp(r->p, "<?", 2) == 0) ok = xml_skip_past(r, "?>", "<?");
        else if (strncmp(r->p, "<!DOCTYPE", 9) == 0) ok = xml_skip_type(r);
        else if (r->p[1] == '!') ok = xml_fail(r, "", "a comment, or <![CDATA[");
        else if (r->p[1] == '/') { r->p += 2; ok = xml_read_end(r); }
        else { r->p++; ok = xml_read_element(r); }
        if (!ok) return 0;
    }
    if (r->open >= 0)
        return tool_fail(r->e, "%s:%d: found the end of the file, expected the end of <%.60s> of line %d", r->name,
                         r->line, r->x->node[r->open].name, r->x->node[r->open].line);
    return r->x->count > 0 || xml_fail(r, "", "an element in < >");
}

int xml_parse(xml *x, const char *name, const char *data, size_t size, tool_error *e)
{
    xml_reader r;
    memset(x, 0, sizeof *x);
    if (size > XML_MAX_BYTES)
        return tool_fail(e, "%s: found %zu bytes, expected at most %zu", name, size, XML_MAX_BYTES);
    if (memchr(data, 0, size)) return tool_fail(e, "%s: found a byte of zero, expected text", name);
    for (size_t i = 0, line = 1; i < size; line += data[i] == '\n', i += (size_t)tool_utf8(data + i, data + size))
        if (!tool_utf8(data + i, data + size))
            return tool_fail(e, "%s:%zu: found the byte 0x%02X, expected UTF-8: save the file as UTF-8", name, line,
                             (unsigned)(unsigned char)data[i]);
    x->text = (char *)tool_alloc(size + 1, 1);
    memcpy(x->text, data, size);
    memset(&r, 0, sizeof r);
    r.x = x;
    r.p = x->text + (strncmp(x->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    r.line = 1;
    r.open = -1;
    r.name = name;
    r.e = e;
    return xml_read_all(&r);
}

void xml_free(xml *x)
{
    free(x->text);
    free(x->node);
    free(x->attribute);
    memset(x, 0, sizeof *x);
}

/* ---- Access --------------------------------------------------------------------------------- */

const char *xml_get(const xml *x, const xml_node *n, const char *name)
{
    for (int i = 0; i < n->attribute_count; i++) {
        xml_attribute *a = &x->attribute[n->attribute + i];
        if (strcmp(a->name, name) != 0) continue;
        a->asked = 1;
        return a->value;
    }
    return NULL;
}

static const xml_node *xml_named(const xml *x, int at, const char *name)
{
    for (; at >= 0; at = x->node[at].next)
        if (!name || strcmp(x->node[at].name, name) == 0) return &x->node[at];
    return NULL;
}

const xml_node *xml_first(const xml *x, const xml_node *parent, const char *name)
{
    return xml_named(x, parent->first, name);
}

const xml_node *xml_next(const xml *x, const xml_node *n, const char *name) { return xml_named(x, n->next, name); }
