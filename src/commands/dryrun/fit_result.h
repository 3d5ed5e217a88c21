/* The result of one run in a search for the largest value that fits. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_FIT_RESULT_H
#define MEMSNAP_COMMANDS_DRYRUN_FIT_RESULT_H

#include "commands/dryrun/child.h"
#include "commands/dryrun/fit_runs.h"

struct fit_slot {
    bool is_used;
    size_t gpu, index; /* what it tries */
    struct dryrun_child child;
};

/* Turns the files that an ended run left into `*run`, whose value is set, and keeps its snapshot if
 * the task has an output folder. False also if the program failed with the smallest value, or
 * cannot be run dry at all: task->tail is then the end of what it printed. */
bool fit_result(struct fit_task *task, struct fit_slot *slot, struct fit_run *run,
                struct error *err);

#endif
