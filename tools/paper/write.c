/* The report as text: sections, tables, verdicts, and the page around them. */
#include "paper.h"
#include "../system.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_escaped(tool_text *t, const char *s)
{
    for (; *s; s++) {
        if (*s == '<') tool_put(t, "&lt;");
        else if (*s == '>') tool_put(t, "&gt;");
        else if (*s == '&') tool_put(t, "&amp;");
        else if (*s == '"') tool_put(t, "&quot;");
        else tool_put(t, "%c", *s);
    }
}

/* formatted text of any length, to be freed */
static char *format_text(const char *format, va_list args)
{
    va_list copy;
    char *text;
    int n;
    va_copy(copy, args);
    n = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    text = (char *)tool_alloc((size_t)(n > 0 ? n : 0) + 1, 1);
    (void)vsnprintf(text, (size_t)(n > 0 ? n : 0) + 1, format, args);
    return text;
}

/* ---- Sections and tables -------------------------------------------------------------------- */

void paper_progress(const paper *p, const char *what, ...)
{
    va_list args;
    printf("%6.0f s  %-8s ", system_seconds() - p->start, p->section);
    va_start(args, what);
    vprintf(what, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

void paper_section(paper *p, const char *id, const char *title, const char *source)
{
    if (p->section[0]) tool_put(&p->body, "</section>\n");
    snprintf(p->section, sizeof p->section, "%s", id);
    snprintf(p->section_title, sizeof p->section_title, "%s", title);
    tool_put(&p->body, "<section id=\"%s\">\n<h2>", id);
    put_escaped(&p->body, title);
    tool_put(&p->body, "</h2>\n<p class=\"source\">%s</p>\n<!--verdicts %s-->\n", source, id);
    paper_progress(p, "%s", title);
}

void paper_heading(paper *p, const char *title)
{
    tool_put(&p->body, "<h3>");
    put_escaped(&p->body, title);
    tool_put(&p->body, "</h3>\n");
}

void paper_text(paper *p, const char *html, ...)
{
    va_list args;
    char *text;
    va_start(args, html);
    text = format_text(html, args);
    va_end(args);
    tool_put(&p->body, "<p>%s</p>\n", text);
    free(text);
}

/* cells of a row, '|' between them */
static void put_cells(tool_text *t, const char *cells, const char *tag)
{
    const char *at = cells;
    for (;;) {
        const char *end = strchr(at, '|');
        int length = end ? (int)(end - at) : (int)strlen(at), left = *at == '<' && at[1] == ' ';
        tool_put(t, "<%s%s>%.*s</%s>", tag, left ? " class=\"l\"" : "", length - 2 * left, at + 2 * left, tag);
        if (!end) return;
        at = end + 1;
    }
}

void paper_table(paper *p, const char *caption, const char *columns)
{
    tool_put(&p->body, "<div class=\"wide\"><table>\n");
    if (caption) tool_put(&p->body, "<caption>%s</caption>\n", caption);
    tool_put(&p->body, "<thead><tr>");
    put_cells(&p->body, columns, "th");
    tool_put(&p->body, "</tr></thead>\n<tbody>\n");
}

void paper_row(paper *p, const char *cells, ...)
{
    va_list args;
    char *text;
    va_start(args, cells);
    text = format_text(cells, args);
    va_end(args);
    tool_put(&p->body, "<tr>");
    put_cells(&p->body, text, "td");
    tool_put(&p->body, "</tr>\n");
    free(text);
}

void paper_table_end(paper *p) { tool_put(&p->body, "</tbody></table></div>\n"); }

/* ---- Verdicts ------------------------------------------------------------------------------- */

static paper_verdict *verdict_add(paper *p, const char *name, const char *source)
{
    paper_verdict *v;
    TOOL_GROW(paper_verdict, p->verdict, p->verdict_capacity, p->verdict_count + 1);
    v = &p->verdict[p->verdict_count++];
    memset(v, 0, sizeof *v);
    snprintf(v->section, sizeof v->section, "%s", p->section);
    snprintf(v->name, sizeof v->name, "%s", name);
    snprintf(v->source, sizeof v->source, "%s", source);
    v->expected_value = v->measured_value = v->tolerance = NAN;
    return v;
}

static const char *const cause_name[4] = { "", "discretisation", "model", "a fault of the library" };

static int verdict_done(const paper *p, paper_verdict *v, int pass)
{
    v->pass = pass;
    paper_progress(p, "%s %s: expected %s, measured %s", pass ? "ok     " : "DIFFERS", v->name, v->expected, v->measured);
    return pass;
}

int paper_value(paper *p, const char *name, const char *source, double expected, double measured, double tolerance,
                const char *unit)
{
    paper_verdict *v = verdict_add(p, name, source);
    v->expected_value = expected;
    v->measured_value = measured;
    v->tolerance = tolerance;
    snprintf(v->expected, sizeof v->expected, "%.5g %s ± %.2g %%", expected, unit, 100 * tolerance);
    snprintf(v->measured, sizeof v->measured, "%.5g %s (%+.2f %%)", measured, unit, 100 * (measured / expected - 1));
    return verdict_done(p, v, fabs(measured / expected - 1) <= tolerance);
}

int paper_near(paper *p, const char *name, const char *source, double expected, double measured, double tolerance,
               const char *unit)
{
    paper_verdict *v = verdict_add(p, name, source);
    v->expected_value = expected;
    v->measured_value = measured;
    v->tolerance = tolerance;
    snprintf(v->expected, sizeof v->expected, "%.5g ± %.2g %s", expected, tolerance, unit);
    snprintf(v->measured, sizeof v->measured, "%.5g %s", measured, unit);
    return verdict_done(p, v, fabs(measured - expected) <= tolerance);
}

int paper_range(paper *p, const char *name, const char *source, double low, double high, double measured, const char *unit)
{
    paper_verdict *v = verdict_add(p, name, source);
    v->measured_value = measured;
    if (isinf(high)) snprintf(v->expected, sizeof v->expected, "≥ %.4g %s", low, unit);
    else if (isinf(low)) snprintf(v->expected, sizeof v->expected, "≤ %.4g %s", high, unit);
    else snprintf(v->expected, sizeof v->expected, "%.4g to %.4g %s", low, high, unit);
    snprintf(v->measured, sizeof v->measured, "%.5g %s", measured, unit);
    return verdict_done(p, v, measured >= low && measured <= high);
}

int paper_holds(paper *p, const char *name, const char *source, int ok, const char *expected, const char *measured, ...)
{
    paper_verdict *v = verdict_add(p, name, source);
    va_list args;
    snprintf(v->expected, sizeof v->expected, "%s", expected);
    va_start(args, measured);
    (void)vsnprintf(v->measured, sizeof v->measured, measured, args);
    va_end(args);
    return verdict_done(p, v, ok);
}

/* The cause on the console, without the tags of the page. */
static void verdict_progress(const paper *p, const paper_verdict *v)
{
    char text[sizeof v->why];
    int n = 0, tag = 0;
    for (const char *s = v->why; *s; s++) {
        tag |= *s == '<';
        if (!tag) text[n++] = *s;
        tag &= *s != '>';
    }
    text[n] = 0;
    paper_progress(p, "        why (%s): %s", cause_name[v->cause], text);
}

void paper_why(paper *p, paper_cause cause, const char *html, ...)
{
    paper_verdict *v = &p->verdict[p->verdict_count - 1];
    va_list args;
    v->cause = cause;
    va_start(args, html);
    (void)vsnprintf(v->why, sizeof v->why, html, args);
    va_end(args);
    if (!v->pass) verdict_progress(p, v);
}

/* ---- The page ------------------------------------------------------------------------------- */

static const char *const style =
    ":root{--paper:#f4f5f3;--panel:#fcfcfa;--ink:#1d2326;--quiet:#5f6972;--line:#d9dcd8;--accent:#0b6e75;--bad:#b3261e;--good:#2e6b34;"
    "--c0:#0b6e75;--c1:#b3541e;--c2:#5b4bb7;--c3:#7a6400;--c4:#b0306a;--c5:#2e6b34;--c6:#3a6ea5;--c7:#8b4513}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14181b;--panel:#1b2024;--ink:#e6e9e7;--quiet:#9aa5ac;--line:#343d43;--accent:#5cc1c4;"
    "--bad:#ff8a7d;--good:#86cf8c;--c0:#5cc1c4;--c1:#ee9a62;--c2:#aa9bff;--c3:#d6bc4a;--c4:#f08cb8;--c5:#86cf8c;--c6:#8ab8e8;--c7:#d9a27c}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,sans-serif;"
    "font-variant-numeric:tabular-nums}main{max-width:1240px;margin:0 auto;padding:32px 20px 80px}\n"
    "h1{font-size:26px;letter-spacing:-.01em;margin:0 0 4px}h2{font-size:21px;margin:56px 0 2px;letter-spacing:-.01em}h3{font-size:16px;margin:28px 0 6px}\n"
    "p{max-width:76ch;margin:8px 0}.source,.quiet{color:var(--quiet)}a{color:var(--accent)}nav{columns:2;margin:18px 0}nav a{display:block}\n"
    ".wide{overflow-x:auto;margin:14px 0}table{border-collapse:collapse;font-size:13.5px}caption{text-align:left;color:var(--quiet);padding:0 0 6px}"
    "th,td{padding:3px 14px 3px 0;text-align:right;white-space:nowrap;vertical-align:top}th{font-weight:600;border-bottom:1px solid var(--line);"
    "vertical-align:bottom;white-space:normal;line-height:1.3}td.l,th.l{text-align:left}td.w{white-space:normal;min-width:26ch;text-align:left}tbody tr:nth-child(even){background:color-mix(in srgb,var(--line) 28%,transparent)}\n"
    "tr.why td{text-align:left;white-space:normal;color:var(--quiet);padding-bottom:8px;max-width:90ch}.good{color:var(--good)}.bad{color:var(--bad);font-weight:600}.known{color:var(--c1)}\n"
    "figure{margin:22px 0;padding:0}figcaption{color:var(--quiet);max-width:76ch;font-size:13.5px;margin-top:2px}svg{display:block;width:100%;max-width:860px;height:auto}"
    "svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg text.q{fill:var(--quiet)}svg text.t{font-weight:600;font-size:13.5px}"
    "svg .axis{stroke:var(--quiet);fill:none}svg .grid{stroke:var(--line);fill:none}svg .ref{stroke:var(--quiet);fill:none;stroke-dasharray:6 4;stroke-width:1.4}"
    "svg .refdot{fill:none;stroke:var(--quiet)}svg .lead{stroke:var(--line);fill:none}\n"
    "svg .k0{stroke:var(--c0)}svg .k1{stroke:var(--c1)}svg .k2{stroke:var(--c2)}svg .k3{stroke:var(--c3)}svg .k4{stroke:var(--c4)}svg .k5{stroke:var(--c5)}svg .k6{stroke:var(--c6)}svg .k7{stroke:var(--c7)}"
    "svg .f0{fill:var(--c0)}svg .f1{fill:var(--c1)}svg .f2{fill:var(--c2)}svg .f3{fill:var(--c3)}svg .f4{fill:var(--c4)}svg .f5{fill:var(--c5)}svg .f6{fill:var(--c6)}svg .f7{fill:var(--c7)}\n"
    "svg .curve{fill:none;stroke-width:1.8;stroke-linejoin:round}code{font-size:13px}"
    /* a shadow at the side to which a table or plot goes on */
    ".wide,figure{background:linear-gradient(90deg,var(--paper) 40%,transparent) 0 0/36px 100% no-repeat local,"
    "linear-gradient(270deg,var(--paper) 40%,transparent) 100% 0/36px 100% no-repeat local,"
    "linear-gradient(90deg,#0004,transparent) 0 0/10px 100% no-repeat,linear-gradient(270deg,#0004,transparent) 100% 0/10px 100% no-repeat}\n"
    /* pictures of runs side by side; on wide screens plots, too */
    ".shots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,540px),1fr));gap:14px;margin:18px 0}"
    ".shots figure{margin:0;background:none}.shots img{display:block;width:100%;height:auto;border-radius:4px}"
    ".legend{display:none;margin:0 0 4px;font-size:13px}.legend span{white-space:nowrap;margin-right:12px}\n"
    "@media(min-width:1500px){main{max-width:1800px;padding:32px 40px 80px}section>figure{display:inline-block;vertical-align:top;"
    "width:calc(50% - 24px);margin-right:20px}}\n"
    "@media(max-width:640px){.legend{display:block;position:sticky;left:0;width:calc(100vw - 28px)}main{padding:20px 14px 60px}nav{columns:1}figure{overflow-x:auto}svg{width:640px}td.w{min-width:17ch}tr.why td{max-width:none}}"
    "@media print{body{background:#fff}}\n";

static int verdict_is_failure(const paper_verdict *v) { return !v->pass && (v->cause == PAPER_NO_CAUSE || v->cause == PAPER_LIBRARY); }

static void put_verdict(tool_text *t, const paper_verdict *v)
{
    const char *word = v->pass ? "agrees" : v->cause ? "differs" : "DIFFERS";
    tool_put(t, "<tr><td class=\"%s l\">%s</td><td class=\"w\">", v->pass ? "good" : verdict_is_failure(v) ? "bad" : "known", word);
    put_escaped(t, v->name);
    tool_put(t, "</td><td class=\"l\">");
    put_escaped(t, v->expected);
    tool_put(t, "</td><td class=\"l\">");
    put_escaped(t, v->measured);
    tool_put(t, "</td><td class=\"w quiet\">");
    put_escaped(t, v->source);
    tool_put(t, "</td></tr>\n");
    if (!v->why[0]) return;
    tool_put(t, "<tr class=\"why\"><td></td><td colspan=\"4\">");
    if (!v->pass && v->cause) tool_put(t, "Why (%s): ", cause_name[v->cause]);
    tool_put(t, "%s</td></tr>\n", v->why);
}

/* A picture of each run of a section that has one, on the way to its viewer. */
static void put_shots(tool_text *t, const paper *p, const char *section)
{
    int any = 0;
    for (int i = 0; i < p->scene_count; i++) {
        const paper_scene *s = &p->scene[i];
        if (!s->picture || strcmp(s->section, section) != 0) continue;
        tool_put(t, "%s<figure><a href=\"%s.html\"><img loading=\"lazy\" src=\"%s.png\" alt=\"", any++ ? "" : "<div class=\"shots\">\n",
                 s->name, s->name);
        put_escaped(t, s->title);
        tool_put(t, "\" width=\"640\" height=\"215\"></a><figcaption>");
        put_escaped(t, s->title);
        tool_put(t, "</figcaption></figure>\n");
    }
    if (any) tool_put(t, "</div>\n");
}

static const char verdict_columns[] = "<thead><tr><th class=\"l\"></th><th class=\"l\">what</th><th class=\"l\">expected</th>"
                                      "<th class=\"l\">measured</th><th class=\"l\">from</th></tr></thead>\n<tbody>\n";

static void put_verdicts(tool_text *t, const paper *p, const char *section)
{
    tool_put(t, "<div class=\"wide\"><table>%s", verdict_columns);
    for (int i = 0; i < p->verdict_count; i++)
        if (strcmp(p->verdict[i].section, section) == 0) put_verdict(t, &p->verdict[i]);
    tool_put(t, "</tbody></table></div>\n");
    put_shots(t, p, section);
}

void paper_add_scene(paper *p, const paper_scene *sum, const char *name, const char *title)
{
    paper_scene *s;
    TOOL_GROW(paper_scene, p->scene, p->scene_capacity, p->scene_count + 1);
    s = &p->scene[p->scene_count++];
    *s = *sum;
    snprintf(s->section, sizeof s->section, "%s", p->section);
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->title, sizeof s->title, "%s", title);
    paper_progress(p, "        %s: %d steps in %.1f s, looks %.1f s, %.1f solves a step, %d cut short, gap %.2e m, crossings %ld", title, s->steps,
                   s->cpu, s->look, s->steps ? (double)s->solves / s->steps : 0.0, s->cut, s->smallest, s->crossings);
}

void paper_no_crossings(paper *p)
{
    int runs = 0;
    long frames = 0, crossings = 0, steps = 0;
    for (int i = 0; i < p->scene_count; i++) {
        const paper_scene *s = &p->scene[i];
        if (strcmp(s->section, p->section) != 0) continue;
        runs++;
        frames += s->frames;
        steps += s->steps;
        crossings += s->crossings;
    }
    paper_holds(p, "pairs of edge and triangle that cross, after any step of any run of this section", "exact arithmetic",
                runs > 0 && crossings == 0 && frames >= steps, "0", "%ld in %ld frames of %d runs", crossings, frames, runs);
}

/* every run of the report, with what exact arithmetic says of it */
static void put_scenes(tool_text *t, const paper *p)
{
    tool_put(t, "<section id=\"runs\"><h2>All runs, and exact arithmetic</h2>\n<p>After every single step of every run, every edge is "
                "tested against every triangle that the scene lets touch: pairs whose boxes meet, by two determinants with a "
                "thousandfold error margin, and where that leaves a doubt by integers of any length, in code that shares nothing "
                "with the library. One in a thousand of the clear ones is decided exactly all the same.</p>\n"
                "<div class=\"wide\"><table><thead><tr><th class=\"l\">run</th><th>frames looked at</th><th>crossings</th><th>steps</th>"
                "<th>cut short</th><th>smallest gap, m</th><th>solves a step</th><th>most</th><th>x real time</th><th>bodies</th><th>unknowns</th>"
                "<th>triangles</th><th>pairs of boxes</th><th>decided exactly</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < p->scene_count; i++) {
        const paper_scene *s = &p->scene[i];
        tool_put(t, "<tr><td class=\"l\">");
        if (s->viewer) tool_put(t, "<a href=\"%s.html\">%s</a>", s->name, s->title);
        else tool_put(t, "%s", s->title);
        if (s->has_file) tool_put(t, " <a class=\"quiet\" href=\"scenes/%s.json\">scene</a>", s->name);
        tool_put(t, "</td><td>%d</td><td class=\"%s\">%ld</td><td>%d</td><td>%d</td>", s->frames, s->crossings ? "bad" : "good", s->crossings, s->steps, s->cut);
        if (isfinite(s->smallest)) tool_put(t, "<td>%.2e</td>", s->smallest);
        else tool_put(t, "<td>–</td>");
        tool_put(t, "<td>%.2f</td><td>%d</td><td>%.3g</td><td>%d</td><td>%d</td><td>%d</td><td>%ld</td><td>%ld</td></tr>\n",
                 s->steps ? (double)s->solves / s->steps : 0.0, s->most, s->cpu > 0 ? s->simulated / s->cpu : 0.0, s->bodies, s->unknowns, s->triangles,
                 s->boxes, s->exact);
    }
    tool_put(t, "</tbody></table></div></section>\n");
}

static void json_string(tool_text *t, const char *key, const char *s)
{
    tool_put(t, "\"%s\": \"", key);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') tool_put(t, "\\%c", *s);
        else if ((unsigned char)*s < 32) tool_put(t, " ");
        else tool_put(t, "%c", *s);
    }
    tool_put(t, "\", ");
}
static void json_number(tool_text *t, const char *key, double x)
{
    if (isfinite(x)) tool_put(t, "\"%s\": %.17g, ", key, x);
    else tool_put(t, "\"%s\": null, ", key);
}

