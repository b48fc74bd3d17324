/* Ear clipping: a corner is an ear when the triangle of it and its two neighbours lies inside the polygon; it
 * is cut off, and the rest is a polygon with one corner less. Only a corner that is not convex can lie in the
 * triangle of a convex one without another such corner in it, so those are kept in a k-d tree, and a test
 * takes about the square root of their number. A cut changes the state of its two neighbours and of no other
 * corner: n + 2 n tests in all. Short diagonals come first, which keeps triangles small. Diagonals are then
 * flipped until the triangles are Delaunay: slivers would make a body look thinner than it is. */
#include "polygon.h"
#include "../embipc.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POLYGON_FLAT 1e-12   /* the library takes triangles lower than this part of their longest edge as flat */
#define POLYGON_TURN 1e-10   /* sine of the angle by which a flip must be an improvement: above rounding */

enum {
    POLYGON_LEAF = 4,        /* corners in a leaf of the k-d tree */
    POLYGON_FLIPS = 64       /* flips per triangle at most: a bound for work, and none for what is flat */
};

/* How good a corner is as the next one to be cut off. A spike has one point on both sides, and no triangle. */
enum { POLYGON_SPIKE, POLYGON_EAR, POLYGON_FLAT_EAR, POLYGON_NO_EAR };

/* One polygon. Corners are numbered from 0 along its border. */
typedef struct polygon {
    const double *x;         /* coordinates of the mesh */
    const int *corner;       /* index into x */
    int n;
    const double *uv;        /* 3 * n */
    double height;           /* a distance from the plane of uv, of the size of the coordinates */
    int *prev, *next;        /* the ring of corners that are not cut off yet */
    int *convex;
    int *heap, *place;       /* corners, the best first; the place of each in the heap */
    int heap_count;
    int *rank;               /* POLYGON_SPIKE ... */
    double *length;          /* of the diagonal between the two neighbours, squared */
    int *kd, *kd_place;      /* corners that are not convex, as a k-d tree; the place of each, -1: not there */
    int kd_count;
    int *alive;              /* how many of a node's corners still stand for themselves */
    double *box;             /* of each node: lowest u, v, highest u, v */
    int *tri, tri_count;     /* triangles by corner */
    int *across;             /* for each edge of a triangle the same edge in its neighbour; -1: border */
    int *owner;              /* of the ring's edge that begins at a corner: the edge of the triangle behind it */
    int forced;              /* a corner that was no ear has been cut off */
} polygon;

static const double *polygon_x(const polygon *p, int i) { return p->x + 3 * (size_t)p->corner[i]; }
static const double *polygon_uv(const polygon *p, int i) { return p->uv + 3 * (size_t)i; }

/* ---- Geometry ------------------------------------------------------------------------------- */

/* Sign of the area of a, b, c, which are rows of uv. The filter is that of 2D orientation with 4 roundings;
 * the exact answer is the orientation of a, b, c and the point above a. */
static int polygon_turn(const polygon *p, const double *a, const double *b, const double *c)
{
    double l = (b[0] - a[0]) * (c[1] - a[1]), r = (b[1] - a[1]) * (c[0] - a[0]), size = fabs(l) + fabs(r);
    double det = l - r, above[3];
    if (fabs(det) > 4 * DBL_EPSILON * size && size > 1e-250) return det > 0 ? 1 : -1;
    above[0] = a[0];
    above[1] = a[1];
    above[2] = p->height;
    return embipc_orient3d(a, b, c, above);
}

static int polygon_turn_of(const polygon *p, int a, int b, int c)
{
    return polygon_turn(p, polygon_uv(p, a), polygon_uv(p, b), polygon_uv(p, c));
}

/* r = b - a; returns its length squared */
static double polygon_difference(const double *a, const double *b, double r[3])
{
    for (int k = 0; k < 3; k++) r[k] = b[k] - a[k];
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
}

static double polygon_cross_length(const double a[3], const double b[3])
{
    return hypot(hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2]), a[0] * b[1] - a[1] * b[0]);
}

