/* The step as a whole: free fall, momentum, the energy inequality, rest, impact, islands, and worlds that must agree; and
 * drives. */
#include "small.h"
#include "inside.h"
#include "test.h"
#include "scene_test.h"
#include "tree_test.h"
#include "spike.h"
#include "world_drive.h"

static const embipc_kind dynamic_kind[3] = {EMBIPC_FULL, EMBIPC_CAGE, EMBIPC_AFFINE};
static const char *const kind_name[5] = {"fixed", "kinematic", "affine", "cage", "full"};

/* ---- free motion ---- */

/* v_n = v0 + n h g, x_n = x0 + n h v0 + h^2 g n (n + 1)/2: every vertex, every kind, every model, with and without damping */
static void test_free_fall(void)
{
    for (int k = 0; k < 6; k++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s;
        embipc_body_def d;
        embipc_body_view v;
        double h = wd.time_step, *x0, v0[3] = {0.7, -0.4, 3}, worst = 0, worst_v = 0;
        wd.gravity[0] = 1.5;
        s = scene_empty(&wd);
        d = scene_def("ball", dynamic_kind[k % 3], 0.3, 0.2, 5);
        if (k == 5) d.material.model = EMBIPC_ORTHOGONALITY;
        if (k == 3) d.material.lumped = 1;
        if (k == 4) d.material.damping[1] = 0.01;
        for (int i = 0; i < 3; i++) d.velocity[i] = v0[i];
        scene_ball(&s, d, 0.1, 1, 2);
        x0 = scene_positions(s.w, s.body[0]);
        for (int n = 1; n <= 40; n++) {
            embipc_body_state st;
            if (!scene_step(&s)) break;
            (void)embipc_body_get_view(s.w, s.body[0], &v);
            st = scene_state(s.w, s.body[0]);
            for (int i = 0; i < 3 * v.vertex_count; i++)
                worst = fmax(worst, fabs(v.x[i] - (x0[i] + n * h * v0[i % 3] + wd.gravity[i % 3] * h * h * n * (n + 1) / 2)));
            for (int i = 0; i < 3; i++) worst_v = fmax(worst_v, fabs(st.velocity[i] - (v0[i] + n * h * wd.gravity[i])));
            ENSURE(s.stats.newton_iterations <= 2 && s.stats.converged);
        }
        ENSURE(worst < 40 * 4e-15 * 5);
        ENSURE(worst_v < 1e-11);   /* a difference of positions of 5 m, over h */
        free(x0);
        scene_end(&s);
    }
}

static void momentum_of(const scene *s, double p[3])
{
    p[0] = p[1] = p[2] = 0;
    for (int k = 0; k < s->n; k++) {
        embipc_body_state st = scene_state(s->w, s->body[k]);
        for (int i = 0; i < 3; i++) p[i] += st.momentum[i];
    }
}

/* Three bodies of all kinds collide in free space with friction: the sum of momenta stays, whatever the contacts do. */
static void test_linear_momentum(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s;
    double p0[3], p[3], worst = 0, scale = 0;
    int touched = 0;
    for (int k = 0; k < 3; k++) wd.gravity[k] = 0;
    wd.dhat = 1e-3;
    wd.kappa = 1e4;
    s = scene_empty(&wd);
    for (int k = 0; k < 3; k++) {
        embipc_body_def d = scene_def("ball", dynamic_kind[k], 0.13 * (k - 1), 0.01 * k, 0.015 * k);
        d.velocity[0] = k == 0 ? 2 : k == 1 ? 0 : -1.5;
        d.friction = 0.5;
        d.angular_velocity[2] = 3 * k;
        scene_ball(&s, d, 0.05, 1, 1);
    }
    momentum_of(&s, p0);
    for (int k = 0; k < s.n; k++) scale += scene_state(s.w, s.body[k]).mass;
    for (int n = 0; n < 50 && scene_step(&s); n++) {
        ENSURE(s.stats.converged);
        touched += s.stats.contacts > 0;
        momentum_of(&s, p);
        for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(p[i] - p0[i]) / scale);
    }
    printf("  momentum in collisions: drift %.2g m/s of the whole, %d steps in contact\n", worst, touched);
    ENSURE(touched > 3);
    ENSURE(worst < 1e-9);
    scene_end(&s);
}

static double spin_error(embipc_kind kind, embipc_model model, double h)
{
    static const double w[3] = {2, 0.5, 1};
    return scene_spin_loss(EMBIPC_BACKWARD_EULER, kind, model, h, w, 0);
}
/* An objective energy under backward Euler loses angular momentum at first order in h. Rotations lagged to the start of the step
 * do better: the internal forces have no torque about q^n, and q^n x v^n+1 = q^n+1 x v^n+1. */
static void test_angular_momentum_converges(void)
{
    for (int k = 0; k < 4; k++) {
        embipc_kind kind = k < 3 ? dynamic_kind[k] : EMBIPC_AFFINE;
        embipc_model model = k < 3 ? EMBIPC_COROTATED : EMBIPC_ORTHOGONALITY;
        double e1 = spin_error(kind, model, 0.01), e2 = spin_error(kind, model, 0.005), e3 = spin_error(kind, model, 0.0025);
        printf("  angular momentum after 0.32 s, %s%s: error %.4g, %.4g, %.4g for h, h/2, h/4\n", kind_name[kind], k == 3 ? " (orthogonality)" : "", e1, e2, e3);
        ENSURE(e1 < 0.05);
        ENSURE(e1 / e2 > 1.7 && e2 / e3 > 1.8);
        if (k == 3) ENSURE(e1 / e2 < 2.3 && e2 / e3 < 2.2);
    }
}

/* ---- the energy inequality, derived again ---- */

typedef struct lag { int v[4]; double w[4], n[3], weight, e; } lag;   /* one friction pair */
typedef struct snapshot {
    double *q, *v, *x, *R;     /* of the world; R: 9 per tet of all bodies */
    lag *friction;
    int friction_count, friction_cap;
} snapshot;

