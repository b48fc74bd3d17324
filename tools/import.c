#include "import.h"
#include "json.h"
#include "meshio.h"
#include "output.h"
#include "scene.h"
#include "shapes.h"
#include "system.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define IMPORT_DEGREE (180 / 3.14159265358979323846)

/* ---- Messages and numbers ------------------------------------------------------------------- */

int import_fail(import_model *m, const xml_node *n, const char *format, ...)
{
    char text[800];
    va_list args;
    if (m->failed) return 0;
    m->failed = 1;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tool_fail(m->e, "%s:%d: <%.60s>: %s", m->o->file, n->line, n->name, text);
}

void import_note(import_model *m, const xml_node *n, const char *format, ...)
{
    char text[800], line[1000];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (m->notes.data && strstr(m->notes.data, text)) return;
    if (n) (void)snprintf(line, sizeof line, "note: line %d: <%.60s>: %s\n", n->line, n->name, text);
    else (void)snprintf(line, sizeof line, "note: %s\n", text);
    tool_put(&m->notes, "%s", line);
}

int import_numbers(import_model *m, const xml_node *n, const char *what, const char *text, int least, int most,
                   double *out)
{
    int count = 0;
    char quoted[48];
    if (m->failed) return 0;
    for (const char *p = text; ; ) {
        size_t length;
        p += strspn(p, " ");
        length = strcspn(p, " ");
        if (!length) break;
        if (count == most || !tool_number(p, length, &out[count]))
            return import_fail(m, n, "%s: found %s, expected %s%d number%s", what,
                               tool_quote(quoted, text, strlen(text)), least < most ? "up to " : "", most,
                               most == 1 ? "" : "s");
        count++;
        p += length;
    }
    if (count < least)
        return import_fail(m, n, "%s: found %s, expected %d number%s", what, tool_quote(quoted, text, strlen(text)),
                           least, least == 1 ? "" : "s");
    return count;
}

int import_get(import_model *m, const xml_node *n, const char *name, int count, double *out)
{
    const char *text = m->failed ? NULL : xml_get(&m->x, n, name);
    double value[12];
    if (!text || !import_numbers(m, n, name, text, count, count, value)) return 0;
    memcpy(out, value, (size_t)count * sizeof *out);
    return 1;
}

/* ---- Frames --------------------------------------------------------------------------------- */

void import_identity(import_frame *f)
{
    memset(f, 0, sizeof *f);
    f->R[0] = f->R[4] = f->R[8] = 1;
}

void import_rotate(double r[3], const double R[9], const double x[3])
{
    double y[3];
    for (int i = 0; i < 3; i++) y[i] = tool_dot(R + 3 * i, x);
    memcpy(r, y, sizeof y);
}

void import_transform(double r[3], const import_frame *f, const double x[3])
{
    import_rotate(r, f->R, x);
    for (int i = 0; i < 3; i++) r[i] += f->p[i];
}

/* R = A B */
static void import_product(double R[9], const double A[9], const double B[9])
{
    double C[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    memcpy(R, C, sizeof C);
}

void import_multiply(import_frame *r, const import_frame *a, const import_frame *b)
{
    import_frame c;
    import_product(c.R, a->R, b->R);
    import_transform(c.p, a, b->p);
    *r = c;
}

void import_axis_angle(double R[9], const double axis[3], double angle)
{
    double n = tool_length(axis), c = cos(angle), s = sin(angle), u[3];
    for (int i = 0; i < 3; i++) u[i] = axis[i] / n;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int k = 3 - i - j;
            double cross = i == j ? 0 : (j - i + 3) % 3 == 1 ? -u[k] : u[k];
            R[3 * i + j] = (i == j ? c : 0) + (1 - c) * u[i] * u[j] + s * cross;
        }
}

void import_rpy(double R[9], const double angles[3])
{
    double degrees[3];
    for (int i = 0; i < 3; i++) degrees[i] = angles[i] * IMPORT_DEGREE;
    scene_rotation(R, degrees);
}

void import_turn_tensor(double S[9], const double R[9], const double T[9])
{
    double A[9], Rt[9];
    for (int i = 0; i < 9; i++) Rt[3 * (i % 3) + i / 3] = R[i];
    import_product(A, R, T);
    import_product(S, A, Rt);
}

/* Angles in degrees of the "rotation" of a body. */
static void import_angles(double degrees[3], const double R[9])
{
    double b = atan2(-R[6], hypot(R[0], R[3]));
    if (hypot(R[0], R[3]) > 1e-9) {
        degrees[0] = atan2(R[7], R[8]) * IMPORT_DEGREE;
        degrees[2] = atan2(R[3], R[0]) * IMPORT_DEGREE;
    } else {   /* x points along +-z: only one angle of the two counts */
        degrees[0] = atan2(-R[5], R[4]) * IMPORT_DEGREE;
        degrees[2] = 0;
    }
    degrees[1] = b * IMPORT_DEGREE;
}

/* The value that the pose has for a joint, in rad or m; 0 without one. */
static int import_pose(import_model *m, const xml_node *n, const import_link *l, double *value)
{
    size_t length = strlen(l->joint_name);
    for (const char *p = m->o->pose; p && *p; p += *p == ',') {
        size_t word = strcspn(p, ",");
        if (length && word > length && strncmp(p, l->joint_name, length) == 0 && p[length] == '=') {
            if (!tool_number(p + length + 1, word - length - 1, value))
                return import_fail(m, n, "--pose: found \"%.*s\", expected JOINT=VALUE", (int)(word < 60 ? word : 60),
                                   p);
            if (l->joint == EMBIPC_HINGE) *value /= IMPORT_DEGREE;
            return 1;
        }
        p += word;
    }
    return 0;
}

