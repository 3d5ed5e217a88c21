/* The rules. Names of functions are those of torch's c10/cuda/CUDACachingAllocator.cpp, class
 * DeviceCachingAllocator. A rule for which no version is named is the same in all versions from 2.1
 * to 2.15. */
#include <stdlib.h>

#include "analysis/replay/allocator_internal.h"

#define LARGEST_REQUEST (UINT64_C(1) << 48)
#define HIGHEST_ADDRESS (UINT64_C(1) << 62)

/* A block from cudaMalloc counts when it is made, and its parts inherit its number (2.13 and
 * later, BlockComparatorSize with registration_counter). In 2.12 every Block object has a number
 * of its own. Before, the comparator looked only at the address. */
uint64_t allocator_take_order(struct allocator *allocator, uint64_t inherited)
{
    switch (allocator->tie_break) {
    case TIE_BLOCK:
        return ++allocator->orders;
    case TIE_SEGMENT:
        return inherited ? inherited : ++allocator->orders;
    default:
        return 0;
    }
}

void allocator_grow(struct allocator *allocator, uint64_t bytes)
{
    struct allocator_totals *totals = &allocator->totals;
    totals->reserved += bytes;
    totals->segment_allocs++;
    if (totals->reserved > totals->peak_reserved) {
        totals->peak_reserved = totals->reserved;
        totals->allocated_at_peak = totals->allocated;
        allocator->peak_is_new = true;
    }
}

static void shrink(struct allocator *allocator, uint64_t bytes)
{
    allocator->totals.reserved -= bytes;
    allocator->totals.segment_frees++;
}

/* A new block for a part of `block`, not linked yet. */
static struct memory_block *new_part(struct allocator *allocator, const struct memory_block *block,
                                     uint64_t addr, uint64_t size)
{
    struct memory_block *part = allocator_new_block(allocator);
    if (!part)
        return NULL;
    part->addr = addr;
    part->size = size;
    part->place = block->place;
    part->is_small = block->is_small;
    part->expandable = block->expandable;
    part->order = allocator_take_order(allocator, block->order);
    return part;
}

static void link_before(struct memory_block *part, struct memory_block *block)
{
    part->before = block->before;
    if (part->before)
        part->before->next = part;
    part->next = block;
    block->before = part;
}

static void link_after(struct memory_block *part, struct memory_block *block)
{
    part->next = block->next;
    if (part->next)
        part->next->before = part;
    part->before = block;
    block->next = part;
}

/* try_merge_blocks: the block takes in a neighbour that is free, and mapped as the block is. The
 * block keeps its own number. */
void allocator_merge(struct allocator *allocator, struct memory_block *block,
                     struct memory_block *neighbour)
{
    if (!neighbour || neighbour->is_allocated || neighbour->is_pending ||
        neighbour->is_mapped != block->is_mapped)
        return;
    if (neighbour->is_mapped)
        allocator_remove_free(allocator, neighbour);
    else
        allocator_remove_unmapped(allocator, neighbour);
    if (block->before == neighbour) {
        block->addr = neighbour->addr;
        block->before = neighbour->before;
        if (block->before)
            block->before->next = block;
    } else {
        block->next = neighbour->next;
        if (block->next)
            block->next->before = block;
    }
    block->size += neighbour->size;
    allocator_drop_block(allocator, neighbour);
}

static void merge_both(struct allocator *allocator, struct memory_block *block)
{
    allocator_merge(allocator, block, block->before);
    allocator_merge(allocator, block, block->next);
}

/* garbage_collection_threshold works only after set_per_process_memory_fraction(), in all versions
 * tried, whatever the documentation says: malloc() asks for set_fraction. */
static bool collects_garbage(const struct allocator *allocator)
{
    return allocator->settings.rules.gc_threshold > 0 && allocator->device.allowed != CAPACITY_NONE;
}

/* The size of a free block of an expandable segment, with the unmapped part behind it
 * (get_free_block: expandable_size). */
static uint64_t extensible_size(const struct memory_block *block)
{
    const struct memory_block *next = block->next;
    return block->size + (next && !next->is_mapped ? next->size : 0);
}

/* Expandable segments are on: of the blocks from `place` on, goes on while the next one has less
 * room to grow. Off: skips expandable blocks. */
static const struct block_key *choose_expandable(struct allocator *allocator,
                                                 const struct block_set *set,
                                                 struct set_place place)
{
    const struct block_key *key = block_set_at(set, place), *next;
    if (!allocator->settings.rules.expandable_segments) {
        while (key && key->block->expandable && allocator_work(allocator, 1)) {
            place = block_set_next(set, place);
            key = block_set_at(set, place);
        }
        return key;
    }
    for (;;) {
        place = block_set_next(set, place);
        next = block_set_at(set, place);
        if (!key->block->expandable || !next ||
            extensible_size(next->block) >= extensible_size(key->block) ||
            !allocator_work(allocator, 1))
            return key;
        key = next;
    }
}

