/* URDF: links and joints by name, angles in rad, lengths in m. */
#include "import.h"
#include <stdlib.h>
#include <string.h>

/* A joint as the file has it, until its place in the tree is known. */
typedef struct urdf_joint { const xml_node *n, *parent, *child; int done; } urdf_joint;

typedef struct urdf {
    import_model *m;
    urdf_joint *joint;
    int joint_count, joint_capacity;
} urdf;

static const xml_node *urdf_root(const import_model *m) { return &m->x.node[0]; }

static const char *urdf_name(import_model *m, const xml_node *n)
{
    const char *name = xml_get(&m->x, n, "name");
    if (!name || !*name) import_fail(m, n, "found no attribute name, expected one");
    return name ? name : "";
}

/* <origin xyz rpy> of an element. */
static void urdf_origin(import_model *m, const xml_node *n, import_frame *f)
{
    const xml_node *o = xml_first(&m->x, n, "origin");
    double rpy[3] = { 0, 0, 0 };
    import_identity(f);
    if (!o) return;
    (void)import_get(m, o, "xyz", 3, f->p);
    if (import_get(m, o, "rpy", 3, rpy)) import_rpy(f->R, rpy);
}

/* Elements that this cannot leave out without changing what happens are refused. */
static int urdf_known(import_model *m, const xml_node *n, const char *const *known, int count)
{
    for (const xml_node *k = xml_first(&m->x, n, NULL); k; k = xml_next(&m->x, k, NULL)) {
        int found = 0;
        for (int i = 0; i < count; i++) found |= strcmp(known[i], k->name) == 0;
        if (!found)
            return import_fail(m, k, "found this element of <%s>, expected one that embipc import knows", n->name);
    }
    return 1;
}

/* ---- Shapes --------------------------------------------------------------------------------- */

static int urdf_is_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    return f != NULL;
}

/* package://NAME/FILE: in the directory of --package, else in the nearest directory above the file that is called
 * NAME or has NAME in it. */
static char *urdf_package(const import_model *m, const char *rest)
{
    const char *slash = strchr(rest, '/');
    int length = slash ? (int)(slash - rest) : (int)strlen(rest);
    char *best = NULL;
    tool_text up = { NULL, 0, 0 };
    if (m->o->package) return import_path(m, m->o->package, slash ? slash + 1 : rest);
    tool_put(&up, ".");
    for (int level = 0; level < 12; level++) {
        for (int with_name = 0; with_name < 2 && slash; with_name++) {
            tool_text file = { NULL, 0, 0 };
            tool_put(&file, "%.*s%s", with_name ? length + 1 : 0, rest, slash + 1);
            free(best);
            best = import_path(m, up.data, file.data);
            tool_text_free(&file);
            if (urdf_is_file(best)) { tool_text_free(&up); return best; }
        }
        tool_put(&up, "/..");
    }
    tool_text_free(&up);
    free(best);
    return import_path(m, "", rest);
}

static void urdf_mesh(import_model *m, const xml_node *n, import_geom *g)
{
    const char *file = xml_get(&m->x, n, "filename");
    double scale[3] = { 1, 1, 1 };
    g->shape = IMPORT_MESH;
    if (!file || !*file) { import_fail(m, n, "found no attribute filename, expected the name of a mesh file"); return; }
    (void)import_get(m, n, "scale", 3, scale);
    if (scale[0] != scale[1] || scale[0] != scale[2] || !(scale[0] > 0)) {
        import_fail(m, n, "scale: found %g %g %g, expected one factor > 0 for x, y and z", scale[0], scale[1],
                    scale[2]);
        return;
    }
    g->scale = scale[0];
    if (strncmp(file, "package://", 10) == 0) g->mesh = urdf_package(m, file + 10);
    else g->mesh = import_path(m, "", strncmp(file, "file://", 7) == 0 ? file + 7 : file);
}

