#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/code/reason.h"
#include "base/budget.h"
#include "commands/check/file.h"
#include "commands/check/pairs.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "commands/cli/small_file.h"
#include "commands/cli/watch.h"
#include "commands/cli/worker_pool.h"
#include "render/check/check.h"

/* State shared by the jobs of one run. */
struct run {
    const struct check_options *options;
    struct inputs *inputs;
    struct inputs baseline_input; /* one, or one for each rank */
    struct baseline_pair *pairs;  /* one per input, if there are several baselines */
    int64_t *ranks;               /* one per input, if the baseline may be of several ranks */
    struct check_baseline baseline;
    struct check_job job;
    struct watch watch;
    struct load_progress progress;
    struct checked_file *files; /* one per input */
};

/* Checks a file against the baseline of its rank. */
static bool check_pair(struct run *run, size_t index, int fd, struct checked_file *file)
{
    const struct baseline_pair *pair = &run->pairs[index];
    struct check_baseline baseline;
    struct check_job job = run->job;
    int older;
    if (pair->baseline == PAIR_NONE) {
        close(fd);
        file->err = pair->err;
        return false;
    }
    job.baseline = &baseline;
    check_baseline_init(&baseline, run->options->capture.max_memory);
    bool ok = inputs_take(&run->baseline_input, pair->baseline, &older, &file->err) &&
              check_file_baseline(&run->job, older, &baseline, &file->err);
    if (ok) {
        ok = check_file(&job, fd, &file->result, &file->err);
    } else {
        struct error why = file->err;
        close(fd);
        error_set(&file->err, why.status, "its baseline %.80s: %.150s",
                  run->baseline_input.paths[pair->baseline], why.text);
    }
    check_baseline_release(&baseline);
    return ok;
}

static void do_file(void *self, size_t index, FILE *out)
{
    struct run *run = self;
    struct checked_file *file = &run->files[index];
    int fd;
    struct check_job job = run->job;
    (void)out; /* the report is printed when all files are done */
    if (run->ranks)
        job.rank = run->ranks[index];
    file->failed = !inputs_take(run->inputs, index, &fd, &file->err) ||
                   !(run->pairs ? check_pair(run, index, fd, file)
                                : check_file(&job, fd, &file->result, &file->err));
    watch_input_done(&run->watch);
}

static void before_output(void *self)
{
    (void)self;
}

static void finish_file(void *self, size_t index)
{
    struct run *run = self;
    if (!run->files[index].failed)
        return;
    watch_hide(&run->watch, false);
    complain_error(run->inputs->paths[index], &run->files[index].err);
}

static bool read_baseline(struct run *run, struct error *err)
{
    int fd;
    run->job = (struct check_job){
        .options = run->options, .progress = &run->progress, .rank = BASELINE_NO_RANK};
    if (!run->options->baseline || run->pairs)
        return true;
    check_baseline_init(&run->baseline, run->options->capture.max_memory);
    if (!inputs_take(&run->baseline_input, 0, &fd, err) ||
        !check_file_baseline(&run->job, fd, &run->baseline, err))
        return false;
    run->job.baseline = &run->baseline;
    return true;
}

/* Returns STATUS_OK, or the status of a failure that concerns all files, after reporting it. */
static enum status check_files(struct run *run, FILE *out)
{
    struct pool_work work = {
        .count = run->inputs->count,
        .jobs = run->options->jobs,
        .out = out,
        .separator = "",
        .work = do_file,
        .before_output = before_output,
        .finish = finish_file,
        .self = run,
    };
    struct error err;
    enum status status = STATUS_OK;
    run->progress = (struct load_progress){.update = watch_update, .self = &run->watch};
    watch_begin(&run->watch, run->inputs->count, out);
    if (!read_baseline(run, &err)) {
        watch_hide(&run->watch, false);
        status = complain_error(run->options->baseline, &err);
    } else if (!worker_pool_run(&work, &err)) {
        status = complain_failure(&err);
    }
    watch_end(&run->watch);
    return status;
}

