#include "embed.h"
#include "../embipc.h"
#include "mend.h"
#include "output.h"
#include "png.h"
#include "raster.h"
#include "stiffness.h"
#include "system.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EMBED_WIDTH = 1000, EMBED_HEIGHT = 800 };

/* The mesh becomes its surface, without the vertices inside. */
static void embed_skin(tool_mesh *m)
{
    mesh_take_surface(m);
    m->tet_count = 0;
    (void)mesh_drop_unused(m);
}

/* The cage as a mesh, which has its arrays. */
static tool_mesh embed_mesh(const embipc_cage *c)
{
    tool_mesh m;
    memset(&m, 0, sizeof m);
    m.x = c->x;
    m.node_count = c->node_count;
    m.tet = c->tets;
    m.tet_count = c->tet_count;
    return m;
}

/* the fraction of the emptiest cell that is solid; its six tets would have one volume */
static double embed_least(const embipc_cage *c)
{
    double *held = (double *)tool_alloc((size_t)c->cell_count + 1, sizeof *held), least = 1;
    double cell = c->cell_size[0] * c->cell_size[1] * c->cell_size[2];
    for (int t = 0; t < c->tet_count && c->cell_count; t++) held[c->tet_cell[t]] += c->tet_volume[t];
    for (int i = 0; i < c->cell_count; i++)
        if (held[i] / cell < least) least = held[i] / cell;
    free(held);
    return least;
}

static void embed_say(FILE *f, const embed_options *o, const tool_mesh *m, const embipc_cage *c, double seconds)
{
    double held = 0, least = embed_least(c);
    for (int t = 0; t < c->tet_count; t++) held += c->tet_volume[t];
    for (int i = 0; i < m->note_count; i++) {
        tool_text text = { NULL, 0, 0 };
        mesh_put_note(&text, &m->note[i]);
        fprintf(f, "%s%s\n", i ? "         " : "not read: ", text.data);
        tool_text_free(&text);
    }
    fprintf(f, "surface: %d vertices, %d triangles, %d part%s, %.6g m^3\n", m->node_count, m->tri_count, c->parts,
            c->parts == 1 ? "" : "s", held);
    fprintf(f, "cage:    %d nodes, %d tets, made in %.2f s\n", c->node_count, c->tet_count, seconds);
    if (c->cell_count)
        fprintf(f, "lattice: %d cells of %.6g x %.6g x %.6g m; the emptiest is solid to %.3g %%\n", c->cell_count,
                c->cell_size[0], c->cell_size[1], c->cell_size[2], 100 * least);
    fprintf(f, "solid:   %.1f %% of the tets on the whole\n", 100 * held / c->volume);
    if (c->copies)
        fprintf(f, "copies:  %d tets lie on others, for parts that are close in space and far along the body\n",
                c->copies);
    if (o->nodes && !(o->cell > 0) && abs(c->node_count - o->nodes) > o->nodes / 5)
        fprintf(f, "note:    of %d nodes there is none: this is the nearest that the lattices tried allow\n",
                o->nodes);
    if (c->copies && o->out)
        fprintf(f, "note:    a mesh file cannot say which of two tets in one place holds what: let a scene name\n"
                   "         \"cage_nodes\": %d instead, and it gets this cage\n", o->nodes);
}

enum { EMBED_FINER = 8, EMBED_FINEST = 3000 };   /* nodes of the cage to compare with: times as many, at most */

/* A cage of `nodes` for the surface, and its answers to four loads. Returns its number of nodes, 0 without an answer. */
static int embed_answers(const tool_mesh *m, int nodes, double work[STIFFNESS_LOADS])
{
    embipc_cage_def def = embipc_default_cage_def();
    embipc_body_def body = embipc_default_body_def();
    embipc_cage cage;
    int count = 0;
    def.nodes = nodes;
    body.kind = EMBIPC_CAGE;
    body.material.poisson = 0.3;
    body.x = m->x;
    body.vertex_count = m->node_count;
    body.triangles = m->tri;
    body.triangle_count = m->tri_count;
    body.cage = &cage;
    if (embipc_cage_build(&def, m->x, m->node_count, m->tri, m->tri_count, NULL, &cage, NULL) != EMBIPC_OK) return 0;
    if (stiffness_work(&body, work, NULL)) count = cage.node_count;
    embipc_cage_free(&cage);
    return count;
}

