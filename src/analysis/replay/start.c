/* An allocator that starts in the middle of a program, and one that is forced to do as recorded. */
#include <stdlib.h>

#include "analysis/replay/allocator_internal.h"

static bool contradiction(struct error *err)
{
    return error_set(err, STATUS_BAD_INPUT, "its blocks and segments contradict each other");
}

/* A chain of blocks that is being built from left to right. */
struct chain {
    struct allocator *allocator;
    const struct start_segment *segment;
    struct memory_block *first, *last;
    struct expandable *range;
    uint64_t order;
};

static struct memory_block *append(struct chain *chain, uint64_t addr, uint64_t size)
{
    struct memory_block *block = allocator_new_block(chain->allocator);
    if (!block)
        return NULL;
    block->addr = addr;
    block->size = size;
    block->place = chain->segment->place;
    block->is_small = chain->segment->is_small;
    block->expandable = chain->range;
    block->order = allocator_take_order(chain->allocator, chain->order);
    chain->order = block->order;
    block->before = chain->last;
    if (chain->last)
        chain->last->next = block;
    if (!chain->first)
        chain->first = block;
    chain->last = block;
    return block;
}

static bool fill(struct chain *chain, struct memory_block **slots)
{
    struct allocator *allocator = chain->allocator;
    const struct start_segment *segment = chain->segment;
    uint64_t at = segment->addr, end = segment->addr + segment->size;
    for (size_t i = 0; i < segment->block_count; i++) {
        const struct start_block *part = &segment->blocks[i];
        if (part->addr < at || part->addr > end || part->size > end - part->addr)
            return false;
        if (part->addr > at && !append(chain, at, part->addr - at))
            return true;
        struct memory_block *block = append(chain, part->addr, part->size);
        if (!block)
            return true;
        slots[part->slot] = block;
        block->is_allocated = true;
        allocator->totals.allocated += part->size;
        at = part->addr + part->size;
        struct error err; /* kept in the allocator, too */
        if (part->is_pending && !allocator_free_requested(allocator, &slots[part->slot], &err))
            return true;
    }
    if (at < end)
        append(chain, at, end - at);
    return true;
}

static void add_holes(struct allocator *allocator, struct memory_block *block)
{
    for (; block && !allocator->failed; block = block->next)
        if (block->is_mapped && !block->is_allocated && !block->is_pending)
            allocator_add_free(allocator, block);
}

/* Continues the open range, or opens another one. */
static bool open_range(struct chain *chain, struct error *err)
{
    struct allocator *allocator = chain->allocator;
    const struct start_segment *segment = chain->segment;
    struct memory_block *end = allocator->open_end;
    if (end && end->expandable->base != segment->range_start) {
        if (!allocator_end_segments(allocator, err))
            return false;
        end = NULL;
    }
    chain->range = end ? end->expandable
                       : allocator_make_range(allocator, segment->is_small, segment->range_start);
    if (!chain->range)
        return allocator_result(allocator, err);
    chain->last = end;
    chain->order = end ? end->order : 0;
    uint64_t base = chain->range->base, at = end ? end->addr + end->size : base;
    if (segment->addr < at || (segment->addr - base) % chain->range->page != 0 ||
        segment->size % chain->range->page != 0 ||
        segment->addr + segment->size - base > chain->range->size)
        return contradiction(err);
    if (segment->addr > at) {
        struct memory_block *gap = append(chain, at, segment->addr - at);
        if (!gap)
            return allocator_result(allocator, err);
        gap->is_mapped = false;
        allocator_add_unmapped(allocator, gap);
        chain->first = NULL;
    }
    return true;
}

bool allocator_add_segment(struct allocator *allocator, const struct start_segment *segment,
                           struct memory_block **slots, struct error *err)
{
    struct chain chain = {.allocator = allocator, .segment = segment};
    if (segment->is_expandable ? !open_range(&chain, err) : !allocator_end_segments(allocator, err))
        return false;
    chain.first = NULL;
    if (!fill(&chain, slots))
        return contradiction(err);
    add_holes(allocator, chain.first);
    if (segment->is_expandable)
        allocator->open_end = chain.last;
    allocator_grow(allocator, segment->size);
    allocator->totals.segment_allocs = 0;
    return allocator_result(allocator, err);
}

bool allocator_end_segments(struct allocator *allocator, struct error *err)
{
    struct memory_block *last = allocator->open_end;
    allocator->open_end = NULL;
    if (!last)
        return allocator_result(allocator, err);
    struct expandable *range = last->expandable;
    uint64_t at = last->addr + last->size, end = range->base + range->size;
    struct start_segment segment = {.place = last->place, .is_small = last->is_small};
    struct chain chain = {allocator, &segment, NULL, last, range, last->order};
    struct memory_block *rest = at < end ? append(&chain, at, end - at) : NULL;
    if (rest) {
        rest->is_mapped = false;
        allocator_add_unmapped(allocator, rest);
    }
    return allocator_result(allocator, err);
}

/* The free block that begins at or before `addr`; NULL if there is none. */
static struct memory_block *find_hole(const struct allocator *allocator, uint64_t addr)
{
    const struct block_set *set = &allocator->by_addr;
    struct set_place place = block_set_find(set, addr, 0, addr);
    const struct block_key *key = block_set_at(set, place);
    if (key && key->size == addr)
        return key->block;
    return block_set_before(set, &place) ? block_set_at(set, place)->block : NULL;
}

bool allocator_force_free(struct allocator *allocator, uint64_t addr, uint64_t size, bool *done,
                          struct error *err)
{
    struct memory_block *block = find_hole(allocator, addr);
    *done = block && block->addr == addr && block->size == size && !block->expandable &&
            !block->before && !block->next;
    if (*done)
        allocator_release_segment(allocator, block);
    return allocator_result(allocator, err);
}

bool allocator_force_unmap(struct allocator *allocator, uint64_t addr, uint64_t size, bool *done,
                           struct error *err)
{
    struct memory_block *block = find_hole(allocator, addr);
    *done = false;
    if (block && block->expandable) {
        struct page_range pages = allocator_pages(block);
        *done = pages.start == addr && pages.end - pages.start == size && size > 0;
    }
    if (*done)
        allocator_unmap(allocator, block);
    return allocator_result(allocator, err);
}

bool allocator_force_map(struct allocator *allocator, uint32_t place, bool is_small, uint64_t addr,
                         uint64_t size, bool *done, struct error *err)
{
    const struct block_set *set = &allocator->unmapped_sets[2 * (size_t)place + is_small];
    const struct block_key *key = block_set_at(set, block_set_find(set, addr, 0, addr));
    *done = key && key->size == addr && size > 0 && size <= key->block->size &&
            size % key->block->expandable->page == 0 && allocator_map(allocator, key->block, size);
    return allocator_result(allocator, err);
}
