#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700   /* realpath */
#include "system.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifdef _WIN32
#include <direct.h>
#endif

static double system_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double system_seconds(void) { return system_clock(CLOCK_MONOTONIC); }

double system_thread_seconds(void) { return system_clock(CLOCK_THREAD_CPUTIME_ID); }

int system_stderr_is_terminal(void) { return isatty(2); }

void system_machine(char *out, int size)
{
    char line[512], *name = getenv("PROCESSOR_IDENTIFIER");   /* Windows sets it */
    FILE *f = fopen("/proc/cpuinfo", "r");
    (void)snprintf(out, (size_t)size, "%s", name ? name : "unknown");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "model name", 10) != 0 || !(name = strchr(line, ':'))) continue;
        name[strcspn(name, "\r\n\"\\")] = 0;
        (void)snprintf(out, (size_t)size, "%s", name + 1 + (name[1] == ' '));
        break;
    }
    if (f) fclose(f);
}

#ifdef _WIN32
int system_processors(void)
{
    const char *n = getenv("NUMBER_OF_PROCESSORS");
    return n && atoi(n) > 0 ? atoi(n) : 1;
}

static int system_make_directory(const char *path) { return _mkdir(path); }

static char *system_path_of(const char *path) { return access(path, F_OK) == 0 ? _fullpath(NULL, path, 0) : NULL; }
#else
int system_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

static int system_make_directory(const char *path) { return mkdir(path, 0777); }

static char *system_path_of(const char *path) { return realpath(path, NULL); }
#endif

static int system_is_directory(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

int system_make_directories(const char *path)
{
    char part[4096];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof part) {
        errno = n ? ENAMETOOLONG : ENOENT;
        return 0;
    }
    for (size_t i = 1; i <= n; i++) {
        if (i < n && path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (system_make_directory(part) != 0 && errno != EEXIST && !system_is_directory(part)) return 0;
    }
    if (system_is_directory(path)) return 1;
    errno = ENOTDIR;
    return 0;
}

int system_can_write(const char *path)
{
    struct stat s;
    FILE *f;
    if (stat(path, &s) == 0) {
        int ok = !S_ISDIR(s.st_mode) && access(path, W_OK) == 0;
        if (S_ISDIR(s.st_mode)) errno = EISDIR;
        if (ok || errno != ENOENT) return ok;   /* else another process that tries the same has just removed it */
    }
    f = fopen(path, "wb");
    if (!f) return 0;
    fclose(f);
    (void)remove(path);
    return 1;
}

int system_real_path(const char *path, char *out, size_t size)
{
    char *real = system_path_of(path);
    int ok = real && strlen(real) < size;
    if (ok) strcpy(out, real);
    free(real);
    return ok;
}

#ifdef _WIN32
int system_is_same_file(const char *a, const char *b)
{
    char *p = _fullpath(NULL, a, 0), *q = _fullpath(NULL, b, 0);
    int same = p && q && _stricmp(p, q) == 0;
    free(p);
    free(q);
    return same;
}
#else
/* What is known of the directory of a path. */
static int system_directory_of(const char *path, struct stat *s)
{
    char directory[4096];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (n >= sizeof directory) return 0;
    memcpy(directory, path, n);
    directory[n] = 0;
    return stat(n ? directory : ".", s) == 0;
}

int system_is_same_file(const char *a, const char *b)
{
    struct stat s, t;
    const char *end[2];
    int there = stat(a, &s) == 0, also = stat(b, &t) == 0;
    if (there != also) return 0;
    if (there) return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
    end[0] = strrchr(a, '/');
    end[1] = strrchr(b, '/');
    return strcmp(end[0] ? end[0] + 1 : a, end[1] ? end[1] + 1 : b) == 0 && system_directory_of(a, &s)
           && system_directory_of(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}
#endif

/* ---- Interrupts ----------------------------------------------------------------------------- */

static volatile int system_interrupted;

static void system_on_signal(int number)
{
    static const char said[] = "\nstopping; a second signal ends the program at once\n";
    ssize_t written = write(2, said, sizeof said - 1);
    (void)written;
    (void)number;
    system_interrupted = 1;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

const volatile int *system_catch_interrupt(void)
{
    (void)signal(SIGINT, system_on_signal);
    (void)signal(SIGTERM, system_on_signal);
    return &system_interrupted;
}
