/* Feeds damaged robots to `embipc import`, and what it makes of them to the reader of scenes: `make fuzz T=600`
 * (seconds of processor time for each robot), or fuzz_import SECONDS [SEED]. Damage piles up, as in fuzz_meshio.c. */
#include "../embipc.h"
#include "test.h"
#include "import_seeds.h"
#include "test_tool_mutate.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/scene.h"
#include "../tools/import.h"
#include <time.h>

enum { FUZZ_POOL = 64, FUZZ_LARGEST = 1 << 13 };
typedef struct fuzz_text { char *data; size_t size; } fuzz_text;

/* Returns whether the robot is accepted; then its scene must be one. */
static int fuzz_try(const char *data, size_t size)
{
    import_options o;
    tool_text t = { NULL, 0, 0 }, notes = { NULL, 0, 0 };
    tool_error e;
    int ok;
    memset(&o, 0, sizeof o);
    o.file = "r.xml";
    o.young = 1e9;
    o.hold[0] = 1;
    e.text[0] = 0;
    ok = import_text(&o, data, size, &t, &notes, &e);
    if (ok) {
        scene s;
        int read = scene_parse(&s, "x.json", t.data, (size_t)t.length, &e);
        if (!read) printf("  %s\n%.*s\n", e.text, (int)size, data);
        ENSURE(read);
        scene_free(&s);
    } else ENSURE(strncmp(e.text, "r.xml:", 6) == 0);
    tool_text_free(&t);
    tool_text_free(&notes);
    return ok;
}

static void fuzz_robot(const char *name, const char *text, double seconds)
{
    fuzz_text pool[FUZZ_POOL];
    long tries = 0, accepted = 0;
    int n = 1;
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    pool[0].data = mutate_copy(text, strlen(text));
    pool[0].size = strlen(text);
    for (; clock() < end && !test_bad; tries++) {
        const fuzz_text *from = &pool[(int)(n * test_random())];
        fuzz_text t;
        int ok;
        t.data = mutate(from->data, from->size, &t.size);
        ok = fuzz_try(t.data, t.size);
        accepted += ok;
        if ((ok || test_random() < 0.01) && t.size < FUZZ_LARGEST) {
            int at = n < FUZZ_POOL ? n : 1 + (int)((FUZZ_POOL - 1) * test_random());
            if (at == n) n++;
            else free(pool[at].data);
            pool[at] = t;
        } else free(t.data);
    }
    printf("%-7s %ld files, %ld accepted, %s\n", name, tries, accepted, test_bad ? "FAILED" : "nothing found");
    fflush(stdout);
    for (int i = 0; i < n; i++) free(pool[i].data);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 60;
    test_unused();
    test_name = "fuzz";
    test_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    fuzz_robot("urdf", urdf_arm, seconds);
    fuzz_robot("mjcf", mjcf_arm, seconds);
    return test_bad != 0;
}
