/* The report page: key figures and advice, memory over time, memory by category and by call site,
 * and the layout of reserved memory. Shared by its files. */
#ifndef MEMSNAP_RENDER_PLOT_REPORT_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_REPORT_INTERNAL_H

#include "render/plot/snapshot.h"

#define REPORT_EDGE 32 /* pixels */

/* Writes the text at the top, at most `room` pixels high, and sets where it ends, in pixels from
 * the top. */
void plot_report_words(FILE *script, const struct plot_look *look,
                       const struct device_report *report, unsigned room);
unsigned plot_report_words_end(const struct plot_look *look, const struct device_report *report,
                               unsigned room);

#endif
