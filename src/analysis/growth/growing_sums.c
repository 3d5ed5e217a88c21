#include "analysis/growth/growing_sums.h"

#include "base/bisect.h"
#include "model/sums.h"

/* The first item after the ends of steps that precede the step with the peak, but for the last
 * `outlived` of them. */
static uint32_t older_than(const struct growth_builder *builder, uint16_t outlived)
{
    const struct step_ends *ends = &builder->ends;
    size_t before =
        bisect_less(ends->items, sizeof(ends->items[0]), ends->count, builder->peak_since);
    return before > outlived ? ends->items[before - 1 - outlived] + 1 : 0;
}

/* The part of a candidate's bytes at the peak that counts as growth. Without stacks, one group has
 * what grows and what is constant: only what surely grows counts. */
static int64_t growing_part(const struct growth_builder *builder, const struct candidate *candidate,
                            int64_t bytes)
{
    const struct site_group *group = &builder->survivors.groups.items[candidate->group];
    if (group->source.own != STACK_NONE)
        return bytes;
    return bytes > candidate->first_bytes ? bytes - candidate->first_bytes : 0;
}

/* The item after the end of the step before the last one up to the peak in which a group grew: what
 * was made from there on is of the present model. */
static uint32_t before_last_growth(const struct growth_builder *builder, size_t group)
{
    const struct step_ends *ends = &builder->ends;
    struct growth_series series;
    survivors_series(&builder->survivors, builder->timeline, group, ends->count, 0, &series);
    for (size_t i = ends->count; i-- > 1;)
        if ((int64_t)ends->items[i - 1] < builder->last.peak &&
            series.bytes[i] > series.bytes[i - 1])
            return ends->items[i - 1] + 1;
    return 0;
}

/* Sets candidate->save_bytes and adds what counts to `absences`. `*most` are the bytes at the peak,
 * whatever variables hold. */
static bool measure_left_over(const struct growth_builder *builder, struct candidate *candidate,
                              struct absences *absences, int64_t *most, struct error *err)
{
    const struct survivors *survivors = &builder->survivors;
    const struct last_step *last = &builder->last;
    int64_t *save_bytes = &candidate->save_bytes;
    enum category category = survivors->groups.items[candidate->group].category;
    *most = 0;
    if (candidate->in_use)
        return true; /* the next token, or step, needs all of it */
    if (category == CATEGORY_KV_CACHE && !growth_trains(builder)) {
        uint32_t item = older_than(builder, candidate->outlived);
        bool ok =
            last_step_older(last, survivors, candidate->group, item, absences, save_bytes, err);
        *most = *save_bytes;
        return ok;
    }
    bool ok =
        builder->growth->grow_models && growing_is_of_model(category)
            ? last_step_older(last, survivors, candidate->group,
                              before_last_growth(builder, candidate->group), absences, save_bytes,
                              err)
            : last_step_left_over(last, survivors, candidate->group, absences, save_bytes, err);
    if (!ok)
        return false;
    *save_bytes = growing_part(builder, candidate, *save_bytes);
    *most = growing_part(builder, candidate, last_step_at_peak(last, survivors, candidate->group));
    return true;
}

/* True if a step of the program is a forward pass that generates a token, as caches of keys and
 * values show. Its requests have several steps. */
static bool generates(const struct growth_builder *builder)
{
    const struct timeline *timeline = builder->timeline;
    if (growth_trains(builder))
        return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (builder->set.categories->of_lifetime[i] == CATEGORY_KV_CACHE)
            return true;
    return false;
}

bool growing_sums_make(struct growth_builder *builder, struct candidate *candidates, size_t count,
                       struct error *err)
{
    struct growth *growth = builder->growth;
    struct absences others = {.budget = builder->survivors.budget};
    struct absences inputs = {.budget = builder->survivors.budget};
    bool ok = true, has_results = false;
    const struct survivors *survivors = &builder->survivors;
    if (count == 0 || candidates[0].fit.kind != GROWTH_GROWING)
        return true; /* without last_step_find(), which takes time */
    if (!last_step_find(&builder->last, builder->timeline, builder->set.categories, builder->phases,
                        &builder->ends, builder->peak_before, builder->peak_since, err))
        return false;
    for (size_t i = 0; ok && i < count && candidates[i].fit.kind == GROWTH_GROWING; i++) {
        const struct site_group *group = &survivors->groups.items[candidates[i].group];
        int64_t most;
        bool graph =
            !candidate_is_small(&candidates[i]) &&
            (group->category == CATEGORY_ACTIVATION || group->category == CATEGORY_UNKNOWN);
        ok = measure_left_over(builder, &candidates[i],
                               group->category == CATEGORY_INPUT ? &inputs : &others, &most, err);
        growth->growing++;
        has_results =
            has_results || (group->category != CATEGORY_KV_CACHE && candidates[i].save_bytes > 0);
        sum_add_capped(&growth->save_bytes, candidates[i].save_bytes);
        if (group->category == CATEGORY_INPUT)
            sum_add_capped(&growth->input_save_bytes, candidates[i].save_bytes);
        sum_add_capped(&growth->most_bytes, most);
        sum_add_capped(&growth->bytes_per_step, candidates[i].fit.bytes_per_step);
        if (candidates[i].in_use) {
            growth->in_use++;
            sum_add_capped(&growth->in_use_bytes_per_step, candidates[i].fit.bytes_per_step);
        }
        if (group->category == CATEGORY_GRADIENT) {
            sum_add_capped(&growth->gradient_bytes_per_step, candidates[i].fit.bytes_per_step);
            sum_add_capped(&growth->gradient_save_bytes, candidates[i].save_bytes);
        }
        if (group->category == CATEGORY_ACTIVATION)
            sum_add_capped(&growth->activation_bytes_per_step, candidates[i].fit.bytes_per_step);
        if (graph)
            sum_add_capped(&growth->graph_bytes_per_step, candidates[i].fit.bytes_per_step);
    }
    growth->may_be_needed = has_results && generates(builder);
    ok = ok && absences_save(&others, builder->timeline, &growth->graph_peak_save_bytes, err) &&
         absences_join(&others, &inputs, err) &&
         absences_save(&others, builder->timeline, &growth->peak_save_bytes, err);
    absences_release(&others);
    absences_release(&inputs);
    return ok;
}
