#include "analysis/shard/options.h"

#include <string.h>

static const char *const names[SHARD_STRATEGIES] = {
    [SHARD_DDP] = "ddp", [SHARD_ZERO] = "zero", [SHARD_OSS] = "oss",
    [SHARD_SDP] = "sdp", [SHARD_FSDP] = "fsdp", [SHARD_FSDP2] = "fsdp2",
};

const char *shard_strategy_name(enum shard_strategy strategy)
{
    return names[strategy];
}

const struct shard_optimizer shard_optimizers[] = {
    {"adam", 2, 0, false, false, SHARD_FOREACH_TEMPORARIES},
    {"adamw", 2, 0, false, false, SHARD_FOREACH_TEMPORARIES},
    {"sgd", 0, 0, false, false, SHARD_NO_TEMPORARIES},
    {"momentum", 1, 0, false, false, SHARD_NO_TEMPORARIES},
    {"adam8bit", 0, 0, true, false, SHARD_NO_TEMPORARIES},
    {"adafactor", 0, 0, false, true, SHARD_FOREACH_TEMPORARIES},
    {"lion", 1, 0, false, false, SHARD_NO_TEMPORARIES},
    {"muon", 1, 0, false, false, SHARD_NO_TEMPORARIES},
    {NULL, 0, 0, false, false, SHARD_NO_TEMPORARIES},
};

const struct shard_optimizer *shard_optimizer_find(const char *name)
{
    for (const struct shard_optimizer *row = shard_optimizers; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
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
