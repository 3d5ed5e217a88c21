#include "commands/analyze/file.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/joint/sites.h"
#include "commands/analyze/run.h"
#include "commands/analyze/stats.h"
#include "render/analyze/explain.h"
#include "render/fit/fit.h"
#include "render/layers/layers.h"
#include "render/layers/operator_curves.h"
#include "render/run/operators.h"

#define EXPLAINED_MOST 1000 /* allocations that --explain shows in full */

static bool take_figures(const char *path, const struct capture *capture,
                         struct file_figures *figures, struct error *err)
{
    struct comparison_row *rows = calloc(capture->device_count + 1, sizeof(*rows));
    if (!rows)
        return error_out_of_memory(err);
    for (size_t i = 0; i < capture->device_count; i++) {
        const struct timeline *timeline = capture->timelines[i];
        rows[i] = (struct comparison_row){
            .path = path,
            .device = timeline->device,
            .peak_bytes = timeline->active.peak_bytes,
            .baseline_bytes = timeline->active.baseline_bytes,
            .reserved_bytes = timeline->reserved.peak_bytes,
        };
    }
    *figures = (struct file_figures){rows, capture->device_count};
    return true;
}

static bool build_reports(const struct analyze_options *options, const struct capture *capture,
                          struct device_report **reports, struct error *err)
{
    for (size_t i = 0; i < capture->device_count; i++) {
        reports[i] =
            device_report_build(capture->timelines[i], capture->sites, &options->report, err);
        if (!reports[i])
            return false;
    }
    return true;
}

static bool render(const struct analyze_options *options, const struct page *page, const char *path,
                   const struct capture *capture, struct device_report **reports,
                   const struct joined_trace *joined, struct error *err)
{
    struct analysis analysis = {
        .trace_path = options->trace,
        .joined = joined,
        .path = path,
        .snapshot = capture->snapshot,
        .sites = capture->sites,
        .devices = reports,
        .device_count = capture->device_count,
        .at_given = options->report.at.kind != WHEN_PEAK,
        .at_end = options->report.at.kind == WHEN_END,
        .stacks = options->stacks,
        .verbose = options->verbose,
        .allocations = options->allocations,
        .largest = options->largest,
    };
    bool ok = options->json ? analyze_json(page->out, &analysis) : analyze_text(page, &analysis);
    return ok || error_out_of_memory(err);
}

static bool explain_devices(const struct analyze_options *options, const struct page *page,
                            const struct capture *capture, struct device_report **reports,
                            const struct explain_query *query, size_t *found, struct error *err)
{
    size_t most = options->report.top;
    if (most == 0 || most > EXPLAINED_MOST)
        most = EXPLAINED_MOST;
    for (size_t i = 0; i < capture->device_count; i++) {
        struct explanation explanation;
        if (!explain_find(&explanation, reports[i], capture->sites, query, err))
            return false;
        if (*found > 0 && explanation.count > 0)
            fputc('\n', page->out);
        bool ok = explanation.count == 0 ||
                  explain_text(page, reports[i], capture->sites, query, &explanation, most);
        *found += explanation.count;
        explanation_release(&explanation);
        if (!ok)
            return error_out_of_memory(err);
    }
    return true;
}

static bool explain(const struct analyze_options *options, const struct page *page,
                    const struct capture *capture, struct device_report **reports,
                    struct error *err)
{
    struct explain_query query;
    size_t found = 0;
    explain_query_parse(options->explain, &query);
    return explain_devices(options, page, capture, reports, &query, &found, err) &&
           (found > 0 || error_set(err, STATUS_USAGE,
                                   query.site ? "no call site matches '%.80s'"
                                              : "no recorded allocation at %.80s",
                                   options->explain));
}

/* One for each device; NULL without --with-trace. */
static bool join(const struct analyze_job *job, const struct capture *capture,
                 struct device_report **reports, struct joined_trace **joined, struct error *err)
{
    if (!job->profiled)
        return true;
    *joined = calloc(capture->device_count + 1, sizeof(**joined));
    if (!*joined)
        return error_out_of_memory(err);
    for (size_t i = 0; i < capture->device_count; i++) {
        struct joined_trace *made = &(*joined)[i];
        if (!joint_make(&made->joint, job->profiled, capture->timelines[i], err) ||
            !joint_sites(reports[i], &made->joint, capture->sites, &made->live_matched, err))
            return false;
    }
    return true;
}

static void release_joined(struct joined_trace *joined, size_t count)
{
    for (size_t i = 0; joined && i < count; i++)
        joint_release(&joined[i].joint);
    free(joined);
}

static bool report(const struct analyze_job *job, const struct capture *capture,
                   struct file_figures *figures, struct error *err)
{
    const struct analyze_options *options = job->options;
    struct device_report **reports = calloc(capture->device_count + 1, sizeof(reports[0]));
    if (!reports)
        return error_out_of_memory(err);
    struct file_figures taken = {0};
    struct joined_trace *joined = NULL;
    bool ok =
        build_reports(options, capture, reports, err) &&
        join(job, capture, reports, &joined, err) &&
        take_figures(job->path, capture, &taken, err) &&
        (options->explain ? explain(options, job->page, capture, reports, err)
                          : render(options, job->page, job->path, capture, reports, joined, err));
    release_joined(joined, capture->device_count);
    for (size_t i = 0; i < capture->device_count; i++)
        device_report_destroy(reports[i]);
    free(reports);
    if (ok)
        *figures = taken;
    else
        free(taken.rows);
    return ok;
}

static bool analyze_snapshot(const struct analyze_job *job, struct input *input,
                             struct file_figures *figures, struct error *err)
{
    struct capture capture;
    if (!capture_open_input(&capture, input, &job->options->capture, job->progress, err))
        return false;
    bool ok =
        !job->profiled || !capture.snapshot->profile.is_profile ||
        error_set(err, STATUS_USAGE, "--with-trace joins an allocator snapshot, not a profile");
    ok = ok && report(job, &capture, figures, err);
    capture_close(&capture);
    return ok;
}

/* The number of rows without --top. */
#define LAYERS_TREE_LINES 15
#define LAYERS_PRODUCERS  10 /* as FairScale has it */
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
    if (is_log) /* what it tells may come late in it */
        analyze = analyze_log;
    return analyze(job, input, figures, err);
}
