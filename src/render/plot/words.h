/* What pictures of a snapshot say in words. Names from the input are raw in it: escape_plot(). */
#ifndef MEMSNAP_RENDER_PLOT_WORDS_H
#define MEMSNAP_RENDER_PLOT_WORDS_H

#include "analysis/report/report.h"

/* What a picture is about; nothing is owned. */
struct plot_subject {
    const struct device_report *report;
    const struct symbols *symbols;
    bool at_given, at_end; /* as in struct report_options */
};

/* "at the peak (event 3,485 of 22,332, +87.6 ms)", "at the end", "in the snapshot" */
#define PLOT_MOMENT_SIZE 200
const char *plot_moment(char out[PLOT_MOMENT_SIZE], const struct plot_subject *subject);

/* Why the category of much of what is live after `item` is unknown; nothing where little is. */
void plot_unknown_words(struct buffer *out, const struct timeline *timeline,
                        const struct categories *categories, int64_t item);

#endif
