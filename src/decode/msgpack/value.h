/* Reads any msgpack object and keeps all of it as inert values, as decode/pickle/decode.h does for
 * a pickle: maps are NODE_DICT, arrays NODE_LIST, nil is VALUE_NONE, bin NODE_BYTES.
 *
 * msgpack-c's own objects are not used: they allocate as many items as an array claims to hold,
 * without a budget. Only its parser is used, which has a callback for every token. */
#ifndef MEMSNAP_DECODE_MSGPACK_VALUE_H
#define MEMSNAP_DECODE_MSGPACK_VALUE_H

#include "decode/core/source.h"
#include "decode/core/value.h"

#define MSGPACK_MAX_DEPTH 32

/* On success the caller owns `*values`, which need not be initialised, and must release it with
 * values_release() before `symbols` and the source's budget. STATUS_BAD_INPUT for strings that are
 * not UTF-8, extension types, and data after the object. STATUS_LIMIT for nesting deeper than
 * MSGPACK_MAX_DEPTH. */
bool decode_msgpack_value(struct source *source, struct symbols *symbols, struct values *values,
                          value *root, struct error *err);

#endif
