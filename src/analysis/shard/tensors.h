/* Parameters from their list in a row of a layer trace: "7:3072x768,8:3072:float32:frozen". */
#ifndef MEMSNAP_ANALYSIS_SHARD_TENSORS_H
#define MEMSNAP_ANALYSIS_SHARD_TENSORS_H

#include "analysis/shard/model.h"

/* Of a row's "dtype"; unknown for a list of several. */
enum shard_type shard_type_find(struct text name);

/* Bytes of an element; 0 if unknown. */
int64_t shard_type_size(enum shard_type type);

/* Appends them to the tensors of the model, like `row` but for what the list tells.
 * STATUS_BAD_INPUT if the text is not such a list. */
bool shard_tensors_read(struct shard_model *model, struct text list, struct shard_tensor row,
                        struct error *err);

#endif
