/* The proof of steps (EMBIPC_PROOF): pairs that meet on their way are never shown to stay apart, those that stay apart are, with
 * a distance; scenes of all kinds of bodies prove each step; a step that crosses fails, and the world is as it was. */
#define EMBIPC_PROOF
#define EMBIPC_IMPLEMENTATION
#include "../embipc.h"
#include "test.h"
#include "scene_test.h"

/* Positions of four points before and after. */
typedef struct proof_way { double x[4][2][3]; } proof_way;

static int proof_apart(const proof_way *w, int triangle, double *distance)
{
    long long parts = 0;
    *distance = INFINITY;
    return embi_proof_pair((const double (*)[2][3])w->x, triangle, &parts, distance);
}

/* A multiple of 1/n in [0, 1] */
static double proof_share(int n) { return floor(test_random() * (n + 1)) / n; }

/* A pair by chance whose sides are at the same point at the time t, at (u, v) of them. All numbers are multiples of 2^-8, and t, u, v
 * of 1/4, so nothing is rounded. */
static proof_way proof_meeting(int triangle, double t, double u, double v, double far)
{
    proof_way w;
    for (int k = 0; k < 4; k++)
        for (int e = 0; e < 2; e++)
            for (int i = 0; i < 3; i++) w.x[k][e][i] = far + proof_share(512) - 0.5;
    for (int i = 0; i < 3; i++) {
        double at[4], d;
        for (int k = 0; k < 4; k++) at[k] = w.x[k][0][i] + t * (w.x[k][1][i] - w.x[k][0][i]);
        d = triangle ? at[1] + u * (at[2] - at[1]) + v * (at[3] - at[1]) - at[0]
                     : at[2] + v * (at[3] - at[2]) - at[0] - u * (at[1] - at[0]);
        for (int k = 0; k < (triangle ? 1 : 2); k++)
            for (int e = 0; e < 2; e++) w.x[k][e][i] += d;
    }
    return w;
}

static void test_pairs_that_meet(void)
{
    int proven = 0, tried = 0;
    for (int n = 0; n < 2000; n += TEST_STRIDE) {
        int triangle = n % 2;
        double u = proof_share(4), v = triangle ? (1 - u) * floor(test_random() * 2) : proof_share(4), d;
        proof_way w = proof_meeting(triangle, proof_share(4), u, v, n % 3 ? 0 : 1048576);
        if (n % 5 == 0)   /* in a plane */
            for (int k = 0; k < 4; k++) w.x[k][0][0] = w.x[k][1][0] = 0;
        tried++;
        proven += proof_apart(&w, triangle, &d);
    }
    ENSURE(tried > 100 && proven == 0);
}

/* The least distance on a grid of times, by the library's distances, is not below what was proven, and not 8 times it. */
static void test_pairs_that_stay_apart(void)
{
    int proven = 0, tried = 0;
    for (int n = 0; n < 4000; n += TEST_STRIDE) {
        int triangle = n % 2;
        double d, least = INFINITY;
        proof_way w = proof_meeting(triangle, proof_share(4), 0.25, 0.25, 0);
        double gap = pow(10, test_uniform(-6, 0));
        for (int e = 0; e < 2; e++) {   /* the second side below z = 0, the first one above */
            for (int k = 0; k < 4; k++) {
                int first = k < (triangle ? 1 : 2);
                w.x[k][e][2] = first ? gap + fabs(w.x[k][e][2]) : -fabs(w.x[k][e][2]);
            }
            w.x[0][e][2] = gap;
        }
        for (int s = 0; s <= 64; s++) {
            double x[12];
            for (int k = 0; k < 4; k++)
                for (int i = 0; i < 3; i++) x[3 * k + i] = w.x[k][0][i] + s / 64.0 * (w.x[k][1][i] - w.x[k][0][i]);
            least = fmin(least, triangle ? embipc_point_triangle_distance(x, NULL) : embipc_edge_edge_distance(x, NULL));
        }
        tried++;
        if (!proof_apart(&w, triangle, &d)) continue;
        proven++;
        ENSURE(d > 0 && d <= least * (1 + 1e-12));
        ENSURE(d >= gap / 8 * 0.999);   /* nothing is nearer than the gap of the planes */
    }
    ENSURE(proven == tried);
}

/* Steps of a scene are all proven; contacts are among the pairs, and no gap at the end is below the proven distance. */
static void proof_scene(scene *s, int steps, double *nearest)
{
    embipc_proof proof;
    long long pairs = 0;
    int moves = 0, contacts = 0;
    *nearest = INFINITY;
    ENSURE_OK(s->w, embipc_world_set_proof(s->w, &proof));
    for (int i = 0; i < steps; i++) {
        if (!ENSURE_OK(s->w, embipc_world_step(s->w, &s->stats))) break;
        ENSURE(proof.unproven == 0 && proof.distance > 0 && proof.distance <= s->stats.min_distance * (1 + 1e-12));
        pairs += proof.pairs;
        moves += proof.moves;
        contacts += s->stats.contacts;
        *nearest = fmin(*nearest, proof.distance);
    }
    ENSURE(moves >= steps && contacts > 0 && pairs > contacts);
    ENSURE_OK(s->w, embipc_world_set_proof(s->w, NULL));
    proof.moves = -1;
    ENSURE_OK(s->w, embipc_world_step(s->w, &s->stats));
    ENSURE(proof.moves == -1);
}

