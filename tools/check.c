#include "check.h"
#include "mend.h"
#include "output.h"
#include "../embipc.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_CROSSINGS = 1000000 };   /* counted at most */
#define CHECK_SMALL 1e-3   /* m: diagonals that are rather a mistake about units */
#define CHECK_LARGE 1e3
#define CHECK_FAR 1e6      /* diagonals from the origin */

/* A mesh and its surface: itself, or the boundary of its tets on the nodes it needs. */
typedef struct check {
    const check_options *o;
    const char *name;
    tool_mesh m;
    double *x;
    int *tri, *origin;        /* origin[v]: the node of the mesh that surface vertex v is */
    int nv, nt;
    int measured;             /* 0: its coordinates are beyond what the library measures */
    int closed;               /* every part is closed and its triangles agree */
    int twice;                /* parts that lie in the solid of another, and face outward */
    double diagonal;
    tool_text out;
} check;

static const char *check_s(int n) { return n == 1 ? "" : "s"; }
static const char *check_ex(int n) { return n == 1 ? "ex" : "ices"; }   /* of a vert- */
static const double *check_x(const check *c, int v) { return c->x + 3 * v; }

/* One line: what, then the text. */
#define CHECK_LINE(c, what, ...) \
    do { \
        tool_put(&(c)->out, "  %-12s", what); \
        tool_put(&(c)->out, __VA_ARGS__); \
        tool_put(&(c)->out, "\n"); \
    } while (0)
#define CHECK_MORE(c, ...) CHECK_LINE(c, "", __VA_ARGS__)

/* ---- The surface ---------------------------------------------------------------------------- */

static void check_take_surface(check *c)
{
    int *to = (int *)tool_alloc((size_t)c->m.node_count, sizeof *to);
    c->nt = mesh_surface(&c->m, &c->tri);
    for (int i = 0; i < 3 * c->nt; i++) to[c->tri[i]] = 1;
    c->x = (double *)tool_alloc(3 * (size_t)c->m.node_count, sizeof *c->x);
    c->origin = (int *)tool_alloc((size_t)c->m.node_count, sizeof *c->origin);
    for (int v = 0; v < c->m.node_count; v++) {
        if (!to[v] && c->m.tet_count) continue;
        memcpy(c->x + 3 * c->nv, c->m.x + 3 * v, 3 * sizeof *c->x);
        c->origin[c->nv] = v;
        to[v] = c->nv++;
    }
    for (int i = 0; i < 3 * c->nt; i++) c->tri[i] = to[c->tri[i]];
    free(to);
}

static void check_release(check *c)
{
    free(c->x);
    free(c->tri);
    free(c->origin);
    tool_text_free(&c->out);
}

/* ---- The verdict ---------------------------------------------------------------------------- */

/* The library's own answer: a body is made of it, with all nodes free, or in a cage of one tet. */
static embipc_result check_verdict(const tool_mesh *m, embipc_error *e)
{
    embipc_world_def wd = embipc_default_world_def();
    embipc_body_def d = embipc_default_body_def();
    embipc_world *world;
    embipc_body body;
    double lo[3], hi[3], size = mend_diagonal(m, lo, hi), cage[12];
    static const int one[4] = { 0, 1, 2, 3 };
    embipc_result r;
    /* A fall of one step takes a tiny body out of its numbers, which is not the mesh's fault. */
    for (int i = 0; i < 3; i++) wd.gravity[i] = 0;
    if ((r = embipc_world_create(&wd, &world, e)) != EMBIPC_OK) return r;
    d.x = m->x;
    d.vertex_count = m->node_count;
    d.kind = m->tet_count ? EMBIPC_FULL : EMBIPC_CAGE;
    d.tets = m->tet_count ? m->tet : NULL;
    d.tet_count = m->tet_count;
    d.triangles = m->tet_count ? NULL : m->tri;
    d.triangle_count = m->tet_count ? 0 : m->tri_count;
    if (!m->tet_count) {   /* its corner below the box, its three legs long enough to hold the box */
        for (int i = 0; i < 12; i++) cage[i] = lo[i % 3] - size / 4 + (i / 3 == i % 3 + 1 ? 5 * size : 0);
        d.cage_x = cage;
        d.cage_node_count = 4;
        d.cage_tets = one;
        d.cage_tet_count = 1;
    }
    r = embipc_body_create(world, &d, &body);
    if (r != EMBIPC_OK && e) *e = *embipc_world_error(world);
    embipc_world_destroy(world);
    return r;
}

