/* Poses: against closed forms and against vertices. Jumps: what is refused changes no bit. Pushes: momentum. */
#ifndef GAME_POSE_H
#define GAME_POSE_H

static const embipc_kind game_kinds[5] = {EMBIPC_FIXED, EMBIPC_KINEMATIC, EMBIPC_AFFINE, EMBIPC_CAGE, EMBIPC_FULL};

static void game_rotation(double R[9], double x, double y, double z)
{
    double w[3];
    embi_set(w, x, y, z);
    embi_m3_rotation(R, w);
}

/* a box of the kind, turned, with the given velocities, alone in a world without gravity */
static scene game_alone(embipc_kind kind, double spin)
{
    embipc_world_def wd = scene_still(EMBIPC_BACKWARD_EULER, 0.01);
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("box", kind, 3, -2, 1);
    game_rotation(d.rotation, 0.3, -1.1, 0.7);
    d.material.young = 1e8;
    embi_set(d.velocity, 0.5, 0.2, -0.1);
    embi_set(d.angular_velocity, spin, -2 * spin, spin / 2);
    scene_box(&s, d, 0.3, 0.2, 0.1, 2);
    return s;
}

static embipc_pose game_pose_of(const scene *s, int k, double alpha)
{
    embipc_pose p;
    ENSURE(embipc_body_get_pose(s->w, s->body[k], alpha, &p) == EMBIPC_OK);
    return p;
}

/* largest distance of a vertex from where the pose takes it, from x0, its place at creation by pose p0 */
static double game_off(const scene *s, int k, const embipc_pose *p0, const double *x0, const embipc_pose *p)
{
    embipc_body_view v;
    double most = 0;
    (void)embipc_body_get_view(s->w, s->body[k], &v);
    for (int i = 0; i < v.vertex_count; i++) {
        double r[3], local[3], y[3];
        embi_sub(r, x0 + 3 * i, p0->position);
        embi_m3_tmulv(local, p0->rotation, r);
        embi_m3_mulv(y, p->rotation, local);
        embi_add(y, y, p->position);
        embi_sub(r, v.x + 3 * i, y);
        most = fmax(most, embi_norm(r));
    }
    return most;
}

/* A rotation as engines of floats have it: the product of n matrices of float quaternions, none of them made unit again. */
static void game_float_rotation(double R[9], int n)
{
    float M[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int k = 0; k < n; k++) {
        float q[4], size = 0, r[9], P[9];
        for (int i = 0; i < 4; i++) q[i] = (float)test_uniform(-1, 1), size += q[i] * q[i];
        for (int i = 0; i < 4; i++) q[i] /= (float)sqrt((double)size);
        r[0] = 1 - 2 * (q[2] * q[2] + q[3] * q[3]); r[1] = 2 * (q[1] * q[2] - q[0] * q[3]); r[2] = 2 * (q[1] * q[3] + q[0] * q[2]);
        r[3] = 2 * (q[1] * q[2] + q[0] * q[3]); r[4] = 1 - 2 * (q[1] * q[1] + q[3] * q[3]); r[5] = 2 * (q[2] * q[3] - q[0] * q[1]);
        r[6] = 2 * (q[1] * q[3] - q[0] * q[2]); r[7] = 2 * (q[2] * q[3] + q[0] * q[1]); r[8] = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
        for (int i = 0; i < 9; i++)
            P[i] = M[3 * (i / 3)] * r[i % 3] + M[3 * (i / 3) + 1] * r[3 + i % 3] + M[3 * (i / 3) + 2] * r[6 + i % 3];
        memcpy(M, P, sizeof M);
    }
    for (int i = 0; i < 9; i++) R[i] = (double)M[i];
}

/* the largest distance of two vertices of a body */
static double game_diagonal(const scene *s, int k)
{
    embipc_body_view v;
    double most = 0, r[3];
    (void)embipc_body_get_view(s->w, s->body[k], &v);
    for (int i = 0; i < v.vertex_count * v.vertex_count; i++) {
        embi_sub(r, v.x + 3 * (i % v.vertex_count), v.x + 3 * (i / v.vertex_count));
        most = fmax(most, embi_norm(r));
    }
    return most;
}

