/* The order in which blocks are freed, and the blocks that stay after the humps of one forward
 * pass: see humps.h. */
#include <stdlib.h>

#include "analysis/phase/births.h"
#include "analysis/phase/humps.h"

#define LEAST_CHAIN 3   /* blocks of a chain */
#define MOST_CHAIN  256 /* further blocks are left out */

/* Each block is compared with the one a quarter of the blocks later, since one node frees all that
 * it saved together. */
double hump_reversed_share(const struct saved *saved, size_t count)
{
    size_t lag = (count + 3) / 4, reversed = 0;
    for (size_t i = 0; i + lag < count; i++)
        reversed += saved[i].end > saved[i + lag].end;
    return count > lag ? (double)reversed / (double)(count - lag) : 1;
}

double hump_gradual_share(const struct timeline *timeline, struct saved *saved, size_t count)
{
    size_t gradual = 0, before = 0;
    if (count == 0)
        return 0;
    qsort(saved, count, sizeof(*saved), saved_compare_ends);
    for (size_t i = 0; i < count; i++) {
        size_t born = births_from(timeline, saved[i].end);
        gradual += i > 0 && born != before;
        before = born;
    }
    qsort(saved, count, sizeof(*saved), saved_compare_births);
    return (double)gradual / (double)count;
}

bool hump_follow_chain(struct pattern *pattern, const struct hump *hump, struct error *err)
{
    const struct timeline *timeline = pattern->timeline;
    size_t kept = 0;
    if (pattern->steps->count == 0)
        return true;
    for (size_t i = 0; i < pattern->chain_count; i++)
        if (pattern->chain[i].end > hump->top)
            pattern->chain[kept++] = pattern->chain[i];
    pattern->chain_count = kept;
    for (size_t i = births_from(timeline, pattern->chain_until);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < hump->first; i++) {
        struct saved saved = {timeline->lifetimes[i].alloc, lifetime_end(&timeline->lifetimes[i])};
        if (saved.end <= hump->top || !pattern_may_be_saved(pattern, i, false) ||
            pattern->chain_count == MOST_CHAIN)
            continue;
        if (!vec_push(pattern->chain, pattern->chain_count, pattern->chain_capacity,
                      pattern->budget, err, saved))
            return false;
    }
    if (hump->first > pattern->chain_until)
        pattern->chain_until = hump->first;
    return true;
}

bool hump_has_chain(const struct pattern *pattern)
{
    size_t count = pattern->chain_count;
    return count >= LEAST_CHAIN && hump_is_reversed(pattern->chain, count) &&
           hump_gradual_share(pattern->timeline, pattern->chain, count) >= HUMP_GRADUAL;
}

void hump_end_chain(struct pattern *pattern, const struct hump *hump)
{
    pattern->chain_count = 0;
    pattern->chain_until = hump->end + 1;
}
