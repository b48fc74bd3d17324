/* The examples: runs the programs of examples/ and compares what they print with what physics says: closed
 * forms, and what the header promises. They are looked for beside this program, in examples/. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L   /* popen */
#endif
#include "test.h"

static char directory[1024], out[16384];

/* Runs an example and keeps what it prints in `out`. Returns 1, 0 when it is not there, -1 when it failed. */
static int launch(const char *name)
{
    char path[1200], command[1300];
    size_t n;
    int status;
    FILE *f;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    f = fopen(path, "rb");
    if (!f) return 0;
    fclose(f);
    snprintf(command, sizeof command, "'%s'", path);
    f = popen(command, "r");
    n = f ? fread(out, 1, sizeof out - 1, f) : 0;
    out[n] = 0;
    status = f ? pclose(f) : -1;
    if (status != 0) printf("  %s ended with status %d and said: %.200s\n", name, status, out);
    ENSURE(status == 0);
    return status == 0 ? 1 : -1;
}
#define LAUNCH(name) \
    do { int r_ = launch(name); if (r_ == 0) SKIP("not built: make examples"); if (r_ < 0) return; } while (0)

/* The k-th number (from 0) after the text `key`; nan, and a failed check, when there is none. Numbers begin
 * after a blank or a bracket, so that "rate2" is not one. */
static double number(const char *key, int k)
{
    const char *at = strstr(out, key);
    if (at) for (at += strlen(key); *at; at++) {
        char *end;
        double v;
        if (at[-1] != ' ' && at[-1] != '(') continue;
        if (!strchr("0123456789-", *at)) continue;
        v = strtod(at, &end);
        if (end == at) continue;
        if (k-- == 0) return v;
        at = end - 1;
    }
    printf("  no such number after \"%s\"\n", key);
    ENSURE(k < 0);   /* the number is missing */
    return NAN;
}

static int says(const char *text) { return strstr(out, text) != NULL; }

/* ten steps of free fall by backward Euler: z0 - g h^2 n (n + 1) / 2; then it rests on the ground */
static void test_hello(void)
{
    double rest;
    LAUNCH("hello");
    ENSURE_CLOSE(number("after 0.1 s its centre is at z =", 0), 0.2 - 9.81e-4 * 55, 1e-9);
    rest = number("after 1.0 s its centre is at z =", 0);
    ENSURE(rest > 0.045 && rest < 0.0502);
    ENSURE_CLOSE(rest, number("after 0.9 s its centre is at z =", 0), 1e-4);
}

/* the same box, as README.md has it, from a cube of embipc_shape() */
static void test_readme(void)
{
    double rest;
    LAUNCH("readme");
    rest = number("after 1 s its centre is at z =", 0);
    ENSURE(rest > 0.045 && rest < 0.0502);
    LAUNCH("hello");
    ENSURE_CLOSE(rest, number("after 1.0 s its centre is at z =", 0), 1e-5);
}

/* uniform strain sags by rho g H^2 / (4 E), the continuum by rho g H^2 / (3 E) */
static void test_drop(void)
{
    const double weight = 1000 * 9.81 * 0.1 * 0.1 / 1e5 * 1e3;   /* mm */
    LAUNCH("drop");
    ENSURE_CLOSE(number("\naffine ", 0), 12, 0);
    ENSURE_CLOSE(number("\nfull ", 0), 375, 0);
    ENSURE(number("\ncage ", 0) > 12 && number("\ncage ", 0) < 375);
    ENSURE_REL(number("\naffine ", 4), weight / 4, 0.005);
    ENSURE_REL(number("\ncage ", 4), weight / 3, 0.08);
    ENSURE_REL(number("\nfull ", 4), weight / 3, 0.08);
    ENSURE(number("\naffine ", 3) < 1e-4 && number("\ncage ", 3) < 1e-4 && number("\nfull ", 3) < 1e-4);
}

/* Coulomb's acceleration, and the creep of smoothed friction, which goes with epsv */
static void test_friction_slope(void)
{
    const double creep = 1e-3 * (1 - sqrt(1 - 0.5 / 0.51));
    LAUNCH("friction_slope");
    ENSURE_REL(number("mu 0.49: slides, acceleration", 0), 9.81 / sqrt(1.25) * 0.01, 1e-4);
    ENSURE_REL(number("mu 0.51: creeps, speed", 0), creep, 1e-4);
    ENSURE_REL(number("closed form says", 2), creep / 100, 1e-4);
}

