/* threads.c - somebody else's thread pool under the library.
 *
 * You learn parallel_for: the one callback through which the library asks for threads, here a tiny pool of our
 * own (embipc.h has one too, under EMBIPC_PTHREADS). It may cut the work as it likes, at multiples of the grain:
 * the results are the same bits with any number of threads. Link with -lpthread. */
#define _POSIX_C_SOURCE 200809L
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define WORKERS 3              /* besides the thread that calls */
#define BODIES 8

typedef struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_t thread[WORKERS];
    embipc_range_fn *fn;       /* the job, and what is left of it: [next, count) */
    void *arg;
    int next, count, grain, busy, quit;
    long jobs, pieces;
} pool;

/* Takes pieces of the job until none is left. Called, and returns, with the lock held. */
static void help(pool *p)
{
    while (p->next < p->count) {
        int begin = p->next, end = p->count - begin > p->grain ? begin + p->grain : p->count;
        p->next = end;
        p->busy++;
        p->pieces++;
        pthread_mutex_unlock(&p->lock);
        p->fn(p->arg, begin, end);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0) pthread_cond_signal(&p->done);
    }
}

static void *worker(void *arg)
{
    pool *p = (pool *)arg;
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        help(p);
        if (!p->quit) pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* The callback: hands the job out, joins in, and returns when the last piece is done. */
static void pool_for(int count, int grain, embipc_range_fn *fn, void *arg, void *ctx)
{
    pool *p = (pool *)ctx;
    pthread_mutex_lock(&p->lock);
    p->fn = fn; p->arg = arg; p->next = 0; p->count = count; p->grain = grain;
    p->jobs++;
    pthread_cond_broadcast(&p->work);
    help(p);
    while (p->busy) pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

/* Drops a pile of soft boxes and returns a hash (FNV-1a) of the bits of all nodes; 0 on failure. */
static unsigned long simulate(pool *p)
{
    static const double x[] = {-.5,-.5,-.5, .5,-.5,-.5, -.5,.5,-.5, .5,.5,-.5, -.5,-.5,.5, .5,-.5,.5, -.5,.5,.5, .5,.5,.5};
    static const int t[] = {0,2,3, 0,3,1, 4,5,7, 4,7,6, 0,1,5, 0,5,4, 2,6,7, 2,7,3, 0,4,6, 0,6,2, 1,3,7, 1,7,5};
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;
    embipc_body body;
    embipc_body_view view;
    unsigned long hash = 2166136261ul;
    int i, n, ok;
    if (p) { wd.parallel_for = pool_for; wd.parallel_ctx = p; }
    if (embipc_world_create(&wd, &world, NULL)) return 0;
    bd.x = x; bd.vertex_count = 8; bd.triangles = t; bd.triangle_count = 12; bd.friction = 0.4; bd.position[2] = -0.5;
    ok = !embipc_body_create(world, &bd, &body);
    bd.kind = EMBIPC_CAGE; bd.scale = 0.1;
    for (i = 0; i < BODIES && ok; i++) {
        bd.position[0] = 0.03 * (i % 3); bd.position[1] = 0.02 * (i % 2); bd.position[2] = 0.06 + 0.11 * i;
        ok = !embipc_body_create(world, &bd, &body);
    }
    for (i = 0; i < 40 && ok; i++) ok = !embipc_world_step(world, NULL);
    for (i = 0; i < embipc_world_body_count(world) && ok; i++) {
        embipc_body_get_view(world, embipc_world_body(world, i), &view);
        for (n = 0; n < 24 * view.node_count; n++) hash = ((hash ^ ((const unsigned char *)view.q)[n]) * 16777619ul) & 0xfffffffful;
    }
    embipc_world_destroy(world);
    return ok ? hash : 0;
}

int main(void)
{
    pool p;
    int i;
    memset(&p, 0, sizeof p);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.work, NULL);
    pthread_cond_init(&p.done, NULL);
    for (i = 0; i < WORKERS; i++) if (pthread_create(&p.thread[i], NULL, worker, &p)) return 1;
    printf("serial:    %08lx\n", simulate(NULL));
    printf("%d threads: %08lx\n", WORKERS + 1, simulate(&p));
    printf("the pool was called %ld times and ran %ld pieces\n", p.jobs, p.pieces);
    pthread_mutex_lock(&p.lock);
    p.quit = 1;
    pthread_cond_broadcast(&p.work);
    pthread_mutex_unlock(&p.lock);
    for (i = 0; i < WORKERS; i++) pthread_join(p.thread[i], NULL);
    return 0;
}
