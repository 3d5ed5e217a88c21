/* The sentences on an out-of-memory event, once the verdict is given. */
#ifndef MEMSNAP_ANALYSIS_POOL_OOM_WORDS_H
#define MEMSNAP_ANALYSIS_POOL_OOM_WORDS_H

#include "analysis/pool/oom.h"

/* Fills `sentence` and `next`. */
void oom_put_into_words(struct oom_row *row, const struct allocator_rules *rules, const char *doubt,
                        enum unit unit);

/* What can have been reserved but unused, by the curves alone: rounding included. */
uint64_t oom_most_unused(const struct oom_row *row);

#endif
