/* What an earlier step of the trace shows of the one in which memory ran out. */
#ifndef MEMSNAP_ANALYSIS_OOM_EARLIER_H
#define MEMSNAP_ANALYSIS_OOM_EARLIER_H

#include "analysis/category/category.h"
#include "model/timeline.h"

/* How many bytes the active curve rises from before `item` to its highest value in the items
 * [from, end); 0 if there are none. */
int64_t oom_rise(const struct timeline *timeline, uint32_t item, uint32_t from, uint32_t end);

/* The same; *at is the item of that value, or left alone. */
int64_t oom_rise_to(const struct timeline *timeline, uint32_t item, uint32_t from, uint32_t end,
                    uint32_t *at);

/* The bytes allocated in the items [first, item) and still live at `item`, of the categories for
 * which `counts` is true. */
double oom_held(const struct timeline *timeline, const struct categories *categories,
                uint32_t first, uint32_t item, bool (*counts)(enum category category));

#endif
