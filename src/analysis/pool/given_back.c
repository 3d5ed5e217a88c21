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
    int64_t missing = 0; /* given back, and not yet asked for again */
    bool in_call = false;
    for (size_t i = 0; i < trace->count; i++) {
        bool releases = is_release(trace->action[i]), calls = false;
        if (releases) {
            const struct stack_facts *facts = site_stack_facts(sites, trace->stack[i], err);
            if (!facts)
                return false;
            calls = facts->empties_cache;
        }
        int64_t size = (int64_t)trace_size(trace, i);
        if (calls) {
            made.calls += !in_call;
            sum_add_capped(&made.bytes, size);
            sum_add_capped(&missing, size);
        } else if (is_growth(trace->action[i]) && missing > 0) {
            int64_t again = size < missing ? size : missing;
            sum_add_capped(&made.again_bytes, again);
            missing -= again;
            made.mallocs++;
        }
        in_call = calls;
    }
    *given = made;
    return true;
}
