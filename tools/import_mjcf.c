/* MJCF: nested bodies, with values from classes of defaults. */
#include "import.h"
#include <stdlib.h>
#include <string.h>

#define MJCF_DEGREE (3.14159265358979323846 / 180)

typedef struct mjcf {
    import_model *m;
    double angle;                  /* rad of one unit of angles */
    int autolimits, mass_of_shapes;   /* inertiafromgeom: 0 false, 1 auto, 2 true */
    const char *meshdir;
    char euler[4];
} mjcf;

static const xml_node *mjcf_root(const mjcf *f) { return &f->m->x.node[0]; }

/* ---- Defaults ------------------------------------------------------------------------------- */

/* The class of defaults with this name, or NULL. Classes are nested, and stand in the order of the file. */
static const xml_node *mjcf_class(const mjcf *f, const char *name)
{
    const xml *x = &f->m->x;
    for (int i = 0; i < x->count; i++) {
        const xml_node *n = &x->node[i];
        const char *own = strcmp(n->name, "default") == 0 ? xml_get(x, n, "class") : NULL;
        if (own && strcmp(own, name) == 0) return n;
    }
    return NULL;
}

/* The class that an element has: its own, or that of the nearest body above it with a childclass. NULL: only what holds
 * for all, the outermost defaults, whatever they are called. */
static const xml_node *mjcf_class_of(mjcf *f, const xml_node *n)
{
    const xml *x = &f->m->x;
    const char *name = xml_get(x, n, "class");
    const xml_node *class_node = NULL;
    for (int up = n->parent; !name && up >= 0; up = x->node[up].parent) name = xml_get(x, &x->node[up], "childclass");
    if (name) class_node = mjcf_class(f, name);
    if (!class_node && name && strcmp(name, "main") != 0)
        import_fail(f->m, n, "found class \"%.60s\", expected the name of a class of defaults", name);
    return class_node;
}

/* What a class of defaults itself has for an attribute of elements of this kind, or NULL. */
static const char *mjcf_of_class(const mjcf *f, const xml_node *class_node, const char *element, const char *name)
{
    const char *value = NULL;
    for (const xml_node *k = xml_first(&f->m->x, class_node, element); k && !value;
         k = xml_next(&f->m->x, k, element))
        value = xml_get(&f->m->x, k, name);
    return value;
}

/* An attribute, its own or that of its class and of the classes round that one, outermost ones last; NULL without. */
static const char *mjcf_text(mjcf *f, const xml_node *n, const char *name)
{
    const xml *x = &f->m->x;
    const char *value = xml_get(x, n, name);
    const xml_node *class_node = value || f->m->failed ? NULL : mjcf_class_of(f, n);
    for (; !value && class_node && class_node->parent > 0; class_node = &x->node[class_node->parent])
        value = mjcf_of_class(f, class_node, n->name, name);
    for (const xml_node *k = xml_first(x, mjcf_root(f), "default"); k && !value && !f->m->failed;
         k = xml_next(x, k, "default"))
        value = mjcf_of_class(f, k, n->name, name);
    return value;
}

/* `least` to `most` numbers of an attribute; returns how many, 0 without it and on failure. */
static int mjcf_numbers(mjcf *f, const xml_node *n, const char *name, int least, int most, double *out)
{
    const char *text = mjcf_text(f, n, name);
    return text ? import_numbers(f->m, n, name, text, least, most, out) : 0;
}

/* One of the words, by its number; `standard` without the attribute. */
static int mjcf_word(mjcf *f, const xml_node *n, const char *name, const char *const *words, int count, int standard)
{
    const char *text = mjcf_text(f, n, name), *nearest;
    for (int i = 0; text && i < count; i++)
        if (strcmp(words[i], text) == 0) return i;
    if (!text) return standard;
    nearest = tool_nearest(text, words, count);
    import_fail(f->m, n, "%s: found \"%.40s\", expected one that embipc import knows, such as %s", name, text,
                nearest ? nearest : words[0]);
    return standard;
}

/* Is the attribute there, and something else than what stands here? Then it is refused. */
static void mjcf_refuse(mjcf *f, const xml_node *n, const char *name, const char *harmless)
{
    const char *text = mjcf_text(f, n, name);
    if (text && strcmp(text, harmless) != 0)
        import_fail(f->m, n, "%s: found \"%.40s\", expected none, as embipc import cannot take it", name, text);
}

