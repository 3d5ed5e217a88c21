/* An allocator snapshot as pictures show it. */
#ifndef MEMSNAP_RENDER_PLOT_SNAPSHOT_H
#define MEMSNAP_RENDER_PLOT_SNAPSHOT_H

#include "analysis/report/report.h"
#include "render/plot/kind.h"
#include "render/plot/time.h"

/* The device that the picture shows. The first three are set by the caller and not owned. */
struct plot_snapshot {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct symbols *symbols;
    /* Set by plot_snapshot_categories() or plot_snapshot_report(). */
    const struct phase_rows *rows;
    const struct categories *categories;
    struct device_report *report; /* NULL before plot_snapshot_report() */
    bool at_given, at_end;        /* the moment of the report, as in struct report_options */
    struct phases own_phases;
    struct phase_rows own_rows;
    struct categories own_categories;
};

/* Finds phases and categories. */
bool plot_snapshot_categories(struct plot_snapshot *snapshot, struct error *err);
/* Finds all that memsnap analyze reports, with the `top` largest call sites. */
bool plot_snapshot_report(struct plot_snapshot *snapshot, const struct report_options *options,
                          size_t top, struct error *err);
/* Releases what the two above made. */
void plot_snapshot_release(struct plot_snapshot *snapshot);

/* Memory over time in a graph with these margins; call after one of the two. Makes `sampling`,
 * which the caller releases. */
bool plot_snapshot_time(const struct plot_snapshot *snapshot, const struct plot_request *request,
                        struct plot_margins margins, struct sampling *sampling,
                        struct plot_time *time, struct error *err);

/* The moment of the report: "at the peak (event 3,485 of 22,332, +87.6 ms)", "at the end", "in the
 * snapshot" */
#define PLOT_MOMENT_SIZE 200
const char *plot_moment(char out[PLOT_MOMENT_SIZE], const struct plot_snapshot *snapshot);

/* Why the category of much of what is live after `item` is unknown; nothing where little is. */
void plot_unknown_words(struct buffer *out, const struct timeline *timeline,
                        const struct categories *categories, int64_t item);

#endif