/* ---- Faults --------------------------------------------------------------------------------- */

/* "first: edge 3-7 of triangle 12 at (x, y, z)", as many as wanted */
static void check_list_edges(check *c, const embipc_fault *f, int count)
{
    for (int i = 0; i < count; i++) {
        const int *e = f[i].edge;
        const double *a = check_x(c, e[0]), *b = check_x(c, e[1]);
        CHECK_MORE(c, "edge %d-%d of triangle %d, at (%.4g, %.4g, %.4g)", c->origin[e[0]], c->origin[e[1]],
                   f[i].element, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2);
    }
}

/* The faults of one kind of the surface; at most as many as are listed are kept in *list (free it). */
static int check_faults(const check *c, embipc_fault_kind kind, embipc_fault **list, int *listed)
{
    int count;
    *list = (embipc_fault *)tool_alloc((size_t)c->o->list, sizeof **list);
    count = embipc_surface_faults(c->x, c->nv, c->tri, c->nt, kind, *list, c->o->list);
    *listed = count < c->o->list ? count : c->o->list;
    return count;
}

/* One line for a kind of bad edge, and where they are. */
static int check_edges(check *c, embipc_fault_kind kind, const char *what, const char *fine, const char *bad)
{
    embipc_fault *list;
    int listed, count = check_faults(c, kind, &list, &listed);
    if (count <= 0) { if (fine) CHECK_LINE(c, what, "%s", fine); }
    else CHECK_LINE(c, what, "%d edge%s %s", count, check_s(count), bad);
    check_list_edges(c, list, listed);
    free(list);
    return count;
}

static void check_closed(check *c)
{
    int borders = embipc_surface_faults(c->x, c->nv, c->tri, c->nt, EMBIPC_FAULT_BORDER, NULL, 0);
    int loops = embipc_surface_loops(c->tri, c->nt, NULL, NULL, 0);
    char text[96] = "with one triangle only, which go round no hole";
    if (borders <= 0) { CHECK_LINE(c, "closed", "yes"); return; }
    if (loops > 0)
        snprintf(text, sizeof text, "with one triangle only, in %d border loop%s", loops, check_s(loops));
    check_edges(c, EMBIPC_FAULT_BORDER, "open", NULL, text);
}

static void check_manifold(check *c)
{
    embipc_fault f;
    int count = embipc_surface_faults(c->x, c->nv, c->tri, c->nt, EMBIPC_FAULT_PINCHED, &f, 1);
    check_edges(c, EMBIPC_FAULT_CROWDED, "manifold", "yes", "of more than two triangles");
    if (count > 0)
        CHECK_MORE(c, "%d vert%s where parts meet in a point only, such as %d (allowed: a body hangs together there)",
                   count, check_ex(count), c->origin[f.element]);
}

/* Orientation and parts together: inside out is a property of a part. */
static void check_parts(check *c)
{
    int n = embipc_surface_parts(c->x, c->nv, c->tri, c->nt, NULL, NULL, 0), closed = 0, cavities = 0;
    embipc_part *p = (embipc_part *)tool_alloc((size_t)(n > 0 ? n : 0), sizeof *p);
    int turned = embipc_surface_faults(c->x, c->nv, c->tri, c->nt, EMBIPC_FAULT_TURNED, NULL, 0), inward = 0;
    embipc_surface_parts(c->x, c->nv, c->tri, c->nt, NULL, p, n);
    for (int i = 0; i < n; i++) {
        int whole = p[i].border_edges + p[i].bad_edges == 0;
        closed += whole;
        cavities += whole && p[i].volume < 0 && !p[i].inside_out;
        inward += p[i].inside_out;
    }
    if (turned > 0)
        check_edges(c, EMBIPC_FAULT_TURNED, "orientation", NULL,
                    "whose triangles disagree about the outside");
    else if (inward == 0)
        CHECK_LINE(c, "orientation", "neighbours agree%s", closed ? ", closed parts are outward" : "");
    if (inward) CHECK_LINE(c, "orientation", "%d closed part%s inside out", inward, check_s(inward));
    for (int i = 0, shown = 0; i < n && shown < c->o->list; i++)
        if (p[i].inside_out) {
            CHECK_MORE(c, "the part of triangle %d, %d triangles, volume %.4g m^3", p[i].triangle,
                       p[i].triangle_count, p[i].volume);
            shown++;
        }
    if (cavities) CHECK_LINE(c, "parts", "%d, %d closed, %d of these cavities", n, closed, cavities);
    else CHECK_LINE(c, "parts", "%d, %d closed", n, closed);
    c->closed = n > 0 && closed == n;
    free(p);
}

