/* The calls of modules in a pass, as its Python stacks tell them apart: which line of the module
 * around it made each, and which of the calls of that line it was. Those of each run of the model
 * are numbered from 0; two runs show by what the program allocates in between, or by their lines.
 *
 * A call of a line ends where another line runs, where the line calls another function, and where
 * an iteration of a loop begins. Calls that allocate nothing are not seen. Two calls of a line in a
 * row that allocate at one line only are taken for one. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_CALLS_H
#define MEMSNAP_ANALYSIS_CHAIN_CALLS_H

#include "analysis/chain/tree.h"

#define CALL_NONE UINT32_MAX

/* Calls come behind those around them; those in one are consecutive. */
struct module_call {
    uint32_t first_run, end_run;
    uint32_t first_child, end_child;
    uint32_t around;        /* the call that it is in, or CALL_NONE */
    uint32_t same_line;     /* the call before it from that line, or CALL_NONE */
    uint32_t number, total; /* among the calls of that line in `around` */
    uint32_t model_run;     /* in which run of the model it is */
    uint16_t frame;         /* of the path, which calls it */
    uint16_t line;          /* the frame of the line it counts for: outside of containers */
};

/* A run of the model: it keeps something. A pass may have several, as of both images of a pair. */
struct model_run {
    uint32_t first_run, end_run;
};

struct module_calls {
    struct module_call *items;
    size_t count, capacity;
    struct model_run *model_runs; /* none if there is only one */
    size_t model_run_count, model_run_capacity;
    uint32_t outermost;    /* calls that are in no other: the first ones */
    bool in_loop;          /* the caller of the outermost forward calls it anew in a loop */
    struct budget *budget; /* not owned */
};

bool module_calls_find(struct module_calls *calls, const struct call_tree *tree, struct error *err);
void module_calls_release(struct module_calls *calls);

/* Finds the calls first..end-1, siblings, that lie in the runs [first_run, end_run): the outermost
 * ones in there. */
void module_calls_within(const struct module_calls *calls, uint32_t first_run, uint32_t end_run,
                         uint32_t *first, uint32_t *end);

#endif
