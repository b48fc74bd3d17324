/* arm.c - a robot arm of seven hinges takes a soft ball from the ground and puts it into a bowl.
 *
 * You learn joints: hinges, sliders, motors with a target, an added effort and a limit, and what
 * embipc_joint_get_state() measures. The controller is that of many real arms. Inverse kinematics turns a path of
 * the hand into angles, gravity compensation carries the weight, and motors like springs with dampers do the rest.
 * Nothing tells the ball where to go: the friction of the fingers holds it. Build: cc -std=c99 -O2 arm.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { HINGES = 7, PARTS = HINGES + 2, KEYS = 12, HELD = 6, SIDES = 16 };
static const double pi = 3.14159265358979, h = 0.005, gravity = 9.81, R = 0.045;   /* R: radius of the ball, m */

/* The moving parts while the arm stands upright: seven links, one above the other, the last of them the palm, and two
 * fingers that slide in it. A link turns about an axis of its frame, 1 y or 2 z, in its lower end. Lengths in m. */
static const struct part { int axis; double width[2], from, to, aside; } part[PARTS] = {   /* z: from, to; y: aside */
    {2, {0.1, 0.1}, 0.05, 0.34, 0}, {1, {0.1, 0.1}, 0.34, 0.54, 0}, {2, {0.1, 0.1}, 0.54, 0.74, 0},
    {1, {0.1, 0.1}, 0.74, 0.94, 0}, {2, {0.1, 0.1}, 0.94, 1.14, 0}, {1, {0.1, 0.1}, 1.14, 1.24, 0},
    {2, {0.05, 0.2}, 1.24, 1.30, 0}, {1, {0.05, 0.02}, 1.31, 1.46, 0.075}, {1, {0.05, 0.02}, 1.31, 1.46, -0.075} };
static const double grip = 1.44;   /* where the fingers hold the ball */

/* The path of the grip, with the hand pointing down: time, s; x, y, z, m; angle about the vertical, rad; way of each
 * finger, m. The fingers are told to go deeper than the ball lets them, so that both motors reach their limit. */
static const double path[KEYS][6] = {
    {0.0, 0.45,  0.00, 0.35,  0.0, 0},    {1.5, 0.45,  0.00, 0.35,  0.0, 0},      /* bend, from upright */
    {3.0, 0.50, -0.25, 0.20,  0.5, 0},    {3.7, 0.50, -0.25, R,     0.5, 0},      /* above the ball; down */
    {4.2, 0.50, -0.25, R,     0.5, 0.04}, {5.2, 0.50, -0.25, 0.30,  0.5, 0.04},   /* close; lift */
    {5.7, 0.50, -0.25, 0.30,  0.5, 0.04}, {7.2, 0.45,  0.30, 0.30, -0.6, 0.04},   /* hold still; above the bowl */
    {7.9, 0.45,  0.30, 0.12, -0.6, 0.04}, {8.4, 0.45,  0.30, 0.12, -0.6, 0},      /* down; open */
    {9.1, 0.45,  0.30, 0.30, -0.6, 0},    {9.7, 0.45,  0.30, 0.30, -0.6, 0} };    /* up; wait */

/* Half a section of the bowl, radius and height, m: the foot, up to the rim, and down to the bottom inside. */
static const double bowl[7][2] = {
    {0, 0}, {0.06, 0}, {0.13, 0.07}, {0.12, 0.07}, {0.09, 0.03}, {0.055, 0.01}, {0, 0.01} };

typedef struct frame { double axis[3][3], p[3]; } frame;   /* three unit vectors, and a place */

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Forward kinematics: the frames of the links with the angles q, and last the frame at the grip. With all angles 0
 * the arm stands upright, and all frames are parallel to the world. */
static void forward(const double q[HINGES], frame f[HINGES + 1])
{
    static const frame root = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    f[0] = root; f[0].p[2] = part[0].from;
    for (int k = 0; k < HINGES; k++) {
        double height = (k < HINGES - 1 ? part[k].to : grip) - part[k].from;
        double *u = f[k].axis[(part[k].axis + 1) % 3], *v = f[k].axis[(part[k].axis + 2) % 3];
        for (int i = 0; i < 3; i++) {
            double a = u[i], b = v[i];
            u[i] = cos(q[k]) * a + sin(q[k]) * b; v[i] = cos(q[k]) * b - sin(q[k]) * a;
        }
        f[k + 1] = f[k];
        for (int i = 0; i < 3; i++) f[k + 1].p[i] += height * f[k].axis[2][i];
    }
}

