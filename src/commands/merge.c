/* `memsnap merge`. */
#include <unistd.h>

#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/summary/options.h"
#include "commands/summary/write.h"

static enum status merge(void *self, struct inputs *inputs)
{
    const struct summary_options *options = self;
    return summaries_write(inputs, &options->gather, options->output);
}

static bool take_option(int option, void *to, struct error *err)
{
    struct summary_options *options = to;
    const struct shared_options shared = {.max_memory = &options->gather.capture.max_memory,
                                          .rules = &options->rules,
                                          .output = &options->output,
                                          .jobs = &options->gather.jobs,
                                          .files = &options->files};
    return summary_option(option, options, &shared, err);
}

static enum status run(int argc, char **argv)
{
    struct summary_options options = {
        .gather = {.capture = {.device = ALL_DEVICES, .with_host = true}, .bins = true}};
    enum status status;
    if (!options_read(&command_merge, argc, argv, take_option, &options, &status))
        return status;
    if (optind == argc)
        return complain_usage("merge: name summaries, captures, or folders of them");
    if (!options.output && isatty(STDOUT_FILENO))
        return complain_usage("merge: name the output with -o FILE; it is not text");
    return summary_run(&options, argv + optind, argc - optind, merge, &options);
}

static const struct option_spec options[] = {
    ROW_OUTPUT, ROW_RANK, ROW_RANK_PATTERN,       ROW_STRICT,
    ROW_RULES,  ROW_JOBS, ROW_MAX_MEMORY_OF_FILE, ROW_LEFT_OUT,
    ROWS_END,
};

const struct command command_merge = {
    .name = "merge",
    .summary = "merge summaries of captures into one file",
    .arguments = "[OPTION]... FOLDER|FILE...",
    .about = "Merges files of summaries, which memsnap analyze --summary writes, into one. Any\n"
             "order and grouping of the files gives the same bytes. A capture among the files\n"
             "is summarised first. A summary has at most a few hundred kilobytes, however many\n"
             "events the capture has; memsnap ranks compares them.\n",
    .examples = "  memsnap merge -o run-17.summary run-17/*.summary\n"
                "  memsnap merge -o week.summary monday.summary tuesday.summary\n",
    .options = options,
    .spreads = true,
    .run = run,
};
