#include "commands/shard/options.h"

#include <getopt.h>
#include <string.h>

#include "commands/cli/arguments.h"
#include "commands/shard/values.h"
#include "dryrun/core/cards.h"

enum {
    OPTION_ACCUMULATE = OPTION_LONG_ONLY,
    OPTION_ACTIVATIONS,
    OPTION_OUTPUT_BYTES,
    OPTION_BACKWARD_PREFETCH,
    OPTION_BANDWIDTH,
    OPTION_BATCH,
    OPTION_BROADCAST_FP16,
    OPTION_BUCKET_VIEW,
    OPTION_CHECKPOINTED,
    OPTION_CODE,
    OPTION_CURVE,
    OPTION_FLAT_PARAMETERS,
    OPTION_FORMAT,
    OPTION_FORWARD_PREFETCH,
    OPTION_GPU,
    OPTION_GRANULARITY,
    OPTION_GROUP,
    OPTION_KEEP_GRADIENTS,
    OPTION_LATENCY,
    OPTION_LAYERS,
    OPTION_MAIN_GRADIENTS,
    OPTION_MASTER,
    OPTION_MODULES,
    OPTION_NOT_FOREACH,
    OPTION_OFFLOAD,
    OPTION_OPTIMIZER,
    OPTION_PARAM_DTYPE,
    OPTION_PARAMETERS,
    OPTION_PREFETCH,
    OPTION_RECORDED_DTYPE,
    OPTION_REDUCE_BUFFER,
    OPTION_REDUCE_DTYPE,
    OPTION_RESHARD,
    OPTION_STATE_BYTES,
    OPTION_STORED_DTYPE,
    OPTION_SWEEP,
    OPTION_WORLD,
};

#define MOST_ACCUMULATION 1024
#define MOST_STATE        64
#define MOST_PREFETCH     1024
#define MOST_LAYERS       100000
#define TYPES             "float32 bfloat16 float16 float64"

static void put_optimizers(void);
static void put_cards(void);

