/* Which passes are of the same model, by the lines of the model that keep memory in them. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_PASS_ALIKE_H
#define MEMSNAP_ANALYSIS_CHAIN_PASS_ALIKE_H

#include "analysis/chain/pass.h"

/* What passes keep, by line. A line of a model is the Python frames of a stack from the outermost
 * forward inwards. So it does not matter which line calls the model. */
struct pass_lines {
    const struct timeline *timeline;
    const struct categories *categories;
    uint32_t *line_of; /* by stack: see pass_alike.c */
    size_t stack_count;
    bool has_models; /* a line is in a forward; then code outside of models does not count */
    int64_t *bytes;  /* by line: what pass `own` keeps there */
    uint32_t *seen;  /* by line: the number of the last comparison that found it */
    size_t line_count;
    uint32_t own;          /* the first item of that pass, or EVENT_NEVER */
    int64_t own_bytes;     /* the sum of `bytes` */
    uint32_t comparisons;  /* so far */
    struct budget *budget; /* not owned */
};

/* Finds the lines of all passes. No sums overflow, as pass_find() has checked. `timeline` and
 * `categories` must live longer than `lines`. */
bool pass_lines_find(struct pass_lines *lines, const struct timeline *timeline,
                     struct site_table *sites, const struct categories *categories,
                     const struct passes *passes, struct error *err);
void pass_lines_release(struct pass_lines *lines);

/* True if two passes are of the same model, so that they need about as much memory, and a plan for
 * one applies to the other. The same line allocates the first activation of both, or each pass
 * keeps at least three quarters of its memory at lines of the other. So code before, between and
 * after the layers may differ. */
bool pass_is_alike(struct pass_lines *lines, const struct pass *a, const struct pass *b);

/* True if a pass runs layers that a plan for another pass may be for: they are alike, or one of
 * them keeps at least half of its memory at lines of the other. */
bool pass_shares_layers(struct pass_lines *lines, const struct pass *a, const struct pass *b);

/* Replaces a pass whose backward mostly adds to existing gradients. That happens with gradient
 * accumulation, and if gradients are kept from step to step. It is replaced by the last pass of the
 * same model that makes the most gradients. */
void pass_prefer_gradients(struct pass *pass, const struct passes *all, struct pass_lines *lines,
                           struct site_table *sites);

#endif