/* rotation of F by Newton's iteration R <- (R + R^-T)/2; det F > 0 */
static void own_polar(const double F[9], double R[9])
{
    memcpy(R, F, 9 * sizeof *R);
    for (int k = 0; k < 60; k++) {
        double inverse[9];
        if (embi_m3_inverse(inverse, R) == 0) return;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j <= i; j++) {
                double a = (R[3 * i + j] + inverse[3 * j + i]) / 2, b = (R[3 * j + i] + inverse[3 * i + j]) / 2;
                R[3 * i + j] = a;
                R[3 * j + i] = b;
            }
    }
}
/* F of tet t at q, from edge matrices now and at creation */
static void own_F(const embi_state *s, const embi_body *b, int t, const double *q, double F[9])
{
    double D[9], D0[9], inverse[9];
    const int *v = b->tet + 4 * t;
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) {
            D[3 * i + a] = q[3 * (b->node0 + v[a + 1]) + i] - q[3 * (b->node0 + v[0]) + i];
            D0[3 * i + a] = s->creation.q[3 * (b->node0 + v[a + 1]) + i] - s->creation.q[3 * (b->node0 + v[0]) + i];
        }
    (void)embi_m3_inverse(inverse, D0);
    embi_m3_mul(F, D, inverse);
}
static double own_elastic(const embi_state *s, const embi_body *b, const double *q, const double *R)
{
    double sum = 0, *strain = (double *)calloc((size_t)(2 * b->nn), sizeof(double)), *volume = strain + b->nn;
    double mu = b->material.young / (2 * (1 + b->material.poisson));
    double lambda = b->material.young * b->material.poisson / ((1 + b->material.poisson) * (1 - 2 * b->material.poisson));
    for (int t = 0; t < b->ntet; t++) {
        double F[9], E[9], V = b->elastic.volume[t], square = 0, trace = 0;
        own_F(s, b, t, q, F);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double one = i == j ? 1 : 0;
                E[3 * i + j] = -one;
                for (int k = 0; k < 3; k++)
                    E[3 * i + j] += b->material.model == EMBIPC_ORTHOGONALITY ? F[3 * i + k] * F[3 * j + k]
                                  : (R[9 * t + 3 * k + i] * F[3 * k + j] + R[9 * t + 3 * k + j] * F[3 * k + i]) / 2;
                square += E[3 * i + j] * E[3 * i + j];
            }
        trace = E[0] + E[4] + E[8];
        if (b->material.model == EMBIPC_ORTHOGONALITY) sum += b->material.stiffness * V * square;
        else sum += V * mu * square + (b->material.averaged ? 0 : V * lambda / 2 * trace * trace);
        for (int a = 0; a < 4; a++) {
            volume[b->tet[4 * t + a]] += V / 4;
            strain[b->tet[4 * t + a]] += V / 4 * trace;
        }
    }
    for (int i = 0; i < b->nn && b->material.averaged && b->material.model != EMBIPC_ORTHOGONALITY; i++)
        sum += lambda / 2 * strain[i] * strain[i] / volume[i];
    free(strain);
    return sum;
}
/* one primitive pair; adds a friction pair when z is given */
static double own_pair(const embi_state *s, const int v[4], int edge_edge, double dhat, double kappa, double mu, double e, int self,
                       const double *x, snapshot *z)
{
    double p[12], rest[12], g[12], d, first, energy, m = 1, c = 0, eps, a[3], b[3], n[3];
    int split = edge_edge == 1 ? 2 : 1;
    for (int k = 0; k < 4; k++) memcpy(p + 3 * k, x + 3 * v[k], 3 * sizeof *p);
    for (int i = 0; i < 3; i++) {
        double lo[2] = {1e300, 1e300}, hi[2] = {-1e300, -1e300};
        for (int k = 0; k < 4; k++) {
            lo[k >= split] = fmin(lo[k >= split], p[3 * k + i]);
            hi[k >= split] = fmax(hi[k >= split], p[3 * k + i]);
        }
        if (lo[0] - dhat > hi[1] || lo[1] - dhat > hi[0]) return 0;
    }
    for (int k = 0; k < 4; k++) memcpy(rest + 3 * k, s->creation.x + 3 * v[k], 3 * sizeof *p);
    if (self) {
        double near = fmin(dhat, (edge_edge ? embipc_edge_edge_distance(rest, NULL) : embipc_point_triangle_distance(rest, NULL)) / 2);
        kappa *= dhat / near;
        dhat = near;
    }
    if (edge_edge == 2) {   /* the point and the edge of the next two */
        double r[3], along = 0, ee = 0, t, sum = 0;
        for (int i = 0; i < 3; i++) {
            along += (p[i] - p[3 + i]) * (p[6 + i] - p[3 + i]);
            ee += (p[6 + i] - p[3 + i]) * (p[6 + i] - p[3 + i]);
        }
        t = ee > 0 ? fmin(1, fmax(0, along / ee)) : 0;
        for (int i = 0; i < 3; i++) {
            r[i] = p[i] - p[3 + i] - t * (p[6 + i] - p[3 + i]);
            sum += r[i] * r[i];
        }
        d = sqrt(sum);
        for (int i = 0; i < 12; i++) g[i] = (i < 3 ? 1 : i < 6 ? t - 1 : i < 9 ? -t : 0) * r[i % 3] / d;
    } else d = edge_edge ? embipc_edge_edge_distance(p, g) : embipc_point_triangle_distance(p, g);
    if (d >= dhat) return 0;
    if (edge_edge == 1) {   /* (2 - c/eps) c/eps below eps = 1e-3 |ea|^2 |eb|^2 at rest, c = |ea x eb|^2 */
        double la = 0, lb = 0, t;
        for (int i = 0; i < 3; i++) {
            la += (rest[3 + i] - rest[i]) * (rest[3 + i] - rest[i]);
            lb += (rest[9 + i] - rest[6 + i]) * (rest[9 + i] - rest[6 + i]);
            a[i] = p[3 + i] - p[i];
            b[i] = p[9 + i] - p[6 + i];
        }
        eps = 1e-3 * la * lb;
        for (int i = 0; i < 3; i++) {
            t = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
            c += t * t;
        }
        if (c < eps) m = (2 - c / eps) * c / eps;
    }
    energy = kappa * m * embipc_barrier(d, dhat, &first, NULL);
    if (z && mu > 0 && first * m != 0) {
        lag *f;
        double l = 0;
        if (z->friction_count == z->friction_cap) z->friction = (lag *)realloc(z->friction, (size_t)(z->friction_cap = 2 * z->friction_cap + 64) * sizeof(lag));
        f = z->friction + z->friction_count++;
        for (int i = 0; i < 3; i++) {
            n[i] = g[i] + (edge_edge == 1 ? g[3 + i] : 0);
            l += n[i] * n[i];
        }
        for (int i = 0; i < 3; i++) f->n[i] = n[i] / sqrt(l);
        for (int k = 0; k < 4; k++) {
            f->v[k] = v[k];
            f->w[k] = g[3 * k] * f->n[0] + g[3 * k + 1] * f->n[1] + g[3 * k + 2] * f->n[2];
        }
        f->weight = mu * kappa * m * -first;
        f->e = e;
    }
    return energy;
}
/* all pairs of two bodies (or of one with itself), found by looking at every one */
static double own_contact(const embipc_world *w, const embi_body *a, const embi_body *b, const double *x, snapshot *z)
{
    const embi_state *s = &w->s;
    const embi_body *one = embi_is_dynamic(a) || !embi_is_dynamic(b) ? a : b, *two = embi_is_dynamic(b) || !embi_is_dynamic(a) ? b : a;
    double sum = 0, dhat = fmin(one->rules.dhat, two->rules.dhat), kappa = fmax(one->rules.kappa, two->rules.kappa),
        mu = sqrt(a->rules.friction * b->rules.friction);
    double e = s->h * fmin(one->rules.epsv, two->rules.epsv);
    int self = a == b, v[4];
    for (int side = 0; side < (self ? 1 : 2); side++) {
        const embi_body *p = side ? b : a, *t = side ? a : b;
        for (int i = 0; i < p->nv; i++)
            for (int k = 0; k < t->nt; k++) {
                v[0] = p->vert0 + i;
                for (int j = 0; j < 3; j++) v[1 + j] = t->vert0 + t->tri[3 * k + j];
                if (v[0] == v[1] || v[0] == v[2] || v[0] == v[3]) continue;
                if (!self && !tree_has_point(p, i)) continue;
                sum += own_pair(s, v, 0, dhat, kappa, mu, e, self, x, z);
                for (int j = 0; j < 3 && !self; j++) {   /* less its edges of two triangles, and the vertices without a border */
                    int u[4] = {v[0], v[1 + j], v[1 + (j + 1) % 3], v[1]};
                    if (tree_is_taken_back(t, 3 * k + j)) sum += own_pair(s, u, 2, dhat, -kappa, mu, e, 0, x, z);
                    u[2] = u[1];
                    if (tree_is_added(t, 3 * k + j)) sum += own_pair(s, u, 2, dhat, kappa, mu, e, 0, x, z);
                }
            }
    }
    for (int i = 0; i < 3 * a->nt; i++)
        for (int k = 0; k < (self ? i : 3 * b->nt); k++) {
            v[0] = a->vert0 + a->tri[i];
            v[1] = a->vert0 + a->tri[3 * (i / 3) + (i + 1) % 3];
            v[2] = b->vert0 + b->tri[k];
            v[3] = b->vert0 + b->tri[3 * (k / 3) + (k + 1) % 3];
            if (!tree_has_edge(a, i) || !tree_has_edge(b, k)) continue;   /* each edge once, but for those inside flat faces */
            if (v[0] == v[2] || v[0] == v[3] || v[1] == v[2] || v[1] == v[3]) continue;
            sum += own_pair(s, v, 1, dhat, kappa, mu, e, self, x, z);
        }
    return sum;
}
/* elastic + barrier + gravity at q, x = J q; friction pairs go to z when it is given */
static double own_potential(const embipc_world *w, const double *q, const double *x, const double *R, snapshot *z)
{
    const embi_state *s = &w->s;
    double sum = 0, *y = (double *)calloc((size_t)(6 * s->node_count + 6), sizeof(double)), *g = y + 3 * s->node_count;
    int tets = 0;
    for (int k = 0; k < s->body_count; k++) {
        const embi_body *b = s->body + k;
        if (embi_is_dynamic(b)) {
            sum += own_elastic(s, b, q, R + 9 * tets);
            for (int i = 0; i < 3 * b->nn; i++) g[i] = s->gravity[i % 3];
            embi_mass_multiply(b, g, y);
            for (int i = 0; i < 3 * b->nn; i++) sum -= y[i] * q[3 * b->node0 + i];
        }
        tets += b->ntet;
        for (int j = k; j < s->body_count; j++) {
            const embi_body *c = s->body + j;
            if (j == k ? b->kind < EMBIPC_CAGE : b->kind == EMBIPC_FIXED && c->kind == EMBIPC_FIXED) continue;
            sum += own_contact(w, b, c, x, z);
        }
    }
    free(y);
    return sum;
}
/* |a - b|_M^2 / 2 over dynamic bodies; b may be NULL */
static double own_kinetic(const embi_state *s, const double *a, const double *b)
{
    double sum = 0, *d = (double *)calloc((size_t)(6 * s->node_count + 6), sizeof(double)), *y = d + 3 * s->node_count;
    for (int k = 0; k < s->body_count; k++) {
        const embi_body *o = s->body + k;
        if (!embi_is_dynamic(o)) continue;
        for (int i = 0; i < 3 * o->nn; i++) d[i] = a[3 * o->node0 + i] - (b ? b[3 * o->node0 + i] : 0);
        embi_mass_multiply(o, d, y);
        for (int i = 0; i < 3 * o->nn; i++) sum += d[i] * y[i] / 2;
    }
    free(d);
    return sum;
}
static double *own_copy(const double *x, int n)
{
    double *r = (double *)malloc((size_t)(n + 1) * sizeof(double));
    memcpy(r, x, (size_t)n * sizeof(double));
    return r;
}
/* x of all vertices */
static void follow(const embipc_world *w)
{
    for (int k = 0; k < w->s.body_count; k++) embi_body_follow(&w->s, w->s.body + k);
}
static snapshot own_snapshot(const embipc_world *w)
{
    const embi_state *s = &w->s;
    snapshot z;
    int tets = 0;
    memset(&z, 0, sizeof z);
    follow(w);
    z.q = own_copy(s->q, 3 * s->node_count);
    z.v = own_copy(s->v, 3 * s->node_count);
    z.x = own_copy(s->x, 3 * s->vert_count);
    for (int k = 0; k < s->body_count; k++) tets += s->body[k].ntet;
    z.R = (double *)calloc((size_t)(9 * tets + 9), sizeof(double));
    tets = 0;
    for (int k = 0; k < s->body_count; k++)
        for (int t = 0; t < s->body[k].ntet; t++, tets++) {
            double F[9];
            own_F(s, s->body + k, t, z.q, F);
            if (embi_m3_det(F) > 1e-3) own_polar(F, z.R + 9 * tets);
            else embi_polar(z.R + 9 * tets, F);
        }
    return z;
}
static void own_free(snapshot *z)
{
    free(z->q);
    free(z->v);
    free(z->x);
    free(z->R);
    free(z->friction);
}
static double own_friction(const snapshot *z, const double *x)
{
    double sum = 0;
    for (int k = 0; k < z->friction_count; k++) {
        const lag *f = z->friction + k;
        double u[3] = {0, 0, 0}, along = 0, y;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++) u[i] += f->w[j] * (x[3 * f->v[j] + i] - z->x[3 * f->v[j] + i]);
        for (int i = 0; i < 3; i++) along += u[i] * f->n[i];
        for (int i = 0; i < 3; i++) u[i] -= along * f->n[i];
        y = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        sum += f->weight * (y < f->e ? y * y / f->e - y * y * y / (3 * f->e * f->e) : y - f->e / 3);
    }
    return sum;
}

/* V(q1) + D(q1) + |v1 - v0|^2/2 <= V(q0) + |v0|^2/2 + work of the drives, from q and v alone, and as the library says: the
 * inequality of the plain rule. What keep_spin promises is tested in test_motion.c. */
static void energy_of_scene(int which)
{
    embipc_world_def wd = scene_world_def(which);
    scene s;
    double worst = -1e300, worst_driven = -1e300, differ = 0;
    wd.keep_spin = 0;
    wd.friction_iterations = 1;
    s = scene_make(which, &wd);
    for (int n = 0; n < 60; n++) {
        snapshot z = own_snapshot(s.w);
        embi_state *e = &s.w->s;
        double v0 = own_potential(s.w, z.q, z.x, z.R, &z), k0 = own_kinetic(e, z.v, NULL), v1, k1, d1, damping = 0, scale, rise;
        if (!scene_step(&s)) { own_free(&z); break; }
        follow(s.w);
        v1 = own_potential(s.w, e->q, e->x, z.R, NULL);
        k1 = own_kinetic(e, e->v, z.v);
        d1 = own_friction(&z, e->x);
        scale = fabs(v0) + k0 + fabs(v1) + k1 + d1;
        rise = (v1 + k1 + d1 - v0 - k0) / scale;
        /* the damping term has no counterpart here: it makes the library's sum larger, never smaller */
        damping = (s.stats.objective_after - s.stats.objective_before) - (v1 + k1 + d1 - v0 - k0);
        if (which == SCENE_STACK) ENSURE(damping > -1e-9 * scale);
        else differ = fmax(differ, fabs(damping) / scale);
        if (which == SCENE_LINKED) {   /* joints and motors have no counterpart here */
            ENSURE(s.stats.objective_after <= s.stats.objective_before + s.stats.objective_rounding);
            differ = 0;
        } else if (s.stats.drive_work == 0 && s.drives == 0) {
            worst = fmax(worst, rise);
            ENSURE(rise <= 1e-8);
            ENSURE(s.stats.objective_after <= s.stats.objective_before + s.stats.objective_rounding);
        } else {
            worst_driven = fmax(worst_driven, rise - s.stats.drive_work / scale);
            ENSURE(rise - s.stats.drive_work / scale <= 1e-6);
            ENSURE(s.stats.objective_after - s.stats.objective_before <= s.stats.drive_work + s.stats.objective_rounding + 1e-6 * scale);
        }
        ENSURE(s.stats.objective_rounding < 1e-3 * scale);
        own_free(&z);
    }
    ENSURE(differ < 1e-9);
    if (s.drives) printf("  energy, %s: worst (rise - drive work)/size %.2g, own against library %.2g\n", scene_names[which], worst_driven, differ);
    else if (which == SCENE_STACK) printf("  energy, stack (one body damped): worst rise/size %.2g\n", worst);
    else printf("  energy, %s: worst rise/size %.2g, own against library %.2g\n", scene_names[which], worst, differ);
    scene_end(&s);
}
static void test_energy_inequality(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) energy_of_scene(which);
}

/* ---- the same bits ---- */

static void test_two_runs_and_reset(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene a = scene_make(which, NULL), b = scene_make(which, NULL);
        unsigned long long bits[40];
        long before, after;
        size_t bytes, bytes_after;
        for (int n = 0; n < 40; n++) {
            if (!scene_step(&a) || !scene_step(&b)) break;
            bits[n] = scene_bits(a.w);
            ENSURE(bits[n] == scene_bits(b.w));
        }
        embipc_world_memory(a.w, &bytes, NULL, &before);
        for (int again = 0; again < 3; again++) {   /* after a whole run, and after two parts of one */
            int same = 1;
            if (again) (void)ENSURE_OK(a.w, embipc_world_reset(a.w));
            for (int n = 0; again && n < (again == 1 ? 3 : 11) && scene_step(&a); n++) continue;
            (void)ENSURE_OK(a.w, embipc_world_reset(a.w));
            ENSURE(embipc_world_time(a.w) == 0);
            for (int n = 0; n < 40 && scene_step(&a); n++) same = same && bits[n] == scene_bits(a.w);
            if (!same) printf("  %s: run %d after a reset differs\n", scene_names[which], again + 2);
            ENSURE(same);
            ENSURE(a.stats.step == 40);
        }
        embipc_world_memory(a.w, &bytes_after, NULL, &after);
        if (before != after) printf("  %s: %ld allocations in the runs after a reset\n", scene_names[which], after - before);
        ENSURE(before == after && bytes == bytes_after);
        scene_end(&a);
        scene_end(&b);
    }
}

