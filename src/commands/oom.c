#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/cli/arguments.h"
#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "decode/core/sniff.h"
#include "render/oom/oom.h"

#define TEXT_RANKS 8 /* explained without --top */

enum { OPTION_FORMAT = OPTION_LONG_ONLY, OPTION_TOP };

struct oom_options {
    struct file_choice files;
    bool json;
    size_t top, max_memory; /* max_memory in bytes */
    enum unit unit;
    const char *output;
};

/* A file of another kind has no errors, but there is a better reason to say. */
static bool none_found(const struct oom_log *log, enum file_kind kind, struct error *err)
{
    if (kind != KIND_UNKNOWN)
        return error_set(err, STATUS_BAD_INPUT, "expected a log, not %s; see 'memsnap analyze'",
                         kind_name(kind));
    return error_set(err, STATUS_BAD_INPUT, "no out-of-memory error of PyTorch in %llu line%s",
                     (unsigned long long)log->lines, log->lines == 1 ? "" : "s");
}

static bool render(const struct oom_options *options, const char *path, const struct oom_log *log,
                   FILE *out, struct error *err)
{
    struct oom_errors errors;
    if (!oom_errors_make(log, options->unit, &errors, err))
        return false;
    struct page page = page_for(out, options->unit);
    const struct oom_report report = {path, log, &errors, options->top};
    bool ok = options->json ? oom_report_json(out, &report) : oom_report_text(&page, &report);
    oom_errors_release(&errors);
    return ok || error_out_of_memory(err);
}

static bool oom_file(const void *self, struct inputs *inputs, FILE *out, struct error *err)
{
    const struct oom_options *options = self;
    struct input input;
    int fd;
    if (!inputs_take(inputs, 0, &fd, err) || !input_from_fd(&input, fd, options->max_memory, err))
        return false;
    enum file_kind kind = sniff_kind(&input.source);
    struct oom_log *log = oom_log_load_input(&input, err);
    if (!log)
        return false;
    bool ok = log->count > 0 ? render(options, inputs->paths[0], log, out, err)
                             : none_found(log, kind, err);
    oom_log_destroy(log);
    return ok;
}

static enum status oom(void *self, struct inputs *inputs)
{
    const struct oom_options *options = self;
    return files_write(options->output, inputs, oom_file, self);
}

static bool take_format(const char *text, bool *json, struct error *err)
{
    *json = strcmp(text, "json") == 0;
    return *json || strcmp(text, "text") == 0 ||
           error_set(err, STATUS_USAGE, "invalid format '%.60s' (expected text or json)", text);
}

static bool take_option(int option, void *to, struct error *err)
{
    struct oom_options *options = to;
    switch (option) {
    case OPTION_FORMAT:
        return take_format(optarg, &options->json, err);
    case OPTION_TOP:
        return argument_count("top", optarg, SIZE_MAX / 2, &options->top, err);
    default:
        return shared_option(option,
                             &(const struct shared_options){.max_memory = &options->max_memory,
                                                            .output = &options->output,
                                                            .unit = &options->unit,
                                                            .files = &options->files},
                             err);
    }
}

/* A terminal, or /dev/null in a batch job, is not meant as a log. */
static bool has_log_on_input(void)
{
    struct stat at;
    return fstat(STDIN_FILENO, &at) == 0 &&
           (S_ISFIFO(at.st_mode) || S_ISREG(at.st_mode) || S_ISSOCK(at.st_mode));
}

static enum status run(int argc, char **argv)
{
    static char *const standard_input[] = {"-"};
    struct oom_options options = {.max_memory = budget_default_limit(),
                                  .top = TEXT_RANKS,
                                  .files = {.what.logs = true, .most = 1}};
    enum status status;
    if (!options_read(&command_oom, argc, argv, take_option, &options, &status))
        return status;
    if (argc == optind && has_log_on_input())
        return files_run((char **)standard_input, 1, &options.files, oom, &options);
    if (argc == optind || (argc - optind > 1 && !options.files.has_rank))
        return complain_usage("oom: expected one log, or - for standard input");
    return files_run(argv + optind, argc - optind, &options.files, oom, &options);
}

static const struct option_spec options[] = {
    {OPTION_TOP, "top", "N", "explain the last error of N ranks (0: of all)"},
    {OPTION_FORMAT, "format", "FORMAT", "print text (the default) or json"},
    ROW_UNITS,
    ROWS_RANK_AND_OUTPUT,
    ROW_MAX_MEMORY,
    ROWS_END,
};

const struct command command_oom = {
    .name = "oom",
    .summary = "explain the out-of-memory errors in a log",
    .arguments = "[OPTION]... [LOG]",
    .about = "Finds PyTorch's OutOfMemoryErrors in a log of any size, adds up the sizes in\n"
             "their texts, and says for each rank why it ran out of memory and what to do.\n"
             "LOG may be compressed with gzip; - is standard input, and so is a pipe if there\n"
             "is no LOG. The texts of PyTorch 1.10 and later are known, for CUDA, ROCm, XPU,\n"
             "NPU and MPS.\n"
             "\n"
             "An error message has only sums. A snapshot also shows which code holds the\n"
             "memory; see 'memsnap help analyze'.\n",
    .examples = "  memsnap oom train.log\n"
                "  torchrun train.py 2>&1 | memsnap oom -\n"
                "  memsnap oom --format json slurm-4711.out | jq .errors[].verdict\n",
    .options = options,
    .words =
        (const struct option_words[]){
            {"format", "text json", NULL},
            {"units", WORDS_UNITS, NULL},
            {NULL, NULL, NULL},
        },
    .run = run,
};
