#include "commands/replay/options.h"

#include "commands/cli/options.h"
#include "commands/replay/arguments.h"

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
     "memory of the device that PyTorch cannot use: the\n"
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
    ROWS_RANK_AND_OUTPUT,
    ROW_MAX_MEMORY,
    ROWS_END,
};

const struct option_words replay_option_words[] = {
    {"alloc-conf", WORDS_ALLOC_CONF, NULL},
    {"format", "text json csv", NULL},
    {"units", WORDS_UNITS, NULL},
    {NULL, NULL, NULL},
};

bool replay_option(int option, void *to, struct error *err)
{
    struct replay_command *command = to;
    unsigned index = 0;
    switch (option) {
    case OPTION_ALLOC_CONF:
        return replay_argument_conf(&command->replay, command->settings, err);
    case OPTION_GPU_MEMORY:
        return replay_argument_size("gpu-memory", &command->replay.gpu_bytes, err);
    case OPTION_OTHER_USE:
        return replay_argument_size("other-use", &command->replay.other_bytes, err);
    case OPTION_NO_EMPTY_CACHE:
        command->replay.no_empty_cache = true;
        return true;
    case OPTION_TORCH:
        return replay_argument_torch(&command->replay.tie_break, err);
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
                                           .jobs = &command->jobs,
                                           .files = &command->files},
            err);
    }
}
