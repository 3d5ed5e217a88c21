/* The pass that a chain is made from. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_PASS_H
#define MEMSNAP_ANALYSIS_CHAIN_PASS_H

#include "analysis/category/category.h"
#include "analysis/phase/steps.h"

/* A forward pass and the backward pass after it. */
struct pass {
    uint32_t first;    /* the item that allocates its first activation */
    uint32_t backward; /* the first item of the backward pass; `end` if there is none */
    uint32_t end;      /* the item after the last one */
    int64_t kept_bytes;
    size_t kept_count; /* activations that its backward pass frees */
    size_t step;       /* index of its step, or NO_STEP */
    bool at_peak;      /* its step contains the active peak */
    bool has_peak;     /* it contains the active peak itself */
    bool unfinished;   /* memory ran out before the backward pass or during it */
    bool stopped;      /* memory ran out during the backward pass */
    bool found;
    bool any_backward; /* the trace has a backward pass, even if `found` is false */
};

struct passes {
    struct pass *items; /* in order */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Finds the pass that keeps the most in the step with the active peak or, if that step has no pass,
 * in the whole trace. If several keep about as much, the one that contains the peak is chosen. If
 * no forward pass has a backward pass, the last forward pass is taken, provided that memory ran out
 * in it. A backward pass that keeps the graph for the next one (retain_graph=True) does not end a
 * pass. `all` gets every pass that keeps something. */
bool pass_find(struct pass *pass, struct passes *all, const struct timeline *timeline,
               const struct phases *phases, const struct steps *steps,
               const struct categories *categories, struct error *err);
/* True if a lifetime is a gradient that autograd made, and not the program's copy of one. */
bool pass_makes_gradient(const struct timeline *timeline, struct site_table *sites,
                         const struct categories *categories, size_t lifetime);
void passes_release(struct passes *passes);

/* True if a lifetime is an activation that the pass keeps for its backward pass. */
bool pass_keeps(const struct pass *pass, const struct timeline *timeline,
                const struct categories *categories, size_t lifetime);

/* True if a function is the forward() of a module, by its name. */
bool call_is_forward(struct text function);

#endif
