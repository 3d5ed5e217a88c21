#include <string.h>

#include "model/loader_state.h"

bool loader_segment(void *self, const struct segment_row *row, struct error *err)
{
    struct loader *loader = self;
    struct snapshot *snapshot = loader->snapshot;
    if (row->device >= LOADER_MAX_DEVICES && row->device != DEVICE_HOST)
        return error_set(err, STATUS_LIMIT, "a segment of device %u: at most %d devices are read",
                         row->device, LOADER_MAX_DEVICES);
    if (!vec_reserve(snapshot->segments, loader->segments_capacity, snapshot->segment_count + 1,
                     loader->budget, err) ||
        !vec_reserve(snapshot->blocks, loader->blocks_capacity,
                     snapshot->block_count + row->block_count, loader->budget, err))
        return false;
    snapshot->segments[snapshot->segment_count++] =
        (struct segment){.device = row->device,
                         .is_expandable = row->is_expandable,
                         .address = row->address,
                         .total_size = row->total_size,
                         .allocated_size = row->allocated_size,
                         .active_size = row->active_size,
                         .requested_size = row->requested_size,
                         .stream = row->stream,
                         .pool = {row->pool[0], row->pool[1]},
                         .segment_type = row->segment_type,
                         .stack = row->stack,
                         .forward_stack = row->forward_stack,
                         .first_block = snapshot->block_count,
                         .block_count = row->block_count};
    if (row->block_count)
        memcpy(snapshot->blocks + snapshot->block_count, row->blocks,
               row->block_count * sizeof(*row->blocks));
    snapshot->block_count += row->block_count;
    return true;
}

bool loader_annotation(void *self, const struct annotation_row *row, struct error *err)
{
    struct loader *loader = self;
    struct snapshot *snapshot = loader->snapshot;
    return vec_push(snapshot->annotations, snapshot->annotation_count, loader->annotations_capacity,
                    loader->budget, err, *row);
}

bool loader_setting(void *self, const struct setting_row *row, struct error *err)
{
    struct loader *loader = self;
    struct snapshot *snapshot = loader->snapshot;
    return vec_push(snapshot->settings, snapshot->setting_count, loader->settings_capacity,
                    loader->budget, err, *row);
}

bool loader_unknown_key(void *self, const char *where, string_id key, struct error *err)
{
    struct loader *loader = self;
    struct snapshot *snapshot = loader->snapshot;
    string_id kept; /* `where` is only valid during the call */
    if (!symbols_string(snapshot->symbols, where, strlen(where), &kept, err) ||
        !vec_reserve(snapshot->unknown_keys, loader->unknown_keys_capacity,
                     snapshot->unknown_key_count + 1, loader->budget, err))
        return false;
    snapshot->unknown_keys[snapshot->unknown_key_count++] =
        (struct unknown_key){.where = symbols_text(snapshot->symbols, kept).bytes, .key = key};
    return true;
}
