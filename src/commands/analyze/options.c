#include "commands/analyze/options.h"

#include <string.h>
#include <unistd.h>

#include "commands/cli/arguments.h"
#include "commands/cli/options.h"
#include "commands/cli/worker_pool.h"

#define TEXT_SITES   15 /* rows without --top */
#define TEXT_LARGEST 5
#define JSON_SITES   200
#define MOST_RANKS   1000000

enum {
    OPTION_TOP = OPTION_LONG_ONLY,
    OPTION_AT,
    OPTION_STACKS,
    OPTION_ALLOCATIONS,
    OPTION_EXPLAIN,
    OPTION_FORMAT,
    OPTION_GPU_MEMORY,
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
    case OPTION_TOP:
        if (!argument_count("top", optarg, SIZE_MAX / 2, &options->largest, err))
            return false;
        options->report.top = options->largest;
        options->top_given = true;
        return true;
    case OPTION_AT:
        return argument_at(optarg, &options->report, err);
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
    case OPTION_FORMAT:
        return parse_format(optarg, &options->json, err);
    case OPTION_GPU_MEMORY:
        if (!units_parse_bytes(optarg, &options->report.device_bytes) ||
            options->report.device_bytes == 0)
            return error_set(err, STATUS_USAGE, "'%.60s' is no size; try 24GiB or 80GiB", optarg);
        return true;
    case OPTION_RANKS:
        if (!argument_number("ranks", optarg, MOST_RANKS, &number, err))
            return false;
        options->ranks = (uint32_t)number;
        return number >= 2 ||
               error_set(err, STATUS_USAGE, "--ranks takes 2 or more: one rank has all");
    case 'v':
        options->verbose = true;
        return true;
    default:
        return shared_option(
            option,
            &(const struct shared_options){SHARED_CAPTURE(options->capture),
                                           .rules = &options->rules, .output = &options->output,
                                           .unit = &options->unit, .jobs = &options->jobs},
            err);
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
    ROW_DEVICE,
    {OPTION_GPU_MEMORY, "gpu-memory", "SIZE",
     "what the device has, as nvidia-smi says: tells how\n"
     "much of it others held when memory ran out"},
    {OPTION_TOP, "top", "N", "rows of call sites and of allocations; 0: all"},
    {OPTION_STACKS, "stacks", "[=all]",
     "below each call site its stack: the operator and the\n"
     "Python frames, or all frames"},
    ROW_UNITS,
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
    ROW_OUTPUT,
    ROW_MAX_MEMORY_OF_FILE,
    ROW_JOBS,
    {OPTION_RANKS, "ranks", "N", "layer traces: over how many ranks to shard (8)"},
    {'v', "verbose", NULL, "list the keys that memsnap does not know"},
    ROW_HELP,
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
