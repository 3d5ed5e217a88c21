/* The tables of a comparison as text. */
#ifndef MEMSNAP_RENDER_DIFF_PARTS_H
#define MEMSNAP_RENDER_DIFF_PARTS_H

#include "render/diff.h"

/* "+3.20 GiB", "-512 B", "0 B" */
const char *diff_signed(const struct page *page, char out[UNITS_TEXT_SIZE], int64_t bytes);

/* By category, or by phase. */
bool diff_sums_text(const struct page *page, const struct diff *diff, bool phases);
bool diff_sites_text(const struct page *page, const struct diff_report *report,
                     const struct diff *diff);

#endif
