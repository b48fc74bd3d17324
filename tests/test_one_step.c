/* docs/one_step.md: the numbers in it are what this program measures in the world of examples/hello.c, and the functions
 * that it names are in the header. WRITE=1 in the environment writes the numbers into it anew.
 * Run from the directory that holds docs/. */
#include "../embipc.h"
#include "test.h"
#include "../tools/common.h"
#include <stdarg.h>
#include <ctype.h>

#define PAGE "docs/one_step.md"
#define TOUCH 17   /* the step in which the box touches the ground first */

/* ---- the world of hello.c, and what a step of it leaves ---- */

typedef struct hello {
    embipc_world *world;
    embipc_body ground, box;
    embipc_step_stats stats;
} hello;

static hello hello_begin(void)
{
    static const double x[] = {-.5,-.5,-.5, .5,-.5,-.5, -.5,.5,-.5, .5,.5,-.5, -.5,-.5,.5, .5,-.5,.5, -.5,.5,.5, .5,.5,.5};
    static const int t[] = {0,2,3, 0,3,1, 4,5,7, 4,7,6, 0,1,5, 0,5,4, 2,6,7, 2,7,3, 0,4,6, 0,6,2, 1,3,7, 1,7,5};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    hello h;
    memset(&h, 0, sizeof h);
    ENSURE(embipc_world_create(&wd, &h.world, NULL) == EMBIPC_OK);
    bd.x = x; bd.vertex_count = 8; bd.triangles = t; bd.triangle_count = 12; bd.friction = 0.5;
    bd.position[2] = -0.5;
    ENSURE(embipc_body_create(h.world, &bd, &h.ground) == EMBIPC_OK);
    bd.kind = EMBIPC_CAGE; bd.scale = 0.1; bd.position[2] = 0.2;
    ENSURE(embipc_body_create(h.world, &bd, &h.box) == EMBIPC_OK);
    return h;
}
/* the state before the step of first touch, or after `solves` iterations of it */
static hello hello_at(int solves)
{
    hello h = hello_begin();
    for (int i = 1; i < TOUCH; i++) ENSURE(embipc_world_step(h.world, &h.stats) == EMBIPC_OK && h.stats.contacts == 0);
    if (!solves) return h;
    ENSURE(embipc_world_set_limits(h.world, solves, NULL) == EMBIPC_OK);
    ENSURE(embipc_world_step(h.world, &h.stats) == EMBIPC_OK);
    return h;
}
static embipc_body_state state_of(const hello *h)
{
    embipc_body_state b;
    memset(&b, 0, sizeof b);
    ENSURE(embipc_body_get_state(h->world, h->box, &b) == EMBIPC_OK);
    return b;
}
static embipc_body_view view_of(const hello *h)
{
    embipc_body_view v;
    ENSURE(embipc_body_get_view(h->world, h->box, &v) == EMBIPC_OK);
    return v;
}
/* of the lowest vertex, m */
static double height_of(const hello *h)
{
    embipc_body_view v = view_of(h);
    double z = INFINITY;
    for (int i = 0; i < v.vertex_count; i++) z = fmin(z, v.x[3 * i + 2]);
    return z;
}
/* of the ground on the box, upwards, N */
static double push_on(const hello *h)
{
    embipc_pair_force f;
    return embipc_world_pair_forces(h->world, &f, 1) == 1 ? -f.force[2] : 0;
}

/* ---- what is printed ---- */

enum { BLOCKS = 16 };
static struct { const char *name; tool_text text; } block[BLOCKS];
static int blocks;

static void begin(const char *name)
{
    block[blocks].name = name;
    memset(&block[blocks].text, 0, sizeof block[blocks].text);
    blocks++;
}
static void say(const char *format, ...)
{
    char line[200];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    tool_put(&block[blocks - 1].text, "%s\n", line);
}

