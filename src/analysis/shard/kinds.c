#include "analysis/shard/kinds.h"

#include <stdlib.h>

size_t shard_kind_of(const struct shard_model *model, const struct shard_options *options,
                     const struct shard_tensor *tensor)
{
    enum shard_type type = options->parameter_size > 0 ? model->type : shard_type_of(model, tensor);
    return 2 * (size_t)type + !shard_is_trained(tensor);
}

bool shard_can_divide(const struct shard_options *options, enum shard_strategy strategy)
{
    return strategy == SHARD_FSDP2 || (strategy == SHARD_FSDP1 && !options->has_flat_parameters);
}

struct shard_kinds *shard_unit_kinds(const struct shard_model *model,
                                     const struct shard_options *options,
                                     enum shard_strategy strategy)
{
    struct shard_kinds *kinds = calloc(model->unit_count, sizeof(*kinds));
    for (size_t i = 0; kinds && i < model->tensor_count; i++) {
        const struct shard_tensor *tensor = &model->tensors[i];
        if (shard_has_kind(strategy, tensor))
            kinds[tensor->unit].elements[shard_kind_of(model, options, tensor)] += tensor->elements;
    }
    return kinds;
}

bool shard_has_several_kinds(const struct shard_kinds *kinds)
{
    size_t count = 0;
    for (size_t i = 0; i < SHARD_KINDS; i++)
        count += kinds->elements[i] > 0;
    return count > 1;
}
