/* The rows of the picture of FSDP memory. */
#ifndef MEMSNAP_RENDER_PLOT_FSDP_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_FSDP_INTERNAL_H

#include "analysis/run/tables.h"
#include "base/buffer.h"
#include "render/plot/kind.h"

/* Without bytes it is a heading. */
struct fsdp_row {
    const int64_t *bytes; /* by kind */
    struct buffer name;   /* raw bytes */
    uint32_t depth;
};

/* The struct owns the rows and the tables. */
struct fsdp {
    const struct plot_look *look;
    const struct run_report *report;
    struct run_tables tables; /* of the highest peak */
    bool has_tables;
    struct fsdp_row *rows;
    size_t count, capacity;
    size_t peaks, peaks_shown, modules_shown;
    double most; /* the longest bar, bytes */
};

double fsdp_total(const int64_t *bytes); /* of all kinds */

/* Finds the rows: at most `room`, two headings included. False also if there is nothing to plot.
 * Call fsdp_release() in any case. */
bool fsdp_make_rows(struct fsdp *plot, size_t room, struct error *err);
void fsdp_release(struct fsdp *plot);

#endif