/* How far the cage gives way, as shares of what a finer cage does. Nothing where there is no finer one. Both are built
 * again for a finer surface, where loads are smooth; there the first may differ by some nodes. */
static void embed_stiffness(FILE *f, const tool_mesh *m, const embipc_cage *c)
{
    tool_mesh fine = *m;
    double work[2][STIFFNESS_LOADS], lo[3], hi[3];
    int nodes = c->node_count < EMBED_FINEST / EMBED_FINER ? EMBED_FINER * c->node_count : EMBED_FINEST, count;
    if (c->parts > 1 || nodes < 2 * c->node_count) return;
    fine.x = (double *)tool_alloc(3 * (size_t)m->node_count, sizeof *fine.x);
    fine.tri = (int *)tool_alloc(3 * (size_t)m->tri_count, sizeof *fine.tri);
    memcpy(fine.x, m->x, 3 * (size_t)m->node_count * sizeof *fine.x);
    memcpy(fine.tri, m->tri, 3 * (size_t)m->tri_count * sizeof *fine.tri);
    stiffness_refine(&fine.x, &fine.node_count, &fine.tri, &fine.tri_count, mend_diagonal(m, lo, hi) / 20);
    count = embed_answers(&fine, c->node_count, work[0]);
    nodes = embed_answers(&fine, nodes, work[1]);
    if (nodes && 5 * abs(count - c->node_count) < c->node_count) {
        for (int k = 0; k < STIFFNESS_LOADS; k++) work[0][k] = fmax(0, work[0][k] / work[1][k]);
        fprintf(f, "gives:   stretched %.2f, bent %.2f and %.2f, twisted %.2f of what a cage of %d nodes does\n",
                work[0][STIFFNESS_STRETCH], work[0][STIFFNESS_BEND_FLAT], work[0][STIFFNESS_BEND_UPRIGHT],
                work[0][STIFFNESS_TWIST], nodes);
    }
    free(fine.x);
    free(fine.tri);
}

/* The surface, and round it the cage as a net one can see through. */
static int embed_picture(const char *path, const tool_mesh *m, const embipc_cage *c)
{
    static const double from[3] = {1, 0.42, 0.4}, blue[3] = {0.36, 0.58, 0.80}, dark[3] = {0.80, 0.30, 0.10};
    raster_scene *r = raster_create(EMBED_WIDTH, EMBED_HEIGHT);
    unsigned char *rgb = (unsigned char *)tool_alloc((size_t)EMBED_WIDTH * EMBED_HEIGHT, 3);
    tool_mesh cage = embed_mesh(c);
    int *face, count = mesh_surface(&cage, &face), ok = 0;
    raster_look look = raster_default_look(), net = look;
    double lo[3], hi[3];
    for (int k = 0; k < 3; k++) {
        look.rgb[k] = blue[k];
        net.rgb[k] = net.wire_rgb[k] = dark[k];
    }
    (void)mend_diagonal(&cage, lo, hi);
    net.alpha = 0.06;
    net.flags = RASTER_FLAT | RASTER_WIRE | RASTER_NO_SHADOW;
    net.wire_width = 1.5;
    if (r && count > 0) {
        ok = raster_add_mesh(r, m->x, m->node_count, m->tri, m->tri_count, &look) >= 0
             && raster_add_mesh(r, c->x, c->node_count, face, count, &net) >= 0;
        raster_frame(r, lo, hi, from, 28);
        ok = ok && raster_render(r, rgb) && png_write(path, rgb, EMBED_WIDTH, EMBED_HEIGHT);
    }
    raster_destroy(r);
    free(rgb);
    free(face);
    return ok;
}