/* Faults of elements by themselves, and unused vertices. */
static void check_elements(check *c)
{
    static const struct { embipc_fault_kind kind; int surfaces; const char *what; } row[] = {
        { EMBIPC_FAULT_COLLAPSED, 1, "with a vertex twice" },
        { EMBIPC_FAULT_FLAT, 1, "flat: no more than 1e-12 of a regular one" },
        { EMBIPC_FAULT_INVERTED, 0, "inverted" },
        { EMBIPC_FAULT_DOUBLE, 1, "on the same vertices as another" },
        { EMBIPC_FAULT_CROWDED, 0, "at a face of more than two" },
        { EMBIPC_FAULT_TURNED, 0, "overlapping a neighbour, on the same side of their face" },
        { EMBIPC_FAULT_UNUSED, 1, "unused" }
    };
    const tool_mesh *m = &c->m;
    const char *kind = m->tet_count ? "tet" : "triangle";
    int total = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        embipc_fault f;
        int count;
        if (!m->tet_count && !row[i].surfaces) continue;   /* told where edges are */
        count = m->tet_count
                    ? embipc_tets_faults(m->x, m->node_count, m->tet, m->tet_count, row[i].kind, &f, 1)
                    : embipc_surface_faults(m->x, m->node_count, m->tri, m->tri_count, row[i].kind, &f, 1);
        if (count <= 0) continue;
        if (row[i].kind == EMBIPC_FAULT_UNUSED)
            CHECK_LINE(c, total ? "" : "elements", "%d unused vert%s, such as %d", count, check_ex(count),
                       f.element);
        else
            CHECK_LINE(c, total ? "" : "elements", "%d %s%s %s, such as %d", count, kind, check_s(count),
                       row[i].what, f.element);
        total += count;
    }
    if (!total) CHECK_LINE(c, "elements", "none degenerate, none double, no vertex unused");
}

/* ---- Where it meets itself ------------------------------------------------------------------ */

/* Returns whether there are any. */
static int check_crossings(check *c)
{
    embipc_crossing *list = (embipc_crossing *)tool_alloc((size_t)c->o->list, sizeof *list);
    int count = embipc_surface_crossings(c->x, c->nv, c->tri, c->nt, list, c->o->list, CHECK_CROSSINGS);
    if (count == 0) CHECK_LINE(c, "crossings", "none, by exact arithmetic");
    else
        CHECK_LINE(c, "crossings", "%s%d pair%s of edge and triangle that meet, by exact arithmetic",
                   count == CHECK_CROSSINGS ? "more than " : "", count, check_s(count));
    for (int i = 0; i < count && i < c->o->list; i++) {
        const double *a = check_x(c, list[i].edge[0]);
        CHECK_MORE(c, "edge %d-%d of triangle %d meets triangle %d, near (%.4g, %.4g, %.4g)",
                   c->origin[list[i].edge[0]], c->origin[list[i].edge[1]], list[i].edge_triangle,
                   list[i].triangle, a[0], a[1], a[2]);
    }
    free(list);
    check_edges(c, EMBIPC_FAULT_FOLDED, "folds", NULL,
                "whose triangles lie on each other (allowed, but thin)");
    return count != 0;
}

/* Parts that lie in the solid of another and face outward: what is right is for their author to say. With the depth of
 * a part, how often others go round it, the solid is what is inside of any part, or of an odd number of them. */
