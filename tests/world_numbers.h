/* Numbers from 1e-320 to 1e300 in every place where one may be given. Each is refused when it is given, with the body, the value
 * and what it may be, or the world runs: no NaN, nothing infinite, steps that end, and a failing step changes nothing. */
#ifndef WORLD_NUMBERS_H
#define WORLD_NUMBERS_H
#include "undo_test.h"

enum {
    OF_WORLD_GRAVITY, OF_WORLD_STEP, OF_WORLD_DHAT, OF_WORLD_KAPPA, OF_WORLD_FRICTION_VELOCITY, OF_WORLD_TOLERANCE, OF_VELOCITY, OF_SPIN,
    OF_DENSITY, OF_YOUNG, OF_ORTHOGONALITY, OF_MOONEY, OF_FIBRE, OF_ALPHA, OF_BETA, OF_FRICTION, OF_THICKNESS, OF_DHAT, OF_KAPPA,
    OF_FRICTION_VELOCITY, OF_TOLERANCE, OF_SCALE, OF_POSITION, OF_VERTEX, OF_TET_STIFFNESS, OF_TET_DENSITY, OF_SET_VELOCITY, OF_SET_SPIN,
    OF_SET_GRAVITY, OF_SET_STEP, OF_FORCE, OF_VERTEX_FORCE, OF_PAIR_FRICTION, OF_KEY, OF_KEY_TURN, OF_KEY_TIME, OF_CENTRE, OF_TARGET,
    OF_TARGET_TURN, OF_STIFFNESS, OF_DRIVE_DAMPING, OF_FORCE_LIMIT, OF_SOFT_KEY, OF_COUNT
};

typedef struct number_case { int of; double value; embipc_kind kind; } number_case;

static void number_of_world(const number_case *c, embipc_world_def *wd)
{
    switch (c->of) {
    case OF_WORLD_GRAVITY: wd->gravity[0] = c->value; break;
    case OF_WORLD_STEP: wd->time_step = c->value; break;
    case OF_WORLD_DHAT: wd->dhat = c->value; break;
    case OF_WORLD_KAPPA: wd->kappa = c->value; break;
    case OF_WORLD_FRICTION_VELOCITY: wd->friction_velocity = c->value; break;
    case OF_WORLD_TOLERANCE: wd->tolerance = c->value; break;
    default: break;
    }
}
static void number_of_body(const number_case *c, embipc_body_def *d, test_mesh *m, double *factor)
{
    switch (c->of) {
    case OF_VELOCITY: d->velocity[0] = c->value; break;
    case OF_SPIN: d->angular_velocity[2] = c->value; break;
    case OF_DENSITY: d->material.density = c->value; break;
    case OF_YOUNG: d->material.young = c->value; break;
    case OF_ORTHOGONALITY:
        if (c->kind == EMBIPC_AFFINE) d->material.model = EMBIPC_ORTHOGONALITY;
        d->material.stiffness = c->value;
        break;
    case OF_MOONEY:
        d->material.model = EMBIPC_MOONEY_RIVLIN;
        d->material.mooney[0] = d->material.mooney[1] = c->value;
        d->material.mooney[2] = 10 * c->value;
        break;
    case OF_FIBRE: d->material.fibre[0] = 1; d->material.fibre_stiffness = c->value; break;
    case OF_ALPHA: d->material.damping[0] = c->value; break;
    case OF_BETA: d->material.damping[1] = c->value; break;
    case OF_FRICTION: d->friction = c->value; break;
    case OF_THICKNESS: d->thickness = c->value; break;
    case OF_DHAT: d->dhat = c->value; break;
    case OF_KAPPA: d->kappa = c->value; break;
    case OF_FRICTION_VELOCITY: d->friction_velocity = c->value; break;
    case OF_TOLERANCE: d->tolerance = c->value; break;
    case OF_SCALE: d->scale = c->value; d->position[2] = c->value > 1 ? 0.2 + c->value : 0.3; break;
    case OF_POSITION: d->position[0] = c->value; break;
    case OF_VERTEX: m->x[0] = -c->value; break;
    case OF_TET_STIFFNESS: case OF_TET_DENSITY:
        for (int i = 0; i < 6; i++) factor[i] = i ? 1 : c->value;
        if (c->kind == EMBIPC_FULL && c->of == OF_TET_STIFFNESS) d->tet_stiffness = factor;
        if (c->kind == EMBIPC_FULL && c->of == OF_TET_DENSITY) d->tet_density = factor;
        break;
    default: break;
    }
}
static embipc_result number_of_call(const number_case *c, scene *s)
{
    const double none[3] = {0, 0, 0}, one[3] = {c->value, 0, 0};
    double keys[14] = {0, 0, 0, 0, 0, 0, 0, 0.05, 0, 0, -0.001, 0, 0, 0.1};
    embipc_drive_def d = embipc_default_drive_def();
    embipc_result r;
    switch (c->of) {
    case OF_SET_VELOCITY: return embipc_body_set_velocity(s->w, s->body[2], one, none);
    case OF_SET_SPIN: return embipc_body_set_velocity(s->w, s->body[2], none, one);
    case OF_SET_GRAVITY: return embipc_world_set_gravity(s->w, one);
    case OF_SET_STEP: return embipc_world_set_time_step(s->w, c->value);
    case OF_FORCE: return embipc_body_apply_force(s->w, s->body[2], -1, one);
    case OF_VERTEX_FORCE: return embipc_body_apply_force(s->w, s->body[2], 0, one);
    case OF_PAIR_FRICTION: return embipc_world_set_pair(s->w, s->body[1], s->body[2], c->value, 1);
    default: break;
    }
    if (c->of < OF_KEY) return EMBIPC_OK;
    d.body = s->body[2];
    d.keys = keys;
    d.key_count = c->of == OF_TARGET || c->of == OF_TARGET_TURN ? 0 : 2;
    d.centre[2] = 0.15;
    if (c->of >= OF_STIFFNESS) d.stiffness[0] = 100;
    if (c->of == OF_KEY || c->of == OF_SOFT_KEY) keys[8] = c->value;
    if (c->of == OF_KEY_TURN) keys[13] = c->value;
    if (c->of == OF_KEY_TIME) keys[7] = c->value;
    if (c->of == OF_CENTRE) d.centre[0] = c->value;
    if (c->of == OF_STIFFNESS) d.stiffness[0] = c->value;
    if (c->of == OF_DRIVE_DAMPING) d.damping = c->value;
    if (c->of == OF_FORCE_LIMIT) d.force_limit = c->value;
    r = embipc_drive_create(s->w, &d, &s->drive[0]);
    s->drives = r == EMBIPC_OK;
    if (r == EMBIPC_OK && c->of == OF_TARGET) r = embipc_drive_set_target(s->w, s->drive[0], one, none);
    if (r == EMBIPC_OK && c->of == OF_TARGET_TURN) r = embipc_drive_set_target(s->w, s->drive[0], none, one);
    return r;
}

