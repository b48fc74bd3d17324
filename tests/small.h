/* The library with such values that small scenes do what large ones do: for tests that include this before inside.h. */
#ifndef TEST_SMALL_H
#define TEST_SMALL_H
#define EMBI_SHARE(work) ((work) / 256 + 1)   /* small loops and islands are shared among threads, and run out of order */
__attribute__((weak)) int test_fit_triangles = 1, test_fit_leaves = 2;   /* trees are refit where asked, in parts, */
__attribute__((weak)) int test_patch_leaves = 4;                         /* and small surfaces have several panels */
__attribute__((weak)) int test_without;   /* the accelerations that worlds are without now: see embipc.h */
#define EMBI_FIT_TRIANGLES test_fit_triangles
#define EMBI_FIT_LEAVES test_fit_leaves
#define EMBI_PATCH_LEAVES test_patch_leaves
#define EMBIPC_WITHOUT test_without
/* for tests that want small loops only: surfaces are searched as users have it */
static inline void small_loops_only(void)
{
    test_fit_triangles = 1024;
    test_fit_leaves = 16;
    test_patch_leaves = 128;
}
#endif