static int write_file(const paper *p, const char *name, const tool_text *t)
{
    char path[1200];
    FILE *f;
    int ok;
    snprintf(path, sizeof path, "%s/%s", p->out, name);
    f = fopen(path, "wb");
    ok = f && fwrite(t->data, 1, (size_t)t->length, f) == (size_t)t->length;
    if (f && fclose(f) != 0) ok = 0;
    if (!ok) fprintf(stderr, "%s: cannot be written\n", path);
    return ok;
}

static int write_json(const paper *p)
{
    tool_text t = { NULL, 0, 0 };
    int ok;
    tool_put(&t, "{ \"verdicts\": [");
    for (int i = 0; i < p->verdict_count; i++) {
        const paper_verdict *v = &p->verdict[i];
        tool_put(&t, "%s\n  { ", i ? "," : "");
        json_string(&t, "section", v->section);
        json_string(&t, "name", v->name);
        json_string(&t, "source", v->source);
        json_string(&t, "expected", v->expected);
        json_string(&t, "measured", v->measured);
        json_number(&t, "expected_value", v->expected_value);
        json_number(&t, "measured_value", v->measured_value);
        json_number(&t, "tolerance", v->tolerance);
        json_string(&t, "cause", cause_name[v->cause]);
        json_string(&t, "why", v->why);
        tool_put(&t, "\"pass\": %s }", v->pass ? "true" : "false");
    }
    tool_put(&t, " ],\n  \"sections\": [");
    for (int i = 0; i < p->part_count; i++) {
        tool_put(&t, "%s\n  { ", i ? "," : "");
        json_string(&t, "name", p->part[i].name);
        json_number(&t, "processor_s", p->part[i].cpu);
        tool_put(&t, "\"wall_s\": %.3f }", p->part[i].wall);
    }
    tool_put(&t, " ],\n  \"runs\": [");
    for (int i = 0; i < p->scene_count; i++) {
        const paper_scene *s = &p->scene[i];
        tool_put(&t, "%s\n  { ", i ? "," : "");
        json_string(&t, "section", s->section);
        json_string(&t, "name", s->name);
        json_string(&t, "title", s->title);
        tool_put(&t, "\"unknowns\": %d, \"steps\": %d, \"cut_short\": %d, \"solves\": %ld, ", s->unknowns, s->steps, s->cut, s->solves);
        json_number(&t, "simulated_s", s->simulated);
        json_number(&t, "processor_s", s->cpu);
        json_number(&t, "smallest_gap_m", s->smallest);
        tool_put(&t, "\"frames_looked_at\": %d, \"decided_exactly\": %ld, \"crossings\": %ld }", s->frames, s->exact, s->crossings);
    }
    tool_put(&t, " ] }\n");
    ok = write_file(p, "results.json", &t);
    tool_text_free(&t);
    return ok;
}

