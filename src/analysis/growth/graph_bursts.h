/* Tensors that one line of Python frees at once, where no C++ frame shows why: probably those of a
 * graph that autograd drops.
 *
 * A variable holds one tensor, a graph those of many lines. So a burst counts if many tensors that
 * different stacks allocated are freed by one stack, with no allocation in between, and if they are
 * a large part of what was allocated in their time: without autograd, a model keeps only results.
 */
#ifndef MEMSNAP_ANALYSIS_GROWTH_GRAPH_BURSTS_H
#define MEMSNAP_ANALYSIS_GROWTH_GRAPH_BURSTS_H

#include "analysis/category/category.h"
#include "analysis/phase/phases.h"

/* A tensor, and the item that frees it. */
struct burst_end {
    uint32_t item, index; /* index: of the lifetime */
};

struct graph_bursts {
    const struct timeline *timeline;
    const struct phases *phases;
    struct burst_end *ends;
    size_t count, capacity;
    bool any_share; /* set by the caller: a burst may be a small part of what was allocated in its
                       time */
    int64_t
        *balance; /* by run: number of blocks made in it that outlive it, less twice the others */
    size_t balance_capacity;
    struct budget *budget; /* not owned */
};

bool graph_bursts_open(struct graph_bursts *bursts, const struct timeline *timeline,
                       const struct phases *phases, struct error *err);
/* Adds a tensor that a forward pass made. Only one that a line of Python frees, outside of backward
 * passes, belongs to a burst; `sites` tells. */
bool graph_bursts_add(struct graph_bursts *bursts, struct site_table *sites, size_t index,
                      struct error *err);
/* Sets the flags, one for each lifetime, of the tensors of bursts that count. Returns whether there
 * are any. */
bool graph_bursts_flag(struct graph_bursts *bursts, uint8_t *flags);
void graph_bursts_close(struct graph_bursts *bursts);

/* The forward run in which a lifetime was made, or after which the code that made it ran; NO_RUN if
 * there is none. */
uint32_t graph_pass_of(const struct phases *phases, size_t index);

#endif
