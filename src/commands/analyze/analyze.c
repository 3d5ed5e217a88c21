#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "commands/analyze/file.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/folder.h"
#include "commands/cli/options.h"
#include "commands/cli/watch.h"
#include "commands/cli/worker_pool.h"
#include "commands/summary/write.h"

struct result {
    bool failed;
    struct error err;
    struct file_figures figures;
};

/* State shared by the jobs of one run. */
struct run {
    const struct analyze_options *options;
    struct inputs *inputs;
    struct page page;
    struct watch watch;
    struct result *results; /* one per file */
};

static void do_file(void *self, size_t index, FILE *out)
{
    struct run *run = self;
    struct result *result = &run->results[index];
    struct load_progress progress = {.update = watch_update, .self = &run->watch};
    struct page page = run->page;
    int fd;
    page.out = out;
    struct analyze_job job = {run->options, &page, run->inputs->paths[index], &progress};
    bool ok = out || error_out_of_memory(&result->err);
    ok = ok && inputs_take(run->inputs, index, &fd, &result->err) &&
         analyze_file(&job, fd, &result->figures, &result->err);
    result->failed = !ok;
    watch_input_done(&run->watch);
}

static void before_output(void *self)
{
    struct run *run = self;
    watch_hide(&run->watch, true);
}

static void finish_file(void *self, size_t index)
{
    struct run *run = self;
    if (!run->results[index].failed)
        return;
    watch_hide(&run->watch, false);
    complain_error(run->inputs->paths[index], &run->results[index].err);
}

static bool do_files(struct run *run, const struct output *output, struct error *err)
{
    struct pool_work work = {
        .count = run->inputs->count,
        .jobs = run->options->jobs,
        .out = output->stream,
        .separator = run->options->json ? "" : "\n\n",
        .work = do_file,
        .before_output = before_output,
        .finish = finish_file,
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
    if (run->inputs->count > 1 && !run->options->json && !run->options->explain &&
        !compare(run, &err))
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

static enum status analyze(void *self, struct inputs *inputs)
{
    struct analyze_options *options = self;
    struct run run = {.options = options, .inputs = inputs};
    struct output output;
    divide_memory(options, inputs->count);
    run.results = calloc(inputs->count, sizeof(*run.results));
    if (!run.results) {
        complain("out of memory");
        return STATUS_LIMIT;
    }
    enum status status = files_open(&output, options->output, inputs);
    if (status == STATUS_OK) {
        run.page = page_for(output.stream, options->unit);
        status = report_files(&run, &output);
    }
    for (size_t i = 0; i < inputs->count; i++)
        free(run.results[i].figures.rows);
    free(run.results);
    return status;
}

static enum status write_summary(void *self, struct inputs *inputs)
{
    const struct analyze_options *options = self;
    const struct gather_options gather = {.capture = options->capture, .jobs = options->jobs};
    return summaries_write(inputs, &gather, options->summary);
}

static enum status run(int argc, char **argv)
{
    struct analyze_options options = {.capture = {.device = ALL_DEVICES, .with_host = true},
                                      .ranks = DEFAULT_RANKS};
    struct error err;
    enum status status;
    if (!options_read(&command_analyze, argc, argv, analyze_option, &options, &status))
        return status;
    if (!analyze_options_complete(&options, &err))
        return complain_usage("analyze: %s", err.text);
    struct paths paths;
    if (!paths_expand(&paths, argv + optind, (size_t)(argc - optind),
                      options.summary ? gather_wants : kind_is_analyzed, options.verbose, &err))
        return complain_failure(&err);
    status = files_run_with_rules(options.rules, &options.capture, paths.items, (int)paths.count,
                                  options.summary ? write_summary : analyze, &options);
    paths_release(&paths);
    return status;
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
             "FILE may also be a layer trace of FairScale's LayerwiseMemoryTracker (JSON,\n"
             "pickle, msgpack), a file that torch.distributed's MemoryTracker saved, or a\n"
             "Chrome trace or a memory timeline of torch.profiler.\n",
    .examples = "  memsnap analyze snapshot.pickle\n"
                "  memsnap analyze --stacks --top 3 snapshot.pickle     with the stacks\n"
                "  memsnap analyze --at end snapshot.pickle             what is never freed\n"
                "  memsnap analyze --at +1.5s snapshot.pickle           at another moment\n"
                "  memsnap analyze --range +2s:+3s big.pickle           part of a long trace\n"
                "  memsnap analyze rank*.pickle                         compare several files\n"
                "  memsnap analyze --format json snapshot.pickle | jq .devices[0].active\n",
    .options = analyze_option_specs,
    .words = analyze_option_words,
    .run = run,
};
