/* save_load.c - a world is saved to a file while a ball falls, and goes on from the file as if nothing had happened.
 *
 * You learn embipc_world_save() and embipc_world_load(): all of a world as bytes, the same on every machine. The program
 * runs a world to its end, and beside it a second one that is loaded half way. Both end with the same hash, and that
 * means with the same bits. A byte that changed is found.
 * Build: cc -std=c99 -O2 save_load.c -lm */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static const double edges[3] = {1, 1, 1}, size[3] = {0.1, 0.1, 0.1};
    static double x[600];
    static int t[1200];
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world, *loaded;
    embipc_body ground, ball;
    embipc_error error;
    unsigned char *bytes;
    size_t count;
    FILE *file;
    if (embipc_world_create(&wd, &world, NULL)) return 1;
    bd.triangle_count = embipc_shape(EMBIPC_BOX, edges, 1, x, t, 400);
    bd.vertex_count = 8; bd.x = x; bd.triangles = t; bd.friction = 0.5;
    bd.position[2] = -0.5;
    if (embipc_body_create(world, &bd, &ground)) return 1;
    bd.kind = EMBIPC_CAGE;
    bd.triangle_count = embipc_shape(EMBIPC_SPHERE, size, 2, x, t, 400);
    bd.vertex_count = bd.triangle_count / 2 + 2;   /* of each closed surface without holes */
    bd.position[2] = 0.3; bd.velocity[0] = 0.5;
    if (embipc_body_create(world, &bd, &ball)) { puts(embipc_world_error(world)->text); return 1; }
    for (int i = 0; i < 40; i++) embipc_world_step(world, NULL);

    embipc_world_save(world, NULL, 0, &count);   /* first ask how many bytes it takes */
    bytes = (unsigned char *)malloc(count);
    if (!bytes || embipc_world_save(world, bytes, count, &count)) return 1;
    file = fopen("save_load.world", "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file)) return 1;
    printf("%lu bytes at %g s\n", (unsigned long)count, embipc_world_time(world));
    file = fopen("save_load.world", "rb");
    if (!file || fread(bytes, 1, count, file) != count || fclose(file)) return 1;
    if (embipc_world_load(bytes, count, &wd, &loaded, &error)) { puts(error.text); return 1; }
    for (int i = 0; i < 60; i++) embipc_world_step(world, NULL);
    for (int i = 0; i < 60; i++) embipc_world_step(loaded, NULL);
    printf("both at %g s: the hashes are %s\n", embipc_world_time(loaded),
           embipc_world_hash(world) == embipc_world_hash(loaded) ? "equal" : "different");
    embipc_world_destroy(loaded);
    bytes[count / 2] ^= 1;
    if (embipc_world_load(bytes, count, &wd, &loaded, &error)) printf("one bit changed: %s\n", error.text);
    remove("save_load.world");
    free(bytes);
    embipc_world_destroy(world);
    return 0;
}
