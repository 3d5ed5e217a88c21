/* Frees that had to wait: free_completed came long after free_requested.
 *
 * The allocator keeps a block active after its tensor is gone while another stream may still use
 * it (Tensor.record_stream, collectives) or a CUDA graph is being captured. Neither the trace nor
 * the dump names that other stream; only the block's own stream is known. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_PENDING_H
#define MEMSNAP_ANALYSIS_GROWTH_PENDING_H

#include "analysis/category/category.h"
#include "analysis/code/labels.h"

#define PENDING_LEAST_US 1000 /* shorter waits are not reported */
#define PENDING_ROWS     20

/* The pending frees of one call site and stream. */
struct pending_row {
    stack_id stack; /* STACK_NONE: unknown */
    struct site site;
    enum category category;
    struct label label;
    bool stream_known;
    int64_t stream; /* the stream that the blocks were allocated on */
    uint64_t count;
    int64_t bytes;         /* of all frees */
    int64_t bytes_at_peak; /* of those that wait at the active peak */
    int64_t longest_us;
};

struct pending_frees {
    int64_t at_peak_bytes;    /* active minus allocated at the active peak; 0 if the trace does not
                                 distinguish requested from completed frees */
    uint64_t count;           /* frees that waited longer than PENDING_LEAST_US */
    uint64_t unfinished;      /* frees not completed in the trace, included in count */
    int64_t bytes;            /* of all these frees */
    int64_t longest_us;       /* an unfinished free counts up to the last event */
    struct pending_row *rows; /* by bytes, the most first */
    size_t row_count, rows_left_out;
};

/* `peak`: the moment of the active peak. */
bool pending_find(struct pending_frees *pending, const struct timeline *timeline,
                  const struct moment *peak, struct site_table *sites,
                  const struct categories *categories, struct error *err);
void pending_release(struct pending_frees *pending);

#endif
