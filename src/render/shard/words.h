/* What `memsnap shard` says of the comparison, in sentences. */
#ifndef MEMSNAP_RENDER_SHARD_WORDS_H
#define MEMSNAP_RENDER_SHARD_WORDS_H

#include "render/core/page.h"
#include "render/shard/shard.h"

const struct shard_rank *shard_highest_rank(const struct shard_result *result);

/* "fsdp2", or what ddp is on one rank: "the plain program". */
const char *shard_row_name(enum shard_strategy strategy, int64_t world);
/* The same for the name of a strategy in a file, which this version need not know. */
const char *shard_name_on(const char *name, uint64_t world);

/* Prints the recommendation and further remarks. False if out of memory. */
bool shard_tell(const struct page *page, const struct shard_report *report);

#endif
