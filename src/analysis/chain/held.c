#include "analysis/chain/held.h"

#include "base/bisect.h"

size_t chain_kept_from(const struct forward_chain *chain, uint32_t item)
{
    return chain->kept_count > 0
               ? bisect_less(chain->kept, sizeof(*chain->kept), chain->kept_count, item)
               : 0;
}

bool chain_keeps(const struct forward_chain *chain, uint32_t item)
{
    size_t at = chain_kept_from(chain, item);
    return at < chain->kept_count && chain->kept[at] == item;
}

bool chain_is_held(const struct forward_chain *chain, uint32_t item)
{
    size_t at = chain->held_count > 0
                    ? bisect_less(chain->held, sizeof(*chain->held), chain->held_count, item)
                    : 0;
    return at < chain->held_count && chain->held[at] == item;
}

bool chain_add_held(struct forward_chain *chain, const struct trace *trace, uint32_t item,
                    struct error *err)
{
    size_t at =
        bisect_less(&chain->elements->first_item, sizeof(*chain->elements), chain->count, item + 1);
    if (at == 0 || chain->elements[at - 1].output_item == item)
        return true;
    chain->elements[at - 1].held_bytes += (int64_t)trace_size(trace, item);
    return vec_push(chain->held, chain->held_count, chain->held_capacity, chain->budget, err, item);
}
