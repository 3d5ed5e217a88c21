/* Decodes an allocator snapshot in JSON; decode/snapshot.h has the contract. */
#ifndef MEMSNAP_DECODE_JSON_SNAPSHOT_H
#define MEMSNAP_DECODE_JSON_SNAPSHOT_H

#include "base/symbols.h"
#include "decode/core/rows.h"
#include "decode/core/source.h"

bool decode_json_snapshot(struct source *source, struct symbols *symbols,
                          const struct row_sink *sink, struct decoded *decoded, struct error *err);

#endif
