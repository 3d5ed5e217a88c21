#include "model/layout.h"

static enum span_state state_of(const struct block_row *block)
{
    switch (block->state) {
    case BLOCK_ACTIVE_ALLOCATED:
        return SPAN_ALLOCATED;
    case BLOCK_ACTIVE_PENDING_FREE:
        return SPAN_PENDING;
    case BLOCK_INACTIVE:
        break;
    }
    return SPAN_HOLE;
}

static bool is_small_type(const struct snapshot *snapshot, const struct segment *segment)
{
    struct text type = symbols_text(snapshot->symbols, segment->segment_type);
    return type.size > 0 && type.bytes[0] == 's';
}

static struct layout_segment describe(const struct snapshot *snapshot,
                                      const struct segment *segment)
{
    return (struct layout_segment){
        .address = segment->address,
        .size = segment->total_size,
        .stream = segment->stream,
        .pool = {segment->pool[0], segment->pool[1]},
        .is_small = is_small_type(snapshot, segment),
        .is_expandable = segment->is_expandable,
    };
}

bool layout_of_dump(const struct snapshot *snapshot, uint32_t device,
                    const struct layout_visitor *visitor, struct error *err)
{
    struct layout_span *spans = NULL;
    size_t capacity = 0;
    bool ok = true;
    for (size_t s = 0; ok && s < snapshot->segment_count; s++) {
        const struct segment *segment = &snapshot->segments[s];
        if (segment->device != device)
            continue;
        ok = vec_reserve(spans, capacity, segment->block_count, snapshot->budget, err);
        for (size_t b = 0; ok && b < segment->block_count; b++) {
            const struct block_row *block = &snapshot->blocks[segment->first_block + b];
            enum span_state state = state_of(block);
            spans[b] = (struct layout_span){
                .addr = block->address,
                .size = block->size,
                .requested = state == SPAN_HOLE ? 0 : block->requested_size,
                .owner = segment->first_block + b,
                .state = state,
            };
        }
        struct layout_segment described = describe(snapshot, segment);
        described.spans = spans;
        described.span_count = segment->block_count;
        ok = ok && visitor->segment(visitor->self, &described, err);
    }
    vec_free(spans, capacity, sizeof(*spans), snapshot->budget);
    return ok;
}
