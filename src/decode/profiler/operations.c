#include "decode/profiler/operations.h"

struct operation_walk operation_walk_begin(const struct profile *profile, size_t thread)
{
    return (struct operation_walk){.profile = profile,
                                   .at = profile->thread_start[thread],
                                   .end = profile->thread_start[thread + 1],
                                   .name = STRING_EMPTY,
                                   .name_end = INT64_MIN,
                                   .nodes_end = INT64_MIN};
}

string_id operation_walk_to(struct operation_walk *walk, int64_t time_ns)
{
    for (; walk->at < walk->end; walk->at++) {
        const struct profile_range *range = &walk->profile->ranges[walk->profile->order[walk->at]];
        if (range->start_ns > time_ns)
            break;
        if (range->kind == RANGE_ENGINE && range_end(range) > walk->nodes_end)
            walk->nodes_end = range_end(range);
        if (range->kind != RANGE_OPERATOR || range->sequence == 0)
            continue;
        walk->name = range->name;
        walk->name_end = range_end(range);
    }
    return time_ns <= walk->name_end && time_ns > walk->nodes_end ? walk->name : STRING_EMPTY;
}