/* the squeeze is delta and two gaps of at most dhat = 1e-5 m; the last order is 5 cm into the ground */
static void test_grasp_drive(void)
{
    double d;
    int side;
    LAUNCH("grasp_drive");
    ENSURE_CLOSE(number("the plates have been lifted by", 0), 0.075, 1e-5);
    ENSURE_CLOSE(number("the box by", 0), 0.075, 1e-3);
    for (side = 0; side < 2; side++) {
        const char *key = side ? "right plate: squeezes with" : "left plate: squeezes with";
        d = number(key, 0);
        ENSURE(d > 1e5 * 0.01 * 0.004 / 0.1 && d < 1e5 * 0.01 * (0.004 + 2e-5) / 0.1);
        ENSURE_REL(number(key, 1), 4.905, 1e-3);
    }
    ENSURE(says("the drive is blocked (1) by the ground and"));
    d = number("by the ground and", 0);
    ENSURE(d >= 0.05 && d <= 0.050011);
    ENSURE_CLOSE(number("surfaces that cross:", 0), 0, 0);
}

/* The solid of the faceted torus is U wedges, sin(2 pi / U) R times the area of a regular V-gon each. */
static void test_embed_mesh(void)
{
    const double pi = acos(-1.0);
    const double volume = 60 * sin(2 * pi / 60) * 0.07 * 12.5 * 0.03 * 0.03 * sin(2 * pi / 25);
    double d;
    LAUNCH("embed_mesh");
    ENSURE_CLOSE(number("cage:", 0), 40, 8);
    ENSURE(number("cage:", 1) > 5 && number("cage:", 3) > volume);
    ENSURE(says("a hole: body \"ring\"") && says("not closed"));
    ENSURE(says("one flipped: body \"ring\"") && says("triangles 100 and"));
    ENSURE(says("all flipped: body \"ring\"") && says("inside out"));
    ENSURE_CLOSE(number("bodies in the world:", 0), 1, 0);
    ENSURE_REL(number("mass", 0), 1000 * volume, 1e-5);
    ENSURE_REL(number("mass", 1), volume, 1e-6);
    d = number("lowest vertex at", 0);
    ENSURE(d > 0 && d < 3e-4);   /* within dhat, 1e-3 of the diagonal */
    d = number("at rest: centre at", 0);
    ENSURE(d > 0.028 && d < 0.0304);
    ENSURE_CLOSE(number("surfaces that cross:", 0), 0, 0);
}

/* the same bits on a pool, and the pool was really used */
static void test_threads(void)
{
    const char *serial, *threads;
    LAUNCH("threads");
    serial = strstr(out, "serial:    ");
    threads = strstr(out, "threads: ");
    ENSURE(serial && threads);
    if (!serial || !threads) return;
    ENSURE(strncmp(serial + 11, threads + 9, 8) == 0 && strncmp(serial + 11, "00000000", 8) != 0);
    ENSURE(number("the pool was called", 0) > 0);
    ENSURE(number("the pool was called", 1) > number("the pool was called", 0));
}

/* nothing ever crosses; steps that are cut still move */
static void test_anytime(void)
{
    static const char *const rule[] = {"\nconverge ", "\ntwo solves ", "\nflag up ", "\nflag down ", "\n0.5 ms "};
    int i;
    LAUNCH("anytime");
    for (i = 0; i < 5; i++) {
        ENSURE_CLOSE(number(rule[i], 2), 0, 0);
        ENSURE(number(rule[i], 3) > 0 && number(rule[i], 3) < 2e-4);   /* on the ground, within dhat */
    }
    ENSURE_CLOSE(number(rule[0], 0), 0, 0);
    ENSURE(number(rule[1], 0) > 0 && number(rule[1], 1) <= 2);
    ENSURE(number(rule[2], 0) > 0 && number(rule[2], 1) <= 1);
    ENSURE_CLOSE(number(rule[3], 0), 0, 0);
    ENSURE(says("1e-09 s were not enough for one iteration; the world is back at 0.6 s"));
}

