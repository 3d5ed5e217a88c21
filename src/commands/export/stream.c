#include <stdlib.h>

#include "commands/export/options.h"
#include "decode/snapshot.h"
#include "model/device.h"
#include "model/loader.h"

#define PROGRESS_EVENTS 16384

/* The trace of one device, as read so far. */
struct stream_trace {
    struct window_gate gate;
    bool announced;
};

struct stream {
    const struct export_job *job;
    struct export_sheet sheet;
    struct budget *budget;
    const struct source *source;
    struct stream_trace *traces; /* by the slot_of() of their devices */
    size_t trace_count, capacity;
    uint64_t events;  /* number of events of all devices */
    uint64_t kept;    /* number of events in the range */
    bool device_seen; /* the trace of the requested device was found */
};

static bool is_wanted(const struct stream *stream, uint32_t device)
{
    int64_t wanted = stream->job->options->capture.device;
    return wanted == ALL_DEVICES || wanted == device;
}

/* Index in stream->traces: the host is the first. */
static size_t slot_of(uint32_t device)
{
    return device == DEVICE_HOST ? 0 : (size_t)device + 1;
}

static bool cover(struct stream *stream, uint32_t device, struct error *err)
{
    size_t slot = slot_of(device);
    if (slot < stream->trace_count)
        return true;
    if (slot > LOADER_MAX_DEVICES)
        return error_set(err, STATUS_LIMIT, "%s: more than %d devices", DEVICE_WORDS(device),
                         LOADER_MAX_DEVICES);
    if (!vec_reserve(stream->traces, stream->capacity, slot + 1, stream->budget, err))
        return false;
    for (; stream->trace_count <= slot; stream->trace_count++) {
        struct stream_trace *trace = &stream->traces[stream->trace_count];
        trace->announced = false;
        window_gate_init(&trace->gate, &stream->job->options->capture.window);
    }
    return true;
}

static bool take_trace(void *self, uint32_t device, struct error *err)
{
    struct stream *stream = self;
    if (!cover(stream, device, err))
        return false;
    struct stream_trace *trace = &stream->traces[slot_of(device)];
    if (trace->announced)
        return error_set(err, STATUS_BAD_INPUT, "%s has two traces", DEVICE_WORDS(device));
    trace->announced = true;
    return true;
}

static void report_progress(const struct stream *stream)
{
    const struct load_progress *progress = stream->job->progress;
    progress->update(progress->self, source_bytes_read(stream->source),
                     source_total_bytes(stream->source));
}

static bool take_event(void *self, uint32_t device, const struct event_row *row, struct error *err)
{
    struct stream *stream = self;
    if (!cover(stream, device, err))
        return false;
    struct window_gate *gate = &stream->traces[slot_of(device)].gate;
    uint64_t event = gate->events;
    bool inside = window_gate_pass(gate, row->time_us) == WINDOW_INSIDE;
    if (++stream->events % PROGRESS_EVENTS == 0)
        report_progress(stream);
    stream->kept += inside;
    if (!is_wanted(stream, device))
        return true;
    stream->device_seen = true;
    return !inside || stream->job->options->table != EXPORT_EVENTS ||
           export_event(&stream->sheet, device, event, event, row, err);
}

static bool take_event_again(void *self, uint32_t device, uint64_t sequence, struct error *err)
{
    const struct stream *stream = self;
    (void)device, (void)sequence;
    return stream->job->options->table != EXPORT_EVENTS ||
           error_set(
               err, STATUS_LIMIT,
               "the file repeats an event by reference, which --table events does not support; "
               "convert it first with memsnap export --as snapshot");
}

static bool take_segment(void *self, const struct segment_row *row, struct error *err)
{
    struct stream *stream = self;
    (void)err;
    stream->device_seen = stream->device_seen || is_wanted(stream, row->device);
    return true;
}

static bool take_annotation(void *self, const struct annotation_row *row, struct error *err)
{
    struct stream *stream = self;
    if (!is_wanted(stream, row->device))
        return true;
    stream->device_seen = true;
    return stream->job->options->table != EXPORT_ANNOTATIONS ||
           export_annotation(&stream->sheet, row, err);
}

static bool take_setting(void *self, const struct setting_row *row, struct error *err)
{
    (void)self, (void)row, (void)err;
    return true;
}

static bool take_unknown_key(void *self, const char *where, string_id key, struct error *err)
{
    (void)self, (void)where, (void)key, (void)err;
    return true;
}

static bool check(const struct stream *stream, struct error *err)
{
    const struct export_options *options = stream->job->options;
    if (options->capture.device != ALL_DEVICES && !stream->device_seen)
        return error_set(err, STATUS_USAGE, "the file has no %s",
                         DEVICE_WORDS((uint32_t)options->capture.device));
    if (stream->kept > 0 || stream->events == 0 || !options->range_given)
        return true;
    size_t longest = 0;
    for (size_t i = 1; i < stream->trace_count; i++)
        if (stream->traces[i].gate.events > stream->traces[longest].gate.events)
            longest = i;
    const struct window_gate *gate = &stream->traces[longest].gate;
    const struct event_span span = {longest == 0 ? DEVICE_HOST : (uint32_t)longest - 1,
                                    gate->events, gate->first_time_us, gate->last_time_us};
    return window_missed(&options->capture.window, &span, err);
}

static bool decode(struct stream *stream, struct source *source, struct symbols *symbols,
                   struct error *err)
{
    const struct row_sink sink = {.self = stream,
                                  .event = take_event,
                                  .event_again = take_event_again,
                                  .trace = take_trace,
                                  .segment = take_segment,
                                  .annotation = take_annotation,
                                  .setting = take_setting,
                                  .unknown_key = take_unknown_key};
    struct decoded decoded;
    return decode_snapshot(source, symbols, &sink, &decoded, err) && check(stream, err) &&
           (stream->job->options->table != EXPORT_STACKS || export_stacks(&stream->sheet, err));
}

static bool stream_input(const struct export_job *job, struct input *input, struct symbols *symbols,
                         struct error *err)
{
    const struct export_options *options = job->options;
    struct stream stream = {.job = job, .budget = input->budget, .source = &input->source};
    struct site_table *sites = site_table_create(symbols, err);
    if (!sites)
        return false;
    bool ok = export_begin(&stream.sheet, job->out, options->format, options->table, sites,
                           input->budget, err);
    if (ok) {
        ok = decode(&stream, &input->source, symbols, err) && export_end(&stream.sheet, err);
        export_release(&stream.sheet);
    }
    vec_free(stream.traces, stream.capacity, sizeof(*stream.traces), stream.budget);
    site_table_destroy(sites);
    return ok;
}

bool export_stream(const struct export_job *job, int fd, struct error *err)
{
    struct input input;
    if (!input_from_fd(&input, fd, job->options->capture.max_memory, err))
        return false;
    struct symbols *symbols = symbols_create(input.budget, err);
    bool ok = symbols && stream_input(job, &input, symbols, err);
    symbols_destroy(symbols);
    input_discard(&input);
    return ok;
}