/* Rotations of floats are taken, and none strains a body: corners keep their distances, also in jumps. What is scaled, sheared
 * or mirrored is no rotation, nor is what overflows. */
static void test_rotations_of_floats(void)
{
    double most = 0;
    for (int n = 0; n < 100; n++) {
        scene s = game_alone(game_kinds[n % 5], 0);
        embipc_body_def d = scene_def("box", game_kinds[n % 5], 6, 0, 0);
        embipc_pose p;
        double off, at[3] = {1, 2, -3}, Q[9];
        game_float_rotation(d.rotation, 1 + n);
        off = embi_unorthogonal(d.rotation);
        most = fmax(most, off);
        d.scale = n % 3 ? 1 : 0.1;
        scene_box(&s, d, 0.3, 0.2, 0.1, 1);
        p = game_pose_of(&s, 1, 1);
        ENSURE(off > 1e-9 && embi_unorthogonal(p.rotation) < 1e-14);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(p.rotation[i], d.rotation[i], off);
        ENSURE_REL(game_diagonal(&s, 1), d.scale * sqrt(0.14), 1e-13);
        if (n % 5 < 2) { scene_end(&s); continue; }
        game_float_rotation(Q, 1 + n);
        ENSURE(embipc_body_set_pose(s.w, s.body[1], at, Q, 0) == EMBIPC_OK);
        ENSURE_REL(game_diagonal(&s, 1), d.scale * sqrt(0.14), 1e-13);
        p = game_pose_of(&s, 1, 1);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(p.rotation[i], Q[i], embi_unorthogonal(Q) + 1e-14);
        for (int k = 0; k < 4; k++) {
            const double edges[3] = {0.3, 0.2, 0.1};
            double x[24];
            int t[36];
            const char *mention = k == 2 ? "mirrors" : "no rotation";
            double R[9];
            embipc_body body;
            memcpy(R, d.rotation, sizeof R);
            if (k == 0)
                for (int i = 0; i < 9; i++) R[i] *= n % 2 ? 1.001 : 0.9999;
            if (k == 1)
                for (int i = 0; i < 3; i++) R[3 * i] += 1e-3 * R[3 * i + 1];
            for (int i = 0; i < 9 && k >= 2; i++) R[i] *= k == 2 ? -1 : i % 3 == n % 3 ? 1e200 : 1;
            ENSURE(embipc_body_set_pose(s.w, s.body[1], at, R, 0) == EMBIPC_ERR_ARGUMENT);
            ENSURE(strstr(embipc_world_error(s.w)->text, mention));
            memcpy(d.rotation, R, sizeof R);
            d.kind = EMBIPC_AFFINE;
            d.x = x;
            d.vertex_count = 8;
            d.triangles = t;
            d.triangle_count = embipc_shape(EMBIPC_BOX, edges, 1, x, t, 12);
            ENSURE(embipc_body_create(s.w, &d, &body) == EMBIPC_ERR_ARGUMENT && strstr(embipc_world_error(s.w)->text, mention));
            game_float_rotation(d.rotation, 1);
        }
        scene_end(&s);
    }
    printf("  100 rotations; the worst has R^T R - I = %.2g\n", most);
}