static void say_start(const hello *h, double dt)
{
    embipc_body_state b = state_of(h);
    embipc_body_view v = view_of(h);
    double fall = -9.81 * dt * dt;
    begin("state");
    say("step                              %d", TOUCH);
    say("time at its start                 %.2f s", embipc_world_time(h->world));
    say("nodes of the cage, unknowns       %d, %d", v.node_count, 3 * v.node_count);
    say("tetrahedra, surface vertices      %d, %d", v.tet_count, v.vertex_count);
    say("mass                              %.4g kg", b.mass);
    say("height of the lowest vertex       %.6f m", height_of(h));
    say("velocity of the centre, z         %.4f m/s", b.velocity[2]);
    begin("predicted");
    say("h v, z                            %.6f m", dt * b.velocity[2]);
    say("h^2 g, z                          %.6f m", fall);
    say("lowest vertex at qt               %.6f m", height_of(h) + dt * b.velocity[2]);
    say("lowest vertex in free fall        %.6f m", height_of(h) + dt * b.velocity[2] + fall);
}
static void say_energy(const hello *h, const hello *end)
{
    embipc_body_state b = state_of(h);
    begin("energy");
    say("|q^n - qt|^2_M / (2 h^2)          %.4f J", b.mass * b.velocity[2] * b.velocity[2] / 2);
    say("E(q^n) / h^2                      %.4f J", end->stats.objective_before);
    say("E(q^n+1) / h^2                    %.4f J", end->stats.objective_after);
    say("elastic energy at q^n             %.1f J", fabs(b.elastic) < 1e-20 ? 0 : b.elastic);
    say("elastic energy at q^n+1           %.3e J", end->stats.elastic);
}
static void say_search(const hello *end)
{
    begin("search");
    say("vertex against triangle, all      %d", 2 * 8 * 12);
    say("edge against edge, all            %d", 18 * 18);
    say("candidates                        %d", end->stats.candidates);
}
/* The contact of one corner, by the public functions that contacts are made of, beside what the step reports. */
static void say_contacts(const hello *end)
{
    embipc_contact c[16];
    embipc_pair_parameters p;
    double b, first, second;
    int n = embipc_world_contacts(end->world, c, 16);
    ENSURE(n == 4 && embipc_world_get_pair(end->world, end->ground, end->box, &p) == EMBIPC_OK);
    if (test_bad) return;
    b = embipc_barrier(c[0].distance, p.dhat, &first, &second);
    ENSURE_REL(c[0].force, -p.kappa * first, 1e-9);
    begin("contact");
    say("active pairs, merged to           %d, %d", end->stats.contacts, n);
    say("dhat                              %.4e m", p.dhat);
    say("kappa                             %.4e N/m", p.kappa);
    say("d                                 %.4e m", c[0].distance);
    say("b(d)                              %.3e m^2", b);
    say("kappa b(d)                        %.3e J", p.kappa * b);
    say("-kappa b'(d)                      %.4f N", -p.kappa * first);
    say("kappa b''(d)                      %.4e N/m", p.kappa * second);
    say("force that the step reports       %.4f N", c[0].force);
}

/* Each iterate comes from a world whose step is cut short there. The part of grad E / h^2 that moves all nodes upwards
 * together has no elasticity in it: m (c - ct) / h^2 + m |g| - push. */
