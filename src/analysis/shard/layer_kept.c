/* Tensors that stay in memory with checkpoints: inputs of segments, and tensors that layers outside
 * of segments save. */
#include <stdlib.h>

#include "analysis/shard/from_layers.h"

struct keeper {
    const struct layer_trace *trace;
    struct shard_segment *segments;
    size_t count;
    size_t *by_row; /* the segment that a row is in, or `count` */
    bool *are_kept; /* storages */
};

static void set_rows(struct keeper *keeper)
{
    size_t layer = 0, segment = 0;
    for (size_t i = 0; i < keeper->trace->count; i++) {
        keeper->by_row[i] = keeper->count;
        if (!keeper->trace->rows[i].is_forward)
            continue;
        while (segment < keeper->count && keeper->segments[segment].end <= layer)
            segment++;
        if (segment < keeper->count && keeper->segments[segment].first <= layer)
            keeper->by_row[i] = segment;
        layer++;
    }
}

/* Marks the storages of a list that another segment than `user` made, and adds them up. */
static void keep(const struct keeper *keeper, struct storage_list list, size_t user)
{
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t number = keeper->trace->storage_numbers[list.first + i];
        const struct layer_storage *storage = &keeper->trace->storages[number];
        size_t maker = keeper->by_row[storage->row];
        if (maker == keeper->count || maker == user || keeper->are_kept[number])
            continue;
        keeper->are_kept[number] = true;
        keeper->segments[maker].kept += storage->bytes;
    }
}

/* A checkpoint keeps what its segment reads; elsewhere, only what is saved stays. */
static void keep_rows(const struct keeper *keeper)
{
    for (size_t i = 0; i < keeper->trace->count; i++) {
        const struct layer_row *row = &keeper->trace->rows[i];
        if (!row->is_forward)
            continue;
        size_t user = keeper->by_row[i];
        if (user < keeper->count)
            keep(keeper, row->reads, user);
        keep(keeper, row->saves, user);
    }
}

bool shard_layer_kept(const struct layer_trace *trace, struct shard_segment *segments, size_t count,
                      struct error *err)
{
    struct keeper keeper = {.trace = trace, .segments = segments, .count = count};
    if (trace->storage_count == 0)
        return true;
    keeper.by_row = calloc(trace->count, sizeof(*keeper.by_row));
    keeper.are_kept = calloc(trace->storage_count, sizeof(*keeper.are_kept));
    bool ok = keeper.by_row && keeper.are_kept;
    if (ok) {
        set_rows(&keeper);
        for (size_t i = 0; i < count; i++)
            segments[i].is_known = true;
        keep_rows(&keeper);
    }
    free(keeper.by_row);
    free(keeper.are_kept);
    return ok || error_out_of_memory(err);
}
