#include "render/analyze/internal.h"

#include <stdarg.h>
#include <string.h>

#include "model/device.h"
#include "model/recording.h"
#include "render/analyze/memory.h"
#include "render/core/escape.h"
#include "render/core/fit.h"
#include "render/core/moments.h"
#include "render/core/table.h"

#define ANNOTATIONS_TOLD   3 /* the innermost ones */
#define ANNOTATION_COLUMNS 60

bool device_has_history(const struct device_report *report)
{
    const struct trace *trace = report->timeline->trace;
    return trace->count > 0 && trace_has_lifetimes(trace);
}

static void title(const struct page *page, const char *text)
{
    fputs(page_style(page, STYLE_TITLE), page->out);
    page_paragraph(page, 0, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
}

static void headline(const struct page *page, const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    bool has_peak = timeline_knows_peak(timeline);
    /* With frees but no allocations recorded, most was in use at the start: the tables show that.
     */
    bool is_start = !has_peak && device_has_history(report) &&
                    timeline->active.peak_bytes > timeline->active.end_bytes;
    bool is_most = has_peak || is_start;
    int64_t used = is_most ? timeline->active.peak_bytes : timeline->active.end_bytes;
    int64_t reserved =
        is_most ? timeline->reserved.at_active_peak_bytes : (int64_t)timeline->state.reserved_bytes;
    char used_text[UNITS_TEXT_SIZE], reserved_text[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    char text[4 * UNITS_TEXT_SIZE];
    page_bytes(page, used_text, used);
    page_bytes(page, reserved_text, reserved);
    page_share(share, used, reserved);
    if (!timeline_knows_reserved(timeline) || (has_peak && reserved < 0))
        snprintf(text, sizeof(text), "%s: peak %s", DEVICE_TITLE(timeline->device), used_text);
    else
        snprintf(text, sizeof(text),
                 recording_lacks_segments(timeline)
                     ? "%s: peak %s, %s of the %s reserved at the end"
                 : has_peak ? "%s: peak %s, %s of the %s reserved then"
                 : is_start ? "%s: %s in use before the first event, %s of the %s reserved then"
                            : "%s: %s in use when the snapshot was taken, %s of the %s reserved",
                 DEVICE_TITLE(timeline->device), used_text, share, reserved_text);
    title(page, text);
}

void device_unused(const struct page *page, const struct device_report *report)
{
    char text[2 * UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text), "%s: not used", DEVICE_TITLE(report->timeline->device));
    title(page, text);
}

#define LITTLE_HOST_BYTES 65536 /* item() and tolist() copy to pinned memory of a few bytes */

bool device_is_little_host(const struct analysis *analysis, const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    return timeline->device == DEVICE_HOST && analysis->device_count > 1 &&
           timeline->active.peak_bytes < LITTLE_HOST_BYTES &&
           timeline->reserved.peak_bytes < LITTLE_HOST_BYTES;
}

void device_little_host(const struct page *page, const struct device_report *report)
{
    char text[4 * UNITS_TEXT_SIZE], bytes[UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text), "%s: peak %s (--device host shows it)",
             DEVICE_TITLE(report->timeline->device),
             page_bytes(page, bytes, report->timeline->active.peak_bytes));
    title(page, text);
}

static bool notices(const struct page *page, const struct device_report *report)
{
    static const char lead[] = "warning:";
    struct buffer text = BUFFER_INIT;
    for (size_t i = 0; i < report->notice_count; i++) {
        const char *notice = report->notices[i].text;
        buffer_clear(&text);
        escape_text(&text, notice, strlen(notice));
        if (text.failed)
            break;
        fprintf(page->out, "%*s%s%s%s", SECTION_INDENT, "", page_style(page, STYLE_WARNING), lead,
                page_plain(page));
        page_paragraph(page, SECTION_INDENT + strlen(lead), SECTION_INDENT, text.bytes);
    }
    bool ok = !text.failed;
    buffer_release(&text);
    return ok;
}

static __attribute__((format(printf, 5, 6))) void add_figure(struct table *table,
                                                             const struct page *page,
                                                             const char *name, int64_t bytes,
                                                             const char *format, ...)
{
    char size[UNITS_TEXT_SIZE], text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    table_add(table, name);
    table_add(table, page_bytes(page, size, bytes));
    table_add(table, text);
}

/* ", during Outer > Inner" */
static void add_annotations(struct buffer *out, const struct symbols *symbols,
                            const struct open_annotations *open)
{
    size_t first = open->count > ANNOTATIONS_TOLD ? open->count - ANNOTATIONS_TOLD : 0;
    for (size_t i = first; i < open->count; i++) {
        struct text name = symbols_text(symbols, open->items[i].name);
        struct buffer escaped = BUFFER_INIT;
        escape_text(&escaped, name.bytes, name.size);
        buffer_puts(out, i == first ? ", during " : " > ");
        if (escaped.size)
            text_fit(out, escaped.bytes, escaped.size, ANNOTATION_COLUMNS, CUT_END);
        out->failed = out->failed || escaped.failed;
        buffer_release(&escaped);
    }
}

static void add_moment(struct table *table, const struct page *page, const char *name,
                       int64_t bytes, const struct timeline *timeline, int64_t item,
                       const struct open_annotations *open)
{
    char place[MOMENT_TEXT_SIZE], size[UNITS_TEXT_SIZE];
    struct buffer text = BUFFER_INIT;
    buffer_puts(&text, moment_place(place, timeline->trace, item));
    add_annotations(&text, timeline->snapshot->symbols, open);
    table_add(table, name);
    table_add(table, page_bytes(page, size, bytes));
    table_add(table, text.failed ? place : text.bytes);
    buffer_release(&text);
}

