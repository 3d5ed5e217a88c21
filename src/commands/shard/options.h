/* The options of `memsnap shard`. */
#ifndef MEMSNAP_COMMANDS_SHARD_OPTIONS_H
#define MEMSNAP_COMMANDS_SHARD_OPTIONS_H

#include "analysis/fit/values.h"
#include "analysis/shard/model.h"
#include "analysis/shard/options.h"
#include "base/units.h"
#include "commands/cli/capture.h"
#include "commands/cli/choice.h"
#include "commands/cli/options.h"
#include "solve/problem/cuts.h"

enum shard_format { SHARD_FORMAT_TEXT, SHARD_FORMAT_JSON, SHARD_FORMAT_CSV, SHARD_FORMAT_PYTHON };

struct shard_command {
    struct shard_options options;
    struct shard_sizes sizes; /* given by hand; with 0 elements, sizes come from a file */
    int64_t recorded_size;    /* bytes of an element in a snapshot; 0: not given */
    struct cuts cuts;
    enum shard_format format;
    enum unit unit;
    uint64_t gpu_bytes; /* 0: not given */
    bool has_sweep;
    struct fit_values worlds, batches; /* of --sweep; no name: not given */
    bool has_optimizer, has_code, has_curve, has_modules, is_checkpointed;
    enum shard_strategy code;
    struct capture_options capture;
    struct file_choice files;
    const char *output;
};

extern const struct option_spec shard_option_specs[];
extern const struct option_words shard_option_words[];

void shard_command_init(struct shard_command *command);
/* The option_taker for struct shard_command. */
bool shard_option(int option, void *command, struct error *err);
/* Takes the values of --sweep: world=... or batch=... */
bool shard_take_sweep(const char *text, struct shard_command *command, struct error *err);
/* Sets defaults after the last option, and rejects conflicting options. */
bool shard_command_complete(struct shard_command *command, bool has_file, struct error *err);

#endif
