/* `memsnap ranks`. */
#include <getopt.h>
#include <string.h>
#include <strings.h>

#include "commands/cli/arguments.h"
#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/ranks/into.h"
#include "commands/summary/options.h"
#include "commands/summary/report.h"
#include "render/page/run.h"
#include "render/ranks/ranks.h"

#define COLUMNS_KEPT 500 /* columns of each curve that are kept for a page */

enum {
    OPTION_FORMAT = OPTION_RANKS_OWN,
    OPTION_TOP,
    OPTION_SORT,
    OPTION_INTO,
    OPTION_RUN,
    OPTION_COMMIT,
};

enum ranks_format { RANKS_TEXT, RANKS_JSON, RANKS_CSV, RANKS_HTML };

struct ranks_options {
    struct summary_options common;
    struct into_options into;
    unsigned format;
    bool format_given;
    const char *title; /* title of a page */
    size_t top;
    bool top_given;
    unsigned order; /* index in the words of --sort */
    bool order_given;
    enum unit unit;
};

static bool render(const struct ranks_options *options, const struct ranks_report *report,
                   FILE *out, struct error *err)
{
    const struct page page = page_for(out, options->unit);
    if (options->format == RANKS_CSV)
        return ranks_csv(out, report, err);
    if (options->format == RANKS_HTML)
        return run_page_write(out, options->title, report, err);
    bool ok = options->format == RANKS_JSON ? ranks_json(out, report) : ranks_text(&page, report);
    return ok || error_out_of_memory(err);
}

struct printing {
    const struct ranks_options *options;
    FILE *out;
};

static bool print(void *self, const struct ranks_report *report, struct error *err)
{
    const struct printing *printing = self;
    struct ranks_report shown = *report;
    shown.top = printing->options->top;
    shown.top_given = printing->options->top_given;
    if (printing->options->order_given)
        shown.order = (enum ranks_order)(RANKS_BY_RANK + printing->options->order);
    return render(printing->options, &shown, printing->out, err);
}

/* `summaries`: a file for the history, or NULL. */
static enum status compare(const struct ranks_options *options, struct inputs *inputs,
                           FILE *summaries)
{
    struct gathering gathering;
    struct output output;
    struct error err;
    enum status status = files_open(&output, options->common.output, inputs);
    if (status != STATUS_OK)
        return status;
    if (!gather(&gathering, inputs, &options->common.gather, output.stream, &err)) {
        output_discard(&output);
        return complain_failure(&err);
    }
    status = gathering_status(&gathering);
    if (gathering.stopped || gathering.all.count == 0) {
        output_discard(&output);
    } else {
        struct printing printing = {options, output.stream};
        bool ok = (!summaries || into_write(summaries, &gathering, &err)) &&
                  ranks_report_with(&gathering, print, &printing, &err);
        enum status closed = files_close(&output, ok, NULL, &err);
        status = closed != STATUS_OK ? closed : status;
    }
    gathering_release(&gathering);
    return status;
}

struct reading {
    const struct ranks_options *options;
    struct inputs *inputs;
};

static enum status read_for_history(void *self, FILE *summaries)
{
    const struct reading *reading = self;
    return compare(reading->options, reading->inputs, summaries);
}

static enum status compare_inputs(void *self, struct inputs *inputs)
{
    const struct ranks_options *options = self;
    if (options->into.history)
        return into_run(&options->into, read_for_history, &(struct reading){options, inputs});
    return compare(options, inputs, NULL);
}

static const struct option_words words[] = {
    {"format", "text json csv html", NULL},
    {"sort", "rank peak reserved unused growth", NULL},
    {"units", WORDS_UNITS, NULL},
    {NULL, NULL, NULL},
};

