/* embipc_selftest() on this machine: all passes, report and count agree, memory comes from the allocator alone, and a
 * machine that rounds otherwise, or has no memory, is named. test_selftest_broken.c has wrong formulas. */
#define _POSIX_C_SOURCE 200809L   /* popen */
#define EMBIPC_SELFTEST
#include "../embipc.h"
#include "test.h"
#include "tool_command.h"
#include <fenv.h>

static struct { int passed, failed; const char *wanted; int named; } told;

static void look(int passed, const char *text, void *ctx)
{
    ENSURE(ctx == &told);
    ENSURE(strncmp(text, passed ? "PASS  " : "FAIL  ", 6) == 0);
    if (passed) told.passed++;
    else told.failed++;
    if (!passed && told.wanted && strstr(text, told.wanted)) told.named++;
}
static int run(const embipc_allocator *a, const char *wanted)
{
    int failed;
    memset(&told, 0, sizeof told);
    told.wanted = wanted;
    failed = embipc_selftest(a, look, &told);
    ENSURE(failed == told.failed);
    return failed;
}

static void test_passes(void)
{
    ENSURE(run(NULL, NULL) == 0 && told.passed > 30);
    ENSURE(embipc_selftest(NULL, NULL, NULL) == 0);
}

/* Each mode of rounding but the one to the nearest breaks the error bounds, and so the guarantee. */
static void test_rounding(void)
{
    static const int mode[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 3; i++) {
        if (fesetround(mode[i]) != 0) SKIP("this machine has one mode of rounding");
        run(NULL, "machine: sums round to the nearest");
        fesetround(FE_TONEAREST);
        ENSURE(told.named == 1);
    }
    ENSURE(run(NULL, NULL) == 0);
}

static struct { size_t now, peak; long count, fails; } memory;

static void *take(size_t size, void *ctx)
{
    ENSURE(ctx == &memory);
    if (++memory.count == memory.fails) return NULL;
    memory.now += size;
    if (memory.now > memory.peak) memory.peak = memory.now;
    return malloc(size);
}
static void give(void *p, size_t size, void *ctx)
{
    ENSURE(ctx == &memory);
    memory.now -= size;
    free(p);
}

/* All memory is given back, also where an allocation fails, which is told as a failure. */
static void test_memory(void)
{
    embipc_allocator a;
    long count;
    a.alloc = take;
    a.free = give;
    a.ctx = &memory;
    memset(&memory, 0, sizeof memory);
    ENSURE(run(&a, NULL) == 0 && memory.now == 0 && memory.count > 0);
    ENSURE(memory.peak < 200000);   /* the header tells 136 kB */
    count = memory.count;
    for (long k = 1; k <= count; k += 7) {
        memset(&memory, 0, sizeof memory);
        memory.fails = k;
        ENSURE(run(&a, NULL) > 0);
        ENSURE(memory.now == 0);
    }
}

/* The tool prints each line, and the count. */
static void test_tool(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(command("@ selftest") == 0);
    ENSURE(command_says("PASS  eq. 7: barrier b(d)") && command_says(" checks passed, 0 failed"));
    ENSURE(!strstr(command_said, "FAIL"));
    ENSURE(command("@ selftest twice") == 2);
}

int main(int argc, char **argv)
{
    command_begin(argv[0]);
    test_begin(argc, argv);
    test_unused();
    (void)command_place;
    (void)command_put;
    RUN(passes);
    RUN(rounding);
    RUN(memory);
    RUN(tool);
    return test_end("test_selftest");
}
