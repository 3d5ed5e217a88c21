/* The purpose of each allocation: torch.profiler's seven categories, communication buffers, library
 * workspaces, caches of keys and values, autocast's copies of weights, and unknown.
 *
 * A snapshot has no data-flow graph. The category is inferred in five steps, and is `unknown` if
 * the evidence does not decide:
 *
 * 1. The context in which an allocation was made, from the stack (site.h), and the phase of every
 *    event (phases.h).
 * 2. Each allocation of the trace, by context and lifetime:
 *      the file's own category     what it says (a converted torch.profiler run)
 *      library scratch space       workspace
 *      c10d, FSDP's buffers        communication
 *      optimizer                   temporary if freed in the same step, else optimizer_state
 *      backward                    activation if an autograd graph saved it, or a later backward
 *                                  pass frees it (the pass was itself recorded); gradient if it
 *                                  outlives the backward pass;
 *                                  otherwise temporary if freed inside an operator or inside a
 *                                  node of the same name, else autograd_detail (a gradient on its
 *                                  way between nodes)
 *      recomputation in backward   temporary if freed by the recomputation, else activation
 *      forward                     temporary if freed in the same forward pass, else activation
 *      making or moving a model    temporary if freed at once, else parameter (buffers included)
 *      other Python code           activation if made after a forward and freed in or after its
 *                                  backward, or freed in a backward pass at all; temporary if freed
 *                                  before the phase changed; input if made before a forward it
 *                                  lives into (in inference, only if copied or drawn at random);
 *                                  gradient if made after a backward, with a gradient's size, for
 *                                  the optimizer step; else unknown
 *      no stack                    as backward or optimizer in these phases, else unknown
 *    An allocation that is never freed outlives the backward pass too, unless the trace ends in an
 *    out-of-memory error or is cut off: then only AccumulateGrad's own allocations are gradients.
 * 3. What was allocated before the trace (classifier.h).
 * 4. Corrections of these, such as for lists of weights that plain code makes (weight_lists.c), and
 *    for batches of the first step that stay (first_batches.c). classifier.h lists all of them.
 * 5. Caches, by their code and their lifetimes (kv_cache.c, cast_cache.c).
 *
 * Names that a program gives its functions are not evidence, even if they contain "param". The only
 * names that count are `forward`, `backward` and those of torch's own functions. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_CATEGORY_H
#define MEMSNAP_ANALYSIS_CATEGORY_CATEGORY_H

#include "analysis/code/reason.h"
#include "analysis/code/site.h"
#include "analysis/phase/phases.h"
#include "model/timeline.h"

/* The category of each allocation and the reason for it. The arrays are parallel to
 * timeline->lifetimes and timeline->preexisting. */
struct categories {
    uint8_t *of_lifetime; /* values of enum category */
    uint8_t *of_preexisting;
    uint8_t *why_lifetime; /* reason bytes: see reason.h */
    uint8_t *why_preexisting;
    size_t lifetime_capacity, preexisting_capacity;
    struct budget *budget; /* not owned */
};

/* `phases` must be those of the timeline. */
bool categories_assign(const struct timeline *timeline, struct site_table *sites,
                       const struct phases *phases, struct categories *categories,
                       struct error *err);
void categories_release(struct categories *categories);

/* The sizes of workspaces that PyTorch gives cuBLAS by default (:4096:2:16:8 of
 * CUBLAS_WORKSPACE_CONFIG), on Hopper, and cuBLASLt. They do not depend on the shapes. */
#define CUBLAS_WORKSPACE   (4096u * 1024 * 2 + 16u * 1024 * 8)
#define HOPPER_WORKSPACE   (4096u * 1024 * 8)
#define CUBLASLT_WORKSPACE (1024u * 1024)

/* True for a block that would have the same size with a larger batch: a workspace of cuBLAS. */
static inline bool category_is_fixed(enum category category, uint64_t size)
{
    return category == CATEGORY_WORKSPACE &&
           (size == CUBLAS_WORKSPACE || size == HOPPER_WORKSPACE || size == CUBLASLT_WORKSPACE);
}

/* True for the categories of memory that a forward pass keeps for its backward pass, and that
 * checkpoints do not keep. */
static inline bool category_is_saved(enum category category)
{
    return category == CATEGORY_ACTIVATION || category == CATEGORY_CAST_CACHE;
}

#endif
