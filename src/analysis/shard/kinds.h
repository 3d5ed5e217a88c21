/* Kinds of parameters: fsdp1 and fsdp2 take only parameters of one kind in a unit. */
#ifndef MEMSNAP_ANALYSIS_SHARD_KINDS_H
#define MEMSNAP_ANALYSIS_SHARD_KINDS_H

#include "analysis/shard/model.h"
#include "analysis/shard/options.h"

/* A parameter's type, and whether it is frozen. */
#define SHARD_KINDS ((size_t)2 * (SHARD_BYTE + 1))

/* Elements of each kind. */
struct shard_kinds {
    int64_t elements[SHARD_KINDS];
};

static inline enum shard_type shard_type_of(const struct shard_model *model,
                                            const struct shard_tensor *tensor)
{
    return tensor->type != SHARD_TYPE_UNKNOWN ? tensor->type : model->type;
}

/* fully_shard() looks at the parameters that it trains only. */
static inline bool shard_has_kind(enum shard_strategy strategy, const struct shard_tensor *tensor)
{
    return strategy != SHARD_FSDP2 || shard_is_trained(tensor);
}

/* --dtype makes all parameters of one type. */
size_t shard_kind_of(const struct shard_model *model, const struct shard_options *options,
                     const struct shard_tensor *tensor);

/* The strategies whose code makes units of modules that differ from the rest of their unit. */
bool shard_can_divide(const struct shard_options *options, enum shard_strategy strategy);

/* The elements of each kind, by unit. The caller frees the array. NULL: out of memory. */
struct shard_kinds *shard_unit_kinds(const struct shard_model *model,
                                     const struct shard_options *options,
                                     enum shard_strategy strategy);

bool shard_has_several_kinds(const struct shard_kinds *kinds);

#endif
