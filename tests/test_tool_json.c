/* The JSON reader of the tool: what it accepts, the line and words of every refusal, and that no input
 * makes it read outside its text. */
#include "test.h"
#include "test_tool_mutate.h"
#include "../tools/common.h"
#include "../tools/json.h"

static int parse(json *j, const char *text, tool_error *e)
{
    char *copy = mutate_copy(text, strlen(text));
    int ok = json_parse(j, "f.json", copy, strlen(text), e);
    free(copy);
    return ok;
}

/* The text is refused, with a message that contains this. */
static int refused(const char *text, const char *part)
{
    json j;
    tool_error e;
    int ok = parse(&j, text, &e);
    json_free(&j);
    if (!ok && strstr(e.text, part)) return 1;
    printf("  %s -> %s (wanted %s)\n", text, ok ? "accepted" : e.text, part);
    return 0;
}

static void test_values(void)
{
    json j;
    tool_error e;
    const json_value *v;
    ENSURE(parse(&j,
                 " {\"a\": [1, -2.5e-3, \"x\"],\n \"b\": {\"c\": true, \"d\": false, \"e\": null},\n\n "
                 "\"f\": []} ",
                 &e));
    ENSURE(j.value[0].type == JSON_OBJECT && j.value[0].count == 3 && j.value[0].line == 1);
    v = json_first(&j, json_get(&j, &j.value[0], "a"));
    ENSURE(v->type == JSON_NUMBER && v->number == 1);
    v = json_next(&j, v);
    ENSURE(v->number == -2.5e-3);
    v = json_next(&j, v);
    ENSURE(v->type == JSON_STRING && strcmp(v->string, "x") == 0 && !json_next(&j, v));
    v = json_get(&j, &j.value[0], "b");
    ENSURE(v->line == 2 && v->count == 3);
    ENSURE(json_get(&j, v, "c")->type == JSON_TRUE && json_get(&j, v, "d")->type == JSON_FALSE);
    ENSURE(json_get(&j, v, "e")->type == JSON_NULL && !json_get(&j, v, "a"));
    v = json_get(&j, &j.value[0], "f");
    ENSURE(v->line == 4 && v->type == JSON_ARRAY && v->count == 0 && !json_first(&j, v));
    json_free(&j);
    ENSURE(parse(&j, "3", &e) && j.value[0].number == 3);
    json_free(&j);
}

static void test_strings(void)
{
    json j;
    tool_error e;
    ENSURE(parse(&j, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\xc3\xa9\"", &e));
    ENSURE(strcmp(j.value[0].string, "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa9") == 0);
    json_free(&j);
    ENSURE(refused("\"ab", "f.json:1: found the end of the file, expected the closing quote"));
    ENSURE(refused("\"a\nb\"", "closing quote of a string on the same line"));
    ENSURE(refused("\"\\x\"", "after a backslash"));
    ENSURE(refused("\"\\u12g4\"", "four hexadecimal digits"));
    ENSURE(refused("\"\\u0000\"", "a character that text can hold"));
    ENSURE(refused("\"\\ud800\"", "surrogate"));
    ENSURE(refused("\"\\udc00\"", "a character that text can hold"));
}

