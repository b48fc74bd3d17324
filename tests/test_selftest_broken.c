/* embipc_selftest() with formulas that are wrong: it fails, and names the formula. The header here is that of the
 * project with the changes of selftest_breaks.sed, which make writes. */
static int broken;   /* the formula that is wrong now, 0: none */
#define BROKEN(k) (broken != (k) ? 1.0 : (k) < 3 ? 1.01 : 1.3)   /* a wrong barrier, and steps take long */
#define EMBIPC_IMPLEMENTATION
#define EMBIPC_SELFTEST
#include "selftest_broken.h"
#include "test.h"

static const char *wanted;
static int named, lines;

static void look(int passed, const char *text, void *ctx)
{
    (void)ctx;
    lines++;
    if (!passed && wanted && strstr(text, wanted)) named++;
}

/* Each is named by the check of its own, whatever else then fails, too. */
static void test_each_is_named(void)
{
    static const char *const name[] = {
        NULL, "eq. 7: barrier b(d)", "eq. 7: b'(d)", "eq. 7: b''(d)", "eq. 9: f1 = f0'", "eq. 9: f1'",
        "eq. 15: corotated", "eqs. 13, 14", "distance of point and triangle", "its gradient, edges",
        "its Hessian, point and triangle", "CCD of point", "exact signs", "eqs. 2-4", "eq. 1: mass", "eq. 16", "eq. 17",
        "eq. 8: friction slips",
        "eqs. 10, 11", "Newton: dense", "Newton: sparse"};
    for (broken = 0; broken < (int)(sizeof name / sizeof *name); broken++) {
        int failed;
        wanted = name[broken];
        named = lines = 0;
        failed = embipc_selftest(NULL, look, NULL);
        ENSURE(lines > 30);
        ENSURE(broken ? failed >= 1 && named == 1 : failed == 0);
        if (broken && named != 1) printf("  formula %d is not named: %s\n", broken, wanted);
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    test_unused();
    RUN(each_is_named);
    return test_end("test_selftest_broken");
}
