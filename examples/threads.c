/* threads.c - somebody else's thread pool under the library.
 *
 * You learn parallel_for, the one callback through which the library asks for threads, here a tiny pool of
 * our own (embipc.h has one too, under EMBIPC_PTHREADS). It may cut the work at any multiple of the grain:
 * the results are the same bits with any number of threads. Link with -lpthread. */
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define WORKERS 4
#define U 48                   /* cells of a ring around its axis and around its tube */
#define V 20

typedef struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    embipc_range_fn *fn; void *arg;   /* the job, and below what is left of it: [next, count) */
    int next, count, grain, busy, quit, jobs, pieces;
} pool;

/* Takes a piece of the job, runs it unlocked, and again; sleeps while there is none. */
static void *worker(void *arg)
{
    pool *p = (pool *)arg;
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        int begin = p->next, end = p->count - begin > p->grain ? begin + p->grain : p->count;
        if (begin == end) { pthread_cond_wait(&p->changed, &p->lock); continue; }
        p->next = end; p->busy++; p->pieces++;
        pthread_mutex_unlock(&p->lock);
        p->fn(p->arg, begin, end);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0) pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* The callback: hands the job out and returns when the last piece is done. */
static void pool_for(int count, int grain, embipc_range_fn *fn, void *arg, void *ctx)
{
    pool *p = (pool *)ctx;
    pthread_mutex_lock(&p->lock);
    p->fn = fn; p->arg = arg; p->next = 0; p->count = count; p->grain = grain; p->jobs++;
    pthread_cond_broadcast(&p->changed);
    while (p->next < p->count || p->busy) pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

/* Drops a ring on a fixed one, on p or serial, and returns a hash (FNV-1a) of its bits; 0 on failure. */
static unsigned simulate(pool *p)
{
    static embipc_real x[3 * U * V];
    static int t[6 * U * V];
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def bd = embipc_default_body_def();
    embipc_world *world;
    embipc_body ring;
    embipc_body_view view;
    unsigned hash = 2166136261u;
    int i, ok;

    for (i = 0; i < U * V; i++) {
        double a = 6.2831853 / U * (i / V), b = 6.2831853 / V * (i % V), r = 0.07 + 0.03 * cos(b);
        int up = i - i % V + (i + 1) % V, on = (i + V) % (U * V), far = (up + V) % (U * V), *k = t + 6 * i;
        x[3 * i] = r * cos(a); x[3 * i + 1] = r * sin(a); x[3 * i + 2] = 0.03 * sin(b);
        k[0] = k[3] = i; k[1] = on; k[2] = k[4] = far; k[5] = up;
    }
    if (p) { wd.parallel_for = pool_for; wd.parallel_ctx = p; }
    if (embipc_world_create(&wd, &world, NULL)) return 0;
    bd.x = x; bd.vertex_count = U * V; bd.triangles = t; bd.triangle_count = 2 * U * V; bd.friction = 0.4;
    ok = !embipc_body_create(world, &bd, &ring);
    bd.kind = EMBIPC_AFFINE; bd.position[0] = 0.03; bd.position[2] = 0.065;
    ok = ok && !embipc_body_create(world, &bd, &ring) && !embipc_body_get_view(world, ring, &view);
    for (i = 0; i < 50 && ok; i++) ok = !embipc_world_step(world, NULL);
    for (i = 0; ok && i < 24 * view.vertex_count; i++)
        hash = (hash ^ ((const unsigned char *)view.x)[i]) * 16777619u;
    embipc_world_destroy(world);
    return ok ? hash : 0;
}

int main(void)
{
    pool p = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, NULL, 0, 0, 0, 0, 0, 0, 0};
    pthread_t thread[WORKERS];
    int i;
    for (i = 0; i < WORKERS; i++) if (pthread_create(&thread[i], NULL, worker, &p)) return 1;
    printf("serial:    %08x\n", simulate(NULL));
    printf("%d threads: %08x\n", WORKERS, simulate(&p));
    printf("the pool was called %d times and ran %d pieces\n", p.jobs, p.pieces);
    pthread_mutex_lock(&p.lock);
    p.quit = 1;
    pthread_cond_broadcast(&p.changed);
    pthread_mutex_unlock(&p.lock);
    for (i = 0; i < WORKERS; i++) pthread_join(thread[i], NULL);
    return 0;
}
