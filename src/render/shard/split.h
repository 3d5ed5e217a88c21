/* The Python that makes units of modules that are trained, in units that are else frozen. */
#ifndef MEMSNAP_RENDER_SHARD_SPLIT_H
#define MEMSNAP_RENDER_SHARD_SPLIT_H

#include "render/shard/shard.h"

extern const char shard_split_code[];

/* True for fsdp1, if units have both, unless its optimizer gets flat parameters. */
bool shard_splits_units(const struct shard_report *report);

#endif