static void check_twice(check *c)
{
    int n = embipc_surface_parts(c->x, c->nv, c->tri, c->nt, NULL, NULL, 0);
    embipc_part *p = (embipc_part *)tool_alloc((size_t)(n > 0 ? n : 0), sizeof *p);
    double united = 0, hollow = 0;
    embipc_surface_parts(c->x, c->nv, c->tri, c->nt, NULL, p, n);
    for (int i = 0; i < n; i++) {
        if (p[i].border_edges + p[i].bad_edges) continue;
        c->twice += p[i].depth > 0 && p[i].volume > 0;
        if (p[i].depth == (p[i].volume < 0)) united += p[i].volume;
        hollow += p[i].depth % 2 ? -fabs(p[i].volume) : fabs(p[i].volume);
    }
    if (c->twice)
        CHECK_LINE(c, "overlap", "%d closed part%s in the solid of another, facing outward: what is there counts twice",
                   c->twice, check_s(c->twice));
    for (int i = 0, shown = 0; i < n && shown < c->o->list; i++) {
        if (p[i].border_edges + p[i].bad_edges || p[i].depth < 1 || !(p[i].volume > 0)) continue;
        CHECK_MORE(c, "the part of triangle %d, %d triangles, volume %.4g m^3", p[i].triangle, p[i].triangle_count,
                   p[i].volume);
        shown++;
    }
    if (c->twice)
        CHECK_MORE(c, "as a cavity: %.5g m^3 in all, turn its triangles; as one solid: %.5g m^3, remove it", hollow, united);
    free(p);
}

static double check_distance(const double *a, const double *b)
{
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* Lengths that limit dhat, and the dhat that they suggest. Where the surface meets itself there is no gap. */
static void check_lengths(check *c, int crossings)
{
    embipc_gap gap;
    double shortest = HUGE_VAL, dhat = 1e-3 * c->diagonal;
    int a = 0, b = 0;
    for (int i = 0; i < 3 * c->nt; i++) {
        int v = c->tri[i], w = c->tri[i % 3 == 2 ? i - 2 : i + 1];
        double length = check_distance(check_x(c, v), check_x(c, w));
        if (v != w && length < shortest) { shortest = length; a = v; b = w; }
    }
    if (shortest < HUGE_VAL)
        CHECK_LINE(c, "edges", "shortest %.4g m (%d-%d)", shortest, c->origin[a], c->origin[b]);
    gap.distance = DBL_MAX;
    if (!crossings) embipc_surface_gap(c->x, c->nv, c->tri, c->nt, &gap);
    if (gap.distance < DBL_MAX) {
        int v[4];
        for (int i = 0; i < 4; i++) v[i] = c->origin[gap.vertex[i]];
        if (gap.edge_edge)
            CHECK_LINE(c, "gap", "%.4g m, the least between what is not adjacent: edges %d-%d and %d-%d",
                       gap.distance, v[0], v[1], v[2], v[3]);
        else
            CHECK_LINE(c, "gap",
                       "%.4g m, the least between what is not adjacent: vertex %d and triangle %d-%d-%d",
                       gap.distance, v[0], v[1], v[2], v[3]);
    }
    if (gap.distance / 2 < dhat) {
        double least = dhat / 10;
        dhat = gap.distance / 2 > least ? gap.distance / 2 : least;
        CHECK_LINE(c, "dhat", "%.2g m suggested: %s; 1e-3 of the diagonal would be %.2g m", dhat,
                   dhat > least ? "half the gap" : "pairs nearer than that keep half of their distance",
                   10 * least);
    } else CHECK_LINE(c, "dhat", "%.2g m suggested, 1e-3 of the diagonal", dhat);
}

static void check_solid(check *c)
{
    embipc_solid s;
    double density = embipc_default_body_def().material.density, inertia[9], trace;
    if (!c->closed || embipc_mass_properties(c->x, c->nv, c->tri, c->nt, &s) != EMBIPC_OK) {
        CHECK_LINE(c, "solid", "none as long as the above is not mended");
        return;
    }
    trace = s.second[0] + s.second[4] + s.second[8];
    for (int i = 0; i < 9; i++) inertia[i] = density * ((i % 4 == 0 ? trace : 0) - s.second[i]);
    CHECK_LINE(c, "solid", "volume %.5g m^3, %.5g kg at %.4g kg/m^3, centre (%.4g, %.4g, %.4g)", s.volume,
               density * s.volume, density, s.centroid[0], s.centroid[1], s.centroid[2]);
    CHECK_MORE(c, "inertia xx %.4g, yy %.4g, zz %.4g, xy %.4g, xz %.4g, yz %.4g kg m^2", inertia[0],
               inertia[4], inertia[8], inertia[1], inertia[2], inertia[5]);
}

/* ---- One mesh ------------------------------------------------------------------------------- */

static void check_head(check *c)
{
    double lo[3], hi[3], far = 0;
    c->diagonal = mend_diagonal(&c->m, lo, hi);
    if (c->m.tet_count)
        tool_put(&c->out, "%s: %d nodes, %d tet%s, boundary of %d triangles on %d vertices (numbers from 0)\n",
                 c->name, c->m.node_count, c->m.tet_count, check_s(c->m.tet_count), c->nt, c->nv);
    else
        tool_put(&c->out, "%s: %d vertices, %d triangles (numbers from 0)\n", c->name, c->m.node_count,
                 c->nt);
    for (int i = 0; i < c->m.note_count; i++) {
        tool_put(&c->out, "  %-12s", i ? "" : "not read");
        mesh_put_note(&c->out, &c->m.note[i]);
        tool_put(&c->out, "\n");
    }
    c->measured = !c->nt || embipc_surface_check(c->x, c->nv, c->tri, c->nt, 0, NULL) != EMBIPC_ERR_ARGUMENT;
    if (!c->measured) return;
    CHECK_LINE(c, "size", "%.5g x %.5g x %.5g m, diagonal %.5g m, lowest corner (%.4g, %.4g, %.4g)",
               hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2], c->diagonal, lo[0], lo[1], lo[2]);
    if (c->diagonal < CHECK_SMALL || c->diagonal > CHECK_LARGE)
        CHECK_MORE(c, "unusual for metres: is it millimetres? A body's \"scale\" brings it to size");
    for (int k = 0; k < 3; k++) far = fmax(far, fmax(fabs(lo[k]), fabs(hi[k])));
    if (far > CHECK_FAR * c->diagonal)
        CHECK_MORE(c, "far from the origin: there, coordinates are rounded to %.2g m", far * DBL_EPSILON);
}

