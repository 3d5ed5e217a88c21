#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "commands/analyze/file.h"
#include "commands/analyze/jobs.h"
#include "commands/analyze/run.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/folder.h"
#include "commands/cli/options.h"
#include "commands/cli/watch.h"
#include "commands/cli/worker_pool.h"
#include "commands/summary/options.h"
#include "commands/summary/spread.h"
#include "commands/summary/write.h"

struct result {
    bool failed;
    struct error err;
    struct file_figures figures;
};

/* State shared by the jobs. */
struct run {
    const struct analyze_options *options;
    struct inputs *inputs;
    struct jobs jobs;
    struct page page;
    struct watch watch;
    struct result *results; /* one per file */
    struct inputs trace;    /* the file of --with-trace, if any */
    struct profiled *profiled;
};

static void do_file(struct run *run, size_t index, struct page *page)
{
    struct result *result = &run->results[index];
    struct load_progress progress = {.update = watch_update, .self = &run->watch};
    int fd;
    struct analyze_job job = {run->options, page, run->inputs->paths[index], &progress,
                              run->profiled};
    result->failed = !inputs_take(run->inputs, index, &fd, &result->err) ||
                     !analyze_file(&job, fd, &result->figures, &result->err);
    watch_input_done(&run->watch);
}

/* "folder" of "folder/file"; malloc'ed. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Reports a file that lies beside the files of a run. */
static void do_other_file(struct run *run, size_t index, struct page *page, struct run_input *input)
{
    struct result *result = &run->results[index];
    struct load_progress progress = {.update = watch_update, .self = &run->watch};
    struct analyze_job job = {run->options, page, input->path, &progress, NULL};
    if (!run->options->json)
        fputs("\n\n", page->out);
    input->failed = !analyze_input(&job, &input->input, &result->figures, &input->err);
}

/* An error of the whole run is told once, for its first file. */
static void do_run_files(struct run *run, const struct job *files, struct page *page,
                         struct run_input *inputs)
{
    struct load_progress progress = {.update = watch_update, .self = &run->watch};
    struct result *first = &run->results[files->inputs[0]];
    const char *path = run->inputs->paths[files->inputs[0]];
    char *folder = files->count > 1 ? folder_of(path) : strdup(path);
    struct analyze_job job = {run->options, page, folder, &progress, NULL};
    for (size_t i = 0; i < files->count; i++) {
        size_t index = files->inputs[i];
        inputs[i].path = run->inputs->paths[index];
        inputs[i].failed = !inputs_take(run->inputs, index, &inputs[i].fd, &inputs[i].err);
    }
    bool ok = folder || error_out_of_memory(&first->err);
    ok = ok && analyze_check_options(run->options, KIND_RUN_STATS, &first->err) &&
         analyze_run(&job, inputs, files->count, &first->err);
    for (size_t i = 0; i < files->count; i++)
        if (inputs[i].is_other)
            do_other_file(run, files->inputs[i], page, &inputs[i]);
    for (size_t i = 0; i < files->count; i++) {
        struct result *result = &run->results[files->inputs[i]];
        result->failed = ok ? inputs[i].failed : i == 0;
        if (ok)
            result->err = inputs[i].err;
        watch_input_done(&run->watch);
    }
    free(folder);
}

static void do_job(void *self, size_t index, FILE *out)
{
    struct run *run = self;
    const struct job *job = &run->jobs.items[index];
    struct page page = run->page;
    struct run_input *inputs = out && job->is_run ? calloc(job->count, sizeof(*inputs)) : NULL;
    page.out = out;
    if (out && !job->is_run) {
        do_file(run, job->inputs[0], &page);
    } else if (inputs) {
        do_run_files(run, job, &page, inputs);
    } else {
        struct result *result = &run->results[job->inputs[0]];
        result->failed = !error_out_of_memory(&result->err);
    }
    free(inputs);
}

static void before_output(void *self)
{
    struct run *run = self;
    watch_hide(&run->watch, true);
}