/* a clock that asks in the middle of a step */
static double asking_clock(void *ctx)
{
    const scene *s = (const scene *)ctx;
    embipc_body_state state;
    for (int k = 0; s->w && k < s->n; k++) (void)embipc_body_get_state(s->w, s->body[k], &state);
    return 0;
}

/* asking for statistics, or for crossings, changes nothing, nor does asking for states while a step is made */
static void test_looking_changes_nothing(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) {
        embipc_world_def asking = scene_world_def(which);
        scene a = scene_make(which, NULL), b = scene_make(which, NULL), c;
        int same = 1;
        memset(&c, 0, sizeof c);
        asking.clock = asking_clock;
        asking.clock_ctx = &c;
        c = scene_make(which, &asking);
        for (int n = 0; n < 40; n++) {
            embipc_error e;
            if (!scene_step(&a) || !ENSURE_OK(b.w, embipc_world_step(b.w, NULL)) || !scene_step(&c)) break;
            (void)embipc_world_intersections(a.w, NULL, 0);
            (void)embipc_world_validate(a.w, &e);
            (void)scene_state(a.w, a.body[1]);
            same = same && scene_bits(a.w) == scene_bits(b.w) && scene_bits(c.w) == scene_bits(b.w);
        }
        if (!same) printf("  %s: steps without statistics, or with an asking clock, give other bits\n", scene_names[which]);
        ENSURE(same);
        scene_end(&a);
        scene_end(&b);
        scene_end(&c);
    }
}

/* ---- islands ---- */

static void test_far_body(void)
{
    static const embipc_kind kinds[4] = {EMBIPC_FIXED, EMBIPC_KINEMATIC, EMBIPC_AFFINE, EMBIPC_FULL};
    for (int which = 0; which < SCENE_COUNT; which++)
        for (int k = 0; k < 4; k++)
            for (int place = TEST_STRIDE > 1 ? (which + k) % 3 : 0; place < 3; place += TEST_STRIDE) {
                int at = place == 0 ? 0 : place == 1 ? 2 : 99, same = 1;
                scene a = scene_make(which, NULL), b = scene_make_with_far(which, at, kinds[k]);
                for (int n = 0; n < 25; n++) {
                    if (!scene_step(&a) || !scene_step(&b)) break;
                    for (int i = 0; i < a.n; i++) same = same && scene_body_bits(a.w, a.body[i]) == scene_body_bits(b.w, b.body[i]);
                    for (int i = 0; i < a.drives; i++) {
                        embipc_drive_state p, q;
                        (void)embipc_drive_get_state(a.w, a.drive[i], &p);
                        (void)embipc_drive_get_state(b.w, b.drive[i], &q);
                        same = same && p.shortfall == q.shortfall && p.blocked == q.blocked && p.gap == q.gap;
                    }
                }
                if (!same) printf("  %s: a far %s body (place %d) changes it\n", scene_names[which], kind_name[kinds[k]], place);
                ENSURE(same);
                scene_end(&a);
                scene_end(&b);
            }
}

static void add_tower(scene *s, double x)
{
    embipc_body_def d = scene_def("ground", EMBIPC_FIXED, x, 0, -0.05);
    d.friction = 0.4;
    scene_box(s, d, 0.5, 0.5, 0.1, 1);
    for (int k = 0; k < 3; k++) {
        d = scene_def("block", k == 1 ? EMBIPC_CAGE : EMBIPC_AFFINE, x + 0.004 * k, 0, 0.0253 + 0.0503 * k);
        d.friction = 0.4;
        scene_box(s, d, 0.05, 0.05, 0.05, 1);
    }
}
static void test_two_stacks_are_two_worlds(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene both = scene_empty(&wd), one = scene_empty(&wd), two = scene_empty(&wd);
    add_tower(&both, 0);
    add_tower(&both, 7);
    add_tower(&one, 0);
    add_tower(&two, 7);
    for (int n = 0; n < 60; n++) {
        if (!scene_step(&both) || !scene_step(&one) || !scene_step(&two)) break;
        for (int k = 0; k < 4; k++) {
            ENSURE(scene_body_bits(both.w, both.body[k]) == scene_body_bits(one.w, one.body[k]));
            ENSURE(scene_body_bits(both.w, both.body[4 + k]) == scene_body_bits(two.w, two.body[k]));
        }
        ENSURE(both.stats.islands == one.stats.islands + two.stats.islands);
        ENSURE(both.stats.total_iterations == one.stats.total_iterations + two.stats.total_iterations);
    }
    scene_end(&both);
    scene_end(&one);
    scene_end(&two);
}

/* ---- embedding ---- */

/* Backward Euler of an affine body x = A X + p with the energy k V |A A^T - I|^2, X from the centre of mass; Newton on A. */
typedef struct abd { double A[9], W[9], p[3], v[3]; } abd;
static void abd_step(abd *s, const double S[9], double kV, double h, const double g[3])
{
    double target[9], A[9];
    for (int i = 0; i < 9; i++) target[i] = s->A[i] + h * s->W[i];
    memcpy(A, s->A, sizeof A);
    for (int it = 0; it < 50; it++) {
        double C[9], G[9], H[9][10], AtA[9], most = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                C[3 * i + j] = i == j ? -1 : 0;
                AtA[3 * i + j] = 0;
                for (int k = 0; k < 3; k++) {
                    C[3 * i + j] += A[3 * i + k] * A[3 * j + k];
                    AtA[3 * i + j] += A[3 * k + i] * A[3 * k + j];
                }
            }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double inertia = 0, force = 0;
                for (int k = 0; k < 3; k++) {
                    inertia += (A[3 * i + k] - target[3 * i + k]) * S[3 * k + j];
                    force += C[3 * i + k] * A[3 * k + j];
                }
                G[3 * i + j] = inertia + h * h * 4 * kV * force;
                for (int k = 0; k < 3; k++)
                    for (int l = 0; l < 3; l++)
                        H[3 * i + j][3 * k + l] = (i == k ? S[3 * l + j] : 0) + h * h * 4 * kV *
                            (A[3 * k + j] * A[3 * i + l] + (i == k ? AtA[3 * l + j] : 0) + (j == l ? C[3 * i + k] : 0));
            }
        for (int i = 0; i < 9; i++) H[i][9] = -G[i];
        for (int i = 0; i < 9; i++) {   /* Gauss with pivots */
            int best = i;
            for (int r = i + 1; r < 9; r++)
                if (fabs(H[r][i]) > fabs(H[best][i])) best = r;
            for (int c = 0; c < 10; c++) { double t = H[i][c]; H[i][c] = H[best][c]; H[best][c] = t; }
            for (int r = 0; r < 9; r++) {
                double f = r == i ? 0 : H[r][i] / H[i][i];
                for (int c = i; c < 10 && f != 0; c++) H[r][c] -= f * H[i][c];
            }
        }
        for (int i = 0; i < 9; i++) {
            A[i] += H[i][9] / H[i][i];
            most = fmax(most, fabs(H[i][9] / H[i][i]));
        }
        if (most < 1e-15) break;
    }
    for (int i = 0; i < 9; i++) s->W[i] = (A[i] - s->A[i]) / h;
    memcpy(s->A, A, sizeof A);
    for (int i = 0; i < 3; i++) {
        s->v[i] += h * g[i];
        s->p[i] += h * s->v[i];
    }
}
static void test_affine_is_affine_body_dynamics(void)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0.1, 0.2, 0.3);
    scene s;
    abd r;
    embipc_body_view v;
    double S[9], worst = 0, *x0, V = 0.1 * 0.2 * 0.3, extent[3] = {0.1, 0.2, 0.3}, w[3] = {3, 2, -5}, c[3] = {0.1, 0.2, 0.3};
    wd.tolerance = 1e-11;
    wd.keep_spin = 0;   /* the integrator here is plain backward Euler */
    s = scene_empty(&wd);
    d.material.model = EMBIPC_ORTHOGONALITY;
    d.material.stiffness = 2e5;
    d.velocity[0] = 1;
    memcpy(d.angular_velocity, w, sizeof w);
    scene_box(&s, d, extent[0], extent[1], extent[2], 1);
    x0 = scene_positions(s.w, s.body[0]);
    memset(&r, 0, sizeof r);
    memset(S, 0, sizeof S);
    for (int i = 0; i < 3; i++) {
        r.A[4 * i] = 1;
        r.p[i] = c[i];
        S[4 * i] = 1000 * V * extent[i] * extent[i] / 12;
    }
    r.v[0] = 1;
    r.W[1] = -w[2]; r.W[2] = w[1]; r.W[3] = w[2]; r.W[5] = -w[0]; r.W[6] = -w[1]; r.W[7] = w[0];
    for (int n = 0; n < 50 && scene_step(&s); n++) {
        abd_step(&r, S, d.material.stiffness * V, wd.time_step, wd.gravity);
        (void)embipc_body_get_view(s.w, s.body[0], &v);
        for (int i = 0; i < v.vertex_count; i++)
            for (int k = 0; k < 3; k++) {
                double x = r.p[k];
                for (int j = 0; j < 3; j++) x += r.A[3 * k + j] * (x0[3 * i + j] - c[j]);
                worst = fmax(worst, fabs(x - v.x[3 * i + k]));
            }
    }
    printf("  affine body against an independent integrator, 50 steps of spin: %.2g m\n", worst);
    ENSURE(worst < 1e-9);
    free(x0);
    scene_end(&s);
}

/* a cage that is the body's own tet mesh gives full-space motion */
static void test_cage_of_own_mesh_is_full_space(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s[2];
    double worst = 0;
    int touched = 0;
    wd.tolerance = 1e-8;
    wd.dhat = 1e-3;
    wd.kappa = 1e4;
    wd.friction_velocity = 1e-3;
    for (int k = 0; k < 2; k++) {
        embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0.013, 0.017, -0.05);
        test_mesh m = scene_mesh_tet_box(2, 2, 2, 0.1, 0.08, 0.06), cage = scene_mesh_tet_box(2, 2, 2, 0.1, 0.08, 0.06);
        s[k] = scene_empty(&wd);
        d.friction = 0.5;
        scene_box(&s[k], d, 1, 1, 0.1, 1);
        d = scene_def("block", k ? EMBIPC_CAGE : EMBIPC_FULL, 0, 0, 0.05);
        d.friction = 0.5;
        d.material.averaged = 0;
        d.rotation[0] = d.rotation[8] = cos(0.3);
        d.rotation[2] = sin(0.3);
        d.rotation[6] = -sin(0.3);
        d.velocity[0] = 0.2;
        if (k) {
            test_mesh_compact(&m);
            d.cage_x = cage.x;
            d.cage_node_count = cage.vertex_count;
            d.cage_tets = cage.tets;
            d.cage_tet_count = cage.tet_count;
        }
        scene_add_mesh(&s[k], &d, &m, 0);
        test_mesh_free(&cage);
    }
    for (int n = 0; n < 30; n++) {
        embipc_body_view a, b;
        if (!scene_step(&s[0]) || !scene_step(&s[1])) break;
        touched += s[0].stats.contacts > 0;
        (void)embipc_body_get_view(s[0].w, s[0].body[1], &a);
        (void)embipc_body_get_view(s[1].w, s[1].body[1], &b);
        ENSURE(a.node_count == b.node_count && a.vertex_count == b.vertex_count && a.triangle_count == b.triangle_count);
        for (int i = 0; i < 3 * a.node_count && a.node_count == b.node_count; i++) worst = fmax(worst, fabs(a.q[i] - b.q[i]));
    }
    printf("  cage of its own mesh against full space, %d of 30 steps in contact: %.2g m\n", touched, worst);
    ENSURE(touched > 10);
    ENSURE(worst < 1e-9);
    scene_end(&s[0]);
    scene_end(&s[1]);
}

