/* How many of the activation bytes at the peak belong to a chain, and which line makes most of the
 * rest. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_AT_PEAK_H
#define MEMSNAP_ANALYSIS_CHAIN_AT_PEAK_H

#include "analysis/chain/forward_chain.h"
#include "analysis/chain/pass.h"

/* Fills in peak_category_bytes, peak_chain_bytes, others_at and layer_results_at of the chain that
 * the pass is for. */
bool chain_relate_to_peak(struct forward_chain *chain, const struct timeline *timeline,
                          struct site_table *sites, const struct phases *phases,
                          const struct categories *categories, const struct pass *pass,
                          struct error *err);

#endif
