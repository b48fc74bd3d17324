/* Feeds damaged files to every mesh reader: `make fuzz T=600` (seconds of processor time per reader), or
 * fuzz_meshio SECONDS [READER [SEED]]. Damage piles up: what a reader accepted, and some of what it refused,
 * is damaged further. The same seed makes the same files, so what fails fails again. */
#include "../embipc.h"
#include "test.h"
#include "test_tool_mutate.h"
#include "../tools/common.h"
#include "../tools/meshio.h"
#include "../tools/meshio_parse.h"
#include "mesh_seeds.h"
#include <time.h>

enum { FUZZ_POOL = 64, FUZZ_LARGEST = 1 << 14 };

typedef struct fuzz_text { char *data; size_t size; } fuzz_text;

/* One reader: a pool of texts that begins with its seeds. Returns 0 when something did not hold. */
static int fuzz_reader(const char *name, mesh_format format, double seconds)
{
    mesh_seed seed[SEEDS];
    fuzz_text pool[FUZZ_POOL];
    int seeds = 0, n;
    long tries = 0, accepted = 0;
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    mesh_seeds(seed);
    for (int k = 0; k < SEEDS; k++)
        if (seed[k].format == format) {
            pool[seeds].data = mutate_copy(seed[k].data, seed[k].size);
            pool[seeds++].size = seed[k].size;
        }
    n = seeds;
    while (clock() < end && !test_bad)
        for (int burst = 0; burst < 200 && !test_bad; burst++, tries++) {
            const fuzz_text *from = &pool[(int)(n * test_random())];
            fuzz_text t;
            int ok;
            t.data = (test_random() < 0.5 ? mutate : mutate_values)(from->data, from->size, &t.size);
            ok = seed_try(format, t.data, t.size);
            accepted += ok;
            if ((ok || test_random() < 0.01) && t.size < FUZZ_LARGEST) {
                int at = n < FUZZ_POOL ? n : seeds + (int)((FUZZ_POOL - seeds) * test_random());
                if (at == n) n++;
                else free(pool[at].data);
                pool[at] = t;
            } else free(t.data);
        }
    printf("%-7s %ld files, %ld accepted, %s\n", name, tries, accepted,
           test_bad ? "FAILED" : "nothing found");
    fflush(stdout);
    for (int i = 0; i < n; i++) free(pool[i].data);
    return !test_bad;
}

int main(int argc, char **argv)
{
    static const char *const name[] = { "obj", "msh", "vtk", "stl", "ply", "off", "tetgen" };
    double seconds = argc > 1 ? atof(argv[1]) : 60;
    int bad = 0;
    test_unused();
    test_name = "fuzz";
    for (int k = 0; k < 7; k++) {
        if (argc > 2 && strcmp(argv[2], name[k]) != 0) continue;
        test_seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
        bad += !fuzz_reader(name[k], (mesh_format)(MESH_OBJ + k), seconds);
    }
    return bad != 0;
}
