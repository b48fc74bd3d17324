#include "run.h"
#include "scene.h"
#include "scene_keys.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The rules of the header in words and this body's numbers. Values are the library's; where the scene gave
 * one, that is the reason. */
static void defaults_line(const char *what, double value, const char *unit, int derived, const char *reason)
{
    printf("  %-19s %-12.6g %-8s %s\n", what, value, unit, derived ? reason : "given by the scene");
}

/* Which of its limits made dhat what it is. */
static void defaults_dhat(const embipc_body_parameters *p)
{
    double D = 1e-3 * p->diagonal, thick = p->mean_thickness / 10, edge = p->mean_edge / 2;
    char reason[256];
    if (thick > 0 && thick < D && thick < edge)
        snprintf(reason, sizeof reason, "a tenth of the mean thickness 2 V/A = %.6g m, which is less than 1e-3 D = %.6g m",
                 p->mean_thickness, D);
    else if (edge < D)
        snprintf(reason, sizeof reason, "half the mean edge, %.6g m, which is less than 1e-3 D = %.6g m", p->mean_edge, D);
    else
        snprintf(reason, sizeof reason, "1e-3 of the diagonal of the bounding box, D = %.6g m", p->diagonal);
    defaults_line("dhat", p->dhat, "m", p->derived_dhat, reason);
}

/* What kappa bears: the load, and if it is higher than that asks for, how much of the pressure E, or of a fall. */
static void defaults_kappa(const scene *s, const embipc_body_parameters *p, double mass, int affine)
{
    double stop = mass * p->diagonal / s->world.time_step;   /* m D/(1 s) in one step */
    double load = embipc_barrier_gap(p->load / 3, p->kappa, p->dhat) / p->dhat;
    double press = embipc_barrier_gap(p->pressure_load, p->kappa, p->dhat) / p->dhat;
    char reason[320];
    if (load < 0.3001)
        snprintf(reason, sizeof reason, "three pairs that bear %.4g N keep 0.3 dhat: the weight, and %.4g N to stop "
                 "m D/(1 s) in one step", p->load, stop);
    else
        snprintf(reason, sizeof reason, "%s, %.4g N %s, leaves %.2g dhat%s; the weight and "
                 "m D/(1 s) stopped in one step, %.4g N on three pairs, %.2g dhat",
                 affine ? "a fall by ten diagonals stopped in one step" : "a pressure of E", p->pressure_load,
                 affine ? "on each of three pairs" : "a vertex", press,
                 press < 0.2999 ? ", limited so that the body rests at 0.9" : "", p->load, load);
    defaults_line("kappa", p->kappa, "kg/s^2", p->derived_kappa, reason);
}

/* The rule of a derived tolerance, by embipc_accuracy. */
static const char *const defaults_tolerance[] = { "0.1 friction_velocity", "friction_velocity", "0.01 friction_velocity" };

static void defaults_contact(const scene *s, const embipc_body_parameters *p, const embipc_body_state *b, int affine)
{
    defaults_dhat(p);
    defaults_line("friction_velocity", p->friction_velocity, "m/s", p->derived_friction_velocity, "1e-3 D per second");
    defaults_kappa(s, p, b->mass, affine);
    defaults_line("tolerance", p->tolerance, "m/s", p->derived_tolerance, defaults_tolerance[s->world.accuracy]);
}

static const char *defaults_on(int value) { return value ? "on" : "off"; }

