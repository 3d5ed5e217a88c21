/* The page that has all: the numbers that matter and what to do, memory over time, what it was for
 * and who held it, and how reserved memory is cut up. */
#ifndef MEMSNAP_RENDER_PLOT_REPORT_H
#define MEMSNAP_RENDER_PLOT_REPORT_H

#include "render/plot/bars.h"
#include "render/plot/segments.h"
#include "render/plot/timeline.h"

enum {
    REPORT_SCRIPT,
    REPORT_CURVES,
    REPORT_PHASES,
    REPORT_BANDS,
    REPORT_LABELS,
    REPORT_REST,
    REPORT_CATEGORIES,
    REPORT_SITES,
    REPORT_BOXES,
    REPORT_ENDS,
    REPORT_BLOCKS,
    REPORT_POOLS,
    REPORT_HOLE,
};
#define PLOT_REPORT_FILES PLOT_TIMELINE_FILES, "category-bars.tsv", "bars.tsv", PLOT_SEGMENTS_DATA

#define PLOT_REPORT_HEIGHT 1200 /* pixels, where nobody asks for another size */

/* The templates that the page is made of, in the order of the kind's list. */
enum { REPORT_HEAD, REPORT_PAGE, REPORT_FRAME, REPORT_TIMELINE, REPORT_BARS, REPORT_SEGMENTS };
#define PLOT_REPORT_TEMPLATES                                                                      \
    "report.gp", "page.gp", "frame.gp", "timeline.gp", "bars.gp", "segments.gp"

struct plot_margins plot_report_timeline(const struct plot_look *look,
                                         const struct device_report *report);
/* Low pictures have the timeline alone; higher ones categories and call sites below it, and only
 * from here on the segments too. */
bool plot_report_has_segments(const struct plot_look *look);
struct plot_margins plot_report_segments(const struct plot_look *look);
/* How many call sites there is room for. */
size_t plot_report_sites(const struct plot_look *look);

/* The margins of timeline and segments are those above; nothing is owned. */
struct plot_report {
    const struct plot_look *look;
    struct plot_subject subject;
    const struct plot_timeline *timeline;
    const struct plot_segments *segments; /* NULL without room, or where the layout of the moment
                                             is not known */
};

/* Writes all settings, with the templates they are for, and the data files. */
bool plot_report_write(const struct plot_report *report, FILE *const files[], struct error *err);

#endif
