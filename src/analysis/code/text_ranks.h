/* Ranks of texts, so that sorting by name takes no longer for long names. */
#ifndef MEMSNAP_ANALYSIS_CODE_TEXT_RANKS_H
#define MEMSNAP_ANALYSIS_CODE_TEXT_RANKS_H

#include "base/symbols.h"

/* ranks[i] < ranks[j] if texts[i] comes before texts[j] by text_compare(), and they are the same if
 * the texts are equal. Texts at the same address are compared only once. */
bool text_ranks_make(const struct text *texts, size_t count, uint32_t *ranks, struct budget *budget,
                     struct error *err);

#endif