/* What has a fixed default instead of a rule. */
static void defaults_material(const embipc_body_def *d)
{
    const embipc_material *m = &d->material;
    embipc_body_def standard = embipc_default_body_def();
    const embipc_material *n = &standard.material;
    int averaged = m->averaged < 0 ? d->kind == EMBIPC_CAGE && d->cage_x : m->averaged;
    int always = m->model == EMBIPC_NEO_HOOKEAN;
    int bound = always || (m->determinant_bound < 0 ? d->kind == EMBIPC_AFFINE : m->determinant_bound);
    printf("  %-19s %-12s %-8s %s\n", "model", scene_models[m->model], "",
           m->model == EMBIPC_COROTATED ? "default" : "given by the scene");
    if (m->model == EMBIPC_MOONEY_RIVLIN)
        printf("  %-19s [%g, %g, %g] Pa: C1, C2, K\n", "mooney", m->mooney[0], m->mooney[1], m->mooney[2]);
    else if (m->model == EMBIPC_ORTHOGONALITY)
        defaults_line("stiffness", m->stiffness, "Pa", m->stiffness == n->stiffness, "default");
    else {
        defaults_line("young", m->young, "Pa", m->young == n->young, "default");
        if (m->model == EMBIPC_ARAP)
            printf("  %-19s %-12g %-8s %s\n", "poisson", 0.0, "", "by the model");
        else defaults_line("poisson", m->poisson, "", m->poisson == n->poisson, "default");
    }
    if (m->model != EMBIPC_ORTHOGONALITY && m->model != EMBIPC_ARAP)
        printf("  %-19s %-12s %-8s %s\n", "averaged", defaults_on(averaged), "",
               m->averaged >= 0 ? "given by the scene" : "default: on for cages of tets, against locking");
    if (m->fibre_stiffness > 0)
        printf("  %-19s %-12.6g %-8s along [%g, %g, %g] of the mesh, given by the scene\n", "fibre_stiffness",
               m->fibre_stiffness, "Pa", m->fibre[0], m->fibre[1], m->fibre[2]);
    defaults_line("density", m->density, "kg/m^3", m->density == n->density, "default");
    printf("  %-19s [%g, %g] 1/s, s  %s\n", "damping", m->damping[0], m->damping[1],
           m->damping[0] == 0 && m->damping[1] == 0 ? "default: none" : "given by the scene");
    printf("  %-19s %-12s %-8s %s\n", "determinant bound", defaults_on(bound), "",
           always                      ? "by the model: its logarithm ends where a tet is flat"
           : m->determinant_bound >= 0 ? "given by the scene"
                                       : "default: on for affine bodies, in the place of their self-contact");
    if (d->kind != EMBIPC_AFFINE)
        printf("  %-19s %-12s %-8s %s\n", "self-contact", defaults_on(d->self_contact), "", "default");
}

/* how it moves at the start, where the scene says so */
static void defaults_motion(const embipc_body_def *d)
{
    const double *v = d->velocity, *w = d->angular_velocity;
    if (v[0] != 0 || v[1] != 0 || v[2] != 0)
        printf("  %-19s [%g, %g, %g] m/s, given by the scene\n", "velocity", v[0], v[1], v[2]);
    if (w[0] != 0 || w[1] != 0 || w[2] != 0)
        printf("  %-19s [%g, %g, %g] rad/s about its centre of mass, given by the scene\n", "angular_velocity", w[0], w[1],
               w[2]);
}

static int defaults_is_dynamic(const scene_body *b) { return b->def.kind >= EMBIPC_AFFINE; }

