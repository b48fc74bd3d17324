/* Ten worlds end with the bits of tests/bits.golden, with any number of threads. Where results are meant to change,
 * WRITE=1 writes that file anew. */
#include "small.h"
#include "inside.h"
#include "test.h"
#include "bits.h"

#define GOLDEN "tests/bits.golden"

static void test_bits(void)
{
    unsigned long long bits[BITS_SCENES];
    FILE *f;
    int all = 1;
    test_share = 1;   /* as users have it */
    for (int i = 0; i < BITS_SCENES; i++) {
        bits[i] = bits_of(i, NULL, NULL);
        all &= bits[i] != 0;
    }
    ENSURE(all);
    if (all && getenv("WRITE") && (f = fopen(GOLDEN, "w")) != NULL) {
        for (int i = 0; i < BITS_SCENES; i++) fprintf(f, "%-8s %016llx\n", bits_name[i], bits[i]);
        fclose(f);
    }
    f = fopen(GOLDEN, "r");
    ENSURE(f != NULL);
    for (int i = 0; f && i < BITS_SCENES; i++) {
        unsigned long long golden = 0;
        char name[16] = "";
        ENSURE(fscanf(f, "%15s %llx", name, &golden) == 2 && strcmp(name, bits_name[i]) == 0);
        if (bits[i] != golden) printf("  %s ends with %016llx, not %016llx\n", bits_name[i], bits[i], golden);
        ENSURE(bits[i] == golden);
    }
    if (f) fclose(f);
}

static void test_threads(void)
{
    static const int count[4] = {1, 2, 3, 8};
    test_share = 256;   /* threads have something to share */
    for (int i = 0; i < BITS_SCENES; i++) {
        unsigned long long alone = bits_of(i, NULL, NULL);
        for (int k = 0; k < 4; k++) {
            embipc_pool *pool = embipc_pool_create(count[k]);
            ENSURE(pool && bits_of(i, embipc_pool_for, pool) == alone);
            embipc_pool_destroy(pool);
        }
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    small_loops_only();
    RUN(bits);
    RUN(threads);
    return test_end("test_bits");
}
