/* The lists of pending and releasable blocks, and the sets in which blocks are searched. */
#include "analysis/replay/allocator_internal.h"

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
        allocator_fail(allocator, &err);
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
