/* The advice below the table of growing call sites, and the words it shares with the other
 * paragraphs about growth. */
#ifndef MEMSNAP_RENDER_ANALYZE_GROWTH_ADVICE_H
#define MEMSNAP_RENDER_ANALYZE_GROWTH_ADVICE_H

#include "render/analyze/growth.h"

#define HARDLY_ANY 1000 /* less than 1/1000 of the peak is not worth a sentence */

/* "step" or "forward pass", and their plurals: the parts of the trace that are compared. */
const char *growth_step(const struct device_report *report);
const char *growth_steps(const struct device_report *report);

/* Adds the label of a row, escaped. */
void growth_add_label(struct buffer *text, const struct growth_row *row);

/* Prints `text`, which is already escaped, and empties it. False if out of memory. */
bool growth_paragraph(const struct page *page, struct buffer *text);

/* Prints what to do about memory that grows. `report` has at least one growing row, and `text` is
 * empty. False if out of memory. */
bool growth_advice(const struct page *page, const struct device_report *report,
                   struct buffer *text);

#endif
