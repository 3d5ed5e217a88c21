/* The logits of a model, and the tensors that the loss computes from them: everything from the last
 * matrix product, convolution or upsampling to the softmax and its results, and the gradients of
 * these. Each has a number for every token and every word, or for every pixel and every class. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_LOGITS_H
#define MEMSNAP_ANALYSIS_FINDINGS_LOGITS_H

#include "analysis/code/site.h"
#include "analysis/oom/oom.h"

struct logits {
    uint8_t *is_part; /* a flag for each lifetime */
    size_t capacity;
    struct budget *budget;      /* not owned */
    uint32_t failed[OOMS_MOST]; /* the `oom` events whose requests are for such a tensor */
    size_t failed_count;
};

/* Finds them in the whole trace. The operators are known by C++ frames or, without these, by
 * torch's Python functions and layers. Of the requests that
 * failed, the last OOMS_MOST are looked at. One is for such a tensor if its operator is
 * log_softmax; if the same line and operator have made such a tensor before; or if it is for the
 * result of a matrix product, or for a copy of it in another type, that is at least twice as large
 * as those of all layers before, which are deeper in the model. */
bool logits_find(struct logits *logits, const struct timeline *timeline, struct site_table *sites,
                 struct error *err);
/* Sets `of_logits` of the rows whose requests are not small: those of few classes matter little. */
void logits_mark_ooms(const struct logits *logits, struct ooms *ooms);
void logits_release(struct logits *logits);

#endif