/* Inverse kinematics: moves the angles q until the hand is at the target, by damped least squares. A step is
 * dq = J^T (J J^T + c^2 I)^-1 e. The error e has six rows; of all dq of seven angles this is about the shortest. */
static void inverse(double q[HINGES], const frame *target)
{
    for (int step = 0; step < 100; step++) {
        frame f[HINGES + 1];
        double J[6][HINGES], A[36], e[6] = {0, 0, 0, 0, 0, 0}, arm[3], w[3], size = 0;
        forward(q, f);
        for (int i = 0; i < 3; i++) {            /* place, m, and rotation, rad: half the sum of axis x its target */
            cross(f[HINGES].axis[i], target->axis[i], w);
            for (int j = 0; j < 3; j++) e[3 + j] += 0.5 * w[j];
            e[i] = target->p[i] - f[HINGES].p[i];
        }
        for (int i = 0; i < 6; i++) size += e[i] * e[i];
        if (size < 1e-18) return;
        for (int k = 0; k < HINGES; k++) {       /* column k: what the hand does while hinge k turns by 1 rad/s */
            for (int i = 0; i < 3; i++) arm[i] = f[HINGES].p[i] - f[k].p[i];
            cross(f[k].axis[part[k].axis], arm, w);
            for (int i = 0; i < 3; i++) { J[i][k] = w[i]; J[3 + i][k] = f[k].axis[part[k].axis][i]; }
        }
        for (int i = 0; i < 36; i++) {
            A[i] = i % 7 ? 0 : 1e-4;             /* c^2 on the diagonal */
            for (int k = 0; k < HINGES; k++) A[i] += J[i / 6][k] * J[i % 6][k];
        }
        embipc_dense_ldlt_factor(6, A, 6);
        embipc_dense_ldlt_solve(6, A, 6, e);
        for (int k = 0; k < HINGES; k++) for (int i = 0; i < 6; i++) q[k] += J[i][k] * e[i];
    }
}

/* A motion from 0 to 1 that starts and ends at rest. */
static double smooth(double s) { return s < 1 ? s * s * (3 - 2 * s) : 1; }

/* The path at time t: sets the frame of the hand and returns the way of the fingers. */
static double follow(double t, frame *hand)
{
    const double (*key)[6] = path;
    double at[5], s;
    while (key < path + KEYS - 2 && t > key[1][0]) key++;
    s = smooth((t - key[0][0]) / (key[1][0] - key[0][0]));
    for (int i = 0; i < 5; i++) at[i] = (1 - s) * key[0][1 + i] + s * key[1][1 + i];
    memset(hand, 0, sizeof *hand);
    memcpy(hand->p, at, sizeof hand->p);
    hand->axis[0][0] = cos(at[3]); hand->axis[0][1] = sin(at[3]); hand->axis[2][2] = -1;   /* z looks down */
    cross(hand->axis[2], hand->axis[0], hand->axis[1]);
    return at[4];
}

/* Adds a solid of revolution about the vertical through p, with x and y stretched. Its section, radius and height, m,
 * begins and ends on the axis and has the solid on its left. Each row in between becomes a ring of vertices, a polygon
 * around the circle: with 4 sides a square. */
static int turned(embipc_world *world, embipc_body_def *bd, const char *name, double px, double py, double pz,
                  const double (*section)[2], int rows, int sides, double sx, double sy, embipc_body *body)
{
    double x[3 * (7 * SIDES + 2)];
    int t[6 * (7 * SIDES + 2)], n = 0, rings = rows - 2, top = 1 + rings * sides;
    x[0] = x[1] = x[3 * top] = x[3 * top + 1] = 0;
    x[2] = section[0][1]; x[3 * top + 2] = section[rows - 1][1];
    for (int i = 0; i < rings * sides; i++) {
        int here = 1 + i, next = 1 + i - i % sides + (i + 1) % sides, last = i / sides == rings - 1;
        double a = 2 * pi * (i + 0.5) / sides, r = section[1 + i / sides][0] / cos(pi / sides);
        x[3 * here] = sx * r * cos(a); x[3 * here + 1] = sy * r * sin(a); x[3 * here + 2] = section[1 + i / sides][1];
        if (i < sides) { t[n++] = 0; t[n++] = next; t[n++] = here; }
        t[n++] = here; t[n++] = next; t[n++] = last ? top : next + sides;
        if (!last) { t[n++] = here; t[n++] = next + sides; t[n++] = here + sides; }
    }
    bd->x = x; bd->vertex_count = top + 1; bd->triangles = t; bd->triangle_count = n / 3; bd->name = name;
    bd->position[0] = px; bd->position[1] = py; bd->position[2] = pz;
    return !embipc_body_create(world, bd, body);
}

