#include "render/export/database_rows.h"

#include "model/device.h"

struct device_line {
    int64_t device; /* device_number() */
    uint64_t events;
    struct curve active, allocated;
    struct reserved_curve reserved;
    int64_t active_peak_position, active_peak_time_us, unexplained_bytes;
    bool knows_reserved;
};

#define ROW struct device_line
const struct row_type export_device_type = ROW_TYPE(
    "devices", ROW, FIELD(ROW, NUMBER, device), FIELD(ROW, COUNT, events),
    FIELD_AS(ROW, BYTES, "active_baseline_bytes", active.baseline_bytes),
    FIELD_AS(ROW, BYTES, "active_peak_bytes", active.peak_bytes),
    FIELD(ROW, NUMBER, active_peak_position),
    FIELD_AS(ROW, EVENT, "active_peak_event", active.peak_event),
    FIELD(ROW, TIME, active_peak_time_us),
    FIELD_AS(ROW, BYTES, "active_end_bytes", active.end_bytes),
    FIELD_AS(ROW, BYTES, "allocated_baseline_bytes", allocated.baseline_bytes),
    FIELD_AS(ROW, BYTES, "allocated_peak_bytes", allocated.peak_bytes),
    FIELD_AS(ROW, EVENT, "allocated_peak_event", allocated.peak_event),
    FIELD_AS(ROW, BYTES, "allocated_end_bytes", allocated.end_bytes),
    FIELD_AS(ROW, BYTES, "reserved_start_bytes", reserved.start_bytes, IF(ROW, knows_reserved)),
    FIELD_AS(ROW, BYTES, "reserved_peak_bytes", reserved.peak_bytes, IF(ROW, knows_reserved)),
    FIELD_AS(ROW, EVENT, "reserved_peak_event", reserved.peak_event, IF(ROW, knows_reserved)),
    FIELD_AS(ROW, BYTES, "reserved_end_bytes", reserved.end_bytes, IF(ROW, knows_reserved)),
    FIELD_AS(ROW, BYTES, "reserved_at_active_peak_bytes", reserved.at_active_peak_bytes,
             IF(ROW, knows_reserved)),
    FIELD(ROW, BYTES, unexplained_bytes));
#undef ROW

/* Bytes of the active peak that no allocation explains, as in a report. */
static bool unexplained(const struct timeline *timeline, int64_t *bytes, struct error *err)
{
    struct live_list live;
    if (!timeline_live(timeline, timeline->active.peak_event, &live, err))
        return false;
    *bytes =
        live.unexplained_bytes + timeline->literal.active.peak_bytes - timeline->active.peak_bytes;
    live_list_release(&live);
    return true;
}

bool export_device_row(struct export_sheet *sheet, const struct export_device *device,
                       struct error *err)
{
    const struct timeline *timeline = device->timeline;
    const struct trace *trace = timeline->trace;
    int64_t peak = timeline->literal.active.peak_event;
    struct device_line line = {
        .device = device_number(timeline->device),
        .events = trace->count,
        .active = timeline->literal.active,
        .allocated = timeline->literal.allocated,
        .reserved = timeline->reserved,
        .active_peak_position = timeline->active.peak_event,
        .active_peak_time_us = peak < 0 ? TIME_NONE : trace_time(trace, (size_t)peak),
        .knows_reserved = timeline_knows_reserved(timeline),
    };
    line.reserved.at_active_peak_bytes = timeline->literal.reserved_at_active_peak_bytes;
    if (!unexplained(timeline, &line.unexplained_bytes, err))
        return false;
    sheet->context.trace = trace;
    return export_row(sheet, &line, err);
}

struct category_line {
    int64_t device; /* device_number() */
    enum category category;
    int64_t peak_bytes;
    uint64_t peak_count;
};

#define ROW struct category_line
const struct row_type export_category_type =
    ROW_TYPE("categories", ROW, FIELD(ROW, NUMBER, device), FIELD(ROW, CATEGORY, category),
             FIELD(ROW, BYTES, peak_bytes), FIELD(ROW, COUNT, peak_count));
#undef ROW

