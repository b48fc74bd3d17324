/* What a run comes to: speed, Newton iterations, distances, shortfalls, and who carries whom. */
#ifndef TOOL_REPORT_H
#define TOOL_REPORT_H
#include "scene.h"

/* Seconds at the end of a run over which forces are averaged. */
#define REPORT_WINDOW 0.2

/* Bodies whose forces are printed. */
#define REPORT_MOST 12

/* Steps in a row in which bodies stand still out of balance, and the run says no. */
#define REPORT_STUCK 10

/* Force of one body on another, summed over the steps of the window, N upward (against gravity). A partner with a
 * number beyond those of the bodies is a joint. */
typedef struct report_sum {
    int body, partner;
    double force, friction;
} report_sum;

typedef struct report {
    int steps, cut_short;
    int stuck, stuck_most;            /* steps in a row that left some bodies stuck: the last ones, and at most */
    double stuck_time;                /* when the longest such rest ended or was last seen, s */
    double simulated, wall;           /* s; wall time of the stepping alone */
    long newton;
    int newton_max;
    double min_distance;              /* m, over all steps */
    double tightest;                  /* smallest gap over its dhat, over all steps ... */
    embipc_body tight[2];             /* ... and whose */
    double short_max, short_time;     /* largest shortfall of a drive, m, and when, s */
    double gap_max, gap_time;         /* largest gap of a joint, m, when, s ... */
    int gap_joint;                    /* ... and of which */
    int intersections;                /* pairs found where they were looked for; -1: no memory for it */
    int window_steps;
    report_sum *sum;                  /* owned */
    int sum_count, sum_capacity;
} report;

void report_init(report *r);
void report_free(report *r);

/* Takes a step in; in_window: its forces count for the mean. */
void report_step(report *r, const scene *s, const embipc_step_stats *stats, double wall,
                 const embipc_pair_force *pair, int pair_count, int in_window);
/* The same for joints, after report_step(). */
void report_joints(report *r, const scene *s, const embipc_world *world, double time, int in_window);
/* Looks for intersections and keeps the count. */
void report_check(report *r, embipc_world *world);
/* Appends members of a JSON object: what the run came to, and bodies, drives, joints and forces of the last step. */
void report_record(const report *r, const scene *s, const embipc_world *world, const embipc_pair_force *pair,
                   int pair_count, tool_text *t);
/* Prints the table; with_forces: the force balance of each dynamic body without a drive, too. */
void report_print(const report *r, const scene *s, const embipc_world *world, int with_forces);
#endif
