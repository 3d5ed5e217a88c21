/* What pictures of an allocator snapshot are made of. */
#ifndef MEMSNAP_COMMANDS_PLOT_SNAPSHOT_H
#define MEMSNAP_COMMANDS_PLOT_SNAPSHOT_H

#include "analysis/report/report.h"
#include "commands/plot/kinds.h"
#include "render/plot/time.h"
#include "render/plot/words.h"

/* The device that the picture shows: the one asked for, else that with the highest peak. */
struct plot_snapshot {
    struct capture capture;
    const struct timeline *timeline;
    /* Made by the first of the calls below. */
    const struct phase_rows *rows;
    const struct categories *categories;
    struct device_report *report; /* NULL: not made */
    struct phases own_phases;
    struct phase_rows own_rows;
    struct categories own_categories;
};

/* Reads the input of the job, and has it drawn. */
typedef bool plot_snapshot_drawing(const struct plot_job *job, struct plot_snapshot *snapshot,
                                   struct error *err);
bool plot_snapshot_draw(struct plot_job *job, plot_snapshot_drawing *draw, struct error *err);

/* Phases and categories: */
bool plot_snapshot_categories(struct plot_snapshot *snapshot, struct error *err);
/* ..or all that memsnap analyze tells, with `top` call sites. */
bool plot_snapshot_report(struct plot_snapshot *snapshot, const struct report_options *options,
                          size_t top, struct error *err);

/* Memory over time in a graph with these margins, after one of them; `sampling` is made, and the
 * caller's. */
bool plot_snapshot_time(const struct plot_snapshot *snapshot, const struct plot_options *options,
                        struct plot_margins margins, struct sampling *sampling,
                        struct plot_time *time, struct error *err);
struct plot_subject plot_snapshot_subject(const struct plot_snapshot *snapshot,
                                          const struct report_options *options);

#endif
