#include "render/analyze/internal.h"

#include "render/core/moments.h"

#define PHASE_ROWS_MOST    12
#define BASELINE_ROWS_MOST 6
#define PROSE_PAGE         64 /* columns that a page needs for reasons */

static void section_title(const struct page *page, const char *text)
{
    fprintf(page->out, "\n%*s%s", SECTION_INDENT, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
}

static bool is_step_phase(const struct phase_row *row)
{
    return row->phase != PHASE_UNKNOWN && row->phase != PHASE_OTHER;
}

/* The row of other code that alone reaches the peak, as a loss outside of the model may; NULL if
 * there is none. */
static const struct phase_row *peak_elsewhere(const struct phase_rows *rows)
{
    const struct phase_row *highest = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const struct phase_row *row = &rows->items[i];
        bool ties = highest && row->peak_bytes == highest->peak_bytes;
        if (!highest || row->peak_bytes > highest->peak_bytes ||
            (ties && is_step_phase(row) && !is_step_phase(highest)))
            highest = row;
    }
    return highest && !is_step_phase(highest) ? highest : NULL;
}

/* Merges rows of one phase (with `by_step`, of one phase and step) into the one with the highest
 * peak, in the order of their first rows. Leaves out other code, unless the peak is there. Returns
 * the number of rows, or `most` + 1 if there are more. */
static size_t merge_rows(const struct phase_rows *rows, bool by_step, struct phase_row *merged,
                         size_t most)
{
    size_t count = 0;
    const struct phase_row *elsewhere = peak_elsewhere(rows);
    for (size_t i = 0; i < rows->count; i++) {
        const struct phase_row *row = &rows->items[i];
        size_t at = 0;
        if (!is_step_phase(row) && row != elsewhere)
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

/* "forward (inferred)" */
static struct value phase_words(const void *data, const struct field_context *context)
{
    const struct phase_row *row = data;
    buffer_printf(context->scratch, "%s%s", phase_name(row->phase),
                  row->inferred ? " (inferred)" : "");
    return value_scratch(context);
}

#define ROW struct phase_row
static const struct row_type phase_type =
    ROW_TYPE("phases", ROW, FIELD_AS(ROW, NAME, "name", phase, .name = phase_name),
             FIELD_CALL(WORD, NULL, phase_words, .title = "phase", .column = 1),
             FIELD_AS(ROW, BYTES, NULL, peak_bytes, .title = "active"),
             FIELD_AS(ROW, EVENT, NULL, peak_item, .title = "event", .optional = 1),
             FIELD(ROW, NUMBER, step, .title = "step", .flags = FIELD_SKIP_NEGATIVE, .absent = "-"),
             FIELD_AS(ROW, EVENT, "first_event", first), FIELD_AS(ROW, EVENT, "last_event", last),
             FIELD(ROW, BYTES, peak_bytes), FIELD(ROW, FLAG, inferred, .flags = FIELD_SKIP_ZERO));
#undef ROW

void phases_json(struct json_writer *json, const struct device_report *report)
{
    const struct field_context context = report_context(report);
    json_put_rows(json, &phase_type, report->phase_rows.items, report->phase_rows.count, &context);
}

bool device_phases(const struct page *page, const struct device_report *report)
{
    const struct field_context context = report_context(report);
    struct phase_row rows[PHASE_ROWS_MOST];
    size_t count = merge_rows(&report->phase_rows, true, rows, PHASE_ROWS_MOST);
    if (count > PHASE_ROWS_MOST)
        count = merge_rows(&report->phase_rows, false, rows, PHASE_ROWS_MOST);
    if (count < 2)
        return true;
    section_title(page, "Peak of each phase");
    return rows_print(page, SECTION_INDENT, &phase_type, rows, count, &context);
}

static bool is_explained(const void *data, const struct field_context *context)
{
    (void)context;
    return ((const struct baseline_row *)data)->category != CATEGORY_COUNT;
}

static bool is_known(const void *data, const struct field_context *context)
{
    const struct baseline_row *row = data;
    return is_explained(row, context) && row->category != CATEGORY_UNKNOWN;
}

static struct value confidence(const void *data, const struct field_context *context)
{
    (void)context;
    return value_word(
        confidence_name(reason_confidence(((const struct baseline_row *)data)->reason)));
}

static struct value reason(const void *data, const struct field_context *context)
{
    const struct baseline_row *row = data;
    if (!context->page)
        return value_word(reason_name(row->reason));
    return value_word(reason_sentence(row->reason));
}

#define UNEXPLAINED "freed before the range with a size other than the allocated one"

#define ROW struct baseline_row
#define AMOUNTS                                                                                    \
    FIELD(ROW, CATEGORY, category, .title = "category", .column = 1),                              \
        FIELD_CALL(WORD, "confidence", confidence, .present = is_explained),                       \
        FIELD_CALL(WORD, "reason", reason, .present = is_explained),                               \
        FIELD(ROW, BYTES, bytes, .title = "size"),                                                 \
        FIELD(ROW, COUNT, count, .title = "count", .optional = 1)
/* Narrow pages have no room for the reasons. */
static const struct row_type narrow_type = ROW_TYPE("baseline", ROW, AMOUNTS),
                             baseline_type = ROW_TYPE(
                                 "baseline", ROW, AMOUNTS,
                                 FIELD_CALL(WORD, NULL, confidence, .present = is_known,
                                            .title = "confidence", .column = 2, .absent = "-"),
                                 FIELD_CALL(LABEL, NULL, reason, .present = is_explained,
                                            .title = "why", .column = 3, .is_prose = true,
                                            .absent = UNEXPLAINED));
#undef AMOUNTS
#undef ROW

void baseline_json(struct json_writer *json, const struct device_report *report)
{
    const struct field_context context = report_context(report);
    json_put_rows(json, &baseline_type, report->baseline, report->baseline_count, &context);
}

bool device_baseline(const struct page *page, const struct device_report *report)
{
    const struct field_context context = report_context(report);
    char title[UNITS_TEXT_SIZE + 64], text[UNITS_TEXT_SIZE];
    bool in_range = report->timeline->trace->first_event > 0;
    size_t count = report->baseline_count;
    if (count == 0 || !device_has_history(report))
        return true;
    snprintf(title, sizeof(title), "From before the %s: %s", in_range ? "range" : "first event",
             page_bytes(page, text, report->timeline->active.baseline_bytes));
    section_title(page, title);
    return rows_print(page, SECTION_INDENT,
                      page->width < PROSE_PAGE ? &narrow_type : &baseline_type, report->baseline,
                      count < BASELINE_ROWS_MOST ? count : BASELINE_ROWS_MOST, &context);
}
