/* fixed_memory.c - no heap: the library lives in one block of fixed size.
 *
 * You learn how large the block must be: a rehearsal, here with malloc, counts what a scene needs, and these numbers are
 * the limits of the world on the device. And what limits lead to that are too small: a call that names the limit and the
 * number to try, and a world that is as it was. Its snapshot then goes on in a larger block. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <stdio.h>
#include <string.h>

static unsigned char block[2][2 << 20];

static const embipc_real cube_x[] = {-.5,-.5,-.5, .5,-.5,-.5, -.5,.5,-.5, .5,.5,-.5,
                                     -.5,-.5,.5, .5,-.5,.5, -.5,.5,.5, .5,.5,.5};
static const int cube_t[] = {0,2,3, 0,3,1, 4,5,7, 4,7,6, 0,1,5, 0,5,4, 2,6,7, 2,7,3, 0,4,6, 0,6,2, 1,3,7, 1,7,5};

/* A soft box that falls onto a stiff one on the ground; NULL, and said why, where there is no room. */
static embipc_world *scene(const embipc_world_def *wd, embipc_body *soft)
{
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;
    embipc_error e;
    if (embipc_world_create(wd, &world, &e)) { puts(e.text); return NULL; }
    bd.x = cube_x; bd.vertex_count = 8; bd.triangles = cube_t; bd.triangle_count = 12; bd.position[2] = -0.5;
    for (int k = 0; k < 3; k++) {
        if (embipc_body_create(world, &bd, soft)) { puts(embipc_world_error(world)->text); embipc_world_destroy(world); return NULL; }
        bd.kind = k ? EMBIPC_CAGE : EMBIPC_AFFINE; bd.name = k ? "soft" : "stiff"; bd.scale = 0.1;
        bd.position[2] = k ? 0.2 : 0.051; bd.material.young = k ? 1e5 : 1e9;
    }
    return world;
}

/* Steps until a time, s. Returns 0 where one fails. */
static int run(embipc_world *world, double until)
{
    while (embipc_world_time(world) < until - 1e-9)
        if (embipc_world_step(world, NULL)) return 0;
    return 1;
}

static embipc_real height(const embipc_world *world, embipc_body soft)
{
    embipc_body_state s;
    embipc_body_get_state(world, soft, &s);
    return s.centre[2];
}

int main(void)
{
    static unsigned char saved[1 << 20];
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *world, *larger; embipc_body soft; embipc_error e;
    embipc_limits needs; size_t bytes, peak; embipc_real end;

    if ((world = scene(&wd, &soft)) == NULL || !run(world, 1)) return 1;               /* the rehearsal */
    embipc_world_needs(world, &needs);
    embipc_world_memory(world, NULL, &peak, NULL);
    end = height(world, soft);
    embipc_world_destroy(world);
    wd.limits = needs;
    if (embipc_world_size(&wd, &bytes, &e)) { puts(e.text); return 1; }
    printf("needs: %zu contacts, %zu candidates, %zu numbers in factors\n", needs.contacts, needs.candidates, needs.factors);
    printf("bytes: %zu took the rehearsal, %zu has the block\n", peak, bytes);

    if (bytes > sizeof block[0] || embipc_block_allocator(block[0], bytes, &wd.allocator)) return 1;
    if ((world = scene(&wd, &soft)) == NULL || !run(world, 1)) return 1;                /* the run */
    printf("run: soft box at %.6f m; the same bits: %d\n", height(world, soft), height(world, soft) == end);
    embipc_world_destroy(world);

    wd.limits.contacts /= 2;                                                      /* too small a limit */
    if (embipc_block_allocator(block[0], bytes, &wd.allocator) || (world = scene(&wd, &soft)) == NULL) return 1;
    if (run(world, 1)) return 1;
    printf("limit: %s, at %.2f s\n", embipc_world_error(world)->text, embipc_world_time(world));
    if (embipc_world_save(world, saved, sizeof saved, &bytes)) return 1;
    wd.limits.contacts *= 4;
    if (embipc_block_allocator(block[1], sizeof block[1], &wd.allocator)) return 1;
    if (embipc_world_load(saved, bytes, &wd, &larger, &e)) { puts(e.text); return 1; }
    if (!run(larger, 1)) { puts(embipc_world_error(larger)->text); return 1; }
    printf("on in a larger block: soft box at %.6f m; the same bits: %d\n", height(larger, soft), height(larger, soft) == end);
    embipc_world_destroy(larger);
    embipc_world_destroy(world);
    return 0;
}
