/* The state of the search for caches of keys and values in traces without stacks; see kv_chains.c.
 */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_KV_CHAINS_H
#define MEMSNAP_ANALYSIS_CATEGORY_KV_CHAINS_H

#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"

enum mark { MARK_MADE = 1, MARK_REPLACED = 2, MARK_CACHE = 4 };

/* A block takes the place of another, which is freed. */
struct link {
    uint64_t size, next_size;
    uint32_t old, next; /* indices of lifetimes */
};

struct death {
    uint32_t item, index; /* index: that of the lifetime */
};

struct chain_finder {
    const struct timeline *timeline;
    struct categories *categories;
    uint8_t *marks; /* by lifetime: bits of enum mark */
    struct death *deaths;
    struct link *links;
    uint32_t *rounds; /* the items at which rounds begin that make the cache grow, ascending */
    size_t marks_capacity, death_count, deaths_capacity, link_count, links_capacity, round_count,
        rounds_capacity, chained;
    struct budget *budget; /* not owned */
};

/* Blocks that must be replaced in one round: keys and values of two layers. */
#define LEAST_ROUND 4

static inline uint64_t chain_size(const struct chain_finder *finder, size_t index)
{
    return trace_size(finder->timeline->trace, finder->timeline->lifetimes[index].alloc);
}

static inline uint32_t chain_birth(const struct chain_finder *finder, size_t index)
{
    return finder->timeline->lifetimes[index].alloc;
}

static inline uint32_t chain_end(const struct chain_finder *finder, size_t index)
{
    return lifetime_end(&finder->timeline->lifetimes[index]);
}

/* The number of rounds that grow in items [from, to). */
static inline size_t chain_rounds(const struct chain_finder *finder, uint32_t from, uint32_t to)
{
    size_t before = bisect_less(finder->rounds, sizeof(uint32_t), finder->round_count, from);
    return bisect_less(finder->rounds, sizeof(uint32_t), finder->round_count, to) - before;
}

/* Sets the category of a lifetime, unless a rule that is more certain than lifetimes decided it. */
static inline void chain_set(struct chain_finder *finder, size_t index, enum reason reason)
{
    uint8_t *category = &finder->categories->of_lifetime[index];
    enum reason before = reason_of(finder->categories->why_lifetime[index]);
    if (before == REASON_RULE || before == REASON_FILE ||
        (*category != CATEGORY_ACTIVATION && *category != CATEGORY_UNKNOWN &&
         *category != CATEGORY_INPUT))
        return;
    *category = (uint8_t)reason_category(reason);
    finder->categories->why_lifetime[index] = (uint8_t)reason;
}

/* kv_bursts.c: links blocks that are freed in one burst with those that replace all of them, and
 * marks them. */
bool chains_link_bursts(struct chain_finder *finder, struct error *err);

/* kv_held.c: decides equal blocks that live over several rounds and are freed together with the
 * last blocks of the cache. */
bool chains_set_held(struct chain_finder *finder, struct error *err);

#endif