const struct option_spec shard_option_specs[] = {
    {OPTION_WORLD, "world", "N", "number of ranks (8)"},
    {OPTION_GPU, "gpu", "NAME|SIZE",
     "say what fits: a name of 'memsnap dryrun --list', or\n"
     "a size such as 80GiB"},
    {OPTION_OPTIMIZER, "optimizer", "NAME",
     "adam (the default), adamw, sgd, momentum, adam8bit,\n"
     "adafactor, lion or muon"},
    {OPTION_STATE_BYTES, "state-bytes", "N", "optimizer state: N bytes for each parameter"},
    {OPTION_NOT_FOREACH, "fused", NULL, "the optimizer has no temporaries (fused=True)"},
    {OPTION_MASTER, "master-copy", NULL, "the optimizer has a float32 copy of parameters"},
    {OPTION_MAIN_GRADIENTS, "main-gradients", NULL, "the optimizer keeps float32 gradients"},
    {OPTION_STORED_DTYPE, "dtype", "TYPE",
     "type of parameters and gradients (default: as\n"
     "recorded)"},
    {OPTION_RECORDED_DTYPE, "recorded-dtype", "TYPE",
     "of a snapshot: type of its parameters (float32)"},
    {OPTION_PARAM_DTYPE, "param-dtype", "TYPE", "fsdp*: type of gathered parameters"},
    {OPTION_REDUCE_DTYPE, "reduce-dtype", "TYPE", "fsdp*: type of reduced gradients"},
    {OPTION_BATCH, "batch", "FACTOR", "multiply the recorded batch, for example by 2 or 0.5"},
    {OPTION_ACCUMULATE, "accumulate", "N", "N backward passes for each optimizer step"},
    {OPTION_CHECKPOINTED, "checkpointed", NULL,
     "also with the activation checkpoints that suggest\n"
     "finds"},
    {OPTION_GRANULARITY, "granularity", "WHERE",
     "units of fsdp*: modules at a depth, or\n"
     "modules that match a pattern (default: blocks)"},
    {OPTION_RESHARD, "reshard", "WHICH",
     "reshard_after_forward: true (the default), false, or\n"
     "last (all units but the last)"},
    {OPTION_PREFETCH, "prefetch", "N", "fsdp2: units gathered ahead in backward (1)"},
    {OPTION_FORWARD_PREFETCH, "forward-prefetch", "N",
     "fsdp2: units gathered ahead in forward (0); fsdp1: 1\n"
     "for forward_prefetch=True"},
    {OPTION_BACKWARD_PREFETCH, "backward-prefetch", "WHEN",
     "fsdp1: pre (the default), post, or none"},
    {OPTION_FLAT_PARAMETERS, "flat-parameters", NULL, "fsdp1: use_orig_params=False"},
    {OPTION_OFFLOAD, "offload", NULL, "fsdp*: shards and state on the host"},
    {OPTION_GROUP, "group", "N",
     "fsdp1, fsdp2: shard among N ranks, and replicate\n"
     "these shards; 1: replicate only"},
    {OPTION_BUCKET_VIEW, "bucket-view", NULL, "ddp, zero: gradient_as_bucket_view=True"},
    {OPTION_REDUCE_BUFFER, "reduce-buffer", "N", "sdp: reduce_buffer_size, in elements (0)"},
    {OPTION_BROADCAST_FP16, "broadcast-fp16", NULL, "oss, sdp: broadcast_fp16=True"},
    {OPTION_KEEP_GRADIENTS, "keep-gradients", NULL, "zero_grad(set_to_none=False)"},
    {OPTION_MODULES, "modules", NULL, "text, JSON: memory by module: model states, the peak"},
    {OPTION_CURVE, "curve", NULL, "JSON, CSV: memory of every rank along the step"},
    {OPTION_BANDWIDTH, "bandwidth", "SIZE", "bytes that a rank sends in a second, to get times"},
    {OPTION_LATENCY, "latency", "US", "microseconds of a collective call, to get times"},
    {OPTION_PARAMETERS, "parameters", "N",
     "without FILE: the number of parameters, such as\n"
     "7B or 125M"},
    {OPTION_ACTIVATIONS, "activations", "SIZE", "without FILE: bytes kept for backward"},
    {OPTION_OUTPUT_BYTES, "unit-output", "SIZE",
     "without FILE: bytes of them that a unit passes on, for\n--checkpointed"},
    {OPTION_LAYERS, "layers", "N", "without FILE: divide both into N equal units (1)"},
    {OPTION_SWEEP, "sweep", "NAME=VALUES",
     "with --gpu: find the largest batch that fits, for\n"
     "world=1..1024*2 and batch=1..64, or lists (2,8,64)"},
    {OPTION_CODE, "code", "STRATEGY", "print the code of this strategy"},
    {OPTION_FORMAT, "format", "FORMAT",
     "print text (the default), json, csv, or python: the\n"
     "code only"},
    {OPTION_DEVICE, "device", "N",
     "snapshots: look only at this device (default: the one\n"
     "with the highest peak)"},
    {OPTION_RANGE, "range", "A:B", "snapshots: look only at these events, as in analyze"},
    ROW_UNITS,
    ROWS_RANK_AND_OUTPUT,
    ROW_MAX_MEMORY,
    ROWS_END,
};

const struct option_words shard_option_words[] = {
    {"optimizer", NULL, put_optimizers},
    {"gpu", NULL, put_cards},
    {"dtype", TYPES, NULL},
    {"recorded-dtype", TYPES, NULL},
    {"param-dtype", TYPES, NULL},
    {"reduce-dtype", TYPES, NULL},
    {"reshard", "true false last", NULL},
    {"backward-prefetch", "pre post none", NULL},
    {"code", "ddp zero oss sdp fsdp fsdp1 fsdp2", NULL},
    {"format", "text json csv python", NULL},
    {"units", WORDS_UNITS, NULL},
    {NULL, NULL, NULL},
};

