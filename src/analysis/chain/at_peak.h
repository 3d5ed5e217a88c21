/* Compares a chain with the active peak: how much of the activations there belongs to the chain,
 * and which line made most of the others. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_AT_PEAK_H
#define MEMSNAP_ANALYSIS_CHAIN_AT_PEAK_H

#include "analysis/chain/forward_chain.h"
#include "analysis/chain/pass.h"

/* Sets peak_category_bytes, peak_chain_bytes, others_at, others_at_bytes, layer_results_at and
 * layer_results_bytes. `pass` is the pass of the chain. */
bool chain_relate_to_peak(struct forward_chain *chain, const struct timeline *timeline,
                          struct site_table *sites, const struct phases *phases,
                          const struct categories *categories, const struct pass *pass,
                          struct error *err);

#endif
