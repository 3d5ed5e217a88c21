#include "commands/dryrun/fit_runs.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analysis/fit/search.h"
#include "base/progress.h"
#include "commands/dryrun/arguments.h"
#include "commands/dryrun/fit_result.h"
#include "commands/dryrun/host_memory.h"

#define JOBS_MOST   64
#define GUESS_DEPTH 4 /* results of other runs that a run in parallel may depend on */
#define TICK_MS     500

struct runner {
    struct fit_task *task;
    struct fit_search *searches; /* one for each GPU */
    size_t order[GPUS_MOST];     /* GPUs with more memory first: their peaks are hints for others */
    struct fit_slot *slots;      /* options->jobs of them */
    size_t running, ended;
    uint64_t host_bytes; /* the most that a run took so far */
    int signals;         /* a signalfd */
    struct progress progress;
};

static bool is_running(const struct runner *runner, size_t gpu, size_t index)
{
    const struct fit_slot *slot = runner->slots;
    for (size_t i = 0; i < runner->task->options->jobs; i++, slot++)
        if (slot->is_used && slot->gpu == gpu && slot->index == index)
            return true;
    return false;
}

/* The next value of a search that is not running, whatever the results of up to `depth` runs. */
static bool find_index(const struct runner *runner, size_t gpu, const struct fit_search *search,
                       unsigned depth, size_t *index)
{
    size_t next;
    if (!fit_search_next(search, &next))
        return false;
    if (!is_running(runner, gpu, next)) {
        *index = next;
        return true;
    }
    if (depth == 0)
        return false;
    struct fit_search told = *search;
    fit_search_tell(&told, next, true, fit_search_predict(search, next));
    if (find_index(runner, gpu, &told, depth - 1, index))
        return true;
    told = *search;
    fit_search_tell(&told, next, false, (struct fit_peaks){0, 0});
    return find_index(runner, gpu, &told, depth - 1, index);
}

/* The next run to start: one that is needed in any case, or else one that probably is. */
static bool find_work(const struct runner *runner, size_t *gpu, size_t *index)
{
    for (unsigned depth = 0; depth <= (runner->running > 0 ? GUESS_DEPTH : 0); depth++)
        for (size_t i = 0; i < runner->task->fit->gpu_count; i++) {
            *gpu = runner->order[i];
            if (find_index(runner, *gpu, &runner->searches[*gpu], depth, index))
                return true;
        }
    return false;
}

static bool has_room(const struct runner *runner)
{
    if (runner->running == 0)
        return true;
    return runner->running < runner->task->options->jobs && runner->ended > 0 &&
           host_memory_has(runner->host_bytes, runner->running);
}

static bool start_run(struct runner *runner, size_t gpu, size_t index, struct error *err)
{
    const struct fit_task *task = runner->task;
    struct dryrun_options options = *task->options;
    struct fit_slot *slot = runner->slots;
    while (slot->is_used)
        slot++;
    options.gpus[0] = task->options->gpus[gpu];
    char **arguments =
        arguments_with(task->arguments, task->values->name, fit_value(task->values, index));
    if (!arguments)
        return error_out_of_memory(err);
    bool ok = child_start(&slot->child, &options, task->library, arguments, err);
    arguments_free(arguments);
    if (!ok)
        return false;
    slot->is_used = true;
    slot->gpu = gpu;
    slot->index = index;
    runner->running++;
    return true;
}

static bool start_runs(struct runner *runner, struct error *err)
{
    size_t gpu, index;
    while (has_room(runner) && find_work(runner, &gpu, &index))
        if (!start_run(runner, gpu, index, err))
            return false;
    return true;
}

static void tell(struct runner *runner, const struct fit_slot *slot, const struct fit_run *run)
{
    bool fits = run->result == FIT_FITS;
    const struct fit_peaks peaks = {run->active_bytes, run->reserved_bytes};
    fit_search_tell(&runner->searches[slot->gpu], slot->index, fits, peaks);
    for (size_t i = 0; fits && i < runner->task->fit->gpu_count; i++)
        if (i != slot->gpu)
            fit_search_hint(&runner->searches[i], run->value, peaks);
}

static bool finish_run(struct runner *runner, struct fit_slot *slot, struct error *err)
{
    struct fit *fit = runner->task->fit;
    struct fit_run run = {
        .value = fit_value(runner->task->values, slot->index),
        .host_bytes = slot->child.host_bytes,
        .duration_us = slot->child.duration_us,
    };
    if (run.host_bytes > runner->host_bytes)
        runner->host_bytes = run.host_bytes;
    bool ok = fit_result(runner->task, slot, &run, err) &&
              fit_add_run(fit, &fit->gpus[slot->gpu], &run, err);
    if (ok)
        tell(runner, slot, &run);
    child_release(&slot->child);
    slot->is_used = false;
    runner->running--;
    runner->ended++;
    return ok;
}

