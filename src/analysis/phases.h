/* The phases of a training step, read off a trace: which stretch of events was
 * forward, backward, optimizer step, or other Python code.
 *
 * Evidence, strongest first: the stack of the event (of an alloc, and of a free
 * where frees carry stacks); the phase of the event before it (allocations on
 * autograd's threads may have no stack, so a stretch without evidence belongs to
 * what came before); and where that is no step's phase either, an Optimizer.step
 * annotation open at its time. */
#ifndef MEMSNAP_ANALYSIS_PHASES_H
#define MEMSNAP_ANALYSIS_PHASES_H

#include "analysis/site.h"
#include "model/timeline.h"

/* Those above PHASE_DATA are a training step's own. */
enum phase {
    PHASE_UNKNOWN, /* no evidence at all */
    PHASE_OTHER,   /* other code */
    PHASE_DATA,    /* a DataLoader hands out the next batch */
    PHASE_FORWARD,
    PHASE_BACKWARD,
    PHASE_OPTIMIZER,
};

/* "forward", "optimizer_step", "data_loading", "other", "unknown" */
const char *phase_name(enum phase phase);

/* Consecutive items in one phase. */
struct phase_run {
    uint32_t first; /* item */
    uint32_t phase; /* enum phase */
};

#define NO_RUN UINT32_MAX

struct phases {
    struct phase_run *runs; /* in order; the first begins at item 0 */
    size_t count;           /* 0 for an empty trace */
    uint32_t *guide;        /* the run of every PHASE_STRIDE-th item */
    bool any_step;          /* some run is forward, backward or optimizer */
    size_t runs_capacity, guide_capacity;
    struct budget *budget; /* not owned */
};

#define PHASE_STRIDE 64

bool phases_build(struct phases *phases, const struct timeline *timeline, struct site_table *sites,
                  struct error *err);
void phases_release(struct phases *phases);

/* The run that holds an item; NO_RUN for EVENT_NEVER. */
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
