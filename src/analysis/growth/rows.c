#include "analysis/growth/rows.h"

#include <stdlib.h>

#include "analysis/growth/cache_use.h"
#include "analysis/growth/candidates.h"
#include "analysis/growth/growing_sums.h"
#include "analysis/growth/grown_model.h"
#include "analysis/growth/holder.h"
#include "analysis/growth/keeper.h"

static int64_t weight_of(const struct candidate *candidate)
{
    return candidate->fit.kind == GROWTH_GROWING ? candidate->fit.bytes_per_step
                                                 : candidate->end_bytes;
}

/* Orders by kind, then by bytes, the most first. Ties keep the order of the groups, which is by
 * name. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->fit.kind != y->fit.kind)
        return x->fit.kind < y->fit.kind ? -1 : 1;
    if (weight_of(x) != weight_of(y))
        return weight_of(x) > weight_of(y) ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* The ends that an allocation must outlive before it counts. The step that has just ended still
 * needs its gradients, or has not freed them yet; more layers may have some than in the step
 * before. In a trace with stacks, what has none is of autograd's threads: gradients, most of all.
 */
static uint16_t ends_in_use(const struct growth_builder *builder, const struct site_group *group)
{
    return group->category == CATEGORY_GRADIENT ||
           (group->source.own == STACK_NONE && builder->phases->has_stacks);
}

/* Fits the memory of a group at each end, which it leaves in *series. What grows must do so, too,
 * among what is no longer in use. */
static void fit_group(const struct growth_builder *builder, size_t group,
                      struct growth_series *series, struct growth_fit *fit)
{
    const struct survivors *survivors = &builder->survivors;
    struct growth_series unused;
    uint16_t in_use = ends_in_use(builder, &survivors->groups.items[group]);
    survivors_series(survivors, builder->timeline, group, builder->ends.count, 0, series);
    growth_fit(series, fit);
    if (in_use == 0 || fit->kind != GROWTH_GROWING)
        return;
    survivors_series(survivors, builder->timeline, group, builder->ends.count, in_use, &unused);
    growth_fit(&unused, fit);
}

static bool fit_groups(const struct growth_builder *builder, struct candidate *candidates,
                       struct error *err)
{
    struct cache_use use = {.timeline = builder->timeline,
                            .survivors = &builder->survivors,
                            .end_count = builder->ends.count,
                            .trains = growth_trains(builder)};
    struct growth_series series;
    bool ok = true;
    size_t last = builder->ends.count - 1;
    for (size_t i = 0; ok && i < builder->survivors.groups.count; i++) {
        struct candidate *candidate = &candidates[i];
        fit_group(builder, i, &series, &candidate->fit);
        candidate->fit.bytes_per_step =
            (int64_t)((double)candidate->fit.bytes_per_step / builder->stride);
        candidate->group = (uint32_t)i;
        candidate->first_bytes = series.bytes[0];
        candidate->end_bytes = series.bytes[last];
        candidate->blocks = series.blocks[last];
        candidate->save_bytes = 0;
        candidate->in_use = false;
        if (candidate->fit.kind == GROWTH_GROWING)
            ok = cache_use_find(&use, i, &candidate->in_use, &candidate->outlived, err);
    }
    cache_use_release(&use);
    return ok;
}

static bool label_rows(struct growth_builder *builder, const struct candidate *candidates,
                       size_t count, struct error *err)
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

static void fill_row(const struct growth_builder *builder, const struct candidate *candidate,
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
        .in_use = candidate->in_use,
        .keeper = candidate->fit.kind == GROWTH_STOPPED
                      ? keeper_find(&builder->survivors, &builder->set, builder->is_dropped,
                                    candidate->group)
                      : KEEPER_UNKNOWN,
    };
}

/* True if parameters and optimizer states grow together. `candidates` begin with those that grow.
 */
