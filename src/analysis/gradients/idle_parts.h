/* The parts of a backward pass that make idle gradients alone.
 *
 * Where no trained gradient follows, that is the rest of the pass. Elsewhere the gradient of a loss
 * may flow through parameters that are not trained to others that are, so something must show that
 * the chain ends: nothing but idle gradients is left of what the part has made. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_IDLE_PARTS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_IDLE_PARTS_H

#include "analysis/category/category.h"

/* In items, both ends included. */
struct idle_part {
    uint32_t from, to;
    uint32_t first_free; /* of something that the forward pass saved; EVENT_NEVER: none yet */
};

struct idle_parts {
    uint32_t begin, end; /* the backward pass that makes the first idle gradients: [begin, end) */
    struct idle_part *items;
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* `is_idle`: a flag for each lifetime. */
bool idle_parts_find(struct idle_parts *parts, const struct timeline *timeline,
                     const struct phases *phases, const struct categories *categories,
                     const uint8_t *is_idle, struct error *err);
void idle_parts_release(struct idle_parts *parts);
/* The part that has the item, or NULL. */
struct idle_part *idle_parts_at(const struct idle_parts *parts, uint32_t item);

#endif
