#include "model/replay.h"

#include <stdlib.h>

#include "model/sums.h"

/* Finds the addresses that allocs of the trace still hold at its end. */
static bool find_end_live(const struct replay *replay, struct addrmap *end_live, struct error *err)
{
    const struct trace *trace = replay->trace;
    const struct window_edge *edge = &trace->edge;
    for (size_t i = 0; i < edge->end_live_count && trace_has_lifetimes(trace); i++) {
        const struct edge_address *at = &edge->end_live[i];
        struct addrmap_slot *slot;
        if (!addrmap_put(end_live, at->addr, &slot, err))
            return false;
        bool in_active =
            trace->completion == ACTION_FREE_COMPLETED ? at->in_active : at->in_allocated;
        bool in_allocated =
            trace->request == ACTION_FREE_REQUESTED ? at->in_allocated : at->in_active;
        slot->tag =
            (in_active ? IN_ACTIVE : 0) | (in_allocated ? IN_ALLOCATED : 0) | IS_PREEXISTING;
    }
    return true;
}

/* Adds the part of the block that existed before the trace; `curves` are the curves in which it may
 * count. */
static bool carry_block(struct replay *replay, const struct addrmap *end_live,
                        const struct block_row *block, unsigned curves, struct error *err)
{
    const struct addrmap_slot *made = addrmap_find(end_live, block->address);
    if (made)
        curves &= ~made->tag;
    /* Its free was requested in the trace and is still pending. */
    const struct addrmap_slot *known = addrmap_find(&replay->live, block->address);
    if (curves & IN_ACTIVE && known && known->tag & IS_PENDING) {
        struct preexisting *preexisting = &replay->timeline->preexisting[known->value];
        if (preexisting->size == block->requested_size) {
            preexisting->origin = ORIGIN_BLOCK;
            preexisting->stack = block->stack;
            preexisting->forward_stack = block->forward_stack;
            preexisting->in_active = true;
            curves &= ~IN_ACTIVE;
        }
    }
    if (!curves)
        return true;
    struct preexisting preexisting = {.origin = ORIGIN_BLOCK,
                                      .addr = block->address,
                                      .size = block->requested_size,
                                      .stack = block->stack,
                                      .forward_stack = block->forward_stack,
                                      .in_active = curves & IN_ACTIVE,
                                      .in_allocated = curves & IN_ALLOCATED,
                                      .free_requested = EVENT_NEVER,
                                      .free_completed = EVENT_NEVER};
    return replay_add_preexisting(replay, &preexisting, err);
}

static bool add(uint64_t *sum, uint64_t size)
{
    return !__builtin_add_overflow(*sum, size, sum) && *sum <= LARGEST_SUM;
}

static bool count_block(struct memory_state *state, const struct block_row *block)
{
    uint64_t size = block->size;
    state->blocks++;
    if (block->state == BLOCK_INACTIVE) {
        if (size > state->largest_inactive_block_bytes)
            state->largest_inactive_block_bytes = size;
        return add(&state->inactive_bytes, size);
    }
    if (block->state == BLOCK_ACTIVE_ALLOCATED && !add(&state->allocated_bytes, size))
        return false;
    return add(&state->active_bytes, size) && add(&state->requested_bytes, block->requested_size);
}

/* Keeps the stack of a block if the event that allocated it has none. */
static bool keep_stack(struct replay *replay, const struct block_row *block, struct error *err)
{
    struct timeline *timeline = replay->timeline;
    const struct addrmap_slot *made = addrmap_find(&replay->live, block->address);
    if (block->stack == STACK_NONE || !made || made->tag & IS_PREEXISTING ||
        replay->trace->edge.present)
        return true;
    uint32_t alloc = timeline->lifetimes[made->value].alloc;
    if (replay->trace->stack[alloc] != STACK_NONE ||
        trace_size(replay->trace, alloc) != block->requested_size)
        return true;
    return vec_push(timeline->block_stacks, timeline->block_stack_count,
                    timeline->block_stack_capacity, replay->budget, err,
                    (struct block_stack){made->value, block->stack});
}