/* where kappa b'(d) + m g = 0, b' = -2 (d - dhat) ln(d / dhat) - (d - dhat)^2 / d */
static void test_toolkit(void)
{
    const double kappa = 1e4, dhat = 1e-3, weight = 0.01 * 9.81;
    double lo = 1e-9, hi = dhat, toi;
    int i;
    LAUNCH("toolkit");
    for (i = 0; i < 100; i++) {
        double d = 0.5 * (lo + hi), a = d - dhat, push = kappa * (2 * a * log(d / dhat) + a * a / d);
        if (push > weight) lo = d;
        else hi = d;
    }
    ENSURE_CLOSE(number("hit", 0), 1, 0);
    toi = number("cut at", 0);
    ENSURE(toi >= 0.45 && toi <= 0.5);
    ENSURE_CLOSE(number("after 2 s it floats at", 0), lo, 2e-9);
    ENSURE(number("lowest on the way", 0) > 0);
    ENSURE_CLOSE(number("the barrier pushes with", 0), weight, 1e-7);
}

/* an eigenvector comes back; the second factorisation allocates nothing */
static void test_solve_ldlt(void)
{
    LAUNCH("solve_ldlt");
    ENSURE_CLOSE(number("unknowns", 0), 16 * 16 * 16 + 3 * 15 * 16 * 16, 0);
    ENSURE(number("pass 1: error", 0) < 1e-12 && number("pass 2: error", 0) < 1e-12);
    ENSURE_CLOSE(number("pass 1: error", 1), 0, 0);
    ENSURE_CLOSE(number("pass 2: error", 1), 0, 0);
    ENSURE(number("pass 1: error", 2) > 0);
    ENSURE_CLOSE(number("pass 2: error", 2), 0, 0);
    ENSURE(says("with a nan in it: value not finite"));
}

/* no allocation when warm, nothing lost when refused, nothing left behind */
static void test_allocator(void)
{
    LAUNCH("allocator");
    ENSURE(number("after 100 steps:", 0) > 0);
    ENSURE_CLOSE(number("100 more steps:", 0), 0, 0);
    ENSURE(number("refused", 0) > 0 && says("times, then: ok"));
    ENSURE_CLOSE(number("the first box has the same bits:", 0), 1, 0);
    ENSURE(says("a step that needs more: out of memory, time 2.00 s"));
    ENSURE(says("with memory again: ok, time 2.01 s"));
    ENSURE_CLOSE(number("after the end:", 0), 0, 0);
}

/* The ball is in the bowl. In the hand, at rest: each contact has the force of the motor, which is its limit, and
 * friction carries the weight, about that of a sphere. */
static void test_arm(void)
{
    int finger;
    LAUNCH("arm");
    for (finger = 0; finger < 2; finger++) {
        const char *key = finger ? "finger 1:" : "finger 0:";
        ENSURE_CLOSE(number(key, 0), 5, 1e-4);
        ENSURE_CLOSE(number(key, 1), 5, 0.01);
    }
    ENSURE_REL(number("the ball weighs", 0), 300 * 9.81 * 4 / 3 * 3.14159265 * 0.045 * 0.045 * 0.045, 0.05);
    ENSURE_REL(number("the fingers lift with", 0), number("the ball weighs", 0), 0.01);
    ENSURE(number("of one core:", 0) > 1);
    ENSURE_CLOSE(number("steps that converged:", 0), number("steps that converged:", 1), 0);
    ENSURE_CLOSE(number("surfaces that cross:", 0), 0, 0);
    ENSURE(number("largest gap of a joint:", 0) < 1e-5 && number("largest error of an angle:", 0) < 0.01);
    ENSURE(says("the ball is in the bowl"));
}

/* The block of the derived size serves; a limit that is too small is named, and the snapshot goes on in a larger block. */
static void test_fixed_memory(void)
{
    LAUNCH("fixed_memory");
    ENSURE(number("bytes:", 1) > number("bytes:", 0) && number("bytes:", 1) < 2 * number("bytes:", 0));
    ENSURE(number("run: soft box at", 0) > 0.145 && number("run: soft box at", 0) < 0.151);   /* half a box on a whole one */
    ENSURE_CLOSE(number("run: soft box at", 1), 1, 0);
    ENSURE_CLOSE(number("limits.contacts is", 1), number("needs:", 0), 0);
    ENSURE_CLOSE(number("on in a larger block:", 1), 1, 0);
}

