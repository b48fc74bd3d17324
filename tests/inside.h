/* embipc.h, and what is inside it, for tests that look there. `make` compiles the inside once and links it (EMBIPC_INSIDE,
 * see inside.awk); without make a test that includes this carries the whole library, as any program may. */
#ifndef TEST_INSIDE_H
#define TEST_INSIDE_H
#ifdef EMBIPC_INSIDE
#include "../embipc.h"
#define EMBIPC_IMPLEMENTATION
#include "inside_parts.h"
#else
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#endif
#endif
