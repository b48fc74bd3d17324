/* What small worlds take of memory. `make memory` builds this file with MEMORY_ROWS: then it writes a row for each array, its
 * bytes and the addresses of the calls that made it, and tools/memory.py adds the lines of the header. */
#include "../embipc.h"
#include "test.h"
#include "scene_test.h"

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

static double memory_x[3 * 2500];
static int memory_tri[3 * 5000];

/* A world with a fixed plate. */
static embipc_world *memory_begin(const embipc_world_def *wd)
{
    double plate[3] = {4, 4, 0.2};
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *w;
    embipc_body b;
    ENSURE(!embipc_world_create(wd, &w, NULL));
    bd.x = memory_x;
    bd.triangles = memory_tri;
    bd.friction = 0.5;
    bd.position[2] = -0.1;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, plate, 1, memory_x, memory_tri, 5000);
    bd.vertex_count = bd.triangle_count / 2 + 2;
    ENSURE(!embipc_body_create(w, &bd, &b));
    return w;
}

/* Adds the i-th body of 0.1 m, in layers above the plate. */
static embipc_result memory_add(embipc_world *w, const memory_case *c, int i)
{
    double size[3] = {c->shape == EMBIPC_BOX ? 0.1 : 0.05, 0.1, 0.1};
    embipc_body_def bd = embipc_default_body_def();
    embipc_body b;
    int side = 1;
    while (side * side * side < c->bodies) side++;
    bd.x = memory_x;
    bd.triangles = memory_tri;
    bd.friction = 0.5;
    bd.kind = c->kind;
    bd.triangle_count = embipc_shape(c->shape, size, c->detail, memory_x, memory_tri, 5000);
    bd.vertex_count = bd.triangle_count / 2 + 2;
    bd.position[0] = 0.12 * (i % side) - 0.06 * side;
    bd.position[1] = 0.12 * (i / side % side) - 0.06 * side;
    bd.position[2] = 0.055 + 0.12 * (i / (side * side));
    return embipc_body_create(w, &bd, &b);
}

/* The world of a case after its steps. */
static embipc_world *memory_world(const memory_case *c, const embipc_world_def *wd)
{
    embipc_world *w = memory_begin(wd);
    for (int i = 0; i < c->bodies; i++) ENSURE(!memory_add(w, c, i));
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
        embipc_world_def wd = embipc_default_world_def();
        embipc_world *w;
        wd.allocator = hooks;
        w = memory_world(memory_cases + k, &wd);
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
        embipc_world_def wd = embipc_default_world_def();
        embipc_world *w = memory_world(memory_cases + k, &wd);
        size_t bytes, peak;
        embipc_world_memory(w, &bytes, &peak, NULL);
        ENSURE((double)bytes < memory_cases[k].most);
        ENSURE((double)peak < memory_cases[k].most);
        if ((double)peak >= memory_cases[k].most) printf("  %s: %lu\n", memory_cases[k].name, (unsigned long)peak);
        embipc_world_destroy(w);
    }
}

/* A row of bodies that nearly touch is one island. The first one goes and one comes at the end, again and again: memory
 * stays that of one row. All go, and with them most of the memory. */