static bool find_models(const struct growth_builder *builder, const struct candidate *candidates,
                        size_t count)
{
    bool parameters = false, states = false;
    for (size_t i = 0; i < count && candidates[i].fit.kind == GROWTH_GROWING; i++) {
        enum category category = builder->survivors.groups.items[candidates[i].group].category;
        parameters = parameters || category == CATEGORY_PARAMETER;
        states = states || category == CATEGORY_OPTIMIZER_STATE;
    }
    return parameters && states;
}

/* A model that grows needs its parameters, and its optimizer their states. */
static void mark_model(const struct growth_builder *builder, struct candidate *candidates,
                       size_t count)
{
    for (size_t i = 0; i < count && candidates[i].fit.kind == GROWTH_GROWING; i++)
        if (growing_is_of_model(builder->survivors.groups.items[candidates[i].group].category))
            candidates[i].in_use = true;
}

/* Sets `*best` to the growing row of activations that is allocated last in a step: the result that
 * a graph belongs to. NO_ROW: none is in the user's code. */
static bool find_last(const struct growth_builder *builder, const struct candidate *candidates,
                      size_t *best, struct error *err)
{
    const struct survivors *survivors = &builder->survivors;
    int64_t last = -1;
    *best = NO_ROW;
    for (size_t i = 0; i < builder->growth->growing && i < GROWTH_ROWS; i++) {
        const struct site_group *group = &survivors->groups.items[candidates[i].group];
        int64_t item = kept_graph_last_item(survivors, builder->timeline, candidates[i].group);
        if (group->source.site.user_frame == NO_FRAME || item <= last ||
            (group->category != CATEGORY_ACTIVATION && group->category != CATEGORY_UNKNOWN))
            continue;
        bool is_count = false;
        if (candidate_is_small(&candidates[i]) &&
            !kept_graph_is_count(survivors, &builder->set, candidates[i].group, &is_count, err))
            return false;
        if (is_count)
            continue;
        last = item;
        *best = i;
    }
    return true;
}

/* Finds out what keeps the growing rows: pools, or graphs, and which row those belong to. */
static bool judge_keepers(struct growth_builder *builder, const struct candidate *candidates,
                          struct error *err)
{
    struct growth *growth = builder->growth;
    uint32_t groups[GROWTH_ROWS];
    bool small[GROWTH_ROWS];
    size_t count = growth->growing < GROWTH_ROWS ? growth->growing : GROWTH_ROWS;
    for (size_t i = 0; i < count; i++) {
        groups[i] = candidates[i].group;
        small[i] = candidate_is_small(&candidates[i]);
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
    if (!find_last(builder, candidates, &growth->last_row, err))
        return false;
    if (growth->last_row != NO_ROW && candidate_is_small(&candidates[growth->last_row]))
        growth->scalar_row = growth->last_row;
    return true;
}

static bool make_rows(struct growth_builder *builder, struct candidate *candidates,
                      struct error *err)
{
    struct growth *growth = builder->growth;
    size_t count = builder->survivors.groups.count;
    if (!fit_groups(builder, candidates, err) || !growth_doubt(builder, candidates, err))
        return false;
    if (count > 0)
        qsort(candidates, count, sizeof(*candidates), compare_candidates);
    growth->grow_models = find_models(builder, candidates, count);
    if (growth->grow_models &&
        !grown_model_find(builder, candidates, count, &growth->grows_one_model, err))
        return false;
    if (growth->grows_one_model)
        mark_model(builder, candidates, count);
    if (!growing_sums_make(builder, candidates, count, err) ||
        !judge_keepers(builder, candidates, err))
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
    if (growth->growing == 0)
        return true;
    uint32_t holder = candidates[growth_holder(growth)].group;
    const struct live_source *source = &builder->survivors.groups.items[holder].source;
    growth->in_function = source->shown != STACK_NONE &&
                          site_in_function(builder->set.sites, source->shown, &source->site);
    return growth_label_caller(&builder->set, source, &growth->caller, err);
}

bool growth_compare_steps(struct growth_builder *builder, struct error *err)
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
    last_step_release(&builder->last);
    return ok;
}