/* a cage with tets that hold no surface vertex, and tets that hold nothing of the body at all */
static void test_empty_cage_tets(void)
{
    for (int averaged = 0; averaged < 2; averaged++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
        test_mesh m = test_mesh_box(-0.03, -0.03, -0.03, 0.03, 0.03, 0.03), cage = scene_mesh_tet_box(5, 5, 4, 0.2, 0.2, 0.12);
        scene s = scene_empty(&wd);
        double speed = 0, lo, hi;
        int pivots = 0, empty = 0;
        scene_box(&s, d, 1, 1, 0.1, 1);
        d = scene_def("block", EMBIPC_CAGE, 0, 0, 0.035);
        d.cage_x = cage.x;
        d.cage_node_count = cage.vertex_count;
        d.cage_tets = cage.tets;
        d.cage_tet_count = cage.tet_count;
        d.material.averaged = averaged;
        scene_add_mesh(&s, &d, &m, 0);
        for (int t = 0; s.n == 2 && t < s.w->s.body[1].ntet; t++) {
            double v = embi_tet_det(cage.x + 3 * cage.tets[4 * t], cage.x + 3 * cage.tets[4 * t + 1], cage.x + 3 * cage.tets[4 * t + 2], cage.x + 3 * cage.tets[4 * t + 3]) / 6;
            empty += s.w->s.body[1].elastic.volume[t] <= 1.001 * EMBI_GHOST_FILL * v;
        }
        for (int n = 0; n < 60 && scene_step(&s); n++) {
            pivots += s.stats.regularized_pivots;
            speed = fmax(speed, s.stats.max_speed);
            ENSURE(scene_finite(s.w));
            for (int i = 0; i < 3 * s.w->s.node_count; i++) ENSURE(fabs(s.w->s.q[i]) < 1);
        }
        scene_extent(s.w, s.body[1], 2, &lo, &hi);
        printf("  cage with %d empty tets of %d: %d regularised pivots, top speed %.3g m/s, height at the end %.4g\n", empty, cage.tet_count, pivots, speed, hi - lo);
        ENSURE(empty > 10);
        ENSURE(pivots == 0);
        ENSURE(speed < 0.6 && lo > 0 && hi - lo > 0.055 && hi - lo < 0.061);
        test_mesh_free(&cage);
        scene_end(&s);
    }
}

/* Crushed between two plates and spun by 3 rad a step: det F of an affine body stays positive in every step, stiff or (where it would
 * turn inside out without the bound) soft. Orthogonality does not mind a volume of none: whether such a block reaches the
 * bound, which ends its steps, changes with every tenth of kappa. A block that keeps its spin is torn apart besides: the
 * stress of 360 rad/s is three times its stiffness. */
static void test_affine_never_inverts(void)
{
    for (int k = 0; k < 8; k++) {
        double down[14] = {0, 0, 0, 0, 0, 0, 0, 0.3, 0, 0, -0.0855, 0, 0, 0};
        int model = k % 2, soft = k / 2 % 2, keep = k / 4, cut = 0;
        static const double centre[3] = {0, 0, 0};
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
        scene s;
        double least = 1;
        if (soft) down[7] = 0.03;
        wd.dhat = 1e-3;
        wd.kappa = 40.7;   /* for the weight alone */
        wd.keep_spin = keep;
        s = scene_empty(&wd);
        d.friction = 0.6;
        scene_box(&s, d, 1, 1, 0.1, 1);
        d = scene_def("block", EMBIPC_AFFINE, 0, 0, 0.031);
        d.friction = 0.6;
        d.material.young = soft ? 1e3 : 1e4;
        d.material.stiffness = soft ? 1e2 : 1e3;
        d.material.model = model ? EMBIPC_ORTHOGONALITY : EMBIPC_COROTATED;
        d.angular_velocity[0] = 200;
        d.angular_velocity[2] = 300;
        scene_box(&s, d, 0.03, 0.03, 0.03, 1);
        d = scene_def("press", EMBIPC_KINEMATIC, 0, 0, 0.1);
        d.friction = 0.6;
        scene_box(&s, d, 0.3, 0.3, 0.02, 1);
        scene_drive(&s, 2, down, 2, centre, NULL, 0);
        for (int n = 0; n < 60 && scene_step(&s); n++) {
            double F[9];
            own_F(&s.w->s, s.w->s.body + 1, 0, s.w->s.q, F);
            least = fmin(least, embi_m3_det(F));
            cut += !s.stats.converged;
            ENSURE(scene_sound(s.w));
        }
        printf("  affine body crushed and spun, %s, %s: smallest det F %.3g, %d of 60 steps cut short\n", model ? "orthogonality" : "corotated", soft ? "soft" : "stiff", least, cut);
        if (!soft && !model && !keep) ENSURE(cut == 0);
        ENSURE(least > 0);
        scene_end(&s);
    }
}

/* ---- weights ---- */

/* x = J q by the weights that are given out, of every kind of body */
static void test_weights_make_the_surface(void)
{
    embipc_body none = {0, 0};
    int seen[EMBIPC_FULL + 1] = {0};
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        for (int n = 0; n < 3; n++) scene_step(&s);
        for (int i = 0; i < s.n; i++) {
            static int node[4 * 4096];
            static double weight[4 * 4096];
            embipc_body_view v;
            embipc_result r = embipc_body_weights(s.w, s.body[i], node, weight);
            ENSURE(embipc_body_get_view(s.w, s.body[i], &v) == EMBIPC_OK && v.vertex_count <= 4096);
            ENSURE(r == (v.node_count ? EMBIPC_OK : EMBIPC_ERR_ARGUMENT));
            for (int k = 0; k < v.vertex_count && r == EMBIPC_OK; k++) {
                double p[3] = {0, 0, 0}, sum = 0;
                for (int j = 4 * k; j < 4 * k + 4; j++) {
                    ENSURE(node[j] >= 0 && node[j] < v.node_count);
                    embi_axpy(p, weight[j], v.q + 3 * node[j]);
                    sum += weight[j];
                }
                ENSURE_CLOSE(sum, 1, 1e-14);
                for (int c = 0; c < 3; c++) ENSURE(p[c] == v.x[3 * k + c]);
                seen[v.kind]++;
            }
        }
        ENSURE(embipc_body_weights(s.w, s.body[0], NULL, NULL) == EMBIPC_ERR_ARGUMENT);
        scene_end(&s);
    }
    ENSURE(seen[EMBIPC_KINEMATIC] && seen[EMBIPC_AFFINE] && seen[EMBIPC_CAGE] && seen[EMBIPC_FULL]);
    ENSURE(embipc_body_weights(NULL, none, NULL, NULL) == EMBIPC_ERR_HANDLE);
}

/* ---- forces ---- */

static void settle(scene *s, int most)
{
    for (int n = 0; n < most && scene_step(s); n++)
        if (n > 30 && s->stats.max_speed < 1e-9) break;
}

/* Blocks of all kinds at rest: the ground carries their weight, action is reaction, vertex forces add up. */
static void test_forces_of_a_block_at_rest(void)
{
    for (int k = 0; k < 3; k++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, -0.05);
        embipc_pair_force f[4];
        embipc_body_view v;
        embipc_body_state st;
        double sum[2][3] = {{0, 0, 0}, {0, 0, 0}}, *force;
        scene s;
        wd.tolerance = 1e-9;
        s = scene_empty(&wd);
        d.friction = 0.5;
        scene_box(&s, d, 1, 1, 0.1, 1);
        d = scene_def("block", dynamic_kind[k], 0.012, 0.007, 0.0505);
        d.friction = 0.5;
        d.material.damping[1] = 0.01;
        scene_box(&s, d, 0.1, 0.1, 0.1, 2);
        settle(&s, 400);
        st = scene_state(s.w, s.body[1]);
        ENSURE(embipc_world_pair_forces(s.w, f, 4) == 1);
        ENSURE(f[0].a.index1 == s.body[0].index1 && f[0].b.index1 == s.body[1].index1);
        ENSURE_REL(f[0].force[2], st.mass * wd.gravity[2], 1e-6);   /* on the ground */
        ENSURE(fabs(f[0].force[0]) < 1e-6 * st.mass && fabs(f[0].force[1]) < 1e-6 * st.mass);
        for (int b = 0; b < 2; b++) {
            (void)embipc_body_get_view(s.w, s.body[b], &v);
            force = (double *)calloc((size_t)(3 * v.vertex_count), sizeof(double));
            (void)embipc_body_vertex_forces(s.w, s.body[b], force);
            for (int i = 0; i < 3 * v.vertex_count; i++) sum[b][i % 3] += force[i];
            free(force);
        }
        for (int i = 0; i < 3; i++) {
            ENSURE_CLOSE(sum[0][i], f[0].force[i], 1e-12 * st.mass * 9.81 * 100);
            ENSURE_CLOSE(sum[0][i] + sum[1][i], 0, 1e-12 * st.mass * 9.81 * 100);
        }
        {   /* the contacts say the same */
            static embipc_contact c[4096];
            int n = embipc_world_contacts(s.w, c, 4096);
            double up = 0;
            for (int i = 0; i < n && i < 4096; i++) {
                embipc_real gap = 0;
                for (int a = 0; a < 3; a++) gap += (c[i].point_a[a] - c[i].point_b[a]) * c[i].normal[a];
                up += c[i].force * c[i].normal[2] * (c[i].a.index1 == s.body[1].index1 ? 1 : -1);
                ENSURE_CLOSE(gap, c[i].distance, 1e-12);
            }
            ENSURE(n > 0 && n <= 4096);
            if (k == 2) ENSURE_REL(up, st.mass * 9.81, 0.05);   /* mollified pairs have a part along the edges too */
        }
        printf("  %s block at rest: carries %.9f of its weight, speed %.1g m/s\n", kind_name[dynamic_kind[k]], f[0].force[2] / (st.mass * wd.gravity[2]), s.stats.max_speed);
        scene_end(&s);
    }
}

/* A step that calls itself converged is in balance: for each free body the change of momentum is h times gravity and the contact
 * forces that are reported. Returns the worst residual in units of mass times the body's tolerance. */
static double imbalance(scene *s)
{
    double before[SCENE_BODIES][3], worst = 0;
    embipc_pair_force f[64];
    int n;
    for (int k = 0; k < s->n; k++) memcpy(before[k], scene_state(s->w, s->body[k]).momentum, sizeof before[k]);
    if (!scene_step(s) || !s->stats.converged) return 0;
    n = embipc_world_pair_forces(s->w, f, 64);
    ENSURE(n + s->joints <= 64);
    for (int k = 0; k < s->joints; k++, n++) {   /* that of a joint acts on its second body */
        const embi_joint *j = s->w->s.driven.joint.list + k;
        memset(f + n, 0, sizeof *f);
        f[n].a = j->def.b;
        f[n].b = j->def.a;
        memcpy(f[n].force, j->reached.force, sizeof f[n].force);
    }
    for (int k = 0; k < s->n; k++) {
        embipc_body_state st = scene_state(s->w, s->body[k]);
        embipc_body_parameters p;
        const embi_body *b = s->w->s.body + k;
        double h = s->w->s.h, r = 0;
        if (!embi_is_dynamic(b) || b->driven_nodes || b->material.damping[0] > 0) continue;
        (void)embipc_body_get_parameters(s->w, s->body[k], &p);
        for (int i = 0; i < 3; i++) {
            double total = st.mass * s->w->s.gravity[i];
            for (int j = 0; j < n; j++)
                total += f[j].a.index1 == s->body[k].index1 ? f[j].force[i] : f[j].b.index1 == s->body[k].index1 ? -f[j].force[i] : 0;
            r = fmax(r, fabs(st.momentum[i] - before[k][i] - h * total));
        }
        worst = fmax(worst, r / (st.mass * p.tolerance));
    }
    return worst;
}
static void test_converged_means_balanced(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        double worst = 0;
        for (int n = 0; n < 60; n++) worst = fmax(worst, imbalance(&s));
        printf("  imbalance of converged steps, %s: %.3g of mass times tolerance\n", scene_names[which], worst);
        ENSURE(worst < 100);
        scene_end(&s);
    }
    for (int k = 0; k < 4; k++) {   /* out of gaps as an impact leaves them */
        static const double gap[4] = {1e-4, 1e-6, 1e-9, 1e-12};
        embipc_world_def wd = embipc_default_world_def();
        scene s = scene_empty(&wd);
        embipc_body_def d = scene_def("ground", EMBIPC_FIXED, 0, 0, 0);
        test_mesh m = test_mesh_box(-0.5, -0.5, -0.1, 0.5, 0.5, 0);
        double worst = 0;
        scene_add_mesh(&s, &d, &m, 0);
        d = scene_def("block", EMBIPC_FULL, 0.013, 0.021, 0);
        m = scene_mesh_tet_box(1, 1, 1, 0.1, 0.1, 0.1);
        for (int i = 0; i < m.vertex_count; i++) m.x[3 * i + 2] = m.x[3 * i + 2] > 0 ? 0.1 : gap[k];
        scene_add_mesh(&s, &d, &m, 0);
        for (int n = 0; n < 20; n++) worst = fmax(worst, imbalance(&s));
        printf("  imbalance of converged steps out of a gap of %g m: %.3g of mass times tolerance\n", gap[k], worst);
        ENSURE(worst < 100);
        scene_end(&s);
    }
}