/* At creation it is that of the description. What spins and keeps its shape is where its pose says. */
static void test_pose_of_a_stiff_body(void)
{
    for (int k = 0; k < 5; k++) {
        static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 3, 1, 2}, centre[3] = {3, -2, 1};
        scene s = game_alone(game_kinds[k], 4);
        embipc_pose p0 = game_pose_of(&s, 0, 1), p, q;
        double R[9], *x0 = scene_positions(s.w, s.body[0]), Q[9];
        game_rotation(R, 0.3, -1.1, 0.7);
        p = game_pose_of(&s, 0, 0.5);   /* there was no step yet */
        for (int i = 0; i < 3; i++) ENSURE_CLOSE(p.position[i], p0.position[i], 1e-14);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(p0.rotation[i], R[i], 1e-14);
        ENSURE(hypot(hypot(p0.position[0] - 3, p0.position[1] + 2), p0.position[2] - 1) < 1e-14);
        if (game_kinds[k] == EMBIPC_KINEMATIC) scene_drive(&s, 0, keys, 2, centre, NULL, 0);
        for (int n = 0; n < 50; n++) {
            embipc_pose start = game_pose_of(&s, 0, 1);
            if (!scene_step(&s)) break;
            p = game_pose_of(&s, 0, 1);
            q = game_pose_of(&s, 0, 0);
            ENSURE(memcmp(&q, &start, sizeof q) == 0);
            ENSURE(game_off(&s, 0, &p0, x0, &p) < (embi_is_dynamic(s.w->s.body) ? 1e-5 : 1e-14));
            embi_m3_from_quaternion(Q, p.quaternion);
            for (int i = 0; i < 9; i++) ENSURE_CLOSE(Q[i], p.rotation[i], 1e-14);
            ENSURE(p.quaternion[0] >= 0);
            q = game_pose_of(&s, 0, 0.5);
            for (int i = 0; i < 3; i++)   /* the box is about the origin of its description */
                ENSURE_CLOSE(q.position[i], (start.position[i] + p.position[i]) / 2, 1e-6);
        }
        if (k == 1) {   /* by the keys, at 0.5 s */
            game_rotation(Q, 1.5, 0.5, 1);
            embi_m3_mul(R, Q, p0.rotation);
            p = game_pose_of(&s, 0, 1);
            for (int i = 0; i < 9; i++) ENSURE_CLOSE(p.rotation[i], R[i], 1e-12);
            ENSURE_CLOSE(p.position[2], 2.5, 1e-12);
        }
        if (k > 1) ENSURE_CLOSE(p.position[0], 3.25, 1e-9);
        free(x0);
        scene_end(&s);
    }
}

/* every quaternion branch: turns by about pi round each axis, and little ones */
static void test_quaternions(void)
{
    for (int n = 0; n < 1000; n++) {
        double w[3], R[9], Q[9], q[4];
        embi_set(w, test_uniform(-1, 1), test_uniform(-1, 1), test_uniform(-1, 1));
        if (n % 4) w[n % 4 - 1] *= 100;
        embi_scale(w, (n % 3 ? 3.14159 : 1e-3) / embi_norm(w), w);
        embi_m3_rotation(R, w);
        embi_quaternion(q, R);
        embi_m3_from_quaternion(Q, q);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(Q[i], R[i], 1e-14);
        ENSURE_CLOSE(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-14);
    }
}

/* floats and doubles, at the end and in between, and what stands beside them in the buffer stays */
static void test_written_vertices(void)
{
    for (int k = 0; k < 5; k++) {
        scene s = game_alone(game_kinds[k], 10);
        embipc_body_view v;
        unsigned char buffer[4096];
        double *x0, x[3], n[3];
        float f[3];
        int lies = 0;
        (void)embipc_body_get_view(s.w, s.body[0], &v);
        x0 = scene_positions(s.w, s.body[0]);
        ENSURE(v.vertex_count * 57 < 4096);
        scene_step(&s);
        for (int half = 0; half < 2; half++) {
            memset(buffer, 0xEE, sizeof buffer);   /* rows of 57 bytes: 24 of position, 24 of normal */
            ENSURE(embipc_body_write_vertices(s.w, s.body[0], half ? 0.5 : 1.0, sizeof(double), 57, buffer + 1, buffer + 26) == EMBIPC_OK);
            for (int i = 0; i < v.vertex_count; i++) {
                memcpy(x, buffer + 57 * i + 1, sizeof x);
                memcpy(n, buffer + 57 * i + 26, sizeof n);
                for (int c = 0; c < 3; c++) {
                    if (half) ENSURE_CLOSE(x[c], (x0[3 * i + c] + v.x[3 * i + c]) / 2, 1e-14);
                    else lies += x[c] != v.x[3 * i + c];
                    x[c] -= (x0[c] + x0[3 * v.vertex_count - 3 + c]) / 2;   /* opposite corners: from about the middle */
                }
                ENSURE_CLOSE(embi_norm(n), 1, 1e-15);
                ENSURE(embi_dot(x, n) > 0);
                for (int c = 50; c < 57; c++) lies += buffer[57 * i + c] != 0xEE;
            }
        }
        ENSURE(embipc_body_write_vertices(s.w, s.body[0], 1, sizeof(float), 12, buffer, NULL) == EMBIPC_OK);
        for (int i = 0; i < v.vertex_count; i++) {
            memcpy(f, buffer + 12 * i, sizeof f);
            for (int c = 0; c < 3; c++) lies += f[c] != (float)v.x[3 * i + c];
        }
        ENSURE(lies == 0);
        ENSURE(embipc_body_write_vertices(s.w, s.body[0], 1, 4, 11, buffer, NULL) == EMBIPC_ERR_ARGUMENT);
        ENSURE(embipc_body_write_vertices(s.w, s.body[0], 1, 2, 12, buffer, NULL) == EMBIPC_ERR_ARGUMENT);
        ENSURE(embipc_body_write_vertices(s.w, s.body[0], 1.01, 4, 12, buffer, NULL) == EMBIPC_ERR_ARGUMENT);
        ENSURE(embipc_body_write_vertices(s.w, s.body[0], (double)NAN, 4, 12, buffer, NULL) == EMBIPC_ERR_ARGUMENT);
        free(x0);
        scene_end(&s);
    }
}

