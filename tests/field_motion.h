/* Motion from the field. Included by test_field.c. */
#ifndef FIELD_MOTION_H
#define FIELD_MOTION_H
#include "scene_test.h"

/* of these moduli for small strain where a model has both, of about this stiffness where it has not */
static embipc_material field_material(embipc_model model, double young)
{
    embipc_material m = embipc_default_body_def().material;
    m.model = model;
    m.young = young;
    m.stiffness = young / 8;
    m.mooney[0] = m.mooney[1] = young / (2 * (1 + m.poisson)) / 4;   /* mu = 2 (C1 + C2) */
    m.mooney[2] = young / (3 * (1 - 2 * m.poisson));
    return m;
}

/* How far a ball of 0.05 m rolls down 10 degrees within a second, m */
static double field_roll_down(embipc_integrator rule, embipc_kind kind, const embipc_material *material)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("ball", kind, 0, 0, 0.0503);
    embipc_body_state begin, end;
    scene s;
    wd.time_step = 0.005;
    wd.integrator = rule;
    wd.gravity[0] = 9.81 * 0.17364817766693036;   /* sine and cosine of 10 degrees */
    wd.gravity[2] = -9.81 * 0.98480775301220802;
    s = scene_empty(&wd);
    scene_ground(&s, 4, 0.5);
    d.friction = 0.5;
    d.material = *material;
    d.cage_nodes = 34;
    scene_ball(&s, d, 0.05, 3, 0);
    begin = end = scene_state(s.w, s.body[1]);
    for (int n = 0; n < 200 && scene_step(&s); n++) end = scene_state(s.w, s.body[1]);
    ENSURE(scene_sound(s.w));
    scene_end(&s);
    return end.centre[0] - begin.centre[0];
}

/* No material resists a rotation, however stiff or soft the body is: a ball of each rolls. A solid one comes 5/14 g sin t^2 =
 * 0.608 m far, and one whose material held on to the pose at the start of each step stays within millimetres. */
static void test_every_material_rolls(void)
{
    for (int m = 0; m < EMBIPC_MODEL_COUNT; m++)
        for (int rule = 0; rule < 2; rule++) {
            embipc_material hard = field_material((embipc_model)m, 1e9), soft = field_material((embipc_model)m, 1e5);
            double way = field_roll_down((embipc_integrator)rule, EMBIPC_AFFINE, &hard), soft_way = way;
            if (m != EMBIPC_ORTHOGONALITY) soft_way = field_roll_down((embipc_integrator)rule, EMBIPC_CAGE, &soft);
            printf("  model %d, %s: %.3f m of 0.608 m, soft %.3f m\n", m, rule ? "BDF2" : "backward Euler", way, soft_way);
            ENSURE(way > 0.4 && way < 0.63);
            ENSURE(soft_way > 0.4 && soft_way < 0.63);
        }
}
#endif
