#include "render/analyze/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/device.h"
#include "model/live.h"
#include "render/core/escape.h"
#include "render/core/moments.h"

#define INDENT     2
#define LEAD       9 /* columns of "  made   " */
#define SIZES_TOLD 4

/* "  made   event 84, ...", broken into lines. */
static void line(const struct page *page, const char *lead, const char *text)
{
    fprintf(page->out, "%*s%-7s", INDENT, "", lead);
    page_paragraph(page, LEAD, LEAD, text);
}

/* "forward by its stack, step 0" */
static void add_phase(struct buffer *text, const struct device_report *report, uint32_t item)
{
    static const char *const evidence[] = {
        [PHASE_BY_STACK] = "by stacks",
        [PHASE_BY_ANNOTATION] = "by an annotation",
        [PHASE_BY_LIFETIMES] = "inferred from lifetimes",
        [PHASE_GUESSED] = "a guess",
    };
    uint32_t run = phases_run_of(&report->phases, item);
    if (run == NO_RUN || report->phases.runs[run].phase == PHASE_UNKNOWN) {
        buffer_puts(text, "; phase not known");
        return;
    }
    const struct phase_run *phase = &report->phases.runs[run];
    buffer_printf(text, "; phase %s (%s)", phase_name((enum phase)phase->phase),
                  evidence[phase->evidence]);
    if (run < report->phase_rows.count && report->phase_rows.items[run].step >= 0)
        buffer_printf(text, ", step %" PRId64, report->phase_rows.items[run].step);
}

static bool made(const struct page *page, const struct device_report *report,
                 struct site_table *sites, const struct explained *item)
{
    struct buffer text = BUFFER_INIT, label = BUFFER_INIT;
    char place[MOMENT_TEXT_SIZE];
    struct site site;
    struct error err;
    if (item->born == EVENT_NEVER) {
        buffer_puts(&text, moment_place(place, report->timeline->trace, -1));
    } else {
        buffer_puts(&text, moment_place(place, report->timeline->trace, item->born));
        add_phase(&text, report, item->born);
    }
    bool ok = site_of(sites, item->stack, &site, &err);
    if (ok) {
        site_label(sites, item->stack, &site, &label);
        buffer_puts(&text, "; ");
        escape_text(&text, label.bytes ? label.bytes : "", label.size);
        struct text op = symbols_text(site_table_symbols(sites), site.op);
        if (op.size > 0) {
            buffer_puts(&text, ", ");
            escape_text(&text, op.bytes, op.size);
        }
    }
    ok = ok && !text.failed && !label.failed;
    if (ok)
        line(page, "made", text.bytes);
    buffer_release(&text);
    buffer_release(&label);
    return ok;
}

