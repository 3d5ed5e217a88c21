/* Parameters from their list in a row of a layer trace: "7:3072x768,8:3072:frozen". */
#ifndef MEMSNAP_ANALYSIS_SHARD_TENSORS_H
#define MEMSNAP_ANALYSIS_SHARD_TENSORS_H

#include "analysis/shard/model.h"

/* Appends them to the tensors of the model. STATUS_BAD_INPUT if the text is not such a list. */
bool shard_tensors_read(struct shard_model *model, struct text list, uint32_t unit,
                        struct error *err);

#endif
