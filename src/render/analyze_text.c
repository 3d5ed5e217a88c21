#include <string.h>

#include "render/analyze_parts.h"
#include "render/escape.h"
#include "render/settings.h"
#include "render/table.h"

static void add_encoding(struct buffer *text, const struct snapshot *snapshot)
{
    if (snapshot->encoding == ENCODING_PICKLE)
        buffer_printf(text, "pickle protocol %d", snapshot->protocol);
    else
        buffer_puts(text, "JSON");
    if (snapshot->compression == COMPRESSION_GZIP)
        buffer_puts(text, ", gzip");
}

static bool input_lines(const struct page *page, const struct analysis *analysis)
{
    const struct snapshot *snapshot = analysis->snapshot;
    struct buffer text = BUFFER_INIT;
    char bytes[UNITS_TEXT_SIZE];
    if (strcmp(analysis->path, "-") == 0)
        buffer_puts(&text, "standard input");
    else
        escape_text(&text, analysis->path, strlen(analysis->path));
    buffer_puts(&text, " (");
    if (snapshot->input_bytes)
        buffer_printf(&text, "%s, ", page_bytes(page, bytes, (int64_t)snapshot->input_bytes));
    add_encoding(&text, snapshot);
    buffer_puts(&text, ")");
    bool ok = !text.failed;
    if (ok)
        fprintf(page->out, "%s\n", text.bytes);
    buffer_clear(&text);
    settings_summary(snapshot, &text);
    ok = ok && !text.failed;
    if (ok) {
        static const char lead[] = "Allocator settings:";
        fputs(lead, page->out);
        page_paragraph(page, sizeof(lead) - 1, 2, text.bytes);
    }
    buffer_release(&text);
    return ok;
}

static bool unknown_keys(const struct page *page, const struct snapshot *snapshot)
{
    static const char lead[] = "Unknown keys:";
    struct buffer text = BUFFER_INIT;
    if (snapshot->unknown_key_count == 0)
        buffer_puts(&text, "none");
    for (size_t i = 0; i < snapshot->unknown_key_count; i++) {
        struct text key = symbols_text(snapshot->symbols, snapshot->unknown_keys[i].key);
        buffer_printf(&text, "%s%s.", i ? ", " : "", snapshot->unknown_keys[i].where);
        escape_text(&text, key.bytes, key.size);
    }
    bool ok = !text.failed;
    if (ok) {
        fputs(lead, page->out);
        page_paragraph(page, sizeof(lead) - 1, 2, text.bytes);
    }
    buffer_release(&text);
    return ok;
}

/* What else to ask, where it was not asked already and there is something to be told. */
static void hints(const struct page *page, const struct analysis *analysis)
{
    bool history = false;
    for (size_t i = 0; i < analysis->device_count; i++)
        history = history || device_has_history(analysis->devices[i]);
    if (!history || analysis->at_given || analysis->stacks)
        return;
    fprintf(page->out, "\n%s", page_style(page, STYLE_FAINT));
    page_paragraph(page, 0, 0,
                   "More: --stacks for whole call stacks, --at end for what was never freed, "
                   "--top 0 for every call site.");
    fputs(page_plain(page), page->out);
}

bool analyze_text(const struct page *page, const struct analysis *analysis)
{
    if (!input_lines(page, analysis))
        return false;
    if (analysis->verbose && !unknown_keys(page, analysis->snapshot))
        return false;
    if (analysis->device_count == 0)
        fputs("\nThe snapshot holds no segments and no events: nothing was allocated.\n",
              page->out);
    for (size_t i = 0; i < analysis->device_count; i++) {
        const struct device_report *report = analysis->devices[i];
        fputc('\n', page->out);
        if (!device_summary(page, analysis, report) || !device_live(page, analysis, report))
            return false;
    }
    hints(page, analysis);
    return true;
}

bool comparison_text(const struct page *page, const struct comparison_row *rows, size_t count)
{
    static const struct table_column columns[] = {
        {"file", COLUMN_TEXT},       {"device", COLUMN_NUMBER},   {"peak", COLUMN_NUMBER},
        {"baseline", COLUMN_NUMBER}, {"reserved", COLUMN_NUMBER},
    };
    struct table table;
    char text[UNITS_TEXT_SIZE];
    table_init(&table, columns, 5);
    for (size_t i = 0; i < count; i++) {
        const struct comparison_row *row = &rows[i];
        table_add_input(&table, row->path, strlen(row->path));
        if (row->failed) {
            for (int column = 1; column < 5; column++)
                table_add(&table, column == 2 ? "unreadable" : "-");
            continue;
        }
        snprintf(text, sizeof(text), "%u", row->device);
        table_add(&table, text);
        table_add(&table, page_bytes(page, text, row->peak_bytes));
        table_add(&table, page_bytes(page, text, row->baseline_bytes));
        table_add(&table, page_bytes(page, text, row->reserved_bytes));
    }
    fprintf(page->out, "%sComparison%s\n", page_style(page, STYLE_TITLE), page_plain(page));
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}
