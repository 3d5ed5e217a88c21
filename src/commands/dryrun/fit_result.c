#include "commands/dryrun/fit_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/dryrun/outcome.h"
#include "commands/dryrun/snapshot.h"

/* DIR/a100-64.pickle */
static bool keep_snapshot(const struct fit_task *task, const struct fit_slot *slot,
                          const char *name, uint64_t value, struct error *err)
{
    char path[PATH_MAX];
    struct new_file file;
    if (!task->options->output)
        return true;
    int size = snprintf(path, sizeof(path), "%s/%s-%" PRIu64 ".pickle", task->options->output,
                        task->fit->gpus[slot->gpu].name, value);
    errno = ENAMETOOLONG;
    if (size < 0 || (size_t)size >= sizeof(path) || !new_file_create(&file, path))
        return error_set(err, STATUS_IO, "cannot write %.150s: %s", path, strerror(errno));
    bool ok = dryrun_snapshot_keep(&slot->child.folder, name, &file, path, err);
    if (!ok)
        new_file_remove(&file);
    return ok;
}

static bool read_snapshot(const struct fit_task *task, const struct fit_slot *slot,
                          const char *name, struct fit_run *run, struct error *err)
{
    struct dryrun_peaks peaks;
    if (!dryrun_snapshot_peaks(&slot->child.folder, name, &peaks, err) ||
        !keep_snapshot(task, slot, name, run->value, err))
        return false;
    run->has_peaks = true;
    run->active_bytes = peaks.active_bytes;
    run->reserved_bytes = peaks.reserved_bytes;
    return true;
}

/* "the program failed with status 1 (ValueError: batch too large)" */
static const char *describe_failure(struct fit_task *task, const struct dryrun_child *child,
                                    const struct error *reason, struct error *err)
{
    char text[sizeof(reason->text) + 140], line[121];
    tail_last_line(&child->tail, line, sizeof(line));
    if (child->has_timed_out)
        snprintf(text, sizeof(text), "the program did not end within %" PRIu64 " s",
                 task->options->timeout);
    else
        snprintf(text, sizeof(text), "%s%s%s%s", reason->text, *line ? " (" : "", line,
                 *line ? ")" : "");
    return fit_copy_text(task->fit, text, strlen(text), err);
}

bool fit_result(struct fit_task *task, struct fit_slot *slot, struct fit_run *run,
                struct error *err)
{
    static const unsigned results[] = {[OUTCOME_FITS] = FIT_FITS,
                                       [OUTCOME_OUT_OF_MEMORY] = FIT_OUT_OF_MEMORY,
                                       [OUTCOME_FAILED] = FIT_FAILED};
    struct dryrun_child *child = &slot->child;
    struct outcome outcome;
    struct error reason;
    outcome_read(&child->folder, &child->end, &outcome, &reason);
    if (outcome.kind == OUTCOME_REFUSED && !child->has_timed_out) {
        task->tail = child->tail;
        *err = reason;
        return false;
    }
    run->result = child->has_timed_out ? FIT_FAILED : results[outcome.kind];
    run->ooms = outcome.ooms;
    if (run->result == FIT_FAILED) {
        run->failure = describe_failure(task, child, &reason, err);
        if (!run->failure)
            return false;
        if (slot->index > 0)
            return true;
        task->tail = child->tail;
        return error_set(err, STATUS_IO, "with %s=%" PRIu64 ", %.190s", task->values->name,
                         run->value, run->failure);
    }
    return read_snapshot(task, slot, outcome.snapshot, run, err);
}
