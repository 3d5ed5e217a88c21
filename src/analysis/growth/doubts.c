/* Growth that says nothing: of categories that were inferred differently, of batches that get
 * larger, and of what optimizers keep. */
#include <stdlib.h>

#include "analysis/growth/candidates.h"
#include "analysis/growth/larger_batch.h"
#include "base/bisect.h"
#include "base/budget.h"
#include "model/sums.h"

/* Marks parts of growth as doubtful. Categories are inferred, and may differ between allocations
 * that one line adds in step after step; then a part of them seems to have stopped growing. Nothing
 * is reported about such a part, nor about allocations without a stack. */
static bool doubt_parts(const struct growth_builder *builder, struct candidate *candidates,
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
    qsort(growing, count, sizeof(*growing), compare_32);
    for (size_t i = 0; i < groups->count; i++)
        if (candidates[i].fit.kind == GROWTH_STOPPED &&
            bsearch(&groups->items[i].source.shown, growing, count, sizeof(*growing), compare_32))
            candidates[i].fit.kind = GROWTH_UNCLEAR;
    vec_free(growing, capacity, sizeof(*growing), groups->budget);
    return true;
}

/* A group and the stack that it is shown with. */
struct part {
    stack_id shown;
    uint32_t group;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->shown != y->shown)
        return x->shown < y->shown ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static void get_series(const struct growth_builder *builder, uint32_t group,
                       struct growth_series *series)
{
    survivors_series(&builder->survivors, builder->timeline, group, builder->ends.count, 0, series);
}

/* True if a part has grown, but the line that it is of keeps as much as it did when the part first
 * grew. `whole` has the bytes of the line at each end. */
static bool is_constant_since(const int64_t *whole, const struct growth_series *part)
{
    size_t from = 0, last = part->count - 1;
    int64_t most = 0;
    while (from < last && part->bytes[from] <= part->bytes[0])
        from++;
    for (size_t k = from; k <= last; k++)
        most = whole[k] > most ? whole[k] : most;
    return most - whole[from] < (part->bytes[last] - part->bytes[from]) / 2;
}

/* Doubts the growth of those parts of one line. */
static void doubt_line(const struct growth_builder *builder, const struct part *parts, size_t count,
                       struct candidate *candidates)
{
    int64_t whole[GROWTH_STEPS] = {0};
    struct growth_series part;
    for (size_t i = 0; i < count; i++) {
        get_series(builder, parts[i].group, &part);
        for (size_t k = 0; k < part.count; k++)
            sum_add_capped(&whole[k], part.bytes[k]);
    }
    for (size_t i = 0; i < count; i++) {
        struct growth_fit *fit = &candidates[parts[i].group].fit;
        if (fit->kind != GROWTH_GROWING)
            continue;
        get_series(builder, parts[i].group, &part);
        if (!is_constant_since(whole, &part))
            continue;
        fit->kind = GROWTH_UNCLEAR;
        fit->bytes_per_step = 0;
    }
}

/* The other way round: the latest of what a line keeps may be of another category than what it kept
 * before and has freed since. Then a part seems to grow, although the line keeps as much as ever.
 */
static bool doubt_lines(const struct growth_builder *builder, struct candidate *candidates,
                        struct error *err)
{
    const struct site_groups *groups = &builder->survivors.groups;
    struct part *parts = NULL;
    size_t count = 0, capacity = 0;
    if (!vec_reserve(parts, capacity, groups->count + 1, groups->budget, err))
        return false;
    for (size_t i = 0; i < groups->count; i++)
        if (groups->items[i].source.shown != STACK_NONE)
            parts[count++] = (struct part){groups->items[i].source.shown, (uint32_t)i};
    if (count > 1)
        qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 0, next; i < count; i = next) {
        bool any = false;
        for (next = i; next < count && parts[next].shown == parts[i].shown; next++)
            any |= candidates[parts[next].group].fit.kind == GROWTH_GROWING;
        if (any && next - i > 1)
            doubt_line(builder, &parts[i], next - i, candidates);
    }
    vec_free(parts, capacity, sizeof(*parts), groups->budget);
    return true;
}

/* True if an optimizer made an allocation for weights that it had not updated before, such as those
 * of a layer that is trained only now. It is an optimizer of PyTorch, or seems to be an optimizer.
 */
static bool is_first_state(const struct growth_fit *fit, const struct site_group *group,
                           const struct stack_facts *facts, struct site_table *sites)
{
    if (fit->kind != GROWTH_GROWING || group->category != CATEGORY_OPTIMIZER_STATE ||
        facts->context != CONTEXT_OPTIMIZER)
        return false;
    if (fit->confidence == CONFIDENCE_LOW)
        return true;
    struct stack stack = symbols_stack_at(site_table_symbols(sites), group->source.own);
    uint32_t index = facts->site.any_python_frame;
    return index != NO_FRAME && site_frame_kind(sites, stack.frames[index]) == FRAME_LIBRARY;
}

/* Says nothing of results that grow only because batches do. */
static bool doubt_results(const struct growth_builder *builder, struct candidate *candidates,
                          struct error *err)
{
    const struct site_groups *groups = &builder->survivors.groups;
    struct growth_series series;
    struct batches batches = {0};
    bool any = false;
    for (size_t i = 0; i < groups->count; i++)
        any |= candidates[i].fit.kind == GROWTH_GROWING && candidates[i].fit.replaced;
    if (any && !batches_find(&batches, &builder->set, builder->steps, &builder->ends, err))
        return false;
    for (size_t i = 0; any && i < groups->count; i++) {
        struct growth_fit *fit = &candidates[i].fit;
        survivors_series(&builder->survivors, builder->timeline, i, builder->ends.count, 0,
                         &series);
        if (!is_of_larger_batch(&batches, fit, &series, &groups->items[i]))
            continue;
        fit->kind = GROWTH_UNCLEAR;
        fit->bytes_per_step = 0;
    }
    batches_release(&batches);
    return true;
}

/* True if parameters grow, as when earlier models stay. Then states come with them. */
static bool grow_parameters(const struct site_groups *groups, const struct candidate *candidates)
{
    for (size_t i = 0; i < groups->count; i++)
        if (candidates[i].fit.kind == GROWTH_GROWING &&
            groups->items[i].category == CATEGORY_PARAMETER)
            return true;
    return false;
}

/* Says nothing of what LBFGS keeps: its history grows to history_size entries, and no further. Nor
 * of states of weights that are there from the beginning, and of batches. */
static bool doubt_known(const struct growth_builder *builder, struct candidate *candidates,
                        struct error *err)
{
    const struct site_groups *groups = &builder->survivors.groups;
    bool with_states = grow_parameters(groups, candidates);
    for (size_t i = 0; i < groups->count; i++) {
        const struct stack_facts *facts =
            site_stack_facts(builder->set.sites, groups->items[i].source.own, err);
        if (!facts)
            return false;
        struct growth_fit *fit = &candidates[i].fit;
        bool is_batch =
            is_larger_batch(fit, &groups->items[i], facts, site_table_symbols(builder->set.sites));
        bool is_state =
            !with_states && is_first_state(fit, &groups->items[i], facts, builder->set.sites);
        if (facts->is_history || is_state || is_batch)
            fit->kind = GROWTH_UNCLEAR;
        if (is_batch)
            fit->bytes_per_step = 0;
    }
    return true;
}

bool growth_doubt(const struct growth_builder *builder, struct candidate *candidates,
                  struct error *err)
{
    return doubt_parts(builder, candidates, err) && doubt_lines(builder, candidates, err) &&
           doubt_known(builder, candidates, err) && doubt_results(builder, candidates, err);
}
