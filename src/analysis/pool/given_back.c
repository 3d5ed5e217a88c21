#include "analysis/pool/given_back.h"

#include "model/sums.h"

static bool is_release(uint8_t action)
{
    return action == ACTION_SEGMENT_FREE || action == ACTION_SEGMENT_UNMAP;
}

static bool is_growth(uint8_t action)
{
    return action == ACTION_SEGMENT_ALLOC || action == ACTION_SEGMENT_MAP;
}

bool given_back_find(struct given_back *given, const struct timeline *timeline,
                     struct site_table *sites, struct error *err)
{
    const struct trace *trace = timeline->trace;
    struct given_back made = {0};
    int64_t missing = 0;     /* given back, and not requested again yet */
    size_t call_goes_on = 0; /* the item after the last release that a call made */
    size_t releases =
        timeline->by_action[ACTION_SEGMENT_FREE] + timeline->by_action[ACTION_SEGMENT_UNMAP];
    for (size_t i = 0; releases > 0 && i < trace->count; i++) {
        if (is_release(trace->action[i])) {
            const struct stack_facts *facts = site_stack_facts(sites, trace->stack[i], err);
            if (!facts)
                return false;
            if (!facts->empties_cache)
                continue;
            made.calls += made.calls == 0 || call_goes_on != i;
            sum_add_capped(&made.bytes, (int64_t)trace_size(trace, i));
            sum_add_capped(&missing, (int64_t)trace_size(trace, i));
            call_goes_on = i + 1;
        } else if (missing > 0 && is_growth(trace->action[i])) {
            int64_t size = (int64_t)trace_size(trace, i);
            int64_t again = size < missing ? size : missing;
            sum_add_capped(&made.again_bytes, again);
            missing -= again;
            made.mallocs++;
        }
    }
    *given = made;
    return true;
}