void import_begin(import_model *m, const xml_node *n, import_link *l, double ref)
{
    double begin = 0, slack = 1e-9;
    import_frame motion;
    int posed;
    if (l->joint != EMBIPC_HINGE && l->joint != EMBIPC_SLIDER) return;
    posed = import_pose(m, n, l, &begin);
    if (posed) begin -= ref;
    if (posed && l->limited && (begin < l->limits[0] - slack || begin > l->limits[1] + slack)) {
        import_fail(m, n, "--pose: found a value of joint \"%s\" beyond its limits", l->joint_name);
        return;
    }
    if (l->limited && (begin < l->limits[0] || begin > l->limits[1])) {
        if (!posed) import_note(m, n, "joint \"%s\" begins at its limit, as 0 is outside", l->joint_name);
        begin = fmin(fmax(begin, l->limits[0]), l->limits[1]);
    }
    if (begin == 0) return;
    import_identity(&motion);
    if (l->joint == EMBIPC_HINGE) {   /* about the axis through the point */
        double back[3];
        import_axis_angle(motion.R, l->axis, begin);
        import_rotate(back, motion.R, l->point);
        tool_sub(motion.p, l->point, back);
    } else
        for (int i = 0; i < 3; i++) motion.p[i] = begin * l->axis[i] / tool_length(l->axis);
    import_multiply(&l->at, &motion, &l->at);
    import_multiply(&l->moved, &motion, &l->moved);
    if (l->joint == EMBIPC_SLIDER)
        for (int i = 0; i < 3; i++) l->point[i] += motion.p[i];
    for (int i = 0; i < 2; i++) l->limits[i] -= begin;
    l->target -= begin;
}

/* ---- The model ------------------------------------------------------------------------------ */

/* Names of bodies are 1 to 63 characters without quotes, commas and control characters. */
static void import_name(char out[64], const char *name)
{
    size_t n = 0;
    for (; name[n] && n < 56; n++)
        out[n] = (unsigned char)name[n] < 32 || name[n] == 127 || name[n] == '"' || name[n] == ',' ? '_' : name[n];
    out[n] = 0;
}

import_link *import_add_link(import_model *m, const xml_node *n, const char *name, int parent)
{
    import_link *l;
    TOOL_GROW(import_link, m->link, m->link_capacity, m->link_count + 1);
    l = &m->link[m->link_count++];
    memset(l, 0, sizeof *l);
    import_name(l->name, name);
    l->node = n ? (int)(n - m->x.node) : -1;
    if (n && m->link_count > IMPORT_MOST) import_fail(m, n, "found more than %d links, expected fewer", IMPORT_MOST);
    l->line = l->joint_line = n ? n->line : 0;
    l->parent = parent;
    l->joint = IMPORT_FIXED;
    l->axis[2] = 1;
    import_identity(&l->at);
    import_identity(&l->moved);
    if (parent >= 0) l->moved = m->link[parent].moved;
    return l;
}

void import_name_joint(import_model *m, const xml_node *n, import_link *l, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < m->link_count && length && length < sizeof l->joint_name - 4; i++)   /* others are cut off */
        if (&m->link[i] != l && strcmp(m->link[i].joint_name, name) == 0)
            import_fail(m, n, "found a second joint \"%s\", expected one of this name", name);
    (void)snprintf(l->joint_name, sizeof l->joint_name, "%.60s", name);
}

import_geom *import_add_geom(import_model *m, const xml_node *n, int link, const char *name)
{
    import_geom *g;
    TOOL_GROW(import_geom, m->geom, m->geom_capacity, m->geom_count + 1);
    g = &m->geom[m->geom_count++];
    memset(g, 0, sizeof *g);
    if (m->geom_count > IMPORT_MOST) import_fail(m, n, "found more than %d shapes, expected fewer", IMPORT_MOST);
    g->link = link;
    g->line = n->line;
    g->scale = 1;
    g->friction = g->mass = -1;
    g->bits[0] = g->bits[1] = 1;
    import_name(g->name, name);
    import_identity(&g->at);
    return g;
}

char *import_path(const import_model *m, const char *directory, const char *file)
{
    const char *slash = strrchr(m->o->file, '/');
    tool_text t = { NULL, 0, 0 };
    if (file[0] != '/' && directory[0] != '/' && slash) tool_put(&t, "%.*s", (int)(slash - m->o->file) + 1, m->o->file);
    if (file[0] != '/' && directory[0])
        tool_put(&t, "%s%s", directory, directory[strlen(directory) - 1] == '/' ? "" : "/");
    tool_put(&t, "%s", file);
    return t.data;
}

static int import_is_fixed(const import_model *m, int link) { return m->link[link].group == 0; }

/* Links that are fixed to each other form a group, whose first shape stands for all; parents come before children. */
static void import_groups(import_model *m)
{
    for (int i = 0; i < m->link_count; i++) {
        import_link *l = &m->link[i];
        l->group = i > 0 && l->joint == IMPORT_FIXED ? m->link[l->parent].group : i;
        l->main = -1;
        l->leads = 0;
    }
    for (int i = m->geom_count - 1; i >= 0; i--) m->link[m->link[m->geom[i].link].group].main = i;
    for (int i = m->link_count - 1; i >= 0; i--) {
        import_link *l = &m->link[i];
        if (l->group != i) continue;
        l->leads |= l->main >= 0;
        if (i > 0) m->link[m->link[l->parent].group].leads |= l->leads;
    }
}