/* get_free_block: the smallest free block of the place that is large enough. Only this one is
 * judged by max_split_size_mb and max_non_split_rounding_mb (fixed at 20 MiB before 2.6); if it
 * fails, no other is tried. */
static struct memory_block *find_free(struct allocator *allocator, uint32_t place, bool is_small,
                                      uint64_t size)
{
    const struct allocator_settings *settings = &allocator->settings;
    const struct block_set *set = &allocator->free_sets[2 * (size_t)place + is_small];
    if (collects_garbage(allocator))
        allocator_pool(allocator, place, is_small)->searches++;
    struct set_place at = block_set_find(set, size, 0, 0);
    const struct block_key *key = block_set_at(set, at);
    if (key && key->block->expandable)
        key = choose_expandable(allocator, set, at);
    if (!key)
        return NULL;
    struct memory_block *block = key->block;
    uint64_t most = settings->rules.max_split_size;
    if ((size < most && block->size >= most) ||
        (size >= most && block->size - size >= settings->non_split_rounding))
        return NULL;
    allocator_remove_free(allocator, block);
    return block;
}

/* release_block */
void allocator_release_segment(struct allocator *allocator, struct memory_block *block)
{
    shrink(allocator, block->size);
    allocator_remove_free(allocator, block);
    allocator_drop_block(allocator, block);
}

static bool is_whole_segment(const struct memory_block *block)
{
    return !block->expandable && !block->before && !block->next;
}

/* garbage_collect_cached_blocks: releases free segments of the large default pool that were not
 * used for at least as many searches as the mean, in passes, until enough is free. */
static void collect_garbage(struct allocator *allocator, struct block_pool *pool)
{
    double limit = allocator->settings.rules.gc_threshold * (double)allocator->device.allowed;
    uint64_t threshold = (uint64_t)limit, ages = 0, count = 0, released = 0;
    if (allocator->totals.reserved <= threshold)
        return;
    uint64_t wanted = allocator->totals.reserved - threshold;
    for (struct memory_block *block = pool->releasable.first; block; block = block->list_next) {
        if (!is_whole_segment(block))
            continue;
        ages += pool->searches - block->inserted;
        count++;
    }
    for (bool any = true; released < wanted && any && count > 0;) {
        double mean = (double)ages / (double)count;
        any = false;
        for (struct memory_block *block = pool->releasable.first, *next; block; block = next) {
            next = block->list_next;
            uint64_t age = pool->searches - block->inserted;
            if (!allocator_work(allocator, 1))
                return;
            if (!is_whole_segment(block) || (double)age < mean)
                continue;
            any = true;
            released += block->size;
            ages -= age;
            count--;
            allocator_release_segment(allocator, block);
        }
    }
}

