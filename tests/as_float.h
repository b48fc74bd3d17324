/* Included first (-include), it makes a test one of floats: those of the library, and its own. Headers of the system keep their
 * doubles. */
#define EMBIPC_REAL float
#define EMBIPC_IMPLEMENTATION
#include <ctype.h>
#include <errno.h>
#include <time.h>
#include "../embipc.h"
#define double embipc_real