/* <geometry> with one shape in it. */
static void urdf_geometry(import_model *m, const xml_node *n, import_geom *g)
{
    const xml_node *k = xml_first(&m->x, n, NULL);
    int ok = 1;
    if (!k || xml_next(&m->x, k, NULL)) { import_fail(m, n, "expected one shape in it"); return; }
    if (strcmp(k->name, "box") == 0) {
        g->shape = IMPORT_BOX;
        ok = import_get(m, k, "size", 3, g->size);
    } else if (strcmp(k->name, "sphere") == 0) {
        g->shape = IMPORT_SPHERE;
        ok = import_get(m, k, "radius", 1, g->size);
    } else if (strcmp(k->name, "cylinder") == 0 || strcmp(k->name, "capsule") == 0) {
        g->shape = k->name[1] == 'y' ? IMPORT_CYLINDER : IMPORT_CAPSULE;
        ok = import_get(m, k, "radius", 1, g->size) && import_get(m, k, "length", 1, g->size + 1);
    } else if (strcmp(k->name, "mesh") == 0) urdf_mesh(m, k, g);
    else import_fail(m, k, "found this shape, expected box, sphere, cylinder, capsule or mesh");
    if (!ok) import_fail(m, k, "found no measures, expected those of a %s", k->name);
    for (int i = 0; i < 3 && g->shape != IMPORT_MESH; i++)
        if (g->size[i] < 0) import_fail(m, k, "found a negative measure, expected one > 0");
}

/* ---- Links ---------------------------------------------------------------------------------- */

static void urdf_inertial(import_model *m, const xml_node *n, import_link *l)
{
    static const char *const entry[] = { "ixx", "ixy", "ixz", "iyy", "iyz", "izz" };
    static const int at[6] = { 0, 1, 2, 4, 5, 8 };
    const xml_node *mass = xml_first(&m->x, n, "mass"), *inertia = xml_first(&m->x, n, "inertia");
    import_frame f;
    double I[9] = { 0 };
    urdf_origin(m, n, &f);
    import_multiply(&f, &l->at, &f);
    if (!mass || !import_get(m, mass, "value", 1, &l->mass)) {
        import_fail(m, n, "found no mass, expected <mass value>");
        return;
    }
    if (l->mass < 0) { import_fail(m, mass, "value: found %g, expected a mass >= 0", l->mass); return; }
    l->has_mass = l->mass > 0;
    for (int i = 0; inertia && i < 6; i++)
        if (!import_get(m, inertia, entry[i], 1, &I[at[i]]) && !m->failed)
            import_fail(m, inertia, "found no attribute %s, expected all six", entry[i]);
    I[3] = I[1]; I[6] = I[2]; I[7] = I[5];
    memcpy(l->centre, f.p, sizeof l->centre);
    import_turn_tensor(l->inertia, f.R, I);
}

static void urdf_link(import_model *m, const xml_node *n, int link)
{
    static const char *const known[] = { "inertial", "visual", "collision", "contact", "self_collision_checking",
                                         "verbose" };
    const xml_node *inertial = xml_first(&m->x, n, "inertial");
    if (!urdf_known(m, n, known, 6)) return;
    if (inertial) urdf_inertial(m, inertial, &m->link[link]);
    for (const xml_node *k = xml_first(&m->x, n, "collision"); k && !m->failed; k = xml_next(&m->x, k, "collision")) {
        const xml_node *geometry = xml_first(&m->x, k, "geometry");
        const char *name = xml_get(&m->x, k, "name");
        import_geom *g = import_add_geom(m, k, link, name ? name : "");
        import_frame f;
        urdf_origin(m, k, &f);
        import_multiply(&g->at, &m->link[link].at, &f);
        if (!geometry) import_fail(m, k, "found no <geometry>, expected one");
        else urdf_geometry(m, geometry, g);
    }
}

/* ---- Joints --------------------------------------------------------------------------------- */

