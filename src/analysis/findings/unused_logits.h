/* Logits of every position of a text that a model continues, of which the program reads those of
 * the last position.
 *
 * Such logits are the result of a matrix product, with copies of it in another dtype, quotients and
 * the like that are made from it one after the other, and all that is computed from the last of
 * these is many times smaller. The next calls of the same code show that the program
 * generates a text: each result is larger than the one before by the same amount or, if there is a
 * cache of keys and values, the next one is many times smaller. Without such a cache, that shows
 * only that batches differ in size. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_UNUSED_LOGITS_H
#define MEMSNAP_ANALYSIS_FINDINGS_UNUSED_LOGITS_H

#include "analysis/live/source.h"

struct unused_logits {
    int64_t bytes;      /* at the peak; 0: none found */
    int64_t read_bytes; /* the size of the largest tensor that is computed from one of them */
    stack_id stack;     /* the stack that made the largest */
    bool several;       /* other stacks made others */
};

/* `at_peak` is live at the peak. The operators are known by C++ frames. */
bool unused_logits_find(struct unused_logits *logits, const struct live_set *at_peak,
                        struct error *err);

#endif
