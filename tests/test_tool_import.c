/* `embipc import`: what a robot's file becomes, the same robot as URDF and MJCF, masses, poses, every refusal with
 * its line and element, and damaged files. */
#include "../embipc.h"
#include "test.h"
#include "import_seeds.h"
#include "test_tool_mutate.h"
#include "../tools/common.h"
#include "../tools/json.h"
#include "../tools/meshio.h"
#include "../tools/scene.h"
#include "../tools/import.c"

static import_options options(const char *file)
{
    import_options o;
    memset(&o, 0, sizeof o);
    o.file = file;
    o.friction = 0.5;
    o.young = 1e9;
    return o;
}

static tool_text noted;   /* what the last import said */

/* Imports a text, and reads the scene that it becomes. */
static int import_as(scene *s, const import_options *o, const char *text, tool_error *e)
{
    tool_text out = { NULL, 0, 0 };
    char *copy = mutate_copy(text, strlen(text));
    int ok;
    memset(s, 0, sizeof *s);
    e->text[0] = 0;
    tool_text_free(&noted);
    tool_put(&noted, "%s", "");
    ok = import_text(o, copy, strlen(text), &out, &noted, e);
    if (ok && !scene_parse(s, o->out ? o->out : "x.json", out.data, (size_t)out.length, e)) {
        printf("  not a scene: %s\n%s\n", e->text, out.data);
        ok = 0;
    }
    free(copy);
    tool_text_free(&out);
    return ok;
}

static int begin(scene *s, const char *text)
{
    import_options o = options("r.urdf");
    tool_error e;
    int ok = import_as(s, &o, text, &e);
    if (!ok) printf("  %s\n", e.text);
    return ok;
}

static int refused(const char *text, const char *part)
{
    import_options o = options("r.xml");
    scene s;
    tool_error e;
    int ok = import_as(&s, &o, text, &e);
    scene_free(&s);
    if (!ok && strstr(e.text, part)) return 1;
    printf("  %s\n  -> %s\n  (wanted %s)\n", text, ok ? "accepted" : e.text, part);
    return 0;
}

#define BOX "<collision><geometry><box size='1 1 1'/></geometry></collision>"

static int find(const scene *s, const char *name)
{
    for (int i = 0; i < s->body_count; i++)
        if (strcmp(s->body[i].name, name) == 0) return i;
    printf("  no body %s\n", name);
    return 0;
}

static int near_to(const double a[3], double x, double y, double z)
{
    int ok = fabs(a[0] - x) < 1e-12 && fabs(a[1] - y) < 1e-12 && fabs(a[2] - z) < 1e-12;
    if (!ok) printf("  %.15g %.15g %.15g\n", a[0], a[1], a[2]);
    return ok;
}

/* ---- Frames --------------------------------------------------------------------------------- */

/* Angles that are written make the rotation again, also where x points along z; an axis is kept, and a quarter turn
 * about it is right-handed. */
static void test_rotations(void)
{
    for (int k = 0; k < 2000; k++) {
        double R[9], S[9], axis[3], degrees[3], same[3], angle = test_uniform(-4, 4);
        for (int i = 0; i < 3; i++) axis[i] = test_uniform(-1, 1);
        if (k % 3 == 0) {
            double rpy[3];
            rpy[0] = test_uniform(-3, 3);
            rpy[1] = test_random() < 0.5 ? -1.5707963267948966 : 1.5707963267948966;
            rpy[2] = test_uniform(-3, 3);
            import_rpy(R, rpy);
        } else import_axis_angle(R, axis, angle);
        import_angles(degrees, R);
        scene_rotation(S, degrees);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(S[i], R[i], 1e-9);
        import_axis_angle(R, axis, angle);
        import_rotate(same, R, axis);
        for (int i = 0; i < 3; i++) ENSURE_CLOSE(same[i], axis[i], 1e-14);
    }
    {
        double R[9], x[3] = { 1, 0, 0 }, z[3] = { 0, 0, 2 };
        import_axis_angle(R, z, 1.5707963267948966);
        import_rotate(x, R, x);
        ENSURE(near_to(x, 0, 1, 0));
    }
}

/* ---- The same robot twice ------------------------------------------------------------------- */

static void same_joint(const scene_joint *p, const scene_joint *q)
{
    ENSURE(p->a == q->a && p->b == q->b && p->def.kind == q->def.kind && p->def.limited == q->def.limited);
    for (int i = 0; i < 3; i++) {
        ENSURE_CLOSE(p->def.point[i], q->def.point[i], 1e-12);
        ENSURE_CLOSE(p->def.axis[i], q->def.axis[i], 1e-12);
    }
    for (int i = 0; i < 2 && p->def.limited; i++) ENSURE_CLOSE(p->def.limits[i], q->def.limits[i], 1e-12);
    ENSURE_CLOSE(p->def.motor_damping, q->def.motor_damping, 1e-12);
    ENSURE_CLOSE(p->def.friction, q->def.friction, 1e-12);
}

static void test_same_robot(void)
{
    scene a, b;
    ENSURE(begin(&a, urdf_arm) && begin(&b, mjcf_arm));
    ENSURE(a.body_count == 5 && b.body_count == 5 && a.joint_count == 4 && b.joint_count == 4
           && a.pair_count == b.pair_count);
    if (test_bad) return;
    for (int i = 0; i < 5; i++) {
        const embipc_body_def *p = &a.body[i].def, *q = &b.body[i].def;
        ENSURE(strcmp(a.body[i].name, b.body[i].name) == 0 && strcmp(a.body[i].source, b.body[i].source) == 0
               && p->kind == q->kind);
        ENSURE(p->vertex_count == q->vertex_count && p->friction == q->friction);
        for (int k = 0; k < 3; k++) ENSURE_CLOSE(p->position[k], q->position[k], 1e-12);
        if (strcmp(a.body[i].name, "bar") != 0)   /* it may be rolled about its own axis */
            for (int k = 0; k < 9; k++) ENSURE_CLOSE(p->rotation[k], q->rotation[k], 1e-12);
        else
            for (int k = 0; k < 3; k++) ENSURE_CLOSE(p->rotation[3 * k + 2], q->rotation[3 * k + 2], 1e-12);
        ENSURE_REL(p->material.density, q->material.density, 1e-9);
    }
    for (int i = 0; i < 4; i++) same_joint(&a.joint[i], &b.joint[i]);
    scene_free(&a);
    scene_free(&b);
}

