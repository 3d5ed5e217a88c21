/* The runs of --fit: which values are tried on which GPU, and in parallel. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_FIT_RUNS_H
#define MEMSNAP_COMMANDS_DRYRUN_FIT_RUNS_H

#include "analysis/fit/values.h"
#include "commands/dryrun/options.h"
#include "commands/dryrun/tail.h"
#include "model/fit.h"

struct fit_task {
    const struct dryrun_options *options; /* with the GPUs, as in `fit` */
    char *const *arguments;
    const struct fit_values *values;
    const char *library; /* the stand-in for CUDA */
    struct fit *fit;     /* the results; its GPUs have no runs yet */
    struct tail tail;    /* output of the program that failed with the smallest value */
    int interrupt;       /* the signal that ended the runs; 0: none */
};

/* Tries values on each GPU until the largest that fits is known. False if the program fails with
 * the smallest value for another reason than memory, if it cannot be run, or after a signal. The
 * caller holds back signals (program_hold_signals). */
bool fit_runs(struct fit_task *task, struct error *err);

#endif
