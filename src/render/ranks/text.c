#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/core/escape.h"
#include "render/core/table.h"
#include "render/ranks/rows.h"

#define INDENT      2
#define RANGES_TOLD 12 /* ranges of the ranks of a group that are listed */
/* Rows of the table of ranks without --top; if there are more, only TOP_TOLD are shown. */
#define ROWS_TOLD     32
#define TOP_TOLD      10
#define OUTLIERS_TOLD 5

static void put(const struct page *page, size_t indent, struct buffer *text, bool *ok)
{
    *ok = *ok && !text->failed;
    if (*ok) {
        fprintf(page->out, "%*s", (int)indent, "");
        page_paragraph(page, indent, indent + INDENT, text->bytes);
    }
    buffer_clear(text);
}

static void title(const struct page *page, const char *text)
{
    fprintf(page->out, "\n%s%s%s\n", page_style(page, STYLE_TITLE), text, page_plain(page));
}

static void add_spread(const struct page *page, struct buffer *text,
                       const struct rank_spread *spread)
{
    char size[UNITS_TEXT_SIZE];
    buffer_puts(text, page_bytes(page, size, spread->min_bytes));
    if (spread->min_bytes == spread->max_bytes)
        return;
    buffer_printf(text, " to %s", page_bytes(page, size, spread->max_bytes));
    buffer_printf(text, ", median %s", page_bytes(page, size, spread->median_bytes));
}

static bool put_summary(const struct page *page, const struct ranks_report *report)
{
    const struct ranks *ranks = report->ranks;
    struct buffer text = BUFFER_INIT;
    bool ok = true;
    buffer_printf(&text, "%zu capture%s", report->captures, report->captures == 1 ? "" : "s");
    if (ranks->row_count != report->captures)
        buffer_printf(&text, ", %zu devices", ranks->row_count);
    if (report->failure_count > 0)
        buffer_printf(&text, "; %zu file%s could not be read", report->failure_count,
                      report->failure_count == 1 ? "" : "s");
    put(page, 0, &text, &ok);
    buffer_puts(&text, "peak of active memory: ");
    add_spread(page, &text, &ranks->peak);
    if (ranks->peak.min_bytes != ranks->peak.max_bytes) {
        buffer_puts(&text, "; lowest is ");
        add_row_name(&text, &ranks->rows[ranks->peak.min_row]);
        buffer_puts(&text, ", highest ");
        add_row_name(&text, &ranks->rows[ranks->peak.max_row]);
    }
    put(page, INDENT, &text, &ok);
    buffer_puts(&text, "peak of reserved memory: ");
    add_spread(page, &text, &ranks->reserved);
    put(page, INDENT, &text, &ok);
    add_missing(&text, ranks);
    if (text.size > 0)
        put(page, INDENT, &text, &ok);
    if (ranks->host_rows > 0) {
        buffer_printf(&text, "pinned host memory of %zu capture%s is left out", ranks->host_rows,
                      ranks->host_rows == 1 ? "" : "s");
        put(page, INDENT, &text, &ok);
    }
    buffer_release(&text);
    return ok;
}

void add_group_members(struct buffer *text, const struct ranks *ranks,
                       const struct rank_group *group)
{
    size_t told = 0;
    for (size_t first = 0, end; first < group->count; first = end) {
        const struct rank_row *row = &ranks->rows[group->rows[first]];
        int64_t from = row->summary->rank, to = from;
        for (end = first + 1; end < group->count && from >= 0; end++) {
            int64_t next = ranks->rows[group->rows[end]].summary->rank;
            if (next != to && next != to + 1)
                break;
            to = next;
        }
        buffer_puts(text, first > 0 ? ", " : "");
        if (told++ == RANGES_TOLD) {
            buffer_puts(text, "...");
            return;
        }
        if (from < 0)
            escape_text(text, row->summary->path, strlen(row->summary->path));
        else if (from == to)
            buffer_printf(text, "%" PRId64, from);
        else
            buffer_printf(text, "%" PRId64 "-%" PRId64, from, to);
    }
}

static void add_size(struct table *table, const struct page *page, int64_t bytes)
{
    char size[UNITS_TEXT_SIZE];
    table_add(table, page_bytes(page, size, bytes));
}