/* Names of shapes: that of the link, with a number from the second on, and no two alike. */
static void import_make_names(import_model *m)
{
    for (int i = 0; i < m->geom_count; i++) {
        import_geom *g = &m->geom[i];
        char base[64];
        if (!g->name[0]) memcpy(g->name, m->link[g->link].name, sizeof g->name);
        if (!g->name[0]) strcpy(g->name, "link");
        memcpy(base, g->name, sizeof base);
        for (int number = 2, k = 0; k < i; k++)
            if (strcmp(m->geom[k].name, g->name) == 0) {
                (void)snprintf(g->name, sizeof g->name, "%.52s %d", base, number++);
                k = -1;
            }
    }
}

/* ---- Masses --------------------------------------------------------------------------------- */

static int import_make(const import_geom *g, tool_mesh *mesh, tool_error *e)
{
    double up[3] = { 0, 0, 1 };
    switch (g->shape) {
    case IMPORT_BOX: return shape_box(mesh, g->size, 0, 0, e);
    case IMPORT_SPHERE: return shape_sphere(mesh, g->size[0], 0, 0, e);
    case IMPORT_CYLINDER: return shape_cylinder(mesh, g->size[0], g->size[1], 0, 0, e);
    case IMPORT_CAPSULE: return shape_capsule(mesh, g->size[0], g->size[1], 0, 0, e);
    case IMPORT_PLANE: return shape_plane(mesh, up, 0, 0, e);
    default: return mesh_read(mesh, g->mesh, e);
    }
}

/* Volume, centre, and inertia about the centre of what the surface encloses, in the world: sums over the tets of its
 * triangles and one point, with integral x x^T = V/20 (sum x_i x_i^T + (sum x_i) (sum x_i)^T). */
static void import_integrate(import_geom *g, const tool_mesh *mesh)
{
    double V = 0, first[3] = { 0, 0, 0 }, second[9] = { 0 }, o[3], trace;
    memcpy(o, mesh->x, sizeof o);
    for (int t = 0; t < mesh->tri_count; t++) {
        double p[3][3], n[3], sum[3], v;
        for (int k = 0; k < 3; k++) tool_sub(p[k], mesh->x + 3 * mesh->tri[3 * t + k], o);
        tool_cross(n, p[1], p[2]);
        v = tool_dot(p[0], n) / 6;
        V += v;
        for (int i = 0; i < 3; i++) sum[i] = p[0][i] + p[1][i] + p[2][i];
        for (int i = 0; i < 3; i++) first[i] += v / 4 * sum[i];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                second[3 * i + j] +=
                    v / 20 * (p[0][i] * p[0][j] + p[1][i] * p[1][j] + p[2][i] * p[2][j] + sum[i] * sum[j]);
    }
    for (int i = 0; i < 3; i++) first[i] /= V != 0 ? V : 1;
    for (int i = 0; i < 9; i++) second[i] -= V * first[i / 3] * first[i % 3];
    trace = second[0] + second[4] + second[8];
    for (int i = 0; i < 9; i++) second[i] = (i % 4 == 0 ? trace : 0) - second[i];
    for (int i = 0; i < 9; i++) second[i] *= pow(g->scale, 5);
    import_turn_tensor(g->inertia, g->at.R, second);
    for (int i = 0; i < 3; i++) g->centre[i] = g->scale * (o[i] + first[i]);
    import_transform(g->centre, &g->at, g->centre);
    g->volume = V * pow(g->scale, 3);
}

static int import_measure(import_model *m, import_geom *g)
{
    tool_mesh mesh;
    tool_error inner;
    if (!import_make(g, &mesh, &inner)) {
        if (g->seen_only) {
            import_note(m, NULL, "line %d: the mass of this shape, which is only seen, is left out: %.400s", g->line,
                        inner.text);
            return 1;
        }
        m->failed = 1;
        return tool_fail(m->e, "%s:%d: %.900s", m->o->file, g->line, inner.text);
    }
    if (mesh.tet_count) mesh_take_surface(&mesh);
    import_integrate(g, &mesh);
    mesh_free(&mesh);
    if (g->volume > 0 || g->seen_only || import_is_fixed(m, g->link)) return 1;
    m->failed = 1;
    return tool_fail(m->e, "%s:%d: the mesh %s encloses no volume: embipc check tells why", m->o->file, g->line,
                     g->mesh ? g->mesh : "");
}

