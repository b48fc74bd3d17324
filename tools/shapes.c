/* Meshes made by code. Three ways are enough for all of them:
 *   cells    a box of cells, five tetrahedra each (box, plane);
 *   sweep    a disc of triangles carried along, prisms cut in three (cylinder, torus, plate);
 *   stuffing an implicit surface filled from a lattice (ball, bear) [Labelle & Shewchuk 2007];
 * the bubble is two shells of an octahedron, the plain sphere an icosphere, and `ball` two shells of another. */
#include "shapes.h"
#include "../embipc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE_PI 3.14159265358979323846

enum { SHAPE_MOST_CELLS = 512, SHAPE_MOST_TETS = 40000000 };

/* ==== 1. Arguments and errors ================================================================ */

/* empties the mesh and judges the resolution */
static int shape_begin(tool_mesh *mesh, int resolution, tool_error *error)
{
    memset(mesh, 0, sizeof *mesh);
    if (resolution >= 0 && resolution <= SHAPE_MOST_CELLS) return 1;
    return tool_fail(error, "resolution is %d: expected 0 (the default) to %d", resolution, SHAPE_MOST_CELLS);
}

static int shape_length(const char *name, double value, tool_error *error)
{
    if (value >= 1e-6 && value <= 1e6) return 1;
    return tool_fail(error, "%s is %g m: expected a length from 1e-6 to 1e6", name, value);
}

static int shape_fits(double tets, tool_error *error)
{
    if (tets <= (double)SHAPE_MOST_TETS) return 1;
    return tool_fail(error, "this resolution needs about %.2g tetrahedra: at most %d", tets, SHAPE_MOST_TETS);
}

/* at least one cell of about h along a length */
static int shape_cells(double length, double h)
{
    int n = (int)floor(length / h + 0.5);
    return n > 1 ? n : 1;
}

/* ==== 2. Tetrahedra ========================================================================== */

/* the sign of the volume, exact */
static int shape_sense(const double *x, const int t[4])
{
    return embipc_orient3d(x + 3 * t[0], x + 3 * t[1], x + 3 * t[2], x + 3 * t[3]);
}

/* The six cosines of the dihedral angles: of the angle between faces i and j it is -n_i . n_j with unit
 * outward normals. Returns 0 when a face has no area. */
static int shape_cosines(double cosine[6], const double *x, const int t[4])
{
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double n[4][3], a[3], b[3];
    int k = 0;
    for (int i = 0; i < 4; i++) {
        double size;
        tool_sub(a, x + 3 * t[face[i][1]], x + 3 * t[face[i][0]]);
        tool_sub(b, x + 3 * t[face[i][2]], x + 3 * t[face[i][0]]);
        tool_cross(n[i], a, b);
        size = tool_length(n[i]);
        if (!(size > 0)) return 0;
        for (int c = 0; c < 3; c++) n[i][c] /= size;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) cosine[k++] = -tool_dot(n[i], n[j]);
    return 1;
}

/* The sine of the dihedral angle nearest to 0 or 180 degrees; -1 for a tetrahedron turned inside out. */
static double shape_quality(const double *x, const int t[4])
{
    double cosine[6], worst = 0;
    if (shape_sense(x, t) <= 0 || !shape_cosines(cosine, x, t)) return -1;
    for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(cosine[i]));
    return sqrt(fmax(0, 1 - worst * worst));
}

/* smallest and largest dihedral angle of the tetrahedra, degrees */
static void shape_dihedral_range(const tool_mesh *mesh, double *smallest, double *largest)
{
    double cosine[6], lo = -1, hi = 1;
    for (int t = 0; t < mesh->tet_count; t++) {
        if (!shape_cosines(cosine, mesh->x, mesh->tet + 4 * t)) lo = 1;
        else
            for (int i = 0; i < 6; i++) {
                lo = fmax(lo, cosine[i]);
                hi = fmin(hi, cosine[i]);
            }
    }
    *smallest = acos(fmin(1, lo)) * (180 / SHAPE_PI);
    *largest = acos(fmax(-1, hi)) * (180 / SHAPE_PI);
}

/* ==== 3. A mesh under construction =========================================================== */

static int shape_node(tool_mesh *m, double x, double y, double z)
{
    double *at = mesh_add_node(m);
    at[0] = x;
    at[1] = y;
    at[2] = z;
    return m->node_count - 1;
}

/* adds the tetrahedron in the orientation that has positive volume */
static void shape_tet(tool_mesh *m, int i, int j, int k, int l)
{
    int t[4];
    t[0] = i; t[1] = j; t[2] = k; t[3] = l;
    if (shape_sense(m->x, t) < 0) {
        t[2] = l; t[3] = k;
    }
    mesh_add_tet(m, t);
}

/* The prism with ends (a, b, c) and (A, B, C) in three tetrahedra. Each side is cut by the diagonal from the
 * first end at its earlier corner, in the order a, b, c; prisms that agree on the order agree on sides. */
static void shape_prism(tool_mesh *m, int a, int b, int c, int A, int B, int C)
{
    shape_tet(m, a, b, c, C);
    shape_tet(m, a, b, B, C);
    shape_tet(m, a, A, B, C);
}

static void shape_swap_if(int *a, int *b)
{
    int t = *a;
    if (*a <= *b) return;
    *a = *b;
    *b = t;
}

static void shape_sort3(int v[3])
{
    shape_swap_if(v, v + 1);
    shape_swap_if(v + 1, v + 2);
    shape_swap_if(v, v + 1);
}

/* The edges of a mesh, sorted, and the node that cuts each in two, if any. */
typedef struct shape_edges {
    int *node;          /* two each, the smaller first */
    int *cut;           /* node on it, or -1 */
    double *t;          /* its place: a + t (b - a) */
    int count;
} shape_edges;

static void shape_edges_free(shape_edges *e)
{
    free(e->node);
    free(e->cut);
    free(e->t);
}

/* the edges of triangles, not cut */
static shape_edges shape_edges_of(const int *tri, int tris)
{
    shape_edges e;
    size_t room = 3 * (size_t)tris;
    e.node = (int *)tool_alloc(2 * room, sizeof *e.node);
    e.cut = (int *)tool_alloc(room, sizeof *e.cut);
    e.t = (double *)tool_alloc(room, sizeof *e.t);
    e.count = embipc_surface_edges(tri, tris, e.node, NULL, 3 * tris);
    for (int i = 0; i < e.count; i++) e.cut[i] = -1;
    return e;
}

/* the edges of tetrahedra: those of three faces of each */
static shape_edges shape_edges_of_tets(const tool_mesh *m)
{
    static const int corner[9] = {0, 1, 2, 0, 1, 3, 1, 2, 3};
    size_t n = 9 * (size_t)m->tet_count;
    int *tri = (int *)tool_alloc(n, sizeof *tri);
    shape_edges e;
    for (size_t i = 0; i < n; i++) tri[i] = m->tet[4 * (i / 9) + (size_t)corner[i % 9]];
    e = shape_edges_of(tri, 3 * m->tet_count);
    free(tri);
    return e;
}

static int shape_compare_edges(const void *a, const void *b)
{
    const int *e = (const int *)a, *g = (const int *)b;
    int k = e[0] == g[0];
    return (e[k] > g[k]) - (e[k] < g[k]);
}

/* the number of the edge between two nodes, which must exist */
static int shape_find_edge(const shape_edges *e, int a, int b)
{
    int key[2];
    key[0] = a;
    key[1] = b;
    shape_swap_if(key, key + 1);
    return (int)((int *)bsearch(key, e->node, (size_t)e->count, sizeof key, shape_compare_edges) - e->node) / 2;
}

/* Which of `count` groups of `size` nodes have node v: list[first[v]] to list[first[v + 1] - 1]. Returns first. */
static int *shape_groups_at(int **list, const int *node, int count, int size, int nodes)
{
    int *first = (int *)tool_alloc((size_t)nodes + 2, sizeof *first);
    *list = (int *)tool_alloc((size_t)count * (size_t)size, sizeof **list);
    for (int i = 0; i < size * count; i++) first[node[i] + 2]++;
    for (int v = 0; v < nodes; v++) first[v + 2] += first[v + 1];
    for (int i = 0; i < size * count; i++) (*list)[first[node[i] + 1]++] = i / size;
    return first;
}

