/* What a run came to, for the report's table of all runs. */
#ifndef PAPER_SCENE_SUM_H
#define PAPER_SCENE_SUM_H

typedef struct paper_scene {
    char section[32], name[64], title[160];
    int bodies, unknowns, triangles, steps, cut, most, frames, viewer, picture, has_file;   /* frames: looked at by exact arithmetic */
    long solves, boxes, exact, crossings;
    double simulated, cpu, look, smallest, tightest, drive_short;   /* cpu, look: processor time in steps and in looks, s */
    double joint_gap;                                               /* largest of any joint in any step, m */
} paper_scene;
#endif
