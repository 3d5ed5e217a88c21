#include "model/excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "model/addrmap.h"
#include "model/live.h"

struct excerpt excerpt_choose(const struct timeline *timeline, const struct window *window)
{
    const struct trace *trace = timeline->trace;
    struct window_gate gate;
    struct excerpt excerpt = {timeline, 0, trace->count};
    window_gate_init(&gate, window);
    size_t item = 0;
    while (item < trace->count && window_gate_pass(&gate, trace_time(trace, item)) != WINDOW_AFTER)
        item++;
    excerpt.first = (size_t)window_gate_first(&gate);
    excerpt.end = item;
    return excerpt;
}

/* State while the segments of an earlier moment are rebuilt for the visitor. */
struct rebuild {
    const struct excerpt *excerpt;
    const struct excerpt_visitor *visitor;
    string_id type[2];     /* names of the segment types: large, small */
    struct addrmap stacks; /* by start address of a segment: the stack of the event that made it */
    const struct live *live;
    size_t live_count;
    bool *placed; /* by live allocation: it lies in a segment */
    struct block_row *blocks;
    size_t count, capacity;
    uint64_t reserved_bytes;
    struct budget *budget;
};

static bool note_stack(struct rebuild *rebuild, uint64_t addr, stack_id stack, struct error *err)
{
    struct addrmap_slot *slot;
    if (!addrmap_put(&rebuild->stacks, addr, &slot, err))
        return false;
    slot->value = stack;
    slot->tag = 1;
    return true;
}

static void forget_stack(struct rebuild *rebuild, uint64_t addr)
{
    struct addrmap_slot *slot = addrmap_find(&rebuild->stacks, addr);
    if (slot)
        addrmap_remove(&rebuild->stacks, slot);
}

/* Takes stacks from the dump for segments that no later event made, then from the events up to the
 * moment. */
static bool find_stacks(struct rebuild *rebuild, struct error *err)
{
    const struct timeline *timeline = rebuild->excerpt->timeline;
    const struct snapshot *snapshot = timeline->snapshot;
    const struct trace *trace = timeline->trace;
    for (size_t s = 0; s < snapshot->segment_count; s++)
        if (snapshot->segments[s].device == timeline->device &&
            !note_stack(rebuild, snapshot->segments[s].address, snapshot->segments[s].stack, err))
            return false;
    for (size_t i = rebuild->excerpt->end; i < trace->count; i++)
        if (trace->action[i] == ACTION_SEGMENT_ALLOC || trace->action[i] == ACTION_SEGMENT_MAP)
            forget_stack(rebuild, trace_addr(trace, i));
    for (size_t i = 0; i < rebuild->excerpt->end; i++) {
        bool made =
            trace->action[i] == ACTION_SEGMENT_ALLOC || trace->action[i] == ACTION_SEGMENT_MAP;
        if (made && !note_stack(rebuild, trace_addr(trace, i), trace->stack[i], err))
            return false;
        if (trace->action[i] == ACTION_SEGMENT_FREE || trace->action[i] == ACTION_SEGMENT_UNMAP)
            forget_stack(rebuild, trace_addr(trace, i));
    }
    return true;
}

static bool add_block(struct rebuild *rebuild, const struct block_row *block, struct error *err)
{
    return vec_push(rebuild->blocks, rebuild->count, rebuild->capacity, rebuild->budget, err,
                    *block);
}

static bool add_span(struct rebuild *rebuild, const struct layout_span *span, struct error *err)
{
    static const enum block_state states[] = {[SPAN_HOLE] = BLOCK_INACTIVE,
                                              [SPAN_ALLOCATED] = BLOCK_ACTIVE_ALLOCATED,
                                              [SPAN_PENDING] = BLOCK_ACTIVE_PENDING_FREE};
    struct block_row block = {.address = span->addr,
                              .size = span->size,
                              .requested_size = span->requested,
                              .state = states[span->state]};
    if (span->state != SPAN_HOLE) {
        const struct live *live = &rebuild->live[span->owner];
        block.stack = live->stack;
        block.forward_stack = live_forward_stack(rebuild->excerpt->timeline, live);
        rebuild->placed[span->owner] = true;
    }
    return add_block(rebuild, &block, err);
}