/* The status of the first file that could not be checked, else STATUS_OK or STATUS_CHECK_FAILED. */
static enum status verdict(const struct run *run, bool *any_checked)
{
    enum status status = STATUS_OK;
    bool passed = true;
    *any_checked = false;
    for (size_t i = 0; i < run->inputs->count; i++) {
        const struct checked_file *file = &run->files[i];
        *any_checked = *any_checked || !file->failed;
        passed = passed && (file->failed || check_result_holds(&file->result));
        if (file->failed && status == STATUS_OK)
            status = file->err.status;
        if (!file->failed && file->result.is_incomplete && status == STATUS_OK)
            status = STATUS_USAGE;
    }
    return status != STATUS_OK || passed ? status : STATUS_CHECK_FAILED;
}

/* Checks the files, writes the report to an open output, and closes it. */
static enum status report_files(struct run *run, struct output *output)
{
    const struct error no_memory = {.status = STATUS_LIMIT, .text = "out of memory"};
    bool any_checked = false;
    enum status status = check_files(run, output->stream);
    if (status == STATUS_OK) {
        status = verdict(run, &any_checked);
        if (any_checked || check_is_for_ci(run->options->format)) {
            bool ok = check_print(run->options, run->files, run->inputs->count, output->stream);
            enum status closed = files_close(output, ok, NULL, &no_memory);
            return closed == STATUS_OK ? status : closed;
        }
    }
    output_discard(output);
    return status;
}

static enum status check_into(struct run *run)
{
    struct output output;
    struct error err;
    if (run->options->baseline && !inputs_open(&run->baseline_input, &err))
        return complain_failure(&err);
    enum status status = files_open(&output, run->options->output, run->inputs);
    return status == STATUS_OK ? report_files(run, &output) : status;
}

static bool is_summary(enum file_kind kind)
{
    return kind == KIND_SUMMARY;
}

/* A file of summaries may have one of each rank. */
static bool find_ranks(struct run *run, char *const *baseline, const struct file_choice *choice,
                       struct error *err)
{
    const struct look_for what = {.kinds = is_summary};
    struct look look;
    look_at_files(baseline, 1, &what, &look);
    if (!look.wanted)
        return true;
    run->ranks = calloc(run->inputs->count + 1, sizeof(*run->ranks));
    return (run->ranks || error_out_of_memory(err)) &&
           paths_ranks(run->inputs->paths, run->inputs->count, choice, run->ranks, err);
}

/* Finds what the baseline stands for, and which of its files each input is compared with. */
static enum status choose_baseline(struct run *run, struct paths *baselines)
{
    const struct check_options *options = run->options;
    struct file_choice choice = options->files;
    char *named[] = {(char *)options->baseline, NULL};
    struct error err;
    choice.has_rank = false;
    if (!paths_expand(baselines, named, 1, &choice, &err))
        return complain_failure(&err);
    enum status status =
        inputs_choose(&run->baseline_input, baselines->items, (int)baselines->count);
    if (status != STATUS_OK)
        return status;
    bool ok;
    if (baselines->count == 1) {
        ok = find_ranks(run, baselines->items, &choice, &err);
    } else {
        run->pairs = calloc(run->inputs->count + 1, sizeof(*run->pairs));
        ok = (run->pairs || error_out_of_memory(&err)) &&
             baseline_pairs_make(run->pairs, run->inputs, &run->baseline_input, &choice, &err);
    }
    return ok ? STATUS_OK : complain_failure(&err);
}

