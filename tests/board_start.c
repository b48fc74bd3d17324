/* The start of a program on a Cortex-M7 without an operating system: vectors, data, floating point, a painted stack. It prints
 * by semihosting, which newlib knows. `make boards` builds it. */
#include <stdlib.h>
#include <string.h>

extern unsigned char board_data[], board_data_end[], board_data_from[], board_bss[], board_bss_end[];
extern unsigned char board_stack_low[], board_stack_top[];
extern void initialise_monitor_handles(void);
extern int main(void);
extern void board_systick(void);
void board_reset(void);

static void board_fault(void) { exit(3); }

void board_reset(void)
{
    volatile unsigned char *p = board_stack_low, here;
    *(volatile unsigned *)0xE000ED88 |= 0xFu << 20;   /* CPACR: the coprocessors of floating point */
    __asm volatile("dsb\n isb");
    while (p < &here - 256) *p++ = 0xA5;
    memcpy(board_data, board_data_from, (size_t)(board_data_end - board_data));
    memset(board_bss, 0, (size_t)(board_bss_end - board_bss));
    initialise_monitor_handles();
    exit(main());
}

void _init(void);
void _fini(void);
void _init(void) { }
void _fini(void) { }

typedef void (*board_vector)(void);
__attribute__((section(".vectors"), used)) static const board_vector board_vectors[16] = {
    (board_vector)(void *)board_stack_top, board_reset, board_fault, board_fault, board_fault, board_fault, board_fault,
    0, 0, 0, 0, board_fault, board_fault, 0, board_fault, board_systick};
