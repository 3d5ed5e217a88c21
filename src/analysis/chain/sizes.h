/* The sizes and times of a chain's elements, from the timeline. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_SIZES_H
#define MEMSNAP_ANALYSIS_CHAIN_SIZES_H

#include "analysis/chain/forward_chain.h"
#include "analysis/chain/tree.h"

/* The input and output of the measurement. `runs` has chain->count + 1 items: the first run of each
 * element in the tree. */
struct chain_measure {
    const struct timeline *timeline;
    const struct categories *categories;
    const struct call_tree *tree;
    const struct pass *pass;
    const uint32_t *runs;
    struct site_table *sites;
};

/* Behind the elements that are iterations of the same loop as `element`. */
size_t chain_loop_end(const struct forward_chain *chain, size_t element);

/* Fills first_item, allocations, activation_bytes, output_bytes and output_from. */
void chain_set_outputs(struct forward_chain *chain, const struct chain_measure *measure);
/* Fills reader_item. */
bool chain_set_readers(struct forward_chain *chain, const struct chain_measure *measure,
                       struct error *err);
/* Fills forward_extra_bytes and backward_extra_bytes, and chain->recomputed_bytes. */
bool chain_set_extras(struct forward_chain *chain, const struct chain_measure *measure,
                      struct error *err);
/* times.c: fills forward_ns, and chain->timed, kernels_timed and backward_ns. */
bool chain_set_times(struct forward_chain *chain, const struct chain_measure *measure,
                     struct error *err);

#endif
