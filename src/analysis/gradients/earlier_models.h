/* The memory that earlier models of a program still hold, after it has made the present one: idle
 * gradients, states of their optimizers, and parameters. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_EARLIER_MODELS_H
#define MEMSNAP_ANALYSIS_GRADIENTS_EARLIER_MODELS_H

#include "analysis/gradients/idle_gradients.h"

struct earlier_models {
    const struct timeline *timeline;
    const struct categories *categories;
    const struct cycles *cycles;
    uint32_t stays;       /* item: what is freed before it does not stay */
    uint32_t present;     /* item that makes the first parameter of the present model */
    uint64_t least_bytes; /* parameters of fewer bytes are no model */
};

/* Adds the idle gradients of the trace, and the states of earlier optimizers, to `absences`, each
 * from when the next model is made on. Sums the states and the parameters in `idle`, and counts the
 * models. */
bool earlier_models_absent(const struct earlier_models *earlier, struct idle_gradients *idle,
                           struct absences *absences, struct error *err);

#endif
