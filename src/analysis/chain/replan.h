/* Predicts the memory that a program would reserve with checkpoints. The recorded requests
 * are edited: activations are freed where a checkpoint would free them, and requested again where
 * it would recompute them. Then the model of PyTorch's allocator replays these requests. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_REPLAN_H
#define MEMSNAP_ANALYSIS_CHAIN_REPLAN_H

#include "analysis/chain/forward_chain.h"
#include "analysis/code/site.h"

/* One checkpoint around elements first..end-1. It keeps the results of the operators named in
 * `keep`. A nested segment, or one that contains others, must not keep any. */
struct chain_segment {
    size_t first, end;
    const struct text *keep;
    size_t keep_count;
};

struct replan {
    bool is_known;
    bool is_whole; /* these are of the whole trace, with the segments in all passes of the model;
                    * otherwise of the step alone */
    uint64_t without_bytes, with_bytes; /* peaks of reserved memory, both from the replay */
    uint64_t with_most_bytes; /* the highest with_bytes if some tensors are freed slightly later:
                               * how memory is fragmented depends on the exact order of frees */
    /* Peaks of the blocks of these, as max_memory_allocated() counts them: a block may be larger
     * than what the program asked for. */
    uint64_t without_blocks, with_blocks;
    /* With is_whole: the peak of allocated memory in the whole trace, and where it is. */
    uint64_t trace_total;
    uint64_t trace_event; /* index in the file of the allocation that reaches it */
    struct text trace_at; /* the line that called the model or, outside of it, that allocates; owned
                             by the symbols */
    bool trace_backward;  /* it is in the backward pass of that call */
    bool trace_changed;   /* it is in a pass with the segments; otherwise in code as recorded */
    char why[256];        /* why these are not known; otherwise empty */

    bool has_totals;
    uint64_t without_total,
        with_total;     /* peaks of allocated memory in the whole step. Other passes of the same
                         * model are taken to need no more than this one. */
    uint64_t own_total; /* with_total for this pass alone; less than with_total if other code of the
                         * step has the peak */
    uint64_t worst_total; /* with_total if the program holds all of chain->doubts: an upper bound,
                             in blocks of the allocator */
    uint64_t alone_total; /* with_total if each of the module calls that share a checkpoint gets one
                             of its own, because they turn out to be no chain; the same bound if it
                             is more than with_total */
};

/* Replays the whole trace, once as recorded and once with the segments in every pass of the model.
 * If that cannot be trusted, it replays from the beginning of the pass to the end of its step, or
 * to the next pass of the same model. The totals are always of the step. Segments must be in
 * ascending order, an outer one before its inner ones, and must be either disjoint or nested.
 *
 * A checkpoint frees an activation when the operator after the one that made it has ended, and the
 * output of an element when the next element has ended. Both are recomputed right before the
 * backward pass of their segment. When a segment is recomputed, the segments within it free their
 * activations again, and are recomputed in turn.
 *
 * A result that a segment keeps is computed only once. It is freed where the recorded program freed
 * it, if that was in the backward pass. Otherwise it is freed while its segment is recomputed. If
 * the recomputation stops before that, it is freed when the backward pass of the segment has ended.
 */
bool replan_make(const struct timeline *timeline, struct site_table *sites,
                 const struct forward_chain *chain, const struct chain_segment *segments,
                 size_t count, struct replan *replan, struct error *err);

#endif
