#include "render/analyze/growth.h"

#include <string.h>

#define SITE_LEAST 20

/* Whether what waits is worth a reader's time: 0.1% of the peak at the peak, or 1% at all. */
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

static void add_row(struct table *table, const struct page *page, const struct symbols *symbols,
                    const struct pending_row *row)
{
    char text[UNITS_TEXT_SIZE], stream[STREAM_TEXT_SIZE];
    table_add(table, page_bytes(page, text, row->bytes));
    table_add(table, units_count(text, row->count));
    table_add(table, units_duration(text, row->longest_us) + 1);
    table_add(table, row->stream_known ? stream_text(stream, row->stream) : "-");
    table_add_text(table, row->label.brief);
    site_operator(table, symbols, &row->site);
    table_add_text(table, category_name(row->category));
}

bool device_pending(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report)
{
    static const struct table_column columns[] = {
        {.title = "size"},
        {.title = "count", .optional = 2},
        {.title = "longest"},
        {"of stream", COLUMN_LABEL, .optional = 1},
        {"call site", COLUMN_TEXT, CUT_SITE, SITE_LEAST, 0},
        {"operator", COLUMN_TEXT, .optional = 3},
        {"category", COLUMN_LABEL, .optional = 4}};
    const struct pending_frees *pending = &report->pending;
    struct table table;
    if (!matters(report))
        return true;
    title(page, pending);
    size_t rows = pending->row_count;
    if (analysis->largest > 0 && rows > analysis->largest)
        rows = analysis->largest;
    table_init(&table, columns, 7);
    for (size_t i = 0; i < rows; i++)
        add_row(&table, page, analysis->snapshot->symbols, &pending->rows[i]);
    if (rows > 0)
        table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    if (ok && pending->count > 0) {
        fprintf(page->out, "%*s", SECTION_INDENT, "");
        page_paragraph(page, SECTION_INDENT, SECTION_INDENT,
                       "Another stream may still use these blocks (Tensor.record_stream, "
                       "collectives, a CUDA graph being captured): keep fewer of them under way, "
                       "or let the block's own stream wait for the other and do without "
                       "record_stream.");
    }
    return ok;
}
