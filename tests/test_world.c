/* A world from outside: how steps begin, what calls refuse, which numbers may be given, and that nothing crosses at any return. */
#include "inside.h"
#include "test.h"
#include "scene_test.h"

static const char *const kind_name[5] = {"fixed", "kinematic", "affine", "cage", "full"};

#include "world_begin.h"
#include "world_input.h"
#include "world_numbers.h"
#include "world_guarantee.h"

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    world_begin();
    world_input();
    world_numbers();
    world_guarantee();
    meshio_test_unused();
    undo_unused();
    test_unused();
    return test_end("test_world");
}
