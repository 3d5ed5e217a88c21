/* Finds the roles of blocks that stay for the whole trace, for all sizes together.
 *
 * Weights, gradients that stay, optimizer states and copies, such as those of an averaged model,
 * all have the same list of sizes. For n gradients of a size there are n weights and R * n states;
 * whatever remains is further models. R is one number for the whole model. The optimizer's
 * annotation limits it (Adam keeps two states, SGD at most one), and the sizes that hold most bytes
 * decide it. It is 0 if the optimizer steps of the trace made the states themselves. Masters in a
 * wider type and their states have the same list with every size doubled.
 * Weights that each step makes anew from masters count as if they stayed.
 *
 * Sums are compared where sizes alone do not tell:
 *   - If a framework stores weights in one flat block, the states have other sizes but R times its
 *     bytes in all. Blocks without a gradient that add up to the missing bytes are states.
 *   - If a block is as large as all gradients of a backward pass, or twice that, the framework
 *     keeps gradients in one flat block too. roles_flat.c decides the roles of such blocks.
 *   - If a few blocks without a gradient are as large as all gradients together, they are the
 *     buckets in which ranks exchange gradients.
 *   - If the sizes of gradients pair up as x and 2x, the larger ones are copies of the gradients
 *     that the masters need.
 *
 * Blocks without a gradient look like buffers of the model or like a frozen model. A few blocks
 * that are larger than all weights look like data: a data set on the device, or a replay buffer. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_ROLES_H
#define MEMSNAP_ANALYSIS_CATEGORY_ROLES_H

#include "analysis/category/size_tally.h"
#include "model/timeline.h"

struct size_sum {
    double bytes;
    uint64_t count; /* of blocks */
};

struct roles {
    uint32_t states;   /* R */
    bool stay;         /* gradients stay: they are never freed, but added to */
    bool kept;         /* the model is not freed when the program ends */
    bool data;         /* blocks without a gradient look like data */
    bool few;          /* so few blocks stay that they are no model, unless something else tells */
    bool in_buckets;   /* gradients are views of buckets */
    bool flat_buffers; /* flat buffers hold weights, gradients or states */
};

/* The optimizers that annotations name. */
struct optimizers {
    uint32_t most_states;  /* the most that an optimizer of torch.optim keeps for a parameter, of
                              those named; 0 if none is */
    uint32_t fixed_states; /* most_states, if every named optimizer keeps that many whatever its
                              options; else 0 */
    bool any_other;        /* one is of a class outside of torch.optim */
    bool use_others;       /* gradients are freed before it steps, so it uses others */
    bool in_passes;        /* it steps in what looks like a backward pass, so no gradients stay */
    bool steps_alone;      /* each step uses one gradient, as in hooks on gradients */
    bool frees_gradients;  /* zero_grad() frees some, so none stay */
    bool may_be_unnamed;   /* Stacks show the phases, so an optimizer without annotations would be
                              noticed by sizes. If only lifetimes show the phases, gradients are too
                              uncertain for that. */
};

/* optimizer_states.c */
bool roles_find_optimizers(const struct timeline *timeline, struct optimizers *optimizers,
                           struct error *err);

/* Sets tally->expected of every size. `replaced`: parameters that were made and freed before the
 * first step. `begins_late`: blocks of unknown role from before the trace stay. */
bool roles_solve(struct roles *roles, struct size_tallies *tallies,
                 const struct optimizers *optimizers, const struct size_sum *replaced,
                 bool begins_late, struct error *err);

#endif