/* Computes the sums of a segment's row from its blocks. */
static void sum_blocks(const struct rebuild *rebuild, struct segment_row *row)
{
    for (size_t i = 0; i < rebuild->count; i++) {
        const struct block_row *block = &rebuild->blocks[i];
        if (block->state == BLOCK_INACTIVE)
            continue;
        row->active_size += block->size;
        row->requested_size += block->requested_size;
        if (block->state == BLOCK_ACTIVE_ALLOCATED)
            row->allocated_size += block->size;
    }
    row->blocks = rebuild->blocks;
    row->block_count = rebuild->count;
}

static bool visit_segment(void *self, const struct layout_segment *segment, struct error *err)
{
    struct rebuild *rebuild = self;
    const struct addrmap_slot *slot = addrmap_find(&rebuild->stacks, segment->address);
    struct segment_row row = {.device = rebuild->excerpt->timeline->device,
                              .address = segment->address,
                              .total_size = segment->size,
                              .stream = segment->stream,
                              .pool = {segment->pool[0], segment->pool[1]},
                              .segment_type = rebuild->type[segment->is_small],
                              .is_expandable = segment->is_expandable,
                              .stack = slot ? slot->value : STACK_NONE};
    rebuild->count = 0;
    for (size_t i = 0; i < segment->span_count; i++)
        if (!add_span(rebuild, &segment->spans[i], err))
            return false;
    sum_blocks(rebuild, &row);
    rebuild->reserved_bytes += segment->size;
    return rebuild->visitor->segment(rebuild->visitor->self, &row, err);
}

/* Takes the address of a live allocation if it is still free. */
static bool take_address(struct addrmap *taken, const struct live *live, bool *is_free,
                         struct error *err)
{
    struct addrmap_slot *slot;
    if (!addrmap_put(taken, live->addr, &slot, err))
        return false;
    *is_free = slot->tag == 0;
    slot->tag = 1;
    return true;
}

static bool is_pending(const struct excerpt *excerpt, const struct live *live)
{
    const struct timeline *timeline = excerpt->timeline;
    if (live->in_trace)
        return timeline->lifetimes[live->index].free_requested < excerpt->end;
    const struct preexisting *preexisting = &timeline->preexisting[live->index];
    return !preexisting->in_allocated || preexisting->free_requested < excerpt->end;
}

/* The latest allocation comes first, since it is the one the address holds. */
static bool add_strays(struct rebuild *rebuild, struct addrmap *taken,
                       struct excerpt_doubts *doubts, struct error *err)
{
    bool is_free;
    for (size_t i = 0; i < rebuild->live_count; i++)
        if (rebuild->placed[i] && !take_address(taken, &rebuild->live[i], &is_free, err))
            return false;
    for (size_t i = rebuild->live_count; i-- > 0;) {
        const struct live *live = &rebuild->live[i];
        if (rebuild->placed[i])
            continue;
        if (!take_address(taken, live, &is_free, err))
            return false;
        if (!is_free) {
            doubts->lost_blocks++;
            doubts->lost_bytes += live->size;
            continue;
        }
        struct block_row block = {
            .address = live->addr,
            .size = live->size,
            .requested_size = live->size,
            .state = is_pending(rebuild->excerpt, live) ? BLOCK_ACTIVE_PENDING_FREE
                                                        : BLOCK_ACTIVE_ALLOCATED,
            .stack = live->stack,
            .forward_stack = live_forward_stack(rebuild->excerpt->timeline, live)};
        if (!add_block(rebuild, &block, err))
            return false;
    }
    return true;
}