/* a ground and two boxes, one above the other */
static embipc_result number_bodies(const number_case *c, scene *s)
{
    double factor[6];
    embipc_result r = EMBIPC_OK;
    for (int k = 0; k < 3 && r == EMBIPC_OK; k++) {
        embipc_body_def d = scene_def(k ? "box" : "ground", k ? c->kind : EMBIPC_FIXED, 0, 0, k ? 0.1004 * k - 0.0502 : -0.5);
        double half = k ? 0.05 : 0.5;
        test_mesh m = k && c->kind == EMBIPC_FULL ? scene_mesh_tet_box(1, 1, 1, 2 * half, 2 * half, 2 * half)
                                                  : test_mesh_box(-half, -half, -half, half, half, half);
        test_mesh_shape(&m, &d);
        d.friction = 0.5;
        d.cage_nodes = 8;
        if (k == 2) number_of_body(c, &d, &m, factor);
        r = embipc_body_create(s->w, &d, &s->body[k]);
        if (r == EMBIPC_OK) s->n++;
        test_mesh_free(&m);
    }
    return r;
}

/* What came of one: 0 refused, 1 it ran, 2 a step failed. */
static int number_try(const number_case *c)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_error e;
    embipc_result r;
    scene s;
    int came = 1;
    char value[40];
    memset(&s, 0, sizeof s);
    number_of_world(c, &wd);
    r = embipc_world_create(&wd, &s.w, &e);
    if (r == EMBIPC_OK) {
        r = number_bodies(c, &s);
        if (r == EMBIPC_OK) r = number_of_call(c, &s);
        e = *embipc_world_error(s.w);
    }
    snprintf(value, sizeof value, "%g", c->value);
    if (r != EMBIPC_OK) {
        const char *named = c->of == OF_DHAT || c->of == OF_WORLD_DHAT ? "dhat" : c->of == OF_DENSITY ? "mass" : "";
        int told = strlen(e.text) > 20 && strstr(e.text, named) && (s.w == NULL || strstr(e.text, "box") || strstr(e.text, "time_step"));
        if (!told) printf("  number %d of 1e%g: %s\n", c->of, log10(c->value), e.text);
        ENSURE(told && r != EMBIPC_ERR_MEMORY);
        came = 0;
    }
    for (int n = 0; n < 3 && came == 1; n++) {
        unsigned long long bits = undo_bits(&s);
        r = embipc_world_step(s.w, &s.stats);
        if (r != EMBIPC_OK) {
            ENSURE(r == EMBIPC_ERR_NOT_FINITE && undo_bits(&s) == bits && strstr(embipc_world_error(s.w)->text, "box"));
            came = 2;
            break;
        }
        undo_numbers(&s);
        ENSURE(isfinite(s.stats.kinetic + s.stats.elastic + s.stats.barrier + s.stats.potential + s.stats.objective_before +
                        s.stats.objective_after + s.stats.objective_rounding + s.stats.max_speed + s.stats.drive_work));
        ENSURE(embipc_world_intersections(s.w, NULL, 0) == 0);
        if (test_bad) break;
    }
    if (test_bad) printf("  number %d, 1e%g, kind %d\n", c->of, log10(c->value), (int)c->kind);
    if (s.w) scene_end(&s);
    return came;
}