/* The link that <parent link> or <child link> names. */
static const xml_node *urdf_find_link(import_model *m, const xml_node *end)
{
    const char *name = xml_get(&m->x, end, "link");
    for (const xml_node *n = xml_first(&m->x, urdf_root(m), "link"); n && name; n = xml_next(&m->x, n, "link"))
        if (strcmp(urdf_name(m, n), name) == 0) return n;
    import_fail(m, end, "link: found %s%.60s, expected the name of a link", name ? "" : "none", name ? name : "");
    return NULL;
}

static void urdf_limits(import_model *m, const xml_node *n, import_link *l)
{
    const xml_node *limit = xml_first(&m->x, n, "limit"), *dynamics = xml_first(&m->x, n, "dynamics");
    const char *type = xml_get(&m->x, n, "type");
    if (!dynamics) dynamics = xml_first(&m->x, n, "joint_properties");   /* its older name */
    if (limit && strcmp(type, "continuous") != 0) {
        l->limited = 1;
        (void)import_get(m, limit, "lower", 1, &l->limits[0]);
        (void)import_get(m, limit, "upper", 1, &l->limits[1]);
        if (l->limits[0] > l->limits[1])
            import_fail(m, limit, "found lower %g above upper %g, expected the lower one first", l->limits[0],
                        l->limits[1]);
    } else if (strcmp(type, "continuous") != 0) import_fail(m, n, "found no <limit>, expected one of a %s joint", type);
    if (limit) (void)import_get(m, limit, "effort", 1, &l->effort_limit);
    if (dynamics) {
        (void)import_get(m, dynamics, "damping", 1, &l->damping);
        (void)import_get(m, dynamics, "friction", 1, &l->friction);
        if (l->damping < 0 || l->friction < 0)
            import_fail(m, dynamics, "found a negative number, expected numbers >= 0");
    }
    if (m->o->hold[0] > 0 || m->o->hold[1] > 0) {
        l->has_motor = 1;
        l->stiffness = m->o->hold[0];
        l->damping += m->o->hold[1];
    } else l->effort_limit = 0;
}

/* Kind, axis and limits of the joint by which a link hangs on its parent; its frame is that of the joint. */
static void urdf_joint_kind(import_model *m, const xml_node *n, import_link *l)
{
    static const char *const known[] = { "origin", "parent",   "child",       "axis",
                                         "limit",  "dynamics", "calibration", "joint_properties", "safety_controller" };
    const char *type = xml_get(&m->x, n, "type");
    const xml_node *axis = xml_first(&m->x, n, "axis");
    double direction[3] = { 1, 0, 0 };
    if (!type) { import_fail(m, n, "found no attribute type, expected one"); return; }
    if (!urdf_known(m, n, known, 9)) return;
    memcpy(l->point, l->at.p, sizeof l->point);
    if (axis) (void)import_get(m, axis, "xyz", 3, direction);
    if (!(tool_length(direction) > 0)) { import_fail(m, axis, "xyz: found 0 0 0, expected a direction"); return; }
    import_rotate(l->axis, l->at.R, direction);
    if (strcmp(type, "fixed") == 0) return;
    if (strcmp(type, "floating") == 0) { l->joint = IMPORT_FREE; return; }
    if (strcmp(type, "prismatic") == 0) l->joint = EMBIPC_SLIDER;
    else if (strcmp(type, "revolute") == 0 || strcmp(type, "continuous") == 0) l->joint = EMBIPC_HINGE;
    else {
        import_fail(m, n, "type: found \"%s\", expected revolute, continuous, prismatic, fixed or floating", type);
        return;
    }
    urdf_limits(m, n, l);
    if (m->failed) return;
    import_begin(m, n, l, 0);
    l->target = 0;   /* of --motors: they hold the joints where they begin */
}