/* What is live at the active peak, by category. */
bool export_category_rows(struct export_sheet *sheet, const struct export_device *device,
                          struct error *err)
{
    const struct timeline *timeline = device->timeline;
    struct live_set set = {
        .timeline = timeline, .sites = sheet->sites, .categories = device->categories};
    struct category_line lines[CATEGORY_LIMIT] = {0}; /* CATEGORY_COUNT: the unexplained */
    struct live_list live;
    if (!timeline_live(timeline, timeline->active.peak_event, &live, err))
        return false;
    live_set_take(&set, &live);
    for (size_t i = 0; i < live.count; i++) {
        struct category_line *line = &lines[live_category(&set, &live.items[i])];
        line->peak_bytes += (int64_t)live.items[i].size;
        line->peak_count++;
    }
    live_list_release(&live);
    bool ok = unexplained(timeline, &lines[CATEGORY_COUNT].peak_bytes, err);
    for (unsigned i = 0; ok && i < CATEGORY_LIMIT; i++) {
        lines[i].device = device_number(timeline->device);
        lines[i].category = (enum category)i;
        if (lines[i].peak_count > 0 || lines[i].peak_bytes != 0)
            ok = export_row(sheet, &lines[i], err);
    }
    return ok;
}

struct step_line {
    int64_t device; /* device_number() */
    struct step step;
};

#define ROW struct step_line
const struct row_type export_step_type = ROW_TYPE(
    "steps", ROW, FIELD(ROW, NUMBER, device), FIELD_AS(ROW, NUMBER, "step", step.number),
    FIELD_AS(ROW, EVENT, "first_event", step.first), FIELD_AS(ROW, EVENT, "last_event", step.last),
    FIELD_AS(ROW, NUMBER, "last_position", step.last),
    FIELD_AS(ROW, FLAG, "is_complete", step.complete),
    FIELD_AS(ROW, BYTES, "peak_bytes", step.peak_bytes),
    FIELD_AS(ROW, EVENT, "peak_event", step.peak_item),
    FIELD_AS(ROW, BYTES, "end_bytes", step.end_bytes));
#undef ROW

bool export_step_rows(struct export_sheet *sheet, const struct export_device *device,
                      struct error *err)
{
    sheet->context.trace = device->timeline->trace;
    for (size_t i = 0; i < device->steps->count; i++) {
        const struct step_line line = {device_number(device->timeline->device),
                                       device->steps->items[i]};
        if (!export_row(sheet, &line, err))
            return false;
    }
    return true;
}

struct phase_line {
    int64_t device; /* device_number() */
    unsigned phase;
    uint32_t first, last; /* items */
};

static const char *name_of_phase(unsigned phase)
{
    return phase_name((enum phase)phase);
}

#define ROW struct phase_line
const struct row_type export_phase_type = ROW_TYPE(
    "phases", ROW, FIELD(ROW, NUMBER, device), FIELD(ROW, NAME, phase, .name = name_of_phase),
    FIELD_AS(ROW, EVENT, "first_event", first), FIELD_AS(ROW, EVENT, "last_event", last));
#undef ROW

bool export_phase_rows(struct export_sheet *sheet, const struct export_device *device,
                       struct error *err)
{
    const struct phases *phases = device->phases;
    const struct trace *trace = device->timeline->trace;
    sheet->context.trace = trace;
    for (size_t i = 0; i < phases->count; i++) {
        const struct phase_line line = {
            .device = device_number(device->timeline->device),
            .phase = phases->runs[i].phase,
            .first = phases->runs[i].first,
            .last = phases_run_end(phases, i, trace->count) - 1,
        };
        if (!export_row(sheet, &line, err))
            return false;
    }
    return true;
}

bool export_event_rows(struct export_sheet *sheet, const struct export_device *device,
                       struct error *err)
{
    const struct trace *trace = device->timeline->trace;
    const struct snapshot *snapshot = device->timeline->snapshot;
    for (size_t i = 0; i < trace->count; i++) {
        uint8_t action = trace->action[i];
        const struct event_row row = {
            .action = action < ACTION_OTHER ? (enum action)action : ACTION_OTHER,
            .action_name = snapshot->action_names[action],
            .addr = trace_addr(trace, i),
            .size = trace_size(trace, i),
            .time_us = trace_time(trace, i),
            .stack = trace->stack[i],
            .extra = snapshot->extras[trace_extra(trace, i)],
        };
        if (!export_event(sheet, trace->device, i, (uint64_t)trace_file_event(trace, (int64_t)i),
                          &row, err))
            return false;
    }
    return true;
}

#define ROW struct setting_row
const struct row_type export_setting_type =
    ROW_TYPE("settings", ROW, FIELD(ROW, STRING, key), FIELD(ROW, STRING, value));
#undef ROW