/* `seen` has the curves in which a later block at the address counts: if several blocks claim one
 * address, the last in the file is used. */
static bool take_block(struct replay *replay, const struct addrmap *end_live, struct addrmap *seen,
                       const struct block_row *block, struct error *err)
{
    if (!count_block(&replay->timeline->state, block))
        return replay_overflow(replay, err);
    if (block->state == BLOCK_INACTIVE)
        return true;
    unsigned curves = IN_ACTIVE | (block->state == BLOCK_ACTIVE_ALLOCATED ? IN_ALLOCATED : 0);
    if (block->state == BLOCK_ACTIVE_PENDING_FREE)
        replay->timeline->pending_bytes += block->requested_size; /* at most requested_bytes */
    if (replay->trace->completion == ACTION_FREE_REQUESTED)
        curves = curves & IN_ALLOCATED ? curves : 0;
    struct addrmap_slot *slot;
    if (!addrmap_put(seen, block->address, &slot, err))
        return false;
    curves &= ~slot->tag;
    slot->tag |= curves;
    return curves == 0 ||
           (keep_stack(replay, block, err) && carry_block(replay, end_live, block, curves, err));
}

/* Adds the difference between a segment's size and the total size of its blocks, `listed`. */
static void compare_segment(struct memory_state *state, uint64_t size, uint64_t listed)
{
    if (listed < size)
        state->untold_bytes += size - listed;
    else
        state->excess_bytes += listed - size;
}

static bool take_segments(struct replay *replay, const struct addrmap *end_live,
                          struct addrmap *seen, struct error *err)
{
    const struct snapshot *snapshot = replay->timeline->snapshot;
    struct memory_state *state = &replay->timeline->state;
    for (size_t s = snapshot->segment_count; s-- > 0;) {
        const struct segment *segment = &snapshot->segments[s];
        if (segment->device != replay->timeline->device)
            continue;
        state->segments++;
        if (!add(&state->reserved_bytes, segment->total_size))
            return replay_overflow(replay, err);
        uint64_t before = state->active_bytes + state->inactive_bytes;
        for (size_t b = segment->block_count; b-- > 0;) {
            const struct block_row *block = &snapshot->blocks[segment->first_block + b];
            if (!take_block(replay, end_live, seen, block, err))
                return false;
        }
        compare_segment(state, segment->total_size,
                        state->active_bytes + state->inactive_bytes - before);
    }
    state->rounding_bytes = (int64_t)state->active_bytes - (int64_t)state->requested_bytes;
    return true;
}

static int by_lifetime(const void *a, const void *b)
{
    const struct block_stack *x = a, *y = b;
    return (x->lifetime > y->lifetime) - (x->lifetime < y->lifetime);
}

/* In a damaged file, two blocks may claim one address: one stack is enough. */
static void sort_block_stacks(struct timeline *timeline)
{
    struct block_stack *stacks = timeline->block_stacks;
    size_t count = 0;
    if (timeline->block_stack_count == 0)
        return;
    qsort(stacks, timeline->block_stack_count, sizeof(*stacks), by_lifetime);
    for (size_t i = 0; i < timeline->block_stack_count; i++)
        if (count == 0 || stacks[count - 1].lifetime != stacks[i].lifetime)
            stacks[count++] = stacks[i];
    timeline->block_stack_count = count;
}

bool replay_dump(struct replay *replay, struct error *err)
{
    struct timeline *timeline = replay->timeline;
    struct addrmap cut, seen;
    addrmap_init(&cut, replay->timeline->snapshot->budget);
    addrmap_init(&seen, replay->timeline->snapshot->budget);
    bool whole = !replay->trace->edge.present;
    bool ok = (whole || find_end_live(replay, &cut, err)) &&
              take_segments(replay, whole ? &replay->live : &cut, &seen, err);
    sort_block_stacks(timeline);
    addrmap_release(&cut);
    addrmap_release(&seen);
    return ok;
}
