#include "commands/suggest/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "commands/cli/arguments.h"
#include "commands/cli/options.h"

enum {
    OPTION_BACKEND = OPTION_LONG_ONLY,
    OPTION_BUDGET,
    OPTION_BUDGETS,
    OPTION_CHECKPOINTS,
    OPTION_FORMAT,
    OPTION_GRANULARITY,
    OPTION_KEEP,
    OPTION_MODEL,
    OPTION_NO_CODE,
    OPTION_NO_VERIFY,
    OPTION_ONLY,
    OPTION_PARETO,
    OPTION_SKIP_LAYERS,
    OPTION_SLOTS,
    OPTION_THREADS,
    OPTION_TIMES,
    OPTION_VERIFY,
};

#define MOST_SLOTS   100000
#define MOST_THREADS 1024
#define MOST_COUNT   1000000000

const struct option_spec suggest_option_specs[] = {
    {OPTION_CHECKPOINTS, "checkpoints", "K",
     "print FairScale's placement of K checkpoints, its real\n"
     "peak, and the best placement"},
    {OPTION_SKIP_LAYERS, "skip-layers", "N", "with --checkpoints: ignore the first N modules"},
    {OPTION_BUDGET, "budget", "SIZE",
     "find the least recomputation that keeps activations\n"
     "within SIZE: for example 8GiB, 60% of their size\n"
     "without checkpoints, or 'least'"},
    {OPTION_BUDGETS, "budgets", "SIZE,...", "the same for several budgets"},
    {OPTION_PARETO, "pareto", NULL, "print all efficient placements (the default)"},
    {OPTION_MODEL, "model", "MODEL",
     "memory model: sum with --checkpoints; with --budget:\n"
     "peak (one level of checkpoints) or rotor (checkpoints\n"
     "within checkpoints; default: peak if it fits)"},
    {OPTION_GRANULARITY, "granularity", "WHERE",
     "cut between modules at a depth, modules that match a\n"
     "pattern ('layer?.*'), or all modules (leaf; default:\n"
     "blocks, by the names of modules)"},
    {OPTION_ONLY, "only", "PATTERN",
     "checkpoint only modules that match, or are within one\n"
     "that does ('encoder.*'); may be repeated"},
    {OPTION_KEEP, "keep", "PATTERN", "never checkpoint modules that match; may be repeated"},
    {OPTION_TIMES, "times", "FILE",
     "read the times of layers from lines of LAYER, tab,\n"
     "forward and optionally tab, backward microseconds"},
    {OPTION_DEVICE, "device", "N",
     "snapshots: look only at this device (default: the one\n"
     "with the highest peak)"},
    {OPTION_RANGE, "range", "A:B", "snapshots: look only at these events, as in analyze"},
    {OPTION_NO_CODE, "no-code", NULL, "print plans without the Python code that applies them"},
    {OPTION_FORMAT, "format", "FORMAT", "print text (the default), json or, with --pareto, csv"},
    ROWS_RANK_AND_OUTPUT,
    ROW_UNITS,
    {OPTION_SLOTS, "slots", "N", "rotor: divide the budget into N slots"},
    {OPTION_BACKEND, "backend", "NAME", "compute on auto, cpu, cuda or opencl (see backends)"},
    {OPTION_THREADS, "threads", "N", "use at most N CPU threads"},
    {OPTION_VERIFY, "verify", NULL, "verify plans of any size by replaying them"},
    {OPTION_NO_VERIFY, "no-verify", NULL, "verify no plan"},
    {OPTION_MAX_MEMORY, "max-memory", "SIZE", "limit memsnap's memory, tables included"},
    {'v', "verbose", NULL, "print how long reading, the model and the solver took"},
    ROWS_END,
};

const struct option_words suggest_option_words[] = {
    {"model", "sum peak rotor", NULL},         {"granularity", "leaf", NULL},
    {"format", "text json csv", NULL},         {"units", WORDS_UNITS, NULL},
    {"backend", "auto cpu cuda opencl", NULL}, {NULL, NULL, NULL},
};

/* Options that apply to snapshots only. */
static const int for_snapshots[] = {OPTION_DEVICE, OPTION_RANGE, 0};

static bool add_budget(const char *text, struct suggest_options *options, struct error *err)
{
    struct suggest_budget budget = {0};
    char *end;
    uint64_t bytes;
    if (strchr(text, ','))
        return error_set(err, STATUS_USAGE, "--budget takes one size; use --budgets '%.60s'", text);
    if (options->budget_count == SUGGEST_MOST_BUDGETS)
        return error_set(err, STATUS_USAGE, "more than %d budgets", SUGGEST_MOST_BUDGETS);
    size_t size = strlen(text);
    if (strcmp(text, "least") == 0) {
        budget.bytes = ADVICE_LEAST;
    } else if (size > 1 && text[size - 1] == '%') {
        budget.share = strtod(text, &end) / 100;
        if (end != text + size - 1 || !(budget.share > 0 && budget.share <= 1))
            return error_set(err, STATUS_USAGE, "invalid share '%.60s' (expected 0%% to 100%%)",
                             text);
    } else if (units_parse_bytes(text, &bytes) && bytes > 0) {
        budget.bytes = (int64_t)bytes;
    } else {
        return error_set(err, STATUS_USAGE,
                         "invalid budget '%.60s' (for example 8GiB, 60%% or least)", text);
    }
    options->budgets[options->budget_count++] = budget;
    return true;
}

