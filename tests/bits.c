/* Prints a number for where each of ten small worlds ends: tests/bits.sh compares them between machines. */
#include <stdio.h>
#include <string.h>
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include "bits.h"

int main(void)
{
    for (int i = 0; i < BITS_SCENES; i++) printf("%-8s %016llx\n", bits_name[i], bits_of(i, NULL, NULL));
    return 0;
}
