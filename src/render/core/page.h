/* The destination of a text report: a stream, its width, and the characters and colours it can
 * show. */
#ifndef MEMSNAP_RENDER_CORE_PAGE_H
#define MEMSNAP_RENDER_CORE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/units.h"

struct page {
    FILE *out;
    size_t width; /* columns; tables and paragraphs keep within it */
    bool colour;
    enum unit unit;
};

enum style { STYLE_TITLE, STYLE_WARNING, STYLE_FAINT };

/* The page for `out`. The width is $COLUMNS, the width of the terminal, or 80 columns. Colour is
 * used only on a terminal that is not dumb, and only if NO_COLOR is not set. */
struct page page_for(FILE *out, enum unit unit);

/* Terminal sequences; empty strings if the page has no colour. */
const char *page_style(const struct page *page, enum style style);
const char *page_plain(const struct page *page);

/* units_bytes() in the page's unit. */
const char *page_bytes(const struct page *page, char out[UNITS_TEXT_SIZE], int64_t bytes);

/* The same for unsigned sizes. */
const char *page_size(const struct page *page, char out[UNITS_TEXT_SIZE], uint64_t bytes);

/* page_bytes() with a sign: "+3.20 GiB", "-512 B", "0 B". */
const char *page_change(const struct page *page, char out[UNITS_TEXT_SIZE], int64_t bytes);

/* "58.9%" of `whole`; "-" if `whole` is 0. */
const char *page_share(char out[UNITS_TEXT_SIZE], int64_t part, int64_t whole);

/* Prints escaped text, breaks lines at spaces, and ends the last line. Printing continues at column
 * `column`, after a space if that is beyond `indent`, the column at which all other lines begin. A
 * word longer than the page gets a line of its own; one that would fill a screen is cut in the
 * middle. */
void page_paragraph(const struct page *page, size_t column, size_t indent, const char *text);

#endif
