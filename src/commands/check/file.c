#include "commands/check/file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "model/device.h"
#include "solve/advice/advice.h"

/* Receives a file that was read: its results, or the baseline. */
struct taker {
    const struct check_job *job;
    struct check_result *result;     /* NULL if it is the baseline */
    struct check_baseline *baseline; /* used if there is no result */
};

/* Finds the max_memory that `memsnap suggest --checkpoints` prints. */
static bool suggest(const struct layer_trace *trace, size_t checkpoints, int64_t *max_memory,
                    struct error *err)
{
    const struct cuts everywhere = {.kind = CUT_LEAVES};
    struct problem leaves;
    struct fairscale_advice advice;
    if (!problem_create(&leaves, trace, &everywhere, SIZE_MAX, trace->budget, err))
        return false;
    bool ok =
        fairscale_advise(trace, &leaves, &leaves, checkpoints, 0, &advice, trace->budget, err);
    if (ok) {
        *max_memory = advice.answer.max_memory;
        fairscale_advice_release(&advice, trace->budget);
    }
    problem_release(&leaves, trace->budget);
    return ok;
}

static struct check_question question_of(const struct check_job *job, struct site_table *sites)
{
    return (struct check_question){.rules = &job->options->rules,
                                   .baseline = job->baseline,
                                   .rank = job->rank,
                                   .sites = sites,
                                   .moment_given = job->options->look.at != NULL,
                                   .unit = job->options->report.unit,
                                   .suggest = suggest};
}

static bool take_reports(const struct taker *taker, const struct capture *capture,
                         const struct device_report *at, const struct device_report *peak,
                         struct error *err)
{
    const struct check_question question = question_of(taker->job, capture->sites);
    return taker->result ? check_device(&question, at, peak, taker->result, err)
                         : check_baseline_add(taker->baseline, peak, capture->sites, err);
}

static bool take_device(const struct taker *taker, const struct capture *capture, size_t device,
                        struct error *err)
{
    const struct report_options *options = &taker->job->options->report;
    const struct report_options at_peak = {.unit = options->unit};
    const struct timeline *timeline = capture->timelines[device];
    struct device_report *peak = device_report_build(timeline, capture->sites, &at_peak, err);
    struct device_report *at = peak;
    if (peak && taker->result && options->at.kind != WHEN_PEAK)
        at = device_report_build(timeline, capture->sites, options, err);
    bool ok = peak && at && take_reports(taker, capture, at, peak, err);
    if (at != peak)
        device_report_destroy(at);
    device_report_destroy(peak);
    return ok;
}