/* by their nodes, the smallest first */
static int shape_compare_faces(const void *a, const void *b)
{
    int key[2][3];
    memcpy(key[0], a, sizeof key[0]);
    memcpy(key[1], b, sizeof key[1]);
    for (int i = 0; i < 2; i++) shape_sort3(key[i]);
    for (int i = 0; i < 3; i++)
        if (key[0][i] != key[1][i]) return key[0][i] < key[1][i] ? -1 : 1;
    return 0;
}

/* Finishes a mesh of tetrahedra: its boundary, sorted by nodes, as scenes and results rest on that order, and only the
 * nodes in use. Without `solid` the tetrahedra go. Returns 1. */
static int shape_finish(tool_mesh *m, int solid)
{
    mesh_take_surface(m);
    qsort(m->tri, (size_t)m->tri_count, 3 * sizeof *m->tri, shape_compare_faces);
    if (!solid) {
        free(m->tet);
        m->tet = NULL;
        m->tet_count = m->tet_capacity = 0;
    }
    (void)mesh_drop_unused(m);
    return 1;
}

/* ==== 4. Cells: box, plane, comb, finger ===================================================== */

/* A lattice of n[0] x n[1] x n[2] cells, of which some are there, and where its nodes are, for shares 0..1 of
 * the way along each axis. */
typedef struct shape_lattice {
    int n[3];
    double size[3];
    int (*inside)(const struct shape_lattice *l, int i, int k);          /* NULL: all */
    void (*place)(const struct shape_lattice *l, int i, int k, double p[3]);   /* NULL: evenly; p: evenly */
} shape_lattice;

/* The corners of a cell with an even sum of indices span one tetrahedron, the four others cut off one each;
 * neighbours agree because the rule looks at the lattice, not the cell. */
static void shape_lattice_cells(tool_mesh *b, const shape_lattice *l)
{
    const int *n = l->n;
    int row = n[0] + 1, sheet = row * (n[1] + 1);
    for (int k = 0; k <= n[2]; k++)
        for (int j = 0; j <= n[1]; j++)
            for (int i = 0; i <= n[0]; i++) {
                double p[3];
                p[0] = l->size[0] * ((double)i / n[0] - 0.5);
                p[1] = l->size[1] * ((double)j / n[1] - 0.5);
                p[2] = l->size[2] * ((double)k / n[2] - 0.5);
                if (l->place) l->place(l, i, k, p);
                shape_node(b, p[0], p[1], p[2]);
            }
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++) {
                int at = i + row * j + sheet * k, even[4], e = 0;
                int step[3];
                if (l->inside && !l->inside(l, i, k)) continue;
                step[0] = 1; step[1] = row; step[2] = sheet;
                for (int c = 0; c < 8; c++) {
                    int dx = c & 1, dy = c >> 1 & 1, dz = c >> 2, node = at + dx + row * dy + sheet * dz;
                    if ((i + dx + j + dy + k + dz) % 2 == 0) even[e++] = node;
                    else
                        shape_tet(b, node, node + (dx ? -step[0] : step[0]), node + (dy ? -step[1] : step[1]),
                                  node + (dz ? -step[2] : step[2]));
                }
                shape_tet(b, even[0], even[1], even[2], even[3]);
            }
}

static int shape_sizes(const double size[3], tool_error *error)
{
    return shape_length("size x", size[0], error) && shape_length("size y", size[1], error) &&
           shape_length("size z", size[2], error);
}

int shape_box(tool_mesh *mesh, const double size[3], int resolution, int solid, tool_error *error)
{
    shape_lattice l = {{0}, {0}, NULL, NULL};
    double longest = 0, shortest, h;
    if (!shape_begin(mesh, resolution, error) || !shape_sizes(size, error)) return 0;
    longest = fmax(size[0], fmax(size[1], size[2]));
    shortest = fmin(size[0], fmin(size[1], size[2]));
    h = longest / (resolution ? resolution : solid ? 4 : 1);
    if (solid) h = fmin(h, 4 * shortest);
    if (!shape_fits(5 * (size[0] / h + 1) * (size[1] / h + 1) * (size[2] / h + 1), error)) return 0;
    for (int i = 0; i < 3; i++) {
        l.n[i] = shape_cells(size[i], h);
        l.size[i] = size[i];
    }
    shape_lattice_cells(mesh, &l);
    return shape_finish(mesh, solid);
}

int shape_plane(tool_mesh *mesh, const double normal[3], int resolution, int solid, tool_error *error)
{
    static const double size[3] = {10, 10, 0.2};
    double axis[3][3], length = tool_length(normal);
    int least = 0;
    if (!shape_begin(mesh, resolution, error)) return 0;
    if (!(length >= 1e-6 && length <= 1e6))
        return tool_fail(error, "normal (%g, %g, %g) has no direction", normal[0], normal[1], normal[2]);
    if (!shape_box(mesh, size, resolution, solid, error)) return 0;
    for (int i = 1; i < 3; i++)
        if (fabs(normal[i]) < fabs(normal[least])) least = i;
    for (int i = 0; i < 3; i++) axis[2][i] = normal[i] / length;
    for (int i = 0; i < 3; i++) axis[0][i] = (i == least ? 1 : 0) - axis[2][least] * axis[2][i];
    length = tool_length(axis[0]);
    for (int i = 0; i < 3; i++) axis[0][i] /= length;
    tool_cross(axis[1], axis[2], axis[0]);
    for (int v = 0; v < mesh->node_count; v++) {
        double *x = mesh->x + 3 * v, p[3];
        memcpy(p, x, sizeof p);
        p[2] -= 0.5 * size[2];
        for (int i = 0; i < 3; i++) x[i] = p[0] * axis[0][i] + p[1] * axis[1][i] + p[2] * axis[2][i];
    }
    return 1;
}

/* A lattice of base cells, or of the multiple of them that comes nearest to the resolution along z. */
static int shape_of_cells(tool_mesh *mesh, const double size[3], const int base[3], shape_lattice *l, int resolution,
                          int solid, tool_error *error)
{
    int times = resolution > base[2] ? (resolution + base[2] / 2) / base[2] : 1;
    if (!shape_begin(mesh, resolution, error) || !shape_sizes(size, error)) return 0;
    for (int i = 0; i < 3; i++) {
        l->n[i] = times * base[i];
        l->size[i] = size[i];
    }
    if (!shape_fits(5.0 * l->n[0] * l->n[1] * l->n[2], error)) return 0;
    shape_lattice_cells(mesh, l);
    return shape_finish(mesh, solid);
}

enum { COMB_TEETH = 4, COMB_ACROSS = 4 * COMB_TEETH - 1, COMB_BACK = 3, COMB_HIGH = 13 };

static int shape_comb_inside(const shape_lattice *l, int i, int k)
{
    int times = l->n[2] / COMB_HIGH;
    return k < COMB_BACK * times || i / times % 4 < 3;
}

int shape_comb(tool_mesh *mesh, const double size[3], int resolution, int solid, tool_error *error)
{
    static const int base[3] = {COMB_ACROSS, 3, COMB_HIGH};
    shape_lattice l = {{0}, {0}, shape_comb_inside, NULL};
    return shape_of_cells(mesh, size, base, &l, resolution, solid, error);
}

/* The finger: from x = -size/2 a wall, in front, that stands upright, and one behind that leans on it; of the
 * FINGER_ACROSS columns of cells the first and the last are walls, FINGER_WALL of the foot's width thick. */
enum { FINGER_ACROSS = 6, FINGER_HIGH = 22, FINGER_RIB = 5 };
static const double shape_finger_wall = 0.1;

static int shape_finger_inside(const shape_lattice *l, int i, int k)
{
    int times = l->n[2] / FINGER_HIGH, layer = k / times, column = i / times;
    return column == 0 || column == FINGER_ACROSS - 1 || layer % FINGER_RIB == 0 || layer >= FINGER_HIGH - 2;
}

static void shape_finger_place(const shape_lattice *l, int i, int k, double p[3])
{
    int times = l->n[2] / FINGER_HIGH, in = i < times ? 0 : i > l->n[0] - times ? 2 : 1;
    double wall = shape_finger_wall * l->size[0], width = l->size[0] - (l->size[0] - 3 * wall) * k / l->n[2];
    double along = (double)(i - times) / (l->n[0] - 2 * times);   /* between the walls */
    p[0] = -l->size[0] / 2 + (in == 0 ? wall * i / times
                              : in == 2 ? width - wall * (l->n[0] - i) / times
                                        : wall + (width - 2 * wall) * along);
}

