/* Gradients that zero_grad() frees before the optimizer of their parameters uses them.
 *
 * In adversarial training, the critic's loss makes such gradients for the generator if the
 * generator's result was not detached. They show in the first step: an optimizer makes its state
 * when it steps for the first time, and the gradients are freed before. Sizes tell the optimizers
 * apart: gradients that one call of zero_grad() frees are as many and as large as the parameters
 * for which one optimizer keeps states. Needs stacks, and optimizers that keep states. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_DISCARDED_GRADIENTS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_DISCARDED_GRADIENTS_H

#include "analysis/category/category.h"

struct discarded_gradients {
    uint64_t count;
    int64_t bytes;
};

/* Sets `is_discarded` of each lifetime that holds one; the flags of others stay. */
bool discarded_gradients_find(struct discarded_gradients *discarded, uint8_t *is_discarded,
                              const struct timeline *timeline, struct site_table *sites,
                              const struct phases *phases, const struct categories *categories,
                              struct error *err);

#endif
