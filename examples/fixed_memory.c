/* fixed_memory.c - no heap: the library lives in one static block.
 *
 * You learn how much memory a scene needs, by a rehearsal: arrays only grow, so that after the worst that can happen
 * the same run takes nothing more, and a reset repeats it bit for bit. And what a block that is too small leads to: a
 * call that says so, and a world that is as it was. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <stdio.h>
#include <string.h>

/* What is free, in the order of addresses; each hole says how long it is. */
typedef struct hole { size_t size; struct hole *next; } hole;
typedef struct block { hole *free; size_t used, most; long calls; } block;
#define UNIT 32                                       /* a hole fits, and any type is aligned */

static union { hole first; unsigned char bytes[4 << 20]; long double aligned; } memory;

static size_t block_round(size_t size) { return (size + UNIT - 1) / UNIT * UNIT; }

static void block_begin(block *b, size_t size)
{
    memset(b, 0, sizeof *b);
    b->free = &memory.first;
    b->free->size = size / UNIT * UNIT; b->free->next = NULL;
}
/* the first hole that is long enough, from its end */
static void *block_alloc(size_t size, void *ctx)
{
    block *b = (block *)ctx;
    hole **at = &b->free, *h;
    b->calls++;
    if (size > sizeof memory) return NULL; else size = block_round(size);
    while (*at && (*at)->size < size) at = &(*at)->next;
    if (!*at) return NULL;
    h = *at;
    h->size -= size;
    if (h->size == 0) *at = h->next;
    b->used += size;
    if (b->used > b->most) b->most = b->used;
    return (unsigned char *)h + h->size;
}
/* back among the holes, one with those that it touches */
static void block_free(void *p, size_t size, void *ctx)
{
    block *b = (block *)ctx;
    hole *before = NULL, *after = b->free, *h = (hole *)p;
    if (!p) return;
    for (; after && after < h; after = after->next) before = after;
    b->used -= h->size = block_round(size);
    h->next = after;
    if (after && (unsigned char *)h + h->size == (unsigned char *)after) { h->size += after->size; h->next = after->next; }
    if (!before) b->free = h;
    else if ((unsigned char *)before + before->size == (unsigned char *)h) { before->size += h->size; before->next = h->next; }
    else before->next = h;
}

static const double cube_x[] = {-.5,-.5,-.5, .5,-.5,-.5, -.5,.5,-.5, .5,.5,-.5, -.5,-.5,.5, .5,-.5,.5, -.5,.5,.5, .5,.5,.5};
static const int cube_t[] = {0,2,3, 0,3,1, 4,5,7, 4,7,6, 0,1,5, 0,5,4, 2,6,7, 2,7,3, 0,4,6, 0,6,2, 1,3,7, 1,7,5};

/* A soft box that falls onto a stiff one on the ground; NULL, and said why, where the block is too small. */
static embipc_world *scene(block *b, embipc_body *soft)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;
    embipc_error e;
    wd.allocator.alloc = block_alloc; wd.allocator.free = block_free; wd.allocator.ctx = b;
    if (embipc_world_create(&wd, &world, &e)) { puts(e.text); return NULL; }
    bd.x = cube_x; bd.vertex_count = 8; bd.triangles = cube_t; bd.triangle_count = 12; bd.position[2] = -0.5;
    for (int k = 0; k < 3; k++) {
        if (embipc_body_create(world, &bd, soft)) { puts(embipc_world_error(world)->text); embipc_world_destroy(world); return NULL; }
        bd.kind = k ? EMBIPC_CAGE : EMBIPC_AFFINE; bd.name = k ? "soft" : "stiff"; bd.scale = 0.1;
        bd.position[2] = k ? 0.2 : 0.051; bd.material.young = k ? 1e5 : 1e9;
    }
    return world;
}

int main(void)
{
    block b; embipc_world *world; embipc_body soft; embipc_body_state end[2];
    block_begin(&b, sizeof memory);
    if ((world = scene(&b, &soft)) == NULL) return 1;
    for (int run = 0; run < 2; run++) {                   /* the rehearsal, and the run */
        long calls = b.calls;
        for (int i = 0; i < 100; i++)
            if (embipc_world_step(world, NULL)) { puts(embipc_world_error(world)->text); return 1; }
        embipc_body_get_state(world, soft, &end[run]);
        printf("run %d: %zu bytes at most, %ld calls, soft box at %.6f m\n", run, b.most, b.calls - calls, end[run].centre[2]);
        embipc_world_reset(world);
    }
    printf("the same bits: %d\n", memcmp(end[0].centre, end[1].centre, sizeof end[0].centre) == 0);
    embipc_world_destroy(world);
    printf("after the end: %zu bytes in use, %s\n", b.used, b.free == &memory.first && !b.free->next ? "one hole" : "several holes");
    block_begin(&b, 128 << 10);
    world = scene(&b, &soft);
    printf("in 128 KB: %s\n", world ? "there is room" : "no room");
    embipc_world_destroy(world);
    return 0;
}