static bool add_budgets(struct suggest_options *options, struct error *err)
{
    for (char *next = optarg; next;) {
        char *text = next;
        next = strchr(text, ',');
        if (next)
            *next++ = '\0';
        if (!add_budget(text, options, err))
            return false;
    }
    return true;
}

static bool take_model(struct suggest_options *options, struct error *err)
{
    unsigned model;
    if (!option_word(suggest_option_words, "model", "model", &model, err))
        return false;
    options->model_given = true;
    options->plan.any_model = model == 0;
    if (model > 0)
        options->plan.model = model == 1 ? PLAN_PEAK : PLAN_ROTOR;
    return true;
}

static bool take_backend(struct suggest_options *options, struct error *err)
{
    bool any = strcmp(optarg, "auto") == 0;
    options->plan.rotor.backend = any ? NULL : backend_find(optarg);
    if (any || options->plan.rotor.backend)
        return true;
    char names[120] = "auto";
    for (size_t i = 0; backends[i]; i++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), ", %s", backends[i]->name);
    return error_set(err, STATUS_USAGE, "invalid back end '%.60s' (expected one of %s)", optarg,
                     names);
}

static bool take_threads(struct suggest_options *options, struct error *err)
{
    size_t threads;
    if (!argument_count("threads", optarg, MOST_THREADS, &threads, err))
        return false;
    options->plan.rotor.threads = (unsigned)threads;
    return true;
}

static bool add_pattern(struct patterns *patterns, const char *option, struct error *err)
{
    if (!*optarg)
        return error_set(err, STATUS_USAGE, "--%s needs a pattern", option);
    if (patterns->count == RESTRICT_MOST)
        return error_set(err, STATUS_USAGE, "more than %d patterns for --%s", RESTRICT_MOST,
                         option);
    patterns->items[patterns->count++] = optarg;
    return true;
}

bool suggest_option(int option, void *to, struct error *err)
{
    struct suggest_options *options = to;
    unsigned format;
    option_note(option, suggest_option_specs, for_snapshots, &options->snapshot_option);
    switch (option) {
    case OPTION_CHECKPOINTS:
        options->question = SUGGEST_CHECKPOINTS;
        return argument_count("checkpoints", optarg, MOST_COUNT, &options->checkpoints, err);
    case OPTION_SKIP_LAYERS:
        return argument_count("skip-layers", optarg, MOST_COUNT, &options->skipped_layers, err);
    case OPTION_BUDGET:
        return add_budget(optarg, options, err);
    case OPTION_BUDGETS:
        return add_budgets(options, err);
    case OPTION_PARETO:
        options->front_given = true;
        return true;
    case OPTION_MODEL:
        return take_model(options, err);
    case OPTION_GRANULARITY:
        return argument_granularity(optarg, &options->cuts, err);
    case OPTION_ONLY:
        return add_pattern(&options->restriction.only, "only", err);
    case OPTION_KEEP:
        return add_pattern(&options->restriction.keep, "keep", err);
    case OPTION_FORMAT:
        if (!option_word(suggest_option_words, "format", "format", &format, err))
            return false;
        options->format = (enum suggest_format)format;
        return true;
    case OPTION_SLOTS:
        return argument_count("slots", optarg, MOST_SLOTS, &options->plan.rotor.slots, err);
    case OPTION_BACKEND:
        return take_backend(options, err);
    case OPTION_THREADS:
        return take_threads(options, err);
    case OPTION_TIMES:
        options->times = optarg;
        return true;
    case 'v':
        options->verbose = true;
        return true;
    case OPTION_NO_CODE:
        options->no_code = true;
        return true;
    case OPTION_VERIFY:
    case OPTION_NO_VERIFY:
        options->verify = option == OPTION_VERIFY;
        return true;
    default:
        return shared_option(option,
                             &(const struct shared_options){
                                 SHARED_CAPTURE(options->capture), .output = &options->output,
                                 .unit = &options->unit, .files = &options->files},
                             err);
    }
}

bool suggest_options_complete(struct suggest_options *options, struct error *err)
{
    bool checkpoints = options->question == SUGGEST_CHECKPOINTS;
    bool sum = options->model_given && options->plan.any_model;
    if (checkpoints + (options->budget_count > 0) + options->front_given > 1)
        return error_set(err, STATUS_USAGE,
                         "--checkpoints, --budget and --pareto cannot be combined");
    if (options->budget_count > 0)
        options->question = SUGGEST_BUDGETS;
    if (sum && !checkpoints)
        return error_set(err, STATUS_USAGE, "--model sum needs --checkpoints K");
    if (options->model_given && !sum && options->question != SUGGEST_BUDGETS)
        return error_set(err, STATUS_USAGE, "--model %s needs --budget SIZE",
                         options->plan.model == PLAN_PEAK ? "peak" : "rotor");
    if (options->skipped_layers > 0 && !checkpoints)
        return error_set(err, STATUS_USAGE, "--skip-layers needs --checkpoints K");
    if (options->format == SUGGEST_CSV && options->question != SUGGEST_FRONT)
        return error_set(err, STATUS_USAGE, "--format csv needs --pareto");
    if (options->no_code && options->format != SUGGEST_TEXT)
        return error_set(err, STATUS_USAGE, "--no-code applies only to --format text");
    return true;
}
