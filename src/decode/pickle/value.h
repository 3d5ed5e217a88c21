/* Reads any pickle, and keeps all of it as inert values.
 *
 * Protocols 0 to 5. What the pickle would import, call or change in Python is
 * described by nodes (decode/core/value.h), never done. Containers and instances
 * that the pickle shares, or that hold themselves, are one node however often
 * they are referred to: whoever walks the values must expect cycles, and depth
 * as large as the file. Equal strings have one id.
 *
 * The dict of a pickle that sets a key twice holds both pairs, the set of one
 * that adds a member twice both members: only Python could say whether two
 * keys that are not strings are equal. */
#ifndef MEMSNAP_DECODE_PICKLE_VALUE_H
#define MEMSNAP_DECODE_PICKLE_VALUE_H

#include "decode/core/source.h"
#include "decode/core/value.h"

/* On success `*values`, which need not be initialised, belongs to the caller and is to be released
 * by values_release() before `symbols` and the source's budget go; the tags TAG_FRAME, TAG_STACK
 * and TAG_EVENT and the nodes of their kinds do not occur in it. The source is left just behind the
 * pickle. STATUS_BAD_INPUT with the byte offset, STATUS_LIMIT, or STATUS_IO from the source. */
bool decode_pickle_value(struct source *source, struct symbols *symbols, struct values *values,
                         value *root, struct error *err);

/* The protocol of a pickle of which at least two bytes are in the source's buffer. */
int pickle_protocol(const struct source *source);

#endif