/* the sections, with the table of verdicts of each where its mark is */
static void put_body(tool_text *t, const paper *p)
{
    const char *at = p->body.data ? p->body.data : "";
    for (;;) {
        const char *mark = strstr(at, "<!--verdicts ");
        char id[32] = "";
        if (!mark) break;
        tool_put(t, "%.*s", (int)(mark - at), at);
        if (sscanf(mark, "<!--verdicts %31[^-]", id) == 1) put_verdicts(t, p, id);
        at = strstr(mark, "-->") + 3;
    }
    tool_put(t, "%s</section>\n", at);
}

/* one line a section: id, title, how many agree */
static void put_contents(tool_text *t, const paper *p)
{
    const char *at = p->body.data ? p->body.data : "";
    tool_put(t, "<div class=\"wide\"><table><thead><tr><th class=\"l\">section</th><th>verdicts</th><th>agree</th><th>differ, cause known</th>"
                "<th>differ</th><th>runs</th><th>frames looked at</th><th>crossings</th><th>processor time, s</th></tr></thead>\n<tbody>\n");
    while ((at = strstr(at, "<section id=\"")) != NULL) {
        char id[32] = "";
        const char *title = strstr(at, "<h2>") + 4, *end = strstr(title, "</h2>");
        int all = 0, agree = 0, bad = 0, runs = 0;
        long frames = 0, crossings = 0;
        double cpu = 0;
        if (sscanf(at, "<section id=\"%31[^\"]", id) != 1) break;
        for (int i = 0; i < p->verdict_count; i++)
            if (strcmp(p->verdict[i].section, id) == 0) {
                all++;
                agree += p->verdict[i].pass;
                bad += verdict_is_failure(&p->verdict[i]);
            }
        for (int i = 0; i < p->scene_count; i++) {
            if (strcmp(p->scene[i].section, id) != 0) continue;
            runs++;
            frames += p->scene[i].frames;
            crossings += p->scene[i].crossings;
        }
        for (int i = 0; i < p->part_count; i++)
            if (strcmp(p->part[i].name, id) == 0) cpu = p->part[i].cpu;
        tool_put(t, "<tr><td class=\"l\"><a href=\"#%s\">%.*s</a></td><td>%d</td><td>%d</td><td>%d</td><td%s>%d</td><td>%d</td><td>%ld</td><td%s>%ld</td><td>%.0f</td></tr>\n",
                 id, (int)(end - title), title, all, agree, all - agree - bad, bad ? " class=\"bad\"" : "", bad, runs, frames,
                 crossings ? " class=\"bad\"" : "", crossings, cpu);
        at = end;
    }
    tool_put(t, "<tr><td class=\"l\"><a href=\"#runs\">All runs, and exact arithmetic</a></td><td colspan=\"8\"></td></tr>\n"
                "</tbody></table></div>\n");
}

