/* Bad input at the API: a clear error, and a world that never noticed. Each refused call is followed by a step of the world and of
 * a twin that never saw the call: the same bits. */
#ifndef WORLD_INPUT_H
#define WORLD_INPUT_H

typedef struct twins { scene a, b; int calls; } twins;

static scene input_world(void)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 10, 0.1, 0, 0, 0, 0, 1};
    static const double centre[3] = {0.3, 0, 0.1};
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
    d.friction = 0.5;
    scene_box(&s, d, 1, 1, 0.1, 1);
    d = scene_def("stone", EMBIPC_AFFINE, 0, 0, 0.0302);
    d.friction = 0.5;
    scene_box(&s, d, 0.06, 0.06, 0.06, 1);
    d = scene_def("jelly", EMBIPC_CAGE, 0.01, 0, 0.0905);
    d.friction = 0.5;
    scene_box(&s, d, 0.05, 0.05, 0.05, 1);
    d = scene_def("rubber", EMBIPC_FULL, -0.2, 0, 0.026);
    d.friction = 0.5;
    scene_box(&s, d, 0.05, 0.05, 0.05, 1);
    d = scene_def("plate", EMBIPC_KINEMATIC, 0.3, 0, 0.1);
    scene_box(&s, d, 0.1, 0.1, 0.01, 1);
    scene_drive(&s, 4, keys, 2, centre, NULL, 0);
    return s;
}
static twins twins_make(void)
{
    twins t;
    t.a = input_world();
    t.b = input_world();
    t.calls = 0;
    return t;
}
static void twins_end(twins *t)
{
    scene_end(&t->a);
    scene_end(&t->b);
}
static void twins_step(twins *t)
{
    if (!scene_step(&t->a) || !scene_step(&t->b)) return;
    ENSURE(scene_bits(t->a.w) == scene_bits(t->b.w));
    ENSURE(t->a.stats.newton_iterations == t->b.stats.newton_iterations);
}
/* after a call that had to fail with this result, and whose text had to mention these words */
static void refused(twins *t, const char *what, embipc_result got, embipc_result expected, const char *mention)
{
    const embipc_error *e = embipc_world_error(t->a.w);
    int ok = got == expected && e->code == expected && (!mention || strstr(e->text, mention));
    if (!ok)
        printf("  %s: \"%s\" (%s), expected \"%s\"%s%s; the error says: %s\n", what, embipc_result_text(got), embipc_result_text(e->code),
               embipc_result_text(expected), mention ? " and the words " : "", mention ? mention : "", e->text);
    ENSURE(ok);
    ENSURE(strlen(e->text) > 10 && strlen(e->text) < 255);
    ENSURE(embipc_world_body_count(t->a.w) == embipc_world_body_count(t->b.w));
    ENSURE(scene_bits(t->a.w) == scene_bits(t->b.w));
    t->calls++;
    twins_step(t);
}

/* ---- worlds ---- */

static void test_world_def(void)
{
    for (int k = 0; k < 22; k++) {
        embipc_world_def d = embipc_default_world_def();
        embipc_world *w = (embipc_world *)(void *)&d;
        embipc_error e;
        embipc_result r, expected = EMBIPC_ERR_ARGUMENT;
        double bad = k % 2 ? NAN : INFINITY;
        memset(&e, 0, sizeof e);
        switch (k) {
        case 0: d.cookie = 0; expected = EMBIPC_ERR_DEF; break;
        case 1: d.gravity[1] = NAN; expected = EMBIPC_ERR_NOT_FINITE; break;
        case 2: d.gravity[2] = -INFINITY; expected = EMBIPC_ERR_NOT_FINITE; break;
        case 3: d.time_step = 0; break;
        case 4: d.time_step = -0.01; break;
        case 5: case 6: d.time_step = bad; break;
        case 7: case 8: d.dhat = bad; break;
        case 9: case 10: d.kappa = bad; break;
        case 11: case 12: d.friction_velocity = bad; break;
        case 13: case 14: d.tolerance = bad; break;
        case 15: d.dhat = -1; break;
        case 16: d.kappa = -1; break;
        case 17: d.friction_iterations = -1; break;
        case 18: d.max_iterations = -3; break;
        case 19: d.solver = (embipc_solver)9; break;
        case 20: d.allocator.alloc = embi_default_alloc; break;
        default: d.allocator.free = embi_default_free; break;
        }
        r = embipc_world_create(&d, &w, &e);
        if (r != expected && !(r == EMBIPC_ERR_NOT_FINITE && expected == EMBIPC_ERR_ARGUMENT)) printf("  world case %d: %s\n", k, embipc_result_text(r));
        ENSURE(r == expected || (r == EMBIPC_ERR_NOT_FINITE && expected == EMBIPC_ERR_ARGUMENT));
        ENSURE(w == NULL && e.code == r && e.text[0]);
        ENSURE(embipc_world_create(&d, &w, NULL) == r);
        if (w) embipc_world_destroy(w);
    }
    {
        embipc_world_def d = embipc_default_world_def();
        embipc_world *w = NULL;
        ENSURE(embipc_world_create(NULL, &w, NULL) == EMBIPC_ERR_ARGUMENT && !w);
        ENSURE(embipc_world_create(&d, NULL, NULL) == EMBIPC_ERR_ARGUMENT);
        embipc_world_destroy(NULL);
        ENSURE(embipc_world_reset(NULL) == EMBIPC_ERR_ARGUMENT);
    }
    for (int r = -2; r < EMBIPC_RESULT_COUNT + 2; r++) ENSURE(embipc_result_text((embipc_result)r) && embipc_result_text((embipc_result)r)[0]);
}

