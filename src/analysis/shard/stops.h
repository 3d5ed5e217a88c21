/* Why the code of a strategy would stop: what the libraries refuse, by their sources. */
#ifndef MEMSNAP_ANALYSIS_SHARD_STOPS_H
#define MEMSNAP_ANALYSIS_SHARD_STOPS_H

#include "analysis/shard/model.h"
#include "analysis/shard/options.h"

enum shard_stop {
    SHARD_RUNS,
    SHARD_STOPS_AT_OPTIMIZER, /* see shard_optimizer_runs() */
    SHARD_STOPS_AT_FROZEN,    /* a flat tensor of trained and frozen parameters */
    SHARD_STOPS_AT_TYPES,     /* parameters of several types in what is one tensor to it */
    SHARD_STOPS_AT_HALF,      /* parameters that are not float32 */
};

bool shard_has_types(const struct shard_model *model); /* several */

/* fsdp1 and fsdp2: true if the code divides units, because a library takes parameters of one kind
 * only: of one type, and with fsdp1 trained or frozen. */
bool shard_divides(const struct shard_model *model, const struct shard_options *options,
                   enum shard_strategy strategy, bool *divides, struct error *err);

bool shard_find_stop(const struct shard_model *model, const struct shard_options *options,
                     enum shard_strategy strategy, enum shard_stop *stop, struct error *err);

#endif
