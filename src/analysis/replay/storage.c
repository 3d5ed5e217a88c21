#include <stdlib.h>
#include <string.h>

#include "analysis/replay/allocator_internal.h"

/* No real trace comes near: a step is a few nanoseconds. */
#define MOST_WORK UINT64_C(20000000000)

static void fail(struct allocator *allocator, const struct error *err)
{
    if (!allocator->failed)
        allocator->err = *err;
    allocator->failed = true;
}

bool allocator_result(const struct allocator *allocator, struct error *err)
{
    if (allocator->failed)
        *err = allocator->err;
    return !allocator->failed;
}

bool allocator_work(struct allocator *allocator, uint64_t steps)
{
    struct error err;
    allocator->work += steps;
    if (allocator->work <= allocator->most_work)
        return true;
    error_set(&err, STATUS_LIMIT, "the replay of this trace takes too long");
    fail(allocator, &err);
    return false;
}

static bool add_slab(struct allocator *allocator)
{
    struct error err;
    struct block_slab *slab = NULL;
    if (budget_take(allocator->budget, sizeof(*slab), &err)) {
        slab = malloc(sizeof(*slab));
        if (!slab) {
            budget_give(allocator->budget, sizeof(*slab));
            error_out_of_memory(&err);
        }
    }
    if (!slab) {
        fail(allocator, &err);
        return false;
    }
    slab->next = allocator->slabs;
    allocator->slabs = slab;
    for (size_t i = 0; i < BLOCKS_AT_ONCE; i++) {
        slab->blocks[i].next = allocator->spare;
        allocator->spare = &slab->blocks[i];
    }
    return true;
}

/* NULL on failure. Mapped and free, otherwise cleared. */
struct memory_block *allocator_new_block(struct allocator *allocator)
{
    if (!allocator->spare && !add_slab(allocator))
        return NULL;
    struct memory_block *block = allocator->spare;
    allocator->spare = block->next;
    memset(block, 0, sizeof(*block));
    block->is_mapped = true;
    return block;
}

void allocator_drop_block(struct allocator *allocator, struct memory_block *block)
{
    block->next = allocator->spare;
    allocator->spare = block;
}

struct expandable *allocator_new_range(struct allocator *allocator)
{
    struct error err;
    if (!budget_take(allocator->budget, sizeof(struct expandable), &err)) {
        fail(allocator, &err);
        return NULL;
    }
    struct expandable *range = calloc(1, sizeof(*range));
    if (!range) {
        budget_give(allocator->budget, sizeof(*range));
        error_out_of_memory(&err);
        fail(allocator, &err);
        return NULL;
    }
    range->next = allocator->ranges;
    if (range->next)
        range->next->before = range;
    allocator->ranges = range;
    return range;
}

void allocator_drop_range(struct allocator *allocator, struct expandable *range)
{
    if (range->before)
        range->before->next = range->next;
    else
        allocator->ranges = range->next;
    if (range->next)
        range->next->before = range->before;
    free(range);
    budget_give(allocator->budget, sizeof(*range));
}

void allocator_list_add(struct block_list *list, struct memory_block *block)
{
    block->is_listed = true;
    block->list_next = NULL;
    block->list_before = list->last;
    if (list->last)
        list->last->list_next = block;
    else
        list->first = block;
    list->last = block;
}

void allocator_list_remove(struct block_list *list, struct memory_block *block)
{
    block->is_listed = false;
    if (block->list_before)
        block->list_before->list_next = block->list_next;
    else
        list->first = block->list_next;
    if (block->list_next)
        block->list_next->list_before = block->list_before;
    else
        list->last = block->list_before;
}

static void add_to(struct allocator *allocator, struct block_set *set, const struct block_key *key)
{
    struct error err;
    if (!block_set_add(set, key, allocator->budget, &err))
        fail(allocator, &err);
}

static bool is_releasable(const struct memory_block *block)
{
    if (!block->expandable)
        return !block->before && !block->next;
    struct page_range pages = allocator_pages(block);
    return pages.start < pages.end;
}

static struct block_key address_key(struct memory_block *block)
{
    return (struct block_key){block->addr, 0, block};
}

void allocator_add_free(struct allocator *allocator, struct memory_block *block)
{
    struct block_pool *pool = allocator_pool(allocator, block->place, block->is_small);
    const struct block_key key = allocator_key(allocator, block), by_addr = address_key(block);
    block->inserted = pool->searches;
    add_to(allocator, &allocator->free_sets[allocator_set_index(block)], &key);
    if (is_releasable(block))
        allocator_list_add(&pool->releasable, block);
    if (allocator->is_following)
        add_to(allocator, &allocator->by_addr, &by_addr);
}

