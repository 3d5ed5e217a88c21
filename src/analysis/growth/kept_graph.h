/* Distinguishes memory that grows because autograd graphs are kept from results that are kept
 * without a graph. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_KEPT_GRAPH_H
#define MEMSNAP_ANALYSIS_GROWTH_KEPT_GRAPH_H

#include "analysis/growth/survivors.h"
#include "analysis/phase/phases.h"

/* Whether the activations that grow are those of autograd graphs. */
enum growth_graph {
    GRAPH_UNCLEAR,
    GRAPH_KEPT, /* many lines of code grow, or something that only a graph can keep */
    GRAPH_NONE, /* autograd was off, or the pass freed nearly all that it made */
};

/* The item of the last allocation of a group of survivors; -1: none is in the trace. */
int64_t kept_graph_last_item(const struct survivors *survivors, const struct timeline *timeline,
                             size_t group);

/* Sets `*is_count` if the last allocation of a group is computed, on the same line, from a
 * comparison or from indices, such as an accuracy: it has no gradient, so it keeps no graph. Needs
 * C++ frames; without them nothing counts. */
bool kept_graph_is_count(const struct survivors *survivors, const struct live_set *set,
                         size_t group, bool *is_count, struct error *err);

/* Sets `*graph`. growing[0..count) are the groups that grow; small[i] is true if the allocations of
 * growing[i] have only a few bytes each. */
bool kept_graph_judge(const struct survivors *survivors, const struct live_set *set,
                      const struct phases *phases, const uint32_t *growing, const bool *small,
                      size_t count, enum growth_graph *graph, struct error *err);

/* True if tensors grow that no graph keeps: then something refers to the local variables of the
 * code that made the graphs. */
bool kept_graph_has_variables(const struct survivors *survivors, const struct live_set *set,
                              const uint32_t *growing, size_t count);

#endif