/* ---- Frames --------------------------------------------------------------------------------- */

static void mjcf_quat(double R[9], const double q[4])
{
    double angle, n = sqrt(q[0] * q[0] + tool_dot(q + 1, q + 1)), s = tool_length(q + 1);
    import_frame one;
    import_identity(&one);
    memcpy(R, one.R, sizeof one.R);
    if (!(n > 0) || !(s > 0)) return;
    angle = 2 * atan2(s, q[0]);
    import_axis_angle(R, q + 1, angle);
}

/* R of two axes, the second made perpendicular to the first. Returns 0 where they are parallel. */
static int mjcf_axes(double R[9], const double v[6])
{
    double x[3], y[3], z[3], nx = tool_length(v), along, ny;
    if (!(nx > 0)) return 0;
    for (int i = 0; i < 3; i++) x[i] = v[i] / nx;
    along = tool_dot(x, v + 3);
    for (int i = 0; i < 3; i++) y[i] = v[3 + i] - along * x[i];
    ny = tool_length(y);
    if (!(ny > 1e-12 * tool_length(v + 3))) return 0;
    for (int i = 0; i < 3; i++) y[i] /= ny;
    tool_cross(z, x, y);
    for (int i = 0; i < 3; i++) {
        R[3 * i] = x[i];
        R[3 * i + 1] = y[i];
        R[3 * i + 2] = z[i];
    }
    return 1;
}

/* R takes the z axis to z by the smallest rotation. */
static void mjcf_z_axis(double R[9], const double z[3])
{
    double up[3] = { 0, 0, 1 }, side[3] = { 1, 0, 0 }, axis[3];
    tool_cross(axis, up, z);
    import_axis_angle(R, tool_length(axis) > 1e-12 * tool_length(z) ? axis : side, atan2(tool_length(axis), z[2]));
}

static void mjcf_euler(const mjcf *f, double R[9], const double angle[3])
{
    import_frame all, one;
    import_identity(&all);
    for (int i = 0; i < 3; i++) {
        double axis[3] = { 0, 0, 0 };
        char c = f->euler[i];
        int extrinsic = c < 'a';
        axis[(extrinsic ? c - 'X' : c - 'x')] = 1;
        import_identity(&one);
        import_axis_angle(one.R, axis, angle[i] * f->angle);
        if (extrinsic) import_multiply(&all, &one, &all);
        else import_multiply(&all, &all, &one);
    }
    memcpy(R, all.R, sizeof all.R);
}

/* pos, and one of quat, axisangle, euler, xyaxes, zaxis. */
static void mjcf_frame(mjcf *f, const xml_node *n, import_frame *frame)
{
    static const char *const way[] = { "quat", "axisangle", "euler", "xyaxes", "zaxis" };
    static const int count[] = { 4, 4, 3, 6, 3 };
    double v[6];
    int own = 0, k = 0;
    import_identity(frame);
    (void)mjcf_numbers(f, n, "pos", 3, 3, frame->p);
    for (int i = 0; i < 5; i++) own += xml_get(&f->m->x, n, way[i]) != NULL;
    if (own > 1) import_fail(f->m, n, "found %d of quat, axisangle, euler, xyaxes and zaxis, expected one", own);
    while (k < 5 && !(own ? xml_get(&f->m->x, n, way[k]) : mjcf_text(f, n, way[k]))) k++;
    if (k == 5 || !mjcf_numbers(f, n, way[k], count[k], count[k], v)) return;
    if (k == 2) mjcf_euler(f, frame->R, v);
    else if (!(tool_length(v) > 0) && !(k == 0 && v[3] != 0))
        import_fail(f->m, n, "%s: found only 0, expected a direction", way[k]);
    else if (k == 0) mjcf_quat(frame->R, v);
    else if (k == 1) import_axis_angle(frame->R, v, v[3] * f->angle);
    else if (k == 4) mjcf_z_axis(frame->R, v);
    else if (!mjcf_axes(frame->R, v)) import_fail(f->m, n, "xyaxes: found parallel axes, expected two directions");
}

/* ---- Shapes --------------------------------------------------------------------------------- */

