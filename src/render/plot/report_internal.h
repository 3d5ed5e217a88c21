/* What the parts of the report page share. */
#ifndef MEMSNAP_RENDER_PLOT_REPORT_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_REPORT_INTERNAL_H

#include "render/plot/report.h"

#define REPORT_EDGE 32 /* pixels */

/* Pixels from the top that words may take. */
unsigned plot_report_words_room(const struct plot_look *look);
/* The words at the top; and where they end, in pixels from there. */
void plot_report_words(FILE *script, const struct plot_look *look,
                       const struct device_report *report);
unsigned plot_report_words_end(const struct plot_look *look, const struct device_report *report);

#endif
