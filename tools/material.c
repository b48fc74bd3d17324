/* Stress against stretch of materials: a bar pulled or pressed along x with free sides. */
#include "run.h"
#include "scene.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* One material under way from stretch 1 outwards: its sides are found from those of the stretch before. */
typedef struct material_bar {
    const embipc_material *material;
    double side[2];   /* stretches along y and z */
} material_bar;

/* Nominal stress P11 at the stretch l with P22 = P33 = 0, by Newton on the two sides; nan where there is none. */
static double material_pull(material_bar *b, double l)
{
    for (int k = 0; k < 50; k++) {
        double F[9] = { l, 0, 0, 0, b->side[0], 0, 0, 0, b->side[1] }, P[9], H[81], det, step[2], most;
        if (embipc_material_evaluate(b->material, F, NULL, P, H, 0) != EMBIPC_OK) return NAN;
        det = H[40] * H[80] - H[44] * H[76];   /* of d(P22, P33)/d(F22, F33) */
        step[0] = -(P[4] * H[80] - P[8] * H[44]) / det;
        step[1] = -(P[8] * H[40] - P[4] * H[76]) / det;
        most = fmax(fabs(step[0]), fabs(step[1]));
        if (!(det > 0) || !(most < 1e3)) return NAN;
        if (most < 1e-13) return P[0];
        for (int i = 0; i < 2; i++) b->side[i] += step[i] * fmin(1, 0.2 / most);
        if (!(b->side[0] > 1e-3 && b->side[1] > 1e-3)) return NAN;   /* a thread: StVK gets there */
        if (most < 1e-10 && k > 40) return P[0];
    }
    return NAN;
}

#define MATERIAL_COUNT 73       /* stretches 0.2, 0.225 ... 2 */
#define MATERIAL_REST 32        /* where it is 1 */

static double material_stretch(int i) { return 1 + 0.025 * (i - MATERIAL_REST); }

/* From rest to both ends, in steps fine enough that the next answer is near the last. */
static void material_curve(const embipc_material *m, double stress[MATERIAL_COUNT])
{
    for (int way = -1; way < 2; way += 2) {
        material_bar b = { m, { 1, 1 } };
        int lost = 0;
        stress[MATERIAL_REST] = 0;
        for (int i = MATERIAL_REST + way; i >= 0 && i < MATERIAL_COUNT; i += way) {
            stress[i] = NAN;
            for (int part = 1; part <= 5 && !lost; part++) {
                double l = material_stretch(i - way) + (material_stretch(i) - material_stretch(i - way)) * part / 5;
                stress[i] = material_pull(&b, l);
                lost = stress[i] != stress[i];   /* beyond it a bar buckles or folds: no curve */
            }
        }
    }
}

/* Columns of at most MATERIAL_MOST materials. */
#define MATERIAL_MOST 64

static void material_print(const embipc_material *m, char name[][96], int count, FILE *out)
{
    static double curve[MATERIAL_MOST][MATERIAL_COUNT];
    for (int k = 0; k < count; k++) material_curve(m + k, curve[k]);
    fprintf(out, "stretch");
    for (int k = 0; k < count; k++) fprintf(out, ",%s_Pa", name[k]);
    fprintf(out, "\n");
    for (int i = 0; i < MATERIAL_COUNT; i++) {
        fprintf(out, "%g", material_stretch(i));
        for (int k = 0; k < count; k++)
            if (curve[k][i] == curve[k][i]) fprintf(out, ",%.9g", curve[k][i]);
            else fprintf(out, ",");
        fprintf(out, "\n");
    }
}

int run_material_table(const char *scene_path, FILE *out)
{
    embipc_material m[MATERIAL_MOST];
    char name[MATERIAL_MOST][96];
    int count = 0, ok = 1;
    tool_error e;
    scene s;
    if (!scene_path)
        for (; count < EMBIPC_MODEL_COUNT; count++) {   /* the same small strain: E 1e5 Pa, nu 0.4 where it has one */
            double mu;
            m[count] = embipc_default_body_def().material;
            mu = m[count].young / (2 * (1 + m[count].poisson));
            m[count].model = (embipc_model)count;
            m[count].mooney[0] = m[count].mooney[1] = mu / 4;
            m[count].mooney[2] = m[count].young / (3 * (1 - 2 * m[count].poisson));
            m[count].stiffness = m[count].young / 8;
            snprintf(name[count], sizeof name[count], "%s", scene_models[count]);
        }
    else {
        ok = scene_read(&s, scene_path, &e);
        if (!ok) fprintf(stderr, "%s\n", e.text);
        for (int i = 0; ok && i < s.body_count && count < MATERIAL_MOST; i++)
            if (s.body[i].def.kind >= EMBIPC_AFFINE) {
                m[count] = s.body[i].def.material;
                snprintf(name[count++], sizeof name[0], "%s", s.body[i].name);
            }
        scene_free(&s);
    }
    if (ok) material_print(m, name, count, out);
    return ok ? 0 : 2;
}
