/* The logits of a model, and the tensors that the loss computes from them: everything from the last
 * matrix product, convolution or upsampling to the softmax and its results, and the gradients of
 * these. Each has a number for every token and every word, or for every pixel and every class. */
#ifndef MEMSNAP_ANALYSIS_REPORT_LOGITS_H
#define MEMSNAP_ANALYSIS_REPORT_LOGITS_H

#include "analysis/code/site.h"
#include "model/timeline.h"

struct logits {
    uint8_t *is_part; /* a flag for each lifetime */
    size_t capacity;
    struct budget *budget; /* not owned */
};

/* Finds them among what is allocated up to an item of the trace (-1: nothing). The operators are
 * known by C++ frames. */
bool logits_find(struct logits *logits, const struct timeline *timeline, struct site_table *sites,
                 int64_t item, struct error *err);
void logits_release(struct logits *logits);

#endif
