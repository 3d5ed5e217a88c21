/* The checkpoints of `memsnap shard --checkpointed`. */
#ifndef MEMSNAP_COMMANDS_SHARD_CHECKPOINTS_H
#define MEMSNAP_COMMANDS_SHARD_CHECKPOINTS_H

#include "commands/shard/load.h"
#include "solve/problem/problem.h"

/* Sets the subject's checkpointed model, the modules that checkpoints wrap, and what they run
 * again. The problem is of the same step as the model; NULL for sizes given by hand, of which all
 * units have checkpoints. */
bool shard_add_checkpoints(struct shard_subject *subject, const struct problem *problem,
                           struct error *err);

#endif
