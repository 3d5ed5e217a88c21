/* Writes the memory along the step. */
#ifndef MEMSNAP_RENDER_SHARD_CURVES_H
#define MEMSNAP_RENDER_SHARD_CURVES_H

#include "render/core/json.h"
#include "render/shard/shard.h"

/* The members `curve_moments`, `curve` and `rank_curves` of a strategy, whose object is open. */
bool shard_json_curves(struct json_writer *json, const struct shard_report *report,
                       const struct shard_row *row, struct error *err);

#endif