static bool add_group(struct table *table, const struct page *page, const struct ranks *ranks,
                      size_t index, struct buffer *text)
{
    const struct rank_group *group = &ranks->groups[index];
    const struct summary_category *largest = largest_category(ranks->rows[group->rows[0]].device);
    buffer_clear(text);
    add_group_name(text, index);
    table_add(table, text->failed ? "" : text->bytes);
    char number[UNITS_TEXT_SIZE];
    table_add(table, units_count(number, group->count));
    add_size(table, page, group->peak.median_bytes);
    add_size(table, page, group->peak.min_bytes);
    add_size(table, page, group->peak.max_bytes);
    table_add_text(table, group->is_mixed ? "(mixed)" : largest ? largest->name : "");
    buffer_clear(text);
    add_group_members(text, ranks, group);
    table_add(table, text->failed ? "" : text->bytes);
    return !text->failed;
}

static bool put_groups(const struct page *page, const struct ranks *ranks)
{
    static const struct table_column columns[] = {
        {"group", COLUMN_LABEL, 0, 0, 0},        {"count", COLUMN_NUMBER, 0, 0, 0},
        {"median peak", COLUMN_NUMBER, 0, 0, 0}, {"lowest", COLUMN_NUMBER, 0, 0, 2},
        {"highest", COLUMN_NUMBER, 0, 0, 2},     {"largest category", COLUMN_LABEL, 0, 0, 1},
        {"ranks", COLUMN_TEXT, CUT_END, 12, 0},
    };
    struct buffer text = BUFFER_INIT;
    struct table table;
    bool ok = true;
    title(page, "Groups: ranks in which the same code holds the same memory");
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; ok && i < ranks->group_count; i++)
        ok = add_group(&table, page, ranks, i, &text);
    ok = ok && !table_failed(&table);
    if (ok)
        table_print(&table, page, INDENT);
    table_release(&table);
    buffer_release(&text);
    return ok;
}

static void add_outlier_site(const struct page *page, struct table *table,
                             const struct outlier_site *site)
{
    const char *op = site->site->op;
    struct buffer name = BUFFER_INIT;
    char size[UNITS_TEXT_SIZE];
    buffer_puts(&name, site->site->site);
    if (*op)
        buffer_printf(&name, " [%s]", strncmp(op, "aten::", 6) == 0 ? op + 6 : op);
    table_add(table, page_change(page, size, site->bytes - site->usual_bytes));
    add_size(table, page, site->bytes);
    add_size(table, page, site->usual_bytes);
    table_add_text(table, site->site->category);
    table_add_input(table, name.size ? name.bytes : "", name.size);
    buffer_release(&name);
}

static bool put_outlier_sites(const struct page *page, const struct rank_outlier *outlier)
{
    static const struct table_column columns[] = {
        {"difference", COLUMN_NUMBER, 0, 0, 0},      {"here", COLUMN_NUMBER, 0, 0, 1},
        {"median", COLUMN_NUMBER, 0, 0, 1},          {"category", COLUMN_LABEL, 0, 0, 2},
        {"call site", COLUMN_TEXT, CUT_SITE, 24, 0},
    };
    struct table table;
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < outlier->site_count; i++)
        add_outlier_site(page, &table, &outlier->sites[i]);
    bool ok = !table_failed(&table);
    if (ok && outlier->site_count > 0)
        table_print(&table, page, 2 * INDENT);
    table_release(&table);
    return ok;
}

static bool put_outlier(const struct page *page, const struct ranks *ranks,
                        const struct rank_outlier *outlier)
{
    const struct rank_row *row = &ranks->rows[outlier->row];
    struct buffer text = BUFFER_INIT;
    char peak[UNITS_TEXT_SIZE], change[UNITS_TEXT_SIZE];
    bool ok = true;
    int64_t apart = row->device->peak_bytes - outlier->usual_bytes;
    add_row_name(&text, row);
    buffer_printf(&text, ": peak %s, %s %s the median of group ",
                  page_bytes(page, peak, row->device->peak_bytes),
                  page_bytes(page, change, apart < 0 ? -apart : apart),
                  apart < 0 ? "below" : "above");
    add_group_name(&text, outlier->group);
    if (row->group != outlier->group)
        buffer_puts(&text, ", the group that it is most like");
    put(page, INDENT, &text, &ok);
    buffer_release(&text);
    return ok && put_outlier_sites(page, outlier);
}

