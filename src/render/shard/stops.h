/* Sentences about strategies whose code would stop. */
#ifndef MEMSNAP_RENDER_SHARD_STOPS_H
#define MEMSNAP_RENDER_SHARD_STOPS_H

#include "analysis/shard/choice.h"
#include "base/buffer.h"
#include "render/core/page.h"

/* Appends "zero, oss and fsdp" of those that are true. */
void shard_add_names(struct buffer *text, const bool are[SHARD_STRATEGIES]);

/* A paragraph for each reason. False without memory. */
bool shard_put_stops(const struct page *page, const struct shard_choice *choice);

#endif
