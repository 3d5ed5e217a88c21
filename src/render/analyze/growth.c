#include "render/analyze/growth.h"

#include <stdarg.h>

#include "model/sums.h"
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

static bool is_worth_telling(const struct device_report *report, int64_t first, int64_t last)
{
    return last - first >= report->peak.active_bytes / STOPPED_SHARE;
}

/* "a.py:5 f grew from 0 B to 5.00 MiB and then stayed at that size: " */
static void start_stopped(const struct page *page, const struct growth_row *row, size_t more_sites,
                          int64_t first, int64_t last, struct buffer *text)
{
    char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE], more[UNITS_TEXT_SIZE];
    growth_add_label(text, row);
    if (more_sites > 0)
        buffer_printf(text, " and %s more call site%s", units_count(more, more_sites),
                      more_sites == 1 ? "" : "s");
    buffer_printf(text, " grew from %s to %s and then stayed at that size: ",
                  page_bytes(page, from, first), page_bytes(page, to, last));
}

static const char *why_stopped(const struct growth_row *row)
{
    if (row->keeper == KEEPER_LIBRARY)
        return "a library's workspace, which it allocates at its first use and keeps";
    return row->category == CATEGORY_OPTIMIZER_STATE
               ? "optimizer state, which the first step of each optimizer makes"
               : "probably a cache that is now full";
}

/* Autograd graphs that the program keeps are no cache, even if it has stopped adding to them. The
 * call sites of a graph are many, so they are told together. */
static bool stopped_graphs(const struct page *page, const struct device_report *report,
                           struct buffer *text, size_t *told)
{
    const struct growth_row *largest = NULL;
    int64_t first = 0, last = 0;
    size_t sites = 0;
    for (size_t i = 0; i < report->growth.row_count; i++) {
        const struct growth_row *row = &report->growth.rows[i];
        if (row->fit.kind != GROWTH_STOPPED || row->keeper != KEEPER_GRAPHS)
            continue;
        if (sites++ == 0)
            largest = row;
        sum_add_capped(&first, row->bytes_at_first);
        sum_add_capped(&last, row->bytes_at_end);
    }
    if (sites == 0 || !is_worth_telling(report, first, last))
        return true;
    if ((*told)++ == 0)
        title(page, "Grew, then stopped");
    start_stopped(page, largest, sites - 1, first, last, text);
    buffer_puts(text, "autograd graphs keep it for a backward pass that never comes. More is added "
                      "each time the program keeps another result with its graph.");
    return growth_paragraph(page, text);
}

/* Lists allocations that stopped growing, so that nobody mistakes them for a leak. */
static bool stopped(const struct page *page, const struct device_report *report,
                    struct buffer *text)
{
    size_t told = 0;
    if (!stopped_graphs(page, report, text, &told))
        return false;
    for (size_t i = 0; i < report->growth.row_count; i++) {
        const struct growth_row *row = &report->growth.rows[i];
        if (row->fit.kind != GROWTH_STOPPED || row->keeper == KEEPER_GRAPHS ||
            !is_worth_telling(report, row->bytes_at_first, row->bytes_at_end))
            continue;
        if (told++ == ROWS_OF_STOPPED)
            break;
        if (told == 1)
            title(page, "Grew, then stopped");
        start_stopped(page, row, 0, row->bytes_at_first, row->bytes_at_end, text);
        buffer_printf(text, "%s, not a leak.", why_stopped(row));
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
