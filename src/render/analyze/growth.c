#include "render/analyze/growth.h"

#include <stdarg.h>

#include "render/analyze/growth_advice.h"

#define NOTABLE_BYTES   65536 /* per step: less is omitted, unless it is 0.1% of the peak */
#define STOPPED_SHARE   100   /* 1/100 of the peak; less growth that stopped is omitted */
#define ROWS_OF_STOPPED 3

/* Goes before a number of steps: an iteration of the loop may have several optimizer steps. */
static const char *kind_of_steps(const struct device_report *report)
{
    return report->steps.one_optimizer_step ? "optimizer " : "";
}

static void title(const struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void title(const struct page *page, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(page->out, "\n%*s%s", SECTION_INDENT, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
}

static bool growth_matters(const struct device_report *report)
{
    int64_t bytes = report->growth.bytes_per_step;
    return bytes >= NOTABLE_BYTES || (bytes > 0 && bytes > report->peak.active_bytes / 1000);
}

static bool growing_table(const struct page *page, const struct analysis *analysis,
                          const struct device_report *report, struct buffer *text)
{
    const struct field_context context = report_context(report);
    const struct growth *growth = &report->growth;
    size_t growing = growth->growing, rows = growing < GROWTH_ROWS ? growing : GROWTH_ROWS;
    int64_t told = 0;
    if (analysis->largest > 0 && rows > analysis->largest)
        rows = analysis->largest;
    for (size_t i = 0; i < rows; i++)
        told += growth->rows[i].fit.bytes_per_step;
    bool ok = rows_print(page, SECTION_INDENT, &growth_type, growth->rows, rows, &context);
    if (growing > rows) {
        char bytes[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
        buffer_printf(text, "and %s a step at %s more call site%s.",
                      page_bytes(page, bytes, growth->bytes_per_step - told),
                      units_count(count, growing - rows), growing - rows == 1 ? "" : "s");
        ok = ok && growth_paragraph(page, text);
    }
    return ok;
}

static bool growing(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report, struct buffer *text)
{
    const struct growth *growth = &report->growth;
    char bytes[UNITS_TEXT_SIZE], compared[UNITS_TEXT_SIZE], complete[UNITS_TEXT_SIZE];
    if (!growth_matters(report))
        return true;
    bool is_average = growth->rows[0].fit.steps_grown * 2 <= growth->rows[0].fit.steps_compared;
    title(page, "Growth: %s more live after each %s%s (%s%s%s %s%s compared)",
          page_bytes(page, bytes, growth->bytes_per_step), growth_step(report),
          is_average ? " on average" : "", units_count(compared, growth->compared),
          growth->compared < growth->complete ? " of " : "",
          growth->compared < growth->complete ? units_count(complete, growth->complete) : "",
          kind_of_steps(report), growth_steps(report));
    return growing_table(page, analysis, report, text) && growth_advice(page, report, text);
}

/* Lists allocations that stopped growing, so that nobody mistakes them for a leak. */
static bool stopped(const struct page *page, const struct device_report *report,
                    struct buffer *text)
{
    size_t told = 0;
    char first[UNITS_TEXT_SIZE], last[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < report->growth.row_count; i++) {
        const struct growth_row *row = &report->growth.rows[i];
        if (row->fit.kind != GROWTH_STOPPED ||
            row->bytes_at_end - row->bytes_at_first < report->peak.active_bytes / STOPPED_SHARE)
            continue;
        if (told++ == ROWS_OF_STOPPED)
            break;
        if (told == 1)
            title(page, "Grew, then stopped");
        growth_add_label(text, row);
        buffer_printf(text, " grew from %s to %s and then stayed at that size: %s, not a leak.",
                      page_bytes(page, first, row->bytes_at_first),
                      page_bytes(page, last, row->bytes_at_end),
                      row->category == CATEGORY_OPTIMIZER_STATE
                          ? "optimizer state, which the first step of each optimizer makes"
                          : "probably a cache that is now full");
        if (!growth_paragraph(page, text))
            return false;
    }
    return true;
}

static bool kept_gradients(const struct page *page, const struct device_report *report,
                           struct buffer *text)
{
    const struct stale_gradients *stale = &report->growth.gradients;
    char bytes[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE], passes[UNITS_TEXT_SIZE],
        saved[UNITS_TEXT_SIZE];
    if (stale->bytes == 0 || stale->bytes < report->peak.active_bytes / HARDLY_ANY)
        return true;
    title(page, "Gradients kept during the next forward pass: %s in %s allocation%s",
          page_bytes(page, bytes, stale->bytes), units_count(count, stale->count),
          stale->count == 1 ? "" : "s");
    buffer_printf(text,
                  "Seen in %s forward pass%s%s. %s optimizer.zero_grad(set_to_none=True) "
                  "right after optimizer.step()%s: ",
                  units_count(passes, stale->passes), stale->passes == 1 ? "" : "es",
                  stale->stay ? "; they are never set to None" : "",
                  stale->other_calls ? "Add a call of" : "Call",
                  stale->other_calls ? ", and keep those that the program has" : "");
    if (stale->save_bytes > report->peak.active_bytes / HARDLY_ANY)
        buffer_printf(text, "the peak would be about %s lower.",
                      page_bytes(page, saved, stale->save_bytes));
    else
        buffer_puts(text, "the forward pass would need that much less memory, but the peak is "
                          "elsewhere and would stay the same.");
    return growth_paragraph(page, text);
}

/* Says that there are too few steps to compare, which differs from no growth. A program that ran
 * out of memory cannot record more of them. */
static bool too_few(const struct page *page, const struct device_report *report,
                    struct buffer *text)
{
    static const char *const counts[] = {"no complete", "one complete", "two complete"};
    size_t complete = report->growth.complete;
    bool is_range = report->timeline->trace->edge.present;
    if (report->steps.count == 0 || complete >= GROWTH_LEAST || is_range)
        return true;
    fputc('\n', page->out);
    const char *ending = complete == 2 ? growth_steps(report) : growth_step(report);
    if (report->steps.turns_end) {
        buffer_printf(text,
                      "Growth: %s %s%s recognised, too few to compare. After them, one of "
                      "the optimizers that took turns makes no further step.",
                      counts[complete], kind_of_steps(report), ending);
        return growth_paragraph(page, text);
    }
    buffer_printf(text, "Growth: %s %s%s recorded, too few to compare.", counts[complete],
                  kind_of_steps(report), ending);
    if (report->timeline->by_action[ACTION_OOM] == 0)
        buffer_printf(text, " Record %d or more before the dump.", GROWTH_LEAST);
    return growth_paragraph(page, text);
}

bool device_growth(const struct page *page, const struct analysis *analysis,
                   const struct device_report *report)
{
    struct buffer text = BUFFER_INIT;
    bool ok = growing(page, analysis, report, &text) && stopped(page, report, &text) &&
              kept_gradients(page, report, &text) && too_few(page, report, &text);
    buffer_release(&text);
    return ok;
}
