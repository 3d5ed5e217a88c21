/* The page that has all: the numbers that matter and what to do, memory over time, what it was for
 * and who held it, and how reserved memory is cut up. This is what its parts share. */
#ifndef MEMSNAP_RENDER_PLOT_REPORT_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_REPORT_INTERNAL_H

#include "render/plot/snapshot.h"

#define REPORT_EDGE 32 /* pixels */

/* The words at the top, in `room` pixels; and where they end, in pixels from the top. */
void plot_report_words(FILE *script, const struct plot_look *look,
                       const struct device_report *report, unsigned room);
unsigned plot_report_words_end(const struct plot_look *look, const struct device_report *report,
                               unsigned room);

#endif
