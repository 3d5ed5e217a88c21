#include "analysis/ranks/summarize.h"

#include <string.h>

#include "analysis/curves/sampling.h"
#include "analysis/report/report.h"
#include "base/utf8.h"
#include "model/device.h"

#define STACK_FRAMES 12 /* of a call site */

struct maker {
    struct summary *summary;
    struct summary_device *device;
    const struct device_report *report;
    struct site_table *sites;
    struct buffer text;
    struct error *err;
};

/* Keeps what is in `text`: as valid UTF-8, with U+FFFD for other bytes, and not too long. */
static bool keep(struct maker *maker, struct text from, const char **to)
{
    struct buffer kept = BUFFER_INIT;
    size_t left = from.size;
    for (const char *at = from.bytes; left > 0 && kept.size < SUMMARY_TEXT_MOST - 8;) {
        uint32_t code;
        size_t size = utf8_decode(at, left, UTF8_REFUSE_SURROGATES, &code);
        if (size > 0 && code != 0)
            buffer_add(&kept, at, size);
        else
            buffer_puts(&kept, "\xef\xbf\xbd");
        at += size ? size : 1;
        left -= size ? size : 1;
    }
    if (left > 0)
        buffer_puts(&kept, "...");
    *to = kept.failed ? NULL : summary_text(maker->summary, kept.bytes, kept.size, maker->err);
    bool ok = !kept.failed || error_out_of_memory(maker->err);
    buffer_release(&kept);
    return ok && *to;
}

static bool keep_words(struct maker *maker, const char *words, const char **to)
{
    return keep(maker, (struct text){words, strlen(words)}, to);
}

static bool keep_symbol(struct maker *maker, string_id id, const char **to)
{
    return keep(maker, symbols_text(site_table_symbols(maker->sites), id), to);
}

/* "train.py:12 step", a line per Python frame. */
static bool keep_stack(struct maker *maker, stack_id id, const char **to)
{
    const struct symbols *symbols = site_table_symbols(maker->sites);
    struct stack stack = symbols_stack_at(symbols, id);
    size_t kept = 0;
    buffer_clear(&maker->text);
    for (size_t i = 0; i < stack.count && kept < STACK_FRAMES; i++) {
        if (site_frame_kind(maker->sites, stack.frames[i]) == FRAME_NATIVE)
            continue;
        struct frame frame = symbols_frame_at(symbols, stack.frames[i]);
        struct text file = symbols_text(symbols, frame.file);
        if (kept++ > 0)
            buffer_putc(&maker->text, '\n');
        label_add_file(&maker->text, file, file.size);
        buffer_printf(&maker->text, ":%u ", frame.line);
        label_add_name(&maker->text, symbols_text(symbols, frame.name));
    }
    if (maker->text.failed)
        return error_out_of_memory(maker->err);
    return keep(maker, (struct text){maker->text.bytes, maker->text.size}, to);
}

static bool take_site(struct maker *maker, const struct site_row *row)
{
    struct summary_site *site = &maker->device->sites[maker->device->site_count++];
    *site = (struct summary_site){.op = "",
                                  .category = "",
                                  .stack = "",
                                  .bytes = row->group.bytes,
                                  .count = row->group.count};
    if (!keep_words(maker, row->label.full, &site->site))
        return false;
    return row->is_remainder ||
           (keep_words(maker, category_name(row->group.category), &site->category) &&
            keep_symbol(maker, row->group.source.site.op, &site->op) &&
            keep_stack(maker, row->group.source.shown, &site->stack));
}

static bool take_sites(struct maker *maker)
{
    const struct device_report *report = maker->report;
    struct summary_device *device = maker->device;
    device->sites =
        summary_items(maker->summary, report->site_count, sizeof(*device->sites), maker->err);
    for (size_t i = 0; device->sites && i < report->site_count; i++)
        if (!take_site(maker, &report->sites[i]))
            return false;
    return device->sites != NULL;
}

static bool take_categories(struct maker *maker)
{
    const struct device_report *report = maker->report;
    struct summary_device *device = maker->device;
    device->categories = summary_items(maker->summary, report->category_count,
                                       sizeof(*device->categories), maker->err);
    for (size_t i = 0; device->categories && i < report->category_count; i++) {
        const struct category_row *row = &report->categories[i];
        struct summary_category *category = &device->categories[device->category_count++];
        *category = (struct summary_category){.bytes = row->bytes, .count = row->count};
        if (!keep_words(maker, category_name(row->category), &category->name))
            return false;
    }
    return device->categories != NULL;
}

static bool take_findings(struct maker *maker)
{
    const struct findings *findings = &maker->report->findings;
    struct summary_device *device = maker->device;
    device->findings =
        summary_items(maker->summary, findings->count, sizeof(*device->findings), maker->err);
    for (size_t i = 0; device->findings && i < findings->count; i++) {
        const struct finding *from = &findings->items[i];
        struct summary_finding *finding = &device->findings[device->finding_count++];
        finding->save_bytes = from->save_bytes;
        if (!keep_words(maker, finding_kind_name(from->kind), &finding->kind) ||
            !keep_words(maker, from->what, &finding->what) ||
            !keep_words(maker, from->next, &finding->next))
            return false;
    }
    return device->findings != NULL;
}

/* Microseconds from the first event to an item; SUMMARY_UNKNOWN if there are no times. */
static int64_t time_until(const struct trace *trace, int64_t item)
{
    int64_t until;
    if (item < 0 || trace->count == 0 || trace_time(trace, 0) == TIME_NONE ||
        trace_time(trace, (size_t)item) == TIME_NONE ||
        __builtin_sub_overflow(trace_time(trace, (size_t)item), trace_time(trace, 0), &until) ||
        until < 0)
        return SUMMARY_UNKNOWN;
    return until;
}

