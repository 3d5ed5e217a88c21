#include <string.h>

#include "render/analyze/growth.h"
#include "render/core/site_type.h"

static struct value step_source(const void *row, const struct field_context *context)
{
    (void)row;
    return value_word(steps_source_name(((const struct steps *)context->user)->source));
}

#define ROW struct step
static const struct row_type step_type = ROW_TYPE(
    "steps", ROW, FIELD_AS(ROW, NUMBER, "step", number), FIELD_AS(ROW, EVENT, "first_event", first),
    FIELD_AS(ROW, EVENT, "last_event", last), FIELD(ROW, FLAG, complete),
    FIELD(ROW, BYTES, end_bytes), FIELD(ROW, BYTES, peak_bytes),
    FIELD_AS(ROW, EVENT, "peak_event", peak_item), FIELD_CALL(WORD, "recognised_by", step_source));
#undef ROW

/* "3 of 4" steps */
static struct value steps_grown(const void *data, const struct field_context *context)
{
    const struct growth_fit *fit = &((const struct growth_row *)data)->fit;
    buffer_printf(context->scratch, "%u of %u", fit->steps_grown, fit->steps_compared);
    return value_scratch(context);
}

#define ROW struct growth_row
const struct row_type growth_type = ROW_TYPE(
    "growth", ROW,
    FIELD(ROW, SITE, label, .title = "call site", .column = 1, .cut = CUT_SITE,
          .least = CALL_SITE_LEAST),
    FIELD(ROW, CATEGORY, category, .title = "category", .column = 3, .optional = 1),
    FIELD_AS(ROW, OPERATOR, "op", site, .title = "operator", .column = 2, .optional = 3),
    FIELD_AS(ROW, NAME, "kind", fit.kind, .name = growth_kind_name),
    FIELD_AS(ROW, BYTES, "bytes_per_step", fit.bytes_per_step, .title = "per step"),
    FIELD(ROW, BYTES, bytes_at_first), FIELD(ROW, BYTES, bytes_at_end, .title = "at end"),
    FIELD_AS(ROW, COUNT, "count_at_end", blocks_at_end),
    FIELD_AS(ROW, NAME, "confidence", fit.confidence, .name = confidence_name),
    FIELD_AS(ROW, REAL, "r_squared", fit.r_squared),
    FIELD_CALL(WORD, NULL, steps_grown, .title = "grew in", .optional = 2),
    FIELD_AS(ROW, COUNT, "steps_grown", fit.steps_grown),
    FIELD_AS(ROW, COUNT, "steps_compared", fit.steps_compared), FIELD(ROW, BYTES, save_bytes));
#undef ROW

static struct value stream_words(const void *data, const struct field_context *context)
{
    char text[STREAM_TEXT_SIZE];
    buffer_puts(context->scratch, stream_text(text, ((const struct pending_row *)data)->stream));
    return value_scratch(context);
}

#define ROW struct pending_row
const struct row_type pending_type =
    ROW_TYPE("sites", ROW,
             FIELD(ROW, SITE, label, .title = "call site", .column = 4, .cut = CUT_SITE,
                   .least = CALL_SITE_LEAST),
             FIELD_AS(ROW, OPERATOR, NULL, site, .title = "operator", .column = 5, .optional = 3),
             FIELD(ROW, CATEGORY, category, .title = "category", .column = 6, .optional = 4),
             FIELD(ROW, NUMBER, stream, IF(ROW, stream_known)),
             FIELD(ROW, COUNT, count, .title = "count", .column = 1, .optional = 2),
             FIELD(ROW, BYTES, bytes, .title = "size"), FIELD(ROW, BYTES, bytes_at_peak),
             FIELD(ROW, DURATION, longest_us, .title = "longest", .column = 2),
             FIELD_CALL(WORD, NULL, stream_words, IF(ROW, stream_known), .title = "of stream",
                        .column = 3, .optional = 1, .absent = "-"));
#undef ROW

#define ROW struct pending_frees
static const struct row_type pending_frees_type = ROW_TYPE(
    "pending_frees", ROW, FIELD(ROW, BYTES, at_peak_bytes), FIELD(ROW, COUNT, count),
    FIELD(ROW, COUNT, unfinished), FIELD(ROW, BYTES, bytes), FIELD(ROW, DURATION, longest_us));
#undef ROW

static void put_pending(struct json_writer *json, const struct pending_frees *pending,
                        const struct field_context *context)
{
    json_put_open(json, pending_frees_type.name, '{');
    json_put_fields(json, &pending_frees_type, pending, context);
    json_put_rows(json, &pending_type, pending->rows, pending->row_count, context);
    json_put_close(json, '}');
}

void growth_json(struct json_writer *json, const struct device_report *report)
{
    struct field_context context = report_context(report);
    context.user = &report->steps;
    json_put_rows(json, &step_type, report->steps.items, report->steps.count, &context);
    json_put_rows(json, &growth_type, report->growth.rows, report->growth.row_count, &context);
    put_pending(json, &report->pending, &context);
}

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