/* Fills the world: ground, bowl and ball, and the parts of the upright arm with a joint each. Returns 0 on failure. */
static int build(embipc_world *world, embipc_body body[PARTS], embipc_joint joint[PARTS], embipc_body *ball)
{
    static const double ground[4][2] = {{0, -0.1}, {1, -0.1}, {1, 0}, {0, 0}};
    const double *from = path[3], *to = path[KEYS - 1];         /* where the ball is taken and left */
    embipc_body_def bd = embipc_default_body_def();
    double sphere[9][2];
    int ok;
    for (int i = 0; i < 9; i++) {                               /* flat at its ends, so that it does not roll away */
        double a = pi * (i < 1 ? 0.5 : i > 7 ? 6.5 : i - 0.5) / 7;
        sphere[i][0] = i % 8 ? R * sin(a) : 0; sphere[i][1] = -R * cos(a);
    }
    bd.friction = 0.8;
    ok = turned(world, &bd, "ground", 0, 0, 0, ground, 4, 4, 1, 1, body)
      && turned(world, &bd, "bowl", to[1], to[2], 0, bowl, 7, SIDES, 1, 1, body);
    bd.kind = EMBIPC_CAGE; bd.material.young = 3e4; bd.material.density = 300;
    ok = ok && turned(world, &bd, "ball", from[1], from[2], R, (const double (*)[2])sphere, 9, SIDES, 1, 1, ball);
    bd.kind = EMBIPC_AFFINE; bd.material.young = 1e9; bd.material.density = 1000;   /* almost rigid; 1 kg per litre */
    for (int k = 0; k < PARTS && ok; k++) {
        const struct part *p = &part[k];
        const int finger = k >= HINGES, palm = HINGES - 1;
        double box[4][2] = {{0, p->from}, {0.5, p->from}, {0.5, p->to}, {0, p->to}};
        embipc_joint_def jd = embipc_default_joint_def();
        if (k) jd.a = body[finger ? palm : k - 1];              /* the first hinge is on the world */
        bd.no_contact = &jd.a; bd.no_contact_count = k > 0;     /* parts may overlap where they are linked */
        ok = turned(world, &bd, finger ? "finger" : "link", 0, p->aside, 0, (const double (*)[2])box, 4,
                    k < palm ? SIDES : 4, p->width[0], p->width[1], &body[k]);
        jd.kind = finger ? EMBIPC_SLIDER : EMBIPC_HINGE; jd.b = body[k];
        jd.point[1] = p->aside; jd.point[2] = p->from;
        jd.axis[2] = 0; jd.axis[p->axis] = p->aside > 0 ? -1 : 1;                   /* a finger goes to the other */
        jd.motor_stiffness = finger ? 500 : 2000; jd.motor_damping = finger ? 20 : 100;
        jd.motor_limit = finger ? 5 : 200;                      /* N, N m */
        ok = ok && !embipc_joint_create(world, &jd, &joint[k]);
    }
    return ok;
}

/* Gives the motors their targets and the velocities of these. The effort that is added carries the weight of all
 * parts from the hinge on: m g axis x (centre of mass - hinge). */
static void command(embipc_world *world, const embipc_body body[PARTS], const embipc_joint joint[PARTS],
                    const double target[PARTS], const double old[PARTS])
{
    double mass = 0, mx = 0, my = 0;           /* mass, and mass times centre */
    frame f[HINGES + 1];
    forward(target, f);
    for (int k = PARTS - 1; k >= 0; k--) {
        const double *axis = k < HINGES ? f[k].axis[part[k].axis] : NULL;
        embipc_body_state s;
        embipc_body_get_state(world, body[k], &s);
        mass += s.mass; mx += s.mass * s.centre[0]; my += s.mass * s.centre[1];
        embipc_joint_set_motor(world, joint[k], target[k], (target[k] - old[k]) / h,
            axis ? gravity * (axis[0] * (my - mass * f[k].p[1]) - axis[1] * (mx - mass * f[k].p[0])) : 0);
    }
}

