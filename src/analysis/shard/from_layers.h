/* Makes the model of a step from a layer trace, best one of memsnap's recorder: it has the memory
 * of every row in both passes. Of others the model derives the backward pass from what layers save.
 */
#ifndef MEMSNAP_ANALYSIS_SHARD_FROM_LAYERS_H
#define MEMSNAP_ANALYSIS_SHARD_FROM_LAYERS_H

#include "analysis/shard/model.h"
#include "model/layer_trace.h"

/* The length of the prefix of a module's name that is its unit; 0: the root. */
typedef size_t shard_unit_finder(void *self, struct text module_name);

/* The trace must outlive the model. Units without parameters belong to the root. The layers of the
 * model are the forward rows of the trace, in order. */
bool shard_model_from_layers(struct shard_model *model, const struct layer_trace *trace,
                             shard_unit_finder *find, void *self, struct error *err);

/* Sets what the segments keep, if the trace tells which layers take and save what others make. The
 * segments ascend and do not overlap. */
bool shard_layer_kept(const struct layer_trace *trace, struct shard_segment *segments, size_t count,
                      struct error *err);

#endif
