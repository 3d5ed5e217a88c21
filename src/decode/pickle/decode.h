/* Decodes a pickle: an allocator snapshot as rows, anything else as inert values. */
#ifndef MEMSNAP_DECODE_PICKLE_DECODE_H
#define MEMSNAP_DECODE_PICKLE_DECODE_H

#include "base/symbols.h"
#include "decode/core/rows.h"
#include "decode/core/source.h"
#include "decode/core/value.h"

/* decode/snapshot.h has the contract. */
bool decode_pickle_snapshot(struct source *source, struct symbols *symbols,
                            const struct row_sink *sink, struct decoded *decoded,
                            struct error *err);

/* Reads any pickle and keeps all of it as inert values.
 *
 * Protocols 0 to 5. Imports, calls and modifications in Python are described by nodes
 * (decode/core/value.h), never executed. A container or instance that is shared or contains itself
 * is one node, however often it is referred to: code that walks the values must expect cycles, and
 * depth proportional to the file. Equal strings have one id.
 *
 * A dict in which a pickle sets a key twice contains both pairs, and a set to which it adds a
 * member twice contains both members: only Python could tell whether two keys that are not strings
 * are equal.
 *
 * On success the caller owns `*values`, which need not be initialised, and must release it with
 * values_release() before `symbols` and the source's budget. It never contains the tags TAG_FRAME,
 * TAG_STACK and TAG_EVENT or the nodes of these kinds. The source is left just after the pickle.
 * STATUS_BAD_INPUT with the byte offset, STATUS_LIMIT, or STATUS_IO from the source. */
bool decode_pickle_value(struct source *source, struct symbols *symbols, struct values *values,
                         value *root, struct error *err);

/* The protocol of a pickle whose first two bytes, at least, are in the source's buffer. */
int pickle_protocol(const struct source *source);

#endif