static void check_copy(tool_mesh *to, const tool_mesh *from)
{
    memset(to, 0, sizeof *to);
    TOOL_GROW(double, to->x, to->node_capacity, 3 * from->node_count);
    TOOL_GROW(int, to->tri, to->tri_capacity, 3 * from->tri_count);
    TOOL_GROW(int, to->tet, to->tet_capacity, 4 * from->tet_count);
    if (from->x) memcpy(to->x, from->x, 3 * (size_t)from->node_count * sizeof *to->x);
    if (from->tri) memcpy(to->tri, from->tri, 3 * (size_t)from->tri_count * sizeof *to->tri);
    if (from->tet) memcpy(to->tet, from->tet, 4 * (size_t)from->tet_count * sizeof *to->tet);
    to->node_count = from->node_count;
    to->tri_count = from->tri_count;
    to->tet_count = from->tet_count;
}

static mend_options check_mending(const check_options *o)
{
    mend_options m;
    m.merge = o->merge;
    m.hole = o->hole < 0 ? MEND_HOLE : o->hole;
    return m;
}

/* What is left to say about a fault that --fix does not mend. */
static const char *check_advice(embipc_result r)
{
    switch (r) {
    case EMBIPC_ERR_OPEN:
        return "close it in a modeller, or use it as a fixed or kinematic body; larger holes: --fill N";
    case EMBIPC_ERR_INTERSECTION: return "unite the parts that meet in a modeller, or move them apart";
    case EMBIPC_ERR_MANIFOLD: return "take apart what meets in an edge or a face, or remove inner walls";
    case EMBIPC_ERR_DEGENERATE: return "remesh there: a part without volume, or an element without shape";
    case EMBIPC_ERR_ARGUMENT: return "scale it to metres, and bring it near the origin";
    default: return "see the message";
    }
}

/* The lines of a text, each behind this margin. */
static void check_lines(tool_text *out, const char *margin, const char *text)
{
    while (text && *text) {
        const char *end = strchr(text, '\n');
        tool_put(out, "%s%.*s\n", margin, (int)(end - text), text);
        text = end + 1;
    }
}