int shape_finger(tool_mesh *mesh, const double size[3], int resolution, int solid, tool_error *error)
{
    static const int base[3] = {FINGER_ACROSS, 3, FINGER_HIGH};
    shape_lattice l = {{0}, {0}, shape_finger_inside, shape_finger_place};
    return shape_of_cells(mesh, size, base, &l, resolution, solid, error);
}

/* ==== 5. Sweep: cylinder, torus, plate ======================================================= */

/* where the point (r, angle) of the unit disc is, a fraction s of the way along */
typedef void (*shape_path)(const double *size, double r, double angle, double s, double p[3]);

/* The disc is a hexagon of triangles pulled round: ring k has 6 k nodes, the middle is ring 0. */
static int shape_disc_node(int ring, int i) { return ring ? 1 + 3 * ring * (ring - 1) + i % (6 * ring) : 0; }

static void shape_disc_prism(tool_mesh *b, int i, int j, int k, int from, int to)
{
    int v[3];
    v[0] = i; v[1] = j; v[2] = k;
    shape_sort3(v);
    shape_prism(b, from + v[0], from + v[1], from + v[2], to + v[0], to + v[1], to + v[2]);
}

/* A disc of `rings` rings carried through `layers` layers; closed joins the last layer to the first. In the
 * second half of an open sweep prisms are cut from the far end, so that the two halves mirror each other. */
static void shape_sweep(tool_mesh *b, int rings, int layers, int closed, shape_path path,
                        const double *size)
{
    int disc = shape_disc_node(rings + 1, 0);
    for (int s = 0; s < layers + !closed; s++)
        for (int k = 0; k <= rings; k++)
            for (int i = 0; i < (k ? 6 * k : 1); i++) {
                double p[3];
                path(size, (double)k / rings, k ? 2 * SHAPE_PI * i / (6 * k) : 0, (double)s / layers, p);
                shape_node(b, p[0], p[1], p[2]);
            }
    for (int s = 0; s < layers; s++) {
        int from = disc * s, to = closed && s + 1 == layers ? 0 : from + disc;
        if (!closed && 2 * s >= layers) {
            int t = from;
            from = to;
            to = t;
        }
        for (int k = 1; k <= rings; k++)
            for (int i = 0; i < 6 * k; i++) {
                int sector = i / k, inner = sector * (k - 1) + i % k;
                int a = shape_disc_node(k, i), c = shape_disc_node(k, i + 1),
                    d = shape_disc_node(k - 1, inner);
                shape_disc_prism(b, a, c, d, from, to);
                if (i % k < k - 1) shape_disc_prism(b, c, shape_disc_node(k - 1, inner + 1), d, from, to);
            }
    }
}

static double shape_sweep_tets(int rings, int layers) { return 18.0 * rings * rings * layers; }

static void shape_cylinder_path(const double *size, double r, double angle, double s, double p[3])
{
    p[0] = size[0] * r * cos(angle);
    p[1] = size[0] * r * sin(angle);
    p[2] = size[1] * (s - 0.5);
}

int shape_cylinder(tool_mesh *mesh, double radius, double height, int resolution, int solid,
                   tool_error *error)
{
    double size[2], h;
    int rings, layers;
    if (!shape_begin(mesh, resolution, error)) return 0;
    if (!shape_length("radius", radius, error) || !shape_length("height", height, error)) return 0;
    size[0] = radius;
    size[1] = height;
    h = fmax(2 * radius, height) / (resolution ? resolution : 8);
    if (solid) h = fmin(h, fmin(2 * radius, 3 * height));
    if (!shape_fits(18 * (radius / h + 1) * (radius / h + 1) * (height / h + 1), error)) return 0;
    rings = shape_cells(radius, h);
    layers = shape_cells(height, h);
    if (rings < 2) rings = 2;
    while (solid && height / layers > 3 * radius / rings) layers++;
    if (!shape_fits(shape_sweep_tets(rings, layers), error)) return 0;
    shape_sweep(mesh, rings, layers, 0, shape_cylinder_path, size);
    return shape_finish(mesh, solid);
}

static void shape_torus_path(const double *size, double r, double angle, double s, double p[3])
{
    double out = size[0] + size[1] * r * cos(angle);
    p[0] = out * cos(2 * SHAPE_PI * s);
    p[1] = out * sin(2 * SHAPE_PI * s);
    p[2] = size[1] * r * sin(angle);
}

int shape_torus(tool_mesh *mesh, double radius, double tube, int resolution, int solid, tool_error *error)
{
    double size[2];
    int rings, layers;
    if (!shape_begin(mesh, resolution, error)) return 0;
    if (!shape_length("radius", radius, error) || !shape_length("tube", tube, error)) return 0;
    if (!(tube <= 0.8 * radius) || !(tube >= 0.001 * radius))
        return tool_fail(error, "tube is %g m: expected 0.001 to 0.8 of the radius %g m", tube, radius);
    size[0] = radius;
    size[1] = tube;
    rings = shape_cells(tube, 2 * (radius + tube) / (resolution ? resolution : 12));
    if (rings < 2) rings = 2;
    layers = shape_cells(2 * SHAPE_PI * radius, tube / rings);
    if (!shape_fits(shape_sweep_tets(rings, layers), error)) return 0;
    shape_sweep(mesh, rings, layers, 1, shape_torus_path, size);
    return shape_finish(mesh, solid);
}

/* Middle surface flat to 0.6 radius, then a parabola; the thickness falls on an ellipse towards the edge. */
static void shape_plate_path(const double *size, double r, double angle, double s, double p[3])
{
    double rise = fmax(0, (r - 0.6) / 0.4), edge = fmax(0, (r - 0.8) / 0.2);
    double thick = 0.06 * sqrt(fmax(0.5, 1 - edge * edge));
    p[0] = size[0] * r * cos(angle);
    p[1] = size[0] * r * sin(angle);
    p[2] = size[0] * (0.03 + 0.15 * rise * rise + (s - 0.5) * thick);
}

int shape_plate(tool_mesh *mesh, double radius, int resolution, int solid, tool_error *error)
{
    int rings, layers;
    if (!shape_begin(mesh, resolution, error)) return 0;
    if (!shape_length("radius", radius, error)) return 0;
    rings = (resolution ? resolution + 1 : 24) / 2;
    if (rings < (solid ? 10 : 5)) rings = solid ? 10 : 5;
    layers = shape_cells(0.06, 1.0 / rings);
    if (!shape_fits(shape_sweep_tets(rings, layers), error)) return 0;
    shape_sweep(mesh, rings, layers, 0, shape_plate_path, &radius);
    return shape_finish(mesh, solid);
}

/* ==== 6. Icosphere =========================================================================== */

typedef struct shape_icosphere {
    tool_mesh *mesh;
    int n;                  /* pieces an edge is cut into */
    int side[12][12];       /* first node on the edge from the smaller to the larger corner */
} shape_icosphere;

static int shape_ico_add(shape_icosphere *s, const double p[3])
{
    double length = tool_length(p);
    return shape_node(s->mesh, p[0] / length, p[1] / length, p[2] / length);
}

/* node at step i of the edge a to b */
static int shape_ico_side(const shape_icosphere *s, int a, int b, int i)
{
    if (i == 0) return a;
    if (i == s->n) return b;
    return a < b ? s->side[a][b] + i - 1 : s->side[b][a] + s->n - i - 1;
}