static void finish_job(void *self, size_t index)
{
    struct run *run = self;
    const struct job *job = &run->jobs.items[index];
    for (size_t i = 0; i < job->count; i++) {
        size_t input = job->inputs[i];
        if (!run->results[input].failed)
            continue;
        watch_hide(&run->watch, false);
        complain_error(run->inputs->paths[input], &run->results[input].err);
    }
}

static bool do_files(struct run *run, const struct output *output, struct error *err)
{
    struct pool_work work = {
        .count = run->jobs.count,
        .jobs = run->options->jobs,
        .out = output->stream,
        .separator = run->options->json ? "" : "\n\n",
        .work = do_job,
        .before_output = before_output,
        .finish = finish_job,
        .self = run,
    };
    watch_begin(&run->watch, run->inputs->count, output->stream);
    bool ok = worker_pool_run(&work, err);
    watch_end(&run->watch);
    return ok;
}

/* After the reports of several files. */
static bool compare(const struct run *run, struct error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < run->inputs->count; i++)
        count += run->results[i].failed ? 1 : run->results[i].figures.row_count;
    struct comparison_row *rows = calloc(count + 1, sizeof(*rows)), *row = rows;
    for (size_t i = 0; rows && i < run->inputs->count; i++) {
        const struct file_figures *figures = &run->results[i].figures;
        if (run->results[i].failed)
            *row++ = (struct comparison_row){.path = run->inputs->paths[i], .failed = true};
        for (size_t device = 0; device < figures->row_count; device++)
            *row++ = figures->rows[device];
    }
    fputs("\n\n", run->page.out);
    bool ok = rows && comparison_text(&run->page, rows, count);
    free(rows);
    return ok || error_out_of_memory(err);
}

/* The status of the first file that failed. */
static enum status summarize(const struct run *run, size_t *reported)
{
    enum status status = STATUS_OK;
    *reported = 0;
    for (size_t i = 0; i < run->inputs->count; i++) {
        if (!run->results[i].failed)
            ++*reported;
        else if (status == STATUS_OK)
            status = run->results[i].err.status;
    }
    return status;
}

/* Reports the files to an output that is open, and closes it. */
static enum status report_files(struct run *run, struct output *output)
{
    struct error err;
    size_t reported;
    if (!do_files(run, output, &err)) {
        output_discard(output);
        return complain_failure(&err);
    }
    enum status status = summarize(run, &reported);
    if (reported == 0) {
        output_discard(output);
        return status;
    }
    if (run->jobs.count > 1 && !run->options->json && !run->options->explain && !compare(run, &err))
        status = complain_failure(&err);
    return output_commit(output, &err) ? status : complain_failure(&err);
}

/* Without --max-memory, files read in parallel share the default limit. */
static void divide_memory(struct analyze_options *options, size_t files)
{
    if (options->jobs > files)
        options->jobs = files;
    if (options->capture.max_memory == 0)
        options->capture.max_memory = budget_default_limit() / options->jobs;
}

/* Opens the trace of --with-trace, before the sandbox is entered. */
static enum status open_trace(struct run *run)
{
    char *named[] = {(char *)run->options->trace, NULL};
    struct error err;
    enum status status = inputs_choose(&run->trace, named, 1);
    if (status == STATUS_OK && !inputs_open(&run->trace, &err))
        status = complain_failure(&err);
    return status;
}

/* Reads it. */
static enum status load_trace(struct run *run)
{
    struct input input;
    struct error err;
    int fd;
    if (inputs_take(&run->trace, 0, &fd, &err) &&
        input_from_fd(&input, fd, run->options->capture.max_memory, &err))
        run->profiled = profiled_load_input(&input, &err);
    return run->profiled ? STATUS_OK : complain_error(run->options->trace, &err);
}

