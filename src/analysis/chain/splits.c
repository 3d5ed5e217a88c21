#include "analysis/chain/splits.h"

#include "analysis/chain/held.h"
#include "analysis/phase/births.h"

#define MOST_READ 100000000 /* lifetimes that may be read; about 0.1 seconds */
#define LOOKUP    16        /* a lookup takes as long as reading so many */

/* The operator that made a tensor frees its gradient after allocating at most so often. */
#define MOST_BETWEEN 2

struct search {
    const struct forward_chain *chain;
    const struct timeline *timeline;
    size_t left; /* lifetimes that may still be read; then no more is found */
};

/* Counts lifetimes that are read. False if no more may be. */
static bool may_read(struct search *search, size_t count)
{
    search->left -= count < search->left ? count : search->left;
    return search->left > 0;
}

/* The item at which the backward of element i begins. */
static uint32_t backward_begin(const struct forward_chain *chain, size_t i)
{
    return i + 1 < chain->count ? chain->elements[i + 1].backward_end : chain->backward;
}

/* True if a gradient, whose size and end are given, is that of an activation of element i which is
 * not its output: the backward operator that frees the gradient is the next one after that which
 * frees the activation. */
static bool is_of_inner(struct search *search, size_t i, uint64_t size, uint32_t end)
{
    const struct forward_chain *chain = search->chain;
    const struct timeline *timeline = search->timeline;
    uint32_t next = i + 1 < chain->count ? chain->elements[i + 1].first_item : chain->backward;
    size_t freed_at = births_from(timeline, end);
    for (size_t k = chain_kept_from(chain, chain->elements[i].first_item);
         k < chain->kept_count && chain->kept[k] < next && may_read(search, LOOKUP); k++) {
        uint32_t item = chain->kept[k];
        const struct lifetime *it = &timeline->lifetimes[births_from(timeline, item)];
        if (item == chain->elements[i].output_item || trace_size(timeline->trace, item) != size ||
            lifetime_end(it) >= end)
            continue;
        size_t between = freed_at - births_from(timeline, lifetime_end(it));
        if (between <= MOST_BETWEEN)
            return true;
    }
    return false;
}

/* True if the backward of element i takes a gradient of an inner activation that existed before the
 * backward of the next element began: later elements use that activation. */
static bool is_split(struct search *search, size_t i)
{
    const struct forward_chain *chain = search->chain;
    const struct timeline *timeline = search->timeline;
    uint32_t before = backward_begin(chain, i + 1), from = backward_begin(chain, i);
    size_t first = births_from(timeline, chain->backward), end = births_from(timeline, before);
    if (end > first && !may_read(search, end - first))
        return false;
    for (size_t k = first; k < end; k++) {
        const struct lifetime *it = &timeline->lifetimes[k];
        uint32_t freed = lifetime_end(it);
        if (freed > from && freed <= chain->elements[i].backward_end &&
            is_of_inner(search, i, trace_size(timeline->trace, it->alloc), freed))
            return true;
    }
    return false;
}

void chain_set_splits(struct forward_chain *chain, const struct chain_measure *measure)
{
    struct search search = {chain, measure->timeline, MOST_READ};
    if (measure->pass->unfinished)
        return;
    for (size_t i = 0; i + 1 < chain->count; i++)
        chain->elements[i].splits = chain_is_modules(chain, i) &&
                                    chain_first_call(chain, i) != chain_last_call(chain, i) &&
                                    is_split(&search, i);
}