static void add_history(struct table *table, const struct page *page,
                        const struct analysis *analysis, const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    bool has_end = trace_has_end(timeline->trace);
    if (analysis->at_given && !analysis->at_end)
        add_moment(table, page, "--at", report->at.active_bytes, timeline, report->at_item,
                   &report->annotations);
    if (timeline_knows_peak(timeline))
        add_moment(table, page, "peak", timeline->active.peak_bytes, timeline,
                   timeline->active.peak_event, &report->peak_annotations);
    if (!timeline->snapshot->profile.is_timeline || timeline->active.baseline_bytes > 0)
        add_figure(table, page, "baseline", timeline->active.baseline_bytes,
                   timeline->trace->first_event > 0 ? "allocated before the range"
                                                    : "allocated before the first event");
    add_figure(table, page, "end", timeline->active.end_bytes, "after the last event%s",
               has_end ? "" : " of the range");
}

/* "; most 478.00 MiB", or nothing if the maximum is at the end. */
static const char *reserved_most(char out[UNITS_TEXT_SIZE], const struct page *page,
                                 const struct reserved_curve *reserved)
{
    char size[UNITS_TEXT_SIZE];
    out[0] = '\0';
    if (reserved->peak_event >= 0 && reserved->peak_bytes != reserved->end_bytes)
        snprintf(out, UNITS_TEXT_SIZE, "; peak %.30s",
                 page_bytes(page, size, reserved->peak_bytes));
    return out;
}

/* The dump is not of the end of a range that stops before the file does. Of its figures, only the
 * reserved memory is then given, for the end of the range. */
static void add_reserved(struct table *table, const struct page *page,
                         const struct timeline *timeline)
{
    const struct memory_state *state = &timeline->state;
    char count[UNITS_TEXT_SIZE], hole[UNITS_TEXT_SIZE], most[UNITS_TEXT_SIZE];
    if (!timeline_knows_reserved(timeline))
        return;
    reserved_most(most, page, &timeline->reserved);
    if (!trace_has_end(timeline->trace)) {
        add_figure(table, page, "reserved", timeline->reserved.end_bytes,
                   "at the end of the range%s", most);
        return;
    }
    if (timeline->snapshot->profile.is_profile) {
        add_figure(table, page, "reserved", timeline->reserved.end_bytes, "at the end%s", most);
        return;
    }
    add_figure(table, page, "reserved", (int64_t)state->reserved_bytes, "in %s segment%s%s",
               units_count(count, state->segments), state->segments == 1 ? "" : "s", most);
    if (state->inactive_bytes)
        add_figure(table, page, "inactive", (int64_t)state->inactive_bytes,
                   "reserved but unused at the end, largest hole %s",
                   page_bytes(page, hole, (int64_t)state->largest_inactive_block_bytes));
    else if (state->untold_bytes > 0 || state->excess_bytes > 0)
        add_figure(table, page, "inactive", 0,
                   "in the file, whose blocks and segments do not add up");
    else
        add_figure(table, page, "inactive", 0, "no reserved memory is unused");
}

/* "22,332 in 281.1 ms: 7,591 alloc, 7,370 free_requested" */
static bool events(const struct page *page, const struct timeline *timeline)
{
    static const char lead[] = "events  ";
    const struct trace *trace = timeline->trace;
    struct buffer text = BUFFER_INIT;
    char count[UNITS_TEXT_SIZE], delay[UNITS_TEXT_SIZE];
    buffer_puts(&text, units_count(count, trace->count));
    if (trace->count < trace->file_events)
        buffer_printf(&text, " of %s, from event %s on", units_count(count, trace->file_events),
                      units_count(delay, trace->first_event));
    if (*trace_span(delay, trace))
        buffer_printf(&text, " in %s", delay);
    else if (trace->count > 1 && !trace_has_times(trace))
        buffer_puts(&text, " without times, in the order of the file");
    const char *separator = ": ";
    for (size_t code = 0; code < timeline->snapshot->action_code_count; code++) {
        if (timeline->by_action[code] == 0)
            continue;
        struct text name =
            symbols_text(timeline->snapshot->symbols, timeline->snapshot->action_names[code]);
        buffer_printf(&text, "%s%s ", separator, units_count(count, timeline->by_action[code]));
        escape_text(&text, name.bytes, name.size);
        separator = ", ";
    }
    bool ok = !text.failed;
    if (ok) {
        fprintf(page->out, "%*s%s", SECTION_INDENT, "", lead);
        page_paragraph(page, SECTION_INDENT + sizeof(lead) - 1, SECTION_INDENT + sizeof(lead) - 1,
                       text.bytes);
    }
    buffer_release(&text);
    return ok;
}

bool device_summary(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report)
{
    static const struct table_column columns[] = {
        {.kind = COLUMN_LABEL}, {.kind = COLUMN_NUMBER}, {.kind = COLUMN_PROSE}};
    bool history = device_has_history(report);
    struct table table;
    headline(page, report);
    /* Out-of-memory events come first, because most readers look for them. */
    if (!device_ooms(page, report))
        return false;
    table_init(&table, columns, 3);
    if (history)
        add_history(&table, page, analysis, report);
    add_reserved(&table, page, report->timeline);
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    bool has_events = report->timeline->trace->count > 0;
    return ok && (!has_events || events(page, report->timeline)) && notices(page, report);
}
