/* Results that local variables of a function hold until it returns, although no backward pass needs
 * them: distances of which only the nearest is used, for example.
 *
 * When a function returns, what only its variables held is freed, and the innermost Python frame is
 * that of the function's caller. So the stack of the free is that of the allocation without the
 * function's frame. What the caller keeps, such as the input of the next layer, is freed by another
 * frame.
 *
 * A tensor counts if it is live at the moment, which lies in a forward pass, and if the backward
 * pass after that does not free it. The function must also have computed something on a second line
 * since it made the tensor, and must now be on a third: the second line may be the last to read the
 * tensor, and the third could then run without it. A tensor does not count if the third line makes
 * a tensor of the same size, because that line probably reads it; nor if the same code makes
 * another one before the free, because the program then collects them in a list. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_LOCAL_RESULTS_H
#define MEMSNAP_ANALYSIS_FINDINGS_LOCAL_RESULTS_H

#include "analysis/live/source.h"
#include "analysis/phase/phases.h"

#define LOCAL_LINES 3

struct local_line {
    struct live_source source;
    int64_t bytes;
};

struct local_results {
    int64_t bytes;
    /* How much lower the peak of the step would be if each tensor were freed as soon as one other
     * line has computed something. This is an upper bound, because later lines may read it. */
    int64_t save_bytes;
    struct local_line lines[LOCAL_LINES]; /* those that made most of them, most bytes first */
    size_t line_count;
};

/* Only tensors of at least a hundredth of the bytes that are live are looked at. */
bool local_results_find(struct local_results *results, const struct live_set *set,
                        const struct phases *phases, int64_t item, struct error *err);

#endif
