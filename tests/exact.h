/* Ground truth for the predicates and for continuous collision detection, independent of embipc.h: integers of any
 * length, polynomials in time, and signs of polynomials at real algebraic numbers. A double is an integer times a power
 * of two, so the inputs are exact, and nothing here is ever rounded.
 *
 * Contact of two moving primitives is a formula in signs of polynomials of t, so it first becomes true at t = 0 or at
 * a root of one of them: of the coplanarity cubic; or, where that vanishes identically, of the projected orientations
 * and coordinate differences. exact_contact() evaluates the formula at each such root. */
#ifndef EXACT_H
#define EXACT_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- integers: sign and magnitude, 32-bit digits, lowest first ---- */
#define BIG_DIGITS 1500
typedef struct big { int sign, n; unsigned d[BIG_DIGITS]; } big;

static void big_fail(void) { printf("exact.h: integer too long\n"); exit(2); }
static void big_trim(big *r) { while (r->n && !r->d[r->n - 1]) r->n--; if (!r->n) r->sign = 0; }
static void big_zero(big *r) { r->sign = r->n = 0; }
static void big_copy(big *r, const big *a)
{
    if (r == a) return;
    r->sign = a->sign; r->n = a->n;
    memcpy(r->d, a->d, (size_t)a->n * sizeof *r->d);
}
static void big_from_u64(big *r, unsigned long long v, int sign)
{
    r->sign = sign; r->n = 2; r->d[0] = (unsigned)v; r->d[1] = (unsigned)(v >> 32);
    big_trim(r);
}
static int big_cmp_size(const big *a, const big *b)
{
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (int i = a->n - 1; i >= 0; i--)
        if (a->d[i] != b->d[i]) return a->d[i] < b->d[i] ? -1 : 1;
    return 0;
}
/* r = a 2^s, s >= 0; r may be a */
static void big_shift(big *r, const big *a, int s)
{
    int w = s / 32, b = s % 32, n = a->n, sign = a->sign;
    if (!sign) { big_zero(r); return; }
    if (n + w + 1 > BIG_DIGITS) big_fail();
    for (int i = n; i >= 0; i--) {
        unsigned hi = i < n ? a->d[i] : 0, lo = i > 0 ? a->d[i - 1] : 0;
        r->d[i + w] = b ? hi << b | lo >> (32 - b) : hi;
    }
    for (int i = 0; i < w; i++) r->d[i] = 0;
    r->n = n + w + 1; r->sign = sign;
    big_trim(r);
}
/* r = a + s b, s = 1 or -1; r may be a or b */
static void big_add(big *r, const big *a, const big *b, int s)
{
    int sb = s * b->sign;
    if (!sb) { big_copy(r, a); return; }
    if (!a->sign) { big_copy(r, b); r->sign = sb; return; }
    if (a->sign == sb) {
        unsigned long long c = 0;
        int n = a->n > b->n ? a->n : b->n;
        if (n + 1 > BIG_DIGITS) big_fail();
        for (int i = 0; i < n; i++) {
            c += (i < a->n ? a->d[i] : 0ull) + (i < b->n ? b->d[i] : 0ull);
            r->d[i] = (unsigned)c;
            c >>= 32;
        }
        r->d[n] = (unsigned)c; r->n = n + 1; r->sign = sb;
    } else {
        const big *hi = big_cmp_size(a, b) >= 0 ? a : b, *lo = hi == a ? b : a;
        int sign = hi == a ? a->sign : sb, n = hi->n, nlo = lo->n;
        long long c = 0;
        for (int i = 0; i < n; i++) {
            c += (long long)hi->d[i] - (i < nlo ? (long long)lo->d[i] : 0);
            r->d[i] = (unsigned)((unsigned long long)c & 0xffffffffu);
            c = c < 0 ? -1 : 0;
        }
        r->n = n; r->sign = sign;
    }
    big_trim(r);
}
/* r = a b; r is neither */
static void big_mul(big *r, const big *a, const big *b)
{
    if (!a->sign || !b->sign) { big_zero(r); return; }
    if (a->n + b->n > BIG_DIGITS) big_fail();
    memset(r->d, 0, (size_t)(a->n + b->n) * sizeof *r->d);
    for (int i = 0; i < a->n; i++) {
        unsigned long long c = 0;
        for (int j = 0; j < b->n; j++) {
            c += (unsigned long long)a->d[i] * b->d[j] + r->d[i + j];
            r->d[i + j] = (unsigned)c;
            c >>= 32;
        }
        r->d[i + b->n] = (unsigned)c;
    }
    r->n = a->n + b->n; r->sign = a->sign * b->sign;
    big_trim(r);
}
/* exponent of the last bit of a double, or `other` for 0 */
static int exact_last_bit(double a, int other)
{
    int e;
    double m = frexp(a, &e);
    if (a == 0) return other;
    for (e -= 53, m = ldexp(m, 53); fmod(m, 2) == 0; m /= 2) e++;
    return e;
}
/* r = a 2^shift, which must be an integer */
static void big_from_double(big *r, double a, int shift)
{
    int e;
    double m = ldexp(frexp(fabs(a), &e), 53);
    int up = e - 53 + shift;
    unsigned long long v = (unsigned long long)m;
    for (; up < 0 && v; up++) {
        if (v & 1) { printf("exact.h: not an integer\n"); exit(2); }
        v >>= 1;
    }
    big_from_u64(r, v, a > 0 ? 1 : a < 0 ? -1 : 0);
    if (r->sign) big_shift(r, r, up);
}

