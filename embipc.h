/* embipc.h 0.1 - Embedded Incremental Potential Contact (IPC) in one C99 header. MIT or public domain.
 *
 * Simulates soft, stiff and rigid-like bodies with frictional contact, and never lets their surfaces pass
 * through each other: not in a step, not between steps, whatever the arguments. A body's collision surface,
 * as fine as you like, is carried by a coarse cage of tetrahedra, as small as a single one, so the unknowns
 * are few and the contact is exact.
 *
 * In ONE C or C++ file:      #define EMBIPC_IMPLEMENTATION
 *                            #include "embipc.h"
 * and in any other just the include. Needs libc and libm, nothing else. Build: cc -std=c99 -O2 you.c -lm
 *
 *     #define EMBIPC_IMPLEMENTATION
 *     #include "embipc.h"
 *     int main(void)
 *     {
 *         static const double x[] = {-.5,-.5,-.5, .5,-.5,-.5, -.5,.5,-.5, .5,.5,-.5,
 *                                    -.5,-.5,.5, .5,-.5,.5, -.5,.5,.5, .5,.5,.5};
 *         static const int t[] = {0,2,3, 0,3,1, 4,5,7, 4,7,6, 0,1,5, 0,5,4,
 *                                 2,6,7, 2,7,3, 0,4,6, 0,6,2, 1,3,7, 1,7,5};
 *         embipc_world_def wd = embipc_default_world_def();
 *         embipc_body_def bd = embipc_default_body_def();
 *         embipc_world *world;
 *         embipc_body ground, box;
 *         embipc_body_state s;
 *         embipc_world_create(&wd, &world, NULL);
 *         bd.x = x; bd.vertex_count = 8; bd.triangles = t; bd.triangle_count = 12; bd.friction = 0.5;
 *         bd.position[2] = -0.5;                                  // a fixed unit cube, its top at z = 0
 *         embipc_body_create(world, &bd, &ground);
 *         bd.kind = EMBIPC_CAGE; bd.scale = 0.1; bd.position[2] = 0.2;   // a soft one of 0.1 m, falling
 *         if (embipc_body_create(world, &bd, &box)) { puts(embipc_world_error(world)->text); return 1; }
 *         for (int i = 0; i < 100; i++) embipc_world_step(world, NULL);
 *         embipc_body_get_state(world, box, &s);
 *         printf("after 1 s its centre is at z = %g m\n", s.centre[2]);
 *         embipc_world_destroy(world);
 *         return 0;
 *     }
 *
 * DOES      full-space IPC, Embedded IPC and affine body dynamics as one mechanism, x = J q; Coulomb
 *           friction; position-driven nodes and bodies, and springs of limited force that pull them; the
 *           forces of contacts and drives in newtons; steps that may be cut short at any iteration; the same
 *           bits for the same input and any number of threads; no allocation in a warmed-up step; a cage for
 *           any closed surface; nine materials, one of which never lets a tet invert.
 * DOES NOT  read files, print, exit or abort; save and restore states but that at creation; plasticity or
 *           tearing; fluids; joints, shells, rods (planned); GPUs; gradients of results.
 *
 * STEP BY STEP
 *   1. embipc_default_world_def(), change what you like, embipc_world_create().
 *   2. embipc_default_body_def(), point it at your mesh, choose a kind, embipc_body_create(). Surfaces are
 *      triangles, outward; bodies must not cross at the start. An error names the body, the primitive and
 *      the values: embipc_world_error().
 *   3. embipc_drive_create() for what moves on command: keyframes, or embipc_drive_set_target() each step.
 *   4. embipc_world_step(); then embipc_body_get_view() for vertices to draw, embipc_body_get_state() for
 *      motion, embipc_world_pair_forces() for forces.
 *
 * DEFAULTS  What is left 0 is derived per body, never from the scene: dhat = 1e-3 of the body's bounding-box
 *   diagonal D, of thin and very fine bodies less; epsv = 1e-3 D per second; kappa such that the body's
 *   weight, and its momentum at D per second brought to rest in one step, on three pairs leave the gap above
 *   0.3 dhat, and of cage and full bodies so does a pressure of their Young's modulus, unless they would then
 *   rest above 0.9 dhat; tolerance = 0.1 epsv; no friction. A pair takes the smaller dhat and epsv and the
 *   larger kappa of its dynamic bodies. embipc_body_get_parameters() tells.
 *
 * CONTENTS  (grep -n '==== ' embipc.h)
 *   Public: configuration, results and callbacks, materials, world, bodies, drives, step, queries; toolbox:
 *   geometry, linear algebra, meshes and cages, separating what overlaps, barrier and friction.
 *   Implementation: 1 platform, 2 small math, 3 memory, 4 errors, 5 threads, 6 sorting and sets,
 *   7 exact predicates, 8 sparse matrices, 9 LDL^T, 10 conjugate gradients and the system of a step,
 *   11 meshes, 12 embedding, 13 cage builder, 14 elasticity, 15 materials, 16 distances, 17 barrier,
 *   18 friction, 19 broad phase, 20 continuous collision detection, 21 contact, 22 state, 23 newton,
 *   24 world, 25 making bodies, 26 queries, 27 validation, 28 the step, 29 parting what overlaps.
 *
 * CONVENTIONS  SI units; x[3*n] is xyz interleaved, tet[4*m] and tri[3*m] are 0-based indices, 3x3 matrices
 * are row-major. Triangles are counter-clockwise seen from outside; tets have
 * det(x1-x0, x2-x0, x3-x0) > 0. Arrays given to the library are copied. Names, as in the papers:
 *   q     nodes (unknowns), m       x = J q  surface vertices, m          h       time step, s
 *   qt    predicted q, m            J    rows of at most four weights     v       velocity of q, m/s
 *   M     mass, kg                  K    stiffness, N/m                   A       M + h^2 K of a step
 *   F     deformation gradient      R    rotation of F, lagged            E       strain; Young's modulus, Pa
 *   d     distance, m               dhat where the barrier begins, m      xi      thickness, m
 *   b     barrier, m^2              kappa barrier stiffness, kg/s^2       lambda  normal force, N; Lame, Pa
 *   mu    friction; Lame, Pa        epsv friction velocity, m/s           u       tangential displacement, m
 *   g     gradient                  p    direction of a Newton step       alpha   share of p that is taken
 *
 * SOURCES  [EIPC24] Du et al., Embedded IPC, arXiv 2409.16385. [IPC20] Li et al., Incremental Potential
 *   Contact, TOG 39(4) 2020. [CIPC21] Li, Kaufman, Jiang, Codimensional IPC, TOG 40(4) 2021 (additive
 *   conservative advancement). [ABD22] Lan et al., Affine Body Dynamics, TOG 41(4) 2022. [CCD23] Han,
 *   Masterjohn, Castro, A Convex Formulation of Frictional Contact between Rigid and Deformable Bodies, RA-L
 *   2023 (lagged corotated). [BB98] Bonet, Burton, A simple average nodal pressure tetrahedral element, 1998.
 *   [DAVIS06] Davis, Direct Methods for Sparse Linear Systems, 2006. [AMD96] Amestoy, Davis, Duff, An
 *   Approximate Minimum Degree Ordering Algorithm, 1996. [SHE97] Shewchuk, Adaptive Precision Floating-Point
 *   Arithmetic, 1997. [DEK71] Dekker, A Floating-Point Technique for Extending the Available Precision, 1971.
 *   [ERI05] Ericson, Real-Time Collision Detection, 2005. [HORN87] Horn, Absolute Orientation Using Unit
 *   Quaternions, 1987. [BW08] Bonet, Wood, Nonlinear Continuum Mechanics for Finite Element Analysis, 2008.
 *   [STOM12] Stomakhin et al., Energetically Consistent Invertible Elasticity, SCA 2012. [SGK18] Smith,
 *   de Goes, Kim, Stable Neo-Hookean Flesh Simulation, TOG 37(2) 2018. [SGK19] the same, Analytic
 *   Eigensystems for Isotropic Distortion Energies, TOG 38(1) 2019. [DV92] Demmel, Veselic, Jacobi's Method is
 *   More Accurate than QR, 1992. [SMITH61] Smith, Eigenvalues of a Symmetric 3 x 3 Matrix, CACM 4(4) 1961. */

#ifndef EMBIPC_H
#define EMBIPC_H

/* ---- Configuration --------------------------------------------------------------------------
 * Define these before the include, the same way in every translation unit.
 *   EMBIPC_IMPLEMENTATION  in exactly one C or C++ file: compile the library here, without -ffast-math
 *                          or its parts, which break the guarantee; other files may have them
 *   EMBIPC_STATIC          every function is static: several files may carry their own copy
 *   EMBIPC_PTHREADS        adds a small thread pool (embipc_pool_*); needs <pthread.h>, <sched.h>
 *   EMBIPC_ASSERT(c)       our own invariants; default assert() from <assert.h>
 *   EMBIPC_PLAIN_KERNEL    the kernel of LDL^T does not ask the machine for AVX; same bits, slower
 *   EMBIPC_LANES           1, 2 or 4: so many numbers are worked on side by side, with the vectors of gcc and
 *                          clang; default: as many as the target's registers hold
 *   EMBIPC_VALIDATE        embipc_world_validate() runs after every step (slow; for bug hunts)
 *   EMBIPC_ALLOW_EXTENDED_PRECISION  builds where FLT_EVAL_METHOD is 2 (x87) all the same: the
 *                          exact predicates, and with them the guarantee, then depend on luck */
#include <stddef.h>
#include <float.h>
#include <limits.h>

#ifdef EMBIPC_STATIC
#if defined(__GNUC__) || defined(__clang__)
#define EMBIPC_API static __attribute__((unused))
#else
#define EMBIPC_API static
#endif
#else
#ifdef __cplusplus
#define EMBIPC_API extern "C"
#else
#define EMBIPC_API extern
#endif
#endif

#define EMBIPC_VERSION 1

/* The scalar of the whole library. */
typedef double embipc_real;

/* ---- Results and errors ---------------------------------------------------------------------
 * Every call that can fail returns a result; 0 is success. The world is as it was before a call that
 * failed. What went wrong, with which body, which primitive and which values, stands in an embipc_error:
 * embipc_world_error() for calls on a world, the `error` argument (may be NULL) for the others. */
typedef enum embipc_result {
    EMBIPC_OK = 0,
    EMBIPC_ERR_DEF,           /* a description that did not come from its embipc_default_*_def() */
    EMBIPC_ERR_ARGUMENT,      /* a NULL, a negative count, a parameter out of its range */
    EMBIPC_ERR_HANDLE,        /* a body or drive that does not exist (any more) */
    EMBIPC_ERR_MEMORY,        /* the allocator returned NULL, or a size overflowed */
    EMBIPC_ERR_NOT_FINITE,    /* inf or nan in the input, or met during a step */
    EMBIPC_ERR_INDEX,         /* an index out of range in a mesh */
    EMBIPC_ERR_OPEN,          /* a surface that must be closed has a border */
    EMBIPC_ERR_ORIENTATION,   /* inside out, or neighbouring triangles that disagree: flip them */
    EMBIPC_ERR_MANIFOLD,      /* an edge with more than two triangles, a vertex or triangle used twice */
    EMBIPC_ERR_DEGENERATE,    /* no area, no volume, or a flat or inverted tetrahedron */
    EMBIPC_ERR_OUTSIDE,       /* a surface vertex that lies in no tetrahedron of its cage */
    EMBIPC_ERR_INTERSECTION,  /* surfaces cross (embipc_world_rejected() lists where), or are nearer than their thickness */
    EMBIPC_RESULT_COUNT
} embipc_result;

/* A body or a drive of a world: by value, 0 is none, checked at every entry. */
typedef struct embipc_body { int index1; unsigned generation; } embipc_body;
typedef struct embipc_drive { int index1; unsigned generation; } embipc_drive;

typedef enum embipc_primitive {
    EMBIPC_NO_PRIMITIVE = 0,
    EMBIPC_VERTEX,            /* of the surface */
    EMBIPC_EDGE,              /* index of one of its triangles * 3 + side */
    EMBIPC_TRIANGLE,
    EMBIPC_NODE,              /* of the cage, or of the tet mesh */
    EMBIPC_TET
} embipc_primitive;

typedef struct embipc_error {
    embipc_result code;
    embipc_body body[2];            /* whom it is about; 0 where nobody */
    embipc_primitive primitive[2];
    int index[2];                   /* of the primitives: of a body that was refused as its description counts them
                                       (of a surface taken from tets, as a view of it would), else as its view does */
    embipc_real value[2];           /* what the text quotes */
    char text[256];                 /* one sentence: what is wrong, and what to do */
} embipc_error;

/* Short fixed text of a result, e.g. "surface is not closed". Never NULL. */
EMBIPC_API const char *embipc_result_text(embipc_result r);

/* ---- Callbacks ------------------------------------------------------------------------------
 * Memory: alloc returns size bytes aligned for any type, or NULL; free gets the size back. A world calls them one at a
 * time, with parallel_for from any of its threads. */
typedef struct embipc_allocator {
    void *(*alloc)(size_t size, void *ctx);
    void (*free)(void *p, size_t size, void *ctx);
    void *ctx;
} embipc_allocator;

/* Log: one line of text about what is no error and should be looked at, level 1; errors are returned. The text
 * is gone after the call. When: embipc_world_step(), on a gap below 5 % of its dhat (10 % where a drive gave in),
 * and each time that share halves. */
typedef void embipc_log_fn(int level, const char *text, void *ctx);
/* Clock: seconds since any moment, for timing only; no result depends on it. With parallel_for any of its threads may
 * ask, several at once. */
typedef double embipc_clock_fn(void *ctx);

/* Threads: run fn(arg, begin, end) over disjoint ranges that cover [0, count), each a multiple of grain
 * long (the last may be shorter), on any threads, and return when all are done. NULL: serial. Ranges are
 * independent and nothing is reduced across them, so results do not depend on how they are cut. */
typedef void embipc_range_fn(void *arg, int begin, int end);
typedef void embipc_parallel_for_fn(int count, int grain, embipc_range_fn *fn, void *arg, void *ctx);

#ifdef EMBIPC_PTHREADS
/* A small pool for embipc_world_def.parallel_for: pass embipc_pool_for with the pool as context. Its threads keep
 * looking for work for 0.1 to 0.2 ms before they sleep. */
typedef struct embipc_pool embipc_pool;
EMBIPC_API embipc_pool *embipc_pool_create(int threads);   /* NULL when threads cannot be had */
EMBIPC_API void embipc_pool_destroy(embipc_pool *pool);    /* NULL is fine */
EMBIPC_API void embipc_pool_for(int count, int grain, embipc_range_fn *fn, void *arg, void *pool);
#endif

/* ---- Materials ------------------------------------------------------------------------------ */
/* Energy per rest volume psi(F) of the deformation gradient F, with its signed singular values s, J = det F,
 * I = sum s^2, R its rotation and the Lame parameters mu, lambda of young and poisson. The two lagged ones
 * hold R for a step: they are quadratic within it, and its matrix is exact and constant; a step in which an
 * element turns far comes out wrong. The others follow F in every iteration and know nothing of rotations;
 * each of their solves costs a new matrix. */
typedef enum embipc_model {
    EMBIPC_COROTATED,           /* linear corotated, R lagged at the start of the step          [CCD23] */
    EMBIPC_ORTHOGONALITY,       /* stiffness |F F^T - I|^2, affine bodies only                  [ABD22] */
    EMBIPC_LAGGED_ARAP,         /* young/2 |F - R|^2, R lagged; no volume term: poisson is 0 */
    EMBIPC_ARAP,                /* young/2 sum (s - 1)^2 = young/2 |F - R|^2; poisson is 0 */
    EMBIPC_FIXED_COROTATED,     /* mu sum (s - 1)^2 + lambda/2 (J - 1)^2                     [STOM12] */
    EMBIPC_STABLE_NEO_HOOKEAN,  /* mu/2 (I - 3) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2      [SGK18] */
    EMBIPC_NEO_HOOKEAN,         /* mu/2 (I - 3) - mu ln J + lambda/2 ln^2 J: no tet inverts, ever [BW08] */
    EMBIPC_STVK,                /* mu |E|^2 + lambda/2 tr(E)^2, E = (F^T F - I)/2: gives in below s = 0.58 */
    EMBIPC_MOONEY_RIVLIN,       /* rubber by mooney[3]: C1 (I-3) + C2 (II-3) - 2 (C1+2 C2)(J-1) + k/2 (J-1)^2,
                                   II = sum s_j^2 s_k^2, k = lambda + 2 C1: no stress at rest */
    EMBIPC_MODEL_COUNT
} embipc_model;

typedef struct embipc_material {
    embipc_model model;
    embipc_real young;           /* Young's modulus E, Pa                                 (1e5)  */
    embipc_real poisson;         /* Poisson's ratio nu, -1 < nu < 0.5, dimensionless      (0.4)  */
    embipc_real density;         /* rho, kg/m^3                                           (1000) */
    embipc_real stiffness;       /* kappa_o of EMBIPC_ORTHOGONALITY, Pa                   (1e7)  */
    embipc_real mooney[3];       /* EMBIPC_MOONEY_RIVLIN: C1, C2 >= 0 and bulk modulus K >= 4/3 (C1 + C2), Pa,
                                    in the place of young and poisson                     (0)    */
    embipc_real fibre[3];        /* direction of what the body is stiffer along, in the mesh's frame */
    embipc_real fibre_stiffness; /* added Young's modulus along it, Pa >= 0; 0: none      (0)    */
    embipc_real damping[2];      /* Rayleigh: alpha, 1/s, and beta, s                     (0, 0) */
    int averaged;                /* node-averaged volume strain, against locking; -1: on for cages */
    int lumped;                  /* mass on the nodes instead of consistent; for comparisons (0) */
    int determinant_bound;       /* no cage tet may invert within a step; -1: on for affine bodies, and
                                    always on for EMBIPC_NEO_HOOKEAN */
} embipc_material;

/* Energy density and stress of a material at one deformation gradient, for tables and for learning.
 *   F     deformation gradient, dimensionless (9, row-major); lagged models take its own rotation
 *   psi   out: energy per rest volume, J/m^3; +inf where EMBIPC_NEO_HOOKEAN ends, at det F <= 0. May be NULL
 *   P     out: dpsi/dF, the first Piola-Kirchhoff stress, Pa (9). May be NULL
 *   H     out: d2psi/dF2, Pa (81: row 3i+j, column 3k+l), of a lagged model with R held. May be NULL
 *   project   nonzero: H with its negative eigenvalues set to 0 (isotropic part and fibre each by itself)
 * P and H mean nothing where psi is infinite. Fails on a parameter out of its range or an F that is not
 * finite. No allocation.                                                                        [SGK19] */
EMBIPC_API embipc_result embipc_material_evaluate(const embipc_material *material, const embipc_real F[9],
                                                  embipc_real *psi, embipc_real P[9], embipc_real H[81],
                                                  int project);

/* ---- World ----------------------------------------------------------------------------------
 * All lengths m, times s, masses kg, forces N, energies J, angles rad. A world is used by one thread at
 * a time, in queries too, const or not: some evaluate what a step left out. Different worlds are independent. */
typedef struct embipc_world embipc_world;

typedef enum embipc_solver {
    EMBIPC_SOLVER_AUTO,      /* by size and structure */
    EMBIPC_SOLVER_DENSE,     /* dense LDL^T of the whole island */
    EMBIPC_SOLVER_SPARSE,    /* sparse LDL^T */
    EMBIPC_SOLVER_CG         /* preconditioned conjugate gradients */
} embipc_solver;

/* The parts of a step that its time is told of. */
typedef enum embipc_stage {
    EMBIPC_STAGE_ELASTIC,    /* rotations, matrices and gradients of the bodies, once a step */
    EMBIPC_STAGE_SEARCH,     /* broad phase: candidates */
    EMBIPC_STAGE_CONTACT,    /* distances, contacts, friction: at each state that is tried */
    EMBIPC_STAGE_ASSEMBLE,   /* gradient and system of an iteration, its order included; or products with it */
    EMBIPC_STAGE_FACTOR,
    EMBIPC_STAGE_SOLVE,
    EMBIPC_STAGE_CCD,        /* how far the direction is free */
    EMBIPC_STAGE_MOVE,       /* the rest of the line search */
    EMBIPC_STAGE_REST,       /* begin, report, statistics */
    EMBIPC_STAGE_COUNT
} embipc_stage;

/* Short name of a stage, e.g. "broad phase". Never NULL. */
EMBIPC_API const char *embipc_stage_text(embipc_stage stage);

/* v at the end of a step of length h. Backward Euler, first order: v = (q^n+1 - q^n)/h; it damps what it does
 * not resolve, a vibration w by the factor 1/(1 + w^2 h^2) of its energy in each step. BDF2, second order: v =
 * (3 q^n+1 - 4 q^n + q^n-1)/2h; it keeps most of what it resolves. Where bodies hit or leave one another it would
 * make them bounce, and a step in which they do, and the next, are backward Euler. So is the first one after
 * embipc_body_set_velocity(), another time step, a reset or a step that was cut short. Of the first order stay: friction
 * where it slips, and damping by stiffness where a nonlinear material turns. */
typedef enum embipc_integrator {
    EMBIPC_BACKWARD_EULER,
    EMBIPC_BDF2
} embipc_integrator;

typedef struct embipc_world_def {
    unsigned cookie;                        /* set by embipc_default_world_def() */
    embipc_allocator allocator;             /* zero: malloc and free */
    embipc_log_fn *log;                     /* may be NULL */
    void *log_ctx;
    embipc_clock_fn *clock;                 /* s, for stats->stage_time; may be NULL */
    void *clock_ctx;
    embipc_parallel_for_fn *parallel_for;   /* may be NULL: serial */
    void *parallel_ctx;
    embipc_real gravity[3];                 /* m/s^2                          (0, 0, -9.81) */
    embipc_real time_step;                  /* h, s                           (0.01)        */
    /* What follows is derived per body where it is 0 (DEFAULTS above; embipc_body_get_parameters() tells);
     * a value here overrides it for all bodies. */
    embipc_real dhat;                       /* barrier activation distance, m               */
    embipc_real kappa;                      /* barrier stiffness, kg/s^2                    */
    embipc_real friction_velocity;          /* epsv: below it friction sticks, m/s          */
    embipc_real tolerance;                  /* a step ends when Newton moves less, m/s      */
    int friction_iterations;                /* passes of the lagged normal force (1)        */
    int max_iterations;                     /* linear solves per step and island (100)      */
    embipc_solver solver;
    embipc_integrator integrator;           /* (EMBIPC_BACKWARD_EULER)                      */
} embipc_world_def;

/* Earth gravity, h = 0.01 s, everything else derived. */
EMBIPC_API embipc_world_def embipc_default_world_def(void);

/* Creates an empty world. *world is NULL on failure; error may be NULL.
 * Fails on a bad description or lack of memory. */
EMBIPC_API embipc_result embipc_world_create(const embipc_world_def *def, embipc_world **world,
                                             embipc_error *error);
EMBIPC_API void embipc_world_destroy(embipc_world *world);   /* NULL is fine */

/* Back to the state at creation of the bodies (poses, velocities, time 0); bodies, drives, pairs stay. The
 * run after it repeats the first one bit for bit. Fails, with the world unchanged, when bodies that were
 * made at different times would cross at their starts. No allocation where all bodies were made before the
 * first step. */
EMBIPC_API embipc_result embipc_world_reset(embipc_world *world);

/* Gravity, m/s^2, and the length of the steps, s, from the next step on; parameters that are derived from them
 * (kappa) follow. A reset keeps them. */
EMBIPC_API embipc_result embipc_world_set_gravity(embipc_world *world, const embipc_real gravity[3]);
EMBIPC_API embipc_result embipc_world_set_time_step(embipc_world *world, embipc_real time_step);

/* What the last failed call on this world said. Valid until the next call on the world. Queries, which take
 * a const world, only return their result. Never NULL. */
EMBIPC_API const embipc_error *embipc_world_error(const embipc_world *world);

/* ---- Bodies --------------------------------------------------------------------------------- */
typedef enum embipc_kind {
    EMBIPC_FIXED,            /* never moves; its surface may be open */
    EMBIPC_KINEMATIC,        /* rigid, moves as its drive says; its surface may be open */
    EMBIPC_AFFINE,           /* one tetrahedron around the surface: 12 unknowns, for stiff parts [ABD22]. As good as
                                rigid with material.young = 1e9, which costs less time than the default 1e5 */
    EMBIPC_CAGE,             /* a coarse tet cage carries the surface                    [EIPC24] */
    EMBIPC_FULL              /* every node of a tet mesh is free; its boundary is the surface [IPC20] */
} embipc_kind;

struct embipc_cage;

typedef struct embipc_body_def {
    unsigned cookie;                        /* set by embipc_default_body_def() */
    const char *name;                       /* copied, at most 63 characters; NULL: "body" */
    embipc_kind kind;
    const embipc_real *x;                   /* vertices of surface or tet mesh, m (3 * vertex_count) */
    int vertex_count;
    const int *triangles;                   /* surface (3 * triangle_count); NULL: boundary of tets */
    int triangle_count;
    const int *tets;                        /* tet mesh (4 * tet_count); needed for full, else may be NULL */
    int tet_count;
    const embipc_real *cage_x;              /* cage kind: cage nodes, m (3 * cage_node_count), or NULL: */
    int cage_node_count;
    const int *cage_tets;                   /*   (4 * cage_tet_count) */
    int cage_tet_count;
    const struct embipc_cage *cage;         /*   or one that embipc_cage_build made for x and triangles */
    int cage_nodes;                         /*   or none: build one of about this many nodes. 0: 34, or one
                                             *   tet where, held at one end, the body would sag by less than
                                             *   1e-3 of its diagonal under ten times its weight. Built once
                                             *   for bodies of one mesh that are made one after another (0) */
    embipc_real scale, rotation[9], position[3];   /* world point = rotation (scale p) + position */
    embipc_real velocity[3];                /* m/s */
    embipc_real angular_velocity[3];        /* rad/s, about the centre of mass */
    embipc_material material;
    const embipc_real *tet_stiffness;       /* > 0, factors on stiffness and on density of each tet of */
    const embipc_real *tet_density;         /*   a full body, or of cage_tets (its tet count); NULL: 1 */
    embipc_real friction;                   /* mu of a pair: geometric mean of its bodies'   (0) */
    embipc_real thickness;                  /* half thickness of a coating, m; pairs add up  (0) */
    int self_contact;                       /* (1) */
    const embipc_body *no_contact;          /* bodies that may cross this one, now and later: like */
    int no_contact_count;                   /*   embipc_world_set_pair(..., contact 0) from the start */
    embipc_real dhat, kappa, friction_velocity, tolerance;   /* of this body; 0: the world's, or derived */
} embipc_body_def;

/* A fixed body at the origin, unit scale; material 1e5 Pa, 0.4, 1000 kg/m^3. */
EMBIPC_API embipc_body_def embipc_default_body_def(void);

/* Adds a body; the arrays are copied. Fails, with the world unchanged, on: bad numbers or indices; a dynamic
 * body whose surface is open, inside out, or encloses no volume; a flat or inverted tet; a surface vertex
 * outside its cage; a surface that crosses itself or another body it may touch, or comes nearer to it than their
 * thickness. Only surfaces count: a body that lies wholly inside another's solid is accepted, and stays in
 * (embipc_separate() finds such). May be called between steps at any time. */
EMBIPC_API embipc_result embipc_body_create(embipc_world *world, const embipc_body_def *def,
                                            embipc_body *body);
/* Removes a body with its drives and pair rules. */
EMBIPC_API embipc_result embipc_body_destroy(embipc_world *world, embipc_body body);

/* Sets friction and contact of one pair of bodies (a may equal b). friction < 0: back to the geometric mean.
 * contact = 0: the two are never tested. Fails when contact is switched on while they cross. */
EMBIPC_API embipc_result embipc_world_set_pair(embipc_world *world, embipc_body a, embipc_body b,
                                               embipc_real friction, int contact);

/* Adds a force for the next step only, N: at a surface vertex, or with vertex = -1 on the whole body,
 * spread like its mass. Fixed and kinematic bodies ignore it. */
EMBIPC_API embipc_result embipc_body_apply_force(embipc_world *world, embipc_body body, int vertex,
                                                 const embipc_real force[3]);
/* Sets the velocity of all nodes to velocity + angular_velocity x (q - centre of mass). Fixed and kinematic bodies
 * ignore it. */
EMBIPC_API embipc_result embipc_body_set_velocity(embipc_world *world, embipc_body body,
                                                  const embipc_real velocity[3],
                                                  const embipc_real angular_velocity[3]);

/* ---- Drives ---------------------------------------------------------------------------------
 * A drive moves a whole body of any kind but fixed, or chosen nodes of a full or cage body, on a prescribed
 * rigid motion: exactly, or it says how far it fell short because something was in the way. With a stiffness it is
 * soft: a spring and damper from each of chosen surface vertices of a body that moves by forces to where the
 * prescribed motion takes the vertex, of limited force: an actuator, a hand that drags, a plane of symmetry. */
typedef struct embipc_drive_def {
    unsigned cookie;
    embipc_body body;
    const int *nodes;            /* of a full or cage body (node_count), as by embipc_body_select(), or NULL:
                                    the whole body */
    int node_count;
    const embipc_real *keys;     /* rows of 7: time s, displacement from the start m (3), rotation vector */
    int key_count;               /*   rad (3) about `centre`; linear in between, held outside. May be 0.  */
    embipc_real centre[3];       /* m, world coordinates at the start */
    embipc_real stiffness[3];    /* N/m along x, y, z of the world, of all its vertices together, shared equally;
                                    all 0: not soft. {k, 0, 0} holds a plane x = const and lets it slide */
    embipc_real damping;         /* s, >= 0: adds damping * stiffness * (velocity of the target - that of the vertex) */
    embipc_real force_limit;     /* N, > 0: each vertex pulls with no more than its share of it; 0: none */
    const int *vertices;         /* of a soft drive (vertex_count), in place of nodes, or NULL: all of the body */
    int vertex_count;
} embipc_drive_def;

/* No keys: stands still until embipc_drive_set_target(). */
EMBIPC_API embipc_drive_def embipc_default_drive_def(void);
/* Adds a drive; arrays are copied. A node has at most one drive that is not soft. */
EMBIPC_API embipc_result embipc_drive_create(embipc_world *world, const embipc_drive_def *def,
                                             embipc_drive *drive);
/* Lets go: the nodes keep their velocity. */
EMBIPC_API embipc_result embipc_drive_destroy(embipc_world *world, embipc_drive drive);
/* Overrides the keys: where the drive is to be at the end of the next step, and from then on. Of the rotation vectors of
 * one rotation the one nearest to where the drive is counts: it may be wrapped at pi. (Keys are interpolated as they
 * are: count turns there.) */
EMBIPC_API embipc_result embipc_drive_set_target(embipc_world *world, embipc_drive drive,
                                                 const embipc_real displacement[3],
                                                 const embipc_real rotation[3]);

typedef struct embipc_drive_state {
    embipc_real short_m;         /* largest distance of a driven node (vertex) from its target, m; of a soft drive
                                    along the axes that are stiff. The nodes of affine and kinematic bodies are the
                                    corners of their tet: up to three times as far out as the surface */
    embipc_real force[3];        /* of the drive on the body, N, and about `centre`, moved along, N m: what a */
    embipc_real torque[3];       /*   sensor between gripper and arm reads */
    int limited;                 /* vertices of a soft drive that pull with all that force_limit grants them */
    int blocked;                 /* the last step gave up part of the motion (never: soft) */
    embipc_body blocked_by;      /* the body in the way, and the gap to it, m; itself and 0: its tets would invert */
    embipc_real gap;
} embipc_drive_state;
EMBIPC_API embipc_result embipc_drive_get_state(const embipc_world *world, embipc_drive drive,
                                                embipc_drive_state *out);

/* ---- Step -----------------------------------------------------------------------------------
 * Moves the world by time_step. EMBIPC_OK also when the step was cut short by a limit: the state is then less
 * converged, and still intersection-free, finite and continuable (stats->converged is 0). On an error
 * (out of memory, a number not finite) the world is as it was before the call. */
typedef struct embipc_step_stats {
    int step;                    /* steps since creation or reset, this one included */
    embipc_real time;            /* s, at the end of the step */
    int converged;               /* 0: cut short in some island */
    int newton_iterations;       /* linear solves, the checking one included; the island that took most */
    int factorizations;          /* of that island */
    int total_iterations, total_factorizations;   /* of all islands */
    int islands, unknowns;
    int candidates;              /* primitive pairs near enough to be looked at */
    int contacts;                /* active pairs at the end, before merging */
    int merged_contacts;         /* after merging equal features */
    int candidate_builds;        /* searches for candidates, 1 unless something left its margin */
    int regularized_pivots;      /* 0 unless a system was singular */
    embipc_real min_distance;    /* m, of the active pairs; inf without any */
    embipc_real tightest;        /* gap over dhat of the pair that bears most; inf without any. Below 0.05
                                    kappa is too low for the load */
    embipc_body tight[2];        /* whose */
    embipc_real kinetic, elastic, barrier, potential;   /* J, at the end; potential = -sum m g.c */
    embipc_real max_speed;       /* m/s; no surface vertex of a dynamic body was faster: told by boxes that hold their
                                    displacements, for what spins up to twice as much */
    embipc_real drive_short;     /* m, largest shortfall of a drive that is not soft */
    embipc_real drive_work;      /* J, done by the moving drives on the bodies in this step */
    /* The incremental potential of this step divided by h^2, J, with this step's rotations, lagged forces and
     * tangents: before (at q^n) and after. Without a moving drive it never grows (with one friction pass; a
     * second one changes E): V(q^n+1) + |v^n+1 - v^n|^2_M / 2 <= V(q^n) + |v^n|^2_M / 2, by backward Euler. A
     * step that BDF2 began and backward Euler ended tells E of the latter, and that does not grow either. */
    embipc_real objective_before, objective_after;
    embipc_real objective_rounding;   /* J, bound of the rounding error of their difference */
    double stage_time[EMBIPC_STAGE_COUNT];   /* s, by the clock of the world; 0 without one */
} embipc_step_stats;

EMBIPC_API embipc_result embipc_world_step(embipc_world *world, embipc_step_stats *stats /* may be NULL */);

/* Limits of the steps to come: linear solves per island (at least 1), and a flag that may be set by another
 * thread, an interrupt or the world's own clock callback (a budget of time): nonzero ends the step after the
 * iteration it is in, the first at the earliest (in free flight that one is exact). stop may be NULL. */
EMBIPC_API embipc_result embipc_world_set_limits(embipc_world *world, int max_iterations,
                                                 const volatile int *stop);

/* Each Newton iteration of the last step, for plots and for learning. Valid until the next step. */
typedef struct embipc_iteration {
    int island;
    int fresh;                   /* the matrix was factored anew */
    int contacts;
    embipc_real alpha_ccd;       /* largest safe step along the direction */
    embipc_real alpha;           /* step taken */
    embipc_real direction;       /* max |p| over nodes, divided by h, m/s */
    embipc_real slope;           /* p . grad E / h^2 at the start of the iteration, J */
    embipc_real drive_left;      /* share of the step's driven motion still to do before it */
} embipc_iteration;
EMBIPC_API int embipc_world_iterations(const embipc_world *world, const embipc_iteration **list);

/* ---- Queries --------------------------------------------------------------------------------
 * Pointers stay valid until a body is created or destroyed; what they point at changes with each step. (A step
 * evaluates no more of a surface than it needs, but for bodies whose view was ever asked for: of those all, 12 ns a
 * vertex.) A world of NULL has nothing in it. */
typedef struct embipc_body_view {
    const char *name;
    embipc_kind kind;
    const embipc_real *x;        /* surface vertices, m (3 * vertex_count) */
    int vertex_count;
    const int *triangles;        /* (3 * triangle_count) */
    int triangle_count;
    const int *vertex_origin;    /* index of each vertex in the caller's def.x (vertex_count) */
    const embipc_real *q, *v;    /* nodes, m, and their velocities, m/s (3 * node_count); none when fixed */
    int node_count;
    const int *tets;             /* cage or mesh (4 * tet_count) */
    int tet_count;
} embipc_body_view;
EMBIPC_API embipc_result embipc_body_get_view(const embipc_world *world, embipc_body body,
                                              embipc_body_view *out);

/* How the surface follows the nodes, x_v = sum_k weight[4 v + k] q[node[4 v + k]]: for skinning, on a GPU too. Does
 * not change as long as the body lives. node, weight: 4 * vertex_count; of a full body one weight is 1, the
 * others 0. Returns EMBIPC_OK, HANDLE, or ARGUMENT: a NULL, or a fixed body, which has no nodes. */
EMBIPC_API embipc_result embipc_body_weights(const embipc_world *world, embipc_body body, int *node,
                                             embipc_real *weight);

/* The nodes that hold what is in a box (lo, hi: m, world coordinates), now: of a full body those inside, of a
 * cage body those that carry a surface vertex inside; driven together they hold that part of the surface.
 * Returns how many, -1 for a wrong handle or NULL; writes at most capacity, ascending. */
EMBIPC_API int embipc_body_select(const embipc_world *world, embipc_body body, const embipc_real lo[3],
                                  const embipc_real hi[3], int *nodes, int capacity);

typedef struct embipc_body_state {
    embipc_real mass, volume;            /* kg; m^3 inside the surface at rest (0 if open) */
    embipc_real centre[3];               /* of mass; of the volume for fixed and kinematic bodies (of the
                                            bounding box if open), m */
    embipc_real velocity[3];             /* of the centre, m/s */
    embipc_real angular_velocity[3];     /* angular momentum over current inertia, rad/s */
    embipc_real kinetic, elastic;        /* J */
    embipc_real momentum[3], angular_momentum[3];   /* N s; N m s about the centre */
} embipc_body_state;
EMBIPC_API embipc_result embipc_body_get_state(const embipc_world *world, embipc_body body,
                                               embipc_body_state *out);

/* What a body brings into its contacts, and what the rules were made of. */
typedef struct embipc_body_parameters {
    embipc_real dhat, kappa, friction_velocity, tolerance;
    int derived_dhat, derived_kappa, derived_friction_velocity, derived_tolerance; /* 1: by rule, 0: given */
    embipc_real diagonal;                /* D, of the bounding box at creation, m */
    embipc_real mean_thickness;          /* 2 volume / area, m; 0: the surface is open or inside out */
    embipc_real mean_edge;               /* of equilateral triangles of the same area, m */
    embipc_real load, pressure_load;     /* N on three pairs; N on one: pressure of E on a vertex's share, of affine
                                          * bodies a third of what stops a fall by ten diagonals in one step */
    embipc_real friction;
    int unknowns;
} embipc_body_parameters;
EMBIPC_API embipc_result embipc_body_get_parameters(const embipc_world *world, embipc_body body,
                                                    embipc_body_parameters *out);

/* Contact forces at the end of the last step, N: barrier part at q^n+1, friction with the step's lambda. */
typedef struct embipc_pair_force {
    embipc_body a, b;                    /* a before b in order of creation */
    embipc_real force[3];                /* of b on a, total */
    embipc_real friction[3];             /* its friction part */
    int contacts;
} embipc_pair_force;
/* One row per touching pair of different bodies, ordered by (a, b). Returns how many there are; writes at
 * most capacity of them. out may be NULL when capacity is 0. */
EMBIPC_API int embipc_world_pair_forces(const embipc_world *world, embipc_pair_force *out, int capacity);
/* Contact force on each surface vertex (barrier and friction), N (3 * vertex_count). */
EMBIPC_API embipc_result embipc_body_vertex_forces(const embipc_world *world, embipc_body body,
                                                   embipc_real *force);

/* One active contact of the last step. */
typedef struct embipc_contact {
    embipc_body a, b;
    int edge_edge;                       /* 0: vertex of a against triangle of b; 1: edge against edge */
    embipc_real point_a[3], point_b[3];  /* closest points, m */
    embipc_real normal[3];               /* unit, from b to a */
    embipc_real distance;                /* m */
    embipc_real force;                   /* kappa |b'| with multiplicity, N */
} embipc_contact;
EMBIPC_API int embipc_world_contacts(const embipc_world *world, embipc_contact *out, int capacity);

/* Pairs of an edge and a triangle that share a point, by exact arithmetic, over all pairs that the world
 * tests: the guarantee says 0. Returns the number, or -1 out of memory; writes at most capacity.
 * Also, after EMBIPC_ERR_INTERSECTION, embipc_world_rejected(): those of the refused body (index1 0). */
typedef struct embipc_intersection {
    embipc_body edge_body, triangle_body;
    int edge[2];                         /* surface vertices; of a refused body, those of its description */
    int triangle;
} embipc_intersection;
EMBIPC_API int embipc_world_intersections(embipc_world *world, embipc_intersection *out, int capacity);
EMBIPC_API int embipc_world_rejected(const embipc_world *world, embipc_intersection *out, int capacity);

/* Re-derives what can be derived: finite state, rows of J that sum to 1 and reproduce the surface, positive
 * mass, sorted patterns, no intersection. Returns EMBIPC_OK or the first thing that is wrong. */
EMBIPC_API embipc_result embipc_world_validate(embipc_world *world, embipc_error *error);

/* Memory in use and at most, bytes, and allocations since creation. Pointers may be NULL. */
EMBIPC_API void embipc_world_memory(const embipc_world *world, size_t *bytes, size_t *peak,
                                    long *allocations);

/* Step, time, number of bodies. The bodies in order of creation: embipc_world_body(world, 0 .. count-1). */
EMBIPC_API embipc_real embipc_world_time(const embipc_world *world);
EMBIPC_API int embipc_world_body_count(const embipc_world *world);
EMBIPC_API embipc_body embipc_world_body(const embipc_world *world, int i);

/* ---- Geometry: predicates, distances, continuous collision ------------------------------------
 * The queries the contact model is made of, usable on their own. No allocation, no state.
 * Point-triangle: points p, a, b, c. Edge-edge: points a0, a1 and b0, b1. Coordinates in m, xyz interleaved.
 * Primitives may be degenerate: collinear and coincident points are triangles and edges like others. */

/* The side of the plane through a, b, c on which d lies: the sign of (b - a) x (c - a) . (d - a).     [SHE97]
 * Returns +1 on the side from which a, b, c turn counter-clockwise, -1 on the other, 0 on the plane. Exact
 * for finite coordinates whose non-zero values span less than 180 decades; anything not finite gives 0. */
EMBIPC_API int embipc_orient3d(const embipc_real a[3], const embipc_real b[3], const embipc_real c[3],
                               const embipc_real d[3]);

/* Do a segment and a triangle share a point?                                                         [SHE97]
 *   x      p, q of the segment, a, b, c of the triangle, m                 (15)   in
 * Both are closed sets: touching counts, and so do coplanar and degenerate ones. Returns 1 or 0, exact under
 * the condition of embipc_orient3d(); 1 when a coordinate is not finite. */
EMBIPC_API int embipc_segment_triangle_intersect(const embipc_real x[15]);

/* Distance of a point and a triangle, or of two edges, and its gradient.
 *   x      the four points, m                                              (12)   in
 *   grad   d distance/dx, dimensionless; may be NULL                       (12)   out
 * Returns the distance (not its square), m; right to about 1e-14 of the extent of the four points.
 * At distance 0 the gradient is that of one side. */
EMBIPC_API embipc_real embipc_point_triangle_distance(const embipc_real x[12], embipc_real grad[12]);
EMBIPC_API embipc_real embipc_edge_edge_distance(const embipc_real x[12], embipc_real grad[12]);

/* Second derivatives of the distance, in closed form and not projected.
 *   x      the four points, m                                              (12)   in
 *   hess   d2 distance/dx2, 1/m, row-major, symmetric                      (144)  out
 * Where the closest feature changes the second derivatives jump; these are those of the feature found. At
 * distance 0 off faces and edge crossings they do not exist, and some entries are infinite or nan. */
EMBIPC_API void embipc_point_triangle_hessian(const embipc_real x[12], embipc_real hess[144]);
EMBIPC_API void embipc_edge_edge_hessian(const embipc_real x[12], embipc_real hess[144]);

/* First contact of a point and a triangle, or of two edges, on straight paths from x0 to x1.         [CIPC21]
 *   x0, x1           the four points at time 0 and 1, m                    (12)   in
 *   min_separation   contact is a distance <= this, m; 0 for touching             in
 *   toi              a time in [0, 1] up to which there is no contact             out
 * Returns 0 when the path is free: no contact anywhere in [0, 1], *toi = 1. Else the path must be cut, and
 * 0 <= *toi <= the exact time of first contact, under rounding too (< unless that time is 0). A start in
 * contact, and any value that is not finite, is a cut at 0. A cut leaves a gap of at most a tenth of the
 * initial one, unless the bound on the work was hit. Some free paths that all but touch are cut as well. */
EMBIPC_API int embipc_ccd_point_triangle(const embipc_real x0[12], const embipc_real x1[12],
                                         embipc_real min_separation, embipc_real *toi);
EMBIPC_API int embipc_ccd_edge_edge(const embipc_real x0[12], const embipc_real x1[12],
                                    embipc_real min_separation, embipc_real *toi);

/* ---- Toolbox: linear algebra ----------------------------------------------------------------
 * Usable without a world. Sparse matrices are symmetric with 3x3 blocks, row-major, over n nodes. */

/* Factors the symmetric positive definite n x n matrix A = L D L^T in place.
 *   A      row-major, row i at A + i * ld, ld >= n. In: the lower triangle. Out: L below the diagonal
 *          (its own diagonal is 1), D on it; the part above is used as scratch.
 * Returns how many pivots were not positive beyond rounding, D_k <= 64 eps |a_kk|, and were replaced by
 * max |a_ii| (0: A is positive definite; else the factor is that of A plus a diagonal which makes it so),
 * or -1 when inf or nan was met (A is then undefined).
 * No allocation. n^3 / 3 operations (a multiplication and an addition count as two). */
EMBIPC_API int embipc_dense_ldlt_factor(int n, embipc_real *A, int ld);

/* Solves A x = b with the factor above.
 *   LD     as left by embipc_dense_ldlt_factor; only its lower triangle is read
 *   b      in: right-hand side, out: x      (n)
 * No allocation. 2 n^2 operations. */
EMBIPC_API void embipc_dense_ldlt_solve(int n, const embipc_real *LD, int ld, embipc_real *b);

/* The sparse factorisation L D L^T with a fill-reducing order. The handle keeps order and memory: factoring
 * a matrix whose couplings are among those of the last one skips the analysis and allocates nothing. */
typedef struct embipc_sparse_ldlt embipc_sparse_ldlt;

/*   allocator  may be NULL: malloc and free
 * Returns NULL when out of memory. Destroy with embipc_sparse_ldlt_destroy. */
EMBIPC_API embipc_sparse_ldlt *embipc_sparse_ldlt_create(const embipc_allocator *allocator);

/* Factors the sum of `count` blocks: block k is B = blocks + 9 k at nodes i, j = pairs[2 k], pairs[2 k + 1],
 * and B^T at (j, i), so give one of the two; blocks of equal place add up; diagonal blocks are symmetric.
 *   pairs     node indices in 0 .. n - 1               (2 * count)
 *   blocks    row-major 3x3 blocks                     (9 * count)
 *   replaced  out: pivots replaced, as above; may be NULL
 * Returns EMBIPC_OK, EMBIPC_ERR_ARGUMENT (negative n or count), EMBIPC_ERR_INDEX, EMBIPC_ERR_MEMORY or
 * EMBIPC_ERR_NOT_FINITE; but for OK there is no factor then, and solving does nothing. */
EMBIPC_API embipc_result embipc_sparse_ldlt_factor(embipc_sparse_ldlt *f, int n, int count, const int *pairs,
                                                   const embipc_real *blocks, int *replaced);

/* Solves A x = b in place.
 *   b      in: right-hand side, out: x                 (3 * n)
 * No allocation. Uses scratch in f: one thread at a time. */
EMBIPC_API void embipc_sparse_ldlt_solve(embipc_sparse_ldlt *f, embipc_real *b);

/* f may be NULL. */
EMBIPC_API void embipc_sparse_ldlt_destroy(embipc_sparse_ldlt *f);

/* Solves A x = b by conjugate gradients, preconditioned with the inverse diagonal blocks.
 *   row, col, val  lower triangle in compressed rows: row i has blocks row[i] .. row[i + 1] - 1, block k in
 *                  column col[k] <= i with values val + 9 k; the diagonal block is last and always there
 *   b              right-hand side                     (3 * n)
 *   x              in: first guess, out: solution      (3 * n)
 *   tolerance      of |b - A x| / |b|, dimensionless
 *   work           scratch                             (21 * n)
 *   residual       out: |b - A x| / |b| reached, as the recurrence sees it; may be NULL
 * Returns the iterations done, or -1 when inf or nan was met. Stops early where A proves not to be positive
 * definite: compare the residual. No allocation. */
EMBIPC_API int embipc_cg_solve(int n, const int *row, const int *col, const embipc_real *val,
                               const embipc_real *b, embipc_real *x, embipc_real tolerance,
                               int max_iterations, embipc_real *work, embipc_real *residual);

/* ---- Meshes ---------------------------------------------------------------------------------
 * A surface is a vertex array x (3*n, m, xyz interleaved) and triangles tri (3*m vertex indices, counter-
 * clockwise seen from outside). A tet mesh has tets (4*m node indices) with det(x1-x0, x2-x0, x3-x0) > 0.
 * These calls need no world. Their scratch memory comes from malloc and is gone when they return. */

/* Tells whether a surface can be a body.
 *   x, vertex_count   vertices, m (3*vertex_count)
 *   tri, tri_count    triangles (3*tri_count)
 *   closed            not 0: must enclose a solid (what moves must); 0: may have borders and no inside
 *   error             may be NULL; else the first fault, with its primitive and values
 * Returns EMBIPC_OK, or the first of, in this order: ARGUMENT (NULL, no triangles), NOT_FINITE, INDEX,
 * MANIFOLD (a vertex twice in one triangle), DEGENERATE (a triangle lower than 1e-12 of its longest edge),
 * MANIFOLD (a vertex in no triangle; two triangles with the same vertices; more than two on one edge) and,
 * for closed surfaces only, OPEN, ORIENTATION (neighbours that disagree), DEGENERATE (no volume),
 * ORIENTATION (inside out); MEMORY at any point. Several connected parts are fine, and one that is turned
 * inward is a cavity when it lies inside another. Fans that meet in a single vertex are fine. Whether the
 * surface crosses itself is not asked here: creating a body does that. O(vertices + triangles). */
EMBIPC_API embipc_result embipc_surface_check(const embipc_real *x, int vertex_count, const int *tri,
                                              int tri_count, int closed, embipc_error *error);

/* Tells whether a tet mesh can be a body or a cage.
 *   x, node_count     nodes, m (3*node_count)
 *   tets, tet_count   tets (4*tet_count)
 *   error             may be NULL; else the first fault, with its primitive and values
 * Returns EMBIPC_OK, or the first of, in this order: ARGUMENT (NULL, no tets), NOT_FINITE, INDEX,
 * MANIFOLD (a node twice in one tet), DEGENERATE (flat: volume below 1e-12 of the longest edge cubed; or
 * inverted), MANIFOLD (a node in no tet; a face of more than two tets; two tets on the same side of a
 * face); MEMORY at any point. O(nodes + tets). */
EMBIPC_API embipc_result embipc_tets_check(const embipc_real *x, int node_count, const int *tets,
                                           int tet_count, embipc_error *error);

/* The boundary of a tet mesh: the faces that belong to one tet only, outward, in the order of their tets.
 *   tets, tet_count     tets (4*tet_count), positively oriented
 *   tri, tri_capacity   receives at most tri_capacity triangles (3 node indices each); may be NULL with 0
 * Returns the number of boundary triangles, which may exceed tri_capacity (call once to count, once to
 * fill; 4*tet_count is always enough), or -1 for bad arguments or lack of memory. O(tets). */
EMBIPC_API int embipc_tets_boundary(const int *tets, int tet_count, int *tri, int tri_capacity);

/* Adjacency of a surface: its edges, in lexicographic order, and the triangles at each.
 *   tri, tri_count   triangles (3*tri_count), checked before (embipc_surface_check)
 *   edge             receives at most capacity edges: two vertices each, the smaller first; may be NULL
 *                    with a capacity of 0
 *   edge_tri         their two triangles, the smaller first, -1 on a border (2*capacity); may be NULL
 * Returns the number of edges, which may exceed capacity, or -1 for bad arguments or lack of memory.
 * O(triangles). */
EMBIPC_API int embipc_surface_edges(const int *tri, int tri_count, int *edge, int *edge_tri, int capacity);

/* Finds vertices that lie on each other, as in files that give every triangle its own three.
 *   x, vertex_count   vertices, m (3*vertex_count)
 *   tolerance         m; 0: equal coordinates only. Below 1e-14 of the extent it is taken as 0
 *   map               out: the vertex each is merged onto, itself or an earlier one that stays where it is
 *                     and is not farther than the tolerance (vertex_count)
 * Returns how many stay, or -1: bad arguments, a value that is not finite, no memory. O(n log n). */
EMBIPC_API int embipc_vertices_merge(const embipc_real *x, int vertex_count, embipc_real tolerance, int *map);

/* Integrals over the solid inside a closed surface. Times the density they are its mass properties. */
typedef struct embipc_solid {
    embipc_real volume;        /* m^3; negative when the surface is inside out */
    embipc_real centroid[3];   /* m */
    embipc_real second[9];     /* integral of (x - centroid)(x - centroid)^T, m^5, symmetric 3x3;
                                  inertia = density * (tr(second) I - second) */
} embipc_solid;

/* Exact integrals over the solid (polynomials over signed tets), taken about the middle of the bounding
 * box, so that a solid far from the origin loses nothing.
 *   x, vertex_count   vertices, m (3*vertex_count)
 *   tri, tri_count    triangles (3*tri_count), closed and outward for the numbers to mean anything
 *   solid             out
 * Returns EMBIPC_OK, or ARGUMENT, NOT_FINITE, INDEX, MANIFOLD (a vertex twice in one triangle): solid is
 * then left alone. No allocation. O(vertices + triangles). */
EMBIPC_API embipc_result embipc_mass_properties(const embipc_real *x, int vertex_count, const int *tri,
                                                int tri_count, embipc_solid *solid);

/* ---- Meshes that are broken ----
 * What embipc_surface_check() and embipc_tets_check() stumble over first, these list in full, so that it can
 * be shown and mended. */
typedef enum embipc_fault_kind {
    EMBIPC_FAULT_UNUSED,      /* element: a vertex in no triangle or tet */
    EMBIPC_FAULT_COLLAPSED,   /* element: a triangle or tet that names the vertex `other` twice */
    EMBIPC_FAULT_FLAT,        /* element: a triangle without area, a tet without volume; value: its shape */
    EMBIPC_FAULT_DOUBLE,      /* element: has the same vertices as the earlier `other` */
    EMBIPC_FAULT_CROWDED,     /* edge of more than two triangles, element one of them; face of more tets */
    EMBIPC_FAULT_TURNED,      /* element and other disagree about the outside; tets: overlap at their face */
    /* of surfaces only */
    EMBIPC_FAULT_BORDER,      /* edge of one triangle, element */
    EMBIPC_FAULT_FOLDED,      /* edge whose triangles, element and other, lie on each other: allowed */
    EMBIPC_FAULT_PINCHED,     /* element: a vertex where fans meet that share no edge; value: fans: allowed */
    /* of tets only */
    EMBIPC_FAULT_INVERTED,    /* element: a tet with det(x1-x0, x2-x0, x3-x0) < 0; value: its shape */
    EMBIPC_FAULT_KINDS
} embipc_fault_kind;

typedef struct embipc_fault {
    int element, other;       /* -1: none */
    int edge[2];              /* vertices of the edge, the smaller first; -1: none */
    embipc_real value;        /* shape: height, or 6 volume, over the longest edge (cubed) */
} embipc_fault;

/* All faults of one kind.
 *   x, vertex_count   vertices, m (3*vertex_count); tri, tri_count (3*tri_count), tets alike (4*tet_count)
 *   fault, capacity   receives at most capacity faults; may be NULL with 0
 * Returns how many there are, or -1: bad arguments, a coordinate that is not finite, an index out of range,
 * no memory. A collapsed triangle counts as nothing else and has no edges. O(n). */
EMBIPC_API int embipc_surface_faults(const embipc_real *x, int vertex_count, const int *tri, int tri_count,
                                     embipc_fault_kind kind, embipc_fault *fault, int capacity);
EMBIPC_API int embipc_tets_faults(const embipc_real *x, int vertex_count, const int *tets, int tet_count,
                                  embipc_fault_kind kind, embipc_fault *fault, int capacity);

/* One connected part of a surface: triangles that share edges. */
typedef struct embipc_part {
    int triangle;             /* its smallest */
    int triangle_count;
    int border_edges;         /* of one triangle */
    int bad_edges;            /* of more than two, or whose two triangles disagree */
    int inside_out;           /* 1: closed, volume below 0, and no cavity of other parts */
    embipc_real area;         /* m^2 */
    embipc_real volume;       /* m^3; of a closed part (no border, no bad edge) what it encloses */
} embipc_part;

/*   part              the part of each triangle, -1 of collapsed ones (tri_count); may be NULL
 *   list, capacity    receives at most capacity parts, in the order of their smallest triangles
 * Returns the number of parts, or -1 as above. O(n), and O(n) more for each part that is turned inward. */
EMBIPC_API int embipc_surface_parts(const embipc_real *x, int vertex_count, const int *tri, int tri_count,
                                    int *part, embipc_part *list, int capacity);

/* The holes of a surface whose triangles agree: its borders as closed walks, in the sense in which the
 * triangles of a lid would run.
 *   vertex            the loops one after the other (capacity)
 *   start             where each begins in vertex; start[count] is the end of the last (capacity + 1)
 *   capacity          of border edges; embipc_surface_faults() counts them. May be 0 with NULL, NULL
 * Returns the number of loops, or -1 as above and for a capacity that is not 0 and too small. Borders that do
 * not close, at triangles that disagree, are left out. O(n). */
EMBIPC_API int embipc_surface_loops(const int *tri, int tri_count, int *vertex, int *start, int capacity);

/* Turns triangles until neighbours agree, the fewer of each part; then closed parts that are inside out, with
 * the cavities and parts in them. Edges of more than two triangles bind nobody; what cannot be oriented, like
 * a Moebius strip, keeps edges that disagree.
 *   tri               in, out (3*tri_count)
 * Returns the number of turned triangles, or -1 as above (tri is then as it was). */
EMBIPC_API int embipc_surface_orient(const embipc_real *x, int vertex_count, int *tri, int tri_count);

/* Triangles without area that close a surface, as where a vertex lies on the edge of a neighbour: the longest
 * edge is flipped into the neighbour across it. Moves nothing by more than 1e-12 of that edge.
 *   tri               in, out (3*tri_count)
 * Returns the number of flips, or -1 as above. Left as they are: those whose neighbour is flat too or not
 * there, and those with two vertices in one place. */
EMBIPC_API int embipc_surface_flip_flat(const embipc_real *x, int vertex_count, int *tri, int tri_count);

/* Lids for the holes of a surface: of all ways to cut the loop into triangles without using an edge that the
 * surface has, the one of least area.
 *   max_edges         loops of more edges are left open, as are those whose lid has more than half the area
 *                     of their part: an open sheet is no holed solid
 *   lid, capacity     receives at most capacity triangles (3*capacity); their vertices are those of the loops
 *   filled            out: number of loops with a lid; may be NULL
 * Returns the number of new triangles (at most capacity of them in lid), or -1 as above. O(max_edges^3) per
 * loop. */
EMBIPC_API int embipc_surface_fill(const embipc_real *x, int vertex_count, const int *tri, int tri_count,
                                   int max_edges, int *lid, int capacity, int *filled);

/* Where a surface meets itself: an edge, and a triangle that does not share a vertex with it. Exact, as
 * embipc_segment_triangle_intersect(): touching counts.
 *   list, capacity    receives at most capacity crossings; may be NULL with 0
 *   limit             stops at so many: a heap of n triangles has n^2
 * Returns how many were found, or -1: bad arguments, values, indices, no memory. */
typedef struct embipc_crossing { int edge[2], edge_triangle, triangle; } embipc_crossing;
EMBIPC_API int embipc_surface_crossings(const embipc_real *x, int vertex_count, const int *tri, int tri_count,
                                        embipc_crossing *list, int capacity, int limit);

/* The two nearest primitives of a surface that share no vertex: how thin, or how fine, it is. A dhat above
 * this is cut down, pair by pair, to half the distance at rest.
 *   gap               out; distance is infinite where all primitives are neighbours
 * Returns EMBIPC_OK, ARGUMENT, NOT_FINITE, INDEX or MEMORY. */
typedef struct embipc_gap {
    embipc_real distance;     /* m; 0 where they touch or cross in a point, line or face of them */
    int edge_edge;            /* 1: vertex[0..1] and vertex[2..3] are edges; 0: vertex[0] and a triangle */
    int vertex[4];
} embipc_gap;
EMBIPC_API embipc_result embipc_surface_gap(const embipc_real *x, int vertex_count, const int *tri,
                                            int tri_count, embipc_gap *gap);

/* ---- Separating what overlaps --------------------------------------------------------------- */

/* A surface that may be moved as a whole. */
typedef struct embipc_movable {
    const embipc_real *x;     /* vertices in the world, m (3*vertex_count) */
    int vertex_count;
    const int *tri;           /* (3*tri_count) */
    int tri_count;
    int fixed;                /* not 0: never moved */
    embipc_real thickness;    /* half thickness of a coating, m >= 0; of pairs they add up, and to the gap */
} embipc_movable;

/* How one of them moves: x -> rotation (x - centre) + centre + shift. Its shape stays. */
typedef struct embipc_movement {
    embipc_real centre[3];    /* of its box at the start, m */
    embipc_real shift[3];     /* m; 0 where nothing moved */
    embipc_real rotation[9];  /* row-major; the identity where nothing turned */
    int grown;                /* 1: shifts did not do, growth from a shrunken copy did */
} embipc_movement;

typedef enum embipc_overlap_kind {
    EMBIPC_OVERLAP_TOUCH,     /* no crossing, but nearer than a hundredth of the gap */
    EMBIPC_OVERLAP_CROSS,     /* surfaces cross */
    EMBIPC_OVERLAP_INSIDE     /* no crossing: a part of one lies in the solid of the other */
} embipc_overlap_kind;

/* Two surfaces that overlap at the start. */
typedef struct embipc_overlap {
    int a, b;                 /* a < b */
    embipc_overlap_kind kind;
    embipc_real depth;        /* the smallest shift found that parts the two, m; an upper bound. Of linked ones
                               * the smallest that keeps the link; where none was found, that undoes it */
    int parted;               /* 1: they are apart now */
    int linked;               /* 1: as they are given, loops through the middle of their solids go through each
                               * other, like links of a chain (a linking number is not 0) */
} embipc_overlap;

/* Moves surfaces until none overlaps another. First by shifts: the smallest found for each pair, shared by
 * volume, round after round. Where that fails, the bodies concerned are shrunk about their centres until
 * shifts part the copies, and grow back under the barrier, which also turns them, and moves what is in their
 * way; shapes are those of the start in the end. "Smallest found" is a search, not a proof. What is linked
 * stays linked, and what is not does not get so: rings that go through each other without crossing are no
 * overlap, and rings that overlap and are linked are parted by shifts that keep the link, or by a turn of 20, 45
 * or 90 degrees and such a shift, or not at all. Linking is seen for closed surfaces of up to 16 handles.
 *   body, count       the surfaces; those that grow must be such as embipc_body_create() takes for moving ones
 *   gap               distance to be left, m (count*count), symmetric; a pair at 0 or below is not looked at
 *   movement          out: how each moves (count)
 *   list, capacity    receives at most capacity of the pairs that overlap at the start; may be NULL with 0
 *   found             out: how many there are; may be NULL
 *   error             may be NULL; names a pair that cannot be parted by its two numbers in index[]
 * Returns EMBIPC_OK (all apart now), INTERSECTION (some are not: `movement` is as far as this got, and
 * list[].parted tells which), ARGUMENT, NOT_FINITE, INDEX or MEMORY (movement and list are left alone). Some
 * hundred tests for each overlapping pair and round, each O(triangles) at worst; growth takes up to some
 * hundred steps of a world with all bodies. */
EMBIPC_API embipc_result embipc_separate(const embipc_movable *body, int count, const embipc_real *gap,
                                         embipc_movement *movement, embipc_overlap *list, int capacity,
                                         int *found, embipc_error *error);

/* ---- Cages ----------------------------------------------------------------------------------
 * A cage is a coarse tet mesh that holds a closed surface: its nodes are a body's unknowns. */
typedef struct embipc_cage_def {
    unsigned cookie;          /* set by embipc_default_cage_def() */
    int nodes;                /* about this many nodes; 4: one tet round it all; 0: 34, or 8 for each separate
                               * part of the body where that is more                               (34) */
    embipc_real cell_size;    /* m; > 0: lattice of this size, and `nodes` is not looked at         (0) */
    int tighten;              /* draw the outer nodes towards the surface, so the cage holds less air (1) */
    int duplicate;            /* a tet for each connected piece of solid in a lattice cell; 0: shared (1) */
} embipc_cage_def;

typedef struct embipc_cage {
    embipc_real *x;           /* nodes, m (3*node_count); a node_count of 0 is no cage */
    int node_count;
    int *tets;                /* (4*tet_count), positively oriented */
    int tet_count;
    embipc_real *tet_volume;  /* of the solid in each tet, m^3 (tet_count) */
    embipc_real *tet_moment;  /* integral of w_i w_j over that, m^3 (10*tet_count): 00 01 02 03 11 12 13
                               * 22 23 33 */
    int *vertex_tet;          /* the tet that holds each vertex of the surface (vertex_count) */
    embipc_real *vertex_weight;   /* and its weights there, >= 0 (4*vertex_count) */
    int vertex_count;
    int parts;                /* separate pieces of solid */
    int copies;               /* tets that lie where another one lies, for another piece of solid */
    embipc_real volume;       /* of all tets, m^3 */
    embipc_real worst_angle;  /* smallest dihedral angle, degrees */
    embipc_real cell_size;    /* of the lattice it was cut from, m; 0 for the one tet */
    embipc_allocator hooks;   /* what it is freed with */
} embipc_cage;

EMBIPC_API embipc_cage_def embipc_default_cage_def(void);

/* Builds a cage: every vertex of the surface lies in a tet, and so does all of the solid inside; every tet
 * and every node holds some of it. Parts of the solid that are close in space but far along the body (teeth
 * of a comb, two legs) never share a tet: there tets lie on each other, which is why the cage says itself
 * which vertex and how much solid each tet holds. Separate parts have separate cages within the cage. The
 * lattice is aligned with the middle of the bounding box, so that a body symmetric about the axis planes
 * through it gets a symmetric cage, wherever one of those comes near enough to the wish.
 *   def               the wish
 *   x, vertex_count   vertices, m (3*vertex_count)
 *   tri, tri_count    triangles (3*tri_count), closed and outward (embipc_surface_check)
 *   hooks             memory, for the cage too; may be NULL
 *   cage              out; free with embipc_cage_free. node_count 0 after a failure
 *   error             may be NULL
 * Returns EMBIPC_OK, DEF, ARGUMENT (fewer than 4 nodes for each separate part: the text and the error's first
 * value tell how many it takes; or more lattice cells than can be numbered), OUTSIDE (a surface that crosses
 * itself may leave no consistent solid), MEMORY, or what is wrong with the surface. The node count is the one
 * nearest to the wish that some hundred lattices allow, as a rule within a fifth: see cage->node_count. The
 * sums of tet_volume and tet_moment are the surface's own integrals, exact but for rounding. Memory: about
 * 200 bytes a triangle and 250 a cell of the lattice round the box. 0.2 s for a thousand triangles and 34
 * nodes, 10 s for a million and 100. */
EMBIPC_API embipc_result embipc_cage_build(const embipc_cage_def *def, const embipc_real *x, int vertex_count,
                                           const int *tri, int tri_count, const embipc_allocator *hooks,
                                           embipc_cage *cage, embipc_error *error);

/* Frees the arrays of a cage and clears it. NULL, and a cage that is cleared already, are fine. */
EMBIPC_API void embipc_cage_free(embipc_cage *cage);

/* ---- Toolbox: barrier and friction ---------------------------------------------------------- */

/* b(d) for the activation distance dhat, m^2, and its derivatives by d (first, m; second, dimensionless;
 * may be NULL). Infinite at d <= 0, 0 from dhat on.                                        [EIPC24 eq. 7] */
EMBIPC_API embipc_real embipc_barrier(embipc_real d, embipc_real dhat, embipc_real *first,
                                      embipc_real *second);

/* The gap at which one pair of primitives carries a force: force = -kappa b'(gap), N; m. dhat for no force. */
EMBIPC_API embipc_real embipc_barrier_gap(embipc_real force, embipc_real kappa, embipc_real dhat);

/* Smoothed Coulomb friction: f0(y) - f0(0), m, for the tangential displacement y >= 0 and the smoothing width
 * e = epsv h, both m; f1(y)/y and f1'(y), 1/m, may be NULL.                                [EIPC24 eq. 9] */
EMBIPC_API embipc_real embipc_friction(embipc_real y, embipc_real e, embipc_real *f1_over_y,
                                       embipc_real *f1_slope);
#endif /* EMBIPC_H */

#ifdef EMBIPC_IMPLEMENTATION
#ifndef EMBI_IMPLEMENTED
#define EMBI_IMPLEMENTED

/* What tells that sums round one by one, and inf and nan count. Who cannot know at compile time is asked by
 * embi_sums_are_exact(). */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(_M_FP_FAST)
#error "embipc: the guarantee rests on the order of sums, on inf and on nan; build this file without -ffast-math and its parts"
#endif
/* 16, 32, 64: narrower types than double are widened, which does not concern us */
#if defined(FLT_EVAL_METHOD) && (FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD > 64) && \
    !defined(EMBIPC_ALLOW_EXTENDED_PRECISION)
#error "embipc: extended intermediate precision (x87); build with -msse2 -mfpmath=sse"
#endif

/* ==== 1. Platform ====================================================================================
 * The only system headers, and the constants everything below agrees on.
 * Uses: libc, libm.                                                                           */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef EMBIPC_ASSERT
#include <assert.h>
#define EMBIPC_ASSERT(c) assert(c)
#endif
#ifdef EMBIPC_PTHREADS
#include <pthread.h>
#include <sched.h>
#endif

/* Numbers that threads share; C99 knows no such thing. */
#if defined(__GNUC__)
#define EMBI_ATOMIC 1
static void embi_atomic_set(int *p, int value) { __atomic_store_n(p, value, __ATOMIC_RELEASE); }
static void embi_lock(int *p) { while (__atomic_exchange_n(p, 1, __ATOMIC_ACQUIRE)) { } }
#else
#define EMBI_ATOMIC 0
static void embi_atomic_set(int *p, int value) { *p = value; }
static void embi_lock(int *p) { *p = 1; }
#endif
static void embi_unlock(int *p) { embi_atomic_set(p, 0); }

#define EMBI_EPS ((embipc_real)DBL_EPSILON)
#define EMBI_HUGE ((embipc_real)DBL_MAX)

static int embi_min_int(int a, int b) { return a < b ? a : b; }
static int embi_max_int(int a, int b) { return a > b ? a : b; }
static embipc_real embi_min(embipc_real a, embipc_real b) { return a < b ? a : b; }
static embipc_real embi_max(embipc_real a, embipc_real b) { return a > b ? a : b; }
static embipc_real embi_abs(embipc_real a) { return a < 0 ? -a : a; }

/* Finite, without relying on a C99 macro that C++11 may hide: inf - inf and nan - nan are nan. */
static int embi_finite(embipc_real a) { return a - a == 0; }

static int embi_all_finite(const embipc_real *a, int n)
{
    embipc_real s = 0;
    for (int i = 0; i < n; i++) s += a[i] - a[i];   /* stays 0 unless one of them is inf or nan */
    return s == 0;
}

/* ---- Vectors of the machine: arithmetic is written once, the compiler maps it to SSE2, AVX, NEON, ... */
#if defined(EMBIPC_LANES)
#define EMBI_LANES EMBIPC_LANES
#elif !defined(__GNUC__)
#define EMBI_LANES 1
#elif defined(__AVX__)
#define EMBI_LANES 4
#elif defined(__SSE2__) || defined(__aarch64__) || defined(__VSX__) || defined(__wasm_simd128__)
#define EMBI_LANES 2
#else
#define EMBI_LANES 1
#endif
#if EMBI_LANES > 1
typedef embipc_real embi_vec __attribute__((vector_size(EMBI_LANES * sizeof(embipc_real))));
#else
typedef embipc_real embi_vec;
#endif

static embi_vec embi_load(const embipc_real *p)
{
    embi_vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void embi_store(embipc_real *p, embi_vec v) { memcpy(p, &v, sizeof v); }

/* n, or room for the vectors that hold n */
static int embi_whole_lanes(int n) { return (n + EMBI_LANES - 1) / EMBI_LANES * EMBI_LANES; }

/* number k of each of EMBI_LANES arrays */
static embi_vec embi_load_each(const embipc_real *const p[EMBI_LANES], int k)
{
#if EMBI_LANES == 4
    embi_vec v = {p[0][k], p[1][k], p[2][k], p[3][k]};
#elif EMBI_LANES == 2
    embi_vec v = {p[0][k], p[1][k]};
#else
    embi_vec v = p[0][k];
#endif
    return v;
}

/* ==== 2. Small math ==================================================================================
 * Vectors of 3, matrices of 3x3 (row-major), the polar rotation. Result first, inputs const.
 *   R = argmin |F - R| over proper rotations = argmax tr(R^T F)
 * is what the corotated energy calls the rotation of F: it exists for every F, flat and inverted
 * ones included (F = U S V^T gives R = U diag(1, 1, det(UV)) V^T), and is found here without an SVD, for EMBI_LANES of
 * them at a time.
 * Uses: platform.                                          Checked by: tests/test_math.c      */

static embipc_real embi_dot(const embipc_real a[3], const embipc_real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static embipc_real embi_norm(const embipc_real a[3]) { return sqrt(embi_dot(a, a)); }

static void embi_set(embipc_real r[3], embipc_real x, embipc_real y, embipc_real z)
{
    r[0] = x; r[1] = y; r[2] = z;
}

static void embi_copy(embipc_real r[3], const embipc_real a[3])
{
    r[0] = a[0]; r[1] = a[1]; r[2] = a[2];
}

static void embi_add(embipc_real r[3], const embipc_real a[3], const embipc_real b[3])
{
    r[0] = a[0] + b[0]; r[1] = a[1] + b[1]; r[2] = a[2] + b[2];
}

static void embi_sub(embipc_real r[3], const embipc_real a[3], const embipc_real b[3])
{
    r[0] = a[0] - b[0]; r[1] = a[1] - b[1]; r[2] = a[2] - b[2];
}

/* r += s a */
static void embi_axpy(embipc_real r[3], embipc_real s, const embipc_real a[3])
{
    r[0] += s * a[0]; r[1] += s * a[1]; r[2] += s * a[2];
}

static void embi_scale(embipc_real r[3], embipc_real s, const embipc_real a[3])
{
    r[0] = s * a[0]; r[1] = s * a[1]; r[2] = s * a[2];
}

/* r = a x b; r must not alias a or b */
static void embi_cross(embipc_real r[3], const embipc_real a[3], const embipc_real b[3])
{
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

/* six times the signed volume of the tet (o, a, b, c) given as edge vectors: a . (b x c) */
static embipc_real embi_triple(const embipc_real a[3], const embipc_real b[3], const embipc_real c[3])
{
    embipc_real n[3];
    embi_cross(n, b, c);
    return embi_dot(a, n);
}

static void embi_m3_identity(embipc_real A[9])
{
    for (int i = 0; i < 9; i++) A[i] = i % 4 == 0 ? (embipc_real)1 : (embipc_real)0;
}

/* r = A v; r must not alias v */
static void embi_m3_mulv(embipc_real r[3], const embipc_real A[9], const embipc_real v[3])
{
    r[0] = A[0] * v[0] + A[1] * v[1] + A[2] * v[2];
    r[1] = A[3] * v[0] + A[4] * v[1] + A[5] * v[2];
    r[2] = A[6] * v[0] + A[7] * v[1] + A[8] * v[2];
}

/* C = A B; C must not alias A or B */
static void embi_m3_mul(embipc_real C[9], const embipc_real A[9], const embipc_real B[9])
{
    for (int i = 0; i < 9; i += 3) {
        embipc_real a = A[i], b = A[i + 1], c = A[i + 2];
        C[i] = a * B[0] + b * B[3] + c * B[6];
        C[i + 1] = a * B[1] + b * B[4] + c * B[7];
        C[i + 2] = a * B[2] + b * B[5] + c * B[8];
    }
}

/* C = A^T B; C must not alias A or B */
static void embi_m3_tmul(embipc_real C[9], const embipc_real A[9], const embipc_real B[9])
{
    for (int i = 0; i < 3; i++) {
        embipc_real a = A[i], b = A[3 + i], c = A[6 + i];
        C[3 * i] = a * B[0] + b * B[3] + c * B[6];
        C[3 * i + 1] = a * B[1] + b * B[4] + c * B[7];
        C[3 * i + 2] = a * B[2] + b * B[5] + c * B[8];
    }
}

static embipc_real embi_m3_det(const embipc_real A[9]) { return embi_triple(A, A + 3, A + 6); }

/* B = A^-1; returns det A, and leaves B alone when it is 0 or not finite */
static embipc_real embi_m3_inverse(embipc_real B[9], const embipc_real A[9])
{
    embipc_real c0[3], c1[3], c2[3], det;
    embi_cross(c0, A + 3, A + 6);
    embi_cross(c1, A + 6, A);
    embi_cross(c2, A, A + 3);
    det = embi_dot(A, c0);
    if (det == 0 || !embi_finite(1 / det)) return 0;
    for (int i = 0; i < 3; i++) {
        B[3 * i] = c0[i] / det;
        B[3 * i + 1] = c1[i] / det;
        B[3 * i + 2] = c2[i] / det;
    }
    return det;
}

/* R = rotation by |w| radians about w (Rodrigues) */
static void embi_m3_rotation(embipc_real R[9], const embipc_real w[3])
{
    embipc_real angle = embi_norm(w), u[3], c = cos(angle), s = sin(angle);
    embi_m3_identity(R);
    if (!(angle > 0)) return;
    embi_scale(u, 1 / angle, w);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = (i == j ? c : (embipc_real)0) + (1 - c) * u[i] * u[j];
    R[1] -= s * u[2]; R[2] += s * u[1];
    R[3] += s * u[2]; R[5] -= s * u[0];
    R[6] -= s * u[1]; R[7] += s * u[0];
}

/* The least singular value of A, from below: by the roots of the characteristic polynomial of A^T A [SMITH61], less
 * what acos() makes of their rounding where two are alike. */
static embipc_real embi_m3_least_stretch(const embipc_real A[9])
{
    embipc_real C[9], mean, spread, turn;
    embi_m3_tmul(C, A, A);
    mean = (C[0] + C[4] + C[8]) / 3;
    for (int i = 0; i < 9; i += 4) C[i] -= mean;
    spread = sqrt((embi_dot(C, C) + embi_dot(C + 3, C + 3) + embi_dot(C + 6, C + 6)) / 6);
    if (!(spread > 0)) return sqrt(mean);
    for (int i = 0; i < 9; i++) C[i] /= spread;
    turn = acos(embi_max(-1, embi_min(embi_m3_det(C) / 2, 1))) / 3;
    return sqrt(embi_max(mean + 2 * spread * (cos(turn + (embipc_real)2.0943951023931957) - (embipc_real)1e-7), 0));
}

/* R of a unit quaternion (w, x, y, z) */
static void embi_m3_from_quaternion(embipc_real R[9], const embipc_real q[4])
{
    embipc_real w = q[0], x = q[1], y = q[2], z = q[3];
    R[0] = 1 - 2 * (y * y + z * z); R[1] = 2 * (x * y - w * z); R[2] = 2 * (x * z + w * y);
    R[3] = 2 * (x * y + w * z); R[4] = 1 - 2 * (x * x + z * z); R[5] = 2 * (y * z - w * x);
    R[6] = 2 * (x * z - w * y); R[7] = 2 * (y * z + w * x); R[8] = 1 - 2 * (x * x + y * y);
}

/* Eigenvalues and orthonormal eigenvectors (columns of V) of the symmetric n x n matrix A, n <= 12,
 * by cyclic Jacobi rotations; A is destroyed, its diagonal becomes the eigenvalues. */
static void embi_eigen_symmetric(int n, embipc_real *A, embipc_real *V)
{
    for (int i = 0; i < n * n; i++) V[i] = i % (n + 1) == 0 ? (embipc_real)1 : (embipc_real)0;
    for (int sweep = 0; sweep < 30; sweep++) {
        embipc_real off = 0, diag = 0;
        for (int i = 0; i < n; i++) {
            diag += A[n * i + i] * A[n * i + i];
            for (int j = 0; j < i; j++) off += A[n * i + j] * A[n * i + j];
        }
        if (!(off > EMBI_EPS * EMBI_EPS * diag)) return;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                embipc_real apq = A[n * p + q], theta, t, c, s;
                if (apq == 0) continue;
                theta = (A[n * q + q] - A[n * p + p]) / (2 * apq);
                t = 1 / (embi_abs(theta) + sqrt(theta * theta + 1));
                if (theta < 0) t = -t;
                c = 1 / sqrt(t * t + 1);
                s = t * c;
                for (int k = 0; k < n; k++) {
                    embipc_real kp = A[n * k + p], kq = A[n * k + q];
                    A[n * k + p] = c * kp - s * kq;
                    A[n * k + q] = s * kp + c * kq;
                }
                for (int k = 0; k < n; k++) {
                    embipc_real pk = A[n * p + k], qk = A[n * q + k], vp = V[n * k + p], vq = V[n * k + q];
                    A[n * p + k] = c * pk - s * qk;
                    A[n * q + k] = s * pk + c * qk;
                    V[n * k + p] = c * vp - s * vq;
                    V[n * k + q] = s * vp + c * vq;
                }
            }
    }
}

/* The slow, certain way [HORN87]: tr(R^T F) = q^T N q for a unit quaternion q, with a symmetric
 * 4x4 N built from F, so the best q is the eigenvector of the largest eigenvalue. */
static void embi_polar_by_quaternion(embipc_real R[9], const embipc_real F[9])
{
    embipc_real N[16], V[16], q[4];
    int best = 0;
    N[0] = F[0] + F[4] + F[8];
    N[1] = N[4] = F[7] - F[5];
    N[2] = N[8] = F[2] - F[6];
    N[3] = N[12] = F[3] - F[1];
    N[5] = F[0] - F[4] - F[8];
    N[6] = N[9] = F[1] + F[3];
    N[7] = N[13] = F[2] + F[6];
    N[10] = F[4] - F[0] - F[8];
    N[11] = N[14] = F[5] + F[7];
    N[15] = F[8] - F[0] - F[4];
    embi_eigen_symmetric(4, N, V);
    for (int i = 1; i < 4; i++)
        if (N[5 * i] > N[5 * best]) best = i;
    for (int i = 0; i < 4; i++) q[i] = V[4 * i + best];
    embi_m3_from_quaternion(R, q);
}

/* ---- The same of EMBI_LANES matrices side by side ---- */

/* matrix l of A */
static void embi_m3s_one(embipc_real M[9], const embi_vec A[9], int l)
{
    embipc_real part[EMBI_LANES];
    for (int i = 0; i < 9; i++) {
        embi_store(part, A[i]);
        M[i] = part[l];
    }
}

/* C = A B; C must not alias A or B */
static void embi_m3s_mul(embi_vec C[9], const embi_vec A[9], const embi_vec B[9])
{
    for (int i = 0; i < 9; i += 3) {
        embi_vec a = A[i], b = A[i + 1], c = A[i + 2];
        C[i] = a * B[0] + b * B[3] + c * B[6];
        C[i + 1] = a * B[1] + b * B[4] + c * B[7];
        C[i + 2] = a * B[2] + b * B[5] + c * B[8];
    }
}

/* C = A^T B; C must not alias A or B */
static void embi_m3s_tmul(embi_vec C[9], const embi_vec A[9], const embi_vec B[9])
{
    for (int i = 0; i < 3; i++) {
        embi_vec a = A[i], b = A[3 + i], c = A[6 + i];
        C[3 * i] = a * B[0] + b * B[3] + c * B[6];
        C[3 * i + 1] = a * B[1] + b * B[4] + c * B[7];
        C[3 * i + 2] = a * B[2] + b * B[5] + c * B[8];
    }
}

/* The sum of the fourth powers of the singular values of A, |A^T A|^2. Its fourth root is a norm, and a bound of the
 * largest of them that is at most 1.32 times as large; |A| can be 1.73 times. */
static inline embi_vec embi_m3s_stretch4(const embi_vec A[9])
{
    embi_vec xx = A[0] * A[0] + A[3] * A[3] + A[6] * A[6], yz = A[1] * A[2] + A[4] * A[5] + A[7] * A[8],
             yy = A[1] * A[1] + A[4] * A[4] + A[7] * A[7], zx = A[2] * A[0] + A[5] * A[3] + A[8] * A[6],
             zz = A[2] * A[2] + A[5] * A[5] + A[8] * A[8], xy = A[0] * A[1] + A[3] * A[4] + A[6] * A[7];
    return xx * xx + yy * yy + zz * zz + 2 * (yz * yz + zx * zx + xy * xy);
}

/* A product of many rotations drifts: one Newton-Schulz step R (3 I - R^T R)/2 keeps it orthogonal. */
static void embi_m3s_orthogonal(embi_vec R[9])
{
    embi_vec Z[9], T[9];
    embi_m3s_tmul(Z, R, R);
    for (int i = 0; i < 9; i++) Z[i] = (i % 4 == 0 ? (embipc_real)1.5 : (embipc_real)0) - Z[i] / 2;
    embi_m3s_mul(T, R, Z);
    memcpy(R, T, sizeof T);
}

/* y: H y = a for the symmetric H (upper triangle read) by LDL^T; D: its pivots */
static void embi_m3s_solve(embi_vec y[3], embi_vec D[3], const embi_vec H[9], const embi_vec a[3])
{
    embi_vec l1 = H[1] / H[0], l2 = H[2] / H[0], d1 = H[4] - l1 * H[1], l3 = (H[5] - l1 * H[2]) / d1;
    embi_vec d2 = H[8] - l2 * H[2] - l3 * l3 * d1, y1 = a[1] - l1 * a[0];
    y[2] = (a[2] - l2 * a[0] - l3 * y1) / d2;
    y[1] = y1 / d1 - l3 * y[2];
    y[0] = a[0] / H[0] - l1 * y[1] - l2 * y[2];
    D[0] = H[0];
    D[1] = d1;
    D[2] = d2;
}

/* R becomes R Q, Q = I + share ([y] + [y]^2): Cayley's rotation, with share = 2/(1 + y.y) */
static void embi_m3s_turn(embi_vec R[9], const embi_vec y[3], embi_vec share)
{
    for (int i = 0; i < 9; i += 3) {   /* its rows: r + share (r x y + (r x y) x y) */
        embi_vec t0 = R[i + 1] * y[2] - R[i + 2] * y[1], t1 = R[i + 2] * y[0] - R[i] * y[2],
                 t2 = R[i] * y[1] - R[i + 1] * y[0];
        R[i] += share * (t0 + (t1 * y[2] - t2 * y[1]));
        R[i + 1] += share * (t1 + (t2 * y[0] - t0 * y[2]));
        R[i + 2] += share * (t2 + (t0 * y[1] - t1 * y[0]));
    }
}

/* R[l]: in a guess (any proper rotation, the last step's is best), out the rotation of matrix l of F, which is the same
 * whatever stands beside it. Newton on the rotation group: with G = R^T F, S = sym(G) and a the axial vector of
 * G - G^T, the next R is R Q, (tr(S) I - S) w = a, and Q Cayley's rotation by y = w/2: w to third order. tr(R^T F)
 * has no third-order term about its maximum, so that Newton converges cubically: the next y is at most 2000 |y|^3
 * with the worst matrix that is accepted [measured, 400 000 F]. |y|^2 < 7e-14 leaves less than rounding. Accepted
 * where tr(S) I - S is positive definite, which holds at the maximum of tr(R^T F) and at no other stationary point;
 * else the certain way. */
static void embi_polars(embipc_real *const R[EMBI_LANES], const embi_vec F[9])
{
    enum { BUSY, FOUND, LOST } state[EMBI_LANES];
    const embipc_real *from[EMBI_LANES];
    embipc_real part[4][EMBI_LANES], floor[EMBI_LANES], share[EMBI_LANES];
    embi_vec Q[9], square = F[0] * F[0];
    int busy = EMBI_LANES;
    for (int i = 1; i < 9; i++) square += F[i] * F[i];
    embi_store(floor, square);
    for (int l = 0; l < EMBI_LANES; l++) {
        floor[l] = (embipc_real)1e-3 * sqrt(floor[l]);
        state[l] = BUSY;
        from[l] = R[l];
    }
    for (int i = 0; i < 9; i++) Q[i] = embi_load_each(from, i);
    embi_m3s_orthogonal(Q);
    for (int k = 0; k < 8 && busy; k++) {
        embi_vec G[9], H[9], a[3], y[3], D[3];
        embi_m3s_tmul(G, Q, F);
        a[0] = (G[7] - G[5]) / 2; a[1] = (G[2] - G[6]) / 2; a[2] = (G[3] - G[1]) / 2;
        H[0] = G[4] + G[8]; H[4] = G[0] + G[8]; H[8] = G[0] + G[4];
        H[1] = -(G[1] + G[3]) / 2;
        H[2] = -(G[2] + G[6]) / 2;
        H[5] = -(G[5] + G[7]) / 2;
        embi_m3s_solve(y, D, H, a);
        for (int i = 0; i < 3; i++) embi_store(part[i], D[i]);
        embi_store(part[3], y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
        for (int l = 0; l < EMBI_LANES; l++) {
            int sound = part[0][l] > floor[l] && part[1][l] > floor[l] && part[2][l] > floor[l];
            share[l] = state[l] == BUSY && sound ? 2 / (1 + part[3][l]) : (embipc_real)0;
            if (state[l] != BUSY || (sound && !(part[3][l] < (embipc_real)7e-14))) continue;
            state[l] = sound ? FOUND : LOST;
            busy--;
        }
        embi_m3s_turn(Q, y, embi_load(share));
    }
    for (int l = 0; l < EMBI_LANES; l++) {
        embipc_real M[9];
        embi_m3s_one(state[l] == FOUND ? R[l] : M, state[l] == FOUND ? Q : F, l);
        if (state[l] != FOUND && embi_all_finite(M, 9)) embi_polar_by_quaternion(R[l], M);
    }
}

/* R: in a guess, out the rotation of F */
static void embi_polar(embipc_real R[9], const embipc_real F[9])
{
    embipc_real *out[EMBI_LANES];
    const embipc_real *in[EMBI_LANES];
    embi_vec M[9];
    for (int l = 0; l < EMBI_LANES; l++) {
        out[l] = R;
        in[l] = F;
    }
    for (int i = 0; i < 9; i++) M[i] = embi_load_each(in, i);
    embi_polars(out, M);
}

/* ==== 3. Memory ======================================================================================
 * All memory comes from one pair of hooks. Every array is owned by one struct, knows its capacity,
 * only grows, and keeps its memory between steps: that is why a warmed-up step allocates nothing.
 * A failed growth leaves the array as it was and sets `failed`, so a caller may grow several arrays
 * and ask once.
 *   if (!EMBI_GROW(m, embipc_real, s->x, s->x_cap, 3 * n)) return EMBIPC_ERR_MEMORY;
 * Uses: platform.                                          Checked by: tests/test_oom.c       */

typedef struct embi_memory {
    embipc_allocator hooks;
    size_t bytes, peak;          /* in use now, and at most */
    long allocations;            /* since creation */
    int failed;                  /* sticky: an allocation failed or a size overflowed */
    int fixed;                   /* a copy for a thread: nothing grows */
    int lock;                    /* of the hooks and the numbers above: islands are solved side by side */
} embi_memory;

static void *embi_default_alloc(size_t size, void *ctx)
{
    (void)ctx;
    return malloc(size);
}

static void embi_default_free(void *p, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    free(p);
}

static void embi_memory_init(embi_memory *m, const embipc_allocator *hooks)
{
    memset(m, 0, sizeof *m);
    if (hooks && hooks->alloc) m->hooks = *hooks;
    else {
        m->hooks.alloc = embi_default_alloc;
        m->hooks.free = embi_default_free;
    }
}

static size_t embi_size(int count, size_t elem) { return (count > 0 ? (size_t)count : 1) * elem; }

/* array of count elements, not written to, or NULL */
static void *embi_alloc_raw(embi_memory *m, int count, size_t elem)
{
    size_t size = embi_size(count, elem);
    void *p = NULL;
    embi_lock(&m->lock);
    if (!m->fixed && count >= 0 && (size_t)count <= ((size_t)-1) / 2 / elem) p = m->hooks.alloc(size, m->hooks.ctx);
    if (p) {
        m->allocations++;
        m->bytes += size;
        if (m->bytes > m->peak) m->peak = m->bytes;
    } else m->failed = 1;
    embi_unlock(&m->lock);
    return p;
}

/* zeroed array of count elements, or NULL */
static void *embi_alloc(embi_memory *m, int count, size_t elem)
{
    void *p = embi_alloc_raw(m, count, elem);
    if (p) memset(p, 0, embi_size(count, elem));
    return p;
}

static void embi_free(embi_memory *m, void *p, int count, size_t elem)
{
    size_t size = embi_size(count, elem);
    if (!p) return;
    embi_lock(&m->lock);
    m->bytes -= size;
    m->hooks.free(p, size, m->hooks.ctx);
    embi_unlock(&m->lock);
}

/* Returns p grown to hold `need` elements, content kept, new ones zeroed if so asked; p itself on failure.
 * A capacity of 0 means: nothing allocated yet. */
static void *embi_regrow(embi_memory *m, void *p, int *cap, int need, size_t elem, int zero)
{
    int want = *cap > INT_MAX / 2 ? INT_MAX : 2 * *cap;
    size_t kept = (size_t)*cap * elem;
    void *r;
    if (want < need) want = need;
    r = embi_alloc_raw(m, want, elem);
    if (!r) return p;
    if (zero) memset((char *)r + kept, 0, (size_t)want * elem - kept);
    if (p) {
        memcpy(r, p, kept);
        embi_free(m, p, *cap, elem);
    }
    *cap = want;
    return r;
}

#define EMBI_GROW(m, T, p, cap, need) \
    ((need) <= (cap) || ((p) = (T *)embi_regrow((m), (p), &(cap), (need), sizeof(T), 1), (need) <= (cap)))
/* The same, new elements not written to: for large ones, half of which may never be. */
#define EMBI_ROOM(m, T, p, cap, need) \
    ((need) <= (cap) || ((p) = (T *)embi_regrow((m), (p), &(cap), (need), sizeof(T), 0), (need) <= (cap)))
#define EMBI_RELEASE(m, p, cap) \
    (embi_free((m), (p), (cap), sizeof *(p)), (p) = NULL, (cap) = 0)

/* ==== 4. Errors ======================================================================================
 * One funnel: every failure passes through embi_fail(), so one breakpoint shows the first of them.
 * Uses: platform.                                          Checked by: tests/test_world_input.c */
#include <stdarg.h>

EMBIPC_API const char *embipc_result_text(embipc_result r)
{
    static const char *const text[EMBIPC_RESULT_COUNT] = {
        "ok",
        "description not made by its embipc_default_*_def()",
        "argument out of range",
        "no such body or drive",
        "out of memory",
        "value not finite",
        "index out of range",
        "surface is not closed",
        "surface is not consistently oriented outward",
        "surface is not manifold",
        "degenerate element",
        "vertex outside its cage",
        "surfaces intersect"
    };
    return r >= 0 && r < EMBIPC_RESULT_COUNT ? text[r] : "unknown result";
}

/* Fills e (may be NULL) and returns code. */
static embipc_result embi_fail(embipc_error *e, embipc_result code, const char *format, ...)
{
    va_list args;
    if (!e) return code;
    memset(e, 0, sizeof *e);
    e->code = code;
    va_start(args, format);
    (void)vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return code;
}

/* The same, with the primitive and the value it is about. */
static embipc_result embi_fail_at(embipc_error *e, embipc_result code, embipc_primitive primitive, int index,
                                  embipc_real value, const char *format, ...)
{
    va_list args;
    if (!e) return code;
    memset(e, 0, sizeof *e);
    e->code = code;
    e->primitive[0] = primitive;
    e->index[0] = index;
    e->value[0] = value;
    va_start(args, format);
    (void)vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return code;
}

static embipc_result embi_fail_memory(embipc_error *e)
{
    return embi_fail(e, EMBIPC_ERR_MEMORY, "the allocator returned no memory");
}

/* ==== 5. Threads =====================================================================================
 * Loops that the caller's threads may share, and a pool of such threads: each takes the ranges of its own part of a
 * loop, so that it finds what it wrote in the loop before in its cache, and then of what the others have left.
 * Ranges are cut by the grain alone, and every sum is formed in the same order whoever forms its terms, so results
 * do not depend on how many workers there are. Items of unequal size (the vertices of bodies, the candidates of
 * pairs) are cut into chunks of about equal work, and the loop is over the chunks. Nothing is allocated in a loop
 * but where islands are solved side by side, under the lock of the memory.
 * A range should hold 12 us of work: workers look out for the next loop, and come within 1 or 2 us [with 50 us for 12,
 * 2 threads, a step takes: piles of 10 and 100 cages 1.12 and 1.03, ten bears 1.06, grasps 1.02 to 1.05, a tower of
 * 100 boxes 1.09]. To wake one that sleeps, and for it to come, takes 5 and 50 us [measured].
 * Uses: platform, memory.                                  Checked by: tests/test_threads.c   */

/* Work that is worth a range of its own; a test that wants every loop shared makes it less. */
#ifndef EMBI_SHARE
#define EMBI_SHARE(work) (work)
#endif

typedef struct embi_threads {
    embipc_parallel_for_fn *run;   /* NULL: serial */
    void *ctx;
} embi_threads;

/* fn over [0, count), in parallel where there are threads and two ranges for them */
static void embi_for(const embi_threads *t, int count, int grain, embipc_range_fn *fn, void *arg)
{
    if (count <= 0) return;
    if (t && t->run && count > grain) t->run(count, grain, fn, arg, t->ctx);
    else fn(arg, 0, count);
}

typedef struct embi_chunk { int item, begin, end; } embi_chunk;

typedef struct embi_chunks {
    embi_chunk *list;
    int count, cap, work;        /* work: of all chunks, in the caller's unit */
} embi_chunks;

static void embi_chunks_free(embi_memory *m, embi_chunks *p) { EMBI_RELEASE(m, p->list, p->cap); }
static void embi_chunks_clear(embi_chunks *p) { p->count = p->work = 0; }

/* Appends [begin, end) of an item, in chunks of `length` or a little less. Returns 0 out of memory. */
static int embi_chunks_add(embi_memory *m, embi_chunks *p, int item, int begin, int end, int length)
{
    int parts = begin < end ? (end - begin - 1) / length + 1 : 0;
    if (!EMBI_GROW(m, embi_chunk, p->list, p->cap, p->count + parts)) return 0;
    for (int k = 0; k < parts; k++) {
        embi_chunk *one = p->list + p->count++;
        one->item = item;
        one->begin = begin;
        begin += (end - begin - 1) / (parts - k) + 1;
        one->end = begin;
        p->work += one->end - one->begin;
    }
    return 1;
}

/* fn over 0 .. count - 1, so many at a time that each time there is enough work; in one go where there is not enough
 * for two */
static void embi_for_work(const embi_threads *t, int count, long long work, int enough, embipc_range_fn *fn,
                          void *arg)
{
    long long grain = work < 2 * (long long)enough ? INT_MAX : (long long)count * enough / work;
    embi_for(t, count, grain < 1 ? 1 : (int)grain, fn, arg);
}

/* fn over chunks */
static void embi_for_chunks(const embi_threads *t, const embi_chunks *p, int enough, embipc_range_fn *fn, void *arg)
{
    embi_for_work(t, p->count, p->work, enough, fn, arg);
}

#ifdef EMBIPC_PTHREADS

/* a thread, and the numbers of the ranges that are left of its part */
typedef struct embi_worker {
    embipc_pool *pool;
    pthread_t thread;
    int begin, end;
} embi_worker;

struct embipc_pool {
    embi_worker *worker;         /* the first is the thread that calls */
    int threads;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    embipc_range_fn *fn;
    void *arg;
    int count, grain, left, quit;   /* left: ranges */
    int posted, busy;            /* loops so far; ranges at work: looked at without the lock as well */
};

/* Loops of a step follow each other by microseconds. So a thread that waits looks so many times, yielding the processor,
 * before it sleeps: for 0.1 ms or two. A pile of 100 cages on 2 threads goes 1.55 times as fast as on one; 1.31 times
 * when all sleep at once. */
#if EMBI_ATOMIC
#define EMBI_POOL_LOOKS 400
static int embi_atomic_get(const int *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
#else                            /* only under the lock */
#define EMBI_POOL_LOOKS 0
static int embi_atomic_get(const int *p) { return *p; }
#endif

/* Waits, for a while, until *p is no longer what it is. Called and left with the lock held. */
static void embi_pool_look(embipc_pool *p, const int *what, int is)
{
    pthread_mutex_unlock(&p->lock);
    for (int n = 0; n < EMBI_POOL_LOOKS && embi_atomic_get(what) == is; n++) sched_yield();
    pthread_mutex_lock(&p->lock);
}

/* The next range: of its own part from the front, or from the back of the part of which most is left. */
static int embi_pool_take(embipc_pool *p, embi_worker *self)
{
    embi_worker *from = self;
    p->left--;
    if (self->begin < self->end) return self->begin++;
    for (int i = 0; i < p->threads; i++)
        if (p->worker[i].end - p->worker[i].begin > from->end - from->begin) from = p->worker + i;
    return --from->end;
}

/* takes ranges until none is left; called and left with the lock held */
static void embi_pool_drain(embipc_pool *p, embi_worker *self)
{
    while (p->left > 0) {
        int begin = embi_pool_take(p, self) * p->grain;
        int end = p->count - begin > p->grain ? begin + p->grain : p->count;
        embi_atomic_set(&p->busy, p->busy + 1);
        pthread_mutex_unlock(&p->lock);
        p->fn(p->arg, begin, end);
        pthread_mutex_lock(&p->lock);
        embi_atomic_set(&p->busy, p->busy - 1);
    }
    if (p->busy == 0) pthread_cond_broadcast(&p->done);
}

static void *embi_pool_worker(void *arg)
{
    embi_worker *self = (embi_worker *)arg;
    embipc_pool *p = self->pool;
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        embi_pool_drain(p, self);
        embi_pool_look(p, &p->posted, p->posted);
        if (!p->quit && p->left == 0) pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

EMBIPC_API void embipc_pool_destroy(embipc_pool *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->quit = 1;
    embi_atomic_set(&p->posted, (p->posted + 1) & INT_MAX);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 1; i < p->threads; i++) pthread_join(p->worker[i].thread, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    free(p->worker);
    free(p);
}

/* the calling thread works too, so one thread less is started */
EMBIPC_API embipc_pool *embipc_pool_create(int threads)
{
    embipc_pool *p = (embipc_pool *)calloc(1, sizeof *p);
    if (!p) return NULL;
    threads = embi_max_int(threads, 1);
    p->worker = (embi_worker *)calloc((size_t)threads, sizeof *p->worker);
    if (!p->worker || pthread_mutex_init(&p->lock, NULL) || pthread_cond_init(&p->work, NULL) ||
        pthread_cond_init(&p->done, NULL)) {
        free(p->worker);
        free(p);
        return NULL;
    }
    for (p->threads = 1; p->threads < threads; p->threads++) {
        embi_worker *one = p->worker + p->threads;
        one->pool = p;
        if (pthread_create(&one->thread, NULL, embi_pool_worker, one)) {
            embipc_pool_destroy(p);
            return NULL;
        }
    }
    return p;
}

EMBIPC_API void embipc_pool_for(int count, int grain, embipc_range_fn *fn, void *arg, void *pool)
{
    embipc_pool *p = (embipc_pool *)pool;
    if (count <= 0) return;
    pthread_mutex_lock(&p->lock);
    p->fn = fn;
    p->arg = arg;
    p->grain = grain > 0 ? grain : 1;
    p->count = count;
    p->left = (count - 1) / p->grain + 1;
    for (int i = 0, next = 0; i < p->threads; i++) {
        p->worker[i].begin = next;
        p->worker[i].end = next += (p->left - next) / (p->threads - i);
    }
    embi_atomic_set(&p->posted, (p->posted + 1) & INT_MAX);
    pthread_cond_broadcast(&p->work);
    embi_pool_drain(p, p->worker);
    while (p->busy > 0) {
        embi_pool_look(p, &p->busy, p->busy);
        if (p->busy > 0) pthread_cond_wait(&p->done, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

#endif /* EMBIPC_PTHREADS */

/* ==== 6. Sorting and sets ============================================================================
 * 64-bit keys with an int payload, sorted by a stable radix sort: no comparison callback, no
 * recursion, no worst case, and equal keys keep their order (which the same-bits promise needs).
 * Uses: platform, memory.                                  Checked by: tests/test_mesh.c      */

typedef unsigned long long embi_u64;
typedef struct embi_key {
    embi_u64 key;
    int value;
} embi_key;

/* two indices as one key; order of the keys = lexicographic order of the pairs */
static embi_u64 embi_pack(int hi, int lo)
{
    return ((embi_u64)(unsigned)hi << 32) | (embi_u64)(unsigned)lo;
}

/* sorts a[0..n) by key; tmp holds n elements too */
static void embi_sort_keys(embi_key *a, embi_key *tmp, int n)
{
    embi_u64 all_or = 0, all_and = ~(embi_u64)0;
    if (n < 24) {   /* insertion sort: stable as well */
        for (int i = 1; i < n; i++) {
            embi_key k = a[i];
            int j = i;
            for (; j > 0 && a[j - 1].key > k.key; j--) a[j] = a[j - 1];
            a[j] = k;
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        all_or |= a[i].key;
        all_and &= a[i].key;
    }
    for (int shift = 0; shift < 64; shift += 8) {
        int count[257] = {0};
        if ((((all_or ^ all_and) >> shift) & 255) == 0) continue;   /* this byte is the same everywhere */
        for (int i = 0; i < n; i++) count[((a[i].key >> shift) & 255) + 1]++;
        for (int b = 0; b < 256; b++) count[b + 1] += count[b];
        for (int i = 0; i < n; i++) tmp[count[(a[i].key >> shift) & 255]++] = a[i];
        memcpy(a, tmp, (size_t)n * sizeof *a);
    }
}

/* index of the first element with key >= k in the sorted a[0..n) */
static int embi_lower_bound(const embi_key *a, int n, embi_u64 k)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (a[mid].key < k) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* ==== 7. Exact predicates ============================================================================
 * Signs of determinants, never wrong. A value is held exactly as an expansion, a sum of doubles that do not
 * overlap; its largest component has the sign of the sum. A floating-point filter answers first, the
 * expansion only where the filter cannot.                                               [DEK71] [SHE97]
 * Contraction to fused multiply-adds does no harm here: sums have no products in them, and every product that
 * is formed on the exact path is exact, so fused or not it is the same number.
 * Uses: platform, small math.                              Checked by: tests/test_exact.c     */

/* s + *err = a + b exactly, s = fl(a + b) */
static embipc_real embi_two_sum(embipc_real a, embipc_real b, embipc_real *err)
{
    embipc_real s = a + b, bb = s - a, aa = s - bb;
    *err = (a - aa) + (b - bb);
    return s;
}

/* Do sums round one by one, as all of this takes for granted? Not every compiler that was told to reorder them says so
 * beforehand. */
static int embi_sums_are_exact(void)
{
    volatile embipc_real one = 1, tiny = EMBI_EPS / 256;
    embipc_real err, s = embi_two_sum(one, tiny, &err);
    return s == one && err == tiny;
}

/* a = *hi + *lo with at most 26 significant bits each: the bits of a rounded to their upper half */
static void embi_split(embipc_real a, embipc_real *hi, embipc_real *lo)
{
    unsigned long long bits;
    memcpy(&bits, &a, sizeof bits);
    bits = (bits + (1ull << 26)) & ~((1ull << 27) - 1);
    memcpy(hi, &bits, sizeof bits);
    *lo = a - *hi;
}

/* p + *err = a b exactly, p = fl(a b). The four partial products have at most 52 bits, hence no rounding; the
 * two middle ones share their scale, so their sum has none either. The order of the rest keeps every sum but
 * the two-sums exact, and a b itself is never formed: nothing here can be contracted into something else. */
static embipc_real embi_two_product(embipc_real a, embipc_real b, embipc_real *err)
{
    embipc_real ah, al, bh, bl, p, tail;
    embi_split(a, &ah, &al);
    embi_split(b, &bh, &bl);
    p = embi_two_sum(ah * bh, ah * bl + al * bh, &tail);
    return embi_two_sum(p, tail + al * bl, err);
}

/* a b - c d to nearly full relative precision, whatever cancels */
static embipc_real embi_diff_of_products(embipc_real a, embipc_real b, embipc_real c, embipc_real d)
{
    embipc_real e1, e2, p1 = embi_two_product(a, b, &e1), p2 = embi_two_product(c, d, &e2);
    return (p1 - p2) + (e1 - e2);
}

/* Components in order of size, none 0, none overlapping another. 192 is what orient3d can need. */
typedef struct embi_expansion {
    int n;
    embipc_real v[192];
} embi_expansion;

/* e += b */
static void embi_expansion_add(embi_expansion *e, embipc_real b)
{
    int n = 0;
    for (int i = 0; i < e->n; i++) {
        embipc_real err;
        b = embi_two_sum(b, e->v[i], &err);
        if (err != 0) e->v[n++] = err;
    }
    if (b != 0) e->v[n++] = b;
    e->n = n;
}

/* e += s f */
static void embi_expansion_add_scaled(embi_expansion *e, embipc_real s, int n, const embipc_real *f)
{
    for (int i = 0; i < n; i++) {
        embipc_real err, p = embi_two_product(s, f[i], &err);
        embi_expansion_add(e, err);
        embi_expansion_add(e, p);
    }
}

/* e += sign (a[0] + a[1]) (b[0] + b[1]) */
static void embi_expansion_add_product(embi_expansion *e, int sign, const embipc_real a[2],
                                       const embipc_real b[2])
{
    for (int i = 0; i < 2; i++)
        if (a[i] != 0) embi_expansion_add_scaled(e, sign * a[i], 2, b);
}

static int embi_sign(embipc_real a) { return (a > 0) - (a < 0); }

static int embi_expansion_sign(const embi_expansion *e) { return e->n ? embi_sign(e->v[e->n - 1]) : 0; }

/* The power of two that brings the n points to 2^300 at most: cubes then stay below 2^1000, and the last bit
 * of a coordinate 180 decades smaller still gives products above the smallest double. */
static int embi_exact_exponent(const embipc_real *const *point, int n)
{
    embipc_real m = 0;
    int e;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) m = embi_max(m, embi_abs(point[i][k]));
    (void)frexp(m, &e);
    return 300 - e;
}

/* d[0] + d[1] = 2^e (a - b) exactly */
static void embi_exact_difference(embipc_real d[2], embipc_real a, embipc_real b, int e)
{
    d[0] = embi_two_sum(ldexp(a, e), -ldexp(b, e), &d[1]);
}

/* Orientation of a, b, c projected on the coordinate axes i and j, without the filter. */
static int embi_orient2d_exact(const embipc_real a[3], const embipc_real b[3], const embipc_real c[3],
                               int i, int j)
{
    const embipc_real *point[3] = {a, b, c};
    int e = embi_exact_exponent(point, 3);
    embipc_real ui[2], uj[2], vi[2], vj[2];
    embi_expansion det;
    embi_exact_difference(ui, b[i], a[i], e);
    embi_exact_difference(uj, b[j], a[j], e);
    embi_exact_difference(vi, c[i], a[i], e);
    embi_exact_difference(vj, c[j], a[j], e);
    det.n = 0;
    embi_expansion_add_product(&det, 1, ui, vj);
    embi_expansion_add_product(&det, -1, uj, vi);
    return embi_expansion_sign(&det);
}

/* Orientation of a, b, c projected on the coordinate axes i and j: +1 counter-clockwise, -1, or 0. With unit
 * roundoff u the two products carry 3 u each, the difference one more: 4 u (|l| + |r|) in all. Asked: 8 u. */
static int embi_orient2d(const embipc_real a[3], const embipc_real b[3], const embipc_real c[3], int i, int j)
{
    embipc_real l = (b[i] - a[i]) * (c[j] - a[j]), r = (b[j] - a[j]) * (c[i] - a[i]);
    embipc_real det = l - r, size = embi_abs(l) + embi_abs(r);
    if (embi_abs(det) > 4 * EMBI_EPS * size && size > 1e-250) return embi_sign(det);
    return embi_orient2d_exact(a, b, c, i, j);
}

/* orient3d without the filter: a determinant of exact differences, expanded along its third row */
static int embi_orient3d_exact(const embipc_real a[3], const embipc_real b[3], const embipc_real c[3],
                               const embipc_real d[3])
{
    const embipc_real *point[4] = {a, b, c, d};
    int e = embi_exact_exponent(point, 4);
    embipc_real u[3][2], v[3][2], w[3][2];
    embi_expansion det;
    for (int k = 0; k < 3; k++) {
        embi_exact_difference(u[k], b[k], a[k], e);
        embi_exact_difference(v[k], c[k], a[k], e);
        embi_exact_difference(w[k], d[k], a[k], e);
    }
    det.n = 0;
    for (int k = 0; k < 3; k++) {
        embi_expansion minor;
        int i = (k + 1) % 3, j = (k + 2) % 3;
        minor.n = 0;
        embi_expansion_add_product(&minor, 1, u[i], v[j]);
        embi_expansion_add_product(&minor, -1, u[j], v[i]);
        embi_expansion_add_scaled(&det, w[k][0], minor.n, minor.v);
        embi_expansion_add_scaled(&det, w[k][1], minor.n, minor.v);
    }
    return embi_expansion_sign(&det);
}

/* The filter: every term w (u v) carries at most 7 u of rounding, u the unit roundoff. Asked: 16 u. */
EMBIPC_API int embipc_orient3d(const embipc_real a[3], const embipc_real b[3], const embipc_real c[3],
                               const embipc_real d[3])
{
    embipc_real det = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        embipc_real l = (b[i] - a[i]) * (c[j] - a[j]), r = (b[j] - a[j]) * (c[i] - a[i]), w = d[k] - a[k];
        det += w * (l - r);
        size += embi_abs(w) * (embi_abs(l) + embi_abs(r));
    }
    if (embi_abs(det) > 8 * EMBI_EPS * size && size > 1e-250) return embi_sign(det);
    if (!embi_all_finite(a, 3) || !embi_all_finite(b, 3) || !embi_all_finite(c, 3) || !embi_all_finite(d, 3))
        return 0;
    return embi_orient3d_exact(a, b, c, d);
}

/* Do the bounding boxes of two point sets share a point? An exact test: it only compares. */
static int embi_point_boxes_meet(const embipc_real *a, int na, const embipc_real *b, int nb)
{
    for (int k = 0; k < 3; k++) {
        embipc_real alo = a[k], ahi = a[k], blo = b[k], bhi = b[k];
        for (int i = 1; i < na; i++) {
            alo = embi_min(alo, a[3 * i + k]);
            ahi = embi_max(ahi, a[3 * i + k]);
        }
        for (int i = 1; i < nb; i++) {
            blo = embi_min(blo, b[3 * i + k]);
            bhi = embi_max(bhi, b[3 * i + k]);
        }
        if (alo > bhi || blo > ahi) return 0;
    }
    return 1;
}

/* Do two closed segments s = (p, q), t = (a, b) of one plane meet, seen along the third axis of i, j, which
 * that plane is not parallel to? Collinear ones do when their boxes do. */
static int embi_segments_meet_flat(const embipc_real s[6], const embipc_real t[6], int i, int j)
{
    int a = embi_orient2d(s, s + 3, t, i, j), b = embi_orient2d(s, s + 3, t + 3, i, j);
    int p = embi_orient2d(t, t + 3, s, i, j), q = embi_orient2d(t, t + 3, s + 3, i, j);
    return a * b <= 0 && p * q <= 0 && embi_point_boxes_meet(s, 2, t, 2);
}

/* Do two closed segments meet? Through four points that are on one plane and not on one line there is a
 * coordinate axis along which they can be seen flat. */
static int embi_segments_meet(const embipc_real s[6], const embipc_real t[6])
{
    if (!embi_point_boxes_meet(s, 2, t, 2) || embipc_orient3d(s, s + 3, t, t + 3) != 0) return 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        if (embi_orient2d(s, s + 3, t, i, j) || embi_orient2d(s, s + 3, t + 3, i, j) ||
            embi_orient2d(t, t + 3, s, i, j) || embi_orient2d(t, t + 3, s + 3, i, j))
            return embi_segments_meet_flat(s, t, i, j);
    }
    return 1;   /* all on one line: their boxes tell */
}

/* The segment lies in the plane of the triangle, which is seen flat on the axes i and j as a triangle that
 * turns by `turn`: they meet when an end of the segment is inside, or when it crosses a side. */
static int embi_segment_triangle_flat(const embipc_real s[6], const embipc_real t[9], int i, int j, int turn)
{
    int inside = 1;
    for (int k = 0; k < 3; k++) {
        embipc_real side[6];
        embi_copy(side, t + 3 * k);
        embi_copy(side + 3, t + 3 * ((k + 1) % 3));
        if (embi_segments_meet_flat(s, side, i, j)) return 1;
        if (embi_orient2d(side, side + 3, s, i, j) * turn < 0) inside = 0;
    }
    return inside;
}

EMBIPC_API int embipc_segment_triangle_intersect(const embipc_real x[15])
{
    const embipc_real *p = x, *q = x + 3, *t = x + 6;
    int above, below, turn = 0, i = 0, j = 1, side[3];
    if (!embi_all_finite(x, 15)) return 1;
    if (!embi_point_boxes_meet(x, 2, t, 3)) return 0;
    above = embipc_orient3d(t, t + 3, t + 6, p);
    below = embipc_orient3d(t, t + 3, t + 6, q);
    if (above * below > 0) return 0;
    if (above == 0 && below == 0) {
        for (int k = 0; k < 3 && turn == 0; k++) {
            i = k;
            j = (k + 1) % 3;
            turn = embi_orient2d(t, t + 3, t + 6, i, j);
        }
        if (turn) return embi_segment_triangle_flat(x, t, i, j, turn);
        for (int k = 0; k < 3; k++) {   /* no area: the triangle is the union of its sides */
            embipc_real e[6];
            embi_copy(e, t + 3 * k);
            embi_copy(e + 3, t + 3 * ((k + 1) % 3));
            if (embi_segments_meet(x, e)) return 1;
        }
        return 0;
    }
    /* the line through p and q meets the plane in one point: inside, seen along the line? */
    for (int k = 0; k < 3; k++) side[k] = embipc_orient3d(p, q, t + 3 * k, t + 3 * ((k + 1) % 3));
    return (side[0] >= 0 && side[1] >= 0 && side[2] >= 0) || (side[0] <= 0 && side[1] <= 0 && side[2] <= 0);
}

/* ==== 8. Sparse matrices =============================================================================
 * Symmetric matrices of 3x3 blocks over n nodes. Only the lower triangle is stored, in compressed
 * rows of blocks: the blocks of row i are row[i] .. row[i + 1] - 1, block k stands in column
 * col[k] <= i, columns ascend, so the diagonal block comes last. Block k has its nine values at
 * val + 9 k, row-major; a block below the diagonal stands for its transpose above it as well.
 * A pattern is made from a list of coupled node pairs; the diagonal is always in it.
 * Uses: small math, memory, sorting.                       Checked by: tests/test_sparse.c    */

typedef struct embi_bsr {
    int n;
    int *row; int row_cap;           /* (n + 1) */
    int *col; int col_cap;           /* (row[n]) */
    embipc_real *val; int val_cap;   /* (9 row[n]) */
    int *work; int work_cap;         /* scratch of embi_bsr_couple */
} embi_bsr;

static void embi_bsr_free(embi_memory *m, embi_bsr *A)
{
    EMBI_RELEASE(m, A->row, A->row_cap);
    EMBI_RELEASE(m, A->col, A->col_cap);
    EMBI_RELEASE(m, A->val, A->val_cap);
    EMBI_RELEASE(m, A->work, A->work_cap);
    A->n = 0;
}

static void embi_bsr_zero(embi_bsr *A)
{
    if (A->n) memset(A->val, 0, (size_t)A->row[A->n] * 9 * sizeof *A->val);
}

/* Removes repeated columns, which stand next to each other, from every row. */
static void embi_bsr_unique(embi_bsr *A)
{
    int kept = 0;
    for (int i = 0, k = 0; i < A->n; i++) {
        int end = A->row[i + 1], begin = kept;
        for (; k < end; k++)
            if (kept == begin || A->col[kept - 1] != A->col[k]) A->col[kept++] = A->col[k];
        A->row[i + 1] = kept;
    }
}

/* The pattern of n nodes with the given couplings: pairs[k].key = embi_pack(i, j), in any order, repeated
 * as often as you like, either index first; they are only read. There is no room for values yet.
 * Two bucket passes, first by column, then by row: columns end up ascending without a sort.
 * Returns 0 when out of memory. O(n + pairs). */
static int embi_bsr_couple(embi_memory *m, embi_bsr *A, int n, const embi_key *pairs, int pair_count)
{
    int *next, *list, blocks;
    A->n = 0;
    if (n > INT_MAX / 9 - pair_count) { m->failed = 1; return 0; }
    blocks = n + pair_count;
    if (!EMBI_GROW(m, int, A->row, A->row_cap, n + 1) || !EMBI_GROW(m, int, A->col, A->col_cap, blocks) ||
        !EMBI_GROW(m, int, A->work, A->work_cap, blocks + 1))
        return 0;
    next = A->work;        /* (n + 1) */
    list = A->work + n + 1;   /* (pair_count): rows coupled to column 0, to column 1, ... */
    memset(next, 0, (size_t)(n + 1) * sizeof *next);
    for (int i = 0; i <= n; i++) A->row[i] = i;   /* the diagonal */
    for (int k = 0; k < pair_count; k++) {
        int i = (int)(pairs[k].key >> 32), j = (int)(pairs[k].key & 0xffffffffu);
        EMBIPC_ASSERT(i >= 0 && i < n && j >= 0 && j < n);
        if (i != j) next[embi_min_int(i, j)]++;
    }
    for (int j = 0, sum = 0; j <= n; j++) {   /* counts to first places */
        int count = next[j];
        next[j] = sum;
        sum += count;
    }
    for (int k = 0; k < pair_count; k++) {
        int i = (int)(pairs[k].key >> 32), j = (int)(pairs[k].key & 0xffffffffu);
        if (i == j) continue;
        list[next[embi_min_int(i, j)]++] = embi_max_int(i, j);
        A->row[embi_max_int(i, j) + 1]++;
    }
    for (int i = 0, extra = 0; i < n; i++) {   /* row[i + 1] is i + 1 + its own couplings: sum them up */
        extra += A->row[i + 1] - (i + 1);
        A->row[i + 1] = i + 1 + extra;
    }
    /* next[j] is now the end of list j, which is the begin of list j + 1; row[i] serves as the place of
     * the next block of row i and is moved back by one row afterwards */
    for (int j = 0; j < n; j++) {
        for (int k = j ? next[j - 1] : 0; k < next[j]; k++) A->col[A->row[list[k]]++] = j;
        A->col[A->row[j]++] = j;
    }
    for (int i = n; i > 0; i--) A->row[i] = A->row[i - 1];
    A->row[0] = 0;
    A->n = n;
    embi_bsr_unique(A);
    return 1;
}

/* Room for the values of the pattern; they are undefined until embi_bsr_zero. Returns 0 when out of memory. */
static int embi_bsr_room(embi_memory *m, embi_bsr *A)
{
    if (EMBI_GROW(m, embipc_real, A->val, A->val_cap, 9 * A->row[A->n])) return 1;
    A->n = 0;
    return 0;
}

/* both */
static int embi_bsr_pattern(embi_memory *m, embi_bsr *A, int n, const embi_key *pairs, int pair_count)
{
    return embi_bsr_couple(m, A, n, pairs, pair_count) && embi_bsr_room(m, A);
}

/* A gets the pattern of B. Returns 0 when out of memory. */
static int embi_bsr_copy_pattern(embi_memory *m, embi_bsr *A, const embi_bsr *B)
{
    A->n = 0;
    if (!EMBI_GROW(m, int, A->row, A->row_cap, B->n + 1) ||
        !EMBI_GROW(m, int, A->col, A->col_cap, B->row[B->n]))
        return 0;
    memcpy(A->row, B->row, (size_t)(B->n + 1) * sizeof *A->row);
    if (B->n) memcpy(A->col, B->col, (size_t)B->row[B->n] * sizeof *A->col);
    A->n = B->n;
    return 1;
}

static int embi_bsr_same_pattern(const embi_bsr *A, const embi_bsr *B)
{
    size_t blocks = A->n ? (size_t)A->row[A->n] : 0;
    return A->n == B->n && (!A->n || (!memcmp(A->row, B->row, (size_t)(A->n + 1) * sizeof *A->row) &&
                                      !memcmp(A->col, B->col, blocks * sizeof *A->col)));
}

/* The first place in the ascending a[0..n) whose value is >= x, n if there is none. Halving without a
 * branch that depends on the data: the searches here are short and unpredictable. */
static int embi_find_place(const int *a, int n, int x)
{
    const int *p = a;
    if (n == 0) return 0;
    while (n > 1) {
        int half = n / 2;
        p += p[half - 1] < x ? half : 0;
        n -= half;
    }
    return (int)(p - a) + (*p < x);
}

/* index of the block that couples nodes i and j, or -1 */
static int embi_bsr_find(const embi_bsr *A, int i, int j)
{
    int hi = embi_max_int(i, j), lo = embi_min_int(i, j);
    int begin = A->row[hi], count = A->row[hi + 1] - begin;
    int k = embi_find_place(A->col + begin, count, lo);
    return k < count && A->col[begin + k] == lo ? begin + k : -1;
}

/* Adds B at (i, j), and with it B^T at (j, i): give every unordered pair once. Returns 0, and does
 * nothing, when the pattern has no such block. */
static int embi_bsr_add(embi_bsr *A, int i, int j, const embipc_real B[9])
{
    int k = embi_bsr_find(A, i, j);
    embipc_real *V;
    if (k < 0) return 0;
    V = A->val + 9 * (size_t)k;
    if (i >= j)
        for (int c = 0; c < 9; c++) V[c] += B[c];
    else
        for (int c = 0; c < 9; c++) V[c] += B[3 * (c % 3) + c / 3];
    return 1;
}

/* y = A x. Row i sets y_i and adds B^T x_i to the rows above it, which are set already. */
static void embi_bsr_multiply(const embi_bsr *A, const embipc_real *x, embipc_real *y)
{
    for (int i = 0; i < A->n; i++) {
        const embipc_real *xi = x + 3 * i;
        embipc_real s0 = 0, s1 = 0, s2 = 0, r[3];
        int last = A->row[i + 1] - 1;
        for (int k = A->row[i]; k < last; k++) {
            const embipc_real *B = A->val + 9 * (size_t)k, *xj = x + 3 * A->col[k];
            embipc_real *yj = y + 3 * A->col[k];
            s0 += B[0] * xj[0] + B[1] * xj[1] + B[2] * xj[2];
            s1 += B[3] * xj[0] + B[4] * xj[1] + B[5] * xj[2];
            s2 += B[6] * xj[0] + B[7] * xj[1] + B[8] * xj[2];
            yj[0] += B[0] * xi[0] + B[3] * xi[1] + B[6] * xi[2];
            yj[1] += B[1] * xi[0] + B[4] * xi[1] + B[7] * xi[2];
            yj[2] += B[2] * xi[0] + B[5] * xi[1] + B[8] * xi[2];
        }
        embi_m3_mulv(r, A->val + 9 * (size_t)last, xi);
        embi_set(y + 3 * i, s0 + r[0], s1 + r[1], s2 + r[2]);
    }
}

/* ==== 9. LDL^T =======================================================================================
 * Solves A x = b for symmetric positive definite A by A = L D L^T: L lower triangular with a unit
 * diagonal, D diagonal. No pivoting for size is needed, so the order is free to be chosen for sparsity.
 *
 * One kernel does nearly all the work: a tile of three rows by three vectors of C -= A B, kept in
 * registers. Everything else is arranged so that it can be used:
 *   - we compute U = D L^T, the upper triangle, whose rows are contiguous, three rows at a time:
 *         U_kj = A_kj - sum_{p<k} L_kp U_pj,   L_jk = U_kj / D_k;
 *   - the sparse factor is cut into supernodes: runs of nodes whose rows of U have (almost) the same
 *     pattern. A supernode is a dense panel, w rows by w + r columns: its own unknowns, then those
 *     that follow them in the pattern. A dense matrix is the case of one supernode;
 *   - supernodes are factored left-looking [DAVIS06]: supernode t first pulls what earlier ones s send to it,
 *         U_t -= (U_s^T D_s^-1)_t U_s      (rows of t, columns of t),
 *     then its panel is factored like a dense matrix.
 *
 * Pivots that are not positive beyond rounding. D_k is a_kk less a sum of squares, so it carries an error
 * of about eps a_kk, whatever the units: D_k <= 64 eps |a_kk| means that its sign is not known, or that A is
 * not positive definite. Then D_k becomes max |a_ii|, or |D_k| where that is more (else each of several such
 * pivots squares what is left of the matrix), and we have the factor of A + sum delta_k e_k e_k^T:
 * still positive definite, so that -A^-1 g is a direction of descent; unknown k moves as if it were held by
 * the stiffest spring there is; and where A is singular and A x = b has solutions, this is one of them
 * (the one with x_k = 0), exactly. How many were replaced is reported, never hidden.
 *
 * Order: approximate minimum degree on the quotient graph [AMD96]; supernodes are
 * then merged along the elimination tree wherever a cost model says that fewer, larger panels are faster.
 * Uses: small math, memory, sorting, sparse matrices.      Checked by: tests/test_ldlt.c      */

/* Builds for any x86-64 machine ask the one they run on whether it has AVX, for the two kernels alone. Every
 * number comes from the same operations in the same order, so that no bit depends on the answer (there is no
 * fused multiply-add). EMBIPC_PLAIN_KERNEL: do not ask. */
#if EMBI_LANES == 2 && defined(__x86_64__) && !defined(EMBIPC_PLAIN_KERNEL) &&                               \
    (defined(__linux__) || defined(__APPLE__) || defined(__FreeBSD__))
#define EMBI_WIDE 1
#else
#define EMBI_WIDE 0
#endif

/* parts of a kernel: compiled for each number of vectors, and again where AVX is allowed */
#if EMBI_LANES > 1
#define EMBI_KERNEL static inline __attribute__((always_inline))
typedef embipc_real embi_wide __attribute__((vector_size(4 * sizeof(embipc_real))));
#else
#define EMBI_KERNEL static
#endif

#define EMBI_TILE 12                 /* columns of a tile: a multiple of 3 EMBI_LANES */
#define EMBI_BLOCK 48                /* rows of U that are finished before the rest is updated: fits L1 */

/* y -= s x */
static void embi_row_subtract(int n, embipc_real s, const embipc_real *x, embipc_real *y)
{
    int j = 0;
    for (; j + EMBI_LANES <= n; j += EMBI_LANES) embi_store(y + j, embi_load(y + j) - embi_load(x + j) * s);
    for (; j < n; j++) y[j] -= s * x[j];
}

/* x . y */
static embipc_real embi_row_dot(int n, const embipc_real *x, const embipc_real *y)
{
    const embi_vec zero = {0};
    embi_vec s0 = zero, s1 = zero;
    embipc_real part[EMBI_LANES], sum = 0;
    int j = 0;
    for (; j + 2 * EMBI_LANES <= n; j += 2 * EMBI_LANES) {
        s0 += embi_load(x + j) * embi_load(y + j);
        s1 += embi_load(x + j + EMBI_LANES) * embi_load(y + j + EMBI_LANES);
    }
    embi_store(part, s0 + s1);
    for (int l = 0; l < EMBI_LANES; l++) sum += part[l];
    for (; j < n; j++) sum += x[j] * y[j];
    return sum;
}

/* C -= T on the m x n corner of a tile */
EMBI_KERNEL void embi_tile_subtract(int m, int n, const embipc_real *t, embipc_real *c, int ldc)
{
    for (int i = 0; i < m; i++, t += EMBI_TILE, c += ldc)
        for (int j = 0; j < n; j++) c[j] -= t[j];
}

/* t = A B for one to three vectors of columns: rows a0, a1, a2 of A (k each), k rows of B, ldb apart. */
EMBI_KERNEL void embi_tile_part(int vectors, int k, const embipc_real *a0, const embipc_real *a1,
                                const embipc_real *a2, const embipc_real *b, int ldb, embipc_real *t)
{
    const embi_vec zero = {0};
    embi_vec c00 = zero, c01 = zero, c02 = zero, c10 = zero, c11 = zero, c12 = zero;
    embi_vec c20 = zero, c21 = zero, c22 = zero, v;
    for (int p = 0; p < k; p++, b += ldb) {
        v = embi_load(b);
        c00 += v * a0[p]; c10 += v * a1[p]; c20 += v * a2[p];
        if (vectors < 2) continue;
        v = embi_load(b + EMBI_LANES);
        c01 += v * a0[p]; c11 += v * a1[p]; c21 += v * a2[p];
        if (vectors < 3) continue;
        v = embi_load(b + 2 * EMBI_LANES);
        c02 += v * a0[p]; c12 += v * a1[p]; c22 += v * a2[p];
    }
    embi_store(t, c00); embi_store(t + EMBI_TILE, c10); embi_store(t + 2 * EMBI_TILE, c20);
    if (vectors < 2) return;
    t += EMBI_LANES;
    embi_store(t, c01); embi_store(t + EMBI_TILE, c11); embi_store(t + 2 * EMBI_TILE, c21);
    if (vectors < 3) return;
    t += EMBI_LANES;
    embi_store(t, c02); embi_store(t + EMBI_TILE, c12); embi_store(t + 2 * EMBI_TILE, c22);
}

#if EMBI_WIDE
/* the same in vectors of four */
EMBI_KERNEL void embi_tile_wide(int vectors, int k, const embipc_real *a0, const embipc_real *a1,
                                const embipc_real *a2, const embipc_real *b, int ldb, embipc_real *t)
{
    const embi_wide zero = {0};
    const size_t size = sizeof zero;
    embi_wide c00 = zero, c01 = zero, c02 = zero, c10 = zero, c11 = zero, c12 = zero;
    embi_wide c20 = zero, c21 = zero, c22 = zero, v;
    for (int p = 0; p < k; p++, b += ldb) {
        memcpy(&v, b, size);
        c00 += v * a0[p]; c10 += v * a1[p]; c20 += v * a2[p];
        if (vectors < 2) continue;
        memcpy(&v, b + 4, size);
        c01 += v * a0[p]; c11 += v * a1[p]; c21 += v * a2[p];
        if (vectors < 3) continue;
        memcpy(&v, b + 8, size);
        c02 += v * a0[p]; c12 += v * a1[p]; c22 += v * a2[p];
    }
    memcpy(t, &c00, size); memcpy(t + EMBI_TILE, &c10, size); memcpy(t + 2 * EMBI_TILE, &c20, size);
    if (vectors < 2) return;
    t += 4;
    memcpy(t, &c01, size); memcpy(t + EMBI_TILE, &c11, size); memcpy(t + 2 * EMBI_TILE, &c21, size);
    if (vectors < 3) return;
    t += 4;
    memcpy(t, &c02, size); memcpy(t + EMBI_TILE, &c12, size); memcpy(t + 2 * EMBI_TILE, &c22, size);
}
#endif

/* t = A B for the first columns, at least, of one tile: three rows of A, k rows of B. wide: with AVX. */
EMBI_KERNEL void embi_tile(int wide, int columns, int k, const embipc_real *a0, const embipc_real *a1,
                           const embipc_real *a2, const embipc_real *b, int ldb,
                           embipc_real t[3 * EMBI_TILE])
{
#if EMBI_WIDE
    if (wide) {
        if (columns > 8) embi_tile_wide(3, k, a0, a1, a2, b, ldb, t);
        else if (columns > 4) embi_tile_wide(2, k, a0, a1, a2, b, ldb, t);
        else embi_tile_wide(1, k, a0, a1, a2, b, ldb, t);
        return;
    }
#endif
    (void)wide;
    for (int j = 0; j < columns; j += 3 * EMBI_LANES) {
        if (columns - j > 2 * EMBI_LANES) embi_tile_part(3, k, a0, a1, a2, b + j, ldb, t + j);
        else if (columns - j > EMBI_LANES) embi_tile_part(2, k, a0, a1, a2, b + j, ldb, t + j);
        else embi_tile_part(1, k, a0, a1, a2, b + j, ldb, t + j);
    }
}

EMBI_KERNEL void embi_strip_kernel(int wide, int m, int n, int k, const embipc_real *a, int lda,
                                   const embipc_real *b, int ldb, embipc_real *c, int ldc, const int *place)
{
    const embipc_real *a1 = m > 1 ? a + lda : a, *a2 = m > 2 ? a1 + lda : a1;
    for (int j = 0; j < n; j += EMBI_TILE) {
        embipc_real t[3 * EMBI_TILE];
        int columns = embi_min_int(n - j, EMBI_TILE);
        embi_tile(wide, columns, k, a, a1, a2, b + j, ldb, t);
        if (!place) {
            if (m == 3 && columns == EMBI_TILE) embi_tile_subtract(3, EMBI_TILE, t, c + j, ldc);
            else embi_tile_subtract(m, columns, t, c + j, ldc);
        } else
            for (int i = 0; i < m; i++)
                for (int q = 0; q < columns; q += 3) {
                    embipc_real *to = c + (size_t)i * (size_t)ldc + place[(j + q) / 3];
                    const embipc_real *from = t + i * EMBI_TILE + q;
                    to[0] -= from[0];
                    to[1] -= from[1];
                    to[2] -= from[2];
                }
    }
}

/* what columns from .. columns - 1 get */
EMBI_KERNEL void embi_update_kernel(int wide, int begin, int end, int from, int w, int columns, embipc_real *U,
                                    int ld)
{
    embipc_real b[EMBI_BLOCK * EMBI_TILE], t[3 * EMBI_TILE];
    for (int j = from; j < columns; j += EMBI_TILE) {
        int n = embi_min_int(columns - j, EMBI_TILE), last = embi_min_int(w, j + n);
        for (int p = begin; p < end; p++)
            for (int q = 0; q < EMBI_TILE; q++)
                b[(p - begin) * EMBI_TILE + q] =
                    q < n ? U[(size_t)p * (size_t)ld + (size_t)(j + q)] : (embipc_real)0;
        for (int i = end; i < last; i += 3) {
            embipc_real *row = U + (size_t)i * (size_t)ld;
            const embipc_real *a = row + begin, *a1 = i + 1 < w ? a + ld : a, *a2 = i + 2 < w ? a1 + ld : a1;
            embi_tile(wide, n, end - begin, a, a1, a2, b, EMBI_TILE, t);
            if (i + 3 <= w && n == EMBI_TILE) embi_tile_subtract(3, EMBI_TILE, t, row + j, ld);
            else embi_tile_subtract(embi_min_int(3, w - i), n, t, row + j, ld);
        }
    }
}

#if EMBI_WIDE
__attribute__((target("avx"))) static void embi_strip_wide(int m, int n, int k, const embipc_real *a, int lda,
                                                           const embipc_real *b, int ldb, embipc_real *c,
                                                           int ldc, const int *place)
{
    embi_strip_kernel(1, m, n, k, a, lda, b, ldb, c, ldc, place);
}

__attribute__((target("avx"))) static void embi_update_wide(int begin, int end, int from, int w,
                                                            int columns, embipc_real *U, int ld)
{
    embi_update_kernel(1, begin, end, from, w, columns, U, ld);
}

static int embi_has_wide(void) { return __builtin_cpu_supports("avx"); }
#endif

/* C -= A B for m <= 3 rows of C, n columns, k rows of B. Column j of the product goes to column j, or, unless
 * place is NULL, columns 3 i .. 3 i + 2 go to place[i] .. place[i] + 2 of C. Up to EMBI_TILE - 1 numbers behind a
 * row of B are read (and not used): they must be there. */
static void embi_strip_subtract(int m, int n, int k, const embipc_real *a, int lda, const embipc_real *b,
                                int ldb, embipc_real *c, int ldc, const int *place)
{
#if EMBI_WIDE
    if (embi_has_wide()) {
        embi_strip_wide(m, n, k, a, lda, b, ldb, c, ldc, place);
        return;
    }
#endif
    embi_strip_kernel(0, m, n, k, a, lda, b, ldb, c, ldc, place);
}

/* ---- Dense panels: w rows, `columns` >= w columns, the square first. In: the upper triangle of the
 * square and all that follows it. Out: U there, D on the diagonal, L below it. */

typedef struct embi_pivots {
    const embipc_real *diagonal;   /* of A, by unknown; NULL: found again from the factor */
    embipc_real biggest;           /* max |a_ii| */
    int replaced;
} embi_pivots;

/* D_k from what the elimination left of a_kk: itself, or its replacement (see the banner). */
static embipc_real embi_pivot(embi_pivots *p, const embipc_real *U, int ld, int k)
{
    const embipc_real tiny = 64 * EMBI_EPS, *row = U + (size_t)k * (size_t)ld;
    embipc_real d = row[k], a = d;
    if (d > tiny * p->biggest) return d;   /* true of nearly all, and |a_kk| <= biggest */
    if (p->diagonal) a = p->diagonal[k];
    else
        for (int i = 0; i < k; i++) a += row[i] * row[i] * U[(size_t)i * (size_t)(ld + 1)];
    if (d > tiny * embi_abs(a)) return d;
    p->replaced++;
    return p->biggest > 0 ? embi_max(p->biggest, -d) : (embipc_real)1;
}

/* Eliminates within rows k .. k + m - 1, to which all earlier rows have been applied. 0: not finite. */
static int embi_strip_factor(int k, int m, int w, int columns, embipc_real *U, int ld, embi_pivots *pivots)
{
    embipc_real inverse[3] = {0, 0, 0};
    embipc_real *strip = U + (size_t)k * (size_t)ld;
    int behind = k + m;
    for (int r = 0; r < m; r++) {   /* the m x m head, with its L */
        embipc_real *row = strip + (size_t)r * (size_t)ld;
        for (int p = 0; p < r; p++)
            for (int j = k + r; j < behind; j++)
                row[j] -= row[k + p] * strip[(size_t)p * (size_t)ld + (size_t)j];
        if (!embi_finite(row[k + r])) return 0;
        row[k + r] = embi_pivot(pivots, U, ld, k + r);
        inverse[r] = 1 / row[k + r];
        for (int s = r + 1; s < m; s++)
            strip[(size_t)s * (size_t)ld + (size_t)(k + r)] = row[k + s] * inverse[r];
    }
    for (int r = 1; r < m; r++) {   /* the rows behind it */
        embipc_real *row = strip + (size_t)r * (size_t)ld;
        for (int p = 0; p < r; p++)
            embi_row_subtract(columns - behind, row[k + p], strip + (size_t)p * (size_t)ld + behind,
                              row + behind);
    }
    for (int j = behind; j < w; j++) {   /* L, the transpose */
        embipc_real *row = U + (size_t)j * (size_t)ld + k;
        for (int r = 0; r < m; r++) row[r] = strip[(size_t)r * (size_t)ld + (size_t)j] * inverse[r];
    }
    return 1;
}

typedef struct embi_panel_task {
    int begin, end, w, columns, ld;
    embipc_real *U;
} embi_panel_task;

/* tiles first .. last - 1 of those behind `end` */
static void embi_panel_range(void *arg, int first, int last)
{
    const embi_panel_task *t = (const embi_panel_task *)arg;
    int from = t->end + first * EMBI_TILE, columns = embi_min_int(t->columns, t->end + last * EMBI_TILE);
#if EMBI_WIDE
    if (embi_has_wide()) {
        embi_update_wide(t->begin, t->end, from, t->w, columns, t->U, t->ld);
        return;
    }
#endif
    embi_update_kernel(0, t->begin, t->end, from, t->w, columns, t->U, t->ld);
}

/* The rows from `end` on lose the part of rows begin .. end - 1. Tiles of U are copied together first: they
 * are used by every strip above them. Below the diagonal, where nothing stands yet, rubbish is written.
 * Threads take so many tiles at a time that they multiply 3e5 numbers at least. */
static void embi_panel_update(const embi_threads *threads, int begin, int end, int w, int columns, embipc_real *U,
                              int ld)
{
    embi_panel_task t;
    if (end >= w) return;
    t.begin = begin;
    t.end = end;
    t.w = w;
    t.columns = columns;
    t.ld = ld;
    t.U = U;
    embi_for(threads, (columns - end - 1) / EMBI_TILE + 1,
             1 + EMBI_SHARE(300000) / (EMBI_TILE * (end - begin) * embi_min_int(w - end, 25000)),
             embi_panel_range, &t);
}

/* Factors the panel. EMBI_TILE - 1 numbers behind each of its rows but the last must exist. 0: not finite. */
static int embi_panel_factor(const embi_threads *threads, int w, int columns, embipc_real *U, int ld,
                             embi_pivots *pivots)
{
    for (int begin = 0; begin < w; begin += EMBI_BLOCK) {
        int end = embi_min_int(begin + EMBI_BLOCK, w);
        for (int k = begin; k < end; k += 3) {
            int m = embi_min_int(3, end - k);
            embipc_real *row = U + (size_t)k * (size_t)ld;
            embi_strip_subtract(m, columns - k, k - begin, row + begin, ld,
                                U + (size_t)begin * (size_t)ld + (size_t)k, ld, row + k, ld, NULL);
            if (!embi_strip_factor(k, m, w, columns, U, ld, pivots)) return 0;
        }
        embi_panel_update(threads, begin, end, w, columns, U, ld);
    }
    return 1;
}

EMBIPC_API int embipc_dense_ldlt_factor(int n, embipc_real *A, int ld)
{
    embi_pivots pivots = {NULL, 0, 0};
    for (int i = 0; i < n; i++) {
        embipc_real *row = A + (size_t)i * (size_t)ld;
        pivots.biggest = embi_max(pivots.biggest, embi_abs(row[i]));
        for (int j = 0; j < i; j++) A[(size_t)j * (size_t)ld + (size_t)i] = row[j];
    }
    if (ld >= EMBI_TILE) return embi_panel_factor(NULL, n, n, A, ld, &pivots) ? pivots.replaced : -1;
    /* smaller than one tile: row by row, as in the banner */
    for (int k = 0; k < n; k++) {
        embipc_real *row = A + (size_t)k * (size_t)ld;
        for (int p = 0; p < k; p++)
            for (int j = k; j < n; j++) row[j] -= row[p] * A[p * ld + j];
        if (!embi_finite(row[k])) return -1;
        row[k] = embi_pivot(&pivots, A, ld, k);
        for (int j = k + 1; j < n; j++) A[j * ld + k] = row[j] / row[k];
    }
    return pivots.replaced;
}

EMBIPC_API void embipc_dense_ldlt_solve(int n, const embipc_real *LD, int ld, embipc_real *b)
{
    for (int i = 0; i < n; i++) b[i] -= embi_row_dot(i, LD + (size_t)i * (size_t)ld, b);
    for (int i = 0; i < n; i++) b[i] /= LD[(size_t)i * (size_t)(ld + 1)];
    for (int i = n - 1; i > 0; i--) embi_row_subtract(i, b[i], LD + (size_t)i * (size_t)ld, b);
}

/* ---- Order: approximate minimum degree. The graph of what is left to eliminate is kept as a quotient
 * graph: nodes, and elements. An element is an eliminated node and stands for the clique its elimination
 * made; an element whose nodes all lie in a newer one is absorbed by it. Nodes that cannot be told apart
 * are merged into one of them, which stands for all. */

typedef struct embi_amd {
    int n, left;          /* nodes still to eliminate */
    int used;             /* of list */
    int *start, *length;  /* i's part of list: a node's elements, then its nodes; an element's nodes */
    int *elements;        /* how many of a node's list are elements */
    int *size;            /* nodes that i stands for; 0: none (any more); negated while in the new element */
    int *degree;          /* node: bound of the number of nodes next to it */
    int *weight;          /* element: number of its nodes, 0 when it is absorbed */
    int *outside, *seen;  /* element: nodes outside the new element p, valid when seen == p */
    int *head, *next, *prev;   /* (n + 1), (n), (n): nodes by degree; later in the round: nodes by hash */
    int *bucket;          /* by hash */
    int *mark;            /* (n) of list entries, against `stamp` */
    int *chain, *chain_end;    /* the nodes that i stands for, in a list that begins with i itself */
    int *list;            /* capacity in the owner */
    int stamp, lowest;    /* no node has a degree below lowest */
} embi_amd;

static void embi_amd_insert(embi_amd *q, int i)
{
    int d = q->degree[i], first = q->head[d];
    q->next[i] = first;
    q->prev[i] = -1;
    if (first >= 0) q->prev[first] = i;
    q->head[d] = i;
    q->lowest = embi_min_int(q->lowest, d);
}

static void embi_amd_remove(embi_amd *q, int i)
{
    if (q->prev[i] >= 0) q->next[q->prev[i]] = q->next[i];
    else q->head[q->degree[i]] = q->next[i];
    if (q->next[i] >= 0) q->prev[q->next[i]] = q->prev[i];
}

/* i joins the chain of p and is no more */
static void embi_amd_merge(embi_amd *q, int p, int i)
{
    q->chain[q->chain_end[p]] = i;
    q->chain_end[p] = q->chain_end[i];
    q->size[i] = 0;
}

/* Appends the nodes of list[from .. from + count) that are alive to the new element. Returns their weight. */
static int embi_amd_gather(embi_amd *q, int from, int count)
{
    int weight = 0;
    for (int k = from; k < from + count; k++) {
        int i = q->list[k], size = q->size[i];
        if (size <= 0) continue;   /* gone, or in the new element already */
        q->size[i] = -size;
        q->list[q->used++] = i;
        weight += size;
        embi_amd_remove(q, i);
    }
    return weight;
}

/* Node p becomes an element: all nodes next to it. Room for them is there. */
static void embi_amd_eliminate(embi_amd *q, int p)
{
    int begin = q->used, from = q->start[p], elements = q->elements[p], weight = 0;
    q->left -= q->size[p];
    q->size[p] = 0;
    for (int k = from; k < from + elements; k++) {
        int e = q->list[k];
        if (!q->weight[e]) continue;
        weight += embi_amd_gather(q, q->start[e], q->length[e]);
        q->weight[e] = 0;   /* absorbed */
    }
    weight += embi_amd_gather(q, from + elements, q->length[p] - elements);
    q->start[p] = begin;
    q->length[p] = q->used - begin;
    q->weight[p] = weight;
}

/* For every element next to the nodes of p: how many of its nodes lie outside p. */
static void embi_amd_count_outside(embi_amd *q, int p)
{
    for (int k = q->start[p]; k < q->start[p] + q->length[p]; k++) {
        int i = q->list[k];
        for (int m = q->start[i]; m < q->start[i] + q->elements[i]; m++) {
            int e = q->list[m];
            if (!q->weight[e]) continue;
            if (q->seen[e] != p) { q->seen[e] = p; q->outside[e] = q->weight[e]; }
            q->outside[e] += q->size[i];   /* which is negated */
        }
    }
}

/* Rewrites the list of node i of the new element p: elements that lie within p go, so do nodes of p, and p
 * comes in (in a place that is free, as i was next to p by an entry that went). Puts i into a bucket for
 * the comparison, or lets p take it along when nothing but p is next to it. */
static void embi_amd_update(embi_amd *q, int p, int i)
{
    int begin = q->start[i], middle = begin + q->elements[i], end = begin + q->length[i];
    int out = begin, degree = 0;
    unsigned hash = 0;
    for (int k = begin; k < middle; k++) {
        int e = q->list[k];
        if (!q->weight[e]) continue;
        if (q->outside[e] == 0) { q->weight[e] = 0; continue; }
        q->list[out++] = e;
        degree += q->outside[e];
        hash += (unsigned)e;
    }
    q->elements[i] = out - begin + 1;
    for (int k = middle; k < end; k++) {
        int j = q->list[k];
        if (q->size[j] <= 0) continue;
        q->list[out++] = j;
        degree += q->size[j];
        hash += (unsigned)j;
    }
    if (degree == 0) {   /* mass elimination */
        q->left += q->size[i];
        q->weight[p] += q->size[i];
        embi_amd_merge(q, p, i);
        return;
    }
    middle = begin + q->elements[i] - 1;
    q->list[out] = q->list[middle];
    q->list[middle] = p;
    q->length[i] = out + 1 - begin;
    q->degree[i] = embi_min_int(q->degree[i], degree);
    hash = (hash + (unsigned)p) % (unsigned)q->n;
    q->prev[i] = (int)hash;
    q->next[i] = q->bucket[hash];
    q->bucket[hash] = i;
}

/* Merges the nodes of the bucket of i that have the same list as i, then as the next one, ... */
static void embi_amd_compare(embi_amd *q, int i)
{
    int hash = q->prev[i], first = q->bucket[hash];
    q->bucket[hash] = -1;
    for (i = first; i >= 0 && q->next[i] >= 0; i = q->next[i]) {
        int before = i;
        q->stamp++;
        for (int k = q->start[i]; k < q->start[i] + q->length[i]; k++) q->mark[q->list[k]] = q->stamp;
        for (int j = q->next[i]; j >= 0; j = q->next[j]) {
            int same = q->length[j] == q->length[i] && q->elements[j] == q->elements[i];
            for (int k = q->start[j]; same && k < q->start[j] + q->length[j]; k++)
                same = q->mark[q->list[k]] == q->stamp;
            if (!same) { before = j; continue; }
            q->size[i] += q->size[j];
            embi_amd_merge(q, i, j);
            q->next[before] = q->next[j];
        }
    }
}

/* What is left of the new element's nodes goes back among the nodes to choose from. */
static void embi_amd_finish(embi_amd *q, int p)
{
    int begin = q->start[p], out = begin;
    for (int k = begin; k < begin + q->length[p]; k++) {
        int i = q->list[k], size = -q->size[i];
        if (size == 0) continue;
        q->size[i] = size;
        q->degree[i] = embi_min_int(q->degree[i] + q->weight[p] - size, q->left - size);
        embi_amd_insert(q, i);
        q->list[out++] = i;
    }
    q->length[p] = out - begin;
    q->used = out;
}

/* ---- The sparse factor ----------------------------------------------------------------------
 * Shared by threads: subtrees of the tree of supernodes know nothing of each other. What is in them goes to
 * EMBI_TASKS tasks by its cost alone, however many threads there are; what is above follows in order, its rows
 * shared out in each supernode. */

#define EMBI_TASKS 16
#define EMBI_SHARE_FACTOR EMBI_SHARE(40000)   /* least cost of a factor that is shared, in block multiplications */
#define EMBI_SHARE_SOLVE EMBI_SHARE(500000)   /* numbers in a factor whose solution is: 0.4 ms */
#define EMBI_SHARE_PULL EMBI_SHARE(10000)     /* and of what one supernode gets */

typedef struct embi_ldlt {
    int n, supernodes;
    int *index; int index_cap;   /* one allocation for these, positions being places in the order: */
    int *order;         /* (n) the node eliminated k-th */
    int *place;         /* (n) its inverse: position of a node */
    int *owner;         /* (n) supernode of a position */
    int *first;         /* (n + 1) first position of a supernode */
    int *row_start;     /* (n + 1) its part of row */
    int *panel;         /* (n + 1) its part of value */
    int *touched;       /* (n) supernode: holds more than the constant part of the matrix */
    int *open;          /* (n) supernode: to be factored again, when `partial` */
    int *task;          /* (n) supernode: the task whose subtrees it is in, or -1 */
    int *member;        /* (n) supernodes by task, ascending */
    int member_start[EMBI_TASKS + 1];
    int tasks;          /* 0: too little to be shared */
    int lanes;          /* tasks of a solution, or 1 where it is not worth it */
    const embi_threads *threads;   /* NULL: serial */
    int partial;        /* the supernodes that are not open keep their factor */
    int *row; int row_cap;               /* positions behind a supernode in its rows of U, ascending */
    embipc_real *value; int value_cap;   /* panels */
    embipc_real *vector; int vector_cap; /* (3n) diagonal of A, (3n) 1 / D, (3n) x, (3n for each lane) gathered,
                                            and again, sent up */
    int *work; int work_cap;             /* scratch of the analysis and of the factorisation */
    int *adjacent; int adjacent_cap;     /* the graph, both directions, and the lists of the order */
    int *slot; int slot_cap;   /* (2 per block of the analysed pattern) its offset in value, and the distance
                                  of its rows, negative where it is stored transposed */
    embipc_real cost;   /* of one factorisation, in multiplications of two 3x3 blocks, by embi_panel_cost */
} embi_ldlt;

static void embi_ldlt_free(embi_memory *m, embi_ldlt *F)
{
    EMBI_RELEASE(m, F->index, F->index_cap);
    EMBI_RELEASE(m, F->row, F->row_cap);
    EMBI_RELEASE(m, F->value, F->value_cap);
    EMBI_RELEASE(m, F->vector, F->vector_cap);
    EMBI_RELEASE(m, F->work, F->work_cap);
    EMBI_RELEASE(m, F->adjacent, F->adjacent_cap);
    EMBI_RELEASE(m, F->slot, F->slot_cap);
    F->n = F->supernodes = 0;
}

/* The neighbours of every node, both directions, in F->adjacent[start[i] .. start[i + 1]); start (n + 1). */
static int embi_ldlt_graph(embi_memory *m, embi_ldlt *F, const embi_bsr *A, int *start)
{
    int n = A->n, sum = 0;
    memset(start, 0, (size_t)(n + 1) * sizeof *start);
    for (int i = 0; i < n; i++)
        for (int k = A->row[i]; k < A->row[i + 1] - 1; k++) { start[i]++; start[A->col[k]]++; }
    for (int i = 0; i <= n; i++) { sum += start[i]; start[i] = sum; }
    if (!EMBI_GROW(m, int, F->adjacent, F->adjacent_cap, sum + 1)) return 0;
    for (int i = n - 1; i >= 0; i--)   /* from the back, so that start ends up at the begin of each list */
        for (int k = A->row[i + 1] - 2; k >= A->row[i]; k--) {
            F->adjacent[--start[i]] = A->col[k];
            F->adjacent[--start[A->col[k]]] = i;
        }
    return 1;
}

/* Sets up the quotient graph on the work arrays (15 n + 1 ints), with a copy of the graph as its lists. */
static void embi_amd_begin(embi_amd *q, int n, const int *graph_start, int *work)
{
    int **const arrays[14] = {&q->start, &q->length, &q->elements, &q->size, &q->degree, &q->weight,
                              &q->outside, &q->seen, &q->next, &q->prev, &q->bucket, &q->mark, &q->chain,
                              &q->chain_end};
    memset(q, 0, sizeof *q);
    for (int k = 0; k < 14; k++, work += n) *arrays[k] = work;
    q->head = work;
    q->n = q->left = q->lowest = n;
    for (int i = 0; i <= n; i++) q->head[i] = -1;
    for (int i = 0; i < n; i++) {
        q->start[i] = graph_start[n] + graph_start[i];   /* behind the graph itself */
        q->length[i] = q->degree[i] = graph_start[i + 1] - graph_start[i];
        q->elements[i] = q->weight[i] = q->mark[i] = 0;
        q->size[i] = 1;
        q->seen[i] = q->bucket[i] = q->chain[i] = -1;
        q->chain_end[i] = i;
    }
    for (int i = n - 1; i >= 0; i--) embi_amd_insert(q, i);   /* of equal degrees the smallest index first */
    q->used = 2 * graph_start[n];
}

/* order[k]: the node to eliminate k-th. The graph is at F->adjacent and stays; the lists stand behind it. */
static int embi_amd_order(embi_memory *m, embi_ldlt *F, int n, const int *graph_start, int *order, int *work)
{
    embi_amd q;
    int edges = graph_start[n], done = 0;
    if (edges > (INT_MAX - n) / 4) { m->failed = 1; return 0; }
    if (!EMBI_GROW(m, int, F->adjacent, F->adjacent_cap, 3 * edges + n)) return 0;
    memcpy(F->adjacent + edges, F->adjacent, (size_t)edges * sizeof(int));
    embi_amd_begin(&q, n, graph_start, work);
    while (q.left > 0) {
        int p, begin, end;
        if (!EMBI_GROW(m, int, F->adjacent, F->adjacent_cap, q.used + q.left)) return 0;
        q.list = F->adjacent;
        while (q.head[q.lowest] < 0) q.lowest++;
        p = q.head[q.lowest];
        embi_amd_remove(&q, p);
        embi_amd_eliminate(&q, p);
        begin = q.start[p];
        end = begin + q.length[p];
        embi_amd_count_outside(&q, p);
        for (int k = begin; k < end; k++) embi_amd_update(&q, p, q.list[k]);
        for (int k = begin; k < end; k++) {
            int i = q.list[k];
            if (q.size[i] != 0 && q.bucket[q.prev[i]] >= 0) embi_amd_compare(&q, i);
        }
        embi_amd_finish(&q, p);
        for (int i = p; i >= 0; i = q.chain[i]) order[done++] = i;
    }
    return 1;
}

/* Elimination tree: parent[k] is the first position behind k in column k of L, -1 at a root; and
 * below[k], how many positions there are in that column. order and place are given. [Liu 1990]
 * The nonzeros of row k of L are the nodes on the paths up the tree from those of row k of A to k. */
static void embi_ldlt_tree(int n, const int *start, const int *adjacent, const int *order, const int *place,
                           int *parent, int *below, int *mark)
{
    for (int k = 0; k < n; k++) {
        int i = order[k];
        parent[k] = -1;
        below[k] = 0;
        mark[k] = k;
        for (int m = start[i]; m < start[i + 1]; m++) {
            int j = place[adjacent[m]];
            if (j > k) continue;
            for (; mark[j] != k; j = parent[j]) {
                if (parent[j] < 0) parent[j] = k;
                below[j]++;
                mark[j] = k;
            }
        }
    }
}

/* Estimated work for a supernode of w nodes with r behind it, in block multiplications: those of its
 * elimination, then a share per block that is sent on (found and added elsewhere), and per panel.
 * The shares were measured: on tet meshes of 300 to 2000 nodes the optimum is flat around them. */
static embipc_real embi_panel_cost(int w, int r)
{
    const embipc_real per_block = 2, per_row = 12, per_panel = 40;
    embipc_real a = (embipc_real)(w + r), b = (embipc_real)r;
    embipc_real multiplications = (a * (a + 1) * (a + 2) - b * (b + 1) * (b + 2)) / 6;
    return multiplications + per_block * b * (b + 1) / 2 + per_row * a + per_panel;
}

/* Cuts the order into supernodes: every position begins as its own, and swallows a child in the tree when
 * one panel for both costs no more than two. In: parent, below. Out: into[k] = k at the last position of a
 * supernode and the swallower elsewhere; chain from head[k]: its positions, width[k] of them; below[k]: the
 * rows behind it. */
static embipc_real embi_ldlt_merge(int n, const int *parent, int *below, int *width, int *into, int *head,
                                   int *tail, int *chain, int *child, int *sibling)
{
    embipc_real total = 0;
    for (int k = 0; k < n; k++) child[k] = -1;
    for (int k = 0; k < n; k++) {
        width[k] = 1;
        into[k] = head[k] = tail[k] = k;
        chain[k] = -1;
        for (int exact = 1; exact >= 0; exact--)   /* first those that fit without a zero */
            for (int c = child[k]; c >= 0; c = sibling[c]) {
                int wc = width[c], rc = below[c], w = width[k], r = below[k];
                if (into[c] != c || (exact && rc != w + r)) continue;
                if (embi_panel_cost(w + wc, r) > embi_panel_cost(w, r) + embi_panel_cost(wc, rc)) continue;
                into[c] = k;
                width[k] += wc;
                chain[tail[c]] = head[k];
                head[k] = head[c];
            }
        if (parent[k] >= 0) {
            sibling[k] = child[parent[k]];
            child[parent[k]] = k;
        }
    }
    for (int k = 0; k < n; k++)
        if (into[k] == k) total += embi_panel_cost(width[k], below[k]);
    return total;
}

/* Numbers supernodes and positions anew, supernode by supernode, and turns into[] into the tree of
 * supernodes: above[s], or -1. below: rows behind each, which go to row_start[s + 1]. */
static void embi_ldlt_number(embi_ldlt *F, const int *parent, const int *below, int *into, const int *head,
                             const int *chain, int *above, int *old_order, int *number)
{
    int n = F->n, done = 0;
    memcpy(old_order, F->order, (size_t)n * sizeof(int));
    F->supernodes = 0;
    for (int k = 0; k < n; k++) {
        if (into[k] != k) continue;
        number[k] = F->supernodes;
        F->first[F->supernodes] = done;
        F->row_start[F->supernodes + 1] = below[k];
        for (int i = head[k]; i >= 0; i = chain[i]) {
            F->owner[done] = F->supernodes;
            F->order[done] = old_order[i];
            F->place[old_order[i]] = done++;
        }
        F->supernodes++;
    }
    F->first[F->supernodes] = n;
    for (int k = n - 1; k >= 0; k--) {
        if (into[k] != k) { into[k] = into[into[k]]; continue; }   /* now its supernode's last position */
        above[number[k]] = parent[k] < 0 ? -1 : number[into[parent[k]]];
    }
}

/* The rows of every supernode, by climbing the tree of supernodes from each row's entries in A, which leaves
 * them ascending. How many there are is known: row_start[s + 1] holds the count of s on entry. */
static int embi_ldlt_rows(embi_memory *m, embi_ldlt *F, const int *start, const int *above, int *mark,
                          int *next)
{
    F->row_start[0] = 0;
    for (int s = 0; s < F->supernodes; s++) {
        mark[s] = -1;
        next[s] = F->row_start[s];
        if (F->row_start[s + 1] > INT_MAX - F->row_start[s]) { m->failed = 1; return 0; }
        F->row_start[s + 1] += F->row_start[s];
    }
    if (!EMBI_GROW(m, int, F->row, F->row_cap, F->row_start[F->supernodes])) return 0;
    for (int k = 0; k < F->n; k++) {
        int i = F->order[k], own = F->owner[k];
        for (int a = start[i]; a < start[i + 1]; a++) {
            int j = F->place[F->adjacent[a]];
            if (j >= k) continue;
            for (int s = F->owner[j]; s != own && mark[s] != k; s = above[s]) {
                mark[s] = k;
                F->row[next[s]++] = k;
            }
        }
    }
    return 1;
}

/* rows of supernode s below its own, in nodes */
static int embi_ldlt_row_count(const embi_ldlt *F, int s) { return F->row_start[s + 1] - F->row_start[s]; }

/* unknowns of supernode s */
static int embi_ldlt_width(const embi_ldlt *F, int s) { return 3 * (F->first[s + 1] - F->first[s]); }

/* columns of its panel */
static int embi_ldlt_columns(const embi_ldlt *F, int s)
{
    return embi_ldlt_width(F, s) + 3 * embi_ldlt_row_count(F, s);
}

/* distance of its rows: a multiple of four, whole vectors */
static int embi_ldlt_stride(const embi_ldlt *F, int s) { return (embi_ldlt_columns(F, s) + 3) & ~3; }

/* Places the panels, so far apart that what is read behind the last row of one is not in the next, on which another
 * thread may work; and gets all memory that the factorisation and the solution need. */
static int embi_ldlt_place_panels(embi_memory *m, embi_ldlt *F)
{
    F->panel[0] = 0;
    for (int s = 0; s < F->supernodes; s++) {
        int w = embi_ldlt_width(F, s), ld = embi_ldlt_stride(F, s);
        if (ld > (INT_MAX - 2 * EMBI_TILE - F->panel[s]) / w) { m->failed = 1; return 0; }
        F->panel[s + 1] = F->panel[s] + w * ld + EMBI_TILE;
    }
    F->lanes = F->tasks && F->panel[F->supernodes] >= EMBI_SHARE_SOLVE ? F->tasks : 1;
    return EMBI_ROOM(m, embipc_real, F->value, F->value_cap, F->panel[F->supernodes] + EMBI_TILE) &&
           EMBI_GROW(m, embipc_real, F->vector, F->vector_cap, (F->lanes > 1 ? 9 + 6 * F->lanes : 12) * F->n) &&
           EMBI_GROW(m, int, F->work, F->work_cap, (F->tasks ? 4 + 2 * EMBI_TASKS : 5) * F->n);
}

/* the supernode that supernode s sends to first, its parent in the tree; -1 at a root */
static int embi_ldlt_parent(const embi_ldlt *F, int s)
{
    return embi_ldlt_row_count(F, s) ? F->owner[F->row[F->row_start[s]]] : -1;
}

/* Cuts the tree where the cost of a subtree falls below a share of the whole, and gives the subtrees to tasks,
 * each to the one with the least so far. */
static int embi_ldlt_share(embi_memory *m, embi_ldlt *F)
{
    embipc_real *cost, load[EMBI_TASKS] = {0};
    if (F->cost < EMBI_SHARE_FACTOR || F->n > INT_MAX / 128) return 1;
    if (!EMBI_GROW(m, embipc_real, F->vector, F->vector_cap, 12 * F->n)) return 0;
    cost = F->vector;
    memset(cost, 0, (size_t)F->supernodes * sizeof *cost);
    for (int s = 0; s < F->supernodes; s++) {
        int parent = embi_ldlt_parent(F, s);
        cost[s] += embi_panel_cost(F->first[s + 1] - F->first[s], embi_ldlt_row_count(F, s));
        if (parent >= 0) cost[parent] += cost[s];
    }
    F->tasks = EMBI_TASKS;
    for (int s = F->supernodes - 1; s >= 0; s--) {
        int parent = embi_ldlt_parent(F, s), least = 0;
        F->task[s] = parent >= 0 ? F->task[parent] : -1;
        if (F->task[s] >= 0 || cost[s] > F->cost / EMBI_TASKS) continue;
        for (int k = 1; k < EMBI_TASKS; k++)
            if (load[k] < load[least]) least = k;
        load[least] += cost[s];
        F->task[s] = least;
    }
    F->member_start[0] = 0;
    for (int k = 0, used = 0; k < EMBI_TASKS; k++) {
        for (int s = 0; s < F->supernodes; s++)
            if (F->task[s] == k) F->member[used++] = s;
        F->member_start[k + 1] = used;
    }
    return 1;
}

/* Finds the slot of every block of A. Blocks are listed by the supernode that holds them, so that the columns
 * of its panel are looked up in a table and not searched for each time. */
static int embi_ldlt_slots(embi_memory *m, embi_ldlt *F, const embi_bsr *A)
{
    int *first_block = F->work, *column = F->work + F->n, *slot;
    if (A->row[A->n] > INT_MAX / 2) { m->failed = 1; return 0; }
    if (!EMBI_GROW(m, int, F->slot, F->slot_cap, 2 * A->row[A->n])) return 0;
    slot = F->slot;
    for (int s = 0; s < F->supernodes; s++) first_block[s] = -1;
    for (int i = 0; i < A->n; i++)
        for (int k = A->row[i]; k < A->row[i + 1]; k++) {
            int s = F->owner[embi_min_int(F->place[i], F->place[A->col[k]])];
            slot[2 * k] = first_block[s];   /* the next in the list, for now, and the row */
            slot[2 * k + 1] = i;
            first_block[s] = k;
        }
    for (int s = 0; s < F->supernodes; s++) {
        int first = F->first[s], nodes = F->first[s + 1] - first, rows = embi_ldlt_row_count(F, s);
        int stride = embi_ldlt_stride(F, s);
        for (int k = 0; k < nodes; k++) column[first + k] = k;
        for (int k = 0; k < rows; k++) column[F->row[F->row_start[s] + k]] = nodes + k;
        for (int k = first_block[s], next; k >= 0; k = next) {
            int p = F->place[slot[2 * k + 1]], q = F->place[A->col[k]], flip = p > q;
            next = slot[2 * k];
            if (flip) { int t = p; p = q; q = t; }
            slot[2 * k] = F->panel[s] + 3 * ((p - first) * stride + column[q]);
            slot[2 * k + 1] = flip ? -stride : stride;
        }
    }
    return 1;
}

/* Memory for n nodes, arrays set up. */
static int embi_ldlt_begin(embi_memory *m, embi_ldlt *F, int n)
{
    F->n = F->supernodes = 0;
    if (n > INT_MAX / 32) { m->failed = 1; return 0; }
    if (!EMBI_GROW(m, int, F->index, F->index_cap, 10 * n + 3) || !EMBI_GROW(m, int, F->row, F->row_cap, 1))
        return 0;
    F->order = F->index;
    F->place = F->order + n;
    F->owner = F->place + n;
    F->first = F->owner + n;
    F->row_start = F->first + n + 1;
    F->panel = F->row_start + n + 1;
    F->touched = F->panel + n + 1;
    F->open = F->touched + n;
    F->task = F->open + n;
    F->member = F->task + n;
    F->tasks = 0;
    F->partial = 0;
    memset(F->touched, 0, (size_t)n * 2 * sizeof *F->touched);
    F->n = n;
    return 1;
}

/* The whole matrix as one supernode, nodes in their own order. */
static int embi_ldlt_analyze_dense(embi_memory *m, embi_ldlt *F, int n)
{
    if (!embi_ldlt_begin(m, F, n)) return 0;
    for (int k = 0; k < n; k++) {
        F->order[k] = F->place[k] = k;
        F->owner[k] = 0;
    }
    F->supernodes = n > 0;
    F->first[0] = F->row_start[0] = F->row_start[F->supernodes] = 0;
    F->first[F->supernodes] = n;
    F->cost = embi_panel_cost(n, 0);
    if (embi_ldlt_place_panels(m, F)) return 1;
    F->n = F->supernodes = 0;
    return 0;
}

/* Order, supernodes, rows and memory for the pattern of A. Returns 0 when out of memory (F is then empty). */
static int embi_ldlt_analyze(embi_memory *m, embi_ldlt *F, const embi_bsr *A)
{
    int n = A->n, *start, *w[12];
    if (!embi_ldlt_begin(m, F, n)) return 0;
    F->n = 0;   /* until all is well */
    if (!EMBI_GROW(m, int, F->work, F->work_cap, 16 * n + 2)) return 0;
    start = F->work;
    for (int k = 0; k < 12; k++) w[k] = F->work + (n + 1) + (size_t)k * (size_t)n;
    if (!embi_ldlt_graph(m, F, A, start) || !embi_amd_order(m, F, n, start, F->order, w[0])) return 0;
    F->n = n;
    for (int k = 0; k < n; k++) F->place[F->order[k]] = k;
    embi_ldlt_tree(n, start, F->adjacent, F->order, F->place, w[0], w[1], w[2]);
    F->cost = embi_ldlt_merge(n, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]);
    embi_ldlt_number(F, w[0], w[1], w[3], w[4], w[6], w[9], w[10], w[11]);
    if (embi_ldlt_rows(m, F, start, w[9], w[0], w[1]) && embi_ldlt_share(m, F) &&
        embi_ldlt_place_panels(m, F) && embi_ldlt_slots(m, F, A))
        return 1;
    F->n = F->supernodes = 0;
    return 0;
}

/* Where the block of nodes i and j stands: offset of its first value in F->value, *stride the distance of
 * its rows, *flip = 1 when it is stored as (j, i). -1: not in the pattern. */
static int embi_ldlt_find(const embi_ldlt *F, int i, int j, int *stride, int *flip)
{
    int p = F->place[i], q = F->place[j], s, column;
    *flip = p > q;
    if (p > q) { int t = p; p = q; q = t; }
    s = F->owner[p];
    *stride = embi_ldlt_stride(F, s);
    if (q < F->first[s + 1]) column = q - F->first[s];
    else {
        int rows = embi_ldlt_row_count(F, s), k = embi_find_place(F->row + F->row_start[s], rows, q);
        if (k == rows || F->row[F->row_start[s] + k] != q) return -1;
        column = F->first[s + 1] - F->first[s] + k;
    }
    return F->panel[s] + 3 * ((p - F->first[s]) * *stride + column);
}

/* V += s B, or s B^T where the stride is negative; V: a block in rows |stride| apart */
static void embi_block_add(embipc_real *V, int stride, embipc_real s, const embipc_real B[9])
{
    embipc_real *V1, *V2;
    if (stride < 0) {
        V1 = V - stride;
        V2 = V1 - stride;
        V[0] += s * B[0]; V[1] += s * B[3]; V[2] += s * B[6];
        V1[0] += s * B[1]; V1[1] += s * B[4]; V1[2] += s * B[7];
        V2[0] += s * B[2]; V2[1] += s * B[5]; V2[2] += s * B[8];
        return;
    }
    V1 = V + stride;
    V2 = V1 + stride;
    V[0] += s * B[0]; V[1] += s * B[1]; V[2] += s * B[2];
    V1[0] += s * B[3]; V1[1] += s * B[4]; V1[2] += s * B[5];
    V2[0] += s * B[6]; V2[1] += s * B[7]; V2[2] += s * B[8];
}

/* Adds B at (i, j) and B^T at (j, i), as embi_bsr_add. */
static int embi_ldlt_add(embi_ldlt *F, int i, int j, const embipc_real B[9])
{
    int stride, flip, at = embi_ldlt_find(F, i, j, &stride, &flip);
    if (at < 0) return 0;
    embi_block_add(F->value + at, flip ? -stride : stride, 1, B);
    return 1;
}

static void embi_ldlt_zero(embi_ldlt *F)
{
    F->partial = 0;
    if (!F->supernodes) return;
    memset(F->touched, 0, (size_t)F->n * 2 * sizeof *F->touched);
    memset(F->value, 0, (size_t)F->panel[F->supernodes] * sizeof *F->value);
}

/* The supernode that holds the diagonal block of node i. Blocks of i with others are in it too, or in those of
 * the others. */
static int embi_ldlt_owner(const embi_ldlt *F, int i) { return F->owner[F->place[i]]; }

/* Empties the supernodes that are open, those that were touched, and those that either send something to, for
 * another factorisation of the same constant part. The values of all others are what they would be again. */
static void embi_ldlt_reopen(embi_ldlt *F)
{
    F->partial = 1;
    for (int s = 0; s < F->supernodes; s++) {
        F->open[s] |= F->touched[s];
        F->touched[s] = 0;
        if (!F->open[s]) continue;
        memset(F->value + F->panel[s], 0, (size_t)(F->panel[s + 1] - F->panel[s]) * sizeof *F->value);
        if (embi_ldlt_row_count(F, s)) F->open[F->owner[F->row[F->row_start[s]]]] = 1;
    }
}

/* Saves the diagonal of A and returns its largest absolute value. */
static embipc_real embi_ldlt_diagonal(embi_ldlt *F)
{
    embipc_real biggest = 0, *diagonal = F->vector;
    for (int s = 0; s < F->supernodes; s++) {
        int w = embi_ldlt_width(F, s), ld = embi_ldlt_stride(F, s);
        for (int k = 0; k < w; k++, diagonal++) {
            if (!F->partial || F->open[s]) *diagonal = F->value[F->panel[s] + k * (ld + 1)];
            biggest = embi_max(biggest, embi_abs(*diagonal));
        }
    }
    return biggest;
}

/* Supernode t pulls what s sends it: rows from .. to - 1 of s are nodes of t.
 *   U_t(i, j) -= sum_k (U_s(k, i) / D_k) U_s(k, j)   for i one of these rows, j from i on.
 * place_in_t: by position, its node column in t's panel. */
static void embi_ldlt_pull(const embi_ldlt *F, int t, int s, int from, int to, const int *place_in_t, int *columns)
{
    const int *row = F->row + F->row_start[s];
    int w = embi_ldlt_width(F, s), ld = embi_ldlt_stride(F, s), ldt = embi_ldlt_stride(F, t);
    int count = embi_ldlt_row_count(F, s) - from, dense;
    const embipc_real *inverse = F->vector + 3 * F->n + 3 * F->first[s];
    embipc_real strip[3 * EMBI_BLOCK], *Ut = F->value + F->panel[t];
    dense = place_in_t[row[from + count - 1]] - place_in_t[row[from]] == count - 1;
    for (int j = 0; j < count; j++) columns[j] = 3 * place_in_t[row[from + j]];
    for (int begin = 0; begin < w; begin += EMBI_BLOCK) {   /* so few rows of U_s stay in the cache */
        int depth = embi_min_int(EMBI_BLOCK, w - begin);
        for (int i = 0; i < to - from; i++) {
            const embipc_real *Us = F->value + F->panel[s] + begin * ld + w + 3 * (from + i);
            embipc_real *row_t = Ut + columns[i] * ldt;
            for (int k = 0; k < depth; k++) {
                const embipc_real *u = Us + k * ld;
                strip[k] = u[0] * inverse[begin + k];
                strip[depth + k] = u[1] * inverse[begin + k];
                strip[2 * depth + k] = u[2] * inverse[begin + k];
            }
            embi_strip_subtract(3, 3 * (count - i), depth, strip, depth, Us, ld,
                                dense ? row_t + columns[i] : row_t, ldt, dense ? NULL : columns + i);
        }
    }
}

/* A factorisation under way. Supernodes that still have something to send wait in the list of the next one to
 * get it; those that keep their factor stand in these lists as well, so that every sum is formed in the same
 * order. What goes up from the tasks is listed when all of them are done. */
typedef struct embi_factoring {
    embi_ldlt *F;
    embipc_real biggest;         /* max |a_ii| */
    int *waiting, *next, *at;    /* (n) supernode: the first that waits for it, the next, rows sent so far */
    int *places, *columns;       /* (n for each task) */
    int t;                       /* above the tasks: the supernode at hand */
    int replaced[EMBI_TASKS], bad[EMBI_TASKS];
} embi_factoring;

static int embi_ldlt_is_open(const embi_ldlt *F, int s) { return !F->partial || F->open[s]; }

/* rows `from` .. of s up to the position `end` */
static int embi_ldlt_rows_before(const embi_ldlt *F, int s, int from, int end)
{
    const int *row = F->row + F->row_start[s];
    int count = embi_ldlt_row_count(F, s);
    while (from < count && row[from] < end) from++;
    return from;
}

/* Rows for the positions first .. end - 1 of supernode t pull from all that wait for it. */
static void embi_ldlt_pull_rows(const embi_factoring *f, int t, int first, int end, const int *place_in_t,
                                int *columns)
{
    const embi_ldlt *F = f->F;
    for (int s = f->waiting[t]; s >= 0; s = f->next[s]) {
        int from = embi_ldlt_rows_before(F, s, f->at[s], first), to = embi_ldlt_rows_before(F, s, from, end);
        if (from < to) embi_ldlt_pull(F, t, s, from, to, place_in_t, columns);
    }
}

static void embi_ldlt_pull_range(void *arg, int begin, int end)
{
    const embi_factoring *f = (const embi_factoring *)arg;
    const embi_ldlt *F = f->F;
    int first = F->first[f->t], grain = (F->first[f->t + 1] - first - 1) / EMBI_TASKS + 1, slot = begin / grain;
    embi_ldlt_pull_rows(f, f->t, first + begin, first + end, f->places, f->columns + (size_t)slot * (size_t)F->n);
}

/* multiplications of two 3x3 blocks that it takes to pull all that waits for t */
static embipc_real embi_ldlt_pull_cost(const embi_factoring *f, int t)
{
    const embi_ldlt *F = f->F;
    embipc_real sum = 0;
    for (int s = f->waiting[t]; s >= 0; s = f->next[s]) {
        int from = f->at[s], to = embi_ldlt_rows_before(F, s, from, F->first[t + 1]);
        sum += (embipc_real)(F->first[s + 1] - F->first[s]) * (embipc_real)(to - from) *
               (embipc_real)(embi_ldlt_row_count(F, s) - from);
    }
    return sum;
}

/* supernode s waits for the next one to get something of it */
static void embi_ldlt_wait(const embi_factoring *f, int s)
{
    const embi_ldlt *F = f->F;
    int to = F->owner[F->row[F->row_start[s] + f->at[s]]];
    f->next[s] = f->waiting[to];
    f->waiting[to] = s;
}

/* Factors supernode t of the task `slot`, or above them all. */
static void embi_ldlt_factor_one(embi_factoring *f, int t, int slot)
{
    embi_ldlt *F = f->F;
    const int *row = F->row + F->row_start[t];
    int first = F->first[t], nodes = F->first[t + 1] - first, rows = embi_ldlt_row_count(F, t);
    int *place = f->places + (size_t)slot * (size_t)F->n, ld = embi_ldlt_stride(F, t);
    int above = F->tasks && F->task[t] < 0, alone = above || !F->tasks;
    embipc_real *U = F->value + F->panel[t], *inverse = F->vector + 3 * F->n + 3 * first;
    embi_pivots pivots;
    pivots.diagonal = F->vector + 3 * first;
    pivots.biggest = f->biggest;
    pivots.replaced = 0;
    if (embi_ldlt_is_open(F, t)) {
        for (int k = 0; k < nodes; k++) place[first + k] = k;
        for (int k = 0; k < rows; k++) place[row[k]] = nodes + k;
        if (above && F->threads && F->threads->run && embi_ldlt_pull_cost(f, t) > EMBI_SHARE_PULL) {
            f->t = t;
            embi_for(F->threads, nodes, (nodes - 1) / EMBI_TASKS + 1, embi_ldlt_pull_range, f);
        } else embi_ldlt_pull_rows(f, t, first, first + nodes, place, f->columns + (size_t)slot * (size_t)F->n);
        if (!embi_panel_factor(alone ? F->threads : NULL, 3 * nodes, 3 * (nodes + rows), U, ld, &pivots))
            f->bad[slot] = 1;
        for (int k = 0; k < 3 * nodes; k++) inverse[k] = 1 / U[k * (ld + 1)];
        f->replaced[slot] += pivots.replaced;
    }
    for (int s = f->waiting[t], following; s >= 0; s = following) {
        following = f->next[s];
        f->at[s] = embi_ldlt_rows_before(F, s, f->at[s], first + nodes);
        if (f->at[s] == embi_ldlt_row_count(F, s)) continue;
        if (alone || F->task[F->owner[F->row[F->row_start[s] + f->at[s]]]] >= 0) embi_ldlt_wait(f, s);
    }
    f->at[t] = 0;
    if (rows && (alone || F->task[F->owner[row[0]]] >= 0)) embi_ldlt_wait(f, t);
}

static void embi_ldlt_factor_range(void *arg, int begin, int end)
{
    embi_factoring *f = (embi_factoring *)arg;
    const embi_ldlt *F = f->F;
    for (int k = begin; k < end; k++)
        for (int i = F->member_start[k]; i < F->member_start[k + 1] && !f->bad[k]; i++)
            embi_ldlt_factor_one(f, F->member[i], k);
}

/* Numeric factorisation of what has been added. Returns the number of replaced pivots, or -1 when inf or nan
 * was met. */
static int embi_ldlt_factor(embi_ldlt *F)
{
    int n = F->n, bad = 0, replaced = 0;
    embi_factoring f;
    if (n == 0) return 0;
    memset(&f, 0, sizeof f);
    f.F = F;
    f.waiting = F->work;
    f.next = f.waiting + n;
    f.at = f.next + n;
    f.places = f.at + n;
    f.columns = f.places + (size_t)(F->tasks ? F->tasks : 1) * (size_t)n;
    f.biggest = embi_ldlt_diagonal(F);
    for (int s = 0; s < F->supernodes; s++) f.waiting[s] = -1;
    if (F->tasks) embi_for(F->threads, F->tasks, 1, embi_ldlt_factor_range, &f);
    for (int k = 0; k < F->tasks; k++) bad |= f.bad[k];
    if (bad) return -1;
    for (int s = 0; s < F->supernodes && F->tasks; s++)
        if (F->task[s] >= 0 && f.at[s] < embi_ldlt_row_count(F, s)) embi_ldlt_wait(&f, s);
    for (int t = 0; t < F->supernodes && !f.bad[0]; t++)
        if (!F->tasks || F->task[t] < 0) embi_ldlt_factor_one(&f, t, 0);
    if (f.bad[0]) return -1;
    if (F->partial) memset(F->open, 0, (size_t)n * sizeof *F->open);
    F->partial = 0;
    for (int k = 0; k < EMBI_TASKS; k++) replaced += f.replaced[k];
    return replaced;
}

/* y -= z_0 u_0 + z_1 u_1 + z_2 u_2 for three rows ld apart */
EMBI_KERNEL void embi_rows_subtract(int wide, int n, const embipc_real z[3], const embipc_real *u, int ld,
                                    embipc_real *y)
{
    const embipc_real *u1 = u + ld, *u2 = u1 + ld, z0 = z[0], z1 = z[1], z2 = z[2];
    int j = 0;
#if EMBI_WIDE
    for (; wide && j + 4 <= n; j += 4) {
        embi_wide a, b, c, v;
        memcpy(&a, u + j, sizeof a);
        memcpy(&b, u1 + j, sizeof b);
        memcpy(&c, u2 + j, sizeof c);
        memcpy(&v, y + j, sizeof v);
        v -= a * z0 + b * z1 + c * z2;
        memcpy(y + j, &v, sizeof v);
    }
#endif
    (void)wide;
    for (; j + EMBI_LANES <= n; j += EMBI_LANES)
        embi_store(y + j, embi_load(y + j) - (embi_load(u + j) * z0 + embi_load(u1 + j) * z1 +
                                              embi_load(u2 + j) * z2));
    for (; j < n; j++) y[j] -= u[j] * z0 + u1[j] * z1 + u2[j] * z2;
}

/* d_r = u_r . y for three rows ld apart: in four sums each, then what is left */
EMBI_KERNEL void embi_rows_dot(int wide, int n, const embipc_real *u, int ld, const embipc_real *y,
                               embipc_real d[3])
{
    const embipc_real *u1 = u + ld, *u2 = u1 + ld;
    embipc_real part[14] = {0};
    int j = 0;
#if EMBI_LANES > 1
    if (wide || EMBI_LANES == 4) {
        const embi_wide zero = {0};
        embi_wide s0 = zero, s1 = zero, s2 = zero, v, w;
        for (; j + 4 <= n; j += 4) {
            memcpy(&v, y + j, sizeof v);
            memcpy(&w, u + j, sizeof w);
            s0 += w * v;
            memcpy(&w, u1 + j, sizeof w);
            s1 += w * v;
            memcpy(&w, u2 + j, sizeof w);
            s2 += w * v;
        }
        memcpy(part, &s0, sizeof s0);
        memcpy(part + 4, &s1, sizeof s1);
        memcpy(part + 8, &s2, sizeof s2);
    } else {   /* s: the first two of the sums, t: the others */
        const embi_vec zero = {0};
        embi_vec s0 = zero, s1 = zero, s2 = zero, t0 = zero, t1 = zero, t2 = zero;
        for (; j + 4 <= n; j += 4) {
            embi_vec v = embi_load(y + j), w = embi_load(y + j + 2);
            s0 += embi_load(u + j) * v;
            s1 += embi_load(u1 + j) * v;
            s2 += embi_load(u2 + j) * v;
            t0 += embi_load(u + j + 2) * w;
            t1 += embi_load(u1 + j + 2) * w;
            t2 += embi_load(u2 + j + 2) * w;
        }
        embi_store(part, s0);
        embi_store(part + 2, t0);
        embi_store(part + 4, s1);
        embi_store(part + 6, t1);
        embi_store(part + 8, s2);
        embi_store(part + 10, t2);
    }
#endif
    (void)wide;
    for (int r = 0; r < 3; r++) d[r] = part[4 * r] + part[4 * r + 1] + (part[4 * r + 2] + part[4 * r + 3]);
    for (; j < n; j++) {
        d[0] += u[j] * y[j];
        d[1] += u1[j] * y[j];
        d[2] += u2[j] * y[j];
    }
}

/* z = D^-1 L^-1 of the unknowns of supernode s, in x; what follows from them goes to the rows behind it, or, for
 * those above the tasks, to `up` unless that is NULL. */
EMBI_KERNEL void embi_ldlt_forward(int wide, const embi_ldlt *F, int s, const embipc_real *inverse,
                                   embipc_real *x, embipc_real *y, embipc_real *up)
{
    const int *row = F->row + F->row_start[s];
    int first = 3 * F->first[s], w = embi_ldlt_width(F, s), columns = embi_ldlt_columns(F, s);
    int ld = embi_ldlt_stride(F, s);
    const embipc_real *u = F->value + F->panel[s], *d = inverse + first;
    memcpy(y, x + first, (size_t)w * sizeof *y);
    for (int j = w; j < columns; j++) y[j] = 0;
    for (int k = 0; k < w; k += 3, u += 3 * ld) {
        embipc_real *z = x + first + k;
        z[0] = y[k] * d[k];
        z[1] = (y[k + 1] - u[k + 1] * z[0]) * d[k + 1];
        z[2] = (y[k + 2] - u[k + 2] * z[0] - u[ld + k + 2] * z[1]) * d[k + 2];
        embi_rows_subtract(wide, columns - k - 3, z, u + k + 3, ld, y + k + 3);
    }
    for (int j = w; j < columns; j += 3) {
        int p = row[(j - w) / 3];
        embipc_real *to = (up && F->task[F->owner[p]] < 0 ? up : x) + 3 * p;
        embi_add(to, to, y + j);
    }
}

/* x = L^-T z for the unknowns of supernode s, those behind it being known. */
EMBI_KERNEL void embi_ldlt_backward(int wide, const embi_ldlt *F, int s, const embipc_real *inverse,
                                    embipc_real *x, embipc_real *y)
{
    const int *row = F->row + F->row_start[s];
    int first = 3 * F->first[s], w = embi_ldlt_width(F, s), columns = embi_ldlt_columns(F, s);
    int ld = embi_ldlt_stride(F, s);
    const embipc_real *u = F->value + F->panel[s] + w * ld, *d = inverse + first;
    for (int j = w; j < columns; j += 3) embi_copy(y + j, x + 3 * row[(j - w) / 3]);
    for (int k = w - 3; k >= 0; k -= 3) {
        embipc_real *z = x + first + k, sum[3];
        u -= 3 * ld;
        embi_rows_dot(wide, columns - k - 3, u + k + 3, ld, y + k + 3, sum);
        z[2] -= d[k + 2] * sum[2];
        z[1] -= d[k + 1] * (sum[1] + u[ld + k + 2] * z[2]);
        z[0] -= d[k] * (sum[0] + u[k + 1] * z[1] + u[k + 2] * z[2]);
        embi_copy(y + k, z);
    }
}

/* x := A^-1 x in the order of the factor: with U = D L^T, three rows at a time,
 *   z_k = y_k / D_k, y_j -= U_kj z_k (j > k)  forward,   x_k = z_k - (sum_{j>k} U_kj x_j) / D_k  backward.
 * Half of that for the supernodes of one task, or, task < 0, those above all. */
typedef struct embi_sweep {
    const embi_ldlt *F;
    embipc_real *x;
    int backward;
} embi_sweep;

EMBI_KERNEL void embi_sweep_kernel(int wide, const embi_sweep *t, int task)
{
    const embi_ldlt *F = t->F;
    const embipc_real *inverse = F->vector + 3 * F->n;
    size_t lane = (size_t)(3 * F->n);
    embipc_real *y = F->vector + 9 * F->n + lane * (size_t)(task < 0 ? 0 : task), *up = NULL;
    int shared = F->lanes > 1, first = task < 0 ? 0 : F->member_start[task];
    int count = task < 0 ? F->supernodes : F->member_start[task + 1] - first;
    if (task >= 0) up = y + lane * (size_t)F->lanes;
    for (int k = 0; k < count; k++) {
        int at = t->backward ? count - 1 - k : k, s = task < 0 ? at : F->member[first + at];
        if (task < 0 && shared && F->task[s] >= 0) continue;
        if (t->backward) embi_ldlt_backward(wide, F, s, inverse, t->x, y);
        else embi_ldlt_forward(wide, F, s, inverse, t->x, y, up);
    }
}

#if EMBI_WIDE
__attribute__((target("avx"))) static void embi_sweep_wide(const embi_sweep *t, int task)
{
    embi_sweep_kernel(1, t, task);
}
#endif

static void embi_sweep_task(const embi_sweep *t, int task)
{
#if EMBI_WIDE
    if (embi_has_wide()) {
        embi_sweep_wide(t, task);
        return;
    }
#endif
    embi_sweep_kernel(0, t, task);
}

static void embi_sweep_range(void *arg, int begin, int end)
{
    const embi_sweep *t = (const embi_sweep *)arg;
    for (int k = begin; k < end; k++) embi_sweep_task(t, k);
}

/* What tasks send up: zero at first; then added, task by task. */
static void embi_ldlt_send(embi_ldlt *F, embipc_real *x, int zero)
{
    for (int s = 0; s < F->supernodes; s++) {
        size_t first = (size_t)(3 * F->first[s]), end = (size_t)(3 * F->first[s + 1]);
        if (F->task[s] >= 0) continue;
        for (int k = 0; k < F->lanes; k++) {
            embipc_real *up = F->vector + 9 * F->n + (size_t)(3 * F->n) * (size_t)(F->lanes + k);
            for (size_t i = first; i < end; i++) {
                if (zero) up[i] = 0;
                else x[i] += up[i];
            }
        }
    }
}

/* b := A^-1 b, node order of the caller */
static void embi_ldlt_solve(embi_ldlt *F, embipc_real *b)
{
    embi_sweep t;
    if (F->n == 0) return;   /* nor has it any memory */
    t.F = F;
    t.x = F->vector + 6 * F->n;
    t.backward = 0;
    for (int k = 0; k < F->n; k++) embi_copy(t.x + 3 * k, b + 3 * F->order[k]);
    if (F->lanes > 1) {
        embi_ldlt_send(F, t.x, 1);
        embi_for(F->threads, F->lanes, 1, embi_sweep_range, &t);
        embi_ldlt_send(F, t.x, 0);
    }
    embi_sweep_task(&t, -1);
    t.backward = 1;
    embi_sweep_task(&t, -1);
    if (F->lanes > 1) embi_for(F->threads, F->lanes, 1, embi_sweep_range, &t);
    for (int k = 0; k < F->n; k++) embi_copy(b + 3 * F->order[k], t.x + 3 * k);
}

/* ==== 10. Conjugate gradients, and the linear system of a step =======================================
 * Preconditioned conjugate gradients [Hestenes, Stiefel 1952] with the inverse diagonal blocks as P:
 *     alpha = r.z / p.Ap,  x += alpha p,  r -= alpha A p,
 *     z = P r,  beta = r.z / (r.z before),  p = z + beta p.
 * embi_system is what the Newton solver sees: one matrix, solved as one dense panel, as a sparse
 * factor, or by conjugate gradients; size and structure choose, or the caller does. embi_inverse is what a change
 * of low rank to such a matrix needs: its factor, and its inverse between the unknowns that are asked for.
 * Uses: small math, memory, sparse matrices, LDL^T.        Checked by: tests/test_cg.c        */

/* P: inverse diagonal blocks of A (9 each). A block that is not positive definite is replaced by the
 * largest diagonal entry of the matrix. Returns how many were, or -1 when inf or nan was met. */
static int embi_jacobi_blocks(int n, const int *row, const embipc_real *val, embipc_real *P)
{
    embipc_real biggest = 0;
    int replaced = 0;
    for (int i = 0; i < n; i++) {
        const embipc_real *B = val + 9 * ((size_t)row[i + 1] - 1);
        for (int c = 0; c < 9; c += 4) biggest = embi_max(biggest, embi_abs(B[c]));
    }
    if (!(biggest > 0)) biggest = 1;
    for (int i = 0; i < n; i++) {
        const embipc_real *B = val + 9 * ((size_t)row[i + 1] - 1);
        embipc_real *Q = P + 9 * (size_t)i, minor = B[0] * B[4] - B[1] * B[1];
        if (!embi_all_finite(B, 9)) return -1;
        if (B[0] > 0 && minor > 64 * EMBI_EPS * B[0] * B[4] && embi_m3_inverse(Q, B) > 0) continue;
        for (int c = 0; c < 9; c++) Q[c] = c % 4 == 0 ? 1 / biggest : (embipc_real)0;
        replaced++;
    }
    return replaced;
}

/* Solves A x = b from the x given; work: (12 n). Returns the iterations done; *residual is |r| / |b| then.
 * Stops at the tolerance, at the cap, and where p.Ap is not positive: A is not, or rounding decides. */
static int embi_cg(const embi_bsr *A, const embipc_real *P, const embipc_real *b, embipc_real *x,
                   embipc_real tolerance, int max_iterations, embipc_real *work, embipc_real *residual)
{
    int n = 3 * A->n, k = 0;
    embipc_real *r = work, *z = r + n, *p = z + n, *q = p + n, rz = 0;
    embipc_real size = sqrt(embi_row_dot(n, b, b));
    *residual = 0;
    if (size == 0) {
        for (int i = 0; i < n; i++) x[i] = 0;
        return 0;
    }
    embi_bsr_multiply(A, x, r);
    for (int i = 0; i < n; i++) {
        r[i] = b[i] - r[i];
        p[i] = 0;
    }
    for (;; k++) {
        embipc_real before = rz, beta, alpha, pq;
        *residual = sqrt(embi_row_dot(n, r, r)) / size;
        if (*residual <= tolerance || k == max_iterations) return k;
        for (int i = 0; i < A->n; i++) embi_m3_mulv(z + 3 * i, P + 9 * (size_t)i, r + 3 * i);
        rz = embi_row_dot(n, r, z);
        beta = k ? rz / before : (embipc_real)0;
        for (int i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
        embi_bsr_multiply(A, p, q);
        pq = embi_row_dot(n, p, q);
        if (!(pq > 0)) return k;
        alpha = rz / pq;
        embi_row_subtract(n, -alpha, p, x);
        embi_row_subtract(n, alpha, q, r);
    }
}

EMBIPC_API int embipc_cg_solve(int n, const int *row, const int *col, const embipc_real *val,
                               const embipc_real *b, embipc_real *x, embipc_real tolerance,
                               int max_iterations, embipc_real *work, embipc_real *residual)
{
    embi_bsr A;
    embipc_real rest;
    int iterations;
    memset(&A, 0, sizeof A);
    A.n = n;
    A.row = (int *)row;   /* only read */
    A.col = (int *)col;
    A.val = (embipc_real *)val;
    if (embi_jacobi_blocks(n, row, val, work) < 0) return -1;
    iterations = embi_cg(&A, work, b, x, tolerance, max_iterations, work + 9 * (size_t)n, &rest);
    if (residual) *residual = rest;
    return embi_finite(rest) ? iterations : -1;
}

/* ---- The system ----------------------------------------------------------------------------- */

enum { EMBI_SYSTEM_AUTO, EMBI_SYSTEM_DENSE, EMBI_SYSTEM_SPARSE, EMBI_SYSTEM_CG };

#define EMBI_STAMP 16   /* nodes of a stamp: four points in a tet each */

typedef struct embi_system {
    int n;
    int asked;        /* method that the caller wanted */
    int method;       /* in use: dense, sparse or CG */
    int dense;        /* method is dense */
    int clean;        /* nothing has been added since the values were set to zero */
    int kept;         /* there is a factor, and it may be reopened */
    int iterations;   /* of the last solution by CG */
    embipc_real residual;   /* of it, relative */
    embi_bsr A;       /* CG: the matrix; sparse: its pattern alone */
    embi_bsr wanted;  /* pattern asked for */
    embi_ldlt F;
    embipc_real *work; int work_cap;   /* CG: P (9n), solution (3n), embi_cg (12n) */
    int stamp_count, stamp_node[EMBI_STAMP];   /* the last stamp, and where its blocks are: as F.slot */
    int stamp_slot[EMBI_STAMP * (EMBI_STAMP + 1)];
} embi_system;

static void embi_system_free(embi_memory *m, embi_system *S)
{
    embi_bsr_free(m, &S->A);
    embi_bsr_free(m, &S->wanted);
    embi_ldlt_free(m, &S->F);
    EMBI_RELEASE(m, S->work, S->work_cap);
    S->n = 0;
}

/* Forgets the analysis, keeps the memory: a solution then does nothing. */
static void embi_system_empty(embi_system *S)
{
    S->n = S->A.n = S->F.n = S->F.supernodes = S->stamp_count = S->kept = 0;
}

static void embi_system_zero(embi_system *S)
{
    S->kept = S->stamp_count = 0;   /* so that the first stamp is marked again */
    if (S->clean) return;
    if (S->method == EMBI_SYSTEM_CG) embi_bsr_zero(&S->A);
    else embi_ldlt_zero(&S->F);
    S->clean = 1;
}

/* Order, structure and memory by the given method for n nodes with the pattern `wanted` (dense: without one,
 * and always the same for the same n). Returns 0 when out of memory. */
static int embi_system_arrange(embi_memory *m, embi_system *S, int n, int method)
{
    if (method != EMBI_SYSTEM_DENSE && !embi_bsr_copy_pattern(m, &S->A, &S->wanted)) return 0;
    if (method == EMBI_SYSTEM_CG) {
        if (!embi_bsr_room(m, &S->A) || n > INT_MAX / 24 ||
            !EMBI_GROW(m, embipc_real, S->work, S->work_cap, 24 * n))
            return 0;
    } else if (method == EMBI_SYSTEM_DENSE) {
        if (!embi_ldlt_analyze_dense(m, &S->F, n)) return 0;
    } else {
        int automatic = method == EMBI_SYSTEM_AUTO;
        method = EMBI_SYSTEM_SPARSE;
        if (!embi_ldlt_analyze(m, &S->F, &S->A)) return 0;
        if (automatic && S->F.cost >= embi_panel_cost(n, 0)) {
            method = EMBI_SYSTEM_DENSE;
            if (!embi_ldlt_analyze_dense(m, &S->F, n)) return 0;
        }
    }
    S->n = n;
    S->method = method;
    S->dense = method == EMBI_SYSTEM_DENSE;
    return 1;
}

/* Whether the pattern does not matter. */
static int embi_system_surely_dense(int n, int method)
{
    return method == EMBI_SYSTEM_DENSE || (method == EMBI_SYSTEM_AUTO && n <= 20);
}

/* Prepares for n nodes coupled by `pairs` (as in embi_bsr_pattern; only read), values zero. What was made for
 * the very same pattern serves again: the result never depends on what was analysed before.
 * Automatic choice: up to 20 nodes one dense panel, without a look at the pattern; above, sparse, unless its
 * predicted cost is no smaller than the dense one. Measured on tet meshes: the two factor equally fast at 16
 * nodes; at 24 dense needs 11 us, sparse 5.7 us and 4.3 us once for the analysis.
 * Returns 0 when out of memory (S is then empty, n = 0). */
static int embi_system_analyze(embi_memory *m, embi_system *S, int n, const embi_key *pairs, int pair_count,
                               int method)
{
    int same = S->n == n && S->asked == method;
    S->asked = method;
    if (embi_system_surely_dense(n, method)) method = EMBI_SYSTEM_DENSE;
    if (method != EMBI_SYSTEM_DENSE) {
        if (!embi_bsr_couple(m, &S->wanted, n, pairs, pair_count)) {
            embi_system_empty(S);
            return 0;
        }
        same = same && embi_bsr_same_pattern(&S->A, &S->wanted);
    }
    if (!same) {
        embi_system_empty(S);
        if (!embi_system_arrange(m, S, n, method)) {
            embi_system_empty(S);
            return 0;
        }
    }
    S->clean = 0;
    S->iterations = 0;
    S->residual = 0;
    embi_system_zero(S);
    return 1;
}

/* Whether all pairs have their place already, so that a new analysis is not needed. */
static int embi_system_covers(const embi_system *S, int n, const embi_key *pairs, int pair_count)
{
    if (S->n != n) return 0;
    for (int k = 0; k < pair_count && !S->dense; k++) {
        int i = (int)(pairs[k].key >> 32), j = (int)(pairs[k].key & 0xffffffffu), stride, flip;
        if (S->method == EMBI_SYSTEM_CG) {
            if (embi_bsr_find(&S->A, i, j) < 0) return 0;
        } else if (embi_ldlt_find(&S->F, i, j, &stride, &flip) < 0) return 0;
    }
    return 1;
}

/* Adds B at (i, j) and B^T at (j, i): give every unordered pair once. Returns 0, and does nothing, when there
 * is no place for it. */
static int embi_system_add(embi_system *S, int i, int j, const embipc_real B[9])
{
    if (S->clean) S->clean = 0;
    return S->method == EMBI_SYSTEM_CG ? embi_bsr_add(&S->A, i, j, B) : embi_ldlt_add(&S->F, i, j, B);
}

/* the values, in which slots are offsets */
static embipc_real *embi_system_values(embi_system *S)
{
    return S->method == EMBI_SYSTEM_CG ? S->A.val : S->F.value;
}

/* slot of block k of the pattern, which is in row i */
static void embi_system_slot(const embi_system *S, int k, int slot[2])
{
    if (S->method == EMBI_SYSTEM_CG) {
        slot[0] = 9 * k;
        slot[1] = 3;
    } else {
        slot[0] = S->F.slot[2 * k];
        slot[1] = S->F.slot[2 * k + 1];
    }
}

/* S += scale A, node i of A being node map[i] of S (map NULL: i); rows and columns with map < 0 are left out.
 * Where the map keeps the order of nodes, as it does within a body, a walk along the row of the pattern finds
 * all blocks of a row. After embi_system_reopen() only what is open gets its part.
 * Returns 0 when a block found no place. */
static int embi_system_add_bsr(embi_system *S, const embi_bsr *A, const int *map, embipc_real scale)
{
    embipc_real *values = embi_system_values(S);
    const int *place = S->F.place;
    int ok = 1, partial = S->method == EMBI_SYSTEM_SPARSE && S->F.partial;
    if (S->clean) S->clean = 0;   /* not written where threads add the parts of bodies */
    for (int i = 0; i < A->n; i++) {
        int to = map ? map[i] : i, at = to >= 0 && !S->dense ? S->A.row[to] : 0;
        for (int k = A->row[i]; to >= 0 && k < A->row[i + 1]; k++) {
            const embipc_real *V = A->val + 9 * (size_t)k;
            int from = map ? map[A->col[k]] : A->col[k], slot[2];
            if (from < 0) continue;
            if (partial && !S->F.open[S->F.owner[embi_min_int(place[to], place[from])]]) continue;
            while (!S->dense && at < S->A.row[to + 1] && S->A.col[at] < from) at++;
            if (S->dense || at == S->A.row[to + 1] || S->A.col[at] != from) {
                embipc_real B[9];
                for (int c = 0; c < 9; c++) B[c] = scale * V[c];
                ok &= embi_system_add(S, to, from, B);
                continue;
            }
            embi_system_slot(S, at, slot);
            embi_block_add(values + slot[0], slot[1], scale, V);
        }
    }
    return ok;
}

/* Finds the blocks of a stamp. Returns 0 when one has no place. */
static int embi_system_place_stamp(embi_system *S, int count, const int *node)
{
    int *slot = S->stamp_slot;
    S->stamp_count = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j <= i; j++, slot += 2) {
            int flip, k;
            if (S->method != EMBI_SYSTEM_CG) {
                slot[0] = embi_ldlt_find(&S->F, node[i], node[j], slot + 1, &flip);
            } else {
                k = embi_bsr_find(&S->A, node[i], node[j]);
                slot[0] = k < 0 ? -1 : 9 * k;
                slot[1] = 3;
                flip = node[i] < node[j];
            }
            if (slot[0] < 0) return 0;
            if (flip) slot[1] = -slot[1];
        }
    memcpy(S->stamp_node, node, (size_t)count * sizeof *node);
    S->stamp_count = count;
    for (int i = 0; i < count && S->method == EMBI_SYSTEM_SPARSE; i++)
        S->F.touched[embi_ldlt_owner(&S->F, node[i])] = 1;
    return 1;
}

/* Finds the places of a stamp on `count` <= EMBI_STAMP nodes, all different. Stamps in a row are often on the same
 * nodes (contacts of one pair of tets), and their places are kept. Returns 0 when a block has no place. */
static int embi_system_open_stamp(embi_system *S, int count, const int *node)
{
    if ((count != S->stamp_count || memcmp(S->stamp_node, node, (size_t)count * sizeof *node) != 0) &&
        !embi_system_place_stamp(S, count, node))
        return 0;
    S->clean = 0;
    return 1;
}

/* Adds scale c_i c_j B at (i, j) for every pair of nodes of a stamp.
 * Returns 0, and does nothing, when a block has no place. */
static int embi_system_stamp(embi_system *S, int count, const int *node, const embipc_real *c,
                             embipc_real scale, const embipc_real B[9])
{
    embipc_real *values = embi_system_values(S);
    const int *slot = S->stamp_slot;
    if (!embi_system_open_stamp(S, count, node)) return 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j <= i; j++, slot += 2)
            embi_block_add(values + slot[0], slot[1], scale * c[i] * c[j], B);
    return 1;
}

/* Adds scale sum_e z_e z_e^T, z_e: `rank` columns over the nodes of a stamp (3 numbers for each column of each node).
 * Returns 0, and does nothing, when a block has no place. */
static int embi_system_stamp_columns(embi_system *S, int count, const int *node, int rank, const embipc_real *z,
                                     embipc_real scale)
{
    embipc_real *values = embi_system_values(S);
    const int *slot = S->stamp_slot;
    if (!embi_system_open_stamp(S, count, node)) return 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j <= i; j++, slot += 2) {
            embipc_real B[9] = {0};
            for (int e = 0; e < rank; e++)
                for (int k = 0; k < 3; k++)
                    embi_axpy(B + 3 * k, z[3 * (rank * i + e) + k], z + 3 * (rank * j + e));
            embi_block_add(values + slot[0], slot[1], scale, B);
        }
    return 1;
}

/* The next factorisation of the same constant part, other stamps: embi_system_touch() for the nodes of each of
 * them, embi_system_reopen(), then everything is added again as after embi_system_zero(). Parts of the factor
 * that neither the old stamps nor the new ones reach are kept; the result is the same, bit for bit. Measured,
 * share of the work that is left: 0.66 and 0.72 in grasps by a full mesh and a cage, 0.76 where four cages
 * drop, 0.44 for a finger. Only where embi_system_keeps() says so. */
static int embi_system_keeps(const embi_system *S) { return S->kept && S->method == EMBI_SYSTEM_SPARSE; }

static void embi_system_touch(embi_system *S, int count, const int *node)
{
    for (int i = 0; i < count; i++) S->F.open[embi_ldlt_owner(&S->F, node[i])] = 1;
}

static void embi_system_reopen(embi_system *S)
{
    embi_ldlt_reopen(&S->F);
    S->kept = S->stamp_count = S->clean = 0;
}

/* Factors what has been added (which it overwrites, but for CG). Returns the number of pivots, or for CG of
 * diagonal blocks, that had to be replaced; -1 when inf or nan was met. */
static int embi_system_factor(embi_system *S)
{
    S->clean = 0;
    if (S->method != EMBI_SYSTEM_CG) {
        int replaced = embi_ldlt_factor(&S->F);
        S->kept = replaced == 0;
        return replaced;
    }
    if (S->n == 0) return 0;
    if (!embi_all_finite(S->A.val, 9 * S->A.row[S->n])) return -1;
    return embi_jacobi_blocks(S->n, S->A.row, S->A.val, S->work);
}

/* b := A^-1 b. CG: to a relative residual of 1e-12, or 6 n + 200 iterations: see S->residual. */
static void embi_system_solve(embi_system *S, embipc_real *b)
{
    int n = S->n;
    embipc_real *x;
    if (S->method != EMBI_SYSTEM_CG) {
        embi_ldlt_solve(&S->F, b);
        return;
    }
    if (n == 0) return;
    x = S->work + 9 * (size_t)n;
    for (int i = 0; i < 3 * n; i++) x[i] = 0;
    S->iterations = embi_cg(&S->A, S->work, b, x, (embipc_real)1e-12, 6 * n + 200, x + 3 * n, &S->residual);
    memcpy(b, x, (size_t)n * 3 * sizeof *b);
}

/* ---- A part of an inverse ----------------------------------------------------------------------
 * What a change of low rank to part of a larger matrix asks of that part again and again. */

typedef struct embi_inverse {
    embi_system S;               /* the factor */
    int valid;                   /* it is that of the matrix as it is now */
    unsigned taken;              /* factors so far */
    int *unknown, unknown_cap, unknown_count;   /* per node of the matrix its unknown, or -1: when it was analysed */
    int *place, place_cap;       /* (n) of an unknown among those asked for, or -1 */
    int *asked, asked_cap, asked_count, known;  /* unknowns that were asked for; so many of them are there */
    int room;
    embipc_real *C; int C_cap;   /* the inverse between these: 3 room rows of 3 room, only 3 known of them set */
    embipc_real *x; int x_cap;   /* (3 n) */
} embi_inverse;

static void embi_inverse_free(embi_memory *m, embi_inverse *V)
{
    if (!V) return;
    embi_system_free(m, &V->S);
    EMBI_RELEASE(m, V->unknown, V->unknown_cap);
    EMBI_RELEASE(m, V->place, V->place_cap);
    EMBI_RELEASE(m, V->asked, V->asked_cap);
    EMBI_RELEASE(m, V->C, V->C_cap);
    EMBI_RELEASE(m, V->x, V->x_cap);
    embi_free(m, V, 1, sizeof *V);
}

/* Prepares for the matrix of those nodes of A whose local number is not negative; these ascend from `first`. Returns 0
 * out of memory. */
static int embi_inverse_begin(embi_memory *m, embi_inverse *V, const embi_bsr *A, const int *local, int first,
                              embi_key **keys, int *keys_cap)
{
    int n = 0, count = 0, same = V->unknown_count == A->n;
    if (!EMBI_GROW(m, int, V->unknown, V->unknown_cap, A->n)) return 0;
    for (int i = 0; i < A->n; i++) {
        int at = local[i] < 0 ? -1 : local[i] - first;
        n += at >= 0;
        same = same && V->unknown[i] == at;
        V->unknown[i] = at;
    }
    V->asked_count = V->known = V->unknown_count = 0;
    if (!EMBI_GROW(m, int, V->place, V->place_cap, n) || !EMBI_GROW(m, int, V->asked, V->asked_cap, n) ||
        !EMBI_GROW(m, embipc_real, V->x, V->x_cap, 3 * n))
        return 0;
    for (int i = 0; i < n; i++) V->place[i] = -1;
    if (!same || V->S.n != n) {
        if (!EMBI_GROW(m, embi_key, *keys, *keys_cap, A->row[A->n])) return 0;
        for (int i = 0; i < A->n; i++)
            for (int k = A->row[i]; k < A->row[i + 1]; k++)
                if (V->unknown[i] >= 0 && V->unknown[A->col[k]] >= 0)
                    (*keys)[count++].key = embi_pack(V->unknown[i], V->unknown[A->col[k]]);
        if (!embi_system_analyze(m, &V->S, n, *keys, count, EMBI_SYSTEM_AUTO)) return 0;
    }
    V->unknown_count = A->n;
    return 1;
}

/* Factors it. Returns the number of pivots that had to be replaced, -1: inf or nan. */
static int embi_inverse_take(embi_inverse *V, const embi_bsr *A)
{
    V->taken++;
    embi_system_zero(&V->S);
    (void)embi_system_add_bsr(&V->S, A, V->unknown, 1);
    return embi_system_factor(&V->S);
}

/* An unknown will be asked for: its place. */
static int embi_inverse_ask(embi_inverse *V, int unknown)
{
    if (V->place[unknown] < 0) {
        V->place[unknown] = V->asked_count;
        V->asked[V->asked_count++] = unknown;
    }
    return V->place[unknown];
}

/* Room for them. Returns 0 out of memory. */
static int embi_inverse_room(embi_memory *m, embi_inverse *V)
{
    int was = V->room, room = embi_min_int(V->asked_count + V->asked_count / 2, V->S.n);
    if (V->asked_count <= was) return 1;
    if (!EMBI_GROW(m, embipc_real, V->C, V->C_cap, 9 * room * room)) return 0;
    for (int r = 3 * V->known - 1; r > 0; r--)
        memmove(V->C + 3 * (size_t)r * (size_t)room, V->C + 3 * (size_t)r * (size_t)was, 3 * (size_t)was * sizeof *V->C);
    V->room = room;
    return 1;
}

/* Computes what was asked for since the last time. */
static void embi_inverse_fill(embi_inverse *V)
{
    size_t ld = 3 * (size_t)V->room;
    for (; V->known < V->asked_count; V->known++)
        for (int c = 0; c < 3; c++) {
            int r = 3 * V->known + c;
            memset(V->x, 0, (size_t)(3 * V->S.n) * sizeof *V->x);
            V->x[3 * V->asked[V->known] + c] = 1;
            embi_system_solve(&V->S, V->x);
            for (int k = 0; k < 3 * (V->known + 1); k++)
                V->C[(size_t)r * ld + (size_t)k] = V->C[(size_t)k * ld + (size_t)r] = V->x[3 * V->asked[k / 3] + k % 3];
        }
}

/* a vector that is zero but at `count` unknowns, with their places: (3 each) */
typedef struct embi_sparse {
    int count;
    const int *node, *place;
    const embipc_real *u;
} embi_sparse;

static embipc_real embi_sparse_dot(const embi_sparse *s, const int *at, const embipc_real *y)
{
    embipc_real sum = 0;
    for (int i = 0; i < s->count; i++) sum += embi_dot(s->u + 3 * i, y + 3 * at[i]);
    return sum;
}

/* y = A^-1 u, all three as far as they were asked for */
EMBI_KERNEL void embi_inverse_kernel(int wide, const embi_inverse *V, const embi_sparse *s, embipc_real *y)
{
    int n = 3 * V->known, ld = 3 * V->room;
    memset(y, 0, (size_t)n * sizeof *y);
    for (int i = 0; i < s->count; i++) {
        embipc_real z[3];
        embi_scale(z, -1, s->u + 3 * i);
        embi_rows_subtract(wide, n, z, V->C + 3 * (size_t)s->place[i] * (size_t)ld, ld, y);
    }
}

#if EMBI_WIDE
__attribute__((target("avx"))) static void embi_inverse_wide(const embi_inverse *V, const embi_sparse *u,
                                                             embipc_real *y)
{
    embi_inverse_kernel(1, V, u, y);
}
#endif

static void embi_inverse_apply(const embi_inverse *V, const embi_sparse *u, embipc_real *y)
{
#if EMBI_WIDE
    if (embi_has_wide()) {
        embi_inverse_wide(V, u, y);
        return;
    }
#endif
    embi_inverse_kernel(0, V, u, y);
}

/* ---- Public handle -------------------------------------------------------------------------- */

struct embipc_sparse_ldlt {
    embi_memory memory;
    embi_system S;
    embi_key *key; int key_cap;   /* (count) couplings of the last matrix */
};

EMBIPC_API embipc_sparse_ldlt *embipc_sparse_ldlt_create(const embipc_allocator *allocator)
{
    embi_memory m;
    embipc_sparse_ldlt *f;
    embi_memory_init(&m, allocator);
    f = (embipc_sparse_ldlt *)embi_alloc(&m, 1, sizeof *f);
    if (f) f->memory = m;
    return f;
}

EMBIPC_API void embipc_sparse_ldlt_destroy(embipc_sparse_ldlt *f)
{
    embi_memory m;
    if (!f) return;
    embi_system_free(&f->memory, &f->S);
    EMBI_RELEASE(&f->memory, f->key, f->key_cap);
    m = f->memory;   /* which frees what it lives in */
    embi_free(&m, f, 1, sizeof *f);
}

EMBIPC_API embipc_result embipc_sparse_ldlt_factor(embipc_sparse_ldlt *f, int n, int count, const int *pairs,
                                                   const embipc_real *blocks, int *replaced)
{
    int bad;
    if (replaced) *replaced = 0;
    if (!f || n < 0 || count < 0 || (count > 0 && (!pairs || !blocks))) return EMBIPC_ERR_ARGUMENT;
    f->memory.failed = 0;
    if (!EMBI_GROW(&f->memory, embi_key, f->key, f->key_cap, count)) {
        embi_system_empty(&f->S);
        return EMBIPC_ERR_MEMORY;
    }
    for (int k = 0; k < count; k++) {
        int i = pairs[2 * (size_t)k], j = pairs[2 * (size_t)k + 1];
        if (i < 0 || j < 0 || i >= n || j >= n) {
            embi_system_empty(&f->S);
            return EMBIPC_ERR_INDEX;
        }
        f->key[k].key = embi_pack(embi_max_int(i, j), embi_min_int(i, j));
    }
    if (!embi_system_covers(&f->S, n, f->key, count)) {
        if (!embi_system_analyze(&f->memory, &f->S, n, f->key, count, EMBI_SYSTEM_AUTO))
            return EMBIPC_ERR_MEMORY;
    } else embi_system_zero(&f->S);
    for (int k = 0; k < count; k++)
        (void)embi_system_add(&f->S, pairs[2 * (size_t)k], pairs[2 * (size_t)k + 1], blocks + 9 * (size_t)k);
    bad = embi_system_factor(&f->S);
    if (bad < 0) {
        embi_system_empty(&f->S);
        return EMBIPC_ERR_NOT_FINITE;
    }
    if (replaced) *replaced = bad;
    return EMBIPC_OK;
}

EMBIPC_API void embipc_sparse_ldlt_solve(embipc_sparse_ldlt *f, embipc_real *b)
{
    if (f && f->S.n > 0) embi_system_solve(&f->S, b);
}

/* ==== 11. Meshes =====================================================================================
 * Triangle surfaces and tet meshes: are they fit for use, which edges and which boundary do they have,
 * and what solid do they enclose. Half-edges and faces are found by sorting, never by hashing: the same
 * order on every machine. With a, b, c the vertices of a triangle seen from an origin o, d = a . (b x c),
 * s = a + b + c:
 *   volume = sum d/6,  integral x = sum d/24 s,  integral x x^T = sum d/120 (s s^T + a a^T + b b^T + c c^T)
 * and the winding number of the surface about p is the sum of the solid angles over 4 pi.
 * Uses: small math, memory, errors, sorting, exact predicates.
 * Checked by: tests/test_mesh.c, tests/test_mesh_faults.c      */

#define EMBI_FLAT 1e-12          /* heights and volumes below this part of the longest edge are none */
#define EMBI_MAX_ELEMENTS (INT_MAX / 16)

/* ---- Boxes ---- */

/* bounding box of n points; lo > hi when n = 0 */
static void embi_box_points(embipc_real lo[3], embipc_real hi[3], const embipc_real *x, int n)
{
    embi_set(lo, EMBI_HUGE, EMBI_HUGE, EMBI_HUGE);
    embi_set(hi, -EMBI_HUGE, -EMBI_HUGE, -EMBI_HUGE);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            lo[k] = embi_min(lo[k], x[3 * (size_t)i + (size_t)k]);
            hi[k] = embi_max(hi[k], x[3 * (size_t)i + (size_t)k]);
        }
}

/* bounding box of the `count` points of x named by index */
static void embi_box_indexed(embipc_real lo[3], embipc_real hi[3], const embipc_real *x, const int *index,
                             int count)
{
    embi_copy(lo, x + 3 * (size_t)index[0]);
    embi_copy(hi, lo);
    for (int i = 1; i < count; i++)
        for (int k = 0; k < 3; k++) {
            embipc_real v = x[3 * (size_t)index[i] + (size_t)k];
            lo[k] = embi_min(lo[k], v);
            hi[k] = embi_max(hi[k], v);
        }
}

static embipc_real embi_box_diagonal(const embipc_real lo[3], const embipc_real hi[3])
{
    embipc_real d[3];
    embi_sub(d, hi, lo);
    return embi_norm(d);
}

static int embi_boxes_meet(const embipc_real alo[3], const embipc_real ahi[3], const embipc_real blo[3],
                           const embipc_real bhi[3])
{
    return alo[0] <= bhi[0] && blo[0] <= ahi[0] && alo[1] <= bhi[1] && blo[1] <= ahi[1] &&
           alo[2] <= bhi[2] && blo[2] <= ahi[2];
}

/* ---- Edges and faces by sorting ---- */

/* a pair of key arrays, as the radix sort wants them */
typedef struct embi_keys {
    embi_key *a, *tmp;
    int a_cap, tmp_cap;
} embi_keys;

static int embi_keys_reserve(embi_memory *m, embi_keys *k, int n)
{
    return EMBI_GROW(m, embi_key, k->a, k->a_cap, n) && EMBI_GROW(m, embi_key, k->tmp, k->tmp_cap, n);
}

static void embi_keys_release(embi_memory *m, embi_keys *k)
{
    EMBI_RELEASE(m, k->a, k->a_cap);
    EMBI_RELEASE(m, k->tmp, k->tmp_cap);
}

/* k->a[0..3n): the half-edges of n triangles, key = (smaller, larger vertex), value = 3*triangle + side,
 * where side s runs from corner s to corner s+1; sorted, so the half-edges of one edge stand together. */
static int embi_half_edges(embi_memory *m, embi_keys *k, const int *tri, int n)
{
    if (!embi_keys_reserve(m, k, 3 * n)) return 0;
    for (int h = 0; h < 3 * n; h++) {
        int a = tri[h], b = tri[h % 3 == 2 ? h - 2 : h + 1];
        k->a[h].key = embi_pack(embi_min_int(a, b), embi_max_int(a, b));
        k->a[h].value = h;
    }
    embi_sort_keys(k->a, k->tmp, 3 * n);
    return 1;
}

/* v = the three indices in ascending order */
static void embi_sort3(int v[3], int a, int b, int c)
{
    v[0] = embi_min_int(a, embi_min_int(b, c));
    v[2] = embi_max_int(a, embi_max_int(b, c));
    v[1] = a ^ b ^ c ^ v[0] ^ v[2];
}

/* k->a[0..n): the faces in face[3*n], key = (smallest, middle vertex), value = face; sorted by all three
 * vertices, equal faces in ascending order of their number. */
static int embi_sort_faces(embi_memory *m, embi_keys *k, const int *face, int n)
{
    int v[3];
    if (!embi_keys_reserve(m, k, n)) return 0;
    for (int i = 0; i < n; i++) {
        embi_sort3(v, face[3 * i], face[3 * i + 1], face[3 * i + 2]);
        k->a[i].key = (embi_u64)(unsigned)v[2];
        k->a[i].value = i;
    }
    embi_sort_keys(k->a, k->tmp, n);
    for (int i = 0; i < n; i++) {   /* stable: the order by the largest vertex survives within equal pairs */
        const int *f = face + 3 * k->a[i].value;
        embi_sort3(v, f[0], f[1], f[2]);
        k->a[i].key = embi_pack(v[0], v[1]);
    }
    embi_sort_keys(k->a, k->tmp, n);
    return 1;
}

/* same three vertices, in any order */
static int embi_same_face(const int *f, const int *g)
{
    int v[3], w[3];
    embi_sort3(v, f[0], f[1], f[2]);
    embi_sort3(w, g[0], g[1], g[2]);
    return v[0] == w[0] && v[1] == w[1] && v[2] == w[2];
}

/* same three vertices and the same sense of rotation */
static int embi_same_sense(const int *f, const int *g)
{
    int i = g[0] == f[0] ? 0 : g[1] == f[0] ? 1 : 2;
    return g[(i + 1) % 3] == f[1];
}

/* Edges of a triangle surface. */
typedef struct embi_topology {
    int *edge;       /* 2 per edge: its vertices, the smaller first; edges in lexicographic order */
    int *edge_tri;   /* 2 per edge: its triangles, the smaller first; -1 where there is none */
    int edge_count, edge_cap, edge_tri_cap;
    embi_keys keys;
} embi_topology;

static void embi_topology_release(embi_memory *m, embi_topology *t)
{
    EMBI_RELEASE(m, t->edge, t->edge_cap);
    EMBI_RELEASE(m, t->edge_tri, t->edge_tri_cap);
    embi_keys_release(m, &t->keys);
    t->edge_count = 0;
}

/* Of an edge with more than two triangles (which embipc_surface_check refuses) the first two are kept. */
static embipc_result embi_topology_build(embi_memory *m, embi_topology *t, const int *tri, int n)
{
    int count = 0;
    const embi_key *k;
    if (!embi_half_edges(m, &t->keys, tri, n)) return EMBIPC_ERR_MEMORY;
    k = t->keys.a;
    for (int i = 0; i < 3 * n; i++) count += i == 0 || k[i].key != k[i - 1].key;
    if (!EMBI_GROW(m, int, t->edge, t->edge_cap, 2 * count)) return EMBIPC_ERR_MEMORY;
    if (!EMBI_GROW(m, int, t->edge_tri, t->edge_tri_cap, 2 * count)) return EMBIPC_ERR_MEMORY;
    t->edge_count = 0;
    for (int i = 0, next; i < 3 * n; i = next) {
        int *e = t->edge + 2 * t->edge_count, *et = t->edge_tri + 2 * t->edge_count;
        for (next = i + 1; next < 3 * n && k[next].key == k[i].key;) next++;
        e[0] = (int)(k[i].key >> 32);
        e[1] = (int)(k[i].key & 0xffffffffu);
        et[0] = k[i].value / 3;
        et[1] = next > i + 1 ? k[i + 1].value / 3 : -1;
        t->edge_count++;
    }
    return EMBIPC_OK;
}

EMBIPC_API int embipc_surface_edges(const int *tri, int tri_count, int *edge, int *edge_tri, int capacity)
{
    embi_memory m;
    embi_topology t;
    int count = -1;
    embi_memory_init(&m, NULL);
    memset(&t, 0, sizeof t);
    if (!tri || tri_count < 0 || tri_count > INT_MAX / 3 || capacity < 0 || (capacity > 0 && !edge))
        return -1;
    if (embi_topology_build(&m, &t, tri, tri_count) == EMBIPC_OK) {
        count = t.edge_count;
        for (int i = 0; i < 2 * embi_min_int(count, capacity); i++) {
            edge[i] = t.edge[i];
            if (edge_tri) edge_tri[i] = t.edge_tri[i];
        }
    }
    embi_topology_release(&m, &t);
    return count;
}

/* the four faces of a positively oriented tet, outward */
static const int embi_tet_face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

/* face[3 * (4*t + i)]: the face of tet t opposite to its node i */
static void embi_tet_faces(int *face, const int *tets, int n)
{
    for (int t = 0; t < n; t++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 3; j++) face[12 * t + 3 * i + j] = tets[4 * t + embi_tet_face[i][j]];
}

/* The boundary triangles of n tets, into an array of its owner. */
static embipc_result embi_tets_boundary(embi_memory *m, const int *tets, int n, int **tri, int *tri_cap,
                                        int *tri_count)
{
    embi_keys keys = {NULL, NULL, 0, 0};
    int *face = NULL, face_cap = 0, ok, count = 0;
    *tri_count = 0;
    ok = EMBI_GROW(m, int, face, face_cap, 12 * n);
    if (ok) {
        embi_tet_faces(face, tets, n);
        ok = embi_sort_faces(m, &keys, face, 4 * n);
    }
    /* a face that meets its like is marked; what stays unmarked is the boundary */
    for (int i = 0, next; ok && i < 4 * n; i = next) {
        const int *f = face + 3 * keys.a[i].value;
        for (next = i + 1; next < 4 * n && embi_same_face(f, face + 3 * keys.a[next].value);) next++;
        for (int j = i; j < next; j++) keys.tmp[keys.a[j].value].value = next - i == 1;
        count += next - i == 1;
    }
    ok = ok && EMBI_GROW(m, int, *tri, *tri_cap, 3 * count);
    for (int f = 0; ok && f < 4 * n; f++) {
        if (!keys.tmp[f].value) continue;
        for (int j = 0; j < 3; j++) (*tri)[3 * *tri_count + j] = face[3 * f + j];
        (*tri_count)++;
    }
    EMBI_RELEASE(m, face, face_cap);
    embi_keys_release(m, &keys);
    return ok ? EMBIPC_OK : EMBIPC_ERR_MEMORY;
}

EMBIPC_API int embipc_tets_boundary(const int *tets, int tet_count, int *tri, int tri_capacity)
{
    embi_memory m;
    int *all = NULL, cap = 0, count = 0;
    embipc_result r;
    if (tet_count < 0 || tet_count > EMBI_MAX_ELEMENTS || (!tets && tet_count > 0)) return -1;
    if (tri_capacity < 0 || (!tri && tri_capacity > 0)) return -1;
    embi_memory_init(&m, NULL);
    r = embi_tets_boundary(&m, tets, tet_count, &all, &cap, &count);
    for (int i = 0; r == EMBIPC_OK && i < 3 * embi_min_int(count, tri_capacity); i++) tri[i] = all[i];
    EMBI_RELEASE(&m, all, cap);
    return r == EMBIPC_OK ? count : -1;
}

/* ---- The enclosed solid ---- */

/* six times the signed volume of the tet (o, a, b, c) given as points */
static embipc_real embi_tet_det(const embipc_real o[3], const embipc_real a[3], const embipc_real b[3],
                                const embipc_real c[3])
{
    embipc_real u[3], v[3], w[3];
    embi_sub(u, a, o);
    embi_sub(v, b, o);
    embi_sub(w, c, o);
    return embi_triple(u, v, w);
}

/* the integrals of embipc_solid, for indices known to be good */
static void embi_solid(embipc_solid *s, const embipc_real *x, int vertex_count, const int *tri, int tri_count)
{
    embipc_real lo[3], hi[3], o[3], volume = 0, first[3] = {0, 0, 0}, second[9] = {0};
    embi_box_points(lo, hi, x, vertex_count);
    for (int k = 0; k < 3; k++) o[k] = lo[k] + (hi[k] - lo[k]) / 2;
    for (int t = 0; t < tri_count; t++) {
        embipc_real p[3][3], sum[3], d;
        for (int i = 0; i < 3; i++) embi_sub(p[i], x + 3 * (size_t)tri[3 * t + i], o);
        d = embi_triple(p[0], p[1], p[2]);
        for (int k = 0; k < 3; k++) sum[k] = p[0][k] + p[1][k] + p[2][k];
        volume += d;
        embi_axpy(first, d, sum);
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                second[3 * k + l] += d * (sum[k] * sum[l] + p[0][k] * p[0][l] + p[1][k] * p[1][l] +
                                          p[2][k] * p[2][l]);
    }
    s->volume = volume / 6;
    embi_scale(first, volume == 0 ? (embipc_real)0 : 1 / (4 * volume), first);   /* now centroid - o */
    for (int k = 0; k < 3; k++) {
        s->centroid[k] = o[k] + first[k];
        for (int l = 0; l < 3; l++)
            s->second[3 * k + l] = second[3 * k + l] / 120 - s->volume * first[k] * first[l];
    }
}

/* Solid angle of the triangle (a, b, c) seen from p, positive from inside (van Oosterom and Strackee 1983):
 *   tan(angle/2) = det(a, b, c) / (|a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|),  vectors from p */
static embipc_real embi_solid_angle(const embipc_real p[3], const embipc_real *xa, const embipc_real *xb,
                                    const embipc_real *xc)
{
    embipc_real a[3], b[3], c[3], la, lb, lc;
    embi_sub(a, xa, p);
    embi_sub(b, xb, p);
    embi_sub(c, xc, p);
    la = embi_norm(a);
    lb = embi_norm(b);
    lc = embi_norm(c);
    return 2 * atan2(embi_triple(a, b, c), la * lb * lc + embi_dot(a, b) * lc + embi_dot(b, c) * la +
                                               embi_dot(c, a) * lb);
}

/* How many times the surface goes round p: 1 inside, 0 outside. Triangles whose label equals `except`
 * (label may be NULL) are left out. */
static embipc_real embi_winding(const embipc_real p[3], const embipc_real *x, const int *tri, int tri_count,
                                const int *label, int except)
{
    embipc_real sum = 0;
    for (int t = 0; t < tri_count; t++) {
        const int *v = tri + 3 * t;
        if (label && label[t] == except) continue;
        sum += embi_solid_angle(p, x + 3 * (size_t)v[0], x + 3 * (size_t)v[1], x + 3 * (size_t)v[2]);
    }
    return sum / (4 * 3.14159265358979323846);
}

/* ---- Checks ---- */

/* root of i in a union-find forest; halves the path on the way */
static int embi_root(int *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* the smaller root wins, so the outcome does not depend on the order of joining */
static void embi_join(int *parent, int a, int b)
{
    a = embi_root(parent, a);
    b = embi_root(parent, b);
    if (a < b) parent[b] = a;
    else parent[a] = b;
}

/* counts and pointers, coordinates, and every index: what both kinds of mesh must have */
static embipc_result embi_check_arrays(const embipc_real *x, int vertex_count, const int *element, int count,
                                       int corners, embipc_error *e)
{
    int is_tet = corners == 4;
    const char *vertex = is_tet ? "node" : "vertex", *name = is_tet ? "tet" : "triangle";
    embipc_primitive pv = is_tet ? EMBIPC_NODE : EMBIPC_VERTEX, pe = is_tet ? EMBIPC_TET : EMBIPC_TRIANGLE;
    if (vertex_count < 0 || count < 0 || (!x && vertex_count) || (!element && count))
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "a mesh array is NULL or its count negative");
    if (count > EMBI_MAX_ELEMENTS || vertex_count > EMBI_MAX_ELEMENTS)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "more than %d elements in one mesh", EMBI_MAX_ELEMENTS);
    if (count == 0) return embi_fail(e, EMBIPC_ERR_ARGUMENT, "the mesh has no %ss", name);
    for (int i = 0; i < vertex_count; i++) {
        const embipc_real *p = x + 3 * (size_t)i;
        if (!embi_all_finite(p, 3))
            return embi_fail_at(e, EMBIPC_ERR_NOT_FINITE, pv, i, p[0],
                                "%s %d is at (%g, %g, %g): not a finite position", vertex, i, p[0], p[1],
                                p[2]);
    }
    for (int t = 0; t < count; t++) {
        const int *v = element + (size_t)corners * (size_t)t;
        for (int i = 0; i < corners; i++) {
            if (v[i] < 0 || v[i] >= vertex_count)
                return embi_fail_at(e, EMBIPC_ERR_INDEX, pe, t, (embipc_real)v[i],
                                    "%s %d names %s %d, but there are 0 to %d", name, t, vertex, v[i],
                                    vertex_count - 1);
            for (int j = 0; j < i; j++)
                if (v[i] == v[j])
                    return embi_fail_at(e, EMBIPC_ERR_MANIFOLD, pe, t, (embipc_real)v[i],
                                        "%s %d has %s %d twice: remove it", name, t, vertex, v[i]);
        }
    }
    return EMBIPC_OK;
}

/* every vertex belongs to an element: an idle one would be an unknown with no mass */
static embipc_result embi_check_used(embi_memory *m, int vertex_count, const int *element, int count,
                                     int corners, embipc_error *e)
{
    int idle = -1;
    unsigned char *used = (unsigned char *)embi_alloc(m, vertex_count, 1);
    if (!used) return embi_fail_memory(e);
    for (int i = 0; i < corners * count; i++) used[element[i]] = 1;
    for (int i = vertex_count - 1; i >= 0; i--)
        if (!used[i]) idle = i;
    embi_free(m, used, vertex_count, 1);
    if (idle < 0) return EMBIPC_OK;
    if (corners == 4)
        return embi_fail_at(e, EMBIPC_ERR_MANIFOLD, EMBIPC_NODE, idle, 0,
                            "node %d belongs to no tet: remove it", idle);
    return embi_fail_at(e, EMBIPC_ERR_MANIFOLD, EMBIPC_VERTEX, idle, 0,
                        "vertex %d belongs to no triangle: remove it", idle);
}

/* largest absolute component of the edge vectors u[0..n), by which they are then divided: the tests below
 * must neither overflow nor underflow */
static void embi_normalise(embipc_real u[][3], int n)
{
    embipc_real s = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) s = embi_max(s, embi_abs(u[i][k]));
    if (!(s > 0)) return;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) u[i][k] /= s;
}

/* height over the longest edge, as a part of that edge: 0.87 for an equilateral triangle */
static embipc_real embi_triangle_shape(const embipc_real *x, const int v[3])
{
    embipc_real u[3][3], n[3], l2 = 0;
    for (int i = 0; i < 3; i++) embi_sub(u[i], x + 3 * (size_t)v[(i + 1) % 3], x + 3 * (size_t)v[i]);
    embi_normalise(u, 3);
    for (int i = 0; i < 3; i++) l2 = embi_max(l2, embi_dot(u[i], u[i]));
    embi_cross(n, u[0], u[1]);
    return l2 > 0 ? embi_norm(n) / l2 : (embipc_real)0;
}

/* six times the signed volume over the cube of the longest edge: 0.71 for a regular tet */
static embipc_real embi_tet_shape(const embipc_real *x, const int v[4])
{
    embipc_real u[6][3], l2 = 0;
    for (int i = 0; i < 3; i++) embi_sub(u[i], x + 3 * (size_t)v[i + 1], x + 3 * (size_t)v[0]);
    embi_sub(u[3], u[1], u[0]);
    embi_sub(u[4], u[2], u[1]);
    embi_sub(u[5], u[0], u[2]);
    embi_normalise(u, 6);
    for (int i = 0; i < 6; i++) l2 = embi_max(l2, embi_dot(u[i], u[i]));
    return l2 > 0 ? embi_triple(u[0], u[1], u[2]) / (l2 * sqrt(l2)) : (embipc_real)0;
}

/* at most two triangles on an edge; no border and neighbours in agreement when closed */
static embipc_result embi_check_edges(const embi_key *k, int n, const int *tri, int closed, embipc_error *e)
{
    for (int i = 2; i < n; i++)
        if (k[i].key == k[i - 2].key)
            return embi_fail_at(e, EMBIPC_ERR_MANIFOLD, EMBIPC_EDGE, k[i].value, 0,
                                "triangles %d, %d and %d share the edge of vertices %d and %d: two may",
                                k[i - 2].value / 3, k[i - 1].value / 3, k[i].value / 3, (int)(k[i].key >> 32),
                                (int)(k[i].key & 0xffffffffu));
    for (int i = 0; closed && i < n; i++)
        if ((i == 0 || k[i].key != k[i - 1].key) && (i + 1 == n || k[i].key != k[i + 1].key))
            return embi_fail_at(e, EMBIPC_ERR_OPEN, EMBIPC_EDGE, k[i].value, 0,
                                "the surface is not closed: only triangle %d has the edge of vertices %d and "
                                "%d; fill the hole, or merge vertices that lie on each other",
                                k[i].value / 3, (int)(k[i].key >> 32), (int)(k[i].key & 0xffffffffu));
    for (int i = 1; closed && i < n; i++)
        if (k[i].key == k[i - 1].key && tri[k[i].value] == tri[k[i - 1].value])
            return embi_fail_at(e, EMBIPC_ERR_ORIENTATION, EMBIPC_EDGE, k[i].value, 0,
                                "triangles %d and %d disagree about which side is outside: flip one of them",
                                k[i - 1].value / 3, k[i].value / 3);
    return EMBIPC_OK;
}

/* Every connected part of a closed surface has a volume, and is outward or a cavity in the others.
 * label: a forest that joins the triangles of a part, becomes the part's smallest triangle;
 * sum: 2*n zeros, becomes signed volume * 6 and largest distance from the part's first vertex. */
static embipc_result embi_check_parts(const embipc_real *x, const int *tri, int n, int *label,
                                      embipc_real *sum, embipc_error *e)
{
    for (int t = 0; t < n; t++) {
        const embipc_real *o;
        embipc_real p[3][3], *s;
        label[t] = embi_root(label, t);
        o = x + 3 * (size_t)tri[3 * label[t]];
        s = sum + 2 * (size_t)label[t];
        for (int i = 0; i < 3; i++) {
            embi_sub(p[i], x + 3 * (size_t)tri[3 * t + i], o);
            s[1] = embi_max(s[1], embi_norm(p[i]));
        }
        s[0] += embi_triple(p[0], p[1], p[2]);
    }
    for (int t = 0; t < n; t++) {
        embipc_real volume = sum[2 * (size_t)t] / 6, reach = sum[2 * (size_t)t + 1], p[3];
        if (label[t] != t) continue;
        if (!(embi_abs(volume) > EMBI_FLAT * reach * reach * reach))
            return embi_fail_at(e, EMBIPC_ERR_DEGENERATE, EMBIPC_TRIANGLE, t, volume,
                                "the closed part with triangle %d encloses no volume (%g m^3): remove it", t,
                                volume);
        /* asked in the middle of a triangle: at a vertex the part may touch the others */
        embi_set(p, 0, 0, 0);
        for (int i = 0; i < 3; i++) embi_axpy(p, 1.0 / 3, x + 3 * (size_t)tri[3 * t + i]);
        if (volume < 0 && embi_winding(p, x, tri, n, label, t) < 0.5)
            return embi_fail_at(e, EMBIPC_ERR_ORIENTATION, EMBIPC_TRIANGLE, t, volume,
                                "the closed part with triangle %d is inside out (volume %g m^3): flip its "
                                "triangles", t, volume);
    }
    return EMBIPC_OK;
}

/* every connected part by itself; k holds the sorted half-edges */
static embipc_result embi_check_solid(embi_memory *m, const embipc_real *x, const int *tri, int n,
                                      const embi_key *k, embipc_error *e)
{
    embipc_result r = EMBIPC_ERR_MEMORY;
    int *label = (int *)embi_alloc(m, n, sizeof *label);
    embipc_real *sum = (embipc_real *)embi_alloc(m, 2 * n, sizeof *sum);
    if (label && sum) {
        for (int t = 0; t < n; t++) label[t] = t;
        for (int i = 1; i < 3 * n; i++)
            if (k[i].key == k[i - 1].key) embi_join(label, k[i].value / 3, k[i - 1].value / 3);
        r = embi_check_parts(x, tri, n, label, sum, e);
    } else (void)embi_fail_memory(e);
    embi_free(m, label, n, sizeof *label);
    embi_free(m, sum, 2 * n, sizeof *sum);
    return r;
}

/* embipc_surface_check on the memory of a world */
static embipc_result embi_surface_check(embi_memory *m, const embipc_real *x, int vertex_count,
                                        const int *tri, int n, int closed, embipc_error *e)
{
    embi_keys keys = {NULL, NULL, 0, 0};
    embipc_result r = embi_check_arrays(x, vertex_count, tri, n, 3, e);
    for (int t = 0; r == EMBIPC_OK && t < n; t++) {
        embipc_real shape = embi_triangle_shape(x, tri + 3 * t);
        if (!(shape > EMBI_FLAT))
            r = embi_fail_at(e, EMBIPC_ERR_DEGENERATE, EMBIPC_TRIANGLE, t, shape,
                             "triangle %d has no area: its height is %g of its longest edge; collapse it", t,
                             shape);
    }
    if (r == EMBIPC_OK) r = embi_check_used(m, vertex_count, tri, n, 3, e);
    if (r == EMBIPC_OK && !embi_sort_faces(m, &keys, tri, n)) r = embi_fail_memory(e);
    for (int i = 1; r == EMBIPC_OK && i < n; i++) {
        int t = keys.a[i - 1].value, u = keys.a[i].value;
        if (embi_same_face(tri + 3 * t, tri + 3 * u))
            r = embi_fail_at(e, EMBIPC_ERR_MANIFOLD, EMBIPC_TRIANGLE, u, (embipc_real)t,
                             "triangles %d and %d have the same three vertices: remove one or both", t, u);
    }
    if (r == EMBIPC_OK && !embi_half_edges(m, &keys, tri, n)) r = embi_fail_memory(e);
    if (r == EMBIPC_OK) r = embi_check_edges(keys.a, 3 * n, tri, closed, e);
    if (r == EMBIPC_OK && closed) r = embi_check_solid(m, x, tri, n, keys.a, e);
    embi_keys_release(m, &keys);
    return r;
}

/* a face belongs to at most two tets, and those lie on its two sides */
static embipc_result embi_check_tet_faces(embi_memory *m, const int *tets, int n, embipc_error *e)
{
    embi_keys keys = {NULL, NULL, 0, 0};
    embipc_result r = EMBIPC_OK;
    int *face = (int *)embi_alloc(m, 12 * n, sizeof *face);
    if (face) embi_tet_faces(face, tets, n);
    if (!face || !embi_sort_faces(m, &keys, face, 4 * n)) r = embi_fail_memory(e);
    for (int i = 1; r == EMBIPC_OK && i < 4 * n; i++) {
        int a = keys.a[i - 1].value, b = keys.a[i].value;
        const int *f = face + 3 * a, *g = face + 3 * b;
        if (!embi_same_face(f, g)) continue;
        if (i > 1 && embi_same_face(f, face + 3 * keys.a[i - 2].value))
            r = embi_fail_at(e, EMBIPC_ERR_MANIFOLD, EMBIPC_TET, b / 4, (embipc_real)(a / 4),
                             "tets %d, %d and %d share one face: remove what is double",
                             keys.a[i - 2].value / 4, a / 4, b / 4);
        else if (embi_same_sense(f, g))
            r = embi_fail_at(e, EMBIPC_ERR_MANIFOLD, EMBIPC_TET, b / 4, (embipc_real)(a / 4),
                             "tets %d and %d lie on the same side of their common face, so they overlap",
                             a / 4, b / 4);
    }
    embi_free(m, face, 12 * n, sizeof *face);
    embi_keys_release(m, &keys);
    return r;
}

/* embipc_tets_check on the memory of a world */
static embipc_result embi_tets_check(embi_memory *m, const embipc_real *x, int node_count, const int *tets,
                                     int n, embipc_error *e)
{
    embipc_result r = embi_check_arrays(x, node_count, tets, n, 4, e);
    for (int t = 0; r == EMBIPC_OK && t < n; t++) {
        embipc_real shape = embi_tet_shape(x, tets + 4 * t);
        if (!(embi_abs(shape) > EMBI_FLAT))
            r = embi_fail_at(e, EMBIPC_ERR_DEGENERATE, EMBIPC_TET, t, shape,
                             "tet %d is flat: six times its volume is %g of its longest edge cubed; remesh "
                             "there", t, shape);
        else if (shape < 0)
            r = embi_fail_at(e, EMBIPC_ERR_DEGENERATE, EMBIPC_TET, t, shape,
                             "tet %d is inverted (six times its volume is %g of its longest edge cubed): "
                             "swap two of its nodes", t, shape);
    }
    if (r == EMBIPC_OK) r = embi_check_used(m, node_count, tets, n, 4, e);
    return r == EMBIPC_OK ? embi_check_tet_faces(m, tets, n, e) : r;
}

EMBIPC_API embipc_result embipc_surface_check(const embipc_real *x, int vertex_count, const int *tri,
                                              int tri_count, int closed, embipc_error *error)
{
    embi_memory m;
    embi_memory_init(&m, NULL);
    return embi_surface_check(&m, x, vertex_count, tri, tri_count, closed, error);
}

EMBIPC_API embipc_result embipc_tets_check(const embipc_real *x, int node_count, const int *tets,
                                           int tet_count, embipc_error *error)
{
    embi_memory m;
    embi_memory_init(&m, NULL);
    return embi_tets_check(&m, x, node_count, tets, tet_count, error);
}

EMBIPC_API embipc_result embipc_mass_properties(const embipc_real *x, int vertex_count, const int *tri,
                                                int tri_count, embipc_solid *solid)
{
    embipc_result r = embi_check_arrays(x, vertex_count, tri, tri_count, 3, NULL);
    if (!solid) return EMBIPC_ERR_ARGUMENT;
    if (r != EMBIPC_OK) return r;
    embi_solid(solid, x, vertex_count, tri, tri_count);
    return EMBIPC_OK;
}

/* ---- Merging ---- */

/* one more value into a hash of 64 bits */
static embi_u64 embi_mix(embi_u64 h, embipc_real value)
{
    embi_u64 bits;
    value += 0;   /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    h = (h ^ bits) * 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 29);
}

/* The key of p's cell, or that of its neighbour by `step`, on a lattice of this size at lo; size 0: of its
 * place. Different cells may share a key: what is found there is looked at again. */
static embi_u64 embi_cell_hash(const embipc_real p[3], const embipc_real lo[3], embipc_real size,
                               const int step[3])
{
    embi_u64 h = 0;
    for (int k = 0; k < 3; k++)
        h = embi_mix(h, size > 0 ? floor((p[k] - lo[k]) / size) + step[k] : p[k]);
    return h;
}

/* The earliest vertex that stays and is not farther from p than the tolerance, or -1. key: all cells, sorted;
 * head, by place in key: the first such vertex of a cell, which next continues. */
static int embi_find_near(const embipc_real *x, const embipc_real p[3], const embipc_real lo[3],
                          embipc_real tolerance, const embi_key *key, int n, const int *head, const int *next)
{
    int found = -1, reach = tolerance > 0;
    for (int c = 0; c < (reach ? 27 : 1); c++) {
        int step[3], at;
        embi_u64 h;
        step[0] = reach ? c % 3 - 1 : 0;
        step[1] = reach ? c / 3 % 3 - 1 : 0;
        step[2] = reach ? c / 9 - 1 : 0;
        h = embi_cell_hash(p, lo, tolerance, step);
        at = embi_lower_bound(key, n, h);
        if (at == n || key[at].key != h) continue;
        for (int i = head[at]; i >= 0; i = next[i]) {
            embipc_real d[3];
            embi_sub(d, x + 3 * (size_t)i, p);
            if (!reach && (d[0] != 0 || d[1] != 0 || d[2] != 0)) continue;
            if (embi_norm(d) <= tolerance && (found < 0 || i < found)) found = i;
        }
    }
    return found;
}

EMBIPC_API int embipc_vertices_merge(const embipc_real *x, int vertex_count, embipc_real tolerance, int *map)
{
    static const int here[3] = {0, 0, 0};
    embi_memory m;
    embi_keys keys = {NULL, NULL, 0, 0};
    embipc_real lo[3], hi[3];
    int *link, n = vertex_count, count = 0;   /* head (n), then next (n) */
    if (n < 0 || n > EMBI_MAX_ELEMENTS || (n && (!x || !map)) || !(tolerance >= 0) || !embi_finite(tolerance))
        return -1;
    if (n && !embi_all_finite(x, 3 * n)) return -1;
    embi_memory_init(&m, NULL);
    embi_box_points(lo, hi, x, n);
    for (int k = 0; k < 3 && n; k++)
        if (!(tolerance > 1e-14 * (hi[k] - lo[k]))) tolerance = 0;
    link = (int *)embi_alloc(&m, 2 * n, sizeof *link);
    if (!link || !embi_keys_reserve(&m, &keys, n)) count = -1;
    for (int i = 0; count >= 0 && i < n; i++) {
        keys.a[i].key = embi_cell_hash(x + 3 * (size_t)i, lo, tolerance, here);
        keys.a[i].value = i;
        link[i] = link[n + i] = -1;
    }
    if (count == 0 && n) embi_sort_keys(keys.a, keys.tmp, n);
    for (int i = 0; count >= 0 && i < n; i++) {
        const embipc_real *p = x + 3 * (size_t)i;
        map[i] = embi_find_near(x, p, lo, tolerance, keys.a, n, link, link + n);
        if (map[i] < 0) {
            int at = embi_lower_bound(keys.a, n, embi_cell_hash(p, lo, tolerance, here));
            map[i] = i;
            link[n + i] = link[at];
            link[at] = i;
            count++;
        }
    }
    embi_free(&m, link, 2 * n, sizeof *link);
    embi_keys_release(&m, &keys);
    return count;
}

/* ---- Faults ---- */

typedef struct embi_faults {
    embipc_fault *list;
    int capacity, count;
} embi_faults;

static void embi_fault_add(embi_faults *f, int element, int other, int a, int b, embipc_real value)
{
    if (f->count < f->capacity) {
        embipc_fault *p = f->list + f->count;
        p->element = element;
        p->other = other;
        p->edge[0] = a;
        p->edge[1] = b;
        p->value = value;
    }
    if (f->count < INT_MAX) f->count++;
}

/* finite points and indices in range: a repeated vertex is a fault to be listed, and passes */
static embipc_result embi_arrays_usable(const embipc_real *x, int vertex_count, const int *element, int count,
                                        int corners)
{
    if (vertex_count < 0 || count < 0 || (!x && vertex_count) || (!element && count) ||
        count > EMBI_MAX_ELEMENTS || vertex_count > EMBI_MAX_ELEMENTS)
        return EMBIPC_ERR_ARGUMENT;
    for (int i = 0; i < vertex_count; i++)
        if (!embi_all_finite(x + 3 * (size_t)i, 3)) return EMBIPC_ERR_NOT_FINITE;
    for (int i = 0; i < corners * count; i++)
        if (element[i] < 0 || element[i] >= vertex_count) return EMBIPC_ERR_INDEX;
    return EMBIPC_OK;
}

/* a vertex that stands twice among n indices, or -1 */
static int embi_repeated(const int *v, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            if (v[i] == v[j]) return v[i];
    return -1;
}

/* The sorted half-edges of all triangles that are not collapsed. Returns their number, or -1. */
static int embi_sound_half_edges(embi_memory *m, embi_keys *k, const int *tri, int n)
{
    int count = 0;
    if (!embi_half_edges(m, k, tri, n)) return -1;
    for (int i = 0; i < 3 * n; i++)
        if (embi_repeated(tri + 3 * (k->a[i].value / 3), 3) < 0) k->a[count++] = k->a[i];
    return count;
}

/* one past the last entry of k[0..n) with the key of entry i */
static int embi_run_end(const embi_key *k, int n, int i)
{
    int end = i + 1;
    while (end < n && k[end].key == k[i].key) end++;
    return end;
}

/* Do the triangles (a, b, c) and (b, a, d) lie on each other: in one plane, c and d on one side of ab? */
static int embi_folded(const embipc_real *a, const embipc_real *b, const embipc_real *c, const embipc_real *d)
{
    if (embipc_orient3d(a, b, c, d) != 0) return 0;
    for (int i = 0; i < 3; i++) {
        int s = embi_orient2d(a, b, c, i, (i + 1) % 3);
        if (s) return s == embi_orient2d(a, b, d, i, (i + 1) % 3);
    }
    return 0;
}

/* the vertex a half-edge leads to, and the corner of its triangle that is not on it */
static int embi_half_end(const int *tri, int h) { return tri[h % 3 == 2 ? h - 2 : h + 1]; }
static int embi_opposite(const int *tri, int h) { return tri[3 * (h / 3) + (h + 2) % 3]; }

static int embi_edge_faults(embi_memory *m, const embipc_real *x, const int *tri, int n,
                            embipc_fault_kind kind, embi_faults *f)
{
    embi_keys keys = {NULL, NULL, 0, 0};
    const embi_key *k;
    int count = embi_sound_half_edges(m, &keys, tri, n);
    k = keys.a;
    for (int i = 0, end; i < count; i = end) {
        int a = (int)(k[i].key >> 32), b = (int)(k[i].key & 0xffffffffu), t = k[i].value / 3, u = -1, bad;
        end = embi_run_end(k, count, i);
        if (end - i > 1) u = k[i + 1].value / 3;
        if (kind == EMBIPC_FAULT_BORDER) bad = end - i == 1;
        else if (kind == EMBIPC_FAULT_CROWDED) bad = end - i > 2;
        else if (end - i != 2) continue;
        else if (kind == EMBIPC_FAULT_TURNED) bad = tri[k[i].value] == tri[k[i + 1].value];
        else {
            int c = embi_opposite(tri, k[i].value), d = embi_opposite(tri, k[i + 1].value);
            bad = c != d && embi_folded(x + 3 * (size_t)a, x + 3 * (size_t)b, x + 3 * (size_t)c,
                                        x + 3 * (size_t)d);
        }
        if (bad) embi_fault_add(f, t, u, a, b, (embipc_real)(end - i));
    }
    embi_keys_release(m, &keys);
    return count >= 0;
}

/* corners that are joined across edges make a fan; a vertex with more than one is pinched */
static int embi_pinched(embi_memory *m, const int *tri, int n, int vertex_count, embi_faults *f)
{
    embi_keys keys = {NULL, NULL, 0, 0};
    int *parent = (int *)embi_alloc(m, 3 * n, sizeof *parent);
    int *fans = (int *)embi_alloc(m, vertex_count, sizeof *fans);
    int count = parent && fans ? embi_sound_half_edges(m, &keys, tri, n) : -1;
    for (int i = 0; count >= 0 && i < 3 * n; i++) parent[i] = i;
    for (int i = 1; i < count; i++) {
        int g = keys.a[i - 1].value, h = keys.a[i].value, same, g2, h2;
        if (keys.a[i].key != keys.a[i - 1].key) continue;
        g2 = 3 * (g / 3) + (g + 1) % 3;
        h2 = 3 * (h / 3) + (h + 1) % 3;
        same = tri[g] == tri[h];
        embi_join(parent, g, same ? h : h2);
        embi_join(parent, g2, same ? h2 : h);
    }
    for (int i = 0; count >= 0 && i < 3 * n; i++)
        if (parent[i] == i && embi_repeated(tri + 3 * (i / 3), 3) < 0) fans[tri[i]]++;
    for (int v = 0; count >= 0 && v < vertex_count; v++)
        if (fans[v] > 1) embi_fault_add(f, v, -1, -1, -1, (embipc_real)fans[v]);
    embi_free(m, parent, 3 * n, sizeof *parent);
    embi_free(m, fans, vertex_count, sizeof *fans);
    embi_keys_release(m, &keys);
    return count >= 0;
}

/* triangles with equal vertices; the earliest of them is `other` of the rest */
static int embi_double_triangles(embi_memory *m, const int *tri, int n, embi_faults *f)
{
    embi_keys keys = {NULL, NULL, 0, 0};
    int ok = embi_sort_faces(m, &keys, tri, n), first = 0;
    for (int i = 1; ok && i < n; i++) {
        int t = keys.a[i].value;
        if (!embi_same_face(tri + 3 * keys.a[first].value, tri + 3 * t)) first = i;
        else if (embi_repeated(tri + 3 * t, 3) < 0)
            embi_fault_add(f, t, keys.a[first].value, -1, -1, 0);
    }
    embi_keys_release(m, &keys);
    return ok;
}

static int embi_unused(embi_memory *m, int vertex_count, const int *element, int n, embi_faults *f)
{
    unsigned char *used = (unsigned char *)embi_alloc(m, vertex_count, 1);
    if (!used) return 0;
    for (int i = 0; i < n; i++) used[element[i]] = 1;
    for (int i = 0; i < vertex_count; i++)
        if (!used[i]) embi_fault_add(f, i, -1, -1, -1, 0);
    embi_free(m, used, vertex_count, 1);
    return 1;
}

/* COLLAPSED, FLAT and INVERTED: each element by itself */
static void embi_shape_faults(const embipc_real *x, const int *element, int n, int corners,
                              embipc_fault_kind kind, embi_faults *f)
{
    for (int t = 0; t < n; t++) {
        const int *v = element + (size_t)corners * (size_t)t;
        int twice = embi_repeated(v, corners), bad;
        embipc_real shape = 0;
        if (kind == EMBIPC_FAULT_COLLAPSED) {
            if (twice >= 0) embi_fault_add(f, t, twice, -1, -1, 0);
            continue;
        }
        if (twice >= 0) continue;
        shape = corners == 3 ? embi_triangle_shape(x, v) : embi_tet_shape(x, v);
        bad = kind == EMBIPC_FAULT_FLAT ? !(embi_abs(shape) > EMBI_FLAT) : shape < -EMBI_FLAT;
        if (bad) embi_fault_add(f, t, -1, -1, -1, shape);
    }
}

static int embi_faults_init(embi_faults *f, embipc_fault *list, int capacity, int count)
{
    f->list = list;
    f->capacity = capacity;
    f->count = 0;
    return capacity >= 0 && (list || !capacity) && count <= EMBI_MAX_ELEMENTS;
}

EMBIPC_API int embipc_surface_faults(const embipc_real *x, int vertex_count, const int *tri, int tri_count,
                                     embipc_fault_kind kind, embipc_fault *fault, int capacity)
{
    embi_memory m;
    embi_faults f;
    int ok = 1;
    if (!embi_faults_init(&f, fault, capacity, tri_count)) return -1;
    if (embi_arrays_usable(x, vertex_count, tri, tri_count, 3) != EMBIPC_OK) return -1;
    embi_memory_init(&m, NULL);
    switch (kind) {
    case EMBIPC_FAULT_UNUSED: ok = embi_unused(&m, vertex_count, tri, 3 * tri_count, &f); break;
    case EMBIPC_FAULT_DOUBLE: ok = embi_double_triangles(&m, tri, tri_count, &f); break;
    case EMBIPC_FAULT_PINCHED: ok = embi_pinched(&m, tri, tri_count, vertex_count, &f); break;
    case EMBIPC_FAULT_COLLAPSED:
    case EMBIPC_FAULT_FLAT: embi_shape_faults(x, tri, tri_count, 3, kind, &f); break;
    case EMBIPC_FAULT_INVERTED: break;   /* triangles have no volume to invert */
    case EMBIPC_FAULT_CROWDED:
    case EMBIPC_FAULT_TURNED:
    case EMBIPC_FAULT_BORDER:
    case EMBIPC_FAULT_FOLDED: ok = embi_edge_faults(&m, x, tri, tri_count, kind, &f); break;
    default: ok = 0;
    }
    return ok ? f.count : -1;
}

/* DOUBLE, CROWDED and TURNED, by way of the sorted faces */
static int embi_tet_face_faults(embi_memory *m, const int *tets, int n, embipc_fault_kind kind,
                                embi_faults *f)
{
    embi_keys keys = {NULL, NULL, 0, 0};
    int *face = (int *)embi_alloc(m, 12 * n, sizeof *face), ok;
    if (face) embi_tet_faces(face, tets, n);
    ok = face && embi_sort_faces(m, &keys, face, 4 * n);
    for (int i = 0, end; ok && i < 4 * n; i = end) {
        for (end = i + 1; end < 4 * n && embi_same_face(face + 3 * keys.a[i].value,
                                                        face + 3 * keys.a[end].value);) end++;
        if (kind == EMBIPC_FAULT_CROWDED && end - i > 2)
            embi_fault_add(f, keys.a[i].value / 4, keys.a[i + 1].value / 4, -1, -1, (embipc_real)(end - i));
        for (int j = i + 1; j < end && kind != EMBIPC_FAULT_CROWDED; j++) {
            int a = keys.a[i].value, b = keys.a[j].value, p = tets[a], q = tets[b], *g = face + 3 * a;
            /* equal tets share four faces: counted at the one opposite to the largest node */
            if (kind == EMBIPC_FAULT_DOUBLE && p == q && p > g[0] && p > g[1] && p > g[2])
                embi_fault_add(f, b / 4, a / 4, -1, -1, 0);
            if (kind == EMBIPC_FAULT_TURNED && p != q && end - i == 2 && embi_same_sense(g, face + 3 * b))
                embi_fault_add(f, b / 4, a / 4, -1, -1, 0);
        }
    }
    embi_free(m, face, 12 * n, sizeof *face);
    embi_keys_release(m, &keys);
    return ok;
}

EMBIPC_API int embipc_tets_faults(const embipc_real *x, int vertex_count, const int *tets, int tet_count,
                                  embipc_fault_kind kind, embipc_fault *fault, int capacity)
{
    embi_memory m;
    embi_faults f;
    int ok = 1;
    if (!embi_faults_init(&f, fault, capacity, tet_count)) return -1;
    if (embi_arrays_usable(x, vertex_count, tets, tet_count, 4) != EMBIPC_OK) return -1;
    embi_memory_init(&m, NULL);
    switch (kind) {
    case EMBIPC_FAULT_UNUSED: ok = embi_unused(&m, vertex_count, tets, 4 * tet_count, &f); break;
    case EMBIPC_FAULT_COLLAPSED:
    case EMBIPC_FAULT_FLAT:
    case EMBIPC_FAULT_INVERTED: embi_shape_faults(x, tets, tet_count, 4, kind, &f); break;
    case EMBIPC_FAULT_DOUBLE:
    case EMBIPC_FAULT_CROWDED:
    case EMBIPC_FAULT_TURNED: ok = embi_tet_face_faults(&m, tets, tet_count, kind, &f); break;
    case EMBIPC_FAULT_BORDER:
    case EMBIPC_FAULT_FOLDED:
    case EMBIPC_FAULT_PINCHED: break;   /* of surfaces */
    default: ok = 0;
    }
    return ok ? f.count : -1;
}

/* ---- Parts ---- */

/* label[t]: the smallest triangle of t's part; keys: the half-edges. Returns their number, or -1. */
static int embi_label_parts(embi_memory *m, embi_keys *keys, const int *tri, int n, int *label)
{
    int count = embi_sound_half_edges(m, keys, tri, n);
    if (count < 0) return -1;
    for (int t = 0; t < n; t++) label[t] = t;
    for (int i = 1; i < count; i++)
        if (keys->a[i].key == keys->a[i - 1].key)
            embi_join(label, keys->a[i].value / 3, keys->a[i - 1].value / 3);
    for (int t = 0; t < n; t++) label[t] = embi_root(label, t);
    return count;
}

static embipc_real embi_triangle_area(const embipc_real *x, const int v[3])
{
    embipc_real u[3], w[3], c[3];
    embi_sub(u, x + 3 * (size_t)v[1], x + 3 * (size_t)v[0]);
    embi_sub(w, x + 3 * (size_t)v[2], x + 3 * (size_t)v[0]);
    embi_cross(c, u, w);
    return embi_norm(c) / 2;
}

static void embi_triangle_middle(embipc_real p[3], const embipc_real *x, const int v[3])
{
    embi_set(p, 0, 0, 0);
    for (int i = 0; i < 3; i++) embi_axpy(p, 1.0 / 3, x + 3 * (size_t)v[i]);
}

/* A part and its bounding box. */
typedef struct embi_part { embipc_part p; embipc_real lo[3], hi[3]; } embi_part;

/* number[t] = the part of t, counted in the order of their smallest triangles; label: see above. Returns how
 * many there are. */
static int embi_number_parts(const int *label, int n, int *number)
{
    int count = 0;
    for (int t = 0; t < n; t++) number[t] = label[t] == t ? count++ : number[label[t]];
    return count;
}

/* Area, volume, box and counts of every part; part (zeroed) by number. */
static void embi_measure_parts(const embipc_real *x, const int *tri, int n, const int *number,
                               const embi_key *k, int edges, embi_part *part)
{
    for (int t = 0; t < n; t++) {
        embi_part *s = part + number[t];
        embipc_real lo[3], hi[3];
        const embipc_real *o;
        int first = s->p.triangle_count++ == 0;
        if (first) s->p.triangle = t;
        embi_box_indexed(lo, hi, x, tri + 3 * t, 3);
        for (int i = 0; i < 3; i++) {
            s->lo[i] = first ? lo[i] : embi_min(s->lo[i], lo[i]);
            s->hi[i] = first ? hi[i] : embi_max(s->hi[i], hi[i]);
        }
        o = x + 3 * (size_t)tri[3 * s->p.triangle];
        s->p.area += embi_triangle_area(x, tri + 3 * t);
        s->p.volume += embi_tet_det(o, x + 3 * (size_t)tri[3 * t], x + 3 * (size_t)tri[3 * t + 1],
                                    x + 3 * (size_t)tri[3 * t + 2]) / 6;
    }
    for (int i = 0, end; i < edges; i = end) {
        embipc_part *p = &part[number[k[i].value / 3]].p;
        end = embi_run_end(k, edges, i);
        if (end - i == 1) p->border_edges++;
        else if (end - i > 2 || tri[k[i].value] == tri[k[i + 1].value]) p->bad_edges++;
    }
}

/* Is part i, closed and of negative volume, no cavity? Only what has it in its box can be around it; most
 * often that is nobody. */
static int embi_inside_out(const embipc_real *x, const int *tri, int n, const int *number,
                           const embi_part *part, int count, int i)
{
    embipc_real p[3];
    embi_triangle_middle(p, x, tri + 3 * part[i].p.triangle);
    for (int j = 0; j < count; j++)
        if (j != i && embi_boxes_meet(p, p, part[j].lo, part[j].hi))
            return embi_winding(p, x, tri, n, number, i) < 0.5;
    return 1;
}

EMBIPC_API int embipc_surface_parts(const embipc_real *x, int vertex_count, const int *tri, int tri_count,
                                    int *part, embipc_part *list, int capacity)
{
    embi_memory m;
    embi_keys keys = {NULL, NULL, 0, 0};
    int n = tri_count, all = 0, count = -1, edges = -1, *label, *number;
    embi_part *p = NULL;
    if (capacity < 0 || (capacity && !list)) return -1;
    if (embi_arrays_usable(x, vertex_count, tri, n, 3) != EMBIPC_OK) return -1;
    embi_memory_init(&m, NULL);
    label = (int *)embi_alloc(&m, n, sizeof *label);
    number = (int *)embi_alloc(&m, n, sizeof *number);
    if (label && number) edges = embi_label_parts(&m, &keys, tri, n, label);
    if (edges >= 0) {
        all = embi_number_parts(label, n, number);
        p = (embi_part *)embi_alloc(&m, all, sizeof *p);
    }
    if (p) {
        count = 0;
        embi_measure_parts(x, tri, n, number, keys.a, edges, p);
    }
    for (int i = 0; p && i < all; i++) {
        embipc_part *q = &p[i].p;
        int of_no_part = embi_repeated(tri + 3 * q->triangle, 3) >= 0;
        q->inside_out = q->volume < 0 && q->border_edges + q->bad_edges == 0 &&
                        embi_inside_out(x, tri, n, number, p, all, i);
        if (!of_no_part && count < capacity) list[count] = *q;
        label[i] = of_no_part ? -1 : count++;   /* from here on: its number in the list */
    }
    for (int t = 0; p && part && t < n; t++) part[t] = label[number[t]];
    embi_free(&m, label, n, sizeof *label);
    embi_free(&m, number, n, sizeof *number);
    embi_free(&m, p, all, sizeof *p);
    embi_keys_release(&m, &keys);
    return count;
}

/* ---- Orientation ---- */

/* The half-edges of edges with exactly two triangles, as pairs: mate[h] is the other one, or -1. */
static int embi_mates(embi_memory *m, const int *tri, int n, int *mate)
{
    embi_keys keys = {NULL, NULL, 0, 0};
    int count = embi_sound_half_edges(m, &keys, tri, n);
    for (int h = 0; h < 3 * n; h++) mate[h] = -1;
    for (int i = 0, end; i < count; i = end) {
        end = embi_run_end(keys.a, count, i);
        if (end - i != 2) continue;
        mate[keys.a[i].value] = keys.a[i + 1].value;
        mate[keys.a[i + 1].value] = keys.a[i].value;
    }
    embi_keys_release(m, &keys);
    return count >= 0;
}

/* turn[t] = 1 where t must be turned to agree with the others of its part; the fewer are. label: parts;
 * queue (n): scratch. */
static void embi_agree(const int *tri, int n, const int *mate, int *label, unsigned char *turn, int *queue)
{
    for (int t = 0; t < n; t++) label[t] = -1;
    for (int t = 0; t < n; t++) {
        int head = 0, tail = 0, turned = 0;
        if (label[t] >= 0) continue;
        label[t] = t;
        queue[tail++] = t;
        while (head < tail) {
            int u = queue[head++];
            turned += turn[u];
            for (int h = 3 * u; h < 3 * u + 3; h++) {
                int w = mate[h] / 3;
                if (mate[h] < 0 || label[w] >= 0) continue;
                label[w] = t;
                turn[w] = (unsigned char)(turn[u] ^ (tri[h] == tri[mate[h]]));
                queue[tail++] = w;
            }
        }
        for (int i = 0; i < tail && 2 * turned > tail; i++) turn[queue[i]] = !turn[queue[i]];
    }
}

static void embi_turn(int *t)
{
    int swap = t[1];
    t[1] = t[2];
    t[2] = swap;
}

/* A closed part, for the question which of them lies in which. */
typedef struct embi_shell {
    embipc_real box[6], volume, p[3];   /* p: in the middle of one of its triangles */
    int first, count;                   /* its triangles: order[first .. first + count - 1] */
    int closed, depth, outer, turn;     /* outer: the smallest shell around it */
} embi_shell;

/* the winding number of one shell about p */
static embipc_real embi_shell_winding(const embi_shell *s, const embipc_real p[3], const embipc_real *x,
                                      const int *tri, const int *order)
{
    embipc_real sum = 0;
    for (int k = 0; k < 3; k++)
        if (p[k] < s->box[k] || p[k] > s->box[3 + k]) return 0;
    for (int i = s->first; i < s->first + s->count; i++)
        sum += embi_winding(p, x, tri + 3 * order[i], 1, NULL, 0);
    return sum;
}

/* Which closed shells are to be turned: those in an even number of others whose volume is negative, and those
 * in an odd number when the smallest around them is. */
static void embi_turn_shells(embi_shell *s, int n, const embipc_real *x, const int *tri, const int *order)
{
    for (int i = 0; i < n; i++) {
        s[i].outer = -1;
        for (int j = 0; j < n && s[i].closed; j++) {
            if (j == i || !s[j].closed) continue;
            if (!(embi_abs(embi_shell_winding(s + j, s[i].p, x, tri, order)) > 0.5)) continue;
            s[i].depth++;
            if (s[i].outer < 0 || embi_abs(s[j].volume) < embi_abs(s[s[i].outer].volume)) s[i].outer = j;
        }
        s[i].turn = s[i].closed && s[i].depth % 2 == 0 && s[i].volume < 0;
    }
    for (int i = 0; i < n; i++)
        if (s[i].depth % 2) s[i].turn = s[s[i].outer].turn;
}

/* Shells (zeroed) of the numbered parts, and order: their triangles, part by part. */
static void embi_collect_shells(const embipc_real *x, const int *tri, int n, const int *mate,
                                const int *number, embi_shell *shell, int shells, int *order)
{
    int first = 0;
    for (int t = 0; t < n; t++) shell[number[t]].count++;
    for (int i = 0; i < shells; i++) {
        shell[i].first = first;
        first += shell[i].count;
        shell[i].count = 0;
        shell[i].closed = 1;
    }
    for (int t = 0; t < n; t++) {
        embi_shell *s = shell + number[t];
        const embipc_real *o;
        if (s->count == 0) {
            embi_triangle_middle(s->p, x, tri + 3 * t);
            embi_box_indexed(s->box, s->box + 3, x, tri + 3 * t, 3);
        }
        order[s->first + s->count++] = t;
        o = x + 3 * (size_t)tri[3 * order[s->first]];
        s->volume += embi_tet_det(o, x + 3 * (size_t)tri[3 * t], x + 3 * (size_t)tri[3 * t + 1],
                                  x + 3 * (size_t)tri[3 * t + 2]) / 6;
        for (int i = 0; i < 3; i++) {
            const embipc_real *p = x + 3 * (size_t)tri[3 * t + i];
            for (int k = 0; k < 3; k++) {
                s->box[k] = embi_min(s->box[k], p[k]);
                s->box[3 + k] = embi_max(s->box[3 + k], p[k]);
            }
            /* the neighbour must be there, and must agree by now */
            if (mate[3 * t + i] < 0 || tri[3 * t + i] == tri[mate[3 * t + i]]) s->closed = 0;
        }
    }
}

EMBIPC_API int embipc_surface_orient(const embipc_real *x, int vertex_count, int *tri, int tri_count)
{
    embi_memory m;
    int n = tri_count, count = 0, shells = 0, ok = 0, *mate, *label, *queue, *number;
    unsigned char *turn;
    embi_shell *shell = NULL;
    if (embi_arrays_usable(x, vertex_count, tri, n, 3) != EMBIPC_OK) return -1;
    embi_memory_init(&m, NULL);
    mate = (int *)embi_alloc(&m, 3 * n, sizeof *mate);
    label = (int *)embi_alloc(&m, n, sizeof *label);
    queue = (int *)embi_alloc(&m, n, sizeof *queue);
    number = (int *)embi_alloc(&m, n, sizeof *number);
    turn = (unsigned char *)embi_alloc(&m, n, 1);
    if (!m.failed && embi_mates(&m, tri, n, mate)) {
        embi_agree(tri, n, mate, label, turn, queue);
        shells = embi_number_parts(label, n, number);
        shell = (embi_shell *)embi_alloc(&m, shells, sizeof *shell);
        for (int t = 0; t < n; t++)
            if (turn[t]) embi_turn(tri + 3 * t);
        ok = shell && embi_mates(&m, tri, n, mate);   /* again: turning renamed the half-edges */
        if (ok) {
            embi_collect_shells(x, tri, n, mate, number, shell, shells, queue);
            embi_turn_shells(shell, shells, x, tri, queue);
        }
        for (int t = 0; t < n; t++) {
            int again = ok ? shell[number[t]].turn : turn[t];   /* out of memory: all back */
            if (again) embi_turn(tri + 3 * t);
            count += turn[t] ^ again;
        }
    }
    embi_free(&m, mate, 3 * n, sizeof *mate);
    embi_free(&m, label, n, sizeof *label);
    embi_free(&m, queue, n, sizeof *queue);
    embi_free(&m, number, n, sizeof *number);
    embi_free(&m, turn, n, 1);
    embi_free(&m, shell, shells, sizeof *shell);
    return ok ? count : -1;
}

/* ---- Flips ---- */

/* side (corner s to s + 1) of the longest edge of a triangle */
static int embi_longest_side(const embipc_real *x, const int v[3])
{
    int longest = 0;
    embipc_real most = -1;
    for (int s = 0; s < 3; s++) {
        embipc_real d[3], l;
        embi_sub(d, x + 3 * (size_t)v[s], x + 3 * (size_t)v[(s + 1) % 3]);
        l = embi_norm(d);
        if (l > most) { most = l; longest = s; }
    }
    return longest;
}

/* Triangles (a, b, c) and (b, a, d) at the half-edges h and g become (c, a, d) and (d, b, c), when neither is
 * flat and no triangle has the edge c-d yet (k[0..edges): sorted half-edges). */
static int embi_flip(const embipc_real *x, int *tri, int h, int g, const embi_key *k, int edges)
{
    int a = tri[h], b = tri[g], c = embi_opposite(tri, h), d = embi_opposite(tri, g), t[3], u[3], at;
    embi_u64 edge = embi_pack(embi_min_int(c, d), embi_max_int(c, d));
    if (c == d || a == b || embi_half_end(tri, h) != b || embi_half_end(tri, g) != a) return 0;
    at = embi_lower_bound(k, edges, edge);
    t[0] = c; t[1] = a; t[2] = d;
    u[0] = d; u[1] = b; u[2] = c;
    if ((at < edges && k[at].key == edge) || !(embi_triangle_shape(x, t) > EMBI_FLAT) ||
        !(embi_triangle_shape(x, u) > EMBI_FLAT))
        return 0;
    memcpy(tri + 3 * (h / 3), t, sizeof t);
    memcpy(tri + 3 * (g / 3), u, sizeof u);
    return 1;
}

EMBIPC_API int embipc_surface_flip_flat(const embipc_real *x, int vertex_count, int *tri, int tri_count)
{
    embi_memory m;
    embi_keys keys = {NULL, NULL, 0, 0};
    int n = tri_count, total = 0, flips = 1, edges = 0, *mate;
    unsigned char *touched;
    if (embi_arrays_usable(x, vertex_count, tri, n, 3) != EMBIPC_OK) return -1;
    embi_memory_init(&m, NULL);
    mate = (int *)embi_alloc(&m, 3 * n, sizeof *mate);
    touched = (unsigned char *)embi_alloc(&m, n, 1);
    /* in rounds, since a flip changes the half-edges around it; each makes fewer triangles flat */
    while (flips > 0 && mate && touched) {
        flips = 0;
        edges = embi_sound_half_edges(&m, &keys, tri, n);
        if (edges < 0 || !embi_mates(&m, tri, n, mate)) { edges = -1; break; }
        memset(touched, 0, (size_t)n);
        for (int t = 0; t < n; t++) {
            int h, s;
            if (embi_repeated(tri + 3 * t, 3) >= 0) continue;
            if (embi_triangle_shape(x, tri + 3 * t) > EMBI_FLAT) continue;
            h = 3 * t + embi_longest_side(x, tri + 3 * t);
            s = mate[h] / 3;
            if (mate[h] < 0 || touched[t] || touched[s]) continue;
            if (!embi_flip(x, tri, h, mate[h], keys.a, edges)) continue;
            for (int i = 0; i < 3; i++) {   /* what is around waits for the next round */
                if (mate[3 * t + i] >= 0) touched[mate[3 * t + i] / 3] = 1;
                if (mate[3 * s + i] >= 0) touched[mate[3 * s + i] / 3] = 1;
            }
            touched[t] = touched[s] = 1;
            flips++;
        }
        total += flips;
    }
    if (!mate || !touched || edges < 0) total = -1;
    embi_free(&m, mate, 3 * n, sizeof *mate);
    embi_free(&m, touched, n, 1);
    embi_keys_release(&m, &keys);
    return total;
}

/* ---- Holes ---- */

/* The borders of a surface, walked so as the triangles of a lid would run: against the half-edge. */
typedef struct embi_loops {
    int *half, *start;       /* half-edges loop by loop; where each begins (count + 1) */
    int count, edges;        /* loops, and border edges in all */
    int half_cap, start_cap, walk_cap, at_cap;
    int *walk, *at;          /* the walk under way; by place in keys: where the walk left from there, or -1 */
    embi_keys keys;          /* border half-edges by the vertex the lid leaves from */
} embi_loops;

static void embi_loops_release(embi_memory *m, embi_loops *l)
{
    EMBI_RELEASE(m, l->half, l->half_cap);
    EMBI_RELEASE(m, l->start, l->start_cap);
    EMBI_RELEASE(m, l->walk, l->walk_cap);
    EMBI_RELEASE(m, l->at, l->at_cap);
    embi_keys_release(m, &l->keys);
}

/* the border half-edges into l->keys, sorted by their end vertex */
static int embi_collect_borders(embi_memory *m, embi_loops *l, const int *tri, int n)
{
    int count = embi_sound_half_edges(m, &l->keys, tri, n);
    embi_key *k = l->keys.a;
    if (count < 0) return 0;
    l->edges = 0;
    for (int i = 0, end; i < count; i = end) {
        end = embi_run_end(k, count, i);
        if (end - i != 1) continue;
        k[l->edges].value = k[i].value;
        k[l->edges++].key = (embi_u64)(unsigned)embi_half_end(tri, k[i].value);
    }
    embi_sort_keys(k, l->keys.tmp, l->edges);
    return EMBI_GROW(m, int, l->half, l->half_cap, l->edges) &&
           EMBI_GROW(m, int, l->start, l->start_cap, l->edges + 1) &&
           EMBI_GROW(m, int, l->walk, l->walk_cap, l->edges) &&
           EMBI_GROW(m, int, l->at, l->at_cap, l->edges);
}

/* Walks from place `first` of the keys until no border leads on. Whenever the walk meets itself, what lies
 * between is a loop. A half-edge that was walked has value -1 - itself. */
static void embi_walk_border(embi_loops *l, const int *tri, int first, int *used)
{
    embi_key *k = l->keys.a;
    int top = 0, place = first;
    l->at[place] = 0;
    for (;;) {
        int i = place, h, to, next;
        while (i < l->edges && k[i].key == k[place].key && k[i].value < 0) i++;
        if (i == l->edges || k[i].key != k[place].key) break;
        h = k[i].value;
        k[i].value = -1 - h;
        l->walk[top++] = h;
        to = tri[h];
        next = embi_lower_bound(k, l->edges, (embi_u64)(unsigned)to);
        if (next == l->edges || k[next].key != (embi_u64)(unsigned)to) break;   /* leads nowhere */
        place = next;
        if (l->at[place] < 0) { l->at[place] = top; continue; }
        for (int j = l->at[place]; j < top; j++) {
            int left = embi_lower_bound(k, l->edges, (embi_u64)(unsigned)embi_half_end(tri, l->walk[j]));
            if (j > l->at[place]) l->at[left] = -1;
            l->half[(*used)++] = l->walk[j];
        }
        top = l->at[place];
        l->start[++l->count] = *used;
    }
    for (int j = 0; j < top; j++)
        l->at[embi_lower_bound(k, l->edges, (embi_u64)(unsigned)embi_half_end(tri, l->walk[j]))] = -1;
    l->at[place] = l->at[first] = -1;
}

static int embi_loops_build(embi_memory *m, embi_loops *l, const int *tri, int n)
{
    int used = 0;
    memset(l, 0, sizeof *l);
    if (!embi_collect_borders(m, l, tri, n)) return 0;
    for (int i = 0; i < l->edges; i++) l->at[i] = -1;
    l->start[0] = 0;
    for (int i = 0; i < l->edges; i++)
        if (l->keys.a[i].value >= 0)
            embi_walk_border(l, tri, embi_lower_bound(l->keys.a, l->edges, l->keys.a[i].key), &used);
    return 1;
}

EMBIPC_API int embipc_surface_loops(const int *tri, int tri_count, int *vertex, int *start, int capacity)
{
    embi_memory m;
    embi_loops l;
    int count = -1;
    if (tri_count < 0 || tri_count > EMBI_MAX_ELEMENTS || (tri_count && !tri) || capacity < 0) return -1;
    if (capacity && (!vertex || !start)) return -1;
    for (int i = 0; i < 3 * tri_count; i++)
        if (tri[i] < 0) return -1;
    embi_memory_init(&m, NULL);
    if (embi_loops_build(&m, &l, tri, tri_count) && (!capacity || l.edges <= capacity)) {
        count = l.count;
        for (int i = 0; capacity && i < l.start[count]; i++) vertex[i] = embi_half_end(tri, l.half[i]);
        for (int i = 0; capacity && i <= count; i++) start[i] = l.start[i];
    }
    embi_loops_release(&m, &l);
    return count;
}

/* Cuts the polygon v[0..n) into triangles of least area in all, none flat, without diagonals that are edges
 * of the surface (k[0..edges), sorted): best[i * n + j] for the piece from i to j, where cut[i * n + j] is
 * the third corner. Returns the area, EMBI_HUGE where there is no such way. */
static embipc_real embi_cut_polygon(const embipc_real *x, const int *v, int n, const embi_key *k, int edges,
                                    embipc_real *best, int *cut)
{
    for (int length = 1; length < n; length++)
        for (int i = 0, j = length; j < n; i++, j++) {
            embi_u64 edge = embi_pack(embi_min_int(v[i], v[j]), embi_max_int(v[i], v[j]));
            int at = length > 1 && length < n - 1 ? embi_lower_bound(k, edges, edge) : edges;
            best[i * n + j] = length == 1 ? (embipc_real)0 : EMBI_HUGE;
            cut[i * n + j] = -1;
            if (at < edges && k[at].key == edge) continue;
            for (int c = i + 1; c < j; c++) {
                embipc_real area = best[i * n + c] + best[c * n + j];
                int t[3];
                t[0] = v[i]; t[1] = v[c]; t[2] = v[j];
                if (!(area < best[i * n + j]) || !(embi_triangle_shape(x, t) > EMBI_FLAT)) continue;
                area += embi_triangle_area(x, t);
                if (!(area < best[i * n + j])) continue;
                best[i * n + j] = area;
                cut[i * n + j] = c;
            }
        }
    return best[n - 1];
}

/* the triangles of the cut, appended to lid while they fit; stack (2 n): scratch. Returns the new count. */
static int embi_emit_polygon(const int *v, int n, const int *cut, int *stack, int *lid, int capacity,
                             int count)
{
    int top = 0;
    stack[top++] = 0;
    stack[top++] = n - 1;
    while (top > 0) {
        int j = stack[--top], i = stack[--top], c = cut[i * n + j];
        if (j - i < 2) continue;
        if (count < capacity) {
            lid[3 * count] = v[i];
            lid[3 * count + 1] = v[c];
            lid[3 * count + 2] = v[j];
        }
        count++;
        stack[top++] = i; stack[top++] = c;
        stack[top++] = c; stack[top++] = j;
    }
    return count;
}

#define EMBI_LARGEST_HOLE 512

EMBIPC_API int embipc_surface_fill(const embipc_real *x, int vertex_count, const int *tri, int tri_count,
                                   int max_edges, int *lid, int capacity, int *filled)
{
    embi_memory m;
    embi_keys keys = {NULL, NULL, 0, 0};
    embi_loops l;
    int n = tri_count, most = embi_min_int(embi_max_int(max_edges, 3), EMBI_LARGEST_HOLE);
    int edges = -1, count = 0, lids = 0, square = most * most, *label, *cut, *v;   /* v: polygon, and stack */
    embipc_real *area, *best, cost;
    if (capacity < 0 || (capacity && !lid)) return -1;
    if (embi_arrays_usable(x, vertex_count, tri, n, 3) != EMBIPC_OK) return -1;
    embi_memory_init(&m, NULL);
    memset(&l, 0, sizeof l);
    label = (int *)embi_alloc(&m, n, sizeof *label);
    area = (embipc_real *)embi_alloc(&m, n, sizeof *area);
    best = (embipc_real *)embi_alloc(&m, square, sizeof *best);
    cut = (int *)embi_alloc(&m, square, sizeof *cut);
    v = (int *)embi_alloc(&m, 5 * most, sizeof *v);
    if (!m.failed && embi_loops_build(&m, &l, tri, n)) edges = embi_label_parts(&m, &keys, tri, n, label);
    for (int t = 0; edges >= 0 && t < n; t++) area[label[t]] += embi_triangle_area(x, tri + 3 * t);
    for (int i = 0; edges >= 0 && i < l.count; i++) {
        const int *half = l.half + l.start[i];
        int size = l.start[i + 1] - l.start[i];
        if (size < 3 || size > max_edges || size > most) continue;
        for (int j = 0; j < size; j++) v[j] = embi_half_end(tri, half[j]);
        cost = embi_cut_polygon(x, v, size, keys.a, edges, best, cut);
        if (!(cost < EMBI_HUGE && cost <= area[label[half[0] / 3]] / 2)) continue;
        count = embi_emit_polygon(v, size, cut, v + most, lid, capacity, count);
        lids++;
    }
    if (filled) *filled = lids;
    embi_free(&m, label, n, sizeof *label);
    embi_free(&m, area, n, sizeof *area);
    embi_free(&m, best, square, sizeof *best);
    embi_free(&m, cut, square, sizeof *cut);
    embi_free(&m, v, 5 * most, sizeof *v);
    embi_loops_release(&m, &l);
    embi_keys_release(&m, &keys);
    return edges >= 0 ? count : -1;
}

/* ==== 12. Embedding ==================================================================================
 * A surface vertex x lies in one tet of its cage for good: x = sum w_i q_i with constant w, sum w_i = 1.
 * What a cage weighs and how stiff it is come from the solid inside the surface, tet by tet:
 *   V_T = integral of 1,  m_ij = integral of w_i w_j,  over the part of the solid that lies in tet T.
 * Both are exact. The solid is the signed sum of the tets (o, a, b, c) over the surface triangles, o any
 * one point; each of them is written in the barycentric coordinates of T, cut to w >= 0 by bisection, and
 * the polynomial integrated over the pieces: over a tet with volume v and corner weights W_k
 *   integral of w_i w_j = v/20 (sum_k W_ki W_kj + sum_k W_ki sum_k W_kj).
 * Which tets such a cone goes through, a uniform grid tells.
 * Uses: small math, memory, errors, meshes.                Checked by: tests/test_embedding.c */

#define EMBI_INSIDE_TOLERANCE 1e-9     /* a weight down to minus this counts as inside */
#define EMBI_COVER_TOLERANCE 1e-2      /* part of the solid's volume that may stick out of its cage */
#define EMBI_OVERLAP_TOLERANCE 1e-6    /* part of it that may be held twice */

/* X[12] = the nodes of tet t */
static void embi_tet_gather(embipc_real X[12], const embipc_real *x, const int *tet)
{
    for (int i = 0; i < 4; i++) embi_copy(X + 3 * i, x + 3 * (size_t)tet[i]);
}

/* The barycentric coordinates of a tet as affine functions: w_i(p) = G_i . (p - origin) + (i == 0). */
typedef struct embi_barycentric {
    embipc_real origin[3], G[12];
} embi_barycentric;

/* 0 when the tet is flat */
static int embi_barycentric_init(embi_barycentric *b, const embipc_real X[12])
{
    embipc_real D[9], Di[9];   /* rows of D: edges from node 0; then w_{i+1} = (column i of D^-1) . r */
    for (int i = 0; i < 3; i++) embi_sub(D + 3 * i, X + 3 * i + 3, X);
    if (embi_m3_inverse(Di, D) == 0) return 0;
    embi_copy(b->origin, X);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) b->G[3 * i + 3 + k] = Di[3 * k + i];
        b->G[k] = -(Di[3 * k] + Di[3 * k + 1] + Di[3 * k + 2]);
    }
    return 1;
}

static void embi_barycentric_at(embipc_real w[4], const embi_barycentric *b, const embipc_real p[3])
{
    embipc_real r[3];
    embi_sub(r, p, b->origin);
    for (int i = 1; i < 4; i++) w[i] = embi_dot(b->G + 3 * i, r);
    w[0] = 1 - (w[1] + w[2] + w[3]);
}

/* r = p - sum w_i X_i, as sum over i > 0 from node 0 so that a far origin costs nothing */
static void embi_tet_residual(embipc_real r[3], const embipc_real X[12], const embipc_real w[4],
                              const embipc_real p[3])
{
    embipc_real d[3], total = w[0] + w[1] + w[2] + w[3];
    embi_sub(r, p, X);
    for (int i = 1; i < 4; i++) {
        embi_sub(d, X + 3 * i, X);
        embi_axpy(r, -w[i], d);
    }
    embi_axpy(r, 1 - total, X);
}

/* Weights of p in the tet X: sum w_i = 1 and sum w_i X_i = p, to rounding: one step of refinement makes
 * that true for slender tets as well. Returns 0 when the tet is flat. */
static int embi_tet_weights(const embipc_real X[12], const embipc_real p[3], embipc_real w[4])
{
    embi_barycentric b;
    embipc_real r[3];
    if (!embi_barycentric_init(&b, X)) return 0;
    embi_barycentric_at(w, &b, p);
    embi_tet_residual(r, X, w, p);
    for (int i = 1; i < 4; i++) w[i] += embi_dot(b.G + 3 * i, r);
    w[0] = 1 - (w[1] + w[2] + w[3]);
    return embi_all_finite(w, 4);
}

static embipc_real embi_min4(const embipc_real w[4])
{
    return embi_min(embi_min(w[0], w[1]), embi_min(w[2], w[3]));
}

/* ---- Which tets are near: a uniform grid over the cage ---- */

typedef struct embi_tet_grid {
    embipc_real lo[3], hi[3], inverse_cell[3];
    int dim[3];
    int *start;      /* dim[0]*dim[1]*dim[2] + 1: cell c lists item[start[c]] .. item[start[c+1] - 1] */
    int *item;       /* tets, ascending within a cell */
    int start_cap, item_cap;
} embi_tet_grid;

static void embi_tet_grid_release(embi_memory *m, embi_tet_grid *g)
{
    EMBI_RELEASE(m, g->start, g->start_cap);
    EMBI_RELEASE(m, g->item, g->item_cap);
}

/* cells that a box reaches, clamped to the grid */
static void embi_tet_grid_range(const embi_tet_grid *g, const embipc_real lo[3], const embipc_real hi[3],
                                int from[3], int to[3])
{
    for (int k = 0; k < 3; k++) {
        embipc_real last = (embipc_real)(g->dim[k] - 1);
        embipc_real a = (lo[k] - g->lo[k]) * g->inverse_cell[k], b = (hi[k] - g->lo[k]) * g->inverse_cell[k];
        from[k] = (int)embi_min(embi_max(a, 0), last);
        to[k] = (int)embi_min(embi_max(b, 0), last);
    }
}

/* box of a tet, wider by the tolerance of being inside */
static void embi_tet_box(embipc_real lo[3], embipc_real hi[3], const embipc_real *x, const int *tet)
{
    embipc_real pad;
    embi_box_indexed(lo, hi, x, tet, 4);
    pad = 4 * EMBI_INSIDE_TOLERANCE * embi_box_diagonal(lo, hi);
    for (int k = 0; k < 3; k++) {
        lo[k] -= pad;
        hi[k] += pad;
    }
}

/* about one cell per tet, cells as near to cubes as that allows */
static void embi_tet_grid_shape(embi_tet_grid *g, int tet_count)
{
    embipc_real size[3], longest = 0, cell;
    for (int k = 0; k < 3; k++) {
        size[k] = g->hi[k] - g->lo[k];
        longest = embi_max(longest, size[k]);
    }
    cell = longest;
    for (int k = 0; k < 3; k++) size[k] = embi_max(size[k], 1e-3 * longest);
    if (tet_count > 1) cell = pow(size[0] * size[1] * size[2] / tet_count, 1.0 / 3);
    for (int k = 0; k < 3; k++) {
        g->dim[k] = 1 + (int)embi_min(size[k] / cell, 255);
        g->inverse_cell[k] = (embipc_real)g->dim[k] / size[k];
    }
}

/* counts, sums, fills: two passes over the tets */
static int embi_tet_grid_build(embi_memory *m, embi_tet_grid *g, const embipc_real *x, int node_count,
                               const int *tets, int tet_count)
{
    int cells, from[3], to[3];
    embipc_real lo[3], hi[3];
    embi_box_points(g->lo, g->hi, x, node_count);
    embi_tet_grid_shape(g, tet_count);
    cells = g->dim[0] * g->dim[1] * g->dim[2];
    if (!EMBI_GROW(m, int, g->start, g->start_cap, cells + 2)) return 0;
    memset(g->start, 0, (size_t)(cells + 2) * sizeof *g->start);
    for (int pass = 0; pass < 2; pass++) {
        /* start[c + 2] counts in the first pass; start[c + 1] is where the next goes in the second */
        for (int t = 0; t < tet_count; t++) {
            embi_tet_box(lo, hi, x, tets + 4 * t);
            embi_tet_grid_range(g, lo, hi, from, to);
            for (int i = from[0]; i <= to[0]; i++)
                for (int j = from[1]; j <= to[1]; j++)
                    for (int k = from[2]; k <= to[2]; k++) {
                        int c = (i * g->dim[1] + j) * g->dim[2] + k;
                        if (pass == 0) g->start[c + 2]++;
                        else g->item[g->start[c + 1]++] = t;
                    }
        }
        if (pass == 1) break;
        for (int c = 0; c <= cells; c++) g->start[c + 1] += g->start[c];
        if (!EMBI_GROW(m, int, g->item, g->item_cap, g->start[cells + 1])) return 0;
    }
    return 1;
}

/* ---- Points into tets ---- */

/* Vertex v at p lies in no tet: says where, and by how much at least. The largest distance from p to the
 * outside of a face plane is a lower bound of the distance to that tet; the smallest over the tets is
 * told. */
static embipc_result embi_fail_outside(embipc_error *e, int v, const embipc_real p[3], const embipc_real *x,
                                       const int *tets, int tet_count)
{
    embipc_real nearest = EMBI_HUGE;
    for (int t = 0; t < tet_count; t++) {
        embipc_real X[12], w[4], out = 0;
        embi_barycentric b;
        embi_tet_gather(X, x, tets + 4 * t);
        if (!embi_barycentric_init(&b, X)) continue;
        embi_barycentric_at(w, &b, p);
        for (int i = 0; i < 4; i++) out = embi_max(out, -w[i] / embi_norm(b.G + 3 * i));
        nearest = embi_min(nearest, out);
    }
    return embi_fail_at(e, EMBIPC_ERR_OUTSIDE, EMBIPC_VERTEX, v, nearest,
                        "surface vertex %d at (%.9g, %.9g, %.9g) is outside every tet of the cage, by %.3g m "
                        "or more: make the cage wider there", v, p[0], p[1], p[2], nearest);
}

/* A weight that rounding made negative is set to 0 if p is still met to 1e-12 of the tet. */
static void embi_clamp_weights(embipc_real w[4], const embipc_real X[12], const embipc_real p[3])
{
    embipc_real c[4], r[3], lo[3], hi[3], total = 0;
    for (int i = 0; i < 4; i++) {
        c[i] = embi_max(w[i], 0);
        total += c[i];
    }
    for (int i = 0; i < 4; i++) c[i] /= total;
    embi_tet_residual(r, X, c, p);
    embi_box_points(lo, hi, X, 4);
    if (embi_norm(r) <= 1e-12 * embi_box_diagonal(lo, hi)) memcpy(w, c, sizeof c);
}

/* tet_of_point[i], w[4*i ..]: the tet that holds point i, and its weights there. Of several tets that share
 * the point on a face, an edge or a node, the one it lies deepest in; the first of equals. */
static embipc_result embi_embed(embi_memory *m, const embipc_real *x, int node_count, const int *tets,
                                int tet_count, const embipc_real *points, int point_count, int *tet_of_point,
                                embipc_real *w, embipc_error *e)
{
    embi_tet_grid g;
    embipc_result r = EMBIPC_OK;
    memset(&g, 0, sizeof g);
    if (!embi_tet_grid_build(m, &g, x, node_count, tets, tet_count)) r = embi_fail_memory(e);
    for (int i = 0; i < point_count && r == EMBIPC_OK; i++) {
        const embipc_real *p = points + 3 * (size_t)i;
        embipc_real best = 0, X[12], *wi = w + 4 * (size_t)i;
        int from[3], to[3], c, found = -1;
        embi_tet_grid_range(&g, p, p, from, to);
        c = (from[0] * g.dim[1] + from[1]) * g.dim[2] + from[2];
        for (int s = g.start[c]; s < g.start[c + 1]; s++) {
            embipc_real c4[4], depth;
            embi_tet_gather(X, x, tets + 4 * g.item[s]);
            if (!embi_tet_weights(X, p, c4)) continue;
            depth = embi_min4(c4);
            if (depth >= -EMBI_INSIDE_TOLERANCE && (found < 0 || depth > best)) {
                best = depth;
                found = g.item[s];
                memcpy(wi, c4, sizeof c4);
            }
        }
        tet_of_point[i] = found;
        if (found < 0) r = embi_fail_outside(e, i, p, x, tets, tet_count);
        else if (best < 0) {
            embi_tet_gather(X, x, tets + 4 * found);
            embi_clamp_weights(wi, X, p);
        }
    }
    embi_tet_grid_release(m, &g);
    return r;
}

/* ---- The solid, tet by tet ---- */

/* position of m_ij, i <= j, among the ten: 00 01 02 03 11 12 13 22 23 33 */
static const int embi_moment_index[16] = {0, 1, 2, 3, 1, 4, 5, 6, 2, 5, 7, 8, 3, 6, 8, 9};

/* moments of a tet that the solid fills: V/20 (1 + delta_ij) */
static void embi_tet_moment_full(embipc_real volume, embipc_real moment[10])
{
    for (int i = 0; i < 4; i++)
        for (int j = i; j < 4; j++)
            moment[embi_moment_index[4 * i + j]] = volume / 20 * (i == j ? 2 : 1);
}

/* moment += those of a piece with volume v and corner weights W[k][i] */
static void embi_add_moment(embipc_real moment[10], embipc_real v, const embipc_real W[4][4])
{
    embipc_real s[4];
    for (int i = 0; i < 4; i++) s[i] = W[0][i] + W[1][i] + W[2][i] + W[3][i];
    for (int i = 0, n = 0; i < 4; i++)
        for (int j = i; j < 4; j++, n++)
            moment[n] += v / 20 * (s[i] * s[j] + W[0][i] * W[0][j] + W[1][i] * W[1][j] + W[2][i] * W[2][j] +
                                   W[3][i] * W[3][j]);
}

typedef struct embi_piece {
    embipc_real W[4][4];   /* corner weights */
    embipc_real v;         /* volume, with the sign of the whole */
} embi_piece;

/* Adds the part of the piece with w >= 0 to volume and moment. A piece with an edge across w_i = 0 is cut
 * in two at that point of the edge, which shares its volume out as the edge's length; a piece without
 * lies on one side. Each coordinate takes at most four cuts in a row, so the stack holds at most 17. */
static void embi_clip_piece(const embi_piece *whole, embipc_real *volume, embipc_real moment[10])
{
    embi_piece stack[17];
    int top = 0;
    stack[top++] = *whole;
    while (top > 0) {
        embi_piece p = stack[--top];
        int i, lo = 0, hi = 0;
        for (i = 0; i < 4; i++) {
            lo = hi = 0;
            for (int k = 1; k < 4; k++) {
                if (p.W[k][i] < p.W[lo][i]) lo = k;
                if (p.W[k][i] > p.W[hi][i]) hi = k;
            }
            if (p.W[lo][i] < 0) break;
        }
        if (i == 4) {
            *volume += p.v;
            embi_add_moment(moment, p.v, (const embipc_real (*)[4])p.W);
        } else if (p.W[hi][i] > 0) {
            embipc_real s = p.W[hi][i] / (p.W[hi][i] - p.W[lo][i]), cut[4];
            embi_piece *q = &stack[top];
            for (int j = 0; j < 4; j++) cut[j] = p.W[hi][j] * (1 - s) + p.W[lo][j] * s;
            cut[i] = 0;
            EMBIPC_ASSERT(top + 2 <= 17);
            q[0] = q[1] = p;
            q[0].v = p.v * s;          /* keeps hi, the cut in the place of lo */
            q[1].v = p.v * (1 - s);    /* keeps lo */
            memcpy(q[0].W[lo], cut, sizeof cut);
            memcpy(q[1].W[hi], cut, sizeof cut);
            top += 2;
        }
    }
}

/* Rounding may leave moments that no solid has: the symmetric 4x4 matrix is made positive semi-definite by
 * dropping negative eigenvalues, which are of the order of that rounding. */
static void embi_moment_project(embipc_real moment[10])
{
    embipc_real A[16], V[16];
    int fine = 1;
    for (int i = 0; i < 16; i++) A[i] = moment[embi_moment_index[i]];
    embi_eigen_symmetric(4, A, V);
    for (int k = 0; k < 4; k++) fine &= A[5 * k] >= 0;
    if (fine) return;
    for (int i = 0, n = 0; i < 4; i++)
        for (int j = i; j < 4; j++, n++) {
            moment[n] = 0;
            for (int k = 0; k < 4; k++)
                moment[n] += embi_max(A[5 * k], 0) * V[4 * i + k] * V[4 * j + k];
        }
}

/* What embi_solid_in_tets works with. */
typedef struct embi_cone_walk {
    const embipc_real *x;       /* the surface */
    const int *tri;
    embipc_real o[3];           /* the middle of its box */
    embi_tet_grid grid;         /* of the tets; and for each of them: */
    embi_barycentric *b;
    embipc_real *box;           /* lo, hi (6) */
    embipc_real *volume, *moment, *gross;   /* gross: the sum of the unsigned contributions to the volume, which
                                               is what rounding is relative to */
    int *seen;                  /* the last triangle it was tried with; INT_MAX: a flat tet */
} embi_cone_walk;

/* Adds what the tet holds of the cone from o to triangle t. */
static void embi_cone_in_tet(embi_cone_walk *w, int t, int tet)
{
    const embipc_real *v[3];
    const embi_barycentric *b = &w->b[tet];
    embi_piece p;
    embipc_real before = w->volume[tet];
    embi_barycentric_at(p.W[0], b, w->o);
    for (int i = 0; i < 3; i++) {
        v[i] = w->x + 3 * (size_t)w->tri[3 * (size_t)t + (size_t)i];
        embi_barycentric_at(p.W[i + 1], b, v[i]);
    }
    for (int i = 0; i < 4; i++)
        if (p.W[0][i] <= 0 && p.W[1][i] <= 0 && p.W[2][i] <= 0 && p.W[3][i] <= 0) return;
    p.v = embi_tet_det(w->o, v[0], v[1], v[2]) / 6;
    if (p.v == 0) return;
    embi_clip_piece(&p, &w->volume[tet], w->moment + 10 * (size_t)tet);
    w->gross[tet] += embi_abs(w->volume[tet] - before);
}

/* The same for all tets that meet a box with part of the cone, and were not tried with it before. */
static void embi_cone_in_box(embi_cone_walk *w, int t, const embipc_real lo[3], const embipc_real hi[3])
{
    const embi_tet_grid *g = &w->grid;
    int from[3], to[3];
    embi_tet_grid_range(g, lo, hi, from, to);
    for (int i = from[0]; i <= to[0]; i++)
        for (int j = from[1]; j <= to[1]; j++)
            for (int k = from[2]; k <= to[2]; k++) {
                int c = (i * g->dim[1] + j) * g->dim[2] + k;
                for (int s = g->start[c]; s < g->start[c + 1]; s++) {
                    int tet = g->item[s];
                    const embipc_real *box = w->box + 6 * (size_t)tet;
                    if (w->seen[tet] >= t || !embi_boxes_meet(lo, hi, box, box + 3)) continue;
                    w->seen[tet] = t;
                    embi_cone_in_tet(w, t, tet);
                }
            }
}

/* The same for all tets. The cone is taken in slices as thick as a cell of the grid is wide: the slice from u
 * to v of the way is in the hull of the triangle's box shrunk towards o by u and by v. */
static void embi_cone_in_tets(embi_cone_walk *w, int t)
{
    embipc_real lo[3], hi[3], from[3], to[3];
    int slices = 1;
    embi_box_indexed(lo, hi, w->x, w->tri + 3 * (size_t)t, 3);
    for (int k = 0; k < 3; k++) {
        embipc_real reach = embi_max(w->o[k] - lo[k], hi[k] - w->o[k]) * w->grid.inverse_cell[k];
        slices = embi_max_int(slices, (int)embi_min(reach, w->grid.dim[k]) + 1);
    }
    for (int i = 0; i < slices; i++) {
        embipc_real u = (embipc_real)i / slices, v = (embipc_real)(i + 1) / slices;
        for (int k = 0; k < 3; k++) {
            from[k] = w->o[k] + (lo[k] < w->o[k] ? v : u) * (lo[k] - w->o[k]);
            to[k] = w->o[k] + (hi[k] > w->o[k] ? v : u) * (hi[k] - w->o[k]);
        }
        embi_cone_in_box(w, t, from, to);
    }
}

static int embi_cone_walk_begin(embi_memory *m, embi_cone_walk *w, const embipc_real *X, const int *tets,
                                int tet_count)
{
    int nodes = 0;
    w->b = (embi_barycentric *)embi_alloc(m, tet_count, sizeof *w->b);
    w->box = (embipc_real *)embi_alloc(m, 6 * tet_count, sizeof *w->box);
    w->gross = (embipc_real *)embi_alloc(m, tet_count, sizeof *w->gross);
    w->seen = (int *)embi_alloc(m, tet_count, sizeof *w->seen);
    if (!w->b || !w->box || !w->gross || !w->seen) return 0;
    for (int t = 0; t < tet_count; t++) {
        embipc_real corner[12], *box = w->box + 6 * (size_t)t;
        for (int i = 0; i < 4; i++) nodes = embi_max_int(nodes, tets[4 * t + i] + 1);
        embi_tet_gather(corner, X, tets + 4 * t);
        embi_tet_box(box, box + 3, X, tets + 4 * t);
        w->seen[t] = embi_barycentric_init(&w->b[t], corner) ? -1 : INT_MAX;
    }
    return embi_tet_grid_build(m, &w->grid, X, nodes, tets, tet_count);
}

static void embi_cone_walk_end(embi_memory *m, embi_cone_walk *w, int tet_count)
{
    embi_tet_grid_release(m, &w->grid);
    embi_free(m, w->b, tet_count, sizeof *w->b);
    embi_free(m, w->box, 6 * tet_count, sizeof *w->box);
    embi_free(m, w->gross, tet_count, sizeof *w->gross);
    embi_free(m, w->seen, tet_count, sizeof *w->seen);
}

/* Volume (tet_count) and moments (10*tet_count) of the solid in each tet, m^3; returns the volume held by
 * all of them, or -1 without memory. Volumes are >= 0, moments positive semi-definite. The work goes with
 * the triangles times the tets on the way from each to the middle: the cube root of all tets or so. */
static embipc_real embi_solid_in_tets(embi_memory *m, const embipc_real *X, const int *tets, int tet_count,
                                      const embipc_real *x, int vertex_count, const int *tri, int tri_count,
                                      embipc_real *volume, embipc_real *moment)
{
    embi_cone_walk w;
    embipc_real lo[3], hi[3], held = -1;
    memset(&w, 0, sizeof w);
    memset(volume, 0, (size_t)tet_count * sizeof *volume);
    memset(moment, 0, 10 * (size_t)tet_count * sizeof *moment);
    w.x = x;
    w.tri = tri;
    w.volume = volume;
    w.moment = moment;
    embi_box_points(lo, hi, x, vertex_count);
    for (int k = 0; k < 3; k++) w.o[k] = lo[k] + (hi[k] - lo[k]) / 2;
    if (embi_cone_walk_begin(m, &w, X, tets, tet_count)) {
        held = 0;
        for (int t = 0; t < tri_count; t++) embi_cone_in_tets(&w, t);
        for (int t = 0; t < tet_count; t++) {
            embipc_real *mt = moment + 10 * (size_t)t;
            if (!(volume[t] > 1e-13 * w.gross[t])) {   /* rounding, no solid */
                volume[t] = 0;
                memset(mt, 0, 10 * sizeof *mt);
            } else embi_moment_project(mt);
            held += volume[t];
        }
    }
    embi_cone_walk_end(m, &w, tet_count);
    return held;
}

/* Volume and moments of the solid inside a closed outward surface, for every tet of its cage.
 *   volume   tet_count, m^3, >= 0           out
 *   moment   10*tet_count, m^3              out
 * They sum up to the surface's own integrals to 1e-9. A cage made round the vertices may cut a little off
 * the triangles between them: up to EMBI_COVER_TOLERANCE of the volume is made up for by scaling, more is
 * an error, and so are tets that overlap. */
static embipc_result embi_cage_integrals(embi_memory *m, const embipc_real *X, const int *tets, int tet_count,
                                         const embipc_real *x, int vertex_count, const int *tri,
                                         int tri_count, embipc_real *volume, embipc_real *moment,
                                         embipc_error *e)
{
    embipc_solid solid;
    embipc_real held;
    held = embi_solid_in_tets(m, X, tets, tet_count, x, vertex_count, tri, tri_count, volume, moment);
    if (held < 0) return embi_fail_memory(e);
    embi_solid(&solid, x, vertex_count, tri, tri_count);
    if (!(held >= solid.volume * (1 - EMBI_COVER_TOLERANCE)))
        return embi_fail_at(e, EMBIPC_ERR_OUTSIDE, EMBIPC_NO_PRIMITIVE, 0, solid.volume - held,
                            "the solid sticks out of its cage between its vertices: %.3g of its %.6g m^3; "
                            "make the cage wider", solid.volume - held, solid.volume);
    if (!(held <= solid.volume * (1 + EMBI_OVERLAP_TOLERANCE)))
        return embi_fail_at(e, EMBIPC_ERR_MANIFOLD, EMBIPC_NO_PRIMITIVE, 0, held - solid.volume,
                            "tets of the cage overlap: together they hold %.6g m^3 of a solid of %.6g m^3",
                            held, solid.volume);
    for (int t = 0; t < tet_count; t++) volume[t] *= solid.volume / held;
    for (size_t i = 0; i < 10 * (size_t)tet_count; i++) moment[i] *= solid.volume / held;
    return EMBIPC_OK;
}

/* ==== 13. Cage builder ===============================================================================
 * A closed surface in, a coarse tet mesh out that holds the solid inside. Space is filled with the
 * body-centred cubic lattice: cubes of side h with their corners and centres as nodes, and for every square
 * between two cubes four tets, each on the two centres and one side of the square. All tets are alike
 * (dihedral angles 60 and 90 degrees), and the lattice is symmetric about every plane of corners and of
 * centres.
 *
 * Solid that is close in space may be far apart along the body: the teeth of a comb, two legs. So a cage
 * is not made of lattice tets, but of their copies: one for each connected piece of solid in the tet
 * (Molino, Bao, Fedkiw 2004, "virtual nodes"). Copies of two neighbours share the nodes of a face exactly
 * where their pieces meet in that face; what is connected through no face shares no node. How it is found:
 *   cuts      each triangle is cut along the tets it passes through, spreading from tet to tet
 *   winding   along an edge of the lattice it changes by one at every triangle that crosses the edge; from
 *             the rim of the lattice, where it is 0, it spreads to every node. Nodes with winding > 0 are
 *             in the solid
 *   pieces    within a tet, connected is: two cuts with a common side; two neighbours on an edge of the tet
 *             with solid between them, be they cuts or ends of the edge; and what a ray through solid
 *             meets first, sent from each closed curve in a face and each closed shell in the tet, in a
 *             direction in which the curve or shell ends where the ray begins
 * and the pieces' integrals, for the tet n0 n1 n2 n3 and any polynomial, by coning the boundary off from n0,
 * what is left of it on the face opposite to n0 from n1, and what is left of that on the edge 23 from n2:
 *   integral over the piece = sum over cuts (n0, cut) + over sides p->q of cuts in the face n1 n2 n3 of
 *   (n0, n1, q, p) + over crossings c of the edge 23 of +-(n0, n1, n2, c) + winding(n3) (n0, n1, n2, n3)
 * with (a, b, c, d) the integral over that tet with its sign. Nothing is subdivided and nothing sampled:
 * the sums are exact. The cost goes with the number of cuts.
 *
 * The search goes through cell sizes and placings of the body's middle in the lattice, for the wished node
 * count and for tets that can follow the body where it bends. Last, nodes outside the solid are drawn
 * towards it, as far as no other tet is entered and no dihedral angle gets small.
 * Uses: small math, memory, errors, sorting, meshes, embedding.     Checked by: tests/test_cage.c      */

#define EMBI_CAGE_COOKIE 0x43414745
#define EMBI_CAGE_MAX_CELLS (INT_MAX / 80)   /* so that no array has more elements than an int counts */
#define EMBI_CAGE_ANGLE 25.0            /* degrees; tightening leaves no dihedral angle below */
#define EMBI_CAGE_NODE_CLEAR 1e-9       /* of an edge: a crossing nearer to a node is the node's, or whose? */
#define EMBI_CAGE_TOUCH 1e-12           /* a weight up to this is on a face */
#define EMBI_CAGE_CORNERS 12            /* of a polygon; 7 where nothing is near a face */
#define EMBI_CAGE_FLAT 1e-11            /* a piece that rises less above a face is part of the face */
#define EMBI_CAGE_WEAK 0.25             /* of the mean share of solid in a tet: nodes with less are weak */
#define EMBI_CAGE_MISS 0.2              /* part of the wished node count that may be missed */

EMBIPC_API embipc_cage_def embipc_default_cage_def(void)
{
    embipc_cage_def d;
    memset(&d, 0, sizeof d);
    d.cookie = EMBI_CAGE_COOKIE;
    d.nodes = 34;
    d.tighten = 1;
    d.duplicate = 1;
    return d;
}

static void embi_cage_release(embi_memory *m, embipc_cage *cage)
{
    embi_free(m, cage->x, 3 * cage->node_count, sizeof *cage->x);
    embi_free(m, cage->tets, 4 * cage->tet_count, sizeof *cage->tets);
    embi_free(m, cage->tet_volume, cage->tet_count, sizeof *cage->tet_volume);
    embi_free(m, cage->tet_moment, 10 * cage->tet_count, sizeof *cage->tet_moment);
    embi_free(m, cage->vertex_tet, cage->vertex_count, sizeof *cage->vertex_tet);
    embi_free(m, cage->vertex_weight, 4 * cage->vertex_count, sizeof *cage->vertex_weight);
    memset(cage, 0, sizeof *cage);
}

EMBIPC_API void embipc_cage_free(embipc_cage *cage)
{
    embi_memory m;
    if (!cage) return;
    embi_memory_init(&m, &cage->hooks);
    embi_cage_release(&m, cage);
}

/* the part of a triangle that lies in a lattice tet */
typedef struct embi_cut {
    int tri, tet;
    int copy;                        /* the copy of the tet whose piece it bounds, or -1 */
    int sides;                       /* bit s: it has a side of kind s, see embi_polygon */
} embi_cut;

/* one connected piece of solid in a lattice tet, with a tet of the cage for itself */
typedef struct embi_tet_copy {
    int tet;
    embipc_real volume, moment[10];  /* of the piece, as parts of the tet's volume */
} embi_tet_copy;

/* Everything the builder works on. */
typedef struct embi_caging {
    embi_memory *m;
    const embipc_real *x;            /* the surface */
    const int *tri;
    int vertex_count, tri_count;
    int *beside;                     /* the triangle across each side (3*tri_count) */
    embipc_real lo[3], hi[3];        /* box of the surface */
    embipc_real volume;              /* of the solid */
    int axis[3];                     /* first the one along which the solid is least in its box's middle */
    int split;                       /* one copy per piece; 0: all pieces of a tet share one */
    /* lattice: dim[] cells from origin; nodes are the corners, then the centres */
    embipc_real h, origin[3];
    int dim[3], corners, node_total, tet_total;
    embipc_real *place;              /* of the nodes, m: tightening moves them */
    signed char *wind;               /* winding number of the surface about each node */
    int *seen;                       /* scratch, per tet or node */
    /* the surface, cut along it */
    int *home;                       /* per vertex the tet it lies in, ~tet on its rim */
    int *first;                      /* cuts of triangle t: first[t] .. first[t + 1] - 1, by tet */
    embi_cut *cut;
    int cut_count;
    /* tets with cuts, then those full of solid */
    int *touch;                      /* per tet its number among the touched ones, or -1 */
    int *touched, touched_count;     /* their tets */
    int *range, *order;              /* cuts of touched tet i: order[range[i]] .. order[range[i + 1] - 1] */
    signed char *turn;               /* change of winding along the six edges of touched tets */
    int *corner;                     /* copy that holds each corner of a touched tet, or -1 (4 each) */
    embi_tet_copy *copy;
    int copy_count;
    int *slot;                       /* forest over the corners of copies, 4 each: a tree is a cage node */
    int node_count;
    embipc_real weak;                /* how many nodes carry next to nothing, smoothly counted */
    int faulty;                      /* the lattice touches the surface in a way that rounding decides */
    int *queue, *local;              /* scratch: tets; per triangle its number within a tet */
    embi_keys keys;
    struct embi_pocket *pocket;
    int beside_cap, place_cap, wind_cap, seen_cap, home_cap, first_cap, cut_cap, touch_cap, touched_cap,
        range_cap, order_cap, turn_cap, corner_cap, copy_cap, slot_cap, queue_cap, local_cap;
} embi_caging;

/* ---- The lattice ---- */

static int embi_lattice_corner(const embi_caging *c, const int i[3])
{
    return (i[0] * (c->dim[1] + 1) + i[1]) * (c->dim[2] + 1) + i[2];
}

static int embi_lattice_cell(const embi_caging *c, const int i[3])
{
    return (i[0] * c->dim[1] + i[1]) * c->dim[2] + i[2];
}

/* indices of a cell along the axes */
static void embi_lattice_index(const embi_caging *c, int cell, int i[3])
{
    i[2] = cell % c->dim[2];
    i[1] = cell / c->dim[2] % c->dim[1];
    i[0] = cell / c->dim[2] / c->dim[1];
}

/* where a node stands before anything is moved */
static void embi_lattice_position(const embi_caging *c, int node, embipc_real p[3])
{
    int centre = node >= c->corners, n = centre ? node - c->corners : node;
    for (int k = 2; k >= 0; k--) {
        int count = c->dim[k] + !centre;
        p[k] = c->origin[k] + c->h * ((embipc_real)(n % count) + (centre ? 0.5 : 0.0));
        n /= count;
    }
}

/* Tet 12 * cell + 4 * direction + side has the nodes: centre of the cell, centre of the next one in that
 * direction, and one side of the square between them, counter-clockwise seen from ahead. Returns 0 where
 * there is no next cell. */
static int embi_lattice_tet(const embi_caging *c, int tet, int v[4])
{
    static const int along_u[5] = {0, 1, 1, 0, 0}, along_v[5] = {0, 0, 1, 1, 0};
    int d = tet % 12 / 4, side = tet % 4, i[3], next[3], p[3];
    embi_lattice_index(c, tet / 12, i);
    if (i[d] + 1 >= c->dim[d]) return 0;
    for (int k = 0; k < 3; k++) next[k] = i[k] + (k == d);
    v[0] = c->corners + embi_lattice_cell(c, i);
    v[1] = c->corners + embi_lattice_cell(c, next);
    for (int e = 0; e < 2; e++) {
        for (int k = 0; k < 3; k++) p[k] = next[k];
        p[(d + 1) % 3] += along_u[side + e];
        p[(d + 2) % 3] += along_v[side + e];
        v[2 + e] = embi_lattice_corner(c, p);
    }
    return 1;
}

/* The tet across the face opposite to node `face` of a tet, or -1 at the rim. Opposite to an end of the
 * square's side lies the tet on the neighbouring side of the square. Opposite to a centre lies the tet on
 * the same lattice edge in the other square that this edge has in common with the other centre's cell. */
static int embi_lattice_across(const embi_caging *c, int tet, int face)
{
    int d = tet % 12 / 4, side = tet % 4, i[3], u = (d + 1) % 3, v = (d + 2) % 3;
    int axis = side % 2 ? u : v, high = side == 1 || side == 2, ahead = face == 0;
    if (face == 2) return tet - side + (side + 1) % 4;
    if (face == 3) return tet - side + (side + 3) % 4;
    embi_lattice_index(c, tet / 12, i);
    i[d] += ahead;                 /* the cell both tets belong to: ahead or behind the square */
    if (!high) i[axis]--;          /* the square lies at its high or low end along `axis` */
    if (i[axis] < 0 || i[axis] + 1 >= c->dim[axis]) return -1;
    if ((axis + 1) % 3 == d) side = ahead ? 3 : 1;
    else side = ahead ? 0 : 2;
    return 12 * embi_lattice_cell(c, i) + 4 * axis + side;
}

/* X[12] = the nodes of a lattice tet, where they stand now */
static int embi_lattice_gather(const embi_caging *c, int tet, int v[4], embipc_real X[12])
{
    if (!embi_lattice_tet(c, tet, v)) return 0;
    embi_tet_gather(X, c->place, v);
    return 1;
}

/* the tet of the unmoved lattice that holds p */
static int embi_lattice_locate(const embi_caging *c, const embipc_real p[3])
{
    int i[3], d = 0, u, v, side, axis;
    embipc_real r[3];
    for (int k = 0; k < 3; k++) {
        embipc_real a = (p[k] - c->origin[k]) / c->h;
        i[k] = embi_max_int(1, embi_min_int((int)a, c->dim[k] - 2));
        r[k] = a - (embipc_real)i[k] - 0.5;
        if (embi_abs(r[k]) > embi_abs(r[d])) d = k;
    }
    u = (d + 1) % 3;
    v = (d + 2) % 3;
    axis = embi_abs(r[u]) > embi_abs(r[v]) ? u : v;
    side = axis == v ? (r[v] < 0 ? 0 : 2) : (r[u] < 0 ? 3 : 1);
    if (r[d] < 0) i[d]--;
    return 12 * embi_lattice_cell(c, i) + 4 * d + side;
}

/* Cells of side h round the surface's box and one more layer; the middle of the box is shift[] cells from a
 * corner. ARGUMENT: more cells than there are numbers for. */
static embipc_result embi_lattice_place(embi_caging *c, embipc_real h, const embipc_real shift[3])
{
    embipc_real cells = 1;
    c->h = h;
    for (int k = 0; k < 3; k++) {
        embipc_real reach = (c->hi[k] - c->lo[k]) / 2, below = ceil(reach / h - shift[k]) + 1;
        embipc_real above = ceil(reach / h + shift[k]) + 1;
        if (!(below + above < 1e6)) return EMBIPC_ERR_ARGUMENT;
        c->dim[k] = (int)below + (int)above;
        c->origin[k] = c->lo[k] + reach - h * (below + shift[k]);
        cells *= c->dim[k] + 1;
    }
    if (!(cells < EMBI_CAGE_MAX_CELLS)) return EMBIPC_ERR_ARGUMENT;
    c->corners = (c->dim[0] + 1) * (c->dim[1] + 1) * (c->dim[2] + 1);
    c->tet_total = 12 * c->dim[0] * c->dim[1] * c->dim[2];
    c->node_total = c->corners + c->tet_total / 12;
    if (!EMBI_GROW(c->m, embipc_real, c->place, c->place_cap, 3 * c->node_total) ||
        !EMBI_GROW(c->m, signed char, c->wind, c->wind_cap, c->node_total) ||
        !EMBI_GROW(c->m, int, c->seen, c->seen_cap, c->tet_total) ||
        !EMBI_GROW(c->m, int, c->touch, c->touch_cap, c->tet_total))
        return EMBIPC_ERR_MEMORY;
    for (int n = 0; n < c->node_total; n++) embi_lattice_position(c, n, c->place + 3 * (size_t)n);
    return EMBIPC_OK;
}

/* ---- Cutting the surface along the lattice ---- */

/* Part of a triangle in a tet: a convex polygon, counter-clockwise seen from outside the solid. */
typedef struct embi_polygon {
    int n;
    embipc_real w[EMBI_CAGE_CORNERS][4];     /* its corners, as weights in the tet */
    int side[EMBI_CAGE_CORNERS];             /* what it has from corner i on: 0..2 that side of the triangle,
                                                3..6 a line in the face opposite to node side - 3 */
} embi_polygon;

/* Takes away what lies beyond the face opposite to node i, less than `depth` above it. A cut point is always
 * computed from the end that stays, so that both triangles at a side find the same one. Most faces cut nothing, or
 * leave nothing. */
static void embi_polygon_cut(embi_polygon *p, int i, embipc_real depth)
{
    embi_polygon r;
    int kept = 0;
    for (int j = 0; j < p->n; j++) kept += p->w[j][i] >= depth;
    if (kept == p->n) return;
    r.n = 0;
    for (int j = 0; j < p->n && kept; j++) {
        const embipc_real *a = p->w[j], *b = p->w[j + 1 < p->n ? j + 1 : 0];
        int in = a[i] >= depth, next = b[i] >= depth;
        if (r.n + 2 > EMBI_CAGE_CORNERS) break;   /* only with rounding, and what is left out has no area */
        if (in) {
            memcpy(r.w[r.n], a, sizeof r.w[0]);
            r.side[r.n++] = p->side[j];
        }
        if (in != next) {
            const embipc_real *f = in ? a : b, *g = in ? b : a;
            embipc_real s = (f[i] - depth) / (f[i] - g[i]);
            for (int k = 0; k < 4; k++) r.w[r.n][k] = f[k] + s * (g[k] - f[k]);
            r.w[r.n][i] = depth;
            r.side[r.n++] = in ? 3 + i : p->side[j];
        }
    }
    p->n = r.n;
    memcpy(p->w, r.w, (size_t)r.n * sizeof r.w[0]);
    memcpy(p->side, r.side, (size_t)r.n * sizeof r.side[0]);
}

/* The whole triangle t, in weights of the tet. */
static void embi_polygon_whole(embi_polygon *p, const embi_caging *c, const embi_barycentric *b, int t)
{
    p->n = 3;
    for (int k = 0; k < 3; k++) {
        embi_barycentric_at(p->w[k], b, c->x + 3 * (size_t)c->tri[3 * t + k]);
        p->side[k] = k;
    }
}

/* The part of a triangle that is in the tet, or up to -depth outside; returns the kinds of sides it has, as bits, or 0
 * when nothing is left. */
static int embi_polygon_in_tet(embi_polygon *p, const embi_polygon *whole, embipc_real depth)
{
    int sides = 0;
    p->n = 3;
    memcpy(p->w, whole->w, 3 * sizeof p->w[0]);
    memcpy(p->side, whole->side, 3 * sizeof p->side[0]);
    for (int i = 0; i < 4 && p->n > 0; i++) embi_polygon_cut(p, i, depth);
    for (int j = 0; j < p->n; j++) sides |= 1 << p->side[j];
    return sides;
}

/* does it reach the face opposite to node i? */
static int embi_polygon_touches(const embi_polygon *p, int i)
{
    for (int j = 0; j < p->n; j++)
        if (p->w[j][i] < EMBI_CAGE_TOUCH) return 1;
    return 0;
}

/* The tet each vertex lies in: the one of the unmoved lattice, and from there across the face it is outside
 * of most, until there is none. */
static void embi_cut_homes(embi_caging *c)
{
    for (int i = 0; i < c->vertex_count; i++) {
        const embipc_real *p = c->x + 3 * (size_t)i;
        int t = embi_lattice_locate(c, p), out = 0;
        for (int step = 0; step < 64; step++) {
            embi_barycentric b;
            embipc_real X[12], w[4];
            int v[4], next;
            if (!embi_lattice_gather(c, t, v, X) || !embi_barycentric_init(&b, X)) break;
            embi_barycentric_at(w, &b, p);
            out = 0;
            for (int k = 1; k < 4; k++)
                if (w[k] < w[out]) out = k;
            if (w[out] > EMBI_CAGE_TOUCH) {
                out = -1;
                break;
            }
            if (w[out] > -EMBI_CAGE_TOUCH || (next = embi_lattice_across(c, t, out)) < 0) break;
            t = next;
        }
        c->home[i] = out < 0 ? t : ~t;
    }
}

static int embi_cut_add(embi_caging *c, int tri, int tet, int sides)
{
    embi_cut *k;
    if (!EMBI_GROW(c->m, embi_cut, c->cut, c->cut_cap, c->cut_count + 1)) return 0;
    k = &c->cut[c->cut_count++];
    k->tri = tri;
    k->tet = tet;
    k->sides = sides;
    k->copy = -1;
    return 1;
}

/* Puts tet into the queue if it was not there for this triangle. */
static int embi_cut_enqueue(embi_caging *c, int tri, int tet, int *count)
{
    if (tet < 0 || c->seen[tet] == tri) return 1;
    c->seen[tet] = tri;
    if (!EMBI_GROW(c->m, int, c->queue, c->queue_cap, *count + 1)) return 0;
    c->queue[(*count)++] = tet;
    return 1;
}

/* The cuts of triangle t, by tet. It lies in one tet if its corners do; else it spreads from the tets of its
 * corners through the faces that it reaches: a tet that it only touches must know it too, or a curve on the
 * face between would have a gap. */
static int embi_cut_triangle(embi_caging *c, int t)
{
    int from = c->cut_count, n = 0, home[3], v[4];
    for (int k = 0; k < 3; k++) home[k] = c->home[c->tri[3 * t + k]];
    if (home[0] >= 0 && home[0] == home[1] && home[0] == home[2]) return embi_cut_add(c, t, home[0], 7);
    for (int k = 0; k < 3; k++)
        if (!embi_cut_enqueue(c, t, home[k] < 0 ? ~home[k] : home[k], &n)) return 0;
    for (int at = 0; at < n; at++) {
        int tet = c->queue[at], sides;
        embipc_real X[12];
        embi_barycentric b;
        embi_polygon whole, p;
        if (!embi_lattice_gather(c, tet, v, X) || !embi_barycentric_init(&b, X)) continue;
        embi_polygon_whole(&whole, c, &b, t);
        if (!embi_polygon_in_tet(&p, &whole, -EMBI_CAGE_TOUCH)) continue;
        for (int i = 0; i < 4; i++)
            if (embi_polygon_touches(&p, i) &&
                !embi_cut_enqueue(c, t, embi_lattice_across(c, tet, i), &n))
                return 0;
        sides = embi_polygon_in_tet(&p, &whole, 0);
        if (sides && !embi_cut_add(c, t, tet, sides)) return 0;
    }
    n = c->cut_count - from;
    if (n < 2) return 1;
    if (!embi_keys_reserve(c->m, &c->keys, n)) return 0;
    for (int i = 0; i < n; i++) {
        c->keys.a[i].key = embi_pack(c->cut[from + i].tet, c->cut[from + i].sides);
        c->keys.a[i].value = i;
    }
    embi_sort_keys(c->keys.a, c->keys.tmp, n);
    for (int i = 0; i < n; i++) {
        c->cut[from + i].tet = (int)(c->keys.a[i].key >> 32);
        c->cut[from + i].sides = (int)(c->keys.a[i].key & 0xffffffffu);
    }
    return 1;
}

/* the cut of triangle t in a tet, or NULL */
static embi_cut *embi_cut_find(const embi_caging *c, int t, int tet)
{
    int lo = c->first[t], hi = c->first[t + 1];
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (c->cut[mid].tet < tet) lo = mid + 1;
        else hi = mid;
    }
    return lo < c->first[t + 1] && c->cut[lo].tet == tet ? &c->cut[lo] : NULL;
}

/* Cuts the whole surface, and lists the cuts tet by tet: a counting sort. */
static int embi_cut_surface(embi_caging *c)
{
    int n;
    if (!EMBI_GROW(c->m, int, c->home, c->home_cap, c->vertex_count) ||
        !EMBI_GROW(c->m, int, c->first, c->first_cap, c->tri_count + 1))
        return 0;
    c->cut_count = 0;
    embi_cut_homes(c);
    for (int t = 0; t < c->tet_total; t++) c->seen[t] = c->touch[t] = -1;
    for (int t = 0; t < c->tri_count; t++) {
        c->first[t] = c->cut_count;
        if (!embi_cut_triangle(c, t)) return 0;
    }
    c->first[c->tri_count] = c->cut_count;
    for (int i = 0; i < c->cut_count; i++) c->touch[c->cut[i].tet]++;   /* -1 + count, for now */
    c->touched_count = 0;
    for (int t = 0; t < c->tet_total; t++) c->touched_count += c->touch[t] >= 0;
    if (!EMBI_GROW(c->m, int, c->touched, c->touched_cap, c->touched_count) ||
        !EMBI_GROW(c->m, int, c->range, c->range_cap, c->touched_count + 2) ||
        !EMBI_GROW(c->m, signed char, c->turn, c->turn_cap, 6 * c->touched_count) ||
        !EMBI_GROW(c->m, int, c->order, c->order_cap, c->cut_count))
        return 0;
    n = 0;
    c->range[0] = c->range[1] = 0;
    for (int t = 0; t < c->tet_total; t++) {
        if (c->touch[t] < 0) continue;
        c->range[n + 2] = c->range[n + 1] + c->touch[t] + 1;
        c->touched[n] = t;
        c->touch[t] = n++;
    }
    for (int i = 0; i < c->cut_count; i++) c->order[c->range[c->touch[c->cut[i].tet] + 1]++] = i;
    return 1;
}

/* ---- One tet with its cuts ---- */

/* an edge of the tet, from its lower to its higher node, goes through cut k */
typedef struct embi_edge_crossing {
    int edge, k, rise;     /* winding goes up (1) or down (-1) */
    embipc_real s;         /* where: 0 at the lower node, 1 at the higher */
} embi_edge_crossing;

/* side of cut k in a face of the tet, from p to q; what goes on at its ends, as embi_polygon.side */
typedef struct embi_segment {
    const embipc_real *p, *q;
    int k, before, after;
} embi_segment;

/* A lattice tet, while it is worked on. Its cuts count from 0 to n - 1; the elements that get connected are
 * these and, as n to n + 3, the corners of the tet. */
typedef struct embi_pocket {
    int tet, n, v[4], wind[4];
    const int *cuts;                 /* n, into embi_caging.cut */
    embi_barycentric b;
    embi_polygon *polygon;           /* of the cuts that are not a whole triangle */
    int *shape;                      /* per cut: its polygon, or -1 for a whole triangle */
    int *parent, *piece;             /* per element: forest, number of the piece */
    embi_edge_crossing *crossing;
    int crossing_count, segment_count, polygon_count;
    embi_segment *segment;
    int *of_cut;                     /* per cut: its segment in the face at hand, or -1 */
    int *chain;                      /* per segment: forest; and per root whether the curve is open */
    embipc_real *sum;                /* per piece: volume and ten moments */
    embipc_real *height;             /* per piece: how far it reaches above each face, as weights */
    int polygon_cap, shape_cap, parent_cap, piece_cap, crossing_cap, segment_cap, of_cut_cap, chain_cap,
        sum_cap, height_cap;
} embi_pocket;

static void embi_pocket_release(embi_memory *m, embi_pocket *p)
{
    EMBI_RELEASE(m, p->polygon, p->polygon_cap);
    EMBI_RELEASE(m, p->shape, p->shape_cap);
    EMBI_RELEASE(m, p->parent, p->parent_cap);
    EMBI_RELEASE(m, p->piece, p->piece_cap);
    EMBI_RELEASE(m, p->crossing, p->crossing_cap);
    EMBI_RELEASE(m, p->segment, p->segment_cap);
    EMBI_RELEASE(m, p->of_cut, p->of_cut_cap);
    EMBI_RELEASE(m, p->chain, p->chain_cap);
    EMBI_RELEASE(m, p->sum, p->sum_cap);
    EMBI_RELEASE(m, p->height, p->height_cap);
}

/* The polygon of cut k: one that is kept, or the whole triangle, in *whole. */
static const embi_polygon *embi_pocket_polygon(const embi_caging *c, const embi_pocket *p, int k,
                                               embi_polygon *whole)
{
    if (p->shape[k] >= 0) return &p->polygon[p->shape[k]];
    embi_polygon_whole(whole, c, &p->b, c->cut[p->cuts[k]].tri);
    return whole;
}

/* number of triangle t among the cuts of this tet, or -1 */
static int embi_pocket_find(const embi_caging *c, const embi_pocket *p, int t)
{
    int k = c->local[t];
    return k < p->n && c->cut[p->cuts[k]].tri == t ? k : -1;
}

/* Sets up touched tet i: polygons, and the crossings of its edges in order. */
static int embi_pocket_open(embi_caging *c, embi_pocket *p, int i)
{
    embipc_real X[12];
    p->tet = c->touched[i];
    p->n = c->range[i + 1] - c->range[i];
    p->cuts = c->order + c->range[i];
    p->crossing_count = p->polygon_count = 0;
    if (!embi_lattice_gather(c, p->tet, p->v, X) || !embi_barycentric_init(&p->b, X)) c->faulty = 1;
    if (!EMBI_GROW(c->m, int, p->shape, p->shape_cap, p->n)) return 0;
    for (int k = 0; k < p->n; k++) {
        const embi_cut *cut = &c->cut[p->cuts[k]];
        embi_polygon whole, *q;
        c->local[cut->tri] = k;
        p->shape[k] = -1;
        if (cut->sides == 7) continue;
        if (!EMBI_GROW(c->m, embi_polygon, p->polygon, p->polygon_cap, p->polygon_count + 1)) return 0;
        q = &p->polygon[p->polygon_count];
        p->shape[k] = p->polygon_count++;
        embi_polygon_whole(&whole, c, &p->b, cut->tri);
        (void)embi_polygon_in_tet(q, &whole, 0);
        for (int j = 0; j < q->n; j++) {   /* a corner between two faces lies on the edge they share */
            int a = q->side[(j + q->n - 1) % q->n] - 3, b = q->side[j] - 3, f = 0, u, v;
            embi_edge_crossing *x;
            if (a < 0 || b < 0 || a == b) continue;
            if (!EMBI_GROW(c->m, embi_edge_crossing, p->crossing, p->crossing_cap, p->crossing_count + 1))
                return 0;
            x = &p->crossing[p->crossing_count++];
            while (embi_tet_face[a][f] != b) f++;
            u = embi_tet_face[a][(f + 1) % 3];   /* along face a, u to v: here the solid ends */
            v = embi_tet_face[a][(f + 2) % 3];
            x->k = k;
            x->rise = u < v ? -1 : 1;
            x->edge = embi_moment_index[4 * u + v];
            x->s = q->w[j][embi_max_int(u, v)] / (q->w[j][u] + q->w[j][v]);
            if (!(x->s > EMBI_CAGE_NODE_CLEAR && x->s < 1 - EMBI_CAGE_NODE_CLEAR)) c->faulty = 1;
        }
    }
    for (int a = 1; a < p->crossing_count; a++) {   /* few: sorted by insertion */
        embi_edge_crossing x = p->crossing[a];
        int b = a;
        for (; b > 0 && (p->crossing[b - 1].edge > x.edge ||
                         (p->crossing[b - 1].edge == x.edge && p->crossing[b - 1].s > x.s)); b--)
            p->crossing[b] = p->crossing[b - 1];
        p->crossing[b] = x;
    }
    return 1;
}

/* The edges of a tet: lower node, higher node, place among the ten moments by which crossings name them. */
static const int embi_tet_edge[6][3] = {{0, 1, 1}, {0, 2, 2}, {0, 3, 3}, {1, 2, 5}, {1, 3, 6}, {2, 3, 8}};

/* ---- Winding numbers of the nodes ---- */

/* Notes by how much the winding number changes along the edges of each touched tet. */
static int embi_cage_turns(embi_caging *c, embi_pocket *p)
{
    for (int i = 0; i < c->touched_count; i++) {
        signed char *turn = c->turn + 6 * (size_t)i;
        memset(turn, 0, 6);
        if (!embi_pocket_open(c, p, i)) return 0;
        for (int x = 0; x < p->crossing_count; x++)
            for (int e = 0; e < 6; e++)
                if (embi_tet_edge[e][2] == p->crossing[x].edge)
                    turn[e] = (signed char)(turn[e] + p->crossing[x].rise);
    }
    return 1;
}

/* winding numbers of the other corners of a tet from that of corner `from` */
static void embi_cage_spread(embi_caging *c, int tet, int from, signed char w[4])
{
    const signed char *turn = c->touch[tet] >= 0 ? c->turn + 6 * (size_t)c->touch[tet] : NULL;
    for (int e = 0; e < 6; e++) {
        int lo = embi_tet_edge[e][0], hi = embi_tet_edge[e][1], change = turn ? turn[e] : 0;
        if (lo == from) w[hi] = (signed char)(w[lo] + change);
        if (hi == from) w[lo] = (signed char)(w[hi] - change);
    }
}

/* From a tet at the rim, where it is 0, from tet to tet across faces. A lattice tet never has a node of its
 * own only: the first tet to reach a node settles it. */
static int embi_cage_winding(embi_caging *c, embi_pocket *p)
{
    const signed char unknown = 127;
    int count = 0, v[4], start = 0;
    if (!embi_cage_turns(c, p)) return 0;
    if (!EMBI_GROW(c->m, int, c->queue, c->queue_cap, c->tet_total)) return 0;
    memset(c->wind, unknown, (size_t)c->node_total);
    for (int t = 0; t < c->tet_total; t++) c->seen[t] = 0;
    while (!embi_lattice_tet(c, start, v)) start++;
    c->wind[v[0]] = 0;
    c->seen[start] = 1;
    c->queue[count++] = start;
    for (int at = 0; at < count; at++) {
        signed char w[4] = {0, 0, 0, 0};
        int from = 0, tet = c->queue[at];
        (void)embi_lattice_tet(c, tet, v);
        while (c->wind[v[from]] == unknown) from++;
        w[from] = c->wind[v[from]];
        embi_cage_spread(c, tet, from, w);
        for (int i = 0; i < 4; i++) {
            int next = embi_lattice_across(c, tet, i);
            if (c->wind[v[i]] == unknown) c->wind[v[i]] = w[i];
            if (next < 0 || c->seen[next]) continue;
            c->seen[next] = 1;
            c->queue[count++] = next;
        }
    }
    return 1;
}

/* Tets without cuts whose nodes are in the solid are full of it: they join the list, with no cuts. */
static int embi_cage_full_tets(embi_caging *c)
{
    int v[4], n = c->touched_count;
    for (int t = 0; t < c->tet_total; t++) {
        if (c->touch[t] >= 0 || !embi_lattice_tet(c, t, v) || c->wind[v[0]] <= 0) continue;
        if (!EMBI_GROW(c->m, int, c->touched, c->touched_cap, n + 1) ||
            !EMBI_GROW(c->m, int, c->range, c->range_cap, n + 2))
            return 0;
        c->touched[n] = t;
        c->range[n + 1] = c->range[n];
        c->touch[t] = n++;
    }
    c->touched_count = n;
    return 1;
}

/* ---- The pieces of solid in one tet ---- */

/* Cuts with a common side are connected, and neighbours on an edge with solid between them. */
static void embi_pocket_connect(embi_caging *c, embi_pocket *p)
{
    for (int k = 0; k < p->n; k++) {
        int t = c->cut[p->cuts[k]].tri;
        for (int s = 0; s < 3; s++) {
            int other = c->beside[3 * t + s], j;
            if (!(c->cut[p->cuts[k]].sides >> s & 1) || other < t) continue;
            j = embi_pocket_find(c, p, other);
            if (j >= 0) embi_join(p->parent, k, j);
        }
    }
    for (int e = 0, x = 0; e < 6; e++) {
        int lo = embi_tet_edge[e][0], hi = embi_tet_edge[e][1], w = p->wind[lo], last = p->n + lo;
        for (; x < p->crossing_count && p->crossing[x].edge == embi_tet_edge[e][2]; x++) {
            if (w > 0) embi_join(p->parent, last, p->crossing[x].k);
            w += p->crossing[x].rise;
            last = p->crossing[x].k;
        }
        if (w > 0) embi_join(p->parent, last, p->n + hi);
        if (w != p->wind[hi]) c->faulty = 1;
    }
}

/* The curves in face f: segments, joined where their cuts have a side in common that goes through the face.
 * chain[s] the forest, chain[count + root] whether the curve ends somewhere, as at the rim of the face. */
static int embi_pocket_curves(embi_caging *c, embi_pocket *p, int f)
{
    int n = 0, j, *open;
    if (!EMBI_GROW(c->m, embi_segment, p->segment, p->segment_cap, p->polygon_count) ||
        !EMBI_GROW(c->m, int, p->chain, p->chain_cap, 2 * p->polygon_count) ||
        !EMBI_GROW(c->m, int, p->of_cut, p->of_cut_cap, p->n))
        return 0;
    for (int k = 0; k < p->n; k++) {
        const embi_polygon *q;
        p->of_cut[k] = -1;
        if (p->shape[k] < 0) continue;
        q = &p->polygon[p->shape[k]];
        for (j = 0; j < q->n && q->side[j] != 3 + f; j++) {}
        if (j == q->n) continue;
        p->of_cut[k] = n;
        p->chain[n] = n;
        p->segment[n].k = k;
        p->segment[n].p = q->w[j];
        p->segment[n].q = q->w[(j + 1) % q->n];
        p->segment[n].before = q->side[(j + q->n - 1) % q->n];
        p->segment[n++].after = q->side[(j + 1) % q->n];
    }
    p->segment_count = n;
    open = p->chain + n;
    for (int s = 0; s < n; s++) open[s] = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int s = 0; s < n; s++)
            for (int end = 0; end < 2; end++) {
                const embi_segment *g = &p->segment[s];
                int side = end ? g->after : g->before, mate = -1;
                if (side < 3) {
                    int k = embi_pocket_find(c, p, c->beside[3 * c->cut[p->cuts[g->k]].tri + side]);
                    if (k >= 0) mate = p->of_cut[k];
                }
                if (pass == 0 && mate >= 0) embi_join(p->chain, s, mate);
                if (pass == 1 && mate < 0) open[embi_root(p->chain, s)] = 1;
            }
    return 1;
}

/* A closed curve in face f, the root of whose segments is `curve`: from its point with the largest weight of
 * node i0 a ray goes to that node, where that weight is 1, and so never meets the curve again. If it begins
 * in solid, the curve is connected with what the ray meets first. In coordinates (w1, w2) = weights of i1,
 * i2 the ray stays on a line through the origin; cross(Q, P) tells the side Q is on. */
static void embi_pocket_ray_in_face(embi_pocket *p, int f, int curve)
{
    const int *i = embi_tet_face[f];
    const embipc_real *from = NULL;
    embipc_real nearest = 2;
    int w = p->wind[i[0]], hit = p->n + i[0], own = -1;
    for (int s = 0; s < p->segment_count; s++) {
        const embi_segment *g = &p->segment[s];
        if (embi_root(p->chain, s) != curve) continue;
        if (!from || g->p[i[0]] > from[i[0]]) from = g->p;
        if (g->q[i[0]] > from[i[0]]) from = g->q;
        own = g->k;
    }
    for (int s = 0; s < p->segment_count; s++) {
        const embi_segment *g = &p->segment[s];
        embipc_real a = g->p[i[1]] * from[i[2]] - g->p[i[2]] * from[i[1]], at;
        embipc_real b = g->q[i[1]] * from[i[2]] - g->q[i[2]] * from[i[1]];
        if ((a >= 0) == (b >= 0) || embi_root(p->chain, s) == curve) continue;
        at = g->p[i[0]] + (g->q[i[0]] - g->p[i[0]]) * (a / (a - b));
        if (!(at > from[i[0]])) continue;
        w += a >= 0 ? 1 : -1;   /* back along the ray, from the node */
        if (at >= nearest) continue;
        nearest = at;
        hit = g->k;
    }
    if (w > 0) embi_join(p->parent, own, hit);
}

/* Is cut k's triangle met by the ray from `from` to node 0? Returns where, as the factor by which the other
 * three weights have shrunk there, and in *rise how the winding changes on the way; -1 where not. */
static embipc_real embi_pocket_ray_hits(const embi_caging *c, const embi_pocket *p, int k,
                                        const embipc_real from[4], int *rise)
{
    const int *v = c->tri + 3 * c->cut[p->cuts[k]].tri;
    embi_polygon q;
    embipc_real e[3], det, at;
    int left = 0;
    embi_polygon_whole(&q, c, &p->b, c->cut[p->cuts[k]].tri);
    for (int s = 0; s < 3; s++) {   /* which side of its sides: decided alike for both triangles at a side */
        int a = s, b = (s + 1) % 3, up = v[a] < v[b];
        e[s] = embi_triple(from + 1, q.w[up ? a : b] + 1, q.w[up ? b : a] + 1);
        left += (e[s] >= 0) == up;
        if (!up) e[s] = -e[s];
    }
    if (left != 0 && left != 3) return -1;
    det = embi_triple(q.w[0] + 1, q.w[1] + 1, q.w[2] + 1);
    at = det / (e[0] + e[1] + e[2]);
    *rise = det > 0 ? 1 : -1;
    return at >= 0 && at < 1 ? at : -1;
}

/* A closed shell of whole triangles: the same from its point with the largest weight of node 0. */
static void embi_pocket_ray(const embi_caging *c, embi_pocket *p, int shell)
{
    embipc_real from[4] = {-1, 0, 0, 0}, nearest = -1;
    int w = p->wind[0], hit = p->n;
    embi_polygon q;
    for (int k = 0; k < p->n; k++) {
        if (p->piece[k] != shell) continue;
        embi_polygon_whole(&q, c, &p->b, c->cut[p->cuts[k]].tri);
        for (int j = 0; j < 3; j++)
            if (q.w[j][0] > from[0]) memcpy(from, q.w[j], sizeof from);
    }
    for (int k = 0; k < p->n; k++) {
        int rise;
        embipc_real at = p->piece[k] == shell ? -1 : embi_pocket_ray_hits(c, p, k, from, &rise);
        if (at < 0) continue;
        w -= rise;
        if (at <= nearest) continue;
        nearest = at;
        hit = k;
    }
    if (w > 0) embi_join(p->parent, shell, hit);
}

/* Connects what lies inside something else: closed curves in the faces, closed shells in the tet. */
static int embi_pocket_connect_inner(embi_caging *c, embi_pocket *p)
{
    int *anchored;
    for (int f = 0; f < 4 && p->polygon_count > 0; f++) {
        if (!embi_pocket_curves(c, p, f)) return 0;
        for (int s = 0; s < p->segment_count; s++)
            if (p->chain[s] == s && !p->chain[p->segment_count + s]) embi_pocket_ray_in_face(p, f, s);
    }
    if (!EMBI_GROW(c->m, int, p->of_cut, p->of_cut_cap, p->n + 4)) return 0;
    anchored = p->of_cut;   /* per root: not a shell of whole triangles */
    memset(anchored, 0, (size_t)(p->n + 4) * sizeof *anchored);
    for (int k = 0; k < p->n + 4; k++) {
        p->piece[k] = embi_root(p->parent, k);
        if (k >= p->n || p->shape[k] >= 0) anchored[p->piece[k]] = 1;
    }
    for (int k = 0; k < p->n; k++)
        if (p->piece[k] == k && !anchored[k]) embi_pocket_ray(c, p, k);
    return 1;
}

/* integral over the tet n0 a b c, as part of the whole tet: volume, and moments if asked for */
static void embi_pocket_add(embipc_real *sum, const embipc_real *a, const embipc_real *b,
                            const embipc_real *c, embipc_real sign, int moments)
{
    embipc_real v = sign * embi_triple(a + 1, b + 1, c + 1), W[4][4] = {{1, 0, 0, 0}};
    sum[0] += v;
    if (!moments) return;
    memcpy(W[1], a, sizeof W[1]);
    memcpy(W[2], b, sizeof W[2]);
    memcpy(W[3], c, sizeof W[3]);
    embi_add_moment(sum + 1, v, (const embipc_real (*)[4])W);
}

/* The integrals of all pieces, by the formula in the banner, as parts of the tet's volume. */
static void embi_pocket_integrate(const embi_caging *c, embi_pocket *p, int moments)
{
    static const embipc_real node[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    embi_polygon whole;
    for (int k = 0; k < p->n; k++) {
        const embi_polygon *q = embi_pocket_polygon(c, p, k, &whole);
        embipc_real *sum = p->sum + 11 * (size_t)p->piece[k];
        for (int j = 1; j + 1 < q->n; j++) embi_pocket_add(sum, q->w[0], q->w[j], q->w[j + 1], 1, moments);
        for (int j = 0; j < q->n; j++)
            if (q->side[j] == 3) embi_pocket_add(sum, node[1], q->w[(j + 1) % q->n], q->w[j], 1, moments);
    }
    for (int i = 0; i < p->crossing_count; i++) {
        const embi_edge_crossing *x = &p->crossing[i];
        embipc_real at[4] = {0, 0, 0, 0};
        if (x->edge != embi_tet_edge[5][2]) continue;
        at[2] = 1 - x->s;
        at[3] = x->s;
        embi_pocket_add(p->sum + 11 * (size_t)p->piece[x->k], node[1], node[2], at, (embipc_real)-x->rise,
                        moments);
    }
    if (p->wind[3] > 0)
        embi_pocket_add(p->sum + 11 * (size_t)p->piece[p->n + 3], node[1], node[2], node[3],
                        (embipc_real)p->wind[3], moments);
}

/* Numbers the pieces of the tet; corners outside the solid are in none (-1). Returns how many there are, or
 * -1 without memory. */
static int embi_pocket_number(embi_caging *c, embi_pocket *p)
{
    int count = 0, first = -1;
    for (int k = 0; k < p->n + 4; k++) {
        int root = embi_root(p->parent, k);
        if (k >= p->n && p->wind[k - p->n] <= 0) {
            p->piece[k] = -1;
            continue;
        }
        if (!c->split && first < 0) first = root;
        if (!c->split) p->piece[k] = 0;
        else p->piece[k] = root == k ? count++ : p->piece[root];
    }
    if (!c->split && first >= 0) count = 1;
    if (!EMBI_GROW(c->m, embipc_real, p->sum, p->sum_cap, 11 * count)) return -1;
    for (int i = 0; i < 11 * count; i++) p->sum[i] = 0;
    return count;
}

/* Is each piece flat, up to rounding, on one of the faces of the tet? Then the tet across holds it as well.
 * height[4*j + i] = how high piece j rises above face i. */
static int embi_pocket_flat(embi_caging *c, embi_pocket *p, int count)
{
    embi_polygon whole;
    if (!EMBI_GROW(c->m, embipc_real, p->height, p->height_cap, 4 * count)) return 0;
    for (int i = 0; i < 4 * count; i++) p->height[i] = 0;
    for (int k = 0; k < p->n; k++) {
        embipc_real *height = p->height + 4 * (size_t)p->piece[k];
        const embi_polygon *q;
        if (embi_min4(height) > EMBI_CAGE_FLAT) continue;
        q = embi_pocket_polygon(c, p, k, &whole);
        for (int j = 0; j < q->n; j++)
            for (int i = 0; i < 4; i++) height[i] = embi_max(height[i], q->w[j][i]);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; p->piece[p->n + i] >= 0 && j < 4; j++) p->height[4 * p->piece[p->n + i] + j] = 1;
    return 1;
}

/* Pieces of touched tet i become copies; flat ones do not. */
static int embi_pocket_copies(embi_caging *c, embi_pocket *p, int i, int moments)
{
    int count = embi_pocket_number(c, p), *copy_of;
    if (count < 0 || !EMBI_GROW(c->m, embi_tet_copy, c->copy, c->copy_cap, c->copy_count + count) ||
        !embi_pocket_flat(c, p, count) || !EMBI_GROW(c->m, int, p->parent, p->parent_cap, count))
        return 0;
    embi_pocket_integrate(c, p, moments);
    copy_of = p->parent;   /* the forest has served */
    for (int j = 0; j < count; j++) {
        embi_tet_copy *copy = &c->copy[c->copy_count];
        embipc_real v = p->sum[11 * (size_t)j];
        copy_of[j] = -1;
        if (embi_min4(p->height + 4 * (size_t)j) <= EMBI_CAGE_FLAT) continue;
        if (!(v > 0)) c->faulty = 1;
        copy_of[j] = c->copy_count++;
        copy->tet = p->tet;
        copy->volume = v;
        memcpy(copy->moment, p->sum + 11 * (size_t)j + 1, sizeof copy->moment);
    }
    for (int k = 0; k < p->n; k++) c->cut[p->cuts[k]].copy = copy_of[p->piece[k]];
    for (int k = 0; k < 4; k++)
        c->corner[4 * (size_t)i + (size_t)k] = p->piece[p->n + k] < 0 ? -1 : copy_of[p->piece[p->n + k]];
    return 1;
}

/* The pieces of all touched tets. */
static int embi_cage_pieces(embi_caging *c, embi_pocket *p, int moments)
{
    if (!EMBI_GROW(c->m, int, c->corner, c->corner_cap, 4 * c->touched_count)) return 0;
    c->copy_count = 0;
    for (int i = 0; i < c->touched_count && !c->faulty; i++) {
        if (!embi_pocket_open(c, p, i)) return 0;
        if (!EMBI_GROW(c->m, int, p->parent, p->parent_cap, p->n + 4) ||
            !EMBI_GROW(c->m, int, p->piece, p->piece_cap, p->n + 4))
            return 0;
        for (int k = 0; k < p->n + 4; k++) p->parent[k] = k;
        for (int k = 0; k < 4; k++) p->wind[k] = c->wind[p->v[k]];
        embi_pocket_connect(c, p);
        if (!embi_pocket_connect_inner(c, p) || !embi_pocket_copies(c, p, i, moments)) return 0;
    }
    return 1;
}

/* ---- Which copies share which nodes ---- */

/* Copies a and b of neighbouring tets share the nodes of the face opposite to node f of a's tet. */
static void embi_cage_share(embi_caging *c, int a, int b, int f)
{
    int v[4], w[4];
    if (a < 0 || b < 0) return;
    (void)embi_lattice_tet(c, c->copy[a].tet, v);
    (void)embi_lattice_tet(c, c->copy[b].tet, w);
    for (int i = 0; i < 4; i++)
        for (int j = 0; i != f && j < 4; j++)
            if (v[i] == w[j]) embi_join(c->slot, 4 * a + i, 4 * b + j);
}

/* Through face f of touched tet i, into a tet with a higher number: pieces that share a corner of the face,
 * and pieces that are bounded there by the same triangle. */
static void embi_cage_share_face(embi_caging *c, int i, int f, int next)
{
    int tet = c->touched[i], other = c->touch[next], v[4], w[4], last_a = -1, last_b = -1;
    (void)embi_lattice_tet(c, tet, v);
    (void)embi_lattice_tet(c, next, w);
    for (int k = 0; k < 4; k++)
        for (int l = 0; k != f && l < 4; l++)
            if (v[k] == w[l] && c->wind[v[k]] > 0)
                embi_cage_share(c, c->corner[4 * i + k], c->corner[4 * other + l], f);
    for (int s = c->range[i]; s < c->range[i + 1]; s++) {
        const embi_cut *cut = &c->cut[c->order[s]], *beyond;
        if (!(cut->sides >> (3 + f) & 1) || !(beyond = embi_cut_find(c, cut->tri, next))) continue;
        if (cut->copy == last_a && beyond->copy == last_b) continue;
        embi_cage_share(c, last_a = cut->copy, last_b = beyond->copy, f);
    }
}

/* Joins the corners of copies into nodes of the cage, and counts these and how many are weak. */
static int embi_cage_nodes(embi_caging *c)
{
    embipc_real *most, mean = 0;
    int v[4];
    if (!EMBI_GROW(c->m, int, c->slot, c->slot_cap, 4 * c->copy_count)) return 0;
    for (int s = 0; s < 4 * c->copy_count; s++) c->slot[s] = s;
    for (int i = 0; i < c->touched_count; i++)
        for (int f = 0; f < 4; f++) {
            int next = embi_lattice_across(c, c->touched[i], f);
            if (next > c->touched[i] && c->touch[next] >= 0) embi_cage_share_face(c, i, f, next);
        }
    if (!c->split) {   /* all copies at a lattice node share it */
        for (int n = 0; n < c->node_total; n++) c->seen[n] = -1;
        for (int s = 0; s < 4 * c->copy_count; s++) {
            (void)embi_lattice_tet(c, c->copy[s / 4].tet, v);
            if (c->seen[v[s % 4]] < 0) c->seen[v[s % 4]] = s;
            else embi_join(c->slot, s, c->seen[v[s % 4]]);
        }
    }
    most = (embipc_real *)embi_alloc(c->m, 4 * c->copy_count, sizeof *most);
    if (!most) return 0;
    c->node_count = 0;
    c->weak = 0;
    for (int s = 0; s < 4 * c->copy_count; s++) {
        int root = embi_root(c->slot, s);
        most[root] = embi_max(most[root], c->copy[s / 4].volume);
        mean += c->copy[s / 4].volume / (4 * c->copy_count);
        c->node_count += root == s;
    }
    for (int s = 0; s < 4 * c->copy_count; s++)
        if (embi_root(c->slot, s) == s) c->weak += embi_max(0, 1 - most[s] / (EMBI_CAGE_WEAK * mean));
    embi_free(c->m, most, 4 * c->copy_count, sizeof *most);
    return 1;
}

/* volume of a lattice tet as it stands */
static embipc_real embi_lattice_volume(const embi_caging *c, int tet)
{
    embipc_real X[12];
    int v[4];
    if (!embi_lattice_gather(c, tet, v, X)) return 0;
    return embi_tet_det(X, X + 3, X + 6, X + 9) / 6;
}

/* Everything, for the lattice as it stands: cuts, winding, pieces, nodes. c->faulty tells that the result is
 * none: some decision was up to rounding, or the solid is not all there. */
static embipc_result embi_cage_fill(embi_caging *c, int moments)
{
    embipc_real held = 0;
    c->faulty = 0;
    if (!embi_cut_surface(c) || !embi_cage_winding(c, c->pocket) || !embi_cage_full_tets(c))
        return EMBIPC_ERR_MEMORY;
    if (c->faulty) return EMBIPC_OK;
    if (!embi_cage_pieces(c, c->pocket, moments)) return EMBIPC_ERR_MEMORY;
    for (int i = 0; i < c->copy_count; i++)
        held += c->copy[i].volume * embi_lattice_volume(c, c->copy[i].tet);
    if (!(embi_abs(held - c->volume) <= 1e-9 * c->volume)) c->faulty = 1;
    if (c->faulty) return EMBIPC_OK;
    return embi_cage_nodes(c) ? EMBIPC_OK : EMBIPC_ERR_MEMORY;
}

/* ---- The search ---- */

/* Where the middle of the body goes, in cells from a corner. The first four leave a body symmetric about the
 * middle planes of its box a symmetric cage: on a node, or on the middle of an edge along x, y or z (corners
 * and centres may change places: the others repeat these). The rest are for wishes that those miss. */
static const embipc_real embi_cage_shift[12][3] = {
    {0, 0, 0}, {0.5, 0, 0}, {0, 0.5, 0}, {0, 0, 0.5},
    {0.25, 0.25, 0.25}, {0.11, 0.23, 0.36}, {0.29, 0.08, 0.41}, {0.37, 0.31, 0.06},
    {0.25, 0, 0}, {0, 0.25, 0}, {0, 0, 0.25}, {0.19, 0.43, 0.14}};

typedef struct embi_cage_choice {
    embipc_real h, score, miss;
    int placing;
} embi_cage_choice;

/* Fills the lattice of cell size h. Where the surface goes through one of its nodes it is made slightly
 * larger, or if that does not help it is moved a little along one axis, or all: first along the one about
 * which the body is least symmetric, for that costs no symmetry. */
static embipc_result embi_cage_fill_lattice(embi_caging *c, embipc_real h, int placing, int moments)
{
    for (int attempt = 0; attempt < 6; attempt++) {
        embipc_real shift[3];
        embipc_result r;
        for (int i = 0; i < 3; i++) {
            int k = c->axis[i];
            shift[k] = embi_cage_shift[placing][k];
            if (attempt == 2 + i || attempt == 5) shift[k] += 0.03 * (1 + 0.3 * i);
        }
        r = embi_lattice_place(c, attempt ? h * (1 + 1e-6) : h, shift);
        if (r == EMBIPC_OK) r = embi_cage_fill(c, moments);
        if (r != EMBIPC_OK || !c->faulty) return r;
    }
    return EMBIPC_OK;
}

/* How much too stiff a tet makes the solid in it: displacements that are linear there cannot follow the
 * quadratic ones of bending and twist. The error of u = d^T Q d / 2, d from the middle of the tet, with the
 * right values at its nodes d_i, has the gradient Q d - sum_i (d_i^T Q d_i / 2) G_i. Its square, summed over
 * an orthonormal basis of the symmetric Q and integrated over the solid, is
 *   2 int d^2 + V/4 sum_ij (G_i . G_j) (d_i . d_j)^2 */
static embipc_real embi_tet_stiffening(const embipc_real X[12], embipc_real volume,
                                       const embipc_real moment[10])
{
    embi_barycentric b;
    embipc_real d[12], middle[3], sum = 0;
    if (!embi_barycentric_init(&b, X)) return 0;
    for (int k = 0; k < 3; k++) middle[k] = (X[k] + X[3 + k] + X[6 + k] + X[9 + k]) / 4;
    for (int i = 0; i < 4; i++) embi_sub(d + 3 * i, X + 3 * i, middle);
    for (int i = 0; i < 16; i++) {
        const embipc_real *g = b.G + 3 * (i / 4), *h = b.G + 3 * (i % 4);
        embipc_real dd = embi_dot(d + 3 * (i / 4), d + 3 * (i % 4));
        sum += 2 * moment[embi_moment_index[i]] * dd + volume / 4 * embi_dot(g, h) * dd * dd;
    }
    return sum;
}

/* the same of all copies */
static embipc_real embi_cage_stiffening(const embi_caging *c)
{
    embipc_real sum = 0, X[12];
    int v[4];
    for (int i = 0; i < c->copy_count; i++)
        if (embi_lattice_gather(c, c->copy[i].tet, v, X))
            sum += embi_lattice_volume(c, c->copy[i].tet) *
                   embi_tet_stiffening(X, c->copy[i].volume, c->copy[i].moment);
    return sum;
}

/* Tries one lattice. Score: how much too stiff it is for its number of nodes (the error goes with the square
 * of their distance), times penalties for missing the wished count (0: no wish) and for weak nodes. Returns
 * the node count in *count, 0 for none. */
static embipc_result embi_cage_try(embi_caging *c, embipc_real h, int placing, int wish,
                                   embi_cage_choice *best, int *count)
{
    embipc_real miss, score;
    embipc_result r = embi_cage_fill_lattice(c, h, placing, 1);
    *count = 0;
    if (r != EMBIPC_OK || c->faulty) return r;
    *count = c->node_count;
    miss = wish > 0 ? embi_abs((embipc_real)(c->node_count - wish)) / wish : 0.0;
    score = embi_cage_stiffening(c) * pow(c->node_count, 2.0 / 3);
    score *= 1 + 4 * miss + (miss > EMBI_CAGE_MISS ? 1000 * miss : 0);
    score *= 1 + 4 * c->weak / c->node_count;
    if (best->h > 0 && !(score < best->score)) return r;
    best->h = h;
    best->score = score;
    best->miss = miss;
    best->placing = placing;
    return r;
}

/* Tries cell sizes from h down to `last` in steps of factor `step`, with placings from, ..., to - 1. */
static embipc_result embi_cage_sweep(embi_caging *c, embipc_real h, embipc_real last, embipc_real step,
                                     int from, int to, int wish, embi_cage_choice *best)
{
    embipc_result r = EMBIPC_OK;
    for (; r == EMBIPC_OK && h >= last; h *= step)
        for (int p = from, count; p < to && r == EMBIPC_OK; p++)
            r = embi_cage_try(c, h, p, wish, best, &count);
    return r == EMBIPC_ERR_ARGUMENT ? EMBIPC_OK : r;
}

/* Coarse to fine until the count is well past the wish, in small steps round the best, and where that misses
 * the wish with placings that break the symmetry, wherever the counts came near. Large surfaces are tried
 * less often. */
static embipc_result embi_cage_search(embi_caging *c, int wish, embi_cage_choice *best)
{
    embipc_result r = EMBIPC_OK;
    embipc_real longest = 0, coarse = 0, fine = 0, step, reach;
    int large = c->tri_count > 100000, least = 0, count;
    for (int k = 0; k < 3; k++) longest = embi_max(longest, c->hi[k] - c->lo[k]);
    for (embipc_real h = 2 * longest; r == EMBIPC_OK && least <= wish + wish / 2 &&
         c->volume < wish * h * h * h; h *= large ? 0.8 : 0.85) {
        least = INT_MAX;
        for (int p = 0; p < (large ? 1 : 4) && r == EMBIPC_OK; p++) {
            r = embi_cage_try(c, h, p, wish, best, &count);
            if (!count) continue;
            least = embi_min_int(least, count);
            if (abs(count - wish) > wish / 2) continue;
            fine = h;
            if (coarse == 0) coarse = h;
        }
        if (least == INT_MAX) least = 0;
    }
    if (r == EMBIPC_ERR_ARGUMENT && best->h > 0) r = EMBIPC_OK;   /* a lattice too fine ends the search */
    if (r != EMBIPC_OK || best->h <= 0) return r;
    step = large ? 0.93 : 0.97;
    reach = pow(step, large ? 2.5 : 5.5);
    r = embi_cage_sweep(c, best->h * pow(step, large ? -2.0 : -5.0), best->h * reach, step, 0, 4, wish, best);
    if (r != EMBIPC_OK || best->miss <= EMBI_CAGE_MISS || large) return r;
    coarse = embi_max(coarse, 1.4 * best->h);
    fine = embi_min(fine > 0 ? fine : best->h, 0.7 * best->h);
    return embi_cage_sweep(c, coarse, fine, 0.94, 4, 12, wish, best);
}

/* ---- Tightening ---- */

/* smallest dihedral angle, degrees: between faces i and j it has the cosine -G_i . G_j / (|G_i| |G_j|)
 * with G the gradients of the weights; -1 for a flat or inverted tet */
static embipc_real embi_tet_angle(const embipc_real X[12])
{
    embi_barycentric b;
    embipc_real largest = -1;
    if (!(embi_tet_det(X, X + 3, X + 6, X + 9) > 0) || !embi_barycentric_init(&b, X)) return -1;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) {
            const embipc_real *g = b.G + 3 * i, *k = b.G + 3 * j;
            largest = embi_max(largest, -embi_dot(g, k) / (embi_norm(g) * embi_norm(k)));
        }
    return acos(embi_min(largest, 1)) * (180 / 3.14159265358979323846);
}

/* Per lattice node where it came from, how it would go, how much of that it may, and whether it is in the
 * way; per lattice tet how many copies it had before, and has now. */
typedef struct embi_tightening {
    embipc_real *from, *way, *share;
    unsigned char *bad;
    int *had, *has, *kept;           /* kept: the tets that had some */
    int kept_count, copies, nodes;
    int from_cap, way_cap, share_cap, bad_cap, had_cap, has_cap, kept_cap;
} embi_tightening;

static void embi_tightening_release(embi_memory *m, embi_tightening *s)
{
    EMBI_RELEASE(m, s->from, s->from_cap);
    EMBI_RELEASE(m, s->way, s->way_cap);
    EMBI_RELEASE(m, s->share, s->share_cap);
    EMBI_RELEASE(m, s->bad, s->bad_cap);
    EMBI_RELEASE(m, s->had, s->had_cap);
    EMBI_RELEASE(m, s->has, s->has_cap);
    EMBI_RELEASE(m, s->kept, s->kept_cap);
}

/* Remembers the copies that there are. */
static int embi_tighten_begin(embi_caging *c, embi_tightening *s)
{
    if (!EMBI_GROW(c->m, embipc_real, s->from, s->from_cap, 3 * c->node_total) ||
        !EMBI_GROW(c->m, embipc_real, s->way, s->way_cap, 3 * c->node_total) ||
        !EMBI_GROW(c->m, embipc_real, s->share, s->share_cap, c->node_total) ||
        !EMBI_GROW(c->m, unsigned char, s->bad, s->bad_cap, c->node_total) ||
        !EMBI_GROW(c->m, int, s->had, s->had_cap, c->tet_total) ||
        !EMBI_GROW(c->m, int, s->has, s->has_cap, c->tet_total) ||
        !EMBI_GROW(c->m, int, s->kept, s->kept_cap, c->copy_count))
        return 0;
    s->kept_count = 0;
    s->copies = c->copy_count;
    s->nodes = c->node_count;
    for (int i = 0; i < c->copy_count; i++)
        if (s->had[c->copy[i].tet]++ == 0) s->kept[s->kept_count++] = c->copy[i].tet;
    return 1;
}

/* way = from the nodes outside the solid to the centroid of what is in the tets round them */
static void embi_tighten_aim(const embi_caging *c, embi_tightening *s)
{
    int v[4];
    memcpy(s->from, c->place, 3 * (size_t)c->node_total * sizeof *s->from);
    memset(s->share, 0, (size_t)c->node_total * sizeof *s->share);
    memset(s->way, 0, 3 * (size_t)c->node_total * sizeof *s->way);
    for (int t = 0; t < c->copy_count; t++) {
        const embi_tet_copy *copy = &c->copy[t];
        embipc_real first[3] = {0, 0, 0}, V = embi_lattice_volume(c, copy->tet);
        (void)embi_lattice_tet(c, copy->tet, v);
        for (int i = 0; i < 16; i++)
            embi_axpy(first, V * copy->moment[embi_moment_index[i]], c->place + 3 * (size_t)v[i % 4]);
        for (int i = 0; i < 4; i++) {
            s->share[v[i]] += V * copy->volume;
            embi_add(s->way + 3 * (size_t)v[i], s->way + 3 * (size_t)v[i], first);
        }
    }
    for (int i = 0; i < c->node_total; i++) {
        embipc_real *w = s->way + 3 * (size_t)i, solid = s->share[i];
        s->share[i] = solid > 0 && c->wind[i] <= 0 ? 1 : 0;
        for (int k = 0; k < 3; k++) w[k] = s->share[i] > 0 ? w[k] / solid - c->place[3 * i + k] : 0.0;
    }
}

/* Marks the nodes that must go less far: of tets with more copies than before, and of those with a small
 * angle. Returns how many of them can. */
static int embi_tighten_find_bad(const embi_caging *c, embi_tightening *s)
{
    int count = 0, v[4];
    memset(s->bad, c->faulty, (size_t)c->node_total);
    for (int i = 0; i < c->copy_count; i++) s->has[c->copy[i].tet] = 0;
    for (int i = 0; i < c->copy_count && !c->faulty; i++) {
        int tet = c->copy[i].tet;
        if (++s->has[tet] <= s->had[tet]) continue;
        (void)embi_lattice_tet(c, tet, v);
        for (int k = 0; k < 4; k++) s->bad[v[k]] = 1;
    }
    for (int i = 0; i < s->kept_count; i++) {
        embipc_real X[12];
        if (!embi_lattice_gather(c, s->kept[i], v, X) || embi_tet_angle(X) >= EMBI_CAGE_ANGLE) continue;
        for (int k = 0; k < 4; k++) s->bad[v[k]] = 1;
    }
    for (int i = 0; i < c->node_total; i++) count += s->bad[i] && s->share[i] > 0;
    return count;
}

/* One round: all nodes outside go at once; the bad ones then go back by part of their way, again and again,
 * and in the end by all of it, until there are
 * none. *done tells whether that came out as a cage with no new tets or nodes. It may have lost
 * some that held next to nothing, if they are few. */
static embipc_result embi_tighten_round(embi_caging *c, embi_tightening *s, int attempts, int *done)
{
    *done = 0;
    for (int attempt = 0; attempt < attempts; attempt++) {
        embipc_result r;
        int bad;
        for (int i = 0; i < c->node_total; i++) {
            embi_copy(c->place + 3 * (size_t)i, s->from + 3 * (size_t)i);
            embi_axpy(c->place + 3 * (size_t)i, s->share[i], s->way + 3 * (size_t)i);
        }
        if ((r = embi_cage_fill(c, 0)) != EMBIPC_OK) return r;
        bad = embi_tighten_find_bad(c, s);
        *done = !bad && !c->faulty && c->copy_count <= s->copies && c->node_count <= s->nodes &&
                10 * c->node_count >= 9 * s->nodes;
        if (!bad) return EMBIPC_OK;
        for (int i = 0; i < c->node_total; i++)
            if (s->bad[i])
                s->share[i] *= 2 * attempt < attempts ? 0.8 : 4 * attempt < 3 * attempts ? 0.5 : 0.0;
    }
    return EMBIPC_OK;
}

/* Tightens the filled lattice in rounds, as long as they succeed; leaves it filled, with moments. */
static embipc_result embi_cage_tighten(embi_caging *c)
{
    embi_tightening s;
    embipc_result r = EMBIPC_OK;
    int large = c->tri_count > 100000, done = 1;
    memset(&s, 0, sizeof s);
    if (!embi_tighten_begin(c, &s)) r = EMBIPC_ERR_MEMORY;
    for (int round = 0; round < (large ? 1 : 4) && done && r == EMBIPC_OK; round++) {
        embi_tighten_aim(c, &s);
        r = embi_tighten_round(c, &s, large ? 12 : 32, &done);
        if (!done) memcpy(c->place, s.from, 3 * (size_t)c->node_total * sizeof *c->place);
        if (r == EMBIPC_OK) r = embi_cage_fill(c, 1);
    }
    embi_tightening_release(c->m, &s);
    return r;
}

/* ---- The cage itself ---- */

/* room for a cage of its counts; what there is of it is freed with the cage */
static embipc_result embi_cage_alloc(embi_caging *c, embipc_cage *cage, int nodes, int tets)
{
    cage->hooks = c->m->hooks;
    cage->node_count = nodes;
    cage->tet_count = tets;
    cage->vertex_count = c->vertex_count;
    cage->x = (embipc_real *)embi_alloc(c->m, 3 * nodes, sizeof *cage->x);
    cage->tets = (int *)embi_alloc(c->m, 4 * tets, sizeof *cage->tets);
    cage->tet_volume = (embipc_real *)embi_alloc(c->m, tets, sizeof *cage->tet_volume);
    cage->tet_moment = (embipc_real *)embi_alloc(c->m, 10 * tets, sizeof *cage->tet_moment);
    cage->vertex_tet = (int *)embi_alloc(c->m, c->vertex_count, sizeof *cage->vertex_tet);
    cage->vertex_weight = (embipc_real *)embi_alloc(c->m, 4 * c->vertex_count, sizeof *cage->vertex_weight);
    if (!cage->x || !cage->tets || !cage->tet_volume || !cage->tet_moment || !cage->vertex_tet ||
        !cage->vertex_weight)
        return EMBIPC_ERR_MEMORY;
    return EMBIPC_OK;
}

/* The copy that holds each vertex: of those that its triangles have cuts of, the one it lies deepest in.
 * vertex_weight[4*v] holds the depth until embi_cage_measure. */
static int embi_cage_tie(const embi_caging *c, embipc_cage *cage)
{
    for (int i = 0; i < c->vertex_count; i++) cage->vertex_tet[i] = -1;
    for (int i = 0; i < c->touched_count; i++) {
        embi_barycentric b;
        embipc_real X[12], w[4];
        int v[4];
        if (!embi_lattice_gather(c, c->touched[i], v, X) || !embi_barycentric_init(&b, X)) return 0;
        for (int s = c->range[i]; s < c->range[i + 1]; s++) {
            const embi_cut *cut = &c->cut[c->order[s]];
            for (int k = 0; cut->copy >= 0 && k < 3; k++) {
                int vertex = c->tri[3 * cut->tri + k];
                embipc_real depth, *best = cage->vertex_weight + 4 * (size_t)vertex;
                embi_barycentric_at(w, &b, c->x + 3 * (size_t)vertex);
                depth = embi_min4(w);
                if (cage->vertex_tet[vertex] >= 0 && !(depth > *best)) continue;
                *best = depth;
                cage->vertex_tet[vertex] = cut->copy;
            }
        }
    }
    for (int i = 0; i < c->vertex_count; i++)
        if (cage->vertex_tet[i] < 0 || cage->vertex_weight[4 * (size_t)i] < -EMBI_INSIDE_TOLERANCE) return 0;
    return 1;
}

/* The cage from a filled lattice. */
static embipc_result embi_cage_extract(embi_caging *c, embipc_cage *cage)
{
    int n = 0, v[4], *number;
    embipc_result r = embi_cage_alloc(c, cage, c->node_count, c->copy_count);
    if (r != EMBIPC_OK) return r;
    if (!EMBI_GROW(c->m, int, c->queue, c->queue_cap, 4 * c->copy_count)) return EMBIPC_ERR_MEMORY;
    number = c->queue;
    for (int s = 0; s < 4 * c->copy_count; s++) {
        int root = embi_root(c->slot, s);
        (void)embi_lattice_tet(c, c->copy[s / 4].tet, v);
        if (root == s) {
            embi_copy(cage->x + 3 * (size_t)n, c->place + 3 * (size_t)v[s % 4]);
            number[s] = n++;
        }
        cage->tets[s] = number[root];
    }
    for (int i = 0; i < c->copy_count; i++) {
        embipc_real V = embi_lattice_volume(c, c->copy[i].tet);
        cage->tet_volume[i] = V * c->copy[i].volume;
        for (int k = 0; k < 10; k++) cage->tet_moment[10 * (size_t)i + (size_t)k] = V * c->copy[i].moment[k];
        cage->copies += i > 0 && c->copy[i].tet == c->copy[i - 1].tet;
    }
    cage->cell_size = c->h;
    return embi_cage_tie(c, cage) ? EMBIPC_OK : EMBIPC_ERR_OUTSIDE;
}

/* Weights of the vertices, quality of the tets, and volumes that sum up to the solid's. */
static void embi_cage_measure(const embi_caging *c, embipc_cage *cage)
{
    embipc_real held = 0, X[12];
    cage->worst_angle = 180;
    for (int t = 0; t < cage->tet_count; t++) {
        embi_tet_gather(X, cage->x, cage->tets + 4 * t);
        cage->volume += embi_tet_det(X, X + 3, X + 6, X + 9) / 6;
        cage->worst_angle = embi_min(cage->worst_angle, embi_tet_angle(X));
        held += cage->tet_volume[t];
    }
    for (int t = 0; t < cage->tet_count; t++) {
        embipc_real *m = cage->tet_moment + 10 * (size_t)t;
        cage->tet_volume[t] *= c->volume / held;
        for (int k = 0; k < 10; k++) m[k] *= c->volume / held;
        embi_moment_project(m);
    }
    for (int i = 0; i < cage->vertex_count; i++) {
        embipc_real *w = cage->vertex_weight + 4 * (size_t)i;
        embi_tet_gather(X, cage->x, cage->tets + 4 * cage->vertex_tet[i]);
        (void)embi_tet_weights(X, c->x + 3 * (size_t)i, w);
        if (embi_min4(w) < 0) embi_clamp_weights(w, X, c->x + 3 * (size_t)i);
    }
}

/* ---- Separate parts, and one tet for each ---- */

/* Which pieces of solid a surface bounds: an outward shell with the cavities in it. */
typedef struct embi_parts {
    int *label;              /* per triangle: its part, 0 to count - 1 */
    int count;
    embipc_real *volume;     /* scratch, per triangle: six times the volume of the shell it stands for */
} embi_parts;

static void embi_parts_release(embi_caging *c, embi_parts *s)
{
    embi_free(c->m, s->label, c->tri_count, sizeof *s->label);
    embi_free(c->m, s->volume, c->tri_count, sizeof *s->volume);
}

/* the shell, by its root, that the cavity with triangle t lies in: the smallest outward one round it */
static int embi_parts_around(const embi_caging *c, const embi_parts *s, int *root, int t)
{
    int best = t;
    const embipc_real *p = c->x + 3 * (size_t)c->tri[3 * t];
    for (int i = 0; i < c->tri_count; i++) {
        embipc_real turns = 0;
        if (root[i] != i || !(s->volume[i] > 0) || (best != t && s->volume[i] >= s->volume[best])) continue;
        for (int j = 0; j < c->tri_count; j++)
            if (root[j] == i)
                turns += embi_solid_angle(p, c->x + 3 * (size_t)c->tri[3 * j],
                                          c->x + 3 * (size_t)c->tri[3 * j + 1],
                                          c->x + 3 * (size_t)c->tri[3 * j + 2]);
        if (turns > 2 * 3.14159265358979323846) best = i;
    }
    return best;
}

static int embi_parts_find(embi_caging *c, embi_parts *s)
{
    embipc_real o[3];
    int *root = (int *)embi_alloc(c->m, c->tri_count, sizeof *root), n = c->tri_count;
    s->count = 0;
    s->label = (int *)embi_alloc(c->m, n, sizeof *s->label);
    s->volume = (embipc_real *)embi_alloc(c->m, n, sizeof *s->volume);
    if (root && s->label && s->volume) {
        for (int k = 0; k < 3; k++) o[k] = c->lo[k] + (c->hi[k] - c->lo[k]) / 2;
        for (int t = 0; t < n; t++) root[t] = t;
        for (int h = 0; h < 3 * n; h++) embi_join(root, h / 3, c->beside[h]);
        for (int t = 0; t < n; t++) {
            const int *v = c->tri + 3 * t;
            root[t] = embi_root(root, t);
            s->volume[root[t]] += embi_tet_det(o, c->x + 3 * (size_t)v[0], c->x + 3 * (size_t)v[1],
                                               c->x + 3 * (size_t)v[2]);
        }
        for (int t = 0; t < n; t++)
            if (root[t] == t && s->volume[t] > 0) s->label[t] = s->count++;
        for (int t = 0; t < n; t++)
            if (root[t] == t && !(s->volume[t] > 0)) s->label[t] = s->label[embi_parts_around(c, s, root, t)];
        for (int t = 0; t < n; t++) s->label[t] = s->label[root[t]];
    }
    n = root && s->label && s->volume;
    embi_free(c->m, root, c->tri_count, sizeof *root);
    return n;
}

/* X = the tet with outer normals n[4], those of a regular tet, closely round the points, in coordinates
 * divided by size[]; returns its inradius there. With d_j = max n_j . p, sum n_j = 0 and sum n_j n_j^T =
 * 4/3 I the corner where the planes j != i meet is
 *   x_i = 3/4 sum_j c_j n_j,  c_j = n_j . x_i = d_j,  c_i = -sum of the other d_j */
static embipc_real embi_tet_round(embipc_real X[12], const embipc_real n[12], const embipc_real *x, int count,
                                  const embipc_real o[3], const embipc_real size[3])
{
    embipc_real d[4] = {-EMBI_HUGE, -EMBI_HUGE, -EMBI_HUGE, -EMBI_HUGE}, total, p[3];
    for (int v = 0; v < count; v++) {
        for (int k = 0; k < 3; k++) p[k] = (x[3 * (size_t)v + (size_t)k] - o[k]) / size[k];
        for (int i = 0; i < 4; i++) d[i] = embi_max(d[i], embi_dot(n + 3 * i, p));
    }
    for (int i = 0; i < 4; i++) d[i] += 1e-3;   /* a little air */
    total = d[0] + d[1] + d[2] + d[3];
    for (int i = 0; i < 4; i++) {
        embi_set(p, 0, 0, 0);
        for (int j = 0; j < 4; j++) embi_axpy(p, 0.75 * (j == i ? d[j] - total : d[j]), n + 3 * j);
        for (int k = 0; k < 3; k++) X[3 * i + k] = o[k] + size[k] * p[k];
    }
    return total / 4;
}

/* best[12] = one tet round the points. Its shape is regular in coordinates in which their bounding box is a
 * cube; sides of the box below a third of the longest count as a third of it. Of some seventy ways to turn
 * it (a face towards each side of the box, twisted in steps of 10 degrees; or a face towards corners) the
 * smallest is taken. */
static void embi_tet_round_points(embipc_real best[12], const embipc_real *x, int count)
{
    static const embipc_real corner[12] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
    embipc_real lo[3], hi[3], o[3], size[3], longest = 0, least = EMBI_HUGE, X[12], n[12];
    embipc_real root3 = sqrt((embipc_real)3);
    embi_box_points(lo, hi, x, count);
    for (int k = 0; k < 3; k++) longest = embi_max(longest, (hi[k] - lo[k]) / 2);
    for (int k = 0; k < 3; k++) {
        o[k] = lo[k] + (hi[k] - lo[k]) / 2;
        size[k] = embi_max((hi[k] - lo[k]) / 2, longest / 3);
    }
    for (int way = 0; way < 74; way++) {
        embipc_real axis[3] = {0, 0, 0}, turn[3], twist[3] = {0, 0, 0}, R[9], S[9], T[9], r;
        if (way < 72) {   /* normal 0 = (1, 1, 1)/sqrt 3 to the axis, then round the axis */
            axis[way / 24] = way % 24 < 12 ? 1 : -1;
            embi_cross(turn, corner, axis);
            embi_scale(turn, acos(embi_dot(corner, axis) / root3) / embi_norm(turn), turn);
            embi_scale(twist, (way % 12) * (3.14159265358979323846 / 18), axis);
        } else embi_set(turn, 0, 0, way == 72 ? 0 : 3.14159265358979323846 / 2);
        embi_m3_rotation(R, turn);
        embi_m3_rotation(S, twist);
        embi_m3_mul(T, S, R);
        for (int i = 0; i < 4; i++) {
            embi_m3_mulv(n + 3 * i, T, corner + 3 * i);
            embi_scale(n + 3 * i, 1 / root3, n + 3 * i);
        }
        r = embi_tet_round(X, n, x, count, o, size);
        if (!(r < least)) continue;
        least = r;
        memcpy(best, X, sizeof X);
    }
}

/* Gathers part `part` (-1: everything): its vertices into x, its triangles, with their own numbers, into tri;
 * vertex_tet of its vertices becomes `tet`. Returns the number of triangles. */
static int embi_parts_gather(const embi_caging *c, const embi_parts *s, int part, int tet, embipc_real *x,
                             int *vertex_count, int *tri, int *number, int *vertex_tet)
{
    int n = 0;
    *vertex_count = 0;
    for (int i = 0; i < c->vertex_count; i++) number[i] = -1;
    for (int t = 0; t < c->tri_count; t++) {
        if (part >= 0 && s->label[t] != part) continue;
        for (int k = 0; k < 3; k++) {
            int v = c->tri[3 * t + k];
            if (number[v] < 0) {
                embi_copy(x + 3 * (size_t)*vertex_count, c->x + 3 * (size_t)v);
                number[v] = (*vertex_count)++;
            }
            vertex_tet[v] = tet;
            tri[3 * n + k] = number[v];
        }
        n++;
    }
    return n;
}

/* One tet round everything, or one round each part. */
static embipc_result embi_cage_single(embi_caging *c, const embi_parts *s, int each, embipc_cage *cage)
{
    int count = each ? s->count : 1, n, nv;
    embipc_real *x = (embipc_real *)embi_alloc(c->m, 3 * c->vertex_count, sizeof *x), held = 0;
    int *tri = (int *)embi_alloc(c->m, 3 * c->tri_count, sizeof *tri);
    int *number = (int *)embi_alloc(c->m, c->vertex_count, sizeof *number);
    embipc_result r = embi_cage_alloc(c, cage, 4 * count, count);
    if (!x || !tri || !number) r = EMBIPC_ERR_MEMORY;
    for (int i = 0; i < 4 * count && r == EMBIPC_OK; i++) cage->tets[i] = i;
    for (int i = 0; i < count && r == EMBIPC_OK && held >= 0; i++) {
        n = embi_parts_gather(c, s, each ? i : -1, i, x, &nv, tri, number, cage->vertex_tet);
        embi_tet_round_points(cage->x + 12 * (size_t)i, x, nv);
        held = embi_solid_in_tets(c->m, cage->x, cage->tets + 4 * (size_t)i, 1, x, nv, tri, n,
                                  cage->tet_volume + i, cage->tet_moment + 10 * (size_t)i);
    }
    if (held < 0) r = EMBIPC_ERR_MEMORY;
    embi_free(c->m, x, 3 * c->vertex_count, sizeof *x);
    embi_free(c->m, tri, 3 * c->tri_count, sizeof *tri);
    embi_free(c->m, number, c->vertex_count, sizeof *number);
    return r;
}

/* ---- The whole ---- */

static void embi_caging_release(embi_caging *c)
{
    EMBI_RELEASE(c->m, c->beside, c->beside_cap);
    EMBI_RELEASE(c->m, c->place, c->place_cap);
    EMBI_RELEASE(c->m, c->wind, c->wind_cap);
    EMBI_RELEASE(c->m, c->seen, c->seen_cap);
    EMBI_RELEASE(c->m, c->home, c->home_cap);
    EMBI_RELEASE(c->m, c->first, c->first_cap);
    EMBI_RELEASE(c->m, c->cut, c->cut_cap);
    EMBI_RELEASE(c->m, c->touch, c->touch_cap);
    EMBI_RELEASE(c->m, c->touched, c->touched_cap);
    EMBI_RELEASE(c->m, c->range, c->range_cap);
    EMBI_RELEASE(c->m, c->order, c->order_cap);
    EMBI_RELEASE(c->m, c->turn, c->turn_cap);
    EMBI_RELEASE(c->m, c->corner, c->corner_cap);
    EMBI_RELEASE(c->m, c->copy, c->copy_cap);
    EMBI_RELEASE(c->m, c->slot, c->slot_cap);
    EMBI_RELEASE(c->m, c->queue, c->queue_cap);
    EMBI_RELEASE(c->m, c->local, c->local_cap);
    embi_keys_release(c->m, &c->keys);
    embi_pocket_release(c->m, c->pocket);
}

/* What is known of the surface before there is a lattice. */
static int embi_caging_begin(embi_caging *c)
{
    embipc_solid solid;
    embipc_real off[3];
    const embi_key *half;
    embi_box_points(c->lo, c->hi, c->x, c->vertex_count);
    embi_solid(&solid, c->x, c->vertex_count, c->tri, c->tri_count);
    c->volume = solid.volume;
    for (int k = 0; k < 3; k++) {
        c->axis[k] = k;
        off[k] = embi_abs(2 * solid.centroid[k] - c->lo[k] - c->hi[k]);
        for (int i = k; i > 0 && off[c->axis[i]] > off[c->axis[i - 1]]; i--) {
            c->axis[i] = c->axis[i - 1];
            c->axis[i - 1] = k;
        }
    }
    if (!embi_half_edges(c->m, &c->keys, c->tri, c->tri_count) ||
        !EMBI_GROW(c->m, int, c->beside, c->beside_cap, 3 * c->tri_count) ||
        !EMBI_GROW(c->m, int, c->local, c->local_cap, c->tri_count))
        return 0;
    half = c->keys.a;
    for (int i = 0; i + 1 < 3 * c->tri_count; i += 2) {   /* closed: two half-edges an edge */
        c->beside[half[i].value] = half[i + 1].value / 3;
        c->beside[half[i + 1].value] = half[i].value / 3;
    }
    return 1;
}

/* Chooses the lattice of the def, or *each: one tet for each part comes nearer to the wish. Leaves c
 * filled. */
static embipc_result embi_cage_from_lattice(embi_caging *c, const embipc_cage_def *def, int wish, int parts,
                                            int *each, embipc_error *e)
{
    embi_cage_choice best;
    embipc_result r = EMBIPC_OK;
    int count;
    if (def->cell_size > 0) wish = 0;
    *each = 0;
    memset(&best, 0, sizeof best);
    if (wish) r = embi_cage_search(c, wish, &best);
    for (int p = 0; p < 12 && !wish && r == EMBIPC_OK && (p < 4 || best.h <= 0); p++)
        r = embi_cage_try(c, def->cell_size, p, 0, &best, &count);
    if (r == EMBIPC_OK && wish && (best.h <= 0 || best.miss > EMBI_CAGE_MISS) &&
        (best.h <= 0 || best.miss * wish > abs(4 * parts - wish))) {
        *each = 1;
        return EMBIPC_OK;
    }
    if (r == EMBIPC_ERR_ARGUMENT)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "the wished cage needs a lattice of more than %d cells: ask "
                         "for fewer nodes or a larger cell", EMBI_CAGE_MAX_CELLS);
    if (r == EMBIPC_OK && best.h <= 0)
        return embi_fail(e, EMBIPC_ERR_OUTSIDE, "no tets of the lattice hold the solid: does the surface "
                         "cross itself?");
    if (r == EMBIPC_OK) r = embi_cage_fill_lattice(c, best.h, best.placing, 1);
    if (r == EMBIPC_OK && def->tighten) r = embi_cage_tighten(c);
    return r == EMBIPC_ERR_MEMORY ? embi_fail_memory(e) : r;
}

/* The cage of a surface that is known to be closed and outward. */
static embipc_result embi_cage_make(embi_caging *c, const embipc_cage_def *def, embipc_cage *cage,
                                    embipc_error *e)
{
    embi_parts parts;
    int each = 0, single = def->cell_size == 0 && def->nodes == 4, wish = def->nodes;
    embipc_result r = EMBIPC_OK;
    memset(&parts, 0, sizeof parts);
    if (!embi_caging_begin(c) || !embi_parts_find(c, &parts)) r = embi_fail_memory(e);
    if (!wish) wish = embi_max_int(34, 8 * parts.count);
    if (r == EMBIPC_OK && def->cell_size == 0 && !single && wish < 4 * parts.count)
        r = embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, 4 * parts.count,
                         "%d nodes for a surface of %d separate parts: each needs 4, so wish for %d or more, "
                         "or for 4, which is one tet round them all", wish, parts.count,
                         4 * parts.count);
    if (r == EMBIPC_OK && !single) r = embi_cage_from_lattice(c, def, wish, parts.count, &each, e);
    if (r == EMBIPC_OK) {
        if (single || each) r = embi_cage_single(c, &parts, each, cage);
        else r = embi_cage_extract(c, cage);
        if (r == EMBIPC_ERR_MEMORY) r = embi_fail_memory(e);
        else if (r != EMBIPC_OK)
            r = embi_fail(e, r, "a vertex of the surface is in no tet of its cage: does the surface cross "
                          "itself?");
    }
    if (r == EMBIPC_OK) {
        embi_cage_measure(c, cage);
        cage->parts = parts.count;
    }
    embi_parts_release(c, &parts);
    return r;
}

/* Memory for the cage, too, is m's. */
static embipc_result embi_cage_build(embi_memory *m, const embipc_cage_def *def, const embipc_real *x,
                                     int vertex_count, const int *tri, int tri_count, embipc_cage *cage,
                                     embipc_error *error)
{
    embi_caging c;
    embi_pocket pocket;
    embipc_result r;
    memset(cage, 0, sizeof *cage);
    if (!def || def->cookie != EMBI_CAGE_COOKIE)
        return embi_fail(error, EMBIPC_ERR_DEF, "cage def not made by embipc_default_cage_def()");
    if (!embi_finite(def->cell_size) || def->cell_size < 0 ||
        (def->cell_size == 0 && def->nodes < 4 && def->nodes != 0))
        return embi_fail(error, EMBIPC_ERR_ARGUMENT, "a cage of %d nodes or cell size %g: wish for 4 nodes "
                         "or more, or a cell size above 0", def->nodes, def->cell_size);
    r = embi_surface_check(m, x, vertex_count, tri, tri_count, 1, error);
    if (r != EMBIPC_OK) return r;
    memset(&c, 0, sizeof c);
    memset(&pocket, 0, sizeof pocket);
    c.m = m;
    c.x = x;
    c.tri = tri;
    c.vertex_count = vertex_count;
    c.tri_count = tri_count;
    c.split = def->duplicate != 0;
    c.pocket = &pocket;
    r = embi_cage_make(&c, def, cage, error);
    embi_caging_release(&c);
    if (r != EMBIPC_OK) embi_cage_release(m, cage);
    return r;
}

EMBIPC_API embipc_result embipc_cage_build(const embipc_cage_def *def, const embipc_real *x, int vertex_count,
                                           const int *tri, int tri_count, const embipc_allocator *hooks,
                                           embipc_cage *cage, embipc_error *error)
{
    embi_memory m;
    if (!cage) return embi_fail(error, EMBIPC_ERR_ARGUMENT, "no place for the cage: cage is NULL");
    embi_memory_init(&m, hooks);
    return embi_cage_build(&m, def, x, vertex_count, tri, tri_count, cage, error);
}

/* The last cage that a world built, and what it was built for: bodies of one shape are often made one after the
 * other. */
typedef struct embi_last_cage {
    embipc_cage cage;
    int nodes;                   /* the wish */
    embipc_real *x;
    int *tri;
    int vertex_count, tri_count, x_cap, tri_cap;
} embi_last_cage;

static void embi_last_cage_free(embi_memory *m, embi_last_cage *last)
{
    embi_cage_release(m, &last->cage);
    EMBI_RELEASE(m, last->x, last->x_cap);
    EMBI_RELEASE(m, last->tri, last->tri_cap);
    memset(last, 0, sizeof *last);
}

static int embi_last_cage_serves(const embi_last_cage *last, int nodes, const embipc_real *x, int vertex_count,
                                 const int *tri, int tri_count)
{
    return last->cage.node_count > 0 && last->nodes == nodes && last->vertex_count == vertex_count &&
           last->tri_count == tri_count && memcmp(last->x, x, (size_t)(3 * vertex_count) * sizeof *x) == 0 &&
           memcmp(last->tri, tri, (size_t)(3 * tri_count) * sizeof *tri) == 0;
}

/* Makes it one of so many nodes for this surface; where that fails there is none. */
static embipc_result embi_last_cage_make(embi_memory *m, embi_last_cage *last, int nodes, const embipc_real *x,
                                         int vertex_count, const int *tri, int tri_count, embipc_error *e)
{
    embipc_cage_def wish = embipc_default_cage_def();
    if (embi_last_cage_serves(last, nodes, x, vertex_count, tri, tri_count)) return EMBIPC_OK;
    embi_last_cage_free(m, last);
    if (!EMBI_GROW(m, embipc_real, last->x, last->x_cap, 3 * vertex_count) ||
        !EMBI_GROW(m, int, last->tri, last->tri_cap, 3 * tri_count))
        return embi_fail_memory(e);
    memcpy(last->x, x, (size_t)(3 * vertex_count) * sizeof *x);
    memcpy(last->tri, tri, (size_t)(3 * tri_count) * sizeof *tri);
    last->vertex_count = vertex_count;
    last->tri_count = tri_count;
    last->nodes = wish.nodes = nodes;
    return embi_cage_build(m, &wish, x, vertex_count, tri, tri_count, &last->cage, e);
}

/* ==== 14. Elasticity =================================================================================
 * Per tet T of a cage (or mesh), with m_a the gradient of its barycentric coordinate w_a at rest:
 *   F = sum_a q_a m_a^T,   V = volume of the *body* inside T (not of T)
 * Linear corotated, R the rotation of F at the start of the step                       [CCD23 V-B]
 *   E = (R^T F + F^T R)/2 - I,   psi = mu |E|^2 + lambda/2 tr(E)^2
 *   P = dpsi/dF = R (2 mu E + lambda tr(E) I)
 *   K_ab = V [mu (m_a . m_b) I + mu r_b r_a^T + lambda r_a r_b^T],  r_a = R m_a
 * With R held for a step psi is quadratic in q, and K constant and positive semi-definite by
 * construction: it is assembled once per step.
 * Averaged volume strain, against locking [BB98]: the second term becomes
 *   sum_a V_a lambda/2 ebar_a^2,   ebar_a = sum_{T at a} V_T/4 tr(E_T) / V_a,   V_a = sum_{T at a} V_T/4
 *   K_vol = sum_a lambda/V_a G_a G_a^T,   G_a = d(V_a ebar_a)/dq = sum_{T at a} V_T/4 (R m_.)
 * Lagged ARAP: psi = mu |F - R|^2, P = 2 mu (F - R), K_ab = 2 mu V (m_a . m_b) I, the same for ever.
 * Fibre along the direction a at rest: + fibre/2 (a . E a)^2.
 * The volume strain is theta = tr(E) here, det F - 1 or (|F|^2 - 3)/2 with the materials of section 15,
 * which share this section's averaging: U(theta) = lambda/2 theta^2 (log neo-Hookean: lambda/2 ln^2(1 +
 * theta)) and
 *   sum_a V_a U(thetabar_a),   pressure of a tet: p = sum_a U'(thetabar_a)/4
 * Mass: M_ab = rho int w_a w_b over the body inside T; with lumping its row sums on the diagonal.
 * Loops of lagged energies take EMBI_LANES tets at a time, side by side in vectors: each lane is one tet's
 * arithmetic, the same whatever stands beside it, and sums are formed tet by tet, as in a loop over tets.
 * Uses: small math, memory, sorting, sparse matrices.      Checked by: tests/test_elastic.c   */

/* A tet that holds little of the body still ties its nodes together: it counts, in stiffness only, as
 * if at least this share of it were filled. Rigid motions stay free; no node is left without stiffness. */
#define EMBI_GHOST_FILL 1e-4

/* A material without its geometry. */
typedef struct embi_law {
    embipc_model model;
    embipc_real mu, lambda;        /* Lame parameters, Pa */
    embipc_real c1, c2;            /* of Mooney-Rivlin, Pa */
    embipc_real fibre, along[3];   /* stiffness of the fibre, Pa, and its unit direction at rest */
} embi_law;

typedef struct embi_elastic {
    int n, nt;                     /* nodes, tets */
    int lanes;                     /* tets with those behind the last that make the last EMBI_LANES whole: it once more,
                                      of no volume */
    int averaged;
    int nonlinear;                 /* energy and Hessian follow q in each iteration: section 15 */
    embipc_real keep;              /* share of negative curvature in its Hessian: 0 projected, 1 as it is */
    embi_law law;
    int *tet;                      /* (4 lanes) */
    embipc_real *grad;             /* m_a at rest, 1/m (12 lanes) */
    embipc_real *volume;           /* V, m^3 (lanes) */
    embipc_real *rotation;         /* R (9 each), and behind all what it makes of the gradients: r_a = R m_a, a = 1,
                                      2, 3 (9 each, number by number of EMBI_LANES tets) */
    embipc_real *rotation_other;   /* those of the step before, what a step that fails goes back to; when
                                      `ahead` those that the next step will have */
    int ahead;
    embipc_real *node_volume;      /* V_a, m^3 (n) */
    int *patch_row, *patch_tet;    /* tets at each node (n + 1; 4 nt) */
    int *near_row, *near_node;     /* averaged: nodes in a tet with each node, itself too, ascending (n + 1; ..) */
    int *place;                    /* of K_ab, a >= b, of each tet among the blocks of the body's matrix (10 lanes) */
    int *corner;                   /* averaged: of node b of a tet among the nodes near its node a (16 nt) */
    int tet_cap, grad_cap, volume_cap, rotation_cap, rotation_other_cap, node_volume_cap, patch_row_cap,
        patch_tet_cap, near_row_cap, near_node_cap, place_cap, corner_cap;
} embi_elastic;

static void embi_elastic_free(embi_memory *m, embi_elastic *s)
{
    EMBI_RELEASE(m, s->tet, s->tet_cap);
    EMBI_RELEASE(m, s->grad, s->grad_cap);
    EMBI_RELEASE(m, s->volume, s->volume_cap);
    EMBI_RELEASE(m, s->rotation, s->rotation_cap);
    EMBI_RELEASE(m, s->rotation_other, s->rotation_other_cap);
    EMBI_RELEASE(m, s->node_volume, s->node_volume_cap);
    EMBI_RELEASE(m, s->patch_row, s->patch_row_cap);
    EMBI_RELEASE(m, s->patch_tet, s->patch_tet_cap);
    EMBI_RELEASE(m, s->near_row, s->near_row_cap);
    EMBI_RELEASE(m, s->near_node, s->near_node_cap);
    EMBI_RELEASE(m, s->place, s->place_cap);
    EMBI_RELEASE(m, s->corner, s->corner_cap);
}

/* m_a = gradient of w_a in the tet X (12 reals): the rows of D0^-1, D0 = (X1-X0, X2-X0, X3-X0).
 * Returns the volume of the tet. */
static embipc_real embi_tet_gradients(const embipc_real X[12], embipc_real grad[12])
{
    embipc_real Dt[9], inverse[9], det;
    for (int a = 0; a < 3; a++) embi_sub(Dt + 3 * a, X + 3 * (a + 1), X);   /* rows: D0^T */
    det = embi_m3_inverse(inverse, Dt);
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++) grad[3 * (a + 1) + k] = inverse[3 * k + a];
    for (int k = 0; k < 3; k++) grad[k] = -(grad[3 + k] + grad[6 + k] + grad[9 + k]);
    return det / 6;
}

static void embi_law_set(embi_law *w, const embipc_material *m)
{
    embipc_real size = embi_norm(m->fibre);
    memset(w, 0, sizeof *w);
    w->model = m->model;
    w->mu = m->young / (2 * (1 + m->poisson));
    w->lambda = m->young * m->poisson / ((1 + m->poisson) * (1 - 2 * m->poisson));
    if (m->model == EMBIPC_ARAP || m->model == EMBIPC_LAGGED_ARAP) {
        w->mu = m->young / 2;
        w->lambda = 0;
    }
    if (m->model == EMBIPC_ORTHOGONALITY) {   /* |F F^T - I|^2 is 4 |E|^2 of StVK */
        w->mu = 4 * m->stiffness;
        w->lambda = 0;
    }
    if (m->model == EMBIPC_MOONEY_RIVLIN) {
        w->c1 = m->mooney[0];
        w->c2 = m->mooney[1];
        w->mu = 2 * (w->c1 + w->c2);
        w->lambda = m->mooney[2] - 2 * w->mu / 3;
    }
    w->fibre = size > 0 ? m->fibre_stiffness : (embipc_real)0;
    if (size > 0) embi_scale(w->along, 1 / size, m->fibre);
}

/* Young's modulus for small strain, Pa */
static embipc_real embi_law_young(const embi_law *w)
{
    return w->mu * (3 * w->lambda + 2 * w->mu) / (w->lambda + w->mu);
}

static int embi_law_lagged(const embi_law *w)
{
    return w->model == EMBIPC_COROTATED || w->model == EMBIPC_LAGGED_ARAP;
}

/* U(theta), J/m^3, with U' and U'', Pa */
static embipc_real embi_law_volume(const embi_law *w, embipc_real theta, embipc_real *first,
                                   embipc_real *second)
{
    if (w->model == EMBIPC_NEO_HOOKEAN && w->lambda != 0) {
        embipc_real J = 1 + theta, l = J > 0 ? log1p(theta) : -(embipc_real)INFINITY;
        *first = J > 0 ? w->lambda * l / J : (embipc_real)0;
        *second = J > 0 ? w->lambda * (1 - l) / (J * J) : (embipc_real)0;
        return w->lambda / 2 * l * l;
    }
    *first = w->lambda * theta;
    *second = w->lambda;
    return w->lambda / 2 * theta * theta;
}

/* ---- EMBI_LANES tets side by side: t, a multiple of EMBI_LANES, and those behind it ---- */

/* M: nine numbers of each, those of tet 0 at m, of the next `stride` further on */
static inline void embi_tets_load(int t, const embipc_real *m, int stride, embi_vec M[9])
{
    const embipc_real *from[EMBI_LANES];
    for (int l = 0; l < EMBI_LANES; l++) from[l] = m + stride * (t + l);
    for (int i = 0; i < 9; i++) M[i] = embi_load_each(from, i);
}

/* F = sum_a x_a m_a^T, M: m_1, m_2, m_3 */
static inline void embi_tets_gradient(const embi_elastic *s, int t, const embi_vec M[9], const embipc_real *x,
                                      embi_vec F[9])
{
    const embipc_real *x0[EMBI_LANES], *x1[EMBI_LANES], *x2[EMBI_LANES], *x3[EMBI_LANES];
    for (int l = 0; l < EMBI_LANES; l++) {
        const int *v = s->tet + 4 * (t + l);
        x0[l] = x + 3 * v[0];
        x1[l] = x + 3 * v[1];
        x2[l] = x + 3 * v[2];
        x3[l] = x + 3 * v[3];
    }
    for (int i = 0; i < 3; i++) {
        embi_vec o = embi_load_each(x0, i), e1 = embi_load_each(x1, i) - o, e2 = embi_load_each(x2, i) - o,
                 e3 = embi_load_each(x3, i) - o;
        F[3 * i] = e1 * M[0] + e2 * M[3] + e3 * M[6];
        F[3 * i + 1] = e1 * M[1] + e2 * M[4] + e3 * M[7];
        F[3 * i + 2] = e1 * M[2] + e2 * M[5] + e3 * M[8];
    }
}

/* F at q */
static void embi_tets_F(const embi_elastic *s, int t, const embipc_real *q, embi_vec F[9])
{
    embi_vec M[9];
    embi_tets_load(t, s->grad + 3, 12, M);
    embi_tets_gradient(s, t, M, q, F);
}

/* y_a += V P m_a on their corners; M: m_1, m_2, m_3 */
static inline void embi_tets_add_force(const embi_elastic *s, int t, const embi_vec M[9], embi_vec V,
                                       const embi_vec P[9], embipc_real *y)
{
    embipc_real f[3][4][EMBI_LANES];
    for (int i = 0; i < 3; i++) {
        embi_vec a = V * P[3 * i], b = V * P[3 * i + 1], c = V * P[3 * i + 2];
        embi_vec f1 = a * M[0] + b * M[1] + c * M[2], f2 = a * M[3] + b * M[4] + c * M[5],
                 f3 = a * M[6] + b * M[7] + c * M[8];
        embi_store(f[i][0], f1 + f2 + f3);
        embi_store(f[i][1], f1);
        embi_store(f[i][2], f2);
        embi_store(f[i][3], f3);
    }
    for (int l = 0; l < EMBI_LANES; l++) {
        const int *v = s->tet + 4 * (t + l);
        embipc_real *y0 = y + 3 * v[0], *y1 = y + 3 * v[1], *y2 = y + 3 * v[2], *y3 = y + 3 * v[3];
        for (int i = 0; i < 3; i++) {
            y1[i] += f[i][1][l];
            y2[i] += f[i][2][l];
            y3[i] += f[i][3][l];
            y0[i] -= f[i][0][l];
        }
    }
}

/* Behind the rotations of all tets: the gradients as they turn them. */
static void embi_elastic_turn(const embi_elastic *s, embipc_real *rotation)
{
    for (int t = 0; t < s->lanes; t += EMBI_LANES) {
        embi_vec R[9], M[9], r[9];
        embi_tets_load(t, rotation, 9, R);
        embi_tets_load(t, s->grad + 3, 12, M);
        for (int a = 0; a < 9; a += 3)
            for (int i = 0; i < 3; i++) r[a + i] = R[3 * i] * M[a] + R[3 * i + 1] * M[a + 1] + R[3 * i + 2] * M[a + 2];
        memcpy(rotation + 9 * (s->lanes + t), r, sizeof r);
    }
}

/* r_1, r_2, r_3 of those tets */
static inline void embi_tets_turned(const embi_elastic *s, int t, const embipc_real *rotation, embi_vec r[9])
{
    memcpy(r, rotation + 9 * (s->lanes + t), 9 * sizeof *r);
}

/* all rotations 1, as where the body was made */
static void embi_elastic_unturn(embi_elastic *s)
{
    for (int t = 0; t < s->lanes; t++) embi_m3_identity(s->rotation + 9 * t);
    embi_elastic_turn(s, s->rotation);
    s->ahead = 0;
}

/* Sets up the elasticity of the cage X, tet with the body's volume in each tet, and a factor on its stiffness
 * that is counted as volume (NULL: 1). Returns 0 out of memory. */
static int embi_elastic_init(embi_memory *m, embi_elastic *s, const embipc_real *X, int n, const int *tet,
                             int nt, const embipc_real *volume, const embipc_real *factor,
                             const embipc_material *mat)
{
    s->n = n;
    s->nt = nt;
    s->lanes = embi_whole_lanes(nt);
    if (!EMBI_GROW(m, int, s->tet, s->tet_cap, 4 * s->lanes) ||
        !EMBI_GROW(m, embipc_real, s->grad, s->grad_cap, 12 * s->lanes) ||
        !EMBI_GROW(m, embipc_real, s->volume, s->volume_cap, s->lanes) ||
        !EMBI_GROW(m, embipc_real, s->rotation, s->rotation_cap, 18 * s->lanes) ||
        !EMBI_GROW(m, embipc_real, s->rotation_other, s->rotation_other_cap, 18 * s->lanes) ||
        !EMBI_GROW(m, embipc_real, s->node_volume, s->node_volume_cap, n) ||
        !EMBI_GROW(m, int, s->patch_row, s->patch_row_cap, n + 1) ||
        !EMBI_GROW(m, int, s->patch_tet, s->patch_tet_cap, 4 * nt))
        return 0;
    embi_law_set(&s->law, mat);
    s->nonlinear = !embi_law_lagged(&s->law);
    s->averaged = mat->averaged > 0 && s->law.lambda != 0;
    memcpy(s->tet, tet, (size_t)(4 * nt) * sizeof *tet);
    memset(s->node_volume, 0, (size_t)n * sizeof *s->node_volume);
    memset(s->patch_row, 0, (size_t)(n + 1) * sizeof *s->patch_row);
    for (int t = 0; t < nt; t++) {
        embipc_real XT[12], whole;
        for (int a = 0; a < 4; a++) embi_copy(XT + 3 * a, X + 3 * tet[4 * t + a]);
        whole = embi_tet_gradients(XT, s->grad + 12 * t);
        s->volume[t] = embi_max(volume[t], EMBI_GHOST_FILL * whole) * (factor ? factor[t] : (embipc_real)1);
        for (int a = 0; a < 4; a++) {
            s->node_volume[tet[4 * t + a]] += s->volume[t] / 4;
            s->patch_row[tet[4 * t + a] + 1]++;
        }
    }
    for (int t = nt; t < s->lanes; t++) {
        memcpy(s->tet + 4 * t, s->tet + 4 * (nt - 1), 4 * sizeof *s->tet);
        memcpy(s->grad + 12 * t, s->grad + 12 * (nt - 1), 12 * sizeof *s->grad);
        s->volume[t] = 0;
    }
    embi_elastic_unturn(s);
    for (int i = 0; i < n; i++) s->patch_row[i + 1] += s->patch_row[i];
    for (int t = 0; t < nt; t++)   /* fill each row, then shift the starts back */
        for (int a = 0; a < 4; a++) s->patch_tet[s->patch_row[tet[4 * t + a]]++] = t;
    for (int i = n; i > 0; i--) s->patch_row[i] = s->patch_row[i - 1];
    s->patch_row[0] = 0;
    return 1;
}

/* y_a += scale P m_a on the corners of a tet; the four add up to nothing */
static inline void embi_tet_add_force(const int v[4], const embipc_real m[9], embipc_real scale,
                                      const embipc_real P[9], embipc_real *y)
{
    embipc_real *y0 = y + 3 * v[0], *y1 = y + 3 * v[1], *y2 = y + 3 * v[2], *y3 = y + 3 * v[3];
    for (int i = 0; i < 3; i++) {
        embipc_real a = scale * P[3 * i], b = scale * P[3 * i + 1], c = scale * P[3 * i + 2];
        embipc_real f1 = a * m[0] + b * m[1] + c * m[2], f2 = a * m[3] + b * m[4] + c * m[5],
                    f3 = a * m[6] + b * m[7] + c * m[8];
        y1[i] += f1;
        y2[i] += f2;
        y3[i] += f3;
        y0[i] -= f1 + f2 + f3;
    }
}

/* F = sum_a q_a m_a^T, from edges so that a far-away body loses nothing: sum_a m_a = 0 */
static void embi_elastic_F(const embi_elastic *s, int t, const embipc_real *q, embipc_real F[9])
{
    const int *v = s->tet + 4 * t;
    const embipc_real *m = s->grad + 12 * t + 3, *q0 = q + 3 * v[0], *q1 = q + 3 * v[1], *q2 = q + 3 * v[2],
                      *q3 = q + 3 * v[3];
    for (int i = 0; i < 3; i++) {
        embipc_real e1 = q1[i] - q0[i], e2 = q2[i] - q0[i], e3 = q3[i] - q0[i];
        F[3 * i] = e1 * m[0] + e2 * m[3] + e3 * m[6];
        F[3 * i + 1] = e1 * m[1] + e2 * m[4] + e3 * m[7];
        F[3 * i + 2] = e1 * m[2] + e2 * m[5] + e3 * m[8];
    }
}

/* rotation: in guesses, out R of every tet at q, and behind them what it makes of the gradients */
static void embi_elastic_polar(const embi_elastic *s, const embipc_real *q, embipc_real *rotation)
{
    for (int t = 0; t < s->lanes; t += EMBI_LANES) {
        embipc_real *R[EMBI_LANES];
        embi_vec F[9];
        for (int l = 0; l < EMBI_LANES; l++) R[l] = rotation + 9 * (t + l);
        embi_tets_F(s, t, q, F);
        embi_polars(R, F);
    }
    embi_elastic_turn(s, rotation);
}

/* The rotations that the next step will have if it starts at q; the present ones are the first guess (and
 * decide the last bits: a step finds the same ones whatever was asked in between). Who moves q afterwards
 * clears `ahead`. */
static void embi_elastic_look_ahead(embi_elastic *s, const embipc_real *q)
{
    if (s->ahead) return;
    memcpy(s->rotation_other, s->rotation, (size_t)(9 * s->lanes) * sizeof *s->rotation);
    embi_elastic_polar(s, q, s->rotation_other);
    s->ahead = 1;
}

/* R of every tet at q, where a step starts */
static void embi_elastic_rotate(embi_elastic *s, const embipc_real *q)
{
    embipc_real *before = s->rotation;
    embi_elastic_look_ahead(s, q);
    s->rotation = s->rotation_other;
    s->rotation_other = before;
    s->ahead = 0;
}

/* ebar_a of node a */
static embipc_real embi_elastic_node_strain(const embi_elastic *s, int a, const embipc_real *trace)
{
    embipc_real sum = 0;
    for (int k = s->patch_row[a]; k < s->patch_row[a + 1]; k++)
        sum += s->volume[s->patch_tet[k]] / 4 * trace[s->patch_tet[k]];
    return sum / s->node_volume[a];
}

/* theta of a tet at q */
static embipc_real embi_elastic_volume_strain(const embi_elastic *s, int t, const embipc_real *q)
{
    const embipc_real *R = s->rotation + 9 * t;
    embipc_real F[9], sum = -3;
    embi_elastic_F(s, t, q, F);
    if (!s->nonlinear)
        return embi_dot(R, F) + embi_dot(R + 3, F + 3) + embi_dot(R + 6, F + 6) - 3;
    if (s->law.model != EMBIPC_STVK) return embi_m3_det(F) - 1;
    for (int i = 0; i < 9; i++) sum += F[i] * F[i];
    return sum / 2;
}

/* W = dtheta/dF of a tet at q: R, the cofactors of F, or F */
static void embi_elastic_volume_gradient(const embi_elastic *s, int t, const embipc_real *q, embipc_real W[9])
{
    embipc_real F[9];
    memcpy(W, s->rotation + 9 * t, 9 * sizeof *W);
    if (!s->nonlinear) return;
    embi_elastic_F(s, t, q, F);
    if (s->law.model == EMBIPC_STVK) memcpy(W, F, sizeof F);
    else
        for (int i = 0; i < 3; i++) embi_cross(W + 3 * i, F + 3 * ((i + 1) % 3), F + 3 * ((i + 2) % 3));
}

/* theta of every tet (trace, nt), and its pressure U'(theta), or with averaging the mean over its nodes,
 * behind it (nt) */
static void embi_elastic_pressure(const embi_elastic *s, const embipc_real *q, embipc_real *trace)
{
    embipc_real *pressure = trace + s->nt, first, second;
    for (int t = 0; t < s->nt; t++) {
        trace[t] = embi_elastic_volume_strain(s, t, q);
        if (s->averaged) pressure[t] = 0;
        else (void)embi_law_volume(&s->law, trace[t], pressure + t, &second);
    }
    for (int a = 0; a < s->n && s->averaged; a++) {
        (void)embi_law_volume(&s->law, embi_elastic_node_strain(s, a, trace), &first, &second);
        for (int k = s->patch_row[a]; k < s->patch_row[a + 1]; k++)
            pressure[s->patch_tet[k]] += first / 4;
    }
}

/* sum_a V_a U(thetabar_a), J */
static embipc_real embi_elastic_averaged_energy(const embi_elastic *s, const embipc_real *trace)
{
    embipc_real sum = 0, first, second;
    for (int a = 0; a < s->n && s->averaged; a++)
        sum += s->node_volume[a] *
               embi_law_volume(&s->law, embi_elastic_node_strain(s, a, trace), &first, &second);
    return sum;
}

static inline embi_vec embi_m3s_inner(const embi_vec A[9], const embi_vec B[9])
{
    return (A[0] * B[0] + A[1] * B[1] + A[2] * B[2]) + (A[3] * B[3] + A[4] * B[4] + A[5] * B[5]) +
           (A[6] * B[6] + A[7] * B[7] + A[8] * B[8]);
}

/* d: the fibres' directions as the rotations turn them */
static void embi_tets_along(const embi_elastic *s, int t, const embipc_real *rotation, embi_vec d[3])
{
    const embipc_real *along = s->law.along;
    embi_vec R[9];
    embi_tets_load(t, rotation, 9, R);
    for (int i = 0; i < 3; i++) d[i] = R[3 * i] * along[0] + R[3 * i + 1] * along[1] + R[3 * i + 2] * along[2];
}

/* D = d d^T of those; returns D . H */
static embi_vec embi_tets_fibre(const embi_elastic *s, int t, const embipc_real *rotation, const embi_vec H[9],
                                embi_vec D[9])
{
    embi_vec d[3];
    embi_tets_along(s, t, rotation, d);
    for (int i = 0; i < 9; i++) D[i] = d[i / 3] * d[i % 3];
    return embi_m3s_inner(D, H);
}

/* Psi(q) of a lagged energy, J, with these rotations, and what they make of the gradients behind them. trace: scratch
 * (lanes). */
static embipc_real embi_lagged_energy(const embi_elastic *s, const embipc_real *q, const embipc_real *rotation,
                                      embipc_real *trace)
{
    embipc_real sum = 0, mu = s->law.mu, lambda = s->averaged ? (embipc_real)0 : s->law.lambda;
    for (int t = 0; t < s->lanes; t += EMBI_LANES) {
        embi_vec r[9], H[9], D[9], tr, psi;
        embipc_real part[EMBI_LANES];
        embi_tets_turned(s, t, rotation, r);
        embi_tets_gradient(s, t, r, q, H);   /* F R^T */
        H[0] -= 1;
        H[4] -= 1;
        H[8] -= 1;
        tr = H[0] + H[4] + H[8];
        psi = H[0] * H[0] + H[4] * H[4] + H[8] * H[8];
        if (s->law.model == EMBIPC_COROTATED) {
            embi_vec a = H[1] + H[3], b = H[2] + H[6], c = H[5] + H[7];
            psi += (a * a + b * b + c * c) / 2;
        } else
            psi += H[1] * H[1] + H[3] * H[3] + H[2] * H[2] + H[6] * H[6] + H[5] * H[5] + H[7] * H[7];
        psi = mu * psi + lambda / 2 * tr * tr;
        if (s->law.fibre > 0) {
            embi_vec e = embi_tets_fibre(s, t, rotation, H, D);
            psi += s->law.fibre / 2 * e * e;
        }
        embi_store(trace + t, tr);
        embi_store(part, psi);
        for (int l = 0; l < EMBI_LANES; l++) sum += s->volume[t + l] * part[l];
    }
    return sum + embi_elastic_averaged_energy(s, trace);
}

/* H = F R^T becomes the stress P R^T = 2 mu (sym(H) - I) + p I (+ the fibre's); of a change of F, of which F = R
 * is no part: at_rest 0 */
static inline void embi_tets_stress(const embi_elastic *s, int t, embipc_real at_rest, embi_vec p, embi_vec H[9])
{
    embipc_real mu = s->law.mu;
    embi_vec D[9], tension = p;
    if (s->law.fibre > 0) tension = s->law.fibre * (embi_tets_fibre(s, t, s->rotation, H, D) - at_rest);
    p -= 2 * mu * at_rest;
    H[0] = 2 * mu * H[0] + p;
    H[4] = 2 * mu * H[4] + p;
    H[8] = 2 * mu * H[8] + p;
    if (s->law.model == EMBIPC_COROTATED) {
        H[1] = H[3] = mu * (H[1] + H[3]);
        H[2] = H[6] = mu * (H[2] + H[6]);
        H[5] = H[7] = mu * (H[5] + H[7]);
    } else
        for (int i = 1; i < 8; i++)
            if (i != 4) H[i] *= 2 * mu;
    for (int i = 0; i < 9 && s->law.fibre > 0; i++) H[i] += tension * D[i];
}

/* The mean strain lambda/4 sum_a ebar_a of each tet in place of its own, trace. node (n): scratch. */
static void embi_lagged_pressure(const embi_elastic *s, embipc_real *trace, embipc_real *node)
{
    memset(node, 0, (size_t)s->n * sizeof *node);
    for (int t = 0; t < s->nt; t++) {
        const int *v = s->tet + 4 * t;
        embipc_real part = s->volume[t] / 4 * trace[t];
        for (int a = 0; a < 4; a++) node[v[a]] += part;
    }
    for (int a = 0; a < s->n; a++) node[a] *= s->law.lambda / (4 * s->node_volume[a]);
    for (int t = 0; t < s->nt; t++) {
        const int *v = s->tet + 4 * t;
        trace[t] = (node[v[0]] + node[v[1]]) + (node[v[2]] + node[v[3]]);
    }
}

/* y += scale (P_T m_a V summed over tets): dPsi/dq of a lagged energy at its rotations where x are positions (
 * at_rest 1: what F = R has none of is taken off), and K x where x is a change of them (at_rest 0), without the
 * matrix. In the turned frame, P m_a = (P R^T) r_a and P R^T follows from F R^T = sum_a x_a r_a^T, no rotation is
 * left to apply. scratch: 10 lanes + n. */
static void embi_lagged_forces(const embi_elastic *s, const embipc_real *x, embipc_real at_rest,
                               embipc_real scale, embipc_real *scratch, embipc_real *y)
{
    embipc_real *trace = scratch, *kept = trace + s->lanes, *node = kept + 9 * s->lanes;
    embi_vec r[9], H[9];
    for (int t = 0; s->averaged && t < s->lanes; t += EMBI_LANES) {
        embi_tets_turned(s, t, s->rotation, r);
        embi_tets_gradient(s, t, r, x, H);
        embi_store(trace + t, H[0] + H[4] + H[8] - 3 * at_rest);
        memcpy(kept + 9 * t, H, sizeof H);
    }
    if (s->averaged) embi_lagged_pressure(s, trace, node);
    for (int t = 0; t < s->lanes; t += EMBI_LANES) {
        embi_vec V = scale * embi_load(s->volume + t), p;
        embi_tets_turned(s, t, s->rotation, r);
        if (s->averaged) {
            memcpy(H, kept + 9 * t, sizeof H);
            p = embi_load(trace + t);
        } else {
            embi_tets_gradient(s, t, r, x, H);
            p = s->law.lambda * (H[0] + H[4] + H[8] - 3 * at_rest);
        }
        embi_tets_stress(s, t, at_rest, p, H);
        embi_tets_add_force(s, t, r, V, H, y);
    }
}

/* The nodes near each node, for averaging. mark (n): scratch. Returns 0 out of memory. */
static int embi_elastic_neighbours(embi_memory *m, embi_elastic *s, int *mark)
{
    if (!s->averaged) return 1;
    if (!EMBI_GROW(m, int, s->near_row, s->near_row_cap, s->n + 1)) return 0;
    memset(s->near_row, 0, (size_t)(s->n + 1) * sizeof *s->near_row);
    for (int fill = 0; fill < 2; fill++) {   /* count, then write: j comes to all its neighbours in turn */
        for (int i = 0; i < s->n; i++) mark[i] = -1;
        for (int j = 0; j < s->n; j++)
            for (int k = 4 * s->patch_row[j]; k < 4 * s->patch_row[j + 1]; k++) {
                int i = s->tet[4 * s->patch_tet[k / 4] + k % 4];
                if (mark[i] == j) continue;
                mark[i] = j;
                if (fill) s->near_node[s->near_row[i]++] = j;
                else s->near_row[i + 1]++;
            }
        if (fill) break;
        for (int i = 0; i < s->n; i++) s->near_row[i + 1] += s->near_row[i];
        if (!EMBI_GROW(m, int, s->near_node, s->near_node_cap, s->near_row[s->n])) return 0;
    }
    for (int i = s->n; i > 0; i--) s->near_row[i] = s->near_row[i - 1];
    s->near_row[0] = 0;
    if (!EMBI_GROW(m, int, s->corner, s->corner_cap, 16 * s->nt)) return 0;
    for (int k = 0; k < 16 * s->nt; k++) {
        int a = s->tet[k / 4], first = s->near_row[a], count = s->near_row[a + 1] - first;
        s->corner[k] = first + embi_find_place(s->near_node + first, count, s->tet[4 * (k / 16) + k % 4]);
    }
    return 1;
}

/* How many pairs embi_elastic_pairs() writes, or -1 when an int cannot tell. */
static int embi_elastic_pair_count(const embi_elastic *s)
{
    double count = 10.0 * s->nt;
    for (int a = 0; a < s->n && s->averaged; a++) {
        double k = s->near_row[a + 1] - s->near_row[a];
        count += k * (k + 1) / 2;
    }
    return count < INT_MAX ? (int)count : -1;
}

/* Node pairs that K couples: 10 per tet, and with averaging all pairs of nodes near the same node. Pairs come
 * more than once. Returns their number. */
static int embi_elastic_pairs(const embi_elastic *s, embi_key *pairs)
{
    int count = 0;
    for (int t = 0; t < s->nt; t++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++) {
                int i = s->tet[4 * t + a], j = s->tet[4 * t + b];
                pairs[count++].key = embi_pack(embi_max_int(i, j), embi_min_int(i, j));
            }
    for (int a = 0; a < s->n && s->averaged; a++)
        for (int i = s->near_row[a]; i < s->near_row[a + 1]; i++)
            for (int j = s->near_row[a]; j <= i; j++)
                pairs[count++].key = embi_pack(s->near_node[i], s->near_node[j]);
    return count;
}

/* Where the blocks of each tet stand in a matrix of the pattern of A, found once. Returns 0 out of memory. */
static int embi_elastic_places(embi_memory *m, embi_elastic *s, const embi_bsr *A)
{
    int *place;
    if (!EMBI_GROW(m, int, s->place, s->place_cap, 10 * s->lanes)) return 0;
    place = s->place;
    for (int t = 0; t < s->lanes; t++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++) *place++ = embi_bsr_find(A, s->tet[4 * t + a], s->tet[4 * t + b]);
    return 1;
}

/* A += K, K_ab of a tet for the local nodes a >= b; the matrix holds the lower triangle */
static void embi_elastic_add_block(const embi_elastic *s, int t, int a, int b, const embipc_real K[9],
                                   embi_bsr *A)
{
    embi_block_add(A->val + 9 * (size_t)s->place[10 * t + a * (a + 1) / 2 + b],
                   s->tet[4 * t + a] >= s->tet[4 * t + b] ? 3 : -3, 1, K);
}

/* G_a on the nodes near a, for every a (3 per entry of near_node) */
static void embi_elastic_volume_gradients(const embi_elastic *s, const embipc_real *q, embipc_real *G)
{
    embipc_real W[9], r[3];
    memset(G, 0, 3 * (size_t)s->near_row[s->n] * sizeof *G);
    for (int t = 0; t < s->nt; t++) {
        embi_elastic_volume_gradient(s, t, q, W);
        for (int b = 0; b < 4; b++) {
            embi_m3_mulv(r, W, s->grad + 12 * t + 3 * b);
            embi_scale(r, s->volume[t] / 4, r);
            for (int a = 0; a < 4; a++) {
                embipc_real *g = G + 3 * s->corner[16 * t + 4 * a + b];
                embi_add(g, g, r);
            }
        }
    }
}

/* A += scale K of the averaged volume strain, sum_a U''(thetabar_a)/V_a G_a G_a^T, at q (of a lagged energy:
 * at the rotations held). Row by row: row i meets the a near it, and what is near them; `next` is where i
 * stands among the nodes near a, one further with each row that meets a. trace: theta of every tet; place,
 * next (n), weight (n, behind them G, 3 per entry of near_node): scratch. */
static void embi_elastic_add_averaged(const embi_elastic *s, const embipc_real *q, embipc_real scale,
                                      const embipc_real *trace, int *place, int *next, embipc_real *weight,
                                      embi_bsr *A)
{
    embipc_real first, second, *G;
    if (!s->averaged) return;
    G = weight + s->n;
    embi_elastic_volume_gradients(s, q, G);
    for (int a = 0; a < s->n; a++) {
        second = s->law.lambda;
        if (s->nonlinear) {
            (void)embi_law_volume(&s->law, embi_elastic_node_strain(s, a, trace), &first, &second);
            second = embi_max(second, 0);
        }
        weight[a] = second * scale / s->node_volume[a];
        next[a] = s->near_row[a];
    }
    for (int i = 0; i < s->n; i++) {
        for (int k = A->row[i]; k < A->row[i + 1]; k++) place[A->col[k]] = k;
        for (int k = s->near_row[i]; k < s->near_row[i + 1]; k++) {
            int a = s->near_node[k], self = next[a]++;
            embipc_real g[3];
            embi_scale(g, weight[a], G + 3 * self);
            for (int j = s->near_row[a]; j <= self; j++) {
                embipc_real *V = A->val + 9 * (size_t)place[s->near_node[j]];
                for (int c = 0; c < 3; c++) {
                    V[c] += g[0] * G[3 * j + c];
                    V[3 + c] += g[1] * G[3 * j + c];
                    V[6 + c] += g[2] * G[3 * j + c];
                }
            }
        }
    }
}

/* What tets of a lagged energy add to a matrix: scale V times mu or 2 mu, mu or 0, lambda, and the fibre's stiffness
 * with d = R along; lambda is 0 where the volume strain is averaged. */
typedef struct embi_lagged_tets {
    embi_vec shear, twist, volume, fibre, d[3];
} embi_lagged_tets;

static void embi_lagged_tets_of(const embi_elastic *s, int t, embipc_real scale, embi_lagged_tets *k)
{
    embi_vec V = scale * embi_load(s->volume + t);
    int whole = s->law.model == EMBIPC_LAGGED_ARAP;
    k->shear = V * (s->law.mu * (whole ? 2 : 1));
    k->twist = V * (whole ? (embipc_real)0 : s->law.mu);
    k->volume = V * (s->averaged ? (embipc_real)0 : s->law.lambda);
    k->fibre = V * s->law.fibre;
    if (s->law.fibre > 0) embi_tets_along(s, t, s->rotation, k->d);
}

/* K = scale V K_ab = shear (r_a.r_b) I + twist r_b r_a^T + volume r_a r_b^T + fibre (r_a.d) (r_b.d) d d^T */
static inline void embi_lagged_block(const embi_lagged_tets *k, int fibre, const embi_vec a[3], const embi_vec b[3],
                                     embipc_real K[9][EMBI_LANES])
{
    embi_vec a0 = a[0], a1 = a[1], a2 = a[2], b0 = b[0], b1 = b[1], b2 = b[2];
    embi_vec shear = k->shear * (a0 * b0 + a1 * b1 + a2 * b2);
    embi_vec t0 = k->twist * a0, t1 = k->twist * a1, t2 = k->twist * a2;
    embi_vec v0 = k->volume * b0, v1 = k->volume * b1, v2 = k->volume * b2;
    embi_store(K[0], b0 * t0 + a0 * v0 + shear);
    embi_store(K[1], b0 * t1 + a0 * v1);
    embi_store(K[2], b0 * t2 + a0 * v2);
    embi_store(K[3], b1 * t0 + a1 * v0);
    embi_store(K[4], b1 * t1 + a1 * v1 + shear);
    embi_store(K[5], b1 * t2 + a1 * v2);
    embi_store(K[6], b2 * t0 + a2 * v0);
    embi_store(K[7], b2 * t1 + a2 * v1);
    embi_store(K[8], b2 * t2 + a2 * v2 + shear);
    if (!fibre) return;
    shear = k->fibre * (a0 * k->d[0] + a1 * k->d[1] + a2 * k->d[2]) * (b0 * k->d[0] + b1 * k->d[1] + b2 * k->d[2]);
    for (int i = 0; i < 9; i++) embi_store(K[i], embi_load(K[i]) + shear * k->d[i / 3] * k->d[i % 3]);
}

/* B += K, or K^T; without a branch, which half of the time would be the wrong one */
static inline void embi_block_add_lane(embipc_real *B, int transposed, embipc_real K[9][EMBI_LANES], int lane)
{
    const size_t d = transposed ? 2 : 0;
    B[0] += K[0][lane];
    B[1 + d] += K[1][lane];
    B[2 + 2 * d] += K[2][lane];
    B[3 - d] += K[3][lane];
    B[4] += K[4][lane];
    B[5 + d] += K[5][lane];
    B[6 - 2 * d] += K[6][lane];
    B[7 - d] += K[7][lane];
    B[8] += K[8][lane];
}

/* A += scale K of a lagged energy at its rotations, but for the averaged part. K_ba = K_ab^T, and the matrix has
 * the one whose row is the later node. */
static void embi_lagged_add_hessian(const embi_elastic *s, embipc_real scale, embi_bsr *A)
{
    for (int t = 0; t < s->lanes; t += EMBI_LANES) {
        const int *v = s->tet + 4 * t, *place = s->place + 10 * t;
        embi_vec r[12];
        embipc_real K[9][EMBI_LANES];
        embi_lagged_tets k;
        embi_lagged_tets_of(s, t, scale, &k);
        embi_tets_turned(s, t, s->rotation, r + 3);
        for (int i = 0; i < 3; i++) r[i] = -(r[3 + i] + r[6 + i] + r[9 + i]);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++, place++) {
                embi_lagged_block(&k, s->law.fibre > 0, r + 3 * a, r + 3 * b, K);
                for (int l = 0; l < EMBI_LANES; l++)
                    embi_block_add_lane(A->val + 9 * (size_t)place[10 * l], v[4 * l + a] < v[4 * l + b], K, l);
            }
    }
}

/* A guarded tet keeps at least this share of its rest volume: a tenth of the rest in each iteration would
 * end in rounding, and turn inside out there. */
#define EMBI_FLATTEST ((embipc_real)1e-6)

/* A step alpha <= bound with det(D + alpha G) > 0.1 det D on [0, alpha] for every tet, D and G the edge
 * matrices of q and p: no tet flattens on the way. det is a cubic j0 + j1 a + j2 a^2 + j3 a^3; on [0, t] it
 * stays above the floor when its Bernstein coefficients do, and halving t always gets there: never late, in
 * 98 of 100 random cases within 0.1 % of the largest such step, at worst a twentieth of it. */
static embipc_real embi_elastic_determinant_bound(const embi_elastic *s, const embipc_real *q,
                                                  const embipc_real *p, embipc_real bound)
{
    for (int t = 0; t < s->nt; t++) {
        const int *v = s->tet + 4 * t;
        embipc_real D[9], G[9], c[3], j0, j1 = 0, j2 = 0, j3, floor_, least, lo = 0, hi = bound;
        for (int a = 0; a < 3; a++) {
            embi_sub(D + 3 * a, q + 3 * v[a + 1], q + 3 * v[0]);
            embi_sub(G + 3 * a, p + 3 * v[a + 1], p + 3 * v[0]);
        }
        for (int a = 0; a < 3; a++) {
            embi_cross(c, D + 3 * ((a + 1) % 3), D + 3 * ((a + 2) % 3));
            j1 += embi_dot(c, G + 3 * a);
            embi_cross(c, G + 3 * ((a + 1) % 3), G + 3 * ((a + 2) % 3));
            j2 += embi_dot(c, D + 3 * a);
        }
        j0 = embi_m3_det(D);
        j3 = embi_m3_det(G);
        if (!(j0 > 0)) continue;   /* already inverted: there is nothing to guard */
        least = EMBI_FLATTEST / embi_m3_det(s->grad + 12 * t + 3); /* of the rest shape: its rows are D0^-1 */
        floor_ = j0 > 2 * least ? embi_max(j0 / 10, least) : j0 * (1 - 16 * EMBI_EPS);
        for (int k = 0; k < 50; k++) {
            embipc_real x = k == 0 ? hi : (lo + hi) / 2;
            embipc_real b1 = j0 + j1 * x / 3, b2 = j0 + (2 * j1 + j2 * x) * x / 3,
                        b3 = j0 + x * (j1 + x * (j2 + x * j3));
            if (b1 > floor_ && b2 > floor_ && b3 > floor_) lo = x;
            else hi = x;
            if (lo == bound || hi - lo < 1e-3 * hi) break;
        }
        bound = lo;
    }
    return bound;
}

/* ==== 15. Materials ==================================================================================
 * Isotropic energies that are no quadratic of F, and that follow it in every iterate. F = U diag(s) V^T with
 * U and V proper rotations and s0 >= s1 >= |s2|, s2 negative where F is inverted; J = s0 s1 s2, J_i = s_j
 * s_k. Every energy here has first and second partials of one form, with k the third of i, j:
 *   psi_i  = c + a s_i + b s_i^3 + m J_i
 *   psi_ii = a + 3 b s_i^2 + aa s_i^2 + mm J_i^2,    psi_ij = aa s_i s_j + mm J_i J_j + m s_k
 * so a material is six numbers at s, and the rest is common:
 *   P = U diag(psi_i) V^T
 *   d2psi/dF2, nine eigenpairs [SGK19]: three stretches, those of psi_ij on U E_ii V^T; for each pair i, j
 *     twist (psi_i + psi_j)/(s_i + s_j) = 2 c/(s_i + s_j) + a + b (s_i^2 - s_i s_j + s_j^2) + m s_k,
 *           on U (E_ij - E_ji) V^T/sqrt 2
 *     flip  (psi_i - psi_j)/(s_i - s_j) = a + b (s_i^2 + s_i s_j + s_j^2) - m s_k,
 *           on U (E_ij + E_ji) V^T/sqrt 2
 * Written so, nothing is divided by s_i - s_j, and equal singular values are no special case. Negative ones
 * set to 0 give the nearest positive semi-definite matrix. The twist of ARAP is the one true singularity:
 * -inf where the rotation of F jumps, s_1 = -s_2, and cut there.
 *   ARAP                  psi = mu sum e^2,  e = s - 1
 *   fixed corotated       the same + U(J - 1)                                               [STOM12]
 *   stable neo-Hookean    mu/2 (I - 3) - mu (J - 1) + mu/2 (J - 1)^2 + U(J - 1)              [SGK18]
 *   neo-Hookean           mu/2 (I - 3) - mu ln J + U(J - 1), U = lambda/2 ln^2 J              [BW08]
 *   Mooney-Rivlin         C1 (I - 3) + C2 (II - 3) - 2 (C1 + 2 C2)(J - 1) + C1 (J - 1)^2 + U(J - 1)
 *   StVK, orthogonality   mu |E|^2 + U(tr E),  E = (F^T F - I)/2
 * The volume strain theta stands in U alone, so that it can be averaged over nodes as in section 14; linear
 * terms of J may stay behind, averaging changes nothing in their sum. Energies are summed from strains, e or E:
 * near rest they are small differences of large numbers otherwise. Where c = 0, P = a F + b F F^T F + m cof F, and
 * energy and stress need no singular values: a line search of these is five times as fast.
 * Fibre, stiffer along a, f = F a: + fibre/8 (|f|^2 - 1)^2, smooth everywhere; it buckles when pressed.
 * Uses: small math, errors, sparse matrices, elasticity.   Checked by: tests/test_material.c  */

/* columns p and q of a matrix become c p - d q and d p + c q */
static inline void embi_turn_columns(embipc_real M[9], int p, int q, embipc_real c, embipc_real d)
{
    embipc_real a0 = M[p], a1 = M[3 + p], a2 = M[6 + p], b0 = M[q], b1 = M[3 + q], b2 = M[6 + q];
    M[p] = c * a0 - d * b0;
    M[3 + p] = c * a1 - d * b1;
    M[6 + p] = c * a2 - d * b2;
    M[q] = d * a0 + c * b0;
    M[3 + q] = d * a1 + c * b1;
    M[6 + q] = d * a2 + c * b2;
}

/* Makes columns p and q of B orthogonal by a rotation of both, and of V with them. Returns 0 when they
 * are. */
static int embi_svd3_rotate(embipc_real B[9], embipc_real V[9], int p, int q)
{
    embipc_real a0 = B[p], a1 = B[3 + p], a2 = B[6 + p], b0 = B[q], b1 = B[3 + q], b2 = B[6 + q];
    embipc_real pp = a0 * a0 + a1 * a1 + a2 * a2, qq = b0 * b0 + b1 * b1 + b2 * b2,
                pq = a0 * b0 + a1 * b1 + a2 * b2, zeta, t, c;
    if (!(embi_abs(pq) > 2 * EMBI_EPS * sqrt(pp) * sqrt(qq))) return 0;
    zeta = (qq - pp) / (2 * pq);
    t = (zeta < 0 ? -1 : 1) / (embi_abs(zeta) + sqrt(1 + zeta * zeta));
    c = 1 / sqrt(1 + t * t);
    embi_turn_columns(B, p, q, c, c * t);
    embi_turn_columns(V, p, q, c, c * t);
    return 1;
}

/* Swaps columns p and q of a matrix and turns one round: the determinant stays. */
static void embi_swap_columns(embipc_real B[9], int p, int q)
{
    for (int k = 0; k < 9; k += 3) {
        embipc_real x = B[k + p];
        B[k + p] = B[k + q];
        B[k + q] = -x;
    }
}

/* U, s, V of F = U diag(s) V^T as above, by one-sided Jacobi rotations: small singular values come out with
 * their own relative precision, where those of F^T F would drown [DV92]. Flat, linear and zero F are fine. An
 * F that is not finite gives s = nan. */
static void embi_svd3(const embipc_real F[9], embipc_real U[9], embipc_real s[3], embipc_real V[9])
{
    embipc_real B[9], u[3][3], n[3], size = 0;
    int finite = embi_all_finite(F, 9);
    embi_m3_identity(U);
    embi_m3_identity(V);
    for (int i = 0; i < 9; i++) size = embi_max(size, embi_abs(F[i]));
    for (int i = 0; i < 3; i++) s[i] = finite ? (embipc_real)0 : (embipc_real)NAN;
    if (!finite || !(size > 0)) return;
    for (int i = 0; i < 9; i++) B[i] = F[i] / size;
    for (int sweep = 0, turned = 1; turned && sweep < 20; sweep++)
        turned = embi_svd3_rotate(B, V, 0, 1) + embi_svd3_rotate(B, V, 0, 2) + embi_svd3_rotate(B, V, 1, 2);
    for (int i = 0; i < 3; i++) n[i] = B[i] * B[i] + B[3 + i] * B[3 + i] + B[6 + i] * B[6 + i];
    for (int pass = 0; pass < 3; pass++) {   /* longest first: columns 0 1, 1 2, 0 1 */
        int p = pass & 1, q = p + 1;
        embipc_real x = n[p];
        if (!(n[q] > n[p])) continue;
        n[p] = n[q];
        n[q] = x;
        embi_swap_columns(B, p, q);
        embi_swap_columns(V, p, q);
    }
    for (int i = 0; i < 3; i++) embi_set(u[i], B[i], B[3 + i], B[6 + i]);
    s[0] = embi_norm(u[0]);
    embi_scale(u[0], 1 / s[0], u[0]);
    embi_axpy(u[1], -embi_dot(u[0], u[1]), u[0]);
    s[1] = embi_norm(u[1]);
    if (s[1] > 1e-150) embi_scale(u[1], 1 / s[1], u[1]);
    else {   /* a line: any normal of it */
        embipc_real e[3] = {0, 0, 0};
        e[embi_abs(u[0][0]) < (embipc_real)0.6 ? 0 : 1] = 1;
        embi_cross(u[1], u[0], e);
        embi_scale(u[1], 1 / embi_norm(u[1]), u[1]);
        s[1] = 0;
    }
    embi_copy(n, u[2]);
    embi_cross(u[2], u[0], u[1]);
    s[2] = embi_dot(u[2], n);
    for (int i = 0; i < 9; i++) U[i] = u[i % 3][i / 3];
    for (int i = 0; i < 3; i++) s[i] *= size;
}

/* The six numbers of which all partials of psi consist. */
typedef struct embi_partials {
    embipc_real c, a, b, m, aa, mm;
} embi_partials;

/* Partials, at J and I, of psi without U + p theta, with the stiffness pp = U'' of theta. */
static void embi_law_partials(const embi_law *w, embipc_real J, embipc_real I, embipc_real p, embipc_real pp,
                              embi_partials *k)
{
    memset(k, 0, sizeof *k);
    if (w->model == EMBIPC_STVK) {   /* theta = (I - 3)/2 */
        k->a = p;
        k->aa = pp;
    } else {
        k->m = p;
        k->mm = pp;
    }
    switch (w->model) {
    case EMBIPC_STABLE_NEO_HOOKEAN:
        k->a += w->mu;
        k->m += w->mu * (J - 2);
        k->mm += w->mu;
        break;
    case EMBIPC_NEO_HOOKEAN:
        k->a += w->mu;
        k->m -= w->mu / J;
        k->mm += w->mu / (J * J);
        break;
    case EMBIPC_STVK:
    case EMBIPC_ORTHOGONALITY:
        k->a -= w->mu;
        k->b += w->mu;
        break;
    case EMBIPC_MOONEY_RIVLIN:
        k->a += 2 * w->c1 + 2 * w->c2 * I;
        k->b -= 2 * w->c2;
        k->aa += 4 * w->c2;
        k->m += 2 * w->c1 * (J - 2) - 4 * w->c2;
        k->mm += 2 * w->c1;
        break;
    default:   /* ARAP, fixed corotated */
        k->a += 2 * w->mu;
        k->c = -2 * w->mu;
        break;
    }
}

/* psi_i */
static void embi_partials_first(const embi_partials *k, const embipc_real s[3], embipc_real d[3])
{
    for (int i = 0; i < 3; i++)
        d[i] = k->c + s[i] * (k->a + k->b * s[i] * s[i]) + k->m * s[(i + 1) % 3] * s[(i + 2) % 3];
}

/* d2psi/dF2 in the frame of U and V, where X = U^T dF V goes to Y = U^T dP V:
 *   Y_ii = sum_j stretch_ij X_jj,   Y_ij = same_k X_ij + swap_k X_ji  with k the third of i, j */
typedef struct embi_modes {
    embipc_real stretch[9], same[3], swap[3];
} embi_modes;

/* an eigenvalue, or, where it is negative, the share of it that is kept: none makes what it belongs to positive
 * semi-definite, all leaves it as it is */
static embipc_real embi_softened(embipc_real value, embipc_real keep) { return value < 0 ? keep * value : value; }

/* Is a symmetric matrix positive definite? By its leading minors. */
static int embi_m3_is_positive(const embipc_real A[9])
{
    return A[0] > 0 && A[0] * A[4] - A[1] * A[1] > 0 && embi_m3_det(A) > 0;
}

static void embi_modes_of(const embi_partials *k, const embipc_real s[3], embipc_real keep, embi_modes *h)
{
    embipc_real A[9], Q[9];
    for (int i = 0; i < 3; i++) {
        embipc_real x = s[(i + 1) % 3], y = s[(i + 2) % 3], J = x * y;
        embipc_real common = k->a + k->b * (x * x + y * y), odd = k->b * x * y - k->m * s[i];
        embipc_real twist = common - odd, flip = common + odd;
        if (k->c != 0) twist += 2 * k->c / embi_max(x + y, (embipc_real)1e-12);
        flip = embi_softened(flip, keep);
        twist = embi_softened(twist, keep);
        h->same[i] = (flip + twist) / 2;
        h->swap[i] = (flip - twist) / 2;
        h->stretch[4 * i] = k->a + (3 * k->b + k->aa) * s[i] * s[i] + k->mm * J * J;
        h->stretch[3 * ((i + 1) % 3) + (i + 2) % 3] = h->stretch[3 * ((i + 2) % 3) + (i + 1) % 3] =
            k->aa * x * y + k->mm * (s[i] * y) * (s[i] * x) + k->m * s[i];
    }
    if (keep == 1 || embi_m3_is_positive(h->stretch)) return;
    memcpy(A, h->stretch, sizeof A);
    embi_eigen_symmetric(3, A, Q);
    memset(h->stretch, 0, sizeof h->stretch);
    for (int e = 0; e < 3; e++)
        for (int c = 0; c < 9; c++)
            h->stretch[c] += embi_softened(A[4 * e], keep) * Q[3 * (c / 3) + e] * Q[3 * (c % 3) + e];
}

/* Y = h X in that frame */
static void embi_modes_apply(const embi_modes *h, const embipc_real X[9], embipc_real Y[9])
{
    for (int i = 0; i < 3; i++) {
        Y[4 * i] = h->stretch[3 * i] * X[0] + h->stretch[3 * i + 1] * X[4] + h->stretch[3 * i + 2] * X[8];
        for (int j = 0; j < 3; j++)
            if (j != i) Y[3 * i + j] = h->same[3 - i - j] * X[3 * i + j] + h->swap[3 - i - j] * X[3 * j + i];
    }
}

/* The fibre: f = F a with its length; returns psi. */
static embipc_real embi_fibre(const embi_law *w, const embipc_real F[9], embipc_real f[3],
                              embipc_real *square)
{
    embipc_real e;
    embi_m3_mulv(f, F, w->along);
    *square = embi_dot(f, f);
    e = *square - 1;
    return w->fibre / 8 * e * e;
}

/* The 3x3 Hessian of the fibre's psi in f: fibre/2 ((|f|^2 - 1) I + 2 f f^T) */
static void embi_fibre_hessian(const embi_law *w, const embipc_real F[9], embipc_real keep, embipc_real H[9])
{
    embipc_real f[3], square, across, along;
    (void)embi_fibre(w, F, f, &square);
    across = embi_softened(w->fibre / 2 * (square - 1), keep);
    along = embi_softened(w->fibre / 2 * (3 * square - 1), keep);
    for (int i = 0; i < 9; i++)
        H[i] = (i % 4 ? (embipc_real)0 : across) +
               (square > 0 ? (along - across) * f[i / 3] * f[i % 3] / square : (embipc_real)0);
}

/* theta at s, and U of it with U' and U'' */
static embipc_real embi_law_own_volume(const embi_law *w, const embipc_real s[3], embipc_real *first,
                                       embipc_real *second)
{
    embipc_real a = s[0] - 1, b = s[1] - 1, c = s[2] - 1;
    if (w->model == EMBIPC_STVK)
        return embi_law_volume(w, (a * (s[0] + 1) + b * (s[1] + 1) + c * (s[2] + 1)) / 2, first, second);
    return embi_law_volume(w, a + b + c + a * b + b * c + c * a + a * b * c, first, second);
}

/* psi of ARAP and fixed corotated, and P */
static embipc_real embi_law_by_svd(const embi_law *w, const embipc_real F[9], const embipc_real *pressure,
                                   embipc_real P[9])
{
    embipc_real U[9], V[9], s[3], d[3], psi = 0, first = 0, second;
    embi_partials k;
    embi_svd3(F, U, s, V);
    for (int i = 0; i < 3; i++) psi += w->mu * (s[i] - 1) * (s[i] - 1);
    if (!pressure) psi += embi_law_own_volume(w, s, &first, &second);
    embi_law_partials(w, s[0] * s[1] * s[2], embi_dot(s, s), pressure ? *pressure : first, 0, &k);
    embi_partials_first(&k, s, d);
    for (int i = 0; i < 9; i++) {
        P[i] = 0;
        for (int c = 0; c < 3; c++) P[i] += U[3 * (i / 3) + c] * d[c] * V[3 * (i % 3) + c];
    }
    return psi;
}

/* What psi of the others consists of: e1 = tr E, e2 = the sum of its principal minors, j = J - 1, and gap = e1 - j;
 * E = (F^T F - I)/2. Differences of large numbers near rest, all of them, but for det F^T F = J^2 = 1 + 2 e1 + 4 e2
 * + 8 det E. */
typedef struct embi_invariants {
    embipc_real E[9], e1, e2, J, j, gap;
} embi_invariants;

static void embi_invariants_of(const embipc_real F[9], embi_invariants *v)
{
    embipc_real *E = v->E, e3;
    embi_m3_tmul(E, F, F);
    for (int i = 0; i < 9; i++) E[i] /= 2;
    for (int i = 0; i < 9; i += 4) E[i] -= (embipc_real)0.5;
    v->e1 = E[0] + E[4] + E[8];
    v->e2 = E[0] * E[4] - E[1] * E[1] + E[4] * E[8] - E[5] * E[5] + E[8] * E[0] - E[2] * E[2];
    e3 = embi_m3_det(E);
    v->J = embi_m3_det(F);
    if (v->J > (embipc_real)0.5) {
        v->j = (2 * v->e1 + 4 * v->e2 + 8 * e3) / (v->J + 1);
        v->gap = (v->e1 * v->j - 4 * v->e2 - 8 * e3) / (v->J + 1);
    } else {
        v->j = v->J - 1;
        v->gap = v->e1 - v->j;
    }
}

/* psi without U */
static embipc_real embi_law_energy(const embi_law *w, const embi_invariants *v)
{
    embipc_real sum = 0;
    switch (w->model) {
    case EMBIPC_STABLE_NEO_HOOKEAN: return w->mu * (v->gap + v->j * v->j / 2);
    case EMBIPC_NEO_HOOKEAN:
        if (v->J <= 0) return (embipc_real)INFINITY;
        return w->mu * (v->gap + (v->j - log1p(v->j)));
    case EMBIPC_MOONEY_RIVLIN:
        return 2 * w->c1 * (v->gap + v->j * v->j / 2) + 4 * w->c2 * (v->gap + v->e2);
    default:   /* StVK, orthogonality */
        for (int i = 0; i < 9; i++) sum += v->E[i] * v->E[i];
        return w->mu * sum;
    }
}

/* psi of those and P = a F + b F F^T F + m cof F, without singular values */
static embipc_real embi_law_by_invariants(const embi_law *w, const embipc_real F[9],
                                          const embipc_real *pressure, embipc_real P[9])
{
    embipc_real psi, first = 0, second, FE[9], C[9];
    embi_invariants v;
    embi_partials k;
    embi_invariants_of(F, &v);
    psi = embi_law_energy(w, &v);
    if (!pressure) psi += embi_law_volume(w, w->model == EMBIPC_STVK ? v.e1 : v.j, &first, &second);
    embi_law_partials(w, v.J, 3 + 2 * v.e1, pressure ? *pressure : first, 0, &k);
    embi_m3_mul(FE, F, v.E);
    for (int i = 0; i < 3; i++) embi_cross(C + 3 * i, F + 3 * ((i + 1) % 3), F + 3 * ((i + 2) % 3));
    for (int i = 0; i < 9; i++) P[i] = (k.a + k.b) * F[i] + 2 * k.b * FE[i] + k.m * C[i];
    return psi;
}

/* psi of a nonlinear material at F, J/m^3, and P, Pa. pressure: U' of the averaged volume strain (U is not in
 * psi then), or NULL. */
static embipc_real embi_law_stress(const embi_law *w, const embipc_real F[9], const embipc_real *pressure,
                                   embipc_real P[9])
{
    embipc_real f[3], square, psi;
    if (w->model == EMBIPC_ARAP || w->model == EMBIPC_FIXED_COROTATED) psi = embi_law_by_svd(w, F, pressure, P);
    else psi = embi_law_by_invariants(w, F, pressure, P);
    if (!(w->fibre > 0)) return psi;
    psi += embi_fibre(w, F, f, &square);
    for (int i = 0; i < 9; i++) P[i] += w->fibre / 2 * (square - 1) * f[i / 3] * w->along[i % 3];
    return psi;
}

/* ---- over a body ---- */

/* Psi(q), J. *force: sum of all nodal forces' lengths, N: what the rounding of q costs, per metre. trace:
 * scratch (2 nt). */
static embipc_real embi_nonlinear_energy(const embi_elastic *s, const embipc_real *q, embipc_real *trace,
                                         embipc_real *force)
{
    embipc_real sum = 0, F[9], P[9], f[3];
    *force = 0;
    if (s->averaged) embi_elastic_pressure(s, q, trace);
    for (int t = 0; t < s->nt; t++) {
        embi_elastic_F(s, t, q, F);
        sum += s->volume[t] * embi_law_stress(&s->law, F, s->averaged ? trace + s->nt + t : NULL, P);
        for (int a = 0; a < 4; a++) {
            embi_m3_mulv(f, P, s->grad + 12 * t + 3 * a);
            *force += s->volume[t] * embi_norm(f);
        }
    }
    return sum + embi_elastic_averaged_energy(s, trace);
}

/* g += scale dPsi/dq, N (3 n). trace: scratch (2 nt). */
static void embi_nonlinear_gradient(const embi_elastic *s, const embipc_real *q, embipc_real scale,
                                    embipc_real *trace, embipc_real *g)
{
    embipc_real F[9], P[9];
    if (s->averaged) embi_elastic_pressure(s, q, trace);
    for (int t = 0; t < s->nt; t++) {
        embi_elastic_F(s, t, q, F);
        (void)embi_law_stress(&s->law, F, s->averaged ? trace + s->nt + t : NULL, P);
        embi_tet_add_force(s->tet + 4 * t, s->grad + 12 * t + 3, scale * s->volume[t], P, g);
    }
}

/* K_ab = U [modes between a = V^T m_a and b = V^T m_b] U^T */
static void embi_nonlinear_block(const embi_modes *h, const embipc_real U[9], const embipc_real a[3],
                                 const embipc_real b[3], embipc_real K[9])
{
    const embipc_real *S = h->stretch, *same = h->same, *swap = h->swap;
    embipc_real D[9], T[9], a0 = a[0], a1 = a[1], a2 = a[2], b0 = b[0], b1 = b[1], b2 = b[2];
    D[0] = S[0] * a0 * b0 + same[2] * a1 * b1 + same[1] * a2 * b2;
    D[4] = S[4] * a1 * b1 + same[2] * a0 * b0 + same[0] * a2 * b2;
    D[8] = S[8] * a2 * b2 + same[1] * a0 * b0 + same[0] * a1 * b1;
    D[1] = S[1] * a0 * b1 + swap[2] * a1 * b0;
    D[3] = S[3] * a1 * b0 + swap[2] * a0 * b1;
    D[2] = S[2] * a0 * b2 + swap[1] * a2 * b0;
    D[6] = S[6] * a2 * b0 + swap[1] * a0 * b2;
    D[5] = S[5] * a1 * b2 + swap[0] * a2 * b1;
    D[7] = S[7] * a2 * b1 + swap[0] * a1 * b2;
    embi_m3_mul(T, U, D);
    for (int i = 0; i < 9; i += 3) {
        K[i] = embi_dot(T + i, U);
        K[i + 1] = embi_dot(T + i, U + 3);
        K[i + 2] = embi_dot(T + i, U + 6);
    }
}

/* K of a tet at q times its volume and scale, projected as far as asked: blocks a >= b of its nodes 1 to 3,
 * which are all there is to it, those with node 0 being sums of them */
static void embi_nonlinear_tet(const embi_elastic *s, int t, const embipc_real *q, embipc_real scale,
                               const embipc_real *pressure, embipc_real K[54])
{
    const embipc_real *grad = s->grad + 12 * t;
    embipc_real F[9], U[9], V[9], S[3], m[12], H[9], first, second, weight = scale * s->volume[t];
    embi_partials k;
    embi_modes h;
    embi_elastic_F(s, t, q, F);
    embi_svd3(F, U, S, V);
    (void)embi_law_own_volume(&s->law, S, &first, &second);
    if (pressure) first = *pressure, second = 0;
    embi_law_partials(&s->law, S[0] * S[1] * S[2], embi_dot(S, S), first, second, &k);
    embi_modes_of(&k, S, s->keep, &h);
    for (int i = 0; i < 9; i++) h.stretch[i] *= weight;
    for (int i = 0; i < 3; i++) {
        h.same[i] *= weight;
        h.swap[i] *= weight;
    }
    for (int a = 1; a < 4; a++) {   /* V^T m_a */
        embi_scale(m + 3 * a, grad[3 * a], V);
        embi_axpy(m + 3 * a, grad[3 * a + 1], V + 3);
        embi_axpy(m + 3 * a, grad[3 * a + 2], V + 6);
    }
    for (int a = 1; a < 4; a++)
        for (int b = 1; b <= a; b++)
            embi_nonlinear_block(&h, U, m + 3 * a, m + 3 * b, K + 9 * (a * (a - 1) / 2 + b - 1));
    if (!(s->law.fibre > 0)) return;
    embi_fibre_hessian(&s->law, F, s->keep, H);
    for (int a = 1; a < 4; a++)
        for (int b = 1; b <= a; b++)
            embi_block_add(K + 9 * (a * (a - 1) / 2 + b - 1), 3,
                           weight * embi_dot(s->law.along, grad + 3 * a) * embi_dot(s->law.along, grad + 3 * b), H);
}

/* A += scale K at q, each tet projected to positive semi-definite, but for the share s->keep. trace: theta and
 * pressures as above. */
static void embi_nonlinear_add_hessian(const embi_elastic *s, const embipc_real *q, embipc_real scale,
                                       const embipc_real *trace, embi_bsr *A)
{
    embipc_real K[54], border[9], corner[9];
    for (int t = 0; t < s->nt; t++) {
        embi_nonlinear_tet(s, t, q, scale, s->averaged ? trace + s->nt + t : NULL, K);
        memset(corner, 0, sizeof corner);
        for (int a = 1; a < 4; a++) {
            memset(border, 0, sizeof border);   /* K_a0 = -sum K_ab, K_00 = -sum K_a0 */
            for (int b = 1; b < 4; b++) {
                int lo = embi_min_int(a, b), hi = embi_max_int(a, b);
                embi_block_add(border, b > a ? -3 : 3, -1, K + 9 * (hi * (hi - 1) / 2 + lo - 1));
            }
            for (int b = 1; b <= a; b++) embi_elastic_add_block(s, t, a, b, K + 9 * (a * (a - 1) / 2 + b - 1), A);
            embi_elastic_add_block(s, t, a, 0, border, A);
            embi_block_add(corner, 3, -1, border);
        }
        embi_elastic_add_block(s, t, 0, 0, corner, A);
    }
}

/* ---- lagged or not ---- */

/* Psi(q), J: of a lagged energy with the rotations held, or with `now` those looked ahead to. *force: as above, 0 for
 * a lagged one, which is evaluated by its quadratic. trace: scratch (2 lanes). */
static embipc_real embi_elastic_energy(const embi_elastic *s, const embipc_real *q, int now,
                                       embipc_real *trace, embipc_real *force)
{
    *force = 0;
    if (s->nonlinear) return embi_nonlinear_energy(s, q, trace, force);
    return embi_lagged_energy(s, q, now ? s->rotation_other : s->rotation, trace);
}

/* g += scale dPsi/dq, N (3 n). trace: scratch (10 lanes + n). */
static void embi_elastic_gradient(const embi_elastic *s, const embipc_real *q, embipc_real scale,
                                  embipc_real *trace, embipc_real *g)
{
    if (s->nonlinear) embi_nonlinear_gradient(s, q, scale, trace, g);
    else embi_lagged_forces(s, q, 1, scale, trace, g);
}

/* A += scale K: of a lagged energy at the rotations held, of a nonlinear one at q and projected.
 * A has the pattern that embi_elastic_places() saw. trace (2 nt), place, next (n), weight: scratch as above. */
static void embi_elastic_add_hessian(const embi_elastic *s, const embipc_real *q, embipc_real scale,
                                     embipc_real *trace, int *place, int *next, embipc_real *weight,
                                     embi_bsr *A)
{
    if (s->nonlinear && s->averaged) embi_elastic_pressure(s, q, trace);
    if (s->nonlinear) embi_nonlinear_add_hessian(s, q, scale, trace, A);
    else embi_lagged_add_hessian(s, scale, A);
    embi_elastic_add_averaged(s, q, scale, trace, place, next, weight, A);
}

/* ---- parameters, and one point ---- */

static embipc_result embi_check_fibre(const embipc_material *a, embipc_error *e)
{
    if (!(a->fibre_stiffness >= 0) || !embi_finite(a->fibre_stiffness))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, a->fibre_stiffness,
                            "fibre_stiffness is %g Pa; it must not be negative", a->fibre_stiffness);
    if (!embi_all_finite(a->fibre, 3) || (a->fibre_stiffness > 0 && !(embi_norm(a->fibre) > 0)))
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "fibre (%g, %g, %g) is no direction", a->fibre[0],
                         a->fibre[1], a->fibre[2]);
    if (a->fibre_stiffness > 0 && a->model == EMBIPC_ORTHOGONALITY)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "the orthogonality energy takes no fibre");
    return EMBIPC_OK;
}

static embipc_result embi_check_mooney(const embipc_material *a, embipc_error *e)
{
    const embipc_real *c = a->mooney;
    if (!(c[0] >= 0) || !(c[1] >= 0) || !(c[0] + c[1] > 0) || !embi_all_finite(c, 3))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, c[0] < 0 ? c[0] : c[1],
                            "mooney: C1 %g Pa and C2 %g Pa must not be negative, nor both 0", c[0], c[1]);
    if (!(c[2] >= (embipc_real)4 / 3 * (c[0] + c[1])))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, c[2],
                            "mooney: the bulk modulus is %g Pa; it must be at least 4/3 (C1 + C2) = %g Pa",
                            c[2], 4 * (c[0] + c[1]) / 3);
    return EMBIPC_OK;
}

static embipc_result embi_check_material(const embipc_material *a, embipc_error *e)
{
    embipc_result r;
    if (!(a->density > 0) || !embi_finite(a->density))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, a->density,
                            "density is %g kg/m^3; it must be positive", a->density);
    if (!(a->young > 0) || !embi_finite(a->young))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, a->young,
                            "young is %g Pa; it must be positive", a->young);
    if (!(a->poisson > -1 && a->poisson < (embipc_real)0.5))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, a->poisson,
                            "poisson is %g; it must lie between -1 and 0.5, both excluded", a->poisson);
    if (!(a->stiffness > 0) || !embi_finite(a->stiffness))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, a->stiffness,
                            "stiffness is %g Pa; it must be positive", a->stiffness);
    if (!(a->damping[0] >= 0) || !(a->damping[1] >= 0) || !embi_finite(a->damping[0] + a->damping[1]))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, a->damping[0],
                            "damping (%g, %g) must not be negative", a->damping[0], a->damping[1]);
    if ((int)a->model < 0 || a->model >= EMBIPC_MODEL_COUNT)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "material model %d does not exist", (int)a->model);
    if (a->model == EMBIPC_MOONEY_RIVLIN && (r = embi_check_mooney(a, e)) != EMBIPC_OK) return r;
    return embi_check_fibre(a, e);
}

/* psi and P of a lagged material at F with the rotation R */
static embipc_real embi_lagged_stress(const embi_law *w, const embipc_real F[9], const embipc_real R[9],
                                      embipc_real P[9])
{
    embipc_real G[9], E[9], stretch[3], trace, fibre, psi;
    embi_m3_tmul(G, R, F);
    for (int i = 0; i < 9; i++)
        E[i] = (w->model == EMBIPC_LAGGED_ARAP ? G[i] : (G[i] + G[3 * (i % 3) + i / 3]) / 2) -
               (i % 4 ? (embipc_real)0 : (embipc_real)1);
    trace = E[0] + E[4] + E[8];
    embi_m3_mulv(stretch, E, w->along);
    fibre = embi_dot(w->along, stretch);
    psi = w->lambda / 2 * trace * trace + w->fibre / 2 * fibre * fibre;
    for (int i = 0; i < 9; i++) {
        psi += w->mu * E[i] * E[i];
        G[i] = 2 * w->mu * E[i] + (i % 4 ? (embipc_real)0 : w->lambda * trace) +
               w->fibre * fibre * w->along[i / 3] * w->along[i % 3];
    }
    embi_m3_mul(P, R, G);
    return psi;
}

/* One column of d2psi/dF2, dP for dF, at the F whose parts are given */
static void embi_law_push(const embi_law *w, const embipc_real U[9], const embipc_real V[9],
                          const embi_modes *h, const embipc_real fibre[9], const embipc_real dF[9],
                          embipc_real dP[9])
{
    embipc_real X[9], Y[9], T[9], f[3], r[3];
    embi_m3_tmul(T, U, dF);
    embi_m3_mul(X, T, V);
    embi_modes_apply(h, X, Y);
    embi_m3_mul(T, U, Y);
    embi_m3_mulv(f, dF, w->along);
    embi_m3_mulv(r, fibre, f);
    for (int i = 0; i < 9; i++)
        dP[i] = embi_dot(T + 3 * (i / 3), V + 3 * (i % 3)) + r[i / 3] * w->along[i % 3];
}

EMBIPC_API embipc_result embipc_material_evaluate(const embipc_material *material, const embipc_real F[9],
                                                  embipc_real *psi, embipc_real P[9], embipc_real H[81],
                                                  int project)
{
    embi_law w;
    embi_partials k;
    embi_modes h;
    embipc_real U[9], V[9], s[3], stress[9], energy, first, second, fibre[9], R[9], zero[9] = {0};
    embipc_result r;
    if (!material || !F) return EMBIPC_ERR_ARGUMENT;
    if ((r = embi_check_material(material, NULL)) != EMBIPC_OK) return r;
    if (!embi_all_finite(F, 9)) return EMBIPC_ERR_NOT_FINITE;
    embi_law_set(&w, material);
    embi_m3_identity(R);
    if (embi_law_lagged(&w)) embi_polar(R, F);
    if (embi_law_lagged(&w)) energy = embi_lagged_stress(&w, F, R, stress);
    else energy = embi_law_stress(&w, F, NULL, stress);
    if (psi) *psi = energy;
    if (P) memcpy(P, stress, sizeof stress);
    if (!H) return EMBIPC_OK;
    embi_svd3(F, U, s, V);
    (void)embi_law_own_volume(&w, s, &first, &second);
    embi_law_partials(&w, s[0] * s[1] * s[2], embi_dot(s, s), first, second, &k);
    embi_modes_of(&k, s, project ? (embipc_real)0 : (embipc_real)1, &h);
    embi_fibre_hessian(&w, F, project ? (embipc_real)0 : (embipc_real)1, fibre);
    if (embi_law_lagged(&w)) (void)embi_lagged_stress(&w, zero, R, U);   /* P at 0: P = U + H F */
    for (int c = 0; c < 9; c++) {
        embipc_real dF[9] = {0}, dP[9];
        dF[c] = 1;
        if (embi_law_lagged(&w)) {
            (void)embi_lagged_stress(&w, dF, R, dP);
            for (int i = 0; i < 9; i++) dP[i] -= U[i];
        } else embi_law_push(&w, U, V, &h, fibre, dF, dP);
        for (int i = 0; i < 9; i++) H[9 * i + c] = dP[i];
    }
    return EMBIPC_OK;
}

/* ==== 16. Distances ==================================================================================
 * Closest points of point-triangle and edge-edge, as weights: r = sum_k w_k x_k, d = |r|.     [ERI05]
 * Convexity decides what to look at. Where the nearest point of the plane (of the two lines) is not inside,
 * the answer lies on a border beyond which that point lies, so at most two point-segment problems remain.
 *   interior         d = |n . (x_i - x_j)|, n the unit normal of the triangle, or of both edges
 *   gradient         dd/dx_k = w_k n, n = r/d
 *   Hessian          with theta the parameters of the closest points, r_k = dr/dtheta_k, R_kl = r_k . r_l,
 *                    r^k = sum_l R^-1_kl r_l and Q the projector off n and off all r_k:
 *     d2d/dx2 = (w w^T x Q)/d - sum_k [ (dw_k x n)(w x r^k)^T + transpose ]
 *               - d sum_kl R^-1_kl (dw_k dw_l^T x n n^T)
 *   which is f_xx - f_xt f_tt^-1 f_tx of f = |r|, with the terms in 1/d that cancel left out (x: Kronecker).
 * Rounding: coordinates enter by their differences only, so a far origin costs nothing. A thin triangle, or
 * nearly parallel edges, take their normal from products in doubled precision and look at all borders.
 * Uses: small math, exact predicates.                      Checked by: tests/test_distance.c  */

/* squares of: the height of a triangle over its longest side, or the sine between edges, taken as thin */
#define EMBI_THIN2 ((embipc_real)1e-4)
/* and extents outside [1/EMBI_FAR2, EMBI_FAR2], scaled first lest their products over- or underflow */
#define EMBI_FAR2 ((embipc_real)1e100)

/* e such that the largest of n numbers is in [1/2, 1) 2^e; 0 when they are all 0 */
static int embi_exponent(int n, const embipc_real *x)
{
    embipc_real m = 0;
    int e;
    for (int i = 0; i < n; i++) m = embi_max(m, embi_abs(x[i]));
    (void)frexp(m, &e);
    return e;
}

/* One of the four points of a pair: where its coordinates stand. They are read there: copied together number by
 * number, loads of several at once would wait for the stores. */
typedef const embipc_real *embi_point;

/* four points that stand one after the other, and by their numbers */
static void embi_points_of(embi_point p[4], const embipc_real x[12])
{
    for (int k = 0; k < 4; k++) p[k] = x + 3 * k;
}

static void embi_points_at(embi_point p[4], const embipc_real *x, const int v[4])
{
    for (int k = 0; k < 4; k++) p[k] = x + 3 * v[k];
}

/* y = 2^-e (x - x_0) for four points, with the largest entry near 1, and p what stands there; returns e. Finite
 * for all finite x. */
static int embi_rescale(const embi_point x[4], embipc_real y[12], embi_point p[4])
{
    int far = 0, e;
    for (int k = 0; k < 4; k++)
        if (embi_exponent(3, x[k]) > 1000) far = 2;   /* a quarter first: differences must not overflow */
    for (int i = 0; i < 12; i++) y[i] = ldexp(x[i / 3][i % 3], -far) - ldexp(x[0][i % 3], -far);
    e = embi_exponent(12, y);
    for (int i = 0; i < 12; i++) y[i] = ldexp(y[i], -e);
    embi_points_of(p, y);
    return e + far;
}

/* n = r/|r|; returns |r|, and leaves n alone when that is 0 */
static embipc_real embi_direction(embipc_real n[3], const embipc_real r[3])
{
    embipc_real q = embi_dot(r, r), s[3];
    int e;
    if (q > 1 / EMBI_FAR2 && q < EMBI_FAR2) {
        q = sqrt(q);
        embi_scale(n, 1 / q, r);
        return q;
    }
    e = embi_exponent(3, r);
    for (int i = 0; i < 3; i++) s[i] = ldexp(r[i], -e);
    q = embi_norm(s);
    if (q > 0) embi_scale(n, 1 / q, s);
    return ldexp(q, e);
}

/* r = a x b to nearly full relative precision of each component */
static void embi_cross_exactly(embipc_real r[3], const embipc_real a[3], const embipc_real b[3])
{
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        r[k] = embi_diff_of_products(a[i], b[j], a[j], b[i]);
    }
}

/* argmin over t in [0, 1] of |r - t e|; 0 for e = 0 */
static embipc_real embi_segment_parameter(const embipc_real e[3], const embipc_real r[3])
{
    embipc_real er = embi_dot(e, r), ee = embi_dot(e, e);
    return er > 0 ? (er < ee ? er / ee : (embipc_real)1) : (embipc_real)0;
}

/* r = sum_k w_k x_k from differences to the vertex of the largest weight on each side: the part that cancels,
 * the common position, is gone before anything is multiplied. */
static void embi_separation(const embi_point x[4], const embipc_real w[4], embipc_real r[3])
{
    int i = 0, j = 0;
    for (int k = 1; k < 4; k++) {
        if (w[k] > w[i]) i = k;
        if (w[k] < w[j]) j = k;
    }
    embi_sub(r, x[i], x[j]);
    for (int k = 0; k < 4; k++) {
        const embipc_real *o = x[w[k] > 0 ? i : j];
        if (w[k] == 0 || k == i || k == j) continue;
        for (int c = 0; c < 3; c++) r[c] += w[k] * (x[k][c] - o[c]);
    }
}

/* A point-segment problem: point k against the edge of the vertices i, j with vector e; r = x_k - x_i. Where
 * the square of its distance is below *best, its weights (`sign` at the point) and mask replace the old. */
static void embi_try_segment(const embipc_real e[3], const embipc_real r[3], int k, int i, int j,
                             embipc_real sign, embipc_real *best, embipc_real w[4], int *mask)
{
    embipc_real t = embi_segment_parameter(e, r), q[3], d2;
    for (int c = 0; c < 3; c++) q[c] = r[c] - t * e[c];
    d2 = embi_dot(q, q);
    if (!(d2 < *best)) return;
    *best = d2;
    w[0] = w[1] = w[2] = w[3] = 0;
    w[k] = sign;
    w[i] = -sign * (1 - t);
    w[j] = -sign * t;
    *mask = 1 << k | (t < 1 ? 1 << i : 0) | (t > 0 ? 1 << j : 0);
}

/* the distance that belongs to the weights of a point-point or point-edge pair */
static embipc_real embi_weighted_distance(const embi_point x[4], const embipc_real w[4])
{
    embipc_real r[3], n[3];
    embi_separation(x, w, r);
    return embi_direction(n, r);
}

/* Along a thin triangle its barycentric coordinates are known worse than across it: the foot w is moved along
 * the longest side to where the remaining offset is perpendicular to it. Returns 0 when that is outside. */
static int embi_slide_foot(const embi_point x[4], embipc_real w[4])
{
    embipc_real e[3], r[3], longest = -1, ee, s;
    int i = 0, j = 0;
    for (int k = 1; k < 4; k++) {
        embi_sub(e, x[k % 3 + 1], x[k]);
        ee = embi_dot(e, e);
        if (ee > longest) {
            longest = ee;
            i = k;
            j = k % 3 + 1;
        }
    }
    embi_sub(e, x[j], x[i]);
    embi_separation(x, w, r);
    s = embi_dot(e, r) / longest;
    w[i] += s;
    w[j] -= s;
    return w[i] < 0 && w[j] < 0;
}

/* embi_point_triangle() for coordinates of ordinary size; returns -1 where they are not */
static embipc_real embi_point_triangle_plain(const embi_point x[4], embipc_real w[4], int *mask)
{
    const embipc_real *p = x[0], *a = x[1], *b = x[2], *c = x[3];
    embipc_real ab[3], ac[3], bc[3], r[3], rb[3], n[3], area2, longest, extent2, u, v, t, ab2, ac2;
    embipc_real best = EMBI_HUGE;
    int thin;
    embi_sub(ab, b, a);
    embi_sub(ac, c, a);
    embi_sub(bc, ac, ab);
    embi_sub(r, p, a);
    embi_sub(rb, r, ab);
    ab2 = embi_dot(ab, ab);
    ac2 = embi_dot(ac, ac);
    longest = embi_max(ab2, embi_max(ac2, embi_dot(bc, bc)));
    extent2 = longest + embi_dot(r, r);
    if (!(extent2 > 1 / EMBI_FAR2 && extent2 < EMBI_FAR2)) return -1;

    /* n = ab x ac, and the barycentric coordinates (t, u, v) of p's foot on the plane, times |n|^2 */
    embi_cross(n, ab, ac);
    area2 = embi_dot(n, n);
    thin = !(area2 > EMBI_THIN2 * longest * longest);
    if (!thin) {
        embipc_real f = embi_dot(ab, r), g = embi_dot(ac, r), h = embi_dot(ab, ac);
        u = ac2 * f - h * g;
        v = ab2 * g - h * f;
        t = area2 - u - v;
    } else {
        embi_cross_exactly(n, ab, ac);
        area2 = embi_dot(n, n);
        u = embi_triple(n, r, ac);
        v = embi_triple(n, ab, r);
        t = embi_triple(n, bc, rb);
    }
    if (t > 0 && u > 0 && v > 0) {
        embipc_real d = embi_abs(embi_dot(n, r)) / sqrt(area2), s = 1 / (t + u + v);
        w[0] = 1;
        w[1] = -t * s;
        w[2] = -u * s;
        w[3] = -v * s;
        *mask = 15;
        if (!thin) return d;
        if (embi_slide_foot(x, w)) best = d * d;
    }
    if (thin || v <= 0) embi_try_segment(ab, r, 0, 1, 2, 1, &best, w, mask);
    if (thin || u <= 0) embi_try_segment(ac, r, 0, 1, 3, 1, &best, w, mask);
    if (thin || t <= 0) embi_try_segment(bc, rb, 0, 2, 3, 1, &best, w, mask);
    return *mask == 15 ? sqrt(best) : embi_weighted_distance(x, w);
}

/* Distance of point x_0 and triangle x_1 x_2 x_3, m, and the weights of the closest points: w_0 = 1, the
 * others minus the barycentric coordinates. Bit k of mask is set when vertex k belongs to the closest feature
 * (0011 point and x_1, 0111 point and edge x_1 x_2, 1111 face); weights off it are exactly 0. */
static embipc_real embi_point_triangle(const embi_point x[4], embipc_real w[4], int *mask)
{
    embipc_real y[12], d = embi_point_triangle_plain(x, w, mask);
    embi_point scaled[4];
    int e;
    if (d >= 0) return d;
    e = embi_rescale(x, y, scaled);
    d = embi_point_triangle_plain(scaled, w, mask);
    if (d >= 0) return ldexp(d, e);
    w[0] = 1;   /* all four coincide */
    w[1] = -1;
    w[2] = w[3] = 0;
    *mask = 3;
    return 0;
}

/* Are the closest points that the weights tell as far apart as d, along the normal? Of edges on one line the normal and
 * the weights are made of rounding errors, and nothing of it is true. */
static int embi_weights_agree(const embi_point x[4], const embipc_real w[4], embipc_real d, embipc_real extent2)
{
    embipc_real r[3];
    embi_separation(x, w, r);
    return sqrt(embi_dot(r, r)) <= d + 64 * EMBI_EPS * sqrt(extent2);
}

/* embi_edge_edge() for coordinates of ordinary size; returns -1 where they are not.
 * r + s u - t v is shortest over all s, t where it is parallel to n = u x v:
 *   s |n|^2 = (v x r) . n,   t |n|^2 = (u x r) . n,   r = a0 - b0. */
static embipc_real embi_edge_edge_plain(const embi_point x[4], embipc_real w[4], int *mask)
{
    embipc_real u[3], v[3], r[3], q[3], n[3], uu, vv, nn, extent2, s, t, best = EMBI_HUGE;
    int thin;
    embi_sub(u, x[1], x[0]);
    embi_sub(v, x[3], x[2]);
    embi_sub(r, x[0], x[2]);
    uu = embi_dot(u, u);
    vv = embi_dot(v, v);
    extent2 = uu + vv + embi_dot(r, r);
    if (!(extent2 > 1 / EMBI_FAR2 && extent2 < EMBI_FAR2)) return -1;

    embi_cross(n, u, v);
    nn = embi_dot(n, n);
    thin = !(nn > EMBI_THIN2 * uu * vv);
    if (thin) {
        embi_cross_exactly(n, u, v);
        nn = embi_dot(n, n);
    }
    s = embi_triple(n, v, r);
    t = embi_triple(n, u, r);
    if (s > 0 && s < nn && t > 0 && t < nn) {
        embipc_real d = embi_abs(embi_dot(n, r)) / sqrt(nn);
        s /= nn;
        t /= nn;
        if (thin) {   /* along nearly parallel edges s - t is known better than s and t: t follows from s */
            t = (embi_dot(r, v) + s * embi_dot(u, v)) / vv;
            t = embi_min(embi_max(t, EMBI_EPS), 1 - EMBI_EPS);
        }
        w[0] = 1 - s;
        w[1] = s;
        w[2] = t - 1;
        w[3] = -t;
        *mask = 15;
        if (!thin) return d;
        if (embi_weights_agree(x, w, d, extent2)) best = d * d;
    }
    /* ends of a against b, ends of b against a */
    if (thin || s <= 0) embi_try_segment(v, r, 0, 2, 3, 1, &best, w, mask);
    if (thin || s >= nn) {
        embi_add(q, r, u);
        embi_try_segment(v, q, 1, 2, 3, 1, &best, w, mask);
    }
    if (thin || t <= 0) {
        embi_scale(q, -1, r);
        embi_try_segment(u, q, 2, 0, 1, -1, &best, w, mask);
    }
    if (thin || t >= nn) {
        embi_sub(q, v, r);
        embi_try_segment(u, q, 3, 0, 1, -1, &best, w, mask);
    }
    return *mask == 15 ? sqrt(best) : embi_weighted_distance(x, w);
}

/* Distance of the edges x_0 x_1 and x_2 x_3, m, with weights (1-s, s, -(1-t), -t) and mask as above: 1111
 * where both closest points are inside their edges. Parallel edges give one of their equally close pairs. */
static embipc_real embi_edge_edge(const embi_point x[4], embipc_real w[4], int *mask)
{
    embipc_real y[12], d = embi_edge_edge_plain(x, w, mask);
    embi_point scaled[4];
    int e;
    if (d >= 0) return d;
    e = embi_rescale(x, y, scaled);
    d = embi_edge_edge_plain(scaled, w, mask);
    if (d >= 0) return ldexp(d, e);
    w[0] = 1;
    w[1] = w[3] = 0;
    w[2] = -1;
    *mask = 5;
    return 0;
}

/* n = unit normal of two vectors; returns 0 and leaves n alone where they have none */
static int embi_unit_cross(embipc_real n[3], const embipc_real a[3], const embipc_real b[3])
{
    embipc_real aa = embi_dot(a, a), bb = embi_dot(b, b), m[3], s[3], t[3];
    if (embi_min(aa, bb) > 1 / EMBI_FAR2 && embi_max(aa, bb) < EMBI_FAR2) {
        embi_cross(m, a, b);
        if (!(embi_dot(m, m) > EMBI_THIN2 * aa * bb)) embi_cross_exactly(m, a, b);
    } else {
        for (int k = 0; k < 3; k++) {
            s[k] = ldexp(a[k], -embi_exponent(3, a));
            t[k] = ldexp(b[k], -embi_exponent(3, b));
        }
        embi_cross_exactly(m, s, t);
    }
    return embi_direction(n, m) > 0;
}

/* n = the normal of the triangle, or of both edges, on the side on which d = n . (x_i - x_j) >= 0; returns d,
 * or -1 where there is none. Relative to the extent this is right even where d is far below it. */
static embipc_real embi_interior_normal(const embi_point x[4], const embipc_real w[4], int edge_edge,
                                        embipc_real n[3])
{
    embipc_real a[3], b[3], r[3], d;
    int j = edge_edge ? 2 : 1;
    for (int k = j; k < 4; k++)
        if (w[k] < w[j]) j = k;
    if (edge_edge) {
        embi_sub(a, x[1], x[0]);
        embi_sub(b, x[3], x[2]);
        embi_sub(r, x[w[1] > w[0]], x[j]);
    } else {
        embi_sub(a, x[2], x[1]);
        embi_sub(b, x[3], x[1]);
        embi_sub(r, x[0], x[j]);
    }
    if (!embi_unit_cross(n, a, b)) return -1;
    d = embi_dot(n, r);
    if (d < 0) embi_scale(n, -1, n);
    return embi_abs(d);
}

/* n = unit direction of r = sum_k w_k x_k, from the triangle to the point, or from edge b to edge a; returns
 * n . r. Inside a face and between crossing edges it is their normal; from a point to an edge it is made
 * perpendicular to that edge (twice: once leaves a remainder of its own rounding). At distance 0: some normal
 * of the pair. */
static embipc_real embi_normal(const embi_point x[4], const embipc_real w[4], int mask, int edge_edge,
                               embipc_real n[3])
{
    embipc_real r[3], e[3], d;
    int i = -1, j = -1;
    if (mask == 15) {
        d = embi_interior_normal(x, w, edge_edge, n);
        if (d >= 0) return d;
    }
    embi_separation(x, w, r);
    for (int k = 0; k < 4; k++)   /* the ends of the edge: a point alone has the weight 1 or -1 */
        if ((mask >> k & 1) && embi_abs(w[k]) < 1) { i = j; j = k; }
    if (mask != 15 && i >= 0) {
        embi_sub(n, x[i], x[j]);
        if (embi_direction(e, n) > 0)
            for (int pass = 0; pass < 2; pass++) embi_axpy(r, -embi_dot(e, r), e);
    }
    d = embi_direction(n, r);
    if (!(d > 0) && embi_interior_normal(x, w, edge_edge, n) < 0) embi_set(n, 0, 0, 1);
    return d;
}

/* The parameters theta of the closest points: r_k = dr/dtheta_k and dw/dtheta_k. Returns their number. */
static int embi_closest_parameters(const embi_point x[4], const embipc_real w[4], int mask, int edge_edge,
                                   embipc_real rk[2][3], embipc_real dw[2][4])
{
    int n = 0;
    memset(dw, 0, 8 * sizeof(embipc_real));
    for (int first = edge_edge ? 0 : 1; first < 4; first = edge_edge ? first + 2 : 4) {
        /* theta_k moves weight from the first vertex of this side's feature to another one */
        int last = edge_edge ? first + 2 : 4, base = -1;
        for (int k = first; k < last; k++) {
            embipc_real sign = w[k] > 0 ? (embipc_real)1 : (embipc_real)-1;
            if (!(mask >> k & 1)) continue;
            if (base < 0) { base = k; continue; }
            dw[n][k] = sign;
            dw[n][base] = -sign;
            for (int c = 0; c < 3; c++) rk[n][c] = sign * (x[k][c] - x[base][c]);
            n++;
        }
    }
    return n;
}

/* dual vectors up[k] = r^k = sum_l R^-1_kl r_l, and Ri = R^-1, of one or two vectors r_k off the normal n */
static void embi_dual_vectors(int m, embipc_real rk[2][3], const embipc_real n[3], embipc_real up[2][3],
                              embipc_real Ri[2][2])
{
    if (m == 1) {
        Ri[0][0] = 1 / embi_dot(rk[0], rk[0]);
        embi_scale(up[0], Ri[0][0], rk[0]);
    } else if (m == 2) {
        embipc_real c[3], vol;
        embi_cross_exactly(c, rk[0], rk[1]);
        vol = embi_dot(n, c);
        embi_cross(up[0], rk[1], n);
        embi_cross(up[1], n, rk[0]);
        for (int k = 0; k < 2; k++) embi_scale(up[k], 1 / vol, up[k]);
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < 2; l++) Ri[k][l] = embi_dot(up[k], up[l]);
    }
}

/* H = d2d/dx2 (12x12) by the formula of the banner. */
static void embi_distance_hessian(const embi_point x[4], const embipc_real w[4], int mask, int edge_edge,
                                  embipc_real H[144])
{
    embipc_real n[3], rk[2][3], up[2][3], dw[2][4], Ri[2][2], Q[9], d;
    int m = embi_closest_parameters(x, w, mask, edge_edge, rk, dw);
    d = embi_normal(x, w, mask, edge_edge, n);
    memset(up, 0, sizeof up);
    memset(Ri, 0, sizeof Ri);
    embi_dual_vectors(m, rk, n, up, Ri);
    for (int a = 0; a < 3; a++)      /* Q/d; with two parameters nothing is left of it */
        for (int b = 0; b < 3; b++) {
            embipc_real q = (a == b ? (embipc_real)1 : (embipc_real)0) - n[a] * n[b];
            if (m == 1) q -= rk[0][a] * up[0][b];
            Q[3 * a + b] = m == 2 ? (embipc_real)0 : q / d;
        }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) {
                    embipc_real h = w[i] * w[j] * Q[3 * a + b];
                    for (int k = 0; k < m; k++) {
                        h -= dw[k][i] * n[a] * w[j] * up[k][b] + w[i] * up[k][a] * dw[k][j] * n[b];
                        for (int l = 0; l < m; l++) h -= d * Ri[k][l] * dw[k][i] * dw[l][j] * n[a] * n[b];
                    }
                    H[12 * (3 * i + a) + 3 * j + b] = h;
                }
}

static embipc_real embi_closest_distance(const embi_point x[4], int edge_edge, embipc_real w[4], int *mask)
{
    return edge_edge ? embi_edge_edge(x, w, mask) : embi_point_triangle(x, w, mask);
}

/* distance and, where wanted, its gradient w x n */
static embipc_real embi_distance_gradient(const embipc_real x[12], int edge_edge, embipc_real *grad)
{
    embipc_real w[4], n[3], d;
    embi_point p[4];
    int mask;
    embi_points_of(p, x);
    d = embi_closest_distance(p, edge_edge, w, &mask);
    if (!grad) return d;
    (void)embi_normal(p, w, mask, edge_edge, n);
    for (int k = 0; k < 4; k++) embi_scale(grad + 3 * k, w[k], n);
    return d;
}

EMBIPC_API embipc_real embipc_point_triangle_distance(const embipc_real x[12], embipc_real grad[12])
{
    return embi_distance_gradient(x, 0, grad);
}

EMBIPC_API embipc_real embipc_edge_edge_distance(const embipc_real x[12], embipc_real grad[12])
{
    return embi_distance_gradient(x, 1, grad);
}

static void embi_closest_hessian(const embipc_real x[12], int edge_edge, embipc_real hess[144])
{
    embipc_real w[4];
    embi_point p[4];
    int mask;
    embi_points_of(p, x);
    (void)embi_closest_distance(p, edge_edge, w, &mask);
    embi_distance_hessian(p, w, mask, edge_edge, hess);
}

EMBIPC_API void embipc_point_triangle_hessian(const embipc_real x[12], embipc_real hess[144])
{
    embi_closest_hessian(x, 0, hess);
}

EMBIPC_API void embipc_edge_edge_hessian(const embipc_real x[12], embipc_real hess[144])
{
    embi_closest_hessian(x, 1, hess);
}

/* c = |u x v|^2 of the edges u = x_1 - x_0, v = x_3 - x_2, and its gradient (may be NULL):
 *   dc/du = 2 v x (u x v),   dc/dv = 2 (u x v) x u */
static embipc_real embi_edge_cross(const embi_point x[4], embipc_real grad[12])
{
    embipc_real u[3], v[3], n[3], g[3];
    embi_sub(u, x[1], x[0]);
    embi_sub(v, x[3], x[2]);
    embi_cross(n, u, v);
    if (grad) {
        embi_cross(g, v, n);
        embi_scale(grad, -2, g);
        embi_scale(grad + 3, 2, g);
        embi_cross(g, n, u);
        embi_scale(grad + 6, -2, g);
        embi_scale(grad + 9, 2, g);
    }
    return embi_dot(n, n);
}

/* Edge-edge mollifier: 1 but near parallel, where the distance of two edges has a kink.        [IPC20]
 *   m(c) = (2 - c/eps) c/eps for c < eps, else 1;   eps = 1e-3 |u|^2 |v|^2 of the edges at rest */
static embipc_real embi_mollifier(embipc_real c, embipc_real eps, embipc_real *dc)
{
    embipc_real y;
    *dc = 0;
    if (!(c < eps)) return 1;
    y = c / eps;
    *dc = (2 - 2 * y) / eps;
    return (2 - y) * y;
}

/* ==== 17. Barrier ====================================================================================
 *   b(d)   = -(d - dhat)^2 ln(d/dhat) on 0 < d < dhat, else 0                      [EIPC24 eq. 7]
 *   b'(d)  = -2 (d - dhat) ln(d/dhat) - (d - dhat)^2/d                      <= 0
 *   b''(d) = -2 ln(d/dhat) - 4 (d - dhat)/d + (d - dhat)^2/d^2              >= 0
 * The distance itself, not its square: kappa is kg/s^2, and the force of a pair is -kappa b'(d), N.
 * With a thickness xi the caller passes d - xi.
 * Uses: platform.                                          Checked by: tests/test_barrier.c   */

EMBIPC_API embipc_real embipc_barrier(embipc_real d, embipc_real dhat, embipc_real *first,
                                      embipc_real *second)
{
    embipc_real gap = d - dhat, log_ratio;
    if (first) *first = 0;
    if (second) *second = 0;
    if (d >= dhat) return 0;
    if (!(d > 0)) {
        if (first) *first = -(embipc_real)INFINITY;
        if (second) *second = (embipc_real)INFINITY;
        return (embipc_real)INFINITY;
    }
    /* near dhat the ratio is 1 - small: log1p keeps the digits */
    log_ratio = d > dhat / 2 ? log1p(gap / dhat) : log(d / dhat);
    if (first) *first = -2 * gap * log_ratio - gap * (gap / d);
    if (second) *second = -2 * log_ratio - 4 * (gap / d) + (gap / d) * (gap / d);
    return -gap * gap * log_ratio;
}

/* -b'(r dhat)/dhat falls from infinity to 0 over 0 < r < 1, about as 1/r at its lower end: Newton's method on
 * the logarithms, kept inside a bracket. */
EMBIPC_API embipc_real embipc_barrier_gap(embipc_real force, embipc_real kappa, embipc_real dhat)
{
    embipc_real want = force / (kappa * dhat), lo = 0, hi = 1, r = 1 / (1 + want);
    if (!(force > 0)) return dhat;
    for (int i = 0; i < 100; i++) {
        embipc_real first, second, next;
        (void)embipc_barrier(r, 1, &first, &second);
        if (-first > want) lo = r;
        else hi = r;
        if (!(hi - lo > EMBI_EPS * hi)) break;
        next = r * exp(log(-first / want) * first / (-second * r));
        if (embi_abs(next - r) <= 2 * EMBI_EPS * r) return next * dhat;
        r = next > lo && next < hi ? next : (lo + hi) / 2;
    }
    return r * dhat;
}

/* The kappa with which `pairs` pairs at the gap ratio*dhat hold the force f: f = -pairs kappa b'(ratio
 * dhat). */
static embipc_real embi_kappa_for_load(embipc_real f, embipc_real pairs, embipc_real ratio, embipc_real dhat)
{
    embipc_real first;
    (void)embipc_barrier(ratio * dhat, dhat, &first, NULL);
    return -f / (pairs * first);
}

/* ==== 18. Friction ===================================================================================
 * A pair resists its tangential displacement u over the step with the potential        [EIPC24 eqs. 8, 9]
 *   D = mu lambda f0(|u|),   e = epsv h
 *   f1(y) = f0'(y) = 2 y/e - y^2/e^2 for y < e, else 1
 *   f0(y) = y^2/e - y^3/(3 e^2) + e/3 for y < e, else y        so f0(0) = e/3, f0(e) = e
 *   dD/du = mu lambda f1(y)/y u,   d2D/du2 = mu lambda [f1/y (I - uh uh^T) + f1' uh uh^T],  uh = u/y
 * lambda and the tangent plane are lagged: taken at the start of the step. f1' >= 0, so D is convex.
 * Uses: small math.                                        Checked by: tests/test_friction.c  */

/* f0(y) - f0(0) and, where wanted, f1(y)/y and f1'(y): the form that has no cancellation at y = 0 */
EMBIPC_API embipc_real embipc_friction(embipc_real y, embipc_real e, embipc_real *f1_over_y,
                                       embipc_real *f1_slope)
{
    if (y < e) {
        if (f1_over_y) *f1_over_y = 2 / e - y / (e * e);
        if (f1_slope) *f1_slope = 2 / e - 2 * y / (e * e);
        return y * y / e - y * y * y / (3 * e * e);
    }
    if (f1_over_y) *f1_over_y = 1 / y;
    if (f1_slope) *f1_slope = 0;
    return y - e / 3;
}

/* S += weight d2D/du2 in the plane normal to n, and r += weight dD/du; u in that plane.
 * expected: |u| that the step will probably end with; at u = 0 the secant slope to there,
 * 2/e - min(expected, e)/e^2, replaces the tangent 2/e, so that a steady creep is met by one linear solve. */
static void embi_friction_derivatives(const embipc_real u[3], const embipc_real n[3], embipc_real e,
                                      embipc_real expected, embipc_real weight, embipc_real r[3],
                                      embipc_real S[9])
{
    embipc_real y = embi_norm(u), across, along, uh[3];
    (void)embipc_friction(y, e, &across, &along);
    embi_axpy(r, weight * across, u);
    if (!S) return;
    if (y == 0) across = along = 2 / e - embi_min(expected, e) / (e * e);
    embi_scale(uh, y > 0 ? 1 / y : (embipc_real)0, u);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[3 * i + j] += weight * (across * ((i == j ? (embipc_real)1 : (embipc_real)0) - n[i] * n[j]) +
                                      (along - across) * uh[i] * uh[j]);
}

/* ==== 19. Broad phase ================================================================================
 * One tree of boxes per surface: triangles sorted along a Z-order curve when the body is made, leaves of two,
 * inner nodes by halving, as in a heap (children of i are 2i and 2i + 1): no pointers, refit in one backward
 * sweep; of a large surface only what a search comes to. Each vertex and edge is owned by one of its triangles, so a
 * pair of triangles stands for the point-triangle and edge-edge pairs of what they own, and every primitive pair is
 * met exactly once. Edges inside faces that stay flat make no pairs with edges (tower of 100 boxes: 0.71 of the time).
 *
 * Candidates serve for many iterates: a pair (a, b) of surfaces, or of panels, parts of them that lie below one node
 * of the tree, is searched with the box [lo, hi] of all displacements of a relative to b that are foreseen, and its
 * candidates stay complete while the displacement stays inside. Only the relative displacement counts: two bodies that
 * fall together see each other stand still. Within one body the displacements of two points differ by |J_a - J_b|_1 / 2
 * of what those of any two can, which is little for neighbours however fine the surface, and known for whole subtrees.
 * And while its tets keep their shape, most of a body cannot touch itself at all, and is left out as a whole.
 * Uses: small math, memory, sorting, exact predicates, meshes, distances.
 * Checked by: tests/test_broad.c, tests/test_reach.c  */

#define EMBI_LEAF 2

/* x = J q: each surface vertex hangs on one node or on the four of its tet. */
typedef struct embi_rows {
    const int *node;             /* (4 per vertex) */
    const embipc_real *weight;   /* (4 per vertex) */
    const unsigned char *count;  /* 0 (fixed), 1 or 4 */
} embi_rows;

/* y = J q at vertex i, of the nodes q */
static void embi_row_apply(const embi_rows *J, int i, const embipc_real *q, embipc_real y[3])
{
    const embipc_real *w = J->weight + 4 * (size_t)i;
    const int *node = J->node + 4 * (size_t)i;
    if (J->count[i] == 4) {
        const embipc_real *a = q + 3 * node[0], *b = q + 3 * node[1], *c = q + 3 * node[2], *d = q + 3 * node[3];
        embi_set(y, w[0] * a[0] + w[1] * b[0] + w[2] * c[0] + w[3] * d[0],
                 w[0] * a[1] + w[1] * b[1] + w[2] * c[1] + w[3] * d[1],
                 w[0] * a[2] + w[1] * b[2] + w[2] * c[2] + w[3] * d[2]);
    } else if (J->count[i]) embi_scale(y, w[0], q + 3 * node[0]);
    else embi_set(y, 0, 0, 0);
}

typedef struct embi_bvh {
    int leaves;                  /* a power of two; node 1 is the root, leaf k is node leaves + k */
    int *order;                  /* triangles along the curve (nt) */
    unsigned short *own;         /* per triangle: bits 0..2 its vertices, 3..5 its edges (k, k + 1), 6..8 those of them
                                    that pairs of edges are made of */
    embipc_real *box;            /* lo[3], hi[3] per node (12 leaves), then per triangle (6 nt): */
    embipc_real *tri_box;
    int *sample;                 /* a vertex of each node, -1 where there is none (2 leaves), and ... */
    embipc_real *vary;           /* ... the most by which rows of J below it differ from its own, in |.|_1 */
    float *rest;                 /* of a large surface: box of each node when it was made, seen from its sample, ... */
    unsigned char *known;        /* ... and whether it has one of now: see "trees that are refit where asked" */
    int order_cap, own_cap, box_cap, sample_cap, vary_cap, rest_cap, known_cap;
} embi_bvh;

/* A surface as the broad phase sees it. */
typedef struct embi_surface {
    const embipc_real *x;        /* vertices now (3 nv) */
    const embipc_real *rest;     /* and at rest */
    const int *tri;              /* (3 nt) */
    int nt;
    int base;                    /* number of its first vertex among all bodies' */
    const embi_bvh *bvh;
    const embi_rows *J;          /* of all bodies, where this one's tree knows how they vary; else NULL */
    const int *start;            /* of the first of two: pairs of nodes that a search starts from (2 start_count); */
    int start_count;             /*   NULL: both roots */
} embi_surface;

static void embi_bvh_free(embi_memory *m, embi_bvh *b)
{
    EMBI_RELEASE(m, b->order, b->order_cap);
    EMBI_RELEASE(m, b->own, b->own_cap);
    EMBI_RELEASE(m, b->box, b->box_cap);
    EMBI_RELEASE(m, b->sample, b->sample_cap);
    EMBI_RELEASE(m, b->vary, b->vary_cap);
    EMBI_RELEASE(m, b->rest, b->rest_cap);
    EMBI_RELEASE(m, b->known, b->known_cap);
}

/* spreads the low 21 bits of a to every third bit */
static embi_u64 embi_spread3(embi_u64 a)
{
    a &= 0x1fffff;
    a = (a | (a << 32)) & 0x1f00000000ffffull;
    a = (a | (a << 16)) & 0x1f0000ff0000ffull;
    a = (a | (a << 8)) & 0x100f00f00f00f00full;
    a = (a | (a << 4)) & 0x10c30c30c30c30c3ull;
    a = (a | (a << 2)) & 0x1249249249249249ull;
    return a;
}

/* Z-order key of p in the cube at lo with edge 1/scale */
static embi_u64 embi_z_order(const embipc_real p[3], const embipc_real lo[3], embipc_real scale)
{
    embi_u64 key = 0;
    for (int i = 0; i < 3; i++) {
        embipc_real c = (p[i] - lo[i]) * scale;
        key |= embi_spread3((embi_u64)embi_max(0, embi_min(c, 2097151))) << i;
    }
    return key;
}

/* grows the box (lo, hi) to hold p */
static void embi_box_add(embipc_real box[6], const embipc_real p[3])
{
    for (int i = 0; i < 3; i++) {
        box[i] = embi_min(box[i], p[i]);
        box[3 + i] = embi_max(box[3 + i], p[i]);
    }
}

/* box then holds another one as well */
static void embi_box_join(embipc_real box[6], const embipc_real other[6])
{
    embi_box_add(box, other);
    embi_box_add(box, other + 3);
}

static void embi_box_clear(embipc_real box[6])
{
    for (int i = 0; i < 3; i++) {
        box[i] = EMBI_HUGE;
        box[3 + i] = -EMBI_HUGE;
    }
}

/* Builds the tree of a surface and decides who owns what. keys (6 nt) and used (nv): scratch.
 * Returns 0 out of memory. */
static int embi_bvh_build(embi_memory *m, embi_bvh *b, const embipc_real *x, const int *tri, int nt, int nv,
                          embi_key *keys, unsigned char *used)
{
    embipc_real box[6], size = 0;
    int edges = 3 * nt;
    b->leaves = 1;
    while (EMBI_LEAF * b->leaves < nt) b->leaves *= 2;
    if (!EMBI_GROW(m, int, b->order, b->order_cap, nt) ||
        !EMBI_GROW(m, unsigned short, b->own, b->own_cap, nt) ||
        !EMBI_GROW(m, embipc_real, b->box, b->box_cap, 12 * b->leaves + 6 * nt))
        return 0;
    b->tri_box = b->box + 12 * b->leaves;
    embi_box_clear(box);
    for (int i = 0; i < 3 * nt; i++) embi_box_add(box, x + 3 * tri[i]);
    for (int i = 0; i < 3; i++) size = embi_max(size, box[3 + i] - box[i]);
    for (int t = 0; t < nt; t++) {
        embipc_real c[3];
        for (int i = 0; i < 3; i++)
            c[i] = (x[3 * tri[3 * t] + i] + x[3 * tri[3 * t + 1] + i] + x[3 * tri[3 * t + 2] + i]) / 3;
        keys[t].key = embi_z_order(c, box, size > 0 ? 2097152 / size : (embipc_real)0);
        keys[t].value = t;
    }
    embi_sort_keys(keys, keys + nt, nt);
    for (int t = 0; t < nt; t++) b->order[t] = keys[t].value;
    memset(b->own, 0, (size_t)nt * sizeof *b->own);
    memset(used, 0, (size_t)nv);
    for (int i = 0; i < 3 * nt; i++)
        if (!used[tri[i]]) {
            used[tri[i]] = 1;
            b->own[i / 3] = (unsigned short)(b->own[i / 3] | (1 << (i % 3)));
        }
    /* equal edges meet in the sorted list; the first of each is the owner */
    for (int i = 0; i < edges; i++) {
        int p = tri[i], q = tri[3 * (i / 3) + (i + 1) % 3];
        keys[i].key = embi_pack(embi_min_int(p, q), embi_max_int(p, q));
        keys[i].value = i;
    }
    embi_sort_keys(keys, keys + edges, edges);
    for (int i = 0; i < edges; i++)
        if (i == 0 || keys[i].key != keys[i - 1].key) {
            int t = keys[i].value / 3;
            b->own[t] = (unsigned short)(b->own[t] | (8 + 64) << (keys[i].value % 3));
        }
    return 1;
}

/* Do two triangles, with edge k of the first in common, lie in one plane, on the two sides of that edge? far: the
 * largest coordinate, which rounding is measured by. */
static int embi_is_flat(const embipc_real *x, const int *t, int k, const int *u, embipc_real far)
{
    const embipc_real *p = x + 3 * t[k], *d = NULL;
    embipc_real edge[3], one[3], two[3], n[3], m[3];
    for (int i = 0; i < 3; i++)
        if (u[i] != t[k] && u[i] != t[(k + 1) % 3]) d = x + 3 * u[i];
    if (!d) return 0;
    embi_sub(edge, x + 3 * t[(k + 1) % 3], p);
    embi_sub(one, x + 3 * t[(k + 2) % 3], p);
    embi_sub(two, d, p);
    embi_cross(n, edge, one);
    embi_cross(m, edge, two);
    return embi_dot(n, m) < 0 && embi_abs(embi_dot(n, two)) <= 16 * EMBI_EPS * far * embi_norm(n);
}

/* Edges between triangles in one plane, and that stay so, take no part in pairs of edges: another edge that comes near
 * one inside such a face comes as near with an end, or to the border of the face. home: the part of the body that moves
 * as one affine map, by vertex; NULL: all does. keys: as embi_bvh_build() left them, edges in order. */
static void embi_bvh_spare_flat(embi_bvh *b, const embipc_real *x, const int *tri, int nt, const int *home,
                                const embi_key *keys)
{
    embipc_real far = 0;
    for (int i = 0; i < 9 * nt; i++) far = embi_max(far, embi_abs(x[3 * tri[i / 3] + i % 3]));
    for (int i = 0, end; i < 3 * nt; i = end) {
        int t = keys[i].value / 3, k = keys[i].value % 3, stays = 1;
        for (end = i + 1; end < 3 * nt && keys[end].key == keys[i].key; end++) {}
        if (end != i + 2) continue;
        for (int c = 0; c < 6 && home; c++)
            stays &= home[tri[3 * t]] == home[tri[3 * (keys[i + c / 3].value / 3) + c % 3]];
        if (stays && embi_is_flat(x, tri + 3 * t, k, tri + 3 * (keys[i + 1].value / 3), far))
            b->own[t] = (unsigned short)(b->own[t] & ~(64 << k));
    }
}

/* box of n points, and of n vertices of x */
static void embi_box_of_points(embipc_real box[6], const embi_point *p, int n)
{
    for (int i = 0; i < 3; i++) {   /* axis by axis: what is written in between waits for the next point */
        embipc_real lo = EMBI_HUGE, hi = -EMBI_HUGE;
        for (int k = 0; k < n; k++) {
            lo = embi_min(lo, p[k][i]);
            hi = embi_max(hi, p[k][i]);
        }
        box[i] = lo;
        box[3 + i] = hi;
    }
}

static void embi_box_of(embipc_real box[6], const embipc_real *x, const int *v, int n)
{
    for (int i = 0; i < 3; i++) {
        embipc_real lo = EMBI_HUGE, hi = -EMBI_HUGE;
        for (int k = 0; k < n; k++) {
            lo = embi_min(lo, x[3 * v[k] + i]);
            hi = embi_max(hi, x[3 * v[k] + i]);
        }
        box[i] = lo;
        box[3 + i] = hi;
    }
}

/* |J_a - J_b|_1 <= 2 of two vertices: their displacements differ by at most that much of half the diagonal of the
 * box that holds those of all nodes, whatever moves. Neighbours on a fine surface hang on the same few nodes with
 * nearly the same weights. */
static embipc_real embi_row_difference(const embi_rows *J, int a, int b)
{
    const int *na = J->node + 4 * (size_t)a, *nb = J->node + 4 * (size_t)b;
    const embipc_real *wa = J->weight + 4 * (size_t)a, *wb = J->weight + 4 * (size_t)b;
    embipc_real sum = 0;
    if (a == b) return 0;
    /* |u - v| = u + v - 2 min(u, v), and the weights add up to 1 */
    if (na[0] == nb[0] && na[1] == nb[1] && na[2] == nb[2] && na[3] == nb[3] && J->count[a] == 4 && J->count[b] == 4)
        sum = embi_min(wa[0], wb[0]) + embi_min(wa[1], wb[1]) + embi_min(wa[2], wb[2]) + embi_min(wa[3], wb[3]);
    else
        for (int i = 0; i < J->count[a]; i++)
            for (int j = 0; j < J->count[b]; j++)
                if (na[i] == nb[j]) sum += embi_min(wa[i], wb[j]);
    return embi_max(2 - 2 * sum, 0) + 32 * EMBI_EPS;
}

/* How much the rows of J vary below each node. Returns 0 out of memory. */
static int embi_bvh_weigh(embi_memory *m, embi_bvh *b, const int *tri, int nt, const embi_rows *J)
{
    if (!EMBI_GROW(m, int, b->sample, b->sample_cap, 2 * b->leaves) ||
        !EMBI_GROW(m, embipc_real, b->vary, b->vary_cap, 2 * b->leaves))
        return 0;
    for (int k = 2 * b->leaves - 1; k > 0; k--) {
        int first = EMBI_LEAF * (k - b->leaves), other;
        b->vary[k] = 0;
        if (k >= b->leaves) {
            b->sample[k] = first < nt ? tri[3 * b->order[first]] : -1;
            for (int i = first; i < first + EMBI_LEAF && i < nt; i++)
                for (int c = 0; c < 3; c++) {
                    int v = tri[3 * b->order[i] + c];
                    b->vary[k] = embi_max(b->vary[k], embi_row_difference(J, b->sample[k], v));
                }
            continue;
        }
        other = b->sample[2 * k + 1];
        b->sample[k] = b->sample[2 * k];
        b->vary[k] = b->vary[2 * k];
        if (other >= 0)
            b->vary[k] = embi_max(b->vary[k], b->vary[2 * k + 1] +
                                                  embi_row_difference(J, b->sample[k], other));
    }
    return 1;
}

/* Of the relative displacements of two points of the surface, which share of the range those of a point below
 * node i and one below node j can take. */
static embipc_real embi_bvh_share(const embi_surface *a, int i, int j)
{
    const embi_bvh *b = a->bvh;
    if (!a->J || b->sample[i] < 0 || b->sample[j] < 0) return 1;
    return embi_min(1, (b->vary[i] + b->vary[j] +
                        embi_row_difference(a->J, a->base + b->sample[i], a->base + b->sample[j])) / 2);
}

/* the same of the first `split` and the other vertices of a primitive pair */
static embipc_real embi_vertices_share(const embi_surface *a, const int v[4], int split)
{
    embipc_real most = 0;
    if (!a->J) return 1;
    for (int i = 0; i < split; i++)
        for (int j = split; j < 4; j++)
            most = embi_max(most, embi_row_difference(a->J, a->base + v[i], a->base + v[j]));
    return embi_min(1, most / 2);
}

/* shares as whole numbers, rounded up */
#define EMBI_SHARE_UNIT (1 << 20)

/* boxes of inner nodes begin .. end - 1, from those of their children */
static void embi_bvh_join(embi_bvh *b, int begin, int end)
{
    for (int k = end - 1; k >= begin; k--)
        for (int i = 0; i < 3; i++) {
            b->box[6 * k + i] = embi_min(b->box[12 * k + i], b->box[12 * k + 6 + i]);
            b->box[6 * k + 3 + i] = embi_max(b->box[12 * k + 3 + i], b->box[12 * k + 9 + i]);
        }
}

/* Boxes of leaves begin .. end - 1, all those below one node, and of their triangles for the vertices x, and of the
 * nodes from there up to it. */
static void embi_bvh_refit_leaves(embi_bvh *b, const embipc_real *x, const int *tri, int nt, int begin, int end)
{
    int from = b->leaves + begin, to = b->leaves + end;
    for (int k = begin; k < end; k++) {
        embipc_real *box = b->box + 6 * (b->leaves + k);
        embi_box_clear(box);
        for (int i = EMBI_LEAF * k; i < EMBI_LEAF * (k + 1) && i < nt; i++) {
            embipc_real *one = b->tri_box + 6 * b->order[i];
            embi_box_of(one, x, tri + 3 * b->order[i], 3);
            embi_box_join(box, one);
        }
    }
    for (; to - from > 1; from /= 2, to /= 2) embi_bvh_join(b, from / 2, to / 2);
}

/* Boxes of all nodes for the vertices x. */
static void embi_bvh_refit(embi_bvh *b, const embipc_real *x, const int *tri, int nt)
{
    embi_bvh_refit_leaves(b, x, tri, nt, 0, b->leaves);
}

/* can box a, displaced by anything in range (lo, hi) and grown by reach, meet box b? */
static int embi_ranges_meet(const embipc_real a[6], const embipc_real range[6], embipc_real reach,
                            const embipc_real b[6])
{
    for (int i = 0; i < 3; i++)
        if (a[i] + range[i] - reach > b[3 + i] || a[3 + i] + range[3 + i] + reach < b[i]) return 0;
    return 1;
}

static int embi_boxes_touch(const embipc_real a[6], const embipc_real b[6])
{
    return a[0] <= b[3] && b[0] <= a[3] && a[1] <= b[4] && b[1] <= a[4] && a[2] <= b[5] && b[2] <= a[5];
}

/* Two surfaces whose trees are gone through together, and how the first may move against the second. Both trees must
 * be refit. */
typedef struct embi_walk {
    const embi_surface *a, *b;
    const embipc_real *range;    /* displacements (6); symmetric when both are the same surface */
    embipc_real reach;
} embi_walk;

static embi_walk embi_walk_of(const embi_surface *a, const embi_surface *b, const embipc_real range[6],
                              embipc_real reach)
{
    embi_walk w;
    w.a = a;
    w.b = b;
    w.range = range;
    w.reach = reach;
    return w;
}

/* so much of the range */
static void embi_walk_share(const embi_walk *w, embipc_real share, embipc_real own[6])
{
    for (int c = 0; c < 6; c++) own[c] = share * w->range[c];
}

/* Can anything below node i of a meet anything below node j of b? share: of the range, what these can take, for two
 * leaves. */
static int embi_walk_meets(const embi_walk *w, int i, int j, embipc_real *share)
{
    const embi_surface *a = w->a;
    const embipc_real *one = a->bvh->box + 6 * i, *two = w->b->bvh->box + 6 * j;
    embipc_real own[6];
    int self = a->base == w->b->base;
    *share = 1;
    if (!embi_ranges_meet(one, w->range, w->reach, two)) return 0;
    if (!self || !a->J || (i < a->bvh->leaves && embi_boxes_touch(one, two))) return 1;
    *share = embi_bvh_share(a, i, j);
    embi_walk_share(w, *share, own);
    return embi_ranges_meet(one, own, w->reach, two);
}

/* The pairs of nodes that (i, j) opens to, the last first; none for two leaves. Returns how many. */
static int embi_walk_opens(const embi_walk *w, int i, int j, int pair[3][2])
{
    const embi_bvh *A = w->a->bvh, *B = w->b->bvh;
    if (i >= A->leaves && j >= B->leaves) return 0;
    if (w->a->base == w->b->base && i == j) {
        pair[0][0] = pair[0][1] = pair[1][1] = 2 * i + 1;
        pair[2][0] = pair[2][1] = pair[1][0] = 2 * i;
        return 3;
    }
    for (int k = 0; k < 2; k++) {   /* the node nearer to the root; on a tie the first */
        int open_a = j >= B->leaves || (i < A->leaves && i <= j);
        pair[k][0] = open_a ? 2 * i + 1 - k : i;
        pair[k][1] = open_a ? j : 2 * j + 1 - k;
    }
    return 2;
}

/* Pairs of triangles whose boxes can meet below node i of a and node j of b, appended to list: keys
 * embi_pack(triangle of a, triangle of b), with a < b when both are the same surface; value tells the share of the
 * range that they can take. Returns 0 out of memory. */
static int embi_walk_pairs(embi_memory *m, const embi_walk *w, int i, int j, embi_key **list, int *count, int *cap)
{
    const embi_bvh *A = w->a->bvh, *B = w->b->bvh;
    int stack[256][2], top = 1, self = w->a->base == w->b->base;
    stack[0][0] = i;
    stack[0][1] = j;
    while (top > 0) {
        embipc_real own[6], share;
        int opened, ia, jb;
        i = stack[--top][0];
        j = stack[top][1];
        if (!embi_walk_meets(w, i, j, &share)) continue;
        opened = embi_walk_opens(w, i, j, stack + top);
        top += opened;
        if (opened) continue;
        embi_walk_share(w, share, own);
        ia = EMBI_LEAF * (i - A->leaves);
        jb = EMBI_LEAF * (j - B->leaves);
        for (int p = ia; p < ia + EMBI_LEAF && p < w->a->nt; p++)
            for (int q = self && i == j ? p + 1 : jb; q < jb + EMBI_LEAF && q < w->b->nt; q++) {
                int ta = A->order[p], tb = B->order[q];
                if (!embi_ranges_meet(A->tri_box + 6 * ta, own, w->reach, B->tri_box + 6 * tb)) continue;
                if (!EMBI_GROW(m, embi_key, *list, *cap, *count + 1)) return 0;
                (*list)[*count].value = (int)ceil(share * EMBI_SHARE_UNIT);
                (*list)[(*count)++].key =
                    self ? embi_pack(embi_min_int(ta, tb), embi_max_int(ta, tb)) : embi_pack(ta, tb);
            }
    }
    return 1;
}

/* Where the walk begins: pairs of nodes (2 count). */
static const int *embi_walk_begin(const embi_walk *w, int *count)
{
    static const int roots[2] = {1, 1};
    *count = w->a->nt == 0 || w->b->nt == 0 ? 0 : w->a->start ? w->a->start_count : 1;
    return w->a->start ? w->a->start : roots;
}

/* Pairs of triangles of the whole walk. The order depends on what the trees hold alone. */
static int embi_walk_all(embi_memory *m, const embi_walk *w, embi_key **list, int *count, int *cap)
{
    int starts;
    const int *start = embi_walk_begin(w, &starts);
    for (int n = 0; n < starts; n++)
        if (!embi_walk_pairs(m, w, start[2 * n], start[2 * n + 1], list, count, cap)) return 0;
    return 1;
}

/* The same of two surfaces. */
static int embi_bvh_pairs(embi_memory *m, const embi_surface *a, const embi_surface *b,
                          const embipc_real range[6], embipc_real reach, embi_key **list, int *count,
                          int *cap)
{
    embi_walk w = embi_walk_of(a, b, range, reach);
    return embi_walk_all(m, &w, list, count, cap);
}

#define EMBI_STARTS 256   /* of a walk that is shared, where it begins with fewer */

/* Pairs of nodes whose walks, one after the other, are the whole walk: those that it begins with (returns them), or,
 * if these are few, what they open to, in `start`. */
static const int *embi_walk_starts(const embi_walk *w, int start[EMBI_STARTS][2], int *starts)
{
    const int *first = embi_walk_begin(w, starts);
    int count = *starts, before = 0;
    if (3 * count > EMBI_STARTS) return first;
    if (count) memcpy(start, first, (size_t)count * sizeof *start);
    while (count != before && 3 * count <= EMBI_STARTS) {
        int old[EMBI_STARTS][2];
        memcpy(old, start, (size_t)count * sizeof *old);
        before = count;
        count = 0;
        for (int n = 0; n < before; n++) {
            int i = old[n][0], j = old[n][1], pair[3][2], opened;
            embipc_real share;
            if (!embi_walk_meets(w, i, j, &share)) continue;
            opened = embi_walk_opens(w, i, j, pair);
            for (int k = opened - 1; k >= 0; k--, count++) {
                start[count][0] = pair[k][0];
                start[count][1] = pair[k][1];
            }
            if (!opened) memcpy(start[count++], old[n], sizeof *old);
        }
    }
    *starts = count;
    return start[0];
}

/* ---- trees that are refit where asked ----
 * Of a large surface a walk looks at what is near another: little. Its tree is not refit as a whole, then. A node that
 * the walk comes to is given a box by the one it had when the body was made, at X, and by how the nodes of the body have
 * moved since: to turn (X + w), but for a displacement, all w in a box of the extent warp. Seen from one vertex s below
 * it, the others are at
 *   x = x_s + turn (X - X_s + w - w_s),   |w - w_s| <= |J - J_s|_1 warp / 2.
 * With these boxes a walk is gone through down to blocks of so many triangles; the blocks it comes to are refit. What it
 * then sees itself are the same boxes or tighter ones, and it opens no node whose children have none. (A step of a bear
 * of 160 000 triangles: in free fall 0.64 for 4.0 ms, in contact 6.8 for 10.7.) */

#ifndef EMBI_FIT_LEAVES           /* a test makes these less */
#define EMBI_FIT_LEAVES 16        /* of a block */
#define EMBI_FIT_TRIANGLES 1024   /* a surface of fewer has its tree refit as a whole */
#endif
enum { EMBI_PLACED = 1, EMBI_ASKED = 2, EMBI_REFIT = 4 };   /* a node has such a box; its block is asked for; is refit */

/* How a surface has moved since it was made. */
typedef struct embi_moved {
    const embipc_real *q;        /* all nodes, now */
    embipc_real turn[9], warp[3];
    embipc_real rounding;        /* of all this, m */
} embi_moved;

/* The tree will be refit where asked. Returns 0 out of memory. */
static int embi_bvh_ready(embi_memory *m, embi_bvh *b)
{
    return EMBI_GROW(m, float, b->rest, b->rest_cap, 12 * b->leaves) &&
           EMBI_GROW(m, unsigned char, b->known, b->known_cap, 2 * b->leaves);
}

/* The vertices are at x, where the surface is made; refits the tree. */
static void embi_bvh_start(embi_bvh *b, const embipc_real *x, const int *tri, int nt)
{
    embi_bvh_refit(b, x, tri, nt);
    for (int k = 1; k < 2 * b->leaves; k++)
        for (int i = 0; i < 6 && b->sample[k] >= 0; i++)   /* lo <= 0 <= hi: rounded outwards */
            b->rest[6 * k + i] = (float)((b->box[6 * k + i] - x[3 * b->sample[k] + i % 3]) * (1 + 1e-6));
}

/* the first node that is the root of a block; as many blocks there are */
static int embi_bvh_blocks(const embi_bvh *b) { return embi_max_int(b->leaves / EMBI_FIT_LEAVES, 1); }

/* the root of the block that node k is in; k itself above these */
static int embi_bvh_block(const embi_bvh *b, int k)
{
    int end = 2 * embi_bvh_blocks(b);
    while (k >= end) k /= 2;
    return k;
}

/* Node k has a box from here on. */
static void embi_bvh_place(embi_bvh *b, int k, const embi_surface *s, const embi_moved *moved)
{
    const float *rest = b->rest + 6 * k;
    embipc_real *box = b->box + 6 * k, mid[3], half[3], far[3], at[3];
    if (b->known[k] || b->known[embi_bvh_block(b, k)] & EMBI_REFIT) return;
    b->known[k] = EMBI_PLACED;
    embi_box_clear(box);
    if (b->sample[k] < 0) return;
    for (int i = 0; i < 3; i++) {
        mid[i] = ((embipc_real)rest[i] + rest[3 + i]) / 2;
        half[i] = ((embipc_real)rest[3 + i] - rest[i] + b->vary[k] * moved->warp[i]) / 2;
    }
    embi_m3_mulv(far, moved->turn, mid);
    embi_row_apply(s->J, s->base + b->sample[k], moved->q, at);
    embi_add(far, far, at);
    for (int i = 0; i < 3; i++) {
        const embipc_real *row = moved->turn + 3 * i;
        embipc_real reach = embi_abs(row[0]) * half[0] + embi_abs(row[1]) * half[1] + embi_abs(row[2]) * half[2];
        box[i] = far[i] - reach - moved->rounding;
        box[3 + i] = far[i] + reach + moved->rounding;
    }
}

/* A walk, and of each side its tree, if it is one to be refit where asked, how it moved, and a number for it. */
typedef struct embi_fitting {
    embi_walk walk;
    embi_bvh *tree[2];           /* NULL: it is refit as a whole */
    const embi_moved *moved[2];
    int item[2];
} embi_fitting;

/* The block of node k of one side is asked for: another run of leaves on the list. Returns 0 out of memory. */
static int embi_fitting_ask(embi_memory *m, const embi_fitting *f, int side, int k, embi_chunks *list)
{
    embi_bvh *b = f->tree[side];
    int blocks, size, root;
    if (!b) return 1;
    blocks = embi_bvh_blocks(b);
    size = b->leaves / blocks;
    root = embi_bvh_block(b, k);
    if (b->known[root] & EMBI_ASKED) return 1;
    b->known[root] |= EMBI_ASKED;
    return embi_chunks_add(m, list, f->item[side], (root - blocks) * size, (root - blocks + 1) * size, size);
}

/* Asks for all blocks that the walk from nodes i and j comes to. Returns 0 out of memory. */
static int embi_fitting_walk(embi_memory *m, const embi_fitting *f, int i, int j, embi_chunks *list)
{
    const embi_walk *w = &f->walk;
    int stack[256][2], top = 1;
    stack[0][0] = i;
    stack[0][1] = j;
    while (top > 0) {
        embipc_real share;
        i = stack[--top][0];
        j = stack[top][1];
        if (f->tree[0]) embi_bvh_place(f->tree[0], i, w->a, f->moved[0]);
        if (f->tree[1]) embi_bvh_place(f->tree[1], j, w->b, f->moved[1]);
        if (!embi_walk_meets(w, i, j, &share)) continue;
        if ((!f->tree[0] || i >= embi_bvh_blocks(f->tree[0])) && (!f->tree[1] || j >= embi_bvh_blocks(f->tree[1]))) {
            if (!embi_fitting_ask(m, f, 0, i, list) || !embi_fitting_ask(m, f, 1, j, list)) return 0;
        } else top += embi_walk_opens(w, i, j, stack + top);
    }
    return 1;
}

/* One point-triangle or edge-edge pair that may become active. */
typedef struct embi_candidate {
    int v[4];                    /* vertices among all bodies': p, a, b, c or a0, a1, b0, b1 */
    int edge_edge;
    embipc_real dhat, xi;        /* activation distance and thickness of this very pair, m */
    embipc_real mollify;         /* eps of the edge-edge mollifier, m^4; 0 for point-triangle */
    embipc_real apart;           /* distance once displaced by the middle of the range, m */
    embipc_real share;           /* of the range that its two sides can take; 1 but within one body */
    embipc_real less;            /* by so much is its own dhat + xi less than that of its two bodies, m */
} embi_candidate;

/* Its closest points at the present positions, and what they were last used for. */
typedef struct embi_closest {
    embipc_real d, w[4];
    int mask;
    int stamp;                   /* of the evaluation they are from */
    embipc_real stiffness;       /* kappa m b'' now, N/m; 0 when it is not active */
    embipc_real in_matrix;       /* what it was when the system was last factored */
} embi_closest;

/* What holds for all candidates of a pair of bodies. */
typedef struct embi_pair_rule {
    embipc_real dhat, kappa, epsv, mu, xi;
} embi_pair_rule;

/* How the first surface may move against the second, and how near counts. */
typedef struct embi_approach {
    embipc_real mid[3], half[3];   /* displacements mid +- half, m */
    embipc_real radius;            /* |half| */
    embipc_real reach;             /* m */
    int own;                       /* the reach is from dhat + xi: what a candidate has less of them counts */
} embi_approach;

static embi_approach embi_approach_of(const embipc_real range[6], embipc_real reach)
{
    embi_approach t;
    for (int i = 0; i < 3; i++) {
        t.mid[i] = (range[i] + range[3 + i]) / 2;
        t.half[i] = (range[3 + i] - range[i]) / 2 * (1 + 8 * EMBI_EPS);
    }
    t.radius = embi_norm(t.half);
    t.reach = reach * (1 + 8 * EMBI_EPS);
    t.own = 0;
    return t;
}

/* Where a point of the first surface must be to come within reach of the box b of the second; share: of the
 * displacements, what the two can take. */
static void embi_approach_box(const embi_approach *t, embipc_real share, embipc_real reach, const embipc_real b[6],
                              embipc_real box[6])
{
    for (int i = 0; i < 3; i++) {
        embipc_real half = share * t->half[i];
        box[i] = b[i] - (t->mid[i] + half + reach);
        box[3 + i] = b[3 + i] - (t->mid[i] - half - reach);
    }
}

/* Can the pair c come within reach, by the approach t of the side of its first vertex? x: its points now. The same
 * tests whether it is searched for or met again, box and distance, which goes to c->apart. The whole distance counts
 * from the middle of the displacements: |p + mid + r - q| >= |p + mid - q| - |half|. */
static int embi_candidate_near(embi_candidate *c, const embi_point x[4], const embi_approach *t)
{
    int split = c->edge_edge ? 2 : 1, mask;
    embipc_real one[6], two[6], near[6], moved[6], w[4], reach = t->own ? t->reach - c->less : t->reach;
    embi_point p[4];
    embi_box_of_points(one, x, split);
    embi_box_of_points(two, x + split, 4 - split);
    embi_approach_box(t, c->share, reach, two, near);
    if (!embi_boxes_touch(one, near)) return 0;
    for (int k = 0; k < 4; k++) p[k] = k < split ? moved + 3 * k : x[k];
    for (int k = 0; k < split; k++) embi_add(moved + 3 * k, x[k], t->mid);
    c->apart = embi_closest_distance(p, c->edge_edge, w, &mask);
    return c->apart <= reach + c->share * t->radius;
}

/* Have the two sides of a primitive pair of one surface a vertex in common? */
static int embi_vertices_shared(const int v[4], int edge_edge)
{
    return v[0] == v[2] || v[0] == v[3] || (edge_edge ? v[1] == v[2] || v[1] == v[3] : v[0] == v[1]);
}

/* Appends the pair, which has no vertex in common, to the list if it can come within reach; v: vertices in the
 * numbering of a (first side) and b. Pairs of one body keep their distance at rest: half of it caps dhat, so that no
 * mesh, however fine, pushes itself apart at rest. */
static int embi_candidate_add(embi_memory *m, const embi_surface *a, const embi_surface *b, const int v[4],
                              int edge_edge, const embi_pair_rule *rule, const embi_approach *t,
                              embi_candidate **list, int *count, int *cap)
{
    embipc_real w[4], ea[3], eb[3], rest;
    embi_point p[4];
    embi_candidate *c;
    int mask, split = edge_edge ? 2 : 1, self = a->base == b->base;
    if (!EMBI_ROOM(m, embi_candidate, *list, *cap, *count + 1)) return 0;
    c = *list + *count;
    c->edge_edge = edge_edge;
    c->less = 0;
    c->share = self ? embi_vertices_share(a, v, split) : (embipc_real)1;
    for (int k = 0; k < 4; k++) p[k] = (k < split ? a->x : b->x) + 3 * v[k];
    if (!embi_candidate_near(c, p, t)) return 1;
    for (int k = 0; k < 4; k++) c->v[k] = v[k] + (k < split ? a->base : b->base);
    c->dhat = rule->dhat;
    c->xi = rule->xi;
    c->mollify = 0;
    for (int k = 0; k < 4; k++) p[k] = (k < split ? a->rest : b->rest) + 3 * v[k];
    if (self) {
        rest = embi_closest_distance(p, edge_edge, w, &mask);
        c->xi = embi_min(rule->xi, rest / 2);
        c->dhat = embi_min(rule->dhat, (rest - c->xi) / 2);
        c->less = (rule->dhat - c->dhat) + (rule->xi - c->xi);
        if (t->own && c->apart > t->reach - c->less + c->share * t->radius) return 1;
    }
    if (edge_edge) {
        embi_sub(ea, p[1], p[0]);
        embi_sub(eb, p[3], p[2]);
        c->mollify = (embipc_real)1e-3 * embi_dot(ea, ea) * embi_dot(eb, eb);
    }
    ++*count;
    return 1;
}

/* Appends the point-triangle candidates of the vertices that triangle ta of a owns against tb of b; near_b:
 * the box for points of a around tb. */
static int embi_candidates_points(embi_memory *m, const embi_surface *a, const embi_surface *b, int ta,
                                  int tb, const embipc_real near_b[6], const embi_pair_rule *rule,
                                  const embi_approach *t, embi_candidate **list, int *count, int *cap)
{
    const int *A = a->tri + 3 * ta, *B = b->tri + 3 * tb;
    int self = a->base == b->base;
    for (int i = 0; i < 3; i++) {
        const embipc_real *p = a->x + 3 * A[i];
        int v[4];
        if (!(a->bvh->own[ta] & (1 << i)) || p[0] < near_b[0] || p[0] > near_b[3] || p[1] < near_b[1] ||
            p[1] > near_b[4] || p[2] < near_b[2] || p[2] > near_b[5])
            continue;
        v[0] = A[i]; v[1] = B[0]; v[2] = B[1]; v[3] = B[2];
        if (self && embi_vertices_shared(v, 0)) continue;
        if (!embi_candidate_add(m, a, b, v, 0, rule, t, list, count, cap)) return 0;
    }
    return 1;
}

/* Appends the edge-edge candidates of the edges that the two triangles have for it; share: theirs of the range. */
static int embi_candidates_edges(embi_memory *m, const embi_surface *a, const embi_surface *b, int ta, int tb,
                                 const embipc_real near_b[6], const embi_pair_rule *rule,
                                 const embi_approach *t, embipc_real share,
                                 embi_candidate **list, int *count, int *cap)
{
    const int *A = a->tri + 3 * ta, *B = b->tri + 3 * tb;
    int self = a->base == b->base;
    for (int i = 0; i < 3; i++) {
        int v[4];
        embipc_real box[6], edge[6], other[6];
        if (!(a->bvh->own[ta] & (64 << i))) continue;
        v[0] = A[i]; v[1] = A[(i + 1) % 3];
        embi_box_of(box, a->x, v, 2);
        if (!embi_boxes_touch(box, near_b)) continue;
        for (int j = 0; j < 3; j++) {
            if (!(b->bvh->own[tb] & (64 << j))) continue;
            v[2] = B[j]; v[3] = B[(j + 1) % 3];
            if (self && embi_vertices_shared(v, 1)) continue;
            embi_box_of(edge, b->x, v + 2, 2);
            embi_approach_box(t, share, t->reach, edge, other);
            if (embi_boxes_touch(box, other) &&
                !embi_candidate_add(m, a, b, v, 1, rule, t, list, count, cap))
                return 0;
        }
    }
    return 1;
}

/* Appends the candidates of all triangle pairs in keys: what comes within reach by the approach t of a. Boxes
 * are tried before distances. Both trees must be refit. */
static int embi_candidates(embi_memory *m, const embi_surface *a, const embi_surface *b, const embi_key *keys,
                           int key_count, const embi_pair_rule *rule, const embi_approach *t,
                           embi_candidate **list, int *count, int *cap)
{
    embi_approach back = *t;
    embi_scale(back.mid, -1, t->mid);
    for (int n = 0; n < key_count; n++) {
        int ta = (int)(keys[n].key >> 32), tb = (int)(keys[n].key & 0xffffffffu);
        embipc_real near_a[6], near_b[6], share = (embipc_real)keys[n].value / EMBI_SHARE_UNIT;
        embi_approach_box(t, share, t->reach, b->bvh->tri_box + 6 * tb, near_b);
        embi_approach_box(&back, share, t->reach, a->bvh->tri_box + 6 * ta, near_a);
        if (!embi_candidates_points(m, a, b, ta, tb, near_b, rule, t, list, count, cap) ||
            !embi_candidates_points(m, b, a, tb, ta, near_a, rule, &back, list, count, cap) ||
            !embi_candidates_edges(m, a, b, ta, tb, near_b, rule, t, share, list, count, cap))
            return 0;
    }
    return 1;
}

/* Would a search at the positions x (of all vertices) find the candidate, for the approach t of the body of
 * its first vertex? */
static int embi_candidate_again(embi_candidate *c, const embipc_real *x, const embi_approach *t)
{
    embi_point p[4];
    embi_points_at(p, x, c->v);
    return embi_candidate_near(c, p, t);
}

/* ---- what cannot fold ----
 * Most of a search of a surface for itself meets neighbours, which only a fold would bring together. Let the straight
 * line between two of its points, X apart at rest, stay within tets T there. Then x_a - x_b = F X with F a mean of
 * their F_t, and for any F_0
 *   |x_a - x_b| >= (sigma_min(F_0) - d) |X|,   d = max over T of |F_t - F_0|.
 * A triangle with corners v in several tets is flat where the cage's map is not: x_a = sum beta_v x_v, and the lines
 * from its corners count, not that from a itself,
 *   |x_a - x_b| >= (sigma_min(F_0) - d (1 + rho)) |X|,   rho = (e_a + e_b) / |X|,   e_a = sum beta_v |X_v - X_a|,
 * with e_a <= l / sqrt(3) for its longest edge l, l/2 on an edge, and 0 within one tet. While no F changes by more
 * than s, turning aside, d + s stands in place of d (both told by embi_m3s_stretch4()). What a pair of primitives needs
 * is their own dhat + xi, at most half of what they are apart at rest (3/4 with a thickness). So two nodes of the tree
 * hold nothing that can touch as long as
 *   s < (sigma_min(F_0) - need) / (1 + rho) - d:
 * lines, T, rho and the least |X| are found once, when the body is made. */

/* A pair of nodes of the tree, in the order of the walk. */
typedef struct embi_fold {
    int i, j;
    int next;                    /* of the list, behind what this pair opens to there */
    int first, tets;             /* T, in embi_folds.tet; none: lines may leave the tets */
    embipc_real least;           /* primitives below without a common vertex are so far apart at rest, m, or more */
    embipc_real rho;
} embi_fold;

typedef struct embi_folds {
    embi_fold *list;
    int count, cap;
    int *tet, tet_count, tet_cap;
} embi_folds;

static void embi_folds_free(embi_memory *m, embi_folds *f)
{
    EMBI_RELEASE(m, f->list, f->cap);
    EMBI_RELEASE(m, f->tet, f->tet_cap);
    f->count = f->tet_count = 0;
}

/* While they are found. */
typedef struct embi_folding {
    embi_memory *m;
    embi_folds *out;
    const embi_surface *s;       /* at rest, its tree refit */
    const embipc_real *q;        /* nodes at rest */
    const int *tet;              /* (4 per tet) */
    const int *home;             /* tet of each vertex; NULL: each triangle is a face of one */
    embipc_real rounding;        /* of coordinates, m */
    int *face, face_count;       /* boundary of the tets */
    embipc_real *edge;           /* the longest below each node of the tree */
    unsigned char *bent;         /* and whether a triangle there has corners in several tets */
    int i, j;                    /* the pair that is looked at: */
    embipc_real box[6], longest; /* of both nodes; edge of either */
    int mixed, triangles;        /* bent; triangles at most */
    int *vertex, vertex_count;   /* those below, once they are asked for */
    int *mark, stamp;
    int *near;                   /* faces and tets whose boxes meet those of the pairs on the way here */
    embi_key *keys;
    embi_candidate *list;
    int face_cap, edge_cap, bent_cap, vertex_cap, mark_cap, near_cap, key_cap, list_cap;
    int deepest, too_many;
} embi_folding;

/* e_a of a triangle, at most, by its longest edge: 1 / sqrt(3) */
#define EMBI_FOLD_MIDDLE ((embipc_real)0.57735027)

/* How far it pays to open pairs: those of few tets tell no more in parts, but for bent triangles (of slivers, mostly),
 * which must not speak for the rest; and looking at all of them must stay cheap beside a walk. (Pairs of 6 tets as few:
 * a bear of 160 000 triangles takes 1.08 times as long. Room for half of all: one of 2 600 in cages of 70, 150 and 300
 * nodes, which then has no folds, takes 1.8, 1.25 and 0.93 times as long.) */
#define EMBI_FOLD_TETS 2                       /* few */
#define EMBI_FOLD_BEND ((embipc_real)2.5)      /* of a rho */
#define EMBI_FOLD_DEPTH 4                      /* straight pairs one in the other; where that makes too many, 2 or 0 */
#define EMBI_FOLD_MEASURE 256                  /* triangles that are measured one by one, ... */
#define EMBI_FOLD_REACH ((embipc_real)0.75)    /* ... where they are nearer than that of the longest edge */
#define EMBI_FOLD_ROOM 96                      /* names of tets for each triangle: half of a walk */
#define EMBI_FOLD_PAIRS 16                     /* pairs for each triangle, ... */
#define EMBI_FOLD_WALKED 4                     /* ... and of those that are always walked */
#define EMBI_FOLD_FINE 3                       /* triangles for each tet: with fewer, strain costs what searches gain */

/* Strain that a kept list stands beyond what is asked for: more of it, and fewer folds are left out. (Bear of 160 000
 * triangles that falls: 0.01, 0.05 and 0.1 take 1.2, 2.1 and 16 times as long, as much again of what is asked for 2;
 * surfaces below 1000 differ by 3 %.) */
#define EMBI_FOLD_SLACK ((embipc_real)0.02)
#define EMBI_STRAIN_TIMES ((embipc_real)1.25)  /* so many times what is foreseen is asked for, besides */

static embipc_real embi_folding_edge(const embi_folding *f, int a, int b)
{
    embipc_real d[3];
    embi_sub(d, f->s->x + 3 * b, f->s->x + 3 * a);
    return embi_norm(d);
}

static int embi_folding_is_mixed(const embi_folding *f, const int v[3])
{
    return f->home && (f->home[v[0]] != f->home[v[1]] || f->home[v[0]] != f->home[v[2]]);
}

static embipc_real embi_folding_longest(const embi_folding *f, const int v[3])
{
    return embi_max(embi_folding_edge(f, v[0], v[1]),
                    embi_max(embi_folding_edge(f, v[1], v[2]), embi_folding_edge(f, v[2], v[0])));
}

/* Leaves below node i: from *first on. Returns how many. */
static int embi_folding_leaves(const embi_bvh *b, int i, int *first)
{
    int count = 1;
    for (; i < b->leaves; i *= 2) count *= 2;
    *first = i - b->leaves;
    return count;
}

static void embi_folding_gather(embi_folding *f, int i)
{
    const embi_bvh *b = f->s->bvh;
    int first, count = embi_folding_leaves(b, i, &first);
    for (int n = EMBI_LEAF * first; n < EMBI_LEAF * (first + count) && n < f->s->nt; n++) {
        const int *v = f->s->tri + 3 * b->order[n];
        for (int k = 0; k < 3; k++) {
            if (f->mark[v[k]] == f->stamp) continue;
            f->mark[v[k]] = f->stamp;
            f->vertex[f->vertex_count++] = v[k];
        }
    }
}

/* What of the pair is known without its vertices. */
static void embi_folding_look(embi_folding *f, int i, int j)
{
    const embi_bvh *b = f->s->bvh;
    int first;
    f->i = i;
    f->j = j;
    memcpy(f->box, b->box + 6 * i, sizeof f->box);
    embi_box_join(f->box, b->box + 6 * j);
    for (int c = 0; c < 3; c++) {
        f->box[c] -= f->rounding;
        f->box[3 + c] += f->rounding;
    }
    f->longest = embi_max(f->edge[i], f->edge[j]);
    f->mixed = f->bent[i] + f->bent[j];
    f->triangles = EMBI_LEAF * embi_folding_leaves(b, i, &first);
    if (i != j) f->triangles += EMBI_LEAF * embi_folding_leaves(b, j, &first);
    f->vertex_count = 0;
    f->stamp++;
}

/* Edges and bent triangles of all nodes. */
static void embi_folding_edges(embi_folding *f)
{
    const embi_bvh *b = f->s->bvh;
    for (int k = 2 * b->leaves - 1; k > 0; k--) {
        int first = EMBI_LEAF * (k - b->leaves);
        f->edge[k] = 0;
        f->bent[k] = 0;
        if (k < b->leaves) {
            f->edge[k] = embi_max(f->edge[2 * k], f->edge[2 * k + 1]);
            f->bent[k] = f->bent[2 * k] | f->bent[2 * k + 1];
            continue;
        }
        for (int n = first; n < first + EMBI_LEAF && n < f->s->nt; n++) {
            const int *v = f->s->tri + 3 * b->order[n];
            f->edge[k] = embi_max(f->edge[k], embi_folding_longest(f, v));
            if (embi_folding_is_mixed(f, v)) f->bent[k] = 1;
        }
    }
}

/* Of what is in near[from .. to - 1], n corners each, appends what the box meets. Returns how many; -1 out of memory. */
static int embi_folding_near(embi_folding *f, const int *corner, int n, int from, int to, int at)
{
    int count = 0;
    if (!EMBI_GROW(f->m, int, f->near, f->near_cap, at + to - from)) return -1;
    for (int k = from; k < to; k++) {
        embipc_real box[6];
        embi_box_of(box, f->q, corner + n * f->near[k], n);
        if (embi_boxes_touch(box, f->box)) f->near[at + count++] = f->near[k];
    }
    return count;
}

/* Bounds of d.x over the vertices; stops where the upper one is above `most` and the lower one below `least`. */
static void embi_folding_span(embi_folding *f, const embipc_real d[3], embipc_real least, embipc_real most,
                              embipc_real span[2])
{
    if (!f->vertex_count) {
        embi_folding_gather(f, f->i);
        if (f->i != f->j) embi_folding_gather(f, f->j);
    }
    span[0] = EMBI_HUGE;
    span[1] = -EMBI_HUGE;
    for (int n = 0; n < f->vertex_count && !(span[1] > most && span[0] < least); n++) {
        embipc_real at = embi_dot(d, f->s->x + 3 * f->vertex[n]);
        span[0] = embi_min(span[0], at);
        span[1] = embi_max(span[1], at);
    }
}

/* Unit normal of a triangle of nodes. */
static void embi_folding_normal(const embi_folding *f, const int v[3], embipc_real n[3])
{
    embipc_real a[3], b[3];
    embi_sub(a, f->q + 3 * v[1], f->q + 3 * v[0]);
    embi_sub(b, f->q + 3 * v[2], f->q + 3 * v[0]);
    embi_cross(n, a, b);
    embi_scale(n, 1 / embi_max(embi_norm(n), (embipc_real)DBL_MIN), n);
}

/* Are all vertices on the inner side of the face, or no farther outside than that? */
static int embi_folding_inside(embi_folding *f, const int v[3], embipc_real outside)
{
    embipc_real n[3], span[2], level;
    embi_folding_normal(f, v, n);
    level = embi_dot(n, f->q + 3 * v[0]) + outside;
    embi_folding_span(f, n, EMBI_HUGE, level, span);
    return span[1] <= level;
}

/* Is the face apart from the hull of the vertices along d? */
static int embi_folding_apart(embi_folding *f, const int v[3], const embipc_real d[3])
{
    embipc_real span[2], lo = EMBI_HUGE, hi = -EMBI_HUGE;
    for (int k = 0; k < 3; k++) {
        lo = embi_min(lo, embi_dot(d, f->q + 3 * v[k]));
        hi = embi_max(hi, embi_dot(d, f->q + 3 * v[k]));
    }
    lo -= f->rounding;
    hi += f->rounding;
    embi_folding_span(f, d, hi, lo, span);
    return span[1] < lo || span[0] > hi;
}

/* Do lines between the vertices stay in the tets? They do when each face of their boundary that is near has them all on
 * its inner side, or is apart from their hull; which the normals of the faces about it are tried for. */
static int embi_folding_is_straight(embi_folding *f, int from, int to)
{
    for (int k = from; k < to; k++) {
        const int *v = f->face + 3 * f->near[k];
        int clear = embi_folding_inside(f, v, f->rounding);
        for (int n = from; n < to && !clear; n++) {
            const int *other = f->face + 3 * f->near[n];
            embipc_real d[3];
            int touch = 0;
            for (int c = 0; c < 9; c++) touch |= v[c / 3] == other[c % 3];
            if (!touch) continue;
            embi_folding_normal(f, other, d);
            clear = embi_folding_apart(f, v, d);
        }
        if (!clear) return 0;
    }
    return 1;
}

/* Appends the tets that the hull of the vertices meets, as far as their own faces tell (all, when they are few).
 * Returns 0 out of memory. */
static int embi_folding_tets(embi_folding *f, int from, int to)
{
    embi_folds *out = f->out;
    for (int k = from; k < to; k++) {
        const int *v = f->tet + 4 * f->near[k];
        int meets = 1;
        for (int i = 0; i < 4 && meets && to - from > EMBI_FOLD_TETS; i++) {
            int back[3];   /* the face looked at from inside: are all vertices behind it? */
            for (int c = 0; c < 3; c++) back[c] = v[embi_tet_face[i][2 - c]];
            meets = !embi_folding_inside(f, back, -f->rounding);
        }
        if (!meets) continue;
        if (!EMBI_GROW(f->m, int, out->tet, out->tet_cap, out->tet_count + 1)) return 0;
        out->tet[out->tet_count++] = f->near[k];
    }
    return 1;
}

/* e_a + e_b of a pair of primitives */
static embipc_real embi_folding_bend(const embi_folding *f, const embi_candidate *c)
{
    const int *v = c->v, *home = f->home;
    if (!home) return 0;
    if (c->edge_edge)
        return (home[v[0]] != home[v[1]] ? embi_folding_edge(f, v[0], v[1]) / 2 : (embipc_real)0) +
               (home[v[2]] != home[v[3]] ? embi_folding_edge(f, v[2], v[3]) / 2 : (embipc_real)0);
    return embi_folding_is_mixed(f, v + 1) ? EMBI_FOLD_MIDDLE * embi_folding_longest(f, v + 1) : (embipc_real)0;
}

/* no more than that, for what two triangles own */
static embipc_real embi_folding_bends(const embi_folding *f, embi_key pair)
{
    const int *a = f->s->tri + 3 * (pair.key >> 32), *b = f->s->tri + 3 * (pair.key & 0xffffffffu);
    return EMBI_FOLD_MIDDLE * ((embi_folding_is_mixed(f, a) ? embi_folding_longest(f, a) : (embipc_real)0) +
                               (embi_folding_is_mixed(f, b) ? embi_folding_longest(f, b) : (embipc_real)0));
}

/* How near primitives below the pair are at rest, and what that makes of rho: those nearer than most of the longest
 * edge one by one, the others at once. What is neither nearer than all before nor bends more is not looked for. Returns
 * 0 out of memory. */
static int embi_folding_measure(embi_folding *f, embipc_real *least, embipc_real *rho)
{
    static const embipc_real still[6] = {0, 0, 0, 0, 0, 0};
    embipc_real reach = EMBI_FOLD_REACH * f->longest;
    embi_walk walk = embi_walk_of(f->s, f->s, still, reach);
    embi_pair_rule rule;
    int keys = 0;
    memset(&rule, 0, sizeof rule);
    rule.dhat = reach;
    *least = reach;
    *rho = (embipc_real)f->mixed * EMBI_FOLD_MIDDLE * f->longest / reach;
    if (!embi_walk_pairs(f->m, &walk, f->i, f->j, &f->keys, &keys, &f->key_cap)) return 0;
    for (int k = 0; k < keys; k++) {
        embipc_real bend = f->mixed ? embi_folding_bends(f, f->keys[k]) / *rho : (embipc_real)0;
        embi_approach t = embi_approach_of(still, embi_min(reach, embi_max(*least, bend)));
        int count = 0;
        if (!embi_candidates(f->m, f->s, f->s, f->keys + k, 1, &rule, &t, &f->list, &count, &f->list_cap)) return 0;
        for (int n = 0; n < count; n++) {
            embipc_real d = f->list[n].apart;
            *least = embi_min(*least, d);
            *rho = embi_max(*rho, d > 0 ? embi_folding_bend(f, f->list + n) / d : (embipc_real)INFINITY);
        }
    }
    return 1;
}

/* how far apart two boxes are, and the longer of their diagonals */
static embipc_real embi_boxes_apart(const embipc_real a[6], const embipc_real b[6], embipc_real *size)
{
    embipc_real gap[3], da[3], db[3];
    for (int c = 0; c < 3; c++) gap[c] = embi_max(0, embi_max(a[c] - b[3 + c], b[c] - a[3 + c]));
    embi_sub(da, a + 3, a);
    embi_sub(db, b + 3, b);
    *size = embi_max(embi_norm(da), embi_norm(db));
    return embi_norm(gap);
}

/* What is known of a pair and all that it opens to. */
typedef struct embi_fold_sum {
    int any;                     /* lines stay inside, here or below */
    embipc_real least, rho;
} embi_fold_sum;

/* Finds T of the pair, when lines stay inside, as those of what it is part of do (straight); near: where faces and tets
 * near that begin, and how many they are; mine: the same of this pair, behind them. Returns 1 or 0; -1 out of memory. */
static int embi_folding_lines(embi_folding *f, int straight, const int near[3], int mine[3])
{
    embi_folds *out = f->out;
    int first = out->tet_count, faces, tets;
    mine[0] = near[0] + near[1] + near[2];
    mine[1] = mine[2] = 0;
    faces = straight ? 0 : embi_folding_near(f, f->face, 3, near[0], near[0] + near[1], mine[0]);
    tets = faces < 0 ? -1 : embi_folding_near(f, f->tet, 4, near[0] + near[1], mine[0], mine[0] + faces);
    if (tets < 0) return -1;
    mine[1] = faces;
    mine[2] = tets;
    if (!straight && !embi_folding_is_straight(f, mine[0], mine[0] + faces)) return 0;
    if (!embi_folding_tets(f, mine[0] + faces, mine[0] + faces + tets)) return -1;
    mine[2] = out->tet_count - first;   /* what it opens to meets no others */
    for (int k = 0; k < mine[2]; k++) f->near[mine[0] + faces + k] = out->tet[first + k];
    return 1;
}

/* The least |X| and rho of a pair that is not opened; apart: of its boxes when they are far from each other, or 0.
 * Returns 0 out of memory. */
static int embi_folding_end(embi_folding *f, embipc_real apart, embi_fold_sum *sum)
{
    sum->least = apart;
    sum->rho = 0;
    if (apart > 0) sum->rho = (embipc_real)f->mixed * EMBI_FOLD_MIDDLE * f->longest / apart;
    if (apart > 0) return 1;
    if (f->triangles <= EMBI_FOLD_MEASURE) return embi_folding_measure(f, &sum->least, &sum->rho);
    if (f->mixed) sum->rho = (embipc_real)INFINITY;
    return 1;
}

/* Appends the pair (i, j) and what it opens to; near: as above, of what it is part of; depth: how much of that is
 * straight. Boxes far apart are not opened: a walk leaves them out at once, most often. Returns 0 out of memory, or with
 * too_many set. */
static int embi_folding_pair(embi_folding *f, int i, int j, int depth, const int near[3], embi_fold_sum *sum)
{
    const embi_bvh *b = f->s->bvh;
    embi_folds *out = f->out;
    embi_fold *one;
    embi_walk walk = embi_walk_of(f->s, f->s, NULL, 0);
    embipc_real size = 1, apart = i == j ? (embipc_real)0 : embi_boxes_apart(b->box + 6 * i, b->box + 6 * j, &size);
    int n = out->count, tets = out->tet_count, mine[3], pair[3][2], opened = 0, straight = depth > 0;
    sum->any = 0;
    sum->least = EMBI_HUGE;
    sum->rho = 0;
    if (b->box[6 * i] > b->box[6 * i + 3] || b->box[6 * j] > b->box[6 * j + 3]) return 1;   /* no triangles */
    embi_folding_look(f, i, j);
    if (apart <= size / 4) {
        straight = embi_folding_lines(f, straight, near, mine);
        if (straight < 0) return 0;
        opened = embi_walk_opens(&walk, i, j, pair);
    }
    if (straight && (!opened || out->tet_count - tets <= EMBI_FOLD_TETS || depth >= f->deepest)) {
        if (!embi_folding_end(f, apart > size / 4 ? apart : (embipc_real)0, sum)) return 0;
        if (sum->rho <= EMBI_FOLD_BEND) opened = 0;
    }
    f->too_many = n >= EMBI_FOLD_PAIRS * f->s->nt || out->tet_count > EMBI_FOLD_ROOM * f->s->nt;
    if (f->too_many || !EMBI_GROW(f->m, embi_fold, out->list, out->cap, n + 1)) return 0;
    one = out->list + out->count++;
    one->i = i;
    one->j = j;
    one->first = tets;
    one->tets = out->tet_count - tets;
    sum->any = straight;
    if (opened) {
        sum->least = EMBI_HUGE;
        sum->rho = 0;
    }
    for (int k = opened - 1; k >= 0; k--) {
        embi_fold_sum part;
        if (!embi_folding_pair(f, pair[k][0], pair[k][1], depth + straight, mine, &part)) return 0;
        sum->any |= part.any;
        sum->least = embi_min(sum->least, part.least);
        sum->rho = embi_max(sum->rho, part.rho);
    }
    one = out->list + n;
    one->least = sum->least;
    one->rho = sum->rho;
    if (!sum->any) out->count = n + 1;   /* walked as a whole */
    if (sum->any && opened && !straight) {   /* what it opens to stands for it */
        memmove(one, one + 1, (size_t)(--out->count - n) * sizeof *one);
        for (int k = n; k < out->count; k++) out->list[k].next--;
    } else one->next = out->count;
    return 1;
}

/* The same of the whole tree, with fewer pairs if they are too many. Returns 0 out of memory. */
static int embi_folding_all(embi_folding *f, int ntet)
{
    int near[3], walked;
    near[0] = 0;
    near[1] = f->face_count;
    near[2] = ntet;
    for (int k = 0; k < near[1] + near[2]; k++) f->near[k] = k < near[1] ? k : k - near[1];
    for (f->deepest = EMBI_FOLD_DEPTH; f->deepest >= 0; f->deepest -= 2) {
        embi_fold_sum sum;
        f->out->count = f->out->tet_count = f->too_many = walked = 0;
        if (!embi_folding_pair(f, 1, 1, 0, near, &sum) && !f->too_many) return 0;
        for (int k = 0; k < f->out->count; k++) walked += !f->out->list[k].tets;
        if (!f->too_many && sum.any && walked <= EMBI_FOLD_WALKED * f->s->nt) return 1;
    }
    embi_folds_free(f->m, f->out);
    return 1;
}

/* Finds all of a body's: surface s at rest, its tree refit, of nodes q and tets; home: tet of each of the nv vertices,
 * or NULL. None where they would be too many: then a walk is as quick. Returns 0 out of memory. */
static int embi_folds_build(embi_memory *m, embi_folds *out, const embi_surface *s, int nv, const embipc_real *q,
                            const int *tet, int ntet, const int *home)
{
    embi_folding f;
    embipc_real size = 0;
    int ok;
    memset(&f, 0, sizeof f);
    f.m = m;
    f.out = out;
    f.s = s;
    f.q = q;
    f.tet = tet;
    f.home = home;
    for (int k = 0; k < 6; k++) size = embi_max(size, embi_abs(s->bvh->box[6 + k]));
    f.rounding = 64 * EMBI_EPS * size;
    ok = embi_tets_boundary(m, tet, ntet, &f.face, &f.face_cap, &f.face_count) == EMBIPC_OK &&
         EMBI_GROW(m, embipc_real, f.edge, f.edge_cap, 2 * s->bvh->leaves) &&
         EMBI_GROW(m, unsigned char, f.bent, f.bent_cap, 2 * s->bvh->leaves) &&
         EMBI_GROW(m, int, f.vertex, f.vertex_cap, nv) && EMBI_GROW(m, int, f.mark, f.mark_cap, nv) &&
         EMBI_GROW(m, int, f.near, f.near_cap, f.face_count + ntet);
    if (ok) {
        embi_folding_edges(&f);
        ok = embi_folding_all(&f, ntet);
    }
    if (!ok) embi_folds_free(m, out);
    EMBI_RELEASE(m, f.face, f.face_cap);
    EMBI_RELEASE(m, f.edge, f.edge_cap);
    EMBI_RELEASE(m, f.bent, f.bent_cap);
    EMBI_RELEASE(m, f.vertex, f.vertex_cap);
    EMBI_RELEASE(m, f.mark, f.mark_cap);
    EMBI_RELEASE(m, f.near, f.near_cap);
    EMBI_RELEASE(m, f.keys, f.key_cap);
    EMBI_RELEASE(m, f.list, f.list_cap);
    return ok;
}

/* By how much the F (9 per tet) may change before what the fold holds can touch; -EMBI_HUGE if that is less than
 * `enough`, which most often one tet tells. share, reach: the need, of |X|, and no more than that, m. */
static embipc_real embi_fold_margin(const embi_folds *f, const embi_fold *one, const embipc_real *F, embipc_real share,
                                    embipc_real reach, embipc_real enough)
{
    const int *tet = f->tet + one->first;
    embipc_real mean[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0}, margin, most, far = 0;
    if (!one->tets) return -EMBI_HUGE;
    for (int k = 0; k < one->tets; k++)
        for (int c = 0; c < 9; c++) mean[c] += F[9 * tet[k] + c];
    for (int c = 0; c < 9; c++) mean[c] /= (embipc_real)one->tets;
    if (reach < share * one->least) share = reach / one->least;
    margin = (embi_m3_least_stretch(mean) - share - (embipc_real)1e-6) / (1 + one->rho);
    if (margin < enough) return -EMBI_HUGE;
    most = (margin - enough) * (margin - enough) * (margin - enough) * (margin - enough);
    for (int k = 0; k < one->tets; k += EMBI_LANES) {
        const embipc_real *from[EMBI_LANES];
        embipc_real part[EMBI_LANES];
        embi_vec H[9];
        for (int l = 0; l < EMBI_LANES; l++) from[l] = F + 9 * tet[embi_min_int(k + l, one->tets - 1)];
        for (int c = 0; c < 9; c++) H[c] = embi_load_each(from, c) - mean[c];
        embi_store(part, embi_m3s_stretch4(H));
        for (int l = 0; l < EMBI_LANES; l++) far = embi_max(far, part[l]);
        if (far > most) return -EMBI_HUGE;
    }
    return margin - sqrt(sqrt(far));
}

/* An edge of one surface that shares a point with a triangle of the other, found exactly. */
typedef struct embi_crossing { int edge[2]; int triangle; int edge_on_b; } embi_crossing;

/* Tests edge (e0, e1) of s against triangle t of u; a pair with a common vertex is not tested. */
static int embi_crosses(const embi_surface *s, int e0, int e1, const embi_surface *u, int t)
{
    embipc_real p[15];
    const int *T = u->tri + 3 * t;
    if (s->base == u->base)
        for (int k = 0; k < 3; k++)
            if (T[k] == e0 || T[k] == e1) return 0;
    embi_copy(p, s->x + 3 * e0);
    embi_copy(p + 3, s->x + 3 * e1);
    for (int k = 0; k < 3; k++) embi_copy(p + 6 + 3 * k, u->x + 3 * T[k]);
    for (int i = 0; i < 3; i++) {   /* boxes first */
        embipc_real lo = embi_min(p[i], p[3 + i]), hi = embi_max(p[i], p[3 + i]);
        if (hi < embi_min(p[6 + i], embi_min(p[9 + i], p[12 + i])) ||
            lo > embi_max(p[6 + i], embi_max(p[9 + i], p[12 + i])))
            return 0;
    }
    return embipc_segment_triangle_intersect(p);
}

/* All crossings of two surfaces (or of one with itself) among the triangle pairs in keys. */
static int embi_crossings(embi_memory *m, const embi_surface *a, const embi_surface *b, const embi_key *keys,
                          int key_count, embi_crossing **list, int *count, int *cap)
{
    for (int n = 0; n < key_count; n++)
        for (int side = 0; side < 2; side++) {
            const embi_surface *s = side ? b : a, *u = side ? a : b;
            int ta = (int)(keys[n].key >> 32), tb = (int)(keys[n].key & 0xffffffffu);
            int ts = side ? tb : ta, tu = side ? ta : tb;
            for (int i = 0; i < 3; i++) {
                int e0 = s->tri[3 * ts + i], e1 = s->tri[3 * ts + (i + 1) % 3];
                if (!(s->bvh->own[ts] & (8 << i)) || !embi_crosses(s, e0, e1, u, tu)) continue;
                if (!EMBI_GROW(m, embi_crossing, *list, *cap, *count + 1)) return 0;
                (*list)[*count].edge[0] = e0;
                (*list)[*count].edge[1] = e1;
                (*list)[*count].triangle = tu;
                (*list)[(*count)++].edge_on_b = side;
            }
        }
    return 1;
}

/* ==== 20. Continuous collision detection =============================================================
 * First contact of two primitives A, B (point and triangle, or two edges) on straight paths x_k + t v_k.
 * The frame is additive conservative advancement [CIPC21]; what proves an advance is not.
 *
 * Advancement needs a bound on how fast the gap can close. The published one is a bound on speeds. Here it is
 * a proof of separation: a fixed unit vector n keeps A and B more than xi apart for as long as
 *     g_ij(t) = n . (x_i - x_j) + t n . (v_i - v_j) > xi     for each vertex i of A and j of B,
 * by convexity, and as each g_ij is linear in t, it is so on an interval if it is so at both its ends. With n
 * the direction of the closest points at one end that advances at least as far as any bound on speeds, and a
 * common motion, a slide along the surface, or a stretching of the primitives cost nothing.
 *     Rotations at small clearance need a vector that turns along. For n(s) = (1-s) n0 + s n1 over [t0, t1]
 * each g_ij is a quadratic polynomial with the Bernstein coefficients
 *     n0.D(t0),   (n0.D(t1) + n1.D(t0))/2,   n1.D(t1),      D = x_i - x_j at that time,
 * and |n(s)| <= 1: coefficients above xi are a proof for the whole interval. What a rotation does to n0.D(t1)
 * it undoes in n1.D(t0), so these intervals are long where those of a fixed n are short.
 *
 * Rounding. Nothing rests on the distance being right: it only proposes n. What must hold is g_ij > xi |n|.
 * With u the unit roundoff and size = max_k |x_k - x_0|_1 + |v_k - v_0|_1, one vertex carries at most
 *     u size  its position relative to vertex 0, 4 u size its motion where that comes from two positions,
 *     3 u size  each of the products n . x and n . v: 8 u size in all, as no term of size counts twice,
 * so two of them 16 u size, their differences, the factor t and the sum 6 u size, and the rounding of t
 * itself 2 u size (t <= 1): 24 u size. 32 u size is asked for, and 8 u xi for |n| <= 1 + 4 u. The coordinates
 * themselves do not enter: an origin far away costs nothing. (What the caller rounds when he moves his points
 * is his: an eps of the coordinates.)
 *
 * Decision. A contact is meant when the gap is down to 1e-9 of the initial one, or to the rounding above, and
 * the rest of the path cannot be proved free in one look at its end. The time returned is then the first at
 * which the gap was below 1/10: slack belongs into the time, not into the answer. Against exact answers no
 * free path in 18 000 random ones is cut (a bound on speeds cuts 0.2 to 3 %); 2.8 closest-point problems per
 * query there, where the motion is as long as the primitives, and little above 1 where it is short; the work
 * bound was never met there. (Paths made to graze are cut when they pass within rounding.)
 * Uses: small math, distances.                             Checked by: tests/test_ccd.c       */

/* Fractions of the initial gap. KEEP: the time returned is the first one looked at with no more than this left (a tenth,
 * and a rounding less). DEEP: before that time is known no look may land below this, or the time would be later than
 * need be. MEET: this is taken for contact. */
#define EMBI_CCD_KEEP ((embipc_real)0.0999)
#define EMBI_CCD_DEEP ((embipc_real)0.008)
#define EMBI_CCD_MEET ((embipc_real)1e-9)
/* Fractions of the present gap that one look leaves to the next: until that time is known, so little below a tenth that
 * the first of them mostly is it; then, when only contact is asked about, next to none. Any would be right. */
#define EMBI_CCD_LEAVE ((embipc_real)0.09)
#define EMBI_CCD_CLOSE ((embipc_real)1e-3)
/* closest-point problems per query, at most */
#define EMBI_CCD_WORK 256

/* One query, in coordinates relative to vertex 0. */
typedef struct embi_ccd_path {
    embipc_real x[12], v[12];    /* start, motion over [0, 1] */
    embipc_real xi;              /* separation that g must exceed: minimum, and rounding */
    int edge_edge;
    const embi_closest *closest; /* of the start, where somebody knows it already; or NULL */
} embi_ccd_path;

/* A separating direction, found at time t. */
typedef struct embi_ccd_normal {
    embipc_real t;
    embipc_real h[4], dh[4];     /* n . x_k and n . v_k */
    embipc_real gap, rate;       /* distance at t, less xi, and how fast it changes */
    int separates;               /* all g_ij(t) > xi */
} embi_ccd_normal;

/* The pairs (i, j) of a vertex of A and a vertex of B. */
static int embi_ccd_pairs(int edge_edge, const int **pairs)
{
    static const int point_triangle[6] = {0, 1, 0, 2, 0, 3}, edges[8] = {0, 2, 0, 3, 1, 2, 1, 3};
    *pairs = edge_edge ? edges : point_triangle;
    return edge_edge ? 4 : 3;
}

/* smallest g_ij(t) over all pairs along the direction c */
static embipc_real embi_ccd_gap(const embi_ccd_path *path, const embi_ccd_normal *c, embipc_real t)
{
    const int *pair;
    embipc_real gap = EMBI_HUGE;
    int n = embi_ccd_pairs(path->edge_edge, &pair);
    for (int k = 0; k < n; k++) {
        int i = pair[2 * k], j = pair[2 * k + 1];
        gap = embi_min(gap, (c->h[i] - c->h[j]) + t * (c->dh[i] - c->dh[j]));
    }
    return gap;
}

/* the projections of positions and motions on n */
static void embi_ccd_project(const embi_ccd_path *path, const embipc_real n[3], embi_ccd_normal *c)
{
    for (int k = 0; k < 4; k++) {
        c->h[k] = embi_dot(n, path->x + 3 * k);
        c->dh[k] = embi_dot(n, path->v + 3 * k);
    }
    c->separates = embi_ccd_gap(path, c, c->t) > path->xi;
}

/* The direction of the closest points at time t. On the border of a face region it may be too inaccurate for
 * a tiny gap: the normal of the whole face, or of both edges, is then tried as well. */
static void embi_ccd_look(const embi_ccd_path *path, embipc_real t, embi_ccd_normal *c)
{
    embipc_real y[12], w[4], n[3], d;
    embi_point p[4];
    int mask;
    for (int k = 0; k < 12; k++) y[k] = path->x[k] + t * path->v[k];
    embi_points_of(p, y);
    if (t == 0 && path->closest) {
        memcpy(w, path->closest->w, sizeof w);
        mask = path->closest->mask;
        d = path->closest->d;
    } else d = embi_closest_distance(p, path->edge_edge, w, &mask);
    c->t = t;
    c->gap = d - path->xi;
    (void)embi_normal(p, w, mask, path->edge_edge, n);
    embi_ccd_project(path, n, c);
    c->rate = 0;
    for (int k = 0; k < 4; k++) c->rate += w[k] * c->dh[k];
    if (c->separates || mask == 15 || embi_interior_normal(p, w, path->edge_edge, n) < 0) return;
    embi_ccd_project(path, n, c);
}

/* How long the direction of c separates on from c->t, less the fraction `leave` of each g_ij - xi. */
static embipc_real embi_ccd_advance(const embi_ccd_path *path, const embi_ccd_normal *c, embipc_real leave)
{
    const int *pair;
    embipc_real step = EMBI_HUGE;
    int n = embi_ccd_pairs(path->edge_edge, &pair);
    for (int k = 0; k < n; k++) {
        int i = pair[2 * k], j = pair[2 * k + 1];
        embipc_real rate = c->dh[i] - c->dh[j], g = (c->h[i] - c->h[j]) + c->t * rate - path->xi;
        if (rate < 0) step = embi_min(step, (1 - leave) * g / -rate);
    }
    return step;
}

/* Is [a->t, b->t] free, by the direction that turns from that of a to that of b? Both separate at
 * their times. */
static int embi_ccd_free_between(const embi_ccd_path *path, const embi_ccd_normal *a,
                                 const embi_ccd_normal *b)
{
    const int *pair;
    int n = embi_ccd_pairs(path->edge_edge, &pair);
    for (int k = 0; k < n; k++) {
        int i = pair[2 * k], j = pair[2 * k + 1];
        embipc_real g = (a->h[i] - a->h[j]) + b->t * (a->dh[i] - a->dh[j]);
        g += (b->h[i] - b->h[j]) + a->t * (b->dh[i] - b->dh[j]);
        if (!(g > 2 * path->xi)) return 0;
    }
    return 1;
}

/* Is the path free from the time of `now` on, by one look at its end? */
static int embi_ccd_free_to(const embi_ccd_path *path, const embi_ccd_normal *now, embipc_real t_max)
{
    embi_ccd_normal end;
    embi_ccd_look(path, t_max, &end);
    return end.separates && embi_ccd_free_between(path, now, &end);
}

/* The loop. A step to where the gap, at its present rate, would be all but closed is taken if the turning
 * direction proves it free; if not, a shorter one, down to the step that the fixed direction is good for.
 * Each time `now.t` is one up to which the path is proved free. */
static int embi_ccd_search(const embi_ccd_path *path, embipc_real t_max, embipc_real *toi)
{
    embi_ccd_normal now, next;
    embipc_real gap0, keep = -1, reach = t_max;
    *toi = 0;
    embi_ccd_look(path, 0, &now);
    gap0 = now.gap;
    if (!now.separates || !(gap0 > 0)) return 1;
    for (int work = 1; work < EMBI_CCD_WORK; work++) {
        embipc_real leave = keep < 0 ? EMBI_CCD_LEAVE : EMBI_CCD_CLOSE;
        embipc_real step = embi_ccd_advance(path, &now, leave), rest = t_max - now.t, jump;
        if (embi_ccd_gap(path, &now, t_max) > path->xi) {
            *toi = t_max;
            return 0;
        }
        if (now.gap <= EMBI_CCD_MEET * gap0 || !(now.t + step > now.t && step < rest)) break;
        jump = embi_min(reach, rest);
        if (now.rate < 0) jump = embi_min(jump, (1 - leave) * now.gap / -now.rate);
        if (jump > 1.1 * step) {
            embi_ccd_look(path, jump < rest ? now.t + jump : t_max, &next);
            if (!next.separates || !embi_ccd_free_between(path, &now, &next) ||
                (keep < 0 && next.t < t_max && next.gap < EMBI_CCD_DEEP * gap0)) {
                reach = jump / 4;
                continue;
            }
            reach *= 4;
        } else {
            embi_ccd_look(path, now.t + step, &next);
            if (!next.separates) break;
            reach = embi_max(reach, 16 * step);
        }
        now = next;
        if (keep < 0 && now.gap <= EMBI_CCD_KEEP * gap0) keep = now.t;
    }
    if (embi_ccd_free_to(path, &now, t_max)) {
        *toi = t_max;
        return 0;
    }
    *toi = keep < 0 ? now.t : keep;
    return 1;
}

/* The work of embi_ccd() once position and motion relative to vertex 0 are known. */
static int embi_ccd_relative(embi_ccd_path *path, embipc_real min_separation, embipc_real t_max,
                             embipc_real *toi)
{
    embipc_real size = 0;
    *toi = 0;
    for (int k = 0; k < 12; k += 3) {
        const embipc_real *x = path->x + k, *v = path->v + k;
        embipc_real s = embi_abs(x[0]) + embi_abs(x[1]) + embi_abs(x[2]);
        embipc_real m = embi_abs(v[0]) + embi_abs(v[1]) + embi_abs(v[2]);
        size = embi_max(size, s + m);
    }
    path->xi = embi_max(min_separation, 0) * (1 + 4 * EMBI_EPS) + 16 * EMBI_EPS * size + DBL_MIN;
    if (!embi_all_finite(path->x, 12) || !embi_all_finite(path->v, 12) || !embi_finite(min_separation) ||
        !(size < 1e300)) return 1;
    return embi_ccd_search(path, t_max, toi);
}

/* Contact of x0 + t p within [0, t_max], t_max <= 1. closest: of the start, may be NULL. Returns 0 and
 * *toi = t_max when there is none, else 1 and a time before it, as embipc_ccd_point_triangle() does. */
static int embi_ccd(const embipc_real x0[12], const embipc_real p[12], int edge_edge,
                    const embi_closest *closest, embipc_real min_separation, embipc_real t_max,
                    embipc_real *toi)
{
    embi_ccd_path path;
    path.closest = closest;
    path.edge_edge = edge_edge;
    for (int k = 0; k < 12; k++) {
        path.x[k] = x0[k] - x0[k % 3];
        path.v[k] = p[k] - p[k % 3];
    }
    return embi_ccd_relative(&path, min_separation, t_max, toi);
}

/* The same between two positions: differences first, so that a motion in common cancels exactly. */
static int embi_ccd_between(const embipc_real x0[12], const embipc_real x1[12], int edge_edge,
                            embipc_real min_separation, embipc_real *toi)
{
    embi_ccd_path path;
    path.closest = NULL;
    path.edge_edge = edge_edge;
    for (int k = 0; k < 12; k++) {
        path.x[k] = x0[k] - x0[k % 3];
        path.v[k] = (x1[k] - x1[k % 3]) - path.x[k];
    }
    return embi_ccd_relative(&path, min_separation, 1, toi);
}

EMBIPC_API int embipc_ccd_point_triangle(const embipc_real x0[12], const embipc_real x1[12],
                                         embipc_real min_separation, embipc_real *toi)
{
    return embi_ccd_between(x0, x1, 0, min_separation, toi);
}

EMBIPC_API int embipc_ccd_edge_edge(const embipc_real x0[12], const embipc_real x1[12],
                                    embipc_real min_separation, embipc_real *toi)
{
    return embi_ccd_between(x0, x1, 1, min_separation, toi);
}

/* ==== 21. Contact ====================================================================================
 * From candidates to forces. The closest points of a pair are fixed combinations of its four vertices:
 *   d = |sum_k w_k x_k|,   dd/dx_k = w_k n          (the weights are optimal: their change does not count)
 * and with x = J q the gradient by node i is c_i n with one scalar c_i = sum_k w_k J_ki: a contact is a list
 * of at most 16 (node, c_i), one direction n, and a few numbers.
 *   energy kappa m b(d - xi),   gradient c_i kappa m b' n,   Hessian c_i c_j kappa m b'' n n^T
 * m is the edge-edge mollifier; its own gradient enters the gradient, not the Hessian. The term b' d2d/dx2,
 * never positive semi-definite as a whole, is left out: measured, projecting it changed no iteration count
 * that matters and cost 1.2 to 5 times the time. Where a step crawls it is what is missing: section 23 then asks
 * for b'' n n^T + b' d2d/dx2 without negative eigenvalues.
 * The sum runs over all pairs, each with its own closest feature [EIPC24 eq. 7]. Pairs of one candidate set
 * that come down to the same two features (point-point, point-edge) are merged into one with a multiplicity.
 * Friction contacts are the same lists, frozen at the start of the step with weight mu lambda.
 * Uses: small math, memory, sorting, systems, distances, barrier, friction, broad phase.
 *                                                           Checked by: tests/test_contact.c   */

/* Closest points of one candidate at the present positions. */
typedef struct embi_contact {
    int v[4], mask, edge_edge;
    int pair;                    /* pair of bodies it belongs to */
    int multiplicity;
    int extra;                   /* mollified: where the mollifier's gradient stands, else -1 */
    embipc_real w[4], n[3];
    embipc_real gap, dhat;       /* d - xi, and where the force begins, m */
    embipc_real energy;          /* kappa m b, with multiplicity, J */
    embipc_real first, second;   /* kappa m b' (N, <= 0) and kappa m b'' (N/m) */
} embi_contact;

typedef struct embi_friction {
    int v[4], pair;
    embipc_real w[4], n[3];
    embipc_real weight;          /* mu lambda, N */
    embipc_real e;               /* epsv h, m */
    embipc_real expected;        /* |u| of the same contact in the last step, m */
    embipc_real held;            /* its stiffness when the system was last factored, N/m */
    int turns;                   /* taken as sticking in the next direction: see embi_island_turning() */
    embipc_real u[3];            /* tangential displacement at the positions last looked at, m */
    embipc_real S[9];            /* stiffness at the present direction, N/m */
    embi_u64 key;                /* finds it again in the next step */
} embi_friction;

/* A growing set of contacts with the mollifier gradients of the few that need one. */
typedef struct embi_contacts {
    embi_contact *list;
    embipc_real *extra;          /* (12 each) */
    int count, extra_count;
    int pairs, changed;          /* active candidates, before merging; those whose stiffness left that of
                                    the last factored matrix by more than a factor of two */
    int list_cap, extra_cap;
    embipc_real energy, force;   /* sums of energy, J, and |first|, N */
    embipc_real min_gap;         /* m; negative or 0: something touches */
} embi_contacts;

static void embi_contacts_free(embi_memory *m, embi_contacts *s)
{
    EMBI_RELEASE(m, s->list, s->list_cap);
    EMBI_RELEASE(m, s->extra, s->extra_cap);
}

static void embi_contacts_clear(embi_contacts *s)
{
    s->count = s->extra_count = s->pairs = s->changed = 0;
    s->energy = s->force = 0;
    s->min_gap = (embipc_real)INFINITY;
}

/* The active candidate c with closest points at positions x becomes contact number `to`. extra: the place for its
 * mollifier's gradient, should it have one. */
static void embi_contact_make(embi_contacts *s, int to, int extra, const embi_candidate *c,
                              const embi_closest *closest, const embipc_real *x, embipc_real kappa, int pair)
{
    embipc_real b, first, second, mollifier = 1, slope = 0, grad[12];
    embi_point p[4];
    embi_contact *k = s->list + to;
    memcpy(k->v, c->v, sizeof k->v);
    memcpy(k->w, closest->w, sizeof k->w);
    k->mask = closest->mask;
    k->edge_edge = c->edge_edge;
    k->pair = pair;
    k->multiplicity = 1;
    k->extra = -1;
    k->gap = closest->d - c->xi;
    k->dhat = c->dhat;
    embi_points_at(p, x, c->v);
    (void)embi_normal(p, k->w, k->mask, c->edge_edge, k->n);
    b = embipc_barrier(k->gap, c->dhat, &first, &second);
    if (c->edge_edge) {
        embipc_real cross = embi_edge_cross(p, NULL);
        if (cross < c->mollify) {
            mollifier = embi_mollifier(cross, c->mollify, &slope);
            k->extra = extra;
            (void)embi_edge_cross(p, grad);
            for (int i = 0; i < 12; i++) s->extra[12 * k->extra + i] = kappa * b * slope * grad[i];
        }
    }
    k->energy = kappa * mollifier * b;
    k->first = kappa * mollifier * first;
    k->second = kappa * mollifier * second;
}

/* The feature that a point-point or point-edge contact stands on, the same for every pair that leads to it;
 * 0 for contacts that are never merged. Numbers are local to the two bodies (base_a, base_b: first
 * vertices). */
static embi_u64 embi_contact_feature(const embi_contact *k, int base_a, int base_b, int split_vertex)
{
    embi_u64 key = 1469598103934665603ull;
    int lone[4], many[4], lone_count = 0, many_count = 0, split = k->edge_edge ? 2 : 1, on_side[2] = {0, 0};
    for (int i = 0; i < 4; i++) on_side[i >= split] += k->mask >> i & 1;
    if (on_side[0] + on_side[1] > 3 || k->extra >= 0) return 0;
    for (int i = 0; i < 4; i++) {   /* a point-edge contact: the point first, then the ends of the edge */
        if (!(k->mask >> i & 1)) continue;
        if (on_side[i >= split] == 1) lone[lone_count++] = k->v[i];
        else many[many_count++] = k->v[i];
    }
    if (lone_count == 2) memcpy(many, lone, sizeof many);   /* point-point: a pair of equals too */
    if (lone_count == 2) lone_count = 0;
    lone[lone_count] = embi_min_int(many[0], many[1]);
    lone[lone_count + 1] = embi_max_int(many[0], many[1]);
    for (int i = 0; i < lone_count + 2; i++) {
        int v = lone[i], local = v >= split_vertex ? 2 * (v - base_b) + 1 : 2 * (v - base_a);
        key = (key ^ (embi_u64)(unsigned)local) * 1099511628211ull;
        key ^= key >> 29;
    }
    return key | 1;
}

/* Merges the contacts from `begin` on (those of one pair of bodies) that stand on the same feature with the
 * same dhat: their terms add up at the common distance. keys (2 per contact): scratch. The result does not
 * depend on what other bodies are there. */
static void embi_contacts_merge(embi_contacts *s, int begin, int base_a, int base_b, int split_vertex,
                                embi_key *keys)
{
    int n = 0, write = begin;
    for (int i = begin; i < s->count; i++) {
        embi_u64 feature = embi_contact_feature(s->list + i, base_a, base_b, split_vertex);
        if (!feature) continue;
        keys[n].key = feature;
        keys[n++].value = i;
    }
    if (n > 1) embi_sort_keys(keys, keys + n, n);
    for (int i = 1; i < n; i++)   /* distances of one feature may be rounded in several ways */
        for (int j = i - 1; j >= 0 && keys[j].key == keys[i].key; j--) {
            embi_contact *to = s->list + keys[j].value, *from = s->list + keys[i].value;
            if (!to->multiplicity || to->dhat != from->dhat || to->gap != from->gap) continue;
            from->multiplicity += to->multiplicity;
            from->energy += to->energy;
            from->first += to->first;
            from->second += to->second;
            to->multiplicity = 0;
            break;
        }
    for (int i = begin; i < s->count; i++)
        if (s->list[i].multiplicity) s->list[write++] = s->list[i];
    s->count = write;
    for (int i = begin; i < s->count; i++) {
        s->energy += s->list[i].energy;
        s->force += -s->list[i].first;
        s->min_gap = embi_min(s->min_gap, s->list[i].gap);
    }
}

/* Nodes and coefficients c_i = sum_k w_k J_ki of a contact, each node once; at most 16, returns how many. */
static int embi_contact_nodes(const embi_rows *J, const int v[4], const embipc_real w[4], int node[16],
                              embipc_real coef[16])
{
    int n = 0;
    for (int k = 0; k < 4; k++) {
        int vertex_begin = n;
        if (w[k] == 0) continue;
        for (int r = 0; r < J->count[v[k]]; r++) {
            int i = J->node[4 * v[k] + r], at = 0;
            while (at < vertex_begin && node[at] != i) at++;
            if (at == vertex_begin) {
                at = n++;
                node[at] = i;
                coef[at] = 0;
            }
            coef[at] += w[k] * J->weight[4 * v[k] + r];
        }
    }
    return n;
}

/* sum_k w_k y_k over the vertices of a contact: relative motion of its closest points under the motion y */
static void embi_contact_motion(const int v[4], const embipc_real w[4], const embipc_real *y,
                                embipc_real r[3])
{
    embipc_real r0 = 0, r1 = 0, r2 = 0;
    for (int k = 0; k < 4; k++) {
        const embipc_real *at = y + 3 * v[k];
        if (w[k] == 0) continue;
        r0 += w[k] * at[0];
        r1 += w[k] * at[1];
        r2 += w[k] * at[2];
    }
    embi_set(r, r0, r1, r2);
}

/* Tangential displacement u of a friction contact between the positions x0 and x: there is no motion along n
 * in it. A surface velocity of its own (a conveyor) would be subtracted here. */
static void embi_friction_motion(const embi_friction *f, const embipc_real *x0, const embipc_real *x,
                                 embipc_real u[3])
{
    embipc_real u0 = 0, u1 = 0, u2 = 0;
    for (int k = 0; k < 4; k++) {
        const embipc_real *now = x + 3 * f->v[k], *start = x0 + 3 * f->v[k], w = f->w[k];
        if (w == 0) continue;
        u0 += w * (now[0] - start[0]);
        u1 += w * (now[1] - start[1]);
        u2 += w * (now[2] - start[2]);
    }
    embi_set(u, u0, u1, u2);
    embi_axpy(u, -embi_dot(u, f->n), f->n);
}

/* u of friction contacts at the positions x, of which all that follows tells energies and forces */
static void embi_friction_move(embi_friction *list, int n, const embipc_real *x0, const embipc_real *x)
{
    for (int k = 0; k < n; k++) embi_friction_motion(list + k, x0, x, list[k].u);
}

/* sum D_k, J; and in *force the sum of |dD/du|, N */
static embipc_real embi_friction_energy(const embi_friction *list, int n, embipc_real *force)
{
    embipc_real sum = 0, across;
    *force = 0;
    for (int k = 0; k < n; k++) {
        embipc_real y = embi_norm(list[k].u);
        sum += list[k].weight * embipc_friction(y, list[k].e, &across, NULL);
        *force += list[k].weight * across * y;
    }
    return sum;
}

/* What a step knows of a vertex: nothing; where it was at the start, since something near was searched for; and how it
 * goes, as one of a candidate. A listed one is on the list that somebody makes; a still one is a candidate's, too, but
 * of a body that stays where it is in this step, whom several islands touch. */
enum { EMBI_VERTEX_UNKNOWN, EMBI_VERTEX_STARTED, EMBI_VERTEX_LIVE, EMBI_VERTEX_LISTED, EMBI_VERTEX_STILL };

/* Forces at the closest points of contacts are gathered by vertex, and from there by node, g += J^T f: a vertex that
 * many contacts share is looked up once. */
typedef struct embi_pull {
    embipc_real *f;              /* (3 per vertex), N; 0 but in between */
    const unsigned char *known;  /* EMBI_VERTEX_...; still ones get nothing */
} embi_pull;

static void embi_gather(const embi_pull *to, int v, embipc_real w, const embipc_real r[3])
{
    if (to->known[v] != EMBI_VERTEX_STILL) embi_axpy(to->f + 3 * v, w, r);
}

static void embi_gather_point(const int v[4], const embipc_real w[4], const embipc_real r[3], const embi_pull *to)
{
    for (int k = 0; k < 4; k++)
        if (w[k] != 0) embi_gather(to, v[k], w[k], r);
}

/* g += scale J^T f, f = 0, for the vertices of a list */
static void embi_scatter(const embi_rows *J, const int *list, int count, embipc_real scale, const embi_pull *from,
                         embipc_real *g)
{
    for (int k = 0; k < count; k++) {
        embipc_real *r = from->f + 3 * list[k];
        const int *node = J->node + 4 * list[k];
        const embipc_real *weight = J->weight + 4 * list[k];
        for (int i = 0; i < J->count[list[k]]; i++) embi_axpy(g + 3 * node[i], scale * weight[i], r);
        embi_set(r, 0, 0, 0);
    }
}

/* to += gradient of all contacts and friction contacts by vertex */
static void embi_contacts_gradient(const embi_contacts *s, const embi_friction *friction, int friction_count,
                                   const embi_pull *to)
{
    for (int k = 0; k < s->count; k++) {
        const embi_contact *c = s->list + k;
        embipc_real r[3];
        embi_scale(r, c->first, c->n);
        embi_gather_point(c->v, c->w, r, to);
        for (int i = 0; c->extra >= 0 && i < 4; i++) embi_gather(to, c->v[i], 1, s->extra + 12 * c->extra + 3 * i);
    }
    for (int k = 0; k < friction_count; k++) {
        embipc_real r[3] = {0, 0, 0};
        embi_friction_derivatives(friction[k].u, friction[k].n, friction[k].e, 0, friction[k].weight, r, NULL);
        embi_gather_point(friction[k].v, friction[k].w, r, to);
    }
}

/* Slope of the energy of contacts and friction along the motion y of the vertices, for the line search */
static embipc_real embi_contacts_slope(const embi_contacts *s, const embi_friction *friction,
                                       int friction_count, const embipc_real *y)
{
    embipc_real sum = 0, r[3];
    for (int k = 0; k < s->count; k++) {
        const embi_contact *c = s->list + k;
        embi_contact_motion(c->v, c->w, y, r);
        sum += c->first * embi_dot(c->n, r);
        for (int i = 0; c->extra >= 0 && i < 4; i++)
            sum += embi_dot(s->extra + 12 * c->extra + 3 * i, y + 3 * c->v[i]);
    }
    for (int k = 0; k < friction_count; k++) {
        const embi_friction *f = friction + k;
        embipc_real across;
        embi_contact_motion(f->v, f->w, y, r);
        (void)embipc_friction(embi_norm(f->u), f->e, &across, NULL);
        sum += f->weight * across * embi_dot(f->u, r);
    }
    return sum;
}

/* The Hessian of a contact with the curvature that S leaves out, kappa m (b'' dd dd^T + b' d2d), without its
 * negative part: sum_e z_e z_e^T over as many vectors as are returned. By the formula of section 16 it is E M E^T
 * with the orthonormal columns a_i x n of E (a_i: w and the dw_k made orthogonal) and a_0 x t_k (t_k: the r^k made
 * orthogonal), and across all of them b' (w w^T x Q)/d, which b' <= 0 makes negative. So the 1, 3 or 5 rows of M are
 * all that has to be looked at. */
#define EMBI_BENT 5
static int embi_contact_curvature(const embi_contact *c, const embipc_real *x, embipc_real z[EMBI_BENT][12])
{
    embipc_real r[3], d, rk[2][3], up[2][3], dw[2][4], Ri[2][2], a[3][4], t[2][3], f, M[EMBI_BENT * EMBI_BENT],
        V[EMBI_BENT * EMBI_BENT];
    embi_point p[4];
    int m, n, count = 0;
    embi_points_at(p, x, c->v);
    m = embi_min_int(embi_closest_parameters(p, c->w, c->mask, c->edge_edge, rk, dw), 2);   /* which it is at most */
    n = 1 + 2 * m;
    embi_separation(p, c->w, r);
    d = embi_dot(c->n, r);
    embi_dual_vectors(m, rk, c->n, up, Ri);
    for (int i = 0; i <= m; i++) {
        memcpy(a[i], i ? dw[i - 1] : c->w, sizeof a[i]);
        for (int k = 0; k < i; k++) embi_row_subtract(4, embi_row_dot(4, a[k], a[i]), a[k], a[i]);
        f = 1 / sqrt(embi_row_dot(4, a[i], a[i]));
        for (int k = 0; k < 4; k++) a[i][k] *= f;
    }
    if (m > 0) (void)embi_direction(t[0], up[0]);
    if (m > 1) embi_cross(t[1], c->n, t[0]);
    memset(M, 0, sizeof M);
    M[0] = c->second * embi_row_dot(4, c->w, c->w);
    for (int i = 0; i <= m; i++)
        for (int k = 0; k < m; k++) {
            f = -c->first * embi_row_dot(4, a[i], dw[k]);
            for (int j = 0; j <= m; j++)
                for (int l = 0; l < m; l++) M[n * i + j] += f * d * Ri[k][l] * embi_row_dot(4, a[j], dw[l]);
            for (int j = 0; j < m; j++)
                M[n * i + 1 + m + j] += f * embi_row_dot(4, a[0], c->w) * embi_dot(up[k], t[j]);
        }
    for (int i = 0; i <= m; i++)
        for (int j = m + 1; j < n; j++) M[n * j + i] = M[n * i + j];
    embi_eigen_symmetric(n, M, V);
    for (int e = 0; e < n; e++) {
        if (!(M[(n + 1) * e] > 0)) continue;
        for (int k = 0; k < 4; k++) {
            embi_set(z[count] + 3 * k, 0, 0, 0);
            for (int i = 0; i <= m; i++) embi_axpy(z[count] + 3 * k, a[i][k] * V[n * i + e], c->n);
            for (int i = 0; i < m; i++) embi_axpy(z[count] + 3 * k, a[0][k] * V[n * (1 + m + i) + e], t[i]);
            embi_scale(z[count] + 3 * k, sqrt(M[(n + 1) * e]), z[count] + 3 * k);
        }
        count++;
    }
    return count;
}

/* what of J^T z_e, e < count, is at a node */
static void embi_curvature_at(const embi_rows *J, const embi_contact *c, int node, int count, embipc_real z[EMBI_BENT][12],
                              embipc_real *to)
{
    memset(to, 0, (size_t)(3 * count) * sizeof *to);
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < J->count[c->v[k]] && c->w[k] != 0; l++)
            for (int e = 0; e < count && J->node[4 * c->v[k] + l] == node; e++)
                embi_axpy(to + 3 * e, J->weight[4 * c->v[k] + l], z[e] + 3 * k);
}

/* Adds scale sum_e z_e z_e^T to the system, local as below. Returns 0 when a block does not fit its pattern. */
static int embi_contact_stamp_curvature(embi_system *system, const embi_rows *J, const int *local,
                                        const embi_contact *c, embipc_real scale, int count,
                                        embipc_real z[EMBI_BENT][12])
{
    int node[EMBI_STAMP], n, kept = 0;
    embipc_real coef[EMBI_STAMP], column[3 * EMBI_BENT * EMBI_STAMP];
    n = embi_contact_nodes(J, c->v, c->w, node, coef);
    for (int i = 0; i < n; i++) {
        if (local[node[i]] < 0) continue;
        embi_curvature_at(J, c, node[i], count, z, column + 3 * count * kept);
        node[kept++] = local[node[i]];
    }
    return embi_system_stamp_columns(system, kept, node, count, column, scale);
}

/* Stiffness of the closest points of a contact, S = kappa m b'' n n^T */
static void embi_contact_stiffness(const embi_contact *c, embipc_real S[9])
{
    for (int i = 0; i < 9; i++) S[i] = c->second * c->n[i / 3] * c->n[i % 3];
}

/* Stiffness of a friction contact; `first`: the step's first iteration, where the last step's |u| helps. One that turns
 * has the secant from 0 to the end of its zone, weight/e. */
static void embi_friction_stiffness(const embi_friction *f, int first, embipc_real S[9])
{
    static const embipc_real none[3] = {0, 0, 0};
    embipc_real r[3] = {0, 0, 0};
    memset(S, 0, 9 * sizeof *S);
    if (f->turns) embi_friction_derivatives(none, f->n, f->e, f->e, f->weight, r, S);
    else embi_friction_derivatives(f->u, f->n, f->e, first ? f->expected : (embipc_real)0, f->weight, r, S);
}

/* Adds scale c_i c_j S to the system for the unknown nodes of a contact. local: node -> unknown, or -1 where
 * it is driven. Returns 0 when a block does not fit the pattern of the system. */
static int embi_contact_stamp(embi_system *system, const embi_rows *J, const int *local, const int v[4],
                              const embipc_real w[4], embipc_real scale, const embipc_real S[9])
{
    int node[EMBI_STAMP], n, kept = 0;
    embipc_real coef[EMBI_STAMP];
    n = embi_contact_nodes(J, v, w, node, coef);
    for (int i = 0; i < n; i++) {
        if (local[node[i]] < 0) continue;
        node[kept] = local[node[i]];
        coef[kept++] = coef[i];
    }
    return embi_system_stamp(system, kept, node, coef, scale, S);
}

/* Says beforehand which nodes a contact will stamp. */
static void embi_contact_touch(embi_system *system, const embi_rows *J, const int *local, const int v[4],
                               const embipc_real w[4])
{
    int node[EMBI_STAMP], n, kept = 0;
    embipc_real coef[EMBI_STAMP];
    n = embi_contact_nodes(J, v, w, node, coef);
    for (int i = 0; i < n; i++)
        if (local[node[i]] >= 0) node[kept++] = local[node[i]];
    embi_system_touch(system, kept, node);
}

/* to += w_k S (sum_k w_k y_k): what the motion y of the vertices asks of a contact */
static void embi_contact_push(const int v[4], const embipc_real w[4], const embipc_real S[9], const embipc_real *y,
                              const embi_pull *to)
{
    embipc_real r[3], t[3];
    embi_contact_motion(v, w, y, r);
    if (r[0] == 0 && r[1] == 0 && r[2] == 0) return;
    embi_m3_mulv(t, S, r);
    embi_gather_point(v, w, t, to);
}

/* the same where S = s n n^T */
static void embi_contact_push_along(const int v[4], const embipc_real w[4], const embipc_real n[3], embipc_real s,
                                    const embipc_real *y, const embi_pull *to)
{
    embipc_real r[3], along;
    embi_contact_motion(v, w, y, r);
    along = embi_dot(n, r);
    if (along == 0) return;
    embi_scale(r, s * along, n);
    embi_gather_point(v, w, r, to);
}

/* Appends the pairs of unknown nodes that a candidate would couple. Returns 0 out of memory. */
static int embi_candidate_couple(embi_memory *m, const embi_rows *J, const int *local, const int v[4],
                                 embi_key **pairs, int *count, int *cap)
{
    static const embipc_real all[4] = {1, 1, 1, 1};
    int node[16], n, added = 0, same;
    embipc_real coef[16];
    embi_key *to;
    n = embi_contact_nodes(J, v, all, node, coef);
    if (!EMBI_GROW(m, embi_key, *pairs, *cap, *count + 16 * 17 / 2)) return 0;
    to = *pairs + *count;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            int a = local[node[i]], b = local[node[j]];
            if (a >= 0 && b >= 0) to[added++].key = embi_pack(embi_max_int(a, b), embi_min_int(a, b));
        }
    same = added <= *count;   /* often they are those of the candidate before */
    for (int k = 0; k < added && same; k++) same = to[k].key == to[k - added].key;
    if (!same) *count += added;
    return 1;
}

/* Largest relative displacement between any two points of the primitives of a pair, p their vertices'
 * motions */
static embipc_real embi_relative_travel(const embipc_real p[12], int edge_edge)
{
    embipc_real most = 0, r[3];
    int split = edge_edge ? 2 : 1;
    for (int i = 0; i < split; i++)
        for (int j = split; j < 4; j++) {
            embi_sub(r, p + 3 * i, p + 3 * j);
            most = embi_max(most, embi_dot(r, r));
        }
    return sqrt(most);
}

/* ==== 22. State ======================================================================================
 * What a step works on: flat arrays over the nodes q and the surface vertices x = J q of all bodies, the
 * bodies that own ranges of them, the pairs of bodies that are near, and the drives. The step is written
 * once for all one-step and multistep rules as
 *   E(q) = 1/(2s) |q - qt|_M^2 + h^2 [Psi + kappa sum b + sum D - f.q + 1/(2c) |q - qc|_C^2],  v = (q - qc)/c
 *   backward Euler: qc = q^n,                  c = h,     qt = qc + c v^n,                  s = 1
 *   BDF2:           qc = q^n + (q^n - q^n-1)/3, c = 2h/3, qt = qc + c (v^n + (v^n - v^n-1)/3), s = 4/9
 * [EIPC24 eqs. 5, 10, 11; Hairer, Norsett, Wanner, Solving ODEs I, III.1] with C = alpha M + beta K (Rayleigh
 * damping). Rotations that a material holds for the step are those of q^n, for BDF2 of qt: with those of q^n it
 * would turn the forces by h w, and a spin of 10/s at h = 0.01 s would lose half of itself in half a turn. D,
 * friction, takes the motion q - q^n of the step itself, so that its work is never positive. A = (1/s + h^2
 * alpha/c) M + h^2 (1 + beta/c) K is constant within a step. A nonlinear material's K is not, and is no part of
 * A but for the damping, which keeps that of q^n: its energy, gradient and projected Hessian (the tangent) are
 * those of each iterate. Uses: memory, sparse matrices, embedding, elasticity, contact.
 *                                                           Checked by: tests/test_world*.c, test_integrator.c */

/* The vertices in a tet are where each weight is at least least[k]: in the tet shrunk by rest = 1 - sum least. */
typedef struct embi_shrunk {
    int tet;
    embipc_real least[4], rest;
} embi_shrunk;

/* How a body moved from one state to another. x_a - x_b = turn (d + w_a - w_b) for two of its points, with d what it
 * was and w what is left of their displacements in the turned frame. */
typedef struct embi_shift {
    embipc_real box[6];          /* displacements of the surface, lo and hi, m, ... */
    embipc_real *part;           /* ... and of each panel (6 panel_count) */
    embipc_real turn[9];         /* the rotation, as the nodes tell it; 1 for bodies that may not touch themselves */
    embipc_real warp[3];         /* extent of the box of all nodes' w, m; of a way, all along it, and ... */
    embipc_real end[3];          /* ... at its end */
} embi_shift;

/* How much a tet is strained: |turn^T F - F_0|, with F_0 of ... */
typedef struct embi_strain {
    embipc_real now, next;       /* ... the step's start: before, and at most, all along the present direction ... */
    embipc_real end;             /* ... and at its end */
    embipc_real kept, most;      /* ... the kept list's making: before this step; and up to which it is complete */
} embi_strain;

/* A part of a surface that lies together, below one node of its tree. Bodies are searched for each other panel by
 * panel: where one stands on the ground its candidates are good for many steps, whatever goes on elsewhere. */
typedef struct embi_panel {
    int root;                    /* node of the tree */
    int first, count;            /* what holds it: its own of the shrunk tets, or of the holders; none: all nodes */
    embipc_real block[16];       /* body of one tet: weights of the middle and the sides of its box at rest */
    embipc_real start_box[6];    /* holds x^n */
    embipc_real hull[6];         /* box of all displacements visited and about to be visited */
    embipc_real region[6];       /* it stays in here, or new neighbours are looked for */
} embi_panel;

/* What statistics ask of a body, J; before, after, size: its part of the objective, J s^2. */
typedef struct embi_sums { embipc_real before, after, size, kinetic, potential, elastic; } embi_sums;

typedef struct embi_body {
    char name[64];
    embipc_body handle;
    embipc_kind kind;
    embipc_material material;
    embipc_real friction, thickness;
    embipc_real given_dhat, given_kappa, given_epsv, given_tolerance;   /* 0: not given */
    embipc_real dhat, kappa, epsv, tolerance;                           /* in force in this step */
    int self_contact;
    int node0, nn, vert0, nv;    /* ranges of the flat arrays */
    int nt, *tri, *origin, *tet, ntet;
    int tri_cap, origin_cap, tet_cap;
    embi_bvh bvh;
    int fits;                    /* the tree is that of x^n, or will be where asked */
    embi_moved moved;            /* x^n against start_x, where it will be where asked */
    embi_elastic elastic;
    embi_bsr A;
    embi_inverse *inverse;       /* of A, once embi_dual wanted it, or NULL */
    embipc_real *mass;           /* M_ij per block of A (times I), kg */
    embipc_real *node_mass;      /* its row sums, kg (nn) */
    int *heavy_row, *heavy;      /* the blocks with a mass, by row (nn + 1; ..): fewer than those with stiffness */
    embipc_real *tangent;        /* h^2 K of a nonlinear material in the pattern of A, of the last factor */
    int mass_cap, node_mass_cap, heavy_row_cap, heavy_cap, tangent_cap;
    int trace0, patch0;          /* its part of the scratch */
    embipc_real diagonal, total_mass;
    embipc_solid solid;          /* of the rest surface, in the frame of creation */
    embipc_real area;            /* of the rest surface, m^2 */
    int assembled;               /* A is that of this step */
    embi_panel *panel;
    int panel_count, panel_cap;
    embipc_real *part;           /* memory of the shifts */
    int part_cap;
    embi_shrunk *shrunk;         /* cage: where in its tets the surface is, panel by panel */
    int shrunk_count, shrunk_cap;
    int *holder;                 /* others, of several panels: the nodes that vertices hang on, as well */
    int holder_count, holder_cap;
    embi_folds folds;            /* what cannot touch itself while its tets keep their shape, and ... */
    int *start, start_count, start_cap;   /* ... the pairs of nodes that are left to search for itself (2 each) */
    int *live, live_count, live_cap;   /* local numbers of the vertices that candidates of this step have */
    int started, followed;       /* xn is J q^n, x is J q, of all its vertices */
    int viewed;                  /* its view was asked for: x follows in each step */
    int history;                 /* q_before and v_before belong to the motion that goes on: BDF2 may use them */
    embipc_real went;            /* in the last step, its farthest node, m */
    embipc_real missed[2];       /* and by how much embi_guess() of order 1 and 2 was off */
    int two_step;                /* this step is one of BDF2 */
    int jump;                    /* this step's velocity does not follow from the last one's */
    embipc_real c, inertia;      /* c and 1/s of the step form */
    int driven_nodes, moving;    /* moving: takes part in islands this step */
    embipc_real scale_x; /* largest |coordinate| now, m: what rounding errors of distances scale with */
    embi_shift shift;            /* since the start of the step, now */
    embi_shift shift_next;       /* at the end of the present direction */
    embi_shift stray;            /* since known_q, at the positions last evaluated */
    embi_shift stray_next;       /* and at the end of the present direction */
    embi_shift known;            /* from the start of the step to known_q */
    embi_strain *strain;         /* of each tet, where it has folds */
    int strain_cap;
    int known_start;             /* known_q is q^n: stray is shift */
    embipc_real foreseen;        /* how far the body probably goes in this step, m */
    embipc_real start_box[6];    /* holds x^n */
    embipc_real around;          /* between steps, where start_box is that of now: so far beyond it gaps count, m;
                                    0: not known */
    int island;
    embi_sums sums;              /* of the last step */
} embi_body;

/* Panels of two bodies near each other (a < b), or a body and itself (a == b) as a whole. */
typedef struct embi_pair {
    int a, b, pa, pb;            /* bodies; panels */
    int head;                    /* the first pair of these bodies; contacts are those of bodies, and it counts them */
    int late;                    /* it came in the course of the step, and is not next to the others of these bodies */
    embi_pair_rule rule;
    embipc_real range[6];        /* displacements of pa relative to pb since the start of the step for which the
                                    candidates are complete: where it was, is, and is about to go */
    int loose;                   /* within one body: or for all, while embi_body_stands() */
    int first, count;            /* candidates */
    int touching[2];             /* head, for BDF2: any contacts, at q^n and now, and their force on a, N */
    embipc_real push[2][3];
    embipc_real radius;          /* with a slack of at most this, all but those of the near list stay ... */
    embipc_real reach;           /* ... so far apart, 2 dhat, m */
    embipc_real slack;           /* of the last evaluation, m */
    int near_count;              /* < 0: no list yet */
    int row;                     /* head: of the report of forces, -1: none yet */
} embi_pair;

/* The candidates of two panels for more than one step: a search with room to spare, whose list is good for as long
 * as what a step asks for, and the drift since, stay within that room; for one body in its turning frame. What a
 * step makes of it is what a search of its own would give, to the last bit; but a pair within one body that could not
 * touch when the list was made is not on it, near or not. */
typedef struct embi_kept {
    int a, b, pa, pb, valid;     /* as of pairs */
    int start[2];                /* nodes of the trees that the search starts from, of two bodies */
    embipc_real range[6];        /* it is complete for these displacements of pa relative to pb since then */
    embipc_real drift[6];        /* those that happened in the steps since */
    embipc_real turn[9];         /* within one body: how it turned since the nodes were at kept_q */
    int loose;                   /* nothing was searched for: the range does not count */
    embipc_real reach, dhat, xi;
    embipc_real room;            /* of the range, beyond what was asked for */
    int made, asked;             /* when it was searched for; the last step that asked for it */
    embi_candidate *list;
    int count, cap;
} embi_kept;

typedef struct embi_drive {
    embipc_drive handle;
    int body;                    /* its place among the bodies */
    int soft;
    int node_count, *nodes, node_cap;          /* local node numbers; of a soft drive, surface vertices */
    embipc_real *start;          /* their positions at creation, m (3 node_count) */
    embipc_real *keys;
    int start_cap, key_count, key_cap;
    embipc_real centre[3];
    embipc_real stiffness[3], damping, limit;         /* of one vertex; limit INFINITY: none */
    embipc_real pose[6], pose_next[6], pose_set[6];   /* displacement, rotation: reached, aimed at, set */
    int is_set;
    int stages, stage, safe_stage;   /* the step's motion in equal parts; where it is; last rigid pose */
    embipc_real phi, safe_phi;   /* share of the present stage that is done */
    int rotating, done, blocked;
    embipc_body blocked_by;      /* as far as this step knows */
    embipc_real gap;
    embipc_drive_state reached;  /* what the last completed step said */
} embi_drive;

/* A soft drive at one vertex: its spring and damper in one, K (1 + beta/h) about a centre of their own. */
typedef struct embi_spring {
    int v;
    embipc_real centre[3], K[3], limit;
    embipc_real held;            /* the share of K that the factor holds */
} embi_spring;

/* How far a candidate was apart at least, with the nodes at known_q (-EMBI_HUGE: always near); by a slack of the pair it
 * comes nearer by share * slack at most. */
typedef struct embi_apart { embipc_real least, share; } embi_apart;

typedef struct embi_state {
    embipc_real h, hh;           /* hh = h^2 */
    embipc_real gravity[3];
    embipc_integrator integrator;
    int node_count, vert_count;
    /* per node (3 each) */
    embipc_real *q, *v;                        /* now */
    embipc_real *qn, *vn, *q_before, *v_before;   /* at the start of the step, and of the one before it */
    embipc_real *start_q, *start_v;            /* at creation */
    embipc_real *qt, *qc, *f;                  /* of the step form above; forces, N */
    embipc_real *gq, *g;                       /* gradient of E, J s^2/m: of the part whose Hessian is A; all of it */
    embipc_real *p, *p_last, *Ap, *rhs;        /* direction, and the last one; A p; right-hand side */
    embipc_real *target;                       /* of driven nodes, at the end of the present stage */
    embipc_real *trial_q;                      /* that is tried, or looked at as the end of a direction */
    embipc_real *safe_q;                       /* to fall back to: all that rotates was rigid there */
    embipc_real *known_q, *kept_q;             /* where distances, and where kept lists within a body are known */
    embipc_real *shift_d;                      /* scratch of embi_body_shift() */
    int *local, *drive;          /* unknown number in its island or -1; drive or -1 */
    /* per vertex; within a step x, next_x, trial_x and motion hold for live vertices, those of candidates, and xn
       for those known */
    embipc_real *x, *xn, *next_x, *trial_x, *motion, *rest, *start_x, *vertex_force,
        *pull;                   /* of embi_pull */
    unsigned char *known;        /* in this step: one of EMBI_VERTEX_... */
    int *row_node;
    embipc_real *row_weight;
    unsigned char *row_count;
    int node_cap, vert_cap, local_cap, drive_node_cap, row_node_cap, row_weight_cap, row_count_cap, known_cap;
    embi_rows J;
    embi_body *body;
    int body_count, body_cap;
    embi_pair *pair;
    int pair_count, pair_cap;
    embi_drive *drives;
    int drive_count, drive_cap;
    embi_candidate *candidate;
    embi_closest *closest;
    embi_apart *apart;           /* of the candidates, by itself, to be scanned */
    int *near, *seen;            /* near lists of the pairs, counted from their first candidates, and what of each
                                    chunk of them was evaluated last */
    int candidate_count, candidate_cap, closest_cap, apart_cap, near_cap, seen_cap;
    int stamp;                   /* evaluations so far */
    embipc_real *trace;          /* scratch: 10 per tet and 1 per node of all bodies */
    int *place, *next;           /* scratch of averaging, per node of all bodies */
    embipc_real *patch_G;        /* and of embi_elastic_add_averaged() */
    int trace_cap, place_cap, next_cap, patch_G_cap;
    embi_threads threads;
    int max_iterations, friction_iterations;
    embipc_solver solver;
    const volatile int *stop;
    embipc_clock_fn *clock;
    void *clock_ctx;
    unsigned revision;           /* counts what makes old factors void: bodies, drives, resets, failed steps */
    embipc_stage stage;          /* whose time runs */
    double since, spent[EMBIPC_STAGE_COUNT];
} embi_state;

/* From here on the clock runs for another stage; returns whose it was. */
static embipc_stage embi_stage(embi_state *s, embipc_stage stage)
{
    embipc_stage was = s->stage;
    s->stage = stage;
    if (s->clock) {
        double now = s->clock(s->clock_ctx);
        s->spent[was] += now - s->since;
        s->since = now;
    }
    return was;
}

static int embi_is_dynamic(const embi_body *b) { return b->kind >= EMBIPC_AFFINE; }

/* May it touch itself? An affine body's guard is its determinant bound. */
static int embi_may_fold(const embi_body *b) { return b->kind >= EMBIPC_CAGE && b->self_contact; }

/* scratch that the energies of a body need */
static int embi_body_trace(const embi_body *b) { return 10 * embi_whole_lanes(b->ntet) + b->nn; }

/* and embi_elastic_add_averaged() */
static int embi_body_patch(const embi_body *b)
{
    return b->elastic.averaged ? b->nn + 3 * b->elastic.near_row[b->nn] : 0;
}

/* the surface of a body at the positions x (of all vertices) */
static embi_surface embi_surface_of(const embi_state *s, const embi_body *b, const embipc_real *x)
{
    embi_surface r;
    r.x = x + 3 * b->vert0;
    r.rest = s->rest + 3 * b->vert0;
    r.tri = b->tri;
    r.nt = b->nt;
    r.base = b->vert0;
    r.bvh = &b->bvh;
    r.J = b->bvh.vary ? &s->J : NULL;
    r.start = NULL;
    r.start_count = 0;
    return r;
}

/* y = J q at vertex i; a fixed body's row is empty and y is left alone */
static void embi_apply_row(const embi_state *s, int i, const embipc_real *q, embipc_real *y)
{
    if (s->J.count[i]) embi_row_apply(&s->J, i, q, y + 3 * i);
}

/* y = J q for the vertices of one body */
static void embi_apply_rows(const embi_state *s, const embi_body *b, const embipc_real *q, embipc_real *y)
{
    for (int i = b->vert0; i < b->vert0 + b->nv; i++) embi_apply_row(s, i, q, y);
}

#define EMBI_SHARE_ROWS EMBI_SHARE(1024)   /* 12 us of x = J q: less than others, for it stands between loops */

typedef struct embi_rows_task {
    const embi_state *s;
    const int *list;
    int first;                   /* of the vertices the list counts from */
    const embipc_real *q;
    embipc_real *y;
} embi_rows_task;

static void embi_rows_range(void *arg, int begin, int end)
{
    const embi_rows_task *t = (const embi_rows_task *)arg;
    for (int i = begin; i < end; i++) embi_apply_row(t->s, t->first + t->list[i], t->q, t->y);
}

/* the same for vertices of a list, in parts that threads share */
static void embi_apply_list(const embi_state *s, const int *list, int count, int first, const embipc_real *q,
                            embipc_real *y)
{
    embi_rows_task t;
    t.s = s;
    t.list = list;
    t.first = first;
    t.q = q;
    t.y = y;
    embi_for(&s->threads, count, EMBI_SHARE_ROWS, embi_rows_range, &t);
}

/* the same for the live vertices of a body */
static void embi_apply_live(const embi_state *s, const embi_body *b, const embipc_real *q, embipc_real *y)
{
    embi_apply_list(s, b->live, b->live_count, b->vert0, q, y);
}

/* x = J q of all vertices of a body, for who reads them between steps. */
static void embi_body_follow(const embi_state *s, embi_body *b)
{
    if (!b->followed) embi_apply_rows(s, b, s->q, s->x);
    b->followed = 1;
}

/* and the tree of that */
static void embi_body_refit(const embi_state *s, embi_body *b)
{
    if (b->kind == EMBIPC_FIXED) return;   /* it was refit when made */
    embi_body_follow(s, b);
    embi_bvh_refit(&b->bvh, s->x + 3 * b->vert0, b->tri, b->nt);
}

/* Where threads share out the bodies: those of one that has many wait for embi_apply_live() behind that loop. */
static int embi_has_many_live(const embi_body *b) { return b->live_count > EMBI_SHARE_ROWS; }

static void embi_apply_few(const embi_state *s, const embi_body *b, const embipc_real *q, embipc_real *y)
{
    if (!embi_has_many_live(b)) embi_apply_live(s, b, q, y);
}

/* ---- bounds from the nodes ----
 * Weights are in [0, 1] and add up to 1, so that a box that holds the nodes of a tet holds the surface in it, and one
 * that holds their displacements holds those of its vertices: no vertex that touches nothing is looked at. In a body
 * of one tet, whose nodes are far out, displacements are affine: its box at rest serves as well. */

/* A surface is cut into so many panels: subtrees of so many leaves, but no more than these. What never moves is one. */
#ifndef EMBI_PANEL_LEAVES         /* a test makes these less */
#define EMBI_PANEL_LEAVES 128
#endif
#define EMBI_PANELS 64

/* Makes the panels, nothing of what holds them yet. Returns 0 out of memory. */
static int embi_body_cut(embi_memory *m, embi_body *b)
{
    int n = 1;
    embi_shift *shift[5];
    while (b->nn && n < EMBI_PANELS && b->bvh.leaves >= 2 * n * EMBI_PANEL_LEAVES) n *= 2;
    if (!EMBI_GROW(m, embi_panel, b->panel, b->panel_cap, n) || !EMBI_GROW(m, embipc_real, b->part, b->part_cap, 30 * n))
        return 0;
    memset(b->panel, 0, (size_t)n * sizeof *b->panel);
    memset(b->part, 0, (size_t)(30 * n) * sizeof *b->part);
    shift[0] = &b->shift;
    shift[1] = &b->shift_next;
    shift[2] = &b->stray;
    shift[3] = &b->stray_next;
    shift[4] = &b->known;
    for (int k = 0; k < 5; k++) shift[k]->part = b->part + 6 * n * k;
    b->panel_count = 0;
    for (int k = 0; k < n; k++)
        if (n == 1 || EMBI_LEAF * (b->bvh.leaves / n) * k < b->nt) b->panel[b->panel_count++].root = n + k;
    return 1;
}

/* The corners of all triangles of a panel. Returns how many. */
static int embi_panel_corners(const embi_body *b, const embi_panel *p, int *corner)
{
    int first = p->root, leaves = 1, count = 0;
    for (; first < b->bvh.leaves; first *= 2) leaves *= 2;
    first -= b->bvh.leaves;
    for (int n = EMBI_LEAF * first; n < EMBI_LEAF * (first + leaves) && n < b->nt; n++)
        for (int k = 0; k < 3; k++) corner[count++] = b->tri[3 * b->bvh.order[n] + k];
    return count;
}

/* Where in their tets (tet, by vertex) the vertices of a panel are. least (4 nt): scratch. Returns 0 out of memory. */
static int embi_panel_shrink(embi_memory *m, embi_body *b, embi_panel *p, const int *corner, int count, const int *tet,
                             const embipc_real *weight, embipc_real *least)
{
    for (int i = 0; i < 4 * b->ntet; i++) least[i] = 2;
    for (int n = 0; n < count; n++)
        for (int i = corner[n], k = 0; k < 4; k++)
            least[4 * tet[i] + k] = embi_min(least[4 * tet[i] + k], weight[4 * i + k]);
    p->first = b->shrunk_count;
    for (int t = 0; t < b->ntet; t++) {
        embi_shrunk *g;
        if (least[4 * t] > 1) continue;
        if (!EMBI_GROW(m, embi_shrunk, b->shrunk, b->shrunk_cap, b->shrunk_count + 1)) return 0;
        g = b->shrunk + b->shrunk_count++;
        g->tet = t;
        memcpy(g->least, least + 4 * t, sizeof g->least);
        g->rest = embi_max(1 - g->least[0] - g->least[1] - g->least[2] - g->least[3], 0);
    }
    p->count = b->shrunk_count - p->first;
    return 1;
}

/* The nodes that the vertices of a panel hang on, J having so many (count) of 4 for each. Returns 0 out of memory. */
static int embi_panel_holders(embi_memory *m, embi_body *b, embi_panel *p, const int *corner, int count, const int *node,
                              const unsigned char *used, unsigned char *mark)
{
    memset(mark, 0, (size_t)b->nn);
    p->first = b->holder_count;
    for (int n = 0; n < count; n++)
        for (int k = 0; k < used[corner[n]]; k++) {
            int i = node[4 * corner[n] + k];
            if (mark[i]) continue;
            mark[i] = 1;
            if (!EMBI_GROW(m, int, b->holder, b->holder_cap, b->holder_count + 1)) return 0;
            b->holder[b->holder_count++] = i;
        }
    p->count = b->holder_count - p->first;
    return 1;
}

/* the box (lo, hi) grows to hold the shrunk tet whose nodes are at x */
static void embi_shrunk_add(const embi_shrunk *g, const int v[4], const embipc_real *x, embipc_real lo[3],
                            embipc_real hi[3])
{
    const embipc_real *x0 = x + 3 * v[0], *x1 = x + 3 * v[1], *x2 = x + 3 * v[2], *x3 = x + 3 * v[3];
    for (int i = 0; i < 3; i++) {
        embipc_real base = g->least[0] * x0[i] + g->least[1] * x1[i] + g->least[2] * x2[i] + g->least[3] * x3[i];
        embipc_real least = embi_min(embi_min(x0[i], x1[i]), embi_min(x2[i], x3[i])),
                    most = embi_max(embi_max(x0[i], x1[i]), embi_max(x2[i], x3[i]));
        lo[i] = embi_min(lo[i], base + g->rest * least);
        hi[i] = embi_max(hi[i], base + g->rest * most);
    }
}

/* The box of n vertices of x by weights in the tet X: its middle, and from there to its sides along each axis. */
static void embi_block_weights(embipc_real block[16], const embipc_real X[12], const embipc_real *x, const int *v, int n)
{
    embipc_real box[6], p[3];
    int ok;
    embi_box_of(box, x, v, n);
    for (int i = 0; i < 3; i++) p[i] = (box[i] + box[3 + i]) / 2;
    ok = embi_tet_weights(X, p, block);
    for (int k = 0; k < 3; k++) {
        embipc_real *to = block + 4 * (k + 1), middle = p[k];
        p[k] = box[3 + k];
        ok &= embi_tet_weights(X, p, to);
        p[k] = middle;
        for (int i = 0; i < 4; i++) to[i] -= block[i];
    }
    if (!ok) memset(block, 0, 16 * sizeof *block);
}

static int embi_is_one_tet(const embi_body *b) { return b->ntet == 1 && b->nn == 4; }

/* box of a panel, all of it linear in the nodes' x */
static void embi_panel_hold(const embi_body *b, const embi_panel *p, const embipc_real *x, embipc_real box[6])
{
    embipc_real lo[3] = {EMBI_HUGE, EMBI_HUGE, EMBI_HUGE}, hi[3] = {-EMBI_HUGE, -EMBI_HUGE, -EMBI_HUGE};
    if (embi_is_one_tet(b)) {
        embipc_real r[4][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < 4; i++) embi_axpy(r[k], p->block[4 * k + i], x + 3 * b->tet[i]);
        for (int i = 0; i < 3; i++) {
            embipc_real half = embi_abs(r[1][i]) + embi_abs(r[2][i]) + embi_abs(r[3][i]);
            lo[i] = r[0][i] - half;
            hi[i] = r[0][i] + half;
        }
    } else if (b->shrunk_count)
        for (int k = p->first; k < p->first + p->count; k++)
            embi_shrunk_add(b->shrunk + k, b->tet + 4 * b->shrunk[k].tet, x, lo, hi);
    else
        for (int k = 0, n = p->count ? p->count : b->nn; k < n; k++) {
            const embipc_real *at = x + 3 * (p->count ? b->holder[p->first + k] : k);
            for (int i = 0; i < 3; i++) {
                lo[i] = embi_min(lo[i], at[i]);
                hi[i] = embi_max(hi[i], at[i]);
            }
        }
    embi_copy(box, lo);
    embi_copy(box + 3, hi);
}

/* boxes of all panels (6 each), and of the surface */
static void embi_body_hold(const embi_body *b, const embipc_real *x, embipc_real *part, embipc_real box[6])
{
    embi_box_clear(box);
    for (int n = 0; n < b->panel_count; n++, part += 6) {
        embi_panel_hold(b, b->panel + n, x, part);
        embi_box_join(box, part);
    }
}

/* ---- what turns ----
 * A pair within one body is not the nearer for the body's turning. Only what is left of the displacements once the
 * rotation that fits them best is taken out can bring it together, and so a body that rolls keeps its candidates. Any
 * rotation makes a true bound. On the way between two states, turned by theta against each other, with w_0 and w_1:
 *   |x_a - x_b| >= cos(theta/2) |d + w| - 2 t (1 - t) sin(theta/2) |w_1 - w_0|,   w = (1 - t) w_0 + t w_1,
 * for (1 - t) H^T u_0 + t H u_1 = (C + (2t - 1) S) u + 2 t (1 - t) S (u_1 - u_0) with H^2 the rotation from one to
 * the other, C and S its symmetric and skew parts, u = d + w. The first term asks for so much more reach, the second,
 * at most 2 t sin(theta/2) (|w_0| + |w_1|), goes to the warp at the end of the way. */

#define EMBI_TURN_COS ((embipc_real)0.95)    /* least cos(theta/2) of a direction; beyond it counts as warp */

static void embi_shift_none(const embi_body *b, embi_shift *r)
{
    memset(r->part, 0, (size_t)(6 * b->panel_count) * sizeof *r->part);
    memset(r->box, 0, sizeof r->box);
    memset(r->warp, 0, sizeof r->warp);
    memset(r->end, 0, sizeof r->end);
    embi_m3_identity(r->turn);
}

/* How far a point moves, or two that lay together may come apart while the rest turns: what searches have to span. */
static embipc_real embi_shift_most(const embi_shift *r)
{
    embipc_real most = 0;
    for (int i = 0; i < 6; i++) most = embi_max(most, embi_max(embi_abs(r->box[i]), r->warp[i % 3]));
    return most;
}

static void embi_shift_copy(const embi_body *b, embi_shift *to, const embi_shift *from)
{
    embipc_real *part = to->part;
    memcpy(part, from->part, (size_t)(6 * b->panel_count) * sizeof *part);
    *to = *from;
    to->part = part;
}

/* The end of a way becomes where a body is. */
static void embi_shift_arrive(const embi_body *b, embi_shift *to, const embi_shift *way)
{
    embi_shift_copy(b, to, way);
    embi_copy(to->warp, way->end);
}

/* The rotation that takes the n points at x to those at y best, turn being a guess. cof M = cof(R S) = R cof S is
 * turned like M = R S, and makes up for what M does not tell when all points are in one plane. */
static void embi_turn_fit(const embipc_real *x, const embipc_real *y, int n, embipc_real turn[9])
{
    embipc_real M[9], cof[9], a[3] = {0, 0, 0}, b[3] = {0, 0, 0}, u[3], v[3], size;
    for (int i = 0; i < n; i++) {
        embi_add(a, a, x + 3 * i);
        embi_add(b, b, y + 3 * i);
    }
    embi_scale(a, (embipc_real)1 / n, a);
    embi_scale(b, (embipc_real)1 / n, b);
    memset(M, 0, sizeof M);
    for (int i = 0; i < n; i++) {
        embi_sub(u, x + 3 * i, a);
        embi_sub(v, y + 3 * i, b);
        for (int r = 0; r < 3; r++) embi_axpy(M + 3 * r, v[r], u);
    }
    size = sqrt(embi_dot(M, M) + embi_dot(M + 3, M + 3) + embi_dot(M + 6, M + 6));
    if (!(size > 0)) return;
    for (int r = 0; r < 9; r++) M[r] /= size;
    for (int r = 0; r < 3; r++) embi_cross(cof + 3 * r, M + 3 * ((r + 1) % 3), M + 3 * ((r + 2) % 3));
    for (int r = 0; r < 9; r++) M[r] += cof[r];
    embi_polar(turn, M);
}

/* sin(theta/2) of the rotation from one turn to the other */
static embipc_real embi_turn_sine(const embipc_real from[9], const embipc_real to[9])
{
    embipc_real trace = embi_dot(from, to) + embi_dot(from + 3, to + 3) + embi_dot(from + 6, to + 6);
    return sqrt(embi_max(3 - trace, 0)) / 2;
}

/* w = turn^T y - x of n points, but for a displacement of all, and the extent of its box. */
static void embi_warp(const embipc_real *x, const embipc_real *y, int n, const embipc_real turn[9], embipc_real *w,
                      embipc_real warp[3])
{
    embipc_real box[6], T[9];
    for (int i = 0; i < 9; i++) T[i] = turn[3 * (i % 3) + i / 3];
    embi_box_clear(box);
    for (int i = 0; i < n; i++, w += 3) {
        embipc_real u[3];
        embi_sub(u, y + 3 * i, y);   /* small numbers */
        embi_m3_mulv(w, T, u);
        embi_sub(u, x + 3 * i, x);
        embi_sub(w, w, u);
        embi_box_add(box, w);
    }
    embi_sub(warp, box + 3, box);
}

/* tets that the kept list has to do with */
static int embi_strained_tets(const embi_body *b) { return b->folds.count ? b->ntet : 0; }

/* |sum_k w_k m_k^T| of each of them (rounded up to EMBI_LANES), w being of the body's nodes */
static void embi_body_strains(const embi_body *b, const embipc_real *w, embipc_real *strain)
{
    for (int t = 0; t < embi_strained_tets(b); t += EMBI_LANES) {
        embi_vec H[9];
        embi_tets_F(&b->elastic, t, w, H);
        embi_store(strain + t, embi_m3s_stretch4(H));
        for (int l = 0; l < EMBI_LANES; l++) strain[t + l] = sqrt(sqrt(strain[t + l]));
    }
}

/* Will the kept list of a body for itself be complete after so many times the strain that its tets are about to have? */
static int embi_body_stands(const embi_body *b, embipc_real times)
{
    for (int t = 0; t < embi_strained_tets(b); t++)
        if (!(b->strain[t].kept + times * b->strain[t].next <= b->strain[t].most)) return 0;
    return 1;
}

/* From one state of all nodes to another; d: scratch. at: NULL, or, for the way there as well, the state that the
 * body now is in, counted from the same. Returns 2 tan(theta/2) of what the body turns on that way; d is w then, where
 * it may touch itself. */
static embipc_real embi_body_shift(const embi_body *b, const embipc_real *from, const embipc_real *to,
                                   embipc_real *d, const embi_shift *at, embi_shift *r)
{
    embipc_real sine;
    if (!b->nn) return 0;
    from += 3 * b->node0;
    to += 3 * b->node0;
    d += 3 * b->node0;
    for (int i = 0; i < 3 * b->nn; i++) d[i] = to[i] - from[i];
    embi_body_hold(b, d, r->part, r->box);
    if (!embi_may_fold(b)) return 0;
    embi_turn_fit(from, to, b->nn, r->turn);
    sine = at ? embi_turn_sine(at->turn, r->turn) : (embipc_real)0;
    if (sine * sine > 1 - EMBI_TURN_COS * EMBI_TURN_COS) {
        memcpy(r->turn, at->turn, sizeof r->turn);
        sine = 0;
    }
    embi_warp(from, to, b->nn, r->turn, d, r->warp);
    embi_copy(r->end, r->warp);
    if (!at) return 0;
    sine *= 2 / EMBI_TURN_COS;
    for (int i = 0; i < 3; i++) r->warp[i] += sine * (embi_norm(r->warp) + embi_norm(at->warp));
    return sine;
}

/* Where the body is now, told from its nodes; counted from q^n, as both ends of a way are. */
static void embi_body_came(embi_state *s, embi_body *b)
{
    embipc_real *strain = s->trace + b->trace0;
    (void)embi_body_shift(b, s->qn, s->q, s->shift_d, NULL, &b->shift);
    embi_body_strains(b, s->shift_d + 3 * b->node0, strain);
    for (int t = 0; t < embi_strained_tets(b); t++) b->strain[t].now = strain[t];
}

/* Where it may go next, as foreseen or by a direction. */
static void embi_body_go(embi_state *s, embi_body *b)
{
    embipc_real sine = embi_body_shift(b, s->qn, s->trial_q, s->shift_d, &b->shift, &b->shift_next);
    embipc_real *strain = s->trace + b->trace0;
    embi_body_strains(b, s->shift_d + 3 * b->node0, strain);
    for (int t = 0; t < embi_strained_tets(b); t++) {
        embi_strain *e = b->strain + t;
        e->end = strain[t];
        e->next = embi_max(e->now, e->end + sine * (e->end + e->now));
    }
}

/* It went there: what was told of the end holds of where it is. */
static void embi_body_arrive(embi_body *b)
{
    embi_shift_arrive(b, &b->shift, &b->shift_next);
    for (int t = 0; t < embi_strained_tets(b); t++) b->strain[t].now = b->strain[t].end;
}

/* Boxes of where the body and its panels are with the nodes at q. */
static void embi_body_locate(embi_body *b, const embipc_real *q)
{
    embi_box_clear(b->start_box);
    for (int n = 0; n < b->panel_count; n++) {
        embi_panel *p = b->panel + n;
        if (b->nn) embi_panel_hold(b, p, q + 3 * b->node0, p->start_box);
        else memcpy(p->start_box, b->bvh.box + 6, sizeof p->start_box);
        embi_box_join(b->start_box, p->start_box);
    }
}

/* Vertex v of body b, whose x^n is there, is live from here on: where it is, and where p takes it. Returns 0 out of
 * memory. */
static int embi_vertex_wake(embi_memory *m, embi_state *s, embi_body *b, int v)
{
    if (s->known[v] >= EMBI_VERTEX_LIVE) return 1;
    if (!EMBI_GROW(m, int, b->live, b->live_cap, b->live_count + 1)) return 0;
    b->live[b->live_count++] = v - b->vert0;
    s->known[v] = b->moving ? EMBI_VERTEX_LIVE : EMBI_VERTEX_STILL;
    embi_copy(s->x + 3 * v, s->xn + 3 * v);
    embi_set(s->motion + 3 * v, 0, 0, 0);
    if (b->moving) embi_apply_row(s, v, s->q, s->x);
    embi_copy(s->next_x + 3 * v, s->x + 3 * v);
    if (b->moving) embi_apply_row(s, v, s->trial_q, s->next_x);
    embi_copy(s->trial_x + 3 * v, s->x + 3 * v);
    return 1;
}

/* The vertices of a candidate are live. Returns 0 out of memory. */
static int embi_candidate_wake(embi_memory *m, embi_state *s, embi_body *A, embi_body *B, const int v[4])
{
    int ok = 1;
    for (int k = 0; k < 4; k++)
        ok &= embi_vertex_wake(m, s, v[k] >= A->vert0 && v[k] < A->vert0 + A->nv ? A : B, v[k]);
    return ok;
}

/* r: differences of what is somewhere in the boxes a and b */
static void embi_difference_box(const embipc_real a[6], const embipc_real b[6], embipc_real r[6])
{
    for (int i = 0; i < 3; i++) {
        r[i] = a[i] - b[3 + i];
        r[3 + i] = a[3 + i] - b[i];
    }
}

/* Displacements of a pair's first side relative to the second; within one body (a is b) those of two nodes, which is
 * what shares count of. */
static void embi_relative_box(const embi_shift *a, int pa, const embi_shift *b, int pb, embipc_real r[6])
{
    embi_difference_box(a->part + 6 * pa, b->part + 6 * pb, r);
    for (int i = 0; i < 3 && a == b; i++) {
        r[i] = -a->warp[i];
        r[3 + i] = a->warp[i];
    }
}

static int embi_box_holds(const embipc_real outer[6], const embipc_real inner[6])
{
    for (int i = 0; i < 3; i++)
        if (!(inner[i] >= outer[i] && inner[3 + i] <= outer[3 + i])) return 0;
    return 1;
}

/* Do the next positions of a pair's bodies, both sides of which move by one direction, stay where its candidates were
 * searched for? */
static int embi_pair_stays(const embi_state *s, const embi_pair *p)
{
    const embi_body *a = s->body + p->a, *b = s->body + p->b;
    embipc_real r[6];
    embi_relative_box(&a->shift_next, p->pa, &b->shift_next, p->pb, r);
    return (embi_box_holds(p->range, r) || p->loose) && (p->a != p->b || embi_body_stands(a, 1));
}

/* The gap that positions x = J q, rounded, can still be told to have: the path is proved, what is stored is
 * not the path. */
static embipc_real embi_pair_rounding(const embi_body *a, const embi_body *b)
{
    embipc_real most = 0;
    for (int side = 0; side < 2; side++) {
        const embi_body *k = side ? b : a;
        embipc_real reach = 0;
        for (int i = 0; i < 6; i++)
            reach = embi_max(reach, embi_max(embi_abs(k->shift.box[i]), embi_abs(k->shift_next.box[i])));
        most = embi_max(most, k->scale_x + reach + 4 * k->diagonal);
    }
    return 64 * EMBI_EPS * most;
}

/* length of the longest vector in a box */
static embipc_real embi_box_norm(const embipc_real r[6])
{
    embipc_real far[3];
    for (int i = 0; i < 3; i++) far[i] = embi_max(embi_abs(r[i]), embi_abs(r[3 + i]));
    return embi_norm(far) * (1 + 8 * EMBI_EPS);
}

/* Candidates by distance. s->apart holds, for each candidate, the distance that it had at least when the
 * nodes were at s->known_q; when they have strayed from there, a relative to b, by no more than slack, the
 * distance is least - share slack or more. So most candidates are told by one number, without looking at their
 * vertices. */
static embipc_real embi_pair_slack(const embi_pair *pair, const embi_shift *a, const embi_shift *b)
{
    embipc_real r[6];
    embi_relative_box(a, pair->pa, b, pair->pb, r);
    return embi_box_norm(r);
}

/* Can it be within reach, with such a slack? */
static int embi_is_near(const embi_apart *a, embipc_real reach, embipc_real slack)
{
    return a->least <= reach + a->share * slack;
}

/* Lists the candidates of a pair that can be nearer than 2 dhat while the slack is at most radius. */
static void embi_pair_near(embi_state *s, embi_pair *pair, embipc_real radius)
{
    int *near = s->near + pair->first;
    pair->near_count = 0;
    pair->radius = radius;
    pair->reach = (2 * pair->rule.dhat + pair->rule.xi) / (embipc_real)0.999 +
                  4 * embi_pair_rounding(s->body + pair->a, s->body + pair->b);
    for (int k = 0; k < pair->count; k++)
        if (embi_is_near(s->apart + pair->first + k, pair->reach, radius)) near[pair->near_count++] = k;
}

/* The present positions become those that the distances are known at; slack: how far they strayed; stamp: of the
 * evaluation that was there. */
static void embi_pair_know(embi_state *s, embi_pair *pair, embipc_real slack, int stamp)
{
    const int *near = s->near + pair->first;
    for (int k = pair->first; k < pair->first + pair->count; k++) s->apart[k].least -= s->apart[k].share * slack;
    for (int i = 0; i < pair->near_count; i++) {
        const embi_closest *c = s->closest + pair->first + near[i];
        if (c->stamp == stamp && !(c->in_matrix > 0)) s->apart[pair->first + near[i]].least = c->d;
    }
    pair->radius -= slack;
}

/* y = M x over the nodes of one body (both local, 3 nn) */
static void embi_mass_multiply(const embi_body *b, const embipc_real *x, embipc_real *y)
{
    for (int i = 0; i < b->nn; i++) {
        embipc_real x0 = x[3 * i], x1 = x[3 * i + 1], x2 = x[3 * i + 2], s0 = 0, s1 = 0, s2 = 0;
        for (int n = b->heavy_row[i]; n < b->heavy_row[i + 1]; n++) {   /* the lower triangle: y_j is there, j < i */
            int j = b->A.col[b->heavy[n]];
            embipc_real mass = b->mass[b->heavy[n]], *yj = y + 3 * j;
            const embipc_real *xj = x + 3 * j;
            s0 += mass * xj[0];
            s1 += mass * xj[1];
            s2 += mass * xj[2];
            if (j == i) continue;
            yj[0] += mass * x0;
            yj[1] += mass * x1;
            yj[2] += mass * x2;
        }
        embi_set(y + 3 * i, s0, s1, s2);
    }
}

/* what stiffness counts in A: with the damping, and for a nonlinear material nothing else */
static embipc_real embi_body_stiffness(const embi_state *s, const embi_body *b)
{
    embipc_real own = b->elastic.nonlinear ? (embipc_real)0 : (embipc_real)1;
    return s->hh * (own + b->material.damping[1] / b->c);
}

/* what mass counts in A: with the damping */
static embipc_real embi_body_inertia(const embi_state *s, const embi_body *b)
{
    return b->inertia + s->hh * b->material.damping[0] / b->c;
}

/* A += scale K of one body at q */
static void embi_body_add_hessian(const embi_state *s, const embi_body *b, const embipc_real *q, embipc_real scale,
                                  embi_bsr *A)
{
    embi_elastic_add_hessian(&b->elastic, q + 3 * b->node0, scale, s->trace + b->trace0, s->place + b->node0,
                             s->next + b->node0, s->patch_G ? s->patch_G + b->patch0 : NULL, A);
}

/* A of one body for this step, with the rotations of q^n, if it is not there yet */
static void embi_body_assemble(embi_state *s, embi_body *b)
{
    embipc_real stiffness = embi_body_stiffness(s, b), inertia = embi_body_inertia(s, b);
    if (!embi_is_dynamic(b) || b->assembled) return;
    b->assembled = 1;
    embi_bsr_zero(&b->A);
    if (stiffness > 0) embi_body_add_hessian(s, b, s->qn, stiffness, &b->A);
    for (int n = 0; n < b->heavy_row[b->nn]; n++) {
        embipc_real *B = b->A.val + 9 * (size_t)b->heavy[n];
        for (int i = 0; i < 9; i += 4) B[i] += inertia * b->mass[b->heavy[n]];
    }
}

/* its A will be another one */
static void embi_body_renew(embi_body *b)
{
    b->assembled = 0;
    if (b->inverse) b->inverse->valid = 0;
}

/* y = A x over the nodes of one body (both local, 3 nn). A step whose factor is an older one takes some eight
 * products. With averaged volume strain, which ties each node to its neighbours' neighbours, it does without A:
 * assembling A costs as much as eight products tet by tet; without averaging as 3.4, each of which takes 3.4 times
 * what it takes with A [instructions; a cage of 108 tets, a ball of 1280]. */
static void embi_body_multiply(embi_state *s, embi_body *b, const embipc_real *x, embipc_real *y)
{
    embipc_real stiffness = embi_body_stiffness(s, b), inertia = embi_body_inertia(s, b);
    if ((b->elastic.nonlinear || !b->elastic.averaged) && stiffness > 0) embi_body_assemble(s, b);
    if (b->assembled) {
        embi_bsr_multiply(&b->A, x, y);
        return;
    }
    embi_mass_multiply(b, x, y);
    for (int i = 0; i < 3 * b->nn; i++) y[i] *= inertia;
    if (stiffness > 0) embi_lagged_forces(&b->elastic, x, 0, stiffness, s->trace + b->trace0, y);
}

/* The tangent of a nonlinear body as a matrix. */
static embi_bsr embi_body_tangent(const embi_body *b)
{
    embi_bsr T = b->A;
    T.val = b->tangent;
    return T;
}

/* gq: gradient of the part of E whose Hessian is A, at q^n (all of E but contact and a nonlinear
 * material) */
static void embi_body_gradient(embi_state *s, embi_body *b)
{
    int n = 3 * b->nn, o = 3 * b->node0;
    embipc_real *gq = s->gq + o;
    if (!embi_is_dynamic(b)) {
        if (n) memset(gq, 0, (size_t)n * sizeof *gq);
        return;
    }
    for (int i = 0; i < n; i++) s->Ap[o + i] = s->q[o + i] - s->qt[o + i];
    embi_mass_multiply(b, s->Ap + o, gq);
    for (int i = 0; i < n; i++) gq[i] = b->inertia * gq[i] - s->hh * s->f[o + i];
    if (!b->elastic.nonlinear) embi_elastic_gradient(&b->elastic, s->q + o, s->hh, s->trace + b->trace0, gq);
    /* at q^n backward Euler's damping is zero; not so after a rolled-back rotation, nor with BDF2 */
    if (b->material.damping[0] > 0 || b->material.damping[1] > 0) {
        embipc_real mass = s->hh * b->material.damping[0] / b->c, *d = s->rhs + o, *y = s->p + o;
        for (int i = 0; i < n; i++) d[i] = s->q[o + i] - s->qc[o + i];
        embi_mass_multiply(b, d, s->Ap + o);
        for (int i = 0; i < n; i++) gq[i] += mass * s->Ap[o + i];
        if (b->material.damping[1] > 0) {   /* beta/c K d = (A d - (1/s + ...) M d) beta/c / (1 + beta/c) */
            embipc_real beta = b->material.damping[1] / b->c,
                        share = beta / ((b->elastic.nonlinear ? (embipc_real)0 : (embipc_real)1) + beta);
            embi_body_multiply(s, b, d, y);
            for (int i = 0; i < n; i++) gq[i] += share * (y[i] - (b->inertia + mass) * s->Ap[o + i]);
        }
    }
}

/* The energy whose gradient that is (a nonlinear material included), J s^2, at q with -f.q counted from
 * q^n. */
static embipc_real embi_body_objective(embi_state *s, embi_body *b, const embipc_real *q, embipc_real *size)
{
    int n = 3 * b->nn, o = 3 * b->node0;
    embipc_real inertia = 0, work = 0, damping = 0, elastic, force, *d = s->rhs + o, *y = s->Ap + o;
    if (!embi_is_dynamic(b)) return 0;
    for (int i = 0; i < n; i++) d[i] = q[o + i] - s->qt[o + i];
    embi_mass_multiply(b, d, y);
    for (int i = 0; i < n; i++) inertia += b->inertia * d[i] * y[i] / 2;
    for (int i = 0; i < n; i++) {
        work += s->f[o + i] * (q[o + i] - s->qn[o + i]);
        d[i] = q[o + i] - s->qc[o + i];
    }
    elastic = embi_elastic_energy(&b->elastic, q + o, 0, s->trace + b->trace0, &force);
    if (b->material.damping[0] > 0 || b->material.damping[1] > 0) {
        embipc_real mass = s->hh * b->material.damping[0] / b->c, beta = b->material.damping[1] / b->c,
                    md = 0, kd = 0;
        embi_mass_multiply(b, d, y);
        for (int i = 0; i < n; i++) md += d[i] * y[i];
        embi_body_multiply(s, b, d, y);
        for (int i = 0; i < n; i++) kd += d[i] * y[i];
        kd -= (b->inertia + mass) * md;   /* h^2 (1 + beta/c) d.K d */
        damping =
            mass * md / 2 +
            (beta > 0 ? kd / 2 * beta / ((b->elastic.nonlinear ? (embipc_real)0 : (embipc_real)1) + beta)
                      : (embipc_real)0);
    }
    *size += inertia + s->hh * (elastic + force * b->scale_x + embi_abs(work)) + embi_abs(damping);
    return inertia + s->hh * (elastic - work) + damping;
}

/* ==== 23. Newton =====================================================================================
 * One island: bodies linked by candidate pairs, minimising E over their unknown nodes. The loop itself is embi_iterate()
 * in section 28, over all islands: embi_island_look() (embi_island_direction(), embi_island_aim()), then, where the
 * direction leads out of what was searched, more candidates, then embi_island_go() (embi_island_advance()). Each iteration
 *   g = grad E,  H p = -g - H_fd r,  p = r on driven nodes      (H: A + rank-one contacts + friction)
 *   alpha = the part of p free of contact, found by continuous collision detection
 *   q += alpha p
 * What makes a driven step converge in one to three of them [measured; the reference needs 49 in a lift]:
 * - A step begins where the last two lead: what is carried, held or falls is there already.
 * - The drive is in the direction. r is what is left of the step's prescribed motion. At q^n every friction
 *   contact has u = 0, where its Hessian is the sticking spring: the first solve carries along what is held.
 * - No decrease test while r is not zero: the drive does work and E may rise.
 * - After it, the line search looks at the slope p.grad E as well as at E: halving alone accepts the zigzag
 *   between slip and stick.
 * - Each friction contact remembers |u| of the last step for the stiffness of the first solve.
 * - The last factor serves again as a preconditioner, for the last solves of its step (the very last is
 *   convergence test and correction in one) and the first ones of the next steps: what rests, hangs or is carried
 *   needs no new one.
 * The stop test |p|/h < tolerance is a velocity, and follows epsv: a coarser one would hold a block on a
 * slope that must slide.
 * Drives yield: while r is not zero the path keeps a gap floor, min(0.05 dhat, 0.9 of the present gap);
 * where the floor stops the motion, the drive that contributes most to that approach gives up the rest of
 * its motion, and is reported. The others go on.
 * Tried where many contacts begin in one step, and left out; solves a step of a pile of 100 cages, and of ten bears:
 *   as it is                                                                    10.8          12.2
 *   contacts that a direction would bring about have their stiffness before     12.1 to 13.0  12.8 to 16
 *   and their whole force, as at 0.3 dhat                                       17.7          16.3
 *   forces of contacts where the last direction said they will be (primal-dual) 11.7          11.5
 *   begin with the part of a guess that is free                                 10.8          11.8
 *   the true curvature from the start                                           11.6          12.3
 *   each body as far as its own contacts allow                                  19 and more
 * To go on with those bodies alone that are not there yet would leave three quarters of the work.
 * Uses: all of the above.                                   Checked by: tests/test_world*.c   */

/* What is active in a part of a near list, and where it goes among the contacts. */
typedef struct embi_found {
    int seen;                    /* candidates that were looked at */
    int count, edges;            /* active; edge-edge ones, which may need room for a gradient */
    int first, extra, changed;
    embipc_real min_gap;         /* of those that touch at rest, INFINITY if none do */
} embi_found;

/* Columns of U: the directions in which a contact, a friction contact or a spring resists, at the same nodes. */
typedef struct embi_link {
    int count, split;            /* unknowns; those from split on are of another body */
    int rank, at;                /* columns, and where they begin in `value`: (3 count) each */
    int node[EMBI_STAMP], place[EMBI_STAMP];    /* unknowns; in the inverse of their body */
} embi_link;

/* H = A + U U^T: see embi_dual_factor() */
typedef struct embi_dual {
    int on;                      /* the last factor is this one */
    int bodies;                  /* of the island when it was made */
    int *first, first_cap;       /* (bodies + 1) their first unknown */
    unsigned *taken;             /* (bodies) which factor of its A was used */
    int taken_cap;
    embi_link *link;
    int count, link_cap;
    embipc_real *value;          /* the columns of links */
    int value_count, value_cap;
    int *column, triples, column_cap;   /* (3 triples) columns of U: EMBI_BENT link + which of its own, or -1: a zero */
    int *side, side_cap;         /* (2 triples) the bodies on which they act, twice the same where it is one */
    int *member, *member_start, member_cap, member_start_cap;   /* triples by body, and their columns as they are there */
    embi_sparse *side_column;    /* (3 per member) */
    int side_column_cap;
    embipc_real *block;          /* each body's part of K, blocks (i, j <= i) of its triples */
    int *block_start, block_cap, block_start_cap;
    embipc_real *work;           /* (3 unknown_count) and (3 triples) */
    int work_cap;
    embi_system K;
} embi_dual;

typedef struct embi_island {
    int active;                  /* still iterating */
    int changed;                 /* in this iteration: 1 its candidates did, 2 others joined it */
    int recorded;                /* what it did in it; or not yet */
    int index;                   /* number within the step */
    int *bodies, body_count, body_cap;
    int *pairs, pair_count, pair_cap;
    embi_chunks by_tets, by_vertices;   /* bodies for loops over them, so many at a time */
    embi_chunks by_near;         /* near lists of pairs, in the numbering of `pairs` */
    embi_found *found;    /* what is active in each of these chunks */
    int found_cap;
    embipc_real *part;           /* (2 per body) terms of sums, formed in parallel */
    int part_cap;
    int analysed;                /* the system has its order for this step; never carried over: bits depend
                                    on the state, not on history */
    int same;                    /* the same unknowns as the factor in the system */
    int kept;                    /* no factor of this step yet: that of an earlier one preconditions */
    int useful;                  /* it is one that may be kept */
    int wait, pause;             /* steps until it is tried again; and after the next failure */
    unsigned revision;           /* of the world, when the unknowns were numbered */
    embipc_real *work;           /* of conjugate gradients (12 unknown_count) */
    int work_cap;
    int *unknown, unknown_count, unknown_cap;         /* unknown -> node */
    embi_system system;
    embi_dual *dual;             /* once it was of use, or NULL */
    embi_contacts contacts;
    embi_friction *friction;
    int friction_count, friction_cap;
    embi_spring *spring;         /* of the soft drives of its bodies */
    int spring_count, spring_cap;
    int *touched, touched_count, touched_cap;   /* vertices of contacts, friction and springs, each once */
    int touched_stamp;           /* the evaluation they are of */
    embi_key *keys;              /* scratch: feature keys, couplings */
    int keys_cap;
    embipc_real *rhs;            /* (3 unknown_count, and as much again for H x) */
    int rhs_cap;
    int iterations, factorizations, regularized, passes, first;
    int converged, old_factor, just_drove, just_guessed, driving;
    int inexact;                 /* the direction is by an old factor alone */
    int multiplied;              /* A times it is in trial_q */
    int turned, turning;         /* friction contacts turned in it; and will in the next one */
    int slow;                    /* see EMBI_SLOW */
    embipc_real keep, too_much;  /* share of negative curvature in the tangents, and what was too much of it */
    int crawl, curved;           /* moves in a row below half of Newton's; contacts have their curvature */
    embipc_real measure, last_measure;   /* |p|/(h tolerance), worst body */
    embipc_real barrier_before;  /* sum kappa b at q^n, J */
    embipc_real contact_energy;  /* barrier, friction, nonlinear materials, J s^2 */
    embipc_real contact_size;    /* and the size of their terms */
    embipc_real stretch;         /* of the present direction */
    embipc_real stride;          /* the last move in units of its own Newton direction; 0: nothing to learn */
    embipc_real slope, noise_x;
    int stamp;                   /* of the last evaluation */
    int guess;                   /* order of the guess that the step is to begin with; 0: none, or it is done */
    embipc_real reach;           /* how far this step was foreseen to go, m */
    embipc_real cap;             /* share of the direction that is looked at */
    embipc_real safe;            /* share of it before any contact or inversion */
    int safe_known;              /* safe was found among the candidates of now */
    int limit_pair, limit_at;    /* what ends it: candidate limit_at of that pair; -1: none */
    embipc_real *block_alpha;    /* the same for each block of a pair's candidates */
    int *block_at, block_alpha_cap, block_at_cap;
    embipc_iteration record;
} embi_island;

static void embi_dual_free(embi_memory *m, embi_dual *D)
{
    if (!D) return;
    EMBI_RELEASE(m, D->first, D->first_cap);
    EMBI_RELEASE(m, D->taken, D->taken_cap);
    EMBI_RELEASE(m, D->link, D->link_cap);
    EMBI_RELEASE(m, D->value, D->value_cap);
    EMBI_RELEASE(m, D->column, D->column_cap);
    EMBI_RELEASE(m, D->side, D->side_cap);
    EMBI_RELEASE(m, D->member, D->member_cap);
    EMBI_RELEASE(m, D->side_column, D->side_column_cap);
    EMBI_RELEASE(m, D->member_start, D->member_start_cap);
    EMBI_RELEASE(m, D->block, D->block_cap);
    EMBI_RELEASE(m, D->block_start, D->block_start_cap);
    EMBI_RELEASE(m, D->work, D->work_cap);
    embi_system_free(m, &D->K);
    embi_free(m, D, 1, sizeof *D);
}

static void embi_island_free(embi_memory *m, embi_island *I)
{
    EMBI_RELEASE(m, I->bodies, I->body_cap);
    EMBI_RELEASE(m, I->pairs, I->pair_cap);
    EMBI_RELEASE(m, I->part, I->part_cap);
    EMBI_RELEASE(m, I->found, I->found_cap);
    embi_chunks_free(m, &I->by_near);
    embi_chunks_free(m, &I->by_tets);
    embi_chunks_free(m, &I->by_vertices);
    EMBI_RELEASE(m, I->unknown, I->unknown_cap);
    EMBI_RELEASE(m, I->friction, I->friction_cap);
    EMBI_RELEASE(m, I->spring, I->spring_cap);
    EMBI_RELEASE(m, I->touched, I->touched_cap);
    EMBI_RELEASE(m, I->keys, I->keys_cap);
    EMBI_RELEASE(m, I->rhs, I->rhs_cap);
    EMBI_RELEASE(m, I->work, I->work_cap);
    EMBI_RELEASE(m, I->block_alpha, I->block_alpha_cap);
    EMBI_RELEASE(m, I->block_at, I->block_at_cap);
    embi_contacts_free(m, &I->contacts);
    embi_system_free(m, &I->system);
    embi_dual_free(m, I->dual);
}

/* ---- loops over the bodies of an island ---- */

#define EMBI_SHARE_TETS EMBI_SHARE(128)       /* 12 us of forces: 0.1 us a tet [measured] */
#define EMBI_SHARE_VERTICES EMBI_SHARE(1024)  /* 12 us of x = J q and boxes: 12 ns a vertex */

static int embi_body_work(const embi_body *b, int vertices) { return vertices ? b->nv : b->ntet + b->nn; }

/* Bodies, a run of them to a chunk: none with less than enough work but for an island that has no more, which is then
 * one chunk and wakes no thread. */
static int embi_island_chunks(embi_memory *m, const embi_state *s, embi_island *I)
{
    embi_chunks_clear(&I->by_tets);
    embi_chunks_clear(&I->by_vertices);
    for (int side = 0; side < 2; side++) {
        embi_chunks *c = side ? &I->by_vertices : &I->by_tets;
        int enough = side ? EMBI_SHARE_VERTICES : EMBI_SHARE_TETS, work = 0, rest = 0;
        for (int k = 0; k < I->body_count; k++) rest += embi_body_work(s->body + I->bodies[k], side);
        for (int k = 0, begin = 0; k < I->body_count; k++) {
            work += embi_body_work(s->body + I->bodies[k], side);
            rest -= embi_body_work(s->body + I->bodies[k], side);
            if ((work < enough || rest < enough) && k + 1 < I->body_count) continue;
            if (!embi_chunks_add(m, c, 0, begin, k + 1, INT_MAX)) return 0;
            begin = k + 1;
            work = 0;
        }
    }
    return EMBI_GROW(m, embipc_real, I->part, I->part_cap, 2 * I->body_count);
}

typedef struct embi_bodies_task embi_bodies_task;
typedef void embi_body_fn(const embi_bodies_task *t, embi_body *b, int k);   /* k: number in the island */
struct embi_bodies_task {
    embi_state *s;
    embi_island *I;
    const embi_chunks *chunks;
    embi_body_fn *fn;
    const embipc_real *from;
    embipc_real *to;
    embipc_real alpha;
};

static void embi_bodies_range(void *arg, int begin, int end)
{
    const embi_bodies_task *t = (const embi_bodies_task *)arg;
    for (int c = begin; c < end; c++)
        for (int k = t->chunks->list[c].begin; k < t->chunks->list[c].end; k++)
            t->fn(t, t->s->body + t->I->bodies[k], k);
}

/* fn for each body of the island; it may write what is the body's own. from, to, alpha: for fn */
static void embi_for_bodies(embi_state *s, embi_island *I, const embi_chunks *chunks, embi_body_fn *fn,
                            const embipc_real *from, embipc_real *to, embipc_real alpha)
{
    embi_bodies_task t;
    t.s = s;
    t.I = I;
    t.chunks = chunks;
    t.fn = fn;
    t.from = from;
    t.to = to;
    t.alpha = alpha;
    embi_for(&s->threads, chunks->count, 1, embi_bodies_range, &t);
}

/* what embi_apply_few() left */
static void embi_apply_many(const embi_state *s, const embi_island *I, const embipc_real *q, embipc_real *y)
{
    for (int k = 0; k < I->body_count; k++)
        if (embi_has_many_live(s->body + I->bodies[k])) embi_apply_live(s, s->body + I->bodies[k], q, y);
}

/* ---- soft drives ----
 * With x, y, x^n, y^n a vertex and its target now and at the start of the step, and beta the damping,
 *   K (x - y) + beta K (x - x^n - (y - y^n))/h = K (1 + beta/h) (x - c),
 *   c = (y + beta/h (x^n + y - y^n))/(1 + beta/h)
 * and where its force is limited to L, Huber's function of |r|^2 = r.K r/k, r = x - c, k = max K_i, takes the place
 * of the square:
 *   E = k |r|^2/2 up to k |r| = L, L |r| - L^2/(2 k) beyond,   |dE/dx| <= L
 * with dE/dx = share K r, share = min(1, L/(k |r|)), and the Hessian share (K - K r r.K/(k |r|^2)) beyond: positive
 * semidefinite everywhere. Its columns are those of one vertex, so that it fits into any pattern. */

/* where vertex k of a drive is to be in a pose whose rotation is R */
static void embi_drive_place(const embi_drive *d, const embipc_real pose[6], const embipc_real R[9], int k,
                             embipc_real y[3])
{
    embipc_real r[3], t[3];
    int still = pose[3] == 0 && pose[4] == 0 && pose[5] == 0;
    embi_sub(r, d->start + 3 * k, d->centre);
    embi_m3_mulv(t, R, r);
    for (int i = 0; i < 3; i++)   /* without rotation the start's bits plus the displacement */
        y[i] = pose[i] + (still ? d->start[3 * k + i] : d->centre[i] + t[i]);
}

/* the spring of its vertex k in this step, whose poses have the rotations Rn and R; and the target y */
static embi_spring embi_drive_spring(const embi_state *s, const embi_drive *d, const embipc_real Rn[9],
                                     const embipc_real R[9], int k, embipc_real y[3])
{
    embi_spring p;
    embipc_real yn[3], damper = d->damping / s->h;
    p.v = s->body[d->body].vert0 + d->nodes[k];
    p.limit = d->limit;
    p.held = 1;
    embi_drive_place(d, d->pose, Rn, k, yn);
    embi_drive_place(d, d->pose_next, R, k, y);
    for (int i = 0; i < 3; i++) {
        p.K[i] = d->stiffness[i] * (1 + damper);
        p.centre[i] = y[i] + damper / (1 + damper) * (s->xn[3 * p.v + i] - yn[i]);
    }
    return p;
}

/* All springs of the island in this step. Returns 0 out of memory. */
static int embi_island_springs(embi_memory *m, embi_state *s, embi_island *I)
{
    embipc_real Rn[9], R[9], y[3];
    I->spring_count = 0;
    I->touched_stamp = -1;
    for (int n = 0; n < s->drive_count; n++) {
        const embi_drive *d = s->drives + n;
        embi_body *b = s->body + d->body;
        if (!d->soft || b->island != I->index) continue;
        if (!EMBI_GROW(m, embi_spring, I->spring, I->spring_cap, I->spring_count + d->node_count)) return 0;
        embi_m3_rotation(Rn, d->pose + 3);
        embi_m3_rotation(R, d->pose_next + 3);
        for (int k = 0; k < d->node_count; k++) {
            embi_spring *p = I->spring + I->spring_count++;
            *p = embi_drive_spring(s, d, Rn, R, k, y);
            if (!embi_vertex_wake(m, s, b, p->v)) return 0;
        }
    }
    return 1;
}

/* k */
static embipc_real embi_spring_stiffness(const embi_spring *p) { return embi_max(embi_max(p->K[0], p->K[1]), p->K[2]); }

/* share at x; the pull K r of the whole spring, N, and |r|, m, besides */
static embipc_real embi_spring_share(const embi_spring *p, const embipc_real x[3], embipc_real f[3], embipc_real *size)
{
    embipc_real k = embi_spring_stiffness(p), sum = 0;
    for (int i = 0; i < 3; i++) {
        embipc_real r = x[i] - p->centre[i];
        f[i] = p->K[i] * r;
        sum += f[i] * r;
    }
    *size = sqrt(sum / k);
    return k * *size > p->limit ? p->limit / (k * *size) : (embipc_real)1;
}

/* dE/dx, N; returns the share */
static embipc_real embi_spring_gradient(const embi_spring *p, const embipc_real x[3], embipc_real f[3])
{
    embipc_real size, share = embi_spring_share(p, x, f, &size);
    embi_scale(f, share, f);
    return share;
}

/* d2E/dx2, N/m */
static void embi_spring_hessian(const embi_spring *p, const embipc_real x[3], embipc_real S[9])
{
    embipc_real f[3], size, share = embi_spring_share(p, x, f, &size), rKr = 0;
    for (int i = 0; i < 3; i++) rKr += f[i] * (x[i] - p->centre[i]);
    for (int i = 0; i < 9; i++) S[i] = i % 4 ? (embipc_real)0 : share * p->K[i / 4];
    for (int i = 0; i < 9 && share < 1; i++) S[i] -= share * f[i / 3] * f[i % 3] / rKr;
}

/* sum E, J, at the vertices x; *size grows by the size of its terms */
static embipc_real embi_island_spring_energy(const embi_island *I, const embipc_real *x, embipc_real *size)
{
    embipc_real sum = 0;
    for (int k = 0; k < I->spring_count; k++) {
        const embi_spring *p = I->spring + k;
        embipc_real f[3], r, share = embi_spring_share(p, x + 3 * p->v, f, &r), pull = share * embi_norm(f);
        embipc_real stiff = embi_spring_stiffness(p);
        sum += share < 1 ? p->limit * (r - p->limit / (2 * stiff)) : stiff * r * r / 2;
        *size += pull * (r + I->noise_x);
    }
    return sum;
}

static const embipc_real embi_spring_weight[4] = {1, 0, 0, 0};   /* a spring as a contact of one vertex */

/* Adds them to the system. Returns 0 when a block does not fit its pattern. */
static int embi_island_stamp_springs(embi_state *s, embi_island *I)
{
    embipc_real S[9];
    for (int k = 0; k < I->spring_count; k++) {
        const embi_spring *p = I->spring + k;
        int v[4] = {p->v, 0, 0, 0};
        embi_spring_hessian(p, s->x + 3 * p->v, S);
        if (!embi_contact_stamp(&I->system, &s->J, s->local, v, embi_spring_weight, s->hh, S)) return 0;
    }
    return 1;
}

/* how many springs the factor holds wrongly */
static int embi_springs_changed(const embi_state *s, const embi_island *I)
{
    embipc_real f[3], size;
    int changed = 0;
    for (int k = 0; k < I->spring_count; k++) {
        const embi_spring *p = I->spring + k;
        embipc_real share = embi_spring_share(p, s->x + 3 * p->v, f, &size);
        changed += (share < 1) != (p->held < 1) || share > 2 * p->held || p->held > 2 * share;
    }
    return changed;
}

/* Does the force of a spring at the trial state differ by a hundredth of its limit from what its Hessian foretold? A
 * limit may be reached within a motion far below what counts as converged, and then the direction was not the last. */
static int embi_springs_missed(const embi_state *s, const embi_island *I)
{
    for (int k = 0; k < I->spring_count; k++) {
        const embi_spring *p = I->spring + k;
        embipc_real now[3], then[3], S[9], move[3], foretold[3];
        if (embi_spring_gradient(p, s->x + 3 * p->v, now) ==
            embi_spring_gradient(p, s->trial_x + 3 * p->v, then))
            continue;
        embi_spring_hessian(p, s->x + 3 * p->v, S);
        embi_sub(move, s->trial_x + 3 * p->v, s->x + 3 * p->v);
        embi_m3_mulv(foretold, S, move);
        embi_sub(then, then, now);
        embi_sub(then, then, foretold);
        if (embi_norm(then) > (embipc_real)0.01 * p->limit) return 1;
    }
    return 0;
}

/* ---- contacts of an island ---- */

/* closest points of one candidate at x */
static void embi_closest_find(const embi_candidate *c, const embipc_real *x, int stamp, embi_closest *out)
{
    embi_point p[4];
    embi_points_at(p, x, c->v);
    out->d = embi_closest_distance(p, c->edge_edge, out->w, &out->mask);
    out->stiffness = 0;
    out->stamp = stamp;
}

typedef struct embi_evaluate_task {
    embi_state *s;
    embi_island *I;
    const embipc_real *x;
} embi_evaluate_task;

/* A chunk of the near list of a pair: numbers of candidates, counted from the pair's first. */
typedef struct embi_near_run {
    const embi_pair *pair;
    int number;                  /* of the pair's head */
    const int *begin, *end;
    int *seen;                   /* those of them that were near enough to be looked at */
    const embi_candidate *candidate;
    embi_closest *closest;
    embi_apart *apart;
    embi_found *found;
} embi_near_run;

static embi_near_run embi_near_run_of(const embi_state *s, const embi_island *I, int n)
{
    const embi_chunk *chunk = I->by_near.list + n;
    embi_near_run r;
    r.pair = s->pair + I->pairs[chunk->item];
    r.number = r.pair->head;
    r.begin = s->near + r.pair->first + chunk->begin;
    r.end = s->near + r.pair->first + chunk->end;
    r.seen = s->seen + r.pair->first + chunk->begin;
    r.candidate = s->candidate + r.pair->first;
    r.closest = s->closest + r.pair->first;
    r.apart = s->apart + r.pair->first;
    r.found = I->found + n;
    return r;
}

static int embi_is_touching(const embi_candidate *c, const embi_closest *closest)
{
    return closest->d - c->xi < c->dhat;
}

/* closest points along near lists */
static void embi_closest_range(void *arg, int begin, int end)
{
    const embi_evaluate_task *t = (const embi_evaluate_task *)arg;
    for (int n = begin; n < end; n++) {
        embi_near_run r = embi_near_run_of(t->s, t->I, n);
        embi_found found;            /* here: other threads write to the same lines of memory */
        memset(&found, 0, sizeof found);
        found.min_gap = (embipc_real)INFINITY;
        for (const int *k = r.begin; k < r.end; k++) {
            const embi_candidate *c = r.candidate + *k;
            embi_closest *closest = r.closest + *k;
            if (!embi_is_near(r.apart + *k, r.pair->reach, r.pair->slack)) continue;
            r.seen[found.seen++] = *k;
            embi_closest_find(c, t->x, t->I->stamp, closest);
            if (embi_is_touching(c, closest)) {
                found.count++;
                found.edges += c->edge_edge;
            } else if (!(closest->d - c->xi > 0)) found.min_gap = embi_min(found.min_gap, closest->d - c->xi);
        }
        *r.found = found;
    }
}

/* Does the factor hold a stiffness wrongly, by more than a factor of two? */
static int embi_stiffness_changed(embipc_real now, embipc_real held, embipc_real kappa)
{
    embipc_real slack = (embipc_real)0.05 * kappa;
    return now > 2 * held + slack || held > 2 * now + slack;
}

/* what is active among them becomes contacts, each in its place */
static void embi_contact_range(void *arg, int begin, int end)
{
    const embi_evaluate_task *t = (const embi_evaluate_task *)arg;
    embi_contacts *contacts = &t->I->contacts;
    for (int n = begin; n < end; n++) {
        embi_near_run r = embi_near_run_of(t->s, t->I, n);
        embipc_real kappa = r.pair->rule.kappa;
        int to = r.found->first, extra = r.found->extra, changed = 0;
        for (const int *k = r.seen; k < r.seen + r.found->seen; k++) {
            const embi_candidate *c = r.candidate + *k;
            embi_closest *closest = r.closest + *k;
            if (embi_is_touching(c, closest)) {
                embi_contact_make(contacts, to, extra, c, closest, t->x, kappa, r.number);
                closest->stiffness = contacts->list[to++].second;
                extra += c->edge_edge;
            }
            changed += embi_stiffness_changed(closest->stiffness, closest->in_matrix, kappa);
        }
        r.found->changed = changed;
    }
}

/* Near lists that no longer serve, in a range of the island's pairs. */
static void embi_near_range(void *arg, int begin, int end)
{
    const embi_evaluate_task *t = (const embi_evaluate_task *)arg;
    embi_state *s = t->s;
    for (int k = begin; k < end; k++) {
        embi_pair *pair = s->pair + t->I->pairs[k];
        embipc_real dhat = pair->rule.dhat;
        embipc_real far = embi_pair_slack(pair, &s->body[pair->a].stray, &s->body[pair->b].stray);
        pair->slack = far;
        if (pair->near_count < 0 || far > pair->radius || pair->radius > 8 * (far + dhat))
            embi_pair_near(s, pair, (embipc_real)1.25 * far + dhat / 2);
    }
}

#define EMBI_SHARE_NEAR EMBI_SHARE(64)       /* 12 us of closest points: 0.2 us each [measured] */
#define EMBI_SHARE_SCAN EMBI_SHARE(8192)     /* and of candidates that are told by one number: 1.5 ns */

/* The near lists at x, cut into chunks, and how many contacts there are in each. Returns 0 out of memory. */
static int embi_island_find(embi_memory *m, embi_state *s, embi_island *I, embi_evaluate_task *task)
{
    embi_contacts *contacts = &I->contacts;
    long long candidates = 0;
    int count = 0, edges = 0;
    for (int n = 0; n < I->pair_count; n++) candidates += s->pair[I->pairs[n]].count;
    embi_for_work(&s->threads, I->pair_count, candidates, EMBI_SHARE_SCAN, embi_near_range, task);
    embi_chunks_clear(&I->by_near);
    for (int n = 0; n < I->pair_count; n++)
        if (!embi_chunks_add(m, &I->by_near, n, 0, s->pair[I->pairs[n]].near_count, EMBI_SHARE_NEAR)) return 0;
    if (!EMBI_GROW(m, embi_found, I->found, I->found_cap, I->by_near.count)) return 0;
    embi_for_chunks(&s->threads, &I->by_near, EMBI_SHARE_NEAR, embi_closest_range, task);
    for (int n = 0; n < I->by_near.count; n++) {
        embi_found *found = I->found + n;
        found->first = count;
        found->extra = edges;
        count += found->count;
        edges += found->edges;
        contacts->min_gap = embi_min(contacts->min_gap, found->min_gap);
    }
    contacts->pairs = count;
    contacts->extra_count = edges;
    return EMBI_GROW(m, embi_contact, contacts->list, contacts->list_cap, count) &&
           EMBI_GROW(m, embipc_real, contacts->extra, contacts->extra_cap, 12 * edges) &&
           EMBI_GROW(m, embi_key, I->keys, I->keys_cap, 2 * count);
}

static int embi_island_touch_room(embi_memory *m, embi_island *I)
{
    return EMBI_GROW(m, int, I->touched, I->touched_cap,
                     4 * (I->contacts.count + I->friction_count) + I->spring_count);
}

/* Contacts at the live vertices x of the island, whose bodies strayed so far as they say. Returns 0 out of memory. */
static int embi_island_contacts(embi_memory *m, embi_state *s, embi_island *I, const embipc_real *x)
{
    embipc_stage was = embi_stage(s, EMBIPC_STAGE_CONTACT);
    embi_contacts *contacts = &I->contacts;
    embi_evaluate_task task;
    int ok;
    embi_contacts_clear(contacts);
    I->stamp = ++s->stamp;
    task.s = s;
    task.I = I;
    task.x = x;
    ok = embi_island_find(m, s, I, &task);
    if (ok) embi_for_chunks(&s->threads, &I->by_near, EMBI_SHARE_NEAR, embi_contact_range, &task);
    for (int n = 0; n < I->by_near.count && ok;) {   /* for each two bodies: what stands on the same feature is merged */
        const embi_pair *pair = s->pair + I->pairs[I->by_near.list[n].item];
        int from = I->found[n].first, begin = contacts->count, count = 0;
        for (; n < I->by_near.count && s->pair[I->pairs[I->by_near.list[n].item]].head == pair->head; n++) {
            count += I->found[n].count;
            contacts->changed += I->found[n].changed;
        }
        if (begin < from && count)
            memmove(contacts->list + begin, contacts->list + from, (size_t)count * sizeof *contacts->list);
        contacts->count += count;
        embi_contacts_merge(contacts, begin, s->body[pair->a].vert0, s->body[pair->b].vert0,
                            pair->a == pair->b ? INT_MAX : s->body[pair->b].vert0, I->keys);
    }
    (void)embi_stage(s, was);
    return ok && embi_island_touch_room(m, I);
}

static void embi_body_stray(const embi_bodies_task *t, embi_body *b, int k)
{
    (void)k;
    if (b->known_start) embi_shift_copy(b, &b->stray, &b->shift);
    else (void)embi_body_shift(b, t->s->known_q, t->s->q, t->s->shift_d, NULL, &b->stray);
}

/* Contacts where the island is. */
static int embi_island_evaluate(embi_memory *m, embi_state *s, embi_island *I)
{
    embi_for_bodies(s, I, &I->by_vertices, embi_body_stray, NULL, NULL, 0);
    return embi_island_contacts(m, s, I, s->x);
}

static void embi_touch(embi_state *s, embi_island *I, int v)
{
    if (s->known[v] >= EMBI_VERTEX_LISTED) return;
    s->known[v] = EMBI_VERTEX_LISTED;
    I->touched[I->touched_count++] = v;
}

/* where the forces on an island's vertices are gathered */
static embi_pull embi_pull_of(const embi_state *s)
{
    embi_pull to;
    to.f = s->pull;
    to.known = s->known;
    return to;
}

/* the list of touched vertices that move, of the evaluation, the friction contacts and the springs of now */
static void embi_island_touched(embi_state *s, embi_island *I)
{
    if (I->touched_stamp == I->stamp) return;
    I->touched_stamp = I->stamp;
    I->touched_count = 0;
    for (int k = 0; k < I->contacts.count; k++) {
        const embi_contact *c = I->contacts.list + k;
        for (int i = 0; i < 4; i++)
            if (c->w[i] != 0 || c->extra >= 0) embi_touch(s, I, c->v[i]);
    }
    for (int k = 0; k < I->friction_count; k++)
        for (int i = 0; i < 4; i++)
            if (I->friction[k].w[i] != 0) embi_touch(s, I, I->friction[k].v[i]);
    for (int k = 0; k < I->spring_count; k++) embi_touch(s, I, I->spring[k].v);
    for (int k = 0; k < I->touched_count; k++) s->known[I->touched[k]] = EMBI_VERTEX_LIVE;
}

static void embi_body_energy(const embi_bodies_task *t, embi_body *b, int k)
{
    if (embi_is_dynamic(b) && b->elastic.nonlinear)
        t->I->part[2 * k] = embi_elastic_energy(&b->elastic, t->from + 3 * b->node0, 0, t->s->trace + b->trace0,
                                                t->I->part + 2 * k + 1);
}

/* Energy of what is not in A, J s^2: barrier, friction, springs, nonlinear materials; and the size of the terms,
 * for rounding. */
static void embi_island_contact_energy(embi_state *s, embi_island *I, const embipc_real *q,
                                       const embipc_real *x)
{
    embipc_real force, sum, size;
    embi_friction_move(I->friction, I->friction_count, s->xn, x);
    sum = I->contacts.energy + embi_friction_energy(I->friction, I->friction_count, &force);
    size = sum + (I->contacts.force + force) * I->noise_x;
    sum += embi_island_spring_energy(I, x, &size);
    embi_for_bodies(s, I, &I->by_tets, embi_body_energy, q, NULL, 0);
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        if (!embi_is_dynamic(b) || !b->elastic.nonlinear) continue;
        sum += I->part[2 * k];
        size += I->part[2 * k] + I->part[2 * k + 1] * I->noise_x;
    }
    I->contact_energy = s->hh * sum;
    I->contact_size = s->hh * embi_max(size, sum);
}

/* Takes lambda, normals and weights of all contacts as they are now for friction. Last step's |u| comes from
 * memory, sorted by key (values in u). Returns 0 out of memory. */
static int embi_island_lag_friction(embi_memory *m, embi_state *s, embi_island *I, const embi_key *memory,
                                    int memory_count, const embipc_real *u)
{
    I->friction_count = 0;
    if (!EMBI_GROW(m, embi_friction, I->friction, I->friction_cap, I->contacts.count)) return 0;
    for (int k = 0; k < I->contacts.count; k++) {
        const embi_contact *c = I->contacts.list + k;
        const embi_pair *pair = s->pair + c->pair;
        const embi_body *a = s->body + pair->a, *b = s->body + pair->b;
        embi_friction *f = I->friction + I->friction_count;
        embi_u64 key =
            ((embi_u64)a->handle.generation * 31 + (embi_u64)a->handle.index1) * 0x9E3779B97F4A7C15ull;
        int at;
        if (!(pair->rule.mu > 0) || !(c->first < 0)) continue;
        memcpy(f->v, c->v, sizeof f->v);
        memcpy(f->w, c->w, sizeof f->w);
        memcpy(f->n, c->n, sizeof f->n);
        f->pair = c->pair;
        f->weight = pair->rule.mu * -c->first;
        f->e = pair->rule.epsv * s->h;
        key = (key ^ ((embi_u64)b->handle.generation * 31 + (embi_u64)b->handle.index1)) *
              0xBF58476D1CE4E5B9ull;
        for (int i = 0; i < 4; i++)
            if (c->mask & (1 << i)) {
                int v = c->v[i], local = v >= b->vert0 && v < b->vert0 + b->nv ? 2 * (v - b->vert0) + 1
                                                                               : 2 * (v - a->vert0);
                key += (embi_u64)(unsigned)local * 0x94D049BB133111EBull ^
                       ((embi_u64)(unsigned)local << 17); /* order does not matter */
            }
        f->key = key;
        at = embi_lower_bound(memory, memory_count, key);
        f->expected = at < memory_count && memory[at].key == key ? u[memory[at].value] : (embipc_real)0;
        f->held = 0;
        f->turns = 0;
        I->friction_count++;
    }
    I->touched_stamp = -1;
    return embi_island_touch_room(m, I);
}

/* ---- the linear system ---- */

/* Gives the unknown nodes of the island their numbers. */
static int embi_island_number(embi_memory *m, embi_state *s, embi_island *I)
{
    int before = I->unknown_count;
    I->same = I->revision == s->revision;
    I->revision = s->revision;
    I->unknown_count = 0;
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        if (!EMBI_GROW(m, int, I->unknown, I->unknown_cap, I->unknown_count + b->nn)) return 0;
        for (int i = b->node0; i < b->node0 + b->nn; i++) {
            int is_free = embi_is_dynamic(b) && s->drive[i] < 0;
            s->local[i] = is_free ? I->unknown_count : -1;
            if (!is_free) continue;
            I->same &= I->unknown_count < before && I->unknown[I->unknown_count] == i;
            I->unknown[I->unknown_count++] = i;
        }
    }
    I->same &= I->unknown_count == before;
    if (!I->same) I->useful = I->wait = I->pause = I->kept = I->old_factor = 0;
    return embi_island_chunks(m, s, I) && EMBI_GROW(m, embipc_real, I->rhs, I->rhs_cap, 6 * I->unknown_count) &&
           EMBI_GROW(m, embipc_real, I->work, I->work_cap, 12 * I->unknown_count);
}

/* How near, in dhat, a candidate has a place in the matrix: the factor is fuller with more, ordered anew more often with
 * less. Against 2: grasps 0.96, cages of 150 to 600 nodes 0.97, piles 1.01 of the time; against 1, which gives none but
 * contacts a place: grasps 1.02, cages 0.99, piles 0.97 to 1.04. */
#define EMBI_COUPLED ((embipc_real)1.25)

/* Chooses order and structure of the system: all couplings of the bodies, and of candidates that are near, so that
 * contacts may come and go within the step without a new analysis. */
static int embi_island_analyze(embi_memory *m, embi_state *s, embi_island *I)
{
    int count = 0;
    if (embi_system_surely_dense(I->unknown_count, (int)s->solver))
        return embi_system_analyze(m, &I->system, I->unknown_count, NULL, 0, (int)s->solver);
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        if (!embi_is_dynamic(b)) continue;
        if (!EMBI_GROW(m, embi_key, I->keys, I->keys_cap, count + b->A.row[b->A.n])) return 0;
        for (int i = 0; i < b->nn; i++)
            for (int n = b->A.row[i]; n < b->A.row[i + 1]; n++) {
                int p = s->local[b->node0 + i], q = s->local[b->node0 + b->A.col[n]];
                if (p >= 0 && q >= 0)
                    I->keys[count++].key = embi_pack(embi_max_int(p, q), embi_min_int(p, q));
            }
    }
    for (int k = 0; k < I->contacts.count; k++)
        if (!embi_candidate_couple(m, &s->J, s->local, I->contacts.list[k].v, &I->keys, &count, &I->keys_cap))
            return 0;
    for (int k = 0; k < I->friction_count; k++)
        if (!embi_candidate_couple(m, &s->J, s->local, I->friction[k].v, &I->keys, &count, &I->keys_cap))
            return 0;
    for (int n = 0; n < I->by_near.count; n++) {
        embi_near_run r = embi_near_run_of(s, I, n);
        for (const int *k = r.seen; k < r.seen + r.found->seen; k++)
            if (r.closest[*k].d - r.candidate[*k].xi < EMBI_COUPLED * r.candidate[*k].dhat &&
                !embi_candidate_couple(m, &s->J, s->local, r.candidate[*k].v, &I->keys, &count, &I->keys_cap))
                return 0;
    }
    return embi_system_analyze(m, &I->system, I->unknown_count, I->keys, count, (int)s->solver);
}

/* K of the nonlinear materials at the present state: taken anew for each new factor. Between those the old
 * factor is the frozen model of the step, under exact energies and gradients, and embi_island_advance() says
 * how long it may serve. Freezing K for longer, with new contacts around it, does not pay: refreshed after a
 * move cut by half or a direction that shrank by less than half, it saves 3 % of the time where there is
 * contact (K takes a fifth of it), and costs 5.2 solves for 4.2 in free flight [measured, bodies of 48 and
 * 1280 tets]. */
static void embi_body_take_tangent(const embi_bodies_task *t, embi_body *b, int k)
{
    embi_bsr T;
    (void)k;
    if (!embi_is_dynamic(b) || !b->elastic.nonlinear) return;
    T = embi_body_tangent(b);
    embi_bsr_zero(&T);
    b->elastic.keep = t->I->keep;
    embi_body_add_hessian(t->s, b, t->s->q, t->s->hh, &T);
    b->elastic.keep = 0;
}
static void embi_island_tangent(embi_state *s, embi_island *I)
{
    embipc_stage was = embi_stage(s, EMBIPC_STAGE_ASSEMBLE);
    embi_for_bodies(s, I, &I->by_tets, embi_body_take_tangent, NULL, NULL, 0);
    (void)embi_stage(s, was);
}

/* Sets the system to zero, or, while A is the one that was factored last, what contacts reach of it. */
static void embi_island_reopen(embi_state *s, embi_island *I)
{
    int keeps = embi_system_keeps(&I->system);
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        keeps = keeps && !(embi_is_dynamic(b) && b->elastic.nonlinear);
    }
    if (!keeps) {
        embi_system_zero(&I->system);
        return;
    }
    for (int k = 0; k < I->contacts.count; k++)
        embi_contact_touch(&I->system, &s->J, s->local, I->contacts.list[k].v, I->contacts.list[k].w);
    for (int k = 0; k < I->friction_count; k++)
        embi_contact_touch(&I->system, &s->J, s->local, I->friction[k].v, I->friction[k].w);
    for (int k = 0; k < I->spring_count; k++) {
        int v[4] = {I->spring[k].v, 0, 0, 0};
        embi_contact_touch(&I->system, &s->J, s->local, v, embi_spring_weight);
    }
    embi_system_reopen(&I->system);
}

static void embi_body_make(const embi_bodies_task *t, embi_body *b, int k)
{
    (void)k;
    if (t->alpha == 0 || (b->elastic.nonlinear && embi_body_stiffness(t->s, b) > 0)) embi_body_assemble(t->s, b);
}

/* A of all bodies that lack it, or of those whose products need it */
static void embi_island_ready(embi_state *s, embi_island *I, int for_products)
{
    embipc_stage was;
    int lacking = 0;
    for (int k = 0; k < I->body_count && !lacking; k++) {
        const embi_body *b = s->body + I->bodies[k];
        lacking = embi_is_dynamic(b) && !b->assembled && (!for_products || b->elastic.nonlinear);
    }
    if (!lacking) return;
    was = embi_stage(s, EMBIPC_STAGE_ELASTIC);
    embi_for_bodies(s, I, &I->by_tets, embi_body_make, NULL, NULL, (embipc_real)for_products);
    (void)embi_stage(s, was);
}

/* its part of the system; no other body has a part in the same blocks */
static void embi_body_put(const embi_bodies_task *t, embi_body *b, int k)
{
    const int *local = t->s->local + b->node0;
    int ok = 1;
    if (embi_is_dynamic(b)) {
        ok = embi_system_add_bsr(&t->I->system, &b->A, local, 1);
        if (b->elastic.nonlinear) {
            embi_bsr T = embi_body_tangent(b);
            ok &= embi_system_add_bsr(&t->I->system, &T, local, 1);
        }
    }
    t->I->part[k] = (embipc_real)ok;
}

static int embi_island_stamp(embi_state *s, embi_island *I, const embi_contact *c)
{
    embipc_real S[9], z[EMBI_BENT][12];
    if (I->curved) {
        int count = embi_contact_curvature(c, s->x, z);
        return embi_contact_stamp_curvature(&I->system, &s->J, s->local, c, s->hh, count, z);
    }
    embi_contact_stiffness(c, S);
    return embi_contact_stamp(&I->system, &s->J, s->local, c->v, c->w, s->hh, S);
}

/* Fills the system at the present state; returns 0 when something does not fit its pattern. */
static int embi_island_assemble(embi_state *s, embi_island *I)
{
    embi_island_reopen(s, I);
    embi_island_ready(s, I, 0);
    I->system.clean = 0;
    embi_for_bodies(s, I, &I->by_tets, embi_body_put, NULL, NULL, 0);
    for (int k = 0; k < I->body_count; k++)
        if (I->part[k] == 0) return 0;
    for (int k = 0; k < I->contacts.count; k++)
        if (!embi_island_stamp(s, I, I->contacts.list + k)) return 0;
    for (int k = 0; k < I->friction_count; k++) {
        const embi_friction *f = I->friction + k;
        if (!embi_contact_stamp(&I->system, &s->J, s->local, f->v, f->w, s->hh, f->S)) return 0;
    }
    return embi_island_stamp_springs(s, I);
}

/* p on driven nodes: what is left of their present stage; 0 on all others. Returns whether anything moves. */
static int embi_island_driven_motion(embi_state *s, embi_island *I)
{
    int moving = 0;
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        for (int i = b->node0; i < b->node0 + b->nn; i++) {
            const embi_drive *d = s->drive[i] >= 0 ? s->drives + s->drive[i] : NULL;
            embi_set(s->p + 3 * i, 0, 0, 0);
            if (!d || d->done) continue;
            embi_sub(s->p + 3 * i, s->target + 3 * i, s->q + 3 * i);
            moving = 1;
        }
    }
    return moving;
}

static void embi_body_part_of_gradient(const embi_bodies_task *t, embi_body *b, int k)
{
    embi_state *s = t->s;
    (void)k;
    memcpy(s->g + 3 * b->node0, s->gq + 3 * b->node0, (size_t)(3 * b->nn) * sizeof *s->g);
    if (embi_is_dynamic(b) && b->elastic.nonlinear)
        embi_elastic_gradient(&b->elastic, s->q + 3 * b->node0, s->hh, s->trace + b->trace0, s->g + 3 * b->node0);
}

/* g = grad E over the nodes of the island */
static void embi_island_gradient(embi_state *s, embi_island *I)
{
    embi_pull to = embi_pull_of(s);
    embi_for_bodies(s, I, &I->by_tets, embi_body_part_of_gradient, NULL, NULL, 0);
    embi_island_touched(s, I);
    embi_contacts_gradient(&I->contacts, I->friction, I->friction_count, &to);
    for (int k = 0; k < I->spring_count; k++) {
        embipc_real f[3];
        (void)embi_spring_gradient(I->spring + k, s->x + 3 * I->spring[k].v, f);
        embi_gather(&to, I->spring[k].v, 1, f);
    }
    embi_scatter(&s->J, I->touched, I->touched_count, s->hh, &to, s->g);
}

static void embi_body_product(const embi_bodies_task *t, embi_body *b, int k)
{
    embi_state *s = t->s;
    (void)k;
    if (embi_is_dynamic(b)) embi_body_multiply(s, b, s->p + 3 * b->node0, s->Ap + 3 * b->node0);
    else memset(s->Ap + 3 * b->node0, 0, (size_t)(3 * b->nn) * sizeof *s->Ap);
}

/* Ap = A p over the nodes of the island */
static void embi_island_multiply(embi_state *s, embi_island *I)
{
    embi_island_ready(s, I, 1);
    embi_for_bodies(s, I, &I->by_tets, embi_body_product, NULL, NULL, 0);
}

/* motion = J p at the touched vertices */
static void embi_island_motion(embi_state *s, embi_island *I)
{
    embi_island_touched(s, I);
    embi_apply_list(s, I->touched, I->touched_count, 0, s->p, s->motion);
}

static void embi_body_push(const embi_bodies_task *t, embi_body *b, int k)
{
    embi_state *s = t->s;
    if (embi_is_dynamic(b) && b->elastic.nonlinear) {
        embi_bsr T = embi_body_tangent(b);
        embi_bsr_multiply(&T, s->p + 3 * b->node0, s->Ap + 3 * b->node0);
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) s->rhs[i] -= s->Ap[i];
    }
    embi_body_product(t, b, k);
    for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) s->rhs[i] -= s->Ap[i];
}

/* rhs -= H p: the driven motion (in p, all else 0) as it reaches the others, or any other. Leaves A p in Ap. */
static void embi_island_push(embi_state *s, embi_island *I)
{
    embipc_real S[9];
    embi_pull to = embi_pull_of(s);
    embi_island_ready(s, I, 1);
    embi_for_bodies(s, I, &I->by_tets, embi_body_push, NULL, NULL, 0);
    embi_island_motion(s, I);
    for (int k = 0; k < I->contacts.count; k++) {
        const embi_contact *c = I->contacts.list + k;
        embi_contact_push_along(c->v, c->w, c->n, c->second, s->motion, &to);
    }
    for (int k = 0; k < I->friction_count; k++) {
        const embi_friction *f = I->friction + k;
        embi_contact_push(f->v, f->w, f->S, s->motion, &to);
    }
    for (int k = 0; k < I->spring_count; k++) {
        int v[4] = {I->spring[k].v, 0, 0, 0};
        embi_spring_hessian(I->spring + k, s->x + 3 * v[0], S);
        embi_contact_push(v, embi_spring_weight, S, s->motion, &to);
    }
    embi_scatter(&s->J, I->touched, I->touched_count, -s->hh, &to, s->rhs);
}

/* Largest change of a gap along the direction (J p in motion) against a tenth of the gap. A direction may be short as a
 * velocity and still double a gap of 1e-12 m, with forces far from balance: that is not converged. */
static embipc_real embi_island_gap_change(const embi_state *s, const embi_island *I)
{
    embipc_real most = 0, r[3];
    for (int k = 0; k < I->contacts.count; k++) {
        const embi_contact *c = I->contacts.list + k;
        embi_contact_motion(c->v, c->w, s->motion, r);
        most = embi_max(most, embi_abs(embi_dot(r, c->n)) / ((embipc_real)0.1 * c->gap));
    }
    return most;
}

/* Newton's direction is short or long by the share lambda of the true curvature along it that the matrix
 * holds (it leaves out b' d2d/dx2, and an old factor more). Two directions in a row tell: moving by stride *
 * p_last left p = (1 - stride lambda) p_last. Where the two point the same way p is stretched by 1/lambda;
 * the line search has the last word. Buckling contacts, where the true curvature is negative for a while,
 * took 40 solves without this. */
static embipc_real embi_island_stretch(embi_state *s, embi_island *I)
{
    embipc_real same = 0, now = 0, last = 0, ratio, stretch;
    for (int k = 0; k < I->unknown_count; k++) {
        const embipc_real *p = s->p + 3 * I->unknown[k], *q = s->p_last + 3 * I->unknown[k];
        same += embi_dot(p, q);
        now += embi_dot(p, p);
        last += embi_dot(q, q);
    }
    for (int k = 0; k < I->unknown_count; k++)
        embi_copy(s->p_last + 3 * I->unknown[k], s->p + 3 * I->unknown[k]);
    if (I->driving || !(I->stride > 0) || !(same > 0) || same * same < (embipc_real)0.8 * now * last)
        return 1;
    ratio = same / last;
    stretch = ratio < 1 ? I->stride / (1 - ratio) : (embipc_real)16;
    return embi_min(embi_max(stretch, 1), 16);
}

/* What embi_friction_stiffness() puts into the matrix along the motion, N/m: it goes to 0 at the kink of f1. */
static embipc_real embi_friction_hold(const embi_friction *f, int first)
{
    embipc_real y = embi_norm(f->u), across, along;
    (void)embipc_friction(y, f->e, &across, &along);
    if (f->turns) along = 1 / f->e;
    else if (first && y == 0) along = 2 / f->e - embi_min(f->expected, f->e) / (f->e * f->e);
    return f->weight * along;
}

/* how many friction contacts the factor holds wrongly */
static int embi_friction_changed(const embi_state *s, const embi_island *I)
{
    int changed = 0;
    for (int k = 0; k < I->friction_count; k++) {
        const embi_friction *f = I->friction + k;
        changed += embi_stiffness_changed(embi_friction_hold(f, I->first), f->held,
                                          s->pair[f->pair].rule.kappa);
    }
    return changed;
}

/* ---- contact forces as unknowns ----
 * Many bodies that touch at few points: H = A + U U^T, A block-diagonal, a block for each body, and U with a column
 * sqrt(h^2) J^T z for each direction in which a contact, a friction contact or a spring resists. Then
 *   H^-1 = A^-1 - A^-1 U K^-1 U^T A^-1,   K = 1 + U^T A^-1 U                      [Woodbury 1950]
 * K is small, couples contacts on the same body only, and is better conditioned than H. A^-1 is needed where contacts
 * are, and A is the same throughout a step: its columns serve for all factors of the step, body by body.
 * Time against H as one matrix, piles that fall: 10 and 100 cages of 40 nodes 0.95 and 0.83, 10 of 200 and 400 nodes 0.62
 * and 0.60, 10 full balls 0.71; ten bears, which touch at many points, 1.01. On 2 threads the pile of 100 0.76. Where one
 * body or two hold most nodes, one factor keeps most of itself from one iteration to the next: 1, 2 and 3 cages of a
 * ball 1.1, a grasp by a cage of 108 nodes 1.15, a bear of 300 nodes 1.35 [measured]. */

#define EMBI_DUAL_COLUMNS 6   /* of U: at most the unknowns over this */
#define EMBI_DUAL_BODIES 4    /* no body has more nodes than all over this */
#define EMBI_DUAL_NODES 1024  /* of a body that contacts hang on, at most: 75 MB */

static int embi_island_wants_dual(const embi_state *s, const embi_island *I)
{
    int columns = (I->curved ? 2 : 1) * I->contacts.count + 2 * I->friction_count + 3 * I->spring_count;
    if (s->solver != EMBIPC_SOLVER_AUTO || embi_system_surely_dense(I->unknown_count, (int)s->solver) ||
        columns > 3 * I->unknown_count / EMBI_DUAL_COLUMNS)
        return 0;
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        if (embi_is_dynamic(b) && (b->elastic.nonlinear || b->nn > I->unknown_count / EMBI_DUAL_BODIES)) return 0;
    }
    return 1;
}

/* The bodies' first unknowns, and a factor of A for each that has none of this A. Returns 0 out of memory. */
static int embi_dual_bodies(embi_memory *m, embi_state *s, embi_island *I)
{
    embi_dual *D = I->dual;
    int n = 0;
    if (!EMBI_GROW(m, int, D->first, D->first_cap, I->body_count + 1) ||
        !EMBI_GROW(m, unsigned, D->taken, D->taken_cap, I->body_count))
        return 0;
    for (int k = 0; k < I->body_count; k++) {
        embi_body *b = s->body + I->bodies[k];
        D->first[k] = n;
        for (int i = b->node0; i < b->node0 + b->nn; i++) n += s->local[i] >= 0;
        if (D->first[k] == n || (b->inverse && b->inverse->valid)) continue;
        if (!b->inverse) b->inverse = (embi_inverse *)embi_alloc(m, 1, sizeof *b->inverse);
        if (!b->inverse ||
            !embi_inverse_begin(m, b->inverse, &b->A, s->local + b->node0, D->first[k], &I->keys, &I->keys_cap))
            return 0;
    }
    D->first[I->body_count] = n;
    return 1;
}

/* the body of an unknown */
static int embi_dual_body(const embi_dual *D, int bodies, int unknown)
{
    return embi_find_place(D->first, bodies + 1, unknown + 1) - 1;
}

/* Where something acts, without its columns yet: nodes and their shares of the point in the order of the link. What it
 * needs of A^-1 is asked for. Returns NULL out of memory. */
static embi_link *embi_dual_link(embi_memory *m, embi_state *s, embi_island *I, const int v[4], const embipc_real w[4],
                                 int node[EMBI_STAMP], embipc_real coef[EMBI_STAMP])
{
    embi_dual *D = I->dual;
    embi_link *l = D->link + D->count;
    int from[EMBI_STAMP], body[EMBI_STAMP], n = embi_contact_nodes(&s->J, v, w, from, coef), a = INT_MAX, b = -1;
    embipc_real share[EMBI_STAMP];
    memcpy(share, coef, sizeof share);
    for (int i = 0; i < n; i++) {
        int unknown = s->local[from[i]];
        body[i] = unknown < 0 ? -1 : embi_dual_body(D, I->body_count, unknown);
        if (unknown < 0) continue;
        a = embi_min_int(a, body[i]);
        b = embi_max_int(b, body[i]);
    }
    l->count = l->split = l->rank = 0;
    l->at = D->value_count;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < n; i++) {
            if (body[i] < 0 || (body[i] == a) == side) continue;
            node[l->count] = from[i];
            coef[l->count] = share[i];
            l->node[l->count] = s->local[from[i]];
            l->place[l->count] = embi_inverse_ask(s->body[I->bodies[body[i]]].inverse,
                                                  l->node[l->count] - D->first[body[i]]);
            l->count++;
        }
        if (!side) l->split = l->count;
    }
    I->keys[D->count].key = embi_pack(a, b);
    I->keys[D->count].value = D->count;
    D->count++;
    return EMBI_GROW(m, embipc_real, D->value, D->value_cap, D->value_count + 3 * EMBI_BENT * EMBI_STAMP) ? l : NULL;
}

/* one more column of the last link: z at its point */
static void embi_dual_column(embi_dual *D, const embipc_real *coef, embipc_real size, const embipc_real z[3])
{
    embi_link *l = D->link + D->count - 1;
    embipc_real *u = D->value + D->value_count;
    for (int i = 0; i < l->count; i++) embi_scale(u + 3 * i, size * coef[i], z);
    D->value_count += 3 * l->count;
    l->rank++;
}

/* and those of a stiffness S there. Returns 0 out of memory. */
static int embi_dual_stiffness(embi_memory *m, embi_state *s, embi_island *I, const int v[4], const embipc_real w[4],
                               const embipc_real S[9])
{
    int node[EMBI_STAMP];
    embipc_real coef[EMBI_STAMP], M[9], V[9], z[3], most = 0;
    if (!embi_dual_link(m, s, I, v, w, node, coef)) return 0;
    memcpy(M, S, sizeof M);
    embi_eigen_symmetric(3, M, V);
    for (int e = 0; e < 3; e++) most = embi_max(most, M[4 * e]);
    for (int e = 0; e < 3; e++) {
        if (!(M[4 * e] > EMBI_EPS * most)) continue;
        embi_set(z, V[e], V[3 + e], V[6 + e]);
        embi_dual_column(I->dual, coef, sqrt(s->hh * M[4 * e]), z);
    }
    return 1;
}

static int embi_dual_contact(embi_memory *m, embi_state *s, embi_island *I, const embi_contact *c)
{
    embi_dual *D = I->dual;
    int node[EMBI_STAMP], rank;
    embipc_real coef[EMBI_STAMP], z[EMBI_BENT][12], to[3 * EMBI_BENT];
    embi_link *l = embi_dual_link(m, s, I, c->v, c->w, node, coef);
    if (!l) return 0;
    if (!I->curved) {
        if (c->second > 0) embi_dual_column(D, coef, sqrt(s->hh * c->second), c->n);
        return 1;
    }
    l->rank = rank = embi_contact_curvature(c, s->x, z);
    for (int i = 0; i < l->count; i++) {
        embi_curvature_at(&s->J, c, node[i], rank, z, to);
        for (int e = 0; e < rank; e++) embi_scale(D->value + l->at + 3 * (l->count * e + i), sqrt(s->hh), to + 3 * e);
    }
    D->value_count += 3 * l->count * rank;
    return 1;
}

/* All links, in the order of the pairs of bodies they are between. Returns 0 out of memory. */
static int embi_dual_links(embi_memory *m, embi_state *s, embi_island *I)
{
    embi_dual *D = I->dual;
    embipc_real S[9];
    int most = I->contacts.count + I->friction_count + I->spring_count;
    D->count = D->value_count = 0;
    if (!EMBI_GROW(m, embi_link, D->link, D->link_cap, most) ||
        !EMBI_GROW(m, embi_key, I->keys, I->keys_cap, 2 * most))
        return 0;
    for (int k = 0; k < I->contacts.count; k++)
        if (!embi_dual_contact(m, s, I, I->contacts.list + k)) return 0;
    for (int k = 0; k < I->friction_count; k++) {
        const embi_friction *f = I->friction + k;
        if (!embi_dual_stiffness(m, s, I, f->v, f->w, f->S)) return 0;
    }
    for (int k = 0; k < I->spring_count; k++) {
        int v[4] = {I->spring[k].v, 0, 0, 0};
        embi_spring_hessian(I->spring + k, s->x + 3 * v[0], S);
        if (!embi_dual_stiffness(m, s, I, v, embi_spring_weight, S)) return 0;
    }
    embi_sort_keys(I->keys, I->keys + most, D->count);
    return 1;
}

/* Columns of U in threes, each on the same one or two bodies. Returns 0 out of memory. */
static int embi_dual_columns(embi_memory *m, embi_island *I)
{
    embi_dual *D = I->dual;
    int most = 0, used = 0;
    for (int k = 0; k < D->count; k++) most += 3 * D->link[k].rank;   /* were each in a three of its own */
    if (!EMBI_GROW(m, int, D->column, D->column_cap, most) || !EMBI_GROW(m, int, D->side, D->side_cap, 2 * most))
        return 0;
    for (int k = 0; k < D->count; k++) {
        const embi_link *l = D->link + I->keys[k].value;
        if (k && I->keys[k].key != I->keys[k - 1].key)
            while (used % 3) D->column[used++] = -1;
        for (int e = 0; e < l->rank && l->count > 0; e++) {
            D->side[2 * (used / 3)] = (int)(I->keys[k].key >> 32);
            D->side[2 * (used / 3) + 1] = (int)(I->keys[k].key & 0xffffffffu);
            D->column[used++] = EMBI_BENT * I->keys[k].value + e;
        }
    }
    while (used % 3) D->column[used++] = -1;
    D->triples = used / 3;
    return 1;
}

/* Lists of them by body, and room for what each body adds. Returns -2 out of memory, 0 where there are too many. */
static int embi_dual_members(embi_memory *m, embi_state *s, embi_island *I)
{
    embi_dual *D = I->dual;
    int blocks = 0;
    if (!EMBI_GROW(m, int, D->member, D->member_cap, 2 * D->triples) ||
        !EMBI_GROW(m, embi_sparse, D->side_column, D->side_column_cap, 6 * D->triples) ||
        !EMBI_GROW(m, int, D->member_start, D->member_start_cap, I->body_count + 2) ||
        !EMBI_GROW(m, int, D->block_start, D->block_start_cap, I->body_count + 1))
        return -2;
    memset(D->member_start, 0, (size_t)(I->body_count + 2) * sizeof(int));
    for (int t = 0; t < 2 * D->triples; t++)
        if (t % 2 == 0 || D->side[t] != D->side[t - 1]) D->member_start[D->side[t] + 2]++;
    for (int k = 0; k < I->body_count; k++) D->member_start[k + 2] += D->member_start[k + 1];
    for (int t = 0; t < 2 * D->triples; t++)
        if (t % 2 == 0 || D->side[t] != D->side[t - 1]) D->member[D->member_start[D->side[t] + 1]++] = t / 2;
    for (int k = 0; k < I->body_count; k++) {
        embi_inverse *V = s->body[I->bodies[k]].inverse;
        int count = D->member_start[k + 1] - D->member_start[k];
        D->block_start[k] = blocks;
        if (!count) continue;
        if (V->asked_count > EMBI_DUAL_NODES || count > 20000 || blocks > INT_MAX / 10 - count * (count + 1) / 2) return 0;
        if (!embi_inverse_room(m, V)) return -2;
        blocks += count * (count + 1) / 2;
    }
    D->block_start[I->body_count] = blocks;
    if (!EMBI_GROW(m, embipc_real, D->block, D->block_cap, 9 * blocks) ||
        !EMBI_GROW(m, embipc_real, D->work, D->work_cap, 3 * I->unknown_count + 3 * D->triples))
        return -2;
    return 1;
}

/* A body's factor, where it has none of this A. */
static void embi_dual_invert(const embi_bodies_task *t, embi_body *b, int k)
{
    const embi_dual *D = t->I->dual;
    t->I->part[k] = 0;
    if (D->first[k] == D->first[k + 1]) return;
    if (!b->inverse->valid) t->I->part[k] = (embipc_real)embi_inverse_take(b->inverse, &b->A);
    b->inverse->valid = t->I->part[k] == 0;
}

/* The part of a column that is on the body whose unknowns begin with `first`. */
static embi_sparse embi_column_on(const embi_dual *D, int column, int first)
{
    const embi_link *l = D->link + column / EMBI_BENT;
    int other;
    embi_sparse u = {0, NULL, NULL, NULL};
    if (column < 0) return u;
    other = l->split < l->count && l->node[0] < first;   /* the second one, which comes behind the first */
    u.count = other ? l->count - l->split : l->split;
    u.node = l->node + (other ? l->split : 0);
    u.place = l->place + (other ? l->split : 0);
    u.u = D->value + l->at + 3 * (l->count * (column % EMBI_BENT) + (other ? l->split : 0));
    return u;
}

/* Its part of K: u . A^-1 u for all columns u of U on it. */
static void embi_dual_part(const embi_bodies_task *t, embi_body *b, int k)
{
    const embi_dual *D = t->I->dual;
    const int *list = D->member + D->member_start[k];
    int count = D->member_start[k + 1] - D->member_start[k], first = D->first[k];
    embi_sparse *u = D->side_column + 3 * (size_t)D->member_start[k];
    embipc_real *y = D->work + 3 * first, *B = D->block + 9 * (size_t)D->block_start[k];
    if (!count) return;
    embi_inverse_fill(b->inverse);
    for (int i = 0; i < 3 * count; i++) u[i] = embi_column_on(D, D->column[3 * list[i / 3] + i % 3], first);
    for (int i = 0; i < count; i++, B += 9 * i)
        for (int e = 0; e < 3; e++) {
            embi_inverse_apply(b->inverse, u + 3 * i + e, y);
            for (int j = 0; j <= i; j++)
                for (int f = 0; f < 3; f++) B[9 * j + 3 * e + f] = embi_sparse_dot(u + 3 * j + f, u[3 * j + f].place, y);
        }
}

/* K, factored. Returns the pivots that had to be replaced, -1: inf or nan; -2 out of memory. */
static int embi_dual_gather(embi_memory *m, embi_state *s, embi_island *I)
{
    static const embipc_real one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    embi_dual *D = I->dual;
    int count = 0;
    if (!EMBI_GROW(m, embi_key, I->keys, I->keys_cap, D->block_start[I->body_count])) return -2;
    for (int k = 0; k < I->body_count; k++)
        for (int i = D->member_start[k]; i < D->member_start[k + 1]; i++)
            for (int j = D->member_start[k]; j <= i; j++)
                I->keys[count++].key = embi_pack(D->member[i], D->member[j]);
    if (!embi_system_analyze(m, &D->K, D->triples, I->keys, count, EMBI_SYSTEM_AUTO)) return -2;
    D->K.F.threads = I->system.F.threads;
    for (int t = 0; t < D->triples; t++) (void)embi_system_add(&D->K, t, t, one);
    embi_for_bodies(s, I, &I->by_tets, embi_dual_part, NULL, NULL, 0);
    for (int b = 0; b < count; b++)
        (void)embi_system_add(&D->K, (int)(I->keys[b].key >> 32), (int)(I->keys[b].key & 0xffffffffu),
                              D->block + 9 * (size_t)b);
    return embi_system_factor(&D->K);
}

/* how many factors of its A there were: tells them apart */
static unsigned embi_body_factors(const embi_body *b) { return b->inverse ? b->inverse->taken : 0; }

/* Factors H as A and K: 1, or 0 where it is better, or has to be, as one matrix. -1: inf or nan; -2 out of memory. */
static int embi_dual_factor(embi_memory *m, embi_state *s, embi_island *I)
{
    embi_dual *D;
    int fits, replaced;
    if (I->dual) I->dual->on = 0;
    if (!embi_island_wants_dual(s, I)) return 0;
    if (!I->dual) I->dual = (embi_dual *)embi_alloc(m, 1, sizeof *I->dual);
    if ((D = I->dual) == NULL) return -2;
    embi_island_ready(s, I, 0);
    if (!embi_dual_bodies(m, s, I)) return -2;
    (void)embi_stage(s, EMBIPC_STAGE_FACTOR);
    embi_for_bodies(s, I, &I->by_tets, embi_dual_invert, NULL, NULL, 0);
    for (int k = 0; k < I->body_count; k++) {
        if (I->part[k] != 0) return I->part[k] < 0 ? -1 : 0;
        D->taken[k] = embi_body_factors(s->body + I->bodies[k]);
    }
    D->bodies = I->body_count;
    if (!embi_dual_links(m, s, I) || !embi_dual_columns(m, I)) return -2;
    if ((fits = embi_dual_members(m, s, I)) <= 0) return fits;
    if ((replaced = embi_dual_gather(m, s, I)) != 0) return replaced < 0 ? replaced : 0;
    D->on = 1;
    return 1;
}

/* whether the last factor is by contact forces */
static int embi_has_dual(const embi_island *I) { return I->dual && I->dual->on; }

/* Are the bodies those it was made of, with the factors it was made with? One that moves by a drive adds no unknown. */
static int embi_dual_fits(const embi_state *s, const embi_island *I)
{
    if (!embi_has_dual(I)) return 1;
    if (I->dual->bodies != I->body_count) return 0;
    for (int k = 0; k < I->body_count; k++)
        if (I->dual->taken[k] != embi_body_factors(s->body + I->bodies[k])) return 0;
    return 1;
}

/* a whole column */
static embi_sparse embi_column_of(const embi_dual *D, int column)
{
    embi_sparse u = embi_column_on(D, column, 0);
    if (column >= 0) u.count = D->link[column / EMBI_BENT].count;
    return u;
}

static void embi_dual_solve_body(const embi_bodies_task *t, embi_body *b, int k)
{
    const embi_dual *D = t->I->dual;
    if (D->first[k] < D->first[k + 1]) embi_system_solve(&b->inverse->S, t->to + 3 * D->first[k]);
}

/* b := H^-1 b by the factor that there is */
static void embi_island_back_solve(embi_state *s, embi_island *I, embipc_real *b)
{
    embi_dual *D = I->dual;
    embipc_real *y, *force;
    if (!embi_has_dual(I)) {
        embi_system_solve(&I->system, b);
        return;
    }
    EMBIPC_ASSERT(D->bodies == I->body_count && D->first[D->bodies] == I->unknown_count);
    y = D->work;
    force = y + 3 * I->unknown_count;
    memcpy(y, b, (size_t)(3 * I->unknown_count) * sizeof *y);
    embi_for_bodies(s, I, &I->by_tets, embi_dual_solve_body, NULL, y, 0);
    for (int t = 0; t < 3 * D->triples; t++) {
        embi_sparse u = embi_column_of(D, D->column[t]);
        force[t] = embi_sparse_dot(&u, u.node, y);
    }
    embi_system_solve(&D->K, force);
    for (int t = 0; t < 3 * D->triples; t++) {
        embi_sparse u = embi_column_of(D, D->column[t]);
        for (int i = 0; i < u.count; i++) embi_axpy(b + 3 * u.node[i], -force[t], u.u + 3 * i);
    }
    embi_for_bodies(s, I, &I->by_tets, embi_dual_solve_body, NULL, b, 0);
}

/* The matrix as one at the present state, factored; the order is kept while the pattern fits. Returns the pivots that had
 * to be replaced, -1: inf or nan; -2 out of memory, -3: it does not fit the pattern made for it, which cannot be. */
static int embi_island_factor_whole(embi_memory *m, embi_state *s, embi_island *I)
{
    int pivots;
    if (!I->analysed || !embi_island_assemble(s, I)) {
        if (!embi_island_analyze(m, s, I)) return -2;
        if (!embi_island_assemble(s, I)) return -3;
        I->analysed = 1;
    }
    (void)embi_stage(s, EMBIPC_STAGE_FACTOR);
    pivots = embi_system_factor(&I->system);
    while (pivots > 0 && I->keep > 0) {   /* half of it, down to an eighth: see EMBI_SLOW */
        I->too_much = I->keep;
        I->keep = I->keep > (embipc_real)0.2 ? I->keep / 2 : (embipc_real)0;
        embi_island_tangent(s, I);
        if (!embi_island_assemble(s, I)) return -3;
        pivots = embi_system_factor(&I->system);
    }
    return pivots;
}

/* The matrix at the present state, factored. */
static embipc_result embi_island_factor(embi_memory *m, embi_state *s, embi_island *I)
{
    int pivots = 0, dual = embi_dual_factor(m, s, I);
    if (dual == 0) pivots = embi_island_factor_whole(m, s, I);
    else if (dual < 0) pivots = dual;
    if (pivots < 0)
        return pivots == -1 ? EMBIPC_ERR_NOT_FINITE : pivots == -2 ? EMBIPC_ERR_MEMORY : EMBIPC_ERR_ARGUMENT;
    I->regularized += pivots;
    I->factorizations++;
    I->useful = 1;
    I->kept = 0;
    if (I->pause == 0) I->pause = 1;
    (void)embi_stage(s, EMBIPC_STAGE_ASSEMBLE);   /* what the matrix holds of contacts */
    for (int n = 0; n < I->by_near.count; n++) {
        embi_near_run r = embi_near_run_of(s, I, n);
        for (const int *k = r.seen; k < r.seen + r.found->seen; k++) {
            r.closest[*k].in_matrix = r.closest[*k].stiffness;
            if (r.closest[*k].stiffness > 0) r.apart[*k].least = -EMBI_HUGE;   /* seen, so that its leaving is noticed */
        }
    }
    for (int k = 0; k < I->friction_count; k++)
        I->friction[k].held = embi_friction_hold(I->friction + k, I->first);
    for (int k = 0; k < I->spring_count; k++) {
        embipc_real f[3];
        I->spring[k].held = embi_spring_gradient(I->spring + k, s->x + 3 * I->spring[k].v, f);
    }
    return EMBIPC_OK;
}

/* ---- factors that serve for more than one step ----
 * From one step to the next H changes by the little that R turns, and by the contacts that come, go or stiffen:
 * few. So a step begins with the factor of an earlier one, as the preconditioner M of conjugate gradients on its
 * own H. What M holds right is solved by the first iteration, each contact that it does not know of takes one
 * more. A is not even assembled: its products are made tet by tet. */

/* Unknown nodes below which a factor costs no more than an iteration: a ball squeezed and lifted in a cage of 16
 * nodes goes 0.9 times as fast with kept factors, of 24 as fast, of 35 1.17 times. */
#define EMBI_KEEP_NODES 24
#define EMBI_KEEP_ITERATIONS 8   /* more cost as much as the factor */
#define EMBI_OLD_SHARE ((embipc_real)0.1)   /* of the tolerance: a direction this short by M alone is the last one */

/* at the start of a step */
static void embi_island_recall(const embi_state *s, embi_island *I)
{
    I->kept = I->useful && I->same && I->unknown_count >= EMBI_KEEP_NODES &&
              I->system.method != EMBI_SYSTEM_CG;
    I->kept = I->kept && embi_dual_fits(s, I);
    if (!I->kept || I->wait == 0) return;
    I->wait--;
    I->kept = 0;
}

/* y = H x over the unknowns */
static void embi_island_apply(embi_state *s, embi_island *I, const embipc_real *x, embipc_real *y)
{
    embipc_stage was = embi_stage(s, EMBIPC_STAGE_ASSEMBLE);
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        memset(s->p + 3 * b->node0, 0, (size_t)(3 * b->nn) * sizeof *s->p);
        memset(s->rhs + 3 * b->node0, 0, (size_t)(3 * b->nn) * sizeof *s->rhs);
    }
    for (int k = 0; k < I->unknown_count; k++) embi_copy(s->p + 3 * I->unknown[k], x + 3 * k);
    embi_island_push(s, I);
    for (int k = 0; k < I->unknown_count; k++) embi_scale(y + 3 * k, -1, s->rhs + 3 * I->unknown[k]);
    (void)embi_stage(s, was);
}

/* to = scale from, or to += scale from, over the nodes of the island */
static void embi_island_combine(const embi_state *s, const embi_island *I, embipc_real scale, const embipc_real *from,
                                int add, embipc_real *to)
{
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++)
            to[i] = scale * from[i] + (add ? to[i] : (embipc_real)0);
    }
}

/* the length that counts as converged, m: the least of the island's bodies */
static embipc_real embi_island_tolerance(const embi_state *s, const embi_island *I)
{
    embipc_real least = EMBI_HUGE;
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        if (embi_is_dynamic(b)) least = embi_min(least, embi_min(b->c * b->tolerance, b->dhat / 10));
    }
    return least;
}

static embipc_real embi_row_most(int n, const embipc_real *x)
{
    embipc_real most = 0;
    for (int i = 0; i < n; i++) most = embi_max(most, embi_abs(x[i]));
    return most;
}

#define EMBI_BALANCE ((embipc_real)5e-4)   /* a share of forces that is next to nothing */

/* Do the forces r (on the unknowns, N s^2) on each body of which no node is driven add up to next to nothing, against
 * its weight and what bodies bear on average? (What floats and touches nothing is measured by the tolerance.) */
static int embi_island_balances(const embi_state *s, const embi_island *I, const embipc_real *r)
{
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        embipc_real sum[3] = {0, 0, 0}, bears = I->contacts.force / (embipc_real)I->body_count;
        if (!embi_is_dynamic(b) || b->driven_nodes > 0) continue;
        for (int i = b->node0; i < b->node0 + b->nn; i++) embi_add(sum, sum, r + 3 * s->local[i]);
        bears += b->total_mass * (embi_norm(s->gravity) + b->tolerance / s->h);
        if (embi_norm(sum) > EMBI_BALANCE * s->hh * bears) return 0;
    }
    return 1;
}

/* H x = b with an earlier factor, of this step or of one before, b = I->rhs, which becomes x. z = M^-1 r is about
 * what x is off by: once it is below 0.05 of the tolerance and the forces r balance, x will do. Without a drive it is
 * added and that was the last once it is below 0.01 of x (a drive's direction carries along what sticks; what it misses
 * slips). Each z adds what M does not know of stiff contacts to the forces: of a ball held between plates, and moved
 * by 0.05 of the tolerance so, 0.3 % of 100 N were out of balance. By a factor of this step it may end at once, with
 * M^-1 b, where M has curvatures that products with H leave out. Else an iteration is cheaper than the next look at all
 * contacts that a direction which is only nearly Newton's asks for: against M^-1 b throughout, squeeze affine and cage,
 * grasp low and a tower of 100 boxes take 3, 4, 10, 8 % fewer solves, and 0, 1, 1, 8 % fewer instructions. Where x is the
 * sum of the p, A x is that of their A p, added to that of driven nodes in trial_q, which is free until a direction is
 * aimed. Returns 0, and leaves b alone, when that takes too many iterations: a new factor is due. */
static int embi_island_solve_kept(embi_state *s, embi_island *I)
{
    int n = 3 * I->unknown_count;
    embipc_real *x = I->work, *r = x + n, *z = r + n, *p = z + n, *q = I->rhs + n, rz = 0, first = 0, before = 0;
    embipc_real enough = (embipc_real)0.05 * embi_island_tolerance(s, I);
    for (int i = 0; i < n; i++) x[i] = p[i] = 0;
    memcpy(r, I->rhs, (size_t)n * sizeof *r);
    for (int k = 0; k < EMBI_KEEP_ITERATIONS; k++) {
        embipc_real size, pq, alpha;
        memcpy(z, r, (size_t)n * sizeof *z);
        embi_island_back_solve(s, I, z);
        size = embi_row_most(n, z);
        before = rz;
        rz = embi_row_dot(n, r, z);
        if (k == 0) first = size;
        if (!embi_finite(rz) || (k > 2 && size > first / 4)) return 0;
        if (k == 0 && I->old_factor && I->curved) {
            memcpy(I->rhs, z, (size_t)n * sizeof *z);
            I->inexact = 1;
            return 1;
        }
        if (k == 0 && I->old_factor) embi_island_tangent(s, I);
        if (k > 0 && size < enough && embi_island_balances(s, I, r)) {
            memcpy(I->rhs, x, (size_t)n * sizeof *x);
            I->multiplied = 1;
            return 1;
        }
        if (k > 0 && !I->driving && size < (embipc_real)0.01 * embi_row_most(n, x)) {
            for (int i = 0; i < n; i++) I->rhs[i] = x[i] + z[i];
            return 1;
        }
        for (int i = 0; i < n; i++) p[i] = z[i] + (k ? rz / before * p[i] : (embipc_real)0);
        embi_island_apply(s, I, p, q);
        pq = embi_row_dot(n, p, q);
        if (!(pq > 0)) {
            if (k == 0 && rz == 0) memset(I->rhs, 0, (size_t)n * sizeof *x);   /* b = 0 */
            return k == 0 && rz == 0;
        }
        alpha = rz / pq;
        embi_row_subtract(n, -alpha, p, x);
        embi_row_subtract(n, alpha, q, r);
        embi_island_combine(s, I, alpha, s->Ap, k > 0 || I->driving, s->trial_q);
    }
    return 0;
}

/* Slope of E along p, and the length of p in units of what counts as converged: per body c tolerance, or 0.1
 * dhat where that is less, so that no contact can come or go within a motion called small. */
static embipc_real embi_island_measure(embi_state *s, embi_island *I)
{
    embipc_real worst = 0;
    I->slope = 0;
    I->record.direction = 0;
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        embipc_real most = 0;
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) {
            if (s->local[i / 3] >= 0) most = embi_max(most, embi_abs(s->p[i]));
            I->slope += s->p[i] * s->g[i];
        }
        if (most > 0) worst = embi_max(worst, most / embi_min(b->c * b->tolerance, b->dhat / 10));
        I->record.direction = embi_max(I->record.direction, most / b->c);
    }
    return worst;
}

/* I->rhs := H^-1 I->rhs */
static embipc_result embi_island_solve(embi_memory *m, embi_state *s, embi_island *I)
{
    embipc_result r;
    I->inexact = I->multiplied = 0;
    if (I->unknown_count && (I->kept || I->old_factor)) {   /* an island may be driven as a whole */
        int solved;
        (void)embi_stage(s, EMBIPC_STAGE_SOLVE);
        solved = embi_island_solve_kept(s, I);
        (void)embi_island_driven_motion(s, I);   /* p on the driven nodes, again */
        if (solved && I->kept) I->pause = 1;
        if (solved) return EMBIPC_OK;
        if (I->kept) {
            I->wait = I->pause;
            I->pause = embi_min_int(2 * I->pause, 16);
        }
        I->kept = I->old_factor = 0;
        (void)embi_stage(s, EMBIPC_STAGE_ASSEMBLE);
    }
    if ((r = embi_island_factor(m, s, I)) != EMBIPC_OK) return r;
    (void)embi_stage(s, EMBIPC_STAGE_SOLVE);
    embi_island_back_solve(s, I, I->rhs);
    return EMBIPC_OK;
}

/* The projected Hessian of a nonlinear body is stiffer than the true one, and Newton's method with it no longer
 * quadratic. After so many solves with new matrices in a row that made the direction shorter by less than half,
 * its tets keep their negative curvature: all of it, or, as long as that leaves pivots that are not positive, half,
 * a quarter, an eighth; and while solves stay slow, the middle between what was too much and what was not. Rubber
 * pressed flat between plates, cylinders of 16 and 24 cells, solves a step: 11.0 and 12.9; all or nothing of it:
 * 13.0 and 15.3, and 2 of 80 steps cut short. */
#define EMBI_SLOW 2

/* A friction contact that slips resists nothing more along its way, as its tangent sees it; where the direction takes it
 * back through the zone in which it sticks and out on the other side, the line search ends the move of the whole
 * island there, for one such contact after the other. Those that turn so count as sticking in the next direction, with
 * the force weight u/e that goes through 0; they do until they are in the zone, or that direction, too, ends outside.
 * A pile of 100 cages takes 11.4 solves a step and 8 % of its moves are cut so; without this 13.7 and 27 %. Takes J p
 * from motion. */
static void embi_island_turning(embi_state *s, embi_island *I)
{
    I->turning = 0;
    for (int k = 0; k < I->friction_count; k++) {
        embi_friction *f = I->friction + k;
        embipc_real to[3], zone = f->e * f->e;
        int back, ends_inside;
        embi_contact_motion(f->v, f->w, s->motion, to);
        embi_axpy(to, -embi_dot(to, f->n), f->n);
        embi_add(to, to, f->u);
        back = embi_dot(to, f->u) < 0;
        ends_inside = embi_dot(to, to) < zone;
        f->turns = embi_dot(f->u, f->u) > zone && (f->turns ? ends_inside : back && !ends_inside);
        I->turning += f->turns;
    }
}

/* Drops from those that turn what is in its zone by now; rhs -= what the force weight u/e of the others is more than
 * their own, weight u/|u|. Returns whether there are any. */
static int embi_island_turn(embi_state *s, embi_island *I)
{
    embi_pull to = embi_pull_of(s);
    int any = 0;
    for (int k = 0; k < I->friction_count; k++) {
        embi_friction *f = I->friction + k;
        embipc_real more[3];
        f->turns = f->turns && embi_dot(f->u, f->u) > f->e * f->e;
        if (!f->turns) continue;
        any = 1;
        embi_scale(more, f->weight * (1 / f->e - 1 / embi_norm(f->u)), f->u);
        embi_gather_point(f->v, f->w, more, &to);
    }
    if (any) embi_scatter(&s->J, I->touched, I->touched_count, -s->hh, &to, s->rhs);
    return any;
}

/* Solves for the direction p at the present state. */
static embipc_result embi_island_direction(embi_memory *m, embi_state *s, embi_island *I)
{
    embipc_real worst, stretch;
    embipc_result r;
    (void)embi_stage(s, EMBIPC_STAGE_ASSEMBLE);
    I->driving = embi_island_driven_motion(s, I);
    embi_island_gradient(s, I);
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) s->rhs[i] = -s->g[i];
    }
    if (I->slow >= EMBI_SLOW && I->too_much - I->keep > (embipc_real)0.03 && I->system.method != EMBI_SYSTEM_CG) {
        I->keep = I->too_much > 1 ? (embipc_real)1 : (I->keep + I->too_much) / 2;
        I->kept = 0;
    }
    if (!I->old_factor) embi_island_tangent(s, I);
    I->turned = embi_island_turn(s, I);
    for (int k = 0; k < I->friction_count; k++)
        embi_friction_stiffness(I->friction + k, I->first, I->friction[k].S);
    if (I->driving) {
        embi_island_push(s, I);
        embi_island_combine(s, I, 1, s->Ap, 0, s->trial_q);
    }
    for (int k = 0; k < I->unknown_count; k++) embi_copy(I->rhs + 3 * k, s->rhs + 3 * I->unknown[k]);
    if ((r = embi_island_solve(m, s, I)) != EMBIPC_OK) return r;
    for (int k = 0; k < I->unknown_count; k++) embi_copy(s->p + 3 * I->unknown[k], I->rhs + 3 * k);
    (void)embi_stage(s, EMBIPC_STAGE_MOVE);
    if (!embi_all_finite(I->rhs, 3 * I->unknown_count)) return EMBIPC_ERR_NOT_FINITE;
    I->iterations++;
    stretch = embi_island_stretch(s, I);
    worst = embi_island_measure(s, I);
    I->last_measure = I->measure;
    I->measure = worst;
    if (!I->old_factor) I->slow = !I->driving && worst > I->last_measure / 2 ? I->slow + 1 : 0;
    I->stride = 0;
    if (worst < 1) stretch = 1;
    for (int k = 0; k < I->unknown_count && stretch > 1; k++)
        embi_scale(s->p + 3 * I->unknown[k], stretch, s->p + 3 * I->unknown[k]);
    I->slope *= stretch;
    I->stretch = stretch;
    embi_island_motion(s, I);
    embi_island_turning(s, I);
    if (I->multiplied) embi_island_combine(s, I, stretch, s->trial_q, 0, s->Ap);
    else embi_island_multiply(s, I);
    I->measure = embi_max(worst, embi_island_gap_change(s, I));
    I->record.island = I->index;
    I->record.fresh = !I->old_factor && !I->kept;
    I->record.contacts = I->contacts.count;
    I->record.slope = I->slope / s->hh;
    I->record.alpha_ccd = I->record.alpha = 0;
    return EMBIPC_OK;
}

/* ---- the step along the direction ---- */

typedef struct embi_ccd_task {
    const embi_state *s;
    const embi_pair *pair;
    int driving, stamp;
    embipc_real bound, rounding;
    embipc_real slack, rate;     /* displacements since known_q are at most slack + rate alpha */
    embipc_real *alpha;          /* per block of 256 */
    int *index;
} embi_ccd_task;

#define EMBI_CCD_GRAIN 256
#define EMBI_SHARE_CCD (EMBI_SHARE(8) * EMBI_CCD_GRAIN)   /* 5 us, were all told by one number */

/* Gap that must stay open on the way. A path is curved as a pair sees it: normals turn, and what slides by
 * the length l over a curve of radius r comes l^2/(2 r) nearer. A step that used up its gap would leave the
 * next one room for sqrt(2 r gap) only, and the logarithm is too weak to push back: gaps of 1e-12 m and
 * steps of 1e-4 were the result (measured; a box falling askew on a box). So a step leaves a share of the
 * gap, and lands where the barrier is felt. While drives push there is the absolute floor besides. */
#define EMBI_GAP_SHARE ((embipc_real)0.3)

static embipc_real embi_gap_floor(const embi_candidate *c, embipc_real d, embipc_real rounding, int driving)
{
    embipc_real gap = d - c->xi, keep = EMBI_GAP_SHARE * embi_min(gap, c->dhat);
    if (driving) keep = embi_max(keep, embi_min((embipc_real)0.05 * c->dhat, (embipc_real)0.9 * gap));
    return c->xi + embi_max(keep, gap > rounding ? rounding : rounding / 2);
}

/* Do the two sides stay farther apart than that along some axis, on their ways from x to the share alpha of the way to
 * next? Seen from the first vertex, so that a motion in common does not count. */
static int embi_ways_apart(const embi_candidate *c, const embipc_real *x, const embipc_real *next, embipc_real alpha,
                           embipc_real far)
{
    int split = c->edge_edge ? 2 : 1;
    for (int i = 0; i < 3; i++) {
        embipc_real lo[2] = {EMBI_HUGE, EMBI_HUGE}, hi[2] = {-EMBI_HUGE, -EMBI_HUGE};
        embipc_real common = next[3 * c->v[0] + i] - x[3 * c->v[0] + i];
        for (int k = 0; k < 4; k++) {
            embipc_real from = x[3 * c->v[k] + i], to = from + alpha * (next[3 * c->v[k] + i] - from - common);
            lo[k >= split] = embi_min(lo[k >= split], embi_min(from, to));
            hi[k >= split] = embi_max(hi[k >= split], embi_max(from, to));
        }
        if (lo[1] - hi[0] > far || lo[0] - hi[1] > far) return 1;
    }
    return 0;
}

/* The first candidates to touch, block by block. Most are told from the distance they were found with: what
 * was that far apart cannot come to its floor by a displacement of slack + rate alpha. */
static void embi_ccd_range(void *arg, int begin, int end)
{
    embi_ccd_task *t = (embi_ccd_task *)arg;
    const embi_pair *pair = t->pair;
    embipc_real floor = (pair->rule.xi + EMBI_GAP_SHARE * pair->rule.dhat + 4 * t->rounding) / (embipc_real)0.999;
    if (pair->a == pair->b) floor /= EMBI_TURN_COS;
    for (int block = begin / EMBI_CCD_GRAIN; block * EMBI_CCD_GRAIN < end; block++) {
        int first = block * EMBI_CCD_GRAIN, last = embi_min_int(first + EMBI_CCD_GRAIN, end);
        embipc_real far = t->slack + embi_max(0, t->rate * t->bound);
        t->alpha[block] = t->bound;
        t->index[block] = -1;
        for (int k = pair->first + first; k < pair->first + last; k++) {
            const embi_candidate *c = t->s->candidate + k;
            embi_closest *closest = t->s->closest + k;
            embipc_real x0[12], p[12], separation, toi;
            if (t->s->apart[k].least > floor + t->s->apart[k].share * far) continue;
            if (embi_ways_apart(c, t->s->x, t->s->next_x, t->alpha[block], floor)) continue;
            if (closest->stamp != t->stamp) embi_closest_find(c, t->s->x, t->stamp, closest);
            separation = embi_gap_floor(c, closest->d, t->rounding, t->driving);
            for (int i = 0; i < 4; i++) embi_sub(p + 3 * i, t->s->next_x + 3 * c->v[i], t->s->x + 3 * c->v[i]);
            /* far against the whole relative motion, rounding included: nothing to search */
            if ((closest->d - separation) * (embipc_real)0.999 >
                embi_relative_travel(p, c->edge_edge) * t->alpha[block])
                continue;
            for (int i = 0; i < 4; i++) embi_copy(x0 + 3 * i, t->s->x + 3 * c->v[i]);
            if (embi_ccd(x0, p, c->edge_edge, closest, separation, t->alpha[block], &toi) &&
                toi < t->alpha[block]) {
                t->alpha[block] = toi;
                t->index[block] = k - pair->first;
                far = t->slack + embi_max(0, t->rate * toi);
            }
        }
    }
}

static void embi_body_stray_next(const embi_bodies_task *t, embi_body *b, int k)
{
    (void)k;
    if (b->known_start && t->I->cap == 1) embi_shift_copy(b, &b->stray_next, &b->shift_next);
    else   /* still q + p */
        (void)embi_body_shift(b, t->s->known_q, t->s->trial_q, t->s->shift_d, &b->stray, &b->stray_next);
}

/* safe: the largest safe part of the direction, at most cap; and the candidate that limits it. */
static int embi_island_ccd(embi_memory *m, embi_state *s, embi_island *I)
{
    I->safe = I->cap;
    I->limit_pair = -1;
    I->safe_known = 1;
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        if (embi_is_dynamic(b) && b->material.determinant_bound)
            I->safe = embi_elastic_determinant_bound(&b->elastic, s->q + 3 * b->node0, s->p + 3 * b->node0, I->safe);
    }
    embi_for_bodies(s, I, &I->by_vertices, embi_body_stray_next, NULL, NULL, 0);
    for (int n = 0; n < I->pair_count; n++) {
        const embi_pair *pair = s->pair + I->pairs[n];
        const embi_body *a = s->body + pair->a, *b = s->body + pair->b;
        int blocks = (pair->count + EMBI_CCD_GRAIN - 1) / EMBI_CCD_GRAIN;
        embi_ccd_task task;
        if (!EMBI_GROW(m, embipc_real, I->block_alpha, I->block_alpha_cap, blocks) ||
            !EMBI_GROW(m, int, I->block_at, I->block_at_cap, blocks))
            return 0;
        task.s = s;
        task.pair = pair;
        task.driving = I->driving;
        task.stamp = I->stamp;
        task.bound = I->safe;
        task.rounding = embi_pair_rounding(a, b);
        task.slack = embi_pair_slack(pair, &a->stray, &b->stray);
        task.rate = embi_pair_slack(pair, &a->stray_next, &b->stray_next) - task.slack;
        task.alpha = I->block_alpha;
        task.index = I->block_at;
        embi_for_work(&s->threads, pair->count, pair->count, EMBI_SHARE_CCD, embi_ccd_range, &task);
        for (int k = 0; k < blocks; k++)
            if (I->block_at[k] >= 0 && I->block_alpha[k] < I->safe) {
                I->safe = I->block_alpha[k];
                I->limit_pair = I->pairs[n];
                I->limit_at = I->block_at[k];
            }
    }
    return 1;
}

/* trial_q = q + alpha p; where drives are at the end of their stage, to the bit. */
static void embi_body_trial(embi_state *s, const embi_body *b, embipc_real alpha)
{
    for (int i = b->node0; i < b->node0 + b->nn; i++) {
        if (alpha == 1 && s->drive[i] >= 0 && !s->drives[s->drive[i]].done)
            embi_copy(s->trial_q + 3 * i, s->target + 3 * i);
        else
            for (int c = 0; c < 3; c++) s->trial_q[3 * i + c] = s->q[3 * i + c] + alpha * s->p[3 * i + c];
    }
}

static void embi_body_aim(const embi_bodies_task *t, embi_body *b, int k)
{
    embi_state *s = t->s;
    (void)k;
    embi_body_trial(s, b, 1);
    embi_apply_few(s, b, s->trial_q, s->next_x);
    embi_body_go(s, b);
}

/* so many numbers go only the share cap of their way */
static void embi_cap_all(embipc_real *next, const embipc_real *now, int n, embipc_real cap)
{
    for (int i = 0; i < n; i++) next[i] = now[i] + cap * (next[i] - now[i]);
}

/* A body goes only the share cap of its way. */
static void embi_body_cap(embi_body *b, embipc_real cap)
{
    embi_cap_all(b->shift_next.box, b->shift.box, 6, cap);
    embi_cap_all(b->shift_next.part, b->shift.part, 6 * b->panel_count, cap);
    embi_cap_all(b->shift_next.warp, b->shift.warp, 3, cap);
    for (int t = 0; t < embi_strained_tets(b); t++)
        b->strain[t].next = b->strain[t].now + cap * (b->strain[t].next - b->strain[t].now);
}

/* A path is cut where up to EMBI_CCD_KEEP of a gap is left; so far on, the contact itself is seen. */
#define EMBI_LOOK_ON ((embipc_real)1.125)

/* trial_q = q + p, next_x = J of it, and the boxes of where that takes each body, counted from the start of the
 * step. cap, the share of the direction that is looked at, bounds alpha. Half the scene would be dragged in as
 * candidates by looking farther than there is use for. Of a direction that goes much farther than anything foreseen (an
 * overshoot, most often) a part is looked at; and where it leaves what was searched, nothing of what lies behind the
 * first contact with the candidates that are there already: ten bears in a heap take 0.8 of the time. Returns 0 out of
 * memory. */
static int embi_island_aim(embi_memory *m, embi_state *s, embi_island *I)
{
    embipc_real most = 0;
    int stays = 1;
    embi_for_bodies(s, I, &I->by_vertices, embi_body_aim, NULL, NULL, 0);
    embi_apply_many(s, I, s->trial_q, s->next_x);
    for (int k = 0; k < I->body_count; k++)
        most = embi_max(most, embi_shift_most(&s->body[I->bodies[k]].shift_next));
    I->cap = 1;
    I->safe_known = 0;
    for (int n = 0; n < I->pair_count && stays; n++) stays = embi_pair_stays(s, s->pair + I->pairs[n]);
    if (!stays || most > 2 * I->reach) {
        if (most > 2 * I->reach) {
            I->reach *= 2;
            I->cap = I->reach / most;
        }
        (void)embi_stage(s, EMBIPC_STAGE_CCD);
        if (!embi_island_ccd(m, s, I)) return 0;
        (void)embi_stage(s, EMBIPC_STAGE_MOVE);
        I->cap = I->guess && I->safe < 1 ? (embipc_real)0 : embi_min(I->cap, I->safe * EMBI_LOOK_ON);
    }
    for (int k = 0; k < I->body_count; k++) {
        embi_body *b = s->body + I->bodies[k];
        if (I->cap < 1) embi_body_cap(b, I->cap);
        for (int n = 0; n < b->panel_count; n++) embi_box_join(b->panel[n].hull, b->shift_next.part + 6 * n);
    }
    return 1;
}

/* Is the move one to where embi_island_aim() said? What it found of the way tells of its end. */
static int embi_is_whole(const embi_bodies_task *t) { return t->alpha == 1 && t->I->cap == 1; }

static void embi_body_try(const embi_bodies_task *t, embi_body *b, int k)
{
    embi_state *s = t->s;
    (void)k;
    embi_body_trial(s, b, t->alpha);
    embi_apply_few(s, b, s->trial_q, s->trial_x);
    if (embi_is_whole(t)) embi_shift_arrive(b, &b->stray, &b->stray_next);
    else (void)embi_body_shift(b, s->known_q, s->trial_q, s->shift_d, NULL, &b->stray);
}

/* trial state q + alpha p, x = J of it, and its contacts */
static int embi_island_try(embi_memory *m, embi_state *s, embi_island *I, embipc_real alpha)
{
    embi_for_bodies(s, I, &I->by_vertices, embi_body_try, NULL, NULL, alpha);
    embi_apply_many(s, I, s->trial_q, s->trial_x);
    if (!embi_island_contacts(m, s, I, s->trial_x)) return 0;
    embi_island_contact_energy(s, I, s->trial_q, s->trial_x);
    return 1;
}

/* Where the near lists have become long the distances are taken as known here: they will be short again. */
static void embi_island_know(embi_state *s, const embi_island *I)
{
    int near = 0, all = 0;
    for (int n = 0; n < I->pair_count; n++) {
        near += s->pair[I->pairs[n]].near_count;
        all += s->pair[I->pairs[n]].count;
    }
    if (near < 256 + all / 256) return;
    for (int n = 0; n < I->pair_count; n++) {
        embi_pair *pair = s->pair + I->pairs[n];
        embi_pair_know(s, pair, embi_pair_slack(pair, &s->body[pair->a].stray, &s->body[pair->b].stray), I->stamp);
    }
    for (int k = 0; k < I->body_count; k++) {
        embi_body *b = s->body + I->bodies[k];
        memcpy(s->known_q + 3 * b->node0, s->q + 3 * b->node0, (size_t)(3 * b->nn) * sizeof *s->q);
        embi_shift_copy(b, &b->known, &b->shift);
        embi_shift_none(b, &b->stray);
        b->known_start = 0;
    }
}

static void embi_body_accept(const embi_bodies_task *t, embi_body *b, int k)
{
    embi_state *s = t->s;
    (void)k;
    memcpy(s->q + 3 * b->node0, s->trial_q + 3 * b->node0, (size_t)(3 * b->nn) * sizeof *s->q);
    for (int i = 0; i < b->live_count; i++)
        embi_copy(s->x + 3 * (b->vert0 + b->live[i]), s->trial_x + 3 * (b->vert0 + b->live[i]));
    for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) s->gq[i] += t->alpha * s->Ap[i];
    if (embi_is_whole(t)) embi_body_arrive(b);
    else embi_body_came(s, b);
}

/* the trial state becomes the state */
static void embi_island_accept(embi_state *s, embi_island *I, embipc_real alpha)
{
    embi_for_bodies(s, I, &I->by_vertices, embi_body_accept, NULL, NULL, alpha);
    embi_island_know(s, I);
    I->record.alpha = alpha;
}

static void embi_body_slope(const embi_bodies_task *t, embi_body *b, int k)
{
    embi_state *s = t->s;
    embipc_real sum = 0;
    for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++)
        sum += s->p[i] * (s->gq[i] + t->alpha * s->Ap[i]);
    if (embi_is_dynamic(b) && b->elastic.nonlinear) {
        memset(s->g + 3 * b->node0, 0, (size_t)(3 * b->nn) * sizeof *s->g);
        embi_elastic_gradient(&b->elastic, s->trial_q + 3 * b->node0, s->hh, s->trace + b->trace0,
                              s->g + 3 * b->node0);
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) sum += s->p[i] * s->g[i];
    }
    t->I->part[k] = sum;
}

/* Slope of E along p at the trial state alpha: what the line search watches */
static embipc_real embi_island_slope(embi_state *s, embi_island *I, embipc_real alpha)
{
    embipc_real sum = 0;
    embi_for_bodies(s, I, &I->by_tets, embi_body_slope, NULL, NULL, alpha);
    for (int k = 0; k < I->body_count; k++) sum += I->part[k];
    embi_island_motion(s, I);
    for (int k = 0; k < I->spring_count; k++) {
        embipc_real f[3];
        (void)embi_spring_gradient(I->spring + k, s->trial_x + 3 * I->spring[k].v, f);
        sum += s->hh * embi_dot(f, s->motion + 3 * I->spring[k].v);
    }
    return sum + s->hh * embi_contacts_slope(&I->contacts, I->friction, I->friction_count, s->motion);
}

/* Tries alpha, smaller while something touches in the arithmetic used (a gap of a few rounding errors), or a
 * logarithm ends. */
static embipc_result embi_island_move(embi_memory *m, embi_state *s, embi_island *I, embipc_real *alpha)
{
    for (int k = 0; k < 60; k++) {
        if (!embi_island_try(m, s, I, *alpha)) return EMBIPC_ERR_MEMORY;
        if (I->contacts.min_gap > 0 && embi_finite(I->contact_energy)) return EMBIPC_OK;
        *alpha = k == 58 ? (embipc_real)0 : *alpha / 2;   /* the last try: the old, sound state */
    }
    return EMBIPC_ERR_NOT_FINITE;
}

/* E before a move by alpha p, and what its quadratic part becomes on the way. */
typedef struct embi_before { embipc_real energy, size, linear, curve; } embi_before;

static embi_before embi_island_before(const embi_state *s, const embi_island *I)
{
    embi_before e = {0, 0, 0, 0};
    e.energy = I->contact_energy;
    e.size = I->contact_size;
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) {
            e.linear += s->p[i] * s->gq[i];
            e.curve += s->p[i] * s->Ap[i];
        }
    }
    return e;
}

/* Is E higher at the trial state alpha than it was, beyond rounding? */
static int embi_island_grows(const embi_island *I, const embi_before *e, embipc_real alpha)
{
    embipc_real change = alpha * e->linear + alpha * alpha * e->curve / 2 + (I->contact_energy - e->energy);
    embipc_real size = alpha * embi_abs(e->linear) + alpha * alpha * e->curve + e->size + I->contact_size;
    return !(change <= 16 * EMBI_EPS * size);
}

/* Finds alpha in (0, bound]: E does not grow (to rounding), and its slope has come down to half. Regula
 * falsi on the slope once it has changed sign. *alpha = 0 when there is none. The trial state is left at
 * *alpha. */
static embipc_result embi_island_search(embi_memory *m, embi_state *s, embi_island *I, embipc_real bound,
                                        embipc_real *alpha)
{
    embipc_real lo = 0, hi = bound, slope_lo = I->slope, slope_hi = 0;
    embi_before before = embi_island_before(s, I);
    int bracketed = 0;
    *alpha = bound;
    for (int k = 0; k < 40 && *alpha > 0; k++) {
        embipc_real slope, target;
        int grows;
        embipc_result r = embi_island_move(m, s, I, alpha);
        if (r != EMBIPC_OK) return r;
        grows = embi_island_grows(I, &before, *alpha);
        slope = embi_island_slope(s, I, *alpha);
        target = (bracketed ? (embipc_real)0.1 : (embipc_real)0.5) * embi_abs(I->slope);
        if (!grows && slope <= target && (!bracketed || slope >= -target || hi - lo < 1e-3 * hi))
            return EMBIPC_OK;
        if (slope > 0 || grows) {
            hi = *alpha;
            slope_hi = slope;
            bracketed = 1;
        } else {
            lo = *alpha;
            slope_lo = slope;
        }
        if (*alpha < 1e-12 * bound) break;
        if (slope_hi > 0 && k % 3 != 2) *alpha = lo + (hi - lo) * slope_lo / (slope_lo - slope_hi);
        else *alpha = (lo + hi) / 2;
        *alpha = embi_min(embi_max(*alpha, lo + (hi - lo) / 20), hi - (hi - lo) / 20);
    }
    *alpha = lo;   /* the best that is known to be lower, perhaps nothing */
    return embi_island_move(m, s, I, alpha);
}

/* ---- drives ---- */

/* Where each node of a drive should be at the end of its present stage. */
static void embi_drive_aim(embi_state *s, embi_drive *d)
{
    embipc_real share = (embipc_real)(d->stage + 1) / (embipc_real)d->stages, pose[6], R[9];
    const embi_body *b = s->body + d->body;
    for (int i = 0; i < 6; i++)
        pose[i] =
            d->stage + 1 == d->stages ? d->pose_next[i] : d->pose[i] + share * (d->pose_next[i] - d->pose[i]);
    embi_m3_rotation(R, pose + 3);
    for (int k = 0; k < d->node_count; k++)
        embi_drive_place(d, pose, R, k, s->target + 3 * (b->node0 + d->nodes[k]));
}

/* the present state is one to fall back to */
static void embi_drive_keep(embi_drive *d)
{
    d->safe_stage = d->stage;
    d->safe_phi = d->phi;
}

/* Puts the island back to its last state in which every rotating body was rigid. */
static embipc_result embi_island_roll_back(embi_memory *m, embi_state *s, embi_island *I)
{
    for (int k = 0; k < I->body_count; k++) {
        embi_body *b = s->body + I->bodies[k];
        memcpy(s->q + 3 * b->node0, s->safe_q + 3 * b->node0, (size_t)(3 * b->nn) * sizeof *s->q);
        embi_apply_live(s, b, s->q, s->x);
        embi_body_came(s, b);
        embi_body_gradient(s, b);
        for (int n = 0; n < s->drive_count; n++) {
            embi_drive *d = s->drives + n;
            if (d->body != I->bodies[k] || d->stage == d->stages) continue;
            d->stage = d->safe_stage;
            d->phi = d->safe_phi;
            embi_drive_aim(s, d);
        }
    }
    if (!embi_island_evaluate(m, s, I)) return EMBIPC_ERR_MEMORY;
    embi_island_contact_energy(s, I, s->q, s->x);
    return EMBIPC_OK;
}

/* After a driven move by alpha: stages that are complete, drives that are done, the state to fall back to. */
static void embi_island_progress(embi_state *s, embi_island *I, embipc_real alpha)
{
    int rigid = 1;
    for (int n = 0; n < s->drive_count; n++) {
        embi_drive *d = s->drives + n;
        if (s->body[d->body].island != I->index || d->done) continue;
        d->phi += (1 - d->phi) * alpha;
        if (alpha == 1) {
            d->stage++;
            d->phi = 0;
            d->done = d->stage == d->stages;
            if (!d->done) embi_drive_aim(s, d);
        }
        if (d->rotating && d->phi > 0) rigid = 0;
    }
    if (!rigid || alpha < 1) return;
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        memcpy(s->safe_q + 3 * b->node0, s->q + 3 * b->node0, (size_t)(3 * b->nn) * sizeof *s->q);
    }
    for (int n = 0; n < s->drive_count; n++)
        if (s->body[s->drives[n].body].island == I->index) embi_drive_keep(s->drives + n);
}

/* How fast drive d alone closes the gap of a candidate: its motion in p, the answer of the free nodes by the
 * present factor, the approach of the closest points. Negative: it closes. */
static embipc_real embi_drive_approach(embi_state *s, embi_island *I, int drive, const embi_candidate *c,
                                       const embi_closest *closest)
{
    embipc_real n[3], r[3];
    embi_point p[4];
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        for (int i = b->node0; i < b->node0 + b->nn; i++) {
            embi_set(s->p + 3 * i, 0, 0, 0);
            embi_set(s->rhs + 3 * i, 0, 0, 0);
            if (s->drive[i] == drive) embi_sub(s->p + 3 * i, s->target + 3 * i, s->q + 3 * i);
        }
    }
    embi_island_push(s, I);
    for (int k = 0; k < I->unknown_count; k++) embi_copy(I->rhs + 3 * k, s->rhs + 3 * I->unknown[k]);
    embi_island_back_solve(s, I, I->rhs);
    for (int k = 0; k < I->unknown_count; k++) embi_copy(s->p + 3 * I->unknown[k], I->rhs + 3 * k);
    for (int k = 0; k < I->body_count; k++) embi_apply_live(s, s->body + I->bodies[k], s->p, s->motion);
    embi_points_at(p, s->x, c->v);
    (void)embi_normal(p, closest->w, closest->mask, c->edge_edge, n);
    embi_contact_motion(c->v, closest->w, s->motion, r);
    return embi_dot(n, r);
}

/* The body to which vertex v belongs */
static int embi_body_of_vertex(const embi_state *s, int v)
{
    int lo = 0, hi = s->body_count - 1;
    while (lo < hi) {
        int mid = (lo + hi + 1) / 2;
        if (s->body[mid].vert0 <= v) lo = mid;
        else hi = mid - 1;
    }
    return lo;
}

/* how far the nodes of a rotating drive go in one of its stages, m */
static embipc_real embi_drive_stage_length(const embi_state *s, const embi_drive *d)
{
    const embi_body *b = s->body + d->body;
    embipc_real most = 0, r[3];
    for (int k = 0; k < d->node_count; k++) {
        int i = 3 * (b->node0 + d->nodes[k]);
        embi_sub(r, s->target + i, s->safe_q + i);
        most = embi_max(most, embi_norm(r));
    }
    return most;
}

/* Keeps the direction of the island (p and A p) in arrays that are free just now, or brings it back. */
static void embi_island_keep(embi_state *s, const embi_island *I, int back)
{
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        size_t at = 3 * (size_t)b->node0, bytes = 3 * (size_t)b->nn * sizeof *s->p;
        memcpy((back ? s->p : s->trial_q) + at, (back ? s->trial_q : s->p) + at, bytes);
        memcpy((back ? s->Ap : s->g) + at, (back ? s->g : s->Ap) + at, bytes);
    }
}

/* the drive gives up the rest of this step: a body is in its way, at this gap */
static void embi_drive_stop(embi_drive *d, embipc_body by, embipc_real gap)
{
    d->done = d->blocked = 1;
    d->blocked_by = by;
    d->gap = gap;
}

/* Candidate `limit` is at its floor: the drive that presses on it most gives up the rest of this step.
 * Returns 0 when no drive is to blame (a free body is on its way there by itself). */
static int embi_island_block(embi_state *s, embi_island *I, int limit)
{
    const embi_candidate *c = s->candidate + limit;
    embi_drive *d;
    embipc_real most = 0;
    int worst = -1, a, b;
    embi_island_keep(s, I, 0);
    for (int n = 0; n < s->drive_count; n++) {
        embipc_real approach;
        if (s->body[s->drives[n].body].island != I->index || s->drives[n].done) continue;
        approach = embi_drive_approach(s, I, n, c, s->closest + limit);
        if (approach < most) {
            most = approach;
            worst = n;
        }
    }
    embi_island_keep(s, I, 1);
    if (worst < 0 || most > -1e-6 * c->dhat) return 0;
    d = s->drives + worst;
    if (d->rotating && d->stages < 1000000 && embi_drive_stage_length(s, d) > (embipc_real)0.5 * c->dhat) {
        d->stages *= 4;   /* a stage is all or nothing: get nearer in smaller ones */
        d->stage *= 4;
        d->safe_stage *= 4;
        embi_drive_aim(s, d);
        return 1;
    }
    a = embi_body_of_vertex(s, c->v[0]);
    b = embi_body_of_vertex(s, c->v[3]);
    embi_drive_stop(d, s->body[a == d->body ? b : a].handle, s->closest[limit].d - c->xi);
    return 1;
}

/* Tets that may not invert leave the drives no way on: all of them give up the rest of this step, and what they bend
 * can settle. Nothing else would end it: a guarded tet that is flat stays so, and no contact is to blame. */
#define EMBI_NO_WAY ((embipc_real)1e-3)
static void embi_island_give_up(embi_state *s, const embi_island *I)
{
    for (int n = 0; n < s->drive_count; n++) {
        embi_drive *d = s->drives + n;
        const embi_body *b = s->body + d->body;
        if (b->island == I->index && !d->done) embi_drive_stop(d, b->handle, 0);
    }
}

/* Is this direction the last correction? By an old factor alone it must be ten times as short: what such a factor
 * leaves of it is not squared but a share of it. So must the first after a guess, which none before it has shown to
 * be past the kinks of friction: errors below the tolerance, but of one sign step after step, let a block at
 * mu = tan slide away. Told by how the last two directions contracted (theta/(1 - theta) of this one below a tenth
 * of the tolerance) a lift takes a fifth less time, and the forces at the end of a step are 2 to 10 times as far
 * from balance. A friction contact that is loaded by the share delta beyond its limit walks to the kink of f1 in
 * steps not shorter than sqrt(delta) epsv h: a tolerance of 0.1 epsv tells what sticks to 1 %. */
static int embi_island_is_last(const embi_island *I)
{
    return !I->turning && I->measure < (I->inexact || I->just_guessed ? EMBI_OLD_SHARE : (embipc_real)1);
}

/* A direction of the rank-one matrix is straight, and a gap along it is not: what turns past a tip by s comes
 * s^2/(2 r) nearer. A gap far smaller than that cuts every move, and so it stays (spike on spike: a hundred moves
 * of less than a hundredth, the gap 1e-7 m, and the next step no better). After so many moves in a row below half of
 * Newton's, contacts get their curvature until the step ends; then 12 solves do. */
#define EMBI_CRAWL 3

/* What of the direction is safe, looked at again where it is not known of the candidates of now. *limit: the one that
 * limits it, or -1. Returns 0 out of memory. */
static int embi_island_safe(embi_memory *m, embi_state *s, embi_island *I, int *limit)
{
    (void)embi_stage(s, EMBIPC_STAGE_CCD);
    if (!I->safe_known && !embi_island_ccd(m, s, I)) return 0;
    (void)embi_stage(s, EMBIPC_STAGE_MOVE);
    *limit = I->limit_pair < 0 ? -1 : s->pair[I->limit_pair].first + I->limit_at;
    return 1;
}

/* One accepted move of the island after its direction is known to stay within its candidates. */
static embipc_result embi_island_advance(embi_memory *m, embi_state *s, embi_island *I)
{
    embipc_real alpha, left = 0;
    embipc_result r;
    int limit, was_old = I->old_factor;
    if (!embi_island_safe(m, s, I, &limit)) return EMBIPC_ERR_MEMORY;
    I->record.alpha_ccd = alpha = I->safe;
    for (int n = 0; n < s->drive_count; n++)
        if (s->body[s->drives[n].body].island == I->index && !s->drives[n].done)
            left = embi_max(left, 1 - ((embipc_real)s->drives[n].stage + s->drives[n].phi) /
                                          (embipc_real)s->drives[n].stages);
    I->record.drive_left = left;
    if (I->driving) {
        int blocked = limit < 0 && I->safe < embi_min(I->cap, EMBI_NO_WAY);
        if (blocked) embi_island_give_up(s, I);
        if (limit >= 0 && I->safe < (embipc_real)0.5 && s->closest[limit].stamp == I->stamp &&
            s->closest[limit].d - s->candidate[limit].xi < (embipc_real)0.1 * s->candidate[limit].dhat)
            blocked = embi_island_block(s, I, limit);
        if (blocked) {
            int rotated = 0;
            I->record.alpha = 0;
            for (int n = 0; n < s->drive_count; n++)
                rotated |= s->body[s->drives[n].body].island == I->index && s->drives[n].rotating &&
                           s->drives[n].phi > 0;
            I->old_factor = 0;
            return rotated ? embi_island_roll_back(m, s, I) : EMBIPC_OK;
        }
        if ((r = embi_island_move(m, s, I, &alpha)) != EMBIPC_OK) return r;
        embi_island_accept(s, I, alpha);
        embi_island_progress(s, I, alpha);
        I->just_drove = 1;
    } else if (embi_island_is_last(I)) {
        if ((r = embi_island_move(m, s, I, &alpha)) != EMBIPC_OK) return r;
        I->converged = alpha == 1 && !embi_springs_missed(s, I);
        embi_island_accept(s, I, alpha);
        if (alpha == 0 && !was_old) I->active = 0;
    } else {
        if (I->slope < 0) {
            if ((r = embi_island_search(m, s, I, I->safe, &alpha)) != EMBIPC_OK) return r;
        } else {
            alpha = 0;
            if ((r = embi_island_move(m, s, I, &alpha)) != EMBIPC_OK) return r;
        }
        embi_island_accept(s, I, alpha);
        I->stride = alpha * I->stretch;
        I->crawl = I->stride < (embipc_real)0.5 ? I->crawl + 1 : 0;
        if (I->crawl == EMBI_CRAWL) {
            I->curved = 1;
            I->kept = 0;
        }
        if (alpha == 0 && I->turned)   /* not a descent of the true E: the next direction is Newton's own */
            for (int k = 0; k < I->friction_count; k++) I->friction[k].turns = 0;
        else if (alpha == 0 && !was_old) I->active = 0;   /* no descent left above rounding: as good as it gets */
    }
    I->old_factor = was_old ? alpha == 1 && I->measure < (embipc_real)0.2 * I->last_measure
                            : !I->kept && alpha == 1 && (I->just_drove || I->measure < 1000);
    /* a contact that the factor holds too soft is run over; one that it holds too stiff looks converged */
    if (I->old_factor && (I->contacts.changed || embi_friction_changed(s, I) || embi_springs_changed(s, I)))
        I->old_factor = 0;
    if (!I->driving) I->just_drove = 0;
    I->first = I->just_guessed = 0;
    return EMBIPC_OK;
}

/* ---- where a step begins ----
 * What moves smoothly goes on so: from where the last two steps lead, a body that is carried, held or falls takes
 * the one solve that tells it is there, and one that is pressed flat one solve less than from q^n. So a step may
 * begin with a guess, before its first direction:
 *   order 1  q^n + h v^n
 *   order 2  q^n + h v^n + (h or, by BDF2, h/2) (v^n - v^n-1)
 * It is a move like others, stage by stage of the drives: it stays in the ranges of the candidates, collision
 * detection must let it through whole, and where no drive does work E must not be higher there than at q^n;
 * else the step begins where the bodies are. Which order, and whether at all, is told by how far off either was in
 * the last step, and is now from what drives are about to do. Solves a step without and with it: squeeze to 30 and
 * to 70 % 2.14 and 1.52, 2.74 and 1.65, medium grasp 3.06 and 2.54, a twisted mat 12.7 and 10.7. */

/* Farther off than this share of the way, and a guess saves nothing. Between 1/30 and 2/3 solves differ by 4 %. */
#define EMBI_GUESS_SHARE ((embipc_real)0.25)

/* How far node coordinate i is expected to go in this step. */
static embipc_real embi_guess(const embi_state *s, const embi_body *b, int order, int i)
{
    embipc_real more = order < 2 ? (embipc_real)0 : b->two_step ? (embipc_real)0.5 : (embipc_real)1;
    return s->h * (s->vn[i] + more * (s->vn[i] - s->v_before[i]));
}

/* After a step: how far the free nodes of the body went, and how far that is from what either order said. */
static void embi_body_remember(const embi_state *s, embi_body *b)
{
    b->went = b->missed[0] = b->missed[1] = 0;
    for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) {
        embipc_real d = s->q[i] - s->qn[i];
        if (s->drive[i / 3] >= 0) continue;
        b->went = embi_max(b->went, embi_abs(d));
        for (int n = 0; n < 2; n++) b->missed[n] = embi_max(b->missed[n], embi_abs(d - embi_guess(s, b, n + 1, i)));
    }
}

/* The order of the guess that this step is to begin with; 0: none is worth it. */
static int embi_island_guess_order(const embi_state *s, const embi_island *I)
{
    embipc_real went = 0, missed[2] = {0, 0};
    int order;
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        if (embi_is_dynamic(b) && !b->history) return 0;
        went = embi_max(went, b->went);
        for (int n = 0; n < 2; n++) missed[n] = embi_max(missed[n], b->missed[n]);
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) {
            embipc_real way = s->target[i] - s->q[i];
            if (s->drive[i / 3] < 0) continue;
            way *= (embipc_real)s->drives[s->drive[i / 3]].stages;
            for (int n = 0; n < 2; n++) missed[n] = embi_max(missed[n], embi_abs(way - embi_guess(s, b, n + 1, i)));
        }
    }
    order = missed[1] < missed[0] ? 2 : 1;
    return went > embi_island_tolerance(s, I) && missed[order - 1] < EMBI_GUESS_SHARE * went ? order : 0;
}

/* The guess as a direction, or the part of it that goes with the present stage of the drives. */
static void embi_island_guess(embi_state *s, embi_island *I)
{
    int left = 1;
    (void)embi_stage(s, EMBIPC_STAGE_MOVE);
    I->driving = embi_island_driven_motion(s, I);
    for (int n = 0; n < s->drive_count; n++) {
        const embi_drive *d = s->drives + n;
        if (s->body[d->body].island == I->index && !d->done) left = embi_max_int(left, d->stages - d->stage);
    }
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++)
            if (s->local[i / 3] >= 0)
                s->p[i] = (s->qn[i] + embi_guess(s, b, I->guess, i) - s->q[i]) / (embipc_real)left;
    }
    embi_island_multiply(s, I);
}

/* Goes there, or stays. */
static embipc_result embi_island_try_guess(embi_memory *m, embi_state *s, embi_island *I)
{
    embi_before before = embi_island_before(s, I);
    embipc_real alpha = 1;
    embipc_result r;
    int limit, order = I->guess;
    I->guess = 0;
    if (!embi_island_safe(m, s, I, &limit)) return EMBIPC_ERR_MEMORY;
    if (I->safe < 1) return EMBIPC_OK;
    if ((r = embi_island_move(m, s, I, &alpha)) != EMBIPC_OK) return r;
    if (alpha < 1 || (!I->driving && embi_island_grows(I, &before, 1))) {
        alpha = 0;
        if ((r = embi_island_move(m, s, I, &alpha)) != EMBIPC_OK) return r;
    }
    embi_island_accept(s, I, alpha);
    if (alpha < 1) return EMBIPC_OK;
    embi_island_progress(s, I, alpha);
    if (I->driving && embi_island_driven_motion(s, I)) I->guess = order;   /* another stage */
    I->just_guessed = 1;
    I->first = 0;
    return EMBIPC_OK;
}

/* ==== 24. World ======================================================================================
 * Owns everything: bodies and drives behind handles {index + 1, generation}, rules of pairs, and what the
 * last step left behind for queries. A body is built completely, checked against all others, and only then
 * counted.
 * Uses: all of the above.                                   Checked by: tests/test_world*.c   */

#define EMBI_WORLD_COOKIE 0x0e1bc0deu
#define EMBI_BODY_COOKIE 0x0e1b0d1eu
#define EMBI_DRIVE_COOKIE 0x0e1bd31fu

typedef struct embi_slot {
    unsigned generation;
    int at;
} embi_slot; /* at: place in the array, -1 when free */

typedef struct embi_rule { embipc_body a, b; embipc_real friction; int contact; } embi_rule;

/* What one of several searches side by side writes to. */
typedef struct embi_lane {
    embi_key *keys;
    int key_count, key_cap;
    int walked;                  /* all its keys found room */
    embi_candidate *list;
    int count, cap;
} embi_lane;

enum { EMBI_SEARCH_DONE, EMBI_SEARCH_DUE, EMBI_SEARCH_NO_KEYS, EMBI_SEARCH_NO_ROOM, EMBI_SEARCH_FOUND };

/* A panel on the way along one axis: its region, grown by as far as contact reaches, and where it begins and ends there
 * as whole numbers. */
typedef struct embi_swept {
    embipc_real box[6];
    embi_u64 begin, end;
    int body, panel;
} embi_swept;

/* A pair whose candidates are due. */
typedef struct embi_search {
    int pair, first;             /* first: where they go, before the gaps are closed */
    embi_kept *kept;
    embi_approach approach, back;
    embipc_real near, far;       /* what was farther apart in the kept list than near + share far stays out */
    int due;                     /* EMBI_SEARCH_...: whether the kept list serves */
    int at, count;               /* where the lane has it */
} embi_search;

/* What a run of islands leaves that were solved side by side with others. */
typedef struct embi_run {
    embipc_result result;
    int stamp;
    double spent[EMBIPC_STAGE_COUNT];
} embi_run;

struct embipc_world {
    embi_memory memory;
    embipc_world_def def;
    embi_state s;
    embi_island **island;        /* one per body, kept: an island lives at its first body */
    int island_cap;
    int *order, order_count, order_cap;   /* islands of this step, by their first body */
    int *round, round_count, round_cap;   /* those of this round */
    embi_chunks run;             /* the same in runs, where they are shared */
    embi_run *run_end;
    int run_end_cap;
    int *parent, parent_cap;     /* union-find over bodies */
    embi_slot *body_slot, *drive_slot;
    int body_slots, body_slot_cap, drive_slots, drive_slot_cap;
    embi_rule *rule;
    int rule_count, rule_cap;
    embi_last_cage last_cage;
    embi_kept *kept;             /* sorted by (a, b, pa, pb); behind them the memory of those that were given up */
    int kept_count, kept_end, kept_cap;
    embi_key *tri_pairs;         /* scratch of the broad phase */
    int tri_pair_count, tri_pair_cap;
    embi_swept *swept;           /* panels along one axis, and in their own order */
    int swept_cap;
    embi_search *search;         /* pairs whose candidates are due */
    int search_count, search_cap;
    embi_lane lane[EMBI_TASKS];  /* scratch of searches side by side */
    embi_chunks parts;           /* of their kept lists; of a large one's keys, items being lanes */
    int *found, found_cap;       /* by chunk: how many candidates */
    int *asked, asked_count, asked_cap;   /* vertices whose x^n is asked for */
    int *pressed, pressed_count, pressed_cap;   /* those that bear a force of the last step, not in order */
    embi_crossing *crossing;
    int crossing_count, crossing_cap;
    embipc_intersection *rejected;
    int rejected_count, rejected_cap;
    embi_key *memory_key;        /* friction memory: keys, sorted, and |u| */
    embipc_real *memory_u;
    int memory_count, memory_key_cap, memory_u_cap;
    embipc_contact *contact;     /* report of the last step */
    embipc_pair_force *pair_force;
    embipc_iteration *iteration;
    int contact_count, contact_cap, pair_force_count, pair_force_cap, iteration_count, iteration_cap;
    embipc_real *applied;        /* forces for the next step (3 per node) */
    int applied_cap;
    int step, builds;
    embipc_real warned;          /* the share of dhat the log was last told of; 1: never */
    int mixed_start;             /* bodies were made, or contacts switched on, after the first step */
    embipc_real time;
    embipc_error error;
};

EMBIPC_API embipc_world_def embipc_default_world_def(void)
{
    embipc_world_def d;
    memset(&d, 0, sizeof d);
    d.cookie = EMBI_WORLD_COOKIE;
    d.gravity[2] = (embipc_real)-9.81;
    d.time_step = (embipc_real)0.01;
    d.friction_iterations = 1;
    d.max_iterations = 100;
    return d;
}

EMBIPC_API embipc_body_def embipc_default_body_def(void)
{
    embipc_body_def d;
    memset(&d, 0, sizeof d);
    d.cookie = EMBI_BODY_COOKIE;
    d.scale = 1;
    embi_m3_identity(d.rotation);
    d.material.young = 1e5;
    d.material.poisson = (embipc_real)0.4;
    d.material.density = 1000;
    d.material.stiffness = 1e7;
    d.material.averaged = d.material.determinant_bound = -1;
    d.self_contact = 1;
    return d;
}

EMBIPC_API embipc_drive_def embipc_default_drive_def(void)
{
    embipc_drive_def d;
    memset(&d, 0, sizeof d);
    d.cookie = EMBI_DRIVE_COOKIE;
    return d;
}

static embipc_result embi_check_gravity(const embipc_real g[3], embipc_error *e)
{
    if (embi_all_finite(g, 3)) return EMBIPC_OK;
    return embi_fail(e, EMBIPC_ERR_NOT_FINITE, "gravity (%g, %g, %g) is not finite", g[0], g[1], g[2]);
}

static embipc_result embi_check_time_step(embipc_real h, embipc_error *e)
{
    if (h > 0 && h * h >= DBL_MIN && embi_finite(h * h)) return EMBIPC_OK;
    return embi_fail(e, EMBIPC_ERR_ARGUMENT, "time_step is %g s; it must be positive and finite", h);
}

static embipc_result embi_check_world_def(const embipc_world_def *d, embipc_error *e)
{
    embipc_result r;
    if (d->cookie != EMBI_WORLD_COOKIE)
        return embi_fail(e, EMBIPC_ERR_DEF, "start from embipc_default_world_def()");
    if ((d->allocator.alloc == NULL) != (d->allocator.free == NULL))
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "an allocator needs both alloc and free");
    if ((r = embi_check_gravity(d->gravity, e)) != EMBIPC_OK || (r = embi_check_time_step(d->time_step, e)) != EMBIPC_OK)
        return r;
    if (!(d->dhat >= 0) || !(d->kappa >= 0) || !(d->friction_velocity >= 0) || !(d->tolerance >= 0) ||
        !embi_finite(d->dhat + d->kappa + d->friction_velocity + d->tolerance))
        return embi_fail(e, EMBIPC_ERR_ARGUMENT,
                         "dhat %g, kappa %g, friction_velocity %g, tolerance %g: each must be positive, or 0 "
                         "to be derived",
                         d->dhat, d->kappa, d->friction_velocity, d->tolerance);
    if (d->friction_iterations < 1 || d->max_iterations < 1 || (int)d->solver < 0 ||
        d->solver > EMBIPC_SOLVER_CG)
        return embi_fail(
            e, EMBIPC_ERR_ARGUMENT,
            "friction_iterations %d and max_iterations %d must be at least 1, solver %d one of the four",
            d->friction_iterations, d->max_iterations, (int)d->solver);
    if ((int)d->integrator < 0 || d->integrator > EMBIPC_BDF2)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "integrator %d is none of the two", (int)d->integrator);
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_world_create(const embipc_world_def *def, embipc_world **world,
                                             embipc_error *error)
{
    embi_memory m;
    embipc_world *w;
    embipc_result r;
    if (!world) return embi_fail(error, EMBIPC_ERR_ARGUMENT, "world is NULL: no place for the result");
    *world = NULL;
    if (!def) return embi_fail(error, EMBIPC_ERR_ARGUMENT, "def is NULL");
    if ((r = embi_check_world_def(def, error)) != EMBIPC_OK) return r;
#ifndef EMBIPC_ALLOW_EXTENDED_PRECISION
    if (!embi_sums_are_exact())
        return embi_fail(error, EMBIPC_ERR_ARGUMENT, "the library was compiled with options that reorder sums, as those of "
                         "-ffast-math do; no predicate is exact then. Compile it without them");
#endif
    embi_memory_init(&m, &def->allocator);
    w = (embipc_world *)embi_alloc(&m, 1, sizeof *w);
    if (!w) return embi_fail_memory(error);
    w->memory = m;
    w->def = *def;
    w->warned = 1;
    w->s.h = def->time_step;
    w->s.hh = def->time_step * def->time_step;
    w->s.integrator = def->integrator;
    embi_copy(w->s.gravity, def->gravity);
    w->s.threads.run = def->parallel_for;
    w->s.threads.ctx = def->parallel_ctx;
    w->s.clock = def->clock;
    w->s.clock_ctx = def->clock_ctx;
    w->s.max_iterations = def->max_iterations;
    w->s.friction_iterations = def->friction_iterations;
    w->s.solver = def->solver;
    *world = w;
    return EMBIPC_OK;
}

/* what one body owns */
static void embi_body_free(embi_memory *m, embi_body *b)
{
    EMBI_RELEASE(m, b->tri, b->tri_cap);
    EMBI_RELEASE(m, b->origin, b->origin_cap);
    EMBI_RELEASE(m, b->tet, b->tet_cap);
    EMBI_RELEASE(m, b->mass, b->mass_cap);
    EMBI_RELEASE(m, b->node_mass, b->node_mass_cap);
    EMBI_RELEASE(m, b->heavy_row, b->heavy_row_cap);
    EMBI_RELEASE(m, b->heavy, b->heavy_cap);
    EMBI_RELEASE(m, b->live, b->live_cap);
    embi_folds_free(m, &b->folds);
    EMBI_RELEASE(m, b->start, b->start_cap);
    EMBI_RELEASE(m, b->panel, b->panel_cap);
    EMBI_RELEASE(m, b->part, b->part_cap);
    EMBI_RELEASE(m, b->strain, b->strain_cap);
    EMBI_RELEASE(m, b->shrunk, b->shrunk_cap);
    EMBI_RELEASE(m, b->holder, b->holder_cap);
    EMBI_RELEASE(m, b->tangent, b->tangent_cap);
    embi_bvh_free(m, &b->bvh);
    embi_elastic_free(m, &b->elastic);
    embi_bsr_free(m, &b->A);
    embi_inverse_free(m, b->inverse);
}

static void embi_drive_free(embi_memory *m, embi_drive *d)
{
    EMBI_RELEASE(m, d->nodes, d->node_cap);
    EMBI_RELEASE(m, d->start, d->start_cap);
    EMBI_RELEASE(m, d->keys, d->key_cap);
}

#define EMBI_NODE_FIELDS 23
#define EMBI_VERTEX_FIELDS 9

/* the flat arrays of 3 reals per node, and per vertex; each group is one block of memory that starts at its
 * first */
static void embi_node_fields(embi_state *s, embipc_real **field[EMBI_NODE_FIELDS])
{
    embipc_real **const list[EMBI_NODE_FIELDS] = {
        &s->q, &s->v, &s->qn, &s->vn, &s->q_before, &s->v_before, &s->qt, &s->qc, &s->f, &s->p, &s->p_last, &s->gq,
        &s->g, &s->Ap, &s->rhs, &s->target, &s->trial_q, &s->safe_q, &s->known_q, &s->kept_q, &s->start_q,
        &s->start_v, &s->shift_d};
    memcpy(field, list, sizeof list);
}

static void embi_vertex_fields(embi_state *s, embipc_real **field[EMBI_VERTEX_FIELDS])
{
    embipc_real **const list[EMBI_VERTEX_FIELDS] = {&s->x, &s->xn, &s->next_x, &s->trial_x,
        &s->motion, &s->rest, &s->start_x, &s->vertex_force, &s->pull};
    memcpy(field, list, sizeof list);
}

/* Grows a group of n fields from *cap to at least need elements of 3 reals; all or nothing. */
static int embi_fields_grow(embi_memory *m, embipc_real ***field, int n, int *cap, int need)
{
    embipc_real *block, *old = *field[0];
    int want = embi_max_int(need, *cap > INT_MAX / 2 ? INT_MAX : 2 * *cap);
    if (need <= *cap) return 1;
    if (want > INT_MAX / (3 * n)) { m->failed = 1; return 0; }
    block = (embipc_real *)embi_alloc(m, 3 * n * want, sizeof *block);
    if (!block) return 0;
    for (int i = 0; i < n; i++) {
        if (*cap) memcpy(block + 3 * (size_t)want * (size_t)i, *field[i], 3 * (size_t)*cap * sizeof *block);
        *field[i] = block + 3 * (size_t)want * (size_t)i;
    }
    embi_free(m, old, 3 * n * *cap, sizeof *block);
    *cap = want;
    return 1;
}

/* Room for this many nodes, vertices, bodies. What was there stays whatever happens. */
static int embi_world_reserve(embipc_world *w, int nodes, int verts, int bodies)
{
    embi_state *s = &w->s;
    embi_memory *m = &w->memory;
    embipc_real **node[EMBI_NODE_FIELDS], **vertex[EMBI_VERTEX_FIELDS];
    embi_node_fields(s, node);
    embi_vertex_fields(s, vertex);
    if (!embi_fields_grow(m, node, EMBI_NODE_FIELDS, &s->node_cap, nodes) ||
        !embi_fields_grow(m, vertex, EMBI_VERTEX_FIELDS, &s->vert_cap, verts) ||
        !EMBI_GROW(m, int, s->local, s->local_cap, nodes) ||
        !EMBI_GROW(m, int, s->drive, s->drive_node_cap, nodes) ||
        !EMBI_GROW(m, embipc_real, w->applied, w->applied_cap, 3 * nodes) ||
        !EMBI_GROW(m, int, s->row_node, s->row_node_cap, 4 * verts) ||
        !EMBI_GROW(m, embipc_real, s->row_weight, s->row_weight_cap, 4 * verts) ||
        !EMBI_GROW(m, unsigned char, s->row_count, s->row_count_cap, verts) ||
        !EMBI_GROW(m, unsigned char, s->known, s->known_cap, verts) ||
        !EMBI_GROW(m, embi_body, s->body, s->body_cap, bodies) ||
        !EMBI_GROW(m, embi_island *, w->island, w->island_cap, bodies) ||
        !EMBI_GROW(m, int, w->order, w->order_cap, bodies) ||
        !EMBI_GROW(m, int, w->round, w->round_cap, bodies) ||
        !EMBI_GROW(m, int, w->parent, w->parent_cap, bodies))
        return 0;
    s->J.node = s->row_node;
    s->J.weight = s->row_weight;
    s->J.count = s->row_count;
    return 1;
}

EMBIPC_API void embipc_world_destroy(embipc_world *w)
{
    embi_memory m;
    embi_state *s;
    if (!w) return;
    s = &w->s;
    m = w->memory;
    for (int i = 0; i < s->body_count; i++) embi_body_free(&m, s->body + i);
    for (int i = 0; i < s->drive_count; i++) embi_drive_free(&m, s->drives + i);
    for (int i = 0; i < w->island_cap; i++)
        if (w->island[i]) {
            embi_island_free(&m, w->island[i]);
            embi_free(&m, w->island[i], 1, sizeof **w->island);
        }
    embi_free(&m, s->q, 3 * EMBI_NODE_FIELDS * s->node_cap, sizeof *s->q);
    embi_free(&m, s->x, 3 * EMBI_VERTEX_FIELDS * s->vert_cap, sizeof *s->x);
    EMBI_RELEASE(&m, s->local, s->local_cap);
    EMBI_RELEASE(&m, s->drive, s->drive_node_cap);
    EMBI_RELEASE(&m, w->applied, w->applied_cap);
    EMBI_RELEASE(&m, s->row_node, s->row_node_cap);
    EMBI_RELEASE(&m, s->row_weight, s->row_weight_cap);
    EMBI_RELEASE(&m, s->row_count, s->row_count_cap);
    EMBI_RELEASE(&m, s->known, s->known_cap);
    EMBI_RELEASE(&m, s->body, s->body_cap);
    EMBI_RELEASE(&m, s->pair, s->pair_cap);
    EMBI_RELEASE(&m, s->drives, s->drive_cap);
    EMBI_RELEASE(&m, s->candidate, s->candidate_cap);
    EMBI_RELEASE(&m, s->closest, s->closest_cap);
    EMBI_RELEASE(&m, s->apart, s->apart_cap);
    EMBI_RELEASE(&m, s->near, s->near_cap);
    EMBI_RELEASE(&m, s->seen, s->seen_cap);
    EMBI_RELEASE(&m, s->trace, s->trace_cap);
    EMBI_RELEASE(&m, s->place, s->place_cap);
    EMBI_RELEASE(&m, s->next, s->next_cap);
    EMBI_RELEASE(&m, s->patch_G, s->patch_G_cap);
    EMBI_RELEASE(&m, w->island, w->island_cap);
    EMBI_RELEASE(&m, w->order, w->order_cap);
    EMBI_RELEASE(&m, w->round, w->round_cap);
    embi_chunks_free(&m, &w->run);
    EMBI_RELEASE(&m, w->run_end, w->run_end_cap);
    EMBI_RELEASE(&m, w->parent, w->parent_cap);
    EMBI_RELEASE(&m, w->body_slot, w->body_slot_cap);
    EMBI_RELEASE(&m, w->drive_slot, w->drive_slot_cap);
    EMBI_RELEASE(&m, w->rule, w->rule_cap);
    for (int i = 0; i < w->kept_end; i++) EMBI_RELEASE(&m, w->kept[i].list, w->kept[i].cap);
    EMBI_RELEASE(&m, w->kept, w->kept_cap);
    EMBI_RELEASE(&m, w->tri_pairs, w->tri_pair_cap);
    EMBI_RELEASE(&m, w->swept, w->swept_cap);
    EMBI_RELEASE(&m, w->search, w->search_cap);
    EMBI_RELEASE(&m, w->found, w->found_cap);
    EMBI_RELEASE(&m, w->asked, w->asked_cap);
    EMBI_RELEASE(&m, w->pressed, w->pressed_cap);
    embi_chunks_free(&m, &w->parts);
    embi_last_cage_free(&m, &w->last_cage);
    for (int k = 0; k < EMBI_TASKS; k++) {
        EMBI_RELEASE(&m, w->lane[k].keys, w->lane[k].key_cap);
        EMBI_RELEASE(&m, w->lane[k].list, w->lane[k].cap);
    }
    EMBI_RELEASE(&m, w->crossing, w->crossing_cap);
    EMBI_RELEASE(&m, w->rejected, w->rejected_cap);
    EMBI_RELEASE(&m, w->memory_key, w->memory_key_cap);
    EMBI_RELEASE(&m, w->memory_u, w->memory_u_cap);
    EMBI_RELEASE(&m, w->contact, w->contact_cap);
    EMBI_RELEASE(&m, w->pair_force, w->pair_force_cap);
    EMBI_RELEASE(&m, w->iteration, w->iteration_cap);
    embi_free(&m, w, 1, sizeof *w);
}

/* ---- handles and pair rules ---- */

/* place of a body among the bodies, or -1 */
static int embi_find_body(const embipc_world *w, embipc_body body)
{
    int i = body.index1 - 1;
    if (!w || i < 0 || i >= w->body_slots || w->body_slot[i].generation != body.generation) return -1;
    return w->body_slot[i].at;
}

static int embi_find_drive(const embipc_world *w, embipc_drive drive)
{
    int i = drive.index1 - 1;
    if (!w || i < 0 || i >= w->drive_slots || w->drive_slot[i].generation != drive.generation) return -1;
    return w->drive_slot[i].at;
}

/* A free slot (its number), or -1 out of memory. Its generation is already the new one. */
static int embi_slot_take(embi_memory *m, embi_slot **slot, int *count, int *cap)
{
    for (int i = 0; i < *count; i++)
        if ((*slot)[i].at < 0) return i;
    if (!EMBI_GROW(m, embi_slot, *slot, *cap, *count + 1)) return -1;
    (*slot)[*count].generation = 1;
    (*slot)[*count].at = -1;
    return (*count)++;
}

static int embi_same_body(embipc_body a, embipc_body b)
{
    return a.index1 == b.index1 && a.generation == b.generation;
}

static const embi_rule *embi_find_rule(const embipc_world *w, embipc_body a, embipc_body b)
{
    for (int i = 0; i < w->rule_count; i++)
        if ((embi_same_body(w->rule[i].a, a) && embi_same_body(w->rule[i].b, b)) ||
            (embi_same_body(w->rule[i].a, b) && embi_same_body(w->rule[i].b, a)))
            return w->rule + i;
    return NULL;
}

/* Whether two bodies (or one with itself) are ever tested against each other. */
static int embi_tested(const embipc_world *w, const embi_body *a, const embi_body *b)
{
    const embi_rule *rule = embi_find_rule(w, a->handle, b->handle);
    if (rule && !rule->contact) return 0;
    if (a == b) return embi_may_fold(a);
    return a->kind != EMBIPC_FIXED || b->kind != EMBIPC_FIXED;
}

/* Parameters of a pair: the smaller dhat and epsv, the larger kappa, of its dynamic bodies. */
static embi_pair_rule embi_pair_parameters(const embipc_world *w, const embi_body *a, const embi_body *b)
{
    const embi_rule *rule = embi_find_rule(w, a->handle, b->handle);
    const embi_body *one = embi_is_dynamic(a) || !embi_is_dynamic(b) ? a : b,
                    *two = embi_is_dynamic(b) || !embi_is_dynamic(a) ? b : a;
    embi_pair_rule r;
    r.dhat = embi_min(one->dhat, two->dhat);
    r.epsv = embi_min(one->epsv, two->epsv);
    r.kappa = embi_max(one->kappa, two->kappa);
    r.mu = rule && rule->friction >= 0 ? rule->friction : sqrt(a->friction * b->friction);
    r.xi = a->thickness + b->thickness;
    return r;
}

/* How thick the body is in the mean, m: a plate's thickness, a third of a cube's edge; 0 if open. */
static embipc_real embi_body_thickness(const embi_body *b)
{
    return b->solid.volume > 0 ? 2 * b->solid.volume / b->area : (embipc_real)0;
}

/* The edge of as many equilateral triangles of the same area, m. */
static embipc_real embi_body_edge(const embi_body *b)
{
    return sqrt(4 * b->area / ((embipc_real)1.7320508075688772 * b->nt));
}

/* dhat: 1e-3 of the diagonal; a tenth of the mean thickness at most, so that what touches one side of a plate
 * does not feel the other; half an edge at most, so that few primitives are in reach of one. */
static embipc_real embi_derive_dhat(const embi_body *b)
{
    embipc_real dhat = (embipc_real)1e-3 * b->diagonal, thick = embi_body_thickness(b) / 10;
    if (thick > 0) dhat = embi_min(dhat, thick);
    return embi_min(dhat, embi_body_edge(b) / 2);
}

/* What the contacts of a body should bear: its weight and its momentum at one diagonal per second brought to
 * rest in one step, N. */
static embipc_real embi_body_load(const embipc_world *w, const embi_body *b)
{
    return b->total_mass * (embi_norm(w->def.gravity) + b->diagonal / w->def.time_step);
}

/* ... and what one vertex should, N: the pressure E on its share of the surface, for the body to be squeezed as hard as
 * it can stand. Affine bodies stand for stiff parts, which stand any; nothing but their contacts gives way when they are
 * hit, so for them it is a third of what stops a fall by ten diagonals in one step. (60 boxes of 0.1 m that drop on a
 * heap at 5 m/s, h = 0.01 s: made for the load alone, one step in twelve finds no way on, at gaps of 1e-9 m. For falls
 * by 3, 10 and 30 diagonals 1, 0 and 0 of 600 do, in half the time; and of balls that settle 8, 9 and 11 % of the moves
 * are cut by the line search.) */
static embipc_real embi_body_pressure_load(const embipc_world *w, const embi_body *b)
{
    embipc_real gravity = embi_norm(w->def.gravity), fall = sqrt(20 * gravity * b->diagonal);
    if (b->kind >= EMBIPC_CAGE) return embi_law_young(&b->elastic.law) * b->area / b->nv;
    return b->total_mass * (gravity + fall / w->def.time_step) / 3;
}

/* kappa: with the load on three pairs, or the pressure load on one, the gap stays above 0.3 dhat. (A ball of 1e6
 * Pa between plates that close by 60 %: made for the load alone, the plates give up after a quarter; with both
 * they arrive, in as many solves.) For the pressure never more than what lets a body at rest sink by a tenth
 * of dhat: contacts that only graze their barrier flicker, and the friction lagged behind them is wrong. */
static embipc_real embi_derive_kappa(const embipc_world *w, const embi_body *b)
{
    embipc_real weight = b->total_mass * embi_norm(w->def.gravity), load = embi_body_load(w, b);
    embipc_real bears = embi_kappa_for_load(load, 3, (embipc_real)0.3, b->dhat);
    embipc_real sinks = embi_kappa_for_load(weight > 0 ? weight : load, 3, (embipc_real)0.9, b->dhat);
    embipc_real pressure = embi_kappa_for_load(embi_body_pressure_load(w, b), 1, (embipc_real)0.3, b->dhat);
    return load > 0 ? embi_max(bears, embi_min(pressure, sinks)) : (embipc_real)1;
}

/* The parameters in force: the body's own, the world's, or derived ones. */
static void embi_body_derive(const embipc_world *w, embi_body *b)
{
    const embipc_world_def *d = &w->def;
    b->dhat = b->given_dhat > 0 ? b->given_dhat : d->dhat > 0 ? d->dhat : embi_derive_dhat(b);
    b->epsv = b->given_epsv > 0          ? b->given_epsv
              : d->friction_velocity > 0 ? d->friction_velocity
                                         : (embipc_real)1e-3 * b->diagonal;
    b->kappa = b->given_kappa > 0 ? b->given_kappa : d->kappa > 0 ? d->kappa : embi_derive_kappa(w, b);
    b->tolerance = b->given_tolerance > 0 ? b->given_tolerance
                   : d->tolerance > 0     ? d->tolerance
                                          : (embipc_real)0.1 * b->epsv;
}

/* Puts "body NAME: " before the text of an error and the handle into it. */
static embipc_result embi_blame(embipc_world *w, embipc_result r, const char *name, embipc_body handle)
{
    char text[sizeof w->error.text];
    if (r == EMBIPC_OK) return r;
    memcpy(text, w->error.text, sizeof text);
    (void)snprintf(w->error.text, sizeof w->error.text, "body \"%.40s\": %.190s", name, text);
    w->error.code = r;
    w->error.body[0] = handle;
    return r;
}

/* ==== 25. Making bodies ==============================================================================
 * From a description to a body: surface and nodes in world coordinates, J, M and V as integrals over the
 * solid inside the surface, elasticity, the tree of boxes. Everything is made beside the world first; only a
 * body that is whole, and crosses nobody it may touch, is counted.
 * Uses: all of the above.                                   Checked by: tests/test_world_input.c */

/* A body on its way: its arrays in world coordinates. */
typedef struct embi_build {
    embipc_real *x;              /* surface vertices (3 nv) */
    embipc_real *q;              /* nodes (3 nn) */
    int *node;                   /* rows of J: (4 nv), local nodes */
    embipc_real *weight;         /* (4 nv) */
    unsigned char *count;        /* (nv) */
    int *index;                  /* scratch: caller's vertex -> surface vertex (vertex_count) */
    int x_cap, q_cap, node_cap, weight_cap, count_cap, index_cap;
    embi_last_cage *last;        /* of the world */
    const embipc_cage *cage;     /* its own, or the caller's; NULL where there is none with ties */
} embi_build;

static void embi_build_free(embi_memory *m, embi_build *t)
{
    EMBI_RELEASE(m, t->x, t->x_cap);
    EMBI_RELEASE(m, t->q, t->q_cap);
    EMBI_RELEASE(m, t->node, t->node_cap);
    EMBI_RELEASE(m, t->weight, t->weight_cap);
    EMBI_RELEASE(m, t->count, t->count_cap);
    EMBI_RELEASE(m, t->index, t->index_cap);
}

/* Factors per tet: there must be tets to which they belong. */
static embipc_result embi_check_factors(const embipc_body_def *d, const embipc_real *factor, const char *what,
                                        embipc_error *e)
{
    int is_cage = d->kind == EMBIPC_CAGE && d->cage_x;
    int count = d->kind == EMBIPC_FULL ? d->tet_count : is_cage ? d->cage_tet_count : 0;
    if (factor && count < 1)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "%s needs a full body, or a cage given with its tets",
                         what);
    for (int t = 0; factor && t < count; t++)
        if (!(factor[t] > 0) || !embi_finite(factor[t]))
            return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_TET, t, factor[t],
                                "%s of tet %d is %g; it must be positive", what, t, factor[t]);
    return EMBIPC_OK;
}

static embipc_result embi_check_body_def(const embipc_body_def *d, embipc_error *e)
{
    embipc_real R[9], off = 0;
    embipc_result r;
    if (d->cookie != EMBI_BODY_COOKIE)
        return embi_fail(e, EMBIPC_ERR_DEF, "start from embipc_default_body_def()");
    if ((int)d->kind < 0 || d->kind > EMBIPC_FULL)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "kind %d does not exist", (int)d->kind);
    if (!d->x || d->vertex_count < 1)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "no vertices: x is NULL or vertex_count %d",
                         d->vertex_count);
    if (d->vertex_count > INT_MAX / 16 || d->triangle_count > INT_MAX / 64 || d->tet_count > INT_MAX / 64)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "%d vertices, %d triangles, %d tets: too many",
                         d->vertex_count, d->triangle_count, d->tet_count);
    if (d->vertex_count < 0 || d->triangle_count < 0 || d->tet_count < 0 || d->cage_node_count < 0 ||
        d->cage_tet_count < 0)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "a count is negative");
    if (!d->triangles && !d->tets) return embi_fail(e, EMBIPC_ERR_ARGUMENT, "neither triangles nor tets");
    if (d->kind == EMBIPC_FULL && !d->tets)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT,
                         "a full body needs tets; for a surface alone take kind cage");
    if (d->kind == EMBIPC_FULL && d->triangles)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT,
                         "the surface of a full body is the boundary of its tets: leave triangles NULL");
    if (!embi_all_finite(d->x, 3 * d->vertex_count))
        for (int i = 0; i < d->vertex_count; i++)
            if (!embi_all_finite(d->x + 3 * i, 3))
                return embi_fail_at(e, EMBIPC_ERR_NOT_FINITE, EMBIPC_VERTEX, i, d->x[3 * i],
                                    "vertex %d at (%g, %g, %g) is not finite", i, d->x[3 * i],
                                    d->x[3 * i + 1], d->x[3 * i + 2]);
    if (!embi_all_finite(d->rotation, 9) || !embi_all_finite(d->position, 3) ||
        !embi_all_finite(d->velocity, 3) || !embi_all_finite(d->angular_velocity, 3))
        return embi_fail(e, EMBIPC_ERR_NOT_FINITE,
                         "rotation, position, velocity or angular_velocity is not finite");
    if (!(d->scale > 0) || !embi_finite(d->scale))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, d->scale,
                            "scale is %g; it must be positive", d->scale);
    embi_m3_tmul(R, d->rotation, d->rotation);
    for (int i = 0; i < 9; i++)
        off = embi_max(off, embi_abs(R[i] - (i % 4 == 0 ? (embipc_real)1 : (embipc_real)0)));
    if (!(off < 1e-9) || !(embi_m3_det(d->rotation) > 0))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, off,
                            "rotation is no rotation matrix (R^T R differs from I by %g)", off);
    if (!(d->friction >= 0) || !embi_finite(d->friction))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, d->friction,
                            "friction is %g; it must not be negative", d->friction);
    if (!(d->thickness >= 0) || !embi_finite(d->thickness))
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, d->thickness,
                            "thickness is %g m; it must not be negative", d->thickness);
    if (!(d->dhat >= 0) || !(d->kappa >= 0) || !(d->friction_velocity >= 0) || !(d->tolerance >= 0) ||
        !embi_finite(d->dhat + d->kappa + d->friction_velocity + d->tolerance))
        return embi_fail(e, EMBIPC_ERR_ARGUMENT,
                         "dhat %g, kappa %g, friction_velocity %g, tolerance %g: each must be positive, or 0 "
                         "to be derived",
                         d->dhat, d->kappa, d->friction_velocity, d->tolerance);
    if (d->kind < EMBIPC_AFFINE) return EMBIPC_OK;
    if (d->material.model == EMBIPC_ORTHOGONALITY && d->kind != EMBIPC_AFFINE)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "the orthogonality energy is for affine bodies only");
    if ((r = embi_check_factors(d, d->tet_stiffness, "tet_stiffness", e)) != EMBIPC_OK ||
        (r = embi_check_factors(d, d->tet_density, "tet_density", e)) != EMBIPC_OK)
        return r;
    return embi_check_material(&d->material, e);
}

/* world point = rotation (scale p) + position */
static void embi_place(const embipc_body_def *d, const embipc_real *p, int n, embipc_real *out)
{
    for (int i = 0; i < n; i++) {
        embipc_real t[3];
        embi_scale(t, d->scale, p + 3 * i);
        embi_m3_mulv(out + 3 * i, d->rotation, t);
        embi_add(out + 3 * i, out + 3 * i, d->position);
    }
}

/* Surface of the body: the given triangles, or the boundary of the tets without the vertices inside.
 * Coordinates go to t->x in world space, the caller's numbers to b->origin. */
static embipc_result embi_build_surface(embi_memory *m, const embipc_body_def *d, embi_body *b, embi_build *t,
                                        embipc_error *e)
{
    embipc_result r;
    int n = d->vertex_count;
    if (!EMBI_GROW(m, int, t->index, t->index_cap, n) || !EMBI_GROW(m, int, b->origin, b->origin_cap, n) ||
        !EMBI_GROW(m, embipc_real, t->x, t->x_cap, 3 * n))
        return embi_fail_memory(e);
    if (d->tets && (r = embi_tets_check(m, d->x, n, d->tets, d->tet_count, e)) != EMBIPC_OK) return r;
    if (d->triangles) {
        if ((r = embi_surface_check(m, d->x, n, d->triangles, d->triangle_count, d->kind >= EMBIPC_AFFINE,
                                    e)) != EMBIPC_OK)
            return r;
        if (!EMBI_GROW(m, int, b->tri, b->tri_cap, 3 * d->triangle_count)) return embi_fail_memory(e);
        memcpy(b->tri, d->triangles, (size_t)(3 * d->triangle_count) * sizeof *b->tri);
        b->nt = d->triangle_count;
    } else if (embi_tets_boundary(m, d->tets, d->tet_count, &b->tri, &b->tri_cap, &b->nt) != EMBIPC_OK)
        return embi_fail_memory(e);
    for (int i = 0; i < n; i++) t->index[i] = -1;
    for (int i = 0; i < 3 * b->nt; i++) t->index[b->tri[i]] = 0;
    b->nv = 0;
    for (int i = 0; i < n; i++)
        if (t->index[i] == 0) {
            embi_place(d, d->x + 3 * i, 1, t->x + 3 * b->nv);
            b->origin[b->nv] = i;
            t->index[i] = b->nv++;
        }
    for (int i = 0; i < 3 * b->nt; i++) b->tri[i] = t->index[b->tri[i]];
    if (!d->triangles && (r = embi_surface_check(m, t->x, b->nv, b->tri, b->nt, 1, e)) != EMBIPC_OK) {
        if (e && e->primitive[0] == EMBIPC_VERTEX) e->index[0] = b->origin[e->index[0]];
        return r;
    }
    return EMBIPC_OK;
}

/* A regular tet around the ball around the box of the surface: the nodes of affine and kinematic bodies. */
static int embi_build_tet(embi_memory *m, embi_body *b, embi_build *t)
{
    static const embipc_real corner[12] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
    embipc_real box[6], c[3], radius = 0;
    if (!EMBI_GROW(m, embipc_real, t->q, t->q_cap, 12) || !EMBI_GROW(m, int, b->tet, b->tet_cap, 4)) return 0;
    embi_box_clear(box);
    for (int i = 0; i < b->nv; i++) embi_box_add(box, t->x + 3 * i);
    for (int i = 0; i < 3; i++) c[i] = (box[i] + box[3 + i]) / 2;
    for (int i = 0; i < b->nv; i++) {
        embipc_real r[3];
        embi_sub(r, t->x + 3 * i, c);
        radius = embi_max(radius, embi_norm(r));
    }
    /* corners at (+-1, +-1, +-1) s have the inscribed radius s/sqrt 3 */
    for (int i = 0; i < 12; i++) t->q[i] = c[i % 3] + corner[i] * radius * (embipc_real)1.7322;
    b->nn = 4;
    b->ntet = 1;
    b->tet[0] = 0; b->tet[1] = 1; b->tet[2] = 2; b->tet[3] = 3;
    if (embi_tet_det(t->q, t->q + 3, t->q + 6, t->q + 9) < 0) {
        b->tet[2] = 3;
        b->tet[3] = 2;
    }
    return 1;
}

/* Is the body too stiff for its deformation to matter? As a rough bar of length L (the diagonal) and thickness
 * t^2 = 12 times the smallest principal second moment over the volume, held at one end, it sags under g by
 *   3/2 rho g L^4 / (E t^2)
 * Ten times that has to stay below the default activation distance of its contacts, 1e-3 L. */
static int embi_body_is_stiff(const embipc_body_def *d, const embipc_real *x, const embi_body *b)
{
    embipc_solid solid;
    embipc_real S[9], V[9], least, L = b->diagonal, load = 10 * d->material.density * (embipc_real)9.81;
    embi_solid(&solid, x, b->nv, b->tri, b->nt);
    memcpy(S, solid.second, sizeof S);
    embi_eigen_symmetric(3, S, V);
    least = embi_min(S[0], embi_min(S[4], S[8])) / solid.volume;   /* t^2 / 12 */
    return (embipc_real)1.5 * load * L * L * L < 1e-3 * d->material.young * 12 * least;
}

/* The cage of the surface, in the coordinates of the description: the same one however the body is turned. */
static embipc_result embi_build_cage(embi_memory *m, const embipc_body_def *d, embi_body *b, embi_build *t,
                                     embipc_error *e)
{
    int nodes = !d->cage_nodes && embi_body_is_stiff(d, t->x, b) ? 4 : d->cage_nodes;
    embipc_result r;
    embipc_real *x = (embipc_real *)embi_alloc(m, 3 * b->nv, sizeof *x);
    if (!x) return embi_fail_memory(e);
    for (int i = 0; i < b->nv; i++) embi_copy(x + 3 * i, d->x + 3 * b->origin[i]);
    r = embi_last_cage_make(m, t->last, nodes, x, b->nv, b->tri, b->nt, e);
    embi_free(m, x, 3 * b->nv, sizeof *x);
    t->cage = &t->last->cage;
    return r;
}

/* Nodes and tets of the body, world coordinates. */
static embipc_result embi_build_nodes(embi_memory *m, const embipc_body_def *d, embi_body *b, embi_build *t,
                                      embipc_error *e)
{
    const embipc_real *x = d->cage_x;
    const int *tets = d->cage_tets;
    int n = d->cage_node_count, nt = d->cage_tet_count;
    embipc_result r = EMBIPC_OK;
    if (b->kind == EMBIPC_FIXED) return EMBIPC_OK;
    if (b->kind == EMBIPC_KINEMATIC || b->kind == EMBIPC_AFFINE)
        return embi_build_tet(m, b, t) ? EMBIPC_OK : embi_fail_memory(e);
    if (b->kind == EMBIPC_FULL) {
        x = d->x;
        tets = d->tets;
        n = d->vertex_count;
        nt = d->tet_count;
    } else if (x) {
        if (n < 4 || nt < 1 || !tets || nt > INT_MAX / 64)
            return embi_fail(e, EMBIPC_ERR_ARGUMENT, "a cage of %d nodes and %d tets", n, nt);
        if ((r = embi_tets_check(m, x, n, tets, nt, e)) != EMBIPC_OK) return r;
    } else {
        if (d->cage) t->cage = d->cage;
        else if ((r = embi_build_cage(m, d, b, t, e)) != EMBIPC_OK) return r;
        if (t->cage->vertex_count != b->nv || t->cage->node_count < 4)
            return embi_fail(e, EMBIPC_ERR_ARGUMENT, "a cage of %d nodes made for %d vertices, not for these "
                             "%d", t->cage->node_count, t->cage->vertex_count, b->nv);
        x = t->cage->x;
        tets = t->cage->tets;
        n = t->cage->node_count;
        nt = t->cage->tet_count;
    }
    if (!EMBI_GROW(m, embipc_real, t->q, t->q_cap, 3 * n) || !EMBI_GROW(m, int, b->tet, b->tet_cap, 4 * nt))
        return embi_fail_memory(e);
    embi_place(d, x, n, t->q);
    memcpy(b->tet, tets, (size_t)(4 * nt) * sizeof *tets);
    b->nn = n;
    b->ntet = nt;
    return EMBIPC_OK;
}

/* Weights of the surface vertices in the tets that the cage names for them. Finding them again would not do:
 * tets of such a cage may lie on each other. */
static embipc_result embi_build_ties(embi_body *b, embi_build *t, embipc_error *e)
{
    for (int i = 0; i < b->nv; i++) {
        embipc_real X[12], *w = t->weight + 4 * i;
        int tet = t->index[i] = t->cage->vertex_tet[i];
        if (tet >= 0 && tet < b->ntet) {
            embi_tet_gather(X, t->q, b->tet + 4 * tet);
            if (embi_tet_weights(X, t->x + 3 * i, w) && embi_min4(w) >= -EMBI_INSIDE_TOLERANCE) {
                if (embi_min4(w) < 0) embi_clamp_weights(w, X, t->x + 3 * i);
                continue;
            }
        }
        return embi_fail_at(e, EMBIPC_ERR_OUTSIDE, EMBIPC_VERTEX, b->origin[i], (embipc_real)tet,
                            "surface vertex %d is not in tet %d, which its cage names for it: was the cage "
                            "made for this surface?", b->origin[i], tet);
    }
    return EMBIPC_OK;
}

/* Rows of J: a vertex of a full body is its node, any other hangs in the tet that holds it. */
static embipc_result embi_build_rows(embi_memory *m, embi_body *b, embi_build *t, embipc_error *e)
{
    embipc_result r;
    if (!EMBI_GROW(m, int, t->node, t->node_cap, 4 * b->nv) ||
        !EMBI_GROW(m, embipc_real, t->weight, t->weight_cap, 4 * b->nv) ||
        !EMBI_GROW(m, unsigned char, t->count, t->count_cap, b->nv) ||
        !EMBI_GROW(m, int, t->index, t->index_cap, b->nv))
        return embi_fail_memory(e);
    memset(t->node, 0, (size_t)(4 * b->nv) * sizeof *t->node);
    memset(t->weight, 0, (size_t)(4 * b->nv) * sizeof *t->weight);
    memset(t->count, 0, (size_t)b->nv);
    if (b->kind == EMBIPC_FIXED) return EMBIPC_OK;
    if (b->kind == EMBIPC_FULL) {
        for (int i = 0; i < b->nv; i++) {
            t->node[4 * i] = b->origin[i];
            t->weight[4 * i] = 1;
            t->count[i] = 1;
        }
        return EMBIPC_OK;
    }
    if (t->cage) r = embi_build_ties(b, t, e);
    else {
        r = embi_embed(m, t->q, b->nn, b->tet, b->ntet, t->x, b->nv, t->index, t->weight, e);
        if (r != EMBIPC_OK && e && e->primitive[0] == EMBIPC_VERTEX) e->index[0] = b->origin[e->index[0]];
    }
    if (r != EMBIPC_OK) return r;
    for (int i = 0; i < b->nv; i++) {
        for (int k = 0; k < 4; k++) t->node[4 * i + k] = b->tet[4 * t->index[i] + k];
        t->count[i] = 4;
    }
    return EMBIPC_OK;
}

/* Node masses, and which blocks of the mass matrix are not zero. Returns 0 out of memory. */
static int embi_build_heavy(embi_memory *m, embi_body *b)
{
    int count = 0;
    if (!EMBI_GROW(m, embipc_real, b->node_mass, b->node_mass_cap, b->nn) ||
        !EMBI_GROW(m, int, b->heavy_row, b->heavy_row_cap, b->nn + 1))
        return 0;
    memset(b->node_mass, 0, (size_t)b->nn * sizeof *b->node_mass);
    for (int k = 0; k < b->A.row[b->nn]; k++) count += b->mass[k] != 0;
    if (!EMBI_GROW(m, int, b->heavy, b->heavy_cap, count)) return 0;
    count = 0;
    for (int i = 0; i < b->nn; i++) {
        b->heavy_row[i] = count;
        for (int k = b->A.row[i]; k < b->A.row[i + 1]; k++) {
            if (b->mass[k] != 0) b->heavy[count++] = k;
            b->node_mass[i] += b->mass[k];
            if (b->A.col[k] != i) b->node_mass[b->A.col[k]] += b->mass[k];
        }
    }
    b->heavy_row[b->nn] = count;
    return 1;
}

/* M and K: elasticity with the solid's volume in each tet, the pattern of A, the mass per block. */
static embipc_result embi_build_dynamics(embi_memory *m, const embipc_body_def *d, embi_body *b,
                                         embi_build *t, embipc_error *e)
{
    embipc_real *volume = (embipc_real *)embi_alloc(m, b->ntet, sizeof *volume);
    embipc_real *moment = (embipc_real *)embi_alloc(m, 10 * b->ntet, sizeof *moment);
    embi_key *pairs = NULL;
    int *mark = (int *)embi_alloc(m, b->nn, sizeof *mark), pair_count = 0, ok = volume && moment && mark;
    embipc_result r = EMBIPC_OK;
    if (ok && b->kind == EMBIPC_FULL)
        for (int k = 0; k < b->ntet; k++) {
            const int *v = b->tet + 4 * k;
            volume[k] = embi_tet_det(t->q + 3 * v[0], t->q + 3 * v[1], t->q + 3 * v[2], t->q + 3 * v[3]) / 6;
            embi_tet_moment_full(volume[k], moment + 10 * k);
        }
    else if (ok && t->cage) {
        embipc_real cubed = d->scale * d->scale * d->scale;
        for (int k = 0; k < b->ntet; k++) volume[k] = cubed * t->cage->tet_volume[k];
        for (int k = 0; k < 10 * b->ntet; k++) moment[k] = cubed * t->cage->tet_moment[k];
    } else if (ok)
        r = embi_cage_integrals(m, t->q, b->tet, b->ntet, t->x, b->nv, b->tri, b->nt, volume, moment, e);
    ok = ok && r == EMBIPC_OK &&
         embi_elastic_init(m, &b->elastic, t->q, b->nn, b->tet, b->ntet, volume, d->tet_stiffness,
                           &b->material) &&
         embi_elastic_neighbours(m, &b->elastic, mark);
    if (ok) {
        pair_count = embi_elastic_pair_count(&b->elastic);
        pairs = (embi_key *)embi_alloc(m, pair_count, sizeof *pairs);
        ok = pairs &&
             embi_bsr_pattern(m, &b->A, b->nn, pairs, embi_elastic_pairs(&b->elastic, pairs)) &&
             embi_elastic_places(m, &b->elastic, &b->A) &&
             EMBI_GROW(m, embipc_real, b->mass, b->mass_cap, b->A.row[b->nn]) &&
             (!b->elastic.nonlinear ||
              EMBI_GROW(m, embipc_real, b->tangent, b->tangent_cap, 9 * b->A.row[b->nn]));
    }
    for (int k = 0; ok && k < b->ntet; k++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {   /* each unordered pair once; lumping moves i-j to i-i and j-j */
                int p = b->tet[4 * k + i], q = b->tet[4 * k + j];
                embipc_real mass = b->material.density * moment[10 * k + embi_moment_index[4 * i + j]];
                if (d->tet_density) mass *= d->tet_density[k];
                b->total_mass += mass;
                if (b->material.lumped) b->mass[embi_bsr_find(&b->A, p, p)] += mass;
                else if (p >= q) b->mass[embi_bsr_find(&b->A, p, q)] += mass;
            }
    ok = ok && embi_build_heavy(m, b);
    embi_free(m, pairs, pair_count, sizeof *pairs);
    embi_free(m, volume, b->ntet, sizeof *volume);
    embi_free(m, moment, 10 * b->ntet, sizeof *moment);
    embi_free(m, mark, b->nn, sizeof *mark);
    return r != EMBIPC_OK ? r : ok ? EMBIPC_OK : embi_fail_memory(e);
}

/* Panels, and what holds them. Returns 0 out of memory. */
static int embi_build_panels(embi_memory *m, embi_body *b, const embi_build *t)
{
    int *corner = (int *)embi_alloc(m, 3 * b->nt, sizeof *corner), ok, count;
    embipc_real *least = (embipc_real *)embi_alloc(m, 4 * b->ntet, sizeof *least), X[12];
    unsigned char *mark = (unsigned char *)embi_alloc(m, b->nn, 1);
    ok = corner && least && mark && embi_body_cut(m, b);
    for (int n = 0; ok && n < b->panel_count; n++) {
        embi_panel *p = b->panel + n;
        count = embi_panel_corners(b, p, corner);
        if (embi_is_one_tet(b)) {
            embi_tet_gather(X, t->q, b->tet);
            embi_block_weights(p->block, X, t->x, corner, count);
        } else if (b->kind == EMBIPC_CAGE)
            ok = embi_panel_shrink(m, b, p, corner, count, t->index, t->weight, least);
        else if (b->panel_count > 1)
            ok = embi_panel_holders(m, b, p, corner, count, t->node, t->count, mark);
    }
    embi_free(m, corner, 3 * b->nt, sizeof *corner);
    embi_free(m, least, 4 * b->ntet, sizeof *least);
    embi_free(m, mark, b->nn, 1);
    return ok;
}

/* the tree of boxes at the positions t->x */
static embipc_result embi_build_tree(embi_memory *m, embi_body *b, embi_build *t, embipc_error *e)
{
    int n = 6 * b->nt, large = b->nt >= EMBI_FIT_TRIANGLES;
    embi_key *keys = (embi_key *)embi_alloc(m, n, sizeof *keys);
    unsigned char *used = (unsigned char *)embi_alloc(m, b->nv, 1);
    int ok = keys && used && embi_bvh_build(m, &b->bvh, t->x, b->tri, b->nt, b->nv, keys, used);
    if (ok && b->kind != EMBIPC_FULL)
        embi_bvh_spare_flat(&b->bvh, t->x, b->tri, b->nt, b->kind == EMBIPC_CAGE ? t->index : NULL, keys);
    embi_free(m, keys, n, sizeof *keys);
    embi_free(m, used, b->nv, 1);
    if (ok) ok = embi_build_panels(m, b, t);
    if (ok && b->nn && (!embi_is_one_tet(b) || large)) {
        embi_rows J;
        J.node = t->node;
        J.weight = t->weight;
        J.count = t->count;
        ok = embi_bvh_weigh(m, &b->bvh, b->tri, b->nt, &J) && (!large || embi_bvh_ready(m, &b->bvh));
    }
    if (ok) embi_bvh_refit(&b->bvh, t->x, b->tri, b->nt);
    if (ok && embi_may_fold(b) && EMBI_FOLD_FINE * b->ntet <= b->nt) {
        embi_surface s;
        memset(&s, 0, sizeof s);
        s.x = s.rest = t->x;
        s.tri = b->tri;
        s.nt = b->nt;
        s.bvh = &b->bvh;
        ok = embi_folds_build(m, &b->folds, &s, b->nv, t->q, b->tet, b->ntet,
                              b->kind == EMBIPC_CAGE ? t->index : NULL) &&
             EMBI_GROW(m, embi_strain, b->strain, b->strain_cap, embi_strained_tets(b));
    }
    return ok ? EMBIPC_OK : embi_fail_memory(e);
}

/* Everything that a body owns, from its description. */
static embipc_result embi_build_body(embi_memory *m, const embipc_body_def *d, embi_body *b, embi_build *t,
                                     embipc_error *e)
{
    embipc_real box[6], diagonal[3];
    embipc_result r;
    if ((r = embi_build_surface(m, d, b, t, e)) != EMBIPC_OK) return r;
    if (!embi_all_finite(t->x, 3 * b->nv))
        return embi_fail(e, EMBIPC_ERR_NOT_FINITE, "a vertex is not finite after scaling by %g", d->scale);
    /* determinants multiply up to six lengths: beyond these sizes they leave the range of the arithmetic */
    embi_box_clear(box);
    for (int i = 0; i < b->nv; i++) embi_box_add(box, d->x + 3 * b->origin[i]);
    embi_sub(diagonal, box + 3, box);
    b->diagonal = d->scale * embi_norm(diagonal);
    for (int i = 0; i < 3 * b->nv; i++) b->scale_x = embi_max(b->scale_x, embi_abs(t->x[i]));
    if (!(b->diagonal > 1e-30 && b->diagonal < 1e30) || b->scale_x > 1e9 * b->diagonal)
        return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, EMBIPC_NO_PRIMITIVE, 0, b->diagonal,
                            "a body %g m across at coordinates of %g m: sizes must lie in 1e-30 .. 1e30 m, "
                            "and within 1e9 sizes of the origin",
                            b->diagonal, b->scale_x);
    if ((r = embi_build_nodes(m, d, b, t, e)) != EMBIPC_OK || (r = embi_build_rows(m, b, t, e)) != EMBIPC_OK)
        return r;
    embi_solid(&b->solid, t->x, b->nv, b->tri, b->nt);
    b->area = 0;
    for (int i = 0; i < b->nt; i++) b->area += embi_triangle_area(t->x, b->tri + 3 * i);
    if (embi_is_dynamic(b)) {
        b->total_mass = 0;   /* that of the nodes: the solid's own has the rounding of a far origin in it */
        if ((r = embi_build_dynamics(m, d, b, t, e)) != EMBIPC_OK) return r;
    }
    return embi_build_tree(m, b, t, e);
}

/* Appends the crossings of two bodies (or of one with itself), at the present x, to the list. Their trees
 * must fit. Returns 0 out of memory. */
static int embi_world_crossings(embipc_world *w, int at, int other, embipc_intersection **list, int *count,
                                int *cap)
{
    static const embipc_real still[6] = {0, 0, 0, 0, 0, 0};
    const embi_body *a = w->s.body + at, *b = w->s.body + other;
    embi_surface sa = embi_surface_of(&w->s, a, w->s.x), sb = embi_surface_of(&w->s, b, w->s.x);
    w->tri_pair_count = w->crossing_count = 0;
    if (!embi_bvh_pairs(&w->memory, &sa, &sb, still, 0, &w->tri_pairs, &w->tri_pair_count,
                        &w->tri_pair_cap) ||
        !embi_crossings(&w->memory, &sa, &sb, w->tri_pairs, w->tri_pair_count, &w->crossing,
                        &w->crossing_count, &w->crossing_cap) ||
        !EMBI_GROW(&w->memory, embipc_intersection, *list, *cap, *count + w->crossing_count))
        return 0;
    for (int i = 0; i < w->crossing_count; i++) {
        embipc_intersection *x = *list + (*count)++;
        x->edge_body = w->crossing[i].edge_on_b ? b->handle : a->handle;
        x->triangle_body = w->crossing[i].edge_on_b ? a->handle : b->handle;
        x->edge[0] = w->crossing[i].edge[0];
        x->edge[1] = w->crossing[i].edge[1];
        x->triangle = w->crossing[i].triangle;
    }
    return 1;
}

/* Do two bodies (or one with itself) come nearer than their thickness, or than rounding can tell from
 * touching? Such a pair could never move again. Returns 1 when they do, -1 out of memory. */
static int embi_check_gap(embipc_world *w, int i, int j)
{
    static const embipc_real still[6] = {0, 0, 0, 0, 0, 0};
    embi_state *s = &w->s;
    const embi_body *a = s->body + i, *b = s->body + j;
    embi_surface sa = embi_surface_of(s, a, s->x), sb = embi_surface_of(s, b, s->x);
    embi_pair_rule rule;
    embipc_real least = embi_pair_rounding(a, b);
    embi_approach none;
    int v, of_a;
    memset(&rule, 0, sizeof rule);
    rule.xi = i == j ? (embipc_real)0 : a->thickness + b->thickness;
    none = embi_approach_of(still, rule.xi + least);
    w->tri_pair_count = s->candidate_count = 0;
    if (!embi_bvh_pairs(&w->memory, &sa, &sb, still, rule.xi + least, &w->tri_pairs, &w->tri_pair_count,
                        &w->tri_pair_cap) ||
        !embi_candidates(&w->memory, &sa, &sb, w->tri_pairs, w->tri_pair_count, &rule, &none, &s->candidate,
                         &s->candidate_count, &s->candidate_cap))
        return -1;
    if (!s->candidate_count) return 0;
    (void)embi_fail_at(&w->error, EMBIPC_ERR_INTERSECTION, EMBIPC_NO_PRIMITIVE, 0, rule.xi,
                       "touches \"%.40s\": %d pairs of primitives are not farther apart than %g m; leave a gap", a->name,
                       s->candidate_count, rule.xi + least);
    v = s->candidate[0].v[0];
    of_a = i != j && v >= a->vert0 && v < a->vert0 + a->nv;
    w->error.body[1] = a->handle;
    w->error.primitive[of_a] = EMBIPC_VERTEX;
    w->error.index[of_a] = of_a ? v - a->vert0 : b->origin[v - b->vert0];
    return 1;
}

/* Are two bodies so far apart that no gap has to be looked at? */
static int embi_surely_apart(const embi_state *s, embi_body *a, embi_body *b)
{
    embipc_real reach;
    for (int side = 0; side < 2; side++) {
        embi_body *one = side ? b : a;
        if (one->around > 0) continue;
        embi_body_locate(one, s->q);
        one->around = one->thickness + 2 * embi_pair_rounding(one, one);
    }
    reach = a->around + b->around;
    for (int i = 0; i < 3; i++)
        if (a->start_box[i] - reach > b->start_box[3 + i] || a->start_box[3 + i] + reach < b->start_box[i]) return 1;
    return 0;
}

/* half-edge 3 triangle + side of an edge of the surface */
static int embi_edge_place(const embi_body *b, const int edge[2])
{
    for (int i = 0; i < 3 * b->nt; i++) {
        int u = b->tri[i], v = b->tri[i % 3 == 2 ? i - 2 : i + 1];
        if ((u == edge[0] && v == edge[1]) || (u == edge[1] && v == edge[0])) return i;
    }
    return 0;
}

/* The error of the first crossing on the list, between a new body and another, or itself; each with its primitive. */
static void embi_fail_crossing(embipc_world *w, const embi_body *b, const embi_body *other)
{
    const embipc_intersection *x = w->rejected;
    int own_edge = embi_same_body(x->edge_body, b->handle), own_triangle = embi_same_body(x->triangle_body, b->handle);
    const embi_body *edge = own_edge ? b : other, *triangle = own_triangle ? b : other;
    (void)embi_fail(&w->error, EMBIPC_ERR_INTERSECTION,
                    "%s%.40s%s: edge %d-%d of \"%.40s\" meets triangle %d of \"%.40s\"; move them apart or exclude the pair",
                    b == other ? "crosses itself" : "crosses \"", b == other ? "" : other->name, b == other ? "" : "\"",
                    own_edge ? b->origin[x->edge[0]] : x->edge[0], own_edge ? b->origin[x->edge[1]] : x->edge[1], edge->name,
                    x->triangle, triangle->name);
    w->error.body[1] = other->handle;
    w->error.primitive[!own_triangle] = EMBIPC_TRIANGLE;
    w->error.index[!own_triangle] = x->triangle;
    w->error.primitive[own_triangle] = EMBIPC_EDGE;
    w->error.index[own_triangle] = embi_edge_place(edge, x->edge);
}

/* Does the body at place `at`, not counted yet, cross itself or one it may touch? */
static embipc_result embi_check_start(embipc_world *w, int at)
{
    embi_state *s = &w->s;
    embi_body *b = s->body + at;
    w->rejected_count = 0;
    for (int i = 0; i <= at; i++) {
        int before = w->rejected_count;
        if ((i < at && embi_surely_apart(s, s->body + i, b)) || !embi_tested(w, s->body + i, b)) continue;
        if (i < at) embi_body_refit(s, s->body + i);
        if (!embi_world_crossings(w, i, at, &w->rejected, &w->rejected_count, &w->rejected_cap))
            return embi_fail_memory(&w->error);
        if (w->rejected_count == 0) {
            int touch = embi_check_gap(w, i, at);
            if (touch) return touch < 0 ? embi_fail_memory(&w->error) : EMBIPC_ERR_INTERSECTION;
        }
        if (w->rejected_count > before && !before) embi_fail_crossing(w, b, s->body + i);
    }
    for (int n = 0; n < w->rejected_count; n++)
        for (int k = 0; k < 2 && embi_same_body(w->rejected[n].edge_body, b->handle); k++)
            w->rejected[n].edge[k] = b->origin[w->rejected[n].edge[k]];
    return w->rejected_count ? EMBIPC_ERR_INTERSECTION : EMBIPC_OK;
}

/* Writes the arrays of a body behind those that count. */
static void embi_world_append(embipc_world *w, embi_body *b, const embi_build *t)
{
    embi_state *s = &w->s;
    memcpy(s->x + 3 * b->vert0, t->x, (size_t)(3 * b->nv) * sizeof *t->x);
    memcpy(s->next_x + 3 * b->vert0, t->x, (size_t)(3 * b->nv) * sizeof *t->x);
    memcpy(s->trial_x + 3 * b->vert0, t->x, (size_t)(3 * b->nv) * sizeof *t->x);
    memcpy(s->rest + 3 * b->vert0, t->x, (size_t)(3 * b->nv) * sizeof *t->x);
    memset(s->motion + 3 * b->vert0, 0, (size_t)(3 * b->nv) * sizeof *t->x);
    memset(s->vertex_force + 3 * b->vert0, 0, (size_t)(3 * b->nv) * sizeof *t->x);
    memset(s->pull + 3 * b->vert0, 0, (size_t)(3 * b->nv) * sizeof *t->x);
    if (b->nn) memcpy(s->q + 3 * b->node0, t->q, (size_t)(3 * b->nn) * sizeof *t->q);
    for (int i = 0; i < b->nn; i++) {
        s->local[b->node0 + i] = s->drive[b->node0 + i] = -1;
        embi_set(s->v + 3 * (b->node0 + i), 0, 0, 0);
        embi_set(s->v_before + 3 * (b->node0 + i), 0, 0, 0);
        embi_set(w->applied + 3 * (b->node0 + i), 0, 0, 0);
    }
    for (int i = 0; i < b->nv; i++) {
        s->row_count[b->vert0 + i] = t->count[i];
        for (int k = 0; k < 4; k++) {
            s->row_node[4 * (b->vert0 + i) + k] = b->node0 + t->node[4 * i + k];
            s->row_weight[4 * (b->vert0 + i) + k] = t->weight[4 * i + k];
        }
    }
    embi_apply_rows(s, b, s->q, s->x);   /* the bits of J q are the surface from here on */
    memcpy(s->xn + 3 * b->vert0, s->x + 3 * b->vert0, (size_t)(3 * b->nv) * sizeof *t->x);
    memcpy(s->start_x + 3 * b->vert0, s->x + 3 * b->vert0, (size_t)(3 * b->nv) * sizeof *t->x);
    b->started = b->followed = 1;
    if (b->nn) memcpy(s->start_q + 3 * b->node0, s->q + 3 * b->node0, (size_t)(3 * b->nn) * sizeof *t->q);
    embi_m3_identity(b->moved.turn);
    if (b->bvh.known) embi_bvh_start(&b->bvh, s->x + 3 * b->vert0, b->tri, b->nt);
}

/* v = velocity + w x (q - c) of the nodes of a dynamic body, c = 1/m sum M_ij q_j its centre of mass; into
 * out (3 nn). Returns whether all of it is finite. */
static int embi_spin(const embi_state *s, const embi_body *b, const embipc_real velocity[3],
                     const embipc_real spin[3], embipc_real *out)
{
    const embipc_real *q = s->q + 3 * b->node0;
    embipc_real centre[3] = {0, 0, 0};
    embi_mass_multiply(b, q, out);
    for (int i = 0; i < b->nn; i++) embi_axpy(centre, 1 / b->total_mass, out + 3 * i);
    for (int i = 0; i < b->nn; i++) {
        embipc_real r[3], t[3];
        embi_sub(r, q + 3 * i, centre);
        embi_cross(t, spin, r);
        embi_add(out + 3 * i, velocity, t);
    }
    return embi_all_finite(out, 3 * b->nn);
}

static embipc_result embi_fail_velocity(embipc_error *e, const embi_body *b, const embipc_real velocity[3],
                                        const embipc_real spin[3])
{
    return embi_fail(e, EMBIPC_ERR_NOT_FINITE,
                     "body \"%.40s\": with velocity (%g, %g, %g) m/s and spin (%g, %g, %g) rad/s a node's "
                     "velocity is not finite",
                     b->name, velocity[0], velocity[1], velocity[2], spin[0], spin[1], spin[2]);
}

/* Scratch for all bodies there are and one more. */
static int embi_state_scratch(embi_memory *m, embi_state *s, const embi_body *b)
{
    int trace = embi_body_trace(b), patch = embi_body_patch(b), nodes = s->node_count + b->nn;
    for (int k = 0; k < s->body_count; k++) {
        trace += embi_body_trace(s->body + k);
        patch += embi_body_patch(s->body + k);
    }
    return EMBI_GROW(m, embipc_real, s->trace, s->trace_cap, trace) &&
           EMBI_GROW(m, int, s->place, s->place_cap, nodes) && EMBI_GROW(m, int, s->next, s->next_cap, nodes) &&
           EMBI_GROW(m, embipc_real, s->patch_G, s->patch_G_cap, patch);
}

/* the body counts from here on; nothing can fail any more */
static void embi_world_commit(embipc_world *w, int slot)
{
    embi_state *s = &w->s;
    embi_body *b = s->body + s->body_count;
    b->handle.index1 = slot + 1;
    w->body_slot[slot].at = s->body_count;
    s->body_count++;
    s->node_count += b->nn;
    s->vert_count += b->nv;
    if (b->nn) memcpy(s->start_v + 3 * b->node0, s->v + 3 * b->node0, (size_t)(3 * b->nn) * sizeof *s->v);
    embi_body_derive(w, b);
    w->mixed_start |= w->step > 0;
    s->revision++;
}

/* The rules of no_contact for a body that is about to exist. */
static embipc_result embi_exempt(embipc_world *w, const embipc_body_def *def, embipc_body body)
{
    if (def->no_contact_count < 0 || (def->no_contact_count && !def->no_contact))
        return embi_fail(&w->error, EMBIPC_ERR_ARGUMENT, "no_contact names %d bodies", def->no_contact_count);
    if (!EMBI_GROW(&w->memory, embi_rule, w->rule, w->rule_cap, w->rule_count + def->no_contact_count))
        return embi_fail_memory(&w->error);
    for (int i = 0; i < def->no_contact_count; i++) {
        embi_rule *rule = w->rule + w->rule_count++;
        if (embi_find_body(w, def->no_contact[i]) < 0)
            return embi_fail(&w->error, EMBIPC_ERR_HANDLE, "no_contact: no body %d (generation %u)",
                             def->no_contact[i].index1, def->no_contact[i].generation);
        rule->a = def->no_contact[i];
        rule->b = body;
        rule->friction = -1;
        rule->contact = 0;
    }
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_body_create(embipc_world *w, const embipc_body_def *def, embipc_body *body)
{
    embi_build build;
    embi_body *b;
    embi_memory *m;
    embipc_result r;
    int slot = -1, at, rules;
    if (body) body->index1 = 0, body->generation = 0;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    m = &w->memory;
    m->failed = 0;
    if (!def || !body)
        return embi_fail(&w->error, EMBIPC_ERR_ARGUMENT, "embipc_body_create: %s is NULL",
                         def ? "body" : "def");
    if ((r = embi_check_body_def(def, &w->error)) != EMBIPC_OK)
        return r == EMBIPC_ERR_DEF ? r : embi_blame(w, r, def->name ? def->name : "body", *body);
    memset(&build, 0, sizeof build);
    build.last = &w->last_cage;
    rules = w->rule_count;
    at = w->s.body_count;
    if (!embi_world_reserve(w, w->s.node_count, w->s.vert_count, at + 1) ||
        (slot = embi_slot_take(m, &w->body_slot, &w->body_slots, &w->body_slot_cap)) < 0)
        return embi_fail_memory(&w->error);
    b = w->s.body + at;
    memset(b, 0, sizeof *b);
    (void)snprintf(b->name, sizeof b->name, "%.63s", def->name ? def->name : "body");
    b->kind = def->kind;
    b->material = def->material;
    if (b->material.averaged < 0) b->material.averaged = def->kind == EMBIPC_CAGE;
    if (b->material.determinant_bound < 0) b->material.determinant_bound = def->kind == EMBIPC_AFFINE;
    if (b->material.model == EMBIPC_NEO_HOOKEAN) b->material.determinant_bound = 1;
    embi_m3_mulv(b->material.fibre, def->rotation, def->material.fibre);   /* of the mesh: in the world */
    b->friction = def->friction;
    b->thickness = def->thickness;
    b->given_dhat = def->dhat;
    b->given_kappa = def->kappa;
    b->given_epsv = def->friction_velocity;
    b->given_tolerance = def->tolerance;
    b->self_contact = def->self_contact != 0;
    b->handle.generation = w->body_slot[slot].generation;
    b->handle.index1 = slot + 1;
    r = embi_exempt(w, def, b->handle);
    if (r == EMBIPC_OK) r = embi_build_body(m, def, b, &build, &w->error);
    b->node0 = w->s.node_count;
    b->vert0 = w->s.vert_count;
    if (r == EMBIPC_OK && (!embi_world_reserve(w, b->node0 + b->nn, b->vert0 + b->nv, at + 1) ||
                           !embi_state_scratch(m, &w->s, b)))
        r = embi_fail_memory(&w->error);
    if (r == EMBIPC_OK) {
        b = w->s.body + at;
        embi_world_append(w, b, &build);
        if (embi_is_dynamic(b) &&
            !embi_spin(&w->s, b, def->velocity, def->angular_velocity, w->s.v + 3 * b->node0))
            r = embi_fail_velocity(&w->error, b, def->velocity, def->angular_velocity);
        else r = embi_check_start(w, at);
    }
    if (r == EMBIPC_OK) {
        embi_world_commit(w, slot);
        *body = b->handle;
    } else {
        (void)embi_blame(w, r, b->name, b->handle);
        w->error.body[0].index1 = 0;   /* it never existed */
        for (int i = 0; i < w->rejected_count && r == EMBIPC_ERR_INTERSECTION; i++) {
            if (embi_same_body(w->rejected[i].edge_body, b->handle)) w->rejected[i].edge_body.index1 = 0;
            if (embi_same_body(w->rejected[i].triangle_body, b->handle))
                w->rejected[i].triangle_body.index1 = 0;
        }
        embi_body_free(m, b);
        w->rule_count = rules;
    }
    embi_build_free(m, &build);
    return r;
}

/* ---- destroying ---- */

static void embi_drive_remove(embipc_world *w, int at)
{
    embi_state *s = &w->s;
    embi_drive *d = s->drives + at;
    embi_body *b = s->body + d->body;
    embi_slot *slot = w->drive_slot + (d->handle.index1 - 1);
    slot->at = -1;
    slot->generation++;
    s->revision++;
    for (int i = b->node0; i < b->node0 + b->nn; i++)
        if (s->drive[i] == at) {
            s->drive[i] = -1;
            b->driven_nodes--;
        }
    embi_drive_free(&w->memory, d);
    s->drive_count--;
    memmove(d, d + 1, (size_t)(s->drive_count - at) * sizeof *d);
    memset(s->drives + s->drive_count, 0, sizeof *d);
    for (int i = at; i < s->drive_count; i++) w->drive_slot[s->drives[i].handle.index1 - 1].at = i;
    for (int i = 0; i < s->node_count; i++)
        if (s->drive[i] > at) s->drive[i]--;
}

/* closes the gap that a removed body leaves in the flat arrays */
static void embi_world_close_gap(embipc_world *w, const embi_body *b)
{
    embi_state *s = &w->s;
    embipc_real **node[EMBI_NODE_FIELDS], **vertex[EMBI_VERTEX_FIELDS];
    size_t nodes = (size_t)(s->node_count - b->node0 - b->nn),
           verts = (size_t)(s->vert_count - b->vert0 - b->nv);
    int n0 = b->node0, v0 = b->vert0;
    embi_node_fields(s, node);
    embi_vertex_fields(s, vertex);
    for (int i = 0; nodes && i < EMBI_NODE_FIELDS; i++)
        memmove(*node[i] + 3 * n0, *node[i] + 3 * (n0 + b->nn), 3 * nodes * sizeof **node[i]);
    for (int i = 0; verts && i < EMBI_VERTEX_FIELDS; i++)
        memmove(*vertex[i] + 3 * v0, *vertex[i] + 3 * (v0 + b->nv), 3 * verts * sizeof **vertex[i]);
    if (nodes) memmove(s->drive + n0, s->drive + n0 + b->nn, nodes * sizeof *s->drive);
    if (nodes) memmove(w->applied + 3 * n0, w->applied + 3 * (n0 + b->nn), 3 * nodes * sizeof *w->applied);
    if (verts) {
        memmove(s->row_count + v0, s->row_count + v0 + b->nv, verts);
        memmove(s->row_weight + 4 * v0, s->row_weight + 4 * (v0 + b->nv), 4 * verts * sizeof *s->row_weight);
        memmove(s->row_node + 4 * v0, s->row_node + 4 * (v0 + b->nv), 4 * verts * sizeof *s->row_node);
    }
    for (size_t i = 0; i < 4 * verts; i++) s->row_node[4 * (size_t)v0 + i] -= b->nn;
    s->node_count -= b->nn;
    s->vert_count -= b->nv;
}

/* No vertex bears a force. */
static void embi_report_clear(embipc_world *w)
{
    for (int k = 0; k < w->pressed_count; k++) embi_set(w->s.vertex_force + 3 * w->pressed[k], 0, 0, 0);
    w->pressed_count = 0;
}

/* A body went: the reports of the last step without its rows. */
static void embi_report_forget(embipc_world *w, embipc_body gone)
{
    int count = 0, rows = 0;
    for (int k = 0; k < w->contact_count; k++)
        if (!embi_same_body(w->contact[k].a, gone) && !embi_same_body(w->contact[k].b, gone))
            w->contact[count++] = w->contact[k];
    for (int k = 0; k < w->pair_force_count; k++)
        if (!embi_same_body(w->pair_force[k].a, gone) && !embi_same_body(w->pair_force[k].b, gone))
            w->pair_force[rows++] = w->pair_force[k];
    w->contact_count = count;
    w->pair_force_count = rows;
}

/* A body went: the list of vertices that bear a force without its own. */
static void embi_pressed_close_gap(embipc_world *w, const embi_body *gone)
{
    int count = 0;
    for (int k = 0; k < w->pressed_count; k++) {
        int v = w->pressed[k];
        if (v >= gone->vert0 && v < gone->vert0 + gone->nv) continue;
        w->pressed[count++] = v < gone->vert0 ? v : v - gone->nv;
    }
    w->pressed_count = count;
}

/* Lists of candidates between the others stay, with the numbers that bodies and vertices have by now. */
static void embi_kept_close_gap(embipc_world *w, int at, const embi_body *gone)
{
    int count = 0;
    for (int n = 0; n < w->kept_count; n++) {
        embi_kept one = w->kept[n];
        if (one.a == at || one.b == at) continue;
        one.a -= one.a > at;
        one.b -= one.b > at;
        for (int i = 0; i < one.count; i++)
            for (int k = 0; k < 4; k++)
                if (one.list[i].v[k] >= gone->vert0) one.list[i].v[k] -= gone->nv;
        w->kept[n] = w->kept[count];
        w->kept[count++] = one;
    }
    w->kept_count = count;
}

EMBIPC_API embipc_result embipc_body_destroy(embipc_world *w, embipc_body body)
{
    embi_state *s;
    embi_body gone;
    int at = embi_find_body(w, body), kept = 0;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    if (at < 0)
        return embi_fail(&w->error, EMBIPC_ERR_HANDLE, "no body %d (generation %u)", body.index1,
                         body.generation);
    s = &w->s;
    for (int i = s->drive_count - 1; i >= 0; i--)
        if (s->drives[i].body == at) embi_drive_remove(w, i);
    for (int i = 0; i < w->rule_count; i++)
        if (!embi_same_body(w->rule[i].a, body) && !embi_same_body(w->rule[i].b, body))
            w->rule[kept++] = w->rule[i];
    w->rule_count = kept;
    gone = s->body[at];
    embi_world_close_gap(w, &gone);
    embi_pressed_close_gap(w, &gone);
    w->body_slot[body.index1 - 1].at = -1;
    w->body_slot[body.index1 - 1].generation++;
    s->body_count--;
    s->revision++;
    memmove(s->body + at, s->body + at + 1, (size_t)(s->body_count - at) * sizeof *s->body);
    for (int i = at; i < s->body_count; i++) {
        s->body[i].node0 -= gone.nn;
        s->body[i].vert0 -= gone.nv;
        w->body_slot[s->body[i].handle.index1 - 1].at = i;
    }
    for (int i = 0; i < s->drive_count; i++)
        if (s->drives[i].body > at) s->drives[i].body--;
    embi_kept_close_gap(w, at, &gone);
    embi_body_free(&w->memory, &gone);
    embi_report_forget(w, body);
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_world_set_pair(embipc_world *w, embipc_body a, embipc_body b,
                                               embipc_real friction, int contact)
{
    int ia = embi_find_body(w, a), ib = embi_find_body(w, b);
    embi_rule *rule;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    if (ia < 0 || ib < 0)
        return embi_fail(&w->error, EMBIPC_ERR_HANDLE, "no body %d (generation %u)",
                         ia < 0 ? a.index1 : b.index1, ia < 0 ? a.generation : b.generation);
    if (!embi_finite(friction))
        return embi_fail(&w->error, EMBIPC_ERR_NOT_FINITE, "friction %g is not finite", friction);
    rule = (embi_rule *)(void *)embi_find_rule(w, a, b);
    if (contact && rule && !rule->contact) {   /* they were free to cross until now */
        int low = embi_min_int(ia, ib), high = embi_max_int(ia, ib), touch = 0, ok;
        embi_body *a_body = w->s.body + low, *b_body = w->s.body + high;
        rule->contact = 1;
        w->rejected_count = 0;
        embi_body_refit(&w->s, a_body);
        embi_body_refit(&w->s, b_body);
        ok = !embi_tested(w, a_body, b_body) ||
             (embi_world_crossings(w, low, high, &w->rejected, &w->rejected_count, &w->rejected_cap) &&
              (touch = embi_check_gap(w, low, high)) >= 0);
        if (!ok || w->rejected_count || touch) {
            rule->contact = 0;
            return !ok ? embi_fail_memory(&w->error)
                       : embi_fail(&w->error, EMBIPC_ERR_INTERSECTION,
                                   "bodies \"%.40s\" and \"%.40s\" cross or touch now (%d crossings): "
                                   "contact stays off",
                                   a_body->name, b_body->name, w->rejected_count);
        }
    }
    if (!rule) {
        if (!EMBI_GROW(&w->memory, embi_rule, w->rule, w->rule_cap, w->rule_count + 1))
            return embi_fail_memory(&w->error);
        rule = w->rule + w->rule_count++;
        rule->a = a;
        rule->b = b;
    }
    w->mixed_start |= w->step > 0 && contact;
    w->s.revision++;
    rule->friction = friction;
    rule->contact = contact != 0;
    return EMBIPC_OK;
}

/* ---- forces and drives ---- */

/* Adds share * force to what is applied to a node, unless `look`. Returns whether the sum is finite. */
static int embi_apply_force(embipc_world *w, int node, embipc_real share, const embipc_real force[3], int look)
{
    embipc_real sum[3];
    embi_copy(sum, w->applied + 3 * node);
    embi_axpy(sum, share, force);
    if (!look) embi_copy(w->applied + 3 * node, sum);
    return embi_all_finite(sum, 3);
}

EMBIPC_API embipc_result embipc_body_apply_force(embipc_world *w, embipc_body body, int vertex,
                                                 const embipc_real force[3])
{
    int ok = 1, at = embi_find_body(w, body);
    const embi_body *b;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    if (at < 0)
        return embi_fail(&w->error, EMBIPC_ERR_HANDLE, "no body %d (generation %u)", body.index1,
                         body.generation);
    b = w->s.body + at;
    if (!force)
        return embi_fail(&w->error, EMBIPC_ERR_ARGUMENT, "the force on body \"%.40s\" is NULL", b->name);
    if (!embi_all_finite(force, 3))
        return embi_fail(&w->error, EMBIPC_ERR_NOT_FINITE, "the force on body \"%.40s\" is not finite",
                         b->name);
    if (vertex < -1 || vertex >= b->nv)
        return embi_fail_at(&w->error, EMBIPC_ERR_INDEX, EMBIPC_VERTEX, vertex, 0,
                            "body \"%.40s\" has %d vertices, not vertex %d", b->name, b->nv, vertex);
    if (!embi_is_dynamic(b)) return EMBIPC_OK;
    for (int look = 1; look >= 0 && ok; look--) {
        int v = b->vert0 + vertex;
        for (int k = 0; vertex >= 0 && k < w->s.J.count[v]; k++)
            ok &= embi_apply_force(w, w->s.J.node[4 * v + k], w->s.J.weight[4 * v + k], force, look);
        for (int i = 0; vertex < 0 && i < b->nn; i++)
            ok &= embi_apply_force(w, b->node0 + i, b->node_mass[i] / b->total_mass, force, look);
    }
    return ok ? EMBIPC_OK
              : embi_fail(&w->error, EMBIPC_ERR_NOT_FINITE, "the forces on body \"%.40s\" add up to more than a number holds",
                          b->name);
}

/* rows of 7, times rising */
static embipc_result embi_check_keys(const embipc_drive_def *d, embipc_error *e)
{
    for (int k = 0; k < d->key_count; k++) {
        if (!embi_all_finite(d->keys + 7 * k, 7))
            return embi_fail(e, EMBIPC_ERR_NOT_FINITE, "key %d of the drive is not finite", k);
        if (k && !(d->keys[7 * k] > d->keys[7 * k - 7]))
            return embi_fail(e, EMBIPC_ERR_ARGUMENT,
                             "key %d of the drive is at %g s, not after key %d at %g s", k, d->keys[7 * k],
                             k - 1, d->keys[7 * k - 7]);
    }
    return EMBIPC_OK;
}

/* it starts from where its body is now */
static void embi_drive_start(const embi_state *s, embi_drive *d)
{
    embi_body *b = s->body + d->body;
    if (d->soft) embi_body_follow(s, b);
    for (int k = 0; k < d->node_count; k++)
        embi_copy(d->start + 3 * k, d->soft ? s->x + 3 * (b->vert0 + d->nodes[k])
                                            : s->q + 3 * (b->node0 + d->nodes[k]));
}

/* Which body, and how, by what. */
static embipc_result embi_check_drive(const embipc_drive_def *d, const embi_body *b, int soft, embipc_error *e)
{
    if (b->kind == EMBIPC_FIXED)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "it is fixed: make it kinematic to drive it");
    if (soft && b->kind == EMBIPC_KINEMATIC)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT,
                         "it is kinematic: a drive with a stiffness is for bodies that move by forces");
    if (soft ? d->nodes != NULL : d->vertices != NULL)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "%s",
                         soft ? "a drive with a stiffness takes vertices, not nodes"
                              : "a drive without a stiffness takes nodes, not vertices");
    if (d->nodes && b->kind < EMBIPC_CAGE)
        return embi_fail(e, EMBIPC_ERR_ARGUMENT,
                         "it can only be driven whole; nodes are for full and cage bodies");
    if (d->key_count < 0 || (d->key_count && !d->keys) || (d->nodes && d->node_count < 1) ||
        (d->vertices && d->vertex_count < 1))
        return embi_fail(e, EMBIPC_ERR_ARGUMENT, "a drive of %d keys and %d %s", d->key_count,
                         soft ? d->vertex_count : d->node_count, soft ? "vertices" : "nodes");
    if (!embi_all_finite(d->centre, 3))
        return embi_fail(e, EMBIPC_ERR_NOT_FINITE, "the centre of the drive is not finite");
    for (int i = 0; i < 5; i++) {
        const embipc_real value = i < 3 ? d->stiffness[i] : i == 3 ? d->damping : d->force_limit;
        if (!embi_finite(value) || value < 0 || value > (embipc_real)1e18)
            return embi_fail(e, EMBIPC_ERR_ARGUMENT,
                             "%s of the drive is %g; it must be finite, >= 0 and <= 1e18",
                             i < 3 ? "a stiffness" : i == 3 ? "damping" : "force_limit", value);
    }
    if (!soft && (d->damping > 0 || d->force_limit > 0))
        return embi_fail(e, EMBIPC_ERR_ARGUMENT,
                         "damping and force_limit of a drive need a stiffness");
    return EMBIPC_OK;
}

/* What a drive takes hold of, nodes or, softly, vertices: their list, or NULL and *n = all of the body. */
static const int *embi_drive_list(const embipc_drive_def *d, const embi_body *b, int soft, int *n)
{
    const int *list = soft ? d->vertices : d->nodes;
    if (list) *n = soft ? d->vertex_count : d->node_count;
    else *n = soft ? b->nv : b->nn;
    return list;
}

/* What it drives: indices in range, each once, and by no other drive that is not soft. */
static embipc_result embi_check_driven(const embi_state *s, const embipc_drive_def *d, const embi_body *b, int soft,
                                       embipc_error *e)
{
    int n, all = soft ? b->nv : b->nn;
    const int *list = embi_drive_list(d, b, soft, &n);
    const char *what = soft ? "vertex" : "node";
    embipc_primitive element = soft ? EMBIPC_VERTEX : EMBIPC_NODE;
    for (int i = 0; i < n; i++) {
        int v = list ? list[i] : i;
        if (v < 0 || v >= all)
            return embi_fail_at(e, EMBIPC_ERR_INDEX, element, v, 0, "it has %d %s, not %s %d", all,
                                soft ? "vertices" : "nodes", what, v);
        if (!soft && s->drive[b->node0 + v] >= 0)
            return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, element, v, 0, "node %d is driven already", v);
        for (int k = 0; list && k < i; k++)
            if (list[k] == v)
                return embi_fail_at(e, EMBIPC_ERR_ARGUMENT, element, v, 0, "%s %d is listed twice", what, v);
    }
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_drive_create(embipc_world *w, const embipc_drive_def *def,
                                             embipc_drive *drive)
{
    embi_state *s;
    embi_memory *m;
    embi_drive *d;
    embi_body *b;
    const int *list;
    embipc_result r;
    int at, slot, n, soft;
    if (drive) drive->index1 = 0, drive->generation = 0;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    s = &w->s;
    m = &w->memory;
    if (!def || !drive)
        return embi_fail(&w->error, EMBIPC_ERR_ARGUMENT, "embipc_drive_create: %s is NULL",
                         def ? "drive" : "def");
    if (def->cookie != EMBI_DRIVE_COOKIE)
        return embi_fail(&w->error, EMBIPC_ERR_DEF, "start from embipc_default_drive_def()");
    if ((at = embi_find_body(w, def->body)) < 0)
        return embi_fail(&w->error, EMBIPC_ERR_HANDLE, "no body %d (generation %u)", def->body.index1,
                         def->body.generation);
    b = s->body + at;
    soft = !(def->stiffness[0] == 0 && def->stiffness[1] == 0 && def->stiffness[2] == 0);
    if ((r = embi_check_drive(def, b, soft, &w->error)) != EMBIPC_OK ||
        (r = embi_check_keys(def, &w->error)) != EMBIPC_OK ||
        (r = embi_check_driven(s, def, b, soft, &w->error)) != EMBIPC_OK)
        return embi_blame(w, r, b->name, b->handle);
    list = embi_drive_list(def, b, soft, &n);
    if (!EMBI_GROW(m, embi_drive, s->drives, s->drive_cap, s->drive_count + 1) ||
        (slot = embi_slot_take(m, &w->drive_slot, &w->drive_slots, &w->drive_slot_cap)) < 0)
        return embi_fail_memory(&w->error);
    d = s->drives + s->drive_count;
    memset(d, 0, sizeof *d);
    if (!EMBI_GROW(m, int, d->nodes, d->node_cap, n) ||
        !EMBI_GROW(m, embipc_real, d->start, d->start_cap, 3 * n) ||
        !EMBI_GROW(m, embipc_real, d->keys, d->key_cap, 7 * def->key_count)) {
        embi_drive_free(m, d);
        return embi_fail_memory(&w->error);
    }
    d->body = at;
    d->soft = soft;
    d->node_count = n;
    d->key_count = def->key_count;
    if (d->key_count) memcpy(d->keys, def->keys, (size_t)(7 * d->key_count) * sizeof *d->keys);
    embi_copy(d->centre, def->centre);
    embi_scale(d->stiffness, 1 / (embipc_real)n, def->stiffness);
    d->damping = def->damping;
    d->limit = def->force_limit > 0 ? def->force_limit / (embipc_real)n : (embipc_real)INFINITY;
    d->stage = d->stages = d->done = soft;   /* it never has a way to go */
    for (int i = 0; i < n; i++) d->nodes[i] = list ? list[i] : i;
    for (int i = 0; i < n && !soft; i++) s->drive[b->node0 + d->nodes[i]] = s->drive_count;
    if (!soft) b->driven_nodes += n;
    embi_drive_start(s, d);
    d->handle.index1 = slot + 1;
    d->handle.generation = w->drive_slot[slot].generation;
    w->drive_slot[slot].at = s->drive_count++;
    s->revision++;
    *drive = d->handle;
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_drive_destroy(embipc_world *w, embipc_drive drive)
{
    int at = embi_find_drive(w, drive);
    if (!w) return EMBIPC_ERR_ARGUMENT;
    if (at < 0)
        return embi_fail(&w->error, EMBIPC_ERR_HANDLE, "no drive %d (generation %u)", drive.index1,
                         drive.generation);
    embi_drive_remove(w, at);
    return EMBIPC_OK;
}

/* out: of all rotation vectors r (1 + 2 pi k/|r|) of one rotation the one nearest to `from` */
static void embi_nearest_turn(embipc_real out[3], const embipc_real r[3], const embipc_real from[3])
{
    const embipc_real full = (embipc_real)6.283185307179586;
    embipc_real axis[3], angle = embi_norm(r), size = angle > 0 ? angle : embi_norm(from), turns;
    embi_copy(out, r);
    if (!(size > 0)) return;
    embi_scale(axis, 1 / size, angle > 0 ? r : from);
    turns = floor((embi_dot(axis, from) - angle) / full + (embipc_real)0.5);
    if (turns != 0) embi_axpy(out, turns * full, axis);
}

EMBIPC_API embipc_result embipc_drive_set_target(embipc_world *w, embipc_drive drive,
                                                 const embipc_real displacement[3],
                                                 const embipc_real rotation[3])
{
    int at = embi_find_drive(w, drive);
    embi_drive *d;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    if (at < 0)
        return embi_fail(&w->error, EMBIPC_ERR_HANDLE, "no drive %d (generation %u)", drive.index1,
                         drive.generation);
    if (!displacement || !rotation)
        return embi_fail(&w->error, EMBIPC_ERR_ARGUMENT, "a target for the drive of body \"%.40s\" is NULL",
                         w->s.body[w->s.drives[at].body].name);
    if (!embi_all_finite(displacement, 3) || !embi_all_finite(rotation, 3))
        return embi_fail(&w->error, EMBIPC_ERR_NOT_FINITE, "the target of the drive is not finite");
    d = w->s.drives + at;
    embi_copy(d->pose_set, displacement);
    embi_nearest_turn(d->pose_set + 3, rotation, d->pose + 3);
    d->is_set = 1;
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_drive_get_state(const embipc_world *w, embipc_drive drive,
                                                embipc_drive_state *out)
{
    int at = embi_find_drive(w, drive);
    if (!out) return EMBIPC_ERR_ARGUMENT;
    memset(out, 0, sizeof *out);
    if (at < 0) return EMBIPC_ERR_HANDLE;
    *out = w->s.drives[at].reached;
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_body_set_velocity(embipc_world *w, embipc_body body,
                                                  const embipc_real velocity[3],
                                                  const embipc_real angular_velocity[3])
{
    int at = embi_find_body(w, body);
    embi_state *s;
    const embi_body *b;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    if (at < 0)
        return embi_fail(&w->error, EMBIPC_ERR_HANDLE, "no body %d (generation %u)", body.index1,
                         body.generation);
    s = &w->s;
    b = s->body + at;
    if (!velocity || !angular_velocity)
        return embi_fail(&w->error, EMBIPC_ERR_ARGUMENT, "a velocity for body \"%.40s\" is NULL", b->name);
    if (!embi_all_finite(velocity, 3) || !embi_all_finite(angular_velocity, 3) ||
        (embi_is_dynamic(b) && !embi_spin(s, b, velocity, angular_velocity, s->trial_q + 3 * b->node0)))
        return embi_fail_velocity(&w->error, b, velocity, angular_velocity);
    if (!embi_is_dynamic(b)) return EMBIPC_OK;
    memcpy(s->v + 3 * b->node0, s->trial_q + 3 * b->node0, (size_t)(3 * b->nn) * sizeof *s->v);
    s->body[at].history = 0;
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_world_set_limits(embipc_world *w, int max_iterations,
                                                 const volatile int *stop)
{
    if (!w) return EMBIPC_ERR_ARGUMENT;
    if (max_iterations < 1)
        return embi_fail(&w->error, EMBIPC_ERR_ARGUMENT, "max_iterations is %d; it must be at least 1",
                         max_iterations);
    w->s.max_iterations = max_iterations;
    w->s.stop = stop;
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_world_set_gravity(embipc_world *w, const embipc_real gravity[3])
{
    embipc_result r;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    if (!gravity) return embi_fail(&w->error, EMBIPC_ERR_ARGUMENT, "gravity is NULL");
    if ((r = embi_check_gravity(gravity, &w->error)) != EMBIPC_OK) return r;
    embi_copy(w->def.gravity, gravity);
    embi_copy(w->s.gravity, gravity);
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_world_set_time_step(embipc_world *w, embipc_real time_step)
{
    embipc_result r;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    if ((r = embi_check_time_step(time_step, &w->error)) != EMBIPC_OK) return r;
    if (time_step == w->s.h) return EMBIPC_OK;
    w->def.time_step = w->s.h = time_step;
    w->s.hh = time_step * time_step;
    w->s.revision++;
    for (int k = 0; k < w->s.body_count; k++) w->s.body[k].history = 0;   /* it is of steps of another length */
    return EMBIPC_OK;
}

/* Whether all bodies could stand at their starts together; x is put back afterwards. */
static embipc_result embi_check_reset(embipc_world *w)
{
    embi_state *s = &w->s;
    embipc_result r = EMBIPC_OK;
    size_t bytes = (size_t)(3 * s->vert_count) * sizeof *s->x;
    memcpy(s->trial_x, s->x, bytes);   /* whether it was followed or not */
    memcpy(s->x, s->start_x, bytes);
    w->rejected_count = 0;
    for (int i = 0; i < s->body_count; i++)
        if (s->body[i].kind != EMBIPC_FIXED)
            embi_bvh_refit(&s->body[i].bvh, s->x + 3 * s->body[i].vert0, s->body[i].tri, s->body[i].nt);
    for (int i = 0; r == EMBIPC_OK && i < s->body_count; i++)
        for (int j = i; r == EMBIPC_OK && j < s->body_count; j++) {
            int touch;
            if (!embi_tested(w, s->body + i, s->body + j)) continue;
            if (!embi_world_crossings(w, i, j, &w->rejected, &w->rejected_count, &w->rejected_cap) ||
                (touch = embi_check_gap(w, i, j)) < 0)
                r = embi_fail_memory(&w->error);
            else if (w->rejected_count || touch) {
                r = embi_fail(&w->error, EMBIPC_ERR_INTERSECTION,
                              "bodies \"%.40s\" and \"%.40s\" were made at different times and would cross "
                              "at their starts",
                              s->body[i].name, s->body[j].name);
                w->error.body[0] = s->body[i].handle;
                w->error.body[1] = s->body[j].handle;
            }
        }
    memcpy(s->x, s->trial_x, bytes);
    return r;
}

EMBIPC_API embipc_result embipc_world_reset(embipc_world *w)
{
    embi_state *s;
    embipc_result r;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    s = &w->s;
    if (w->mixed_start && s->vert_count && (r = embi_check_reset(w)) != EMBIPC_OK) return r;
    if (s->node_count) {
        memcpy(s->q, s->start_q, (size_t)(3 * s->node_count) * sizeof *s->q);
        memcpy(s->v, s->start_v, (size_t)(3 * s->node_count) * sizeof *s->v);
        memset(s->v_before, 0, (size_t)(3 * s->node_count) * sizeof *s->v);   /* as when the bodies were made */
        memset(w->applied, 0, (size_t)(3 * s->node_count) * sizeof *w->applied);
    }
    if (s->vert_count) {
        memcpy(s->x, s->start_x, (size_t)(3 * s->vert_count) * sizeof *s->x);
        memcpy(s->xn, s->start_x, (size_t)(3 * s->vert_count) * sizeof *s->xn);
    }
    embi_report_clear(w);
    w->warned = 1;
    s->revision++;
    for (int i = 0; i < s->body_count; i++) {   /* first guesses of the rotations too: the same bits again */
        embi_elastic_unturn(&s->body[i].elastic);
        s->body[i].history = 0;
        s->body[i].around = 0;
        s->body[i].started = s->body[i].followed = 1;
    }
    for (int i = 0; i < s->drive_count; i++) {
        embi_drive *d = s->drives + i;
        memset(d->pose, 0, sizeof d->pose);
        d->is_set = 0;
        memset(&d->reached, 0, sizeof d->reached);
        embi_drive_start(s, d);
    }
    for (int i = 0; i < w->kept_count; i++) w->kept[i].valid = w->kept[i].asked = 0;
    w->memory_count = w->contact_count = w->pair_force_count = w->iteration_count = 0;
    w->step = 0;
    w->time = 0;
    return EMBIPC_OK;
}

/* ==== 26. Queries ====================================================================================
 * Reading the world. Nothing here changes it, but that x follows the nodes, and that embipc_world_intersections()
 * refits trees.
 * Uses: all of the above.                                   Checked by: tests/test_world*.c   */

EMBIPC_API const embipc_error *embipc_world_error(const embipc_world *w)
{
    static const embipc_error nobody = {EMBIPC_ERR_ARGUMENT,
                                        {{0, 0}, {0, 0}},
                                        {EMBIPC_NO_PRIMITIVE, EMBIPC_NO_PRIMITIVE},
                                        {0, 0},
                                        {0, 0},
                                        "world is NULL"};
    return w ? &w->error : &nobody;
}
EMBIPC_API embipc_real embipc_world_time(const embipc_world *w) { return w ? w->time : 0; }
EMBIPC_API int embipc_world_body_count(const embipc_world *w) { return w ? w->s.body_count : 0; }

EMBIPC_API embipc_body embipc_world_body(const embipc_world *w, int i)
{
    embipc_body none = {0, 0};
    return w && i >= 0 && i < w->s.body_count ? w->s.body[i].handle : none;
}

EMBIPC_API const char *embipc_stage_text(embipc_stage stage)
{
    static const char *const text[EMBIPC_STAGE_COUNT] = {"elasticity", "broad phase", "contacts", "assembly",
        "factorisation", "solve", "CCD", "line search", "rest"};
    return stage >= 0 && stage < EMBIPC_STAGE_COUNT ? text[stage] : "no stage";
}

EMBIPC_API int embipc_world_iterations(const embipc_world *w, const embipc_iteration **list)
{
    if (list) *list = w ? w->iteration : NULL;
    return w ? w->iteration_count : 0;
}

EMBIPC_API void embipc_world_memory(const embipc_world *w, size_t *bytes, size_t *peak, long *allocations)
{
    if (bytes) *bytes = w ? w->memory.bytes : 0;
    if (peak) *peak = w ? w->memory.peak : 0;
    if (allocations) *allocations = w ? w->memory.allocations : 0;
}

EMBIPC_API embipc_result embipc_body_get_view(const embipc_world *w, embipc_body body, embipc_body_view *out)
{
    int at = embi_find_body(w, body);
    embi_body *b;
    if (!out) return EMBIPC_ERR_ARGUMENT;
    memset(out, 0, sizeof *out);
    if (at < 0) return EMBIPC_ERR_HANDLE;
    b = w->s.body + at;
    embi_body_follow(&w->s, b);
    b->viewed = 1;
    out->name = b->name;
    out->kind = b->kind;
    out->x = w->s.x + 3 * b->vert0;
    out->vertex_count = b->nv;
    out->triangles = b->tri;
    out->triangle_count = b->nt;
    out->vertex_origin = b->origin;
    out->q = b->nn ? w->s.q + 3 * b->node0 : NULL;
    out->v = b->nn ? w->s.v + 3 * b->node0 : NULL;
    out->node_count = b->nn;
    out->tets = b->tet;
    out->tet_count = b->ntet;
    return EMBIPC_OK;
}

/* Motion of a rigid or fixed body: velocity of its centre, and spin from the velocities of its tet. */
static void embi_rigid_state(const embipc_world *w, embi_body *b, embipc_body_state *out)
{
    const embi_state *s = &w->s;
    embipc_solid solid;
    embipc_real box[6];
    embi_body_follow(s, b);
    embi_solid(&solid, s->x + 3 * b->vert0, b->nv, b->tri, b->nt);
    embi_copy(out->centre, solid.centroid);
    if (!(b->solid.volume >
          1e-9 * b->diagonal * b->diagonal * b->diagonal)) { /* open: the middle of its box */
        embi_box_clear(box);
        for (int i = b->vert0; i < b->vert0 + b->nv; i++) embi_box_add(box, s->x + 3 * i);
        for (int i = 0; i < 3; i++) out->centre[i] = (box[i] + box[3 + i]) / 2;
    }
    if (b->nn == 4) {   /* v = v0 + L (q - q0) with L = [w]x */
        embipc_real D[9], V[9], inverse[9], L[9], r[3];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) {
                D[3 * i + k] = s->q[3 * (b->node0 + k + 1) + i] - s->q[3 * b->node0 + i];
                V[3 * i + k] = s->v[3 * (b->node0 + k + 1) + i] - s->v[3 * b->node0 + i];
            }
        if (embi_m3_inverse(inverse, D) == 0) return;
        embi_m3_mul(L, V, inverse);
        embi_set(out->angular_velocity, (L[7] - L[5]) / 2, (L[2] - L[6]) / 2, (L[3] - L[1]) / 2);
        embi_sub(r, out->centre, s->q + 3 * b->node0);
        embi_m3_mulv(out->velocity, L, r);
        embi_add(out->velocity, out->velocity, s->v + 3 * b->node0);
    }
}

/* Mass-weighted sums over the nodes: with M_ij the consistent mass, centre = sum M_ij q_j / m, and so on. */
static void embi_dynamic_state(const embipc_world *w, const embi_body *b, embipc_body_state *out)
{
    const embi_state *s = &w->s;
    embipc_real second[9], inertia[9], inverse[9], trace;
    memset(second, 0, sizeof second);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < b->nn; i++)
            for (int k = b->A.row[i]; k < b->A.row[i + 1]; k++)
                for (int turn = 0; turn < (b->A.col[k] == i ? 1 : 2); turn++) {
                    int p = b->node0 + (turn ? b->A.col[k] : i), q = b->node0 + (turn ? i : b->A.col[k]);
                    embipc_real m = b->mass[k], r[3], t[3], L[3];
                    if (pass == 0) {
                        embi_axpy(out->centre, m / b->total_mass, s->q + 3 * q);
                        embi_axpy(out->momentum, m, s->v + 3 * q);
                        out->kinetic += m / 2 * embi_dot(s->v + 3 * p, s->v + 3 * q);
                        continue;
                    }
                    embi_sub(r, s->q + 3 * p, out->centre);
                    embi_sub(t, s->q + 3 * q, out->centre);
                    embi_cross(L, r, s->v + 3 * q);
                    embi_axpy(out->angular_momentum, m, L);
                    for (int a = 0; a < 9; a++) second[a] += m * r[a / 3] * t[a % 3];
                }
    embi_scale(out->velocity, 1 / b->total_mass, out->momentum);
    trace = second[0] + second[4] + second[8];
    for (int a = 0; a < 9; a++)
        inertia[a] = (a % 4 == 0 ? trace : (embipc_real)0) - (second[a] + second[3 * (a % 3) + a / 3]) / 2;
    if (embi_m3_inverse(inverse, inertia) != 0)
        embi_m3_mulv(out->angular_velocity, inverse, out->angular_momentum);
}

EMBIPC_API embipc_result embipc_body_weights(const embipc_world *w, embipc_body body, int *node,
                                             embipc_real *weight)
{
    int at = embi_find_body(w, body);
    const embi_body *b;
    if (at < 0) return EMBIPC_ERR_HANDLE;
    b = w->s.body + at;
    if (!node || !weight || !b->nn) return EMBIPC_ERR_ARGUMENT;
    for (int i = 0; i < b->nv; i++)
        for (int k = 0; k < 4; k++) {
            int row = 4 * (b->vert0 + i), used = k < w->s.J.count[b->vert0 + i];
            node[4 * i + k] = w->s.J.node[used ? row + k : row] - b->node0;
            weight[4 * i + k] = used ? w->s.J.weight[row + k] : (embipc_real)0;
        }
    return EMBIPC_OK;
}

static int embi_is_between(const embipc_real x[3], const embipc_real lo[3], const embipc_real hi[3])
{
    return x[0] >= lo[0] && x[0] <= hi[0] && x[1] >= lo[1] && x[1] <= hi[1] && x[2] >= lo[2] && x[2] <= hi[2];
}

/* Does the node hold something in the box? The vertices of a cage body: all of them are asked. */
static int embi_holds(const embi_state *s, const embi_body *b, int node, const embipc_real lo[3],
                      const embipc_real hi[3])
{
    if (b->kind != EMBIPC_CAGE) return embi_is_between(s->q + 3 * node, lo, hi);
    for (int v = b->vert0; v < b->vert0 + b->nv; v++)
        for (int k = 0; k < s->J.count[v]; k++)
            if (s->J.node[4 * v + k] == node && s->J.weight[4 * v + k] > 0 && embi_is_between(s->x + 3 * v, lo, hi))
                return 1;
    return 0;
}

EMBIPC_API int embipc_body_select(const embipc_world *w, embipc_body body, const embipc_real lo[3],
                                  const embipc_real hi[3], int *nodes, int capacity)
{
    int at = embi_find_body(w, body), count = 0;
    embi_body *b;
    if (at < 0 || !lo || !hi || capacity < 0 || (capacity && !nodes)) return -1;
    b = w->s.body + at;
    embi_body_follow(&w->s, b);
    for (int i = 0; i < b->nn; i++)
        if (embi_holds(&w->s, b, b->node0 + i, lo, hi)) {
            if (count < capacity) nodes[count] = i;
            count++;
        }
    return count;
}

EMBIPC_API embipc_result embipc_body_get_state(const embipc_world *w, embipc_body body,
                                               embipc_body_state *out)
{
    int at = embi_find_body(w, body);
    embi_body *b;
    embipc_real force;
    if (!out) return EMBIPC_ERR_ARGUMENT;
    memset(out, 0, sizeof *out);
    if (at < 0) return EMBIPC_ERR_HANDLE;
    b = w->s.body + at;
    out->volume = b->solid.volume;
    out->mass = b->total_mass;
    if (!embi_is_dynamic(b)) {
        embi_rigid_state(w, b, out);
        return EMBIPC_OK;
    }
    embi_dynamic_state(w, b, out);
    if (!b->elastic.nonlinear) embi_elastic_look_ahead(&b->elastic, w->s.q + 3 * b->node0);
    out->elastic = embi_elastic_energy(&b->elastic, w->s.q + 3 * b->node0, 1, w->s.trace, &force);
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_body_get_parameters(const embipc_world *w, embipc_body body,
                                                    embipc_body_parameters *out)
{
    int at = embi_find_body(w, body);
    const embi_body *b;
    if (!out) return EMBIPC_ERR_ARGUMENT;
    memset(out, 0, sizeof *out);
    if (at < 0) return EMBIPC_ERR_HANDLE;
    b = w->s.body + at;
    out->diagonal = b->diagonal;
    out->mean_thickness = embi_body_thickness(b);
    out->mean_edge = embi_body_edge(b);
    out->load = embi_body_load(w, b);
    out->pressure_load = embi_body_pressure_load(w, b);
    out->dhat = b->dhat;
    out->kappa = b->kappa;
    out->friction_velocity = b->epsv;
    out->tolerance = b->tolerance;
    out->derived_dhat = !(b->given_dhat > 0 || w->def.dhat > 0);
    out->derived_kappa = !(b->given_kappa > 0 || w->def.kappa > 0);
    out->derived_friction_velocity = !(b->given_epsv > 0 || w->def.friction_velocity > 0);
    out->derived_tolerance = !(b->given_tolerance > 0 || w->def.tolerance > 0);
    out->friction = b->friction;
    out->unknowns = embi_is_dynamic(b) ? 3 * (b->nn - b->driven_nodes) : 0;
    return EMBIPC_OK;
}

EMBIPC_API int embipc_world_pair_forces(const embipc_world *w, embipc_pair_force *out, int capacity)
{
    for (int i = 0; w && out && i < w->pair_force_count && i < capacity; i++) out[i] = w->pair_force[i];
    return w ? w->pair_force_count : 0;
}

EMBIPC_API int embipc_world_contacts(const embipc_world *w, embipc_contact *out, int capacity)
{
    for (int i = 0; w && out && i < w->contact_count && i < capacity; i++) out[i] = w->contact[i];
    return w ? w->contact_count : 0;
}

EMBIPC_API embipc_result embipc_body_vertex_forces(const embipc_world *w, embipc_body body,
                                                   embipc_real *force)
{
    int at = embi_find_body(w, body);
    if (at < 0) return EMBIPC_ERR_HANDLE;
    if (!force) return EMBIPC_ERR_ARGUMENT;
    memcpy(force, w->s.vertex_force + 3 * w->s.body[at].vert0,
           (size_t)(3 * w->s.body[at].nv) * sizeof *force);
    return EMBIPC_OK;
}

EMBIPC_API int embipc_world_rejected(const embipc_world *w, embipc_intersection *out, int capacity)
{
    for (int i = 0; w && out && i < w->rejected_count && i < capacity; i++) out[i] = w->rejected[i];
    return w ? w->rejected_count : 0;
}

EMBIPC_API int embipc_world_intersections(embipc_world *w, embipc_intersection *out, int capacity)
{
    embi_state *s;
    if (!w) return -1;
    s = &w->s;
    w->rejected_count = 0;
    for (int i = 0; i < s->body_count; i++) embi_body_refit(s, s->body + i);
    for (int i = 0; i < s->body_count; i++)
        for (int j = i; j < s->body_count; j++)
            if (embi_tested(w, s->body + i, s->body + j) &&
                !embi_world_crossings(w, i, j, &w->rejected, &w->rejected_count, &w->rejected_cap))
                return -1;
    return embipc_world_rejected(w, out, capacity);
}

/* ==== 27. Validation =================================================================================
 * What must be true between calls, derived again from scratch; and where a surface meets itself.
 * Uses: all of the above.          Checked by: tests/test_world_input.c, test_mesh_faults.c */

static embipc_result embi_validate_body(const embipc_world *w, embi_body *b, embipc_error *e)
{
    const embi_state *s = &w->s;
    embi_body_follow(s, b);
    for (int i = b->vert0; i < b->vert0 + b->nv; i++) {
        embipc_real sum = 0, r[3] = {0, 0, 0};
        if (!embi_all_finite(s->x + 3 * i, 3))
            return embi_fail_at(e, EMBIPC_ERR_NOT_FINITE, EMBIPC_VERTEX, i - b->vert0, s->x[3 * i],
                                "body \"%.40s\": vertex %d is not finite", b->name, i - b->vert0);
        if (!s->J.count[i]) continue;
        for (int k = 0; k < s->J.count[i]; k++) {
            sum += s->J.weight[4 * i + k];
            embi_axpy(r, s->J.weight[4 * i + k], s->q + 3 * s->J.node[4 * i + k]);
        }
        embi_sub(r, r, s->x + 3 * i);
        if (!(embi_abs(sum - 1) < 1e-12))
            return embi_fail_at(e, EMBIPC_ERR_OUTSIDE, EMBIPC_VERTEX, i - b->vert0, sum,
                                "body \"%.40s\": the weights of vertex %d sum to %.17g", b->name,
                                i - b->vert0, sum);
        if (!(embi_norm(r) <= 1e-12 * (b->diagonal + embi_norm(s->x + 3 * i))))
            return embi_fail_at(e, EMBIPC_ERR_OUTSIDE, EMBIPC_VERTEX, i - b->vert0, embi_norm(r),
                                "body \"%.40s\": vertex %d is %g m from J q", b->name, i - b->vert0,
                                embi_norm(r));
    }
    if (!embi_all_finite(s->q + 3 * b->node0, 3 * b->nn) || !embi_all_finite(s->v + 3 * b->node0, 3 * b->nn))
        return embi_fail(e, EMBIPC_ERR_NOT_FINITE, "body \"%.40s\": a node is not finite", b->name);
    for (int t = 0; t < b->elastic.nt && b->material.determinant_bound; t++) {
        embipc_real F[9];
        embi_elastic_F(&b->elastic, t, s->q + 3 * b->node0, F);
        if (!(embi_m3_det(F) > 0))
            return embi_fail_at(e, EMBIPC_ERR_DEGENERATE, EMBIPC_TET, t, embi_m3_det(F),
                                "body \"%.40s\": tet %d is inverted, its volume ratio is %g", b->name, t,
                                embi_m3_det(F));
    }
    if (embi_is_dynamic(b)) {
        embipc_real mass = 0;
        for (int i = 0; i < b->nn; i++)
            for (int k = b->A.row[i]; k < b->A.row[i + 1]; k++) {
                mass += (b->A.col[k] == i ? 1 : 2) * b->mass[k];
                if (k > b->A.row[i] && b->A.col[k - 1] >= b->A.col[k])
                    return embi_fail(e, EMBIPC_ERR_INDEX,
                                     "body \"%.40s\": row %d of its matrix is not sorted", b->name, i);
            }
        if (!(mass > 0) || !(embi_abs(mass - b->total_mass) <= 1e-9 * b->total_mass))
            return embi_fail_at(e, EMBIPC_ERR_DEGENERATE, EMBIPC_NO_PRIMITIVE, 0, mass,
                                "body \"%.40s\": its nodes weigh %.12g kg, its solid %.12g kg", b->name, mass,
                                b->total_mass);
    }
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_world_validate(embipc_world *w, embipc_error *error)
{
    embipc_intersection x;
    int n;
    if (!w) return embi_fail(error, EMBIPC_ERR_ARGUMENT, "world is NULL");
    for (int i = 0; i < w->s.body_count; i++) {
        embipc_result r = embi_validate_body(w, w->s.body + i, error);
        if (r != EMBIPC_OK) return r;
    }
    n = embipc_world_intersections(w, &x, 1);
    if (n < 0) return embi_fail_memory(error);
    if (n > 0) {
        (void)embi_fail(error, EMBIPC_ERR_INTERSECTION,
                        "%d crossings; the first: edge %d-%d of \"%.40s\", triangle %d of \"%.40s\"", n,
                        x.edge[0], x.edge[1], w->s.body[embi_find_body(w, x.edge_body)].name, x.triangle,
                        w->s.body[embi_find_body(w, x.triangle_body)].name);
        return EMBIPC_ERR_INTERSECTION;
    }
    return EMBIPC_OK;
}

/* ---- A surface by itself ---- */

/* A surface without a world, and the walk over its pairs of triangles that are near each other: one pair at a
 * time, since a heap of n triangles has n^2 of them. */
typedef struct embi_pair_walk {
    embi_surface s;
    embi_bvh bvh;
    int stack[256], top;
    int i, j, next;              /* the two leaves under way, and which of their pairs comes next */
} embi_pair_walk;

static void embi_pair_walk_end(embi_memory *m, embi_pair_walk *w) { embi_bvh_free(m, &w->bvh); }

static int embi_pair_walk_begin(embi_memory *m, embi_pair_walk *w, const embipc_real *x, int vertex_count,
                                const int *tri, int tri_count)
{
    embi_key *keys;
    unsigned char *used;
    int ok;
    memset(w, 0, sizeof *w);
    w->next = EMBI_LEAF * EMBI_LEAF;
    if (tri_count == 0) return 1;
    keys = (embi_key *)embi_alloc(m, 6 * tri_count, sizeof *keys);
    used = (unsigned char *)embi_alloc(m, vertex_count, 1);
    w->s.x = w->s.rest = x;
    w->s.tri = tri;
    w->s.nt = tri_count;
    w->s.bvh = &w->bvh;
    ok = keys && used && embi_bvh_build(m, &w->bvh, x, tri, tri_count, vertex_count, keys, used);
    if (ok) embi_bvh_refit(&w->bvh, x, tri, tri_count);
    embi_free(m, keys, 6 * tri_count, sizeof *keys);
    embi_free(m, used, vertex_count, 1);
    w->stack[0] = w->stack[1] = 1;
    w->top = 2;
    return ok;
}

/* The next two triangles whose boxes, grown by reach, may meet; 0 when there are no more. reach may shrink
 * from call to call. */
static int embi_pair_walk_next(embi_pair_walk *w, embipc_real reach, int *ta, int *tb)
{
    static const embipc_real still[6] = {0, 0, 0, 0, 0, 0};
    const embi_bvh *b = &w->bvh;
    for (;;) {
        for (; w->next < EMBI_LEAF * EMBI_LEAF; w->next++) {
            int p = w->i + w->next / EMBI_LEAF, q = w->j + w->next % EMBI_LEAF;
            if (p >= w->s.nt || q >= w->s.nt || (w->i == w->j && q <= p)) continue;
            *ta = b->order[p];
            *tb = b->order[q];
            w->next++;
            return 1;
        }
        if (w->top == 0) return 0;
        w->j = w->stack[--w->top];
        w->i = w->stack[--w->top];
        if (!embi_ranges_meet(b->box + 6 * w->i, still, reach, b->box + 6 * w->j)) continue;
        if (w->i >= b->leaves) {   /* both are leaves: they are opened level by level */
            w->i = EMBI_LEAF * (w->i - b->leaves);
            w->j = EMBI_LEAF * (w->j - b->leaves);
            w->next = 0;
            continue;
        }
        for (int k = 3; k >= 0; k--) {   /* a node with itself: three pairs */
            if (w->i == w->j && k == 2) continue;
            w->stack[w->top++] = 2 * w->i + k / 2;
            w->stack[w->top++] = 2 * w->j + k % 2;
        }
    }
}

EMBIPC_API int embipc_surface_crossings(const embipc_real *x, int vertex_count, const int *tri, int tri_count,
                                        embipc_crossing *list, int capacity, int limit)
{
    embi_memory m;
    embi_pair_walk w;
    int t[2], count = 0, ok;
    if (capacity < 0 || (capacity && !list)) return -1;
    if (embi_arrays_usable(x, vertex_count, tri, tri_count, 3) != EMBIPC_OK) return -1;
    embi_memory_init(&m, NULL);
    ok = embi_pair_walk_begin(&m, &w, x, vertex_count, tri, tri_count);
    while (ok && count < limit && embi_pair_walk_next(&w, 0, &t[0], &t[1]))
        for (int k = 0; k < 6; k++) {
            int a = t[k / 3], b = t[1 - k / 3], e0 = tri[3 * a + k % 3], e1 = tri[3 * a + (k + 1) % 3];
            if (!(w.bvh.own[a] & (8 << k % 3)) || count >= limit || !embi_crosses(&w.s, e0, e1, &w.s, b))
                continue;
            if (count < capacity) {
                list[count].edge[0] = e0;
                list[count].edge[1] = e1;
                list[count].edge_triangle = a;
                list[count].triangle = b;
            }
            count++;
        }
    embi_pair_walk_end(&m, &w);
    return ok ? count : -1;
}

/* keeps the pair v when it has no vertex in common and is nearer than what there is */
static void embi_gap_try(const embi_surface *s, const int v[4], int edge_edge, embipc_gap *gap)
{
    embipc_real w[4], d;
    embi_point p[4];
    int mask, split = edge_edge ? 2 : 1;
    for (int i = 0; i < split; i++)
        for (int j = split; j < 4; j++)
            if (v[i] == v[j]) return;
    embi_points_at(p, s->x, v);
    d = embi_closest_distance(p, edge_edge, w, &mask);
    if (!(d < gap->distance)) return;
    gap->distance = d;
    gap->edge_edge = edge_edge;
    memcpy(gap->vertex, v, sizeof gap->vertex);
}

/* all pairs of what the two triangles own */
static void embi_gap_triangles(const embi_pair_walk *w, int ta, int tb, embipc_gap *gap)
{
    const int *A = w->s.tri + 3 * ta, *B = w->s.tri + 3 * tb;
    int own_a = w->bvh.own[ta], own_b = w->bvh.own[tb], v[4];
    for (int i = 0; i < 3; i++) {
        v[0] = A[i]; v[1] = B[0]; v[2] = B[1]; v[3] = B[2];
        if (own_a & (1 << i)) embi_gap_try(&w->s, v, 0, gap);
        v[0] = B[i]; v[1] = A[0]; v[2] = A[1]; v[3] = A[2];
        if (own_b & (1 << i)) embi_gap_try(&w->s, v, 0, gap);
        if (!(own_a & (8 << i))) continue;
        v[0] = A[i]; v[1] = A[(i + 1) % 3];
        for (int j = 0; j < 3; j++) {
            v[2] = B[j]; v[3] = B[(j + 1) % 3];
            if (own_b & (8 << j)) embi_gap_try(&w->s, v, 1, gap);
        }
    }
}

EMBIPC_API embipc_result embipc_surface_gap(const embipc_real *x, int vertex_count, const int *tri,
                                            int tri_count, embipc_gap *gap)
{
    embi_memory m;
    embi_pair_walk w;
    embipc_real box_a[6], box_b[6];
    embipc_result r = embi_arrays_usable(x, vertex_count, tri, tri_count, 3);
    int ta, tb, ok;
    if (!gap) return EMBIPC_ERR_ARGUMENT;
    if (r != EMBIPC_OK) return r;
    memset(gap, 0, sizeof *gap);
    gap->distance = EMBI_HUGE;
    embi_memory_init(&m, NULL);
    ok = embi_pair_walk_begin(&m, &w, x, vertex_count, tri, tri_count);
    while (ok && gap->distance > 0 && embi_pair_walk_next(&w, gap->distance, &ta, &tb)) {
        embi_box_of(box_a, x, tri + 3 * ta, 3);
        embi_box_of(box_b, x, tri + 3 * tb, 3);
        for (int i = 0; i < 3; i++) {
            box_a[i] -= gap->distance;
            box_a[3 + i] += gap->distance;
        }
        if (embi_boxes_touch(box_a, box_b)) embi_gap_triangles(&w, ta, tb, gap);
    }
    embi_pair_walk_end(&m, &w);
    return ok ? EMBIPC_OK : EMBIPC_ERR_MEMORY;
}

/* ==== 28. The step ===================================================================================
 *   begin      qt, forces, targets of drives; A and grad at q^n; candidates; islands; lagged friction
 *   iterate    each island finds its direction; one that leaves the range of its candidates gets new ones,
 *              which may join islands; the others move
 *   finish     velocities, forces, statistics; or, on an error, everything back
 * An island sees nothing of the others: a far body changes no bit of it.
 * Uses: all of the above.                                   Checked by: tests/test_world*.c   */

/* ---- bodies side by side ---- */

typedef void embi_each_fn(embipc_world *w, embi_body *b);

typedef struct embi_each {
    embipc_world *w;
    embi_each_fn *fn;
} embi_each;

static void embi_each_range(void *arg, int begin, int end)
{
    const embi_each *t = (const embi_each *)arg;
    for (int k = begin; k < end; k++) t->fn(t->w, t->w->s.body + k);
}

/* fn for each body of the world; it may write what is the body's own */
static void embi_each_body(embipc_world *w, embi_each_fn *fn)
{
    embi_state *s = &w->s;
    embi_each t;
    long long work = 0;
    t.w = w;
    t.fn = fn;
    for (int k = 0; k < s->body_count; k++) work += embi_body_work(s->body + k, 0);
    embi_for_work(&s->threads, s->body_count, work, EMBI_SHARE_TETS, embi_each_range, &t);
}

/* ---- begin ---- */

/* Pose that the keys (or the caller) ask for at time t. */
static void embi_drive_pose(const embi_drive *d, embipc_real t, embipc_real pose[6])
{
    int k = 0;
    memcpy(pose, d->is_set ? d->pose_set : d->pose, 6 * sizeof *pose);
    if (d->is_set || !d->key_count) return;
    while (k < d->key_count && d->keys[7 * k] <= t) k++;
    if (k == 0 || k == d->key_count) {
        memcpy(pose, d->keys + 7 * (k ? k - 1 : 0) + 1, 6 * sizeof *pose);
        return;
    }
    for (int i = 0; i < 6; i++) {
        const embipc_real *a = d->keys + 7 * (k - 1), *b = d->keys + 7 * k;
        pose[i] = a[1 + i] + (t - a[0]) / (b[0] - a[0]) * (b[1 + i] - a[1 + i]);
    }
}

/* R of every tet of a lagged material at q */
static void embi_body_turn(embi_body *b, const embipc_real *q)
{
    embi_elastic *e = &b->elastic;
    if (!embi_is_dynamic(b) || e->nonlinear) return;
    embi_elastic_polar(e, q + 3 * b->node0, e->rotation);
    embi_body_renew(b);
}

/* qc, qt, c and s of the body's step, from q^n and v^n */
static void embi_body_integrate(embi_state *s, embi_body *b, int two_step)
{
    embipc_real t[3];
    b->two_step = two_step;
    b->c = two_step ? 2 * s->h / 3 : s->h;
    b->inertia = two_step ? (embipc_real)2.25 : (embipc_real)1;
    embi_body_renew(b);
    for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i += 3) {
        embi_copy(s->qc + i, s->qn + i);
        embi_copy(s->qt + i, s->qn + i);
        embi_axpy(s->qt + i, b->c, s->vn + i);
        if (!two_step) continue;
        embi_sub(t, s->qn + i, s->q_before + i);
        embi_axpy(s->qc + i, (embipc_real)1 / 3, t);
        embi_axpy(s->qt + i, (embipc_real)1 / 3, t);
        embi_sub(t, s->vn + i, s->v_before + i);
        embi_axpy(s->qt + i, b->c / 3, t);
    }
}

/* What a velocity may change by in a step, m/s, before BDF2 must not look back on it: what gravity does, or a
 * tenth of it, and what counts as nothing. */
static embipc_real embi_jump_limit(const embi_state *s, embipc_real speed, embipc_real nothing)
{
    return s->h * embi_norm(s->gravity) + speed / 10 + nothing;
}

/* Does the drive start, stop or turn? */
static int embi_drive_jumps(const embi_state *s, const embi_drive *d)
{
    const embi_body *b = s->body + d->body;
    if (d->reached.blocked) return 1;
    for (int k = 0; k < d->node_count; k++) {
        int i = 3 * (b->node0 + d->nodes[k]);
        embipc_real move[3], change[3];
        embi_sub(move, s->target + i, s->q + i);
        embi_copy(change, move);
        embi_axpy(change, -s->h, s->v + i);
        if (embi_norm(change) > s->h * embi_jump_limit(s, embi_norm(move) / s->h, b->tolerance)) return 1;
    }
    return 0;
}

/* Aims every drive at the end of the step. A rotation is cut into stages whose chords miss the arc by less
 * than 0.1 dhat of the driven body: radius (1 - cos(angle/2)) <= 0.1 dhat. */
static void embi_drives_begin(embipc_world *w)
{
    embi_state *s = &w->s;
    for (int n = 0; n < s->drive_count; n++) {
        embi_drive *d = s->drives + n;
        embi_body *b = s->body + d->body;
        embipc_real turn[3], angle, radius = 0, chord, moved = 0;
        embi_drive_pose(d, w->time + s->h, d->pose_next);
        if (d->soft) continue;
        embi_sub(turn, d->pose_next + 3, d->pose + 3);
        angle = embi_norm(turn);
        for (int k = 0; k < d->node_count; k++) {
            embipc_real r[3];
            embi_sub(r, d->start + 3 * k, d->centre);
            radius = embi_max(radius, embi_norm(r));
        }
        chord = radius > 0 ? (embipc_real)0.1 * b->dhat / radius : (embipc_real)1;
        d->rotating = angle > 0;
        d->stages = d->rotating && chord < 1 ? 1 + (int)embi_min(1e6, angle / (2 * acos(1 - chord))) : 1;
        d->stage = d->safe_stage = 0;
        d->phi = d->safe_phi = 0;
        d->blocked = 0;
        for (int i = 0; i < 6; i++) moved = embi_max(moved, embi_abs(d->pose_next[i] - d->pose[i]));
        d->done = 0;
        embi_drive_aim(s, d);
        for (int k = 0; k < d->node_count && moved == 0; k++) {   /* at rest, unless left behind */
            int i = b->node0 + d->nodes[k];
            moved = embi_max(moved, embi_abs(s->target[3 * i] - s->q[3 * i]) +
                                        embi_abs(s->target[3 * i + 1] - s->q[3 * i + 1]) +
                                        embi_abs(s->target[3 * i + 2] - s->q[3 * i + 2]));
        }
        d->done = moved == 0;
        if (!d->done) b->moving = 1;
        if (s->integrator == EMBIPC_BDF2 && embi_drive_jumps(s, d)) {
            b->jump = 1;
            embi_body_integrate(s, b, 0);
        }
    }
}

/* what a body's step begins with: qt and f, where it is, what is derived of it */
static void embi_body_begin(embipc_world *w, embi_body *b)
{
    embi_state *s = &w->s;
    embi_body_derive(w, b);
    b->moving = embi_is_dynamic(b) && b->driven_nodes < b->nn;
    b->island = -1;
    b->around = 0;
    b->scale_x = 0;
    b->live_count = 0;
    embi_body_locate(b, s->q);
    for (int i = 0; i < 6 && b->nv; i++) b->scale_x = embi_max(b->scale_x, embi_abs(b->start_box[i]));
    b->jump = 0;
    embi_body_integrate(s, b, s->integrator == EMBIPC_BDF2 && embi_is_dynamic(b) && b->history);
    for (int i = b->node0; i < b->node0 + b->nn && embi_is_dynamic(b); i++) {
        embi_copy(s->f + 3 * i, w->applied + 3 * i);
        embi_axpy(s->f + 3 * i, b->node_mass[i - b->node0], s->gravity);
    }
}

/* q^n is kept; every body begins, and has its place in scratch that all share */
static void embi_bodies_begin(embipc_world *w)
{
    embi_state *s = &w->s;
    int trace = 0, patch = 0;
    size_t nodes = (size_t)(3 * s->node_count) * sizeof *s->q;
    if (s->node_count) {
        memcpy(s->qn, s->q, nodes);
        memcpy(s->vn, s->v, nodes);
        memcpy(s->safe_q, s->q, nodes);
        memcpy(s->known_q, s->q, nodes);
        memcpy(s->trial_q, s->q, nodes);
    }
    if (s->vert_count) memset(s->known, EMBI_VERTEX_UNKNOWN, (size_t)s->vert_count);
    for (int i = 0; i < s->node_count; i++) s->local[i] = -1;
    for (int k = 0; k < s->body_count; k++) {
        embi_body *b = s->body + k;
        b->trace0 = trace;
        b->patch0 = patch;
        trace += embi_body_trace(b);
        patch += embi_body_patch(b);
    }
    embi_each_body(w, embi_body_begin);
    embi_drives_begin(w);
}

/* x^n of a vertex is asked for, unless it is known. Returns 0 out of memory. */
static int embi_vertex_ask(embipc_world *w, int v)
{
    if (w->s.known[v] != EMBI_VERTEX_UNKNOWN) return 1;
    if (!EMBI_GROW(&w->memory, int, w->asked, w->asked_cap, w->asked_count + 1)) return 0;
    w->s.known[v] = EMBI_VERTEX_STARTED;
    w->asked[w->asked_count++] = v;
    return 1;
}

/* What was asked for is known. */
static void embi_asked_start(embipc_world *w)
{
    embi_apply_list(&w->s, w->asked, w->asked_count, 0, w->s.qn, w->s.xn);
    w->asked_count = 0;
}

/* x^n of small surfaces, and of what soft drives hold; searches will ask for others. Returns 0 out of memory. */
static int embi_vertices_begin(embipc_world *w)
{
    embi_state *s = &w->s;
    w->asked_count = 0;
    for (int k = 0; k < s->body_count; k++) {
        const embi_body *b = s->body + k;
        if (b->started || b->bvh.known) continue;
        for (int v = b->vert0; v < b->vert0 + b->nv; v++)
            if (!embi_vertex_ask(w, v)) return 0;
    }
    for (int n = 0; n < s->drive_count; n++) {
        const embi_drive *d = s->drives + n;
        for (int k = 0; k < d->node_count && d->soft; k++)
            if (!embi_vertex_ask(w, s->body[d->body].vert0 + d->nodes[k])) return 0;
    }
    embi_asked_start(w);
    for (int k = 0; k < s->body_count; k++)
        if (!s->body[k].bvh.known) s->body[k].started = 1;
    return 1;
}

/* The region in which a panel probably stays, going as far as `shift`. */
static void embi_panel_foresee(embi_panel *p, const embipc_real shift[6], embipc_real dhat)
{
    embipc_real slack = 0;
    for (int i = 0; i < 6; i++) slack = embi_max(slack, embi_abs(shift[i]));
    slack = slack / 10 + dhat / 2;
    for (int i = 0; i < 3; i++) {
        p->region[i] += embi_min(shift[i], 0) - slack;
        p->region[3 + i] += embi_max(shift[3 + i], 0) + slack;
    }
}

/* Where the body will probably be at the end of the step: free nodes at q + h (v + dv), dv being as much of
 * h f/m as they took in the last step, all of it in the first; driven ones at their targets, or at q + h v while
 * something blocks them. What falls goes on falling, and what lies on the ground or hangs from a hand stays where
 * it is. Only how many candidates there are depends on this. */
static void embi_body_foresee(embipc_world *w, embi_body *b)
{
    embi_state *s = &w->s;
    embipc_real pull[3];
    for (int t = 0; t < embi_strained_tets(b); t++)   /* if it does not move */
        b->strain[t].now = b->strain[t].next = 0;
    b->known_start = 1;
    embi_shift_none(b, &b->shift);
    embi_shift_none(b, &b->shift_next);
    embi_shift_none(b, &b->stray);
    embi_shift_none(b, &b->stray_next);
    embi_shift_none(b, &b->known);
    for (int n = 0; n < b->panel_count; n++) {
        memset(b->panel[n].hull, 0, sizeof b->panel[n].hull);
        memcpy(b->panel[n].region, b->panel[n].start_box, sizeof b->panel[n].region);
    }
    b->fits = b->kind == EMBIPC_FIXED;
    if (!b->moving) return;
    embi_copy(pull, s->gravity);
    for (int i = b->node0; i < b->node0 + b->nn && b->total_mass > 0; i++)
        embi_axpy(pull, 1 / b->total_mass, w->applied + 3 * i);
    for (int i = b->node0; i < b->node0 + b->nn; i++) {
        int d = s->drive[i];
        if (d >= 0 && s->drives[d].reached.blocked) embi_copy(s->trial_q + 3 * i, s->qt + 3 * i);
        else if (d >= 0) embi_copy(s->trial_q + 3 * i, s->target + 3 * i);
        else
            for (int c = 0; c < 3; c++) {
                embipc_real most = s->h * pull[c];
                embipc_real dv = b->history ? s->v[3 * i + c] - s->v_before[3 * i + c] : most;
                s->trial_q[3 * i + c] =
                    s->qt[3 * i + c] + s->h * embi_max(embi_min(0, most), embi_min(dv, embi_max(0, most)));
            }
    }
    embi_body_go(s, b);
    b->foreseen = embi_shift_most(&b->shift_next) + b->dhat;
    for (int n = 0; n < b->panel_count; n++) embi_panel_foresee(b->panel + n, b->shift_next.part + 6 * n, b->dhat);
}

/* outer grows to hold inner, and by a quarter more of what it then is */
static void embi_box_stretch(embipc_real outer[6], const embipc_real inner[6], embipc_real slack)
{
    embi_box_join(outer, inner);
    for (int i = 0; i < 3; i++) {
        embipc_real more = slack + (outer[3 + i] - outer[i]) / 4;
        outer[i] -= more;
        outer[3 + i] += more;
    }
}

/* The range of a pair grows to hold the boxes now and next, 0, where a step may go back to, and a quarter more of the
 * way from now to next. (By a quarter of the whole range: ten bears in a heap took twice the time.) */
static void embi_range_stretch(embipc_real range[6], const embipc_real now[6], const embipc_real next[6],
                               embipc_real slack)
{
    static const embipc_real start[3] = {0, 0, 0};
    embi_box_add(range, start);
    embi_box_join(range, now);
    embi_box_join(range, next);
    for (int i = 0; i < 3; i++) {
        embipc_real more = slack + embi_max(embi_abs(next[i] - now[i]), embi_abs(next[3 + i] - now[3 + i])) / 4;
        range[i] -= more;
        range[3 + i] += more;
    }
}

/* The candidates of all pairs that are searched for leave the list; those of others close the gaps. Returns 0 out of
 * memory. */
static int embi_searched_forget(embipc_world *w)
{
    embi_state *s = &w->s;
    int any = 0, n = 0, to = 0;
    for (int k = 0; k < w->search_count; k++) any |= s->pair[w->search[k].pair].count;
    if (!any) return 1;
    if (!EMBI_GROW(&w->memory, embi_key, w->tri_pairs, w->tri_pair_cap, 2 * s->pair_count)) return 0;
    for (int k = 0; k < s->pair_count; k++) {
        if (!s->pair[k].count) continue;
        w->tri_pairs[n].key = (embi_u64)s->pair[k].first;
        w->tri_pairs[n++].value = k;
    }
    embi_sort_keys(w->tri_pairs, w->tri_pairs + n, n);
    for (int k = 0; k < w->search_count; k++) s->pair[w->search[k].pair].count = 0;
    for (int k = 0; k < n; k++) {
        embi_pair *pair = s->pair + w->tri_pairs[k].value;
        size_t count = (size_t)pair->count;
        if (count && pair->first > to) {
            memmove(s->candidate + to, s->candidate + pair->first, count * sizeof *s->candidate);
            memmove(s->closest + to, s->closest + pair->first, count * sizeof *s->closest);
            memmove(s->apart + to, s->apart + pair->first, count * sizeof *s->apart);
            memmove(s->near + to, s->near + pair->first, count * sizeof *s->near);
            memmove(s->seen + to, s->seen + pair->first, count * sizeof *s->seen);
        }
        pair->first = to;
        to += pair->count;
    }
    s->candidate_count = to;
    return 1;
}

/* does the pair of a list come before another? */
static int embi_kept_before(const embi_kept *k, const embi_pair *pair)
{
    return k->a != pair->a ? k->a < pair->a : k->b != pair->b ? k->b < pair->b
         : k->pa != pair->pa ? k->pa < pair->pa : k->pb < pair->pb;
}

/* The kept list of a pair, made if there is none; NULL out of memory. */
static embi_kept *embi_kept_of(embipc_world *w, const embi_pair *pair)
{
    embi_kept *k, spare;
    int lo = 0, hi = w->kept_count;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (embi_kept_before(w->kept + mid, pair)) lo = mid + 1;
        else hi = mid;
    }
    k = lo < w->kept_count ? w->kept + lo : NULL;
    if (k && k->a == pair->a && k->b == pair->b && k->pa == pair->pa && k->pb == pair->pb) return k;
    if (!EMBI_GROW(&w->memory, embi_kept, w->kept, w->kept_cap, w->kept_count + 1)) return NULL;
    k = w->kept + lo;
    spare = w->kept[w->kept_count];   /* zero where there is none */
    memmove(k + 1, k, (size_t)(w->kept_count++ - lo) * sizeof *k);
    w->kept_end = embi_max_int(w->kept_end, w->kept_count);
    memset(k, 0, sizeof *k);
    k->list = spare.list;
    k->cap = spare.cap;
    k->a = pair->a;
    k->b = pair->b;
    k->pa = pair->pa;
    k->pb = pair->pb;
    k->start[0] = w->s.body[k->a].panel[k->pa].root;
    k->start[1] = w->s.body[k->b].panel[k->pb].root;
    return k;
}

/* Does the list serve for what the step asks for now? */
static int embi_kept_serves(const embi_state *s, const embi_kept *k, const embi_pair *pair, embipc_real reach)
{
    embipc_real range[6];
    if (!k->valid || k->dhat != pair->rule.dhat || k->xi != pair->rule.xi || !(k->reach >= reach)) return 0;
    if (k->a == k->b && !embi_body_stands(s->body + k->a, EMBI_STRAIN_TIMES)) return 0;
    if (k->loose) return 1;
    memcpy(range, pair->range, sizeof range);
    for (int i = 0; i < 3 && k->a == k->b; i++) {   /* in the frame that has turned since */
        range[3 + i] = 0;
        for (int c = 0; c < 3; c++) range[3 + i] += embi_abs(k->turn[3 * c + i]) * pair->range[3 + c];
        range[i] = -range[3 + i];
    }
    for (int i = 0; i < 3; i++)
        if (!(range[i] + k->drift[i] >= k->range[i]) || !(range[3 + i] + k->drift[3 + i] <= k->range[3 + i]))
            return 0;
    return 1;
}

/* By how much a pair outgrew what its list was made for, in each step since. */
static embipc_real embi_kept_pace(const embi_kept *k, const embi_pair *pair)
{
    embipc_real over = 0;
    if (!k->valid) return 0;
    for (int i = 0; i < 3; i++) {
        over = embi_max(over, k->range[i] - (pair->range[i] + k->drift[i]));
        over = embi_max(over, pair->range[3 + i] + k->drift[3 + i] - k->range[3 + i]);
    }
    return (over + k->room) / (embipc_real)embi_max_int(k->asked - k->made, 1);
}

/* How much more a pair is searched for than it is about to move: as much again, twice, and four dhat; but no more than a
 * quarter of the shorter edge, beyond which lists grow faster than searches become rare (surfaces of 356 to 10 000
 * triangles: an eighth and a half cost 0 to 40 % more). Where there is little to find on large surfaces, the walk is
 * what costs, and there is all of it, or half an edge within a body (of the step: bears of 40 000 and 160 000 triangles
 * 0.86 and 0.80, a cage of 8 nodes 0.86; with all of it everywhere heaps whose dhat is a quarter and half of an edge
 * take 1.26 and 1.37). And none where a pair moves so fast that the list would serve for this step and hardly the
 * next (falling heaps 0.93 to 0.96, a mat that is twisted 0.9), but within a body whose list is short: there, again, the
 * walk is what costs (bears in cages of 150 and 300 nodes 1.07 without). */
static embipc_real embi_kept_room(const embi_state *s, const embi_kept *k, const embi_pair *pair)
{
    const embi_body *A = s->body + k->a, *B = s->body + k->b;
    int self = k->a == k->b, few = k->count < (self ? A->nt : A->nt + B->nt) / 64;
    embipc_real room = 0, edges = embi_min(embi_body_edge(A), embi_body_edge(B)) / (few && self ? 2 : 4), most;
    for (int i = 0; i < 3; i++) room = embi_max(room, pair->range[3 + i] - pair->range[i]);
    room = embi_min(room + 4 * pair->rule.dhat, few ? embi_max(edges, 4 * pair->rule.dhat) : edges);
    if (few || (self && k->count <= 4 * A->nt)) return room;   /* the walk is what costs */
    most = self ? room : room / 2;
    return embi_kept_pace(k, pair) > most ? (embipc_real)0 : room;
}

/* Prepares a search at the start of the step. |u| + |h - u| <= sqrt(2) |h| for 0 <= u <= h: by so much the radius must
 * be larger than that of the range. */
static void embi_kept_begin(embi_state *s, embi_kept *k, const embi_pair *pair, embipc_real reach)
{
    const embi_body *A = s->body + k->a, *B = s->body + k->b;
    if (k->a == k->b && A->nn) {
        memcpy(s->kept_q + 3 * A->node0, s->qn + 3 * A->node0, (size_t)(3 * A->nn) * sizeof *s->qn);
        embi_m3_identity(k->turn);
    }
    k->room = embi_kept_room(s, k, pair);
    k->made = k->asked;
    for (int i = 0; i < 3; i++) {
        k->range[i] = pair->range[i] - k->room;
        k->range[3 + i] = pair->range[3 + i] + k->room;
        k->drift[i] = k->drift[3 + i] = 0;
    }
    k->valid = k->count = k->loose = 0;
    k->dhat = pair->rule.dhat;
    k->xi = pair->rule.xi;
    k->reach = reach + 4 * embi_pair_rounding(A, B);
}

static embi_approach embi_kept_approach(const embi_kept *k)
{
    embi_approach t = embi_approach_of(k->range, k->reach);
    t.radius *= (embipc_real)1.4143;
    t.own = 1;
    return t;
}

/* Where a body is searched for itself with the nodes at q^n: all folds that may close while its tets are strained by no
 * more than they are about to be, and some room. What the others stand is what the kept list does. Returns 0 out of
 * memory. */
static int embi_body_starts(embi_memory *m, embi_state *s, embi_body *b, embi_kept *k)
{
    embipc_real *F = s->trace + b->trace0, share = (k->xi > 0 ? (embipc_real)0.75 : (embipc_real)0.5) / EMBI_TURN_COS;
    b->start_count = 0;
    if (!EMBI_GROW(m, int, b->start, b->start_cap, 2)) return 0;
    for (int t = 0; t < embi_strained_tets(b); t++) {
        embi_elastic_F(&b->elastic, t, s->qn + 3 * b->node0, F + 9 * t);
        b->strain[t].kept = 0;
        b->strain[t].most = EMBI_HUGE;
    }
    for (int n = 0; n < b->folds.count;) {
        const embi_fold *one = b->folds.list + n;
        const int *tet = b->folds.tet + one->first;
        embipc_real strain = 0, margin;
        for (int i = 0; i < one->tets; i++) strain = embi_max(strain, b->strain[tet[i]].next);
        strain = EMBI_STRAIN_TIMES * strain + EMBI_FOLD_SLACK;
        margin = embi_fold_margin(&b->folds, one, F, share, k->reach, strain);
        if (margin > strain) {
            for (int i = 0; i < one->tets; i++) b->strain[tet[i]].most = embi_min(b->strain[tet[i]].most, margin);
            n = one->next;
            continue;
        }
        if (one->next > ++n) continue;   /* what it opens to may do */
        if (!EMBI_GROW(m, int, b->start, b->start_cap, 2 * b->start_count + 2)) return 0;
        b->start[2 * b->start_count] = one->i;
        b->start[2 * b->start_count++ + 1] = one->j;
    }
    k->loose = b->folds.count && !b->start_count;
    return 1;
}

/* The walk of a list's search at q^n; *a, *b: its surfaces. */
static embi_walk embi_kept_walk(const embi_state *s, const embi_kept *k, embi_surface *a, embi_surface *b)
{
    const embi_body *A = s->body + k->a;
    *a = embi_surface_of(s, A, s->xn);
    *b = embi_surface_of(s, s->body + k->b, s->xn);
    if (k->a != k->b) {
        a->start = k->start;
        a->start_count = 1;
    } else if (A->folds.count) {
        a->start = A->start;
        a->start_count = A->start_count;
    }
    return embi_walk_of(a, b, k->range, k->reach);
}

/* ---- searches side by side ----
 * Small ones go to lanes, so many to each. Nothing is allocated there: what finds no room is done again when there
 * is some. A large one (by its surfaces, as it was before, or as it turned out) is shared itself: the walk through the
 * trees has many starts, the pairs of triangles it finds are cut into runs, and what starts and runs give is joined in
 * order. Either way a list holds what one search by itself finds, in the same order. (A bear of 160 000 triangles,
 * searched for itself in nearly each step: 2 threads take 0.60 of the time of one.) */

#define EMBI_SHARE_SEARCH EMBI_SHARE(32768)  /* candidates of a search that is shared */
#define EMBI_SHARE_SURFACE EMBI_SHARE(4096)  /* triangles of two surfaces whose search is */
#define EMBI_SHARE_REFIT EMBI_SHARE(1024)    /* triangles, or leaves, of a tree that is refit: 12 us */
#define EMBI_SHARE_KEYS EMBI_SHARE(256)      /* pairs of triangles at a time: 100 us; 25 took 1.08 */
#define EMBI_SHARE_AGAIN EMBI_SHARE(256)     /* kept candidates looked at again: 12 us */

typedef struct embi_search_task {
    embipc_world *w;
    const embi_search *one;      /* the large one */
    int grain, first;            /* first: of the parts that are looked at now, runs of its keys */
} embi_search_task;

typedef struct embi_walk_task {
    embipc_world *w;
    embi_walk walk;
    const int *start;            /* pairs of nodes (2 count) */
    int count, grain, first;     /* from `first` on they are walked now, so many in each lane */
    int opened[EMBI_STARTS][2];
} embi_walk_task;

/* The vertices of the parts of trees that are to be refit. Returns 0 out of memory. */
static int embi_parts_ask(embipc_world *w)
{
    for (int n = 0; n < w->parts.count; n++) {
        const embi_chunk *part = w->parts.list + n;
        const embi_body *b = w->s.body + part->item;
        int end = embi_min_int(EMBI_LEAF * part->end, b->nt);
        if (b->started) continue;
        for (int i = EMBI_LEAF * part->begin; i < end; i++)
            for (int k = 0; k < 3; k++)
                if (!embi_vertex_ask(w, b->vert0 + b->tri[3 * b->bvh.order[i] + k])) return 0;
    }
    embi_asked_start(w);
    return 1;
}

/* May a candidate of the kept list be within reach now? */
static int embi_search_sees(const embi_search *one, const embi_candidate *old)
{
    return old->apart * (embipc_real)0.999 <= one->near - old->less + old->share * one->far;
}

/* The vertices of kept candidates that will be looked at again. Returns 0 out of memory. */
static int embi_search_ask(embipc_world *w, const embi_search *one)
{
    const embi_state *s = &w->s;
    const embi_body *a = s->body + one->kept->a, *b = s->body + one->kept->b;
    if (a->started && b->started) return 1;
    for (int k = 0; k < one->kept->count; k++) {
        const embi_candidate *old = one->kept->list + k;
        if (!embi_search_sees(one, old)) continue;
        for (int i = 0; i < 4; i++)
            if (!embi_vertex_ask(w, old->v[i])) return 0;
    }
    return 1;
}

static void embi_refit_range(void *arg, int begin, int end)
{
    const embi_search_task *t = (const embi_search_task *)arg;
    for (int n = begin; n < end; n++) {
        const embi_chunk *part = t->w->parts.list + n;
        embi_body *b = t->w->s.body + part->item;
        embi_bvh_refit_leaves(&b->bvh, t->w->s.xn + 3 * b->vert0, b->tri, b->nt, part->begin, part->end);
        if (b->bvh.known) b->bvh.known[embi_bvh_block(&b->bvh, b->bvh.leaves + part->begin)] |= EMBI_REFIT;
    }
}

/* The body's tree will be refit where asked in this step. */
static void embi_body_unfit(embi_state *s, embi_body *b)
{
    const embipc_real *from = s->start_q + 3 * b->node0, *to = s->qn + 3 * b->node0;
    embipc_real most = b->scale_x + 4 * b->diagonal;
    for (int i = 0; i < 3 * b->nn; i++) most = embi_max(most, embi_abs(from[i]));
    embi_turn_fit(from, to, b->nn, b->moved.turn);
    embi_warp(from, to, b->nn, b->moved.turn, s->shift_d + 3 * b->node0, b->moved.warp);
    b->moved.q = s->qn;
    b->moved.rounding = 64 * EMBI_EPS * most;
    memset(b->bvh.known, 0, 2 * (size_t)b->bvh.leaves);
}

/* Trees that searches need as a whole: parts of them, then what is above these. Returns 0 out of memory. */
static int embi_searches_refit_all(embipc_world *w)
{
    embi_state *s = &w->s;
    embi_search_task task;
    task.w = w;
    embi_chunks_clear(&w->parts);
    for (int n = 0; n < w->search_count; n++)
        for (int side = 0; side < 2 && w->search[n].due; side++) {
            int at = side ? w->search[n].kept->b : w->search[n].kept->a;
            embi_body *b = s->body + at;
            int part = b->bvh.leaves;
            if (b->fits || w->search[n].kept->loose) continue;
            b->fits = 1;
            if (b->bvh.known) {
                embi_body_unfit(s, b);
                continue;
            }
            while (part > EMBI_SHARE_REFIT) part /= 2;
            if (!embi_chunks_add(&w->memory, &w->parts, at, 0, b->bvh.leaves, part)) return 0;
        }
    embi_for_chunks(&s->threads, &w->parts, EMBI_SHARE_REFIT, embi_refit_range, &task);
    for (int n = 0; n < w->parts.count; n++) {
        const embi_chunk *part = w->parts.list + n;
        embi_bvh *b = &s->body[part->item].bvh;
        if (part->begin == 0) embi_bvh_join(b, 1, b->leaves / part->end);
    }
    return 1;
}

/* All trees, as far as searches need them. Returns 0 out of memory. */
static int embi_searches_refit(embipc_world *w)
{
    embi_state *s = &w->s;
    embi_search_task task;
    task.w = w;
    if (!embi_searches_refit_all(w)) return 0;
    embi_chunks_clear(&w->parts);
    for (int n = 0; n < w->search_count; n++) {
        const embi_kept *k = w->search[n].kept;
        embi_body *A = s->body + k->a, *B = s->body + k->b;
        embi_surface a, b;
        embi_fitting f;
        const int *start;
        int count;
        if (!w->search[n].due || k->loose || (!A->bvh.known && !B->bvh.known)) continue;
        f.walk = embi_kept_walk(s, k, &a, &b);
        for (int side = 0; side < 2; side++) {
            embi_body *one = side ? B : A;
            f.tree[side] = one->bvh.known ? &one->bvh : NULL;
            f.moved[side] = &one->moved;
            f.item[side] = side ? k->b : k->a;
        }
        start = embi_walk_begin(&f.walk, &count);
        for (int i = 0; i < count; i++)
            if (!embi_fitting_walk(&w->memory, &f, start[2 * i], start[2 * i + 1], &w->parts)) return 0;
    }
    if (!embi_parts_ask(w)) return 0;
    embi_for_chunks(&s->threads, &w->parts, EMBI_SHARE_REFIT, embi_refit_range, &task);
    return 1;
}

/* One small search, its candidates behind what the lane holds already. */
static void embi_search_small(embi_memory *still, const embi_state *s, embi_search *one, embi_lane *lane)
{
    const embi_kept *k = one->kept;
    embi_surface a, b;
    embi_walk walk = embi_kept_walk(s, k, &a, &b);
    embi_approach t = embi_kept_approach(k);
    one->at = lane->count;
    one->due = EMBI_SEARCH_NO_KEYS;
    lane->key_count = 0;
    if (!embi_walk_all(still, &walk, &lane->keys, &lane->key_count, &lane->key_cap)) return;
    one->due = EMBI_SEARCH_NO_ROOM;
    if (!embi_candidates(still, &a, &b, lane->keys, lane->key_count, &s->pair[one->pair].rule, &t, &lane->list,
                         &lane->count, &lane->cap)) {
        lane->count = one->at;
        return;
    }
    one->count = lane->count - one->at;
    one->due = EMBI_SEARCH_FOUND;
}

static void embi_search_range(void *arg, int begin, int end)
{
    const embi_search_task *t = (const embi_search_task *)arg;
    embi_memory still = t->w->memory;
    still.fixed = 1;
    for (int n = begin; n < end; n++) {
        embi_lane *lane = t->w->lane + n / t->grain;
        if (n % t->grain == 0) lane->count = 0;
        if (t->w->search[n].due == EMBI_SEARCH_DUE)
            embi_search_small(&still, &t->w->s, t->w->search + n, lane);
    }
}

static void embi_keys_range(void *arg, int begin, int end)
{
    const embi_search_task *t = (const embi_search_task *)arg;
    const embi_state *s = &t->w->s;
    const embi_kept *k = t->one->kept;
    embi_surface a = embi_surface_of(s, s->body + k->a, s->xn), b = embi_surface_of(s, s->body + k->b, s->xn);
    embi_approach approach = embi_kept_approach(k);
    for (int n = begin; n < end; n++) {
        embi_lane *lane = t->w->lane + n;
        const embi_chunk *run = t->w->parts.list + t->first + n;
        embi_memory still = t->w->memory;
        still.fixed = 1;
        lane->count = 0;
        (void)embi_candidates(&still, &a, &b, t->w->lane[run->item].keys + run->begin, run->end - run->begin,
                              &s->pair[t->one->pair].rule, &approach, &lane->list, &lane->count, &lane->cap);
    }
}

/* twice the room for keys, or for candidates */
static int embi_lane_grow(embi_memory *m, embi_lane *lane, int keys)
{
    int room = 2 * (keys ? lane->key_cap : lane->cap);
    return keys ? EMBI_GROW(m, embi_key, lane->keys, lane->key_cap, room)
                : EMBI_ROOM(m, embi_candidate, lane->list, lane->cap, room);
}

static void embi_walk_range(void *arg, int begin, int end)
{
    const embi_walk_task *t = (const embi_walk_task *)arg;
    embi_memory still = t->w->memory;
    still.fixed = 1;
    for (int n = begin; n < end; n++) {
        embi_lane *lane = t->w->lane + n;
        int from = t->first + n * t->grain, to = embi_min_int(from + t->grain, t->count);
        if (lane->walked) continue;
        lane->key_count = 0;
        lane->walked = 1;
        for (int k = from; k < to && lane->walked; k++)
            lane->walked = embi_walk_pairs(&still, &t->walk, t->start[2 * k], t->start[2 * k + 1], &lane->keys,
                                           &lane->key_count, &lane->key_cap);
    }
}

/* Pairs of triangles of a large search from the next starts, found side by side in so many lanes; they stay there, and
 * the parts are runs of them. Returns 0 out of memory. */
static int embi_search_walk(embipc_world *w, embi_walk_task *t, int lanes)
{
    int left = 1;
    for (int n = 0; n < lanes; n++) w->lane[n].walked = 0;
    while (left) {
        embi_for(&w->s.threads, lanes, 1, embi_walk_range, t);
        left = 0;
        for (int n = 0; n < lanes; n++) {
            if (w->lane[n].walked) continue;
            left = 1;
            if (!embi_lane_grow(&w->memory, w->lane + n, 1)) return 0;
        }
    }
    embi_chunks_clear(&w->parts);
    for (int n = 0; n < lanes; n++)
        if (!embi_chunks_add(&w->memory, &w->parts, n, 0, w->lane[n].key_count, EMBI_SHARE_KEYS)) return 0;
    return 1;
}

/* Candidates of these. Each pair of triangles has 15 at most: 6 vertices and 9 pairs of edges. */
static int embi_search_runs(embipc_world *w, embi_search_task *t)
{
    embi_kept *k = t->one->kept;
    for (t->first = 0; t->first < w->parts.count; t->first += EMBI_TASKS) {
        int runs = embi_min_int(EMBI_TASKS, w->parts.count - t->first);
        embi_for(&w->s.threads, runs, 1, embi_keys_range, t);
        for (int n = 0; n < runs; n++) {
            const embi_lane *lane = w->lane + n;
            if (!EMBI_ROOM(&w->memory, embi_candidate, k->list, k->cap, k->count + lane->count)) return 0;
            if (lane->count) memcpy(k->list + k->count, lane->list, (size_t)lane->count * sizeof *k->list);
            k->count += lane->count;
        }
    }
    return 1;
}

/* Room in so many lanes. Returns 0 out of memory. */
static int embi_lanes_reserve(embipc_world *w, int lanes, int keys, int candidates)
{
    for (int n = 0; n < lanes; n++)
        if (!EMBI_GROW(&w->memory, embi_key, w->lane[n].keys, w->lane[n].key_cap, keys) ||
            !EMBI_ROOM(&w->memory, embi_candidate, w->lane[n].list, w->lane[n].cap, candidates))
            return 0;
    return 1;
}

/* A large search, from so many starts at a time that what they find takes little room. */
static int embi_search_large(embipc_world *w, const embi_search *one)
{
    embi_state *s = &w->s;
    embi_kept *k = one->kept;
    embi_surface a, b;
    embi_search_task t;
    embi_walk_task walk;
    t.w = walk.w = w;
    t.one = one;
    walk.walk = embi_kept_walk(s, k, &a, &b);
    walk.start = embi_walk_starts(&walk.walk, walk.opened, &walk.count);
    walk.grain = (walk.count - 1) / EMBI_STARTS + 1;
    k->count = 0;
    if (!embi_lanes_reserve(w, EMBI_TASKS, 1024, 15 * EMBI_SHARE_KEYS)) return 0;
    for (walk.first = 0; walk.first < walk.count; walk.first += EMBI_TASKS * walk.grain) {
        int lanes = embi_min_int((walk.count - walk.first - 1) / walk.grain + 1, EMBI_TASKS);
        if (!embi_search_walk(w, &walk, lanes) || !embi_search_runs(w, &t)) return 0;
    }
    return 1;
}

/* What was found goes to the kept lists. */
static int embi_searches_join(embipc_world *w, int grain)
{
    for (int n = 0; n < w->search_count; n++) {
        embi_search *one = w->search + n;
        embi_kept *kept = one->kept;
        if (one->due != EMBI_SEARCH_FOUND) continue;
        if (!EMBI_ROOM(&w->memory, embi_candidate, kept->list, kept->cap, one->count)) return 0;
        if (one->count)
            memcpy(kept->list, w->lane[n / grain].list + one->at, (size_t)one->count * sizeof *kept->list);
        kept->count = one->count;
        one->due = EMBI_SEARCH_DONE;
    }
    return 1;
}

/* Lanes in which one search alone found no room get twice as much, once a round. */
static int embi_searches_grow(embipc_world *w, int grain)
{
    int grown = -1;
    for (int n = 0; n < w->search_count; n++) {
        embi_search *one = w->search + n;
        embi_lane *lane = w->lane + n / grain;
        if (!one->due || grown == n / grain || (one->due == EMBI_SEARCH_NO_ROOM && one->at > 0)) continue;
        if (one->due == EMBI_SEARCH_NO_ROOM && lane->cap >= EMBI_SHARE_SEARCH) {
            if (!embi_search_large(w, one)) return 0;
            one->due = EMBI_SEARCH_DONE;
            continue;
        }
        grown = n / grain;
        if (!embi_lane_grow(&w->memory, lane, one->due == EMBI_SEARCH_NO_KEYS)) return 0;
    }
    return 1;
}

/* Is it known to be large before it is made? */
static int embi_search_is_large(const embipc_world *w, const embi_kept *k)
{
    const embi_body *a = w->s.body + k->a, *b = w->s.body + k->b;
    int triangles = a == b ? 2 * a->nt : a->nt / a->panel_count + b->nt / b->panel_count;
    return k->cap >= EMBI_SHARE_SEARCH || triangles >= EMBI_SHARE_SURFACE;
}

/* Makes the kept lists that are due. */
static int embi_searches_keep(embipc_world *w)
{
    embi_search_task task;
    if (!embi_searches_refit(w)) return 0;
    task.w = w;
    task.grain = (w->search_count - 1) / EMBI_TASKS + 1;
    for (int n = 0; n < w->search_count; n++) {
        embi_search *one = w->search + n;
        if (!one->due || !embi_search_is_large(w, one->kept)) continue;
        if (!embi_search_large(w, one)) return 0;
        one->due = EMBI_SEARCH_DONE;
    }
    for (;;) {
        int small = 0;
        for (int n = 0; n < w->search_count; n++)
            if (w->search[n].due) {
                w->search[n].due = EMBI_SEARCH_DUE;
                small = 1;
            }
        if (!small) return 1;
        if (!embi_lanes_reserve(w, (w->search_count - 1) / task.grain + 1, 1024, 1024)) return 0;
        embi_for(&w->s.threads, w->search_count, task.grain, embi_search_range, &task);
        if (!embi_searches_join(w, task.grain) || !embi_searches_grow(w, task.grain)) return 0;
    }
}

/* Lists that no step has asked for in so many are given up, or bodies that mix would get one for each two of them;
 * their memory waits for others. */
#define EMBI_KEPT_STEPS 64

static void embi_kept_forget(embipc_world *w)
{
    int count = 0;
    for (int n = 0; n < w->kept_count; n++) {
        embi_kept one = w->kept[n];
        if (w->step - one.asked > EMBI_KEPT_STEPS) continue;
        w->kept[n] = w->kept[count];
        w->kept[count++] = one;
    }
    w->kept_count = count;
}

/* after a step: how far everything moved */
static void embi_kept_drift(embipc_world *w)
{
    embi_kept_forget(w);
    for (int n = 0; n < w->kept_count; n++) {
        embi_kept *k = w->kept + n;
        embi_body *a = w->s.body + k->a, *b = w->s.body + k->b;
        const embipc_real *from = w->s.kept_q + 3 * a->node0, *to = w->s.q + 3 * a->node0;
        embipc_real r[6], *strain = w->s.trace + a->trace0;
        if (!k->valid) continue;
        if (a == b) {
            embi_turn_fit(from, to, a->nn, k->turn);
            embi_warp(from, to, a->nn, k->turn, w->s.shift_d + 3 * a->node0, k->drift + 3);
            embi_body_strains(a, w->s.shift_d + 3 * a->node0, strain);
            for (int t = 0; t < embi_strained_tets(a); t++) a->strain[t].kept = strain[t];
            for (int i = 0; i < 3; i++) k->drift[i] = -k->drift[3 + i];
            continue;
        }
        embi_relative_box(&a->shift, k->pa, &b->shift, k->pb, r);
        for (int i = 0; i < 6; i++) k->drift[i] += r[i];
    }
}

/* The candidates of a pair are due, for its range. Returns 0 out of memory. */
static int embi_search_add(embipc_world *w, int n)
{
    embi_pair *pair = w->s.pair + n;
    embi_search *one;
    if (!embi_kept_of(w, pair) ||
        !EMBI_GROW(&w->memory, embi_search, w->search, w->search_cap, w->search_count + 1))
        return 0;
    one = w->search + w->search_count++;
    memset(one, 0, sizeof *one);
    one->pair = n;
    return 1;
}

/* What a pair's candidates are searched within. */
static embipc_real embi_pair_reach(const embi_state *s, const embi_pair *pair)
{
    embipc_real reach = pair->rule.dhat + pair->rule.xi;
    if (pair->a == pair->b) reach /= EMBI_TURN_COS;
    return reach + 4 * embi_pair_rounding(s->body + pair->a, s->body + pair->b);
}

/* Looks whether the kept list of a pair serves, and says what of it will be looked at. Returns 0 out of memory. */
static int embi_search_begin(embipc_world *w, embi_search *one)
{
    embi_state *s = &w->s;
    embi_pair *pair = s->pair + one->pair;
    embipc_real reach = embi_pair_reach(s, pair), r[6];
    embi_kept *kept = embi_kept_of(w, pair);
    one->kept = kept;
    kept->asked = w->step;
    one->due = !embi_kept_serves(s, kept, pair, reach);
    if (one->due) {
        embi_kept_begin(s, kept, pair, reach);
        if (pair->a == pair->b && !embi_body_starts(&w->memory, s, s->body + pair->a, kept)) return 0;
    }
    pair->loose = kept->loose;
    one->approach = embi_approach_of(pair->range, reach);
    one->approach.own = 1;
    one->back = one->approach;
    embi_scale(one->back.mid, -1, one->approach.mid);
    /* from the middle of the kept range then to that of this one now: what was farther apart stays out of reach */
    for (int i = 0; i < 6; i++)
        r[i] = kept->drift[i] + one->approach.mid[i % 3] - (kept->range[i % 3] + kept->range[3 + i % 3]) / 2;
    one->near = one->approach.reach + 4 * embi_pair_rounding(s->body + pair->a, s->body + pair->b);
    one->far = one->approach.radius + embi_box_norm(r);
    return 1;
}

/* Kept candidates that are within reach now, a chunk's one behind the other. */
static void embi_again_range(void *arg, int begin, int end)
{
    const embi_search_task *t = (const embi_search_task *)arg;
    const embi_state *s = &t->w->s;
    for (int n = begin; n < end; n++) {
        const embi_chunk *chunk = t->w->parts.list + n;
        const embi_search *one = t->w->search + chunk->item;
        const embi_body *A = s->body + one->kept->a;
        embi_candidate *to = s->candidate + one->first + chunk->begin, *c = to;
        for (int k = chunk->begin; k < chunk->end; k++) {
            const embi_candidate *old = one->kept->list + k;
            if (!embi_search_sees(one, old)) continue;
            *c = *old;
            c += embi_candidate_again(c, s->xn, c->v[0] >= A->vert0 && c->v[0] < A->vert0 + A->nv ? &one->approach
                                                                                                  : &one->back);
        }
        t->w->found[n] = (int)(c - to);
    }
}

/* What a pair knows of its candidates at first: how far apart they were when found. Returns 0 out of memory. */
static int embi_search_end(embi_memory *m, embi_state *s, const embi_search *one)
{
    embi_pair *pair = s->pair + one->pair;
    embi_body *A = s->body + pair->a, *B = s->body + pair->b;
    embipc_real r[6], slack;
    pair->near_count = -1;
    embi_relative_box(&A->known, pair->pa, &B->known, pair->pb, r);   /* from the middle of the range to known_q */
    for (int i = 0; i < 6; i++) r[i] -= (pair->range[i % 3] + pair->range[3 + i % 3]) / 2;
    slack = embi_box_norm(r);
    if (pair->count) memset(s->closest + pair->first, 0, (size_t)pair->count * sizeof *s->closest);
    for (int k = pair->first; k < pair->first + pair->count; k++) {
        s->apart[k].share = s->candidate[k].share;
        s->apart[k].least = s->candidate[k].apart - s->candidate[k].share * slack;
        if (!embi_candidate_wake(m, s, A, B, s->candidate[k].v)) return 0;
    }
    return 1;
}

/* Candidates of the searches begin .. end - 1, from their kept lists. */
static int embi_searches_again(embipc_world *w, int begin, int end)
{
    embi_state *s = &w->s;
    embi_search_task task;
    int at = s->candidate_count, n = 0;
    task.w = w;
    embi_chunks_clear(&w->parts);
    for (int k = begin; k < end; k++) {
        if (!embi_search_ask(w, w->search + k)) return 0;
        w->search[k].first = at;
        at += w->search[k].kept->count;
        if (!embi_chunks_add(&w->memory, &w->parts, k, 0, w->search[k].kept->count, EMBI_SHARE_AGAIN)) return 0;
    }
    if (!EMBI_ROOM(&w->memory, embi_candidate, s->candidate, s->candidate_cap, at) ||
        !EMBI_GROW(&w->memory, int, w->found, w->found_cap, w->parts.count))
        return 0;
    embi_asked_start(w);
    embi_for_chunks(&s->threads, &w->parts, EMBI_SHARE_AGAIN, embi_again_range, &task);
    for (int k = begin; k < end; k++) {
        embi_pair *pair = s->pair + w->search[k].pair;
        pair->first = s->candidate_count;
        for (; n < w->parts.count && w->parts.list[n].item == k; n++) {
            int from = w->search[k].first + w->parts.list[n].begin;
            if (w->found[n] && from > s->candidate_count)
                memmove(s->candidate + s->candidate_count, s->candidate + from,
                        (size_t)w->found[n] * sizeof *s->candidate);
            s->candidate_count += w->found[n];
        }
        pair->count = s->candidate_count - pair->first;
    }
    if (!EMBI_ROOM(&w->memory, embi_closest, s->closest, s->closest_cap, s->candidate_count) ||
        !EMBI_ROOM(&w->memory, embi_apart, s->apart, s->apart_cap, s->candidate_count) ||
        !EMBI_ROOM(&w->memory, int, s->near, s->near_cap, s->candidate_count) ||
        !EMBI_ROOM(&w->memory, int, s->seen, s->seen_cap, s->candidate_count))
        return 0;
    for (int k = begin; k < end; k++)
        if (!embi_search_end(&w->memory, s, w->search + k)) return 0;
    return 1;
}

/* Finds the candidates of all pairs for which they are due, from the positions at the start of the step; so many
 * kept lists at a time that the gaps between what is left of them take little room. */
static int embi_searches_run(embipc_world *w)
{
    if (!embi_searched_forget(w)) return 0;
    for (int n = 0; n < w->search_count; n++)
        if (!embi_search_begin(w, w->search + n)) return 0;
    if (!embi_searches_keep(w)) return 0;
    for (int begin = 0, end; begin < w->search_count; begin = end) {
        int sum = w->search[begin].kept->count;
        for (end = begin + 1; end < w->search_count && sum + w->search[end].kept->count < 65536; end++)
            sum += w->search[end].kept->count;
        if (!embi_searches_again(w, begin, end)) return 0;
    }
    for (int n = 0; n < w->search_count; n++) w->search[n].kept->valid = 1;
    w->builds += w->search_count;
    w->search_count = 0;
    return 1;
}

/* Panels pa and pb of two bodies as one number; embi_pair_add() takes it apart. */
static int embi_panels_pack(int pa, int pb) { return pa * EMBI_PANELS + pb; }

/* Adds the pair of panels of the bodies embi_pack(i, j), i <= j, with an empty range and no candidates yet; head: that
 * of these bodies, -1: itself. Returns it; NULL out of memory. */
static embi_pair *embi_pair_add(embipc_world *w, embi_u64 bodies, int panels, int head)
{
    embi_state *s = &w->s;
    embi_pair *pair;
    if (!EMBI_GROW(&w->memory, embi_pair, s->pair, s->pair_cap, s->pair_count + 1)) return NULL;
    pair = s->pair + s->pair_count;
    memset(pair, 0, sizeof *pair);
    pair->a = (int)(bodies >> 32);
    pair->b = (int)(bodies & 0xffffffffu);
    pair->pa = panels / EMBI_PANELS;
    pair->pb = panels % EMBI_PANELS;
    pair->head = head < 0 ? s->pair_count : head;
    s->pair_count++;
    pair->rule = embi_pair_parameters(w, s->body + pair->a, s->body + pair->b);
    embi_box_clear(pair->range);
    return pair;
}

/* May two bodies come so near each other, or one itself, that their panels are looked at? Then *reach is how near. */
static int embi_bodies_meet(const embipc_world *w, int i, int j, embipc_real *reach)
{
    const embi_body *a = w->s.body + i, *b = w->s.body + j;
    *reach = embi_max(a->dhat, b->dhat) + a->thickness + b->thickness;
    return (a->moving || b->moving) && embi_tested(w, a, b);
}

static int embi_regions_meet(const embi_panel *a, const embi_panel *b, embipc_real reach)
{
    for (int i = 0; i < 3; i++)
        if (a->region[i] - reach > b->region[3 + i] || a->region[3 + i] + reach < b->region[i]) return 0;
    return 1;
}

#define EMBI_SWEEP_UNITS ((embipc_real)2147483648.0)

/* The axis along which regions lie farthest apart, measured by their mean extent; *begin, *scale: coordinates there,
 * from 0 to 2^31. */
static int embi_regions_axis(const embi_swept *one, int count, embipc_real *begin, embipc_real *scale)
{
    embipc_real all[6], most = -1;
    int axis = 0;
    embi_box_clear(all);
    for (int i = 0; i < count; i++) embi_box_join(all, one[i].box);
    for (int c = 0; c < 3; c++) {
        embipc_real sum = 0, spread;
        for (int i = 0; i < count; i++) sum += one[i].box[3 + c] - one[i].box[c];
        spread = sum > 0 ? (all[3 + c] - all[c]) / sum : (embipc_real)0;
        if (!(spread > most)) continue;
        most = spread;
        axis = c;
    }
    *begin = all[axis];
    *scale = all[3 + axis] > all[axis] ? EMBI_SWEEP_UNITS / (all[3 + axis] - all[axis]) : (embipc_real)0;
    return axis;
}

/* All panels, in the order in which they begin. Returns how many; -1 out of memory. */
static int embi_regions_sort(embipc_world *w)
{
    embi_state *s = &w->s;
    embipc_real begin, scale;
    int axis, n = 0;
    embi_swept *one;
    for (int i = 0; i < s->body_count; i++) n += s->body[i].panel_count;
    if (!EMBI_GROW(&w->memory, embi_swept, w->swept, w->swept_cap, 2 * n) ||
        !EMBI_GROW(&w->memory, embi_key, w->tri_pairs, w->tri_pair_cap, 2 * n))
        return -1;
    one = w->swept + n;
    for (int i = 0; i < s->body_count; i++) {
        const embi_body *b = s->body + i;
        for (int k = 0; k < b->panel_count; k++, one++) {
            one->body = i;
            one->panel = k;
            for (int c = 0; c < 3; c++) {
                one->box[c] = b->panel[k].region[c] - b->dhat - b->thickness;
                one->box[3 + c] = b->panel[k].region[3 + c] + b->dhat + b->thickness;
            }
        }
    }
    one = w->swept + n;
    axis = embi_regions_axis(one, n, &begin, &scale);
    for (int i = 0; i < n; i++, one++) {
        one->begin = (embi_u64)embi_max(0, embi_min((one->box[axis] - begin) * scale, EMBI_SWEEP_UNITS));
        one->end = (embi_u64)embi_max(0, embi_min((one->box[3 + axis] - begin) * scale, EMBI_SWEEP_UNITS));
        w->tri_pairs[i].key = one->begin;
        w->tri_pairs[i].value = i;
    }
    embi_sort_keys(w->tri_pairs, w->tri_pairs + n, n);
    for (int i = 0; i < n; i++) w->swept[i] = w->swept[n + w->tri_pairs[i].value];
    return n;
}

/* Pairs of panels by their bodies, and those of two bodies by their values; behind them is as much room. */
static void embi_regions_order(embi_key *pair, int count)
{
    embi_sort_keys(pair, pair + count, count);
    for (int begin = 0, end; begin < count; begin = end) {
        embi_u64 bodies = pair[begin].key;
        for (end = begin; end < count && pair[end].key == bodies; end++) pair[end].key = (embi_u64)pair[end].value;
        embi_sort_keys(pair + begin, pair + count, end - begin);
        for (int n = begin; n < end; n++) pair[n].key = bodies;
    }
}

/* Pairs of panels whose regions meet, to w->tri_pairs: keys embi_pack(i, j), i <= j, of their bodies, sorted; values of
 * embi_panels_pack(), sorted as well. Each panel is looked at with those that begin along the axis before it ends; a
 * body and itself are one pair. Returns 0 out of memory. */
static int embi_regions_sweep(embipc_world *w)
{
    embi_state *s = &w->s;
    int n = embi_regions_sort(w);
    if (n < 0) return 0;
    w->tri_pair_count = 0;
    for (int p = 0; p < n; p++) {
        const embi_swept *one = w->swept + p, *two = one;
        for (int q = p; q < n && two->begin <= one->end; q++, two++) {
            const embi_swept *a = one->body <= two->body ? one : two, *b = a == one ? two : one;
            embipc_real reach;
            if (a->body == b->body ? p != q || a->panel : !embi_boxes_touch(one->box, two->box)) continue;
            if (!embi_bodies_meet(w, a->body, b->body, &reach) ||
                !embi_regions_meet(s->body[a->body].panel + a->panel, s->body[b->body].panel + b->panel, reach))
                continue;
            if (!EMBI_GROW(&w->memory, embi_key, w->tri_pairs, w->tri_pair_cap, 2 * w->tri_pair_count + 2)) return 0;
            w->tri_pairs[w->tri_pair_count].value = embi_panels_pack(a->panel, b->panel);
            w->tri_pairs[w->tri_pair_count++].key = embi_pack(a->body, b->body);
        }
    }
    embi_regions_order(w->tri_pairs, w->tri_pair_count);
    return 1;
}

/* The panels of pair n, or where n < 0 those that it stands for itself. */
static int embi_pair_panels(const embi_state *s, int n)
{
    return n < 0 ? -1 - n : embi_panels_pack(s->pair[n].pa, s->pair[n].pb);
}

/* Adds the pairs of w->tri_pairs that are not there yet. Returns 0 out of memory. */
static int embi_pairs_join(embipc_world *w)
{
    embi_state *s = &w->s;
    unsigned char known[EMBI_PANELS * EMBI_PANELS] = {0};
    int old = s->pair_count, count = old + w->tri_pair_count;
    embi_key *k;
    if (!EMBI_GROW(&w->memory, embi_key, w->tri_pairs, w->tri_pair_cap, 2 * count)) return 0;
    k = w->tri_pairs;
    memmove(k + old, k, (size_t)w->tri_pair_count * sizeof *k);
    for (int n = old; n < count; n++) k[n].value = -1 - k[n].value;   /* see embi_pair_panels() */
    for (int n = 0; n < old; n++) {
        k[n].key = embi_pack(s->pair[n].a, s->pair[n].b);
        k[n].value = n;
    }
    embi_sort_keys(k, k + count, count);
    for (int begin = 0, end; begin < count; begin = end) {
        int head = -1;
        for (end = begin; end < count && k[end].key == k[begin].key; end++) {
            int n = k[end].value, panels = embi_pair_panels(s, n);
            if (n < 0 && !known[panels]) {
                embi_pair *pair = embi_pair_add(w, k[end].key, panels, head);
                if (!pair) return 0;
                pair->late = old > 0;
                n = s->pair_count - 1;
            }
            if (n >= 0) head = s->pair[n].head;
            known[panels] = 1;
        }
        for (int n = begin; n < end; n++) known[embi_pair_panels(s, k[n].value)] = 0;
    }
    return 1;
}

/* All pairs of panels whose regions meet, each with its candidates. */
static int embi_pairs_begin(embipc_world *w)
{
    embi_state *s = &w->s;
    s->pair_count = s->candidate_count = s->stamp = w->search_count = 0;
    w->builds = 0;
    if (!embi_regions_sweep(w) || !embi_pairs_join(w)) return 0;
    for (int n = 0; n < s->pair_count; n++) {
        embi_pair *pair = s->pair + n;
        const embi_body *a = s->body + pair->a, *b = s->body + pair->b;
        embipc_real r[6];
        embi_relative_box(&a->shift, pair->pa, &b->shift, pair->pb, pair->range);   /* where they are: as yet 0 */
        embi_relative_box(&a->shift_next, pair->pa, &b->shift_next, pair->pb, r);
        embi_box_stretch(pair->range, r, pair->rule.dhat / 2);
        if (!embi_search_add(w, n)) return 0;
    }
    return embi_searches_run(w);
}

/* island of a pair: of the body that moves; -1 when neither does */
static int embi_pair_island(const embi_state *s, const embi_pair *p)
{
    return s->body[p->a].moving ? s->body[p->a].island : s->body[p->b].moving ? s->body[p->b].island : -1;
}

/* ---- BDF2: where velocities jump ----
 * A body that is stopped at q = q^n would leave with v = (3 q - 4 q^n + q^n-1)/2h = -v^n/2, and a force that
 * pushes one of two bodies by BDF2 and the other by backward Euler would not push them alike. So all bodies of
 * an island take the same rule, and one in which contacts jump finds the end of its step by backward Euler,
 * from where BDF2 has brought it. */

/* contacts of the island's pairs, and their forces on bodies a; when = 0: at q^n, 1: now */
static void embi_island_touches(embi_state *s, embi_island *I, int when)
{
    for (int n = 0; n < I->pair_count; n++) {
        embi_pair *pair = s->pair + s->pair[I->pairs[n]].head;
        pair->touching[when] = 0;
        embi_set(pair->push[when], 0, 0, 0);
    }
    for (int i = 0; i < I->contacts.count; i++) {
        const embi_contact *c = I->contacts.list + i;
        embi_pair *pair = s->pair + c->pair;
        const embi_body *a = s->body + pair->a;
        pair->touching[when] = 1;
        for (int k = 0; k < 4; k++)
            if (c->v[k] >= a->vert0 && c->v[k] < a->vert0 + a->nv)
                embi_axpy(pair->push[when], -c->first * c->w[k], c->n);
    }
}

/* Velocity of a body as a whole at q^n; returns 1/mass, 0 for what contacts do not move. */
static embipc_real embi_body_drift(const embi_state *s, const embi_body *b, embipc_real v[3])
{
    embi_set(v, 0, 0, 0);
    for (int i = 0; i < b->nn; i++)
        embi_axpy(v, embi_is_dynamic(b) ? b->node_mass[i] / b->total_mass : 1 / (embipc_real)b->nn,
                  s->vn + 3 * (b->node0 + i));
    return embi_is_dynamic(b) && b->driven_nodes < b->nn ? 1 / b->total_mass : (embipc_real)0;
}

/* Did the bodies of a pair hit or leave one another, or push harder at once? */
static int embi_pair_jumps(const embi_state *s, const embi_pair *pair)
{
    const embi_body *a = s->body + pair->a, *b = s->body + pair->b;
    embipc_real va[3], vb[3], change[3], mobility;
    if (pair->touching[0] != pair->touching[1]) return 1;
    if (pair->a == pair->b || !pair->touching[0]) return 0;
    mobility = embi_body_drift(s, a, va) + embi_body_drift(s, b, vb);
    embi_sub(va, va, vb);
    embi_sub(change, pair->push[1], pair->push[0]);
    return s->h * mobility * embi_norm(change) >
           embi_jump_limit(s, embi_norm(va), embi_max(a->tolerance, b->tolerance));
}

/* By how much E is higher now than at q^n, beyond rounding, J s^2; 0 where a drive moved something: it may be. */
static embipc_real embi_island_rise(embi_state *s, embi_island *I)
{
    embipc_real now = s->hh * I->contacts.energy, before = s->hh * I->barrier_before, size = 0, force;
    before += s->hh * embi_island_spring_energy(I, s->xn, &size);
    now += s->hh * embi_island_spring_energy(I, s->x, &size);
    now += s->hh * embi_friction_energy(I->friction, I->friction_count, &force);
    size = s->hh * (size + (I->contacts.force + force) * I->noise_x);
    for (int k = 0; k < I->body_count; k++) {
        embi_body *b = s->body + I->bodies[k];
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++)
            if (s->local[i / 3] < 0 && s->q[i] != s->qn[i]) return 0;
        now += embi_body_objective(s, b, s->q, &size);
        before += embi_body_objective(s, b, s->qn, &size);
    }
    return embi_max(0, now - before - 64 * EMBI_EPS * (size + embi_abs(now) + embi_abs(before)));
}

/* The bodies go back to q^n. Returns 0 out of memory. */
static int embi_island_back(embi_memory *m, embi_state *s, embi_island *I)
{
    for (int k = 0; k < I->body_count; k++) {
        embi_body *b = s->body + I->bodies[k];
        memcpy(s->q + 3 * b->node0, s->qn + 3 * b->node0, (size_t)(3 * b->nn) * sizeof *s->q);
        for (int i = 0; i < b->live_count; i++)
            embi_copy(s->x + 3 * (b->vert0 + b->live[i]), s->xn + 3 * (b->vert0 + b->live[i]));
        embi_body_came(s, b);
        embi_body_gradient(s, b);
    }
    if (!embi_island_evaluate(m, s, I)) return 0;
    embi_island_contact_energy(s, I, s->q, s->x);
    return 1;
}

/* The step of these bodies becomes one of backward Euler, from where they are, or where its E is higher there than
 * at q^n, from q^n: so E never grows. Returns 0 out of memory. */
static int embi_island_restart(embi_memory *m, embi_state *s, embi_island *I)
{
    for (int k = 0; k < I->body_count; k++) {
        embi_body *b = s->body + I->bodies[k];
        if (!b->two_step) continue;
        embi_body_integrate(s, b, 0);
        embi_body_turn(b, s->qn);
        embi_body_gradient(s, b);
    }
    I->converged = I->old_factor = I->just_drove = 0;
    I->stride = 0;
    I->system.kept = 0;   /* it holds another A */
    return embi_island_rise(s, I) > 0 ? embi_island_back(m, s, I) : 1;
}

/* Backward Euler for an island in which some body cannot look back. Returns 0 out of memory. */
static int embi_island_agree(embi_memory *m, embi_state *s, embi_island *I)
{
    int one = 0, two = 0;
    for (int k = 0; k < I->body_count; k++) {
        const embi_body *b = s->body + I->bodies[k];
        one |= embi_is_dynamic(b) && !b->two_step;
        two |= b->two_step;
    }
    return one && two ? embi_island_restart(m, s, I) : 1;
}

/* At the end of an island's step: whether its velocities jumped, or it was cut short. Returns 1 when it was by
 * BDF2 and no longer is, -1 out of memory. */
static int embi_island_jumps(embi_memory *m, embi_state *s, embi_island *I, int cut)
{
    int jump = cut, two_step = 0;
    if (s->integrator != EMBIPC_BDF2) return 0;
    embi_island_touches(s, I, 1);
    for (int n = 0; n < I->pair_count; n++) jump |= embi_pair_jumps(s, s->pair + s->pair[I->pairs[n]].head);
    for (int n = 0; n < s->drive_count; n++)
        jump |= s->body[s->drives[n].body].island == I->index && s->drives[n].blocked;
    for (int k = 0; k < I->body_count; k++) {
        jump |= s->body[I->bodies[k]].jump;
        two_step |= s->body[I->bodies[k]].two_step;
    }
    for (int k = 0; k < I->body_count; k++) s->body[I->bodies[k]].jump = jump;
    if (jump && two_step && !embi_island_restart(m, s, I)) return -1;
    return jump && two_step;
}

/* The pair joins the list, behind others of the same bodies. */
static void embi_island_list_pair(const embi_state *s, embi_island *I, int n)
{
    int at = I->pair_count++, head = s->pair[n].head, end = at;
    while (s->pair[n].late && end > 0 && s->pair[I->pairs[end - 1]].head != head) end--;
    for (; end > 0 && at > end; at--) I->pairs[at] = I->pairs[at - 1];
    I->pairs[at] = n;
}

/* Lists of bodies, pairs, springs and unknowns of all islands; changed: not NULL, only of those it says so of. */
static int embi_islands_collect(embipc_world *w, const int *changed)
{
    embi_state *s = &w->s;
    embi_memory *m = &w->memory;
    for (int k = 0; k < w->order_count; k++) {
        embi_island *I = w->island[w->order[k]];
        if (changed && !changed[w->order[k]]) continue;
        I->body_count = I->pair_count = 0;
        I->noise_x = I->stride = 0;
        if (!changed) I->reach = 0;   /* within the step what it has become stays */
    }
    for (int i = 0; i < s->body_count; i++) {
        int root = s->body[i].island;
        embi_island *I;
        if (!s->body[i].moving || (changed && !changed[root])) continue;
        I = w->island[root];
        if (!EMBI_GROW(m, int, I->bodies, I->body_cap, I->body_count + 1)) return 0;
        I->bodies[I->body_count++] = i;
        I->noise_x = embi_max(I->noise_x, s->body[i].scale_x);
        I->reach = embi_max(I->reach, s->body[i].foreseen);
    }
    for (int n = 0; n < s->pair_count; n++) {
        int root = s->pair[n].count ? embi_pair_island(s, s->pair + n) : -1;
        embi_island *I;
        if (root < 0 || (changed && !changed[root])) continue;
        I = w->island[root];
        if (!EMBI_GROW(m, int, I->pairs, I->pair_cap, I->pair_count + 1)) return 0;
        embi_island_list_pair(s, I, n);
    }
    for (int k = 0; k < w->order_count; k++) {
        embi_island *I = w->island[w->order[k]];
        if (changed && !changed[w->order[k]]) continue;
        if (!embi_island_springs(m, s, I) || !embi_island_number(m, s, I)) return 0;
    }
    return 1;
}

/* ---- islands side by side ----
 * Islands know nothing of each other while none is searched for. So in each round the small ones are shared among
 * threads, a run of them at a time, in which nothing else is; a large one, of more than half of the work, goes by itself
 * and its loops are shared. */

typedef embipc_result embi_island_fn(embipc_world *w, embi_state *s, embi_island *I);

typedef struct embi_round {
    embipc_world *w;
    embi_island_fn *fn;
} embi_round;

#define EMBI_SHARE_ISLANDS EMBI_SHARE(15)   /* us; and no more than so many runs: */
#define EMBI_RUNS 64

/* Estimated time of a round for an island, us: of nodes, and of candidates that are told by one number [measured] */
static int embi_island_work(const embi_state *s, const embi_island *I)
{
    long long candidates = 0;
    for (int n = 0; n < I->pair_count; n++) candidates += s->pair[I->pairs[n]].count;
    return (int)embi_min(1 + I->unknown_count + (embipc_real)candidates / 64, INT_MAX / 4);
}

static embipc_result embi_round_one(const embi_round *t, embi_state *s, int root)
{
    embi_island *I = t->w->island[root];
    I->system.F.threads = s->threads.run ? &s->threads : NULL;
    return t->fn(t->w, s, I);
}

/* Runs of islands, each with a state of its own where that is not the bodies'. */
static void embi_round_range(void *arg, int begin, int end)
{
    const embi_round *t = (const embi_round *)arg;
    const embi_state *s = &t->w->s;
    for (int n = begin; n < end; n++) {
        const embi_chunk *run = t->w->run.list + n;
        embi_run *out = t->w->run_end + n;
        embi_state own = *s;
        own.threads.run = NULL;
        memset(own.spent, 0, sizeof own.spent);
        own.since = s->clock ? s->clock(s->clock_ctx) : 0;
        out->result = EMBIPC_OK;
        for (int k = run->begin; k < run->end && out->result == EMBIPC_OK; k++)
            out->result = embi_round_one(t, &own, t->w->round[k]);
        (void)embi_stage(&own, s->stage);
        out->stamp = own.stamp;
        memcpy(out->spent, own.spent, sizeof own.spent);
    }
}

/* The time since is shared out as the runs spent theirs. */
static void embi_round_time(embipc_world *w)
{
    embi_state *s = &w->s;
    double sum = 0, spent[EMBIPC_STAGE_COUNT] = {0}, now = s->clock ? s->clock(s->clock_ctx) : 0;
    for (int n = 0; n < w->run.count; n++)
        for (int i = 0; i < EMBIPC_STAGE_COUNT; i++) {
            spent[i] += w->run_end[n].spent[i];
            sum += w->run_end[n].spent[i];
        }
    for (int i = 0; i < EMBIPC_STAGE_COUNT && sum > 0; i++) s->spent[i] += (now - s->since) * spent[i] / sum;
    if (sum > 0) s->since = now;
}

/* Islands first .. of the round, in runs of enough work that threads share. */
static embipc_result embi_round_share(embi_round *t, int first, int enough)
{
    embipc_world *w = t->w;
    embi_state *s = &w->s;
    embipc_result r = EMBIPC_OK;
    embi_chunks_clear(&w->run);
    for (int k = first, begin = first, work = 0; k < w->round_count; k++) {
        work += embi_island_work(s, w->island[w->round[k]]);
        if (work < enough && k + 1 < w->round_count) continue;
        if (!embi_chunks_add(&w->memory, &w->run, 0, begin, k + 1, INT_MAX)) return EMBIPC_ERR_MEMORY;
        begin = k + 1;
        work = 0;
    }
    if (!EMBI_GROW(&w->memory, embi_run, w->run_end, w->run_end_cap, w->run.count)) return EMBIPC_ERR_MEMORY;
    embi_for(&s->threads, w->run.count, 1, embi_round_range, t);
    for (int n = w->run.count - 1; n >= 0; n--) {
        if (w->run_end[n].result != EMBIPC_OK) r = w->run_end[n].result;   /* in the end, the first one */
        s->stamp = embi_max_int(s->stamp, w->run_end[n].stamp);
    }
    embi_round_time(w);
    return r;
}

/* fn for the islands of w->round */
static embipc_result embi_islands_round(embipc_world *w, embi_island_fn *fn)
{
    embi_state *s = &w->s;
    embi_round t;
    embipc_result r = EMBIPC_OK;
    int *round = w->round, largest = 0, most = 0, first;
    long long total = 0;
    t.w = w;
    t.fn = fn;
    for (int k = 0; k < w->round_count && EMBI_ATOMIC && s->threads.run; k++) {
        int work = embi_island_work(s, w->island[round[k]]);
        total += work;
        if (work > most) {
            most = work;
            largest = k;
        }
    }
    first = most > total / 2;
    if (total - (first ? most : 0) < 2 * EMBI_SHARE_ISLANDS) {
        for (int k = 0; k < w->round_count && r == EMBIPC_OK; k++) r = embi_round_one(&t, s, round[k]);
        return r;
    }
    if (first) {
        int by_itself = round[largest];
        memmove(round + 1, round, (size_t)largest * sizeof *round);
        round[0] = by_itself;
        if ((r = embi_round_one(&t, s, by_itself)) != EMBIPC_OK) return r;
    }
    return embi_round_share(&t, first, embi_max_int(EMBI_SHARE_ISLANDS, (int)(total / EMBI_RUNS)));
}

/* The first contacts of an island in a step. */
static embipc_result embi_island_start(embipc_world *w, embi_state *s, embi_island *I)
{
    if (!embi_island_evaluate(&w->memory, s, I) ||
        !embi_island_lag_friction(&w->memory, s, I, w->memory_key, w->memory_count, w->memory_u))
        return EMBIPC_ERR_MEMORY;
    I->barrier_before = I->contacts.energy;
    if (s->integrator == EMBIPC_BDF2) {
        embi_island_touches(s, I, 0);
        if (!embi_island_agree(&w->memory, s, I)) return EMBIPC_ERR_MEMORY;
    }
    embi_island_contact_energy(s, I, s->q, s->x);
    embi_island_recall(s, I);
    I->guess = embi_island_guess_order(s, I);
    return EMBIPC_OK;
}

/* Links moving bodies by pairs that have candidates; parent: union-find, the smallest body wins. */
static int embi_islands_begin(embipc_world *w)
{
    embi_state *s = &w->s;
    w->order_count = 0;
    for (int i = 0; i < s->body_count; i++) w->parent[i] = i;
    for (int n = 0; n < s->pair_count; n++)
        if (s->pair[n].count && s->body[s->pair[n].a].moving && s->body[s->pair[n].b].moving)
            embi_join(w->parent, s->pair[n].a, s->pair[n].b);
    for (int i = 0; i < s->body_count; i++)
        if (s->body[i].moving) s->body[i].island = embi_root(w->parent, i);
    for (int i = 0; i < s->body_count; i++) {
        embi_island *I;
        if (!s->body[i].moving || s->body[i].island != i) continue;
        if (!w->island[i] && !(w->island[i] = (embi_island *)embi_alloc(&w->memory, 1, sizeof **w->island)))
            return 0;
        I = w->island[i];
        w->order[w->order_count++] = i;
        I->index = i;
        I->active = I->first = 1;
        I->analysed = I->iterations = I->factorizations = I->regularized = I->converged = I->old_factor = 0;
        I->just_drove = I->just_guessed = 0;
        I->passes = s->friction_iterations;
        I->curved = I->crawl = I->slow = 0;
        I->keep = 0;
        I->too_much = 2;
        I->measure = I->last_measure = 0;
    }
    if (!embi_islands_collect(w, NULL)) return 0;
    w->round_count = 0;
    for (int k = 0; k < w->order_count; k++) w->round[w->round_count++] = w->order[k];
    return embi_islands_round(w, embi_island_start) == EMBIPC_OK;
}

/* ---- iterate ---- */

static int embi_iteration_record(embipc_world *w, const embipc_iteration *r)
{
    if (!EMBI_GROW(&w->memory, embipc_iteration, w->iteration, w->iteration_cap, w->iteration_count + 1))
        return 0;
    w->iteration[w->iteration_count++] = *r;
    return 1;
}

/* The islands of a and b become one: bodies, pairs, friction. Its direction is void until the next round;
 * is_new: so far each has its own. */
static int embi_islands_merge(embipc_world *w, int a, int b, int is_new)
{
    embi_state *s = &w->s;
    embi_memory *m = &w->memory;
    int into = embi_min_int(a, b), from = embi_max_int(a, b), kept = 0;
    embi_island *I = w->island[into], *J = w->island[from];
    if ((is_new && I->active && !I->guess && !embi_iteration_record(w, &I->record)) ||
        (J->active && !J->guess && !embi_iteration_record(w, &J->record)))
        return 0;
    for (int i = 0; i < s->body_count; i++)
        if (s->body[i].moving && s->body[i].island == from) s->body[i].island = into;
    for (int i = 0; i < w->order_count; i++)
        if (w->order[i] != from) w->order[kept++] = w->order[i];
    w->order_count = kept;
    if (!EMBI_GROW(m, embi_friction, I->friction, I->friction_cap, I->friction_count + J->friction_count))
        return 0;
    if (J->friction_count)
        memcpy(I->friction + I->friction_count, J->friction, (size_t)J->friction_count * sizeof *J->friction);
    I->friction_count += J->friction_count;
    I->iterations = embi_max_int(I->iterations, J->iterations);
    I->factorizations += J->factorizations;
    I->regularized += J->regularized;
    I->active = 1;
    I->converged = I->old_factor = I->kept = 0;   /* a factor is of the bodies that were there */
    I->first &= J->first;
    I->passes = embi_max_int(1, embi_max_int(I->passes, J->passes));
    I->guess = 0;
    I->just_guessed |= J->just_guessed;
    I->curved |= J->curved;
    I->barrier_before += J->barrier_before;
    return 1;
}

/* Has the panel left its region? Then it gets a larger one. */
static int embi_panel_strays(const embi_body *b, embi_panel *one)
{
    embipc_real now[6];
    for (int c = 0; c < 6; c++) now[c] = one->start_box[c] + one->hull[c];
    if (embi_box_holds(one->region, now)) return 0;
    embi_box_stretch(one->region, now, b->dhat);
    return 1;
}

/* Panels that leave their regions may have new neighbours, whose ranges are empty: that they are will be found out.
 * Returns 0 out of memory. */
static int embi_neighbours_check(embipc_world *w)
{
    embi_state *s = &w->s;
    int strayed = 0;
    for (int i = 0; i < s->body_count; i++)
        for (int n = 0; n < s->body[i].panel_count && s->body[i].moving; n++)
            strayed |= embi_panel_strays(s->body + i, s->body[i].panel + n);
    return !strayed || (embi_regions_sweep(w) && embi_pairs_join(w));
}

/* Everything the present directions visit must stay in the ranges the candidates were searched for; where it
 * does not they are searched anew. changed[root] is set for islands whose candidates changed, 2 for those
 * that were joined. */
static int embi_ranges_check(embipc_world *w, int *changed)
{
    embi_state *s = &w->s;
    int searched;
    if (!embi_neighbours_check(w)) return 0;
    w->search_count = 0;
    for (int n = 0; n < s->pair_count; n++) {
        embi_pair *p = s->pair + n;
        const embi_body *a = s->body + p->a, *b = s->body + p->b;
        embipc_real r[6], now[6];
        if (!a->moving || !b->moving || a->island == b->island) {
            if (embi_pair_stays(s, p)) continue;
            embi_relative_box(&a->shift_next, p->pa, &b->shift_next, p->pb, r);
        } else {
            embi_difference_box(a->panel[p->pa].hull, b->panel[p->pb].hull, r);
            if (embi_box_holds(p->range, r)) continue;
        }
        embi_relative_box(&a->shift, p->pa, &b->shift, p->pb, now);
        embi_range_stretch(p->range, now, r, p->rule.dhat / 2);
        if (!embi_search_add(w, n)) return 0;
    }
    searched = w->search_count;
    if (!embi_searches_run(w)) return 0;
    for (int n = 0; n < searched; n++) {
        const embi_pair *p = s->pair + w->search[n].pair;
        int ia = s->body[p->a].moving ? s->body[p->a].island : -1;
        int ib = s->body[p->b].moving ? s->body[p->b].island : -1;
        if (ia >= 0) changed[ia] = embi_max_int(changed[ia], 1);
        if (ib >= 0) changed[ib] = embi_max_int(changed[ib], 1);
        if (ia < 0 || ib < 0 || ia == ib || !p->count) continue;
        if (!embi_islands_merge(w, ia, ib, changed[embi_min_int(ia, ib)] < 2)) return 0;
        changed[embi_min_int(ia, ib)] = 2;
    }
    return 1;
}

/* New candidates, in its lists already: the island's contacts at its present positions. */
static int embi_island_refresh(embi_memory *m, embi_state *s, embi_island *I)
{
    if (!embi_island_evaluate(m, s, I)) return 0;
    I->safe_known = 0;
    I->analysed = I->analysed && I->same;   /* the order serves while the contacts have their places in it */
    if (s->integrator == EMBIPC_BDF2 && !embi_island_agree(m, s, I)) return 0;
    embi_island_contact_energy(s, I, s->q, s->x);
    return 1;
}

/* a rotation that a cut-short step leaves half done goes back to its last rigid pose */
static embipc_result embi_island_cut(embipc_world *w, embi_island *I)
{
    embi_state *s = &w->s;
    int half = 0;
    for (int n = 0; n < s->drive_count; n++)
        half |=
            s->body[s->drives[n].body].island == I->index && s->drives[n].rotating && s->drives[n].phi > 0;
    I->active = 0;
    if (embi_island_jumps(&w->memory, s, I, 1) < 0) return EMBIPC_ERR_MEMORY;
    return half ? embi_island_roll_back(&w->memory, s, I) : EMBIPC_OK;
}

/* a body that stays where it is in this round */
static void embi_island_rest(embi_state *s, const embi_island *I)
{
    for (int k = 0; k < I->body_count; k++)
        embi_shift_copy(s->body + I->bodies[k], &s->body[I->bodies[k]].shift_next, &s->body[I->bodies[k]].shift);
}

/* The first half of an iteration: the next direction, or guess, as far as it is free of what is near. */
static embipc_result embi_island_look(embipc_world *w, embi_state *s, embi_island *I)
{
    embipc_result r;
    if (I->guess) embi_island_guess(s, I);
    else if ((r = embi_island_direction(&w->memory, s, I)) != EMBIPC_OK) return r;
    return embi_island_aim(&w->memory, s, I) ? EMBIPC_OK : EMBIPC_ERR_MEMORY;
}

/* The second half, once all that the directions pass is among the candidates: the move. */
static embipc_result embi_island_go(embipc_world *w, embi_state *s, embi_island *I)
{
    embi_memory *m = &w->memory;
    embipc_result r;
    int jumps;
    if (I->changed && !embi_island_refresh(m, s, I)) return EMBIPC_ERR_MEMORY;
    if (!I->active || I->changed == 2) return EMBIPC_OK;
    if (I->guess) return embi_island_try_guess(m, s, I);
    if ((r = embi_island_advance(m, s, I)) != EMBIPC_OK) return r;
    I->recorded = 0;
    if (I->converged) I->active = --I->passes > 0;
    jumps = I->active ? 0 : embi_island_jumps(m, s, I, 0);
    if (jumps < 0) return EMBIPC_ERR_MEMORY;
    if (jumps) I->active = I->passes = 1;
    if (jumps || !I->active || !I->converged) return EMBIPC_OK;
    I->converged = I->old_factor = 0;   /* another pass, with the friction forces of now */
    if (!embi_island_lag_friction(m, s, I, NULL, 0, NULL)) return EMBIPC_ERR_MEMORY;
    embi_island_contact_energy(s, I, s->q, s->x);
    return EMBIPC_OK;
}

/* Islands that may not go on are cut, those at rest stay; the others are the round. */
static embipc_result embi_islands_next(embipc_world *w)
{
    embi_state *s = &w->s;
    embipc_result r;
    w->round_count = 0;
    for (int k = 0; k < w->order_count; k++) {
        embi_island *I = w->island[w->order[k]];
        if (I->active && (I->iterations >= s->max_iterations || (I->iterations > 0 && s->stop && *s->stop)) &&
            (r = embi_island_cut(w, I)) != EMBIPC_OK)
            return r;
        if (I->active) w->round[w->round_count++] = w->order[k];
        else embi_island_rest(s, I);
    }
    return EMBIPC_OK;
}

static embipc_result embi_iterate(embipc_world *w)
{
    embi_state *s = &w->s;
    embipc_result r;
    int *changed = w->parent;   /* union-find is done with */
    for (;;) {
        for (int i = 0; i < s->body_count; i++) changed[i] = 0;
        if ((r = embi_islands_next(w)) != EMBIPC_OK) return r;
        if (w->round_count == 0) return EMBIPC_OK;
        if ((r = embi_islands_round(w, embi_island_look)) != EMBIPC_OK) return r;
        (void)embi_stage(s, EMBIPC_STAGE_SEARCH);
        if (!embi_ranges_check(w, changed) || !embi_islands_collect(w, changed)) return EMBIPC_ERR_MEMORY;
        (void)embi_stage(s, EMBIPC_STAGE_MOVE);
        w->round_count = 0;
        for (int k = 0; k < w->order_count; k++) {
            embi_island *I = w->island[w->order[k]];
            I->changed = changed[w->order[k]];
            I->recorded = 1;
            if (I->active || I->changed) w->round[w->round_count++] = w->order[k];
        }
        if ((r = embi_islands_round(w, embi_island_go)) != EMBIPC_OK) return r;
        for (int k = 0; k < w->order_count; k++)
            if (!w->island[w->order[k]]->recorded && !embi_iteration_record(w, &w->island[w->order[k]]->record))
                return EMBIPC_ERR_MEMORY;
    }
}

/* ---- finish ---- */

/* after an error: the world as it was before the call */
static void embi_step_undo(embipc_world *w)
{
    embi_state *s = &w->s;
    s->revision++;
    if (s->node_count) {
        memcpy(s->q, s->qn, (size_t)(3 * s->node_count) * sizeof *s->q);
        memcpy(s->v, s->vn, (size_t)(3 * s->node_count) * sizeof *s->v);
    }
    for (int k = 0; k < s->body_count; k++) {
        embi_elastic *e = &s->body[k].elastic;
        embi_apply_live(s, s->body + k, s->q, s->x);
        if (e->nt && !e->nonlinear)
            memcpy(e->rotation, e->rotation_other, (size_t)(18 * e->lanes) * sizeof *e->rotation);
    }
}

/* anything of the body, in this step */
static int embi_has_moved(const embi_body *b) { return b->moving && embi_box_norm(b->shift.box) > 0; }

/* Of what moved only x of those viewed is J q. */
static void embi_bodies_moved(embi_state *s)
{
    for (int k = 0; k < s->body_count; k++) {
        embi_body *b = s->body + k;
        if (!embi_has_moved(b)) continue;
        b->started = 0;
        b->followed = b->viewed;
    }
}

/* v at the end of the step, and what the next one may look back on */
static void embi_velocities_finish(embi_state *s)
{
    size_t nodes = (size_t)(3 * s->node_count) * sizeof *s->q;
    for (int k = 0; k < s->body_count; k++) {
        embi_body *b = s->body + k;
        for (int i = 3 * b->node0; i < 3 * (b->node0 + b->nn); i++) s->v[i] = (s->q[i] - s->qc[i]) / b->c;
        b->history = embi_is_dynamic(b) && b->moving && !b->jump;
        embi_body_remember(s, b);
    }
    if (!s->node_count) return;
    memcpy(s->q_before, s->qn, nodes);
    memcpy(s->v_before, s->vn, nodes);
}

/* grad E in g, at every node that is driven: of bodies at rest, too, which are in no island and whose vertices are still
 * while islands are solved side by side, which is over */
static void embi_drives_gradient(embipc_world *w)
{
    embi_state *s = &w->s;
    for (int n = 0; n < s->drive_count; n++) {
        embi_body *b = s->body + s->drives[n].body;
        embi_bodies_task t;
        t.s = s;
        if (b->moving) continue;
        embi_body_part_of_gradient(&t, b, 0);
        for (int i = 0; i < b->live_count; i++) s->known[b->vert0 + b->live[i]] = EMBI_VERTEX_LIVE;
    }
    for (int k = 0; k < w->order_count && s->drive_count; k++) {
        embi_island *I = w->island[w->order[k]];
        I->touched_stamp = -1;
        embi_island_gradient(s, I);
    }
}

/* One more force f of a drive, at x. */
static void embi_drive_feel(embi_drive *d, const embipc_real pose[6], const embipc_real x[3], const embipc_real f[3])
{
    embipc_real arm[3], torque[3];
    embi_sub(arm, x, d->centre);
    embi_sub(arm, arm, pose);
    embi_cross(torque, arm, f);
    embi_axpy(d->reached.force, 1, f);
    embi_axpy(d->reached.torque, 1, torque);
}

/* how far it is from where it should be, and how it pulls */
static void embi_soft_drive_finish(embi_state *s, embi_drive *d)
{
    embipc_real Rn[9], R[9], y[3], f[3];
    embi_m3_rotation(Rn, d->pose + 3);
    embi_m3_rotation(R, d->pose_next + 3);
    for (int k = 0; k < d->node_count; k++) {
        embi_spring p = embi_drive_spring(s, d, Rn, R, k, y);
        const embipc_real *x = s->x + 3 * p.v;
        d->reached.limited += embi_spring_gradient(&p, x, f) < 1;
        embi_scale(f, -1, f);
        embi_drive_feel(d, d->pose_next, x, f);
        for (int i = 0; i < 3; i++) y[i] = p.K[i] > 0 ? x[i] - y[i] : (embipc_real)0;
        d->reached.short_m = embi_max(d->reached.short_m, embi_norm(y));
    }
    memcpy(d->pose, d->pose_next, sizeof d->pose);
}

/* Where each drive got to, how far that is from where it should be, and its force. */
static void embi_drives_finish(embipc_world *w)
{
    embi_state *s = &w->s;
    embi_drives_gradient(w);
    for (int n = 0; n < s->drive_count; n++) {
        embi_drive *d = s->drives + n;
        const embi_body *b = s->body + d->body;
        embipc_real share = ((embipc_real)d->stage + d->phi) / (embipc_real)d->stages;
        memset(&d->reached, 0, sizeof d->reached);
        if (d->soft) {
            embi_soft_drive_finish(s, d);
            continue;
        }
        if (d->blocked) {
            d->reached.blocked = 1;
            d->reached.blocked_by = d->blocked_by;
            d->reached.gap = d->gap;
        }
        if (d->stage == d->stages || (d->done && !d->blocked)) memcpy(d->pose, d->pose_next, sizeof d->pose);
        else {
            for (int i = 0; i < 6; i++) d->pose[i] += share * (d->pose_next[i] - d->pose[i]);
            d->stage = d->stages - 1;
            embi_drive_aim(s, d);   /* the target of the whole step */
            for (int k = 0; k < d->node_count; k++) {
                embipc_real r[3];
                embi_sub(r, s->target + 3 * (b->node0 + d->nodes[k]), s->q + 3 * (b->node0 + d->nodes[k]));
                d->reached.short_m = embi_max(d->reached.short_m, embi_norm(r));
            }
        }
        for (int k = 0; k < d->node_count; k++) {
            int i = 3 * (b->node0 + d->nodes[k]);
            embipc_real f[3];
            embi_scale(f, 1 / s->hh, s->g + i);
            embi_drive_feel(d, d->pose, s->q + i, f);
        }
    }
}

/* adds scale weight_k r to the force on each vertex of a contact; the weights carry the sign of the side */
static void embi_report_vertex(embipc_world *w, const int v[4], const embipc_real weight[4], embipc_real scale,
                               const embipc_real r[3])
{
    for (int k = 0; k < 4; k++) {
        embi_axpy(w->s.vertex_force + 3 * v[k], scale * weight[k], r);
        w->pressed[w->pressed_count++] = v[k];
    }
}

/* adds a force to the row of the pair (a, b), which is made when it is not there */
static void embi_report_pair(embipc_world *w, int pair, const embipc_real f[3], int is_friction)
{
    embi_pair *p = w->s.pair + pair;
    embipc_pair_force *row;
    if (p->a == p->b) return;
    if (p->row < 0) {
        p->row = w->pair_force_count++;
        memset(w->pair_force + p->row, 0, sizeof *w->pair_force);
        w->pair_force[p->row].a = w->s.body[p->a].handle;
        w->pair_force[p->row].b = w->s.body[p->b].handle;
    }
    row = w->pair_force + p->row;
    embi_add(row->force, row->force, f);
    if (is_friction) embi_add(row->friction, row->friction, f);
    else row->contacts++;
}

/* force on body a of a pair: the part of a contact's four vertex forces scale w_k r that falls on a */
static void embi_force_on_a(const embi_state *s, const embi_pair *p, const int v[4], const embipc_real w[4],
                            embipc_real scale, const embipc_real r[3], embipc_real f[3])
{
    const embi_body *a = s->body + p->a;
    embi_set(f, 0, 0, 0);
    for (int k = 0; k < 4; k++)
        if (v[k] >= a->vert0 && v[k] < a->vert0 + a->nv) embi_axpy(f, scale * w[k], r);
}

static void embi_report_contact(embipc_world *w, const embi_contact *c)
{
    embi_state *s = &w->s;
    embipc_contact *out = w->contact + w->contact_count++;
    int split = c->edge_edge ? 2 : 1;
    memset(out, 0, sizeof *out);
    out->a = s->body[embi_body_of_vertex(s, c->v[0])].handle;
    out->b = s->body[embi_body_of_vertex(s, c->v[3])].handle;
    out->edge_edge = c->edge_edge;
    for (int k = 0; k < 4; k++)
        embi_axpy(k < split ? out->point_a : out->point_b, k < split ? c->w[k] : -c->w[k],
                  s->x + 3 * c->v[k]);
    embi_copy(out->normal, c->n);
    out->distance = c->gap;
    out->force = -c->first;
}

/* Room for the whole report, so that nothing of the last one is lost before this one is sure. */
static int embi_report_reserve(embipc_world *w)
{
    embi_memory *m = &w->memory;
    int contacts = 0, friction = 0;
    for (int k = 0; k < w->order_count; k++) {
        contacts += w->island[w->order[k]]->contacts.count;
        friction += w->island[w->order[k]]->friction_count;
    }
    return EMBI_GROW(m, embi_key, w->memory_key, w->memory_key_cap, 2 * friction) &&
           EMBI_GROW(m, embipc_real, w->memory_u, w->memory_u_cap, friction) &&
           EMBI_GROW(m, embipc_contact, w->contact, w->contact_cap, contacts) &&
           EMBI_GROW(m, int, w->pressed, w->pressed_cap, 4 * (contacts + friction)) &&
           EMBI_GROW(m, embipc_pair_force, w->pair_force, w->pair_force_cap, w->s.pair_count);
}

/* barrier forces of one island */
static void embi_report_barrier(embipc_world *w, const embi_island *I)
{
    embi_state *s = &w->s;
    for (int i = 0; i < I->contacts.count; i++) {
        const embi_contact *c = I->contacts.list + i;
        const embi_pair *pair = s->pair + c->pair;
        const embi_body *a = s->body + pair->a;
        embipc_real f[3];
        embi_report_vertex(w, c->v, c->w, -c->first, c->n);
        embi_force_on_a(s, pair, c->v, c->w, -c->first, c->n, f);
        for (int j = 0; c->extra >= 0 && j < 4; j++) {
            const embipc_real *g = I->contacts.extra + 12 * c->extra + 3 * j;
            embi_axpy(s->vertex_force + 3 * c->v[j], -1, g);
            if (c->v[j] >= a->vert0 && c->v[j] < a->vert0 + a->nv) embi_axpy(f, -1, g);
        }
        embi_report_pair(w, c->pair, f, 0);
        embi_report_contact(w, c);
    }
}

/* friction forces of one island, and what the next step should remember of them */
static void embi_report_friction(embipc_world *w, const embi_island *I)
{
    embi_state *s = &w->s;
    for (int i = 0; i < I->friction_count; i++) {
        const embi_friction *c = I->friction + i;
        embipc_real across, y = embi_norm(c->u), f[3];
        (void)embipc_friction(y, c->e, &across, NULL);
        embi_report_vertex(w, c->v, c->w, -c->weight * across, c->u);
        embi_force_on_a(s, s->pair + c->pair, c->v, c->w, -c->weight * across, c->u, f);
        embi_report_pair(w, c->pair, f, 1);
        w->memory_key[w->memory_count].key = c->key;
        w->memory_key[w->memory_count].value = w->memory_count;
        w->memory_u[w->memory_count++] = y;
    }
}

/* Forces of the step's end, by vertex and by pair of bodies, and the memory of the friction contacts. Cannot
 * fail. */
static void embi_report(embipc_world *w)
{
    w->contact_count = w->pair_force_count = w->memory_count = 0;
    for (int k = 0; k < w->s.pair_count; k++) w->s.pair[k].row = -1;
    embi_report_clear(w);
    for (int k = 0; k < w->order_count; k++) {
        embi_report_barrier(w, w->island[w->order[k]]);
        embi_report_friction(w, w->island[w->order[k]]);
    }
    if (w->memory_count) embi_sort_keys(w->memory_key, w->memory_key + w->memory_count, w->memory_count);
}

/* rows in order of the bodies: insertion sort, nearly sorted already */
static void embi_report_sort(embipc_world *w)
{
    for (int i = 1; i < w->pair_force_count; i++) {
        embipc_pair_force row = w->pair_force[i];
        int j = i, a = embi_find_body(w, row.a), b = embi_find_body(w, row.b);
        for (; j > 0; j--) {
            int pa = embi_find_body(w, w->pair_force[j - 1].a),
                pb = embi_find_body(w, w->pair_force[j - 1].b);
            if (pa < a || (pa == a && pb < b)) break;
            w->pair_force[j] = w->pair_force[j - 1];
        }
        w->pair_force[j] = row;
    }
}

/* work of the drives in the step: their forces (of those that are not soft, grad E on their rows) times the
 * displacements of what they drive, J */
static embipc_real embi_drive_work(const embipc_world *w)
{
    const embi_state *s = &w->s;
    embipc_real work = 0, f[3], r[3];
    for (int n = 0; n < s->drive_count; n++) {
        const embi_drive *d = s->drives + n;
        const embi_body *b = s->body + d->body;
        for (int k = 0; k < d->node_count && !d->soft && b->moving; k++) {
            int i = 3 * (b->node0 + d->nodes[k]);
            embi_sub(r, s->q + i, s->qn + i);
            work += embi_dot(s->g + i, r) / s->hh;
        }
    }
    for (int k = 0; k < w->order_count; k++) {
        const embi_island *I = w->island[w->order[k]];
        for (int n = 0; n < I->spring_count; n++) {
            const embi_spring *p = I->spring + n;
            (void)embi_spring_gradient(p, s->x + 3 * p->v, f);
            embi_sub(r, s->x + 3 * p->v, s->xn + 3 * p->v);
            work -= embi_dot(f, r);
        }
    }
    return work;
}

/* The contact that bears most for its barrier; NULL without any. *ratio: the share of dhat at which the barrier
 * bears as much, its gap unless a mollifier takes a part. */
static const embi_contact *embi_tightest(const embipc_world *w, embipc_real *ratio)
{
    const embi_contact *tight = NULL;
    embipc_real most = 0;
    for (int k = 0; k < w->order_count; k++) {
        const embi_contacts *c = &w->island[w->order[k]]->contacts;
        for (int i = 0; i < c->count; i++) {
            const embi_contact *one = c->list + i;
            embipc_real load = -one->first / (one->multiplicity * w->s.pair[one->pair].rule.kappa * one->dhat);
            if (!(load > most)) continue;
            most = load;
            tight = one;
        }
    }
    *ratio = tight ? embipc_barrier_gap(most, 1, 1) : (embipc_real)INFINITY;
    return tight;
}

static void embi_stats_tight(const embipc_world *w, embipc_step_stats *t)
{
    const embi_contact *tight = embi_tightest(w, &t->tightest);
    const embi_pair *pair = tight ? w->s.pair + tight->pair : NULL;
    if (!pair) return;
    t->tight[0] = w->s.body[pair->a].handle;
    t->tight[1] = w->s.body[pair->b].handle;
}

static embipc_real embi_drive_short(const embi_state *s)
{
    embipc_real most = 0;
    for (int n = 0; n < s->drive_count; n++)
        if (!s->drives[n].soft) most = embi_max(most, s->drives[n].reached.short_m);
    return most;
}

/* Says once when a load presses a gap below 5 % of its dhat, again whenever it has halved, and after a reset.
 * A drive gives in before that: in a step that left one short 10 % is enough. */
static void embi_warn_tight(embipc_world *w)
{
    embipc_real limit = embi_drive_short(&w->s) > 0 ? (embipc_real)0.1 : (embipc_real)0.05, ratio;
    const embi_contact *k;
    const embi_pair *pair;
    const embi_body *b = w->s.body;
    char text[320];
    if (!w->def.log) return;
    k = embi_tightest(w, &ratio);
    if (!(ratio < embi_min(limit, w->warned / 2))) return;
    w->warned = ratio;
    pair = w->s.pair + k->pair;
    (void)snprintf(text, sizeof text,
                   "step %d: \"%.40s\" and \"%.40s\" are pressed to %.2g of dhat, gap %.3g m, by %.3g N there; "
                   "kappa %.2g instead of %.2g would keep 0.3 of it", w->step, b[pair->a].name, b[pair->b].name,
                   ratio, k->gap, -k->first,
                   embi_kappa_for_load(-k->first, k->multiplicity, (embipc_real)0.3, k->dhat), pair->rule.kappa);
    w->def.log(1, text, w->def.log_ctx);
}

static void embi_stats_islands(embipc_world *w, embipc_step_stats *t)
{
    t->converged = 1;
    t->min_distance = (embipc_real)INFINITY;
    t->islands = w->order_count;
    for (int k = 0; k < w->order_count; k++) {
        const embi_island *I = w->island[w->order[k]];
        t->converged &= I->converged;
        t->total_iterations += I->iterations;
        t->total_factorizations += I->factorizations;
        if (I->iterations > t->newton_iterations) {
            t->newton_iterations = I->iterations;
            t->factorizations = I->factorizations;
        }
        t->unknowns += 3 * I->unknown_count;
        t->contacts += I->contacts.pairs;
        t->merged_contacts += I->contacts.count;
        t->regularized_pivots += I->regularized;
        t->min_distance = embi_min(t->min_distance, I->contacts.min_gap);
        t->barrier += I->contacts.energy;
    }
}

/* what statistics ask of a body; and its next rotations, which its energy is told with */
static void embi_body_sum(embipc_world *w, embi_body *b)
{
    embi_state *s = &w->s;
    embi_sums *t = &b->sums;
    embipc_real force, *y = s->Ap + 3 * b->node0, *v = s->v + 3 * b->node0, *q = s->q + 3 * b->node0;
    memset(t, 0, sizeof *t);
    if (!embi_is_dynamic(b)) return;
    t->before = embi_body_objective(s, b, s->qn, &t->size);
    t->after = embi_body_objective(s, b, s->q, &t->size);
    embi_mass_multiply(b, v, y);
    for (int i = 0; i < 3 * b->nn; i++) t->kinetic += y[i] * v[i] / 2;
    for (int i = 0; i < b->nn; i++) t->potential -= b->node_mass[i] * embi_dot(s->gravity, q + 3 * i);
    if (!b->elastic.nonlinear) embi_elastic_look_ahead(&b->elastic, q);
    t->elastic = embi_elastic_energy(&b->elastic, q, 1, s->trace + b->trace0, &force);
}

/* The statistics of the step just made. barrier_before: sum kappa b at q^n. */
static void embi_stats(embipc_world *w, embipc_step_stats *t, embipc_real barrier_before)
{
    embi_state *s = &w->s;
    embipc_real before = 0, after = 0, size = 0, force;
    embi_stats_islands(w, t);
    embi_stats_tight(w, t);
    t->step = w->step;
    t->time = w->time;
    t->candidates = s->candidate_count;
    t->candidate_builds = w->builds;
    before = s->hh * barrier_before;
    after = s->hh * t->barrier;
    for (int k = 0; k < w->order_count; k++) {
        embi_island *I = w->island[w->order[k]];
        embipc_real terms = 0;
        before += s->hh * embi_island_spring_energy(I, s->xn, &terms);
        after += s->hh * embi_island_spring_energy(I, s->x, &terms);
        after += s->hh * embi_friction_energy(I->friction, I->friction_count, &force);
        size += s->hh * (terms + (I->contacts.force + force) * I->noise_x);
    }
    t->drive_work = embi_drive_work(w);
    embi_each_body(w, embi_body_sum);
    for (int k = 0; k < s->body_count; k++) {
        const embi_sums *sum = &s->body[k].sums;
        if (!embi_is_dynamic(s->body + k)) continue;
        before += sum->before;
        after += sum->after;
        size += sum->size;
        t->kinetic += sum->kinetic;
        t->potential += sum->potential;
        t->elastic += sum->elastic;
    }
    t->objective_before = before / s->hh;
    t->objective_after = after / s->hh;
    t->objective_rounding = 64 * EMBI_EPS * (size + embi_abs(before) + embi_abs(after)) / s->hh;
    t->drive_short = embi_drive_short(s);
}

/* Names the first node whose numbers are not finite, or else the one that was to go farthest. */
static embipc_result embi_fail_step(embipc_world *w)
{
    embi_state *s = &w->s;
    int body = -1, node = 0;
    embipc_real most = -1;
    for (int k = 0; k < s->body_count; k++)
        for (int i = s->body[k].node0; i < s->body[k].node0 + s->body[k].nn; i++) {
            embipc_real go = 0;
            for (int c = 0; c < 3; c++)
                go += embi_abs(s->vn[3 * i + c]) + embi_abs(s->p[3 * i + c] / s->h) +
                      embi_abs(s->hh * s->f[3 * i + c]);
            if (!embi_finite(go)) go = (embipc_real)INFINITY;
            if (!(go > most)) continue;
            most = go;
            body = k;
            node = i - s->body[k].node0;
        }
    if (body < 0)
        return embi_fail(&w->error, EMBIPC_ERR_NOT_FINITE, "step %d met a number that is not finite",
                         w->step + 1);
    (void)embi_fail_at(&w->error, EMBIPC_ERR_NOT_FINITE, EMBIPC_NODE, node, most,
                       "step %d met a number that is not finite, node %d was at %g m/s; the world is back at "
                       "%g s. Lower the velocity, force or time step",
                       w->step + 1, node, embi_norm(s->vn + 3 * (s->body[body].node0 + node)), w->time);
    return embi_blame(w, EMBIPC_ERR_NOT_FINITE, s->body[body].name, s->body[body].handle);
}

static void embi_follow_range(void *arg, int begin, int end)
{
    const embipc_world *w = (const embipc_world *)arg;
    for (int n = begin; n < end; n++) {
        const embi_chunk *part = w->parts.list + n;
        for (int i = part->begin; i < part->end; i++) embi_apply_row(&w->s, i, w->s.q, w->s.x);
    }
}

/* x = J q of those bodies whose view was asked for. Returns 0 out of memory, and has changed nothing then. */
static int embi_views_follow(embipc_world *w)
{
    embi_state *s = &w->s;
    embi_chunks_clear(&w->parts);
    for (int k = 0; k < s->body_count; k++) {
        const embi_body *b = s->body + k;
        if (!b->viewed || !embi_has_moved(b)) continue;
        if (!embi_chunks_add(&w->memory, &w->parts, k, b->vert0, b->vert0 + b->nv, EMBI_SHARE_VERTICES)) return 0;
    }
    embi_for_chunks(&s->threads, &w->parts, EMBI_SHARE_VERTICES, embi_follow_range, w);
    return 1;
}

/* No vertex of a dynamic body went farther in the step, m. */
static embipc_real embi_farthest(const embi_state *s)
{
    embipc_real most = 0;
    for (int k = 0; k < s->body_count; k++) {
        const embi_body *b = s->body + k;
        for (int n = 0; n < b->panel_count && b->moving && embi_is_dynamic(b); n++) {
            const embipc_real *part = b->shift.part + 6 * n;
            embipc_real corner[3];
            for (int i = 0; i < 3; i++) corner[i] = embi_max(embi_abs(part[i]), embi_abs(part[3 + i]));
            most = embi_max(most, embi_norm(corner));
        }
    }
    return most;
}

/* rotations and gradient at the start of a step */
static void embi_body_rotate(embipc_world *w, embi_body *b)
{
    embi_state *s = &w->s;
    embi_body_renew(b);
    if (embi_is_dynamic(b) && !b->elastic.nonlinear) embi_elastic_rotate(&b->elastic, s->q + 3 * b->node0);
    if (b->two_step) embi_body_turn(b, s->qt);
    embi_body_gradient(s, b);
}

EMBIPC_API embipc_result embipc_world_step(embipc_world *w, embipc_step_stats *stats)
{
    embi_state *s;
    embipc_result r = EMBIPC_OK;
    embipc_real barrier = 0;
    if (!w) return EMBIPC_ERR_ARGUMENT;
    s = &w->s;
    w->memory.failed = 0;
    w->iteration_count = 0;
    memset(s->spent, 0, sizeof s->spent);
    s->stage = EMBIPC_STAGE_REST;
    s->since = s->clock ? s->clock(s->clock_ctx) : 0;
    embi_bodies_begin(w);
    (void)embi_stage(s, EMBIPC_STAGE_ELASTIC);
    embi_each_body(w, embi_body_rotate);
    (void)embi_stage(s, EMBIPC_STAGE_SEARCH);
    embi_each_body(w, embi_body_foresee);
    if (!embi_vertices_begin(w) || !embi_pairs_begin(w) || !embi_islands_begin(w)) r = EMBIPC_ERR_MEMORY;
    (void)embi_stage(s, EMBIPC_STAGE_MOVE);
    for (int k = 0; r == EMBIPC_OK && k < w->order_count; k++)
        barrier += w->island[w->order[k]]->contacts.energy;
    if (r == EMBIPC_OK) r = embi_iterate(w);
    (void)embi_stage(s, EMBIPC_STAGE_REST);
    for (int i = 0; r == EMBIPC_OK && i < 3 * s->node_count; i++)   /* the velocity to be, too */
        if (!embi_finite((s->q[i] - s->qc[i]) / s->h)) r = EMBIPC_ERR_NOT_FINITE;
    if (r == EMBIPC_OK) {
        if (!embi_report_reserve(w) || !embi_views_follow(w)) r = EMBIPC_ERR_MEMORY;
    }
    if (r != EMBIPC_OK) {
        embi_step_undo(w);
        return r == EMBIPC_ERR_MEMORY ? embi_fail_memory(&w->error) : embi_fail_step(w);
    }
    embi_velocities_finish(s);
    embi_bodies_moved(s);
    embi_kept_drift(w);
    embi_report(w);
    embi_report_sort(w);
    embi_drives_finish(w);
    w->step++;
    w->time += s->h;
    if (s->node_count) memset(w->applied, 0, (size_t)(3 * s->node_count) * sizeof *w->applied);
    embi_warn_tight(w);
    if (stats) {
        memset(stats, 0, sizeof *stats);
        stats->max_speed = embi_farthest(s) / s->h;
        embi_stats(w, stats, barrier);
        (void)embi_stage(s, EMBIPC_STAGE_REST);
        memcpy(stats->stage_time, s->spent, sizeof s->spent);
    }
#ifdef EMBIPC_VALIDATE
    EMBIPC_ASSERT(embipc_world_validate(w, &w->error) == EMBIPC_OK);
#endif
    return EMBIPC_OK;
}

/* ==== 29. Parting what overlaps ======================================================================
 * Rigid motions of surfaces after which none overlaps another.
 *   shifts   for each pair the smallest that is found, round after round
 *   turns    of linked bodies that no shift parts
 *   growth   where rounds do not end well: the bodies concerned are shrunk about their centres until rounds
 *            part the copies, and these grow back, as affine bodies, under the barrier. What stays of the
 *            affine motion is its rotation and the way of the centre: the shape is that of the start.
 * Whether a motion parts two surfaces is decided exactly; how small it may be is searched. Links of a chain
 * stay linked: the linking numbers of loops through the middle of their solids do not change.
 * Uses: all of the above.                                    Checked by: tests/test_doctor.c */

enum {
    EMBI_PART_ROUNDS = 40, EMBI_PART_DIRECTIONS = 96, EMBI_PART_LOOPS = 32, EMBI_PART_TRIES = 4,
    EMBI_PART_STEPS = 24, EMBI_PART_REST_STEPS = 100   /* of growth, and until all is still */
};

static const embipc_real embi_part_none[3] = {0, 0, 0};

/* x = scale R (x0 - c0) + centre, c0 the centre at the start */
typedef struct embi_part_pose {
    embipc_real R[9], scale, centre[3];
    int moved;
} embi_part_pose;

typedef struct embi_part_body {
    const embipc_real *x0;       /* vertices as given */
    embipc_real *x;              /* and now (3 nv), owned */
    embipc_real *core0, *core;   /* loops through the middle of the solid, as given and now (3 core_count) */
    int core_count, core_cap, core0_cap, loop[EMBI_PART_LOOPS + 1], loops;   /* loop: where each begins */
    embi_bvh bvh;
    int *inner, inner_count;     /* a vertex of each connected part, owned */
    int nv, closed, handles;     /* handles: one of its parts is no ball, topologically */
    int fixed, rank;             /* rank: steps from a fixed body over pairs that overlap at the start */
    int stuck;                   /* shifts did not do */
    embipc_real diagonal, volume, thickness, centre0[3];
    embi_part_pose now, kept;
    embi_surface s;
} embi_part_body;

/* A pair that overlaps at the start. */
typedef struct embi_part_overlap {
    embipc_overlap o;
    int hopeless;                /* linked, and no motion was found that parts the two; or both fixed */
} embi_part_overlap;

/* All bodies, and scratch. */
typedef struct embi_parting {
    embi_memory m;
    embi_part_body *body;
    int count;
    const embipc_real *gap;
    embi_key *keys;
    int key_count, key_cap;
    embi_candidate *near;
    int near_count, near_cap;
    embipc_real *shifted;        /* the first of a pair, where it is tried */
    int shifted_cap;
    const embi_part_body *met_a, *met_b;   /* whose triangles were seen to meet last, and ... */
    embi_key met;                /* ... which they were */
    embipc_real direction[3 * EMBI_PART_DIRECTIONS];
    int direction_count;
    int unlink;                  /* linking numbers may change: for the depth of a pair */
    int coarse;                  /* fewer directions are searched */
    embi_part_overlap *pair;
    int pair_count, pair_cap;
} embi_parting;

static void embi_parting_end(embi_parting *p)
{
    for (int i = 0; p->body && i < p->count; i++) {
        embi_part_body *b = p->body + i;
        embi_free(&p->m, b->x, 3 * b->nv, sizeof(embipc_real));
        embi_free(&p->m, b->inner, b->inner_count, sizeof(int));
        EMBI_RELEASE(&p->m, b->core, b->core_cap);
        EMBI_RELEASE(&p->m, b->core0, b->core0_cap);
        embi_bvh_free(&p->m, &b->bvh);
    }
    embi_free(&p->m, p->body, p->count, sizeof *p->body);
    EMBI_RELEASE(&p->m, p->keys, p->key_cap);
    EMBI_RELEASE(&p->m, p->near, p->near_cap);
    EMBI_RELEASE(&p->m, p->shifted, p->shifted_cap);
    EMBI_RELEASE(&p->m, p->pair, p->pair_cap);
}

static embipc_real embi_part_gap(const embi_parting *p, int i, int j)
{
    return p->gap[(size_t)i * (size_t)p->count + (size_t)j];
}

/* the distance of two surfaces whose coatings are a share of their gap apart */
static embipc_real embi_part_reach(const embi_parting *p, int i, int j, embipc_real share)
{
    return p->body[i].thickness + p->body[j].thickness + share * embi_part_gap(p, i, j);
}

/* ---- Links: loops round the handles of a body, and how often those of two bodies go through each other ---- */

/* The point half way from vertex v, against its normal, to the other side of the solid. */
static void embi_part_middle(const embi_part_body *b, int v, embipc_real out[3])
{
    const embipc_real *x = b->x0 + 3 * v;
    embipc_real normal[3] = {0, 0, 0}, far = EMBI_HUGE;
    for (int pass = 0; pass < 2; pass++)   /* the normal, then what it meets first going inwards */
        for (int t = 0; t < b->s.nt; t++) {
            const int *T = b->s.tri + 3 * t;
            int at = T[0] == v || T[1] == v || T[2] == v;
            embipc_real a[3], e[3], f[3], n[3], c[9], way;
            embi_sub(e, b->x0 + 3 * T[1], b->x0 + 3 * T[0]);
            embi_sub(f, b->x0 + 3 * T[2], b->x0 + 3 * T[0]);
            embi_cross(n, e, f);
            if (pass == 0 && at) embi_add(normal, normal, n);
            if (pass == 0 || at || !(embi_dot(n, normal) < 0)) continue;   /* it leaves there */
            for (int k = 0; k < 3; k++) embi_sub(c + 3 * k, b->x0 + 3 * T[k], x);
            if (embi_triple(normal, c, c + 3) > 0 || embi_triple(normal, c + 3, c + 6) > 0 ||
                embi_triple(normal, c + 6, c) > 0)
                continue;
            embi_copy(a, c);
            way = -embi_dot(n, a) / embi_dot(n, normal);
            if (way > 0 && way < far) far = way;
        }
    embi_copy(out, x);
    if (far < EMBI_HUGE) embi_axpy(out, -far / 2, normal);
}

/* Appends the loop that edge (u, v) closes in the tree of vertices. Returns 0 out of memory. */
static int embi_part_loop(embi_memory *m, embi_part_body *b, const int *from, const int *step, int u, int v)
{
    int front = b->core_count, tail = 0, a = u, z = v;
    while (a != z) {
        tail += step[z] > step[a];
        front += !(step[z] > step[a]);
        if (step[z] > step[a]) z = from[z];
        else a = from[a];
    }
    if (!EMBI_GROW(m, embipc_real, b->core0, b->core0_cap, 3 * (front + 1 + tail))) return 0;
    b->loop[b->loops++] = b->core_count;
    b->loop[b->loops] = front + 1 + tail;
    for (a = u; b->core_count < front; a = from[a]) embi_part_middle(b, a, b->core0 + 3 * b->core_count++);
    embi_part_middle(b, a, b->core0 + 3 * b->core_count++);   /* where the two ways meet */
    b->core_count = b->loop[b->loops];
    for (int i = b->core_count - 1; i > front; i--, v = from[v]) embi_part_middle(b, v, b->core0 + 3 * i);
    return 1;
}

/* Two loops round each handle: what the edges close that are neither in a tree of the vertices nor in one of
 * the triangles across the others. Those of more than EMBI_PART_LOOPS / 2 handles are not looked at. */
static int embi_part_loops(embi_memory *m, embi_part_body *b)
{
    int n = embipc_surface_edges(b->s.tri, b->s.nt, NULL, NULL, 0), again = 1, ok;
    int *edge, *side, *from, *step, *root;
    if (n < 0) return 0;
    edge = (int *)embi_alloc(m, 2 * n, sizeof *edge);
    side = (int *)embi_alloc(m, 2 * n, sizeof *side);
    from = (int *)embi_alloc(m, b->nv, sizeof *from);
    step = (int *)embi_alloc(m, b->nv, sizeof *step);
    root = (int *)embi_alloc(m, b->s.nt, sizeof *root);
    ok = edge && side && from && step && root &&
         embipc_surface_edges(b->s.tri, b->s.nt, edge, side, n) == n;
    for (int i = 0; ok && i < b->nv; i++) from[i] = -1;
    for (int i = 0; ok && i < b->inner_count; i++) from[b->inner[i]] = b->inner[i];
    for (int level = 0; ok && again; level++) {
        again = 0;
        for (int k = 0; k < 2 * n; k++) {
            int u = edge[k], v = edge[k ^ 1];
            if (from[u] < 0 || step[u] != level || from[v] >= 0) continue;
            from[v] = u;
            step[v] = level + 1;
            again = 1;
        }
    }
    for (int i = 0; ok && i < b->s.nt; i++) root[i] = i;
    for (int k = 0; ok && k < n && b->loops < EMBI_PART_LOOPS; k++) {
        int u = edge[2 * k], v = edge[2 * k + 1];
        if (from[u] == v || from[v] == u) continue;
        if (embi_root(root, side[2 * k]) != embi_root(root, side[2 * k + 1]))
            embi_join(root, side[2 * k], side[2 * k + 1]);
        else ok = embi_part_loop(m, b, from, step, u, v);
    }
    ok = ok && EMBI_GROW(m, embipc_real, b->core, b->core_cap, 3 * b->core_count);
    if (ok && b->core_count) memcpy(b->core, b->core0, (size_t)(3 * b->core_count) * sizeof *b->core);
    embi_free(m, edge, 2 * n, sizeof *edge);
    embi_free(m, side, 2 * n, sizeof *side);
    embi_free(m, from, b->nv, sizeof *from);
    embi_free(m, step, b->nv, sizeof *step);
    embi_free(m, root, b->s.nt, sizeof *root);
    return ok;
}

/* Linking number of two closed walks of na and nb points, the first shifted by t: Gauss's integral, for two
 * straight pieces the solid angle of the parallelogram of their differences, over 4 pi. */
static int embi_linking_number(const embipc_real *a, int na, const embipc_real *b, int nb,
                               const embipc_real t[3])
{
    static const embipc_real origin[3] = {0, 0, 0};
    embipc_real sum = 0, lo[6], hi[6];
    embi_box_points(lo, hi, a, na);
    embi_box_points(lo + 3, hi + 3, b, nb);
    for (int k = 0; k < 3; k++)
        if (lo[k] + t[k] > hi[3 + k] || hi[k] + t[k] < lo[3 + k]) return 0;
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            const embipc_real *p[2], *q[2];
            embipc_real d[12];
            p[0] = a + 3 * i; p[1] = a + 3 * ((i + 1) % na);
            q[0] = b + 3 * j; q[1] = b + 3 * ((j + 1) % nb);
            for (int k = 0; k < 4; k++) {
                embi_sub(d + 3 * k, q[k / 2], p[(k + 1) / 2 % 2]);
                embi_sub(d + 3 * k, d + 3 * k, t);
            }
            sum += embi_solid_angle(origin, d, d + 3, d + 6) + embi_solid_angle(origin, d, d + 6, d + 9);
        }
    return (int)floor(sum / (4 * 3.14159265358979323846) + 0.5);
}

/* Linking number of loop i of a and loop j of b: as given, or now with a shifted by t. */
static int embi_part_link(const embi_part_body *a, int i, const embi_part_body *b, int j, int given,
                          const embipc_real t[3])
{
    const embipc_real *x = given ? a->core0 : a->core, *y = given ? b->core0 : b->core;
    return embi_linking_number(x + 3 * a->loop[i], a->loop[i + 1] - a->loop[i], y + 3 * b->loop[j],
                               b->loop[j + 1] - b->loop[j], t);
}

/* Were two bodies linked as they were given? */
static int embi_part_linked(const embi_part_body *a, const embi_part_body *b)
{
    for (int i = 0; i < a->loops; i++)
        for (int j = 0; j < b->loops; j++)
            if (embi_part_link(a, i, b, j, 1, embi_part_none)) return 1;
    return 0;
}

/* Are they linked as they were, or not at all as they were, with a shifted by t? */
static int embi_part_keeps_links(const embi_part_body *a, const embi_part_body *b, const embipc_real t[3])
{
    for (int i = 0; i < a->loops; i++)
        for (int j = 0; j < b->loops; j++)
            if (embi_part_link(a, i, b, j, 0, t) != embi_part_link(a, i, b, j, 1, embi_part_none)) return 0;
    return 1;
}

/* ---- Bodies ---- */

/* One vertex of each connected part, and whether a closed part has handles: V - E + F < 2 with E = 3 F / 2.
 * Returns 0 out of memory. */
static int embi_part_topology(embi_memory *m, embi_part_body *b)
{
    int parts = embipc_surface_parts(b->x, b->nv, b->s.tri, b->s.nt, NULL, NULL, 0), used = 0;
    embipc_part *list;
    unsigned char *seen;
    if (parts < 0) return 0;
    list = (embipc_part *)embi_alloc(m, parts, sizeof *list);
    seen = (unsigned char *)embi_alloc(m, b->nv, 1);
    b->inner = (int *)embi_alloc(m, parts, sizeof *b->inner);
    b->inner_count = parts;
    if (list && seen && b->inner &&
        embipc_surface_parts(b->x, b->nv, b->s.tri, b->s.nt, NULL, list, parts) == parts) {
        b->closed = parts > 0;
        for (int i = 0; i < parts; i++) {
            b->inner[i] = b->s.tri[3 * list[i].triangle];
            if (list[i].border_edges + list[i].bad_edges) b->closed = 0;
        }
        for (int i = 0; i < 3 * b->s.nt; i++) {
            used += !seen[b->s.tri[i]];
            seen[b->s.tri[i]] = 1;
        }
        b->handles = b->closed && 2 * used - b->s.nt < 4 * parts;
    } else m->failed = 1;
    embi_free(m, list, parts, sizeof *list);
    embi_free(m, seen, b->nv, 1);
    return !m->failed;
}

/* Returns 0 out of memory. */
static int embi_part_begin(embi_memory *m, embi_part_body *b, const embipc_movable *from, int base)
{
    embipc_real lo[3], hi[3];
    embipc_solid solid;
    embi_key *keys;
    unsigned char *used;
    int ok;
    b->nv = from->vertex_count;
    b->x0 = from->x;
    b->x = (embipc_real *)embi_alloc(m, 3 * b->nv, sizeof *b->x);
    if (!b->x) return 0;
    memcpy(b->x, from->x, (size_t)(3 * b->nv) * sizeof *b->x);
    b->s.x = b->s.rest = b->x;
    b->s.tri = from->tri;
    b->s.nt = from->tri_count;
    b->s.base = base;
    b->s.bvh = &b->bvh;
    b->thickness = from->thickness;
    b->fixed = from->fixed != 0;
    b->rank = b->fixed ? 0 : INT_MAX;
    embi_box_indexed(lo, hi, b->x, from->tri, 3 * from->tri_count);
    b->diagonal = embi_box_diagonal(lo, hi);
    for (int k = 0; k < 3; k++) b->centre0[k] = b->now.centre[k] = (lo[k] + hi[k]) / 2;
    embi_m3_identity(b->now.R);
    b->now.scale = 1;
    keys = (embi_key *)embi_alloc(m, 6 * b->s.nt, sizeof *keys);
    used = (unsigned char *)embi_alloc(m, b->nv, 1);
    ok = keys && used && embi_bvh_build(m, &b->bvh, b->x, b->s.tri, b->s.nt, b->nv, keys, used);
    if (ok) embi_bvh_refit(&b->bvh, b->x, b->s.tri, b->s.nt);
    embi_free(m, keys, 6 * b->s.nt, sizeof *keys);
    embi_free(m, used, b->nv, 1);
    if (!ok || !embi_part_topology(m, b) || (b->handles && !embi_part_loops(m, b))) return 0;
    embi_solid(&solid, b->x, b->nv, b->s.tri, b->s.nt);
    b->volume = b->closed ? embi_abs(solid.volume) : b->diagonal * b->diagonal * b->diagonal;
    return 1;
}

static void embi_part_transform(const embi_part_body *b, const embipc_real *from, int n, embipc_real *to)
{
    for (int i = 0; i < n; i++) {
        embipc_real d[3], r[3];
        embi_sub(d, from + 3 * i, b->centre0);
        embi_m3_mulv(r, b->now.R, d);
        embi_copy(to + 3 * i, b->now.centre);
        embi_axpy(to + 3 * i, b->now.scale, r);
    }
}

static void embi_part_put(embi_part_body *b, const embi_part_pose *pose)
{
    b->now = *pose;
    embi_part_transform(b, b->x0, b->nv, b->x);
    embi_part_transform(b, b->core0, b->core_count, b->core);
    embi_bvh_refit(&b->bvh, b->x, b->s.tri, b->s.nt);
}

static void embi_part_move(embi_part_body *b, embipc_real share, const embipc_real shift[3])
{
    embi_part_pose pose = b->now;
    if (!(embi_abs(share) > 0)) return;
    embi_axpy(pose.centre, share, shift);
    pose.moved = 1;
    embi_part_put(b, &pose);
}

/* ---- Are two surfaces apart? ---- */

/* Is a vertex of a part of s, shifted by t, in the solid of u? Only asked where surfaces do not cross. */
static int embi_part_holds(const embi_part_body *u, const embi_part_body *s, const embipc_real t[3])
{
    const embipc_real *box = u->bvh.box + 6;
    for (int i = 0; u->closed && i < s->inner_count; i++) {
        embipc_real p[3];
        embi_add(p, s->x + 3 * s->inner[i], t);
        if (p[0] < box[0] || p[1] < box[1] || p[2] < box[2] || p[0] > box[3] || p[1] > box[4] ||
            p[2] > box[5])
            continue;
        if (embi_winding(p, u->x, u->s.tri, u->s.nt, NULL, 0) > 0.5) return 1;
    }
    return 0;
}

/* Do the two triangles of a key cross? */
static int embi_part_crosses(const embi_surface *s, const embi_surface *u, embi_u64 key)
{
    int a = (int)(key >> 32), b = (int)(key & 0xffffffffu);
    for (int i = 0; i < 3; i++)
        if (embi_crosses(s, s->tri[3 * a + i], s->tri[3 * a + (i + 1) % 3], u, b) ||
            embi_crosses(u, u->tri[3 * b + i], u->tri[3 * b + (i + 1) % 3], s, a))
            return 1;
    return 0;
}

/* remembers where two bodies met; 1 */
static int embi_part_met(embi_parting *p, const embi_part_body *a, const embi_part_body *b, embi_key key)
{
    p->met_a = a;
    p->met_b = b;
    p->met = key;
    return 1;
}

/* what a shift of the first of two bodies rounds, in reach */
static embipc_real embi_part_slack(const embi_part_body *a, const embi_part_body *b, const embipc_real t[3])
{
    embipc_real slack = a->diagonal + b->diagonal;
    for (int k = 0; k < 3; k++)
        slack += embi_abs(t[k]) + embi_abs(a->now.centre[k]) + embi_abs(b->now.centre[k]);
    return 16 * EMBI_EPS * slack;
}

/* Does one of `count` pairs of triangles come nearer than gap with a shifted by t? 1 yes; 0 no; -1 out of memory. */
static int embi_part_touches(embi_parting *p, const embi_part_body *a, const embi_part_body *b,
                             const embipc_real t[3], embipc_real gap, const embi_key *keys, int count)
{
    embipc_real range[6];
    embi_pair_rule rule;
    embi_approach still;
    for (int k = 0; k < 3; k++) range[k] = range[3 + k] = t[k];
    memset(&rule, 0, sizeof rule);
    still = embi_approach_of(range, gap + embi_part_slack(a, b, t));
    p->near_count = 0;
    for (int n = 0; n < count; n++) {
        if (!embi_candidates(&p->m, &a->s, &b->s, keys + n, 1, &rule, &still, &p->near, &p->near_count, &p->near_cap))
            return -1;
        if (p->near_count) return embi_part_met(p, a, b, keys[n]);
    }
    return 0;
}

/* Do the two triangles that met last, if they are of these two bodies, meet with a shifted by t as well? Most tries
 * end here, without a search. 1 yes; 0 no; -1 out of memory. */
static int embi_part_meets_again(embi_parting *p, const embi_part_body *a, const embi_part_body *b,
                                 const embipc_real t[3], embipc_real gap)
{
    embi_surface s = a->s;
    if (p->met_a != a || p->met_b != b) return 0;
    for (int i = 0; i < 3; i++) {
        int v = s.tri[3 * (int)(p->met.key >> 32) + i];
        embi_add(p->shifted + 3 * v, a->x + 3 * v, t);
    }
    s.x = s.rest = p->shifted;
    return embi_part_crosses(&s, &b->s, p->met.key) ? 1 : embi_part_touches(p, a, b, t, gap, &p->met, 1);
}

/* Are a, shifted by t, and b apart by at least gap, and linked as they were given? 1 yes; 0 no, with *kind
 * filled; -1 out of memory. The tree of a stays where a is: ranges shift its boxes. */
static int embi_part_apart(embi_parting *p, const embi_part_body *a, const embi_part_body *b,
                           const embipc_real t[3], embipc_real gap, embipc_overlap_kind *kind)
{
    embipc_real range[6], back[3];
    embi_surface s = a->s;
    int touches;
    for (int k = 0; k < 3; k++) {
        range[k] = range[3 + k] = t[k];
        back[k] = -t[k];
    }
    p->key_count = 0;
    if (!embi_bvh_pairs(&p->m, &a->s, &b->s, range, gap + embi_part_slack(a, b, t), &p->keys, &p->key_count,
                        &p->key_cap) ||
        !EMBI_GROW(&p->m, embipc_real, p->shifted, p->shifted_cap, 3 * a->nv))
        return -1;
    for (int i = 0; p->key_count && i < a->nv; i++) embi_add(p->shifted + 3 * i, a->x + 3 * i, t);
    s.x = s.rest = p->shifted;
    *kind = EMBIPC_OVERLAP_CROSS;
    for (int n = 0; n < p->key_count; n++)
        if (embi_part_crosses(&s, &b->s, p->keys[n].key)) return !embi_part_met(p, a, b, p->keys[n]);
    *kind = EMBIPC_OVERLAP_INSIDE;
    if (embi_part_holds(b, a, t) || embi_part_holds(a, b, back)) return 0;
    *kind = EMBIPC_OVERLAP_TOUCH;
    touches = embi_part_touches(p, a, b, t, gap, p->keys, p->key_count);
    return touches ? embi_min_int(touches, 0) : p->unlink || embi_part_keeps_links(a, b, t);
}

/* The same for a shift that is tried, and only whether. */
static int embi_part_is_apart(embi_parting *p, const embi_part_body *a, const embi_part_body *b,
                              const embipc_real t[3], embipc_real gap)
{
    embipc_overlap_kind kind;
    int meets = embi_part_meets_again(p, a, b, t, gap);
    return meets ? embi_min_int(meets, 0) : embi_part_apart(p, a, b, t, gap, &kind);
}

/* ---- The smallest shift of a pair ---- */

static void embi_part_direction(embi_parting *p, const embipc_real u[3])
{
    embipc_real n = embi_norm(u), v[3];
    if (!(n > 0) || p->direction_count == EMBI_PART_DIRECTIONS) return;
    embi_scale(v, 1 / n, u);
    for (int i = 0; i < p->direction_count; i++)
        if (embi_dot(v, p->direction + 3 * i) > 0.9999999) return;
    embi_copy(p->direction + 3 * p->direction_count++, v);
}

/* Directions to try: between the centres, the 26 of a lattice, and normals of triangles that are near each
 * other, evenly taken from their list. */
static void embi_part_directions(embi_parting *p, const embi_part_body *a, const embi_part_body *b)
{
    embipc_real u[3];
    p->direction_count = 0;
    embi_sub(u, a->now.centre, b->now.centre);
    embi_part_direction(p, u);
    for (int i = 0; i < 27; i++) {
        embi_set(u, (embipc_real)(i % 3 - 1), (embipc_real)(i / 3 % 3 - 1), (embipc_real)(i / 9 - 1));
        embi_part_direction(p, u);
    }
    for (int n = 0; n < p->key_count && !p->coarse; n += 1 + p->key_count / 32)
        for (int side = 0; side < 2; side++) {
            const embi_part_body *s = side ? b : a;
            const int *v = s->s.tri + 3 * (int)(side ? p->keys[n].key & 0xffffffffu : p->keys[n].key >> 32);
            embipc_real e[3], f[3];
            embi_sub(e, s->x + 3 * v[1], s->x + 3 * v[0]);
            embi_sub(f, s->x + 3 * v[2], s->x + 3 * v[0]);
            embi_cross(u, e, f);
            if (!side) embi_scale(u, -1, u);   /* a leaves against its own normal, along that of b */
            embi_part_direction(p, u);
        }
}

/* length of the shift of a along u that parts the planes of support */
static embipc_real embi_part_support(const embi_part_body *a, const embi_part_body *b, const embipc_real u[3],
                                     embipc_real gap)
{
    embipc_real low = EMBI_HUGE, high = -EMBI_HUGE;
    for (int i = 0; i < 3 * a->s.nt; i++) low = embi_min(low, embi_dot(u, a->x + 3 * a->s.tri[i]));
    for (int i = 0; i < 3 * b->s.nt; i++) high = embi_max(high, embi_dot(u, b->x + 3 * b->s.tri[i]));
    return embi_max(high - low + gap, 0) + 128 * EMBI_EPS * (embi_abs(high) + embi_abs(low) + gap);
}

/* The best shift so far: this far along this direction. found: it parts the two; else it is a bound only. */
typedef struct embi_part_way {
    embipc_real length, along[3];
    int found, linked;
} embi_part_way;

/* Shortens the way, or finds the first, by what the direction u allows. Returns 0 out of memory. */
static int embi_part_try(embi_parting *p, const embi_part_body *a, const embi_part_body *b,
                         const embipc_real u[3], embipc_real gap, embi_part_way *way)
{
    embipc_real t[3], low = 0, high = way->length;
    embipc_real support = way->linked ? EMBI_HUGE : embi_part_support(a, b, u, gap);
    int steps = a->handles && b->handles ? 8 : 2, apart = 0;
    if (way->length <= EMBI_EPS * (a->diagonal + b->diagonal)) return 1;   /* as good as none */
    for (int k = 1; k <= steps && !apart; k++) {
        embipc_real at = way->length * (embipc_real)(1 - 1e-3) * k / steps;
        embi_scale(t, at, u);
        apart = at >= support ? 1 : embi_part_is_apart(p, a, b, t, gap);
        if (apart < 0) return 0;
        if (apart) high = embi_min(at, support);
        else low = at;
    }
    if (!apart) return 1;
    for (int k = 0; k < 24 && high - low > (embipc_real)5e-4 * high; k++) {
        embipc_real mid = (low + high) / 2;
        embi_scale(t, mid, u);
        apart = embi_part_is_apart(p, a, b, t, gap);
        if (apart < 0) return 0;
        if (apart) high = mid;
        else low = mid;
    }
    way->length = high;
    way->found = 1;
    embi_copy(way->along, u);
    return 1;
}

/* unit vectors e and f across the unit vector u, and across each other */
static void embi_part_across(const embipc_real u[3], embipc_real e[3], embipc_real f[3])
{
    int axis = embi_abs(u[0]) < 0.6 ? 0 : embi_abs(u[1]) < 0.6 ? 1 : 2;
    embi_set(f, axis == 0, axis == 1, axis == 2);
    embi_cross(e, u, f);
    embi_scale(e, 1 / embi_norm(e), e);
    embi_cross(f, u, e);
}

/* The same for six directions at an angle to the best. */
static int embi_part_try_around(embi_parting *p, const embi_part_body *a, const embi_part_body *b,
                                embipc_real angle, embipc_real gap, embi_part_way *way)
{
    for (int i = 0; i < 6; i++) {
        embipc_real u[3], e[3], f[3];
        embi_part_across(way->along, e, f);
        embi_copy(u, way->along);
        embi_axpy(u, angle * cos((embipc_real)1.0471975511965976 * i), e);
        embi_axpy(u, angle * sin((embipc_real)1.0471975511965976 * i), f);
        embi_scale(u, 1 / embi_norm(u), u);
        if (!embi_part_try(p, a, b, u, gap, way)) return 0;
    }
    return 1;
}

/* The smallest shift of a found that parts it from b by gap; of linked ones there may be none, *found 0.
 * Returns 0 out of memory. */
static int embi_part_search(embi_parting *p, const embi_part_body *a, const embi_part_body *b,
                            embipc_real gap, embipc_real shift[3], int *found)
{
    embipc_real u[3];
    embi_part_way way;
    embipc_overlap_kind kind;
    way.linked = !p->unlink && embi_part_linked(a, b);
    way.found = !way.linked;
    way.length = EMBI_HUGE;
    embi_set(way.along, 1, 0, 0);
    if (embi_part_apart(p, a, b, embi_part_none, gap, &kind) < 0) return 0;
    embi_part_directions(p, a, b);
    for (int i = 0; i < p->direction_count; i++) {
        embipc_real s = embi_part_support(a, b, p->direction + 3 * i, gap);
        if (!(s < way.length)) continue;
        way.length = s;
        embi_copy(way.along, p->direction + 3 * i);
    }
    embi_copy(u, way.along);
    if (!embi_part_try(p, a, b, u, gap, &way)) return 0;
    for (int i = 0; i < p->direction_count; i++)
        if (!embi_part_try(p, a, b, p->direction + 3 * i, gap, &way)) return 0;
    for (embipc_real angle = (embipc_real)0.3; way.found && angle > 0.01; angle /= 2)
        if (!embi_part_try_around(p, a, b, angle, gap, &way)) return 0;
    *found = way.found;
    for (int k = 0; k < 3; k++) {   /* no dust, nor across an axis */
        embipc_real dust = embi_max(1e-12 * way.length, EMBI_EPS * (a->diagonal + b->diagonal));
        shift[k] = embi_abs(way.length * way.along[k]) < dust ? (embipc_real)0 : way.length * way.along[k];
    }
    return 1;
}

/* ---- Rounds of shifts ---- */

/* Parts the pair (i, j) where it overlaps. One that is only nearer than the gap, and of which nothing was
 * moved, is left: it is legal. late: the body that is farther from the fixed ones moves alone, or (2) the
 * later one of equals. Returns 0 out of memory. */
static int embi_part_pair(embi_parting *p, int i, int j, int late, int *moved)
{
    embi_part_body *a = p->body + i, *b = p->body + j;
    embipc_real want = (embipc_real)(a->now.moved || b->now.moved ? 0.99 : 0.01), shift[3], share;
    embipc_overlap_kind kind;
    int apart = embi_part_apart(p, a, b, embi_part_none, embi_part_reach(p, i, j, want), &kind), found;
    if (apart) return apart > 0;
    if (!embi_part_search(p, a, b, embi_part_reach(p, i, j, 1), shift, &found)) return 0;
    if (!found) return 1;
    *moved = 1;
    share = a->volume + b->volume > 0 ? b->volume / (a->volume + b->volume) : (embipc_real)0.5;
    if (late && a->rank != b->rank) share = a->rank > b->rank ? (embipc_real)1 : (embipc_real)0;
    if (late > 1 && a->rank == b->rank) share = 0;
    if (a->fixed) share = 0;
    if (b->fixed) share = 1;
    embi_part_move(a, share, shift);
    embi_part_move(b, share - 1, shift);
    return 1;
}

/* Are bodies i and j apart, or never to meet? -1 out of memory. */
static int embi_part_enough(embi_parting *p, int i, int j, embipc_overlap_kind *kind)
{
    if (!(embi_part_gap(p, i, j) > 0)) return 1;
    return embi_part_apart(p, p->body + i, p->body + j, embi_part_none,
                           embi_part_reach(p, i, j, (embipc_real)0.01), kind);
}

/* Appends the pair (i, j), with its depth. Returns 0 out of memory. */
static int embi_part_append(embi_parting *p, int i, int j, embipc_overlap_kind kind)
{
    const embi_part_body *a = p->body + i, *b = p->body + j;
    embipc_real reach = embi_part_reach(p, i, j, (embipc_real)0.001), shift[3];
    embi_part_overlap *k;
    int found = 0, ok;
    if (!EMBI_GROW(&p->m, embi_part_overlap, p->pair, p->pair_cap, p->pair_count + 1)) return 0;
    k = p->pair + p->pair_count++;
    k->o.a = i;
    k->o.b = j;
    k->o.kind = kind;
    k->o.linked = embi_part_linked(a, b);
    ok = embi_part_search(p, a, b, reach, shift, &found);
    k->hopeless = !found || (a->fixed && b->fixed);
    p->unlink = 1;
    if (ok && !found) ok = embi_part_search(p, a, b, reach, shift, &found);
    p->unlink = 0;
    if (ok) k->o.depth = embi_norm(shift);
    return ok;
}

/* The pairs that overlap at the start. Returns 0 out of memory. */
static int embi_part_list(embi_parting *p)
{
    for (int i = 0; i < p->count; i++)
        for (int j = i + 1; j < p->count; j++) {
            embipc_overlap_kind kind = EMBIPC_OVERLAP_TOUCH;
            int apart = embi_part_enough(p, i, j, &kind);
            if (apart < 0 || (!apart && !embi_part_append(p, i, j, kind))) return 0;
        }
    return 1;
}

/* how far each body is from a fixed one, over pairs that overlap */
static void embi_part_ranks(embi_parting *p)
{
    for (int again = 1; again;) {
        again = 0;
        for (int n = 0; n < 2 * p->pair_count; n++) {
            embi_part_body *a = p->body + p->pair[n / 2].o.a, *b = p->body + p->pair[n / 2].o.b;
            embi_part_body *from = n % 2 ? a : b, *to = n % 2 ? b : a;
            if (from->rank == INT_MAX || from->rank + 1 >= to->rank) continue;
            to->rank = from->rank + 1;
            again = 1;
        }
    }
}

/* the pair (i, j), i < j, in the list, which is in their order; or NULL */
static embi_part_overlap *embi_part_find(const embi_parting *p, int i, int j)
{
    int low = 0, high = p->pair_count;
    while (low < high) {
        int mid = low + (high - low) / 2;
        const embipc_overlap *o = &p->pair[mid].o;
        if (o->a < i || (o->a == i && o->b < j)) low = mid + 1;
        else high = mid;
    }
    return low < p->pair_count && p->pair[low].o.a == i && p->pair[low].o.b == j ? p->pair + low : NULL;
}

/* Rounds over all pairs, until none moved. Returns 0 out of memory. */
static int embi_part_rounds(embi_parting *p)
{
    for (int round = 0, moved = 1; moved && round < EMBI_PART_ROUNDS; round++) {
        moved = 0;
        for (int i = 0; i < p->count; i++)
            for (int j = i + 1; j < p->count; j++) {
                const embi_part_overlap *k = embi_part_find(p, i, j);
                if (!(embi_part_gap(p, i, j) > 0) || (k && k->hopeless) ||
                    (p->body[i].fixed && p->body[j].fixed))
                    continue;
                if (!embi_part_pair(p, i, j, (round > 3) + (round > 11), &moved)) return 0;
            }
    }
    return 1;
}

/* ---- Turns of linked bodies ---- */

/* Turns one of a linked pair, about the line of their centres or across it, by more and more, until some shift
 * makes room and keeps the link: as for rings through each other that lie nearly flat. Returns 0 out of memory. */
static int embi_part_turn(embi_parting *p, embi_part_overlap *k)
{
    static const embipc_real angle[3] = {(embipc_real)0.35, (embipc_real)0.79, (embipc_real)1.57};
    int swap = p->body[k->o.a].fixed, found = 0, ok = 1;
    embi_part_body *a = p->body + (swap ? k->o.b : k->o.a), *b = p->body + (swap ? k->o.a : k->o.b);
    embi_part_pose before = a->now;
    embipc_real axis[3][3], shift[3];
    embi_sub(axis[0], b->now.centre, a->now.centre);
    if (embi_norm(axis[0]) > 0) embi_scale(axis[0], 1 / embi_norm(axis[0]), axis[0]);
    else embi_set(axis[0], 1, 0, 0);
    embi_part_across(axis[0], axis[1], axis[2]);
    p->coarse = 1;
    for (int n = 0; n < 18 && ok && !found; n++) {
        embi_part_pose pose = before;
        embipc_real w[3], R[9];
        embi_scale(w, n % 2 ? -angle[n / 6] : angle[n / 6], axis[n / 2 % 3]);
        embi_m3_rotation(R, w);
        embi_m3_mul(pose.R, R, before.R);
        pose.moved = 1;
        embi_part_put(a, &pose);
        ok = embi_part_search(p, a, b, embi_part_reach(p, k->o.a, k->o.b, 1), shift, &found);
    }
    p->coarse = 0;
    if (!ok) return 0;
    if (found) embi_part_move(a, 1, shift);
    else embi_part_put(a, &before);
    k->hopeless = !found;
    return 1;
}

/* ---- Growth ---- */

/* Is any pair not apart? 1, with the first of them in *i and *j; 0 none; -1 out of memory. */
static int embi_part_left(embi_parting *p, int *i, int *j)
{
    int left = 0;
    for (int a = 0; a < p->count; a++)
        for (int b = a + 1; b < p->count; b++) {
            embi_part_overlap *k = embi_part_find(p, a, b);
            embipc_overlap_kind kind;
            int apart = embi_part_enough(p, a, b, &kind);
            if (apart < 0) return -1;
            if (k) k->o.parted = apart;
            if (apart || left) continue;
            left = 1;
            *i = a;
            *j = b;
        }
    return left;
}

/* Who is stuck: the bodies of pairs that are not apart, and who overlaps with these at the start. A fixed one is
 * not, and ends the spread. Returns 0 out of memory. */
static int embi_part_spread(embi_parting *p)
{
    for (int i = 0; i < p->count; i++)
        for (int j = i + 1; j < p->count; j++) {
            embipc_overlap_kind kind;
            int apart = embi_part_enough(p, i, j, &kind);
            if (apart < 0) return 0;
            if (apart) continue;
            p->body[i].stuck |= !p->body[i].fixed;
            p->body[j].stuck |= !p->body[j].fixed;
        }
    for (int again = 1; again;) {
        again = 0;
        for (int n = 0; n < p->pair_count; n++) {
            embi_part_body *a = p->body + p->pair[n].o.a, *b = p->body + p->pair[n].o.b;
            if (a->fixed || b->fixed || a->stuck == b->stuck) continue;
            a->stuck = b->stuck = again = 1;
        }
    }
    return 1;
}

/* A world of all bodies as they stand, affine where they may move. h = 1 s; a body resists a strain e with the
 * force 10 m L e / h^2, and a shove with m per m: it grows back and others make room. */
static embipc_result embi_part_populate(embi_parting *p, embipc_world *w, embipc_body *handle)
{
    embipc_result r = EMBIPC_OK;
    embipc_body *exempt = (embipc_body *)embi_alloc(&p->m, p->count, sizeof *exempt);
    if (!exempt) return EMBIPC_ERR_MEMORY;
    for (int i = 0; i < p->count && r == EMBIPC_OK; i++) {
        const embi_part_body *b = p->body + i;
        embipc_body_def d = embipc_default_body_def();
        embipc_real widest = 0;
        d.kind = b->fixed ? EMBIPC_FIXED : EMBIPC_AFFINE;
        d.x = b->x;
        d.vertex_count = b->nv;
        d.triangles = b->s.tri;
        d.triangle_count = b->s.nt;
        d.material.model = EMBIPC_ORTHOGONALITY;
        d.material.stiffness = 10 * d.material.density * b->diagonal * b->diagonal;
        for (int j = 0; j < p->count; j++) {
            embipc_real g = j == i ? (embipc_real)0 : embi_part_gap(p, i, j);
            widest = embi_max(widest, g);
            if (j < i && !(g > 0)) exempt[d.no_contact_count++] = handle[j];
        }
        d.no_contact = exempt;
        d.thickness = b->thickness;
        d.dhat = 2 * widest;   /* the smaller of two such is still above their gap */
        d.tolerance = widest / 100;
        r = embipc_body_create(w, &d, handle + i);
    }
    embi_free(&p->m, exempt, p->count, sizeof *exempt);
    return r;
}

/* One step from rest, the stuck bodies' rest shapes grown by a factor; *travel is the most that a node moves,
 * in parts of its body's dhat. */
static embipc_result embi_part_step(embi_parting *p, embipc_world *w, const embipc_body *handle,
                                    embipc_real factor, embipc_real *travel)
{
    embipc_result r;
    *travel = 0;
    for (int i = 0; i < p->count; i++) {
        embi_body *b = w->s.body + embi_find_body(w, handle[i]);
        (void)embipc_body_set_velocity(w, handle[i], embi_part_none, embi_part_none);
        for (int k = 0; p->body[i].stuck && k < 12; k++) b->elastic.grad[k] /= factor;
    }
    r = embipc_world_step(w, NULL);
    for (int i = 0; r == EMBIPC_OK && i < p->count; i++) {
        const embi_body *b = w->s.body + embi_find_body(w, handle[i]);
        for (int k = 0; k < b->nn; k++)
            *travel = embi_max(*travel, w->s.h * embi_norm(w->s.v + 3 * (b->node0 + k)) / b->dhat);
    }
    return r;
}

/* The rigid part of what became of a body that has its size back: the rotation, and the way of the centre. One
 * that was neither stuck nor shoved stays. */
static void embi_part_take(embi_part_body *to, const embipc_world *w, const embi_body *b)
{
    const embipc_real *q = w->s.q + 3 * b->node0, *q0 = w->s.start_q + 3 * b->node0;
    embi_part_pose pose = to->now;
    embipc_real F[9], R[9], d[3], e[3], way = 0;
    for (int k = 0; k < 12; k++) way = embi_max(way, embi_abs(q[k] - q0[k]));
    if (!to->stuck && way < b->dhat / 1000) return;
    embi_elastic_F(&b->elastic, 0, q, F);
    embi_m3_identity(R);   /* where the search for it begins */
    embi_polar(R, F);
    embi_m3_mul(pose.R, R, to->now.R);
    embi_sub(d, to->now.centre, q0);
    embi_m3_mulv(e, F, d);
    embi_copy(pose.centre, q);
    embi_axpy(pose.centre, 1 / to->now.scale, e);
    pose.scale = 1;
    pose.moved = 1;
    embi_part_put(to, &pose);
}

/* The stuck bodies grow to their size, then rest until all is still. Returns 0 out of memory; *grown is 0 where
 * the world would not have them, as with an open surface that may move. */
static int embi_part_grow(embi_parting *p, embipc_real scale, int *grown)
{
    embipc_world_def d = embipc_default_world_def();
    embipc_body *handle = (embipc_body *)embi_alloc(&p->m, p->count, sizeof *handle);
    embipc_world *w = NULL;
    embipc_real travel = 1, factor = pow(scale, (embipc_real)-1 / (embipc_real)EMBI_PART_STEPS);
    embipc_result r = EMBIPC_ERR_MEMORY;
    embi_set(d.gravity, 0, 0, 0);
    d.time_step = 1;
    if (handle) r = embipc_world_create(&d, &w, NULL);
    if (r == EMBIPC_OK) r = embi_part_populate(p, w, handle);
    for (int k = 0; r == EMBIPC_OK && k < EMBI_PART_STEPS; k++)
        r = embi_part_step(p, w, handle, factor, &travel);
    for (int k = 0; r == EMBIPC_OK && k < EMBI_PART_REST_STEPS && travel > 0.01; k++)
        r = embi_part_step(p, w, handle, 1, &travel);
    for (int i = 0; r == EMBIPC_OK && i < p->count; i++)
        if (!p->body[i].fixed) embi_part_take(p->body + i, w, w->s.body + embi_find_body(w, handle[i]));
    embipc_world_destroy(w);
    embi_free(&p->m, handle, p->count, sizeof *handle);
    *grown = r == EMBIPC_OK;
    return r != EMBIPC_ERR_MEMORY;
}

/* The stuck bodies where they were given, at this size; the others where shifts left them. */
static void embi_part_shrink(embi_parting *p, embipc_real scale)
{
    for (int i = 0; i < p->count; i++) {
        embi_part_body *b = p->body + i;
        embi_part_pose pose = b->kept;
        if (b->stuck) {
            pose.scale = scale;
            embi_copy(pose.centre, b->centre0);
            pose.moved = 1;
        }
        if (pose.moved || b->now.moved) embi_part_put(b, &pose);
    }
}

/* What shifts left: turns of linked bodies, then growth, from large copies to small ones, until one lot grows to
 * where rounds can end it. Not where linked bodies have no room: a smaller chain is as tight. *left, *i, *j as
 * embi_part_left() says in the end. Returns 0 out of memory. */
static int embi_part_regrow(embi_parting *p, int *left, int *i, int *j)
{
    int tries = 0, grown, turned = 0, hopeless = 0;
    for (int n = 0; n < p->pair_count; n++) {
        embi_part_overlap *k = p->pair + n;
        if (!k->hopeless) continue;
        if (!(p->body[k->o.a].fixed && p->body[k->o.b].fixed) && !embi_part_turn(p, k)) return 0;
        turned += !k->hopeless;
        hopeless += k->hopeless;
    }
    if (turned && (!embi_part_rounds(p) || (*left = embi_part_left(p, i, j)) < 0)) return 0;
    if (hopeless) return 1;
    if (!embi_part_spread(p)) return 0;
    for (int n = 0; n < p->count; n++) p->body[n].kept = p->body[n].now;
    for (embipc_real s = (embipc_real)0.8; *left && tries < EMBI_PART_TRIES && s > 0.02; s *= (embipc_real)0.8) {
        embi_part_shrink(p, s);
        if (!embi_part_rounds(p) || (*left = embi_part_left(p, i, j)) < 0) return 0;
        if (*left) continue;
        tries++;
        *left = 1;
        if (!embi_part_grow(p, s, &grown)) return 0;
        if (grown && (!embi_part_rounds(p) || (*left = embi_part_left(p, i, j)) < 0)) return 0;
    }
    if (!*left) return 1;
    for (int n = 0; n < p->count; n++)
        if (p->body[n].now.moved) embi_part_put(p->body + n, &p->body[n].kept);
    return (*left = embi_part_left(p, i, j)) >= 0;
}

static embipc_result embi_part_fail(const embi_parting *p, int i, int j, embipc_error *e)
{
    const embi_part_overlap *k = embi_part_find(p, i, j);
    embipc_result r = embi_fail(
        e, EMBIPC_ERR_INTERSECTION, "surfaces %d and %d cannot be parted: %s", i, j,
        p->body[i].fixed && p->body[j].fixed ? "neither may move"
        : k && k->o.linked && k->hopeless
            ? "they are linked, and no shift or turn was found that keeps the link and makes room in their holes"
            : "others are in the way of shifts, and of copies that grow");
    if (!e) return r;
    e->index[0] = i;
    e->index[1] = j;
    return r;
}

static void embi_part_tell(const embi_parting *p, int left, embipc_movement *movement)
{
    for (int i = 0; i < p->count; i++) {
        const embi_part_body *b = p->body + i;
        memset(movement + i, 0, sizeof *movement);
        embi_copy(movement[i].centre, b->centre0);
        embi_m3_identity(movement[i].rotation);
        if (!b->now.moved) continue;
        embi_sub(movement[i].shift, b->now.centre, b->centre0);
        memcpy(movement[i].rotation, b->now.R, sizeof b->now.R);
        movement[i].grown = b->stuck && !left;
    }
}

static embipc_result embi_part_check(const embipc_movable *body, int count, const embipc_real *gap,
                                     embipc_error *e)
{
    for (int i = 0; i < count; i++) {
        embipc_result r =
            embi_arrays_usable(body[i].x, body[i].vertex_count, body[i].tri, body[i].tri_count, 3);
        if (r == EMBIPC_OK && (!body[i].tri_count || !(body[i].thickness >= 0) || !embi_finite(body[i].thickness)))
            r = EMBIPC_ERR_ARGUMENT;
        if (r != EMBIPC_OK) return embi_fail(e, r, "surface %d: %s", i, embipc_result_text(r));
        for (int j = 0; j < count; j++) {
            embipc_real g = gap[(size_t)i * (size_t)count + (size_t)j];
            embipc_real h = gap[(size_t)j * (size_t)count + (size_t)i];
            if (i == j || (embi_finite(g) && !(g < h) && !(h < g))) continue;
            return embi_fail(e, embi_finite(g) ? EMBIPC_ERR_ARGUMENT : EMBIPC_ERR_NOT_FINITE,
                             "the gap of surfaces %d and %d is %g m, and %g m the other way round", i, j, g, h);
        }
    }
    return EMBIPC_OK;
}

EMBIPC_API embipc_result embipc_separate(const embipc_movable *body, int count, const embipc_real *gap,
                                         embipc_movement *movement, embipc_overlap *list, int capacity,
                                         int *found, embipc_error *error)
{
    embi_parting p;
    embipc_result r;
    int ok, left = 0, i = 0, j = 0;
    if (found) *found = 0;
    if (count < 0 || count > 30000 || capacity < 0 || (capacity && !list) ||
        (count && (!body || !gap || !movement)))
        return embi_fail(error, EMBIPC_ERR_ARGUMENT, "%d surfaces, room for %d pairs%s", count, capacity,
                         count > 0 && (!body || !gap || !movement) ? "; an array is NULL" : "");
    if ((r = embi_part_check(body, count, gap, error)) != EMBIPC_OK) return r;
    memset(&p, 0, sizeof p);
    embi_memory_init(&p.m, NULL);
    p.count = count;
    p.gap = gap;
    p.body = (embi_part_body *)embi_alloc(&p.m, count, sizeof *p.body);
    ok = p.body != NULL;
    for (int k = 0; ok && k < count; k++) ok = embi_part_begin(&p.m, p.body + k, body + k, k);
    ok = ok && embi_part_list(&p);
    if (ok) embi_part_ranks(&p);
    ok = ok && embi_part_rounds(&p) && (left = embi_part_left(&p, &i, &j)) >= 0;
    if (ok && left) ok = embi_part_regrow(&p, &left, &i, &j);
    r = !ok ? embi_fail_memory(error) : left ? embi_part_fail(&p, i, j, error) : EMBIPC_OK;
    if (ok) embi_part_tell(&p, left, movement);
    for (int n = 0; ok && n < p.pair_count && n < capacity; n++) list[n] = p.pair[n].o;
    if (ok && found) *found = p.pair_count;
    embi_parting_end(&p);
    return r;
}

#endif /* EMBI_IMPLEMENTED */
#endif /* EMBIPC_IMPLEMENTATION */

/* ---- Change log -----------------------------------------------------------------------------
 * 0.1  (EMBIPC_VERSION 1) First version: bodies fixed, kinematic, affine, cage, full; linear corotated and
 *      orthogonality energies; barrier and friction; drives, hard and soft; BDF2; cage builder; toolbox.
 *      Materials: ARAP, lagged ARAP, fixed corotated, stable and log neo-Hookean, StVK, Mooney-Rivlin;
 *      fibres; stiffness and density per tet; embipc_material_evaluate(). Faults, parts, loops and crossings of
 *      meshes. Cages with a copy of a cell per piece of solid. Times of the parts of a step.
 *      embipc_separate().
 *
 * ---- Licence --------------------------------------------------------------------------------
 * This software is available under two licences: choose the one you prefer.
 *
 * A - MIT License. Copyright (c) 2026 the embipc authors
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
 * associated documentation files (the "Software"), to deal in the Software without restriction, including
 * without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
 * following conditions: The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY
 * KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A
 * PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
 * ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 *
 * B - Public Domain (www.unlicense.org)
 * This is free and unencumbered software released into the public domain. Anyone is free to copy, modify,
 * publish, use, compile, sell, or distribute this software, either in source code form or as a compiled
 * binary, for any purpose, commercial or non-commercial, and by any means. In jurisdictions that recognize
 * copyright laws, the author or authors of this software dedicate any and all copyright interest in the
 * software to the public domain. We make this dedication for the benefit of the public at large and to the
 * detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in
 * perpetuity of all present and future rights to this software under copyright law. THE SOFTWARE IS PROVIDED
 * "AS IS", WITHOUT WARRANTY OF ANY KIND, as above. */
