#include "render/table.h"

#include <string.h>

#include "render/escape.h"

#define GAP        2 /* columns between two cells */
#define LEAST_TEXT 8 /* a text column is not made narrower than this */

void table_init(struct table *table, const struct table_column *columns, size_t column_count)
{
    *table = (struct table){.columns = columns, .column_count = column_count};
}

void table_release(struct table *table)
{
    buffer_release(&table->text);
    buffer_release(&table->starts);
}

bool table_failed(const struct table *table)
{
    return table->text.failed || table->starts.failed;
}

static void start_cell(struct table *table)
{
    size_t start = table->text.size;
    buffer_add(&table->starts, (const char *)&start, sizeof(start));
}

void table_add(struct table *table, const char *text)
{
    start_cell(table);
    buffer_add(&table->text, text, strlen(text) + 1);
}

void table_add_input(struct table *table, const char *bytes, size_t size)
{
    start_cell(table);
    escape_text(&table->text, bytes, size);
    buffer_putc(&table->text, '\0');
}

static size_t cell_count(const struct table *table)
{
    return table_failed(table) ? 0 : table->starts.size / sizeof(size_t);
}

static const char *cell(const struct table *table, size_t index)
{
    size_t start;
    memcpy(&start, table->starts.bytes + index * sizeof(start), sizeof(start));
    return table->text.bytes + start;
}

/* How much a column has to give: the first text column says most, and keeps half as much again. */
static size_t weight(const struct table *table, size_t column, size_t first)
{
    if (table->columns[column].kind != COLUMN_TEXT || table->widths[column] <= LEAST_TEXT)
        return 0;
    return table->widths[column] * (column == first ? 2 : 3);
}

/* Takes columns away from the text columns until the table fits or nothing more can be had. */
static void shrink(struct table *table, size_t total, size_t page_width)
{
    size_t first = 0;
    while (first < table->column_count && table->columns[first].kind != COLUMN_TEXT)
        first++;
    for (; total > page_width; total--) {
        size_t giver = 0;
        for (size_t c = 1; c < table->column_count; c++)
            if (weight(table, c, first) > weight(table, giver, first))
                giver = c;
        if (weight(table, giver, first) == 0)
            return;
        table->widths[giver]--;
    }
}

/* A cell longer than any page would only make shrink() slow. */
static size_t bounded_columns(const struct page *page, const char *text)
{
    size_t columns = text_columns(text, strlen(text));
    return columns < page->width ? columns : page->width;
}

/* Nothing follows the last cell of a line, not even spaces. */
static void print_cell(const struct table *table, const struct page *page, size_t column,
                       size_t width, const char *text, bool last)
{
    struct buffer fitted = BUFFER_INIT;
    size_t used = text_fit(&fitted, text, strlen(text), width);
    size_t padding = used < width ? width - used : 0;
    if (table->columns[column].kind == COLUMN_NUMBER)
        fprintf(page->out, "%*s", (int)padding, "");
    if (fitted.size)
        fwrite(fitted.bytes, 1, fitted.size, page->out);
    if (!last && table->columns[column].kind != COLUMN_NUMBER)
        fprintf(page->out, "%*s", (int)padding, "");
    if (!last)
        fprintf(page->out, "%*s", GAP, "");
    buffer_release(&fitted);
}

void table_begin(struct table *table, const struct page *page, size_t indent)
{
    size_t columns = table->column_count;
    bool titled = table->columns[0].title;
    for (size_t c = 0; c < columns; c++)
        table->widths[c] = titled ? strlen(table->columns[c].title) : 0;
    for (size_t i = 0; i < cell_count(table); i++) {
        size_t width = bounded_columns(page, cell(table, i));
        if (width > table->widths[i % columns])
            table->widths[i % columns] = width;
    }
    size_t total = indent + GAP * (columns - 1);
    for (size_t c = 0; c < columns; c++)
        total += table->columns[c].kind == COLUMN_PROSE ? 0 : table->widths[c];
    shrink(table, total, page->width);
    if (!titled)
        return;
    fprintf(page->out, "%*s%s", (int)indent, "", page_style(page, STYLE_FAINT));
    while (*table->columns[columns - 1].title == '\0')
        columns--;
    for (size_t c = 0; c < columns; c++)
        print_cell(table, page, c, table->widths[c], table->columns[c].title, c + 1 == columns);
    fprintf(page->out, "%s\n", page_plain(page));
}

/* Trailing empty cells leave no spaces behind. */
static size_t filled_cells(const struct table *table, size_t row)
{
    size_t count = table->column_count;
    while (count > 0 && *cell(table, row * table->column_count + count - 1) == '\0')
        count--;
    return count;
}

void table_row(const struct table *table, const struct page *page, size_t indent, size_t row)
{
    if (table_failed(table))
        return;
    size_t filled = filled_cells(table, row), at = indent;
    fprintf(page->out, "%*s", (int)indent, "");
    for (size_t c = 0; c < filled; c++) {
        const char *text = cell(table, row * table->column_count + c);
        if (table->columns[c].kind == COLUMN_PROSE) {
            page_paragraph(page, at, at, text);
            return;
        }
        size_t width = table->widths[c];
        /* A text runs on over an empty text cell beside it. */
        while (c + 1 < table->column_count && table->columns[c].kind == COLUMN_TEXT &&
               table->columns[c + 1].kind == COLUMN_TEXT &&
               *cell(table, row * table->column_count + c + 1) == '\0')
            width += GAP + table->widths[++c];
        print_cell(table, page, c, width, text, c + 1 >= filled);
        at += width + GAP;
    }
    fputc('\n', page->out);
}

void table_print(struct table *table, const struct page *page, size_t indent)
{
    table_begin(table, page, indent);
    for (size_t row = 0; row < cell_count(table) / table->column_count; row++)
        table_row(table, page, indent, row);
}