static void test_scenes(void)
{
    for (int which = 0; which < 3; which++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s = scene_empty(&wd), twin = scene_empty(&wd);
        double nearest;
        for (int k = 0; k < 2; k++) {
            scene *one = k ? &twin : &s;
            if (which == 0) scene_heap(one);
            else {
                scene_ground(one, 1, 0.5);
                for (int i = 0; i < 3; i++) {
                    embipc_body_def d = scene_def("block", which == 1 ? EMBIPC_AFFINE : i % 2 ? EMBIPC_FULL : EMBIPC_CAGE, 0.02 * i, 0,
                                                  0.06 + 0.12 * i);
                    d.friction = 0.5;
                    d.velocity[2] = -2;
                    d.angular_velocity[1] = 10;
                    if (which == 1) d.material.young = 1e8;
                    scene_box(one, d, 0.1, 0.1, 0.1, 2);
                }
            }
        }
        proof_scene(&s, 25, &nearest);
        ENSURE(nearest > 1e-9);
        for (int i = 0; i < 26; i++) ENSURE(!embipc_world_step(twin.w, &twin.stats));
        ENSURE(scene_bits(s.w) == scene_bits(twin.w));   /* a proof changes nothing */
        scene_end(&s);
        scene_end(&twin);
    }
}

/* The clock of a world, which is asked at the begin of each stage: while `blind`, it takes all candidates away, as if
 * collision detection were wrong. */
typedef struct proof_saboteur { embipc_world *w; int blind; } proof_saboteur;
static double proof_clock(void *ctx)
{
    proof_saboteur *c = (proof_saboteur *)ctx;
    for (int k = 0; c->blind && k < c->w->s.pair_count; k++) c->w->s.pair[k].count = 0;
    return 0;
}

/* A fast step that runs through the ground fails, and names both; the world is as it was, and goes on when all is right again. */
static void test_step_that_crosses(void)
{
    embipc_world_def wd = embipc_default_world_def();
    proof_saboteur c = {NULL, 0};
    embipc_proof proof;
    scene s;
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.06);
    unsigned long long bits;
    wd.clock = proof_clock;
    wd.clock_ctx = &c;
    s = scene_empty(&wd);
    c.w = s.w;
    scene_ground(&s, 1, 0);
    d.velocity[2] = -40;   /* 0.4 m in a step: through 0.1 m of ground, and out below it */
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    ENSURE_OK(s.w, embipc_world_set_proof(s.w, &proof));
    bits = scene_bits(s.w);
    c.blind = 1;
    ENSURE(embipc_world_step(s.w, &s.stats) == EMBIPC_ERR_INTERSECTION);
    ENSURE(strstr(embipc_world_error(s.w)->text, "have no proof that they stay apart"));
    ENSURE(strstr(embipc_world_error(s.w)->text, "\"ground\"") && strstr(embipc_world_error(s.w)->text, "\"box\""));
    ENSURE(proof.unproven > 4 && proof.body[0].index1 + proof.body[1].index1 == 3);
    ENSURE(scene_bits(s.w) == bits && embipc_world_time(s.w) == 0);
    c.blind = 0;
    for (int i = 0; i < 20; i++) ENSURE_OK(s.w, embipc_world_step(s.w, &s.stats));
    ENSURE(proof.unproven == 0 && s.stats.min_distance > 0);
    ENSURE(embipc_world_set_proof(NULL, &proof) == EMBIPC_ERR_ARGUMENT);
    scene_end(&s);
}

/* Copies prove nothing until they are asked to; a world that goes back to one goes on with its proof. */
static void test_copies(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    embipc_world *c;
    embipc_proof proof;
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.06);
    scene_ground(&s, 1, 0);
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    ENSURE_OK(s.w, embipc_world_set_proof(s.w, &proof));
    ENSURE_OK(s.w, embipc_world_copy(s.w, &c));
    proof.moves = -1;
    ENSURE(!embipc_world_step(c, NULL) && proof.moves == -1);
    ENSURE_OK(s.w, embipc_world_restore(s.w, c));
    embipc_world_destroy(c);
    ENSURE(!embipc_world_step(s.w, NULL) && proof.moves > 0);
    scene_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    test_unused();
    meshio_test_unused();
    RUN(pairs_that_meet);
    RUN(pairs_that_stay_apart);
    RUN(scenes);
    RUN(step_that_crosses);
    RUN(copies);
    return test_end("test_proof");
}
