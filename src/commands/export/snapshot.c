#include <inttypes.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/units.h"
#include "commands/cli/complain.h"
#include "commands/export/tables.h"
#include "render/export/snapshot_pickle.h"

/* Selects the parts to keep. A range without any event is an error. */
static bool choose(const struct capture *capture, const struct export_options *options,
                   struct excerpt *excerpts, struct error *err)
{
    const struct trace *longest = NULL;
    bool any = !options->range_given;
    for (size_t i = 0; i < capture->device_count; i++) {
        const struct trace *trace = capture->timelines[i]->trace;
        excerpts[i] = excerpt_choose(capture->timelines[i], &options->capture.window);
        any = any || excerpts[i].end > excerpts[i].first;
        if (!longest || trace->count > longest->count)
            longest = trace;
    }
    if (any || !longest || longest->count == 0)
        return true;
    int64_t first_time_us = TIME_NONE;
    for (size_t i = 0; i < longest->count && first_time_us == TIME_NONE; i++)
        first_time_us = trace_time(longest, i);
    return window_missed(&options->capture.window, longest->device, longest->count, first_time_us,
                         err);
}

static void tell_left_out(const char *path, const struct snapshot *snapshot)
{
    struct buffer keys = BUFFER_INIT;
    for (size_t i = 0; i < snapshot->unknown_key_count; i++) {
        const struct unknown_key *unknown = &snapshot->unknown_keys[i];
        struct text key = symbols_text(snapshot->symbols, unknown->key);
        buffer_printf(&keys, "%s%s.", i ? ", " : "", unknown->where);
        buffer_add(&keys, key.bytes, key.size);
    }
    if (keys.size && !keys.failed)
        complain("%s: unknown keys were left out: %.200s%s", path_name(path), keys.bytes,
                 keys.size > 200 ? ", ..." : "");
    buffer_release(&keys);
}

static void tell_doubts(const char *path, const struct snapshot_doubts *doubts)
{
    char size[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    if (doubts->stray_blocks)
        complain("%s: no segment holds %s live allocation%s; put into a segment of size 0",
                 path_name(path), units_count(count, doubts->stray_blocks),
                 doubts->stray_blocks == 1 ? "" : "s");
    if (doubts->lost_blocks)
        complain(
            "%s: left out %s allocation%s (%s) whose addresses were allocated again while live",
            path_name(path), units_count(count, doubts->lost_blocks),
            doubts->lost_blocks == 1 ? "" : "s",
            units_bytes(size, (int64_t)doubts->lost_bytes, UNIT_AUTO));
    if (doubts->reserved_gap)
        complain("%s: the file contradicts itself: reserved memory is off by %s", path_name(path),
                 units_bytes(size, doubts->reserved_gap, UNIT_AUTO));
}

static bool write_excerpts(const struct export_job *job, const struct capture *capture,
                           struct excerpt *excerpts, struct error *err)
{
    struct snapshot_doubts doubts;
    if (!choose(capture, job->options, excerpts, err) ||
        !snapshot_pickle(job->out, capture->snapshot, excerpts, capture->device_count, &doubts,
                         err))
        return false;
    tell_left_out(job->path, capture->snapshot);
    tell_doubts(job->path, &doubts);
    return true;
}

bool export_snapshot(const struct export_job *job, int fd, struct error *err)
{
    /* The segments at the end of the range are derived from the events after it. */
    struct capture_options whole = job->options->capture;
    struct capture capture;
    whole.window = (struct window){{POINT_OPEN, 0}, {POINT_OPEN, 0}};
    if (!capture_open(&capture, fd, &whole, job->progress, err))
        return false;
    struct excerpt *excerpts = calloc(capture.device_count + 1, sizeof(*excerpts));
    bool ok = excerpts || error_out_of_memory(err);
    ok = ok && write_excerpts(job, &capture, excerpts, err);
    free(excerpts);
    capture_close(&capture);
    return ok;
}