static bool take_option(int option, void *to, struct error *err)
{
    struct ranks_options *options = to;
    switch (option) {
    case OPTION_FORMAT:
        options->format_given = true;
        return option_word(words, "format", "format", &options->format, err);
    case OPTION_SORT:
        options->order_given = true;
        return option_word(words, "sort", "--sort", &options->order, err);
    case OPTION_TOP:
        options->top_given = true;
        return argument_count("top", optarg, SIZE_MAX / 2, &options->top, err);
    case OPTION_INTO:
        options->into.history = optarg;
        return true;
    case OPTION_RUN:
        options->into.name = optarg;
        return true;
    case OPTION_COMMIT:
        options->into.commit = optarg;
        return true;
    default: {
        struct gather_options *gather = &options->common.gather;
        const struct shared_options shared = {SHARED_CAPTURE(gather->capture),
                                              .rules = &options->common.rules,
                                              .output = &options->common.output,
                                              .unit = &options->unit,
                                              .jobs = &gather->jobs,
                                              .files = &options->common.files};
        return summary_option(option, &options->common, &shared, err);
    }
    }
}

static bool is_page(const char *output)
{
    const char *dot = output ? strrchr(output, '.') : NULL;
    return dot && strcasecmp(dot, ".html") == 0;
}

static enum status run(int argc, char **argv)
{
    struct ranks_options options = {.common.gather.capture = {.device = ALL_DEVICES}};
    enum status status;
    if (!options_read(&command_ranks, argc, argv, take_option, &options, &status))
        return status;
    if (optind == argc)
        return complain_usage("ranks: name the folder of a run, or its files");
    if (!options.into.history && (options.into.name || options.into.commit))
        return complain_usage("ranks: --%s needs --into FILE",
                              options.into.name ? "run" : "commit");
    options.into.first = argv[optind];
    if (!options.format_given && is_page(options.common.output))
        options.format = RANKS_HTML;
    if (options.format == RANKS_HTML) {
        options.common.gather.curves = true;
        options.common.gather.columns = COLUMNS_KEPT;
        options.title = argc - optind == 1 ? argv[optind] : "Ranks of a run";
    }
    options.common.gather.reduced = options.format != RANKS_HTML && !options.into.history;
    return summary_run(&options.common, argv + optind, argc - optind, compare_inputs, &options);
}

static const struct option_spec options[] = {
    {OPTION_FORMAT, "format", "FORMAT",
     "print text (the default), json or csv, or an html page\n"
     "(the default if the output ends in .html)"},
    {OPTION_TOP, "top", "N", "list N ranks with the highest peaks (0: all)"},
    {OPTION_SORT, "sort", "BY",
     "sort the ranks by rank, or by peak, reserved, unused\n"
     "or growth, the highest first"},
    {OPTION_INTO, "into", "FILE",
     "also keep the summaries in FILE, a history that\n"
     "memsnap trend reads"},
    {OPTION_RUN, "run", "NAME", "with --into: name the run (default: its folder)"},
    {OPTION_COMMIT, "commit", "ID", "with --into: the commit that was run"},
    ROW_RANK,
    ROW_RANK_PATTERN,
    ROW_STRICT,
    ROW_DEVICE,
    ROW_RANGE,
    ROW_RULES,
    ROW_UNITS,
    ROW_OUTPUT,
    ROW_JOBS,
    ROW_MAX_MEMORY_OF_FILE,
    ROW_LEFT_OUT,
    ROWS_END,
};

const struct command command_ranks = {
    .name = "ranks",
    .summary = "compare the ranks of a distributed run",
    .arguments = "[OPTION]... FOLDER|FILE...",
    .about = "Compares the captures of all ranks of a run: the peak of each one, groups of\n"
             "ranks that behave alike, and outliers with the code that sets them apart. FILE\n"
             "is a snapshot or a profiler trace, as for memsnap analyze, or a file of\n"
             "summaries that memsnap merge or memsnap analyze --summary wrote. The rank is\n"
             "read from the name of the file or its folder: rank3, rank_3, _3.pickle.\n"
             "\n"
             "A file that cannot be read is reported, and the others are compared; the exit\n"
             "status then says so.\n",
    .examples = "  memsnap ranks run-17/\n"
                "  memsnap ranks --format csv run-17/*.pickle > ranks.csv\n"
                "  memsnap ranks run-17/ -o run-17.html            a page for a browser\n"
                "  memsnap ranks --rank-pattern 'gpu{RANK}/' run-17\n"
                "  memsnap ranks --into runs.sqlite --commit 1f3c9a2 run-17/\n"
                "  memsnap merge -o run-17.summary run-17/ && memsnap ranks run-17.summary\n",
    .options = options,
    .words = words,
    .spreads = true,
    .run = run,
};