static int embed_write(const char *path, const embipc_cage *c)
{
    tool_mesh m = embed_mesh(c);
    tool_text text = { NULL, 0, 0 };
    tool_error e;
    int ok;
    m.x = (double *)tool_alloc((size_t)c->node_count, 3 * sizeof *m.x);
    m.tet = (int *)tool_alloc((size_t)c->tet_count, 4 * sizeof *m.tet);
    memcpy(m.x, c->x, (size_t)c->node_count * 3 * sizeof *m.x);
    memcpy(m.tet, c->tets, (size_t)c->tet_count * 4 * sizeof *m.tet);
    (void)mesh_drop_unused(&m);   /* a mesh of tets has no nodes that only cells have */
    mesh_put_msh(&text, &m);
    ok = output_file(path, &text, &e);
    tool_text_free(&text);
    mesh_free(&m);
    return ok;
}

/* Says before it starts that a cage will take minutes or gigabytes. Measured: 2.4 kB and 10 us for each cell of the
 * lattice over the box of the surface. Where a number of nodes is asked for, several lattices are tried: 3 kB and
 * 0.14 ms for each node. And 0.2 kB and 5 us for each triangle. */
static void embed_warn(const embed_options *o, const tool_mesh *m)
{
    double cells = 1, bytes, seconds;
    for (int k = 0; k < 3 && m->node_count; k++) {
        double lo = m->x[k], hi = lo;
        for (int i = 1; i < m->node_count; i++) {
            lo = fmin(lo, m->x[3 * i + k]);
            hi = fmax(hi, m->x[3 * i + k]);
        }
        if (o->cell > 0) cells *= fmax(1, (hi - lo) / o->cell);
    }
    bytes = (o->cell > 0 ? 2.4e3 * cells : 3e3 * o->nodes) + 200.0 * m->tri_count;
    seconds = (o->cell > 0 ? 1e-5 * cells : 1.4e-4 * o->nodes) + 5e-6 * m->tri_count;
    if (bytes < 1e9 && seconds < 60) return;
    fprintf(o->errors,
            "warning: %s: this cage takes about %.2g GB and %.2g minutes: ask for fewer nodes or larger cells\n",
            o->surface, bytes / 1e9, seconds / 60);
    fflush(o->errors);
}

int embed_surface(const embed_options *o)
{
    output_plan plan = { { o->out, o->png }, { NULL }, &o->surface, 1 };
    tool_mesh m;
    tool_error te;
    embipc_cage_def def = embipc_default_cage_def();
    embipc_cage cage;
    embipc_error e;
    double start = system_seconds();
    embipc_crossing crossing;
    int code = 0;
    memset(&m, 0, sizeof m);
    if (!output_check(&plan, &te) || !mesh_read(&m, o->surface, &te)) {
        fprintf(o->errors, "%s\n", te.text);
        return 2;
    }
    embed_skin(&m);
    embed_warn(o, &m);
    if (embipc_surface_crossings(m.x, m.node_count, m.tri, m.tri_count, &crossing, 1, 1) > 0)
        fprintf(o->errors,
                "warning: %s: edge %d-%d meets triangle %d, so no scene takes this surface: embipc check tells more\n",
                o->surface, crossing.edge[0], crossing.edge[1], crossing.triangle);
    def.nodes = o->nodes;
    def.cell_size = o->cell;
    if (embipc_cage_build(&def, m.x, m.node_count, m.tri, m.tri_count, NULL, &cage, &e) != EMBIPC_OK) {
        fprintf(o->errors, "%s: %s\n", o->surface, e.text);
        mesh_free(&m);
        return 1;
    }
    embed_say(o->report, o, &m, &cage, system_seconds() - start);
    embed_stiffness(o->report, &m, &cage);
    if (o->out && !embed_write(o->out, &cage)) {
        fprintf(o->errors, "%s: cannot be written: %s\n", o->out, strerror(errno));
        code = 2;
    }
    if (o->png && !embed_picture(o->png, &m, &cage)) {
        fprintf(o->errors, "%s: not written\n", o->png);
        code = 2;
    }
    embipc_cage_free(&cage);
    mesh_free(&m);
    return code;
}
