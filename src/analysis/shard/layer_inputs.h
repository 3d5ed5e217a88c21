/* Marks the units whose inputs need no gradient, by the storages that the rows of a layer trace
 * read. Without storages no unit is marked. The layers of the model are the forward rows. */
#ifndef MEMSNAP_ANALYSIS_SHARD_LAYER_INPUTS_H
#define MEMSNAP_ANALYSIS_SHARD_LAYER_INPUTS_H

#include "analysis/shard/model.h"
#include "model/layer_trace.h"

bool shard_layer_inputs(struct shard_model *model, const struct layer_trace *trace,
                        struct error *err);
/* Sets `packed` of the layers that run an operator of cuDNN's recurrent networks, and what the
 * points have of it. */
void shard_layer_packing(struct shard_model *model, const struct layer_trace *trace);

#endif