static bool take_snapshot(const struct taker *taker, struct input *input, struct error *err)
{
    struct capture capture;
    if (!capture_open_input(&capture, input, &taker->job->options->capture, taker->job->progress,
                            err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < capture.device_count; i++)
        ok = take_device(taker, &capture, i, err);
    capture_close(&capture);
    return ok;
}

static bool take_layers(const struct taker *taker, struct input *input, struct error *err)
{
    const struct layers_options options = {.top = 1, .ranks = 2};
    const struct check_question question = question_of(taker->job, NULL);
    struct layer_trace *trace = layer_trace_load_input(input, err);
    if (!trace)
        return false;
    struct layers_report *report = layers_report_build(trace, &options, err);
    bool ok = report;
    if (ok && taker->result)
        ok = check_layers(&question, report, taker->result, err);
    else if (ok)
        ok = check_baseline_add_peak(taker->baseline, BASELINE_NO_RANK, BASELINE_NO_DEVICE,
                                     report->allocated.bytes, err);
    layers_report_destroy(report);
    layer_trace_destroy(trace);
    return ok;
}

static bool take_curves(const struct taker *taker, struct input *input, struct error *err)
{
    const struct check_question question = question_of(taker->job, NULL);
    struct operator_curves *curves = operator_curves_load_input(input, err);
    if (!curves)
        return false;
    struct curves_report *report = curves_report_build(curves, err);
    bool ok = report;
    if (ok && taker->result)
        ok = check_curves(&question, report, taker->result, err);
    else if (ok && curves->count > 0)
        ok = check_baseline_add_peak(taker->baseline, BASELINE_NO_RANK, BASELINE_NO_DEVICE,
                                     curves->points[report->allocated].allocated, err);
    curves_report_destroy(report);
    operator_curves_destroy(curves);
    return ok;
}

/* Several captures must have ranks, by which a file finds its baseline. */
static bool check_rank(const struct check_baseline *baseline, int64_t rank, struct error *err)
{
    for (size_t i = 0; i < baseline->device_count; i++)
        if (rank == BASELINE_NO_RANK || baseline->devices[i].rank == BASELINE_NO_RANK)
            return error_set(err, STATUS_USAGE,
                             "the baseline has summaries of several captures, of which one has no "
                             "rank");
        else if (baseline->devices[i].rank == rank)
            return error_set(err, STATUS_USAGE, "the baseline has two captures of rank %" PRId64,
                             rank);
    return true;
}

static bool add_baseline(struct check_baseline *baseline, const struct summary *summary,
                         struct error *err)
{
    int64_t rank = summary->rank < 0 ? BASELINE_NO_RANK : summary->rank;
    bool ok = check_rank(baseline, rank, err);
    baseline->by_rank = baseline->device_count > 0;
    for (size_t i = 0; ok && i < summary->device_count; i++) {
        const struct summary_device *device = &summary->devices[i];
        int64_t number = device->device < 0 ? (int64_t)DEVICE_HOST : device->device;
        ok = check_baseline_add_peak(baseline, rank, number, device->peak_bytes, err);
    }
    return ok;
}

static bool take_summary(void *self, struct summary *summary, struct text bin, struct error *err)
{
    const struct taker *taker = self;
    const struct check_question question = question_of(taker->job, NULL);
    (void)bin;
    bool ok = taker->result ? check_summary(&question, summary, taker->result, err)
                            : add_baseline(taker->baseline, summary, err);
    summary_destroy(summary);
    return ok;
}

static bool take_summaries(const struct taker *taker, struct input *input, struct error *err)
{
    struct taker each = *taker;
    return summaries_load_input(input, take_summary, &each, err) &&
           (!taker->result || check_summaries_finish(taker->result, err));
}

static bool take_file(const struct taker *taker, int fd, struct error *err)
{
    const struct check_options *options = taker->job->options;
    struct input input;
    if (!input_from_fd(&input, fd, options->capture.max_memory, err))
        return false;
    enum file_kind kind = sniff_kind(&input.source);
    bool is_plain =
        kind == KIND_LAYER_TRACE || kind == KIND_OPERATOR_CURVES || kind == KIND_SUMMARY;
    if (is_plain && options->snapshot_option) {
        input_discard(&input);
        return error_set(err, STATUS_USAGE,
                         "--%s does not apply to %s, only to allocator snapshots",
                         options->snapshot_option, kind_name(kind));
    }
    if (kind == KIND_SUMMARY)
        return take_summaries(taker, &input, err);
    if (is_plain)
        return kind == KIND_LAYER_TRACE ? take_layers(taker, &input, err)
                                        : take_curves(taker, &input, err);
    return take_snapshot(taker, &input, err); /* has the best error message for an unknown file */
}

bool check_file(const struct check_job *job, int fd, struct check_result *result, struct error *err)
{
    struct check_result made = {0};
    const struct taker taker = {.job = job, .result = &made};
    if (!take_file(&taker, fd, err) || !check_finish(&job->options->rules, &made, err)) {
        check_result_release(&made);
        return false;
    }
    *result = made;
    return true;
}

bool check_file_baseline(const struct check_job *job, int fd, struct check_baseline *baseline,
                         struct error *err)
{
    const struct taker taker = {.job = job, .baseline = baseline};
    return take_file(&taker, fd, err) &&
           (baseline->device_count > 0 ||
            error_set(err, STATUS_BAD_INPUT,
                      "the baseline has no recorded memory to compare with"));
}
