/* `memsnap trend`. */
#include <getopt.h>

#include "commands/cli/arguments.h"
#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/options.h"
#include "commands/cli/output.h"
#include "commands/sandbox/sandbox.h"
#include "render/trend/trend.h"
#include "store/store.h"

enum {
    OPTION_METRIC = OPTION_LONG_ONLY,
    OPTION_RANK,
    OPTION_LAST,
    OPTION_RUN,
    OPTION_FORMAT,
};

enum trend_format { TREND_TEXT, TREND_JSON, TREND_CSV };

struct trend_options {
    struct store_query query;
    unsigned format;
    enum unit unit;
    const char *output;
    size_t max_memory;
};

static bool render(const struct trend_options *options, const struct trend *trend, FILE *out,
                   struct error *err)
{
    const struct page page = page_for(out, options->unit);
    if (options->format == TREND_CSV)
        return trend_csv(out, trend, err);
    bool ok =
        options->format == TREND_JSON ? trend_json(out, trend) : trend_text_report(&page, trend);
    return ok || error_out_of_memory(err);
}

static bool read_and_render(const struct trend_options *options, struct store *store, FILE *out,
                            struct error *err)
{
    struct trend trend;
    trend_init(&trend, options->max_memory);
    bool ok = store_trend(store, &options->query, &trend, err);
    if (ok && trend.count == 0)
        ok = error_set(err, STATUS_BAD_INPUT, "the history has no such run");
    ok = ok && render(options, &trend, out, err);
    trend_release(&trend);
    return ok;
}

/* The history is open, and locked against changes, before the sandbox is entered. */
static enum status run_trend(const struct trend_options *options, const char *path)
{
    struct error err, late;
    struct output output;
    struct store *store = store_open_to_read(path, &err);
    if (!store)
        return complain_error(path, &err);
    if (!output_open(&output, options->output, &late)) {
        store_close(store);
        return complain_failure(&late);
    }
    sandbox_enter(output.file.path);
    bool ok = read_and_render(options, store, output.stream, &err);
    store_close(store);
    if (ok)
        return output_commit(&output, &late) ? STATUS_OK : complain_failure(&late);
    output_discard(&output);
    return complain_error(path, &err);
}

static const struct option_words words[] = {
    {"metric", "peak_active peak_allocated peak_reserved fragmentation end_active growth ooms",
     NULL},
    {"format", "text json csv", NULL},
    {"units", WORDS_UNITS, NULL},
    {NULL, NULL, NULL},
};

static bool take_option(int option, void *to, struct error *err)
{
    struct trend_options *options = to;
    uint64_t number;
    switch (option) {
    case OPTION_METRIC:
        options->query.metric = optarg;
        return store_metric_check(optarg, err);
    case OPTION_RANK:
        if (!argument_number("rank", optarg, INT64_MAX, &number, err))
            return false;
        options->query.rank = (int64_t)number;
        return true;
    case OPTION_LAST:
        return argument_count("last", optarg, SIZE_MAX / 2, &options->query.last, err);
    case OPTION_RUN:
        options->query.pattern = optarg;
        return true;
    case OPTION_FORMAT:
        return option_word(words, "format", "format", &options->format, err);
    default:
        return shared_option(option,
                             &(const struct shared_options){.max_memory = &options->max_memory,
                                                            .output = &options->output,
                                                            .unit = &options->unit},
                             err);
    }
}

static enum status run(int argc, char **argv)
{
    struct trend_options options = {
        .query = {.metric = STORE_METRIC_DEFAULT, .rank = STORE_EVERY_RANK}};
    enum status status;
    if (!options_read(&command_trend, argc, argv, take_option, &options, &status))
        return status;
    if (argc - optind != 1)
        return complain_usage("trend: expected one history of runs");
    if (options.max_memory == 0)
        options.max_memory = budget_default_limit();
    return run_trend(&options, argv[optind]);
}

static const struct option_spec options[] = {
    {OPTION_METRIC, "metric", "NAME",
     "show peak_active (the default), peak_allocated,\n"
     "peak_reserved, fragmentation, end_active, growth, ooms\n"
     "or category:NAME"},
    {OPTION_RANK, "rank", "N", "look only at rank N (default: the highest of all)"},
    {OPTION_LAST, "last", "N", "look only at the last N runs (0: all, the default)"},
    {OPTION_RUN, "run", "PATTERN", "look only at runs whose name matches, such as 'main-*'"},
    {OPTION_FORMAT, "format", "FORMAT", "print text (the default), json or csv"},
    ROW_UNITS,
    ROW_OUTPUT,
    ROW_MAX_MEMORY,
    ROWS_END,
};

const struct command command_trend = {
    .name = "trend",
    .summary = "show a metric over the runs of a history",
    .arguments = "[OPTION]... HISTORY",
    .about = "Shows how a metric changes from run to run. HISTORY is an SQLite database to\n"
             "which memsnap ranks --into adds runs; memsnap-trend(1) describes its tables.\n",
    .examples = "  memsnap ranks --into runs.sqlite --commit \"$(git rev-parse HEAD)\" run-17/\n"
                "  memsnap trend runs.sqlite\n"
                "  memsnap trend --metric category:activation --last 20 runs.sqlite\n"
                "  memsnap trend --format csv runs.sqlite > trend.csv\n"
                "  memsnap plot --kind trend runs.sqlite --out trend.svg\n"
                "  memsnap check --trend runs.sqlite --max-jump 5%\n",
    .options = options,
    .words = words,
    .run = run,
};
