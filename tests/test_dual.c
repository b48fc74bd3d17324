/* Contact forces as unknowns: H = A + U U^T solved through A and K, where many bodies touch at few points. */
#include "inside.h"
#include "test.h"
#include "scene_test.h"

#define STEPS 30

static scene heap_of(embipc_solver solver)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s;
    wd.solver = solver;
    s = scene_empty(&wd);
    scene_heap(&s);
    return s;
}
/* the largest island of the last step */
static embi_island *heap_island(embipc_world *w)
{
    embi_island *most = NULL;
    for (int k = 0; k < w->islands.order_count; k++)
        if (!most || w->islands.list[w->islands.order[k]]->body_count > most->body_count) most =
            w->islands.list[w->islands.order[k]];
    return most;
}

/* the answer of H to the same forces, through A and K and as one matrix, in the middle of contact; plain contacts, then with
 * their curvature; and H times it is the force again */
static void test_same_answer_as_one_matrix(void)
{
    scene s = heap_of(EMBIPC_SOLVER_AUTO);
    int compared = 0, columns = 0;
    for (int n = 0; n < STEPS && !test_bad; n++) {
        embi_state *t = &s.w->s;
        embi_island *I;
        if (!scene_step(&s)) break;
        I = heap_island(s.w);
        for (int curved = 0; curved < 2; curved++) {
            int size = 3 * I->unknown_count;
            double *b = (double *)malloc((size_t)size * 4 * sizeof(double)), *x = b + size, *y = x + size, *back = y + size, most = 0,
                   off = 0, lost = 0, force = 0;
            I->tune.full_hessian = curved;
            if (I->contacts.count == 0 || !embi_island_wants_dual(t, I)) { free(b); continue; }
            for (int k = 0; k < I->friction.count; k++) embi_friction_stiffness(I->friction.list + k, n % 2);
            for (int i = 0; i < size; i++) b[i] = x[i] = y[i] = test_uniform(-1, 1);
            ENSURE(embi_dual_factor(&s.w->memory, t, I) == EMBIPC_OK && embi_has_dual(I));
            ENSURE(I->dual->K.n > 0 && embi_dual_fits(t, I));
            embi_island_back_solve(t, I, x);
            I->dual->on = I->factor.analysed = 0;
            I->factor.regularized = 0;
            ENSURE(embi_island_factor_whole(&s.w->memory, t, I) == EMBIPC_OK && I->factor.regularized == 0);
            embi_island_back_solve(t, I, y);
            if (!curved) embi_island_apply(t, I, x, back);
            for (int i = 0; i < size; i++) {
                most = fmax(most, fabs(y[i]));
                off = fmax(off, fabs(x[i] - y[i]));
                force = fmax(force, fabs(b[i]));
                if (!curved) lost = fmax(lost, fabs(back[i] - b[i]));
            }
            ENSURE(off <= 1e-9 * most && lost <= 1e-6 * force);
            columns += I->dual->triples;
            compared++;
            free(b);
        }
        I->tune.full_hessian = 0;
    }
    ENSURE(compared > 3 && columns > 0);
    printf("  %d answers compared, %d threes of columns in all\n", compared, columns);
    scene_end(&s);
}

/* the same motion as with one sparse matrix, in as many solves; and it was in force where the bodies touch */
static void test_same_motion_as_one_matrix(void)
{
    scene a = heap_of(EMBIPC_SOLVER_AUTO), b = heap_of(EMBIPC_SOLVER_SPARSE);
    int dual = 0, solves[2] = {0, 0}, factors = 0;
    double off = 0;
    for (int n = 0; n < STEPS && !test_bad; n++) {
        if (!scene_step(&a) || !scene_step(&b)) break;
        solves[0] += a.stats.newton_iterations;
        solves[1] += b.stats.newton_iterations;
        factors += a.stats.factorizations;
        for (int k = 0; k < a.w->islands.order_count; k++) dual +=
            embi_has_dual(a.w->islands.list[a.w->islands.order[k]]);
        for (int k = 0; k <
             b.w->islands.order_count; k++) ENSURE(!embi_has_dual(b.w->islands.list[b.w->islands.order[k]]));
        if (n < STEPS / 2)   /* then the least difference grows, as it does in heaps */
            for (int i = 0; i < 3 * a.w->s.node_count; i++) off = fmax(off, fabs(a.w->s.q[i] - b.w->s.q[i]));
    }
    printf("  %d islands by contact forces, %d factors; %d and %d solves; largest difference %.1e m\n", dual, factors, solves[0],
           solves[1], off);
    ENSURE(dual > STEPS / 3 && off < 1e-7);
    ENSURE(abs(solves[0] - solves[1]) <= solves[1] / 10);
    ENSURE(scene_sound(a.w));
    scene_end(&a);
    scene_end(&b);
}

