/* The moments at which a program makes a model after it has trained another one. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_MODEL_STARTS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_MODEL_STARTS_H

#include "analysis/category/category.h"
#include "analysis/gradients/gradient_cycles.h"

struct model_starts {
    uint32_t *items; /* the first parameter of each model, ascending */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Parameters made between the same two training cycles belong to one model. Those of fewer than
 * `least_bytes`, and those that are freed before item `stays`, do not count, nor do those made
 * before the first cycle. The caller sets `budget` and releases the list in any case. */
bool model_starts_find(struct model_starts *starts, const struct timeline *timeline,
                       const struct categories *categories, const struct cycles *cycles,
                       uint32_t stays, uint64_t least_bytes, struct error *err);
/* The first one after `item`; `otherwise` if there is none, or if it is later. */
uint32_t model_starts_after(const struct model_starts *starts, uint32_t item, uint32_t otherwise);
void model_starts_release(struct model_starts *starts);

#endif