static bool put_outliers(const struct page *page, const struct ranks_report *report)
{
    const struct ranks *ranks = report->ranks;
    size_t most = report->top_given ? report->top : OUTLIERS_TOLD;
    size_t told = most == 0 || most > ranks->outlier_count ? ranks->outlier_count : most;
    if (told == 0)
        return true;
    title(page, "Outliers: ranks that differ from their group, and the code that causes it");
    for (size_t i = 0; i < told; i++)
        if (!put_outlier(page, ranks, &ranks->outliers[i]))
            return false;
    if (told < ranks->outlier_count)
        fprintf(page->out, "%*s(and %zu more; --top 0 shows all)\n", INDENT, "",
                ranks->outlier_count - told);
    return true;
}

static bool put_rows(const struct page *page, const struct ranks_report *report)
{
    const struct ranks *ranks = report->ranks;
    const struct field_context context = {0};
    size_t most = report->top_given ? report->top : ranks->row_count <= ROWS_TOLD ? 0 : TOP_TOLD;
    bool all = most == 0 || most >= ranks->row_count;
    size_t told = all ? ranks->row_count : most;
    enum ranks_order order = report->order;
    if (order == RANKS_BY_DEFAULT)
        order = all ? RANKS_BY_RANK : RANKS_BY_PEAK;
    const struct rank_row **rows = ranks_sorted(ranks, order);
    struct row_table table;
    if (!rows)
        return false;
    title(page, ranks_order_title(order, all));
    row_table_init(&table, &rank_type, page, &context);
    for (size_t i = 0; i < told; i++)
        row_table_add(&table, rows[i]);
    free(rows);
    if (!row_table_print(&table, page, INDENT))
        return false;
    if (!all)
        fprintf(page->out, "%*s(and %zu more; --top 0 shows all)\n", INDENT, "",
                ranks->row_count - told);
    return true;
}

/* The typical rank of a group: the first one whose peak is the median. */
static const struct rank_row *typical(const struct ranks *ranks, size_t index)
{
    const struct rank_group *group = &ranks->groups[index];
    for (size_t i = 0; i < group->count; i++)
        if (ranks->rows[group->rows[i]].device->peak_bytes == group->peak.median_bytes)
            return &ranks->rows[group->rows[i]];
    return &ranks->rows[group->rows[0]];
}

/* On one line, so that they can be pasted. */
static bool put_next(const struct page *page, const struct ranks *ranks)
{
    struct buffer text = BUFFER_INIT;
    title(page, "Next");
    if (ranks->outlier_count > 0) {
        const struct rank_outlier *outlier = &ranks->outliers[0];
        buffer_puts(&text, "  memsnap diff ");
        escape_shell(&text, typical(ranks, outlier->group)->summary->path);
        buffer_putc(&text, ' ');
        escape_shell(&text, ranks->rows[outlier->row].summary->path);
        buffer_putc(&text, '\n');
    }
    buffer_puts(&text, "  memsnap analyze ");
    escape_shell(&text, ranks->rows[ranks->peak.max_row].summary->path);
    bool ok = !text.failed;
    if (ok)
        fprintf(page->out, "%s\n", text.bytes);
    buffer_release(&text);
    return ok;
}

bool ranks_text(const struct page *page, const struct ranks_report *report)
{
    return put_summary(page, report) && put_groups(page, report->ranks) &&
           put_outliers(page, report) && put_rows(page, report) && put_next(page, report->ranks);
}

bool ranks_csv(FILE *out, const struct ranks_report *report, struct error *err)
{
    const struct ranks *ranks = report->ranks;
    const struct field_context context = {0};
    struct record_writer csv;
    const struct rank_row **rows = ranks_sorted(ranks, report->order);
    if (!rows)
        return error_out_of_memory(err);
    bool ok = records_begin(&csv, out, RECORDS_CSV, &rank_type, err), begun = ok;
    for (size_t i = 0; ok && i < ranks->row_count; i++)
        ok = record_put_row(&csv, rows[i], &context, err);
    free(rows);
    if (ok)
        return records_end(&csv, err);
    if (begun)
        records_release(&csv);
    return false;
}
