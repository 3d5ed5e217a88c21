/* Frees that had to wait: free_requested long before free_completed.
 *
 * The allocator keeps a block active after its tensor is gone while another stream may still use
 * it (Tensor.record_stream, collectives) or a CUDA graph is being captured. Neither the trace nor
 * the dump names that other stream: only the block's own is known. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_PENDING_H
#define MEMSNAP_ANALYSIS_GROWTH_PENDING_H

#include "analysis/category/category.h"
#include "analysis/code/labels.h"

#define PENDING_LEAST_US 1000 /* a free that takes no longer is not told of */
#define PENDING_ROWS     20

/* Of one call site and stream. */
struct pending_row {
    stack_id stack; /* STACK_NONE where it is not known */
    struct site site;
    enum category category;
    struct label label;
    bool stream_known;
    int64_t stream; /* the one the block was allocated for */
    uint64_t count;
    int64_t bytes, bytes_at_peak; /* summed over the frees; waiting at the active peak */
    int64_t longest_us;
};

struct pending_frees {
    int64_t at_peak_bytes; /* active less allocated at the active peak; 0 where the trace does not
                              tell requested frees from completed ones */
    uint64_t count;        /* frees that took longer than PENDING_LEAST_US, or never completed */
    uint64_t unfinished;   /* of these: not completed in the trace */
    int64_t bytes;         /* summed over these */
    int64_t longest_us;    /* an unfinished one counts up to the last event */
    struct pending_row *rows; /* the most bytes first */
    size_t row_count, rows_left_out;
};

/* `peak`: the moment of the active peak. */
bool pending_find(struct pending_frees *pending, const struct timeline *timeline,
                  const struct moment *peak, struct site_table *sites,
                  const struct categories *categories, struct error *err);
void pending_release(struct pending_frees *pending);

#endif
