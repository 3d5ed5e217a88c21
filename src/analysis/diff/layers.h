/* What `memsnap diff` says of two layer traces: which modules put out more.
 *
 * Modules are the same by name; then by name without the components that begin with _, which FSDP's
 * and checkpointing's wrappers add. All modules of one name without them are one row. */
#ifndef MEMSNAP_ANALYSIS_DIFF_LAYERS_H
#define MEMSNAP_ANALYSIS_DIFF_LAYERS_H

#include "analysis/diff/words.h"
#include "analysis/layers/layers.h"
#include "base/arena.h"

struct layers_diff_row {
    struct text name;       /* as B has it, else as A; in the symbols of its trace */
    struct text was;        /* as A has it, where that differs; else empty */
    int64_t activations[2]; /* of A, of B; so are the following: forward, all runs together */
    int64_t params[2];
    uint64_t runs[2]; /* forward rows */
    uint32_t modules[2];
};

struct layers_diff {
    const struct layers_report *reports[2]; /* A, B; not owned */
    struct layers_diff_row *rows; /* the largest change of activations first, then of parameters */
    size_t count, capacity;
    size_t changed; /* the first so many differ in activations, parameters or runs */
    struct diff_words summary, warnings;
    struct arena names;    /* shortened ones */
    struct budget *budget; /* not owned */
};

bool layers_diff_make(struct layers_diff *diff, const struct layers_report *a,
                      const struct layers_report *b, enum unit unit, struct budget *budget,
                      struct error *err);
void layers_diff_release(struct layers_diff *diff);

#endif