/* The ray meets the fourth ball, at rest on the table, where a sphere would be met. The hand lifts it by 0.1 m, less its
 * sag, m g / k. It falls off the table and is removed. Four balls have landed, and that one has parted from the table. */
static void test_game_loop(void)
{
    const double ball[3] = {0.3, 2, -0.95}, way[3] = {0.45, 3, -1.4};   /* both from the camera */
    double aa = 0, ab = 0, bb = 0, sag = 1000 * 4.18879 * 0.05 * 0.05 * 0.05 * 9.81 / 200;
    int i;
    LAUNCH("game_loop");
    for (i = 0; i < 3; i++) aa += way[i] * way[i], ab += way[i] * ball[i], bb += ball[i] * ball[i];
    ENSURE_CLOSE(number("picked body", 0), 5, 0);
    ENSURE_CLOSE(number("picked body", 2), (ab - sqrt(ab * ab - aa * (bb - 0.05 * 0.05))) / sqrt(aa), 0.003);
    ENSURE_CLOSE(number("m away", 0), 400, 1);
    ENSURE_CLOSE(number("steps", 0), 4, 0);
    ENSURE(number("balls:", 0) >= 4 && number("balls:", 1) > 0 && number("balls:", 2) >= 1);
    ENSURE_CLOSE(number("highest", 0), 0.05 + 0.1 - sag, 0.01);
    ENSURE_CLOSE(number("highest", 1), 1, 0);
    ENSURE_CLOSE(number("bodies that stay:", 0), 4, 0);
}

/* All 70 sleep before the shot, in islands that are no more; that wakes some, and fewer than half. Only who was awake is
 * drawn. */
static void test_sleep(void)
{
    LAUNCH("sleep");
    ENSURE_CLOSE(number("\n    30", 0), 70, 0);
    ENSURE_CLOSE(number("\n   120", 0), 0, 0);
    ENSURE_CLOSE(number("\n   120", 1), 0, 0);
    ENSURE(number("\n   180", 0) > 1 && number("\n   180", 0) < 35);
    ENSURE(number("drawn:", 0) > 360 && number("drawn:", 0) < 0.5 * 360 * 72);
    ENSURE_CLOSE(number("drawn:", 1), 360 * 72, 0);
}

/* the box comes along from the least force on, mu F = m (g + a) / 2; what happens in a branch does not happen in the world */
static void test_snapshot_branch(void)
{
    double least;
    LAUNCH("snapshot_branch");
    least = number("by statics:", 0);
    ENSURE_CLOSE(least, 0.8 * 9.81, 1e-9);
    ENSURE(number("with  6.0 N: the box rose by", 0) < 1e-3 && number("with 14.0 N: the box rose by", 0) > 49);
    ENSURE(number("in the world, with", 0) >= least);
    ENSURE_CLOSE(number("in the world, with", 1), number("with  9.0 N: the box rose by", 0), 0.0051);
    ENSURE(number("the box has moved by", 0) == 0 && number("again differs by", 0) == 0);
}

/* the loaded world has the bits of the other one, and damage is found */
static void test_save_load(void)
{
    LAUNCH("save_load");
    ENSURE(number("bytes at", 0) == 0.4 && says("the hashes are equal") && says("is damaged"));
}

/* The pendulum arrives by the law of energy, and the box gets the angular momentum that it loses. */
static void test_coupling(void)
{
    double lost;
    LAUNCH("coupling");
    ENSURE_CLOSE(number("steps at", 0), sqrt(2 * 9.81 * (1 - cos(0.6))), 1e-3);
    lost = number("pendulum lost", 0);
    ENSURE(lost > 0.1);
    ENSURE_REL(number("pendulum lost", 1), lost, 1e-7);
}

/* A fingertip: nothing slides while it is only pressed; dragged, ever more slides, until all of friction is used. The sum
 * over the taxels is the force of the pair. */
