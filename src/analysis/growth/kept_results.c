#include "analysis/growth/kept_results.h"

#include <string.h>

#include "analysis/growth/replaced_results.h"
#include "analysis/phase/births.h"
#include "model/peak_without.h"

/* The earliest item at which the program could delete a tensor, if a training step needs it up to
 * the end of the step. Steps of inference are forward passes, and a result that follows one may
 * come before the next. */
static uint32_t earliest_end(const struct replaced_results *results, const struct held_result *held)
{
    uint32_t alloc = results->timeline->lifetimes[held->lifetime].alloc;
    return results->steps->source == STEPS_FORWARD ? alloc + 1 : held->from;
}

static bool measure(const struct replaced_results *results, int64_t *save_bytes, struct error *err)
{
    const struct timeline *timeline = results->timeline;
    struct absence *absences = NULL;
    size_t capacity = 0;
    int64_t peak;
    if (!vec_reserve(absences, capacity, results->count, results->timeline->snapshot->budget, err))
        return false;
    for (size_t i = 0; i < results->count; i++) {
        const struct held_result *held = &results->held[i];
        uint32_t alloc = timeline->lifetimes[held->lifetime].alloc;
        absences[i] = (struct absence){earliest_end(results, held), held->to,
                                       trace_size(timeline->trace, alloc)};
    }
    bool ok = timeline_peak_without(timeline, absences, results->count, &peak, err);
    if (ok)
        *save_bytes = timeline->active.peak_bytes - peak;
    vec_free(absences, capacity, sizeof(*absences), results->timeline->snapshot->budget);
    return ok;
}

/* Adds a tensor to the memory that counts at the peak. */
static bool count_at_peak(const struct replaced_results *results, struct kept_results *kept,
                          const struct held_result *held, struct error *err)
{
    const struct trace *trace = results->timeline->trace;
    const struct lifetime *lifetime = &results->timeline->lifetimes[held->lifetime];
    uint64_t bytes = trace_size(trace, lifetime->alloc);
    kept->is_kept[held->lifetime] = 1;
    kept->in_step_bytes += held->in_step ? bytes : 0;
    kept->in_evaluation_bytes += held->in_evaluation ? bytes : 0;
    kept->of_evaluation |=
        !held->in_step && results->steps->source != STEPS_FORWARD &&
        steps_of(results->steps, held->from) == steps_of(results->steps, lifetime->alloc);
    kept->at_peak_bytes += bytes;
    if (held->to == EVENT_NEVER)
        return true;
    const struct stack_facts *facts =
        site_stack_facts(results->sites, trace->stack[lifetime_end(lifetime)], err);
    if (facts && facts->releases_graph)
        kept->graph_bytes += bytes;
    return facts != NULL;
}

/* Marks the tensors that count at the peak. */
static bool mark(const struct replaced_results *results, struct kept_results *kept,
                 struct error *err)
{
    size_t count = results->timeline->lifetime_count;
    int64_t peak = results->timeline->active.peak_event;
    if (!vec_reserve(kept->is_kept, kept->capacity, count, results->timeline->snapshot->budget,
                     err))
        return false;
    memset(kept->is_kept, 0, count);
    for (size_t i = 0; i < results->count; i++) {
        const struct held_result *held = &results->held[i];
        if (peak >= (int64_t)held->from && peak < (int64_t)held->to &&
            !count_at_peak(results, kept, held, err))
            return false;
    }
    return kept->at_peak_bytes == 0 || measure(results, &kept->save_bytes, err);
}

bool kept_results_find(struct kept_results *kept, const struct timeline *timeline,
                       struct site_table *sites, const struct categories *categories,
                       const struct phases *phases, const struct steps *steps,
                       const struct held_gradients *gradients, const struct result_windows *windows,
                       const uint8_t *is_dropped, const uint8_t *is_retained, struct error *err)
{
    struct kept_results made = {.budget = timeline->snapshot->budget};
    struct replaced_results results = {.timeline = timeline,
                                       .sites = sites,
                                       .categories = categories,
                                       .phases = phases,
                                       .steps = steps,
                                       .gradients = gradients,
                                       .windows = windows,
                                       .is_dropped = is_dropped,
                                       .is_retained = is_retained};
    *kept = (struct kept_results){0};
    if (steps->count < 2)
        return true;
    bool ok =
        replaced_results_find(&results, err) && (results.count == 0 || mark(&results, &made, err));
    replaced_results_release(&results);
    if (!ok || made.at_peak_bytes == 0)
        kept_results_release(&made);
    else
        *kept = made;
    return ok;
}

void kept_results_release(struct kept_results *kept)
{
    vec_free(kept->is_kept, kept->capacity, sizeof(*kept->is_kept), kept->budget);
    *kept = (struct kept_results){0};
}
