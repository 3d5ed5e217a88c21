/* Results of layers that a program holds until its forward pass is over, or longer, although no
 * backward pass needs them: attention weights for inspection, or copies in a list.
 *
 * Such tensors are dropped together when the model returns, or when the next pass sets the variable
 * that holds them. So a line of code counts if at least three tensors that it made are freed with
 * no allocation in between, after the moment and before the pass after the next one. Skip
 * connections, which layers read, are freed one by one. What a pass that runs out of memory has
 * saved is freed together as well, and does not count. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_LAYER_RESULTS_H
#define MEMSNAP_ANALYSIS_GROWTH_LAYER_RESULTS_H

#include "analysis/phase/phases.h"

struct layer_results {
    uint8_t *is_result; /* a flag for each lifetime */
    size_t capacity;
    struct budget *budget; /* not owned */
};

/* Finds those that are live at an item of the trace, if it lies in a forward pass (-1: none). */
bool layer_results_find(struct layer_results *results, const struct timeline *timeline,
                        const struct phases *phases, int64_t item, struct error *err);
void layer_results_release(struct layer_results *results);
/* The item before which such results of the forward pass `run` are freed: where the next phase with
 * a name begins, or `items`, the length of the trace. */
uint32_t layer_results_end(const struct phases *phases, uint32_t run, size_t items);

#endif
