/* The ranks of a run as one HTML page: groups, outliers, a heat map, and the details of each rank,
 * which a click on the rank opens.
 *
 * The page has no script, and loads nothing from anywhere; its content security policy allows only
 * its style. Details are sections that the style shows while the page's address names them.
 *
 * Bounded: the details have at most RUN_PAGE_DETAILS bytes. Those of outliers come first, then
 * those of the first ranks of each group; the page says for how many ranks there was no room. */
#ifndef MEMSNAP_RENDER_PAGE_RUN_H
#define MEMSNAP_RENDER_PAGE_RUN_H

#include <stdio.h>

#include "render/ranks/ranks.h"

#define RUN_PAGE_DETAILS ((size_t)12 << 20)
#define RUN_PAGE_ROWS    2000 /* of the table of ranks */
#define RUN_PAGE_COLUMNS 160  /* of a curve */

/* The summaries of the report have their curves. `title` is raw bytes. */
bool run_page_write(FILE *out, const char *title, const struct ranks_report *report,
                    struct error *err);

#endif
