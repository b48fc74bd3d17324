/* embipc_paper [--out DIR] [--quick] [--only SECTION,...] [--jobs N]: DATA in the environment names the outside meshes.
 * Each section runs as a process of its own, as many side by side as there are processors, those that take longest first;
 * each leaves its part in OUT/parts, and in the end the parts become one page. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "../../embipc.h"
#include "paper.h"
#include "../system.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct experiment {
    const char *name;
    void (*run)(paper *p);
    int turn;        /* in which they start */
    int alone;       /* while no other runs: it measures time by the clock */
    pid_t process;
    int wanted, done;
} experiment;

static experiment list[] = {
    { "closed", paper_closed_forms, 1, 0, 0, 0, 0 }, { "units", paper_units, 4, 0, 0, 0, 0 }, { "affine", paper_affine, 7, 0, 0, 0, 0 },
    { "grasp", paper_grasp, 0, 0, 0, 0, 0 },         { "press", paper_press, 5, 0, 0, 0, 0 }, { "arch", paper_arch, 2, 0, 0, 0, 0 },
    { "hold", paper_hold, 6, 0, 0, 0, 0 },           { "rack", paper_rack, 3, 0, 0, 0, 0 },   { "cost", paper_cost, 8, 1, 0, 0, 0 } };
#define SECTIONS ((int)(sizeof list / sizeof *list))

static int is_wanted(const char *only, const char *name)
{
    size_t n = strlen(name);
    if (!only || !*only) return 1;
    for (const char *at = only; (at = strstr(at, name)) != NULL; at += n)
        if ((at == only || at[-1] == ',') && (at[n] == 0 || at[n] == ',')) return 1;
    return 0;
}

static void part_path(const paper *p, const experiment *e, char *path, size_t size)
{
    snprintf(path, size, "%s/parts/%s", p->out, e->name);
}

/* one section, in a process of its own; what it costs is what that process has had */
static int run_section(paper *p, const experiment *e)
{
    char path[1200];
    double start = system_seconds();
    e->run(p);
    paper_no_crossings(p);
    snprintf(p->part[0].name, sizeof p->part[0].name, "%s", e->name);
    p->part[0].cpu = system_thread_seconds();
    p->part[0].wall = system_seconds() - start;
    paper_progress(p, "%.1f s of processor time", p->part[0].cpu);
    part_path(p, e, path, sizeof path);
    return paper_save(p, path);
}

static experiment *next_section(void)
{
    experiment *next = NULL;
    for (int i = 0; i < SECTIONS; i++)
        if (list[i].wanted && !list[i].process && (!next || list[i].turn < next->turn)) next = &list[i];
    return next;
}

static void run_sections(paper *p, int jobs)
{
    int running = 0, alone = 0;
    for (;;) {
        experiment *e = running < jobs && !alone ? next_section() : NULL;
        int status;
        pid_t ended;
        if (e && e->alone && running) e = NULL;   /* once the others have ended */
        if (e) {
            alone = e->alone;
            fflush(NULL);
            e->process = fork();
            if (e->process == 0) _exit(run_section(p, e) ? 0 : 1);
            if (e->process > 0) { running++; continue; }
            e->process = -1;   /* no process to be had */
            continue;
        }
        if (!running) return;
        ended = wait(&status);
        if (ended < 0) return;
        running--;
        alone = 0;
        for (int i = 0; i < SECTIONS; i++)
            if (list[i].process == ended) list[i].done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
}

/* the parts in the order of the page; a section that left none is a verdict of its own */
static void gather(paper *p)
{
    char path[1200];
    for (int i = 0; i < SECTIONS; i++) {
        if (!list[i].wanted) continue;
        part_path(p, &list[i], path, sizeof path);
        if (list[i].done && paper_load(p, path)) continue;
        if (p->body.length) tool_put(&p->body, "</section>\n");
        p->section[0] = 0;
        paper_section(p, list[i].name, list[i].name, "");
        paper_holds(p, "the section runs to its end", "", 0, "yes", "no");
    }
}

int main(int argc, char **argv)
{
    static char data[4096];
    char path[1200];
    paper p;
    const char *only = NULL, *given = getenv("DATA");
    int failed = 0, ok, agree = 0, jobs = system_processors();
    long crossings = 0;
    memset(&p, 0, sizeof p);
    p.out = "build/paper";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) p.quick = 1;
        else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc) p.out = argv[++i];
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
        else if (strcmp(argv[i], "--jobs") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0) jobs = atoi(argv[++i]);
        else { fprintf(stderr, "usage: embipc_paper [--out DIR] [--quick] [--only SECTION,...] [--jobs N]\n"); return 2; }
    }
    if (given && *given) {
        if (!realpath(given, data)) { fprintf(stderr, "DATA=%s: not there\n", given); return 2; }
        p.data = data;
    }
    snprintf(path, sizeof path, "%s/parts", p.out);
    if (!system_make_directories(path)) { fprintf(stderr, "%s: cannot be made\n", path); return 2; }
    p.command = p.quick ? "make paper-quick" : "make paper";
    p.start = system_seconds();
    for (int i = 0; i < SECTIONS; i++) list[i].wanted = is_wanted(only, list[i].name);
    run_sections(&p, jobs);
    gather(&p);
    ok = paper_write(&p, &failed);
    for (int i = 0; i < p.verdict_count; i++) agree += p.verdict[i].pass;
    for (int i = 0; i < p.scene_count; i++) crossings += p.scene[i].crossings;
    printf("%s/index.html: %.0f s, %.0f s of processor time\n", p.out, system_seconds() - p.start, p.cpu);
    printf("%d verdicts: %d passed, %d failed, %d differ for a cause that is told; %ld crossings\n", p.verdict_count, agree, failed,
           p.verdict_count - agree - failed, crossings);
    paper_free(&p);
    return ok ? failed != 0 : 2;
}