/* Does the mass of a link, spread over its shapes, come near to its centre and inertia? */
static void import_compare(import_model *m, const import_link *l, int link)
{
    double mass = 0, centre[3] = { 0, 0, 0 }, inertia[9] = { 0 }, apart[3], difference = 0, whole = 0, size;
    int count = 0;
    for (int i = 0; i < m->geom_count; i++) {
        const import_geom *g = &m->geom[i];
        if (g->link != link) continue;
        for (int k = 0; k < 3; k++) centre[k] += g->density * g->volume * g->centre[k];
        mass += g->density * g->volume;
        count++;
    }
    if (!count) return;
    for (int k = 0; k < 3; k++) centre[k] /= mass;
    for (int i = 0; i < m->geom_count; i++) {
        const import_geom *g = &m->geom[i];
        double d[3];
        if (g->link != link) continue;
        tool_sub(d, g->centre, centre);
        for (int k = 0; k < 9; k++)
            inertia[k] +=
                g->density * (g->inertia[k] + g->volume * ((k % 4 == 0 ? tool_dot(d, d) : 0) - d[k / 3] * d[k % 3]));
    }
    tool_sub(apart, centre, l->centre);
    size = sqrt((inertia[0] + inertia[4] + inertia[8]) / mass);
    for (int k = 0; k < 9; k++) difference += pow(inertia[k] - l->inertia[k], 2);
    for (int k = 0; k < 9; k++) whole += pow(l->inertia[k], 2);
    if (tool_length(apart) > 0.1 * size || difference > 0.01 * whole)
        import_note(
            m, NULL,
            "link \"%s\" (line %d): its mass is spread over its shapes: the centre of mass is off by %.3g m, "
            "the inertia by %.2g of it",
            l->name, l->line, tool_length(apart) > 1e-9 * size ? tool_length(apart) : 0,
            sqrt(difference / (whole > 0 ? whole : 1)));
}

/* The mass that a shape says, or that its density comes to; that of water where it says neither. */
static double import_mass(const import_geom *g)
{
    if (g->mass >= 0) return g->mass;
    return fmax(0, g->volume) * (g->density > 0 ? g->density : 1000);
}

/* Shapes that are only seen have done their part. */
static void import_drop_seen(import_model *m)
{
    int count = 0;
    for (int i = 0; i < m->geom_count; i++) {
        if (m->geom[i].seen_only) free(m->geom[i].mesh);
        else m->geom[count++] = m->geom[i];
    }
    m->geom_count = count;
}

/* w becomes the nearest weights that add up to 1, each at least `least`: w_i - t, cut off, with t by bisection. */
static void import_to_weights(double *w, int n, double least)
{
    double lo = w[0], hi = w[0];
    for (int i = 1; i < n; i++) {
        lo = fmin(lo, w[i]);
        hi = fmax(hi, w[i]);
    }
    lo -= 1;
    for (int k = 0; k < 60; k++) {
        double t = (lo + hi) / 2, sum = 0;
        for (int i = 0; i < n; i++) sum += fmax(w[i] - t, least);
        if (sum > 1) lo = t;
        else hi = t;
    }
    for (int i = 0; i < n; i++) w[i] = fmax(w[i] - hi, least);
}

/* Shares of a mass among shapes with these centres (3 * n), relative to where the centre of mass is to be: they bring
 * it as near as they can, and stay near the even shares w by a little. Least squares by projected gradients. */
static void import_shares(double *w, const double *centre, int n)
{
    double *even = (double *)tool_alloc((size_t)n, sizeof *even), size = 0, keep, step;
    for (int i = 0; i < 3 * n; i++) size += centre[i] * centre[i];
    keep = 1e-4 * size / n;
    step = size > 0 ? 1 / (size + keep) : 0;
    memcpy(even, w, (size_t)n * sizeof *even);
    for (int k = 0; k < 2000; k++) {
        double off[3] = { 0, 0, 0 };
        for (int i = 0; i < 3 * n; i++) off[i % 3] += w[i / 3] * centre[i];
        for (int i = 0; i < n; i++) w[i] -= step * (tool_dot(centre + 3 * i, off) + keep * (w[i] - even[i]));
        import_to_weights(w, n, 0.01 / n);
    }
    free(even);
}

/* A link of several shapes and a known centre of mass: densities that bring it there. */
static void import_fit_centre(import_model *m, int link, int count, double volume)
{
    double *w = (double *)tool_alloc((size_t)count, 4 * sizeof *w), *centre = w + count;
    int n = 0;
    for (int i = 0; i < m->geom_count; i++) {
        const import_geom *g = &m->geom[i];
        if (g->link != link || g->seen_only) continue;
        w[n] = g->volume / volume;
        tool_sub(centre + 3 * n++, g->centre, m->link[link].centre);
    }
    import_shares(w, centre, n);
    n = 0;
    for (int i = 0; i < m->geom_count; i++) {
        import_geom *g = &m->geom[i];
        if (g->link == link && !g->seen_only) g->density = m->link[link].mass * w[n++] / g->volume;
    }
    free(w);
}

/* The shapes of a link get densities, so that it has its mass: that of the file, evenly, else what all its shapes come to,
 * each by what it says. */
static int import_link_density(import_model *m, int link)
{
    import_link *l = &m->link[link];
    double volume = 0, mass = 0, own = 0;   /* own: of the shapes that stay */
    int count = 0, even = l->has_mass;
    for (int i = 0; i < m->geom_count; i++) {
        const import_geom *g = &m->geom[i];
        if (g->link != link) continue;
        mass += import_mass(g);
        if (g->seen_only) continue;
        own += import_mass(g);
        even |= !(import_mass(g) > 0);   /* none may be without mass */
        volume += g->volume;
        count++;
    }
    if (l->mass > 0 && !count)
        import_note(m, NULL, "link \"%s\" (line %d): it has a mass of %.3g kg but no shape, so the mass is left out",
                    l->name, l->line, l->mass);
    if (!count) return 1;
    if (!l->has_mass) {
        import_note(
            m, NULL,
            "link \"%s\" (line %d): it has no mass: its shapes come to %.3g kg, by what they say or 1000 kg/m^3",
            l->name, l->line, mass);
        l->mass = mass;
    }
    if (!(l->mass > 0)) {
        m->failed = 1;
        return tool_fail(m->e, "%s:%d: link \"%s\": found a mass of 0, expected one > 0 of what moves", m->o->file,
                         l->line, l->name);
    }
    for (int i = 0; i < m->geom_count; i++) {
        import_geom *g = &m->geom[i];
        if (g->link == link && g->volume > 0) g->density = even ? l->mass / volume : l->mass / own * import_mass(g) / g->volume;
    }
    if (l->has_mass && count > 1) import_fit_centre(m, link, count, volume);
    return 1;
}

