/* The units that the code of fsdp1 and fsdp2 makes of a model whose units have parameters of
 * several kinds: as split_units() of
 * render/shard/split.c does. */
#ifndef MEMSNAP_ANALYSIS_SHARD_DIVIDE_H
#define MEMSNAP_ANALYSIS_SHARD_DIVIDE_H

#include "analysis/shard/model.h"
#include "analysis/shard/options.h"

/* A model with further units: modules that left their unit. They come before the unit that they
 * left, which is around them, because prefetch follows the ends of their forward passes. */
struct shard_division {
    struct shard_model model; /* has tensors, layers and units of its own */
    uint32_t *outers;         /* by unit: the unit around it, or SHARD_ROOT */
    uint32_t *origins;        /* by unit: the unit of the divided model that it was a part of */
};

/* Leaves the division empty, without units, if none is divided. `model` must outlive the division.
 */
bool shard_divide(struct shard_division *division, const struct shard_model *model,
                  const struct shard_options *options, enum shard_strategy strategy,
                  struct error *err);
void shard_division_release(struct shard_division *division);

#endif
