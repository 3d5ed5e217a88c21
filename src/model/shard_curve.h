/* Reads the curves of a strategy, which `memsnap shard --curve` writes. */
#ifndef MEMSNAP_MODEL_SHARD_CURVE_H
#define MEMSNAP_MODEL_SHARD_CURVE_H

#include "model/shard_file.h"

#define SHARD_MOST (UINT64_C(1) << 62) /* of a number */

struct json_reader;

bool shard_read_number(struct json_reader *json, uint64_t *to, struct error *err);

/* The values of the members `curve` and `rank_curves` of a strategy, for the row that is being
 * read. */
bool shard_read_curve(struct json_reader *json, struct shard_file *file, struct shard_file_row *row,
                      struct error *err);
bool shard_read_rank_curves(struct json_reader *json, struct shard_file *file,
                            struct shard_file_row *row, struct error *err);

#endif
