#include "analysis/growth/growth.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/growth/larger_batch.h"
#include "analysis/growth/survivors.h"
#include "model/sums.h"

#define SCALAR_BYTES 16

/* State while the rows are made. */
struct builder {
    struct growth *growth;
    const struct phases *phases;
    const struct steps *steps;
    const struct timeline *timeline;
    struct live_set set;
    struct step_ends ends;
    struct survivors survivors;
    double stride;                    /* number of steps from one compared end to the next */
    uint32_t peak_since, peak_before; /* the first items of the step with the peak, and of the one
                                         before it */
};

/* A group of survivors that may become a row. */
struct candidate {
    struct growth_fit fit;
    uint32_t group;
    int64_t first_bytes, end_bytes, save_bytes;
    uint64_t blocks;
};

/* Chooses the ends of the complete steps. If there are more than GROWTH_STEPS, chooses evenly
 * spaced ones, including the first and the last. */
static void choose_ends(struct builder *builder)
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

/* Finds the step with the peak; if the peak lies between two steps, the earlier. */
static void find_peak_step(struct builder *builder)
{
    for (size_t i = 0; i < builder->steps->count; i++) {
        uint32_t first = builder->steps->items[i].first;
        if ((int64_t)first > builder->timeline->active.peak_event)
            break;
        builder->peak_before = builder->peak_since;
        builder->peak_since = first;
    }
}

static int64_t weight_of(const struct candidate *candidate)
{
    return candidate->fit.kind == GROWTH_GROWING ? candidate->fit.bytes_per_step
                                                 : candidate->end_bytes;
}

/* By kind, then by bytes, the most first. Ties keep the order of the groups, which is by name. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->fit.kind != y->fit.kind)
        return x->fit.kind < y->fit.kind ? -1 : 1;
    if (weight_of(x) != weight_of(y))
        return weight_of(x) > weight_of(y) ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static void fit_groups(const struct builder *builder, struct candidate *candidates)
{
    struct growth_series series;
    size_t last = builder->ends.count - 1;
    for (size_t i = 0; i < builder->survivors.groups.count; i++) {
        struct candidate *candidate = &candidates[i];
        survivors_series(&builder->survivors, builder->timeline, i, builder->ends.count, &series);
        growth_fit(&series, &candidate->fit);
        candidate->fit.bytes_per_step =
            (int64_t)((double)candidate->fit.bytes_per_step / builder->stride);
        candidate->group = (uint32_t)i;
        candidate->first_bytes = series.bytes[0];
        candidate->end_bytes = series.bytes[last];
        candidate->blocks = series.blocks[last];
        candidate->save_bytes = 0;
    }
}

static int compare_stacks(const void *a, const void *b)
{
    stack_id x = *(const stack_id *)a, y = *(const stack_id *)b;
    return (x > y) - (x < y);
}

/* Categories are inferred, and may tell apart what one line adds at step after step: then a part of
 * it seems to have stopped growing. Nothing is said of such a part. The same holds of all
 * allocations without a stack. */
static bool doubt_parts(const struct builder *builder, struct candidate *candidates,
                        struct error *err)
{
    const struct site_groups *groups = &builder->survivors.groups;
    stack_id *growing = NULL;
    size_t count = 0, capacity = 0;
    if (!vec_reserve(growing, capacity, groups->count + 1, groups->budget, err))
        return false;
    for (size_t i = 0; i < groups->count; i++)
        if (candidates[i].fit.kind == GROWTH_GROWING)
            growing[count++] = groups->items[i].source.shown;
    qsort(growing, count, sizeof(*growing), compare_stacks);
    for (size_t i = 0; i < groups->count; i++)
        if (candidates[i].fit.kind == GROWTH_STOPPED &&
            bsearch(&groups->items[i].source.shown, growing, count, sizeof(*growing),
                    compare_stacks))
            candidates[i].fit.kind = GROWTH_UNCLEAR;
    vec_free(growing, capacity, sizeof(*growing), groups->budget);
    return true;
}

/* Says nothing of what LBFGS keeps: its history grows to history_size entries, and no further. Nor
 * of batches. */
static bool doubt_known(const struct builder *builder, struct candidate *candidates,
                        struct error *err)
{
    const struct site_groups *groups = &builder->survivors.groups;
    for (size_t i = 0; i < groups->count; i++) {
        const struct stack_facts *facts =
            site_stack_facts(builder->set.sites, groups->items[i].source.own, err);
        if (!facts)
            return false;
        struct growth_fit *fit = &candidates[i].fit;
        bool is_batch =
            is_larger_batch(fit, &groups->items[i], facts, site_table_symbols(builder->set.sites));
        if (facts->is_history || is_batch)
            fit->kind = GROWTH_UNCLEAR;
        if (is_batch)
            fit->bytes_per_step = 0;
    }
    return true;
}