/* It is there, in its old shape, and rests, or its motion has turned with it. Without a rotation it is not turned. */
static void test_jump(void)
{
    for (int k = 2; k < 5; k++)
        for (int way = 0; way < 4; way++) {
            int keep = way % 2, turns = way < 2;
            scene s = game_alone(game_kinds[k], 3);
            double to[3] = {-1, 5, 2}, R[9], T[9], a[3], b[3];
            embipc_pose p0 = game_pose_of(&s, 0, 1), p;
            double *x0 = scene_positions(s.w, s.body[0]), elastic;
            embipc_body_state before, after;
            game_rotation(R, -2, 1, 0.5);
            for (int n = 0; n < 10; n++) scene_step(&s);
            before = scene_state(s.w, s.body[0]);
            p = game_pose_of(&s, 0, 1);
            if (!turns) memcpy(R, p.rotation, sizeof R);
            for (int i = 0; i < 9; i++) T[i] = embi_dot(R + 3 * (i / 3), p.rotation + 3 * (i % 3));
            ENSURE_OK(s.w, embipc_body_set_pose(s.w, s.body[0], to, turns ? R : NULL, keep));
            p = game_pose_of(&s, 0, 1);
            for (int i = 0; i < 9; i++) ENSURE_CLOSE(p.rotation[i], R[i], 1e-13);
            for (int i = 0; i < 3; i++) ENSURE_CLOSE(p.position[i], to[i], 1e-13);
            p = game_pose_of(&s, 0, 0);   /* nothing to draw in between */
            for (int i = 0; i < 3; i++) ENSURE_CLOSE(p.position[i], to[i], 1e-13);
            after = scene_state(s.w, s.body[0]);
            elastic = after.elastic;
            ENSURE_CLOSE(elastic, before.elastic, 1e-9 * (1 + before.elastic));
            embi_m3_mulv(a, T, before.momentum);
            embi_m3_mulv(b, T, before.angular_momentum);
            for (int i = 0; i < 3; i++) {
                ENSURE_CLOSE(after.momentum[i], keep ? a[i] : 0, 1e-12);
                ENSURE_CLOSE(after.angular_momentum[i], keep ? b[i] : 0, 1e-12);
            }
            p = game_pose_of(&s, 0, 1);
            ENSURE(game_off(&s, 0, &p0, x0, &p) < 1e-4);
            scene_step(&s);
            after = scene_state(s.w, s.body[0]);
            for (int i = 0; i < 3; i++) ENSURE_CLOSE(after.momentum[i], keep ? a[i] : 0, 1e-9);
            free(x0);
            scene_end(&s);
        }
}

