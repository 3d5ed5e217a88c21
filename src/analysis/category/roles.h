/* The roles of blocks that stay for the whole trace, found for all sizes together.
 *
 * Weights, gradients that stay, optimizer states, and copies such as those of an averaged model are
 * copies of one list of sizes: with n gradients of a size there are n weights, R * n states, and
 * whatever remains is further models. R is a number for the whole model: the optimizer's annotation
 * limits it (Adam keeps two states, SGD one at most), the sizes that most bytes belong to settle
 * it, and it is 0 if the optimizer steps of the trace made the states themselves. Masters in a
 * wider type, and their states, are the same list with every size doubled.
 * Weights that each step makes anew of masters count as if they stayed.
 *
 * Two sums check the result. Where a framework stores weights in one flat block, its states have
 * other sizes, but R times its bytes in all; blocks without a gradient that add up to what is
 * missing are states. Where a block is as large as all gradients of a backward pass, or twice that,
 * the framework keeps gradients in one flat block as well, and roles_flat.c shares such blocks out.
 * Where the sizes of gradients pair up as x and 2x, the larger are copies of
 * the gradients that the masters need.
 *
 * Blocks without a gradient look like buffers of the model, or like a frozen model. A few that are
 * larger than all weights look like data: a data set on the device, or a replay buffer. */
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
    bool stay;         /* gradients are never freed, but added to */
    bool kept;         /* the end of the program does not free the model */
    bool data;         /* blocks without a gradient look like data */
    bool few;          /* so few blocks stay that they are no model, if nothing else tells */
    bool flat_buffers; /* flat buffers hold weights, gradients or states */
};

/* The optimizers that annotations name. */
struct optimizers {
    uint32_t most_states;  /* per parameter, of those of torch.optim; 0 if there are none */
    uint32_t fixed_states; /* the same if it is that for each of them, whatever its options; or 0 */
    bool any_other;        /* a class that is not in torch.optim */
    bool use_others;       /* gradients are gone when they step: others are there for them */
    bool in_passes;        /* steps lie in what looks like backward passes: no gradients stay */
    bool may_be_unnamed;   /* stacks show the phases, so an optimizer may lack an annotation; where
                              lifetimes do, gradients are too uncertain to tell one by sizes */
};

/* optimizer_states.c */
bool roles_find_optimizers(const struct timeline *timeline, struct optimizers *optimizers,
                           struct error *err);

/* Fills tally->expected of every size.
 * `replaced`: parameters that were made, and freed before the first step.
 * `begins_late`: blocks of unknown role from before the trace stay. */
bool roles_solve(struct roles *roles, struct size_tallies *tallies,
                 const struct optimizers *optimizers, const struct size_sum *replaced,
                 bool begins_late, struct error *err);

#endif
