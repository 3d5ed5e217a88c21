/* The largest allocation that a single operator keeps for the backward pass. */
#include "analysis/chain/sizes.h"

#include "analysis/code/recurrent.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"

static bool is_cast(const struct forward_chain *chain, uint32_t item)
{
    size_t at = chain->cast_count > 0
                    ? bisect_less(chain->casts, sizeof(*chain->casts), chain->cast_count, item)
                    : 0;
    return at < chain->cast_count && chain->casts[at] == item;
}

void chain_find_largest(struct forward_chain *chain, const struct chain_measure *measure)
{
    const struct trace *trace = measure->timeline->trace;
    uint32_t largest = EVENT_NEVER;
    for (size_t k = 0; k < chain->kept_count; k++) {
        int64_t bytes = (int64_t)trace_size(trace, chain->kept[k]);
        if (bytes > chain->largest_bytes && !is_cast(chain, chain->kept[k])) {
            chain->largest_bytes = bytes;
            largest = chain->kept[k];
        }
    }
    if (largest == EVENT_NEVER)
        return;
    size_t at = bisect_less(&chain->elements->first_item, sizeof(*chain->elements), chain->count,
                            largest + 1);
    chain->largest_element = at > 0 ? at - 1 : 0;
    chain->largest_recurrent =
        code_is_recurrent(site_table_symbols(measure->sites), trace->stack[largest]);
}