/* Where the links are, by hand: rotations about one axis each. */
static void test_poses(void)
{
    scene s;
    static const char text[] =
        "<robot name='r'><link name='a'><collision><geometry><box size='1 1 1'/></geometry></collision></link>"
        "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><origin xyz='1 2 3' rpy='0 0 "
        "1.5707963267948966'/><axis xyz='0 0 1'/>"
        "<limit lower='1.5707963267948966' upper='3'/></joint>"
        "<link name='b'><collision><origin xyz='1 0 0'/><geometry><box size='0.1 0.1 "
        "0.1'/></geometry></collision></link>"
        "<joint name='k' type='continuous'><parent link='b'/><child link='c'/><origin xyz='2 0 0' "
        "rpy='1.5707963267948966 0 0'/></joint>"
        "<link name='c'><collision><origin xyz='0 0 1'/><geometry><sphere "
        "radius='0.1'/></geometry></collision></link></robot>";
    ENSURE(begin(&s, text));
    if (test_bad) return;
    /* b is turned by 90 degrees, and by 90 more as its limits ask for: its x points to -x of the world */
    ENSURE(near_to(s.body[find(&s, "b")].def.position, 0, 2, 3));
    /* z of c is -y of b, which is +y of the world */
    ENSURE(near_to(s.body[find(&s, "c")].def.position, -1, 3, 3));
    ENSURE(s.joint_count == 2 && near_to(s.joint[0].def.point, 1, 2, 3) && near_to(s.joint[0].def.axis, 0, 0, 1));
    ENSURE_CLOSE(s.joint[0].def.limits[0], 0, 1e-12);
    ENSURE_CLOSE(s.joint[0].def.limits[1], 3 - 1.5707963267948966, 1e-12);
    ENSURE(near_to(s.joint[1].def.point, -1, 2, 3) && near_to(s.joint[1].def.axis, -1, 0, 0)
           && !s.joint[1].def.limited);
    ENSURE(s.joint[0].a == -1 && s.joint[1].a == find(&s, "b")
           && strstr(noted.data, "joint \"j\" begins at its limit"));
    scene_free(&s);
}

/* Bodies have the masses of their links, and an even spread that the file's inertia contradicts is told. */
static void test_masses(void)
{
    scene s;
    tool_error e;
    embipc_world *w = NULL;
    embipc_body_state bar, knob, tip;
    ENSURE(begin(&s, urdf_arm) && scene_build(&s, &w, &e));
    if (test_bad) return;
    ENSURE(embipc_body_get_state(w, s.body[find(&s, "bar")].handle, &bar) == EMBIPC_OK);
    ENSURE(embipc_body_get_state(w, s.body[find(&s, "knob")].handle, &knob) == EMBIPC_OK);
    ENSURE(embipc_body_get_state(w, s.body[find(&s, "tip")].handle, &tip) == EMBIPC_OK);
    ENSURE_REL(bar.mass + knob.mass, 1.5, 1e-9);
    ENSURE_REL(tip.mass, 0.1, 1e-9);
    ENSURE(strstr(noted.data, "link \"upper\" (line 5): its mass is spread"));
    for (int n = 0; n < 30; n++) ENSURE(embipc_world_step(w, NULL) == EMBIPC_OK);
    ENSURE(embipc_world_intersections(w, NULL, 0) == 0);
    embipc_world_destroy(w);
    scene_free(&s);
    /* a cube with the inertia of a cube says nothing: m a^2/6 = 0.1 * 0.0016/6 */
    ENSURE(begin(
        &s, "<robot name='r'><link name='a'><inertial><mass value='0.1'/><inertia ixx='2.6666667e-5' ixy='0' ixz='0' "
            "iyy='2.6666667e-5' "
            "iyz='0' izz='2.6666667e-5'/></inertial><collision><geometry><box size='0.04 0.04 "
            "0.04'/></geometry></collision></link>"
            "<joint name='j' type='floating'><parent link='o'/><child link='a'/></joint><link name='o'/></robot>"));
    ENSURE(noted.length == 0 && s.joint_count == 0 && s.body[0].def.kind == EMBIPC_AFFINE);
    if (noted.length) printf("  %s\n", noted.data);
    scene_free(&s);
}

/* Two equal balls share the mass so that its centre is that of the file, or as near as positive densities allow; the
 * whole is kept, and an even spread that is right stays. */
static void test_centre(void)
{
    static const struct { double centre, share; } cases[] = { { 0.5, 0.75 }, { 0, 0.5 }, { -0.8, 0.1 }, { 3, 0.995 } };
    for (int i = 0; i < 4; i++) {
        char text[1024];
        scene s;
        double a, b;
        snprintf(text, sizeof text,
                 "<mujoco><worldbody><body><freejoint/><inertial pos='%g 0 0' mass='2' diaginertia='1 1 1'/>"
                 "<geom name='a' size='0.1' pos='-1 0 0'/><geom name='b' size='0.1' pos='1 0 "
                 "0'/></body></worldbody></mujoco>",
                 cases[i].centre);
        ENSURE(begin(&s, text) && s.body_count == 2);
        if (s.body_count != 2) return;
        a = s.body[0].def.material.density;
        b = s.body[1].def.material.density;
        ENSURE_CLOSE(b / (a + b), cases[i].share, 1e-3);
        ENSURE_CLOSE((a + b) * 4.0 / 3 * 3.14159265358979 * 1e-3, 2, 0.05);
        scene_free(&s);
    }
    {   /* any number of weights: none below the least, their sum is 1 */
        double w[7], sum = 0;
        for (int i = 0; i < 7; i++) w[i] = test_uniform(-2, 2);
        import_to_weights(w, 7, 0.01);
        for (int i = 0; i < 7; i++) {
            sum += w[i];
            ENSURE(w[i] >= 0.01);
        }
        ENSURE_CLOSE(sum, 1, 1e-12);
    }
}

/* Without a mass of the body each shape has its own, or that of its density, so that the centre is where it should be. */
static void test_shapes_with_masses(void)
{
    scene s;
    ENSURE(begin(&s, "<mujoco><worldbody><body name='a'><freejoint/><geom type='box' size='.05 .05 .05' pos='.1 0 0' mass='0.5'/>"
                   "<geom type='box' size='.05 .05 .05' pos='-.2 0 0' mass='2'/><geom type='box' size='.05 .05 .05' "
                   "pos='0 .3 0' density='700'/></body></worldbody></mujoco>"));
    ENSURE(s.body_count == 3);
    for (int i = 0; i < 3 && s.body_count == 3; i++)
        ENSURE_REL(s.body[i].def.material.density, i == 0 ? 500.0 : i == 1 ? 2000.0 : 700.0, 1e-9);
    scene_free(&s);
}

/* Shapes that are only seen count for the mass of a body that has none in the file. */
static void test_seen_masses(void)
{
    static const char format[] =
        "<mujoco><default><geom density='500'/></default><worldbody><body name='a'><freejoint/>%s"
        "<geom type='box' size='0.5 0.5 0.5' %s contype='0' conaffinity='0'/><geom name='a' type='box' size='0.1 0.1 "
        "0.1' "
        "mass='%s'/></body></worldbody></mujoco>";
    static const struct { const char *inertial, *seen, *mass; double density; } cases[] = {
        { "", "mass='3'", "0", 3 / 0.008 },
        { "", "", "0", 500 / 0.008 },
        { "", "mass='3'", "1", 4 / 0.008 },
        { "<inertial pos='0 0 0' mass='7' diaginertia='1 1 1'/>", "mass='3'", "1", 7 / 0.008 } };
    for (int i = 0; i < 4; i++) {
        char text[1024];
        scene s;
        snprintf(text, sizeof text, format, cases[i].inertial, cases[i].seen, cases[i].mass);
        ENSURE(begin(&s, text) && s.body_count == 1);
        if (s.body_count) ENSURE_REL(s.body[0].def.material.density, cases[i].density, 1e-12);
        scene_free(&s);
    }
}