static void test_numbers(void)
{
    static const char *const good[] = { "0", "-0", "10", "1.5", "1e5", "1E+5", "-1.25e-10", "1e308" };
    static const char *const bad[] = { "01",   "-",     "1.",     ".5",  "1e",       "1e+", "+1",
                                       "0x10", "1e999", "-1e999", "nan", "Infinity", "1 2" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        json j;
        tool_error e;
        ENSURE(parse(&j, good[i], &e) && j.value[0].type == JSON_NUMBER
               && j.value[0].number == strtod(good[i], NULL));
        json_free(&j);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ENSURE(refused(bad[i], "f.json:1: found "));
    ENSURE(refused("[1e999]", "that a double can hold"));
}

static void test_refusals(void)
{
    ENSURE(refused("", "f.json:1: found the end of the file, expected a value"));
    ENSURE(refused("{\"a\":1,}", "f.json:1: found \"}\", expected a key in quotes"));
    ENSURE(refused("[1,\n2,\n]", "f.json:3: found \"]\", expected a value"));
    ENSURE(refused("[1 2]", "found \"2\", expected ',' or ']'"));
    ENSURE(refused("{\"a\" 1}", "found \"1\", expected ':' after a key"));
    ENSURE(refused("{\"a\":1 \"b\":2}", "expected ',' or '}'"));
    ENSURE(refused("{a:1}", "found \"a\", expected a key in quotes"));
    ENSURE(refused("[tru]", "found \"tru\", expected a value"));
    ENSURE(refused("{} x", "found \"x\", expected the end of the file"));
    ENSURE(refused("[}", "found \"}\", expected a value"));
    ENSURE(refused("[1}", "expected ',' or ']'"));
    ENSURE(refused("// c\n1", "f.json:1: found \"//\", expected a value"));
    ENSURE(refused("{\"a\":1,\n\"b\":2,\n\"a\":3}", "f.json:3: found the key \"a\" again, expected it once "
                                                    "(first on line 1)"));
    ENSURE(refused("{\xef\xbb\xbf}", "f.json:1: found"));   /* a mark is one at the start only */
    ENSURE(refused("[1,\n\"a\xff\"]", "f.json:2: found the byte 0xFF in a string, expected UTF-8"));
    ENSURE(refused("\"\xc0\xaf\"", "found the byte 0xC0"));           /* longer than need be */
    ENSURE(refused("\"\xed\xa0\x80\"", "found the byte 0xED"));       /* half of a surrogate pair */
    ENSURE(refused("\"\xf4\x90\x80\x80\"", "found the byte 0xF4"));   /* beyond the last */
    ENSURE(refused("\"\xe2\x82\"", "found the byte 0xE2"));           /* cut off */
    ENSURE(refused("\xff\xfe{", "the file is UTF-16"));
    ENSURE(refused("\x89PNG\r\n", "f.json:1: found the byte 0x89, expected a value"));
    ENSURE(refused("[\n\x7f\x7f\"ELF", "f.json:2: found \"??\"ELF\", expected a value"));
    ENSURE(refused("{\"a\tb\":1}", "found the byte 0x09, expected the closing quote of a string on the same line"));
    ENSURE(!refused("\xef\xbb\xbf{\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\":1}", "none"));
}

/* Files that are no text, or text of another kind. */
static void test_not_text(void)
{
    static const struct { size_t size; const char *data, *said; } list[] = {
        { 8, "\x7f" "ELF\2\1\1", "f.json: found a byte of zero, at byte 7: this is no text, expected JSON" },
        { 8, "\0\0\0\x18" "ftyp", "found a byte of zero, at byte 0" },
        { 84, "\0", "found a byte of zero, at byte 0" },
        { 14, "{\"version\":1}", "found a byte of zero, at byte 13" },
        { 4, "{\0}", "the file is UTF-16 or UTF-32" },
        { 4, "\0{\0}", "the file is UTF-16 or UTF-32" },
        { 8, "\0\0\0{\0\0\0}", "the file is UTF-16 or UTF-32" },
        { 8, "\n\0\0\0{\0\0", "the file is UTF-16 or UTF-32" } };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char data[100] = { 0 };
        json j;
        tool_error e;
        memcpy(data, list[i].data, list[i].size < 20 ? list[i].size : 1);
        ENSURE(!json_parse(&j, "f.json", data, list[i].size, &e) && strstr(e.text, list[i].said));
        json_free(&j);
    }
}

