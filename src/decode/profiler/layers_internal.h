/* The sums from which the rows of a layer trace are made. Sizes are bytes. */
#ifndef MEMSNAP_DECODE_PROFILER_LAYERS_INTERNAL_H
#define MEMSNAP_DECODE_PROFILER_LAYERS_INTERNAL_H

#include "decode/layers/fields.h"
#include "decode/profiler/modules.h"

/* The sums of a leaf. "Its time" is that of struct leaf. */
struct layer {
    int64_t change;              /* of allocated memory in its time */
    int64_t allocated, reserved; /* at its end */
    int64_t largest;             /* the largest allocation made in its time and freed later */
    int64_t output, output_ns;   /* the latest of those that are larger than half of `largest` */
    int64_t saved;               /* made in its time, and live at the end of the forward pass */
    int64_t gradients;           /* made by its backward pass, and live after that of the model */
    int64_t flow; /* the largest allocation that its backward pass makes and leaves to
                     the rest of the model's backward pass */
    int64_t backward_ns, backward_end_ns;
    int64_t kernel_ns, backward_kernel_ns; /* of the kernels that it launched */
    int64_t backward_allocated, backward_reserved;
};

struct layers {
    struct profile *profile;
    const struct layer_sink *sink;
    struct forward_pass pass;
    struct layer *layers;
    uint32_t *of_node; /* the leaf of each node of the pass */
    uint32_t *order;   /* memory events of the device, by address; leaves, by their backward pass */
    size_t layer_capacity, node_capacity, order_capacity, event_count;
    uint32_t device;
    bool has_kernels; /* times are those of kernels, not the host's */
    struct error *err;
};

/* Fills `layers`, and leaves the leaves in `order`, in the order in which their backward passes
 * end. Sets *layers->err on failure. */
bool layers_sum_up(struct layers *layers);

#endif
