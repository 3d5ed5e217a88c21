/* Whether what seemed to serve idle gradients alone is trained later. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_IDLE_LATER_H
#define MEMSNAP_ANALYSIS_GRADIENTS_IDLE_LATER_H

#include "analysis/gradients/idle_codes.h"
#include "analysis/gradients/idle_gradients.h"

/* Sets *is_trained if a backward pass from item `from` on frees what code of `codes` saved, before
 * it makes a gradient that is not idle. An optimizer that skips its first step, because a gradient
 * is not finite, discards gradients only once. */
bool idle_later_find(bool *is_trained, const struct idle_codes *codes,
                     const struct idle_gradients *idle, uint32_t from,
                     const struct timeline *timeline, const struct phases *phases,
                     const struct categories *categories, struct error *err);

#endif