/* What a message quotes is whole text: no control characters, no parts of characters. */
static void test_quote(void)
{
    char out[48], many[64];
    ENSURE(strcmp(tool_quote(out, "W\xc3\xbcrfel", 7), "\"W\xc3\xbcrfel\"") == 0);
    ENSURE(strcmp(tool_quote(out, "a\xff\tb\xc3", 5), "\"a??b?\"") == 0);
    memset(many, 'a', sizeof many);
    memcpy(many + 39, "\xe2\x82\xac", 3);   /* would end behind the 40 bytes that are shown */
    ENSURE(strlen(tool_quote(out, many, sizeof many)) == 1 + 39 + 3 + 1 && out[39] == 'a' && out[40] == '.');
    ENSURE(strlen(tool_quote(out, many, 39)) == 41 && out[40] == '"');
}

static void test_limits(void)
{
    char deep[2 * JSON_MAX_DEPTH + 8], *many;
    json j;
    tool_error e;
    size_t n = 0;
    memset(deep, '[', JSON_MAX_DEPTH);
    memset(deep + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
    deep[2 * JSON_MAX_DEPTH] = 0;
    ENSURE(parse(&j, deep, &e));
    json_free(&j);
    memset(deep, '[', JSON_MAX_DEPTH + 1);
    deep[JSON_MAX_DEPTH + 1] = 0;
    ENSURE(refused(deep, "no deeper than 64"));
    many = (char *)malloc(JSON_MAX_KEYS * 16 + 64);
    if (!many) exit(1);
    for (int i = 0; i <= JSON_MAX_KEYS; i++) n += (size_t)sprintf(many + n, "%s\"k%d\":1", i ? "," : "{", i);
    strcpy(many + n, "}");
    ENSURE(!parse(&j, many, &e) && strstr(e.text, "at most 1000 keys"));
    json_free(&j);
    free(many);
    ENSURE(!json_parse(&j, "f.json", "", JSON_MAX_BYTES + 1, &e) && strstr(e.text, "expected at most"));
    json_free(&j);
    ENSURE(!json_read(&j, "no/such/file.json", &e) && strstr(e.text, "no/such/file.json: cannot be opened"));
    json_free(&j);
}

static void test_describe(void)
{
    static const char *const text[] = { "null", "true", "-3.5", "\"abc\"", "[1]", "[1,2]", "{\"a\":0}" };
    static const char *const words[] = { "null",
                                         "true",
                                         "-3.5",
                                         "the string \"abc\"",
                                         "an array of 1 value",
                                         "an array of 2 values",
                                         "an object of 1 key" };
    char out[80];
    for (int i = 0; i < 7; i++) {
        json j;
        tool_error e;
        ENSURE(parse(&j, text[i], &e) && strcmp(json_describe(&j.value[0], out), words[i]) == 0);
        json_free(&j);
    }
}

static const char sample[] = "{ \"version\": 1, \"gravity\": [0, 0, -9.81], \"name\": "
                             "\"a\\u00e9\\n\\\"b\",\n  \"bodies\": [ { \"x\": 1e-3, \"y\": true },\n"
                             "    { \"z\": null, \"w\": [[], {}, [[1]]] } ] }";

/* A text cut anywhere is refused, never accepted and never read beyond. */
static void test_truncations(void)
{
    for (size_t n = 0; n < strlen(sample); n++) {
        json j;
        tool_error e;
        char *copy = mutate_copy(sample, n);
        ENSURE(!json_parse(&j, "f.json", copy, n, &e));
        ENSURE(strncmp(e.text, "f.json:", 7) == 0);
        json_free(&j);
        free(copy);
    }
}

static void test_mutations(void)
{
    int accepted = 0;
    for (int i = 0; i < 20000; i++) {
        json j;
        tool_error e;
        size_t n;
        char *text = mutate(sample, strlen(sample), &n);
        e.text[0] = 0;
        if (json_parse(&j, "f.json", text, n, &e)) accepted++;
        else ENSURE(strncmp(e.text, "f.json:", 7) == 0);
        json_free(&j);
        free(text);
    }
    ENSURE(accepted > 100 && accepted < 15000);   /* the damage is neither fatal nor harmless */
}

/* ---- Writing and merging -------------------------------------------------------------------- */

static int merges(const char *text, const char *change, const char *want)
{
    json j, other;
    tool_error e;
    tool_text t = { NULL, 0, 0 };
    int ok;
    ENSURE(json_parse(&j, "a", text, strlen(text), &e) && json_parse(&other, "b", change, strlen(change), &e));
    json_merge(&t, &j, &j.value[0], &other, &other.value[0]);
    ok = strcmp(t.data, want) == 0;
    if (!ok) printf("  %s with %s\n  is %s\n", text, change, t.data);
    tool_text_free(&t);
    json_free(&j);
    json_free(&other);
    return ok;
}

static void test_write(void)
{
    json j, again;
    tool_error e;
    tool_text t = { NULL, 0, 0 }, u = { NULL, 0, 0 };
    ENSURE(json_parse(&j, "a", sample, strlen(sample), &e));
    json_write(&t, &j, &j.value[0]);
    ENSURE(json_parse(&again, "b", t.data, strlen(t.data), &e) && again.count == j.count);
    if (test_bad) return;
    for (int i = 0; i < j.count; i++) {
        const json_value *a = &j.value[i], *b = &again.value[i];
        ENSURE(a->type == b->type && a->count == b->count && a->next == b->next && a->first == b->first);
        ENSURE(a->type != JSON_NUMBER || a->number == b->number);
        ENSURE(a->type != JSON_STRING || strcmp(a->string, b->string) == 0);
        ENSURE((a->key == NULL) == (b->key == NULL) && (!a->key || strcmp(a->key, b->key) == 0));
    }
    json_write(&u, &again, &again.value[0]);
    ENSURE(strcmp(t.data, u.data) == 0);
    tool_text_free(&t);
    tool_text_free(&u);
    json_free(&j);
    json_free(&again);
}

/* The examples of RFC 7396, appendix A, that are about objects, and arrays by name. */
static void test_merge(void)
{
    ENSURE(merges("{\"a\":\"b\"}", "{\"a\":\"c\"}", "{ \"a\": \"c\" }"));
    ENSURE(merges("{\"a\":\"b\"}", "{\"b\":\"c\"}", "{ \"a\": \"b\", \"b\": \"c\" }"));
    ENSURE(merges("{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{ \"b\": \"c\" }"));
    ENSURE(merges("{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{ \"a\": \"c\" }"));
    ENSURE(merges("{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{ \"a\": [ \"b\" ] }"));
    ENSURE(merges("{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{ \"a\": { \"b\": \"d\" } }"));
    ENSURE(merges("[\"a\",\"b\"]", "[\"c\",\"d\"]", "[ \"c\", \"d\" ]"));
    ENSURE(merges("{\"e\":null}", "{\"a\":1}", "{ \"e\": null, \"a\": 1 }"));
    ENSURE(merges("{\"l\":[{\"name\":\"x\",\"v\":1},{\"name\":\"y\"},7]}", "{\"l\":{\"x\":{\"v\":2},\"y\":null}}",
                  "{ \"l\": [ { \"name\": \"x\", \"v\": 2 }, 7 ] }"));
    ENSURE(merges("{\"l\":[{\"name\":\"x\"}]}", "{\"l\":{\"z\":{\"v\":2}}}", "{ \"l\": [ { \"name\": \"x\" }, { \"v\": 2 } ] }"));
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(values);
    RUN(strings);
    RUN(numbers);
    RUN(refusals);
    RUN(not_text);
    RUN(quote);
    RUN(limits);
    RUN(describe);
    RUN(truncations);
    RUN(mutations);
    RUN(write);
    RUN(merge);
    return test_end(__FILE__);
}
