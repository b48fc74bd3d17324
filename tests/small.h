/* The library with such values that small scenes do what large ones do: for tests that include this before inside.h. */
#ifndef TEST_SMALL_H
#define TEST_SMALL_H
#define EMBI_FIT_TRIANGLES 1   /* trees of small surfaces are refit where asked, in blocks of two leaves */
#define EMBI_FIT_LEAVES 2
#define EMBI_PATCH_LEAVES 4    /* small surfaces have several panels */
#define EMBI_SHARE(work) ((work) / 256 + 1)   /* small loops and islands are shared among threads, and run out of order */
__attribute__((weak)) int test_without;       /* the accelerations that worlds are without now: see embipc.h */
#define EMBIPC_WITHOUT test_without
#endif
