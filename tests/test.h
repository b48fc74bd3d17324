/* The whole test framework. A test is a `static void test_x(void)`; main() lists them with RUN(x) and
 * returns test_end(). A name given on the command line runs only tests whose name contains it.
 * Checks keep going after a failure; a test counts as failed once. SKIP(why) ends a test as skipped. */
#ifndef TEST_H
#define TEST_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Loops over like cases go by TEST_STRIDE, those over thousands by TEST_SKIP: all of them, or under sanitizers, which are
 * slow, some (TEST_EVERY: all). */
#if defined __SANITIZE_ADDRESS__ && !defined TEST_EVERY
enum { TEST_STRIDE = 4, TEST_SKIP = 13 };
#else
enum { TEST_STRIDE = 1, TEST_SKIP = 1 };
#endif

static int test_passed, test_failed, test_skipped, test_bad, test_skip;
static const char *test_name, *test_filter;
static unsigned long long test_seed = 1;

/* uniform in [0, 1): splitmix64, the same on every machine */
static double test_random(void)
{
    unsigned long long z = (test_seed += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (double)((z ^ (z >> 31)) >> 11) * (1.0 / 9007199254740992.0);
}
static double test_uniform(double lo, double hi) { return lo + (hi - lo) * test_random(); }

static void test_fail(const char *file, int line)
{
    if (test_bad++ < 8) printf("  %s:%d: in %s (seed %llu): ", file, line, test_name, test_seed);
}
#define ENSURE(c) \
    do { if (!(c)) { test_fail(__FILE__, __LINE__); if (test_bad <= 8) printf("not true: %s\n", #c); } } while (0)
/* |a - b| <= tol, and neither is nan */
#define ENSURE_CLOSE(a, b, tol) \
    do { double a_ = (a), b_ = (b), t_ = (tol); \
        if (!(fabs(a_ - b_) <= t_)) { test_fail(__FILE__, __LINE__); \
            if (test_bad <= 8) printf("%s = %.17g, %s = %.17g, differ by %.3g > %.3g\n", #a, a_, #b, b_, a_ - b_, t_); } } while (0)
#define ENSURE_REL(a, b, rel) ENSURE_CLOSE(a, b, (rel) * fabs(b))
#define SKIP(why) do { printf("  skipped %s: %s\n", test_name, why); test_skip = 1; return; } while (0)
#define RUN(name) test_run(#name, test_##name)

/* Runs one test, and says how long it took where that is long. */
static void test_run(const char *name, void (*fn)(void))
{
    clock_t start = clock();
    double seconds;
    if (test_filter && !strstr(name, test_filter)) return;
    test_name = name;
    test_bad = test_skip = 0;
    test_seed = 12345;
    fn();
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (seconds > 5) printf("  %s took %.0f s of processor time\n", name, seconds);
    if (test_bad) { test_failed++; printf("FAILED %s (%d checks)\n", name, test_bad); }
    else if (test_skip) test_skipped++;
    else test_passed++;
    fflush(stdout);
}
static void test_begin(int argc, char **argv) { test_filter = argc > 1 ? argv[1] : NULL; }
static int test_end(const char *file)
{
    printf("%s: %d passed, %d failed, %d skipped\n", file, test_passed, test_failed, test_skipped);
    return test_failed != 0;
}
/* DIR/name for the mesh data given by `make DATA=DIR`, or NULL without it */
static const char *test_data(const char *name)
{
    static char path[1024];
    const char *dir = getenv("DATA");
    if (!dir || !*dir) return NULL;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}
/* keeps gcc quiet where a test file does not use them all */
static void test_unused(void) { (void)test_uniform; (void)test_data; (void)test_unused; (void)test_run; (void)test_begin; (void)test_end; (void)test_fail; }
#endif