/* <asset><mesh> of this name: its own, or that of its file without directory and ending. */
static const xml_node *mjcf_find_mesh(mjcf *f, const char *name)
{
    const xml *x = &f->m->x;
    for (const xml_node *a = xml_first(x, mjcf_root(f), "asset"); a; a = xml_next(x, a, "asset"))
        for (const xml_node *n = xml_first(x, a, "mesh"); n; n = xml_next(x, n, "mesh")) {
            const char *own = xml_get(x, n, "name"), *file = xml_get(x, n, "file"), *slash;
            size_t length;
            if (own ? strcmp(own, name) == 0 : 0) return n;
            if (own || !file) continue;
            slash = strrchr(file, '/');
            if (slash) file = slash + 1;
            length = strcspn(file, ".");
            if (strlen(name) == length && strncmp(name, file, length) == 0) return n;
        }
    return NULL;
}

static void mjcf_mesh(mjcf *f, const xml_node *n, import_geom *g)
{
    const char *name = mjcf_text(f, n, "mesh"), *file;
    const xml_node *mesh = name ? mjcf_find_mesh(f, name) : NULL;
    double scale[3] = { 1, 1, 1 };
    g->shape = IMPORT_MESH;
    if (!mesh) {
        import_fail(f->m, n, "mesh: found %s%.60s, expected the name of a mesh of <asset>", name ? "" : "none",
                    name ? name : "");
        return;
    }
    file = xml_get(&f->m->x, mesh, "file");
    if (!file || !*file) {
        import_fail(f->m, mesh, "found no attribute file, expected the name of a mesh file");
        return;
    }
    (void)mjcf_numbers(f, mesh, "scale", 3, 3, scale);
    mjcf_refuse(f, mesh, "refpos", "0 0 0");
    mjcf_refuse(f, mesh, "refquat", "1 0 0 0");
    if (scale[0] != scale[1] || scale[0] != scale[2] || !(scale[0] > 0))
        import_fail(f->m, mesh, "scale: found %g %g %g, expected one factor > 0 for x, y and z", scale[0], scale[1],
                    scale[2]);
    g->scale = scale[0];
    g->mesh = import_path(f->m, f->meshdir, file);
}

/* From one end to the other: the frame of a capsule or cylinder, and its length. Returns 0 without fromto. */
static int mjcf_from_to(mjcf *f, const xml_node *n, import_frame *frame, double *length)
{
    double v[6], d[3];
    if (!mjcf_numbers(f, n, "fromto", 6, 6, v)) return 0;
    tool_sub(d, v + 3, v);
    *length = tool_length(d);
    if (!(*length > 0)) return import_fail(f->m, n, "fromto: found twice the same point, expected two");
    import_identity(frame);
    mjcf_z_axis(frame->R, d);
    for (int i = 0; i < 3; i++) frame->p[i] = (v[i] + v[3 + i]) / 2;
    return 1;
}

static void mjcf_size(mjcf *f, const xml_node *n, import_geom *g, import_frame *frame, const char *type)
{
    static const int needed[] = { 3, 1, 2, 2, 0, 0, 3 };
    double size[3] = { 0, 0, 0 }, length = 0;
    int count = mjcf_numbers(f, n, "size", 1, 3, size), line = 0,
        need = needed[strcmp(type, "ellipsoid") == 0 ? 6 : (int)g->shape];
    if (g->shape == IMPORT_CYLINDER || g->shape == IMPORT_CAPSULE) line = mjcf_from_to(f, n, frame, &length);
    else mjcf_refuse(f, n, "fromto", "");
    if (count < need - line && !f->m->failed) {
        import_fail(f->m, n, "size: found %d numbers, expected %d of a %s", count, need - line, type);
        return;
    }
    for (int i = 0; i < need - line; i++)
        if (!(size[i] > 0) && !f->m->failed) {
            import_fail(f->m, n, "size: found %g, expected a number > 0", size[i]);
            return;
        }
    if (strcmp(type, "ellipsoid") == 0 && (size[0] != size[1] || size[0] != size[2]))
        import_fail(f->m, n, "type: found an ellipsoid, expected box, sphere, cylinder, capsule, plane or mesh");
    for (int i = 0; i < 3; i++) g->size[i] = g->shape == IMPORT_BOX ? 2 * size[i] : size[i];
    if (g->shape == IMPORT_CYLINDER || g->shape == IMPORT_CAPSULE) g->size[1] = line ? length : 2 * size[1];
}

/* Does the mass of a link depend on its shapes? Not if the file has it, or if the link is fixed to the world. */
static int mjcf_needs_mass(const import_model *m, int link)
{
    if (m->link[link].has_mass) return 0;
    while (link && m->link[link].joint == IMPORT_FIXED) link = m->link[link].parent;
    return link != 0;
}