/* The last lines: the library's answer, and whether mending on trial changes it. Returns 1 when it is yes. */
static int check_conclude(check *c)
{
    embipc_error e, after;
    tool_text said = { NULL, 0, 0 };
    mend_options mending = check_mending(c->o);
    tool_mesh trial;
    embipc_result r;
    const char *why;
    memset(&e, 0, sizeof e);
    if (check_verdict(&c->m, &e) == EMBIPC_OK) {
        CHECK_LINE(c, "verdict", "can be simulated as a solid%s", c->twice ? ", which has some of its volume twice" : "");
        return 1;
    }
    why = strncmp(e.text, "body \"", 6) == 0 ? strstr(e.text, "\": ") : NULL;   /* its name is no news */
    CHECK_LINE(c, "verdict", "cannot be simulated as a solid");
    CHECK_LINE(c, "because", "%s", why ? why + 3 : e.text);
    check_copy(&trial, &c->m);
    memset(&after, 0, sizeof after);
    mend_mesh(&trial, &mending, &said);
    r = check_verdict(&trial, &after);
    if (trial.tri_count + trial.tet_count == 0)
        CHECK_LINE(c, "to mend it", "remodel it: it is nothing but faults");
    else if (!said.length) CHECK_LINE(c, "to mend it", "%s", check_advice(r));
    else {
        CHECK_LINE(c, "to mend it", "--fix OUT does %s:", r == EMBIPC_OK ? "it" : "a part");
        check_lines(&c->out, "                ", said.data);
        if (r != EMBIPC_OK) CHECK_MORE(c, "and then: %s", check_advice(r));
    }
    tool_text_free(&said);
    mesh_free(&trial);
    return 0;
}

/* Everything about c->m. Returns 1 when it can be simulated. */
static int check_report(check *c)
{
    int ok, crossings;
    check_take_surface(c);
    check_head(c);
    if (c->measured) {
        check_closed(c);
        check_manifold(c);
        check_parts(c);
        check_elements(c);
        crossings = check_crossings(c);
        if (!crossings) check_twice(c);
        check_lengths(c, crossings);
        check_solid(c);
    }
    ok = check_conclude(c);
    fwrite(c->out.data, 1, (size_t)c->out.length, c->o->out);
    fflush(c->o->out);
    return ok;
}

/* ---- Mending -------------------------------------------------------------------------------- */

static int check_write(const tool_mesh *m, const char *path, tool_error *e)
{
    tool_text t = { NULL, 0, 0 };
    int ok;
    if (mesh_format_of(path) == MESH_OBJ)
        mesh_put_obj(&t, "mended", m->x, m->node_count, m->tri, m->tri_count, 0);
    else mesh_put_msh(&t, m);
    ok = output_file(path, &t, e);
    tool_text_free(&t);
    return ok;
}

/* Mends m in place, says what was done and writes it. Returns 0 with e filled when nothing was written. */
static int check_fix(tool_mesh *m, const check_options *o, tool_error *e)
{
    tool_text said = { NULL, 0, 0 }, out = { NULL, 0, 0 };
    mend_options mending = check_mending(o);
    int ok = 1;
    if (m->tet_count && mesh_format_of(o->fix) == MESH_OBJ)
        return tool_fail(e, "%s: found a name for a surface, expected one ending with .msh for tets", o->fix);
    mend_mesh(m, &mending, &said);
    tool_put(&out, "%s: mended into %s:\n", o->mesh[0], o->fix);
    check_lines(&out, "  ", said.length ? said.data : "nothing to mend\n");
    fwrite(out.data, 1, (size_t)out.length, o->out);
    if (m->tri_count + m->tet_count == 0)
        ok = tool_fail(e, "%s: nothing is left to write to %s: remodel it", o->mesh[0], o->fix);
    else ok = check_write(m, o->fix, e);
    tool_text_free(&out);
    tool_text_free(&said);
    return ok;
}

static int check_mesh(const check_options *o, int i)
{
    check c;
    output_plan plan = { { o->fix }, { NULL }, o->mesh + i, 1 };
    tool_error e;
    int code;
    memset(&c, 0, sizeof c);
    c.o = o;
    c.name = o->mesh[i];
    if (!output_check(&plan, &e) || !mesh_read(&c.m, c.name, &e)) {
        fprintf(o->errors, "%s\n", e.text);
        return 2;
    }
    code = check_report(&c) ? 0 : 1;
    check_release(&c);
    if (o->fix && !check_fix(&c.m, o, &e)) {
        fprintf(o->errors, "%s\n", e.text);
        code = 2;
    } else if (o->fix) {   /* what counts now is what was written */
        tool_mesh mended = c.m;
        memset(&c, 0, sizeof c);
        c.o = o;
        c.name = o->fix;
        c.m = mended;
        c.m.note_count = 0;   /* of the file that was read */
        code = check_report(&c) ? 0 : 1;
        check_release(&c);
    }
    mesh_free(&c.m);
    return code;
}

int check_meshes(const check_options *o)
{
    int worst = 0;
    for (int i = 0; i < o->mesh_count; i++) {
        int code = check_mesh(o, i);
        if (code > worst) worst = code;
    }
    return worst;
}
