#include "decode/profiler/operations.h"

struct operation_walk operation_walk_begin(const struct profile *profile, size_t thread)
{
    return (struct operation_walk){.cursor = range_cursor_begin(&profile->ranges, thread),
                                   .name = STRING_EMPTY,
                                   .name_end = INT64_MIN,
                                   .nodes_end = INT64_MIN};
}

string_id operation_walk_to(struct operation_walk *walk, int64_t time_ns)
{
    struct range_cursor *cursor = &walk->cursor;
    for (; cursor->more && cursor->range.start_ns <= time_ns; range_cursor_step(cursor)) {
        const struct profile_range *range = &cursor->range;
        if (range->label.kind == RANGE_ENGINE && range_end(range) > walk->nodes_end)
            walk->nodes_end = range_end(range);
        if (range->label.kind != RANGE_OPERATOR || range->sequence == 0)
            continue;
        walk->name = range->label.name;
        walk->name_end = range_end(range);
    }
    return time_ns <= walk->name_end && time_ns > walk->nodes_end ? walk->name : STRING_EMPTY;
}