/* Does a link have a shape that stays? */
static int import_has_shape(const import_model *m, int link)
{
    for (int i = 0; i < m->geom_count; i++)
        if (m->geom[i].link == link && !m->geom[i].seen_only) return 1;
    return 0;
}

/* The inertia I about p becomes that about c, of the mass m: I + m (d.d - d d^T), d = p - c. Adds it to sum. */
static void import_add_inertia(double sum[9], const double I[9], double mass, const double p[3], const double c[3])
{
    double d[3];
    tool_sub(d, p, c);
    for (int k = 0; k < 9; k++) sum[k] += I[k] + mass * ((k % 4 == 0 ? tool_dot(d, d) : 0) - d[k / 3] * d[k % 3]);
}

/* A link without shapes that is fixed to one that moves, such as a sensor, gives that one its mass: they move as one.
 * Links come after their parents, so a mass goes down a chain until a shape takes it. */
static void import_hand_down_masses(import_model *m)
{
    for (int i = m->link_count - 1; i > 0; i--) {
        import_link *l = &m->link[i], *to = &m->link[l->parent];
        double sum[9] = { 0 }, centre[3], mass = l->mass + to->mass;
        if (l->joint != IMPORT_FIXED || import_is_fixed(m, i)) continue;
        if (!(l->mass > 0) || !to->has_mass || import_has_shape(m, i)) continue;
        for (int k = 0; k < 3; k++) centre[k] = (l->mass * l->centre[k] + to->mass * to->centre[k]) / mass;
        import_add_inertia(sum, l->inertia, l->mass, l->centre, centre);
        import_add_inertia(sum, to->inertia, to->mass, to->centre, centre);
        to->mass = mass;
        memcpy(to->centre, centre, sizeof centre);
        memcpy(to->inertia, sum, sizeof sum);
        l->mass = 0;
    }
}

static int import_densities(import_model *m)
{
    import_hand_down_masses(m);
    for (int i = 0; i < m->geom_count; i++) {
        const import_geom *g = &m->geom[i];
        if (g->seen_only && (m->link[g->link].has_mass || import_is_fixed(m, g->link))) continue;
        if (!import_measure(m, &m->geom[i])) return 0;
    }
    for (int k = 1; k < m->link_count; k++)
        if (!import_is_fixed(m, k) && !import_link_density(m, k)) return 0;
    import_drop_seen(m);
    import_groups(m);
    for (int k = 1; k < m->link_count; k++)
        if (m->link[k].has_mass && !import_is_fixed(m, k)) import_compare(m, &m->link[k], k);
    return 1;
}

/* ---- The scene ------------------------------------------------------------------------------ */

static void import_put_vector(tool_text *t, const char *key, const double x[3])
{
    double y[3];
    for (int i = 0; i < 3; i++) y[i] = fabs(x[i]) < 1e-15 ? 0 : x[i];   /* rounding of a rotation */
    tool_put(t, ", \"%s\": [%.15g, %.15g, %.15g]", key, y[0], y[1], y[2]);
}

/* The path of a mesh as seen from the scene file. */
static void import_put_path(const import_model *m, tool_text *t, const char *mesh)
{
    char from[4096], to[4096];
    const char *slash = m->o->out ? strrchr(m->o->out, '/') : NULL;
    size_t same = 0, i = 0;
    tool_text directory = { NULL, 0, 0 }, path = { NULL, 0, 0 };
    tool_put(&directory, "%.*s", slash ? (int)(slash - m->o->out) + 1 : 1, slash ? m->o->out : ".");
    if (system_real_path(directory.data, from, sizeof from - 1) && system_real_path(mesh, to, sizeof to)) {
        if (strcmp(from, "/") != 0) strcat(from, "/");
        for (; from[i] && from[i] == to[i]; i++)
            if (from[i] == '/') same = i + 1;
        for (i = same; from[i]; i++)
            if (from[i] == '/') tool_put(&path, "../");
        tool_put(&path, "%s", to + same);
    } else tool_put(&path, "%s", mesh);
    json_write_string(t, path.data);
    tool_text_free(&path);
    tool_text_free(&directory);
}

static double import_friction(const import_model *m, const import_geom *g)
{
    return g->friction >= 0 ? g->friction : m->o->friction;
}

static void import_put_body(const import_model *m, tool_text *t, const import_geom *g)
{
    static const char *const shape[] = { "box", "sphere", "cylinder", "capsule", "plane" };
    int fixed = import_is_fixed(m, g->link);
    double degrees[3], friction = import_friction(m, g);
    import_angles(degrees, g->at.R);
    tool_put(t, "    { \"name\": ");
    json_write_string(t, g->name);
    tool_put(t, ", \"kind\": \"%s\", ", fixed ? "fixed" : "affine");
    if (g->shape == IMPORT_MESH) {
        tool_put(t, "\"mesh\": ");
        import_put_path(m, t, g->mesh);
        if (g->scale != 1) tool_put(t, ", \"scale\": %.15g", g->scale);
    } else tool_put(t, "\"shape\": \"%s\"", shape[g->shape]);
    if (g->shape == IMPORT_BOX) import_put_vector(t, "size", g->size);
    if (g->shape == IMPORT_SPHERE || g->shape == IMPORT_CYLINDER || g->shape == IMPORT_CAPSULE)
        tool_put(t, ", \"radius\": %.15g", g->size[0]);
    if (g->shape == IMPORT_CYLINDER || g->shape == IMPORT_CAPSULE) tool_put(t, ", \"height\": %.15g", g->size[1]);
    import_put_vector(t, "position", g->at.p);
    import_put_vector(t, "rotation", degrees);
    if (friction > 0) tool_put(t, ", \"friction\": %.15g", friction);
    if (!fixed) tool_put(t, ",\n      \"material\": { \"young\": %.15g, \"density\": %.15g }", m->o->young, g->density);
    tool_put(t, " }");
}

