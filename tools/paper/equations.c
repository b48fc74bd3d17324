/* Embedded IPC, equations 13 to 17: what carries a surface on a cage, recomputed from outside. A soft box in a cage rests on a
 * plane while a finger presses one vertex of its top. */
#include "paper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct carried {          /* a cage body, and what it was at the start */
    embipc_body body;
    embipc_body_view v;
    embipc_material material;
    double *start;                /* nodes, m (3 node_count); owned, as the rest */
    int *node;                    /* four nodes and weights of each vertex */
    double *weight;
} carried;

/* sum of the weighted nodes of a vertex */
static void carry(const carried *c, const double *q, int vertex, double x[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] = 0;
        for (int j = 0; j < 4; j++) x[k] += c->weight[4 * vertex + j] * q[3 * c->node[4 * vertex + j] + k];
    }
}

/* largest difference of a surface vertex, along an axis, from what its nodes make of it */
static double carry_worst(const carried *c)
{
    double worst = 0;
    for (int i = 0; i < c->v.vertex_count; i++) {
        double x[3];
        carry(c, c->v.q, i, x);
        for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(x[k] - c->v.x[3 * i + k]));
    }
    return worst;
}

/* det and inverse of the edges of a tet at `at`, as columns */
static double edges(const double *at, const int *n, double D[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) D[3 * i + j] = at[3 * n[j + 1] + i] - at[3 * n[0] + i];
    return D[0] * (D[4] * D[8] - D[5] * D[7]) - D[1] * (D[3] * D[8] - D[5] * D[6]) + D[2] * (D[3] * D[7] - D[4] * D[6]);
}

/* Psi(F) V of a tet of the cage, with F = D D0^-1 and V the whole tet: the surface fills its cage */
static double tet_energy(const carried *c, const double *q, int tet)
{
    const int *n = c->v.tets + 4 * tet;
    double A[9], B[9], F[9], psi, det = edges(c->start, n, A);
    (void)edges(q, n, B);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            F[3 * i + j] = 0;
            for (int k = 0; k < 3; k++) {   /* of the inverse, row k and column j: a cofactor over det */
                int a = (j + 1) % 3, b = (j + 2) % 3, d = (k + 1) % 3, e = (k + 2) % 3;
                F[3 * i + j] += B[3 * i + k] * (A[3 * a + d] * A[3 * b + e] - A[3 * a + e] * A[3 * b + d]) / det;
            }
        }
    (void)embipc_material_evaluate(&c->material, F, &psi, NULL, NULL, 0);
    return psi * det / 6;
}

static double energy(const carried *c, const double *q)
{
    double sum = 0;
    for (int t = 0; t < c->v.tet_count; t++) sum += tet_energy(c, q, t);
    return sum;
}

/* At rest: elastic force on each node by differences of the energy, against what J^T makes of gravity, the finger and the
 * contacts, N. worst[0]: of nodes that no contact reaches; [1]: of the others. */
static void balance(const paper_run *r, const carried *c, int pressed, const double press[3], double worst[2])
{
    int n = c->v.node_count, *touched = (int *)tool_alloc((size_t)n, sizeof *touched);
    double *f = (double *)tool_alloc((size_t)(3 * n), sizeof *f), *q = (double *)tool_alloc((size_t)(3 * n), sizeof *q);
    double *on = (double *)tool_alloc((size_t)(3 * c->v.vertex_count), sizeof *on), step = 1e-6, D[9];
    (void)embipc_body_vertex_forces(r->world, c->body, on);
    for (int t = 0; t < c->v.tet_count; t++)
        for (int j = 0; j < 4; j++) f[3 * c->v.tets[4 * t + j] + 2] -= c->material.density * 9.81 * edges(c->start, c->v.tets + 4 * t, D) / 24;
    for (int i = 0; i < c->v.vertex_count; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 3; k++) {
                double share = c->weight[4 * i + j];
                f[3 * c->node[4 * i + j] + k] += share * (on[3 * i + k] + (i == pressed ? press[k] : 0));
                if (share > 0 && on[3 * i + k] != 0) touched[c->node[4 * i + j]] = 1;
            }
    memcpy(q, c->v.q, (size_t)(3 * n) * sizeof *q);
    worst[0] = worst[1] = 0;
    for (int i = 0; i < 3 * n; i++) {
        double at = q[i], up, down;
        q[i] = at + step;
        up = energy(c, q);
        q[i] = at - step;
        down = energy(c, q);
        q[i] = at;
        worst[touched[i / 3]] = fmax(worst[touched[i / 3]], fabs(f[i] - (up - down) / (2 * step)));
    }
    free(touched);
    free(f);
    free(q);
    free(on);
}

