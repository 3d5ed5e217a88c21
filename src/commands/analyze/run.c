#include "commands/analyze/run.h"

#include <unistd.h>

#include "analysis/ranks/rank_name.h"
#include "decode/run/names.h"
#include "render/run/run.h"

#define RUN_ROWS 20 /* rows of a table without --top */

static bool report(const struct analyze_job *job, struct memory_run *run, struct error *err)
{
    memory_run_finish(run);
    struct run_report *built = run_report_build(run, err);
    if (!built)
        return false;
    const struct run_analysis analysis = {
        .path = job->path,
        .report = built,
        .top = job->options->top_given ? job->options->report.top : RUN_ROWS,
        .top_given = job->options->top_given,
        .depth = job->options->depth,
    };
    bool ok =
        job->options->json ? run_json(job->page->out, &analysis) : run_text(job->page, &analysis);
    run_report_destroy(built);
    return ok || error_out_of_memory(err);
}

/* The file's share of the memory is what the run has left. */
static size_t memory_left(const struct memory_run *run)
{
    return run->budget->limit - run->budget->used;
}

static bool add_stats(struct memory_run *run, const char *path, int fd, struct error *err)
{
    struct input input;
    return input_from_fd(&input, fd, memory_left(run), err) &&
           memory_run_add_stats(run, path, &input, err);
}

static bool add_tables(struct memory_run *run, const char *path, int fd, struct error *err)
{
    struct input input;
    uint32_t rank;
    if (!run_tables_rank(path, &rank)) {
        close(fd);
        return error_set(err, STATUS_BAD_INPUT,
                         "expected a name such as fsdp_mem_rank_0_training_step_2.log");
    }
    return input_from_fd(&input, fd, memory_left(run), err) &&
           memory_run_add_tables(run, path, rank, &input, err);
}

static bool add_devices(struct memory_run *run, const char *path, const struct run_key *key,
                        const struct capture *capture, struct error *err)
{
    const struct snapshot *snapshot = capture->snapshot;
    const struct run_file facts = {.encoding = snapshot->encoding,
                                   .compression = snapshot->compression,
                                   .bytes = snapshot->input_bytes};
    uint32_t file;
    if (!memory_run_add_file(run, path, &facts, &file, err))
        return false;
    for (size_t i = 0; i < capture->device_count; i++)
        if (!memory_run_add_snapshot(run, key, file, capture->timelines[i], err))
            return false;
    return true;
}

static bool add_snapshot(struct memory_run *run, const struct analyze_job *job, const char *path,
                         struct text middle, int fd, struct error *err)
{
    struct capture_options options = job->options->capture;
    struct capture capture;
    struct run_key key;
    bool is_key;
    if (!run_key_parse(middle, run->symbols, &key, &is_key, err) || !is_key) {
        close(fd);
        return is_key ||
               error_set(err, STATUS_BAD_INPUT,
                         "expected a name such as cuda_alloc_rank_0.training_step.2.end.pickle");
    }
    options.max_memory = memory_left(run);
    if (!capture_open(&capture, fd, &options, job->progress, err))
        return false;
    bool ok = add_devices(run, path, &key, &capture, err);
    capture_close(&capture);
    return ok;
}

/* The rank that the trace tells, or its name; 0 if neither does. */
static uint32_t rank_of_trace(const struct snapshot *snapshot, const char *path)
{
    int64_t rank =
        snapshot->profile.rank >= 0 ? snapshot->profile.rank : rank_of_path(path, NULL, NULL);
    return rank >= 0 && rank < UINT32_MAX ? (uint32_t)rank : 0;
}

static bool add_trace(struct memory_run *run, const struct analyze_job *job, const char *path,
                      struct input *input, struct error *err)
{
    struct capture_options options = job->options->capture;
    struct capture capture;
    if (!capture_open_input(&capture, input, &options, job->progress, err))
        return false;
    const struct snapshot *snapshot = capture.snapshot;
    const struct run_file facts = {.encoding = snapshot->encoding,
                                   .compression = snapshot->compression,
                                   .bytes = snapshot->input_bytes};
    uint32_t rank = rank_of_trace(snapshot, path), file;
    bool ok = memory_run_add_file(run, path, &facts, &file, err);
    for (size_t i = 0; ok && i < capture.device_count; i++)
        ok = memory_run_add_trace(run, rank, file, capture.timelines[i],
                                  snapshot->profile.has_reserved, err);
    capture_close(&capture);
    return ok;
}

/* A file whose name does not tell its content. Other kinds are left open, and get a report of their
 * own. */
static bool add_by_content(struct memory_run *run, const struct analyze_job *job,
                           struct run_input *file)
{
    struct input *input = &file->input;
    if (!input_from_fd(input, file->fd, memory_left(run), &file->err))
        return false;
    switch (sniff_kind(&input->source)) {
    case KIND_PROFILE:
        return add_trace(run, job, file->path, input, &file->err);
    case KIND_OPERATORS:
        return memory_run_add_operators(run, file->path, input, &file->err);
    default:
        file->is_other = true;
        return true;
    }
}

static bool add_file(struct memory_run *run, const struct analyze_job *job, struct run_input *file)
{
    struct text middle = {0};
    switch (run_file_kind(file->path, &middle)) {
    case RUN_FILE_SNAPSHOT:
        return add_snapshot(run, job, file->path, middle, file->fd, &file->err);
    case RUN_FILE_STATS:
        return add_stats(run, file->path, file->fd, &file->err);
    case RUN_FILE_TABLES:
        return add_tables(run, file->path, file->fd, &file->err);
    case RUN_FILE_TRACE:
    case RUN_FILE_TEXT:
        return add_by_content(run, job, file);
    default:
        close(file->fd);
        return error_set(&file->err, STATUS_BAD_INPUT, "not a file of a run");
    }
}

bool analyze_run(const struct analyze_job *job, struct run_input *files, size_t count,
                 struct error *err)
{
    struct memory_run *run = memory_run_create(job->options->capture.max_memory, err);
    size_t added = 0;
    for (size_t i = 0; i < count; i++) {
        if (files[i].failed)
            continue;
        if (!run)
            close(files[i].fd);
        else if (add_file(run, job, &files[i]))
            added += !files[i].is_other;
        else
            files[i].failed = true;
    }
    bool ok = run && (added == 0 || report(job, run, err));
    memory_run_destroy(run);
    return ok;
}

static bool analyze_one(const struct analyze_job *job, struct input *input, bool of_tables,
                        struct error *err)
{
    struct memory_run *run = memory_run_create(job->options->capture.max_memory, err);
    if (!run) {
        input_discard(input);
        return false;
    }
    bool ok = (of_tables ? memory_run_add_tables(run, job->path, 0, input, err)
                         : memory_run_add_stats(run, job->path, input, err)) &&
              report(job, run, err);
    memory_run_destroy(run);
    return ok;
}

bool analyze_run_stats(const struct analyze_job *job, struct input *input,
                       struct file_figures *figures, struct error *err)
{
    *figures = (struct file_figures){0};
    return analyze_one(job, input, false, err);
}

bool analyze_run_tables(const struct analyze_job *job, struct input *input,
                        struct file_figures *figures, struct error *err)
{
    *figures = (struct file_figures){0};
    return analyze_one(job, input, true, err);
}
