/* Robots for the tests of `embipc import`. */
#ifndef IMPORT_SEEDS_H
#define IMPORT_SEEDS_H

/* The same arm twice: a hinge, a slider, a link of two shapes, and a tool that is fixed to the last link. */
static const char urdf_arm[] =
    "<robot name='arm'>\n<link name='base'><collision><origin xyz='0 0 0.5'/><geometry><box size='0.1 0.1 "
    "0.1'/></geometry></collision></link>\n"
    "<joint name='j1' type='revolute'><parent link='base'/><child link='upper'/><origin xyz='0 0.1 0.5' rpy='0.3 "
    "-0.2 0.7'/><axis xyz='0 0.6 0.8'/>\n"
    "<limit lower='-0.5' upper='1' effort='7' velocity='1'/><dynamics damping='0.2' friction='0.05'/></joint>\n"
    "<link name='upper'><inertial><origin xyz='0.1 0 0' rpy='0.1 0.2 0.3'/><mass value='1.5'/>"
    "<inertia ixx='0.01' ixy='0.001' ixz='0' iyy='0.02' iyz='0' izz='0.015'/></inertial>\n"
    "<collision name='bar'><origin xyz='0.12 0 0' rpy='0 1.5707963267948966 0'/><geometry><cylinder radius='0.02' "
    "length='0.2'/></geometry></collision>\n"
    "<collision name='knob'><origin xyz='0.25 0 0'/><geometry><sphere radius='0.03'/></geometry></collision></link>\n"
    "<joint name='j2' type='prismatic'><parent link='upper'/><child link='tip'/><origin xyz='0.32 0 0' rpy='0 0 "
    "0.4'/><axis xyz='1 0 0'/>\n"
    "<limit lower='0.01' upper='0.05' effort='1' velocity='1'/></joint>\n"
    "<link name='tip'><inertial><mass value='0.1'/><inertia ixx='1e-5' ixy='0' ixz='0' iyy='1e-5' iyz='0' "
    "izz='1e-5'/></inertial>\n"
    "<collision><geometry><box size='0.04 0.04 0.04'/></geometry></collision></link>\n"
    "<joint name='j3' type='fixed'><parent link='tip'/><child link='tool'/><origin xyz='0 0 0.06'/></joint>\n"
    "<link name='tool'><inertial><mass value='0.2'/><inertia ixx='1e-5' ixy='0' ixz='0' iyy='1e-5' iyz='0' "
    "izz='1e-5'/></inertial>\n"
    "<collision><geometry><capsule radius='0.01' length='0.05'/></geometry></collision></link>\n</robot>";

static const char mjcf_arm[] =
    "<mujoco model='arm'><compiler angle='radian' eulerseq='XYZ'/><default><joint damping='0'/><default "
    "class='firm'><joint damping='0.2'/>"
    "<default class='firmer'><joint frictionloss='0.05'/></default></default><default class='in'><geom "
    "friction='0.5'/></default></default>\n<worldbody>\n"
    "<body name='base'><geom name='base' class='in' type='box' size='0.05 0.05 0.05' pos='0 0 0.5'/>\n"
    "<body name='upper' childclass='in' pos='0 0.1 0.5' euler='0.3 -0.2 0.7'><joint name='j1' class='firmer' axis='0 "
    "0.6 0.8' range='-0.5 1'/>\n"
    "<inertial pos='0.1 0 0' euler='0.1 0.2 0.3' mass='1.5' fullinertia='0.01 0.02 0.015 0.001 0 0'/>\n"
    "<geom name='bar' type='cylinder' size='0.02' fromto='0.02 0 0 0.22 0 0'/><geom name='knob' type='sphere' "
    "size='0.03' pos='0.25 0 0'/>\n"
    "<geom type='mesh' mesh='none' contype='0' conaffinity='0'/>\n"
    "<body name='tip' pos='0.32 0 0' axisangle='0 0 1 0.4'><joint name='j2' type='slide' axis='1 0 0' range='0.01 "
    "0.05'/><inertial pos='0 0 0' mass='0.1' diaginertia='1e-5 1e-5 1e-5'/>\n"
    "<geom name='tip' type='box' size='0.02 0.02 0.02'/><site name='s'/>\n"
    "<body name='tool' pos='0 0 0.06'><inertial pos='0 0 0' mass='0.2' diaginertia='1e-5 1e-5 1e-5'/><geom "
    "name='tool' type='capsule' size='0.01 0.025'/></body>\n"
    "</body></body></body></worldbody></mujoco>";

/* Two fingers of the Allegro hand, with numbers of wonik_allegro/right_hand.xml of mujoco_menagerie, on its own
 * meshes. */
static const char allegro[] =
    "<mujoco model='hand'><compiler angle='radian' meshdir='scenes/allegro'/>\n"
    "<default><geom type='mesh' friction='0.8' density='800'/><joint axis='0 1 0' damping='0.1'/><position kp='1' "
    "forcerange='-0.7 0.7'/></default>\n"
    "<asset><mesh name='palm' file='base_link.obj'/><mesh file='link_0.0.obj' name='0'/><mesh file='link_1.0.obj' "
    "name='1'/><mesh file='link_2.0.obj' name='2'/>"
    "<mesh file='link_3.0.obj' name='3'/><mesh file='link_3.0_tip.obj' name='tip'/><mesh file='link_12.0_right.obj' "
    "name='12'/></asset>\n"
    "<worldbody><body name='palm' quat='0.707107 0 -0.707107 0'><geom mesh='palm'/>\n"
    "<body name='ff base' pos='0 0.0435 -0.001542' quat='0.999048 -0.0436194 0 0'><joint name='ffj0' axis='0 0 1' "
    "range='-0.47 0.47'/><geom mesh='0'/>\n"
    "<body name='ff proximal' pos='0 0 0.0164'><joint name='ffj1' range='-0.196 1.61'/><geom mesh='1'/>\n"
    "<body name='ff medial' pos='0 0 0.054'><joint name='ffj2' range='-0.174 1.709'/><geom mesh='2'/>\n"
    "<body name='ff distal' pos='0 0 0.0384'><joint name='ffj3' range='-0.227 1.618'/><geom mesh='3'/>\n"
    "<body name='ff tip' pos='0 0 0.0267'><geom mesh='tip'/></body></body></body></body></body>\n"
    "<body name='th base' pos='-0.0182 0.019333 -0.045987' quat='0.477714 -0.521334 -0.521334 -0.477714'><joint "
    "name='thj0' axis='-1 0 0' range='0.263 1.396'/><geom mesh='12'/></body>\n"
    "</body></worldbody>\n<actuator><position joint='ffj1'/><position joint='ffj2'/></actuator></mujoco>";
#endif
