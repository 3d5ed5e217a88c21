/* clang-format off */
/* How torch serves a request, and where each rule of the model stands in torch: the class
 * DeviceCachingAllocator of c10/cuda/CUDACachingAllocator.cpp, unless another is named. A rule
 * without a version is the same in all versions tried, 2.1 to 2.15.
 *
 *   rule                              here                        in torch
 *   rounding of requests              model/allocator_rules.h     round_size
 *   small or large pool               allocator_malloc            get_pool: by the rounded size
 *   order of free blocks, up to 2.11  allocator_key               BlockComparatorSize: address
 *     2.12                            allocator_take_order        the same: number of a Block
 *     since 2.13                      allocator_take_order        registration_counter, address
 *   best fit, one candidate only      find_free                   get_free_block
 *   max_non_split_rounding_mb         find_free                   the same; 20 MiB before 2.6
 *   room to grow, expandable segments choose_expandable           get_free_block
 *   size of a segment                 segment_size                get_allocation_size
 *   large_segment_size_mb, since 2.10 segment_size                the same
 *   limit of the process              make_segment                alloc_block: set_fraction
 *   garbage collection                allocator_collect_garbage   garbage_collect_cached_blocks if
 *                                                                 set_fraction
 *   release before an error           get_memory                  malloc
 *     with max_split_size_mb          allocator_release_available release_available_cached_blocks
 *     of everything                   allocator_release_cached    release_cached_blocks; not in a
 *                                                                 graph's pool up to 2.12
 *   splitting, front first            splits                      should_split, alloc_found_block
 *   merging                           allocator_merge_both        try_merge_blocks
 *   frees that wait for a stream      allocator_free_requested    free, process_events
 *   address range and pages           allocator_make_range        ExpandableSegment
 *   where to map                      find_room                   find_expandable_block
 *   mapping                           allocator_map_new           try_allocate_expandable_block
 *   unmapping of whole pages          allocator_unmap             unmap_block
 */
/* clang-format on */
#include "analysis/replay/allocator_internal.h"

#define LARGEST_REQUEST (UINT64_C(1) << 48)

/* The size of a free block of an expandable segment together with the unmapped part after it
 * (get_free_block: expandable_size). */
static uint64_t extensible_size(const struct memory_block *block)
{
    const struct memory_block *next = block->next;
    return block->size + (next && !next->is_mapped ? next->size : 0);
}

/* With expandable segments, goes on from the block at `place` while the next block has less room to
 * grow. Without them, skips expandable blocks. */
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
    if (allocator_collects_garbage(allocator))
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
        return allocator_map_new(allocator, place, is_small, size);
    if (reserved + bytes > device->capacity)
        return NULL;
    struct memory_block *block = allocator_new_block(allocator);
    if (!block)
        return NULL;
    block->addr =
        source ? source->segment(source->self, bytes) : allocator_new_address(allocator, bytes);
    block->size = bytes;
    block->place = place;
    block->is_small = is_small;
    block->order = allocator_take_order(allocator, 0);
    allocator_grow(allocator, bytes);
    return block;
}

/* Memory for a request that no free block serves. */
static struct memory_block *get_memory(struct allocator *allocator, uint32_t place, bool is_small,
                                       uint64_t size)
{
    struct block_pool *own = allocator_pool(allocator, place, is_small);
    if (allocator_collects_garbage(allocator)) {
        for (size_t i = 0; i < allocator->pool_count; i += 2)
            if (!allocator->pools[i].is_private)
                allocator_collect_garbage(allocator, &allocator->pools[i]);
    }
    struct memory_block *block = make_segment(allocator, place, is_small, size);
    if (!block && allocator_release_available(allocator, place, is_small, size))
        block = make_segment(allocator, place, is_small, size);
    /* Up to 2.12 nothing is released while a graph is captured into a private pool. */
    if (!block && (allocator->tie_break == TIE_SEGMENT || !own->is_private)) {
        allocator_release_cached(allocator);
        allocator->totals.retries++;
        block = make_segment(allocator, place, is_small, size);
    }
    return block;
}

/* should_split: small blocks are split even if little remains, and with expandable segments all
 * blocks. */
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
        struct memory_block *front = allocator_new_part(allocator, block, block->addr, size);
        if (front) {
            allocator_link_before(front, block);
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
    allocator_complete_free(allocator, block);
    return allocator_result(allocator, err);
}

/* emptyCache */
bool allocator_empty_cache(struct allocator *allocator, struct error *err)
{
    allocator_release_cached(allocator);
    return allocator_result(allocator, err);
}

void allocator_end_pool(struct allocator *allocator, uint32_t place)
{
    for (unsigned small = 0; small < 2; small++)
        allocator_pool(allocator, place, small)->is_ended = true;
}
