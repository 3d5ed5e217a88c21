#include <inttypes.h>
#include <string.h>

#include "analysis/ranks/summarize.h"
#include "commands/cli/watch.h"
#include "commands/diff/options.h"

struct summary_file {
    struct summary *summary;
    struct input_line input;
    bool is_summary; /* the file is a summary */
};

static bool take_only(void *self, struct summary *summary, struct text bin, struct error *err)
{
    struct summary_file *file = self;
    (void)bin;
    if (!file->summary) {
        file->summary = summary;
        return true;
    }
    summary_destroy(summary);
    return error_set(err, STATUS_USAGE,
                     "the file has summaries of several captures; memsnap ranks compares them");
}

static bool read_capture(const struct diff_job *job, struct input *input, struct summary_file *file,
                         struct error *err)
{
    const struct load_progress progress = {watch_update, job->watch};
    struct capture capture;
    if (!capture_open_input(&capture, input, &job->settings->capture, &progress, err))
        return false;
    const struct snapshot *snapshot = capture.snapshot;
    file->input.bytes = snapshot->input_bytes;
    file->input.encoding = snapshot->encoding;
    file->input.protocol = snapshot->protocol;
    file->input.compression = snapshot->compression;
    file->summary = summary_create(job->settings->capture.max_memory, err);
    bool ok = file->summary &&
              summarize(file->summary, capture.timelines, capture.device_count, capture.sites, err);
    capture_close(&capture);
    return ok;
}

static bool read_side(const struct diff_job *job, struct input *input, unsigned side,
                      struct summary_file *file, struct error *err)
{
    *file = (struct summary_file){.input = {.path = job->paths[side],
                                            .bytes = input->bytes,
                                            .encoding = ENCODING_MSGPACK,
                                            .compression = input->source.compression,
                                            .lead = side ? "B: " : "A: "},
                                  .is_summary = sniff_kind(&input->source) == KIND_SUMMARY};
    bool ok = file->is_summary ? summaries_load_input(input, take_only, file, err)
                               : read_capture(job, input, file, err);
    if (ok && (!file->summary || file->summary->device_count == 0))
        ok = error_set(err, STATUS_BAD_INPUT, "there is no memory of any device to compare");
    watch_input_done(job->watch);
    return ok;
}

/* The device with that number, or NULL; for ALL_DEVICES the one with the highest peak. */
static const struct summary_device *find_device(const struct summary *summary, int64_t number)
{
    const struct summary_device *found = NULL;
    for (size_t i = 0; i < summary->device_count; i++) {
        const struct summary_device *device = &summary->devices[i];
        bool wanted = number == ALL_DEVICES || device->device == number;
        if (wanted && (!found || device->peak_bytes > found->peak_bytes))
            found = device;
    }
    return found;
}

static bool print(const struct diff_job *job, const struct summaries_diff_report *report,
                  struct error *err)
{
    bool ok;
    switch (job->settings->format) {
    case DIFF_CSV:
        return summaries_diff_csv(job->page->out, report, err);
    case DIFF_JSON:
        ok = summaries_diff_json(job->page->out, report);
        break;
    default:
        ok = summaries_diff_text(job->page, report);
        break;
    }
    return ok || error_out_of_memory(err);
}

static bool report(const struct diff_job *job, const struct summary_file files[2],
                   struct error *err)
{
    const struct summary_device *devices[2];
    const bool is_summary[2] = {files[0].is_summary, files[1].is_summary};
    struct summaries_diff diff;
    for (int side = 0; side < 2; side++) {
        devices[side] = find_device(files[side].summary, job->settings->devices[side]);
        if (!devices[side])
            return error_set(err, STATUS_USAGE, "%s has no device %" PRId64, side ? "B" : "A",
                             job->settings->devices[side]);
    }
    if (!summaries_diff_make(&diff, devices[0], devices[1], is_summary, job->settings->unit, err))
        return false;
    const struct summaries_diff_report report = {
        .inputs = {files[0].input, files[1].input},
        .diff = &diff,
        .limit = diff_limit_check(job->settings, devices[0]->peak_bytes, devices[1]->peak_bytes),
        .top = job->settings->top};
    *job->exceeded = report.limit.exceeded;
    watch_hide(job->watch, true);
    bool ok = print(job, &report, err);
    summaries_diff_release(&diff);
    return ok;
}

bool diff_summaries(const struct diff_job *job, struct input inputs[2], unsigned *blame,
                    struct error *err)
{
    struct summary_file files[2] = {{0}};
    *blame = 0;
    bool ok = read_side(job, &inputs[0], 0, &files[0], err);
    if (ok) {
        *blame = 1;
        ok = read_side(job, &inputs[1], 1, &files[1], err);
    } else {
        input_discard(&inputs[1]);
    }
    if (ok) {
        *blame = DIFF_NEITHER;
        ok = report(job, files, err);
    }
    summary_destroy(files[0].summary);
    summary_destroy(files[1].summary);
    return ok;
}