static bool freed(const struct page *page, const struct device_report *report,
                  const struct explained *item)
{
    struct buffer text = BUFFER_INIT;
    char place[MOMENT_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    if (item->freed == EVENT_NEVER) {
        buffer_puts(&text, "never in the trace");
    } else {
        buffer_puts(&text, moment_place(place, report->timeline->trace, item->freed));
        add_phase(&text, report, item->freed);
        if (item->born != EVENT_NEVER && item->freed >= item->born)
            buffer_printf(&text, "; lived for %s events",
                          units_count(count, item->freed - item->born));
    }
    bool ok = !text.failed;
    if (ok)
        line(page, "freed", text.bytes);
    buffer_release(&text);
    return ok;
}

/* "657 of this size: 438 optimizer_state, 219 parameter; 219 never freed" */
static bool sizes(const struct page *page, struct size_evidence evidence)
{
    struct buffer text = BUFFER_INIT;
    char count[UNITS_TEXT_SIZE];
    buffer_printf(&text, "%s of this size", units_count(count, evidence.all));
    for (int told = 0; told < SIZES_TOLD; told++) {
        int best = 0;
        for (int i = 1; i < CATEGORY_LIMIT; i++)
            if (evidence.by_category[i] > evidence.by_category[best])
                best = i;
        if (evidence.by_category[best] == 0)
            break;
        const char *name = category_name((enum category)best);
        buffer_printf(&text, "%s %s ", told ? "," : ":",
                      units_count(count, evidence.by_category[best]));
        escape_text(&text, name, strlen(name));
        evidence.by_category[best] = 0;
    }
    buffer_printf(&text, "; %s never freed", units_count(count, evidence.never_freed));
    bool ok = !text.failed;
    if (ok)
        line(page, "sizes", text.bytes);
    buffer_release(&text);
    return ok;
}

static bool head(const struct page *page, const struct explained *item)
{
    struct buffer text = BUFFER_INIT;
    char size[UNITS_TEXT_SIZE];
    const char *name = category_name((enum category)item->category);
    buffer_printf(&text, "0x%" PRIx64 ": %s, ", item->addr,
                  page_bytes(page, size, (int64_t)item->size));
    escape_text(&text, name, strlen(name));
    if (item->category != CATEGORY_UNKNOWN)
        buffer_printf(&text, ", %s confidence", confidence_name(reason_confidence(item->reason)));
    bool ok = !text.failed;
    if (ok) {
        fprintf(page->out, "\n%s", page_style(page, STYLE_TITLE));
        page_paragraph(page, 0, INDENT, text.bytes);
        fputs(page_plain(page), page->out);
    }
    buffer_release(&text);
    return ok;
}

static bool why(const struct page *page, const struct explained *item)
{
    struct buffer text = BUFFER_INIT;
    buffer_printf(&text, "%s (%s)", reason_sentence(item->reason), reason_name(item->reason));
    bool ok = !text.failed;
    if (ok)
        line(page, "why", text.bytes);
    buffer_release(&text);
    return ok;
}

/* The texts of _annotate_tensor(). */
static bool annotated(const struct page *page, const struct device_report *report,
                      const struct explained *item)
{
    const struct live live = {.in_trace = item->in_trace, .index = item->index};
    struct buffer text = BUFFER_INIT;
    struct error err;
    string_id id;
    if (!live_note_text(report->timeline, &live, &id, &err))
        return false;
    if (id == STRING_EMPTY)
        return true;
    struct text note = symbols_text(report->timeline->snapshot->symbols, id);
    escape_text(&text, note.bytes, note.size);
    bool ok = !text.failed;
    if (ok)
        line(page, "note", text.bytes);
    buffer_release(&text);
    return ok;
}

static bool summary(const struct page *page, const struct device_report *report,
                    const struct explain_query *query, const struct explanation *explanation,
                    size_t shown)
{
    struct buffer text = BUFFER_INIT;
    char count[UNITS_TEXT_SIZE];
    buffer_printf(&text, "%s: %s allocation%s ", DEVICE_TITLE(report->timeline->device),
                  units_count(count, explanation->count), explanation->count == 1 ? "" : "s");
    if (query->site) {
        buffer_puts(&text, "at call sites matching ");
        escape_text(&text, query->site, strlen(query->site));
    } else {
        buffer_printf(&text, "at 0x%" PRIx64, query->addr);
    }
    if (shown < explanation->count)
        buffer_printf(&text, ", the %s %s", query->site ? "largest" : "first",
                      units_count(count, shown));
    bool ok = !text.failed;
    if (ok)
        page_paragraph(page, 0, INDENT, text.bytes);
    buffer_release(&text);
    return ok;
}

bool explain_text(const struct page *page, const struct device_report *report,
                  struct site_table *sites, const struct explain_query *query,
                  const struct explanation *explanation, size_t most)
{
    size_t shown = most > 0 && most < explanation->count ? most : explanation->count;
    size_t size_count;
    struct size_evidence *evidence = explain_sizes(report, explanation->items, shown, &size_count);
    bool ok = evidence && summary(page, report, query, explanation, shown);
    for (size_t i = 0; ok && i < shown; i++) {
        const struct explained *item = &explanation->items[i];
        ok = head(page, item) && made(page, report, sites, item) && annotated(page, report, item) &&
             freed(page, report, item) &&
             sizes(page, *explain_size(evidence, size_count, item->size)) && why(page, item);
    }
    free(evidence);
    return ok;
}
