/* Barrier: closed forms, derivatives, both ends of its range, and the gaps at which a pair rests under a
 * load. */
#include "inside.h"
#include "test.h"

/* the formulas as they stand in the papers, in long double */
static void reference(double d, double dhat, long double b[3])
{
    long double D = d, H = dhat, g = D - H, l = logl(D / H);
    b[0] = -g * g * l;
    b[1] = -2 * g * l - g * g / D;
    b[2] = -2 * l - 4 * g / D + g * g / (D * D);
}

static void test_closed_form(void)
{
    for (int e = -5; e <= 0; e++)
        for (int n = 0; n < 2000; n++) {
            double dhat = pow(10, e), d = dhat * (n % 2 ? test_random() : pow(10, test_uniform(-12, 0))),
                   first, second, b;
            long double r[3];
            if (d == 0 || d >= dhat) continue;
            b = embipc_barrier(d, dhat, &first, &second);
            reference(d, dhat, r);
            ENSURE_REL(b, (double)r[0], 1e-12);
            ENSURE_REL(first, (double)r[1], 1e-12);
            ENSURE_REL(second, (double)r[2], 1e-12);
            ENSURE(b > 0 && first < 0 && second > 0);
            ENSURE(embipc_barrier(d, dhat, NULL, NULL) == b);   /* optional outputs change nothing */
        }
}

/* At half of dhat: b/dhat^2 = ln 2/4 and b'/dhat = -(ln 2 + 1/2), to seven digits as [IPC23] gives them over dhat. */
static void test_half_way(void)
{
    double first;
    ENSURE_CLOSE(embipc_barrier(0.05, 0.1, NULL, NULL) / 0.01, 0.1732868, 5e-8);
    (void)embipc_barrier(0.05, 0.1, &first, NULL);
    ENSURE_CLOSE(first / 0.1, -1.1931472, 5e-8);
}

/* b' and b'' against central differences, the best of a sweep of steps */
static void test_derivatives(void)
{
    for (int e = -5; e <= 0; e++)
        for (int n = 0; n < 300; n++) {
            double dhat = pow(10, e), d = dhat * pow(10, test_uniform(-6, -0.001)), first, second,
                   best[2] = {HUGE_VAL, HUGE_VAL};
            (void)embipc_barrier(d, dhat, &first, &second);
            for (double h = 1e-2; h > 1e-7; h /= 10) {
                double up, down,
                    b = embipc_barrier(d + h * d, dhat, &up, NULL) -
                        embipc_barrier(d - h * d, dhat, &down, NULL),
                    span = (d + h * d) - (d - h * d);
                best[0] = fmin(best[0], fabs(b / span - first));
                best[1] = fmin(best[1], fabs((up - down) / span - second));
            }
            ENSURE(best[0] < 1e-7 * dhat + 1e-6 * -first);
            ENSURE(best[1] < 1e-6 * second + 1e-6);
        }
}

/* all of b, b', b'' vanish at dhat and beyond; just below they are those of the series in the gap */
static void test_upper_end(void)
{
    for (int e = -5; e <= 0; e++) {
        double dhat = pow(10, e), first = 7, second = 7;
        ENSURE(embipc_barrier(dhat, dhat, &first, &second) == 0 && first == 0 && second == 0);
        first = second = 7;
        ENSURE(embipc_barrier(3 * dhat, dhat, &first, &second) == 0 && first == 0 && second == 0);
        for (double share = 1e-12; share < 1e-3; share *= 10) {
            double d = dhat * (1 - share), y = (dhat - d) / dhat;   /* dhat - d has no rounding */
            double b = embipc_barrier(d, dhat, &first, &second);
            ENSURE_REL(b, dhat * dhat * y * y * y * (1 + y / 2 + y * y / 3), 1e-9 + y * y);
            ENSURE_REL(first, -dhat * y * y * (3 + 2 * y), 1e-9 + y * y);
            ENSURE_REL(second, 6 * y * (1 + y), 1e-9 + 10 * y * y);
            ENSURE(b > 0 && first < 0 && second > 0);
        }
        ENSURE(embipc_barrier(nextafter(dhat, 0), dhat, &first, &second) > 0 && first < 0 && second > 0);
    }
}