/* Volume, centre and inertia of a box that is moved and rotated, against closed forms. */
static void test_integrals(void)
{
    for (int k = 0; k < 20; k++) {
        import_geom g;
        tool_mesh mesh;
        double axis[3], I[9] = { 0 }, J[9], V;
        memset(&g, 0, sizeof g);
        for (int i = 0; i < 3; i++) g.size[i] = test_uniform(0.1, 2);
        for (int i = 0; i < 3; i++) axis[i] = test_uniform(-1, 1);
        for (int i = 0; i < 3; i++) g.at.p[i] = test_uniform(-9, 9);
        import_axis_angle(g.at.R, axis, 2);
        g.scale = test_uniform(0.5, 2);
        ENSURE(import_make(&g, &mesh, NULL));
        import_integrate(&g, &mesh);
        mesh_free(&mesh);
        V = g.size[0] * g.size[1] * g.size[2] * pow(g.scale, 3);
        ENSURE_REL(g.volume, V, 1e-12);
        for (int i = 0; i < 3; i++) ENSURE_CLOSE(g.centre[i], g.at.p[i], 1e-12);
        for (int i = 0; i < 3; i++)
            I[4 * i] = V / 12 * g.scale * g.scale * (pow(g.size[(i + 1) % 3], 2) + pow(g.size[(i + 2) % 3], 2));
        import_turn_tensor(J, g.at.R, I);
        for (int i = 0; i < 9; i++) ENSURE_CLOSE(g.inertia[i], J[i], 1e-12 * (I[0] + I[4] + I[8]));
    }
}

/* ---- Options, contact ----------------------------------------------------------------------- */

static int pair_of(const scene *s, const char *a, const char *b)
{
    int i = find(s, a), k = find(s, b);
    for (int p = 0; p < s->pair_count; p++)
        if ((s->pair[p].a == i && s->pair[p].b == k) || (s->pair[p].a == k && s->pair[p].b == i))
            return !s->pair[p].contact;
    return 0;
}

/* Neighbours never touch; links that are farther apart may, unless told otherwise. */
static void test_pairs(void)
{
    import_options o = options("r.urdf");
    scene s;
    tool_error e;
    ENSURE(import_as(&s, &o, urdf_arm, &e));
    ENSURE(pair_of(&s, "base", "bar") && pair_of(&s, "base", "knob") && pair_of(&s, "bar", "knob")
           && pair_of(&s, "knob", "tip") && pair_of(&s, "tip", "tool"));
    ENSURE(pair_of(&s, "knob", "tool") && !pair_of(&s, "base", "tip") && !pair_of(&s, "base", "tool"));
    scene_free(&s);
    o.no_self_contact = 1;
    ENSURE(import_as(&s, &o, urdf_arm, &e) && pair_of(&s, "base", "tip"));
    scene_free(&s);
    /* the ground may touch all, also what hangs on the world */
    ENSURE(begin(&s, "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/><body name='a' pos='0 0 "
                     "1'><joint type='hinge'/><geom name='a' size='0.1'/></body>"
                     "<body name='b' pos='1 0 1'><freejoint/><geom name='b' size='0.1' "
                     "mass='2'/></body></worldbody><contact><exclude body1='a' body2='b'/></contact></mujoco>"));
    ENSURE(s.body_count == 3 && s.pair_count == 1 && pair_of(&s, "a", "b") && s.body[0].def.kind == EMBIPC_FIXED
           && s.joint_count == 1);
    scene_free(&s);
}

/* Which shapes touch, by their bits: one of the two must touch a group of the other. Friction of a pair, as MuJoCo has it:
 * that of the shape with more priority, else the larger one; none between two shapes of condim 1. */
static void test_pairs_of_shapes(void)
{
    static const struct { const char *a, *b; int touch; double friction; } c[] = {
        { "contype='0'", "contype='0'", 0, 0 },
        { "contype='0'", "conaffinity='0'", 1, 1 },
        { "contype='2' conaffinity='4'", "contype='4' conaffinity='8'", 1, 1 },
        { "contype='2' conaffinity='4'", "contype='8' conaffinity='1'", 0, 0 },
        { "friction='0.25'", "friction='0.81'", 1, 0.81 },
        { "friction='0.25' priority='2'", "friction='0.81' priority='1'", 1, 0.25 },
        { "friction='0.25' condim='1'", "friction='0.81' condim='1'", 1, 0 },
        { "friction='0.9' condim='1'", "friction='0.25'", 1, 0.9 },
        { "friction='0.9' condim='1' priority='1'", "friction='0.25'", 1, 0 } };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        char text[600];
        scene s;
        double friction = -1;
        snprintf(text, sizeof text, "<mujoco><worldbody><body><freejoint/><geom size='0.1' %s/></body><body pos='1 0 0'>"
                 "<freejoint/><geom size='0.1' %s/></body></worldbody></mujoco>", c[i].a, c[i].b);
        ENSURE(begin(&s, text) && s.body_count == 2 && s.pair_count <= 1);
        if (s.body_count == 2) friction = sqrt(s.body[0].def.friction * s.body[1].def.friction);
        if (s.pair_count && s.pair[0].friction >= 0) friction = s.pair[0].friction;
        ENSURE((s.pair_count && !s.pair[0].contact) == !c[i].touch);
        if (c[i].touch) ENSURE_CLOSE(friction, c[i].friction, 1e-12);
        scene_free(&s);
    }
}

/* The outermost defaults hold for all elements, with any name and in several parts. The limit of a motor without a spring
 * holds. */
static void test_outer_defaults(void)
{
    static const char *const outer[] = { "<default><joint damping='3'/>", "<default class='robot'><joint damping='3'/>",
                                         "<default/><default class='main'><joint damping='3'/>" };
    static const char *const inner[] = { "", "class='main'", "class='c'" };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            char text[800];
            scene s;
            snprintf(text, sizeof text, "<mujoco>%s<default class='c'><joint axis='0 1 0'/></default></default><worldbody>"
                     "<body><joint name='j' %s/><geom size='0.1'/></body></worldbody><actuator>"
                     "<velocity joint='j' kv='4' forcerange='-2 2'/></actuator></mujoco>", outer[i], inner[k]);
            ENSURE(begin(&s, text) && s.joint_count == 1);
            if (s.joint_count)
                ENSURE(s.joint[0].def.motor_damping == 7 && s.joint[0].def.motor_limit == 2 && s.joint[0].def.axis[1] == (k == 2));
            scene_free(&s);
        }
}

