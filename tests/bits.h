/* Runs ten small worlds. Each gives a hash of 64 bits, which must not depend on machine, compiler or options.
 * tests/test_bits.c compares the hashes with tests/bits.golden. `make bits` does so with other compilers and machines. */
#ifndef BITS_H
#define BITS_H

#define BITS_SCENES 10
static const char *const bits_name[BITS_SCENES] = {
    "stack", "spin", "blocks", "squeeze", "chain", "rubber", "throw", "heap", "twist", "belt"};

typedef struct bits_world {
    embipc_world *w;
    embipc_body body[16];
    int count;                /* of bodies */
    embipc_drive drive[2];
    int drives;
    double x[3 * 1024];       /* the mesh of the next body */
    int t[3 * 2048], tets[4 * 512];
} bits_world;

/* A description with one of the ready shapes. */
static embipc_body_def bits_shape(bits_world *b, embipc_kind kind, embipc_shape_kind shape, double p, double q, double r,
                                  int detail)
{
    embipc_body_def d = embipc_default_body_def();
    double size[3];
    size[0] = p; size[1] = q; size[2] = r;
    d.kind = kind;
    d.triangle_count = embipc_shape(shape, size, detail, b->x, b->t, 2048);
    d.vertex_count = d.triangle_count / 2 + 2;
    d.x = b->x;
    d.triangles = b->t;
    d.friction = 0.4;
    return d;
}
static int bits_at(const int n[3], int i, int j, int k) { return (i * (n[1] + 1) + j) * (n[2] + 1) + k; }
/* n cells of this edge along each axis, six tets each, about the origin */
static embipc_body_def bits_block(bits_world *b, int n0, int n1, int n2, double edge)
{
    static const int way[6][2] = {{0, 1}, {1, 2}, {2, 0}, {1, 0}, {2, 1}, {0, 2}};
    embipc_body_def d = embipc_default_body_def();
    int n[3], i, j, k, v = 0, m = 0;
    n[0] = n0; n[1] = n1; n[2] = n2;
    for (i = 0; i <= n0; i++)
        for (j = 0; j <= n1; j++)
            for (k = 0; k <= n2; k++, v++) {
                b->x[3 * v] = edge * (i - 0.5 * n0);
                b->x[3 * v + 1] = edge * (j - 0.5 * n1);
                b->x[3 * v + 2] = edge * (k - 0.5 * n2);
            }
    for (i = 0; i < 6 * n0 * n1 * n2; i++, m++) {
        int cell = i / 6, at[3], turned = i % 6 > 2, c;
        at[0] = cell / (n1 * n2); at[1] = cell / n2 % n1; at[2] = cell % n2;
        for (c = 0; c < 4; c++) {
            b->tets[4 * m + (turned && c > 1 ? 5 - c : c)] = bits_at(n, at[0], at[1], at[2]);
            if (c < 2) at[way[i % 6][c]]++;
            else if (c == 2) at[3 - way[i % 6][0] - way[i % 6][1]]++;
        }
    }
    d.kind = EMBIPC_FULL;
    d.x = b->x;
    d.vertex_count = v;
    d.tets = b->tets;
    d.tet_count = m;
    d.friction = 0.4;
    return d;
}
/* Returns 0 where something failed, and says what. */
static int bits_add(bits_world *b, embipc_body_def d, double x, double y, double z)
{
    d.position[0] = x; d.position[1] = y; d.position[2] = z;
    if (embipc_body_create(b->w, &d, &b->body[b->count])) {
        printf("%s\n", embipc_world_error(b->w)->text);
        return 0;
    }
    b->count++;
    return 1;
}
static int bits_drive(bits_world *b, int body, const int *nodes, int count)
{
    embipc_drive_def d = embipc_default_drive_def();
    d.body = b->body[body];
    d.nodes = nodes;
    d.node_count = count;
    if (embipc_drive_create(b->w, &d, &b->drive[b->drives])) {
        printf("%s\n", embipc_world_error(b->w)->text);
        return 0;
    }
    b->drives++;
    return 1;
}
static int bits_joint(bits_world *b, embipc_joint_kind kind, int one, int two, double x, double z)
{
    embipc_joint_def d = embipc_default_joint_def();
    embipc_joint joint;
    d.kind = kind;
    if (one >= 0) d.a = b->body[one];
    d.b = b->body[two];
    d.point[0] = d.point_b[0] = x;
    d.point[2] = d.point_b[2] = z;
    d.axis[1] = 1; d.axis[2] = 0;
    if (kind == EMBIPC_ROD) d.point_b[2] -= 0.1;
    if (kind == EMBIPC_BALL) { d.limited = 1; d.limits[1] = 0.7; d.twist = 0.5; }
    if (kind == EMBIPC_HINGE) { d.motor_stiffness = 0.1; d.motor_damping = 0.01; d.target[0] = 0.6; d.friction = 1e-3; }
    if (embipc_joint_create(b->w, &d, &joint)) {
        printf("%s\n", embipc_world_error(b->w)->text);
        return 0;
    }
    return 1;
}

