/* Sums over those live allocations that pass a test, and which line of code holds most of them. */
#ifndef MEMSNAP_ANALYSIS_LIVE_SUMS_H
#define MEMSNAP_ANALYSIS_LIVE_SUMS_H

#include "analysis/live/source.h"
#include "analysis/phase/phases.h"

struct live_sum {
    int64_t bytes;
    uint64_t count;
    struct buffer top_label; /* of the line of code that holds most; empty if none has a stack */
    int64_t top_bytes;       /* bytes that the line holds */
};

/* True if an allocation counts. */
typedef bool live_test(const struct live_set *set, const struct phases *phases,
                       const struct live *live, const struct live_source *source);

/* One sum per test, at most LIVE_SUMS_MOST, in one pass over the set. On failure there is nothing
 * to release. */
#define LIVE_SUMS_MOST 4
bool live_sums(const struct live_set *set, const struct phases *phases, live_test *const *counts,
               size_t count, struct live_sum *sums, struct error *err);
void live_sum_release(struct live_sum *sum);

/* Tests. */
live_test live_is_activation;
live_test live_is_cast; /* an activation that is a copy in another dtype or on another device */
live_test live_is_optimizer_temporary;

#endif
