#include <inttypes.h>

#include "base/bisect.h"
#include "model/device.h"
#include "model/loader_state.h"
#include "model/recording.h"

#define PROGRESS_EVENTS 16384 /* a power of two: about 3 MB of a typical snapshot */

void loader_report_progress(struct loader *loader)
{
    if (loader->progress && loader->source)
        loader->progress->update(loader->progress->self, source_bytes_read(loader->source),
                                 source_total_bytes(loader->source));
}

static bool add_cutter(struct loader *loader, struct columns *columns, struct error *err)
{
    if (loader->window && !columns->cutter)
        columns->cutter =
            cutter_create(loader->window, loader->snapshot->symbols, loader->budget, err);
    return !loader->window || columns->cutter;
}

/* Extends snapshot->traces to include `device`. */
static bool add_devices(struct loader *loader, uint32_t device, struct error *err)
{
    struct snapshot *snapshot = loader->snapshot;
    if (device >= LOADER_MAX_DEVICES)
        return error_set(err, STATUS_LIMIT, "a trace of device %u: at most %d devices are read",
                         device, LOADER_MAX_DEVICES);
    size_t need = (size_t)device + 1;
    if (!vec_reserve(snapshot->traces, loader->traces_capacity, need, loader->budget, err) ||
        !vec_reserve(loader->columns, loader->columns_capacity, need, loader->budget, err))
        return false;
    for (size_t i = snapshot->trace_count; i < need; i++) {
        snapshot->traces[i] = TRACE_OF_DEVICE((uint32_t)i);
        loader->columns[i] = (struct columns){.last_extra = UINT32_MAX};
        snapshot->trace_count++;
        if (!add_cutter(loader, &loader->columns[i], err))
            return false;
    }
    return true;
}

/* Makes the trace of a device if there is none yet. */
static bool cover(struct loader *loader, uint32_t device, struct error *err)
{
    if (device == DEVICE_HOST)
        return add_cutter(loader, &loader->host, err);
    return device < loader->snapshot->trace_count || add_devices(loader, device, err);
}

bool loader_trace(void *self, uint32_t device, struct error *err)
{
    struct loader *loader = self;
    if (!cover(loader, device, err))
        return false;
    struct columns *columns = loader_columns_of(loader, device);
    if (columns->announced)
        return error_set(err, STATUS_BAD_INPUT, "%s has two traces", DEVICE_WORDS(device));
    columns->announced = true;
    return true;
}

/* Counts the events of the run that ends here. */
static void end_run(struct loader *loader)
{
    if (loader->run_device == NO_DEVICE)
        return;
    const struct run *run = &loader->runs[loader->run_count - 1];
    loader_columns_of(loader, run->device)->events += loader->sequence - run->sequence;
    loader->run_device = NO_DEVICE;
}

/* Kept out of loader_event because it is rare: the device changed. */
static bool begin_run(struct loader *loader, uint32_t device, struct error *err)
{
    end_run(loader);
    if (!cover(loader, device, err))
        return false;
    if (!vec_push(loader->runs, loader->run_count, loader->runs_capacity, loader->budget, err,
                  (struct run){.sequence = loader->sequence,
                               .event = loader_columns_of(loader, device)->events,
                               .device = device}))
        return false;
    loader->run_device = device;
    return true;
}

/* The code of an action whose name is not a known one. */
static bool name_action(struct snapshot *snapshot, string_id name, uint8_t *code, struct error *err)
{
    for (size_t i = ACTION_OTHER; i < snapshot->action_code_count; i++) {
        if (snapshot->action_names[i] == name) {
            *code = (uint8_t)i;
            return true;
        }
    }
    if (snapshot->action_code_count >= ACTION_CODES)
        return error_set(err, STATUS_LIMIT, "more than %d kinds of events are unknown",
                         ACTION_CODES - ACTION_OTHER);
    *code = (uint8_t)snapshot->action_code_count;
    snapshot->action_names[snapshot->action_code_count++] = name;
    return true;
}

static __attribute__((noinline)) bool any_event(struct loader *loader, uint32_t device,
                                                const struct event_row *row, struct error *err)
{
    if (device != loader->run_device && !begin_run(loader, device, err))
        return false;
    struct extras *extras = &loader->extras;
    if ((extras->count == 0 || !extra_equal(&extras->items[extras->last], &row->extra)) &&
        !extras_intern(extras, &row->extra, err))
        return false;
    uint8_t action = (uint8_t)row->action;
    if (row->action >= ACTION_OTHER &&
        !name_action(loader->snapshot, row->action_name, &action, err))
        return false;
    if (++loader->sequence % PROGRESS_EVENTS == 0)
        loader_report_progress(loader);

    struct cutter *cutter = loader_columns_of(loader, device)->cutter;
    bool keep;
    if (!cutter)
        return loader_append(loader, device, row, action, err);
    loader_columns_of(loader, device)->seen |= ACTION_BIT(row->action);
    return cutter_event(cutter, row, extras->last, &keep, err) &&
           (!keep || loader_append(loader, device, row, action, err));
}

