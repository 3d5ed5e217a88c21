/* Where a text report goes: a stream, its width, and what it can show. */
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

/* For `out`, or for a file when it is no terminal: $COLUMNS, the terminal's own width, or 80
 * columns; colour only on a terminal that is not dumb, and not with NO_COLOR set. */
struct page page_for(FILE *out, enum unit unit);

/* Terminal sequences, empty strings without colour. */
const char *page_style(const struct page *page, enum style style);
const char *page_plain(const struct page *page);

/* units_bytes() in the page's unit. */
const char *page_bytes(const struct page *page, char out[UNITS_TEXT_SIZE], int64_t bytes);

/* The same with a sign: "+3.20 GiB", "-512 B", "0 B". */
const char *page_change(const struct page *page, char out[UNITS_TEXT_SIZE], int64_t bytes);

/* "58.9%" of `whole`, "-" where that is nothing. */
const char *page_share(char out[UNITS_TEXT_SIZE], int64_t part, int64_t whole);

/* Prints escaped text, breaking lines at spaces, and ends the line. It goes on at column `column`,
 * after a space if that is beyond `indent`, which is where every other line begins. A word that is
 * longer than the page stands in a line of its own; the middle of one that fills a screen is cut.
 */
void page_paragraph(const struct page *page, size_t column, size_t indent, const char *text);

#endif
