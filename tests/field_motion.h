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
        for (int rule = TEST_STRIDE > 1 ? m % 2 : 0; rule < 2; rule += TEST_STRIDE) {
            embipc_material hard = field_material((embipc_model)m, 1e9), soft = field_material((embipc_model)m, 3e5);
            double way = field_roll_down((embipc_integrator)rule, EMBIPC_AFFINE, &hard), soft_way = way;
            if (m != EMBIPC_ORTHOGONALITY) soft_way = field_roll_down((embipc_integrator)rule, EMBIPC_CAGE, &soft);
            printf("  model %d, %s: %.3f m of 0.608 m, soft %.3f m\n", m, rule ? "BDF2" : "backward Euler", way, soft_way);
            ENSURE(way > 0.54 && way < 0.615);   /* a coarse ball: it rolls on facets */
            ENSURE(soft_way > 0.54 && soft_way < 0.615);
        }
}

/* A box of 0.1 m slides at 2 m/s with mu = 0.3, `gap` above the ground at first and falling at `fall` m/s, made before the
 * first step or, late, after ten. While it slides, friction takes mu times what the normal force gives: v_x = 2 - mu
 * (v_z - v_z(0) + g t). Returns how far it is off after `steps` steps, m/s; *way: how far it came, m. */
static double field_slide_on(embipc_kind kind, double gap, double fall, int late, int steps, double *way)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("box", kind, 0, 0, 0.05 + gap);
    embipc_body_state begin, end;
    double predicted;
    scene s = scene_empty(&wd);
    scene_ground(&s, 4, 0.3);
    for (int n = 0; n < 10 && late && scene_step(&s); n++) continue;
    d.friction = 0.3;
    d.material.young = kind == EMBIPC_AFFINE ? 1e9 : 1e7;
    d.velocity[0] = 2;
    d.velocity[2] = -fall;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    begin = end = scene_state(s.w, s.body[1]);
    for (int n = 0; n < steps && scene_step(&s); n++) end = scene_state(s.w, s.body[1]);
    predicted = 2 - 0.3 * (end.velocity[2] - begin.velocity[2] + 9.81 * 0.01 * steps);
    *way = end.centre[0] - begin.centre[0];
    ENSURE(scene_sound(s.w) && fabs(end.centre[2] - begin.centre[2]) < 0.02);
    scene_end(&s);
    return end.velocity[0] - embi_max(predicted, 0);
}

/* Field 05: the normal force of a start inside dhat is some hundred times the weight, that of an impact is not there yet at
 * the start of its step. Friction takes what the step ends with. */
static void test_friction_of_a_start(void)
{
    static const embipc_kind kinds[3] = {EMBIPC_AFFINE, EMBIPC_CAGE, EMBIPC_FULL};
    static const char *const names[3] = {"affine", "cage", "full"};
    static const double gap[4] = {20e-6, 50e-6, 100e-6, 150e-6};
    for (int k = 0; k < 3; k++) {
        double way;
        for (int i = 0; i < 8; i++) {
            double off = field_slide_on(kinds[k], gap[i % 4], 0, i / 4, 20, &way), all = field_slide_on(kinds[k], gap[i % 4], 0, i / 4, 100, &way);
            printf("  %s, %3.0f um above the ground%s: off by %.4f m/s, slides %.4f m of 0.680\n", names[k], 1e6 * gap[i % 4], i / 4 ? ", late" : "", off, way);
            ENSURE(fabs(off) < 0.03 && fabs(all) < 1e-3);
            ENSURE(way > 0.65 && way < 0.69);   /* steps of 0.01 s leave v h/2 of it */
        }
        for (int i = 1; i <= 4; i++) {
            double off = field_slide_on(kinds[k], 2e-3, i, 0, 20, &way);
            printf("  %s, falls at %d m/s: off by %.4f m/s\n", names[k], i, off);
            ENSURE(fabs(off) < 0.01);
        }
    }
}
#endif