/* What begins an entry of a list. */
static void import_put_entry(tool_text *t, int *count) { tool_put(t, "%s", (*count)++ ? ",\n" : "\n"); }

static void import_put_joint_bodies(const import_model *m, tool_text *t, const char *kind, int a, int b)
{
    tool_put(t, "    { \"kind\": \"%s\"", kind);
    if (a >= 0) {
        tool_put(t, ", \"a\": ");
        json_write_string(t, m->geom[a].name);
    }
    tool_put(t, ", \"b\": ");
    json_write_string(t, m->geom[b].name);
}

static void import_put_limits(tool_text *t, const import_link *l)
{
    double unit = l->joint == EMBIPC_SLIDER ? 1 : IMPORT_DEGREE;
    if (!l->limited) return;
    if (l->joint == EMBIPC_BALL) {   /* the file limits the angle of the rotation, whatever its axis */
        tool_put(t, ", \"limits\": %.15g", l->limits[1] * unit);
        if (l->limits[1] * unit < 180) tool_put(t, ", \"twist\": %.15g", l->limits[1] * unit);
    }
    else tool_put(t, ", \"limits\": [%.15g, %.15g]", l->limits[0] * unit, l->limits[1] * unit);
}

static void import_put_motor(tool_text *t, const import_link *l)
{
    double unit = l->joint == EMBIPC_HINGE ? IMPORT_DEGREE : 1;
    int spring = l->has_motor && l->stiffness > 0;
    if (l->friction > 0) tool_put(t, ", \"friction\": %.15g", l->friction);
    if (!spring && !(l->damping > 0)) return;
    tool_put(t, ", \"motor\": { ");
    if (spring)
        tool_put(t, "\"stiffness\": %.15g, \"position\": %.15g%s", l->stiffness, l->target * unit,
                 l->damping > 0 ? ", " : "");
    if (l->damping > 0) tool_put(t, "\"damping\": %.15g", l->damping);
    if (l->has_motor && l->effort_limit > 0) tool_put(t, ", \"limit\": %.15g", l->effort_limit);
    tool_put(t, " }");
}

/* The joint of a link with its group's parent. Returns 0 where a body is missing. */
static int import_put_joint(import_model *m, tool_text *t, int link, int *count)
{
    const import_link *l = &m->link[link];
    int parent = m->link[l->parent].group, a = parent == 0 ? -1 : m->link[parent].main, b = l->main;
    if (b < 0 || (parent != 0 && a < 0)) {
        m->failed = 1;
        return tool_fail(
            m->e, "%s:%d: joint \"%s\": found no shape for collisions in the links of its %s, expected at least one",
            m->o->file, l->joint_line, l->joint_name, b < 0 ? "child" : "parent");
    }
    import_put_entry(t, count);
    import_put_joint_bodies(m, t, scene_joint_kinds[l->joint], a, b);
    import_put_vector(t, "point", l->point);
    if (l->joint != EMBIPC_BALL || l->limited) import_put_vector(t, "axis", l->axis);
    import_put_limits(t, l);
    import_put_motor(t, l);
    tool_put(t, " }");
    return 1;
}

/* A loop is closed where the file has its links, with all joints at 0. Is it closed where the joints begin, too? Point
 * and axes of the connection may be apart by a thousandth of their way, as the numbers of a pose are rounded. */
static int import_is_closed(const import_model *m, const import_loop *k)
{
    const import_frame *a = &m->link[k->a].moved, *b = &m->link[k->b].moved;
    double back[3], rest[3], apart = 0, way = 0;
    tool_sub(back, k->point, a->p);
    for (int i = 0; i < 3; i++) rest[i] = a->R[i] * back[0] + a->R[3 + i] * back[1] + a->R[6 + i] * back[2];
    for (int axis = 0; axis < (k->kind == EMBIPC_WELD ? 4 : 1); axis++) {
        double p[3], on_a[3], on_b[3], d[3];
        memcpy(p, rest, sizeof p);
        if (axis) p[axis - 1] += 1;
        import_transform(on_a, a, p);
        import_transform(on_b, b, p);
        tool_sub(d, on_a, on_b);
        apart = fmax(apart, tool_length(d));
        tool_sub(d, on_a, p);
        way = fmax(way, tool_length(d));
        tool_sub(d, on_b, p);
        way = fmax(way, tool_length(d));
    }
    return apart <= 1e-3 * way;
}

