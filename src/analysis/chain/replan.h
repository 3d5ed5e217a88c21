/* What a step would have reserved with checkpoints: the requests of the step, without those for
 * activations that a checkpoint drops, and with those of the forward passes that it repeats, go
 * through the model of PyTorch's allocator. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_REPLAN_H
#define MEMSNAP_ANALYSIS_CHAIN_REPLAN_H

#include "analysis/chain/forward_chain.h"
#include "analysis/code/site.h"

/* Elements first..end-1 are wrapped in one checkpoint, which keeps the results of the operators
 * with these names. Only a segment that is in no other and has none within it may keep any. */
struct chain_segment {
    size_t first, end;
    const struct text *keep;
    size_t keep_count;
};

struct replan {
    bool is_known;
    uint64_t without_bytes, with_bytes; /* peaks of reserved memory, both replayed */
    /* Peaks of the blocks of these, as max_memory_allocated() counts them: a block may be larger
     * than what the program asked for. */
    uint64_t without_blocks, with_blocks;
    char why[256]; /* they are not known */

    bool has_totals;
    uint64_t without_total,
        with_total;       /* peaks of allocated memory in the step, all included; other
                           * passes of the same model need no more than this one */
    uint64_t own_total;   /* of with_total, what passes of the model itself need; less than that if
                           * another pass, as recorded, has the peak */
    uint64_t worst_total; /* with_total if the program holds chain->doubts; at least that */
};

/* Replays from the beginning of the pass to the end of its step, or to the next pass of the same
 * model: once as recorded and once with the segments. The segments ascend, outer before inner, and
 * are disjoint or nested.
 *
 * A dropped activation is freed when the operator after its own has ended, and the output of an
 * element when the next element has. Both are made again right before the backward of their
 * segment. A segment that runs again drops what its inner segments hold, and these then run again
 * in turn. A result that a segment keeps is made only once. It is freed when the program frees it;
 * if the recorded program freed it in the forward pass, when its segment runs again and frees it,
 * or, if that stops before it, when the backward of the segment is over.
 */
bool replan_make(const struct timeline *timeline, struct site_table *sites,
                 const struct forward_chain *chain, const struct chain_segment *segments,
                 size_t count, struct replan *replan, struct error *err);

#endif
