#include "analysis/phase/failures.h"

#include "base/bisect.h"

bool failures_find(struct failures *failures, const struct timeline *timeline, struct error *err)
{
    const struct trace *trace = timeline->trace;
    struct failures made = {.budget = timeline->snapshot->budget};
    uint64_t left = timeline->by_action[ACTION_OOM];
    for (size_t i = 0; left > 0 && i < trace->count; i++) {
        if (trace->action[i] != ACTION_OOM)
            continue;
        left--;
        if (!vec_push(made.items, made.count, made.capacity, made.budget, err, (uint32_t)i)) {
            failures_release(&made);
            return false;
        }
    }
    *failures = made;
    return true;
}

bool failures_between(const struct failures *failures, uint32_t from, uint32_t to)
{
    size_t before = failures->count == 0 ? 0
                                         : bisect_until(failures->items, sizeof(*failures->items),
                                                        failures->count, from);
    return before < failures->count && failures->items[before] <= to;
}

void failures_release(struct failures *failures)
{
    vec_free(failures->items, failures->capacity, sizeof(*failures->items), failures->budget);
    *failures = (struct failures){0};
}