/* What is refused is named, and later steps have the bits of a world that was never asked. */
static void test_jump_is_refused(void)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, stretched[9] = {1.1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL), twin = scene_make(which, NULL);
        int refused = 0, asked = 0;
        for (int n = 0; n < 30 / TEST_STRIDE; n++) {
            for (int k = 0; k < s.n; k++) {
                embipc_pose other = game_pose_of(&s, (k + 1) % s.n, 1);
                embipc_body_view v;
                embipc_result r;
                double at[3];
                if (s.n < 2) continue;
                (void)embipc_body_get_view(s.w, s.body[(k + 1) % s.n], &v);
                for (int c = 0; c < 3; c++) at[c] = (v.x[c] + v.x[3 + c]) / 2;   /* on its surface */
                r = embipc_body_set_pose(s.w, s.body[k], at, other.rotation, n % 2);
                asked++;
                if (r == EMBIPC_OK) {   /* no contact between the two: this run is over */
                    n = 1000;
                    break;
                }
                refused++;
                ENSURE(embi_same_body(embipc_world_error(s.w)->body[0], s.body[k]) && embipc_world_error(s.w)->code == r);
                if (r == EMBIPC_ERR_INTERSECTION) ENSURE(embipc_world_error(s.w)->primitive[0] != EMBIPC_NO_PRIMITIVE);
                ENSURE(embipc_body_set_pose(s.w, s.body[k], at, stretched, 0) == EMBIPC_ERR_ARGUMENT);
                at[1] = (double)NAN;
                ENSURE(embipc_body_set_pose(s.w, s.body[k], at, I, 0) == EMBIPC_ERR_NOT_FINITE);
            }
            if (n >= 1000 || !scene_step(&s) || !scene_step(&twin)) break;
            ENSURE(scene_bits(s.w) == scene_bits(twin.w));
        }
        ENSURE(refused > 0 || s.n < 2);
        scene_end(&s);
        scene_end(&twin);
    }
}

/* Creation's rule: a place just off another body is free, one that touches or crosses it is not. */
static void test_jump_next_to_another(void)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 1);
    double at[3] = {0, 0, 0.05};
    scene_ground(&s, 1, 0);
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    d.position[2] = 2;
    d.thickness = 0.01;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    ENSURE(embipc_body_set_pose(s.w, s.body[0], at, I, 0) == EMBIPC_ERR_ARGUMENT && strstr(embipc_world_error(s.w)->text, "fixed"));
    ENSURE(embipc_body_set_pose(s.w, s.body[1], at, I, 0) == EMBIPC_ERR_INTERSECTION);
    ENSURE(embi_same_body(embipc_world_error(s.w)->body[1], s.body[0]) && strstr(embipc_world_error(s.w)->text, "ground"));
    at[2] = 0.03;
    ENSURE(embipc_body_set_pose(s.w, s.body[1], at, I, 0) == EMBIPC_ERR_INTERSECTION);
    ENSURE(embipc_world_rejected(s.w, NULL, 0) > 0 && strstr(embipc_world_error(s.w)->text, "crosses \"ground\""));
    at[2] = 0.05 + 1e-6;
    ENSURE_OK(s.w, embipc_body_set_pose(s.w, s.body[1], at, I, 0));
    at[2] = 0.15 + 0.0099;   /* within the coating of the later body */
    ENSURE(embipc_body_set_pose(s.w, s.body[2], at, I, 0) == EMBIPC_ERR_INTERSECTION);
    at[2] = 0.15 + 0.0101;
    ENSURE_OK(s.w, embipc_body_set_pose(s.w, s.body[2], at, I, 0));
    at[2] = 0.1;   /* an earlier body is tested against a later one */
    ENSURE(embipc_body_set_pose(s.w, s.body[1], at, I, 0) == EMBIPC_ERR_INTERSECTION);
    ENSURE(embi_same_body(embipc_world_error(s.w)->body[1], s.body[2]));
    ENSURE(scene_crossings(s.w) == 0);
    scene_end(&s);
}

/* A body moves away from its start before the first step, or after a reset, and another is made there: a reset would let
 * them cross, and fails. */
static void test_reset_knows_of_jumps(void)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, at[3] = {1, 0, 1};
    for (int first = 0; first < 2; first++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("first", EMBIPC_AFFINE, 0, 0, 1);
        unsigned long long bits;
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        for (int n = 0; n < 3 * first; n++) ENSURE(scene_step(&s));
        if (first) ENSURE_OK(s.w, embipc_world_reset(s.w));
        ENSURE_OK(s.w, embipc_body_set_pose(s.w, s.body[0], at, I, 0));
        d.name = "second";
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        bits = scene_bits(s.w);
        ENSURE(embipc_world_reset(s.w) == EMBIPC_ERR_INTERSECTION && strstr(embipc_world_error(s.w)->text, "second"));
        ENSURE(scene_bits(s.w) == bits && scene_crossings(s.w) == 0 && scene_step(&s));
        scene_end(&s);
    }
}

