/* Copies that replace weights. Sharpness-aware minimization keeps a copy of each weight over a
 * backward pass and then makes the copy the weight. Functional updates make all weights anew. If a
 * weight is freed, so that fewer weights are left than gradients, the block that replaces it is
 * searched for: an optimizer's code made it after the pass before the last, it has the weight's
 * size, and it lives over further passes. */
#include <stdlib.h>

#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"

#define MOST_SOUGHT 64 /* blocks of the size that are examined, the latest first */
#define MOST_PASSES 2  /* passes that may begin while both the copy and the weight are live */

/* A block of the size of a weight. */
struct block {
    uint64_t size;
    uint32_t birth, end; /* items; `birth` is 0 if it existed before the trace */
    uint32_t index;
    bool in_trace, is_weight;
};

struct swaps {
    const struct classifier *classifier;
    struct categories *categories;
    struct block *blocks; /* ordered by size, then by birth */
    size_t count, capacity;
};

static uint32_t pass_of(const struct swaps *swaps, uint32_t item)
{
    uint32_t run = phases_run_of(swaps->classifier->phases, item);
    return run == NO_RUN ? UINT32_MAX : swaps->classifier->phases->runs[run].pass;
}

/* Where each step makes the weights anew, some may look like gradients or like the next batch. */
static bool is_weight_or_state(const struct swaps *swaps, uint64_t size, uint8_t category,
                               uint8_t why)
{
    const struct size_tally *tally = size_tallies_find(&swaps->classifier->tallies, size);
    return category == CATEGORY_PARAMETER ||
           (category == CATEGORY_OPTIMIZER_STATE && reason_of(why) == REASON_STEP_KEPT) ||
           ((category == CATEGORY_GRADIENT || category == CATEGORY_INPUT) && tally &&
            tally->is_renewed);
}

static bool add_block(struct swaps *swaps, struct block block, struct error *err)
{
    const struct classifier *classifier = swaps->classifier;
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, block.size);
    if (!tally || tally->count == 0)
        return true;
    return vec_push(swaps->blocks, swaps->count, swaps->capacity,
                    classifier->timeline->snapshot->budget, err, block);
}

/* Where each step makes the weights anew, those of the first step are there before it. */
static bool is_first_weight(const struct swaps *swaps, size_t index)
{
    const struct classifier *classifier = swaps->classifier;
    const struct timeline *timeline = classifier->timeline;
    struct lifetime_runs runs = classifier->phases->of_lifetime[index];
    const struct size_tally *tally = size_tallies_find(
        &classifier->tallies, trace_size(timeline->trace, timeline->lifetimes[index].alloc));
    return tally && tally->is_renewed && runs.birth < classifier->first_step_run &&
           runs.end != NO_RUN && runs.end >= classifier->first_backward_run;
}

static bool collect(struct swaps *swaps, struct error *err)
{
    const struct timeline *timeline = swaps->classifier->timeline;
    const struct categories *categories = swaps->categories;
    bool ok = true;
    for (uint32_t i = 0; ok && i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        uint8_t category = categories->of_preexisting[i];
        if (is_weight_or_state(swaps, preexisting->size, category, categories->why_preexisting[i]))
            ok = add_block(swaps,
                           (struct block){.size = preexisting->size,
                                          .end = preexisting_end(preexisting),
                                          .index = i,
                                          .is_weight = category == CATEGORY_PARAMETER},
                           err);
    }
    const struct phases *phases = swaps->classifier->phases;
    for (size_t n = 0; ok && n < phases->outliving_count; n++) {
        uint32_t i = phases->outliving[n];
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (is_first_weight(swaps, i) && categories->of_lifetime[i] != CATEGORY_PARAMETER) {
            swaps->categories->of_lifetime[i] = CATEGORY_PARAMETER;
            swaps->categories->why_lifetime[i] = REASON_WEIGHT_LIST;
        }
        uint8_t category = categories->of_lifetime[i];
        if (is_weight_or_state(swaps, trace_size(timeline->trace, lifetime->alloc), category,
                               categories->why_lifetime[i]))
            ok = add_block(swaps,
                           (struct block){.size = trace_size(timeline->trace, lifetime->alloc),
                                          .birth = lifetime->alloc,
                                          .end = lifetime_end(lifetime),
                                          .index = i,
                                          .in_trace = true,
                                          .is_weight = category == CATEGORY_PARAMETER},
                           err);
    }
    return ok;
}