static void say_iterations(const hello *end, double dt)
{
    const embipc_iteration *it;
    int n = embipc_world_iterations(end->world, &it);
    double gradient[32], height[32];
    hello start = hello_at(0);
    embipc_body_state s = state_of(&start);
    ENSURE(n >= 3 && n < 32);
    for (int k = 0; k <= n && !test_bad; k++) {
        hello cut = hello_at(k);
        embipc_body_state c = state_of(&cut);
        gradient[k] = s.mass * (c.centre[2] - s.centre[2] - dt * s.velocity[2]) / (dt * dt) + 9.81 * s.mass - push_on(&cut);
        height[k] = height_of(&cut);
        if (k && k < n) {
            const embipc_iteration *part;
            ENSURE(embipc_world_iterations(cut.world, &part) == k);
            for (int i = 0; i < k && !test_bad; i++) ENSURE(part[i].alpha == it[i].alpha && part[i].direction == it[i].direction);
        }
        embipc_world_destroy(cut.world);
    }
    if (test_bad) return;
    begin("gradient");
    say("at q^n             %10.3f N", gradient[0]);
    for (int k = 1; k < n; k++) say("after iteration %d  %10.3f N", k, gradient[k]);
    say("at the end         %10.0e N or less", 1e-2);
    ENSURE(fabs(gradient[n]) < 1e-2);
    begin("hessian");
    say("unknowns                          %d", end->stats.unknowns);
    say("all nodes together, m / h^2       %.0f N/m", s.mass / (dt * dt));
    say("factorizations in this step       %d", end->stats.factorizations);
    begin("solve");
    say("iteration   largest |p| / h, m/s   p . grad E / h^2, J");
    for (int k = 0; k < n; k++) say("%9d   %20.3e   %19.3e", k + 1, it[k].direction, it[k].slope);
    begin("bound");
    say("iteration   lowest vertex before, m   alpha that is free of contact");
    for (int k = 0; k < n; k++) say("%9d   %23.3e   %29.4f", k + 1, height[k], it[k].alpha_ccd);
    begin("search_line");
    say("iteration   free of contact   taken");
    for (int k = 0; k < n; k++) say("%9d   %15.4f   %.4f", k + 1, it[k].alpha_ccd, it[k].alpha);
    begin("accept");
    say("iteration   lowest vertex after, m   contacts");
    for (int k = 0; k < n; k++) say("%9d   %22.4e   %8d", k + 1, height[k + 1], k + 1 < n ? it[k + 1].contacts : end->stats.merged_contacts);
    embipc_world_destroy(start.world);
}
static void say_end(const hello *start, const hello *end, double dt)
{
    embipc_body_parameters p;
    embipc_body_state a = state_of(start), b = state_of(end);
    const embipc_iteration *it;
    int n = embipc_world_iterations(end->world, &it);
    double v = (b.centre[2] - a.centre[2]) / dt, push = push_on(end);
    ENSURE(embipc_body_get_parameters(end->world, end->box, &p) == EMBIPC_OK);
    begin("stop");
    say("tolerance                         %.3e m/s", p.tolerance);
    say("largest |p| / h, last but one     %.3e m/s", it[n - 2].direction);
    say("largest |p| / h, last             %.3e m/s", it[n - 1].direction);
    begin("velocity");
    say("centre at q^n, z                  %.6f m", a.centre[2]);
    say("centre at q^n+1, z                %.6f m", b.centre[2]);
    say("their difference over h           %.4f m/s", v);
    say("velocity that the body reports    %.4f m/s", b.velocity[2]);
    say("m (v^n+1 - v^n) / h               %.3f N", b.mass * (b.velocity[2] - a.velocity[2]) / dt);
    say("m g + push of the ground          %.3f N", -9.81 * b.mass + push);
    ENSURE_CLOSE(v, b.velocity[2], 1e-9);
    ENSURE_CLOSE(b.mass * (b.velocity[2] - a.velocity[2]) / dt, -9.81 * b.mass + push, 1e-2);
}

