/* The XML reader: what it keeps, what it refuses and where, and damaged files. */
#include "test.h"
#include "test_tool_mutate.h"
#include "../tools/common.h"
#include "../tools/xml.c"

static int parse(xml *x, const char *text, tool_error *e)
{
    char *copy = mutate_copy(text, strlen(text));
    int ok = xml_parse(x, "f.xml", copy, strlen(text), e);
    free(copy);
    return ok;
}

static int refused(const char *text, const char *part)
{
    xml x;
    tool_error e;
    int ok = parse(&x, text, &e);
    xml_free(&x);
    if (!ok && strstr(e.text, part)) return 1;
    printf("  %s\n  -> %s\n  (wanted %s)\n", text, ok ? "accepted" : e.text, part);
    return 0;
}

static const char sample[] =
    "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- a <robot> -->\n<robot name='r 1' n=\"a&lt;&#x41;&#233;&amp;\">\n"
    "  text <link name=\"a\"/><link\n name = \"b\"\n>\n <x/> </link ><![CDATA[ <no/> ]]>\n"
    "  <joint:1.a-b c=\"\"></joint:1.a-b><link name=\"c\"/>\n</robot>\n<!-- end -->";

static int is(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

static void test_tree(void)
{
    xml x;
    tool_error e;
    const xml_node *n, *root;
    ENSURE(parse(&x, sample, &e));
    root = &x.node[0];
    ENSURE(x.count == 6 && is(root->name, "robot") && root->line == 3 && root->parent == -1);
    ENSURE(is(xml_get(&x, root, "name"), "r 1") && is(xml_get(&x, root, "n"), "a<A\xc3\xa9&")
           && !xml_get(&x, root, "m"));
    n = xml_first(&x, root, "link");
    ENSURE(n && is(xml_get(&x, n, "name"), "a") && n->line == 4 && n->attribute_count == 1 && !xml_first(&x, n, NULL));
    n = xml_next(&x, n, "link");
    ENSURE(n && is(n->name, "link") && is(xml_get(&x, n, "name"), "b") && xml_first(&x, n, NULL)
           && xml_first(&x, n, NULL)->line == 7);
    n = xml_next(&x, n, "link");
    ENSURE(n && is(xml_get(&x, n, "name"), "c") && n->line == 8 && !xml_next(&x, n, NULL));
    n = xml_first(&x, root, "joint:1.a-b");
    ENSURE(n && is(xml_get(&x, n, "c"), ""));
    xml_free(&x);
}

static void test_refusals(void)
{
    ENSURE(refused("", "f.xml:1: found the end of the file, expected an element in < >"));
    ENSURE(refused("<a>\n<b n='\xff'/></a>", "f.xml:2: found the byte 0xFF, expected UTF-8"));
    ENSURE(refused("robot", "f.xml:1: found \"robot\""));
    ENSURE(refused("<a>\n<b>\n</a>", "f.xml:3: found the end of \"a\", expected the end of <b> of line 2"));
    ENSURE(refused("<a>\n", "f.xml:2: found the end of the file, expected the end of <a> of line 1"));
    ENSURE(refused("</a>", "expected no end without a beginning"));
    ENSURE(refused("<a/><b/>", "found a second root"));
    ENSURE(refused("<a x=1/>", "expected a value in quotes"));
    ENSURE(refused("<a x/>", "expected = behind the name"));
    ENSURE(refused("<a x='1' x='2'/>", "a second attribute \"x\""));
    ENSURE(refused("<a x='1'y='2'/>", "expected a blank, > or />"));
    ENSURE(refused("<a x='1/>", "expected ' at the end of a value"));
    ENSURE(refused("<a x='&nbsp;'/>", "expected one of &lt;"));
    ENSURE(refused("<a x='&#0;'/>", "expected one of &lt;"));
    ENSURE(refused("<a x='&#xd800;'/>", "expected one of &lt;"));
    ENSURE(refused("<a x='&#99999999;'/>", "expected one of &lt;"));
    ENSURE(refused("<a x='<'/>", "at the end of a value"));
    ENSURE(refused("<a / >", "expected />"));
    ENSURE(refused("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "a document type, which must define nothing"));
    ENSURE(refused("<!DOCTYPE a 'b>", "> at the end of a document type"));
    ENSURE(refused("<a/><!DOCTYPE a>", "no document type behind the first element"));
    ENSURE(refused("<!ELEMENT a><a/>", "expected a comment"));
    ENSURE(refused("<a><!-- ", "found no end of a comment"));
    ENSURE(refused("<a>< b/></a>", "the name of an element"));
    ENSURE(refused("<a", "expected"));
    ENSURE(refused("<a/>b", "found \"b\""));
}

/* Depth and attributes are bounded; long files are fine. */
static void test_bounds(void)
{
    tool_text t = { NULL, 0, 0 };
    xml x;
    tool_error e;
    for (int deep = XML_MAX_DEPTH; deep <= 100000; deep += 100000 - XML_MAX_DEPTH) {
        t.length = 0;
        for (int i = 0; i < deep; i++) tool_put(&t, "<a>");
        for (int i = 0; i < deep; i++) tool_put(&t, "</a>");
        ENSURE(xml_parse(&x, "f", t.data, (size_t)t.length, &e) == (deep == XML_MAX_DEPTH));
        xml_free(&x);
    }
    for (int many = XML_MAX_ATTRIBUTES; many <= XML_MAX_ATTRIBUTES + 1; many++) {
        t.length = 0;
        tool_put(&t, "<a");
        for (int i = 0; i < many; i++) tool_put(&t, " a%d=''", i);
        tool_put(&t, "/>");
        ENSURE(xml_parse(&x, "f", t.data, (size_t)t.length, &e) == (many == XML_MAX_ATTRIBUTES));
        xml_free(&x);
    }
    t.length = 0;
    tool_put(&t, "<a>");
    for (int i = 0; i < 100000; i++) tool_put(&t, "<b c='%d'/>\n", i);
    tool_put(&t, "</a>");
    ENSURE(xml_parse(&x, "f", t.data, (size_t)t.length, &e) && x.count == 100001 && x.node[100000].line == 100000);
    xml_free(&x);
    tool_text_free(&t);
    ENSURE(!xml_parse(&x, "f", "<a>\0</a>", 8, &e) && strstr(e.text, "a byte of zero"));
    xml_free(&x);
}

/* Damaged files never break the reader, and a tree that it makes holds together. */
static void test_mutations(void)
{
    int accepted = 0;
    for (int k = 0; k < 100000; k += TEST_SKIP) {
        size_t size;
        char *text = mutate(sample, sizeof sample - 1, &size);
        xml x;
        tool_error e;
        e.text[0] = 0;
        if (xml_parse(&x, "f.xml", text, size, &e)) {
            accepted++;
            for (int i = 0; i < x.count; i++) {
                ENSURE(x.node[i].name[0] && x.node[i].parent < i && x.node[i].line > 0);
                for (int a = 0; a < x.node[i].attribute_count; a++) {
                    const xml_attribute *t = &x.attribute[x.node[i].attribute + a];
                    ENSURE(t->name >= x.text && t->value + strlen(t->value) <= x.text + size);
                }
            }
        } else ENSURE(strncmp(e.text, "f.xml:", 6) == 0);
        xml_free(&x);
        free(text);
    }
    ENSURE(accepted > 100);
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(tree);
    RUN(refusals);
    RUN(bounds);
    RUN(mutations);
    return test_end(__FILE__);
}
