/* Tables with aligned columns. On a narrow page, optional columns are left out and text is cut;
 * numbers are never cut. */
#ifndef MEMSNAP_RENDER_CORE_TABLE_H
#define MEMSNAP_RENDER_CORE_TABLE_H

#include "base/buffer.h"
#include "render/core/fit.h"
#include "render/core/page.h"

#define TABLE_COLUMNS 16

enum column_kind {
    COLUMN_NUMBER, /* right-aligned, never cut */
    COLUMN_LABEL,  /* left-aligned, never cut: constant short words */
    COLUMN_TEXT,   /* left-aligned, cut where the page is too narrow */
    COLUMN_PROSE,  /* the last column: broken into lines */
};

struct table_column {
    const char *title; /* if that of the first column is NULL, there is no line of titles */
    enum column_kind kind;
    enum cut cut;      /* COLUMN_TEXT: how */
    unsigned least;    /* text and prose: the preferred minimum width; 0: none */
    unsigned optional; /* order of removal when space is short: the highest first; 0: never */
};

struct table {
    const struct table_column *columns; /* not owned; at most TABLE_COLUMNS */
    size_t column_count;
    struct buffer text;   /* every cell, escaped, NUL-terminated */
    struct buffer starts; /* a size_t for each cell: its offset in text */
    size_t widths[TABLE_COLUMNS];
    bool hidden[TABLE_COLUMNS];
};

void table_init(struct table *table, const struct table_column *columns, size_t column_count);
void table_release(struct table *table);

/* Cells are added row by row, from left to right. */
void table_add(struct table *table, const char *text);                     /* constant text */
void table_add_input(struct table *table, const char *bytes, size_t size); /* escaped here */
void table_add_text(struct table *table, const char *text);                /* the same */

/* True if a column is left out on this page, because it is empty or there is no room. */
bool table_hides(struct table *table, const struct page *page, size_t indent, size_t column);

/* Fixes the column widths for a page and prints the titles, if there are any. */
void table_begin(struct table *table, const struct page *page, size_t indent);
void table_row(const struct table *table, const struct page *page, size_t indent, size_t row);
/* Prints the whole table: the titles and every row. */
void table_print(struct table *table, const struct page *page, size_t indent);

/* True if memory ran out while cells were added. */
bool table_failed(const struct table *table);

#endif