/* base: the frame that it stands in, of the link or of a <frame> */
static void mjcf_geom(mjcf *f, const xml_node *n, int link, const import_frame *base)
{
    static const char *const type[] = { "box", "sphere", "cylinder", "capsule", "plane", "mesh", "ellipsoid" };
    import_model *m = f->m;
    import_geom *g;
    import_frame frame;
    double number[3], bits[2] = { 1, 1 }, condim = 3;
    int kind = mjcf_word(f, n, "type", type, 7, 1);
    const char *name = xml_get(&m->x, n, "name");
    if (m->failed) return;
    (void)mjcf_numbers(f, n, "contype", 1, 1, &bits[0]);
    (void)mjcf_numbers(f, n, "conaffinity", 1, 1, &bits[1]);
    for (int i = 0; i < 2; i++)
        if (!(bits[i] >= 0 && bits[i] <= 4294967295.0) && !m->failed)
            import_fail(m, n, "found %g as contype or conaffinity, expected 32 bits", bits[i]);
    if (m->failed) return;
    if (bits[0] == 0 && bits[1] == 0 && (kind == IMPORT_PLANE || !mjcf_needs_mass(m, link))) {
        import_pass(m, n);
        return;
    }
    g = import_add_geom(m, n, link, name ? name : "");
    g->seen_only = bits[0] == 0 && bits[1] == 0;
    for (int i = 0; i < 2; i++) g->bits[i] = (unsigned)bits[i];
    (void)mjcf_numbers(f, n, "condim", 1, 1, &condim);
    (void)mjcf_numbers(f, n, "priority", 1, 1, &g->priority);
    g->slippery = condim == 1;
    g->shape = kind == 6 ? IMPORT_SPHERE : (import_shape)kind;
    if (kind == IMPORT_PLANE && link) import_fail(m, n, "type: found a plane of a body, expected planes of the world");
    mjcf_frame(f, n, &frame);
    if (kind != 5) mjcf_refuse(f, n, "mesh", "");   /* a shape that is fitted to a mesh */
    if (kind == 5) mjcf_mesh(f, n, g);
    else mjcf_size(f, n, g, &frame, type[kind]);
    import_multiply(&g->at, base, &frame);
    if (mjcf_numbers(f, n, "mass", 1, 1, &g->mass) && g->mass < 0)
        import_fail(m, n, "mass: found %g, expected a mass >= 0", g->mass);
    if (mjcf_numbers(f, n, "density", 1, 1, &g->density) && g->density < 0)
        import_fail(m, n, "density: found %g, expected one >= 0", g->density);
    g->friction = mjcf_numbers(f, n, "friction", 1, 3, number) ? number[0] : 1;
    if (g->friction < 0) import_fail(m, n, "friction: found %g, expected a number >= 0", g->friction);
}

/* ---- Joints --------------------------------------------------------------------------------- */

static void mjcf_spring(mjcf *f, const xml_node *n, import_link *l, double ref, double unit)
{
    double stiffness = 0, rest = 0;
    (void)mjcf_numbers(f, n, "damping", 1, 1, &l->damping);
    (void)mjcf_numbers(f, n, "frictionloss", 1, 1, &l->friction);
    if (mjcf_text(f, n, "armature")) import_note(f->m, n, "the armature of joints is left out");
    if (mjcf_numbers(f, n, "stiffness", 1, 1, &stiffness) && stiffness > 0) {
        (void)mjcf_numbers(f, n, "springref", 1, 1, &rest);
        l->has_motor = 1;
        l->stiffness = stiffness;
        l->target = rest * unit - ref;
    }
    if (l->damping < 0 || l->friction < 0 || stiffness < 0)
        import_fail(f->m, n, "found a negative damping, frictionloss or stiffness, expected numbers >= 0");
}

