#include "commands/plot/run.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/run/report.h"
#include "commands/plot/kinds.h"
#include "decode/run/names.h"

bool plot_wants(enum file_kind kind)
{
    return kind_is_analyzed(kind) && kind != KIND_MEMORY_STATS && kind != KIND_MEMORY_SUMMARY &&
           kind != KIND_OPERATORS;
}

static enum run_file_kind name_kind(const char *path)
{
    struct text ignored;
    return run_file_kind(path, &ignored);
}

static size_t count_kind(const struct paths *paths, enum run_file_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < paths->count; i++)
        count += name_kind(paths->items[i]) == kind;
    return count;
}

void plot_run_select(struct paths *paths, const struct plot_kind **kind)
{
    bool has_tables = count_kind(paths, RUN_FILE_TABLES) > 0;
    if (paths->count < 2 || (!has_tables && count_kind(paths, RUN_FILE_STATS) == 0))
        return;
    if (!*kind)
        *kind = has_tables ? &plot_kind_fsdp : &plot_kind_iterations;
    if (!(*kind)->of_run)
        return;
    enum run_file_kind wanted = (*kind)->needs_tables ? RUN_FILE_TABLES : RUN_FILE_STATS;
    if (count_kind(paths, wanted) == 0)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < paths->count; i++)
        if (name_kind(paths->items[i]) == wanted)
            paths->items[kept++] = paths->items[i];
        else
            free(paths->items[i]);
    paths->count = kept;
}

/* A file of tables under another name is taken to be of rank 0. */
static bool add_input(struct plot_load *load, const struct plot_kind *kind, struct memory_run *run,
                      struct error *err)
{
    const char *path = load->inputs->paths[load->input];
    struct input input;
    enum file_kind file;
    uint32_t rank = 0;
    if (!plot_load_open(load, kind, &input, &file, err))
        return false;
    if (!kind->needs_tables)
        return memory_run_add_stats(run, path, &input, err);
    run_tables_rank(path, &rank);
    return memory_run_add_tables(run, path, rank, &input, err);
}

bool plot_load_run(struct plot_load *load, const struct plot_kind *kind, const struct plot_job *job,
                   struct error *err)
{
    struct memory_run *run = memory_run_create(load->options->capture.max_memory, err);
    struct run_report *report = NULL;
    bool ok = run != NULL;
    for (; ok && load->input < load->inputs->count; load->input++)
        if (!(ok = add_input(load, kind, run, err)))
            break;
    if (ok) {
        load->input = 0; /* the one that errors name */
        memory_run_finish(run);
        report = run_report_build(run, err);
        ok = report && kind->of_run(job, report, err);
    }
    run_report_destroy(report);
    memory_run_destroy(run);
    return ok;
}
