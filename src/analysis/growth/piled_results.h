/* Results of several steps that stay until something frees them together, or until newer ones take
 * their place in a window (result_windows.h).
 *
 * A list may collect them until the end of an epoch. Or they are in reference cycles, as of objects
 * that refer to each other or of a stored exception: only Python's garbage collector frees those, a
 * number of steps later.
 *
 * A tensor counts if it is freed after the step that made it (steps.h), together with tensors of
 * the same code from two or more other steps (of inference: seven forward passes), with no
 * allocation in between. A tensor in a window counts, too. A tensor that the trace does not free
 * counts if such tensors of the same code do, and if it is not of the last step. It counts from the
 * end of its step until it is freed. What a backward pass frees does not count, nor do weights,
 * gradients, optimizer states, caches of keys and values and allocations without a stack. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_PILED_RESULTS_H
#define MEMSNAP_ANALYSIS_GROWTH_PILED_RESULTS_H

#include "analysis/category/category.h"
#include "analysis/growth/result_windows.h"

struct piled_results {
    size_t steps;      /* the number of steps whose results count at the active peak; 0: none */
    bool in_windows;   /* most of their bytes are in windows */
    uint8_t *is_piled; /* by lifetime: counts at the active peak; NULL: none does */
    size_t capacity;
    /* How much lower the active peak would be if all were freed at the end of their steps. */
    int64_t save_bytes;
    struct budget *budget; /* not owned */
};

/* `is_dropped`, by lifetime, leaves some out; NULL: none. */
bool piled_results_find(struct piled_results *piled, const struct timeline *timeline,
                        struct site_table *sites, const struct categories *categories,
                        const struct phases *phases, const struct steps *steps,
                        const struct result_windows *windows, const uint8_t *is_dropped,
                        struct error *err);
void piled_results_release(struct piled_results *piled);

#endif
