#include <stdlib.h>
#include <string.h>

#include "analysis/replay/allocator_internal.h"

/* No real trace comes near: a step is a few nanoseconds. */
#define MOST_WORK UINT64_C(20000000000)

void allocator_fail(struct allocator *allocator, const struct error *err)
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
    allocator_fail(allocator, &err);
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
        allocator_fail(allocator, &err);
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
        allocator_fail(allocator, &err);
        return NULL;
    }
    struct expandable *range = calloc(1, sizeof(*range));
    if (!range) {
        budget_give(allocator->budget, sizeof(*range));
        error_out_of_memory(&err);
        allocator_fail(allocator, &err);
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
