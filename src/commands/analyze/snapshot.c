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
