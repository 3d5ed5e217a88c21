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
#define MOST_DEPTH   1000

enum {
    OPTION_TOP = OPTION_LONG_ONLY,
    OPTION_BY,
    OPTION_STACKS,
    OPTION_ALLOCATIONS,
    OPTION_EXPLAIN,
    OPTION_FORMAT,
    OPTION_GPU_MEMORY,
    OPTION_RANKS,
    OPTION_SUMMARY,
    OPTION_DEPTH,
    OPTION_WITH_TRACE,
};

const struct option_words analyze_option_words[] = {
    {"at", WORDS_MOMENT, NULL},
    {"by", "site category metadata module pool stream phase annotation compile", NULL},
    {"units", WORDS_UNITS, NULL},
    {"format", "text json", NULL},
    {NULL, NULL, NULL},
};

/* Options that apply to snapshots only. */
static const int for_snapshots[] = {OPTION_AT,
                                    OPTION_BY,
                                    OPTION_STACKS,
                                    OPTION_ALLOCATIONS,
                                    OPTION_EXPLAIN,
                                    OPTION_RULES,
                                    OPTION_GPU_MEMORY,
                                    OPTION_RANGE,
                                    OPTION_DEVICE,
                                    OPTION_WITH_TRACE,
                                    0};
static const int for_layers[] = {OPTION_RANKS, 0};
static const int for_runs[] = {OPTION_DEPTH, 0};

static bool take_number(const char *name, uint32_t least, uint32_t most, uint32_t *to,
                        struct error *err)
{
    uint64_t number;
    if (!argument_number(name, optarg, most, &number, err))
        return false;
    *to = (uint32_t)number;
    return number >= least ||
           error_set(err, STATUS_USAGE, "invalid --%s '%.60s' (expected at least %u)", name, optarg,
                     least);
}

bool analyze_option(int option, void *to, struct error *err)
{
    struct analyze_options *options = to;
    unsigned format, by;
    option_note(option, analyze_option_specs, for_snapshots, &options->snapshot_option);
    option_note(option, analyze_option_specs, for_layers, &options->layers_option);
    option_note(option, analyze_option_specs, for_runs, &options->run_option);
    switch (option) {
    case OPTION_TOP:
        if (!argument_count("top", optarg, SIZE_MAX / 2, &options->largest, err))
            return false;
        options->report.top = options->largest;
        options->top_given = true;
        return true;
    case OPTION_BY:
        if (!option_word(analyze_option_words, "by", "--by", &by, err))
            return false;
        options->report.by = (enum group_by)by;
        return true;
    case OPTION_STACKS:
        return argument_stacks(optarg, &options->stacks, err);
    case OPTION_ALLOCATIONS:
        options->allocations = true;
        return true;
    case OPTION_EXPLAIN:
        if (!*optarg)
            return error_set(err, STATUS_USAGE, "--explain needs an address or a call site");
        options->explain = optarg;
        return true;
    case OPTION_FORMAT:
        if (!option_word(analyze_option_words, "format", "format", &format, err))
            return false;
        options->json = format == 1;
        return true;
    case OPTION_GPU_MEMORY:
        if (!units_parse_bytes(optarg, &options->report.device_bytes) ||
            options->report.device_bytes == 0)
            return error_set(err, STATUS_USAGE, "invalid size '%.60s' (for example 24GiB)", optarg);
        return true;
    case OPTION_RANKS:
        return take_number("ranks", 2, MOST_RANKS, &options->ranks, err);
    case OPTION_WITH_TRACE:
        options->trace = optarg;
        return true;
    case OPTION_SUMMARY:
        options->summary = optarg;
        return true;
    case OPTION_DEPTH:
        return take_number("depth", 1, MOST_DEPTH, &options->depth, err);
    case 'v':
        options->verbose = true;
        return true;
    default:
        return shared_option(
            option,
            &(const struct shared_options){SHARED_CAPTURE(options->capture),
                                           .rules = &options->rules, .output = &options->output,
                                           .unit = &options->unit, .jobs = &options->jobs,
                                           .at = &options->report.at, .files = &options->files},
            err);
    }
}

