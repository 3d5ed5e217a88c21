/* Options of `memsnap shard` that depend on each other. */
#include <inttypes.h>
#include <string.h>

#include "commands/shard/options.h"

bool shard_take_sweep(const char *text, struct shard_command *command, struct error *err)
{
    struct fit_values values;
    if (!fit_values_parse(text, &values, err))
        return error_set(err, STATUS_USAGE,
                         "invalid --sweep '%.60s' (for example world=1..1024, world=2,8,64 or "
                         "batch=8..64+8)",
                         text);
    if (strcmp(values.name, "world") == 0)
        command->worlds = values;
    else if (strcmp(values.name, "batch") == 0)
        command->batches = values;
    else
        return error_set(err, STATUS_USAGE, "invalid --sweep '%.60s' (expected world or batch)",
                         text);
    return true;
}

static bool complete_sweep(struct shard_command *command, struct error *err)
{
    if (!command->has_sweep)
        return true;
    if (command->gpu_bytes == 0)
        return error_set(err, STATUS_USAGE, "--sweep needs --gpu");
    if (command->has_code || command->format == SHARD_FORMAT_PYTHON)
        return error_set(err, STATUS_USAGE, "--sweep does not go with --code or --format python");
    return (*command->worlds.name || fit_values_parse("world=1..1024*2", &command->worlds, err)) &&
           (*command->batches.name || fit_values_parse("batch=1..64", &command->batches, err));
}

bool shard_command_complete(struct shard_command *command, bool has_file, struct error *err)
{
    struct shard_options *options = &command->options;
    struct shard_sizes *sizes = &command->sizes;
    bool by_hand = sizes->elements > 0;
    if (options->group > 0 && !command->has_sweep &&
        (options->group > options->world || options->world % options->group))
        return error_set(err, STATUS_USAGE,
                         "invalid --group %" PRId64 " (--world %" PRId64
                         " is not a multiple of it)",
                         options->group, options->world);
    bool has_more = sizes->activation_bytes > 0 || sizes->layers > 0 || sizes->output_bytes > 0;
    if (has_file && (by_hand || has_more))
        return error_set(err, STATUS_USAGE,
                         "--parameters, --activations, --unit-output and --layers do not apply to "
                         "a file");
    if (!has_file && !by_hand && has_more)
        return error_set(err, STATUS_USAGE,
                         "--activations, --unit-output and --layers need --parameters");
    if (by_hand && command->recorded_size > 0)
        return error_set(err, STATUS_USAGE, "--recorded-dtype needs a snapshot");
    if (by_hand && command->is_checkpointed && sizes->output_bytes == 0)
        return error_set(err, STATUS_USAGE,
                         "--checkpointed needs a file, or --unit-output (for example 64MiB)");
    bool has_curves = command->format == SHARD_FORMAT_JSON || command->format == SHARD_FORMAT_CSV;
    if (command->has_curve && (!has_curves || command->has_sweep))
        return error_set(err, STATUS_USAGE, "--curve needs --format json or csv, without --sweep");
    bool has_tables = command->format == SHARD_FORMAT_TEXT || command->format == SHARD_FORMAT_JSON;
    if (command->has_modules && (!has_tables || command->has_sweep))
        return error_set(err, STATUS_USAGE,
                         "--modules needs --format text or json, without --sweep");
    if (command->has_code && !shard_optimizer_runs(options->optimizer, command->code))
        return error_set(err, STATUS_USAGE, "--code %s does not work with --optimizer %s",
                         shard_strategy_name(command->code), options->optimizer->name);
    if (!complete_sweep(command, err))
        return false;
    if (sizes->layers == 0)
        sizes->layers = 1;
    if (sizes->output_bytes > sizes->activation_bytes / (int64_t)sizes->layers)
        return error_set(err, STATUS_USAGE,
                         "--unit-output is more than --activations of one of --layers");
    sizes->element_size = sizeof(float);
    if (sizes->elements > 0 && (int64_t)sizes->layers > sizes->elements)
        return error_set(err, STATUS_USAGE, "more --layers than --parameters");
    return true;
}