static void memory_of_a_row(const memory_case *one)
{
    enum { ROW = 12 };
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w = memory_begin(&wd);
    size_t first = 0, bytes = 0, rest;
    for (int n = 0; n < 3 * ROW; n++) {
        embipc_body_state last = {0};
        embipc_pose at = {{0, 0, 0.0501}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0}};
        if (n >= ROW) ENSURE(!embipc_body_destroy(w, embipc_world_body(w, 1)));
        if (n) ENSURE(!embipc_body_get_state(w, embipc_world_body(w, embipc_world_body_count(w) - 1), &last));
        at.position[0] = n ? last.centre[0] + 0.1003 : -1.8;
        ENSURE(!memory_add(w, one, 50));
        ENSURE(!embipc_body_set_pose(w, embipc_world_body(w, embipc_world_body_count(w) - 1), at.position, at.rotation, 0));
        for (int k = 0; k < 2; k++) ENSURE(!embipc_world_step(w, NULL));
        embipc_world_memory(w, &bytes, NULL, NULL);
        if (n == ROW - 1) first = bytes;
    }
    for (int i = 1; i <= ROW; i++) ENSURE(embipc_body_island(w, embipc_world_body(w, i)) == 1);
    while (embipc_world_body_count(w) > 1) ENSURE(!embipc_body_destroy(w, embipc_world_body(w, 1)));
    embipc_world_memory(w, &rest, NULL, NULL);
    printf("  %s: %lu bytes, later %lu, and %lu when all are gone\n", one->name, (unsigned long)first,
           (unsigned long)bytes, (unsigned long)rest);
    ENSURE(bytes < first + first / 4);
    ENSURE(rest < first / 2);
    embipc_world_destroy(w);
}

static void test_bodies_come_and_go(void)
{
    static const memory_case row[2] = {{"a row of boxes", EMBIPC_AFFINE, EMBIPC_BOX, 1, 1, 0},
                                       {"a row of balls", EMBIPC_AFFINE, EMBIPC_SPHERE, 4, 1, 0}};
    for (int k = 0; k < 2; k++) memory_of_a_row(row + k);
}

/* Pieces of all sizes, taken and given back by lot: each lies in the block, aligned, and beside the others; in the end the
 * block is one hole again. */
