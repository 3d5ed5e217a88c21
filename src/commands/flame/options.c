#include "commands/flame/options.h"

#include <string.h>
#include <unistd.h>

#include "commands/cli/arguments.h"

enum {
    OPTION_WEIGHT = OPTION_LONG_ONLY,
    OPTION_FORMAT,
    OPTION_BY,
    OPTION_STACKS,
    OPTION_AT,
    OPTION_RANGE,
    OPTION_DEVICE,
    OPTION_RULES,
    OPTION_MAX_MEMORY,
};

const struct option_spec flame_option_specs[] = {
    {OPTION_WEIGHT, "weight", "WHAT",
     "live: bytes live at the peak, or --at; bytes-time:\n"
     "bytes x time live; allocated: bytes of all\n"
     "allocations; count: how many"},
    {OPTION_FORMAT, "format", "FORMAT",
     "folded: for flamegraph.pl and inferno; speedscope:\n"
     "JSON for speedscope.app"},
    {OPTION_BY, "by", "ROOT", "outermost frames: stack, category or phase"},
    {OPTION_STACKS, "stacks", "WHICH",
     "code: Python and the operator, without what only\n"
     "passes calls on; all: every frame as recorded"},
    {OPTION_AT, "at", "WHEN", "live at another moment than the peak, as in analyze"},
    {OPTION_RANGE, "range", "A:B", "only the events from A up to B, as in analyze"},
    {OPTION_DEVICE, "device", "N", "only this device"},
    {OPTION_RULES, "rules", "FILE", "categories by rules of your own, as in analyze"},
    {'o', "output", "FILE", "write there; the file appears once it is whole"},
    {OPTION_MAX_MEMORY, "max-memory", "SIZE", "give up rather than take more"},
    {OPTION_HELP, "help", NULL, "show this help"},
    {0, NULL, NULL, NULL},
};

/* The index of the option's argument in a list; false, in words that show it, if it is not there.
 */
static bool choose(const char *option, const char *const list[], const char *words, unsigned *index,
                   struct error *err)
{
    for (unsigned i = 0; list[i]; i++)
        if (strcmp(list[i], optarg) == 0) {
            *index = i;
            return true;
        }
    return error_set(err, STATUS_USAGE, "--%s takes %s, not '%.60s'", option, words, optarg);
}

static bool take_choice(int option, struct flame_command *options, struct error *err)
{
    static const char *const weights[] = {"live", "bytes-time", "allocated", "count", NULL};
    static const char *const roots[] = {"stack", "category", "phase", NULL};
    static const char *const stacks[] = {"code", "all", NULL};
    static const char *const formats[] = {"folded", "speedscope", NULL};
    unsigned index = 0;
    bool ok;
    switch (option) {
    case OPTION_WEIGHT:
        ok = choose("weight", weights, "live, bytes-time, allocated or count", &index, err);
        options->flame.weight = (enum flame_weight)index;
        return ok;
    case OPTION_BY:
        ok = choose("by", roots, "stack, category or phase", &index, err);
        options->flame.by = (enum flame_by)index;
        return ok;
    case OPTION_STACKS:
        ok = choose("stacks", stacks, "code or all", &index, err);
        options->flame.all_frames = index > 0;
        return ok;
    default:
        ok = choose("format", formats, "folded or speedscope", &index, err);
        options->speedscope = index > 0;
        return ok;
    }
}

bool flame_option(int option, void *to, struct error *err)
{
    struct flame_command *options = to;
    struct when when;
    switch (option) {
    case OPTION_AT:
        if (!argument_when(optarg, &when, err))
            return false;
        options->flame.at_given = when.kind != WHEN_PEAK;
        options->flame.at_end = when.kind == WHEN_END;
        options->flame.at = when.point;
        return true;
    case OPTION_RANGE:
        return window_parse(optarg, &options->capture.window, err);
    case OPTION_DEVICE:
        return argument_device(optarg, &options->capture.device, err);
    case OPTION_RULES:
        options->rules = optarg;
        return true;
    case 'o':
        options->output = optarg;
        return true;
    case OPTION_MAX_MEMORY:
        return argument_memory(optarg, &options->capture.max_memory, err);
    default:
        return take_choice(option, options, err);
    }
}

bool flame_options_complete(const struct flame_command *options, struct error *err)
{
    return !options->flame.at_given || options->flame.weight == FLAME_LIVE ||
           error_set(err, STATUS_USAGE, "--at is for --weight live; --range cuts the others");
}
