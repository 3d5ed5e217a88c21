#include <stdlib.h>
#include <string.h>

#include "render/analyze/internal.h"
#include "render/diff/rows.h"

#define OPERATOR_COLUMN 5

bool diff_sums_text(const struct page *page, const struct diff *diff, bool phases)
{
    const struct field_context context = {.symbols = diff->symbols};
    size_t count = diff_sum_count(diff, phases);
    struct diff_sum_row row;
    struct row_table table;
    row_table_init(&table, diff_sum_type(phases), page, &context);
    for (size_t i = 0; i < count; i++) {
        diff_sum_row(diff, phases, i, &row);
        row_table_add(&table, &row);
    }
    table_print(&table.table, page, SECTION_INDENT);
    return row_table_finish(&table);
}

static int by_looks(const void *a, const void *b)
{
    const struct diff_line *x = *(const struct diff_line *const *)a;
    const struct diff_line *y = *(const struct diff_line *const *)b;
    int order = strcmp(x->label.brief, y->label.brief);
    return order ? order : (x->category > y->category) - (x->category < y->category);
}

/* Marks the lines that differ from another one only in their operator. Malloc'ed; NULL if out of
 * memory. */
static bool *find_alike(const struct diff *diff)
{
    size_t count = diff->line_count;
    bool *alike = calloc(count + 1, sizeof(*alike));
    const struct diff_line **lines = calloc(count + 1, sizeof(*lines));
    for (size_t i = 0; lines && i < count; i++)
        lines[i] = &diff->lines[i];
    if (alike && lines) {
        qsort(lines, count, sizeof(*lines), by_looks);
        for (size_t i = 1; i < count; i++)
            if (by_looks(&lines[i - 1], &lines[i]) == 0)
                alike[lines[i - 1] - diff->lines] = alike[lines[i] - diff->lines] = true;
    } else {
        free(alike);
        alike = NULL;
    }
    free(lines);
    return alike;
}

static void add_lines(struct row_table *table, const struct page *page, const struct diff *diff,
                      const bool *alike)
{
    const struct diff_sites_text text = {diff, alike};
    const struct field_context context = {.symbols = diff->symbols, .user = &text};
    struct diff_site_row row;
    row_table_init(table, &diff_site_type, page, &context);
    for (size_t i = 0; i < diff->line_count; i++) {
        diff_site_row(diff, i, &row);
        row_table_add(table, &row);
    }
    table->context.user = NULL;
}

bool diff_sites_text(const struct page *page, const struct diff_report *report,
                     const struct diff *diff)
{
    struct row_table rows;
    bool *alike = find_alike(diff);
    add_lines(&rows, page, diff, NULL);
    if (alike && table_hides(&rows.table, page, SECTION_INDENT, OPERATOR_COLUMN)) {
        row_table_finish(&rows);
        add_lines(&rows, page, diff, alike);
    }
    table_begin(&rows.table, page, SECTION_INDENT);
    bool ok = alike && !table_failed(&rows.table);
    for (size_t i = 0; ok && i < diff->line_count; i++) {
        const struct diff_line *line = &diff->lines[i];
        const struct stack_example example = {line->row.stack, &line->site, 0};
        table_row(&rows.table, page, SECTION_INDENT, i);
        if (report->stacks != STACKS_NONE && line->row.stack != STACK_NONE)
            ok = site_stack(page, diff->sites, report->stacks, &example);
    }
    free(alike);
    return row_table_finish(&rows) && ok;
}
