#include "model/layout_blocks.h"

#include <stdlib.h>

#include "base/bisect.h"

static int by_address(const void *a, const void *b)
{
    const struct placed_block *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

static bool is_pending(const struct timeline *timeline, int64_t item, const struct live *live)
{
    uint32_t requested = live->in_trace ? timeline->lifetimes[live->index].free_requested
                                        : timeline->preexisting[live->index].free_requested;
    if (!live->in_trace && !timeline->preexisting[live->index].in_allocated)
        return true;
    return (int64_t)requested <= item;
}

/* A stretch of an expandable segment that is not in the dump: only the small pool has small
 * requests. */
static void classify(struct reserved_piece *piece, const struct allocator_rules *rules,
                     const struct placed_block *first)
{
    if (piece->class != CLASS_UNKNOWN)
        return;
    bool is_small = first ? allocator_is_small(allocator_round(rules, first->requested))
                          : (piece->end - piece->start) % ALLOCATOR_LARGE_SEGMENT != 0;
    piece->class = is_small ? CLASS_SMALL : CLASS_LARGE;
}

/* In these segments the remainder of a block is always split off, whatever its size. */
static bool splits_always(const struct reserved_piece *piece, const struct allocator_rules *rules)
{
    return piece->class == CLASS_SMALL || piece->is_expandable || rules->expandable_segments;
}

/* Applies only the rules in allocator_rules.h. */
static void measure(struct placed_block *block, const struct reserved_piece *piece,
                    const struct allocator_rules *rules)
{
    uint64_t room = block->limit - block->addr, size = allocator_round(rules, block->requested);
    if (size > room) { /* extends into the next block */
        block->piece = NO_PIECE;
        return;
    }
    block->size = size;
    if (splits_always(piece, rules) || room == size)
        return;
    if (room - size <= ALLOCATOR_SMALL_REQUEST || size >= rules->max_split_size)
        block->size = room;
    else
        block->unsure = ALLOCATOR_SMALL_REQUEST;
}

static void place(struct placed_blocks *blocks, struct reserved_pieces *pieces,
                  const struct allocator_rules *rules)
{
    size_t p = 0;
    struct placed_block *last = NULL; /* the latest block in piece p */
    for (size_t i = 0; i < blocks->count; i++) {
        struct placed_block *block = &blocks->items[i];
        while (p < pieces->count && pieces->items[p].end <= block->addr) {
            classify(&pieces->items[p++], rules, last);
            last = NULL;
        }
        block->piece = NO_PIECE;
        if (p == pieces->count || block->addr < pieces->items[p].start)
            continue;
        if (last)
            last->limit = block->addr;
        block->piece = p;
        block->limit = pieces->items[p].end;
        last = block;
    }
    for (; p < pieces->count; p++, last = NULL)
        classify(&pieces->items[p], rules, last);
}

bool placed_blocks_make(const struct timeline *timeline, int64_t item, const struct live *live,
                        size_t live_count, struct reserved_pieces *pieces,
                        struct placed_blocks *blocks, struct error *err)
{
    const struct allocator_rules *rules = &timeline->snapshot->rules;
    struct placed_blocks made = {.budget = timeline->snapshot->budget};
    if (!vec_reserve(made.items, made.capacity, live_count, made.budget, err))
        return false;
    for (size_t i = 0; i < live_count; i++)
        made.items[i] = (struct placed_block){
            .addr = live[i].addr,
            .requested = live[i].size,
            .owner = i,
            .is_pending = is_pending(timeline, item, &live[i]),
        };
    made.count = live_count;
    if (live_count > 0)
        qsort(made.items, live_count, sizeof(*made.items), by_address);
    place(&made, pieces, rules);
    for (size_t i = 0; i < made.count; i++)
        if (made.items[i].piece != NO_PIECE)
            measure(&made.items[i], &pieces->items[made.items[i].piece], rules);
    *blocks = made;
    return true;
}

void placed_blocks_release(struct placed_blocks *blocks)
{
    vec_free(blocks->items, blocks->capacity, sizeof(*blocks->items), blocks->budget);
    *blocks = (struct placed_blocks){.budget = blocks->budget};
}

/* The time during which something existed: after item `from`, until item `to`. */
struct presence {
    int64_t from, to;
};

static struct presence presence_of(const struct timeline *timeline, const struct live *live)
{
    if (!live->in_trace)
        return (struct presence){-1, timeline->preexisting[live->index].free_completed};
    const struct lifetime *lifetime = &timeline->lifetimes[live->index];
    return (struct presence){lifetime->alloc, lifetime->free_completed};
}

/* The unsure blocks, sorted by address. Their stretches do not overlap. */
struct unsure {
    struct entry {
        struct placed_block *block;
        uint64_t from,
            to; /* an allocation made after `from`, up to `to`, began where this block ended */
        struct presence presence;
        bool is_settled;
    } * items;
    size_t count, capacity;
};

static struct entry *find(const struct unsure *unsure, uint64_t addr)
{
    struct entry *items = unsure->items;
    size_t at = items ? bisect_less_64(&items->to, sizeof(*items), unsure->count, addr) : 0;
    return at < unsure->count ? &items[at] : NULL;
}

/* Takes in an allocation that began at `addr` and existed during `presence`. Later ones count, too,
 * as long as the block is live: its end does not move. */
static void hear(const struct unsure *unsure, uint64_t addr, struct presence presence)
{
    struct entry *entry = find(unsure, addr);
    if (!entry || addr <= entry->from || entry->is_settled || presence.to <= entry->presence.from ||
        presence.from >= entry->presence.to)
        return;
    entry->block->size = addr - entry->block->addr;
    entry->is_settled = true;
}

static void hear_trace(const struct unsure *unsure, const struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        hear(unsure, trace_addr(timeline->trace, lifetime->alloc),
             (struct presence){lifetime->alloc, lifetime->free_completed});
    }
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        if (preexisting->in_active)
            hear(unsure, preexisting->addr, (struct presence){-1, preexisting->free_completed});
    }
}

