/* A small header in the style of embipc.h, with one fault of each kind that tools/header.py looks for: see header.sh.
 *
 * CONTENTS  (`make toc` compares it with the banners; grep -n '==== ' embipc.h lists those)
 *   Public: Configuration.
 *   Implementation: 1 One; 2 Two; 4 Four.
 *
 * EQUATIONS  of [EIPC24]
 *   1-8     embi_one()
 *   10-17   embi_nowhere()
 *   Newton  no function
 */

/* ---- Configuration -------- */
EMBIPC_API int embipc_world_step(int n);

#ifdef EMBIPC_IMPLEMENTATION
/* ==== 1. One =====
 * Uses: two.   Checked by: tests/none.c */
static int embi_counter;
static const char *embi_text = "{ not a brace /* nor a comment";
static int embi_late(int n);
typedef void embi_each_fn(int n);

/* flags: holds, by_caller, by_call; no flags: count, address, value */
struct embi_body {
    int holds, by_caller, by_call, count, address, value, *pointer;
    void (*callback)(int a, int b);
    struct { int a, b; } inner;
};
struct embi_large {
    int a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22;
    int b01, b02, b03, b04, b05, b06, b07, b08, b09, b10, b11, b12, b13, b14, b15, b16, b17, b18, b19, *b20;
};

static int embi_one(int n) { return n > 0 ? embi_one(n - 1) : embi_late(n); }

static int embi_unexplained(int n)
{
    static int calls;
    char place[n];
    calls++;
    place[0] = (char)n;
    return place[0];
}

/* ==== 2. Two =====
 * Uses: all of the above.   Checked by: tests/header.sh */
static int embi_is_two(int n, int two) { return n == two; }
static void embi_callback(int n) { (void)n; }
static void embi_run(int n, embi_each_fn *fn) { fn(n); }
static void embi_set(struct embi_body *b, int on) { b->by_caller = on; }
static int embi_late(int n)
{
    struct embi_body body, *b = &body;
    b->holds = n > 3 && n < 8;
    embi_set(b, 1);
    embi_set(b, n == 2);
    b->by_call = embi_is_two(n, 2);
    b->count = 1;
    b->count++;
    b->value = n;
    b->address = 0;
    embi_fill(&b->address);
    embi_run(n, embi_callback);
    return b->holds;
}

/* ==== 3. Three =====
 * Uses: platform.   Checked by: tests/header.sh */
static int embi_three(int n) { return embi_unexplained(n); }
EMBIPC_API int embipc_world_step(int n) { return embi_one(n) + embi_three(n); }
#endif