/* Prints the grip: the effort of each finger's motor, and the force of its contacts along the axis of the slider. */
static void print_grip(const embipc_world *world, const embipc_joint joint[PARTS], const frame *hand, double weight)
{
    embipc_pair_force f[2];                    /* rows: the ball and each finger */
    double lift = 0;
    int n = embipc_world_pair_forces(world, f, 2);
    for (int i = 0; i < 2 && n == 2; i++) {
        embipc_joint_state s;
        double press = f[i].force[0] * hand->axis[1][0] + f[i].force[1] * hand->axis[1][1];   /* the axis is level */
        embipc_joint_get_state(world, joint[HINGES + i], &s);
        lift += f[i].force[2];
        printf("       finger %d: its motor grips with %.4f N, the ball feels %.4f N\n", i, s.effort, fabs(press));
    }
    printf("       the fingers lift with %.4f N, the ball weighs %.4f N\n", lift, weight);
}

int main(void)
{
    const double *end = path[KEYS - 1];
    const int steps = (int)(end[0] / h + 0.5);
    double q[HINGES] = {0, 0.4, 0.5, 1.2, 0, 1.5, 0}, target[PARTS], old[PARTS] = {0};   /* bent, the elbow aside */
    double gap = 0, error = 0, off, seconds;
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *world;
    embipc_body body[PARTS], ball;
    embipc_joint joint[PARTS];
    embipc_body_state s;
    frame hand;
    int key = 1, converged = 0, crossings, inside;
    clock_t begin;

    wd.time_step = h; wd.gravity[2] = -gravity;
    if (embipc_world_create(&wd, &world, NULL)) return 1;
    if (!build(world, body, joint, &ball)) { puts(embipc_world_error(world)->text); return 1; }
    begin = clock();
    for (int step = 1; step <= steps; step++) {
        embipc_step_stats stats;
        embipc_joint_state now;
        target[HINGES] = target[HINGES + 1] = follow(step * h, &hand);
        inverse(q, &hand);                   /* nearest to the angles of the last step */
        for (int k = 0; k < HINGES; k++) target[k] = smooth(step * h / path[1][0]) * q[k];   /* from upright, first */
        command(world, body, joint, target, old);
        memcpy(old, target, sizeof old);
        if (embipc_world_step(world, &stats)) { puts(embipc_world_error(world)->text); return 1; }
        converged += stats.converged;
        for (int k = 0; k < PARTS; k++) {
            embipc_joint_get_state(world, joint[k], &now);
            gap = fmax(gap, now.gap);
            if (k < HINGES) error = fmax(error, fabs(now.position - target[k]));
        }
        embipc_body_get_state(world, ball, &s);
        if (key == KEYS || step * h < path[key][0] - h / 2) continue;
        printf("%.1f s: the ball is at %6.3f %6.3f %6.3f m\n", step * h, s.centre[0], s.centre[1], s.centre[2]);
        if (key++ == HELD) print_grip(world, joint, &hand, s.mass * gravity);
    }
    seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    off = hypot(s.centre[0] - end[1], s.centre[1] - end[2]);
    inside = off < bowl[3][0] - R && s.centre[2] > 0 && s.centre[2] < bowl[3][1];
    crossings = embipc_world_intersections(world, NULL, 0);
    printf("%.1f s took %.3f s of one core: %.1f s are simulated per second\n", steps * h, seconds,
           steps * h / fmax(seconds, 1e-3));
    printf("steps that converged: %d of %d; surfaces that cross: %d\n", converged, steps, crossings);
    printf("largest gap of a joint: %.2e m; largest error of an angle: %.2e rad\n", gap, error);
    printf("the ball is %s the bowl: %.4f m from its axis, %.4f m high\n", inside ? "in" : "not in", off, s.centre[2]);
    embipc_world_destroy(world);
    return inside && converged == steps && crossings == 0 ? 0 : 1;
}
