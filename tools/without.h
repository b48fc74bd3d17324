/* The accelerations that the environment's EMBIPC_WITHOUT leaves out, as a number: see the table in embipc.h. Included
 * before all else where `make plain-compare` builds the tool. */
extern char *getenv(const char *name);   /* no header yet: who asks for more of the system does so before any */
extern int atoi(const char *text);
static inline int measured_without(void)
{
    static int bits = -1;
    const char *text;
    if (bits >= 0) return bits;
    text = getenv("EMBIPC_WITHOUT");
    return bits = text ? atoi(text) : 0;
}
#define EMBIPC_WITHOUT measured_without()
