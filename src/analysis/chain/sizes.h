/* Measures the sizes and times of a chain's elements in the timeline. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_SIZES_H
#define MEMSNAP_ANALYSIS_CHAIN_SIZES_H

#include "analysis/chain/forward_chain.h"
#include "analysis/chain/tree.h"

/* The input of the measurement. `runs` has the first run of each element in the tree, and after the
 * last element, the number of runs. */
struct chain_measure {
    const struct timeline *timeline;
    const struct categories *categories;
    const struct call_tree *tree;
    const struct pass *pass;
    const uint32_t *runs;
    struct site_table *sites;
};

/* Index after the last of the successive elements that are iterations of the same loop as
 * `element`. */
size_t chain_loop_end(const struct forward_chain *chain, size_t element);

/* Sets first_item, allocations, activation_bytes, checkpointed, output_item, output_bytes,
 * output_from and output_passes. */
bool chain_set_outputs(struct forward_chain *chain, const struct chain_measure *measure,
                       struct error *err);
/* Sets reader_item. */
bool chain_set_readers(struct forward_chain *chain, const struct chain_measure *measure,
                       struct error *err);
/* Sets forward_extra_bytes, backward_extra_bytes and backward_end, and chain->recomputed_bytes. */
bool chain_set_extras(struct forward_chain *chain, const struct chain_measure *measure,
                      struct error *err);
/* times.c: sets forward_ns, and chain->timed, kernels_timed and backward_ns. */
bool chain_set_times(struct forward_chain *chain, const struct chain_measure *measure,
                     struct error *err);

#endif