static bool visit_strays(struct rebuild *rebuild, struct excerpt_doubts *doubts, struct error *err)
{
    struct addrmap taken;
    rebuild->count = 0;
    addrmap_init(&taken, rebuild->budget);
    bool ok = add_strays(rebuild, &taken, doubts, err);
    addrmap_release(&taken);
    doubts->stray_blocks = rebuild->count;
    if (!ok || rebuild->count == 0)
        return ok;
    struct segment_row row = {.device = rebuild->excerpt->timeline->device,
                              .address = rebuild->blocks[0].address,
                              .segment_type = rebuild->type[0]};
    sum_blocks(rebuild, &row);
    return rebuild->visitor->segment(rebuild->visitor->self, &row, err);
}

static bool rebuild_segments(struct rebuild *rebuild, struct excerpt_doubts *doubts,
                             struct error *err)
{
    const struct timeline *timeline = rebuild->excerpt->timeline;
    const struct layout_visitor visitor = {rebuild, visit_segment};
    int64_t item = (int64_t)rebuild->excerpt->end - 1;
    struct layout_doubts layout_doubts;
    struct moment moment;
    if (!find_stacks(rebuild, err) ||
        !layout_at(timeline, item, rebuild->live, rebuild->live_count, true, &visitor,
                   &layout_doubts, err) ||
        !visit_strays(rebuild, doubts, err))
        return false;
    timeline_moment(timeline, item, &moment);
    doubts->reserved_gap = (int64_t)(rebuild->reserved_bytes - (uint64_t)moment.reserved_bytes);
    return true;
}

static bool segments_before(const struct excerpt *excerpt, string_id small, string_id large,
                            const struct excerpt_visitor *visitor, struct excerpt_doubts *doubts,
                            struct error *err)
{
    struct rebuild rebuild = {.excerpt = excerpt,
                              .visitor = visitor,
                              .type = {large, small},
                              .budget = excerpt->timeline->snapshot->budget};
    struct live_list live;
    if (!timeline_live(excerpt->timeline, (int64_t)excerpt->end - 1, &live, err))
        return false;
    rebuild.live = live.items;
    rebuild.live_count = live.count;
    rebuild.placed = calloc(rebuild.live_count + 1, sizeof(*rebuild.placed));
    addrmap_init(&rebuild.stacks, rebuild.budget);
    bool ok = rebuild.placed || error_out_of_memory(err);
    ok = ok && rebuild_segments(&rebuild, doubts, err);
    addrmap_release(&rebuild.stacks);
    vec_free(rebuild.blocks, rebuild.capacity, sizeof(*rebuild.blocks), rebuild.budget);
    free(rebuild.placed);
    live_list_release(&live);
    return ok;
}

static bool segments_of_dump(const struct excerpt *excerpt, const struct excerpt_visitor *visitor,
                             struct error *err)
{
    const struct snapshot *snapshot = excerpt->timeline->snapshot;
    for (size_t s = 0; s < snapshot->segment_count; s++) {
        const struct segment *segment = &snapshot->segments[s];
        if (segment->device != excerpt->timeline->device)
            continue;
        const struct segment_row row = {.device = segment->device,
                                        .address = segment->address,
                                        .total_size = segment->total_size,
                                        .allocated_size = segment->allocated_size,
                                        .active_size = segment->active_size,
                                        .requested_size = segment->requested_size,
                                        .stream = segment->stream,
                                        .pool = {segment->pool[0], segment->pool[1]},
                                        .segment_type = segment->segment_type,
                                        .is_expandable = segment->is_expandable,
                                        .stack = segment->stack,
                                        .forward_stack = segment->forward_stack,
                                        .blocks = snapshot->blocks + segment->first_block,
                                        .block_count = segment->block_count};
        if (!visitor->segment(visitor->self, &row, err))
            return false;
    }
    return true;
}

bool excerpt_segments(const struct excerpt *excerpt, string_id small, string_id large,
                      const struct excerpt_visitor *visitor, struct excerpt_doubts *doubts,
                      struct error *err)
{
    *doubts = (struct excerpt_doubts){0};
    if (excerpt->end == excerpt->timeline->trace->count)
        return segments_of_dump(excerpt, visitor, err);
    return segments_before(excerpt, small, large, visitor, doubts, err);
}