/* Bodies that jump about at random, where that is free, in all scenes: nothing ever crosses, and every step converges. A
 * reset gives the first bits again. */
static void test_jumps_at_random(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        unsigned long long first = 0;
        int jumps = 0;
        for (int run = 0; run < 2; run++) {
            for (int n = 0; n < 40 / TEST_STRIDE; n++) {
                int k = (int)test_uniform(0, s.n);
                double at[3], R[9];
                embipc_pose p = game_pose_of(&s, k, 1);
                for (int i = 0; i < 3; i++) at[i] = p.position[i] + test_uniform(-0.02, 0.02);
                game_rotation(R, test_uniform(-3, 3), test_uniform(-3, 3), test_uniform(-3, 3));
                if (n % 3 == 0 && run == 1) {
                    int ok = embipc_body_set_pose(s.w, s.body[k], at, n % 2 ? R : p.rotation, n % 4 < 2) == EMBIPC_OK;
                    jumps += ok;
                    ENSURE(scene_crossings(s.w) == 0);
                }
                if (!scene_step(&s)) break;
            }
            ENSURE(embipc_world_intersections(s.w, NULL, 0) == 0);
            if (run == 0) first = scene_bits(s.w);
            ENSURE_OK(s.w, embipc_world_reset(s.w));
        }
        for (int n = 0; n < 40 / TEST_STRIDE; n++) scene_step(&s);
        ENSURE(scene_bits(s.w) == first);
        printf("  %-7s %d jumps\n", scene_names[which], jumps);
        scene_end(&s);
    }
}

/* A ball at rest on the ground is turned where it is, again and again, to other vertices at its bottom: cached candidates and
 * positions of the start are not those of before. */
static void test_jump_finds_new_neighbours(void)
{
    for (int k = 2; k < 5; k++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("ball", game_kinds[k], 0, 0, 0.0502);
        int bad = 0;
        scene_ground(&s, 1, 0.5);
        scene_ball(&s, d, 0.05, 2, 2);
        for (int n = 0; n < 40; n++) {
            double at[3] = {0, 0, 0.0502}, R[9];
            game_rotation(R, n, 0.3 * n, 1 - n);
            ENSURE_OK(s.w, embipc_body_set_pose(s.w, s.body[1], at, R, 0));
            for (int i = 0; i < 5; i++) scene_step(&s);
            bad += scene_crossings(s.w);
        }
        ENSURE(bad == 0);
        ENSURE(scene_state(s.w, s.body[1]).centre[2] > 0.045);
        scene_end(&s);
    }
}

/* A platform without a drive comes to where a ball falls, and later goes away again: the ball lands on it, then on the ground. */
static void test_platform_jumps(void)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, here[3] = {0, 0, 0.1}, away[3] = {3, 0, 0.1};
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    scene_ground(&s, 1, 0.5);
    scene_box(&s, scene_def("platform", EMBIPC_KINEMATIC, 3, 0, 0.1), 0.2, 0.2, 0.02, 1);
    scene_ball(&s, scene_def("ball", EMBIPC_AFFINE, 0.01, 0.02, 0.2), 0.05, 2, 0);
    ENSURE_OK(s.w, embipc_body_set_pose(s.w, s.body[1], here, I, 0));
    for (int n = 0; n < 50; n++) scene_step(&s);
    ENSURE_CLOSE(scene_state(s.w, s.body[2]).centre[2], 0.16, 0.002);
    ENSURE(scene_crossings(s.w) == 0 && game_pose_of(&s, 1, 1).position[0] == 0);
    ENSURE_OK(s.w, embipc_body_set_pose(s.w, s.body[1], away, I, 0));
    for (int n = 0; n < 50; n++) scene_step(&s);
    ENSURE_CLOSE(scene_state(s.w, s.body[2]).centre[2], 0.05, 0.002);
    scene_end(&s);
}

