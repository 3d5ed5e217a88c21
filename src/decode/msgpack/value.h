/* Reads any msgpack object, and keeps all of it as inert values, as decode/pickle/value.h does with
 * a pickle: maps are NODE_DICT, arrays NODE_LIST, nil is VALUE_NONE, bin NODE_BYTES.
 *
 * msgpack-c's own objects are not used: they set aside what an array claims to hold, and are not
 * counted in a budget. What is used is the parser underneath, which calls back for every token. */
#ifndef MEMSNAP_DECODE_MSGPACK_VALUE_H
#define MEMSNAP_DECODE_MSGPACK_VALUE_H

#include "decode/core/source.h"
#include "decode/core/value.h"

#define MSGPACK_MAX_DEPTH 32

/* On success `*values`, which need not be initialised, belongs to the caller and is to be released
 * by values_release() before `symbols` and the source's budget go. Strings are UTF-8, or
 * STATUS_BAD_INPUT; so are extension types, and anything behind the object. STATUS_LIMIT for what
 * is nested deeper than MSGPACK_MAX_DEPTH. */
bool decode_msgpack_value(struct source *source, struct symbols *symbols, struct values *values,
                          value *root, struct error *err);

#endif
