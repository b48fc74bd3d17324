/* The library with such values that small scenes do what large ones do: for tests that include this before inside.h.
 * The object that tests share is compiled with this, too (Makefile). It has the values that users have, unless a test
 * has others. */
#ifndef TEST_SMALL_H
#define TEST_SMALL_H
enum { USERS_FIT_LEAVES = 16, USERS_PATCH_LEAVES = 128 };   /* test_broad compares them */
#ifdef EMBIPC_IMPLEMENTATION
#define SMALL_VALUE(name, users, small) __attribute__((weak)) int name = (users)
#else
#define SMALL_VALUE(name, users, small) int name = (small)
#endif
SMALL_VALUE(test_share, 1, 256);   /* small loops and islands are shared among threads, and run out of order, */
SMALL_VALUE(test_fit_leaves, USERS_FIT_LEAVES, 2);         /* trees are refit where asked, in parts, */
SMALL_VALUE(test_patch_leaves, USERS_PATCH_LEAVES, 4);     /* and small surfaces have several panels */
SMALL_VALUE(test_without, 0, 0);   /* the accelerations that worlds are without now: see embipc.h */
#define EMBI_SHARE(work) ((work) / test_share + (test_share > 1))
#define EMBI_FIT_LEAVES test_fit_leaves
#define EMBI_PATCH_LEAVES test_patch_leaves
#define EMBIPC_WITHOUT test_without
/* for tests that want small loops only: surfaces are searched as users have it */
static inline void small_loops_only(void)
{
    test_fit_leaves = USERS_FIT_LEAVES;
    test_patch_leaves = USERS_PATCH_LEAVES;
}
#endif