static void test_null_world(void)
{
    embipc_body b = {1, 1};
    embipc_drive dr = {1, 1};
    embipc_body_def d = embipc_default_body_def();
    embipc_drive_def dd = embipc_default_drive_def();
    embipc_drive_state ds;
    embipc_body_view v;
    embipc_body_state st;
    embipc_body_parameters p;
    embipc_error e;
    double x[3] = {0, 0, 0};
    ENSURE(embipc_body_create(NULL, &d, &b) == EMBIPC_ERR_ARGUMENT && b.index1 == 0);
    b.index1 = 1;
    ENSURE(embipc_body_destroy(NULL, b) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_set_pair(NULL, b, b, 0, 1) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_apply_force(NULL, b, -1, x) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_set_velocity(NULL, b, x, x) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_drive_create(NULL, &dd, &dr) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_drive_destroy(NULL, dr) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_drive_set_target(NULL, dr, x, x) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_drive_get_state(NULL, dr, &ds) != EMBIPC_OK);
    ENSURE(embipc_world_step(NULL, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_set_limits(NULL, 10, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_get_view(NULL, b, &v) != EMBIPC_OK);
    ENSURE(embipc_body_get_state(NULL, b, &st) != EMBIPC_OK);
    ENSURE(embipc_body_get_parameters(NULL, b, &p) != EMBIPC_OK);
    ENSURE(embipc_body_vertex_forces(NULL, b, x) != EMBIPC_OK);
    ENSURE(embipc_world_validate(NULL, &e) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_error(NULL)->code == EMBIPC_ERR_ARGUMENT && embipc_world_time(NULL) == 0 && embipc_world_body_count(NULL) == 0);
    ENSURE(embipc_world_body(NULL, 0).index1 == 0 && embipc_world_iterations(NULL, NULL) == 0);
    ENSURE(embipc_world_pair_forces(NULL, NULL, 1) == 0 && embipc_world_contacts(NULL, NULL, 1) == 0);
    ENSURE(embipc_world_rejected(NULL, NULL, 1) == 0 && embipc_world_intersections(NULL, NULL, 1) == -1);
    embipc_world_memory(NULL, NULL, NULL, NULL);
}

/* ---- bodies ---- */

/* a body description that owns its arrays; far from the others, so that only its own fault counts */
typedef struct sample { embipc_body_def d; test_mesh m, cage; } sample;
static sample sample_make(embipc_kind kind)
{
    sample s;
    s.m = kind == EMBIPC_FULL ? scene_mesh_tet_box(1, 1, 1, 0.1, 0.1, 0.1) : test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    s.cage = scene_mesh_tet_box(1, 1, 1, 0.12, 0.12, 0.12);
    s.d = scene_def("bad apple", kind, 0, 0, 2);
    test_mesh_shape(&s.m, &s.d);
    if (kind == EMBIPC_CAGE) {
        s.d.cage_x = s.cage.x;
        s.d.cage_node_count = s.cage.vertex_count;
        s.d.cage_tets = s.cage.tets;
        s.d.cage_tet_count = s.cage.tet_count;
    }
    return s;
}
static void sample_end(sample *s)
{
    test_mesh_free(&s->m);
    test_mesh_free(&s->cage);
}
static void refuse_body(twins *t, const char *what, const sample *s, embipc_result expected, const char *mention)
{
    embipc_body b = {77, 77};
    embipc_result r = embipc_body_create(t->a.w, &s->d, &b);
    ENSURE(b.index1 == 0);
    if (r != EMBIPC_OK && expected != EMBIPC_ERR_DEF) ENSURE(strstr(embipc_world_error(t->a.w)->text, "bad apple") != NULL);
    if (r != EMBIPC_OK) ENSURE(embipc_world_error(t->a.w)->body[0].index1 == 0);
    refused(t, what, r, expected, mention);
    if (r == EMBIPC_OK) (void)embipc_body_destroy(t->a.w, b);
}

/* every number of a description in turn: nan, both infinities, and what is out of its range */
static void test_body_numbers(void)
{
    static const struct { const char *name; size_t at; double low; int above; } field[] = {   /* low: the largest value that is refused */
#define FIELD(name, low, above) {#name, offsetof(embipc_body_def, name), low, above}
        FIELD(scale, 0, 0), FIELD(rotation[4], -5, 1), FIELD(position[1], 0, 2), FIELD(velocity[2], 0, 2), FIELD(angular_velocity[0], 0, 2),
        FIELD(friction, -1e-9, 0), FIELD(static_friction, -1e-9, 0), FIELD(thickness, -1e-9, 0), FIELD(dhat, -1e-9, 0), FIELD(kappa, -1, 0), FIELD(friction_velocity, -1e-9, 0), FIELD(tolerance, -1e-9, 0),
        FIELD(material.young, 0, 0), FIELD(material.poisson, -1, 0), FIELD(material.poisson, 0.5, 0), FIELD(material.density, 0, 0),
        FIELD(material.stiffness, 0, 0), FIELD(material.damping[0], -1e-9, 0), FIELD(material.damping[1], -1e-9, 0)};
    twins t = twins_make();
    for (size_t f = 0; f < sizeof field / sizeof *field; f++)
        for (int k = 0; k < 4; k++) {
            sample s = sample_make(EMBIPC_AFFINE);
            embipc_body b = {0, 0};
            embipc_result r;
            double value = k == 0 ? NAN : k == 1 ? INFINITY : k == 2 ? -INFINITY : field[f].low;
            if (k == 3 && field[f].above == 2) { sample_end(&s); continue; }
            memcpy((char *)&s.d + field[f].at, &value, sizeof value);
            r = embipc_body_create(t.a.w, &s.d, &b);
            if (r == EMBIPC_OK) {
                printf("  %s = %g is accepted\n", field[f].name, value);
                (void)embipc_body_destroy(t.a.w, b);
            }
            ENSURE(r == EMBIPC_ERR_ARGUMENT || r == EMBIPC_ERR_NOT_FINITE);
            ENSURE(b.index1 == 0 && strstr(embipc_world_error(t.a.w)->text, "bad apple"));
            refused(&t, field[f].name, r, r, NULL);
            sample_end(&s);
        }
    printf("  %d descriptions with one bad number refused\n", t.calls);
    twins_end(&t);
}

static void test_body_arguments(void)
{
    twins t = twins_make();
    embipc_body b;
    for (int k = 0; k < 21; k++) {
        sample s = sample_make(k < 12 ? EMBIPC_AFFINE : k < 15 ? EMBIPC_FULL : EMBIPC_CAGE);
        embipc_result expected = EMBIPC_ERR_ARGUMENT;
        const char *mention = NULL;
        switch (k) {
        case 0: s.d.cookie ^= 1; expected = EMBIPC_ERR_DEF; mention = "embipc_default_body_def"; break;
        case 1: s.d.kind = (embipc_kind)7; mention = "7"; break;
        case 2: s.d.kind = (embipc_kind)-1; break;
        case 3: s.d.x = NULL; mention = "NULL"; break;
        case 4: s.d.vertex_count = 0; break;
        case 5: s.d.vertex_count = -8; break;
        case 6: s.d.triangles = NULL; break;
        case 7: s.d.triangle_count = 0; break;
        case 8: s.d.triangle_count = -1; break;
        case 9: s.d.rotation[0] = 2; mention = "rotation"; break;
        case 10: s.d.rotation[0] = -1; mention = "mirrors"; break;
        case 11: s.d.material.model = (embipc_model)99; mention = "99"; break;
        case 12: s.d.tets = NULL; s.d.triangles = s.m.tri; s.d.triangle_count = s.m.tri_count; mention = "tets"; break;
        case 13: s.d.tet_count = 0; break;
        case 14: s.d.triangles = s.m.tri; s.d.triangle_count = s.m.tri_count; mention = "triangles"; break;
        case 15: s.d.cage_tets = NULL; break;
        case 16: s.d.cage_node_count = 3; mention = "3"; break;
        case 17: s.d.cage_node_count = -8; break;
        case 18: s.d.cage_tet_count = 0; break;
        case 19: s.d.cage_x = NULL; s.d.cage_tets = NULL; s.d.cage_node_count = s.d.cage_tet_count = 0; s.d.cage_nodes = 2; break;
        default: s.d.material.model = EMBIPC_ORTHOGONALITY; mention = "affine"; break;
        }
        refuse_body(&t, "arguments", &s, expected, mention);
        sample_end(&s);
    }
    refused(&t, "NULL def", embipc_body_create(t.a.w, NULL, &b), EMBIPC_ERR_ARGUMENT, "NULL");
    {
        sample s = sample_make(EMBIPC_AFFINE);
        refused(&t, "NULL body", embipc_body_create(t.a.w, &s.d, NULL), EMBIPC_ERR_ARGUMENT, "NULL");
        sample_end(&s);
    }
    twins_end(&t);
}

static void flip(int *tri) { int c = tri[0]; tri[0] = tri[1]; tri[1] = c; }

static void test_body_meshes(void)
{
    twins t = twins_make();
    for (int kind = EMBIPC_FIXED; kind <= EMBIPC_CAGE; kind++)   /* surfaces */
        for (int k = 0; k < 14; k++) {
            sample s = sample_make((embipc_kind)kind);
            embipc_result expected = EMBIPC_OK;
            const char *mention = NULL;
            int moves = kind >= EMBIPC_AFFINE;
            switch (k) {
            case 0: s.m.x[7] = NAN; expected = EMBIPC_ERR_NOT_FINITE; mention = "vertex 2"; break;
            case 1: s.m.x[12] = INFINITY; expected = EMBIPC_ERR_NOT_FINITE; mention = "vertex 4"; break;
            case 2: s.m.tri[10] = 8; expected = EMBIPC_ERR_INDEX; mention = "8"; break;
            case 3: s.m.tri[10] = -1; expected = EMBIPC_ERR_INDEX; mention = "-1"; break;
            case 4: s.m.tri[10] = INT_MAX; expected = EMBIPC_ERR_INDEX; break;
            case 5: s.m.tri[4] = s.m.tri[3]; expected = EMBIPC_ERR_MANIFOLD; mention = "triangle 1"; break;
            case 6: memcpy(s.m.tri, s.m.tri + 33, 3 * sizeof(int)); expected = EMBIPC_ERR_MANIFOLD; break;
            case 7: s.m.x[3] = s.m.x[0]; s.m.x[4] = s.m.x[1]; s.m.x[5] = s.m.x[2]; expected = EMBIPC_ERR_DEGENERATE; mention = "triangle"; break;
            case 8: for (int i = 0; i < 8; i++) s.m.x[3 * i + 2] = s.m.x[3 * i + 1] = 1e-17 * i; expected = EMBIPC_ERR_DEGENERATE; break;
            case 9: s.d.triangle_count = 11; expected = moves ? EMBIPC_ERR_OPEN : EMBIPC_OK; break;
            case 10: for (int i = 0; i < 12; i++) flip(s.m.tri + 3 * i); expected = moves ? EMBIPC_ERR_ORIENTATION : EMBIPC_OK; mention = "flip"; break;
            case 11: flip(s.m.tri + 12); expected = moves ? EMBIPC_ERR_ORIENTATION : EMBIPC_OK; break;
            case 12:   /* a flat box: closed, with area, without volume */
                for (int i = 0; i < 8; i++) s.m.x[3 * i + 2] = 0.3 * s.m.x[3 * i];
                expected = moves ? EMBIPC_ERR_DEGENERATE : EMBIPC_OK;
                break;
            default: s.d.vertex_count = 8; s.m.tri[0] = s.m.tri[1]; expected = EMBIPC_ERR_MANIFOLD; break;
            }
            if (k == 12 && !moves) { sample_end(&s); continue; }   /* its own faces lie on each other: nobody asks */
            if (expected != EMBIPC_OK) refuse_body(&t, "surface", &s, expected, mention);
            else {   /* what never moves, or moves rigidly, may be open or inside out */
                embipc_body b;
                (void)ENSURE_OK(t.a.w, embipc_body_create(t.a.w, &s.d, &b));
                (void)ENSURE_OK(t.a.w, embipc_body_destroy(t.a.w, b));
                twins_step(&t);
            }
            sample_end(&s);
        }
    for (int k = 0; k < 14; k++) {   /* tets, and cages */
        int full = k < 7;
        sample s = sample_make(full ? EMBIPC_FULL : EMBIPC_CAGE);
        test_mesh *m = full ? &s.m : &s.cage;
        embipc_result expected = EMBIPC_ERR_DEGENERATE;
        const char *mention = NULL;
        switch (k % 7) {
        case 0: { int c = m->tets[4]; m->tets[4] = m->tets[5]; m->tets[5] = c; mention = "tet 1"; break; }
        case 1: for (int i = 0; i < m->vertex_count; i++) m->x[3 * i + 2] = 0.2 * m->x[3 * i]; break;
        case 2: m->tets[6] = m->vertex_count; expected = EMBIPC_ERR_INDEX; break;
        case 3: m->tets[6] = -4; expected = EMBIPC_ERR_INDEX; mention = "-4"; break;
        case 4: m->tets[6] = m->tets[5]; expected = EMBIPC_ERR_MANIFOLD; mention = "tet 1"; break;
        case 5: m->x[5] = NAN; expected = EMBIPC_ERR_NOT_FINITE; break;
        default: memcpy(m->tets + 4, m->tets, 4 * sizeof(int)); expected = EMBIPC_ERR_MANIFOLD; break;
        }
        refuse_body(&t, full ? "tets" : "cage", &s, expected, mention);
        sample_end(&s);
    }
    {   /* a cage that is too small, and one that stands elsewhere */
        sample s = sample_make(EMBIPC_CAGE);
        for (int i = 0; i < 3 * s.cage.vertex_count; i++) s.cage.x[i] *= 0.8;
        refuse_body(&t, "small cage", &s, EMBIPC_ERR_OUTSIDE, "vertex");
        ENSURE(embipc_world_error(t.a.w)->primitive[0] == EMBIPC_VERTEX);
        for (int i = 0; i < s.cage.vertex_count; i++) s.cage.x[3 * i] += 3;
        refuse_body(&t, "cage elsewhere", &s, EMBIPC_ERR_OUTSIDE, "vertex");
        sample_end(&s);
    }
    twins_end(&t);
}

static void test_huge_and_tiny(void)
{
    static const double scale[6] = {1e300, 1e40, 1e-40, 1e-300, 1, 1}, place[6] = {0, 0, 0, 0, 1e12, 1e300};
    twins t = twins_make();
    for (int k = 0; k < 18; k++) {
        sample s = sample_make(k / 6 == 0 ? EMBIPC_AFFINE : k / 6 == 1 ? EMBIPC_CAGE : EMBIPC_FULL);
        s.d.scale = scale[k % 6];
        s.d.position[0] = place[k % 6];
        {
            embipc_body b = {0, 0};
            embipc_result r = embipc_body_create(t.a.w, &s.d, &b);
            ENSURE(r == EMBIPC_ERR_ARGUMENT || r == EMBIPC_ERR_NOT_FINITE || r == EMBIPC_ERR_DEGENERATE);
            refused(&t, "size", r, r, NULL);
        }
        sample_end(&s);
    }
    {   /* coordinates that only the scale takes out of the range of numbers: of a body made of tets, of a cage */
        sample s = sample_make(EMBIPC_FULL);
        for (int i = 0; i < 3 * s.m.vertex_count; i++) s.m.x[i] *= 1e20;
        s.d.scale = 1e300;
        refuse_body(&t, "scaled mesh", &s, EMBIPC_ERR_NOT_FINITE, "after scaling by 1e+300");
        sample_end(&s);
        s = sample_make(EMBIPC_CAGE);   /* and of a cage that its owner wrote into */
        {
            embipc_cage_def wish = embipc_default_cage_def();
            embipc_cage cage;
            wish.nodes = 8;
            ENSURE(embipc_cage_build(&wish, s.m.x, s.m.vertex_count, s.m.tri, s.m.tri_count, NULL, &cage, NULL) == EMBIPC_OK);
            cage.x[4] = NAN;
            s.d.cage_x = NULL;
            s.d.cage_tets = NULL;
            s.d.cage_node_count = s.d.cage_tet_count = 0;
            s.d.cage = &cage;
            refuse_body(&t, "own cage", &s, EMBIPC_ERR_NOT_FINITE, "node");
            embipc_cage_free(&cage);
        }
        sample_end(&s);
    }
    twins_end(&t);
    for (int k = 0; k < 12; k++) {   /* legal and far from 1: they run */
        static const double sizes[4] = {1e-6, 1e-3, 1e3, 1e6};
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.5 * sizes[k % 4]);
        scene s = scene_empty(&wd);
        double lo, hi;
        scene_box(&s, d, 10 * sizes[k % 4], 10 * sizes[k % 4], sizes[k % 4], 1);
        d = scene_def("box", k < 4 ? EMBIPC_AFFINE : k < 8 ? EMBIPC_CAGE : EMBIPC_FULL, 0, 0, 0.502 * sizes[k % 4]);
        d.velocity[2] = -sizes[k % 4];
        d.material.young = 1e5 * fmax(1, sizes[k % 4]);
        scene_box(&s, d, sizes[k % 4], sizes[k % 4], sizes[k % 4], 1);
        for (int n = 0; n < 20 && scene_step(&s); n++) ENSURE(scene_sound(s.w));
        scene_extent(s.w, s.body[1], 2, &lo, &hi);
        ENSURE(lo > 0);
        scene_end(&s);
    }
}

/* ---- crossings at the start ---- */

static void test_crossing_starts(void)
{
    twins t = twins_make();
    static const char *const name[5] = {"ground", "stone", "jelly", "rubber", "plate"};
    int told[2] = {0, 0};
    static const double at[5][3] = {{0.41, 0.37, 0.02}, {-0.04, 0.03, 0.06}, {0.05, 0, 0.14}, {-0.21, 0.01, 0.09}, {0.3, 0.01, 0.15}};
    for (int k = 0; k < 5; k++) {
        sample s = sample_make(EMBIPC_AFFINE);
        embipc_body b = {0, 0};
        embipc_crossing *list;
        embipc_body_view v;
        embipc_result r;
        int n, own = 0;
        embipc_error e;
        memcpy(s.d.position, at[k], sizeof s.d.position);
        r = embipc_body_create(t.a.w, &s.d, &b);
        e = *embipc_world_error(t.a.w);
        n = embipc_world_rejected(t.a.w, NULL, 0);
        list = (embipc_crossing *)calloc((size_t)(n + 1), sizeof *list);
        ENSURE(embipc_world_rejected(t.a.w, list, n) == n);
        ENSURE(r == EMBIPC_ERR_INTERSECTION && n > 0 && strstr(e.text, name[k]));
        /* every listed pair really meets, and no pair is missing */
        for (int i = 0; i < n; i++) {
            double x[15];
            for (int side = 0; side < 2; side++) {
                int edge = side == 0;
                embipc_body body = edge ? list[i].edge_body : list[i].triangle_body;
                for (int j = 0; j < (edge ? 2 : 3); j++) {
                    double *p = x + (edge ? 3 * j : 6 + 3 * j);
                    if (body.index1 == 0) {
                        int vertex = edge ? list[i].edge[j] : s.m.tri[3 * list[i].triangle + j];
                        for (int c = 0; c < 3; c++) p[c] = s.m.x[3 * vertex + c] + at[k][c];
                    } else {
                        ENSURE(embipc_body_get_view(t.a.w, body, &v) == EMBIPC_OK);
                        memcpy(p, v.x + 3 * (edge ? list[i].edge[j] : v.triangles[3 * list[i].triangle + j]), 3 * sizeof *p);
                    }
                }
            }
            ENSURE((list[i].edge_body.index1 == 0) != (list[i].triangle_body.index1 == 0));
            ENSURE(scene_meet(x));
        }
        {   /* the error is about the first: the new body's primitive in the first place, whichever it is */
            int own_triangle = list[0].triangle_body.index1 == 0;
            ENSURE(e.body[0].index1 == 0 && e.body[1].index1 == t.a.body[k].index1);
            ENSURE(e.primitive[!own_triangle] == EMBIPC_TRIANGLE && e.index[!own_triangle] == list[0].triangle);
            ENSURE(e.primitive[own_triangle] == EMBIPC_EDGE);
            (void)embipc_body_get_view(t.a.w, t.a.body[k], &v);
            for (int j = 0; j < 2; j++) {
                const int *tri = own_triangle ? v.triangles : s.m.tri;
                int at3 = e.index[own_triangle], corner = tri[j ? at3 - at3 % 3 + (at3 + 1) % 3 : at3];
                ENSURE(corner == list[0].edge[0] || corner == list[0].edge[1]);
            }
            told[own_triangle]++;
        }
        for (int i = 0; i < 5; i++) {
            embipc_body_view mine;
            double *x = (double *)malloc((size_t)(3 * s.m.vertex_count) * sizeof(double));
            for (int c = 0; c < 3 * s.m.vertex_count; c++) x[c] = s.m.x[c] + at[k][c % 3];
            memset(&mine, 0, sizeof mine);
            mine.x = x;
            mine.vertex_count = s.m.vertex_count;
            mine.triangles = s.m.tri;
            mine.triangle_count = s.m.tri_count;
            (void)embipc_body_get_view(t.a.w, t.a.body[i], &v);
            own += scene_crossings_of(&mine, &v, 0) + scene_crossings_of(&v, &mine, 0);
            free(x);
        }
        if (!(n <= own && own <= 2 * n)) printf("  %s: %d pairs listed, %d found\n", name[k], n, own);
        ENSURE(n <= own && own <= 2 * n);   /* each edge of a closed surface is counted twice there */
        free(list);
        refused(&t, name[k], r, EMBIPC_ERR_INTERSECTION, "bad apple");
        sample_end(&s);
    }
    {   /* a second box that shares exactly a face plane, an edge, a corner with the ground */
        static const double corner[3][3] = {{0.2, 0.2, 0.05}, {0.55, 0.2, 0.05}, {0.55, 0.55, 0.05}};
        for (int k = 0; k < 3; k++) {
            sample s = sample_make(EMBIPC_AFFINE);
            memcpy(s.d.position, corner[k], sizeof s.d.position);
            refuse_body(&t, "touching", &s, EMBIPC_ERR_INTERSECTION, "ground");
            sample_end(&s);
        }
    }
    {   /* a body that crosses itself: two boxes in one surface; a full body of two tets through each other */
        sample s = sample_make(EMBIPC_CAGE);
        test_mesh two = test_mesh_make(16, 24, 0);
        memcpy(two.x, s.m.x, 24 * sizeof(double));
        for (int i = 0; i < 24; i++) two.x[24 + i] = 0.5 * s.m.x[i] + 0.03;
        memcpy(two.tri, s.m.tri, 36 * sizeof(int));
        for (int i = 0; i < 36; i++) two.tri[36 + i] = s.m.tri[i] + 8;
        s.d.x = two.x;
        s.d.vertex_count = 16;
        s.d.triangles = two.tri;
        s.d.triangle_count = 24;
        for (int i = 0; i < 3 * s.cage.vertex_count; i++) s.cage.x[i] *= 2;
        refuse_body(&t, "self-crossing surface", &s, EMBIPC_ERR_INTERSECTION, "itself");
        test_mesh_free(&two);
        sample_end(&s);
    }
    {
        sample s = sample_make(EMBIPC_FULL);
        static const double x[24] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, 0.1, -0.5, 1.1, 0.1, -0.5, 0.1, 1.1, -0.5, 0.1, 0.1, 0.5};
        static const int tets[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        s.d.x = x;
        s.d.vertex_count = 8;
        s.d.tets = tets;
        s.d.tet_count = 2;
        refuse_body(&t, "self-crossing tets", &s, EMBIPC_ERR_INTERSECTION, "itself");
        sample_end(&s);
    }
    ENSURE(told[0] > 0 && told[1] > 0);
    twins_end(&t);
}

/* Starts that all but touch: refused, or they run. Nothing between. */
static void test_starts_that_all_but_touch(void)
{
    static const double gap[8] = {5e-324, 1e-300, 1e-100, 1e-30, 1e-18, 1e-17, 1e-16, 1e-12};
    int accepted = 0;
    for (int tilt = 0; tilt < 3; tilt++)
        for (int k = 0; k < 8; k++) {
            embipc_world_def wd = embipc_default_world_def();
            embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, 0);
            scene s = scene_empty(&wd);
            sample a = sample_make(tilt == 1 ? EMBIPC_CAGE : EMBIPC_AFFINE);
            embipc_body b;
            embipc_result r;
            scene_box(&s, d, 1, 1, 0.1, 1);
            for (int i = 0; i < 8; i++) a.m.x[3 * i + 2] += 0.05;   /* feet exactly at 0 */
            for (int i = 0; i < a.cage.vertex_count; i++) a.cage.x[3 * i + 2] += 0.05;
            a.d.position[2] = 0;
            for (int i = 0; i < 8; i++)
                if (!(i & 4)) a.m.x[3 * i + 2] = 0.05 + gap[k] * (tilt == 2 && i == 0 ? 1 : 1e3);
            for (int i = 0; i < a.cage.vertex_count; i++) a.cage.x[3 * i + 2] += 0.03;
            r = embipc_body_create(s.w, &a.d, &b);
            accepted += r == EMBIPC_OK;
            if (r == EMBIPC_OK)
                for (int n = 0; n < 3; n++) {
                    if (!scene_step(&s)) { printf("  gap %g, way %d: the body is accepted, and the step fails\n", gap[k], tilt); break; }
                    ENSURE(scene_sound(s.w));
                }
            else ENSURE(r == EMBIPC_ERR_INTERSECTION);
            sample_end(&a);
            scene_end(&s);
        }
    printf("  starts that all but touch: %d of 24 accepted\n", accepted);
}