static void test_options(void)
{
    import_options o = options("r.urdf");
    scene s;
    tool_error e;
    o.hold[0] = 30;
    o.hold[1] = 2;
    o.young = 1e7;
    o.friction = 0.9;
    o.free_base = 1;
    ENSURE(import_as(&s, &o, urdf_arm, &e));
    ENSURE(s.joint[0].def.motor_stiffness == 30 && s.joint[0].def.motor_damping == 2.2
           && s.joint[0].def.motor_limit == 7 && s.joint[0].def.target[0] == 0);
    ENSURE(s.body[0].def.kind == EMBIPC_AFFINE && s.body[0].def.material.young == 1e7 && s.body[0].def.friction == 0.9
           && s.joint[0].a == 0);
    scene_free(&s);
    ENSURE(begin(&s, "<mujoco><option gravity='0 0 -1' timestep='0.005'/><worldbody><body><joint name='h' range='-90 "
                     "45' stiffness='3' springref='30' damping='0.5'/>"
                     "<geom size='0.1'/><body pos='1 0 0'><joint name='p' type='slide'/><geom size='0.1'/><body "
                     "pos='1 0 0'><joint name='v'/><geom size='0.1'/>"
                     "</body></body></body></worldbody><actuator><position joint='p' kp='7' kv='2' forcerange='-3 "
                     "4'/><velocity joint='v' kv='6'/></actuator></mujoco>"));
    ENSURE(s.world.gravity[2] == -1 && s.world.time_step == 0.005 && s.joint_count == 3);
    ENSURE_CLOSE(s.joint[0].def.limits[0], -1.5707963267948966, 1e-12);
    ENSURE_CLOSE(s.joint[0].def.target[0], 3.14159265358979 / 6, 1e-12);
    ENSURE(s.joint[0].def.motor_stiffness == 3 && s.joint[0].def.motor_damping == 0.5
           && s.joint[0].def.motor_limit == 0);
    ENSURE(s.joint[1].def.motor_stiffness == 7 && s.joint[1].def.motor_damping == 2 && s.joint[1].def.motor_limit == 3);
    ENSURE(s.joint[2].def.motor_stiffness == 0 && s.joint[2].def.motor_damping == 6);
    scene_free(&s);
}

/* A pose moves what hangs on the joint, and limits count from there. */
static void test_pose(void)
{
    import_options o = options("r.xml");
    scene s;
    tool_error e;
    static const char text[] = "<mujoco><worldbody><body pos='1 0 0'><joint name='h' axis='0 0 1' pos='-1 0 0' "
                               "range='-30 120' ref='10'/><geom name='a' size='0.1'/>"
                               "<body pos='2 0 0'><joint name='s' type='slide' axis='1 0 0'/><geom name='b' "
                               "size='0.1'/></body></body></worldbody></mujoco>";
    o.pose = "s=0.5,h=100";
    ENSURE(import_as(&s, &o, text, &e) && s.body_count == 2);
    if (s.body_count == 2) {   /* turned by 100 - 10 degrees about the origin */
        ENSURE(near_to(s.body[0].def.position, 0, 1, 0) && near_to(s.body[1].def.position, 0, 3.5, 0));
        ENSURE_CLOSE(s.joint[0].def.limits[0], -130 * 3.14159265358979 / 180, 1e-12);
        ENSURE_CLOSE(s.joint[0].def.limits[1], 20 * 3.14159265358979 / 180, 1e-12);
    }
    scene_free(&s);
    {
        static const char *const bad[] = { "x=1", "h=1,h=2", "h=x", "h=121", "h", "h=1,,s=0" };
        for (int i = 0; i < 6; i++) {
            o.pose = bad[i];
            if (import_as(&s, &o, text, &e)) printf("  %s is accepted\n", bad[i]);
            ENSURE(strstr(e.text, "--pose"));
            scene_free(&s);
        }
    }
}

/* A general actuator that is a position servo, with what it has from its class. */
static void test_servo(void)
{
    scene s;
    ENSURE(begin(&s, "<mujoco><default><default class='c'><general dyntype='none' biastype='affine' gainprm='450' "
                     "biasprm='0 -450 -45' "
                     "forcerange='-9 9'/></default></default><worldbody><body><joint name='j'/><geom "
                     "size='0.1'/></body></worldbody>"
                     "<actuator><general class='c' joint='j'/></actuator></mujoco>"));
    ENSURE(s.joint_count == 1);
    if (s.joint_count)
        ENSURE(s.joint[0].def.motor_stiffness == 450 && s.joint[0].def.motor_damping == 45
               && s.joint[0].def.motor_limit == 9);
    scene_free(&s);
}

/* Both names of damping and friction in URDF. */
static void test_dynamics(void)
{
    static const char *const name[] = { "dynamics", "joint_properties" };
    for (int i = 0; i < 2; i++) {
        char text[1024];
        scene s;
        snprintf(text, sizeof text,
                 "<robot name='r'><link name='a'>%s</link><link name='b'>%s</link><joint name='j' "
                 "type='continuous'><parent link='a'/>"
                 "<child link='b'/><%s damping='2' friction='3'/></joint></robot>",
                 BOX, BOX, name[i]);
        ENSURE(begin(&s, text) && s.joint_count == 1);
        if (s.joint_count) ENSURE(s.joint[0].def.motor_damping == 2 && s.joint[0].def.friction == 3);
        scene_free(&s);
    }
}

/* Orientations that mean the same. */
static void test_orientations(void)
{
    static const char *const same[] = { "euler='0 0 90'", "quat='2 0 0 2'", "axisangle='0 0 3 90'",
                                        "xyaxes='0 1 0 -5 3 0'" };
    for (int i = 0; i < 4; i++) {
        char text[512];
        scene s;
        snprintf(text, sizeof text,
                 "<mujoco><worldbody><geom type='box' size='1 2 3' pos='1 0 0' %s/></worldbody></mujoco>", same[i]);
        ENSURE(begin(&s, text));
        if (s.body_count == 1)
            ENSURE(fabs(s.body[0].def.rotation[1] + 1) < 1e-12 && fabs(s.body[0].def.rotation[3] - 1) < 1e-12);
        scene_free(&s);
    }
    {   /* half a turn about z has a last number only */
        scene s;
        ENSURE(begin(&s, "<mujoco><worldbody><geom type='box' size='1 2 3' quat='0 0 0 1'/></worldbody></mujoco>"));
        if (s.body_count == 1) ENSURE_CLOSE(s.body[0].def.rotation[0], -1, 1e-12);
        scene_free(&s);
    }
    {   /* extrinsic and intrinsic angles in opposite order are the same */
        scene a, b;
        ENSURE(begin(&a, "<mujoco><compiler eulerseq='xyz'/><worldbody><geom type='box' size='1 2 3' euler='10 20 "
                         "30'/></worldbody></mujoco>"));
        ENSURE(begin(&b, "<mujoco><compiler eulerseq='ZYX'/><worldbody><geom type='box' size='1 2 3' euler='30 20 "
                         "10'/></worldbody></mujoco>"));
        for (int k = 0; k < 9 && a.body_count && b.body_count; k++)
            ENSURE_CLOSE(a.body[0].def.rotation[k], b.body[0].def.rotation[k], 1e-14);
        scene_free(&a);
        scene_free(&b);
    }
}

