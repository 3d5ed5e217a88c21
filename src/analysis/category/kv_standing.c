/* Caches of keys and values that a snapshot shows only as blocks with stacks, made before its first
 * event: without events, or with a ring that lost the beginning. Without gradients, what one layer
 * of a forward pass makes is freed before the next layer has made the same. So equal blocks that
 * one line made for several layers, and that are still live, are kept for the next pass. */
#include <stdlib.h>

#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"

#define LEAST_LAYERS 4 /* equal blocks of one stack */

struct standing_block {
    uint64_t size;
    stack_id stack;
    uint32_t index; /* of the preexisting block */
};

static int compare(const void *a, const void *b)
{
    const struct standing_block *x = a, *y = b;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* True for results of a forward pass without gradients: see stack_reason() of
 * classify_preexisting.c. */
static bool is_result(const struct classifier *classifier, const struct categories *categories,
                      size_t index)
{
    const struct preexisting *block = &classifier->timeline->preexisting[index];
    return reason_of(categories->why_preexisting[index]) == REASON_FORWARD_RESULT &&
           classifier_stays(classifier, preexisting_end(block));
}

static void set_equal(struct categories *categories, const struct standing_block *blocks,
                      size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && blocks[end].stack == blocks[first].stack &&
                          blocks[end].size == blocks[first].size;)
            end++;
        for (size_t i = first; end - first >= LEAST_LAYERS && i < end; i++) {
            categories->of_preexisting[blocks[i].index] = CATEGORY_KV_CACHE;
            categories->why_preexisting[blocks[i].index] = REASON_KV_CACHE_HELD;
        }
    }
}

bool classify_kv_standing(const struct classifier *classifier, struct categories *categories,
                          struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    struct budget *budget = timeline->snapshot->budget;
    struct standing_block *blocks = NULL;
    size_t count = 0, capacity = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < timeline->preexisting_count; i++) {
        const struct preexisting *block = &timeline->preexisting[i];
        struct standing_block standing = {block->size, block->stack, (uint32_t)i};
        if (is_result(classifier, categories, i))
            ok = vec_push(blocks, count, capacity, budget, err, standing);
    }
    if (ok && count > 0) {
        qsort(blocks, count, sizeof(*blocks), compare);
        set_equal(categories, blocks, count);
    }
    vec_free(blocks, capacity, sizeof(*blocks), budget);
    return ok;
}
