#include "render/analyze/internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "render/core/moments.h"
#include "render/core/table.h"

#define PHASE_ROWS_MOST    12
#define BASELINE_ROWS_MOST 6
#define PROSE_PAGE         64 /* columns that a page needs for reasons */

static void section_title(const struct page *page, const char *text)
{
    fprintf(page->out, "\n%*s%s", SECTION_INDENT, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
}

/* Rows of one phase, and with `by_step` of one step, become the one with the highest peak, in the
 * order of their first. Returns how many, or `most` + 1 where there are more. */
static size_t merge_rows(const struct phase_rows *rows, bool by_step, struct phase_row *merged,
                         size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct phase_row *row = &rows->items[i];
        size_t at = 0;
        if (row->phase == PHASE_UNKNOWN || row->phase == PHASE_OTHER)
            continue;
        while (at < count &&
               !(merged[at].phase == row->phase && (!by_step || merged[at].step == row->step)))
            at++;
        if (at == most)
            return most + 1;
        bool inferred = at == count || merged[at].inferred;
        if (at == count || row->peak_bytes > merged[at].peak_bytes)
            merged[at] = *row;
        merged[at].inferred = inferred && row->inferred;
        count += at == count;
    }
    return count;
}

static void add_phase(struct table *table, const struct page *page, const struct trace *trace,
                      const struct phase_row *row)
{
    char text[UNITS_TEXT_SIZE + 32];
    table_add(table, page_bytes(page, text, row->peak_bytes));
    table_add(table, event_number(text, trace, row->peak_item));
    snprintf(text, sizeof(text), "%" PRId64, row->step);
    table_add(table, row->step < 0 ? "-" : text);
    snprintf(text, sizeof(text), "%s%s", phase_name(row->phase),
             row->inferred ? " (inferred)" : "");
    table_add(table, text);
}

bool device_phases(const struct page *page, const struct device_report *report)
{
    static const struct table_column columns[] = {{.title = "active"},
                                                  {.title = "event", .optional = 1},
                                                  {.title = "step"},
                                                  {.title = "phase", .kind = COLUMN_LABEL}};
    struct phase_row rows[PHASE_ROWS_MOST];
    size_t count = merge_rows(&report->phase_rows, true, rows, PHASE_ROWS_MOST);
    if (count > PHASE_ROWS_MOST)
        count = merge_rows(&report->phase_rows, false, rows, PHASE_ROWS_MOST);
    if (count < 2)
        return true;
    struct table table;
    section_title(page, "The highest of each phase");
    table_init(&table, columns, 4);
    for (size_t i = 0; i < count; i++)
        add_phase(&table, page, report->timeline->trace, &rows[i]);
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

bool device_baseline(const struct page *page, const struct device_report *report)
{
    static const struct table_column columns[] = {{.title = "size"},
                                                  {.title = "count", .optional = 1},
                                                  {.title = "category", .kind = COLUMN_LABEL},
                                                  {.title = "confidence", .kind = COLUMN_LABEL},
                                                  {.title = "why", .kind = COLUMN_PROSE}};
    char title[UNITS_TEXT_SIZE + 64], text[UNITS_TEXT_SIZE];
    bool in_range = report->timeline->trace->first_event > 0;
    size_t count = report->baseline_count;
    if (count == 0 || !device_has_history(report))
        return true;
    snprintf(title, sizeof(title), "From before the %s: %s", in_range ? "range" : "first event",
             page_bytes(page, text, report->timeline->active.baseline_bytes));
    section_title(page, title);
    struct table table;
    size_t shown = page->width < PROSE_PAGE ? 3 : 5;
    table_init(&table, columns, shown);
    for (size_t i = 0; i < count && i < BASELINE_ROWS_MOST; i++) {
        const struct baseline_row *row = &report->baseline[i];
        table_add(&table, page_bytes(page, text, row->bytes));
        table_add(&table, units_count(text, row->count));
        table_add_text(&table, category_name((enum category)row->category));
        if (shown == 3)
            continue;
        bool is_known = row->category != CATEGORY_UNKNOWN && row->category != CATEGORY_COUNT;
        table_add(&table, is_known ? confidence_name(reason_confidence(row->reason)) : "-");
        table_add(&table, row->category == CATEGORY_COUNT
                              ? "freed before the range, in another size than was allocated"
                              : reason_sentence(row->reason));
    }
    table_print(&table, page, SECTION_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}
