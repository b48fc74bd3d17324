/* The library with such a value that small loops and islands are shared among threads, and run out of order: for tests that
 * include this before inside.h. */
#ifndef TEST_SHARED_H
#define TEST_SHARED_H
#define EMBI_SHARE(work) ((work) / 256 + 1)
#endif