static void mjcf_joint(mjcf *f, const xml_node *n, import_link *l)
{
    static const char *const type[] = { "hinge", "slide", "ball", "free" }, *const limited[] = { "false", "true",
                                                                                                 "auto" };
    static const int kind[] = { EMBIPC_HINGE, EMBIPC_SLIDER, EMBIPC_BALL, IMPORT_FREE };
    double axis[3] = { 0, 0, 1 }, at[3] = { 0, 0, 0 }, range[2] = { 0, 0 }, ref = 0, unit;
    int t = mjcf_word(f, n, "type", type, 4, 0), has_range, limit;
    const char *name = xml_get(&f->m->x, n, "name");
    l->joint = kind[t];
    l->joint_line = n->line;
    import_name_joint(f->m, n, l, name ? name : "");
    if (l->joint == IMPORT_FREE || f->m->failed) return;
    unit = t == 1 ? 1 : f->angle;
    (void)mjcf_numbers(f, n, "axis", 3, 3, axis);
    (void)mjcf_numbers(f, n, "pos", 3, 3, at);
    if (!(tool_length(axis) > 0)) { import_fail(f->m, n, "axis: found 0 0 0, expected a direction"); return; }
    import_rotate(l->axis, l->at.R, axis);
    import_transform(l->point, &l->at, at);
    has_range = mjcf_numbers(f, n, "range", 2, 2, range);
    limit = mjcf_word(f, n, "limited", limited, 3, 2);
    l->limited = limit == 1 || (limit == 2 && f->autolimits && has_range && range[0] != range[1]);   /* 0 0: none */
    if (l->limited && !has_range) import_fail(f->m, n, "found no range, expected one of a limited joint");
    if (mjcf_numbers(f, n, "ref", 1, 1, &ref)) ref *= unit;
    for (int i = 0; i < 2; i++) l->limits[i] = range[i] * unit - ref;
    if (l->limited && l->limits[0] > l->limits[1])
        import_fail(f->m, n, "range: found %g %g, expected the lower one first", range[0], range[1]);
    mjcf_spring(f, n, l, ref, unit);
    if (l->joint == EMBIPC_BALL && (l->damping > 0 || l->stiffness > 0 || l->friction > 0)) {
        import_note(f->m, n, "damping, friction and stiffness of a ball are left out");
        l->damping = l->stiffness = l->friction = 0;
        l->has_motor = 0;
    }
    if (f->m->failed) return;
    import_begin(f->m, n, l, ref);
}

/* ---- Bodies --------------------------------------------------------------------------------- */

static void mjcf_inertial(mjcf *f, const xml_node *n, import_link *l)
{
    import_frame frame;
    double v[6], I[9] = { 0 };
    mjcf_frame(f, n, &frame);
    import_multiply(&frame, &l->at, &frame);
    memcpy(l->centre, frame.p, sizeof l->centre);
    if (!mjcf_numbers(f, n, "mass", 1, 1, &l->mass)) {
        import_fail(f->m, n, "found no attribute mass, expected one");
        return;
    }
    if (!(l->mass >= 0)) { import_fail(f->m, n, "mass: found %g, expected a mass >= 0", l->mass); return; }
    l->has_mass = l->mass > 0;
    if (mjcf_numbers(f, n, "diaginertia", 3, 3, v))
        for (int i = 0; i < 3; i++) I[4 * i] = v[i];
    if (mjcf_numbers(f, n, "fullinertia", 6, 6, v)) {
        for (int i = 0; i < 3; i++) I[4 * i] = v[i];
        I[1] = I[3] = v[3];
        I[2] = I[6] = v[4];
        I[5] = I[7] = v[5];
    }
    import_turn_tensor(l->inertia, frame.R, I);
}

/* Joint and mass of a body, before its shapes: the joint may begin elsewhere than at 0. */
static void mjcf_body_begin(mjcf *f, const xml_node *n, int link)
{
    import_model *m = f->m;
    const xml_node *joint = NULL;
    for (const xml_node *k = xml_first(&m->x, n, NULL); k && !m->failed; k = xml_next(&m->x, k, NULL)) {
        int free_joint = strcmp(k->name, "freejoint") == 0;
        if (strcmp(k->name, "joint") != 0 && !free_joint) continue;
        if (joint) { import_fail(m, k, "found a second joint of a body, expected one"); return; }
        joint = k;
        if (!free_joint) mjcf_joint(f, k, &m->link[link]);
        else {
            m->link[link].joint = IMPORT_FREE;
            m->link[link].joint_line = k->line;
        }
    }
    if (m->link[link].joint == IMPORT_FREE && m->link[link].parent != 0 && !m->failed)
        import_fail(m, joint, "found a free joint below another body, expected it in a body of the world");
    for (const xml_node *k = xml_first(&m->x, n, "inertial"); k && !m->failed; k = xml_next(&m->x, k, "inertial"))
        if (f->mass_of_shapes != 2) mjcf_inertial(f, k, &m->link[link]);
}

