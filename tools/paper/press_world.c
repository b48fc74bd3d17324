#include "press_world.h"
#include "../../embipc.h"
#include "../../tests/test.h"
#include "../../tests/scene_test.h"
#include "../../tests/press.h"
#include "looker.h"

const double press_at_travel[PRESS_POINTS] = { 0.01, 0.02, 0.04, 0.06, 0.08, 0.10, 0.12, 0.14, 0.16, 0.18, 0.20 };

press_curve press_measure(const double *x, int nodes, const int *tri, int tris, const int *tets, int tet_count, int which, int averaged)
{
    test_mesh m = test_mesh_make(nodes, tris, tet_count);
    press_curve c;
    press p;
    test_name = "the report";
    memset(&c, 0, sizeof c);
    memcpy(m.x, x, (size_t)(3 * nodes) * sizeof *x);
    memcpy(m.tri, tri, (size_t)(3 * tris) * sizeof *tri);
    memcpy(m.tets, tets, (size_t)(4 * tet_count) * sizeof *tets);
    look_begin(&c.sum, press_skip);
    c.ok = press_run(&p, &m, which, averaged);
    look_end();
    test_mesh_free(&m);
    for (int i = 0; i < PRESS_POINTS; i++) {
        c.force[i] = press_at(&p, press_travel[i]);
        c.reference[i] = press_reference[which][i];
    }
    for (int k = 0; k <= p.reached; k++) { c.d[c.points] = p.d[k]; c.all[c.points++] = p.force[k]; }
    c.nodes = nodes;
    c.tets = tet_count;
    c.steps = p.steps;
    c.solves = p.solves;
    c.cut = p.cut;
    c.inverted = p.inverted;
    return c;
}
