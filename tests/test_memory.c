/* What small worlds take of memory. `make memory` builds this file with MEMORY_ROWS: then it writes a row for each array, its
 * bytes and the addresses of the calls that made it, and tools/memory.py adds the lines of the header. */
#include "../embipc.h"
#include "test.h"

typedef struct memory_case {
    const char *name;
    embipc_kind kind;
    embipc_shape_kind shape;
    int detail, bodies;
    double most;                 /* bytes: what `make memory` tells, and a third more */
} memory_case;
static const memory_case memory_cases[] = {
    {"one affine box", EMBIPC_AFFINE, EMBIPC_BOX, 1, 1, 62e3},
    {"70 affine boxes", EMBIPC_AFFINE, EMBIPC_BOX, 1, 70, 6.0e6},
    {"one cage, 80 triangles", EMBIPC_CAGE, EMBIPC_SPHERE, 2, 1, 460e3},
    {"five cages, 80 triangles each", EMBIPC_CAGE, EMBIPC_SPHERE, 2, 5, 2.5e6},
    {"one cage, 2420 triangles", EMBIPC_CAGE, EMBIPC_SPHERE, 11, 1, 1.8e6}};
enum { MEMORY_CASES = sizeof memory_cases / sizeof *memory_cases, MEMORY_STEPS = 50 };

/* A world with bodies of 0.1 m in layers above a fixed plate, after its steps. */
static embipc_world *memory_world(const memory_case *c, const embipc_allocator *hooks)
{
    static double x[3 * 2500];
    static int tri[3 * 5000];
    double size[3] = {c->shape == EMBIPC_BOX ? 0.1 : 0.05, 0.1, 0.1}, plate[3] = {4, 4, 0.2};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *w;
    embipc_body b;
    int side = 1;
    if (hooks) wd.allocator = *hooks;
    ENSURE(!embipc_world_create(&wd, &w, NULL));
    bd.x = x;
    bd.triangles = tri;
    bd.friction = 0.5;
    bd.position[2] = -0.1;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, plate, 1, x, tri, 5000);
    bd.vertex_count = bd.triangle_count / 2 + 2;
    ENSURE(!embipc_body_create(w, &bd, &b));
    bd.kind = c->kind;
    bd.triangle_count = embipc_shape(c->shape, size, c->detail, x, tri, 5000);
    bd.vertex_count = bd.triangle_count / 2 + 2;
    while (side * side * side < c->bodies) side++;
    for (int i = 0; i < c->bodies; i++) {
        bd.position[0] = 0.12 * (i % side) - 0.06 * side;
        bd.position[1] = 0.12 * (i / side % side) - 0.06 * side;
        bd.position[2] = 0.055 + 0.12 * (i / (side * side));
        ENSURE(!embipc_body_create(w, &bd, &b));
    }
    for (int i = 0; i < MEMORY_STEPS; i++) ENSURE(!embipc_world_step(w, NULL));
    return w;
}

#ifdef MEMORY_ROWS
#include <execinfo.h>

enum { BLOCKS = 100000, DEPTH = 6 };
typedef struct block { void *p; unsigned long size; void *from[DEPTH]; } block;
static block list[BLOCKS];
static int count;

static void *note(size_t size, void *ctx)
{
    block *one = list + count;
    (void)ctx;
    if (count == BLOCKS || !(one->p = malloc(size))) return NULL;
    one->size = (unsigned long)size;
    memset(one->from, 0, sizeof one->from);
    (void)backtrace(one->from, DEPTH);
    count++;
    return one->p;
}
static void forget(void *p, size_t size, void *ctx)
{
    int i = count - 1;
    (void)size;
    (void)ctx;
    while (i >= 0 && list[i].p != p) i--;
    if (i >= 0) list[i] = list[--count];
    free(p);
}
int main(void)
{
    embipc_allocator hooks = {note, forget, NULL};
    for (int k = 0; k < MEMORY_CASES; k++) {
        embipc_world *w = memory_world(memory_cases + k, &hooks);
        printf("# %s\n", memory_cases[k].name);
        for (int i = 0; i < count; i++) {
            printf("%lu", list[i].size);
            for (int n = 1; n < DEPTH; n++) printf(" %p", list[i].from[n]);
            printf("\n");
        }
        embipc_world_destroy(w);
    }
    return test_bad != 0;
}
#else
static void test_small_worlds(void)
{
    for (int k = 0; k < MEMORY_CASES; k++) {
        embipc_world *w = memory_world(memory_cases + k, NULL);
        size_t bytes, peak;
        embipc_world_memory(w, &bytes, &peak, NULL);
        ENSURE((double)bytes < memory_cases[k].most);
        ENSURE((double)peak < memory_cases[k].most);
        if ((double)peak >= memory_cases[k].most) printf("  %s: %lu\n", memory_cases[k].name, (unsigned long)peak);
        embipc_world_destroy(w);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(small_worlds);
    return test_end("test_memory");
}
#endif
