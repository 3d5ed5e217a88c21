/* Decodes an allocator snapshot, pickled or as JSON, into typed rows.
 *
 * A pickle is data: GLOBAL, REDUCE, BUILD and their like make inert values;
 * nothing is imported or called. Protocols 0 to 5. The same content gives the
 * same rows whatever the encoding; those of one kind come in the same order.
 * Errors: STATUS_BAD_INPUT with the byte offset and what was expected,
 * STATUS_LIMIT, STATUS_IO from the source, or whatever a sink callback set. */
#ifndef MEMSNAP_DECODE_SNAPSHOT_H
#define MEMSNAP_DECODE_SNAPSHOT_H

#include "base/symbols.h"
#include "decode/rows.h"
#include "decode/sniff.h"
#include "decode/source.h"

struct decoded {
    enum encoding encoding;
    int protocol;        /* pickle: the PROTO operand, or 0 / 1 as the opcodes show; JSON: -1 */
    bool list_only;      /* very old file: a bare list of segments */
};

bool decode_snapshot(struct source *source, struct symbols *symbols, const struct row_sink *sink,
                     struct decoded *decoded, struct error *err);

/* The two halves of the above, once the encoding is known. */
bool decode_pickle_snapshot(struct source *source, struct symbols *symbols,
                            const struct row_sink *sink, struct decoded *decoded,
                            struct error *err);
bool decode_json_snapshot(struct source *source, struct symbols *symbols,
                          const struct row_sink *sink, struct decoded *decoded, struct error *err);

#endif