/* a = F/m, on the whole body and at a vertex; the force is gone in the next step */
static void test_applied_force_and_velocity(void)
{
    for (int k = 0; k < 3; k++) {
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("ball", dynamic_kind[k], 0, 0, 1);
        static const double F[3] = {3, -2, 1}, v0[3] = {1, 2, 3}, spin[3] = {0.3, -0.2, 0.5};
        embipc_body_state st;
        embipc_body_view v;
        scene s;
        for (int i = 0; i < 3; i++) wd.gravity[i] = 0;
        wd.tolerance = 1e-10;
        s = scene_empty(&wd);
        scene_ball(&s, d, 0.1, 1, 1);
        (void)ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[0], -1, F));
        scene_step(&s);
        st = scene_state(s.w, s.body[0]);
        (void)embipc_body_get_view(s.w, s.body[0], &v);
        for (int i = 0; i < 3; i++) ENSURE_REL(st.momentum[i], F[i] * wd.time_step, 1e-10);
        for (int i = 0; i < 3 * v.node_count; i++) ENSURE_REL(v.v[i], F[i % 3] * wd.time_step / st.mass, 1e-9);
        scene_step(&s);
        st = scene_state(s.w, s.body[0]);
        for (int i = 0; i < 3; i++) ENSURE_REL(st.momentum[i], F[i] * wd.time_step, 1e-10);
        (void)ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[0], 3, F));
        (void)ENSURE_OK(s.w, embipc_body_apply_force(s.w, s.body[0], -1, F));
        scene_step(&s);
        st = scene_state(s.w, s.body[0]);
        for (int i = 0; i < 3; i++) ENSURE_REL(st.momentum[i], 3 * F[i] * wd.time_step, 1e-10);
        (void)ENSURE_OK(s.w, embipc_world_reset(s.w));
        (void)ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[0], v0, spin));
        st = scene_state(s.w, s.body[0]);
        for (int i = 0; i < 3; i++) {
            ENSURE_REL(st.velocity[i], v0[i], 1e-12);
            ENSURE_REL(st.angular_velocity[i], spin[i], 1e-9);
        }
        scene_end(&s);
    }
}

/* On a body that was squashed the centre of mass is not that of the volume: velocity and spin are about it. */
static void test_velocity_of_a_deformed_body(void)
{
    static const double v0[3] = {1, 2, 3}, spin[3] = {3, -2, 5};
    scene s = scene_make(1, NULL);
    for (int n = 0; n < 25; n++) scene_step(&s);
    for (int b = 0; b < s.n; b++) {
        embipc_body_state st;
        if (!(scene_state(s.w, s.body[b]).kinetic >= 0) || scene_state(s.w, s.body[b]).mass == 0) continue;
        (void)ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[b], v0, spin));
        st = scene_state(s.w, s.body[b]);
        for (int i = 0; i < 3; i++) {
            ENSURE_REL(st.velocity[i], v0[i], 1e-12);
            ENSURE_REL(st.angular_velocity[i], spin[i], 1e-9);
        }
    }
    scene_end(&s);
}

/* Whatever happens in a step, the candidates of a pair are complete for where it started, is and has been. */
static void test_ranges_hold_the_path(void)
{
    int strained = 0, loose = 0, drifts = 0, parts = 0;
    double drift;
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        int pairs = 0;
        for (int n = 0; n < 30 && scene_step(&s); n++)
            for (int k = 0; k < s.w->s.pair_count; k++) {
                const embi_pair *p = s.w->s.pair + k;
                const embi_body *a = s.w->s.body + p->a, *b = s.w->s.body + p->b;
                double now[6];
                embi_relative_box(&a->search.shift, p->pa, &b->search.shift, p->pb, now);
                parts += p->pa || p->pb;
                if (a == b) {
                    double part[TREE_SHIFT_ROOM], *w = s.w->s.scratch.nodes + 3 * a->node0;
                    embi_shift shift = tree_shift(a, part);
                    strained += embi_strained_tets(a) > 0;
                    loose += p->loose;
                    if (embi_cached_of(s.w, p)->valid) {   /* what the list stands counts from where it was made */
                        (void)embi_body_shift(a, s.w->s.reference.cached_q, s.w->s.q, s.w->s.scratch.nodes, NULL,
                                              &shift);
                        for (int t = 0; t < embi_strained_tets(a); t++) {
                            drift = tree_strain(a, t, w);
                            ENSURE(drift <= a->search.strain[t].limit);
                            ENSURE(fabs(a->search.strain[t].start - drift) < 1e-6);
                            drifts += drift > 1e-3;
                        }
                    }
                }
                for (int i = 0; i < 3 && !p->loose; i++) {
                    ENSURE(p->range[i] <= 0 && p->range[3 + i] >= 0);
                    ENSURE(p->range[i] <= now[i] && p->range[3 + i] >= now[3 + i]);
                }
                pairs++;
            }
        ENSURE(pairs > 0);
        scene_end(&s);
    }
    printf("  %d pairs of patches; %d times a body was told how much it may be strained, %d times no more than that\n", parts,
           strained, loose);
    ENSURE(strained > 0 && loose > 0 && drifts > 0 && parts > 0);
}

/* Each pair of panels is there once, and those of two bodies have the first of them as their head. Returns how many came
 * late to others. */
static int ensure_pairs(const embi_state *s)
{
    int joined = 0;
    for (int n = 0; n < s->pair_count; n++) {
        const embi_pair *p = s->pair + n, *q = s->pair;
        while (q->a != p->a || q->b != p->b) q++;
        ENSURE(p->a <= p->b && s->pair + p->head == q);
        ENSURE(p->pa < s->body[p->a].search.patch_count && p->pb < s->body[p->b].search.patch_count);
        joined += p->late && q < p;
        for (; q < p; q++) ENSURE(q->a != p->a || q->b != p->b || q->pa != p->pa || q->pb != p->pb);
    }
    return joined;
}

/* Contacts are those of two bodies, whatever panels they were found by: they stand one behind the other, no two on the
 * same feature at the same distance, and are counted by one pair. */
static void test_contacts_of_panels_are_those_of_bodies(void)
{
    int all = 0, runs = 0, twice = 0, joined = 0;
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        for (int n = 0; n < 40 && scene_step(&s); n++) {
            joined += ensure_pairs(&s.w->s);
            for (int k = 0; k < s.w->islands.order_count; k++) {
                const embi_contacts *c = &s.w->islands.list[s.w->islands.order[k]]->contacts;
                unsigned char *seen = (unsigned char *)calloc((size_t)s.w->s.pair_count + 1, 1);
                for (int i = 0, begin = 0; i < c->count; i++) {
                    const embi_contact *one = c->list + i;
                    const embi_pair *pair = s.w->s.pair + one->base.pair;
                    int base_b = s.w->s.body[pair->b].vert0, split = pair->a == pair->b ? INT_MAX : base_b;
                    embi_u64 feature = embi_contact_feature(one, s.w->s.body[pair->a].vert0, base_b, split);
                    ENSURE(pair->head == one->base.pair);
                    if (i == 0 || one->base.pair != c->list[begin].base.pair) {
                        begin = i;
                        runs++;
                        ENSURE(!seen[one->base.pair]);
                        seen[one->base.pair] = 1;
                    }
                    for (int j = begin; j < i && feature; j++)
                        twice += c->list[j].gap == one->gap && c->list[j].dhat == one->dhat &&
                                 embi_contact_feature(c->list + j, s.w->s.body[pair->a].vert0, base_b, split) == feature;
                    all++;
                }
                free(seen);
            }
        }
        scene_end(&s);
    }
    printf("  %d contacts of %d pairs of bodies, %d of them could be one with another; %d pairs of panels came late\n", all,
           runs, twice, joined);
    ENSURE(all > 1500 && runs > 200 && twice == 0 && joined > 20);
}

/* pairs that come late go behind those of their bodies */
static void test_late_pairs_join_the_others(void)
{
    static const int head[7] = {0, 0, 2, 2, 0, 2, 0}, expected[7] = {0, 1, 4, 6, 2, 3, 5};
    embi_pair pair[7];
    int pairs[7];
    embi_state s;
    embi_island I;
    memset(&s, 0, sizeof s);
    memset(&I, 0, sizeof I);
    memset(pair, 0, sizeof pair);
    s.pair = pair;
    I.pairs = pairs;
    for (int n = 0; n < 7; n++) {
        pair[n].head = head[n];
        pair[n].late = n > 3;
        embi_island_list_pair(&s, &I, n);
    }
    ENSURE(I.pair_count == 7 && memcmp(pairs, expected, sizeof expected) == 0);
}

/* A body that passes many others does not leave a list of candidates behind with each: those that no step asks for are
 * given up, and their memory serves the next. */
static void test_lists_of_those_that_part(void)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 6, 18, 0, 0, 0, 0, 0};
    embipc_world_def wd = scene_world_def(SCENE_THROW);
    scene s;
    size_t half = 0, bytes = 0;
    int most = 0, lists = 0;
    wd.time_step = 0.02;
    s = scene_empty(&wd);
    scene_box(&s, scene_def("passer", EMBIPC_KINEMATIC, 0, 0, 0), 0.1, 0.1, 0.1, 1);
    scene_drive(&s, 0, keys, 2, NULL, NULL, 0);
    for (int k = 0; k < 60; k++) {
        embipc_body_def d = scene_def("post", EMBIPC_FIXED, 0.3 * (k + 1), 0.101, 0);
        embipc_body post;
        test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
        test_mesh_shape(&m, &d);
        (void)ENSURE_OK(s.w, embipc_body_create(s.w, &d, &post));
        test_mesh_free(&m);
    }
    for (int n = 0; n < 300; n++) {
        if (!scene_step(&s)) break;
        most = s.w->search.cached_count > most ? s.w->search.cached_count : most;
        embipc_world_memory(s.w, &bytes, NULL, NULL);
        if (n == 150) half = bytes;
    }
    for (int n = 0; n < s.w->search.cached_end; n++) lists += embi_capacity(s.w->search.cached[n].list) > 0;
    printf("  passed 60 bodies: %d lists at once, %d have memory; %lu bytes half way, %lu in the end\n", most, lists,
           (unsigned long)half, (unsigned long)bytes);
    /* two panels a box: four each */
    ENSURE(most > 2 && most <= 40 && lists > 2 && lists <= 40 && s.w->search.cached_end <= 40);
    ENSURE(bytes >= half && bytes - half < half / 100);
    for (int n = 1; n < s.w->search.cached_count; n++) {
        const embi_cached *k = s.w->search.cached + n;
        ENSURE(embi_cached_key(k - 1) < embi_cached_key(k));
    }
    scene_end(&s);
}

/* In a row of many bodies the pairs that a step looks at are those whose regions meet: all of them, each once, in order,
 * whatever the axis along which they stand, and whatever order they were made in. */
