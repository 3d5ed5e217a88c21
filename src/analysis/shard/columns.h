/* The curve of a rank in a bounded number of columns. */
#ifndef MEMSNAP_ANALYSIS_SHARD_COLUMNS_H
#define MEMSNAP_ANALYSIS_SHARD_COLUMNS_H

#include "analysis/shard/shard.h"

#define SHARD_COLUMNS 256

struct shard_columns {
    struct shard_moment columns[SHARD_COLUMNS]; /* the highest of the moments each stands for */
    size_t count;
    size_t moments; /* of the whole curve */
};

bool shard_columns_make(struct shard_columns *columns, const struct shard_model *model,
                        const struct shard_options *options, enum shard_strategy strategy,
                        uint32_t rank, struct error *err);

#endif