/* a factor of an earlier step serves only with the factors of bodies that it was made with */
static void test_old_factors_of_bodies(void)
{
    scene s = heap_of(EMBIPC_SOLVER_AUTO);
    int kept = 0;
    for (int n = 0; n < STEPS; n++) {
        embi_island *I;
        if (!scene_step(&s)) break;
        I = heap_island(s.w);
        if (!embi_has_dual(I) || !I->factor.valid) continue;
        embi_island_recall_factor(&s.w->s, I);
        ENSURE(I->factor.use == EMBI_FACTOR_LAST_STEP);
        s.w->s.body[I->bodies[1]].inverse->now.taken++;
        embi_island_recall_factor(&s.w->s, I);
        ENSURE(I->factor.use != EMBI_FACTOR_LAST_STEP);
        s.w->s.body[I->bodies[1]].inverse->now.taken--;
        I->body_count--;   /* other bodies */
        embi_island_recall_factor(&s.w->s, I);
        ENSURE(I->factor.use != EMBI_FACTOR_LAST_STEP);
        I->body_count++;
        kept++;
    }
    ENSURE(kept > 3);
    scene_end(&s);
}

/* Balls that fall in layers onto a plate, each layer an island of its own at first; the plate moves up in the end. */
static scene layers_of(double time_step)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def plate = scene_def("plate", EMBIPC_KINEMATIC, 0, 0, -0.05), none = plate;
    embipc_drive_def d = embipc_default_drive_def();
    scene s;
    wd.time_step = time_step;
    s = scene_empty(&wd);
    for (int k = 0; k < 12; k++) {
        embipc_body_def ball = none;
        ball.name = "ball";
        ball.kind = EMBIPC_CAGE;
        ball.cage_nodes = 27;
        ball.friction = 0.5;
        ball.material.young = 2e5;
        ball.position[0] = 0.115 * (k % 2) + 0.007 * test_uniform(-1, 1);
        ball.position[1] = 0.115 * (k / 2 % 2) + 0.007 * test_uniform(-1, 1);
        ball.position[2] = 0.06 + 0.125 * (k / 4);
        ball.velocity[2] = -test_uniform(0, 1);
        scene_ball(&s, ball, 0.05, 0, 0);
    }
    d.body = s.body[scene_box(&s, plate, 1, 1, 0.1, 1)];
    if (ENSURE_OK(s.w, embipc_drive_create(s.w, &d, &s.drive[s.drives]))) s.drives++;
    return s;
}

/* Islands that join in the middle of a step, and one that a driven body joins, which has no unknowns: no factor serves that
 * was made for fewer bodies (the solve itself makes sure of it). */
static void test_bodies_that_join(void)
{
    static const double none[3] = {0, 0, 0}, up[3] = {0, 0, 0.0005};
    int joined = 0, dual = 0, driven = 0;
    for (int world = 0; world < 4; world++) {
        scene s = layers_of(world % 2 ? 0.005 : 0.01);
        for (int n = 0; n < 100 && !test_bad; n++) {
            int before = s.w->islands.order_count;
            if (n >= 60 && n % 3 == 0) (void)ENSURE_OK(s.w, embipc_drive_set_target(s.w, s.drive[0], up, none));
            if (!scene_step(&s)) break;
            joined += s.w->islands.order_count < before;
            for (int k = 0; k < s.w->islands.order_count; k++) dual +=
                embi_has_dual(s.w->islands.list[s.w->islands.order[k]]);
            driven += s.w->s.body[s.w->s.body_count - 1].in_island;
        }
        ENSURE(scene_sound(s.w));
        scene_end(&s);
    }
    printf("  %d steps with fewer islands than before, %d islands by contact forces, the plate moved in %d steps\n", joined, dual,
           driven);
    ENSURE(joined > 0 && dual > 0 && driven > 0);
}