/* The shapes of a body, of the world, or of a <frame> in them, and the bodies below it, which are added to the list of
 * links. base: its own frame, in the world */
static void mjcf_children(mjcf *f, const xml_node *n, int link, import_frame base)
{
    static const char *const passed[] = { "joint", "freejoint", "inertial", "site", "camera", "light" };
    import_model *m = f->m;
    int body = link && strcmp(n->name, "frame") != 0;
    for (const xml_node *k = xml_first(&m->x, n, NULL); k && !m->failed; k = xml_next(&m->x, k, NULL)) {
        int pass = 0;
        import_frame frame;
        for (int i = body ? 0 : 3; i < 6; i++) pass |= strcmp(k->name, passed[i]) == 0;
        if (pass) continue;
        if (strcmp(k->name, "geom") == 0) mjcf_geom(f, k, link, &base);
        else if (strcmp(k->name, "frame") == 0) {
            mjcf_frame(f, k, &frame);
            import_multiply(&frame, &base, &frame);
            mjcf_children(f, k, link, frame);
        } else if (strcmp(k->name, "body") == 0) {
            const char *name = xml_get(&m->x, k, "name");
            import_link *l = import_add_link(m, k, name ? name : "body", link);
            for (int i = 1; name && i < m->link_count - 1; i++) {
                const char *other = xml_get(&m->x, &m->x.node[m->link[i].node], "name");
                if (other && strcmp(other, name) == 0)
                    import_fail(m, k, "found a second body \"%.60s\", expected one of this name", name);
            }
            mjcf_refuse(f, k, "mocap", "false");
            mjcf_refuse(f, k, "gravcomp", "0");
            mjcf_frame(f, k, &frame);
            import_multiply(&l->at, &base, &frame);
            mjcf_body_begin(f, k, m->link_count - 1);
        } else import_fail(m, k, "found this element of <%s>, expected one that embipc import knows", n->name);
    }
}

/* Number of the link with this name; 0 is the world. */
static int mjcf_find_body(mjcf *f, const xml_node *n, const char *attribute, int or_world)
{
    const char *name = xml_get(&f->m->x, n, attribute);
    for (int i = 0; name && i < f->m->link_count; i++) {
        const char *own = i ? xml_get(&f->m->x, &f->m->x.node[f->m->link[i].node], "name") : "world";
        if (own && strcmp(own, name) == 0) return i;
    }
    if (!name && or_world) return 0;
    import_fail(f->m, n, "%s: found %s%.60s, expected the name of a body", attribute, name ? "" : "none",
                name ? name : "");
    return 0;
}

/* ---- Contact, connections, actuators -------------------------------------------------------- */

static void mjcf_contact(mjcf *f, const xml_node *n)
{
    import_model *m = f->m;
    for (const xml_node *k = xml_first(&m->x, n, NULL); k && !m->failed; k = xml_next(&m->x, k, NULL)) {
        import_exclude *e;
        if (strcmp(k->name, "exclude") != 0) { import_fail(m, k, "found this element, expected exclude"); return; }
        TOOL_GROW(import_exclude, m->exclude, m->exclude_capacity, m->exclude_count + 1);
        e = &m->exclude[m->exclude_count++];
        e->a = mjcf_find_body(f, k, "body1", 0);
        e->b = mjcf_find_body(f, k, "body2", 0);
        if (m->exclude_count > IMPORT_MOST) import_fail(m, k, "found more than %d, expected fewer", IMPORT_MOST);
    }
}

static void mjcf_equality(mjcf *f, const xml_node *n)
{
    import_model *m = f->m;
    for (const xml_node *k = xml_first(&m->x, n, NULL); k && !m->failed; k = xml_next(&m->x, k, NULL)) {
        int connect = strcmp(k->name, "connect") == 0;
        double anchor[3] = { 0, 0, 0 };
        import_loop *p;
        if (!connect && strcmp(k->name, "weld") != 0) {
            import_fail(m, k, "found this element, expected connect or weld");
            return;
        }
        mjcf_refuse(f, k, "active", "true");
        TOOL_GROW(import_loop, m->loop, m->loop_capacity, m->loop_count + 1);
        p = &m->loop[m->loop_count++];
        p->kind = connect ? EMBIPC_BALL : EMBIPC_WELD;
        p->line = k->line;
        p->a = mjcf_find_body(f, k, "body1", 0);
        p->b = mjcf_find_body(f, k, "body2", 1);
        if (connect && !mjcf_numbers(f, k, "anchor", 3, 3, anchor) && !m->failed)
            import_fail(m, k, "found no anchor, expected a point of body1");
        import_transform(p->point, &m->link[p->a].at, anchor);
        if (!connect) mjcf_refuse(f, k, "relpose", "0 1 0 0 0 0 0");
        if (m->loop_count > IMPORT_MOST) import_fail(m, k, "found more than %d, expected fewer", IMPORT_MOST);
    }
}