static void test_block(void)
{
    enum { SIZE = 100000, PIECES = 200 };
    static unsigned char block[SIZE];
    unsigned char *piece[PIECES] = {NULL};
    size_t length[PIECES] = {0};
    embipc_allocator a;
    int refused = 0, wrong = 0;
    ENSURE(embipc_block_allocator(NULL, SIZE, &a) == EMBIPC_ERR_ARGUMENT && !a.alloc);
    ENSURE(embipc_block_allocator(block, 8, &a) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_block_allocator(block, SIZE, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(!embipc_block_allocator(block + 3, SIZE - 3, &a));
    a.free(NULL, 0, a.ctx);
    for (int n = 0; n < 20000; n++) {
        int k = (int)test_uniform(0, PIECES);
        if (piece[k]) {
            for (size_t i = 0; i < length[k]; i++) wrong += piece[k][i] != (unsigned char)k;
            a.free(piece[k], length[k], a.ctx);
            piece[k] = NULL;
            continue;
        }
        length[k] = 1 + (size_t)test_uniform(0, 3000);
        piece[k] = (unsigned char *)a.alloc(length[k], a.ctx);
        if (!piece[k]) { refused++; continue; }
        wrong += (size_t)piece[k] % 16 != 0 || piece[k] < block + 3 || piece[k] + length[k] > block + SIZE;
        memset(piece[k], k, length[k]);
    }
    ENSURE(!wrong && refused > 100 && refused < 15000);
    for (int k = 0; k < PIECES; k++)
        if (piece[k]) a.free(piece[k], length[k], a.ctx);
    piece[0] = (unsigned char *)a.alloc(SIZE - 100, a.ctx);
    ENSURE(piece[0] && !a.alloc(100, a.ctx) && !a.alloc((size_t)-8, a.ctx));
}

/* The world of a rehearsal with malloc repeats its bits in a block of the bytes that embipc_world_size() derives from what it
 * needed, and these are at most twice what it took. */
static void test_block_of_a_size(void)
{
    for (int k = 0; k < MEMORY_CASES; k++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_world *w = memory_world(memory_cases + k, &wd);
        unsigned long long bits = embipc_world_hash(w);
        size_t bytes, peak;
        unsigned char *block;
        embipc_error e;
        ENSURE(embipc_world_size(&wd, &bytes, &e) == EMBIPC_ERR_ARGUMENT && bytes == 0);
        ENSURE(strstr(e.text, "limits.bodies is 0"));
        embipc_world_needs(w, &wd.limits);
        embipc_world_memory(w, NULL, &peak, NULL);
        embipc_world_destroy(w);
        ENSURE(!embipc_world_size(&wd, &bytes, &e));
        ENSURE(bytes > peak && bytes < 2 * peak);
        block = (unsigned char *)malloc(bytes);
        ENSURE(block && !embipc_block_allocator(block, bytes, &wd.allocator));
        w = memory_world(memory_cases + k, &wd);
        ENSURE(embipc_world_hash(w) == bits);
        embipc_world_destroy(w);
        free(block);
    }
}

/* With half of what it needs of one thing, a world stops with an error that names it, and is as before this call. */
static void test_limits(void)
{
    static const char *const name[] = {"bodies", "vertices", "nodes", "tets", "pairs", "candidates", "contacts", "factors"};
    embipc_world_def free_def = embipc_default_world_def();
    embipc_world *w = memory_world(memory_cases + 3, &free_def);
    size_t need[8];
    embipc_limits needs;
    embipc_world_needs(w, &needs);
    embipc_world_destroy(w);
    memcpy(need, &needs, sizeof need);
    for (int k = 0; k < 8; k++) {
        embipc_world_def wd = free_def;
        size_t limit[8] = {0};
        unsigned long long before = 0;
        const embipc_error *e;
        char text[64];
        limit[k] = need[k] / 2;
        memcpy(&wd.limits, limit, sizeof limit);
        w = memory_begin(&wd);
        for (int i = 0; i < 5; i++) {
            before = scene_bits(w);
            if (memory_add(w, memory_cases + 3, i)) break;
        }
        for (int i = 0; i < MEMORY_STEPS && embipc_world_error(w)->code != EMBIPC_ERR_CAPACITY; i++) {
            before = scene_bits(w);
            if (embipc_world_step(w, NULL)) break;
        }
        e = embipc_world_error(w);
        ENSURE(e->code == EMBIPC_ERR_CAPACITY);
        (void)snprintf(text, sizeof text, "embipc_world_def.limits.%s is %lu; ", name[k], (unsigned long)limit[k]);
        ENSURE(strstr(e->text, text));
        ENSURE(e->value[0] > (double)limit[k] && e->value[0] <= (double)need[k] && e->value[1] == (double)limit[k]);
        ENSURE(scene_bits(w) == before);
        ENSURE(k < 4 || embipc_world_step(w, NULL) == EMBIPC_ERR_CAPACITY);   /* and again */
        embipc_world_destroy(w);
    }
}

/* Who takes the number that an error asks for needs few runs until a world has room: from a third of what it needs at most four. */
static void test_number_needed(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w = memory_world(memory_cases + 3, &wd);
    size_t need[8], limit[8] = {0};
    embipc_limits needs;
    embipc_world_needs(w, &needs);
    embipc_world_destroy(w);
    memcpy(need, &needs, sizeof need);
    for (int k = 4; k < 8; k++) {
        int runs = 0;
        memset(limit, 0, sizeof limit);
        for (limit[k] = need[k] / 3; runs < 5; runs++) {
            const embipc_error *e;
            memcpy(&wd.limits, limit, sizeof limit);
            w = memory_begin(&wd);
            e = embipc_world_error(w);
            for (int i = 0; i < 5 && !memory_add(w, memory_cases + 3, i); i++) {}
            for (int i = 0; i < MEMORY_STEPS && !e->code; i++) (void)embipc_world_step(w, NULL);
            if (!e->code) break;
            ENSURE(e->code == EMBIPC_ERR_CAPACITY);
            limit[k] = (size_t)e->value[0];
            embipc_world_destroy(w);
        }
        ENSURE(runs > 0 && runs < 5 && 2 * limit[k] < 3 * need[k] + 4);
        if (runs < 5) embipc_world_destroy(w);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(small_worlds);
    RUN(bodies_come_and_go);
    RUN(block);
    RUN(block_of_a_size);
    RUN(limits);
    RUN(number_needed);
    return test_end("test_memory");
}
#endif
