/* Two small worlds in a block of fixed size, for boards without an operating system: a stack of affine boxes, and a soft ball in
 * a cage that two stiff pads squeeze and lift. Prints where they end, with a hash of energies, gaps, nodes and velocities, and what they took. On a
 * board (BOARD) it prints instructions of steps, too: under qemu with -icount shift=0 each takes a nanosecond. `make
 * boards` compares the lines without # with those of the same program on this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef BOARD   /* assert() brings 3 kB of printing, and the text of each condition: here a line number does */
static void board_stop(int line)
{
    char text[40];
    snprintf(text, sizeof text, "embipc.h, line %d: not true", line);
    puts(text);
    exit(1);
}
#define EMBIPC_ASSERT(c) ((c) ? (void)0 : board_stop(__LINE__))
#endif
#include "../embipc.h"

enum { BOARD_BLOCK = 440 * 1024 };
static unsigned char board_block[BOARD_BLOCK];

#ifdef BOARD
/* SysTick counts down at 25 MHz: 40 instructions a tick. It wraps after 2^24 of them, so interrupts count the wraps. */
static volatile unsigned *const systick = (volatile unsigned *)0xE000E010;
static volatile unsigned board_wraps;
void board_systick(void);
void board_systick(void) { board_wraps++; }
static double board_now(void)
{
    unsigned wraps, left;
    do { wraps = board_wraps; left = systick[2]; } while (wraps != board_wraps);
    return 40.0 * ((double)wraps * 16777216.0 + (16777215.0 - left));
}
static void board_begin(void) { systick[1] = 0xFFFFFF; systick[2] = 0; systick[0] = 7; }
extern unsigned char board_stack_low[], board_stack_top[];   /* of the linker script; painted by the start */
static unsigned long board_stack(void)
{
    const unsigned char *p = board_stack_low;
    while (p < board_stack_top && *p == 0xA5) p++;
    return (unsigned long)(board_stack_top - p);
}
#else
static double board_now(void) { return 0; }
static void board_begin(void) { }
static unsigned long board_stack(void) { return 0; }
#endif

static embipc_real board_x[3 * 100];
static int board_tri[3 * 200];

/* Adds a shape. Returns 0 where that fails. */
static int board_add(embipc_world *w, embipc_body_def *d, embipc_shape_kind shape, const embipc_real size[3], int detail,
                     const embipc_real at[3], embipc_body *body)
{
    d->triangle_count = embipc_shape(shape, size, detail, board_x, board_tri, 200);
    d->vertex_count = d->triangle_count / 2 + 2;
    d->x = board_x;
    d->triangles = board_tri;
    d->friction = 0.6;
    memcpy(d->position, at, sizeof d->position);
    if (!embipc_body_create(w, d, body)) return 1;
    puts(embipc_world_error(w)->text);
    return 0;
}

static int board_ground(embipc_world *w)
{
    static const embipc_real size[3] = {1, 1, 1}, at[3] = {0, 0, -0.5};
    embipc_body_def d = embipc_default_body_def();
    embipc_body ground;
    return board_add(w, &d, EMBIPC_BOX, size, 1, at, &ground);
}

/* Three stiff boxes, one upon the other. */
static int board_stacked(embipc_world *w, embipc_body *last)
{
    static const embipc_real size[3] = {0.1, 0.1, 0.1};
    int ok = board_ground(w);
    for (int i = 0; i < 3 && ok; i++) {
        embipc_body_def d = embipc_default_body_def();
        embipc_real at[3] = {0.01 * i, 0, 0.051 + 0.101 * i};
        d.kind = EMBIPC_AFFINE;
        d.material.young = 1e9;
        ok = board_add(w, &d, EMBIPC_BOX, size, 1, at, last);
    }
    return ok;
}

