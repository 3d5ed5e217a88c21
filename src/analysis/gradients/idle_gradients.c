#include "analysis/gradients/idle_gradients.h"

#include <string.h>

#include "analysis/gradients/discarded_gradients.h"
#include "analysis/gradients/earlier_models.h"
#include "analysis/gradients/idle_sizes.h"
#include "analysis/gradients/repeated_model.h"
#include "analysis/phase/births.h"

static bool is_large_part(uint64_t part, uint64_t of)
{
    return part >= of / 10 * 9;
}

/* The item that made the model that is trained now, after the last idle gradient; EVENT_NEVER if
 * that model is older, or was not seen. */
static uint32_t present_model(const struct idle_sizes *sizes, uint64_t renewed)
{
    const struct timeline *timeline = sizes->timeline;
    uint64_t made = 0;
    uint32_t first = EVENT_NEVER;
    for (size_t i = births_from(timeline, sizes->last_idle); i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (sizes->categories->of_lifetime[i] != CATEGORY_PARAMETER ||
            lifetime_end(lifetime) < sizes->stays)
            continue;
        first = first == EVENT_NEVER ? lifetime->alloc : first;
        made += trace_size(timeline->trace, lifetime->alloc);
    }
    return sizes->last_idle > 0 && made >= renewed / 2 ? first : EVENT_NEVER;
}

static bool absent_before(const struct idle_gradients *idle, const struct timeline *timeline,
                          struct absences *absences, struct error *err)
{
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        const struct absence absence = {0, preexisting->free_completed, preexisting->size};
        if (idle->of_preexisting[i] && !absences_add(absences, absence, err))
            return false;
    }
    return true;
}

bool idle_gradients_absent(const struct idle_gradients *idle, const struct timeline *timeline,
                           struct absences *absences, struct error *err)
{
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (idle->of_lifetime[i] && !absences_add(absences, absence_of_lifetime(timeline, i), err))
            return false;
    return absent_before(idle, timeline, absences, err);
}

static bool measure(struct idle_sizes *sizes, uint32_t present, uint64_t renewed, struct error *err)
{
    struct absences absences = {.budget = sizes->budget};
    struct earlier_models earlier = {.timeline = sizes->timeline,
                                     .categories = sizes->categories,
                                     .cycles = sizes->cycles,
                                     .stays = sizes->stays,
                                     .present = present,
                                     .least_bytes = renewed / 2};
    bool ok = sizes->idle->reason == IDLE_EARLIER_MODEL
                  ? earlier_models_absent(&earlier, sizes->idle, &absences, err) &&
                        absent_before(sizes->idle, sizes->timeline, &absences, err)
                  : idle_gradients_absent(sizes->idle, sizes->timeline, &absences, err);
    ok = ok && absences_save(&absences, sizes->timeline, &sizes->idle->save_bytes, err);
    absences_release(&absences);
    return ok;
}

static bool judge(struct idle_sizes *sizes, struct error *err)
{
    struct idle_sums sums = idle_sizes_sum(sizes);
    uint32_t present = present_model(sizes, sums.renewed);
    for (size_t i = 0; i < sizes->count; i++)
        sizes->idle->count += sizes->items[i].idle;
    sizes->idle->bytes = (int64_t)sums.idle;
    if (sums.large_idle > 0 && is_large_part(sums.untrained, sums.large_idle) &&
        is_large_part(sums.summed, sums.idle) && is_large_part(sums.trained, sums.large_renewed))
        sizes->idle->reason = IDLE_UNTRAINED;
    else if (present != EVENT_NEVER)
        sizes->idle->reason = IDLE_EARLIER_MODEL;
    return sizes->idle->reason == IDLE_UNKNOWN || measure(sizes, present, sums.renewed, err);
}

/* Looks for gradients of a model that another one has just replaced. */
static bool find_repeated(struct idle_sizes *sizes, bool *any, struct error *err)
{
    struct idle_gradients *idle = sizes->idle;
    struct repeated_model repeated;
    if (!repeated_model_find(&repeated, idle->of_lifetime, sizes->timeline, sizes->categories,
                             &sizes->cycles->items[sizes->cycles->count - 1], err))
        return false;
    *any = repeated.count > 0;
    if (!*any)
        return true;
    idle->count = repeated.count;
    idle->bytes = (int64_t)repeated.bytes;
    idle->reason = IDLE_EARLIER_MODEL;
    return measure(sizes, repeated.present, repeated.made_bytes, err);
}

/* Looks for gradients that are idle for a while only, or that the trace shows too late for more
 * cycles. */
static bool find_others(struct idle_sizes *sizes, bool *any, struct error *err)
{
    struct idle_gradients *idle = sizes->idle;
    struct discarded_gradients discarded;
    memset(idle->of_lifetime, 0, sizes->timeline->lifetime_count + 1);
    memset(idle->of_preexisting, 0, sizes->timeline->preexisting_count + 1);
    if (!find_repeated(sizes, any, err))
        return false;
    if (*any)
        return true;
    if (!discarded_gradients_find(&discarded, idle->of_lifetime, sizes->timeline, sizes->sites,
                                  sizes->phases, sizes->categories, err))
        return false;
    *any = discarded.count > 0;
    if (!*any)
        return true;
    idle->count = discarded.count;
    idle->bytes = discarded.bytes;
    idle->reason = IDLE_DISCARDED;
    return measure(sizes, 0, 0, err);
}

bool idle_gradients_find(struct idle_gradients *idle, const struct timeline *timeline,
                         struct site_table *sites, const struct phases *phases,
                         const struct categories *categories, const struct cycles *cycles,
                         struct error *err)
{
    struct idle_gradients made = {.budget = timeline->snapshot->budget};
    struct idle_sizes sizes = {.timeline = timeline,
                               .sites = sites,
                               .phases = phases,
                               .categories = categories,
                               .cycles = cycles,
                               .idle = &made,
                               .states = {.budget = made.budget},
                               .budget = made.budget};
    *idle = (struct idle_gradients){0};
    if (cycles->count < IDLE_LEAST_CYCLES)
        return true;
    bool ok = idle_sizes_find(&sizes, err);
    struct idle_sums sums = idle_sizes_sum(&sizes);
    bool any = ok && sums.idle > 0 && sums.renewed > 0;
    ok = ok && (any ? judge(&sizes, err) : find_others(&sizes, &any, err));
    idle_sizes_release(&sizes);
    if (!ok || !any)
        idle_gradients_release(&made);
    else
        *idle = made;
    return ok;
}

void idle_gradients_release(struct idle_gradients *idle)
{
    vec_free(idle->of_lifetime, idle->lifetime_capacity, sizeof(*idle->of_lifetime), idle->budget);
    vec_free(idle->of_preexisting, idle->preexisting_capacity, sizeof(*idle->of_preexisting),
             idle->budget);
    *idle = (struct idle_gradients){0};
}