/* A <frame> moves what stands in it, also another frame, and its childclass counts; it is no body. Joints are of bodies. */
static void test_frames(void)
{
    scene a, b;
    ENSURE(begin(&a, "<!DOCTYPE mujoco\n>\n<mujoco><default><default class='big'><geom size='1 2 3'/></default></default><worldbody>"
                     "<frame pos='1 0 0' euler='0 0 90' childclass='big'><geom type='box' pos='2 0 0'/><frame pos='0 1 0'>"
                     "<body name='far' pos='0 0 5'><freejoint/><frame axisangle='0 0 1 90'><geom type='box' pos='0 0 1'/>"
                     "</frame></body></frame></frame></worldbody></mujoco>"));
    ENSURE(begin(&b, "<mujoco><worldbody><geom type='box' size='1 2 3' pos='1 2 0' euler='0 0 90'/>"
                     "<body name='far' pos='0 0 5' euler='0 0 90'><freejoint/><geom type='box' size='1 2 3' pos='0 0 1' "
                     "axisangle='0 0 1 90'/></body></worldbody></mujoco>"));
    ENSURE(a.body_count == 2 && b.body_count == 2);
    for (int i = 0; i < 2 && a.body_count == 2 && b.body_count == 2; i++) {
        ENSURE(a.body[i].def.kind == b.body[i].def.kind);
        for (int k = 0; k < 3; k++) ENSURE_CLOSE(a.body[i].def.position[k], b.body[i].def.position[k], 1e-12);
        for (int k = 0; k < 9; k++) ENSURE_CLOSE(a.body[i].def.rotation[k], b.body[i].def.rotation[k], 1e-12);
    }
    scene_free(&a);
    scene_free(&b);
    ENSURE(refused("<mujoco><worldbody><body><frame><joint/></frame></body></worldbody></mujoco>",
                   "<joint>: found this element of <frame>"));
}

/* What has no effect is told, with its line; what is for the eye is not. */
static void test_unread(void)
{
    static const char *const told[] = { "viscosity", "wind", "sizzze", "margin" };
    scene s;
    ENSURE(begin(&s, "<mujoco><option gravity='0 0 -9' viscosity='5' wind='3 0 0'/><worldbody>"
                     "<geom type='plane' size='1 1 1' rgba='1 0 0 1' solref='1 1'/>\n"
                     "<body name='a' pos='0 0 1'><freejoint/><geom size='0.1' sizzze='9' margin='0.05'/></body>"
                     "</worldbody></mujoco>"));
    for (int i = 0; i < 4; i++) {
        char text[80];
        snprintf(text, sizeof text, "line %d: <%s>: attribute %s is left out\n", 1 + i / 2,
                 i < 2 ? "option" : "geom", told[i]);
        ENSURE(strstr(noted.data, text) != NULL);
    }
    ENSURE(!strstr(noted.data, "rgba") && !strstr(noted.data, "solref") && !strstr(noted.data, "gravity"));
    scene_free(&s);
    ENSURE(begin(&s, "<robot name='r'><link name='a' foo='1'>" BOX "</link></robot>"));
    ENSURE(strstr(noted.data, "<link>: attribute foo is left out") != NULL);
    scene_free(&s);
}

/* ---- Meshes --------------------------------------------------------------------------------- */

/* Meshes are found from the file's place, and named from the scene's. */
static void test_meshes(void)
{
    import_options o = options("examples/scenes/r.urdf");
    scene s;
    tool_error e;
    tool_text t = { NULL, 0, 0 }, notes = { NULL, 0, 0 };
    static const char text[] = "<robot name='r'><link name='a'><collision><geometry><mesh filename='%s' scale='2 2 "
                               "2'/></geometry></collision></link></robot>";
    static const char *const names[] = { "stone.obj", "package://scenes/stone.obj", "package://other/stone.obj" };
    for (int i = 0; i < 3; i++) {
        char file[512];
        snprintf(file, sizeof file, text, names[i]);
        o.out = "docs/x.json";
        t.length = 0;
        ENSURE(import_text(&o, file, strlen(file), &t, &notes, &e));
        ENSURE(t.data && strstr(t.data, "\"mesh\": \"../examples/scenes/stone.obj\", \"scale\": 2"));
        ENSURE(import_as(&s, &o, file, &e) && s.body_count == 1 && s.body[0].def.scale == 2);
        scene_free(&s);
    }
    o.package = "scenes";
    o.file = "examples/r.urdf";
    ENSURE(import_as(&s, &o,
                     "<robot name='r'><link name='a'><collision><geometry><mesh "
                     "filename='package://any/stone.obj'/></geometry></collision></link></robot>",
                     &e));
    scene_free(&s);
    o.file = "examples/scenes/r.xml";
    ENSURE(import_as(&s, &o,
                     "<mujoco><compiler meshdir='bench/..'/><asset><mesh file='stone.obj' scale='3 3 "
                     "3'/></asset><worldbody><geom type='mesh' mesh='stone'/></worldbody></mujoco>",
                     &e));
    ENSURE(s.body_count == 1 && s.body[0].def.scale == 3);
    scene_free(&s);
    tool_text_free(&t);
    tool_text_free(&notes);
}

/* Two fingers of the Allegro hand, with numbers of wonik_allegro/right_hand.xml of mujoco_menagerie, on its own
 * meshes. */
/* The joint of which this body is the child. */
static const embipc_joint_def *joint_of(const scene *s, const char *b)
{
    int body = find(s, b), i = 0;
    while (i < s->joint_count - 1 && s->joint[i].b != body) i++;
    return &s->joint[i].def;
}

static void test_allegro(void)
{
    char file[1100];
    import_options o;
    scene s;
    tool_error e;
    embipc_world *w = NULL;
    int ok;
    if (!test_data("x")) SKIP("no DATA");
    snprintf(file, sizeof file, "%s", test_data("hand.xml"));
    o = options(file);
    ok = import_as(&s, &o, allegro, &e);
    if (!ok) printf("  %s\n", e.text);
    ENSURE(ok);
    if (!ok) return;
    ENSURE(s.body_count == 7 && s.joint_count == 6);   /* five hinges, and the tip welded */
    ENSURE_CLOSE(joint_of(&s, "th base")->limits[1], 1.396 - 0.263, 1e-12);
    ENSURE(joint_of(&s, "ff proximal")->motor_stiffness == 1 && joint_of(&s, "ff proximal")->motor_limit == 0.7);
    ENSURE(joint_of(&s, "ff base")->motor_stiffness == 0 && joint_of(&s, "ff base")->motor_damping == 0.1);
    /* the fingers point along x of the world, up to their lean of 5 degrees */
    ENSURE(s.body[find(&s, "ff tip")].def.position[2] < s.body[find(&s, "palm")].def.position[2] + 0.01);
    ok = scene_build(&s, &w, &e);
    if (!ok) printf("  %s\n", e.text);
    ENSURE(ok);
    for (int n = 0; n < 20 && ok; n++) ENSURE(embipc_world_step(w, NULL) == EMBIPC_OK);
    for (int i = 0; i < s.joint_count && ok; i++) {
        embipc_joint_state j;
        ENSURE(embipc_joint_get_state(w, s.joint[i].handle, &j) == EMBIPC_OK && j.gap < 1e-4);
    }
    ENSURE(!ok || embipc_world_intersections(w, NULL, 0) == 0);
    embipc_world_destroy(w);
    scene_free(&s);
}

/* ---- Refusals ------------------------------------------------------------------------------- */

