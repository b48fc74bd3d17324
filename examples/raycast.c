/* raycast.c - a picture in letters: every letter is a ray that asks the world what it meets.
 *
 * You learn embipc_world_cast_ray(), embipc_world_closest() and embipc_world_overlap(): what is under the mouse, how
 * far the nearest surface is, who stands in a region. No ray slips through between two triangles, and none of these
 * changes a bit of the simulation. The ball has facets, so its hits lie within a hair of those of a sphere.
 * Build: cc -std=c99 -O2 raycast.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <stdio.h>

enum { DETAIL = 24, TRIANGLES = 20 * DETAIL * DETAIL };
static double x[3 * (TRIANGLES / 2 + 2)];
static int t[3 * TRIANGLES];

static int add(embipc_world *world, embipc_shape_kind kind, const double size[3], int detail, double px, double pz,
               embipc_body *body)
{
    embipc_body_def bd = embipc_default_body_def();
    bd.triangle_count = embipc_shape(kind, size, detail, x, t, TRIANGLES);
    bd.vertex_count = bd.triangle_count / 2 + 2; bd.x = x; bd.triangles = t;
    bd.position[0] = px; bd.position[2] = pz;
    return !embipc_body_create(world, &bd, body);
}

/* Where a ray meets the sphere of radius 1 at (0, 0, 1): distance, or -1. */
static double sphere(const double from[3], const double to[3])
{
    double w[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]}, o[3] = {from[0], from[1], from[2] - 1};
    double a = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], b = o[0] * w[0] + o[1] * w[1] + o[2] * w[2];
    double c = o[0] * o[0] + o[1] * o[1] + o[2] * o[2] - 1, root = b * b - a * c;
    return root < 0 ? -1 : (-b - sqrt(root)) / sqrt(a);
}

int main(void)
{
    static const double ground_size[3] = {20, 20, 1}, one[3] = {1}, box_size[3] = {1, 1, 1}, eye[3] = {0.7, -9, 3};
    static const double point[3] = {0, -3, 1}, lo[3] = {1.5, -0.1, 0.1}, hi[3] = {5, 0.1, 0.2};
    embipc_world_def wd = embipc_default_world_def();
    embipc_world *world;
    embipc_body ground, ball, box, found[4];
    embipc_hit hit;
    double worst = 0, d;
    int row, column, hits = 0, wrong = 0, n;

    if (embipc_world_create(&wd, &world, NULL)) return 1;
    if (!add(world, EMBIPC_BOX, ground_size, 1, 0, -0.5, &ground)
        || !add(world, EMBIPC_SPHERE, one, DETAIL, 0, 1, &ball)
        || !add(world, EMBIPC_BOX, box_size, 1, 2.2, 0.5, &box)) return 1;
    for (row = 0; row < 16; row++) {
        char line[71] = {0};
        for (column = 0; column < 70; column++) {
            double to[3] = {(column - 34.5) * 0.11, 1, 2.0 - row * 0.22};   /* on a screen behind; letters are tall */
            double far_to[3];
            int k;
            for (k = 0; k < 3; k++) far_to[k] = eye[k] + 2 * (to[k] - eye[k]);
            line[column] = ' ';
            d = sphere(eye, far_to);
            if (embipc_world_cast_ray(world, eye, far_to, ~0u, &hit) != 1) { wrong += d > 0; continue; }
            if (hit.body.index1 == ball.index1) {
                double light = 0.5 * hit.normal[2] - 0.6 * hit.normal[1] - 0.4 * hit.normal[0];
                line[column] = ".:-=+*%@"[(int)(8 * (light < 0 ? 0 : light > 0.99 ? 0.99 : light))];
                if (d < 0) { wrong++; continue; }
                hits++;
                if (fabs(d - hit.distance) > worst) worst = fabs(d - hit.distance);
            } else {
                wrong += d > 0 && d < hit.distance;
                line[column] = hit.body.index1 == box.index1 ? hit.normal[2] > 0.5 ? '"' : '#' : ',';
            }
        }
        puts(line);
    }
    printf("rays on the ball: %d, off the sphere by %.4f m at most; %d rays disagree with it\n", hits, worst, wrong);
    if (embipc_world_closest(world, point, 10, ~0u, &hit) == 1)
        printf("from (0, -3, 1) the nearest point is %.4f m away, at (%.3f, %.3f, %.3f)\n", hit.distance, hit.point[0],
               hit.point[1], hit.point[2]);
    n = embipc_world_overlap(world, lo, hi, ~0u, found, 4);
    printf("bodies in the region beside the ball: %d, the box: %d\n", n, n == 1 && found[0].index1 == box.index1);
    embipc_world_destroy(world);
    return 0;
}
