/* `memsnap suggest`: what is asked of a problem, answered and printed. */
#ifndef MEMSNAP_COMMANDS_SUGGEST_ANSWER_H
#define MEMSNAP_COMMANDS_SUGGEST_ANSWER_H

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
    const struct suggest_snapshot *snapshot; /* NULL: it is a layer trace's */
    struct budget *budget;                   /* the file's */
    struct page page;
    bool fits; /* every budget has a plan */
};

/* Gives a problem the times of --times, if there are any. */
bool suggest_set_times(const struct suggest_run *run, struct problem *problem, struct error *err);

/* To run->page; may change run->fits. */
bool suggest_answer(struct suggest_run *run, struct error *err);

#endif
