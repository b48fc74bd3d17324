/* The library with such values that small scenes do what large ones do: for tests that include this before inside.h. */
#ifndef TEST_SMALL_H
#define TEST_SMALL_H
#define EMBI_FIT_TRIANGLES 1   /* trees of small surfaces are refit where asked, in blocks of two leaves */
#define EMBI_FIT_LEAVES 2
#define EMBI_PATCH_LEAVES 4    /* and small surfaces have several panels */
#endif