static bool label_rows(struct builder *builder, const struct candidate *candidates, size_t count,
                       struct error *err)
{
    const struct site_groups *groups = &builder->survivors.groups;
    struct label_files files;
    struct buffer text = BUFFER_INIT;
    bool ok = true;
    label_files_init(&files, site_table_symbols(builder->set.sites), groups->budget);
    for (size_t i = 0; ok && i < count; i++)
        ok = live_source_note_file(&builder->set, &groups->items[candidates[i].group].source,
                                   &files, err);
    if (ok)
        label_files_settle(&files);
    for (size_t i = 0; ok && i < count; i++)
        ok = live_source_make_label(&builder->set, &groups->items[candidates[i].group].source,
                                    &files, &text, &builder->growth->rows[i].label, err);
    label_files_release(&files);
    buffer_release(&text);
    return ok;
}

static void fill_row(const struct builder *builder, const struct candidate *candidate,
                     struct growth_row *row)
{
    const struct site_group *group = &builder->survivors.groups.items[candidate->group];
    *row = (struct growth_row){
        .fit = candidate->fit,
        .category = group->category,
        .stack = group->source.shown,
        .site = group->source.site,
        .label = row->label,
        .bytes_at_first = candidate->first_bytes,
        .bytes_at_end = candidate->end_bytes,
        .blocks_at_end = candidate->blocks,
        .save_bytes = candidate->save_bytes,
    };
}

/* True if its allocations are of a few bytes each. */
static bool is_small(const struct candidate *candidate)
{
    return candidate->end_bytes <= (int64_t)(SCALAR_BYTES * candidate->blocks);
}

/* The bytes at the peak that earlier steps left over. Without stacks, one group has what grows,
 * what is constant, and what the loop's variables keep until the next step: only what surely grows
 * counts. */
static int64_t left_over(const struct builder *builder, const struct candidate *candidate)
{
    const struct site_group *group = &builder->survivors.groups.items[candidate->group];
    bool has_stack = group->source.own != STACK_NONE;
    int64_t bytes = survivors_older(&builder->survivors, builder->timeline, candidate->group,
                                    builder->timeline->active.peak_event,
                                    has_stack ? builder->peak_since : builder->peak_before);
    if (group->category == CATEGORY_KV_CACHE)
        return 0; /* the next token needs all of it */
    if (has_stack)
        return bytes;
    return bytes > candidate->first_bytes ? bytes - candidate->first_bytes : 0;
}

/* Sums over all growing groups, including those that get no row. */
static void sum_growing(const struct builder *builder, struct candidate *candidates, size_t count)
{
    struct growth *growth = builder->growth;
    const struct survivors *survivors = &builder->survivors;
    for (size_t i = 0; i < count && candidates[i].fit.kind == GROWTH_GROWING; i++) {
        const struct site_group *group = &survivors->groups.items[candidates[i].group];
        bool graph = !is_small(&candidates[i]) && (group->category == CATEGORY_ACTIVATION ||
                                                   group->category == CATEGORY_UNKNOWN);
        candidates[i].save_bytes = left_over(builder, &candidates[i]);
        growth->growing++;
        sum_add_capped(&growth->save_bytes, candidates[i].save_bytes);
        sum_add_capped(&growth->bytes_per_step, candidates[i].fit.bytes_per_step);
        if (group->category == CATEGORY_ACTIVATION)
            sum_add_capped(&growth->activation_bytes_per_step, candidates[i].fit.bytes_per_step);
        if (graph)
            sum_add_capped(&growth->graph_bytes_per_step, candidates[i].fit.bytes_per_step);
    }
}

/* The growing row of activations that is allocated last in a step: the result that a graph belongs
 * to. NO_ROW: none is in the user's code. */
static size_t find_last(const struct builder *builder, const struct candidate *candidates)
{
    const struct survivors *survivors = &builder->survivors;
    size_t best = NO_ROW;
    int64_t last = -1;
    for (size_t i = 0; i < builder->growth->growing && i < GROWTH_ROWS; i++) {
        const struct site_group *group = &survivors->groups.items[candidates[i].group];
        int64_t item = kept_graph_last_item(survivors, builder->timeline, candidates[i].group);
        if (group->source.site.user_frame == NO_FRAME || item <= last ||
            (group->category != CATEGORY_ACTIVATION && group->category != CATEGORY_UNKNOWN))
            continue;
        last = item;
        best = i;
    }
    return best;
}

