/* Runs the tool beside a test program and keeps what it prints. The includer asks libc for POSIX. */
#ifndef TOOL_COMMAND_H
#define TOOL_COMMAND_H
static char command_tool[1024];    /* path of embipc */
static char command_said[1 << 20]; /* output and errors of the last command */

/* To be called with argv[0] first. */
static void command_begin(const char *self)
{
    const char *slash = strrchr(self, '/');
    snprintf(command_tool, sizeof command_tool, "%.*s/embipc", slash ? (int)(slash - self) : 1, slash ? self : ".");
}

static int command_missing(void)
{
    FILE *f = fopen(command_tool, "rb");
    if (f) fclose(f);
    return !f;
}

/* Runs a shell command in which every @ stands for the tool. Returns its exit code, or -1. */
static int command(const char *text)
{
    char *line = (char *)malloc(1 << 14);
    size_t n = 0, got;
    FILE *f;
    int status;
    for (; *text && n + sizeof command_tool + 16 < 1 << 14; text++) {
        if (*text == '@') n += (size_t)sprintf(line + n, "%s", command_tool);
        else line[n++] = *text;
    }
    strcpy(line + n, " 2>&1");
    f = popen(line, "r");
    free(line);
    if (!f) return -1;
    got = fread(command_said, 1, sizeof command_said - 1, f);
    command_said[got] = 0;
    status = pclose(f);
    return status == -1 || status % 256 ? -1 : status / 256;
}

static int command_says(const char *part)
{
    if (strstr(command_said, part)) return 1;
    printf("  wanted \"%s\" in:\n%.2000s\n", part, command_said);
    return 0;
}

/* a place for files, its own for each test program */
static const char *command_place(const char *program, const char *name)
{
    static char path[8][1100];
    static int next;
    const char *tmp = getenv("TMPDIR");
    char *p = path[next++ % 8];
    snprintf(p, sizeof path[0], "%s/embipc_%s/%s", tmp && *tmp ? tmp : "/tmp", program, name);
    return p;
}

static int command_put(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    int ok = f && fwrite(text, 1, strlen(text), f) == strlen(text);
    if (f && fclose(f) != 0) ok = 0;
    return ok;
}
#endif
