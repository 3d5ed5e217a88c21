/* Chains of elementwise operators whose intermediate results autograd keeps, such as GELU or a
 * normalization that is written out.
 *
 * A fused operator, or a checkpoint around the function, would keep the last result of a call at
 * most. A call is a run of elementwise results of one Python function that are kept, in the order
 * in which they were made, with no other kept result and no matrix product or the like in between;
 * it ends where its sequence of operators begins again. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_ELEMENTWISE_H
#define MEMSNAP_ANALYSIS_FINDINGS_ELEMENTWISE_H

#include "analysis/category/category.h"

struct elementwise {
    uint8_t *is_part; /* a flag for each lifetime: an intermediate result */
    size_t capacity;
    struct budget *budget; /* not owned */
};

/* Finds them among the activations that are live at an item of the trace (-1: none). The operators
 * are known by C++ frames, the functions by Python frames. Without C++ frames, a function or its
 * file must be named after activation functions or normalizations. Functions of PyTorch do not
 * count. */
bool elementwise_find(struct elementwise *elementwise, const struct timeline *timeline,
                      struct site_table *sites, const struct categories *categories, int64_t item,
                      struct error *err);
void elementwise_release(struct elementwise *elementwise);

#endif