static void test_tactile(void)
{
    static const char *const stage[4] = {"dragged by 0.0 mm", "dragged by 0.4 mm", "dragged by 1.2 mm", "dragged by 4.0 mm"};
    char *whole;
    double used[4], slides[4], touched[4], normal = 0, shear = 0;
    LAUNCH("tactile");
    whole = strdup(out);
    for (int k = 0; k < 4; k++) {
        char *at = strstr(whole, stage[k]);
        ENSURE(at != NULL);
        if (!at) continue;
        snprintf(out, sizeof out, "%s", at + strlen(stage[k]));
        normal = number("normal", 0);
        shear = number("shear", 0);
        used[k] = number("used", 0);
        slides[k] = number("kPa,", 0);
        touched[k] = number("kPa,", 1);
        ENSURE(touched[k] > 30 && used[k] < 1.001 && (k == 0 || (used[k] > used[k - 1] && slides[k] / touched[k] > slides[k - 1] / touched[k - 1])));
        /* Hertz, a little more as the finger is held 7 mm above its middle */
        if (k == 0) ENSURE(normal > 1.74 && normal < 1.3 * 1.74);
    }
    ENSURE(slides[0] == 0);
    ENSURE_CLOSE(used[0], 0, 1e-2);
    ENSURE_CLOSE(used[3], 1, 5e-3);
    ENSURE_CLOSE(number("as a pair: normal", 0), normal, 1e-4);
    ENSURE_CLOSE(number("as a pair: normal", 1), shear, 1e-4);
    free(whole);
}

/* A force of the state before a step makes the box swing by x'' = (2 - w^2 h^2) x' - x, which has a period, and an
 * amplitude. */
static void test_own_force(void)
{
    static const double k[3] = {40, 400, 4000};
    static const char *const key[3] = {"\n     40", "\n    400", "\n   4000"};
    double h = 0.01, before = 0.1, now = 0.1, largest = 0;
    LAUNCH("own_force");
    for (int i = 0; i < 3; i++) {
        double half = sqrt(k[i]) * h / 2;
        ENSURE_REL(number(key[i], 0), acos(-1.0) * h / asin(half), 1e-5);
        ENSURE_REL(number(key[i], 3), 0.1 / sqrt(1 - half * half), 2e-3);
    }
    for (int i = 0; i < 50; i++) {   /* at rest before: x' = x - w^2 h^2 x */
        double next = (2 - 40100 * h * h) * now - before;
        before = now;
        now = next;
        if (fabs(now) > largest) largest = fabs(now);
    }
    ENSURE(largest > 5);
    ENSURE_REL(number("half a second it was", 0), largest, 1e-3);
}

/* the root of t^2/2 + t - 1, from below, each call nearer; a tenth of a gap of 1 m at most is left */
static void test_ccd_only(void)
{
    double root = sqrt(3.0) - 1, first, gap;
    LAUNCH("ccd_only");
    first = number("\n   1 ", 0);
    ENSURE(first < root && first > root - 0.1);
    ENSURE(number("\n   2 ", 0) > first && number("\n   3 ", 0) > number("\n   2 ", 0));
    ENSURE(number("\n   3 ", 0) < root && root - number("\n   3 ", 0) < 1e-3);
    ENSURE_CLOSE(number("sqrt(3) - 1 =", 0), root, 1e-15);
    ENSURE(!strstr(out, " -") || strstr(out, " -") == strstr(out, " - 1 ="));   /* never after contact */
    ENSURE_CLOSE(number("to stay 0.1 m away: hit", 0), 1, 0);
    gap = number("to stay 0.1 m away: hit", 2);
    ENSURE(gap > 0.1 && gap < 0.2);
    ENSURE_CLOSE(number("falls past: hit", 0), 0, 0);
    ENSURE_CLOSE(number("falls past: hit", 1), 1, 0);
    ENSURE_CLOSE(number("two bars: hit", 0), 1, 0);
    ENSURE(number("two bars: hit", 1) <= 0.25 && number("two bars: hit", 1) >= 0.25 * 0.9);
}

/* Facets of an edge e <= 0.06 lie within e^2/6 of the unit sphere; where a ray grazes it, that becomes the root of twice
 * as much. The sphere says which rays meet it. */
static void test_raycast(void)
{
    LAUNCH("raycast");
    ENSURE(number("rays on the ball:", 0) > 100 && number("rays on the ball:", 1) < sqrt(2 * 0.06 * 0.06 / 6));
    ENSURE(number("rays on the ball:", 2) <= 2);
    ENSURE_CLOSE(number("from (0, -3, 1) the nearest point is", 0), 1, 1e-4);   /* the ground */
    ENSURE_CLOSE(number("m away, at", 1), -3, 1e-3);
    ENSURE_CLOSE(number("beside the ball:", 0), 1, 0);
    ENSURE_CLOSE(number("beside the ball:", 1), 1, 0);
}