static uint64_t new_address(struct allocator *allocator, uint64_t size)
{
    uint64_t addr = allocator->next_addr;
    if (addr < HIGHEST_ADDRESS)
        allocator->next_addr += allocator_round_up(size, ALLOCATOR_ROUND_LARGE);
    else
        allocator_work(allocator, allocator->most_work);
    return addr;
}

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
    range->base =
        source ? source->range(source->self, range->size) : new_address(allocator, range->size);
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
            new_part(allocator, block, block->addr + bytes, block->size - bytes);
        if (!rest)
            return false;
        rest->is_mapped = false;
        link_after(rest, block);
        allocator_add_unmapped(allocator, rest);
        block->size = bytes;
    }
    block->is_mapped = true;
    uint64_t addr = block->addr;
    merge_both(allocator, block);
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
static struct memory_block *map_new(struct allocator *allocator, uint32_t place, bool is_small,
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

/* get_allocation_size */
static uint64_t segment_size(const struct allocator_settings *settings, uint64_t size)
{
    if (allocator_is_small(size))
        return ALLOCATOR_SMALL_SEGMENT;
    /* large_segment_size_mb exists since 2.10 */
    return size < ALLOCATOR_OWN_SEGMENT ? settings->large_segment
                                        : allocator_round_up(size, ALLOCATOR_ROUND_LARGE);
}

/* alloc_block. The fraction is checked with the size of a segment, also for expandable ones. */
static struct memory_block *make_segment(struct allocator *allocator, uint32_t place, bool is_small,
                                         uint64_t size)
{
    const struct allocator_device *device = &allocator->device;
    const struct allocator_source *source = allocator->source;
    uint64_t bytes = segment_size(&allocator->settings, size);
    uint64_t reserved = allocator->totals.reserved;
    if (allocator->failed ||
        (device->allowed != CAPACITY_NONE && reserved + bytes > device->allowed))
        return NULL;
    if (allocator->settings.rules.expandable_segments)
        return map_new(allocator, place, is_small, size);
    if (reserved + bytes > device->capacity)
        return NULL;
    struct memory_block *block = allocator_new_block(allocator);
    if (!block)
        return NULL;
    block->addr = source ? source->segment(source->self, bytes) : new_address(allocator, bytes);
    block->size = bytes;
    block->place = place;
    block->is_small = is_small;
    block->order = allocator_take_order(allocator, 0);
    allocator_grow(allocator, bytes);
    return block;
}

/* release_available_cached_blocks: only with max_split_size_mb. A segment that is large enough, or
 * the largest ones until they are; if they are not, they stay released. */
static bool release_available(struct allocator *allocator, uint32_t place, bool is_small,
                              uint64_t size)
{
    uint64_t least = allocator->settings.rules.max_split_size, released = 0;
    const struct block_set *set = &allocator->free_sets[2 * (size_t)place + is_small];
    if (least == UINT64_MAX)
        return false;
    uint64_t wanted = size > least ? size : least;
    struct set_place at = block_set_find(set, wanted, 0, 0);
    const struct block_key *key = block_set_at(set, at);
    if (key) {
        bool is_whole = is_whole_segment(key->block);
        if (is_whole)
            allocator_release_segment(allocator, key->block);
        return is_whole;
    }
    while (released < wanted && block_set_before(set, &at)) {
        struct memory_block *block = block_set_at(set, at)->block;
        if (block->size < least || !allocator_work(allocator, 1))
            break;
        if (!is_whole_segment(block))
            continue;
        released += block->size;
        uint64_t removed = block->size, order = allocator_key(allocator, block).order;
        uint64_t addr = block->addr;
        allocator_release_segment(allocator, block);
        at = block_set_find(set, removed, order, addr);
    }
    return released >= wanted;
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
            new_part(allocator, block, block->addr, pages.start - block->addr);
        if (!front)
            return;
        link_before(front, block);
        allocator_add_free(allocator, front);
    }
    if (pages.end < end) {
        struct memory_block *back = new_part(allocator, block, pages.end, end - pages.end);
        if (!back)
            return;
        link_after(back, block);
        allocator_add_free(allocator, back);
    }
    block->addr = pages.start;
    block->size = pages.end - pages.start;
    block->is_mapped = false;
    merge_both(allocator, block);
    allocator_add_unmapped(allocator, block);
    shrink(allocator, pages.end - pages.start);
    if (!block->before && !block->next) { /* release_expandable_segment */
        allocator_remove_unmapped(allocator, block);
        allocator_drop_range(allocator, block->expandable);
        allocator_drop_block(allocator, block);
    }
}