/* Joints of the tree, welds of shapes that are fixed to each other, loops. */
static int import_put_joints(import_model *m, tool_text *t)
{
    int count = 0;
    tool_put(t, ",\n  \"joints\": [");
    for (int i = 1; i < m->link_count; i++) {
        const import_link *l = &m->link[i];
        if (l->group != i || l->joint == IMPORT_FREE) continue;
        if (!l->leads) {
            import_note(m, NULL,
                        "link \"%s\" (line %d): nothing at the end of joint \"%s\" has a shape, so it is left out",
                        l->name, l->line, l->joint_name);
            continue;
        }
        if (!import_put_joint(m, t, i, &count)) return 0;
    }
    for (int i = 0; i < m->geom_count; i++) {
        int main = m->link[m->link[m->geom[i].link].group].main;
        if (main == i || import_is_fixed(m, m->geom[i].link)) continue;
        import_put_entry(t, &count);
        import_put_joint_bodies(m, t, "weld", main, i);
        import_put_vector(t, "point", m->geom[i].centre);
        tool_put(t, " }");
    }
    for (int i = 0; i < m->loop_count; i++) {
        const import_loop *k = &m->loop[i];
        int a = import_is_fixed(m, k->a) ? -1 : m->link[m->link[k->a].group].main,
            b = m->link[m->link[k->b].group].main;
        if (import_is_fixed(m, k->b)) {
            b = a;
            a = -1;
        }
        if (!import_is_closed(m, k)) {
            m->failed = 1;
            return tool_fail(m->e, "%s:%d: found this connection open where the joints begin, expected a --pose that "
                             "closes it", m->o->file, k->line);
        }
        if (b < 0) {
            m->failed = 1;
            return tool_fail(m->e, "%s:%d: found no moving shape at this connection, expected at least one",
                             m->o->file, k->line);
        }
        import_put_entry(t, &count);
        import_put_joint_bodies(m, t, scene_joint_kinds[k->kind], a, b);
        import_put_vector(t, "point", k->point);
        tool_put(t, " }");
    }
    tool_put(t, "%s]", count ? "\n  " : "");
    return 1;
}

/* May two shapes touch? Not those of one group, without a bit in common, of groups that a joint links (but for shapes of
 * the world), and of excluded links. */
static int import_may_touch(const import_model *m, const import_geom *a, const import_geom *b)
{
    int p = m->link[a->link].group, q = m->link[b->link].group;
    if (p == q || !((a->bits[0] & b->bits[1]) | (b->bits[0] & a->bits[1]))) return 0;
    for (int i = 0; i < m->exclude_count; i++)
        if ((m->exclude[i].a == a->link && m->exclude[i].b == b->link)
            || (m->exclude[i].a == b->link && m->exclude[i].b == a->link))
            return 0;
    if (a->link == 0 || b->link == 0) return 1;
    if (m->o->no_self_contact) return 0;
    if (m->link[q].joint != IMPORT_FREE && q > 0 && m->link[m->link[q].parent].group == p) return 0;
    return !(m->link[p].joint != IMPORT_FREE && p > 0 && m->link[m->link[p].parent].group == q);
}

/* Friction of two shapes: that of the one with more priority, else the larger. A scene would take the mean. */
static double import_pair_friction(const import_model *m, const import_geom *a, const import_geom *b)
{
    double f = import_friction(m, a), g = import_friction(m, b);
    if (a->priority != b->priority) {
        if (a->priority < b->priority) a = b;
        return a->slippery ? 0 : import_friction(m, a);
    }
    return a->slippery && b->slippery ? 0 : fmax(f, g);
}

/* Rules of pairs that do not touch, or whose friction is not the mean of both. */
static void import_put_pairs(const import_model *m, tool_text *t)
{
    int count = 0;
    for (int i = 0; i < m->geom_count; i++)
        for (int k = i + 1; k < m->geom_count; k++) {
            const import_geom *a = &m->geom[i], *b = &m->geom[k];
            int touch = import_may_touch(m, a, b);
            double friction = import_pair_friction(m, a, b),
                   mean = sqrt(import_friction(m, a) * import_friction(m, b));
            if (import_is_fixed(m, a->link) && import_is_fixed(m, b->link)) continue;
            if (touch && fabs(friction - mean) <= 1e-12 * friction) continue;
            if (!count) tool_put(t, ",\n  \"pairs\": [");
            import_put_entry(t, &count);
            tool_put(t, "    { \"bodies\": [");
            json_write_string(t, a->name);
            tool_put(t, ", ");
            json_write_string(t, b->name);
            if (touch) tool_put(t, "], \"friction\": %.15g }", friction);
            else tool_put(t, "], \"contact\": false }");
        }
    if (count) tool_put(t, "\n  ]");
}

static int import_put_scene(import_model *m, tool_text *t)
{
    tool_put(t, "{\n  \"version\": 1, \"time_step\": %.15g, \"duration\": 1", m->time_step > 0 ? m->time_step : 0.01);
    import_put_vector(t, "gravity", m->gravity);
    tool_put(t, ",\n  \"bodies\": [");
    for (int i = 0; i < m->geom_count; i++) {
        tool_put(t, "%s", i ? ",\n" : "\n");
        import_put_body(m, t, &m->geom[i]);
    }
    tool_put(t, "\n  ]");
    import_put_pairs(m, t);
    if (!import_put_joints(m, t)) return 0;
    tool_put(t, "\n}\n");
    return 1;
}

/* ---- The file ------------------------------------------------------------------------------- */

static int import_is_one_of(const char *word, const char *const *list)
{
    while (*list && strcmp(*list, word) != 0) list++;
    return *list != NULL;
}

/* Says which attributes have had no effect: of elements that are read, unless they are for the eye, for programs or for
 * the solver of another simulator. */
