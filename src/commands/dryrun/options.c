#include "commands/dryrun/options.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "commands/cli/arguments.h"
#include "commands/cli/options.h"

#define DEVICES_MOST 16 /* devices that the stand-in can have */
#define STEPS_MOST   1000000
#define JOBS_MOST    64
#define TIMEOUT_MOST ((uint64_t)365 * 24 * 3600)
#define WORLD_MOST   1000000
#define NODE_DEVICES 8 /* GPUs of a machine of a large world */

enum {
    OPTION_GPU = OPTION_LONG_ONLY,
    OPTION_LIST,
    OPTION_OTHER_USE,
    OPTION_DEVICES,
    OPTION_WORLD,
    OPTION_RANK,
    OPTION_STEPS,
    OPTION_LATE,
    OPTION_ALLOC_CONF,
    OPTION_STACKS,
    OPTION_LENIENT,
    OPTION_FORMAT,
    OPTION_FIT,
    OPTION_TIMEOUT,
};

void dryrun_options_begin(struct dryrun_options *options)
{
    *options = (struct dryrun_options){
        .gpus = {{.card = cards}},
        .other = (uint64_t)512 << 20, /* about what a context takes */
        .steps = 4, /* growth needs three whole ones, and the first has no beginning */
        .jobs = 1,
        .timeout = 3600,
        .all_stacks = true,
    };
}

static bool take_size(const char *text, uint64_t *bytes, struct error *err)
{
    return units_parse_bytes(text, bytes) ||
           error_set(err, STATUS_USAGE, "invalid size '%.60s' (for example 512MiB)", text);
}

uint64_t dryrun_gpu_bytes(const struct dryrun_gpu *gpu)
{
    return gpu->memory > 0 ? gpu->memory : gpu->card->bytes;
}

static bool read_gpu(struct dryrun_gpu *gpu)
{
    gpu->memory = 0;
    gpu->card = card_find(gpu->name);
    if (gpu->card)
        return true;
    gpu->card = cards;
    return units_parse_bytes(gpu->name, &gpu->memory) && gpu->memory > 0;
}

static bool add_gpu(const char *text, size_t size, struct dryrun_options *options,
                    struct error *err)
{
    struct dryrun_gpu gpu = {0};
    if (size < sizeof(gpu.name))
        memcpy(gpu.name, text, size);
    if (!read_gpu(&gpu))
        return error_set(
            err, STATUS_USAGE,
            "invalid --gpu '%.*s' (a name of memsnap dryrun --list, or a size like 24GiB)",
            (int)(size < 60 ? size : 60), text);
    for (size_t i = 0; i < options->gpu_count; i++)
        if (options->gpus[i].card == gpu.card && options->gpus[i].memory == gpu.memory)
            return error_set(err, STATUS_USAGE, "invalid --gpu: %s twice", gpu.name);
    if (options->gpu_count == GPUS_MOST)
        return error_set(err, STATUS_USAGE, "invalid --gpu: more than %d GPUs", GPUS_MOST);
    options->gpus[options->gpu_count++] = gpu;
    return true;
}

/* A list, separated by commas. */
static bool take_gpus(const char *text, struct dryrun_options *options, struct error *err)
{
    size_t size = strcspn(text, ",");
    while (add_gpu(text, size, options, err)) {
        if (text[size] == '\0')
            return true;
        text += size + 1;
        size = strcspn(text, ",");
    }
    return false;
}

static bool take_jobs(struct dryrun_options *options, struct error *err)
{
    return argument_count("jobs", optarg, JOBS_MOST, &options->jobs, err) &&
           (options->jobs > 0 ||
            error_set(err, STATUS_USAGE, "invalid --jobs '0' (expected at least 1)"));
}

bool dryrun_options_finish(struct dryrun_options *options, struct error *err)
{
    if (options->world > 0 && options->rank >= options->world)
        return error_set(err, STATUS_USAGE,
                         "invalid --rank %" PRIu64 " (the ranks of --world %" PRIu64
                         " are 0 to %" PRIu64 ")",
                         options->rank, options->world, options->world - 1);
    if (options->devices == 0)
        options->devices = options->world < 1              ? 1
                           : options->world < NODE_DEVICES ? options->world
                                                           : NODE_DEVICES;
    return true;
}

/* One of two words. */
static bool take_word(const char *option, const char *text, const char *no, const char *yes,
                      bool *is, struct error *err)
{
    *is = strcmp(text, yes) == 0;
    return *is || strcmp(text, no) == 0 ||
           error_set(err, STATUS_USAGE, "invalid --%s '%.60s' (expected %s or %s)", option, text,
                     no, yes);
}