/* towards contact the barrier grows without end and without a nan, and at contact it is infinite */
static void test_lower_end(void)
{
    static const double touch[] = {0, -0.0, -1e-300, -1e-3, -1e300};
    for (int e = -5; e <= 0; e++) {
        double dhat = pow(10, e), first, second, before = 0, before1 = 0, before2 = 0;
        for (int k = 1; k <= 300; k += 7) {
            double d = dhat * pow(10, -k), b = embipc_barrier(d, dhat, &first, &second);
            if (d < 1e-300) break;
            ENSURE_REL(b, (dhat - d) * (dhat - d) * k * log(10.0), 1e-12);
            ENSURE(b > before && first < before1 && second >= before2);
            ENSURE_REL(first, -dhat * dhat / d, 1.0);
            if (k < 150) ENSURE_REL(second, dhat / d * (dhat / d), 0.5);
            before = b;
            before1 = first;
            before2 = second;
        }
        ENSURE(embi_finite(embipc_barrier(1e-300, dhat, &first, &second)) && first < 0 && second > 0);
        for (size_t k = 0; k < sizeof touch / sizeof touch[0]; k++) {
            first = second = 7;
            ENSURE(embipc_barrier(touch[k], dhat, &first, &second) == (double)INFINITY);
            ENSURE(first == -(double)INFINITY && second == (double)INFINITY);
        }
        ENSURE(embipc_barrier((double)NAN, dhat, NULL, NULL) == (double)INFINITY);   /* not free */
    }
}

/* one pair, kappa = 1e4 N/m, dhat = 1 mm: F = -kappa b'(d). Table of independent computation. */
static void test_resting_gaps(void)
{
    static const double table[][3] = {   /* F, d, half of the last digit given */
        {0.1, 9.4338e-4, 0.5e-8}, {1, 8.2853e-4, 0.5e-8}, {3.8025, 6.8606e-4, 0.5e-8},
        {10, 5.3244e-4, 0.5e-8}, {100, 1.22152e-4, 0.5e-9}, {1000, 1.07503e-5, 0.5e-10}};
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        ENSURE_CLOSE(embipc_barrier_gap(table[k][0], 1e4, 1e-3), table[k][1], table[k][2] * 1.0001);
}

/* the force at the gap is the force asked for, from no force at all to a million times the middle */
static void test_gap_of_force(void)
{
    ENSURE(embipc_barrier_gap(0, 1e4, 1e-3) == 1e-3);
    for (int n = 0; n < 20000; n++) {
        double dhat = pow(10, test_uniform(-6, 1)), kappa = pow(10, test_uniform(0, 9)),
               force = kappa * dhat * pow(10, test_uniform(-12, 6)), gap, first, second;
        gap = embipc_barrier_gap(force, kappa, dhat);
        (void)embipc_barrier(gap, dhat, &first, &second);
        ENSURE(gap > 0 && gap < dhat);
        ENSURE_CLOSE(-kappa * first, force, 1e-13 * force + kappa * second * dhat * 4e-16);
    }
}

/* kappa from a load puts `pairs` pairs at the wanted share of dhat */
static void test_kappa_for_load(void)
{
    for (int n = 0; n < 1000; n++) {
        double dhat = pow(10, test_uniform(-6, 1)), load = pow(10, test_uniform(-6, 6)),
               ratio = test_uniform(0.01, 0.99), pairs = 1 + floor(test_uniform(0, 9));
        double first, kappa = embi_kappa_for_load(load, pairs, ratio, dhat);
        (void)embipc_barrier(ratio * dhat, dhat, &first, NULL);
        ENSURE(kappa > 0);
        ENSURE_REL(-pairs * kappa * first, load, 1e-12);
    }
}

/* A pair whose dhat is cut bears the same force at the same share of it. */
static void test_kappa_follows_dhat(void)
{
    for (int i = 0; i < 100; i++) {
        double cut = pow(10, test_uniform(-9, 0)), ratio = test_uniform(0.01, 0.99), whole, one;
        embi_pair_rule rule;
        memset(&rule, 0, sizeof rule);
        rule.dhat = pow(10, test_uniform(-6, 0));
        rule.kappa = pow(10, test_uniform(0, 9));
        (void)embipc_barrier(ratio * rule.dhat, rule.dhat, &whole, NULL);
        (void)embipc_barrier(ratio * cut * rule.dhat, cut * rule.dhat, &one, NULL);
        ENSURE_REL(embi_candidate_kappa(&rule, cut * rule.dhat) * one, rule.kappa * whole, 1e-12);
    }
    {
        embi_pair_rule rule;
        memset(&rule, 0, sizeof rule);
        rule.dhat = 1.7e-3;
        rule.kappa = 123.4;
        ENSURE(embi_candidate_kappa(&rule, rule.dhat) == rule.kappa);   /* to the bit where nothing is cut */
    }
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(closed_form);
    RUN(half_way);
    RUN(derivatives);
    RUN(upper_end);
    RUN(lower_end);
    RUN(resting_gaps);
    RUN(gap_of_force);
    RUN(kappa_for_load);
    RUN(kappa_follows_dhat);
    return test_end("test_barrier");
}
