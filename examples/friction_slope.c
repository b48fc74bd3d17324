/* friction_slope.c - a block on a slope of tan(angle) = 0.5, just too smooth to hold and just rough enough.
 *
 * You learn what friction means here. Above tan(angle) > mu the block slides with Coulomb's acceleration
 * g (sin - mu cos). Below, it sticks, but for a creep: friction is smoothed below the friction velocity epsv,
 * f1(v / epsv) = 2 v / epsv - (v / epsv)^2, so it balances the pull where mu f1 = tan(angle), at
 *     v = epsv (1 - sqrt(1 - tan(angle) / mu)),    never faster than epsv, which you choose. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>

static const double edges[3] = {1, 1, 1};   /* of a cube, which embipc_shape() writes */
static double cube_x[24];
static int cube_t[36];

/* Lets the block go at that mu for a second and measures in the second half: acceleration and speed downhill.
 * The slope is level ground under tilted gravity. Returns 0 on failure. */
static int slope(double mu, double epsv, double tangent, double *acceleration, double *speed)
{
    const double cosine = 1 / sqrt(1 + tangent * tangent), g = 9.81;
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;
    embipc_body ground, block;
    embipc_body_state half, end;
    int i, ok;

    wd.gravity[0] = g * cosine * tangent;
    wd.gravity[2] = -g * cosine;
    wd.friction_velocity = epsv;
    wd.tolerance = 1e-7;                                   /* m/s: we want nine digits */
    if (embipc_world_create(&wd, &world, NULL)) return 0;
    bd.x = cube_x; bd.vertex_count = 8; bd.triangles = cube_t;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, edges, 1, cube_x, cube_t, 12);
    bd.scale = 4; bd.position[1] = 1; bd.position[2] = -2;   /* the block stands on one triangle */
    ok = !embipc_body_create(world, &bd, &ground);
    bd.kind = EMBIPC_AFFINE; bd.scale = 0.1; bd.position[1] = 0; bd.position[2] = 0.0501;
    bd.material.young = 1e8;
    ok = ok && !embipc_body_create(world, &bd, &block);
    ok = ok && !embipc_world_set_pair(world, ground, block, mu, 1);
    for (i = 0; ok && i < 50; i++) ok = !embipc_world_step(world, NULL);
    ok = ok && !embipc_body_get_state(world, block, &half);
    for (i = 0; ok && i < 50; i++) ok = !embipc_world_step(world, NULL);
    ok = ok && !embipc_body_get_state(world, block, &end);
    if (ok) {
        *acceleration = (end.velocity[0] - half.velocity[0]) / 0.5;
        *speed = (end.centre[0] - half.centre[0]) / 0.5;
    } else puts(embipc_world_error(world)->text);
    embipc_world_destroy(world);
    return ok;
}

int main(void)
{
    const double tangent = 0.5, epsv = 1e-3, g = 9.81, cosine = 1 / sqrt(1 + tangent * tangent);
    double a, v;
    if (!slope(0.49, epsv, tangent, &a, &v)) return 1;
    printf("mu 0.49: slides, acceleration %.9f m/s^2, Coulomb says %.9f\n", a, g * cosine * (tangent - 0.49));
    if (!slope(0.51, epsv, tangent, &a, &v)) return 1;
    printf("mu 0.51: creeps, speed %.6e m/s, closed form says %.6e\n", v,
           epsv * (1 - sqrt(1 - tangent / 0.51)));
    if (!slope(0.51, epsv / 100, tangent, &a, &v)) return 1;
    printf("mu 0.51: creeps, speed %.6e m/s where epsv is 100 times smaller\n", v);
    return 0;
}
