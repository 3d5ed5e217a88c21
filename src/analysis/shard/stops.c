/* Sources: ZeroRedundancyOptimizer._verify_same_dense_param_type(),
 * FlatParamHandle._validate_tensors_to_flatten() and FSDPParamGroup._init_mp_dtypes() of PyTorch
 * 2.15; ParamBucket._add_param_as_view(), FlattenParamsWrapper._init_flatten_params() and
 * FullyShardedDataParallel.__init__() of FairScale 0.4.13. */
#include "analysis/shard/stops.h"

#include <stdlib.h>

#include "analysis/shard/kinds.h"
#include "analysis/shard/partition.h"

static unsigned type_bit(const struct shard_model *model, const struct shard_tensor *tensor)
{
    return 1U << shard_type_of(model, tensor);
}

static bool is_several(unsigned types)
{
    return (types & (types - 1)) != 0;
}

bool shard_divides(const struct shard_model *model, const struct shard_options *options,
                   enum shard_strategy strategy, bool *divides, struct error *err)
{
    *divides = false;
    if (!shard_can_divide(options, strategy))
        return true;
    struct shard_kinds *kinds = shard_unit_kinds(model, options, strategy);
    for (size_t unit = 0; kinds && unit < model->unit_count; unit++)
        *divides |= shard_has_several_kinds(&kinds[unit]);
    free(kinds);
    return kinds || error_out_of_memory(err);
}

/* Of the parameters that a layer is the first to use. */
static unsigned layer_types(const struct shard_model *model, enum shard_strategy strategy,
                            const struct shard_layer *layer)
{
    unsigned types = 0;
    for (uint32_t i = layer->first_tensor; i < layer->end_tensor; i++)
        if (shard_has_kind(strategy, &model->tensors[i]))
            types |= type_bit(model, &model->tensors[i]);
    return types;
}

/* The code can make a unit of a module, but not of some of the module's own parameters; and if the
 * module is the unit, they stay in it, and the others leave it. */
static bool find_layers(const struct shard_model *model, enum shard_strategy strategy, bool *mixes,
                        struct error *err)
{
    unsigned *staying = calloc(model->unit_count, sizeof(*staying));
    for (size_t i = 0; staying && i < model->layer_count; i++) {
        const struct shard_layer *layer = &model->layers[i];
        unsigned types = layer_types(model, strategy, layer);
        if (layer->is_unit)
            types = staying[layer->unit] |= types;
        *mixes |= is_several(types);
    }
    free(staying);
    return staying || error_out_of_memory(err);
}

/* Without that, the parameters of a unit are one flat tensor, which must be of one kind. */
static bool find_units(const struct shard_model *model, const struct shard_options *options,
                       enum shard_strategy strategy, bool *mixes, struct error *err)
{
    struct shard_kinds *kinds = shard_unit_kinds(model, options, strategy);
    for (size_t unit = 0; kinds && unit < model->unit_count; unit++)
        *mixes |= shard_has_several_kinds(&kinds[unit]);
    free(kinds);
    return kinds || error_out_of_memory(err);
}

bool shard_has_types(const struct shard_model *model)
{
    unsigned types = 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        types |= type_bit(model, &model->tensors[i]);
    return is_several(types);
}

/* All that a rank updates is one buffer. */
static bool find_owned(const struct shard_model *model, const struct shard_options *options,
                       enum shard_strategy strategy, bool *mixes, struct error *err)
{
    uint32_t *owners = calloc(model->tensor_count, sizeof(*owners));
    unsigned *types = calloc((size_t)options->world, sizeof(*types));
    bool ok = (owners && types) || error_out_of_memory(err);
    ok = ok && shard_partition(model, strategy, options->world, owners, err);
    for (size_t i = 0; ok && i < model->tensor_count; i++) {
        if (shard_is_trained(&model->tensors[i]))
            types[owners[i]] |= type_bit(model, &model->tensors[i]);
        *mixes |= is_several(types[owners[i]]);
    }
    free(owners);
    free(types);
    return ok;
}

static bool is_float32(const struct shard_model *model, const struct shard_options *options)
{
    const int64_t size = 4;
    if (options->parameter_size > 0)
        return options->parameter_size == size;
    bool is = model->element_size == size;
    for (size_t i = 0; i < model->tensor_count; i++)
        is &= shard_type_of(model, &model->tensors[i]) == model->type;
    return is;
}

static bool find_mixed(const struct shard_model *model, const struct shard_options *options,
                       enum shard_strategy strategy, bool *mixes, struct error *err)
{
    switch (strategy) {
    case SHARD_DDP:
        return true;
    case SHARD_ZERO:
        *mixes = true;
        return true;
    case SHARD_OSS:
    case SHARD_SDP:
        return find_owned(model, options, strategy, mixes, err);
    default:
        return shard_can_divide(options, strategy)
                   ? find_layers(model, strategy, mixes, err)
                   : find_units(model, options, strategy, mixes, err);
    }
}

bool shard_find_stop(const struct shard_model *model, const struct shard_options *options,
                     enum shard_strategy strategy, enum shard_stop *stop, struct error *err)
{
    bool is_flat =
        strategy == SHARD_FSDP || (strategy == SHARD_FSDP1 && options->has_flat_parameters);
    bool mixes = false;
    *stop = SHARD_RUNS;
    if (!shard_optimizer_runs(options->optimizer, strategy))
        *stop = SHARD_STOPS_AT_OPTIMIZER;
    else if (strategy == SHARD_FSDP && !is_float32(model, options))
        *stop = SHARD_STOPS_AT_HALF;
    else if (is_flat && shard_model_mixes(model))
        *stop = SHARD_STOPS_AT_FROZEN;
    if (*stop != SHARD_RUNS || options->parameter_size > 0 || !shard_has_types(model))
        return true;
    if (!find_mixed(model, options, strategy, &mixes, err))
        return false;
    *stop = mixes ? SHARD_STOPS_AT_TYPES : SHARD_RUNS;
    return true;
}