int paper_write(paper *p, int *failed)
{
    tool_text t = { NULL, 0, 0 };
    char machine[128] = "";
    int agree = 0, faults = 0, ok, differ;
    long frames = 0, crossings = 0;
    *failed = 0;
    for (int i = 0; i < p->verdict_count; i++) {
        agree += p->verdict[i].pass;
        *failed += !p->verdict[i].pass && p->verdict[i].cause == PAPER_NO_CAUSE;
        faults += !p->verdict[i].pass && p->verdict[i].cause == PAPER_LIBRARY;
    }
    for (int i = 0; i < p->scene_count; i++) { frames += p->scene[i].frames; crossings += p->scene[i].crossings; }
    differ = *failed;
    system_machine(machine, sizeof machine);
    tool_put(&t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, "
                 "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>embipc: the experiments</title>\n"
                 "<link rel=\"icon\" href=\"data:,\">\n<style>\n%s</style>\n</head>\n<body><main>\n<h1>embipc: the experiments</h1>\n", style);
    tool_put(&t, "<p class=\"quiet\">Written by <code>%s</code> on one machine (", p->command);
    put_escaped(&t, machine);
    tool_put(&t, ") in %.0f s, %.0f s of processor time, %s. Every measured number and every curve on this page is of that run. "
                 "“Times real time” is simulated time over the processor time of the steps, one thread.</p>\n", system_seconds() - p->start, p->cpu, p->data ? "with the papers' own meshes" : "without outside meshes: shapes made by code stand for them");
    tool_put(&t, "<p><strong>%d of %d verdicts agree</strong>; %d differ for a cause that is told, %d by a fault of the library, %d without a known cause. "
                 "%ld frames of %d runs hold <strong>%ld crossings</strong> by exact arithmetic.</p>\n", agree, p->verdict_count, p->verdict_count - agree - differ - faults,
             faults, differ, frames, p->scene_count, crossings);
    put_contents(&t, p);
    put_body(&t, p);
    put_scenes(&t, p);
    tool_put(&t, "</main></body>\n</html>\n");
    ok = write_file(p, "index.html", &t) & write_json(p);
    tool_text_free(&t);
    return ok;
}