/* Makes the bodies of a scene. */
static int bits_bodies(bits_world *b, int scene)
{
    embipc_body_def d = bits_shape(b, EMBIPC_FIXED, EMBIPC_BOX, 1, 1, 0.1, 1);
    int i, ok = 1, ends[2][9];
    if (scene != 4 && scene != 8) ok = bits_add(b, d, 0, 0, -0.05);
    switch (scene) {
    case 0:   /* boxes, each turned against the one below */
        for (i = 0; i < 4; i++) {
            d = bits_shape(b, EMBIPC_AFFINE, EMBIPC_BOX, 0.1, 0.08, 0.05, 1);
            d.rotation[0] = d.rotation[4] = 0.96; d.rotation[1] = i % 2 ? 0.28 : -0.28; d.rotation[3] = -d.rotation[1];
            ok &= bits_add(b, d, 0.004 * i, 0, 0.026 + 0.051 * i);
        }
        break;
    case 1:   /* soft balls that roll and meet */
        for (i = 0; i < 2; i++) {
            d = bits_shape(b, EMBIPC_CAGE, EMBIPC_SPHERE, 0.05, 0, 0, 3);
            d.velocity[0] = i ? -0.8 : 0.8;
            d.angular_velocity[1] = 16;
            d.material.young = 3e4;
            ok &= bits_add(b, d, i ? 0.12 : -0.12, 0.01 * i, 0.053);
        }
        break;
    case 2:   /* BDF2 */
        for (i = 0; i < 2; i++) {
            d = bits_block(b, 2, 2, 2, 0.03);
            d.angular_velocity[0] = 3 - i;
            d.material.averaged = i;
            ok &= bits_add(b, d, 0.02 * i, 0.01 * i, 0.05 + 0.1 * i);
        }
        break;
    case 3:   /* a soft ball under a plate that comes down */
        d = bits_shape(b, EMBIPC_CAGE, EMBIPC_SPHERE, 0.05, 0, 0, 4);
        d.cage_nodes = 60;
        ok &= bits_add(b, d, 0, 0, 0.051);
        d = bits_shape(b, EMBIPC_KINEMATIC, EMBIPC_BOX, 0.2, 0.2, 0.02, 2);
        ok &= bits_add(b, d, 0, 0, 0.115) && bits_drive(b, 2, NULL, 0);
        break;
    case 4:   /* joints of each kind */
        for (i = 0; i < 5; i++)
            ok &= bits_add(b, bits_shape(b, EMBIPC_AFFINE, i == 4 ? EMBIPC_SPHERE : EMBIPC_CYLINDER, 0.02, 0.08, 0,
                                         i == 4 ? 2 : 8), 0.02 * i, 0, 1 - 0.1 * i);
        ok = ok && bits_joint(b, EMBIPC_HINGE, -1, 0, 0, 1.05) && bits_joint(b, EMBIPC_BALL, 0, 1, 0.01, 0.95) &&
             bits_joint(b, EMBIPC_WELD, 1, 2, 0.03, 0.85) && bits_joint(b, EMBIPC_HINGE, 2, 3, 0.05, 0.75) &&
             bits_joint(b, EMBIPC_ROD, 3, 4, 0.06, 0.7);
        break;
    case 5:   /* materials */
        for (i = 0; i < 6; i++) {
            static const embipc_model model[6] = {EMBIPC_NEO_HOOKEAN, EMBIPC_STABLE_NEO_HOOKEAN, EMBIPC_FIXED_COROTATED,
                                                  EMBIPC_COROTATED, EMBIPC_MOONEY_RIVLIN, EMBIPC_STVK};
            d = bits_block(b, 2, 1, 1, 0.04);
            d.material.model = model[i];
            d.material.young = 2e4;
            d.material.mooney[0] = 4e3; d.material.mooney[1] = 1e3; d.material.mooney[2] = 5e4;
            d.material.fibre[0] = 1; d.material.fibre_stiffness = i == 3 ? 1e5 : 0;
            d.velocity[2] = -1;
            ok &= bits_add(b, d, 0.12 * (i % 3) - 0.1, 0.005 * i, 0.03 + 0.06 * (i / 3));
        }
        break;
    case 6:   /* faster than its size in a step */
        d = bits_shape(b, EMBIPC_CAGE, EMBIPC_SPHERE, 0.05, 0, 0, 4);
        d.velocity[0] = 4; d.velocity[2] = -12;
        ok &= bits_add(b, d, 0, 0, 0.2);
        break;
    case 7:   /* a heap that falls asleep */
        for (i = 0; i < 9; i++) {
            d = bits_shape(b, i % 3 ? EMBIPC_AFFINE : EMBIPC_CAGE, i % 2 ? EMBIPC_CAPSULE : EMBIPC_BOX, i % 2 ? 0.02 : 0.05,
                           0.08, 0.04, i % 2 ? 8 : 1);
            d.angular_velocity[i % 3] = 2;
            ok &= bits_add(b, d, 0.03 * (i % 2), 0.02 * (i % 3), 0.06 + 0.07 * i);
        }
        break;
    case 8:   /* a bar whose ends are turned */
        for (i = 0; i < 18; i++) ends[i / 9][i % 9] = i % 9 + (i / 9) * 9 * 6;
        ok = bits_add(b, bits_block(b, 6, 2, 2, 0.02), 0, 0, 0) && bits_drive(b, 0, ends[0], 9) && bits_drive(b, 0, ends[1], 9);
        break;
    default:  /* boxes that stick and slide on a belt; the end is out of balance */
        for (i = 0; i < 3; i++) {
            d = bits_shape(b, i ? EMBIPC_CAGE : EMBIPC_AFFINE, EMBIPC_BOX, 0.06, 0.06, 0.06, 2);
            d.static_friction = 0.4 + 0.1 * i;
            d.friction = 0.1 + 0.1 * i;
            ok &= bits_add(b, d, -0.2 + 0.1 * i, 0.02 * i, 0.031);
        }
    }
    return ok;
}
/* 0: a description was refused, or a step failed. */
static unsigned long long bits_of(int scene, embipc_parallel_for_fn *parallel, void *pool)
{
    static bits_world b;
    embipc_world_def wd = embipc_default_world_def();
    unsigned long long hash = 0;
    int n, ok;
    memset(&b, 0, sizeof b);
    wd.parallel_for = parallel;
    wd.parallel_ctx = pool;
    if (scene == 2) wd.integrator = EMBIPC_BDF2;
    if (scene == 7) wd.sleep_after = 0.1;
    if (embipc_world_create(&wd, &b.w, NULL)) return 0;
    ok = bits_bodies(&b, scene);
    for (n = 0; n < 40 && ok; n++) {
        double d[2][3] = {{0, 0, 0}, {0, 0, 0}}, r[2][3] = {{0, 0, 0}, {0, 0, 0}};
        static const double belt[3] = {0.3, 0.1, 0};
        if (scene == 3) d[0][2] = -1.5e-3 * (n + 1);
        if (scene == 8) { r[0][0] = 0.06 * (n + 1); r[1][0] = -r[0][0]; d[1][0] = -2e-4 * n; }
        if (scene == 9 && n == 5) ok = !embipc_body_set_surface_velocity(b.w, b.body[0], belt);
        for (int k = 0; k < b.drives && ok; k++) ok = !embipc_drive_set_target(b.w, b.drive[k], d[k], r[k]);
        if (ok && embipc_world_step(b.w, NULL)) {
            printf("%s\n", embipc_world_error(b.w)->text);
            ok = 0;
        }
    }
    if (ok) hash = embipc_world_hash(b.w);
    embipc_world_destroy(b.w);
    return hash;
}
#endif
