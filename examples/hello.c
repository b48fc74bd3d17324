/* hello.c - the smallest program: a soft box falls on the ground.
 *
 * You learn the five calls every program makes: describe a world, create it, add bodies, step, read back.
 * Build: cc -std=c99 -O2 hello.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <stdio.h>

int main(void)
{
    /* a unit cube around the origin, its triangles counter-clockwise seen from outside */
    static const embipc_real x[] = {-.5,-.5,-.5, .5,-.5,-.5, -.5,.5,-.5, .5,.5,-.5,
                                    -.5,-.5,.5, .5,-.5,.5, -.5,.5,.5, .5,.5,.5};
    static const int t[] = {0,2,3, 0,3,1, 4,5,7, 4,7,6, 0,1,5, 0,5,4,
                            2,6,7, 2,7,3, 0,4,6, 0,6,2, 1,3,7, 1,7,5};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;
    embipc_body ground, box;
    embipc_body_state s;
    int i;

    if (embipc_world_create(&wd, &world, NULL)) return 1;
    bd.x = x; bd.vertex_count = 8; bd.triangles = t; bd.triangle_count = 12; bd.friction = 0.5;
    bd.position[2] = -0.5;                                        /* a fixed cube, its top at z = 0 */
    if (embipc_body_create(world, &bd, &ground)) { puts(embipc_world_error(world)->text); return 1; }
    bd.kind = EMBIPC_CAGE; bd.scale = 0.1; bd.position[2] = 0.2;  /* a soft one of 0.1 m and 1 kg, falling */
    if (embipc_body_create(world, &bd, &box)) { puts(embipc_world_error(world)->text); return 1; }
    for (i = 1; i <= 100; i++) {
        if (embipc_world_step(world, NULL)) { puts(embipc_world_error(world)->text); return 1; }
        embipc_body_get_state(world, box, &s);
        if (i % 10 == 0) printf("after %.1f s its centre is at z = %.9f m\n", 0.01 * i, s.centre[2]);
    }
    embipc_world_destroy(world);
    return 0;
}
