/* ccd_only.c - when do a point and a triangle meet? Continuous collision detection without a world.
 *
 * You learn embipc_ccd_point_triangle() and embipc_ccd_edge_edge(). Both never answer too late: the time that they
 * give is before first contact, also under rounding, and early on purpose: up to a tenth of the gap is left. Asked
 * again from there, they come closer, as close as you like, and never through. The triangle here turns while the
 * point falls and drifts, so the moment is the root of a quadratic equation: its height above (x, y) is t (x + y),
 * the point is at (t/4, t/4, 1 - t), so t^2/2 + t - 1 = 0, t = sqrt(3) - 1.
 * Build: cc -std=c99 -O2 ccd_only.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>

/* x = the four points at time t of their straight paths from x0 to x1 */
static void at(double x[12], const double x0[12], const double x1[12], double t)
{
    int i;
    for (i = 0; i < 12; i++) x[i] = x0[i] + t * (x1[i] - x0[i]);
}

int main(void)
{
    /* the point, then the three corners */
    static const double x0[12] = {0,0,1,          0,0,0, 1,0,0, 0,1,0};
    static const double x1[12] = {0.25,0.25,0,    0,0,0, 1,0,1, 0,1,1};
    static const double past[12] = {2,2,0,        0,0,0, 1,0,1, 0,1,1};     /* the point drifts out and falls past */
    /* two crossed bars that fly at each other with 1 and 3 m/s, 1 m apart: a quarter of the way of 4 m */
    static const double bars0[12] = {-1,0,0, 1,0,0,   0,-1,1, 0,1,1};
    static const double bars1[12] = {-1,0,1, 1,0,1,   0,-1,-2, 0,1,-2};
    double x[12], t = 0, toi, exact = sqrt(3.0) - 1;
    int call, cut;

    printf("call   time               before contact   gap, m\n");
    for (call = 1; call <= 40; call++) {
        at(x, x0, x1, t);
        if (!embipc_ccd_point_triangle(x, x1, 0, &toi)) { puts("the rest of the way is free"); return 1; }
        t += (1 - t) * toi;                               /* toi counts on the rest of the way */
        at(x, x0, x1, t);
        if (call < 4 || toi == 0 || call == 40)
            printf("%4d   %.15f  %.3e        %.3e\n", call, t, exact - t, embipc_point_triangle_distance(x, NULL));
        if (toi == 0) break;
    }
    printf("closed form: sqrt(3) - 1 = %.15f\n", exact);

    cut = embipc_ccd_point_triangle(x0, x1, 0.1, &toi);
    at(x, x0, x1, toi);
    printf("to stay 0.1 m away: hit %d, cut at %.6f, gap %.6f m\n", cut, toi, embipc_point_triangle_distance(x, NULL));
    cut = embipc_ccd_point_triangle(x0, past, 0, &toi);
    printf("a point that falls past: hit %d, free until %.1f\n", cut, toi);
    cut = embipc_ccd_edge_edge(bars0, bars1, 0, &toi);
    printf("two bars: hit %d, cut at %.6f (contact at 0.25)\n", cut, toi);
    return 0;
}
