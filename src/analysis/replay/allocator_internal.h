/* The state of the model of PyTorch's allocator. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_ALLOCATOR_INTERNAL_H
#define MEMSNAP_ANALYSIS_REPLAY_ALLOCATOR_INTERNAL_H

#include "analysis/replay/allocator.h"

/* The address range of an expandable segment. */
struct expandable {
    uint64_t base, size, page;
    struct expandable *before, *next; /* all of the allocator */
};

/* A list through list_before and list_next. */
struct block_list {
    struct memory_block *first, *last;
};

/* The blocks of one pool that are either small or large. */
struct block_pool {
    uint64_t searches;            /* counted only while garbage collection is on */
    struct block_list releasable; /* free blocks that are a segment or contain whole pages */
    bool is_private, is_ended;
};

#define BLOCKS_AT_ONCE 256

struct block_slab {
    struct block_slab *next;
    struct memory_block blocks[BLOCKS_AT_ONCE];
};

struct allocator {
    struct allocator_settings settings;
    struct allocator_device device;
    enum tie_break tie_break;
    struct allocator_places places;
    const struct allocator_source *source; /* or NULL */
    struct budget *budget;
    struct block_set *free_sets, *unmapped_sets; /* by 2 * place + is_small */
    size_t set_count, free_set_capacity, unmapped_set_capacity;
    struct block_pool *pools; /* by 2 * pool_index + is_small */
    size_t pool_count, pool_capacity;
    struct block_list pending;
    struct memory_block *spare; /* through `next` */
    struct block_slab *slabs;
    struct expandable *ranges;
    struct block_set
        by_addr; /* free mapped blocks, if is_following; the key's size is the address */
    bool is_following;
    struct memory_block *open_end; /* the last block of the range that is being added */
    uint64_t next_addr, orders;
    uint64_t work, most_work; /* steps of loops that a hostile trace could make long */
    struct allocator_totals totals;
    bool peak_is_new; /* the current malloc() raised the peak */
    bool failed;      /* memory or work ran out: `err` is what happened, and the state is invalid */
    struct error err;
};

/* storage.c: blocks and address ranges. A failure is kept in allocator->failed. */
void allocator_fail(struct allocator *allocator, const struct error *err);
struct memory_block *allocator_new_block(struct allocator *allocator);
void allocator_drop_block(struct allocator *allocator, struct memory_block *block);
struct expandable *allocator_new_range(struct allocator *allocator);
void allocator_drop_range(struct allocator *allocator, struct expandable *range);
/* Counts steps; false if there were too many. */
bool allocator_work(struct allocator *allocator, uint64_t steps);
bool allocator_result(const struct allocator *allocator, struct error *err);

/* free_sets.c */
void allocator_add_free(struct allocator *allocator, struct memory_block *block);
void allocator_remove_free(struct allocator *allocator, struct memory_block *block);
void allocator_add_unmapped(struct allocator *allocator, struct memory_block *block);
void allocator_remove_unmapped(struct allocator *allocator, struct memory_block *block);
void allocator_list_add(struct block_list *list, struct memory_block *block);
void allocator_list_remove(struct block_list *list, struct memory_block *block);

static inline size_t allocator_set_index(const struct memory_block *block)
{
    return 2 * (size_t)block->place + block->is_small;
}

static inline struct block_pool *allocator_pool(struct allocator *allocator, uint32_t place,
                                                bool is_small)
{
    return &allocator->pools[2 * (size_t)allocator->places.items[place].pool_index + is_small];
}

static inline struct block_key allocator_key(const struct allocator *allocator,
                                             struct memory_block *block)
{
    uint64_t order = allocator->tie_break == TIE_ADDRESS ? block->addr : block->order;
    return (struct block_key){block->size, order, block};
}

/* The pages that lie wholly inside a block of an expandable segment. */
struct page_range {
    uint64_t start, end;
};

static inline struct page_range allocator_pages(const struct memory_block *block)
{
    const struct expandable *range = block->expandable;
    uint64_t from = block->addr - range->base, to = from + block->size;
    return (struct page_range){range->base + (from + range->page - 1) / range->page * range->page,
                               range->base + to / range->page * range->page};
}

/* Makes a part of the block one of its neighbours. */
static inline void allocator_link_before(struct memory_block *part, struct memory_block *block)
{
    part->before = block->before;
    if (part->before)
        part->before->next = part;
    part->next = block;
    block->before = part;
}

static inline void allocator_link_after(struct memory_block *part, struct memory_block *block)
{
    part->next = block->next;
    if (part->next)
        part->next->before = part;
    part->before = block;
    block->next = part;
}

/* parts.c */
uint64_t allocator_take_order(struct allocator *allocator, uint64_t inherited);
void allocator_grow(struct allocator *allocator, uint64_t bytes);
void allocator_shrink(struct allocator *allocator, uint64_t bytes);
uint64_t allocator_new_address(struct allocator *allocator, uint64_t size);
struct memory_block *allocator_new_part(struct allocator *allocator,
                                        const struct memory_block *block, uint64_t addr,
                                        uint64_t size);
void allocator_merge_both(struct allocator *allocator, struct memory_block *block);
void allocator_complete_free(struct allocator *allocator, struct memory_block *block);

/* expandable.c */
struct expandable *allocator_make_range(struct allocator *allocator, bool is_small, uint64_t base);
bool allocator_map(struct allocator *allocator, struct memory_block *block, uint64_t size);
struct memory_block *allocator_map_new(struct allocator *allocator, uint32_t place, bool is_small,
                                       uint64_t size);
void allocator_unmap(struct allocator *allocator, struct memory_block *block);

/* release.c */
void allocator_release_segment(struct allocator *allocator, struct memory_block *block);
bool allocator_collects_garbage(const struct allocator *allocator);
void allocator_collect_garbage(struct allocator *allocator, struct block_pool *pool);
bool allocator_release_available(struct allocator *allocator, uint32_t place, bool is_small,
                                 uint64_t size);
void allocator_release_cached(struct allocator *allocator);

#endif
