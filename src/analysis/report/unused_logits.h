/* Logits of every position of a text that a model continues, of which the program reads those of
 * the last position.
 *
 * They are the result of a matrix product, or a copy of it in another dtype, from which nothing is
 * computed but what is many times smaller. That the program generates shows in the next calls of
 * the same code: their results grow by the same amount each, or are many times smaller, as with a
 * cache of keys and values. */
#ifndef MEMSNAP_ANALYSIS_REPORT_UNUSED_LOGITS_H
#define MEMSNAP_ANALYSIS_REPORT_UNUSED_LOGITS_H

#include "analysis/live/source.h"

struct unused_logits {
    int64_t bytes;      /* at the peak, of all that the same code made; 0: none found */
    int64_t read_bytes; /* of the largest of what is computed from one of them */
    stack_id stack;     /* that made them */
};

/* `at_peak` is live at the peak. The operators are known by C++ frames. */
bool unused_logits_find(struct unused_logits *logits, const struct live_set *at_peak,
                        struct error *err);

#endif
