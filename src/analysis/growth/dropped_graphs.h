/* Autograd graphs that were dropped: no backward pass used what they had saved.
 *
 * A forward pass with autograd on keeps tensors for its backward pass. If none follows, as in an
 * evaluation without torch.no_grad(), they live until the result is gone. C++ frames show it: the
 * graph itself frees them. Without C++ frames it shows where many tensors, from different lines,
 * are freed at once by one line (graph_bursts.h).
 *
 * A forward pass counts if no backward pass follows it before the next forward pass, and if its
 * graph holds at least four times as many bytes of such tensors as a backward pass frees of it, so
 * that parts of a training graph that no gradient reaches do not count. A pass that a failed
 * request ended does not count. Nor do tensors that are live during a backward pass that frees
 * little of its step: the pass may have gone through the graph, and left it for another pass
 * (retain_graph=True). Calls of a model do count if the backward pass surely leaves them alone
 * (untouched_calls.h).
 *
 * A graph that is dropped before the backward pass begins, such as that of a teacher which runs
 * before the model in training, counts in any case, but only C++ frames show it. One that is
 * dropped after a backward pass that leaves it alone counts in any case, too. A tensor that is live
 * at the end of the trace counts if graphs dropped all other tensors of the same stack
 * (dropped_last.h). */
#ifndef MEMSNAP_ANALYSIS_GROWTH_DROPPED_GRAPHS_H
#define MEMSNAP_ANALYSIS_GROWTH_DROPPED_GRAPHS_H

#include "analysis/category/category.h"

struct dropped_graphs {
    uint64_t count;  /* tensors */
    uint64_t passes; /* forward passes whose graphs were dropped */
    /* Live at the active peak; a flag for each lifetime. */
    int64_t at_peak_bytes;
    uint8_t *is_dropped; /* NULL if count is 0 */
    size_t capacity;
    /* How much lower the active peak would be without these graphs: early_saving_bound(). */
    int64_t save_bytes;
    bool saves_at_most;
    struct budget *budget; /* not owned */
};

bool dropped_graphs_find(struct dropped_graphs *dropped, const struct timeline *timeline,
                         struct site_table *sites, const struct categories *categories,
                         const struct phases *phases, struct error *err);
void dropped_graphs_release(struct dropped_graphs *dropped);

#endif
