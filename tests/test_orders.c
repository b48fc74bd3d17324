/* Calls in orders that are legal and rare: after a reset, with what a view points to, before the first step, while others
 * sleep. */
#include "../embipc.h"
#include "test.h"
#include "scene_test.h"

static scene orders_world(void)
{
    embipc_world_def d = embipc_default_world_def();
    return scene_empty(&d);
}

/* A soft ball that has touched the ground for some steps, a reset, and the ground is destroyed: the ball falls freely,
 * and all that was stored about both is gone or sound. */
static void test_reset_then_destroy(void)
{
    for (int steps = 1; steps < 12; steps++) {
        scene s = orders_world();
        embipc_body_def d = scene_def("ball", EMBIPC_CAGE, 0, 0, 0.053);
        embipc_body_state now;
        double v = -3;
        scene_ground(&s, 1, 0.5);
        d.material.young = 1e4;
        d.velocity[2] = v;
        d.cage_nodes = 60;
        scene_ball(&s, d, 0.05, 2, 0);
        for (int i = 0; i < steps && scene_step(&s); i++) { }
        ENSURE_OK(s.w, embipc_world_reset(s.w));
        ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[0]));
        for (int i = 0; i < 3; i++) {
            ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
            v -= 9.81 * 0.01;
        }
        ENSURE_OK(s.w, embipc_body_get_state(s.w, s.body[1], &now));
        ENSURE_CLOSE(now.velocity[2], v, 1e-9);
        ENSURE_CLOSE(now.centre[2], 0.053 + (3 * -3 - 6 * 0.0981) * 0.01, 1e-6);
        ENSURE(scene_sound(s.w));
        scene_end(&s);
    }
}

/* The name of a view names the body that replaces it, or another one. Making a body moves what views point to. */
static void test_name_of_a_view(void)
{
    scene s = orders_world();
    embipc_body_def d = scene_def("teddy", EMBIPC_AFFINE, 0, 0, 0.2);
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    embipc_body_view view;
    embipc_body next;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    test_mesh_shape(&m, &d);
    for (int k = 0; k < 20; k++) {
        ENSURE_OK(s.w, embipc_body_get_view(s.w, s.body[0], &view));
        d.kind = k % 2 ? EMBIPC_AFFINE : EMBIPC_CAGE;
        d.name = view.name;
        if (k < 3) {
            ENSURE_OK(s.w, embipc_body_replace(s.w, s.body[0], &d, &next));
            s.body[0] = next;
        } else {
            d.position[0] = 0.3 * k;
            ENSURE_OK(s.w, embipc_body_create(s.w, &d, &next));
        }
        ENSURE_OK(s.w, embipc_body_get_view(s.w, next, &view));
        ENSURE(!strcmp(view.name, "teddy"));
    }
    test_mesh_free(&m);
    scene_end(&s);
}

/* What no_contact names is checked where a body is replaced as where one is created, and the world stays as it was. */
static void test_replace_names_no_contact(void)
{
    scene s = orders_world();
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.2);
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    embipc_body next, dead;
    unsigned long long hash;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    d.position[0] = 1;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    dead = s.body[1];
    ENSURE_OK(s.w, embipc_body_destroy(s.w, dead));
    test_mesh_shape(&m, &d);
    hash = embipc_world_hash(s.w);
    d.no_contact_count = 3;
    ENSURE(embipc_body_replace(s.w, s.body[0], &d, &next) == EMBIPC_ERR_ARGUMENT);
    d.no_contact_count = 1;
    d.no_contact = &dead;
    ENSURE(embipc_body_replace(s.w, s.body[0], &d, &next) == EMBIPC_ERR_HANDLE);
    ENSURE(embipc_world_error(s.w)->body[0].index1 == s.body[0].index1 && next.index1 == 0);
    ENSURE(hash == embipc_world_hash(s.w));
    test_mesh_free(&m);
    scene_end(&s);
}

/* A world is saved and loaded while a ball joint with a limit of twist has not made a step yet, and goes on with the same
 * bits. */
