/* The comparison of `memsnap diff` on two layer traces: whose activations differ.
 *
 * Modules are matched by name; then by name without the components that begin with _, which
 * wrappers of FSDP and checkpointing add. All modules that share such a shortened name become one
 * row. */
#ifndef MEMSNAP_ANALYSIS_DIFF_LAYERS_H
#define MEMSNAP_ANALYSIS_DIFF_LAYERS_H

#include "analysis/diff/words.h"
#include "analysis/layers/layers.h"
#include "base/arena.h"

struct layers_diff_row {
    struct text name;       /* in B, or in A if B does not have it; in the symbols of that trace */
    struct text was;        /* in A if it differs from that in B; else empty */
    int64_t activations[2]; /* in A, in B: sums over all forward rows */
    int64_t params[2];
    uint64_t runs[2]; /* forward rows */
    uint32_t modules[2];
};

struct layers_diff {
    const struct layers_report *reports[2]; /* A, B; not owned */
    struct layers_diff_row *rows; /* the largest change of activations first, then of parameters */
    size_t count, capacity;
    size_t
        changed; /* number of rows, at the front, that differ in activations, parameters or runs */
    struct diff_words summary, warnings;
    struct arena names;    /* holds shortened names */
    struct budget *budget; /* not owned */
};

bool layers_diff_make(struct layers_diff *diff, const struct layers_report *a,
                      const struct layers_report *b, enum unit unit, struct budget *budget,
                      struct error *err);
void layers_diff_release(struct layers_diff *diff);

#endif