/* statics and Newton's law for a box of 1 kg with mu = 0.5; a weak hand moves it by the creep of friction only */
static void test_drag(void)
{
    const double hold = 0.5 * 9.81, epsv = 1e-3 * 0.1 * sqrt(3.0);
    LAUNCH("drag");
    ENSURE_CLOSE(number("friction holds with up to", 0), hold, 1e-4);
    ENSURE(number("a weak hand:", 0) < 2 * epsv && number("a weak hand:", 0) >= 0);
    ENSURE_CLOSE(number("a weak hand:", 4), 4, 1e-3);
    ENSURE_CLOSE(number("gained", 0), 0, 1e-4);
    ENSURE_REL(number("a strong one:", 2), 8 - hold, 1e-3);
    ENSURE_REL(number("a strong one:", 0), 0.5 * (8 - hold) * 0.01 * 0.01 * 200 * 201, 2e-3);   /* backward Euler */
    ENSURE_CLOSE(number("a strong one:", 4), 8, 1e-3);
    ENSURE_CLOSE(number("a steady one:", 1), 0.5, 1e-3);
    ENSURE_REL(number("a steady one:", 3), hold / 400, 1e-2);
    ENSURE_REL(number("a steady one:", 4), hold, 1e-3);
}

/* a rolling ball keeps its speed, and 5/7 of the pull moves it on a slope; its rim is as fast as its centre */
static void test_rolling(void)
{
    const double pull = 9.81 * sin(0.1);
    LAUNCH("rolling");
    ENSURE_CLOSE(number("level,   642 vertices: from", 1), 1, 0.05);
    ENSURE_CLOSE(number("level,  2562 vertices: from", 1), 1, 0.03);
    ENSURE_CLOSE(number("level, 10242 vertices: from", 1), 1, 0.01);
    ENSURE_CLOSE(number("level, 10242 vertices: from", 2), number("level, 10242 vertices: from", 1), 0.01);
    ENSURE_REL(number("block on ice:", 0), pull, 1e-3);
    ENSURE_REL(number("slope, ball:", 0), 5.0 / 7 * pull, 0.01);
    ENSURE_CLOSE(number("slope, ball:", 3), number("slope, ball:", 0), 0.01);
}

/* a physical pendulum; the hinge carries the weight */
static void test_links(void)
{
    const double mass = 1.25, d = 0.25, inertia = mass * ((0.05 * 0.05 + 0.25) / 12 + d * d), pi = acos(-1.0);
    const double T = 2 * pi * sqrt(inertia / (mass * 9.81 * d)), w = 2 * pi / T;
    LAUNCH("links");
    ENSURE_REL(number("period", 0), T * (1 + 0.04 / 16) * (1 + w * w * 1e-4 / 3), 2e-4);
    ENSURE(number("rad,", 0) > 0.19 && number("rad,", 0) <= 0.2);
    ENSURE(number("opened by at most", 0) < 1e-5);
    ENSURE_REL(number("the hinge carries", 0), mass * 9.81, 1e-5);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    if (slash) snprintf(directory, sizeof directory, "%.*s/examples", (int)(slash - argv[0]), argv[0]);
    else snprintf(directory, sizeof directory, "build/examples");
    test_begin(argc, argv);
    RUN(hello);
    RUN(readme);
    RUN(snapshot_branch);
    RUN(save_load);
    RUN(tactile);
    RUN(coupling);
    RUN(drop);
    RUN(friction_slope);
    RUN(grasp_drive);
    RUN(embed_mesh);
    RUN(threads);
    RUN(anytime);
    RUN(toolkit);
    RUN(solve_ldlt);
    RUN(allocator);
    RUN(fixed_memory);
    RUN(arm);
    RUN(game_loop);
    RUN(sleep);
    RUN(own_force);
    RUN(ccd_only);
    RUN(raycast);
    RUN(drag);
    RUN(rolling);
    RUN(links);
    return test_end("test_examples");
}
