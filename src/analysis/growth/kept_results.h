/* Results of an earlier iteration that variables hold until the next one sets them again.
 *
 * The variables of a training loop, such as the logits, keep their tensors while the next iteration
 * computes new ones. A tensor counts if it is freed after the step that made it (steps.h), right
 * after the same code has made a block of the same size, or of half to twice that size. It counts
 * from the end of its step, or from the next forward pass if nothing is trained or if an evaluation
 * made it and it outlives the next step as well, until it is freed. If the step itself computes
 * another pass after its backward pass, as where the gradients of several batches are accumulated,
 * a tensor that is replaced within the step counts from the end of its backward pass.
 * In an evaluation between training steps, a tensor counts from the beginning of the forward pass
 * that replaces it.
 * Older tensors of the step that are freed together with it count, too, such as an autograd graph
 * that backward(retain_graph=True) has kept. A tensor of the last steps counts if earlier tensors
 * of the same code did, or if one of them was replaced in the loop of one step, as in that of an
 * evaluation. Weights, gradients (except copies that a hook makes, and those of held_gradients.h),
 * optimizer states, caches, allocations without a stack, and results that a window holds do not
 * count.
 *
 * The next iteration may need such a tensor, as the state of a recurrent network. The trace does
 * not tell. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_KEPT_RESULTS_H
#define MEMSNAP_ANALYSIS_GROWTH_KEPT_RESULTS_H

#include "analysis/category/category.h"
#include "analysis/gradients/held_gradients.h"
#include "analysis/growth/result_windows.h"

/* The most allocations from that of a new result on up to the end of the old one whose place it
 * takes in a variable. What the code that made it frees in between does not count. */
#define RESULT_REPLACED 24

struct kept_results {
    uint64_t at_peak_bytes;       /* those that count at the active peak */
    uint64_t graph_bytes;         /* of these, what an autograd graph frees, as C++ frames show */
    uint64_t in_step_bytes;       /* of these, what an earlier pass of the peak's own step made */
    uint64_t in_evaluation_bytes; /* of those, what a pass of an evaluation made */
    bool of_evaluation; /* some are of an evaluation before the training step of the peak */
    uint8_t *is_kept;   /* by lifetime: counts at the active peak. NULL: none does */
    size_t capacity;
    /* How much lower the active peak would be if all were freed at the end of their steps; without
     * training, right after they were made. */
    int64_t save_bytes;
    struct budget *budget; /* not owned */
};

/* `is_dropped` and `is_retained`, by lifetime, leave some out; NULL: none. */
bool kept_results_find(struct kept_results *kept, const struct timeline *timeline,
                       struct site_table *sites, const struct categories *categories,
                       const struct phases *phases, const struct steps *steps,
                       const struct held_gradients *gradients, const struct result_windows *windows,
                       const uint8_t *is_dropped, const uint8_t *is_retained, struct error *err);
void kept_results_release(struct kept_results *kept);

#endif