/* ---- Sections as files ---------------------------------------------------------------------- */

/* Written and read by the same program a moment later, so structures go as they are. */
int paper_save(const paper *p, const char *path)
{
    FILE *f = fopen(path, "wb");
    int count[3], ok;
    if (!f) return 0;
    count[0] = (int)p->body.length;
    count[1] = p->verdict_count;
    count[2] = p->scene_count;
    ok = fwrite(count, sizeof count, 1, f) == 1 && fwrite(&p->part[0], sizeof p->part[0], 1, f) == 1 &&
         fwrite(p->body.data, 1, (size_t)count[0], f) == (size_t)count[0] &&
         fwrite(p->verdict, sizeof *p->verdict, (size_t)count[1], f) == (size_t)count[1] &&
         fwrite(p->scene, sizeof *p->scene, (size_t)count[2], f) == (size_t)count[2];
    return fclose(f) == 0 && ok;
}

int paper_load(paper *p, const char *path)
{
    FILE *f = fopen(path, "rb");
    int count[3], ok;
    char *text;
    paper_part part;
    if (!f) return 0;
    ok = fread(count, sizeof count, 1, f) == 1 && fread(&part, sizeof part, 1, f) == 1 && p->part_count < PAPER_PARTS;
    if (!ok) { fclose(f); return 0; }
    text = (char *)tool_alloc((size_t)count[0] + 1, 1);
    TOOL_GROW(paper_verdict, p->verdict, p->verdict_capacity, p->verdict_count + count[1]);
    TOOL_GROW(paper_scene, p->scene, p->scene_capacity, p->scene_count + count[2]);
    ok = fread(text, 1, (size_t)count[0], f) == (size_t)count[0] &&
         fread(p->verdict + p->verdict_count, sizeof *p->verdict, (size_t)count[1], f) == (size_t)count[1] &&
         fread(p->scene + p->scene_count, sizeof *p->scene, (size_t)count[2], f) == (size_t)count[2];
    fclose(f);
    if (ok) {
        text[count[0]] = 0;
        if (p->body.length) tool_put(&p->body, "</section>\n");
        tool_put(&p->body, "%s", text);
        p->verdict_count += count[1];
        p->scene_count += count[2];
        p->part[p->part_count++] = part;
        p->cpu += part.cpu;
    }
    free(text);
    return ok;
}

void paper_free(paper *p)
{
    tool_text_free(&p->body);
    free(p->verdict);
    free(p->scene);
}