/* Force and torque of a step, and impulses, are changes of momentum and of angular momentum; a force off the centre turns. */
static void test_pushes(void)
{
    for (int k = 0; k < 5; k++)
        for (int kick = 0; kick < 2; kick++) {
            scene s = game_alone(game_kinds[k], 0);
            static const double push[3] = {3, -1, 2}, twist[3] = {0.01, 0.02, -0.03}, point[3] = {3.1, -2.05, 1.2};
            double h = kick ? 1 : 0.01, L[3], r[3];
            embipc_body_state before = scene_state(s.w, s.body[0]), after;
            if (kick) ENSURE_OK(s.w, embipc_body_apply_impulse(s.w, s.body[0], push, twist, point));
            else {
                ENSURE_OK(s.w, embipc_body_apply_wrench(s.w, s.body[0], push, twist, point));
                scene_step(&s);
            }
            after = scene_state(s.w, s.body[0]);
            embi_sub(r, point, before.centre);
            embi_cross(L, r, push);
            for (int i = 0; i < 3; i++) {
                int on = embi_is_dynamic(s.w->s.body);
                ENSURE_CLOSE((after.momentum[i] - before.momentum[i]) / h, on ? push[i] : 0, kick ? 1e-12 : 1e-8);
                ENSURE_CLOSE((after.angular_momentum[i] - before.angular_momentum[i]) / h, on ? L[i] + twist[i] : 0, kick ? 1e-12 : 2e-3);
            }
            if (kick) {   /* no point: the centre */
                ENSURE_OK(s.w, embipc_body_apply_impulse(s.w, s.body[0], push, NULL, NULL));
                before = after;
                after = scene_state(s.w, s.body[0]);
                for (int i = 0; i < 3; i++) ENSURE_CLOSE(after.angular_momentum[i], before.angular_momentum[i], 1e-12);
            }
            scene_end(&s);
        }
}

/* A cube under 1 % of its modulus from all sides: strain -p/3K. From inside it grows. It stays where it is. Forces act at
 * vertices, so a cage needs some of them in each of its tets: there it is a ball. */
static void test_pressure(void)
{
    for (int k = 2; k < 5; k++)
        for (int sign = -1; sign < 2; sign += 2) {
            embipc_world_def wd = scene_still(EMBIPC_BACKWARD_EULER, 0.01);
            scene s = scene_empty(&wd);
            embipc_body_def d = scene_def("cube", game_kinds[k], 1, 2, 3);
            double p = sign * 10, bulk = 1e4 / (3 * (1 - 2 * 0.25)), lo, hi;
            embipc_body_state state;
            d.material.young = 1e4;
            d.material.poisson = 0.25;
            d.material.damping[0] = 20;
            if (game_kinds[k] == EMBIPC_CAGE) scene_ball(&s, d, 0.05, 4, 2);
            else scene_box(&s, d, 0.1, 0.1, 0.1, 2);
            for (int n = 0; n < 100; n++) {
                ENSURE_OK(s.w, embipc_body_apply_pressure(s.w, s.body[0], p));
                scene_step(&s);
            }
            state = scene_state(s.w, s.body[0]);
            scene_extent(s.w, s.body[0], 2, &lo, &hi);
            ENSURE_REL((hi - lo) / 0.1 - 1, -p / (3 * bulk), 0.01);
            for (int i = 0; i < 3; i++) ENSURE_CLOSE(state.centre[i], i + 1, 1e-9);
            scene_end(&s);
        }
}

/* Pressure takes and gives no spin, on an arc and where the rotation is too slow for one. p V h^2 / I is 0.24. */
static void test_pressure_spins(void)
{
    for (int k = 0; k < 8; k++) {
        embipc_world_def wd = scene_still(k & 1 ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER, 0.01);
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("box", k & 2 ? EMBIPC_AFFINE : EMBIPC_FULL, 1, 2, 3);
        double p = k & 4 ? 4000 : -4000, spin = k & 2 ? 10 : 0.01, w[3] = {0, 0, 0}, v[3] = {0, 0, 0};
        embipc_body_state first, last;
        w[2] = spin;
        d.material.young = 1e8;
        d.material.damping[0] = d.material.damping[1] = 0;
        scene_box(&s, d, 0.1, 0.1, 0.1, 2);
        ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[0], v, w));
        first = scene_state(s.w, s.body[0]);
        for (int n = 0; n < 100; n++) {
            ENSURE_OK(s.w, embipc_body_apply_pressure(s.w, s.body[0], p));
            scene_step(&s);
        }
        last = scene_state(s.w, s.body[0]);
        ENSURE_REL(last.angular_momentum[2], first.angular_momentum[2], 1e-4);
        scene_end(&s);
    }
}