/* In the order of the set, which decides the numbers of new parts. */
static int by_key(const void *a, const void *b)
{
    const struct memory_block *x = *(struct memory_block *const *)a;
    const struct memory_block *y = *(struct memory_block *const *)b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

/* release_blocks: whole segments at once, then the pages of expandable ones. */
static void release_pool(struct allocator *allocator, struct block_pool *pool)
{
    struct memory_block **blocks = NULL;
    size_t count = 0, capacity = 0;
    for (struct memory_block *block = pool->releasable.first, *next; block; block = next) {
        next = block->list_next;
        if (!block->expandable) {
            allocator_release_segment(allocator, block);
        } else if (!vec_push(blocks, count, capacity, allocator->budget, &allocator->err, block)) {
            allocator->failed = true;
            break;
        }
    }
    if (count > 0)
        qsort((void *)blocks, count, sizeof(blocks[0]), by_key);
    for (size_t i = 0; i < count && !allocator->failed; i++)
        allocator_unmap(allocator, blocks[i]);
    vec_free((void *)blocks, capacity, sizeof(blocks[0]), allocator->budget);
}

static void complete_free(struct allocator *allocator, struct memory_block *block)
{
    block->is_pending = false;
    merge_both(allocator, block);
    allocator_add_free(allocator, block);
}

/* release_cached_blocks: waits for all frees that other streams hold up, then releases the default
 * pool, the large blocks first, and private pools whose graphs are gone. */
static void release_cached(struct allocator *allocator)
{
    while (allocator->pending.first && !allocator->failed) {
        struct memory_block *block = allocator->pending.first;
        allocator_list_remove(&allocator->pending, block);
        *block->slot = NULL;
        complete_free(allocator, block);
    }
    for (unsigned is_private = 0; is_private < 2; is_private++)
        for (size_t i = 0; i < allocator->pool_count; i++) {
            struct block_pool *pool = &allocator->pools[i];
            if (!allocator_work(allocator, 1))
                return;
            if (pool->is_private == is_private && (!is_private || pool->is_ended))
                release_pool(allocator, pool);
        }
}

/* Memory for a request that no free block serves. */
static struct memory_block *get_memory(struct allocator *allocator, uint32_t place, bool is_small,
                                       uint64_t size)
{
    struct block_pool *own = allocator_pool(allocator, place, is_small);
    if (collects_garbage(allocator)) {
        for (size_t i = 0; i < allocator->pool_count; i += 2)
            if (!allocator->pools[i].is_private)
                collect_garbage(allocator, &allocator->pools[i]);
    }
    struct memory_block *block = make_segment(allocator, place, is_small, size);
    if (!block && release_available(allocator, place, is_small, size))
        block = make_segment(allocator, place, is_small, size);
    /* Up to 2.12 nothing is released while a graph is captured into a private pool. */
    if (!block && (allocator->tie_break == TIE_SEGMENT || !own->is_private)) {
        release_cached(allocator);
        allocator->totals.retries++;
        block = make_segment(allocator, place, is_small, size);
    }
    return block;
}

/* should_split: also small remainders of small blocks; and all, once expandable segments are on. */
static bool splits(const struct allocator_settings *settings, bool is_small, uint64_t size,
                   uint64_t rest)
{
    if (is_small || settings->rules.expandable_segments)
        return rest >= ALLOCATOR_MIN_BLOCK;
    return size < settings->rules.max_split_size && rest > ALLOCATOR_SMALL_REQUEST;
}

/* malloc and alloc_found_block. The pool is chosen by the rounded size. */
bool allocator_malloc(struct allocator *allocator, uint32_t place, uint64_t requested,
                      struct memory_block **found, struct error *err)
{
    const struct allocator_settings *settings = &allocator->settings;
    struct allocator_totals *totals = &allocator->totals;
    uint64_t size = allocator_round(&settings->rules, requested);
    bool is_small = allocator_is_small(size);
    struct memory_block *block = NULL;
    if (size <= LARGEST_REQUEST) {
        block = find_free(allocator, place, is_small, size);
        if (!block && !allocator->failed)
            block = get_memory(allocator, place, is_small, size);
    }
    if (!block)
        totals->ooms++;
    if (block && splits(settings, is_small, size, block->size - size)) {
        struct memory_block *front = new_part(allocator, block, block->addr, size);
        if (front) {
            link_before(front, block);
            block->addr += size;
            block->size -= size;
            allocator_add_free(allocator, block);
            block = front;
        }
    }
    if (!allocator_result(allocator, err))
        return false;
    if (block) {
        block->is_allocated = true;
        totals->allocated += block->size;
        if (totals->allocated > totals->peak_allocated)
            totals->peak_allocated = totals->allocated;
        if (allocator->peak_is_new && totals->reserved == totals->peak_reserved)
            totals->allocated_at_peak = totals->allocated;
    }
    allocator->peak_is_new = false;
    *found = block;
    return true;
}

bool allocator_free_requested(struct allocator *allocator, struct memory_block **slot,
                              struct error *err)
{
    struct memory_block *block = *slot;
    if (block && block->is_allocated) {
        allocator->totals.allocated -= block->size;
        block->is_allocated = false;
        block->is_pending = true;
        block->slot = slot;
        allocator_list_add(&allocator->pending, block);
    }
    return allocator_result(allocator, err);
}

/* free_block */
bool allocator_free_completed(struct allocator *allocator, struct memory_block **slot,
                              struct error *err)
{
    struct memory_block *block = *slot;
    if (!block)
        return allocator_result(allocator, err);
    if (block->is_allocated)
        allocator->totals.allocated -= block->size;
    else
        allocator_list_remove(&allocator->pending, block);
    block->is_allocated = false;
    *slot = NULL;
    complete_free(allocator, block);
    return allocator_result(allocator, err);
}

/* emptyCache */
bool allocator_empty_cache(struct allocator *allocator, struct error *err)
{
    release_cached(allocator);
    return allocator_result(allocator, err);
}

void allocator_end_pool(struct allocator *allocator, uint32_t place)
{
    for (unsigned small = 0; small < 2; small++)
        allocator_pool(allocator, place, small)->is_ended = true;
}
