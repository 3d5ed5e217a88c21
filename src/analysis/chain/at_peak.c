#include "analysis/chain/at_peak.h"

#include <string.h>

#include "analysis/chain/names.h"
#include "analysis/growth/layer_results.h"
#include "analysis/live/sums.h"

/* True for an activation that the chain does not keep. facts->is_kept marks those that it keeps. */
static bool is_of_others(const struct live_set *set, const struct live_facts *facts,
                         const struct live *live, const struct live_source *source)
{
    return category_is_saved(live_category(set, live)) && !live_is_kept(set, facts, live, source);
}

static bool is_of_chain(const struct live *live, const struct timeline *timeline,
                        const struct categories *categories, const struct pass *pass)
{
    uint32_t item = live->in_trace ? timeline->lifetimes[live->index].alloc : 0;
    return live->in_trace && item >= pass->first && item < pass->backward &&
           pass_keeps(pass, timeline, categories, live->index);
}

/* Sets *name to the line that made most of a sum. Leaves it as it is if no line is known. */
static bool name_line(const struct live_set *set, const struct live_sum *sum, struct text *name,
                      struct error *err)
{
    return sum->top_bytes == 0 ||
           chain_add_label(set->timeline->snapshot->symbols, &sum->top_label, name, err);
}

/* Sums up the activations that the chain does not keep and the results of layers that the program
 * holds, and names the lines that made most of each. */
static bool sum_rest(struct forward_chain *chain, const struct live_set *set,
                     const struct phases *phases, const uint8_t *is_kept, struct error *err)
{
    static const struct live_question questions[] = {{.counts = is_of_others},
                                                     {.counts = live_is_layer_result}};
    struct layer_results results;
    struct live_sum sums[2];
    if (!layer_results_find(&results, set->timeline, phases, set->timeline->active.peak_event, err))
        return false;
    const struct live_facts facts = {.is_kept = is_kept, .is_layer_result = results.is_result};
    bool ok = live_sums(set, &facts, questions, 2, sums, err);
    layer_results_release(&results);
    if (!ok)
        return false;
    chain->others_at_bytes = sums[0].top_bytes;
    chain->layer_results_bytes = sums[1].bytes;
    ok = name_line(set, &sums[0], &chain->others_at, err) &&
         name_line(set, &sums[1], &chain->layer_results_at, err);
    live_sum_release(&sums[0]);
    live_sum_release(&sums[1]);
    return ok;
}

bool chain_relate_to_peak(struct forward_chain *chain, const struct timeline *timeline,
                          struct site_table *sites, const struct phases *phases,
                          const struct categories *categories, const struct pass *pass,
                          struct error *err)
{
    struct live_set set = {.timeline = timeline, .sites = sites, .categories = categories};
    struct live_list list;
    uint8_t *is_kept = NULL;
    size_t capacity = 0;
    if (!timeline_live(timeline, timeline->active.peak_event, &list, err))
        return false;
    live_set_take(&set, &list);
    bool ok = vec_reserve(is_kept, capacity, timeline->lifetime_count + 1, chain->budget, err);
    if (ok)
        memset(is_kept, 0, timeline->lifetime_count + 1);
    for (size_t i = 0; ok && i < list.count; i++) {
        const struct live *live = &list.items[i];
        int64_t bytes = category_is_saved(live_category(&set, live)) ? (int64_t)live->size : 0;
        chain->peak_category_bytes += bytes;
        if (bytes > 0 && is_of_chain(live, timeline, categories, pass)) {
            chain->peak_chain_bytes += bytes;
            is_kept[live->index] = 1;
        }
    }
    ok = ok && sum_rest(chain, &set, phases, is_kept, err);
    vec_free(is_kept, capacity, sizeof(*is_kept), chain->budget);
    live_list_release(&list);
    return ok;
}
