#define _GNU_SOURCE /* strdup */
#include "commands/dryrun/fit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/fit/summary.h"
#include "commands/cli/complain.h"
#include "commands/cli/output.h"
#include "commands/dryrun/arguments.h"
#include "commands/dryrun/fit_runs.h"
#include "commands/dryrun/program.h"
#include "render/fit/fit.h"

#define RESULTS    "fit.json" /* name of the file in the folder of -o */
#define TAIL_LINES 20

static bool check(const struct dryrun_options *options, const struct fit_values *values,
                  char *const *arguments, struct error *err)
{
    if (!arguments_use(arguments, values->name))
        return error_set(err, STATUS_USAGE,
                         "the command does not contain {%s}; try 'python train.py --%s {%s}'",
                         values->name, "batch", values->name);
    for (size_t i = 0; i < options->gpu_count; i++)
        if (dryrun_gpu_bytes(&options->gpus[i]) <= options->other)
            return error_set(err, STATUS_USAGE,
                             "--gpu %s has no more memory than others use (--other-use)",
                             options->gpus[i].name);
    return true;
}

static bool make_folder(const char *path, struct error *err)
{
    struct stat there;
    if (!path || mkdir(path, 0777) == 0)
        return true;
    if (errno == EEXIST && stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        return true;
    return error_set(err, STATUS_IO, "cannot create the folder %.150s: %s", path,
                     errno == EEXIST ? "it is a file" : strerror(errno));
}

/* A description of the task, without runs. */
static bool describe(struct fit *fit, const struct dryrun_options *options,
                     const struct fit_values *values, char *const *arguments, struct error *err)
{
    fit->variable = fit_copy_text(fit, values->name, strlen(values->name), err);
    fit->values = fit_copy_text(fit, values->text, strlen(values->text), err);
    fit->steps = options->steps;
    bool ok = fit->variable && fit->values;
    for (; ok && *arguments; arguments++)
        ok = fit_add_word(fit, *arguments, err);
    for (size_t i = 0; ok && i < options->gpu_count; i++) {
        const struct dryrun_gpu *gpu = &options->gpus[i];
        ok = fit_add_gpu(fit,
                         &(const struct fit_gpu){.name = gpu->name,
                                                 .product = gpu->card->product,
                                                 .memory_bytes = dryrun_gpu_bytes(gpu),
                                                 .other_bytes = options->other},
                         err);
    }
    return ok;
}

static bool write_results(const struct fit *fit, const char *folder, struct error *err)
{
    char path[PATH_MAX];
    struct output output;
    if (!folder)
        return true;
    int size = snprintf(path, sizeof(path), "%s/" RESULTS, folder);
    if (size < 0 || (size_t)size >= sizeof(path))
        return error_set(err, STATUS_USAGE, "the path of the folder is too long");
    if (!output_open(&output, path, err))
        return false;
    if (fit_json(output.stream, fit))
        return output_commit(&output, err);
    output_discard(&output);
    return error_out_of_memory(err);
}

static bool print(const struct fit *fit, const struct dryrun_options *options, struct error *err)
{
    struct page page = page_for(stdout, UNIT_AUTO);
    return (options->json ? fit_json(stdout, fit) : fit_text(&page, fit)) ||
           error_out_of_memory(err);
}

/* The end of a failed program's output. */
static void show_tail(const struct tail *tail)
{
    for (size_t at = tail_start(tail, TAIL_LINES); at < tail->size; at++) {
        unsigned char c = (unsigned char)tail->bytes[at];
        fputc(c < ' ' && c != '\n' && c != '\t' ? ' ' : c, stderr);
    }
    if (tail->size > 0 && tail->bytes[tail->size - 1] != '\n')
        fputc('\n', stderr);
}

/* The runs, between holding back signals and letting them through. */
static bool run(struct fit_task *task, struct error *err)
{
    program_hold_signals();
    bool ok = fit_runs(task, err) && write_results(task->fit, task->options->output, err);
    program_release_signals(task->interrupt);
    return ok && print(task->fit, task->options, err);
}

/* Explains what the results mean where the exit status is not 0. */
static enum status conclude(const struct fit *fit)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < fit->gpu_count; i++) {
        const struct fit_gpu *gpu = &fit->gpus[i];
        struct fit_summary summary;
        fit_summarize(gpu, &summary);
        if (summary.limit && summary.limit->result == FIT_FAILED) {
            complain("dryrun: on %s, with %s=%" PRIu64 ", %s", gpu->name, fit->variable,
                     summary.limit->value, summary.limit->failure);
            status = STATUS_IO;
        } else if (!summary.largest && status == STATUS_OK) {
            status = STATUS_CHECK_FAILED;
        }
    }
    return status;
}

static enum status find(struct fit_task *task, const struct dryrun_options *options)
{
    struct error err;
    task->fit = fit_create(budget_default_limit(), &err);
    bool ok = task->fit && describe(task->fit, options, task->values, task->arguments, &err) &&
              run(task, &err);
    enum status status = STATUS_OK;
    if (ok) {
        status = conclude(task->fit);
    } else {
        show_tail(&task->tail);
        complain("dryrun: %s", err.text);
        status = err.status;
    }
    fit_destroy(task->fit);
    return status;
}

enum status dryrun_fit(const struct dryrun_options *given, char *const *arguments)
{
    struct dryrun_options options = *given;
    struct fit_values values;
    char library[PATH_MAX];
    struct error err;
    if (options.gpu_count == 0) {
        snprintf(options.gpus[0].name, sizeof(options.gpus[0].name), "%s",
                 options.gpus[0].card->name);
        options.gpu_count = 1;
    }
    if (!fit_values_parse(options.fit, &values, &err) ||
        !check(&options, &values, arguments, &err) || !dryrun_find_library(library, &err) ||
        !make_folder(options.output, &err)) {
        complain("dryrun: %s", err.text);
        return err.status;
    }
    struct fit_task task = {
        .options = &options, .arguments = arguments, .values = &values, .library = library};
    return find(&task, &options);
}