/* A^-1 between the unknowns that are asked for, more and more of them, is that of the whole */
static void test_part_of_an_inverse(void)
{
    scene s = heap_of(EMBIPC_SOLVER_AUTO);
    embi_state *t = &s.w->s;
    embi_memory *m = &s.w->memory;
    embi_inverse *V = (embi_inverse *)embi_alloc(m, 1, sizeof *V);
    embi_key *keys = NULL;
    int *local, rounds = 0;
    embi_body *b;
    scene_step(&s);
    b = t->body + 1;
    local = (int *)malloc((size_t)b->nn * sizeof(int));
    for (int i = 0, n = 5; i < b->nn; i++) local[i] = i % 4 == 1 ? -1 : n++;   /* some are no unknowns */
    ENSURE(embi_inverse_begin(m, V, &b->A, local, 5, &keys));
    embi_body_assemble(t, b);
    ENSURE(embi_inverse_take(V, &b->A, NULL) == 0);
    for (int ask = 1; ask < V->now.S.n; ask += 1 + ask / 2, rounds++) {
        int node[3];
        double u[9], y[3 * 64], full[3 * 64], x[3 * 64], at[3] = {0, 0, 0};
        embi_sparse c;
        int place[3];
        for (int k = 0; k < ask; k++) (void)embi_inverse_ask(V, (7 * k + 3) % V->now.S.n);
        for (int k = 0; k < 3; k++) {
            node[k] = (7 * (k % ask) + 3) % V->now.S.n;
            place[k] = embi_inverse_ask(V, node[k]);
        }
        ENSURE(embi_inverse_room(m, V));
        embi_inverse_fill(V, NULL);
        for (int k = 0; k < 9; k++) u[k] = test_uniform(-1, 1);
        c.count = 3;
        c.node = node;
        c.place = place;
        c.u = u;
        embi_inverse_apply(V, &c, y);
        memset(x, 0, sizeof x);
        for (int k = 0; k < 9; k++) x[3 * node[k / 3] + k % 3] += u[k];
        memcpy(full, x, sizeof x);
        embi_system_solve(&V->now.S, full);
        for (int k = 0; k < V->asked_count; k++)
            for (int d = 0; d < 3; d++) ENSURE_CLOSE(y[3 * k + d], full[3 * V->asked[k] + d], 1e-12 * fabs(full[3 * V->asked[k] + d]) + 1e-16);
        for (int i = 0; i < b->nn; i++)   /* A y = u in its first unknown */
            if (local[i] == 5)
                for (int j = 0; j < b->nn; j++) {
                    int hi = i > j ? i : j, lo = i > j ? j : i, k = local[j] < 0 ? -1 : embi_bsr_find(&b->A, hi, lo);
                    for (int d = 0; d < 9 && k >= 0; d++)
                        at[d / 3] += b->A.val[9 * k + (i >= j ? d : 3 * (d % 3) + d / 3)] * full[3 * (local[j] - 5) + d % 3];
                }
        for (int d = 0; d < 3; d++) ENSURE_CLOSE(at[d], x[d], 1e-9);
    }
    ENSURE(rounds > 3);
    embi_inverse_free(m, &V);
    EMBI_RELEASE(m, keys);
    free(local);
    scene_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(part_of_an_inverse);
    RUN(same_answer_as_one_matrix);
    RUN(same_motion_as_one_matrix);
    RUN(old_factors_of_bodies);
    RUN(bodies_that_join);
    return test_end("test_dual");
}
