#include "commands/analyze/options.h"

#include <string.h>
#include <unistd.h>

#include "commands/cli/arguments.h"
#include "commands/cli/worker_pool.h"

#define TEXT_SITES   15 /* rows without --top */
#define TEXT_LARGEST 5
#define JSON_SITES   200
#define MOST_RANKS   1000000
#define MOST_JOBS    1024

enum {
    OPTION_DEVICE = OPTION_LONG_ONLY,
    OPTION_TOP,
    OPTION_AT,
    OPTION_RANGE,
    OPTION_STACKS,
    OPTION_ALLOCATIONS,
    OPTION_EXPLAIN,
    OPTION_RULES,
    OPTION_UNITS,
    OPTION_FORMAT,
    OPTION_MAX_MEMORY,
    OPTION_GPU_MEMORY,
    OPTION_JOBS,
    OPTION_RANKS,
};

static bool parse_format(const char *text, bool *json, struct error *err)
{
    bool is_json = strcmp(text, "json") == 0;
    if (!is_json && strcmp(text, "text") != 0)
        return error_set(err, STATUS_USAGE, "unknown format '%.60s'; there are text and json",
                         text);
    *json = is_json;
    return true;
}

/* Notes what an option rules out; one that is not listed here is for snapshots only. */
static void note_kind(int option, struct analyze_options *options)
{
    static const int for_all[] = {
        OPTION_TOP, OPTION_UNITS, OPTION_FORMAT, OPTION_MAX_MEMORY, OPTION_JOBS, 'o', 'v'};
    const char **noted =
        option == OPTION_RANKS ? &options->layers_option : &options->snapshot_option;
    for (size_t i = 0; i < sizeof(for_all) / sizeof(for_all[0]); i++)
        if (for_all[i] == option)
            return;
    for (const struct option_spec *spec = analyze_option_specs; spec->name && !*noted; spec++)
        if (spec->value == option)
            *noted = spec->name;
}

bool analyze_option(int option, void *to, struct error *err)
{
    struct analyze_options *options = to;
    note_kind(option, options);
    uint64_t number = 0;
    switch (option) {
    case OPTION_DEVICE:
        return argument_device(optarg, &options->capture.device, err);
    case OPTION_TOP:
        if (!argument_count("top", optarg, SIZE_MAX / 2, &options->largest, err))
            return false;
        options->report.top = options->largest;
        options->top_given = true;
        return true;
    case OPTION_AT:
        return argument_at(optarg, &options->report, err);
    case OPTION_RANGE:
        return window_parse(optarg, &options->capture.window, err);
    case OPTION_STACKS:
        options->stacks = optarg ? STACKS_ALL : STACKS_FOLDED;
        return !optarg || strcmp(optarg, "all") == 0 ||
               error_set(err, STATUS_USAGE, "--stacks may be --stacks=all, but not '%.60s'",
                         optarg);
    case OPTION_ALLOCATIONS:
        options->allocations = true;
        return true;
    case OPTION_EXPLAIN:
        if (!*optarg)
            return error_set(err, STATUS_USAGE, "--explain takes an address or a call site");
        options->explain = optarg;
        return true;
    case OPTION_RULES:
        options->rules = optarg;
        return true;
    case OPTION_UNITS:
        return argument_unit(optarg, &options->unit, err);
    case OPTION_FORMAT:
        return parse_format(optarg, &options->json, err);
    case OPTION_MAX_MEMORY:
        return argument_memory(optarg, &options->capture.max_memory, err);
    case OPTION_GPU_MEMORY:
        if (!units_parse_bytes(optarg, &options->report.device_bytes) ||
            options->report.device_bytes == 0)
            return error_set(err, STATUS_USAGE, "'%.60s' is no size; try 24GiB or 80GiB", optarg);
        return true;
    case OPTION_JOBS:
        return argument_count("jobs", optarg, MOST_JOBS, &options->jobs, err);
    case OPTION_RANKS:
        if (!argument_number("ranks", optarg, MOST_RANKS, &number, err))
            return false;
        options->ranks = (uint32_t)number;
        return number >= 2 ||
               error_set(err, STATUS_USAGE, "--ranks takes 2 or more: one rank has all");
    case 'o':
        options->output = optarg;
        return true;
    default:
        options->verbose = true;
        return true;
    }
}

const struct option_spec analyze_option_specs[] = {
    {OPTION_AT, "at", "WHEN",
     "what is live at another moment than the peak: peak,\n"
     "end, an event's number, or a time as in --range"},
    {OPTION_RANGE, "range", "A:B",
     "only the events from A up to B, each a number, a time\n"
     "after the first event (+1.5s, +20ms, +300us), or\n"
     "@MICROSECONDS; either may be left out"},
    {OPTION_DEVICE, "device", "N", "only this device"},
    {OPTION_GPU_MEMORY, "gpu-memory", "SIZE",
     "what the device has, as nvidia-smi says: tells how\n"
     "much of it others held when memory ran out"},
    {OPTION_TOP, "top", "N", "rows of call sites and of allocations; 0: all"},
    {OPTION_STACKS, "stacks", "[=all]",
     "below each call site its stack: the operator and the\n"
     "Python frames, or all frames"},
    {OPTION_UNITS, "units", "UNIT", "auto, bytes, KiB, MiB or GiB"},
    {OPTION_FORMAT, "format", "FORMAT", "text, or json: one line a file"},
    {OPTION_ALLOCATIONS, "allocations", NULL,
     "JSON: also every allocation, with its category and why"},
    {OPTION_EXPLAIN, "explain", "ADDR|SITE",
     "instead of the report: why the allocations at an\n"
     "address (0x...), or of call sites with SITE in their\n"
     "label (model.py:39), have their categories"},
    {OPTION_RULES, "rules", "FILE",
     "categories by rules of your own: lines\n"
     "'category: regex' on file:function; none: not even\n"
     "those in ~/.config/memsnap/rules"},
    {'o', "output", "FILE", "write there; the file appears once it is whole"},
    {OPTION_MAX_MEMORY, "max-memory", "SIZE", "give up rather than take more for one file"},
    {OPTION_JOBS, "jobs", "N", "read so many files at a time; 0: one a core"},
    {OPTION_RANKS, "ranks", "N", "layer traces: over how many ranks to shard (8)"},
    {'v', "verbose", NULL, "list the keys that memsnap does not know"},
    {OPTION_HELP, "help", NULL, "show this help"},
    {0, NULL, NULL, NULL},
};

bool analyze_options_complete(struct analyze_options *options, struct error *err)
{
    if (options->allocations && !options->json)
        return error_set(err, STATUS_USAGE, "--allocations needs --format json");
    if (options->explain && options->json)
        return error_set(err, STATUS_USAGE,
                         "--explain prints text; --allocations has reasons as JSON");
    if (options->jobs == 0)
        options->jobs = worker_pool_cores();
    options->report.unit = options->json ? UNIT_AUTO : options->unit;
    if (!options->top_given) {
        options->report.top = options->json ? JSON_SITES : TEXT_SITES;
        options->largest = TEXT_LARGEST;
    }
    return true;
}
