/* The rows of a comparison of ranks. Internal to render/ranks. */
#ifndef MEMSNAP_RENDER_RANKS_ROWS_H
#define MEMSNAP_RENDER_RANKS_ROWS_H

#include "render/core/rows.h"
#include "render/ranks/ranks.h"

/* A struct rank_row, for text, JSON and CSV. */
extern const struct row_type rank_type;

/* The category that holds most at the peak; NULL if nothing was live. */
const struct summary_category *largest_category(const struct summary_device *device);

/* The rows in an order, RANKS_BY_DEFAULT being by rank; malloc'ed. NULL if out of memory. */
const struct rank_row **ranks_sorted(const struct ranks *ranks, enum ranks_order order);
const char *ranks_order_title(enum ranks_order order, bool all);

/* "A", "B", ..., "Z", "AA" */
void add_group_name(struct buffer *text, size_t group);

/* "0-15, 32, 40-47": a range for ranks that follow each other, and paths for rows without a rank. A
 * long list ends in "...". Escaped. */
void add_group_members(struct buffer *text, const struct ranks *ranks,
                       const struct rank_group *group);

/* Sentences about ranks without a capture, and with several; nothing if there are none. */
void add_missing(struct buffer *text, const struct ranks *ranks);

/* "rank 3", or the path of a row without one, with the device if it is not the only one of its
 * capture. Escaped. */
void add_row_name(struct buffer *text, const struct rank_row *row);

#endif
