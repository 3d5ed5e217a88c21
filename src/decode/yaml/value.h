/* Reads any YAML document and keeps it as inert values. */
#ifndef MEMSNAP_DECODE_YAML_VALUE_H
#define MEMSNAP_DECODE_YAML_VALUE_H

#include "decode/core/source.h"
#include "decode/core/value.h"

/* Limits far beyond what statistics need. They bound the time and memory that libyaml takes. */
#define YAML_DEPTH_MOST 64
#define YAML_TOKEN_MOST ((size_t)128 * 1024) /* bytes between two events */

/* Reads a stream of one document by libyaml's events, so there is no second tree.
 *
 * Python's tags are inert: python/object/apply:MODULE.NAME and its like make the NODE_OBJECT that a
 * pickle of the same instance makes, and python/name:MODULE.NAME a NODE_GLOBAL. Nothing is imported
 * or called. Other tags are ignored. Plain scalars become integers (of 64 bits, decimal), floats,
 * constants or strings; quoted ones are strings. An alias is the node of its anchor, never a copy:
 * code that walks the values must expect shared nodes and cycles.
 *
 * The offset of a node is not in bytes: it is the number of its line, from 1.
 *
 * The contract is otherwise that of decode_pickle_value() (decode/pickle/decode.h). Errors name the
 * line. */
bool decode_yaml_value(struct source *source, struct symbols *symbols, struct values *values,
                       value *root, struct error *err);

#endif
