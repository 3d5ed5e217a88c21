/* The module calls of a pass, as far as its Python stacks tell them apart. A call is identified by
 * the line of the enclosing module that made it, and by its number among the calls of that line.
 *
 * A call ends where another line runs, where its line calls another function, or where an iteration
 * of a loop begins. Calls that allocate nothing leave no trace. Two successive calls from one line
 * that allocate at a single line are taken for one call.
 *
 * If a pass runs the model several times, the calls of each run are numbered from 0. A run ends
 * where the program allocates outside of the model, or where another line calls the model. Calls
 * that compute no gradients are not counted. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_CALLS_H
#define MEMSNAP_ANALYSIS_CHAIN_CALLS_H

#include "analysis/chain/tree.h"

/* A call comes after the call that encloses it. The calls in one call are consecutive. */
struct module_call {
    uint32_t first_run, end_run;
    uint32_t first_child, end_child;
    uint32_t around;        /* the enclosing call, or CALL_NONE */
    uint32_t same_line;     /* the previous call from this line, or CALL_NONE */
    uint32_t number, total; /* position and count among the calls of this line in `around` */
    uint32_t model_run;     /* index of the run of the model that it is in */
    uint16_t frame;         /* index of the calling frame in the path */
    uint16_t line; /* index of the frame whose line it is counted for: that frame, or if it is
                    * in a container such as torch.nn.Sequential, the container's caller */
};

/* A run of the model that keeps memory for the backward pass. A pass has several if the program
 * calls the model several times, such as for both images of a pair. */
struct model_run {
    uint32_t first_run, end_run;
};

struct module_calls {
    struct module_call *items;
    size_t count, capacity;
    struct model_run *model_runs; /* empty if there is only one run */
    size_t model_run_count, model_run_capacity;
    uint8_t *runs_without; /* by run of allocations: 1 if it is in a call that computes no
                            * gradients, as under torch.no_grad(); such calls are left out */
    size_t runs_without_capacity;
    uint32_t outermost;    /* number of calls without an enclosing call; these come first */
    bool in_loop;          /* the caller of the outermost forward calls it in a loop */
    struct budget *budget; /* not owned */
};

bool module_calls_find(struct module_calls *calls, const struct call_tree *tree, struct error *err);
void module_calls_release(struct module_calls *calls);

/* Finds the outermost calls that lie within the runs [first_run, end_run). They are siblings:
 * items[*first..*end-1]. */
void module_calls_within(const struct module_calls *calls, uint32_t first_run, uint32_t end_run,
                         uint32_t *first, uint32_t *end);

#endif
