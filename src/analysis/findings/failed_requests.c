#include "analysis/findings/failed_requests.h"

#include "analysis/phase/births.h"

#define LEAST_REQUEST 20 /* one 20th of what is in use */

bool failed_request_is_known(const struct timeline *timeline, const uint8_t *is_part, uint32_t item)
{
    const stack_id *stacks = timeline->trace->stack;
    for (size_t i = births_from(timeline, item); stacks[item] != STACK_NONE && i-- > 0;)
        if (is_part[i] && stacks[timeline->lifetimes[i].alloc] == stacks[item])
            return true;
    return false;
}

bool failed_request_counts(const struct oom_row *row, const uint32_t *items, size_t count)
{
    if ((double)row->requested_bytes * LEAST_REQUEST < (double)row->at.active_bytes)
        return false;
    for (size_t i = 0; i < count; i++)
        if (items[i] == row->item)
            return true;
    return false;
}
