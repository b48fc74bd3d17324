/* The few things that C99 has no words for: wall time, terminals, directories, interrupts.
 * A port to a system without POSIX changes system.c and nothing else. */
#ifndef TOOL_SYSTEM_H
#define TOOL_SYSTEM_H
#include <stddef.h>

double system_seconds(void);                     /* monotonic, from an arbitrary start */
double system_thread_seconds(void);              /* processor time that the calling thread has had */
int system_stderr_is_terminal(void);
void system_machine(char *out, int size);        /* the name of the processor, as far as it is known */
int system_processors(void);                     /* in use; 1 where that is not known */
int system_make_directories(const char *path);   /* with its parents; 1 when it is there afterwards */
/* Can a file of this name be written? 0 with errno set if not. What is there stays as it is. */
int system_can_write(const char *path);

/* The absolute path of what is there, without links, . and ..; 0 if there is nothing or it is longer than size - 1. */
int system_real_path(const char *path, char *out, size_t size);

/* Are these two paths of one file? Of a file that is not there yet, too. Never of devices. */
int system_is_same_file(const char *a, const char *b);

/* From this call on the first interrupt or termination signal sets the flag, and a second one ends the
 * program. */
const volatile int *system_catch_interrupt(void);
#endif
