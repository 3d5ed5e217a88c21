#include "commands/analyze/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "decode/run/names.h"

#define NO_GROUP SIZE_MAX

static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

static bool is_same_folder(const char *a, const char *b)
{
    size_t size = folder_size(a);
    return folder_size(b) == size && strncmp(a, b, size) == 0 &&
           (size > 0 || (*a == '/') == (*b == '/'));
}

static enum run_file_kind kind_of(const char *path)
{
    struct text ignored;
    return run_file_kind(path, &ignored);
}

/* The earliest file of the run that this file belongs to; NO_GROUP for files of no run. The folder
 * of the file before is often the same. */
static size_t find_group(char *const *paths, const size_t *groups, size_t at)
{
    if (at > 0 && groups[at - 1] != NO_GROUP && is_same_folder(paths[at - 1], paths[at]))
        return groups[at - 1];
    for (size_t i = 0; i < at; i++)
        if (groups[i] == i && is_same_folder(paths[i], paths[at]))
            return i;
    return at;
}

/* Snapshots alone are no run: each has its own report. */
static void find_groups(char *const *paths, size_t count, size_t *groups, bool *is_run)
{
    for (size_t i = 0; i < count; i++) {
        enum run_file_kind kind = kind_of(paths[i]);
        groups[i] = kind == RUN_FILE_OTHER ? NO_GROUP : find_group(paths, groups, i);
        is_run[i] = false;
        if (kind == RUN_FILE_STATS || kind == RUN_FILE_TABLES)
            is_run[groups[i]] = true;
    }
}

static void take_job(struct jobs *jobs, const size_t *groups, const bool *is_run, size_t first,
                     size_t count, size_t *taken)
{
    struct job *job = &jobs->items[jobs->count++];
    *job = (struct job){.inputs = jobs->inputs + *taken,
                        .is_run = groups[first] == first && is_run[first]};
    for (size_t i = first; i < count; i++)
        if (i == first || (job->is_run && groups[i] == first)) {
            jobs->inputs[(*taken)++] = i;
            job->count++;
        }
}

bool jobs_make(struct jobs *jobs, char *const *paths, size_t count)
{
    struct jobs made = {.items = calloc(count + 1, sizeof(*made.items)),
                        .inputs = calloc(count + 1, sizeof(*made.inputs))};
    size_t *groups = calloc(count + 1, sizeof(*groups)), taken = 0;
    bool *is_run = calloc(count + 1, sizeof(*is_run));
    bool ok = made.items && made.inputs && groups && is_run;
    if (ok) {
        find_groups(paths, count, groups, is_run);
        for (size_t i = 0; i < count; i++)
            if (groups[i] == NO_GROUP || groups[i] == i || !is_run[groups[i]])
                take_job(&made, groups, is_run, i, count, &taken);
        *jobs = made;
    } else {
        jobs_release(&made);
    }
    free(groups);
    free(is_run);
    return ok;
}

void jobs_release(struct jobs *jobs)
{
    free(jobs->items);
    free(jobs->inputs);
    *jobs = (struct jobs){0};
}