static void test_every_number(void)
{
    static const int decade[10] = {-320, -100, -40, -9, 9, 15, 25, 50, 150, 300};
    int came[3] = {0, 0, 0};
    for (int of = 0; of < OF_COUNT && test_bad < 20; of++)
        for (int k = 0; k < 10; k++)
            for (int kind = EMBIPC_AFFINE; kind <= EMBIPC_FULL; kind++) {
                number_case c;
                if ((of + k + kind) % TEST_SKIP) continue;
                c.of = of;
                c.value = pow(10, decade[k]);
                c.kind = (embipc_kind)kind;
                if (c.of == OF_WORLD_DHAT && decade[k] == 9) continue;   /* everything touches everything: it takes long */
                came[number_try(&c)]++;
            }
    printf("  %d numbers refused, %d runs, %d of them with a step that fails\n", came[0], came[1] + came[2], came[2]);
    ENSURE(came[0] > 500 / TEST_SKIP && came[1] > 400 / TEST_SKIP);
}

/* The limit is told and holds: what it says is taken, and a little more is refused. */
static void test_limits_are_told(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("stone", EMBIPC_AFFINE, 0, 0, 5);
    scene s = scene_empty(&wd);
    const double none[3] = {0, 0, 0};
    double size = 0.1 * sqrt(3.0), v[3] = {0, 0, 0};
    const embipc_error *e = embipc_world_error(s.w);
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    v[1] = 0.999e9 * size / 0.01;
    (void)ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[0], v, none));
    v[1] = 1.001e9 * size / 0.01;
    ENSURE(embipc_body_set_velocity(s.w, s.body[0], v, none) == EMBIPC_ERR_ARGUMENT);
    ENSURE_REL(e->value[0], v[1], 1e-12);
    ENSURE(strstr(e->text, "stone") && strstr(e->text, "velocity is 1.73378e+10 m/s") && strstr(e->text, "limit is 1.73205e+08 m"));
    ENSURE(e->body[0].index1 == s.body[0].index1);
    ENSURE(embipc_world_set_time_step(s.w, 0.02) == EMBIPC_ERR_ARGUMENT && strstr(e->text, "stone"));   /* so fast a body is there */
    (void)ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[0], none, none));
    (void)ENSURE_OK(s.w, embipc_world_set_time_step(s.w, 0.02));
    v[1] = 1e13;
    ENSURE(embipc_world_set_gravity(s.w, v) == EMBIPC_ERR_ARGUMENT && strstr(e->text, "gravity is 1e+13 m/s^2"));
    ENSURE(embipc_body_apply_force(s.w, s.body[0], -1, v) == EMBIPC_ERR_ARGUMENT || v[1] < 1e13);
    scene_step(&s);
    ENSURE(scene_state(s.w, s.body[0]).centre[2] < 5);
    scene_end(&s);
}

/* A body that flies on and on comes to where its numbers end. Then steps say so, whatever is there besides, until it is gone. */
static void test_lost_body(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("lost", EMBIPC_CAGE, 0, 0, 3);
    double size = 0.1 * sqrt(3.0), v[3] = {0, 0, 0};
    const double none[3] = {0, 0, 0};
    int failed = 0;
    unsigned long long bits;
    scene_ground(&s, 1, 0.5);
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    d = scene_def("other", EMBIPC_AFFINE, 0, 0, 0.0505);
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    v[0] = 0.9e9 * size / 0.01;
    (void)ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[1], v, none));
    for (int n = 0; n < 1200 && !failed; n++) {
        embipc_result r;
        bits = undo_bits(&s);
        r = embipc_world_step(s.w, &s.stats);
        failed = r != EMBIPC_OK;
        if (!failed) {
            undo_numbers(&s);
            continue;
        }
        ENSURE(r == EMBIPC_ERR_NOT_FINITE && n > 1000 && undo_bits(&s) == bits);
        ENSURE(strstr(embipc_world_error(s.w)->text, "lost") && embipc_world_error(s.w)->body[0].index1 == s.body[1].index1);
        ENSURE(embipc_world_step(s.w, &s.stats) == EMBIPC_ERR_NOT_FINITE && undo_bits(&s) == bits);
    }
    ENSURE(failed);
    (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[1]));
    scene_step(&s);
    scene_end(&s);
}

static void world_numbers(void)
{
    RUN(every_number);
    RUN(limits_are_told);
    RUN(lost_body);
}
#endif