/* One face (a, b, c): node (i, j) lies i steps towards b and j towards c; inner nodes are new. */
static void shape_ico_face(shape_icosphere *s, const int f[3])
{
    tool_mesh *m = s->mesh;
    int n = s->n, first = m->node_count;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j <= n; j++)
            for (int i = 0; i + j <= n; i++) {
                int at[4];
                if (pass == 0) {
                    double p[3];
                    for (int c = 0; c < 3; c++)
                        p[c] = (n - i - j) * m->x[3 * f[0] + c] + i * m->x[3 * f[1] + c] +
                               j * m->x[3 * f[2] + c];
                    if (i > 0 && j > 0 && i + j < n) shape_ico_add(s, p);
                    continue;
                }
                if (i + j == n) continue;
                for (int c = 0; c < 4; c++) {
                    int u = i + (c & 1), v = j + (c >> 1);
                    if (u + v > n) at[c] = -1;
                    else if (v == 0) at[c] = shape_ico_side(s, f[0], f[1], u);
                    else if (u == 0) at[c] = shape_ico_side(s, f[0], f[2], v);
                    else if (u + v == n) at[c] = shape_ico_side(s, f[1], f[2], v);
                    else at[c] = first + (v - 1) * (n - 2) - (v - 1) * (v - 2) / 2 + u - 1;
                }
                mesh_add_tri(m, at[0], at[1], at[2]);
                if (at[3] >= 0) mesh_add_tri(m, at[1], at[3], at[2]);
            }
}

static int shape_icosphere_make(tool_mesh *mesh, double radius, int n)
{
    static const int face[20][3] = {{0, 2, 4},  {0, 5, 2},  {0, 4, 8},  {0, 10, 5}, {0, 8, 10},
                                    {1, 6, 3},  {1, 3, 7},  {1, 8, 6},  {1, 7, 10}, {1, 10, 8},
                                    {2, 9, 4},  {2, 5, 11}, {2, 11, 9}, {3, 6, 9},  {3, 11, 7},
                                    {3, 9, 11}, {4, 6, 8},  {4, 9, 6},  {5, 10, 7}, {5, 7, 11}};
    shape_icosphere sphere;
    double golden = 0.5 * (1 + sqrt(5.0));
    sphere.mesh = mesh;
    sphere.n = n;
    for (int c = 0; c < 12; c++) {      /* corners (0, +-1, +-golden) and its turns */
        double p[3];
        int turn = c / 4;
        p[turn] = 0;
        p[(turn + 1) % 3] = c & 2 ? -1 : 1;
        p[(turn + 2) % 3] = c & 1 ? -golden : golden;
        shape_ico_add(&sphere, p);
    }
    for (int f = 0; f < 20; f++)
        for (int e = 0; e < 3; e++) {
            int a = face[f][e], b = face[f][(e + 1) % 3];
            if (a > b) continue;
            sphere.side[a][b] = mesh->node_count;
            for (int i = 1; i < n; i++) {
                double p[3];
                for (int c = 0; c < 3; c++) p[c] = (n - i) * mesh->x[3 * a + c] + i * mesh->x[3 * b + c];
                shape_ico_add(&sphere, p);
            }
        }
    for (int f = 0; f < 20; f++) shape_ico_face(&sphere, face[f]);
    for (int i = 0; i < 3 * mesh->node_count; i++) mesh->x[i] *= radius;
    return 1;
}

/* ---- Ball of two shells: the peers' ball ---- */

/* The middle of edge i-j pushed out to the unit sphere, made when it is first asked for. */
static int shape_ball_middle(tool_mesh *b, shape_edges *edge, int i, int j)
{
    int e = shape_find_edge(edge, i, j);
    double p[3], length;
    if (edge->cut[e] >= 0) return edge->cut[e];
    for (int c = 0; c < 3; c++) p[c] = 0.5 * (b->x[3 * i + c] + b->x[3 * j + c]);
    length = tool_length(p);
    edge->cut[e] = shape_node(b, p[0] / length, p[1] / length, p[2] / length);
    return edge->cut[e];
}

/* Each triangle into four. */
static void shape_ball_subdivide(tool_mesh *b)
{
    shape_edges edge = shape_edges_of(b->tri, b->tri_count);
    int *old = b->tri, count = b->tri_count;
    b->tri = NULL;
    b->tri_count = b->tri_capacity = 0;
    for (int t = 0; t < count; t++) {
        const int *v = old + 3 * t;
        int m[3];
        for (int c = 0; c < 3; c++) m[c] = shape_ball_middle(b, &edge, v[c], v[(c + 1) % 3]);
        for (int c = 0; c < 3; c++) mesh_add_tri(b, v[c], m[c], m[(c + 2) % 3]);
        mesh_add_tri(b, m[0], m[1], m[2]);
    }
    shape_edges_free(&edge);
    free(old);
}

