#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/units.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "commands/cli/watch.h"
#include "commands/export/options.h"
#include "model/device.h"
#include "render/export/snapshot_pickle.h"

static bool put_device(const struct export_job *job, struct export_sheet *sheet,
                       const struct export_device *device, struct error *err)
{
    const struct export_options *options = job->options;
    const char *doubt = NULL;
    int64_t item;
    if (options->table == EXPORT_ALLOCATIONS)
        return export_allocations(sheet, device, err);
    if (!when_item(&options->at, device->timeline, NULL, device->phases, &item, err))
        return false;
    if (options->table == EXPORT_SITES)
        return export_sites(sheet, device, item, err);
    if (device->timeline->snapshot->profile.is_profile)
        return error_set(err, STATUS_BAD_INPUT,
                         "the file has no segments: only allocator snapshots have them");
    if (!export_layout(sheet, device, options->table, options->at.kind == WHEN_END, item, &doubt,
                       err))
        return false;
    export_tell_doubt(job->path, device->timeline->device, doubt);
    return true;
}

static bool put_devices(const struct export_job *job, const struct capture *capture,
                        struct export_sheet *sheet, struct error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < capture->device_count; i++) {
        const struct timeline *timeline = capture->timelines[i];
        struct export_parts parts;
        ok = export_parts_make(&parts, timeline, capture->sites, err) &&
             put_device(
                 job, sheet,
                 &(struct export_device){timeline, &parts.phases, &parts.steps, &parts.categories},
                 err);
        export_parts_release(&parts);
    }
    return ok;
}

/* Tables that need the whole trace in memory. */
static bool export_capture(const struct export_job *job, int fd, struct error *err)
{
    const struct export_options *options = job->options;
    struct capture capture;
    struct export_sheet sheet;
    if (!capture_open(&capture, fd, &options->capture, job->progress, err))
        return false;
    bool ok = export_begin(&sheet, job->out, options->format, options->table, capture.sites,
                           capture.snapshot->budget, err);
    if (ok) {
        ok = put_devices(job, &capture, &sheet, err) && export_end(&sheet, err);
        export_release(&sheet);
    }
    capture_close(&capture);
    return ok;
}

/* Selects the parts to keep. A range without any event is an error. */
static bool choose_excerpts(const struct capture *capture, const struct export_options *options,
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
    struct event_span span = {longest->device, longest->count, TIME_NONE, TIME_NONE};
    for (size_t i = 0; i < longest->count; i++) {
        int64_t time_us = trace_time(longest, i);
        if (span.first_time_us == TIME_NONE)
            span.first_time_us = time_us;
        if (time_us != TIME_NONE)
            span.last_time_us = time_us;
    }
    return window_missed(&options->capture.window, &span, err);
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
    if (!choose_excerpts(capture, job->options, excerpts, err) ||
        !snapshot_pickle(job->out, capture->snapshot, excerpts, capture->device_count, &doubts,
                         err))
        return false;
    tell_left_out(job->path, capture->snapshot);
    tell_doubts(job->path, &doubts);
    return true;
}

/* A snapshot of the range. */
static bool export_snapshot(const struct export_job *job, int fd, struct error *err)
{
    /* The segments at the end of the range are derived from the events after it. */
    struct capture_options whole = job->options->capture;
    struct capture capture;
    whole.window = (struct window){{POINT_OPEN, 0}, {POINT_OPEN, 0}};
    whole.file_order = job->options->range_given; /* the range is one of the file's order */
    if (!capture_open(&capture, fd, &whole, job->progress, err))
        return false;
    struct excerpt *excerpts = calloc(capture.device_count + 1, sizeof(*excerpts));
    bool ok = excerpts || error_out_of_memory(err);
    ok = ok && write_excerpts(job, &capture, excerpts, err);
    free(excerpts);
    capture_close(&capture);
    return ok;
}

typedef bool exporter(const struct export_job *job, int fd, struct error *err);

static exporter *choose(const struct export_options *options)
{
    enum export_table table = options->table;
    if (options->as_snapshot)
        return export_snapshot;
    if (table == EXPORT_EVENTS || table == EXPORT_STACKS || table == EXPORT_ANNOTATIONS)
        return export_stream;
    return export_capture;
}

static bool export_file(const void *self, struct inputs *inputs, FILE *out, struct error *err)
{
    const struct export_options *options = self;
    struct watch watch;
    const struct load_progress progress = {watch_update, &watch};
    const struct export_job job = {options, inputs->paths[0], out, &progress};
    int fd;
    if (!inputs_take(inputs, 0, &fd, err))
        return false;
    watch_begin(&watch, 1, out);
    bool ok = choose(options)(&job, fd, err);
    watch_end(&watch);
    return ok;
}

static enum status export_into(void *self, struct inputs *inputs)
{
    const struct export_options *options = self;
    if (options->format == EXPORT_SQLITE && !options->as_snapshot)
        return export_to_database(options, inputs);
    return files_write(options->output, inputs, export_file, self);
}

static enum status run(int argc, char **argv)
{
    struct export_options options = {
        .capture = {.max_memory = budget_default_limit(), .device = ALL_DEVICES, .with_host = true},
        .files = {.what.kinds = kind_is_snapshot, .most = 1}};
    struct error err;
    enum status status;
    if (!options_read(&command_export, argc, argv, export_option, &options, &status))
        return status;
    if (argc - optind > 1 && !options.files.has_rank)
        return complain_usage("export: expected one file");
    if (!export_options_complete(&options, &err))
        return complain_usage("export: %s", err.text);
    return files_run_with_rules(options.rules, &options.capture, argv + optind, argc - optind,
                                &options.files, export_into, &options);
}

const struct command command_export = {
    .name = "export",
    .summary = "write a snapshot as tables, or part of it as a new snapshot",
    .arguments = "[OPTION]... [FILE]",
    .about = "Writes one table of an allocator snapshot for other programs, as CSV, JSON lines\n"
             "or msgpack, or all tables as an SQLite database. With --as snapshot it writes\n"
             "part of the trace as a new snapshot, which memsnap and pytorch.org/memory_viz\n"
             "can read. FILE is as in memsnap analyze. memsnap-export(1) lists the columns of\n"
             "each table.\n",
    .examples = "  memsnap export snapshot.pickle -o allocations.csv\n"
                "  memsnap export --table events --range +2s:+3s big.pickle -o events.msgpack\n"
                "  memsnap export --table blocks --at peak snapshot.pickle\n"
                "  memsnap export -o capture.sqlite snapshot.pickle\n"
                "  memsnap export --as snapshot --range +2s:+3s big.pickle -o part.pickle\n"
                "  memsnap export --format jsonl snapshot.pickle | jq 'select(.size > 1e9)'\n",
    .options = export_option_specs,
    .words = export_option_words,
    .run = run,
};