static void test_pairs_of_many(void)
{
    unsigned long long seed = 7;
    int parts = 0;
    for (int axis = 0; axis < 4; axis++) {
        embipc_world_def wd = scene_world_def(SCENE_THROW);
        embipc_world *w;
        int met = 0;
        (void)embipc_world_create(&wd, &w, NULL);
        for (int k = 0; k < 150; k++) {
            int at = (int)(k * 37LL % 150);
            embipc_body_def d = scene_def("box", k % 7 == 3 ? EMBIPC_FIXED : EMBIPC_AFFINE, 0, 0, 0);
            test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
            embipc_body body;
            for (int c = 0; c < 3; c++) {
                seed = seed * 6364136223846793005ull + 1442695040888963407ull;
                d.velocity[c] = d.kind == EMBIPC_FIXED ? 0 : ((double)(seed >> 40) / 16777216.0 - 0.5) * (k % 5 == 0 ? 20 : 1);
            }
            if (axis < 3) d.position[axis] = 0.11 * at + 0.004 * (at % 3);
            else {
                d.position[0] = 0.13 * (at % 5);
                d.position[1] = 0.13 * (at / 5 % 5);
                d.position[2] = 0.13 * (at / 25);
            }
            if (axis < 3) d.scale = 0.9;
            if (k % 11 == 0) d.thickness = 0.002;
            test_mesh_shape(&m, &d);
            (void)ENSURE_OK(w, embipc_body_create(w, &d, &body));
            test_mesh_free(&m);
        }
        for (int n = 0; n < 3; n++) {
            embi_bodies_begin(w);
            embi_each_body(w, embi_body_expect);
            embi_each_body(w, embi_body_foresee);
            w->s.pair_count = met = 0;
            ENSURE(embi_regions_sweep(w) && embi_pairs_join(w));
            for (int i = 0; i < w->s.body_count; i++)
                for (int j = i; j < w->s.body_count; j++) {
                    const embi_body *a = w->s.body + i, *b = w->s.body + j;
                    if ((!a->in_island && !b->in_island) || !embi_tested(w, a, b)) continue;
                    for (int k = 0; k < (i == j ? 1 : a->search.patch_count * b->search.patch_count); k++) {
                        int pa = k / b->search.patch_count, pb = k % b->search.patch_count;
                        if (!embi_ranges_meet(a->search.patch[pa].region, embi_none,
                                              embi_max(a->rules.dhat, b->rules.dhat) + a->rules.thickness +
                                                  b->rules.thickness, b->search.patch[pb].region))
                            continue;
                        ENSURE(met < w->s.pair_count && embi_pair_key(w->s.pair + met) == embi_patches_key(i, j, pa, pb));
                        met++;
                        parts += pa > 0 && pb > 0;
                    }
                }
            ENSURE(met == w->search.tri_pair_count && met == w->s.pair_count && met > 0);
            (void)ENSURE_OK(w, embipc_world_step(w, NULL));
        }
        printf("  %s: %d pairs\n", axis == 3 ? "a block" : "a row", met);
        embipc_world_destroy(w);
    }
    ENSURE(parts > 0);
}

/* The candidates of a step come from lists that are kept over steps, and when a body goes: they are those that a search
 * from the step's start finds, in the same order. */
static void test_kept_candidates_are_searched_ones(void)
{
    int served = 0, searched = 0, stayed = 0, large = 0, rebased = 0;
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        embi_key *keys = NULL;
        embi_candidate *list = NULL;
        for (int n = 0; n < 40; n++) {
            int gone = n == 30 && s.w->s.body_count > 2;
            if (gone) (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[which == SCENE_STACK ? 2 : 0]));
            if (!scene_step(&s)) break;
            for (int k = 0; k < s.w->s.pair_count; k++) {
                const embi_pair *p = s.w->s.pair + k;
                embi_body *A = s.w->s.body + p->a, *B = s.w->s.body + p->b;
                double *x = s.w->s.reference.any ? s.w->s.reference.x : s.w->s.xn;
                embi_surface a = embi_surface_of(&s.w->s, A, x), b = embi_surface_of(&s.w->s, B, x);
                double reach = embi_pair_reach(&s.w->s, p);
                embi_approach t = embi_approach_of(p->range, reach);
                t.own = 1;
                const embi_cached *kept = embi_cached_of(s.w, p);
                embi_traversal walk;
                int count = 0, key_count = 0, moved = 0;
                embi_apply_rows(&s.w->s, A, embi_base_q(&s.w->s, A), x);
                embi_apply_rows(&s.w->s, B, embi_base_q(&s.w->s, B), x);
                rebased += A->search.has_reference || B->search.has_reference;
                embi_bvh_refit(&A->bvh, a.x, A->tri, A->nt);
                embi_bvh_refit(&B->bvh, b.x, B->tri, B->nt);
                walk = embi_cached_walk(&s.w->s, kept, &a, &b);   /* as the list's own search began */
                walk.range = p->range;
                walk.reach = reach;
                ENSURE(embi_traverse_all(&s.w->memory, &walk, &keys, &key_count));
                ENSURE(embi_candidates(&s.w->memory, &a, &b, keys, key_count, &p->rule, &t, &list, &count));
                ENSURE(count == p->count);
                for (int i = 0; i < count && i < p->count; i++)
                    ENSURE(memcmp(list[i].v, s.w->s.candidates.list[p->first + i].v, sizeof list[i].v) == 0);
                for (int i = 0; i < 3; i++)
                    moved |= A == B ? kept->drift[3 + i] > A->search.shift.deformation[i] + 1e-15
                                    : kept->drift[i] < A->search.shift.part[6 * p->pa + i] -
                                                           B->search.shift.part[6 * p->pb + 3 + i] - 1e-15 ||
                                          kept->drift[3 + i] > A->search.shift.part[6 * p->pa + 3 + i] -
                                                                   B->search.shift.part[6 * p->pb + i] + 1e-15;
                for (int i = 0; i < 3 && A != B && !moved; i++)   /* this step's is all */
                    ENSURE(fabs(kept->drift[3 + i] - (A->search.shift.part[6 * p->pa + 3 + i] -
                                                      B->search.shift.part[6 * p->pb + i])) < 1e-15);
                served += moved;
                searched += !moved;
                stayed += gone && moved && p->count;
                if (moved || kept->loose || !kept->valid || kept->made + 1 < s.w->step) continue;
                /* just made: complete for its own range, too */
                count = key_count = 0;
                t = embi_cached_approach(kept);
                walk = embi_cached_walk(&s.w->s, kept, &a, &b);
                ENSURE(embi_traverse_all(&s.w->memory, &walk, &keys, &key_count));
                ENSURE(embi_candidates(&s.w->memory, &a, &b, keys, key_count, &p->rule, &t, &list, &count));
                ENSURE(count == kept->count);
                for (int i = 0; i < count && i < kept->count; i++)
                    ENSURE(memcmp(list[i].v, kept->list[i].v, sizeof list[i].v) == 0);
                large += A->bvh.known || B->bvh.known;
            }
            for (int k = 0; k < s.w->s.body_count; k++)
                if (s.w->s.body[k].bvh.known) tree_clear(s.w->s.body + k);
        }
        EMBI_RELEASE(&s.w->memory, keys);
        EMBI_RELEASE(&s.w->memory, list);
        scene_end(&s);
    }
    printf("  pairs in a step: %d served by a list of an earlier one, %d searched anew, %d of them in trees refit where asked; "
           "%d stayed when a body went\n", served, searched, large, stayed);
    ENSURE(served > 100 && searched > 20 && large > 20 && stayed > 2 && rebased > 20);
}

/* every iteration has its record, also those of islands that were joined on the way */
/* The largest distance of a vertex from where J q says. */
static double off_the_nodes(const embipc_world *w, embipc_body body, const embipc_body_view *v)
{
    int *node = (int *)malloc((size_t)(4 * v->vertex_count) * sizeof *node);
    double *weight = (double *)malloc((size_t)(4 * v->vertex_count) * sizeof *weight), worst = 0;
    ENSURE(embipc_body_weights(w, body, node, weight) == EMBIPC_OK);
    for (int i = 0; i < 3 * v->vertex_count; i++) {
        double x = 0;
        if (worst == HUGE_VAL) break;
        for (int c = 0; c < 4; c++) x += weight[4 * (i / 3) + c] * v->q[3 * node[4 * (i / 3) + c] + i % 3];
        worst = isfinite(v->x[i]) ? fmax(worst, fabs(v->x[i] - x)) : HUGE_VAL;
    }
    free(node);
    free(weight);
    return worst;
}

/* Of a surface that is near nothing, and not viewed, a step evaluates no vertex; a view has all of them where J q says. Of
 * one that was viewed they are there after each step, without asking again. */
static void test_surfaces_follow_when_asked(void)
{
    int unknown = 0, moving = 0;
    for (int which = 0; which < SCENE_COUNT; which++)
        for (int first = 0; first < 24; first += 11) {   /* the step after which they are looked at */
            scene s = scene_make(which, NULL);
            embipc_body_view v[SCENE_BODIES];
            for (int n = 0; n < 24 && scene_step(&s); n++) {
                for (int k = 0; k < s.w->s.body_count && n <= first; k++) {
                    const embi_body *b = s.w->s.body + k;
                    for (int i = b->vert0; i < b->vert0 + b->nv && b->in_island; i++, moving++)
                        unknown += s.w->s.vertex_state[i] == EMBI_VERTEX_UNKNOWN;
                }
                for (int k = 0; k < s.n && n >= first; k++) {
                    if (n == first) ENSURE(embipc_body_get_view(s.w, s.body[k], v + k) == EMBIPC_OK);
                    if (v[k].node_count > 0) ENSURE(off_the_nodes(s.w, s.body[k], v + k) < 1e-13);
                }
            }
            scene_end(&s);
        }
    printf("  %d of %d moving vertices were not evaluated in their step\n", unknown, moving);
    ENSURE(3 * unknown > moving);
}

/* Other readers of the surface have it too, when nobody has looked: what a box holds, a drive that pulls at vertices, the
 * centre of what is driven. */
static void test_others_follow(void)
{
    for (int who = 0; who < 3; who++) {
        int which = who < 2 ? SCENE_THROW : SCENE_GRASP;
        scene s = scene_make(which, NULL), t = scene_make(which, NULL);
        for (int n = 0; n < 6; n++) (void)(scene_step(&s) && scene_step(&t));
        for (int k = 0; k < s.n; k++) {
            embipc_body_view v;
            ENSURE(embipc_body_get_view(t.w, t.body[k], &v) == EMBIPC_OK);   /* at t one has looked */
            if (who == 2) {
                embipc_body_state at[2];
                (void)ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[k], at));
                (void)ENSURE_OK(t.w, embipc_body_get_state(t.w, t.body[k], at + 1));
                ENSURE(memcmp(at, at + 1, sizeof *at) == 0);
            }
            if (v.kind < EMBIPC_CAGE || who == 2) continue;
            if (who == 0) {
                double box[6];
                int held[2];
                embi_box_clear(box);
                for (int i = 0; i < v.vertex_count; i++) embi_box_add(box, v.x + 3 * i);
                for (int c = 0; c < 3; c++) box[3 + c] -= 0.4 * (box[3 + c] - box[c]);
                held[0] = embipc_body_select(s.w, s.body[k], box, box + 3, NULL, 0);
                held[1] = embipc_body_select(t.w, t.body[k], box, box + 3, NULL, 0);
                ENSURE(held[0] == held[1] && held[1] > 0);
            } else {
                int vertex = 0;
                embipc_drive_def d = embipc_default_drive_def();
                embipc_drive handle;
                d.stiffness[0] = d.stiffness[1] = d.stiffness[2] = 100;
                d.vertices = &vertex;
                d.vertex_count = 1;
                d.body = s.body[k];
                (void)ENSURE_OK(s.w, embipc_drive_create(s.w, &d, &handle));
                d.body = t.body[k];
                (void)ENSURE_OK(t.w, embipc_drive_create(t.w, &d, &handle));
            }
        }
        for (int n = 0; n < 10; n++) (void)(scene_step(&s) && scene_step(&t));
        ENSURE(scene_bits(s.w) == scene_bits(t.w));
        scene_end(&s);
        scene_end(&t);
    }
}

/* max_speed is no less than that of any vertex, and not far from it. */
static void test_fastest_vertex(void)
{
    double loosest = 0;
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        for (int n = 0; n < 30; n++) {
            double most = 0, *x[SCENE_BODIES] = {NULL};
            embipc_body_view v;
            for (int k = 0; k < s.n; k++) {
                ENSURE(embipc_body_get_view(s.w, s.body[k], &v) == EMBIPC_OK);
                x[k] = own_copy(v.x, 3 * v.vertex_count);
            }
            if (!scene_step(&s)) break;
            for (int k = 0; k < s.n; k++) {
                ENSURE(embipc_body_get_view(s.w, s.body[k], &v) == EMBIPC_OK);
                for (int i = 0; i < v.vertex_count && v.kind >= EMBIPC_AFFINE; i++) {
                    double d[3];
                    embi_sub(d, v.x + 3 * i, x[k] + 3 * i);
                    most = fmax(most, embi_norm(d) / s.w->s.h);
                }
                free(x[k]);
            }
            ENSURE(s.stats.max_speed >= most * (1 - 1e-9));
            if (most > 1e-6) loosest = fmax(loosest, s.stats.max_speed / most);
        }
        scene_end(&s);
    }
    printf("  the fastest vertex: told as up to %.2f times as fast\n", loosest);
    ENSURE(loosest < 2);
}