int shape_ball(tool_mesh *mesh, double radius, int resolution, int solid, tool_error *error)
{
    static const int face[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                    {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                    {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                    {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    const double long_side = 0.5 * (1 + sqrt(5.0)), size = sqrt(1 + long_side * long_side);
    int outer;
    if (!shape_begin(mesh, resolution, error) || !shape_length("radius", radius, error)) return 0;
    for (int c = 0; c < 12; c++) {
        double p[3];
        p[c / 4] = (c & 1 ? 1 : -1) / size;
        p[(c / 4 + 1) % 3] = (c & 2 ? -long_side : long_side) / size;
        p[(c / 4 + 2) % 3] = 0;
        shape_node(mesh, p[0], p[1], p[2]);
    }
    for (int f = 0; f < 20; f++) mesh_add_tri(mesh, face[f][0], face[f][1], face[f][2]);
    for (int r = 1; r <= 2 || (r <= 3 && resolution >= 12); r++) shape_ball_subdivide(mesh);
    outer = mesh->node_count;
    for (int v = 0; v < outer; v++)
        shape_node(mesh, 0.6 * mesh->x[3 * v], 0.6 * mesh->x[3 * v + 1], 0.6 * mesh->x[3 * v + 2]);
    shape_node(mesh, 0, 0, 0);
    for (int t = 0; t < mesh->tri_count; t++) {   /* sides cut from the inner end at the smaller number */
        int *v = mesh->tri + 3 * t;
        shape_sort3(v);
        shape_prism(mesh, outer + v[0], outer + v[1], outer + v[2], v[0], v[1], v[2]);
        shape_tet(mesh, outer + v[0], outer + v[1], outer + v[2], 2 * outer);
    }
    for (int i = 0; i < 3 * mesh->node_count; i++) mesh->x[i] *= radius;
    return shape_finish(mesh, solid);
}

/* ==== 7. Isosurface stuffing =================================================================
 * The lattice is body-centred cubic with half a cell h as unit: nodes whose three indices are all even or all
 * odd, and four equal tetrahedra around every edge that joins two even nodes. Lattice nodes that the surface
 * f = 0 passes too closely are moved onto it ("snapped"), every other edge it crosses gets a node at the
 * crossing, and each tetrahedron is cut down to its part in f > 0 by a fixed rule for its signs. Angles stay
 * away from 0 and 180 degrees because no crossing is left near a node (Labelle & Shewchuk 2007).
 * Own additions: the solid is symmetric in y, so only y >= 0 is filled and then mirrored; tetrahedra that
 * straddle y = 0 are halved, which adds a node in the middle of their odd edge; and a few rounds of moving
 * the worst nodes about follow, as the coarse meshes wanted here have features as thin as a cell. */

typedef double (*shape_field)(const void *data, const double p[3]);     /* > 0 inside, about a length */

typedef struct shape_stuffing {
    shape_field field;
    const void *data;
    double low[3], h;   /* position of index (0, 0, 0); y starts at 0 */
    int n[3];           /* largest indices, even */
    int *site;          /* node at an index, or -1 */
    tool_mesh lattice, out;     /* `out` shares the nodes of `lattice`, which go on with the cuts */
    double *value;      /* f at the nodes */
    int value_room;
    shape_edges edge;   /* of the lattice tetrahedra */
} shape_stuffing;

static void shape_stuffing_free(shape_stuffing *s)
{
    free(s->site);
    free(s->value);
    shape_edges_free(&s->edge);
    free(s->lattice.tet);
}

/* a new node with f there */
static int shape_stuffing_node(shape_stuffing *s, const double p[3], double value)
{
    int node = shape_node(&s->lattice, p[0], p[1], p[2]);
    TOOL_GROW(double, s->value, s->value_room, s->lattice.node_count);
    s->value[node] = value;
    return node;
}

/* the node at an index, made when first asked for */
static int shape_lattice_node(shape_stuffing *s, const int at[3])
{
    size_t site =
        (size_t)at[0] + (size_t)(s->n[0] + 1) * ((size_t)at[1] + (size_t)(s->n[1] + 1) * (size_t)at[2]);
    if (s->site[site] < 0) {
        double p[3];
        for (int i = 0; i < 3; i++) p[i] = s->low[i] + s->h * at[i];
        s->site[site] = shape_stuffing_node(s, p, s->field(s->data, p));
    }
    return s->site[site];
}

/* The four tetrahedra around the even edge from `at` along `axis`: each takes two neighbours of the ring of
 * odd nodes around the edge. Those wholly outside the solid are left out. */
static void shape_lattice_ring(shape_stuffing *s, const int at[3], int axis)
{
    int q = (axis + 1) % 3, r = (axis + 2) % 3;
    for (int k = 0; k < 4; k++) {
        static const int turn[5][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}, {1, 1}};
        int corner[4][3], t[4], below = 0, inside = 0;
        for (int c = 0; c < 4; c++) memcpy(corner[c], at, sizeof corner[c]);
        corner[1][axis] += 2;
        for (int c = 0; c < 2; c++) {
            corner[2 + c][axis] += 1;
            corner[2 + c][q] += turn[k + c][0];
            corner[2 + c][r] += turn[k + c][1];
        }
        for (int c = 2; c < 4; c++)
            if (corner[c][1] < 0) {
                corner[c][1] = 0;       /* halved by y = 0: the middle of the odd edge takes its place */
                below++;
            }
        if (below == 2) continue;
        for (int c = 0; c < 4; c++) {
            t[c] = shape_lattice_node(s, corner[c]);
            inside |= s->value[t[c]] > 0;
        }
        if (inside) shape_tet(&s->lattice, t[0], t[1], t[2], t[3]);
    }
}

static void shape_lattice_fill(shape_stuffing *s)
{
    int at[3];
    for (at[2] = 2; at[2] <= s->n[2] - 2; at[2] += 2)
        for (at[1] = 0; at[1] <= s->n[1] - 2; at[1] += 2)
            for (at[0] = 2; at[0] <= s->n[0] - 2; at[0] += 2)
                for (int axis = 0; axis < 3; axis++) shape_lattice_ring(s, at, axis);
}

/* where f changes sign between the ends of an edge, by bisection */
static double shape_crossing(const shape_stuffing *s, int a, int b)
{
    const double *x = s->lattice.x;
    double lo = 0, hi = 1;
    for (int k = 0; k < 48; k++) {
        double t = 0.5 * (lo + hi), p[3];
        for (int i = 0; i < 3; i++) p[i] = x[3 * a + i] + t * (x[3 * b + i] - x[3 * a + i]);
        if ((s->field(s->data, p) > 0) == (s->value[a] > 0)) lo = t;
        else hi = t;
    }
    return 0.5 * (lo + hi);
}

/* all edges of the lattice tetrahedra, with their crossings */
static void shape_stuffing_edges(shape_stuffing *s)
{
    s->edge = shape_edges_of_tets(&s->lattice);
    for (int i = 0; i < s->edge.count; i++) {
        int a = s->edge.node[2 * i], b = s->edge.node[2 * i + 1];
        if (s->value[a] * s->value[b] < 0) s->edge.t[i] = shape_crossing(s, a, b);
    }
}

/* How near a node a crossing may stay, as a part of the edge, by the edge's squared length in h^2. The paper
 * proves its angles with 0.25 and 0.41; less keeps more of the surface, and moving nodes makes up for it. */
static double shape_nearest_crossing(double length2)
{
    return length2 > 3.5 ? 0.15 : length2 > 2.5 ? 0.25 : 0.2;
}

/* one Newton step towards f = 0 along its gradient; in_plane keeps y */
static void shape_project(const shape_stuffing *s, double p[3], int in_plane)
{
    double g[3], f, d = 1e-3 * s->h;
    for (int round = 0; round < 4; round++) {
        f = s->field(s->data, p);
        for (int i = 0; i < 3; i++) {
            double q[3];
            memcpy(q, p, sizeof q);
            q[i] = p[i] + d;
            g[i] = s->field(s->data, q);
            q[i] = p[i] - d;
            g[i] = (g[i] - s->field(s->data, q)) / (2 * d);
        }
        if (in_plane) g[1] = 0;
        if (!(tool_dot(g, g) > 1e-6)) return;
        f = fmax(-s->h, fmin(s->h, f)) / tool_dot(g, g);
        for (int i = 0; i < 3; i++) p[i] -= f * g[i];
    }
}

/* Moves lattice nodes onto the surface where it passes too near, in the order of their numbers. A node in
 * the plane y = 0 stays there: it takes the nearest point of the surface in the plane instead. */
static void shape_snap(shape_stuffing *s)
{
    int nodes = s->lattice.node_count, *list;
    int *first = shape_groups_at(&list, s->edge.node, s->edge.count, 2, nodes);
    double *x = s->lattice.x;
    for (int v = 0; v < nodes; v++) {
        double best = 0, p[3] = {0, 0, 0}, d[3];
        int found = 0, plane = x[3 * v + 1] == 0;
        for (int i = first[v]; i < first[v + 1]; i++) {
            const int *e = s->edge.node + 2 * list[i];
            int w = e[0] == v ? e[1] : e[0];
            double t = e[0] == v ? s->edge.t[list[i]] : 1 - s->edge.t[list[i]], length2;
            if (!(s->value[v] * s->value[w] < 0)) continue;
            tool_sub(d, x + 3 * w, x + 3 * v);
            length2 = tool_dot(d, d) / (s->h * s->h);
            if (t >= shape_nearest_crossing(length2)) continue;
            if (found && t * t * length2 >= best) continue;
            best = t * t * length2;
            found = 1;
            for (int c = 0; c < 3; c++) p[c] = x[3 * v + c] + t * d[c];
        }
        if (!found) continue;
        if (plane && p[1] != 0) {
            memcpy(p, x + 3 * v, sizeof p);
            shape_project(s, p, 1);
        }
        memcpy(x + 3 * v, p, sizeof p);
        s->value[v] = 0;
    }
    free(first);
    free(list);
}

/* the node at the crossing of edge (a, b) */
static int shape_cut(shape_stuffing *s, int a, int b)
{
    int e = shape_find_edge(&s->edge, a, b);
    if (s->edge.cut[e] < 0) {
        const double *u = s->lattice.x + 3 * s->edge.node[2 * e], *v = s->lattice.x + 3 * s->edge.node[2 * e + 1];
        double p[3];
        for (int i = 0; i < 3; i++) p[i] = u[i] + s->edge.t[e] * (v[i] - u[i]);
        s->edge.cut[e] = shape_stuffing_node(s, p, 0);
    }
    return s->edge.cut[e];
}

static void shape_emit(shape_stuffing *s, int i, int j, int k, int l)
{
    s->out.x = s->lattice.x;
    shape_tet(&s->out, i, j, k, l);
}

/* The part of a lattice tetrahedron in f > 0. Quadrilaterals in its faces are cut from the node of lower
 * number, so that neighbours agree. */
static void shape_stencil(shape_stuffing *s, const int t[4])
{
    int in[4], on[4], out[4], ins = 0, ons = 0, outs = 0, c[4];
    for (int i = 0; i < 4; i++) {
        double f = s->value[t[i]];
        if (f > 0) in[ins++] = t[i];
        else if (f < 0) out[outs++] = t[i];
        else on[ons++] = t[i];
    }
    for (int i = 1; i < ins; i++)
        for (int j = i; j > 0; j--) shape_swap_if(in + j - 1, in + j);
    if (ins == 0) return;
    if (outs == 0) shape_emit(s, t[0], t[1], t[2], t[3]);
    else if (ins == 1) {
        for (int i = 0; i < outs; i++) on[ons++] = shape_cut(s, in[0], out[i]);
        shape_emit(s, in[0], on[0], on[1], on[2]);
    } else if (ins == 2 && outs == 1) {
        for (int i = 0; i < 2; i++) c[i] = shape_cut(s, in[i], out[0]);
        shape_emit(s, on[0], in[0], in[1], c[1]);
        shape_emit(s, on[0], in[0], c[1], c[0]);
    } else if (ins == 2) {
        double d[2][3];
        for (int i = 0; i < 4; i++) c[i] = shape_cut(s, in[i / 2], out[i % 2]);
        tool_sub(d[0], s->lattice.x + 3 * c[0], s->lattice.x + 3 * c[3]);
        tool_sub(d[1], s->lattice.x + 3 * c[1], s->lattice.x + 3 * c[2]);
        if (tool_dot(d[0], d[0]) > tool_dot(d[1], d[1])) {    /* the free quadrilateral: shorter diagonal */
            int w = c[0]; c[0] = c[1]; c[1] = w;
            w = c[2]; c[2] = c[3]; c[3] = w;
        }
        shape_emit(s, in[0], c[0], c[1], c[3]);
        shape_emit(s, in[0], c[0], c[2], c[3]);
        shape_emit(s, in[0], in[1], c[2], c[3]);
    } else {
        for (int i = 0; i < 3; i++) c[i] = shape_cut(s, in[i], out[0]);
        shape_emit(s, in[0], in[1], in[2], c[2]);
        shape_emit(s, in[0], in[1], c[1], c[2]);
        shape_emit(s, in[0], c[0], c[1], c[2]);
    }
}

/* worst quality of the tetrahedra listed */
static double shape_star_quality(const tool_mesh *b, const int *list, int count)
{
    double worst = 1;
    for (int i = 0; i < count; i++) worst = fmin(worst, shape_quality(b->x, b->tet + 4 * list[i]));
    return worst;
}

/* Tries to move node v a distance `step` in fourteen directions, on the surface if it is there and in the
 * plane y = 0 if it is there; keeps what makes the worst of its tetrahedra clearly better. */
static void shape_improve(shape_stuffing *s, int v, const int *list, int count, double step)
{
    double *x = s->out.x + 3 * v, start[3], best[3], quality = shape_star_quality(&s->out, list, count);
    int plane = x[1] == 0, surface = s->value[v] == 0;
    if (quality > 0.5) return;      /* 30 degrees: good enough */
    memcpy(start, x, sizeof start);
    memcpy(best, x, sizeof best);
    for (int d = 0; d < 27; d++) {
        int e[3], n;
        double q;
        e[0] = d % 3 - 1; e[1] = d / 3 % 3 - 1; e[2] = d / 9 - 1;
        n = abs(e[0]) + abs(e[1]) + abs(e[2]);
        if ((n != 1 && n != 3) || (plane && e[1] < 0)) continue;
        for (int i = 0; i < 3; i++) x[i] = start[i] + step * e[i] / sqrt(n);
        if (plane) x[1] = 0;
        if (surface) shape_project(s, x, plane);
        if (surface && fabs(s->field(s->data, x)) > 1e-4 * s->h) continue;
        if (!plane && x[1] < 0.05 * s->h) continue;
        q = shape_star_quality(&s->out, list, count);
        if (q > quality + 0.002) {
            quality = q;
            memcpy(best, x, sizeof best);
        }
    }
    memcpy(x, best, sizeof best);
}

static void shape_optimise(shape_stuffing *s)
{
    int nodes = s->lattice.node_count, *list;
    int *first = shape_groups_at(&list, s->out.tet, s->out.tet_count, 4, nodes);
    s->out.x = s->lattice.x;
    for (int round = 0; round < 12; round++)
        for (int v = 0; v < nodes; v++)
            if (first[v + 1] > first[v])
                shape_improve(s, v, list + first[v], first[v + 1] - first[v], s->h * 0.3 * pow(0.8, round));
    free(first);
    free(list);
}

/* copies everything to the other side of y = 0 */
static void shape_mirror(shape_stuffing *s)
{
    int nodes = s->lattice.node_count, tets = s->out.tet_count,
        *twin = (int *)tool_alloc((size_t)nodes, sizeof *twin);
    for (int v = 0; v < nodes; v++) {
        const double *x = s->lattice.x + 3 * v;
        double p[3];
        p[0] = x[0]; p[1] = -x[1]; p[2] = x[2];
        twin[v] = p[1] == 0 ? v : shape_node(&s->lattice, p[0], p[1], p[2]);
    }
    for (int t = 0; t < tets; t++) {
        int c[4];
        for (int i = 0; i < 4; i++) c[i] = twin[s->out.tet[4 * t + i]];
        shape_emit(s, c[0], c[2], c[1], c[3]);
    }
    free(twin);
}

/* 1 when every edge has one triangle on either side and the triangles at every node form one fan */
static int shape_is_manifold(const tool_mesh *m)
{
    static const embipc_fault_kind bad[] = { EMBIPC_FAULT_DOUBLE, EMBIPC_FAULT_CROWDED, EMBIPC_FAULT_TURNED,
                                             EMBIPC_FAULT_BORDER, EMBIPC_FAULT_PINCHED };
    int good = m->tri_count > 0;
    for (int i = 0; good && i < (int)(sizeof bad / sizeof *bad); i++)
        good = embipc_surface_faults(m->x, m->node_count, m->tri, m->tri_count, bad[i], NULL, 0) == 0;
    return good;
}

/* One try with lattice unit h: the solid f > 0, which lies in the box from low to high. Returns whether the result is
 * good enough. */
static int shape_stuff_once(tool_mesh *mesh, shape_field field, const void *data, const double low[3],
                            const double high[3], double h)
{
    shape_stuffing s;
    double smallest, largest;
    size_t sites = 1;
    memset(&s, 0, sizeof s);
    s.field = field;
    s.data = data;
    s.h = h;
    for (int i = 0; i < 3; i++) {
        int from = i == 1 ? 0 : 2 * (int)floor(low[i] / (2 * h)) - 4;
        s.low[i] = h * from;
        s.n[i] = 2 * (int)ceil(high[i] / (2 * h)) + 4 - from;
        sites *= (size_t)s.n[i] + 1;
    }
    s.site = (int *)tool_alloc(sites, sizeof *s.site);
    memset(s.site, 255, sites * sizeof *s.site);
    shape_lattice_fill(&s);
    shape_stuffing_edges(&s);
    shape_snap(&s);
    for (int t = 0; t < s.lattice.tet_count; t++) shape_stencil(&s, s.lattice.tet + 4 * t);
    shape_optimise(&s);
    shape_mirror(&s);
    *mesh = s.lattice;
    mesh->tet = s.out.tet;
    mesh->tet_count = s.out.tet_count;
    mesh->tet_capacity = s.out.tet_capacity;
    shape_stuffing_free(&s);
    shape_finish(mesh, 1);
    shape_dihedral_range(mesh, &smallest, &largest);
    return smallest >= 12 && largest <= 165 && shape_is_manifold(mesh);
}

/* The solid f > 0 with cells of about 2 h. Where a coarse lattice happens to pinch the surface or to leave a
 * thin tetrahedron, a slightly finer one does not: tried in turn, and the first good mesh is taken. */
static int shape_stuff(tool_mesh *mesh, shape_field field, const void *data, const double low[3],
                       const double high[3], double h, int solid, tool_error *error)
{
    double volume = (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
    int good = 0;
    if (!shape_fits(1.5 * volume / (h * h * h), error)) return 0;
    for (int tries = 0; tries < 24 && !good; tries++, h *= 0.99) {
        mesh_free(mesh);
        good = shape_stuff_once(mesh, field, data, low, high, h);
    }
    if (good) return solid || shape_finish(mesh, 0);
    mesh_free(mesh);
    return tool_fail(error, "no good mesh near this resolution");
}

/* ==== 8. Sphere, bear ======================================================================== */

static double shape_ball_field(const void *data, const double p[3])
{
    return *(const double *)data - tool_length(p);
}

int shape_sphere(tool_mesh *mesh, double radius, int resolution, int solid, tool_error *error)
{
    double low[3], high[3];
    int n = resolution ? resolution : solid ? 6 : 14;
    if (!shape_begin(mesh, resolution, error) || !shape_length("radius", radius, error)) return 0;
    for (int i = 0; i < 3; i++) low[i] = -(high[i] = radius);
    if (solid)
        return shape_stuff(mesh, shape_ball_field, &radius, low, high, radius / (n < 3 ? 3 : n), 1, error);
    /* an edge of the icosahedron spans 1.107 radians: that over n pieces to be a diameter over resolution */
    return shape_icosphere_make(mesh, radius, shape_cells(0.5535 * n, 1));
}

/* A limb: the points nearer than `radius` to a segment; or an ellipsoid. */
typedef struct shape_part {
    double a[3];        /* centre, or one end */
    double b[3];        /* semi-axes, or the other end */
    double radius;      /* 0 for an ellipsoid */
    double blend;       /* how softly it joins the parts before it */
} shape_part;

/* distance to the inside of the surface; for the ellipsoid to first order */
static double shape_part_depth(const shape_part *part, const double p[3])
{
    double u[3], v[3], t, k0 = 0, k1 = 0;
    tool_sub(u, p, part->a);
    if (part->radius > 0) {
        tool_sub(v, part->b, part->a);
        t = fmin(1, fmax(0, tool_dot(u, v) / tool_dot(v, v)));
        for (int i = 0; i < 3; i++) u[i] -= t * v[i];
        return part->radius - tool_length(u);
    }
    for (int i = 0; i < 3; i++) {
        double w = u[i] / part->b[i];
        k0 += w * w;
        k1 += w * w / (part->b[i] * part->b[i]);
    }
    if (!(k1 > 0)) return fmin(part->b[0], fmin(part->b[1], part->b[2]));
    return sqrt(k0) * (1 - sqrt(k0)) / sqrt(k1);
}

/* ring of `n` nodes of the capsule, or its pole where r is 0 */
static void shape_capsule_ring(tool_mesh *m, int n, double r, double z)
{
    for (int i = 0; i < (r > 0 ? n : 1); i++)
        shape_node(m, r * cos(2 * SHAPE_PI * i / n), r * sin(2 * SHAPE_PI * i / n), z);
}

/* Rings of n nodes, q of them on each cap with its pole, `layers` bands on the cylinder. */
static int shape_capsule_surface(tool_mesh *m, double radius, double height, int n, int q, int layers)
{
    int rings = 2 * q + layers - 1, last = 1 + rings * n;
    shape_capsule_ring(m, n, 0, -height / 2 - radius);
    for (int k = 1; k <= q; k++)
        shape_capsule_ring(m, n, radius * sin(SHAPE_PI / 2 * k / q), -height / 2 - radius * cos(SHAPE_PI / 2 * k / q));
    for (int k = 1; k <= layers; k++) shape_capsule_ring(m, n, radius, height * ((double)k / layers - 0.5));
    for (int k = q - 1; k >= 1; k--)
        shape_capsule_ring(m, n, radius * sin(SHAPE_PI / 2 * k / q), height / 2 + radius * cos(SHAPE_PI / 2 * k / q));
    shape_capsule_ring(m, n, 0, height / 2 + radius);
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n;
        mesh_add_tri(m, 0, 1 + j, 1 + i);
        for (int k = 0; k + 1 < rings; k++) {
            int a = 1 + k * n, b = a + n;
            mesh_add_tri(m, a + i, a + j, b + j);
            mesh_add_tri(m, a + i, b + j, b + i);
        }
        mesh_add_tri(m, last - n + i, last - n + j, last);
    }
    return 1;
}

static double shape_capsule_field(const void *data, const double p[3])
{
    return shape_part_depth((const shape_part *)data, p);
}

int shape_capsule(tool_mesh *mesh, double radius, double height, int resolution, int solid, tool_error *error)
{
    shape_part part = { { 0, 0, 0 }, { 0, 0, 0 }, 0, 0 };
    double low[3], high[3], h = (height + 2 * radius) / (resolution ? resolution : 16);
    int around;
    if (!shape_begin(mesh, resolution, error)) return 0;
    if (!shape_length("radius", radius, error) || !shape_length("height", height, error)) return 0;
    part.radius = radius;
    part.a[2] = -(part.b[2] = height / 2);
    for (int i = 0; i < 3; i++) low[i] = -(high[i] = part.b[i] + radius);
    if (solid) return shape_stuff(mesh, shape_capsule_field, &part, low, high, fmin(h, 2 * radius / 3) / 2, 1, error);
    around = 4 * shape_cells(SHAPE_PI / 2 * radius, h);
    if (around < 12) around = 12;
    if (!shape_fits(around * (around / 2 + height / h), error)) return 0;
    return shape_capsule_surface(mesh, radius, height, around, around / 4, shape_cells(height, h));
}

/* the larger of two depths, rounded where they are nearly equal */
static double shape_soft_max(double a, double b, double blend)
{
    double t = fmax(0, blend - fabs(a - b)) / blend;
    return fmax(a, b) + 0.25 * t * t * blend;
}

/* the half of the bear with y >= 0; y = 0 cuts the parts in its middle in two */
static const shape_part shape_bear_parts[] = {
    {{-0.012, 0, 0.043}, {0.040, 0.041, 0.047}, 0, 0.010},                 /* body */
    {{0.002, 0, 0.041}, {0.034, 0.033, 0.034}, 0, 0.010},                  /* belly */
    {{-0.006, 0, 0.108}, {0.038, 0.045, 0.035}, 0, 0.004},                 /* head */
    {{0.029, 0, 0.099}, {0.020, 0.021, 0.016}, 0, 0.006},                  /* muzzle */
    {{-0.008, 0.034, 0.1365}, {0.014, 0.018, 0.018}, 0, 0.003},            /* ear */
    {{-0.006, 0.036, 0.073}, {0.034, 0.0378, 0.054}, 0.0150, 0.010},       /* arm */
    {{-0.002, 0.024, 0.0165}, {0.042, 0.033, 0.0165}, 0.0185, 0.012},      /* leg */
    {{0.047, 0.033, 0.0215}, {0.014, 0.0185, 0.023}, 0, 0.006},           /* foot */
    {{-0.049, 0, 0.022}, {0.012, 0.013, 0.013}, 0, 0.005},                 /* tail */
};

static double shape_bear_field(const void *unused, const double p[3])
{
    double q[3], depth = -1;
    (void)unused;
    q[0] = p[0]; q[1] = fabs(p[1]); q[2] = p[2];
    for (size_t i = 0; i < sizeof shape_bear_parts / sizeof *shape_bear_parts; i++)
        depth = shape_soft_max(depth, shape_part_depth(shape_bear_parts + i, q), shape_bear_parts[i].blend);
    return fmin(depth, q[2]);
}

int shape_bear(tool_mesh *mesh, int resolution, int solid, tool_error *error)
{
    static const double low[3] = {-0.07, -0.06, 0}, high[3] = {0.07, 0.06, 0.16};
    int n = resolution ? resolution : 8;
    if (!shape_begin(mesh, resolution, error)) return 0;
    if (!shape_stuff(mesh, shape_bear_field, NULL, low, high, 0.096 / (n < 4 ? 4 : n), solid, error))
        return 0;
    for (int v = 0; v < mesh->node_count; v++)
        if (fabs(mesh->x[3 * v + 2]) < 1e-9) mesh->x[3 * v + 2] = 0; /* rounding in the nodes of its seat */
    return 1;
}

/* (y, z) in an ellipse seen from the front */
static int shape_in_ellipse(const double p[3], double y, double z, double wide, double high)
{
    double a = (fabs(p[1]) - y) / wide, b = (p[2] - z) / high;
    return a * a + b * b < 1;
}

void shape_bear_paint(void *unused, const double point[3], double rgb[3])
{
    static const double fur[3] = {0.64, 0.43, 0.26}, light[3] = {0.88, 0.74, 0.55},
                        dark[3] = {0.13, 0.09, 0.08};
    static const double glint[3] = {0.96, 0.96, 0.94};
    const double *p = point, *colour = fur;
    double mouth = p[2] - 0.0895 - 45 * p[1] * p[1];
    (void)unused;
    if (p[0] > 0.015 && shape_in_ellipse(p, 0, 0.099, 0.0185, 0.0145)) colour = light; /* muzzle */
    if (p[0] > 0.015 && p[0] < 0.044 && shape_in_ellipse(p, 0, 0.048, 0.018, 0.021))
        colour = light; /* belly */
    if (p[0] > 0.045 && shape_in_ellipse(p, 0.033, 0.0215, 0.0115, 0.0145)) colour = light; /* soles */
    if (p[0] > -0.004 && shape_in_ellipse(p, 0.0355, 0.1385, 0.0090, 0.0090)) colour = light;       /* ears */
    if (p[0] > 0.030 && fabs(p[1]) < 0.0008 && p[2] < 0.103 && p[2] > 0.0895) colour = dark; /* mouth */
    if (p[0] > 0.030 && fabs(p[1]) < 0.0085 && fabs(mouth) < 0.0009) colour = dark;
    if (p[0] > 0.030 && shape_in_ellipse(p, 0, 0.106, 0.0065, 0.0045)) colour = dark;               /* nose */
    if (p[0] > 0.010 && shape_in_ellipse(p, 0.0165, 0.1185, 0.0042, 0.0048)) colour = dark;         /* eyes */
    if (p[0] > 0.010 && shape_in_ellipse(p, 0.0154, 0.1202, 0.0012, 0.0012)) colour = glint;
    for (int i = 0; i < 3; i++) rgb[i] = colour[i];
}

/* ==== 9. Bubble ============================================================================== */

enum { SHAPE_DOME = 4 };    /* pieces a quarter of the rim is cut into */

static const double shape_bubble_axes[3] = {0.057, 0.0405, 0.037};

/* Half an octahedron, pushed out to the ellipsoid of `wide` and `high` times the bubble's axes: a node for
 * each (i, j) with |i| + |j| <= SHAPE_DOME. Inside the bubble the rim shrinks to its middle, `centre`. */
static void shape_dome_nodes(tool_mesh *b, double wide, double high, int centre, int *node)
{
    for (int j = -SHAPE_DOME; j <= SHAPE_DOME; j++)
        for (int i = -SHAPE_DOME; i <= SHAPE_DOME; i++) {
            double p[3], length;
            int k = SHAPE_DOME - abs(i) - abs(j),
                *at = node + (i + SHAPE_DOME) + (2 * SHAPE_DOME + 1) * (j + SHAPE_DOME);
            *at = centre;
            if (k < 0 || (k == 0 && centre >= 0)) continue;
            p[0] = sin(0.5 * SHAPE_PI * i / SHAPE_DOME);
            p[1] = sin(0.5 * SHAPE_PI * j / SHAPE_DOME);
            p[2] = k ? -sin(0.5 * SHAPE_PI * k / SHAPE_DOME) : 0;
            length = tool_length(p);
            for (int c = 0; c < 3; c++) p[c] *= (c < 2 ? wide : high) * shape_bubble_axes[c] / length;
            *at = shape_node(b, p[0], p[1], p[2]);
        }
}

/* The solid between an outer and an inner triangle, and from there to the centre. Corners are (|i|, |j|) in
 * the quadrant of signs sx, sy; those nearer to the rim come first, as a diagonal from above to the centre
 * would run through the inner node; the order is that of the mirrored wedge, so the bubble is symmetric. */
static void shape_dome_wedge(tool_mesh *b, const int *outer, const int *inner, int centre, int sx, int sy,
                             const int corner[3][2])
{
    int o[3], n[3], wedge[4][4];
    for (int c = 0; c < 3; c++) {
        int at = (sx * corner[c][0] + SHAPE_DOME) + (2 * SHAPE_DOME + 1) * (sy * corner[c][1] + SHAPE_DOME);
        o[c] = outer[at];
        n[c] = inner[at];
    }
    for (int w = 0; w < 3; w++)
        for (int c = 0; c < 4; c++) wedge[w][c] = c <= 2 - w ? o[c] : n[c - 1];
    for (int c = 0; c < 4; c++) wedge[3][c] = c ? n[c - 1] : centre;
    for (int w = 0; w < 4; w++) {
        int flat = 0;       /* at the rim the inner corners coincide */
        for (int c = 0; c < 4; c++)
            for (int d = 0; d < c; d++) flat |= wedge[w][c] == wedge[w][d];
        if (!flat) shape_tet(b, wedge[w][0], wedge[w][1], wedge[w][2], wedge[w][3]);
    }
}

static void shape_bubble_coarse(tool_mesh *b)
{
    int outer[(2 * SHAPE_DOME + 1) * (2 * SHAPE_DOME + 1)],
        inner[(2 * SHAPE_DOME + 1) * (2 * SHAPE_DOME + 1)];
    int centre = shape_node(b, 0, 0, 0);
    shape_dome_nodes(b, 1, 1, -1, outer);
    shape_dome_nodes(b, 0.55, 0.65, centre, inner);
    for (int quadrant = 0; quadrant < 4; quadrant++)
        for (int i = 0; i < SHAPE_DOME; i++)
            for (int j = 0; i + j < SHAPE_DOME; j++) {
                int corner[3][2], sx = quadrant & 1 ? -1 : 1, sy = quadrant & 2 ? -1 : 1;
                for (int half = 0; half < (i + j + 1 < SHAPE_DOME ? 2 : 1); half++) {
                    int two = half, one = 2 - 2 * half; /* where the two equally high corners go */
                    corner[one][0] = i + half; corner[one][1] = j + half;
                    corner[two][0] = i;        corner[two][1] = j + 1;
                    corner[two + 1][0] = i + 1; corner[two + 1][1] = j;
                    shape_dome_wedge(b, outer, inner, centre, sx, sy, (const int (*)[2])corner);
                }
            }
}

/* Marks the edges of the dome: those of boundary triangles that do not lie in the base. */
static void shape_mark_dome(const tool_mesh *b, shape_edges *edge)
{
    int *tri, count = mesh_surface(b, &tri);
    for (int t = 0; t < count; t++) {
        const int *v = tri + 3 * t;
        if (b->x[3 * v[0] + 2] == 0 && b->x[3 * v[1] + 2] == 0 && b->x[3 * v[2] + 2] == 0) continue;
        for (int c = 0; c < 3; c++) edge->t[shape_find_edge(edge, v[c], v[(c + 1) % 3])] = 1;
    }
    free(tri);
}

/* Cuts every tetrahedron into eight at the middles of its edges, those of the dome moved onto the ellipsoid:
 * four corners, and an octahedron cut along its shortest diagonal. */
static void shape_bubble_refine(tool_mesh *b)
{
    shape_edges edge = shape_edges_of_tets(b);
    int *old = b->tet, tets = b->tet_count;
    shape_mark_dome(b, &edge);
    for (int e = 0; e < edge.count; e++) {
        double p[3], length = 0;
        for (int c = 0; c < 3; c++) {
            p[c] = 0.5 * (b->x[3 * edge.node[2 * e] + c] + b->x[3 * edge.node[2 * e + 1] + c]);
            length += p[c] * p[c] / (shape_bubble_axes[c] * shape_bubble_axes[c]);
        }
        length = edge.t[e] > 0 ? sqrt(length) : 1;
        edge.cut[e] = shape_node(b, p[0] / length, p[1] / length, p[2] / length);
    }
    b->tet = NULL;
    b->tet_count = b->tet_capacity = 0;
    for (int i = 0; i < tets; i++) {
        static const int ring[3][6] = {{0, 5, 1, 2, 4, 3}, {1, 4, 0, 2, 5, 3}, {2, 3, 0, 1, 5, 4}};
        static const int pair[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
        static const int at[4][3] = {{0, 1, 2}, {0, 3, 4}, {1, 3, 5}, {2, 4, 5}};
        const int *t = old + 4 * i;
        int m[6], best = 0;
        double d[3], shortest = 0;
        for (int e = 0; e < 6; e++) m[e] = edge.cut[shape_find_edge(&edge, t[pair[e][0]], t[pair[e][1]])];
        for (int c = 0; c < 4; c++) shape_tet(b, t[c], m[at[c][0]], m[at[c][1]], m[at[c][2]]);
        for (int k = 0; k < 3; k++) {
            tool_sub(d, b->x + 3 * m[ring[k][0]], b->x + 3 * m[ring[k][1]]);
            if (k && tool_dot(d, d) >= shortest * (1 - 1e-9)) continue;
            shortest = tool_dot(d, d);
            best = k;
        }
        for (int c = 0; c < 4; c++)
            shape_tet(b, m[ring[best][0]], m[ring[best][1]], m[ring[best][2 + c]],
                      m[ring[best][2 + (c + 1) % 4]]);
    }
    shape_edges_free(&edge);
    free(old);
}

int shape_bubble(tool_mesh *mesh, int resolution, int solid, tool_error *error)
{
    if (!shape_begin(mesh, resolution, error)) return 0;
    shape_bubble_coarse(mesh);
    for (int r = 12; r <= 48 && resolution >= r; r *= 2) shape_bubble_refine(mesh);
    return shape_finish(mesh, solid);
}