/* Shows the runs on a terminal. */
static void show(struct runner *runner)
{
    char line[200];
    int size = snprintf(line, sizeof(line), "dryrun: %zu runs done", runner->ended);
    for (size_t i = 0; i < runner->task->options->jobs; i++) {
        const struct fit_slot *slot = &runner->slots[i];
        if (!slot->is_used || size < 0 || (size_t)size >= sizeof(line))
            continue;
        size += snprintf(line + size, sizeof(line) - (size_t)size, "; %s=%" PRIu64 " on %s, %.0f s",
                         runner->task->values->name, fit_value(runner->task->values, slot->index),
                         runner->task->fit->gpus[slot->gpu].name,
                         (double)(child_clock_ns() - slot->child.started_ns) / 1e9);
    }
    progress_update_text(&runner->progress, line);
}

static void take_signals(struct runner *runner)
{
    struct signalfd_siginfo info;
    while (read(runner->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        if (info.ssi_signo != SIGCHLD)
            runner->task->interrupt = (int)info.ssi_signo;
}

/* Waits until something may have happened, and reads what the programs print. */
static void wait_for_runs(struct runner *runner)
{
    struct pollfd polled[JOBS_MOST + 1] = {{.fd = runner->signals, .events = POLLIN}};
    size_t count = 1;
    for (size_t i = 0; i < runner->task->options->jobs; i++)
        if (runner->slots[i].is_used && runner->slots[i].child.output >= 0)
            polled[count++] =
                (struct pollfd){.fd = runner->slots[i].child.output, .events = POLLIN};
    poll(polled, count, TICK_MS);
    for (size_t i = 0; i < runner->task->options->jobs; i++)
        if (runner->slots[i].is_used)
            child_read(&runner->slots[i].child);
    take_signals(runner);
    show(runner);
}

static bool collect(struct runner *runner, struct error *err)
{
    for (size_t i = 0; i < runner->task->options->jobs; i++)
        if (runner->slots[i].is_used && child_has_ended(&runner->slots[i].child) &&
            !finish_run(runner, &runner->slots[i], err))
            return false;
    return true;
}

/* Ends all runs, in vain for those that another signal would be needed for. */
static void stop_runs(struct runner *runner)
{
    for (size_t i = 0; i < runner->task->options->jobs; i++)
        if (runner->slots[i].is_used)
            child_stop(&runner->slots[i].child);
    while (runner->running > 0) {
        wait_for_runs(runner);
        for (size_t i = 0; i < runner->task->options->jobs; i++) {
            struct fit_slot *slot = &runner->slots[i];
            if (slot->is_used && child_has_ended(&slot->child)) {
                child_release(&slot->child);
                slot->is_used = false;
                runner->running--;
            }
        }
    }
}

static bool run_all(struct runner *runner, struct error *err)
{
    bool ok = true;
    while (ok && runner->task->interrupt == 0) {
        ok = start_runs(runner, err);
        if (runner->running == 0)
            break;
        if (ok) {
            wait_for_runs(runner);
            ok = collect(runner, err);
        }
    }
    stop_runs(runner);
    if (ok && runner->task->interrupt)
        return error_set(err, STATUS_IO, "interrupted");
    return ok;
}

static void order_gpus(struct runner *runner)
{
    const struct fit *fit = runner->task->fit;
    for (size_t i = 0; i < fit->gpu_count; i++) {
        size_t at = i;
        for (; at > 0 &&
               fit_available(&fit->gpus[runner->order[at - 1]]) < fit_available(&fit->gpus[i]);
             at--)
            runner->order[at] = runner->order[at - 1];
        runner->order[at] = i;
    }
}

bool fit_runs(struct fit_task *task, struct error *err)
{
    sigset_t set;
    program_held_signals(&set);
    struct runner runner = {
        .task = task,
        .searches = calloc(task->fit->gpu_count, sizeof(*runner.searches)),
        .slots = calloc(task->options->jobs, sizeof(*runner.slots)),
        .signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC),
    };
    bool ok = runner.searches && runner.slots ? true : error_out_of_memory(err);
    if (ok && runner.signals < 0)
        ok = error_set(err, STATUS_IO, "cannot wait for programs: %s", strerror(errno));
    for (size_t i = 0; ok && i < task->fit->gpu_count; i++)
        fit_search_begin(&runner.searches[i], task->values, fit_available(&task->fit->gpus[i]));
    if (ok) {
        order_gpus(&runner);
        progress_begin(&runner.progress, STDERR_FILENO);
        ok = run_all(&runner, err);
        progress_end(&runner.progress);
    }
    if (runner.signals >= 0)
        close(runner.signals);
    free(runner.searches);
    free(runner.slots);
    return ok;
}