/* Takes in the blocks that still exist at the dump. */
static void hear_dump(const struct unsure *unsure, const struct timeline *timeline)
{
    const struct snapshot *snapshot = timeline->snapshot;
    for (size_t s = 0; s < snapshot->segment_count; s++) {
        const struct segment *segment = &snapshot->segments[s];
        for (size_t b = 0; segment->device == timeline->device && b < segment->block_count; b++) {
            const struct block_row *row = &snapshot->blocks[segment->first_block + b];
            struct entry *entry = find(unsure, row->address + 1);
            if (row->state == BLOCK_INACTIVE || !entry || entry->is_settled ||
                entry->block->addr != row->address || entry->presence.to != EVENT_NEVER ||
                row->size < entry->block->size || row->size > entry->to - row->address)
                continue;
            entry->block->size = row->size;
            entry->is_settled = true;
        }
    }
}

bool placed_blocks_settle(const struct timeline *timeline, const struct live *live,
                          struct placed_blocks *blocks, struct error *err)
{
    struct unsure unsure = {0};
    for (size_t i = 0; i < blocks->count; i++) {
        struct placed_block *block = &blocks->items[i];
        if (block->piece == NO_PIECE || block->unsure == 0)
            continue;
        if (!vec_reserve(unsure.items, unsure.capacity, unsure.count + 1, blocks->budget, err)) {
            vec_free(unsure.items, unsure.capacity, sizeof(*unsure.items), blocks->budget);
            return false;
        }
        uint64_t end = block->addr + block->size;
        unsure.items[unsure.count++] = (struct entry){
            block, end, end + block->unsure, presence_of(timeline, &live[block->owner]), false};
    }
    hear_dump(&unsure, timeline);
    if (unsure.count > 0)
        hear_trace(&unsure, timeline);
    /* If a block was made in the trace, the trace also shows what lay after it then. */
    for (size_t i = 0; i < unsure.count; i++)
        if (unsure.items[i].is_settled || unsure.items[i].presence.from >= 0)
            unsure.items[i].block->unsure = 0;
    vec_free(unsure.items, unsure.capacity, sizeof(*unsure.items), blocks->budget);
    return true;
}
