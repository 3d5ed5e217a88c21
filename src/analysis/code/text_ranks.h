/* Places of texts among each other, so that sorting by names takes no longer for long ones. */
#ifndef MEMSNAP_ANALYSIS_CODE_TEXT_RANKS_H
#define MEMSNAP_ANALYSIS_CODE_TEXT_RANKS_H

#include "base/symbols.h"

/* ranks[i] is less than ranks[j] where texts[i] comes before texts[j] by text_compare(), and the
 * same where they are equal. Texts that are one in memory are looked at once. */
bool text_ranks_make(const struct text *texts, size_t count, uint32_t *ranks, struct budget *budget,
                     struct error *err);

#endif
