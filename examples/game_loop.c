/* game_loop.c - what the loop of a game asks of a world: spawn, pick, drag, hear, draw between two steps, remove.
 *
 * You learn the calls around a step. Steps have a fixed length, frames have not: embipc_world_advance() makes the steps
 * that are due, and a moment within the last one is drawn, by alpha. A ray from the camera picks a ball. A soft drive
 * drags it over the edge of the table, by the point that was picked. Contact events say what to play. A box below the
 * table finds what is to be removed. Build: cc -std=c99 -O2 game_loop.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>

enum { FRAMES = 240, BALLS = 4, DETAIL = 4, TRIANGLES = 20 * DETAIL * DETAIL, VERTICES = TRIANGLES / 2 + 2 };
enum { TABLE = 1, BALL = 2 };                        /* groups */

static double x[3 * VERTICES], edges[3] = {1, 1, 0.1}, radius[3] = {0.05}, loudest, highest = -1;
static int triangles[3 * TRIANGLES], begun, ended;
static struct vertex { float position[3], normal[3], colour; } mesh[VERTICES];   /* as a renderer may want it */

/* Adds the table, or a ball above it. Both take their surface from embipc_shape(). */
static embipc_body spawn(embipc_world *world, embipc_kind kind, int number)
{
    embipc_body_def d = embipc_default_body_def();
    embipc_body body;
    int box = kind == EMBIPC_FIXED;
    d.x = x; d.triangles = triangles; d.kind = kind; d.friction = 0.5;
    d.triangle_count = embipc_shape(box ? EMBIPC_BOX : EMBIPC_SPHERE, box ? edges : radius, box ? 1 : DETAIL, x,
                                    triangles, TRIANGLES);
    d.vertex_count = d.triangle_count / 2 + 2;
    d.groups = box ? TABLE : BALL; d.material.young = 1e6;
    d.position[0] = box ? 0 : 0.2 * number - 0.3; d.position[2] = box ? -0.05 : 0.2;
    if (embipc_body_create(world, &d, &body)) puts(embipc_world_error(world)->text);
    return body;
}

/* A drive that holds the triangle that the ray has hit, as a hand does. Its target follows the mouse. */
static embipc_drive grab(embipc_world *world, const embipc_hit *hit)
{
    embipc_drive_def d = embipc_default_drive_def();
    embipc_drive drive;
    embipc_body_view view;
    embipc_body_get_view(world, hit->body, &view);
    d.body = hit->body;
    d.vertices = view.triangles + 3 * hit->triangle; d.vertex_count = 3;
    d.stiffness[0] = d.stiffness[1] = d.stiffness[2] = 200; d.damping = 0.05; d.force_limit = 20;
    embipc_drive_create(world, &d, &drive);
    return drive;
}

/* After each step: a sound for each first touch, as loud as the impulse. */
static void listen(embipc_world *world, const embipc_step_stats *stats, void *ctx)
{
    embipc_contact_event e[16];
    int n = embipc_world_contact_events(world, e, 16), *steps = (int *)ctx;
    for (*steps = stats->step; n-- > 0; ended += e[n].phase == EMBIPC_CONTACT_END)
        if (e[n].phase == EMBIPC_CONTACT_BEGIN) begun++, loudest = fmax(loudest, fabs(e[n].impulse[2]));
}

int main(void)
{
    static const double camera[3] = {0, -2, 1}, still[3] = {0, 0, 0}, lo[3] = {-9, -9, -9}, hi[3] = {9, 9, -0.5};
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *world; embipc_hit hit;
    embipc_drive hand = {0, 0};
    static embipc_frame now;
    int spawned = 0, removed = 0, steps = 0, frame, i, n;
    now.max_steps = 8; now.after_step = listen; now.ctx = &steps;
    if (embipc_world_create(&wd, &world, NULL)) return 1;
    spawn(world, EMBIPC_FIXED, 0);
    for (frame = 0; frame < FRAMES; frame++) {
        embipc_body gone[BALLS];
        if (frame % 20 == 0 && spawned < BALLS) spawn(world, EMBIPC_CAGE, spawned++);
        if (frame == 120) {                          /* a click: who is there? */
            const double mouse[3] = {0.45, 1.0, -0.4};
            if (embipc_world_cast_ray(world, camera, mouse, BALL, &hit) == 1) hand = grab(world, &hit);
            printf("picked body %d, triangle %d, %.3f m away\n", hit.body.index1, hit.triangle, hit.distance);
        }
        if (hand.index1) {                           /* 0.6 m to the right in a second, 0.1 m above the table */
            double way[3] = {0, 0, 0.1};
            way[0] = fmin(0.6, (frame - 120) / 60.0 * 0.6);
            embipc_drive_set_target(world, hand, way, still);
            if (frame == 190) { embipc_drive_destroy(world, hand); hand.index1 = 0; }
        }
        now.seconds = (frame % 3 ? 1 : 2) / 60.0 * 0.75;   /* each third frame takes twice as long */
        if (embipc_world_advance(world, &now)) { puts(embipc_world_error(world)->text); return 1; }
        for (i = 1; i < embipc_world_body_count(world); i++) {   /* draw: pose, or vertices and normals */
            embipc_pose pose;
            embipc_body_get_pose(world, embipc_world_body(world, i), now.alpha, &pose);
            embipc_body_write_vertices(world, embipc_world_body(world, i), now.alpha, sizeof(float), sizeof *mesh,
                                       mesh->position, mesh->normal);
            if (frame > 120) highest = fmax(highest, pose.position[2]);
        }
        n = embipc_world_overlap(world, lo, hi, BALL, gone, BALLS);
        for (i = 0; i < n; i++, removed++) embipc_body_destroy(world, gone[i]);
    }
    printf("in %d steps %d balls: %d first touches, the hardest %.3f N s, %d partings, highest %.3f m, %d removed\n",
           steps, spawned, begun, loudest, ended, highest, removed);
    printf("bodies that stay: %d\n", embipc_world_body_count(world));
    embipc_world_destroy(world);
}
