#include "commands/replay/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/cli/options.h"

enum {
    OPTION_ALLOC_CONF = OPTION_LONG_ONLY,
    OPTION_GPU_MEMORY,
    OPTION_OTHER_USE,
    OPTION_TORCH,
    OPTION_NO_EMPTY_CACHE,
    OPTION_FORMAT,
};

const struct option_spec replay_option_specs[] = {
    {OPTION_ALLOC_CONF, "alloc-conf", "CONF",
     "replay with this PYTORCH_CUDA_ALLOC_CONF instead of\n"
     "the usual settings; can be given several times"},
    {OPTION_GPU_MEMORY, "gpu-memory", "SIZE", "say which settings fit a device of this size"},
    {OPTION_OTHER_USE, "other-use", "SIZE",
     "memory of the device that PyTorch cannot have: the\n"
     "CUDA context, NCCL, other processes (default: 0)"},
    {OPTION_NO_EMPTY_CACHE, "no-empty-cache", NULL,
     "leave out the calls of torch.cuda.empty_cache()"},
    {OPTION_TORCH, "torch", "VERSION",
     "order free blocks as this version of torch does\n"
     "(default: as fits the recording)"},
    {OPTION_RANGE, "range", "A:B", "replay only these events, as in analyze"},
    ROW_DEVICE,
    {OPTION_JOBS, "jobs", "N", "replay N settings in parallel (default: one per core)"},
    ROW_UNITS,
    {OPTION_FORMAT, "format", "FORMAT", "print text (the default), json or csv"},
    ROW_OUTPUT,
    ROW_MAX_MEMORY,
    ROW_HELP,
    {0, NULL, NULL, NULL},
};

const struct option_words replay_option_words[] = {
    {"alloc-conf", "expandable_segments:True max_split_size_mb:128 roundup_power2_divisions:8",
     NULL},
    {"format", "text json csv", NULL},
    {"units", WORDS_UNITS, NULL},
    {NULL, NULL, NULL},
};

static bool take_size(const char *option, uint64_t *bytes, struct error *err)
{
    return units_parse_bytes(optarg, bytes) ||
           error_set(err, STATUS_USAGE, "--%s: invalid size '%.60s' (for example 40GiB)", option,
                     optarg);
}

static bool take_setting(struct replay_command *command, struct error *err)
{
    struct error why;
    if (command->replay.setting_count == SETTINGS_MOST)
        return error_set(err, STATUS_USAGE, "more than %d times --alloc-conf", SETTINGS_MOST);
    if (!conf_parse(optarg, &command->settings[command->replay.setting_count], &why))
        return error_set(err, STATUS_USAGE, "--alloc-conf '%.60s': %.150s", optarg, why.text);
    command->replay.setting_count++;
    command->replay.settings = command->settings;
    return true;
}

/* "2.8", "2.13.1" */
static bool take_version(enum tie_break *tie_break, struct error *err)
{
    char *end;
    unsigned long major = strtoul(optarg, &end, 10), minor = 0;
    bool ok = *optarg >= '0' && *optarg <= '9' && *end == '.' && end[1] >= '0' && end[1] <= '9';
    if (ok)
        minor = strtoul(end + 1, &end, 10);
    if (!ok || (*end && *end != '.') || major < 2 || (major == 2 && minor == 0))
        return error_set(err, STATUS_USAGE, "--torch: invalid version '%.60s' (2.1 or later)",
                         optarg);
    if (major > 2 || minor > 12)
        *tie_break = TIE_SEGMENT;
    else
        *tie_break = minor == 12 ? TIE_BLOCK : TIE_ADDRESS;
    return true;
}

bool replay_option(int option, void *to, struct error *err)
{
    struct replay_command *command = to;
    unsigned index = 0;
    switch (option) {
    case OPTION_ALLOC_CONF:
        return take_setting(command, err);
    case OPTION_GPU_MEMORY:
        return take_size("gpu-memory", &command->replay.gpu_bytes, err);
    case OPTION_OTHER_USE:
        return take_size("other-use", &command->replay.other_bytes, err);
    case OPTION_NO_EMPTY_CACHE:
        command->replay.no_empty_cache = true;
        return true;
    case OPTION_TORCH:
        return take_version(&command->replay.tie_break, err);
    case OPTION_FORMAT:
        if (!option_word(replay_option_words, "format", "format", &index, err))
            return false;
        command->format = (enum replay_format)index;
        return true;
    default:
        return shared_option(
            option,
            &(const struct shared_options){.max_memory = &command->capture.max_memory,
                                           .device = &command->capture.device,
                                           .range = &command->range,
                                           .output = &command->output,
                                           .unit = &command->unit,
                                           .jobs = &command->jobs},
            err);
    }
}