static enum status check(struct check_options *options, struct inputs *inputs)
{
    struct run run = {.options = options, .inputs = inputs};
    struct paths baselines = {0};
    if (options->jobs > inputs->count)
        options->jobs = inputs->count;
    if (options->capture.max_memory == 0)
        options->capture.max_memory = budget_default_limit() / options->jobs;
    run.files = calloc(inputs->count, sizeof(*run.files));
    bool ok = run.files;
    if (!ok)
        complain("out of memory");
    enum status status = ok ? STATUS_OK : STATUS_LIMIT;
    if (ok && options->baseline)
        status = choose_baseline(&run, &baselines);
    for (size_t i = 0; ok && i < inputs->count; i++)
        run.files[i].path = inputs->paths[i];
    if (status == STATUS_OK)
        status = check_into(&run);
    for (size_t i = 0; ok && i < inputs->count; i++)
        check_result_release(&run.files[i].result);
    free(run.files);
    free(run.pairs);
    free(run.ranks);
    check_baseline_release(&run.baseline);
    if (run.baseline_input.count > 0)
        inputs_release(&run.baseline_input);
    paths_release(&baselines);
    return status;
}

static enum status check_captures(struct check_options *options, char **paths, int count)
{
    struct error err;
    struct inputs inputs;
    struct paths expanded;
    options->files.what.kinds = kind_is_analyzed;
    if (!paths_expand(&expanded, paths, (size_t)count, &options->files, &err))
        return complain_failure(&err);
    enum status status = inputs_choose(&inputs, expanded.items, (int)expanded.count);
    if (status == STATUS_OK) {
        status = check(options, &inputs);
        inputs_release(&inputs);
    }
    paths_release(&expanded);
    return status;
}

/* Runs the check with complete options. */
static enum status run_options(struct check_options *options, char **paths, int count)
{
    struct error err;
    struct own_rules *rules;
    if (!rules_file_read(options->look.rules, &rules, &err))
        return complain_failure(&err);
    options->capture.rules = rules;
    enum status status;
    if (!check_rules_resolve(&options->rules, &err))
        status = complain_usage("check: %s", err.text);
    else if (!options->trend)
        status = check_captures(options, paths, count);
    else
        status = count > 0 ? complain_usage("check: --trend checks a history, and takes no file")
                           : check_trend(options);
    own_rules_destroy(rules);
    return status;
}

static enum status run(int argc, char **argv)
{
    struct check_options options = {.capture = {.device = ALL_DEVICES, .gpus_only = true}};
    struct error err;
    enum status status;
    if (options_read(&command_check, argc, argv, check_option, &options, &status)) {
        bool ok = check_options_complete(&options, &err);
        if (!ok)
            complain("check: %s", err.text);
        status = ok ? run_options(&options, argv + optind, argc - optind) : err.status;
    }
    check_options_release(&options);
    return status;
}

const struct command command_check = {
    .name = "check",
    .summary = "compare captures with limits, and fail if one is exceeded",
    .arguments = "[OPTION]... [FILE]...",
    .about = "Compares each FILE with limits, and fails if one is exceeded, for CI. For each\n"
             "failure it prints by how much, which line of code is to blame, and what to do\n"
             "next. The exit status is 0 if all limits hold, 1 if one is exceeded, and another\n"
             "number if a file could not be checked. A value equal to its limit passes. If a\n"
             "file has no data for a rule, such as growth without steps, the rule is reported\n"
             "as not judged.\n"
             "\n"
             "FILE is as in memsnap analyze, and so are the figures. memsnap-check(1)\n"
             "describes policies, and lists examples for GitHub Actions and GitLab CI.\n",
    .examples = "  memsnap check --max-peak 70GiB --no-oom snapshot.pickle\n"
                "  memsnap check --max-growth 0 --max-category activation=20GiB snapshot.pickle\n"
                "  memsnap check --max-site 'model.py:*=4GiB' snapshot.pickle\n"
                "  memsnap check --baseline main.pickle --max-increase 2% snapshot.pickle\n"
                "  memsnap check --trend runs.sqlite --max-jump 5%\n"
                "  memsnap check --policy memory.json --format junit -o memory.xml rank*.pickle\n"
                "  memsnap check --policy memory.json --format github snapshot.pickle\n"
                "  memsnap check --max-memory-after-suggest 4=8GiB trace.json\n",
    .make_options = check_option_specs,
    .words = check_option_words,
    .run = run,
};
