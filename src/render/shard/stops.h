/* Sentences about strategies whose code would stop. */
#ifndef MEMSNAP_RENDER_SHARD_STOPS_H
#define MEMSNAP_RENDER_SHARD_STOPS_H

#include "analysis/shard/choice.h"
#include "base/buffer.h"
#include "render/core/page.h"

/* Appends the names of the strategies whose flag is set: "zero, oss and fsdp". */
void shard_add_names(struct buffer *text, const bool are[SHARD_STRATEGIES]);

/* Prints a paragraph for each reason why code would stop. False if out of memory. */
bool shard_put_stops(const struct page *page, const struct shard_choice *choice);

#endif
