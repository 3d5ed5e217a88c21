#include "commands/dryrun/options.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "commands/cli/arguments.h"
#include "commands/cli/options.h"

#define DEVICES_MOST 16 /* of the stand-in */
#define STEPS_MOST   1000000

enum {
    OPTION_GPU = OPTION_LONG_ONLY,
    OPTION_LIST,
    OPTION_OTHER_USE,
    OPTION_DEVICES,
    OPTION_STEPS,
    OPTION_LATE,
    OPTION_ALLOC_CONF,
    OPTION_STACKS,
    OPTION_LENIENT,
    OPTION_FORMAT,
};

void dryrun_options_begin(struct dryrun_options *options)
{
    *options = (struct dryrun_options){
        .card = cards,
        .other = (uint64_t)512 << 20, /* about what a context takes */
        .devices = 1,
        .steps = 3,
        .output = "dryrun.pickle",
        .all_stacks = true,
    };
}

static bool take_size(const char *text, uint64_t *bytes, struct error *err)
{
    return units_parse_bytes(text, bytes) ||
           error_set(err, STATUS_USAGE, "invalid size '%.60s' (for example 512MiB)", text);
}

static bool take_gpu(const char *text, struct dryrun_options *options, struct error *err)
{
    const struct card *card = card_find(text);
    if (card)
        options->card = card;
    options->memory = 0;
    if (card || (units_parse_bytes(text, &options->memory) && options->memory > 0))
        return true;
    return error_set(
        err, STATUS_USAGE,
        "invalid --gpu '%.60s' (a name of memsnap dryrun --list, or a size like 24GiB)", text);
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
    struct dryrun_options *options = to;
    switch (option) {
    case OPTION_GPU:
        return take_gpu(optarg, options, err);
    case OPTION_LIST:
        options->list = true;
        return true;
    case OPTION_OTHER_USE:
        return take_size(optarg, &options->other, err);
    case OPTION_DEVICES:
        return argument_number("devices", optarg, DEVICES_MOST, &options->devices, err) &&
               (options->devices > 0 ||
                error_set(err, STATUS_USAGE, "invalid --devices '0' (expected at least 1)"));
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
    {OPTION_LIST, "list", NULL, "list the names of GPUs"},
    {OPTION_OTHER_USE, "other-use", "SIZE",
     "memory of each GPU that its context and other\n"
     "processes use (512MiB)"},
    {OPTION_DEVICES, "devices", "N", "number of GPUs (1)"},
    {OPTION_STEPS, "steps", "N",
     "stop the program after N optimizer steps (3;\n"
     "0: let it end by itself)"},
    {OPTION_LATE, "late", "N", "begin recording after N optimizer steps (0)"},
    {OPTION_ALLOC_CONF, "alloc-conf", "CONF",
     "allocator settings as in PYTORCH_CUDA_ALLOC_CONF,\n"
     "for example expandable_segments:True"},
    {OPTION_STACKS, "stacks", "KIND", "record frames of Python only (python), or all frames"},
    {OPTION_LENIENT, "lenient", NULL,
     "let functions of CUDA that memsnap does not know\n"
     "return success, instead of ending the program"},
    {OPTION_OUTPUT, "output", "FILE", "keep the snapshot in FILE (dryrun.pickle)"},
    {OPTION_FORMAT, "format", "FORMAT", "print the report as text (the default) or json"},
    ROW_HELP,
    {0, NULL, NULL, NULL},
};