void allocator_remove_free(struct allocator *allocator, struct memory_block *block)
{
    struct block_pool *pool = allocator_pool(allocator, block->place, block->is_small);
    const struct block_key key = allocator_key(allocator, block), by_addr = address_key(block);
    block_set_remove(&allocator->free_sets[allocator_set_index(block)], &key, allocator->budget);
    if (block->is_listed)
        allocator_list_remove(&pool->releasable, block);
    if (allocator->is_following)
        block_set_remove(&allocator->by_addr, &by_addr, allocator->budget);
}

/* Unmapped parts are searched by address. */
void allocator_add_unmapped(struct allocator *allocator, struct memory_block *block)
{
    const struct block_key key = address_key(block);
    add_to(allocator, &allocator->unmapped_sets[allocator_set_index(block)], &key);
}

void allocator_remove_unmapped(struct allocator *allocator, struct memory_block *block)
{
    const struct block_key key = address_key(block);
    block_set_remove(&allocator->unmapped_sets[allocator_set_index(block)], &key,
                     allocator->budget);
}

bool allocator_follow(struct allocator *allocator, struct error *err)
{
    allocator->is_following = true;
    for (size_t i = 0; i < allocator->set_count; i++) {
        const struct block_set *set = &allocator->free_sets[i];
        struct set_place place = {0, 0};
        for (const struct block_key *key; (key = block_set_at(set, place));
             place = block_set_next(set, place)) {
            const struct block_key by_addr = address_key(key->block);
            add_to(allocator, &allocator->by_addr, &by_addr);
        }
    }
    return allocator_result(allocator, err);
}

static bool make_sets(struct allocator *allocator, struct error *err)
{
    size_t sets = 2 * allocator->places.count, pools = 2 * allocator->places.pool_count;
    if (!vec_reserve(allocator->free_sets, allocator->free_set_capacity, sets, allocator->budget,
                     err) ||
        !vec_reserve(allocator->unmapped_sets, allocator->unmapped_set_capacity, sets,
                     allocator->budget, err) ||
        !vec_reserve(allocator->pools, allocator->pool_capacity, pools, allocator->budget, err))
        return false;
    allocator->set_count = sets;
    allocator->pool_count = pools;
    if (sets > 0) {
        memset(allocator->free_sets, 0, sets * sizeof(*allocator->free_sets));
        memset(allocator->unmapped_sets, 0, sets * sizeof(*allocator->unmapped_sets));
    }
    if (pools > 0)
        memset(allocator->pools, 0, pools * sizeof(*allocator->pools));
    for (size_t i = 0; i < allocator->places.count; i++) {
        const struct allocator_place *place = &allocator->places.items[i];
        bool is_private = place->pool[0] != 0 || place->pool[1] != 0;
        for (unsigned small = 0; small < 2; small++)
            allocator->pools[2 * (size_t)place->pool_index + small].is_private = is_private;
    }
    return true;
}

struct allocator *allocator_create(const struct allocator_settings *settings,
                                   const struct allocator_device *device, enum tie_break tie_break,
                                   const struct allocator_places *places,
                                   const struct allocator_source *source, struct budget *budget,
                                   struct error *err)
{
    if (!budget_take(budget, sizeof(struct allocator), err))
        return NULL;
    struct allocator *allocator = calloc(1, sizeof(*allocator));
    if (!allocator) {
        budget_give(budget, sizeof(*allocator));
        error_out_of_memory(err);
        return NULL;
    }
    allocator->settings = *settings;
    allocator->device = *device;
    allocator->tie_break = tie_break;
    allocator->places = *places;
    allocator->source = source;
    allocator->budget = budget;
    allocator->next_addr = UINT64_C(0x700000000000);
    allocator->most_work = MOST_WORK;
    if (!make_sets(allocator, err)) {
        allocator_destroy(allocator);
        return NULL;
    }
    return allocator;
}

void allocator_destroy(struct allocator *allocator)
{
    if (!allocator)
        return;
    struct budget *budget = allocator->budget;
    for (size_t i = 0; i < allocator->set_count; i++) {
        block_set_release(&allocator->free_sets[i], budget);
        block_set_release(&allocator->unmapped_sets[i], budget);
    }
    block_set_release(&allocator->by_addr, budget);
    vec_free(allocator->free_sets, allocator->free_set_capacity, sizeof(*allocator->free_sets),
             budget);
    vec_free(allocator->unmapped_sets, allocator->unmapped_set_capacity,
             sizeof(*allocator->unmapped_sets), budget);
    vec_free(allocator->pools, allocator->pool_capacity, sizeof(*allocator->pools), budget);
    while (allocator->ranges)
        allocator_drop_range(allocator, allocator->ranges);
    while (allocator->slabs) {
        struct block_slab *slab = allocator->slabs;
        allocator->slabs = slab->next;
        free(slab);
        budget_give(budget, sizeof(*slab));
    }
    free(allocator);
    budget_give(budget, sizeof(*allocator));
}

const struct allocator_totals *allocator_totals(const struct allocator *allocator)
{
    return &allocator->totals;
}
