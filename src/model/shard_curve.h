/* Reads the curves of a strategy from the JSON that `memsnap shard --curve` writes. */
#ifndef MEMSNAP_MODEL_SHARD_CURVE_H
#define MEMSNAP_MODEL_SHARD_CURVE_H

#include "model/shard_file.h"

#define SHARD_MOST (UINT64_C(1) << 62) /* the largest number that is accepted */

struct json_reader;

bool shard_read_number(struct json_reader *json, uint64_t *to, struct error *err);

/* Both read the value of a member of a strategy, `curve` or `rank_curves`, add its columns or lines
 * to `file`, and set the members of `row` that refer to them. */
bool shard_read_curve(struct json_reader *json, struct shard_file *file, struct shard_file_row *row,
                      struct error *err);
bool shard_read_rank_curves(struct json_reader *json, struct shard_file *file,
                            struct shard_file_row *row, struct error *err);

#endif
