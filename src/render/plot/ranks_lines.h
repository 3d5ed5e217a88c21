/* The rows of a picture of the ranks of a run: one for each rank, or for several neighbours if
 * there are too many. */
#ifndef MEMSNAP_RENDER_PLOT_RANKS_LINES_H
#define MEMSNAP_RENDER_PLOT_RANKS_LINES_H

#include "analysis/ranks/ranks.h"
#include "base/buffer.h"

#define RANKS_LEVELS 32 /* shades of the heat map */

/* A row of the picture. */
struct rank_line {
    size_t first, count; /* in ranks->rows */
    size_t highest;      /* the row with the highest peak */
    size_t outlier;      /* the most different outlier among them; SIZE_MAX: none */
};

struct rank_lines {
    const struct ranks *ranks;
    struct rank_line *items;
    size_t count;
    size_t most;       /* the most ranks in a line */
    bool by_time;      /* all curves are by time; otherwise the axis is the share of each trace */
    double duration;   /* by_time: of the longest trace, in microseconds */
    int64_t top_bytes; /* the highest peak, at least 1 */
    size_t columns;
    int8_t *levels; /* per line and column, 0 to RANKS_LEVELS - 1; -1: nothing is known */
};

/* At most `most` lines with `columns` columns each, both at least 1. */
bool rank_lines_make(struct rank_lines *lines, const struct ranks *ranks, size_t most,
                     size_t columns, struct error *err);
void rank_lines_release(struct rank_lines *lines);

/* "rank 3", "ranks 8-15", or the end of a path: raw bytes. */
void rank_line_name(struct buffer *out, const struct rank_lines *lines, size_t line);
/* "7.21 GiB", and for an outlier the median of its group. */
#define RANK_FIGURES 120
void rank_line_figures(char out[RANK_FIGURES], const struct rank_lines *lines, size_t line);
int64_t rank_line_bytes(const struct rank_lines *lines, size_t line);
size_t rank_line_group(const struct rank_lines *lines, size_t line);

/* The colours of a shade, light to dark, and of a group; groups beyond RANK_COLOURS share one. */
#define RANK_COLOURS 7
unsigned rank_level_colour(size_t level);
unsigned rank_group_colour(size_t group);

#endif
