/* allocator.c - an allocator of our own, with a budget.
 *
 * You learn where the library takes its memory from, that a warmed-up step takes none, and what happens when
 * there is no more: the call that needed it says so, the world is as it was before that call, bit for bit,
 * and goes on when there is memory again. In the end nothing stays behind. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct budget { size_t used, peak, limit; long calls; } budget;

static void *budget_alloc(size_t size, void *ctx)
{
    budget *b = (budget *)ctx;
    void *p = size <= b->limit - b->used ? malloc(size) : NULL;
    b->calls++;
    if (p) b->used += size;
    if (b->used > b->peak) b->peak = b->used;
    return p;
}

/* The size comes back with the block, so no header has to remember it. */
static void budget_free(void *p, size_t size, void *ctx)
{
    if (p) ((budget *)ctx)->used -= size;
    free(p);
}

static const embipc_real edges[3] = {1, 1, 1};   /* of a cube, which embipc_shape() writes */
static embipc_real cube_x[24];
static int cube_t[36];

int main(void)
{
    budget b = {0, 0, (size_t)16 << 20, 0};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;
    embipc_body ground, box, other;
    embipc_body_view view;
    embipc_result r;
    embipc_real before[3 * 256];
    size_t room, size;
    long calls;
    int i, ok;

    wd.allocator.alloc = budget_alloc; wd.allocator.free = budget_free; wd.allocator.ctx = &b;
    if (embipc_world_create(&wd, &world, NULL)) return 1;
    bd.x = cube_x; bd.vertex_count = 8; bd.triangles = cube_t;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, edges, 1, cube_x, cube_t, 12);
    bd.position[2] = -0.5;
    ok = !embipc_body_create(world, &bd, &ground);
    bd.kind = EMBIPC_CAGE; bd.scale = 0.1; bd.position[2] = 0.1;
    ok = ok && !embipc_body_create(world, &bd, &box);
    for (i = 0; i < 100 && ok; i++) ok = !embipc_world_step(world, NULL);      /* it lands: warmed up */
    if (!ok) { puts(embipc_world_error(world)->text); return 1; }
    printf("after 100 steps: %ld calls, %zu bytes in use, %zu at most\n", b.calls, b.used, b.peak);

    calls = b.calls;
    for (i = 0; i < 100; i++) embipc_world_step(world, NULL);
    printf("100 more steps: %ld calls\n", b.calls - calls);

    /* a second box, of one tet; less and less memory is missing */
    embipc_body_get_view(world, box, &view);
    if (view.node_count > 256) return 1;
    size = 3 * sizeof(embipc_real) * (size_t)view.node_count;
    memcpy(before, view.q, size);
    bd.kind = EMBIPC_AFFINE; bd.position[2] = 0.3;
    room = b.used;
    for (i = 0, r = EMBIPC_ERR_MEMORY; r == EMBIPC_ERR_MEMORY && i < 10000; i++) {
        b.limit = room + (size_t)i * 512;
        r = embipc_body_create(world, &bd, &other);
        if (i == 0) printf("no memory left: %s\n", embipc_world_error(world)->text);
    }
    embipc_body_get_view(world, box, &view);
    printf("refused %d times, then: %s\n", i - 1, embipc_result_text(r));
    printf("the first box has the same bits: %d\n", !memcmp(before, view.q, size));
    b.limit = b.used;
    r = embipc_world_step(world, NULL);
    printf("a step that needs more: %s, time %.2f s\n", embipc_result_text(r), embipc_world_time(world));
    b.limit = (size_t)16 << 20;
    r = embipc_world_step(world, NULL);
    printf("with memory again: %s, time %.2f s\n", embipc_result_text(r), embipc_world_time(world));
    embipc_world_destroy(world);
    printf("after the end: %zu bytes in use\n", b.used);
    return 0;
}
