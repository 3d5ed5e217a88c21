/* Shared by the files of the page of a run. */
#ifndef MEMSNAP_RENDER_PAGE_RUN_INTERNAL_H
#define MEMSNAP_RENDER_PAGE_RUN_INTERNAL_H

#include "base/buffer.h"
#include "render/page/run.h"

/* src/render/page/run.css, and its hash. */
extern const unsigned char run_style[];
extern const size_t run_style_size;
extern const char run_style_hash[];

/* The details of ranks. `texts` has one for each row of the comparison; empty: there was no room.
 */
struct run_details {
    struct buffer *texts;
    size_t row_count, shown;
};

bool run_details_make(struct run_details *details, const struct ranks *ranks, struct error *err);
void run_details_release(struct run_details *details);
/* The sections, each with links to its neighbours. */
void run_details_put(FILE *out, const struct ranks *ranks, const struct run_details *details);

/* The heat map with the bars, whose rows are links to the details. */
bool run_map_put(FILE *out, const struct ranks *ranks, const struct run_details *details,
                 struct error *err);

/* Adds text of the input for HTML: raw bytes. */
void run_add_text(struct buffer *out, const char *text);
/* "train.py:12 step [aten::mm]" */
void run_add_site(struct buffer *out, const struct summary_site *site);
void run_add_bytes(struct buffer *out, int64_t bytes);
/* "Rank 3" as a link if the rank has details. */
void run_add_link(struct buffer *out, const struct ranks *ranks, size_t row,
                  const struct run_details *details);

#endif
