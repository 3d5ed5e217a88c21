/* The highest memory of the trace in code that the checkpoints of a chain do not change, such as
 * evaluation or the generation of samples. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_ELSEWHERE_H
#define MEMSNAP_ANALYSIS_CHAIN_ELSEWHERE_H

#include "analysis/chain/forward_chain.h"
#include "analysis/chain/pass.h"

/* The item at which the part of the trace ends that a plan for the pass changes: where the next
 * pass of the same model begins, or the step ends. */
uint32_t chain_reach_end(const struct forward_chain *chain);

/* Names the line that called the model where `item` allocates or, outside of the model, the line
 * that allocates. The symbols of the snapshot own the name. */
bool chain_name_place(const struct timeline *timeline, struct site_table *sites, uint32_t item,
                      struct text *at, struct error *err);

/* Sets chain->elsewhere and chain->unused from the items outside of all passes and outside of what
 * a plan changes. Memory counts until its free is requested. A stretch in which memory ran out is
 * left out. Requires chain->kept. */
bool chain_find_elsewhere(struct forward_chain *chain, const struct timeline *timeline,
                          struct site_table *sites, const struct categories *categories,
                          const struct phases *phases, const struct passes *passes,
                          struct error *err);

#endif
