#include "render/analyze/growth.h"

#include <string.h>

/* True if the pending frees are worth mentioning: 0.1% of the peak at the peak, or 1% at any time.
 */
static bool matters(const struct device_report *report)
{
    const struct pending_frees *pending = &report->pending;
    return pending->at_peak_bytes > report->peak.active_bytes / 1000 ||
           (pending->count > 0 && pending->bytes > report->peak.active_bytes / 100);
}

static void title(const struct page *page, const struct pending_frees *pending)
{
    char text[8 * UNITS_TEXT_SIZE], at_peak[UNITS_TEXT_SIZE], bytes[UNITS_TEXT_SIZE],
        count[UNITS_TEXT_SIZE], longest[UNITS_TEXT_SIZE];
    int size = snprintf(text, sizeof(text),
                        "Waiting to be freed: %s at the peak", /* active, not allocated */
                        page_bytes(page, at_peak, pending->at_peak_bytes));
    if (pending->count > 0)
        snprintf(text + size, sizeof(text) - (size_t)size,
                 "; %s free%s of %s in all took more than 1 ms, up to %s",
                 units_count(count, pending->count), pending->count == 1 ? "" : "s",
                 page_bytes(page, bytes, pending->bytes),
                 units_duration(longest, pending->longest_us) + 1);
    fprintf(page->out, "\n%*s%s", SECTION_INDENT, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
}

bool device_pending(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report)
{
    const struct field_context context = report_context(report);
    const struct pending_frees *pending = &report->pending;
    if (!matters(report))
        return true;
    title(page, pending);
    size_t rows = pending->row_count;
    if (analysis->largest > 0 && rows > analysis->largest)
        rows = analysis->largest;
    bool ok =
        rows == 0 || rows_print(page, SECTION_INDENT, &pending_type, pending->rows, rows, &context);
    if (ok && pending->count > 0) {
        fprintf(page->out, "%*s", SECTION_INDENT, "");
        page_paragraph(
            page, SECTION_INDENT, SECTION_INDENT,
            "Another stream may still use these blocks (Tensor.record_stream, "
            "collectives, a CUDA graph being captured): keep fewer of them in flight, or make the "
            "block's own stream wait for the other one instead of using record_stream.");
    }
    return ok;
}
