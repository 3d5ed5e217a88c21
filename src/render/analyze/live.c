#include "render/analyze/internal.h"

#include <string.h>

#include "analysis/report/grouping.h"
#include "render/core/moments.h"
#include "render/core/rows.h"
#include "render/core/site_type.h"

#define BAR_COLUMNS            24
#define ANNOTATION_LEAST       12
#define LITTLE_CONFIDENCE_PART 10 /* at least 1/10 of the live memory is much */

static void title(const struct page *page, const struct analysis *analysis,
                  const struct device_report *report)
{
    char text[MOMENT_TEXT_SIZE + 128], place[MOMENT_TEXT_SIZE], bytes[UNITS_TEXT_SIZE],
        count_text[UNITS_TEXT_SIZE];
    uint64_t count = 0;
    for (size_t i = 0; i < report->category_count; i++)
        count += report->categories[i].count;
    const char *moment = place;
    const struct curve *active = &report->timeline->active;
    if (!device_has_history(report))
        moment = "in the snapshot";
    else if (!analysis->at_given && !timeline_knows_peak(report->timeline))
        moment = active->end_bytes == active->baseline_bytes ? "when the snapshot was taken"
                                                             : "before the first event";
    else if (!analysis->at_given)
        moment = "at the peak";
    else if (analysis->at_end)
        moment = trace_has_end(report->timeline->trace) ? "at the end" : "at the end of the range";
    else
        moment_place(place, report->timeline->trace, report->at_item);
    snprintf(text, sizeof(text), "Live %s%s: %s in %s allocation%s",
             moment == place && report->at_item >= 0 ? "at " : "", moment,
             page_bytes(page, bytes, report->at.active_bytes), units_count(count_text, count),
             count == 1 ? "" : "s");
    fprintf(page->out, "\n%*s%s", SECTION_INDENT, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
}

/* "####": a bar as long as the row's share of the total */
static struct value bar(const void *data, const struct field_context *context)
{
    const struct category_row *row = data;
    double share = 0;
    if (row->bytes > 0 && context->whole > 0)
        share = (double)row->bytes / (double)context->whole;
    size_t filled = (size_t)((double)BAR_COLUMNS * share + 0.5);
    buffer_printf(context->scratch, "%.*s", (int)(filled < BAR_COLUMNS ? filled : BAR_COLUMNS),
                  "########################");
    return value_scratch(context);
}

#define ROW struct category_row
const struct row_type category_type = ROW_TYPE(
    "categories", ROW, FIELD_AS(ROW, CATEGORY, "name", category, .title = "category", .column = 1),
    FIELD(ROW, BYTES, bytes, .title = "size"), FIELD_AS(ROW, SHARE, NULL, bytes, .title = "share"),
    FIELD(ROW, COUNT, count, .title = "count", .optional = 1),
    FIELD_AS(ROW, BYTES, "low_confidence_bytes", low_bytes),
    FIELD_CALL(WORD, NULL, bar, .title = "", .column = 2, .optional = 2));
#undef ROW

/* "3,012 to 3,490" or "start to end"; empty if there are no events */
static struct value life(const void *data, const struct field_context *context)
{
    const struct live_row *row = data;
    char born[UNITS_TEXT_SIZE] = "start", freed[UNITS_TEXT_SIZE] = "end";
    if (context->trace->count == 0 || !trace_has_lifetimes(context->trace))
        return value_none();
    if (row->born_item >= 0)
        event_number(born, context->trace, row->born_item);
    if (row->freed_item >= 0)
        event_number(freed, context->trace, row->freed_item);
    buffer_printf(context->scratch, "%s to %s", born, freed);
    return value_scratch(context);
}

#define ROW struct live_row
#define LARGEST(...)                                                                               \
    ROW_TYPE(                                                                                      \
        "largest", ROW, FIELD_AS(ROW, BYTES, "bytes", live.size, .title = "largest"),              \
        FIELD_AS(ROW, NUMBER, "address", live.addr),                                               \
        FIELD_CALL(WORD, NULL, life, .title = "events", .optional = 1, .absent = "-"),             \
        FIELD(ROW, CATEGORY, category, .title = "category", .column = 2),                          \
        FIELD(ROW, SITE, label, .title = "call site", .cut = CUT_SITE, .least = CALL_SITE_LEAST),  \
        FIELD_AS(ROW, OPERATOR, "op", site, .title = "operator", .column = 1, .optional = 2),      \
        FIELD_AS(ROW, EVENT, "alloc_event", born_item, .flags = FIELD_SKIP_NEGATIVE),              \
        FIELD_AS(ROW, EVENT, "free_event", freed_item, .flags = FIELD_SKIP_NEGATIVE),              \
        FIELD(ROW, STRING, annotation, __VA_ARGS__))
const struct row_type largest_type = LARGEST(.title = NULL);
/* The rows with a column of annotations, which most files would leave empty. */
static const struct row_type annotated_type =
    LARGEST(.title = "annotation", .column = 3, .cut = CUT_END, .least = ANNOTATION_LEAST);
#undef LARGEST
#undef ROW

/* Printed if much of the memory has low confidence. A longer recording is suggested only for
 * allocations that the trace did not see. */
static void little_confidence(const struct page *page, const struct device_report *report)
{
    const char *more = report->timeline->trace->first_event > 0
                           ? "the whole trace, without --range, may explain"
                           : "a recording with stacks from the start would explain";
    int64_t low = 0, unseen = 0;
    char bytes[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE], text[320];
    for (size_t i = 0; i < report->category_count; i++) {
        low += report->categories[i].low_bytes;
        unseen += report->categories[i].unseen_bytes;
    }
    if (low <= 0 || low < report->at.active_bytes / LITTLE_CONFIDENCE_PART)
        return;
    int used =
        snprintf(text, sizeof(text),
                 "Of these, %s (%s) are inferred with low confidence; --explain shows why, ",
                 page_bytes(page, bytes, low), page_share(share, low, report->at.active_bytes));
    size_t room = sizeof(text) - (size_t)used;
    if (unseen == low)
        snprintf(text + used, room, "and %s them.", more);
    else if (unseen == 0)
        snprintf(text + used, room, "and --rules can set their category.");
    else
        snprintf(text + used, room, "%s %s, and --rules can set the category of the others.", more,
                 page_bytes(page, bytes, unseen));
    fprintf(page->out, "%*s", SECTION_INDENT, "");
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
}

/* Says that no graph keeps the activations, where decorators show it. */
static void without_grad(const struct page *page, const struct device_report *report)
{
    int64_t without = report->findings.without_grad_bytes;
    int64_t inference = report->findings.inference_mode_bytes;
    char bytes[UNITS_TEXT_SIZE], text[320];
    if (without <= 0 || without < report->at.active_bytes / LITTLE_CONFIDENCE_PART)
        return;
    snprintf(text, sizeof(text),
             "No backward pass was recorded, and %s of activations were made under %s, so no "
             "autograd graph keeps them: they are results, and what the running forward pass "
             "needs.",
             page_bytes(page, bytes, without),
             inference == without ? "torch.inference_mode()"
             : inference == 0     ? "torch.no_grad()"
                                  : "torch.no_grad() or torch.inference_mode()");
    fprintf(page->out, "%*s", SECTION_INDENT, "");
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
}

static bool categories(const struct page *page, const struct device_report *report)
{
    const struct field_context context = report_context(report);
    bool ok = rows_print(page, SECTION_INDENT, &category_type, report->categories,
                         report->category_count, &context);
    little_confidence(page, report);
    without_grad(page, report);
    return ok;
}

/* The rows of one kind, in their order. */
enum rows { ROWS_PLACED, ROWS_REMAINDER, ROWS_WITHOUT_STACK };

static enum rows kind_of(const struct site_row *row)
{
    if (row->is_remainder)
        return ROWS_REMAINDER;
    return row->group.source.shown == STACK_NONE ? ROWS_WITHOUT_STACK : ROWS_PLACED;
}

static bool site_rows(const struct table *table, const struct page *page,
                      const struct analysis *analysis, const struct device_report *report,
                      enum rows kind)
{
    bool ok = true;
    for (size_t i = 0; ok && i < report->site_count; i++) {
        if (kind_of(&report->sites[i]) != kind)
            continue;
        const struct site_row *row = &report->sites[i];
        const struct stack_example example = {row->group.source.shown, &row->group.source.site,
                                              row->group.stacks};
        table_row(table, page, SECTION_INDENT, i);
        if (analysis->stacks != STACKS_NONE && kind == ROWS_PLACED)
            ok = site_stack(page, analysis->sites, analysis->stacks, &example);
    }
    return ok;
}

/* Separated from the rest, so that nobody misses it below the call sites. */
static void without_stack_title(const struct page *page, const struct device_report *report)
{
    int64_t bytes = 0;
    size_t count = 0;
    char size[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < report->site_count; i++) {
        if (kind_of(&report->sites[i]) != ROWS_WITHOUT_STACK)
            continue;
        bytes += report->sites[i].group.bytes;
        count++;
    }
    if (count > 0 && count < report->site_count)
        fprintf(page->out, "%*s%swithout a call site: %s, %s%s\n", SECTION_INDENT, "",
                page_style(page, STYLE_TITLE), page_bytes(page, size, bytes),
                page_share(share, bytes, report->at.active_bytes), page_plain(page));
}

static bool sites(const struct page *page, const struct analysis *analysis,
                  const struct device_report *report)
{
    const struct field_context context = report_context(report);
    struct row_table rows;
    row_table_init(&rows, &site_type, page, &context);
    for (size_t i = 0; i < report->site_count; i++)
        row_table_add(&rows, &report->sites[i]);
    struct table *table = &rows.table;
    fputc('\n', page->out);
    table_begin(table, page, SECTION_INDENT);
    bool ok = !table_failed(table) && site_rows(table, page, analysis, report, ROWS_PLACED) &&
              site_rows(table, page, analysis, report, ROWS_REMAINDER);
    if (ok) {
        without_stack_title(page, report);
        ok = site_rows(table, page, analysis, report, ROWS_WITHOUT_STACK);
    }
    return row_table_finish(&rows) && ok;
}

#define ROW struct group_row
#define GROUPS(title_)                                                                             \
    ROW_TYPE("rows", ROW, FIELD_AS(ROW, BYTES, "bytes", bytes, .title = "size"),                   \
             FIELD_AS(ROW, SHARE, NULL, bytes, .title = "share", .optional = 2),                   \
             FIELD_AS(ROW, COUNT, "count", count, .title = "count", .optional = 1),                \
             FIELD_AS(ROW, LABEL, "name", name, .title = title_, .cut = CUT_END,                   \
                      .least = CALL_SITE_LEAST),                                                   \
             FIELD_AS(ROW, FLAG, "remainder", is_remainder, .flags = FIELD_SKIP_ZERO))
static const struct row_type group_types[] = {
    [BY_CATEGORY] = GROUPS("category"),     [BY_METADATA] = GROUPS("metadata"),
    [BY_MODULE] = GROUPS("module"),         [BY_POOL] = GROUPS("pool"),
    [BY_STREAM] = GROUPS("stream"),         [BY_PHASE] = GROUPS("phase"),
    [BY_ANNOTATION] = GROUPS("annotation"), [BY_COMPILE] = GROUPS("compiled region"),
};
#undef GROUPS
#undef ROW

static bool groups(const struct page *page, const struct device_report *report)
{
    const struct field_context context = report_context(report);
    fputc('\n', page->out);
    return rows_print(page, SECTION_INDENT, &group_types[report->by], report->groups,
                      report->group_count, &context);
}

void groups_json(struct json_writer *json, const struct device_report *report)
{
    const struct field_context context = report_context(report);
    if (report->by == BY_SITE)
        return;
    json_put_open(json, "by", '{');
    json_put_string(json, "key", group_by_name(report->by));
    json_put_rows(json, &group_types[report->by], report->groups, report->group_count, &context);
    json_put_close(json, '}');
}

static bool largest(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report)
{
    const struct field_context context = report_context(report);
    size_t count = report->largest_count;
    if (analysis->largest && count > analysis->largest)
        count = analysis->largest;
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any = any || report->largest[i].annotation != STRING_EMPTY;
    fputc('\n', page->out);
    return rows_print(page, SECTION_INDENT, any ? &annotated_type : &largest_type, report->largest,
                      count, &context);
}

bool device_live(const struct page *page, const struct analysis *analysis,
                 const struct device_report *report)
{
    title(page, analysis, report);
    if (report->category_count == 0)
        return true;
    return categories(page, report) &&
           (report->by == BY_SITE ? sites(page, analysis, report) : groups(page, report)) &&
           largest(page, analysis, report);
}
