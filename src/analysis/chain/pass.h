/* The pass that a chain is made from. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_PASS_H
#define MEMSNAP_ANALYSIS_CHAIN_PASS_H

#include "analysis/category/category.h"
#include "analysis/phase/steps.h"

/* A forward pass and the backward pass after it. */
struct pass {
    uint32_t first;    /* item: what is kept for the backward is allocated from here on */
    uint32_t backward; /* first item of the backward; `end` if there is none */
    uint32_t end;      /* the item after it */
    int64_t kept_bytes;
    size_t step;     /* index, or NO_STEP */
    bool at_peak;    /* of the step with the active peak */
    bool has_peak;   /* the active peak is in it */
    bool unfinished; /* memory ran out before its backward, or in it */
    bool stopped;    /* in it */
    bool found;
    bool any_backward; /* there is some backward pass, even if nothing was found */
};

struct passes {
    struct pass *items; /* in order */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Finds the pass that keeps the most among those of the step with the active peak or, if it has
 * none, among all passes. If several keep about as much, the one with the peak is chosen. If no
 * forward pass has a backward pass, takes the last forward pass if it ran out of memory. `all` gets
 * every pass that keeps something. */
bool pass_find(struct pass *pass, struct passes *all, const struct timeline *timeline,
               const struct phases *phases, const struct steps *steps,
               const struct categories *categories, struct error *err);
/* True if a lifetime is a gradient that a backward pass makes, and not one that the program copies.
 */
bool pass_makes_gradient(const struct timeline *timeline, struct site_table *sites,
                         const struct categories *categories, size_t lifetime);
/* Replaces a pass whose backward only adds to gradients, as where several passes accumulate them or
 * the program keeps them from step to step, by the last one like it that makes most of them. */
void pass_prefer_gradients(struct pass *pass, const struct passes *all,
                           const struct timeline *timeline, struct site_table *sites,
                           const struct categories *categories);
void passes_release(struct passes *passes);

/* True if a lifetime is an activation that the pass keeps. */
bool pass_keeps(const struct pass *pass, const struct timeline *timeline,
                const struct categories *categories, size_t lifetime);

/* The same line of the same model keeps the first activation of both: a plan for one is a plan for
 * the other. */
bool pass_is_alike(const struct timeline *timeline, const struct pass *a, const struct pass *b);

/* True for the name of a function that is a forward. */
bool call_is_forward(struct text function);

#endif