static enum status analyze(void *self, struct inputs *inputs)
{
    struct analyze_options *options = self;
    struct run run = {.options = options, .inputs = inputs};
    struct output output;
    divide_memory(options, inputs->count);
    run.results = calloc(inputs->count, sizeof(*run.results));
    if (!run.results || !jobs_make(&run.jobs, inputs->paths, inputs->count)) {
        free(run.results);
        complain("out of memory");
        return STATUS_LIMIT;
    }
    enum status status = options->trace ? open_trace(&run) : STATUS_OK;
    if (status == STATUS_OK)
        status = files_open(&output, options->output, inputs);
    if (status == STATUS_OK && options->trace && (status = load_trace(&run)) != STATUS_OK)
        output_discard(&output);
    if (status == STATUS_OK) {
        run.page = page_for(output.stream, options->unit);
        status = report_files(&run, &output);
    }
    profiled_destroy(run.profiled);
    if (run.trace.count > 0)
        inputs_release(&run.trace);
    for (size_t i = 0; i < inputs->count; i++)
        free(run.results[i].figures.rows);
    free(run.results);
    jobs_release(&run.jobs);
    return status;
}

static enum status write_summary(void *self, struct inputs *inputs)
{
    const struct summary_options *options = self;
    return summaries_write(inputs, &options->gather, options->output);
}

static enum status summary_of(const struct analyze_options *options, char **named, int count)
{
    struct summary_options summary = {
        .gather = {.capture = options->capture, .jobs = options->jobs, .bins = true},
        .files = options->files,
        .verbose = options->verbose,
        .rules = options->rules,
        .output = options->summary};
    return summary_run(&summary, named, count, write_summary, &summary);
}

static enum status run(int argc, char **argv)
{
    struct analyze_options options = {.capture = {.device = ALL_DEVICES, .with_host = true},
                                      .ranks = DEFAULT_RANKS};
    struct error err;
    enum status status;
    if (!options_read(&command_analyze, argc, argv, analyze_option, &options, &status))
        return status;
    if (!analyze_options_complete(&options, optind < argc, &err))
        return complain_usage("analyze: %s", err.text);
    if (options.summary)
        return summary_of(&options, argv + optind, argc - optind);
    if (spread_follows())
        return STATUS_OK;
    options.files.what.kinds = kind_is_analyzed;
    options.files.what.told_logs = true;
    options.files.has_verbose = true;
    options.files.verbose = options.verbose;
    return files_run_with_rules(options.rules, &options.capture, argv + optind, argc - optind,
                                &options.files, analyze, &options);
}

const struct command command_analyze = {
    .name = "analyze",
    .summary = "report what was live at the peak, and which code allocated it",
    .arguments = "[OPTION]... [FILE]...",
    .about = "Reports what was live at the peak of GPU memory, which code allocated it, and\n"
             "what to do next. FILE is a snapshot that torch.cuda.memory._dump_snapshot()\n"
             "wrote, or the same as JSON, compressed with gzip or not; - is standard input. If\n"
             "no FILE is named, memsnap reads $MEMSNAP_INPUT or the newest snapshot in the\n"
             "current folder. Several files are compared at the end. A folder stands for all\n"
             "files in it, at any depth, that memsnap knows.\n"
             "\n"
             "FILE may also be:\n"
             "  a Chrome trace, a memory timeline or a table of operators of torch.profiler\n"
             "  a layer trace of memsnap's recorder or of FairScale's LayerwiseMemoryTracker\n"
             "  a file that torch.distributed's MemoryTracker saved\n"
             "  the counters of torch.cuda.memory_stats() or memory_summary()\n"
             "  a log of a program that ran out of memory, or printed such counters\n"
             "  a memory profile of JAX\n"
             "  the folder of a run of Finetuning-Scheduler's MemProfiler\n",
    .examples = "  memsnap analyze snapshot.pickle\n"
                "  memsnap analyze --stacks --top 3 snapshot.pickle     with the stacks\n"
                "  memsnap analyze --at end snapshot.pickle             what is never freed\n"
                "  memsnap analyze --at +1.5s snapshot.pickle           at another moment\n"
                "  memsnap analyze --range +2s:+3s big.pickle           part of a long trace\n"
                "  memsnap analyze rank*.pickle                         compare several files\n"
                "  memsnap analyze --format json snapshot.pickle | jq .devices[0].active\n",
    .options = analyze_option_specs,
    .words = analyze_option_words,
    .spreads = true,
    .run = run,
};