/* Finds out what keeps the growing rows: pools, or graphs, and which row those belong to. */
static bool judge_keepers(struct builder *builder, const struct candidate *candidates,
                          struct error *err)
{
    struct growth *growth = builder->growth;
    uint32_t groups[GROWTH_ROWS];
    bool small[GROWTH_ROWS];
    size_t count = growth->growing < GROWTH_ROWS ? growth->growing : GROWTH_ROWS;
    for (size_t i = 0; i < count; i++) {
        groups[i] = candidates[i].group;
        small[i] = is_small(&candidates[i]);
    }
    growth->scalar_row = growth->last_row = NO_ROW;
    if (!private_growth_find(&builder->survivors, builder->timeline, groups, count,
                             builder->ends.items[builder->ends.count - 1], &growth->pools, err))
        return false;
    if (growth->graph_bytes_per_step == 0)
        return true;
    if (!kept_graph_judge(&builder->survivors, &builder->set, builder->phases, groups, small, count,
                          &growth->graph, err))
        return false;
    if (growth->graph == GRAPH_NONE)
        return true;
    growth->has_variables =
        kept_graph_has_variables(&builder->survivors, &builder->set, groups, count);
    growth->last_row = find_last(builder, candidates);
    if (growth->last_row != NO_ROW && is_small(&candidates[growth->last_row]))
        growth->scalar_row = growth->last_row;
    return true;
}

static bool make_rows(struct builder *builder, struct candidate *candidates, struct error *err)
{
    struct growth *growth = builder->growth;
    size_t count = builder->survivors.groups.count;
    fit_groups(builder, candidates);
    if (!doubt_parts(builder, candidates, err) || !doubt_known(builder, candidates, err))
        return false;
    if (count > 0)
        qsort(candidates, count, sizeof(*candidates), compare_candidates);
    sum_growing(builder, candidates, count);
    if (!judge_keepers(builder, candidates, err))
        return false;
    growth->row_count = count < GROWTH_ROWS ? count : GROWTH_ROWS;
    growth->rows_left_out = count - growth->row_count;
    growth->rows = calloc(growth->row_count + 1, sizeof(*growth->rows));
    if (!growth->rows)
        return error_out_of_memory(err);
    if (!label_rows(builder, candidates, growth->row_count, err))
        return false;
    for (size_t i = 0; i < growth->row_count; i++)
        fill_row(builder, &candidates[i], &growth->rows[i]);
    return true;
}

/* Adds the stale gradients as a row of their own, after the growing rows. */
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

static bool compare_steps(struct builder *builder, struct error *err)
{
    if (!survivors_find(&builder->survivors, &builder->set, &builder->ends, err))
        return false;
    struct candidate *candidates = NULL;
    size_t capacity = 0;
    struct budget *budget = builder->timeline->snapshot->budget;
    bool ok = vec_reserve(candidates, capacity, builder->survivors.groups.count + 1, budget, err) &&
              make_rows(builder, candidates, err);
    vec_free(candidates, capacity, sizeof(*candidates), budget);
    survivors_release(&builder->survivors);
    return ok;
}

size_t growth_holder(const struct growth *growth)
{
    if (growth->graph != GRAPH_KEPT)
        return 0;
    return growth->last_row != NO_ROW ? growth->last_row : 0;
}

static bool find_gradients(struct growth *growth, const struct timeline *timeline,
                           struct site_table *sites, const struct phases *phases,
                           const struct categories *categories, struct error *err)
{
    struct cycles cycles = {0};
    bool ok =
        cycles_find(&cycles, timeline, phases, err) &&
        idle_gradients_find(&growth->idle, timeline, sites, phases, categories, &cycles, err) &&
        stale_gradients_find(&growth->gradients, timeline, sites, phases, categories, &cycles,
                             &growth->idle, err);
    cycles_release(&cycles);
    return ok;
}

bool growth_find(struct growth *growth, const struct timeline *timeline, struct site_table *sites,
                 const struct categories *categories, const struct phases *phases,
                 const struct steps *steps, struct error *err)
{
    struct growth made = {.scalar_row = NO_ROW, .last_row = NO_ROW};
    struct builder builder = {
        .growth = &made,
        .phases = phases,
        .steps = steps,
        .timeline = timeline,
        .set = {.timeline = timeline, .sites = sites, .categories = categories},
    };
    choose_ends(&builder);
    find_peak_step(&builder);
    bool ok = find_gradients(&made, timeline, sites, phases, categories, err) &&
              (made.compared < GROWTH_LEAST || compare_steps(&builder, err)) &&
              (made.gradients.count == 0 || add_gradients(&made, err));
    if (!ok) {
        growth_release(&made);
        return false;
    }
    *growth = made;
    return true;
}

void growth_release(struct growth *growth)
{
    free(growth->rows);
    idle_gradients_release(&growth->idle);
    *growth = (struct growth){.scalar_row = NO_ROW, .last_row = NO_ROW};
}
