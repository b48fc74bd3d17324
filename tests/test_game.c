/* What a game loop and a robot call between steps: drawing, frames, kinds that change, pairs, poses, vertices to draw, jumps, pushes, rays, events, ready shapes. */
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "undo_test.h"
#include "game_draw.h"
#include "game_frame.h"
#include "game_lod.h"
#include "game_pair.h"
#include "game_pose.h"
#include "game_ray.h"
#include "game_event.h"
#include "game_shape.h"

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    game_draw();
    game_frame();
    game_lod();
    game_pair();
    game_pose();
    game_ray();
    game_event();
    game_shape();
    meshio_test_unused();
    undo_unused();
    test_unused();
    return test_end("test_game");
}