/* ---- polynomials in t, and dyadic times k/2^m ---- */
typedef struct poly { int deg; big c[4]; } poly;   /* deg -1: identically 0 */

static void poly_trim(poly *p) { while (p->deg >= 0 && !p->c[p->deg].sign) p->deg--; }
static void poly_copy(poly *r, const poly *a)
{
    r->deg = a->deg;
    for (int i = 0; i <= a->deg; i++) big_copy(&r->c[i], &a->c[i]);
}
/* r = a + s b; r may be a */
static void poly_add(poly *r, const poly *a, const poly *b, int s)
{
    int da = a->deg, db = b->deg, d = da > db ? da : db;
    big zero;
    big_zero(&zero);
    for (int i = 0; i <= d; i++) big_add(&r->c[i], i <= da ? &a->c[i] : &zero, i <= db ? &b->c[i] : &zero, s);
    r->deg = d;
    poly_trim(r);
}
static void poly_mul(poly *r, const poly *a, const poly *b)
{
    static big m;
    r->deg = a->deg < 0 || b->deg < 0 ? -1 : a->deg + b->deg;
    if (r->deg > 3) { printf("exact.h: degree\n"); exit(2); }
    for (int i = 0; i <= r->deg; i++) big_zero(&r->c[i]);
    for (int i = 0; i <= a->deg && r->deg >= 0; i++)
        for (int j = 0; j <= b->deg; j++) {
            big_mul(&m, &a->c[i], &b->c[j]);
            big_add(&r->c[i + j], &r->c[i + j], &m, 1);
        }
    poly_trim(r);
}
/* r = remainder of a by b times a power of b's leading coefficient; q (may be NULL) the quotient to that */
static void poly_rem(poly *r, poly *q, const poly *a, const poly *b)
{
    static big m, lead;
    int db = b->deg;
    poly_copy(r, a);
    if (q) { q->deg = a->deg - db; for (int i = 0; i <= q->deg; i++) big_zero(&q->c[i]); }
    while (r->deg >= db) {
        int s = r->deg - db;
        big_copy(&lead, &r->c[r->deg]);
        if (q) {
            for (int i = 0; i <= q->deg; i++) { big_mul(&m, &q->c[i], &b->c[db]); big_copy(&q->c[i], &m); }
            big_add(&q->c[s], &q->c[s], &lead, 1);
        }
        for (int i = 0; i <= r->deg; i++) { big_mul(&m, &r->c[i], &b->c[db]); big_copy(&r->c[i], &m); }
        for (int i = 0; i <= db; i++) { big_mul(&m, &b->c[i], &lead); big_add(&r->c[i + s], &r->c[i + s], &m, -1); }
        poly_trim(r);
    }
}
static void poly_gcd(poly *g, const poly *a, const poly *b)
{
    static poly u, v, r;
    poly_copy(&u, a);
    poly_copy(&v, b);
    while (v.deg >= 0) {
        if (u.deg >= v.deg) { poly_rem(&r, NULL, &u, &v); poly_copy(&u, &v); poly_copy(&v, &r); }
        else { poly_copy(&r, &u); poly_copy(&u, &v); poly_copy(&v, &r); }
    }
    poly_copy(g, &u);
}
/* b_i = coefficients of 2^(m deg) p((k + s)/2^m) in s, then Bernstein ones times binomials: only signs are used */
static void poly_local(big b[4], const poly *p, const big *k, int m)
{
    static big t;
    int d = p->deg;
    for (int i = 0; i <= d; i++) big_shift(&b[i], &p->c[i], m * (d - i));
    for (int i = 0; i < d; i++)               /* Taylor shift by k */
        for (int j = d - 1; j >= i; j--) { big_mul(&t, &b[j + 1], k); big_add(&b[j], &b[j], &t, 1); }
}
static int poly_sign_dyadic(const poly *p, const big *k, int m)
{
    static big b[4];
    if (p->deg < 0) return 0;
    poly_local(b, p, k, m);
    return b[0].sign;
}
/* signs of the Bernstein coefficients of p on [k, k+1]/2^m; returns their number of changes */
static int poly_variations(const poly *p, const big *k, int m, int sign[4])
{
    static const int to[4][4][4] = {{{1}}, {{1, 0}, {1, 1}}, {{2, 0, 0}, {2, 1, 0}, {1, 1, 1}},
                                    {{1, 0, 0, 0}, {3, 1, 0, 0}, {3, 2, 1, 0}, {1, 1, 1, 1}}};
    static big b[4], s, f, t;
    int last = 0, changes = 0;
    poly_local(b, p, k, m);
    for (int i = 0; i <= p->deg; i++) {
        big_zero(&s);
        for (int j = 0; j <= i; j++) {
            big_from_u64(&f, (unsigned long long)to[p->deg][i][j], 1);
            big_mul(&t, &f, &b[j]);
            big_add(&s, &s, &t, 1);
        }
        sign[i] = s.sign;
        if (s.sign && last && s.sign != last) changes++;
        if (s.sign) last = s.sign;
    }
    return changes;
}

