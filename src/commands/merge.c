/* `memsnap merge`. */
#include <unistd.h>

#include "analysis/ranks/rank_name.h"
#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/folder.h"
#include "commands/cli/options.h"
#include "commands/summary/write.h"

enum { OPTION_STRICT = OPTION_LONG_ONLY, OPTION_PATTERN };

struct merge_options {
    struct gather_options gather;
    bool verbose;
    const char *rules, *output;
};

static enum status merge(void *self, struct inputs *inputs)
{
    const struct merge_options *options = self;
    return summaries_write(inputs, &options->gather, options->output);
}

static bool take_option(int option, void *to, struct error *err)
{
    struct merge_options *options = to;
    switch (option) {
    case OPTION_STRICT:
        options->gather.strict = true;
        return true;
    case OPTION_PATTERN:
        options->gather.rank_pattern = optarg;
        return rank_pattern_is_valid(optarg) ||
               error_set(err, STATUS_USAGE, "--rank-pattern needs " RANK_PLACEHOLDER " once");
    case 'v':
        options->verbose = true;
        return true;
    default:
        return shared_option(
            option,
            &(const struct shared_options){.max_memory = &options->gather.capture.max_memory,
                                           .rules = &options->rules,
                                           .output = &options->output,
                                           .jobs = &options->gather.jobs},
            err);
    }
}

static enum status run(int argc, char **argv)
{
    struct merge_options options = {.gather.capture = {.device = ALL_DEVICES, .with_host = true}};
    struct paths paths;
    struct error err;
    enum status status;
    if (!options_read(&command_merge, argc, argv, take_option, &options, &status))
        return status;
    if (optind == argc)
        return complain_usage("merge: name summaries, captures, or folders of them");
    if (!options.output && isatty(STDOUT_FILENO))
        return complain_usage("merge: name the output with -o FILE; it is not text");
    if (!paths_expand(&paths, argv + optind, (size_t)(argc - optind), gather_wants, options.verbose,
                      &err))
        return complain_failure(&err);
    status = files_run_with_rules(options.rules, &options.gather.capture, paths.items,
                                  (int)paths.count, merge, &options);
    paths_release(&paths);
    return status;
}

static const struct option_spec options[] = {
    ROW_OUTPUT,
    {OPTION_PATTERN, "rank-pattern", "TEXT",
     "find the rank of a capture by a part of its path, with\n"
     "{RANK} for the number, for example worker{RANK}.pkl"},
    {OPTION_STRICT, "strict", NULL, "stop at the first file that cannot be read"},
    ROW_RULES,
    ROW_JOBS,
    ROW_MAX_MEMORY_OF_FILE,
    {'v', "verbose", NULL, "name the files in a folder that are left out"},
    ROW_HELP,
    {0, NULL, NULL, NULL},
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
    .run = run,
};
