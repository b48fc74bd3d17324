/* Writes the matrix of the biggest linear system of a scene after some steps, as Matrix Market text:
 *     dump SCENE STEPS OUT.mtx
 * SCENE is a scene file, or one that is made here: mat:N, a thin sheet of N x N cells that is folded onto
 * itself; pile:N, a heap of N caged bears; cage:N, one of them with a cage of about N nodes; slab:N, a block of
 * N x N x N/2 cells on the ground. */
#include "../../tools/system.c"   /* first: it asks libc for POSIX */
#define EMBIPC_IMPLEMENTATION
#define EMBIPC_STATIC
#include "../../embipc.h"
#include <stdarg.h>
#include "../../tools/common.c"
#include "../../tools/json.c"
#include "../tool_meshio.h"
#include "../../tools/shapes.c"
#include "../../tools/scene.c"

static char text[200000];
static size_t used;

static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, args);
    va_end(args);
}

static void make_mat(int n)
{
    say("{ \"version\": 1, \"time_step\": 0.01, \"bodies\": [\n"
        "{ \"name\": \"mat\", \"kind\": \"full\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.004], \"resolution\": %d,\n"
        "  \"friction\": 0.3, \"material\": { \"young\": 2e5, \"poisson\": 0.4, \"density\": 1000, \"damping\": [1, 0] },\n"
        "  \"drive\": [ { \"select\": { \"box\": [[-0.101, -1, -1], [-0.0999, 1, 1]] }, \"keys\": [[0, 0, 0, 0], [9, 0, 0, 0]] },\n"
        "    { \"select\": { \"box\": [[0.0999, -1, -1], [0.101, 1, 1]] },\n"
        "      \"keys\": [[0, 0, 0, 0], [0.3, -0.1, 0, 0.12], [0.5, -0.18, 0, 0.03], [0.6, -0.18, 0, 0.006]] } ] } ] }\n", n);
}

static void make_pile(int n)
{
    say("{ \"version\": 1, \"time_step\": 0.01, \"bodies\": [\n"
        "{ \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"friction\": 0.6 }");
    for (int i = 0; i < n; i++) {
        int layer = i / 9, at = i % 9;
        say(",\n{ \"name\": \"bear %d\", \"kind\": \"cage\", \"shape\": \"bear\", \"cage_nodes\": 34, \"position\": [%g, %g, %g],\n"
            "  \"rotation\": [0, 0, %d], \"friction\": 0.5, \"material\": { \"young\": 5e4, \"poisson\": 0.45 } }",
            i, 0.14 * (at % 3) + 0.02 * (layer % 2), 0.14 * (double)(at / 3) + 0.03 * (layer % 2), 0.002 + 0.157 * layer,
            37 * i % 90);
    }
    say(" ] }\n");
}

static void make_cage(int n)
{
    say("{ \"version\": 1, \"time_step\": 0.01, \"bodies\": [\n"
        "{ \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"friction\": 0.6 },\n"
        "{ \"name\": \"bear\", \"kind\": \"cage\", \"shape\": \"bear\", \"cage_nodes\": %d, \"position\": [0, 0, 0.0002],\n"
        "  \"friction\": 0.5, \"material\": { \"young\": 5e4, \"poisson\": 0.45 } } ] }\n", n);
}

static void make_slab(int n)
{
    say("{ \"version\": 1, \"time_step\": 0.01, \"bodies\": [\n"
        "{ \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"friction\": 0.6 },\n"
        "{ \"name\": \"slab\", \"kind\": \"full\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.1], \"resolution\": %d, \"position\": [0, 0, 0.0502],\n"
        "  \"friction\": 0.5, \"material\": { \"young\": 1e5, \"poisson\": 0.4 } } ] }\n", n);
}

/* the island with the most unknowns, or NULL */
static embi_island *biggest(embipc_world *w)
{
    embi_island *most = NULL;
    for (int k = 0; k < w->islands.order_count; k++) {
        embi_island *I = w->islands.list[w->islands.order[k]];
        if (!most || I->unknown_count > most->unknown_count) most = I;
    }
    return most;
}

/* Assembles the island's system once more, as it stands after the step, in a form that can be read, and
 * writes its lower triangle. Couplings that the step keeps room for are written too, as zeros. */
static int write_system(embipc_world *w, embi_island *I, FILE *f)
{
    embi_state *s = &w->s;
    const embi_bsr *A = &I->system.A;
    embipc_solver was = s->settings.solver;
    int ok, empty = 0;
    s->settings.solver = EMBIPC_SOLVER_CG;
    ok = embi_island_analyze(&w->memory, s, I) && embi_island_assemble(s, I);
    s->settings.solver = was;
    if (!ok) return 0;
    fprintf(f, "%%%%MatrixMarket matrix coordinate real symmetric\n");
    fprintf(f, "%d %d %d\n", 3 * A->n, 3 * A->n, 9 * (A->row[A->n] - A->n) + 6 * A->n);
    for (int i = 0; i < A->n; i++)
        for (int k = A->row[i]; k < A->row[i + 1]; k++) {
            const embipc_real *V = A->val + 9 * (size_t)k;
            int zeros = 0;
            for (int c = 0; c < 9; c++) {
                int r = 3 * i + c / 3, q = 3 * A->col[k] + c % 3;
                zeros += V[c] == 0;
                if (q <= r) fprintf(f, "%d %d %.17g\n", r + 1, q + 1, V[c]);
            }
            empty += zeros == 9;
        }
    printf("%d unknowns, %d blocks, %d of them empty, %d contacts\n", 3 * A->n, A->row[A->n], empty,
           I->contacts.count);
    return 1;
}

int main(int argc, char **argv)
{
    scene s;
    tool_error e;
    embipc_world *w = NULL;
    embipc_step_stats t;
    FILE *f;
    int n, ok, steps;
    if (argc != 4) {
        fprintf(stderr, "usage: dump SCENE STEPS OUT.mtx\n");
        return 2;
    }
    if (sscanf(argv[1], "mat:%d", &n) == 1) make_mat(n);
    else if (sscanf(argv[1], "pile:%d", &n) == 1) make_pile(n);
    else if (sscanf(argv[1], "cage:%d", &n) == 1) make_cage(n);
    else if (sscanf(argv[1], "slab:%d", &n) == 1) make_slab(n);
    ok = used ? scene_parse(&s, "made.json", text, used, &e) : scene_read(&s, argv[1], &e);
    ok = ok && scene_build(&s, &w, &e);
    if (!ok) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    steps = atoi(argv[2]);
    for (int k = 0; k < steps; k++)
        if (embipc_world_step(w, &t) != EMBIPC_OK) {
            fprintf(stderr, "step %d: %s\n", k + 1, embipc_world_error(w)->text);
            return 1;
        }
    printf("%s, step %d: ", argv[1], steps);
    f = fopen(argv[3], "w");
    if (!f || !biggest(w) || !write_system(w, biggest(w), f) || fclose(f) != 0) {
        fprintf(stderr, "%s: cannot be written\n", argv[3]);
        return 1;
    }
    embipc_world_destroy(w);
    scene_free(&s);
    return 0;
}
