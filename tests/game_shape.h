/* Ready shapes: checked surfaces, volumes by closed forms, and that they are bodies. */
#ifndef GAME_SHAPE_H
#define GAME_SHAPE_H

static void test_ready_shapes(void)
{
    static const double size[4][3] = {{0.2, 0.5, 1}, {0.3, 0, 0}, {0.2, 0.7, 0}, {0.2, 0.9, 0}};
    const double pi = acos(-1.0);
    for (int kind = 0; kind < 4; kind++)
        for (int detail = 1; detail < 20; detail++) {
            int count = embipc_shape((embipc_shape_kind)kind, size[kind], detail, NULL, NULL, 0), nv = count / 2 + 2, *t, written;
            double *x, v, exact, far = 0;
            embipc_solid solid;
            embipc_error e;
            if (kind > 1 && detail < (kind == 2 ? 3 : 4)) {
                ENSURE(count == -1);
                continue;
            }
            ENSURE(count == (kind == 0 ? 12 * detail * detail : kind == 1 ? 20 * detail * detail : kind == 2 ? 4 * detail : detail / 4 * 4 * detail));
            x = (double *)malloc((size_t)(3 * nv + 1) * sizeof *x);
            t = (int *)malloc((size_t)(3 * count + 1) * sizeof *t);
            x[0] = x[3 * nv] = 77;
            t[3 * count] = 77;
            ENSURE(embipc_shape((embipc_shape_kind)kind, size[kind], detail, x, t, count - 1) == count && x[0] == 77);
            written = embipc_shape((embipc_shape_kind)kind, size[kind], detail, x, t, count);
            ENSURE(written == count && x[3 * nv] == 77 && t[3 * count] == 77);
            memset(&e, 0, sizeof e);
            ENSURE(embipc_surface_check(x, nv, t, count, 1, &e) == EMBIPC_OK);
            if (e.code) printf("  kind %d, %d: %s\n", kind, detail, e.text);
            ENSURE(embipc_surface_crossings(x, nv, t, count, NULL, 0, 1) == 0);
            ENSURE(embipc_mass_properties(x, nv, t, count, &solid) == EMBIPC_OK);
            v = solid.volume;
            for (int i = 0; i < 3; i++) ENSURE_CLOSE(solid.centroid[i], 0, kind > 1 && detail % 2 ? 0.02 : 1e-14);
            if (kind == 0) {
                ENSURE_REL(v, 0.1, 1e-12);
                for (int i = 0; i < nv; i++) {   /* on its faces, exactly */
                    int on = 0;
                    for (int c = 0; c < 3; c++) on |= fabs(x[3 * i + c]) == size[0][c] / 2;
                    ENSURE(on);
                }
            }
            exact = kind == 1 ? 4 * pi / 3 * 0.027 : kind == 2 ? pi * 0.04 * 0.7 : 4 * pi / 3 * 0.008 + pi * 0.04 * 0.5;
            if (kind == 2) ENSURE_REL(v, 0.7 * 0.04 * detail / 2 * sin(2 * pi / detail), 1e-13);   /* a prism */
            if (kind) ENSURE(v < exact && (detail < 16 || v > 0.94 * exact));
            for (int i = 0; i < nv; i++) {   /* the round parts have the radius */
                double *p = x + 3 * i, z = kind == 3 ? fmax(fabs(p[2]) - 0.25, 0) : p[2];
                far = fmax(far, fabs(p[2]));
                if (kind == 1 || kind == 3) ENSURE_CLOSE(sqrt(p[0] * p[0] + p[1] * p[1] + z * z), size[kind][0], 1e-15);
            }
            if (kind > 1) ENSURE_CLOSE(far, size[kind][1] / 2, 1e-16);
            free(x);
            free(t);
        }
}

/* nothing but these */
static void test_ready_shapes_refuse(void)
{
    double size[3] = {1, 2, 3}, x[3];
    int t[3];
    ENSURE(embipc_shape(EMBIPC_BOX, NULL, 1, NULL, NULL, 0) == -1 && embipc_shape(EMBIPC_SHAPE_KINDS, size, 1, NULL, NULL, 0) == -1);
    ENSURE(embipc_shape(EMBIPC_BOX, size, 0, NULL, NULL, 0) == -1 && embipc_shape(EMBIPC_BOX, size, 4097, NULL, NULL, 0) == -1);
    ENSURE(embipc_shape(EMBIPC_BOX, size, 1, NULL, t, 12) == -1 && embipc_shape(EMBIPC_BOX, size, 1, x, NULL, 12) == -1);
    ENSURE(embipc_shape(EMBIPC_SPHERE, size, 4096, NULL, NULL, 0) == 20 * 4096 * 4096);
    ENSURE(embipc_shape(EMBIPC_CAPSULE, size, 8, NULL, NULL, 0) == -1);   /* a ball */
    size[1] = (double)NAN;
    ENSURE(embipc_shape(EMBIPC_BOX, size, 1, NULL, NULL, 0) == -1 && embipc_shape(EMBIPC_SPHERE, size, 1, NULL, NULL, 0) == 20);
    ENSURE(embipc_shape(EMBIPC_CYLINDER, size, 8, NULL, NULL, 0) == -1);
    size[0] = 0;
    ENSURE(embipc_shape(EMBIPC_SPHERE, size, 1, NULL, NULL, 0) == -1);
}

static void game_shape(void)
{
    RUN(ready_shapes);
    RUN(ready_shapes_refuse);
}
#endif
