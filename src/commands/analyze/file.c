#include "commands/analyze/file.h"

#include <stdlib.h>
#include <string.h>

#include "commands/analyze/run.h"
#include "commands/analyze/snapshot.h"
#include "commands/analyze/stats.h"
#include "render/fit/fit.h"
#include "render/layers/layers.h"
#include "render/layers/operator_curves.h"
#include "render/run/operators.h"

/* The number of rows without --top. */
#define LAYERS_TREE_LINES 15
#define LAYERS_PRODUCERS  10 /* as many as FairScale shows */
#define LAYERS_SHARDS     5
#define CURVES_OPERATORS  10
#define OPERATORS         15

static bool take_layers_figures(const char *path, const struct layers_report *report,
                                struct file_figures *figures, struct error *err)
{
    struct comparison_row *row = calloc(1, sizeof(*row));
    if (!row)
        return error_out_of_memory(err);
    *row = (struct comparison_row){.path = path,
                                   .no_device = true,
                                   .peak_bytes = report->allocated.bytes,
                                   .reserved_bytes = report->reserved.bytes};
    *figures = (struct file_figures){row, 1};
    return true;
}

static bool render_layers(const struct analyze_job *job, const struct layers_report *report)
{
    const struct analyze_options *options = job->options;
    struct layers_analysis analysis = {
        .path = job->path,
        .report = report,
        .producers = options->top_given ? options->report.top : LAYERS_PRODUCERS,
        .shards = options->top_given ? options->report.top
                  : options->json    ? 0
                                     : LAYERS_SHARDS,
        .verbose = options->verbose,
    };
    return options->json ? layers_json(job->page->out, &analysis)
                         : layers_text(job->page, &analysis);
}

static bool analyze_layers(const struct analyze_job *job, struct input *input,
                           struct file_figures *figures, struct error *err)
{
    const struct layers_options options = {
        .top = job->options->top_given ? job->options->report.top : LAYERS_TREE_LINES,
        .ranks = job->options->ranks,
    };
    struct layer_trace *trace = layer_trace_load_input(input, err);
    if (!trace)
        return false;
    struct layers_report *report = layers_report_build(trace, &options, err);
    bool ok = report && take_layers_figures(job->path, report, figures, err);
    if (ok && !render_layers(job, report)) {
        free(figures->rows);
        *figures = (struct file_figures){0};
        ok = error_out_of_memory(err);
    }
    layers_report_destroy(report);
    layer_trace_destroy(trace);
    return ok;
}

static bool take_curves_figures(const char *path, const struct curves_report *report,
                                struct file_figures *figures, struct error *err)
{
    const struct operator_curves *curves = report->curves;
    struct comparison_row *row = calloc(1, sizeof(*row));
    if (!row)
        return error_out_of_memory(err);
    *row = (struct comparison_row){.path = path, .no_device = true};
    if (curves->count > 0) {
        row->peak_bytes = curves->points[report->allocated].allocated;
        row->reserved_bytes = curves->points[report->reserved].reserved;
    }
    *figures = (struct file_figures){row, 1};
    return true;
}

static bool analyze_curves(const struct analyze_job *job, struct input *input,
                           struct file_figures *figures, struct error *err)
{
    struct operator_curves *curves = operator_curves_load_input(input, err);
    if (!curves)
        return false;
    struct curves_report *report = curves_report_build(curves, err);
    const struct curves_analysis analysis = {
        .path = job->path,
        .report = report,
        .top = job->options->top_given ? job->options->report.top : CURVES_OPERATORS,
    };
    bool ok = report && take_curves_figures(job->path, report, figures, err);
    if (ok && !(job->options->json ? curves_json(job->page->out, &analysis)
                                   : curves_text(job->page, &analysis))) {
        free(figures->rows);
        *figures = (struct file_figures){0};
        ok = error_out_of_memory(err);
    }
    curves_report_destroy(report);
    operator_curves_destroy(curves);
    return ok;
}

static bool analyze_fit(const struct analyze_job *job, struct input *input,
                        struct file_figures *figures, struct error *err)
{
    struct fit *fit = fit_load_input(input, err);
    if (!fit)
        return false;
    bool ok = job->options->json ? fit_json(job->page->out, fit) : fit_text(job->page, fit);
    fit_destroy(fit);
    *figures = (struct file_figures){0};
    return ok || error_out_of_memory(err);
}

static bool analyze_operators(const struct analyze_job *job, struct input *input,
                              struct file_figures *figures, struct error *err)
{
    struct operator_file *file = operator_file_load_input(input, err);
    *figures = (struct file_figures){0};
    if (!file)
        return false;
    const struct operators_analysis analysis = {
        .path = job->path,
        .file = file,
        .top = job->options->top_given ? job->options->report.top : OPERATORS,
    };
    bool ok = job->options->json ? operators_json(job->page->out, &analysis)
                                 : operators_text(job->page, &analysis);
    operator_file_destroy(file);
    return ok || error_out_of_memory(err);
}

/* Each takes ownership of the input. */
static const struct analyzer {
    enum file_kind kind;
    bool (*analyze)(const struct analyze_job *job, struct input *input,
                    struct file_figures *figures, struct error *err);
} analyzers[] = {
    {KIND_LAYER_TRACE, analyze_layers},  {KIND_OPERATOR_CURVES, analyze_curves},
    {KIND_RUN_STATS, analyze_run_stats}, {KIND_RUN_TABLES, analyze_run_tables},
    {KIND_OPERATORS, analyze_operators}, {KIND_FIT, analyze_fit},
    {KIND_MEMORY_STATS, analyze_stats},  {KIND_MEMORY_SUMMARY, analyze_log},
};

bool analyze_check_options(const struct analyze_options *options, enum file_kind kind,
                           struct error *err)
{
    bool is_snapshot = kind_is_snapshot(kind);
    if (options->run_option && kind != KIND_RUN_STATS && kind != KIND_RUN_TABLES)
        return error_set(err, STATUS_USAGE,
                         "--%s does not apply to %s, only to runs of MemProfiler",
                         options->run_option, kind_name(kind));
    const char *option = is_snapshot ? options->layers_option : options->snapshot_option;
    if (!option)
        return true;
    return error_set(err, STATUS_USAGE, "--%s does not apply to %s, only to %s", option,
                     kind_name(kind), is_snapshot ? "layer traces" : "allocator snapshots");
}

bool analyze_file(const struct analyze_job *job, int fd, struct file_figures *figures,
                  struct error *err)
{
    struct input input;
    return input_from_fd(&input, fd, job->options->capture.max_memory, err) &&
           analyze_input(job, &input, figures, err);
}

bool analyze_input(const struct analyze_job *job, struct input *input, struct file_figures *figures,
                   struct error *err)
{
    enum file_kind kind = sniff_kind(&input->source);
    bool (*analyze)(const struct analyze_job *, struct input *, struct file_figures *,
                    struct error *) = analyze_snapshot; /* has the best error message */
    for (size_t i = 0; i < sizeof(analyzers) / sizeof(analyzers[0]); i++)
        if (analyzers[i].kind == kind)
            analyze = analyzers[i].analyze;
    if (kind != KIND_UNKNOWN && !analyze_check_options(job->options, kind, err)) {
        input_discard(input);
        return false;
    }
    bool is_log = kind == KIND_UNKNOWN && sniff_is_log(&input->source) &&
                  strcmp(sniff_description(&input->source), "a text file") == 0;
    if (is_log) /* the recognisable lines of a log may come late */
        analyze = analyze_log;
    return analyze(job, input, figures, err);
}