/* Are all functions that the table names in the header? The first that is not, or "". */
static void functions_missing(const char *const *name, int count, char *missing, size_t size)
{
    tool_error e;
    size_t length;
    char *text = tool_read_file("embipc.h", (size_t)1 << 24, &length, &e);
    snprintf(missing, size, "%s", text ? "" : "embipc.h itself");
    for (int i = 0; i < count && text && !*missing; i++) {
        char call[96];
        snprintf(call, sizeof call, "%s(", name[i]);
        if (!strstr(text, call)) snprintf(missing, size, "%s()", name[i]);
    }
    free(text);
}

void paper_equations(paper *p)
{
    static const char *const function[] = { "embi_tet_weights", "embi_embed", "embi_row_apply", "embi_elastic_energy", "embi_tet_gradients", "embi_solid_in_tets", "embi_body_begin",
                                            "embi_scatter", "embi_element_stamp", "embi_island_assemble" };
    static const double press[3] = { 0.3, 0.1, -2 };
    double x[5], worst[2] = { NAN, NAN }, rest = NAN, moved = NAN, sum = 0, ours = NAN, load;
    char missing[96];
    tool_text t = { NULL, 0, 0 };
    paper_run r;
    carried c;
    memset(&c, 0, sizeof c);
    paper_heading(p, "Equations 13 to 17 of Embedded IPC");
    paper_planes(x, 4, -0.05, 0.05);
    paper_grid_mesh(p, "box_skin.msh", 4, x, 4, x, 4, x);
    paper_planes(x, 2, -0.05, 0.05);
    paper_grid_mesh(p, "box_cage.msh", 2, x, 2, x, 2, x);
    tool_put(&t, "{ \"version\": 1, \"time_step\": 0.02, \"duration\": 3, \"solver\": { \"tolerance\": 1e-8 },\n  \"bodies\": [\n"
                 "    { \"name\": \"ground\", \"kind\": \"fixed\", \"shape\": \"plane\", \"position\": [0.013, 0.017, 0], \"friction\": 0.6 },\n"
                 "    { \"name\": \"box\", \"kind\": \"cage\", \"mesh\": \"box_skin.msh\", \"cage\": \"box_cage.msh\", \"position\": [0, 0, 0.0505], \"friction\": 0.6,\n"
                 "      \"material\": { \"model\": \"neo_hookean\", \"young\": 2e4, \"poisson\": 0.3, \"density\": 1000, \"averaged\": false } } ] }\n");
    if (paper_begin(&r, p, "equations", "soft box in a cage under a finger", t.data, 0)) {
        int pressed = 0;
        c.body = paper_body(&r, "box");
        c.material = r.s.body[1].def.material;
        (void)embipc_body_get_view(r.world, c.body, &c.v);
        c.start = (double *)tool_alloc((size_t)(3 * c.v.node_count), sizeof *c.start);
        memcpy(c.start, c.v.q, (size_t)(3 * c.v.node_count) * sizeof *c.start);
        c.node = (int *)tool_alloc((size_t)(4 * c.v.vertex_count), sizeof *c.node);
        c.weight = (double *)tool_alloc((size_t)(4 * c.v.vertex_count), sizeof *c.weight);
        (void)embipc_body_weights(r.world, c.body, c.node, c.weight);
        rest = carry_worst(&c) / 0.1;
        for (int i = 0; i < c.v.vertex_count; i++) {   /* pressed: on the top, between nodes */
            double one = 0;
            for (int j = 0; j < 4; j++) one += c.weight[4 * i + j];
            sum = fmax(sum, fabs(one - 1));
            if (fabs(c.v.x[3 * i] - 0.025) < 1e-6 && fabs(c.v.x[3 * i + 1] - 0.025) < 1e-6 && c.v.x[3 * i + 2] > 0.1) pressed = i;
        }
        do (void)embipc_body_apply_force(r.world, c.body, pressed, press);
        while (paper_step(&r));
        moved = carry_worst(&c) / 0.1;
        ours = energy(&c, c.v.q);
        balance(&r, &c, pressed, press, worst);
        load = paper_state(&r, "box").mass * 9.81 - press[2];
        paper_text(p, "A soft box of 0.1 m, its surface of 4 × 4 cells a side in a cage of 2 × 2 × 2, rests on a plane with friction while %.2g N press one vertex of its top that is no node. "
                      "All is recomputed from the nodes, the weights of the vertices and the material: energy as eq. 15 has it, elastic forces on nodes by its differences, and what "
                      "J<sup>T</sup> makes of gravity, finger and contacts. Undamped, for what creeps on the plane strains, and damping has a force then.", tool_length(press));
        paper_table(p, NULL, "equation|< says|< computed by|< measured|worst difference");
        paper_row(p, "13|< weights of a surface vertex at rest|< %s(), %s()|< weights sum to 1, and carry the vertex|%.1e, %.1e of the size", function[0], function[1], sum, rest);
        paper_row(p, "14|< x = J q, at any time|< %s()|< surface against weighted nodes at the end|%.1e of the size", function[2], moved);
        paper_row(p, "15|< Ψ(F) V<sub>T</sub> of the cage's tets|< %s(), %s(), %s()|< energy at the end against the sum, %.4g J|%.1e", function[3], function[4], function[5], ours, r.stats.elastic / ours - 1);
        paper_row(p, "16|< J<sup>T</sup>f of external forces|< %s()|< forces on nodes without contact|%.1e of the load", function[6], worst[0] / load);
        paper_row(p, "17|< J<sup>T</sup>∇, J<sup>T</sup>HJ|< %s(), %s(), %s()|< forces on nodes with contacts|%.1e of the load", function[7], function[8], function[9], worst[1] / load);
        paper_table_end(p);
        paper_near(p, "eq. 13: weights at rest sum to 1 and carry their vertex, worst, in sizes", "Embedded IPC eq. 13", 0, fmax(sum, rest), 1e-14, "");
        paper_near(p, "eq. 14: surface against weighted nodes, worst, in sizes", "Embedded IPC eq. 14", 0, moved, 1e-14, "");
        paper_value(p, "eq. 15: elastic energy of the cage", "Embedded IPC eq. 15", ours, r.stats.elastic, 1e-10, "J");
        paper_near(p, "eq. 16: balance of nodes without contact, worst, over the load", "Embedded IPC eq. 16", 0, worst[0] / load, 1e-6, "");
        paper_near(p, "eq. 17: balance of nodes with contacts, worst, over the load", "Embedded IPC eq. 17", 0, worst[1] / load, 1e-6, "");
        functions_missing(function, (int)(sizeof function / sizeof *function), missing, sizeof missing);
        paper_holds(p, "the functions that this table names are in embipc.h", "its list of equations", !*missing, "all", "%s", *missing ? missing : "all");
        free(c.start);
        free(c.node);
        free(c.weight);
        paper_end(&r);
    }
    tool_text_free(&t);
}
