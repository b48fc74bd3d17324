/* grasp_drive.c - two plates on a prescribed motion squeeze a box, lift it, and run into the ground.
 *
 * You learn drives: keyframes for a kinematic body, contact forces read back in newtons, and that a drive
 * which cannot get where it should tells by how much it fell short and who is in the way. The box (Young's
 * modulus E, area A, width L, Poisson's ratio 0) is squeezed by delta: each plate pushes with E A delta / L,
 * and while nothing accelerates the friction on each carries half the weight. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <stdio.h>

static const double edges[3] = {1, 1, 1};   /* of a cube, which embipc_shape() writes */
static double cube_x[24];
static int cube_t[36];

/* Steps until that time. Returns 0 on failure. */
static int run(embipc_world *world, double until)
{
    while (embipc_world_time(world) < until - 1e-9)
        if (embipc_world_step(world, NULL)) { puts(embipc_world_error(world)->text); return 0; }
    return 1;
}

/* Force of the box on the plate, N. Rows name the older body first, so the plate is a and the box is b. */
static embipc_pair_force force_on(const embipc_world *world, embipc_body plate)
{
    embipc_pair_force f[8], none = {{0, 0}, {0, 0}, {0, 0, 0}, {0, 0, 0}, 0};
    int i, n = embipc_world_pair_forces(world, f, 8);
    for (i = 0; i < n && i < 8; i++) if (f[i].a.index1 == plate.index1) return f[i];
    return none;
}

int main(void)
{
    const double E = 1e5, L = 0.1, delta = 0.004, rho = 1000, reach = delta / 2 + 0.001;
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;
    embipc_body ground, plate[2], box;
    embipc_drive drive[2];
    embipc_body_state s, p;
    embipc_drive_state d;
    embipc_body_view view;
    embipc_pair_force f;
    int i, ok;

    wd.dhat = 1e-5;                                  /* gaps that are small against delta */
    if (embipc_world_create(&wd, &world, NULL)) return 1;
    bd.x = cube_x; bd.vertex_count = 8; bd.triangles = cube_t;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, edges, 1, cube_x, cube_t, 12);
    bd.friction = 0.6;
    bd.name = "ground"; bd.position[2] = -0.5;
    ok = !embipc_body_create(world, &bd, &ground);
    for (i = 0; i < 2 && ok; i++) {                  /* plates 1 mm from the box, 5 cm above the ground */
        double side = i ? 1 : -1, keys[4 * 7] = {0, 0,0,0, 0,0,0, 0.2, 0,0,0, 0,0,0,    /* s, m, rad */
                                                 1.0, 0,0,0.1, 0,0,0, 2.0, 0,0,-0.1, 0,0,0};
        embipc_drive_def dd = embipc_default_drive_def();
        keys[7 + 1] = keys[14 + 1] = keys[21 + 1] = -side * reach;
        bd.name = i ? "right plate" : "left plate";
        bd.kind = EMBIPC_KINEMATIC; bd.scale = 0.15;
        bd.position[0] = side * (0.05 + 0.001 + 0.075); bd.position[2] = 0.125;
        ok = !embipc_body_create(world, &bd, &plate[i]);
        dd.body = plate[i]; dd.keys = keys; dd.key_count = 4;
        ok = ok && !embipc_drive_create(world, &dd, &drive[i]);
    }
    bd.name = "box"; bd.kind = EMBIPC_AFFINE; bd.scale = L; bd.position[0] = 0; bd.position[2] = 0.0501;
    bd.material.young = E; bd.material.poisson = 0; bd.material.density = rho;
    ok = ok && !embipc_body_create(world, &bd, &box);
    if (!ok) { puts(embipc_world_error(world)->text); return 1; }

    if (!run(world, 0.8)) return 1;                  /* squeezed, and on the way up at 0.125 m/s */
    embipc_body_get_state(world, plate[0], &p);
    embipc_body_get_state(world, box, &s);
    printf("at 0.8 s the plates have been lifted by %.5f m, the box by %.5f m\n",
           p.centre[2] - 0.125, s.centre[2] - 0.05);
    for (i = 0; i < 2; i++) {
        f = force_on(world, plate[i]);
        printf("%s plate: squeezes with %.4f N, carries %.4f N\n", i ? "right" : "left",
               i ? f.force[0] : -f.force[0], -f.friction[2]);
    }
    printf("closed forms: E A delta / L = %.4f N, half the weight = %.4f N\n",
           E * L * delta, 0.5 * rho * L * L * L * 9.81);

    if (!run(world, 2)) return 1;                    /* told to go 5 cm into the ground */
    embipc_drive_get_state(world, drive[0], &d);
    embipc_body_get_view(world, d.blocked_by, &view);
    printf("at 2 s the drive is blocked (%d) by the %s and %.6f m short\n", d.blocked, view.name, d.shortfall);
    printf("surfaces that cross: %d\n", embipc_world_intersections(world, NULL, 0));
    embipc_world_destroy(world);
    return 0;
}