/* The common path: nearly all events need nothing that any_event() handles. */
bool loader_event(void *self, uint32_t device, const struct event_row *row, struct error *err)
{
    struct loader *loader = self;
    if (device != loader->run_device || row->action >= ACTION_OTHER)
        return any_event(loader, device, row, err);
    struct trace *t = loader_trace_of(loader, device);
    const struct columns *c = loader_columns_of(loader, device);
    uint64_t addr = column_address_low(row->addr, c->addr_base);
    uint64_t time = (uint64_t)row->time_us - c->time_base;
    size_t i = t->count;
    if (i >= c->room || c->cutter || addr >= COLUMN_WIDE || row->size >= COLUMN_WIDE ||
        time >= COLUMN_WIDE || (loader->sequence + 1) % PROGRESS_EVENTS == 0 ||
        c->last_extra != loader->extras.last ||
        !extra_equal(&loader->extras.items[c->last_extra], &row->extra))
        return any_event(loader, device, row, err);
    loader->sequence++;
    t->addr.low[i] = (uint32_t)addr;
    t->size.low[i] = (uint32_t)row->size;
    t->time.low[i] = (uint32_t)time;
    t->stack[i] = row->stack;
    t->action[i] = (uint8_t)row->action;
    t->count = i + 1;
    return true;
}

/* The run that contains the event of a sequence number: the last one that begins at or before it.
 */
static const struct run *find_run(const struct loader *loader, uint64_t sequence)
{
    if (sequence >= loader->sequence)
        return NULL;
    const struct run *runs = loader->runs;
    size_t begun = bisect_less_64(&runs->sequence, sizeof(*runs), loader->run_count, sequence + 1);
    return &runs[begun - (begun > 0)];
}

stack_id loader_stack(void *self, uint64_t sequence)
{
    struct loader *loader = self;
    const struct run *run = find_run(loader, sequence);
    if (!run)
        return STACK_NONE;
    return loader_trace_of(loader, run->device)->stack[run->event + (sequence - run->sequence)];
}

bool loader_event_again(void *self, uint32_t device, uint64_t sequence, struct error *err)
{
    struct loader *loader = self;
    const struct run *run = find_run(loader, sequence);
    if (!run)
        return error_set(err, STATUS_IO, "event %" PRIu64 " is repeated before it was read",
                         sequence);
    const struct trace *t = loader_trace_of(loader, run->device);
    const struct columns *c = loader_columns_of(loader, run->device);
    uint64_t event = run->event + (sequence - run->sequence);
    /* With a cutter the kept items are the latest events, or only left-out events follow them. */
    uint64_t first = c->cutter ? cutter_first_kept(c->cutter) : 0;
    if (event < first || event - first >= t->count)
        return error_set(err, STATUS_LIMIT,
                         "the file repeats an event from outside the range by reference: "
                         "load all of it instead");
    size_t i = (size_t)(event - first);
    uint8_t action = t->action[i];
    struct event_row row = {.action = action < ACTION_OTHER ? (enum action)action : ACTION_OTHER,
                            .action_name = loader->snapshot->action_names[action],
                            .addr = trace_addr(t, i),
                            .size = trace_size(t, i),
                            .time_us = trace_time(t, i),
                            .stack = t->stack[i],
                            .extra = loader->extras.items[trace_extra(t, i)]};
    return loader_event(loader, device, &row, err);
}

/* An empty window is an error if any device has events. */
static bool check_range(const struct loader *loader, struct error *err)
{
    const struct snapshot *snapshot = loader->snapshot;
    const struct trace *longest = &snapshot->host;
    if (snapshot->host.count)
        return true;
    for (size_t i = 0; i < snapshot->trace_count; i++) {
        const struct trace *t = &snapshot->traces[i];
        if (t->count)
            return true;
        if (t->file_events > (longest == &snapshot->host ? 0 : longest->file_events))
            longest = t;
    }
    const struct event_span span = {longest->device, longest->file_events,
                                    longest->edge.first_time_us, longest->edge.last_time_us};
    return span.count == 0 || window_missed(loader->window, &span, err);
}

/* The kinds of allocs and frees in a trace that is whole. */
static uint32_t seen_in(const struct trace *trace)
{
    const uint32_t all = ACTION_BIT(ACTION_ALLOC) | ACTION_BIT(ACTION_FREE_REQUESTED) |
                         ACTION_BIT(ACTION_FREE_COMPLETED);
    uint32_t seen = 0;
    for (size_t i = 0; i < trace->count && seen != all; i++)
        if (trace->action[i] <= ACTION_FREE_COMPLETED)
            seen |= ACTION_BIT(trace->action[i]);
    return seen;
}

static bool finish_events(struct loader *loader, struct columns *columns, struct trace *trace,
                          struct error *err)
{
    if (!columns->cutter && !loader_order(loader, trace->device, err))
        return false;
    trace->file_events = columns->events;
    if (columns->cutter && !cutter_finish(columns->cutter, trace, err))
        return false;
    if (loader->snapshot->profile.is_profile) {
        recording_set(trace, ACTION_BIT(ACTION_FREE_REQUESTED));
        return true;
    }
    uint32_t seen = columns->cutter ? columns->seen : seen_in(trace);
    return recording_find(trace, loader->snapshot, seen, err);
}

static bool finish_trace(struct loader *loader, struct columns *columns, struct trace *trace,
                         struct error *err)
{
    struct ahead *ahead = columns->ahead;
    columns->ahead = NULL;
    if (ahead)
        ahead_end(ahead, trace);
    bool ok = finish_events(loader, columns, trace, err);
    trace->ahead = ahead;
    if (ahead)
        ahead_judge(ahead, trace,
                    snapshot_action(loader->snapshot, ACTION_TEXT_ANNOTATE) != ACTION_NEVER);
    return ok;
}

bool loader_finish_traces(struct loader *loader, struct error *err)
{
    struct snapshot *snapshot = loader->snapshot;
    end_run(loader);
    for (size_t i = 0; i < snapshot->trace_count; i++)
        if (!finish_trace(loader, &loader->columns[i], &snapshot->traces[i], err))
            return false;
    return finish_trace(loader, &loader->host, &snapshot->host, err) &&
           (!loader->window || check_range(loader, err));
}
