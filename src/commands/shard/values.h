/* The values of options of `memsnap shard`, from optarg. All set STATUS_USAGE on failure. */
#ifndef MEMSNAP_COMMANDS_SHARD_VALUES_H
#define MEMSNAP_COMMANDS_SHARD_VALUES_H

#include "commands/shard/options.h"

/* The name of a GPU or a size. */
bool shard_take_gpu(struct shard_command *command, struct error *err);
bool shard_take_number(const char *option, int64_t least, int64_t most, int64_t *number,
                       struct error *err);
/* Above 0. */
bool shard_take_real(const char *option, double most, double *number, struct error *err);
bool shard_take_size(const char *option, int64_t *bytes, struct error *err);
/* "7B", "125M", "1.5T", "25557032" */
bool shard_take_parameters(struct shard_command *command, struct error *err);

#endif
