/* Decodes a FairScale layer trace into rows.
 *
 * {"traces": [{module_name, ..., event: {memory_diff, memory_activations}}]}, as
 * LayerwiseMemoryTracker.save_traces() writes it, or only the list. Keys of `event` may also be
 * outside of it, and the other keys inside. If a key occurs twice, the last counts, as in Python.
 * Errors: STATUS_BAD_INPUT with the offset and what was expected, STATUS_LIMIT, STATUS_IO from the
 * source, or any error set by the sink. */
#ifndef MEMSNAP_DECODE_LAYERS_LAYERS_H
#define MEMSNAP_DECODE_LAYERS_LAYERS_H

#include "decode/core/source.h"
#include "decode/layers/rows.h"

#define LAYERS_TABLE_KEY    "memsnap"
#define LAYERS_TABLE_LAYOUT "layers/1"

bool decode_json_layers(struct source *source, struct symbols *symbols,
                        const struct layer_sink *sink, struct error *err);
/* Decodes the same list or dict from a pickle, with rows as dicts or FairScale's named tuples. */
bool decode_pickle_layers(struct source *source, struct symbols *symbols,
                          const struct layer_sink *sink, struct error *err);
/* Decodes the same dict or list from msgpack, or memsnap's own compact form: a map of
 * LAYERS_TABLE_KEY to LAYERS_TABLE_LAYOUT, "columns" to an array of keys, and "rows" to an array of
 * arrays with a value for each column, nil if the row does not have the key. */
bool decode_msgpack_layers(struct source *source, struct symbols *symbols,
                           const struct layer_sink *sink, struct error *err);

#endif