/* ---- real algebraic times: k/2^m, or the only root of p in the open interval (k, k+1)/2^m ---- */
typedef struct moment { int rational, m; big k; const poly *p; } moment;

static void moment_refine(moment *a)
{
    int sign[4];
    big right;
    big_shift(&a->k, &a->k, 1);
    a->m++;
    big_from_u64(&right, 1, 1);
    big_add(&right, &right, &a->k, 1);
    if (poly_sign_dyadic(a->p, &right, a->m) == 0) { a->rational = 1; big_copy(&a->k, &right); return; }
    if (poly_variations(a->p, &a->k, a->m, sign) == 0) big_copy(&a->k, &right);
}
static int moment_sign(moment *a, const poly *q)
{
    static poly g;
    int sign[4], have_gcd = 0;
    if (q->deg < 0) return 0;
    if (q->deg == 0) return q->c[0].sign;
    for (int round = 0; ; round++) {
        int same = 1;
        if (a->rational) return poly_sign_dyadic(q, &a->k, a->m);
        poly_variations(q, &a->k, a->m, sign);
        for (int i = 0; i <= q->deg; i++) same = same && sign[i] == sign[0] && sign[i];
        if (same) return sign[0];
        if (round > 60) {
            int changes;
            if (!have_gcd) poly_gcd(&g, a->p, q);
            have_gcd = 1;
            changes = g.deg < 1 ? 0 : poly_variations(&g, &a->k, a->m, sign);
            if (changes == 1) return 0;
        }
        moment_refine(a);
    }
}
/* a < t? exact for a double t in [0, 1] */
static int moment_before(moment *a, double t)
{
    for (;;) {
        static big T, K;
        int e = -exact_last_bit(t, 0), m;
        if (e < 0) e = 0;
        m = e > a->m ? e : a->m;
        big_from_double(&T, t, m);
        big_shift(&K, &a->k, m - a->m);
        big_add(&T, &T, &K, -1);                    /* t - k, in units of 2^-m */
        if (a->rational) return T.sign > 0;
        if (T.sign <= 0) return 0;
        big_from_u64(&K, 1, 1);
        big_shift(&K, &K, m - a->m);
        if (big_cmp_size(&T, &K) >= 0) return 1;    /* t >= hi */
        big_from_double(&T, t, m);
        if (poly_sign_dyadic(a->p, &T, m) == 0) return 0;
        moment_refine(a);
    }
}
static double moment_value(const moment *a)
{
    double s = 0;
    for (int i = a->k.n - 1; i >= 0; i--) s += ldexp((double)a->k.d[i], 32 * i - a->m);
    return s;
}
/* the roots of p in [0, 1], p not identically 0; `square_free` holds what the moments point to. Returns how many. */
static int poly_roots(const poly *p, poly *square_free, moment *root)
{
    static poly g, dp;
    static struct { big k; int m; } stack[400];
    int top = 0, n = 0, sign[4];
    static big one;
    poly_copy(square_free, p);
    big_from_u64(&one, 1, 1);
again:
    n = 0;
    p = square_free;
    if (p->deg == 0) return 0;
    if (p->c[0].sign == 0) { root[n].rational = 1; root[n].m = 0; big_zero(&root[n].k); root[n++].p = p; }
    if (poly_sign_dyadic(p, &one, 0) == 0) {
        root[n].rational = 1; root[n].m = 0; big_copy(&root[n].k, &one); root[n++].p = p;
    }
    big_zero(&stack[0].k);
    stack[0].m = 0;
    for (top = 1; top > 0; ) {
        moment a;
        int changes;
        top--;
        a.rational = 0; a.m = stack[top].m; a.p = p;
        big_copy(&a.k, &stack[top].k);
        changes = poly_variations(p, &a.k, a.m, sign);
        if (changes == 0) continue;
        if (changes == 1) { root[n].rational = 0; root[n].m = a.m; big_copy(&root[n].k, &a.k); root[n++].p = p; continue; }
        if (a.m > 60) {   /* a double root: divide it out and start again */
            dp.deg = p->deg - 1;
            for (int i = 1; i <= p->deg; i++) {
                big f;
                big_from_u64(&f, (unsigned long long)i, 1);
                big_mul(&dp.c[i - 1], &p->c[i], &f);
            }
            poly_gcd(&g, p, &dp);
            if (g.deg > 0) {
                static poly q, r;
                poly_rem(&r, &q, p, &g);
                poly_copy(square_free, &q);
                goto again;
            }
        }
        if (top > 390) { printf("exact.h: roots\n"); exit(2); }
        a.m++;
        big_shift(&a.k, &a.k, 1);
        big_copy(&stack[top].k, &a.k);
        stack[top++].m = a.m;
        big_add(&a.k, &a.k, &one, 1);
        big_copy(&stack[top].k, &a.k);
        stack[top++].m = a.m;
        if (poly_sign_dyadic(p, &a.k, a.m) == 0) {
            root[n].rational = 1; root[n].m = a.m; big_copy(&root[n].k, &a.k); root[n++].p = p;
        }
    }
    return n;
}

