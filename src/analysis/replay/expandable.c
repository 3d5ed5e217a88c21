/* Expandable segments: ranges of addresses to which memory is mapped in pages. */
#include "analysis/replay/allocator_internal.h"

/* ExpandableSegment: 9/8 of the device's memory in pages of 2 MiB for the small pool, of
 * large_segment_size_mb for the large one. */
struct expandable *allocator_make_range(struct allocator *allocator, bool is_small, uint64_t base)
{
    struct expandable *range = allocator_new_range(allocator);
    if (!range)
        return NULL;
    uint64_t total = allocator->device.total;
    range->page = is_small ? ALLOCATOR_SMALL_SEGMENT : allocator->settings.large_segment;
    range->size = allocator_round_up(total + total / 8, range->page);
    range->base = base;
    return range;
}

static struct memory_block *make_range(struct allocator *allocator, uint32_t place, bool is_small)
{
    const struct allocator_source *source = allocator->source;
    struct memory_block *block = allocator_new_block(allocator);
    struct expandable *range = block ? allocator_make_range(allocator, is_small, 0) : NULL;
    if (!range)
        return NULL;
    range->base = source ? source->range(source->self, range->size)
                         : allocator_new_address(allocator, range->size);
    block->addr = range->base;
    block->size = range->size;
    block->place = place;
    block->is_small = is_small;
    block->is_mapped = false;
    block->expandable = range;
    block->order = allocator_take_order(allocator, 0);
    allocator_add_unmapped(allocator, block);
    return block;
}

static bool is_available(const struct memory_block *block)
{
    return block && !block->is_allocated && !block->is_pending;
}

/* True if free and unmapped parts from `block` on are together large enough. */
static bool has_room(struct allocator *allocator, const struct memory_block *block, uint64_t size)
{
    uint64_t sum = 0;
    for (; sum < size && is_available(block); block = block->next) {
        sum += block->size;
        if (!allocator_work(allocator, 1))
            return false;
    }
    return sum >= size;
}

/* find_expandable_block: the unmapped parts of the place by address; each is taken together with
 * the free block before it, if there is one. */
static struct memory_block *find_room(struct allocator *allocator, uint32_t place, bool is_small,
                                      uint64_t size)
{
    const struct block_set *set = &allocator->unmapped_sets[2 * (size_t)place + is_small];
    struct set_place at = {0, 0};
    for (const struct block_key *key; (key = block_set_at(set, at)); at = block_set_next(set, at)) {
        struct memory_block *block = key->block;
        if (is_available(block->before))
            block = block->before;
        if (has_room(allocator, block, size))
            return block;
        if (allocator->failed)
            return NULL;
    }
    return make_range(allocator, place, is_small);
}

/* map_block: maps whole pages at the beginning of an unmapped part, and makes them free. */
bool allocator_map(struct allocator *allocator, struct memory_block *block, uint64_t size)
{
    uint64_t bytes = allocator_round_up(size, block->expandable->page);
    if (bytes > allocator->device.capacity ||
        allocator->totals.reserved > allocator->device.capacity - bytes)
        return false;
    allocator_remove_unmapped(allocator, block);
    if (bytes < block->size) {
        struct memory_block *rest =
            allocator_new_part(allocator, block, block->addr + bytes, block->size - bytes);
        if (!rest)
            return false;
        rest->is_mapped = false;
        allocator_link_after(rest, block);
        allocator_add_unmapped(allocator, rest);
        block->size = bytes;
    }
    block->is_mapped = true;
    uint64_t addr = block->addr;
    allocator_merge_both(allocator, block);
    allocator_add_free(allocator, block);
    allocator_grow(allocator, bytes);
    if (allocator->source)
        allocator->source->mapped(allocator->source->self, addr, bytes);
    return true;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* try_allocate_expandable_block. If a later part cannot be mapped, what was mapped stays. */
struct memory_block *allocator_map_new(struct allocator *allocator, uint32_t place, bool is_small,
                                       uint64_t size)
{
    struct memory_block *block = find_room(allocator, place, is_small, size);
    if (!block || (!block->is_mapped && !allocator_map(allocator, block, lower(block->size, size))))
        return NULL;
    while (block->size < size) {
        struct memory_block *next = block->next;
        if (!next || next->is_mapped || allocator->failed ||
            !allocator_map(allocator, next, lower(size - block->size, next->size)))
            return NULL;
        block = next;
    }
    allocator_remove_free(allocator, block);
    return block;
}

/* unmap_block: only pages that lie wholly inside the block. */
void allocator_unmap(struct allocator *allocator, struct memory_block *block)
{
    struct page_range pages = allocator_pages(block);
    uint64_t end = block->addr + block->size;
    if (pages.start >= pages.end)
        return;
    allocator_remove_free(allocator, block);
    if (pages.start > block->addr) {
        struct memory_block *front =
            allocator_new_part(allocator, block, block->addr, pages.start - block->addr);
        if (!front)
            return;
        allocator_link_before(front, block);
        allocator_add_free(allocator, front);
    }
    if (pages.end < end) {
        struct memory_block *back =
            allocator_new_part(allocator, block, pages.end, end - pages.end);
        if (!back)
            return;
        allocator_link_after(back, block);
        allocator_add_free(allocator, back);
    }
    block->addr = pages.start;
    block->size = pages.end - pages.start;
    block->is_mapped = false;
    allocator_merge_both(allocator, block);
    allocator_add_unmapped(allocator, block);
    allocator_shrink(allocator, pages.end - pages.start);
    if (!block->before && !block->next) { /* release_expandable_segment */
        allocator_remove_unmapped(allocator, block);
        allocator_drop_range(allocator, block->expandable);
        allocator_drop_block(allocator, block);
    }
}
