/* `embipc check` as a function that keeps what it says. Stands behind tools/check.c. */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H
static char check_said[1 << 16];   /* everything printed by the last run, errors behind reports */

static void check_collect(FILE *f)
{
    size_t used = strlen(check_said);
    rewind(f);
    check_said[used + fread(check_said + used, 1, sizeof check_said - 1 - used, f)] = 0;
    fclose(f);
}

/* Checks one file, and mends it into another when fix names one. Returns the exit code. */
static int check_run(const char *path, const char *fix, double merge, int hole)
{
    check_options o;
    int code;
    memset(&o, 0, sizeof o);
    o.mesh = &path;
    o.mesh_count = 1;
    o.fix = fix;
    o.merge = merge;
    o.hole = hole;
    o.list = 3;
    o.out = tmpfile();
    o.errors = tmpfile();
    if (!o.out || !o.errors) exit(2);
    code = check_meshes(&o);
    check_said[0] = 0;
    check_collect(o.out);
    check_collect(o.errors);
    return code;
}

static int check_says(const char *part)
{
    if (strstr(check_said, part)) return 1;
    printf("  wanted \"%s\" in:\n%s\n", part, check_said);
    return 0;
}
#endif
