/* embipc_paper [--out DIR] [--quick] [--only SECTION,...]: DATA in the environment names the outside meshes. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#define EMBIPC_IMPLEMENTATION
#include "../../embipc.h"
#include "paper.h"
#include "../system.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct experiment { const char *name; void (*run)(paper *p); } experiment;

static int wanted(const char *only, const char *name)
{
    size_t n = strlen(name);
    if (!only || !*only) return 1;
    for (const char *at = only; (at = strstr(at, name)) != NULL; at += n)
        if ((at == only || at[-1] == ',') && (at[n] == 0 || at[n] == ',')) return 1;
    return 0;
}

int main(int argc, char **argv)
{
    static const experiment list[] = { { "closed", paper_closed_forms }, { "units", paper_units }, { "affine", paper_affine }, { "grasp", paper_grasp }, { "press", paper_press }, { "arch", paper_arch }, { "hold", paper_hold }, { "rack", paper_rack } };
    static char data[4096];
    paper p;
    const char *only = NULL, *given = getenv("DATA");
    int failed = 0, ok;
    memset(&p, 0, sizeof p);
    p.out = "build/paper";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) p.quick = 1;
        else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc) p.out = argv[++i];
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
        else { fprintf(stderr, "usage: embipc_paper [--out DIR] [--quick] [--only SECTION,...]\n"); return 2; }
    }
    if (given && *given) {
        if (!realpath(given, data)) { fprintf(stderr, "DATA=%s: not there\n", given); return 2; }
        p.data = data;
    }
    if (!system_make_directories(p.out)) { fprintf(stderr, "%s: cannot be made\n", p.out); return 2; }
    p.command = p.quick ? "make paper-quick" : "make paper";
    p.start = system_seconds();
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (wanted(only, list[i].name)) list[i].run(&p);
    ok = paper_write(&p, &failed);
    printf("%d verdicts, %d differ without a cause that is told; %s/index.html\n", p.verdict_count, failed, p.out);
    paper_free(&p);
    return ok ? failed != 0 : 2;
}
