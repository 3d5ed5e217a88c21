/* Reads the model of a step for `memsnap shard`. */
#ifndef MEMSNAP_COMMANDS_SHARD_LOAD_H
#define MEMSNAP_COMMANDS_SHARD_LOAD_H

#include "analysis/shard/choice.h"
#include "commands/cli/inputs.h"
#include "commands/shard/options.h"
#include "commands/suggest/snapshot.h"
#include "model/layer_trace.h"

struct shard_subject {
    struct shard_model model;
    struct shard_model checkpointed; /* if it has layers */
    struct shard_extra extra;        /* of the checkpoints */
    struct text *checkpoints;        /* the modules that they wrap, if their names are known */
    size_t checkpoint_count;
    const char *source;        /* "layer trace", ... */
    struct layer_trace *trace; /* owned; NULL if none */
    struct suggest_snapshot snapshot;
    bool has_snapshot;
    uint32_t device;      /* of the snapshot: the one that was read */
    size_t other_devices; /* that the snapshot has beside it, with memory of tensors */
};

/* Takes the first input. */
bool shard_load(struct shard_subject *subject, const struct shard_command *command,
                struct inputs *inputs, struct error *err);
void shard_unload(struct shard_subject *subject);

#endif