/* Forces on vertices are those of the last step, of these bodies: of each they add up to what its pairs report, when one
 * of the others goes as well. */
static void test_vertex_forces_are_of_the_last_step(void)
{
    int pressed = 0;
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        for (int n = 0; n < 40; n++) {
            if (n == 25 && s.w->s.body_count > 2) {
                int gone = which == SCENE_STACK ? 2 : 0;
                (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[gone]));
                for (int k = gone; k < s.n - 1; k++) s.body[k] = s.body[k + 1];
                s.n--;
            }
            if (!scene_step(&s)) break;
            for (int k = 0; k < s.n; k++) {
                embipc_pair_force pair[SCENE_BODIES * SCENE_BODIES];
                embipc_body_view v;
                double *f, sum[3] = {0, 0, 0}, most = 1e-9;
                int count = embipc_world_pair_forces(s.w, pair, SCENE_BODIES * SCENE_BODIES);
                if (embipc_body_get_view(s.w, s.body[k], &v) != EMBIPC_OK) continue;
                f = (double *)malloc((size_t)(3 * v.vertex_count) * sizeof *f);
                ENSURE(embipc_body_vertex_forces(s.w, s.body[k], f) == EMBIPC_OK);
                for (int i = 0; i < 3 * v.vertex_count; i++) {
                    sum[i % 3] += f[i];
                    most = fmax(most, fabs(f[i]));
                    pressed += f[i] != 0;
                }
                for (int p = 0; p < count; p++)
                    for (int c = 0; c < 3 && pair[p].a.index1 != pair[p].b.index1; c++) {
                        if (pair[p].a.index1 == s.body[k].index1) sum[c] -= pair[p].force[c];
                        if (pair[p].b.index1 == s.body[k].index1) sum[c] += pair[p].force[c];
                    }
                ENSURE(fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]) <= 1e-9 * most * v.vertex_count);
                free(f);
            }
        }
        scene_end(&s);
    }
    ENSURE(pressed > 1000);
}

static void test_every_solve_is_recorded(void)
{
    for (int which = 0; which < SCENE_COUNT; which++) {
        scene s = scene_make(which, NULL);
        for (int n = 0; n < 30 && scene_step(&s); n++)
            ENSURE(embipc_world_iterations(s.w, NULL) >= s.stats.total_iterations);
        scene_end(&s);
    }
}

/* a spike on its tip over the inside of one triangle: one vertex-triangle pair and nothing else */
static void test_resting_gap(void)
{
    for (int k = 0; k < SPIKE_LOADS; k++) {
        spike_rest r = spike_press(k);
        printf("  resting gap under %g N: %.6g m (closed form %.6g)\n", spike_load[k], r.gap, spike_gap[k]);
        ENSURE(r.contacts == 1 && r.crossings == 0);
        ENSURE_REL(r.gap, spike_gap[k], 2e-5);
        ENSURE_REL(r.force, spike_load[k], 1e-5);
        ENSURE_REL(r.distance, r.gap, 1e-10);
    }
}

static void test_impact_table(void)
{
    for (int m = 0; m < 2; m++) {
        double last = -1;
        for (int k = 0; k < SPIKE_STEPS; k++) {
            spike_hit r = spike_throw(m, k);
            printf("  impact, %g kg, h %g: restitution %.5f (%.5f), smallest gap %.4g (%.4g)\n", spike_mass[m], spike_h[k], r.bounce,
                   spike_bounce[m][k], r.least, spike_least[m][k]);
            ENSURE(r.bounce >= 0 && r.bounce <= 1 + 1e-6 && r.bounce > last);
            ENSURE(r.least > 0 && r.crossings == 0);
            ENSURE_CLOSE(r.bounce, spike_bounce[m][k], 2e-4);
            ENSURE_REL(r.least, spike_least[m][k], 1e-3);
            last = r.bounce;
        }
    }
}

/* Balls that lie close and settle turn their slip round on one another, several contacts in each step. The line search
 * must not end the moves of all for them, one after the other: less than a tenth of the moves are cut by it (16 % by
 * tangents alone, 12 % where no direction is solved for again). */
static void test_turning_friction(void)
{
    int moves = 0, cut = 0;
    for (int turned = 0; turned < 10; turned += TEST_STRIDE) {
        embipc_world_def wd = embipc_default_world_def();
        scene s;
        wd.keep_spin = 0;   /* they settle sooner, and more of the moves are those of friction */
        wd.friction_iterations = 1;
        s = scene_empty(&wd);
        scene_ground(&s, 2, 0.5);
        for (int k = 0; k < 12; k++) {
            embipc_body_def d = scene_def("ball", EMBIPC_AFFINE, 0.1003 * (k % 2), 0.1003 * (k / 2 % 2), 0.0501 + 0.1001 * (k / 4));
            double turn[3] = {0.3 * k + 0.1 * turned, 0.5 * k + 0.2 * turned, 0.7 * k};
            d.friction = 0.5;
            embi_m3_rotation(d.rotation, turn);
            scene_ball(&s, d, 0.05, 2, 0);
        }
        for (int n = 0; n < 60 && scene_step(&s); n++) {
            const embipc_iteration *list;
            int count = embipc_world_iterations(s.w, &list);
            ENSURE(s.stats.converged);
            for (int k = 0; k < count; k++) {
                moves++;
                cut += list[k].alpha < 0.999 * list[k].alpha_ccd;
            }
        }
        scene_end(&s);
    }
    printf("  balls that settle: %d of %d moves cut by the line search\n", cut, moves);
    ENSURE(moves > 2000 / TEST_STRIDE && cut < (TEST_STRIDE > 1 ? 0.13 : 0.1) * moves);   /* by how the balls are turned: 0.07 to 0.14 */
}

/* A step is cut short with all of a drive's way left, and the drive is destroyed. Then a spring drags the box against
 * another: an iteration is recorded whose direction is void, as islands merged. None tells of a way that drives have
 * left. */
static void test_way_left_is_that_of_this_step(void)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 0.01, 0, 0.01, 0, 0, 0, 0};
    const embipc_real far[3] = {(embipc_real)0.2, 0, 0}, none[3] = {0, 0, 0};
    const embipc_iteration *list;
    embipc_world_def wd = embipc_default_world_def();
    embipc_drive_def spring = embipc_default_drive_def();
    embipc_drive drive;
    double left = 0;
    int void_ones = 0;
    scene s;
    embi_set(wd.gravity, 0, 0, 0);
    s = scene_empty(&wd);
    scene_box(&s, scene_def("box", EMBIPC_AFFINE, 0, 0, 0), 0.1, 0.1, 0.1, 1);
    scene_box(&s, scene_def("other", EMBIPC_AFFINE, 0.1003, 0, 0), 0.1, 0.1, 0.1, 1);
    scene_drive(&s, 0, keys, 2, NULL, NULL, 0);
    (void)ENSURE_OK(s.w, embipc_world_set_limits(s.w, 1, NULL));
    ENSURE(scene_step(&s));
    for (int k = embipc_world_iterations(s.w, &list) - 1; k >= 0; k--) left = fmax(left, list[k].drive_left);
    ENSURE(left == 1);
    (void)ENSURE_OK(s.w, embipc_drive_destroy(s.w, s.drive[0]));
    (void)ENSURE_OK(s.w, embipc_body_set_velocity(s.w, s.body[0], none, none));
    (void)ENSURE_OK(s.w, embipc_world_set_limits(s.w, 100, NULL));
    spring.body = s.body[0];
    embi_set(spring.stiffness, 1e6, 1e6, 1e6);
    (void)ENSURE_OK(s.w, embipc_drive_create(s.w, &spring, &drive));
    (void)ENSURE_OK(s.w, embipc_drive_set_target(s.w, drive, far, none));
    ENSURE(scene_step(&s));
    for (int k = embipc_world_iterations(s.w, &list) - 1; k >= 0; k--) {
        void_ones += list[k].alpha_ccd == 0;
        ENSURE(list[k].drive_left == 0);
    }
    ENSURE(void_ones > 0);
    scene_end(&s);
}

/* A spring drags a ball 0.3 m along the ground in one step, a thousand times as far as it was foreseen to go. Each
 * direction is looked at twice as far as the one before, though the candidates are searched anew each time. */
static void test_far_steps_take_few_looks(void)
{
    static const double keys[14] = {0, 0, 0, 0, 0, 0, 0, 0.01, 0.3, 0, 0, 0, 0, 0};
    embipc_world_def wd = scene_world_def(SCENE_DROP);
    scene s = scene_empty(&wd);
    embipc_drive_def drive = embipc_default_drive_def();
    embipc_drive handle;
    embipc_body_def d = scene_def("ball", EMBIPC_CAGE, -0.1, 0, 0.0305);
    embipc_body_state state;
    scene_ground(&s, 1, 0);
    scene_ball(&s, d, 0.03, 2, 2);
    drive.body = s.body[1];
    drive.keys = keys;
    drive.key_count = 2;
    drive.stiffness[0] = 1e7;
    (void)ENSURE_OK(s.w, embipc_drive_create(s.w, &drive, &handle));
    (void)scene_step(&s);
    (void)ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[1], &state));
    printf("  a ball dragged %.3f m in one step: %d solves\n", state.centre[0] + 0.1, s.stats.newton_iterations);
    ENSURE(s.stats.converged && fabs(state.centre[0] - 0.2) < 0.01);
    ENSURE(s.stats.newton_iterations >= 4 && s.stats.newton_iterations <= 20);   /* 2^11 is enough */
    scene_end(&s);
    /* a thin wall in its way, not foreseen to be met, stops it */
    s = scene_empty(&wd);
    scene_ground(&s, 1, 0);
    scene_ball(&s, d, 0.03, 2, 2);
    scene_box(&s, scene_def("wall", EMBIPC_FIXED, -0.03, 0, 0.1), 0.001, 0.2, 0.2, 1);
    drive.body = s.body[1];
    drive.stiffness[0] = 1000;
    (void)ENSURE_OK(s.w, embipc_drive_create(s.w, &drive, &handle));
    (void)scene_step(&s);
    (void)ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[1], &state));
    printf("  a ball dragged through a wall: stands at %.3f m\n", state.centre[0]);
    ENSURE(state.centre[0] > -0.08 && state.centre[0] < -0.03);
    scene_end(&s);
    /* a fall is foreseen in the first step, too */
    s = scene_empty(&wd);
    scene_ground(&s, 1, 0);
    d = scene_def("ball", EMBIPC_CAGE, 0, 0, 0.0315);
    d.dhat = 1e-4;
    scene_ball(&s, d, 0.03, 2, 2);
    (void)scene_step(&s);
    printf("  the first step of a fall of %.1f dhat: %d solves\n", 9.81e-4 / s.w->s.body[1].rules.dhat,
           s.stats.newton_iterations);
    ENSURE(s.stats.converged && s.stats.contacts == 0 && s.stats.newton_iterations <= 2 &&
           9.81e-4 > 4 * s.w->s.body[1].rules.dhat);
    scene_end(&s);
}

/* What lies behind the first contact with candidates that are there is not looked at: of a direction 0.05 m down, of
 * bodies that lie on the ground; of one up it all is. A guess that meets something is not looked at. */
