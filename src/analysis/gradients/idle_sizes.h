/* Idle and renewed gradients by size, and the parameters for which optimizers keep states. Files of
 * this folder only: see idle_gradients.h. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_IDLE_SIZES_H
#define MEMSNAP_ANALYSIS_GRADIENTS_IDLE_SIZES_H

#include "analysis/gradients/idle_gradients.h"
#include "analysis/gradients/state_runs.h"

#define IDLE_LEAST_CYCLES 2 /* cycles through which an idle gradient lives */

/* Allocations of one size. A copy of a model's parameters has as many as the model. */
struct idle_size {
    uint64_t size;
    uint64_t idle, renewed; /* numbers of gradients */
    size_t from;            /* of idle gradients: the cycle that made them, or the last of these */
    size_t made;            /* the number of cycles that made them */
    uint64_t trained;       /* number of parameters for which an optimizer keeps states */
    uint64_t summed;        /* number that are made and freed again within the last backward pass */
};

struct idle_sizes {
    const struct timeline *timeline; /* these five are not owned */
    struct site_table *sites;
    const struct phases *phases;
    const struct categories *categories;
    const struct cycles *cycles; /* IDLE_LEAST_CYCLES or more */
    struct idle_gradients *idle; /* not owned: gets the flags of idle gradients */
    struct state_runs states;
    struct idle_size *items; /* ordered by size */
    size_t count, capacity;
    uint32_t stays;     /* what is live at this item was not freed by a step */
    uint32_t last_idle; /* the item that made the latest idle gradient; 0 if it existed before the
                           trace */
    struct budget *budget;
};

/* `sizes` names the timeline and the other inputs. Release it also after a failure. */
bool idle_sizes_find(struct idle_sizes *sizes, struct error *err);
void idle_sizes_release(struct idle_sizes *sizes);

/* Sums over all sizes, in bytes. */
struct idle_sums {
    uint64_t idle, renewed;
    uint64_t trained;   /* renewed gradients for which an optimizer keeps states */
    uint64_t untrained; /* idle gradients for which no optimizer keeps states */
    uint64_t summed;    /* idle gradients to which the last backward pass adds */
    /* Of idle and renewed: those that are large enough for states that tell (STATE_LEAST_SIZE). */
    uint64_t large_idle, large_renewed;
};

struct idle_sums idle_sizes_sum(const struct idle_sizes *sizes);

#endif
