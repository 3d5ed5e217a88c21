#include "commands/analyze/snapshot.h"

#include <stdlib.h>

#include "analysis/joint/sites.h"
#include "render/analyze/explain.h"

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

struct reports {
    struct device_report **devices;
    size_t count;
    struct error *left_out; /* why a device has no report */
    size_t left_out_count;
};

/* A device without the moment that --at names has no report, if another one has that moment: host
 * memory has few phases, and events of its own. */
static bool build_reports(const struct analyze_options *options, const struct capture *capture,
                          struct reports *reports, struct error *err)
{
    reports->devices = calloc(capture->device_count + 1, sizeof(reports->devices[0]));
    reports->left_out = calloc(capture->device_count + 1, sizeof(reports->left_out[0]));
    if (!reports->devices || !reports->left_out)
        return error_out_of_memory(err);
    for (size_t i = 0; i < capture->device_count; i++) {
        struct error *why = &reports->left_out[reports->left_out_count];
        struct device_report *report =
            device_report_build(capture->timelines[i], capture->sites, &options->report, why);
        if (report)
            reports->devices[reports->count++] = report;
        else if (why->status == STATUS_USAGE)
            reports->left_out_count++;
        else {
            *err = *why;
            return false;
        }
    }
    if (reports->count == 0 && reports->left_out_count > 0)
        *err = reports->left_out[0];
    return reports->count > 0 || reports->left_out_count == 0;
}

static void release_reports(struct reports *reports)
{
    for (size_t i = 0; i < reports->count; i++)
        device_report_destroy(reports->devices[i]);
    free(reports->devices);
    free(reports->left_out);
}

static bool render(const struct analyze_options *options, const struct page *page, const char *path,
                   const struct capture *capture, const struct reports *reports,
                   const struct joined_trace *joined, struct error *err)
{
    struct analysis analysis = {
        .trace_path = options->trace,
        .joined = joined,
        .path = path,
        .snapshot = capture->snapshot,
        .sites = capture->sites,
        .devices = reports->devices,
        .device_count = reports->count,
        .left_out = reports->left_out,
        .left_out_count = reports->left_out_count,
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
                            const struct capture *capture, const struct reports *reports,
                            const struct explain_query *query, size_t *found, struct error *err)
{
    size_t most = options->report.top;
    if (most == 0 || most > EXPLAINED_MOST)
        most = EXPLAINED_MOST;
    for (size_t i = 0; i < reports->count; i++) {
        struct device_report *report = reports->devices[i];
        struct explanation explanation;
        if (!explain_find(&explanation, report, capture->sites, query, err))
            return false;
        if (*found > 0 && explanation.count > 0)
            fputc('\n', page->out);
        bool ok = explanation.count == 0 ||
                  explain_text(page, report, capture->sites, query, &explanation, most);
        *found += explanation.count;
        explanation_release(&explanation);
        if (!ok)
            return error_out_of_memory(err);
    }
    return true;
}

static bool explain(const struct analyze_options *options, const struct page *page,
                    const struct capture *capture, const struct reports *reports, struct error *err)
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

/* One for each report; NULL without --with-trace. */
static bool join(const struct analyze_job *job, const struct capture *capture,
                 const struct reports *reports, struct joined_trace **joined, struct error *err)
{
    if (!job->profiled)
        return true;
    *joined = calloc(reports->count + 1, sizeof(**joined));
    if (!*joined)
        return error_out_of_memory(err);
    for (size_t i = 0; i < reports->count; i++) {
        struct device_report *report = reports->devices[i];
        struct joined_trace *made = &(*joined)[i];
        if (!joint_make(&made->joint, job->profiled, report->timeline, err) ||
            !joint_sites(report, &made->joint, capture->sites, &made->live_matched, err))
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
    struct reports reports = {0};
    struct file_figures taken = {0};
    struct joined_trace *joined = NULL;
    bool ok =
        build_reports(options, capture, &reports, err) &&
        join(job, capture, &reports, &joined, err) &&
        take_figures(job->path, capture, &taken, err) &&
        (options->explain ? explain(options, job->page, capture, &reports, err)
                          : render(options, job->page, job->path, capture, &reports, joined, err));
    release_joined(joined, reports.count);
    release_reports(&reports);
    if (ok)
        *figures = taken;
    else
        free(taken.rows);
    return ok;
}

bool analyze_snapshot(const struct analyze_job *job, struct input *input,
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
