/* What pictures of an allocator snapshot are made of. */
#ifndef MEMSNAP_COMMANDS_PLOT_SNAPSHOT_H
#define MEMSNAP_COMMANDS_PLOT_SNAPSHOT_H

#include "analysis/category.h"
#include "analysis/phase_rows.h"
#include "commands/plot_kinds.h"
#include "render/plot_time.h"

/* The device that the picture shows: the one asked for, else that with the highest peak. */
struct plot_snapshot {
    struct capture capture;
    const struct timeline *timeline;
    struct phases phases;
    struct phase_rows rows;
    struct categories categories;
};

/* Reads the input of the job. */
bool plot_snapshot_open(struct plot_snapshot *snapshot, struct plot_job *job, struct error *err);
void plot_snapshot_close(struct plot_snapshot *snapshot);

/* Memory over time in a graph with these margins; `sampling` is made, and the caller's. */
bool plot_snapshot_time(const struct plot_snapshot *snapshot, const struct plot_options *options,
                        struct plot_margins margins, struct sampling *sampling,
                        struct plot_time *time, struct error *err);

#endif
