/* Inputs from the field that once came out wrong, each with the right value: see DATA/field. */
#include "../tools/system.h"
#include "inside.h"
#include "test.h"
#include "field_readers.h"
#include "field_meshes.h"
#include "field_motion.h"
#include "field_contact.h"
#include "field_robust.h"

int main(int argc, char **argv)
{
    meshio_test_unused();
    undo_unused();
    test_begin(argc, argv);
    RUN(readers_text);
    RUN(readers_stl);
    RUN(readers_vtk);
    RUN(readers_msh);
    RUN(readers_second_order);
    RUN(readers_concave);
    RUN(readers_long_polygon);
    RUN(readers_one_surface);
    RUN(readers_files);
    RUN(far_bodies);
    RUN(parts_that_share_a_vertex);
    RUN(two_sided_meshes);
    RUN(shell_in_a_solid);
    RUN(lengths_without_arithmetic);
    RUN(every_material_rolls);
    RUN(friction_of_a_start);
    RUN(slit_bears_its_load);
    RUN(stuck_is_told);
    RUN(crushed_affine_comes_free);
    RUN(peg_goes_in);
    RUN(flat_floor_does_not_push);
    RUN(tiles_are_one_floor);
    RUN(late_far_bodies);
    RUN(views_after_failed_steps);
    RUN(huge_numbers);
    return test_end("test_field");
}
