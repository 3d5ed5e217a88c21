#include <string.h>

#include "render/core/escape.h"
#include "render/run/internal.h"
#include "render/run/operators.h"

#define INDENT              2
#define OPERATORS_TOP       5
#define INCONSISTENCIES_TOP 8 /* that are listed */

/* A paragraph from the page's left edge, or with `bullet` an item of a list. Releases the text. */
static bool paragraph(const struct page *page, struct buffer *text)
{
    bool ok = !text->failed;
    if (ok) {
        fprintf(page->out, "%*s", INDENT, "");
        page_paragraph(page, INDENT, INDENT + 2, text->bytes);
    }
    buffer_release(text);
    return ok;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static bool headline(const struct page *page, const struct run_analysis *analysis)
{
    const struct run_report *report = analysis->report;
    struct buffer text = BUFFER_INIT;
    char ranks[UNITS_TEXT_SIZE], calls[UNITS_TEXT_SIZE], files[UNITS_TEXT_SIZE];
    escape_text(&text, analysis->path, strlen(analysis->path));
    bool ok = !text.failed;
    if (ok)
        fprintf(page->out, "%s (MemProfiler: %s rank%s, %s call%s, %s file%s)\n", text.bytes,
                units_count(ranks, report->rank_count), plural(report->rank_count),
                units_count(calls, report->row_count), plural(report->row_count),
                units_count(files, report->run->file_count), plural(report->run->file_count));
    buffer_release(&text);
    return ok;
}

/* The first `top` rows, and how many are left out. */
static bool print_rows(const struct page *page, const char *heading, const struct row_type *type,
                       const void *rows, size_t count, size_t top, const struct run_report *report)
{
    const struct field_context context = run_context(report);
    size_t shown = top > 0 && top < count ? top : count;
    char number[UNITS_TEXT_SIZE];
    if (count == 0)
        return true;
    run_title(page, heading);
    bool ok = rows_print(page, INDENT, type, rows, shown, &context);
    if (shown < count)
        fprintf(page->out, "%*s... and %s more; --top 0 lists all\n", INDENT, "",
                units_count(number, count - shown));
    return ok;
}

static bool is_size(enum run_figure figure)
{
    return figure != RUN_RETRIES && figure != RUN_OOMS;
}

static bool print_outlier(const struct page *page, const struct run_outlier *outlier)
{
    char number[UNITS_TEXT_SIZE], median[UNITS_TEXT_SIZE];
    struct buffer text = BUFFER_INIT;
    if (is_size(outlier->figure)) {
        page_bytes(page, number, outlier->number);
        page_bytes(page, median, outlier->median);
    } else {
        units_count(number, (uint64_t)outlier->number);
        units_count(median, (uint64_t)outlier->median);
    }
    buffer_printf(&text, "Rank %u stands out: %s is %s, the median of the ranks is %s.",
                  outlier->rank, run_figure_names[outlier->figure], number, median);
    return paragraph(page, &text);
}

static bool print_ranks(const struct page *page, const struct run_analysis *analysis)
{
    const struct run_report *report = analysis->report;
    if (report->rank_count < 2)
        return true;
    bool ok = print_rows(page, "Ranks, the highest of each", &run_rank_type, report->ranks,
                         report->rank_count, analysis->top, report);
    for (size_t i = 0; ok && i < report->outlier_count; i++)
        ok = print_outlier(page, &report->outliers[i]);
    struct buffer text = BUFFER_INIT;
    if (report->outlier_count > 0)
        return ok;
    buffer_printf(&text, "No rank differs from the median by more than %d%%.", RUN_OUTLIER_PERCENT);
    return ok && paragraph(page, &text);
}

static void add_number(struct buffer *text, int64_t number)
{
    if (number == RUN_ABSENT)
        buffer_puts(text, "nothing");
    else
        buffer_printf(text, "%lld", (long long)number);
}

static bool print_inconsistency(const struct page *page, const struct run_report *report,
                                const struct run_inconsistency *found)
{
    const struct symbols *symbols = report->run->symbols;
    struct text function = symbols_text(symbols, found->key.function);
    struct text name = symbols_text(symbols, found->name);
    struct text path = symbols_text(symbols, report->run->files[found->found_file].path);
    struct buffer text = BUFFER_INIT;
    buffer_printf(&text, "Rank %u, ", found->key.rank);
    escape_text(&text, function.bytes, function.size);
    buffer_printf(&text, " %u %s: %s: ", found->key.iteration,
                  found->key.side == RUN_END ? "end" : "start", run_check_words(found->check));
    escape_text(&text, name.bytes, name.size);
    buffer_puts(&text, " is ");
    add_number(&text, found->found);
    buffer_puts(&text, ", not ");
    add_number(&text, found->expected);
    buffer_puts(&text, " (");
    escape_text(&text, path.bytes, path.size);
    buffer_puts(&text, ")");
    return paragraph(page, &text);
}

static bool print_checks(const struct page *page, const struct run_report *report)
{
    struct buffer text = BUFFER_INIT;
    char number[UNITS_TEXT_SIZE], total[UNITS_TEXT_SIZE];
    uint64_t made = 0;
    for (size_t i = 0; i < RUN_CHECKS; i++)
        made += report->checks_made[i];
    run_title(page, "Do the files agree?");
    if (made == 0)
        buffer_puts(&text, "Nothing to compare: no two files describe the same moment.");
    else if (report->inconsistency_total == 0)
        buffer_printf(&text, "Yes, in all %s comparisons.", units_count(total, made));
    else
        buffer_printf(&text, "No, in %s of %s comparisons:",
                      units_count(number, report->inconsistency_total), units_count(total, made));
    bool ok = paragraph(page, &text);
    size_t shown = report->inconsistency_count;
    if (shown > INCONSISTENCIES_TOP)
        shown = INCONSISTENCIES_TOP;
    for (size_t i = 0; ok && i < shown; i++)
        ok = print_inconsistency(page, report, &report->inconsistencies[i]);
    if (shown < report->inconsistency_total)
        fprintf(page->out, "%*s... and %s more\n", INDENT, "",
                units_count(number, report->inconsistency_total - shown));
    return ok;
}

/* The snapshots with out-of-memory events. */
static bool print_ooms(const struct page *page, const struct run_report *report)
{
    const struct memory_run *run = report->run;
    const struct field_context context = run_context(report);
    struct row_table rows;
    size_t count = 0;
    for (size_t i = 0; i < run->snapshot_count; i++)
        count += run->snapshots[i].ooms > 0;
    if (count == 0)
        return true;
    run_title(page, "Out of memory");
    row_table_init(&rows, &run_oom_type, page, &context);
    for (size_t i = 0; i < run->snapshot_count; i++)
        if (run->snapshots[i].ooms > 0)
            row_table_add(&rows, &run->snapshots[i]);
    return row_table_print(&rows, page, INDENT);
}

/* Prints the operators of each table: only a few without --top. */
static bool print_operators(const struct page *page, const struct run_analysis *analysis)
{
    const struct memory_run *run = analysis->report->run;
    bool ok = true;
    for (size_t i = 0; ok && i < run->operators.count; i++) {
        const struct operator_table *table = &run->operators.tables[i];
        ok = operators_print(page, &run->operators, table,
                             symbols_text(run->symbols, run->files[table->file].path),
                             analysis->top_given ? analysis->top : OPERATORS_TOP);
    }
    return ok;
}

bool run_text(const struct page *page, const struct run_analysis *analysis)
{
    const struct run_report *report = analysis->report;
    return headline(page, analysis) &&
           print_rows(page, "Memory of the device, from the start to the end of each call",
                      &run_call_type, report->rows, report->row_count, analysis->top, report) &&
           print_rows(page, "Memory of the host, and what autograd packed for the backward pass",
                      &run_host_type, report->rows, report->row_count, analysis->top, report) &&
           print_rows(page, "Profiler traces", &run_trace_type, report->run->traces,
                      report->run->trace_count, analysis->top, report) &&
           print_ooms(page, report) && print_ranks(page, analysis) &&
           run_print_tables(page, analysis) && print_operators(page, analysis) &&
           print_checks(page, report);
}
