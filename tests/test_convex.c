/* examples/convex_contact.c: the projection on the friction cone, its derivative, the regularization, and whole steps,
 * against closed forms. Numbers of a point of 1 kg follow from them by hand: mu 0.5, R_n 0.1, R_t 1e-3, vhat 0.1. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L   /* popen */
#endif
#include "../embipc.h"
#define main convex_main
#include "convex_contact.inc"   /* the example without its include of the header, by the Makefile */
#undef main
#include "test.h"

static const point one = {0.5, 0.1, 1e-3, 0.1};

/* g = P(y), by the velocity that has this y */
static void project(double y0, double y1, double y2, double g[3])
{
    double v[3], G[9];
    v[0] = -y0 * one.Rt;
    v[1] = -y1 * one.Rt;
    v[2] = one.vhat - y2 * one.Rn;
    (void)impulse(&one, v, g, G);
}

/* P is the nearest point of the cone in the norm of R: no other point of it is nearer. */
static void test_projection(void)
{
    double g[3];
    project(3, 0, 1, g);            /* (1 + 0.005 * 3) / (1 + 0.0025), and half of it */
    ENSURE_CLOSE(g[2], 1.015 / 1.0025, 1e-12);
    ENSURE_CLOSE(g[0], 0.5 * 1.015 / 1.0025, 1e-12);
    project(3, 4, -0.02, g);
    ENSURE_CLOSE(g[0], 1.49625935e-3, 1e-11);
    ENSURE_CLOSE(g[1], 1.99501247e-3, 1e-11);
    ENSURE_CLOSE(g[2], 4.98753117e-3, 1e-11);
    project(3, 4, -0.03, g);
    ENSURE(g[0] == 0 && g[1] == 0 && g[2] == 0);
    project(0.1, 0, 1, g);
    ENSURE_CLOSE(g[0], 0.1, 1e-15);
    ENSURE_CLOSE(g[2], 1, 1e-15);
    for (int n = 0; n < 200; n++) {
        double y[3], best = 0, other;
        for (int i = 0; i < 3; i++) y[i] = test_uniform(-3, 3);
        project(y[0], y[1], y[2], g);
        ENSURE(hypot(g[0], g[1]) <= one.mu * g[2] + 1e-12);
        for (int i = 0; i < 3; i++) best += (i < 2 ? one.Rt : one.Rn) * (y[i] - g[i]) * (y[i] - g[i]);
        for (int k = 0; k < 200; k++) {
            double p[3], angle = test_uniform(0, 6.2831853);
            p[2] = fmax(0, g[2] + test_uniform(-0.1, 0.1));
            p[0] = one.mu * p[2] * test_uniform(0.9, 1) * cos(angle);
            p[1] = one.mu * p[2] * test_uniform(0.9, 1) * sin(angle);
            other = 0;
            for (int i = 0; i < 3; i++) other += (i < 2 ? one.Rt : one.Rn) * (y[i] - p[i]) * (y[i] - p[i]);
            ENSURE(other >= best - 1e-12);
        }
    }
}

/* g is minus the gradient of l, and G minus the derivative of g: symmetric and not negative. */
static void test_derivatives(void)
{
    int kinds[3] = {0, 0, 0};
    for (int n = 0; n < 300; n++) {
        double v[3], g[3], G[9], at[3], plus[3], minus[3], trash[9], t = 1e-7, up, down;
        v[0] = test_uniform(-1e-3, 1e-3);
        v[1] = test_uniform(-1e-3, 1e-3);
        v[2] = test_uniform(-0.2, 0.3);
        (void)impulse(&one, v, g, G);
        kinds[g[2] == 0 ? 0 : hypot(g[0], g[1]) < 0.499999 * g[2] ? 1 : 2]++;
        for (int i = 0; i < 3; i++) {
            memcpy(at, v, sizeof at);
            at[i] = v[i] + t;
            up = impulse(&one, at, plus, trash);
            at[i] = v[i] - t;
            down = impulse(&one, at, minus, trash);
            ENSURE_CLOSE((up - down) / (2 * t), -g[i], 1e-4);
            for (int j = 0; j < 3; j++) {
                ENSURE_CLOSE((plus[j] - minus[j]) / (2 * t), -G[3 * j + i], 1e-2 * (G[0] + G[4] + G[8]) + 1e-6);
                ENSURE_CLOSE(G[3 * i + j], G[3 * j + i], 1e-9);
            }
            ENSURE(G[4 * i] >= 0);
        }
    }
    ENSURE(kinds[0] > 20 && kinds[1] > 20 && kinds[2] > 20);
}

/* R_n is the rigid limit w/(4 pi^2) or the compliance 1/(h k (h + tau)), whichever is larger. */
static void test_regularization(void)
{
    const double w[3] = {1, 1, 1}, pi = acos(-1.0);
    ENSURE_CLOSE(make_point(1e5, 0.1, 0, 0.01, 0.5, w).Rn, 1 / (4 * pi * pi), 1e-12);
    ENSURE_CLOSE(make_point(100, 0.1, 0, 0.01, 0.5, w).Rn, 9.0909090909, 1e-9);
    ENSURE_CLOSE(make_point(1e3, 0, 0, 0.01, 0.5, w).Rn, 10, 1e-12);
    ENSURE_CLOSE(make_point(1e3, 0, 0, 0.01, 0.5, w).Rt, 1e-3, 1e-15);
    ENSURE_CLOSE(make_point(1e3, 0.1, -0.011, 0.01, 0.5, w).vhat, 0.1, 1e-15);
}

