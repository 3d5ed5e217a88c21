/* Decodes an allocator snapshot, pickled or in JSON, into typed rows.
 *
 * A pickle is data: GLOBAL, REDUCE, BUILD and similar opcodes create inert values; nothing is
 * imported or called. Protocols 0 to 5. The same content gives the same rows in every encoding, and
 * rows of one kind come in the same order. Errors: STATUS_BAD_INPUT with the byte offset and what
 * was expected, STATUS_LIMIT, STATUS_IO from the source, or any error set by a sink callback. */
#ifndef MEMSNAP_DECODE_SNAPSHOT_H
#define MEMSNAP_DECODE_SNAPSHOT_H

#include "base/symbols.h"
#include "decode/core/rows.h"
#include "decode/core/source.h"

bool decode_snapshot(struct source *source, struct symbols *symbols, const struct row_sink *sink,
                     struct decoded *decoded, struct error *err);

#endif