static void defaults_body(const scene *s, const embipc_world *world, const scene_body *b)
{
    embipc_body_parameters p;
    embipc_body_state state;
    if (embipc_body_get_parameters(world, b->handle, &p) != EMBIPC_OK) return;
    if (embipc_body_get_state(world, b->handle, &state) != EMBIPC_OK) return;
    printf("body \"%s\": %s, %s, %d unknowns", b->name, scene_kinds[b->def.kind], b->source, p.unknowns);
    if (defaults_is_dynamic(b)) printf(", mass %.6g kg", state.mass);
    printf("\n");
    if (defaults_is_dynamic(b)) {
        defaults_contact(s, &p, &state, b->def.kind == EMBIPC_AFFINE);
        defaults_material(&b->def);
        defaults_motion(&b->def);
    } else printf("  brings no contact parameters of its own into its pairs: the other body's hold\n");
    defaults_line("friction", p.friction, "", p.friction == 0, "default: none");
    if (p.static_friction > p.friction) defaults_line("static_friction", p.static_friction, "", 0, "");
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

static const scene_pair *defaults_rule(const scene *s, int a, int b)
{
    for (int i = 0; i < s->pair_count; i++)
        if ((s->pair[i].a == a && s->pair[i].b == b) || (s->pair[i].a == b && s->pair[i].b == a))
            return &s->pair[i];
    return NULL;
}

/* The weight of all that moves, N: no pile presses harder on its lowest pair. */
static double defaults_weight(const scene *s, const embipc_world *world)
{
    const double *g = s->world.gravity;
    double mass = 0;
    for (int i = 0; i < s->body_count; i++) {
        embipc_body_state b;
        if (defaults_is_dynamic(&s->body[i]) && embipc_body_get_state(world, s->body[i].handle, &b) == EMBIPC_OK)
            mass += b.mass;
    }
    return mass * tool_length(g);
}

/* What holds between two bodies, and the gap that is left when all weight stands on three of its contacts. */
static void defaults_pair(const scene *s, const embipc_world *world, int a, int b, double weight)
{
    const scene_pair *rule = defaults_rule(s, a, b);
    embipc_pair_parameters p;
    double gap;
    if (embipc_world_get_pair(world, s->body[a].handle, s->body[b].handle, &p) != EMBIPC_OK) return;
    printf("  %-18s %-18s ", s->body[a].name, s->body[b].name);
    if (rule && !rule->contact) { printf("never tested: \"contact\": false\n"); return; }
    printf("dhat %-10.4g kappa %-10.4g friction_velocity %-10.4g friction %.4g%s", p.dhat, p.kappa,
           p.friction_velocity, p.friction, rule && rule->friction >= 0 ? " (pairs)" : "");
    if (p.clearance > p.dhat)
        printf("\n    dhat is 0.4 of %.4g m, with which one fits into the other; kappa grows by as much", p.clearance);
    else if (p.clearance > 0)
        printf("\n    WARNING: one fits into the other with %.4g m to spare on either side: to slide they want dhat = %.2g",
               p.clearance, 0.4 * p.clearance);
    gap = embipc_barrier_gap(weight / 3, p.kappa, p.dhat) / p.dhat;
    if (a != b && gap < 0.05)
        printf("\n    WARNING: the weight of all bodies, %.4g N on three contacts, would press it to %.2g dhat: raise kappa "
               "or dhat", weight, gap);
    printf("\n");
}

static void defaults_print(const scene *s, const embipc_world *world)
{
    int words;
    const embipc_world_def *d = &s->world;
    embipc_world_def standard = embipc_default_world_def();
    double weight = defaults_weight(s, world);
    printf("%s\n", s->path);
    defaults_line("time_step", d->time_step, "s", d->time_step == standard.time_step, "default");
    printf("  %-19s %-21s %s\n", "integrator", d->integrator == EMBIPC_BDF2 ? "bdf2" : "backward_euler",
           d->integrator == standard.integrator ? "default" : "given by the scene");
    printf("  %-19s %-21s %s\n", "accuracy", scene_words(SCENE_SOLVER, "accuracy", &words)[d->accuracy],
           d->accuracy == standard.accuracy ? "default" : "given by the scene");
    printf("  %-19s %-21s %s\n", "keep_spin", d->keep_spin ? "true" : "false",
           d->keep_spin == standard.keep_spin ? "default" : "given by the scene");
    defaults_line("sleep_after", d->sleep_after, "s", d->sleep_after == standard.sleep_after, "default");
    if (d->sleep_after > 0 && d->sleep_speed > 0) defaults_line("sleep_speed", d->sleep_speed, "m/s", 0, "default");
    defaults_line("duration", s->duration, "s", s->duration == 1, "default");
    printf("  %-19s [%g, %g, %g] m/s^2\n", "gravity", d->gravity[0], d->gravity[1], d->gravity[2]);
    defaults_line("friction_iterations", d->friction_iterations, "",
                  d->friction_iterations == standard.friction_iterations, "default");
    defaults_line("max_iterations", d->max_iterations, "", d->max_iterations == standard.max_iterations,
                  "default");
    for (int i = 0; i < s->body_count; i++) defaults_body(s, world, &s->body[i]);
    printf("pairs, %.4g N of weight in all: the smaller dhat and friction_velocity and the larger kappa of their dynamic bodies,\n"
           "friction the geometric mean of both\n", weight);
    for (int a = 0; a < s->body_count; a++)
        for (int b = a; b < s->body_count; b++)
            if ((defaults_is_dynamic(&s->body[a]) || defaults_is_dynamic(&s->body[b]))
                && !(a == b && s->body[a].def.kind == EMBIPC_AFFINE))
                defaults_pair(s, world, a, b, weight);
}

int run_defaults(const char *scene_path)
{
    scene s;
    embipc_world *world = NULL;
    tool_error e;
    int ok = scene_read(&s, scene_path, &e) && scene_build(&s, &world, &e);
    if (ok) defaults_print(&s, world);
    else fprintf(stderr, "%s\n", e.text);
    embipc_world_destroy(world);
    scene_free(&s);
    return ok ? 0 : 2;
}