static void test_looks_end_at_contacts(void)
{
    scene sc = scene_make(SCENE_DROP, NULL);
    embi_state *s = &sc.w->s;
    int islands = 0, later = 0, limit;
    for (int n = 0; n < 40; n++) (void)scene_step(&sc);
    for (int n = 0; n < sc.w->islands.order_count; n++) {
        embi_island *I = sc.w->islands.list[sc.w->islands.order[n]];
        if (!I->contacts.count) continue;
        islands++;
        for (int way = 0; way < 3; way++) {
            for (int k = 0; k < I->body_count; k++) {
                const embi_body *b = s->body + I->bodies[k];
                for (int i = b->node0; i < b->node0 + b->nn; i++) embi_set(s->p + 3 * i, 0, 0, way == 1 ? 0.05 : -0.05);
            }
            I->bound.expected = 1;
            I->prediction = way == 2;
            ENSURE(embi_island_aim(&sc.w->memory, s, I));
            ENSURE(embi_island_safe(&sc.w->memory, s, I, &limit));
            if (way == 1) ENSURE(I->bound.searched == 1 && limit < 0);
            else ENSURE(I->bound.safe > 0 && I->bound.safe * 0.05 < s->body[I->bodies[0]].rules.dhat &&
                        I->bound.searched == (way == 0 ? I->bound.safe * EMBI_SEARCH_BEYOND : 0));
            for (int k = 0; k < I->body_count; k++) {
                const embi_body *b = s->body + I->bodies[k];
                int from = limit < 0 ? 0 : s->pair[I->bound.limit_pair].first;
                ENSURE(limit < 0 || (limit >= from && limit < from + s->pair[I->bound.limit_pair].count));
                later += from > 0;
                ENSURE_CLOSE(b->search.shift_next.box[2] - b->search.shift.box[2],
                             (way == 1 ? 0.05 : -0.05) * I->bound.searched, 1e-12);
            }
        }
        I->prediction = 0;
        /* of other candidates */
        I->changed = EMBI_ISLAND_SEARCHED;
        ENSURE(I->bound.is_known && embi_island_refresh(&sc.w->memory, s, I) && !I->bound.is_known);
    }
    ENSURE(islands > 0 && later > 0);
    scene_end(&sc);
}

/* A range holds where a step began, is and goes, and not much more than its way from here on. */
static void test_ranges_grow_by_the_way(void)
{
    for (int n = 0; n < 1000; n++) {
        double range[6], old[6], now[6], next[6], slack = 1e-3 * test_random();
        embi_box_clear(range);
        for (int i = 0; i < 3; i++) {
            now[i] = test_uniform(-1, 1);
            now[3 + i] = now[i] + test_random();
            next[i] = now[i] + test_uniform(-0.1, 0.1);
            next[3 + i] = next[i] + test_random();
            if (n % 2) {
                range[i] = test_uniform(-2, 0);
                range[3 + i] = test_uniform(0, 2);
            }
        }
        memcpy(old, range, sizeof old);
        embi_range_stretch(range, now, next, slack);
        for (int i = 0; i < 3; i++) {
            double way = fmax(fabs(next[i] - now[i]), fabs(next[3 + i] - now[3 + i]));
            double lo = fmin(fmin(now[i], next[i]), fmin(old[i], 0)), hi = fmax(fmax(now[3 + i], next[3 + i]), fmax(old[3 + i], 0));
            ENSURE(range[i] < lo && range[3 + i] > hi);
            ENSURE(lo - range[i] <= slack + 0.26 * way && range[3 + i] - hi <= slack + 0.26 * way);
        }
    }
}

/* what the last step said of the others is still there when a body comes, or goes */
static void test_reports_stay(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s = scene_empty(&wd);
    static embipc_contact c[2][4096];
    embipc_pair_force f[2][8];
    int contacts, rows;
    embipc_body far;
    scene_ground(&s, 1, 0.5);
    for (int k = 0; k < 2; k++) scene_box(&s, scene_def("block", EMBIPC_AFFINE, 0.3 * k, 0.007, 0.0505), 0.1, 0.1, 0.1, 2);
    settle(&s, 100);
    contacts = embipc_world_contacts(s.w, c[0], 4096);
    rows = embipc_world_pair_forces(s.w, f[0], 8);
    ENSURE(contacts > 4 && rows == 2);
    scene_box(&s, scene_def("far", EMBIPC_AFFINE, 9, 0, 3), 0.1, 0.1, 0.1, 2);
    far = s.body[s.n - 1];
    for (int gone = 0; gone < 2; gone++) {
        ENSURE(embipc_world_contacts(s.w, c[1], 4096) == contacts && embipc_world_pair_forces(s.w, f[1], 8) == rows);
        ENSURE(memcmp(c[0], c[1], (size_t)contacts * sizeof *c[0]) == 0 && memcmp(f[0], f[1], (size_t)rows * sizeof *f[0]) == 0);
        if (!gone) (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, far));
    }
    (void)ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[1]));
    rows = embipc_world_pair_forces(s.w, f[1], 8);
    contacts = embipc_world_contacts(s.w, c[1], 4096);
    ENSURE(rows == 1 && f[1][0].b.index1 == s.body[2].index1 && f[1][0].force[2] == f[0][1].force[2]);
    ENSURE(contacts > 0);
    for (int k = 0; k < contacts; k++) ENSURE(c[1][k].a.index1 == s.body[2].index1 || c[1][k].b.index1 == s.body[2].index1);
    (void)ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
    scene_end(&s);
}

/* Gravity turns and steps change their length in the middle of a run: free fall by its closed form, a stack that goes on
 * standing, and the same bits where a call changes nothing. */
static void test_gravity_and_time_step(void)
{
    static const double none[3] = {0, 0, 0}, side[3] = {3, 0, -9.81}, moon[3] = {0, 0, -1.6};
    for (int rule = 0; rule < 2; rule++) {
        embipc_world_def wd = embipc_default_world_def();
        scene s, same;
        double z = 0, v = 0, before = 0, weight;
        embipc_pair_force f[8];
        wd.integrator = rule ? EMBIPC_BDF2 : EMBIPC_BACKWARD_EULER;
        s = scene_empty(&wd);
        scene_box(&s, scene_def("falls", EMBIPC_CAGE, 0, 0, 5), 0.1, 0.1, 0.1, 2);
        for (int n = 0; n < 40 && scene_step(&s); n++) {
            int first = n % 10 == 0;   /* of steps of its length: backward Euler, that of BDF2 as well */
            double g = n < 20 ? -9.81 : -1.6, h = n < 10 || n >= 30 ? 0.01 : 0.002, was = z;
            if (n == 0) { g = wd.gravity[2]; z = 0; }
            if (rule == 0 || first) { v += h * g; z += h * v; }
            else {   /* 3/2 z = 2 z^n - z^n-1/2 + h v, 3/2 v = 2 v^n - v^n-1/2 + h g */
                double v_before = v - h * g;
                v = (2 * v - v_before / 2 + h * g) / 1.5;
                z = (2 * z - before / 2 + h * v) / 1.5;
            }
            before = was;
            ENSURE_CLOSE(scene_state(s.w, s.body[0]).velocity[2], v, 1e-6);
            ENSURE_CLOSE(scene_state(s.w, s.body[0]).centre[2], 5 + z, 1e-6);
            if (n == 9) (void)ENSURE_OK(s.w, embipc_world_set_time_step(s.w, 0.002));
            if (n == 19) (void)ENSURE_OK(s.w, embipc_world_set_gravity(s.w, moon));
            if (n == 29) (void)ENSURE_OK(s.w, embipc_world_set_time_step(s.w, 0.01));
            if (n == 19) s.w->s.body[0].past.smooth = 0;   /* the closed form above begins anew */
        }
        scene_end(&s);
        s = scene_make(0, NULL);
        same = scene_make(0, NULL);
        for (int n = 0; n < 12 && scene_step(&s) && scene_step(&same); n++) {
            (void)ENSURE_OK(s.w, embipc_world_set_gravity(s.w, s.w->def.gravity));
            (void)ENSURE_OK(s.w, embipc_world_set_time_step(s.w, s.w->def.time_step));
            ENSURE(scene_bits(s.w) == scene_bits(same.w));
        }
        for (int n = 0; n < 30; n++) {
            if (n % 6 == 0) (void)ENSURE_OK(s.w, embipc_world_set_time_step(s.w, n % 12 ? 0.01 : 0.003));
            if (n % 10 == 5) (void)ENSURE_OK(s.w, embipc_world_set_gravity(s.w, n % 20 == 5 ? side : none));
            if (!scene_step(&s)) break;
            ENSURE(scene_sound(s.w));
        }
        scene_end(&same);
        scene_end(&s);
        s = scene_empty(&wd);   /* what rests weighs less from then on */
        scene_ground(&s, 1, 0.5);
        scene_box(&s, scene_def("block", EMBIPC_AFFINE, 0, 0.007, 0.0505), 0.1, 0.1, 0.1, 2);
        settle(&s, 100);
        (void)ENSURE_OK(s.w, embipc_world_set_gravity(s.w, moon));
        settle(&s, 100);
        weight = scene_state(s.w, s.body[1]).mass * 1.6;
        ENSURE(embipc_world_pair_forces(s.w, f, 8) == 1);
        ENSURE_REL(f[0].force[2], -weight, 1e-3);
        scene_end(&s);
    }
}

/* E that grows by a millionth of its terms is seen to grow; what rounding does is not. */
static void test_growth_is_seen(void)
{
    static embi_island isle;   /* zeros */
    const embi_line at_q = {1, 1, 0, 0, 0};
    isle.energy.size = 1;
    for (int k = 0; k < 5; k++) {
        static const double more[5] = {-1e-3, 0, 1e-16, 1e-12, 1e-6};
        isle.energy.nonquadratic = 1 + more[k];
        ENSURE(embi_island_grows(&isle, &at_q, 1) == (more[k] > 1e-14));
    }
    isle.energy.nonquadratic = (double)NAN;
    ENSURE(embi_island_grows(&isle, &at_q, 1));
}

/* The part of a correction that the energy bound leaves room for. */
static void test_spin_fraction(void)
{
    for (int n = 0; n < 1000; n++) {
        double square = test_uniform(0.1, 2), linear = test_uniform(-2, 2), room = test_uniform(-1, 4), least = fmin(0, -linear * linear / (4 * square));
        double z = embi_spin_fraction(room, linear, square), gain = z * linear + z * z * square;
        ENSURE(z >= 0 && z <= 1);
        if (linear + square <= room) ENSURE(z == 1);
        else if (room > 0) ENSURE(gain <= room + 1e-14 && (z == 1 || gain > room - 1e-14));
        else if (linear < 0 && -linear < 2 * square) ENSURE_CLOSE(gain, least, 1e-14);
        else ENSURE(z == (linear < 0));
    }
}

/* Half way through a turn by theta, two points of a body are d cos(theta/2) apart. Candidates of it with itself are
 * listed from a distance that such turns bring within reach. */
static void test_reach_of_a_turning_body(void)
{
    scene s = scene_make(SCENE_DROP, NULL);
    embi_pair own;
    memset(&own, 0, sizeof own);
    own.a = own.b = s.w->s.body_count - 1;
    own.rule.dhat = 0.01;
    own.rule.xi = 0.002;
    ENSURE(embi_pair_reach(&s.w->s, &own) * EMBI_TURN_COS >= own.rule.dhat + own.rule.xi);
    scene_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(growth_is_seen);
    RUN(spin_fraction);
    RUN(reach_of_a_turning_body);
    RUN(free_fall);
    RUN(linear_momentum);
    RUN(angular_momentum_converges);
    RUN(energy_inequality);
    RUN(two_runs_and_reset);
    RUN(looking_changes_nothing);
    RUN(far_body);
    RUN(two_stacks_are_two_worlds);
    RUN(affine_is_affine_body_dynamics);
    RUN(cage_of_own_mesh_is_full_space);
    RUN(empty_cage_tets);
    RUN(weights_make_the_surface);
    RUN(affine_never_inverts);
    RUN(forces_of_a_block_at_rest);
    RUN(converged_means_balanced);
    RUN(applied_force_and_velocity);
    RUN(velocity_of_a_deformed_body);
    RUN(ranges_hold_the_path);
    RUN(contacts_of_panels_are_those_of_bodies);
    RUN(late_pairs_join_the_others);
    RUN(lists_of_those_that_part);
    RUN(pairs_of_many);
    RUN(kept_candidates_are_searched_ones);
    RUN(surfaces_follow_when_asked);
    RUN(others_follow);
    RUN(fastest_vertex);
    RUN(vertex_forces_are_of_the_last_step);
    RUN(every_solve_is_recorded);
    RUN(resting_gap);
    RUN(impact_table);
    RUN(turning_friction);
    RUN(way_left_is_that_of_this_step);
    RUN(far_steps_take_few_looks);
    RUN(looks_end_at_contacts);
    RUN(ranges_grow_by_the_way);
    RUN(reports_stay);
    RUN(gravity_and_time_step);
    world_drive();
    return test_end("test_world_step");
}