#define TWO(joint)                                                                                                   \
    "<robot name='r'><link name='a'>" BOX "</link><link name='b'>" BOX "</link>\n<joint name='j' " joint             \
    "</joint></robot>"
#define ENDS "<parent link='a'/><child link='b'/>"

static void test_urdf_refusals(void)
{
    static const struct { const char *text, *part;
    } cases[] = {
        { "<cat/>", "r.xml:1: <cat>: found this root, expected <robot> (URDF) or <mujoco> (MJCF)" },
        { "<robot>", "expected the end of <robot>" },
        { "<robot name='r'/>", "r.xml:1: <robot>: found no link without a joint above it" },
        { "<robot name='r'><link name='a'/></robot>", "found no shape for collisions" },
        { "<robot name='r'><link/></robot>", "<link>: found no attribute name" },
        { "<robot name='r'>\n<link name='a'/>\n<link name='a'/></robot>",
          "r.xml:3: <link>: found a second link \"a\"" },
        { "<robot name='r'>\n<link name='a'/>\n<link name='b'/></robot>",
          "r.xml:3: <link>: found a second link without a joint" },
        { "<robot name='r'><link name='a'>\n<wings/></link></robot>",
          "r.xml:2: <wings>: found this element of <link>" },
        { "<robot name='r'><link name='a'/>\n<xacro:macro/></robot>", "r.xml:2: <xacro:macro>" },
        { "<robot name='r'><link name='a'><collision/></link></robot>", "<collision>: found no <geometry>" },
        { "<robot name='r'><link name='a'><collision><geometry/></collision></link></robot>",
          "<geometry>: expected one shape" },
        { "<robot name='r'><link name='a'><collision><geometry><cone/></geometry></collision></link></robot>",
          "<cone>: found this shape" },
        { "<robot name='r'><link name='a'><collision><geometry><box size='1 "
          "1'/></geometry></collision></link></robot>",
          "<box>: size: found \"1 1\", expected 3 numbers" },
        { "<robot name='r'><link name='a'><collision><geometry><box size='1 1 "
          "x'/></geometry></collision></link></robot>",
          "<box>: size: found \"1 1 x\"" },
        { "<robot name='r'><link name='a'><collision><geometry><box/></geometry></collision></link></robot>",
          "<box>: found no measures" },
        { "<robot name='r'><link name='a'><collision><geometry><box size='1 -1 "
          "1'/></geometry></collision></link></robot>",
          "negative measure" },
        { "<robot name='r'><link name='a'>\n<collision><geometry><box size='1 0 "
          "1'/></geometry></collision></link></robot>",
          "r.xml:2: " },
        { "<robot name='r'><link name='a'>\n<collision><geometry><mesh "
          "filename='no.obj'/></geometry></collision></link></robot>",
          "r.xml:2: no.obj: cannot be opened" },
        { "<robot name='r'><link name='a'><collision><geometry><mesh filename='no.obj' scale='1 -1 "
          "1'/></geometry></collision></link></robot>",
          "<mesh>: scale: found 1 -1 1" },
        { "<robot name='r'><link name='a'><inertial/>" BOX "</link></robot>", "<inertial>: found no mass" },
        { "<robot name='r'><link name='a'><inertial><mass value='-1'/></inertial>" BOX "</link></robot>",
          "<mass>: value: found -1" },
        { "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1'/></inertial>" BOX
          "</link></robot>",
          "<inertia>: found no attribute ixy" },
        { TWO("type='planar'>" ENDS), "r.xml:2: <joint>: type: found \"planar\"" },
        { TWO(">" ENDS), "<joint>: found no attribute type" },
        { TWO("type='revolute'>" ENDS), "<joint>: found no <limit>" },
        { TWO("type='revolute'>" ENDS "<limit lower='1' upper='0'/>"), "<limit>: found lower 1 above upper 0" },
        { TWO("type='fixed'><parent link='a'/>"), "<joint>: found no parent or no child" },
        { TWO("type='fixed'><parent link='a'/><child link='c'/>"), "<child>: link: found c" },
        { TWO("type='fixed'><parent link='c'/><child link='b'/>"), "<parent>: link: found c" },
        { TWO("type='continuous'>" ENDS "\n<mimic joint='k'/>"), "r.xml:3: <mimic>: found this element of <joint>" },
        { TWO("type='continuous'>" ENDS "<axis xyz='0 0 0'/>"), "<axis>: xyz: found 0 0 0" },
        { TWO("type='continuous'>" ENDS "<dynamics damping='-1'/>"), "<dynamics>: found a negative number" },
        { TWO("type='fixed'>" ENDS "</joint><joint name='k' type='fixed'>" ENDS),
          "a second joint with the child \"b\"" },
        { "<robot name='r'><link name='a'>" BOX "</link><link name='b'/><link name='c'/><joint name='j' type='fixed'>"
          ENDS "</joint>\n<joint name='j' type='fixed'><parent link='a'/><child link='c'/></joint></robot>",
          "r.xml:2: <joint>: found a second joint \"j\", expected one of this name" },
        { "<robot name='r'><link name='a'>" BOX "</link><link name='b'/><link name='c'/><joint name='j' "
          "type='fixed'><parent link='c'/><child link='b'/></joint>"
          "<joint name='k' type='fixed'><parent link='b'/><child link='c'/></joint></robot>",
          "found links in a loop" },
        { "<robot name='r'><link name='a'>" BOX "</link><link name='b'/><link name='c'>" BOX
          "</link>\n<joint name='j' type='continuous'>" ENDS "</joint>"
          "<joint name='k' type='continuous'><parent link='b'/><child link='c'/></joint></robot>",
          "r.xml:2: joint \"j\": found no shape for collisions in the links of its child" }
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) ENSURE(refused(cases[i].text, cases[i].part));
}

#define MJ(text) "<mujoco>" text "</mujoco>"
#define WORLD(text) MJ("<worldbody>" text "</worldbody>")
#define BODY(text) WORLD("<body name='a'>\n" text "<geom size='1'/></body>")