bool dryrun_option(int option, void *to, struct error *err)
{
    static const int only_fit[] = {OPTION_JOBS, OPTION_TIMEOUT, 0};
    struct dryrun_options *options = to;
    option_note(option, dryrun_option_specs, only_fit, &options->only_fit);
    switch (option) {
    case OPTION_GPU:
        return take_gpus(optarg, options, err);
    case OPTION_FIT:
        options->fit = optarg;
        return true;
    case OPTION_JOBS:
        return take_jobs(options, err);
    case OPTION_TIMEOUT:
        return argument_number("timeout", optarg, TIMEOUT_MOST, &options->timeout, err);
    case OPTION_LIST:
        options->list = true;
        return true;
    case OPTION_OTHER_USE:
        return take_size(optarg, &options->other, err);
    case OPTION_DEVICES:
        return argument_number("devices", optarg, DEVICES_MOST, &options->devices, err) &&
               (options->devices > 0 ||
                error_set(err, STATUS_USAGE, "invalid --devices '0' (expected at least 1)"));
    case OPTION_WORLD:
        return argument_number("world", optarg, WORLD_MOST, &options->world, err) &&
               (options->world > 0 ||
                error_set(err, STATUS_USAGE, "invalid --world '0' (expected at least 1)"));
    case OPTION_RANK:
        return argument_number("rank", optarg, WORLD_MOST, &options->rank, err);
    case OPTION_STEPS:
        return argument_number("steps", optarg, STEPS_MOST, &options->steps, err);
    case OPTION_LATE:
        return argument_number("late", optarg, STEPS_MOST, &options->late, err);
    case OPTION_ALLOC_CONF:
        options->allocator = optarg;
        return true;
    case OPTION_STACKS:
        return take_word("stacks", optarg, "python", "all", &options->all_stacks, err);
    case OPTION_LENIENT:
        options->is_lenient = true;
        return true;
    case OPTION_FORMAT:
        return take_word("format", optarg, "text", "json", &options->json, err);
    case OPTION_OUTPUT:
        options->output = optarg;
        return true;
    default:
        return false;
    }
}

const struct option_spec dryrun_option_specs[] = {
    {OPTION_GPU, "gpu", "NAME|SIZE",
     "stand in for this GPU (h100), or for an h100 with\n"
     "SIZE of memory, for example 24GiB"},
    {OPTION_FIT, "fit", "NAME=VALUES",
     "run COMMAND with several values in place of {NAME},\n"
     "and find the largest that fits; VALUES are a range\n"
     "(1..1024, 8..256+8, 1..1024*2), or a list (8,16,32)\n"
     "of which each is tried; --gpu may list several GPUs"},
    {OPTION_LIST, "list", NULL, "list the names of GPUs"},
    {OPTION_OTHER_USE, "other-use", "SIZE",
     "memory of each GPU that its context and other\n"
     "processes use (512MiB)"},
    {OPTION_DEVICES, "devices", "N",
     "number of GPUs (1; with --world one for each rank,\n"
     "up to 8)"},
    {OPTION_WORLD, "world", "N",
     "run one rank of a distributed program of N ranks;\n"
     "the others do not exist"},
    {OPTION_RANK, "rank", "R", "the rank to run with --world, and to record (0)"},
    {OPTION_STEPS, "steps", "N",
     "stop the program after N optimizer steps (4;\n"
     "0: let it end by itself)"},
    {OPTION_LATE, "late", "N", "begin recording after N optimizer steps (0)"},
    {OPTION_ALLOC_CONF, "alloc-conf", "CONF",
     "allocator settings as in PYTORCH_CUDA_ALLOC_CONF,\n"
     "for example expandable_segments:True"},
    {OPTION_STACKS, "stacks", "KIND", "record frames of Python only (python), or all frames"},
    {OPTION_LENIENT, "lenient", NULL,
     "let functions of CUDA that memsnap does not know\n"
     "return success, instead of ending the program"},
    {OPTION_JOBS, "jobs", "N", "--fit: run up to N programs in parallel (1)"},
    {OPTION_TIMEOUT, "timeout", "SECONDS", "--fit: end a run after this time (3600; 0: never)"},
    {OPTION_OUTPUT, "output", "FILE",
     "keep the snapshot in FILE (dryrun.pickle); --fit:\n"
     "keep results and snapshots in this folder"},
    {OPTION_FORMAT, "format", "FORMAT", "print the report as text (the default) or json"},
    ROWS_END,
};
