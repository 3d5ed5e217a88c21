/* Memory that goes back to the driver: garbage collection, releases before an error, and
 * empty_cache(). */
#include <stdlib.h>

#include "analysis/replay/allocator_internal.h"

/* release_block */
void allocator_release_segment(struct allocator *allocator, struct memory_block *block)
{
    allocator_shrink(allocator, block->size);
    allocator_remove_free(allocator, block);
    allocator_drop_block(allocator, block);
}

static bool is_whole_segment(const struct memory_block *block)
{
    return !block->expandable && !block->before && !block->next;
}

/* garbage_collection_threshold works only after set_per_process_memory_fraction(), in all versions
 * tried, whatever the documentation says: malloc() asks for set_fraction. */
bool allocator_collects_garbage(const struct allocator *allocator)
{
    return allocator->settings.rules.gc_threshold > 0 && allocator->device.allowed != CAPACITY_NONE;
}

/* garbage_collect_cached_blocks: releases free segments of the large default pool that were not
 * used for at least as many searches as the mean, in passes, until enough is free. */
void allocator_collect_garbage(struct allocator *allocator, struct block_pool *pool)
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

/* release_available_cached_blocks: only with max_split_size_mb. A segment that is large enough, or
 * the largest ones until they are; if they are not, they stay released. */
bool allocator_release_available(struct allocator *allocator, uint32_t place, bool is_small,
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

/* Orders as in the set, since the order decides the numbers of new parts. */
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

/* release_cached_blocks: waits for all frees that other streams hold up, then releases the default
 * pool, the large blocks first, and private pools whose graphs are gone. */
void allocator_release_cached(struct allocator *allocator)
{
    while (allocator->pending.first && !allocator->failed) {
        struct memory_block *block = allocator->pending.first;
        allocator_list_remove(&allocator->pending, block);
        *block->slot = NULL;
        allocator_complete_free(allocator, block);
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
