#include "analysis/shard/curves.h"

#include <stdlib.h>
#include <string.h>

struct grouping {
    const struct shard_model *model;
    const struct shard_options *options;
    const struct shard_result *result;
    shard_group_taker *take;
    void *self;
    size_t taken;
    struct shard_columns columns, next;
};

static bool is_same_memory(const struct shard_memory *a, const struct shard_memory *b)
{
    return a->parameter_bytes == b->parameter_bytes && a->gradient_bytes == b->gradient_bytes &&
           a->optimizer_state_bytes == b->optimizer_state_bytes &&
           a->activation_bytes == b->activation_bytes && a->buffer_bytes == b->buffer_bytes;
}

static bool is_same(const struct shard_columns *a, const struct shard_columns *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!is_same_memory(&a->columns[i].memory, &b->columns[i].memory))
            return false;
    return true;
}

/* False if the results tell that the curves differ. Only if they do not, both are made and
 * compared. */
static bool may_be_same(const struct shard_rank *a, const struct shard_rank *b)
{
    return a->peak_bytes == b->peak_bytes && a->held_state_bytes == b->held_state_bytes &&
           is_same_memory(&a->at_peak, &b->at_peak);
}

static bool make(struct grouping *in, const struct shard_rank *rank, struct shard_columns *columns,
                 struct error *err)
{
    return shard_columns_make(columns, in->model, in->options, in->result->strategy, rank->rank,
                              err);
}

static bool hand_out(struct grouping *in, size_t first, size_t last, struct error *err)
{
    const struct shard_columns *columns = &in->columns;
    struct shard_curve_group group = {.first_rank = in->result->ranks[first].rank,
                                      .last_rank = in->result->ranks[last].rank,
                                      .columns = columns,
                                      .peak = columns->columns};
    for (size_t i = 0; i < columns->count; i++)
        if (shard_memory_sum(&columns->columns[i].memory) > shard_memory_sum(&group.peak->memory))
            group.peak = &columns->columns[i];
    in->taken++;
    return in->take(in->self, &group, err);
}

/* Finds the end of the group that begins at `first`: the first rank with another curve. If that
 * curve had to be made, `next` has it. */
static bool find_end(struct grouping *in, size_t first, size_t *end, bool *has_next,
                     struct error *err)
{
    const struct shard_rank *ranks = in->result->ranks;
    bool is_alike = in->result->strategy == SHARD_DDP || in->result->strategy == SHARD_FSDP;
    *has_next = false;
    for (*end = first + 1; *end < in->result->rank_count; ++*end) {
        if (is_alike)
            continue;
        if (!may_be_same(&ranks[first], &ranks[*end]))
            return true;
        if (!make(in, &ranks[*end], &in->next, err))
            return false;
        if (!is_same(&in->columns, &in->next)) {
            *has_next = true;
            return true;
        }
    }
    return true;
}

static bool take_groups(struct grouping *in, struct error *err)
{
    size_t first = 0, end = 0;
    bool has_columns = false;
    while (first < in->result->rank_count && in->taken < SHARD_MOST_CURVES) {
        if (!has_columns && !make(in, &in->result->ranks[first], &in->columns, err))
            return false;
        if (!find_end(in, first, &end, &has_columns, err) || !hand_out(in, first, end - 1, err))
            return false;
        if (has_columns)
            in->columns = in->next;
        first = end;
    }
    return true;
}

bool shard_curves_each(const struct shard_model *model, const struct shard_options *options,
                       const struct shard_result *result, shard_group_taker *take, void *self,
                       struct error *err)
{
    struct grouping *in = malloc(sizeof(*in));
    if (!in)
        return error_out_of_memory(err);
    *in = (struct grouping){
        .model = model, .options = options, .result = result, .take = take, .self = self};
    bool ok = take_groups(in, err);
    free(in);
    return ok;
}
