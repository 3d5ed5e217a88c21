/* The memory of a step before its pass keeps anything. */
#include <stdlib.h>

#include "analysis/shard/snapshot_reader.h"

uint32_t snapshot_front_first(const struct snapshot_reader *reader)
{
    uint32_t end = reader->chain->first, run = phases_run_of(&reader->phases, end);
    return run == NO_RUN ? end : reader->phases.runs[run].first;
}

/* What becomes of the counted bytes at each item from `first` on. */
static void add_changes(const struct snapshot_reader *reader, uint32_t first, int64_t *change)
{
    const struct timeline *timeline = reader->timeline;
    uint32_t end = reader->chain->first;
    for (size_t i = 0; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        const struct lifetime *life = &timeline->lifetimes[i];
        uint32_t freed = snapshot_end_of(life->free_requested, life->free_completed);
        int64_t size = (int64_t)trace_size(timeline->trace, life->alloc);
        if (!snapshot_is_counted(reader->categories.of_lifetime[i]))
            continue;
        if (life->alloc >= first)
            change[life->alloc - first] += size;
        if (freed >= first && freed < end)
            change[freed - first] -= size;
    }
}

bool snapshot_front_points(const struct snapshot_reader *reader, const struct front_block *blocks,
                           size_t count, struct shard_point *points, struct error *err)
{
    uint32_t first = snapshot_front_first(reader);
    size_t items = reader->chain->first - first, at = count;
    int64_t *change = calloc(items + 1, sizeof(*change)), now = reader->start_bytes;
    if (!change)
        return error_out_of_memory(err);
    add_changes(reader, first, change);
    points[at].peak_bytes = points[at].end_bytes = now;
    for (size_t i = items; i-- > 0;) { /* back from what is there at the end */
        now -= change[i];
        if (points[at].peak_bytes < now)
            points[at].peak_bytes = now;
        for (; at > 0 && blocks[at - 1].first == first + i; at--)
            points[at - 1].peak_bytes = points[at - 1].end_bytes = now;
    }
    free(change);
    return true;
}
