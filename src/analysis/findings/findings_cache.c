/* The finding on caches of keys and values that a training step makes. */
#include "analysis/findings/findings_internal.h"
#include "model/peak_without.h"

#define LEAST_CACHE 5 /* in percent of the peak; smaller findings are left out */

struct cache {
    int64_t bytes;
    uint64_t largest_bytes;
    stack_id largest;
    struct absences absences;
};

/* True if a forward pass whose results a backward pass uses made an allocation. Generation turns
 * autograd off, and its next token reads the cache. */
static bool is_of_training(const struct phases *phases, uint32_t item,
                           const struct stack_facts *facts)
{
    uint32_t run = phases_run_of(phases, item);
    if (facts->grad_mode >= GRAD_PROBABLY_OFF || run >= phases->count ||
        phases->runs[run].phase != PHASE_FORWARD)
        return false;
    return phases->runs[run].is_saved ||
           (run + 1 < phases->count && phases->runs[run + 1].phase == PHASE_BACKWARD);
}

/* Sums what is live at the peak. Other steps may have peaks as high, so their caches count for what
 * is saved. */
static bool find_cache(const struct findings_maker *maker, struct cache *cache)
{
    const struct live_set *set = maker->evidence->at_peak;
    const struct timeline *timeline = set->timeline;
    uint32_t peak = (uint32_t)timeline->active.peak_event;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        stack_id stack = timeline->trace->stack[lifetime->alloc];
        if (set->categories->of_lifetime[i] != CATEGORY_KV_CACHE)
            continue;
        const struct stack_facts *facts = site_stack_facts(set->sites, stack, maker->err);
        if (!facts)
            return false;
        if (!is_of_training(maker->evidence->phases, lifetime->alloc, facts))
            continue;
        if (!absences_add(&cache->absences, absence_of_lifetime(timeline, i), maker->err))
            return false;
        uint64_t size = trace_size(timeline->trace, lifetime->alloc);
        if (lifetime->alloc > peak || lifetime->free_completed <= peak)
            continue;
        cache->bytes += (int64_t)size;
        if (size > cache->largest_bytes) {
            cache->largest_bytes = size;
            cache->largest = stack;
        }
    }
    return true;
}

static bool add_finding(struct findings_maker *maker, const struct cache *cache)
{
    struct buffer line = BUFFER_INIT;
    int64_t save_bytes;
    bool ok = absences_save(&cache->absences, maker->evidence->at_peak->timeline, &save_bytes,
                            maker->err) &&
              finding_line(maker, cache->largest, &line) &&
              (save_bytes <= 0 ||
               finding_add(
                   maker,
                   (struct finding){.kind = FINDING_TRAINING_CACHE,
                                    .save_bytes = save_bytes,
                                    .at_most = true,
                                    .where = finding_where(&line)},
                   "Unless something reads the cache after the pass, turn it off. In transformers, "
                   "call the model with use_cache=False, or set model.config.use_cache = False; a "
                   "model makes a cache in training, too, if nothing turns it off. What the "
                   "backward pass itself needs of it stays.",
                   "The forward pass of a training step fills a cache of keys and values%s, which "
                   "holds %s.",
                   line.bytes, finding_amount(maker, cache->bytes).text));
    buffer_release(&line);
    return ok;
}

bool finding_of_training_cache(struct findings_maker *maker)
{
    struct cache cache = {
        .largest = STACK_NONE,
        .absences = {.budget = maker->evidence->at_peak->timeline->snapshot->budget}};
    bool ok = find_cache(maker, &cache) &&
              (finding_share(maker, cache.bytes) < LEAST_CACHE || add_finding(maker, &cache));
    absences_release(&cache.absences);
    return ok;
}