/* nan, inf, far: refused with nothing changed; handles and NULLs */
static void test_poses_refuse(void)
{
    static const double bad[3] = {0, (double)NAN, 0}, huge[3] = {1e300, 0, 0}, off[3] = {0, 1e300, 0}, far[3] = {1e20, 0, 0}, ok[3] = {1, 0, 0};
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    scene s = game_alone(EMBIPC_CAGE, 1), twin = game_alone(EMBIPC_CAGE, 1);
    embipc_body none = {7, 7};
    embipc_pose p;
    float x[3];
    ENSURE(embipc_body_apply_wrench(s.w, s.body[0], bad, NULL, NULL) == EMBIPC_ERR_NOT_FINITE);
    ENSURE(embipc_body_apply_wrench(s.w, s.body[0], ok, bad, NULL) == EMBIPC_ERR_NOT_FINITE);
    ENSURE(embipc_body_apply_wrench(s.w, s.body[0], ok, NULL, bad) == EMBIPC_ERR_NOT_FINITE);
    ENSURE(embipc_body_apply_wrench(s.w, s.body[0], huge, NULL, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_apply_wrench(s.w, s.body[0], huge, huge, off) == EMBIPC_ERR_NOT_FINITE);
    ENSURE(embipc_body_apply_impulse(s.w, s.body[0], bad, NULL, NULL) == EMBIPC_ERR_NOT_FINITE);
    ENSURE(embipc_body_apply_impulse(s.w, s.body[0], huge, NULL, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_apply_pressure(s.w, s.body[0], bad[1]) == EMBIPC_ERR_NOT_FINITE);
    ENSURE(embipc_body_apply_pressure(s.w, s.body[0], 1e200) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_set_pose(s.w, s.body[0], far, I, 0) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_set_pose(s.w, s.body[0], NULL, I, 0) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_set_pose(s.w, none, ok, I, 0) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_body_set_pose(NULL, none, ok, I, 0) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_get_pose(s.w, none, 1, &p) == EMBIPC_ERR_HANDLE && p.position[0] == 0);
    ENSURE(embipc_body_get_pose(s.w, s.body[0], 2, &p) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_get_pose(s.w, s.body[0], 1, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_write_vertices(s.w, none, 1, 4, 12, x, NULL) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_body_write_vertices(s.w, s.body[0], 1, 4, 12, NULL, NULL) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_body_apply_wrench(s.w, none, ok, NULL, NULL) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_body_apply_impulse(s.w, none, ok, NULL, NULL) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_body_apply_pressure(s.w, none, 1) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_body_get_user(s.w, s.body[0]) == NULL && embipc_body_get_user(s.w, none) == NULL);
    ENSURE_OK(s.w, embipc_body_set_user(s.w, s.body[0], &s));
    ENSURE(embipc_body_get_user(s.w, s.body[0]) == &s && embipc_body_set_user(s.w, none, &s) == EMBIPC_ERR_HANDLE);
    for (int n = 0; n < 5; n++) ENSURE(scene_step(&s) && scene_step(&twin) && scene_bits(s.w) == scene_bits(twin.w));
    scene_end(&s);
    scene_end(&twin);
}

static void game_pose(void)
{
    RUN(rotations_of_floats);
    RUN(pose_of_a_stiff_body);
    RUN(quaternions);
    RUN(written_vertices);
    RUN(jump);
    RUN(jump_is_refused);
    RUN(jump_next_to_another);
    RUN(reset_knows_of_jumps);
    RUN(jump_finds_new_neighbours);
    RUN(platform_jumps);
    RUN(jumps_at_random);
    RUN(pushes);
    RUN(pressure);
    RUN(pressure_spins);
    RUN(poses_refuse);
}
#endif