static int compare_births(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->birth != y->birth)
        return x->birth < y->birth ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Compares pointers to blocks by their ends. */
static int compare_ends(const void *a, const void *b)
{
    const struct block *x = *(struct block *const *)a, *y = *(struct block *const *)b;
    return (x->end > y->end) - (x->end < y->end);
}

/* True if a block of the trace began as zeros, as states do and copies of weights do not. */
static bool began_as_zeros(const struct swaps *swaps, const struct block *block)
{
    const struct classifier *classifier = swaps->classifier;
    const struct timeline *timeline = classifier->timeline;
    struct error err; /* cannot fail: classify_traced() has looked the stack up */
    const struct stack_facts *facts = site_stack_facts(
        classifier->sites, timeline->trace->stack[timeline->lifetimes[block->index].alloc], &err);
    return facts && facts_make_zeros(site_table_symbols(classifier->sites), facts);
}

/* The latest of the blocks that were made shortly before a weight is freed, are live when it is
 * freed, and live over a pass after that; or NULL. */
static struct block *successor(const struct swaps *swaps, struct block *blocks, size_t count,
                               const struct block *weight)
{
    uint32_t pass = pass_of(swaps, weight->end);
    for (size_t i = count; i > 0 && count - i < MOST_SOUGHT; i--) {
        struct block *block = &blocks[i - 1];
        if (pass - pass_of(swaps, block->birth) > MOST_PASSES)
            return NULL;
        if (!block->is_weight && block->in_trace && block->end > weight->end &&
            pass_of(swaps, block->end) > pass && !began_as_zeros(swaps, block))
            return block;
    }
    return NULL;
}

/* Goes through the ends of the weights of one size. Blocks that turn out to be weights are added,
 * since they end later. */
static void swap_size(struct swaps *swaps, struct block *blocks, size_t count, struct block **ends)
{
    const struct classifier *classifier = swaps->classifier;
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, blocks[0].size);
    for (size_t i = 0; i < count; i++)
        ends[i] = &blocks[i];
    qsort(ends, count, sizeof(*ends), compare_ends);
    uint32_t live = 0;
    for (size_t i = 0, born = 0; i < count && !classifier_stays(classifier, ends[i]->end); i++) {
        while (born < count && blocks[born].birth < ends[i]->end)
            live += blocks[born++].is_weight;
        if (!ends[i]->is_weight || --live >= tally->count)
            continue;
        struct block *next = successor(swaps, blocks, born, ends[i]);
        if (!next)
            continue;
        live++;
        next->is_weight = true;
        swaps->categories->of_lifetime[next->index] = CATEGORY_PARAMETER;
        swaps->categories->why_lifetime[next->index] = REASON_WEIGHT_SWAPPED;
    }
}

bool classify_swapped_weights(const struct classifier *classifier, struct categories *categories,
                              struct error *err)
{
    struct swaps swaps = {.classifier = classifier, .categories = categories};
    struct budget *budget = classifier->timeline->snapshot->budget;
    struct block **ends = NULL;
    size_t capacity = 0;
    bool ok = classifier->first_backward_run == NO_RUN ||
              (collect(&swaps, err) && vec_reserve(ends, capacity, swaps.count + 1, budget, err));
    if (ok && swaps.count > 0)
        qsort(swaps.blocks, swaps.count, sizeof(*swaps.blocks), compare_births);
    for (size_t first = 0, end; ok && first < swaps.count; first = end) {
        for (end = first + 1;
             end < swaps.count && swaps.blocks[end].size == swaps.blocks[first].size;)
            end++;
        swap_size(&swaps, &swaps.blocks[first], end - first, ends);
    }
    vec_free(ends, capacity, sizeof(*ends), budget);
    vec_free(swaps.blocks, swaps.capacity, sizeof(*swaps.blocks), budget);
    return ok;
}