static void put_optimizers(void)
{
    for (const struct shard_optimizer *row = shard_optimizers; row->name; row++)
        printf("%s%s", row == shard_optimizers ? "" : " ", row->name);
}

static void put_cards(void)
{
    for (const struct card *card = cards; card->name; card++)
        printf("%s%s", card == cards ? "" : " ", card->name);
}

void shard_command_init(struct shard_command *command)
{
    *command = (struct shard_command){.capture.device = ALL_DEVICES,
                                      .capture.max_memory = budget_default_limit()};
    shard_options_init(&command->options);
}

/* Sets `name`, unless it is NULL, and the bytes of an element. */
static bool take_type(const char *option, const char **name, int64_t *size, struct error *err)
{
    static const struct {
        const char *name;
        int64_t size;
    } types[] = {{"float32", 4}, {"bfloat16", 2}, {"float16", 2}, {"float64", 8}}; /* of TYPES */
    unsigned index;
    if (!option_word(shard_option_words, option, option, &index, err))
        return false;
    *size = types[index].size;
    if (name)
        *name = types[index].name;
    return true;
}

static bool take_optimizer(struct shard_command *command, struct error *err)
{
    command->options.optimizer = shard_optimizer_find(optarg);
    command->has_optimizer = true;
    return command->options.optimizer ||
           error_set(err, STATUS_USAGE,
                     "invalid optimizer '%.60s' (expected adam, adamw, sgd, momentum, adam8bit, "
                     "adafactor, lion or muon)",
                     optarg);
}

static bool take_word(struct shard_command *command, int option, struct error *err)
{
    unsigned index;
    const char *name = option == OPTION_RESHARD             ? "reshard"
                       : option == OPTION_BACKWARD_PREFETCH ? "backward-prefetch"
                       : option == OPTION_CODE              ? "code"
                                                            : "format";
    if (!option_word(shard_option_words, name, name, &index, err))
        return false;
    if (option == OPTION_RESHARD)
        command->options.reshard = (enum shard_reshard)index;
    else if (option == OPTION_BACKWARD_PREFETCH)
        command->options.backward_prefetch = (enum shard_backward_prefetch)index;
    else if (option == OPTION_FORMAT)
        command->format = (enum shard_format)index;
    else
        command->code = (enum shard_strategy)index;
    command->has_code |= option == OPTION_CODE;
    return true;
}

static bool take_flag(struct shard_options *options, int option)
{
    switch (option) {
    case OPTION_NOT_FOREACH:
        return options->not_foreach = true;
    case OPTION_MASTER:
        return options->has_master = true;
    case OPTION_MAIN_GRADIENTS:
        return options->has_main_gradients = true;
    case OPTION_FLAT_PARAMETERS:
        return options->has_flat_parameters = true;
    case OPTION_OFFLOAD:
        return options->offload = true;
    case OPTION_BUCKET_VIEW:
        return options->bucket_view = true;
    case OPTION_BROADCAST_FP16:
        return options->half_broadcast = true;
    case OPTION_KEEP_GRADIENTS:
        return options->keeps_gradients = true;
    default:
        return false;
    }
}

