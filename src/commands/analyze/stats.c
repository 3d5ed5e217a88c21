#include "commands/analyze/stats.h"

#include <stdlib.h>

#include "render/oom/oom.h"
#include "render/stats/stats.h"

#define TEXT_RANKS 8 /* explained without --top */

static bool take_stats_figures(const char *path, const struct memory_stats *stats,
                               struct file_figures *figures, struct error *err)
{
    struct comparison_row *rows = calloc(stats->count + 1, sizeof(*rows));
    if (!rows)
        return error_out_of_memory(err);
    for (size_t i = 0; i < stats->count; i++) {
        const struct stats_row *row = &stats->rows[i];
        rows[i] = (struct comparison_row){
            .path = path,
            .no_device = true,
            .peak_bytes = row->values[STATS_ACTIVE_BYTES][STATS_ALL][STATS_PEAK],
            .reserved_bytes = row->values[STATS_RESERVED_BYTES][STATS_ALL][STATS_PEAK],
        };
    }
    *figures = (struct file_figures){rows, stats->count};
    return true;
}

static bool print_stats(const struct analyze_job *job, const struct memory_stats *stats,
                        struct file_figures *figures, struct error *err)
{
    const struct stats_analysis analysis = {.path = job->path, .stats = stats};
    if (!take_stats_figures(job->path, stats, figures, err))
        return false;
    if (job->options->json ? stats_json(job->page->out, &analysis)
                           : stats_text(job->page, &analysis))
        return true;
    free(figures->rows);
    *figures = (struct file_figures){0};
    return error_out_of_memory(err);
}

bool analyze_stats(const struct analyze_job *job, struct input *input, struct file_figures *figures,
                   struct error *err)
{
    struct memory_stats *stats = memory_stats_load_input(input, err);
    if (!stats)
        return false;
    bool ok = print_stats(job, stats, figures, err);
    memory_stats_destroy(stats);
    return ok;
}

static bool print_errors(const struct analyze_job *job, const struct oom_log *log,
                         struct error *err)
{
    struct oom_errors errors;
    if (!oom_errors_make(log, job->page->unit, &errors, err))
        return false;
    const struct oom_report report = {
        .path = job->path,
        .log = log,
        .errors = &errors,
        .top = job->options->top_given ? job->options->report.top : TEXT_RANKS,
    };
    bool ok = job->options->json ? oom_report_json(job->page->out, &report)
                                 : oom_report_text(job->page, &report);
    oom_errors_release(&errors);
    return ok || error_out_of_memory(err);
}

static bool print_log(const struct analyze_job *job, const struct oom_log *log,
                      struct file_figures *figures, struct error *err)
{
    const struct memory_stats stats = {
        .rows = log->tables,
        .count = log->table_count,
        .encoding = ENCODING_TEXT,
        .compression = log->compression,
        .protocol = -1,
        .input_bytes = log->input_bytes,
    };
    *figures = (struct file_figures){0};
    if (stats.count == 0 && log->count == 0)
        return error_set(err, STATUS_BAD_INPUT,
                         "expected a pickle or JSON, not a text file without out-of-memory errors "
                         "of PyTorch or tables of memory_summary()");
    if (stats.count > 0 && !print_stats(job, &stats, figures, err))
        return false;
    if (stats.count > 0 && log->count > 0 && !job->options->json)
        fputs("\n\n", job->page->out);
    return log->count == 0 || print_errors(job, log, err);
}

bool analyze_log(const struct analyze_job *job, struct input *input, struct file_figures *figures,
                 struct error *err)
{
    struct oom_log *log = oom_log_load_all(input, err);
    bool ok = log && print_log(job, log, figures, err);
    oom_log_destroy(log);
    return ok;
}