/* kp and kv of an actuator. A general one must be a position servo: force = kp (ctrl - position) - kv velocity. */
static void mjcf_gains(mjcf *f, const xml_node *k, double *kp, double *kv)
{
    double gain[3] = { 1, 0, 0 }, bias[3] = { 0, 0, 0 };
    const char *type = mjcf_text(f, k, "biastype");
    if (strcmp(k->name, "general") != 0) {
        if (strcmp(k->name, "velocity") == 0) *kv = 1;
        (void)mjcf_numbers(f, k, "kp", 1, 1, kp);
        (void)mjcf_numbers(f, k, "kv", 1, 1, kv);
        if (*kp < 0 || *kv < 0) import_fail(f->m, k, "found a negative kp or kv, expected numbers >= 0");
        return;
    }
    mjcf_refuse(f, k, "gaintype", "fixed");
    mjcf_refuse(f, k, "dyntype", "none");
    (void)mjcf_numbers(f, k, "gainprm", 1, 3, gain);
    (void)mjcf_numbers(f, k, "biasprm", 1, 3, bias);
    *kp = gain[0];
    *kv = -bias[2];
    if (!type || strcmp(type, "affine") != 0 || !(*kp > 0) || bias[0] != 0 || bias[1] != -*kp || *kv < 0)
        import_fail(f->m, k,
                    "found this actuator, expected a position servo: biastype affine, gainprm kp, biasprm 0 -kp -kv");
}

static void mjcf_actuator(mjcf *f, const xml_node *k)
{
    import_model *m = f->m;
    const char *joint = mjcf_text(f, k, "joint");
    import_link *l = NULL;
    double kp = 1, kv = 0, range[2] = { 0, 0 };
    int velocity = strcmp(k->name, "velocity") == 0, limit;
    static const char *const words[] = { "false", "true", "auto" };
    if (strcmp(k->name, "motor") == 0) {
        import_note(m, k, "a motor gives no effort until a program sets one: left out");
        return;
    }
    if (!velocity && strcmp(k->name, "position") != 0 && strcmp(k->name, "general") != 0) {
        import_fail(m, k, "found this actuator, expected position, velocity, motor or general");
        return;
    }
    for (int i = 1; joint && i < m->link_count; i++)
        if (m->link[i].joint_name[0] && strcmp(m->link[i].joint_name, joint) == 0) l = &m->link[i];
    if (!l || (l->joint != EMBIPC_HINGE && l->joint != EMBIPC_SLIDER)) {
        import_fail(m, k, "joint: found %s%.60s, expected the name of a hinge or slide", joint ? "" : "none",
                    joint ? joint : "");
        return;
    }
    if (l->has_motor) {
        import_fail(m, k, "found a second spring or actuator of joint \"%.60s\", expected one", joint);
        return;
    }
    mjcf_refuse(f, k, "gear", "1");
    mjcf_refuse(f, k, "dampratio", "0");
    mjcf_gains(f, k, &kp, &kv);
    limit = mjcf_word(f, k, "forcelimited", words, 3, 2);
    if (mjcf_numbers(f, k, "forcerange", 2, 2, range) && limit) l->effort_limit = fmin(-range[0], range[1]);
    if (l->effort_limit < 0) import_fail(m, k, "forcerange: found %g %g, expected 0 in between", range[0], range[1]);
    l->has_motor = 1;
    l->damping += kv;
    if (!velocity) {   /* until a program sets another target it holds the joint where it begins */
        l->stiffness = kp;
        l->target = 0;
    }
}

/* ---- The file ------------------------------------------------------------------------------- */

