/* Autograd graphs that outlive the last backward pass through them.
 *
 * backward(retain_graph=True), and create_graph=True, leave to the program what the graph has
 * saved. If no other backward pass goes through the graph, it serves nothing: it lives until the
 * program sets the variable with the loss again, mostly in the next forward pass, or at its end.
 *
 * A tensor of the forward pass, or of a backward pass that is recorded itself, counts if the graph
 * frees it after the backward passes of its step and before the next one, or before the optimizer
 * step, as C++ frames show or, without them, graph_bursts.h. It counts as well if autograd's thread
 * drops it, which holds the last result of autograd.grad() until its next backward pass. The
 * backward passes of the step must have freed nothing that its forward pass saved, and must have
 * computed about as many tensors as are left: otherwise they may have left alone a part of the
 * graph that the loss does not need. It counts from the end of the last backward pass on.
 *
 * An iteration may have several backward passes, of which each could go through the graph: then the
 * code that made it may let it go only in the next iteration, where it sets its variables again. So
 * a tensor counts as well if the graph frees it after the last backward pass before the next
 * optimizer step, and not after more than two further optimizer steps. If there is more than one
 * such step, it counts only if a tensor of the same code in another iteration is freed sooner.
 *
 * Other backward passes of the step may free graphs of their own, as the training pass after an
 * attack on its input does: then a pass counts by itself. What is never freed counts if tensors of
 * the same code in earlier iterations do.
 *
 * A graph that is made before the first backward pass counts as well if every backward pass goes
 * through it (early_graph.h): without it, none would have to retain its own.
 *
 * What variables of the program may hold as well does not count: the last result of each call of a
 * model, and of the last layer in it. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_RETAINED_GRAPHS_H
#define MEMSNAP_ANALYSIS_GROWTH_RETAINED_GRAPHS_H

#include "analysis/category/category.h"
#include "analysis/growth/early_graph.h"
#include "analysis/phase/phases.h"

struct retained_graphs {
    int64_t at_peak_bytes; /* live at the active peak, with backward passes through them over */
    /* The part that a pass handed on to the next (handed_graphs.h): it counts from the end of its
     * own backward pass on, although later ones go through it again. And the number of passes. */
    int64_t handed_bytes;
    size_t handed_passes;
    struct early_graph early; /* a part as well: passes go through it again and again */
    uint8_t *is_retained;     /* by lifetime: counts at the active peak; NULL: none does */
    size_t capacity;
    /* How much lower the active peak would be if the last backward pass had freed all of them:
     * early_saving_bound(). */
    int64_t save_bytes;
    bool saves_at_most;
    /* If a backward pass runs at the peak that keeps its graph, and is the last one through it:
     * what the graph keeps then. Otherwise, the pass would have freed a part of it by then. */
    int64_t in_backward_bytes;
    struct budget *budget; /* not owned */
};

/* `is_dropped`, by lifetime, leaves some out; NULL: none. */
bool retained_graphs_find(struct retained_graphs *retained, const struct timeline *timeline,
                          struct site_table *sites, const struct categories *categories,
                          const struct phases *phases, const uint8_t *is_dropped,
                          struct error *err);
void retained_graphs_release(struct retained_graphs *retained);

#endif