/* Coatings thicker than the gap between two bodies: refused, or it runs. */
static void test_thickness_beyond_the_gap(void)
{
    for (int k = 0; k < 3; k++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
        scene s = scene_empty(&wd);
        sample a = sample_make(EMBIPC_AFFINE);
        embipc_body b;
        embipc_result r;
        scene_box(&s, d, 1, 1, 0.1, 1);
        a.d.position[2] = 0.06;
        a.d.thickness = k == 0 ? 0.005 : k == 1 ? 0.01 : 0.05;   /* gap 0.01 */
        r = embipc_body_create(s.w, &a.d, &b);
        ENSURE(k > 0 || r == EMBIPC_OK);
        if (r != EMBIPC_OK) printf("  thickness %g over a gap of 0.01: %s\n", a.d.thickness, embipc_world_error(s.w)->text);
        if (r == EMBIPC_OK)
            for (int n = 0; n < 3; n++)
                if (!scene_step(&s)) { printf("  thickness %g over a gap of 0.01: accepted, and the step fails\n", a.d.thickness); break; }
        sample_end(&a);
        scene_end(&s);
    }
}

/* ---- drives, pairs, forces, limits, handles ---- */

static void test_drive_input(void)
{
    twins t = twins_make();
    embipc_world *w = t.a.w;
    embipc_drive h = {5, 5};
    embipc_drive_state st;
    static double keys[21] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0};
    int nodes[3] = {0, 1, 2};
    double x[3] = {0, 0, 0}, bad[3] = {0, NAN, 0};
    for (int k = 0; k < 15; k++) {
        embipc_drive_def d = embipc_default_drive_def();
        embipc_result expected = EMBIPC_ERR_ARGUMENT;
        const char *mention = NULL;
        double own[21];
        int list[3];
        memcpy(own, keys, sizeof own);
        memcpy(list, nodes, sizeof list);
        d.body = t.a.body[3];
        d.keys = own;
        d.key_count = 3;
        switch (k) {
        case 0: d.cookie = 1; expected = EMBIPC_ERR_DEF; break;
        case 1: d.body.index1 = 99; expected = EMBIPC_ERR_HANDLE; mention = "99"; break;
        case 2: d.body.generation += 1; expected = EMBIPC_ERR_HANDLE; break;
        case 3: d.body = t.a.body[0]; mention = "fixed"; break;
        case 4: d.body = t.a.body[1]; d.nodes = list; d.node_count = 3; mention = "stone"; break;
        case 5: list[1] = 999; d.nodes = list; d.node_count = 3; expected = EMBIPC_ERR_INDEX; mention = "999"; break;
        case 6: list[1] = -1; d.nodes = list; d.node_count = 3; expected = EMBIPC_ERR_INDEX; mention = "-1"; break;
        case 7: list[2] = 1; d.nodes = list; d.node_count = 3; mention = "twice"; break;
        case 8: d.nodes = list; d.node_count = 0; break;
        case 9: d.body = t.a.body[4]; mention = "already"; break;
        case 10: own[9] = INFINITY; expected = EMBIPC_ERR_NOT_FINITE; mention = "key 1"; break;
        case 11: own[14] = 0.5; mention = "key 2"; break;
        case 12: own[7] = 0; mention = "key 1"; break;
        case 13: d.key_count = -1; break;
        default: d.centre[2] = NAN; expected = EMBIPC_ERR_NOT_FINITE; mention = "centre"; break;
        }
        h.index1 = 5;
        refused(&t, "drive", embipc_drive_create(w, &d, &h), expected, mention);
        ENSURE(h.index1 == 0);
    }
    {
        embipc_drive_def d = embipc_default_drive_def();
        d.body = t.a.body[3];
        d.key_count = 2;
        refused(&t, "keys NULL", embipc_drive_create(w, &d, &h), EMBIPC_ERR_ARGUMENT, NULL);
        refused(&t, "def NULL", embipc_drive_create(w, NULL, &h), EMBIPC_ERR_ARGUMENT, "NULL");
        refused(&t, "drive NULL", embipc_drive_create(w, &d, NULL), EMBIPC_ERR_ARGUMENT, "NULL");
    }
    h.index1 = 44;
    h.generation = 1;
    refused(&t, "target of nobody", embipc_drive_set_target(w, h, x, x), EMBIPC_ERR_HANDLE, "44");
    refused(&t, "destroy nobody", embipc_drive_destroy(w, h), EMBIPC_ERR_HANDLE, NULL);
    refused(&t, "nan target", embipc_drive_set_target(w, t.a.drive[0], bad, x), EMBIPC_ERR_NOT_FINITE, NULL);
    refused(&t, "nan turn", embipc_drive_set_target(w, t.a.drive[0], x, bad), EMBIPC_ERR_NOT_FINITE, NULL);
    refused(&t, "NULL target", embipc_drive_set_target(w, t.a.drive[0], NULL, x), EMBIPC_ERR_ARGUMENT, NULL);
    ENSURE(embipc_drive_get_state(w, h, &st) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_drive_get_state(w, t.a.drive[0], NULL) == EMBIPC_ERR_ARGUMENT);
    twins_end(&t);
}