static void test_mjcf_refusals(void)
{
    static const struct { const char *text, *part;
    } cases[] = {
        { MJ("<tendon/>"), "<tendon>: found this element of <mujoco>" },
        { MJ("<default><include file='d.xml'/></default>"), "<include>: found this element" },
        { MJ("<include file='a.xml'/>"), "<include>" },
        { MJ("<compiler coordinate='global'/>"), "<compiler>: coordinate: found \"global\"" },
        { MJ("<compiler angle='grad'/>"), "<compiler>: angle: found \"grad\"" },
        { MJ("<compiler eulerseq='xy'/>"), "<compiler>: eulerseq: found \"xy\"" },
        { MJ("<option timestep='0'/>"), "<option>: timestep: found 0" },
        { WORLD(""), "found no shape for collisions" },
        { WORLD("<composite/>"), "<composite>: found this element of <worldbody>" },
        { WORLD("<joint/>"), "<joint>: found this element of <worldbody>" },
        { WORLD("<geom/>"), "<geom>: size: found 0 numbers, expected 1 of a sphere" },
        { WORLD("<geom type='box' size='1 1'/>"), "<geom>: size: found 2 numbers, expected 3 of a box" },
        { WORLD("<geom type='sfere' size='1'/>"),
          "<geom>: type: found \"sfere\", expected one that embipc import knows, such as sphere" },
        { WORLD("<geom type='ellipsoid' size='1 2 3'/>"), "<geom>: type: found an ellipsoid" },
        { WORLD("<geom size='-1'/>"), "<geom>: size: found -1" },
        { WORLD("<geom type='box' size='1 1 1' fromto='0 0 0 1 1 1'/>"), "<geom>: fromto" },
        { WORLD("<geom type='capsule' size='1' fromto='0 0 0 0 0 0'/>"),
          "<geom>: fromto: found twice the same point" },
        { WORLD("<geom type='mesh' mesh='m'/>"), "<geom>: mesh: found m" },
        { MJ("<asset><mesh name='m' file='m.obj' scale='1 1 2'/></asset><worldbody><geom type='mesh' "
             "mesh='m'/></worldbody>"),
          "<mesh>: scale: found 1 1 2" },
        { WORLD("<geom class='c' size='1'/>"), "<geom>: found class \"c\"" },
        { WORLD("<geom size='1' xyaxes='1 0 0 2 0 0'/>"), "<geom>: xyaxes: found parallel axes" },
        { BODY("<geom type='plane' size='1 1 1'/>"), "r.xml:2: <geom>: type: found a plane of a body" },
        { WORLD("<body name='a'><freejoint/><geom size='1' mass='0'/></body>"), "link \"a\": found a mass of 0" },
        { BODY("<joint/>\n<joint/>"), "r.xml:3: <joint>: found a second joint of a body" },
        { WORLD("<body><joint name='j'/><geom size='1'/></body>\n<body><joint name='j'/><geom size='1'/></body>"),
          "r.xml:2: <joint>: found a second joint \"j\"" },
        { BODY("<joint limited='true'/>"), "r.xml:2: <joint>: found no range" },
        { WORLD("<geom size='1' friction='-1'/>"), "<geom>: friction: found -1, expected a number >= 0" },
        { WORLD("<geom size='1' quat='0 0 0 0'/>"), "<geom>: quat: found only 0" },
        { WORLD("<geom size='1' axisangle='0 0 0 1'/>"), "<geom>: axisangle: found only 0" },
        { WORLD("<geom size='1' zaxis='0 0 0'/>"), "<geom>: zaxis: found only 0" },
        { WORLD("<geom size='1' zaxis='1 0 0' euler='1 2 3'/>"), "<geom>: found 2 of quat, axisangle, euler" },
        { WORLD("<body name='a'><geom size='1'/></body>\n<body name='a'><geom size='1'/></body>"),
          "r.xml:2: <body>: found a second body \"a\"" },
        { BODY("<joint range='2 1'/>"), "<joint>: range: found 2 1" },
        { BODY("<joint axis='0 0 0'/>"), "<joint>: axis: found 0 0 0" },
        { BODY("<joint damping='-1'/>"), "<joint>: found a negative damping" },
        { WORLD("<geom size='1' mesh='m'/>"), "<geom>: mesh: found \"m\"" },
        { MJ("<option><flag contact='disable'/></option>"), "<flag>: contact: found \"disable\"" },
        { BODY("<inertial pos='0 0 0'/>"), "<inertial>: found no attribute mass" },
        { BODY("<body><freejoint/><geom size='1'/></body>"), "<freejoint>: found a free joint below another body" },
        { BODY("<plugin/>"), "<plugin>: found this element of <body>" },
        { WORLD("<body mocap='true'/>"), "<body>: mocap: found \"true\"" },
        { MJ("<worldbody><body name='a'><joint name='j'/><geom size='1'/></body></worldbody><actuator><motor "
             "joint='j'/><general joint='j'/></actuator>"),
          "<general>: found this actuator, expected a position servo" },
        { MJ("<worldbody><body name='a'><joint name='j'/><geom size='1'/></body></worldbody><actuator><position "
             "joint='k'/></actuator>"),
          "<position>: joint: found k" },
        { MJ("<worldbody><body name='a'><joint name='j'/><geom size='1'/></body></worldbody><actuator><position "
             "joint='j' gear='2'/></actuator>"),
          "<position>: gear" },
        { MJ("<worldbody><body name='a'><joint name='j' stiffness='1'/><geom "
             "size='1'/></body></worldbody><actuator><position joint='j'/></actuator>"),
          "<position>: found a second spring" },
        { MJ("<worldbody><body name='a'><joint/><geom size='1'/></body></worldbody><contact><pair "
             "geom1='a'/></contact>"),
          "<pair>: found this element, expected exclude" },
        { MJ("<worldbody><body name='a'><joint/><geom size='1'/></body></worldbody><contact><exclude body1='a' "
             "body2='b'/></contact>"),
          "<exclude>: body2: found b" },
        { MJ("<worldbody><body name='a'><joint/><geom size='1'/></body></worldbody><equality><tendon/></equality>"),
          "<tendon>: found this element, expected connect or weld" },
        { MJ("<worldbody><body name='a'><joint/><geom size='1'/></body></worldbody><equality><connect "
             "body1='a'/></equality>"),
          "<connect>: found no anchor" }
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) ENSURE(refused(cases[i].text, cases[i].part));
}

/* A loop is closed by a joint of two bodies, or of one and the world. */
static void test_loops(void)
{
    scene s;
    ENSURE(begin(
        &s, MJ("<worldbody><body name='a' pos='0 0 1'><joint/><geom name='a' size='0.1'/></body><body name='b' "
               "pos='1 0 1'><joint/><geom name='b' size='0.1'/></body>"
               "</worldbody><equality><connect body1='a' body2='b' anchor='0.5 0 0'/><weld body1='b'/></equality>")));
    ENSURE(s.joint_count == 4 && s.joint[2].def.kind == EMBIPC_BALL && s.joint[2].a == 0 && s.joint[2].b == 1
           && near_to(s.joint[2].def.point, 0.5, 0, 1));
    ENSURE(s.joint_count == 4 && s.joint[3].def.kind == EMBIPC_WELD && s.joint[3].a == -1 && s.joint[3].b == 1);
    scene_free(&s);
}

/* Sensors without shapes, one on the other, give their masses to the arm that they are fixed to. What stands on a link without
 * a mass, or is fixed to the world, gives nothing. */