static void test_twist_is_loaded_at_once(void)
{
    for (int k = 0; k < 4; k++) {
        scene s = orders_world();
        embipc_world_def wd = embipc_default_world_def();
        embipc_body_def d = scene_def("low", k % 2 ? EMBIPC_CAGE : EMBIPC_AFFINE, 0, 0, 1);
        embipc_joint_def j = embipc_default_joint_def();
        embipc_joint joint;
        embipc_world *other;
        embipc_error e;
        size_t size, used;
        void *bytes;
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        d.position[2] = 1.2;
        scene_box(&s, d, 0.1, 0.1, 0.1, 1);
        j.kind = EMBIPC_BALL;
        if (k > 1) j.a = s.body[0];
        j.b = s.body[1];
        j.point[2] = 1.1;
        j.axis[2] = 1;
        j.limited = 1;
        j.limits[1] = 0.5;
        j.twist = 0.3;
        ENSURE_OK(s.w, embipc_joint_create(s.w, &j, &joint));
        ENSURE_OK(s.w, embipc_world_save(s.w, NULL, 0, &size));
        bytes = malloc(size);
        ENSURE_OK(s.w, embipc_world_save(s.w, bytes, size, &used));
        if (ENSURE_OK(s.w, embipc_world_load(bytes, used, &wd, &other, &e))) {
            for (int i = 0; i < 5; i++) {
                ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
                ENSURE_OK(other, embipc_world_step(other, NULL));
            }
            ENSURE(embipc_world_hash(s.w) == embipc_world_hash(other));
            embipc_world_destroy(other);
        }
        free(bytes);
        scene_end(&s);
    }
}

/* Two boxes of 1 kg sleep on the ground. One is destroyed: from the next step on the ground bears the other one only. */
static void test_forces_of_the_destroyed(void)
{
    embipc_world_def wd = embipc_default_world_def();
    scene s;
    double force[24], sum = 0;
    embipc_pair_force row[2];
    wd.sleep_after = 0.1;
    s = scene_empty(&wd);
    scene_ground(&s, 1, 0.5);
    scene_box(&s, scene_def("stays", EMBIPC_AFFINE, 0, 0, 0.0501), 0.1, 0.1, 0.1, 1);
    scene_box(&s, scene_def("goes", EMBIPC_AFFINE, 0.3, 0, 0.0501), 0.1, 0.1, 0.1, 1);
    for (int i = 0; i < 100 && scene_step(&s); i++) { }
    ENSURE(!embipc_body_is_awake(s.w, s.body[1]) && !embipc_body_is_awake(s.w, s.body[2]));
    ENSURE_OK(s.w, embipc_body_destroy(s.w, s.body[2]));
    s.n--;
    ENSURE_OK(s.w, embipc_world_step(s.w, NULL));
    ENSURE(!embipc_body_is_awake(s.w, s.body[1]));
    ENSURE(embipc_world_pair_forces(s.w, row, 2) == 1);
    ENSURE_CLOSE(row[0].force[2], -9.81, 1e-3);
    ENSURE_OK(s.w, embipc_body_vertex_forces(s.w, s.body[0], force));
    for (int i = 0; i < 8; i++) sum += force[3 * i + 2];
    ENSURE_CLOSE(sum, row[0].force[2], 1e-9);
    scene_end(&s);
}

/* A body, drive or joint that is refused leaves no trace in what is saved. */
static void test_refused_leaves_no_trace(void)
{
    scene s = orders_world();
    embipc_body_def d = scene_def("box", EMBIPC_AFFINE, 0, 0, 0.2);
    embipc_joint_def j = embipc_default_joint_def();
    embipc_drive_def drive = embipc_default_drive_def();
    test_mesh m = test_mesh_box(-0.05, -0.05, -0.05, 0.05, 0.05, 0.05);
    unsigned long long hash;
    int vertices[1] = {0};
    embipc_body body;
    embipc_joint joint;
    embipc_drive handle;
    scene_box(&s, d, 0.1, 0.1, 0.1, 1);
    test_mesh_shape(&m, &d);
    hash = embipc_world_hash(s.w);
    ENSURE(embipc_body_create(s.w, &d, &body) == EMBIPC_ERR_INTERSECTION);
    ENSURE(embipc_world_hash(s.w) == hash);
    j.kind = EMBIPC_ATTACH;
    j.b = s.body[0];
    j.vertices = vertices;
    j.vertex_count = -3;
    ENSURE(embipc_joint_create(s.w, &j, &joint) == EMBIPC_ERR_ARGUMENT);
    drive.body = s.body[0];
    drive.key_count = -1;
    ENSURE(embipc_drive_create(s.w, &drive, &handle) == EMBIPC_ERR_ARGUMENT);
    ENSURE(embipc_world_hash(s.w) == hash);
    d.position[0] = 1;
    ENSURE_OK(s.w, embipc_body_create(s.w, &d, &body));
    ENSURE(body.index1 == 2 && body.generation == 1);
    test_mesh_free(&m);
    scene_end(&s);
}

int main(int argc, char **argv)
{
    test_begin(argc, argv);
    RUN(reset_then_destroy);
    RUN(name_of_a_view);
    RUN(replace_names_no_contact);
    RUN(twist_is_loaded_at_once);
    RUN(forces_of_the_destroyed);
    RUN(refused_leaves_no_trace);
    meshio_test_unused();
    test_unused();
    return test_end("test_orders");
}