/* One step of a point of 1 kg that slips, sticks, and flies off */
static void test_point(void)
{
    static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double start[3][3] = {{1, 0, -0.0981}, {3e-4, 0, -0.0981}, {0, 0, 0.5}};
    static const double end[3][2] = {{0.741492316, 0.418915368}, {2.997002997e-7, 0.0819909091}, {0, 0.5}};
    static const double push[3][2] = {{-0.258507684, 0.517015368}, {-2.997002997e-4, 0.180090909}, {0, 0}};
    for (int k = 0; k < 3; k++) {
        double v[3], g[3], value;
        memcpy(v, start[k], sizeof v);
        ENSURE(solve(3, unit, start[k], 1, &one, 1e-13, v, &value, g) < 20);
        ENSURE_CLOSE(v[0], end[k][0], 1e-9);
        ENSURE_CLOSE(v[2], end[k][1], 1e-9);
        ENSURE_CLOSE(g[0], push[k][0], 1e-9);
        ENSURE_CLOSE(g[2], push[k][1], 1e-9);
        if (k == 0) ENSURE_CLOSE(value, 0.180464214, 1e-9);
        for (int i = 0; i < 3; i++) ENSURE_CLOSE(v[i] - start[k][i], g[i], 1e-12);   /* impulse = change of momentum */
    }
}

/* In the air a step is M (v - v^n) = h (f + weight - (h + beta) K v), which is backward Euler with damping beta K. */
static void test_free(void)
{
    static double M[N * N], K[N * N];
    static block b;
    double f[N] = {0}, before[N];
    make_block(&b, 0.5);
    for (int i = 0; i < N; i++) {
        b.q[i] += test_uniform(-0.005, 0.005) + (i % 3 == 2);
        b.v[i] = before[i] = test_uniform(-1, 1);
    }
    assemble(&b, M, K, f);
    step(&b);
    for (int i = 0; i < N; i++) {
        double momentum = 0, force = f[i];
        for (int j = 0; j < N; j++) {
            momentum += M[N * i + j] * (b.v[j] - before[j]);
            force += (j % 3 == i % 3) * M[N * i + j] * b.gravity[i % 3] - (h + beta) * K[N * i + j] * b.v[j];
        }
        ENSURE_CLOSE(momentum, h * force, 1e-12);
    }
    for (int k = 0; k < P; k++) ENSURE(b.g[k] == 0);
}

/* At rest springs carry the weight, m g = k depth, and impulses are m g h. The reduced problem is the full one. */
static void test_rest(void)
{
    static block b;
    make_block(&b, 0.5);
    for (int n = 0; n < 1500; n++) {
        step(&b);
        ENSURE(b.differ < 1e-12);
    }
    ENSURE_CLOSE(b.mass, 1, 1e-12);
    ENSURE_CLOSE(b.depth, 9.81 * b.mass / stiff, 1e-9);
    ENSURE_CLOSE(9 * mean(POINTS, b.g + 2), 9.81 * b.mass * h, 1e-9);
    ENSURE_CLOSE(9 * mean(POINTS, b.g), 0, 1e-9);
}

/* On a slope of tan 0.5 it slides by g (sin - mu cos) at mu 0.49, and at 0.51 it sticks. A sticking point creeps at R_t
 * times its impulse. */
static void test_slope(void)
{
    for (int k = 0; k < 2; k++) {
        static block b;
        double before = 0;
        make_block(&b, k ? 0.51 : 0.49);
        b.gravity[0] = 9.81 / sqrt(5.0);
        b.gravity[2] = -9.81 * 2 / sqrt(5.0);
        for (int n = 0; n < 1000; n++) {
            if (n == 900) before = mean(NODES, b.v);
            step(&b);
            ENSURE(b.differ < 1e-12);
        }
        if (k == 0) ENSURE_CLOSE((mean(NODES, b.v) - before) / (100 * h), 9.81 / sqrt(5.0) * (1 - 2 * b.mu), 1e-6);
        if (k == 0) ENSURE_CLOSE(9 * mean(POINTS, b.g), -b.mu * 9 * mean(POINTS, b.g + 2), 1e-9);
        if (k == 1) ENSURE_CLOSE(9 * mean(POINTS, b.g), -b.mass * b.gravity[0] * h, 1e-7);
        if (k == 1) ENSURE(mean(NODES, b.v) > 0 && mean(NODES, b.v) < 1e-3 * h * 9.81);
    }
}

static char program[1100];          /* the example, beside this test */

/* What the program prints: the point that slips, and the block on the slope */
static void test_output(void)
{
    char line[256];
    double a, b, mu, speed, found, coulomb;
    int points = 0, slopes = 0;
    FILE *f = fopen(program, "rb");
    if (!f) SKIP("not built: make examples");
    fclose(f);
    f = popen(program, "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "a point of 1 kg: v %lf %lf", &a, &b) == 2 && points++ == 0) {
            ENSURE_CLOSE(a, 0.741492316, 2e-9);
            ENSURE_CLOSE(b, 0.418915368, 2e-9);
        }
        if (sscanf(line, "slope, mu %lf: speed %lf m/s, acceleration %lf m/s^2, Coulomb %lf", &mu, &speed, &found,
                   &coulomb) != 4) continue;
        ENSURE_CLOSE(found, coulomb, 1e-5);
        ENSURE(slopes++ ? speed < 1e-4 : speed > 0.2);
    }
    ENSURE(f && pclose(f) == 0);
    ENSURE(points == 3 && slopes == 2);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    snprintf(program, sizeof program, "%.*s/examples/convex_contact", slash ? (int)(slash - argv[0]) : 1,
             slash ? argv[0] : ".");
    test_begin(argc, argv);
    RUN(projection);
    RUN(derivatives);
    RUN(regularization);
    RUN(point);
    RUN(free);
    RUN(rest);
    RUN(slope);
    RUN(output);
    return test_end("test_convex");
}