static void mjcf_compiler(mjcf *f, const xml_node *n)
{
    static const char *const angle[] = { "degree", "radian" }, *const no[] = { "false", "true" },
                             *const inertia[] = { "false", "auto", "true" };
    const xml *x = &f->m->x;
    const char *euler = xml_get(x, n, "eulerseq"), *directory = xml_get(x, n, "meshdir");
    if (mjcf_word(f, n, "angle", angle, 2, f->angle == 1) == 1) f->angle = 1;
    f->autolimits = mjcf_word(f, n, "autolimits", no, 2, f->autolimits);
    f->mass_of_shapes = mjcf_word(f, n, "inertiafromgeom", inertia, 3, f->mass_of_shapes);
    mjcf_refuse(f, n, "coordinate", "local");
    mjcf_refuse(f, n, "settotalmass", "-1");
    if (!directory) directory = xml_get(x, n, "assetdir");
    if (directory) f->meshdir = directory;
    if (!euler) return;
    if (strlen(euler) != 3 || strspn(euler, "xyzXYZ") != 3)
        import_fail(f->m, n, "eulerseq: found \"%.20s\", expected three of x, y, z, X, Y, Z", euler);
    else strcpy(f->euler, euler);
}

/* Elements of the file that this knows, and those that change nothing in a simulation. */
static int mjcf_known(mjcf *f)
{
    static const char *const known[] = { "compiler", "option",   "default",  "asset",   "worldbody",
                                         "contact",  "equality", "actuator", "visual",  "statistic",
                                         "size",     "custom",   "sensor",   "keyframe" };
    import_model *m = f->m;
    for (int i = 0; i < m->x.count; i++)   /* wherever one stands: defaults of another file count, too */
        if (strcmp(m->x.node[i].name, "include") == 0)
            return import_fail(m, &m->x.node[i], "found this element, expected the text of that file in its place");
    for (const xml_node *n = xml_first(&m->x, mjcf_root(f), NULL); n; n = xml_next(&m->x, n, NULL)) {
        int found = 0;
        for (int i = 0; i < 14; i++) found |= strcmp(known[i], n->name) == 0;
        if (!found) return import_fail(m, n, "found this element of <mujoco>, expected one that embipc import knows");
        if (strcmp(n->name, "keyframe") == 0) import_note(m, n, "poses of keyframes are left out: joints begin at 0");
    }
    return 1;
}

int import_mjcf(import_model *m)
{
    mjcf f;
    memset(&f, 0, sizeof f);
    f.m = m;
    f.angle = MJCF_DEGREE;
    f.autolimits = f.mass_of_shapes = 1;
    f.meshdir = "";
    strcpy(f.euler, "xyz");
    if (m->x.count > 10 * IMPORT_MOST)
        return import_fail(m, &m->x.node[0], "found %d elements, expected at most %d", m->x.count, 10 * IMPORT_MOST);
    if (!mjcf_known(&f)) return 0;
    for (const xml_node *n = xml_first(&m->x, mjcf_root(&f), "compiler"); n; n = xml_next(&m->x, n, "compiler"))
        mjcf_compiler(&f, n);
    for (const xml_node *n = xml_first(&m->x, mjcf_root(&f), "option"); n; n = xml_next(&m->x, n, "option")) {
        (void)import_get(m, n, "gravity", 3, m->gravity);
        if (import_get(m, n, "timestep", 1, &m->time_step) && !(m->time_step > 0))
            import_fail(m, n, "timestep: found %g, expected a number > 0", m->time_step);
        for (const xml_node *k = xml_first(&m->x, n, "flag"); k; k = xml_next(&m->x, k, "flag")) {
            mjcf_refuse(&f, k, "gravity", "enable");
            mjcf_refuse(&f, k, "contact", "enable");
        }
    }
    for (const xml_node *n = xml_first(&m->x, mjcf_root(&f), "worldbody"); n && !m->failed;
         n = xml_next(&m->x, n, "worldbody"))
        mjcf_children(&f, n, 0, m->link[0].at);
    for (int i = 1; i < m->link_count && !m->failed; i++)
        mjcf_children(&f, &m->x.node[m->link[i].node], i, m->link[i].at);
    for (const xml_node *n = xml_first(&m->x, mjcf_root(&f), NULL); n && !m->failed; n = xml_next(&m->x, n, NULL)) {
        if (strcmp(n->name, "contact") == 0) mjcf_contact(&f, n);
        if (strcmp(n->name, "equality") == 0) mjcf_equality(&f, n);
        if (strcmp(n->name, "actuator") == 0)
            for (const xml_node *k = xml_first(&m->x, n, NULL); k && !m->failed; k = xml_next(&m->x, k, NULL))
                mjcf_actuator(&f, k);
    }
    return !m->failed;
}
