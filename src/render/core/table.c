#include "render/core/table.h"

#include <string.h>

#include "render/core/escape.h"

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

void table_add_text(struct table *table, const char *text)
{
    table_add_input(table, text, strlen(text));
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

/* The width below which a text column is not shrunk while other columns can be. */
static size_t least_width(const struct table *table, size_t column)
{
    size_t least = table->columns[column].least;
    return least > LEAST_TEXT ? least : LEAST_TEXT;
}

/* The weight of a column when columns are shrunk. The first text column carries the most
 * information, so it keeps half as much again as the others. */
static size_t weight(const struct table *table, size_t column, size_t first, bool to_the_least)
{
    size_t least = to_the_least ? LEAST_TEXT : least_width(table, column);
    if (table->columns[column].kind != COLUMN_TEXT || table->hidden[column] ||
        table->widths[column] <= least)
        return 0;
    return table->widths[column] * (column == first ? 2 : 3);
}

/* Narrows text columns until the table fits or none can be narrowed further. */
static void shrink(struct table *table, size_t total, size_t page_width)
{
    bool to_the_least = false;
    size_t first = 0;
    while (first < table->column_count && table->columns[first].kind != COLUMN_TEXT)
        first++;
    while (total > page_width) {
        size_t giver = 0;
        for (size_t c = 1; c < table->column_count; c++)
            if (weight(table, c, first, to_the_least) > weight(table, giver, first, to_the_least))
                giver = c;
        if (weight(table, giver, first, to_the_least) > 0) {
            table->widths[giver]--;
            total--;
        } else if (to_the_least) {
            return;
        } else {
            to_the_least = true;
        }
    }
}

/* Caps the width, since a cell longer than any page would only make shrink() slow. */
static size_t bounded_columns(const struct page *page, const char *text)
{
    size_t columns = text_columns(text, strlen(text));
    return columns < page->width ? columns : page->width;
}

/* The columns that a cell takes up: its own, and adjacent empty text cells, into which text
 * overflows. Returns the last one; `*width` is their total width. */
static size_t span_of(const struct table *table, size_t row, size_t column, size_t *width)
{
    const struct table_column *columns = table->columns;
    size_t last = column;
    *width = table->widths[column];
    for (size_t c = column + 1; c < table->column_count && columns[column].kind == COLUMN_TEXT &&
                                columns[c].kind == COLUMN_TEXT;
         c++) {
        if (table->hidden[c])
            continue;
        if (*cell(table, row * table->column_count + c) != '\0')
            break;
        *width += GAP + table->widths[c];
        last = c;
    }
    return last;
}

/* Makes columns as wide as their cells, including overflowing text. */
static void measure(struct table *table, const struct page *page)
{
    size_t columns = table->column_count, rows = cell_count(table) / columns, width;
    bool titled = table->columns[0].title;
    for (size_t c = 0; c < columns; c++)
        table->widths[c] = titled ? strlen(table->columns[c].title) : 0;
    for (int spanning = 0; spanning < 2; spanning++) {
        for (size_t i = 0; i < rows * columns; i++) {
            size_t c = i % columns, needs = bounded_columns(page, cell(table, i));
            bool spans = span_of(table, i / columns, c, &width) != c;
            if (spans == spanning && needs > width)
                table->widths[c] += needs - width;
        }
    }
}

/* Width of the table: its current width, or its minimum. */
static size_t total_width(const struct table *table, size_t indent, bool at_least)
{
    size_t total = indent, visible = 0;
    for (size_t c = 0; c < table->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        if (table->hidden[c])
            continue;
        visible++;
        size_t width = table->widths[c];
        if (column->kind == COLUMN_PROSE)
            width = !at_least ? 0 : column->least < width ? column->least : width;
        if (at_least && column->kind == COLUMN_TEXT && width > least_width(table, c))
            width = least_width(table, c);
        total += width;
    }
    return total + GAP * (visible - 1);
}

/* Hides the least important column. Returns false if no optional column is left. */
static bool hide_one(struct table *table)
{
    size_t chosen = 0;
    for (size_t c = 0; c < table->column_count; c++)
        if (!table->hidden[c] && table->columns[c].optional > table->columns[chosen].optional)
            chosen = c;
    if (table->columns[chosen].optional == 0 || table->hidden[chosen])
        return false;
    table->hidden[chosen] = true;
    return true;
}

/* Nothing may follow the last cell of a line, not even spaces. */
static void print_cell(const struct table_column *column, const struct page *page, size_t width,
                       const char *text, bool last)
{
    struct buffer fitted = BUFFER_INIT;
    size_t size = strlen(text), used = text_columns(text, size);
    if (used > width && column->kind == COLUMN_TEXT)
        used = text_fit(&fitted, text, size, width, column->cut);
    else
        buffer_add(&fitted, text, size);
    size_t padding = used < width ? width - used : 0;
    if (column->kind == COLUMN_NUMBER)
        fprintf(page->out, "%*s", (int)padding, "");
    if (fitted.size)
        fwrite(fitted.bytes, 1, fitted.size, page->out);
    if (!last && column->kind != COLUMN_NUMBER)
        fprintf(page->out, "%*s", (int)padding, "");
    if (!last)
        fprintf(page->out, "%*s", GAP, "");
    buffer_release(&fitted);
}

static void print_titles(const struct table *table, const struct page *page, size_t indent)
{
    size_t columns = table->column_count;
    while (table->hidden[columns - 1] || *table->columns[columns - 1].title == '\0')
        columns--;
    fprintf(page->out, "%*s%s", (int)indent, "", page_style(page, STYLE_FAINT));
    for (size_t c = 0; c < columns; c++)
        if (!table->hidden[c])
            print_cell(&table->columns[c], page, table->widths[c], table->columns[c].title,
                       c + 1 == columns);
    fprintf(page->out, "%s\n", page_plain(page));
}

/* Hides columns in which every cell is empty. */
static void hide_empty(struct table *table)
{
    size_t columns = table->column_count, rows = cell_count(table) / columns;
    for (size_t c = 1; c < columns; c++) {
        size_t row = 0;
        while (row < rows && *cell(table, row * columns + c) == '\0')
            row++;
        table->hidden[c] = rows > 0 && row == rows;
    }
}

static void choose_columns(struct table *table, const struct page *page, size_t indent)
{
    hide_empty(table);
    do {
        measure(table, page);
    } while (total_width(table, indent, true) > page->width && hide_one(table));
}

bool table_hides(struct table *table, const struct page *page, size_t indent, size_t column)
{
    choose_columns(table, page, indent);
    return table->hidden[column];
}

void table_begin(struct table *table, const struct page *page, size_t indent)
{
    choose_columns(table, page, indent);
    shrink(table, total_width(table, indent, false), page->width);
    if (table->columns[0].title)
        print_titles(table, page, indent);
}

/* Trailing empty cells must not leave trailing spaces. */
static size_t filled_cells(const struct table *table, size_t row)
{
    size_t count = table->column_count;
    while (count > 0 && (table->hidden[count - 1] ||
                         *cell(table, row * table->column_count + count - 1) == '\0'))
        count--;
    return count;
}

void table_row(const struct table *table, const struct page *page, size_t indent, size_t row)
{
    if (table_failed(table))
        return;
    size_t filled = filled_cells(table, row), at = indent, width;
    fprintf(page->out, "%*s", (int)indent, "");
    for (size_t c = 0; c < filled; c++) {
        const char *text = cell(table, row * table->column_count + c);
        const struct table_column *column = &table->columns[c];
        if (table->hidden[c])
            continue;
        if (column->kind == COLUMN_PROSE) {
            page_paragraph(page, at, at, text);
            return;
        }
        c = span_of(table, row, c, &width);
        print_cell(column, page, width, text, c + 1 >= filled);
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