static bool take_steps(struct maker *maker)
{
    const struct steps *steps = &maker->report->steps;
    const struct trace *trace = maker->report->timeline->trace;
    struct summary_device *device = maker->device;
    size_t half = SUMMARY_STEPS / 2;
    size_t left_out = steps->count > SUMMARY_STEPS ? steps->count - SUMMARY_STEPS : 0;
    device->step_list = summary_items(maker->summary, steps->count - left_out,
                                      sizeof(*device->step_list), maker->err);
    for (size_t i = 0; device->step_list && i < steps->count - left_out; i++) {
        const struct step *step = &steps->items[i < half ? i : i + left_out];
        device->step_list[device->step_list_count++] =
            (struct summary_step){.number = step->number,
                                  .event = trace_file_event(trace, step->first),
                                  .us = time_until(trace, step->first),
                                  .peak_bytes = step->peak_bytes,
                                  .end_bytes = step->end_bytes,
                                  .complete = step->complete};
    }
    return device->step_list != NULL;
}

/* By time, so that ranks line up, if the events have times that can be relied on. */
static bool take_curve(struct maker *maker)
{
    const struct timeline *timeline = maker->report->timeline;
    struct summary_curve *curve = &maker->device->curve;
    struct sampling sampling;
    curve->by_time = maker->device->duration_us > 0 && !timeline->trace->goes_back;
    if (!sampling_make(&sampling, timeline, curve->by_time ? AXIS_TIME : AXIS_EVENT,
                       SUMMARY_COLUMNS, maker->err))
        return false;
    bool ok = summary_curve_make(maker->summary, maker->device, sampling.count, maker->err);
    for (size_t i = 0; ok && i < sampling.count; i++) {
        curve->high[i] = sampling.active[i];
        curve->low[i] = sampling.lowest[i];
        curve->reserved[i] = sampling.reserved[i];
    }
    sampling_release(&sampling);
    return ok;
}

static const char *phase_at(const struct phases *phases, int64_t item)
{
    uint32_t run = item < 0 ? NO_RUN : phases_run_of(phases, (uint32_t)item);
    return run == NO_RUN ? "" : phase_name((enum phase)phases->runs[run].phase);
}

static void take_figures(struct maker *maker)
{
    const struct device_report *report = maker->report;
    const struct timeline *timeline = report->timeline;
    const struct trace *trace = timeline->trace;
    const struct cut_up *then = fragmentation_then(&report->fragmentation, timeline, &report->at);
    struct summary_device *device = maker->device;
    *device = (struct summary_device){
        .device = device_number(timeline->device),
        .knows_peak = timeline_knows_peak(timeline),
        .events = trace->file_events,
        .steps = report->steps.count,
        .ooms = report->ooms.total,
        .start_bytes = timeline->active.baseline_bytes,
        .peak_bytes = timeline->active.peak_bytes,
        .end_bytes = timeline->active.end_bytes,
        .allocated_peak_bytes = timeline->allocated.peak_bytes,
        .reserved_peak_bytes = timeline->reserved.peak_bytes,
        .reserved_at_peak_bytes = timeline->reserved.at_active_peak_bytes,
        .unused_bytes = SUMMARY_UNKNOWN,
        .growth_bytes = growth_leaking_bytes(&report->growth),
        .peak_event = trace_file_event(trace, timeline->active.peak_event),
        .peak_us = time_until(trace, timeline->active.peak_event),
        .duration_us = time_until(trace, (int64_t)trace->count - 1),
    };
    if (then)
        device->unused_bytes =
            (int64_t)(then->pools.total.inactive_split_bytes + then->pools.total.releasable_bytes);
}

static bool take_device(struct maker *maker)
{
    const struct ooms *ooms = &maker->report->ooms;
    const char *verdict =
        ooms->count > 0 ? oom_verdict_name(ooms->items[ooms->count - 1].verdict) : "";
    take_figures(maker);
    return keep_words(maker,
                      phase_at(&maker->report->phases, maker->report->timeline->active.peak_event),
                      &maker->device->phase) &&
           keep_words(maker, steps_source_name(maker->report->steps.source),
                      &maker->device->steps_from) &&
           keep_words(maker, verdict, &maker->device->oom) && take_categories(maker) &&
           take_sites(maker) && take_findings(maker) && take_steps(maker) && take_curve(maker);
}

static bool has_memory(const struct timeline *timeline)
{
    return timeline->trace->file_events > 0 || timeline->active.peak_bytes != 0 ||
           timeline->reserved.peak_bytes != 0;
}

static bool add_device(struct maker *maker, const struct timeline *timeline)
{
    const struct report_options options = {.top = SUMMARY_SITES};
    struct device_report *report =
        device_report_build(timeline, maker->sites, &options, maker->err);
    if (!report)
        return false;
    maker->report = report;
    maker->device = &maker->summary->devices[maker->summary->device_count++];
    bool ok = take_device(maker);
    device_report_destroy(report);
    return ok;
}

bool summarize(struct summary *summary, struct timeline *const *timelines, size_t count,
               struct site_table *sites, struct error *err)
{
    struct maker maker = {.summary = summary, .sites = sites, .text = BUFFER_INIT, .err = err};
    summary->devices = summary_items(summary, count, sizeof(*summary->devices), err);
    bool ok = summary->devices != NULL;
    for (size_t i = 0; ok && i < count; i++)
        if (has_memory(timelines[i]))
            ok = add_device(&maker, timelines[i]);
    buffer_release(&maker.text);
    if (ok && count > 0 && timelines[0]->snapshot->profile.is_profile)
        summary->rank = timelines[0]->snapshot->profile.rank;
    return ok;
}