static int urdf_read_joints(urdf *u)
{
    import_model *m = u->m;
    for (const xml_node *n = xml_first(&m->x, urdf_root(m), "joint"); n && !m->failed;
         n = xml_next(&m->x, n, "joint")) {
        const xml_node *parent = xml_first(&m->x, n, "parent"), *child = xml_first(&m->x, n, "child");
        urdf_joint *j;
        TOOL_GROW(urdf_joint, u->joint, u->joint_capacity, u->joint_count + 1);
        j = &u->joint[u->joint_count++];
        memset(j, 0, sizeof *j);
        j->n = n;
        if (!parent || !child)
            return import_fail(m, n, "found no parent or no child, expected <parent link> and <child link>");
        j->parent = urdf_find_link(m, parent);
        j->child = urdf_find_link(m, child);
        for (int i = 0; i < u->joint_count - 1 && !m->failed; i++)
            if (u->joint[i].child == j->child)
                return import_fail(m, n, "found a second joint with the child \"%.60s\", expected one",
                                   urdf_name(m, j->child));
    }
    return !m->failed;
}

/* Adds a link below `parent`, by joint n (NULL: the first link), with its shapes. */
static void urdf_add(import_model *m, const xml_node *n, const xml_node *link, int parent)
{
    int index = m->link_count;
    import_link *l = import_add_link(m, link, urdf_name(m, link), parent);
    import_frame f;
    import_identity(&f);
    if (n) {
        l->joint_line = n->line;
        import_name_joint(m, n, l, urdf_name(m, n));
        urdf_origin(m, n, &f);
    } else if (m->o->free_base) l->joint = IMPORT_FREE;
    import_multiply(&l->at, &m->link[parent].at, &f);
    if (n) urdf_joint_kind(m, n, l);
    if (!m->failed) urdf_link(m, link, index);
}

/* From the first link down, in rounds: a link comes after its parent. */
static int urdf_tree(urdf *u)
{
    import_model *m = u->m;
    int roots = 0, links = 0;
    for (const xml_node *n = xml_first(&m->x, urdf_root(m), "link"); n && !m->failed; n = xml_next(&m->x, n, "link")) {
        int child = 0;
        links++;
        for (int i = 0; i < u->joint_count; i++) child |= u->joint[i].child == n;
        if (child) continue;
        if (roots++) return import_fail(m, n, "found a second link without a joint above it, expected one");
        urdf_add(m, NULL, n, 0);
    }
    if (m->failed) return 0;
    if (!roots) return import_fail(m, urdf_root(m), "found no link without a joint above it, expected one");
    for (int at = 1; at < m->link_count && !m->failed; at++) {
        for (int i = 0; i < u->joint_count && !m->failed; i++) {
            if (u->joint[i].done || u->joint[i].parent != &m->x.node[m->link[at].node]) continue;
            u->joint[i].done = 1;
            urdf_add(m, u->joint[i].n, u->joint[i].child, at);
        }
    }
    if (!m->failed && m->link_count - 1 < links)
        return import_fail(m, urdf_root(m), "found links in a loop of joints, expected a tree");
    return !m->failed;
}

int import_urdf(import_model *m)
{
    static const char *const known[] = { "link",         "joint",        "material", "gazebo",
                                         "transmission", "ros2_control", "sensor" };
    urdf u;
    int ok, links = 0;
    memset(&u, 0, sizeof u);
    u.m = m;
    if (!urdf_known(m, urdf_root(m), known, 7)) return 0;
    for (const xml_node *n = xml_first(&m->x, urdf_root(m), NULL); n; n = xml_next(&m->x, n, NULL))
        if (++links > 4 * IMPORT_MOST)
            return import_fail(m, n, "found more than %d elements, expected fewer", 4 * IMPORT_MOST);
    for (const xml_node *n = xml_first(&m->x, urdf_root(m), "link"); n; n = xml_next(&m->x, n, "link"))
        for (const xml_node *k = xml_next(&m->x, n, "link"); k; k = xml_next(&m->x, k, "link"))
            if (strcmp(urdf_name(m, n), urdf_name(m, k)) == 0)
                return import_fail(m, k, "found a second link \"%.60s\", expected one of this name", urdf_name(m, k));
    ok = urdf_read_joints(&u) && urdf_tree(&u);
    free(u.joint);
    return ok;
}
