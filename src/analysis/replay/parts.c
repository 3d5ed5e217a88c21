/* Blocks and their neighbours, and the count of reserved memory. */
#include "analysis/replay/allocator_internal.h"

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

void allocator_shrink(struct allocator *allocator, uint64_t bytes)
{
    allocator->totals.reserved -= bytes;
    allocator->totals.segment_frees++;
}

uint64_t allocator_new_address(struct allocator *allocator, uint64_t size)
{
    uint64_t addr = allocator->next_addr;
    if (addr < HIGHEST_ADDRESS)
        allocator->next_addr += allocator_round_up(size, ALLOCATOR_ROUND_LARGE);
    else
        allocator_work(allocator, allocator->most_work);
    return addr;
}

/* Makes a new block, not linked yet, for a part of `block`. */
struct memory_block *allocator_new_part(struct allocator *allocator,
                                        const struct memory_block *block, uint64_t addr,
                                        uint64_t size)
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

/* try_merge_blocks: merges a block with a neighbour that is free, and mapped if the block is
 * mapped. The block keeps its own number. */
static void merge(struct allocator *allocator, struct memory_block *block,
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

void allocator_merge_both(struct allocator *allocator, struct memory_block *block)
{
    merge(allocator, block, block->before);
    merge(allocator, block, block->next);
}

void allocator_complete_free(struct allocator *allocator, struct memory_block *block)
{
    block->is_pending = false;
    allocator_merge_both(allocator, block);
    allocator_add_free(allocator, block);
}