const struct option_spec analyze_option_specs[] = {
    ROW_AT("report this moment (default: peak):\n"),
    {OPTION_RANGE, "range", "A:B",
     "look only at the events from A up to but not\n"
     "including B: each a number, a time after the first\n"
     "event (+1.5s, +20ms, +300us) or @MICROSECONDS; either\n"
     "may be left out"},
    ROW_DEVICE,
    {OPTION_GPU_MEMORY, "gpu-memory", "SIZE",
     "total memory of each device, for example 24GiB, to\n"
     "find what other processes held when memory ran out"},
    {OPTION_BY, "by", "WHAT",
     "group live memory by site (the default), category,\n"
     "metadata, module, pool, stream, phase, annotation\n"
     "or compile"},
    {OPTION_TOP, "top", "N", "list N call sites and N allocations (0: all)"},
    {OPTION_STACKS, "stacks", "[=all]",
     "print a stack below each call site: the operator and\n"
     "the Python frames, or all frames"},
    ROW_UNITS,
    {OPTION_FORMAT, "format", "FORMAT", "print text (the default) or json"},
    {OPTION_ALLOCATIONS, "allocations", NULL, "with --format json: also list every allocation"},
    {OPTION_EXPLAIN, "explain", "ADDR|SITE",
     "instead of the report, print the evidence for the\n"
     "categories of the allocations at an address (0x...)\n"
     "or of a call site (model.py:39)"},
    {OPTION_RULES, "rules", "FILE",
     "decide categories by your own rules, lines of\n"
     "'category: regex' for file:function; none ignores\n"
     "~/.config/memsnap/rules"},
    {OPTION_WITH_TRACE, "with-trace", "TRACE",
     "join the snapshot with a trace of torch.profiler of\n"
     "the same run: call sites get modules and the times of\n"
     "kernels"},
    ROWS_RANK_AND_OUTPUT,
    {OPTION_SUMMARY, "summary", "FILE",
     "write a small summary of the captures to FILE instead\n"
     "of a report, for memsnap ranks and memsnap merge"},
    ROW_MAX_MEMORY_OF_FILE,
    ROW_JOBS,
    {OPTION_RANKS, "ranks", "N", "layer traces: number of ranks to shard over (8)"},
    {OPTION_DEPTH, "depth", "N",
     "runs of MemProfiler: print the modules as a tree of N\n"
     "levels"},
    {'v', "verbose", NULL, "list the keys that memsnap does not recognise"},
    ROWS_END,
};

bool analyze_options_complete(struct analyze_options *options, bool has_files, struct error *err)
{
    if (options->explain && !has_files && access(options->explain, F_OK) == 0)
        return error_set(err, STATUS_USAGE,
                         "--explain takes an address or a call site, and %.60s is a file: try "
                         "'memsnap analyze %.60s --explain train.py:20'",
                         options->explain, options->explain);
    if (options->allocations && !options->json)
        return error_set(err, STATUS_USAGE, "--allocations needs --format json");
    if (options->explain && options->json)
        return error_set(err, STATUS_USAGE,
                         "--explain prints only text; for JSON use --allocations");
    if (options->report.by != BY_SITE && options->stacks != STACKS_NONE)
        return error_set(err, STATUS_USAGE, "--stacks needs --by site");
    if (options->report.by != BY_SITE && options->explain)
        return error_set(err, STATUS_USAGE, "--explain prints no table to group with --by");
    if (options->trace && (options->summary || options->explain))
        return error_set(err, STATUS_USAGE, "--with-trace cannot be combined with %s",
                         options->summary ? "--summary" : "--explain");
    if (options->summary && options->output)
        return error_set(err, STATUS_USAGE, "--summary names the output; leave out --output");
    if (options->jobs == 0 && !options->summary)
        options->jobs = worker_pool_cores();
    options->report.unit = options->json ? UNIT_AUTO : options->unit;
    if (!options->top_given) {
        options->report.top = options->json ? JSON_SITES : TEXT_SITES;
        options->largest = TEXT_LARGEST;
    }
    return true;
}
