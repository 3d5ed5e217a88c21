/* The gradients of a model after which the program has made one of the same shape, and trained it
 * for one cycle: so soon, gradients that are still there may also be those that the next step
 * frees. If the parameters of the new model have the sizes of these gradients, they are not. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_REPEATED_MODEL_H
#define MEMSNAP_ANALYSIS_GRADIENTS_REPEATED_MODEL_H

#include "analysis/gradients/idle_gradients.h"

struct repeated_model {
    uint64_t count, bytes; /* of gradients of the earlier model; 0: there is none */
    uint32_t present;      /* item that makes the first parameter of the new model */
    uint64_t made_bytes;   /* the new model's parameters */
};

/* Sets the flags of the gradients in of_lifetime, where all are 0. `last` is the last cycle. */
bool repeated_model_find(struct repeated_model *repeated, uint8_t *of_lifetime,
                         const struct timeline *timeline, const struct categories *categories,
                         const struct cycle *last, struct error *err);

#endif