/* Height over longest edge of a triangle in space. */
static double polygon_shape(const polygon *p, int a, int b, int c)
{
    double ab[3], ac[3], bc[3];
    double longest = polygon_difference(polygon_x(p, a), polygon_x(p, b), ab);
    longest = fmax(longest, polygon_difference(polygon_x(p, a), polygon_x(p, c), ac));
    longest = fmax(longest, polygon_difference(polygon_x(p, b), polygon_x(p, c), bc));
    return polygon_cross_length(ab, ac) / longest;
}

/* The corners seen along the axis that the polygon faces most, so that it turns counter-clockwise. The sum of
 * cross products of edges with the first corner as origin is twice its area vector; it is scaled to 1. */
static double polygon_project(const double *x, const int *corner, int n, double *uv)
{
    double area[3] = { 0, 0, 0 }, reach = 0, height = 0, a[3], b[3] = { 0, 0, 0 };
    const double *origin = x + 3 * (size_t)corner[0];
    int axis = 0, u, v;
    for (int i = 1; i < n; i++)
        for (int k = 0; k < 3; k++) reach = fmax(reach, fabs(x[3 * (size_t)corner[i] + (size_t)k] - origin[k]));
    for (int i = 1; i < n && reach > 0; i++) {
        for (int k = 0; k < 3; k++) {
            a[k] = b[k];
            b[k] = (x[3 * (size_t)corner[i] + (size_t)k] - origin[k]) / reach;
        }
        for (int k = 0; k < 3; k++) area[k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
    for (int k = 1; k < 3; k++)
        if (fabs(area[k]) > fabs(area[axis])) axis = k;
    u = (axis + (area[axis] < 0 ? 2 : 1)) % 3;
    v = 3 - axis - u;
    for (int i = 0; i < n; i++) {
        uv[3 * i] = x[3 * (size_t)corner[i] + (size_t)u];
        uv[3 * i + 1] = x[3 * (size_t)corner[i] + (size_t)v];
        uv[3 * i + 2] = 0;
        height = fmax(height, fmax(fabs(uv[3 * i]), fabs(uv[3 * i + 1])));
    }
    return height > 0 ? height : 1;
}

/* ---- Corners that are not convex ------------------------------------------------------------ */

/* Does corner a come before b along this axis? Equal ones are told apart by their numbers. */
static int polygon_before(const polygon *p, int axis, int a, int b)
{
    double u = polygon_uv(p, a)[axis], v = polygon_uv(p, b)[axis];
    return u < v || (u == v && a < b);
}

/* Puts the corner of rank mid of kd[lo..hi) there, smaller ones in front of it, larger ones behind. */
static void polygon_select(polygon *p, int axis, int lo, int hi, int mid)
{
    int *kd = p->kd;
    while (hi - lo > 1) {
        int pivot = kd[lo + (hi - lo) / 2], i = lo, j = hi - 1;
        while (i <= j) {
            while (polygon_before(p, axis, kd[i], pivot)) i++;
            while (polygon_before(p, axis, pivot, kd[j])) j--;
            if (i <= j) {
                int swap = kd[i];
                kd[i++] = kd[j];
                kd[j--] = swap;
            }
        }
        if (mid <= j) hi = j + 1;
        else if (mid >= i) lo = i;
        else return;
    }
}

static void polygon_build_tree(polygon *p, int node, int lo, int hi)
{
    double *b = p->box + 4 * (size_t)node;
    int mid = (lo + hi) / 2;
    b[0] = b[1] = HUGE_VAL;
    b[2] = b[3] = -HUGE_VAL;
    for (int i = lo; i < hi; i++)
        for (int k = 0; k < 2; k++) {
            b[k] = fmin(b[k], polygon_uv(p, p->kd[i])[k]);
            b[2 + k] = fmax(b[2 + k], polygon_uv(p, p->kd[i])[k]);
        }
    p->alive[node] = hi - lo;
    if (hi - lo <= POLYGON_LEAF) return;
    polygon_select(p, b[3] - b[1] > b[2] - b[0], lo, hi, mid);
    polygon_build_tree(p, 2 * node + 1, lo, mid);
    polygon_build_tree(p, 2 * node + 2, mid, hi);
}

static void polygon_collect_tree(polygon *p)
{
    p->kd_count = 0;
    for (int i = 0; i < p->n; i++) {
        p->kd_place[i] = -1;
        if (!p->convex[i]) p->kd[p->kd_count++] = i;
    }
    polygon_build_tree(p, 0, 0, p->kd_count);
    for (int i = 0; i < p->kd_count; i++) p->kd_place[p->kd[i]] = i;
}

/* A corner that has become convex, or is cut off, blocks nothing any more. */
static void polygon_leave_tree(polygon *p, int corner)
{
    int node = 0, lo = 0, hi = p->kd_count, at = p->kd_place[corner];
    if (at < 0) return;
    for (;;) {
        int mid = (lo + hi) / 2;
        p->alive[node]--;
        if (hi - lo <= POLYGON_LEAF) break;
        node = 2 * node + 1 + (at >= mid);
        if (at < mid) hi = mid;
        else lo = mid;
    }
    p->kd[at] = p->kd_place[corner] = -1;
}

/* Is the box strictly outside the line from a to b, which has the triangle on its left? Its corner that is
 * farthest to the left tells. */
static int polygon_box_outside(const polygon *p, const double *box, const double *a, const double *b)
{
    double c[3];
    c[0] = b[1] < a[1] ? box[2] : box[0];
    c[1] = b[0] > a[0] ? box[3] : box[1];
    c[2] = 0;
    return polygon_turn(p, a, b, c) < 0;
}

/* A border corner in the place of the triangle's corner k: does a side of it lead into the triangle? */
static int polygon_enters(const polygon *p, const double *const t[3], int k, int corner)
{
    const double *a = t[k], *b = t[(k + 1) % 3], *c = t[(k + 2) % 3];
    for (int w = 0; w < 2; w++) {
        const double *y = polygon_uv(p, w ? p->next[corner] : p->prev[corner]);
        if (polygon_turn(p, a, b, y) > 0 && polygon_turn(p, a, y, c) > 0) return 1;
    }
    return 0;
}

/* Is the corner in the closed triangle? One in the place of a corner of it only touches, unless its sides enter. */
static int polygon_holds(const polygon *p, const double *const t[3], int corner)
{
    const double *z = polygon_uv(p, corner);
    for (int k = 0; k < 3; k++)
        if (z[0] == t[k][0] && z[1] == t[k][1]) return polygon_enters(p, t, k, corner);
    for (int k = 0; k < 3; k++)
        if (polygon_turn(p, t[k], t[(k + 1) % 3], z) < 0) return 0;
    return 1;
}

/* Does a corner of this node of the tree lie in the triangle? reach is the triangle's box. */
static int polygon_blocked(const polygon *p, int node, int lo, int hi, const double *const t[3], const double reach[4])
{
    const double *b = p->box + 4 * (size_t)node;
    int mid = (lo + hi) / 2;
    if (p->alive[node] == 0 || b[0] > reach[2] || b[1] > reach[3] || b[2] < reach[0] || b[3] < reach[1]) return 0;
    for (int k = 0; k < 3; k++)
        if (polygon_box_outside(p, b, t[k], t[(k + 1) % 3])) return 0;
    if (hi - lo > POLYGON_LEAF)
        return polygon_blocked(p, 2 * node + 1, lo, mid, t, reach)
               || polygon_blocked(p, 2 * node + 2, mid, hi, t, reach);
    for (int i = lo; i < hi; i++)
        if (p->kd[i] >= 0 && polygon_holds(p, t, p->kd[i])) return 1;
    return 0;
}

/* ---- Ears ----------------------------------------------------------------------------------- */

/* The triangle of corner i and its neighbours lies inside the polygon: it turns with it, and no corner is in it. */
static int polygon_is_ear(const polygon *p, int i)
{
    int before = p->prev[i], after = p->next[i];
    const double *t[3];
    double reach[4];
    if (!p->convex[i]) return 0;
    t[0] = polygon_uv(p, before);
    t[1] = polygon_uv(p, i);
    t[2] = polygon_uv(p, after);
    for (int k = 0; k < 2; k++) {
        reach[k] = fmin(fmin(t[0][k], t[1][k]), t[2][k]);
        reach[2 + k] = fmax(fmax(t[0][k], t[1][k]), t[2][k]);
    }
    return !polygon_blocked(p, 0, 0, p->kd_count, t, reach);
}

static void polygon_rate(polygon *p, int i)
{
    int before = p->prev[i], after = p->next[i];
    double diagonal[3];
    p->length[i] = polygon_difference(polygon_x(p, before), polygon_x(p, after), diagonal);
    if (p->corner[before] == p->corner[after]) p->rank[i] = POLYGON_SPIKE;
    else if (!polygon_is_ear(p, i)) p->rank[i] = POLYGON_NO_EAR;
    else p->rank[i] = polygon_shape(p, before, i, after) > POLYGON_FLAT ? POLYGON_EAR : POLYGON_FLAT_EAR;
}

/* Should corner a be cut off before b? */
static int polygon_better(const polygon *p, int a, int b)
{
    if (p->rank[a] != p->rank[b]) return p->rank[a] < p->rank[b];
    if (p->length[a] != p->length[b]) return p->length[a] < p->length[b];
    return a < b;
}

/* Moves the corner at this place of the heap up or down to where it belongs. */
static void polygon_sift(polygon *p, int at)
{
    int corner = p->heap[at];
    while (at > 0 && polygon_better(p, corner, p->heap[(at - 1) / 2])) {
        p->heap[at] = p->heap[(at - 1) / 2];
        p->place[p->heap[at]] = at;
        at = (at - 1) / 2;
    }
    for (;;) {
        int child = 2 * at + 1;
        if (child + 1 < p->heap_count && polygon_better(p, p->heap[child + 1], p->heap[child])) child++;
        if (child >= p->heap_count || !polygon_better(p, p->heap[child], corner)) break;
        p->heap[at] = p->heap[child];
        p->place[p->heap[at]] = at;
        at = child;
    }
    p->heap[at] = corner;
    p->place[corner] = at;
}

/* Takes a corner out of the heap and out of the tree. */
static void polygon_remove(polygon *p, int corner)
{
    int at = p->place[corner], last = p->heap[--p->heap_count];
    polygon_leave_tree(p, corner);
    if (last == corner) return;
    p->heap[at] = last;
    p->place[last] = at;
    polygon_sift(p, at);
}

static void polygon_join(polygon *p, int edge, int other)
{
    p->across[edge] = other;
    if (other >= 0) p->across[other] = edge;
}

/* Writes the triangle of a ring's corner and its neighbours; its third edge is returned, and has no neighbour yet. */
static int polygon_emit(polygon *p, int i)
{
    int t = 3 * p->tri_count++;
    p->tri[t] = p->prev[i];
    p->tri[t + 1] = i;
    p->tri[t + 2] = p->next[i];
    polygon_join(p, t, p->owner[p->prev[i]]);
    polygon_join(p, t + 1, p->owner[i]);
    p->across[t + 2] = -1;
    return t + 2;
}

/* The ring, and what its corners are at the start. */
static void polygon_begin(polygon *p)
{
    for (int i = 0; i < p->n; i++) {
        p->prev[i] = i ? i - 1 : p->n - 1;
        p->next[i] = i + 1 < p->n ? i + 1 : 0;
        p->owner[i] = -1;
    }
    for (int i = 0; i < p->n; i++) p->convex[i] = polygon_turn_of(p, p->prev[i], i, p->next[i]) > 0;
    polygon_collect_tree(p);
    for (int i = 0; i < p->n; i++) {
        polygon_rate(p, i);
        p->heap[p->heap_count++] = i;
        polygon_sift(p, i);
    }
}

/* Both neighbours of a corner that was cut off have new triangles now. */
static void polygon_renew(polygon *p, int a, int b)
{
    const int both[2] = { a, b };
    for (int k = 0; k < 2; k++) {
        int i = both[k];
        p->convex[i] = polygon_turn_of(p, p->prev[i], i, p->next[i]) > 0;
        if (p->convex[i]) polygon_leave_tree(p, i);
    }
    for (int k = 0; k < 2; k++) {
        polygon_rate(p, both[k]);
        polygon_sift(p, p->place[both[k]]);
    }
}

/* A spike a b a goes, and with it one of the two: what lies behind its sides meets there. */
static void polygon_dissolve(polygon *p, int i)
{
    int before = p->prev[i], after = p->next[i];
    if (p->owner[before] >= 0) polygon_join(p, p->owner[before], p->owner[i]);
    else if (p->owner[i] >= 0) polygon_join(p, p->owner[i], -1);
    polygon_remove(p, i);
    polygon_remove(p, after);
    p->owner[before] = p->owner[after];
    p->next[before] = p->next[after];
    p->prev[p->next[after]] = before;
    polygon_renew(p, before, p->next[before]);
}

/* A corner that is no ear is cut off only where there is no ear at all: the polygon meets itself. */
static void polygon_clip(polygon *p)
{
    polygon_begin(p);
    while (p->heap_count > 2) {
        int i = p->heap[0], before = p->prev[i], after = p->next[i], edge;
        if (p->rank[i] == POLYGON_SPIKE) {
            polygon_dissolve(p, i);
            continue;
        }
        p->forced |= p->rank[i] == POLYGON_NO_EAR;
        edge = polygon_emit(p, i);
        if (p->heap_count == 3) {
            polygon_join(p, edge, p->owner[after]);
            return;
        }
        polygon_remove(p, i);
        p->owner[before] = edge;
        p->next[before] = after;
        p->prev[after] = before;
        polygon_renew(p, before, after);
    }
}

/* ---- Delaunay ------------------------------------------------------------------------------- */

static int polygon_edge_after(int edge) { return edge % 3 == 2 ? edge - 2 : edge + 1; }

/* Is the other diagonal of the two triangles at an edge inside them, and better? The angles that face the edge,
 * at c and d, then make more than half a turn: the sine of their sum is negative. */
static int polygon_should_flip(const polygon *p, int a, int b, int c, int d)
{
    const double *xa = polygon_x(p, a), *xb = polygon_x(p, b), *xc = polygon_x(p, c), *xd = polygon_x(p, d);
    double ca[3], cb[3], da[3], db[3], size, sine;
    if (polygon_turn_of(p, c, a, d) <= 0 || polygon_turn_of(p, d, b, c) <= 0) return 0;
    size = polygon_difference(xc, xa, ca) * polygon_difference(xc, xb, cb);
    size *= polygon_difference(xd, xa, da) * polygon_difference(xd, xb, db);
    sine = polygon_cross_length(ca, cb) * tool_dot(da, db) + tool_dot(ca, cb) * polygon_cross_length(da, db);
    return sine < -POLYGON_TURN * sqrt(size);
}

/* Triangles a b c and b a d at this edge a b become c a d and d b c. */
static int polygon_flip(polygon *p, int edge)
{
    int other = p->across[edge], bc = polygon_edge_after(edge), ca = polygon_edge_after(bc);
    int ad, db, a, b, c, d, t, u, outer[4];
    if (other < 0) return 0;
    ad = polygon_edge_after(other);
    db = polygon_edge_after(ad);
    a = p->tri[edge];
    b = p->tri[other];
    c = p->tri[ca];
    d = p->tri[db];
    if (!polygon_should_flip(p, a, b, c, d)) return 0;
    outer[0] = p->across[ca];
    outer[1] = p->across[ad];
    outer[2] = p->across[db];
    outer[3] = p->across[bc];
    t = edge - edge % 3;
    u = other - other % 3;
    p->tri[t] = p->tri[u + 2] = c;
    p->tri[t + 1] = a;
    p->tri[t + 2] = p->tri[u] = d;
    p->tri[u + 1] = b;
    polygon_join(p, t, outer[0]);
    polygon_join(p, t + 1, outer[1]);
    polygon_join(p, u, outer[2]);
    polygon_join(p, u + 1, outer[3]);
    polygon_join(p, t + 2, u + 2);
    return 1;
}

/* Flips until no edge wants to be; the arrays of the heap hold the triangles whose edges are to be looked at. */
static void polygon_refine(polygon *p)
{
    int *stack = p->heap, *waits = p->place, count = 0;
    long long left = (long long)POLYGON_FLIPS * p->tri_count;
    for (int t = p->tri_count - 1; t >= 0; t--) {
        stack[count++] = t;
        waits[t] = 1;
    }
    while (count && left > 0) {
        int t = stack[--count];
        waits[t] = 0;
        for (int k = 0; k < 3; k++) {
            int u = p->across[3 * t + k] / 3;
            if (!polygon_flip(p, 3 * t + k)) continue;
            left--;
            if (!waits[u]) stack[count++] = u;
            stack[count++] = t;
            waits[t] = waits[u] = 1;
            break;
        }
    }
}

/* ---- One polygon ---------------------------------------------------------------------------- */

/* Copies the corners without those that repeat the one before, and without spikes a b a. Returns how many. */
static int polygon_trim(const int *corner, int n, int *to, int *first)
{
    int count = 0, start = 0, changed = 1;
    for (int i = 0; i < n; i++) {
        if (count > 0 && to[count - 1] == corner[i]) continue;
        if (count > 1 && to[count - 2] == corner[i]) count--;
        else to[count++] = corner[i];
    }
    while (changed && count - start > 1) {   /* the same across the end of the list */
        changed = 1;
        if (to[start] == to[count - 1]) count--;
        else if (to[start] == to[count - 2]) count -= 2;
        else if (to[start + 1] == to[count - 1]) { start++; count--; }
        else changed = 0;
    }
    *first = start;
    return count - start;
}

/* The diagonal from the first corner, unless that is not inside, or makes a flat triangle, and the other is better. */
static void polygon_cut_quad(const polygon *p, int *tri)
{
    static const int way[2][6] = { { 0, 1, 2, 0, 2, 3 }, { 1, 2, 3, 1, 3, 0 } };
    double shape[2] = { -1, -1 };
    int pick;
    for (int w = 0; w < 2; w++) {
        const int *t = way[w];
        int inside = polygon_turn_of(p, t[0], t[1], t[2]) > 0 && polygon_turn_of(p, t[3], t[4], t[5]) > 0;
        shape[w] = inside ? fmin(polygon_shape(p, t[0], t[1], t[2]), polygon_shape(p, t[3], t[4], t[5])) : -1;
        if (shape[0] > POLYGON_FLAT) break;
    }
    pick = !(shape[0] > POLYGON_FLAT) && shape[1] > shape[0];
    for (int i = 0; i < 6; i++) tri[i] = p->corner[way[pick][i]];
}

/* The arrays of a polygon, cut from the memory of the cutter. */
static void polygon_arrange(polygon_cutter *k, polygon *p)
{
    int n = p->n, *next;
    TOOL_GROW(int, k->number, k->number_capacity, 20 * n + 8);
    TOOL_GROW(double, k->real, k->real_capacity, 5 * n + 8);
    p->corner = k->number;   /* as polygon_cut left it there */
    next = k->number + n;
    p->prev = next; next += n;
    p->next = next; next += n;
    p->convex = next; next += n;
    p->heap = next; next += n;
    p->place = next; next += n;
    p->rank = next; next += n;
    p->kd = next; next += n;
    p->kd_place = next; next += n;
    p->owner = next; next += n;
    p->tri = next; next += 3 * n;
    p->across = next; next += 3 * n;
    p->alive = next;         /* nodes of the tree: fewer than corners, or one */
    p->length = k->real;
    p->box = k->real + n;
    p->tri_count = p->forced = 0;
}

int polygon_cut(polygon_cutter *k, const double *x, const int *corner, int n, int *tri)
{
    polygon p;
    int first;
    memset(&p, 0, sizeof p);
    TOOL_GROW(int, k->number, k->number_capacity, n);
    p.n = polygon_trim(corner, n, k->number, &first);
    if (p.n < 3) return 0;
    if (first) memmove(k->number, k->number + first, (size_t)p.n * sizeof *k->number);
    if (p.n == 3) {
        memcpy(tri, k->number, 3 * sizeof *tri);
        return 1;
    }
    TOOL_GROW(double, k->uv, k->uv_capacity, 3 * p.n);
    p.x = x;
    p.corner = k->number;
    p.height = polygon_project(x, p.corner, p.n, k->uv);
    p.uv = k->uv;
    if (p.n == 4) {
        polygon_cut_quad(&p, tri);
        return 2;
    }
    polygon_arrange(k, &p);
    polygon_clip(&p);
    if (!p.forced) polygon_refine(&p);
    for (int i = 0; i < 3 * p.tri_count; i++) tri[i] = p.corner[p.tri[i]];
    return p.tri_count;
}

void polygon_free(polygon_cutter *k)
{
    free(k->uv);
    free(k->number);
    free(k->real);
    memset(k, 0, sizeof *k);
}
