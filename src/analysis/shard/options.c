#include "analysis/shard/options.h"

#include <string.h>

static const char *const names[SHARD_STRATEGIES] = {
    [SHARD_DDP] = "ddp",   [SHARD_ZERO] = "zero",   [SHARD_OSS] = "oss",     [SHARD_SDP] = "sdp",
    [SHARD_FSDP] = "fsdp", [SHARD_FSDP1] = "fsdp1", [SHARD_FSDP2] = "fsdp2",
};

const char *shard_strategy_name(enum shard_strategy strategy)
{
    return names[strategy];
}

const struct shard_optimizer shard_optimizers[] = {
    {"adam", 2, SHARD_ADAM},    {"adamw", 2, SHARD_ADAM},         {"sgd", 0, SHARD_SGD},
    {"momentum", 1, SHARD_SGD}, {"adam8bit", 0, SHARD_BLOCKWISE}, {"adafactor", 0, SHARD_FACTORED},
    {"lion", 1, SHARD_SIGN},    {"muon", 0, SHARD_ORTHOGONAL},    {NULL, 0, SHARD_SGD},
};

const struct shard_optimizer *shard_optimizer_find(const char *name)
{
    for (const struct shard_optimizer *row = shard_optimizers; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

bool shard_optimizer_runs(const struct shard_optimizer *optimizer, enum shard_strategy strategy)
{
    return strategy != SHARD_FSDP2 ||
           (optimizer->rule != SHARD_FACTORED && optimizer->rule != SHARD_BLOCKWISE);
}

void shard_options_init(struct shard_options *options)
{
    *options = (struct shard_options){
        .world = 8,
        .optimizer = shard_optimizers,
        .custom_state = -1,
        .batch = 1,
        .accumulation = 1,
        .prefetch = 1,
    };
}