static void import_note_unread(import_model *m)
{
    static const char *const element[] = {
        "link",      "joint",    "parent",   "child",     "origin",   "axis",     "limit",   "dynamics", "mass",
        "inertia",   "box",      "sphere",   "cylinder",  "capsule",  "mesh",     "option",  "compiler", "geom",
        "body",      "inertial", "freejoint", "position", "velocity", "general",  "connect", "weld",     "exclude",
        NULL };
    static const char *const without[] = { "visual", "gazebo",   "transmission", "ros2_control", "sensor",
                                           "custom", "keyframe", "asset",        NULL };
    static const char *const passed[] = { "name",        "class",       "childclass",     "rgba",           "material",
                                          "group",       "condim",      "priority",       "solref",         "solimp",
                                          "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "user",
                                          NULL };
    for (int i = 0; i < m->x.count; i++) {
        const xml_node *n = &m->x.node[i];
        int skip = !import_is_one_of(n->name, element);
        for (int up = n->parent; up >= 0 && !skip; up = m->x.node[up].parent)
            skip = import_is_one_of(m->x.node[up].name, without);
        for (int k = 0; k < n->attribute_count && !skip; k++) {
            const xml_attribute *a = &m->x.attribute[n->attribute + k];
            if (!a->asked && !import_is_one_of(a->name, passed))
                import_note(m, n, "attribute %.60s is left out", a->name);
        }
    }
}

void import_pass(import_model *m, const xml_node *n)
{
    for (int k = 0; k < n->attribute_count; k++) m->x.attribute[n->attribute + k].asked = 1;
}

/* Each name of the pose is that of a hinge or slider, and stands there once. */
static int import_check_pose(const import_model *m)
{
    size_t word, length;
    for (const char *p = m->o->pose; p && *p; p += word + (p[word] == ',')) {
        int joints = 0, again = 0;
        word = strcspn(p, ",");
        length = strcspn(p, "=,");
        for (int i = 1; i < m->link_count; i++) {
            const import_link *l = &m->link[i];
            joints += (l->joint == EMBIPC_HINGE || l->joint == EMBIPC_SLIDER) && strlen(l->joint_name) == length
                      && strncmp(l->joint_name, p, length) == 0;
        }
        for (const char *q = m->o->pose; q < p; q += strcspn(q, ",") + 1)
            again |= strcspn(q, "=,") == length && strncmp(q, p, length) == 0;
        if (!joints || again || p[length] != '=')
            return tool_fail(m->e, "%s: --pose: found \"%.*s\"%s, expected JOINT=VALUE of a hinge or slider",
                             m->o->file, (int)(word < 60 ? word : 60), p, again ? " again" : "");
    }
    return 1;
}

static int import_read(import_model *m, const char *data, size_t size)
{
    const char *root;
    int ok;
    if (!xml_parse(&m->x, m->o->file, data, size, m->e)) return 0;
    m->gravity[2] = -9.81;
    (void)import_add_link(m, NULL, "world", -1);
    root = m->x.node[0].name;
    if (strcmp(root, "robot") == 0) ok = import_urdf(m);
    else if (strcmp(root, "mujoco") == 0) ok = import_mjcf(m);
    else return import_fail(m, &m->x.node[0], "found this root, expected <robot> (URDF) or <mujoco> (MJCF)");
    if (!ok || m->failed) return 0;
    if (!import_check_pose(m)) return 0;
    if (!m->geom_count) return import_fail(m, &m->x.node[0], "found no shape for collisions, expected at least one");
    import_groups(m);
    if (!import_densities(m)) return 0;
    if (!m->geom_count) return import_fail(m, &m->x.node[0], "found no shape for collisions, expected at least one");
    import_make_names(m);
    import_note_unread(m);
    return 1;
}

int import_text(const import_options *o, const char *data, size_t size, tool_text *scene_text, tool_text *notes,
                tool_error *e)
{
    import_model m;
    int ok;
    memset(&m, 0, sizeof m);
    m.o = o;
    m.e = e;
    m.notes = *notes;
    ok = import_read(&m, data, size);
    for (int i = 0; i < m.geom_count && ok; i++) {
        output_plan plan = { { o->out }, { NULL }, (const char *const *)&m.geom[i].mesh, m.geom[i].mesh != NULL };
        ok = output_check(&plan, e);
    }
    ok = ok && import_put_scene(&m, scene_text);
    *notes = m.notes;
    for (int i = 0; i < m.geom_count; i++) free(m.geom[i].mesh);
    free(m.geom);
    free(m.link);
    free(m.loop);
    free(m.exclude);
    xml_free(&m.x);
    return ok;
}

int import_scene(const import_options *o)
{
    output_plan plan = { { o->out }, { NULL }, &o->file, 1 };
    tool_error e;
    tool_text t = { NULL, 0, 0 }, notes = { NULL, 0, 0 };
    size_t size;
    char *data = output_check(&plan, &e) ? tool_read_file(o->file, XML_MAX_BYTES, &size, &e) : NULL;
    int ok = data && import_text(o, data, size, &t, &notes, &e);
    if (ok && o->out) ok = output_file(o->out, &t, &e);
    else if (ok) fwrite(t.data, 1, (size_t)t.length, o->report);
    if (notes.length) fputs(notes.data, o->errors);
    if (!ok) fprintf(o->errors, "%s\n", e.text);
    else if (o->out) fprintf(o->report, "%s: written\n", o->out);
    free(data);
    tool_text_free(&notes);
    tool_text_free(&t);
    return ok ? 0 : 2;
}