/* ---- the page ---- */

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size;
    char *text;
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    text = (char *)malloc((size_t)size + 1);
    text[fread(text, 1, (size_t)size, f)] = 0;
    fclose(f);
    return text;
}
/* where the block of numbers begins that the page calls by this name; its end in *end */
static char *find_block(char *page, const char *name, char **end)
{
    char head[64], *at;
    snprintf(head, sizeof head, "\n```text %s\n", name);
    at = strstr(page, head);
    if (!at) return NULL;
    at += strlen(head);
    *end = strstr(at, "```");
    return *end ? at : NULL;
}
/* The same words, and numbers that differ by a thousandth at most: other machines may round otherwise. */
static int same_line(const char **a, const char **b)
{
    for (;;) {
        char *end_a, *end_b;
        double x, y;
        while (**a == ' ') ++*a;
        while (**b == ' ') ++*b;
        if (**a == '\n' || **b == '\n') return *(*a)++ == *(*b)++;
        x = strtod(*a, &end_a);
        y = strtod(*b, &end_b);
        if (end_a == *a || end_b == *b) {
            if (!**a || *(*a)++ != *(*b)++) return 0;
            continue;
        }
        if (!(fabs(x - y) <= 1e-3 * fmax(fabs(x), fabs(y)))) return 0;
        *a = end_a;
        *b = end_b;
    }
}
static void compare(char *page)
{
    for (int i = 0; i < blocks; i++) {
        char *end;
        const char *stands = find_block(page, block[i].name, &end), *measured = block[i].text.data;
        ENSURE(stands != NULL);
        if (!stands) { printf("  %s has no block %s\n", PAGE, block[i].name); continue; }
        while (*measured && stands < end) {
            const char *line = measured;
            if (same_line(&stands, &measured)) continue;
            printf("  %s, block %s, measured: %.*s\n", PAGE, block[i].name, (int)strcspn(line, "\n"), line);
            ENSURE(!"the page says the same");
            return;
        }
        ENSURE(!*measured && stands == end);
    }
}
static void write_page(char *page)
{
    tool_text out = {NULL, 0, 0};
    FILE *f;
    char *at = page;
    for (int i = 0; i < blocks; i++) {   /* they come in the order of the page */
        char *end, *found = find_block(at, block[i].name, &end);
        ENSURE(found != NULL);
        if (!found) return;
        tool_put(&out, "%.*s%s", (int)(found - at), at, block[i].text.data);
        at = end;
    }
    tool_put(&out, "%s", at);
    f = fopen(PAGE, "wb");
    if (f) { fputs(out.data, f); fclose(f); }
    tool_text_free(&out);
}

static void test_numbers(void)
{
    hello start = hello_at(0), end = hello_at(100);
    double dt = embipc_default_world_def().time_step;
    char *page = read_text(PAGE);
    ENSURE(page != NULL && end.stats.converged && end.stats.contacts > 0);
    if (!test_bad) {
        say_start(&start, dt);
        say_energy(&start, &end);
        say_search(&end);
        say_contacts(&end);
        say_iterations(&end, dt);
        say_end(&start, &end, dt);
        if (getenv("WRITE")) write_page(page);
        else if (!test_bad) compare(page);
    }
    embipc_world_destroy(start.world);
    embipc_world_destroy(end.world);
    for (int i = 0; i < blocks; i++) tool_text_free(&block[i].text);
    free(page);
}

/* Is there a function, structure or macro of this name? A definition has it at a line's first word or words. */
static int is_in_header(const char *header, const char *name, size_t length)
{
    for (const char *at = header; (at = strstr(at, name)) != NULL; at += length) {
        const char *line = at;
        if (at == header || isalnum((unsigned char)at[-1]) || at[-1] == '_' || isalnum((unsigned char)at[length]) || at[length] == '_') continue;
        while (line > header && line[-1] != '\n') line--;
        if (*line == '}' || (at[length] == '(' && isalpha((unsigned char)*line))) return 1;
    }
    return 0;
}
static void test_names(void)
{
    char *page = read_text(PAGE), *header = read_text("embipc.h");
    int count = 0;
    ENSURE(page && header);
    for (char *at = page; !test_bad && (at = strstr(at, "`embi")) != NULL;) {
        char name[64];
        size_t length = strspn(++at, "abcdefghijklmnopqrstuvwxyz_0123456789");
        if (length >= sizeof name || (at[length] != '`' && at[length] != '(')) continue;   /* embipc.h */
        memcpy(name, at, length);
        name[length] = 0;
        if (!is_in_header(header, name, length)) {
            printf("  %s names %s, which embipc.h does not define\n", PAGE, name);
            ENSURE(!"the header has it");
        }
        count++;
    }
    ENSURE(count > 30);
    free(page);
    free(header);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(numbers);
    RUN(names);
    test_unused();
    return test_end("test_one_step");
}
