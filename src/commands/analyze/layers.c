#include "commands/analyze/layers.h"

#include <stdlib.h>

#include "render/layers/layers.h"

#define TREE_LINES 15 /* without --top */
#define PRODUCERS  10 /* as FairScale has it */
#define SHARDS     5

static bool take_figures(const char *path, const struct layers_report *report,
                         struct file_figures *figures, struct error *err)
{
    struct comparison_row *row = calloc(1, sizeof(*row));
    if (!row)
        return error_set(err, STATUS_LIMIT, "out of memory");
    *row = (struct comparison_row){.path = path,
                                   .no_device = true,
                                   .peak_bytes = report->allocated.bytes,
                                   .reserved_bytes = report->reserved.bytes};
    *figures = (struct file_figures){row, 1};
    return true;
}

static bool render(const struct analyze_job *job, const struct layers_report *report)
{
    const struct analyze_options *options = job->options;
    struct layers_analysis analysis = {
        .path = job->path,
        .report = report,
        .producers = options->top_given ? options->report.top : PRODUCERS,
        .shards = options->top_given ? options->report.top
                  : options->json    ? 0
                                     : SHARDS,
        .verbose = options->verbose,
    };
    return options->json ? layers_json(job->page->out, &analysis)
                         : layers_text(job->page, &analysis);
}

bool analyze_layers(const struct analyze_job *job, struct input *input,
                    struct file_figures *figures, struct error *err)
{
    const struct layers_options options = {
        .top = job->options->top_given ? job->options->report.top : TREE_LINES,
        .ranks = job->options->ranks,
    };
    struct layer_trace *trace = layer_trace_load_input(input, err);
    if (!trace)
        return false;
    struct layers_report *report = layers_report_build(trace, &options, err);
    bool ok = report && take_figures(job->path, report, figures, err);
    if (ok && !render(job, report)) {
        free(figures->rows);
        *figures = (struct file_figures){0};
        ok = error_set(err, STATUS_LIMIT, "out of memory");
    }
    layers_report_destroy(report);
    layer_trace_destroy(trace);
    return ok;
}