/* The options that take a whole number. */
static const struct number_option {
    int option;
    const char *name;
    int64_t least, most;
    size_t offset; /* of an int64_t in struct shard_options */
} numbers[] = {
    {OPTION_WORLD, "world", 1, SHARD_MOST_WORLD, offsetof(struct shard_options, world)},
    {OPTION_GROUP, "group", 1, SHARD_MOST_WORLD, offsetof(struct shard_options, group)},
    {OPTION_ACCUMULATE, "accumulate", 1, MOST_ACCUMULATION,
     offsetof(struct shard_options, accumulation)},
    {OPTION_STATE_BYTES, "state-bytes", 0, MOST_STATE,
     offsetof(struct shard_options, custom_state)},
    {OPTION_REDUCE_BUFFER, "reduce-buffer", 0, SHARD_MOST_BYTES,
     offsetof(struct shard_options, reduce_buffer)},
    {OPTION_PREFETCH, "prefetch", 1, MOST_PREFETCH, offsetof(struct shard_options, prefetch)},
    {OPTION_FORWARD_PREFETCH, "forward-prefetch", 0, MOST_PREFETCH,
     offsetof(struct shard_options, forward_prefetch)},
};

static const struct number_option *find_number(int option)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i].option == option)
            return &numbers[i];
    return NULL;
}

static bool take_number(struct shard_options *options, const struct number_option *number,
                        struct error *err)
{
    int64_t *value = (int64_t *)(void *)((char *)options + number->offset);
    return shard_take_number(number->name, number->least, number->most, value, err);
}

bool shard_option(int option, void *to, struct error *err)
{
    struct shard_command *command = to;
    struct shard_options *options = &command->options;
    int64_t bytes = 0, layers = 0;
    const struct number_option *number = find_number(option);
    if (take_flag(options, option))
        return true;
    if (number)
        return take_number(options, number, err);
    switch (option) {
    case OPTION_LAYERS:
        if (!shard_take_number("layers", 1, MOST_LAYERS, &layers, err))
            return false;
        command->sizes.layers = (size_t)layers;
        return true;
    case OPTION_BATCH:
        return shard_take_real("batch", SHARD_MOST_BATCH, &options->batch, err);
    case OPTION_LATENCY:
        return shard_take_real("latency", 1e9, &options->latency_us, err);
    case OPTION_BANDWIDTH:
        if (!shard_take_size("bandwidth", &bytes, err))
            return false;
        if (bytes == 0)
            return error_set(err, STATUS_USAGE, "invalid --bandwidth '%.60s' (for example 10GiB)",
                             optarg);
        options->bandwidth = (double)bytes;
        return true;
    case OPTION_ACTIVATIONS:
        return shard_take_size("activations", &command->sizes.activation_bytes, err);
    case OPTION_OUTPUT_BYTES:
        return shard_take_size("unit-output", &command->sizes.output_bytes, err);
    case OPTION_PARAMETERS:
        return shard_take_parameters(command, err);
    case OPTION_GPU:
        return shard_take_gpu(command, err);
    case OPTION_OPTIMIZER:
        return take_optimizer(command, err);
    case OPTION_STORED_DTYPE:
        return take_type("dtype", &options->parameter_type, &options->parameter_size, err);
    case OPTION_RECORDED_DTYPE:
        return take_type("recorded-dtype", NULL, &command->recorded_size, err);
    case OPTION_PARAM_DTYPE:
        return take_type("param-dtype", &options->compute_type, &options->compute_size, err);
    case OPTION_REDUCE_DTYPE:
        return take_type("reduce-dtype", &options->reduce_type, &options->reduce_size, err);
    case OPTION_GRANULARITY:
        return argument_granularity(optarg, &command->cuts, err);
    case OPTION_SWEEP:
        command->has_sweep = true;
        return shard_take_sweep(optarg, command, err);
    case OPTION_CHECKPOINTED:
        return command->is_checkpointed = true;
    case OPTION_MODULES:
        return command->has_modules = true;
    case OPTION_CURVE:
        return command->has_curve = true;
    case OPTION_RESHARD:
    case OPTION_BACKWARD_PREFETCH:
    case OPTION_CODE:
    case OPTION_FORMAT:
        return take_word(command, option, err);
    default:
        return shared_option(option,
                             &(const struct shared_options){
                                 SHARED_CAPTURE(command->capture), .output = &command->output,
                                 .unit = &command->unit, .files = &command->files},
                             err);
    }
}
