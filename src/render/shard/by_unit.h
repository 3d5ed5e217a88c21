/* Writes what each unit contributes to the memory of a rank. */
#ifndef MEMSNAP_RENDER_SHARD_BY_UNIT_H
#define MEMSNAP_RENDER_SHARD_BY_UNIT_H

#include "render/core/json.h"
#include "render/shard/shard.h"

/* The members `modules` and `no_module` of a strategy, whose object is open. */
bool shard_json_by_unit(struct json_writer *json, const struct shard_report *report,
                        const struct shard_row *row, struct error *err);

/* Two tables of one strategy: model states, and the peak. */
bool shard_text_by_unit(const struct page *page, const struct shard_report *report,
                        const struct shard_row *row, struct error *err);

#endif
