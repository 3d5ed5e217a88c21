#include "analysis/growth/growth.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/gradients/idle_passes.h"
#include "analysis/growth/rows.h"

/* Chooses the ends of the complete steps. If there are more than GROWTH_STEPS, chooses evenly
 * spaced ones, including the first and the last. */
static void choose_ends(struct growth_builder *builder)
{
    const struct steps *steps = builder->steps;
    struct step_ends *ends = &builder->ends;
    size_t complete = steps_complete(steps), seen = 0;
    size_t wanted = complete < GROWTH_STEPS ? complete : GROWTH_STEPS;
    for (size_t i = 0; i < steps->count; i++) {
        if (!steps->items[i].complete)
            continue;
        size_t due = wanted > 1 ? ends->count * (complete - 1) / (wanted - 1) : 0;
        if (seen++ != due)
            continue;
        if (ends->count == 0)
            ends->before = (int64_t)steps->items[i].first - 1;
        ends->items[ends->count++] = steps->items[i].last;
    }
    builder->stride = wanted > 1 ? (double)(complete - 1) / (double)(wanted - 1) : 1;
    builder->growth->complete = complete;
    builder->growth->compared = ends->count;
}

/* Finds the step with the peak. If the peak lies between two steps, takes the earlier one. */
static void find_peak_step(struct growth_builder *builder)
{
    for (size_t i = 0; i < builder->steps->count; i++) {
        uint32_t first = builder->steps->items[i].first;
        if ((int64_t)first > builder->timeline->active.peak_event)
            break;
        builder->peak_before = builder->peak_since;
        builder->peak_since = first;
    }
}

/* Adds the stale gradients as one row after the growing rows. */
static bool add_gradients(struct growth *growth, struct error *err)
{
    size_t at = 0;
    while (at < growth->row_count && growth->rows[at].fit.kind == GROWTH_GROWING)
        at++;
    struct growth_row *rows = realloc(growth->rows, (growth->row_count + 1) * sizeof(*rows));
    if (!rows)
        return error_out_of_memory(err);
    growth->rows = rows;
    memmove(&rows[at + 1], &rows[at], (growth->row_count - at) * sizeof(*rows));
    rows[at] = (struct growth_row){
        .fit = {.kind = GROWTH_KEPT_GRADIENTS,
                .r_squared = 1,
                .confidence = growth->gradients.passes > 1 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM},
        .category = CATEGORY_GRADIENT,
        .site = {.user_frame = NO_FRAME, .any_python_frame = NO_FRAME},
        .label = {"(gradients)", "(gradients)"},
        .bytes_at_first = growth->gradients.bytes,
        .bytes_at_end = growth->gradients.bytes,
        .blocks_at_end = growth->gradients.count,
        .save_bytes = growth->gradients.save_bytes,
    };
    growth->row_count++;
    return true;
}

/* True if most stale gradients are of several steps. Then something stores them, and no zero_grad()
 * frees them. */
static bool stores_gradients(const struct growth *growth)
{
    return growth->gradient_bytes_per_step >
           growth->gradients.bytes / 2 / (int64_t)growth->compared;
}

bool growth_find_gradients(struct growth *growth, const struct timeline *timeline,
                           struct site_table *sites, const struct categories *categories,
                           const struct phases *phases, const struct held_gradients *held,
                           struct error *err)
{
    struct growth made = {.scalar_row = NO_ROW, .last_row = NO_ROW};
    struct cycles cycles = {0};
    bool failed = timeline->by_action[ACTION_OOM] > 0;
    bool ok = cycles_find(&cycles, timeline, phases, false, err) &&
              idle_gradients_find(&made.idle, timeline, sites, phases, categories, &cycles, err) &&
              summed_gradients_find(&made.summed, timeline, sites, categories, &cycles, err);
    if (ok && failed) {
        cycles_release(&cycles);
        ok = cycles_find(&cycles, timeline, phases, true, err);
    }
    ok = ok && stale_gradients_find(&made.gradients, timeline, sites, phases, categories, &cycles,
                                    &made.idle, held, err);
    cycles_release(&cycles);
    if (!ok) {
        growth_release(&made);
        return false;
    }
    *growth = made;
    return true;
}

bool growth_find(struct growth *growth, const struct timeline *timeline, struct site_table *sites,
                 const struct categories *categories, const struct phases *phases,
                 const struct steps *steps, const uint8_t *is_dropped, struct error *err)
{
    struct growth_builder builder = {
        .growth = growth,
        .phases = phases,
        .steps = steps,
        .is_dropped = is_dropped,
        .timeline = timeline,
        .set = {.timeline = timeline, .sites = sites, .categories = categories},
    };
    if (!idle_passes_add(&growth->idle, timeline, sites, phases, categories, err))
        return false;
    choose_ends(&builder);
    find_peak_step(&builder);
    if (growth->compared >= GROWTH_LEAST && !growth_compare_steps(&builder, err))
        return false;
    if (growth->gradient_bytes_per_step > 0 && stores_gradients(growth))
        growth->gradients = (struct stale_gradients){0};
    return growth->gradients.count == 0 || add_gradients(growth, err);
}

void growth_release(struct growth *growth)
{
    free(growth->rows);
    idle_gradients_release(&growth->idle);
    *growth = (struct growth){.scalar_row = NO_ROW, .last_row = NO_ROW};
}
