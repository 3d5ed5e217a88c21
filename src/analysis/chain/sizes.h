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

/* A range of lifetimes. */
struct births {
    size_t first, end;
};

/* call_births.c: the lifetimes that begin in the module calls of an element: in the whole element
 * if its calls are not known precisely, and none if it is not module calls. Requires first_item. */
struct births chain_births_in_calls(const struct forward_chain *chain,
                                    const struct chain_measure *measure, size_t element);

/* call_births.c: the lifetime of what the last line of an element's module calls returns, if the
 * trace shows that the next element keeps it; otherwise EVENT_NEVER. Requires first_item. */
uint32_t chain_result_of_calls(const struct forward_chain *chain,
                               const struct chain_measure *measure, size_t element);

/* reserve.c: the lifetime of what cuDNN reserves in a run of a recurrent layer for the backward
 * pass, or EVENT_NEVER. It is made after the results, and freed together with the result that the
 * layer keeps. It may be far larger than that, but no other code gets it. */
uint32_t chain_reserve_of(const struct chain_measure *measure, uint32_t run);

/* reserve.c: true if a run of a recurrent layer makes the output of an element and a reserve, and
 * the backward pass frees both together. Sets *run and *reserve. */
bool chain_reserve_with_output(const struct forward_chain *chain,
                               const struct chain_measure *measure, size_t element, uint32_t *run,
                               uint32_t *reserve);
/* reserve.c: adds to chain->held the states that such a run returns besides the output, if later
 * elements keep them. Does not sort. */
bool chain_hold_states(struct forward_chain *chain, const struct chain_measure *measure,
                       size_t element, struct error *err);

/* Sets first_item, allocations, activation_bytes, checkpointed, output_item, output_bytes,
 * output_from and output_passes. */
bool chain_set_outputs(struct forward_chain *chain, const struct chain_measure *measure,
                       struct error *err);
/* Sets largest_bytes, largest_element and largest_recurrent. Requires chain->kept. */
void chain_find_largest(struct forward_chain *chain, const struct chain_measure *measure);
/* Sets reader_item. */
bool chain_set_readers(struct forward_chain *chain, const struct chain_measure *measure,
                       struct error *err);
/* Sets forward_extra_bytes, backward_extra_bytes and backward_end, and chain->recomputed_bytes. */
bool chain_set_extras(struct forward_chain *chain, const struct chain_measure *measure,
                      struct error *err);
/* read_results.c: adds results of module calls to chain->held that other code of their element
 * reads in its backward pass. Requires the outputs, calls_end, chain->kept and chain->held. */
bool chain_hold_read_results(struct forward_chain *chain, const struct chain_measure *measure,
                             struct error *err);
/* times.c: sets forward_ns, and chain->timed, kernels_timed and backward_ns. */
bool chain_set_times(struct forward_chain *chain, const struct chain_measure *measure,
                     struct error *err);

#endif
