#include "analysis/live/bundles.h"

#include "base/hash.h"
#include "model/live.h"

void live_bundles_init(struct live_bundles *bundles, struct budget *budget)
{
    *bundles = (struct live_bundles){.seed = hash_seed(), .budget = budget};
}

void live_bundles_release(struct live_bundles *bundles)
{
    idtable_release(&bundles->table, bundles->budget);
    vec_free(bundles->items, bundles->capacity, sizeof(*bundles->items), bundles->budget);
    *bundles = (struct live_bundles){0};
}

static bool is_same(const void *bundles, uint32_t index, const void *wanted)
{
    const struct live_bundle *a = (const struct live_bundle *)bundles + index, *b = wanted;
    return a->own == b->own && a->forward == b->forward && a->kind == b->kind &&
           a->is_older == b->is_older;
}

/* Finds the bundle like `wanted`, or adds it. */
static bool find_or_add(struct live_bundles *bundles, const struct live_bundle *wanted,
                        uint32_t *index, struct error *err)
{
    uint64_t stacks = (uint64_t)wanted->own << 32 | wanted->forward;
    uint64_t rest = (uint64_t)wanted->kind << 1 | wanted->is_older;
    uint32_t tag = (uint32_t)hash_word(hash_word(stacks, bundles->seed) + rest, bundles->seed);
    if (idtable_find(&bundles->table, tag, is_same, bundles->items, wanted, index))
        return true;
    *index = (uint32_t)bundles->count;
    return idtable_add(&bundles->table, tag, *index, bundles->budget, err) &&
           vec_push(bundles->items, bundles->count, bundles->capacity, bundles->budget, err,
                    *wanted);
}

bool live_bundles_add(struct live_bundles *bundles, const struct live_set *set,
                      const struct live *live, uint32_t kind, live_weight weight, uint32_t *index,
                      struct error *err)
{
    struct site site;
    if (!site_of(set->sites, live->stack, &site, err))
        return false;
    const struct live_bundle wanted = {
        .example = *live,
        .own = live->stack,
        .forward =
            site.user_frame == NO_FRAME ? live_forward_stack(set->timeline, live) : STACK_NONE,
        .kind = kind,
        .is_older = live_is_older(set, live),
    };
    if (!find_or_add(bundles, &wanted, index, err))
        return false;
    struct live_bundle *bundle = &bundles->items[*index];
    bundle->count++;
    return !__builtin_add_overflow(bundle->weight, weight, &bundle->weight) ||
           error_set(err, STATUS_BAD_INPUT, "the sums of sizes and times are too large");
}
