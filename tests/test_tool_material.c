/* `embipc defaults --material`: the table of stress against stretch, as anyone reads it, against closed forms. */
#include "../tools/system.h"
#include "../embipc.h"
#include "test.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/shapes.h"
#include "../tools/scene.h"
#include "../tools/material.c"
#include "tool_place.h"

enum { COLUMNS = 16, ROWS = 100 };
typedef struct table { char name[COLUMNS][64]; double x[ROWS][COLUMNS]; int columns, rows, code; } table;   /* nan: empty */

static void read_row(char *line, table *t)
{
    char *at = line;
    line[strcspn(line, "\n")] = 0;
    for (int k = 0; k < COLUMNS && at; k++) {
        char *comma = strchr(at, ',');
        if (comma) *comma = 0;
        if (t->rows < 0) snprintf(t->name[k], sizeof t->name[k], "%.63s", at);
        else t->x[t->rows][k] = *at ? strtod(at, NULL) : NAN;
        if (t->rows < 0) t->columns = k + 1;
        at = comma ? comma + 1 : NULL;
    }
    t->rows++;
}
static table table_of(const char *scene_path)
{
    table t;
    char line[1000];
    FILE *f = fopen(tool_place("test_material", "table.csv"), "w+b");
    memset(&t, 0, sizeof t);
    t.rows = -1;
    ENSURE(f != NULL);
    if (!f) return t;
    t.code = run_material_table(scene_path, f);
    rewind(f);
    while (t.rows < ROWS && fgets(line, sizeof line, f)) read_row(line, &t);
    fclose(f);
    return t;
}
static int column(const table *t, const char *name)
{
    for (int k = 0; k < t->columns; k++)
        if (!strcmp(t->name[k], name)) return k;
    return 0;
}

/* Nominal stress of a bar with free sides, s^2 = J/l:
 *   linear corotated E (l - 1), ARAP 2 mu (l - 1), orthogonality 4 ko l (l^2 - 1), StVK E l (l^2 - 1)/2
 *   stable neo-Hookean: (la + mu)(J - 1) - mu = -mu/l from the sides, P = mu l - mu s^2/l
 *   neo-Hookean: mu (s^2 - 1) + la ln J = 0 from the sides, P = (mu (l^2 - 1) + la ln J)/l = mu (l - s^2/l)
 * E 1e5, nu 0.4 where a model has one; in ARAP's E is 2 mu. */
static void test_closed_forms(void)
{
    table t = table_of(NULL);
    double E = 1e5, mu = E / 2.8, la = E * 0.4 / (1.4 * 0.2);
    ENSURE(t.code == 0 && t.columns == 1 + EMBIPC_MODEL_COUNT && t.rows == 73);
    ENSURE(!strcmp(t.name[0], "stretch") && t.x[0][0] == 0.2 && t.x[72][0] == 2);
    for (int i = 0; i < t.rows; i++) {
        double l = t.x[i][0], s2 = (1 + (mu - mu / l) / (la + mu)) / l, p, rest;
        ENSURE_CLOSE(t.x[i][column(&t, "corotated_Pa")], E * (l - 1), 1e-3);
        ENSURE_CLOSE(t.x[i][column(&t, "arap_Pa")], E * (l - 1), 1e-3);
        ENSURE_CLOSE(t.x[i][column(&t, "orthogonality_Pa")], E / 2 * l * (l * l - 1), 1e-3);
        p = t.x[i][column(&t, "stable_neo_hookean_Pa")];
        if (p == p) ENSURE_CLOSE(p, mu * l - mu * s2 / l, 1e-3);
        else ENSURE(l > 1.9);   /* nowhere near */
        p = t.x[i][column(&t, "neo_hookean_Pa")];
        s2 = l * (l - p / mu);   /* what the sides must be: do they bear nothing? */
        rest = mu * (s2 - 1) + la * log(l * s2);
        ENSURE_CLOSE(rest, 0, 1e-3);
        p = t.x[i][column(&t, "stvk_Pa")];
        if (p == p) ENSURE_CLOSE(p, E * l * (l * l - 1) / 2, 1e-3);
        else ENSURE(l > 1.8);   /* the sides of a bar of nu = 0.4 are gone at sqrt(3.5) */
        for (int k = 1; k < t.columns; k++) {
            if (i == MATERIAL_REST) ENSURE(t.x[i][k] == 0);
            if (i == MATERIAL_REST + 1) ENSURE_REL(t.x[i][k], E * 0.025, 0.08);   /* the same small strain */
        }
    }
}

/* of a scene: its dynamic bodies by name; and no scene */
static void test_scene(void)
{
    static const char text[] = "{ \"version\": 1, \"bodies\": [ { \"name\": \"floor\", \"kind\": \"fixed\", \"shape\": \"plane\" },\n"
        " { \"name\": \"soft\", \"kind\": \"full\", \"shape\": \"box\", \"size\": [1, 1, 1], \"position\": [0, 0, 1], "
        "\"material\": { \"model\": \"stvk\", \"young\": 2000, \"poisson\": 0.25 } } ] }\n";
    const char *path = tool_place("test_material", "scene.json");
    FILE *f = fopen(path, "wb");
    table t;
    ENSURE(f != NULL);
    if (!f) return;
    fputs(text, f);
    fclose(f);
    t = table_of(path);
    ENSURE(t.code == 0 && t.columns == 2 && !strcmp(t.name[1], "soft_Pa"));
    for (int i = 0; i < t.rows; i++) ENSURE_CLOSE(t.x[i][1], 1000 * t.x[i][0] * (t.x[i][0] * t.x[i][0] - 1), 1e-5);
    remove(path);
    t = table_of(tool_place("test_material", "none.json"));
    ENSURE(t.code == 2 && t.rows == -1);
    remove(tool_place("test_material", "table.csv"));
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(closed_forms);
    RUN(scene);
    test_unused();
    return test_end("test_tool_material");
}
