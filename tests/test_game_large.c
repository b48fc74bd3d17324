/* The tests of test_game.c that ask trees and surfaces, with small surfaces that count as large: trees are refitted on demand. */
#include "small.h"
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "undo_test.h"
#include "game_pose.h"
#include "game_ray.h"

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    game_pose();
    game_ray();
    meshio_test_unused();
    undo_unused();
    test_unused();
    return test_end("test_game_large");
}
