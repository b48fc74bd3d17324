/* What tests do to the tree of a body, inside the library. Include after embipc.h with its implementation. */
#ifndef TREE_TEST_H
#define TREE_TEST_H

/* All boxes of the body's tree hold nothing: what is not refit is not found. */
static void tree_clear(embi_body *b)
{
    for (int k = 0; k < 2 * b->bvh.leaves + b->nt; k++) embi_box_clear(b->bvh.box + 6 * k);
}
#endif
