/* What the reader of layer traces finds out about the passes of a step. */
#ifndef MEMSNAP_ANALYSIS_SHARD_LAYER_READER_H
#define MEMSNAP_ANALYSIS_SHARD_LAYER_READER_H

#include "analysis/shard/from_layers.h"

#define LAYER_NONE UINT32_MAX

struct layer_reader {
    struct shard_model *model;
    const struct layer_trace *trace;
    shard_unit_finder *find;
    void *self;
    const struct layer_row **rows; /* of the layers */
    uint32_t *last;                /* by name: its last layer that has not run backward */
    uint32_t *before;              /* by layer: the layer of the same name before it */
    int64_t *gradients;            /* by layer: bytes that its backward makes */
    bool has_gradients;            /* gradients appear in the memory of backward rows */
    bool has_peaks;
};

/* Adds the units, layers and tensors, and finds out what the rows have. */
bool layer_read_forward(struct layer_reader *reader, struct error *err);
/* Makes units whose modules share a parameter with modules of others part of the root. */
bool layer_join_shared(struct layer_reader *reader, struct error *err);
/* Marks the parameters that are trained, but get no gradient in the step. Requires the layers. */
bool layer_find_unused(struct layer_reader *reader, struct error *err);
/* Adds the points of both passes, and sets the bytes that are left. Requires the layers, and
 * library_bytes. */
bool layer_read_points(struct layer_reader *reader, struct error *err);

#endif