static void test_masses_without_shapes(void)
{
#define MASS(VALUE, X) "<inertial><origin xyz='" X " 0 0'/><mass value='" VALUE "'/><inertia ixx='.01' iyy='.01' izz='.01' ixy='0' ixz='0' iyz='0'/></inertial>"
#define FIX(NAME, A, B, X) "<joint name='" NAME "' type='fixed'><parent link='" A "'/><child link='" B "'/><origin xyz='" X " 0 0'/></joint>"
    scene s;
    ENSURE(begin(&s, "<robot name='r'><link name='base'>" BOX "</link><link name='stand'>" MASS("7", "0") "</link>"
                     "<link name='arm'>" MASS("2", "1") BOX "<collision><origin xyz='3 0 0'/><geometry><box size='1 1 1'/></geometry></collision></link>"
                     "<link name='flange'>" MASS("1.5", "0") "</link><link name='sensor'>" MASS("0.5", "0") "</link>"
                     FIX("f0", "base", "stand", "0") FIX("f1", "arm", "flange", "2") FIX("f2", "flange", "sensor", "0")
                     "<joint name='j' type='continuous'><parent link='base'/><child link='arm'/></joint></robot>"));
    ENSURE(s.body_count == 3 && !strstr(noted.data, "left out"));
    if (s.body_count == 3) {   /* centre of 2 kg at x = 1 and 2 kg at x = 2, on shapes at 0 and 3 of 1 m^3 */
        double a = s.body[1].def.material.density, b = s.body[2].def.material.density;
        ENSURE_CLOSE(a + b, 4, 1e-9);
        ENSURE_CLOSE(3 * b / (a + b), 1.5, 1e-3);
    }
    scene_free(&s);
}

/* A parallelogram is closed where the file has it. A pose turns all its bars, or is refused; so is a limit that opens it. */
static void test_loops_in_a_pose(void)
{
#define BARS(RANGE, KIND) \
    MJ("<worldbody><body name='crank'><joint name='j1' axis='0 1 0' " RANGE "/><geom size='.01'/><body name='coupler' pos='0 0 .5'>" \
       "<joint name='j2' axis='0 1 0'/><geom size='.01' pos='.5 0 0'/></body></body><body name='rocker' pos='1 0 0'>" \
       "<joint name='j3' axis='0 1 0'/><geom size='.01'/></body></worldbody><equality>" KIND "</equality>")
#define CONNECT "<connect body1='coupler' body2='rocker' anchor='1 0 0'/>"
    static const struct { const char *text, *pose; int ok; } p[] = {
        { BARS("", CONNECT), NULL, 1 },
        { BARS("", CONNECT), "j1=30,j2=-30,j3=30", 1 },
        { BARS("", CONNECT), "j1=30,j2=-30,j3=30.005", 1 },
        { BARS("", CONNECT), "j1=30", 0 },
        { BARS("", CONNECT), "j1=30,j2=-30,j3=31", 0 },
        { BARS("range='20 40'", CONNECT), NULL, 0 },
        { BARS("", "<weld body1='crank' body2='rocker'/>"), NULL, 1 },
        { BARS("", "<weld body1='crank' body2='rocker'/>"), "j1=30,j2=-30,j3=30", 0 },
        { BARS("", "<weld body1='coupler'/>"), "j1=30,j2=-30", 0 },
    };
    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        import_options o = options("m.xml");
        scene s;
        tool_error e;
        int ok;
        o.pose = p[i].pose;
        ok = import_as(&s, &o, p[i].text, &e);
        ENSURE(ok == p[i].ok && (ok || strstr(e.text, "found this connection open")));
        if (ok && i == 1) ENSURE(near_to(s.joint[3].def.point, 1.25, 0, sqrt(3) / 4));
        scene_free(&s);
    }
}

/* A ball that a file limits turns by so much about any axis: tilt and twist have that limit. A range of 0 0 is none. */
static void test_limits_of_kinds(void)
{
    scene s;
    ENSURE(begin(&s, MJ("<default><joint range='-30 30'/></default><worldbody><body name='a'><joint type='ball' range='0 40'/><geom "
                        "size='.1'/></body><body name='b' pos='1 0 0'><joint range='0 0'/><geom size='.1'/></body><body name='c' "
                        "pos='2 0 0'><joint/><geom size='.1'/></body></worldbody>")));
    ENSURE(s.joint_count == 3);
    if (s.joint_count == 3) {
        ENSURE(s.joint[0].def.limited && !s.joint[1].def.limited && s.joint[2].def.limited);
        ENSURE_CLOSE(s.joint[0].def.limits[1], 40 / IMPORT_DEGREE, 1e-12);
        ENSURE_CLOSE(s.joint[0].def.twist, 40 / IMPORT_DEGREE, 1e-12);
    }
    scene_free(&s);
}

/* More links than there may be, deep, and shapes of one name: an error or a scene, soon. */
static void test_large(void)
{
    tool_text t = { NULL, 0, 0 };
    import_options o = options("r.xml");
    scene s;
    tool_error e;
    tool_put(&t, "<robot name='r'><link name='l0'>" BOX "</link>");
    for (int i = 1; i < 1100; i++)
        tool_put(&t,
                 "<link name='l%d'>" BOX
                 "</link><joint name='j%d' type='fixed'><parent link='l%d'/><child link='l%d'/></joint>",
                 i, i, i - 1, i);
    tool_put(&t, "</robot>");
    ENSURE(!import_as(&s, &o, t.data, &e) && strstr(e.text, "found more than 1000 links"));
    scene_free(&s);
    t.length = 0;
    tool_put(&t, "<mujoco><worldbody><body name='a'><freejoint/>");
    for (int i = 0; i < 300; i++) tool_put(&t, "<geom name='g' size='0.1' pos='%d 0 0'/>", i);
    tool_put(&t, "</body></worldbody></mujoco>");
    ENSURE(import_as(&s, &o, t.data, &e) && s.body_count == 300 && strcmp(s.body[299].name, "g 300") == 0);
    scene_free(&s);
    tool_text_free(&t);
}

/* Damaged files are refused with the file's name, or become scenes that can be read. */
static void test_mutations(void)
{
    import_options o = options("r.xml");
    int accepted = 0;
    for (int k = 0; k < 6000; k += TEST_SKIP) {
        const char *from = k % 2 ? mjcf_arm : urdf_arm;
        size_t size;
        char *text = mutate(from, strlen(from), &size);
        tool_text t = { NULL, 0, 0 }, notes = { NULL, 0, 0 };
        tool_error e;
        e.text[0] = 0;
        if (import_text(&o, text, size, &t, &notes, &e)) {
            scene s;
            int ok = scene_parse(&s, "x.json", t.data, (size_t)t.length, &e);
            if (!ok) printf("  %s\n%s\n", e.text, text);
            ENSURE(ok);
            accepted++;
            scene_free(&s);
        } else ENSURE(strncmp(e.text, "r.xml:", 6) == 0);
        tool_text_free(&t);
        tool_text_free(&notes);
        free(text);
    }
    ENSURE(accepted > 10);
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    RUN(rotations);
    RUN(same_robot);
    RUN(poses);
    RUN(masses);
    RUN(shapes_with_masses);
    RUN(seen_masses);
    RUN(centre);
    RUN(integrals);
    RUN(pairs);
    RUN(pairs_of_shapes);
    RUN(outer_defaults);
    RUN(options);
    RUN(pose);
    RUN(dynamics);
    RUN(servo);
    RUN(orientations);
    RUN(frames);
    RUN(unread);
    RUN(meshes);
    RUN(allegro);
    RUN(urdf_refusals);
    RUN(mjcf_refusals);
    RUN(loops);
    RUN(masses_without_shapes);
    RUN(loops_in_a_pose);
    RUN(limits_of_kinds);
    RUN(large);
    RUN(mutations);
    tool_text_free(&noted);
    return test_end(__FILE__);
}
