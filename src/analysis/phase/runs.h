/* Phases as runs of consecutive items. */
#ifndef MEMSNAP_ANALYSIS_PHASE_RUNS_H
#define MEMSNAP_ANALYSIS_PHASE_RUNS_H

#include "model/timeline.h"

/* Values above PHASE_DATA are the phases of a training step. */
enum phase {
    PHASE_UNKNOWN, /* no evidence at all */
    PHASE_OTHER,   /* other code */
    PHASE_DATA,    /* a DataLoader returns the next batch */
    PHASE_FORWARD,
    PHASE_BACKWARD,
    PHASE_OPTIMIZER,
    PHASE_COUNT,
};

enum phase_evidence { PHASE_BY_STACK, PHASE_BY_ANNOTATION, PHASE_BY_LIFETIMES, PHASE_GUESSED };

/* "forward", "optimizer_step", "data_loading", "other", "unknown" */
const char *phase_name(enum phase phase);

/* Consecutive items in one phase. */
struct phase_run {
    uint32_t first;       /* item */
    uint16_t phase;       /* enum phase */
    uint8_t evidence;     /* enum phase_evidence */
    bool is_saved;        /* a backward pass of its step frees what it made */
    bool is_recorded;     /* a backward pass that a later one goes through again (recorded.h) */
    bool keeps_graph;     /* a backward pass that leaves what the forward pass saved (recorded.h) */
    bool joins_next;      /* the iteration goes on with the next forward run (call_groups.h) */
    uint32_t pass;        /* number of backward passes before it that a forward pass has followed */
    uint32_t updates;     /* number of optimizer runs before it, except those only lifetimes show */
    uint64_t input_bytes; /* other code, or data loading: what it copies to the device, or makes
                             there from nothing, and what outlives it (rollouts.h) */
};

/* Other Python code of at most this many events inside the backward pass or the optimizer step (a
 * hook, another thread) does not end them, unless it allocates for the main program, which waits
 * for the backward pass. */
#define FLICKER_EVENTS 8

#define NO_RUN UINT32_MAX

/* The runs of the items that allocate and that free a lifetime; NO_RUN if none frees it. */
struct lifetime_runs {
    uint32_t birth, end;
};

struct phases {
    struct phase_run *runs;            /* in order; the first begins at item 0 */
    size_t count;                      /* 0 for an empty trace */
    uint32_t *guide;                   /* the run of every PHASE_STRIDE-th item */
    struct lifetime_runs *of_lifetime; /* by lifetime of the timeline, once all runs are known */
    uint32_t *outliving; /* the lifetimes that do not end in the run in which they begin, in order:
                            most end there, so that a walk over these is short */
    size_t outliving_count;
    bool any_step;    /* some run is forward, backward or optimizer */
    bool has_stacks;  /* some allocation has a stack */
    uint32_t samples; /* without stacks: of a batch, each with gradients of its own; or 0 */
    bool are_renewed; /* without stacks: no weight stays, each step makes them anew */
    size_t runs_capacity, guide_capacity, lifetime_capacity, outliving_capacity;
    struct budget *budget; /* not owned */
};

#define PHASE_STRIDE 64

void phases_release(struct phases *phases);

/* Appends a run that begins at `item`, or extends the last one. */
bool phases_append(struct phases *phases, uint32_t item, enum phase phase,
                   enum phase_evidence evidence, struct error *err);
/* The item after a run; `items` is the length of the trace. */
static inline uint32_t phases_run_end(const struct phases *phases, size_t run, size_t items)
{
    return run + 1 < phases->count ? phases->runs[run + 1].first : (uint32_t)items;
}

/* True if both runs belong to one backward pass. Optimizers that run in its hooks may
 * interrupt it. */
static inline bool phases_same_backward(const struct phases *phases, uint32_t a, uint32_t b)
{
    return a < phases->count && b < phases->count && phases->runs[a].phase == PHASE_BACKWARD &&
           phases->runs[b].phase == PHASE_BACKWARD && phases->runs[a].pass == phases->runs[b].pass;
}

static inline bool phases_have(const struct phases *phases, enum phase phase)
{
    for (size_t i = 0; i < phases->count; i++)
        if (phases->runs[i].phase == phase)
            return true;
    return false;
}

/* The run that contains an item; NO_RUN for EVENT_NEVER. */
static inline uint32_t phases_run_of(const struct phases *phases, uint32_t item)
{
    if (item == EVENT_NEVER || phases->count == 0)
        return NO_RUN;
    uint32_t run = phases->guide[item / PHASE_STRIDE];
    while (run + 1 < phases->count && phases->runs[run + 1].first <= item)
        run++;
    return run;
}

#endif
