/* Results that local variables of a function hold until it returns, although no backward pass needs
 * them: distances of which only the nearest is used, for example.
 *
 * When a function returns, what only its variables held is freed, and the innermost Python frame is
 * that of the function's caller. So the stack of the free is that of the allocation without the
 * function's frame. What the caller keeps, such as the input of the next layer, is freed by another
 * frame. A tensor counts if it is live at the moment, in a forward pass with a backward pass after
 * it, which does not free it; and if the function has since computed something on another line, and
 * is now on a third: the first may be the last to read the tensor, and the third would then run
 * without it. If the third makes a tensor of the same size, it probably reads the tensor, which
 * then does not count. What the same code makes again before the free does not count: that is a
 * list. */
#ifndef MEMSNAP_ANALYSIS_REPORT_LOCAL_RESULTS_H
#define MEMSNAP_ANALYSIS_REPORT_LOCAL_RESULTS_H

#include "analysis/live/source.h"
#include "analysis/phase/phases.h"

#define LOCAL_LINES 3

struct local_line {
    struct live_source source;
    int64_t bytes;
};

struct local_results {
    int64_t bytes;
    /* How much lower the peak of the step would be if each were freed as soon as one other line has
     * computed something: an upper bound, as later lines may read it. */
    int64_t save_bytes;
    struct local_line lines[LOCAL_LINES]; /* those that made most of them, most bytes first */
    size_t line_count;
};

/* Only tensors of at least a hundredth of the bytes that are live are looked at. */
bool local_results_find(struct local_results *results, const struct live_set *set,
                        const struct phases *phases, int64_t item, struct error *err);

#endif
