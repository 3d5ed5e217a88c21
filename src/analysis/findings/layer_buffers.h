/* Buffers of one size that every layer of a trained model has, such as a mask or a table of
 * positions, and that the layers might share.
 *
 * They belong to the model, but no gradient has their size. In the order in which the model was
 * made or moved to the device, parameters with gradients lie between them. The weights of a frozen
 * model differ from such buffers in that they have several sizes; frozen weights with adapters
 * differ in their number. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_LAYER_BUFFERS_H
#define MEMSNAP_ANALYSIS_FINDINGS_LAYER_BUFFERS_H

#include "analysis/live/source.h"

struct layer_buffers {
    uint64_t count; /* 0: none found */
    int64_t bytes;  /* of all of them */
    stack_id stack; /* of the first one */
};

/* `at_peak` is live at the peak. Sees only what was made after the recording began. */
bool layer_buffers_find(struct layer_buffers *buffers, const struct live_set *at_peak,
                        struct error *err);

#endif