/* ---- moving points: coordinates are polynomials of degree 1, all scaled by the same power of two ---- */
typedef struct exact_points { poly x[5][3]; } exact_points;

/* r = orientation of the projections of points a, b, c on the axes i, j */
static void exact_orient2d(poly *r, const exact_points *q, int a, int b, int c, int i, int j)
{
    static poly u, v, w;
    poly_add(&u, &q->x[b][i], &q->x[a][i], -1);
    poly_add(&v, &q->x[c][j], &q->x[a][j], -1);
    poly_mul(&w, &u, &v);
    poly_add(&u, &q->x[b][j], &q->x[a][j], -1);
    poly_add(&v, &q->x[c][i], &q->x[a][i], -1);
    poly_mul(r, &u, &v);
    poly_add(r, &w, r, -1);
}
/* r = (b - a) x (c - a) . (d - a) */
static void exact_orient3d(poly *r, const exact_points *q, int a, int b, int c, int d)
{
    static poly o, w, m;
    r->deg = -1;
    for (int k = 0; k < 3; k++) {
        exact_orient2d(&o, q, a, b, c, (k + 1) % 3, (k + 2) % 3);
        poly_add(&w, &q->x[d][k], &q->x[a][k], -1);
        poly_mul(&m, &o, &w);
        poly_add(r, r, &m, 1);
    }
}
static int exact_turn(const exact_points *q, moment *t, int a, int b, int c, int axis)
{
    static poly o;
    exact_orient2d(&o, q, a, b, c, axis, (axis + 1) % 3);
    return moment_sign(t, &o);
}
static int exact_side(const exact_points *q, moment *t, int a, int b, int c, int d)
{
    static poly o;
    exact_orient3d(&o, q, a, b, c, d);
    return moment_sign(t, &o);
}
/* sign of x_a - x_b along an axis */
static int exact_order(const exact_points *q, moment *t, int a, int b, int axis)
{
    static poly o;
    poly_add(&o, &q->x[a][axis], &q->x[b][axis], -1);
    return moment_sign(t, &o);
}
/* do the closed segments ab and cd meet at time t? */
static int exact_segments(const exact_points *q, moment *t, int a, int b, int c, int d)
{
    if (exact_side(q, t, a, b, c, d) != 0) return 0;
    for (int k = 0; k < 3; k++) {
        int o1 = exact_turn(q, t, a, b, c, k), o2 = exact_turn(q, t, a, b, d, k);
        int o3 = exact_turn(q, t, c, d, a, k), o4 = exact_turn(q, t, c, d, b, k);
        if (o1 || o2 || o3 || o4) return o1 * o2 <= 0 && o3 * o4 <= 0;
    }
    for (int k = 0; k < 3; k++) {   /* on one line */
        int ac = exact_order(q, t, a, c, k), ad = exact_order(q, t, a, d, k);
        int bc = exact_order(q, t, b, c, k), bd = exact_order(q, t, b, d, k);
        if ((ac > 0 && ad > 0 && bc > 0 && bd > 0) || (ac < 0 && ad < 0 && bc < 0 && bd < 0)) return 0;
    }
    return 1;
}
/* is p in the closed triangle abc at time t? */
static int exact_point_in_triangle(const exact_points *q, moment *t, int p, int a, int b, int c)
{
    if (exact_side(q, t, a, b, c, p) != 0) return 0;
    for (int k = 0; k < 3; k++) {
        int turn = exact_turn(q, t, a, b, c, k);
        if (turn)
            return turn * exact_turn(q, t, a, b, p, k) >= 0 && turn * exact_turn(q, t, b, c, p, k) >= 0 &&
                   turn * exact_turn(q, t, c, a, p, k) >= 0;
    }
    return exact_segments(q, t, p, p, a, b) || exact_segments(q, t, p, p, b, c) || exact_segments(q, t, p, p, c, a);
}
/* do the closed segment pq (points 0, 1) and the closed triangle (2, 3, 4) meet? */
static int exact_segment_triangle(const exact_points *q, moment *t)
{
    int p = exact_side(q, t, 2, 3, 4, 0), r = exact_side(q, t, 2, 3, 4, 1), a, b, c;
    if (p * r > 0) return 0;
    if (p == 0 || r == 0)
        return exact_point_in_triangle(q, t, 0, 2, 3, 4) || exact_point_in_triangle(q, t, 1, 2, 3, 4) ||
               exact_segments(q, t, 0, 1, 2, 3) || exact_segments(q, t, 0, 1, 3, 4) || exact_segments(q, t, 0, 1, 4, 2);
    a = exact_side(q, t, 0, 1, 2, 3);
    b = exact_side(q, t, 0, 1, 3, 4);
    c = exact_side(q, t, 0, 1, 4, 2);
    return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

/* n points at rest (x1 NULL), from x0 to x1 (v = 0), or from x0 by the motion x1 (v = 1) */
static void exact_points_set(exact_points *q, int n, const double *x0, const double *x1, int v)
{
    int shift = -10000;
    for (int i = 0; i < 3 * n; i++) {
        int e = -exact_last_bit(x0[i], 10000), f = x1 ? -exact_last_bit(x1[i], 10000) : e;
        shift = e > shift ? e : shift;
        shift = f > shift ? f : shift;
    }
    if (shift == -10000) shift = 0;
    for (int i = 0; i < 3 * n; i++) {
        poly *p = &q->x[i / 3][i % 3];
        p->deg = x1 ? 1 : 0;
        big_from_double(&p->c[0], x0[i], shift);
        if (x1) big_from_double(&p->c[1], x1[i], shift);
        if (x1 && !v) big_add(&p->c[1], &p->c[1], &p->c[0], -1);
        poly_trim(p);
    }
}
static void moment_now(moment *t) { t->rational = 1; t->m = 0; t->p = NULL; big_zero(&t->k); }

/* sign of orient3d of four points at rest */
static int exact_orient3d_sign(const double x[12])
{
    static exact_points q;
    static moment t;
    exact_points_set(&q, 4, x, NULL, 0);
    moment_now(&t);
    return exact_side(&q, &t, 0, 1, 2, 3);
}
static int exact_segment_triangle_meet(const double x[15])
{
    static exact_points q;
    static moment t;
    exact_points_set(&q, 5, x, NULL, 0);
    moment_now(&t);
    return exact_segment_triangle(&q, &t);
}

typedef struct exact_answer {
    int hit;          /* is there contact in [0, 1]? */
    int late;         /* is there contact before `toi`? */
    double time;      /* of the first contact, about */
} exact_answer;

/* Contact of point-triangle or edge-edge (as in embipc.h) on [0, 1]; toi is the time to be judged. */
static exact_answer exact_contact(const double x0[12], const double x1[12], int is_motion, int edge_edge, double toi)
{
    static exact_points q;
    static poly p, f;
    static moment root[8];
    exact_answer r;
    int sources = 1;
    r.hit = r.late = 0;
    r.time = 2;
    exact_points_set(&q, 4, x0, x1, is_motion);
    exact_orient3d(&p, &q, 0, 1, 2, 3);
    if (p.deg < 0) sources = 12 + 18;   /* always coplanar: points meet lines, or points */
    for (int s = -1; s < sources; s++) {
        int n = 1;
        if (s < 0) moment_now(&root[0]);
        else {
            if (sources > 1) {
                static const int triple[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
                static const int pair[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
                if (s < 12) exact_orient2d(&p, &q, triple[s / 3][0], triple[s / 3][1], triple[s / 3][2], s % 3, (s + 1) % 3);
                else poly_add(&p, &q.x[pair[(s - 12) / 3][0]][s % 3], &q.x[pair[(s - 12) / 3][1]][s % 3], -1);
            }
            n = p.deg < 0 ? 0 : poly_roots(&p, &f, root);
        }
        for (int i = 0; i < n; i++) {
            if (!(edge_edge ? exact_segments(&q, &root[i], 0, 1, 2, 3) : exact_point_in_triangle(&q, &root[i], 0, 1, 2, 3)))
                continue;
            r.hit = 1;
            if (moment_before(&root[i], toi)) r.late = 1;
            while (!root[i].rational && root[i].m < 60) moment_refine(&root[i]);
            if (moment_value(&root[i]) < r.time) r.time = moment_value(&root[i]);
        }
    }
    return r;
}
/* keeps the compiler quiet where a test file does not use them all */
static void exact_unused(void) { (void)exact_orient3d_sign; (void)exact_segment_triangle_meet; (void)exact_contact; (void)exact_unused; }
#endif
