/* The body of shard(), which wraps the model and makes the optimizer, for each strategy. */
#ifndef MEMSNAP_RENDER_SHARD_STRATEGY_CODE_H
#define MEMSNAP_RENDER_SHARD_STRATEGY_CODE_H

#include "render/shard/shard.h"

struct strategy_code {
    const char *imports;
    bool has_units; /* uses UNITS or find_units() */
    void (*put)(FILE *out, const struct shard_report *report);
};

const struct strategy_code *strategy_code_of(const struct shard_report *report);

#endif
