#include "analysis/shard/columns.h"

struct filling {
    struct shard_columns *columns;
    size_t seen;
};

static void count_moment(void *self, const struct shard_moment *moment)
{
    (void)moment;
    ++*(size_t *)self;
}

static void fill(void *self, const struct shard_moment *moment)
{
    struct filling *filling = self;
    struct shard_columns *made = filling->columns;
    size_t column = filling->seen++;
    if (made->moments > made->count) /* the product cannot overflow */
        column = column * made->count / made->moments;
    struct shard_moment *highest = &made->columns[column];
    if (shard_memory_sum(&moment->memory) > shard_memory_sum(&highest->memory))
        *highest = *moment;
}

/* Walks twice: the number of moments decides which share a column. */
bool shard_columns_make(struct shard_columns *columns, const struct shard_model *model,
                        const struct shard_options *options, enum shard_strategy strategy,
                        uint32_t rank, struct error *err)
{
    size_t moments = 0;
    if (!shard_curve(model, options, strategy, rank, count_moment, &moments, err))
        return false;
    *columns = (struct shard_columns){.moments = moments};
    columns->count = moments < SHARD_COLUMNS ? moments : SHARD_COLUMNS;
    struct filling filling = {.columns = columns};
    return shard_curve(model, options, strategy, rank, fill, &filling, err);
}
