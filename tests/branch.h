/* Branches of a run: where something may fail, a copy of the process goes on in which it does, and the run itself goes
 * on without. So what comes before a failure is run once, and not once for each failure. Needs fork(). Include after
 * test.h. */
#ifndef TEST_BRANCH_H
#define TEST_BRANCH_H
#include <sys/wait.h>
#include <unistd.h>

/* Returns 1 in a branch, and 0 in the run when the branch has ended. Checks that fail in a branch count as one of the
 * run. */
static int branch(void)
{
    int status = 0;
    pid_t pid;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        test_bad = 0;
        return 1;
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        test_fail(__FILE__, __LINE__);
        printf("a branch ended with status %d\n", pid < 0 ? -1 : status);
    }
    return 0;
}
/* the end of a branch: what it holds is not asked for */
static void branch_end(void)
{
    fflush(stdout);
    _exit(test_bad != 0);
}
#endif