static void test_pair_force_velocity_limits(void)
{
    twins t = twins_make();
    embipc_world *w = t.a.w;
    embipc_body none = {0, 0}, gone = {3, 9};
    double x[3] = {1, 2, 3}, bad[3] = {0, 0, INFINITY}, far_away[3] = {1e200, 0, 0};
    embipc_body *b = t.a.body;
    refused(&t, "pair of nobody", embipc_world_set_pair(w, none, b[0], 0.5, 1), EMBIPC_ERR_HANDLE, NULL);
    refused(&t, "pair of nobody", embipc_world_set_pair(w, b[0], gone, 0.5, 1), EMBIPC_ERR_HANDLE, "9");
    refused(&t, "pair friction", embipc_world_set_pair(w, b[0], b[1], NAN, 1), EMBIPC_ERR_NOT_FINITE, NULL);
    refused(&t, "pair friction", embipc_world_set_pair(w, b[0], b[1], INFINITY, 1), EMBIPC_ERR_NOT_FINITE, NULL);
    refused(&t, "pair friction", embipc_world_set_pair(w, b[0], b[1], -INFINITY, 1), EMBIPC_ERR_NOT_FINITE, NULL);
    refused(&t, "force", embipc_body_apply_force(w, none, -1, x), EMBIPC_ERR_HANDLE, NULL);
    refused(&t, "force", embipc_body_apply_force(w, b[1], -1, bad), EMBIPC_ERR_NOT_FINITE, "stone");
    refused(&t, "force", embipc_body_apply_force(w, b[1], 8, x), EMBIPC_ERR_INDEX, "8");
    refused(&t, "force", embipc_body_apply_force(w, b[1], -2, x), EMBIPC_ERR_INDEX, "-2");
    refused(&t, "force", embipc_body_apply_force(w, b[1], -1, NULL), EMBIPC_ERR_ARGUMENT, "NULL");
    refused(&t, "surface velocity", embipc_body_set_surface_velocity(w, none, x), EMBIPC_ERR_HANDLE, NULL);
    refused(&t, "surface velocity", embipc_body_set_surface_velocity(w, b[2], bad), EMBIPC_ERR_NOT_FINITE, "jelly");
    refused(&t, "surface velocity", embipc_body_set_surface_velocity(w, b[2], NULL), EMBIPC_ERR_ARGUMENT, "NULL");
    refused(&t, "surface velocity", embipc_body_set_surface_velocity(w, b[1], far_away), EMBIPC_ERR_ARGUMENT, "stone");
    refused(&t, "velocity", embipc_body_set_velocity(w, none, x, x), EMBIPC_ERR_HANDLE, NULL);
    refused(&t, "velocity", embipc_body_set_velocity(w, b[2], bad, x), EMBIPC_ERR_NOT_FINITE, "jelly");
    refused(&t, "velocity", embipc_body_set_velocity(w, b[2], x, bad), EMBIPC_ERR_NOT_FINITE, "jelly");
    refused(&t, "velocity", embipc_body_set_velocity(w, b[2], x, NULL), EMBIPC_ERR_ARGUMENT, "NULL");
    {
        double fast[3] = {1.79e308, 1.79e308, 0}, quick[3] = {0, 0, 1.79e308};
        embipc_body_def d = scene_def("whirl", EMBIPC_AFFINE, 0, 0, 50);
        test_mesh m = test_mesh_box(-5, -5, -5, 5, 5, 5);
        embipc_body whirl;
        refused(&t, "velocity", embipc_body_set_velocity(w, b[2], fast, quick), EMBIPC_ERR_NOT_FINITE, "jelly");
        test_mesh_shape(&m, &d);
        d.angular_velocity[2] = 1e308;
        refused(&t, "spin", embipc_body_create(w, &d, &whirl), EMBIPC_ERR_NOT_FINITE, "whirl");
        test_mesh_free(&m);
    }
    refused(&t, "gravity", embipc_world_set_gravity(w, bad), EMBIPC_ERR_NOT_FINITE, "gravity");
    refused(&t, "gravity", embipc_world_set_gravity(w, NULL), EMBIPC_ERR_ARGUMENT, "NULL");
    refused(&t, "time step", embipc_world_set_time_step(w, 0), EMBIPC_ERR_ARGUMENT, "time_step");
    refused(&t, "time step", embipc_world_set_time_step(w, -0.01), EMBIPC_ERR_ARGUMENT, "-0.01");
    refused(&t, "time step", embipc_world_set_time_step(w, NAN), EMBIPC_ERR_ARGUMENT, "nan");
    refused(&t, "time step", embipc_world_set_time_step(w, 1e200), EMBIPC_ERR_ARGUMENT, "1e+200");
    ENSURE(embipc_world_set_gravity(NULL, x) == EMBIPC_ERR_ARGUMENT && embipc_world_set_time_step(NULL, 1) == EMBIPC_ERR_ARGUMENT);
    refused(&t, "limits", embipc_world_set_limits(w, 0, NULL), EMBIPC_ERR_ARGUMENT, "0");
    refused(&t, "limits", embipc_world_set_limits(w, -7, NULL), EMBIPC_ERR_ARGUMENT, "-7");
    ENSURE(embipc_body_get_view(w, b[0], NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_get_state(w, b[0], NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_get_parameters(w, b[0], NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_vertex_forces(w, b[0], NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_body(w, -1).index1 == 0 && embipc_world_body(w, 99).index1 == 0);
    for (int k = 0; k < 2; k++) {   /* what takes a body out of the range of its numbers is refused when it is given */
        double huge[3] = {1e300, 0, 0}, none3[3] = {0, 0, 0};
        if (k == 0) refused(&t, "force", embipc_body_apply_force(w, b[1], -1, huge), EMBIPC_ERR_ARGUMENT, "stone");
        else refused(&t, "velocity", embipc_body_set_velocity(w, b[1], huge, none3), EMBIPC_ERR_ARGUMENT, "stone");
    }
    twins_step(&t);
    twins_end(&t);
}

/* a handle outlives its body: every call says so, also when the slot is in use again */
static void test_stale_handles(void)
{
    twins t = twins_make();
    embipc_world *w = t.a.w;
    embipc_body old = t.a.body[2];
    embipc_drive old_drive;
    embipc_drive_def dd = embipc_default_drive_def();
    double x[3] = {0, 0, 0}, many[300];
    dd.body = old;
    (void)ENSURE_OK(w, embipc_drive_create(w, &dd, &old_drive));
    (void)ENSURE_OK(w, embipc_body_destroy(w, old));
    (void)ENSURE_OK(t.b.w, embipc_body_destroy(t.b.w, t.b.body[2]));
    for (int again = 0; again < 2; again++) {
        embipc_body_view v;
        embipc_body_state st;
        embipc_body_parameters p;
        embipc_drive_state ds;
        embipc_drive h;
        refused(&t, "stale", embipc_body_destroy(w, old), EMBIPC_ERR_HANDLE, NULL);
        refused(&t, "stale", embipc_body_apply_force(w, old, -1, x), EMBIPC_ERR_HANDLE, NULL);
        refused(&t, "stale", embipc_body_set_velocity(w, old, x, x), EMBIPC_ERR_HANDLE, NULL);
        refused(&t, "stale", embipc_world_set_pair(w, old, t.a.body[0], 1, 1), EMBIPC_ERR_HANDLE, NULL);
        refused(&t, "stale", embipc_drive_create(w, &dd, &h), EMBIPC_ERR_HANDLE, NULL);
        refused(&t, "stale", embipc_drive_destroy(w, old_drive), EMBIPC_ERR_HANDLE, NULL);
        refused(&t, "stale", embipc_drive_set_target(w, old_drive, x, x), EMBIPC_ERR_HANDLE, NULL);
        ENSURE(embipc_drive_get_state(w, old_drive, &ds) == EMBIPC_ERR_HANDLE);
        ENSURE(embipc_body_get_view(w, old, &v) == EMBIPC_ERR_HANDLE && v.x == NULL);
        ENSURE(embipc_body_get_state(w, old, &st) == EMBIPC_ERR_HANDLE);
        ENSURE(embipc_body_get_parameters(w, old, &p) == EMBIPC_ERR_HANDLE);
        ENSURE(embipc_body_vertex_forces(w, old, many) == EMBIPC_ERR_HANDLE);
        if (again == 0) {   /* somebody new in the old place, in both worlds */
            embipc_body_def d = scene_def("new", EMBIPC_CAGE, 0.01, 0, 0.3);
            scene_box(&t.a, d, 0.05, 0.05, 0.05, 1);
            scene_box(&t.b, d, 0.05, 0.05, 0.05, 1);
            ENSURE(t.a.body[5].index1 == old.index1 && t.a.body[5].generation != old.generation);
        }
    }
    twins_end(&t);
}

/* What a new body crosses is told by where the others are by now: after steps, and after a reset. */
static void test_new_where_others_went(void)
{
    embipc_world_def wd = scene_world_def(SCENE_THROW);
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("goer", EMBIPC_AFFINE, 0, 0, 0);
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    embipc_body body;
    d.velocity[0] = 1 / wd.time_step;
    test_mesh_shape(&m, &d);
    (void)ENSURE_OK(s.w, embipc_body_create(s.w, &d, &body));
    d.velocity[0] = 0;
    for (int again = 0; again < 2; again++) {   /* it is at 0, goes to 1 in one step, and is at 0 again */
        for (int there = 0; there < 2; there++) {
            if (there) (void)ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
            d.position[0] = there + 0.02;
            ENSURE(embipc_body_create(s.w, &d, &body) == EMBIPC_ERR_INTERSECTION);
            d.position[0] = 1 - there;
            (void)ENSURE_OK(s.w, embipc_body_create(s.w, &d, &body));
            (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, body));
        }
        (void)ENSURE_OK(s.w, embipc_world_reset(s.w));
    }
    test_mesh_free(&m);
    scene_end(&s);
}

/* contact that is switched on while two bodies cross stays off; exempt bodies pass, and others still collide */
static void test_pair_switch(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
    double lo, hi;
    scene_box(&s, d, 1, 1, 0.1, 1);
    for (int k = 0; k < 2; k++) {
        d = scene_def(k ? "held" : "ghost", EMBIPC_AFFINE, 0.2 * k, 0, 0.06);
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    }
    (void)ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[1], s.body[0], -1, 0));
    for (int n = 0; n < 16; n++) scene_step(&s);
    scene_extent(s.w, s.body[1], 2, &lo, &hi);
    ENSURE(lo < -0.01);
    scene_extent(s.w, s.body[2], 2, &lo, &hi);
    ENSURE(lo > 0);
    ENSURE(embipc_world_intersections(s.w, NULL, 0) == 0);   /* exempt pairs are not asked about */
    for (int n = 0; n < 2; n++) {
        unsigned long long bits = scene_bits(s.w);
        ENSURE(embipc_world_set_pair(s.w, s.body[0], s.body[1], 0.5, 1) == EMBIPC_ERR_INTERSECTION);
        ENSURE(strstr(embipc_world_error(s.w)->text, "ghost") && strstr(embipc_world_error(s.w)->text, "ground"));
        ENSURE(embipc_world_rejected(s.w, NULL, 0) > 0 && bits == scene_bits(s.w));
        scene_step(&s);
    }
    for (int n = 0; n < 40; n++) scene_step(&s);
    (void)ENSURE_OK(s.w, embipc_world_set_pair(s.w, s.body[0], s.body[1], 0.5, 1));   /* through: apart again */
    ENSURE(scene_sound(s.w));
    d = scene_def(NULL, EMBIPC_CAGE, 0, 0, 1);
    d.self_contact = 0;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    ENSURE(embipc_world_set_pair(s.w, s.body[3], s.body[3], -1, 1) == EMBIPC_ERR_ARGUMENT);
    ENSURE(strstr(embipc_world_error(s.w)->text, "body \"body 4\": made with self_contact 0"));   /* the fourth, without a name */
    scene_end(&s);
}

static void world_input(void)
{
    RUN(world_def);
    RUN(null_world);
    RUN(body_numbers);
    RUN(body_arguments);
    RUN(body_meshes);
    RUN(huge_and_tiny);
    RUN(crossing_starts);
    RUN(starts_that_all_but_touch);
    RUN(new_where_others_went);
    RUN(thickness_beyond_the_gap);
    RUN(drive_input);
    RUN(pair_force_velocity_limits);
    RUN(stale_handles);
    RUN(pair_switch);
}
#endif
