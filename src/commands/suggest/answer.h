/* Answers and prints the question that `memsnap suggest` was asked. */
#ifndef MEMSNAP_COMMANDS_SUGGEST_ANSWER_H
#define MEMSNAP_COMMANDS_SUGGEST_ANSWER_H

#include <time.h>

#include "base/buffer.h"
#include "commands/suggest/options.h"
#include "commands/suggest/snapshot.h"
#include "model/layer_trace.h"
#include "render/suggest/suggest.h"

/* One trace and the question about it. */
struct suggest_run {
    const struct suggest_options *options;
    const struct buffer *times_text; /* of --times */
    const struct layer_trace *trace;
    const struct problem *problem;
    const struct suggest_snapshot *snapshot; /* NULL for a layer trace */
    struct budget *budget;                   /* of the file */
    struct page page;
    bool fits; /* every budget has a plan */

    /* --verbose: when reading began, the file was read, and the chain was made (CLOCK_MONOTONIC) */
    struct timespec begun, read, modelled;
};

/* Applies --times, if given, to a problem. */
bool suggest_set_times(const struct suggest_run *run, struct problem *problem, struct error *err);

/* Prints to run->page; may change run->fits. */
bool suggest_answer(struct suggest_run *run, struct error *err);

#endif
