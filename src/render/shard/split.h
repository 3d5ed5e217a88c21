/* The Python that divides units whose parameters are of several kinds. */
#ifndef MEMSNAP_RENDER_SHARD_SPLIT_H
#define MEMSNAP_RENDER_SHARD_SPLIT_H

#include "render/shard/shard.h"

/* True if the printed code needs that Python. */
bool shard_splits_units(const struct shard_report *report);

/* Prints it. */
void shard_put_split(FILE *out, const struct shard_report *report);

#endif