/* A soft ball whose cage is a cube of eight cells, between two pads that close in 0.2 s and then rise at 0.1 m/s. */
static int board_grasped(embipc_world *w, embipc_body *ball)
{
    static const embipc_real pad_size[3] = {0.02, 0.08, 0.08}, radius[3] = {0.05, 0, 0};
    embipc_real at[3] = {0, 0, 0.0502};
    embipc_body_def d = embipc_default_body_def();
    int ok = board_ground(w);
    d.kind = EMBIPC_CAGE;
    d.cage_nodes = 8;
    ok = ok && board_add(w, &d, EMBIPC_SPHERE, radius, 2, at, ball);
    for (int i = 0; i < 2 && ok; i++) {
        embipc_real side = i ? 1 : -1, keys[3 * 7] = {0}, from[3] = {side * 0.062, 0, 0.05};
        embipc_body_def pad = embipc_default_body_def();
        embipc_drive_def dd = embipc_default_drive_def();
        embipc_drive drive;
        keys[7] = 0.2;
        keys[7 + 1] = keys[14 + 1] = -side * 0.012;
        keys[14] = 0.7;
        keys[14 + 3] = 0.05;
        pad.kind = EMBIPC_KINEMATIC;
        ok = board_add(w, &pad, EMBIPC_BOX, pad_size, 1, from, &dd.body);
        dd.keys = keys;
        dd.key_count = 3;
        ok = ok && !embipc_drive_create(w, &dd, &drive);
    }
    return ok;
}

/* The library has snprintf() for its messages. So nothing here needs printf(), which would be as large again. */
static char board_line[160];

static unsigned long long board_hash;

/* Adds the bits of n numbers to the hash. A board that saves no worlds does without embipc_world_hash() and its 4 kB. */
static void board_hash_add(const embipc_real *x, int n)
{
    const unsigned char *byte = (const unsigned char *)x;
    for (size_t k = 0; k < (size_t)n * sizeof *x; k++) board_hash = (board_hash ^ byte[k]) * 0x100000001B3ull;
}

/* Runs a world in the block, and prints its end. Returns 0 where a call fails. */
static int board_run(const char *name, int (*make)(embipc_world *, embipc_body *), int steps)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *w;
    embipc_body body;
    embipc_body_state s;
    embipc_limits needs;
    embipc_step_stats stats;
    size_t peak;
    double sum = 0, most = 0;
    if (embipc_block_allocator(board_block, sizeof board_block, &wd.allocator) || embipc_world_create(&wd, &w, NULL)) return 0;
    if (!make(w, &body)) return 0;
    board_hash = 0xCBF29CE484222325ull;
    for (int i = 0; i < steps; i++) {
        double before = board_now(), took;
        if (embipc_world_step(w, &stats)) { puts(embipc_world_error(w)->text); return 0; }
        took = board_now() - before;
        sum += took;
        if (took > most) most = took;
        board_hash_add(&stats.kinetic, 1);
        board_hash_add(&stats.elastic, 1);
        board_hash_add(&stats.barrier, 1);
        board_hash_add(&stats.min_distance, 1);
    }
    embipc_body_get_state(w, body, &s);
    embipc_world_memory(w, NULL, &peak, NULL);
    embipc_world_needs(w, &needs);
    for (int i = 0; i < embipc_world_body_count(w); i++) {
        embipc_body_view view;
        embipc_body_get_view(w, embipc_world_body(w, i), &view);
        board_hash_add(view.q, view.q ? 3 * view.node_count : 0);
        board_hash_add(view.v, view.v ? 3 * view.node_count : 0);
    }
    snprintf(board_line, sizeof board_line, "%s: hash %08lx%08lx, z = %.6f m, %d intersections", name,
             (unsigned long)(board_hash >> 32), (unsigned long)(board_hash & 0xFFFFFFFF), s.centre[2],
             embipc_world_intersections(w, NULL, 0));
    puts(board_line);
    snprintf(board_line, sizeof board_line,
             "# %s: %lu bytes of the block, %lu contacts, %.2f million instructions a step, %.2f at most", name,
             (unsigned long)peak, (unsigned long)needs.contacts, sum / steps / 1e6, most / 1e6);
    puts(board_line);
    embipc_world_destroy(w);
    return 1;
}

int main(void)
{
    int ok;
    board_begin();
    ok = board_run("affine stack", board_stacked, 50) && board_run("caged grasp", board_grasped, 60);
    snprintf(board_line, sizeof board_line, "# stack: %lu bytes", board_stack());
    puts(board_line);
    return !ok;
}
